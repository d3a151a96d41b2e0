"""Reports that are texts of 0 and 1, as expressions of an engine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

from deniable.errors import ParameterError
from deniable.wire.space import Bits, DrawnBits, ReportSpace, Texts
from deniable_research.engine.sources import Source
from deniable_research.files.coded import alike


class TextColumn:
    """A column of texts of 0 and 1, read on the engine as `Texts.from_text` reads them here.

    Each step is a column of `source`, because expressions that hold each other many times over grow beyond what
    engines read.

    Parameters
    ----------
    source : Source
    column : str
        As tables write reports: ``b0101``, or numbers that lost the zeros in front.
    space : Texts
    missing : collection of str
        Texts that mean no report.
    """

    def __init__(self, source: Source, column: str, space: ReportSpace, missing: Collection[str]) -> None:
        import ibis

        if not isinstance(space, Texts):
            raise ParameterError(
                f"{column}: reports must be texts of 0 and 1 to be read like this, got {space.described}"
            )
        self.space = space
        self.column = column
        source, said = source.with_column(as_text(source.column(column)), f"{column} said")
        named = source.rows[said]
        source, bare = source.with_column(
            ibis.ifelse(named.startswith("b"), named.substr(1), named), f"{column} without b"
        )
        stripped = source.rows[bare]
        fits = stripped.length() <= space.size  # padding cuts what is longer
        source, padded = source.with_column(
            ibis.ifelse(fits, stripped, ibis.literal("x")).lpad(space.size, "0"), f"{column} padded"
        )
        text = source.rows[padded]
        # SQL counts no characters: what is missing without them is counted instead.
        ones = space.size - text.replace("1", "").length()
        zeros = space.size - text.replace("0", "").length()
        valid = ones + zeros == space.size
        if isinstance(space, DrawnBits):
            # A box that was drawn has one 1 in its pair of characters, any other none.
            valid &= ones == space.drawn
            for box in range(space.k):
                valid &= text.substr(2 * box, 2) != "11"
        elif isinstance(space, Bits) and space.ones is not None:
            valid &= ones == space.ones
        source, missed = source.with_column(means_nothing(source.rows[said], missing), f"{column} missing")
        source, report = source.with_column(~source.rows[missed] & valid, f"{column} is report")
        self.source = source
        """The rows, with the columns that are computed here."""
        self.said = ibis._[said]
        """What stands there, without spaces around it; like all that follows, of the rows that it is asked of."""
        self.text = ibis._[padded]
        """The characters 0 and 1."""
        self.is_missing = ibis._[missed]
        """Whether there is no report."""
        self.is_report = ibis._[report]
        """Whether the design can have made what stands there."""

    @property
    def is_strange(self) -> Any:
        """Whether it is neither a report nor missing."""
        return ~self.is_missing & ~self.is_report

    def supports(self, option: int) -> Any:
        """Whether a report supports an option."""
        return self.is_report & (self.text.substr(option, 1) == "1")

    def of_boxes(self, boxes: Sequence[int]) -> Any:
        """The reports in `source` with the other boxes all alike, so that as few of them differ as these boxes can.

        What is not a report stays as it is, and is refused where it is read.
        """
        import ibis

        space = self.space
        said, text, is_report = self.source.rows.bind(self.said, self.text, self.is_report)
        if isinstance(space, DrawnBits):
            kept = {box: text.substr(2 * box, 2) for box in boxes}
            drawn = sum((pair != "00").cast("int64") for pair in kept.values())
            others = [box for box in range(space.k) if box not in kept]
            for place, box in enumerate(others):  # as many of the others as the device drew besides
                kept[box] = ibis.ifelse(drawn <= space.drawn - 1 - place, "10", "00")
        else:
            kept = {box: text.substr(box, 1) if box in boxes else ibis.literal("0") for box in range(space.size)}
        found = ibis.literal("b")
        for box in sorted(kept):
            found = found + kept[box]
        return ibis.ifelse(is_report, found, said)


def means_nothing(said: Any, missing: Collection[str]) -> Any:
    """Whether texts are missing, as `Coded.without` has it."""
    # By value, as `alike` has it: 99.0 is 99, and 099 is another text.
    nothing = said.isnull() | said.isin(sorted(missing))
    for number in sorted({each for each in map(alike, missing) if isinstance(each, Decimal)}):
        whole, _, digits = f"{number:f}".partition(".")
        digits = digits.rstrip("0")
        whole = "-?0" if whole in ("0", "-0") and not digits else whole
        nothing |= said.re_search(rf"^{whole}\.{digits}0*$" if digits else rf"^{whole}(\.0+)?$")
    return nothing


def as_text(column: Any) -> Any:
    """A column as a CSV would have it: whole numbers without a point, nothing around it."""
    import ibis

    kind = column.type()
    if kind.is_string():
        return column.strip()
    if kind.is_floating():
        # Stata and pandas keep whole numbers beside nothing as floats: 1.0 is the code 1.
        whole = column.cast("int64")
        return ibis.ifelse(
            column.isnan(),
            ibis.null("string"),
            ibis.ifelse(whole.cast("float64") == column, whole.cast("string"), column.cast("string")),
        )
    if kind.is_boolean():
        return column.cast("int8").cast("string")
    return column.cast("string")

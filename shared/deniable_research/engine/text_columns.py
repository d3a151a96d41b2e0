"""Columns of reports that are texts of 0 and 1, as expressions of an engine."""

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

    Each step is a column of `source`, because nested expressions would repeat each other until engines refuse them.

    Parameters
    ----------
    source : Source
    column : str
        Its cells are texts such as ``b0101``, or numbers that lost their leading zeros.
    space : Texts
    missing : collection of str
        Texts that mean a missing value.
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
        # SQL cannot count a character; the length without it is subtracted instead.
        ones = space.size - text.replace("1", "").length()
        zeros = space.size - text.replace("0", "").length()
        valid = ones + zeros == space.size
        if isinstance(space, DrawnBits):
            # A drawn box has exactly one 1 in its pair of characters, any other box none.
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
        """The text of each cell, without surrounding spaces; an expression, like the attributes below."""
        self.text = ibis._[padded]
        """The report as characters 0 and 1, with leading zeros."""
        self.is_missing = ibis._[missed]
        """Whether the cell means a missing value."""
        self.is_report = ibis._[report]
        """Whether the cell is a report that the design can produce."""

    @property
    def is_strange(self) -> Any:
        """Whether the cell is neither a report nor a missing value."""
        return ~self.is_missing & ~self.is_report

    def supports(self, option: int) -> Any:
        """Whether a report supports an option."""
        return self.is_report & (self.text.substr(option, 1) == "1")

    def of_boxes(self, boxes: Sequence[int]) -> Any:
        """The reports with all other boxes made equal, so that there are as few different ones as possible.

        A cell that is not a report stays as it is, and is refused when it is read.
        """
        import ibis

        space = self.space
        said, text, is_report = self.source.rows.bind(self.said, self.text, self.is_report)
        if isinstance(space, DrawnBits):
            kept = {box: text.substr(2 * box, 2) for box in boxes}
            drawn = sum((pair != "00").cast("int64") for pair in kept.values())
            others = [box for box in range(space.k) if box not in kept]
            # The device drew this many of the other boxes: the first of them stand for any.
            for place, box in enumerate(others):
                kept[box] = ibis.ifelse(drawn <= space.drawn - 1 - place, "10", "00")
        else:
            kept = {box: text.substr(box, 1) if box in boxes else ibis.literal("0") for box in range(space.size)}
        found = ibis.literal("b")
        for box in sorted(kept):
            found = found + kept[box]
        return ibis.ifelse(is_report, found, said)


def means_nothing(said: Any, missing: Collection[str]) -> Any:
    """Whether texts mean a missing value, by the rule of `CodedColumn.without`."""
    # Numbers compare by value, as in `alike`: 99.0 is 99, but 099 is another text.
    nothing = said.isnull() | said.isin(sorted(missing))
    for number in sorted({each for each in map(alike, missing) if isinstance(each, Decimal)}):
        whole, _, digits = f"{number:f}".partition(".")
        digits = digits.rstrip("0")
        whole = "-?0" if whole in ("0", "-0") and not digits else whole
        nothing |= said.re_search(rf"^{whole}\.{digits}0*$" if digits else rf"^{whole}(\.0+)?$")
    return nothing


def as_text(column: Any) -> Any:
    """A column as the texts of a CSV: whole numbers without a point, no surrounding spaces."""
    import ibis

    kind = column.type()
    if kind.is_string():
        return column.strip()
    if kind.is_floating():
        # Stata and pandas store whole numbers as floats if some are missing: 1.0 is the code 1.
        whole = column.cast("int64")
        return ibis.ifelse(
            column.isnan(),
            ibis.null("string"),
            ibis.ifelse(whole.cast("float64") == column, whole.cast("string"), column.cast("string")),
        )
    if kind.is_boolean():
        return column.cast("int8").cast("string")
    return column.cast("string")

"""Reports that are texts of 0 and 1, as expressions of an engine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from deniable.report.space import Bits, DrawnBits, Texts


class TextColumn:
    """A column of texts of 0 and 1, read on the engine as `Texts.from_text` reads them here.

    Parameters
    ----------
    column : ibis Column
        As tables write reports: ``b0101``, or numbers that lost the zeros in front.
    space : Texts
    missing : collection of str
        Texts that mean no report.
    """

    def __init__(self, column: Any, space: Texts, missing: Collection[str]) -> None:
        import ibis

        self._ibis, self.space = ibis, space
        self.said = as_text(column)
        """What stands there, without spaces around it."""
        self.is_missing = self.said.isnull() | self.said.isin(sorted(missing))
        bare = ibis.ifelse(self.said.startswith("b"), self.said.substr(1), self.said)
        fits = bare.length() <= space.size
        self.text = ibis.ifelse(fits, bare, "").lpad(space.size, "0")
        ones = space.size - self.text.replace("1", "").length()
        zeros = space.size - self.text.replace("0", "").length()
        valid = fits & (bare.length() > 0) & (ones + zeros == space.size)
        if isinstance(space, DrawnBits):
            valid &= ones == space.drawn
            for box in range(space.k):
                valid &= self.text.substr(2 * box, 2) != "11"
        elif isinstance(space, Bits) and space.ones is not None:
            valid &= ones == space.ones
        self.is_report = ~self.is_missing & valid
        self.is_strange = ~self.is_missing & ~valid

    def supports(self, option: int) -> Any:
        """Whether a report supports an option."""
        return self.is_report & (self.text.substr(option, 1) == "1")

    def of_boxes(self, boxes: Sequence[int]) -> Any:
        """The reports with the other boxes all alike, so that as few of them differ as these boxes can.

        What is no report stays as it is, and is refused where it is read.
        """
        ibis, space = self._ibis, self.space
        if isinstance(space, DrawnBits):
            kept = {box: self.text.substr(2 * box, 2) for box in boxes}
            drawn = sum((ibis.ifelse(pair == "00", 0, 1) for pair in kept.values()), ibis.literal(0))
            others = [box for box in range(space.k) if box not in kept]
            for place, box in enumerate(others):  # as many of the others as the device drew besides
                kept[box] = ibis.ifelse(drawn <= space.drawn - 1 - place, "10", "00")
        else:
            kept = {box: self.text.substr(box, 1) if box in boxes else ibis.literal("0") for box in range(space.size)}
        found = ibis.literal("b")
        for box in sorted(kept):
            found = found + kept[box]
        return ibis.ifelse(self.is_report, found, self.said)


def as_text(column: Any) -> Any:
    """A column as a CSV would have it: whole numbers without a point, nothing around it."""
    import ibis

    kind = column.type()
    if kind.is_string():
        return column.strip()
    if kind.is_floating():
        whole = column.cast("int64")
        return ibis.ifelse(
            column.isnan(),
            ibis.null("string"),
            ibis.ifelse(whole.cast("float64") == column, whole.cast("string"), column.cast("string")),
        )
    if kind.is_boolean():
        return column.cast("int8").cast("string")
    return column.cast("string")

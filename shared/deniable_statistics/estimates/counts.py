"""Counts as people have them, lists or tables with keys, are brought into the order of a design."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable.errors import ParameterError, describe
from deniable.wire.space import Count, ReportSpace
from deniable_statistics.estimates.tally import report_text

Counts = Sequence[Count] | Mapping[Any, Count]


def counts_in_order(
    counts: Counts, length: int, *, first: int = 0, names: Sequence[str] = (), subject: str = "counts"
) -> Sequence[Count]:
    """Counts in the order of the reports: those with keys are read by them, all others are taken as they stand.

    Parameters
    ----------
    counts : sequence, mapping or Series of pandas
        What `value_counts` and `collections.Counter` give has keys; a report that they do not hold has the count 0.
    length, first : int
        Reports are numbered from ``first`` to ``first + length - 1``.
    names : sequence of str
        Names of the reports, which keys may be as well.
    subject : str
        What an error is about.

    Raises
    ------
    ParameterError
        If a key is no report or is there twice, or if the counts have neither order nor keys.

    Examples
    --------
    >>> counts_in_order({1: 700, 0: 300}, 2)
    [300, 700]
    """
    if isinstance(counts, (Set, str, bytes)) or not isinstance(counts, Iterable):
        raise ParameterError(f"{subject}: must be {length} numbers in the order of reports, got {describe(counts)}")
    # A Series of pandas has keys too, and iterates over its values in any order, often that of frequency.
    if not (isinstance(counts, Mapping) or (hasattr(counts, "keys") and hasattr(counts, "items"))):
        return counts
    found: list[Count] = [0] * length
    items = list(counts.items())
    for place, (_, count) in zip(places([key for key, _ in items], length, first, names, subject), items, strict=True):
        found[place] = count
    return found


def supports_in_order(counts: Counts, space: ReportSpace, n: Count | None) -> tuple[Sequence[Count], Count | None]:
    """The counts of supports in the order of options, and the number of reports, where counts have reports as keys.

    What `value_counts` gives of reports that can support several options has such keys: texts of 0 and 1, tuples of
    them, or sets of the options that a report supports. Other counts are read by `counts_in_order`.

    Raises
    ------
    ParameterError
        As `counts_in_order`, or if a key is a text, a tuple or a set that is no report.

    Examples
    --------
    >>> from deniable.wire.space import Bits
    >>> supports_in_order({"110": 5, "011": 2}, Bits(3, 2), None)
    ([5, 7, 2], 7)
    """
    # What is neither is refused by `counts_in_order`, so nothing here asks for more than keys and items.
    table: Any = counts if hasattr(counts, "keys") and hasattr(counts, "items") else {}
    if space.supports_one or not any(isinstance(key, (str, tuple, Set)) for key in table.keys()):  # noqa: SIM118  # a Series iterates over its values
        return counts_in_order(counts, space.size, first=space.first), n
    found: list[Count] = [0] * space.size
    total: Count = 0
    for key, count in table.items():
        report = report_text(key, space.size)
        if report not in space:
            raise ParameterError(
                f"counts: must have keys that are reports, each {space.described}, or the set of the options that it "
                f"supports, got the key {key!r:.80}; count_reports counts a column of reports"
            )
        for option in space.supports(report):
            found[option] += count
        total += count
    return found, total if n is None else n


def places(keys: Sequence[Any], length: int, first: int, names: Sequence[str], subject: str) -> list[int]:
    """The place of each key among the reports; errors are those of `counts_in_order`."""
    known = dict(zip(names, range(length), strict=False)) | {first + place: place for place in range(length)}
    found: list[int] = []
    for key in keys:
        if key not in known:
            others = f" or one of {', '.join(map(repr, names))}" if names else ""
            raise ParameterError(
                f"{subject}: must have keys that are reports, integers in [{first}, {first + length}){others}, "
                f"got the key {key!r}"
            )
        if known[key] in found:
            raise ParameterError(f"{subject}: must have one count for each report, got the key {key!r} twice")
        found.append(known[key])
    return found


def table_in_order(table: ArrayLike, sizes: Sequence[int], firsts: Sequence[int]) -> np.ndarray[Any, np.dtype[Any]]:
    """A table of joint reports as an array; the rows and columns of a DataFrame of pandas are read by their labels.

    Raises
    ------
    ParameterError
        If a label is no report or is there twice, or if the table is a mapping.
    """
    if isinstance(table, Mapping):
        raise ParameterError("table: must be an array or a DataFrame of pandas, got a mapping")
    rows, columns = getattr(table, "index", None), getattr(table, "columns", None)
    if columns is None or not hasattr(rows, "tolist"):
        return np.asarray(table, dtype=float)
    if len(sizes) != 2:
        raise ParameterError(f"table: must be an array of {len(sizes)} axes, got a DataFrame")
    labels = [rows.tolist() if axis == 0 else columns.tolist() for axis in (0, 1)]  # type: ignore[union-attr]  # tested
    where = [
        places(keys, size, first, (), f"{axis} of the table")
        for keys, size, first, axis in zip(labels, sizes, firsts, ("rows", "columns"), strict=True)
    ]
    found = np.zeros(tuple(sizes))
    found[np.ix_(*where)] = np.asarray(table, dtype=float)
    return found

"""Sampling designs of files: strata, clusters, populations, replicate weights and known margins."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, ReportError
from deniable_statistics.sampling import (
    Margin,
    ReplicateDesign,
    Sampling,
    SamplingDesign,
    SimpleSample,
    replicate_scales,
)

MARGIN_COLUMNS = ("column", "label", "total")
"""Header of a file of known margins."""

# \1 repeats the name before the first number: w1..w80 is a range, w1..v80 is not.
_RANGE = re.compile(r"(.*?)([0-9]+)\.\.\1([0-9]+)")

_MOST_REPLICATES = 10_000
"""Largest number of replicate weights in a range, beyond those of any survey: a typing error must not fill memory."""


@dataclass(frozen=True)
class SamplingColumns:
    """The columns and settings that describe the sampling design of a file.

    Attributes
    ----------
    strata, cluster : str or None
        Columns of strata and of primary sampling units; labels of units may start again in each stratum.
    population : str or None
        Number of sampling units (of people, without clusters) in the population of the person's stratum, for the
        finite-population correction: a column, or one number for all strata. Everybody in a drawn unit was asked.
    lonely : {"fail", "centre", "certainty"}
        Treatment of strata with a single sampling unit, as in `deniable_statistics.sampling.SamplingDesign`.
    replicates : tuple of str
        Columns of replicate weights.
    replicate_method : str or None
        The method that made them, as for `deniable_statistics.sampling.replicate_scales`.
    replicate_scale : tuple of float
        Factors of the squared deviations in the replicate variance, in place of those of a method: one for all
        replicates, or one for each.
    replicate_fay : float or None
        Fay's coefficient of the method "fay".
    degrees_of_freedom : float or None
        Degrees of freedom of the replicate variance; by default the number of replicates minus 1.
    margins : mapping of column to (mapping of label to total)
        Known totals of the population, to which weights are calibrated; see `read_margins`.
    """

    strata: str | None = None
    cluster: str | None = None
    population: str | None = None
    lonely: str = "fail"
    replicates: tuple[str, ...] = ()
    replicate_method: str | None = None
    replicate_scale: tuple[float, ...] = ()
    replicate_fay: float | None = None
    degrees_of_freedom: float | None = None
    margins: Mapping[str, Mapping[str, float]] | None = None

    def __post_init__(self) -> None:
        if self.lonely != "fail" and not any((self.strata, self.cluster, self.population)):
            raise ParameterError(f"lonely: must be given with strata, cluster or population, got {self.lonely!r:.40}")
        # Replicate weights already contain strata and clusters, which would count a second time.
        if self.replicates:
            for name in ("strata", "cluster", "population"):
                if getattr(self, name) is not None:
                    raise ParameterError(
                        f"{name}: must not be given beside replicate weights, which already say how people were drawn"
                    )
            if self.replicate_method is None and not self.replicate_scale:
                raise ParameterError("replicate_method: must be given with replicates, or replicate_scale")
        elif self.replicate_method or self.replicate_scale or self.replicate_fay or self.degrees_of_freedom:
            raise ParameterError("replicates: must be named where their method, scale or degrees of freedom are given")

    @property
    def is_design(self) -> bool:
        """Whether standard errors follow from a sampling design, not from the number of people or their weights."""
        return any((self.strata, self.cluster, self.population, self.replicates, self.margins))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the file must have."""
        named = (self.strata, self.cluster, *self.replicates, *(self.margins or ()))
        return tuple(name for name in named if name is not None)


def replicate_columns(written: str | Iterable[str]) -> tuple[str, ...]:
    """The columns that a list means, in which ``w1..w80`` is a range.

    >>> replicate_columns("rep01..rep03"), replicate_columns(["a", "w9..w11"])
    (('rep01', 'rep02', 'rep03'), ('a', 'w9', 'w10', 'w11'))
    """
    found: list[str] = []
    for each in written.split(",") if isinstance(written, str) else written:
        match = _RANGE.fullmatch(each.strip())
        if match is None:
            found.append(each.strip())
            continue
        name, first, last = match.groups()
        places = range(int(first), int(last) + 1)
        # With the leading zeros of the first number: rep01 is followed by rep02.
        if not 0 < len(places) <= _MOST_REPLICATES:
            raise ParameterError(f"replicates: must be a range like w1..w80, got {each!r:.60}")
        found += [f"{name}{place:0{len(first)}d}" for place in places]
    if not all(found) or len(set(found)) < len(found):
        raise ParameterError("replicates: must be different columns, like w1..w80")
    return tuple(found)


def read_margins(path: str | Path) -> dict[str, dict[str, float]]:
    """Read known margins from a CSV file with the columns column, label and total.

    Each line gives the number of people in the population who have a label in a column of the data. The totals of
    every column must add up to the same number: the size of the population, or 1 if they are shares.

    Parameters
    ----------
    path : str or Path
        UTF-8, with or without a byte order mark.

    Returns
    -------
    dict of str to dict of str to float
        By column, the total of each label.

    Raises
    ------
    ReportError
        If a line is not such a total, or a label has two; the message names the line.
    """
    name = Path(path).name
    try:
        rows = list(csv.reader(io.StringIO(Path(path).read_text(encoding="utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error):
        raise ReportError(f"{name}: must be CSV in UTF-8") from None
    if not rows or tuple(each.strip().lower() for each in rows[0]) != MARGIN_COLUMNS:
        raise ReportError(f"{name}: must have the header {','.join(MARGIN_COLUMNS)}")
    margins: dict[str, dict[str, float]] = {}
    for number, row in enumerate(rows[1:], start=2):
        if not any(each.strip() for each in row):
            continue
        try:
            column, label, text = (each.strip() for each in row)
            total = float(text)
        except ValueError:
            raise ReportError(f"{name}, line {number}: must be a column, a label and a number") from None
        if not 0 < total < float("inf"):
            raise ReportError(f"{name}, line {number}: total must be a number above 0")
        if label in margins.setdefault(column, {}):
            raise ReportError(f"{name}, line {number}: {column} has a total for {label!r:.40} already")
        margins[column][label] = total
    if not margins:
        raise ReportError(f"{name}: must have a line for each label of a column, got none")
    return margins


class Columns(Protocol):
    """The part of `Table` that sampling designs need.

    A protocol, because the module of `Table` imports this one.
    """

    @property
    def columns(self) -> Mapping[str, object]: ...
    @property
    def everybody(self) -> SimpleSample: ...
    def __len__(self) -> int: ...
    def labels(self, column: str) -> Iterable[str | None]: ...
    def numbers(self, column: str) -> NDArray[np.float64]: ...


def sampling_of(said: SamplingColumns, table: Columns) -> Sampling:
    """The sampling design of a whole file, with weights calibrated to its known margins.

    Raises
    ------
    ReportError
        If a column has missing values, or others than numbers where these are needed.
    ParameterError
        If the design is not valid; see `SamplingDesign` and `ReplicateDesign`.
    """
    weights = table.everybody.weights
    design: Sampling
    if said.replicates:
        each = np.column_stack([_full(table, name) for name in said.replicates])
        scales: NDArray[np.float64] | float
        # variance = sum over replicates r of scale_r (estimate_r - estimate)^2
        if said.replicate_scale:
            scales = np.array(said.replicate_scale if len(said.replicate_scale) > 1 else said.replicate_scale[0])
        else:
            scales = replicate_scales(said.replicate_method or "", each.shape[1], said.replicate_fay)
        design = ReplicateDesign.of(weights, each, scales, said.degrees_of_freedom)
    else:
        strata, clusters = (None if name is None else _labels(table, name) for name in (said.strata, said.cluster))
        design = SamplingDesign.of(weights, strata, clusters, _population(table, said.population), said.lonely)
    margins = [_margin(table, column, totals) for column, totals in (said.margins or {}).items()]
    return design.calibrated(margins) if margins else design


def _labels(table: Columns, column: str) -> list[str]:
    """The labels of a column in which no value may be missing: a person without a stratum has no place in a design."""
    labels = list(table.labels(column))
    found = [label for label in labels if label is not None]
    if len(found) < len(labels):
        raise ReportError(
            f"column {column!r}: must hold something in every row, because it says how people were drawn, "
            f"got nothing in {len(labels) - len(found)}"
        )
    return found


def _full(table: Columns, column: str) -> NDArray[np.float64]:
    """The numbers of a column in which none may be missing."""
    numbers = table.numbers(column)
    if bad := int((~np.isfinite(numbers)).sum()):
        raise ReportError(f"column {column!r}: must hold a number in every row, got none in {bad}")
    return numbers


def _population(table: Columns, said: str | None) -> NDArray[np.float64] | None:
    """The number of units in the population of each person's stratum, shape (people,); None if it is not known."""
    if said is None:
        return None
    # A column first: its name may be a number.
    if said in table.columns:
        return _full(table, said)
    try:
        return np.full(len(table), float(said))
    except ValueError:
        raise ReportError(f"population: must be a column of the file or a number of units, got {said!r:.60}") from None


def _margin(table: Columns, column: str, totals: Mapping[str, float]) -> Margin:
    """The margin of a column; labels that are the same whole number, such as 1 and 1.0, match."""
    places = {_plain(label): place for place, label in enumerate(totals)}
    # Calibration has no total for a label outside of the margins, and so no weight for its people.
    codes = np.array([places.get(_plain(label), -1) for label in _labels(table, column)], dtype=np.int64)
    if bad := int((codes < 0).sum()):
        raise ReportError(
            f"column {column!r}: must hold labels that the margins have ({', '.join(map(repr, list(totals)[:12]))}), "
            f"got others in {bad} row{'s' if bad > 1 else ''}"
        )
    return Margin(column, codes, np.array(list(totals.values()), dtype=float))


def _plain(label: str) -> str:
    """A label without the decimal of a whole number."""
    return label.removesuffix(".0") if label.removesuffix(".0").isdecimal() else label

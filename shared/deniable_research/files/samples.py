"""How the people of a file were drawn: strata, clusters, populations, replicate weights and known margins."""

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

_RANGE = re.compile(r"(.*?)([0-9]+)\.\.\1([0-9]+)")
_MOST_REPLICATES = 10_000


@dataclass(frozen=True)
class SamplingColumns:
    """What a file and its author say of how people were drawn.

    Attributes
    ----------
    strata, cluster : str or None
        Columns of strata, and of primary sampling units, whose labels may start again in each stratum.
    population : str or None
        How many units (people, where there are no clusters) the population has in the person's stratum: a column, or a
        number for all. Everybody in a unit was asked.
    lonely : {"fail", "centre", "certainty"}
        As for `deniable_statistics.sampling.SamplingDesign`.
    replicates : tuple of str
        Columns of replicate weights.
    replicate_method : str or None
        As for `deniable_statistics.sampling.replicate_scales`.
    replicate_scale : tuple of float
        Instead of the method's: one number, or one for each replicate.
    replicate_fay : float or None
    degrees_of_freedom : float or None
        Of replicate weights; by default their number minus 1.
    margins : mapping of column to (mapping of label to total)
        What is known of the population; see `read_margins`.
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
        """Whether errors follow from a sampling design, and not from the number of people or their weights alone."""
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
        if not 0 < len(places) <= _MOST_REPLICATES:
            raise ParameterError(f"replicates: must be a range like w1..w80, got {each!r:.60}")
        found += [f"{name}{place:0{len(first)}d}" for place in places]
    if not all(found) or len(set(found)) < len(found):
        raise ParameterError("replicates: must be different columns, like w1..w80")
    return tuple(found)


def read_margins(path: str | Path) -> dict[str, dict[str, float]]:
    """Read known margins from a CSV file with the columns column, label and total.

    Each line says how many people of the population have a label in a column of the data. Of several columns the
    totals must add up to the same number; parts that add up to 1 will do if they do in every column.

    Raises
    ------
    ReportError
        Naming the line.
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
    """What is asked of a table."""

    @property
    def columns(self) -> Mapping[str, object]: ...
    @property
    def everybody(self) -> SimpleSample: ...
    def __len__(self) -> int: ...
    def labels(self, column: str) -> Iterable[str | None]: ...
    def numbers(self, column: str) -> NDArray[np.float64]: ...


def sampling_of(said: SamplingColumns, table: Columns) -> Sampling:
    """How the people of a whole file were drawn.

    Raises
    ------
    ReportError
        If a column has gaps or no numbers.
    ParameterError
        If the design cannot be; see `SamplingDesign` and `ReplicateDesign`.
    """
    weights = table.everybody.weights
    design: Sampling
    if said.replicates:
        each = np.column_stack([_full(table, name) for name in said.replicates])
        scales: NDArray[np.float64] | float
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
    """A column that must hold something in every row."""
    labels = list(table.labels(column))
    found = [label for label in labels if label is not None]
    if len(found) < len(labels):
        raise ReportError(
            f"column {column!r}: must hold something in every row, because it says how people were drawn, "
            f"got nothing in {len(labels) - len(found)}"
        )
    return found


def _full(table: Columns, column: str) -> NDArray[np.float64]:
    """A column that must hold a number in every row."""
    numbers = table.numbers(column)
    if bad := int((~np.isfinite(numbers)).sum()):
        raise ReportError(f"column {column!r}: must hold a number in every row, got none in {bad}")
    return numbers


def _population(table: Columns, said: str | None) -> NDArray[np.float64] | None:
    if said is None:
        return None
    if said in table.columns:
        return _full(table, said)
    try:
        return np.full(len(table), float(said))
    except ValueError:
        raise ReportError(f"population: must be a column of the file or a number of units, got {said!r:.60}") from None


def _margin(table: Columns, column: str, totals: Mapping[str, float]) -> Margin:
    """The margin of a column; whole numbers match however they are written, as 1 and 1.0."""
    places = {_plain(label): place for place, label in enumerate(totals)}
    codes = np.array([places.get(_plain(label), -1) for label in _labels(table, column)], dtype=np.int64)
    if bad := int((codes < 0).sum()):
        raise ReportError(
            f"column {column!r}: must hold labels that the margins have ({', '.join(map(repr, list(totals)[:12]))}), "
            f"got others in {bad} row{'s' if bad > 1 else ''}"
        )
    return Margin(column, codes, np.array(list(totals.values()), dtype=float))


def _plain(label: str) -> str:
    return label.removesuffix(".0") if label.removesuffix(".0").isdecimal() else label

"""Reports as arrays: their supports, the enumeration of a space, and uniform draws from it."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.wire.space import Bits, DrawnBits, Numbers, ReportSpace


def tally_array(space: ReportSpace, reports: NDArray[Any]) -> tuple[int, ...]:
    """Number of reports that support each option; ``reports`` has the shape of `Mechanism.randomize_many`."""
    if space.supports_one:
        return tuple(np.bincount(reports - space.first, minlength=space.size).tolist())
    return tuple(reports.sum(axis=0).tolist())


def support_matrix(space: ReportSpace, reports: Iterable[object], subject: str = "row") -> NDArray[np.bool_]:
    """The indicator matrix of the options that reports support, shape (reports, size).

    Raises
    ------
    ReportError
        Naming the first row, counted from 1, that holds something else than a report.
    """
    rows = list(reports)
    matrix = np.zeros((len(rows), space.size), dtype=bool)
    for n, report in enumerate(rows):
        matrix[n, list(space.supports(space.check(report, f"{subject} {n + 1}")))] = True
    return matrix


@functools.singledispatch
def number_of_reports(space: ReportSpace) -> int:
    """How many different reports there can be."""
    raise ParameterError(f"reports: must be of a known kind, got {type(space).__name__}")


@number_of_reports.register
def _(space: Numbers) -> int:
    return space.size


@number_of_reports.register
def _(space: Bits) -> int:
    return 2**space.size if space.ones is None else math.comb(space.size, space.ones)


@number_of_reports.register
def _(space: DrawnBits) -> int:
    # Which boxes, times 2^s patterns of ticks among them.
    return math.comb(space.k, space.drawn) << space.drawn


@functools.singledispatch
def every_report(space: ReportSpace) -> NDArray[np.bool_]:
    """The indicator matrix of the supports of all possible reports, shape (`number_of_reports`, size)."""
    raise ParameterError(f"reports: must be of a known kind, got {type(space).__name__}")


@every_report.register
def _(space: Numbers) -> NDArray[np.bool_]:
    return np.eye(space.size, dtype=bool)


@every_report.register
def _(space: Bits) -> NDArray[np.bool_]:
    sizes = range(space.size + 1) if space.ones is None else [space.ones]
    members = [chosen for size in sizes for chosen in itertools.combinations(range(space.size), size)]
    matrix = np.zeros((len(members), space.size), dtype=bool)
    for row, chosen in zip(matrix, members, strict=True):
        row[list(chosen)] = True
    return matrix


@every_report.register
def _(space: DrawnBits) -> NDArray[np.bool_]:
    marks = [
        [2 * box + mark for box, mark in zip(boxes, pattern, strict=True)]
        for boxes in itertools.combinations(range(space.k), space.drawn)
        for pattern in itertools.product((0, 1), repeat=space.drawn)
    ]
    matrix = np.zeros((len(marks), space.size), dtype=bool)
    np.put_along_axis(matrix, np.array(marks), True, axis=1)
    return matrix


@functools.singledispatch
def uniform_support(space: ReportSpace) -> float:
    """Probability that a uniformly drawn report supports an option, the same for all options."""
    raise ParameterError(f"reports: must be of a known kind, got {type(space).__name__}")


@uniform_support.register
def _(space: Numbers) -> float:
    return 1 / space.size


@uniform_support.register
def _(space: Bits) -> float:
    return 0.5 if space.ones is None else space.ones / space.size


@uniform_support.register
def _(space: DrawnBits) -> float:
    # A box is drawn with s / k, then either of its two options is supported with 1/2; and size = 2 k.
    return space.drawn / space.size


@functools.singledispatch
def uniform_reports(space: ReportSpace, n: int, generator: np.random.Generator) -> NDArray[Any]:
    """``n`` uniform draws from all possible reports, in the shape of `Mechanism.randomize_many`."""
    raise ParameterError(f"reports: must be of a known kind, got {type(space).__name__}")


@uniform_reports.register
def _(space: Numbers, n: int, generator: np.random.Generator) -> NDArray[np.int64]:
    return generator.integers(space.range.start, space.range.stop, n)


@uniform_reports.register
def _(space: Bits, n: int, generator: np.random.Generator) -> NDArray[np.uint8]:
    if space.ones is None:
        return generator.integers(0, 2, (n, space.size), dtype=np.uint8)
    # Ranks of uniform numbers are a uniform permutation, and its first `ones` places a uniform subset.
    order = generator.random((n, space.size)).argsort(axis=1)
    return (order < space.ones).astype(np.uint8)


@uniform_reports.register
def _(space: DrawnBits, n: int, generator: np.random.Generator) -> NDArray[np.uint8]:
    boxes = generator.random((n, space.k)).argsort(axis=1)[:, : space.drawn]
    matrix = np.zeros((n, space.size), dtype=np.uint8)
    np.put_along_axis(matrix, 2 * boxes + generator.integers(0, 2, boxes.shape), 1, axis=1)
    return matrix

"""The piecewise-linear mechanism for a mean, near the least noise possible: rows of weights, linear between knots."""

from __future__ import annotations

import bisect
import itertools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

from deniable.errors import ParameterError, describe, needing
from deniable.exact import Number, positive_epsilon, refuse_costly_rounding
from deniable.mechanisms.base import OverRange, check_range
from deniable.mechanisms.knots import MOST_KNOTS, MOST_REPORTS
from deniable.mechanisms.mean import LARGEST_RANGE
from deniable.mechanisms.row_mechanism import RowMechanism, check_rows
from deniable.randomness import Word, Words, system_word

if TYPE_CHECKING:
    from deniable.mechanisms.arrays import Integers

PRIME = 2**26 - 5
"""Modulus of the rank check: rows that are independent modulo a prime are independent.

Devices do not check it, because it matters to estimates alone."""


@dataclass(frozen=True)
class Piecewise(OverRange, RowMechanism):
    """Report one of a few numbers, whose probabilities are linear in the answer between knots.

    Parameters
    ----------
    knots : tuple of int
        2 to 11 answers in rising order, from the lowest to the highest, at most 1,000,000 apart.
    weights : tuple of int
        Weight out of ``2**32`` of each report when the answer is the first knot; at least as many as knots, up to 15.
    slopes : tuple of tuple of int
        What each step from one knot towards the next adds to these weights: one row for each two neighbours.

    Notes
    -----
    At every answer the weights are whole, positive, and add up to ``2**32``. Between two knots they are mixtures of the
    knots' weights, so no ratio is larger there, and epsilon is that of the knots. Their rows are linearly independent.
    So some score of the reports has the expectation ``x`` at every knot ``x``, and being linear between them, at every
    answer: the mean has no bias at all. Two knots and two reports are `OneBitMean`, Duchi, Jordan and Wainwright's
    mechanism [1]_.

    `from_epsilon` finds the rows by a linear program (`deniable_statistics.authoring.optimum`). Like those of the
    piecewise mechanism [2]_ they put most of the weight on a window that moves with the answer.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       Journal of the American Statistical Association 113 (2018), 182-201.
    .. [2] N. Wang et al., "Collecting and analyzing multidimensional data with local differential privacy", ICDE 2019,
       638-649, arXiv:1907.00782.

    Examples
    --------
    >>> mechanism = Piecewise.from_epsilon(0, 60, epsilon=2)
    >>> mechanism.epsilon <= 2, mechanism.randomize(35) in mechanism.reports
    (True, True)
    >>> half = 2**31
    >>> Piecewise((0, 4), (3 * half // 2, half // 2), ((-half // 4, half // 4),)).row(1)    # 3/4, 1/4 at 0, the ends
    [2684354560, 1610612736]
    """

    knots: tuple[int, ...]
    weights: tuple[int, ...]
    slopes: tuple[tuple[int, ...], ...]

    name = "piecewise"
    question_types: ClassVar[tuple[str, ...]] = ("scale", "number")
    named_in: ClassVar[tuple[str, ...]] = ("scale", "number")
    has_shares = False
    most_reports: ClassVar[int] = MOST_REPORTS

    def __post_init__(self) -> None:
        object.__setattr__(self, "knots", as_integers(self.knots, "knots", range(2, MOST_KNOTS + 1)))
        check_range(self.knots[0], self.knots[-1], LARGEST_RANGE)
        if any(after <= before for before, after in itertools.pairwise(self.knots)):
            raise ParameterError("knots: must be in rising order")
        size = range(len(self.knots), self.most_reports + 1)
        object.__setattr__(self, "weights", as_integers(self.weights, "weights", size))
        steps = len(self.knots) - 1
        if not isinstance(self.slopes, (tuple, list)) or len(self.slopes) != steps:
            raise ParameterError(f"slopes: must be {steps} rows, one from each knot to the next")
        size = range(self.k, self.k + 1)
        object.__setattr__(self, "slopes", tuple(as_integers(row, "slopes", size) for row in self.slopes))
        # Rows between two knots are mixtures of theirs, so those between are not checked.
        check_rows(self.extreme_rows)
        if not _are_independent(self.extreme_rows):
            raise ParameterError("slopes: must make independent rows, or no estimate of the mean is without bias")

    @classmethod
    def from_epsilon(cls, lo: int, hi: int, epsilon: Number) -> Piecewise:
        """The mechanism over a range with nearly the least noise of all that have at most this epsilon.

        Needs numpy and highspy.
        """
        asked = positive_epsilon(epsilon)
        lo, hi = check_range(lo, hi, LARGEST_RANGE)
        knots, weights, slopes = optimum().least_noise(hi - lo, asked)
        mechanism = cls(tuple(lo + knot for knot in knots), weights, slopes)
        refuse_costly_rounding(float(asked), mechanism.epsilon, f"numbers from {lo} to {hi}")
        return mechanism

    @property
    def answer_range(self) -> range:
        return range(self.knots[0], self.knots[-1] + 1)

    @property
    def report_range(self) -> range:
        return range(len(self.weights))

    def row(self, answer: int) -> list[int]:
        # Steps that the answer has gone within each stretch between knots: all, some or none of it.
        steps = [min(max(answer - start, 0), stop - start) for start, stop in itertools.pairwise(self.knots)]
        columns = zip(*self.slopes, strict=True)
        return [
            weight + sum(map(operator.mul, steps, column)) for weight, column in zip(self.weights, columns, strict=True)
        ]

    @cached_property
    def knot_rows(self) -> tuple[tuple[int, ...], ...]:
        """The rows of the knots."""
        return tuple(tuple(self.row(knot)) for knot in self.knots)

    @property
    def extreme_rows(self) -> tuple[tuple[int, ...], ...]:
        """The rows of which all others are mixtures: those of the knots."""
        return self.knot_rows

    def randomize(self, answer: int, word: Word = system_word) -> int:
        answer = self._check_answer(answer)
        # Inverse distribution function; rows are made when asked for, because a range may have a million answers.
        return bisect.bisect_right(list(itertools.accumulate(self.row(answer))), word())

    def _randomize_array(self, answers: Integers, words: Words) -> Integers:
        import numpy as np

        before = np.searchsorted(self.knots[1:-1], answers, side="right")
        steps, drawn = answers - np.array(self.knots)[before], words(answers.size).astype(np.int64)
        # The report is the number of ends, of the weights added up, that are not above the word: found by halving.
        ends = np.cumsum(np.transpose(self.knot_rows[:-1]), axis=0)
        rises = np.cumsum(np.transpose(self.slopes), axis=0)
        reports = np.zeros(answers.size, dtype=np.int64)
        half = 1 << (len(ends) - 1).bit_length() >> 1
        beyond = np.minimum(np.arange(2 * half), len(ends) - 1)  # the last end is 2**32, above every word
        ends, rises = ends[beyond].ravel(), rises[beyond].ravel()
        while half:
            # Index of the end to compare with, and of the stretch that this answer lies in, in the flattened table.
            place = (reports + (half - 1)) * len(self.slopes)
            place += before
            own = rises.take(place)
            own *= steps
            own += ends.take(place)
            reports += (drawn >= own) * half
            half >>= 1
        return reports


def optimum() -> ModuleType:
    """The linear program of the rows; raise `NotInstalled` without numpy."""
    with needing("statistics"):
        from deniable_statistics.authoring import optimum
    return optimum


def _are_independent(rows: Sequence[Sequence[int]]) -> bool:
    """Whether rows are linearly independent modulo `PRIME`, by elimination."""
    rest = [[each % PRIME for each in row] for row in rows]
    while rest:
        # Fraction-free elimination: a row times the pivot less the first row times its own entry, modulo the prime.
        top, *others = rest
        at = next((place for place, each in enumerate(top) if each), None)
        if at is None:
            return False
        rest = [
            [(each * top[at] - row[at] * one) % PRIME for each, one in zip(row, top, strict=True)] for row in others
        ]
    return True


def as_integers(values: object, subject: str, size: range) -> tuple[int, ...]:
    """Published integers as a tuple; raise a ParameterError unless they are a list whose length is in ``size``."""
    wanted = f"{size[0]} to {size[-1]}" if len(size) > 1 else str(size[0])
    if not isinstance(values, (tuple, list)) or len(values) not in size:
        raise ParameterError(f"{subject}: must be a list of {wanted} integers, got {describe(values)}")
    if any(type(value) is not int for value in values):
        raise ParameterError(f"{subject}: must be integers")
    return tuple(values)

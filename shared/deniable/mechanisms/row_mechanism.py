"""Mechanisms whose report is drawn from the row of weights of the answer, by its inverse distribution function."""

from __future__ import annotations

import bisect
import itertools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from deniable.errors import ParameterError
from deniable.exact import LARGEST_LOSS, exp_below, factor_above
from deniable.mechanisms.base import OneOfK
from deniable.randomness import UNIT, Word, Words, system_word
from deniable.wire.space import Numbers

if TYPE_CHECKING:
    from deniable.mechanisms.arrays import Integers

LARGEST_RANGE = 1000
"""Largest number of steps between the lowest and the highest answer of a mechanism with a row for each answer."""

M = TypeVar("M", bound="RowMechanism")


class RowMechanism(OneOfK):
    """A mechanism whose report is drawn from the row of integer weights of its answer.

    Answers are the integers of `answer_range`, reports those of `report_range`. Every row adds up to ``2**32`` and
    holds no 0, so no report tells that an answer is impossible.
    """

    @property
    @abstractmethod
    def report_range(self) -> range:
        """Every possible report value."""

    @abstractmethod
    def row(self, answer: int) -> list[int]:
        """Weights out of ``2**32`` of the reports, in order, when this is the answer."""

    @property
    def k(self) -> int:  # type: ignore[override]
        """Number of report values."""
        return len(self.report_range)

    @cached_property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The weights of every answer."""
        return tuple(tuple(self.row(answer)) for answer in self.answer_range)

    @property
    def extreme_rows(self) -> Sequence[Sequence[int]]:
        """Rows of which all others are mixtures."""
        return self.rows

    @cached_property
    def _ends(self) -> list[list[int]]:
        return [list(itertools.accumulate(row)) for row in self.rows]

    @property
    def likelihood_ratio(self) -> Fraction:
        return _largest_ratio(self.extreme_rows)

    def randomize(self, answer: int, word: Word = system_word) -> int:
        answer = self._check_answer(answer)
        ends = self._ends[answer - self.answer_range.start]
        return self.report_range.start + bisect.bisect_right(ends, word())

    def _randomize_array(self, answers: Integers, words: Words) -> Integers:
        import numpy as np

        # One search for all: the ends of answer x stand in the x-th stretch of 2**32.
        offsets = np.arange(len(self.rows)) * UNIT
        ends = (np.array(self._ends) + offsets[:, None]).ravel()
        positions = answers - self.answer_range.start
        found = np.searchsorted(ends, words(answers.size) + positions * UNIT, side="right")
        return np.asarray(found - positions * self.k + self.report_range.start)

    @cached_property
    def reports(self) -> Numbers:
        return Numbers(self.report_range)

    @property
    def odds(self) -> tuple[str, ...]:
        return (
            "Whatever somebody believed before, what you send makes one answer, compared with another, at most "
            f"{factor_above(self.likelihood_ratio)} times as believable as it was.",
            "Answers far apart are easier to tell apart than close ones.",
        )


def _largest_ratio(rows: Sequence[Sequence[int]]) -> Fraction:
    """The largest ratio of two weights of one report in two rows."""
    top, least = 1, 1
    for column in zip(*rows, strict=True):
        high, low = max(column), min(column)
        # high / low > top / least, compared in integers: a fraction for each report would cost most of the time.
        if high * least > top * low:
            top, least = high, low
    return Fraction(top, least)


def check_rows(rows: Sequence[Sequence[int]]) -> None:
    """Raise a ParameterError unless every row holds positive weights that add up to ``2**32``."""
    for row in rows:
        if min(row) < 1:
            raise ParameterError("weights: must all be above 0: an impossible report is infinite epsilon")
        if sum(row) != UNIT:
            raise ParameterError(f"weights: every row must add up to 2**32, one adds up to {sum(row)}")


def calibrate(make: Callable[[Fraction], M], asked: Fraction) -> M:
    """The mechanism of the largest epsilon whose integers, as rounded, stay at or below what was asked.

    ``make`` takes a nominal epsilon. It is lowered in growing steps until the exact ratio passes.
    """
    bound = exp_below(asked)
    step = Fraction(0)
    while step <= LARGEST_LOSS:
        try:
            mechanism = make(asked * (1 - step))
            answers = mechanism.answer_range
            ends = [mechanism.row(answers[0]), mechanism.row(answers[-1])]  # two rows first, which refuse most often
            if _largest_ratio(ends) <= bound and mechanism.likelihood_ratio <= bound:
                return mechanism
        except ParameterError:
            break
        # Mostly rounding passes the bound by 1e-9 or less, so steps start there; doubling them ends soon where it is
        # more.
        step = max(2 * step, Fraction(1, 10**9))
    raise ParameterError(
        f"epsilon: {float(asked):g} cannot be held by 32-bit weights over this range; take fewer levels or more epsilon"
    )

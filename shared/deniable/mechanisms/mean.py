"""The one-bit mechanism for a mean: round at random to an end of the range, then Warner's coin, both in one draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from deniable.errors import ParameterError
from deniable.exact import Number, exp_below, of_100, positive_epsilon, refuse_costly_rounding
from deniable.mechanisms.base import OneOfK, OverRange, check_range
from deniable.mechanisms.pure import PureMechanism
from deniable.mechanisms.support import Support
from deniable.randomness import UNIT, Word, Words, system_word
from deniable.wire.space import Numbers

if TYPE_CHECKING:
    from deniable.mechanisms.arrays import Integers

LARGEST_RANGE = 10**6
"""Largest difference of the ends of a range whose mean is estimated."""

Answers = TypeVar("Answers", int, "Integers")


@dataclass(frozen=True)
class OneBitMean(OverRange, PureMechanism, OneOfK):
    """Report 1 with a probability that grows linearly from ``lo`` to ``hi``, so that the mean can be estimated.

    Parameters
    ----------
    lo, hi : int
        Ends of the range of answers, at most 1,000,000 apart.
    slope : int
        What each step from ``lo`` adds to the weight out of ``2**32`` of sending 1. ``slope * (hi - lo)`` is even.

    Notes
    -----
    Rounding ``x`` to an end without bias and then Warner's coin [1]_, both in one draw:
    ``P(1|x) = q + (p - q) (x - lo) / (hi - lo)``, exactly linear in integers, so the estimate has no bias. Reports
    support the two ends; the mean is ``lo + (hi - lo)`` times the share of the upper one.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       Journal of the American Statistical Association 113 (2018), 182-201.

    Examples
    --------
    >>> mechanism = OneBitMean.from_epsilon(18, 99, epsilon=1)
    >>> mechanism.epsilon <= 1, mechanism.randomize(35) in (0, 1)
    (True, True)
    """

    lo: int
    hi: int
    slope: int

    name = "mean"
    question_types = ("scale", "number")
    named_in = ("scale", "number")
    has_shares = False
    k = 2

    def __post_init__(self) -> None:
        check_range(self.lo, self.hi, LARGEST_RANGE)
        if type(self.slope) is not int or self.slope < 1 or not self.steps * self.slope < UNIT - 2:
            raise ParameterError(f"slope: must be a positive integer below 2**32 / {self.steps}")
        if self.steps * self.slope % 2:
            raise ParameterError(f"slope: times hi - lo = {self.steps} must be even, got {self.slope}")

    @classmethod
    def from_epsilon(cls, lo: int, hi: int, epsilon: Number) -> OneBitMean:
        """The least noise over a range whose epsilon is at most ``epsilon``."""
        asked = positive_epsilon(epsilon)
        lo, hi = check_range(lo, hi, LARGEST_RANGE)
        bound = exp_below(asked)
        # Warner's keep = E / (E + 1) and other = 1 / (E + 1), so keep - other = (E - 1) / (E + 1).
        span = math.floor((bound - 1) / (bound + 1) * UNIT)  # keep - other
        slope = span // (hi - lo)
        # The two ends lie symmetrically around 2**31, which halves the span.
        if slope * (hi - lo) % 2:
            slope -= 1
        if slope < 1:
            raise ParameterError(f"epsilon: {float(asked):g} over this range cannot be held by 32-bit weights")
        mechanism = cls(lo, hi, slope)
        refuse_costly_rounding(float(asked), mechanism.epsilon, f"numbers from {lo} to {hi}")
        return mechanism

    @property
    def steps(self) -> int:
        """``hi - lo``."""
        return self.hi - self.lo

    @property
    def answer_range(self) -> range:
        return range(self.lo, self.hi + 1)

    @cached_property
    def support(self) -> tuple[Support, ...]:
        """Support probabilities of the two ends: report 0 stands for ``lo``, 1 for ``hi``."""
        # By symmetry P(0 | lo) = P(1 | hi), so one pair of probabilities serves both reports.
        lowest = Fraction(self.weight(self.lo), UNIT)
        return (Support(1 - lowest, lowest),) * 2

    @cached_property
    def reports(self) -> Numbers:
        return Numbers(range(2))

    @property
    def odds(self) -> tuple[str, ...]:
        low, high = of_100(self.support[1].if_other), of_100(self.support[1].if_true)
        return (
            "Your device sends only “high” or “low”. "
            f"For the highest answer it sends “high” about {high} times in 100, "
            f"and for the lowest one about {low} times.",
        )

    @property
    def likelihood_ratio(self) -> Fraction:
        # The weight grows with the answer, so the two ends have the largest ratio.
        return Fraction(UNIT - self.weight(self.lo), self.weight(self.lo))

    def randomize(self, answer: int, word: Word = system_word) -> int:
        answer = self._check_answer(answer)
        return 1 if word() < self.weight(answer) else 0

    def _randomize_array(self, answers: Integers, words: Words) -> Integers:
        import numpy as np

        return np.where(words(answers.size) < self.weight(answers), 1, 0)

    def weight(self, answer: Answers) -> Answers:
        """Weight out of ``2**32`` of sending 1 for an answer, or for each of an array of answers."""
        return (UNIT - self.steps * self.slope) // 2 + (answer - self.lo) * self.slope

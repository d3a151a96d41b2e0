"""Two-sided geometric noise on a grid of whole numbers, not clamped to their range: the discrete Laplace mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import ParameterError, describe
from deniable.exact import Number, positive_epsilon, rational
from deniable.mechanisms.base import OverRange, check_range
from deniable.mechanisms.clamped_noise import check_tails, clamped_row, geometric_tails
from deniable.mechanisms.row_mechanism import LARGEST_RANGE, RowMechanism, calibrate, check_rows
from deniable.randomness import UNIT

LARGEST_EXCESS = 4000
"""Largest number of report values beyond each end; an epsilon that needs more has less noise with `OneBitMean`."""


@dataclass(frozen=True)
class DiscreteLaplace(OverRange, RowMechanism):
    """Add two-sided geometric noise to a number in ``[lo, hi]``; reports extend ``excess`` beyond both ends.

    The safe form of the Laplace mechanism: continuous noise in floating point leaks through the gaps between
    floats [2]_. Noise that goes beyond the last report is sent as that report; its probability is `tail`.

    Parameters
    ----------
    lo, hi : int
        Ends of the range, at most 1000 apart.
    excess : int
        Number of report values beyond each end.
    tails : tuple of int
        As in `Geometric`, for ``d`` from 1 to ``hi - lo + excess``, the largest distance of a report.

    References
    ----------
    .. [1] C. Dwork, F. McSherry, K. Nissim, A. Smith, "Calibrating noise to sensitivity in private data analysis",
       TCC 2006, 265-284.
    .. [2] I. Mironov, "On significance of the least significant bits for differential privacy", CCS 2012, 650-661.

    Examples
    --------
    >>> mechanism = DiscreteLaplace.from_epsilon(0, 10, epsilon=2, tail="1/100")
    >>> mechanism.excess, mechanism.tail <= Fraction(1, 100)
    (24, True)
    """

    lo: int
    hi: int
    excess: int
    tails: tuple[int, ...]

    name = "discrete-laplace"
    question_types = ("number",)
    named_in = ("number",)

    def __post_init__(self) -> None:
        check_range(self.lo, self.hi, LARGEST_RANGE)
        if type(self.excess) is not int or not 0 <= self.excess <= LARGEST_EXCESS:
            raise ParameterError(f"excess: must be an integer from 0 to {LARGEST_EXCESS}, got {describe(self.excess)}")
        object.__setattr__(self, "tails", check_tails(self.tails, self.hi - self.lo + self.excess))
        # All rows are made of the same tails, so the rows of the two ends stand for all.
        check_rows([self.row(self.lo), self.row(self.hi)])

    @classmethod
    def from_epsilon(cls, lo: int, hi: int, epsilon: Number, tail: Number = "1/1000") -> DiscreteLaplace:
        """The least noise at an epsilon that goes beyond the last report with a probability of at most ``tail``."""
        lo, hi = check_range(lo, hi, LARGEST_RANGE)
        asked = positive_epsilon(epsilon)
        most = rational(tail, "tail")
        if not 0 < most < 1:
            raise ParameterError(f"tail: must be above 0 and below 1, got {tail}")
        rate = asked / (hi - lo)
        # 2 alpha^(excess + 1) / (1 + alpha) <= tail; alpha is a little larger after calibration, hence the 1.02.
        excess = math.ceil(1.02 * (math.log(2 / float(most)) - math.log1p(math.exp(-float(rate)))) / float(rate))

        def make(nominal: Fraction) -> DiscreteLaplace:
            # A larger excess is refused whatever its tails are, and a hundred million of them take minutes.
            return cls(lo, hi, excess, geometric_tails(nominal / (hi - lo), hi - lo + min(excess, LARGEST_EXCESS + 1)))

        return calibrate(make, asked)

    @property
    def tail(self) -> Fraction:
        """Probability that noise goes beyond the last report, both sides together."""
        # P(noise >= excess + 1), once for each side; an answer farther from an end passes it less often.
        return Fraction(2 * self.tails[self.excess], UNIT)

    @property
    def answer_range(self) -> range:
        return range(self.lo, self.hi + 1)

    @property
    def report_range(self) -> range:
        return range(self.lo - self.excess, self.hi + self.excess + 1)

    def row(self, answer: int) -> list[int]:
        return clamped_row(self.tails, answer, self.report_range)

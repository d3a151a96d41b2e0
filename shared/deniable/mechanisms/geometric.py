"""Two-sided geometric noise: on an ordered scale, and on a grid of numbers (discrete Laplace)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from deniable.errors import ParameterError, describe
from deniable.exact import Number, positive_epsilon, rational
from deniable.mechanisms.rows import LARGEST_RANGE, RowMechanism, calibrate, check_rows
from deniable.randomness import UNIT

LARGEST_MARGIN = 4000
"""Ranges that need more, for their epsilon, are better served by `Mean`."""

_DIGITS = Context(prec=40)


@dataclass(frozen=True)
class Geometric(RowMechanism):
    """Add two-sided geometric noise to a number in ``[lo, hi]``, and clamp the sum to the ends.

    Parameters
    ----------
    lo, hi : int
        Ends of the range, at most 1000 apart.
    tails : tuple of int
        ``tails[d - 1]``: weight out of ``2**32`` of noise of at least ``d`` upwards, and the same downwards, for
        ``d`` from 1 to ``hi - lo``. Strictly falling.

    Notes
    -----
    ``P(noise = d) = (1 - alpha) / (1 + alpha) alpha^|d|`` with ``alpha = exp(-epsilon / (hi - lo))`` [1]_, so
    ``P(noise >= d) = alpha^d / (1 + alpha)``. The published parameters are these tails as integers; epsilon is the
    exact largest ratio of the rows that they make.

    References
    ----------
    .. [1] A. Ghosh, T. Roughgarden, M. Sundararajan, "Universally utility-maximizing privacy mechanisms", SIAM
       Journal on Computing 41 (2012), 1673-1693.

    Examples
    --------
    >>> mechanism = Geometric.from_epsilon(0, 10, epsilon=1)
    >>> mechanism.epsilon <= 1, mechanism.randomize(4) in range(11)
    (True, True)
    """

    lo: int
    hi: int
    tails: tuple[int, ...]

    name = "geometric"
    parameters = ("lo", "hi", "tails")

    def __post_init__(self) -> None:
        _check_range(self.lo, self.hi)
        object.__setattr__(self, "tails", _check_tails(self.tails, self.hi - self.lo))
        check_rows(self.rows)

    @classmethod
    def from_epsilon(cls, lo: int, hi: int, epsilon: Number) -> Geometric:
        """The least noise over a range whose epsilon is at most ``epsilon``."""
        _check_range(lo, hi)

        def make(nominal: Fraction) -> Geometric:
            return cls(lo, hi, _tails(nominal / (hi - lo), hi - lo))

        return calibrate(make, positive_epsilon(epsilon))

    @property
    def answer_range(self) -> range:
        return range(self.lo, self.hi + 1)

    @property
    def report_range(self) -> range:
        return self.answer_range

    def row(self, answer: int) -> list[int]:
        return _clamped(self.tails, answer, self.report_range)


@dataclass(frozen=True)
class DiscreteLaplace(RowMechanism):
    """Add two-sided geometric noise to a number in ``[lo, hi]``; reports reach ``margin`` beyond either end.

    The safe form of the Laplace mechanism: continuous noise in floating point leaks through the gaps between
    floats [2]_. Noise that passes the margin lands on the margin's end; its probability is `tail`.

    Parameters
    ----------
    lo, hi : int
        Ends of the range, at most 1000 apart.
    margin : int
        How far reports reach beyond.
    tails : tuple of int
        As in `Geometric`, for ``d`` from 1 to ``hi - lo + margin``, the longest way of a report.

    References
    ----------
    .. [1] C. Dwork, F. McSherry, K. Nissim, A. Smith, "Calibrating noise to sensitivity in private data analysis",
       TCC 2006, 265-284.
    .. [2] I. Mironov, "On significance of the least significant bits for differential privacy", CCS 2012, 650-661.

    Examples
    --------
    >>> mechanism = DiscreteLaplace.from_epsilon(0, 10, epsilon=2, tail="1/100")
    >>> mechanism.margin, mechanism.tail <= Fraction(1, 100)
    (24, True)
    """

    lo: int
    hi: int
    margin: int
    tails: tuple[int, ...]

    name = "discrete-laplace"
    parameters = ("lo", "hi", "margin", "tails")

    def __post_init__(self) -> None:
        _check_range(self.lo, self.hi)
        if type(self.margin) is not int or not 0 <= self.margin <= LARGEST_MARGIN:
            raise ParameterError(f"margin: must be an integer from 0 to {LARGEST_MARGIN}, got {describe(self.margin)}")
        object.__setattr__(self, "tails", _check_tails(self.tails, self.hi - self.lo + self.margin))
        check_rows([self.row(self.lo), self.row(self.hi)])

    @classmethod
    def from_epsilon(cls, lo: int, hi: int, epsilon: Number, tail: Number = "1/1000") -> DiscreteLaplace:
        """The least noise whose epsilon is at most ``epsilon`` and that passes the margin with at most ``tail``."""
        _check_range(lo, hi)
        asked = positive_epsilon(epsilon)
        most = rational(tail, "tail")
        if not 0 < most < 1:
            raise ParameterError(f"tail: must be above 0 and below 1, got {tail}")
        rate = asked / (hi - lo)
        # 2 alpha^(margin + 1) / (1 + alpha) <= tail; alpha is a little larger after calibration, hence the 1.02.
        margin = math.ceil(1.02 * (math.log(2 / float(most)) - math.log1p(math.exp(-float(rate)))) / float(rate))

        def make(nominal: Fraction) -> DiscreteLaplace:
            return cls(lo, hi, margin, _tails(nominal / (hi - lo), hi - lo + margin))

        return calibrate(make, asked)

    @property
    def tail(self) -> Fraction:
        """Probability that noise passes the margin, on either side together."""
        return Fraction(2 * self.tails[self.margin], UNIT)

    @property
    def answer_range(self) -> range:
        return range(self.lo, self.hi + 1)

    @property
    def report_range(self) -> range:
        return range(self.lo - self.margin, self.hi + self.margin + 1)

    def row(self, answer: int) -> list[int]:
        return _clamped(self.tails, answer, self.report_range)


def _clamped(tails: Sequence[int], answer: int, reports: range) -> list[int]:
    """Weights of the reports when noise with these tails is added and the sum clamped to the ends of the range."""
    up, down = reports.stop - 1 - answer, answer - reports.start
    below = [tails[d - 1] - tails[d] for d in range(1, down)] if down else []
    above = [tails[d - 1] - tails[d] for d in range(1, up)] if up else []
    left = [tails[down - 1], *reversed(below)] if down else []
    right = [*above, tails[up - 1]] if up else []
    return [*left, UNIT - sum(left) - sum(right), *right]


def _tails(rate: Fraction, length: int) -> tuple[int, ...]:
    """``2**32 alpha^d / (1 + alpha)`` for d from 1, rounded to integers, with ``alpha = exp(-rate)``."""
    alpha = _DIGITS.exp(-_DIGITS.divide(Decimal(rate.numerator), Decimal(rate.denominator)))
    tails, tail = [], _DIGITS.divide(Decimal(UNIT), 1 + alpha)
    for _ in range(length):
        tail = _DIGITS.multiply(tail, alpha)
        tails.append(int(tail.to_integral_value()))
    return tuple(tails)


def _check_range(lo: object, hi: object) -> None:
    if type(lo) is not int or type(hi) is not int or not lo < hi <= lo + LARGEST_RANGE or abs(lo) > 10**12:
        raise ParameterError(
            f"range: lo and hi must be integers, hi above lo and at most {LARGEST_RANGE} apart, "
            f"got {describe(lo)} and {describe(hi)}"
        )


def _check_tails(tails: object, length: int) -> tuple[int, ...]:
    if not isinstance(tails, (tuple, list)) or len(tails) != length:
        raise ParameterError(f"tails: must be {length} weights, one for each distance")
    weights = tuple(tails)
    if any(type(weight) is not int for weight in weights) or not weights[0] < UNIT // 2 or weights[-1] < 1:
        raise ParameterError("tails: must be integers above 0 and below 2**31")
    if any(later >= earlier for earlier, later in itertools.pairwise(weights)):
        raise ParameterError("tails: must fall strictly, or some report would be impossible")
    return weights

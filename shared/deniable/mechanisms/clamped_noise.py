"""Two-sided geometric noise with published tails, clamped to a range of reports."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction

from deniable.errors import ParameterError
from deniable.randomness import UNIT

_DIGITS = Context(prec=40)


def clamped_row(tails: Sequence[int], answer: int, reports: range) -> list[int]:
    """Weights of the reports when noise with these tails is added and the sum clamped to the ends of the range."""
    # tails[d - 1] is P(noise >= d), so P(noise = d) = tails[d - 1] - tails[d]; each end takes all that lies beyond it.
    up, down = reports.stop - 1 - answer, answer - reports.start
    below = [tails[d - 1] - tails[d] for d in range(1, down)]
    above = [tails[d - 1] - tails[d] for d in range(1, up)]
    left = [tails[down - 1], *reversed(below)] if down else []
    right = [*above, tails[up - 1]] if up else []
    # The answer itself takes the rest, so that every row adds up to 2**32 whatever was rounded.
    return [*left, UNIT - sum(left) - sum(right), *right]


def geometric_tails(rate: Fraction, length: int) -> tuple[int, ...]:
    """``2**32 alpha^d / (1 + alpha)`` for d from 1, rounded to integers, with ``alpha = exp(-rate)``."""
    # P(noise >= d) = alpha^d / (1 + alpha) for noise with P(d) = (1 - alpha) / (1 + alpha) alpha^|d|.
    alpha = _DIGITS.exp(-_DIGITS.divide(Decimal(rate.numerator), Decimal(rate.denominator)))
    tails, tail = [], _DIGITS.divide(Decimal(UNIT), 1 + alpha)
    for _ in range(length):
        tail = _DIGITS.multiply(tail, alpha)
        tails.append(int(tail.to_integral_value()))
    return tuple(tails)


def check_tails(tails: object, length: int) -> tuple[int, ...]:
    """The tails as a survey publishes them, or a ParameterError: integers that fall strictly and stay above 0."""
    if not isinstance(tails, (tuple, list)) or len(tails) != length:
        raise ParameterError(f"tails: must be {length} weights, one for each distance")
    weights = tuple(tails)
    if any(type(weight) is not int for weight in weights) or not weights[0] < UNIT // 2 or weights[-1] < 1:
        raise ParameterError("tails: must be integers above 0 and below 2**31")
    if any(later >= earlier for earlier, later in itertools.pairwise(weights)):
        raise ParameterError("tails: must fall strictly, or some report would be impossible")
    return weights

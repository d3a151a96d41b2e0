"""Exact conversion of numbers as people write them into integer weights, with every rounding in the safe direction.

Two languages agree on integers; they need not agree on ``exp``. So a mechanism is published as integers out
of ``2**32``. Rounding always moves towards *more* noise: the epsilon of the integers is never above the
epsilon that was asked for, and an epsilon that is shown is never below the real one.
"""

from __future__ import annotations

import math
import numbers
import operator
import re
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from deniable.errors import ParameterError, describe
from deniable.randomness import UNIT

Number = int | float | str | Decimal | Fraction
"""A number as a person writes it: ``"1/2"``, ``"0.8"``, ``0.8``, ``Decimal("0.8")``, ``Fraction(4, 5)``."""

LARGEST_EPSILON = 22
"""Largest epsilon, in nats: ln(2**32) is 22.18, and no ratio of two 32-bit weights is larger."""

LARGEST_LOSS = Fraction(1, 100)
"""Largest part of the asked epsilon that rounding to 32-bit weights may lose."""

_DIGITS = 60  # exp(22) has 10 digits before the point, so 50 are left behind it
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_PERCENTAGE = re.compile(r"([0-9]+(?:\.[0-9]+)?) *%")
_FLOOR = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
_CEILING = Context(prec=_DIGITS, rounding=ROUND_CEILING)


def rational(value: Number, subject: str) -> Fraction:
    """Read a number exactly: no value is moved through binary floating point on its way in.

    A `float` stands for the shortest decimal that prints it, so 0.8 and "0.8" are both 4/5.

    >>> rational("1/2", "truth"), rational(0.8, "truth")
    (Fraction(1, 2), Fraction(4, 5))
    """
    expectation = f"{subject}: must be a number like 0.5 or a fraction like 1/2"
    value = plain(value)  # integers of numpy have no exact division
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, str, Decimal)):
        raise ParameterError(f"{expectation}, got {describe(value)}")
    if isinstance(value, str) and len(value) > 100:
        raise ParameterError(f"{expectation}, got {len(value)} characters")
    try:
        if isinstance(value, (int, Fraction)) or (isinstance(value, str) and "/" in value):
            return Fraction(value)
        decimal = Decimal(str(value))
        if abs(decimal.adjusted()) > 100:  # 1e999999999 is four keystrokes and a gigabyte of digits
            raise ValueError
        return Fraction(decimal)
    except (ValueError, OverflowError, ArithmeticError):
        raise ParameterError(f"{expectation}, got {str(value)!r}{number_hint(str(value))}") from None


def number_hint(text: str) -> str:
    """The way out for somebody who wrote a number with a decimal comma, or a percentage; empty for others.

    >>> number_hint("0,32"), number_hint("20 %"), number_hint("many")
    ('; write a decimal point: 0.32', '; write 0.2 for 20 %', '')
    """
    if _COMMA.fullmatch(text):
        return f"; write a decimal point: {text.replace(',', '.')}"
    if found := _PERCENTAGE.fullmatch(text):
        return f"; write {float(found[1]) / 100:.10g} for {found[1]} %"
    return ""


def positive_epsilon(value: Number) -> Fraction:
    """Read an epsilon, above 0 and at most 22: no mechanism with 32-bit weights can have another one."""
    epsilon = rational(value, "epsilon")
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise ParameterError(f"epsilon: must be above 0 and at most {LARGEST_EPSILON}, got {str(value)[:40]}")
    return epsilon


def probability(value: Number, subject: str, maker: type | None = None) -> Fraction:
    """Read a probability that leaves both outcomes possible.

    The error names ``maker.from_epsilon``, where there is one, for authors who wrote an epsilon instead.

    An integer above 1 is the weight out of ``2**32`` that a published survey carries. Probabilities 0 and 1
    are refused: some report would be impossible under one answer and possible under another, which is
    infinite epsilon, or every answer would give the same report.

    >>> probability(3221225472, "truth")
    Fraction(3, 4)
    """
    number = rational(value, subject)
    if isinstance(value, int) and value > 1:
        number /= UNIT
    if not 0 < number < 1:
        way = getattr(maker, "from_epsilon", None)
        hint = f"; for an epsilon there is {way.__qualname__}" if way else ""
        raise ParameterError(
            f"{subject}: must be a probability above 0 and below 1, got {value!s}; "
            f"a coin that always falls on one side gives infinite epsilon or no information{hint}"
        )
    return number


def as_integer(value: object) -> int | None:
    """An integer of any library as an int; None for everything else, truth values among it.

    >>> as_integer(3), as_integer(True), as_integer(3.0)
    (3, None, None)
    """
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]  # whether it is one is what we ask
    except TypeError:  # no integer, or an array that holds several
        return None


def plain(value: Any) -> Any:
    """An integer of any library as an int, and every other value as it is."""
    return value if (whole := as_integer(value)) is None else whole


def is_truth_value(value: object) -> bool:
    """Whether it is numpy's True or False, which columns of data frames hold; numpy is not loaded for it."""
    return type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")


def floor_weight(share: Fraction) -> int:
    """The largest weight out of ``2**32`` that is not above ``share``."""
    return math.floor(share * UNIT)


def weight_towards_half(share: Fraction) -> int:
    """The weight out of ``2**32`` nearest to ``share`` on the side of one half, where there is more noise."""
    # Nearer to one half both reports are more alike under both answers, so epsilon can only fall.
    return math.floor(share * UNIT) if share > Fraction(1, 2) else math.ceil(share * UNIT)


def checked_weight(weight: int, subject: str) -> int:
    """Return a weight if it can be published: 0 and ``2**32`` are certainties, and 1 would be read as probability 1."""
    if not 1 < weight < UNIT:
        raise ParameterError(f"{subject}: is too close to 0 or 1 to be held by a 32-bit weight")
    return weight


def exp_below(epsilon: Fraction) -> Fraction:
    """A rational number just below ``exp(epsilon)``: relative error under 1e-56, never above."""
    # Both roundings go down; `next_minus` covers that `exp` itself is rounded to nearest.
    exponent = _FLOOR.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    return Fraction(_FLOOR.next_minus(_FLOOR.exp(exponent)))  # `exp` is within half a unit of its last digit


def log_above(ratio: Fraction) -> float:
    """The smallest float that is not below ``ln(ratio)``, for showing an epsilon without understating it.

    >>> log_above(Fraction(3))
    1.0986122886681098
    """
    if ratio == 1:
        return 0.0
    # Both roundings go up; a float between two neighbours then takes the upper one.
    quotient = _CEILING.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    logarithm = _CEILING.next_plus(_CEILING.ln(quotient))
    nearest = float(logarithm)
    return nearest if Decimal(nearest) >= logarithm else math.nextafter(nearest, math.inf)


def sum_above(values: Iterable[float | Fraction]) -> float:
    """The smallest float that is not below the exact sum, for adding up epsilons without understating them.

    >>> sum([0.1] * 6), sum_above([0.1] * 6)
    (0.6, 0.6000000000000001)
    """
    total = Fraction(sum(Fraction(each) for each in values))
    nearest = float(total)
    return nearest if Fraction(nearest) >= total else math.nextafter(nearest, math.inf)


def refuse_costly_rounding(asked: float, kept: float, subject: str) -> None:
    """Raise a ParameterError unless the weights keep at least 99 % of the epsilon that was asked for."""
    if asked - kept > float(LARGEST_LOSS) * asked:
        raise ParameterError(
            f"{subject}: 32-bit weights give epsilon {kept:.6g} where {asked:.6g} was asked; "
            "ask for an epsilon, a coin or a number of options that they can hold"
        )


def of_100(probability: Fraction) -> int:
    """Number of people out of 100, from 1 to 99: what a few people do is never said of nobody or of everybody."""
    # Halves are rounded up, as in `of100` of odds.js; Python's round would send .5 to the even neighbour.
    return min(max(int(100 * probability + Fraction(1, 2)), 1), 99)


def factor_above(ratio: Fraction) -> str:
    """A factor in words, rounded up: one decimal below 10, whole numbers above, powers of ten from 10^9 on.

    >>> factor_above(Fraction(3)), factor_above(Fraction(272, 100)), factor_above(Fraction(1001, 100))
    ('3', '2.8', '11')
    """
    whole = math.ceil(ratio)
    if whole > 10**9:
        return f"10^{whole.bit_length() * 30103 // 100_000 + 1}"  # a bit is .30103 digits, or a little less
    tenths = math.ceil(10 * ratio)
    return f"{tenths / 10:g}" if tenths < 100 else str(whole)


def right_of_100(ratio: Fraction, odds: Fraction = Fraction(1)) -> int:
    """Most chances in 100 of an answer with these odds before, where odds grow by at most this factor; rounded up.

    Odds of ``o`` become at most ``o * ratio``, which is the probability ``o * ratio / (1 + o * ratio)``. At even odds
    it is also the largest number of correct guesses out of 100.

    >>> right_of_100(Fraction(3)), right_of_100(Fraction(1)), right_of_100(Fraction(3), Fraction(1, 9))
    (75, 50, 25)
    """
    return math.ceil(100 * odds * ratio / (1 + odds * ratio))


def chances_above(ratio: Fraction, odds: Fraction = Fraction(1)) -> str:
    """`right_of_100` for people: above 99 with a decimal, so that hardly anything is rounded up to certainty.

    >>> chances_above(Fraction(3), Fraction(9)), chances_above(Fraction(122, 10), Fraction(9))
    ('97', '99.1')
    """
    tenths = math.ceil(1000 * odds * ratio / (1 + odds * ratio))
    return f"{tenths / 10:g}" if tenths > 990 else str(right_of_100(ratio, odds))

"""Numbers for people."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal

_EXPONENT = re.compile(r"e(?:\+|(-))0*(\d+)")


def percent(value: float | None, digits: int = 1) -> str:
    """A share, or a difference of shares, for people.

    >>> percent(0.32251), percent(-0.004), percent(None)
    ('32.3 %', '\u22120.4 %', '\u2013')
    """
    return shown(value, lambda number: f"{100 * number:.{digits}f} %")


def number(value: float | None, digits: int = 4) -> str:
    """A number of some digits, for people.

    All digits before the point are shown, and a few zeros after it. A billion or more and less than a millionth have an
    exponent; what is left of a sum of ones by rounding is 0:

    >>> number(4.32194), number(-0.5), number(float("inf")), number(12340.6), number(0.000014321)
    ('4.322', '\u22120.5', '\u221e', '12,341', '0.00001432')
    >>> number(2.625e-15), number(-1.4321e-8), number(9.8e-19), number(3e9), number(9999.6), number(999999999.6)
    ('2.625e-15', '\u22121.432e-8', '0', '3e9', '10,000', '1e9')
    """

    def form(each: float) -> str:
        # Rounded first, so that 9999.6 has the comma of the 10,000 that it shows as.
        if 10**digits <= round(each) < 10**9:
            return f"{each:,.0f}"
        if 1e-6 <= each < 1e-4:
            return format(Decimal(f"{each:.{digits}g}"), "f")
        return _EXPONENT.sub(r"e\1\2", f"{each:.{digits}g}") if each > 1e-15 else "0"

    return shown(value, form)


def fixed(value: float | None, decimals: int) -> str:
    """A number with so many decimals, or of four digits if it is a billion or more.

    >>> fixed(1234.5, 2), fixed(-0.001, 1)
    ('1,234.50', '0.0')
    """
    return shown(value, lambda each: f"{each:,.{decimals}f}" if each < 1e9 else number(each))


def decimals_of(std_error: float) -> int:
    """The decimals that give a standard error, which is above 0 and finite, two significant digits.

    >>> decimals_of(0.1871), decimals_of(0.0628), decimals_of(18.2), decimals_of(211.0)
    (2, 3, 0, 0)
    """
    # floor(log10(error)) is the place of its first digit.
    return max(0, 1 - math.floor(math.log10(std_error)))


def is_unknown(std_error: float | None) -> bool:
    """Whether a standard error is 0 because all reports say the same; no estimate of noisy reports is exact."""
    # sqrt(p (1 - p) / n) at p = 0 or 1; the mean of equal figures may leave a rounding error.
    return std_error is not None and std_error <= 1e-15


def standard_error(value: float | None, form: Callable[[float | None], str] = percent) -> str:
    """A standard error for people: a dash where it is not known, and never a 0 that rounding made.

    >>> standard_error(0.0212), standard_error(0.0), standard_error(0.0001), standard_error(0.3, number)
    ('2.1 %', '\u2013', '< 0.1 %', '0.3')
    """
    text = form(None if is_unknown(value) else value)
    return "< 0.1 %" if text == "0.0 %" else text


def shown(value: float | None, form: Callable[[float], str]) -> str:
    """A number whose absolute value ``form`` writes: with a real minus, a dash for None or NaN, and no minus zero."""
    if value is None or math.isnan(value):
        return "\u2013"
    text = "\u221e" if math.isinf(value) else form(abs(value))
    # No minus before a zero: -0.0000001 shows as 0.
    negative = value < 0 and any(digit in "123456789\u221e" for digit in text)
    return f"\u2212{text}" if negative else text

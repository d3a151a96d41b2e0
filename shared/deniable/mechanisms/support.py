"""Support: how likely a report speaks for an option."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import NamedTuple


class _Pair(NamedTuple):
    if_true: Fraction
    """Probability that the report supports the option when it is the true answer."""
    if_other: Fraction
    """Probability that the report supports the option when another one is the true answer."""


class Support(_Pair):
    """How likely a report supports one option, exactly; what follows is computed once for all that is estimated.

    >>> Support(Fraction(3, 4), Fraction(1, 4)).slope, Support(Fraction(3, 4), Fraction(1, 4)).floats
    (Fraction(1, 2), (0.75, 0.25))
    """

    @cached_property
    def slope(self) -> Fraction:
        """How much more likely the report supports the option when it is the true answer."""
        return self.if_true - self.if_other

    @cached_property
    def noise(self) -> tuple[float, float]:
        """``n`` times the variance that chance adds to a share: if everybody's truth is the option, and if nobody's."""
        a, b = self.floats
        return a * (1 - a) / (a - b) ** 2, b * (1 - b) / (a - b) ** 2

    @cached_property
    def floats(self) -> tuple[float, float]:
        """Both probabilities, rounded."""
        return float(self.if_true), float(self.if_other)

"""Support probabilities: how likely a report supports an option."""

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
    """The exact probabilities that a report supports an option, and the numbers that estimates derive from them.

    >>> Support(Fraction(3, 4), Fraction(1, 4)).slope, Support(Fraction(3, 4), Fraction(1, 4)).floats
    (Fraction(1, 2), (0.75, 0.25))
    """

    @cached_property
    def slope(self) -> Fraction:
        """``if_true - if_other``, the factor of the share in the expected count."""
        return self.if_true - self.if_other

    @cached_property
    def noise(self) -> tuple[float, float]:
        """``n`` times the noise variance of a share: if the option is the truth of everybody, and of nobody."""
        a, b = self.floats
        # Var of (S - b) / (a - b), S Bernoulli with a or with b; sampling adds f (1 - f) to their mixture.
        return a * (1 - a) / (a - b) ** 2, b * (1 - b) / (a - b) ** 2

    @cached_property
    def floats(self) -> tuple[float, float]:
        """The two probabilities as floats."""
        return float(self.if_true), float(self.if_other)

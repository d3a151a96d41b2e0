"""Checks of what planning is given, and its searches for the smallest number that is enough."""

from __future__ import annotations

import math
from collections.abc import Callable

from deniable.errors import ParameterError, describe

MOST_PEOPLE = 10**12
"""Largest sample size that is searched, more people than have ever lived; beyond it there is no such sample."""


def check_share(share: float, subject: str = "share") -> float:
    """Return the share if it is in [0, 1]; raise a ParameterError otherwise."""
    if not 0 <= share <= 1:
        raise ParameterError(f"{subject}: must be a probability in [0, 1], got {share}")
    return share


def check_people(n: int, subject: str = "n") -> int:
    """Return the number of people if it is a positive integer; raise a ParameterError otherwise."""
    if type(n) is not int or n < 1:
        raise ParameterError(f"{subject}: must be an integer of at least 1, got {describe(n)}")
    return n


def smallest(fits: Callable[[int], bool], impossible: str) -> int:
    """The smallest positive integer that fits, by doubling and bisection; every larger one must fit, too.

    It is searched among whole people instead of rounding a formula up, so that one person fewer is certainly too few.

    Raises
    ------
    ParameterError
        With the sentence ``impossible`` if nothing up to `MOST_PEOPLE` fits.
    """
    # Doubling finds some number that fits within 40 steps, whatever the scale.
    high = 1
    while not fits(high):
        high *= 2
        if high > MOST_PEOPLE:
            raise ParameterError(impossible)
    # Now ``low`` is too few and ``high`` fits; bisection keeps both true.
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def crossing(fits: Callable[[float], bool], outside: float, inside: float) -> float:
    """The number nearest to ``outside`` that fits, by bisection to the last float; ``inside`` must fit.

    ``fits`` answers yes or no, so there is no continuous function whose root a library could find.
    """
    while True:
        middle = (outside + inside) / 2
        if middle in (outside, inside) or math.isclose(outside, inside, rel_tol=1e-15):
            return inside
        outside, inside = (outside, middle) if fits(middle) else (middle, inside)

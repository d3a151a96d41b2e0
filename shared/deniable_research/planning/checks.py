"""What planning refuses, and how it searches."""

from __future__ import annotations

import math
from collections.abc import Callable

from deniable.errors import ParameterError, describe

MOST_PEOPLE = 10**12
"""More than ever lived: a search that comes here is told that there is no such sample."""


def check_share(share: float, subject: str = "share") -> float:
    """The share, or a ParameterError."""
    if not 0 <= share <= 1:
        raise ParameterError(f"{subject}: must be a probability in [0, 1], got {share}")
    return share


def check_people(n: int, subject: str = "n") -> int:
    """The number of people, or a ParameterError."""
    if type(n) is not int or n < 1:
        raise ParameterError(f"{subject}: must be an integer of at least 1, got {describe(n)}")
    return n


def smallest(fits: Callable[[int], bool], impossible: str) -> int:
    """The smallest positive integer that fits, if every larger one does too: doubling, then bisection.

    Solved on whole people instead of rounding a formula up, so that one person fewer is certainly too few.

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
    """Where between two numbers it begins to fit, to the last float; ``inside`` must fit.

    Whether something fits is yes or no, so there is no function whose root a library could find.
    """
    while True:
        middle = (outside + inside) / 2
        if middle in (outside, inside) or math.isclose(outside, inside, rel_tol=1e-15):
            return inside
        outside, inside = (outside, middle) if fits(middle) else (middle, inside)

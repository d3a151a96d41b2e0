"""Ticks of an axis at round numbers, from one at or below all figures to one at or above them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

LEAST_TICKS, MOST_STEPS = 4, 8
"""Number of ticks within a logarithmic axis that is enough to tell values between them, and largest number of steps
between the ticks of another one."""

AreApart = Callable[[Sequence[float]], bool]
"""Whether the labels of ticks do not touch each other."""


def axis_ticks(low: float, high: float, are_apart: AreApart, *, is_log: bool = False) -> list[float]:
    """Ticks around a range, as many as have labels that do not touch each other: no bar ends beyond the last one.

    >>> axis_ticks(-0.85, 2.14, lambda ticks: True), axis_ticks(-0.85, 2.14, lambda ticks: len(ticks) < 6)
    ([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5], [-1.0, 0.0, 1.0, 2.0, 3.0])
    """
    from matplotlib.ticker import MaxNLocator

    if is_log and (found := log_ticks(low, high, are_apart)):
        return found
    found = [low, high]
    for most in range(MOST_STEPS, 0, -1):
        every = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], min_n_ticks=1).tick_values(low, high)
        # A logarithmic axis has no place for 0, so its first tick is the least above 0.
        every = [float(each) for each in every if each > 0 or not is_log]
        first = max((place for place, each in enumerate(every) if each <= low), default=0)
        last = min((place for place, each in enumerate(every) if each >= high), default=len(every) - 1)
        if last > first:
            found = every[first : last + 1]
            if are_apart(found):
                break
    return found


def log_ticks(low: float, high: float, are_apart: AreApart) -> list[float]:
    """Ticks of a logarithmic axis: the coarsest of round numbers that are enough; none if the range is too short.

    `are_apart` says whether the labels of ticks do not touch each other.

    >>> [log_ticks(low, high, lambda ticks: len(ticks) < 9) for low, high in ((0.4, 9.2), (0.02, 40), (0.9, 1.2))]
    [[0.2, 0.5, 1.0, 2.0, 5.0, 10.0], [0.01, 0.1, 1.0, 10.0, 100.0], []]
    >>> log_ticks(0.4, 9.2, lambda ticks: len(ticks) < 5), log_ticks(0.00011, 9000, lambda ticks: len(ticks) < 6)
    ([0.3, 1.0, 3.0, 10.0], [0.0001, 0.01, 1.0, 100.0, 10000.0])
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))

    def around(steps: Sequence[float], apart: int) -> tuple[list[float], int]:
        """Ticks from one at or below the range to one at or above it, and how many of them are within it."""
        # Of many powers of 10 some are left out, but never 1.
        powers = [power for power in range(first - apart, last + apart + 1) if power % apart == 0]
        # Through its text a tick is the float nearest to 0.3, and not 3 times that nearest to 0.1.
        ticks = [float(f"{step}e{power}") for power in powers for step in steps]
        start = max(place for place, each in enumerate(ticks) if each <= low)
        end = min(place for place, each in enumerate(ticks) if each >= high)
        return ticks[start : end + 1], sum(low <= each <= high for each in ticks)

    chosen: list[float] = []
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        found, inside = around(steps, 1)
        if inside > 1 and are_apart(found):
            chosen = found
        if inside >= LEAST_TICKS:
            break
    if chosen or high < 10 * low:
        return chosen
    # Between powers that are left out, steps would be uneven.
    for apart in range(2, last - first):
        found, _ = around((1,), apart)
        if are_apart(found) and 10.0 ** (first - 1) <= found[0] and found[-1] <= 10.0 ** (last + 1):
            return found
    ends = [float(f"1e{power}") for power in (first, last)]
    with_one = sorted({*ends, 1.0}) if low < 1 < high else ends
    return with_one if are_apart(with_one) else ends

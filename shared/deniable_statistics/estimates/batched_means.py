"""Intervals of many means, computed at once: a search for one takes the time that calls of numpy take."""

from __future__ import annotations

from collections.abc import Sequence

from deniable_statistics.designs.design import Design
from deniable_statistics.estimates.means import MeanEstimate, likelihood_intervals
from deniable_statistics.intervals import Interval

MOST_AT_ONCE = 500
"""Number of means times that of possible reports that are searched at once; their Fourier sums take 70 MB."""


def intervals_of_means(means: Sequence[MeanEstimate], confidence_level: float, method: str) -> list[Interval | None]:
    """The interval of each mean, as it has it itself.

    None for those that are quick alone: without reports, of two answers, behind one binomial count, or normal.

    Examples
    --------
    >>> from deniable import Piecewise
    >>> mechanism = Piecewise.from_epsilon(0, 10, epsilon=1)
    >>> means = [MeanEstimate.from_counts(mechanism, [each] * len(mechanism.rows[0])) for each in (30, 40)]
    >>> together, alone = intervals_of_means(means, 0.95, "default"), [each.confidence_interval() for each in means]
    >>> [round(each.low, 9) for each in together] == [round(each.low, 9) for each in alone]
    True
    """
    found: list[Interval | None] = [None] * len(means)
    alike: dict[tuple[Design, tuple[float, ...]], list[int]] = {}
    for place, each in enumerate(means):
        if each.n and len(each.values) > 2 and each.interval_method(method) == "likelihood-ratio":
            alike.setdefault((each.design, each.values), []).append(place)
    for places in alike.values():
        size = max(1, MOST_AT_ONCE // len(means[places[0]].counts))
        for start in range(0, len(places), size):
            some = places[start : start + size]
            for place, interval in zip(
                some, likelihood_intervals([means[each] for each in some], confidence_level), strict=True
            ):
                found[place] = interval
    return found

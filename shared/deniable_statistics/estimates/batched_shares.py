"""Intervals and tests of the design of many estimates, computed at once: small arrays cost what calls of numpy cost."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import Consistency, Interval, consistencies, share_intervals

MOST_AT_ONCE = 1000
"""Number of shares that are computed at once: arrays of more are larger than a processor's cache."""


class Known(NamedTuple):
    """What is known of an estimate: its intervals, and whether its counts fit the design."""

    intervals: Sequence[Interval]
    fits: Sequence[Consistency]


def known_of_each(
    estimates: Sequence[Estimate], confidence_level: float, method: str, *, simultaneous: bool = False
) -> list[Known | None]:
    """The intervals and the consistency of each estimate, as it has them itself.

    None for those that need more than a binomial count for each share: without reports, of a finite population, by
    normal or by likelihood intervals.

    Examples
    --------
    >>> from deniable import TwoCoin
    >>> estimate = TwoCoin(truth="1/2", yes="1/2").estimate([570, 430])
    >>> [known] = known_of_each([estimate], 0.95, "default")
    >>> known.intervals == list(estimate.confidence_interval()), known.fits == list(estimate.consistency)
    (True, True)
    """
    found: list[Known | None] = [None] * len(estimates)
    # Levels differ where intervals are simultaneous, and methods where numbers of reports do.
    alike: dict[tuple[str, float], list[int]] = {}
    for place, each in enumerate(estimates):
        if not each.n or each.population is not None or each.binomials is None:
            continue
        named, level = each.interval_method(method), each.level_of_each(confidence_level, simultaneous=simultaneous)
        if named != "wald":
            alike.setdefault((named, level), []).append(place)
    for (named, level), places in alike.items():
        for some in _portions(estimates, places):
            counted = [option for place in some for option in estimates[place].counted]
            intervals, fits = iter(share_intervals(counted, level, named)), iter(consistencies(counted))
            for place in some:
                k = len(estimates[place].share)
                found[place] = Known(list(itertools.islice(intervals, k)), list(itertools.islice(fits, k)))
    return found


def _portions(estimates: Sequence[Estimate], places: Sequence[int]) -> Iterator[list[int]]:
    """The places in order, so many together that they have about `MOST_AT_ONCE` shares."""
    some: list[int] = []
    shares = 0
    for place in places:
        some.append(place)
        shares += len(estimates[place].share)
        if shares >= MOST_AT_ONCE:
            yield some
            some, shares = [], 0
    if some:
        yield some

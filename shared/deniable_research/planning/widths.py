"""The interval that a survey can expect: the mean width of the intervals that it will publish."""

from __future__ import annotations

import functools

import numpy as np
from scipy.stats import binom

from deniable.errors import ParameterError
from deniable_research.planning.checks import check_people, check_share
from deniable_research.planning.noise_model import NoiseModel
from deniable_statistics.intervals import check_confidence_level, share_interval

NEGLECTED = 1e-9
"""Probability in each tail of the counts whose widths are left out of the mean; no width exceeds 1."""

MOST_INTERVALS = 400
"""Beyond so many likely counts, intervals are computed at this many and interpolated: neighbours hardly differ."""


def expected_width(
    noise: NoiseModel, n: int, share: float, confidence_level: float = 0.95, method: str = "default"
) -> float:
    """The mean width of the interval from ``n`` reports, over all counts that they may bring.

    Parameters
    ----------
    noise : NoiseModel
    n : int
    share : float
        The true share.
    confidence_level, method
        As for `deniable_statistics.intervals.share_interval`.

    Returns
    -------
    float
        In share points, at most 1. Half of it is the *expected half width*. Near 0 and 1 it is below the width of
        the normal interval, because intervals are cut there.

    Raises
    ------
    ParameterError
        If the mechanism's counts are not binomials: such shares have normal intervals, so that
        ``2 * noise.at(share).half_width(n)`` is what to expect.

    Notes
    -----
    ``sum P(C = c) width(c)`` with ``C`` binomial of ``n`` and ``b + (a - b) share``. Counts outside of all but 2e-9 of
    the probability are left out, and among more than 400 likely counts the widths are interpolated. Where devices draw
    what they report, as many are taken to draw the option as are to be expected. Needs scipy.

    Examples
    --------
    Asked directly, one person: Clopper and Pearson's interval is 0 to .975 or .025 to 1, whatever the share:

    >>> round(expected_width(NoiseModel.directly(), 1, 0.3, method="clopper-pearson"), 4)
    0.975
    """
    if noise.support is None:
        raise ParameterError("expected_width: needs a mechanism whose reports support an option or do not")
    # As many draw the option as are to be expected, and at least one.
    reports = max(round(check_people(n) * noise.drawn), 1)
    return _expected(noise.support, reports, check_share(share), check_confidence_level(confidence_level), method)


@functools.lru_cache(maxsize=256)
def _expected(support: tuple[float, float], n: int, share: float, confidence_level: float, method: str) -> float:

    a, b = support
    # P(a report supports the option)
    lam = b + (a - b) * share
    low, high = (int(binom.ppf(tail, n, lam)) for tail in (NEGLECTED, 1 - NEGLECTED))
    counts = np.arange(low, high + 1)
    # Widths change slowly with the count, intervals take most of the time.
    looked_at = np.unique(np.linspace(low, high, MOST_INTERVALS).round().astype(int))
    intervals = [share_interval(int(count), n, support, confidence_level, method) for count in looked_at]
    widths = np.interp(counts, looked_at, [interval.high - interval.low for interval in intervals])
    chances = binom.pmf(counts, n, lam)
    # Divided by the probability that was looked at, so that the tails left out do not make widths smaller.
    return float(chances @ widths / chances.sum())

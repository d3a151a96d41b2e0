"""Whether a count fits its design."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deniable_statistics.intervals.methods import check_count
from deniable_statistics.special.incomplete_beta import beta_tails


class Consistency(NamedTuple):
    """How well a count fits its design: two one-sided p-values.

    Attributes
    ----------
    p_below : float
        Probability of a count at least this far on the side of shares below 0, if the share is 0. If it is small,
        the data look like a share below 0.
    p_above : float
        The same beyond 1, if the share is 1.
    """

    p_below: float
    p_above: float


def consistency(count: float, n: float, support: tuple[float, float]) -> Consistency:
    """Test the design: no share in [0, 1] makes a count far outside of ``n a`` and ``n b`` likely.

    Far outside, an interval is short *because* the data contradict the design, so that this belongs beside it.

    Parameters
    ----------
    count, n, support
        As for `share_interval`.

    Notes
    -----
    ``P(C <= count | lam = b)`` and ``P(C >= count | lam = a)`` for ``a > b``; the opposite tails for ``a < b``. Without
    reports both are 1.

    Raises
    ------
    ParameterError
        As `share_interval`.

    Examples
    --------
    Of 729 reports 121.5 are expected to say yes if nobody's answer is yes; 98 do:

    >>> fit = consistency(98, 729, (11 / 12, 1 / 6))
    >>> round(fit.p_below, 4), round(fit.p_above, 4)
    (0.0097, 1.0)
    """
    return consistencies([(count, n, support)])[0]


def consistencies(counted: Sequence[tuple[float, float, tuple[float, float]]]) -> list[Consistency]:
    """`consistency` of each of several options, from their counts, numbers of reports and supports.

    >>> [round(fit.p_below, 4) for fit in consistencies([(98, 729, (11 / 12, 1 / 6)), (0, 0, (1, 0))])]
    [0.0097, 1.0]
    """
    count, n, low, high = np.array([check_count(*each) for each in counted]).T
    failures = n - count
    # P(C <= count) where lam is low, as the upper tail of a beta variable, and P(C >= count) where it is high, as the
    # lower one; without failures the first, and without successes the second, is 1.
    a = np.array([count + 1, np.where(count > 0, count, 1.0)])
    b = np.array([np.where(failures > 0, failures, 1.0), failures + 1])
    lower, upper = beta_tails(a, b, np.array([low, high]))
    few, many = np.where(failures > 0, upper[0], 1.0).tolist(), np.where(count > 0, lower[1], 1.0).tolist()
    # The larger support probability belongs to the share 1, so for a < b few supports speak for shares above 1.
    return [
        Consistency(below, above) if support[0] > support[1] else Consistency(above, below)
        for below, above, (_, _, support) in zip(few, many, counted, strict=True)
    ]

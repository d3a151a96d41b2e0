"""Whether a count fits its design."""

from __future__ import annotations

from typing import NamedTuple

from deniable_statistics.intervals.methods import check_count
from deniable_statistics.intervals.tails import at_least, at_most


class Consistency(NamedTuple):
    """How well a count fits the design that is said to have made it: two one-sided p-values.

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
    count, n, low, high = check_count(count, n, support)
    few, many = at_most(count, n, low), at_least(count, n, high)
    # The larger support probability belongs to the share 1, so for a < b few supports speak for shares above 1.
    return Consistency(few, many) if support[0] > support[1] else Consistency(many, few)

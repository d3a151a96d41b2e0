"""Intervals that hold all shares of a question together, from its counts alone."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.errors import ParameterError
from deniable_statistics.intervals import Interval, level_of_each, resolve_method, share_intervals


def simultaneous_intervals(
    counts: Sequence[float],
    n: float,
    supports: Sequence[tuple[float, float]],
    confidence_level: float = 0.95,
    method: str = "default",
) -> list[Interval]:
    """One interval for each option; with the probability of the level all of them hold their shares.

    Parameters
    ----------
    counts : sequence of float, length k
        Reports that support each option.
    n : float
        All reports.
    supports : sequence of pairs, length k
        The support of each option, as for `share_interval`.
    confidence_level : float
        Of all intervals together.
    method : str
        ``default`` or a name in `deniable_statistics.intervals.METHODS`.

    Returns
    -------
    list of Interval, length k
        Within [0, 1].

    Notes
    -----
    By Bonferroni's inequality each interval may miss with ``alpha / k``, whatever the dependence. The method is that of
    a single interval: exact up to 10,000 reports and by likelihood ratio above. So each interval holds the single one
    of the same share, and by default it is no point. With ``wilson`` they are Goodman's [1]_.

    References
    ----------
    .. [1] L. A. Goodman, "On simultaneous confidence intervals for multinomial proportions", Technometrics 7
       (1965), 247-254.

    Raises
    ------
    ParameterError
        If there are not as many supports as counts, or as `share_interval`.

    Examples
    --------
    >>> three = simultaneous_intervals([1200, 900, 900], 3000, [(0.6, 0.2)] * 3)
    >>> [(round(low, 3), round(high, 3)) for low, high in three]
    [(0.446, 0.554), (0.2, 0.301), (0.2, 0.301)]
    """
    if len(counts) != len(supports):
        raise ParameterError(f"supports: must be {len(counts)}, one for each count, got {len(supports)}")
    each = level_of_each(confidence_level, len(counts))
    name = resolve_method(method, n)
    counted = [(count, n, support) for count, support in zip(counts, supports, strict=True)]
    return share_intervals(counted, each, name)

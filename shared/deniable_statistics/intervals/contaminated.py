"""Confidence intervals of a share if some reports may be fake: the hull over all tallies of the true reports."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.intervals.binomial import clopper_pearson
from deniable_statistics.intervals.interval import Interval, check_confidence_level
from deniable_statistics.intervals.methods import check_count, resolve_method, share_interval, share_intervals
from deniable_statistics.intervals.restricted import fallen_by
from deniable_statistics.special.incomplete_beta import beta_cdfs
from deniable_statistics.special.logarithms import x_log1p_y, x_log_y


def contaminated_interval(
    count: float,
    n: float,
    support: tuple[float, float],
    fakes: float,
    confidence_level: float = 0.95,
    method: str = "default",
    scale: float = 1.0,
) -> Interval:
    """A confidence interval of the share that holds for any ``fakes`` fake reports.

    Parameters
    ----------
    count, n : float
        Reports that support the option, and all reports; with weights their sums.
    support : tuple of two floats
        As for `share_interval`.
    fakes : float
        Number of the ``n`` reports that may be fake, made by an attacker who sees all other reports.
    confidence_level, method
        As for `share_interval`.
    scale : float
        Kish's effective number of reports divided by ``n``; 1 without weights.

    Returns
    -------
    Interval
        Within [0, 1]; all of it if every report may be fake.

    Notes
    -----
    If ``k <= K = fakes`` reports are fake and ``j`` of these support the option, the tally of the others is
    ``(count - j, n - k)``. It is not known, but one of finitely many, so the hull of the intervals at all of them holds
    the share whenever the interval at the true one does. That is for every outcome, so the coverage is at least that of
    the method for the reports that are true, however the fakes were chosen.

    Which tallies decide, written as ``s`` reports that support the option and ``t`` that do not, ``a > b``:

    1. For all methods but two, both limits never fall with ``s`` and never rise with ``t``, see below. So the lower end
       is at ``(s - K, t)`` and the upper one at ``(s, t - K)``, cut at 0: taking away reports of the other kind
       undoes it.
    2. Clopper and Pearson's limits are quantiles of Beta(s, t + 1) and Beta(s + 1, t), Jeffreys' of
       Beta(s + 1/2, t + 1/2), which are ordered so. Mid-p tails are means of two tails that are. Wilson's limits are
       where ``g = (s (1 - lam) - t lam) / sqrt((s + t) lam (1 - lam))`` is ``z`` or ``-z``, and ``g`` rises with ``s``
       and falls with ``t`` at each ``lam``. The fall of a likelihood ratio at ``lam`` below the most likely ``lam'``
       has the derivatives ``log(lam' / lam) >= 0`` and ``log((1 - lam') / (1 - lam)) <= 0``. The lower limit of Wald is
       ordered where it is above 0, and cut elsewhere: with ``p = s / n`` and ``q = 1 - p`` it is above 0 if
       ``n p > z^2 q``, rises with ``s`` if ``n p q > z^2 (1/2 - 3 p / 2)^2``, and falls with ``t`` if
       ``n p q > z^2 (3 q / 2 - 1/2)^2`` or ``q < 1/3``, which follow. Agresti and Coull's is Wald's of more reports.
    3. Feldman and Cousins' and Blaker's limits are ordered in the count for each ``n``, because their p-value falls
       the farther a count is from its mean, but not in ``n``. So the lower end is the least of those at
       ``(s - k, t)``, ``k <= K``; not always at ``K``, but only where a limit that is never above it is lower than
       that at ``K``. Such limits are ordered: of the likelihood ratio at ``log(2 / alpha)`` (note 5 of
       `feldman_cousins`), and Clopper and Pearson's.
    4. Of Feldman and Cousins' many of these are left, up to .8 standard deviations of the count. For each the
       probabilities from its bound to the limit at ``K`` are cut into stretches from ``x`` to ``y``, where
       ``p <= P(S >= s - k; y) + P(S <= c(y); x)`` (the same note). Where that is at most ``alpha`` everywhere there is
       no lower limit; the few others are computed.

    The default method changes at 10,000 reports. If the true reports may be on either side of that, the hull is over
    both methods.

    With weights ``fakes`` is a part of their sum. What is left then counts as ``(1 - fakes / n)^2`` times the
    effective number of reports, the least that it can: the sum of squares does not grow. As with weights anywhere,
    that is an approximation, and only the ends of step 1 are looked at.

    Examples
    --------
    Two fair coins, 600 of 2000 say yes, and somebody may have sent 20 of the reports. Wilson's lower end is that of 580
    of 1980, the upper one that of 600 of 1980. The exact one needs a number of fakes between.

    >>> [round(end, 4) for end in contaminated_interval(600, 2000, (0.75, 0.25), 20, method="wilson")]
    [0.0466, 0.1473]
    >>> [round(share_interval(c, 1980, (0.75, 0.25), method="wilson")[end], 4) for end, c in enumerate((580, 600))]
    [0.0466, 0.1473]
    >>> [round(end, 4) for end in contaminated_interval(600, 2000, (0.75, 0.25), 20)]
    [0.0462, 0.1472]
    """
    count, n, _, _ = check_count(count, n, support)
    check_confidence_level(confidence_level)
    if scale == 1:
        fakes = math.floor(fakes)
    if fakes >= n:
        return Interval(0.0, 1.0)
    if not fakes:
        return share_interval(count * scale, n * scale, support, confidence_level, method)
    # The default changes at 10,000 reports, and nobody knows on which side of it the true ones are.
    names = dict.fromkeys(resolve_method(method, each * scale) for each in (n, n - fakes))
    hull = _Hull(count, n, support, fakes, confidence_level, scale)
    found = [hull.interval(name) for name in names]
    return Interval(min(low for low, _ in found), max(high for _, high in found))


@dataclass(frozen=True)
class _Hull:
    """The hull of the intervals at all possible tallies of the true reports."""

    count: float
    n: float
    support: tuple[float, float]
    fakes: float
    confidence_level: float
    scale: float

    def interval(self, name: str) -> Interval:
        """The hull of the intervals by one method, a name in `METHODS`."""
        a, b = map(float, self.support)
        straight, opposite = (self.count, (a, b)), (self.n - self.count, (1 - b, 1 - a))
        if a < b:  # what does not support the option speaks for it
            straight, opposite = (opposite[0], (1 - a, 1 - b)), (straight[0], (b, a))
        return Interval(self._lower(name, *straight), 1 - self._lower(name, *opposite))

    def _lower(self, name: str, speaking: float, support: tuple[float, float]) -> float:
        """The least lower limit after some of the reports that speak for the option are taken away."""
        most = min(self.fakes, speaking)
        (found,) = self._lower_without(name, speaking, [most], support)
        if name not in SEARCHES or self.scale != 1 or not found:
            return found
        # Note 3: at fewer fakes only a limit that is not ordered can be lower than this one, on the scale of lam.
        limit = support[1] + (support[0] - support[1]) * found
        alpha, (a, b) = 1 - self.confidence_level, support
        fewer = [*SEARCHES[name](int(speaking), int(self.n), int(most), alpha, limit, b, a)]
        return min([found, *self._lower_without(name, speaking, fewer, support)])

    def _lower_without(
        self, name: str, speaking: float, each_taken: Sequence[float], support: tuple[float, float]
    ) -> list[float]:
        """The lower limits after each of these numbers of the reports that speak for the option are taken away."""
        # Kish's number is (sum w)^2 / sum w^2: the sum falls by fakes / n at most, the sum of squares may stay.
        scale = self.scale if self.scale == 1 else self.scale * (1 - self.fakes / self.n)
        tallies = [((speaking - taken) * scale, (self.n - taken) * scale, support) for taken in each_taken]
        return [interval.low for interval in share_intervals(tallies, self.confidence_level, name)]


def _of_feldman_cousins(
    s: int, n: int, most: int, alpha: float, limit: float, low: float, high: float
) -> Iterable[int]:
    """The numbers of fakes at which the limit may be lower: all that the bound of note 4 does not rule out."""

    def outside(taken: int) -> float:
        return fallen_by(math.log(2 / alpha), s - taken, n - taken, low, high)

    # The bound rises with every report that is left, so the numbers whose bound is below the limit are a stretch.
    fewest = bisect_right(range(most), -limit, key=lambda taken: -outside(taken))
    taken = np.arange(fewest, most)
    if not len(taken):
        return []
    start = np.array([[outside(each)] for each in taken.tolist()])
    # Finer stretches near the limit, where p is closest to alpha.
    edges = limit - (limit - start) * np.linspace(1, 0, STRETCHES + 1) ** 2
    x, y = edges[:, :-1], edges[:, 1:]
    seen, size = (s - taken)[:, None], (n - taken)[:, None]

    # T(c, y) = l(c, best) - l(c, y), as in `restricted`, for all stretches at once.
    def fall(c: NDArray[np.int64]) -> NDArray[np.float64]:
        best = np.clip(c / size, low, high)
        return np.asarray(x_log_y(c, best / y) + x_log1p_y(size - c, -best) - x_log1p_y(size - c, -y))

    as_far = fall(seen) - 1e-9  # what is equal but for rounding is equal
    # Bisection for c(y), the largest count below n y that is at least as extreme as s - k.
    inner, outer = np.full(y.shape, -1), np.ceil(size * y).astype(np.int64)
    for _ in range(n.bit_length()):
        middle = (inner + outer) // 2
        is_tail = (middle < 0) | (fall(np.maximum(middle, 0)) >= as_far)
        inner, outer = np.where(is_tail, middle, inner), np.where(is_tail, outer, middle)
    # Note 4: p <= P(S >= s - k; y) + P(S <= c(y); x) on the whole stretch from x to y.
    other = np.where(inner < 0, 0.0, beta_cdfs(size - inner, np.maximum(inner, 0) + 1, 1 - x))
    possible = (beta_cdfs(seen, size - seen + 1, y) + other > alpha).any(axis=1)
    found: list[int] = taken[possible].tolist()
    return found


def _of_blaker(s: int, n: int, most: int, alpha: float, limit: float, low: float, high: float) -> Iterable[int]:
    """The numbers of fakes at which Blaker's limit may be lower: those at which Clopper and Pearson's limit is."""
    for taken in range(most - 1, -1, -1):
        if clopper_pearson(s - taken, n - taken, 1 - alpha).low >= limit:
            return
        yield taken


SEARCHES: dict[str, Callable[[int, int, int, float, float, float, float], Iterable[int]]] = {
    "feldman-cousins": _of_feldman_cousins,
    "blaker": _of_blaker,
}
"""For each method whose limits are not monotone in the tally, the search for numbers of fakes with a lower limit."""

STRETCHES = 16
"""Number of intervals into which the probabilities that are searched for one tally are divided."""

"""Confidence intervals that hold if at most a given number of the reports are fake, whatever the fakes say.

`fakes` says how far fakes can move an estimate; the intervals here are so wide that fakes cannot move them off the
truth.

If ``k <= K`` of ``n`` reports are fake, the tally of the true ones is one of finitely many. The union of the intervals
at all these tallies holds the truth whenever the interval at the right one does. That is so for every outcome, so the
union covers the truth at least as often as the plain interval of the true reports alone, even if the attacker sees all
other reports first. The truth is the share, or the mean, of the population from which the true reports are a sample;
how many of them there are must not depend on their answers. Simultaneous intervals of several options stay
simultaneous.

* Where one binomial counts an option the hull of the union is exact, with the proof in
  `deniable_statistics.intervals.contaminated_interval`.
* Elsewhere shares have intervals by likelihood ratio. Before a possible share is tested, the reports that speak most
  against it are taken away, which comes close to the union; see
  `deniable_statistics.intervals.profile.ShareLikelihood.without_fakes`.
* Intervals of means are computed without the reports of the largest scores, and without those of the smallest. So are
  normal intervals, with the larger of the standard errors before and after.
* Shares among the respondents are those among the true respondents. Exact intervals enumerate all numbers of fakes.
* With weights, the number of fakes is a part of the sum of weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.wire.space import Count
from deniable_statistics.designs.design import Design
from deniable_statistics.intervals import Interval, normal_quantile

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ContaminatedTally:
    """A tally some of whose reports are fake; counts and fakes are effective numbers."""

    design: Design
    counts: Floats
    n: float
    fakes: float

    @classmethod
    def of(
        cls, design: Design, counts: Sequence[Count], n: Count, n_effective: float, fakes: Count
    ) -> ContaminatedTally:
        """The tally of an estimate, with or without weights, scaled to effective numbers."""
        scale = effective_scale(n, n_effective, fakes)
        return cls(design, np.array(counts, dtype=float) * scale, float(n) * scale, float(fakes) * scale)

    def taken(self, scores: Floats) -> Floats:
        """Number of each report among the `fakes` reports with the largest scores, shape (k,)."""
        # Full columns from the largest score down, the last one in part, until `fakes` reports are taken.
        order = np.argsort(-scores, kind="stable")
        held = self.counts[order]
        taken = np.empty_like(self.counts)
        taken[order] = np.clip(self.fakes - (held.cumsum() - held), 0, held)
        return taken

    def normal(self, weights: Floats, constant: float, level: float, *, is_plain: bool) -> Interval:
        """The interval of the mean of ``weights @ supports + constant``, not cut.

        Unless ``is_plain``, Agresti and Coull's ``z^2`` reports of equal shares are added first, as without fakes.
        """
        z = normal_quantile(level)
        # Agresti and Coull: z^2 more reports, distributed as equal shares of all answers would have it.
        more = np.zeros_like(self.counts) if is_plain else z * z * np.array(self.design.expected_if_even, dtype=float)
        n = self.n + (0 if is_plain else z * z)
        whole = self.counts + more
        mean, size = float(weights @ whole) / n, n - self.fakes
        largest = self._variance(weights, whole / n)
        ends = []
        # The lower end is without the fakes of the largest scores, the upper one without those of the smallest.
        for sign in (1, -1):
            if self.design.reports.supports_one:
                left = (whole - self.taken(sign * weights)) / size
                centre, variance = float(weights @ left), self._variance(weights, left)
            else:  # the sum of squares around another centre is all that is known of the others
                # Of n reports with the given mean, a fake adds at most the largest score that one report can have.
                centre = (n * mean - self.fakes * sign * float(self.design.extremes(sign * weights[None])[1][0])) / size
                # sum (x - c)^2 = n (variance + (mean - c)^2), and what is left of the sum is no more than all of it.
                variance = (largest + (mean - centre) ** 2) * n / size
            ends.append(constant + centre - sign * z * math.sqrt(max(variance, largest, 0.0) / size))
        return Interval(*ends)

    def _variance(self, weights: Floats, supported: Floats) -> float:
        return float(self.design.score_covariance(weights[None], supported)[0, 0])


def effective_scale(n: Count, n_effective: float, fakes: Count) -> float:
    """Effective number of reports per unit of weight if some of the weight is fake; 1 without weights.

    If a part ``g`` of the sum of weights is fake, the effective number of the others is at least ``(1 - g)^2`` of all.
    """
    return 1.0 if n_effective == n else n_effective / float(n) * (1 - float(fakes) / float(n))


def hull(intervals: Iterable[Interval]) -> Interval:
    """The shortest interval that holds all of the given ones."""
    lows, highs = zip(*intervals, strict=True)
    return Interval(min(lows), max(highs))

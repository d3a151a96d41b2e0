"""Intervals that hold if at most so many of the reports are fake, whatever the fakes say.

`fakes` says how far fakes move an estimate; here every interval is made so wide that they cannot move it off the truth.

If ``k <= K`` of ``n`` reports are fake, the tally of the others is one of finitely many. The union of the intervals at
all of them holds the truth whenever the interval at that one does, for every outcome: so it covers no less than the
plain interval does for the reports that are true, even if whoever sends the fakes sees all others first. What is held
is the share, or mean, of the people from whom the true reports are a sample, whose number must not hang on what they
say. Intervals of several options that hold together do so as well.

* Where one binomial counts an option the hull of the union is exact, with the proof in
  `deniable_statistics.intervals.contaminated_interval`.
* Elsewhere shares have intervals by likelihood ratio, and for each possible share those reports are taken away that
  speak most against it: near the union, see
  `deniable_statistics.intervals.profile.ShareLikelihood.without_fakes`.
* Means are after the reports with the largest scores are taken away, or the smallest ones. So are normal intervals,
  with the larger of the standard errors before and after.
* Shares of the respondents alone are those of the true ones. Exact intervals go through all numbers of fakes.
* With weights the fakes are a part of their sum.
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
class Left:
    """A tally of which some reports are fake, both in effective numbers."""

    design: Design
    counts: Floats
    n: float
    fakes: float

    @classmethod
    def of(cls, design: Design, counts: Sequence[Count], n: Count, n_effective: float, fakes: Count) -> Left:
        """From counts and fakes as an estimate has them, with or without weights."""
        scale = effective_scale(n, n_effective, fakes)
        return cls(design, np.array(counts, dtype=float) * scale, float(n) * scale, float(fakes) * scale)

    def taken(self, scores: Floats) -> Floats:
        """The reports with the largest scores, as many as are fake."""
        order = np.argsort(-scores, kind="stable")
        held = self.counts[order]
        taken = np.empty_like(self.counts)
        taken[order] = np.clip(self.fakes - (held.cumsum() - held), 0, held)
        return taken

    def normal(self, weights: Floats, constant: float, level: float, *, is_plain: bool) -> Interval:
        """The interval of the mean of ``weights @ supports + constant``, not cut.

        Unless it is plain, after ``z^2`` more reports as equal shares would bring them, as it is without fakes.
        """
        z = normal_quantile(level)
        more = np.zeros_like(self.counts) if is_plain else z * z * np.array(self.design.expected_if_even, dtype=float)
        n = self.n + (0 if is_plain else z * z)
        whole = self.counts + more
        mean, size = float(weights @ whole) / n, n - self.fakes
        largest = self._variance(weights, whole / n)
        ends = []
        for sign in (1, -1):
            if self.design.reports.supports_one:
                left = (whole - self.taken(sign * weights)) / size
                centre, variance = float(weights @ left), self._variance(weights, left)
            else:  # the sum of squares around another centre is all that is known of the others
                centre = (n * mean - self.fakes * sign * float(self.design.extremes(sign * weights[None])[1][0])) / size
                variance = (largest + (mean - centre) ** 2) * n / size
            ends.append(constant + centre - sign * z * math.sqrt(max(variance, largest, 0.0) / size))
        return Interval(*ends)

    def _variance(self, weights: Floats, supported: Floats) -> float:
        return float(self.design.score_covariance(weights[None], supported)[0, 0])


def effective_scale(n: Count, n_effective: float, fakes: Count) -> float:
    """By how much weighted reports count less than their sum, and those that fakes leave less again; 1 without weights.

    If a part ``g`` of the sum is fake, the others count at least as ``(1 - g)^2`` of the effective number.
    """
    return 1.0 if n_effective == n else n_effective / float(n) * (1 - float(fakes) / float(n))


def hull(intervals: Iterable[Interval]) -> Interval:
    """The shortest interval that holds all of some."""
    lows, highs = zip(*intervals, strict=True)
    return Interval(min(lows), max(highs))

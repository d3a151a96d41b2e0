"""Intervals that hold if at most so many of the reports are fake, whatever the fakes say.

`fakes` says how far fakes move an estimate; here every interval is made so wide that they cannot move it off the truth.

If ``k <= K`` of ``n`` reports are fake, the tally of the others is one of finitely many. The union of the intervals at
all of them holds the truth whenever the interval at that one does, for every outcome: so it covers no less than the
plain interval does for the reports that are true, even if whoever sends the fakes sees all others first. What is held
is the share, or mean, of the people from whom the true reports are a sample, whose number must not hang on what they
say. Intervals of several options that hold together do so as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable.estimation.design import Binomial, Design
from deniable.estimation.estimate import Estimate
from deniable.estimation.intervals import (
    Interval,
    contaminated_interval,
    normal_quantile,
    resolve_method,
    resolve_simultaneous,
)
from deniable.estimation.means import MeanEstimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deniable.estimation.debiasing import Count

    Floats = NDArray[np.float64]


def contaminated_shares(
    estimate: Estimate, level: float, method: str, fakes: Count, *, together: bool = False
) -> tuple[Interval, ...]:
    """Intervals of the shares of an estimate, one for each option.

    Parameters
    ----------
    estimate : Estimate
        Of at least one report.
    level : float
        Of each interval.
    method : str
        As for `Estimate.interval`.
    fakes : int
        How many of the reports are fake at most, all of them among those that speak of an option if that is worst;
        with weights a part of their sum.
    together : bool
        Whether the method is that of `Estimate.simultaneous_interval`.

    Notes
    -----
    * Where one binomial counts an option the hull of the union is exact, with the proof in
      `deniable.estimation.intervals.contaminated_interval`.
    * Elsewhere intervals are by likelihood ratio, and for each share those reports are taken away that speak most
      against it: the exact minimum for given constrained shares, found by steps, and near the union. See
      `deniable.estimation.intervals.profile.ShareLikelihood.without_fakes`.
    * Normal intervals are those after the reports with the largest scores, or the smallest ones, are taken away, with
      the larger of the two standard errors, before and after.
    * Of the respondents alone: with the true ones for respondents. Exact intervals go through all numbers of fakes.

    Examples
    --------
    Noise over three numbers, and 10 of 500 reports that may be anything:

    >>> from deniable import Geometric
    >>> estimate = Geometric.from_epsilon(1, 3, 2).estimate([200, 200, 100])
    >>> [[round(end, 2) for end in each] for each in (estimate.interval()[2], estimate.interval(fakes=10)[2])]
    [[0.03, 0.24], [0.0, 0.27]]
    """
    import numpy as np

    named = estimate.interval_method(method, simultaneous=together, fakes=fakes)
    options = range(len(estimate.share))
    if fakes >= estimate.n:
        return (Interval(0.0, 1.0),) * len(options)
    if estimate.binomials is None:
        if named == "likelihood-ratio":
            return estimate.likelihood_ratio_intervals(np.eye(len(options)), confidence_level=level, fakes=fakes)
        if estimate.design.groups > 1:
            raise ParameterError(f"method: must be by likelihood ratio to assume fakes in groups, got {named}")
        weights, constant = estimate.design.debiasing
        tally = _Left.of(estimate, fakes)
        return tuple(
            tally.normal(weights[option], float(constant[option]), level, is_plain=named == "wald").cut()
            for option in options
        )
    if estimate.population is not None:
        return _of_respondents(estimate, level, named, int(fakes))
    resolve = resolve_simultaneous if together else resolve_method
    scale = estimate.n_effective / float(estimate.n)
    fewest = float(min(each.n for each in estimate.binomials))
    names = dict.fromkeys(resolve(method, max(each, 0) * scale) for each in (fewest, fewest - fakes))
    return tuple(
        _hull(contaminated_interval(count, n, support.floats, fakes, level, name, scale) for name in names)
        for count, n, support in estimate.binomials
    )


def contaminated_mean(estimate: MeanEstimate, level: float, named: str, fakes: Count) -> Interval:
    """The interval of a mean that no one binomial tells; parameters as of `contaminated_shares`.

    The lower end is after the reports with the largest scores are taken away, which makes the mean of the others as
    small as can be, and the upper one after those with the smallest scores. Of subsets no tally tells the score of a
    report, so each fake is said to have the largest score that there is.
    """
    lowest, highest = estimate.lowest, estimate.highest
    if fakes >= estimate.n or lowest == highest:
        return Interval(lowest, highest)
    weights, constant = estimate.design.mean_weights(estimate.values)
    left = _Left.of(estimate, fakes)
    scores = _array(weights)
    if named != "likelihood-ratio":
        return left.normal(scores, constant, level, is_plain=named == "wald").cut(lowest, highest)
    ends = [estimate.interval_by(named, level)]
    for sign in (1, -1):
        tally = left.counts - left.taken(sign * scores)
        mean = MeanEstimate.from_counts(estimate.design, tally.tolist(), float(tally.sum()), estimate.values)
        ends.append(mean.interval_by(named, level))
    return _hull(ends)


@dataclass(frozen=True, eq=False)
class _Left:
    """A tally of which some reports are fake, both in effective numbers."""

    design: Design
    counts: Floats
    n: float
    fakes: float

    @classmethod
    def of(cls, estimate: Estimate | MeanEstimate, fakes: Count) -> _Left:
        scale = effective_scale(estimate.n, estimate.n_effective, fakes)
        return cls(estimate.design, _array(estimate.counts) * scale, float(estimate.n) * scale, float(fakes) * scale)

    def taken(self, scores: Floats) -> Floats:
        """The reports with the largest scores, as many as are fake."""
        import numpy as np

        order = np.argsort(-scores, kind="stable")
        held = self.counts[order]
        taken = np.empty_like(self.counts)
        taken[order] = np.clip(self.fakes - (held.cumsum() - held), 0, held)
        return taken

    def normal(self, weights: Floats, constant: float, level: float, *, is_plain: bool) -> Interval:
        """The interval of the mean of ``weights @ supports + constant``, not cut.

        Unless it is plain, after ``z^2`` more reports as equal shares would bring them, as it is without fakes.
        """
        import numpy as np

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


def _of_respondents(estimate: Estimate, level: float, named: str, fakes: int) -> tuple[Interval, ...]:
    """Of shares among the respondents, or among few people of whom some responded."""
    assert estimate.binomials is not None
    assert estimate.population is not None
    if named == "wald":
        raise ParameterError("method: must be another one than wald to assume fakes among the respondents, got wald")
    found: list[list[Interval]] = [[] for _ in estimate.binomials]
    exact = named == "feldman-cousins"
    for taken in range(fakes + 1) if exact else (0, fakes):
        for kept in (True, False):
            for ends, (count, n, support) in zip(found, estimate.binomials, strict=True):
                if taken >= n:
                    ends.append(Interval(0.0, 1.0))
                    continue
                left = min(count, n - taken) if kept else max(count - taken, 0)
                binomial = Binomial(left, n - taken, support)
                ends.append(estimate.among_people(binomial, estimate.population - taken, level, named))
    return tuple(map(_hull, found))


def _array(values: Iterable[float]) -> Floats:
    import numpy as np

    return np.array(list(values), dtype=float)


def _hull(intervals: Iterable[Interval]) -> Interval:
    lows, highs = zip(*intervals, strict=True)
    return Interval(min(lows), max(highs))

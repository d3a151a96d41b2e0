"""The mean among the people to whom a question with a filter applies: a ratio of two means of scores.

One score of a report has the expectation 1 where the question applies and 0 elsewhere, the other has the number that
somebody answers, or 0. The design of a mechanism knows both: they are sums of the scores of its truths.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.wire.space import Count
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of
from deniable_statistics.estimates.among import design_effect
from deniable_statistics.estimates.counts import Counts
from deniable_statistics.estimates.estimate import weighted_tally
from deniable_statistics.intervals import Interval, check_confidence_level, t_quantile
from deniable_statistics.intervals.ratio_limits import Spread, gap_variance, is_surely_positive, ratio_limits


@dataclass(frozen=True)
class AmongMean:
    """The mean among those to whom a question applies.

    Attributes
    ----------
    design : Design
        The last of its truths is *does not apply*.
    values : tuple of float
        The numbers of all other truths.
    top, applying : float
        Unbiased estimates of the mean of the numbers, on a scale from 0 to 1 with 0 for whoever it does not apply to,
        and of the share of the people to whom it applies.
    spread : ndarray, shape (2, 2)
        Their covariance, estimated.
    effective : float
        Number of reports; of weighted ones Kish's effective number, and under a sampling design as many people drawn
        one by one as know the share to whom it applies equally well.
    df : float
        Degrees of freedom of errors under a sampling design.
    effect : float
        How many times the variance of people drawn one by one the mean has under a sampling design.

    Notes
    -----
    The interval is Fieller's: a mean ``m`` is kept if ``top - m applying``, an unbiased estimate of 0 under it, is
    small beside its standard error [1]_. The statistic is lessened by that of the nearest possible mean, so that no
    interval is a point. Where the share to whom it applies may be 0, because the score test of that
    does not refuse it, nothing can be said, and the interval is all of the range.

    References
    ----------
    .. [1] E. C. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16 (1954),
       175-185.

    Examples
    --------
    >>> from deniable import FilteredPiecewise
    >>> quarter, step = 2**30, 2**28
    >>> slopes = ((-step, step, 0),)
    >>> mechanism = FilteredPiecewise((0, 4), (2 * quarter, quarter, quarter), slopes, (quarter, quarter, 2 * quarter))
    >>> found = AmongMean.from_counts(mechanism, [2800, 3000, 4200], (0, 4))
    >>> round(found.applying, 3), round(found.mean, 3), [round(end, 2) for end in found.confidence_interval()]
    (0.32, 2.5, [2.13, 2.89])
    """

    design: Design
    values: tuple[float, ...]
    top: float
    applying: float
    spread: NDArray[np.float64]
    effective: float
    df: float = math.inf
    effect: float = 1.0

    @classmethod
    def from_counts(
        cls,
        design: AnyDesign,
        counts: Counts,
        values: Sequence[float],
        n: Count | None = None,
        n_effective: float | None = None,
    ) -> AmongMean:
        """Divide two means of scores of a tally.

        Parameters
        ----------
        design : Design or Mechanism
            Every report is about all of its truths.
        counts : sequence of int
        values : sequence of float
            The numbers of all truths but the last.
        n : int, optional
            Number of reports, or the sum of their weights; by default the sum of the counts.
        n_effective : float, optional
            Kish's effective number of weighted reports; by default ``n``.

        Raises
        ------
        ParameterError
            If there are not as many values as truths to whom the question applies, or they are all alike.
        """
        found, numbers = design_of(design), tuple(map(float, values))
        counts, reports = weighted_tally(found, counts, n)
        total = float(reports)
        if len(numbers) != len(found.truths) - 1 or min(numbers) == max(numbers):
            raise ParameterError(f"values: must be {len(found.truths) - 1} numbers that differ, got {len(numbers)}")
        if not total:
            return cls(found, numbers, math.nan, 0.0, np.full((2, 2), math.nan), 0.0)
        effective = total if n_effective is None else float(n_effective)
        sums = sums_of_scores(numbers)
        top, applying = (sums @ np.array([float(each) for each in found.shares(counts, reports)])).tolist()
        # The variance is estimated around an estimated mean, so it is divided by n - 1.
        covariance = sums @ found.covariance(counts, reports) @ sums.T * (total / max(effective - 1, 1))
        return cls(found, numbers, top, applying, covariance, effective)

    def under_design(self, spread: NDArray[np.float64], df: float) -> AmongMean:
        """This mean with the errors of a sampling design: the covariance of `top` and `applying`, shape (2, 2)."""
        known = design_effect(float(spread[1, 1]), float(self.spread[1, 1]))
        made = replace(self, spread=spread, effective=self.effective / known, df=df)
        return replace(made, effect=design_effect(made.std_error**2, self.std_error**2))

    @property
    def gradient(self) -> NDArray[np.float64]:
        """Derivatives of the mean by `top` and `applying`, shape (1, 2): ``1 / a`` and ``-m / a`` on their scale."""
        return self.width * np.array([[1.0, -self._part]]) / self.applying

    @property
    def lowest(self) -> float:
        """The lowest of the numbers."""
        return min(self.values)

    @property
    def width(self) -> float:
        """The length of the range of the numbers."""
        return max(self.values) - self.lowest

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """Scores of the supports of a report, shape (2, supports)."""
        return np.asarray(sums_of_scores(self.values) @ self.design.debiasing.weights)

    def is_too_few(self, confidence_level: float = 0.95, fake_share: float = 0.0) -> bool:
        """Whether the question may apply to nobody, by the score test of that."""
        if not self.effective:
            return True
        nobody = self.design.expected([0.0] * len(self.values) + [1.0])
        variance = float(self.design.score_covariance(self._weights[1:], nobody)[0, 0]) / self.effective
        # Fakes can hide that it applies to nobody.
        sure = self.applying - fake_share * float(self.design.reach(self._weights[1:])[0])
        return not is_surely_positive(sure, variance, t_quantile(confidence_level, self.df))

    @cached_property
    def _part(self) -> float:
        """The mean on the scale from 0 to 1; NaN where the question may apply to nobody."""
        return math.nan if self.is_too_few() else self.top / self.applying

    @property
    def mean(self) -> float:
        """The mean; it may leave the range, and is NaN where the question may apply to nobody."""
        return self.lowest + self.width * self._part

    @property
    def std_error(self) -> float:
        """Its standard error by the delta method."""
        return self.width * math.sqrt(self._variance(self._part)) / self.applying if self.applying else math.nan

    def _variance(self, part: float) -> float:
        """The variance of ``top - part applying``."""
        (top, both), (_, bottom) = self.spread.tolist()
        return max(float(gap_variance(part, top, bottom, both)), 0.0)

    @property
    def feasible(self) -> float:
        """The possible mean nearest to the estimate."""
        return self.lowest + self.width * min(max(self._part, 0.0), 1.0)

    @property
    def fake_margin(self) -> float:
        """How far fake reports, one in a hundred, can move the mean; the whole range where nothing can be said."""
        if math.isnan(self._part):
            return self.width
        inside = min(max(self._part, 0.0), 1.0)
        moved = self.design.reach((self._weights[0] - inside * self._weights[1])[None])
        return min(0.01 * self.width * float(moved[0]) / self.applying, self.width)

    def confidence_interval(self, confidence_level: float = 0.95, fake_share: float = 0.0) -> Interval:
        """Fieller's interval, cut to the range of the numbers.

        Parameters
        ----------
        confidence_level : float
        fake_share : float
            Largest share of the reports that may be fake; the interval then holds whatever these say.
        """
        square = t_quantile(check_confidence_level(confidence_level), self.df) ** 2
        if self.is_too_few(confidence_level, fake_share):
            return Interval(self.lowest, self.lowest + self.width)
        (top, both), (_, bottom) = self.spread.tolist()
        # The possible ratio with the least statistic, near enough: that of the estimate, cut.
        nearest = min(max(self.top / self.applying, 0.0), 1.0)
        if variance := self._variance(nearest):
            square += (self.top - nearest * self.applying) ** 2 / variance
        spread = Spread(square * top, square * bottom, square * both)
        # Fakes move both means of scores; each as far as it can go is more than both can go together.
        far = (fake_share * self.design.reach(self._weights)).tolist() if fake_share else [0.0, 0.0]
        # The extremes of a linear function of two bounded shifts lie at the corners.
        corners = {(one, other) for one in (-far[0], far[0]) for other in (-far[1], far[1])}
        ends = [ratio_limits(self.top + t, self.applying + a, spread, spread).cut() for t, a in corners]
        low, high = min(each.low for each in ends), max(each.high for each in ends)
        return Interval(self.lowest + self.width * low, self.lowest + self.width * high)


def sums_of_scores(values: Sequence[float]) -> NDArray[np.float64]:
    """What each truth adds to the two means of scores: its place in the range, and whether it applies.

    The shape is (2, truths); the last truth is *does not apply*.

    >>> sums_of_scores((1, 2, 3)).tolist()
    [[0.0, 0.5, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0]]
    """
    low, width = min(values), max(values) - min(values)
    return np.array([[*((value - low) / width for value in values), 0.0], [*(1.0 for _ in values), 0.0]])


def mean_variance_among(design: AnyDesign, values: Sequence[float], applying: Sequence[float]) -> float:
    """``n`` times the variance of a mean among those to whom a question applies, in a range of length 1.

    Parameters
    ----------
    design : Design or Mechanism
    values : sequence of float
        The numbers of all truths but the last.
    applying : sequence of float
        The share of each of these truths among all people; the rest does not apply.
    """
    found = design_of(design)
    shares = [*applying, 1 - sum(applying)]
    sums = sums_of_scores(values)
    top, bottom = (sums @ np.array(shares)).tolist()
    influence = (sums[0] - top / bottom * sums[1])[None] @ found.debiasing.weights
    variance = float(found.score_covariance(influence, found.expected(shares))[0, 0])
    return variance / float(bottom) ** 2

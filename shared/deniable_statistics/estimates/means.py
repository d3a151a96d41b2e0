"""The estimate of a mean: from a tally of noisy reports to the mean of the true numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.wire.space import Count
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of
from deniable_statistics.estimates.assumed_fakes import ContaminatedTally, hull
from deniable_statistics.estimates.counts import Counts
from deniable_statistics.estimates.estimate import weighted_tally
from deniable_statistics.estimates.fakes import check_fakes
from deniable_statistics.intervals import (
    Interval,
    check_confidence_level,
    contaminated_interval,
    resolve_method,
    without_binomial,
)
from deniable_statistics.intervals.interval import normal_quantile
from deniable_statistics.intervals.profile import (
    ScoreEstimate,
    ShareLikelihood,
    profile_intervals,
    score_intervals,
)


@dataclass(frozen=True)
class MeanEstimate:
    """The debiased mean of the true numbers.

    Attributes
    ----------
    design : Design
        The design behind the reports.
    counts : tuple of int, length k
        Number of reports that support each option.
    n : int
        Number of reports.
    mean : float
        Unbiased mean, which may lie outside the range. NaN without reports.
    std_error : float
        Its standard error, for sampling from a population.
    values : tuple of float
        The numbers that the answers stand for.
    n_effective : float
        Kish's effective number of weighted reports; `n` where reports have no weights.

    Notes
    -----
    The mechanism gives every support a weight ``w_v`` and a constant ``c`` with
    ``E[c + sum w_v S_v | x] = value of x``, ``S`` the supports of one report. The mean is ``c + sum w_v C_v / n``,
    its variance ``w' Cov(S) w / n``. Where only two options are supported, as by `OneBitMean`, their count is binomial
    and the mean has the interval of a share. Elsewhere the interval is by the tail probabilities of
    the sum of scores, see `deniable_statistics.intervals.profile`. Where a tally does not determine the single reports
    (subsets), and for more than 32 answers, it is normal around the mean after ``z^2`` more reports of equal shares,
    Agresti and Coull's idea [1]_.

    References
    ----------
    .. [1] A. Agresti, B. A. Coull, "Approximate is better than exact for interval estimation of binomial
       proportions", The American Statistician 52 (1998), 119-126.

    Examples
    --------
    >>> from deniable import OneBitMean
    >>> estimate = MeanEstimate.from_counts(OneBitMean.from_epsilon(0, 10, epsilon=1), [500, 500])
    >>> estimate.mean, round(estimate.std_error, 3)
    (5.0, 0.342)
    """

    design: Design
    counts: tuple[Count, ...]
    n: Count
    mean: float
    std_error: float
    values: tuple[float, ...]
    n_effective: float

    @classmethod
    def from_counts(
        cls,
        design: AnyDesign,
        counts: Counts,
        n: Count | None = None,
        values: Sequence[float] | None = None,
        n_effective: float | None = None,
    ) -> MeanEstimate:
        """Debias a tally of supports into the mean of the true numbers.

        Parameters
        ----------
        design : Design or Mechanism
        counts : sequence of int, length k
            Number of reports that support each option, in option order; real numbers for weighted reports.
        n : int, optional
            Number of reports, or the sum of their weights; by default the sum of the counts.
        values : sequence of float, optional
            The number that each answer stands for, in order; by default the answers themselves.
        n_effective : float, optional
            Kish's effective number of weighted reports; by default ``n``.

        Raises
        ------
        ParameterError
            If the counts are not as many numbers in ``[0, n]`` as the design has supports, or the values not as many
            as it has truths.
        """
        design = design_of(design)
        counts, total = weighted_tally(design, counts, n)
        numbers = tuple(map(float, design.answer_values if values is None else values))
        if len(numbers) != len(design.truths):
            raise ParameterError(
                f"values: must be {len(design.truths)} numbers, one for each answer, got {len(numbers)}"
            )
        if total == 0:
            return cls(design, tuple(counts), 0, math.nan, math.nan, numbers, 0.0)
        effective = float(total if n_effective is None else n_effective)
        weights, constant = design.mean_weights(numbers)
        # mean = c + w' lam with variance w' Cov(S) w / n, S the supports of one report.
        w, lam = np.array(weights), np.array(counts) / total
        variance = max(float(design.score_covariance(w[None, :], lam)[0, 0]), 0.0) / effective
        mean = constant + float(w @ lam)
        return cls(design, tuple(counts), total, mean, math.sqrt(variance), numbers, effective)

    @property
    def lowest(self) -> float:
        """The lower end of the range of the true numbers."""
        return min(self.values)

    @property
    def highest(self) -> float:
        """The upper end of the range of the true numbers."""
        return max(self.values)

    @cached_property
    def fake_margin(self) -> float:
        """How far fake reports, one in a hundred, can move the mean, in the unit of the numbers.

        >>> from deniable import OneBitMean
        >>> mechanism = OneBitMean.from_epsilon(0, 10, epsilon=1)
        >>> round(MeanEstimate.from_counts(mechanism, [500, 500]).fake_margin, 3)    # 0.01 x 10 (e + 1) / (e - 1)
        0.216
        """
        weights, _ = self.design.mean_weights(self.values)
        return 0.01 * float(self.design.reach(np.array([weights]))[0])

    @property
    def feasible(self) -> float:
        """The possible mean nearest to the unbiased one."""
        return min(max(self.mean, self.lowest), self.highest)

    def interval_method(self, method: str = "default") -> str:
        """The method that `confidence_interval` uses; see Notes of the class."""
        named = resolve_method(method, self.n_effective)
        if self.is_share:
            return named
        return without_binomial(named, self.design)

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str = "default", *, fakes: Count = 0
    ) -> Interval:
        """A confidence interval of the mean, cut to the range of the numbers.

        Parameters
        ----------
        confidence_level : float
            Above 0 and below 1.
        method : str
            One of `deniable_statistics.intervals.METHODS`; `interval_method` says where another one is used.
        fakes : int
            At most that many of the reports may be anything.
        """
        level = check_confidence_level(confidence_level)
        named = self.interval_method(method)
        if not self.n:
            return Interval(self.lowest, self.highest)
        if self.is_share and self.design.support:
            # Two values: mean = v_0 + (v_1 - v_0) share, so the interval of the share maps linearly.
            scale, start, step = self.n_effective / self.n, self.values[0], self.values[1] - self.values[0]
            share = contaminated_interval(
                float(self.counts[1]), self.n, self.design.support[1].floats, check_fakes(fakes), level, method, scale
            )
            return Interval(*sorted(start + step * end for end in share))
        if not check_fakes(fakes):
            return self._interval_by(named, level)
        if fakes >= self.n or self.lowest == self.highest:
            return Interval(self.lowest, self.highest)
        weights, constant = self.design.mean_weights(self.values)
        left, scores = (
            ContaminatedTally.of(self.design, self.counts, self.n, self.n_effective, fakes),
            np.array(weights),
        )
        if named != "likelihood-ratio":
            return left.normal(scores, constant, level, is_plain=named == "wald").cut(self.lowest, self.highest)
        # The tallies with the least and the largest mean that the true reports can have.
        tallies = [left.counts - left.taken(sign * scores) for sign in (1, -1)]
        others = [
            MeanEstimate.from_counts(self.design, each.tolist(), float(each.sum()), self.values) for each in tallies
        ]
        return hull(each._interval_by(named, level) for each in (self, *others))

    def _interval_by(self, named: str, level: float) -> Interval:
        """The interval by a method that `interval_method` named, of a mean that is not behind one binomial count."""
        if named == "likelihood-ratio":
            return self._profile_interval(level)
        z = normal_quantile(level)
        near = self if named == "wald" else self.smoothed(z * z)
        return Interval(near.mean - z * near.std_error, near.mean + z * near.std_error).cut(self.lowest, self.highest)

    @property
    def is_share(self) -> bool:
        """Whether the mean is a linear function of one binomial count."""
        return self.design.support is not None and self.design.reports.size == len(self.values) == 2

    def _profile_interval(self, level: float) -> Interval:
        if len(self.values) > 2:
            return likelihood_intervals([self], level)[0]
        # Of two answers the mean is a share.
        width = self.highest - self.lowest
        if not width:
            return Interval(self.lowest, self.highest)
        likelihood, part = ShareLikelihood(self.design.channels or ()), self._part
        low, high = profile_intervals(likelihood, self._counted, part[None], None, level)[0]
        return Interval(self.lowest + width * float(low), self.lowest + width * float(high))

    @property
    def _part(self) -> NDArray[np.float64]:
        """The numbers of the answers on the scale of their range, from 0 to 1, as likelihoods take them."""
        return (np.array(self.values) - self.lowest) / (self.highest - self.lowest)

    @property
    def _counted(self) -> NDArray[np.float64]:
        """The counts of as many people as the weighted reports are worth."""
        return np.array(self.counts, dtype=float) * (self.n_effective / float(self.n))

    def smoothed(self, reports: float) -> MeanEstimate:
        """The estimate after ``reports`` more reports, distributed as equal shares of all answers would have it."""
        scale = self.n_effective / self.n
        more = self.design.expected_if_even
        counts = [count * scale + reports * each for count, each in zip(self.counts, more, strict=True)]
        return MeanEstimate.from_counts(self.design, counts, self.n_effective + reports, self.values)


def likelihood_intervals(means: Sequence[MeanEstimate], level: float) -> list[Interval]:
    """The intervals by `deniable_statistics.intervals.profile` of means that have one design and the same numbers.

    Each has reports, more than two answers, and no single binomial count behind it.
    """
    first = means[0]
    low, width = first.lowest, first.highest - first.lowest
    if not width:
        return [Interval(first.lowest, first.highest)] * len(means)
    weights, constant = first.design.mean_weights(first.values)
    # E[w_r + c | x] = value of x, moved and scaled as the values are.
    scored = ScoreEstimate((np.array(weights) + constant - low) / width, first._part)
    likelihood = ShareLikelihood(first.design.channels or ())
    ends = score_intervals(likelihood, np.array([each._counted for each in means]), scored, level)
    return [Interval(*(low + width * each).tolist()) for each in ends]

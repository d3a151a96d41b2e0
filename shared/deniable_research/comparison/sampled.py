"""Groups of one sample side by side: their shares covary, because clusters hold people of several groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable_research.comparison.linear import linear_interval
from deniable_research.comparison.ratio_limits import Spread, ratio_limits
from deniable_research.items import Item
from deniable_research.sampling.domain import Domain
from deniable_research.sampling.estimates import t_quantile, t_two_sided
from deniable_research.sampling.rao_scott import FTest, wald_f
from deniable_research.sampling.shares import SampledShares, sampled_shares
from deniable_statistics.intervals import Interval, level_of_each


@dataclass(frozen=True, eq=False)
class SampledGroups:
    """The shares of one question in several groups of a sample.

    Attributes
    ----------
    groups : tuple of SampledShares
    covariance : ndarray, shape (groups k, groups k)
        Of all shares, group after group.
    df : float
        Degrees of freedom of that.
    """

    groups: tuple[SampledShares, ...]
    covariance: NDArray[np.float64] = field(repr=False)
    df: float

    @classmethod
    def of(cls, item: Item, domain: Domain, people: Sequence[NDArray[np.bool_]]) -> SampledGroups:
        """The groups of people of a domain, who do not overlap.

        Raises
        ------
        ParameterError
            If there are fewer than two, or one has nobody who counts.

        Examples
        --------
        >>> from deniable_research.files import direct
        >>> from deniable_research.sampling import SamplingDesign
        >>> item = Item.from_reports("q", direct(), [1, 1, 0, 0, 1, 0, 0, 0])
        >>> domain = Domain(SamplingDesign.of(np.ones(8), clusters="aabbccdd"), np.ones(8, dtype=bool))
        >>> groups = SampledGroups.of(item, domain, [np.arange(8) % 2 == 0, np.arange(8) % 2 == 1])
        >>> apart = groups.difference(0, 1)
        >>> round(apart.estimate, 4), round(apart.std_error, 4), round(apart.p_value, 4)
        (0.25, 0.25, 0.391)

        Each cluster has one of both, and one pair of four differs: the paired t test.
        """
        if len(people) < 2:
            raise ParameterError(f"groups: must be at least 2, got {len(people)}")
        if not all(float(domain.weights @ each) for each in people):
            raise ParameterError("groups: must each have somebody with a weight above 0")
        return cls.known(sampled_shares(item, domain, people), domain, people)

    @classmethod
    def known(
        cls,
        shares: tuple[Sequence[SampledShares], NDArray[np.float64]],
        domain: Domain,
        people: Sequence[NDArray[np.bool_]],
    ) -> SampledGroups:
        """The groups of people whose shares, and their covariance, were estimated already."""
        groups, covariance = shares
        return cls(tuple(groups), covariance, domain.where(np.any(people, axis=0)).df)

    def shares(self, option: int) -> NDArray[np.float64]:
        """The unbiased share of an option in each group."""
        return np.array([group.share[option] for group in self.groups])

    def covariance_of(self, option: int) -> NDArray[np.float64]:
        """Covariance of the shares of an option, shape (groups, groups)."""
        places = option + np.arange(len(self.groups)) * len(self.groups[0].share)
        return self.covariance[np.ix_(places, places)]

    def contrast(self, coefficients: Sequence[float], option: int = 1) -> SampledContrast:
        """A sum of the groups' shares of an option, each times a coefficient."""
        weights = np.asarray(coefficients, dtype=float)
        estimate = float(weights @ self.shares(option))
        error = math.sqrt(max(float(weights @ self.covariance_of(option) @ weights), 0.0))
        return SampledContrast(self, tuple(weights.tolist()), option, estimate, error)

    def difference(self, first: int, second: int, option: int = 1) -> SampledContrast:
        """The share of an option in one group minus that in another."""
        coefficients = np.zeros(len(self.groups))
        coefficients[first], coefficients[second] = 1, -1
        return self.contrast(coefficients.tolist(), option)

    def ratio(self, first: int, second: int, option: int, confidence_level: float) -> tuple[float, float, Interval]:
        """The share in one group over that in another, its error by the delta method, and Donner and Zou's interval."""
        top, bottom = (float(self.shares(option)[place]) for place in (first, second))
        over, under = (self.groups[place].limits(option, confidence_level) for place in (first, second))
        covariance = self.covariance_of(option)[np.ix_([first, second], [first, second])]
        r = correlations(covariance)[0, 1]
        if not all(map(math.isfinite, (*over, *under))):
            ends = Interval(0.0, math.inf)
        else:
            below, above = (top - over.low, under.high - bottom), (over.high - top, bottom - under.low)
            ends = ratio_limits(
                top,
                bottom,
                Spread(below[0] ** 2, below[1] ** 2, r * below[0] * below[1]),
                Spread(above[0] ** 2, above[1] ** 2, r * above[0] * above[1]),
            )
        if not bottom > 0:
            return math.nan, math.nan, ends
        ratio = top / bottom
        variance = float(covariance[0, 0] - 2 * ratio * covariance[0, 1] + ratio**2 * covariance[1, 1])
        return ratio, math.sqrt(max(variance, 0.0)) / bottom, ends

    def homogeneity(self, option: int | None = None) -> FTest:
        """Wald's test, referred to F, that the shares of an option, or of all of them, are the same in all groups."""
        if option is not None:
            shares, covariance, k = self.shares(option), self.covariance_of(option), 1
        else:
            k = len(self.groups[0].share)
            shares, covariance = np.concatenate([group.share for group in self.groups]), self.covariance
        others = np.hstack([np.eye((len(self.groups) - 1) * k), -np.tile(np.eye(k), (len(self.groups) - 1, 1))])
        return wald_f(others @ shares, others @ covariance @ others.T, self.df)

    def trend(self, places: Sequence[float], option: int = 1) -> tuple[SampledContrast, FTest | None]:
        """The slope of a share over groups that stand at different places, and what a straight line leaves.

        Least squares that weigh each group by how many people of the population it stands for.
        """
        x = np.asarray(places, dtype=float)
        sizes = np.array([float(group.plain.n) for group in self.groups])
        matrix = np.column_stack([np.ones(len(x)), x - sizes @ x / sizes.sum()])
        fit = np.linalg.solve((matrix.T * sizes) @ matrix, matrix.T * sizes)
        slope = self.contrast(fit[1].tolist(), option)
        if len(x) < 3:
            return slope, None
        left = np.eye(len(x)) - matrix @ fit
        return slope, wald_f(left @ self.shares(option), left @ self.covariance_of(option) @ left.T, self.df)

    def pairs(self) -> list[tuple[int, int]]:
        """Every two groups."""
        return list(itertools.combinations(range(len(self.groups)), 2))


@dataclass(frozen=True, eq=False)
class SampledContrast:
    """A linear combination of the shares of an option in several groups.

    Attributes
    ----------
    groups : SampledGroups
    coefficients : tuple of float
    option : int
    estimate, std_error : float
    """

    groups: SampledGroups = field(repr=False)
    coefficients: tuple[float, ...]
    option: int
    estimate: float
    std_error: float

    @property
    def statistic(self) -> float:
        """Student's; NaN without an error."""
        return self.estimate / self.std_error if self.std_error else math.nan

    @property
    def p_value(self) -> float:
        """Two-sided, that the contrast is 0."""
        return t_two_sided(self.statistic, self.groups.df)

    def interval(self, confidence_level: float = 0.95, together: int = 1) -> Interval:
        """Newcombe's interval for shares that covary, on Wilson's limits of each group's effective number.

        Limits are not cut. ``together`` intervals hold at once, by Bonferroni's inequality.
        """
        level = level_of_each(confidence_level, together)
        used = [place for place, each in enumerate(self.coefficients) if each]
        limits = [self.groups.groups[place].limits(self.option, level) for place in used]
        if not all(map(math.isfinite, itertools.chain(*limits))):
            return Interval(-math.inf, math.inf)
        covariance = self.groups.covariance_of(self.option)[np.ix_(used, used)]
        return linear_interval(
            [self.coefficients[place] for place in used],
            self.groups.shares(self.option)[used].tolist(),
            limits,
            correlations(covariance),
        )


def correlations(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlations of what has a covariance; 0 with what does not vary."""
    errors = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    both = np.outer(errors, errors)
    found = np.divide(covariance, both, out=np.zeros_like(covariance), where=both > 0)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)


def mean_differences(
    means: Sequence[float], covariance: NDArray[np.float64], df: float, confidence_level: float
) -> list[tuple[int, int, float, float, Interval]]:
    """All differences of means of groups, with their errors and Student's intervals, which hold together."""
    pairs = list(itertools.combinations(range(len(means)), 2))
    t = t_quantile(level_of_each(confidence_level, len(pairs)), df)
    found = []
    for i, j in pairs:
        variance = float(covariance[i, i] - 2 * covariance[i, j] + covariance[j, j])
        apart, error = means[i] - means[j], math.sqrt(max(variance, 0.0))
        found.append((i, j, apart, error, Interval(apart - t * error, apart + t * error)))
    return found

"""Groups of one sample side by side: their shares covary, because clusters hold people of several groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable_statistics.comparison.linear import linear_interval
from deniable_statistics.comparison.side_by_side import Cohorts, CohortTest, Figure
from deniable_statistics.intervals import Interval
from deniable_statistics.intervals.ratio_limits import Spread, gap_variance, ratio_limits
from deniable_statistics.sampling.domain import Domain
from deniable_statistics.sampling.estimates import t_two_sided
from deniable_statistics.sampling.items import Item
from deniable_statistics.sampling.rao_scott import wald_f
from deniable_statistics.sampling.shares import DesignEstimate, sampled_shares


@dataclass(frozen=True, eq=False)
class SampledCohorts(Cohorts):
    """The shares of one question in several cohorts of a complex sample.

    Attributes
    ----------
    cohorts : tuple of DesignEstimate
    covariance : ndarray, shape (cohorts k, cohorts k)
        Covariance of all shares, cohort after cohort.
    df : float
        Degrees of freedom of that.
    """

    cohorts: tuple[DesignEstimate, ...]
    covariance: NDArray[np.float64] = field(repr=False)
    df: float

    @classmethod
    def of(cls, item: Item, domain: Domain, people: Sequence[NDArray[np.bool_]]) -> SampledCohorts:
        """The groups of people of a domain, who do not overlap.

        Raises
        ------
        ParameterError
            If there are fewer than two, or one has nobody who counts.

        Examples
        --------
        >>> from deniable_research.files import direct
        >>> from deniable_statistics.sampling import SamplingDesign
        >>> item = Item.from_reports("q", direct(), [1, 1, 0, 0, 1, 0, 0, 0])
        >>> domain = Domain(SamplingDesign.of(np.ones(8), clusters="aabbccdd"), np.ones(8, dtype=bool))
        >>> groups = SampledCohorts.of(item, domain, [np.arange(8) % 2 == 0, np.arange(8) % 2 == 1])
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
        shares: tuple[Sequence[DesignEstimate], NDArray[np.float64]],
        domain: Domain,
        people: Sequence[NDArray[np.bool_]],
    ) -> SampledCohorts:
        """The groups of people whose shares, and their covariance, were estimated already."""
        cohorts, covariance = shares
        return cls(tuple(cohorts), covariance, domain.where(np.any(people, axis=0)).df)

    def shares(self, option: int) -> NDArray[np.float64]:
        """The unbiased share of an option in each group."""
        return np.array([group.share[option] for group in self.cohorts])

    def covariance_of(self, option: int) -> NDArray[np.float64]:
        """Covariance of the shares of an option, shape (groups, groups)."""
        places = option + np.arange(len(self.cohorts)) * len(self.cohorts[0].share)
        return self.covariance[np.ix_(places, places)]

    def contrast(self, coefficients: NDArray[np.float64], option: int = 1) -> Figure:
        """A sum of the cohorts' shares of an option, each times a coefficient.

        The interval is Newcombe's for shares that covary, on Wilson's limits of effective numbers of people; not cut.
        """
        estimate = float(coefficients @ self.shares(option))
        error = math.sqrt(max(float(coefficients @ self.covariance_of(option) @ coefficients), 0.0))
        statistic = estimate / error if error else math.nan

        def interval(confidence_level: float = 0.95) -> Interval:
            used = np.flatnonzero(coefficients)
            limits = [self.cohorts[place].limits(option, confidence_level) for place in used]
            if not all(map(math.isfinite, itertools.chain(*limits))):
                return Interval(-math.inf, math.inf)
            # Cohorts of one sample covary where clusters hold people of several.
            together = correlations(self.covariance_of(option)[np.ix_(used, used)])
            return linear_interval(coefficients[used].tolist(), self.shares(option)[used].tolist(), limits, together)

        return Figure(estimate, error, statistic, t_two_sided(statistic, self.df), "newcombe", interval, self.df)

    def difference(self, first: int, second: int, option: int = 1) -> Figure:
        """The share of an option in one cohort minus that in another."""
        coefficients = np.zeros(len(self.cohorts))
        coefficients[first], coefficients[second] = 1, -1
        return self.contrast(coefficients, option)

    def ratio(self, first: int, second: int, option: int) -> Figure:
        """The share in one cohort over that in another: Donner and Zou's interval, and the test of the difference."""
        places = [first, second]
        (top, bottom), v = self.shares(option)[places].tolist(), self.covariance_of(option)[np.ix_(places, places)]
        ratio = top / bottom if bottom > 0 else math.nan
        variance = gap_variance(ratio, float(v[0, 0]), float(v[1, 1]), float(v[0, 1]))
        error = math.sqrt(max(variance, 0.0)) / bottom if bottom > 0 else math.nan

        def interval(confidence_level: float = 0.95) -> Interval:
            over, under = (self.cohorts[place].limits(option, confidence_level) for place in places)
            if not all(map(math.isfinite, (*over, *under))):
                return Interval(0.0, math.inf)
            r = correlations(v)[0, 1]
            below, above = (top - over.low, under.high - bottom), (over.high - top, bottom - under.low)
            return ratio_limits(top, bottom, *(Spread(a**2, b**2, r * a * b) for a, b in (below, above)))

        apart = self.difference(first, second, option)
        return Figure(ratio, error, apart.statistic, apart.p_value, "donner-zou", interval, self.df)

    def homogeneity(self, option: int | None = None) -> CohortTest:
        """Wald's test, referred to F, that the shares of an option, or of all of them, are the same in all groups."""
        if option is not None:
            shares, covariance, k = self.shares(option), self.covariance_of(option), 1
        else:
            k = len(self.cohorts[0].share)
            shares, covariance = np.concatenate([group.share for group in self.cohorts]), self.covariance
        # Every cohort's shares minus the last one's; which cohort is the last makes no difference to Wald's test.
        others = np.hstack([np.eye((len(self.cohorts) - 1) * k), -np.tile(np.eye(k), (len(self.cohorts) - 1, 1))])
        return self._test(others @ shares, others @ covariance @ others.T)

    def trend(self, places: Sequence[float], option: int = 1) -> tuple[Figure, CohortTest | None]:
        """The slope of a share over groups that stand at different places, and what a straight line leaves.

        Least squares that weigh each group by how many people of the population it stands for.
        """
        x = np.asarray(places, dtype=float)
        sizes = np.array([float(group.n) for group in self.cohorts])
        matrix = np.column_stack([np.ones(len(x)), x - sizes @ x / sizes.sum()])
        # (M' W M)^-1 M' W maps shares to intercept and slope; 1 - M fit maps them to what the line leaves.
        fit = np.linalg.solve((matrix.T * sizes) @ matrix, matrix.T * sizes)
        slope = self.contrast(fit[1], option)
        if len(x) < 3:
            return slope, None
        left = np.eye(len(x)) - matrix @ fit
        return slope, self._test(left @ self.shares(option), left @ self.covariance_of(option) @ left.T)

    def _test(self, distances: NDArray[np.float64], covariance: NDArray[np.float64]) -> CohortTest:
        """Wald's test that distances are 0, referred to F."""
        found = wald_f(distances, covariance, self.df)
        return CohortTest(found.statistic, int(found.df), found.p_value, "wald", found.df_error)


def correlations(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlations of what has a covariance; 0 with what does not vary."""
    errors = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    both = np.outer(errors, errors)
    found = np.divide(covariance, both, out=np.zeros_like(covariance), where=both > 0)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)

"""Shares and means of one question under a sampling design, with intervals that keep their level near 0 and 1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.wire.space import Count
from deniable_statistics.designs.design import Design
from deniable_statistics.estimates.estimate import DEFAULT_METHOD, Estimate
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import Consistency, Interval, check_confidence_level, level_of_each, wilson
from deniable_statistics.sampling.domain import Domain
from deniable_statistics.sampling.estimates import SampleEstimate, effective_number, t_quantile
from deniable_statistics.sampling.items import Item
from deniable_statistics.sampling.noise import Truths

MOST_WORTH = 1e8
"""Effective number of people above which a share counts as known, as what margins fix is: it has Student's interval."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DesignEstimate(Estimate):
    """The shares of a question's options among some people of a complex sample.

    Shares are those of Kish's effective number of people who were drawn one by one, `plain`; errors, intervals and
    doubts are those of the sampling design.

    Attributes
    ----------
    errors : ndarray, shape (k, k)
        Covariance of the shares under the sampling design. Between tick boxes of a finite population it lacks what is
        known of no two of them.
    df : float
        Degrees of freedom of that.
    people : int
        How many they are.
    """

    errors: NDArray[np.float64] = field(repr=False)
    df: float
    people: int

    @classmethod
    def of(cls, plain: Estimate, errors: NDArray[np.float64], df: float, people: int) -> DesignEstimate:
        """The estimate of people drawn one by one with other errors."""
        known = {each.name: getattr(plain, each.name) for each in fields(Estimate)}
        return cls(**known, errors=errors, df=df, people=people)

    @cached_property
    def plain(self) -> Estimate:
        """These shares as those of people drawn one by one."""
        return Estimate(**{each.name: getattr(self, each.name) for each in fields(Estimate)})

    @cached_property
    def covariance(self) -> NDArray[np.float64]:
        """Covariance of the shares under the sampling design, shape (k, k)."""
        return self.errors

    @cached_property
    def std_error(self) -> tuple[float, ...]:
        """Standard errors of the shares."""
        return tuple(np.sqrt(np.maximum(self.errors.diagonal(), 0.0)).tolist())

    @property
    def design_effect(self) -> NDArray[np.float64]:
        """Variance of each share over that of as many people drawn one by one from a population without end."""
        # The plain error is that of Kish's number; the root makes it that of all these people with equal weights.
        plain = np.array(self.plain.std_error) * np.sqrt(self.n_effective / max(self.people, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((np.array(self.std_error) / plain) ** 2)

    def worth(self, plain_error: float, error: float, confidence_level: float = 0.95) -> Estimate:
        """The shares of as many people drawn one by one as know a figure equally well; see `effective_number`."""
        known = effective_number(
            self.n_effective, plain_error, error, self.people, self.df, check_confidence_level(confidence_level)
        )
        return replace(self.plain, n_effective=known)

    def of_option(self, option: int, confidence_level: float = 0.95) -> Estimate:
        """`worth` for the share of one option."""
        return self.worth(self.plain.std_error[option], self.std_error[option], confidence_level)

    def confidence_interval(
        self,
        confidence_level: float = 0.95,
        method: str = DEFAULT_METHOD,
        *,
        simultaneous: bool = False,
        fakes: Count = 0,
    ) -> tuple[Interval, ...]:
        """Korn and Graubard's intervals, one for each option, cut to [0, 1]; see `effective_number`."""
        k = len(self.share)
        level = level_of_each(confidence_level, k) if simultaneous and k > 2 else confidence_level
        return tuple(self._interval(option, level, method) for option in range(k))

    def _interval(self, option: int, level: float, method: str) -> Interval:
        # Korn and Graubard: the interval that as many people would have as are worth this error.
        near = self.of_option(option, level)
        if near.n_effective < 1:  # less than one person: the clusters tell nothing
            return Interval(0.0, 1.0)
        if near.n_effective > MOST_WORTH:
            reach = t_quantile(level, self.df) * self.std_error[option]
            return Interval(self.share[option] - reach, self.share[option] + reach).cut()
        return near.confidence_interval(level, method)[option]

    def interval_method(self, method: str = DEFAULT_METHOD, *, fakes: Count = 0) -> str:
        """The method that `confidence_interval` really uses, within that of Korn and Graubard."""
        if not self.n:
            return self.plain.interval_method(method)
        used = {self.of_option(option).interval_method(method) for option in range(len(self.share))}
        return f"korn-graubard {', '.join(sorted(used))}"

    @cached_property
    def consistency(self) -> tuple[Consistency, ...] | None:
        """Whether the data fit the design of the question; NaN of options of which the clusters tell nothing."""
        if not self.n:
            return None
        nothing = Consistency(math.nan, math.nan)
        each = [self.of_option(option) for option in range(len(self.share))]
        fits = [near.consistency if near.n_effective >= 1 else None for near in each]
        return tuple(fit[option] if fit else nothing for option, fit in enumerate(fits))

    def limits(self, option: int, confidence_level: float) -> Interval:
        """Limits of one share that are not cut: Wilson's of the effective number, or Student's."""
        near = self.of_option(option, confidence_level)
        if near.n_effective < 1:
            return Interval(-np.inf, np.inf)
        if near.design.support is None:
            known = SampleEstimate(np.array(self.share), self.errors, self.df).confidence_interval(confidence_level)
            return Interval(float(known[0][option]), float(known[1][option]))
        ends = wilson(near.effective_counts[option], near.n_effective, confidence_level)
        return ends.debiased(*near.design.support[option].floats)


def sampled_shares(
    item: Item, domain: Domain, groups: Sequence[NDArray[np.bool_]] = ()
) -> tuple[list[DesignEstimate], NDArray[np.float64]]:
    """The shares of a question among groups of those who answered, and the covariance of all shares of all groups.

    Parameters
    ----------
    item : Item
        A report for each person of the domain.
    domain : Domain
    groups : sequence of ndarray of bool, shape (people of the domain,)
        By default one, of everybody.

    Examples
    --------
    Two clusters of two people who report the same tell as much as two people. (1, 0), (0, 1): one half.

    >>> from deniable_research.files import direct
    >>> from deniable_statistics.sampling import SamplingDesign
    >>> item = Item.from_reports("q", direct(), [1, 1, 0, 0])
    >>> design = SamplingDesign.of([1, 1, 1, 1], clusters="aabb")
    >>> (found,), _ = sampled_shares(item, Domain(design, np.ones(4, dtype=bool)))
    >>> found.share, found.std_error, found.df
    ((0.5, 0.5), (0.5, 0.5), 1)
    """
    wanted = list(groups) or [np.ones(len(item), dtype=bool)]
    k = len(item.options)
    # Without the device's chance the scores of a person with the truth x are the unit vector of x.
    together = domain.means(item.scores, Truths(item.scores, np.eye(k)), wanted)
    found = []
    for place, people in enumerate(wanted):
        own, group = slice(place * k, (place + 1) * k), domain.where(people)
        plain = item.where(people).estimate(group)
        found.append(DesignEstimate.of(plain, together.covariance[own, own], group.df, group.n))
    return found, together.covariance


def sampled_groups(
    design: Design,
    responses: NDArray[np.int64],
    numbers: NDArray[np.int64],
    domain: Domain,
    cohorts: Sequence[NDArray[np.bool_]] = (),
) -> tuple[list[DesignEstimate], NDArray[np.float64]]:
    """The shares of a design of several groups of people among cohorts, and the covariance of all of them.

    Parameters
    ----------
    design : Design
        Of several groups.
    responses, numbers : ndarray of int, shape (people of the domain,)
        The response of each person, and the group.
    domain : Domain
    cohorts : sequence of ndarray of bool, shape (people of the domain,)
        By default one, of everybody.

    Raises
    ------
    ParameterError
        If a cohort has no reports of one group, or the population is finite.

    Notes
    -----
    The shares are a linear map of the shares of responses in each group, which are means of domains.
    """
    if domain.is_finite:
        raise ParameterError("population: needs a design that asks everybody alike, got groups")
    sizes = [len(matrix) for matrix in design.exact_channels]
    # Groups with fewer responses than the largest have columns of zeros, left out below.
    seen = np.eye(max(sizes))[responses]
    wanted = list(cohorts) or [np.ones(len(domain), dtype=bool)]
    members = [[people & (numbers == place) for place in range(len(sizes))] for people in wanted]
    if not all(float(domain.weights @ people) for each in members for people in each):
        raise ParameterError(f"{design.name}: must have reports of both groups, got none of one")
    # Shares of each response, group by group; the map below makes shares of truths of them.
    together = domain.means(seen, None, list(itertools.chain.from_iterable(members)))
    kept = np.concatenate([place * max(sizes) + np.arange(size) for place, size in enumerate(sizes * len(wanted))])
    # The same debiasing for each cohort: a block-diagonal map from shares of responses to shares of truths.
    undo = np.kron(np.eye(len(wanted)), design.debiasing.weights)
    covariance = undo @ together.covariance[np.ix_(kept, kept)] @ undo.T
    found = []
    for place, (people, each) in enumerate(zip(wanted, members, strict=True)):
        k, cohort = len(design.truths), domain.where(people)
        counts = [domain.weights[group] @ seen[group][:, :size] for group, size in zip(each, sizes, strict=True)]
        plain = Estimate.from_counts(design, np.concatenate(counts).tolist(), n_effective=cohort.n_effective)
        own = slice(place * k, (place + 1) * k)
        found.append(DesignEstimate.of(plain, covariance[own, own], cohort.df, int(people.sum())))
    return found, covariance


@dataclass(frozen=True, eq=False, kw_only=True)
class DesignMean(MeanEstimate):
    """The mean of the true numbers among some people of a complex sample.

    Attributes
    ----------
    plain : MeanEstimate
        The same mean, of Kish's effective number of people drawn one by one.
    df : float
        Degrees of freedom of `std_error`, which is that of the sampling design.
    people : int
        How many they are.
    """

    plain: MeanEstimate = field(repr=False)
    df: float
    people: int

    @classmethod
    def of(cls, plain: MeanEstimate, std_error: float, df: float, people: int) -> DesignMean:
        """The mean of people drawn one by one with another error."""
        known = {each.name: getattr(plain, each.name) for each in fields(MeanEstimate)}
        return cls(**known | {"std_error": std_error}, plain=plain, df=df, people=people)

    @property
    def design_effect(self) -> float:
        """Variance over that of as many people drawn one by one; NaN where these have none."""
        # The plain error is of Kish's number of people; n_effective / people makes it that of all of them.
        alone = self.plain.std_error**2 * self.n_effective / max(self.people, 1)
        return self.std_error**2 / alone if alone > 0 else math.nan

    def worth(self, confidence_level: float = 0.95) -> MeanEstimate:
        """The mean of as many people drawn one by one as know it equally well; see `effective_number`."""
        errors = (self.plain.std_error, self.std_error)
        known = effective_number(self.n_effective, *errors, self.people, self.df, confidence_level)
        # A variance is in inverse proportion to the number of people.
        factor = self.n_effective / known if known > 0 else np.inf
        return replace(self.plain, n_effective=known, std_error=float(self.plain.std_error * np.sqrt(factor)))

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str = DEFAULT_METHOD, *, fakes: Count = 0
    ) -> Interval:
        """A confidence interval, cut to the range."""
        near = self.worth(check_confidence_level(confidence_level))
        if near.n_effective < 1:
            return Interval(self.lowest, self.highest)
        if near.n_effective > MOST_WORTH:
            reach = t_quantile(confidence_level, self.df) * self.std_error
            return Interval(self.mean - reach, self.mean + reach).cut(self.lowest, self.highest)
        return near.confidence_interval(confidence_level, method)

    def interval_method(self, method: str = DEFAULT_METHOD) -> str:
        """The method that `confidence_interval` really uses, within that of Korn and Graubard."""
        return f"korn-graubard {self.plain.interval_method(method)}"


def sampled_means(
    item: Item, values: Sequence[float], domain: Domain, groups: Sequence[NDArray[np.bool_]] = ()
) -> tuple[list[DesignMean], NDArray[np.float64]]:
    """The means of a question among groups of those who answered, and their covariance.

    Parameters are those of `sampled_shares`, and the numbers that the design's truths stand for. Of designs that tell a
    mean only nobody knows how much of a report is noise: with a finite population their errors are those of a
    population without end, which are too large rather than too small.
    """
    wanted = list(groups) or [np.ones(len(item), dtype=bool)]
    weights, constant = item.design.mean_weights(values)
    # c + sum w_v S_v, whose expectation is the true number of the person.
    scored = item.supports @ np.array(weights) + constant
    truths = Truths(item.scores, np.array(values, dtype=float)[:, None]) if item.design.has_shares else None
    together = (domain if truths is not None else domain.without_population()).means(scored, truths, wanted)
    found = []
    for place, people in enumerate(wanted):
        group = domain.where(people)
        plain = item.where(people).estimate(group)
        mean = MeanEstimate.from_counts(item.design, plain.counts, plain.n, values, plain.n_effective)
        found.append(DesignMean.of(mean, float(together.std_error[place]), group.df, group.n))
    return found, together.covariance

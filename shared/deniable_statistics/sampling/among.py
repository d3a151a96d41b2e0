"""Shares and means among the people to whom a question with a filter applies, under a sampling design.

Both are ratios of two weighted means of scores. `Domain` gives the covariance of the means of all groups of people,
with the noise of devices that a finite population does not take away; the delta method makes that of the ratios of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.estimates.among import AmongEstimate
from deniable_statistics.estimates.mean_among import AmongMean, sums_of_scores
from deniable_statistics.sampling.domain import Domain
from deniable_statistics.sampling.items import Item
from deniable_statistics.sampling.noise import Truths
from deniable_statistics.sampling.shares import sampled_shares

Floats = NDArray[np.float64]
Groups = Sequence[NDArray[np.bool_]]
F = TypeVar("F", AmongEstimate, AmongMean)


@dataclass(frozen=True, eq=False)
class AmongGroups(Generic[F]):
    """Figures among those to whom a question applies, in groups of people.

    Attributes
    ----------
    groups : tuple of AmongEstimate, or of AmongMean
    covariance : ndarray, shape (figures, groups, groups), or None
        The covariance of each figure between groups of one complex sample: the share of each option, or the mean
        alone. None where people were drawn one by one, so that groups do not covary.
    df : float
        Degrees of freedom of all groups together.
    """

    groups: tuple[F, ...]
    covariance: Floats | None = field(default=None, repr=False)
    df: float = math.inf

    def correlation(self, figure: int, first: int, second: int) -> float:
        """The correlation of a figure in two groups, which may hold people of the same clusters; 0 if not known."""
        if self.covariance is None:
            return 0.0
        both = self.covariance[figure]
        product = both[first, first] * both[second, second]
        return float(both[first, second] / np.sqrt(product)) if product > 0 else 0.0

    def design_effect(self, figure: int, group: int) -> float:
        """Variance of a figure over that of as many people drawn one by one."""
        found = self.groups[group]
        return found.effects[figure] if isinstance(found, AmongEstimate) else found.effect


def shares_among(item: Item, domain: Domain, groups: Groups = ()) -> AmongGroups[AmongEstimate]:
    """Shares of the options of a question with a filter, among those to whom it applies.

    Parameters
    ----------
    item : Item
        A report for each person of the domain; its last option is *does not apply*.
    domain : Domain
    groups : sequence of ndarray of bool, shape (people of the domain,)
        By default one, of everybody.

    Examples
    --------
    Four clusters of 50 people who report alike are four people: 2 say yes, 1 no, and to 1 it does not apply.

    >>> from deniable import KAry
    >>> from deniable_statistics.sampling import SamplingDesign
    >>> reports = np.repeat([0, 0, 1, 2], 50)
    >>> item = Item.from_reports("q", KAry.from_epsilon(3, 6), reports.tolist())
    >>> design = SamplingDesign.of(np.ones(200), clusters=np.repeat(np.arange(4), 50).tolist())
    >>> (found,) = shares_among(item, Domain(design, np.ones(200, dtype=bool))).groups
    >>> round(found.share[0], 2), found.df, round(found.effects[0])
    (0.67, 3, 67)
    """
    wanted = list(groups) or [np.ones(len(item), dtype=bool)]
    k = len(item.options)
    covariance = _of_drawn(item, domain, wanted) if item.design.is_one_draw else sampled_shares(item, domain, wanted)[1]
    found = []
    for place, people in enumerate(wanted):
        own, group = slice(place * k, (place + 1) * k), domain.where(people)
        plain = item.where(people).estimate(group)
        among = AmongEstimate.from_counts(item.design, plain.counts, plain.n, plain.n_effective)
        found.append(among.under_design(covariance[own, own], group.df))
    return AmongGroups(tuple(found), _between(covariance, [each.gradient for each in found]), _df(domain, wanted))


def means_among(item: Item, values: Sequence[float], domain: Domain, groups: Groups = ()) -> AmongGroups[AmongMean]:
    """Means of a number or scale with a filter, among those to whom it applies.

    Parameters are those of `shares_among`, and the numbers of all truths but the last. Where a mechanism tells means
    only, errors are those of a population without end, as in `sampled_means`.
    """
    wanted = list(groups) or [np.ones(len(item), dtype=bool)]
    sums = sums_of_scores(values)
    truths = Truths(item.scores, sums.T) if item.design.has_shares else None
    whole = domain if truths is not None else domain.without_population()
    covariance = whole.means(item.scores @ sums.T, truths, wanted).covariance
    found = []
    for place, people in enumerate(wanted):
        own, group = slice(2 * place, 2 * place + 2), domain.where(people)
        plain = item.where(people).estimate(group)
        among = AmongMean.from_counts(item.design, plain.counts, values, plain.n, plain.n_effective)
        found.append(among.under_design(covariance[own, own], group.df))
    return AmongGroups(tuple(found), _between(covariance, [each.gradient for each in found]), _df(domain, wanted))


def _df(domain: Domain, groups: Groups) -> float:
    return domain.where(np.any(groups, axis=0)).df


def _between(covariance: Floats, gradients: Sequence[Floats]) -> Floats:
    """The covariance of each figure between groups, from that of the means behind the figures of all groups."""
    k, size = gradients[0].shape[1], len(gradients)
    apart = covariance.reshape(size, k, size, k)
    return np.asarray(np.einsum("gfi,gihj,hfj->fgh", np.array(gradients), apart, np.array(gradients)))


def _of_drawn(item: Item, domain: Domain, groups: Groups) -> Floats:
    """The covariance of the shares of boxes that devices draw, each among those whose device drew it.

    Of a finite population it is that of one without end: of no two boxes it is known how much of a report is noise.
    """
    k = len(item.options)
    each = item.design.binomials(item.design.expected_if_even, 1)
    assert each is not None
    ticked, drawn = item.supports[:, 1::2], item.supports[:, ::2] | item.supports[:, 1::2]
    q = np.array([float(box.support.if_other) for box in each])
    slope = np.array([float(box.support.slope) for box in each])
    asked = [people & drawn[:, box] for people in groups for box in range(k)]
    covariance = domain.without_population().means((ticked - q) / slope, None, asked).covariance
    # The mean of each box among those who drew it; the means of the other boxes among these people are not wanted.
    kept = np.arange(len(asked)) * k + np.tile(np.arange(k), len(groups))
    return np.asarray(covariance[np.ix_(kept, kept)])

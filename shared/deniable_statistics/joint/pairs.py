"""Two boxes or questions of one draw: reports that hold both speak of them together, through one chance for the two."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.mechanisms import KAry, Support
from deniable.mechanisms.k_ary import support_of_digits
from deniable.survey.patterns import Pattern
from deniable_statistics.classical import Channel
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.joint.association import OddsRatio, odds_ratio
from deniable_statistics.joint.correlation import Correlation, from_moments
from deniable_statistics.joint.independence import Independence, under_design
from deniable_statistics.joint.reports import sample_of
from deniable_statistics.sampling import Domain, Sample
from deniable_statistics.sampling.items import Item
from deniable_statistics.sampling.shares import DesignEstimate, sampled_shares
from deniable_statistics.special.chi_squared import chi_squared_sf


@dataclass(frozen=True)
class DrawnPair:
    """The joint shares of two boxes or questions.

    Attributes
    ----------
    estimate : Estimate
        Of all combinations in the order of `cells`, among the reports that hold both. Each count is binomial, so the
        intervals are those of any share.
    first, second : tuple of str
        The answers to each.
    values : pair of sequence of float, or None
        The numbers that they stand for.
    df : float
        Degrees of freedom of the errors; infinite where people were drawn one by one.
    """

    estimate: Estimate
    first: tuple[str, ...] = ("no", "yes")
    second: tuple[str, ...] = ("no", "yes")
    values: tuple[Sequence[float], Sequence[float]] | None = ((0.0, 1.0), (0.0, 1.0))
    df: float = math.inf

    @property
    def cells(self) -> tuple[tuple[str, str], ...]:
        """The combinations, in the order of shares."""
        return tuple(itertools.product(self.first, self.second))

    @property
    def share(self) -> NDArray[np.float64]:
        """Unbiased joint shares, shape (answers to the first, answers to the second)."""
        return np.reshape(self.estimate.share, (len(self.first), len(self.second)))

    def odds_ratio(self) -> OddsRatio:
        """The odds ratio, of two by two answers."""
        errors = np.reshape(self.estimate.std_error, self.share.shape)
        return odds_ratio(self.share, errors, self.estimate.covariance, self.df)

    def correlation(self) -> Correlation:
        """Correlation of the numbers that answers stand for: of two yes-no answers, phi.

        Raises
        ------
        ParameterError
            If answers stand for none.
        """
        if self.values is None:
            raise ParameterError("correlation: must be of answers that stand for numbers, got names")
        # The five means E x, E x^2, E y, E y^2, E xy, each a linear function of the joint shares.
        x, y = np.meshgrid(*map(np.asarray, self.values), indexing="ij")
        moments = np.stack([each.ravel() for each in (x, x**2, y, y**2, x * y)]).astype(float)
        return from_moments(moments @ self.estimate.share, moments @ self.estimate.covariance @ moments.T, self.df)

    def independence(self) -> Independence:
        """Score test of independence: how far joint shares are from products of margins, by what it is if they are.

        The one chance of a report goes into both, so that what is reported of them is never independent. The
        covariance is that of independent answers with the margins that were found: one that follows the counts
        themselves (Wald's test) is too small where few reports have a combination. At 5 % this rejects, by simulation,
        2.3 to 5.7 % of samples of 20 to 1000 reports: of two boxes or yes-no questions, and of two questions of three
        options, with shares down to .02 and at epsilon 1 to 4. Under a sampling design it is corrected as that of other
        questions is (`deniable_statistics.joint.independence`).
        """
        nothing = Independence(math.nan, 0, math.nan, 0.0, None)
        # With one combination reported no covariance can be told from 0.
        if np.count_nonzero(self.estimate.counts) < 2:
            return nothing  # all reports that hold both say the same
        share = self.share
        rows, columns = share.sum(axis=1), share.sum(axis=0)
        excess = (share - np.outer(rows, columns))[1:, 1:].ravel()
        first, second = _possible(rows), _possible(columns)
        places = list(itertools.product(range(1, len(rows)), range(1, len(columns))))
        slopes = np.zeros((len(places), *share.shape))
        # Derivatives of f_ij - r_i c_j: 1 by its own cell, less c_j along row i and r_i down column j.
        for slope, (i, j) in zip(slopes, places, strict=True):
            slope[i, j] += 1
            slope[i] -= second[j]
            slope[:, j] -= first[i]
        gradient = slopes.reshape(len(places), -1)
        design, together = self.estimate.design, np.outer(first, second)
        # Of one report, at the shares that independence would have: n times the variance of each excess under the null.
        of_one = design.covariance(design.expected(together.ravel().tolist()), 1)
        square = float(excess @ np.linalg.solve(gradient @ of_one @ gradient.T, excess))
        if isinstance(self.estimate, DesignEstimate):
            one = gradient @ self.estimate.plain.covariance @ gradient.T * self.estimate.n_effective
            test = under_design(square, one, gradient @ self.estimate.covariance @ gradient.T, self.df)
            return Independence(test.statistic, test.df, test.p_value, 0.0, None, test.df_error)
        statistic = square * self.estimate.n_effective
        expected = float(together.min() * self.estimate.n)
        return Independence(statistic, len(places), chi_squared_sf(len(places), statistic), 0.0, expected)


def _possible(margin: NDArray[np.float64]) -> NDArray[np.float64]:
    """The shares within [0, 1] near unbiased ones."""
    within = np.clip(margin, 0, 1)
    # Cut shares need not add up to 1 any more.
    return np.asarray(within / within.sum())


def box_pair(item: Item, first: str, second: str, sample: Sample | None = None) -> DrawnPair:
    """Two boxes of a question whose devices draw boxes.

    Parameters
    ----------
    item : Item
        The whole question.
    first, second : str
        Two of its options.
    sample : Sample, optional
        The people; by default all have the same weight. Standard errors are based on those who drew both.

    Raises
    ------
    ParameterError
        If devices draw one box only, or the boxes are not two of the question's.

    Examples
    --------
    >>> from deniable import DrawnBoxes
    >>> boxes = DrawnBoxes.from_epsilon(3, 4, s=2)
    >>> pair = box_pair(Item.from_reports("q", boxes, ["010100", "100100", "000101"], "abc"), "a", "b")
    >>> pair.estimate.n, pair.estimate.counts
    (2, (0, 1, 0, 1))
    """
    support = item.design.pair
    if support is None or not item.design.share_of_pairs:
        raise ParameterError(f"{item.name}: boxes must be drawn two at a time or more to be put together")
    places = [item.options.index(name) for name in (first, second) if name in item.options]
    if len(set(places)) != 2:
        raise ParameterError(f"{item.name}: must name two of its boxes, got {first!r:.40} and {second!r:.40}")
    # Two supports a box: the first where it is reported clear, the second where it is reported ticked.
    marks = [item.supports[:, 2 * place : 2 * place + 2] for place in places]
    # A report supports the combination of the two marks that it holds, one of four, and none if it lacks a box.
    cells = (marks[0][:, :, None] & marks[1][:, None, :]).reshape(len(item), 4)
    names = tuple(itertools.product(("no", "yes"), ("no", "yes")))
    channel = pair_channel(support, names, item.name)
    estimate, df = _pair(channel, cells, sample_of([item], sample))
    return DrawnPair(estimate, df=df)


def question_pair(
    first: Item,
    second: Item,
    joint: KAry,
    sample: Sample | None = None,
    held: Mapping[Pattern, int] | None = None,
) -> DrawnPair:
    """Two questions of a group that answers in one response.

    Parameters
    ----------
    first, second : Item
        Of the same people, who were asked both.
    joint : KAry
        The response over the patterns of what is asked.
    sample : Sample, optional
        The people, by default all alike.
    held : mapping of pair of int to int, optional
        How many of the possible patterns hold each two answers, where one question filters another: 0 or none where
        nobody can give both.

    Examples
    --------
    Half of these reports say yes to both, the others no:

    >>> from deniable import Warner
    >>> coin = Warner("4/5")
    >>> items = [Item.from_reports(name, coin, [1, 1, 0, 0]) for name in "ab"]
    >>> question_pair(*items, KAry.from_epsilon(4, 2)).share.round(3).tolist()
    [[0.657, -0.157], [-0.157, 0.657]]
    """
    k = len(first.options)
    cells = (first.supports[:, :, None] & second.supports[:, None, :]).reshape(len(first), -1)
    names = tuple(itertools.product(first.options, second.options))
    name = f"{first.name}, {second.name}"
    if held is None:
        channel = pair_channel(support_of_digits(joint, k, 2), names, name)
    else:
        both = itertools.product(range(k), range(len(second.options)))
        channel = pattern_channel(joint, [held.get(each, 0) for each in both], names, name)
    values = None if first.values is None or second.values is None else (first.values, second.values)
    estimate, df = _pair(channel, cells, sample_of([first, second], sample))
    return DrawnPair(estimate, first.options, second.options, values, df)


def _pair(channel: Channel, cells: NDArray[np.bool_], sample: Sample) -> tuple[Estimate, float]:
    """The shares of the combinations among the people who are in one of them, and their degrees of freedom."""
    drawn = np.asarray(cells.any(axis=1))
    whom = sample.where(drawn)
    if isinstance(whom, Domain):
        (found,), _ = sampled_shares(Item(channel.name, channel, cells[drawn], channel.truths), whom)
        return found, whom.df
    counts, _, effective = whom.tally(cells[drawn])
    return channel.estimate(counts, n_effective=effective), whom.df


def pattern_channel(joint: KAry, held: Sequence[int], cells: Sequence[tuple[str, str]], name: str) -> Channel:
    """What a response to possible patterns does to the combinations of two answers, as many patterns as hold each.

    ``P(r | x) = m_r q + (p - q) [r = x]``. A combination that nobody can give has ``m_r = 0`` and is never reported, so
    that its share is 0 whatever is written in its own column.
    """
    p, q = joint.support[0]
    names = tuple(map(", ".join, cells))
    rows = tuple(tuple(m * q + (p - q) * (r == x) for x in range(len(names))) for r, m in enumerate(held))
    return Channel(rows, names, names, name)


def pair_channel(support: Support, cells: Sequence[tuple[str, str]], name: str) -> Channel:
    """What the draw does to the combinations of two answers: any other one is as likely as any."""
    a, b = support
    names = tuple(map(", ".join, cells))
    k = len(names)
    return Channel(tuple(tuple(a if r == x else b for x in range(k)) for r in range(k)), names, names, name)

"""Joint shares of the answers to two questions or more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError
from deniable.wire.space import Count
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.feasible import most_likely_mixture
from deniable_statistics.designs.of_mechanisms import AnyDesign
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import check_confidence_level
from deniable_statistics.joint.association import OddsRatio, odds_ratio
from deniable_statistics.joint.conditional import Conditional, conditional
from deniable_statistics.joint.correlation import Correlation, correlation_of
from deniable_statistics.joint.independence import Independence, independence_of
from deniable_statistics.joint.products import products
from deniable_statistics.joint.reports import JointReports, check_shares
from deniable_statistics.sampling import Sample, t_quantile
from deniable_statistics.sampling.items import Item

MOST_CELLS = 2000
"""More cells than anybody's reports can tell apart, and a covariance of 32 megabytes."""

MOST_LIKELY_CELLS = 500
"""Most likely shares take time with the cube of this: some seconds."""


@dataclass(frozen=True, eq=False)
class Crosstab:
    """Debiased joint shares of the true answers to two questions or more.

    Attributes
    ----------
    reports : JointReports
        What it was made from.
    share : ndarray, shape (truths of the first question, of the second, ...)
        Unbiased shares; they may leave [0, 1]. NaN without reports.
    covariance : ndarray, shape (cells, cells)
        Of the shares in the order of ``share.ravel()``.
    """

    reports: JointReports
    share: NDArray[np.float64]
    covariance: NDArray[np.float64]

    @classmethod
    def from_reports(cls, reports: JointReports) -> Crosstab:
        """The crosstab of reports that were put together; this is what `crosstab` calls."""
        for item in reports.items:
            check_shares(item, "a crosstab")
        shape = tuple(len(item.options) for item in reports.items)
        if math.prod(shape) > MOST_CELLS:
            raise ParameterError(
                f"items: must have at most {MOST_CELLS} combinations of answers, got {math.prod(shape)}; "
                "ask for fewer questions at a time"
            )
        share, covariance = reports.moments(products)
        return cls(reports, share.reshape(shape), covariance)

    @classmethod
    def from_counts(
        cls,
        designs: Sequence[AnyDesign],
        table: ArrayLike,
        names: Sequence[str] = (),
        options: Sequence[Sequence[str]] = (),
        n_effective: float | None = None,
    ) -> Crosstab:
        """The crosstab from a table of joint reports; the same as from the reports themselves.

        Parameters are those of `JointReports.from_counts`.

        Examples
        --------
        Two fair coins each; (2 Y - 1/2) is the score of a report, so that yes-yes has the scores 9/4, -3/4, -3/4, 1/4:
        (30 x 9 - 20 x 3 - 20 x 3 + 30) / 400 = 0.45.

        >>> from deniable import TwoCoin
        >>> coins = TwoCoin("1/2", "1/2")
        >>> Crosstab.from_counts([coins, coins], [[30, 20], [20, 30]]).share.tolist()
        [[0.45, 0.05], [0.05, 0.45]]
        """
        return cls.from_reports(JointReports.from_counts(designs, table, names, options, n_effective))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the questions, in the order of axes."""
        return tuple(item.name for item in self.reports.items)

    @property
    def options(self) -> tuple[tuple[str, ...], ...]:
        """Names of the true answers to each question."""
        return tuple(item.options for item in self.reports.items)

    @property
    def n(self) -> Count:
        """Number of people, or the sum of their weights."""
        return self.reports.n

    @property
    def epsilon(self) -> float:
        """Privacy loss of all these reports of one person together."""
        return self.reports.epsilon

    @property
    def std_error(self) -> NDArray[np.float64]:
        """Standard errors of `share`, of the same shape."""
        return np.sqrt(np.maximum(self.covariance.diagonal(), 0.0)).reshape(self.share.shape)

    def confidence_interval(self, confidence_level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Confidence intervals of the shares, cut to [0, 1]: an array of lower and one of upper ends.

        By the likelihood of all reports (`deniable_statistics.intervals.profile`), which holds the level where a share
        is rare or its noise is little. Under sampling designs, of reports that are no single values and of more than 32
        cells: Student's around the share, joined with the same after as many more reports as the squared quantile
        says, as equal shares would bring them. No interval is a point.
        """
        level = check_confidence_level(confidence_level)
        if not self.n or not self.reports.sample.df > 0:
            return np.zeros(self.share.shape), np.ones(self.share.shape)
        ends = self.reports.likelihood_intervals(np.eye(self.share.size), None, level)
        if ends is None:
            ends = self._joined_intervals(t_quantile(level, self.reports.sample.df))
        low, high = np.clip(ends, 0, 1).T
        return low.reshape(self.share.shape), high.reshape(self.share.shape)

    def _joined_intervals(self, quantile: float) -> NDArray[np.float64]:
        """Intervals of shape (cells, 2) around the shares, and those after more reports, joined."""
        reports, share, error = self.reports, self.share.ravel(), self.std_error.ravel()
        # n times the variance of a mean is the variance of one report.
        of_one = reports.n_effective * reports.simple_moments(products)[1].diagonal()
        # As many people drawn one by one have the error of the sampling design.
        n = np.divide(of_one, error**2, where=error > 0, out=np.full(share.shape, reports.n_effective))
        more = quantile**2
        square_if_even = products([_square_if_even(item.design)[None] for item in reports.items])[0]
        # After `more` reports with equal shares, z^2 of them: Agresti and Coull's idea for cells.
        centre = (n * share + more / share.size) / (n + more)
        # The second moment of the mixture of n reports and `more` with equal shares, less the square of its mean.
        variance = (n * (of_one + share**2) + more * square_if_even) / (n + more) - centre**2
        reach = np.stack([error, np.sqrt(np.maximum(variance, 0) / (n + more))]) * quantile
        centres = np.stack([share, centre])
        return np.stack([(centres - reach).min(axis=0), (centres + reach).max(axis=0)], axis=1)

    @cached_property
    def feasible(self) -> NDArray[np.float64]:
        """The most likely shares within [0, 1] that add up to 1, biased near the ends; of the same shape as `share`.

        Raises
        ------
        ParameterError
            For tick boxes, whose answers do not exclude each other, and for more than `MOST_LIKELY_CELLS` cells.
        """
        if not all(item.design.is_exclusive for item in self.reports.items):
            raise ParameterError("feasible: needs answers that exclude each other, tick boxes do not")
        if self.share.size > MOST_LIKELY_CELLS:
            raise ParameterError(f"feasible: must have at most {MOST_LIKELY_CELLS} cells, got {self.share.size}")
        if not self.n:
            return self.share
        chances = products([item.design.likelihood(item.supports) for item in self.reports.items])
        return np.reshape(most_likely_mixture([chances], [self.reports.frequencies.tolist()]), self.share.shape)

    def margin(self, question: int | str) -> Estimate:
        """The shares of one question alone: what its cells add up to."""
        return self.reports.margin(question)

    def conditional(self, given: int | str) -> Conditional:
        """The shares of the other questions' answers among people with each answer to one of them."""
        return conditional(self.reports, given)

    def independence(self, permutations: int = 0, seed: int | None = None) -> Independence:
        """Test whether two questions are independent; see `deniable_statistics.joint.independence`."""
        return independence_of(self.reports, permutations, seed)

    def correlation(self) -> Correlation:
        """Correlation of two questions; see `deniable_statistics.joint.correlation`. Of two yes-no questions: phi."""
        return correlation_of(self.reports)

    def odds_ratio(self) -> OddsRatio:
        """Odds ratio of two questions with two answers each.

        Raises
        ------
        ParameterError
            If the crosstab is not 2 by 2.
        """
        return odds_ratio(self.share, self.std_error, self.covariance, self.reports.sample.df)


def _square_if_even(design: Design) -> NDArray[np.float64]:
    """The expected squares of scores, one for each truth, when all truths are equally frequent."""
    covariance = design.covariance(design.expected_if_even, 1)
    # E s^2 = Var s + (E s)^2, and with k equal shares E s = 1 / k.
    return np.asarray(covariance.diagonal() + 1 / len(design.truths) ** 2)


def crosstab(*items: Item, sample: Sample | None = None) -> Crosstab:
    """Count how often true answers to two questions or more go together.

    Parameters
    ----------
    *items : Item
        Questions asked of the same people. A plain variable joins as an item whose channel changes nothing,
        ``from_matrix([[1, 0], [0, 1]])``.
    sample : Sample, optional
        The people, with their weights and the errors of how they were drawn; by default all alike, one by one.

    Returns
    -------
    Crosstab

    Raises
    ------
    ParameterError
        If the items are not of the same people, or have more than `MOST_CELLS` combinations of answers.

    Notes
    -----
    The share of people with truths ``(x, y)`` is the mean of ``s_x t_y``, ``s`` and ``t`` the scores of a person's two
    reports. The mechanisms' chances are independent, so that given the person's truths the expectation is the product
    of two unbiased indicators. For one-value designs the scores of a report ``r`` are column ``r`` of ``A^-1``, so the
    mean is ``sum over (r, q) of A^-1[x, r] B^-1[y, q] N[r, q] / n``: the inverse of the Kronecker product ``A (x) B``
    applied to the table ``N`` of joint reports [1]_. The covariance is that of the products over people, divided by n.

    References
    ----------
    .. [1] A. van den Hout, P. G. M. van der Heijden, "Randomized response, statistical disclosure control and
       misclassification: a review", International Statistical Review 70 (2002), 269-288.

    Examples
    --------
    >>> from deniable import TwoCoin
    >>> coins = TwoCoin("1/2", "1/2")
    >>> first = Item.from_reports("affair", coins, [0] * 50 + [1] * 50)
    >>> second = Item.from_reports("divorce", coins, [0] * 30 + [1] * 20 + [0] * 20 + [1] * 30)
    >>> table = crosstab(first, second)
    >>> table.share.round(4).tolist(), table.std_error.round(4).tolist()
    ([[0.45, 0.05], [0.05, 0.45]], [[0.1249, 0.1166], [0.1166, 0.1249]])
    >>> table.conditional("affair").share.round(4).tolist()
    [[0.9, 0.1], [0.1, 0.9]]
    """
    return Crosstab.from_reports(JointReports.from_items(items, sample))

"""The interface of designs, which mechanisms and classical randomised-response designs implement alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.mechanisms import Mechanism
from deniable.mechanisms.support import Support
from deniable.wire.space import Count, ReportSpace
from deniable_statistics.designs.debiasing import Debiasing, one_report_covariance


class Derived(NamedTuple):
    """A figure that papers on a design report: the share of the truths ``part``, among all or among ``whole``."""

    name: str
    part: tuple[str, ...]
    whole: tuple[str, ...] | None = None


class Binomial(NamedTuple):
    """A count that is binomial: how many of ``n`` reports support a truth, with the probabilities of a support."""

    supporting: Count
    n: Count
    support: Support


class Both(NamedTuple):
    """Probabilities that a report supports two options: if one of them is the truth, and if neither is.

    They are for two options that are never the truth together. ``informed`` is the share of the reports with
    information on one of them that have it on both.
    """

    if_one: float
    if_none: float
    informed: float = 1.0


class Design(ABC):
    """The design of a question: a mechanism, a classical channel, or groups of channels.

    A design knows its answers, its reports, how likely a report is under each answer, and the linear map that undoes
    it. Estimation, comparison, regression, planning and simulation use no more than this interface, so they take
    every design.
    """

    groups: int = 1
    """Number of samples of different people, each with probabilities of its own."""

    is_exclusive: bool = True
    """Whether every person has exactly one of the truths; with tick boxes a person may have any number of them."""

    is_one_draw: bool = False
    """Whether several boxes are randomised by one joint response, so that they cannot be analysed one by one."""

    share_of_pairs: float = 1.0
    """The share of reports about two given boxes. Where it is 0, the association of two boxes is not identified."""

    has_shares: bool = True
    """Whether the share of every answer is identified; some designs identify the mean alone."""

    has_likelihood: bool = True
    """Whether `likelihood` is known, which regressions need."""

    derived: tuple[Derived, ...] = ()
    """Figures that the literature of the design reports, besides the shares."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The design, for messages."""

    @property
    def answer_range(self) -> range:
        """All answers, as the design numbers them: options by their places, numbers by themselves."""
        return range(len(self.truths))

    @property
    @abstractmethod
    def reports(self) -> ReportSpace:
        """The space of reports; if there are groups, the space within each."""

    @property
    @abstractmethod
    def truths(self) -> tuple[str, ...]:
        """Names of the unknown shares, in order: those of all answers.

        Where `has_shares` is false, these are the answers whose rows all others are mixtures of: two ends, or knots.
        """

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """Privacy loss of one report, in nats, rounded up to the next float; `math.inf` where there is no bound."""

    @property
    def likelihood_ratio(self) -> Fraction | float | None:
        """The largest ratio of the probabilities of a report under any two answers; None where there is no bound."""
        return None

    @property
    def support(self) -> tuple[Support, ...] | None:
        """Support probabilities of every truth, where its count among all reports is one binomial; else None."""
        return None

    def binomials(self, counts: Sequence[Count], n: Count) -> tuple[Binomial, ...] | None:
        """The binomial count behind the share of each truth; None where it is not one binomial."""
        if self.support is None:
            return None
        # Whether a report supports a truth is one coin of its own, so each count among n reports is binomial.
        return tuple(Binomial(count, n, support) for count, support in zip(counts, self.support, strict=True))

    @cached_property
    def binomial_supports(self) -> tuple[Support, ...] | None:
        """Support probabilities of every truth, where each count is one binomial; these depend on no counts."""
        found = self.binomials(self.expected_if_even, 1)
        return None if found is None else tuple(each.support for each in found)

    @cached_property
    def channels(self) -> tuple[NDArray[np.float64], ...] | None:
        """``P(report | truth)``, one matrix for each group, where the counts are those of reports; else None."""
        return None

    @property
    def exact_channels(self) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
        """The probability that a report supports ``v`` when the truth is the x-th answer: a matrix for each group."""
        return ()

    @property
    def pair(self) -> Support | None:
        """Support probabilities of a pattern of two boxes under a joint response; None where devices draw no boxes."""
        return None

    @property
    def both(self) -> Both | None:
        """How likely a report supports two options of a person who has at most one of them; None where not known."""
        return None

    @property
    def device(self) -> Mechanism | None:
        """The mechanism by which devices randomise; None for a design that no device carries out."""
        return None

    def publish(self) -> dict[str, Any] | None:
        """The design as a survey publishes it; None for a design that no device carries out."""
        return None

    @property
    @abstractmethod
    def debiasing(self) -> Debiasing:
        """The map from the supports of a report to unbiased shares."""

    @abstractmethod
    def likelihood(self, supports: NDArray[np.bool_]) -> NDArray[np.float64]:
        """``P(report | answer)``, shape (reports, answers), of reports given by what they support.

        Raises
        ------
        ParameterError
            If `has_likelihood` is false.
        """

    @abstractmethod
    def shares(self, counts: Sequence[Count], n: Count) -> Sequence[Fraction | float]:
        """Unbiased shares."""

    @abstractmethod
    def covariance(self, counts: Sequence[Count], n: Count) -> NDArray[np.float64]:
        """Covariance of the unbiased shares of a sample from an infinite population, shape (truths, truths)."""

    @abstractmethod
    def expected(self, shares: Sequence[float]) -> Sequence[float]:
        """``A f``: the expected counts of one report, or of one report in each group, at these shares."""

    @abstractmethod
    def feasible(self, counts: Sequence[Count], n: Count) -> tuple[float, ...]:
        """Maximum-likelihood shares within [0, 1] that add up to 1; they are biased."""

    @abstractmethod
    def extremes(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the largest ``weights @ supports`` of a report, both of shape (m,); in each group, added up."""

    def reach(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far apart two reports can be in ``weights @ supports``, shape (m,); in each group, added up."""
        # Each design knows both ends; to go through all reports would take too long where they are subsets.
        least, most = self.extremes(weights)
        return most - least

    def meant(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the largest expectation of ``weights @ supports`` under any answer, both of shape (m,).

        Where `is_exclusive`; of a box to tick the estimate knows the two.
        """
        k = len(self.truths)
        # Expectations are linear in the shares, so the extremes are at people who all have one answer.
        values = weights @ np.array([self.expected(row) for row in np.eye(k).tolist()]).T
        return values.min(axis=1), values.max(axis=1)

    def untouched(self, answer: Any) -> Any:
        """The report of somebody who mixes in no chance, as `Mechanism.randomize_many` gives it.

        No device makes one. It is what people do who do not follow the instructions of coins or cards.
        """
        return answer

    @cached_property
    def expected_if_even(self) -> Sequence[float]:
        """`expected` when all answers are equally frequent."""
        return self.expected((1 / len(self.truths),) * len(self.truths))

    def shares_of_some(self, applying: float) -> Sequence[float]:
        """Shares of the truths where a question applies to a share of the people, whose answers are equally frequent.

        The last truth is *does not apply*.
        """
        k = len(self.truths) - 1
        # A plan knows nothing of the shares within: equal ones prefer no answer.
        return (*(applying / k,) * k, 1 - applying)

    def sizes(self, counts: Sequence[Count], n: Count) -> Sequence[Count]:
        """For each count the number of reports among which it was counted: all, or those of its group."""
        return (n,) * len(counts)

    def mean_weights(self, values: Sequence[float]) -> tuple[tuple[float, ...], float]:
        """Weights ``w`` and constant ``c`` with ``E[c + sum w_v S_v | x] = values[x]``, ``S`` a report's supports."""
        # The mean is linear in the shares, and unbiased shares are linear in the supports.
        weights, constant = self.debiasing
        return tuple((values @ weights).tolist()), float(values @ constant)

    def score_covariance(self, weights: NDArray[np.float64], supported: ArrayLike) -> NDArray[np.float64]:
        """Covariance of ``weights @ S`` for the supports ``S`` of one report, from their probabilities.

        Parameters
        ----------
        weights : ndarray, shape (m, k)
        supported : array_like, shape (k,)
            Probability that a report supports each option.
        """
        return one_report_covariance(weights, supported)

    @property
    def answer_values(self) -> Sequence[float]:
        """The default numbers of the truths: 0, 1, 2 and so on."""
        return range(len(self.truths))

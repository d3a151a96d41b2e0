"""Channels: the probabilities of a design's responses, and estimates from tallies of responses."""

from __future__ import annotations

import itertools
import math
import operator
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError
from deniable.exact import log_above
from deniable.mechanisms.support import Support
from deniable.wire.space import Count, Numbers
from deniable_statistics.classical.algebra import Matrix, exact_left_inverse, identity, product, times
from deniable_statistics.designs.debiasing import Debiasing, one_report_covariance
from deniable_statistics.designs.design import Derived, Design
from deniable_statistics.designs.feasible import most_likely_mixture, most_likely_shares
from deniable_statistics.estimates.counts import Counts, counts_in_order
from deniable_statistics.estimates.estimate import Estimate, check_counts
from deniable_statistics.risk import likelihood_ratio


class _WithResponses(Design):
    """Base of `Channel` and `Groups`: named responses, a channel matrix for each group, and an exact left inverse."""

    responses: tuple[str, ...]

    @property
    @abstractmethod
    def exact_channels(self) -> tuple[Matrix, ...]:
        """``P(response r | truth x)`` as fractions, a matrix for each group."""

    @property
    @abstractmethod
    def inverse(self) -> Matrix:
        """``L[x][r]``: the score of each response for the share of each truth."""

    @cached_property
    def reports(self) -> Numbers:
        return Numbers(range(len(self.responses)), self.responses)

    @cached_property
    def channels(self) -> tuple[NDArray[np.float64], ...]:
        return tuple(np.array(matrix, dtype=float) for matrix in self.exact_channels)

    @cached_property
    def debiasing(self) -> Debiasing:
        weights = np.array(self.inverse, dtype=float)
        return Debiasing(weights, np.zeros(len(weights)))

    @cached_property
    def is_mixture(self) -> bool:
        """Whether each person has one of the truths; the unrelated yes of an unrelated question is not such a truth."""
        return all(sum(column) == 1 for matrix in self.exact_channels for column in zip(*matrix, strict=True))

    def shares(self, counts: Sequence[Count], n: Count) -> list[Fraction]:
        """Unbiased shares as exact fractions."""
        sizes = map(Fraction, self.sizes(counts, n))
        return times(self.inverse, [Fraction(count) / size for count, size in zip(counts, sizes, strict=True)])

    def extremes(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums over groups of the least and largest of ``weights`` among the group's possible responses, shape (m,)."""
        # Impossible responses, whose rows are 0, are left out.
        least, most = np.zeros(len(weights)), np.zeros(len(weights))
        for part, matrix in zip(self._parts(), self.exact_channels, strict=True):
            possible = weights[:, part][:, [any(row) for row in matrix]]
            least += possible.min(axis=1)
            most += possible.max(axis=1)
        return least, most

    def expected(self, shares: Sequence[float]) -> list[float]:
        """The probability of every response of every group, given the shares."""
        rows = itertools.chain.from_iterable(self.exact_channels)
        return [math.fsum(map(operator.mul, map(float, row), shares)) for row in rows]

    def feasible(self, counts: Sequence[Count], n: Count) -> tuple[float, ...]:
        """Maximum likelihood shares if they add up to 1; else the unbiased shares, each cut to [0, 1]."""
        if self.support is not None:
            return most_likely_shares(counts, n, self.support)
        if self.is_mixture:
            matrices = [[[float(each) for each in row] for row in matrix] for matrix in self.exact_channels]
            return most_likely_mixture(matrices, [counts[part] for part in self._parts()])
        return tuple(min(max(float(share), 0.0), 1.0) for share in self.shares(counts, n))

    def _parts(self) -> list[slice]:
        """The slice of each group in the counts of all groups."""
        ends = list(itertools.accumulate(map(len, self.exact_channels)))
        return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]


@dataclass(frozen=True)
class Channel(_WithResponses):
    """A design as a channel: the probability of every response given every truth.

    Parameters
    ----------
    matrix : tuple of tuples of Fraction, shape (responses, truths)
        ``matrix[r][x] = P(response r | truth x)``; every column adds up to exactly 1. `from_matrix` reads it from
        numbers as people write them.
    responses, truths : tuple of str
        Names of rows and columns, in order; by default their numbers.
    name : str
        Name of the design, for messages.
    scores : tuple of tuples of Fraction, shape (truths, responses), optional
        Scores of the design's own estimator: any ``L`` with ``L matrix = 1``. See Notes for the default.

    Notes
    -----
    Shares solve ``E[C / n] = A f``: ``f = L C / n`` with ``L A = 1``, in exact arithmetic, so they are unbiased
    and may leave [0, 1]. A square matrix has one such ``L``, its inverse [1]_. With more responses than truths
    the default is weighted least squares, ``L = (A' W A)^-1 A' W`` with ``W = diag(1 / A u)`` and ``u`` equal
    shares: best if the truths are about equally frequent, unbiased whatever they are, because the weights do
    not depend on the data. The covariance is ``L (diag(lam) - lam lam') L' / n`` [1]_ with ``lam = A f``, the
    responses that the estimated shares predict (``C / n`` for a square matrix); where those are no
    probabilities, ``C / n``.

    References
    ----------
    .. [1] A. van den Hout, P. G. M. van der Heijden, "Randomized response, statistical disclosure control and
       misclassification: a review", International Statistical Review 70 (2002), 269-288.

    Examples
    --------
    Two fair coins; 430 of 1000 responses are yes, so 2 (430/1000 - 1/4) = 0.36:

    >>> from deniable_statistics.classical import forced_response
    >>> channel = forced_response("1/2")
    >>> channel.likelihood_ratio, channel.epsilon
    (Fraction(3, 1), 1.0986122886681098)
    >>> channel.estimate([570, 430]).share
    (0.64, 0.36)
    """

    matrix: Matrix
    responses: tuple[str, ...] = ()
    truths: tuple[str, ...] = ()
    name: str = "channel"
    scores: Matrix | None = None

    def __post_init__(self) -> None:
        rows, columns = _shape(self.matrix, self.name)
        for x, column in enumerate(zip(*self.matrix, strict=True)):
            # Exactly 1: with a rounding error there would be neither an exact epsilon nor unbiased shares.
            if min(column) < 0 or sum(column) != 1:
                raise ParameterError(
                    f"{self.name}: column {x} must hold probabilities that add up to exactly 1, "
                    f"got a sum of {sum(column)}; write thirds as fractions, like 1/3"
                )
        object.__setattr__(self, "responses", _labels(self.responses, rows, f"{self.name}: responses"))
        object.__setattr__(self, "truths", _labels(self.truths, columns, f"{self.name}: truths"))
        # L A = 1 is what makes the estimator unbiased, whatever the shares.
        if self.scores is not None and product(self.scores, self.matrix) != identity(columns):
            raise ParameterError(f"{self.name}: scores times matrix must be the identity")

    @property
    def exact_channels(self) -> tuple[Matrix, ...]:
        return (self.matrix,)

    def likelihood(self, supports: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.asarray(supports @ self.channels[0])

    @property
    def likelihood_ratio(self) -> Fraction | float:
        """Largest ratio of the probabilities of any response under any two truths: exact, or `math.inf`."""
        return likelihood_ratio(self.matrix)

    @property
    def epsilon(self) -> float:
        """Privacy loss of one response, rounded up to the next float, or `math.inf`."""
        # Rounded up: a published epsilon never promises more than holds.
        ratio = self.likelihood_ratio
        return log_above(ratio) if isinstance(ratio, Fraction) else ratio

    @property
    def can_collect(self) -> bool:
        """Whether every truth stays deniable after every response: whether `epsilon` is finite."""
        return self.refusal is None

    @property
    def refusal(self) -> str | None:
        """Why nobody's answer should be collected with this design; None if `epsilon` is finite.

        >>> from deniable_statistics.classical import mangat
        >>> print(mangat("0.7").refusal)
        epsilon is infinite: 'no' is possible when the truth is 'no' and impossible when it is 'yes'
        """
        for response, row in zip(self.responses, self.matrix, strict=True):
            # The first response that some truth excludes is enough to say why.
            if max(row) > 0 and min(row) == 0:
                possible, impossible = (self.truths[row.index(find(row))] for find in (max, min))
                return (
                    f"epsilon is infinite: {response!r} is possible when the truth is {possible!r} "
                    f"and impossible when it is {impossible!r}"
                )
        return None

    @cached_property
    def inverse(self) -> Matrix:
        """``L[x][r]``: the score of each response for the share of each truth, shape (truths, responses)."""
        return self.scores if self.scores is not None else exact_left_inverse(self.matrix, self.name)

    @cached_property
    def support(self) -> tuple[Support, ...] | None:
        """Support probabilities of every truth, where each response means one truth and errs evenly; else None."""
        # An estimator of its own is not the inverse of these binomials.
        if len(self.responses) != len(self.truths) or self.scores is not None:
            return None
        found = []
        for v, row in enumerate(self.matrix):
            # One probability for all other truths, another for its own: then the count is one binomial.
            others = {chance for x, chance in enumerate(row) if x != v}
            if len(others) != 1 or row[v] in others:
                return None
            found.append(Support(row[v], others.pop()))
        return tuple(found)

    def covariance(self, counts: Sequence[Count], n: Count) -> NDArray[np.float64]:
        """Covariance of the unbiased shares of ``n`` people drawn from a population."""
        seen = [Fraction(count) / Fraction(n) for count in counts]
        predicted = times(self.matrix, times(self.inverse, seen))
        # With more responses than truths the fit smooths the counts; where it is no probability, they stand.
        lam = predicted if min(predicted) >= 0 else seen
        return one_report_covariance(self.debiasing.weights, [float(each) for each in lam]) / float(n)

    def estimate(self, counts: Counts, *, n_effective: float | None = None) -> Estimate:
        """Debias a tally of responses; see `deniable.Estimate`.

        Parameters
        ----------
        counts : sequence of int
            Number of each response, in the order of `responses`; real numbers for weighted responses.
        n_effective : float, optional
            Kish's effective number of weighted responses; by default their sum.

        Raises
        ------
        ParameterError
            If the counts do not fit, hold an impossible response, or the channel cannot tell its truths apart.
        """
        tally = _tally(counts, self.matrix, self.responses, "counts", weighted=n_effective is not None)
        return Estimate.from_counts(self, tally, n_effective=n_effective)


@dataclass(frozen=True)
class Groups(_WithResponses):
    """A design that gives two or more groups of people different probabilities, to estimate another unknown.

    Parameters
    ----------
    matrices : tuple of matrices, each of shape (responses, unknowns)
        One for each group: the expected shares of its responses are ``matrices[g] @ share``.
    responses, truths : tuple of str
        Names of the responses within a group, and of the unknowns.
    name : str
    derived : tuple of Derived
        Figures that the literature of the design reports, besides the unknowns.

    Notes
    -----
    The groups' equations are stacked and solved as in `Channel`; the groups are independent, so with
    ``lam_g = C_g / n_g`` the covariance is ``sum over g of L_g (diag(lam_g) - lam_g lam_g') L_g' / n_g``.
    Such a design protects a person no better than the channel of that person's group does, and a person who cheats not
    at all: it is for analysis only.
    """

    matrices: tuple[Matrix, ...]
    responses: tuple[str, ...] = ()
    truths: tuple[str, ...] = ()
    name: str = "groups"
    derived: tuple[Derived, ...] = ()

    can_collect = False
    refusal = "what a response tells depends on unknowns that the design estimates; use a design of one group"

    @cached_property
    def inverse(self) -> Matrix:
        """``L[x][r]`` over the responses of all groups, one group after the other."""
        return exact_left_inverse(sum(self.matrices, ()), self.name)

    has_likelihood = False
    epsilon = math.inf

    @property
    def groups(self) -> int:  # type: ignore[override]
        return len(self.matrices)

    @property
    def exact_channels(self) -> tuple[Matrix, ...]:
        return self.matrices

    def likelihood(self, supports: NDArray[np.bool_]) -> NDArray[np.float64]:
        raise ParameterError(f"{self.name}: what a response tells depends on its group")

    def score_covariance(self, weights: NDArray[np.float64], supported: ArrayLike) -> NDArray[np.float64]:
        raise ParameterError(f"{self.name}: has a report of one person in one group only; take the mean of the shares")

    def covariance(self, counts: Sequence[Count], n: Count) -> NDArray[np.float64]:
        """Covariance of the unbiased shares, the groups drawn from a population."""
        # lam_g = C_g / n_g: the responses of a group are multinomial on their own.
        weights, sizes = np.array(self.inverse, dtype=float), np.array(self.sizes(counts, n), dtype=float)
        lam = np.array(counts, dtype=float) / sizes
        # Groups are independent samples, so that covariances add up.
        parts = [one_report_covariance(weights[:, part], lam[part]) / sizes[part][0] for part in self._parts()]
        return np.asarray(sum(parts))

    def meant(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums over groups of the least and largest expectation of ``weights`` under any truth, shape (m,).

        If a person does not have one of the truths (see `is_mixture`), the extremes are over responses.
        """
        if not self.is_mixture:
            return self.extremes(weights)
        least, most = np.zeros(len(weights)), np.zeros(len(weights))
        for part, matrix in zip(self._parts(), self.matrices, strict=True):
            # W A_g: expected weight of each truth in this group.
            expected = weights[:, part] @ np.array(matrix, dtype=float)
            least += expected.min(axis=1)
            most += expected.max(axis=1)
        return least, most

    def sizes(self, counts: Sequence[Count], n: Count) -> Sequence[Count]:
        """The number of responses in the group of each count."""
        # A group's size is the sum of its own counts: everybody in it gives one response.
        groups = [counts[part] for part in self._parts()]
        return [sum(group) for group in groups for _ in group]

    def estimate(self, counts: Sequence[Counts]) -> Estimate:
        """Debias one tally of responses for each group.

        Raises
        ------
        ParameterError
            If the counts do not fit, a group is empty, or the groups' probabilities do not differ.
        """
        if isinstance(counts, Mapping) or len(counts) != len(self.matrices):
            raise ParameterError(f"counts: must be one list for each of {len(self.matrices)} groups, got {len(counts)}")
        tallies = [
            _tally(group, matrix, self.responses, f"counts of group {g}")
            for g, (group, matrix) in enumerate(zip(counts, self.matrices, strict=True))
        ]
        flat = tuple(count for tally in tallies for count in tally)
        for g, tally in enumerate(tallies):
            # The equation of an empty group is missing, so that the shares are not identified.
            if sum(flat) and not sum(tally):
                raise ParameterError(f"counts of group {g}: must hold at least one response, got none")
        return Estimate.from_counts(self, flat)


def _shape(matrix: Matrix, name: str) -> tuple[int, int]:
    if not matrix or not matrix[0] or any(len(row) != len(matrix[0]) for row in matrix):
        raise ParameterError(f"{name}: must be a matrix with rows of one length, got {len(matrix)} rows")
    if not all(isinstance(each, Fraction) for row in matrix for each in row):
        raise ParameterError(f"{name}: must hold Fractions; from_matrix reads other numbers")
    return len(matrix), len(matrix[0])


def _labels(labels: tuple[str, ...], count: int, subject: str) -> tuple[str, ...]:
    labels = labels or tuple(map(str, range(count)))
    if len(labels) != count or len(set(labels)) != count:
        raise ParameterError(f"{subject}: must be {count} different names, got {len(labels)}")
    return labels


def _tally(
    counts: Counts, matrix: Matrix, responses: Sequence[str], subject: str, *, weighted: bool = False
) -> tuple[Count, ...]:
    ordered = counts_in_order(counts, len(matrix), names=responses, subject=subject)
    tally = check_counts(ordered, len(matrix), subject, weighted=weighted)
    for count, row, response in zip(tally, matrix, responses, strict=True):
        # A response that no truth can give is a mistake in the data.
        if count and not any(row):
            raise ParameterError(f"{subject}: must be 0 for {response!r}, which is impossible, got {count}")
    return tally

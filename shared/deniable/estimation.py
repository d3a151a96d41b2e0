"""The estimate of one question: from a tally of noisy reports to shares of the true answers."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable.intervals import DEFAULT_METHOD, Interval, binomial_interval, normal_intervals

if TYPE_CHECKING:
    from deniable.mechanisms.base import Mechanism


@dataclass(frozen=True)
class Estimate:
    """Debiased shares of the true answers to one question.

    Attributes
    ----------
    mechanism : Mechanism
        What the answers went through.
    counts : tuple of int, length k
        Number of reports that support each option.
    n : int
        Number of reports.
    share : tuple of float, length k
        Unbiased shares. They may leave [0, 1]; showing that is honest. NaN without reports.
    std_error : tuple of float, length k
        Standard errors of `share`, for sampling from a population: chance of the mechanism and of who answered.
    feasible : tuple of float, length k
        Maximum-likelihood shares within [0, 1] that add up to 1: never mixed with `share`, biased near the ends.

    Notes
    -----
    With ``a`` and ``b`` the probabilities that a report supports the option when it is the truth and when
    another is, ``E[counts / n] = b + (a - b) share`` is solved for ``share`` in exact arithmetic and rounded
    once. The count is binomial with ``lam = b + (a - b) share``, so the variance is
    ``lam (1 - lam) / (n (a - b)^2)`` [1]_, and an interval for ``lam`` maps to one for ``share`` with the
    same coverage.

    References
    ----------
    .. [1] T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for frequency
       estimation", USENIX Security 2017, equations 2 and 3.

    Examples
    --------
    Two fair coins, 430 of 1000 reports say yes:

    >>> from deniable import TwoCoin
    >>> estimate = TwoCoin(truth="1/2", yes="1/2").estimate([570, 430])
    >>> estimate.share[1], round(estimate.std_error[1], 4)
    (0.36, 0.0313)
    >>> [round(end, 3) for end in estimate.interval(confidence_level=0.95)[1]]
    [0.299, 0.422]
    """

    mechanism: Mechanism
    counts: tuple[int, ...]
    n: int
    share: tuple[float, ...]
    std_error: tuple[float, ...]
    feasible: tuple[float, ...]

    @classmethod
    def from_counts(cls, mechanism: Mechanism, counts: Sequence[int], n: int | None = None) -> Estimate:
        """Debias a tally of supports; this is what `Mechanism.estimate` calls.

        Raises
        ------
        ParameterError
            If the counts are not ``k`` integers in ``[0, n]``.
        """
        try:
            tally = tuple(operator.index(count) for count in counts)
        except TypeError:
            raise ParameterError(f"counts: must be {mechanism.k} integers") from None
        if len(tally) != mechanism.k:
            raise ParameterError(f"counts: must be {mechanism.k} integers, one for each option, got {len(tally)}")
        if n is None and mechanism.report_type is str:
            raise ParameterError("n: must be given, because a report can support several options")
        total = sum(tally) if n is None else n
        if any(not 0 <= count <= total for count in tally):
            raise ParameterError(f"counts: must be integers in [0, n = {total}], got {list(tally)}")
        if total == 0:
            nothing = (math.nan,) * mechanism.k
            return cls(mechanism, tally, 0, nothing, nothing, nothing)
        shares, errors = (_by_support if mechanism.support else _by_matrix)(mechanism, tally, total)
        return cls(mechanism, tally, total, shares, errors, mechanism.feasible(tally, total))

    def interval(self, confidence_level: float = 0.95, method: str = DEFAULT_METHOD) -> tuple[Interval, ...]:
        """Confidence intervals of the shares, one for each option, cut to [0, 1].

        Parameters
        ----------
        confidence_level : float
            Above 0 and below 1.
        method : {"wilson", "clopper-pearson"}
            Interval for the share of supporting reports, mapped through the debiasing line.
        """
        if not self.n:
            return (Interval(0.0, 1.0),) * len(self.share)
        if self.mechanism.support is None:
            ends = normal_intervals(self.share, self.std_error, confidence_level)
        else:
            ends = []
            for count, (a, b) in zip(self.counts, self.mechanism.support, strict=True):
                noisy = binomial_interval(count, self.n, confidence_level, method)
                ends.append(Interval(*sorted((end - float(b)) / float(a - b) for end in noisy)))
        return tuple(Interval(min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)) for low, high in ends)

    def interval_method(self, method: str = DEFAULT_METHOD) -> str:
        """The method that `interval` really uses: supports that no one binomial describes get ``wald``."""
        return "wald" if self.mechanism.support is None else method


@dataclass(frozen=True)
class MeanEstimate:
    """The debiased mean of the true numbers.

    Attributes
    ----------
    n : int
        Number of reports.
    mean : float
        Unbiased mean; may leave the range. NaN without reports.
    std_error : float
        Its standard error, for sampling from a population.
    lowest, highest : float
        The range of the true numbers.

    Notes
    -----
    The mechanism gives every support a weight ``w_v`` and a constant ``c`` with
    ``E[c + sum w_v S_v | x] = value of x``, ``S`` the supports of one report. The mean is ``c + sum w_v C_v / n``,
    its variance ``w' Cov(S) w / n``.

    Examples
    --------
    >>> from deniable import Mean
    >>> estimate = Mean.from_epsilon(0, 10, epsilon=1).estimate_mean([500, 500])
    >>> estimate.mean, round(estimate.std_error, 3)
    (5.0, 0.342)
    """

    n: int
    mean: float
    std_error: float
    lowest: float
    highest: float

    @classmethod
    def from_counts(
        cls, mechanism: Mechanism, counts: Sequence[int], n: int | None, values: Sequence[float]
    ) -> MeanEstimate:
        """Estimate a mean from a tally; this is what `Mechanism.estimate_mean` calls."""
        import numpy as np

        total = sum(counts) if n is None else n
        lowest, highest = float(min(values)), float(max(values))
        if total == 0:
            return cls(0, math.nan, math.nan, lowest, highest)
        weights, constant = mechanism.mean_weights(values)
        w, lam = np.array(weights), np.array(counts, dtype=float) / total
        covariance = mechanism.report_covariance(lam)
        variance = max(float(w @ covariance @ w), 0.0) / total
        return cls(total, constant + float(w @ lam), math.sqrt(variance), lowest, highest)

    def interval(self, confidence_level: float = 0.95) -> Interval:
        """A normal interval, cut to the range."""
        if not self.n:
            return Interval(self.lowest, self.highest)
        ((low, high),) = normal_intervals([self.mean], [self.std_error], confidence_level)
        return Interval(
            min(max(low, self.lowest), self.highest),
            min(max(high, self.lowest), self.highest),
        )


def _by_support(mechanism: Mechanism, tally: Sequence[int], n: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    assert mechanism.support is not None
    shares, errors = [], []
    for count, (a, b) in zip(tally, mechanism.support, strict=True):
        lam = Fraction(count, n)
        shares.append(float((lam - b) / (a - b)))
        errors.append(math.sqrt(lam * (1 - lam) / n) / abs(float(a - b)))
    return tuple(shares), tuple(errors)


def _by_matrix(mechanism: Mechanism, tally: Sequence[int], n: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """``f = A^-1 lam``, ``Cov f = A^-1 (diag(lam) - lam lam') A^-T / n``."""
    import numpy as np

    matrix = mechanism.float_matrix
    if matrix.shape[0] != matrix.shape[1]:
        raise ParameterError(f"mechanism {mechanism.name}: estimates a mean, no shares; use estimate_mean")
    lam = np.array(tally, dtype=float) / n
    inverse = np.linalg.inv(matrix)
    covariance = inverse @ (np.diag(lam) - np.outer(lam, lam)) @ inverse.T / n
    return tuple((inverse @ lam).tolist()), tuple(np.sqrt(np.maximum(np.diag(covariance), 0)).tolist())

"""The estimate of one question: from a tally of noisy reports to shares of the true answers."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable.intervals import DEFAULT_METHOD, Interval, binomial_interval

if TYPE_CHECKING:
    from deniable.mechanisms import Mechanism


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
        total = sum(tally) if n is None else n
        if len(tally) != mechanism.k:
            raise ParameterError(f"counts: must be {mechanism.k} integers, one for each option, got {len(tally)}")
        if any(not 0 <= count <= total for count in tally):
            raise ParameterError(f"counts: must be integers in [0, n = {total}], got {list(tally)}")
        if total == 0:
            nothing = (math.nan,) * mechanism.k
            return cls(mechanism, tally, 0, nothing, nothing, nothing)
        shares, errors = [], []
        for count, (a, b) in zip(tally, mechanism.support, strict=True):
            lam = Fraction(count, total)
            shares.append(float((lam - b) / (a - b)))
            errors.append(math.sqrt(lam * (1 - lam) / total) / abs(float(a - b)))
        return cls(mechanism, tally, total, tuple(shares), tuple(errors), mechanism.feasible(tally))

    def interval(self, confidence_level: float = 0.95, method: str = DEFAULT_METHOD) -> tuple[Interval, ...]:
        """Confidence intervals of the shares, one for each option, cut to [0, 1].

        Parameters
        ----------
        confidence_level : float
            Above 0 and below 1.
        method : {"wilson", "clopper-pearson"}
            Interval for the share of supporting reports, mapped through the debiasing line.
        """
        intervals = []
        for count, (a, b) in zip(self.counts, self.mechanism.support, strict=True):
            ends = binomial_interval(count, self.n, confidence_level, method)
            if self.n:
                ends = Interval(*sorted((end - float(b)) / float(a - b) for end in ends))
            intervals.append(Interval(*(min(max(end, 0.0), 1.0) for end in ends)))
        return tuple(intervals)

"""From tallies of noisy reports to shares of the true answers."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable.intervals import DEFAULT_METHOD, Interval, binomial_interval
from deniable.mechanisms import Mechanism

if TYPE_CHECKING:
    from deniable.report import Report
    from deniable.survey import Survey


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


@dataclass(frozen=True)
class Tally:
    """How many reports there are, and how many of them support each option of each question.

    Attributes
    ----------
    n : int
        Number of reports.
    counts : mapping of str to tuple of int
        Question id to the number of supporting reports by option.
    """

    n: int
    counts: Mapping[str, tuple[int, ...]]

    @classmethod
    def empty(cls, survey: Survey) -> Tally:
        """The tally of no reports."""
        return cls(0, {question.id: (0,) * question.mechanism.k for question in survey.questions})

    def __add__(self, other: Tally) -> Tally:
        def both(question: str) -> tuple[int, ...]:
            return tuple(map(operator.add, self.counts[question], other.counts[question]))

        return Tally(self.n + other.n, {question: both(question) for question in self.counts})


def tally_reports(reports: Iterable[Report], survey: Survey) -> dict[str | None, Tally]:
    """Count reports by cohort."""
    sizes: dict[str | None, int] = {}
    supports: dict[str | None, dict[str, list[int]]] = {}
    for report in reports:
        sizes[report.cohort] = sizes.get(report.cohort, 0) + 1
        counts = supports.setdefault(
            report.cohort, {question.id: [0] * question.mechanism.k for question in survey.questions}
        )
        for question in survey.questions:
            for option in question.mechanism.supports(report.values[question.id]):
                counts[question.id][option] += 1
    return {
        cohort: Tally(n, {question: tuple(counts) for question, counts in supports[cohort].items()})
        for cohort, n in sizes.items()
    }


@dataclass(frozen=True)
class EstimateRow:
    """One published line: one option of one question, for everybody or for one cohort.

    The fields are the columns of the CSV, in order. Numbers are None where there is no report to estimate from.
    """

    question: str
    option: str
    cohort: str | None
    n: int
    count: int
    estimate: float | None
    std_error: float | None
    conf_low: float
    conf_high: float
    conf_level: float
    method: str
    epsilon: float
    feasible: float | None


def estimate(
    tallies: Mapping[str | None, Tally],
    survey: Survey,
    *,
    by_cohort: bool = False,
    confidence_level: float = 0.95,
    method: str = DEFAULT_METHOD,
) -> list[EstimateRow]:
    """Estimate every share that a survey asks for.

    Parameters
    ----------
    tallies : mapping of cohort to Tally
        What was counted; the key None holds reports without a cohort.
    survey : Survey
        The published survey, whose mechanisms are inverted.
    by_cohort : bool
        One group of rows for each cohort instead of one for everybody.
    confidence_level, method
        As for `Estimate.interval`.

    Returns
    -------
    list of EstimateRow
        In the order of cohorts, questions and options.
    """
    if by_cohort:
        known = [cohort for cohort in (*survey.cohorts, None) if cohort in tallies or cohort is not None]
        groups = [(cohort, tallies.get(cohort, Tally.empty(survey))) for cohort in known]
    else:
        groups = [(None, sum(tallies.values(), Tally.empty(survey)))]
    rows = []
    for cohort, tally in groups:
        for question in survey.questions:
            result = question.mechanism.estimate(tally.counts[question.id], tally.n)
            intervals = result.interval(confidence_level, method)
            for option, label in enumerate(question.options):
                rows.append(
                    EstimateRow(
                        question=question.id,
                        option=label,
                        cohort=cohort,
                        n=result.n,
                        count=result.counts[option],
                        estimate=_number(result.share[option]),
                        std_error=_number(result.std_error[option]),
                        conf_low=intervals[option].low,
                        conf_high=intervals[option].high,
                        conf_level=confidence_level,
                        method=method,
                        epsilon=question.mechanism.epsilon,
                        feasible=_number(result.feasible[option]),
                    )
                )
    return rows


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value

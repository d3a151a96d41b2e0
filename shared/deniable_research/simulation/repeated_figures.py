"""Outcomes of every published figure over repeated surveys, and their summary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deniable.errors import ParameterError


@dataclass(frozen=True)
class SimulationRow:
    """The behaviour of one published figure over repeated surveys.

    The fields are the columns of the CSV, in order. A field whose name ends in ``_error`` is the Monte Carlo standard
    error of the field before it [1]_.

    Attributes
    ----------
    question, option, cohort : str
        The question and the option of the figure; a mean has no option.
    statistic : {"share", "mean", "difference", "coefficient", "slope", "chi-squared", "likelihood ratio"}
        A difference is the first cohort's share minus the second's. The last four come from the analysis of a formula.
        The last two are of tests, which have neither a truth nor intervals.
    truth, mean_estimate : float
        The true value in the population, and the mean of its estimates.
    bias, bias_error : float
        ``mean_estimate - truth``.
    empirical_se, empirical_se_error : float
        Standard deviation of the estimates.
    stated_se : float
        Root mean square of the standard errors that the surveys state.
    coverage, coverage_error : float
        Share of the intervals that hold the truth.
    mean_width : float
    rejected, rejected_error : float or None
        Share of the surveys in which `test` rejects: its power, or its size if the null hypothesis is true.
    test : str or None
        "share = 0": the interval lies above 0. "no difference", "against q ~ 1" and others: the p-value is below
        ``1 - conf_level``.
    repetitions : int
        Number of surveys with an estimate: all, unless no device drew a box.
    respondents : int
        Number of respondents in each survey, or in the cohort.
    conf_level : float
    method : str
        Method of the intervals.
    empirical_se_if_split : float or None
        `empirical_se` of the survey in which the epsilon of each group is split over all its questions; None if that
        survey was not simulated.
    epsilon : float or None
        Epsilon of each question, where it is varied, in nats.
    under_prior : float or None
        Share of the samples of a regression that were fitted under a Cauchy prior, which pulls effects towards 0. By
        default these are the samples with separation, whose likelihood has no maximum.

    References
    ----------
    .. [1] T. P. Morris, I. R. White, M. J. Crowther, "Using simulation studies to evaluate statistical methods",
       Statistics in Medicine 38 (2019), 2074-2102.
    """

    question: str
    option: str
    cohort: str | None
    statistic: str
    truth: float
    mean_estimate: float
    bias: float
    bias_error: float
    empirical_se: float
    empirical_se_error: float
    stated_se: float
    coverage: float
    coverage_error: float
    mean_width: float
    rejected: float | None
    rejected_error: float | None
    test: str | None
    repetitions: int
    respondents: int
    conf_level: float
    method: str
    empirical_se_if_split: float | None = None
    epsilon: float | None = None
    under_prior: float | None = None


class Key(NamedTuple):
    """Identity of a figure of a survey, with its truth and its test."""

    question: str
    option: str
    cohort: str | None
    statistic: str
    truth: float
    test: str | None


class Outcome(NamedTuple):
    """A figure in one repetition."""

    estimate: float
    std_error: float
    low: float
    high: float
    rejected: bool
    method: str


def summary(key: Key, outcomes: Sequence[Outcome], people: int, confidence_level: float) -> SimulationRow:
    """The row of one figure, from its outcomes in all repetitions; ``people`` is the number of respondents."""
    if len(outcomes) < 2:
        raise ParameterError(
            "respondents: must be so many that devices draw every question and box, "
            f"{key.question}: {key.option} was estimated in {len(outcomes)} surveys"
        )
    # The first five fields are numbers, the method is a text.
    estimates, errors, low, high, rejected = np.array([outcome[:5] for outcome in outcomes], dtype=float).T
    repetitions = len(outcomes)
    spread = float(estimates.std(ddof=1))
    mean = float(estimates.mean())
    rejection = float(rejected.mean())
    # Intervals are closed: a truth at an end is covered.
    coverage = float(((low <= key.truth) & (key.truth <= high)).mean())
    return SimulationRow(
        **key._asdict(),
        mean_estimate=mean,
        bias=mean - key.truth,
        # s / sqrt(R) for R repetitions.
        bias_error=spread / math.sqrt(repetitions),
        empirical_se=spread,
        # s / sqrt(2 (R - 1)): standard error of a standard deviation, for normal estimates.
        empirical_se_error=spread / math.sqrt(2 * (repetitions - 1)),
        # Variances are averaged, because their mean is unbiased for the variance of the estimates.
        stated_se=math.sqrt(float((errors**2).mean())),
        coverage=coverage,
        coverage_error=_error_of_share(coverage, repetitions),
        mean_width=float((high - low).mean()),
        rejected=rejection if key.test else None,
        rejected_error=_error_of_share(rejection, repetitions) if key.test else None,
        repetitions=repetitions,
        respondents=people,
        conf_level=confidence_level,
        method=outcomes[0].method,
    )


def _error_of_share(share: float, n: int) -> float:
    # A binomial share: sqrt(p (1 - p) / n).
    return math.sqrt(share * (1 - share) / n)

"""What is noted of every published figure over repeated surveys, and what it comes to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deniable.errors import ParameterError


@dataclass(frozen=True)
class SimulationRow:
    """How one published figure behaves over repeated surveys.

    The fields are the columns of the CSV, in order. Every figure that chance of the simulation moves has its Monte
    Carlo standard error beside it [1]_.

    Attributes
    ----------
    question, option, cohort : str
        What the figure is about; a mean has no option.
    statistic : {"share", "mean", "difference", "coefficient", "slope", "chi-squared"}
        A difference is the first cohort's share minus the second's. The last three are of the analysis of a formula.
    truth, mean_estimate : float
        What is true of the population, and the mean of the estimates of it.
    bias, bias_error : float
        ``mean_estimate - truth``.
    empirical_se, empirical_se_error : float
        Standard deviation of the estimates.
    stated_se : float
        What the survey says about it: the root of the mean squared standard error.
    coverage, coverage_error : float
        Share of the intervals that hold the truth.
    mean_width : float
    rejected, rejected_error : float or None
        Share of the surveys in which `test` rejects: its power, or its level where nothing is there.
    test : str or None
        "share = 0": the interval lies above 0. "no difference": the p-value is below ``1 - conf_level``.
    repetitions : int
        Surveys with an estimate: all, but for a box that no device drew.
    respondents : int
        Of each survey; of a cohort its own.
    conf_level : float
    method : str
        Of the intervals.
    empirical_se_if_split : float or None
        `empirical_se` of the same survey with the epsilon of each group split over all its questions, if that was
        simulated too.
    epsilon : float or None
        Of each question, where that is varied.
    under_prior : float or None
        Of the regression of a formula the share of samples that were fitted under a Cauchy prior, which pulls effects
        towards 0: by default those whose likelihood has no maximum that the data bound.

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
    """Which figure of a survey."""

    question: str
    option: str
    cohort: str | None
    statistic: str
    truth: float
    test: str | None


class Outcome(NamedTuple):
    """That figure in one repetition."""

    estimate: float
    std_error: float
    low: float
    high: float
    rejected: bool
    method: str


def summary(key: Key, outcomes: Sequence[Outcome], people: int, confidence_level: float) -> SimulationRow:
    """The row of one figure from its outcomes."""
    if len(outcomes) < 2:
        raise ParameterError(
            "respondents: must be so many that devices draw every question and box, "
            f"{key.question}: {key.option} was estimated in {len(outcomes)} surveys"
        )
    # Without the method, which is a text: all else is a number.
    estimates, errors, low, high, rejected = np.array([outcome[:5] for outcome in outcomes], dtype=float).T
    repetitions = len(outcomes)
    spread = float(estimates.std(ddof=1))
    mean = float(estimates.mean())
    rejection = float(rejected.mean())
    coverage = float(((low <= key.truth) & (key.truth <= high)).mean())
    return SimulationRow(
        **key._asdict(),
        mean_estimate=mean,
        bias=mean - key.truth,
        # Of a mean: the spread over the root of how many.
        bias_error=spread / math.sqrt(repetitions),
        empirical_se=spread,
        # Of a standard deviation, to the first order and for normal estimates.
        empirical_se_error=spread / math.sqrt(2 * (repetitions - 1)),
        # Variances are averaged: their mean is what the spread squared is to be compared with.
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
    # Of a binomial share.
    return math.sqrt(share * (1 - share) / n)

"""Power of a planned analysis: simulated samples of a study, each analysed as its file would be."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from deniable.errors import DeniableError, ParameterError
from deniable_research.files import Table, compare, cross, regress
from deniable_research.regression import Fit
from deniable_research.simulation.draw import generator_of
from deniable_research.simulation.epsilons import at_epsilon
from deniable_research.simulation.nested import NestedFormula, likelihood_ratio, nested_formulas
from deniable_research.simulation.processes import map_all
from deniable_research.simulation.repeated_figures import Key, Outcome, SimulationRow, summary
from deniable_research.simulation.simulation import MOST_DRAWS, check_number
from deniable_research.simulation.study import Covariate, Study
from deniable_statistics.intervals.methods import MOST_TRUTHS
from deniable_statistics.regression.fit import PRIORS

Figures = list[tuple[Key, Outcome]]


@dataclass(frozen=True)
class SampleAnalysis:
    """The analysis of one sample.

    Attributes
    ----------
    figures : list of (Key, Outcome)
    prior : str or None
        Sentence of a regression on the prior under which it was fitted, if it has one.
    """

    figures: Figures
    prior: str | None = None


Analysis = Callable[[Study, Table, float], SampleAnalysis]
"""A function of a study, one sample of it and the confidence level, which analyses the sample."""


@dataclass(frozen=True)
class Power:
    """The results of all samples of a study.

    Attributes
    ----------
    rows : tuple of SimulationRow
        One for each figure; `SimulationRow.repetitions` are the samples that gave an estimate.
    repetitions : int
        Number of samples that were drawn.
    failures : dict of str to int
        Number of refused samples, by the sentence of the refusal.
    priors : dict of str to int
        Number of samples fitted under a prior, by the sentence on the prior.
    against : tuple of NestedFormula
        The smaller formulas that each sample was tested against.
    """

    rows: tuple[SimulationRow, ...]
    repetitions: int
    failures: dict[str, int]
    priors: dict[str, int]
    against: tuple[NestedFormula, ...] = ()


def simulated_power(
    study: Study,
    repetitions: int = 200,
    seed: int = 1,
    *,
    analysis: str = "regress",
    confidence_level: float = 0.95,
    penalty: str | None = "auto",
    against: Sequence[str] = (),
    processes: int = 1,
    progress: Callable[[int], object] = lambda _: None,
) -> Power:
    """Draw a study again and again, and analyse every sample.

    Parameters
    ----------
    study : Study
    repetitions : int
    seed : int
        Equal seeds give equal samples, for any number of processes.
    analysis : {"regress", "crosstab", "trend"}
        The regression of the formula; the crosstab of its two columns with the test of independence; the trend of the
        question over the numbers of the one column on the right.
    confidence_level : float
        Level of intervals; tests reject if p is below ``1 - confidence_level``.
    penalty : {"auto", "cauchy", None}
        Penalty of a regression, as in `deniable_research.files.regress`. Without one, a coefficient under separation
        has no estimate, and its sample is not among the repetitions of its row.
    against : sequence of str
        Smaller formulas. Each has a row for the likelihood-ratio test of the terms that it leaves out, together; its
        `SimulationRow.statistic` is "likelihood ratio". If one of the two fits of a sample needs a prior, both get it.
    processes : int
        Number of samples that are analysed at a time.
    progress : callable
        Called with the number of samples that are done, after each one.

    Returns
    -------
    Power

    Raises
    ------
    ParameterError
        If the analysis refuses every sample, with its sentence; or the formula does not fit the analysis.

    Examples
    --------
    >>> from deniable import Question, Survey, Warner
    >>> from deniable_research.simulation.study import Covariate
    >>> survey = Survey("T", (Question("q", "yes-no", "Q?", ("no", "yes"), Warner.from_epsilon(3)),))
    >>> study = Study(survey, "q ~ age", {"age[T.young]": 1.5}, {"age": Covariate.parse("young,old")}, {"q": 0.4}, 600)
    >>> intercept, young = simulated_power(study, repetitions=20).rows
    >>> young.option, young.truth, young.rejected > 0.8, abs(young.bias) < 4 * young.bias_error
    ('age[T.young]', 1.5, True, True)
    >>> _, _, whole = simulated_power(study, repetitions=20, against=["q ~ 1"]).rows
    >>> whole.test, whole.rejected == young.rejected  # of one term, both are the likelihood-ratio test
    ('against q ~ 1', True)
    """
    _check_analysis(analysis, penalty, against)
    check_number(repetitions, "repetitions", 2, max(MOST_DRAWS // study.respondents, 2))
    _check_formula(study, analysis)
    _ = study.coefficients  # computed once, for all processes
    nested = nested_formulas(study, against)
    # A seed for each sample, so that it does not depend on which process draws it.
    seeds = [int(each) for each in np.random.SeedSequence(seed).generate_state(repetitions, np.uint64)]
    analyse = ANALYSES[analysis]
    if analysis == "regress":
        analyse = partial(_regression, penalty=penalty, against=nested)
    one = partial(_sample, study, analyse, confidence_level)
    found = map_all(one, seeds, processes, chunk=max(repetitions // (8 * processes), 1), progress=progress)
    failures = Counter(each for each in found if isinstance(each, str))
    # A standard deviation needs two samples at least.
    if sum(failures.values()) > repetitions - 2:
        raise ParameterError(max(failures, key=lambda sentence: failures[sentence]))
    analysed = [each for each in found if isinstance(each, SampleAnalysis)]
    priors = Counter(each.prior for each in analysed if each.prior is not None)
    # The share among the samples that were not refused.
    under_prior = sum(priors.values()) / len(analysed) if analysis == "regress" else None
    rows = [
        replace(_without_truth(summary(key, outcomes, study.respondents, confidence_level)), under_prior=under_prior)
        for key, outcomes in _outcomes(analysed).items()
        if len(outcomes) > 1
    ]
    return Power(tuple(rows), repetitions, dict(failures), dict(priors), tuple(nested))


def _outcomes(analysed: Sequence[SampleAnalysis]) -> dict[Key, list[Outcome]]:
    """The outcomes of each figure over the samples; under separation an estimate is infinite and left out."""
    found: dict[Key, list[Outcome]] = {}
    named: dict[Key, Key] = {}
    for key, outcome in (figure for each in analysed for figure in each.figures):
        # The truth of a test is NaN, and NaN that comes from another process is equal to no other one.
        key = named.setdefault(key._replace(truth=0.0), key)
        outcomes = found.setdefault(key, [])  # before the check: figures stay in the order of the analysis
        if math.isfinite(outcome.estimate) and outcome.std_error != math.inf:
            outcomes.append(outcome)
    return found


def _sample(study: Study, analyse: Analysis, confidence_level: float, seed: int) -> SampleAnalysis | str:
    """The figures of one sample, or the sentence that refuses it."""
    table = study.draw(generator_of(seed))
    try:
        return analyse(study, table, confidence_level)
    except DeniableError as error:
        return str(error)


def _check_analysis(analysis: str, penalty: str | None, against: Sequence[str]) -> None:
    if analysis not in ANALYSES:
        raise ParameterError(f"analysis: must be one of {', '.join(ANALYSES)}, got {analysis!r:.40}")
    if penalty != "auto" and analysis != "regress":
        raise ParameterError(f"penalty: must be auto for a {analysis}, which has no prior, got {penalty or 'none'}")
    # A text is a sequence of its letters, each of which would be taken for a formula.
    if isinstance(against, str):
        raise ParameterError(f"against: must be a sequence of formulas, got {against!r:.80}")
    if against and analysis != "regress":
        raise ParameterError(f"against: must go with the analysis regress, got {analysis}")


def _check_formula(study: Study, analysis: str) -> None:
    if analysis == "regress":
        return
    if study.outcome not in study.questions or len(study.predictors) != 1:
        raise ParameterError(f"formula: must be a question and one column for a {analysis}, got {study.formula!r:.80}")
    name = study.predictors[0]
    column = study.plain.get(name, Covariate() if analysis == "trend" else None)
    if column is not None and not (column.labels if analysis == "crosstab" else column.is_numeric):
        what = "numbers as labels, such as 2020,2022,2024" if analysis == "trend" else "labels"
        raise ParameterError(f"covariate: {name} must have {what} for a {analysis}")


def _regression(
    study: Study, table: Table, level: float, penalty: str | None = "auto", against: Sequence[NestedFormula] = ()
) -> SampleAnalysis:
    fit = regress(table, study.formula, penalty=penalty)
    how = fit.interval_kind() if isinstance(fit, Fit) else "wald"
    known = study.coefficients
    found: Figures = []
    cells = fit.terms[fit.model.cells_at] if isinstance(fit, Fit) else ()
    for row in fit.tidy(level):
        if row.term in cells:  # how often truths of randomised predictors are
            continue
        if row.term not in known:
            raise ParameterError(f"formula: the regression has a term {row.term} that the study has not")
        key = Key(study.formula, row.term, None, "coefficient", known[row.term], f"{row.term} = 0")
        found.append((key, _outcome(row, how, row.p_value < 1 - level)))
    for nested in against:
        test = likelihood_ratio(fit, study, nested.formula, penalty)
        key = Key(study.formula, nested.test, None, LIKELIHOOD_RATIO, math.nan, nested.test)
        found.append((key, _tested(test.statistic, test.p_value < 1 - level, "likelihood-ratio")))
    return SampleAnalysis(found, PRIORS[fit.penalty] if isinstance(fit, Fit) and fit.penalty else None)


def _crosstab(study: Study, table: Table, level: float) -> SampleAnalysis:
    name = study.predictors[0]
    true = study.true_shares(name)
    yes = table.layout.question(study.outcome).options[1]
    # The intervals that `cross` gives tables of few truths, and of more.
    how = "profile" if 2 * len(true) <= MOST_TRUTHS else "agresti-coull"
    found: Figures = []
    for row in cross(table, [study.outcome, name], confidence_level=level):
        if row.measure == "joint" and row.estimate is not None:
            often, share = true[str(row.second_option)]
            truth = often * (share if row.first_option == yes else 1 - share)
            key = Key(study.formula, f"{row.first_option}, {row.second_option}", None, "share", truth, None)
            found.append((key, _outcome(row, how, False)))
        elif row.measure == "independence" and row.p_value is not None:
            key = Key(study.formula, "", None, INDEPENDENCE, math.nan, "independence")
            found.append((key, _tested(float(row.statistic or 0), row.p_value < 1 - level, "score")))
    return SampleAnalysis(found)


INDEPENDENCE, LIKELIHOOD_RATIO = "chi-squared", "likelihood ratio"
"""Names of the statistics in rows that are a test and no estimate."""


def _tested(statistic: float, rejected: bool, method: str) -> Outcome:
    """The outcome of a test, which has neither a standard error nor an interval."""
    return Outcome(statistic, math.nan, math.nan, math.nan, rejected, method)


def _without_truth(row: SimulationRow) -> SimulationRow:
    """A row without the fields that need a truth or an interval, if it is for a test."""
    if row.statistic not in (INDEPENDENCE, LIKELIHOOD_RATIO):
        return row
    unknown: Any = dict.fromkeys(("bias", "bias_error", "coverage", "coverage_error", "mean_width"), math.nan)
    return replace(row, **unknown)


def _trend(study: Study, table: Table, level: float) -> SampleAnalysis:
    name = study.predictors[0]
    yes = table.layout.question(study.outcome).options[1]
    rows = compare(table, study.outcome, name, line=True, options=(yes,), confidence_level=level)
    key = Key(study.formula, f"slope for each unit of {name}", None, "slope", _true_slope(study), "slope = 0")
    return SampleAnalysis(
        [
            (key, _outcome(row, row.method, row.p_value < 1 - level))
            for row in rows
            if row.measure == "trend" and row.estimate is not None and row.p_value is not None
        ]
    )


def _outcome(row: Any, method: str, rejected: bool) -> Outcome:
    error = math.nan if row.std_error is None else row.std_error
    return Outcome(row.estimate, error, row.conf_low or 0.0, row.conf_high or 0.0, rejected, method)


def _true_slope(study: Study) -> float:
    """The limit of the weighted slope over the cohorts as the number of people grows."""
    support = study.questions[study.outcome].question.mechanism.support
    assert support is not None
    a, b = support[1].floats
    true = study.true_shares(study.predictors[0])
    x = np.array([float(label) for label in true])
    often, share = np.array(list(true.values())).T
    # P(a report says yes) in each cohort, whose variance weighs it.
    lam = b + (a - b) * share
    weight = often / (lam * (1 - lam))
    # Weighted least squares: slope = sum w (x - mean) y / sum w (x - mean)^2.
    x = x - weight @ x / weight.sum()
    return float((weight * x) @ share / ((weight * x) @ x))


ANALYSES: dict[str, Analysis] = {
    "regress": _regression,
    "crosstab": _crosstab,
    "trend": _trend,
}
"""The analyses of a sample, by name."""


def planning_curve(
    study: Study, curves: Mapping[str, Sequence[float]], repetitions: int, seed: int, **settings: Any
) -> list[Power]:
    """The power of a study over several sizes, or several epsilons of its questions, or both.

    Parameters
    ----------
    study : Study
    curves : mapping of str to sequence of float
        Values of "respondents" and of "epsilon"; one that is not named keeps the value of the study.
    repetitions, seed, **settings
        As for `simulated_power`.

    Returns
    -------
    list of Power
        All sizes of the first epsilon, then of the next; `SimulationRow.respondents` and `SimulationRow.epsilon` name
        them.
    """
    found = []
    for epsilon in curves.get("epsilon", [None]):
        survey = study.survey if epsilon is None else at_epsilon(study.survey, epsilon)
        # The same seed at every point: only size and epsilon differ.
        for people in curves.get("respondents", [study.respondents]):
            one = simulated_power(replace(study, survey=survey, respondents=int(people)), repetitions, seed, **settings)
            rows = tuple(replace(row, epsilon=epsilon) for row in one.rows)
            found.append(replace(one, rows=rows))
    return found

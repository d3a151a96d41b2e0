"""Models as a table for a paper, a column for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from deniable.errors import ParameterError, describe
from deniable_research.files.labels import labelled_notes
from deniable_research.files.layout import Layout
from deniable_research.files.model_tables import FittedModel, labels_of, printed
from deniable_research.files.paper_table import PaperTable
from deniable_research.regression import Fit, TidyRow
from deniable_research.regression.term_labels import NO_LABELS, Labels, expression_label
from deniable_statistics.published.columns import OPEN, interval, is_open, p_value
from deniable_statistics.published.design_text import randomisation_text
from deniable_statistics.published.method_names import methods_text
from deniable_statistics.published.printed_numbers import decimals_of, fixed, number

SHOWN = ("errors", "intervals", "p")
"""What a table can show below each coefficient: standard errors, confidence intervals or p-values."""

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
"""Significance levels and the stars of p-values below them, the smallest level first."""


MOST_DECIMALS = 6
"""Largest number of decimals of a coefficient; smaller ones are printed with significant digits instead."""


def paper_table(
    models: Sequence[FittedModel],
    notes: Sequence[str] = (),
    *,
    below: str = "errors",
    decimals: int | None = None,
    stars: bool = False,
    odds_ratios: bool = False,
    confidence_level: float = 0.95,
    labels: Labels = NO_LABELS,
) -> PaperTable:
    """The table of several models, a column for each.

    Parameters
    ----------
    models : sequence of FittedModel
    notes : sequence of str
        Further notes, such as from `noise_notes`.
    below : {"errors", "intervals", "p"}
        Standard errors or p-values in round brackets, or intervals in square ones. Odds ratios have no standard errors,
        and intervals in their place.
    decimals : int, optional
        Decimals of coefficients, odds ratios, errors and intervals, at most `MOST_DECIMALS`. By default as many as give
        a standard error two significant digits.
    stars : bool
        Stars at p-values below .05, .01 and .001.
    odds_ratios : bool
    confidence_level : float
        Confidence level of the rows.
    labels : mapping of str to str
        Texts in the place of the names of questions and columns. With them, the header names the outcomes, and no note
        has a formula.
    """
    if below not in SHOWN:
        raise ParameterError(f"below: must be one of {', '.join(SHOWN)}, got {below!r:.40}")
    if decimals is not None and (type(decimals) is not int or not 0 <= decimals <= MOST_DECIMALS):
        raise ParameterError(f"decimals: must be an integer in [0, {MOST_DECIMALS}], got {describe(decimals)}")
    rows = [
        [printed(row, odds_ratios) for row in (model.odds_ratios if odds_ratios else model.effect_rows)]
        for model in models
    ]
    if odds_ratios and below == "errors":
        below = "intervals"
    body, terms = [], labels_of(models, labels)
    # Terms in the order in which the models first have them.
    for term in dict.fromkeys(row.term for each in rows for row in each):
        cells = [next((row for row in each if row.term == term), None) for each in rows]
        body.append((terms[term], *(_estimate(cell, stars, decimals) for cell in cells)))
        body.append(("", *(_below(cell, below, decimals) for cell in cells)))
    said = _said(models, below, confidence_level, stars=stars, odds_ratios=odds_ratios, labels=labels)
    if below == "intervals" and any(is_open(row) for each in rows for row in each):
        said.insert(1, OPEN)
    header = [f"({place})" for place in range(1, len(models) + 1)]
    if labels:
        outcomes = [model.outcome_label(labels) for model in models]
        header = [f"{place} {name}" for place, name in zip(header, outcomes, strict=True)] if outcomes[1:] else outcomes
    return PaperTable(("", *header), tuple(body), tuple(_figures(models)), (*said, *labelled_notes(notes, labels)))


def _said(
    models: Sequence[FittedModel],
    below: str,
    confidence_level: float,
    *,
    stars: bool,
    odds_ratios: bool,
    labels: Labels,
) -> list[str]:
    """The notes below the table: the meaning of its figures, then the formula and message of each model."""
    inside = "Standard errors in round brackets"
    if below == "p":
        inside = "p-values in round brackets"
    elif below == "intervals":
        methods = methods_text(model.interval for model in models)
        inside = f"{100 * confidence_level:g} % {methods} intervals in square brackets"
    of_odds = all(model.is_of_odds for model in models)
    figures = "Odds ratios" if odds_ratios else "Coefficients (log odds)" if of_odds else "Coefficients"
    if below == "p":
        inside += _tested(models)
    said = [f"{figures} of the true answers. {inside}.", *_compared(models, labels)]
    if stars:
        said.append(f"* p < .05, ** p < .01, *** p < .001{_tested(models)}.")
    if not are_of_same_reports(models):
        said.append("Log-likelihoods are of different reports and do not compare.")
    if not labels:
        said += [f"({place}) {model.formula}" for place, model in enumerate(models, start=1)]
    # The header numbers columns unless it has the label of a single outcome.
    is_numbered = len(models) > 1 or not labels
    for place, model in enumerate(models, start=1):
        if model.fit.message:
            said.append(f"({place}) {model.fit.message}" if is_numbered else model.fit.message)
    return said


def _tested(models: Sequence[FittedModel]) -> str:
    """The end of a sentence on p-values, which are those of Wald tests unless it says otherwise."""
    by_ratio = [f"({place})" for place, model in enumerate(models, start=1) if model.interval == "profile"]
    if not by_ratio:
        return ""
    return ", by likelihood ratios" + (f" in {', '.join(by_ratio)}" if len(by_ratio) < len(models) else "")


def _compared(models: Sequence[FittedModel], labels: Labels) -> Iterator[str]:
    """What outcomes are compared with, and the reference categories of all predictors."""
    # Models beside each other often have the same outcome and predictors, which the notes say once.
    outcomes = {model.outcome_label(labels): model.compared for model in models if model.compared}
    for name, (first, *others) in outcomes.items():
        yield f"{name}: {', '.join(others)} against {first}."
    references = dict.fromkeys(pair for model in models for pair in model.references.items())
    if references:
        named = (f"{expression_label(name, labels)} ({level})" for name, level in references)
        yield f"Reference categories: {', '.join(named)}."


def noise_notes(layout: Layout, names: Sequence[str]) -> list[str]:
    """A sentence for each randomised question: its design in words, and epsilon."""
    found = []
    for question in (arm for name in names for arm in layout.arms(name)):
        # The chance of a box is that of the whole question.
        whole, _ = layout.whole(question.name)
        text = randomisation_text(whole.design, whole.drawn, whole.epsilon)
        found.append(f"{question.name}: {text}.")
    return found


def are_of_same_reports(models: Sequence[FittedModel]) -> bool:
    """Whether all models are fitted to the same reports, including those of randomised predictors.

    Only then can their log-likelihoods, AIC and BIC be compared.
    """
    seen = [model.fit.model.observed for model in models if isinstance(model.fit, Fit)]
    return all(np.array_equal(each, seen[0]) for each in seen)


def _figures(models: Sequence[FittedModel]) -> list[tuple[str, ...]]:
    """The rows of figures of each whole model; a cell is empty where a model has no such figure."""
    found = [("n", *(f"{model.fit.n:,}" for model in models))]
    # Corrected least squares have a residual variance but no likelihood; the other models have a likelihood.
    if any(not isinstance(model.fit, Fit) for model in models):
        sigmas = (number(model.fit.sigma) if not isinstance(model.fit, Fit) else "" for model in models)
        found.append(("Standard deviation of residuals", *sigmas))
    if any(isinstance(model.fit, Fit) for model in models):
        glances = [model.fit.glance() if isinstance(model.fit, Fit) else None for model in models]
        found.append(("Log-likelihood", *(fixed(each.loglik, 2) if each else "" for each in glances)))
        # AIC and BIC compare likelihoods of the same reports only, and a weighted one is no likelihood.
        if all(model.fit.sample.plain for model in models) and are_of_same_reports(models):
            found.append(("AIC", *(fixed(each.aic, 2) if each else "" for each in glances)))
            found.append(("BIC", *(fixed(each.bic, 2) if each else "" for each in glances)))
    return found


def _estimate(row: TidyRow | None, stars: bool, decimals: int | None) -> str:
    if row is None:
        return ""
    return _form_of(row, decimals)(row.estimate) + (next((s for p, s in STARS if row.p_value < p), "") if stars else "")


def _below(row: TidyRow | None, below: str, decimals: int | None) -> str:
    if row is None:
        return ""
    if below == "p":
        return f"({p_value(row.p_value)})"
    form = _form_of(row, decimals)
    if below == "intervals":
        if is_open(row):
            return f"[{interval(row.conf_low, row.conf_high, form)}]"
        return f"[{form(row.conf_low)}, {form(row.conf_high)}]"
    return f"({form(row.std_error)})"


def _form_of(row: TidyRow, wanted: int | None = None) -> Callable[[float], str]:
    """The form of a row's figures: the decimals that are wanted, or as many as give its error two significant digits.

    >>> row = TidyRow("age", 0.4712, 0.1871, 2.5, 0.01, 0.1076, 0.847)
    >>> [_form_of(row)(each) for each in (row.estimate, row.std_error, row.conf_low)]
    ['0.47', '0.19', '0.11']
    """
    if wanted is not None:
        return lambda value: fixed(value, wanted)
    # Odds ratios have no standard error; an unknown one is 0.
    if not 0 < row.std_error < math.inf:
        return _ratio
    decimals = decimals_of(row.std_error)
    return lambda value: fixed(value, decimals) if decimals <= MOST_DECIMALS else number(value, 3)


def _ratio(value: float) -> str:
    """An odds ratio with two decimals, or with two significant digits if it is below 0.1.

    >>> _ratio(4.3801), _ratio(2.5), _ratio(0.0432), _ratio(0.0)
    ('4.38', '2.50', '0.043', '0.00')
    """
    return number(value, 2) if 0 < abs(value) < 0.1 else fixed(value, 2)

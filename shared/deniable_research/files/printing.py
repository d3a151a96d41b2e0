"""Results as tables for people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from deniable.output import number, percent
from deniable.table import format_table
from deniable_research.files.correcting import CORRECTED
from deniable_research.files.rows import (
    ComparisonRow,
    CrosstabRow,
    SampledEstimateRow,
)
from deniable_research.output import counted, interval, p_value
from deniable_statistics.published.published_rows import EstimateRow
from deniable_statistics.robustness.misbehaviour import KINDS, Misbehaving

if TYPE_CHECKING:
    from deniable_research.files.models import FittedModel, ModelRow
    from deniable_research.files.predicting import PredictionRow
    from deniable_research.files.sensitivity import SensitivityRow
    from deniable_research.regression import Fit, GoodnessOfFit, MomentFit


MOST_DIGITS = 6
"""Digits after the point of a percentage; what they would show as 0 is shown with its own digits."""


def shares_text(rows: Sequence[EstimateRow], suspected: Misbehaving | None = None) -> str:
    """Estimates with their intervals; where people are suspected, with bounds and robust intervals instead of fakes."""
    if not rows:
        return "Nobody has a cohort: the file has no rows."
    by_cohort = any(row.cohort is not None for row in rows)
    header = ["question", "option", *(["cohort"] if by_cohort else []), "n", "estimate", "std. error", "interval"]
    header += ["1 % fakes"] if suspected is None else ["bounds", "robust interval"]
    lines = []
    for row in rows:
        form = number if row.statistic == "mean" else percent
        lines.append(
            [
                row.question,
                f"{row.option}, corrected" if row.statistic == CORRECTED else row.option or row.statistic,
                *([row.cohort or "none"] if by_cohort else []),
                str(row.n),
                form(row.estimate),
                form(row.std_error),
                interval(row.conf_low, row.conf_high, form),
                *_beyond_chance(row, suspected, form),
            ]
        )
    methods = ", ".join(dict.fromkeys(row.method for row in rows))
    df = [row.df for row in rows if isinstance(row, SampledEstimateRow) and row.df is not None]
    whose = "the respondents alone" if any(row.target == "respondents" for row in rows) else "a population like them"
    return "\n".join(
        [
            format_table(header, lines, right=header[2 + by_cohort :]),
            "",
            f"{100 * rows[0].conf_level:g} % intervals ({methods}) for {whose}.",
            *_assumed(rows),
            *([f"Errors are those of the sampling design, with {_degrees(df)}."] if df else []),
            f"1 % fakes: how far made-up reports, one in a hundred, can move the estimate.{_unheld(rows)}"
            if suspected is None
            else _suspicion(suspected),
        ]
    )


def _assumed(rows: Sequence[EstimateRow]) -> list[str]:
    """What intervals hold if reports were supposed to be fake."""
    share = rows[0].assumed_fake
    if share is None:
        return []
    return [
        f"They hold the figures behind the other rows if up to {percent(share)} of all are fake, whatever these say."
    ]


def _unheld(rows: Sequence[EstimateRow]) -> str:
    return " No interval holds that." if rows[0].assumed_fake is None else ""


def _beyond_chance(row: EstimateRow, suspected: Misbehaving | None, form: Callable[[float | None], str]) -> list[str]:
    """What chance does not explain: how far fakes can move the estimate, or what people who misbehave leave of it."""
    if suspected is None:
        return ["" if row.fake_margin is None else f"\u00b1{form(row.fake_margin)}"]
    if row.robust_low is None:
        return ["", ""]
    return [interval(row.bound_low, row.bound_high, form), interval(row.robust_low, row.robust_high, form)]


def _suspicion(suspected: Misbehaving) -> str:
    what = "; or ".join(KINDS[kind] for kind in suspected.kinds)
    whose = "everybody" if suspected.among == "everybody" else "those who do as they are told"
    return (
        f"Bounds and robust interval: among {whose}, if at most {percent(suspected.share)} of the people misbehave.\n"
        f"They may give {what}.\nThe robust interval holds all the same; the plain one need not."
    )


def sensitivity_text(rows: Sequence[SensitivityRow], suspected: Misbehaving) -> str:
    """Figures over how many people misbehave."""
    exactly = any(row.corrected is not None for row in rows)
    header = ["question", "option", "misbehaving", "bounds", "robust interval"]
    header += ["corrected", "its interval"] if exactly else []
    lines = []
    for row in rows:
        form = number if row.statistic == "mean" else percent
        lines.append(
            [
                row.question,
                row.option or row.statistic,
                percent(row.misbehaving),
                interval(row.bound_low, row.bound_high, form),
                interval(row.robust_low, row.robust_high, form),
                *([form(row.corrected), interval(row.corrected_low, row.corrected_high, form)] if exactly else []),
            ]
        )
    text = [format_table(header, lines, right=header[2:]), "", f"{100 * rows[0].conf_level:g} % intervals."]
    if exactly:
        text.append(
            "Corrected: among the others, if exactly so many misbehave, and that has nothing to do with the truth."
        )
    return "\n".join([*text, _suspicion(suspected)])


def comparison_text(rows: Sequence[ComparisonRow]) -> str:
    """Differences, ratios and tests, a line each."""
    header = ["question", "option", "measure", "estimate", "std. error", "interval", "p"]
    adjusted = any(row.p_adjusted is not None for row in rows)
    lines = []
    for row in rows:
        form = percent if row.measure in ("difference", "trend") else number
        is_test = row.df is not None
        lines.append(
            [
                row.question,
                row.option or "all",
                _measure(row),
                _test(row) if is_test else form(row.estimate),
                "" if is_test else form(row.std_error),
                "" if is_test else interval(row.conf_low, row.conf_high, form),
                p_value(row.p_value),
                *([p_value(row.p_adjusted) if row.p_adjusted is not None else ""] if adjusted else []),
            ]
        )
    header += ["p (Holm)"] if adjusted else []
    together = ", intervals of all pairs hold together" if adjusted else ""
    methods = ", ".join(dict.fromkeys(row.method for row in rows if row.df is None))
    df = [row.df_error for row in rows if row.df is None and row.df_error is not None]
    return "\n".join(
        [
            format_table(header, lines, right=header[3:]),
            "",
            f"{100 * rows[0].conf_level:g} % intervals ({methods}){together}.",
            *([f"Errors are those of the sampling design, with {_degrees(df)}."] if df else []),
        ]
    )


def _test(row: ComparisonRow | CrosstabRow) -> str:
    """A statistic with its degrees of freedom: F under a sampling design, else chi-squared."""
    if row.df_error is not None:
        return f"F({number(row.df)}, {number(row.df_error)}) = {number(row.statistic)}"
    return f"chi2({row.df}) = {number(row.statistic)}"


def _degrees(df: Sequence[float]) -> str:
    """The degrees of freedom of several lines, in words."""
    low, high = min(df), max(df)
    if low != high:
        return f"{number(low)} to {number(high)} degrees of freedom"
    return f"{number(low)} degree{'' if low == 1 else 's'} of freedom"


def _measure(row: ComparisonRow) -> str:
    if row.measure == "trend":
        return f"slope for each unit, {row.first} to {row.second}"
    if row.measure == "departure":
        return "departure from a straight line"
    if row.measure == "homogeneity":
        return "all arms equal" if row.method == "likelihood-ratio" else "all cohorts equal"
    between = "/" if row.measure == "ratio" else "\u2212"
    return f"{'mean, ' if row.measure == 'mean difference' else ''}{row.first} {between} {row.second}"


def crosstab_text(rows: Sequence[CrosstabRow]) -> str:
    """Cells, then how the columns go together."""
    cells = [row for row in rows if row.measure in ("joint", "conditional")]
    text = [_cells_table(cells), ""] if cells else []
    among = f" among people with each answer to {rows[0].given}" if rows[0].given else ""
    whom = (
        f"a sum of weights of {number(rows[0].n)}"
        if rows[0].weighted
        else counted(round(rows[0].n), "person", "people")
    )
    level = f"{100 * rows[0].conf_level:g} % intervals"
    text.append(f"{level}. {'Shares' + among if cells else 'Correlation'}, {whom}.")
    text += [sentence for row in rows for sentence in _association(row)]
    if df := [row.df_error for row in rows if row.df is None and row.df_error is not None]:
        text.append(f"Errors are those of the sampling design, with {_degrees(df)}.")
    return "\n".join(text)


def _cells_table(cells: Sequence[CrosstabRow]) -> str:
    """The shares of a crosstab, with the most likely ones where some were searched for."""
    names = [name for name in (cells[0].first, cells[0].second, cells[0].third) if name is not None]
    feasible = any(row.feasible is not None for row in cells)
    header = [*names, "estimate", "std. error", "interval", *(["most likely"] if feasible else [])]
    lines = [
        [
            *[option for option in (row.first_option, row.second_option, row.third_option) if option is not None],
            percent(row.estimate),
            percent(row.std_error),
            interval(row.conf_low, row.conf_high),
            *([percent(row.feasible)] if feasible else []),
        ]
        for row in cells
    ]
    return format_table(header, lines, right=header[len(names) :])


def _association(row: CrosstabRow) -> Iterator[str]:
    """How the columns go together, and what must be known of a row, in sentences."""
    if row.measure == "independence":
        yield f"Independence: {_test(row)}, p {p_value(row.p_value)}."
    elif row.measure in ("correlation", "odds ratio"):
        ends = interval(row.conf_low, row.conf_high, number)
        yield f"{row.measure.capitalize()}: {number(row.estimate)} ({ends})."
    if row.note:
        yield f"About the {row.measure}: {row.note}."


def regression_text(
    model: FittedModel,
    confidence_level: float,
    *,
    all_terms: bool = False,
    odds_ratios: bool = False,
) -> str:
    """Coefficients, and what is known about the whole fit."""
    fit, df = model.fit, model.fit.df
    rows = model.rows if all_terms else model.outcome_rows
    if odds_ratios:
        rows = model.odds_ratios
    header = ["term", "odds ratio" if odds_ratios else "estimate", *([] if odds_ratios else ["std. error"])]
    header += ["z" if df == math.inf else "t", "p", "interval"]
    lines = [
        [
            row.term,
            number(row.estimate),
            *([] if odds_ratios else [number(row.std_error)]),
            number(row.statistic, 3),
            p_value(row.p_value),
            interval(row.conf_low, row.conf_high, number),
        ]
        for row in rows
    ]
    said = [f"{100 * confidence_level:g} % intervals ({model.interval}). {counted(fit.n, 'row')}" + _whole(fit) + "."]
    if hidden := 0 if odds_ratios else len(model.rows) - len(rows):
        said.append(f"{counted(hidden, 'term')} of how often truths of predictors are: --all-terms.")
    if df != math.inf:
        said.append(f"Errors are those of the sampling design, with {_degrees([df])}.")
    return "\n".join([format_table(header, lines, right=header[1:]), "", *said])


def models_text(rows: Sequence[ModelRow]) -> str:
    """Models of the same reports, a line each."""
    header = ["model", "log-likelihood", "parameters", "AIC", "BIC", "against the first", "p"]
    lines = [
        [
            row.formula,
            number(row.loglik, 7),
            str(row.parameters),
            number(row.aic, 7),
            number(row.bic, 7),
            row.note or ("" if row.df is None else f"chi2({row.df}) = {number(row.statistic)}"),
            "" if row.df is None else p_value(row.p_value),
        ]
        for row in rows
    ]
    return format_table(header, lines, right=header[1:])


def goodness_text(found: GoodnessOfFit) -> str:
    """Whether a model fits, in a line."""
    if not found.draws and not found.df > 0:
        return f"Fit: {counted(found.patterns, 'pattern')} and as many parameters leave nothing to test."
    if not found.draws:
        statistics = f"({found.df}) = {{}}, p {{}}"
        how = f"over {counted(found.patterns, 'pattern')} of reports and covariates"
    else:
        statistics = " = {}, p {}"
        how = f"over {counted(found.groups, 'group')} by fitted share, p from {found.draws} studies that the model drew"
    pearson = "Pearson X2" + statistics.format(number(found.pearson), p_value(found.pearson_p))
    deviance = "deviance G2" + statistics.format(number(found.deviance), p_value(found.deviance_p))
    return f"Fit: {pearson}; {deviance}; {how}."


def prediction_text(rows: Sequence[PredictionRow]) -> str:
    """What a model predicts, a line each."""
    shares = rows[0].measure == "share"
    adjusted = any(row.p_adjusted is not None for row in rows)
    header = ["option", "at", *([] if shares else ["variable", "change"]), "estimate", "std. error", "interval"]
    header += [*([] if shares else ["p"]), *(["p (Holm)"] if adjusted else [])]
    lines = []
    for row in rows:
        change = "each unit" if row.first is None else f"{row.first} \u2212 {row.second}"
        form = _percent_of(row)
        lines.append(
            [
                row.option,
                row.setting or "as they are",
                *([] if shares else [row.variable or "", change]),
                form(row.estimate),
                form(row.std_error),
                interval(row.conf_low, row.conf_high, form),
                *([] if shares else [p_value(row.p_value)]),
                *([p_value(row.p_adjusted)] if adjusted else []),
            ]
        )
    scale = "logit scale" if shares else "Wald"
    together = ", intervals of all pairs hold together" if adjusted else ""
    df = [row.df for row in rows if row.df is not None]
    return "\n".join(
        [
            format_table(header, lines, right=header[2 if shares else 4 :]),
            "",
            f"{100 * rows[0].conf_level:g} % intervals ({scale}){together}. Averages over the people of the file and "
            "the population that they stand for.",
            *([f"Errors are those of the sampling design, with {_degrees(df)}."] if df else []),
        ]
    )


def _percent_of(row: PredictionRow) -> Callable[[float | None], str]:
    """Percent with more digits where a unit is small, so that an error has two."""
    if not 0 < row.std_error < math.inf:
        return percent
    digits = max(1, 1 - math.floor(math.log10(100 * row.std_error)))
    if digits <= MOST_DIGITS:
        return lambda value: percent(value, digits)
    return lambda value: f"{number(None if value is None else 100 * value)} %"


def _whole(fit: Fit | MomentFit) -> str:
    from deniable_research.regression import Fit

    if not isinstance(fit, Fit):
        return f", standard deviation of residuals {number(fit.sigma)}"
    glance = fit.glance()
    text = f", log-likelihood {number(glance.loglik, 6)}"
    if glance.p_value == glance.p_value:
        text += (
            f", against no covariates chi2({glance.lr_df}) = {number(glance.lr_statistic)}, p {p_value(glance.p_value)}"
        )
    return text + (f", penalty {glance.penalty}" if glance.penalty else "")

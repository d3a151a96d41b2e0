"""Results as tables for people: the columns of each kind of row, and the sentences below the table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from deniable_research.files.correcting import CORRECTED
from deniable_research.files.model_tables import printed
from deniable_research.files.paper_table import PaperTable
from deniable_research.files.result_rows import MEASURES, ComparisonRow, CrosstabRow
from deniable_research.output import counted
from deniable_statistics.published.columns import (
    BOUNDS,
    COHORT,
    OPEN,
    OPTION,
    QUESTION,
    ROBUST,
    Column,
    Form,
    N,
    at_level,
    equation_of_p,
    figure,
    figures,
    form_of,
    has,
    interval,
    is_open,
    name_of_option,
    p_value,
    text_table,
)
from deniable_statistics.published.method_names import by_itself, method_name, methods_text
from deniable_statistics.published.printed_numbers import decimals_of, fixed, number, percent
from deniable_statistics.published.published_rows import EstimateRow
from deniable_statistics.regression.tidy import LIKELIHOOD_RATIO_Z
from deniable_statistics.robustness.misbehaviour import KINDS, Misbehaving
from deniable_statistics.views.few_reports import few_reports

if TYPE_CHECKING:
    from deniable_research.files.model_tables import FittedModel, ModelRow
    from deniable_research.files.predicting import PredictionRow
    from deniable_research.files.sensitivity import SensitivityRow
    from deniable_research.regression import Fit, GoodnessOfFit, MomentFit


MOST_DIGITS = 6
"""Largest number of decimals of a percentage; smaller figures are shown with significant digits instead."""


def name_of(row: EstimateRow) -> str:
    """The name of a row of estimates: its option, or its statistic if it is not a share."""
    return f"{row.option}, corrected" if row.statistic == CORRECTED else name_of_option(row)


def _form_of_measure(row: ComparisonRow) -> Form:
    """The form of a measure: percent for shares and their differences, else two significant digits of its error."""
    measure = MEASURES.get(row.measure)
    if measure and measure.is_share:
        return percent
    if row.std_error is None or not 0 < row.std_error < math.inf:
        return number
    decimals = decimals_of(row.std_error)
    return number if decimals > MOST_DIGITS else lambda value: fixed(value, decimals)


def _form_of_prediction(row: PredictionRow) -> Form:
    """The form of a prediction: percent, with enough decimals for two significant digits of its standard error."""
    if not 0 < row.std_error < math.inf:
        return percent
    digits = max(1, decimals_of(100 * row.std_error))
    if digits <= MOST_DIGITS:
        return lambda value: percent(value, digits)
    return lambda value: f"{number(None if value is None else 100 * value)} %"


def _test(row: Any) -> str:
    """A statistic with its degrees of freedom: F under a sampling design, else chi-squared."""
    if getattr(row, "df_error", None) is not None:  # which rows of a complex sample alone have
        return f"F({number(row.df)}, {number(row.df_error)}) = {number(row.statistic)}"
    return f"\u03c7\u00b2({row.df}) = {number(row.statistic)}"


def _measure(row: ComparisonRow) -> str:
    """The words for a measure between two cohorts, or for the hypothesis of a test."""
    if row.measure in MEASURES:
        return MEASURES[row.measure].words.format(first=row.first, second=row.second)
    if row.measure == "departure":
        return "departure from a straight line"
    return f"all {'arms' if row.method == 'likelihood-ratio' else 'cohorts'} equal"


_P = Column("p", lambda row: p_value(row.p_value))
_HOLM = Column(
    "p (Holm)", lambda row: "" if row.p_adjusted is None else p_value(row.p_adjusted), is_shown=has("p_adjusted")
)
_COMPARED, _COMPARED_ERROR, _COMPARED_ENDS = figures(_form_of_measure)


def _is_impossible(row: EstimateRow) -> bool:
    """Whether an unbiased share is below 0 or above 1, as small ones can be."""
    return row.statistic != "mean" and row.estimate is not None and not 0 <= row.estimate <= 1


SHARES = (QUESTION, replace(OPTION, cell=name_of), COHORT, N, *figures())
MOST_LIKELY = Column("Most likely", figure("feasible", form_of), is_shown=lambda rows: any(map(_is_impossible, rows)))
FAKES = Column("1 % fakes", lambda row: "" if row.fake_margin is None else f"\u00b1{form_of(row)(row.fake_margin)}")
SUSPECTED = (replace(BOUNDS, is_shown=bool), replace(ROBUST, is_shown=bool))
SENSITIVITY = (
    QUESTION,
    OPTION,
    Column("Misbehaving", lambda row: percent(row.misbehaving)),
    *SUSPECTED,
    Column("Corrected", figure("corrected"), is_shown=has("corrected")),
    Column(
        "CI of corrected",
        lambda row: interval(row.corrected_low, row.corrected_high, form_of(row)),
        is_shown=has("corrected"),
        has_level=True,
    ),
)
COMPARISONS = (
    QUESTION,
    Column("Option", lambda row: row.option or "all", is_text=True),
    Column("Comparison", _measure, is_text=True),
    # A test stands in the place of an estimate: it has neither an error nor an interval.
    replace(_COMPARED, cell=lambda row: _COMPARED.cell(row) if row.df is None else _test(row)),
    replace(_COMPARED_ERROR, cell=lambda row: _COMPARED_ERROR.cell(row) if row.df is None else ""),
    _COMPARED_ENDS,
    _P,
    _HOLM,
)
MODELS = (
    Column("Model", attrgetter("formula"), is_text=True),
    # Seven digits, because likelihoods of thousands of reports differ in the last ones alone.
    Column("Log-likelihood", lambda row: number(row.loglik, 7)),
    Column("Parameters", lambda row: str(row.parameters)),
    Column("AIC", lambda row: number(row.aic, 7)),
    Column("BIC", lambda row: number(row.bic, 7)),
    Column("Against the first", lambda row: row.note or ("" if row.df is None else _test(row))),
    Column("p", lambda row: "" if row.df is None else p_value(row.p_value)),
)
PREDICTIONS = (
    Column("Option", attrgetter("option"), is_text=True),
    Column("At", lambda row: row.setting or "as they are", is_text=True),
    Column("Variable", lambda row: row.variable or "", is_text=True, is_shown=has("variable")),
    Column(
        "Change",
        lambda row: "each unit" if row.first is None else f"{row.first} \u2212 {row.second}",
        is_text=True,
        is_shown=has("variable"),
    ),
    *figures(_form_of_prediction),
    replace(_P, is_shown=has("variable")),
    _HOLM,
)


def shares_table(
    rows: Sequence[EstimateRow], suspected: Misbehaving | None = None, cohorts: str = COHORT.heading
) -> PaperTable:
    """Estimates with their intervals; if misbehaviour is suspected, also bounds and robust intervals.

    `cohorts` is the heading of the column that names the cohort of each row.
    """
    if not rows:
        return PaperTable((), notes=("Nobody has a cohort: the file has no rows.",))
    whose = (
        "the respondents alone"
        if any(row.target == "respondents" for row in rows)
        else "the population that the respondents represent"
    )
    columns = [replace(each, heading=cohorts) if each is COHORT else each for each in SHARES]
    fakes = "1 % fakes: how far the estimate can move if one report in a hundred is fake."
    share = rows[0].assumed_fake
    return PaperTable.of(
        [*columns, MOST_LIKELY, *([FAKES] if suspected is None else SUSPECTED)],
        rows,
        *few_reports(rows),
        IMPOSSIBLE if any(map(_is_impossible, rows)) else "",
        f"{_intervals(rows)} for {whose}.",
        _assumed(share),
        _errors(getattr(row, "df", None) for row in rows),
        _suspicion(suspected)
        if suspected is not None
        else fakes + (" The intervals do not include that." if share is None else ""),
    )


IMPOSSIBLE = (
    "Estimates are unbiased, so a small share can be below 0 %. Most likely: the most likely possible values, which "
    "pages show and a paper reports."
)
"""What is said below estimates of which one is impossible."""


def _assumed(share: float | None) -> str:
    """A sentence on the intervals if a share of the reports is assumed to be fake."""
    if share is None:
        return ""
    return f"They hold the figures behind the other rows if up to {percent(share)} of all are fake, whatever these say."


def _suspicion(suspected: Misbehaving) -> str:
    what = "; or ".join(KINDS[kind] for kind in suspected.kinds)
    whose = "everybody" if suspected.among == "everybody" else "those who do as they are told"
    return (
        f"Bounds and robust interval: among {whose}, if at most {percent(suspected.share)} of the people misbehave.\n"
        f"They may give {what}.\nThe robust interval holds all the same; the plain one need not."
    )


def sensitivity_table(rows: Sequence[SensitivityRow], suspected: Misbehaving) -> PaperTable:
    """The table of a sensitivity analysis: figures by the share of people who misbehave."""
    exactly = "Corrected: among the others, if exactly so many misbehave, and that has nothing to do with the truth."
    return PaperTable.of(
        SENSITIVITY,
        rows,
        exactly if has("corrected")(rows) else "",
        _suspicion(suspected),
    )


def comparison_table(rows: Sequence[ComparisonRow]) -> PaperTable:
    """The table of differences, ratios and tests, a row for each."""
    # A ratio from 0 on has no limits, if it may also be infinite.
    rows = [
        replace(row, conf_low=-math.inf) if row.conf_low == 0 and row.conf_high == math.inf else row for row in rows
    ]
    # The sentence itself says how all of them hold at once.
    figures = [replace(row, method=by_itself(row.method)) for row in rows if row.df is None]
    return PaperTable.of(
        COMPARISONS,
        rows,
        f"{_intervals(figures or rows)}{_together(rows)}.",
        _apart(figures),
        OPEN if any(map(is_open, figures)) else "",
        _errors(getattr(row, "df_error", None) for row in figures),
        *dict.fromkeys(f"{_measure(row).capitalize()}: {method_name(row.method)} test." for row in rows if row.df),
    )


def _with_sentences(table: str, *sentences: str) -> str:
    return "\n".join([table, "", *filter(None, sentences)])


def _ci(confidence_level: float) -> str:
    """What the column of intervals is called."""
    return f"{100 * confidence_level:g} % CI"


def _intervals(rows: Sequence[Any]) -> str:
    """The column of intervals with the methods behind it, as the beginning of a sentence."""
    return f"{_ci(rows[0].conf_level)}: {methods_text(row.method for row in rows)} intervals"


def _together(rows: Sequence[Any]) -> str:
    adjusted = [row for row in rows if row.p_adjusted is not None]
    if not adjusted:
        return ""
    # Each option has a level of its own: with several, intervals of different options do not hold together.
    several = len({row.option for row in adjusted}) > 1
    return f"; {'for each option, ' if several else ''}the intervals of all pairs hold together"


def _apart(rows: Sequence[Any]) -> str:
    """A sentence on intervals of several options, among which pages of results share a confidence level."""
    if len({row.option for row in rows if row.measure == "difference"}) < 2:
        return ""
    return (
        "The intervals are not simultaneous for the options. Where a page of results shows the same differences, its "
        "intervals are, and are therefore wider at the same confidence level."
    )


def _errors(df: Iterable[float | None]) -> str:
    """A sentence on standard errors under a sampling design; empty if they have no degrees of freedom."""
    # Rows differ, because a domain counts only the strata and clusters that have somebody in it.
    known = [each for each in df if each is not None]
    if not known:
        return ""
    low, high = min(known), max(known)
    range_of = number(low) if low == high else f"{number(low)} to {number(high)}"
    return f"Errors are those of the sampling design, with {range_of} degree{'' if high == 1 else 's'} of freedom."


def crosstab_table(rows: Sequence[CrosstabRow]) -> PaperTable:
    """The table of the cells of a crosstab, with sentences on the association of its columns."""
    cells = [row for row in rows if row.measure in ("joint", "conditional")]
    among = f" among people with each answer to {rows[0].given}" if rows[0].given else ""
    whom = (
        f"a sum of weights of {number(rows[0].n)}"
        if rows[0].weighted
        else counted(round(rows[0].n), "person", "people")
    )
    sentences = [
        f"{'Shares' + among if cells else 'Correlation'}, {whom}.",
        *(sentence for row in rows for sentence in _association(row)),
        # In rows of tests df_error is the denominator of F, not of a standard error.
        _errors(getattr(row, "df_error", None) for row in rows if row.df is None),
    ]
    if not cells:
        return PaperTable((), notes=tuple(filter(None, sentences)))
    places = [place for place in ("first", "second", "third") if getattr(cells[0], place) is not None]
    columns = [Column(getattr(cells[0], each), attrgetter(f"{each}_option"), is_text=True) for each in places]
    feasible = Column("Most likely", lambda row: percent(row.feasible), is_shown=has("feasible"))
    return PaperTable.of([*columns, *figures(lambda _row: percent), feasible], cells, *sentences)


def _association(row: CrosstabRow) -> Iterator[str]:
    """Sentences on the association of columns, and the note of a row."""
    if row.measure == "independence":
        yield f"Independence: {_test(row)}, {equation_of_p(row.p_value)}."
    elif row.measure in ("correlation", "odds ratio"):
        # As in `model_tables.printed`: an odds ratio has no lower limit at 0, because its logarithm has none.
        shown = replace(row, conf_low=-math.inf) if (row.measure, row.conf_low) == ("odds ratio", 0) else row
        held = interval(shown.conf_low, shown.conf_high, number)
        yield f"{row.measure.capitalize()}: {number(row.estimate)} ({_ci(row.conf_level)}: {held})."
        if is_open(shown) and held != "no limits":
            yield OPEN
    if row.note:
        yield f"About the {row.measure}: {row.note}."


def regression_text(
    model: FittedModel,
    confidence_level: float,
    *,
    all_terms: bool = False,
    odds_ratios: bool = False,
    hidden_by: str = "--all-terms",
) -> str:
    """The table of coefficients, with sentences on the whole fit; ``hidden_by`` says what has the terms left out."""
    fit, df = model.fit, model.fit.df
    rows = model.odds_ratios if odds_ratios else model.rows if all_terms else model.outcome_rows
    rows = tuple(printed(row, odds_ratios) for row in rows)
    estimate, error, conf = figures(lambda _row: number)
    columns = [
        Column("Term", attrgetter("term"), is_text=True),
        *([replace(estimate, heading="Odds ratio")] if odds_ratios else [estimate, error]),
        # Student's t with infinitely many degrees of freedom, as without a sampling design, is the normal z.
        Column("z" if df == math.inf else "t", lambda row: number(row.statistic, 3)),
        _P,
        at_level(conf, confidence_level),
    ]
    # The terms of the predictors' own shares are nuisance parameters, so by default they are counted, not shown.
    hidden = 0 if odds_ratios else len(model.rows) - len(rows)
    return _with_sentences(
        text_table(columns, rows),
        f"{_ci(confidence_level)}: {method_name(model.interval)} intervals. {counted(fit.n, 'row')}{_whole(fit)}.",
        OPEN if any(map(is_open, rows)) else "",
        LIKELIHOOD_RATIO_Z if model.interval == "profile" else "",
        f"{counted(hidden, 'term')} for the distribution of the true predictors not shown: {hidden_by}."
        if hidden
        else "",
        "" if df == math.inf else _errors([df]),
    )


def models_text(rows: Sequence[ModelRow]) -> str:
    """The table of models of the same reports, a row for each."""
    return text_table(MODELS, rows)


def goodness_text(found: GoodnessOfFit) -> str:
    """The test of goodness of fit, in one line."""
    if not found.draws and not found.df > 0:
        return f"Fit: {counted(found.patterns, 'pattern')} and as many parameters leave nothing to test."
    if not found.draws:
        df = f"({found.df})"
        how = f"over {counted(found.patterns, 'pattern')} of reports and covariates"
    else:
        df = ""
        how = f"over {counted(found.groups, 'group')} by fitted share, p from {found.draws} studies that the model drew"
    pearson = f"Pearson \u03c7\u00b2{df} = {number(found.pearson)}, {equation_of_p(found.pearson_p)}"
    return f"Fit: {pearson}; deviance G\u00b2{df} = {number(found.deviance)}, {equation_of_p(found.deviance_p)}; {how}."


def prediction_table(rows: Sequence[PredictionRow]) -> PaperTable:
    """The table of a model's predictions, a row for each."""
    return PaperTable.of(
        PREDICTIONS,
        rows,
        f"{_ci(rows[0].conf_level)}: {method_name('logit' if rows[0].measure == 'share' else 'wald')} intervals"
        f"{_together(rows)}. "
        "Averages over the people of the file and the population that they stand for.",
        _errors(row.df for row in rows),
    )


def _whole(fit: Fit | MomentFit) -> str:
    """The figures of a whole fit, as the end of a sentence."""
    from deniable_research.regression import Fit

    if not isinstance(fit, Fit):
        return f", standard deviation of residuals {number(fit.sigma)}"
    glance = fit.glance()
    text = f", log-likelihood {number(glance.loglik, 6)}"
    # NaN, which differs from itself, for a model without covariates: there is nothing to test.
    if glance.p_value == glance.p_value:
        ratio = f"\u03c7\u00b2({glance.lr_df}) = {number(glance.lr_statistic)}"
        text += f", against no covariates {ratio}, {equation_of_p(glance.p_value)}"
    return text + (f", penalty {glance.penalty}" if glance.penalty else "")

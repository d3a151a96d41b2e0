"""The panels of the chart of intervals, for each kind of analysis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable_research.files.model_tables import FittedModel, labels_of
from deniable_research.files.printing import name_of
from deniable_research.files.result_rows import MEASURES, ComparisonRow, CrosstabRow
from deniable_research.regression.term_labels import NO_LABELS, Labels
from deniable_statistics.published.charts import Mark, Panel
from deniable_statistics.published.columns import WHERE_IT_APPLIES
from deniable_statistics.published.published_rows import EstimateRow

if TYPE_CHECKING:
    from deniable_research.files.predicting import PredictionRow


def share_panels(rows: Iterable[EstimateRow]) -> list[Panel]:
    """Panels of estimates: one for the shares of each question and one for each mean; cohorts are series."""
    subjects: dict[tuple[str, str], list[Mark]] = {}
    for row in rows:
        if row.estimate is not None:
            robust = None if row.robust_low is None or row.robust_high is None else (row.robust_low, row.robust_high)
            mark = Mark(name_of(row), row.estimate, row.conf_low, row.conf_high, row.cohort, robust)
            statistic = row.statistic if row.statistic in ("mean", "among") else "share"
            subjects.setdefault((row.question, statistic), []).append(mark)
    return [
        Panel(f"{question}: mean", "mean", tuple(marks), False, None)
        if statistic == "mean"
        else Panel(question if statistic == "share" else f"{question}: {WHERE_IT_APPLIES}", "share", tuple(marks))
        for (question, statistic), marks in subjects.items()
    ]


def comparison_panels(rows: Sequence[ComparisonRow]) -> list[Panel]:
    """Panels of comparisons, one for each measure: differences and ratios have no common axis."""
    panels = []
    for name, measure in MEASURES.items():
        marks = []
        for row in rows:
            # NaN, such as a ratio to a share of 0, has no place on an axis.
            if row.measure == name and row.estimate is not None and row.estimate == row.estimate:
                assert row.conf_low is not None
                assert row.conf_high is not None
                line = ": ".join(filter(None, (row.option, f"{row.first} {measure.sign} {row.second}")))
                marks.append(Mark(line, row.estimate, row.conf_low, row.conf_high))
        if marks:
            title, equal = f"{rows[0].question}: {measure.title}", measure.equal
            panels.append(Panel(title, measure.title, tuple(marks), measure.is_share, (equal, equal), equal))
    return panels


def crosstab_panels(rows: Sequence[CrosstabRow]) -> list[Panel]:
    """Panels of a crosstab, one for each answer to the first (or given) question; a third question makes series."""
    panels: dict[str, list[Mark]] = {}
    for row in rows:
        answers = {row.first: row.first_option, row.second: row.second_option}
        if row.third is not None:
            answers[row.third] = row.third_option
        if row.measure not in ("joint", "conditional") or row.estimate is None or math.isnan(row.estimate):
            continue
        assert row.conf_low is not None
        assert row.conf_high is not None
        # Conditional shares add up to 1 for each given answer, so each such answer has a panel.
        head = row.given or row.first
        line, *series = [f"{name}: {answer}" for name, answer in answers.items() if name != head]
        title = f"{'among ' if row.given else ''}{head}: {answers[head]}"
        mark = Mark(line, row.estimate, row.conf_low, row.conf_high, series[0] if series else None)
        panels.setdefault(title, []).append(mark)
    axis = f"share among people with each answer to {rows[0].given}" if rows[0].given else "share of all people"
    return [Panel(name, axis, tuple(marks)) for name, marks in panels.items()]


def term_panels(models: Sequence[FittedModel], odds_ratios: bool = False, labels: Labels = NO_LABELS) -> list[Panel]:
    """The forest plot of regressions: a line for each term of the outcome, a series for each model.

    With `labels` it shows no formula: the outcome is its title.

    Raises
    ------
    ParameterError
        If there is nothing to draw: intercepts of odds have no place among odds ratios.
    """
    marks, terms = [], labels_of(models, labels)
    outcomes = dict.fromkeys(model.outcome_label(labels) for model in models)
    for place, model in enumerate(models, start=1):
        series = f"({place}) {model.formula}" if len(models) > 1 else None
        if series and labels:
            series = f"({place}) {model.outcome_label(labels)}" if len(outcomes) > 1 else f"({place})"
        for row in model.odds_ratios if odds_ratios else model.plotted_rows:
            # A logarithmic axis has no place for 0, the ratio of a coefficient at minus infinity.
            if math.isfinite(row.estimate) and (row.estimate > 0 or not odds_ratios):
                marks.append(Mark(terms.get(row.term, row.term), row.estimate, row.conf_low, row.conf_high, series))
    if not marks:
        raise ParameterError("plot: must be of a model with effects to draw, got none")
    if labels and len(outcomes) == 1:
        title = next(iter(outcomes))
    else:
        title = models[0].formula if len(models) == 1 else f"{len(models)} models"
    equal = 1.0 if odds_ratios else 0.0
    title += ": odds ratios" if odds_ratios else ""
    axis = (
        "odds ratio" if odds_ratios else "log odds ratio" if all(each.is_of_odds for each in models) else "coefficient"
    )
    return [Panel(title, axis, tuple(marks), share=False, within=(equal, equal), reference=equal, log=odds_ratios)]


def prediction_panels(rows: Sequence[PredictionRow]) -> list[Panel]:
    """Panels of predictions, one for each setting; the options of a choice are series."""
    panels: dict[str, list[Mark]] = {}
    # With several options each is a series and in the legend; a single one is named in the title instead.
    several = len({row.option for row in rows}) > 1
    for row in rows:
        if not math.isfinite(row.estimate):
            continue
        if row.measure == "share":
            title, line = "average shares", row.setting or "people as they are"
        else:
            title = {"difference": "differences of average shares"}.get(row.measure, "average marginal effects")
            title += f" at {row.setting}" if row.setting else ""
            line = row.variable or ""
            line += f": {row.first} \u2212 {row.second}" if row.first is not None else ", for each unit"
        title = title if several else f"{row.option}: {title}"
        mark = Mark(line, row.estimate, row.conf_low, row.conf_high, row.option if several else None)
        panels.setdefault(title, []).append(mark)
    within = (0.0, 1.0) if rows[0].measure == "share" else (0.0, 0.0)
    axes = {"share": "average share", "difference": "difference of average shares"}
    axis = axes.get(rows[0].measure, "average marginal effect on the share")
    return [Panel(title, axis, tuple(marks), within=within) for title, marks in panels.items()]

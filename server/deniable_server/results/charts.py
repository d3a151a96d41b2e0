"""The figure of a survey's results for a paper or a talk: an image to download. The page itself has `drawing`."""

from __future__ import annotations

import functools

from deniable import EstimateRow, Survey
from deniable.access.words import ONE_REPORT
from deniable_server.results.drawing import MOST_ROWS, axis_of, shown_point
from deniable_statistics.published.charts import Axis, Mark, Panel, interval_chart, render


@functools.lru_cache(maxsize=64)
def estimates_chart(survey: Survey, rows: tuple[EstimateRow, ...], form: str = "svg") -> bytes:
    """Draw every share and mean with its interval, a panel for each question.

    Every axis is fixed: 0 to 100 %, or the numbers that can be answered. What reaches beyond is an arrow, and a point
    is the most likely possible value, so that a cohort of six looks like one and stretches nothing.

    Parameters
    ----------
    survey : Survey
    rows : tuple of EstimateRow
        As `deniable.estimate` gives them; `drawing.can_draw` says whether they fit.
    form : {"svg", "png"}
    """
    panels = []
    for question in survey.questions:
        for statistic in ("share", "mean"):
            axis = axis_of(question, statistic)
            mine = [row for row in rows if (row.question, row.statistic) == (question.id, statistic)]
            if mine:
                panels.append(Panel(str(question.text), "", tuple(_mark(row, axis) for row in mine), fixed=axis))
    foot = f"Access {survey.access}: {ONE_REPORT[survey.access]}"
    # The address of the survey as salt: the same numbers give the same bytes, and two charts in a page no name twice.
    return render(lambda: interval_chart(panels, foot, MOST_ROWS), form, survey.id)


def _mark(row: EstimateRow, axis: Axis) -> Mark:
    ends = (row.conf_low, row.conf_high)
    return Mark(row.option or "mean", row.estimate, *ends, row.cohort, point=shown_point(row, axis))

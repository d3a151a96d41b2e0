"""The chart of a survey's results as an image to download; the chart within the page is that of `drawing`."""

from __future__ import annotations

import functools

from deniable import EstimateRow, Survey
from deniable.access.words import ONE_REPORT
from deniable_server.results.drawing import MOST_ROWS, panels_of
from deniable_statistics.published.charts import interval_chart, render


@functools.lru_cache(maxsize=64)
def estimates_chart(survey: Survey, rows: tuple[EstimateRow, ...], form: str = "svg") -> bytes:
    """Draw every share and mean with its interval, a panel for each question.

    Every axis is fixed: 0 to 100 %, or the range of possible numbers. An arrow stands for an interval that reaches
    beyond, and a point is the most likely possible value, so that the wide intervals of a small cohort stretch no
    axis.

    Parameters
    ----------
    survey : Survey
    rows : tuple of EstimateRow
        As `deniable.estimate` gives them; `drawing.can_draw` says whether they fit.
    form : {"svg", "png"}
    """
    panels = [
        panel
        for question in survey.questions
        for panel in panels_of(question, [row for row in rows if row.question == question.id])
    ]
    foot = f"Access {survey.access}: {ONE_REPORT[survey.access]}"
    # The address of the survey as salt: the same numbers give the same bytes, and two charts in a page no name twice.
    return render(lambda: interval_chart(panels, foot, MOST_ROWS), form, survey.id)

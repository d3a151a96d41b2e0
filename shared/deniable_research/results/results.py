"""Reports and all that can be asked of them."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deniable.access.words import ONE_REPORT
from deniable.errors import ParameterError, describe
from deniable_research.files import Table, compare, cross, estimate_shares, regress
from deniable_research.files.models import FittedModel
from deniable_research.files.panels import comparison_panels, crosstab_panels, share_panels
from deniable_research.files.paper import noise_notes
from deniable_research.files.printing import comparison_text, crosstab_text, shares_text
from deniable_research.files.regressing import questions_in
from deniable_research.files.shares import cautions
from deniable_research.files.table import read_number
from deniable_research.output import counted
from deniable_research.results.shown import Chart, Regression, Result
from deniable_statistics.published.published_rows import EstimateOptions


@dataclass(frozen=True, eq=False)
class Results:
    """Reports of many people; `deniable_research.read` makes it.

    Attributes
    ----------
    table : Table
        What everything is computed from, for whoever needs more than is here.

    Examples
    --------
    >>> from deniable_research import read
    >>> frame = pd.DataFrame({"q": ["yes"] * 430 + ["no"] * 570, "wave": [1, 2] * 500})
    >>> results = read(frame, "q: forced-response truth=1/2")
    >>> results.regress("q ~ 1").predict().to_frame()[["estimate", "std_error"]].round(4).values.tolist()
    [[0.36, 0.0313]]
    """

    table: Table

    @property
    def questions(self) -> tuple[str, ...]:
        """The names of the randomised questions."""
        return tuple(question.name for question in self.table.layout.questions)

    @property
    def access(self) -> str | None:
        """Who was counted, as `deniable.Survey.access` has it: whether reports are people; None of other files."""
        return self.table.access

    def shares(self, *questions: str, by: str | None = None, **options: Any) -> Result:
        """Shares and means of some questions or of all; options are those of `EstimateOptions`."""
        names = _names(questions, "questions") or self.questions
        rows = estimate_shares(self.table, names, by=by, wanted=EstimateOptions(**options))
        doubts = cautions(self.table, names, by)
        return Result(tuple(rows), shares_text(rows), tuple(doubts), lambda: share_panels(rows), access=self.access)

    def compare(self, question: str, by: str | None = None, **settings: Any) -> Result:
        """A question between cohorts, by default those of the survey; as `deniable_research.files.compare`."""
        _names((question,), "question")
        by = by or self.table.layout.cohort
        if by is None:
            raise ParameterError("by: must name the column of cohorts")
        rows = compare(self.table, question, by, **settings)
        doubts = cautions(self.table, [question], by)
        text = comparison_text(rows)
        return Result(tuple(rows), text, tuple(doubts), lambda: comparison_panels(rows), access=self.access)

    def crosstab(self, *columns: str, **settings: Any) -> Result:
        """Two or three columns together, as `deniable_research.files.cross`."""
        rows = cross(self.table, _names(columns, "columns"), **settings)
        doubts = cautions(self.table, [name for name in columns if self.table.layout.has(name)])
        text = crosstab_text(rows)
        return Result(tuple(rows), text, tuple(doubts), lambda: crosstab_panels(rows), access=self.access)

    def regress(
        self,
        formula: str,
        *,
        confidence_level: float = 0.95,
        kind: str | None = None,
        interval: str | None = None,
        **settings: Any,
    ) -> Regression:
        """A model, as `deniable_research.files.regress`; `kind` and `interval` are those of `Fit.tidy`."""
        fit = regress(self.table, formula, **settings)
        questions = questions_in(self.table, formula)
        model = FittedModel.of(formula, fit, confidence_level, kind, interval)
        doubts = cautions(self.table, questions)
        return Regression.of(model, doubts, noise_notes(self.table, questions), confidence_level, self.access)

    def plot(self, *questions: str, by: str | None = None, **options: Any) -> Chart:
        """The chart of `shares`."""
        return self.shares(*questions, by=by, **options).plot()

    def to_frame(self) -> pd.DataFrame:
        """The columns as they stand in the file, a row for each person: noisy reports, and all else.

        Raises
        ------
        ParameterError
            If rows were counted.
        """
        if self.table.frequencies is not None:
            raise ParameterError("to_frame: must be of each person's row, got rows that were counted")
        found = {}
        for name in self.table.columns:
            column = self.table.columns[name].without(self.table.layout.missing)
            numbers = column.map(read_number)
            is_number = (numbers.present == column.present).all()
            found[name] = numbers.array(float, np.nan) if is_number else column.array(object, None)
        return pd.DataFrame(found)

    def __len__(self) -> int:
        return self.table.people

    def __repr__(self) -> str:
        rows = counted(len(self), "person", "people")
        if self.access is not None:
            rows = f"{counted(len(self), 'report')}, {ONE_REPORT[self.access]}"
        return f"Results({rows}; {', '.join(self.questions)})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def _names(given: tuple[str, ...], subject: str) -> tuple[str, ...]:
    """The names as they are; a list of names among them is refused."""
    for name in given:
        if not isinstance(name, str):
            raise ParameterError(f'{subject}: must be names one by one, like "a", "b", got {describe(name)}')
    return given

"""The reports of a study as one object, with every analysis as a method."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deniable.access.words import ONE_REPORT
from deniable.errors import ParameterError, describe
from deniable_research.files import Table, compare, cross, estimate_shares, regress
from deniable_research.files.estimating import cautions
from deniable_research.files.labels import Names, labelled, labelled_notes
from deniable_research.files.model_specification import questions_in
from deniable_research.files.model_tables import FittedModel
from deniable_research.files.panels import comparison_panels, crosstab_panels, share_panels
from deniable_research.files.paper import noise_notes
from deniable_research.files.paper_table import PaperTable
from deniable_research.files.printing import comparison_table, crosstab_table, shares_table
from deniable_research.files.report_table import read_number
from deniable_research.output import counted
from deniable_research.regression.term_labels import NO_LABELS, Labels
from deniable_research.results.presentation import Chart, Regression, Result
from deniable_statistics.estimates.estimate import DEFAULT_METHOD
from deniable_statistics.published.charts import Panel
from deniable_statistics.published.columns import COHORT
from deniable_statistics.published.published_rows import EstimateOptions
from deniable_statistics.robustness.misbehaviour import Misbehaving


@dataclass(frozen=True, eq=False)
class Results:
    """Reports of many people; `deniable_research.read` makes it.

    Attributes
    ----------
    table : Table
        The table from which everything is computed, for analyses that this class does not have.

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
        """`deniable.Survey.access` of a collector's survey, which says whether reports are people; else None."""
        return self.table.access

    def shares(
        self,
        *questions: str,
        by: str | None = None,
        confidence_level: float = 0.95,
        method: str = DEFAULT_METHOD,
        target: str = "population",
        simultaneous: bool = False,
        misbehaving: Misbehaving | None = None,
        assume_fake: float | None = None,
    ) -> Result:
        """Shares and means of some questions or of all, for each label of the column `by`.

        The other arguments are those of `EstimateOptions`.
        """
        names = _names(questions, "questions") or self.questions
        wanted = EstimateOptions(confidence_level, method, target, simultaneous, misbehaving, assume_fake)
        rows = estimate_shares(self.table, names, by=by, wanted=wanted)
        column = by or ""

        def table(shown: Sequence[Any], labels: Labels) -> PaperTable:
            return shares_table(shown, cohorts=labels.get(column, COHORT.heading))

        return self._result(rows, table, share_panels, names, by)

    def compare(
        self,
        question: str,
        by: str | None = None,
        *,
        line: bool = False,
        options: Sequence[str] = (),
        confidence_level: float = 0.95,
    ) -> Result:
        """Differences of a question between cohorts, by default those of the survey.

        Parameters
        ----------
        question : str
            The question.
        by : str, optional
            The column of cohorts.
        line : bool
            Test for a linear trend over the cohorts.
        options : sequence of str
            The options to compare; by default all, or *yes* alone for a yes-no question.
        confidence_level : float

        Returns
        -------
        Result
            Rows as from `deniable_research.files.compare`, with `estimate`, `conf_low`, `conf_high` and `p_value`.
        """
        names = _names((question,), "question")
        # A survey has one column of cohorts, and a design file may name one.
        by = by or self.table.layout.cohort
        if by is None:
            raise ParameterError("by: must name the column of cohorts")
        rows = compare(self.table, question, by, line=line, options=options, confidence_level=confidence_level)
        return self._result(rows, lambda shown, _labels: comparison_table(shown), comparison_panels, names, by)

    def crosstab(
        self,
        *columns: str,
        given: str | None = None,
        permutations: int = 0,
        seed: int | None = None,
        confidence_level: float = 0.95,
    ) -> Result:
        """Two or three columns together, as `deniable_research.files.cross`."""
        rows = cross(
            self.table,
            _names(columns, "columns"),
            given=given,
            permutations=permutations,
            seed=seed,
            confidence_level=confidence_level,
        )
        asked = [name for name in columns if self.table.layout.has(name)]
        return self._result(rows, lambda shown, _labels: crosstab_table(shown), crosstab_panels, asked)

    def regress(
        self,
        formula: str,
        *,
        confidence_level: float = 0.95,
        model: str | None = None,
        likelihood: bool = False,
        penalty: str | None = "auto",
        cov_type: str | None = None,
        interval: str | None = None,
    ) -> Regression:
        """The model of a formula, whichever of its variables are randomised.

        Parameters
        ----------
        formula : str
            Such as ``"affair ~ age + religious + C(region)"``.
        confidence_level : float
        model : {"linear", "logistic"}, optional
            By default linear where the left side is numbers, and logistic where it is a randomised question or labels.
            For an ordinary column of 0 and 1, `"logistic"` gives log odds.
        likelihood, penalty
            Arguments of `deniable_research.files.regress`.
        cov_type, interval
            Arguments of `deniable_research.regression.Fit.tidy`.

        Returns
        -------
        Regression
            Its `fit.tidy()` also has the terms for the distribution of the true predictors.
        """
        fit = regress(self.table, formula, model=model, likelihood=likelihood, penalty=penalty)
        # Only the questions of the formula can make this model doubtful.
        questions = questions_in(self.table, formula)
        fitted = FittedModel.of(formula, fit, confidence_level, cov_type, interval)
        doubts = cautions(self.table, questions)
        notes = noise_notes(self.table.layout, questions)
        return Regression.of(fitted, doubts, notes, confidence_level, self.access, self._labelled_names)

    @property
    def _labelled_names(self) -> Names:
        return Names(self.table.layout, tuple(self.table.columns))

    def _result(
        self,
        rows: Sequence[Any],
        table: Callable[[Sequence[Any], Labels], PaperTable],
        panels: Callable[[Sequence[Any]], Sequence[Panel]],
        names: Sequence[str],
        by: str | None = None,
    ) -> Result:
        """The result of these rows, with the cautions about their questions."""
        # The panels of the chart and the table for a paper are functions: most results are neither drawn nor saved.
        doubts, notes = tuple(cautions(self.table, names, by)), noise_notes(self.table.layout, names)
        return Result(
            tuple(rows),
            str(table(rows, NO_LABELS)),
            doubts,
            lambda labels: panels(labelled(rows, labels)),
            access=self.access,
            table=lambda labels: table(labelled(rows, labels), labels).noted(labelled_notes(notes, labels)),
            names=self._labelled_names,
        )

    def plot(self, *questions: str, by: str | None = None, confidence_level: float = 0.95) -> Chart:
        """The chart of `shares` with its other settings left out; ``shares(...).plot()`` draws it with any of them."""
        return self.shares(*questions, by=by, confidence_level=confidence_level).plot()

    def to_frame(self) -> pd.DataFrame:
        """All columns of the file, with a row for each person: noisy reports and plain columns.

        Raises
        ------
        ParameterError
            If equal rows were counted, so that there is no row for each person.
        """
        # Equal rows were counted by the columns of one analysis alone: the others are not in this table.
        if self.table.frequencies is not None:
            raise ParameterError("to_frame: must be of each person's row, got rows that were counted")
        found = {}
        for name in self.table.columns:
            column = self.table.columns[name].without(self.table.layout.missing)
            # All values or none: a column of numbers and texts could be neither sorted nor compared.
            numbers = column.map(read_number)
            is_number = (numbers.present == column.present).all()
            found[name] = numbers.array(float, np.nan) if is_number else column.array(object, None)
        return pd.DataFrame(found)

    def __len__(self) -> int:
        return self.table.people

    def __repr__(self) -> str:
        rows = counted(len(self), "person", "people")
        # A collector's rows are reports, and only its access says whether each is a person.
        if self.access is not None:
            rows = f"{counted(len(self), 'report')}, {ONE_REPORT[self.access]}"
        return f"Results({rows}; {', '.join(self.questions)})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def _names(given: tuple[str, ...], subject: str) -> tuple[str, ...]:
    """The names as they are; a list of names among them is refused."""
    for name in given:
        # A list as the only name would be taken for one name, and its message would be about another mistake.
        if not isinstance(name, str):
            raise ParameterError(f'{subject}: must be names one by one, like "a", "b", got {describe(name)}')
    return given

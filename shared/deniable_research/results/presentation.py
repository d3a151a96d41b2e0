"""Results of an analysis as rows, a table of pandas, text, HTML for notebooks, and charts."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from deniable.access.words import ONE_REPORT
from deniable.errors import ParameterError, check_kind
from deniable_research.files.labels import Names, labelled, labelled_notes
from deniable_research.files.model_tables import FittedModel, ModelRow, against, compare_models
from deniable_research.files.panels import prediction_panels, term_panels
from deniable_research.files.paper import paper_table
from deniable_research.files.paper_table import PaperTable, markdown, save_paper
from deniable_research.files.predicting import predict
from deniable_research.files.printing import goodness_text, models_text, prediction_table, regression_text
from deniable_research.output import counted, field_names
from deniable_research.pictures import picture_bytes
from deniable_research.regression import Fit, GoodnessOfFit, MomentFit, goodness_of_fit
from deniable_research.regression.term_labels import NO_LABELS, Labels
from deniable_statistics.published.charts import Panel, interval_chart, render
from deniable_statistics.published.columns import p_value
from deniable_statistics.published.picture_size import PictureSize
from deniable_statistics.published.printed_numbers import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Chart:
    """A chart of intervals, which notebooks show.

    Attributes
    ----------
    panels : tuple of Panel
    """

    panels: tuple[Panel, ...]

    def __repr__(self) -> str:
        return f"Chart of {counted(len(self.panels), 'panel')}, which save(path) writes"

    def figure(
        self, *, width: float | None = None, height: float | None = None, font_size: float | None = None
    ) -> Figure:
        """The chart as a figure of matplotlib; the measures are those of `save`."""
        return interval_chart(self.panels, size=PictureSize(width, height, font_size))

    def save(
        self,
        path: str | Path,
        *,
        width: float | None = None,
        height: float | None = None,
        font_size: float | None = None,
        dpi: int | None = None,
    ) -> None:
        """Write the chart to a file, whose suffix is .svg, .png or .pdf.

        Parameters
        ----------
        path : str or Path
        width, height : float, optional
            In mm: by default 165 mm, and the height that the lines need.
        font_size : float, optional
            Size of letters in points, by default 10.
        dpi : int, optional
            Pixels in an inch, for .png; by default 200.

        Raises
        ------
        ParameterError
            If the suffix is another one, a measure is out of bounds, or the texts do not fit into the size.
        """
        where, size = Path(path), PictureSize(width, height, font_size, dpi)
        where.write_bytes(picture_bytes(where, lambda: interval_chart(self.panels, size=size), size))

    def _repr_svg_(self) -> str:
        return render(self.figure, "svg").decode()


@dataclass(frozen=True, repr=False)
class Result:
    """The rows of an analysis.

    Attributes
    ----------
    rows : tuple
        Rows from the function of `deniable_research.files`.
    text : str
        The table that the command line prints.
    cautions : tuple of str
        Sentences on what makes the rows doubtful.
    panels : callable, optional
        Makes the panels of the chart with labels; None if there is nothing to draw.
    access : str or None
        The access of the survey, which tells whether each report is a person; None for other files.
    table : callable or None
        Makes the `PaperTable` with labels, without the cautions; None if there is none.
    names : Names or None
        The questions and columns that can have labels; None if there are none.
    """

    rows: tuple[Any, ...]
    text: str = field(repr=False)
    cautions: tuple[str, ...] = ()
    panels: Callable[[Labels], Sequence[Panel]] | None = field(default=None, repr=False)
    access: str | None = field(default=None, kw_only=True)
    table: Callable[[Labels], PaperTable] | None = field(default=None, kw_only=True, repr=False)
    names: Names | None = field(default=None, kw_only=True, repr=False)

    def __str__(self) -> str:
        return "\n".join([self.text, *self._about, *(f"Caution: {each}" for each in self.cautions)])

    __repr__ = __str__

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def _about(self) -> tuple[str, ...]:
        # Whether reports are people changes what every row means, so it stands below each table.
        return () if self.access is None else (f"Each row is a report; {ONE_REPORT[self.access]}.",)

    def to_frame(self) -> pd.DataFrame:
        """The rows as a table of pandas with the columns of the CSV; its ``attrs`` hold the access of the survey."""
        names = field_names(type(self.rows[0]), self.rows) if self.rows else ()
        frame = pd.DataFrame([[getattr(row, name) for name in names] for row in self.rows], columns=list(names))
        if self.access is not None:
            # In attrs, because copies of a table keep them.
            frame.attrs["access"] = self.access
        return frame

    def _repr_html_(self) -> str:
        # Columns that are empty in all rows are left out, as in the text.
        table = (
            self.to_frame()
            .dropna(axis=1, how="all")
            .to_html(
                index=False,
                float_format=number,
                na_rep="",
                # A p-value of 1e-9 is shown as < 0.0001, not with all its digits.
                formatters=dict.fromkeys(("p_value", "p_adjusted"), p_value),
            )
        )
        doubts = "".join(f"<p><strong>Caution:</strong> {html.escape(each)}</p>" for each in self.cautions)
        about = "".join(f"<p>{html.escape(each)}</p>" for each in self._about)
        return str(table) + about + doubts

    def save(self, path: str | Path, *, labels: Labels | None = None) -> None:
        """Write the table for a paper to a file, whose suffix is .md, .tex, .html or .docx.

        Parameters
        ----------
        path : str or Path
        labels : mapping of str to str, optional
            What the table calls questions and columns, by their names.

        Raises
        ------
        ParameterError
            If there is no such table, the file cannot be written, or a label is of no question and no column.
        """
        if self.table is None:
            raise ParameterError("save: must be asked of a table, got none")
        checked = self._checked(labels)
        save_paper(self.table(checked).noted(labelled_notes(self.cautions, checked)), Path(path))

    def plot(self, *, labels: Labels | None = None) -> Chart:
        """The estimates with their intervals; `labels` are those of `save`.

        Raises
        ------
        ParameterError
            If there is nothing to draw, or a label is of no question and no column.
        """
        if self.panels is None:
            raise ParameterError("plot: must be asked of estimates with intervals, got none")
        return Chart(tuple(self.panels(self._checked(labels))))

    def _checked(self, labels: Labels | None) -> Labels:
        return NO_LABELS if self.names is None else self.names.checked(labels)


@dataclass(frozen=True, repr=False)
class Regression(Result):
    """A fitted model: its coefficients, predictions and tests.

    Attributes
    ----------
    model : FittedModel
    notes : tuple of str
        The design and epsilon of each randomised question.
    confidence_level : float
    """

    model: FittedModel = field(kw_only=True, repr=False)
    notes: tuple[str, ...] = field(default=(), kw_only=True, repr=False)
    confidence_level: float = field(default=0.95, kw_only=True)

    @classmethod
    def of(
        cls,
        model: FittedModel,
        cautions: Sequence[str],
        notes: Sequence[str],
        confidence_level: float,
        access: str | None = None,
        names: Names | None = None,
    ) -> Regression:
        """The result of a fitted model."""
        return cls(
            model.outcome_rows,
            regression_text(model, confidence_level, hidden_by="fit.tidy() has them"),
            tuple(filter(None, (model.fit.message, *cautions))),
            lambda labels: term_panels([model], labels=labels),
            model=model,
            notes=tuple(notes),
            confidence_level=confidence_level,
            access=access,
            table=lambda labels: paper_table([model], notes, confidence_level=confidence_level, labels=labels),
            names=names,
        )

    @property
    def fit(self) -> Fit | MomentFit:
        """The fit; ``fit.tidy()`` has all its terms."""
        return self.model.fit

    @property
    def params(self) -> pd.Series:
        """The estimates of the rows, by their terms; this and what follows have the names of statsmodels."""
        return self._by_term("estimate")

    @property
    def bse(self) -> pd.Series:
        """The standard errors of the rows, by their terms."""
        return self._by_term("std_error")

    @property
    def pvalues(self) -> pd.Series:
        """The p-values of the rows, by their terms."""
        return self._by_term("p_value")

    def conf_int(self) -> pd.DataFrame:
        """The ends of the intervals of the rows, by their terms."""
        return self.to_frame().set_index("term")[["conf_low", "conf_high"]]

    def summary(self) -> str:
        """The table that `print` shows."""
        return str(self)

    def _by_term(self, column: str) -> pd.Series:
        return self.to_frame().set_index("term")[column]

    def predict(self, *at: Mapping[str, object]) -> Result:
        """Average shares of the true answers, for the people as they are or with the values that each of `at` sets.

        See `deniable_research.files.predicting.predict`, also for `effects` and `contrast`.
        """
        return self._predicted(at)

    def effects(self, *at: Mapping[str, object]) -> Result:
        """Average marginal effects of all variables."""
        return self._predicted(at, effects=True)

    def contrast(self, variable: str, *at: Mapping[str, object]) -> Result:
        """Differences between all pairs of values of a variable."""
        return self._predicted(at, contrast=variable)

    def against(self, *formulas: str) -> Result:
        """This model compared with others of the same rows: likelihood ratio test, AIC and BIC."""
        others = against(self.fit, formulas)
        models = [
            self.model,
            *(self.model.beside(*each, self.confidence_level) for each in zip(formulas, others, strict=True)),
        ]
        # The others are fitted to the rows of this fit: likelihoods of different rows do not compare.
        rows: list[ModelRow] = compare_models(models)
        return Result(
            tuple(rows),
            models_text(rows),
            self.cautions,
            lambda labels: term_panels(models, labels=labels),
            access=self.access,
            names=self.names,
        )

    def goodness(self, *, draws: int = 199, seed: int = 1) -> Result:
        """A test of goodness of fit, as in `deniable_research.regression.goodness_of_fit`."""
        if not isinstance(self.fit, Fit):
            raise ParameterError("goodness: must be asked of maximum likelihood, got corrected least squares")
        found: GoodnessOfFit = goodness_of_fit(self.fit, draws=draws, seed=seed)
        return Result((found,), goodness_text(found), access=self.access)

    def odds_ratios(self, *, labels: Labels | None = None) -> Chart:
        """The forest plot of odds ratios; `labels` are those of `save`."""
        return Chart(tuple(term_panels([self.model], odds_ratios=True, labels=self._checked(labels))))

    def paper(
        self,
        *others: Regression,
        below: str = "errors",
        decimals: int | None = None,
        stars: bool = False,
        odds_ratios: bool = False,
        labels: Labels | None = None,
    ) -> PaperTable:
        """The table for a paper, with other models as further columns; see `deniable_research.files.paper`.

        `labels` are what the table calls questions and columns, by their names.
        """
        for other in others:
            check_kind(other, Regression, "each of the others")
        every = [self, *others]
        # Models of the same questions have the same notes, which a table says once.
        return paper_table(
            [each.model for each in every],
            tuple(dict.fromkeys(note for each in every for note in each.notes)),
            below=below,
            decimals=decimals,
            stars=stars,
            odds_ratios=odds_ratios,
            confidence_level=self.confidence_level,
            labels=self._checked(labels),
        )

    def markdown(
        self,
        *others: Regression,
        below: str = "errors",
        decimals: int | None = None,
        stars: bool = False,
        odds_ratios: bool = False,
        labels: Labels | None = None,
    ) -> str:
        """The table for a paper in Markdown."""
        table = self.paper(*others, below=below, decimals=decimals, stars=stars, odds_ratios=odds_ratios, labels=labels)
        return markdown(table)

    def _predicted(
        self, at: Sequence[Mapping[str, object]], effects: bool = False, contrast: str | None = None
    ) -> Result:
        rows = predict(self.fit, at=at, effects=effects, contrast=contrast, confidence_level=self.confidence_level)
        return Result(
            tuple(rows),
            str(prediction_table(rows)),
            self.cautions,
            lambda labels: prediction_panels(labelled(rows, labels)),
            access=self.access,
            table=lambda labels: prediction_table(labelled(rows, labels)).noted(labelled_notes(self.notes, labels)),
            names=self.names,
        )

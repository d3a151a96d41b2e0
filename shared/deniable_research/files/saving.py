"""Results of analyses as files: CSV and JSON in the form in which commands print them, and data sets with labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from deniable_research.output import field_names, rows_csv, to_json
from deniable_statistics.data.data_set import DataSet, Kind, Variable
from deniable_statistics.data.survey_data import RESULT_LABELS
from deniable_statistics.data.whole import replace_file
from deniable_statistics.data.writing import write_data_set

_LABELS: Mapping[str, tuple[Kind, str]] = RESULT_LABELS | {
    "statistic": (Kind.REAL, "Test statistic"),
    "df": (Kind.REAL, "Degrees of freedom; without them the statistic is standard normal"),
    "df_error": (Kind.REAL, "Degrees of freedom of the error, or the second ones of F"),
    "p_value": (Kind.REAL, "p-value"),
    "p_adjusted": (Kind.REAL, "p-value adjusted by Holm's method"),
    "design_effect": (Kind.REAL, "Variance over that of as many people drawn one by one"),
    "measure": (Kind.CATEGORY, "What the line is"),
    "first": (Kind.CATEGORY, "First column"),
    "first_option": (Kind.CATEGORY, "Answer to the first column"),
    "second": (Kind.CATEGORY, "Second column"),
    "second_option": (Kind.CATEGORY, "Answer to the second column"),
    "third": (Kind.CATEGORY, "Third column"),
    "third_option": (Kind.CATEGORY, "Answer to the third column"),
    "given": (Kind.CATEGORY, "Column among whose answers shares are"),
    "note": (Kind.TEXT, "What to know about the line"),
    "weighted": (Kind.WHOLE, "Whether people have weights"),
    "corrected": (Kind.REAL, "Estimate if exactly so many do"),
    "corrected_low": (Kind.REAL, "Lower end of its confidence interval"),
    "corrected_high": (Kind.REAL, "Upper end of its confidence interval"),
    "model": (Kind.CATEGORY, "Formula"),
    "term": (Kind.TEXT, "Term"),
    "setting": (Kind.CATEGORY, "What everybody is set to; empty for people as they are"),
    "variable": (Kind.CATEGORY, "Variable that moves"),
}
"""Kind and label of each column that is the same in all row types."""

_UNDER_DESIGN = {"df": (Kind.REAL, "Degrees of freedom of the error, or the first ones of F")}
_ESTIMATED = {"statistic": RESULT_LABELS["statistic"]}  # the name of a figure, not a number

_OWN: Mapping[str, Mapping[str, tuple[Kind, str]]] = {
    "EstimateRow": _ESTIMATED,
    "SensitivityRow": _ESTIMATED,
    "ComparisonRow": {
        "measure": (Kind.CATEGORY, "What is compared"),
        "first": (Kind.CATEGORY, "First cohort; empty for all"),
        "second": (Kind.CATEGORY, "Second cohort; empty for all"),
    },
    "PredictionRow": {
        "first": (Kind.CATEGORY, "First value"),
        "second": (Kind.CATEGORY, "Second value"),
        "df": (Kind.REAL, "Degrees of freedom of the error"),
    },
}
"""Kind and label of columns with another meaning in one row type."""


def results_data(title: str, rows: Collection[Any], row_type: Any) -> DataSet:
    """Rows of an analysis as a data set.

    >>> from deniable_research.regression import TidyRow
    >>> data = results_data("Model", [TidyRow("age", 1.0, 0.5, 2.0, 0.0455, 0.02, 1.98)], TidyRow)
    >>> [variable.name for variable in data.variables][:3], data.variables[2].label, len(data)
    (['term', 'estimate', 'std_error'], 'Standard error', 1)
    """
    names = field_names(row_type, rows)
    # Rows under a sampling design have the names of the others with a prefix, and the same columns.
    known = {**_LABELS, **_OWN.get(row_type.__name__.removeprefix("Sampled"), {})}
    if "df_error" in names or "design_effect" in names:
        known |= _UNDER_DESIGN
    variables = [Variable(name, known[name][1], known[name][0]) for name in names]
    return DataSet.of_rows(title, variables, ([_numbered(getattr(row, name)) for name in names] for row in rows))


def save_results(
    path: Path, title: str, rows: Sequence[Any], row_type: Any, document: Mapping[str, Any], doubts: Sequence[str]
) -> None:
    """Write rows to a file, in the format of its suffix; JSON holds ``document`` with ``doubts`` as its cautions.

    Raises
    ------
    ParameterError
        As `deniable_statistics.data.writing.write_data_set`.
    """
    if path.suffix.lower() == ".csv":
        replace_file(path, lambda part: _write(part, rows_csv(rows, row_type)))
    elif path.suffix.lower() == ".json":
        replace_file(path, lambda part: _write(part, to_json({"cautions": list(doubts), **document}) + "\n"))
    else:
        write_data_set(results_data(title, rows, row_type), path)


def _numbered(value: Any) -> Any:
    # Stata and SPSS have no booleans.
    return int(value) if isinstance(value, bool) else value


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")

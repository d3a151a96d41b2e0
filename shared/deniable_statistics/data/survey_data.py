"""The reports and the estimates of a survey as data sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from deniable.report.report import Report
from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable.survey.texts import EVERY_OTHER, Text
from deniable_statistics.data.data_set import DataSet, Kind, Variable
from deniable_statistics.published.access_columns import ACCESS_LABELS, access_cells, one_report_column
from deniable_statistics.published.csv_cells import report_cells

COHORT = "cohort"
"""Name of the column with the cohort of a report."""

IN_REPORT = {0: "not in the report", 1: "in the report"}
"""Labels of the columns of `with_boxes`."""

RESULT_LABELS: dict[str, tuple[Kind, str]] = {
    "question": (Kind.CATEGORY, "Question"),
    "option": (Kind.CATEGORY, "Option; empty for a mean"),
    "cohort": (Kind.CATEGORY, "Cohort; empty for all reports, or those without one"),
    "n": (Kind.REAL, "Reports that speak of it, or the sum of their weights"),
    "count": (Kind.REAL, "Reports that support the option"),
    "estimate": (Kind.REAL, "Estimate"),
    "std_error": (Kind.REAL, "Standard error"),
    "conf_low": (Kind.REAL, "Lower end of the confidence interval"),
    "conf_high": (Kind.REAL, "Upper end of the confidence interval"),
    "conf_level": (Kind.REAL, "Confidence level"),
    "method": (Kind.CATEGORY, "Method of the interval, or of the test"),
    "epsilon": (Kind.REAL, "Privacy loss of one report"),
    "feasible": (Kind.REAL, "Most likely possible share"),
    "statistic": (Kind.CATEGORY, "What is estimated: share, mean or ratio"),
    "target": (Kind.CATEGORY, "Whose shares: of the population, or of the respondents"),
    "p_below": (Kind.REAL, "p-value of so small a count if the share is 0"),
    "p_above": (Kind.REAL, "p-value of so large a count if the share is 1"),
    "flag": (Kind.TEXT, "What speaks against the design"),
    "fake_margin": (Kind.REAL, "Largest shift by one fake report in a hundred"),
    "misbehaving": (Kind.REAL, "Share of people who are supposed to misbehave at most"),
    "bound_low": (Kind.REAL, "Lower bound if so many do"),
    "bound_high": (Kind.REAL, "Upper bound if so many do"),
    "robust_low": (Kind.REAL, "Lower end of an interval that holds if so many do"),
    "robust_high": (Kind.REAL, "Upper end of an interval that holds if so many do"),
    "assumed_fake": (Kind.REAL, "Share of reports that may be fake while the confidence interval holds"),
    "a": (Kind.REAL, "Probability of support if the option is the truth"),
    "b": (Kind.REAL, "Probability of support if another option is the truth"),
}
"""Kind and label of each column of `EstimateRow`, in their order."""


def reports_data(survey: Survey, reports: Iterable[Report]) -> DataSet:
    """The noisy reports of a survey as a data set, a row for each report.

    >>> from deniable import Question, TwoCoin
    >>> survey = Survey("Study", (Question("q", "yes-no", "Ever?", ("no", "yes"), TwoCoin("1/2", "1/2")),))
    >>> data = reports_data(survey, [])
    >>> data.variables[2].label, data.variables[2].labels
    ('Noisy report, not an answer: Ever?', {0: 'no', 1: 'yes'})
    """
    rows = ([report.id, report.cohort, *report_cells(survey, report)] for report in reports)
    return DataSet.of_rows(survey.title, report_variables(survey), rows)


def report_variables(survey: Survey) -> list[Variable]:
    """The columns of a survey's reports, with labels."""
    return [
        Variable("id", "Random id of the report"),
        # Numbered in the order of the survey, whatever the order of the reports.
        Variable(COHORT, "Cohort", Kind.CATEGORY, dict(enumerate(survey.cohorts, start=1))),
        *map(variable_of, survey.questions),
        Variable(
            one_report_column([each.id for each in survey.questions]), "Whether a report is a person", Kind.CATEGORY
        ),
    ]


def variable_of(question: Question) -> Variable:
    """The column of a question's reports; its label says what a reader of the numbers alone would get wrong."""
    labels = report_labels(question)
    about = ["not an answer"]
    if question.group is not None and question.group.is_drawn:
        about.append("missing if not asked")
    # Reports number the levels of a scale from 0, and so does every file: what reads one has to read the others.
    if question.kind.has_numbers and labels and str(question.options[0]) != "0":
        about.append(f"code 0 is the answer {question.options[0]}")
    label = f"Noisy report, {', '.join(about)}: {question.label}"
    if question.mechanism.reports.json_type is str:
        return Variable(question.id, label)
    return Variable(question.id, label, Kind.WHOLE, labels)


def with_boxes(data: DataSet, survey: Survey) -> DataSet:
    """The data set with a column for each option of each question whose report is a text of 0 and 1, at the end.

    A program of statistics cannot count in ``b0101``. The texts stay, because `deniable analyze` reads them.

    >>> from deniable import Question, TickBoxes
    >>> survey = Survey("Study", (Question("q", "ticks", "Which?", ("tea", "milk"), TickBoxes.from_epsilon(2, 1)),))
    >>> report = Report("0" * 32, None, {"q": "01"})
    >>> data = with_boxes(reports_data(survey, [report]), survey)
    >>> [(each.name, each.label) for each in data.variables[-2:]], data.columns[-2:]
    ([('q_1', 'Noisy report, not an answer: tea (Which?)'), ('q_2', 'Noisy report, not an answer: milk (Which?)')], \
([0], [1]))
    """
    variables, columns = [*data.variables], [*data.columns]
    names = {each.name for each in variables}
    for question in survey.questions:
        if question.mechanism.reports.json_type is not str:
            continue
        cells = data.columns[[each.name for each in data.variables].index(question.id)]
        for place, option in enumerate(question.options):
            name = f"{question.id}_{place + 1}"
            while name in names:  # another question may be called so
                name += "_box"
            names.add(name)
            label = f"Noisy report, not an answer: {_spoken(option)} ({question.label})"
            variables.append(Variable(name, label, Kind.WHOLE, IN_REPORT))
            columns.append([_box(cell, place, len(question.options)) for cell in cells])
    return DataSet(data.title, tuple(variables), tuple(columns))


def _box(cell: str | None, place: int, boxes: int) -> int | None:
    """Whether a report has the option in that place; None if the question, or this box of it, was not drawn."""
    if cell is None:
        return None
    bits = cell.removeprefix("b")  # as `report_cell` writes them
    # Drawn boxes have two characters each: 01 ticked, 10 not ticked, 00 not drawn.
    width = len(bits) // boxes
    return {"0": 0, "1": 1, "10": 0, "01": 1}.get(bits[width * place : width * (place + 1)])


def report_labels(question: Question) -> dict[int, str]:
    r"""The option that each value of a report supports; empty where a report may support several options or none.

    >>> from deniable import read_survey
    >>> asked = 'title = "T"\n[[questions]]\nid = "q"\ntype = "scale"\ntext = "Q?"\ngoal = "shares"\nepsilon = 1\n'
    >>> survey = read_survey(asked + 'lo = 1\nhi = 2\nlabels = ["never", "often"]\n')
    >>> report_labels(survey.questions[0])
    {0: '1 \u2013 never', 1: '2 \u2013 often'}
    """
    reports = question.mechanism.reports
    # Only a report of one option is labelled by it; a text of 0 and 1 may support several.
    if not question.has_shares or not reports.supports_one or reports.size != len(question.options):
        return {}
    return {reports.first + place: _spoken(option) for place, option in enumerate(question.options)}


def _spoken(option: str) -> str:
    """An option as people read it: a level of a scale with its label where it has one."""
    return option.in_language(EVERY_OTHER) if isinstance(option, Text) else str(option)


def estimates_data(title: str, rows: Iterable[Mapping[str, Any]], access: str) -> DataSet:
    """A data set of estimates from rows like `EstimateRow`, each followed by the access of its survey."""
    variables = [Variable(name, label, kind) for name, (kind, label) in RESULT_LABELS.items()]
    variables += [Variable(name, label, Kind.CATEGORY) for name, label in ACCESS_LABELS.items()]
    cells = access_cells(access)
    return DataSet.of_rows(title, variables, ([*(row[name] for name in RESULT_LABELS), *cells] for row in rows))

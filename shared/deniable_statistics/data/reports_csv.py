"""Reading of reports from a collector's ``reports.csv``."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

from deniable.errors import ReportError
from deniable.report.report import Report, downloaded_report
from deniable.survey.document import Survey
from deniable_statistics.data.survey_data import report_variables
from deniable_statistics.published.access_columns import ONE_REPORT_HEADING, enforced
from deniable_statistics.published.csv_cells import plain_cell

# 18 digits fit into 64 bits; int() of a text without bound takes time without bound.
_WHOLE = re.compile(r"-?[0-9]{1,18}")


def reports_from_csv(lines: Iterable[str], survey: Survey) -> Iterator[Report]:
    """Read the reports of a collector's download one at a time, and check each like a report that is sent.

    Parameters
    ----------
    lines : iterable of str
        Lines with their line ends, as from a file that is opened with ``newline=""``.
    survey : Survey
        The survey of the reports.

    Yields
    ------
    Report
        In the order of the rows, which must be that of the ids.

    Raises
    ------
    ReportError
        If a row is not a valid report; the message names the row, the column, and what was expected.
    """
    rows = csv.reader(lines, strict=True)
    header = [variable.name for variable in report_variables(survey)]
    before = ""
    number = 0
    try:
        found = next(rows, [])
        if found not in (header, [*header[:-1], ONE_REPORT_HEADING]):
            raise ReportError(f"must begin with the {len(header)} columns of this survey, got {len(found)} or others")
        for row in rows:
            number += 1
            report = _report(row, survey)
            # In order, duplicates are adjacent, so that no ids must be held in memory.
            if report.id <= before:
                raise ReportError("id: must come after that of the row before")
            before = report.id
            yield report
    except csv.Error:
        raise ReportError(f"reports: row {number + 1}: must be CSV, got something else") from None
    except ReportError as error:
        raise ReportError(f"reports: {f'row {number}: ' if number else ''}{error}") from None


def _report(row: Sequence[str], survey: Survey) -> Report:
    width = len(survey.questions) + 3
    if len(row) != width:
        raise ReportError(f"must have {width} fields, got {len(row)}")
    report_id, cohort, *cells, one_report = row
    if one_report != enforced(survey.access):
        raise ReportError(f"the last field must be {enforced(survey.access)!r}")
    values = {
        question.id: _value(cell, question.reports.json_type is str)
        for question, cell in zip(survey.questions, cells, strict=True)
    }
    return downloaded_report(report_id, plain_cell(cohort) or None, values, survey)


def _value(cell: str, is_text: bool) -> object:
    """The report value of a cell of `report_cell`; for any other cell a value that is refused."""
    if cell == "":
        return None
    if is_text:
        return cell[1:] if cell.startswith("b") else 0
    return int(cell) if _WHOLE.fullmatch(cell) else cell

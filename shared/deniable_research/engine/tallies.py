"""The tallies of a survey counted on an engine, as a collector's database keeps them.

`deniable.estimate` takes them, and the tallies of several sources add up.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from deniable import Survey, Tally
from deniable.errors import ParameterError, ReportError
from deniable.wire.space import Texts
from deniable_research.engine.counting import count_supports
from deniable_research.engine.engine_reports import FEW
from deniable_research.engine.sources import Source
from deniable_research.files.coded import CodedColumn
from deniable_research.files.layout import Layout, RandomizedColumn
from deniable_statistics.data.survey_data import COHORT
from deniable_statistics.designs.spaces import number_of_reports

Tallies = dict[str | None, Tally]


def survey_of(source: Source, given: Survey | None) -> Survey | None:
    """The survey of an export, or the one that was given; None where there is neither.

    Raises
    ------
    ParameterError
        If there are both, and they differ.
    """
    if source.export is None:
        return given
    exported = source.export.survey
    if given is not None and given.id != exported.id:
        raise ParameterError(f"survey: must be that of the export {source.name}, {exported.id}, got {given.id}")
    return exported


def count_tallies(source: Source, survey: Survey) -> Tallies:
    """The number of reports in each cohort, and the number of those that support each option of each question.

    There is one GROUP BY for each question. A collector's database has the same tallies of the same rows.

    Raises
    ------
    ReportError
        If a column is missing, or holds something that is neither a report nor a cohort of the survey.
    """
    keys = {COHORT: COHORT} if COHORT in source.columns or survey.cohorts else {}
    sizes: dict[str | None, int] = {}
    counts: dict[str | None, dict[str, tuple[int, ...]]] = {}
    for question, column in zip(survey.questions, Layout.of_survey(survey).questions, strict=True):
        for cohort, n, supports in _counted(source, survey, keys, column):
            asked, n_asked = supports
            if n_asked < n and question.share_asked == 1:
                raise ReportError(
                    f"column {column.column!r}: must hold a report in every row, got {n - n_asked} without"
                )
            sizes[cohort] = n
            more = (n_asked,) if question.reports.size > len(asked) else ()  # how many devices asked it
            counts.setdefault(cohort, {})[question.id] = (*asked, *more)
    return {cohort: Tally(n, counts[cohort]) for cohort, n in sizes.items()}


def _counted(
    source: Source, survey: Survey, keys: Mapping[str, str], column: RandomizedColumn
) -> list[tuple[str | None, int, tuple[tuple[int, ...], int]]]:
    """By cohort: its size, the supports of a question, and how many people hold a report to it."""
    space = column.design.reports
    is_added = isinstance(space, Texts) and number_of_reports(space) > FEW
    names = dict(keys) if is_added else {**keys, "report": column.column}
    found = count_supports(source, names, (column,) if is_added else ())
    people = found.frequencies
    if is_added:
        supports, present = found.supports[column.name], found.present[column.name]
    else:
        reports = column.read(found.columns["report"], people)
        each = [space.supports(value) for value in reports.values]
        table = np.zeros((len(each) + 1, space.size), dtype=np.int64)  # the last row, of code -1, supports nothing
        for place, options in enumerate(each):
            table[place, list(options)] = 1
        supports, present = table[reports.codes] * people[:, None], reports.present
    cohorts = _cohorts(found.columns[COHORT], survey, people) if keys else CodedColumn.of([None] * len(people))
    result = []
    for code in sorted(set(cohorts.codes.tolist())):
        rows = cohorts.codes == code
        cohort = cohorts.values[code] if code >= 0 else None
        told = tuple(supports[rows].sum(axis=0).tolist()), int(people[rows & present].sum())
        result.append((cohort, int(people[rows].sum()), told))
    return result


def _cohorts(column: CodedColumn[str], survey: Survey, people: np.ndarray) -> CodedColumn[str]:
    """The survey's cohorts that the texts of a column stand for."""
    known = {cohort.strip(): cohort for cohort in survey.cohorts}
    if len(known) < len(survey.cohorts):
        raise ParameterError("cohorts: must differ by more than spaces around them to be counted on an engine")
    found = column.map(lambda text: known.get(text.strip()))
    strange = column.present & ~found.present
    if strange.any():
        raise ReportError(
            f"column {COHORT!r}: must hold cohorts of the survey or nothing, "
            f"got something else in {int(people[strange].sum())} rows"
        )
    if survey.cohort_required and not found.present.all():
        raise ReportError(
            f"column {COHORT!r}: must hold a cohort in every row, got {int(people[~found.present].sum())} without"
        )
    return found

"""Functions that run in processes of their own, with few imports, because each process repeats them."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from deniable import EstimateRow, Survey, Tally, estimate
from deniable import parse_survey as parse
from deniable_server.results.sorting import by_share, is_sortable
from deniable_statistics.published.access_columns import ACCESS_LABELS, access_cells
from deniable_statistics.published.charts import Panel
from deniable_statistics.published.csv_cells import csv_lines
from deniable_statistics.published.date_columns import DATE_LABELS
from deniable_statistics.views.figures import Caption
from deniable_statistics.views.view_row import JointCounts, ViewOptions, ViewRow, share_view
from deniable_statistics.views.view_rows import view_of

COLUMNS = [field.name for field in fields(EstimateRow)]
"""Columns of the CSV and keys of the JSON, in order. `ACCESS_LABELS` and `DATE_LABELS` end each row of the CSV."""

VIEW_COLUMNS = [field.name for field in fields(ViewRow)]
"""Columns of the CSV of a view, in order. `DATE_LABELS` end each row."""

Dates = Mapping[str, str]
"""The values of `DATE_LABELS`; see `deniable_server.results.field_dates`."""

NO_DATES: Dates = dict.fromkeys(DATE_LABELS, "")
"""Dates that nobody knows."""


@functools.lru_cache(maxsize=16)
def parse_survey(document: bytes) -> Survey:
    """The survey of a document; a process is asked about one survey again and again, and reading it takes long."""
    return parse(document)


class ResultNotes(NamedTuple):
    """Notes that are sent with estimates.

    Attributes
    ----------
    note : str or None
        Why there are no results yet.
    more : str or None
        That more reports may wait, if results do not show every report at once.
    waiting : list of dict or None
        Number ``n`` of waiting reports of each ``cohort``; None if none wait, or if the reader may not know.
    """

    note: str | None = None
    more: str | None = None
    waiting: list[dict[str, str | int | None]] | None = None


NOTHING = ResultNotes()


def rows_of(document: bytes, tallies: Mapping[str | None, Tally], wanted: Mapping[str, Any]) -> list[EstimateRow]:
    """All estimates of a published survey; ``wanted`` are arguments of `deniable.estimate`."""
    return estimate(tallies, parse_survey(document), **wanted)


def pooled_rows(
    documents: Sequence[bytes], tallies: Sequence[Mapping[str | None, Tally]], wanted: Mapping[str, Any]
) -> list[EstimateRow]:
    """All estimates of the replies of all versions of a survey together."""
    from deniable_statistics.published.revision import Pool, pooled_estimates  # few surveys are revised

    return pooled_estimates(Pool(tuple(map(parse_survey, documents))), tallies, **wanted)


def text_of(
    document: bytes,
    tallies: Mapping[str | None, Tally],
    wanted: Mapping[str, Any],
    said: ResultNotes,
    form: str,
    dates: Dates,
) -> bytes:
    """The estimates as the API sends them, in JSON or CSV; thousands of rows take long to write."""
    found = estimates_document(parse_survey(document), tallies, wanted, said, dates)
    if form == "csv":
        return "".join(estimates_csv(found)).encode()
    # NaN is no JSON: a row that held one would be a fault, not a null.
    return json.dumps(found, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def estimates_document(
    survey: Survey,
    tallies: Mapping[str | None, Tally],
    wanted: Mapping[str, Any],
    said: ResultNotes = NOTHING,
    dates: Dates = NO_DATES,
) -> dict[str, Any]:
    """The estimates as a document for the JSON of the API."""
    n = sum(tally.n for tally in tallies.values())
    return rows_document(survey.id, survey.access, n, estimate(tallies, survey, **wanted), said, dates)


def rows_document(
    survey_id: str,
    access: str,
    n: int,
    rows: Sequence[EstimateRow],
    said: ResultNotes = NOTHING,
    dates: Dates = NO_DATES,
) -> dict[str, Any]:
    """The rows of ``n`` reports as a document for the JSON of the API."""
    about = dict(zip(ACCESS_LABELS, access_cells(access), strict=True))
    # flat, and in the order of the columns
    known = {name: date or None for name, date in dates.items()}
    return {"survey": survey_id, "n": n, **about, **known, "estimates": [vars(row) for row in rows], **said._asdict()}


def estimates_csv(document: Mapping[str, Any]) -> Iterator[str]:
    """Lines of CSV from the document, with a header even without rows."""
    about = [document[name] for name in (*ACCESS_LABELS, *DATE_LABELS)]
    rows = ([*(row[column] for column in COLUMNS), *about] for row in document["estimates"])
    return csv_lines([[*COLUMNS, *ACCESS_LABELS, *DATE_LABELS], *rows])


def view_csv(rows: Iterable[ViewRow], dates: Mapping[str | None, Dates]) -> str:
    """The rows of views as CSV, with a header even without rows; ``dates`` are those of each `ViewRow.wave`."""
    lines = ([*vars(row).values(), *dates[row.wave].values()] for row in rows)
    return "".join(csv_lines([[*VIEW_COLUMNS, *DATE_LABELS], *lines]))


def table_of(
    document: bytes,
    tallies: Mapping[str | None, Tally],
    wanted: Mapping[str, Any],
    dates: Dates,
    is_sorted: bool = False,
) -> bytes:
    """The shares of all questions as the CSV of a view, which is shorter than its rows where there are thousands."""
    survey = parse_survey(document)
    found = _views_of(survey, tallies, wanted)
    if is_sorted:
        everybody = _views_of(survey, tallies, {**wanted, "by_cohort": False}) if wanted["by_cohort"] else found
        for question in filter(is_sortable, survey.questions):
            found[question.id] = by_share(question, found[question.id], everybody[question.id])
    return view_csv(itertools.chain.from_iterable(found.values()), {None: dates}).encode()


def _views_of(
    survey: Survey, tallies: Mapping[str | None, Tally], wanted: Mapping[str, Any]
) -> dict[str, list[ViewRow]]:
    """The rows of all questions by the id of each; estimates come cohort by cohort."""
    found: dict[str, list[ViewRow]] = {each.id: [] for each in survey.questions}
    asked = {each.id: each for each in survey.questions}
    for row in estimate(tallies, survey, **wanted):
        found[row.question].append(share_view(asked[row.question], row))
    return found


def view_rows(
    document: bytes,
    tallies: Mapping[str | None, Tally],
    question: str,
    options: ViewOptions,
    joint: JointCounts,
) -> list[ViewRow]:
    """The rows of a view of one question of a published survey."""
    return view_of(parse_survey(document), tallies, question, options, joint)


def image_of(panels: tuple[Panel, ...], caption: Caption, form: str, salt: str) -> bytes:
    """A figure with its caption as PNG or PDF."""
    from deniable_server.results import results_chart  # matplotlib is for processes that draw

    return results_chart.image(panels, caption, form, salt)


def files_of(document: bytes, title: str | None) -> dict[str, bytes]:
    """The codebook and the scripts of a survey's archive, by the names of their files."""
    from deniable_statistics.archive.supplements import files_about  # for archives alone

    return dict(files_about(parse_survey(document), title))

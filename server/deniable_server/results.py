"""What researchers get: one set of numbers for the API, the pages and the command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any

from deniable import EstimateRow, Question, estimate
from deniable.output import number, percent
from deniable.privacy import fake_margin
from deniable.table import csv_lines
from deniable_server.schemas import EstimatesQuery
from deniable_server.store import Store

COLUMNS = [field.name for field in fields(EstimateRow)]
"""Columns of the CSV and keys of the JSON, in order."""


def estimates_of(store: Store, survey_id: str, query: EstimatesQuery) -> tuple[int, list[EstimateRow]]:
    """Number of reports, and every estimate of a survey."""
    survey = store.survey(survey_id)
    tallies = store.tallies(survey)
    rows = estimate(
        tallies,
        survey,
        by_cohort=query.by == "cohort",
        confidence_level=query.confidence,
        method=query.method,
        target=query.target,
        simultaneous=query.simultaneous,
    )
    return sum(tally.n for tally in tallies.values()), rows


def estimates_document(store: Store, survey_id: str, query: EstimatesQuery) -> dict[str, Any]:
    """The estimates as the JSON of the API holds them."""
    n, rows = estimates_of(store, survey_id, query)
    note = store.state(survey_id).hidden_because
    return {"survey": survey_id, "n": n, "estimates": [asdict(row) for row in rows], "note": note}


def estimates_csv(document: Mapping[str, Any]) -> Iterator[str]:
    """Lines of CSV with the same rows, from the document; a header even where there are none."""
    return csv_lines([COLUMNS, *_values(document["estimates"])])


def figure(value: float | None, statistic: str) -> str:
    """A share or a mean for people.

    >>> figure(0.32251, "share"), figure(4.3219, "mean"), figure(None, "mean")
    ('32.3 %', '4.322', '\u2013')
    >>> figure(-0.004, "share")
    '\u22120.4 %'
    """
    return percent(value) if statistic == "share" else number(value)


def points_of_fakes(question: Question) -> float | None:
    """How many percentage points one fake report in a hundred can move a share; None where options have no support."""
    support = question.mechanism.support if question.has_shares else None
    return max(100 * fake_margin(a, b) for a, b in support) if support else None


def _values(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Any]]:
    for row in rows:
        yield [row[column] for column in COLUMNS]

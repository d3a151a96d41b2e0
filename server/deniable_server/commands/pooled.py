"""Estimates of the reports of all versions of a survey together, from a database or from a running collector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable import Survey, Tally
from deniable.errors import CollectorError, ParameterError, ReportError
from deniable_server.access import remote
from deniable_server.results.query import EstimatesQuery
from deniable_server.results.service import wanted_of
from deniable_server.results.work import ResultNotes, rows_document
from deniable_server.store import Store
from deniable_statistics.data.reports_csv import reports_from_csv
from deniable_statistics.estimates.tally import tally_reports
from deniable_statistics.published.revision import Pool, pooled_estimates, twice_sentence, versions_of

Tallies = Mapping[str | None, Tally]


def pooled_in(store: Store, survey_id: str, query: EstimatesQuery) -> dict[str, Any]:
    """The pooled estimates of a survey and of all that it revises, as the document of `estimates`."""
    pool = Pool(versions_of(store.survey(survey_id), store.survey))
    for each in pool.versions:
        if because := store.state(each.id).hidden_because:
            raise ParameterError(f"survey {each.id}: {because}")
    return _document(pool, [store.tallies(each) for each in pool.versions], query)


def pooled_at(url: str, token: str | None, survey_id: str, query: EstimatesQuery) -> dict[str, Any]:
    """The pooled estimates of a running collector's survey, counted here from the reports that each version shows."""
    pool = Pool(versions_of(remote.survey(url, survey_id), lambda each: remote.survey(url, each)))
    return _document(pool, [_tallies_at(url, token, each) for each in pool.versions], query)


def _tallies_at(url: str, token: str | None, survey: Survey) -> Tallies:
    if survey.retention == "tallies":
        raise ParameterError(f"survey {survey.id}: keeps no reports to pool; use --db where the collector runs")
    with remote.report_lines(url, token, survey.id) as lines:
        try:
            return tally_reports(reports_from_csv(lines, survey), survey)
        except ReportError as error:
            raise CollectorError(f"{url}: does not send what it should: {error}") from None


def _document(pool: Pool, tallies: Sequence[Tallies], query: EstimatesQuery) -> dict[str, Any]:
    reports = [sum(each.n for each in by_cohort.values()) for by_cohort in tallies]
    rows = pooled_estimates(pool, tallies, **wanted_of(query))
    counted = " and ".join(f"{n} of {each.id}" for n, each in zip(reports, pool.versions, strict=True))
    left_out = f"; not pooled: {', '.join(pool.left_out)}" if pool.left_out else ""
    said = ResultNotes(f"reports: {counted}{left_out}. {_sentence(twice_sentence(reports))}")
    return rows_document(pool.newest.id, pool.survey.access, sum(reports), rows, said) | {
        "versions": [each.id for each in pool.versions]
    }


def _sentence(said: str) -> str:
    return f"{said[0].upper()}{said[1:]}"

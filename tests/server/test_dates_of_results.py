"""Results say when a survey took replies and of which day they are: by the day, and never when a reply came."""

from __future__ import annotations

import csv
import datetime
import io
import json
import re
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from deniable import Report, Survey, read_survey
from deniable_client import randomize
from deniable_server.language import catalogues, words
from deniable_server.results.field_dates import field_dates
from deniable_server.results.written import counted, day, localized
from deniable_server.store.sqlite.store import SqliteStore
from deniable_statistics.published.date_columns import DATE_LABELS
from tools.rig.surveys import SURVEY, TODAY, Clock

LIVE = replace(read_survey(SURVEY), results="live")


def answered(survey: Survey, n: int) -> list[Report]:
    return [randomize(survey, {"affair": "yes", "religious": "not"}) for _ in range(n)]


def seen(http: FlaskClient, survey: Survey) -> dict[str, str]:
    """Everything that shows or cites results, by the end of its address."""
    paths = ("results", "results/affair", "results/affair.svg", "results/affair.csv", "results/affair.json")
    found = {path: http.get(f"/s/{survey.id}/{path}").text for path in paths}
    api = f"/api/v1/surveys/{survey.id}/estimates"
    return found | {form: http.get(f"{api}.{form}").text for form in ("csv", "json")}


def dates_of(files: dict[str, str]) -> set[tuple[str, ...]]:
    """The dates that all files for machines have."""
    found = set()
    for path, text in files.items():
        if path.endswith("csv"):
            found |= {tuple(row[name] for name in DATE_LABELS) for row in csv.DictReader(io.StringIO(text))}
        elif path.endswith("json"):
            found.add(tuple(json.loads(text)[name] or "" for name in DATE_LABELS))
    return found


def test_live_results_are_of_the_day_on_which_they_are_asked_for(
    http: FlaskClient, store: SqliteStore, clock: Clock
) -> None:
    store.publish(LIVE)
    store.store_reports([(LIVE, answered(LIVE, 30))])
    first = seen(http, LIVE)
    assert dates_of(first) == {("2026-11-25", "2026-12-20", "2026-11-25")}
    clock.today += datetime.timedelta(days=2)  # nobody answers meanwhile, and nothing tells when somebody did
    later = seen(http, LIVE)
    assert dates_of(later) == {("2026-11-25", "2026-12-20", "2026-11-27")}
    for path in ("results", "results/affair", "results/affair.svg"):
        for text, as_of in ((first[path], "as of 25 November 2026"), (later[path], "as of 27 November 2026")):
            read = " ".join(re.sub(r"<[^>]*>", " ", text).split())  # lines of a figure are texts of their own
            assert as_of in read, path
            assert "25 November 2026 to 20 December 2026 (UTC)" in read, path
    page = later["results"]
    for cited in (
        "(2026)",
        "Replies counted: 30, as of 27 November 2026.",
        "urldate = {2026-11-27}",
        "date-released",
        ", 30 replies as on 2026-11-27",
        "as of 2026-11-27.",
    ):
        assert cited in page
    assert "since 2026-11-25 (UTC)" in page, "a last day that is still to come is none on which replies came"
    (described,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
    found = json.loads(described)
    assert (found["dateModified"], found["temporalCoverage"]) == ("2026-11-27", "2026-11-25/2026-12-20")


def test_a_release_keeps_its_day_and_a_survey_that_was_closed_its_last(
    http: FlaskClient, store: SqliteStore, clock: Clock
) -> None:
    survey = replace(LIVE, results="batches", release=50, title="In lots")
    store.publish(survey)
    store.store_reports([(survey, answered(survey, 60))])
    store.settle()
    before = {path: http.get(f"/s/{survey.id}/{path}") for path in ("results", "results/affair.svg", "results.csv")}
    clock.today += datetime.timedelta(days=3)
    for path, response in before.items():
        now = http.get(f"/s/{survey.id}/{path}")
        assert (now.data, now.headers["ETag"]) == (response.data, response.headers["ETag"]), path
    assert "urldate" not in before["results"].text, "the address of a release stays"
    store.store_reports([(survey, answered(survey, 5))])
    store.close_survey(survey.id)
    after = seen(http, survey)
    assert dates_of(after) == {("2026-11-25", "2026-11-28", "2026-11-28")}
    assert "25 November 2026 to 28 November 2026 (UTC)" in after["results/affair"]
    assert "as of 28 November 2026" not in after["results/affair"], "the last day is named once"
    over = list(csv.DictReader(io.StringIO(http.get(f"/s/{survey.id}/results/affair.csv?over=releases").text)))
    assert [(row["wave"], row["as_of"]) for row in over[::2]] == [("1", "2026-11-25"), ("2", "2026-11-28")]


@pytest.mark.parametrize(
    ("published", "opens", "closes", "closed", "expected"),
    [
        ("2026-11-20", None, None, None, ("2026-11-20", "")),
        ("2026-11-20", "2026-11-22", None, None, ("2026-11-22", "")),
        ("2026-11-20", "2026-11-01", "2026-12-01", None, ("2026-11-20", "2026-12-01")),
        ("2026-11-20", None, "2026-12-01", "2026-11-24", ("2026-11-20", "2026-11-24")),
        ("2026-11-20", None, "2026-11-22", "2026-11-24", ("2026-11-20", "2026-11-22")),
    ],
)
def test_first_and_last_days_are_those_on_which_replies_could_come(
    store: SqliteStore,
    published: str,
    opens: str | None,
    closes: str | None,
    closed: str | None,
    expected: tuple[str, str],
) -> None:
    first, last = (each and datetime.date.fromisoformat(each) for each in (opens, closes))
    survey = replace(LIVE, opens=first or None, closes=last or None)
    store.publish(survey)
    state = replace(store.state(survey.id), published_on=published, closed_on=closed)
    found = field_dates(state, None, TODAY).columns
    assert (found["first_day"], found["last_day"], found["as_of"]) == (*expected, "2026-11-25")


@pytest.mark.parametrize(
    ("language", "number", "point", "date"),
    [
        ("en", "6,366", "12,340.5", "1 March 2026"),
        ("de", "6.366", "12.340,5", "1. M\u00e4rz 2026"),
        ("fr", "6\u202f366", "12\u202f340,5", "1er mars 2026"),
        ("es", "6.366", "12.340,5", "1 de marzo de 2026"),
        ("ar", "6,366", "12,340.5", "1 \u0645\u0627\u0631\u0633 2026"),
    ],
)
def test_numbers_and_days_are_written_as_readers_write_them(language: str, number: str, point: str, date: str) -> None:
    said = words(language)
    assert (counted(6366, said), localized("12340.5", said)) == (number, point)
    assert day(datetime.date(2026, 3, 1), said) == date
    assert localized("0.00001432 of 1234.5678", words("en")) == "0.00001432 of 1,234.5678"
    assert all(len(words(each)["rMonths"].split()) == 12 for each in catalogues())


def test_people_read_thousands_with_a_mark_and_machines_without(http: FlaskClient, store: SqliteStore) -> None:
    store.publish(LIVE)
    store.store_reports([(LIVE, answered(LIVE, 1200))])
    for path in ("results", "results/affair", "results/affair.svg"):
        assert "1,200" in http.get(f"/s/{LIVE.id}/{path}").text
        assert "1.200" in http.get(f"/s/{LIVE.id}/{path}?lang=de").text
    for path in ("results/affair.csv", "results/affair.json"):
        assert "1200" in http.get(f"/s/{LIVE.id}/{path}?lang=de").text
        assert "1.200" not in http.get(f"/s/{LIVE.id}/{path}?lang=de").text

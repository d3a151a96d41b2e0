"""``deniable export --url``: the reports of a running collector, each checked, and never fewer than there are."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from deniable import Report, Survey, read_survey
from deniable.errors import ReportError
from deniable_client import randomize
from deniable_server.store.sqlite.store import SqliteStore
from deniable_statistics.data.manifest import FORMATS
from deniable_statistics.data.reports_csv import reports_from_csv
from deniable_statistics.published.access_columns import ONE_REPORT_COLUMN
from deniable_statistics.published.csv_cells import csv_lines, report_cells
from tests.support.drawn_questions import shared_survey
from tests.support.folding import reports, survey, take
from tests.support.serving import Web, web
from tools.rig.collectors import Collector
from tools.rig.command_line import CommandLine
from tools.rig.serving import running
from tools.rig.surveys import FIVE_TYPES, person

__all__ = ["survey", "web"]

EXPORT = CommandLine("export")
ok, refused = EXPORT.ok, EXPORT.refused


@pytest.fixture(scope="module")
def mixed() -> Survey:
    """A survey with a question of each type and cohorts that spreadsheets calculate."""
    return replace(read_survey(FIVE_TYPES), cohorts=("=1+1", "'=x", "Grüße\nan alle"))


@pytest.fixture(scope="module")
def sent(mixed: Survey) -> list[Report]:
    people = (randomize(mixed, person(n), (*mixed.cohorts, None)[n % 4]) for n in range(40))
    return sorted(people, key=lambda each: each.id)


def stored(collector: Collector, survey: Survey, sent: list[Report]) -> None:
    with closing(SqliteStore(collector.database)) as store:
        store.publish(survey)
        take(store, survey, sent)


@pytest.mark.parametrize("more", [(), *(("--format", each, "--by-cohort") for each in FORMATS)], ids=["file", *FORMATS])
def test_files_are_those_of_the_database(
    collector: Collector, mixed: Survey, sent: list[Report], tmp_path: Path, more: tuple[str, ...]
) -> None:
    stored(collector, mixed, sent)
    here, there = (tmp_path / each if more else tmp_path / f"{each}.csv" for each in ("here", "there"))
    assert "40 reports" in ok(mixed.id, "--db", collector.database, "--to", here, *more)
    assert ok(mixed.id, "--url", collector.url, "--to", there, *more) == f"{there}: 40 reports\n"
    assert contents(here) == contents(there)


def contents(place: Path) -> dict[str, bytes]:
    if place.is_file():
        return {"": place.read_bytes()}
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_of_batches_there_is_the_last_release(collector: Collector, survey: Survey, tmp_path: Path) -> None:
    to = tmp_path / "reports.csv"
    with closing(SqliteStore(collector.database)) as store:
        store.publish(survey)
        first = reports(survey, survey.release)
        take(store, survey, first)
        store.settle()
        take(store, survey, reports(survey, 7))
    assert ok(survey.id, "--url", collector.url, "--to", to) == f"{to}: {survey.release} reports\n"
    assert {line.partition(",")[0] for line in to.read_text().splitlines()[1:]} == {each.id for each in first}


def test_results_that_come_later_are_refused(collector: Collector, survey: Survey, tmp_path: Path) -> None:
    later = replace(survey, results="closed")
    stored(collector, later, reports(later, 3))
    hidden = refused(later.id, "--url", collector.url, "--to", tmp_path / "out.csv")
    assert "results come out once the survey has closed" in hidden
    assert hidden == refused(later.id, "--db", collector.database, "--to", tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_token_is_asked_for_where_results_need_one(
    collector: Collector, mixed: Survey, sent: list[Report], tmp_path: Path
) -> None:
    private = replace(mixed, readers="token")
    stored(collector, private, sent)
    there = (private.id, "--url", collector.url, "--to", tmp_path / "reports.csv")
    assert "refused with status 401" in refused(*there)
    token = CommandLine("token", "create", "reader", "--scope", "read", "--db").ok(collector.database).strip()
    assert "40 reports" in ok(*there, "--token", token)


@pytest.mark.slow
def test_what_keeps_no_reports_and_two_places_are_refused(web: Web, mixed: Survey, tmp_path: Path) -> None:
    tallies = replace(mixed, retention="tallies")
    web.pages[f"/api/v1/surveys/{tallies.id}"] = 200, tallies.document
    to = tmp_path / "reports.csv"
    assert "keeps no reports once they are counted" in refused(tallies.id, "--url", web.url, "--to", to)
    assert "--db and --url: give one" in refused(mixed.id, "--url", web.url, "--db", "x.db", "--to", to)
    assert "cannot be reached" in refused(mixed.id, "--url", "http://127.0.0.1:1", "--to", to)
    assert "refused with status 404" in refused(mixed.id, "--url", web.url, "--to", to)
    assert list(tmp_path.iterdir()) == []


def told(web: Web, survey: Survey, lines: list[str], count: int) -> None:
    """Have the server answer like a collector with these lines, whose estimates count so many."""
    address = f"/api/v1/surveys/{survey.id}"
    web.pages[address] = 200, survey.document
    web.pages[f"{address}/estimates"] = 200, json.dumps({"n": count, "note": None, "estimates": []}).encode()
    web.pages[f"{address}/reports.csv"] = 200, "".join(lines).encode()


def lines_of(survey: Survey, sent: list[Report]) -> list[str]:
    header = ["id", "cohort", *(each.id for each in survey.questions), ONE_REPORT_COLUMN]
    return list(csv_lines([header, *([each.id, each.cohort, *report_cells(survey, each)] for each in sent)]))


def test_reports_of_an_older_collector_are_read_with_the_name_of_their_last_column(
    mixed: Survey, sent: list[Report]
) -> None:
    first, *rest = lines_of(mixed, sent)
    old = first.replace(ONE_REPORT_COLUMN, "one report a person")
    assert old != first
    assert list(reports_from_csv([old, *rest], mixed)) == list(reports_from_csv([first, *rest], mixed))


BROKEN: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "cut at a line": (lambda lines: lines[:-1], "must send the 40 reports that its estimates count, got 39"),
    "more than there are": (
        lambda lines: [*lines, lines[-1].replace(lines[-1][:32], "f" * 32)],
        "must send the 40 reports that its estimates count, got 41",
    ),
    "cut within a line": (lambda lines: [*lines[:-1], lines[-1][:60]], "reports: row 40: must have 8 fields"),
    "empty": (lambda _: [], "reports: must begin with the 8 columns of this survey, got 0"),
    "a page": (lambda _: ["<html>\n"], "reports: must begin with the 8 columns of this survey, got 1"),
    "twice": (lambda lines: [*lines[:3], lines[2], *lines[3:]], "row 3: id: must come after that of the row before"),
    "without order": (
        lambda lines: [lines[0], *reversed(lines[1:])],
        "row 2: id: must come after that of the row before",
    ),
    "an id": (lambda lines: [lines[0], f"=1+1{lines[1][4:]}", *lines[2:]], "row 1: id: must be 32 lower-case"),
    "a cohort": (
        lambda lines: [lines[0], lines[1][:33] + "else" + lines[1][lines[1].index(",", 33) :], *lines[2:]],
        "row 1: cohort: must be null or one of",
    ),
    "who is counted": (
        lambda lines: [each.replace("not enforced", "by invitation") for each in lines],
        "row 1: the last field must be 'not enforced'",
    ),
    "no CSV": (lambda lines: [*lines[:5], '"a"b\r\n'], "reports: row 5: must be CSV"),
}


@pytest.mark.parametrize(("change", "why"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("more", [(), ("--format", "jsonl")], ids=["file", "folder"])
def test_what_is_not_all_reports_is_refused_and_nothing_is_written(
    web: Web,
    mixed: Survey,
    sent: list[Report],
    tmp_path: Path,
    change: Callable[[list[str]], list[str]],
    why: str,
    more: tuple[str, ...],
) -> None:
    told(web, mixed, change(lines_of(mixed, sent)), 40)
    to = tmp_path / ("out" if more else "out.csv")
    assert why in refused(mixed.id, "--url", web.url, "--to", to, *more)
    assert list(tmp_path.iterdir()) == []


def test_reports_that_come_meanwhile_are_taken(
    web: Web, mixed: Survey, sent: list[Report], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(web, mixed, lines_of(mixed, sent), 40)
    counts = iter([38, 41])
    monkeypatch.setattr("deniable_server.commands.export._shown", lambda *_: {"n": next(counts)})
    assert "40 reports" in ok(mixed.id, "--url", web.url, "--to", tmp_path / "out.csv")


def test_a_stream_that_breaks_off_is_refused(mixed: Survey, sent: list[Report], tmp_path: Path) -> None:
    told(pages := Web(), mixed, lines_of(mixed, sent), 40)

    class Handler(BaseHTTPRequestHandler):
        protocol_version: ClassVar[str] = "HTTP/1.1"

        def do_GET(self) -> None:
            _, body = pages.pages[self.path]
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
            if self.path.endswith(".csv"):
                self.close_connection = True  # without the chunk that says that this is all
            else:
                self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_arguments: object) -> None:
            pass

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as place:
        text = refused(mixed.id, "--url", f"http://{place}", "--to", tmp_path / "out", "--format", "csv")
    assert "broke off within its reports" in text
    assert list(tmp_path.iterdir()) == []


def test_values_are_checked_like_those_that_are_sent(mixed: Survey, sent: list[Report]) -> None:
    header, line, *_ = lines_of(mixed, sent)
    cells = line.rstrip("\r\n").split(",")
    for place, question in enumerate(mixed.questions, start=2):
        for wrong in ("", "nonsense", "1.0", "9" * 18, "bb", "-1"):
            if wrong == "-1" and question.id == "drinks":
                continue
            changed = ",".join([*cells[:place], wrong, *cells[place + 1 :]])
            with pytest.raises(ReportError, match=rf'^reports: row 1: values\["{question.id}"\]: ') as caught:
                list(reports_from_csv([header, f"{changed}\r\n"], mixed))
            assert "nonsense" not in str(caught.value)


def test_questions_that_were_not_drawn_stay_empty() -> None:
    survey = shared_survey(4, 2, draw=2)
    sent = sorted((randomize(survey, {f"q{n}": "yes" for n in range(4)}) for _ in range(30)), key=lambda each: each.id)
    assert list(reports_from_csv(lines_of(survey, sent), survey)) == sent
    header, line, *_ = lines_of(survey, sent)
    with pytest.raises(ReportError, match=r"^reports: row 1: "):
        list(reports_from_csv([header, f"{line[:33]},,,,,not enforced\r\n"], survey))


def test_credentials_are_not_asked_of_downloads(survey: Survey) -> None:
    invited = replace(survey, access="invited")
    plain = sorted(reports(survey, 5), key=lambda each: each.id)
    assert list(reports_from_csv(lines_of(invited, plain), invited)) == plain

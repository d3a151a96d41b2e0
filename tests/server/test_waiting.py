"""Reports waiting for a release: whoever may know is told how many, everybody else that there may be some."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from deniable import Report, Survey, read_survey
from deniable_client import randomize
from deniable_server.access.tokens import create_token
from deniable_server.store import Store, database_at
from deniable_server.store.sqlite.store import SqliteStore
from deniable_server.writing.writer import FOLD_SECONDS
from tests.support.postgresql import postgresql, template
from tests.support.stores import Place, place
from tools.rig.collectors import Collector
from tools.rig.command_line import CommandLine
from tools.rig.surveys import SURVEY

__all__ = ["place", "postgresql", "template"]

DENIABLE = CommandLine()
ok, run = DENIABLE.ok, DENIABLE.run

MAY = (
    "reports are released in batches of 200 or more per cohort, so others may have arrived that are not shown yet; "
    "a complete batch appears after some seconds, by default at most 10"
)


def test_the_sentence_says_the_default_interval_of_the_collector() -> None:
    assert MAY.endswith(f"by default at most {FOLD_SECONDS:.0f}")


WAIT = "380 reports wait for a release: 189 of paper, 191 of web"


@pytest.fixture
def survey() -> Survey:
    return replace(read_survey(SURVEY), results="batches", opens=None, closes=None)


def reports(survey: Survey, n: int, cohort: str | None = None) -> list[Report]:
    return [randomize(survey, {"affair": "yes", "religious": "not"}, cohort) for _ in range(n)]


def fill(store: Store, survey: Survey) -> None:
    """Two cohorts, none of which is large enough for a release."""
    store.publish(survey, "ada")
    for cohort, n in (("paper", 189), ("web", 191)):
        store.store_reports([(survey, reports(survey, n, cohort))])
    store.settle()


@pytest.fixture
def database(tmp_path: Path, survey: Survey) -> Path:
    path = tmp_path / "reports.db"
    with closing(SqliteStore(path)) as store:
        fill(store, survey)
    return path


class TestStores:
    def test_count_what_results_do_not_show(self, place: Place, survey: Survey) -> None:
        for results in ("batches", "live", "closed"):
            asked = replace(survey, results=results)
            with place.opened() as store:
                fill(store, asked)
                store.store_reports([(asked, reports(asked, 3))])
                few = {None: 3, "paper": 189, "web": 191}
                assert store.waiting(asked) == ({} if results == "live" else few)
                store.store_reports([(asked, reports(asked, 20, "paper"))])
                store.settle()
                shown = {} if results == "closed" else {"paper": 209}
                assert store.waiting(asked) == (
                    {} if results == "live" else {c: n for c, n in {**few, "paper": 209}.items() if c not in shown}
                )
                store.close_survey(asked.id)
                assert store.waiting(asked) == {}

    def test_are_those_of_check(self, place: Place, survey: Survey) -> None:
        """Whether results show a report means the same in `survey list` and in `check`, before and after the end."""
        surveys = [replace(survey, results=results) for results in ("batches", "live", "closed")]

        def listed(store: Store) -> tuple[int, int]:
            states = store.states()
            waiting = sum(sum(store.waiting(state.survey).values()) for state in states)
            return sum(max(0, state.reports) for state in states), waiting

        def checked() -> tuple[int, int]:
            found = database_at(place.where).inspect()
            assert found.findings == ()
            return found.reports, found.waiting

        with place.opened() as store:
            for asked in surveys:
                fill(store, asked)
                store.store_reports([(asked, reports(asked, 23, "paper"))])
            # All of the live one and a cohort of the first; the other cohort, and all of the one that shows them last.
            assert checked() == listed(store) == (403 + 212, 191 + 403)
            for asked in surveys:
                store.close_survey(asked.id)
            assert checked() == listed(store) == (3 * 403, 0)


class TestWhoHoldsTheFile:
    def test_is_told_by_every_command(self, database: Path, survey: Survey, tmp_path: Path) -> None:
        here = ("--db", database)
        table = ok("estimate", survey.id, *here)
        assert f"\n{WAIT}.\n" in table
        assert "no reports released yet, 95 % CI" in table
        assert "0 reports" not in table.replace("380 reports", "")
        document = json.loads(ok("estimate", survey.id, *here, "--format", "json"))
        assert document["n"] == 0
        assert document["waiting"] == [{"cohort": "paper", "n": 189}, {"cohort": "web", "n": 191}]
        assert document["more"] is None, "whoever holds the file knows"
        csv = run("estimate", survey.id, *here, "--format", "csv")
        assert csv.stderr == f"{WAIT}.\n"
        exported = run("export", survey.id, *here, "--to", tmp_path / "reports.csv")
        assert (exported.exit_code, exported.stderr) == (0, f"{WAIT}.\n")
        folder = run("export", survey.id, *here, "--to", tmp_path / "parts", "--format", "csv")
        assert (folder.exit_code, folder.stderr) == (0, f"{WAIT}.\n")
        listed = ok("survey", "list", *here).splitlines()
        assert listed[0].split()[:4] == ["id", "reports", "waiting", "state"]
        assert listed[1].split()[:4] == [survey.id, "0", "380", "open"]
        assert "sound, 1 survey, 0 released reports, 380 waiting for a release" in ok("check", *here)
        assert "0 released reports, 380 waiting for a release" in ok("backup", tmp_path / "copy.db", *here)

    def test_hears_nothing_of_it_once_all_are_out(self, database: Path, survey: Survey, tmp_path: Path) -> None:
        ok("survey", "close", survey.id, "--db", database)
        table = ok("estimate", survey.id, "--db", database)
        assert "380 reports, 95 % CI" in table
        assert "wait" not in table
        assert run("export", survey.id, "--db", database, "--to", tmp_path / "reports.csv").stderr == ""
        assert "wait" not in ok("check", "--db", database)


class TestOverHttp:
    def test_only_the_token_of_a_survey_hears_how_many(
        self, http: FlaskClient, store: SqliteStore, survey: Survey
    ) -> None:
        fill(store, survey)
        url = f"/api/v1/surveys/{survey.id}/estimates"
        for name, scope in (("ada", "publish"), ("boss", "operate")):
            header = {"Authorization": f"Bearer {create_token(store, name, scope)}"}
            answer = http.get(url, headers=header)
            assert answer.json["waiting"] == [{"cohort": "paper", "n": 189}, {"cohort": "web", "n": 191}]
            assert answer.headers["Cache-Control"] == "no-store"
            (listed,) = http.get("/api/v1/surveys", headers=header).json["surveys"]
            assert (listed["reports"], listed["waiting"]) == (0, answer.json["waiting"])
        public = http.get(url)
        assert (public.json["n"], public.json["waiting"], public.json["more"]) == (0, None, MAY)
        for name, scope in (("eve", "publish"), ("rita", "read"), ("prometheus", "metrics")):
            header = {"Authorization": f"Bearer {create_token(store, name, scope)}"}
            assert http.get(url, headers=header).data == public.data
        assert http.get(url, headers={"Authorization": "Bearer dn_wrong"}).data == public.data

    def test_the_public_page_says_that_there_may_be_more(
        self, http: FlaskClient, store: SqliteStore, survey: Survey
    ) -> None:
        fill(store, survey)
        page = http.get(f"/s/{survey.id}/results").text
        moves = "Results move when 200 new replies of a group have come."
        assert "No results have been released yet." in page
        assert moves in page
        assert "counted: 0" not in page
        for number in ("189", "191", "380"):
            assert not re.search(rf"(?<![\d,]){number}\b", page)
        store.store_reports([(survey, reports(survey, 11, "paper"))])
        store.settle()
        assert "Replies counted: 200" in http.get(f"/s/{survey.id}/results").text
        store.close_survey(survey.id)
        page = http.get(f"/s/{survey.id}/results").text
        assert "Replies counted: 391" in page
        assert moves not in page

    def test_a_page_that_shows_nothing_before_closing_counts_nothing(
        self, http: FlaskClient, store: SqliteStore, survey: Survey
    ) -> None:
        hidden = replace(survey, results="closed")
        fill(store, hidden)
        page = http.get(f"/s/{hidden.id}/results").text
        assert "Results come out once the survey has closed." in page
        assert "counted: 0" not in page
        store.close_survey(hidden.id)
        assert "Replies counted: 380" in http.get(f"/s/{hidden.id}/results").text

    @pytest.mark.slow
    def test_commands_tell_it_by_the_token_and_else_that_there_may_be_more(
        self, collector: Collector, survey: Survey, tmp_path: Path
    ) -> None:
        token = ok("token", "create", "ada", "--db", collector.database).strip()
        with closing(SqliteStore(collector.database)) as store:
            fill(store, survey)
        there = ("--url", collector.url)
        assert f"{WAIT}." in ok("estimate", survey.id, *there, "--token", token)
        assert f"{MAY[0].upper()}{MAY[1:]}." in ok("estimate", survey.id, *there)
        assert ok("survey", "list", *there, "--token", token).splitlines()[1].split()[1:3] == ["0", "380"]
        for more, said in ((("--token", token), WAIT), ((), f"{MAY[0].upper()}{MAY[1:]}")):
            done = run("export", survey.id, *there, *more, "--to", tmp_path / "reports.csv")
            assert (done.exit_code, done.stderr) == (0, f"{said}.\n")

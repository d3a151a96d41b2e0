"""``deniable survey revise``: a successor beside the survey that stays what it is, and results of both together."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from deniable import Survey, read_survey
from deniable_server.access.tokens import create_token
from deniable_server.commands.pooled import pooled_in
from deniable_server.results.query import EstimatesQuery
from deniable_server.store.sqlite.store import SqliteStore
from tests.support.in_process import app, http, store
from tests.support.views import reports_of
from tools.rig.access import post_survey
from tools.rig.collectors import Collector
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml

__all__ = ["app", "http", "store"]

REVISE, ESTIMATE, SHARES = CommandLine("survey", "revise"), CommandLine("estimate"), CommandLine("analyze", "shares")
AFFAIR = question_toml("affair", "yes-no", "An affair?", epsilon=1)
TOWN = question_toml("town", "choice", "Where?", options=["town", "country", "sea"], epsilon=1)
TAX = question_toml("tax", "yes-no", "Taxes?", epsilon=1)
ABOUT = {"cohorts": ["a", "b", "c"], "results": "live"}
OLD = survey_toml("Work", AFFAIR, TOWN, TAX, **ABOUT)
NEW = survey_toml("Work, corrected", AFFAIR, TOWN, TAX.replace("Taxes?", "Any taxes?"), **ABOUT)


class Study:
    """Two files, and a database in which the first one is published and has replies."""

    def __init__(self, folder: Path, database: Path) -> None:
        self.database, self.old_file, self.new_file = database, folder / "old.toml", folder / "new.toml"
        self.old_file.write_text(OLD, encoding="utf-8")
        self.new_file.write_text(NEW, encoding="utf-8")
        self.old = read_survey(OLD)
        self.new = replace(read_survey(NEW), revises=self.old.id)

    def fill(self, survey: Survey, n: int, first: int = 0) -> None:
        """Publish a survey, and have ``n`` people answer it."""
        sent = [replace(each, id=f"{first + i:032x}") for i, each in enumerate(reports_of(survey, n))]
        with closing(SqliteStore(self.database)) as store:
            store.publish(survey)
            store.store_reports([(survey, sent)])
            store.settle()


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = Study(tmp_path, tmp_path / "test.db")
    study.fill(study.old, 90)
    return study


def state_of(study: Study, survey: Survey) -> str | None:
    with closing(SqliteStore(study.database)) as store:
        return store.state(survey.id).closed_on


def test_looking_publishes_nothing(study: Study) -> None:
    said = REVISE.ok(study.old.id, study.new_file, "--dry-run", "--db", study.database)
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert "affair the same noisy value again can be pooled" in lines
    assert "tax a new draw, and its epsilon anew apart" in lines
    assert "tax: differs in its text" in lines
    assert "Epsilon 3 for whoever answers this version alone, 4 for whoever answered both" in lines
    assert f'revises = "{study.old.id}"' in said
    with closing(SqliteStore(study.database)) as store:
        assert [each.survey.id for each in store.states()] == [study.old.id]
    assert state_of(study, study.old) is None


@pytest.mark.parametrize(("flag", "is_closed"), [("--close", True), ("--keep-open", False)])
def test_the_predecessor_closes_or_stays_open_as_the_author_says(study: Study, flag: str, is_closed: bool) -> None:
    assert "say what becomes of the predecessor" in REVISE.refused(study.old.id, study.new_file, "--db", study.database)
    for _ in range(2):  # whatever broke off can be said again
        said = REVISE.ok(study.old.id, study.new_file, flag, "--db", study.database)
        assert f"/s/{study.new.id}#cohort=a" in said
    assert (state_of(study, study.old) is not None) == is_closed
    assert state_of(study, study.new) is None
    with closing(SqliteStore(study.database)) as store:
        assert store.survey(study.new.id).revises == study.old.id
        # The predecessor is what it was, to the byte.
        assert store.survey(study.old.id).document == study.old.document


def test_a_file_that_revises_another_survey_is_refused(study: Study) -> None:
    study.new_file.write_text(f'revises = "{"a" * 26}"\n{NEW}', encoding="utf-8")
    sentence = REVISE.refused(study.old.id, study.new_file, "--close", "--db", study.database)
    assert f"revises must be {study.old.id} or left out, got {'a' * 26}" in sentence
    assert state_of(study, study.old) is None
    study.new_file.write_text(f'fresh = "each wave"\n{NEW}', encoding="utf-8")
    assert "must not go with fresh" in REVISE.refused(study.old.id, study.new_file, "--close", "--db", study.database)
    assert "there is none at this address" in REVISE.refused(
        "a" * 26, study.new_file, "--close", "--db", study.database
    )


def test_what_devices_of_the_predecessor_would_refuse_is_said(study: Study) -> None:
    dear = survey_toml("Dear", *(question_toml(f"q{n}", "yes-no", f"{n}?", epsilon=3) for n in range(2)), **ABOUT)
    study.new_file.write_text(dear, encoding="utf-8")
    said = REVISE.ok(study.old.id, study.new_file, "--dry-run", "--db", study.database)
    assert "Not asked any more: affair, town, tax" in said
    assert "refuse this version, because 9 is more than 8" in said


def test_both_versions_are_estimated_and_analysed_together(study: Study, tmp_path: Path) -> None:
    study.fill(study.new, 60, first=1000)
    place = ("--db", study.database)
    found = json.loads(ESTIMATE.ok(study.new.id, *place, "--pooled", "--format", "json"))
    assert (found["n"], found["versions"]) == (150, [study.old.id, study.new.id])
    assert {row["question"] for row in found["estimates"]} == {"affair", "town"}
    assert {row["n"] for row in found["estimates"]} == {150}
    assert "not pooled: tax" in found["note"]
    assert "at most 1.34 times as large" in found["note"]
    for survey, file in ((study.old, "old.csv"), (study.new, "new.csv")):
        CommandLine("export").ok(survey.id, *place, "--to", tmp_path / file)
    study.new_file.write_text(f'revises = "{study.old.id}"\n{NEW}', encoding="utf-8")
    pool = ("--survey", study.new_file, "--pool", tmp_path / "old.csv", study.old_file)
    shares = json.loads(SHARES.ok(tmp_path / "new.csv", *pool, "--format", "json"))
    for row, other in zip(shares["estimates"], found["estimates"], strict=True):
        assert [row[each] for each in ("question", "option", "n", "estimate", "conf_low", "conf_high")] == [
            other[each] for each in ("question", "option", "n", "estimate", "conf_low", "conf_high")
        ]
    crossed = CommandLine("analyze", "crosstab").ok(tmp_path / "new.csv", "affair", "town", *pool)
    assert "town" in crossed
    compared = CommandLine("analyze", "compare").ok(tmp_path / "new.csv", "affair", "--by", "version", *pool)
    assert study.old.id in compared
    said = SHARES.run(tmp_path / "new.csv", *pool).stderr
    assert "Not pooled, because not the same in every version: tax" in said
    assert "Caution: versions: whoever answered several counts several times" in said


def test_files_that_do_not_belong_together_are_refused(study: Study, tmp_path: Path) -> None:
    study.fill(study.new, 60, first=1000)
    for survey, file in ((study.old, "old.csv"), (study.new, "new.csv")):
        CommandLine("export").ok(survey.id, "--db", study.database, "--to", tmp_path / file)
    new, old = tmp_path / "new.csv", tmp_path / "old.csv"
    pool = ("--pool", old, study.old_file)
    assert "revises no other survey" in SHARES.refused(new, "--survey", study.new_file, *pool)
    study.new_file.write_text(f'revises = "{study.old.id}"\n{NEW}', encoding="utf-8")
    other = tmp_path / "other.toml"
    other.write_text(OLD.replace("Work", "Other"), encoding="utf-8")
    newest = ("--survey", study.new_file)
    sentence = SHARES.refused(new, *newest, "--pool", old, other)
    assert f"must give the reports and the survey of {study.old.id}" in sentence
    assert "is not one that new.toml revises" in SHARES.refused(new, *newest, *pool, "--pool", old, other)
    assert "must be in the reports of one version alone" in SHARES.refused(new, *newest, "--pool", new, study.old_file)
    assert "--pool does not go with" not in SHARES.ok(new, *newest, *pool)
    assert "--column does not go with --pool" in SHARES.refused(new, *newest, *pool, "--column", "affair=affair")


def test_a_running_collector_gives_the_same(collector: Collector, tmp_path: Path) -> None:
    study = Study(tmp_path, collector.database)
    study.fill(study.old, 90)
    study.fill(study.new, 60, first=1000)
    there = json.loads(ESTIMATE.ok(study.new.id, "--url", collector.url, "--pooled", "--format", "json"))
    here = json.loads(ESTIMATE.ok(study.new.id, "--db", collector.database, "--pooled", "--format", "json"))
    assert there == here


def test_whose_reports_may_not_be_read_cannot_be_pooled(collector: Collector, tmp_path: Path) -> None:
    study = Study(tmp_path, collector.database)
    hidden = replace(study.old, readers="token")
    study.fill(hidden, 90)
    study.fill(replace(study.new, revises=hidden.id), 60, first=1000)
    sentence = ESTIMATE.refused(replace(study.new, revises=hidden.id).id, "--url", collector.url, "--pooled")
    assert "refused with status 401" in sentence


def test_nobody_revises_a_survey_of_others(http: FlaskClient, store: SqliteStore) -> None:
    hers = read_survey(OLD)
    ada, eve, operator = (create_token(store, *each) for each in (("ada",), ("eve",), ("all", "operate")))
    assert post_survey(http, hers, ada).status_code == 201
    claims = replace(hers, title="Correction", revises=hers.id)
    refused = post_survey(http, claims, eve)
    assert (refused.status_code, refused.json["detail"]) == (
        403,
        f"revises: survey {hers.id} belongs to another token than 'eve'",
    )
    assert store.state(hers.id).closed_on is None
    assert post_survey(http, claims, ada).status_code == 201
    assert post_survey(http, replace(claims, title="By the operator"), operator).status_code == 201
    # What another collector holds cannot be asked, and naming it gains nothing.
    assert post_survey(http, replace(claims, revises="a" * 26), eve).status_code == 201


def test_a_page_shows_all_versions_together_as_the_command_does(http: FlaskClient, store: SqliteStore) -> None:
    old = read_survey(OLD)
    new = replace(read_survey(NEW), revises=old.id)
    for number, (survey, n) in enumerate(((old, 90), (new, 1200))):
        store.publish(survey)
        sent = [replace(each, id=f"{number}{each.id[1:]}") for each in reports_of(survey, n)]
        store.store_reports([(survey, sent)])
    view = f"/s/{new.id}/results/affair"
    assert f'href="{view}?pooled=versions"' in http.get(view).text
    page = http.get(f"{view}?pooled=versions").text
    assert "the replies of 2 versions of this survey together (90, 1,200)" in page
    assert "Replies counted: 1,290" in page
    assert "<h3>Python</h3>" not in page, "the rows of one version do not make these numbers"
    for query, wanted in (("", {}), ("&by=cohort", {"by": "cohort"})):
        found = http.get(f"{view}.json?pooled=versions{query}").json
        assert (found["n"], found["versions"], found["release"]) == (1290, [old.id, new.id], None)
        expected = pooled_in(store, new.id, EstimatesQuery.model_validate(wanted))["estimates"]
        rows = [row for row in expected if row["question"] == "affair"]
        for shown, row in zip(found["rows"], rows, strict=True):
            for name in ("cohort", "option", "n", "count", "estimate", "std_error", "conf_low", "conf_high"):
                assert shown[name] == row[name], (query, name)
    assert "of 2 versions" in " ".join(re.sub(r"<[^>]*>", " ", http.get(f"{view}.svg?pooled=versions").text).split())
    refused = ("tax?pooled=versions", "affair?pooled=versions&compare=cohort", "affair?pooled=versions&over=time")
    for query in refused:
        assert http.get(f"/s/{new.id}/results/{query}").status_code == 422, query
    assert http.get(f"/s/{old.id}/results/affair?pooled=versions").status_code == 422
    assert http.get(f"/s/{new.id}/results?pooled=versions").status_code == 422
    assert "?pooled=" not in http.get(f"/s/{new.id}/results/tax").text
    assert "?pooled=" not in http.get(f"/s/{old.id}/results/affair").text


def test_a_page_shows_no_version_that_its_reader_may_not_see(http: FlaskClient, store: SqliteStore) -> None:
    old = replace(read_survey(OLD), readers="token")
    new = replace(read_survey(NEW), revises=old.id)
    for number, survey in enumerate((old, new)):
        store.publish(survey)
        sent = [replace(each, id=f"{number}{each.id[1:]}") for each in reports_of(survey, 60)]
        store.store_reports([(survey, sent)])
    view = f"/s/{new.id}/results/affair"
    assert "?pooled=" not in http.get(view).text
    assert http.get(f"{view}.json?pooled=versions").status_code == 422
    token = {"Authorization": f"Bearer {create_token(store, 'reader', 'read')}"}
    assert http.get(f"{view}.json?pooled=versions", headers=token).json["n"] == 120
    assert "?pooled=" not in http.get(view).text, "what a page for one reader holds is not kept for another"


def test_reports_of_all_versions_are_exported_together(study: Study, tmp_path: Path) -> None:
    study.fill(study.new, 60, first=1000)
    file = tmp_path / "all.csv"
    said = CommandLine("export").ok(study.new.id, "--db", str(study.database), "--pooled", "--to", str(file))
    assert "150 reports" in said
    rows = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))))
    assert Counter(row["version"] for row in rows) == {study.old.id: 90, study.new.id: 60}
    assert list(rows[0])[:4] == ["id", "cohort", "affair", "town"], "not the question that was changed"
    estimates = json.loads(ESTIMATE.ok(study.new.id, "--db", str(study.database), "--pooled", "--format", "json"))[
        "estimates"
    ]
    counts = {(row["question"], row["option"]): row["count"] for row in estimates}
    assert sum(row["affair"] == "1" for row in rows) == counts["affair", "yes"]
    refused = CommandLine("export").refused(study.old.id, "--db", str(study.database), "--pooled", "--to", str(file))
    assert "revises no other survey" in refused

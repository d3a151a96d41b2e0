"""Whoever reads ``n`` sees whether reports are people: on the page, in every download, in every analysis."""

from __future__ import annotations

import csv
import io
import json
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pyreadstat
import pytest
from flask.testing import FlaskClient

from deniable import EstimateRow, Survey, read_survey
from deniable.access.words import ONE_REPORT
from deniable.survey.document import ACCESS
from deniable_research import read
from deniable_research.codebook import Codebook, to_ddi, to_markdown
from deniable_server.access.tokens import create_token
from deniable_server.language import words
from deniable_server.store.sqlite.store import SqliteStore
from deniable_server.web.results_pages import ONCE
from deniable_statistics.published.access_columns import ONE_REPORT_COLUMN, enforced
from tools.rig.access import invite, invited_survey, publish, report_for, unlinkable_survey
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml

DENIABLE = CommandLine()
N = 30


@pytest.fixture(params=ACCESS)
def asked(request: pytest.FixtureRequest, survey: Survey) -> Survey:
    """The survey of the tests, of each kind."""
    return {"open": survey, "invited": invited_survey(), "unlinkable": unlinkable_survey()}[request.param]


def fill(store: SqliteStore, survey: Survey) -> None:
    """Publish it, and store reports of so many people. Tokens of an unlinkable survey are not checked in here."""
    publish(store, survey)
    made = ["0" * 32] * N if survey.access == "open" else invite(store, survey, N)
    if survey.access == "unlinkable":
        made = [f"0002{number:032x}" for number in range(N)]
    reports = [report_for(survey, each) for each in made]
    if survey.access == "open":
        reports = [replace(report, credential=None) for report in reports]
    store.store_reports([(survey, reports)])


@pytest.fixture
def database(asked: Survey, tmp_path: Path) -> Path:
    path = tmp_path / "words.db"
    with closing(SqliteStore(path)) as store:
        fill(store, asked)
    return path


@pytest.mark.slow
def test_page_and_downloads_over_http_say_it(http: FlaskClient, store: SqliteStore, asked: Survey) -> None:
    fill(store, asked)
    base, how = f"/api/v1/surveys/{asked.id}", enforced(asked.access)
    sentence = words("en")[ONCE[asked.access]]
    page = http.get(f"/s/{asked.id}/results").text
    assert f"Replies counted: {N}" in page
    for place in (page, http.get(f"/s/{asked.id}/results.svg").text):
        assert sentence in " ".join(re.sub("<[^>]*>", " ", place).split())
    estimates = http.get(f"{base}/estimates.json").json
    assert estimates
    assert (estimates["n"], estimates["access"], estimates["one_report_a_person"]) == (N, asked.access, how)
    rows = list(csv.DictReader(io.StringIO(http.get(f"{base}/estimates.csv").text)))
    assert {(row["access"], row["one_report_a_person"]) for row in rows} == {(asked.access, how)}
    reports = pd.read_csv(io.StringIO(http.get(f"{base}/reports.csv").text), dtype={"id": str})
    assert reports[ONE_REPORT_COLUMN].tolist() == [how] * N
    header = {"Authorization": f"Bearer {create_token(store, 'ada', 'operate')}"}
    listed = http.get("/api/v1/surveys", headers=header).json
    assert listed
    assert [(each["access"], each["reports"]) for each in listed["surveys"]] == [(asked.access, N)]


def test_commands_say_it(asked: Survey, database: Path, tmp_path: Path) -> None:
    said, how = ONE_REPORT[asked.access], enforced(asked.access)
    where = ["--db", database]
    assert f"{N} reports, 95 % CI: Feldman-Cousins intervals; {said}" in DENIABLE.ok("estimate", asked.id, *where)
    assert json.loads(DENIABLE.ok("estimate", asked.id, *where, "--format", "json"))["one_report_a_person"] == how
    header, line = DENIABLE.ok("survey", "list", *where).splitlines()
    assert header.endswith("one report a person")
    assert line.endswith(how)
    frame, about = pyreadstat.read_dta(written(tmp_path / "e.dta", "estimate", asked.id, *where))
    assert set(frame["one_report_a_person"].map(about.variable_value_labels["one_report_a_person"])) == {how}
    assert set(frame["access"].map(about.variable_value_labels["access"])) == {asked.access}


def written(path: Path, *arguments: object) -> Path:
    """The file that a command writes."""
    DENIABLE.ok(*arguments, "--to", path)
    return path


@pytest.mark.slow
def test_every_form_of_an_export_says_it_and_is_analysed_as_before(
    asked: Survey, database: Path, tmp_path: Path
) -> None:
    how = enforced(asked.access)
    published = tmp_path / "survey.json"
    published.write_bytes(asked.document)
    for suffix in ("csv", "json", "parquet", "dta", "sav", "xlsx"):
        more = ["--scripts"] if suffix == "csv" else []
        path = written(tmp_path / f"reports.{suffix}", "export", asked.id, "--db", database, *more)
        if suffix == "csv":
            found = pd.read_csv(path)[ONE_REPORT_COLUMN].tolist()
        elif suffix == "json":
            found = [row[ONE_REPORT_COLUMN] for row in json.loads(path.read_text())["rows"]]
        elif suffix == "parquet":
            found = pq.read_table(path)[ONE_REPORT_COLUMN].to_pylist()
        elif suffix == "xlsx":
            rows = list(openpyxl.load_workbook(path)["data"].values)
            found = [row[-1] for row in rows[1:]]
            assert rows[0][-1] == ONE_REPORT_COLUMN
        else:
            frame, about = (pyreadstat.read_dta if suffix == "dta" else pyreadstat.read_sav)(path)
            found = frame["one_report_a_person"].map(about.variable_value_labels["one_report_a_person"]).tolist()
            label = about.column_names_to_labels["one_report_a_person"]
            assert label == "Whether a report is a person"
        assert found == [how] * N
        if suffix == "json":
            continue  # which `analyze` does not read
        result = DENIABLE.run("analyze", "shares", path, "--survey", published, "--format", "csv")
        assert result.exit_code == 0, result.output
        assert f"Each row is a report; {ONE_REPORT[asked.access]}" in result.stderr
        assert {row["n"] for row in csv.DictReader(io.StringIO(result.stdout))} == {str(N)}
    for script in ("reports.R", "reports.do"):
        assert f" n counts reports; {ONE_REPORT[asked.access]}.\n" in (tmp_path / script).read_text()


def test_results_in_python_say_it(asked: Survey, database: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "reports.csv", "export", asked.id, "--db", database)
    results = read(path, asked)
    sentence = f"Each row is a report; {ONE_REPORT[asked.access]}."
    assert results.access == asked.access
    assert repr(results) == f"Results({N} reports, {ONE_REPORT[asked.access]}; affair, religious)"
    shares = results.shares()
    assert sentence in str(shares)
    assert sentence in shares._repr_html_()
    assert shares.to_frame().attrs["access"] == asked.access
    assert list(shares.to_frame().columns)[: len(EstimateRow.__match_args__)] == list(EstimateRow.__match_args__)
    for other in (results.crosstab("affair", "religious"), results.regress("affair ~ 1")):
        assert sentence in str(other)


def test_another_tools_export_and_other_designs_are_not_said_to_be_a_collectors(survey: Survey) -> None:
    frame = pd.DataFrame({"Q7": [0, 1] * 20})
    for results in (
        read(frame, survey, columns={"affair": "Q7"}),
        read(frame.rename(columns={"Q7": "affair"}).assign(religious=0), survey),
    ):
        assert results.access is None
        assert "Each row is a report" not in str(results.shares())
        assert repr(results).startswith("Results(40 people; affair")


def test_codebooks_say_it(asked: Survey) -> None:
    codebook = Codebook.of_survey(asked)
    assert f"Each row is a report; {ONE_REPORT[asked.access]}." in to_markdown(codebook)
    assert f"Each row is a report; {ONE_REPORT[asked.access]}." in to_ddi(codebook).decode()
    names = [entry.column for entry in codebook.entries]
    assert names == ["id", "cohort", "affair", "religious", ONE_REPORT_COLUMN]


def test_a_question_may_be_called_like_the_columns_of_estimates(tmp_path: Path) -> None:
    ids = ("access", "one_report_a_person")
    survey = read_survey(survey_toml("T", *(question_toml(each, "yes-no", "?", epsilon=1) for each in ids)))
    store = SqliteStore(tmp_path / "t.db")
    store.publish(survey)
    store.close()
    for suffix in ("csv", "dta", "parquet"):
        path = written(tmp_path / f"r.{suffix}", "export", survey.id, "--db", tmp_path / "t.db")
    assert (tmp_path / "r.csv").read_text().strip() == f"id,cohort,access,one_report_a_person,{ONE_REPORT_COLUMN}_1"
    assert pq.read_table(path).column_names[-1] == f"{ONE_REPORT_COLUMN}_1"


def test_check_and_publish_say_it(asked: Survey, tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    keys = "" if asked.access == "open" else f'access = "{asked.access}"\n'
    question = '[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "?"\nepsilon = 1\n'
    issuer = f'[issuer]\nkey = "{asked.issuer.key}"\nurl = "https://issuer.example"\n' if asked.issuer else ""
    file.write_text(f'title = "T"\ncohorts = ["web"]\n{keys}{issuer}{question}')
    assert f"Access {asked.access}: {ONE_REPORT[asked.access]}\n" in DENIABLE.ok("survey", "check", file)
    printed = DENIABLE.ok("survey", "publish", file, "--db", tmp_path / "t.db")
    link = f"http://127.0.0.1:8000/s/{read_survey(file.read_bytes()).id}"
    assert (f"answer   {link}\n" in printed) == (asked.access == "open")
    assert ("#cohort=web" in printed) == (asked.access == "open")
    line = next((each for each in printed.splitlines() if each.startswith("invite ")), None)
    assert (line is None) == (asked.access == "open")
    if asked.access == "invited":  # the database is its issuer's too
        assert line
        assert DENIABLE.ok(*line.split()[2:]).count(f"{link}#invitation=") == 100

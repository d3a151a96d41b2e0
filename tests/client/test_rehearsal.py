"""Rehearsals: made-up people with the shares and the relation that were asked for, through devices to files."""

from __future__ import annotations

import csv
import datetime
import math
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pandas
import pytest
import urllib3

from deniable import ParameterError, read_survey
from deniable_client.rehearsal.command import as_rehearsed
from deniable_client.rehearsal.people import (
    Relation,
    make_people,
    make_people_of_cohorts,
    read_cohort_truths,
    read_truths,
    true_figures,
)
from deniable_statistics.data.reports_csv import reports_from_csv
from tools.rig.collectors import free_port, running_collector
from tools.rig.command_line import CommandLine
from tools.rig.patience import PATIENCE, wait_until
from tools.rig.survey_files import question_toml, survey_toml

TEXT = survey_toml(
    "T",
    question_toml("drunk", "yes-no", epsilon=2),
    question_toml("stressed", "yes-no", epsilon=2),
    question_toml("often", "choice", options=["never", "once", "often"], epsilon=1),
    question_toml("what", "ticks", options=["a", "b", "c"], epsilon=1),
    question_toml("drinks", "number", lo=0, hi=10, epsilon=0.5),
    cohorts=["north", "south"],
    cohort_required=True,
    access="invited",
    readers="token",
)
SURVEY = read_survey(TEXT)


def test_people_have_the_shares_and_the_relation_that_were_put_in() -> None:
    """Fixed seed; with 20,000 people a share lies within 4 standard errors, 1.4 points, of what was asked."""
    relation = Relation.parse("drunk ~ stressed", SURVEY, 1.5)
    truths = read_truths(["drunk=0.4", "often=0.2,0.3,0.5", "what=0.1"], SURVEY)
    people = make_people(SURVEY, 20_000, truths, relation, random.Random(1))
    found = true_figures(people, SURVEY)
    expected = {("drunk", "yes"): 0.4, ("stressed", "yes"): 0.3, ("often", "often"): 0.5, ("what", "b"): 0.1}
    for key, share in expected.items():
        assert found["share", *key] == pytest.approx(share, abs=0.014)
    table = [
        [sum(p["stressed"] == x and p["drunk"] == y for p in people) for y in ("no", "yes")] for x in ("no", "yes")
    ]
    log_odds = math.log(table[1][1] * table[0][0] / (table[1][0] * table[0][1]))
    assert log_odds == pytest.approx(1.5, abs=0.15)
    assert 0 <= found["mean", "drinks", None] <= 10


def test_cohorts_have_the_shares_that_were_put_in() -> None:
    """Fixed seed; with 10,000 people in each cohort a share lies within 4 standard errors, 2 points."""
    truths = read_truths(["drunk=0.4", "stressed=0.2"], SURVEY)
    of_cohorts = read_cohort_truths([("south", "drunk=0.6"), ("south", "often=0.2,0.3,0.5")], SURVEY)
    people = make_people_of_cohorts(SURVEY, 20_001, truths, of_cohorts, random.Random(1))
    assert len(people) == 20_001
    north, south = (true_figures(people[place::2], SURVEY) for place in (0, 1))
    assert north["share", "drunk", "yes"] == pytest.approx(0.4, abs=0.02)
    assert south["share", "drunk", "yes"] == pytest.approx(0.6, abs=0.02)
    assert south["share", "often", "often"] == pytest.approx(0.5, abs=0.02)
    assert south["share", "stressed", "yes"] == pytest.approx(0.2, abs=0.02)
    with pytest.raises(ParameterError, match=r"must name a cohort of the survey \(north, south\), got 'east'"):
        read_cohort_truths([("east", "drunk=0.6")], SURVEY)


@pytest.mark.slow
def test_a_rehearsal_of_cohorts_that_differ_shows_each_beside_its_truth(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(TEXT, encoding="utf-8")
    try_it = CommandLine("survey", "try", str(file))
    options = ("--respondents", 120, "--seed", 1, "--cohort-truth", "south", "drunk=1", "--truth", "drunk=0")
    folder = tmp_path / "rehearsal"
    said = try_it.ok(*options, "--to", folder, "--port", free_port(), "--exit")
    lines = {tuple(line.split()[:3]): line.split()[3] for line in said.splitlines() if line.startswith("drunk ")}
    assert lines["drunk", "yes", "north"] == "0.0%"
    assert lines["drunk", "yes", "south"] == "100.0%"
    assert "REHEARSAL.txt, estimates-by-cohort.csv, estimates.csv, reports.csv" in said
    together, by_cohort = (
        list(csv.DictReader(folder.joinpath(name).read_text(encoding="utf-8").splitlines()))
        for name in ("estimates.csv", "estimates-by-cohort.csv")
    )
    assert list(by_cohort[0]) == list(together[0])
    assert {row["cohort"] for row in together} == {""}
    assert {(row["question"], row["cohort"]) for row in by_cohort if row["option"] == "yes"} == {
        (question, cohort) for question in ("drunk", "stressed") for cohort in ("north", "south")
    }
    assert all(row["n"] == "60" for row in by_cohort if row["question"] == "drunk")
    assert "does not go with" in try_it.refused(*options, "--formula", "drunk ~ stressed")


def test_nobody_answers_a_question_that_does_not_apply() -> None:
    asked = (
        question_toml("drunk", "yes-no", epsilon=1),
        question_toml("told", "yes-no", epsilon=1, ask_if="drunk = yes"),
    )
    survey = read_survey(survey_toml("T", *asked))
    people = make_people(survey, 1000, {}, None, random.Random(1))
    assert all(("told" in person) == (person["drunk"] == "yes") for person in people)
    found = true_figures(people, survey)
    drunk = found["share", "drunk", "yes"]
    assert found["share", "told", str(survey.questions[1].options[-1])] == pytest.approx(1 - drunk)
    assert found["share", "told", "yes"] == pytest.approx(drunk * found["among", "told", "yes"])


@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        ("drunk", "must be like"),
        ("drunk ~ often", "must be of yes-no questions that everybody is asked \\(drunk, stressed\\)"),
        ("drunk ~ drunk", "must name each question once"),
        ("drunk ~ age", "got 'age'"),
    ],
)
def test_analyses_that_cannot_be_rehearsed_are_refused(formula: str, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        Relation.parse(formula, SURVEY, 1)


@pytest.mark.parametrize("formula", ["drunk ~ cohort", "drunk ~ stressed + cohort", "drunk ~ C(cohort)"])
def test_a_formula_of_cohorts_is_answered_with_the_option_for_them(formula: str) -> None:
    with pytest.raises(
        ParameterError,
        match=r"; for shares that differ by cohort, use --cohort-truth instead; 'deniable simulate --formula' ",
    ):
        Relation.parse(formula, replace(SURVEY, cohorts=("a", "b")), 1)


@pytest.mark.parametrize(
    "truth", ["drunk", "drunk=2", "nobody=0.3", "often=0.5,0.5", "often=0.5,0.2,0.2", "drinks=3", "drunk=x"]
)
def test_truths_that_are_none_are_refused(truth: str) -> None:
    with pytest.raises(ParameterError, match="truth: "):
        read_truths([truth], SURVEY)


def test_a_rehearsal_is_open_to_all_its_people() -> None:
    dated = replace(SURVEY, closes=datetime.date(2020, 1, 1), closes_at=100)
    rehearsed = as_rehearsed(dated)
    assert (rehearsed.access, rehearsed.closes, rehearsed.closes_at) == ("open", None, None)
    assert rehearsed.questions == SURVEY.questions


def test_an_analysis_of_rows_that_are_not_kept_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(f'retention = "tallies"\n{TEXT}', encoding="utf-8")
    said = CommandLine("survey", "try", str(file)).refused("--formula", "drunk ~ stressed", "--exit")
    assert "needs the rows of reports" in said


@pytest.mark.slow
def test_rehearsal_ends_with_the_files_of_a_study_and_what_was_found(tmp_path: Path) -> None:
    file, folder = tmp_path / "survey.toml", tmp_path / "files"
    file.write_text(TEXT, encoding="utf-8")
    try_it = CommandLine("survey", "try", str(file))
    before = sorted(tmp_path.iterdir())
    folder.mkdir()  # as an attempt leaves it that failed at a port which was taken
    # A port of its own: what runs beside it takes 8000 by default, too.
    options = ("--port", free_port(), "--respondents", 120, "--seed", 1, "--to", folder, "--exit")
    said = try_it.ok(*options, "--formula", "drunk ~ stressed")
    assert "120 simulated people answered through their devices." in said
    assert "the rehearsal leaves out invitations, sealing and dates" in said
    assert "The planned analysis, drunk ~ stressed" in said
    assert sorted(tmp_path.iterdir()) == [folder, *before]  # no database of the author's
    assert "made-up replies" in (folder / "REHEARSAL.txt").read_text(encoding="utf-8")
    assert {"estimates.csv", "reports.csv", "survey.json", "reports.xlsx"} <= {each.name for each in folder.iterdir()}
    with (folder / "reports.csv").open(encoding="utf-8") as rows:
        reports = list(csv.DictReader(rows))
    assert len(reports) == 120
    assert {each["cohort"] for each in reports} == {"north", "south"}
    assert "must be new or empty" in try_it.run("--to", folder, "--exit").output


PAGES = (
    "/results",
    "/results/drunk",
    "/results/often?by=cohort",
    "/results/drunk?with=stressed",
    "/results/drinks.csv",
)


def _seen(url: str, survey_id: str) -> list[str]:
    """Pages of results, without the address of the collector that serves them."""
    answers = [urllib3.request("GET", f"{url}/s/{survey_id}{page}", timeout=PATIENCE) for page in PAGES]
    assert [each.status for each in answers] == [200] * len(PAGES)
    return [each.data.decode().replace(url.removeprefix("http://"), "COLLECTOR") for each in answers]


def _unmarked(page: str) -> str:
    """A page of a rehearsal without what says that it is one."""
    banner = '<p class="flag rehearsal" role="note"><strong>Rehearsal: made-up replies.</strong></p>\n'
    return page.replace(banner, "").replace("Rehearsal: made-up replies. ", "")


@contextmanager
def _rehearsed(file: Path, folder: Path, survey_id: str) -> Iterator[str]:
    """A rehearsal whose results can be looked at, as an author does; its collector's address."""
    port = free_port()
    command = [sys.executable, "-m", "deniable", "survey", "try", str(file), "--port", str(port), "--to", str(folder)]
    # What opens a browser on an author's computer.
    environment = os.environ | {"BROWSER": "true"}
    log = folder.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen([*command, "--respondents", "120"], stdout=output, stderr=output, env=environment)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: process.poll() is not None or "Ctrl-C stops it" in log.read_text(), "the rehearsal is over")
        assert process.poll() is None, log.read_text()
        yield url
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


@pytest.mark.long
def test_results_pages_and_files_of_a_rehearsal_are_those_of_a_real_study(tmp_path: Path) -> None:
    """The very reports of a rehearsal, sent to a collector that knows nothing of it, give the same pages and files."""
    text = TEXT.replace('access = "invited"\n', "").replace('readers = "token"\n', "")
    survey = read_survey(text)
    file, folder, real = tmp_path / "survey.toml", tmp_path / "rehearsal", tmp_path / "real"
    file.write_text(text, encoding="utf-8")
    real.mkdir()
    with _rehearsed(file, folder, survey.id) as url:
        pages = _seen(url, survey.id)
        log = (tmp_path / "rehearsal.log").read_text(encoding="utf-8")
        assert "Answer it yourself:" not in log  # it is closed
        assert f"deniable survey preview {file}" in log
        verified = CommandLine("verify").ok(f"{url}/s/{survey.id}")
        assert "no study: the collector says that it is a demo or a rehearsal" in verified
    with running_collector(tmp_path) as collector:
        collector.publish(survey)
        with (folder / "reports.csv").open(encoding="utf-8", newline="") as rows:
            for report in reports_from_csv(rows, survey):
                answer = urllib3.request(
                    "POST",
                    f"{collector.url}/api/v1/surveys/{survey.id}/reports",
                    body=report.encode(),
                    headers={"Content-Type": "application/json"},
                )
                assert answer.status in (200, 201, 202), answer.data
        CommandLine("survey", "close").ok(survey.id, "--db", collector.place)
        assert all("Rehearsal: made-up replies." in each for each in pages[:-1])
        assert _seen(collector.url, survey.id) == [_unmarked(each) for each in pages]
        for name in ("reports.csv", "estimates.csv"):
            answer = urllib3.request("GET", f"{collector.url}/api/v1/surveys/{survey.id}/{name}")
            assert answer.data == (folder / name).read_bytes()
        for name in ("reports.sav", "reports.xlsx"):
            CommandLine("export").ok(survey.id, "--db", collector.place, "--to", real / name)
    assert (folder / "survey.json").read_bytes() == survey.document
    one, other = (pandas.read_spss(each / "reports.sav", convert_categoricals=False) for each in (folder, real))
    pandas.testing.assert_frame_equal(one, other)
    one, other = (pandas.read_excel(each / "reports.xlsx", sheet_name=0) for each in (folder, real))
    pandas.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize("effect", [math.nan, math.inf, 1e308, -1e9])
def test_effects_beyond_all_measure_are_refused(effect: float) -> None:
    with pytest.raises(ParameterError, match="effect: must be a log odds ratio within ±20, got"):
        Relation.parse("drunk ~ stressed", SURVEY, effect)

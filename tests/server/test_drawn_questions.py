"""Questions that not everybody is asked, on their way through the collector: reports, tallies, rows, pages, files."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from deniable import Report, Survey, read_survey, tally_reports
from deniable_client import randomize
from deniable_commands.main import main
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.survey_files import question_toml, survey_toml

NAMES = ("affair", "tax", "drugs", "theft", "abuse")
SURVEY = read_survey(
    survey_toml(
        "Kinds",
        *(question_toml(name, "yes-no", f"{name}?", group="acts") for name in NAMES),
        question_toml("alone", "yes-no", epsilon=0.5),
        question_toml("drinks", "number", lo=0, hi=9, group="others"),
        question_toml("boxes", "ticks", options=["a", "b", "c"], group="others"),
        groups={"acts": {"epsilon": 2}, "others": {"epsilon": 1.5}},
        cohorts=["paper", "web"],
        results="live",
    )
)


def people(n: int, survey: Survey = SURVEY) -> list[Report]:
    """Reports of people, drawn by a generator that repeats."""
    dice = random.Random(8)

    def answers() -> dict[str, object]:
        given: dict[str, object] = {name: dice.choice(["no", "yes"]) for name in (*NAMES, "alone")}
        return given | {"drinks": dice.randrange(10), "boxes": ["b"]}

    return [
        randomize(
            survey,
            answers(),  # type: ignore[arg-type]  # of every type
            dice.choice([None, "paper", "web"]),
            word=lambda: dice.getrandbits(32),
            report_id=f"{dice.getrandbits(128):032x}",
        )
        for _ in range(n)
    ]


@pytest.mark.parametrize("retention", ["reports", "tallies"])
def test_tallies_know_how_many_were_asked(store: SqliteStore, retention: str) -> None:
    survey = replace(SURVEY, retention=retention)
    store.publish(survey)
    reports = people(500, survey)
    for start in range(0, 500, 60):
        store.store_reports([(survey, reports[start : start + 60])])
    found = store.tallies(survey)
    assert found == tally_reports(reports, survey)
    store.settle()
    assert store.tallies(survey) == found
    whole = found[None] + found["paper"] + found["web"]
    for name in (*NAMES, "drinks", "boxes"):
        question = survey.question(name)
        _, asked = question.counted(whole.counts[name], whole.n)
        assert asked == sum(report.values[name] is not None for report in reports)
        assert abs(asked - 500 * question.share_asked) < 60  # five standard errors and more
    assert survey.question("alone").counted(whole.counts["alone"], whole.n)[1] == 500


def test_only_questions_that_are_drawn_may_be_empty(store: SqliteStore) -> None:
    store.publish(SURVEY)
    (report,) = people(1)
    broken = replace(report, values={**report.values, "alone": None})
    with pytest.raises(sqlite3.IntegrityError):
        store.store_reports([(SURVEY, [broken])])


@pytest.mark.slow
def test_results_and_files_say_how_many_asked_a_question(http: FlaskClient, store: SqliteStore) -> None:
    store.publish(SURVEY)
    reports = people(300)
    for report in reports:
        answer = http.post(
            f"/api/v1/surveys/{SURVEY.id}/reports", data=report.encode(), content_type="application/json"
        )
        assert answer.status_code in (200, 201), answer.text
    rows = json.loads(http.get(f"/api/v1/surveys/{SURVEY.id}/estimates").text)["estimates"]
    asked = {name: sum(report.values[name] is not None for report in reports) for name in SURVEY.checks}
    assert all(row["n"] == asked[row["question"]] for row in rows if row["question"] != "boxes")
    assert all(row["n"] <= asked["boxes"] for row in rows if row["question"] == "boxes"), "boxes are drawn once more"
    table = list(csv.DictReader(io.StringIO(http.get(f"/api/v1/surveys/{SURVEY.id}/reports.csv").text)))
    assert len(table) == 300
    by_id = {report.id: report for report in reports}
    for line in table:
        values = by_id[line["id"]].values
        assert [line[name] == "" for name in values] == [value is None for value in values.values()]
    page = http.get(f"/s/{SURVEY.id}/results?view=all").text
    assert "Each device asks 2 of 5 questions, drawn by chance; the table says how many asked this one." in page
    assert "One chance goes into all that a device is asked of these 5. ε bounds what the whole of it reveals" in page
    assert f'data-name="Replies" dir="auto">{asked["affair"]}</td>' in page
    by_cohort = json.loads(http.get(f"/api/v1/surveys/{SURVEY.id}/estimates?by=cohort").text)["estimates"]
    affair = [row for row in by_cohort if row["question"] == "affair" and row["option"] == "yes"]
    assert sum(row["n"] for row in affair) == asked["affair"]
    assert len(affair) == 3


def test_pages_figures_and_sentences_count_the_replies_to_their_question(http: FlaskClient, store: SqliteStore) -> None:
    store.publish(SURVEY)
    reports = people(600)
    store.store_reports([(SURVEY, reports)])
    asked = [report for report in reports if report.values["affair"] is not None]
    said = f"Replies to this question: {len(asked)} (of 600; each device asks 2 of 5 questions)"
    for path in ("results/affair", "results/affair/embed", "results/affair.svg", "results", "results?view=all"):
        read = " ".join(re.sub(r"<[^>]*>", " ", http.get(f"/s/{SURVEY.id}/{path}").text).split())
        assert said in read, path
        if path == "results":
            assert "Replies counted: 600" in read
            assert "Each device asks only some of the questions" in read
    (printed,) = re.findall(r'<q dir="auto">(.*?)</q>', http.get(f"/s/{SURVEY.id}/results/affair").text)
    assert f"This rests on {len(asked)} replies to this question, " in printed
    by_cohort = re.findall(r'<q dir="auto">(.*?)</q>', http.get(f"/s/{SURVEY.id}/results/affair?by=cohort").text)
    for cohort in ("paper", "web"):
        n = sum(report.cohort == cohort for report in asked)
        assert any(f"This rests on {n} replies from “{cohort}”, " in each for each in by_cohort), cohort
    both = sum(report.values["boxes"] is not None for report in asked)
    crossed = http.get(f"/s/{SURVEY.id}/results/affair?with=boxes").text
    assert f"Replies to both questions: {both} (of 600)" in crossed
    assert f"The page of “affair?” alone counts all {len(asked)} replies to it" in crossed
    rows = re.findall(
        r'<tr role="row"( class="weak")?><th.*data-name="95 % interval" dir="auto">(.*?)</td></tr>', crossed
    )
    assert len(rows) == crossed.count('<th scope="row" role="rowheader"')
    ends = [[float(each) for each in re.findall(r"[0-9.]+", interval)] or [0, 100] for _, interval in rows]
    wide = [high - low > 30 for low, high in ends]
    marked = [bool(weak) for weak, _ in rows]
    assert True in wide
    assert marked == wide, "every number that is too weak is in grey, and no other"
    assert "and ends of intervals are rounded outwards" in crossed
    differences = re.findall(r'<q dir="auto">(.*?)</q>', http.get(f"/s/{SURVEY.id}/results/affair?compare=cohort").text)
    assert all(re.search(r" replies from “paper” and [0-9]+ replies from “web”, ", each) for each in differences)


@pytest.mark.parametrize(
    ("values", "came"), [({"affair": None}, "null"), (dict.fromkeys(NAMES, 1), "got 5"), ({"alone": None}, "null")]
)
def test_what_no_device_asks_is_refused(
    http: FlaskClient, store: SqliteStore, values: dict[str, object], came: str
) -> None:
    store.publish(SURVEY)
    report = next(each for each in people(50) if each.values["affair"] is not None)
    content = json.loads(report.encode())
    content["values"] |= values
    answer = http.post(f"/api/v1/surveys/{SURVEY.id}/reports", json=content)
    assert answer.status_code == 422
    assert "values" in answer.json["detail"]
    assert came in answer.json["detail"]
    assert store.state(SURVEY.id).reports == 0


@pytest.mark.parametrize(
    ("draw", "sentences"),
    [
        (1, ["1 of 3, each with a mechanism of its own", "Two of them cannot be cross-tabulated"]),
        (
            2,
            [
                "asks 2 of 3, in one response",
                "no way takes fewer than 1,098",
                "comes from the people who are asked both: one in 3",
                "Two of them cannot be in the same regression",
            ],
        ),
        (3, ["asks 3 of 3, in one response", "Two of them cannot be in the same regression"]),
    ],
)
def test_authors_learn_what_a_group_asks_and_what_cannot_be_analysed(
    tmp_path: Path, draw: int, sentences: list[str]
) -> None:
    file = tmp_path / "survey.toml"
    questions = (question_toml(name, "yes-no", group="acts") for name in NAMES[:3])
    file.write_text(survey_toml("T", *questions, groups={"acts": {"epsilon": 2, "draw": draw}}), encoding="utf-8")
    done = CliRunner().invoke(main, ["survey", "check", str(file)])
    assert done.exit_code == 0, done.output
    assert "Group 'acts' (affair, tax, drugs): each device asks" in done.output
    assert f"Whole survey: epsilon 2.0000, {draw} " in done.output
    for sentence in sentences:
        assert sentence in done.output

"""The preview of a survey file: what the bench says, what it never does, and what a broken file leaves."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from deniable import DeniableError, read_survey
from deniable_server.authors.bench import bench
from deniable_server.authors.checking import group_lines, question_lines
from deniable_server.authors.draft import Draft
from deniable_server.authors.places import line_of
from deniable_server.authors.preview import STATES, create_preview
from deniable_server.authors.templates import template
from deniable_statistics.authoring.authoring import read_toml, survey_of
from deniable_statistics.authoring.outlook import outlook
from deniable_statistics.authoring.scaling import nominal_epsilon, scaled
from deniable_statistics.planning.plans import SizePlan, estimands_of
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml

QUESTIONS = (
    question_toml("affair", "yes-no"),
    question_toml("often", "choice", options=["never", "once", "often"]),
    question_toml("coin", "yes-no", truth="1/2"),
)
TEXT = survey_toml("T", *QUESTIONS, epsilon=2, cohorts=["north", "south"])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my-survey.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def http(file: Path) -> FlaskClient:
    return create_preview(file).test_client()


def figures(http: FlaskClient, **query: Any) -> dict[str, Any]:
    done = http.get("/bench/figures", query_string=query, base_url="http://127.0.0.1:8100")
    assert done.status_code == 200, done.text
    found = done.json
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["climate", "harassment"])
def test_people_for_a_precision_are_one_number_in_check_plan_and_bench(
    name: str, file: Path, http: FlaskClient
) -> None:
    """Groups say the largest number that `plan` says of their questions, and comparisons of options say none."""
    file.write_text(template(name), encoding="utf-8")
    survey = read_survey(template(name))
    found = figures(http, respondents=700)["survey"]["questions"]
    planned = [SizePlan(estimands_of(each, (0.5,))[0], 0.05)["people"] for each in survey.questions]
    assert [each["figures"]["people"] for each in found] == planned
    (unit,) = survey.units
    assert unit.group
    (line,) = (each for each in group_lines(unit, unit.group) if "ewest respondents" in each)
    way = r"in one response" if unit.group.joint else "with all of epsilon"
    (people,) = re.findall(rf"{unit.group.draw} of {unit.group.size} {way} ([\d,]+)", line)
    assert int(people.replace(",", "")) == max(planned)
    for question, figure in zip(survey.questions, found, strict=True):
        said = [each for each in question_lines(question, survey) if "ewest respondents" in each]
        numbers = {int(n.replace(",", "")) for n in re.findall(r"\d[\d,]{2,}(?![\d.])", " ".join(said))}
        assert not numbers or figure["figures"]["people"] in numbers
        assert not numbers or not question.has_shares


def test_bench_says_what_check_says(http: FlaskClient, file: Path) -> None:
    said = CommandLine("survey", "check").ok(file, "--respondents", 700)
    found = figures(http, respondents=700)["survey"]
    sentences = [found["outlook"], *found["whole"], *found["around"], found["id"]]
    for each in found["questions"]:
        sentences += [*each["lines"], f"{each['id']} ({each['type']}): {each['text']}"]
    for each in found["groups"]:
        sentences += [each["heading"], *each["lines"]]
    names = {"error": "Warning", "warning": "Warning", "note": "Note"}
    sentences += [f"{names[each['kind']]}: {each['text']}" for each in found["findings"]]
    for sentence in sentences:
        assert sentence in said
    left = said
    for sentence in sorted(sentences, key=len, reverse=True):
        left = left.replace(sentence, "")
    # What stands in the one stands in the other, but for the heading and who may answer.
    assert [line for line in map(str.strip, left.splitlines()) if line] == [
        "T",
        f"survey , {found['bytes']} bytes when published",
        "Access open: one report a person: not enforced",
    ]


def test_slider_says_what_a_file_with_that_epsilon_would(http: FlaskClient, file: Path) -> None:
    before = file.read_bytes()
    tried = figures(http, epsilon=1, respondents=700)["survey"]
    assert (tried["epsilon"]["is_tried"], tried["epsilon"]["written"]) == (True, 2)
    assert file.read_bytes() == before
    other = read_survey(TEXT.replace("epsilon = 2", "epsilon = 1"))
    assert tried["outlook"] == outlook(other, 700)
    assert [each["epsilon"] for each in tried["questions"]] == [each.epsilon for each in other.questions]


def test_every_epsilon_is_scaled_in_proportion() -> None:
    written = read_toml(
        survey_toml(
            "T",
            question_toml("a", "yes-no", group="acts"),
            question_toml("b", "yes-no", group="acts"),
            question_toml("c", "yes-no", epsilon="1/2"),
            question_toml("d", "yes-no"),
            epsilon=1,
            groups={"acts": {"epsilon": 0.5}},
        )
    )
    assert nominal_epsilon(written) == 2
    assert survey_of(scaled(written, 4)).epsilon == pytest.approx(4, abs=1e-6)
    assert survey_of(written).epsilon == pytest.approx(2, abs=1e-6)


def test_survey_of_coins_has_no_slider(file: Path, http: FlaskClient) -> None:
    file.write_text(survey_toml("T", QUESTIONS[2]), encoding="utf-8")
    assert figures(http)["survey"]["epsilon"]["written"] is None
    refused = http.get("/bench/figures?epsilon=1", base_url="http://localhost:8100")
    assert (refused.status_code, "given by coins" in refused.json["detail"]) == (422, True)


@pytest.mark.parametrize(
    ("slip", "line"),
    [
        (('title = "T"', 'title = "T'), 1),
        (('title = "T"', 'titel = "T"'), 1),
        (('id = "often"\ntype = "choice"', 'id = "often"\ntype = "choise"'), 12),
        (('"never", "once", "often"', '"never"'), 14),
        (("epsilon = 2", "epsilon = 40"), 2),
    ],
)
def test_broken_file_keeps_the_last_good_page_and_names_its_line(file: Path, slip: tuple[str, str], line: int) -> None:
    draft = Draft(file)
    good = draft.look()
    file.write_text(TEXT.replace(*slip), encoding="utf-8")
    found = bench(draft.look(), 700)
    assert (found["problem"]["line"], found["revision"]) == (line, good.revision + 1)
    assert slip[1].split("\n")[-1] in "".join(each["text"] for each in found["problem"]["lines"])
    assert good.version
    assert found["survey"]["id"] == good.version.survey.id
    file.unlink()
    assert "cannot be read" in bench(draft.look(), 700)["problem"]["text"]
    file.write_text(TEXT, encoding="utf-8")
    assert bench(draft.look(), 700)["problem"] is None


def test_the_bench_warns_where_few_replies_would_be_released_and_names_the_way_out(file: Path) -> None:
    file.write_text(f"cohort_required = true\n{TEXT}", encoding="utf-8")
    draft = Draft(file)

    def warned(respondents: int) -> list[str]:
        found = bench(draft.look(), respondents)["survey"]["findings"]
        return [each["text"] for each in found if each["text"].startswith("release: ")]

    (warning,) = warned(500)
    assert "200 reports times 2 groups are 400" in warning
    assert "release = 125 or fewer cohorts would show them sooner" in warning
    assert warned(800) == []


def test_a_first_version_that_is_broken_has_a_line_and_no_page(file: Path, http: FlaskClient) -> None:
    file.write_bytes(b'title = "\xff"')
    found = figures(http)
    assert (found["survey"], found["problem"]["line"]) == (None, 1)
    assert http.get("/as/open/survey", base_url="http://127.0.0.1:1").status_code == 404


def test_warnings_name_the_line_of_their_question() -> None:
    source = survey_toml("T", question_toml("a", "yes-no", epsilon=1), question_toml("b", "yes-no", epsilon=3))
    assert line_of(source, "question 'b': epsilon 3 protects little (above 2)") == 13
    assert line_of(source, "closes: 2020-01-01 is past; no report will be taken") is None
    assert line_of(source, "question 2: must have the key id") == 10


@pytest.mark.parametrize("state", STATES)
def test_replies_are_answered_and_never_kept(state: str, http: FlaskClient, file: Path) -> None:
    before = sorted(file.parent.iterdir())
    where = f"/as/{state}/api/v1/surveys/{figures(http)['survey']['id']}"
    sent = http.post(f"{where}/reports", json={"values": {"affair": 1}}, base_url="http://127.0.0.1:8100")
    assert sent.status_code == STATES[state][2]
    assert http.get(f"{where}/state", base_url="http://127.0.0.1:8100").json == {"state": STATES[state][0]}
    assert sorted(file.parent.iterdir()) == before


def test_pages_have_the_strict_policy_and_no_other_site_may_read_them(http: FlaskClient) -> None:
    for path in ("/", f"/as/open/s/{figures(http)['survey']['id']}"):
        policy = http.get(path, base_url="http://127.0.0.1:8100").headers["Content-Security-Policy"]
        for directive in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "trusted-types 'none'"):
            assert directive in policy.split("; ")
    for host in ("evil.example", "127.0.0.1.evil.example", "evil.example:8100"):
        done = http.get("/bench/figures", base_url=f"http://{host}")
        assert (done.status_code, "host: must be" in done.text) == (403, True)
    assert "Access-Control-Allow-Origin" not in http.get("/bench/figures", base_url="http://127.0.0.1:1").headers


@pytest.mark.parametrize("query", ["respondents=1", "respondents=x", "epsilon=0", "epsilon=nan", "epsilon=99"])
def test_figures_of_impossible_settings_are_refused_in_words(query: str, http: FlaskClient) -> None:
    done = http.get(f"/bench/figures?{query}", base_url="http://127.0.0.1:8100")
    assert done.status_code == 422
    assert "must be a number from" in done.json["detail"]


def test_a_change_is_noticed_at_once_and_a_wait_ends(file: Path) -> None:
    draft = Draft(file)
    revision = draft.look().revision
    began = time.monotonic()
    assert draft.wait(revision, 0.05).revision == revision
    assert time.monotonic() - began >= 0.05
    replaced = file.with_suffix(".new")
    replaced.write_text(TEXT.replace('title = "T"', 'title = "U"'), encoding="utf-8")
    os.replace(replaced, file)  # as editors save
    assert draft.wait(revision, 60).revision == revision + 1


def test_a_port_that_is_taken_is_said(file: Path) -> None:
    from deniable_server.authors.preview import preview_server

    first = preview_server(file, 0)
    try:
        with pytest.raises(DeniableError, match=r"must be free on 127\.0\.0\.1"):
            preview_server(file, first.server_port)
    finally:
        first.server_close()


def test_figures_are_json_that_browsers_read(http: FlaskClient) -> None:
    """No NaN and no infinity, which JSON does not have."""
    json.loads(json.dumps(figures(http, respondents=2)), parse_constant=pytest.fail)

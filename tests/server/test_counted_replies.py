"""The number of replies means one thing in all files: those that its numbers are from."""

from __future__ import annotations

import json
import random
import re

import pytest
from flask.testing import FlaskClient

from deniable import Survey, read_survey
from deniable_client import randomize
from deniable_research.results.verifying import verify
from deniable_server.store import Store
from tests.support.archives import files_of

DRAWN = """title = "T"
results = "live"
draw = 1
epsilon = 2
"""
QUESTION = '[[questions]]\nid = "q{}"\ntype = "yes-no"\ntext = "Q{}?"\n'


@pytest.fixture
def drawn(store: Store) -> Survey:
    """A survey of which each of 300 devices asks one question of three, and closed, so that it has a release."""
    survey = read_survey(DRAWN + "".join(QUESTION.format(number, number) for number in range(3)))
    store.publish(survey)
    chance = random.Random(5)
    answers = {question.id: "yes" for question in survey.questions}
    people = [randomize(survey, answers, word=lambda: chance.getrandbits(32)) for _ in range(300)]
    store.store_reports([(survey, people)])
    store.close_survey(survey.id)
    return survey


def test_files_of_drawn_questions_count_the_replies_to_each(http: FlaskClient, drawn: Survey) -> None:
    pages, api = f"/s/{drawn.id}/results", f"/api/v1/surveys/{drawn.id}"
    rows = http.get(f"{api}/estimates.json").json["estimates"]
    asked = {row["question"]: row["n"] for row in rows}
    assert sum(asked.values()) == 300
    for question, n in asked.items():
        view = http.get(f"{pages}/{question}.json").json
        assert (view["n"], view["replies"]) == (n, 300)
        assert {row["n"] for row in view["rows"]} == {n}
        assert f"{n} (of 300; each device asks 1 of 3 questions)" in http.get(f"{pages}/{question}").text
        over = http.get(f"{pages}/{question}.json?over=releases").json
        assert (over["n"], over["replies"]) == (None, None)
    together = http.get(f"{pages}.json").json
    assert (together["n"], together["replies"]) == (300, 300)
    files = files_of(http.get(f"{api}/archive.zip").data)
    methods = files["methods.txt"].decode()
    package = json.loads(files["datapackage.json"])
    table = files["estimates.csv"].decode()
    least, most = min(asked.values()), max(asked.values())
    assert f"300 replies were counted, of which {least} to {most} answered each question, as of" in methods
    fields = {field["name"]: field.get("description", "") for field in package["resources"][0]["schema"]["fields"]}
    assert fields["n"].startswith("number of replies to the question; fewer than all")
    for question, n in asked.items():
        assert re.findall(rf"^{question},yes,,(\d+),", table, re.MULTILINE) == [str(n)]


@pytest.mark.slow
def test_drawn_questions_are_verified(http: FlaskClient, drawn: Survey) -> None:
    assert (
        list(verify(lambda path: http.get(path).data, drawn.id))[-1] == "all checks passed: T, release 1, 300 replies"
    )

"""The pages without a browser: what they hold, and what they cannot be made to hold."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient
from markupsafe import escape

from deniable import Report, Survey, read_survey
from deniable_client import randomize
from deniable_server import charts
from deniable_server.embedding import catalogues
from deniable_server.results import figure
from deniable_server.store import Store

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>'


@pytest.fixture
def filled(store: Store, survey: Survey) -> Survey:
    store.publish(survey)
    answers = {"affair": "no", "religious": "fairly"}
    people = [randomize(survey, answers, [None, "paper", "web"][number % 3]) for number in range(300)]
    store.store_reports([(survey, people)])
    return survey


def test_page_to_answer_cannot_send_anything_without_its_script(http: FlaskClient, filled: Survey) -> None:
    page = http.get(f"/s/{filled.id}").text
    assert f'<deniable-survey src="/s/{filled.id}" document="{escape(filled.document.decode())}" ' in page
    assert 'type="module" src="/client/deniable.js" integrity="sha384-' in page
    assert not re.search(r"<(form|input|button|textarea|select)\b", page)
    assert "This page has to run a script" in page


@pytest.mark.parametrize("kind", ["s", "embed"])
@pytest.mark.parametrize(
    ("asked_for", "given"), [("de-AT,de;q=0.9,en;q=0.8", "de"), ("nl,fr;q=0.5", "fr"), ("nl", "en"), ("", "en")]
)
def test_page_to_answer_brings_the_words_that_the_browser_asks_for(
    http: FlaskClient, filled: Survey, kind: str, asked_for: str, given: str
) -> None:
    response = http.get(f"/{kind}/{filled.id}", headers={"Accept-Language": asked_for})
    assert f'catalogue="{escape(catalogues()[given])}"' in response.text
    assert "Accept-Language" in response.headers["Vary"]


def test_results_page_shows_chart_and_table(http: FlaskClient, filled: Survey) -> None:
    page = http.get(f"/s/{filled.id}/results").text
    assert "300 reports" in page
    assert f'src="/s/{filled.id}/results.svg"' in page
    rows = http.get(f"/api/v1/surveys/{filled.id}/estimates").json["estimates"]
    for row in rows:
        assert figure(row["estimate"], "share") in page
        assert f"{figure(row['conf_low'], 'share')} to {figure(row['conf_high'], 'share')}" in page
    assert "<script" not in page


def test_results_by_cohort_with_another_level(http: FlaskClient, filled: Survey) -> None:
    page = http.get(f"/s/{filled.id}/results?by=cohort&confidence=0.8").text
    assert "80 % interval" in page
    assert "paper" in page
    assert "results.svg?by=cohort&amp;confidence=0.8" in page
    chart = http.get(f"/s/{filled.id}/results.svg?by=cohort&confidence=0.8")
    assert chart.status_code == 200
    assert "paper" in chart.text


@pytest.mark.parametrize(("form", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_chart_is_an_image_and_the_same_for_the_same_numbers(
    http: FlaskClient, filled: Survey, form: str, start: bytes
) -> None:
    first = http.get(f"/s/{filled.id}/results.{form}")
    charts.estimates_chart.cache_clear()
    assert first.data.startswith(start)
    assert http.get(f"/s/{filled.id}/results.{form}").data == first.data


def test_results_without_reports(http: FlaskClient, store: Store, survey: Survey) -> None:
    store.publish(survey)
    page = http.get(f"/s/{survey.id}/results").text
    assert "0 reports" in page
    assert "<img" not in page
    assert "\u2013" in page
    assert http.get(f"/s/{survey.id}/results.svg").status_code == 200


def test_texts_of_a_survey_are_texts_everywhere(http: FlaskClient, store: Store) -> None:
    options = [EVIL, "$x_1$", "50 % & more", "\u0645\u0631\u062d\u0628\u0627", "\u4f60\u597d \U0001f600"]
    survey = read_survey(
        f"results = 'live'\ntitle = '{EVIL}'\norganiser = '{EVIL}'\nabout = '{EVIL}'\ncohorts = ['{EVIL}', '$c$']\n"
        f"[[questions]]\nid = 'q'\ntype = 'choice'\ntext = '{EVIL} $\\frac{{1}}{{$'\n"
        f"options = {options!r}\nepsilon = 1\n"
    )
    store.publish(survey)
    people = [randomize(survey, {"q": EVIL}, [EVIL, "$c$"][number % 2]) for number in range(20)]
    store.store_reports([(survey, people)])
    for path in ("", "/results", "/results?by=cohort", "/results.svg", "/results.svg?by=cohort"):
        response = http.get(f"/s/{survey.id}{path}")
        assert response.status_code == 200
        assert "<img src=x" not in response.text
        assert "<script>" not in response.text


def test_only_scripts_of_the_client_are_served(http: FlaskClient) -> None:
    with http.get("/client/define.js") as response:
        assert (response.status_code, response.mimetype) == (200, "text/javascript")
    for name in ("package.json", "__init__.py", "../deniable_client/client.py", "node_modules/typescript/lib/tsc.js"):
        assert http.get(f"/client/{name}").status_code == 404


def test_long_texts_are_shortened_on_charts() -> None:
    assert charts.shorten("a\n b", 10) == "a b"
    assert charts.shorten("x" * 20, 10) == "x" * 9 + "\u2026"


def test_results_warn_where_the_data_hardly_fit_the_design(http: FlaskClient, store: Store, survey: Survey) -> None:
    store.publish(survey)
    people = [Report(f"{i:032x}", None, {"affair": int(i % 10 == 0), "religious": 0}) for i in range(99)]
    store.store_reports([(survey, people)])
    page = http.get(f"/s/{survey.id}/results").text
    assert "<strong>yes:</strong> fewer reports than a share of 0 explains (p = " in page
    assert "one in a hundred can move a share here by up to 2.0 points" in page
    rows = http.get(f"/api/v1/surveys/{survey.id}/estimates").json["estimates"]
    assert rows[1]["p_below"] < 0.01 < rows[1]["p_above"]
    assert rows[1]["flag"] in page.replace("&#39;", "'")


def test_results_say_which_intervals_and_for_whom(http: FlaskClient, filled: Survey) -> None:
    page = http.get(f"/s/{filled.id}/results").text
    assert re.search(r"\(feldman-cousins\) are for\s+the shares in the population", page)
    page = http.get(f"/s/{filled.id}/results?target=respondents&simultaneous=true").text
    assert re.search(r"\(simultaneous wilson\) are for\s+the shares among the people who answered; those of", page)
    assert "estimates.csv?target=respondents&amp;simultaneous=True" in page

"""Ways of a reader of results: the language that was asked for stays, and no way leads where nothing can be."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from deniable import CollectorError, Report, Survey, SurveyError, read_survey
from deniable_research.results.collector import NoSurvey
from deniable_research.results.verifying import verify
from deniable_server.language import words
from deniable_server.store import Store
from tools.rig.survey_files import question_toml, survey_toml

QUESTIONS = [question_toml(name, "yes-no") for name in "abcd"]


def _published(store: Store, survey: Survey) -> str:
    store.publish(survey)
    names = [each.id for each in survey.questions]
    asked = survey.questions[0].group.draw if survey.questions[0].group else len(names)
    reports = [
        Report(
            f"{i:032x}",
            None,
            {name: (i >> at) % 2 if (at - i) % len(names) < asked else None for at, name in enumerate(names)},
        )
        for i in range(200)
    ]
    store.store_reports([(survey, reports)])
    store.close_survey(survey.id)
    return f"/s/{survey.id}"


def test_the_language_that_was_asked_for_stays_on_the_way(http: FlaskClient, store: Store) -> None:
    base = _published(store, read_survey(survey_toml("T", question_toml("q", "yes-no", epsilon=1))))
    page = http.get(f"{base}/results?lang=de").text
    assert f'href="{base}/releases?lang=de"' in page
    releases = http.get(f"{base}/releases?lang=de").text
    assert '<html lang="de"' in releases
    assert f'href="{base}/results?lang=de"' in releases
    assert f'href="{base}/results?release=1&amp;lang=de"' in releases
    assert "lang=" not in http.get(f"{base}/releases").text.partition("<main>")[2]
    assert f'href="{base}/results?lang=de">' in http.get(f"{base}/results?view=all&lang=de").text
    people = {"Accept": "text/html"}
    for path, status in (("/s/nothing?lang=de", 404), (f"{base}/results?lang=de&by=x", 422)):
        answer = http.get(path, headers=people)
        assert (answer.status_code, '<html lang="de"' in answer.text) == (status, True)
    assert '<html lang="en"' in http.get("/s/nothing?lang=xx", headers=people).text


@pytest.mark.parametrize(("want", "name", "command"), [("shares", "rCrossOne", ""), ("crosstabs", "rCrossRows", "a b")])
def test_crossings_that_cannot_be_are_not_offered(
    http: FlaskClient, store: Store, want: str, name: str, command: str
) -> None:
    options = {"epsilon": 2.5, "want": ["shares", "crosstabs"]} if want == "crosstabs" else {"epsilon": 0.5, "draw": 1}
    survey = read_survey(survey_toml("T", *QUESTIONS, **options))
    group = survey.questions[0].group
    assert group is not None
    assert (group.joint is not None) == (want == "crosstabs")
    base = _published(store, survey)
    page = http.get(f"{base}/results/a").text
    assert words("en")[name] in page
    assert "with=" not in page.partition("</head>")[2]
    assert ("deniable analyze crosstab reports.csv a b --survey survey.json" in page) == bool(command)
    refused = http.get(f"{base}/results/a.json?with=b")
    assert refused.status_code == 422
    assert ("crosstab" in refused.text) == bool(command)


def test_a_survey_that_is_not_there_is_not_called_a_false_one() -> None:
    def fetch(path: str) -> bytes:
        raise NoSurvey("survey: there is none with this id at http://127.0.0.1")

    with pytest.raises(SurveyError, match=r"^survey: there is none with this id at http"):
        list(verify(fetch, "a" * 26))

    def silent(path: str) -> bytes:
        raise CollectorError("http://127.0.0.1: cannot be reached")

    with pytest.raises(CollectorError, match=r"^http"):
        list(verify(silent, "a" * 26))

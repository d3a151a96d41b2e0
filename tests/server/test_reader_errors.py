"""Readers of results whose address is wrong, or who cite, read their own language."""

from __future__ import annotations

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient

from deniable import Report, Survey, read_survey
from deniable_server.edge.exclusive_options import EXCLUSIVE
from deniable_server.language import words
from deniable_server.store import Store
from tools.rig.surveys import SURVEY

BROWSER = {"Accept": "text/html"}

WRONG = {
    "de": "Ein Teil dieser Adresse nennt etwas, das es hier nicht gibt",
    "fr": "Une partie de cette adresse désigne quelque chose qui n’existe pas ici",
    "es": "Una parte de esta dirección nombra algo que no existe aquí",
    "ar": "جزء من هذا العنوان يسمّي شيئًا غير موجود هنا",
    "en": "A part of this address names something that does not exist here",
}

CITED = {
    "de": "Umfrage {}, Randomized-Response-Verfahren. Gezählte Rückmeldungen: 1, Stand 25. November 2026.",
    "fr": "Enquête {}, réponse randomisée. Envois comptés : 1, état du 25 novembre 2026.",
    "es": "Encuesta {}, respuesta aleatorizada. Envíos contados: 1, datos del 25 de noviembre de 2026.",
    "ar": "الاستبيان {}، الاستجابة العشوائية. الردود المحسوبة: 1، حتى 25 نوفمبر 2026.",
    "en": "Survey {}, randomised response. Replies counted: 1, as of 25 November 2026.",
}


@pytest.fixture
def survey(store: Store) -> Survey:
    survey = read_survey(SURVEY)
    store.publish(survey)
    store.store_reports([(survey, [Report("0" * 32, None, {"affair": 1, "religious": 2})])])
    return survey


@pytest.mark.parametrize("language", WRONG)
def test_a_wrong_view_leads_back_to_the_results(http: FlaskClient, survey: Survey, language: str) -> None:
    results = f"/s/{survey.id}/results"
    for wrong in (f"{results}?by=nothing&lang={language}", f"{results}/affair?with=affair&lang={language}"):
        page = http.get(wrong, headers=BROWSER)
        assert page.status_code == 422
        assert WRONG[language] in page.text
        assert f'lang="{language}"' in page.text
        assert f'href="{results}?lang={language}"' in page.text
    page = http.get(f"{results}/nothing", headers=BROWSER | {"Accept-Language": language})
    assert page.status_code == 404
    assert f'href="{results}"' in page.text


VALUES = {
    "assume_fake": "0.01",
    "by": "cohort",
    "compare": "cohort",
    "method": "wilson",
    "misbehaving": "0.01",
    "over": "time",
    "pooled": "versions",
    "release": "1",
    "simultaneous": "true",
    "sort": "share",
    "target": "respondents",
    "with": "religious",
}
"""A value of each option that this survey takes where it stands alone."""

PAIRS = [(one, other) for one, others in EXCLUSIVE.items() for other in others]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_options_that_do_not_go_together_are_named(http: FlaskClient, survey: Survey, one: str, other: str) -> None:
    page = http.get(f"/s/{survey.id}/results/affair?{one}={VALUES[one]}&{other}={VALUES[other]}", headers=BROWSER)
    if other == "release":
        assert page.status_code == 404, "results that are live have no release that a page could be crossed with"
        return
    assert page.status_code == 422
    said = f"These choices do not go together: take “{one}” or “{other}” out of the address."
    assert said in page.text
    assert WRONG["en"] not in page.text


@pytest.mark.parametrize("language", WRONG)
def test_a_refusal_of_combined_options_is_in_the_language_of_the_page(
    http: FlaskClient, survey: Survey, language: str
) -> None:
    address = f"/s/{survey.id}/results/affair?with=religious&assume_fake=0.01&lang={language}"
    page = http.get(address, headers=BROWSER).text
    said = words(language)["rCombined"].format(one="with", other="assume_fake")
    assert said in page
    assert WRONG[language] not in page
    # For programs it stays the sentence that names the parameters.
    assert "compare, with: must go with no other option" in http.get(address).json["detail"]


def test_a_choice_that_is_wrong_by_itself_is_no_combination(http: FlaskClient, survey: Survey) -> None:
    page = http.get(f"/s/{survey.id}/results/affair?assume_fake=0.9&confidence=0.9", headers=BROWSER)
    assert WRONG["en"] in page.text


@pytest.mark.parametrize("contact", [None, "help@uni.example"])
def test_who_can_give_the_program_that_verifies_is_said(app: APIFlask, survey: Survey, contact: str | None) -> None:
    app.config["CONTACT"] = contact
    for language in WRONG:
        log = app.test_client().get(f"/s/{survey.id}/releases?lang={language}").text
        said = words(language)["rGetProgram"]
        assert f"<p>{said}</p>\n<pre" in log
        assert ">pip install '.[research]'</pre>" in log
        assert ('href="mailto:help@uni.example"' in log) == (contact is not None)


@pytest.mark.parametrize("language", WRONG)
def test_results_that_change_say_to_keep_the_archive(
    http: FlaskClient, app: APIFlask, survey: Survey, language: str
) -> None:
    said = words(language)["rKeepArchive"]
    for view in ("results", "results/affair"):
        cited = http.get(f"/s/{survey.id}/{view}?lang={language}").text.partition('<section id="cite">')[2]
        assert said in cited.partition("<details>")[0]
    app.extensions["deniable"]["store"].close_survey(survey.id)
    assert said not in http.get(f"/s/{survey.id}/results?lang={language}").text


def test_what_is_not_there_does_not_lead_to_itself(http: FlaskClient, survey: Survey) -> None:
    gone = f"/s/{'a' * 26}/results"
    page = http.get(gone, headers=BROWSER)
    assert page.status_code == 404
    assert f'href="{gone}' not in page.text


@pytest.mark.parametrize("language", CITED)
def test_a_reference_is_in_the_language_of_the_page(http: FlaskClient, survey: Survey, language: str) -> None:
    page = http.get(f"/s/{survey.id}/results?lang={language}").text
    assert CITED[language].format(survey.id) in page


NOT_NUMBERED = {
    "en": "Results change with every reply; they are numbered when the survey closes.",
    "de": "Die Ergebnisse ändern sich mit jeder Rückmeldung; nummeriert werden sie, wenn die Umfrage endet.",
}


@pytest.mark.parametrize("language", NOT_NUMBERED)
def test_releases_of_live_results_are_numbered_when_the_survey_closes(
    http: FlaskClient, app: APIFlask, survey: Survey, language: str
) -> None:
    results = f"/s/{survey.id}/results"
    page = http.get(f"{results}?release=1&lang={language}", headers=BROWSER)
    assert page.status_code == 404
    assert NOT_NUMBERED[language] in page.text
    assert words(language)["problem404Text"] not in page.text, "no link was mistyped"
    log = http.get(f"/s/{survey.id}/releases?lang={language}").text
    assert NOT_NUMBERED[language] in log
    assert words(language)["rNone"] not in log
    assert f"deniable verify http://localhost/s/{survey.id}" in log
    overview = http.get(f"{results}?lang={language}").text
    assert f'href="/s/{survey.id}/releases?lang={language}#verify"' in overview
    assert words(language)["rLive"] in overview, "respondents read that watchers can tell what a device sent"
    app.extensions["deniable"]["store"].close_survey(survey.id)
    page = http.get(f"{results}?release=7&lang={language}", headers=BROWSER)
    assert words(language)["problemReleaseText"] in page.text
    assert NOT_NUMBERED[language] not in http.get(f"/s/{survey.id}/releases?lang={language}").text
    assert words(language)["rLive"] not in http.get(f"{results}?lang={language}").text

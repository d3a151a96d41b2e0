"""A collector of a rehearsal says wherever its numbers can go that the replies are made up."""

from __future__ import annotations

import json
import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable import Report, read_survey
from deniable.errors import ParameterError
from deniable_research.results.verifying import NO_STUDY, verify
from deniable_server.language import words
from deniable_server.settings import Rehearsal, settings_from
from deniable_server.store import Store
from tests.support.archives import files_of
from tools.rig.survey_files import question_toml, survey_toml

MARKS = {
    True: ("rehearsal", "Rehearsal: made-up replies.", "Probelauf: erfundene"),
    "demo": ("demo", "Demo: answers from a survey of 1974, sent again by a program.", "Vorführung: Antworten aus"),
}
"""By the setting: the start of names of files, and the marks in English and German."""

SURVEY = read_survey(survey_toml("T", question_toml("q", "yes-no", epsilon=2), organiser="O", results="live"))


@pytest.mark.parametrize("setting", [True, "demo"])
def test_every_page_figure_citation_and_file_of_a_rehearsal_and_the_demo_says_so(
    http: FlaskClient, app: Flask, store: Store, setting: Rehearsal
) -> None:
    name, mark, german = MARKS[setting]
    store.publish(SURVEY)
    store.store_reports([(SURVEY, [Report(f"{i:032x}", None, {"q": i % 2}) for i in range(200)])])
    base, api = f"/s/{SURVEY.id}", f"/api/v1/surveys/{SURVEY.id}"
    pages = ("", "/results", "/results/q", "/results/q/embed", "/releases", "/results.svg", "/results/q.svg")
    assert not any(mark in http.get(base + each).text for each in pages[1:])
    app.config["REHEARSAL"] = setting
    store.close_survey(SURVEY.id)  # its first release, and pages are rendered anew
    assert [
        each for each in pages if mark not in " ".join(re.sub("<[^>]*>", " ", http.get(base + each).text).split())
    ] == []
    page = http.get(f"{base}/results/q").text
    assert page.count(mark) >= 6  # banner, sentence to print, reference, BibTeX, CFF, JSON-LD, methods
    assert german in http.get(f"{base}/results", headers={"Accept-Language": "de"}).text
    assert http.get(f"{base}/results/q.json").json["rehearsal"] is True
    assert http.get(f"{api}/estimates.json").json["rehearsal"] is True
    for address in (
        f"{base}/results/q.csv",
        f"{base}/results/q.svg",
        f"{base}/results/q.pdf",
        f"{api}/estimates.csv",
        f"{api}/reports.csv",
        f"{api}/archive.zip",
    ):
        assert f"{name}-" in http.get(address).headers["Content-Disposition"]
    files = files_of(http.get(f"{api}/archive.zip").data)
    assert mark in files[f"{name.upper()}.txt"].decode()
    assert mark in files["methods.txt"].decode()
    assert json.loads(files["datapackage.json"])["title"] == f"{mark} T"
    assert json.loads(files["csv-metadata.json"])["dc:title"] == f"{mark} T"
    assert files["codebook.md"].decode().startswith(f"# {mark} T\n")
    assert f"<titl>{mark} T</titl>" in files["codebook.xml"].decode()
    said = list(verify(lambda path: http.get(path).data, SURVEY.id))
    assert NO_STUDY in said
    assert said[-1] == "all checks passed: T, release 1, 200 replies, all of them sent by a program"


def test_figures_name_the_address_of_their_survey(http: FlaskClient, store: Store) -> None:
    store.publish(SURVEY)
    store.store_reports([(SURVEY, [Report(f"{i:032x}", None, {"q": i % 2}) for i in range(200)])])
    figure = http.get(f"/s/{SURVEY.id}/results/q.svg").text
    written = "".join(re.sub("<[^>]*>", "", line) for line in figure.splitlines())
    assert f"http://localhost/s/{SURVEY.id}/results" in written
    # A figure without an arrow or a grey row is not explained by them, and its frame is as high as what stands in it.
    page = http.get(f"/s/{SURVEY.id}/results/q").text
    assert words("en")["rKeyArrow"] not in page
    assert words("en")["rKeyWeak"] not in page
    assert "height=&#34;480" not in page


def test_only_a_rehearsal_is_started_as_one() -> None:
    assert settings_from({"rehearsal": "yes"}).rehearsal
    assert settings_from({"rehearsal": "demo"}).rehearsal == "demo"
    assert settings_from({"rehearsal": "no"}).rehearsal is False
    assert not settings_from({}).rehearsal
    with pytest.raises(ParameterError, match="--rehearsal: "):
        settings_from({"rehearsal": "perhaps"})

"""The licence of results: stated wherever somebody may copy them, and never claimed where its author says nothing."""

from __future__ import annotations

import html
import json
import re
import tomllib
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from typing import Any

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient

from deniable import Report, Survey, read_survey
from deniable_server.authors.checking import notes_about, presentation
from deniable_server.language import words
from deniable_server.store import Store
from deniable_statistics.archive.codebook import SurveyCodebook
from deniable_statistics.published.license import LICENSES, License
from tests.support.archives import files_of
from tests.support.views import filled
from tools.rig.survey_files import question_toml, survey_toml

STUDENTS = survey_toml("Students", question_toml("q", "yes-no", "Q?", epsilon=3), about="Why.")
BY = "https://creativecommons.org/licenses/by/4.0/"


def stated(store: Store, license_: str) -> Survey:
    return filled(store, f"license = {license_}\n{STUDENTS}", 150)[0]


def data_of(page: str) -> dict[str, Any]:
    (found,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
    document: dict[str, Any] = json.loads(found)
    return document


def archive_of(http: FlaskClient, survey: Survey) -> dict[str, str]:
    files = files_of(http.get(f"/api/v1/surveys/{survey.id}/archive.zip").data)
    return {name: content.decode() for name, content in files.items() if name != "survey.db"}


def test_a_known_license_is_named_with_its_address_everywhere(http: FlaskClient, store: Store) -> None:
    survey = stated(store, '"CC BY 4.0"')
    for path in ("results", "results/q", "results?view=all"):
        page = http.get(f"/s/{survey.id}/{path}").text
        assert f'<a href="{BY}" rel="license noopener noreferrer">CC-BY-4.0</a>' in page, path
        assert data_of(page)["license"] == BY
        assert "license: CC-BY-4.0" in page.replace("&#34;", "")  # CITATION.cff
        assert f"licence: CC-BY-4.0 ({BY})" in page  # BibTeX
        assert "No licence is stated" not in page
    assert "Lizenz dieser Ergebnisse" in http.get(f"/s/{survey.id}/results?lang=de").text
    for form in ("csv", "json", "svg"):
        assert http.get(f"/s/{survey.id}/results/q.{form}").headers["Link"] == f'<{BY}>; rel="license"'
    assert http.get(f"/s/{survey.id}/results.csv").headers["Link"] == f'<{BY}>; rel="license"'
    view = http.get(f"/s/{survey.id}/results/q.json").json
    assert (view["license"], view["license_url"]) == ("CC-BY-4.0", BY)
    image = " ".join(re.sub(r"<[^>]*>", " ", http.get(f"/s/{survey.id}/results/q.svg").text).split())
    assert "author states it: CC-BY-4.0" in image
    files = archive_of(http, survey)
    assert json.loads(files["datapackage.json"])["licenses"] == [
        {"name": "CC-BY-4.0", "path": BY, "title": "CC-BY-4.0"}
    ]
    group = json.loads(files["csv-metadata.json"])
    assert group["dc:license"] == {"@id": BY}
    assert {each["url"] for each in group["tables"]} == {name for name in files if name.endswith(".csv")}
    for table in group["tables"]:
        header = files[table["url"]].splitlines()[0].split(",")
        assert [each["titles"] for each in table["tableSchema"]["columns"]] == header
    codebook = ElementTree.fromstring(files["codebook.xml"])
    (conditions,) = codebook.iter("{ddi:codebook:2_5}conditions")
    assert conditions.text == f"CC-BY-4.0 ({BY})"
    assert f"Licence, as the survey's author states it: CC-BY-4.0 ({BY})" in SurveyCodebook.of_survey(survey).about


def test_without_a_license_nothing_is_claimed(http: FlaskClient, store: Store) -> None:
    survey, _ = filled(store, f'contact = "data@uni.example"\n{STUDENTS}', 150)
    page = http.get(f"/s/{survey.id}/results/q").text
    said = (
        "No licence is stated for these results. Numbers may be quoted, and the figure shown as this page offers it, "
        "with their source."
    )
    asked = "Before you publish the files again, ask Institute of Sociology"
    assert f"{said} {asked}: <bdi>data@uni.example</bdi></p>" in page
    assert "license" not in data_of(page)
    assert not re.search('license["-]?(?:url)?: ', page)
    response = http.get(f"/s/{survey.id}/results/q.json")
    assert "Link" not in response.headers
    assert (response.json["license"], response.json["license_url"]) == (None, None)
    for name, text in archive_of(http, survey).items():
        assert not re.search("licen[cs]e", text), name
    nobody, _ = filled(store, STUDENTS.replace("Students", "Nobody"), 150)
    assert f"{said} {asked}. The survey names no contact.</p>" in http.get(f"/s/{nobody.id}/results/q").text


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "ar"])
def test_without_a_license_pages_say_whom_to_ask(app: APIFlask, store: Store, language: str) -> None:
    survey = replace(filled(store, STUDENTS, 150)[0], organiser=None, title="Nobody {contact}")
    store.publish(survey)
    reports = [Report(f"{i:032x}", None, {"q": 1}) for i in range(150)]
    store.store_reports([(survey, reports)])
    store.settle()
    said = words(language)
    page = app.test_client().get(f"/s/{survey.id}/results/q?lang={language}").text
    assert html.escape(said["rAskNobody"].replace("{who}", said["rWhoever"]), quote=False) in html.unescape(page)
    app.config["CONTACT"] = "https://uni.example/help"
    page = html.unescape(app.test_client().get(f"/s/{survey.id}/results?lang={language}").text)
    before, _ = said["rAskOperator"].replace("{who}", said["rWhoever"]).split("{contact}")
    assert f"{before}<bdi>https://uni.example/help</bdi>" in page


def test_words_are_said_in_the_readers_language_and_are_no_address(http: FlaskClient, store: Store) -> None:
    hostile = "For teaching {0} <b> \u202eonly, see javascript:alert(1)"
    survey = stated(store, f'{{ default = "{hostile}", de = "Nur für die Lehre" }}')
    page = http.get(f"/s/{survey.id}/results/q").text
    plain = hostile.replace("\u202e", "")
    assert html.escape(plain) in page
    assert 'rel="license' not in page
    assert "\u202e" not in page
    assert data_of(page)["license"] == {"@type": "CreativeWork", "name": plain}
    assert "Nur für die Lehre" in http.get(f"/s/{survey.id}/results/q?lang=de").text
    assert "Link" not in http.get(f"/s/{survey.id}/results/q.csv").headers
    files = archive_of(http, survey)
    assert "license" not in files["CITATION.cff"]
    assert json.loads(files["datapackage.json"])["licenses"] == [{"title": plain}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cc0-1.0", ("CC0-1.0", LICENSES["CC0-1.0"])),
        ("odbl 1.0", ("ODbL-1.0", LICENSES["ODbL-1.0"])),
        ("https://data.example/terms?v=1", (None, "https://data.example/terms?v=1")),
        ("http://data.example", (None, None)),
        ("https://data.example/>; rel=x", (None, None)),
        ("https://data.example/\u0130", (None, None)),
        ("CC-BY-5.0", (None, None)),
    ],
)
def test_only_known_names_and_safe_addresses_are_links(text: str, expected: tuple[str | None, str | None]) -> None:
    found = License.read(text)
    assert (found.spdx, found.address) == expected


def test_authors_are_told_what_programs_can_read() -> None:
    known, words = (read_survey(f'license = "{each}"\n{STUDENTS}') for each in ("CC BY 4.0", "CC BY"))
    assert f"Licence of the results: CC-BY-4.0 ({BY})" in presentation(known)
    assert "Licence of the results: CC BY" in presentation(words)
    assert not any(each.startswith("license:") for each in notes_about(known))
    (note,) = (each for each in notes_about(words) if each.startswith("license:"))
    assert note.startswith("license: is shown as you wrote it; programs read an address, or one of CC0-1.0, CC-BY-4.0")


def test_a_license_is_part_of_the_survey(store: Store) -> None:
    survey = stated(store, '"CC0-1.0"')
    assert json.loads(survey.document)["license"] == "CC0-1.0"
    assert survey.id != filled(store, STUDENTS, 150)[0].id
    assert "license" not in tomllib.loads(STUDENTS)

"""Results under attack: texts of an author who means harm, readers who ask for nonsense, replies that are all alike."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from deniable import Survey, read_survey
from deniable_server.app import create_app
from deniable_server.language import words
from deniable_server.settings import Settings
from deniable_server.store import Store
from tests.support.archives import files_of
from tests.support.views import COHORTS, filled, reports_of
from tools.rig.in_process import ended
from tools.rig.surveys import FIVE_TYPES, Clock

OVERRIDE = "\u202e"
"""The character that turns around whatever follows, to the end of the line."""

EVIL = f"""
title = "=HYPERLINK(1) <script>alert(1)</script> {OVERRIDE}"
organiser = "@SUM(1+1) {OVERRIDE}"
about = "</script><img src=x onerror=alert(1)>"
cohorts = ["=1+1", "<b>south</b>", "\u202b\u0634\u0645\u0627\u0644 {{0}} {{words}}"]
[[questions]]
id = "affair"
type = "yes-no"
text = "{{{{ 7*7 }}}} {{0.__class__}} %s <script>alert(2)</script> {OVERRIDE}"
epsilon = 4
[[questions]]
id = "town"
type = "choice"
text = "Where ]]> -- &amp; ?"
options = ["=cmd|' /C calc'!A0", "+1{OVERRIDE}", "<svg onload=alert(1)>", "\u0646\u0639\u0645 (1)", "{"W" * 200}"]
epsilon = 4
"""
"""Labels with HTML, templates, formulas, marks of direction, and as long as labels may be."""

PAGES = ("results", "results?view=all", "results?by=cohort", "results/town", "results/town?by=cohort", "releases")
MORE_PAGES = ("results/town?compare=cohort", "results/affair?with=town", "results/town/embed")


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FlaskClient, Survey]]:
    """A collector with a release of that survey."""
    settings = Settings(rate_limit=None, fold_seconds=86_400)
    with ended(create_app(tmp_path_factory.mktemp("evil") / "test.db", Clock(), settings)) as app:
        store: Store = app.extensions["deniable"]["store"]
        survey = replace(read_survey(EVIL), results="batches", release=50)
        store.publish(survey)
        store.store_reports([(survey, reports_of(survey, 300))])
        store.settle()
        yield app.test_client(), survey


@pytest.mark.parametrize("path", [*PAGES, *MORE_PAGES])
def test_texts_of_an_author_are_texts_on_every_page(evil: tuple[FlaskClient, Survey], path: str) -> None:
    http, survey = evil
    page = http.get(f"/s/{survey.id}/{path}")
    assert page.status_code == 200
    for tag in ("<script>alert", "<img src", "<svg onload", "<b>south"):
        assert tag not in page.text
    assert "49 " not in page.text.partition("</h1>")[0], "nothing of a text is evaluated"
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", unescape(page.text)), "no label turns a number around"


def test_texts_of_an_author_are_texts_in_every_file(evil: tuple[FlaskClient, Survey]) -> None:
    http, survey = evil
    for path in ("results/town.svg", "results/town.svg?by=cohort", "results.svg"):
        image = http.get(f"/s/{survey.id}/{path}").data
        tags = {each.tag.rpartition("}")[2] for each in ElementTree.fromstring(image).iter()}
        assert tags <= {"svg", "title", "desc", "style", "rect", "g", "line", "path", "circle", "text"}
        assert OVERRIDE not in image.decode()
    for path in (
        *(f"/s/{survey.id}/{each}" for each in ("results/town.csv?by=cohort", "results.csv?by=cohort")),
        *(f"/api/v1/surveys/{survey.id}/{each}" for each in ("estimates.csv?by=cohort", "reports.csv")),
    ):
        cells = [cell for row in csv.reader(io.StringIO(http.get(path).text)) for cell in row]
        formulas = [cell for cell in cells if re.match(r"[=+\-@\t\r]", cell) and not re.fullmatch(r"-?[\d.e-]+", cell)]
        assert formulas == [], path
    described = http.get(f"/oembed?url={quote(f'http://localhost/s/{survey.id}/results/town')}").json
    assert described["html"].count("<") == 2, "one element, whatever the title is"


@pytest.mark.parametrize(
    "query",
    [
        *("by=", "by=x", "confidence=nan", "confidence=inf", "confidence=1e-5", "confidence=0.9999999", "release=0"),
        *("release=1e3", "release=-1", "release=7", "lang=xx", "lang=DE", "view=", "utm_source=x", "%00=1"),
        *("against=%3D1%2B1", "compare=cohort&against=%00", "with=" + "a" * 41, "simultaneous=maybe", "method=zzz"),
        *("misbehaving=0.1&target=respondents", "assume_fake=0.51", "a=1&" * 40, "a" * 1100),
    ],
)
def test_what_nobody_can_ask_is_refused(evil: tuple[FlaskClient, Survey], query: str) -> None:
    http, survey = evil
    for path in ("results/affair", "results/affair.csv", "results/affair/embed"):
        assert http.get(f"/s/{survey.id}/{path}?{query}").status_code in (404, 414, 422), path


def test_a_parameter_that_is_there_twice_means_the_same_everywhere(evil: tuple[FlaskClient, Survey]) -> None:
    http, survey = evil
    view = f"/s/{survey.id}/results/affair?by=cohort&by=other"
    assert {row["cohort"] for row in http.get(view.replace("?", ".json?")).json["rows"]} == set(survey.cohorts)
    assert "by=cohort" in http.get(f"/oembed?url={quote(f'http://localhost{view}')}").json["html"]


@pytest.mark.parametrize("path", ["results", "results/town", "results/town.csv", "results/town.svg", "releases"])
def test_conditions_and_ranges_change_nothing(evil: tuple[FlaskClient, Survey], path: str) -> None:
    http, survey = evil
    address = f"/s/{survey.id}/{path}"
    whole = http.get(address)
    head = http.head(address)
    assert (head.status_code, head.data) == (200, b"")
    # A second may end between the two.
    assert {**head.headers, "Date": ""} == {**whole.headers, "Date": ""}
    assert "no-cache" in whole.headers["Cache-Control"]
    for name, value in (
        ("Range", "bytes=0-5"),
        ("If-None-Match", '"of another release"'),
        ("If-Modified-Since", "Wed, 25 Nov 2099 21:00:00 GMT"),
        ("Accept-Language", "xx;q=zzz,,,;;"),
        ("X-Forwarded-Host", "evil.example"),
    ):
        assert http.get(address, headers={name: value}).data == whole.data, name
    for tag in (whole.headers["ETag"], "*", f'"x", W/{whole.headers["ETag"]}'):
        known = http.get(address, headers={"If-None-Match": tag})
        assert (known.status_code, known.data, known.headers["ETag"]) == (304, b"", whole.headers["ETag"]), tag
    assert b"evil.example" not in http.get(address, headers={"Host": 'evil.example"><script>'}).data.partition(b"<h")[2]
    assert http.get(address).data == whole.data, "what was asked with another host is kept for nobody else"


def test_texts_of_an_author_are_single_fields_of_citations(http: FlaskClient, store: Store) -> None:
    """BibTeX counts braces even behind a backslash, so one of a title took in the year and the address."""
    text = EVIL.replace('title = "', 'sample = "}\\n = {"\ntitle = "{ % \\n}} @misc ')
    survey = replace(read_survey(text), results="batches", release=50)
    store.publish(survey)
    store.store_reports([(survey, reports_of(survey, 150))])
    store.settle()
    files = files_of(http.get(f"/api/v1/surveys/{survey.id}/archive.zip").data)
    citation = ("citation.bib", "CITATION.cff", "methods.txt", "methods.tex", "methods.bib")
    bibtex, cff, methods, in_tex, works = (files[each].decode() for each in citation)
    depths = list(itertools.accumulate({"{": 1, "}": -1}.get(each, 0) for each in bibtex))
    assert depths[-1] == 0
    assert min(depths[bibtex.index("{") : -2]) == 1, "the entry ends where it ends"
    lines = bibtex.splitlines()
    names = [line.partition(" = ")[0].strip() for line in lines[1:-1]]
    assert names == ["author", "title", "year", "date", "version", "note", "url"]
    assert not re.search(r"(?<!\\)%", bibtex)
    assert bibtex.startswith(f"@misc{{deniable-{survey.id}-1,\n"), "a paper may cite two releases"
    assert re.search(r"  title = \{\{.*\}\},\n", bibtex), "no style changes its letters"
    assert methods.count("\n") == 1
    assert "@misc{deniable-" not in works, "an author is in none of the entries for works of others"
    in_tex = re.sub(r"\\cite\{[a-z0-9,]+\}", "", in_tex)
    known = (
        "allowbreak",
        *(f"text{each}" for each in ("asciicircum", "backslash", "braceleft", "braceright", "less", "greater")),
    )
    plain = re.sub(rf"\\({'|'.join(known)})\{{\}}", "", in_tex)
    assert not re.search(r"(?<!\\)[&%$#_~^{}<>|]", plain), "nothing means something to LaTeX"
    assert "95 \\% confidence intervals" in in_tex
    assert f"are at http://localhost/\\allowbreak{{}}s/\\allowbreak{{}}{survey.id}/\\allowbreak{{}}results" in in_tex
    fields = [line.partition(": ") for line in cff.splitlines()]
    assert all(re.fullmatch("[a-z-]+", name) and json.loads(value) for name, _, value in fields)


def test_files_say_that_there_is_no_release_yet(http: FlaskClient, store: Store) -> None:
    survey = replace(read_survey(COHORTS + FIVE_TYPES), results="batches", release=50)
    store.publish(survey)
    for form in ("svg", "png", "pdf"):
        refused = http.get(f"/s/{survey.id}/results/town.{form}", headers={"Accept": "application/json"})
        assert (refused.status_code, refused.json["detail"]) == (404, words("en")["rNone"])


@pytest.mark.slow
@pytest.mark.parametrize("people", [1, 60], ids=["one reply", "replies that are all alike"])
def test_counts_of_none_and_of_all_are_shown_everywhere(http: FlaskClient, store: Store, people: int) -> None:
    survey = replace(read_survey(COHORTS + FIVE_TYPES), results="live")
    store.publish(survey)
    (alike,) = reports_of(survey, 1)
    sent = [replace(alike, id=f"{i:032x}", cohort=survey.cohorts[i % 3]) for i in range(people)]
    store.store_reports([(survey, sent)])
    paths = ["results?view=all", "results?by=cohort", "results.json"]
    for question in survey.questions:
        # Of drawn boxes these reports are all about the same ones: nobody was asked the others.
        paths += [f"results/{question.id}{each}" for each in ("?compare=cohort", ".json?by=cohort")]
    for path in (
        *paths,
        "results/town?with=affair",
        "results/affair?target=respondents",
        "results/town?assume_fake=0.5",
    ):
        shown = http.get(f"/s/{survey.id}/{path}")
        assert shown.status_code == 200, path
        assert not re.search(r"(?<![A-Za-z])(nan|NaN|inf|Infinity|None)(?![A-Za-z])", shown.text), path


@pytest.mark.slow
def test_a_box_that_nobody_in_a_cohort_was_asked_has_no_difference(http: FlaskClient, store: Store) -> None:
    survey, reports = filled(store, FIVE_TYPES, 150)
    (boxes,) = (each for each in survey.questions if each.mechanism.reports.is_drawn)
    other = replace(survey, title="Other", results="live")
    store.publish(other)
    alike = [replace(reports[0], id=each.id, cohort="north") for each in reports[:50]]
    store.store_reports([(other, [*alike, *(each for each in reports[50:] if each.cohort == "south")])])
    rows = http.get(f"/s/{other.id}/results/{boxes.id}.json?compare=cohort").json["rows"]
    unknown = [row for row in rows if row["value"] is None]
    assert 0 < len(unknown) < len(rows)
    assert {(row["conf_low"], row["conf_high"], row["weak"]) for row in unknown} == {(-1.0, 1.0, True)}

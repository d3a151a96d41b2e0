"""Single figures on pages of other sites: the frame, its policy, and oEmbed."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from deniable import read_survey
from deniable_server.store import Store
from tests.support.views import filled
from tools.rig.surveys import FIVE_TYPES


@pytest.fixture
def view(http: FlaskClient, store: Store) -> str:
    """The address of a view."""
    survey, _ = filled(store, FIVE_TYPES, 150)
    return f"/s/{survey.id}/results/affair"


def test_only_the_frame_may_be_framed_and_it_loads_nothing(http: FlaskClient, view: str) -> None:
    frame = http.get(f"{view}/embed?by=cohort&lang=de")
    policy = frame.headers["Content-Security-Policy"]
    assert "frame-ancestors *" in policy
    assert "script-src" not in policy
    assert policy.startswith("default-src 'none'; style-src 'self'; ")
    for path in (view, f"{view}?by=cohort", view.rpartition("/")[0]):
        assert "frame-ancestors 'none'" in http.get(path).headers["Content-Security-Policy"]
    page = frame.text
    assert "<script" not in page
    assert page.count("<svg") == 1
    assert 'lang="de"' in page
    assert "Institute of Sociology" in page
    assert f'href="http://localhost{view}?by=cohort&amp;lang=de" target="_blank" rel="noopener"' in page
    assert "<table" in page, "behind each figure stands its table"


def test_before_the_first_release_the_frame_has_no_figure(http: FlaskClient, store: Store) -> None:
    survey = replace(read_survey(FIVE_TYPES), results="batches")
    store.publish(survey)
    frame = http.get(f"/s/{survey.id}/results/affair/embed")
    assert (frame.status_code, frame.text.count("<svg")) == (200, 0)
    assert http.get(f"/s/{survey.id}/results/nothing/embed").status_code == 404


def test_oembed_tells_of_the_frame(http: FlaskClient, view: str) -> None:
    page = http.get(f"{view}?by=cohort").text
    (found,) = re.findall('type="application/json\\+oembed" href="http://localhost([^"]*)"', page)
    document = http.get(unescape(found)).json
    assert (document["version"], document["type"]) == ("1.0", "rich")
    assert document["author_name"] == "Institute of Sociology"
    assert f'src="http://localhost{view}/embed?by=cohort"' in document["html"]
    assert f'height="{document["height"]}"' in document["html"]
    assert document["height"] > 300
    narrow = http.get(f"{unescape(found)}&maxwidth=390").json
    assert narrow["width"] == 390
    assert http.get(f"{unescape(found)}&maxheight=-1&maxwidth=1").json["height"] == 200
    assert document["html"].replace('"560"', '"480"') != narrow["html"]
    snippet = unescape(page)
    assert f'<iframe src="http://localhost{view}/embed?by=cohort"' in snippet


def test_oembed_writes_the_host_that_was_asked_as_text(http: FlaskClient, view: str) -> None:
    host = 'x"><b>'
    answer = http.get(f"/oembed?url={quote(f'http://{host}{view}', safe='')}", headers={"Host": host})
    assert answer.status_code in (400, 404, 200)
    assert '"><b>' not in (answer.json or {}).get("html", "")


def test_oembed_knows_no_other_addresses(http: FlaskClient, view: str) -> None:
    good = f"http://localhost{view}"
    for url, status in (
        (f"{good}?over=time", 200),
        (f"{good}?by=nobody", 404),
        (good.replace("localhost", "elsewhere.example"), 404),
        (f"{good}/../../api", 404),
        (f"{good}.csv", 404),
        (f"{good}?compare=cohort&with=town", 422),
        ("javascript:alert(1)", 404),
        ("http://[", 404),
        ("", 404),
    ):
        answer = http.get(f"/oembed?url={quote(url, safe='')}")
        assert answer.status_code == status, url
    assert http.get(f"/oembed?url={quote(good, safe='')}&format=xml").status_code == 501

"""Answers sorted by their shares, as an address of its own that every format follows."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from deniable import EstimateRow, Question, Survey, estimate, read_survey, tally_reports
from deniable_server.results.sorting import by_share, is_sortable
from deniable_server.store import Store
from deniable_server.web import results_pages
from deniable_statistics.views.view_row import ViewRow, share_view
from tests.support.views import filled
from tools.rig.survey_files import question_toml, survey_toml

TOWNS = survey_toml(
    "Towns",
    question_toml("town", "choice", "Where?", options=["A & b", "B", "C", "D"], other="Elsewhere", epsilon=2),
    question_toml("fond", "scale", "How fond?", lo=1, hi=4, goal="shares", epsilon=2),
    question_toml("boxes", "ticks", "Which?", options=["x", "y", "z"], epsilon=2),
    question_toml("often", "yes-no", "Often?", epsilon=2),
)


@pytest.fixture
def towns(store: Store) -> Survey:
    return filled(store, TOWNS, 150)[0]


def options_in(http: FlaskClient, path: str) -> list[tuple[str | None, str]]:
    """The cohort and the option of each row of a view's CSV."""
    return [(row["cohort"] or None, row["option"]) for row in csv.DictReader(io.StringIO(http.get(path).text))]


def expected_order(http: FlaskClient, base: str, question: Question) -> list[str]:
    rows = [row for row in http.get(f"{base}/results/{question.id}.json").json["rows"] if row["option"]]
    own = [row for row in rows if row["option"] not in question.apart]
    return [row["option"] for row in sorted(own, key=lambda row: -row["value"])] + list(question.apart)


def test_every_format_of_a_sorted_view_has_its_order(http: FlaskClient, towns: Survey) -> None:
    base, town = f"/s/{towns.id}", towns.question("town")
    order = expected_order(http, base, town)
    assert order != list(town.options)
    assert order[-1] == "Elsewhere"
    assert [option for _, option in options_in(http, f"{base}/results/town.csv?sort=share")] == order
    assert [option for _, option in options_in(http, f"{base}/results/town.csv")] == list(town.options)
    assert [row["option"] for row in http.get(f"{base}/results/town.json?sort=share").json["rows"]] == order
    image = http.get(f"{base}/results/town.svg?sort=share").text
    escaped = [each.replace("&", "&amp;") for each in order]
    assert sorted(escaped, key=lambda each: image.index(f">{each}</text>")) == escaped
    assert "this order may be chance" in " ".join(re.sub(r"<[^>]*>", " ", image).split())
    assert "this order may be chance" in http.get(f"{base}/results/town/embed?sort=share").text
    assert "this order may be chance" not in http.get(f"{base}/results/town/embed").text
    page = http.get(f"{base}/results/town?sort=share").text
    table = page.partition('<details class="numbers"')[2].partition("</details>")[0]
    assert re.findall(r'<th scope="row"[^>]*>([^<]*)</th>', table) == escaped
    # The scripts number the answers as reports do, so the table beside them keeps the order of the towns.
    recipe = page.partition('<details class="recipe">')[2].partition("</details>")[0]
    assert re.findall(r'<th scope="row"[^>]*>([^<]*)</th>', recipe) == [
        each.replace("&", "&amp;") for each in town.options
    ]


def test_all_cohorts_have_the_order_of_everybody(http: FlaskClient, towns: Survey) -> None:
    base, town = f"/s/{towns.id}", towns.question("town")
    order = expected_order(http, base, town)
    rows = options_in(http, f"{base}/results/town.csv?by=cohort&sort=share")
    assert rows == [(cohort, option) for cohort in towns.cohorts for option in order]
    of_all = [each for each in options_in(http, f"{base}/results.csv?by=cohort&sort=share") if each in rows]
    assert of_all == rows


def test_a_file_of_very_many_rows_has_the_same_order(
    http: FlaskClient, towns: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [f"/s/{towns.id}/results.csv?sort=share{more}" for more in ("", "&by=cohort")]
    short = [http.get(path).text for path in paths]
    monkeypatch.setattr(results_pages, "MOST_ON_PAGE", 1)
    assert [http.get(path).text for path in paths] == short
    assert http.get(f"/s/{towns.id}/results.csv").text != short[0]


def test_an_old_release_and_versions_have_an_order_of_their_own(http: FlaskClient, store: Store) -> None:
    first, reports = filled(store, TOWNS, 150)
    again = replace(first, revises=first.id, title="Towns again")

    def answered(letter: str, town: int | None = None) -> None:
        changed = {} if town is None else {"town": town}
        sent = [replace(each, id=letter + each.id[1:], values={**each.values, **changed}) for each in reports]
        store.store_reports([(again, sent)])
        store.settle()

    store.publish(again)
    answered("a")
    path = f"/s/{again.id}/results/town.csv"
    queries = ("release=1&sort=share", "release=1&by=cohort&sort=share")
    before = [http.get(f"{path}?{query}").data for query in queries]
    together = options_in(http, f"{path}?pooled=versions&by=cohort&sort=share")
    answered("b", town=1)
    assert [http.get(f"{path}?{query}").data for query in queries] == before
    assert options_in(http, f"{path}?sort=share")[0][1] == "B"
    after = options_in(http, f"{path}?pooled=versions&by=cohort&sort=share")
    assert after != together
    assert [option for cohort, option in after if cohort == "north"] == [option for _, option in after[:5]]


def test_pages_of_all_questions_sort_those_that_have_no_order(http: FlaskClient, towns: Survey) -> None:
    base = f"/s/{towns.id}/results"
    plain, by_size = (http.get(f"{base}{query}").text for query in ("", "?sort=share"))
    town, fond = (towns.question(each) for each in ("town", "fond"))

    def drawn(page: str, question: Question) -> list[str]:
        line = page.partition(f'<li id="{question.id}">')[2].partition("</li>")[0]
        return [each for each in re.findall(r"<text[^>]*>([^<]*)</text>", line) if each in question.options]

    assert drawn(by_size, fond) == drawn(plain, fond) != []
    ours = [each for each in expected_order(http, f"/s/{towns.id}", town) if each != "A & b"]
    assert drawn(by_size, town) == ours
    assert drawn(plain, town) != ours
    # Links to questions that cannot be sorted lead to their pages, and not to an error.
    assert f'href="{base}/town?sort=share"' in by_size
    assert f'href="{base}/fond"' in by_size
    assert http.get(f"{base}?view=all&sort=share").text.count("this order may be chance") == 1


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("fond?sort=share", "question whose options its author lists, got 'fond'"),
        ("often?sort=share", "got 'often'"),
        ("town?sort=share&with=boxes", "sort: must go with shares"),
        ("town?sort=share&compare=cohort", "sort: must go with shares"),
        ("town?sort=share&over=releases", "sort: must go with shares"),
        ("town?sort=size", "sort"),
    ],
)
def test_what_has_an_order_is_not_sorted(http: FlaskClient, towns: Survey, path: str, said: str) -> None:
    response = http.get(f"/s/{towns.id}/results/{path}")
    assert response.status_code == 422
    assert said in response.text


def test_only_questions_without_an_order_offer_one(http: FlaskClient, towns: Survey) -> None:
    base = f"/s/{towns.id}/results"
    for question in towns.questions:
        page = http.get(f"{base}/{question.id}").text
        assert ("sort=share" in page) == is_sortable(question) == (question.id in ("town", "boxes"))
    page = http.get(f"{base}/town?sort=share&lang=de").text
    assert f'href="{base}/town?lang=de">wie in der Umfrage</a>' in page
    assert f'href="{base}/town?sort=share&amp;lang=de" aria-current="page">größter Anteil zuerst</a>' in page
    assert "kann diese Reihenfolge Zufall sein" in page
    assert "sort=share" not in http.get(f"{base}/town?with=boxes").text


def test_equal_shares_and_answers_without_one_keep_the_order_of_the_survey() -> None:
    survey = read_survey(TOWNS)
    town = survey.question("town")
    row: EstimateRow = estimate(tally_reports([], survey), survey, only="town")[0]
    values: list[float | None] = [None, 0.2, 0.4, 0.2, 0.9]
    views: list[ViewRow] = [
        replace(share_view(town, row), option=option, value=value)
        for option, value in zip(town.options, values, strict=True)
    ]
    found: list[Any] = [each.option for each in by_share(town, views, views)]
    assert found == ["C", "B", "D", "A & b", "Elsewhere"]

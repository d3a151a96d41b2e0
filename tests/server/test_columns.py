"""The columns of files of results, which documents, pages and archives explain by one table."""

from __future__ import annotations

import csv
import io

from flask.testing import FlaskClient

from deniable_server.results.file_columns import ESTIMATE_LABELS, FILES, METHOD_LABELS, VIEW_LABELS
from deniable_server.store import Store
from deniable_statistics.intervals import METHODS
from tests.support.views import filled
from tools.rig.surveys import FIVE_TYPES


def header(http: FlaskClient, address: str) -> list[str]:
    answer = http.get(address)
    assert answer.status_code == 200, address
    return next(csv.reader(io.StringIO(answer.text)))


def test_every_column_of_every_file_is_explained_in_its_order(http: FlaskClient, store: Store) -> None:
    survey, _ = filled(store, FIVE_TYPES)
    base, api = f"/s/{survey.id}/results", f"/api/v1/surveys/{survey.id}"
    estimates, view, reports = (list(each.labels) for each in FILES)
    assert header(http, f"{api}/estimates.csv") == header(http, f"{api}/estimates.csv?by=cohort") == estimates
    for address in (".csv", "/affair.csv", "/affair.csv?with=town", "/affair.csv?over=releases"):
        assert header(http, f"{base}{address}") == view
    place = reports.index("the id of each question")
    ids = [each.id for each in survey.questions]
    assert header(http, f"{api}/reports.csv") == [*reports[:place], *ids, *reports[place + 1 :]]
    assert all(label for each in FILES for label in each.labels.values())


def test_every_method_in_a_file_is_explained(http: FlaskClient, store: Store) -> None:
    survey, _ = filled(store, FIVE_TYPES)
    seen = set()
    for view in ("", "?compare=cohort", "?with=town", "?by=cohort", "?simultaneous=true"):
        for row in http.get(f"/s/{survey.id}/results/affair.json{view}").json["rows"]:
            assert row["method"].removeprefix("simultaneous ") in METHOD_LABELS
            seen.add(row["method"])
    assert {"conditional", "feldman-cousins", "simultaneous feldman-cousins"} < seen
    assert set(METHODS) <= set(METHOD_LABELS), "what a query can ask for"
    page = http.get("/columns").text
    assert all(f"<code>{name}</code>" in page for name in METHOD_LABELS)


def test_the_labels_are_of_columns_that_exist() -> None:
    estimates, view, _ = (each.labels for each in FILES)
    assert set(ESTIMATE_LABELS) <= set(estimates)
    assert set(VIEW_LABELS) <= set(view)


def test_pages_of_results_lead_to_them(http: FlaskClient, store: Store) -> None:
    survey, _ = filled(store, FIVE_TYPES)
    assert 'href="/columns"' in http.get(f"/s/{survey.id}/results").text
    page = http.get("/columns?lang=de", headers={"Accept-Language": "de"}).text
    assert "Was die Spalten der Dateien bedeuten" in page
    for each in FILES:
        for name in each.labels:
            assert f"<code>{name}</code>" in page

"""What analysts get from a collector is what their own tools make of its reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from deniable import ParameterError, Report, Survey, TwoCoin
from deniable_server.store import Store
from tests.support.analyzing import love_reports, ok
from tools.rig.surveys import SURVEY


@pytest.fixture
def survey_file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY, encoding="utf-8")
    return path


def collect(http: FlaskClient, store: Store, survey: Survey, reports: list[Report]) -> str:
    """Send reports to a collector; its reports.csv."""
    store.publish(survey)
    body = b"\n".join(report.encode() for report in reports)
    answer = http.post(f"/api/v1/surveys/{survey.id}/reports", data=body, content_type="application/x-ndjson")
    assert answer.json is not None
    assert answer.json["stored"] == len(reports)
    return http.get(f"/api/v1/surveys/{survey.id}/reports.csv").text


@pytest.mark.parametrize("by", [None, "cohort"])
def test_shares_of_reports_csv_are_what_the_collector_publishes(
    http: FlaskClient, store: Store, tmp_path: Path, survey_file: Path, by: str | None
) -> None:
    survey, reports = love_reports()
    file = tmp_path / "reports.csv"
    file.write_text(collect(http, store, survey, reports), encoding="utf-8", newline="")
    query = f"?by={by}" if by else ""
    published = http.get(f"/api/v1/surveys/{survey.id}/estimates.json{query}").json
    assert published is not None
    arguments = [file, "--survey", survey_file, *(["--by", by] if by else [])]
    ours = json.loads(ok("shares", *arguments, "--format", "json"))
    assert ours["rows"] == published["n"] == 300
    assert len(ours["estimates"]) == len(published["estimates"]) == (18 if by else 6)
    for mine, theirs in zip(ours["estimates"], published["estimates"], strict=True):
        assert mine == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("level", ["0.9999999999999999", "1", "0", "1e-300", "nan", "inf"])
def test_other_levels_are_refused_and_no_error_of_the_server(
    http: FlaskClient, store: Store, survey: Survey, level: str
) -> None:
    store.publish(survey)
    answer = http.get(f"/api/v1/surveys/{survey.id}/estimates?confidence={level}")
    assert answer.status_code == 422
    assert http.get(f"/api/v1/surveys/{survey.id}/estimates?confidence=0.999999").status_code == 200
    with pytest.raises(ParameterError, match=r"must be from 0\.001 to 0.999999999999"):
        TwoCoin("1/2", "1/2").estimate([570, 430]).confidence_interval(float(level))

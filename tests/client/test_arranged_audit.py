"""An audit of reports of a survey with random orders, a grid and options that stand apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from deniable import Report, Survey, read_survey
from deniable_client import randomize
from deniable_client.audit.auditor import audit_survey
from deniable_client.audit.sampling import Draw, RecordedReport, Trials, draw_javascript, draw_python, draws_of
from tests.support.marks import long
from tests.support.untimed import untimed
from tools.rig.arranged import SECTIONS

SURVEY = read_survey(SECTIONS)
GRID = ("trust_police", "trust_courts", "trust_press")

Tell = Callable[[Report, Mapping[str, Any]], bytes]


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("draw", "draws"),
    [
        pytest.param(draw_python, 2000, id="python"),
        pytest.param(draw_javascript, 2000, id="javascript"),
        long(draw_python, 200_000, name="python, 200,000"),
        long(draw_javascript, 200_000, name="javascript, 200,000"),
    ],
)
def test_an_audit_passes_both_clients(draw: Draw, draws: int) -> None:
    found = audit_survey(SURVEY, untimed(draw), draws)
    assert found.faults == (), found  # a faultless client is accused with a probability below 1e-6
    assert all(finding.bound <= finding.declared for finding in found.findings)


def by_answers(report: Report, answers: Mapping[str, Any]) -> bytes:
    """The fields in the order in which somebody would see them if answers made it."""
    content = json.loads(report.encode())
    first = sorted(content["values"], key=lambda name: (str(answers.get(name)), name))
    content["values"] = {name: content["values"][name] for name in first}
    return json.dumps(content, separators=(",", ":")).encode()


def plainly_alone(report: Report, answers: Mapping[str, Any]) -> bytes:
    """*None of these* without noise: a report of an answer is that answer."""
    drugs = "00" * 3 + "01" + "10" if answers.get("drugs") == ["None of these"] else report.values["drugs"]
    return Report(report.id, report.cohort, {**report.values, "drugs": drugs}).encode()


def sorted_grid(report: Report, answers: Mapping[str, Any]) -> bytes:
    """The values of a grid in the order of its answers instead of that of its items."""
    given = sorted(GRID, key=lambda name: (str(answers.get(name)), name))
    moved = {item: report.values[name] for item, name in zip(GRID, given, strict=True)}
    return Report(report.id, report.cohort, {**report.values, **moved}).encode()


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("tell", "draws"),
    [
        pytest.param(by_answers, 1000, id="order of the fields"),
        pytest.param(plainly_alone, 3000, id="none of these"),
        long(sorted_grid, 24_000, name="order within a grid"),
    ],
)
def test_an_audit_catches_a_client_whose_order_or_options_tell_an_answer(tell: Tell, draws: int) -> None:
    def send(survey: Survey, answers: Mapping[str, Any], cohort: str | None) -> bytes:
        return tell(randomize(survey, answers, cohort), answers)

    def unrecorded(survey: Survey, trials: Trials, _record: bool) -> Iterator[RecordedReport]:
        return untimed(draws_of(send))(survey, trials, False)

    assert audit_survey(SURVEY, unrecorded, draws).faults, "by statistics and form alone"

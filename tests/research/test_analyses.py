"""What `survey check` says can be analysed is what the analyses can do."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deniable import DeniableError, DrawnBoxes, OneBitMean, Question, Survey, read_survey
from deniable_client import randomize
from deniable_research.files import Layout, Table, cross, estimate_shares, regress
from deniable_statistics.authoring.analyses import ANALYSES, TWO_BOXES, alternatives_for, analyses_of
from tools.rig.command_line import CommandLine
from tools.rig.surveys import EVERY_KIND

SURVEY = read_survey(EVERY_KIND)


def some_answer(question: Question, dice: random.Random) -> Any:
    if question.type == "ticks":
        return [option for option in question.options if dice.random() < 0.5]
    return dice.randint(0, 4) if question.type == "number" else dice.choice(question.options)


def write_reports(path: Path, survey: Survey, n: int) -> Path:
    """Reports of invented people as a collector gives them, and a plain column beside them."""
    dice = random.Random(13)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "cohort", *(question.id for question in survey.questions), "age"])
        for number in range(n):
            answers = {question.id: some_answer(question, dice) for question in survey.questions}
            report = randomize(survey, answers, word=lambda: dice.getrandbits(32))
            writer.writerow([report.id, "ab"[number % 2], *report.values.values(), round(dice.gauss(40, 3))])
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    path = write_reports(tmp_path_factory.mktemp("analyses") / "reports.csv", SURVEY, 300)
    return Table.read(path, Layout.of_survey(SURVEY))


def works(analysis: Callable[[], object]) -> bool:
    try:
        analysis()
    except DeniableError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("question", SURVEY.questions, ids=lambda question: question.id)
def test_what_can_be_analysed_is_what_is_said(question: Question, table: Table) -> None:
    name, other = question.id, "yes_no" if question.id != "yes_no" else "k_ary"
    statistics = {row.statistic for row in estimate_shares(table, [name])}
    boxes = [f"{name}[{option}]" for option in question.options] if question.type == "ticks" else []
    column = (boxes or [name])[0]
    found = (
        "share" in statistics,
        "mean" in statistics,
        works(lambda: cross(table, [name, other])),
        works(lambda: regress(table, f"`{column}` ~ age")),
        works(lambda: regress(table, f"age ~ `{column}`")),
    )
    together = {TWO_BOXES: works(lambda: cross(table, boxes[:2]))} if boxes else {}
    assert analyses_of(question) == dict(zip(ANALYSES, found, strict=True)) | together


def test_alternatives_name_what_they_gain_and_their_price() -> None:
    said = {question.id: list(map(str, alternatives_for(question))) for question in SURVEY.questions}
    assert [name for name, sentences in said.items() if sentences] == [
        "scale_mean", "number_mean", "number_laplace", "number_geometric",
        "number_piecewise", "scale_piecewise"
    ]  # fmt: skip
    (scale,) = said["scale_mean"]
    assert scale.startswith('goal = "shares" (and no line mechanism) also allows shares; crosstab')
    assert "costs about 1.3 times the respondents" in scale


def test_a_number_with_a_unit_has_the_alternatives_of_one_without() -> None:
    hours = Question("hours", "number", "Hours?", (), OneBitMean.from_epsilon(0, 60, 2))
    assert alternatives_for(replace(hours, unit="h")) == alternatives_for(hours)
    assert len(alternatives_for(hours)) == 2


def test_numbers_that_no_scale_can_have_get_no_scale_for_an_alternative() -> None:
    lo = 99_999_999_990
    question = Question("account", "number", "Which?", (), OneBitMean.from_epsilon(lo, lo + 9, 1))
    assert [each.change for each in alternatives_for(question)] == ['mechanism = "geometric"']


def test_boxes_that_are_drawn_one_by_one_can_be_put_together_at_a_price() -> None:
    options = ("a", "b", "c", "d", "e")
    question = Question("drugs", "ticks", "Which?", options, DrawnBoxes.from_epsilon(5, 1))
    assert analyses_of(question)[TWO_BOXES] is False
    (alternative,) = map(str, alternatives_for(question))
    assert alternative == (
        'goal = "together" also allows two boxes crossed, and costs about 4.3 times the respondents for the same '
        "precision of the shares"
    )


@pytest.mark.slow
def test_examples_of_regress_work_on_what_they_name(tmp_path: Path) -> None:
    survey = tmp_path / "survey.toml"
    survey.write_text(EVERY_KIND, encoding="utf-8")
    reports = write_reports(tmp_path / "reports.csv", SURVEY, 1000)
    regression = CommandLine("analyze", "regress")
    assert 'regress reports.csv "affair ~ religious + C(cohort)" --survey' in " ".join(regression.ok("--help").split())
    assert "C(cohort)" in regression.ok(reports, "yes_no ~ C(cohort)", "--survey", survey)
    assert "age" in regression.ok(reports, "yes_no ~ age", "--survey", survey, "--column", "yes_no=yes_no")

"""What `survey check` says can be analysed is what the analyses can do."""

from __future__ import annotations

import csv
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deniable import DeniableError, Question, Survey, read_survey
from deniable.survey.analyses import ANALYSES, alternatives_for, analyses_of
from deniable_client import randomize
from deniable_research.files import Layout, Table, cross, estimate_shares, regress
from tests.support.command_line import CommandLine

EVERY_KIND = """
title = "T"

[[questions]]
id = "yes_no"
type = "yes-no"
text = "?"
truth = "1/2"

[[questions]]
id = "k_ary"
type = "choice"
text = "?"
options = ["a","b","c"]
epsilon = 1

[[questions]]
id = "subset"
type = "choice"
text = "?"
options = ["a","b","c","d","e","f"]
mechanism = "subset"
epsilon = 1

[[questions]]
id = "forced"
type = "choice"
text = "?"
options = ["a","b","c"]
truth = "1/2"
forced = ["1/2","1/4","1/4"]

[[questions]]
id = "ticks"
type = "ticks"
text = "?"
options = ["a","b"]
epsilon = 2

[[questions]]
id = "scale_geometric"
type = "scale"
text = "?"
lo = 1
hi = 4
mechanism = "geometric"
epsilon = 1

[[questions]]
id = "scale_exponential"
type = "scale"
text = "?"
lo = 1
hi = 4
mechanism = "exponential"
epsilon = 1

[[questions]]
id = "scale_mean"
type = "scale"
text = "?"
lo = 1
hi = 4
mechanism = "mean"
epsilon = 1

[[questions]]
id = "number_mean"
type = "number"
text = "?"
lo = 0
hi = 4
mechanism = "mean"
epsilon = 1

[[questions]]
id = "number_laplace"
type = "number"
text = "?"
lo = 0
hi = 4
mechanism = "discrete-laplace"
epsilon = 1

[[questions]]
id = "number_geometric"
type = "number"
text = "?"
lo = 0
hi = 4
mechanism = "geometric"
epsilon = 1
"""

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
            writer.writerow([report.id, "ab"[number % 2], *report.values.values(), dice.gauss(0, 1)])
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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("question", SURVEY.questions, ids=lambda question: question.id)
def test_what_can_be_analysed_is_what_is_said(question: Question, table: Table) -> None:
    name, other = question.id, "yes_no" if question.id != "yes_no" else "k_ary"
    statistics = {row.statistic for row in estimate_shares(table, [name])}
    found = (
        "share" in statistics,
        "mean" in statistics,
        works(lambda: cross(table, [name, other])),
        works(lambda: regress(table, f"{name} ~ age")),
        works(lambda: regress(table, f"age ~ {name}")),
    )
    assert analyses_of(question) == dict(zip(ANALYSES, found, strict=True))


def test_alternatives_name_what_they_gain_and_their_price() -> None:
    said = {question.id: list(map(str, alternatives_for(question))) for question in SURVEY.questions}
    assert [name for name, sentences in said.items() if sentences] == [
        "ticks", "scale_mean", "number_mean", "number_laplace", "number_geometric"
    ]  # fmt: skip
    assert said["ticks"][0].startswith("a yes-no question for each box, with epsilon = 1, also allows regression")
    (scale,) = said["scale_mean"]
    assert scale.startswith('goal = "shares" (and no line mechanism) also allows shares; crosstab')
    assert "costs about 1.3 times the respondents" in scale


def test_check_tells_it_and_the_languages_that_are_missing(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(
        EVERY_KIND.replace('title = "T"', 'cohorts = ["web"]\ntitle = {default = "T", de = "T"}'), encoding="utf-8"
    )
    text = CommandLine("survey", "check").ok(file)
    assert "Can be analysed: mean\n" in text
    assert "Cannot: shares; crosstab" in text
    assert "Instead: goal = " in text
    assert "Warning: de: is missing in the text of yes_no, the text of k_ary, " in text
    assert "Note: a link without a cohort can be answered too; cohort_required = true" in text


def test_publish_prints_no_incomplete_link(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(
        'title = "T"\ncohorts = ["web"]\ncohort_required = true\n[[questions]]\nid = "q"\ntype = "yes-no"\n'
        'text = "?"\nepsilon = 1\n',
        encoding="utf-8",
    )
    text = CommandLine("survey", "publish").ok(file, "--db", tmp_path / "test.db")
    assert re.findall(r"/s/[a-z2-7]{26}(\S*)", text) == ["#cohort=web", "/results"]


def test_examples_of_regress_work_on_what_they_name(tmp_path: Path) -> None:
    survey = tmp_path / "survey.toml"
    survey.write_text(EVERY_KIND, encoding="utf-8")
    reports = write_reports(tmp_path / "reports.csv", SURVEY, 1000)
    regression = CommandLine("analyze", "regress")
    assert 'regress reports.csv "affair ~ C(cohort)" --survey' in " ".join(regression.ok("--help").split())
    assert "C(cohort)" in regression.ok(reports, "yes_no ~ C(cohort)", "--survey", survey)
    assert "age" in regression.ok(reports, "yes_no ~ age", "--survey", survey, "--column", "yes_no=yes_no")


SMALLEST = """
import sys
extras = ("numpy scipy pandas matplotlib formulaic flask apiflask granian pydantic pydantic_settings sqlite_utils "
          "prometheus_client")
sys.modules.update(dict.fromkeys(extras.split()))
from deniable.commands.main import main
main(sys.argv[1:])
"""


def in_the_smallest_install(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command where none of the extras is installed."""
    return subprocess.run([sys.executable, "-c", SMALLEST, *map(str, arguments)], capture_output=True, text=True)


def test_authors_commands_work_in_the_smallest_install_or_name_the_extra(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    head, question, *_ = EVERY_KIND.split("[[questions]]")
    file.write_text(f"{head}[[questions]]{question}", encoding="utf-8")
    checked = in_the_smallest_install("survey", "check", file)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "two-coin, epsilon 1.0986" in checked.stdout
    for arguments in (
        ("survey", "list", "--db", file),
        ("plan", "--survey", file),
        ("audit", file, "--draws", "1000", "--client", "python"),
    ):
        result = in_the_smallest_install(*arguments)
        assert result.returncode == 1
        assert "in a clone of the project: pip install '.[" in result.stderr, arguments
        assert result.stderr.count("\n") == 1

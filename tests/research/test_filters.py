"""Reports of one response to possible patterns, as researchers analyse them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from deniable import ParameterError, read_survey
from deniable_client.device import randomize
from deniable_research.files.comparing import compare
from deniable_research.files.crossing import cross
from deniable_research.files.model_specification import shared_responses
from deniable_research.files.report_table import Table
from deniable_research.simulation.truth import truth_of
from tools.rig.survey_files import question_toml, survey_toml

SURVEY = read_survey(
    survey_toml(
        "Ever, and how often",
        question_toml("ever", "yes-no"),
        question_toml("often", "choice", options=["few", "many"], ask_if="ever = yes"),
        epsilon=3,
    )
)
PEOPLE = 3000


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Of 3,000 people 1,200 say yes, 900 of them few."""
    dice = random.Random(7)
    lines = ["id,cohort,ever,often"]
    for number in range(PEOPLE):
        answers = {"ever": "no"} if number % 5 > 1 else {"ever": "yes", "often": "few" if number % 20 < 15 else "many"}
        report = randomize(SURVEY, answers, word=lambda: dice.getrandbits(32))
        lines.append(f"{number:032x},,{report.values['ever']},{report.values['often']}")
    path = Path(tmp_path_factory.mktemp("reports")) / "reports.csv"
    path.write_text("\n".join(lines) + "\n")
    return Table.read(path, SURVEY)


def test_the_crosstab_has_what_is_possible_and_0_elsewhere(table: Table) -> None:
    truths = {("no", "Does not apply"): 0.6, ("yes", "few"): 0.3, ("yes", "many"): 0.1}
    rows = list(cross(table, ["ever", "often"]))
    cells = [row for row in rows if row.measure == "joint"]
    assert len(cells) == len(rows) == 6, "no test of independence, because one filters the other"
    for row in cells:
        truth = truths.get((str(row.first_option), str(row.second_option)), 0.0)
        assert row.estimate == pytest.approx(truth, abs=0.04)
        assert row.conf_low is not None
        assert row.conf_high is not None
        assert row.conf_low <= truth <= row.conf_high
    given = {(row.first_option, row.second_option): row for row in cross(table, ["often", "ever"], given="ever")}
    assert given["few", "yes"].estimate == pytest.approx(0.75, abs=0.06)


def test_what_needs_other_answers_together_is_refused_with_a_way_out(table: Table) -> None:
    with pytest.raises(ParameterError, match="one response to the patterns"):
        shared_responses(table, ["ever", "often"])
    with pytest.raises(ParameterError, match="'deniable survey try' rehearses it"):
        truth_of(SURVEY)


def test_cohorts_are_compared_among_those_to_whom_it_applies(tmp_path: Path) -> None:
    """Of the first cohort 30 % of those who are asked say many and know of 10, of the second 70 % and 30."""
    survey = read_survey(
        survey_toml(
            "Two cohorts",
            question_toml("ever", "yes-no", epsilon=3),
            question_toml("often", "choice", options=["few", "many"], epsilon=3, ask_if="ever = yes"),
            question_toml("since", "number", lo=0, hi=40, epsilon=3, ask_if="ever = yes"),
            cohorts=["a", "b"],
        )
    )
    dice = random.Random(11)
    lines = ["id,cohort,ever,often,since"]
    for number in range(6000):
        cohort, few = ("a", 7) if number % 2 else ("b", 3)
        answers: dict[str, str | int] = {"ever": "no"}
        if number % 4 > 1:
            often = "few" if number // 4 % 10 < few else "many"
            answers = {"ever": "yes", "often": often, "since": 10 if cohort == "a" else 30}
        values = randomize(survey, answers, cohort, word=lambda: dice.getrandbits(32)).values
        lines.append(f"{number:032x},{cohort},{values['ever']},{values['often']},{values['since']}")
    path = tmp_path / "reports.csv"
    path.write_text("\n".join(lines) + "\n")
    table = Table.read(path, survey)
    among = {row.option: row for row in compare(table, "often", "cohort") if row.measure == "among difference"}
    assert set(among) == {"few", "many"}
    assert among["many"].estimate == pytest.approx(-0.4, abs=0.1)
    assert among["many"].conf_low is not None
    assert among["many"].conf_low < -0.4 < (among["many"].conf_high or 0)
    (mean,) = (row for row in compare(table, "since", "cohort") if row.measure == "mean difference")
    assert mean.estimate == pytest.approx(-20, abs=3)
    assert mean.method == "mover"

"""Reports of one response to possible patterns, as researchers analyse them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from deniable import ParameterError, read_survey
from deniable_client.device import randomize
from deniable_research.files.crossing import cross
from deniable_research.files.problem import shared_responses
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

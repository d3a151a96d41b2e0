"""Reports of one response to possible patterns, as researchers analyse them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from deniable import read_survey
from deniable_client.device import randomize
from deniable_research.files.crossing import cross
from deniable_research.files.report_table import Table
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
        answers = {"ever": "no"} if number % 5 > 1 else {"ever": "yes", "often": "many" if number % 20 > 15 else "few"}
        report = randomize(SURVEY, answers, word=lambda: dice.getrandbits(32))
        lines.append(f"{number:032x},,{report.values['ever']},{report.values['often']}")
    path = Path(tmp_path_factory.mktemp("reports")) / "reports.csv"
    path.write_text("\n".join(lines) + "\n")
    return Table.read(path, SURVEY)


def test_the_crosstab_has_what_is_possible_and_0_elsewhere(table: Table) -> None:
    rows = {(row.first, row.second): row for row in cross(table, ["ever", "often"]) if row.statistic == "share"}
    print(rows)
    truths = {("no", "Does not apply"): 0.6, ("yes", "few"): 0.35, ("yes", "many"): 0.05}
    for cell, row in rows.items():
        assert row.estimate == pytest.approx(truths.get(cell, 0), abs=0.04)
        assert row.conf_low <= truths.get(cell, 0) <= row.conf_high

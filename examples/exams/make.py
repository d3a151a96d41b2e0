"""Draw the made-up replies of this folder: ``python examples/exams/make.py`` writes the same reports.csv each time.

Each made-up student answers through the client's own device, whose chance comes from a seeded generator here. Nobody
may do that in a real survey: whoever knows the seed knows the answers.
"""

from __future__ import annotations

import math
import random
from pathlib import Path

from deniable import read_survey
from deniable_client import randomize
from deniable_statistics.published.csv_cells import csv_lines, report_cells

FOLDER = Path(__file__).parent
STUDENTS = 2_000


def make(chance: random.Random) -> str:
    """The CSV of the noisy reports, as a collector has it."""
    survey = read_survey(path=FOLDER / "exams.toml")
    rows = []
    for student in range(STUDENTS):
        final = student % 2
        stressed = chance.random() < 0.35 + 0.15 * final
        log_odds = -1.8 + 1.5 * stressed + 0.4 * final
        cheated = chance.random() < 1 / (1 + math.exp(-log_odds))
        answers = {"cheated": "yes" if cheated else "no", "stressed": "yes" if stressed else "no"}
        report = randomize(
            survey,
            answers,
            survey.cohorts[final],
            word=lambda: chance.getrandbits(32),
            report_id=f"{chance.getrandbits(128):032x}",
        )
        rows.append([report.id, report.cohort, *report_cells(survey, report)])
    header = ["id", "cohort", "cheated", "stressed", "one_report_a_person"]
    return "".join(csv_lines([header, *sorted(rows)]))


if __name__ == "__main__":
    (FOLDER / "reports.csv").write_text(make(random.Random(1974)), encoding="utf-8", newline="")  # noqa: S311

"""Draw the made-up replies of this folder: ``python examples/exams/make.py`` writes the same files each time.

Each made-up student answers through the client's own device, whose chance comes from a seeded generator here. Nobody
may do that in a real survey: whoever knows the seed knows the answers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from deniable import Survey, read_survey
from deniable_client import randomize
from deniable_statistics.published.csv_cells import csv_lines, report_cells

FOLDER = Path(__file__).parent
STUDENTS = 2_000


def make(chance: random.Random) -> str:
    """The CSV of the noisy reports to exams.toml, as a collector has it."""
    survey = read_survey(path=FOLDER / "exams.toml")

    def people() -> Iterator[tuple[str | None, dict[str, str]]]:
        for student in range(STUDENTS):
            final = student % 2
            stressed = chance.random() < 0.35 + 0.15 * final
            cheated = _happens(-1.8 + 1.5 * stressed + 0.4 * final, chance)
            answers = {"cheated": "yes" if cheated else "no", "stressed": "yes" if stressed else "no"}
            yield survey.cohorts[final], answers

    return _reports(survey, people(), chance)


def make_studied(chance: random.Random) -> str:
    """The CSV of the noisy reports to studied.toml, which has a choice of three options and no cohorts."""
    survey = read_survey(path=FOLDER / "studied.toml")

    def people() -> Iterator[tuple[str | None, dict[str, str]]]:
        for _ in range(STUDENTS):
            (amount,) = chance.choices(("most of it", "half of it", "little of it"), (0.45, 0.35, 0.2))
            cheated = _happens({"most of it": -1.4, "half of it": -0.6, "little of it": 0.4}[amount], chance)
            yield None, {"cheated": "yes" if cheated else "no", "studied": amount}

    return _reports(survey, people(), chance)


def make_years(chance: random.Random) -> str:
    """The CSV of the noisy reports to years.toml, whose cohorts studied different amounts of the material."""
    survey = read_survey(path=FOLDER / "years.toml")
    amounts = ("most of it", "half of it", "little of it")

    def people() -> Iterator[tuple[str | None, dict[str, str]]]:
        for student in range(STUDENTS):
            final = student % 2
            (amount,) = chance.choices(amounts, (0.55, 0.3, 0.15) if final else (0.35, 0.4, 0.25))
            yield survey.cohorts[final], {"studied": amount}

    return _reports(survey, people(), chance)


def make_work(chance: random.Random) -> str:
    """The CSV of the noisy reports to work.toml, which has a choice of five options and cohorts."""
    survey = read_survey(path=FOLDER / "work.toml")
    hours = survey.question("work").options
    log_odds = dict(zip(hours, (-1.6, -1.2, -0.8, -0.2, 0.4), strict=True))

    def people() -> Iterator[tuple[str | None, dict[str, str]]]:
        for student in range(2 * STUDENTS):
            final = student % 2
            (worked,) = chance.choices(hours, (0.2, 0.2, 0.2, 0.2, 0.2) if final else (0.4, 0.2, 0.15, 0.15, 0.1))
            cheated = _happens(log_odds[worked] + 0.4 * final, chance)
            yield survey.cohorts[final], {"cheated": "yes" if cheated else "no", "work": worked}

    return _reports(survey, people(), chance)


def make_points(chance: random.Random) -> str:
    """The CSV of a page that asks the question of points.toml, and stores its noisy value beside points of an exam."""
    survey = read_survey(path=FOLDER / "points.toml")
    rows = []
    for student in range(1, STUDENTS + 1):
        (amount,) = chance.choices(("most of it", "half of it", "little of it"), (0.45, 0.35, 0.2))
        mean = {"most of it": 70, "half of it": 62, "little of it": 52}[amount]
        points = min(max(round(chance.gauss(mean, 12)), 0), 100)
        word = lambda: chance.getrandbits(32)  # noqa: E731
        report = randomize(survey, {"studied": amount}, None, word=word, report_id=f"{student:032x}")
        rows.append([student, points, "yes" if points >= 50 else "no", report.values["studied"]])
    return "".join(csv_lines([["student", "points", "passed", "studied"], *rows]))


def _happens(log_odds: float, chance: random.Random) -> bool:
    return chance.random() < 1 / (1 + math.exp(-log_odds))


def _reports(survey: Survey, people: Iterable[tuple[str | None, dict[str, str]]], chance: random.Random) -> str:
    rows = []
    for cohort, answers in people:
        report = randomize(
            survey,
            answers,
            cohort,
            word=lambda: chance.getrandbits(32),
            report_id=f"{chance.getrandbits(128):032x}",
        )
        rows.append([report.id, report.cohort, *report_cells(survey, report)])
    header = ["id", "cohort", *(question.id for question in survey.questions), "one_report_a_person"]
    return "".join(csv_lines([header, *sorted(rows, key=lambda row: row[0])]))


if __name__ == "__main__":
    files = {
        "reports": make(random.Random(1974)),  # noqa: S311
        "studied": make_studied(random.Random(1975)),  # noqa: S311
        "years": make_years(random.Random(1976)),  # noqa: S311
        "work": make_work(random.Random(1978)),  # noqa: S311
        "points": make_points(random.Random(1977)),  # noqa: S311
    }
    for name, drawn in files.items():
        (FOLDER / f"{name}.csv").write_text(drawn, encoding="utf-8", newline="")

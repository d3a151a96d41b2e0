"""Prints how often the planned analysis of each template covers the truth that was put in.

Made-up people answer a template through the Python device, with chance from a seed; the command that stands as the
first analysis in the template then reads the file of their reports. Every interval that it prints is compared with the
figure of the population from which these people were drawn: a share, a mean, a difference of two cohorts, which is 0,
or a log-odds ratio.
"""

from __future__ import annotations

import json
import random
import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from scipy.stats import binom

from deniable import Question, Report, Survey, parse_survey, read_survey
from deniable.table import format_table
from deniable_client import randomize
from deniable_client.rehearsal.people import Relation, make_people, usual_shares
from deniable_commands.main import main as deniable
from deniable_server.authors.templates import TEMPLATES, template
from deniable_server.results.releases import reports_header
from deniable_statistics.published.csv_cells import csv_lines, report_cells

SEEDS = 20
RESPONDENTS = 400
EFFECT = 1.5
"""Log-odds that a predictor adds to the outcome of a regression."""

LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """An interval of the planned analysis beside the truth."""

    figure: str
    truth: float
    low: float
    high: float

    @property
    def covers(self) -> bool:
        """Whether it holds the truth."""
        return self.low <= self.truth <= self.high


def planned(text: str) -> list[str]:
    """The arguments of the command that a template names as the first analysis."""
    found = re.search(r"^# First analysis: deniable (analyze .*)$", text, re.MULTILINE)
    assert found is not None
    return shlex.split(found[1])


def reports_of(survey: Survey, seed: int, respondents: int, relation: Relation | None) -> Iterator[Report]:
    """The reports of made-up people, whose answers and chance come from one seed; cohorts take turns."""
    dice = random.Random(seed)
    cohorts = survey.cohorts or (None,)
    for place, person in enumerate(make_people(survey, respondents, {}, relation, dice)):
        report = randomize(survey, person, cohorts[place % len(cohorts)], word=lambda: dice.getrandbits(32))
        yield replace(report, id=f"{dice.getrandbits(128):032x}")


def rehearse(name: str, seed: int, respondents: int, folder: Path) -> list[Interval]:
    """Answer a template, and analyse the file of reports as the template says."""
    text = template(name)
    survey = parse_survey(read_survey(text).document)
    command = planned(text)
    formula = next((each for each in command if "~" in each), None)
    relation = None if formula is None else Relation.parse(formula, survey, EFFECT)
    reports = sorted(reports_of(survey, seed, respondents, relation), key=lambda each: each.id)
    lines = ([each.id, each.cohort, *report_cells(survey, each)] for each in reports)
    folder.joinpath("reports.csv").write_text("".join(csv_lines([reports_header(survey), *lines])), encoding="utf-8")
    folder.joinpath("my-survey.toml").write_text(text, encoding="utf-8")
    paths = [str(folder / each) if each in ("reports.csv", "my-survey.toml") else each for each in command]
    done = CliRunner().invoke(deniable, [*paths, "--format", "json"])
    assert done.exit_code == 0, done.output
    return list(_intervals(json.loads(done.stdout), survey, relation))


def _intervals(found: Mapping[str, Any], survey: Survey, relation: Relation | None) -> Iterator[Interval]:
    for row in found.get("estimates", ()):
        truth = _truth(survey.question(row["question"]), row)
        yield Interval(f"{row['question']} {row['option']}", truth, row["conf_low"], row["conf_high"])
    for row in found.get("comparisons", ()):
        # Cohorts take turns among people of one population.
        if row["conf_low"] is not None and row["measure"] in ("difference", "ratio"):
            yield Interval(row["measure"], float(row["measure"] == "ratio"), row["conf_low"], _end(row["conf_high"]))
    for row in found.get("terms", ()):
        if relation and row["term"].partition("[")[0] in relation.predictors:
            yield Interval(row["term"], relation.effect, -_end(row["conf_low"], -1), _end(row["conf_high"]))


def _end(limit: float | None, sign: int = 1) -> float:
    """An end of an interval, in JSON null where it is infinite."""
    return float("inf") if limit is None else sign * limit


def _truth(question: Question, row: Mapping[str, Any]) -> float:
    shares = dict(zip(map(str, question.options), usual_shares(question), strict=True)) if question.options else {}
    if row["statistic"] == "share":
        return shares[row["option"]]
    if shares:
        return sum(float(level) * share for level, share in shares.items())
    # Numbers are rounded from the triangular distribution that falls from the lowest to the highest.
    lo, hi = question.numbers[0], question.numbers[-1]

    def above(x: float) -> float:
        return ((hi - min(max(x, lo), hi)) / (hi - lo)) ** 2

    return sum(n * (above(n - 0.5) - above(n + 0.5)) for n in question.numbers)


def main() -> None:
    """Print the table of `SEEDS` rehearsals of each template by `RESPONDENTS` people."""
    rows, every = [], []
    for name in TEMPLATES:
        with tempfile.TemporaryDirectory() as folder:
            found = [each for seed in range(SEEDS) for each in rehearse(name, seed, RESPONDENTS, Path(folder))]
        every += found
        rows.append(_row(name, planned(template(name))[1], SEEDS, found))
    rows.append(_row("all", "", SEEDS * len(TEMPLATES), every))
    header = ("template", "analysis", "rehearsals", "intervals", "cover", "share", "P(so few)")
    print(format_table(header, rows, right=header[2:]))


def _row(name: str, analysis: str, seeds: int, found: list[Interval]) -> tuple[str, ...]:
    covered = sum(each.covers for each in found)
    # Intervals of one rehearsal depend on each other, so this probability is a guide.
    chance = binom.cdf(covered, len(found), LEVEL)
    share = f"{covered / len(found):.3f}"
    return name, analysis, str(seeds), str(len(found)), str(covered), share, f"{chance:.3f}"

"""What the tests of ``deniable analyze`` share: the command in this process, and the study of ``tests/data``."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pandas as pd

from deniable import (
    Report,
    Survey,
    read_survey,
)
from deniable_client import randomize
from tools.rig.command_line import CommandLine
from tools.rig.surveys import SURVEY

DATA = Path(__file__).parents[1] / "data"
ANALYZE = CommandLine("analyze")
run, ok, refused = ANALYZE.run, ANALYZE.ok, ANALYZE.refused

TWO_ARMS = """
arm = "arm"
[questions.arms.RR]
design = "forced-response"
truth = "2/3"
codes = {no = "no", yes = "yes"}
[questions.arms.DQ]
design = "direct"
"""
"""Of a question in a design file: randomised for some people, direct for others, as the column `arm` says."""

STUDY = (str(DATA / "study.csv"), "--design", str(DATA / "study.toml"))


def as_rows(*arguments: object) -> list[dict[str, Any]]:
    """The CSV that a command prints, as pandas reads it."""
    frame = pd.read_csv(io.StringIO(ok(*arguments, "--format", "csv")), keep_default_na=False, na_values=[""])
    return [{key: None if pd.isna(value) else value for key, value in row.items()} for row in frame.to_dict("records")]


def study_rows() -> list[dict[str, str]]:
    """The study as the csv module reads it, on its own."""
    with (DATA / "study.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def love_reports(n: int = 300) -> tuple[Survey, list[Report]]:
    """The survey of two questions, and reports to it."""
    survey = read_survey(SURVEY)
    options = survey.question("religious").options
    cohorts = ("paper", "web", None)
    return survey, [
        randomize(survey, {"affair": "yes" if row % 3 else "no", "religious": options[row % 4]}, cohorts[row % 3])
        for row in range(n)
    ]

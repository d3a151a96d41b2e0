"""Surveys that many tests ask, the people who answer them, and the day that it is."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from tools.rig.survey_files import question_toml, survey_toml

TODAY = datetime.date(2026, 11, 25)

SURVEY = survey_toml(
    "Life and love, 1974",
    question_toml("affair", "yes-no", "Have you had an affair since you married?", truth="1/2"),
    question_toml(
        "religious", "choice", "How religious are you?", options=["not", "mildly", "fairly", "strongly"], epsilon=1.0
    ),
    opens=datetime.date(2026, 11, 20),
    closes=datetime.date(2026, 12, 20),
    cohorts=["paper", "web"],
    results="live",  # so that tests count what they have just sent
    layout="page",
)


FIVE_TYPES = survey_toml(
    "Five types",
    question_toml("affair", "yes-no", "Have you had an affair?", truth="1/2"),
    question_toml("town", "choice", "Where do you live?", options=[*"ABCDEFGHIJ"], epsilon=1),
    question_toml("drugs", "ticks", "What have you tried?", options=["cannabis", "cocaine", "heroin"], epsilon=2),
    question_toml("trust", "scale", "How much do you trust us?", lo=1, hi=7, epsilon=1, goal="shares"),
    question_toml("drinks", "number", "How many drinks last week?", lo=0, hi=60, epsilon=1),
    results="live",
    layout="page",
)
"""A survey with a question of each type."""


EVERY_KIND = survey_toml(
    "T",
    question_toml("yes_no", "yes-no", "?", truth="1/2"),
    question_toml("k_ary", "choice", "?", options=["a", "b", "c"], epsilon=1),
    question_toml("subset", "choice", "?", options=[*"abcdef"], mechanism="subset", epsilon=1),
    question_toml("forced", "choice", "?", options=["a", "b", "c"], truth="1/2", forced=["1/2", "1/4", "1/4"]),
    question_toml("ticks", "ticks", "?", options=["a", "b"], epsilon=2),
    question_toml("scale_geometric", "scale", "?", lo=1, hi=4, mechanism="geometric", epsilon=1),
    question_toml("scale_exponential", "scale", "?", lo=1, hi=4, mechanism="exponential", epsilon=1),
    question_toml("scale_mean", "scale", "?", lo=1, hi=4, mechanism="mean", epsilon=1),
    question_toml("number_mean", "number", "?", lo=0, hi=4, mechanism="mean", epsilon=1),
    question_toml("number_laplace", "number", "?", lo=0, hi=4, mechanism="discrete-laplace", epsilon=1),
    question_toml("number_geometric", "number", "?", lo=0, hi=4, mechanism="geometric", epsilon=1),
    question_toml("number_piecewise", "number", "?", lo=0, hi=4, mechanism="piecewise", epsilon=1),
    question_toml("scale_piecewise", "scale", "?", lo=1, hi=7, goal="mean", mechanism="piecewise", epsilon=2),
    layout="page",
)
"""A survey with a question for each mechanism."""


def person(number: int) -> dict[str, Any]:
    """The true answers of an invented person to `FIVE_TYPES`."""
    return {
        "affair": "yes" if number % 10 < 3 else "no",
        "town": "ABCDEFGHIJ"[min(number % 13, 9)],
        "drugs": [drug for place, drug in enumerate(["cannabis", "cocaine", "heroin"]) if number % (place + 2) == 0],
        "trust": str(1 + number % 7) if number % 3 else "6",
        "drinks": number % 17 if number % 5 else 40,
    }


def distances_in_errors(rows: list[dict[str, Any]], people: list[dict[str, Any]]) -> list[float]:
    """How many standard errors each published estimate is from the truth about these people.

    An option that few reports support has a small error by that very chance, so each is held to the largest of its
    question.
    """
    errors: dict[tuple[str, str], float] = {}
    for row in rows:
        key = row["question"], row["statistic"]
        errors[key] = max(errors.get(key, 0.0), row["std_error"])
    found = []
    for row in rows:
        given = [each[row["question"]] for each in people]
        if row["statistic"] == "mean":
            truth = sum(map(float, given)) / len(given)
        else:
            truth = sum(row["option"] in each if isinstance(each, list) else row["option"] == each for each in given)
            truth /= len(given)
        found.append(abs(row["estimate"] - truth) / errors[row["question"], row["statistic"]])
    return found


@dataclass
class Clock:
    """A day that tests move."""

    today: datetime.date = TODAY

    def __call__(self) -> datetime.date:
        return self.today

"""The people of the demo: their true answers, which only this side ever sees."""

from __future__ import annotations

import csv
import random
from importlib.resources import files

from deniable.survey.document import Survey

Answers = dict[str, str]
"""Question id to the label of the true answer."""


def survey_file() -> str:
    """Path of the demo's survey."""
    return str(files(__package__) / "survey.toml")


def everybody(survey: Survey) -> list[Answers]:
    """The true answers of all 6,366 people, as labels of the survey's options."""
    # Codes of the data set: affairs from 0, the two scales from 1.
    first_code = {"affair": 0, "religious": 1, "rate_marriage": 1}
    with (files(__package__) / "redbook1974.csv").open(encoding="ascii") as file:
        return [
            {
                question.id: question.options[int(row[question.id]) - first_code[question.id]]
                for question in survey.questions
            }
            for row in csv.DictReader(file)
        ]


def choose(people: list[Answers], n: int) -> list[Answers]:
    """``n`` of them at random; beyond their number everybody and some twice."""
    dice = random.SystemRandom()
    # Everybody as often as possible, the rest without replacement: the shares stay as near to the true ones as they
    # can.
    whole, rest = divmod(n, len(people))
    return people * whole + dice.sample(people, rest)


def true_shares(people: list[Answers], survey: Survey) -> dict[tuple[str, str], float]:
    """Share of people with each answer, by question id and option."""
    return {
        (question.id, option): sum(person[question.id] == option for person in people) / len(people)
        for question in survey.questions
        for option in question.options
    }

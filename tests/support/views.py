"""Surveys with three cohorts whose people have answered, for tests of what results show."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from deniable import Report, Survey, read_survey
from deniable_client import randomize
from deniable_server.store import Store

COHORTS = 'cohorts = ["north", "south", "west"]\norganiser = "Institute of Sociology"\n'


def answers_of(survey: Survey, chance: random.Random) -> dict[str, Any]:
    """True answers to whatever a survey asks everybody."""
    found: dict[str, Any] = {}
    for question in survey.questions:
        if question.ask_if is not None:
            continue
        if question.kind.takes_several:
            found[question.id] = [option for option in question.options if chance.random() < 0.5]
        else:
            found[question.id] = chance.choice(question.options or list(question.mechanism.answer_range))
    for question in survey.questions:
        # The filters of these surveys ask whoever says yes.
        if question.ask_if is not None and "yes" in found.values():
            found[question.id] = chance.choice(question.choices or question.numbers)
    return found


def reports_of(survey: Survey, n: int) -> list[Report]:
    """Reports of ``n`` people, whose chance comes from a seed."""
    chance = random.Random(5)

    def word() -> int:
        return chance.getrandbits(32)

    people = [randomize(survey, answers_of(survey, chance), survey.cohorts[i % 3], word=word) for i in range(n)]
    return [replace(each, id=f"{i:032x}") for i, each in enumerate(people)]


def filled(store: Store, text: str, n: int = 300) -> tuple[Survey, list[Report]]:
    """A survey of three cohorts with one release of ``n`` reports."""
    survey = replace(read_survey(COHORTS + text), results="batches", release=n // 3)
    reports = reports_of(survey, n)
    store.publish(survey)
    store.store_reports([(survey, reports)])
    store.settle()
    return survey, reports

"""Waves of a question: the surveys of this collector that ask it to the letter, in the order of their dates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deniable import Question
from deniable.survey.texts import publish_text
from deniable_server.store import SurveyState

MOST_WAVES = 24
"""Largest number of waves of a view; of more the newest."""


@dataclass(frozen=True)
class Wave:
    """A survey that asks the question.

    Attributes
    ----------
    state : SurveyState
    question : Question
        As this survey asks it, under an id of its own.
    label : str
        Its first day, and its title where that tells it apart from others.
    """

    state: SurveyState
    question: Question
    label: str


def waves_of(asked: Question, states: Iterable[SurveyState]) -> list[Wave]:
    """The waves of a question among surveys; a question is the same as `docs/device.md` says, whatever its id."""
    wanted = _content(asked)
    found = [
        (state, question)
        for state in states
        for question in state.survey.questions
        if question.type == asked.type and question.options == asked.options and _content(question) == wanted
    ]
    found.sort(key=lambda each: (_first_day(each[0]), each[0].published_on, each[0].survey.id))
    found = found[-MOST_WAVES:]
    labels = _labels([state for state, _ in found])
    return [Wave(state, question, label) for (state, question), label in zip(found, labels, strict=True)]


def _content(question: Question) -> object:
    """What makes a question the same for people and devices: its words, its answers, its chance, and whom it is for."""
    condition = None if question.ask_if is None else question.ask_if.publish()
    options = [publish_text(each) for each in question.options]
    unit = None if question.unit is None else publish_text(question.unit)
    return question.type, publish_text(question.text), options, question.mechanism.publish(), condition, unit


def _first_day(state: SurveyState) -> str:
    return state.survey.opens.isoformat() if state.survey.opens else state.published_on


def _labels(states: Sequence[SurveyState]) -> list[str]:
    days = Counter(map(_first_day, states))
    named = [
        _first_day(each) if days[_first_day(each)] == 1 else f"{_first_day(each)}, {each.survey.title}"
        for each in states
    ]
    seen: Counter[str] = Counter()
    labels = []
    for label in named:
        seen[label] += 1
        labels.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return labels

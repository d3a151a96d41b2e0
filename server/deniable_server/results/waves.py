"""Waves of a question: the surveys of this collector that ask it to the letter, in the order of their dates."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deniable import Question, Survey
from deniable.survey.texts import publish_text
from deniable_server.store import Store, SurveyState
from deniable_statistics.published.steady_text import steady

MOST_WAVES = 24
"""Largest number of waves of a view; of more the newest."""


LOOK_AGAIN_SECONDS = 60.0
"""Seconds after which a survey that was published meanwhile is found."""


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


class WaveIndex:
    """Which surveys of a store ask which questions, looked up anew now and then, because others may publish there."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._due = 0.0
        self._asking: dict[str, list[tuple[str, str]]] = {}  # ids of surveys and questions, by what is asked

    def waves(self, asked: Question, may_read: Callable[[Survey], bool]) -> list[Wave]:
        """The waves of a question whose results show something and may be read, in the order of their first days.

        A question is the same as `docs/device.md` says, whatever its id.
        """
        if time.monotonic() >= self._due:
            self._look()
        states = [(self._store.state(survey), question) for survey, question in self._asking.get(_content(asked), ())]
        found = [each for each in states if each[0].reports and may_read(each[0].survey)]
        found.sort(key=lambda each: (_first_day(each[0]), each[0].published_on, each[0].survey.id))
        found = found[-MOST_WAVES:]
        labels = _labels([state for state, _ in found])
        return [
            Wave(state, state.survey.question(question), label)
            for (state, question), label in zip(found, labels, strict=True)
        ]

    def _look(self) -> None:
        asking: dict[str, list[tuple[str, str]]] = {}
        for state in self._store.states():
            for question in state.survey.questions:
                asking.setdefault(_content(question), []).append((state.survey.id, question.id))
        self._asking, self._due = asking, time.monotonic() + LOOK_AGAIN_SECONDS


def _content(question: Question) -> str:
    """What makes a question the same for people and devices: its words, its answers, its chance, and whom it is for."""
    condition = None if question.ask_if is None else question.ask_if.publish()
    options = [publish_text(each) for each in question.options]
    unit = None if question.unit is None else publish_text(question.unit)
    content = [question.type, publish_text(question.text), options, question.mechanism.publish(), condition, unit]
    return json.dumps(content, sort_keys=True)


def _first_day(state: SurveyState) -> str:
    return state.survey.opens.isoformat() if state.survey.opens else state.published_on


def _labels(states: Sequence[SurveyState]) -> list[str]:
    days = Counter(map(_first_day, states))
    named = [
        _first_day(each) if days[_first_day(each)] == 1 else f"{_first_day(each)}, {steady(each.survey.title)}"
        for each in states
    ]
    seen: Counter[str] = Counter()
    labels = []
    for label in named:
        seen[label] += 1
        # Two waves of one day and one title still need two places on the axis.
        labels.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return labels

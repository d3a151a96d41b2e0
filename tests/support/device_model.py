"""A small model of docs/device.md, and random sequences of steps with what each must come to.

The model shares no code with either client: it keeps questions by their whole text instead of a hash, and adds up
fractions instead of a table.
"""

from __future__ import annotations

import datetime
import json
import math
import random
from dataclasses import dataclass, field
from typing import Any

from deniable import Survey, read_survey

PLACES = {
    "https://a.example": "https://a.example",
    "https://a.example/other": "https://a.example",
    "https://b.example": "https://b.example",
    "http://127.0.0.1:8000": "http://127.0.0.1:8000",
}
"""Collectors and their origins."""

START = datetime.date(2026, 11, 25)
WINDOW = datetime.timedelta(days=90)
MILLION = 10**6

_QUESTION = '\n[[questions]]\nid = "{id}"\ntype = "{type}"\ntext = "{text}"\nepsilon = {epsilon}\n'
_MORE = {
    "ticks": 'options = ["cannabis", "cocaine"]\nmechanism = "tick-boxes"\n',
    "choice": 'options = ["yes", "perhaps", "no"]\nmechanism = "longitudinal"\nwave_epsilon = 1\n',
}


def _survey(title: str, *asked: tuple[str, str, str, float], head: str = "") -> Survey:
    questions = [
        _QUESTION.format(id=name, type=kind, text=text, epsilon=epsilon) + _MORE.get(kind, "")
        for name, kind, text, epsilon in asked
    ]
    return read_survey(f'title = "{title}"\ncohorts = ["web"]\n{head}' + "".join(questions))


AFFAIR = ("affair", "yes-no", "An affair?", 1)
DRUGS = ("drugs", "ticks", "Which?", 2)
PANEL = ("leave", "choice", "Leaving?", 3)
PANEL_WAVES = ("Panel, first wave", "Panel, second wave", "Panel, third wave, with more")
SURVEYS = (
    _survey("One", AFFAIR),
    _survey("The same under another title and id", ("liaison", "yes-no", "An affair?", 1)),
    _survey("Another mechanism", ("affair", "yes-no", "An affair?", 2)),
    _survey("Another wording", ("affair", "yes-no", "An affair, ever?", 1)),
    _survey("Two", AFFAIR, DRUGS),
    _survey("Other ticks", DRUGS, ("health", "yes-no", "Well?", 1.5)),
    _survey("Twice the same", AFFAIR, ("again", "yes-no", "An affair?", 1)),
    _survey("First wave", AFFAIR, head='fresh = "each wave"\n'),
    _survey("Second wave", AFFAIR, head='fresh = "each wave"\n'),
    _survey("Dear", ("debt", "yes-no", "Debts?", 4), ("theft", "yes-no", "Stolen?", 4)),
    *(_survey(f"Sum {n}", ("sum", "yes-no", f"Number {n}?", 3)) for n in range(6)),
    _survey(PANEL_WAVES[0], PANEL),
    _survey(PANEL_WAVES[1], ("quit", *PANEL[1:]), ("again", *PANEL[1:])),
    _survey(PANEL_WAVES[2], AFFAIR, PANEL),
    _survey("Panel, drawn anew", PANEL, head='fresh = "each wave"\n'),
)


@dataclass
class Model:
    """What a device remembers, as docs/device.md has it."""

    reports: dict[int, tuple[str, dict[str, bool]]] = field(default_factory=dict)
    noisy: dict[str, Any] = field(default_factory=dict)
    waves: dict[tuple[int, str], int] = field(default_factory=dict)
    told: dict[tuple[str, str], tuple[datetime.date, int]] = field(default_factory=dict)

    def copy(self) -> Model:
        """Another device that remembers the same."""
        reports = {number: (text, dict(to)) for number, (text, to) in self.reports.items()}
        return Model(reports, dict(self.noisy), dict(self.waves), dict(self.told))

    def step(self, step: dict[str, Any]) -> dict[str, Any]:
        """Do a step, and say what it comes to."""
        after = self.copy()
        try:
            result = getattr(after, step["act"])(
                **{key: step[key] for key in step if key not in ("act", "fault", "expect")}
            )
        except _Refused as refusal:
            return {"error": str(refusal)}
        except _FailedDraw:
            return {"error": "draw"}
        if step.get("fault") == "write":
            return {"error": "memory"}
        self.__dict__ = after.__dict__
        return {"error": "crash"} if step.get("fault") == "crash" else {"result": result}

    def answer(self, survey: int, collector: str, day: str, report: dict[str, Any] | None, words: list[int]) -> str:
        """Somebody presses Send.

        ``report`` is what would be drawn, None for a draw that fails, and ``words`` what its one wave is drawn with.
        """
        self.charge(survey, collector, datetime.date.fromisoformat(day))
        if survey not in self.reports:
            if report is None:
                raise _FailedDraw
            values = {}
            for name, key in keys(survey).items():
                values[name] = self.noisy.setdefault(key, report["values"][name])
                if has_waves(key):
                    drawn = wave(values[name], words[0], **json.loads(key)[-1])
                    values[name] = self.waves.setdefault((survey, key), drawn)
            self.reports[survey] = (json.dumps(report | {"values": values}, separators=(",", ":")), {})
        text, to = self.reports[survey]
        to.setdefault(collector, False)
        return text

    def sent(self, survey: int, collector: str) -> None:
        """The collector has the report."""
        if survey in self.reports and collector in self.reports[survey][1]:
            self.reports[survey][1][collector] = True

    def look(self, survey: int, collector: str, day: str) -> list[Any]:
        """What is known before anybody answers: report, whether sent, totals in millionths, and two notes."""
        today = datetime.date.fromisoformat(day)
        has_told = self.total(None, today) > 0
        is_same = not self.noisy.keys().isdisjoint(keys(survey).values())
        totals = self.copy().charge(survey, collector, today)
        text, to = self.reports.get(survey, (None, {}))
        return [text, to.get(collector, False), *totals, has_told, is_same]

    def charge(self, survey: int, collector: str, today: datetime.date) -> tuple[int, int]:
        """Enter what is new to a collector, if there is room; the two totals."""
        origin = PLACES[collector]
        asked = {keys(survey)[each.id]: math.ceil(each.epsilon * MILLION) for each in SURVEYS[survey].questions}
        new = {key: cost for key, cost in asked.items() if (origin, key) not in self.told}
        latest = max([today, *(day for day, _ in self.told.values())])
        self.told |= {(origin, key): (latest, cost) for key, cost in new.items()}
        own, everybody = self.total(origin, today), self.total(None, today)
        if new and (own > 8 * MILLION or everybody > 16 * MILLION):
            raise _Refused("budget")
        return own, everybody

    def total(self, origin: str | None, today: datetime.date) -> int:
        """What was told within 90 days, by question."""
        told = {
            key: cost
            for (whom, key), (day, cost) in self.told.items()
            if day > today - WINDOW and origin in (None, whom)
        }
        return sum(told.values())

    def check(self) -> None:
        """In no 90 days was anybody told too much, whatever the clock said."""
        days = {day for day, _ in self.told.values()}
        for end in days:
            for origin in {None, *PLACES.values()}:
                told = {
                    key: cost
                    for (whom, key), (day, cost) in self.told.items()
                    if end - WINDOW < day <= end and origin in (None, whom)
                }
                assert sum(told.values()) <= (16 if origin is None else 8) * MILLION


class _Refused(Exception):
    pass


class _FailedDraw(Exception):
    pass


def keys(survey: int) -> dict[str, str]:
    """Each question of a survey as what makes it the same question elsewhere."""
    published = json.loads(SURVEYS[survey].document)
    wave = SURVEYS[survey].id if published.get("fresh") else None
    return {
        asked["id"]: json.dumps([wave, asked["type"], asked["text"], asked["options"], asked["mechanism"]])
        for asked in published["questions"]
    }


def has_waves(key: str) -> bool:
    """Whether each survey sends a draw of its own from the value of a question."""
    return "again" in json.loads(key)[-1]


def wave(value: int, word: int, k: int, again: int, **_: Any) -> int:
    """What a wave sends of a permanent value, by the published integers."""
    others = [option for option in range(k) if option != value]
    return value if word < again else others[(word - again) * (k - 1) // (2**32 - again)]


def some_step(dice: random.Random, day: datetime.date) -> dict[str, Any]:
    """A random step on a day."""
    where: dict[str, Any] = {"survey": dice.randrange(len(SURVEYS)), "collector": dice.choice(list(PLACES))}
    act = dice.choices(["answer", "look", "sent"], [6, 3, 1])[0]
    if act == "sent":
        return {"act": act, **where}
    if act == "look":
        return {"act": act, **where, "day": day.isoformat()}
    fault = dice.choices([None, "draw", "write", "crash"], [12, 1, 1, 1])[0]
    report = None
    if fault != "draw":
        values = {
            asked.id: "".join(dice.choices("01", k=2)) if asked.type == "ticks" else dice.randrange(len(asked.options))
            for asked in SURVEYS[where["survey"]].questions
        }
        report = {"id": f"{dice.getrandbits(128):032x}", "cohort": dice.choice([None, "web"]), "values": values}
    words = [dice.getrandbits(32)]
    return {"act": act, **where, "day": day.isoformat(), "report": report, "words": words, "fault": fault}


def next_day(dice: random.Random, day: datetime.date) -> datetime.date:
    """Mostly the same day; sometimes later, sometimes a clock that goes back."""
    return day + datetime.timedelta(days=dice.choices([0, 1, 30, 89, 90, -40, -400], [14, 3, 2, 1, 1, 1, 0.2])[0])


def sequence(dice: random.Random, length: int) -> list[dict[str, Any]]:
    """Steps on one device, each with what it must come to."""
    model, day, steps = Model(), START, []
    for _ in range(length):
        day = next_day(dice, day)
        step = some_step(dice, day)
        steps.append(step | {"expect": model.step(step)})
        model.check()
    return steps

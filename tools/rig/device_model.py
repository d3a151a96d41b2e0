"""A small model of docs/device.md, and random sequences of steps with what each must come to.

The model shares no code with either client: it keeps questions by their whole text instead of a hash, and adds up
fractions instead of a table.
"""

from __future__ import annotations

import datetime
import json
import math
import random
from dataclasses import dataclass, field, replace
from typing import Any

from deniable import Question, Survey, read_survey
from deniable_statistics.designs.spaces import every_report

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

_QUESTION = '\n[[questions]]\nid = "{id}"\ntype = "{type}"\ntext = "{text}"\n'
_OPTIONS = {"ticks": 'options = ["cannabis", "cocaine"]\n', "choice": 'options = ["yes", "perhaps", "no"]\n'}
_MORE = {
    "ticks": _OPTIONS["ticks"] + 'mechanism = "tick-boxes"\n',
    "choice": _OPTIONS["choice"] + 'mechanism = "longitudinal"\nwave_epsilon = 1\n',
}


def _survey(title: str, *asked: tuple[str, str, str, float], head: str = "", shared: float | None = None) -> Survey:
    """A survey whose questions have an epsilon each, or share one."""
    questions = [
        _QUESTION.format(id=name, type=kind, text=text)
        + (_MORE.get(kind, "") + f"epsilon = {epsilon}\n" if shared is None else _OPTIONS.get(kind, ""))
        for name, kind, text, epsilon in asked
    ]
    head += "" if shared is None else f'epsilon = {shared}\nwant = ["shares"]\n'
    return read_survey(f'title = "{title}"\ncohorts = ["web"]\n{head}' + "".join(questions))


AFFAIR = ("affair", "yes-no", "An affair?", 1)
DRUGS = ("drugs", "ticks", "Which?", 2)
PANEL = ("leave", "choice", "Leaving?", 3)
THREE = (AFFAIR, ("tax", "yes-no", "Taxes?", 1), ("theft", "yes-no", "Stolen?", 1))
PANEL_WAVES = ("Panel, first wave", "Panel, second wave", "Panel, third wave, with more")
_PUBLISHED = (
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
    _survey("Drawn", *THREE, shared=2),
    _survey("The same draw under another title", ("liaison", *AFFAIR[1:]), *THREE[1:], shared=2),
    _survey("Drawn anew", *THREE, head='fresh = "each wave"\n', shared=2),
    _survey("One of two kinds", AFFAIR, DRUGS, ("again", "choice", "Again?", 1), shared=1.5),
    _survey("All in one response", *THREE[:2], shared=2),
)
# A revision of each kind of unit: a question of its own, waves, drawn ones; and one that names a survey of others.
_REVISED = ((4, 4), (17, 17), (20, 20), (5, 9))
SURVEYS = (
    *_PUBLISHED,
    *(
        replace(_PUBLISHED[own], title=f"{_PUBLISHED[own].title}, revised", revises=_PUBLISHED[named].id)
        for own, named in _REVISED
    ),
)
assert [[each.group and each.group.draw for each in survey.questions] for survey in _PUBLISHED[-5:]] == [
    *([2] * 3, [2] * 3, [2] * 3),
    *([1] * 3, [2] * 2),
]


@dataclass
class Model:
    """What a device remembers, as docs/device.md has it."""

    reports: dict[int, tuple[str, dict[str, bool]]] = field(default_factory=dict)
    noisy: dict[str, Any] = field(default_factory=dict)
    waves: dict[tuple[int, str], int] = field(default_factory=dict)
    draws: dict[str, list[int]] = field(default_factory=dict)
    told: dict[tuple[str, str], tuple[set[datetime.date], int]] = field(default_factory=dict)
    clock: datetime.date = START
    run: int = 0
    """How many days the clock has moved forwards, all its steps back left out."""
    entered: dict[tuple[str, str], int] = field(default_factory=dict)
    """How far it had run when a collector was told something."""

    def copy(self) -> Model:
        """Another device that remembers the same."""
        reports = {number: (text, dict(to)) for number, (text, to) in self.reports.items()}
        told = {entry: (set(days), cost) for entry, (days, cost) in self.told.items()}
        noisy, waves, draws = dict(self.noisy), dict(self.waves), dict(self.draws)
        return Model(reports, noisy, waves, draws, told, self.clock, self.run, dict(self.entered))

    def step(self, step: dict[str, Any]) -> dict[str, Any]:
        """Do a step, and say what it comes to."""
        if "day" in step:
            today = datetime.date.fromisoformat(step["day"])
            self.run += max((today - self.clock).days, 0)
            self.clock = today
        if step["act"] == "look":
            self.date_the_future(today)
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
            values: dict[str, Any] = dict.fromkeys(report["values"])
            for key, names in units(survey):
                drawn = [report["values"][name] for name in names]
                values |= zip(names, self.noisy.setdefault(key, drawn), strict=True)
                for name in names if has_waves(key) else ():
                    sent = wave(values[name], words[0], **json.loads(key)[-1])
                    values[name] = self.waves.setdefault((survey, key), sent)
            self.reports[survey] = (json.dumps(report | {"values": values}, separators=(",", ":")), {})
        text, to = self.reports[survey]
        to.setdefault(collector, False)
        return text

    def ask(self, survey: int, drawn: list[str]) -> list[str]:
        """Somebody presses Start; ``drawn`` is what would be asked. The questions that are."""
        asked: list[str] = []
        for key, names in units(survey):
            if len(names) == 1 or json.loads(key)[1]["draw"] == len(names):
                asked += names
            elif key in self.noisy:
                asked += [name for name, value in zip(names, self.noisy[key], strict=True) if value is not None]
            else:
                places = self.draws.setdefault(key, [place for place, name in enumerate(names) if name in drawn])
                asked += [names[place] for place in places]
        return [each.id for each in SURVEYS[survey].questions if each.id in asked]

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
        self.date_the_future(today)
        origin = PLACES[collector]
        asked = {key: cost_of(survey, key, names) for key, names in units(survey)}
        new = {key: cost for key, cost in asked.items() if (origin, key) not in self.told}
        later = {day for days, _ in self.told.values() for day in days if day > today}
        self.told |= {(origin, key): ({today} | later, cost) for key, cost in new.items()}
        self.entered |= {(origin, key): self.run for key in new}
        own, everybody = self.total(origin, today), self.total(None, today)
        if new and (own > 8 * MILLION or everybody > 16 * MILLION):
            raise _Refused("budget")
        return own, everybody

    def total(self, origin: str | None, today: datetime.date) -> int:
        """What was told within 90 days, by question."""
        told = {
            key: cost
            for (whom, key), (days, cost) in self.told.items()
            if origin in (None, whom) and max((day for day in days if day <= today), default=today) > today - WINDOW
        }
        return sum(told.values())

    def date_the_future(self, today: datetime.date) -> None:
        """Entries of later days only are dated today, too."""
        for days, _ in self.told.values():
            if min(days) > today:
                days.add(today)

    def check(self) -> None:
        """While the clock ran 90 days forwards nobody was told too much, however often it went back meanwhile."""
        for end in set(self.entered.values()):
            for origin in {None, *PLACES.values()}:
                told = {
                    key: self.told[whom, key][1]
                    for (whom, key), entered in self.entered.items()
                    if end - WINDOW.days < entered <= end and origin in (None, whom)
                }
                assert sum(told.values()) <= (16 if origin is None else 8) * MILLION


class _Refused(Exception):
    pass


class _FailedDraw(Exception):
    pass


def units(survey: int) -> list[tuple[str, list[str]]]:
    """Each question of a survey, or group of questions, as what makes it the same elsewhere; and the ids there."""
    published = json.loads(SURVEYS[survey].document)
    wave = SURVEYS[survey].id if published.get("fresh") else None
    found: list[tuple[str, list[str]]] = []
    for asked in published["questions"]:
        name = asked.get("group")
        together = [each for each in published["questions"] if each.get("group") == name] if name else [asked]
        how = {key: value for key, value in published["groups"][name].items() if key != "why"} if name else None
        content = [each[part] for each in together for part in ("type", "text", "options", "mechanism")]
        if together[0] is asked:
            found.append((json.dumps([wave, how, *content]), [each["id"] for each in together]))
    return found


def keys(survey: int) -> dict[str, str]:
    """For each question the unit that it is in."""
    return {name: key for key, names in units(survey) for name in names}


def cost_of(survey: int, key: str, names: list[str]) -> int:
    """What a unit costs, in millionths."""
    how = json.loads(key)[1]
    if how and "joint" in how:
        keep, k = how["joint"]["keep"], how["joint"]["k"]
        return math.ceil(math.log(keep * (k - 1) / (2**32 - keep)) * MILLION)
    costs = [math.ceil(each.mechanism.epsilon * MILLION) for each in SURVEYS[survey].questions if each.id in names]
    return sum(sorted(costs, reverse=True)[: how["draw"] if how else 1])


def has_waves(key: str) -> bool:
    """Whether each survey sends a draw of its own from the value of a question."""
    return json.loads(key)[1] is None and "again" in json.loads(key)[-1]


def wave(value: int, word: int, k: int, again: int, **_: Any) -> int:
    """What a wave sends of a permanent value, by the published integers."""
    others = [option for option in range(k) if option != value]
    return value if word < again else others[(word - again) * (k - 1) // (2**32 - again)]


def some_step(dice: random.Random, day: datetime.date, surveys: int = len(SURVEYS)) -> dict[str, Any]:
    """A random step on a day, about one of the first surveys."""
    where: dict[str, Any] = {"survey": dice.randrange(surveys), "collector": dice.choice(list(PLACES))}
    act = dice.choices(["answer", "look", "ask", "sent"], [6, 3, 1, 1])[0]
    if act == "sent":
        return {"act": act, **where}
    if act == "look":
        return {"act": act, **where, "day": day.isoformat()}
    if act == "ask":
        return {"act": act, "survey": where["survey"], "drawn": some_draw(dice, where["survey"])}
    fault = dice.choices([None, "draw", "write", "crash"], [12, 1, 1, 1])[0]
    report = None
    if fault != "draw":
        values = some_values(dice, where["survey"])
        report = {"id": f"{dice.getrandbits(128):032x}", "cohort": dice.choice([None, "web"]), "values": values}
    words = [dice.getrandbits(32)]
    return {"act": act, **where, "day": day.isoformat(), "report": report, "words": words, "fault": fault}


def some_draw(dice: random.Random, survey: int) -> list[str]:
    """Questions that a device may ask."""
    asked: list[str] = []
    for key, names in units(survey):
        how = json.loads(key)[1]
        asked += dice.sample(names, how["draw"]) if how else names
    return [each.id for each in SURVEYS[survey].questions if each.id in asked]


def some_values(dice: random.Random, survey: int) -> dict[str, Any]:
    """The noisy values of some report."""
    asked = some_draw(dice, survey)
    return {each.id: some_value(dice, each) if each.id in asked else None for each in SURVEYS[survey].questions}


def some_value(dice: random.Random, question: Question) -> Any:
    """Some noisy value."""
    if not question.kind.takes_several:
        return dice.randrange(len(question.options))
    possible = every_report(question.mechanism.reports)
    return "".join(str(int(mark)) for mark in dice.choice(possible))


def next_day(dice: random.Random, day: datetime.date) -> datetime.date:
    """Mostly the same day; sometimes later, sometimes a clock that goes back, or that was years ahead or behind."""
    days = [0, 1, 30, 89, 90, -40, -400, 20_000, -20_000]
    moved = day + datetime.timedelta(days=dice.choices(days, [14, 3, 2, 1, 1, 1, 0.2, 0.1, 0.1])[0])
    return moved if 1970 <= moved.year < 2200 else START


def sequence(dice: random.Random, length: int, surveys: int = len(SURVEYS)) -> list[dict[str, Any]]:
    """Steps on one device, about the first of `SURVEYS` or all, each with what it must come to."""
    model, day, steps = Model(), START, []
    for _ in range(length):
        day = next_day(dice, day)
        step = some_step(dice, day, surveys)
        steps.append(step | {"expect": model.step(step)})
        model.check()
    return steps

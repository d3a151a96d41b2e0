"""What a device remembers and sends, as ``docs/device.md`` says it: one draw for each survey, unit and wave."""

from __future__ import annotations

import datetime
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deniable_client.audit.reference import mechanisms
from deniable_client.audit.reference.chance import Word
from deniable_client.audit.reference.published import PublishedSurvey, Unit, Value, compact

WINDOW = datetime.timedelta(days=90)
MILLION = 1_000_000
OF_COLLECTOR, OF_DEVICE = 8 * MILLION, 16 * MILLION
"""The most that is told within `WINDOW`, in millionths of epsilon: to one collector, and to anybody."""


class LedgerRefusal(Exception):
    """The ledgers have no room."""


@dataclass
class Device:
    """The memory of one device.

    Attributes
    ----------
    reports : dict
        By survey: the bytes of its report.
    to : dict
        By survey: whether each collector that it is for has it.
    noisy : dict
        By key: permanent values, draws of questions, and what waves send, as compact JSON or as they are.
    told : dict
        By origin and key: days, the cost in millionths.
    """

    reports: dict[str, bytes] = field(default_factory=dict)
    to: dict[str, dict[str, bool]] = field(default_factory=dict)
    noisy: dict[str, int | str] = field(default_factory=dict)
    told: dict[tuple[str, str], tuple[list[str], int]] = field(default_factory=dict)

    def ask(self, survey: PublishedSurvey, word: Word) -> list[str]:
        """Start: ids of the questions to ask. Words are taken even where the draw is known already."""
        fresh = survey.draw(word)
        asked: list[str] = []
        for unit in survey.units:
            asked += self._asked_of(unit, [name for name in _ids(unit) if name in fresh])
        return [each["id"] for each in survey.questions if each["id"] in asked]

    def _asked_of(self, unit: Unit, fresh: Collection[str]) -> Collection[str]:
        if not unit.is_drawn:
            return fresh
        if unit.key in self.noisy:
            return [name for name, value in _read(unit, self.noisy[unit.key]).items() if value is not None]
        marks = "".join(str(int(name in fresh)) for name in _ids(unit))
        # The first draw stays, whatever is drawn later: otherwise another visit would ask, and tell, other questions.
        kept = str(self.noisy.setdefault(unit.key + "draw", marks))
        return [name for name, mark in zip(_ids(unit), kept, strict=True) if mark == "1"]

    def send(
        self,
        survey: PublishedSurvey,
        collector: str,
        origin: str,
        day: str,
        *,
        id: str,
        answers: Mapping[str, Any],
        word: Word,
        cohort: str | None = None,
        credential: str | None = None,
    ) -> bytes:
        """Send, with answers as mechanisms take them to all questions that are asked; gives the bytes to send."""
        self.charge(survey, origin, day)
        if survey.id not in self.reports:
            # Everything is drawn first; what the device knows already replaces what was drawn.
            drawn = [(unit, unit.permanent(_answers_of(unit, answers), word)) for unit in survey.units]
            self.keep(survey, id, drawn, word, cohort, credential)
        self.to.setdefault(survey.id, {}).setdefault(collector, False)
        return self.reports[survey.id]

    def keep(
        self,
        survey: PublishedSurvey,
        id: str,
        drawn: list[tuple[Unit, dict[str, Value]]],
        word: Word,
        cohort: str | None,
        credential: str | None = None,
    ) -> None:
        """Keep the report of a survey; each unit that is known has its known values."""
        values: dict[str, Value] = {}
        for unit, fresh in drawn:
            # One draw of noise for each unit, for ever: a second one would cost its epsilon once more.
            self.noisy.setdefault(unit.key, _written(unit, fresh))
            values |= self._sent(unit, word)
        self.reports[survey.id] = survey.report(id, cohort, values, credential)

    def _sent(self, unit: Unit, word: Word) -> dict[str, Value]:
        """What this survey sends of the values that are kept of a unit."""
        if unit.sent not in self.noisy:
            self.noisy[unit.sent] = _written(unit, unit.instant(_read(unit, self.noisy[unit.key]), word))
        return _read(unit, self.noisy[unit.sent])

    def knows(self, unit: Unit) -> bool:
        """Whether a form gets the value of a question without anybody being asked."""
        return unit.sent in self.noisy

    def fill_in(self, unit: Unit, origin: str, day: str, answers: Mapping[str, Any], word: Word) -> Value:
        """What a form gets of one question, which is kept and charged as if its survey had asked it."""
        self._charge((unit,), origin, day)
        if unit.key not in self.noisy:
            self.noisy[unit.key] = _written(unit, unit.permanent(answers, word))
        (value,) = self._sent(unit, word).values()
        return value

    def arrived(self, survey: PublishedSurvey, collector: str) -> None:
        """The collector has the report."""
        if collector in self.to.get(survey.id, {}):
            self.to[survey.id][collector] = True

    def charge(self, survey: PublishedSurvey, origin: str, day: str) -> tuple[int, int]:
        """Enter what is new to a collector; the two totals in millionths, or a `LedgerRefusal` that enters nothing."""
        return self._charge(survey.units, origin, day)

    def _charge(self, units: Sequence[Unit], origin: str, day: str) -> tuple[int, int]:
        told = {entry: ([*days], cost) for entry, (days, cost) in self.told.items()}
        _date_the_future(told, day)
        new = {unit.key: unit.cost for unit in units if (origin, unit.key) not in told}
        # Days ahead of today come from a clock that was set back; a new entry gets them too, so that none falls out
        # earlier.
        later = sorted({each for days, _ in told.values() for each in days if each > day})
        told |= {(origin, key): ([day, *later], cost) for key, cost in new.items()}
        own, everybody = total(told, day, origin), total(told, day)
        # What was told already costs nothing, so a device that is full still sends it again.
        if new and (own > OF_COLLECTOR or everybody > OF_DEVICE):
            raise LedgerRefusal
        self.told = told
        return own, everybody

    def look(self, survey: PublishedSurvey, origin: str, day: str) -> tuple[int, int, bool, bool]:
        """Before anybody answers: both totals with this survey, whether anybody was told, whether a unit is known."""
        _date_the_future(self.told, day)
        has_told = total(self.told, day) > 0
        is_same = any(unit.key in self.noisy for unit in survey.units)
        own, everybody = Device(told=self.told).charge(survey, origin, day)
        return own, everybody, has_told, is_same


def total(told: Mapping[tuple[str, str], tuple[list[str], int]], day: str, origin: str | None = None) -> int:
    """What was told within 90 days, what several were told once, in millionths."""
    start = (datetime.date.fromisoformat(day) - WINDOW).isoformat()
    recent = {
        key: cost
        for (whom, key), (days, cost) in told.items()
        # The last day up to today counts, so an entry told again stays for 90 days from then.
        if origin in (None, whom) and max((each for each in days if each <= day), default=day) > start
    }
    return sum(recent.values())


def without_memory(
    survey: PublishedSurvey, answers: Mapping[str, Any], word: Word, asked: Collection[str] | None = None
) -> dict[str, Value]:
    """What a device without a memory sends: it draws the questions unless it is told them, and both steps of a wave
    follow each other."""
    drawn = set(survey.draw(word) if asked is None else asked)
    values: dict[str, Value] = {}
    for unit in survey.units:
        own = {name: answers[name] for name in _ids(unit) if name in drawn}
        if unit.sent == unit.key:
            values |= unit.permanent(own, word)
            continue
        (question,) = unit.questions
        kept = mechanisms.keep(question["mechanism"], own[question["id"]], word)
        values[question["id"]] = mechanisms.send(question["mechanism"], kept, word)
    return values


def _date_the_future(told: Mapping[tuple[str, str], tuple[list[str], int]], day: str) -> None:
    for days, _ in told.values():
        # An entry of the future alone is dated today, or setting the clock back would empty the ledger.
        if min(days) > day:
            days.insert(0, day)


def _ids(unit: Unit) -> list[str]:
    return [str(each["id"]) for each in unit.questions]


def _answers_of(unit: Unit, answers: Mapping[str, Any]) -> dict[str, Any]:
    return {name: answers[name] for name in _ids(unit) if name in answers}


def _written(unit: Unit, values: Mapping[str, Value]) -> int | str:
    if unit.is_group:
        return compact([values[name] for name in _ids(unit)])
    value = values[_ids(unit)[0]]
    assert value is not None
    return value


def _read(unit: Unit, kept: int | str) -> dict[str, Value]:

    found = json.loads(str(kept)) if unit.is_group else [kept]
    return dict(zip(_ids(unit), found, strict=True))

"""Forms of somebody else in which one question of a survey stands: how they are filled in, and what they must get.

Two people fill in the same form with different answers, and chance that makes the same noisy value of both. A form
gets that value, and nothing else that can be seen of the two may differ.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from deniable_client.audit.histories import BROWSER, Load, Session, SessionBlock, possible_answers
from deniable_client.audit.reference.chance import Words
from deniable_client.audit.reference.device import Device
from deniable_client.audit.reference.published import PublishedSurvey, Unit, dealt
from deniable_client.audit.steering import some_words


@dataclass(frozen=True)
class FormVisit:
    """Somebody opens a form and submits it.

    Attributes
    ----------
    survey : int
        The survey of the audit whose question it holds, or one of its copies.
    reload : bool
        Whether the page is loaded again between an answer and the button that mixes in chance.
    reset : bool
        Whether the form is reset once it has a value, which stays.
    is_shared : bool
        Whether the page says that the device is shared, so that nothing is kept.
    """

    survey: int = 0
    reload: bool = False
    reset: bool = False
    is_shared: bool = False


FORMS: dict[str, tuple[FormVisit, ...]] = {
    "a form": (FormVisit(),),
    "a form twice": (FormVisit(), FormVisit()),
    "a form loaded again": (FormVisit(reload=True, reset=True),),
    "forms of two surveys": (FormVisit(), FormVisit(1)),
    "forms on a shared device": (FormVisit(is_shared=True), FormVisit(is_shared=True)),
}
"""By name what people do with forms, each on a device of its own."""

FORM_SHARES = {
    "a form": 3,
    "a form twice": 2,
    "a form loaded again": 1,
    "forms of two surveys": 1,
    "forms on a shared device": 1,
}
"""How many of 8 pairs go each way."""

ALL_PAIRS = 4
"""Largest number of possible answers of which people give all pairs; of more, some pairs are chosen."""

NAME = "answer"
"""The name of the question's value in the form."""


@dataclass
class FormSession(Session):
    """Somebody fills in forms.

    Attributes
    ----------
    question : str
        The id of the question in its survey.
    form_visits : tuple of FormVisit
    known : list of bool
        For each visit whether the form has its value at once, because the device knows it.
    values : list of str
        What the form must get, in order.
    """

    question: str = ""
    form_visits: tuple[FormVisit, ...] = ()
    known: list[bool] = field(default_factory=list)
    values: list[str] = field(default_factory=list)

    @property
    def is_number(self) -> bool:
        """Whether the answer is typed."""
        return any(each["id"] == self.question and each["type"] == "number" for each in self.surveys[0].questions)


class FormPlan(NamedTuple):
    """A pair of people: what they do, which question the form holds, what each of them answers, and their chance."""

    history: str
    question: str
    answers: tuple[Any, Any]
    seed: int


def alone(survey: PublishedSurvey) -> list[Mapping[str, Any]]:
    """The questions that a form can hold by themselves: neither part of a group nor behind a filter."""
    return [each for each in survey.questions if "group" not in each and "ask_if" not in each]


def pairs_of(question: Mapping[str, Any], dice: random.Random) -> list[tuple[Any, Any]]:
    """Pairs of answers to a question: all of them, or of many answers the ends, the first two, and any two."""
    possible = possible_answers(question, dice)
    if len(possible) <= ALL_PAIRS:
        pairs = [(one, other) for one, other in itertools.combinations(possible, 2) if one != other]
    else:
        one, other = dice.sample(possible, 2)
        pairs = [(possible[0], possible[-1]), (possible[0], possible[1]), (one, other)]
    dice.shuffle(pairs)
    return pairs


def form_plans(
    surveys: Sequence[PublishedSurvey], pairs: int, dice: random.Random, among: Collection[str] = FORMS
) -> list[FormPlan]:
    """Number of pairs of people: at least one for each question and for each way, and none if no form can ask one."""
    questions = alone(surveys[0])
    if not questions:
        return []
    ways = [name for name, share in FORM_SHARES.items() if name in among for _ in range(share)]
    dice.shuffle(ways)
    # Each way once, before any comes twice.
    ways = [*dict.fromkeys(ways), *ways]
    answers = {each["id"]: itertools.cycle(pairs_of(each, dice)) for each in questions}
    names = itertools.cycle(dice.sample([*answers], len(answers)))
    n = max(pairs, len(answers), len(set(ways)))
    return [
        FormPlan(way, name, next(answers[name]), dice.getrandbits(64))
        for way, name in zip(itertools.islice(itertools.cycle(ways), n), names, strict=False)
    ]


class FormBlock(SessionBlock):
    """People who fill in the same forms and must look alike."""

    def __init__(
        self, plan: FormPlan, surveys: Sequence[PublishedSurvey], collector: str, dice: random.Random, day: str
    ) -> None:
        super().__init__(plan.history, surveys, BROWSER, collector, dice, day)
        self.question = plan.question

    def filling(self, answer: Any) -> FormSession:
        """A session with this answer at each visit that asks for one."""
        visits = FORMS[self.history]
        session = FormSession(
            self.history, (), self.collector, self.surveys, [{self.question: answer} for _ in visits],
            seed=self.seed, question=self.question, form_visits=visits,
        )  # fmt: skip
        common = random.Random(self.seed)  # noqa: S311  # chance of a rehearsal
        for number, visit in enumerate(visits):
            self._fill_in(session, visit, number, common)
        return session

    def _fill_in(self, session: FormSession, visit: FormVisit, number: int, common: random.Random) -> None:
        unit = self._unit(visit)
        device = Device() if visit.is_shared else session.device
        session.known.append(device.knows(unit))
        words: list[int] = []
        own = session.answers[number]
        if not session.known[-1]:
            words = self._shown(unit, common)
            if visit.reload:
                session.loads.append(Load(tuple(words), is_asked=False))
                words = self._shown(unit, common)
            drawn = [] if unit.key in device.noisy else self.steered(unit, own, str(number))
            drawn += self._wave(unit, device, str(number), common)
        else:
            drawn = []
        # The page behind the form takes none.
        session.loads += [Load((*words, *drawn), is_asked=False), Load(is_asked=False)]
        given = Words(drawn)
        session.values.append(str(device.fill_in(unit, self.collector, self.day, own, given)))
        assert given.left == 0

    def _unit(self, visit: FormVisit) -> Unit:
        (found,) = (
            unit
            for unit in self.surveys[visit.survey].units
            if [each["id"] for each in unit.questions] == [self.question]
        )
        return found

    def _shown(self, unit: Unit, common: random.Random) -> list[int]:
        """The words of the order in which the options stand."""
        return some_words(partial(dealt, unit.questions[0]), common)[0]

    def _wave(self, unit: Unit, device: Device, which: str, common: random.Random) -> list[int]:
        """What a wave makes of the permanent value, the same in every session."""
        if unit.sent == unit.key:
            return []
        made = self.targets.get(f"{unit.key} {[self.question]}{which}", {}).get(self.question)
        kept = {self.question: device.noisy.get(unit.key, made)}
        return self.moved(partial(unit.instant, kept), [common.getrandbits(32)], common)

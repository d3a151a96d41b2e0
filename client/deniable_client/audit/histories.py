"""What an audit lets people do, and what then must be sent: histories of visits, with the chance behind each.

All sessions of a block are told to become the same noisy values whatever is answered, so everything that can be seen of
them must be the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from deniable_client.audit.reference.chance import Words, below
from deniable_client.audit.reference.device import Device
from deniable_client.audit.reference.published import PublishedSurvey, Unit, Value, completion_code, settled
from deniable_client.audit.reference.tokens import NONCE, SALT, SIZE, Power, UnsignedToken, modulus
from deniable_client.audit.steering import at_the_edges, some_words, words_for

MOST_TICKS = 8
"""How many boxes an answer at random ticks at most; a person's clicks take time."""


@dataclass(frozen=True)
class Visit:
    """Somebody opens a survey and does what there is to do.

    Attributes
    ----------
    survey : int
        The survey of the audit, or its copies: two under other titles, one of other questions, one that revises it.
    kind : {"answer", "again", "tabs"}
        To answer it; to open it again, when it was answered; to answer it in two tabs at once.
    failures : int
        How many tries to send fail before one arrives.
    reload : bool
        Whether the page is loaded again after Start.
    is_cut : bool
        Whether the device goes away after Send, while no try has arrived.
    is_put_off : bool
        Whether the collector asks for a minute, so that a person presses the button for another try. A program waits.
    issuing : {"", "lost", "false"}
        What becomes of the first answer of whoever signs tokens: all is well; it is lost; or it is a signature of
        something else, which is to be refused. The survey is then opened anew, and the same token has to be asked for.
    """

    survey: int = 0
    kind: Literal["answer", "again", "tabs"] = "answer"
    failures: int = 0
    reload: bool = False
    is_cut: bool = False
    is_put_off: bool = False
    issuing: Literal["", "lost", "false"] = ""


REVISED = 4
"""The place of the survey that revises the first one, of which one question is another one."""

HISTORIES: dict[str, tuple[Visit, ...]] = {
    "once": (Visit(),),
    "twice": (Visit(), Visit(1), Visit(kind="again")),
    "three waves": (Visit(), Visit(1), Visit(2)),
    "another survey": (Visit(), Visit(3)),
    "a broken way": (Visit(reload=True, failures=1),),
    "put off": (Visit(failures=1, is_put_off=True),),
    "cut off": (Visit(is_cut=True), Visit(kind="again")),
    "two tabs": (Visit(kind="tabs"),),
    "a wave after a failure": (Visit(is_cut=True), Visit(1, failures=2), Visit(kind="again"), Visit(2)),
    "a revised survey": (
        Visit(failures=1),
        Visit(REVISED, is_cut=True),
        Visit(REVISED, kind="again"),
        Visit(kind="again"),
    ),
    "a lost signature": (Visit(issuing="lost"),),
    "a false signature": (Visit(issuing="false"),),
}
"""Histories by name, each on a device of its own."""

SHARES = {
    "once": 12,
    "twice": 4,
    "three waves": 2,
    "another survey": 2,
    "a broken way": 3,
    "put off": 1,
    "cut off": 2,
    "two tabs": 2,
    "a wave after a failure": 1,
    "a revised survey": 1,
    "a lost signature": 1,
    "a false signature": 1,
}
"""How many of 32 sessions are of each history; those with signatures are lived by blind token alone."""


@dataclass(frozen=True)
class Load:
    """One document, or one run of a program: the chance that it gets, and what it must do with it.

    Attributes
    ----------
    words : tuple of int
        For the calls of one word each, in order.
    ids : tuple of str
        For the calls of 16 bytes, in hexadecimal.
    """

    words: tuple[int, ...] = ()
    ids: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()
    """For calls of other lengths, in hexadecimal: what a blind token is made of."""
    is_asked: bool = True
    """Whether questions are asked there, for which a browser names a walk through its history."""
    seals: int = 0
    """How often a report is sealed there, with a key pair that the client's system makes; tries send the same again."""


@dataclass
class Session:
    """One person's history: what is answered at each visit, and what must come of it.

    Attributes
    ----------
    collector : str
        Its address, for whoever answers.
    answers : list of mapping
        For each visit the answers to all questions, as mechanisms take them.
    loads : list of Load
        In the order in which documents are opened.
    posts : list of bytes
        Reports in the order in which they must be sent, each try by itself.
    device : Device
        What must be remembered at the end.
    """

    history: str
    visits: tuple[Visit, ...]
    collector: str = ""
    surveys: Sequence[PublishedSurvey] = ()
    answers: list[Mapping[str, Any]] = field(default_factory=list)
    asked: list[list[str]] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    posts: list[bytes] = field(default_factory=list)
    device: Device = field(default_factory=Device)
    invitation: str | None = None
    """The 32 hexadecimal digits that the link carries, and by invitation the report."""
    tokens: dict[str, UnsignedToken] = field(default_factory=dict)
    """By survey: the request for the token that its report carries."""
    seed: int = 0
    """The seed of chance that is the same for everybody of a block, and of which nothing that is sent is made."""
    unsigned: set[str] = field(default_factory=set)
    """Surveys whose request was sent and got no signature."""
    requests: list[bytes] = field(default_factory=list)
    """What issuers must be sent, in order."""

    @property
    def sealed_size(self) -> int | None:
        """The padded size of its reports, where these are sealed."""
        return self.surveys[0].content["sealed"]["size"] if "sealed" in self.surveys[0].content else None


@dataclass(frozen=True)
class Manner:
    """How a client takes chance, beside what its reports are made of.

    Attributes
    ----------
    draws_again : int
        How often the questions are drawn in vain once more before a report is made.
    draws_known : int
        How often they are drawn in vain where there is a report already.
    jitter : int
        How many words each try to send takes.
    has_code : bool
        Whether it draws the completion code.
    shows : bool
        Whether it shows the questions, and so draws their order.
    buys_at_start : bool
        Whether it buys a token when somebody presses Start, with words for the blinding factor; or else when there are
        answers, with one call for all of the factor.
    """

    draws_again: int = 0
    draws_known: int = 0
    jitter: int = 0
    has_code: bool = False
    shows: bool = False
    buys_at_start: bool = False


BROWSER = Manner(jitter=1, has_code=True, shows=True, buys_at_start=True)
PYTHON = Manner(draws_again=2, draws_known=1)


EDGES = 8
"""In one of so many blocks words lie at the edges of what makes their values, where a weight that is off shows."""


class SessionBlock:
    """Sessions of one history that must look alike: who says what differs, and nothing else does."""

    def __init__(
        self,
        history: str,
        surveys: Sequence[PublishedSurvey],
        manner: Manner,
        collector: str,
        dice: random.Random,
        day: str,
        power: Power = lambda number: number,
    ) -> None:
        self.history, self.surveys, self.manner, self.collector, self.dice, self.day, self.power = (
            history, list(surveys), manner, collector, dice, day, power,
        )  # fmt: skip
        self.seed = dice.getrandbits(64)
        self.is_at_edges = self.seed % EDGES == 0
        self.targets: dict[str, dict[str, Value]] = {}

    def session(self, answers: Sequence[Mapping[str, Any]]) -> Session:
        """A session with these answers, one mapping for each visit."""
        visits = HISTORIES[self.history]
        session = Session(self.history, visits, self.collector, self.surveys, list(answers), seed=self.seed)
        # Common chance is the same in every session of the block, own chance makes the common values of the answers.
        common = random.Random(self.seed)  # noqa: S311  # chance of a rehearsal
        if self.surveys[0].access != "open":
            session.invitation = f"{common.getrandbits(128):032x}"
        for number, visit in enumerate(visits):
            self._visit(session, visit, number, common)
        return session

    def _visit(self, session: Session, visit: Visit, number: int, common: random.Random) -> None:
        survey = self.surveys[visit.survey]
        if visit.kind == "again":
            waits = not session.device.to[survey.id][self.collector]
            words = self._sending(session, survey, 0, common) if waits else []
            words += self._in_vain(survey, self.manner.draws_known, common)
            session.loads.append(Load(tuple(words), is_asked=False, seals=int(waits and "sealed" in survey.content)))
            session.asked.append([])
            return
        if visit.issuing:
            session.loads.append(self._unsigned(session, survey, common))
        start, asked = self._start(session, survey, common)
        if visit.reload:
            session.loads.append(start)
            start, asked = self._start(session, survey, common)
        other = self._start(session, survey, common)[0] if visit.kind == "tabs" else Load()
        session.asked.append(asked)
        words, pieces = list(start.words), start.pieces
        if survey.access == "unlinkable" and not self.manner.buys_at_start:
            factor, pieces = self._bought(session, survey, common)
            words += factor
        words += self._in_vain(survey, self.manner.draws_again, common)
        sent, ids = self._report(session, survey, session.answers[number], asked, common)
        words += sent
        words += self._sending(session, survey, visit.failures, common, is_cut=visit.is_cut)
        # Bytes that a collector put off are sealed anew; a try that the network failed sends the same again.
        seals = (1 + visit.is_put_off) * ("sealed" in survey.content)
        session.loads.append(Load(tuple(words), ids, pieces, seals=seals))
        if visit.kind == "tabs":
            # The second tab finds the report of the first one, and draws nothing.
            vain = self._in_vain(survey, self.manner.draws_known, common)
            session.loads.append(Load((*other.words, *vain), pieces=other.pieces))

    def _start(self, session: Session, survey: PublishedSurvey, common: random.Random) -> tuple[Load, list[str]]:
        """What a document takes when somebody presses Start, and which questions it asks then."""
        factor, pieces = (
            self._bought(session, survey, common)
            if survey.access == "unlinkable" and self.manner.buys_at_start
            else ([], ())
        )
        words, _ = some_words(survey.draw, common)
        asked = session.device.ask(survey, Words(words))
        # The order follows, before anything is shown: the same for everybody, so that only answers could change it.
        order = some_words(survey.arrange, common)[0] if self.manner.shows else []
        return Load((*factor, *words, *order), pieces=pieces), asked

    def _unsigned(self, session: Session, survey: PublishedSurvey, common: random.Random) -> Load:
        """A document in which somebody gets no signature: the request is kept, and sent again by the next one."""
        shown: list[int] = []
        if not self.manner.buys_at_start:
            start, _ = self._start(session, survey, common)
            shown = [*start.words, *self._in_vain(survey, 1, common)]
        factor, pieces = self._bought(session, survey, common)
        session.unsigned.add(survey.id)
        return Load((*shown, *factor), pieces=pieces)

    def _bought(
        self, session: Session, survey: PublishedSurvey, common: random.Random
    ) -> tuple[list[int], tuple[str, ...]]:
        """The chance of a token: words, and the hexadecimal of other calls. It is thrown away where there is one."""
        nonce, salt = (common.randbytes(size).hex() for size in (NONCE, SALT))
        n = modulus(survey)
        is_known = survey.id in session.tokens
        if self.manner.buys_at_start:
            words, factor = some_words(partial(below, n), common)
            pieces: tuple[str, ...] = (nonce, salt)
        else:
            # Who looks first whether there is a request draws nothing in vain.
            words, factor = [], common.randrange(1, n)
            pieces = () if is_known else (nonce, salt, factor.to_bytes(SIZE, "big").hex())
        if not is_known:
            session.tokens[survey.id] = UnsignedToken(survey, nonce, salt, factor)
        if not is_known or survey.id in session.unsigned:
            session.unsigned.discard(survey.id)
            session.requests.append(session.tokens[survey.id].body(str(session.invitation)))
            # It is sent as reports are, only once here.
            words += [common.getrandbits(32) for _ in range(self.manner.jitter)]
        return words, pieces

    def _in_vain(self, survey: PublishedSurvey, times: int, common: random.Random) -> list[int]:
        """Words of draws of questions that nothing comes of, because the device knows which it asks."""
        return [word for _ in range(times) for word in some_words(survey.draw, common)[0]]

    def _report(
        self,
        session: Session,
        survey: PublishedSurvey,
        answers: Mapping[str, Any],
        asked: Sequence[str],
        common: random.Random,
    ) -> tuple[list[int], tuple[str, ...]]:
        """The words of a report, and what is drawn for its id; the device has it then."""
        everything = settled(survey, answers)
        told = {name: everything[name] for name in asked}
        words: list[int] = []
        for unit in survey.units:
            own = {each["id"]: told[each["id"]] for each in unit.questions if each["id"] in told}
            if unit.key in session.device.noisy:
                # What is drawn here must be thrown away, so it is left to chance: whoever sends it sends another value.
                words += some_words(partial(unit.permanent, own), self.dice)[0]
            else:
                words += self.steered(unit, own)
        waves = self._waves(session, survey, common)
        request = session.tokens.get(survey.id)
        # By blind token nothing is drawn for the id: it is part of what was signed.
        id = request.id if request else f"{common.getrandbits(128):032x}"
        given = Words([*words, *waves])
        session.device.send(
            survey, self.collector, self.collector, self.day, id=id, answers=told, word=given,
            credential=request.token(self.power) if request else session.invitation,
        )  # fmt: skip
        assert given.left == 0
        return [*words, *waves], () if request else (id,)

    def steered(self, unit: Unit, own: Mapping[str, Any], which: str = "") -> list[int]:
        """Words of which these answers become what they become of everybody's in this block.

        Parameters
        ----------
        unit : Unit
        own : mapping
        which : str
            Which of several draws of the unit it is, where a device keeps none.
        """
        # By the key and what is asked, because a copy asks the same under the same key.
        key = f"{unit.key} {sorted(own)}{which}"
        if key in self.targets:
            fresh = words_for(unit, own, self.targets[key], self.dice)
        else:
            fresh, self.targets[key] = some_words(partial(unit.permanent, own), self.dice)
        return self.moved(partial(unit.permanent, own), fresh, self.dice)

    def _waves(self, session: Session, survey: PublishedSurvey, common: random.Random) -> list[int]:
        """What a wave sends of the permanent value is chance of its own, and the same in every session."""
        found = []
        for unit in survey.units:
            if unit.sent != unit.key and unit.sent not in session.device.noisy:
                (name,) = (each["id"] for each in unit.questions)  # no group has waves
                kept = session.device.noisy.get(unit.key, self.targets.get(f"{unit.key} {[name]}", {}).get(name))
                found += self.moved(partial(unit.instant, {name: kept}), [common.getrandbits(32)], common)
        return found

    def moved(self, make: Callable[[Words], Any], words: list[int], dice: random.Random) -> list[int]:
        """Words as they are drawn, or in some blocks at the edges of those that make the same."""
        return at_the_edges(make, words, dice) if self.is_at_edges else words

    def _sending(
        self, session: Session, survey: PublishedSurvey, failures: int, common: random.Random, *, is_cut: bool = False
    ) -> list[int]:
        """The words of all tries to send, and of what follows them."""
        tries = 1 if is_cut else failures + 1
        session.posts += [session.device.reports[survey.id]] * tries
        words = [common.getrandbits(32) for _ in range(self.manner.jitter * tries)]
        if not is_cut:
            session.device.arrived(survey, self.collector)
            words += self._code(survey, common)
        return words

    def _code(self, survey: PublishedSurvey, common: random.Random) -> list[int]:
        if not (self.manner.has_code and survey.code_length):
            return []
        words, _ = some_words(lambda word: completion_code(survey.code_length, word), common)
        return words


def answers_at_random(survey: PublishedSurvey, dice: random.Random) -> dict[str, Any]:
    """Answers to all questions: mostly first or last ones, often all alike but one, so that a leak of one shows."""
    ends = [dice.choice((0, -1))] * len(survey.questions)
    if dice.random() < 2 / 3:
        ends = [dice.choice((0, -1)) for _ in survey.questions]
    elsewhere = dice.randrange(len(survey.questions)) if dice.random() < 1 / 3 else -1
    given = {}
    for place, each in enumerate(survey.questions):
        possible = possible_answers(each, dice)
        # Of boxes some are what people tick, and there are many ways to: a fault may wait for a number of them.
        is_any = place == elsewhere or (each["type"] == "ticks" and dice.random() < 1 / 3)
        given[each["id"]] = dice.choice(possible) if is_any else possible[ends[place]]
    return given


DIFFERING = 7 / 8
"""How often the two people of a pair answer a question differently.

Not always, or a leak that takes two answers which are alike, or which differ, would show in both of a pair or in none.
"""


def other_answers(survey: PublishedSurvey, given: Mapping[str, Any], dice: random.Random) -> dict[str, Any]:
    """The answers of somebody who differs from another one in most of them."""
    changed = {}
    for each in survey.questions:
        others = [answer for answer in possible_answers(each, dice) if answer != given[each["id"]]]
        # The first and the last one stand at the ends here too, and differ most.
        ends = [others[0], others[-1]] if dice.random() < 2 / 3 else others
        changed[each["id"]] = dice.choice(ends) if dice.random() < DIFFERING else given[each["id"]]
    return changed


def possible_answers(question: Mapping[str, Any], dice: random.Random) -> list[Any]:
    """Answers to a question, the first and the last one at their ends."""
    if question["type"] == "number":
        mechanism = question["mechanism"]
        lo, hi = (
            (mechanism["knots"][0], mechanism["knots"][-1])
            if "knots" in mechanism
            else (mechanism["lo"], mechanism["hi"])
        )
        return [lo, dice.randint(lo, hi), hi]
    # What a question offers where it has a filter is for those to whom it applies; the last option is for the others.
    k = len(question["options"]) - ("ask_if" in question)
    if question["type"] == "ticks":
        # The last boxes may be such that nothing else is ticked beside them.
        several = k - len({"none", "decline"}.intersection(question.get("last", ())))
        some = sorted(dice.sample(range(several), min(MOST_TICKS, dice.randint(1, several))))
        alone = [dice.randrange(several, k)] if several < k and dice.random() < 1 / 2 else some
        return [[], alone, list(range(min(several, MOST_TICKS)))]
    return list(range(k))

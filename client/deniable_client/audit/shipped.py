"""The audit of what a collector serves: pages and script in a browser, many people, every observable."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from deniable.errors import DeniableError
from deniable_client.audit.blackbox.person import BrowserRefusal, Stuck, Watching
from deniable_client.audit.blackbox.stand_in import RecordingRelay
from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.browsers import Browsers
from deniable_client.audit.browsing import browse
from deniable_client.audit.companions import Companions, copy_of, revision_of
from deniable_client.audit.form_browsing import fill_in
from deniable_client.audit.form_judge import expect_of_form
from deniable_client.audit.forms import FORMS, FormBlock, FormPlan, FormSession, form_plans
from deniable_client.audit.histories import (
    BROWSER,
    EDGES,
    HISTORIES,
    PYTHON,
    SHARES,
    Manner,
    Session,
    SessionBlock,
    answers_at_random,
    other_answers,
)
from deniable_client.audit.judge import Bench, expect_of_browser
from deniable_client.audit.keys import AuditKeys
from deniable_client.audit.places import AT_ONCE, Place, Places
from deniable_client.audit.promises import STATES, broken, read_and_answer
from deniable_client.audit.python_histories import expect_of_python, run_people
from deniable_client.audit.races import race
from deniable_client.audit.reference.device import OF_COLLECTOR
from deniable_client.audit.reference.published import PublishedSurvey
from deniable_client.audit.steering import NotReachable

BLOCK = 2
"""Number of sessions that must look alike.

They share their chance, so a fault that waits for a rare id or a rare word has as many tries as there are blocks, and
two people do to see a difference. Which of them is the odd one out, all blocks say together.
"""

TOGETHER = 8
"""Number of blocks whose people answer in one process of Python, in turn: nobody follows a person of their block."""

SESSIONS = 640
"""Sessions of an audit by default; they show a leak of 1 % of those who give one of two answers 9 times in 10."""

FORMS_SHARE = 4
"""For so many sessions somebody fills in a form that holds one question."""

TRIES = 100
"""How often chance is drawn anew because it makes a value of one answer that the other one never becomes."""

IN_VAIN = 6
"""After so many sessions, of which none came to its end, no more begin: each waits for a page that does not come."""

RACES = 8
"""Races of two tabs in an audit."""

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Target:
    """What is audited: the surveys that people are asked, at a collector."""

    upstream: str
    surveys: tuple[PublishedSurvey, ...]
    companions: Companions
    keys: AuditKeys

    @property
    def cost(self) -> int:
        """What the ledger is charged for answering the first survey once, in millionths of epsilon."""
        return sum(unit.cost for unit in self.surveys[0].units)

    @classmethod
    def of(cls, upstream: str, survey: PublishedSurvey, page: PublishedSurvey | None = None) -> Target:
        """A survey at a collector, or in the page of another one there, and copies of it under other titles."""
        companions, keys = Companions(page or survey), AuditKeys()
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        # Days of ISO 8601 compare as texts, and "9" is later than every one of them.
        is_open = survey.content.get("opens", "") <= today <= survey.content.get("closes", "9")
        # Nobody else has the keys to sign its tokens or to open its reports.
        is_own = "issuer" not in survey.content and "sealed" not in survey.content
        first = companions.add(survey if is_open and is_own else copy_of(survey, keys))
        second = companions.add(copy_of(first, keys, again=True))
        third = companions.add(copy_of(second, keys, again=True))
        other = companions.add(copy_of(first, keys, other=True))
        revised = companions.add(revision_of(first))
        return cls(upstream, (first, second, third, other, revised), companions, keys)

    def filling_in(self, sessions: int) -> int:
        """How many sessions with forms an audit has where it should have so many."""
        return BLOCK * len(form_plans(self.surveys, sessions // BLOCK, dice_of(0)))

    def people(self, sessions: int) -> int:
        """How many sessions an audit of so many has: whole blocks, of each history at least one."""
        return BLOCK * len(histories_of(self.surveys, sessions))

    def relay(self) -> RecordingRelay:
        """A stand-in for the collector."""
        relay = RecordingRelay(self.upstream)
        relay.path_of, relay.rewrite = self.companions.path_of, self.companions.rewrite
        relay.sign, relay.open = self.keys.sign, self.keys.open
        return relay


def histories_of(surveys: Sequence[PublishedSurvey], sessions: int, among: Collection[str] = HISTORIES) -> list[str]:
    """The history of each block, in the shares of an audit; those for which the ledger has no room are left out."""

    def cost(history: str) -> int:
        """What the ledger is charged: a question once, unless each wave is drawn anew."""
        asked = {visit.survey for visit in HISTORIES[history]}
        units = {unit.key: unit.cost for number in asked for unit in surveys[number].units}
        return sum(units.values())

    possible = {
        name: share
        for name, share in SHARES.items()
        if name in among
        and (len(HISTORIES[name]) == 1 or cost(name) <= OF_COLLECTOR)
        and (surveys[0].access == "unlinkable" or not any(visit.issuing for visit in HISTORIES[name]))
    }
    blocks = max(sessions // BLOCK, len(possible))
    total = sum(possible.values())
    counts = {name: max(1, round(blocks * share / total)) for name, share in possible.items()}
    return [name for name, count in counts.items() for _ in range(count)]


def audit_shipped(
    target: Target,
    sessions: int = SESSIONS,
    *,
    dice: random.Random | None = None,
    progress: Progress = lambda _: None,
    program: str | None = None,
    kind: str = "chromium",
    browsers: int = AT_ONCE,
    histories: Collection[str] = HISTORIES,
) -> tuple[Bench, set[str]]:
    """Let people answer in a browser, and keep everything that can be seen of them; the names of hosts it asked for."""

    def people(planned: tuple[str, int], collector: str) -> list[Session]:
        history, seed = planned
        return sessions_of(target, history, BROWSER, collector, dice_of(seed))

    bench = Bench(expect_of_browser)
    waiting = blocks_of(target, sessions, dice or random.SystemRandom(), histories)
    return bench, _lived(target, waiting, people, bench, progress, program, kind, browsers)


def audit_forms(
    target: Target,
    sessions: int = SESSIONS // FORMS_SHARE,
    *,
    dice: random.Random | None = None,
    progress: Progress = lambda _: None,
    program: str | None = None,
    kind: str = "chromium",
    browsers: int = AT_ONCE,
    ways: Collection[str] = FORMS,
) -> tuple[Bench, set[str]]:
    """Let people fill in forms that hold one question; what was seen, and the hosts that a browser asked for."""
    dice = dice or random.SystemRandom()

    def people(plan: FormPlan, collector: str) -> Sequence[Session]:
        return filling_in(target, plan, collector)

    bench = Bench(expect_of_form)
    waiting = form_plans(target.surveys, sessions // BLOCK, dice, ways)
    return bench, _lived(target, waiting, people, bench, progress, program, kind, browsers)


def _lived(
    target: Target,
    waiting: list[Any],
    people: Callable[[Any, str], Sequence[Session]],
    bench: Bench,
    progress: Progress,
    program: str | None,
    kind: str,
    browsers: int,
) -> set[str]:
    """Let the people of each block live in one of some browsers; the names of hosts that these asked for.

    The two people of a block live in one browser, one right after the other.

    Parameters
    ----------
    target : Target
    waiting : list
        What `people` makes a block of, with the address of the collector.
    people : callable
    bench : Bench
        Gets the blocks.
    progress, program, kind, browsers
        As for `audit_shipped`.
    """

    def live(browser: Watching, planned: Any) -> list[tuple[Session, Trace]]:
        own = people(planned, browser.relay.url)
        return [(each, patiently(browser, each, target.surveys)) for each in own]

    with Browsers(target, program, kind, browsers) as several:
        for block in several.map(live, waiting):
            bench.blocks.append(block)
            progress(len(block))
            if bench.sessions >= IN_VAIN and not bench.has_finished:
                break
    return several.names


def check_promises(
    target: Target, *, dice: random.Random | None = None, program: str | None = None, kind: str = "chromium"
) -> list[str]:
    """Where the first screen says something of requests or of memory that the browser does not do."""
    survey, dice = target.surveys[0], dice or random.SystemRandom()

    def look(browser: Watching, state: str, answers: Mapping[str, Any], invitation: str) -> list[str]:
        return list(broken(survey, state, read_and_answer(browser, survey, state, answers, invitation)))

    return _beside(target, list(STATES), look, 1, dice, program, kind)


def check_races(
    target: Target,
    races: int = RACES,
    *,
    dice: random.Random | None = None,
    program: str | None = None,
    kind: str = "chromium",
) -> list[str]:
    """Where two tabs that send at the same moment make two reports."""
    survey, dice = target.surveys[0], dice or random.SystemRandom()

    def run(
        browser: Watching, _name: str, first: Mapping[str, Any], second: Mapping[str, Any], right: str
    ) -> list[str]:
        return race(browser, survey, (first, second), right)

    names = [f"race {number + 1}" for number in range(races)]
    # Tabs of one process would take turns.
    kind = "chromium with processes" if kind == "chromium" else kind
    return _beside(target, names, run, 2, dice, program, kind)


def _beside(
    target: Target,
    names: Sequence[Any],
    look: Callable[..., list[str]],
    answers: int,
    dice: random.Random,
    program: str | None,
    kind: str,
) -> list[str]:
    """What is seen at each of some visits that no chance is put under; each gets so many sets of answers."""

    def seen(browser: Watching, name: Any) -> list[str]:
        given = [answers_at_random(target.surveys[0], dice) for _ in range(answers)]
        try:
            return look(browser, name, *given, f"{dice.getrandbits(128):032x}")
        except DeniableError as error:
            return [f"{name}: did not come to its end: {error}"]

    # One after the other in one browser: what is looked at here is no statistic, and one set of dice serves all.
    with Browsers(target, program, kind, 1) as one:
        return [fault for found in one.map(seen, names) for fault in found]


def audit_installed(
    target: Target,
    sessions: int = SESSIONS,
    *,
    dice: random.Random | None = None,
    progress: Progress = lambda _: None,
    environment: Mapping[str, str] | None = None,
    histories: Collection[str] = HISTORIES,
    places: Places | None = None,
) -> Bench:
    """Let people answer through the Python client as it is installed, in processes that are watched from the kernel."""
    bench = Bench(expect_of_python)
    waiting = blocks_of(target, sessions, dice or random.SystemRandom(), histories)
    # Words at edges are chance that a process could know again, so their blocks are together, behind all others.
    waiting.sort(key=lambda each: dice_of(each[1]).getrandbits(64) % EDGES == 0)
    processes = [waiting[start : start + TOGETHER] for start in range(0, len(waiting), TOGETHER)]
    with nullcontext(places) if places else Places(target, environment) as several:
        for blocks in several.map(_answered, processes):
            bench.blocks += blocks
            progress(sum(map(len, blocks)))
    return bench


def _answered(place: Place, planned: Sequence[tuple[str, int]]) -> list[list[tuple[Session, Trace]]]:
    """Some blocks whose people answer in one process of the client."""
    target: Target = place.target
    url = place.relay.url
    blocks = [sessions_of(target, history, PYTHON, url, dice_of(seed)) for history, seed in planned]
    history, seed = planned[0]
    (stranger, *_) = sessions_of(target, history, PYTHON, url, dice_of(seed + 1))
    people = [session for turn in zip(*blocks, strict=True) for session in turn]
    traces = run_people(people, target.surveys, place.relay, stranger, environment=place.environment)
    seen = list(zip(people, traces, strict=True))
    return [seen[number :: len(blocks)] for number in range(len(blocks))]


def blocks_of(
    target: Target, sessions: int, dice: random.Random, among: Collection[str] = HISTORIES
) -> list[tuple[str, int]]:
    """The history of each block, and the seed of its chance."""
    histories = histories_of(target.surveys, sessions, among)
    dice.shuffle(histories)
    return [(history, dice.getrandbits(64)) for history in histories]


def dice_of(seed: int) -> random.Random:
    """Chance that can be had again: nobody's answers depend on it."""
    return random.Random(seed)  # noqa: S311


def sessions_of(target: Target, history: str, manner: Manner, collector: str, dice: random.Random) -> list[Session]:
    """The people of a block."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    surveys = target.surveys
    block = SessionBlock(history, surveys, manner, collector, dice, today, target.keys.power)
    people: list[Session] = []
    tries = 0
    while len(people) < BLOCK:
        if len(people) % 2:
            answers = [other_answers(surveys[0], each, dice) for each in people[-1].answers]
        else:
            answers = [answers_at_random(surveys[0], dice) for _ in range(len(HISTORIES[history]) + 1)]
        try:
            people.append(block.session(answers))
        except NotReachable:  # the first one's values are too rare under these answers
            tries += 1
            if tries > TRIES:
                raise
    # A coin decides who of a pair comes first: on this the signs of differences rest.
    for place in range(0, BLOCK - 1, 2):
        if dice.random() < 1 / 2:
            people[place : place + 2] = people[place + 1], people[place]
    return people


def filling_in(target: Target, plan: FormPlan, collector: str) -> list[FormSession]:
    """The two people of a plan, in an order that is drawn; both get the same value into their forms."""
    dice = dice_of(plan.seed)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    answers = dice.sample(plan.answers, 2)
    for _ in range(TRIES):
        block = FormBlock(plan, target.surveys, collector, dice, today)
        try:
            return [block.filling(answer) for answer in answers]
        except NotReachable:  # the first one's value is too rare under the other one's answer
            continue
    raise NotReachable(f"{plan.question}: two answers share no value in {TRIES} tries")


def patiently(browser: Watching, session: Session, surveys: Sequence[PublishedSurvey]) -> Trace:
    """A session, and once more where a page did not come up in time: a busy machine is no finding, a second time is."""
    stuck = ""
    for _ in range(2):
        try:
            if isinstance(session, FormSession):
                return fill_in(browser, session, surveys)
            return browse(browser, session, surveys)
        except (BrowserRefusal, Stuck) as error:
            stuck = str(error)
    trace = Trace()
    trace.put("session", f"did not come to its end: {stuck}")
    return trace

"""Histories in a real browser: a person's visits, step by step, with the recorder beside them."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

from deniable_client.audit.blackbox.person import PATIENCE, Chance, Person, Stuck, Tab, Watching
from deniable_client.audit.blackbox.stand_in import Answer, RecordingRelay
from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.histories import Load, Session, Visit
from deniable_client.audit.reference.published import PublishedSurvey
from deniable_client.audit.ways import has_filters, without_screens

BUSY: Answer = (503, {"content-type": "application/json"}, b'{"detail":"busy"}')
PUT_OFF: Answer = (503, {"content-type": "application/json", "retry-after": "60"}, b'{"detail":"busy"}')
SILENT: Answer = (0, {}, b"")

WALKS = 8
"""Walks through the questions that have a name each in the browser's history, in one document."""


def chance_of(load: Load, walks: tuple[str, ...]) -> Chance:
    """The chance of a document, in the form of the recorder."""
    pieces: dict[int, tuple[str, ...]] = {16: load.ids, 8: walks}
    for each in load.pieces:
        pieces[len(each) // 2] = (*pieces.get(len(each) // 2, ()), each)
    return Chance(load.words, pieces)


def browse(browser: Watching, session: Session, surveys: Sequence[PublishedSurvey]) -> Trace:
    """One history, and all that was seen of it."""
    relay = browser.relay
    relay.take()
    relay.faults.clear()
    relay.issuing.clear()
    fragment = f"#invitation={session.invitation}" if session.invitation else ""
    with browser.person() as person:
        # Of each document other ones, or a page could know by them that it is audited; both of a pair get the same.
        # The seed by itself is behind the invitation.
        dice = random.Random(f"walks {session.seed}")  # noqa: S311  # chance of a rehearsal
        walks = [tuple(f"{dice.getrandbits(64):016x}" for _ in range(WALKS)) for _ in session.loads]
        loads = map(chance_of, session.loads, walks)
        for number, visit in enumerate(session.visits):
            link = f"{relay.url}/s/{surveys[visit.survey].id}{fragment}"
            _Visiting(person, relay, session, number, link, loads).go(visit)
        person.leave()
        trace = person.trace([str(visit) for visit in session.visits])
        trace.call("WALK", [name for some in walks for name in some])
        return without_screens(trace) if any(map(has_filters, surveys)) else trace


class _Visiting:
    """One visit."""

    def __init__(
        self, person: Person, relay: RecordingRelay, session: Session, number: int, link: str, loads: Any
    ) -> None:
        self.person, self.relay, self.session, self.number, self.link, self.loads = (
            person, relay, session, number, link, loads,
        )  # fmt: skip

    def go(self, visit: Visit) -> None:
        if visit.kind == "again":
            tab = self._open()
            tab.wait("receipt")
            self._note(tab, "opened again")
            return
        tab = self._open()
        tab.wait("start")
        self._note(tab, "first screen")
        if visit.issuing:
            self._unsigned(tab, visit)
        tab.click("start")
        if visit.reload:
            tab.wait("place", [])
            self._note(tab, "started")
            tab.feed(next(self.loads))
            tab.reload()
            tab.wait("settled")
            tab.click("start")
        own = next(self.loads) if visit.kind == "tabs" else None
        if own:
            # Which of two tabs buys a token is not to depend on which is quicker.
            tab.wait("place", [])
        other = self._second(own) if own else None
        tab.answer(self._answers(self.number))
        self._note(tab, "review")
        self.relay.faults.extend([SILENT] if visit.is_cut else [PUT_OFF if visit.is_put_off else BUSY] * visit.failures)
        before = self._posts()
        tab.click("send")
        self.person.pressed.append(self.person.presses[-1])
        if visit.is_cut:
            self._cut(tab, before)
            return
        if visit.is_put_off:
            tab.click("press", "button[part=button]")
        tab.wait("receipt")
        self._note(tab, "receipt")
        if other:
            other.answer(self._answers(-1))
            other.click("send")
            other.wait("receipt")
            self._note(other, "receipt")

    def _open(self) -> Tab:
        tab = self.person.tab(next(self.loads))
        tab.open(self.link)
        return tab

    def _unsigned(self, tab: Tab, visit: Visit) -> None:
        """Start without a signature that could be used, and the page loaded again."""
        self.relay.issuing.append(visit.issuing)
        tab.click("start")
        tab.wait("a refusal")
        self._note(tab, "no token")
        tab.feed(next(self.loads))
        tab.reload()
        tab.wait("start")

    def _second(self, chance: Chance) -> Tab:
        tab = self.person.tab(chance)
        tab.open(self.link)
        tab.click("start")
        tab.wait("place", [])
        return tab

    def _answers(self, number: int) -> dict[str, Any]:
        # To all questions: a page that asks for another one than it must is not to stop the session.
        return dict(self.session.answers[number])

    def _posts(self) -> int:
        return sum(each.is_report for each in self.relay.sent)

    def _cut(self, tab: Tab, before: int) -> None:
        """The device goes away while the first try has no answer."""
        give_up = time.monotonic() + PATIENCE
        while self._posts() == before:
            if time.monotonic() > give_up:
                raise Stuck("page: sent nothing")
            time.sleep(0.002)
        self._note(tab, "sending")
        tab.close()

    def _note(self, tab: Tab, step: str) -> None:
        tab.note(f"visit {self.number + 1}, {step}")

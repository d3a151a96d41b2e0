"""A person before a browser, whichever it is: eyes and hands, and what a recorder outside of the page sees of them."""

from __future__ import annotations

import bisect
import datetime
import json
import math
import re
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Protocol

from deniable.errors import DeniableError
from deniable_client.audit.blackbox.stand_in import RecordingRelay, Sent
from deniable_client.audit.blackbox.trace import Posted, Trace

PATIENCE = 15.0
"""Longest wait for something on a page, in seconds."""

_OBSERVE, WALK, _AROUND, DISGUISE = (
    (files("deniable_client.audit.blackbox") / name).read_text(encoding="utf-8")
    for name in ("observe.js", "walk.js", "around.js", "disguise.js")
)
_FRAME = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
AROUND = _AROUND
"""Says, in the page's own world, what stands on the window and on elements."""

BLOCKED = """for (const name of ["localStorage", "indexedDB"]) {
  Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError") } });
}"""
"""Run before a page does: merely naming a store throws, as in a browser that blocks cookies."""

CALLS = (
    *("BroadcastChannel.prototype.postMessage", "MessagePort.prototype.postMessage", "Worker", "SharedWorker"),
    *("RTCPeerConnection", "EventSource", "Notification", "AudioContext", "LockManager.prototype.request"),
    *("Clipboard.prototype.writeText", "Clipboard.prototype.write", "Document.prototype.execCommand"),
    *("Navigator.prototype.vibrate", "Navigator.prototype.share", "Navigator.prototype.setAppBadge"),
    *("Navigator.prototype.registerProtocolHandler", "Navigator.prototype.sendBeacon"),
    *("CredentialsContainer.prototype.store", "CredentialsContainer.prototype.create"),
    *("StorageManager.prototype.persist", "StorageManager.prototype.getDirectory"),
    # also a write that is undone before somebody looks at what is kept
    *(f"IDBObjectStore.prototype.{each}" for each in ("put", "add", "delete", "clear")),
    *("setTimeout", "setInterval", "requestAnimationFrame", "requestIdleCallback", "AbortSignal.timeout"),
    *("History.prototype.pushState", "History.prototype.replaceState"),
    *("Atomics.wait", "Atomics.waitAsync", "Element.prototype.animate", "Element.prototype.requestFullscreen"),
    *("scroll", "scrollTo", "scrollBy", "CustomElementRegistry.prototype.define"),
    *("Date.now", "Performance.prototype.now", "Date"),
)
"""Functions of a browser by which a page says something, writes, waits, or reads a clock; each call is noted."""

SETTERS = ("History.prototype.scrollRestoration", "Document.prototype.title", "Document.prototype.cookie")
"""Properties of which each change is noted."""

LONGEST_SESSION = datetime.timedelta(minutes=10)


IN_WORDS = {
    "start": "the button that starts the survey",
    "place": "a question, or the review of the answers",
    "input": "an option of a question",
    "onward": "the button that leads on",
    "send": "the button that sends",
    "filled": "the value in the form",
    "stored": "the page behind the form",
    "outside": "a button of the form",
    "settled": "the browser's history to come back to the start",
    "either": "the button that starts the survey, or a receipt",
    "receipt": "the receipt",
    "a refusal": "a screen that refuses a false or lost signature",
    "named": "a button",
    "text": "a sentence",
}
"""What somebody waits for, by the name that it has in ``walk.js``."""


class Stuck(DeniableError):
    """A page did not come to where a person would have gone on."""


class BrowserRefusal(DeniableError):
    """The browser did not do what it was told."""


@dataclass(frozen=True)
class Chance:
    """What a client gets where it asks its system for chance.

    Attributes
    ----------
    words : tuple of int
    bytes : mapping
        By the length of a call: what each of these calls gets, in hexadecimal.
    """

    words: tuple[int, ...]
    bytes: Mapping[int, tuple[str, ...]]

    @property
    def written(self) -> str:
        """As JSON, for the script that puts it under a page."""
        return json.dumps({"words": self.words, "bytes": dict(self.bytes), "calls": CALLS, "setters": SETTERS})


@dataclass
class Person(ABC):
    """One device in front of one person, with the recorder beside it.

    Attributes
    ----------
    events : list of (str, str)
        What the browser's own protocol told: the kind, and what it was about.
    presses : list of float
        When something was pressed, by the clock of the relay.
    pressed : list of float
        When Send was pressed.
    answered : float
        When the first answer was given. Nothing before it can depend on one.
    leaving : list of (float, float)
        From when until when a form on a shared device led to the page behind it.
    """

    relay: RecordingRelay
    events: list[tuple[str, str]] = field(default_factory=list)
    tabs: list[Tab] = field(default_factory=list)
    presses: list[float] = field(default_factory=list)
    pressed: list[float] = field(default_factory=list)
    answered: float = math.inf
    leaving: list[tuple[float, float]] = field(default_factory=list)

    @abstractmethod
    def tab(self, chance: Chance | None) -> Tab:
        """Open a tab whose documents take this chance."""

    def leave(self) -> None:
        """Lose the network and find it again, then go elsewhere with every tab: what waits for that happens now."""
        for tab in self.tabs:
            if tab.is_open:
                tab.go_away()

    def trace(self, steps: Sequence[str]) -> Trace:
        """Everything that was seen, once the steps are done."""
        trace = Trace()
        own = len(self.tabs)
        windows = sum(kind == "window" for kind, _ in self.events) - own
        trace.put("windows opened", windows)
        for kind, count in sorted(Counter((kind, text) for kind, text in self.events if kind != "window").items()):
            trace.put(f"{kind[0]}, {normal(kind[1], self.relay)}", count)
        came = self.relay.take()
        enter_requests(trace, came, self.relay, presses=self.presses, since=self.answered)
        for place, moment in enumerate(self.pressed):
            sent = [each.time for each in came if each.time > moment and each.is_report]
            if sent:
                trace.loose[f"Send {place + 1}, ms to the report"] = 1000 * (sent[0] - moment)
        for number, tab in enumerate(self.tabs):
            for step, seen in tab.seen.items():
                trace.put(f"tab {number + 1}, {step}", {key: normal(value, self.relay) for key, value in seen.items()})
            trace.chance += tab.chance
            for name, value in tab.counts.items():
                trace.loose[f"tab {number + 1}, {name}"] = value
        trace.put("steps", list(steps))
        return trace


Beside = tuple[dict[str, Any], list[str], list[str]]
"""What stands on the tab and around its elements; what the document took of chance so far; the events that left its
elements, and its other calls after a ~."""


class Tab(ABC):
    """A tab: a person's eyes and hands, and what the browser's own protocol says of it."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.seen: dict[str, dict[str, Any]] = {}
        self.chance: list[list[str]] = []
        self.counts: dict[str, float] = {}
        self._sizes: list[str] = []
        """What the document had said of sizes when it was last looked at."""
        self.is_open = True

    @abstractmethod
    def feed(self, chance: Chance | None) -> None:
        """Put other chance under the documents that are loaded from now on."""

    @abstractmethod
    def open(self, link: str) -> None:
        """Go to a link."""

    @abstractmethod
    def reload(self) -> None:
        """Load the page again."""

    def lead_on(self) -> None:
        """Know that the page is about to lead elsewhere: what is noted from then on is of another document."""
        self.chance.append([])

    @abstractmethod
    def close(self) -> None:
        """Close it, as somebody who goes away."""

    @abstractmethod
    def go_away(self) -> None:
        """Lose the network for a moment where the browser can, then open an empty page in it."""

    @abstractmethod
    def look(self, expression: str) -> Any:
        """Evaluate in a world of its own, where the page sees nothing of it."""

    @abstractmethod
    def press(self, x: float, y: float) -> None:
        """Press a place with the mouse."""

    @abstractmethod
    def write(self, text: str) -> None:
        """Type where the focus is."""

    @abstractmethod
    def beside(self) -> Beside:
        """What is seen beside the page itself, all of it at one moment."""

    @abstractmethod
    def block_storage(self) -> None:
        """Let the documents that are loaded from now on keep nothing, as a browser that blocks it does."""

    def unfold(self) -> None:
        """Open everything that is folded up."""
        give_up = time.monotonic() + PATIENCE
        while place := self.look(f"({WALK})('folded')"):
            if time.monotonic() > give_up:
                raise Stuck("page: what is folded up did not stay open")
            self.press(*place)
            # What is folded up may be made only when it opens, which the page hears of a moment later.
            self.look(_FRAME)

    def says(self, text: str) -> bool:
        """Whether a text stands on the screen."""
        return bool(self.look(f"({WALK})('text', {json.dumps(text)})"))

    def wait(self, what: str, argument: object = None) -> Any:
        """Ask until there is an answer."""
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            if found := self.ask(what, argument):
                return found
            time.sleep(0.003)
        raise Stuck(f"page: waited in vain for {IN_WORDS.get(what, what)}")

    def ask(self, what: str, argument: object = None) -> Any:
        """What is found on the page now."""
        return self.look(f"({WALK})({json.dumps(what)}, {json.dumps(argument)})")

    def click(self, what: str, argument: object = None) -> None:
        """Press what a person would press, with the mouse."""
        x, y = self.wait(what, argument)
        # Before the press, because what it sets off may be quicker than the browser's own word that it was pressed.
        self.person.presses.append(time.perf_counter())
        self.press(x, y)

    def answer(self, answers: Mapping[str, Any]) -> None:
        """From the first question to the review, by numbers of options, lists of them, or numbers."""
        done: set[str] = set()
        while True:
            place = self.wait("place", sorted(done))
            if place["kind"] == "review":
                return
            if place["kind"] == "onward":
                self.click("onward")
                continue
            name, given = place["name"], answers[place["name"]]
            done.add(name)
            self.choose(name, given, is_number=place["type"] == "number")

    def choose(self, name: str, given: Any, *, is_number: bool) -> None:
        """Answer a question that stands on the screen."""
        self.person.answered = min(self.person.answered, time.perf_counter())
        if is_number:
            self.click("input", [name, 0])
            self.write(str(given))
            return
        for option in given if isinstance(given, list) else [given]:
            self.click("input", [name, option])

    def note(self, step: str) -> None:
        """Keep all that is to be seen now, under the name of a step."""
        seen = self.look(f"({_OBSERVE})()")
        further, self.chance[-1], told = self.beside()
        self.seen[step] = seen | further
        # No report may be sent before Send.
        self.seen[step]["reports so far"] = sum(each.is_report for each in self.person.relay.sent)
        events = [each for each in told if not each.startswith("~")]
        # When a timer is set and when an element says something is not always in one order.
        calls = Counter(each[1:] for each in told if each.startswith("~"))
        # A screen that says to wait is shown where something took long, which is the machine's doing.
        waits = calls.pop(_WAITS, 0)
        self.seen[step]["calls"] = dict(calls)
        self.seen[step]["changes"] = _without_screens(self.seen[step]["changes"], waits)
        # How often a page is laid out on the way, and so how often it hears of its size, is not the same each time. The
        # size of a review is not told at all, so there the last one is of any question.
        sizes = [each for each in events if each.startswith("deniable-resize")]
        last = [] if step.endswith("review") else sizes[-1:]
        self.seen[step]["events"] = [each for each in events if each not in sizes] + last
        if self.person.answered < math.inf:
            # Those since the last look: how often an earlier screen was laid out would hide one more of them.
            heard = len(self._sizes) if sizes[: len(self._sizes)] == self._sizes else 0
            self.counts[f"{step}, events about sizes"] = len(sizes) - heard
            self.counts[f"{step}, screens that say to wait"] = waits
        self._sizes = sizes


_WAITS = "setTimeout a function 8000"
"""With what a screen begins that says to wait: after 8 s it says that this goes on."""


def _without_screens(changes: Sequence[Any], number: int) -> list[Any]:
    """Changes of a document without those of so many screens; each screen says its language and direction anew."""
    kept = list(changes)
    for name in ("lang", "dir"):
        places = [place for place, each in enumerate(kept) if each[:3] == ["attributes", "html", name]]
        for place in reversed(places[1:][-number:] if number else []):
            del kept[place]
    return kept


class Watching(Protocol):
    """A browser whose only way out is a relay."""

    relay: RecordingRelay
    names: set[str]

    def person(self) -> AbstractContextManager[Person]:
        """A fresh profile: somebody's device."""


def enter_requests(
    trace: Trace,
    came: list[Sent],
    relay: RecordingRelay,
    *,
    is_fixed: bool = False,
    presses: Sequence[float] = (),
    since: float = -math.inf,
) -> None:
    """Requests as features: the bytes of each address, their order, times and connections.

    Parameters
    ----------
    trace : Trace
    came : list of Sent
    relay : RecordingRelay
    is_fixed : bool
        Whether order and connections are the same every time; a browser loads the files of a page as it likes.
    presses : sequence of float, in order
        When somebody pressed something. How long people take to answer is their doing, so times count from there.
    since : float
        When there was an answer first; what varies by itself is compared from then on.
    """
    numbers: dict[int, int] = {}
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    previous: Sent | None = None
    for place, each in enumerate(came):
        start = normal(each.start, relay)
        counts[start] += 1
        name = f"request {start} ({counts[start]})"
        kinds[_kind(start)] += 1
        short = f"{_kind(start)} {kinds[_kind(start)]}"
        trace.put(f"{name}, head", normal(relay.as_worn(each.head.decode("latin-1")), relay))
        opened = relay.in_clear(each.start, each.body)
        # Two texts of one length can be sealed to two of another: what is read is what was sealed, and how long it was.
        trace.put(f"{name}, body", opened.padded.decode("latin-1"))
        trace.put(f"{name}, length", len(each.body))
        kind = each.start.rpartition("/")[2]
        if each.is_report or (each.start.startswith("POST ") and kind == "tokens"):
            trace.posted.append(Posted(kind, opened.padded, each.right, each.connection, opened.ephemeral))
        is_new = each.connection not in numbers
        connection = numbers.setdefault(each.connection, len(numbers))
        for what, number in (("connection", connection), ("place", place), ("opens a connection", is_new)):
            if is_fixed:
                trace.put(f"{name}, {what}", number)
            elif each.time > since:
                trace.loose[f"{short}, {what}"] = number
        if previous and each.time > since:
            pressed = presses[: bisect.bisect(presses, each.time)][-1:]
            trace.loose[f"{short}, ms since the last press or request"] = 1000 * (
                each.time - max([previous.time, *pressed])
            )
        previous = each
    trace.put("requests", dict(counts))
    # What the device itself asks for comes one after the other; only files of a page may come in any order.
    own = [each for each in came if "/api/" in each.start]
    trace.put("order of the device's requests", [normal(each.start, relay) for each in own])


def _kind(start: str) -> str:
    """What a request is for, in a word or a path; the same for all surveys of a history."""
    method, _, path = start.partition(" ")
    path = _ADDRESS.sub("SURVEY", path)
    return f"{method} {path.rpartition('/')[2] if '/api/' in path else path}"


_ADDRESS = re.compile(r"(?<=/)[a-z2-7]{26}")


def normal(value: Any, relay: RecordingRelay) -> Any:
    """Without what differs from run to run for reasons of its own: the port of the relay, and today."""
    if isinstance(value, str):
        for place, name in relay.places.items():
            value = value.replace(place, name)
        now = datetime.datetime.now(datetime.UTC)
        # A session may have begun before midnight. Any other day than today's is one that a client chose.
        for moment in (now, now - LONGEST_SESSION):
            value = value.replace(moment.date().isoformat(), "DAY")
        return value
    if isinstance(value, dict):
        return {normal(key, relay): normal(each, relay) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [normal(each, relay) for each in value]
    return value

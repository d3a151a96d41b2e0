"""Sessions in a real Chromium: pages as they are served, a person's clicks, and a recorder outside of the page."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.commands.chromium import FLAGS, installed
from deniable.errors import DeniableError, NotInstalled
from deniable_client.audit.blackbox.relay import RecordingRelay, Sent
from deniable_client.audit.blackbox.trace import Trace

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, CDPSession

PATIENCE = 15.0
"""Longest wait for something on a page, in seconds."""

_DISGUISE, _OBSERVE, _WALK = (
    (files("deniable_client.audit.blackbox") / name).read_text(encoding="utf-8")
    for name in ("disguise.js", "observe.js", "walk.js")
)
_DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")


class Stuck(DeniableError):
    """A page did not come to where a person would have gone on."""


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


@contextmanager
def chromium(relay: RecordingRelay, program: str | None = None) -> Iterator[Chromium]:
    """A Chromium whose only way out is the relay."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        raise NotInstalled("playwright") from None
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="deniable-audit-"))
        log = Path(folder) / "net.json"
        playwright = stack.enter_context(sync_playwright())
        # No name but the relay's is found, and every name that is asked for stands in the log of the network.
        ways = [f"--log-net-log={log}", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        browser = playwright.chromium.launch(executable_path=program or installed(), args=[*FLAGS, *ways])
        made = Chromium(browser, relay, log)
        # The log is whole once the browser has ended, and gone with its folder.
        stack.callback(made.read_log)
        stack.callback(browser.close)
        yield made


@dataclass
class Chromium:
    """A browser, and the relay that its sessions go through."""

    browser: Browser
    relay: RecordingRelay
    log: Path
    names: set[str] = field(default_factory=set)
    """Every host name that the browser tried to resolve, whoever asked for it; known once it has ended."""

    @contextmanager
    def person(self, language: str = "en-GB") -> Iterator[Person]:
        """A fresh profile: somebody's device."""
        context = self.browser.new_context(locale=language, timezone_id="UTC", viewport={"width": 800, "height": 900})
        try:
            yield Person(context, self.relay)
        finally:
            context.close()

    def read_log(self) -> None:
        """Note the host names that were asked for; known once the browser has ended."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        found = re.findall(r'"host":"(?:https?://)?([^"/:]+)', text)
        self.names = {name for name in found if name not in _OWN_NAMES and not name.endswith(_OF_THE_BROWSER)}


_OWN_NAMES = ("127.0.0.1", "localhost", "~notfound")
_OF_THE_BROWSER = (".google.com", ".googleapis.com", ".gstatic.com", ".googleusercontent.com")
"""The hosts that a Chromium with windows asks for updates of its own, whatever a page does."""


@dataclass
class Person:
    """One device in front of one person, with the recorder beside it."""

    context: BrowserContext
    relay: RecordingRelay
    events: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tabs: list[Tab] = []
        self.pressed: list[float] = []
        """When Send was pressed, by the clock of the relay."""
        self.context.on("page", lambda page: self._opened(page))
        self.context.on("serviceworker", lambda worker: self.events.append(("worker", worker.url)))

    def tab(self, chance: Chance | None) -> Tab:
        """Open a tab whose documents take this chance."""
        page = self.context.new_page()
        tab = Tab(self, self.context.new_cdp_session(page), page)
        self.tabs.append(tab)
        tab.prepare(chance)
        return tab

    def _opened(self, page: Any) -> None:
        if any(tab.page is page for tab in self.tabs):
            return
        self.events.append(("window", "opened"))

    def trace(self, steps: Sequence[str]) -> Trace:
        """Everything that was seen, once the steps are done."""
        trace = Trace()
        own = len(self.tabs)
        windows = sum(kind == "window" for kind, _ in self.events) - own
        trace.put("windows opened", windows)
        for kind, count in sorted(Counter((kind, text) for kind, text in self.events if kind != "window").items()):
            trace.put(f"{kind[0]}, {normal(kind[1], self.relay)}", count)
        came = self.relay.take()
        enter_requests(trace, came, self.relay)
        for place, moment in enumerate(self.pressed):
            sent = [each.time for each in came if each.time > moment and each.start.endswith("/reports")]
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


class Tab:
    """A tab: a person's eyes and hands, and what the browser's own protocol says of it."""

    def __init__(self, person: Person, session: CDPSession, page: Any) -> None:
        self.person, self.session, self.page = person, session, page
        self.seen: dict[str, dict[str, Any]] = {}
        self.chance: list[list[str]] = []
        self.counts: dict[str, float] = {}
        self._world: int | None = None
        self._script: str | None = None

    def prepare(self, chance: Chance | None) -> None:
        """Listen, and put chance under what is loaded next."""
        for domain in ("Page", "Network", "Runtime", "Log", "DOMStorage", "IndexedDB"):
            self.session.send(f"{domain}.enable")
        note = self.person.events.append
        for event, read in _EVENTS.items():
            self.session.on(event, lambda told, kind=event, read=read: (text := read(told)) and note((kind, text)))
        self.feed(chance)

    def feed(self, chance: Chance | None) -> None:
        """Put other chance under the documents that are loaded from now on."""
        if self._script:
            self.session.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": self._script})
            self._script = None
        if chance is not None:
            content = json.dumps({"words": chance.words, "bytes": dict(chance.bytes)})
            added = self.session.send(
                "Page.addScriptToEvaluateOnNewDocument",
                {"source": _DISGUISE.replace("CHANCE", content), "runImmediately": False},
            )
            self._script = added["identifier"]

    def open(self, link: str) -> None:
        """Go to a link."""
        self.chance.append([])
        self.session.send("Page.navigate", {"url": link})
        self._world = None

    def reload(self) -> None:
        """Load the page again."""
        self.chance.append([])
        self.session.send("Page.reload")
        self._world = None

    def look(self, expression: str) -> Any:
        """Evaluate in the isolated world, where the page sees nothing of it."""
        for attempt in range(3):
            try:
                if self._world is None:
                    tree = self.session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
                    made = self.session.send("Page.createIsolatedWorld", {"frameId": tree, "worldName": "reader"})
                    self._world = made["executionContextId"]
                told = self.session.send(
                    "Runtime.evaluate",
                    {"expression": expression, "contextId": self._world, "awaitPromise": True, "returnByValue": True},
                )
                if "exceptionDetails" not in told:
                    return told["result"].get("value")
                problem = told["exceptionDetails"].get("exception", {}).get("description", "")
            except Exception as error:  # a navigation takes the world with it
                problem = str(error)
            self._world = None
            if attempt < 2:
                time.sleep(0.01)
        raise Stuck(f"page: {problem[:200]}")

    def wait(self, what: str, argument: object = None) -> Any:
        """Ask until there is an answer."""
        give_up = time.monotonic() + PATIENCE
        expression = f"({_WALK})({json.dumps(what)}, {json.dumps(argument)})"
        while time.monotonic() < give_up:
            found = self.look(expression)
            if found:
                return found
            time.sleep(0.003)
        raise Stuck(f"page: waited in vain for {what}")

    def click(self, what: str, argument: object = None) -> None:
        """Press what a person would press, with the mouse."""
        x, y = self.wait(what, argument)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            more = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.session.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

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
            if place["type"] == "number":
                self.click("input", [name, 0])
                self.session.send("Input.insertText", {"text": str(given)})
                continue
            for option in given if isinstance(given, list) else [given]:
                self.click("input", [name, option])

    def note(self, step: str) -> None:
        """Keep all that is to be seen now, under the name of a step."""
        self.seen[step] = self.look(f"({_OBSERVE})()")
        self.seen[step]["entries"] = [
            (entry["url"], entry["title"]) for entry in self.session.send("Page.getNavigationHistory")["entries"]
        ]
        # No report may be sent before Send.
        self.seen[step]["reports so far"] = sum(each.start.endswith("/reports") for each in self.person.relay.sent)
        self.chance[-1] = self.taken(_SOURCES)
        events = self.taken(["EventTarget.prototype.dispatchEvent"])
        # How often a page is laid out on the way, and so how often it hears of its size, is not the same each time.
        sizes = [each for each in events if each.startswith("deniable-resize")]
        self.seen[step]["events"] = [each for each in events if each not in sizes] + sizes[-1:]
        self.counts[f"{step}, events about sizes"] = len(sizes)

    def taken(self, functions: Sequence[str]) -> list[str]:
        """What went through functions of the browser, from the handlers that no script can reach."""
        found: list[str] = []
        for expression in functions:
            with suppress(Exception):
                told = self.session.send("Runtime.evaluate", {"expression": expression})["result"]
                inner = self.session.send(
                    "Runtime.getProperties", {"objectId": told["objectId"], "ownProperties": True}
                )
                handler = next(each for each in inner["internalProperties"] if each["name"] == "[[Handler]]")
                call = {
                    "functionDeclaration": "function () { return this.taken; }",
                    "objectId": handler["value"]["objectId"],
                    "returnByValue": True,
                }
                found += self.session.send("Runtime.callFunctionOn", call)["result"]["value"]
        return found


_SOURCES = (
    "Crypto.prototype.getRandomValues",
    "Crypto.prototype.randomUUID",
    "Math.random",
    "SubtleCrypto.prototype.generateKey",
)


def _requested(told: dict[str, Any]) -> str:
    request = told["request"]
    return f"{request['method']} {request['url']} {told.get('type', '')}"


_EVENTS: dict[str, Any] = {
    "Network.requestWillBeSent": _requested,
    "Network.webSocketCreated": lambda told: told["url"],
    "Network.webTransportCreated": lambda told: told["url"],
    "Runtime.consoleAPICalled": lambda told: json.dumps(
        [each.get("value", each.get("description")) for each in told["args"]]
    ),
    "Runtime.exceptionThrown": lambda told: told["exceptionDetails"].get("text", "exception"),
    "Log.entryAdded": lambda told: told["entry"]["text"],
    "Page.downloadWillBegin": lambda told: f"{told['url']} {told['suggestedFilename']}",
    "Page.windowOpen": lambda told: told["url"],
    "Page.javascriptDialogOpening": lambda told: told["message"],
    "DOMStorage.domStorageItemAdded": lambda told: f"{told['key']}={told['newValue']}",
    "DOMStorage.domStorageItemUpdated": lambda told: f"{told['key']}={told['newValue']}",
    "DOMStorage.domStorageItemRemoved": lambda told: told["key"],
}


def enter_requests(trace: Trace, came: list[Sent], relay: RecordingRelay) -> None:
    """Requests as features: the bytes of each address, and loosely their order, times and connections."""
    numbers: dict[int, int] = {}
    counts: Counter[str] = Counter()
    previous: Sent | None = None
    for place, each in enumerate(came):
        start = normal(each.start, relay)
        counts[start] += 1
        name = f"request {start} ({counts[start]})"
        trace.put(f"{name}, head", normal(each.head.decode("latin-1"), relay))
        trace.put(f"{name}, body", each.body.decode("latin-1"))
        if each.start.startswith("POST") and each.start.endswith("/reports"):
            trace.reports.append(each.body)
        connection = numbers.setdefault(each.connection, len(numbers))
        trace.loose[f"{name}, connection"] = connection
        trace.loose[f"{name}, place"] = place
        if previous:
            trace.loose[f"{name}, ms after the one before"] = 1000 * (each.time - previous.time)
        previous = each
    trace.put("requests", dict(counts))
    # What the device itself asks for comes one after the other; only files of a page may come in any order.
    own = [each for each in came if "/api/" in each.start]
    trace.put("order of the device's requests", [normal(each.start, relay) for each in own])


def normal(value: Any, relay: RecordingRelay) -> Any:
    """Without what differs from run to run for reasons of its own: the port of the relay, and today."""
    if isinstance(value, str):
        return _DAY.sub("DAY", value.replace(f"127.0.0.1:{relay.port}", "COLLECTOR"))
    if isinstance(value, dict):
        return {normal(key, relay): normal(each, relay) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [normal(each, relay) for each in value]
    return value

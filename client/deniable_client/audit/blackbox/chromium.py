"""Sessions in a real Chromium, by its own protocol (CDP)."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.errors import NotInstalled
from deniable_client.audit.blackbox.person import AROUND, BLOCKED, DISGUISE, PATIENCE, Chance, Person, Stuck, Tab
from deniable_client.audit.blackbox.stand_in import RecordingRelay
from deniable_commands.chromium_launch import FLAGS, installed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, CDPSession


LANGUAGE = "en-GB"
"""The language of everybody who answers."""


_INTERPRETED = "--js-flags=--no-opt --no-maglev --no-sparkplug"
"""Scripts are interpreted: a page lives for a second, and compiling it took a fifth of an audit's processor time."""


_LATE = "gave no answer in time"
_IN_TIME = """Promise.race([
    EXPRESSION,
    new Promise((_, fail) => setTimeout(() => fail(new Error("LATE")), MILLISECONDS)),
])""".replace("LATE", _LATE).replace("MILLISECONDS", str(int(1000 * PATIENCE)))
"""A page that draws no frames, or whose databases do not open, never answers, and nothing else would end that."""


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
        # Without it `navigator.webdriver` tells a page that a program sits before it.
        ways.append("--disable-blink-features=AutomationControlled")
        ways.append(_INTERPRETED)
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
    def person(self) -> Iterator[ChromiumPerson]:
        """A fresh profile: somebody's device."""
        context = self.browser.new_context(locale=LANGUAGE, timezone_id="UTC", viewport={"width": 800, "height": 900})
        try:
            yield ChromiumPerson(self.relay, context=context)
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
class ChromiumPerson(Person):
    """A profile of Chromium."""

    context: BrowserContext = field(kw_only=True)

    def __post_init__(self) -> None:
        self.context.on("page", lambda page: self._opened(page))
        self.context.on("serviceworker", lambda worker: self.events.append(("worker", worker.url)))

    def tab(self, chance: Chance | None) -> ChromiumTab:
        """Open a tab whose documents take this chance."""
        page = self.context.new_page()
        tab = ChromiumTab(self, self.context.new_cdp_session(page), page)
        self.tabs.append(tab)
        tab.prepare(chance)
        return tab

    def _opened(self, page: Any) -> None:
        if not any(isinstance(tab, ChromiumTab) and tab.page is page for tab in self.tabs):
            self.events.append(("window", "opened"))


class ChromiumTab(Tab):
    """A tab of Chromium."""

    def __init__(self, person: Person, session: CDPSession, page: Any) -> None:
        super().__init__(person)
        self.session, self.page = session, page
        self._world: int | None = None
        self._script: str | None = None

    def prepare(self, chance: Chance | None) -> None:
        """Listen, and put chance under what is loaded next."""
        for domain in ("Page", "Network", "Runtime", "Log", "DOMStorage", "IndexedDB"):
            self.session.send(f"{domain}.enable")
        self.session.send("Emulation.setUserAgentOverride", _as_with_windows(self.page.context.browser.version))
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
            added = self.session.send(
                "Page.addScriptToEvaluateOnNewDocument",
                {"source": f"({DISGUISE})({chance.written})", "runImmediately": False},
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
                awaited = {"awaitPromise": True, "returnByValue": True, "contextId": self._world}
                asked = {"expression": _IN_TIME.replace("EXPRESSION", expression), **awaited}
                told = self.session.send("Runtime.evaluate", asked)
                if "exceptionDetails" not in told:
                    return told["result"].get("value")
                problem = told["exceptionDetails"].get("exception", {}).get("description", "")
            except Exception as error:  # a navigation takes the world with it
                problem = str(error)
            self._world = None
            if _LATE in problem:
                break
            if attempt < 2:
                time.sleep(0.01)
        raise Stuck(f"page: {problem[:200]}")

    def block_storage(self) -> None:
        """Let the documents that are loaded from now on keep nothing, as a browser that blocks it does."""
        self.session.send("Page.addScriptToEvaluateOnNewDocument", {"source": BLOCKED})

    def lead_on(self) -> None:
        """Know that the page is about to lead elsewhere."""
        super().lead_on()
        self._world = None

    def close(self) -> None:
        """Close it, as somebody who goes away."""
        self.is_open = False
        self.page.close()

    def go_away(self) -> None:
        """Lose the network for a moment, then open an empty page in it."""
        for is_offline in (True, False):
            conditions = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
            self.session.send("Network.emulateNetworkConditions", {"offline": is_offline, **conditions})
        self.session.send("Page.navigate", {"url": "about:blank"})

    def press(self, x: float, y: float) -> None:
        """Press a place with the mouse."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            more = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.session.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def write(self, text: str) -> None:
        """Type where the focus is."""
        self.session.send("Input.insertText", {"text": text})

    def further(self) -> dict[str, Any]:
        """The tab's history, which a page cannot read, and what a page finds around and on an element."""
        entries = self.session.send("Page.getNavigationHistory")["entries"]
        around = self.session.send("Runtime.evaluate", {"expression": AROUND})["result"].get("value")
        return {
            "entries": [(entry["url"], entry["title"]) for entry in entries],
            "around": json.loads(around or "null"),
        }

    def told(self) -> tuple[list[str], list[str]]:
        """What the document took of chance so far, and the events that left its elements."""
        return self._taken(_SOURCE), self._taken(_SAID)

    def _taken(self, function: str) -> list[str]:
        """What went through functions of the browser, from a handler that no script can reach."""
        with suppress(Exception):
            told = self.session.send("Runtime.evaluate", {"expression": function})["result"]
            inner = self.session.send("Runtime.getProperties", {"objectId": told["objectId"], "ownProperties": True})
            handler = next(each for each in inner["internalProperties"] if each["name"] == "[[Handler]]")
            call = {
                "functionDeclaration": "function () { return this.taken; }",
                "objectId": handler["value"]["objectId"],
                "returnByValue": True,
            }
            found: list[str] = self.session.send("Runtime.callFunctionOn", call)["result"]["value"]
            return found
        return []


def _as_with_windows(version: str) -> dict[str, Any]:
    """The name that a Chromium with windows has; one without them says that it has none, to every page."""
    major = version.partition(".")[0]
    agent = f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Safari/537.36"
    about = {
        "brands": [{"brand": "Not:A-Brand", "version": "8"}, {"brand": "Chromium", "version": major}],
        "fullVersionList": [{"brand": "Not:A-Brand", "version": "8.0.0.0"}, {"brand": "Chromium", "version": version}],
        "platform": "Linux",
        "platformVersion": "",
        "architecture": "x86",
        "model": "",
        "mobile": False,
    }
    return {
        "userAgent": agent,
        "acceptLanguage": LANGUAGE,
        "platform": "Linux x86_64",
        "userAgentMetadata": about,
    }


_SAID, _SOURCE = "EventTarget.prototype.dispatchEvent", "Crypto.prototype.getRandomValues"
"""Functions that the disguise stands before. All of a kind note in one list what went through them."""


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

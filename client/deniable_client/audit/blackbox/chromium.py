"""Sessions in a real Chromium, by its own protocol (CDP)."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deniable.errors import NotInstalled
from deniable_client.audit.blackbox.devtools import Devtools
from deniable_client.audit.blackbox.person import (
    AROUND,
    BLOCKED,
    DISGUISE,
    PATIENCE,
    WALK,
    Beside,
    BrowserRefusal,
    Chance,
    Person,
    Stuck,
    Tab,
)
from deniable_client.audit.blackbox.stand_in import RecordingRelay
from deniable_commands.chromium_launch import FLAGS, installed

LANGUAGE = "en-GB"
"""The language of everybody who answers."""

WIDTH, HEIGHT = 800, 900
"""The size of every page, in pixels."""


_INTERPRETED = "--js-flags=--no-opt --no-maglev --no-sparkplug"
"""Scripts are interpreted: a page lives for a second, and compiling it took a fifth of an audit's processor time."""

_AS_FOR_A_PERSON = (
    # No tab rests because nobody looks at it.
    *("--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows"),
    *("--disable-renderer-backgrounding", "--disable-ipc-flooding-protection", "--disable-back-forward-cache"),
    # Nor does one wait for a question of the browser, or for input that comes early.
    *("--disable-hang-monitor", "--disable-popup-blocking", "--disable-prompt-on-repost", "--allow-pre-commit-input"),
    # Nothing of the machine's: no sound, no store of passwords, no reports of failures, no experiments.
    *("--mute-audio", "--password-store=basic", "--disable-breakpad", "--disable-field-trial-config"),
    *("--disable-extensions", "--disable-default-apps", "--metrics-recording-only", "--disable-dev-shm-usage"),
    *("--no-default-browser-check", "--no-startup-window", "--hide-scrollbars", "--force-color-profile=srgb"),
    "--disable-component-extensions-with-background-pages",
    "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,PaintHolding,OptimizationHints,MediaRouter",
    # A mouse, as on the device of most people.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
    # Without it `navigator.webdriver` tells a page that a program sits before it.
    "--disable-blink-features=AutomationControlled",
)
"""A browser in front of somebody, on whatever machine."""


_ONE_PROCESS = "--renderer-process-limit=1"
"""All tabs of a person are in one process, as on a phone; starting others took a seventh of the processor time."""

_LATE = "gave no answer in time"
_IN_TIME = """Promise.race([
    EXPRESSION,
    new Promise((_, fail) => setTimeout(() => fail(new Error("LATE")), MILLISECONDS)),
])""".replace("LATE", _LATE).replace("MILLISECONDS", str(int(1000 * PATIENCE)))
"""A page that draws no frames, or whose databases do not open, never answers, and nothing else would end that."""

_WAITED = """(async (walk, what, argument) => {
  const end = performance.now() + 250;
  for (let pause = 3; ; pause = Math.min(1.2 * pause, 12)) {
    const found = walk(what, argument);
    if (found || performance.now() > end) return found;
    await new Promise((done) => setTimeout(done, pause));
  }
})"""
"""Asks within the page, where asking again takes no message: a navigation ends it, and whoever waits asks anew."""

_TRIES = 5
"""How often something is evaluated that a navigation may end."""


@contextmanager
def chromium(relay: RecordingRelay, program: str | None = None, *, is_apart: bool = False) -> Iterator[Chromium]:
    """A Chromium whose only way out is the relay.

    Parameters
    ----------
    relay : RecordingRelay
    program : str, optional
        Its path; by default the installed one.
    is_apart : bool
        Whether each tab has a process of its own, so that two of them do something at the same moment.
    """
    with ExitStack() as stack:
        # A process of the browser may still write when the browser has ended.
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="deniable-audit-", ignore_cleanup_errors=True))
        log = Path(folder) / "net.json"
        # No name but the relay's is found, and every name that is asked for stands in the log of the network.
        ways = [f"--log-net-log={log}", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        ways += [
            "--headless",
            f"--lang={LANGUAGE}",
            f"--user-data-dir={folder}/profile",
            *_AS_FOR_A_PERSON,
            _INTERPRETED,
        ]
        ways += [] if is_apart else [_ONE_PROCESS]
        # The time zone of everybody; one that the protocol sets would be of a process, and two tabs may share one.
        devtools = Devtools([program or installed() or _downloaded(), *FLAGS, *ways], {"TZ": "UTC"})
        made = Chromium(devtools, relay, log)
        # The log is whole once the browser has ended, and gone with its folder.
        stack.callback(made.read_log)
        stack.callback(devtools.close)
        made.start()
        yield made


def _downloaded() -> str:
    """The path of the Chromium that Playwright has."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        raise NotInstalled("playwright") from None
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


@dataclass
class Chromium:
    """A browser, and the relay that its sessions go through."""

    devtools: Devtools
    relay: RecordingRelay
    log: Path
    names: set[str] = field(default_factory=set)
    """Every host name that the browser tried to resolve, whoever asked for it; known once it has ended."""
    version: str = ""
    people: dict[str, ChromiumPerson] = field(default_factory=dict)
    """By the id of a profile."""

    def start(self) -> None:
        """Know its version, and hear of every tab and service worker that begins."""
        self.version = self.devtools.send("Browser.getVersion")["product"].partition("/")[2]
        self.relay.as_worn = as_worn
        self.devtools.hears[""] = self._hear
        kinds = [{"type": "page"}, {"type": "service_worker"}]
        self.devtools.send("Target.setDiscoverTargets", {"discover": True, "filter": kinds})

    @contextmanager
    def person(self) -> Iterator[ChromiumPerson]:
        """A fresh profile: somebody's device."""
        made = self.devtools.send("Target.createBrowserContext", {"disposeOnDetach": True})
        profile = made["browserContextId"]
        person = self.people[profile] = ChromiumPerson(self.relay, browser=self, profile=profile)
        downloads = {"behavior": "allowAndName", "downloadPath": str(self.log.parent / "downloads")}
        self.devtools.send("Browser.setDownloadBehavior", {"browserContextId": profile, **downloads})
        try:
            yield person
        finally:
            del self.people[profile]
            for tab in person.tabs:
                if isinstance(tab, ChromiumTab):
                    self.devtools.hears.pop(tab.session.id, None)
            self.devtools.send("Target.disposeBrowserContext", {"browserContextId": profile})

    def read_log(self) -> None:
        """Note the host names that were asked for; known once the browser has ended."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        found = re.findall(r'"host":"(?:https?://)?([^"/:]+)', text)
        self.names = {name for name in found if name not in _OWN_NAMES and not name.endswith(_OF_THE_BROWSER)}

    def _hear(self, event: str, told: dict[str, Any]) -> None:
        if event != "Target.targetCreated":
            return
        about = told["targetInfo"]
        person = self.people.get(about.get("browserContextId"))
        if person and about["type"] == "page":
            person.events.append(("window", "opened"))
        elif person:
            person.events.append(("worker", about["url"]))


_OWN_NAMES = ("127.0.0.1", "localhost", "~notfound")
_OF_THE_BROWSER = (".google.com", ".googleapis.com", ".gstatic.com", ".googleusercontent.com")
"""The hosts that a Chromium with windows asks for updates of its own, whatever a page does."""


@dataclass(frozen=True)
class DevtoolsSession:
    """What is said to one tab."""

    devtools: Devtools
    id: str

    def send(self, method: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a command, and wait for what comes of it."""
        return self.devtools.send(method, parameters, self.id)

    def send_all(self, *commands: tuple[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Send commands one right after the other, and wait for what comes of all of them."""
        numbers = [self.devtools.tell(method, parameters, self.id) for method, parameters in commands]
        return [self.devtools.answer(number) for number in numbers]


@dataclass
class ChromiumPerson(Person):
    """A profile of Chromium."""

    browser: Chromium = field(kw_only=True)
    profile: str = field(kw_only=True)

    def tab(self, chance: Chance | None) -> ChromiumTab:
        """Open a tab whose documents take this chance."""
        devtools = self.browser.devtools
        target = devtools.send("Target.createTarget", {"url": "about:blank", "browserContextId": self.profile})[
            "targetId"
        ]
        session = devtools.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        tab = ChromiumTab(self, DevtoolsSession(devtools, session), target)
        self.tabs.append(tab)
        tab.prepare(chance)
        return tab


class ChromiumTab(Tab):
    """A tab of Chromium."""

    def __init__(self, person: ChromiumPerson, session: DevtoolsSession, target: str) -> None:
        super().__init__(person)
        self.session, self.target, self.version = session, target, person.browser.version
        self._world: int | None = None
        self._script: str | None = None
        self._lists: list[str] = []
        """The ids of what holds, in this document, the lists of what went through `_SOURCE` and `_SAID`."""

    def prepare(self, chance: Chance | None) -> None:
        """Listen, and put chance under what is loaded next."""
        self.session.devtools.hears[self.session.id] = self._hear
        domains = ("Page", "Network", "Runtime", "Log", "DOMStorage")
        size = {"width": WIDTH, "height": HEIGHT, "screenWidth": WIDTH, "screenHeight": HEIGHT}
        shape = {"mobile": False, "deviceScaleFactor": 1, "screenOrientation": {"angle": 0, "type": "landscapePrimary"}}
        script = [] if chance is None else [_under_documents(chance)]
        devtools = self.session.devtools
        window = self.session.send("Browser.getWindowForTarget")["windowId"]
        language = devtools.tell("Emulation.setLocaleOverride", {"locale": LANGUAGE}, self.session.id)
        *_, last = self.session.send_all(
            *((f"{domain}.enable", {}) for domain in domains),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            ("Browser.setWindowBounds", {"windowId": window, "bounds": {"width": WIDTH, "height": HEIGHT}}),
            ("Emulation.setDeviceMetricsOverride", {**size, **shape}),
            ("Emulation.setUserAgentOverride", _as_with_windows(self.version)),
            *script,
        )
        self._script = last.get("identifier")
        with suppress(BrowserRefusal):  # another tab of this process has set it for all
            devtools.answer(language)

    def feed(self, chance: Chance | None) -> None:
        """Put other chance under the documents that are loaded from now on."""
        if self._script:
            self.session.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": self._script})
            self._script = None
        if chance is not None:
            self._script = self.session.send(*_under_documents(chance))["identifier"]

    def open(self, link: str) -> None:
        """Go to a link."""
        self.chance.append([])
        self.session.send("Page.navigate", {"url": link})
        self._leave_document()

    def reload(self) -> None:
        """Load the page again."""
        self.chance.append([])
        self.session.send("Page.reload")
        self._leave_document()

    def _leave_document(self) -> None:
        self._world, self._lists = None, []

    def _hear(self, event: str, told: dict[str, Any]) -> None:
        read = _EVENTS.get(event)
        if read and (text := read(told)):
            self.person.events.append((event, text))
        if event == "Page.javascriptDialogOpening":
            # Nobody is there to answer it; only a page that asks whether it may be left is told so.
            accepts = {"accept": told["type"] == "beforeunload"}
            devtools = self.session.devtools
            devtools.leave(devtools.tell("Page.handleJavaScriptDialog", accepts, self.session.id))

    def look(self, expression: str) -> Any:
        """Evaluate in the isolated world, where the page sees nothing of it."""
        for attempt in range(_TRIES):
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
            except BrowserRefusal as error:  # a navigation takes the world with it
                problem = str(error)
            self._leave_document()
            if _LATE in problem:
                break
            if attempt < _TRIES - 1:
                time.sleep(0.01)
        raise Stuck(f"page: {problem[:200]}")

    def ask(self, what: str, argument: object = None) -> Any:
        """What is found on the page within a moment, if it is there by then."""
        return self.look(f"{_WAITED}({WALK}, {json.dumps(what)}, {json.dumps(argument)})")

    def block_storage(self) -> None:
        """Let the documents that are loaded from now on keep nothing, as a browser that blocks it does."""
        self.session.send("Page.addScriptToEvaluateOnNewDocument", {"source": BLOCKED})

    def lead_on(self) -> None:
        """Know that the page is about to lead elsewhere."""
        super().lead_on()
        self._leave_document()

    def close(self) -> None:
        """Close it, as somebody who goes away."""
        self.is_open = False
        self.session.devtools.send("Target.closeTarget", {"targetId": self.target})

    def go_away(self) -> None:
        """Lose the network for a moment, then open an empty page in it."""
        conditions = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.session.send_all(
            ("Network.emulateNetworkConditions", {"offline": True, **conditions}),
            ("Network.emulateNetworkConditions", {"offline": False, **conditions}),
            ("Page.navigate", {"url": "about:blank"}),
        )

    def press(self, x: float, y: float) -> None:
        """Press a place with the mouse."""
        place, button = {"x": x, "y": y}, {"button": "left", "clickCount": 1}
        self.session.send_all(
            ("Input.dispatchMouseEvent", {"type": "mouseMoved", **place}),
            ("Input.dispatchMouseEvent", {"type": "mousePressed", **place, **button}),
            ("Input.dispatchMouseEvent", {"type": "mouseReleased", **place, **button}),
        )

    def write(self, text: str) -> None:
        """Type where the focus is."""
        self.session.send("Input.insertText", {"text": text})

    def beside(self) -> Beside:
        """The tab's history, which a page cannot read, what a page finds around and on an element, and its calls."""
        if not self._lists:
            self._lists = self._found_lists()
        history, around, *lists = self.session.send_all(
            ("Page.getNavigationHistory", {}),
            ("Runtime.evaluate", {"expression": AROUND}),
            *(
                (
                    "Runtime.callFunctionOn",
                    {
                        "functionDeclaration": "function () { return this.taken; }",
                        "objectId": each,
                        "returnByValue": True,
                    },
                )
                for each in self._lists
            ),
        )
        taken, said = (each["result"]["value"] for each in lists) if lists else ([], [])
        seen = {
            "entries": [(entry["url"], entry["title"]) for entry in history["entries"]],
            "around": json.loads(around["result"].get("value") or "null"),
        }
        return seen, taken, said

    def _found_lists(self) -> list[str]:
        """The handlers before two functions of the browser, which no script can reach; none without the disguise."""
        functions = self.session.send_all(*(("Runtime.evaluate", {"expression": each}) for each in (_SOURCE, _SAID)))
        ids = [told["result"]["objectId"] for told in functions]
        inner = self.session.send_all(
            *(("Runtime.getProperties", {"objectId": each, "ownProperties": True}) for each in ids)
        )
        handlers = [
            [each["value"]["objectId"] for each in told.get("internalProperties", []) if each["name"] == "[[Handler]]"]
            for told in inner
        ]
        return [each for some in handlers for each in some]


def _under_documents(chance: Chance) -> tuple[str, dict[str, Any]]:
    """The command that puts chance under the documents that are loaded from now on."""
    source = f"({DISGUISE})({chance.written})"
    return "Page.addScriptToEvaluateOnNewDocument", {"source": source, "runImmediately": False}


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


def as_worn(head: str) -> str:
    """A head as `_as_with_windows` has it. On a busy machine Chromium may send one without, in 1 of some 340 sessions.

    Nothing else of a head is changed, and no page can choose between the two.

    >>> as_worn('sec-ch-ua: "Chromium";v="156", "HeadlessChrome";v="156"')
    'sec-ch-ua: "Chromium";v="156"'
    >>> as_worn("User-Agent: HeadlessChrome/156.0.8078.108 Safari/537.36"), as_worn("Accept-Language: de")
    ('User-Agent: Chrome/156.0.0.0 Safari/537.36', 'Accept-Language: de')
    """
    head = re.sub(r', "HeadlessChrome";v="\d+"', "", head)
    head = re.sub(r"HeadlessChrome/(\d+)[\d.]*", r"Chrome/\1.0.0.0", head)
    return head.replace(f"Accept-Language: {LANGUAGE}\r\n", "")


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

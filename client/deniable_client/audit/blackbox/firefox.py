"""Sessions in a real Firefox, by WebDriver BiDi.

It shows less than the protocol of Chromium: no host name that is looked up and not connected to, and no service worker.
Nor does it tell of texts that are stored and removed again; for these, stand-ins for the stores note each call.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from deniable.errors import DeniableError
from deniable_client.audit.blackbox.bidi import Bidi
from deniable_client.audit.blackbox.deadend import DeadEnd
from deniable_client.audit.blackbox.person import (
    AROUND,
    BLOCKED,
    DISGUISE,
    PATIENCE,
    Beside,
    BrowserRefusal,
    Chance,
    Person,
    Stuck,
    Tab,
)
from deniable_client.audit.blackbox.stand_in import RecordingRelay

PROGRAMS = ("firefox", "firefox-esr")
STARTED = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
STARTING = 60.0
"""Longest start of a browser, in seconds."""

PREFERENCES: dict[str, bool | int | str] = {
    "app.update.enabled": False,
    "app.normandy.enabled": False,
    "browser.chrome.site_icons": False,
    "browser.safebrowsing.blockedURIs.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.push.connection.enabled": False,
    "extensions.getAddons.cache.enabled": False,
    "extensions.update.enabled": False,
    "intl.accept_languages": "en-GB, en",
    "media.gmp-manager.updateEnabled": False,
    "media.gmp-provider.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.http.http3.enable": False,
    "network.proxy.type": 1,
    "nglayout.initialpaint.delay": 0,  # nothing that is pressed early is lost
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
}
"""Nothing that a browser asks for by itself, and every host but this machine by the proxy that leads nowhere."""

_OF_THE_BROWSER = (
    ".mozilla.com",
    ".mozilla.org",
    ".mozilla.net",
    ".firefox.com",
    ".mozgcp.net",
    "update.googleapis.com",
)
"""What a Firefox asks for by itself, whatever a page does; the last one for what it plays films with."""

_EVENTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "network.beforeRequestSent": lambda told: f"{told['request']['method']} {told['request']['url']}",
    "log.entryAdded": lambda told: str(told.get("text")),
    "browsingContext.downloadWillBegin": lambda told: f"{told.get('url')} {told.get('suggestedFilename')}",
    "browsingContext.userPromptOpened": lambda told: str(told.get("message")),
    "browsingContext.historyUpdated": lambda told: str(told.get("url")),
}
_LISTENED = (*_EVENTS, "browsingContext.contextCreated", "script.message")


@contextmanager
def firefox(relay: RecordingRelay, program: str | None = None) -> Iterator[Firefox]:
    """A Firefox whose only way out is the relay."""
    found = program or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        raise DeniableError("firefox: is needed to audit in it; install it, or name its path with --browser")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="deniable-audit-", ignore_cleanup_errors=True))
        nowhere = DeadEnd()
        stack.callback(nowhere.close)
        proxy = {f"network.proxy.{kind}": "127.0.0.1" for kind in ("http", "ssl")}
        ports = {f"network.proxy.{kind}_port": nowhere.port for kind in ("http", "ssl")}
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});"
            for name, value in (PREFERENCES | proxy | ports).items()
        ]
        (Path(folder) / "user.js").write_text("\n".join(lines), encoding="ascii")
        words = [found, "--headless", "--no-remote", "--profile", folder, "--remote-debugging-port", "0"]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        stack.callback(_end, process)
        made = Firefox(relay)
        made.bidi = Bidi(f"{_address(process)}/session", made.hear)
        stack.callback(made.bidi.close)
        made.bidi.send("session.new", capabilities={})
        made.bidi.send("session.subscribe", events=list(_LISTENED))
        yield made
        made.names = {name for name in nowhere.names if not name.endswith(_OF_THE_BROWSER)}


def _address(process: subprocess.Popen[str]) -> str:
    """Where the browser listens, as it says on its error output."""
    assert process.stderr is not None
    stuck = threading.Timer(STARTING, process.kill)
    stuck.start()
    try:
        for line in process.stderr:
            if found := STARTED.search(line):
                # What it says later is read as well, or it would wait for somebody to.
                threading.Thread(target=_read_on, args=(process.stderr,), daemon=True).start()
                return found[1]
    finally:
        stuck.cancel()
    raise DeniableError("firefox: did not start to listen")


def _read_on(stream: IO[str]) -> None:
    with stream:
        for _ in stream:
            pass


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=10)
        return
    process.kill()
    process.wait()


@dataclass
class Firefox:
    """A browser, and the relay that its sessions go through.

    Attributes
    ----------
    names : set of str
        Hosts that it wanted to reach, whoever asked for them; known at the end.
    """

    relay: RecordingRelay
    names: set[str] = field(default_factory=set)
    bidi: Bidi = field(init=False)

    def __post_init__(self) -> None:
        self.people: dict[str, FirefoxPerson] = {}
        self.tabs: dict[str, FirefoxTab] = {}

    @contextmanager
    def person(self) -> Iterator[FirefoxPerson]:
        """A fresh profile: somebody's device."""
        profile = self.bidi.send("browser.createUserContext")["userContext"]
        person = FirefoxPerson(self.relay, browser=self, profile=profile)
        self.people[profile] = person
        try:
            yield person
        finally:
            del self.people[profile]
            self.bidi.send("browser.removeUserContext", userContext=profile)

    def hear(self, event: str, told: dict[str, Any]) -> None:
        """Note an event of the browser with the person whom it is about."""
        if event == "browsingContext.contextCreated":
            if told.get("userContext") in self.people and told.get("parent") is None:
                # A window that a page opens by itself is an event like a download or a question.
                self.people[told["userContext"]].events.append(("window", "opened"))
            return
        context = told.get("context") or told.get("source", {}).get("context")
        tab = self.tabs.get(str(context))
        if tab is None:
            return
        if event == "script.message":
            tab.heard(told["source"]["realm"], told["data"]["value"])
        else:
            tab.person.events.append((event, _EVENTS[event](told)))


@dataclass
class FirefoxPerson(Person):
    """A container of Firefox, which shares nothing with others."""

    browser: Firefox = field(kw_only=True)
    profile: str = field(kw_only=True)

    def tab(self, chance: Chance | None) -> FirefoxTab:
        """Open a tab whose documents take this chance."""
        bidi = self.browser.bidi
        context = bidi.send("browsingContext.create", type="tab", userContext=self.profile)["context"]
        tab = FirefoxTab(self, bidi, context)
        self.browser.tabs[context] = tab
        self.tabs.append(tab)
        bidi.send("browsingContext.setViewport", context=context, viewport={"width": 800, "height": 900})
        tab.feed(chance)
        return tab


class FirefoxTab(Tab):
    """A tab of Firefox."""

    def __init__(self, person: Person, bidi: Bidi, context: str) -> None:
        super().__init__(person)
        self.bidi, self.context = bidi, context
        self._script: str | None = None
        self._taken: tuple[list[str], list[str]] = ([], [])
        self._realms: set[str] = set()
        self._left: set[str] = set()
        """Documents before, of which something may still be told while the next one is loaded."""

    def heard(self, realm: str, text: str) -> None:
        """What the script under a document says of chance and events."""
        self._realms.add(realm)
        # What a document that was left still says belongs to no session any more.
        if realm not in self._left:
            kind, _, what = text.partition(" ")
            self._taken[kind == "event"].append(what)

    def feed(self, chance: Chance | None) -> None:
        """Put other chance under the documents that are loaded from now on."""
        if self._script:
            self.bidi.send("script.removePreloadScript", script=self._script)
            self._script = None
        if chance is not None:
            told = self.bidi.send(
                "script.addPreloadScript",
                functionDeclaration=f"(tell) => ({DISGUISE})({chance.written}, tell)",
                arguments=[{"type": "channel", "value": {"channel": "taken"}}],
                contexts=[self.context],
            )
            self._script = told["script"]

    def open(self, link: str) -> None:
        """Go to a link."""
        self._begin()
        self.bidi.send("browsingContext.navigate", context=self.context, url=link, wait="complete")

    def reload(self) -> None:
        """Load the page again."""
        self._begin()
        self.bidi.send("browsingContext.reload", context=self.context, wait="complete")

    def _begin(self) -> None:
        self.chance.append([])
        self._left = set(self._realms)
        self._taken = ([], [])

    def block_storage(self) -> None:
        """Let the documents that are loaded from now on keep nothing, as a browser that blocks it does."""
        self.bidi.send("script.addPreloadScript", functionDeclaration=f"() => {{{BLOCKED}}}", contexts=[self.context])

    def lead_on(self) -> None:
        """Know that the page is about to lead elsewhere."""
        self._begin()

    def close(self) -> None:
        """Close it, as somebody who goes away."""
        self.is_open = False
        self.bidi.send("browsingContext.close", context=self.context)

    def go_away(self) -> None:
        """Open an empty page in it. Its protocol takes no network away."""
        self.bidi.send("browsingContext.navigate", context=self.context, url="about:blank", wait="complete")

    def look(self, expression: str) -> Any:
        """Evaluate in a sandbox, where the page sees nothing of it."""
        whole = f"(async () => JSON.stringify(await ({expression})) ?? 'null')()"
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                told = self.bidi.send(
                    "script.evaluate",
                    expression=whole,
                    target={"context": self.context, "sandbox": "reader"},
                    awaitPromise=True,
                )
                if told["type"] == "success":
                    return json.loads(told["result"]["value"])
                problem = told["exceptionDetails"]["text"]
            except BrowserRefusal as error:  # a navigation takes the world with it
                problem = str(error)
            if time.monotonic() > give_up:
                raise Stuck(f"page: {problem[:200]}")
            time.sleep(0.01)

    def press(self, x: float, y: float) -> None:
        """Press a place with the mouse."""
        steps = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps})

    def write(self, text: str) -> None:
        """Type where the focus is."""
        keys = [{"type": kind, "value": mark} for mark in text for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": keys})

    def _act(self, actions: dict[str, Any]) -> None:
        self.bidi.send("input.performActions", context=self.context, actions=[actions])

    def beside(self) -> Beside:
        """What a page finds around and on an element, what it took of chance, and the events that left its elements."""
        target = {"context": self.context}
        told = self.bidi.send("script.evaluate", expression=AROUND, target=target, awaitPromise=False)
        around = json.loads(told["result"]["value"]) if told["type"] == "success" else None
        return {"around": around}, list(self._taken[0]), list(self._taken[1])

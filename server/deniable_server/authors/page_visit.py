"""A page with an element in it, opened in a browser that presses nothing: what happened there, as facts."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Event, Timer
from typing import TYPE_CHECKING, Any

from deniable.errors import NotInstalled, ParameterError
from deniable_commands.chromium_launch import FLAGS, installed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Frame, Page, Response

SECOND_SCRIPT = "deniable-answering.js"
"""What `deniable.js` loads by itself, from beside it."""

WAIT = 10.0
"""Seconds that an element has to say whether it can be answered."""

WAIT_FOR_SCRIPT = 3.0
"""Seconds after its load event in which a page may still put an element in, or load its script, by itself."""

LONGEST = 90.0
"""Seconds after which a browser is ended that a page has seized, by a script that never ends for instance."""

FRAME = re.compile(r"/embed/[a-z2-7]{26}")
"""The path of a survey's page for frames."""

_LISTEN = """
window.deniableSeen = { events: [], violations: [] };
for (const kind of ["ready", "error", "closed", "queued"]) {
    addEventListener(`deniable-${kind}`, ({ target }) => {
        deniableSeen.events.push({ kind, place: [...document.querySelectorAll(TAGS)].indexOf(target) });
    }, true);
}
document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
    deniableSeen.violations.push({ directive: effectiveDirective.replace(/-(elem|attr)$/, ""), blocked: blockedURI });
});
""".replace("TAGS", "'deniable-survey, deniable-question'")

_LOOK = """() => {
  // As lines of people, not as one word after the other: a shadow root has text alone, the elements in it have lines.
  const read = (root) => {
    const lines = [...(root?.children ?? [])].flatMap((each) => (each.innerText ?? "").split("\\n"));
    const said = lines.map((each) => each.replace(/\\s+/g, " ").trim()).filter(Boolean);
    return said.map((each) => (/[.!?:,;…。？！؟،]$/.test(each) ? each : `${each}.`)).join(" ").slice(0, 300);
  };
  return {
    elements: [...document.querySelectorAll("deniable-survey, deniable-question")].map((each) => ({
        tag: each.localName,
        src: each.getAttribute("src") ?? "",
        isDefined: !!customElements.get(each.localName),
        isIsolated: each.hasAttribute("isolated") && each.getAttribute("isolated") !== "false",
        isInForm: !!each.closest("form") || !!each.getAttribute("form"),
        said: read(each.shadowRoot),
        language: each.closest("[lang]")?.lang ?? "",
    })),
    scripts: [...document.scripts].map(({ src, type, integrity, text }) => ({
        src, type, integrity, isInline: !src && !!text.trim() && !/json|importmap/.test(type),
    })),
    frames: [...document.querySelectorAll("iframe")].map(({ src }) => src),
    isSecure: isSecureContext,
    ...deniableSeen,
  };
}"""

_REACH = """(address) => fetch(address, { credentials: "omit" }).then(({ ok }) => ok, () => false)"""


@dataclass(frozen=True)
class Violation:
    """What a policy kept a page from: the directive, and the address or keyword that it blocked."""

    directive: str
    blocked: str


@dataclass(frozen=True)
class Script:
    """A script of a page, by its address; empty for one within the page."""

    address: str
    kind: str
    integrity: str


@dataclass(frozen=True)
class SeenElement:
    """An element as it stands in a page.

    Attributes
    ----------
    tag, link : str
        Its name, and the link of its survey.
    is_defined : bool
        Whether a script has made an element of the tag.
    is_isolated : bool
        Whether it is to show the survey in a frame, or the page holds that frame itself.
    is_in_form : bool
    told : str
        The last of its events without ``deniable-``: ready, closed, error or queued; empty for none.
    said : str
        The beginning of what people read in it.
    language : str
        The attribute ``lang`` of the page around it; empty for none.
    reaches : bool or None
        Whether the page can fetch the survey; None where that was not tried, because the element did.
    frame : str
        The address of the collector's frame that the page holds and the element stands in; empty for the page itself.
    """

    tag: str
    link: str
    is_defined: bool
    is_isolated: bool
    is_in_form: bool
    told: str
    said: str
    language: str = ""
    reaches: bool | None = None
    frame: str = ""


@dataclass(frozen=True)
class PageVisit:
    """What happened in a page.

    Attributes
    ----------
    address : str
        Where the browser ended up.
    elements : tuple of SeenElement
    scripts : tuple of Script
    violations : tuple of Violation
    lines : tuple of str
        Errors on the console.
    failed : tuple of str
        Addresses that could not be loaded.
    is_secure : bool
        Whether the page has a secure context.
    has_tag : bool
        Whether the markup that came from the server has one of the tags.
    frames : tuple of str
        The addresses of surveys in frames of the page, whether they could be loaded or not.
    """

    address: str
    elements: tuple[SeenElement, ...]
    scripts: tuple[Script, ...]
    violations: tuple[Violation, ...] = ()
    lines: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    is_secure: bool = True
    has_tag: bool = False
    frames: tuple[str, ...] = ()


def visit(address: str, wait: float = WAIT, longest: float = LONGEST) -> PageVisit:
    """Open a page, wait until its elements say what they are, and look; press nothing, and send no report.

    Parameters
    ----------
    address : str
    wait : float
        Seconds that elements have.
    longest : float
        Seconds after which the browser is ended.

    Raises
    ------
    NotInstalled
        If playwright is not there.
    ParameterError
        If the page cannot be opened.
    """
    try:
        from playwright.sync_api import Error, sync_playwright
    except ModuleNotFoundError:
        raise NotInstalled("playwright") from None
    if not address.startswith(("http://", "https://")):
        raise ParameterError(
            f"page: must be an address that starts with http:// or https://, got {address!r:.80}; for a file, run "
            "'python3 -m http.server 8090 --bind 127.0.0.1' in its folder, and check http://127.0.0.1:8090/NAME.html"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=list(FLAGS))
        seized = Event()
        watchdog = Timer(longest, _end, (_process_of(browser), seized))
        watchdog.start()
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 900}, locale="en-GB")
            return _visit(page, address, wait)
        except Error as error:
            got = f"one that seized the browser for {longest:g} s" if seized.is_set() else _reason(error)
            raise ParameterError(f"page: must be one that can be opened, got {got}") from None
        finally:
            watchdog.cancel()
            browser.close()


def _process_of(browser: Browser) -> int:
    """The number of the browser's process."""
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    return next(int(each["id"]) for each in processes if each["type"] == "browser")


def _end(process: int, seized: Event) -> None:
    seized.set()
    # What is evaluated in a seized page never returns, and a browser cannot be asked to stop from another thread.
    with suppress(ProcessLookupError):
        os.kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _reason(error: Exception) -> str:
    """The browser's own name of an error, such as net::ERR_CONNECTION_REFUSED."""
    found = re.search(r"net::[A-Z_]+", str(error))
    return found[0] if found else str(error).splitlines()[0][:120]


def _visit(page: Page, address: str, wait: float) -> PageVisit:
    lines: list[str] = []
    failed: list[str] = []
    page.on("console", lambda line: lines.append(line.text) if line.type == "error" else None)
    second: set[str] = set()  # the second script of a survey, while it is under way
    page.on("request", lambda request: second.add(request.url) if SECOND_SCRIPT in request.url else None)
    page.on("requestfinished", lambda request: second.discard(request.url))
    page.on("requestfailed", lambda request: second.discard(request.url))
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("response", lambda each: failed.append(each.url) if each.status >= 400 else None)
    # Nobody presses anything; a page that sends a report by itself does not get it through either.
    page.route("**/api/v1/surveys/*/reports", lambda route: route.abort())
    page.add_init_script(_LISTEN)
    response = page.goto(address, wait_until="load")
    has_tag = "<deniable-" in _source(response)  # at once: browsers forget the source of a page that leads on
    for tenth in range(int(wait * 10)):
        if looked := _looked(page):
            runs = any(each["isDefined"] for each in looked["elements"])
            if (_is_settled(looked) and not second) or (not runs and tenth >= 10 * WAIT_FOR_SCRIPT):
                break
        page.wait_for_timeout(100)
    elements = [each for frame in page.frames for each in _elements_in(frame, page)]
    if (looked := _looked(page)) is None:
        raise ParameterError("page: must be one that stays, got one that leads on to another again and again")
    return PageVisit(
        page.url,
        tuple(elements),
        tuple(Script(each["src"], each["type"], each["integrity"]) for each in looked["scripts"] if _runs(each)),
        tuple(Violation(each["directive"], each["blocked"]) for each in looked["violations"]),
        tuple(lines),
        tuple(failed),
        looked["isSecure"],
        has_tag,
        tuple(each for each in looked["frames"] if FRAME.search(each)),
    )


def _source(response: Response | None) -> str:
    """The page as it came; nothing where the browser has forgotten it already."""
    from playwright.sync_api import Error

    with suppress(Error):
        return response.text() if response else ""
    return ""


def _looked(page: Page) -> dict[str, Any] | None:
    """What stands in the page now; None while it leads on to another one, by a script or a refresh."""
    from playwright.sync_api import Error

    try:
        return dict(page.evaluate(_LOOK))
    except Error as error:
        if "context was destroyed" in str(error):
            return None
        raise


def _runs(script: dict[str, Any]) -> bool:
    return bool(script["src"]) or script["isInline"]


def _is_settled(looked: dict[str, Any]) -> bool:
    """Whether there are elements, and every one has said what it is."""
    told = {each["place"] for each in looked["events"] if each["kind"] != "queued"}
    return all(place in told for place, _ in enumerate(looked["elements"])) and bool(looked["elements"])


def _elements_in(frame: Frame, page: Page) -> Sequence[SeenElement]:
    """The elements of the page, or of a frame of a collector that it shows by itself."""
    is_page = frame == page.main_frame
    # The frame of an isolated element is told of by the element.
    if not is_page and (not FRAME.search(frame.url) or page.locator("deniable-survey").count()):
        return ()
    with suppress(Exception):  # a frame may go while it is looked at
        looked = frame.evaluate(_LOOK)
        found = [
            _element(each, place, looked, "" if is_page else frame.url) for place, each in enumerate(looked["elements"])
        ]
        return [each if each.told else _tried(each, frame) for each in found] if is_page else found
    return ()


def _element(each: dict[str, Any], place: int, looked: dict[str, Any], frame: str) -> SeenElement:
    told = [event["kind"] for event in looked["events"] if event["place"] == place]
    return SeenElement(
        each["tag"],
        each["src"],
        each["isDefined"],
        each["isIsolated"] or bool(frame),
        each["isInForm"],
        told[-1] if told else "",
        each["said"],
        frame=frame,
    )


def _tried(element: SeenElement, frame: Frame) -> SeenElement:
    """The element with what the page itself reaches, which also makes its policy say what it keeps it from."""
    address = re.sub(r"/s/([a-z2-7]{26}).*", r"/api/v1/surveys/\1", element.link)
    return replace(element, reaches=bool(address != element.link and frame.evaluate(_REACH, address)))

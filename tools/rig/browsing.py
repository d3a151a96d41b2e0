"""What browser tests share: people who answer, a witness of all that a page does, other sites."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from playwright.sync_api import Frame, Locator, Page, Request, Route, expect

from deniable import Survey, read_survey
from deniable_server.place.pages import SCRIPT
from deniable_server.web.embedding import bundles
from tools.rig.collectors import Collector
from tools.rig.patience import PATIENCE
from tools.rig.serving import running
from tools.rig.survey_files import question_toml, survey_toml

FORGET = """() => new Promise((done, fail) => {
    const request = indexedDB.deleteDatabase("deniable");
    request.onsuccess = done;
    request.onerror = fail;
})"""
"""Forget all that this device remembers."""


DRUGS = ["alcohol", "amphetamine", "café-crème", "cannabis", "cocaine", "codeine", "crack", "ecstasy", "heroin"]
DRUGS += ["ketamine", "khat", "LSD", "methadone", "mescaline", "opium", "tobacco"]


def long_survey(kind: str, options: list[str] | None = None) -> Survey:
    """One question of many options, and one more."""
    drug = question_toml("drug", kind, "Which?", options=options or DRUGS, epsilon=1)
    other = question_toml("other", "yes-no", "Other?", epsilon=1)
    return read_survey(survey_toml(f"Long lists of {kind}", drug, other, layout="page"))


HASTE = """{
    const wait = setTimeout;
    window.setTimeout = (act, time = 0, ...more) => wait(act, time / 50, ...more);
}"""
"""To run before a page does: what it waits for by the clock comes fifty times as soon, in the same order."""

NO_STORAGE = """for (const name of ["localStorage", "indexedDB"]) {
    Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError") } });
}"""
"""To run before a page does: its browser keeps nothing for it."""


def remembered(change: str = "") -> str:
    """Script that gives what this device remembers, after ``change``, the body of a function of ``state``."""
    return """() => new Promise((done, fail) => {
        const request = indexedDB.open("deniable", 1);
        request.onupgradeneeded = () => request.result.createObjectStore("memory");
        request.onerror = fail;
        request.onsuccess = () => {
            const transaction = request.result.transaction("memory", "readwrite");
            const records = transaction.objectStore("memory");
            let state;
            records.get(0).onsuccess = ({ target }) => {
                state = target.result;
                if (IS_CHANGE) records.put(state = ((state) => { CHANGE })(state), 0);
            };
            transaction.onabort = fail;
            transaction.oncomplete = () => { request.result.close(); done(state ?? null); };
        };
    })""".replace("IS_CHANGE", "true" if change else "false").replace("CHANGE", change)


def scripts(collector: Collector) -> str:
    """The bundles of both elements, for a page of another site."""
    source = '<script type="module" src="{}/client/{}"></script>'
    return "".join(source.format(collector.url, name) for name in bundles() if name != SCRIPT)


def wait_until(page: Page | Frame, holds: str) -> None:
    """Wait until a script gives true; `Page.wait_for_function` takes a promise for true."""
    wait_for(page, lambda: page.evaluate(holds), holds)


def wait_for(page: Page | Frame, happened: Callable[[], object], what: str) -> None:
    """Wait until something happened that a page tells, which it does only while it is listened to."""
    give_up = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < give_up, f"waited in vain: {what}"
        page.wait_for_timeout(50)


def run_clock(page: Page, seconds: int, until: Callable[[], object]) -> None:
    """Let a page's own clock run until something happened, for so many seconds at most.

    A clock that jumps a minute ends every request that is under way, because its 30 seconds are over before anybody
    could answer. Steps of two seconds with a pause leave the network its time.
    """
    for _ in range(0, seconds, 2):
        page.clock.run_for(2_000)
        page.wait_for_timeout(20)
        if until():
            return
    wait_for(page, until, f"what should happen within {seconds} seconds of the page's clock")


def let_it_draw(*pages: Page | Frame) -> None:
    """Wait for two frames, after which whoever observes sizes has been told of all that changed before.

    Of a frame and the page around it, in this order, the page has then heard what the frame told it.
    """
    for page in pages:
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


ANOTHER_PERSON = f"""async () => {{
    await ({FORGET})();
    const element = document.querySelector("deniable-survey");
    element.replaceWith(element.cloneNode(true));
}}"""
"""Forget this device's report and put a new element in the place of the old one."""

GIVE = """async answers => {
    const element = document.querySelector("deniable-survey");
    const find = async (selector) => {
        for (let found; ; await new Promise((next) => setTimeout(next, 1))) {
            if ((found = element.shadowRoot?.querySelectorAll(selector))?.length) return [...found];
        }
    };
    (await find(".start button")).at(-1).click();
    const asked = new Set();
    while (!element.shadowRoot.querySelector(".review button[part]")) {
        // On a page the last to come, one at a time that of the question on the screen.
        const places = ["form > .stack > button:not([type])", "fieldset:not([hidden]) .steps button:not([type])"];
        const [onward] = await find(places.join());
        for (const set of await find("fieldset:not([hidden])")) {
            if (asked.has(set)) continue;
            const inputs = [...set.querySelectorAll("input")];
            const given = answers[asked.size] ?? answers[inputs[0].name];
            asked.add(set);
            if (inputs[0].type === "number") inputs[0].value = given;
            else [given].flat().forEach((chosen) => inputs[chosen].click());
        }
        onward.click();
        await new Promise((next) => setTimeout(next, 1));
    }
    const done = new Promise((resolve) => element.addEventListener("deniable-complete", resolve, { once: true }));
    (await find(".review button[part]")).at(-1).click();
    await done;
}"""
"""Press Start, answer by option numbers in either layout, go on to the review, press Send, and wait for the receipt.

The answers are a list, in the order of the questions, or an object from their ids, where not all may be asked."""


def numbers_of(survey: Survey, answers: Mapping[str, Any]) -> list[Any]:
    """Answers as `GIVE` takes them: options by their places, numbers as they are."""
    numbers: list[Any] = []
    for question in survey.questions:
        given = answers[question.id]
        if question.type == "ticks":
            numbers.append([question.options.index(option) for option in given])
        else:
            numbers.append(given if question.type == "number" else question.options.index(given))
    return numbers


ARRIVED = "You are done"
MORE = "More about my reply"
"""The fold of a receipt, in which all others are."""


@dataclass
class Witness:
    """Writes down every request, console line and error of a page."""

    requests: list[Request] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, page: Page) -> Witness:
        witness = cls()
        page.on("request", lambda request: witness.requests.append(request))
        page.on("console", lambda message: witness.lines.append(message.text))
        page.on("pageerror", lambda error: witness.lines.append(str(error)))
        return witness

    def posts(self) -> list[bytes]:
        """Bodies of everything that was sent."""
        return [request.post_data_buffer or b"" for request in self.requests if request.method != "GET"]


def serve_with(page: Page, link: str, attribute: str, value: str | None) -> None:
    """Serve a survey's page with another text in an attribute of its element, or without that attribute."""

    def alter(route: Route) -> None:
        response = route.fetch()
        written = "" if value is None else f' {attribute}="{escape(value)}"'
        markup, times = re.subn(rf""" {attribute}=("|').*?\1""", lambda _: written, response.text(), flags=re.DOTALL)
        assert times == 1, f"{link}: must have {attribute} once, got {times}"
        route.fulfill(response=response, body=markup)

    page.route(link, alter)


REVIEW = "Check my answers"


def is_stepped(survey: Survey) -> bool:
    """Whether its questions come one at a time."""
    return survey.layout == "steps"


def start(page: Page | Frame) -> None:
    """Press Start; the first question is on the screen when this returns, which takes a second script."""
    page.get_by_role("button", name="Start", exact=True).click()
    page.locator("fieldset:visible").first.wait_for()


def framed(page: Page) -> Frame:
    """The one frame with a survey in it, once its first screen stands there."""
    expect(page.frame_locator("iframe").get_by_role("button", name="Start", exact=True)).to_be_visible()
    (frame,) = [each for each in page.frames if "/embed/" in each.url]
    return frame


def choose(page: Page | Frame, survey: Survey, answers: Mapping[str, Any]) -> None:
    """Give answers of every type as a person would; one at a time, also go on to the last question."""
    for question in survey.questions:
        place = page.locator("fieldset").filter(has_text=question.text)
        given = answers[question.id]
        if question.type == "ticks":
            for label in given:
                place.get_by_role("checkbox", name=label).check()
        elif question.type == "number":
            place.get_by_role("spinbutton").fill(str(given))
        else:
            label = given.capitalize() if question.type == "yes-no" else given
            place.get_by_role("radio", name=label, exact=True).check()
        if is_stepped(survey) and question is not survey.questions[-1]:
            page.get_by_role("button", name="Continue", exact=True).click()


def press_send(page: Page | Frame, survey: Survey, answers: Mapping[str, Any]) -> None:
    """Start, choose, look at it once more, send."""
    page.get_by_role("button", name="Start", exact=True).click()
    choose(page, survey, answers)
    page.get_by_role("button", name=REVIEW).click()
    page.get_by_role("button", name="Send", exact=True).click()


def answer(page: Page | Frame, survey: Survey, answers: Mapping[str, Any]) -> None:
    """Answer as a person would, up to the receipt."""
    press_send(page, survey, answers)
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()


@contextmanager
def another_site(html: str, headers: Mapping[str, str] | None = None) -> Iterator[str]:
    """A page of another origin."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_arguments: object) -> None:
            pass

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        yield f"http://{address}/"


EVERYTHING_KEPT = """async () => JSON.stringify({
    local: {...localStorage}, session: {...sessionStorage}, cookies: document.cookie, name: window.name,
    databases: (await indexedDB.databases()).map(({ name }) => name), caches: await caches.keys(),
    url: location.href, history: history.state, memory: await (REMEMBERED)(),
})""".replace("REMEMBERED", remembered())
"""All that a page can leave behind in a browser."""

GIVE_OF_ALL = f"""async people => {{
    const kept = [];
    for (const answers of people) {{
        await ({GIVE})(answers);
        // The way back to where the survey began takes a moment.
        while (history.state !== null) await new Promise((next) => setTimeout(next, 5));
        kept.push(await ({EVERYTHING_KEPT})());
        await ({ANOTHER_PERSON})();
    }}
    return kept;
}}"""
"""Answer as one person after another, each as `GIVE` does on a device of their own; what each of them leaves behind."""


def everything_kept(page: Page | Frame) -> str:
    """All that a page has left behind in a browser by now."""
    kept: str = page.evaluate(EVERYTHING_KEPT)
    return kept


def unfold(element: Locator, *, as_people_can: bool = False) -> None:
    """Open everything that opens in an element, also what stands in what was opened.

    Of folds that open alone all are open in the end, or with ``as_people_can`` the last one. What is in a fold is made
    when it opens first, so that each of them is opened once then.
    """
    # The fold of a receipt has no name, and what is in it from the beginning.
    new = "details:not([open]) > summary:only-child, details:not([open], [name]) > summary"
    closed = element.locator(new if as_people_can else "details:not([open]) > summary")
    closed.first.wait_for()  # those below Start are made after the first screen was painted
    while closed.count():
        if not as_people_can:
            closed.first.evaluate("summary => summary.parentElement.name = ''")
        closed.first.click()
        let_it_draw(element.page)


def all_screens(page: Page, link: str, survey: Survey) -> Iterator[str]:
    """Every screen of a survey, one after another, in whatever language."""
    page.route("**/reports", lambda route: route.fulfill(status=500, body="{}"))
    page.goto(link)
    element = page.locator("deniable-survey")
    expect(element.locator("h1").last).to_be_visible()
    expect(element.locator(".chance")).to_be_attached()  # made after the first screen was painted
    yield "consent"
    unfold(element)
    element.locator(".chance .tries button").last.click()
    expect(element.locator(".chance li").first).to_be_visible()
    yield "chance"
    element.locator(".start button").click()
    onward = element.locator("form > .stack > button, .steps button:first-child").locator("visible=true")
    expect(onward).to_be_visible()
    yield "questions"
    onward.click()
    # One at a time the first question says what is missing, on a page a summary lists it.
    if is_stepped(survey):
        expect(element.get_by_role("alert")).to_be_visible()
    else:
        expect(element.locator("[role=alert] h2")).to_be_focused()
    yield "errors"
    page.evaluate(
        """answers => document.querySelector("deniable-survey").shadowRoot.querySelectorAll("fieldset").forEach(set => {
            const inputs = [...set.querySelectorAll("input")];
            if (inputs[0].type === "number") inputs[0].value = 7; else inputs[1].click();
        })"""
    )
    onward.click()
    for place in range(1, len(survey.questions) if is_stepped(survey) else 1):
        expect(element.locator("fieldset").nth(place)).to_be_focused()
        yield f"question {place + 1}"
        onward.click()
    expect(element.locator(".review h1")).to_be_focused()
    yield "review"
    element.locator(".review button[part]").click()
    expect(element.locator("h1").last).to_be_focused()
    yield "waiting"
    page.unroute("**/reports")
    element.locator(".card button[part]").click()
    expect(element.locator("a[href$=results]")).to_be_visible()
    unfold(element)
    expect(element.locator("details pre")).to_have_count(4)
    yield "receipt"


FIVE_QUESTIONS = survey_toml(
    "Five questions",
    question_toml("affair", "yes-no", "Have you had an affair?", truth="1/2"),
    question_toml(
        "town", "choice", "Where do you live?", options=["Aville", "Bville"], decline="Never to be told", epsilon=1
    ),
    question_toml("drugs", "ticks", "What have you tried?", options=["cannabis", "heroin"], epsilon=1),
    question_toml("trust", "scale", "How much do you trust us?", lo=1, hi=3, epsilon=1, goal="shares"),
    question_toml("drinks", "number", "How many drinks last week?", lo=3, hi=5, epsilon=1),
    layout="page",
)

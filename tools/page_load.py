"""Main-thread work from page load to the first question, on a slow device: ``python -m tools.page_load``.

Chromium with its processor slowed down four times; processor time of the tasks of the page's main thread, by
Chromium's own count, which starts anew with the task that opens the page. Start is pressed when the consent card has
been painted, the questions after the first are kept back, and the count is read when nothing is left to do. Beside it
the same page up to all five questions, up to the consent card, and without its script: the difference is what is done
from the loaded page to the first question. And all of it at full speed. Of another survey, what buying a blind token
adds to the same by invitation.

The link is opened from another page of the collector: in the same process, so that all of it is counted, and with an
empty cache. Chromium slows a thread down by a thread that interrupts it, and lets it spin for three times as long as it
ran, waited for others or was kept from its processor. So the main thread gets a processor of its own; the interrupting
thread, the rest of Chromium and the collector share the other one, and have come to rest before. A loop of arithmetic
shows how much slower the page then is.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from urllib.parse import urljoin

from playwright.sync_api import Browser, Page, sync_playwright

from deniable import Survey, read_survey
from deniable_server.store.sqlite.store import SqliteStore
from tools.programs import CHROMIUM_FLAGS, chromium
from tools.rig.access import invited_survey, publish_to, unlinkable_survey
from tools.rig.collectors import Collector, running_collector
from tools.rig.surveys import FIVE_TYPES

ROUNDS = 15
SLOWDOWNS = (4, 1)
IDLE_MS = 900
REST_MS = 300
MOST_RESTS = 40
LITTLE = 0.025  # seconds of processor time
FIRST, SECOND = 0, 1  # processors

Prepare = Callable[[Page], object]
Link = Callable[[], str]
"""The link of the next person."""

PRESS_START = """
    addEventListener("deniable-ready", ({ target }) => requestAnimationFrame(() => setTimeout(() => {
      [...target.shadowRoot.querySelectorAll(".start button")].at(-1).click();
    }, 0)));
"""

KEEP_THE_OTHERS_BACK = """
    const later = setTimeout; // without a time, the element puts off whatever comes after the first question
    window.setTimeout = (act, ms) => ms === undefined ? 0 : later(act, ms);
"""

ARITHMETIC = """() => {
    const some = (times) => { let n = 0; for (let i = 0; i < times; i++) n = (31 * n + i) | 0; return n; };
    some(1e6); // compiled
    const start = performance.now();
    some(3e6);
    return performance.now() - start;
}"""


def load(browser: Browser, link: str, prepare: Prepare, questions: int, slowdown: int) -> tuple[float, float]:
    """Milliseconds that the main thread worked until so many questions stood there, and those of the arithmetic."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(urljoin(link, "/livez"))
    prepare(page)
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # not the time that others had the processor
    let_come_to_rest(browser, page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
    processes = own_processor(browser)
    page.wait_for_timeout(REST_MS)
    page.goto(link, wait_until="commit")
    keep_aside(processes)
    page.wait_for_timeout(IDLE_MS)
    metrics = session.send("Performance.getMetrics")["metrics"]
    work = next(1000 * each["value"] for each in metrics if each["name"] == "TaskDuration")
    if (stand := page.locator("fieldset").count()) != questions:
        raise RuntimeError(f"{link}: {questions} questions were to stand there, got {stand}")
    arithmetic: float = page.evaluate(ARITHMETIC)
    if own_processor(browser) != processes:
        raise RuntimeError(f"{link}: opened in another process, whose work was not counted from its start")
    context.close()
    return work, arithmetic


def let_come_to_rest(browser: Browser, page: Page) -> None:
    """Wait until no process of Chromium works: with every window it loads pages of its own."""
    session = browser.new_browser_cdp_session()
    spent = 0.0
    for _ in range(MOST_RESTS):
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        before, spent = spent, sum(process["cpuTime"] for process in processes)
        if spent - before < LITTLE:
            session.detach()
            return
        page.wait_for_timeout(REST_MS)
    raise RuntimeError(f"Chromium: must come to rest within {MOST_RESTS * REST_MS / 1000:g} s")


def own_processor(browser: Browser) -> set[int]:
    """Give the main threads of pages the second processor, for them alone; their processes."""
    session = browser.new_browser_cdp_session()
    pages = set()
    for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        arguments = Path(f"/proc/{process['id']}/cmdline").read_bytes()
        if process["type"] == "renderer" and b"webui" not in arguments:  # not the browser's own pages
            pages.add(process["id"])
            os.sched_setaffinity(process["id"], {SECOND})
    session.detach()
    return pages


def keep_aside(processes: set[int]) -> None:
    """Give the first processor to the threads that slow pages down; every page that opens starts another one."""
    for process in processes:
        for thread in Path(f"/proc/{process}/task").iterdir():
            if (thread / "comm").read_text().startswith("CPUThrottling"):
                os.sched_setaffinity(int(thread.name), {FIRST})


def without_script(page: Page) -> None:
    """Keep the element from the page."""
    page.route("**/client/deniable.js", lambda route: route.abort())


def to_first(page: Page) -> None:
    """Press Start, and keep all but the first question back."""
    page.add_init_script(KEEP_THE_OTHERS_BACK + PRESS_START)


def personal(collector: Collector, survey: Survey) -> Link:
    """A link of their own for everybody."""
    with closing(SqliteStore(collector.database)) as store:
        made = iter(publish_to(store, survey, ROUNDS * len(SLOWDOWNS)))
    return lambda: f"{collector.url}/s/{survey.id}#invitation={next(made)}"


def measure() -> dict[str, list[float]]:
    """Several loads of a survey of five types, in turn: milliseconds of each."""
    survey = read_survey(FIVE_TYPES)
    os.sched_setaffinity(0, {FIRST})  # and whatever is started from here
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        playwright = stack.enter_context(sync_playwright())
        collector = stack.enter_context(running_collector(place))
        link = partial(collector.publish, survey)
        invited, unlinkable = (personal(collector, each()) for each in (invited_survey, unlinkable_survey))
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        ways: dict[str, tuple[Link, Prepare, int]] = {
            "to the first question": (link, to_first, 1),
            "to all questions": (link, lambda page: page.add_init_script(PRESS_START), len(survey.questions)),
            "to the consent card": (link, lambda _: None, 0),
            "the page without its script": (link, without_script, 0),
            "by invitation": (invited, to_first, 1),
            "by blind token": (unlinkable, to_first, 1),
        }
        done: dict[str, list[float]] = {}
        for slowdown in SLOWDOWNS:
            for _ in range(ROUNDS):
                work = {}
                for way, (next_link, prepare, questions) in ways.items():
                    work[way], work["arithmetic"] = load(browser, next_link(), prepare, questions, slowdown)
                work["element and library"] = work["to the first question"] - work["the page without its script"]
                work["buying a blind token"] = work["by blind token"] - work["by invitation"]
                for way, each in work.items():
                    done.setdefault(f"{way}, {slowdown}x", []).append(each)
        browser.close()
    return done


if __name__ == "__main__":
    for what, rounds in measure().items():
        values = sorted(rounds)
        print(f"{what:32} median {statistics.median(values):6.1f} ms, {values[0]:.1f} to {values[-1]:.1f}")

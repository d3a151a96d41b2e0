"""Main-thread work from page load to the first question, on a slow device: ``python tests/page_load.py``.

Chromium with its processor slowed down four times; processor time of the tasks of the page's main thread, by
Chromium's own count, from the moment the link is opened. Start is pressed when the consent card has been painted, the
questions after the first are kept back, and the count is read when nothing is left to do. Beside it the same page up to
the consent card, and without its script: the difference is what is done from the loaded page to the first question. And
all of it at full speed.

The link is opened from another page of the collector: in the same process, whose count goes on, and with an empty
cache. Chromium slows a thread down by letting it spin for three times as long as it ran or waited for others. So the
main thread gets a processor of its own; the rest of Chromium and the collector share the other one.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urljoin

from playwright.sync_api import Browser, Page, sync_playwright

from conftest import FIVE_TYPES, running_collector
from deniable import read_survey
from tools import CHROMIUM_FLAGS, chromium

ROUNDS = 15
SLOWDOWNS = (4, 1)
IDLE_MS = 900
FIRST, SECOND = 0, 1  # processors

Prepare = Callable[[Page], object]

PRESS_START = """
    const later = setTimeout; // the element puts off by 20 ms whatever comes after the first question
    window.setTimeout = (act, ms) => ms === 20 ? 0 : later(act, ms);
    addEventListener("deniable-ready", ({ target }) => requestAnimationFrame(() => later(() => {
      target.shadowRoot.querySelector(".card > button").click();
    })));
"""


def main_thread_work(browser: Browser, link: str, prepare: Prepare, questions: int, slowdown: int) -> float:
    """Milliseconds that the main thread worked until so many questions stood there, nothing cached."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(urljoin(link, "/livez"))
    prepare(page)
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # not the time that others had the processor
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
    process = own_processor(browser)
    page.wait_for_timeout(300)

    def so_far() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(1000 * each["value"] for each in metrics if each["name"] == "TaskDuration")

    before = so_far()
    page.goto(link, wait_until="commit")
    page.wait_for_timeout(IDLE_MS)
    after = so_far()
    if own_processor(browser) != process:
        raise RuntimeError(f"{link}: opened in another process, whose work was not counted from its start")
    if (stand := page.locator("fieldset").count()) != questions:
        raise RuntimeError(f"{link}: {questions} questions were to stand there, got {stand}")
    context.close()
    return after - before


def own_processor(browser: Browser) -> set[int]:
    """Give the main threads of pages the second processor; their processes."""
    session = browser.new_browser_cdp_session()
    pages = set()
    for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        arguments = Path(f"/proc/{process['id']}/cmdline").read_bytes()
        if process["type"] == "renderer" and b"webui" not in arguments:  # not the browser's own pages
            os.sched_setaffinity(process["id"], {SECOND})
            pages.add(process["id"])
    session.detach()
    return pages


def without_script(page: Page) -> None:
    """Keep the element from the page."""
    page.route("**/client/deniable.js", lambda route: route.abort())


def measure() -> dict[str, list[float]]:
    """Several loads of a survey of five types, in turn."""
    survey = read_survey(FIVE_TYPES)
    os.sched_setaffinity(0, {FIRST})  # and whatever is started from here
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        playwright = stack.enter_context(sync_playwright())
        collector = stack.enter_context(running_collector(place))
        link = collector.publish(survey)
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        ways: dict[str, tuple[Prepare, int]] = {
            "to the first question": (lambda page: page.add_init_script(PRESS_START), 1),
            "to the consent card": (lambda _: None, 0),
            "the page without its script": (without_script, 0),
        }
        done: dict[str, list[float]] = {}
        for slowdown in SLOWDOWNS:
            for _ in range(ROUNDS):
                work = {way: main_thread_work(browser, link, *how, slowdown) for way, how in ways.items()}
                work["element and library"] = work["to the first question"] - work["the page without its script"]
                for way, each in work.items():
                    done.setdefault(f"{way}, {slowdown}x", []).append(each)
        browser.close()
    return done


if __name__ == "__main__":
    for what, rounds in measure().items():
        values = sorted(rounds)
        print(f"{what:32} median {statistics.median(values):6.1f} ms, {values[0]:.1f} to {values[-1]:.1f}")

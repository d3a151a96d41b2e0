"""Main-thread work from page load to the first question, on a slow device: ``python tests/page_load.py``.

Chromium with its processor slowed down four times; processor time of the tasks of the page's main thread, by
Chromium's own count, from an empty page to the first frame with a question, Start pressed in between. Beside it the
same page without its script: what is between the two is the work of element and library.

Chromium slows a thread down by letting it spin for three times as long as it ran or waited for others. So the main
thread gets a processor of its own; the rest of Chromium and the collector share the other one.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from conftest import FIVE_TYPES, Collector, free_port, wait_until_ready
from deniable import read_survey
from tools import CHROMIUM_FLAGS, chromium

ROUNDS = 21
SLOWDOWN = 4
FIRST, SECOND = 0, 1  # processors

PRESS_START = """
    addEventListener("deniable-ready", ({ target }) => target.shadowRoot.querySelector(".card > button").click());
    addEventListener("deniable-start", () => requestAnimationFrame(() => setTimeout(end)));
"""
PRESS_NOTHING = 'addEventListener("load", () => requestAnimationFrame(() => setTimeout(end)));'


def main_thread_work(browser: Browser, link: str, script: str, slowdown: float = SLOWDOWN) -> float:
    """Milliseconds that the main thread worked until the script called ``end``, nothing cached."""
    context = browser.new_context()
    page = context.new_page()
    if script is PRESS_NOTHING:
        page.route("**/client/deniable.js", lambda route: route.abort())
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # not the time that others had the processor
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})

    def so_far() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(1000 * each["value"] for each in metrics if each["name"] == "TaskDuration")

    # Where the debugger stops the page, it does nothing more until it was asked.
    page.add_init_script(f"if (location.host) {{ const end = () => {{ debugger; }}; {script} }}")
    page.goto("about:blank")
    session.send("Debugger.enable")
    stopped: list[object] = []
    session.on("Debugger.paused", lambda event: stopped.append(event))
    own_processor(browser)
    before = so_far()
    page.goto(link, wait_until="commit")
    for _ in range(3000):
        if stopped:
            break
        page.wait_for_timeout(10)
    else:
        raise TimeoutError(f"{link}: the first question did not come within 30 seconds")
    after = so_far()
    session.send("Debugger.resume")
    context.close()
    return after - before


def own_processor(browser: Browser) -> None:
    """Give the main threads of pages the second processor."""
    session = browser.new_browser_cdp_session()
    for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        arguments = Path(f"/proc/{process['id']}/cmdline").read_bytes()
        if process["type"] == "renderer" and b"webui" not in arguments:  # not the browser's own pages
            os.sched_setaffinity(process["id"], {SECOND})
    session.detach()


def measure() -> dict[str, list[float]]:
    """Several loads of a survey of five types, in turn with the same page without its script."""
    survey = read_survey(FIVE_TYPES)
    os.sched_setaffinity(0, {FIRST})  # and whatever is started from here
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        log, port = Path(place) / "log", free_port()
        command = [sys.executable, "-m", "deniable", "serve", "--db", f"{place}/load.db", "--port", str(port)]
        with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
            collector = Collector(f"http://127.0.0.1:{port}", Path(place) / "load.db", process, log)
            wait_until_ready(collector)
            link = collector.publish(survey)
            browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
            both = [
                [main_thread_work(browser, link, script) for script in (PRESS_START, PRESS_NOTHING)]
                for _ in range(ROUNDS)
            ]
            browser.close()
            process.terminate()
    return {
        "to the first question": [whole for whole, _ in both],
        "the page without its script": [page for _, page in both],
        "element and library": [whole - page for whole, page in both],
    }


if __name__ == "__main__":
    for what, rounds in measure().items():
        values = sorted(rounds)
        print(f"{what:30} median {statistics.median(values):6.1f} ms, {values[0]:.1f} to {values[-1]:.1f}")

"""Main-thread work from page load to the first question, on a slow device: ``python tests/page_load.py``.

Chromium with its processor slowed down four times; the sum of what the main thread did, by its own count. It starts at
an empty page and ends with the first question on the screen, Start pressed in between.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from conftest import FIVE_TYPES, Collector, free_port, wait_until_ready
from deniable import read_survey
from tools import CHROMIUM_FLAGS, chromium

ROUNDS = 11
WORK = ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
SLOWDOWN = 4

PRESS_START = """
    addEventListener("deniable-ready", ({ target }) => target.shadowRoot.querySelector(".card > button").click());
    addEventListener("deniable-start", () => requestAnimationFrame(() => setTimeout(() => console.info("question"))));
"""


def main_thread_work(browser: Browser, link: str, has_scripts: bool = True) -> dict[str, float]:
    """Milliseconds of each kind of work of one load, nothing cached."""
    context = browser.new_context(java_script_enabled=has_scripts)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # not the time that others had the processor
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})

    def so_far() -> dict[str, float]:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return {each["name"]: 1000 * each["value"] for each in metrics if each["name"].endswith("Duration")}

    page.add_init_script(PRESS_START)
    page.goto("about:blank")
    before = so_far()
    if has_scripts:
        with page.expect_console_message():
            page.goto(link, wait_until="commit")
    else:
        page.goto(link)
        page.wait_for_timeout(500)
    after = so_far()
    context.close()
    return {name: after[name] - before[name] for name in WORK}


def measure() -> dict[str, list[dict[str, float]]]:
    """Several loads of a survey of five types, and of the same page with scripts off, for what any page costs."""
    survey = read_survey(FIVE_TYPES)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        log, port = Path(place) / "log", free_port()
        command = [sys.executable, "-m", "deniable", "serve", "--db", f"{place}/load.db", "--port", str(port)]
        with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
            collector = Collector(f"http://127.0.0.1:{port}", Path(place) / "load.db", process, log)
            wait_until_ready(collector)
            link = collector.publish(survey)
            browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
            both = [(main_thread_work(browser, link), main_thread_work(browser, link, False)) for _ in range(ROUNDS)]
            browser.close()
            process.terminate()
    return {"to the first question": [each for each, _ in both], "scripts off": [each for _, each in both]}


if __name__ == "__main__":
    for what, rounds in measure().items():
        print(what)
        for name in rounds[0]:
            values = sorted(each[name] for each in rounds)
            print(f"    {name:20} median {statistics.median(values):6.1f} ms, {values[0]:.1f} to {values[-1]:.1f}")

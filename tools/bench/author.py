"""How quickly an author's bench follows: ``python -m tools.bench.author [ROUNDS]``.

Surveys of 8 and of 60 questions of five types. The file is saved with another title and another epsilon, and the time
is taken until the respondents' page in its frame and the figures beside it are those of the new file. On the slider and
in the field for the number of people somebody presses keys, with the processor slowed to a quarter (Chromium's own
throttling); the Event Timing API says how long the next paint took. Beside the seconds stands what the server's process
took of the processor.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from deniable.table import format_table
from deniable_server.authors.preview import preview_server
from tools.programs import CHROMIUM_FLAGS, chromium
from tools.rig.survey_files import question_toml, survey_toml

SIZES = (8, 60)
ROUNDS = 7
LONGEST = 120
"""Seconds after which a page that was saved is given up."""

SLOWED = 4
PRESSES = 20

KINDS: tuple[tuple[str, dict[str, object]], ...] = (
    ("yes-no", {}),
    ("choice", {"options": ["never", "once", "often", "always"]}),
    ("ticks", {"options": ["alcohol", "cannabis", "cocaine"]}),
    ("scale", {"lo": 1, "hi": 5}),
    ("number", {"lo": 0, "hi": 30}),
)

WATCH = """
() => {
  window.paints = [];
  new PerformanceObserver((list) => list.getEntries().forEach(({ name, duration }) => {
    if (["keydown", "input"].includes(name)) window.paints.push(duration);
  })).observe({ type: "event", durationThreshold: 16 });
}
"""
"""Notes how long each key took to the next paint, in ms, rounded to 8 by the interface; below 16 it notes nothing."""


def file_of(questions: int, title: str, epsilon: float) -> str:
    """A survey file with questions of all types in turn, drawn from one epsilon."""
    asked = [
        question_toml(f"q{n}", KINDS[n % len(KINDS)][0], f"Question {n}?", **KINDS[n % len(KINDS)][1])
        for n in range(questions)
    ]
    return survey_toml(title, *asked, epsilon=epsilon, want=["shares"])


@contextmanager
def previewed(path: Path) -> Iterator[str]:
    """The address of a preview."""
    server = preview_server(path, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        path.write_text("", encoding="utf-8")  # or a request that waits for a change would outlive the server
        server.shutdown()
        server.server_close()


def saved(page: Page, path: Path, questions: int, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds until page and figures are new after each save, and those of the processor that this process took."""
    shown, seconds, used = page.frame_locator("iframe"), [], []
    for n in range(rounds):
        title, epsilon = f"Version {n}", round(1 + n / 4 + questions / 1000, 2)  # never solved before
        started, before = time.monotonic(), time.process_time()
        path.write_text(file_of(questions, title, epsilon), encoding="utf-8")
        figures = page.get_by_text(f"Epsilon of the whole survey: {epsilon:.2f}")
        # Playwright's own waits look again after 100, 250, 500 and 1,000 ms, which is as long as what is measured.
        while not (shown.get_by_role("heading", name=title).is_visible() and figures.is_visible()):
            if time.monotonic() - started > LONGEST:
                raise TimeoutError(f"the page of {questions} questions is not there {LONGEST} s after it was saved")
            time.sleep(0.01)
        seconds.append(time.monotonic() - started)
        used.append(time.process_time() - before)
    return seconds, used


def pressed(page: Page) -> list[float]:
    """Milliseconds from each key to the next paint, with the processor slowed."""
    page.evaluate(WATCH)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
    page.get_by_role("slider").focus()
    for n in range(PRESSES):
        page.keyboard.press("ArrowRight" if n < PRESSES // 2 else "ArrowLeft")
        page.wait_for_timeout(60)
    page.get_by_label("People who will answer").fill("")
    for key in "2500":
        page.keyboard.press(key)
        page.wait_for_timeout(200)
    page.wait_for_timeout(3000)
    slow: list[float] = page.evaluate("() => window.paints")
    # What the interface leaves out took less than 16 ms.
    return [*slow, *[8.0] * max(0, PRESSES + 4 - len(slow))]


def main(rounds: int) -> None:
    """Print the table."""
    rows = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        for questions in SIZES:
            path = Path(folder) / f"{questions}.toml"
            path.write_text(file_of(questions, "Version", 0.5), encoding="utf-8")
            with previewed(path) as address:
                page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-GB")
                page.goto(address)
                expect(page.get_by_role("slider")).to_be_visible(timeout=120_000)
                seconds, used = saved(page, path, questions, rounds)
                paints = pressed(page)
                page.close()
            rows.append(_row(questions, seconds, used, paints))
        browser.close()
    header = ("questions", "save to new page, s", "worst, s", "processor, s", "key to paint, ms", "worst, ms")
    print(format_table(header, rows, right=header))


def _row(questions: int, seconds: list[float], used: list[float], paints: list[float]) -> tuple[str, ...]:
    times = (statistics.median(seconds), max(seconds), statistics.median(used))
    return str(questions), *(f"{each:.2f}" for each in times), f"{statistics.median(paints):.0f}", f"{max(paints):.0f}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
    sys.stdout.flush()
    os._exit(0)  # threads of the linear solver, which threads of the server have started, would abort an orderly end

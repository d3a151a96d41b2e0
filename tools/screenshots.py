"""Take anew the pictures that the README shows, of the survey that stands in it: ``python -m tools.screenshots``.

Pictures of every screen of respondents are taken by `tools.gallery`.
"""

from __future__ import annotations

import io
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from deniable import Survey, read_survey
from deniable_client import Client
from deniable_client.rehearsal.people import make_people, read_truths
from tools.programs import CHROMIUM_FLAGS, chromium
from tools.rig.collectors import Collector, free_port, running_collector, wait_until_answered
from tools.rig.patience import PATIENCE

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"

PEOPLE = 2000
TRUTHS = ["affair=0.32", "religious=0.16,0.34,0.37,0.13"]
"""Shares of made-up people, about those of the readers of whom the demo tells."""

MOST_BYTES = 80_000
"""How large a picture of the README may be: whoever opens it waits for three of them."""


def take_for_readme() -> None:
    """The respondents' first screen, the author's bench and the results of a question."""
    (toml,) = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    toml = re.sub(r"(?m)^closes = .*\n", "", toml)  # a day that will be over when the pictures are taken again
    survey = read_survey(toml)
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place, browsing() as browser:
        file = Path(place) / "my-survey.toml"
        file.write_text(toml, encoding="utf-8")
        with running_preview(file) as address:
            save(_bench(browser, address), "bench.png")
        with running_collector(Path(place)) as collector:
            link = collector.publish(survey)
            save(_first_screen(browser, link), "respondent.png")
            answer_all(collector, survey)
            save(_results(browser, link), "results.png")


def _bench(browser: Browser, address: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 960})
    page.goto(address)
    expect(page.locator(".outlook .lead")).to_be_visible()
    people = page.get_by_label("People who will answer")
    people.fill(str(PEOPLE))
    people.blur()
    expect(page.locator("#of")).to_contain_text(f"{PEOPLE:,}")
    expect(page.frame_locator("iframe").locator("deniable-survey h1").last).to_be_visible()
    return page


def _first_screen(browser: Browser, link: str) -> Page:
    page = browser.new_page(viewport={"width": 420, "height": 960})
    page.goto(link)
    expect(page.locator("deniable-survey h1").last).to_be_visible()
    return page


def _results(browser: Browser, link: str) -> Page:
    page = browser.new_page(viewport={"width": 840, "height": 960})
    page.goto(f"{link}/results/affair")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    return page


def answer_all(collector: Collector, survey: Survey) -> None:
    """Made-up people answer through devices of their own, cohorts in turn; closing then releases all that they sent."""
    people = make_people(survey, PEOPLE, read_truths(TRUTHS, survey), None, random.Random(1974))
    client = Client(collector.url, connections=4)
    cohorts = survey.cohorts or (None,)
    reports = [client.randomize(survey, each, cohorts[place % len(cohorts)]) for place, each in enumerate(people)]
    with ThreadPoolExecutor(4) as senders:
        list(senders.map(lambda report: client.submit(survey, report), reports))
    assert collector.reports(survey) == PEOPLE
    close = [sys.executable, "-m", "deniable", "survey", "close", survey.id, "--db", str(collector.database)]
    subprocess.run(close, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser, until the block ends."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@contextmanager
def running_preview(file: Path) -> Iterator[str]:
    """``deniable survey preview`` of a file, in a process of its own; its address."""
    port, log = free_port(), file.with_name("preview.log")
    command = [sys.executable, "-m", "deniable", "survey", "preview", str(file), "--no-open", "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        wait_until_answered(f"http://127.0.0.1:{port}/", process, log)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait(PATIENCE)


def save(page: Page, name: str) -> None:
    """Keep what stands in the window of a page, in 64 colours: text stays sharp, and few bytes are enough."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    picture.save(PICTURES / name, optimize=True)
    size = (PICTURES / name).stat().st_size
    assert size <= MOST_BYTES, f"{name}: must have at most {MOST_BYTES} bytes, has {size}"
    page.close()


if __name__ == "__main__":
    take_for_readme()

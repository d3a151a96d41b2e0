"""The first question at a place beside that on a collector's own page: ``python -m tools.bench.first_question``.

From opening the link to the first question on the screen, by the page's own clock, in Chromium with its processor
slowed down four times and 390 pixels wide, with an empty cache; Start is pressed as soon as it can be. Every round
opens each page once, in another order. A ratio is the median of those within a round, so that both pages met one load.
``--against`` adds the page of another version's collector, such as one from before there were places. SurveyJS, which
has no first screen, stands beside them with the same questions on one page.
"""

from __future__ import annotations

import argparse
import datetime
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Browser, ViewportSize, sync_playwright

from deniable import Survey, read_survey
from deniable.table import format_table
from deniable_server.store.sqlite.letterbox import Letterbox
from tools.bench import surveyjs
from tools.bench.versions import build
from tools.programs import CHROMIUM_FLAGS, chromium
from tools.rig.collectors import free_port, running_collector, wait_until_answered
from tools.rig.patience import PATIENCE
from tools.rig.places import sealed_survey
from tools.rig.surveys import FIVE_TYPES

ROUNDS = 15
SLOWDOWN = 4
OWN_PAGE = "collector's own page"
SURVEYJS = "SurveyJS"
PHONE = ViewportSize(width=390, height=844)

TO_THE_FIRST_QUESTION = """
    addEventListener("deniable-ready", ({ target }) => requestAnimationFrame(() => setTimeout(() => {
      [...target.shadowRoot.querySelectorAll("button")].find(({ textContent }) => textContent === "Start").click();
    })));
    const look = () => {
      const question = document.querySelector("deniable-survey")?.shadowRoot?.querySelector("fieldset");
      if (question?.getClientRects().length) console.debug("arrived", performance.now());
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
"""

WITHOUT_LAYOUT = FIVE_TYPES.replace('layout = "page"\n', "")
"""For versions from before there were layouts, which always asked everything on one page."""

PUBLISH = """
import sys
from pathlib import Path
from deniable import read_survey
from deniable_server.store.sqlite.store import SqliteStore
survey = read_survey(sys.stdin.read())
store = SqliteStore(Path(sys.argv[1]))
store.publish(survey)
store.close()
print(survey.id)
"""
"""Run by another version: its own format of a survey."""


def milliseconds(browser: Browser, link: str, slowdown: int = SLOWDOWN, script: str = TO_THE_FIRST_QUESTION) -> float:
    """From opening a link to its first question, on a slowed device that has never been there."""
    context = browser.new_context(viewport=PHONE, is_mobile=True, has_touch=True)
    page = context.new_page()
    page.add_init_script(script)
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
    # The page says itself when; to look there from outside, playwright would run 330 kB of script in the middle of it.
    with page.expect_console_message(lambda said: said.text.startswith("arrived ")) as said:
        page.goto(link, wait_until="commit")
    context.close()
    return float(said.value.text.split()[1])


@contextmanager
def process(
    command: Sequence[str], url: str, folder: Path, environment: Mapping[str, str] | None = None
) -> Iterator[None]:
    """A server of ours as a process of its own, which answers when this begins and ends with it."""
    log = folder / f"log-{url.rpartition(':')[2]}"
    with log.open("wb") as output:
        started = subprocess.Popen(
            [sys.executable, "-m", "deniable", *command], env=environment, cwd=folder, stdout=output, stderr=output
        )
    try:
        wait_until_answered(f"{url}/livez", started, log)
        yield
    finally:
        started.terminate()
        started.wait(timeout=PATIENCE)


@contextmanager
def place(folder: Path, collector: str, port: int) -> Iterator[str]:
    """A place that serves one collector; gives its origin."""
    box = Letterbox(folder / "place.db")
    box.allow(collector, None)
    box.close()
    origin = f"http://localhost:{port}"
    command = ["place", "serve", "--db", str(folder / "place.db"), "--port", str(port), "--origin", origin]
    with process([*command, "--rate-limit", "off"], f"http://127.0.0.1:{port}", folder):
        yield origin


@contextmanager
def version(commit: str, folder: Path) -> Iterator[str]:
    """The link to the survey at a collector of another version."""
    environment = os.environ | {"PYTHONPATH": str(build(commit))}
    database, port = folder / f"{commit}.db", free_port()
    publishing = [sys.executable, "-c", PUBLISH, str(database)]
    done = subprocess.run(
        publishing, input=WITHOUT_LAYOUT, env=environment, cwd=folder, capture_output=True, text=True, check=True
    )
    command = ["serve", "--db", str(database), "--port", str(port), "--rate-limit", "off"]
    with process(command, f"http://127.0.0.1:{port}", folder, environment):
        yield f"http://127.0.0.1:{port}/s/{done.stdout.strip()}"


def sealed(survey: Survey, folder: Path, *places: str) -> Survey:
    """The survey with sealed reports, by its place if it has one."""
    named = replace(survey, title=f"{survey.title} at {len(places)} places")
    return sealed_survey(folder, named, places=places, first=datetime.datetime.now(datetime.UTC).date())


def measure(rounds: int, against: Sequence[str]) -> dict[str, list[float]]:
    """Milliseconds of each load of each page."""
    survey = read_survey(FIVE_TYPES)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "keys").mkdir()
        collector = stack.enter_context(running_collector(folder, "--sealing-keys", str(folder / "keys")))
        origin = stack.enter_context(place(folder, collector.url, free_port()))
        at_place = sealed(survey, folder / "keys", origin)
        link = collector.publish(at_place)
        links = {
            OWN_PAGE: collector.publish(survey),
            "the same, sealed": collector.publish(sealed(survey, folder / "keys")),
            "at a place": f"{origin}/#{link}",
            SURVEYJS: stack.enter_context(surveyjs.page_of(survey)),
        } | {commit: stack.enter_context(version(commit, folder)) for commit in against}
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=chromium(), args=CHROMIUM_FLAGS
        )
        done: dict[str, list[float]] = {name: [] for name in links}
        order = list(links)
        for number in range(rounds + 1):
            random.Random(number).shuffle(order)
            for name in order:
                script = surveyjs.TO_THE_FIRST_QUESTION if name == SURVEYJS else TO_THE_FIRST_QUESTION
                taken = milliseconds(browser, links[name], script=script)
                if number:  # the first round warms the servers up
                    done[name].append(taken)
        browser.close()
    return done


def ratio(times: Sequence[float], others: Sequence[float]) -> float:
    """The median of the ratios of two loads in one round."""
    return statistics.median(one / other for one, other in zip(times, others, strict=True))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.first_question", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--against", metavar="COMMIT", action="append", default=[], help="another version")
    chosen = parser.parse_args()
    done = measure(chosen.rounds, chosen.against)
    medians = {name: statistics.median(times) for name, times in done.items()}
    bases = [OWN_PAGE, *chosen.against]
    rows = [
        (
            name,
            *(f"{each:.0f} ms" for each in (medians[name], min(times), max(times))),
            *(f"{ratio(times, done[base]):.2f}" for base in bases),
        )
        for name, times in done.items()
    ]
    header = ("page", "median", "least", "most", "ratio", *(f"to {each[:7]}" for each in chosen.against))
    print(format_table(header, rows, right=header[1:]))


if __name__ == "__main__":
    main()

"""The first question of 40 beside that of 5: ``python -m tools.bench.forty_questions [ROUNDS] [--slowdown 1]``.

Chromium, with its processor slowed down four times unless another rate is said, opens both surveys in turn; medians and
their ratio of two measures.

* Time from the link to the first question on the screen, by the page's own clock (`tools.bench.first_question`): what
  respondents wait for. It needs a quiet machine.
* Processor time of the tasks of the page's main thread until then. What the page puts off until the first question has
  been painted is kept back, as in `tools.page_load`, and the count is read once the page rests, so that it does not
  matter how busy the machine is.

Start is pressed when the consent card has been painted.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from urllib.parse import urljoin

from playwright.sync_api import Browser, sync_playwright

from deniable import read_survey
from tools.bench.first_question import SLOWDOWN, milliseconds
from tools.page_load import KEEP_THE_OTHERS_BACK, PRESS_START
from tools.programs import CHROMIUM_FLAGS, chromium
from tools.rig.collectors import running_collector
from tools.rig.long_survey import forty_questions
from tools.rig.surveys import FIVE_TYPES

ROUNDS = 15
REST_MS = 500

SAY_WHEN = """
    addEventListener("deniable-ready", ({ target }) => {
      const stands = () => target.shadowRoot.querySelector("fieldset");
      const look = () => (stands() ? console.log("first") : requestAnimationFrame(look));
      look();
    });
"""


def work(browser: Browser, link: str, slowdown: int) -> float:
    """Milliseconds that the main thread works from the link until the page rests with the first question."""
    context = browser.new_context()
    page = context.new_page()
    # In the same process, so that all of the work is counted.
    page.goto(urljoin(link, "/livez"))
    page.add_init_script(KEEP_THE_OTHERS_BACK + PRESS_START + SAY_WHEN)
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # not the time that others had the processor
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
    # Whoever asks the page whether the question stands there makes it work for that, the longer the more.
    with page.expect_console_message():
        page.goto(link, wait_until="commit")
    page.wait_for_timeout(REST_MS)
    metrics = session.send("Performance.getMetrics")["metrics"]
    context.close()
    return next(1000 * float(each["value"]) for each in metrics if each["name"] == "TaskDuration")


MEASURES = {"time to the first question": milliseconds, "work of the main thread": work}


def measure(rounds: int, slowdown: int) -> dict[str, list[tuple[float, float]]]:
    """Milliseconds with 5 and with 40 questions in each round, by measure."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in MEASURES}
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright, running_collector(Path(place)) as own:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        few, many = (own.publish(read_survey(each)) for each in (FIVE_TYPES, forty_questions()))
        for number in range(rounds):
            for name, load in MEASURES.items():
                # In turn, and each one first in every second round: what comes first finds another browser.
                order = (few, many) if number % 2 else (many, few)
                took = {link: load(browser, link, slowdown) for link in order}
                found[name].append((took[few], took[many]))
        browser.close()
    return found


def main() -> None:
    """Print medians, their ratio, and the range that the ratio has in the middle half of the rounds."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.forty_questions", description=__doc__)
    parser.add_argument("rounds", type=int, nargs="?", default=ROUNDS)
    parser.add_argument("--slowdown", type=int, default=SLOWDOWN, help="of the processor; 1 is its own speed")
    chosen = parser.parse_args()
    for name, rounds in measure(chosen.rounds, chosen.slowdown).items():
        few, many = (statistics.median(each) for each in zip(*rounds, strict=True))
        low, middle, high = statistics.quantiles([many / few for few, many in rounds], n=4)
        print(f"{name}: {few:.1f} ms with 5 questions, {many:.1f} ms with 40, ratio {many / few:.3f}")
        print(f"  round by round {middle:.3f}, quartiles {low:.3f} and {high:.3f}")


if __name__ == "__main__":
    main()

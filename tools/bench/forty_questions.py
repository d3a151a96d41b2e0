"""Main-thread work to the first question of 40 beside that of 5: ``python -m tools.bench.forty_questions [ROUNDS]``.

Chromium with its processor slowed down four times; processor time of the tasks of the page's main thread from the link
to the first question, both surveys in turn, medians and their ratio. Start is pressed when the consent card has been
painted; what the page puts off until the first question has been painted is kept back, as in `tools.page_load`. The
count is read once the page rests, so that it does not matter how busy the machine is.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from urllib.parse import urljoin

from playwright.sync_api import Browser, sync_playwright

from deniable import read_survey
from tools.page_load import KEEP_THE_OTHERS_BACK, PRESS_START
from tools.programs import CHROMIUM_FLAGS, chromium
from tools.rig.collectors import running_collector
from tools.rig.long_survey import forty_questions
from tools.rig.surveys import FIVE_TYPES

ROUNDS = 15
SLOWDOWN = 4
REST_MS = 500

SAY_WHEN = """
    addEventListener("deniable-ready", ({ target }) => {
      const stands = () => target.shadowRoot.querySelector("fieldset");
      const look = () => (stands() ? console.log("first") : requestAnimationFrame(look));
      look();
    });
"""


def load(browser: Browser, link: str) -> float:
    """Milliseconds that the main thread works from the link until the page rests with the first question."""
    context = browser.new_context()
    page = context.new_page()
    # In the same process, so that all of the work is counted.
    page.goto(urljoin(link, "/livez"))
    page.add_init_script(KEEP_THE_OTHERS_BACK + PRESS_START + SAY_WHEN)
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # not the time that others had the processor
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
    # Whoever asks the page whether the question stands there makes it work for that, the longer the more.
    with page.expect_console_message():
        page.goto(link, wait_until="commit")
    page.wait_for_timeout(REST_MS)
    metrics = session.send("Performance.getMetrics")["metrics"]
    context.close()
    return next(1000 * float(each["value"]) for each in metrics if each["name"] == "TaskDuration")


def measure(rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Milliseconds of each load, by survey."""
    found: dict[str, list[float]] = {"5 questions": [], "40 questions": []}
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright, running_collector(Path(place)) as own:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        links = [own.publish(read_survey(each)) for each in (FIVE_TYPES, forty_questions())]
        for number in range(rounds):
            # In turn, and each one first in every second round: what comes first finds another browser.
            both = list(zip(found, links, strict=True))
            for name, link in both if number % 2 else reversed(both):
                found[name].append(load(browser, link))
        browser.close()
    return found


def main() -> None:
    """Print medians, the ratio, and the range that the ratio has in the middle half of the rounds."""
    found = measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
    few, many = found.values()
    for name, values in found.items():
        print(f"{name:14} median {statistics.median(values):6.1f} ms, {min(values):.1f} to {max(values):.1f}")
    low, middle, high = statistics.quantiles([many[n] / few[n] for n in range(len(few))], n=4)
    ratio = statistics.median(many) / statistics.median(few)
    print(f"ratio {ratio:.3f} of the medians; round by round {middle:.3f}, quartiles {low:.3f} and {high:.3f}")


if __name__ == "__main__":
    main()

"""From Send to the POST in a real Chromium, by answer: ``python -m tools.send_time [PEOPLE]``.

One page after another gives random answers. The clock of the page stamps the click on Send and the call of fetch; the
test is the auditor's, which stays right on a busy machine.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from deniable import read_survey
from deniable_client.audit.answers import answers_to
from deniable_client.audit.timing import check_times
from tools.programs import CHROMIUM_FLAGS, chromium
from tools.rig.browsing import FIVE_QUESTIONS, GIVE
from tools.rig.collectors import running_collector

STAMP = """
    const real = window.fetch;
    addEventListener("click", () => (window.clicked = performance.now()), { capture: true });
    window.fetch = (address, options) => {
      if (options?.method === "POST") window.posted = performance.now() - window.clicked;
      return real(address, options);
    };
"""


def main(people: int) -> None:
    survey = read_survey(FIVE_QUESTIONS)
    dice = random.Random()
    answers = [answers_to(question, dice) for question in survey.questions]
    codes = np.array([[dice.randrange(len(each.given)) for each in answers] for _ in range(people)])
    times = []
    with tempfile.TemporaryDirectory() as folder, running_collector(Path(folder)) as collector:
        link = collector.publish(survey)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
            for row in codes:
                context = browser.new_context()
                page = context.new_page()
                page.add_init_script(STAMP)
                page.goto(link)
                page.evaluate(GIVE, [each.truths[code] for each, code in zip(answers, row, strict=True)])
                times.append(round(page.evaluate("window.posted") * 1e6))
                context.close()
            browser.close()
    milliseconds = np.array(times) / 1e6
    print(f"{people} people: median {np.median(milliseconds):.1f} ms, 90 % {np.quantile(milliseconds, 0.9):.1f} ms")
    for q, each in enumerate(answers):
        medians = [float(np.median(milliseconds[codes[:, q] == code])) for code in range(len(each.given))]
        print(f"  {each.question.id:<8} median by answer: {', '.join(f'{median:.1f}' for median in medians)} ms")
    check = check_times(np.array(times), codes, answers, 1e-6)
    print(f"  would find {check.power}: {check.fault or 'nothing found'}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)

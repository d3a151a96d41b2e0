"""How often an audit finds a leak of 1 %: ``python -m tools.planted.power [--audits N] [--client python|browser]``.

The leak is a request more by one of a hundred of those who answer Yes: where the report's id, which the audit chooses,
leaves 7 by 100. Whole audits are drawn as by default, with all people, histories and chance. Of each only the blocks
are lived in which some id is such a one. In all others the planted client does what a faultless one does, so they can
show nothing. That makes an audit of 640 sessions as short as the six or seven that matter, and changes no outcome. What
varies by itself is not looked at.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from scipy.stats import beta

from deniable_client.audit.blackbox.chromium import chromium
from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.evidence import FAILURE
from deniable_client.audit.histories import BROWSER, PYTHON, Session
from deniable_client.audit.judge import Bench, expect_of_browser
from deniable_client.audit.python_histories import expect_of_python, run_people
from deniable_client.audit.shipped import SESSIONS, Target, blocks_of, dice_of, patiently, sessions_of
from tools.planted.__main__ import python_with, scripts_with
from tools.planted.rare import RARE
from tools.planted.targets import PlantedTarget, target_of
from tools.rig.collectors import running_collector

FAULT = "one request more, rarely"

Live = Callable[[list[list[Session]], list[Session]], list[list[Trace]]]
"""Lives the people of some blocks; a block more is there for somebody who comes first."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.planted.power", description=__doc__)
    parser.add_argument("--audits", type=int, default=100)
    parser.add_argument("--client", choices=("python", "browser"), default="python")
    chosen = parser.parse_args()
    (fault,) = (each for each in RARE if each.name == FAULT and each.client == chosen.client)
    dice, before = random.SystemRandom(), sum(os.times()[:4])
    found = lived = 0
    with tempfile.TemporaryDirectory() as name, running_collector(Path(name)) as collector, ExitStack() as stack:
        target, folder = target_of(collector, "open"), Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if chosen.client == "browser":
            scripts = scripts_with(fault, folder)
            target = PlantedTarget(target.upstream, target.surveys, target.companions, target.keys, scripts)
        relay = target.relay()
        stack.callback(relay.close)
        if chosen.client == "python":
            environment = python_with([fault], folder)

            def live(people: list[Session], stranger: Session) -> list[Trace]:
                return run_people(people, target.surveys, relay, stranger, environment=environment)
        else:
            browser = stack.enter_context(chromium(relay))

            def live(people: list[Session], stranger: Session) -> list[Trace]:
                return [patiently(browser, each, target.surveys) for each in people]

        for audit in range(chosen.audits):
            blocks, stranger = telling_blocks(target, relay.url, chosen.client, dice)
            people = [session for block in blocks for session in block]
            traces = live(people, stranger) if people else []
            lived += len(people)
            seen = list(zip(people, traces, strict=True))
            bench = Bench(expect_of_python if chosen.client == "python" else expect_of_browser)
            bench.blocks = [seen[start : start + 2] for start in range(0, len(seen), 2)]
            found += bool([each for each in bench.suspects(FAILURE) if not each.is_loose])
            print(f"audit {audit + 1}: {len(people)} sessions, found in {found} so far", flush=True)
    low = float(beta.ppf(0.05, found, chosen.audits - found + 1)) if found else 0.0
    print(
        f"{chosen.client}: a leak of 1 % found in {found} of {chosen.audits} audits of {SESSIONS} sessions, at least "
        f"{low:.3f} with confidence 95 %; {lived} sessions lived, {sum(os.times()[:4]) - before:.0f} s of CPU"
    )


def telling_blocks(
    target: Target, collector: str, client: str, dice: random.Random
) -> tuple[list[list[Session]], Session]:
    """The blocks of an audit in which the leak can show, and somebody else."""
    manner = PYTHON if client == "python" else BROWSER
    blocks = [
        sessions_of(target, history, manner, collector, dice_of(seed))
        for history, seed in blocks_of(target, SESSIONS, dice)
    ]
    telling = [block for block in blocks if any(map(is_telling, ids_of(block[0])))]
    return telling, blocks[-1][0]


def ids_of(session: Session) -> list[str]:
    """The ids of its reports; all of a block have the same."""
    return [each for load in session.loads for each in load.ids]


def is_telling(report_id: str) -> bool:
    """Whether the fault shows in a report of this id."""
    return int(report_id[:8], 16) % 100 == 7


if __name__ == "__main__":
    main()

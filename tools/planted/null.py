"""How often faultless clients are accused: ``python -m tools.planted.null [--audits N] [--permuted N]``.

Whole audits of the Python client, with few sessions each; then the sessions of all of them, among which answers change
hands at random, so that what is seen goes with no answer, are compared fixed against fixed at several stated rates.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from pathlib import Path

from deniable import read_survey
from deniable_client.audit.auditor import audit_survey
from deniable_client.audit.contrast import compare, contrasts_of
from deniable_client.audit.evidence import FAILURE
from deniable_client.audit.histories import HISTORIES
from deniable_client.audit.sampling import draw_python
from deniable_client.audit.shipped import BLOCK, audit_installed
from tools.planted.targets import SURVEY, target_of
from tools.rig.collectors import running_collector

SESSIONS, DRAWS = BLOCK * len(HISTORIES), 2_000
"""Size of each audit: about a block of every history, and reports drawn at once."""

RATES = (0.1, 0.01, FAILURE)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--audits", type=int, default=20)
    parser.add_argument("--permuted", type=int, default=200)
    chosen = parser.parse_args()
    cases, alarms = [], 0
    with tempfile.TemporaryDirectory() as name, running_collector(Path(name)) as collector:
        target = target_of(collector, "open")
        for number in range(chosen.audits):
            start = time.monotonic()
            bench = audit_installed(target, SESSIONS)
            found = [*map(str, bench.suspects(FAILURE)), *audit_survey(read_survey(SURVEY), draw_python, DRAWS).faults]
            cases += [each for block in bench.blocks for each in block]
            alarms += bool(found)
            print(f"audit {number + 1}: {time.monotonic() - start:.0f} s, {found[:1] or 'nothing'}", flush=True)
    print(
        f"{alarms} of {chosen.audits} whole audits, {len(cases):,} sessions in all, accused a faultless client; stated "
        f"{FAILURE:g}; {sum(os.times()[:4]):.0f} s of CPU",
        flush=True,
    )
    answers = [session.answers[0] for session, _ in cases]
    histories = [session.history for session, _ in cases]
    features = [trace.loose for _, trace in cases]
    dice = random.Random(41)
    counts = dict.fromkeys(RATES, 0)
    for _ in range(chosen.permuted):
        dice.shuffle(answers)
        contrasts = contrasts_of(answers, histories, features)
        for rate in RATES:
            counts[rate] += bool(compare(contrasts, rate).differences)
    for rate, count in counts.items():
        print(f"{count} of {chosen.permuted} permuted audits of {len(cases):,} sessions accused; stated {rate:g}")


if __name__ == "__main__":
    main()

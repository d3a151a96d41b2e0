"""How often faultless clients are accused: ``python -m tools.planted.null [--audits N] [--browsers N] [--forms N]``.

Whole audits of the Python client, of the bundle in Chromium and of the element in forms, with few sessions each: every
report computed again, everything compared within pairs, with ``--sessions 96`` or more also lived again, and in Python
many reports drawn at once. Then the two people of each pair of all these sessions change places at random
(``--permuted N``), so that what is seen goes with no answer, and are compared fixed against fixed at several stated
rates.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from scipy.stats import beta

from deniable import read_survey
from deniable_client.audit.auditor import audit_survey
from deniable_client.audit.contrast import Pair, compare, contrasts_of
from deniable_client.audit.evidence import FAILURE
from deniable_client.audit.histories import HISTORIES
from deniable_client.audit.judge import Bench
from deniable_client.audit.sampling import draw_python
from deniable_client.audit.second_look import look_again_in_browser, look_again_in_python
from deniable_client.audit.shipped import (
    BLOCK,
    Target,
    audit_forms,
    audit_installed,
    audit_shipped,
)
from tools.planted.targets import SURVEY, target_of
from tools.rig.collectors import running_collector

SESSIONS, DRAWS = BLOCK * len(HISTORIES), 1_000
"""Size of each audit: a block of every history, and reports drawn at once."""

EACH = 20
"""After so many audits a line says how far it has come."""

RATES = (0.1, 0.01, FAILURE)

Audited = Callable[[Target], tuple[Bench, list[str]]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.planted.null", description=__doc__)
    parser.add_argument("--audits", type=int, default=200, help="of the Python client")
    parser.add_argument("--browsers", type=int, default=0, help="audits of the bundle in Chromium")
    parser.add_argument("--forms", type=int, default=0, help="audits of the element in forms, in Chromium")
    parser.add_argument("--permuted", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=SESSIONS, help="of each audit")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no audit after so much CPU")
    chosen = parser.parse_args()
    pairs: list[Pair] = []
    with tempfile.TemporaryDirectory() as name, running_collector(Path(name)) as collector:
        target = target_of(collector, "open")
        pairs += accused("python", partial(audited_python, chosen.sessions), target, chosen.audits, chosen.seconds)
        pairs += accused(
            "chromium", partial(audited_chromium, chosen.sessions), target, chosen.browsers, chosen.seconds
        )
        pairs += accused("forms", partial(audited_forms, chosen.sessions), target, chosen.forms, chosen.seconds)
    for rate, count in permuted(pairs, chosen.permuted).items():
        print(f"{count} of {chosen.permuted} permuted audits of {len(pairs):,} pairs accused; stated {rate:g}")


def accused(name: str, audited: Audited, target: Target, audits: int, seconds: float) -> list[Pair]:
    """Audits of a faultless client, one after the other; the pairs of all of them."""
    pairs: list[Pair] = []
    alarms = done = sessions = again = 0
    start, before = time.monotonic(), sum(os.times()[:4])
    while done < audits and sum(os.times()[:4]) - before < seconds:
        bench, found = audited(target)
        pairs += bench.as_pairs
        alarms, done, sessions, again = (
            alarms + bool(found), done + 1, sessions + bench.sessions, again + bench.again.sessions,
        )  # fmt: skip
        if found:
            print(f"{name}, audit {done}: {found[0]}", flush=True)
        if done % EACH == 0:
            print(f"{name}: {done} of {audits} audits, {alarms} accused", file=sys.stderr, flush=True)
    if done:
        # Clopper and Pearson, one-sided.
        limit = float(beta.ppf(0.95, alarms + 1, done - alarms)) if alarms < done else 1.0
        print(
            f"{name}: {alarms} of {done} whole audits accused a faultless client, at most {limit:.3%} with confidence "
            f"95 %; stated {FAILURE:g}; {sessions:,} sessions and {again:,} lived again, "
            f"{time.monotonic() - start:.0f} s, {sum(os.times()[:4]) - before:.0f} s of CPU",
            flush=True,
        )
    return pairs


def audited_python(sessions: int, target: Target) -> tuple[Bench, list[str]]:
    """A whole audit of the Python client, without the waves."""
    bench = audit_installed(target, sessions)
    look_again_in_python(target, bench, FAILURE / 4)
    drawn = audit_survey(read_survey(SURVEY), draw_python, DRAWS, FAILURE / 4)
    return bench, [*map(str, bench.suspects(FAILURE / 4)), *drawn.faults]


def audited_chromium(sessions: int, target: Target) -> tuple[Bench, list[str]]:
    """An audit of the bundle as it is served."""
    bench, names = audit_shipped(target, sessions, browsers=1)
    look_again_in_browser(target, bench, FAILURE / 4)
    return bench, [*map(str, bench.suspects(FAILURE / 4)), *names]


def audited_forms(sessions: int, target: Target) -> tuple[Bench, list[str]]:
    """An audit of the element in forms, as it is served."""
    bench, names = audit_forms(target, sessions, browsers=1)
    return bench, [*map(str, bench.suspects(FAILURE / 4)), *names]


def _turned(answers: tuple[Any, Any]) -> tuple[Any, Any]:
    one, other = answers
    return other, one


def permuted(pairs: list[Pair], times: int) -> dict[float, int]:
    """How often somebody is accused where a coin decides who of a pair gave which answers."""
    dice, counts = random.Random(41), dict.fromkeys(RATES, 0)
    for _ in range(times):
        mixed = [each if dice.random() < 1 / 2 else Pair(_turned(each.answers), each.features) for each in pairs]
        contrasts = contrasts_of(mixed)
        for rate in RATES:
            counts[rate] += bool(compare(contrasts, rate).differences)
    return counts


if __name__ == "__main__":
    main()

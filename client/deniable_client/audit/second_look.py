"""The second look in each client: who is lived again, and where."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from deniable_client.audit.again import SecondLook, look_again
from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.histories import PYTHON, Session
from deniable_client.audit.judge import Bench
from deniable_client.audit.python_histories import run_people
from deniable_client.audit.shipped import BROWSERS, Target, dice_of, patiently, sessions_of

AT_ONCE = 36
"""Number of people who live again in one process of Python."""


def look_again_in_browser(
    target: Target,
    bench: Bench,
    failure: float,
    *,
    dice: random.Random | None = None,
    program: str | None = None,
    kind: str = "chromium",
) -> None:
    """Let the pairs of a bench that differ most live again in one browser; the bench has what came of it."""

    def look() -> SecondLook:
        relay = target.relay()
        try:
            with BROWSERS[kind](relay, program) as browser:

                def live(people: Sequence[Session]) -> list[Trace]:
                    return [patiently(browser, each, target.surveys) for each in people]

                return look_again(bench.pairs, live, failure, dice or random.SystemRandom())
        finally:
            relay.close()

    with ThreadPoolExecutor(1) as thread:
        bench.again = thread.submit(look).result()


def look_again_in_python(
    target: Target,
    bench: Bench,
    failure: float,
    *,
    dice: random.Random | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Let the pairs of a bench that differ most live again in processes of Python."""
    dice, relay = dice or random.SystemRandom(), target.relay()

    def live(people: Sequence[Session]) -> list[Trace]:
        traces: list[Trace] = []
        for start in range(0, len(people), AT_ONCE):
            # One history is as good as another one for what a process loads once.
            stranger, *_ = sessions_of(target, people[start].history, PYTHON, relay.url, dice_of(dice.getrandbits(64)))
            some = people[start : start + AT_ONCE]
            traces += run_people(some, target.surveys, relay, stranger, environment=environment)
        return traces

    try:
        bench.again = look_again(bench.pairs, live, failure, dice)
    finally:
        relay.close()

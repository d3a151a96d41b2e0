"""The second look in each client: who is lived again, and where."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext

from deniable_client.audit.again import look_again
from deniable_client.audit.blackbox.person import Watching
from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.browsers import Browsers
from deniable_client.audit.histories import PYTHON, Session
from deniable_client.audit.judge import Bench
from deniable_client.audit.places import AT_ONCE, Place, Places
from deniable_client.audit.python_histories import run_people
from deniable_client.audit.shipped import TOGETHER, Target, dice_of, patiently, sessions_of


def look_again_in_browser(
    target: Target,
    bench: Bench,
    failure: float,
    *,
    dice: random.Random | None = None,
    program: str | None = None,
    kind: str = "chromium",
    browsers: int = AT_ONCE,
) -> None:
    """Let the pairs of a bench that differ most live again in some browsers; the bench has what came of it."""

    def again(browser: Watching, people: Sequence[Session]) -> list[Trace]:
        return [patiently(browser, each, target.surveys) for each in people]

    with Browsers(target, program, kind, browsers) as some:

        def live(groups: Sequence[Sequence[Session]]) -> Iterable[list[Trace]]:
            return some.map(again, groups)

        # The two of a pair in one browser, one right after the other, as when they lived first.
        bench.again = look_again(bench.pairs, live, failure, dice or random.SystemRandom(), together=1)


def look_again_in_python(
    target: Target,
    bench: Bench,
    failure: float,
    *,
    dice: random.Random | None = None,
    environment: Mapping[str, str] | None = None,
    places: Places | None = None,
) -> None:
    """Let the pairs of a bench that differ most live again in processes of Python."""
    with nullcontext(places) if places else Places(target, environment) as several:

        def live(groups: Sequence[Sequence[Session]]) -> Iterable[list[Trace]]:
            return several.map(_again, groups)

        bench.again = look_again(bench.pairs, live, failure, dice or random.SystemRandom(), together=TOGETHER)


def _again(place: Place, people: Sequence[Session]) -> list[Trace]:
    """The people of one process."""
    # One history is as good as another one for what a process loads once, with chance that is nobody's here.
    seed = people[0].seed + 1
    stranger, *_ = sessions_of(place.target, people[0].history, PYTHON, place.relay.url, dice_of(seed))
    return run_people(people, place.target.surveys, place.relay, stranger, environment=place.environment)

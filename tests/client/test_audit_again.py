"""The second look: rare leaks come back with the answers, and what a machine does by itself is not accused."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from deniable_client.audit.again import FARTHEST, SeenPair, look_again, rank_sum_p
from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.histories import DIFFERING, Session
from deniable_client.audit.shipped import SESSIONS
from tests.support.marks import long

SLOW = 1 / 50
"""How often a machine is far too late by itself."""


class Machine:
    """Sessions that take a time of their own, and a leak of one in so many pairs that takes longer for Yes."""

    def __init__(self, seed: int, leak: float, rare: float = 0.01) -> None:
        self.dice, self.leak = np.random.default_rng(seed), leak
        self.telling: set[int] = set()
        self.people: list[tuple[Session, Session]] = []
        for _ in range(SESSIONS // 2):
            yes = self.dice.random() < 0.5
            answers = (yes, yes ^ (self.dice.random() < DIFFERING))
            pair = (session(answers[0]), session(answers[1]))
            self.people.append(pair)
            if self.dice.random() < rare:
                self.telling |= {id(each) for each, said in zip(pair, answers, strict=True) if said}

    def live(self, groups: Sequence[Sequence[Session]]) -> list[list[Trace]]:
        return [[self._lived(each) for each in people] for people in groups]

    def _lived(self, person: Session) -> Trace:
        value = self.dice.lognormal(1, 0.3) + 60 * (self.dice.random() < SLOW)
        return Trace(loose={"ms": value + self.leak * (id(person) in self.telling), "other": self.dice.normal()})

    def seen(self) -> list[SeenPair]:
        return [((one, self._lived(one)), (other, self._lived(other))) for one, other in self.people]


def session(says_yes: bool) -> Session:
    return Session("once", (), "", (), [{"affair": int(says_yes)}])


@pytest.mark.simulation
@pytest.mark.parametrize("times", [50, long(100)])
def test_a_leak_of_one_percent_in_what_varies_is_found_from_the_size_that_is_stated(times: int) -> None:
    found = 0
    for seed in range(times):
        machine = Machine(seed, leak=0)
        size = next(
            each.size
            for each in look_again(machine.seen(), machine.live, 1e-6, random.Random(1)).powers
            if each.feature == "ms"
        )
        machine.leak = size
        look = look_again(machine.seen(), machine.live, 1e-6, random.Random(seed))
        found += bool(look.returned)
        for each in look.returned:
            assert each.feature == "ms"
            assert id(each.session) in machine.telling
    assert stats.binom.cdf(found, times, 0.9) > 1e-3, f"{found} of {times} were found"


@pytest.mark.simulation
@pytest.mark.parametrize("times", [30, long(60)])
def test_a_machine_that_is_late_by_itself_is_not_accused(times: int) -> None:
    accused = {0.05: 0, 1e-6: 0}
    for seed, failure in itertools.product(range(times), accused):
        machine = Machine(seed, leak=0)
        look = look_again(machine.seen(), machine.live, failure, random.Random(seed))
        accused[failure] += bool(look.returned)
        assert look.sessions < 200
    assert accused[1e-6] == 0
    assert stats.binom.sf(accused[0.05] - 1, times, 0.05) > 1e-3


def test_nothing_is_lived_again_where_nothing_differs() -> None:
    alike = [((session(True), Trace(loose={"place": 3})), (session(False), Trace(loose={"place": 3})))] * FARTHEST
    look = look_again(alike, lambda people: pytest.fail("nobody is to live again"), 1e-6, random.Random(1))
    assert look.sessions == 0
    assert look.returned == ()


@pytest.mark.parametrize("values", [(1, 2, 3, 4, 5, 6), (1, 1, 2, 2, 2, 3), (7, 7, 7, 7, 7, 7)])
def test_rank_sums_are_those_of_all_ways_to_choose(values: tuple[float, ...]) -> None:
    ranks = stats.rankdata(values)
    sums = [sum(ranks[place] for place in chosen) for chosen in itertools.combinations(range(6), 2)]
    for chosen in itertools.combinations(range(6), 2):
        others = np.array([values[place] for place in range(6) if place not in chosen], dtype=float)
        mine = sum(ranks[place] for place in chosen)
        wanted = np.mean([each >= mine - 1e-9 for each in sums])
        assert rank_sum_p(np.array([values[place] for place in chosen], dtype=float), others) == pytest.approx(wanted)

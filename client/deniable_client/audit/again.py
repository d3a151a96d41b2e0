"""A second look at rare differences: the pairs that differ most are lived again, with the same answers and chance.

A leak that shows in one of a hundred sessions leaves a few of them in an audit, which no statistic tells from a busy
machine. But all chance comes from the audit, so a client that did something for an answer does it again with the same
answer and the same chance, and the machine does not. Pairs of which the differences come back twice are lived many
times more, in an order that is drawn at random: if nothing depends on the answers, every assignment of the values to
the two people is equally likely, and Wilcoxon's rank sum has its exact permutation distribution, ties included [1]_.
What chose the pairs is not used a second time, so the level holds however they were chosen.

References
----------
.. [1] E. L. Lehmann, "Nonparametrics: Statistical Methods Based on Ranks", Holden-Day 1975, sections 1.2 and 1.4.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.histories import Session

FARTHEST = 3
"""How many pairs of each feature are looked at again."""

ENOUGH = 24
"""Pairs that a feature must have, for some of them to be far off; with fewer, only all of them are compared."""

ROUNDS = 2
"""How often a difference has to come back before it is tested."""

USUAL = 0.8
"""Share of all pairs that differ less than one whose difference came back."""

TIMES = 18
"""How often each of two people is lived again in a test: even 1 / C(36, 18) is 1e-10."""

MOST = 6
"""Largest number of pairs that are tested."""

Floats = NDArray[np.float64]

Live = Callable[[Sequence[Sequence[Session]]], Iterable[list[Trace]]]
"""Lives the sessions of each group again, one after the other, each on a fresh device; groups may live side by side.

The traces come in the order of groups and sessions.
"""

SessionPair = tuple[Session, Session]


@dataclass(frozen=True)
class RarePower:
    """What a second look finds of a leak in one of 100 sessions of those who give an answer.

    Attributes
    ----------
    feature : str
    pairs : int
        Pairs of people who have it.
    size : float
        The least difference that is found with the probability that the audit states for so many pairs; infinite where
        nothing is.
    """

    feature: str
    pairs: int
    size: float


@dataclass(frozen=True)
class Returned:
    """A difference that comes back with the answers, and the numbers that say so."""

    feature: str
    session: Session
    pair: SessionPair
    medians: tuple[float, float]
    p: float


@dataclass(frozen=True)
class SecondLook:
    """What was looked at again.

    Attributes
    ----------
    sessions : int
        Sessions that were lived again.
    pairs : int
        Pairs that were looked at again; few of them come to a test.
    tested : int
        Tests of a pair and a feature.
    returned : tuple of Returned
    powers : tuple of RarePower
    """

    sessions: int = 0
    pairs: int = 0
    tested: int = 0
    returned: tuple[Returned, ...] = ()
    powers: tuple[RarePower, ...] = ()


@dataclass(frozen=True)
class Suspicion:
    """A feature in which a pair differs: the one with the larger value first."""

    feature: str
    pair: SessionPair
    usual: float


@dataclass
class _Again:
    """Counts what it lets live."""

    live: Live
    dice: random.Random
    together: int
    sessions: int = 0
    traces: dict[int, Trace] = field(default_factory=dict)

    def once(self, suspicions: Sequence[Suspicion]) -> None:
        """Everybody of these pairs once more, so many pairs together, in random order."""
        pairs = list({frozenset(map(id, each.pair)): each.pair for each in suspicions}.values())
        self.dice.shuffle(pairs)
        groups = []
        for start in range(0, len(pairs), self.together):
            groups.append([person for pair in pairs[start : start + self.together] for person in pair])
            self.dice.shuffle(groups[-1])
        lived = self._lived(groups)
        self.traces = {
            id(person): trace
            for people, traces in zip(groups, lived, strict=True)
            for person, trace in zip(people, traces, strict=True)
        }

    def came_back(self, suspicion: Suspicion) -> bool:
        """Whether the difference is there again, with the same sign."""
        larger, smaller = (self.traces[id(each)].loose.get(suspicion.feature, math.nan) for each in suspicion.pair)
        return larger - smaller > suspicion.usual

    def often(self, pairs: Sequence[SessionPair]) -> list[tuple[list[Trace], list[Trace]]]:
        """Both of each pair many times, in random order; a group holds those of one pair."""
        orders = [[0] * TIMES + [1] * TIMES for _ in pairs]
        for order in orders:
            self.dice.shuffle(order)
        lived = self._lived([[pair[side] for side in order] for pair, order in zip(pairs, orders, strict=True)])
        return [
            (_of_side(0, order, traces), _of_side(1, order, traces))
            for order, traces in zip(orders, lived, strict=True)
        ]

    def _lived(self, groups: Sequence[Sequence[Session]]) -> list[list[Trace]]:
        self.sessions += sum(map(len, groups))
        return list(self.live(groups)) if groups else []


def _of_side(side: int, order: Sequence[int], traces: Sequence[Trace]) -> list[Trace]:
    return [trace for own, trace in zip(order, traces, strict=True) if own == side]


SeenPair = tuple[tuple[Session, Trace], tuple[Session, Trace]]


def look_again(
    seen: Sequence[SeenPair], live: Live, failure: float, dice: random.Random, together: int = 1
) -> SecondLook:
    """Which rare differences come back with the answers.

    Parameters
    ----------
    seen : sequence of pairs of (Session, Trace)
    live : callable
    failure : float
        Probability that a faultless client is accused.
    dice : random.Random
        Decides the order of the tests; must not be known to the client.
    together : int
        Pairs that live in one group when they are lived again for the first times.
    """
    suspicions, powers = _farthest(seen)
    again, waiting = _Again(live, dice, together), suspicions
    for _ in range(ROUNDS):
        again.once(waiting)
        waiting = [each for each in waiting if again.came_back(each)]
    by_pair: dict[tuple[int, int], list[Suspicion]] = defaultdict(list)
    for each in waiting:
        by_pair[id(each.pair[0]), id(each.pair[1])].append(each)
    chosen = list(by_pair.values())[:MOST]
    tested = sum(map(len, chosen))
    returned = []
    for some, (larger, smaller) in zip(chosen, again.often([some[0].pair for some in chosen]), strict=True):
        for each in some:
            values, others = (
                np.array([trace.loose.get(each.feature, math.inf) for trace in traces]) for traces in (larger, smaller)
            )
            p = rank_sum_p(values, others)
            # Bonferroni over the tests; each is one-sided, because the first look chose its side.
            if p <= failure / tested:
                medians = float(np.median(values)), float(np.median(others))
                returned.append(Returned(each.feature, each.pair[0], each.pair, medians, p))
    pairs = len({id(each.pair[0]) for each in suspicions} | {id(each.pair[1]) for each in suspicions}) // 2
    return SecondLook(again.sessions, pairs, tested, tuple(returned), powers)


def _farthest(seen: Sequence[SeenPair]) -> tuple[list[Suspicion], tuple[RarePower, ...]]:
    """The pairs that differ most in each feature, and how far apart a pair must be to be among them."""
    apart: dict[str, list[tuple[float, SessionPair]]] = defaultdict(list)
    for (one, trace), (other, another) in seen:
        for feature in trace.loose.keys() & another.loose.keys():
            difference = trace.loose[feature] - another.loose[feature]
            apart[feature].append((abs(difference), (one, other) if difference > 0 else (other, one)))
    found, powers = [], []
    for feature, pairs in sorted(apart.items()):
        sizes = np.array([size for size, _ in pairs])
        if len(sizes) < ENOUGH or not sizes.any():
            continue
        usual = float(np.quantile(sizes, USUAL))
        pairs.sort(key=lambda each: -each[0])
        found += [Suspicion(feature, pair, usual) for size, pair in pairs[:FARTHEST] if size > usual]
        powers.append(RarePower(feature, len(sizes), _found_from(sizes)))
    return found, tuple(powers)


MISSED = 0.02
"""How often a leak of the stated size is hidden at each of the steps by an opposite difference of the machine's own."""


def _found_from(sizes: Floats) -> float:
    """The least size of a leak that makes a pair one of the farthest, and comes back."""
    # Without a leak differences are symmetric: one is below -x with probability `MISSED` where 2 `MISSED` of all sizes
    # are above x.
    hidden = float(np.quantile(sizes, 1 - 2 * MISSED))
    return float(np.sort(sizes)[-FARTHEST]) + hidden


def rank_sum_p(values: Floats, others: Floats) -> float:
    """The probability of a rank sum as large as that of ``values``, if all ways to choose them are equally likely.

    Examples
    --------
    All three are larger than all of three others, in 1 of C(6, 3) = 20 ways:

    >>> rank_sum_p(np.array([4.0, 5.0, 6.0]), np.array([1.0, 2.0, 3.0]))
    0.05
    """
    n = len(values)
    # Ranks of ties are halves at most, so twice the ranks are integers.
    ranks = np.rint(2 * rankdata(np.concatenate([values, others]))).astype(int)
    # ways[k, s]: in how many ways k of the ranks so far have the sum s.
    ways = np.zeros((n + 1, int(ranks.sum()) + 1))
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    return float(ways[n, int(ranks[:n].sum()) :].sum() / ways[n].sum())

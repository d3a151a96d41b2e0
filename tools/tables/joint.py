"""Prints how often tests and intervals over two questions are right, by simulation; also over two of one response.

Seeds are fixed, so that the table is the same every time. With 4000 draws the standard error of a level of 5 % is
0.34 points.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable import KAry, Mechanism, Subset, TickBoxes, TwoCoin, Warner
from deniable.mechanisms.k_ary import support_of_digits
from deniable.table import format_table
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.intervals.profile import ShareLikelihood
from deniable_statistics.joint import Crosstab, JointReports, independence_power
from deniable_statistics.joint.independence import independence_of
from deniable_statistics.joint.pairs import DrawnPair, pair_channel
from deniable_statistics.sampling.items import Item

Table = NDArray[np.float64]

COINS = TwoCoin("1/2", "1/2")

ALPHA = 0.05

PAIRS: dict[str, tuple[Mechanism, Mechanism]] = {
    "two coins x two coins": (COINS, COINS),
    "two coins x 4-ary, epsilon 1": (COINS, KAry.from_epsilon(4, 1)),
    "4-ary x 4-ary, epsilon 1": (KAry.from_epsilon(4, 1), KAry.from_epsilon(4, 1)),
    "Warner 1 x 5-ary, epsilon 2": (Warner.from_epsilon(1), KAry.from_epsilon(5, 2)),
    "subsets 3 of 10 x two coins": (Subset.from_epsilon(10, 3, 1), COINS),
    "subsets 2 of 6 x 4-ary": (Subset.from_epsilon(6, 2, 1), KAry.from_epsilon(4, 1)),
    "3 tick boxes, epsilon 2 x two coins": (TickBoxes.from_epsilon(3, 2), COINS),
}


def truths(mechanism: Mechanism) -> int:
    """Number of true answers; for tick boxes of all ways to tick them."""
    return int(2**mechanism.k) if isinstance(mechanism, TickBoxes) else mechanism.k


def falling(k: int) -> Table:
    """Shares in proportion to 1, 1/2, 1/3, ...: most answers are rare."""
    shares = 1 / np.arange(1, k + 1)
    return np.asarray(shares / shares.sum())


def linked(first: int, second: int, strength: float) -> Table:
    """Joint shares with falling margins; ``strength`` of the people have the same rank in both questions."""
    f, g = falling(first), falling(second)
    cells = np.outer(f, g)
    # The coupling of equal ranks: person by person at the same quantile of both margins.
    ends = np.maximum(np.minimum.outer(f.cumsum(), g.cumsum()), 0)
    same = np.diff(np.diff(np.pad(ends, ((1, 0), (1, 0))), axis=0), axis=1)
    return np.asarray((1 - strength) * cells + strength * same)


def draw(
    pair: tuple[Mechanism, Mechanism], shares: Table, n: int, draws: int, chance: np.random.Generator
) -> Iterator[JointReports]:
    """Reports of ``n`` people with these joint shares, as often as asked."""
    if all(each.reports.supports_one for each in pair):
        # The table of reports is multinomial: no need to draw person by person.
        expected = design_of(pair[0]).float_matrix @ shares @ design_of(pair[1]).float_matrix.T
        for table in chance.multinomial(n, expected.ravel(), size=draws):
            yield JointReports.from_counts(pair, table.reshape(expected.shape))
        return
    for _ in range(draws):
        cells = chance.choice(shares.size, size=n, p=shares.ravel())
        columns = np.unravel_index(cells, shares.shape)
        items = [_item(f"question {q}", pair[q], columns[q], chance) for q in range(2)]
        yield JointReports.from_items(items)


def _item(name: str, mechanism: Mechanism, cells: NDArray[np.int64], chance: np.random.Generator) -> Item:
    def words(n: int) -> NDArray[np.uint32]:
        return chance.integers(0, 2**32, n, dtype=np.uint32)

    boxes = isinstance(mechanism, TickBoxes)
    answers = cells[:, None] >> np.arange(mechanism.k) & 1 if boxes else cells
    reports = mechanism.randomize_many(answers, words)
    supports = np.eye(mechanism.k, dtype=bool)[reports] if mechanism.reports.json_type is int else reports.astype(bool)
    return Item(name, design_of(mechanism), supports, design_of(mechanism).truths)


def rejections(
    pair: tuple[Mechanism, Mechanism], shares: Table, n: int, draws: int, seed: int, level: float = 0.05
) -> float:
    """How often the test of independence rejects."""
    chance = np.random.default_rng(seed)
    reports = draw(pair, shares, n, draws, chance)
    return sum(independence_of(each).p_value <= level for each in reports) / draws


def levels(draws: int, sizes: tuple[int, ...] = (1000, 5000)) -> str:
    """Level under independence, and power if 30 % of the people have the same rank in both questions."""
    rows = []
    for number, (name, pair) in enumerate(PAIRS.items()):
        ways = truths(pair[0]), truths(pair[1])
        for n in sizes:
            level = rejections(pair, linked(*ways, 0), n, draws, seed=2 * number)
            power = rejections(pair, linked(*ways, 0.3), n, draws // 4, seed=2 * number + 1)
            boxes = isinstance(pair[0], TickBoxes)
            formula = "" if boxes else f"{100 * independence_power(pair, linked(*ways, 0.3), n):.1f} %"
            rows.append([name, str(n), f"{100 * level:.2f} %", f"{100 * power:.1f} %", formula])
    header = [f"independence, {draws} draws", "n", "level of 5 %", "power, link 0.3", "by formula"]
    return format_table(header, rows, right=header[1:])


@dataclass(frozen=True)
class Coverage:
    """How often the 95 % intervals of a 2 by 2 crosstab hold the truth."""

    cell: float
    """The worst of four."""
    conditional: float
    """The worst of four, given the first question."""
    odds_ratio: float
    correlation: float


def coverage(pair: tuple[Mechanism, Mechanism], shares: Table, n: int, draws: int, seed: int) -> Coverage:
    """Coverage of every interval of a crosstab of two yes-no questions."""
    f, g = shares.sum(axis=1), shares.sum(axis=0)
    given = shares / f[:, None]
    top, bottom = shares[0, 0] * shares[1, 1], shares[0, 1] * shares[1, 0]
    odds = top / bottom if bottom else math.inf
    r = (shares[1, 1] - f[1] * g[1]) / math.sqrt(f.prod() * g.prod())
    held = np.zeros(2)
    for reports in draw(pair, shares, n, draws, np.random.default_rng(seed)):
        table = Crosstab.from_reports(reports)
        ends = table.odds_ratio().confidence_interval(), table.correlation().confidence_interval()
        held += [low - 1e-12 <= truth <= high + 1e-12 for (low, high), truth in zip(ends, (odds, r), strict=True)]
    channel = np.asarray(np.kron(*(design_of(each).float_matrix for each in pair)), dtype=float)
    tallies = np.random.default_rng(seed).multinomial(n, channel @ shares.ravel(), size=draws).astype(float)
    everybody, row = np.ones((4, 4)), np.repeat(np.repeat(np.eye(2), 2, axis=0), 2, axis=1)
    cells = least_coverage(channel, tallies, everybody, shares.ravel())
    return Coverage(cells, least_coverage(channel, tallies, row, given.ravel()), *(held / draws).tolist())


def least_coverage(channel: Table, tallies: Table, wholes: Table, truths: Table) -> float:
    """The worst of all cells: how often the test that intervals invert lets the truth stay, without their ends."""
    likelihood = ShareLikelihood([channel])
    best = likelihood.best(tallies)
    held = []
    for part, whole, truth in zip(np.eye(len(wholes)), wholes, np.clip(truths, 1e-6, 1 - 1e-6), strict=True):
        rows = np.tile(part - truth * whole, (len(tallies), 1))
        held.append(float((likelihood.p_values(tallies, best, rows, ALPHA) > ALPHA).mean()))
    return min(held)


def intervals(draws: int, sizes: tuple[int, ...] = (50, 200, 1000)) -> str:
    """Coverage over several tables of two yes-no questions with two fair coins each."""
    tables = {
        "independent, 1/4 each": [[0.25, 0.25], [0.25, 0.25]],
        "0.6, 0.1, 0.1, 0.2": [[0.6, 0.1], [0.1, 0.2]],
        "rare: 0.90, 0.05, 0.04, 0.01": [[0.9, 0.05], [0.04, 0.01]],
        "the same: 0.7, 0, 0, 0.3": [[0.7, 0.0], [0.0, 0.3]],
    }
    rows = []
    for (name, shares), n in itertools.product(tables.items(), sizes):
        found = coverage((COINS, COINS), np.array(shares), n, draws, seed=n)
        figures = (found.cell, found.conditional, found.odds_ratio, found.correlation)
        rows.append([name, str(n), *(f"{figure:.3f}" for figure in figures)])
    header = [f"95 % intervals, {draws} draws", "n", "cell, worst", "conditional, worst", "odds ratio", "correlation"]
    return format_table(header, rows, right=header[1:])


ONE_RESPONSE: dict[str, tuple[int, int, str, list[float]]] = {
    "2 options, epsilon 1": (2, 2, "1", [0.5, 0.5]),
    "2 options, epsilon 2": (2, 2, "2", [0.5, 0.5]),
    "2 options, one of .2": (2, 2, "2", [0.8, 0.2]),
    "2 options, one of .05": (2, 2, "2", [0.95, 0.05]),
    "2 options, three asked": (2, 3, "3", [0.8, 0.2]),
    "2 options, epsilon 4, one of .1": (2, 2, "4", [0.9, 0.1]),
    "2 options, epsilon 4, one of .02": (2, 2, "4", [0.98, 0.02]),
    "3 options, epsilon 2": (3, 2, "2", [0.34, 0.33, 0.33]),
    "3 options, epsilon 3, one of .05": (3, 2, "3", [0.8, 0.15, 0.05]),
    "3 options, epsilon 4": (3, 2, "4", [0.6, 0.3, 0.1]),
    "3 options, epsilon 4, one of .02": (3, 2, "4", [0.9, 0.08, 0.02]),
}
"""Options of both questions, how many a device asks, epsilon, and the shares of the options."""


def rejections_in_one_response(name: str, n: int, draws: int, seed: int, level: float = 0.05) -> float:
    """How often independence is rejected of two questions that are independent, among ``n`` who were asked both."""
    k, s, epsilon, margin = ONE_RESPONSE[name]
    options = tuple("abc"[:k])
    cells = list(itertools.product(options, options))
    channel = pair_channel(support_of_digits(KAry.from_epsilon(k**s, epsilon), k, 2), cells, name)
    expected = channel.expected(np.outer(margin, margin).ravel().tolist())
    drawn = np.random.default_rng(seed).multinomial(n, expected, size=draws).tolist()
    pairs = (DrawnPair(channel.estimate(counts), options, options, None) for counts in drawn)
    return sum(pair.independence().p_value <= level for pair in pairs) / draws


def levels_in_one_response(draws: int, sizes: tuple[int, ...] = (20, 30, 50, 100, 200, 1000)) -> str:
    """Level of the test of independence of two questions of one response."""
    rows = []
    for seed, name in enumerate(ONE_RESPONSE):
        found = (rejections_in_one_response(name, n, draws, seed) for n in sizes)
        rows.append([name, *(f"{100 * each:.1f} %" for each in found)])
    header = [f"level of 5 %, one response, {draws} draws", *map(str, sizes)]
    return format_table(header, rows, right=header[1:])


def main() -> None:
    """Print the tables: some minutes."""
    print(levels(4000), end="\n\n")
    print(levels_in_one_response(4000), end="\n\n")
    print(intervals(2000))

"""Prints how often intervals and tests between two cohorts are right, by enumeration.

Nothing is drawn at random: every pair of counts is weighed with its probability.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from deniable import Warner
from deniable.table import format_table
from deniable_statistics.classical import Channel, forced_response, from_mechanism
from deniable_statistics.comparison import ratio
from deniable_statistics.comparison.linear import linear_interval
from deniable_statistics.intervals import wilson

SHARES = (0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1)

PAIRS = list(itertools.combinations_with_replacement(SHARES, 2))
"""45 pairs; the cohorts are of one size, so exchanging them changes nothing."""

DESIGNS: dict[str, Channel] = {
    "two fair coins (ln 3)": forced_response("1/2"),
    "Warner, epsilon 1": from_mechanism(Warner.from_epsilon(1)),
}


@dataclass(frozen=True)
class Row:
    """What happens at one pair of true shares."""

    shares: tuple[float, float]
    difference: float
    """Coverage of the interval of the difference."""
    ratio: float | None
    """Coverage of the interval of the ratio; None where both shares are 0."""
    rejected: float
    """How often the test says that the shares differ."""


def chances(channel: Channel, n: int, share: float) -> NDArray[np.float64]:
    """The probability of every count of supporting reports."""
    return np.asarray(binom.pmf(np.arange(n + 1), n, channel.expected([1 - share, share])[1]))


def enumerate_cohorts(channel: Channel, n: int, level: float = 0.95) -> list[Row]:
    """Compare two cohorts of ``n`` for every pair of counts, and weigh what comes out for every pair of shares."""
    estimates = [channel.estimate([n - yes, yes]) for yes in range(n + 1)]
    results = [[ratio(first, second) for second in estimates] for first in estimates]
    apart = np.array([[each.difference.confidence_interval(level) for each in row] for row in results])
    times = np.array([[each.confidence_interval(level) for each in row] for row in results])
    rejected = np.array([[each.p_value <= 1 - level for each in row] for row in results])

    def covered(ends: NDArray[np.float64], truth: float) -> float:
        holds = (ends[..., 0] - 1e-12 <= truth) & (truth <= ends[..., 1] + 1e-12)
        return float(chance[holds].sum())

    rows = []
    for second, first in PAIRS:
        chance = np.outer(chances(channel, n, first), chances(channel, n, second))
        quotient = None if first == second == 0 else covered(times, first / second if second else np.inf)
        rows.append(Row((first, second), covered(apart, first - second), quotient, float(chance[rejected].sum())))
    return rows


def table(sizes: tuple[int, ...]) -> str:
    """Lowest and mean coverage, and the range of the test's level over equal shares."""
    lines = []
    for name, channel in DESIGNS.items():
        for n in sizes:
            rows = enumerate_cohorts(channel, n)
            differences = [row.difference for row in rows]
            ratios = [row.ratio for row in rows if row.ratio is not None]
            levels = [row.rejected for row in rows if row.shares[0] == row.shares[1]]
            figures = [min(differences), np.mean(differences), min(ratios), np.mean(ratios), min(levels), max(levels)]
            lines.append([name, str(n), *(f"{figure:.4f}" for figure in figures)])
    header = ["95 %, 45 pairs", "n", "difference, lowest", "mean", "ratio, lowest", "mean", "level, lowest", "highest"]
    return format_table(header, lines, right=header[1:])


SMALL_SIZES = ((3, 3), (3, 7), (7, 7), (3, 33), (7, 33), (20, 20), (33, 61), (49, 49), (50, 50), (100, 100), (100, 300))
"""Numbers of people in the two cohorts, from exact intervals to those of larger cohorts."""

SMALL_EPSILONS = (0.5, 1, 2, 3.3, 4)

FINE_SHARES = np.unique(
    [0, 0.003, 0.007, 0.015, 0.03, 0.05, *np.linspace(0.08, 0.92, 15), 0.95, 0.97, 0.985, 0.993, 0.997, 1]
)
"""True shares of both cohorts, denser towards the ends."""


@dataclass(frozen=True)
class SmallCohorts:
    """What the intervals of two cohorts cover at the worst pair of true shares, and their mean widths.

    `before` and `width_before` are of Newcombe's interval on Wilson's limits.
    """

    coverage: float
    before: float
    width: float
    width_before: float
    ratio: float


def small_cohorts(sizes: tuple[int, int], epsilon: float, level: float = 0.95) -> SmallCohorts:
    """Weigh the intervals of all pairs of counts of Warner's coin for all pairs of `FINE_SHARES`."""
    channel = from_mechanism(Warner.from_epsilon(epsilon))
    firsts, seconds = ([channel.estimate([n - yes, yes]) for yes in range(n + 1)] for n in sizes)
    results = [[ratio(first, second) for second in seconds] for first in firsts]
    apart = np.array([[each.difference.confidence_interval(level) for each in row] for row in results])
    times = np.array([[each.confidence_interval(level) for each in row] for row in results])
    a, b = channel.expected([0, 1])[1], channel.expected([1, 0])[1]
    wilsons = [[wilson(yes, n, level).debiased(a, b) for yes in range(n + 1)] for n in sizes]
    before = np.array(
        [
            [
                linear_interval((1, -1), each.difference.shares, (one, other)).cut(-1, 1)
                for each, other in zip(row, wilsons[1], strict=True)
            ]
            for row, one in zip(results, wilsons[0], strict=True)
        ]
    )
    weights = [np.array([chances(channel, n, share) for share in FINE_SHARES]) for n in sizes]
    truths, least = list(itertools.product(range(len(FINE_SHARES)), repeat=2)), {}
    for name, ends in (("coverage", apart), ("before", before), ("ratio", times)):
        found = []
        for i, j in truths:
            first, second = FINE_SHARES[i], FINE_SHARES[j]
            if name == "ratio":
                if first == second == 0:
                    continue
                truth = first / second if second else np.inf
            else:
                truth = first - second
            held = (ends[..., 0] <= truth + 1e-9) & (ends[..., 1] >= truth - 1e-9)
            found.append(float(weights[0][i] @ held @ weights[1][j]))
        least[name] = min(found)
    mean = [each.mean(axis=0) for each in weights]
    width, width_before = (float(mean[0] @ (ends[..., 1] - ends[..., 0]) @ mean[1]) for ends in (apart, before))
    return SmallCohorts(least["coverage"], least["before"], width, width_before, least["ratio"])


def small_table() -> str:
    """One row for each pair of sizes and epsilon."""
    lines = []
    for sizes, epsilon in itertools.product(SMALL_SIZES, SMALL_EPSILONS):
        found = small_cohorts(sizes, epsilon)
        figures = (found.coverage, found.before, found.width, found.width_before, found.ratio)
        lines.append([f"{sizes[0]} and {sizes[1]}", f"{epsilon:g}", *(f"{figure:.4f}" for figure in figures)])
    header = ["people", "epsilon", "lowest", "on Wilson's limits", "width", "on Wilson's limits ", "ratio, lowest"]
    return format_table(header, lines, right=header[1:])


def main() -> None:
    """Print the tables: some minutes."""
    print(table((50, 100, 500)), end="\n\n")
    print("95 %, Warner's coin, the worst of 27 times 27 pairs of true shares")
    print(small_table())

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
from deniable_research.comparison import ratio
from deniable_research.designs import Channel, forced_response, from_mechanism

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
    apart = np.array([[each.difference.interval(level) for each in row] for row in results])
    times = np.array([[each.interval(level) for each in row] for row in results])
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


def main() -> None:
    """Print the table: about a minute."""
    print(table((50, 100, 500)))

"""Prints how often intervals hold the truth, how long they are and what they cost.

Coverage of one share is added up over all counts, not simulated; that of all shares of a question is simulated.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, xlog1py, xlogy
from scipy.stats import binom

from deniable import KAry, Warner
from deniable.table import format_table
from deniable_statistics.intervals import METHODS, resolve_method, share_interval, share_intervals
from deniable_statistics.intervals.interval import level_of_each
from deniable_statistics.sampling.weights import kish

Floats = NDArray[np.float64]
Pair = tuple[float, float]

EPSILONS = {"0.5": 0.5, "1": 1.0, "ln 3": math.log(3), "2": 2.0, "4": 4.0}
SIZES = (20, 50, 100, 500, 2000)
OPTIONS = (2, 3, 5, 10)
LARGE = (2001, 3000, 5000, 10_000)
LEVEL = 0.95
CHOICES = ("default", *METHODS)


def designs(k: int) -> dict[str, Pair]:
    """The support of one option of k for each epsilon; two options are Warner's coin, at ln 3 the two fair coins."""
    make = {name: Warner.from_epsilon(e) if k == 2 else KAry.from_epsilon(k, e) for name, e in EPSILONS.items()}
    return {name: (float(each.support[0].if_true), float(each.support[0].if_other)) for name, each in make.items()}


@dataclass(frozen=True)
class Cell:
    """Intervals of one method for every count that can come, with the probabilities of these counts.

    Attributes
    ----------
    shares : ndarray, shape (s,)
        True shares.
    probabilities : ndarray, shape (s, c)
        Of each count if the share is true. Counts beyond tails of 1e-12 are left out, so they count as misses.
    low, high : ndarray, shape (c,)
        Limits for each count.
    """

    shares: Floats
    probabilities: Floats
    low: Floats
    high: Floats

    @property
    def coverage(self) -> Floats:
        """Probability that the interval holds the share, by share."""
        share = self.shares[:, None]
        held = (self.low - 1e-9 <= share) & (share <= self.high + 1e-9)
        return np.einsum("sc,sc->s", self.probabilities, held)

    @property
    def width(self) -> float:
        """Mean length over counts and shares."""
        return float((self.probabilities @ (self.high - self.low)).mean())

    @property
    def points(self) -> float:
        """Mean probability of an interval that is a single point."""
        return float((self.probabilities @ (self.high <= self.low)).mean())


@lru_cache(maxsize=1)  # the methods come one after the other
def counts_and_probabilities(n: int, support: Pair, shares: int) -> tuple[NDArray[np.int64], Floats, Floats]:
    """The counts that can come, true shares, and the probability of each count by share."""
    a, b = support
    share = np.linspace(0, 1, shares)
    lam = (b + (a - b) * share)[:, None]
    count = np.arange(int(binom.ppf(1e-12, n, b)), int(binom.isf(1e-12, n, a)) + 1)
    ways = -betaln(count + 1, n - count + 1) - math.log(n + 1)
    return count, share, np.exp(ways + xlogy(count, lam) + xlog1py(n - count, -lam))


def cell(n: int, support: Pair, method: str, shares: int = 201) -> Cell:
    """Intervals for every count of ``n`` and the probabilities of these counts for equally spaced shares."""
    count, share, probabilities = counts_and_probabilities(n, support, shares)
    limits = np.array([share_interval(each, n, support, LEVEL, method) for each in count.tolist()])
    return Cell(share, probabilities, limits[:, 0], limits[:, 1])


Cells = Mapping[str, Mapping[tuple[int, str], Cell]]
"""By method, then by number of reports and epsilon."""


def cells(
    sizes: Iterable[int], supports: Mapping[str, Pair], methods: Iterable[str] = CHOICES, shares: int = 201
) -> Cells:
    """Every method at every size and epsilon."""
    table: dict[str, dict[tuple[int, str], Cell]] = {method: {} for method in methods}
    for n in sizes:
        for name, support in supports.items():
            for method, group in table.items():
                group[n, name] = cell(n, support, method, shares)
    return table


def lowest(group: Mapping[tuple[int, str], Cell]) -> tuple[float, str]:
    """The lowest coverage of a method, and where it is."""
    n, name = min(group, key=lambda place: group[place].coverage.min())
    worst = group[n, name]
    share = worst.shares[worst.coverage.argmin()]
    return float(worst.coverage.min()), f"n {n}, eps {name}, share {share:.3f}"


def lowest_of_likelihood_ratio(n: int, supports: Mapping[str, Pair]) -> tuple[float, str]:
    """What the default covers above the size up to which it is exact; cell by cell, which take much memory."""
    return min(
        lowest({(n, name): cell(n, support, "likelihood-ratio", shares=1001)}) for name, support in supports.items()
    )


def width_ratio(table: Cells, *sizes: int) -> float:
    """Mean length of the default over that of Clopper-Pearson, at these numbers of reports."""
    mean = {method: np.mean([each.width for key, each in table[method].items() if key[0] in sizes]) for method in table}
    return float(mean["default"] / mean["clopper-pearson"])


def coverage_table(table: Cells) -> str:
    """One row for each method."""
    rows = []
    for method, group in table.items():
        least, where = lowest(group)
        mean = np.mean([each.coverage.mean() for each in group.values()])
        width = np.mean([each.width for each in group.values()])
        points = np.mean([each.points for each in group.values()])
        rows.append([method, f"{least:.4f}", where, f"{mean:.4f}", f"{width:.4f}", f"{100 * points:.2f} %"])
    header = ["method", "lowest", "where", "mean", "width", "single point"]
    return format_table(header, rows, right={"lowest", "mean", "width", "single point"})


def truths(k: int) -> dict[str, Floats]:
    """True shares: all equal, falling like 1/rank, everybody the same, and two halves."""
    zipf = 1 / np.arange(1, k + 1)
    halves = np.repeat([0.5, 0.0], [2, k - 2])
    return {"equal": np.full(k, 1 / k), "Zipf": zipf / zipf.sum(), "one": np.eye(k)[0], "two": halves}


def joint_coverage(k: int, support: Pair, n: int, share: Floats, simulations: int, seed: int) -> tuple[float, float]:
    """How often all intervals of a question hold their shares, and their mean length, by simulation."""
    a, b = support
    reports = np.random.default_rng(seed).multinomial(n, b + (a - b) * share, size=simulations)
    count, place = np.unique(reports, return_inverse=True)
    # Those of `simultaneous_intervals`, of all counts at once, which costs far fewer calls of numpy.
    ends = share_intervals([(each, n, support) for each in count.tolist()], level_of_each(LEVEL, k))
    limits = np.array(ends)[place.reshape(reports.shape)]
    held = (limits[..., 0] - 1e-9 <= share) & (share <= limits[..., 1] + 1e-9)
    return float(held.all(axis=1).mean()), float((limits[..., 1] - limits[..., 0]).mean())


def joint_table(
    sizes: Sequence[int] = (50, 200, 2000, 5000, 20_000), options: Sequence[int] = (3, 5, 10), simulations: int = 20_000
) -> tuple[str, float]:
    """One row for each number of options and reports, and the lowest joint coverage of all."""
    rows, least = [], 1.0
    for k in options:
        for n in sizes:
            found = {}
            for name, support in designs(k).items():
                for shape, share in truths(k).items():
                    found[f"eps {name}, {shape}"] = joint_coverage(k, support, n, share, simulations, seed=n + k)
            where = min(found, key=lambda place: found[place][0])
            least = min(least, found[where][0])
            mean, width = np.mean(list(found.values()), axis=0)
            method = resolve_method("default", n)
            rows.append([str(k), str(n), method, f"{found[where][0]:.4f}", where, f"{mean:.4f}", f"{width:.4f}"])
    header = ["options", "n", "method", "lowest", "where", "mean", "width"]
    return format_table(header, rows, right={"options", "n", "lowest", "mean", "width"}), least


def weighted_coverage(n: int, share: float, support: Pair, method: str, simulations: int, seed: int) -> float:
    """How often the interval holds a share if reports have lognormal weights, with Kish's effective ``n``."""
    a, b = support
    random, held = np.random.default_rng(seed), 0
    for _ in range(simulations):
        weights = random.lognormal(0, 0.7, n)
        supporting = weights @ (random.random(n) < b + (a - b) * share) / weights.sum()
        effective = kish(weights)
        low, high = share_interval(supporting * effective, effective, support, LEVEL, method)
        held += low <= share <= high
    return held / simulations


def milliseconds(method: str, n: int, rows: int = 40) -> float:
    """Time of one interval: the median over counts across the range of two fair coins."""
    times = []
    for count in [n // 2, *(round(n * lam) for lam in np.linspace(0.2, 0.8, rows))]:  # the first one imports
        start = time.perf_counter()
        share_interval(count, n, (0.75, 0.25), LEVEL, method)
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times[1:]))


def main() -> None:
    """Print all tables."""
    for k in OPTIONS:
        table = cells(SIZES, designs(k))
        print(f"One share of {k}, {100 * LEVEL:g} %; n {', '.join(map(str, SIZES))}; epsilon {', '.join(EPSILONS)}")
        print(coverage_table(table))
        ratios = ", ".join(f"{width_ratio(table, n):.3f} (n {n})" for n in SIZES)
        small = width_ratio(table, *SIZES[:3])
        print(f"Length of the default over Clopper-Pearson's: {ratios}; {small:.3f} for n up to {SIZES[2]}\n")

    rows = []
    for n in LARGE:
        found = [lowest_of_likelihood_ratio(n, designs(k)) for k in OPTIONS]
        rows.append([str(n), *(f"{least:.4f}" for least, _ in found), min(found)[1]])
    print("Likelihood ratio, lowest coverage of one share of k, at 1001 true shares")
    print(format_table(["n", "k = 2", "3", "5", "10", "where"], rows, right={"n", "k = 2", "3", "5", "10"}), end="\n\n")

    print("All shares together, k-ary, 20,000 simulations for each epsilon and truth")
    print(joint_table()[0], end="\n\n")

    rows = []
    for method in ("feldman-cousins", "likelihood-ratio", "wilson"):
        found = [weighted_coverage(300, share, (0.75, 0.25), method, 4000, seed=1) for share in (0.05, 0.3, 0.6)]
        rows.append([method, *(f"{each:.4f}" for each in found)])
    print("Lognormal weights, 300 reports, Kish's effective n, 4,000 simulations, by share")
    print(format_table(["method", "0.05", "0.3", "0.6"], rows, right={"0.05", "0.3", "0.6"}), end="\n\n")

    sizes = (100, 2000, 10_000, 1_000_000)
    rows = [[method, *(f"{milliseconds(method, n):.3f}" for n in sizes)] for method in CHOICES]
    print("Milliseconds for one interval, by number of reports")
    print(format_table(["method", *map(str, sizes)], rows, right=set(map(str, sizes))))

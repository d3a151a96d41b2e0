"""Prints how often intervals hold the truth if some of the reports are fake, and what that costs in width.

Where one binomial counts an option every outcome is gone through with its probability. Whoever sends the fakes sees the
true reports, and then sends what makes the interval miss if anything does. Shares that no one binomial counts, and
means, are simulated: all fakes say the same, whatever makes the interval miss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.stats import binom

from deniable import Geometric
from deniable.estimation.fakes import fakes_among
from deniable.estimation.intervals import Interval, contaminated_interval, share_interval
from deniable.table import format_table

SUPPORT = (0.75, 0.25)
FRACTIONS = (0.0, 0.01, 0.05)
SHARES = np.linspace(0, 1, 41)
SAMPLES = 100
TRUE = ((1 / 3, 1 / 3, 1 / 3), (0.9, 0.1, 0.0), (0.0, 1.0, 0.0))


def fakes_beside(true: int, fraction: float) -> int:
    """The largest number of fakes that is at most that fraction of all reports, those included."""
    return max(k for k in range(true + 1) if k <= fakes_among(fraction, true + k))


def coverage(
    true: int, fraction: float, ways: Sequence[str], method: str = "default", *, is_plain: bool = False
) -> dict[str, float]:
    """The least coverage over all shares, exactly, for fakes that push up, down, or do what makes the interval miss.

    The last way goes through all that so many fakes or fewer can say.
    """
    most = fakes_beside(true, fraction)

    @cache
    def interval(count: int, n: int) -> Interval:
        if is_plain:
            return share_interval(count, n, SUPPORT, method=method)
        return contaminated_interval(count, n, SUPPORT, fakes_among(fraction, n), method=method)

    a, b = SUPPORT
    counts = np.arange(true + 1)
    sent = {
        "up": [(most, most)],
        "down": [(0, most)],
        "either": [(0, most), (most, most)],
        "anything": [(j, k) for k in range(most + 1) for j in range(k + 1)],
    }
    found = {}
    for way in ways:
        ends = np.array([[interval(c + j, true + k) for j, k in sent[way]] for c in counts.tolist()])
        low, high = ends[:, :, 0].max(axis=1), ends[:, :, 1].min(axis=1)
        held = [((low <= f + 1e-12) & (f - 1e-12 <= high)) @ binom.pmf(counts, true, b + (a - b) * f) for f in SHARES]
        found[way] = float(min(held))
    return found


def width(n: int, fraction: float, share: float) -> float:
    """Of the interval at the count to expect, in percentage points."""
    a, b = SUPPORT
    count = round(n * (b + (a - b) * share))
    low, high = contaminated_interval(count, n, SUPPORT, fakes_among(fraction, n))
    return 100 * (high - low)


def simulated(true: int, fraction: float, shares: Sequence[float], samples: int, seed: int = 1961) -> list[list[str]]:
    """Of noise over three numbers: how often shares and the mean are held, without fakes and with the worst of them."""
    draw = np.random.default_rng(seed)
    design = Geometric.from_epsilon(1, 3, 2)
    values, fakes = (1.0, 2.0, 3.0), fakes_beside(true, fraction)
    held = np.zeros((2, 4))
    broken = np.zeros(4)
    widths = np.zeros((2, 4))
    truth = [*shares, float(np.dot(shares, values))]
    for counts in (
        draw.multinomial(true, design.channels[0] @ np.array(shares), size=samples) if design.channels else ()
    ):
        plain = [
            *design.estimate(counts.tolist()).interval(),
            design.estimate_mean(counts.tolist(), None, values).interval(),
        ]
        before = np.array([low <= f + 1e-9 and f - 1e-9 <= high for f, (low, high) in zip(truth, plain, strict=True)])
        after, total = np.ones(4, dtype=bool), np.zeros(4)
        for said in range(3):
            tally = (counts + fakes * (np.arange(3) == said)).tolist()
            found = [
                *design.estimate(tally).interval(fakes=fakes),
                design.estimate_mean(tally, None, values).interval(fakes=fakes),
            ]
            after &= [low <= f + 1e-9 and f - 1e-9 <= high for f, (low, high) in zip(truth, found, strict=True)]
            total += [high - low for low, high in found]
        held += [before, after]
        broken += before & ~after
        widths += [[high - low for low, high in plain], total / 3]
    names = ["share of 1", "share of 2", "share of 3", "mean"]
    return [
        [
            " ".join(f"{share:.2g}" for share in shares),
            name,
            f"{held[0, place] / samples:.3f}",
            f"{held[1, place] / samples:.3f}",
            f"{broken[place] / samples:.3f}",
            f"{widths[0, place] / samples:.3f}",
            f"{widths[1, place] / samples:.3f}",
        ]
        for place, name in enumerate(names)
    ]


def main() -> None:
    lines = []
    for true, ways in (
        (40, ("up", "down", "anything")),
        (100, ("up", "down", "anything")),
        (1000, ("up", "down", "either")),
    ):
        for fraction in FRACTIONS:
            found = coverage(true, fraction, ways)
            plain = coverage(true, fraction, ways[2:], is_plain=True)
            figures = [f"{found[way]:.4f}" for way in ways]
            lines.append(
                [str(true), f"{fraction:g}", str(fakes_beside(true, fraction)), *figures, f"{plain[ways[2]]:.4f}"]
            )
    print("Two fair coins, default intervals of 95 %: least coverage over all shares, exactly")
    header = ["true reports", "f", "fakes", "push up", "push down", "adaptive", "adaptive, plain interval"]
    print(format_table(header, lines, right=set(header)))
    print("\nWidth of the interval, in percentage points, at a share of .3")
    header = ["reports", *(f"f = {fraction:g}" for fraction in (0, 0.005, 0.01, 0.02, 0.05, 0.1))]
    rows = [
        [str(n), *(f"{width(n, fraction, 0.3):.1f}" for fraction in (0, 0.005, 0.01, 0.02, 0.05, 0.1))]
        for n in (100, 1000, 10_000, 100_000)
    ]
    print(format_table(header, rows, right=set(header)))
    error = math.sqrt(0.05 * 0.95 / SAMPLES)
    print(f"\nGeometric noise over 1 to 3 at epsilon 2, 200 true reports, {SAMPLES} samples (give or take {error:.3f})")
    header = ["shares", "figure", "plain, no fakes", "f = .05, worst", "lost", "width", "width, f = .05"]
    lines = [line for shares in TRUE for line in simulated(200, 0.05, shares, SAMPLES)]
    print(format_table(header, lines, right=set(header[2:])))


if __name__ == "__main__":
    main()

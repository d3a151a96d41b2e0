"""Prints how often intervals hold the truth if some of the reports are fake, and what that costs in width.

Where one binomial counts an option every outcome is gone through with its probability. Whoever sends the fakes sees the
true reports, and then sends what makes the interval miss if anything does. Shares that no one binomial counts, and
means, are simulated: all fakes say the same, or half of them do and the others nothing or something else, whatever
makes the interval miss.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from deniable import Geometric
from deniable.table import format_table
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.estimates.fakes import fakes_among
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import Interval, contaminated_interval, share_interval
from deniable_statistics.intervals.profile import ENDS, ScoreEstimate, ShareLikelihood

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

SUPPORT = (0.75, 0.25)
FRACTIONS = (0.0, 0.01, 0.05)
SHARES = np.linspace(0, 1, 41)
SAMPLES = 1000
DESIGN, VALUES = Geometric.from_epsilon(1, 3, 2), (1.0, 2.0, 3.0)
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
    """Width of the interval at the expected count, in percentage points."""
    a, b = SUPPORT
    count = round(n * (b + (a - b) * share))
    low, high = contaminated_interval(count, n, SUPPORT, fakes_among(fraction, n))
    return 100 * (high - low)


def simulated(true: int, fraction: float, shares: Sequence[float], samples: int, seed: int = 1961) -> list[list[str]]:
    """Coverage of shares and of the mean of three numbers behind noise, without fakes and with the worst of them.

    Whether the truth is rejected is asked for, not the whole interval, which can only hold more.
    """
    channels = design_of(DESIGN).channels
    assert channels is not None
    likelihood, fakes = ShareLikelihood(channels), fakes_beside(true, fraction)
    counts = np.random.default_rng(seed).multinomial(true, channels[0] @ np.array(shares), size=samples).astype(float)
    weights, constant = design_of(DESIGN).mean_weights(VALUES)
    scored = ScoreEstimate((np.array(weights) + constant - 1) / 2, (np.array(VALUES) - 1) / 2)
    mean = float(scored.part @ np.array(shares))

    def holds(tallies: Floats, rows: Floats, by: ScoreEstimate | None = None) -> Flags:
        return likelihood.p_values(tallies, likelihood.best(tallies), rows, 0.05, by) > 0.05

    def holds_mean(tallies: Floats, fakes: int) -> Flags:
        rows = np.tile(scored.part - mean, (samples, 1))
        sides = []
        for sign in (1, -1):
            left = tallies - taken(tallies, np.argsort(-sign * scored.scores), fakes)
            beyond = sign * (left @ scored.scores / left.sum(axis=1) - mean) <= 0
            sides.append(beyond | holds(left, rows, scored))
        return sides[0] & sides[1]

    value, half = np.eye(3), fakes // 2
    sent = [fakes * each for each in value] + [half * each for each in value]
    sent += [half * one + (fakes - half) * other for one, other in itertools.combinations(value, 2)]
    tallies = [(counts + each, int(fakes_among(fraction, true + int(each.sum())))) for each in sent]
    expected = np.rint(true * channels[0] @ np.array(shares)).astype(int).tolist()
    plain = [
        *DESIGN.estimate(expected).confidence_interval(),
        MeanEstimate.from_counts(DESIGN, expected, None, VALUES).confidence_interval(),
    ]
    wider = [
        *DESIGN.estimate(expected).confidence_interval(fakes=fakes),
        MeanEstimate.from_counts(DESIGN, expected, None, VALUES).confidence_interval(fakes=fakes),
    ]
    lines = []
    for place, name in enumerate(("share of 1", "share of 2", "share of 3", "mean")):
        if name == "mean":
            before = holds_mean(counts, 0)
            after = np.logical_and.reduce([holds_mean(*each) for each in tallies])
        else:
            truth = float(np.clip(shares[place], ENDS, 1 - ENDS))
            rows = np.tile(np.eye(3)[place] - truth, (samples, 1))
            before = holds(counts, rows)
            after = np.logical_and.reduce(
                [holds(each, rows) | holds(likelihood.without_fakes(each, rows, most), rows) for each, most in tallies]
            )
        rates = [before.mean(), after.mean(), (before & ~after).mean()]
        widths = [float(each[place].high - each[place].low) for each in (plain, wider)]
        figures = [f"{each:.3f}" for each in (*rates, *widths)]
        lines.append([" ".join(f"{share:.2g}" for share in shares), name, *figures])
    return lines


def taken(tallies: Floats, order: NDArray[np.intp], fakes: int) -> Floats:
    """The ``fakes`` reports that come first in an order, taken from each tally."""
    held = tallies[:, order]
    found = np.empty_like(tallies)
    found[:, order] = np.clip(fakes - (held.cumsum(axis=1) - held), 0, held)
    return found


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
    header = ["shares", "figure", "plain, no fakes", "f = .05, worst", "lost", "width", "width, f = .05"]
    for true in (200, 1000):
        print(f"\nGeometric noise over 1 to 3, epsilon 2, {true} true reports, {SAMPLES} samples (+- {error:.3f})")
        lines = [line for shares in TRUE for line in simulated(true, 0.05, shares, SAMPLES)]
        print(format_table(header, lines, right=set(header[2:])))


if __name__ == "__main__":
    main()

"""Prints what the mechanisms cost.

Epsilon lost to integer weights on a grid of parameters, and the total variance of what is chosen by default beside
what it was chosen from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from deniable import Mechanism, mechanisms
from deniable.exact import exp_below, log_above
from deniable.table import format_table
from deniable_statistics.authoring.sample_size import noise_if_even
from deniable_statistics.authoring.selection import choose_for_choice

EPSILONS = ["0.1", "0.5", "1", "1.0986", "2", "4", "8"]


def distance(k: int) -> list[list[int]]:
    """The score that falls with the distance of the levels."""
    return [[-abs(x - r) for r in range(k)] for x in range(k)]


MAKERS: dict[str, Callable[[str], Mechanism]] = {
    "warner": lambda epsilon: mechanisms.Warner.from_epsilon(epsilon),
    **{f"k-ary, {k}": lambda epsilon, k=k: mechanisms.KAry.from_epsilon(k, epsilon) for k in (2, 3, 5, 10, 16, 100)},
    **{
        f"subset, {w} of {k}": lambda epsilon, k=k, w=w: mechanisms.Subset.from_epsilon(k, w, epsilon)
        for k, w in [(4, 2), (10, 3), (30, 8), (128, 38)]
    },
    **{f"tick boxes, {k}": lambda epsilon, k=k: mechanisms.TickBoxes.from_epsilon(k, epsilon) for k in (2, 5, 20)},
    **{
        f"geometric, {hi + 1}": lambda epsilon, hi=hi: mechanisms.Geometric.from_epsilon(0, hi, epsilon)
        for hi in (1, 4, 10, 100)
    },
    **{
        f"discrete Laplace, {hi + 1}": lambda epsilon, hi=hi: mechanisms.DiscreteLaplace.from_epsilon(0, hi, epsilon)
        for hi in (1, 10, 40)
    },
    **{
        f"exponential, {k}": lambda epsilon, k=k: mechanisms.Exponential.calibrated(distance(k), epsilon)
        for k in (2, 5, 11, 32)
    },
    **{
        f"piecewise, 0 to {hi}": lambda epsilon, hi=hi: mechanisms.Piecewise.from_epsilon(0, hi, epsilon)
        for hi in (1, 10, 100)
    },
    **{
        f"mean, 0 to {hi}": lambda epsilon, hi=hi: mechanisms.OneBitMean.from_epsilon(0, hi, epsilon)
        for hi in (1, 10, 100, 10**6)
    },
}

COINS = [(truth, yes) for truth in ("1/3", "1/2", "0.8", "0.95") for yes in ("1/10", "1/3", "1/2", "0.8")]


def rounding() -> str:
    """NoiseModel epsilon minus that of the integers; never negative, which is checked without floats."""
    rows, sets = [], 0
    for name, make in MAKERS.items():
        losses = []
        for epsilon in EPSILONS:
            mechanism = make(epsilon)
            parts = mechanism.k if isinstance(mechanism, mechanisms.TickBoxes) else 1
            assert mechanism.likelihood_ratio <= exp_below(Fraction(epsilon) / parts) ** parts
            losses.append(float(Fraction(epsilon)) - mechanism.epsilon)
            sets += 1
        rows.append([name, *(f"{loss:.1e}" for loss in losses)])
    losses = []
    for truth, yes in COINS:
        t, y = Fraction(truth), Fraction(yes)
        noise = 1 + t / ((1 - t) * min(y, 1 - y))
        mechanism = mechanisms.TwoCoin(truth, yes)
        assert mechanism.likelihood_ratio <= noise
        losses.append(log_above(noise) - mechanism.epsilon)
        sets += 1
    table = format_table(["epsilon lost", *EPSILONS], rows, right=EPSILONS)
    coins = f"two coins, {len(COINS)} pairs: at most {max(losses):.1e}"
    return f"{table}\n{coins}\n{sets} parameter sets; none above what was asked."


def unary_encoding(k: int, epsilon: float) -> float:
    """Total variance of optimised unary encoding, which is compared with and not used (Wang et al., USENIX 2017)."""
    q = 1 / (math.exp(epsilon) + 1)
    return ((k - 1) * q * (1 - q) + 0.25) / (0.5 - q) ** 2


def variances() -> str:
    """Total variance times n of the automatic choice, and its ratio to the best of all."""
    rows, worst = [], 0.0
    for k in (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100):
        row = [str(k)]
        for epsilon in ("0.5", "1", str(math.log(3)), "2", "4"):
            choice = choose_for_choice(k, epsilon)
            variances = [noise_if_even(each.mechanism) for each in choice.candidates]
            worst = max(worst, variances[0] / min(*variances, unary_encoding(k, float(epsilon))))
            size = choice.best.w if isinstance(choice.best, mechanisms.Subset) else 1
            row.append(f"{variances[0]:.4g} (w={size})")
        rows.append(row)
    header = ["options", "0.5", "1", "ln 3", "2", "4"]
    table = format_table(header, rows, right=header[1:])
    return f"{table}\nLargest ratio to the best of k-ary, OUE and subsets of every size: {worst:.6f}"


def main() -> None:
    print(rounding(), end="\n\n")
    print(variances())

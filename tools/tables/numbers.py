"""Prints the noise of a mean: that of each mechanism beside the least that any has.

``n`` times the variance that chance adds to the mean of uniform answers, scaled to [-1, 1]. The optimum is that of the
linear program with 61 answers, or all there are, and 127 outputs; it is never above that of all channels by more than
the grid of outputs costs.
"""

from __future__ import annotations

import math

from deniable import DiscreteLaplace, Geometric, KAry, Mechanism, OneBitMean, ParameterError, Piecewise
from deniable.mechanisms.optimum import optimal_noise
from deniable.survey.selection import mean_variance
from deniable.table import format_table

EPSILONS = ["0.5", "1", "2", "3", "4"]
LAST = (4, 6, 10, 60, 100, 1000)
KINDS: tuple[type[Mechanism], ...] = (KAry, Geometric, DiscreteLaplace, OneBitMean, Piecewise)


def noise(mechanism: Mechanism, last: int) -> float:
    """The noise alone, without the variance of the answers 0 to ``last``."""
    return (mean_variance(mechanism) - ((last + 1) ** 2 - 1) / 12) * 4 / last**2


def optimum(last: int, epsilon: str) -> float:
    """The least noise there can be."""
    return optimal_noise(last, math.exp(float(epsilon)), knots=61, outputs=127)


def row(kind: type[Mechanism], last: int) -> list[str]:
    """The noise of a mechanism at each epsilon, and how far it is above the optimum."""
    cells = []
    for epsilon in EPSILONS:
        try:
            found = noise(kind.for_answers(range(last + 1), epsilon), last)
            cells.append(f"{found:.3g} ({found / optimum(last, epsilon) - 1:+.1%})")
        except ParameterError:
            cells.append("")
    return [f"0 to {last}", kind.name, *cells]


def main() -> None:
    rows = []
    for last in LAST:
        rows.append([f"0 to {last}", "optimum", *(f"{optimum(last, epsilon):.3g}" for epsilon in EPSILONS)])
        rows += [row(kind, last) for kind in KINDS if last <= 100 or kind in (OneBitMean, Piecewise)]
    print(format_table(["answers", "n times variance", *EPSILONS], rows, right=EPSILONS))

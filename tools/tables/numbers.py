"""Prints the noise of a mean: that of each mechanism beside the least that any has.

``n`` times the variance that chance adds to the mean of uniform answers, scaled to [-1, 1]. The optimum is that of the
linear program with 61 answers, or all there are, and 127 outputs; it is never above that of all channels by more than
the grid of outputs costs.
"""

from __future__ import annotations

import math

from deniable import DiscreteLaplace, Geometric, KAry, Mechanism, OneBitMean, ParameterError, Piecewise
from deniable.table import format_table
from deniable_statistics.authoring.optimum import optimal_noise
from deniable_statistics.authoring.sample_size import mean_variance

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


def published(last: int, epsilon: float, *, is_hybrid: bool) -> float:
    """The noise of the piecewise mechanism of N. Wang et al., ICDE 2019, lemma 1, or of their hybrid with Duchi's."""
    square = (last + 2) / (3 * last)  # of uniform answers in [-1, 1]
    root = math.exp(epsilon / 2)
    piecewise = square / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
    if not is_hybrid:
        return piecewise
    duchi = ((math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)) ** 2 - square
    share = 1 - 1 / root if epsilon > HYBRID_FROM else 0.0
    return share * piecewise + (1 - share) * duchi


HYBRID_FROM = 0.61
"""Below this epsilon the hybrid is Duchi's mechanism alone."""


def main() -> None:
    rows = []
    for last in LAST:
        rows.append([f"0 to {last}", "optimum", *(f"{optimum(last, epsilon):.3g}" for epsilon in EPSILONS)])
        for name, is_hybrid in (("Wang et al., piecewise", False), ("Wang et al., hybrid", True)):
            figures = (published(last, float(epsilon), is_hybrid=is_hybrid) for epsilon in EPSILONS)
            rows.append([f"0 to {last}", name, *(f"{each:.3g}" for each in figures)])
        rows += [row(kind, last) for kind in KINDS if last <= 100 or kind in (OneBitMean, Piecewise)]
    print(format_table(["answers", "n times variance", *EPSILONS], rows, right=EPSILONS))

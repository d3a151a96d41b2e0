"""Prints what filters cost, and how often intervals among those to whom a question applies hold the truth.

* The least noise of a number that not everybody has, beside what the mechanisms have.
* Coverage of 95 % intervals of shares and means among them, over a grid of shares, numbers of people and epsilons: by
  every tally up to `MOST_ENUMERATED` people, and by simulated tallies beyond.
* Coverage of intervals of differences of cohorts among them, over the same grid.
* Widths with two questions, with both in one response to possible patterns, and with one question of combined options.

The least of many simulated cells is low by chance alone. So a cell in which the first `SAMPLES` cover less than
`SUSPECT` has `AGAIN` new samples, which alone are said then, with the standard error that so many have at .95.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack
from scipy.stats import multinomial

from deniable import FilteredPiecewise, KAry, Mechanism
from deniable.mechanisms.unequal_k_ary import UnequalKAry
from deniable.table import format_table
from deniable_statistics.authoring.optimum import Knots
from deniable_statistics.comparison.among import AmongDifference
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.estimates.among import AmongEstimate, variance_among
from deniable_statistics.estimates.mean_among import AmongMean

Floats = NDArray[np.float64]

EPSILONS = ("0.5", "1", "2", "3", "4")
MEANS = 1 / 3
"""Mean square of a mean in [-1, 1] that may be anywhere in the range."""

SAMPLES, AGAIN, SUSPECT = 2000, 20_000, 0.945
APPLYING = (0.02, 0.1, 0.3, 0.6)
INNER = (0.0, 0.05, 0.5, 0.95, 1.0)
PEOPLE = (200, 1000, 5000)
MOST_ENUMERATED = 200
"""Largest number of people whose tallies are all gone through."""

Z = 1.959963984540054


def main() -> None:
    """Print all tables."""
    print(format_table(["noise, one half applies", *EPSILONS], list(noise_rows()), right=EPSILONS))
    print("\nCoverage at 95 %:\n")
    heads = ["figure", "least coverage", "standard error", "where (epsilon, people, applying, share)"]
    print(format_table(heads, coverage_rows(), right=heads[1:3]))
    print("\nDifferences of two cohorts, of which one has one half among them:\n")
    heads = ["epsilon", "people each", "least coverage", "standard error", "where (applying, share)"]
    print(format_table(heads, difference_rows(), right=heads[:4]))
    print("\nHalf widths at one half among them, 1,000 people, epsilon 1 for each question or 2 for both:\n")
    print(format_table(["it applies to", "two questions", "one response"], width_rows()))


def noise_rows() -> list[list[str]]:
    """Noise in the mean of numbers from 0 to 60 scaled to [-1, 1], averaged over means, if one half is asked."""
    rows = [["optimum over a grid", *(f"{least_noise(math.exp(float(each))):.3g}" for each in EPSILONS)]]
    for hi in (60, 4):
        found = [noise_of(design_of(FilteredPiecewise.from_epsilon(0, hi, each)), hi) for each in EPSILONS]
        rows.append([f"filtered-piecewise, 0 to {hi}", *(f"{each:.3g}" for each in found)])
    options = [noise_of(design_of(KAry.from_epsilon(6, each)), 4) for each in EPSILONS]
    return [*rows, ["k-ary over 0 to 4 and the option", *(f"{each:.3g}" for each in options)]]


def noise_of(design: Design, hi: int) -> float:
    """The mean square of the influence of a report, over means in the range, for even numbers 0 to ``hi``."""
    numbers = np.array([float(name) for name in design.truths[:-1]])
    shares = np.array(design.shares_of_some(0.5))
    places = np.array([[*(2 * numbers / hi - 1), 0.0], [*np.ones(len(numbers)), 0.0]])
    scores = places @ design.debiasing.weights + (places @ design.debiasing.constant)[:, None]
    squares = (scores**2) @ np.array(design.expected(shares.tolist()))
    return float(squares[0] + MEANS * squares[1])


def least_noise(ratio: float, hi: int = 60, values: int = 31, marks: int = 13) -> float:
    """The noise of the best channel whose reports have values on a grid, by a linear program as in `optimum`."""
    line = Knots.with_knots(hi, 3 if ratio < 4 else 5)
    width, reach = 1.8 * (ratio + 1) / (ratio - 1), (ratio + 2) / (ratio - 1)
    number, mark = (
        each.ravel() for each in np.meshgrid(np.linspace(-width, width, values), np.linspace(-reach, reach + 1, marks))
    )
    rows, size = len(line.x) + 1, values * marks
    weights = np.append(line.shares / 2, 0.5)
    p = np.arange(rows * size)
    largest, ones, row = (
        rows * size + np.tile(np.arange(size), rows),
        np.ones(rows * size),
        np.repeat(np.arange(rows), size),
    )
    below = (np.concatenate([ones, -ones]), (np.concatenate([p, p]), np.concatenate([p, largest])))
    above = (np.concatenate([ones / ratio, -ones]), (np.concatenate([p, p]), np.concatenate([largest, p])))
    shape = (rows * size, rows * size + size)
    limits = [coo_array(each, shape=shape) for each in (below, above)]
    sums = coo_array(
        (
            np.concatenate([ones, np.tile(number, rows), np.tile(mark, rows)]),
            (np.concatenate([row, rows + row, 2 * rows + row]), np.concatenate([p, p, p])),
        ),
        shape=(3 * rows, shape[1]),
    )
    stacked: Any = vstack(limits)  # stubs know no sparse ones
    equal: Any = sums
    found = linprog(
        np.concatenate([np.outer(weights, number**2 + MEANS * mark**2).ravel(), np.zeros(size)]),
        A_ub=stacked,
        b_ub=np.zeros(2 * rows * size),
        A_eq=equal,
        b_eq=np.concatenate([np.ones(rows), line.x, [0], np.ones(rows - 1), [0]]),
        method="highs",
    )
    return float(found.fun or math.nan)


class Cell(NamedTuple):
    """What a figure's intervals cover at one place of the grid."""

    coverage: float
    samples: int | None
    """Simulated ones; None: every tally was gone through."""
    where: str

    def standard_error(self) -> str:
        """What so many samples have at .95."""
        return "exact" if self.samples is None else f"{math.sqrt(0.95 * 0.05 / self.samples):.4f}"


COVERAGE = attrgetter("coverage")


def coverage_rows() -> list[list[str]]:
    """The least coverage of each figure over the grid, and where it is; seeded."""
    least: dict[str, Cell] = {}
    generator = np.random.default_rng(17)
    for epsilon, n, part, share in itertools.product(("0.5", "1", "2"), PEOPLE, APPLYING, INNER):
        where = f"{epsilon}, {n:,}, {part:g}, {share:g}"
        for figure, coverage, samples in _coverages(epsilon, n, part, share, generator):
            found = Cell(coverage, samples, where)
            least[figure] = min(least.get(figure, found), found, key=COVERAGE)
    return [[figure, f"{each.coverage:.4f}", each.standard_error(), each.where] for figure, each in least.items()]


def _coverages(
    epsilon: str, n: int, applying: float, inner: float, generator: np.random.Generator
) -> Iterator[tuple[str, float, int | None]]:
    mechanism = KAry.from_epsilon(3, epsilon)
    chances = design_of(mechanism).expected([inner * applying, (1 - inner) * applying, 1 - applying])
    if n <= MOST_ENUMERATED:
        covered = _coverage_of_shares(mechanism, *_every_tally(n, chances), inner)
        yield f"share, up to {MOST_ENUMERATED:,} people", covered, None
    else:

        def shares(samples: int) -> float:
            drawn, counts = np.unique(generator.multinomial(n, chances, samples), axis=0, return_counts=True)
            return _coverage_of_shares(mechanism, drawn, counts.astype(float), inner)

        yield f"share, above {MOST_ENUMERATED:,} people", *_simulated(shares)
    if inner not in (0.0, 0.5, 1.0):
        return
    numbers = FilteredPiecewise.from_epsilon(0, 10, epsilon)
    design = design_of(numbers)
    truths = [0.0] * len(design.truths)
    truths[0], truths[-2], truths[-1] = (1 - inner) * applying, inner * applying, 1 - applying
    expected = np.array(design.expected(truths))

    def means(samples: int) -> float:
        tallies = generator.multinomial(n, expected, samples).tolist()
        found = (AmongMean.from_counts(numbers, each, numbers.knots) for each in tallies)
        return float(np.mean([_holds(each, 10 * inner) for each in found]))

    yield "mean", *_simulated(means)


def _simulated(coverage: Callable[[int], float]) -> tuple[float, int]:
    """Coverage by samples, and how many they are."""
    first = coverage(SAMPLES)
    return (first, SAMPLES) if first >= SUSPECT else (coverage(AGAIN), AGAIN)


def _every_tally(n: int, chances: Sequence[float]) -> tuple[NDArray[np.int64], Floats]:
    """All tallies of three reports but for less than 1e-5 of the probability, and the probabilities."""
    near = [
        np.arange(max(0, int(n * p - spread)), min(n, int(n * p + spread)) + 1) for p, spread in _spreads(n, chances)
    ]
    first, last = (each.ravel() for each in np.meshgrid(*near, indexing="ij"))
    possible = first + last <= n
    tallies = np.stack([first, n - first - last, last], axis=1)[possible]
    return tallies, np.asarray(multinomial.pmf(tallies, n, chances))


def _spreads(n: int, chances: Sequence[float]) -> Iterator[tuple[float, float]]:
    for p in (chances[0], chances[2]):
        yield p, 4.9 * math.sqrt(n * p * (1 - p)) + 1


def _holds(mean: AmongMean, truth: float) -> bool:
    low, high = mean.confidence_interval()
    return low - 1e-9 <= truth <= high + 1e-9


def _coverage_of_shares(mechanism: Mechanism, tallies: NDArray[np.int64], weights: Floats, inner: float) -> float:
    grid = np.append(np.linspace(0, 1, 101), inner)
    covered = 0.0
    for counts, weight in zip(tallies.tolist(), weights.tolist(), strict=True):
        found = AmongEstimate.from_counts(mechanism, counts)
        # The interval holds what its statistic is near the least of; its ends need not be searched for.
        values = None if found.is_too_few() else found._statistic(0, grid, 0)
        covered += weight * (values is None or bool(values[-1] <= Z**2 + values.min()))
    return covered / float(weights.sum())


def difference_rows() -> list[list[str]]:
    """The least coverage of differences over the grid, by epsilon and number of people; seeded."""
    rows = []
    for epsilon, n in itertools.product(("0.5", "1", "2"), PEOPLE):
        mechanism, found = KAry.from_epsilon(3, epsilon), []
        for applying, inner in itertools.product(APPLYING, INNER):
            generator = np.random.default_rng(23)
            covered = partial(_coverage_of_differences, mechanism, n, applying, inner, generator)
            found.append(Cell(*_simulated(covered), f"{applying:g}, {inner:g}"))
        least = min(found, key=COVERAGE)
        rows.append([epsilon, f"{n:,}", f"{least.coverage:.4f}", least.standard_error(), least.where])
    return rows


def _coverage_of_differences(
    mechanism: Mechanism, n: int, applying: float, inner: float, generator: np.random.Generator, samples: int
) -> float:
    """Coverage of the difference between a cohort with this share and one of as many people with one half."""
    design = design_of(mechanism)
    tallies = [
        generator.multinomial(n, design.expected([share * applying, (1 - share) * applying, 1 - applying]), samples)
        for share in (inner, 0.5)
    ]
    held = []
    for pair in zip(*(each.tolist() for each in tallies), strict=True):
        first, second = (AmongEstimate.from_counts(mechanism, counts) for counts in pair)
        low, high = AmongDifference(first, second, 0).confidence_interval()
        held.append(low - 1e-9 <= inner - 0.5 <= high + 1e-9)
    return float(np.mean(held))


def width_rows() -> list[list[str]]:
    """Half widths of the interval of one half among those to whom it applies, in points."""
    alone, together = KAry.from_epsilon(4, 1), design_of(mechanism_in_one_response())
    return [
        [
            f"{part:.0%}",
            *(
                f"{100 * Z * math.sqrt(variance_among(each, 0.5, part) / 1000):.0f}"
                for each in (design_of(alone), together)
            ),
        ]
        for part in (0.5, 0.2, 0.05)
    ]


def mechanism_in_one_response() -> Mechanism:
    """What one response to four patterns at epsilon 2 does to a question of three options."""
    joint = KAry.from_epsilon(4, 2)
    return UnequalKAry(((2**32 - joint.keep) // 3,) * 4)


if __name__ == "__main__":
    main()

"""Prints how often intervals hold the truth where no one binomial counts an option, and how long they are.

Tallies are enumerated where there are at most `ENUMERATED` of them; elsewhere `SIMULATIONS` are drawn with a fixed
seed, so that a coverage of .95 has a standard error of .005; of a mean ten times as many. Beside it stands what the
normal interval does.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy
from scipy.stats import binom

from deniable import Geometric, KAry, Warner
from deniable.table import format_table
from deniable_statistics.classical import cheater_detection, kuk, stochastic_lie_detector, unrelated_question_unknown
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.intervals.enumerated import compositions, enumerated_interval, is_enumerable
from deniable_statistics.intervals.finite import finite_interval
from deniable_statistics.intervals.interval import level_of_each, normal_quantile
from deniable_statistics.intervals.profile import ScoreEstimate, ShareLikelihood, profile_intervals

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

LEVEL = 0.95
ENUMERATED = 4000
SIMULATIONS = 2000
SIMULATIONS_OF_MEANS = 20_000
MEASURED = 10
"""Tallies of each cell whose intervals are measured: their ends take longer than whether they hold the truth."""

EPSILONS = (1, 2, 4)
SIZES = (7, 20, 61, 200, 1000)


class Tallies(NamedTuple):
    """Tallies that can come, shape (b, r), and how likely each is."""

    counts: Floats
    chances: Floats


def one_group(lam: Floats, n: int, random: np.random.Generator, simulations: int = SIMULATIONS) -> Tallies:
    """Tallies of one group whose reports have these probabilities."""
    lam = np.clip(lam, 0, None) / lam.sum()
    if math.comb(n + len(lam) - 1, n) <= ENUMERATED:
        counts = compositions(n, len(lam))
        logs = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1) + xlogy(counts, lam).sum(axis=1)
        return Tallies(counts, np.exp(logs))
    return distinct(random.multinomial(n, lam, size=simulations).astype(float))


def distinct(counts: Floats) -> Tallies:
    """Simulated tallies, each once."""
    once, often = np.unique(counts, axis=0, return_counts=True)
    return Tallies(once, often / len(counts))


def tallies(channels: Sequence[Floats], shares: Floats, n: int, simulations: int = SIMULATIONS) -> Tallies:
    """Tallies of all groups, ``n`` people in each."""
    random = np.random.default_rng([1965, n, len(shares)])
    groups = [one_group(channel @ shares, n, random, simulations) for channel in channels]
    if len(groups) == 1:
        found = groups[0]
    elif math.prod(len(group.counts) for group in groups) <= ENUMERATED:
        first, second = groups
        counts = np.hstack([first.counts.repeat(len(second.counts), 0), np.tile(second.counts, (len(first.counts), 1))])
        found = Tallies(counts, np.outer(first.chances, second.chances).ravel())
    else:
        drawn = [group.counts[random.choice(len(group.counts), simulations, p=group.chances)] for group in groups]
        found = distinct(np.hstack(drawn))
    likely = found.chances > 1e-9  # what is left out counts as a miss
    return Tallies(found.counts[likely], found.chances[likely])


@dataclass(frozen=True)
class Question:
    """A design and what is estimated: all its shares, or the mean of its answers."""

    name: str
    design: Design
    mean: bool = False

    @property
    def channels(self) -> tuple[Floats, ...]:
        """One matrix for each group."""
        assert self.design.channels is not None
        return self.design.channels

    @property
    def parts(self) -> Floats:
        """What is estimated, as weights of the shares."""
        k = len(self.design.truths)
        return np.arange(k)[None] / (k - 1) if self.mean else np.eye(k)

    @property
    def scores(self) -> Floats:
        """What each report adds to the unbiased estimates, shape (m, r)."""
        weights, constant = self.design.debiasing
        return np.asarray(self.parts @ (weights + constant[:, None] / len(self.channels)))

    @property
    def scored(self) -> ScoreEstimate | None:
        """For a mean its scores."""
        return ScoreEstimate(self.scores[0], self.parts[0]) if self.mean else None


def normal(question: Question, counts: Floats, alpha: float) -> Floats:
    """The interval that there would be otherwise: normal, after some more reports; shape (b, m, 2)."""
    z = normal_quantile(1 - alpha)
    more = counts + z * z * np.array(question.design.expected_if_even)
    mean, variance, start = np.zeros(()), np.zeros(()), 0
    for channel in question.channels:
        group = slice(start, start + len(channel))
        start += len(channel)
        size = more[:, group].sum(axis=1, keepdims=True)
        lam, scores = more[:, group] / size, question.scores[:, group]
        mean = mean + lam @ scores.T
        variance = variance + np.maximum(lam @ scores.T**2 - (lam @ scores.T) ** 2, 0) / size
    return np.clip(np.stack([mean - z * np.sqrt(variance), mean + z * np.sqrt(variance)], axis=2), 0, 1)


@lru_cache(maxsize=2)
def enumerated(question: Question, n: int, level: float) -> dict[tuple[float, ...], Floats]:
    """The intervals of all tallies of one group."""
    (channel,) = question.channels
    likelihood, all_tallies = ShareLikelihood(question.channels), compositions(n, len(channel))
    return {tuple(each): profile_intervals(likelihood, each, question.parts, None, level) for each in all_tallies}


def held_together(question: Question, found: Tallies, shares: Floats, n: int) -> tuple[Flags, Flags]:
    """Whether each interval holds its truth, shape (m, b); and whether all at their level do, shape (b,)."""
    likelihood, alpha = ShareLikelihood(question.channels), 1 - LEVEL
    truth, m = question.parts @ shares, len(question.parts)
    if likelihood.has_one_unknown and is_enumerable(found.counts.shape[1], n):
        held = []
        for level in (LEVEL, level_of_each(LEVEL, m)):
            ends = np.array([enumerated(question, n, level)[tuple(each)] for each in found.counts])
            held.append((ends[..., 0] <= truth + 1e-9) & (truth - 1e-9 <= ends[..., 1]))
        return held[0].T, np.asarray(held[1].all(axis=1))
    counts = found.counts[:, likelihood.possible]
    best = likelihood.best(counts)
    p = np.empty((m, len(counts)))
    for place, (part, theta) in enumerate(zip(question.parts, np.clip(truth, 1e-6, 1 - 1e-6), strict=True)):
        rows = np.tile(part - theta * likelihood.everybody, (len(counts), 1))
        p[place] = likelihood.p_values(counts, best, rows, alpha, question.scored)
    return p > alpha, np.asarray((p > alpha / m).all(axis=0))


class Cell(NamedTuple):
    """What intervals do with one truth."""

    coverage: float
    together: float
    width: float
    point: float
    normal_coverage: float
    normal_together: float
    normal_width: float
    normal_point: float


def cell(question: Question, shares: Floats, n: int, measured: int = MEASURED) -> Cell:
    """The lowest coverage of all intervals, that of all together, their mean length, and single points."""
    found = tallies(question.channels, shares, n, SIMULATIONS_OF_MEANS if question.mean else SIMULATIONS)
    likelihood, truth, alpha = ShareLikelihood(question.channels), question.parts @ shares, 1 - LEVEL
    held, together = held_together(question, found, shares, n)
    old, wide = (normal(question, found.counts, each) for each in (alpha, alpha / len(truth)))
    before = [(each[..., 0] <= truth + 1e-9) & (truth - 1e-9 <= each[..., 1]) for each in (old, wide)]
    typical = np.random.default_rng(7).choice(len(found.counts), measured, p=found.chances / found.chances.sum())
    ends = np.array(
        [
            profile_intervals(likelihood, found.counts[each], question.parts, None, LEVEL, question.scored)
            for each in typical
        ]
    )
    lengths = np.diff(ends, axis=2)
    return Cell(
        float((held @ found.chances).min()),
        float(together @ found.chances),
        float(lengths.mean()),
        float((lengths <= 0).mean()),
        float((found.chances @ before[0]).min()),
        float(found.chances @ before[1].all(axis=1)),
        float(np.diff(old[typical], axis=2).mean()),
        float(np.mean((old[..., 1] <= old[..., 0]).T @ found.chances)),
    )


def truths(k: int) -> dict[str, Floats]:
    """Everybody at an end or in the middle, two halves, two ends, nearly everybody in the middle, all alike."""
    e, middle = np.eye(k), k // 2
    return {
        "end": e[0],
        "middle": e[middle],
        "halves": (e[0] + e[1]) / 2,
        "ends": (e[0] + e[-1]) / 2,
        "three": (e[0] + e[middle] + e[-1]) / 3,
        "nearly": 0.9 * e[middle] + 0.1 * e[middle - 1],
        "even": np.full(k, 1 / k),
    }


def boundary(k: int) -> dict[str, Floats]:
    """Corners, edges and what is near them, of two or three answers."""
    corners = np.eye(k)
    found = {f"all {x}": corner for x, corner in enumerate(corners)}
    for x, y in itertools.combinations(range(k), 2):
        for part in (0.02, 0.1, 0.5, 0.95):
            found[f"{part} {x}, rest {y}"] = part * corners[x] + (1 - part) * corners[y]
    return found | {"even": np.full(k, 1 / k)}


def two_questions() -> dict[str, Floats]:
    """Shares at the boundary of a sensitive question and an unrelated one, which is asked as well."""
    pairs = itertools.product((0.0, 0.02, 0.1, 0.5, 1.0), (0.0, 0.3, 1.0))
    return {f"{f:g} and {u:g}": np.array([1 - f, f, 1 - u, u]) for f, u in pairs}


HEADER = ["question", "n", "lowest", "where", "together", "width", "points", "before", "together ", "width ", "points "]


def row(question: Question, n: int, truths: dict[str, Floats]) -> tuple[list[str], float]:
    """The worst truth, the mean widths, and the same before."""
    found = {name: cell(question, shares, n) for name, shares in truths.items()}
    worst = min(found, key=lambda name: found[name].coverage)
    low = Cell(*np.min(list(found.values()), axis=0))
    mean = Cell(*np.mean(list(found.values()), axis=0))
    figures = [f"{low.coverage:.4f}", worst, f"{low.together:.4f}", f"{mean.width:.3f}", f"{mean.point:.1%}"]
    before = [f"{low.normal_coverage:.4f}", f"{low.normal_together:.4f}", f"{mean.normal_width:.3f}"]
    return [question.name, str(n), *figures, *before, f"{mean.normal_point:.1%}"], low.coverage


def questions() -> Iterator[tuple[Question, dict[str, Floats]]]:
    """Everything that has no binomial support, with truths."""
    for k in (5, 11):
        for epsilon in EPSILONS:
            geometric = Geometric.from_epsilon(0, k - 1, epsilon)
            yield Question(f"geometric, {k}, epsilon {epsilon}", design_of(geometric)), truths(k)
            yield Question(f"its mean, {k}, epsilon {epsilon}", design_of(geometric), mean=True), truths(k)
    for epsilon in EPSILONS:
        yield (
            Question(f"mean of k-ary, 5, epsilon {epsilon}", design_of(KAry.from_epsilon(5, epsilon)), mean=True),
            truths(5),
        )
    for cards in (2, 5):
        yield Question(f"kuk .8 .2, {cards} cards", kuk("0.8", "0.2", cards)), boundary(2)
    yield Question("cheater detection 1/4 3/4", cheater_detection(["1/4", "3/4"])), boundary(3)
    yield Question("lie detector .2 .8", stochastic_lie_detector("0.2", "0.8")), boundary(3)
    yield Question("unrelated unknown .7 .3", unrelated_question_unknown("0.7", "0.3")), two_questions()


def exact_width(question: Question, n: int, steps: int = 100) -> tuple[float, float, float]:
    """For one unknown: mean length of exact intervals, of those that more tallies would have, and their coverage.

    Averaged over equally spaced shares; the coverage is the lowest.
    """
    (channel,) = question.channels
    counts, share, likelihood = compositions(n, len(channel)), np.linspace(0, 1, steps + 1), ShareLikelihood((channel,))
    chances = np.array([one_group(channel @ [1 - each, each], n, np.random.default_rng(1)).chances for each in share])
    exact = np.array([np.diff(enumerated_interval(channel, each, LEVEL))[0] for each in counts])
    best = likelihood.best(counts)
    held = np.empty((len(counts), steps + 1), dtype=bool)
    for place, theta in enumerate(np.clip(share, 1e-6, 1 - 1e-6)):
        rows = np.tile(np.array([0.0, 1.0]) - theta, (len(counts), 1))
        held[:, place] = likelihood.p_values(counts, best, rows, 1 - LEVEL) > 1 - LEVEL
    length = held.mean(axis=1)  # as a share of the grid
    return (
        float((chances @ exact).mean()),
        float((chances @ length).mean()),
        float((chances.T * held).sum(axis=0).min()),
    )


def respondents_row(a: float, n: int) -> list[str]:
    """Lowest coverage and mean length of the intervals of these respondents, for all numbers of them that can be."""
    b = 1 - a
    design = Warner(str(a))
    counts = np.arange(n + 1)
    exact = np.array([finite_interval(count, n, n, (a, b), LEVEL) for count in counts.tolist()])
    score = np.array(
        [design.estimate([n - c, c]).respondents_only.confidence_interval(LEVEL, "wilson")[1] for c in counts.tolist()]
    )
    figures = []
    for ends in (exact, score):
        coverage, width, points = [], [], []
        for yes in counts.tolist():
            pmf = np.convolve(binom.pmf(np.arange(yes + 1), yes, a), binom.pmf(np.arange(n - yes + 1), n - yes, b))
            held = (ends[:, 0] <= yes / n + 1e-12) & (yes / n <= ends[:, 1] + 1e-12)
            coverage.append(pmf @ held)
            width.append(pmf @ (ends[:, 1] - ends[:, 0]))
            points.append(pmf @ (ends[:, 1] <= ends[:, 0]))
        figures += [f"{min(coverage):.4f}", f"{np.mean(width):.3f}", f"{np.mean(points):.1%}"]
    return figures


def respondents_table(
    sizes: Iterable[int] = (5, 7, 14, 20, 50), epsilons: Iterable[float] = EPSILONS
) -> list[list[str]]:
    """One row for each epsilon and number of respondents."""
    return [
        [f"{epsilon:g}", str(n), *respondents_row(round(1 / (1 + math.exp(-epsilon)), 6), n)]
        for epsilon in epsilons
        for n in sizes
    ]


def milliseconds(question: Question, counts: Sequence[int]) -> float:
    """The time of all intervals of one tally."""
    estimate: Any = question.design.estimate(counts)  # type: ignore[attr-defined]  # of designs, not of `Design`
    start = time.perf_counter()
    estimate.confidence_interval()
    return 1000 * (time.perf_counter() - start)


def main() -> None:
    """Print all tables: about half an hour."""
    print("These respondents alone, Warner's coin: exact, and the score interval that there was before; added up")
    names = ["epsilon", "n", "lowest", "width", "points", "before", "width ", "points "]
    print(format_table(names, respondents_table(), right=set(names)), end="\n\n", flush=True)

    print("One unknown: exact, as up to 2000 tallies are, and what more have; added up")
    rows = []
    for cards, sizes in ((1, (7, 20, 61, 200)), (2, (7, 20, 40)), (5, (5,))):
        for n in sizes:
            exact, other, least = exact_width(Question("kuk", kuk("0.8", "0.2", cards)), n)
            rows.append([str(cards), str(n), f"{exact:.4f}", f"{other:.4f}", f"{other / exact:.3f}", f"{least:.4f}"])
    names = ["cards of Kuk", "n", "exact width", "the other", "ratio", "its lowest coverage"]
    print(format_table(names, rows, right=set(names)), end="\n\n", flush=True)

    print(f"Designs without one binomial, {100 * LEVEL:g} %: ours, and the normal interval that there was before")
    lowest = []
    for question, shares in questions():
        rows = []
        for n in SIZES:
            cells, coverage = row(question, n, shares)
            rows.append(cells)
            lowest.append(coverage)
        print(format_table(HEADER, rows, right={*HEADER} - {"question", "where"}), flush=True)
    print(f"\nLowest coverage of all: {min(lowest):.4f}", file=sys.stdout)

    rows = []
    for k, epsilon, n in ((5, 1, 61), (11, 1, 1000), (11, 4, 61), (32, 4, 10_000)):
        design = Geometric.from_epsilon(0, k - 1, epsilon)
        counts = np.random.default_rng(1).multinomial(n, design_of(design).float_matrix @ np.full(k, 1 / k))
        rows.append(
            [str(k), str(epsilon), str(n), f"{milliseconds(Question('', design_of(design)), counts.tolist()):.0f}"]
        )
    print("\nMilliseconds for all intervals of a question, geometric")
    print(format_table(["k", "epsilon", "n", "ms"], rows, right={"k", "epsilon", "n", "ms"}))

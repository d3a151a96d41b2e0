"""Searches for tallies that an estimate cannot take: random ones of every mechanism and every classical design.

Every tally that people can send has an estimate, a standard error, possible shares, and intervals by every method.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from deniable import mechanisms
from deniable.errors import ParameterError
from deniable.exact import Number
from deniable.mechanisms import Mechanism
from deniable.table import format_table
from deniable_statistics import classical as channels
from deniable_statistics.classical import Channel, Groups
from deniable_statistics.designs.channels import channel_of
from deniable_statistics.designs.of_mechanisms import SubsetDesign, design_of
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import METHODS
from deniable_statistics.published.published_rows import TARGETS, EstimateOptions, mean_row, share_rows

Generator = np.random.Generator
AnyDesign = Mechanism | Channel | Groups

FORCED = (("1/2", "1/2"), ("0", "1"), ("1/6", "5/6"), ("1/3", "1/3", "1/3"), ("0", "1/4", "3/4"))
EPSILONS = ("0.1", "0.5", "1", "2", "4", "8")
GAP = 1e-6
"""The mean log-likelihood of a report at the possible shares is within this of the largest one."""


def _chance(draw: Generator) -> str:
    """A probability as people write one, away from 1/2, where most designs tell nothing."""
    return f"{draw.choice([0.02, 0.1, 0.2, 0.3, 0.4, 0.45, 0.55, 0.6, 0.7, 0.8, 0.9, 0.98]):g}"


def _two_chances(draw: Generator) -> tuple[str, str]:
    first, second = draw.choice([0.02, 0.1, 0.2, 0.3, 0.45, 0.55, 0.7, 0.8, 0.9, 0.98], 2, replace=False)
    return f"{first:g}", f"{second:g}"


def _range(draw: Generator) -> tuple[int, int]:
    low = int(draw.integers(-5, 20))
    return low, low + int(draw.choice([1, 2, 4, 10, 30, 100], p=[0.2, 0.3, 0.3, 0.14, 0.05, 0.01]))


def _exponential(draw: Generator) -> Mechanism:
    k = int(draw.integers(2, 8))
    score: Sequence[Sequence[Number]] = [[-abs(x - r) for r in range(k)] for x in range(k)]
    make = mechanisms.Exponential.calibrated if draw.integers(2) else mechanisms.Exponential.nominal
    return make(score, str(draw.choice(EPSILONS)))


def _matrix(draw: Generator) -> Channel:
    """Random numbers of thousandths, some of them 0; more responses than truths half of the time."""
    truths = int(draw.integers(2, 5))
    responses = truths + int(draw.integers(0, 4))
    columns = draw.multinomial(1000, draw.dirichlet(np.full(responses, 0.5), truths)).T
    return channels.from_matrix([[f"{each}/1000" for each in row] for row in columns.tolist()])


FAMILIES: dict[str, Callable[[Generator], AnyDesign]] = {
    "two-coin": lambda draw: mechanisms.TwoCoin(_chance(draw), _chance(draw)),
    "warner": lambda draw: mechanisms.Warner(_chance(draw)),
    "forced-response": lambda draw: mechanisms.ForcedResponse(_chance(draw), FORCED[draw.choice([0, 2, 3])]),
    "k-ary": lambda draw: mechanisms.KAry.from_epsilon(int(draw.integers(2, 12)), str(draw.choice(EPSILONS))),
    "subset": lambda draw: mechanisms.Subset.from_epsilon(
        k := int(draw.integers(2, 12)), int(draw.integers(1, k)), "1"
    ),
    "tick-boxes": lambda draw: mechanisms.TickBoxes.from_epsilon(int(draw.integers(2, 8)), str(draw.choice(EPSILONS))),
    "drawn-boxes": lambda draw: mechanisms.DrawnBoxes.from_epsilon(
        int(draw.integers(2, 8)), str(draw.choice(EPSILONS))
    ),
    "geometric": lambda draw: mechanisms.Geometric.from_epsilon(*_range(draw), str(draw.choice(EPSILONS))),
    "exponential": _exponential,
    "mean": lambda draw: mechanisms.OneBitMean.from_epsilon(*_range(draw), str(draw.choice(EPSILONS))),
    "piecewise": lambda draw: mechanisms.Piecewise.from_epsilon(*_range(draw), str(draw.choice(EPSILONS))),
    "filtered-piecewise": lambda draw: mechanisms.FilteredPiecewise.from_epsilon(
        *_range(draw), str(draw.choice(EPSILONS))
    ),
    "unequal-k-ary": lambda draw: mechanisms.UnequalKAry(
        tuple(draw.integers(1, 2**28, size=int(draw.integers(2, 12))).tolist())
    ),
    "discrete-laplace": lambda draw: mechanisms.DiscreteLaplace.from_epsilon(
        *_range(draw), str(draw.choice(EPSILONS[1:]))
    ),
    "longitudinal": lambda draw: mechanisms.Longitudinal.from_epsilon(
        int(draw.integers(2, 12)), at := str(draw.choice(EPSILONS)), float(at) * float(draw.choice([0.2, 0.5, 0.8]))
    ),
    "channel of Warner": lambda draw: channels.warner(_chance(draw)),
    "channel of forced response": lambda draw: channels.forced_response(_chance(draw), FORCED[draw.integers(5)]),
    "unrelated question": lambda draw: channels.unrelated_question(_chance(draw), _chance(draw)),
    "Kuk": lambda draw: channels.kuk(*_two_chances(draw), int(draw.choice([1, 2, 5, 20]))),
    "Mangat": lambda draw: channels.mangat(_chance(draw)),
    "crosswise": lambda draw: channels.crosswise(_chance(draw)),
    "triangular": lambda draw: channels.triangular(_chance(draw)),
    "disguised response": lambda draw: channels.disguised_response(_chance(draw)),
    "matrix": _matrix,
    "channel of a mechanism": lambda draw: channels.from_mechanism(
        [
            mechanisms.KAry.from_epsilon(4, 1),
            mechanisms.Geometric.from_epsilon(0, 5, 2),
            mechanisms.ForcedResponse("2/3", ("1/4", "3/4")),
        ][draw.integers(3)]
    ),
    "unrelated question, unknown": lambda draw: channels.unrelated_question_unknown(*_two_chances(draw)),
    "cheater detection": lambda draw: channels.cheater_detection(
        sorted(_two_chances(draw)), [("0", "0"), ("0.01", "0.01"), ("0.02", "0")][draw.integers(3)]
    ),
    "stochastic lie detector": lambda draw: channels.stochastic_lie_detector(*_two_chances(draw)),
}


def random_counts(draw: Generator, possible: Sequence[bool]) -> list[int]:
    """Counts of one to ten million reports: like some chance or other, skewed, or with nothing in most places."""
    n = int(10 ** draw.uniform(0, draw.choice([1.5, 4, 7])))
    places = np.flatnonzero(possible)
    weights = draw.dirichlet(np.full(len(places), draw.choice([0.02, 0.2, 1, 20])))
    counts = np.zeros(len(possible), dtype=int)
    counts[places] = draw.multinomial(n, weights)
    return [int(count) for count in counts]


def likely_counts(draw: Generator, chances: Sequence[float]) -> list[int]:
    """Counts as people with random shares make them."""
    n = int(10 ** draw.uniform(0, draw.choice([1.5, 4, 7])))
    lam = np.clip(chances, 0, None)
    return [int(count) for count in draw.multinomial(n, lam / lam.sum())]


def random_estimate(draw: Generator, design: AnyDesign) -> tuple[Estimate, tuple[list[int], int]]:
    """The estimate of a random tally."""
    truths = len(design_of(design).truths)
    shares = draw.dirichlet(np.full(truths, draw.choice([0.1, 1])))
    if isinstance(design, Groups):
        if design.name == "unrelated_question_unknown":
            shares = np.concatenate([draw.dirichlet([1, 1]), draw.dirichlet([1, 1])])
        chances = np.array(design.expected(shares.tolist())).reshape(len(design.matrices), -1)
        groups = [
            likely_counts(draw, chance) if draw.integers(2) else random_counts(draw, [any(row) for row in matrix])
            for chance, matrix in zip(chances.tolist(), design.matrices, strict=True)
        ]
        return design.estimate(groups), ([count for group in groups for count in group], 0)
    if isinstance(design, Mechanism) and not design.reports.supports_one:
        n = int(10 ** draw.uniform(0, draw.choice([1.5, 4, 7])))
        if isinstance(design, mechanisms.DrawnBoxes):  # of every report s boxes
            drawn = draw.multivariate_hypergeometric(np.full(design.k, n), design.s * n)
            ticked = draw.binomial(drawn, draw.random(design.k) * draw.integers(0, 2, design.k))
            counts = np.stack([drawn - ticked, ticked], axis=1).ravel().tolist()
            return design.estimate(counts, n), (counts, n)
        sure = draw.random(design.k) < 0.2
        lam = np.where(sure, draw.integers(0, 2, design.k), np.clip(design_of(design).expected(shares.tolist()), 0, 1))
        if isinstance(design, mechanisms.Subset):  # every report supports w options
            drawn = draw.multivariate_hypergeometric(np.full(design.k, n), design.w * n)
            counts = drawn.tolist()
        else:
            counts = draw.binomial(n, lam).tolist()
        return design.estimate(counts, n), (counts, n)
    matrix = design.matrix if isinstance(design, Channel) else channel_of(design)
    if not design.has_shares or draw.integers(2):
        counts = random_counts(draw, [any(row) for row in matrix])
    else:
        counts = likely_counts(draw, design_of(design).expected(shares.tolist()))
    return design.estimate(counts), (counts, sum(counts))


def check_numbers(estimate: Estimate, wanted: EstimateOptions) -> None:
    """Raise an AssertionError unless everything that is published of an estimate is a number."""
    names = tuple(map(str, range(len(estimate.share))))
    for row in share_rows(estimate, "q", names, 1.0, wanted=wanted):
        if not row.n:  # a box that nobody drew
            continue
        for value in (row.estimate, row.std_error, row.feasible, row.conf_low, row.conf_high, row.p_below, row.p_above):
            assert math.isfinite(_number(value)), row
        assert 0 <= row.conf_low <= row.conf_high <= 1, row
        assert -1e-12 <= _number(row.feasible) <= 1 + 1e-12, row
        assert 0 < _number(row.fake_margin) < math.inf, row


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def check_mean(estimate: MeanEstimate, wanted: EstimateOptions) -> None:
    """Raise an AssertionError unless everything that is published of a mean is a number within its range."""
    row = mean_row(estimate, "q", 1.0, wanted=wanted)
    for value in (row.estimate, row.std_error, row.feasible, row.conf_low, row.conf_high):
        assert math.isfinite(_number(value)), row
    assert estimate.lowest <= row.conf_low <= row.conf_high <= estimate.highest, row
    assert 0 < _number(row.fake_margin) < math.inf, row


def check_maximum(estimate: Estimate, gap: float = GAP) -> None:
    """The possible shares add up to 1, and no others are more likely by more than ``gap`` a report."""
    design = estimate.design
    if not design.is_exclusive or (isinstance(design, Groups) and len(design.truths) == 4):
        return  # their truths do not exclude each other
    feasible = np.array(estimate.feasible)
    assert abs(feasible.sum() - 1) < 1e-9, feasible
    if isinstance(design, SubsetDesign) or not design.has_shares:
        return
    matrix = np.array(sum(design.exact_channels, ()), dtype=float)
    counts = np.array(estimate.counts, dtype=float)
    seen = counts > 0
    gradient = matrix[seen].T @ (counts[seen] / (matrix[seen] @ feasible)) / counts.sum()
    assert gradient.max() <= 1 + gap, gradient.max() - 1


def designs(draw: Generator, family: str) -> Iterator[AnyDesign]:
    """Random designs of a family, each for some tallies in a row; those that tell no shares are not estimated."""
    while True:
        try:
            design = FAMILIES[family](draw)
            known = design_of(design)
            known.shares([1] * len(known.expected([1 / len(known.truths)] * len(known.truths))), 1)
        except ParameterError:  # parameters that make no design, or one that cannot tell its truths apart
            if family != "mean":
                continue
        for _ in range(20):
            yield design


def search(family: str, tallies: int, seed: int = 1974) -> list[str]:
    """What went wrong with so many random tallies of a family: a line for each."""
    draw = np.random.default_rng([seed, *family.encode()])
    wrong = []
    methods = ("default", *METHODS)
    for number, design in zip(range(tallies), designs(draw, family), strict=False):
        counts: Any = None
        try:
            estimate, counts = random_estimate(draw, design)
            level = float(draw.choice([0.5, 0.95, 0.999]))
            check_numbers(
                estimate, EstimateOptions(level, methods[number % len(methods)], simultaneous=bool(number % 2))
            )
            if not isinstance(design, Groups):  # whose estimates are for a population only
                alone = EstimateOptions(level, ("default", "wilson", "wald")[number % 3], TARGETS[1], bool(number % 2))
                check_numbers(estimate, alone)
            if isinstance(design, Mechanism) and estimate.design.is_exclusive and not design.has_others:
                mean = MeanEstimate.from_counts(design, counts[0], counts[1])
                check_mean(mean, EstimateOptions(level, methods[number % len(methods)]))
            check_maximum(estimate)
        except Exception as error:  # whatever it is, it is a finding
            wrong.append(f"{family}: {design!r:.200} {counts or ''}: {type(error).__name__}: {error!s:.300}")
    return wrong


def main(tallies: int = 10_000) -> None:
    """Print how many tallies of each family went wrong: about half an hour."""
    assert set(mechanisms.MECHANISMS) <= set(FAMILIES)
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for family in FAMILIES:
            start = time.perf_counter()
            wrong = search(family, tallies)
            lines.append([family, str(tallies), str(len(wrong)), f"{time.perf_counter() - start:.0f}"])
            print("\n".join(wrong[:20]), end="\n" if wrong else "", flush=True)
    print(
        format_table(
            ("design", "tallies", "exceptions or NaN", "s"), lines, right={"tallies", "exceptions or NaN", "s"}
        )
    )

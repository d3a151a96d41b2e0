"""Bounds and intervals that hold whatever some people do: by enumeration of every count, at the worst they can do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from deniable import (
    DiscreteLaplace,
    Estimate,
    Geometric,
    KAry,
    OneBitMean,
    ParameterError,
    Subset,
    TickBoxes,
    TwoCoin,
    Warner,
)
from deniable.mechanisms import DrawnBoxes, Mechanism
from deniable_statistics.classical import Channel, from_matrix
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.designs.spaces import uniform_support
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import share_interval
from deniable_statistics.intervals.composite import composite_interval
from deniable_statistics.published.published_rows import EstimateOptions
from deniable_statistics.robustness.misbehaviour import KINDS, Misbehaving
from tests.support.marks import long

COIN = TwoCoin("1/2", "1/2")
DIRECT = from_matrix([[1, 0], [0, 1]], ["no", "yes"], ["no", "yes"], "direct")
A, B = 0.75, 0.25


def yes(count: int, n: int, suspected: Misbehaving, level: float = 0.95) -> tuple[float, float]:
    return suspected.shares(COIN.estimate([n - count, count]), level)[1].interval


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("a", "b"), [(0.75, 0.25), (0.6, 0.4), (1.0, 0.0), (0.9, 0.5), (0.95, 0.02)])
@pytest.mark.parametrize("n", [1, 7, 60, long(400)])
def test_without_misbehaviour_the_interval_is_that_of_feldman_and_cousins(
    n: int, a: float, b: float, level: float
) -> None:
    for count in {*range(0, n + 1, max(n // 20, 1)), n}:
        found = composite_interval(count, n, level, lambda f: b + (a - b) * f, lambda f: b + (a - b) * f)
        assert found == pytest.approx(share_interval(count, n, (a, b), level, "feldman-cousins"), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("among", ["everybody", "truthful"])
@pytest.mark.parametrize(
    ("kinds", "theirs"),  # how likely a report of theirs says yes
    [
        (("anything",), (0.0, 0.5, 1.0)),
        (("lying",), (B, 0.5, A)),
        (("careless",), (0.5,)),
        (("noncompliance",), (0.0,)),
        (("denial",), (B,)),
        (("denial", "careless"), (B, 0.4, 0.5)),
    ],
)
@pytest.mark.parametrize(("n", "d"), [(8, 0.2), long(30, 0.1)])
def test_intervals_cover_the_share_whatever_they_do(
    n: int, d: float, kinds: Sequence[str], theirs: Sequence[float], among: str
) -> None:
    """Every count with its probability: exact, no simulation."""
    suspected = Misbehaving(d, kinds, among)
    counts = np.arange(n + 1)
    ends = np.array([yes(count, n, suspected) for count in counts.tolist()])
    for honest, own, r, many in itertools.product(np.linspace(0, 1, 21), (0, 0.3, 1), theirs, (d, d / 2, 0)):
        lam = (1 - many) * (B + (A - B) * honest) + many * r
        truth = honest if among == "truthful" else (1 - many) * honest + many * own
        held = (ends[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= ends[:, 1])
        assert binom.pmf(counts, n, lam)[held].sum() >= 0.95 - 1e-9


def test_plain_intervals_do_not_cover_it() -> None:
    """What all this is for: 5 % who say yes to everything leave nothing of an interval of 95 % from 5000 people."""
    n, d = 5000, 0.05
    counts = np.arange(n + 1)
    lam = (1 - d) * B + d
    likely = counts[binom.pmf(counts, n, lam) > 1e-9].tolist()
    held = [COIN.estimate([n - c, c]).confidence_interval()[1].low <= 0 for c in likely]
    assert binom.pmf(likely, n, lam)[held].sum() < 0.05


@pytest.mark.slow
def test_bounds_are_those_of_horowitz_and_manski() -> None:
    estimate = COIN.estimate([570, 430])
    d = 0.05
    everybody = Misbehaving(d).shares(estimate)[1].bounds
    assert everybody == pytest.approx((0.36 - d * (1 - B) / (A - B), 0.36 + d * A / (A - B)))
    truthful = Misbehaving(d, among="truthful").shares(estimate)[1].bounds
    assert truthful == pytest.approx((((0.43 - d) / (1 - d) - B) / (A - B), (0.43 / (1 - d) - B) / (A - B)))
    assert Misbehaving(d, ["lying"]).shares(estimate)[1].bounds == pytest.approx((0.31, 0.41))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "mechanism", [COIN, Warner("3/4"), *map(long, [KAry.from_epsilon(4, 1), Subset.from_epsilon(6, 2, 1)])]
)
def test_bounds_hold_the_figures_of_every_population(mechanism: Mechanism, kind: str) -> None:
    """Without chance: the expected counts of people who do the worst of a kind, for options one by one."""
    k, d, n = len(design_of(mechanism).truths), 0.1, 10**5
    matrix = design_of(mechanism).float_matrix
    generator = np.random.default_rng(5)
    uniform = np.full(k, uniform_support(mechanism.reports))
    first = np.zeros(k)
    first[: round(k * uniform[0])] = 1  # the first options, as many as a report supports
    theirs = {
        "anything": [np.roll(first, shift) for shift in range(k)],
        "noncompliance": [first],
        "denial": [matrix[:, 0]],
        "careless": [uniform],
        "lying": list(matrix.T),
    }[kind]
    for _ in range(2):
        honest, own = generator.dirichlet(np.ones(k)), generator.dirichlet(np.full(k, 0.2))
        for each in theirs:
            expected = (1 - d) * matrix @ honest + d * each
            counts = [round(n * share) for share in expected]
            estimate = mechanism.estimate(counts, n if isinstance(mechanism, Subset) else sum(counts))
            for v, found in enumerate(Misbehaving(d, [kind]).shares(estimate)):
                truth = (1 - d) * honest[v] + d * own[v]
                assert found.bounds.low - 1e-3 <= truth <= found.bounds.high + 1e-3
                assert found.interval.low <= found.bounds.low + 1e-9
                assert found.interval.high >= found.bounds.high - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("among", ["everybody", "truthful"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("design", [COIN, *map(long, [DIRECT, Warner("1/4"), KAry.from_epsilon(4, 1)])])
def test_bounds_at_and_beyond_the_edges_are_those_of_the_populations_there_are(
    design: Mechanism | Channel, kind: str, among: str
) -> None:
    """Every population of a fine grid, for each rate of reports; a rate that none has is taken for the nearest."""
    d, n, k = 0.05, 60, len(design_of(design).truths)
    matrix = np.array([design_of(design).expected(row) for row in np.eye(k).tolist()]).T
    for v in {0, k - 1}:
        a, b = matrix[v, v], matrix[v, (v + 1) % k]
        theirs: Sequence[float] = {
            "anything": np.linspace(0, 1, 21).tolist(),
            "noncompliance": [float(v == 0)],
            "denial": [matrix[v, 0]],
            "careless": [1 / k],
            "lying": np.linspace(a, b, 21).tolist(),
        }[kind]
        many, r = np.meshgrid(np.append(np.linspace(0, d, 2001), np.linspace(0, d / 50, 501)), np.array(theirs))
        reached = [(1 - many) * (b + (a - b) * g) + many * r for g in (0, 1)]
        least, most = np.min(reached), np.max(reached)
        near = [edge + step for edge in (least, most, a, b) for step in (-0.01, -1e-6, 0, 1e-6, 0.01)]
        # Where a kind reaches no further than the mechanism does, its edges are those of the mechanism: once is enough.
        for rate in sorted({round(float(each), 12) for each in (0.0, *near, (a + b) / 2, 1.0) if 0 <= each <= 1}):
            others = ((np.clip(rate, least, most) - many * r) / (1 - many) - b) / (a - b)
            there = (others >= -1e-12) & (others <= 1 + 1e-12)
            if among == "truthful":
                low, high = others[there].min(), others[there].max()
            else:
                honest = ((1 - many) * others)[there]
                low, high = honest.min(), (honest + many[there]).max()
            counts = [n * (1 - rate) / (k - 1)] * k
            counts[v] = n * rate
            found = Misbehaving(d, [kind], among).shares(Estimate.from_counts(design, counts, n, n))[v]
            assert found.bounds == pytest.approx((low, high), abs=1e-4), (v, rate)
            assert found.bounds.low <= low + 1e-9
            assert found.bounds.high >= high - 1e-9
            assert found.interval.low <= found.bounds.low + 1e-9
            assert found.interval.high >= found.bounds.high - 1e-9


def test_bounds_at_the_edges_of_the_documentation() -> None:
    lying = Misbehaving(0.05, ["lying"])
    assert lying.shares(DIRECT.estimate([100, 0]))[1].bounds == pytest.approx((0, 0.05))
    assert lying.shares(DIRECT.estimate([0, 100]))[1].bounds == pytest.approx((0.95, 1))
    for count, high in ((200, 0.05), (250, 0.05), (251, 0.052)):
        assert lying.shares(COIN.estimate([1000 - count, count]))[1].bounds == pytest.approx((0, high))
    careless = Misbehaving(0.05, ["careless"])
    for count, high in ((200, 0), (250, 0), (251, 0.004), (260, 0.04)):
        assert careless.shares(COIN.estimate([1000 - count, count]))[1].bounds == pytest.approx((0, high), abs=1e-9)


@pytest.mark.parametrize("among", ["everybody", "truthful"])
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_of_sums_beyond_an_edge_stay_what_they_are_at_it(kind: str, among: str) -> None:
    """Levels with noise over them, whose shares no one binomial counts: from nobody on the first level to fewer yet."""
    mechanism, d, n = Geometric.from_epsilon(0, 2, 2), 0.05, 10.0**6
    suspected = Misbehaving(d, [kind], among)
    ends = []
    for share in np.linspace(0.02, -0.3, 65).tolist():
        counts = (n * design_of(mechanism).float_matrix @ [share, 0.6, 0.4 - share]).tolist()
        ends.append(suspected.shares(Estimate.from_counts(mechanism, counts, n, n))[0])
    highs = np.array([each.bounds.high for each in ends])
    assert all(each.bounds.low == 0 for each in ends[5:])
    assert np.all(np.diff(highs) <= 1e-12)
    assert np.all(np.diff(highs) > -0.02)
    if among == "everybody" and kind in ("anything", "lying"):
        assert highs[-1] == pytest.approx(d)
    for each in ends:
        assert each.interval.high >= each.bounds.high - 1e-9


def test_more_who_misbehave_leave_less() -> None:
    estimate = COIN.estimate([570, 430])
    found = [Misbehaving(d).shares(estimate)[1] for d in (0, 0.01, 0.05, 0.2, 0.5, 0.9)]
    for less, more in itertools.pairwise(found):
        for inner, outer in zip(less, more, strict=True):
            assert outer.low <= inner.low
            assert inner.high <= outer.high
    assert found[0].bounds == pytest.approx((0.36, 0.36))
    assert found[0].interval == pytest.approx(estimate.confidence_interval()[1], abs=1e-12)
    assert found[-1].bounds == (0, 1)


@pytest.mark.slow
def test_options_that_support_less_if_true_are_mirrored() -> None:
    turned = Warner("1/4").estimate([430, 570])
    straight = Warner("3/4").estimate([570, 430])
    for kind in ("anything", "lying", "careless"):
        for found, same in zip(
            Misbehaving(0.1, [kind]).shares(turned), Misbehaving(0.1, [kind]).shares(straight), strict=True
        ):
            assert found.bounds == pytest.approx(same.bounds)
            assert found.interval == pytest.approx(same.interval, abs=1e-9)


@pytest.mark.slow
def test_who_makes_up_a_report_chooses_what_it_speaks_of() -> None:
    """2 of 8 boxes are drawn: a tenth of the people can be .1 / (.1 + .9 / 4) of the reports of a box."""
    boxes = DrawnBoxes.from_epsilon(8, 2, s=2)
    a, b = boxes.box.floats
    d, e = 0.1, 0.1 / (0.1 + 0.9 / 4)
    honest = 0.3
    ticked = (1 - e) * (b + (a - b) * honest) + e
    drawn = 10**5
    counts = [round(drawn * share) for share in [1 - ticked, ticked]] * 8
    found = Misbehaving(d).shares(boxes.estimate(counts, 4 * drawn))[0].bounds
    assert found.low == pytest.approx((1 - d) * honest, abs=1e-4)
    asked = Misbehaving(d).shares(COIN.estimate([570, 430]), asked=0.25)[1].bounds
    assert asked.low == pytest.approx(max((1 - d) * (((0.43 - e) / (1 - e) - B) / (A - B)), 0), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["anything", "lying", long("careless"), "noncompliance"])
def test_normal_intervals_cover_at_the_worst(kind: str) -> None:
    """A scale with noise over its levels: 3 responses, all 231 tallies of 20 reports, with their probabilities."""
    mechanism = Geometric.from_epsilon(0, 2, 2)
    n, d = 20, 0.1
    suspected = Misbehaving(d, [kind])
    matrix = design_of(mechanism).float_matrix
    tallies = [(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]
    robust = [suspected.shares(mechanism.estimate(each)) for each in tallies]
    means = [suspected.mean(MeanEstimate.from_counts(mechanism, each)) for each in tallies]
    corners = {
        "anything": np.eye(3),
        "lying": matrix.T,
        "careless": np.full((1, 3), 1 / 3),
        "noncompliance": np.eye(3)[:1],
    }[kind]
    lowest = 1.0
    for honest in ([1 / 3, 1 / 3, 1 / 3], [0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.05, 0.15, 0.8]):
        for theirs, own in itertools.product(corners, np.eye(3)):
            chances = multinomial.pmf(tallies, n, (1 - d) * matrix @ honest + d * theirs)
            truth = (1 - d) * np.array(honest) + d * own
            for v in range(3):
                ends = np.array([each[v].interval for each in robust])
                lowest = min(lowest, chances[(ends[:, 0] <= truth[v]) & (truth[v] <= ends[:, 1])].sum())
            ends = np.array([each.interval for each in means])
            mean = truth @ [0, 1, 2]
            lowest = min(lowest, chances[(ends[:, 0] <= mean) & (mean <= ends[:, 1])].sum())
    assert lowest > 0.928, lowest  # the plain one, .926 where nobody misbehaves


@pytest.mark.slow
def test_means_between_two_numbers_are_exact() -> None:
    mechanism = OneBitMean.from_epsilon(0, 10, 1)
    n, d = 30, 0.1
    a, b = mechanism.support[1].floats
    counts = np.arange(n + 1)
    ends = np.array(
        [Misbehaving(d).mean(MeanEstimate.from_counts(mechanism, [n - c, c])).interval for c in counts.tolist()]
    )
    for honest, own, r in itertools.product(np.linspace(0, 10, 21), (0, 10), (0, 1)):
        lam = (1 - d) * (b + (a - b) * honest / 10) + d * r
        mean = (1 - d) * honest + d * own
        held = (ends[:, 0] <= mean + 1e-9) & (mean - 1e-9 <= ends[:, 1])
        assert binom.pmf(counts, n, lam)[held].sum() >= 0.95 - 1e-9


def test_mean_bounds_of_noise_over_a_range() -> None:
    mechanism = DiscreteLaplace.from_epsilon(0, 10, 2)
    values = np.array(mechanism.answer_range)
    honest = np.full(len(values), 1 / len(values))
    expected = design_of(mechanism).float_matrix @ honest
    counts = [round(10**7 * share) for share in expected]
    estimate = MeanEstimate.from_counts(mechanism, counts)
    weights, constant = design_of(mechanism).mean_weights(values.tolist())
    scores = np.array(weights) + constant
    found = Misbehaving(0.05).mean(estimate).bounds
    assert found.low == pytest.approx(max(5 - 0.05 * scores.max(), 0), abs=1e-3)
    assert found.high == pytest.approx(min(5 + 0.05 * (10 - scores.min()), 10), abs=1e-3)


@pytest.mark.slow
def test_tick_boxes_one_by_one() -> None:
    boxes = TickBoxes.from_epsilon(3, 3)
    estimate = boxes.estimate([300, 420, 650], 1000)
    alone = Warner(boxes.support[0].if_true)
    for v, found in enumerate(Misbehaving(0.05).shares(estimate)):
        count = [300, 420, 650][v]
        same = Misbehaving(0.05).shares(alone.estimate([1000 - count, count]))[1]
        assert found.bounds == pytest.approx(same.bounds)
        assert found.interval == pytest.approx(same.interval, abs=1e-9)


def test_without_reports_everything_is_possible() -> None:
    assert Misbehaving(0.05).shares(COIN.estimate([0, 0]))[1] == ((0, 1), (0, 1))
    mean = MeanEstimate.from_counts(OneBitMean.from_epsilon(0, 10, 1), [0, 0])
    assert Misbehaving(0.05).mean(mean) == ((0, 10), (0, 10))
    nobody = Geometric.from_epsilon(0, 2, 2).estimate([0, 0, 0])
    assert Misbehaving(0.05).shares(nobody)[0] == ((0, 1), (0, 1))


@pytest.mark.slow
def test_data_that_nothing_explains_leave_an_end() -> None:
    for counts in ([1000, 0], [0, 1000]):
        for kind in KINDS:
            for found in Misbehaving(0.01, [kind]).shares(COIN.estimate(counts)):
                assert 0 <= found.bounds.low <= found.bounds.high <= 1
                assert 0 <= found.interval.low <= found.interval.high <= 1


def test_weighted_reports_count_by_kish() -> None:
    weighted = Estimate.from_counts(COIN, [57.0, 43.0], 100.0, n_effective=1000.0)
    plain = COIN.estimate([570, 430])
    assert Misbehaving(0.05).shares(weighted)[1].interval == pytest.approx(
        Misbehaving(0.05).shares(plain)[1].interval, abs=1e-9
    )


@pytest.mark.long
@pytest.mark.slow
def test_many_reports_are_quick_and_near_to_the_bounds() -> None:
    found = Misbehaving(0.05).shares(COIN.estimate([57 * 10**5, 43 * 10**5]))[1]
    assert found.interval == pytest.approx(found.bounds, abs=1e-3)
    assert found.bounds.low - found.interval.low == pytest.approx(
        1.645 * math.sqrt(0.43 * 0.57 / 10**7) / 0.5, rel=0.02
    )


@pytest.mark.parametrize("share", [-0.1, 1, 2, math.nan, True, "5 %", None, Fraction(3, 2)])
def test_shares_of_people_are_checked(share: object) -> None:
    with pytest.raises(ParameterError, match="misbehaving: must be a share in"):
        Misbehaving(share)  # type: ignore[arg-type]


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(ParameterError, match="misbehaviour: must be of anything, noncompliance"):
        Misbehaving(0.1, ["Lying"])
    with pytest.raises(ParameterError, match="got none"):
        Misbehaving(0.1, [])
    with pytest.raises(ParameterError, match="among: must be one of"):
        Misbehaving(0.1, among="liars")
    with pytest.raises(ParameterError, match="not of the respondents alone"):
        Misbehaving(0.1).shares(COIN.estimate([570, 430]).respondents_only)
    with pytest.raises(ParameterError, match="target population, got respondents"):
        EstimateOptions(target="respondents", misbehaving=Misbehaving(0.1))


@pytest.mark.slow
def test_together_they_are_wider() -> None:
    estimate: Estimate = KAry.from_epsilon(4, 1).estimate([400, 300, 200, 100])
    alone, together = (Misbehaving(0.05).shares(estimate, simultaneous=flag) for flag in (False, True))
    for one, all_ in zip(alone, together, strict=True):
        assert all_.interval.low <= one.interval.low
        assert all_.interval.high > one.interval.high
        assert all_.bounds == one.bounds

"""Intervals that hold whatever fake reports say: against the union over every tally that may be left."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from deniable import (
    Estimate,
    Geometric,
    KAry,
    OneBitMean,
    ParameterError,
    Question,
    Subset,
    Survey,
    Tally,
    TickBoxes,
    TwoCoin,
    estimate,
)
from deniable.mechanisms import DrawnBoxes
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.estimates.fakes import fakes_among
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import METHODS, Interval, contaminated_interval, share_interval, share_intervals
from deniable_statistics.intervals.profile import ShareLikelihood, profile_intervals
from deniable_statistics.published.published_rows import EstimateOptions
from deniable_statistics.robustness.misbehaviour import Misbehaving
from tests.support.marks import long
from tools.tables.fakes import TRUE, coverage, fakes_beside, simulated, width

ROOT = Path(__file__).parents[2]
COIN = TwoCoin("1/2", "1/2")
LEVELS = Geometric.from_epsilon(1, 3, 2)


def holds(outer: Interval, inner: Interval, slack: float = 1e-9) -> bool:
    return outer.low <= inner.low + slack and inner.high - slack <= outer.high


@pytest.mark.parametrize("sizes", [(1, 5), long((9, 16))], ids=str)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("support", [(0.75, 0.25), long((0.25, 0.75)), (1.0, 0.0), long((0.9, 0.5)), (0.02, 0.7)])
def test_the_interval_is_the_hull_of_those_at_all_tallies_that_may_be_left(
    method: str, support: tuple[float, float], sizes: tuple[int, ...]
) -> None:
    for level, n in itertools.product((0.5, 0.95, 0.999), sizes):
        tallies = [(count, size) for size in range(n + 1) for count in range(size + 1)]
        intervals = share_intervals([(*each, support) for each in tallies], level, method)
        at = dict(zip(tallies, intervals, strict=True))
        for fakes, count in itertools.product({0, 1, 3, n // 2}, range(n + 1)):
            left = [
                at[count - j, n - k] for k in range(min(fakes, n) + 1) for j in range(k + 1) if 0 <= count - j <= n - k
            ]
            found = contaminated_interval(count, n, support, fakes, level, method)
            assert found.low == pytest.approx(min(each.low for each in left), abs=1e-9)
            assert found.high == pytest.approx(max(each.high for each in left), abs=1e-9)


def test_the_exact_interval_needs_more_than_the_tally_at_the_end() -> None:
    """What note 3 is for: no fake can be worse than one, because the exact limits are not in the order of tallies."""
    found = contaminated_interval(10, 10, (0.75, 0.25), 1)
    assert found.low == share_interval(10, 10, (0.75, 0.25)).low < share_interval(9, 9, (0.75, 0.25)).low - 0.02


@pytest.mark.slow
@pytest.mark.parametrize("method", ["feldman-cousins", "blaker"])
@pytest.mark.parametrize(
    ("n", "fakes"), [long(300, 9), (300, 60), (3000, 40), pytest.param(9000, 300, marks=pytest.mark.long)]
)
def test_of_many_reports_no_number_of_fakes_is_passed_over(n: int, fakes: int, method: str) -> None:
    for count, level, (a, b) in itertools.product(
        (n // 3, n // 2 + 7, n - n // 5), (0.8, 0.95), ((0.75, 0.25), (0.3, 0.6))
    ):
        found = contaminated_interval(count, n, (a, b), fakes, level, method)
        some = range(fakes + 1) if fakes < 100 else [*range(0, fakes - 90, 15), *range(fakes - 90, fakes + 1)]
        left = share_intervals([(count - taken, n - k, (a, b)) for k in some for taken in (k, 0)], level, method)
        assert found.low == pytest.approx(min(each.low for each in left), abs=1e-9)
        assert found.high == pytest.approx(max(each.high for each in left), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["default", "clopper-pearson", "blaker"])
@pytest.mark.parametrize(("true", "fraction"), [long(40, 0.0), (40, 0.05), long(100, 0.01), long(60, 0.05), (12, 0.3)])
def test_exact_intervals_cover_whatever_the_fakes_do_who_have_seen_all_others(
    true: int, fraction: float, method: str
) -> None:
    """Every outcome with its probability, and of each all that the fakes can say: no simulation."""
    assert coverage(true, fraction, ["anything"], method)["anything"] >= 0.95 - 1e-9


def test_plain_intervals_do_not_cover_then() -> None:
    assert coverage(1000, 0.05, ["either"], is_plain=True)["either"] == pytest.approx(0.0843, abs=5e-5)
    assert fakes_beside(1000, 0.05) == 52  # of 1052


def test_the_figures_of_the_documents() -> None:
    found = coverage(100, 0.05, ["up", "down", "anything"])
    assert list(found.values()) == pytest.approx([0.9554, 0.9554, 0.9521], abs=5e-5)
    assert [round(width(1000, fraction, 0.3), 1) for fraction in (0, 0.01, 0.02, 0.05)] == [12.2, 14.4, 16.3, 23.1]
    text = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    assert "| 100 | .05 | 5 | .9554 | .9554 | .9521 | .8334 |" in text
    assert "| 1,000 | 12.2 | 13.3 | 14.4 | 16.3 | 23.1 | 34.9 |" in text


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize("shares", TRUE)
def test_likelihood_intervals_and_means_lose_hardly_any_sample_to_the_worst_fakes(shares: Sequence[float]) -> None:
    """The same samples without fakes and with them; that seed loses at most 6 of 1000 by the table."""
    for _, _, plain, worst, lost, *_ in simulated(200, 0.05, shares, 300):
        assert float(lost) <= 0.01
        assert float(worst) >= float(plain) - 0.01 >= 0.92


def test_above_10_000_reports_both_methods_that_may_be_the_default_are_taken() -> None:
    n, fakes = 10_200, 300
    found = contaminated_interval(4000, n, (0.75, 0.25), fakes)
    for taken in range(0, fakes + 1, 20):
        for count in (4000, 4000 - taken):
            assert holds(found, share_interval(count, n - taken, (0.75, 0.25)))


@pytest.mark.slow
def test_nobody_is_fake_is_the_plain_interval_and_more_fakes_never_tell_more() -> None:
    shares = [
        COIN.estimate([570, 430]),
        KAry.from_epsilon(4, 1).estimate([40, 30, 20, 10]),
        LEVELS.estimate([50, 30, 20]),
    ]
    for each in shares:
        assert each.confidence_interval(fakes=0) == each.confidence_interval()
        assert each.confidence_interval(fakes=0, simultaneous=True) == each.confidence_interval(simultaneous=True)
        found = [each.confidence_interval(fakes=fakes) for fakes in (0, 1, 5, 20)]
        for fewer, more in itertools.pairwise(found):
            assert all(holds(outer, inner, 0.01) for outer, inner in zip(more, fewer, strict=True))
        assert each.confidence_interval(fakes=int(each.n)) == ((0, 1),) * len(each.share)
        for alone, together in zip(
            each.confidence_interval(fakes=3), each.confidence_interval(fakes=3, simultaneous=True), strict=True
        ):
            assert holds(together, alone, 0.01)
    mean = MeanEstimate.from_counts(LEVELS, [50, 30, 20], None, (1, 2, 3))
    assert mean.confidence_interval(fakes=0) == mean.confidence_interval()
    assert mean.confidence_interval(fakes=100) == (1, 3)
    assert holds(mean.confidence_interval(fakes=5), mean.confidence_interval(fakes=2))


def test_of_respondents_alone_the_interval_is_the_hull_as_well() -> None:
    n, fakes = 14, 3

    @cache
    def at(count: int, size: int, method: str) -> Interval:
        return COIN.estimate([size - count, count]).respondents_only.confidence_interval(method=method)[1]

    for method, count in itertools.product(("default", "wilson"), range(n + 1)):
        result = COIN.estimate([n - count, count]).respondents_only
        assert result.interval_method(method, fakes=fakes) == ("wilson" if method == "wilson" else "feldman-cousins")
        left = [at(count - j, n - k, method) for k in range(fakes + 1) for j in range(k + 1) if 0 <= count - j <= n - k]
        found = result.confidence_interval(method=method, fakes=fakes)[1]
        assert found == pytest.approx((min(each.low for each in left), max(each.high for each in left)), abs=1e-9)
    with pytest.raises(ParameterError, match="must be another one than wald"):
        COIN.estimate([9, 5]).respondents_only.confidence_interval(method="wald", fakes=1)


def test_the_exact_interval_of_respondents_gives_way_to_wilsons_where_fakes_leave_too_many_tallies() -> None:
    result = COIN.estimate([200, 150]).respondents_only
    assert result.interval_method(fakes=10) == "feldman-cousins"
    assert result.interval_method(fakes=11) == "wilson"
    asked = COIN.estimate([200, 150]).of_population(380)
    assert (asked.interval_method(), asked.interval_method(fakes=1)) == ("feldman-cousins", "wilson")
    # The others are 349 of 379 people, or one of those who were not asked is the fake.
    found = asked.confidence_interval(fakes=1)[1]
    for count, n, people in ((150, 349, 379), (149, 349, 379), (150, 350, 379), (150, 350, 380)):
        assert holds(
            found, COIN.estimate([n - count, count]).of_population(people).confidence_interval(method="wilson")[1]
        )


def without(counts: Sequence[int], order: Sequence[int], fakes: int) -> list[float]:
    """The reports of some values taken away, those of the first ones first."""
    left, many = [float(count) for count in counts], float(fakes)
    for place in order:
        taken = min(left[place], many)
        left[place] -= taken
        many -= taken
    return left


@pytest.mark.slow
@pytest.mark.parametrize("counts", [(20, 25, 15), long((120, 90, 90)), long((10, 200, 90)), (0, 12, 90)])
def test_likelihood_intervals_are_near_the_union(counts: tuple[int, ...]) -> None:
    """Of all values in every order, and of mixtures at random: what is passed over is .03 at most."""
    fakes = sum(counts) // 20
    likelihood, everything = ShareLikelihood(design_of(LEVELS).channels or ()), np.eye(3)
    found = profile_intervals(likelihood, np.array(counts, dtype=float), everything, None, 0.95, fakes=fakes)
    draw = np.random.default_rng(8)
    tallies = [without(counts, order, fakes) for order in itertools.permutations(range(3))]
    tallies += [
        np.maximum(np.subtract(counts, draw.multinomial(fakes, draw.dirichlet(np.ones(3)))), 0) for _ in range(8)
    ]
    for tally in [counts, *tallies]:
        ends = profile_intervals(likelihood, np.array(tally, dtype=float), everything, None, 0.95)
        assert (found[:, 0] <= ends[:, 0] + 0.03).all()
        assert (found[:, 1] >= ends[:, 1] - 0.03).all()
    plain = profile_intervals(likelihood, np.array(counts, dtype=float), everything, None, 0.95)
    assert (found[:, 0] <= plain[:, 0]).all()
    assert (found[:, 1] >= plain[:, 1]).all()
    assert found[:, 1].sum() - found[:, 0].sum() > plain[:, 1].sum() - plain[:, 0].sum() + 0.01


@pytest.mark.slow
def test_exact_intervals_of_one_unknown_hold_those_of_all_tallies_that_may_be_left() -> None:
    channel = np.array([[0.6, 0.1], [0.3, 0.2], [0.1, 0.7]])
    likelihood, share, fakes = ShareLikelihood((channel,)), np.array([[0.0, 1.0]]), 2
    for counts in ((7, 4, 9), (0, 3, 12), (15, 0, 1)):
        low, high = profile_intervals(likelihood, np.array(counts, dtype=float), share, None, 0.95, fakes=fakes)[0]
        for taken in itertools.product(range(fakes + 1), repeat=3):
            left = np.array(counts, dtype=float) - taken
            if sum(taken) <= fakes and left.min() >= 0:
                inner = profile_intervals(likelihood, left, share, None, 0.95)[0]
                assert low <= inner[0] + 1e-6
                assert inner[1] - 1e-6 <= high


@pytest.mark.slow
@pytest.mark.parametrize("method", ["default", "wald", "agresti-coull"])
def test_means_hold_what_any_of_the_reports_leave(method: str) -> None:
    counts, fakes = (30, 40, 50), 4
    found = MeanEstimate.from_counts(LEVELS, counts, None, (1, 2, 3)).confidence_interval(method=method, fakes=fakes)
    ways = [each for each in itertools.product(range(fakes + 1), repeat=3) if sum(each) <= fakes]
    for taken in ways if method != "default" else ways[::4]:
        left = [count - each for count, each in zip(counts, taken, strict=True)]
        assert holds(
            found, MeanEstimate.from_counts(LEVELS, left, None, (1, 2, 3)).confidence_interval(method=method), 1e-6
        )


@pytest.mark.parametrize("method", ["wald", "agresti-coull"])
def test_normal_intervals_of_shares_hold_what_any_of_the_reports_leave(method: str) -> None:
    counts, fakes = (30, 40, 50), 3
    found = LEVELS.estimate(counts).confidence_interval(method=method, fakes=fakes)
    for taken in itertools.product(range(fakes + 1), repeat=3):
        if sum(taken) <= fakes:
            left = LEVELS.estimate([count - each for count, each in zip(counts, taken, strict=True)])
            for outer, inner in zip(found, left.confidence_interval(method=method), strict=True):
                assert holds(outer, inner, 1e-3)


def test_a_mean_of_two_answers_is_a_share() -> None:
    mean = MeanEstimate.from_counts(OneBitMean.from_epsilon(0, 10, epsilon=1), [500, 500])
    support = mean.design.support
    assert support is not None
    share = contaminated_interval(500, 1000, support[1].floats, 10)
    assert mean.confidence_interval(fakes=10) == pytest.approx((10 * share.low, 10 * share.high))
    assert mean.confidence_interval(fakes=10).low < mean.confidence_interval().low - mean.fake_margin / 3


def test_of_subsets_each_fake_has_the_largest_score_that_there_is() -> None:
    mechanism = Subset.from_epsilon(6, 2, 1)
    counts = (400, 300, 300, 400, 300, 300)
    plain = MeanEstimate.from_counts(mechanism, counts, 1000, range(6))
    found = plain.confidence_interval(fakes=20)
    weights = np.array(design_of(mechanism).mean_weights(range(6))[0])
    for two in itertools.combinations(range(6), 2):
        left = np.array(counts) - 20 * np.isin(range(6), two)
        others = MeanEstimate.from_counts(mechanism, left.tolist(), 980, range(6))
        assert holds(found, others.confidence_interval(), 1e-6)
    reach = float(np.sort(weights)[-2:].sum() - np.sort(weights)[:2].sum())
    assert (
        found.high - found.low < plain.confidence_interval().high - plain.confidence_interval().low + 2 * 0.025 * reach
    )


@pytest.mark.slow
def test_weighted_reports_leave_the_rest_of_their_weight() -> None:
    weighted = Estimate.from_counts(COIN, [570.5, 430.5], 1001.0, n_effective=700.0)
    low, high = weighted.confidence_interval(fakes=50.05)[1]
    rest = 700 * 0.95**2
    lower = share_interval((430.5 - 50.05) / 950.95 * rest, rest, (0.75, 0.25))
    upper = share_interval(430.5 / 950.95 * rest, rest, (0.75, 0.25))
    assert (low, high) == pytest.approx((lower.low, upper.high))
    levels = Estimate.from_counts(LEVELS, [400.5, 300.0, 300.0], n_effective=500.0)
    for plain, found in zip(levels.confidence_interval(), levels.confidence_interval(fakes=30.0), strict=True):
        assert holds(found, plain)
    mean = MeanEstimate.from_counts(LEVELS, [400.5, 300.0, 300.0], None, (1, 2, 3), 500.0)
    assert holds(mean.confidence_interval(fakes=30.0), mean.confidence_interval())


def test_fakes_are_whole_reports_and_counted_exactly() -> None:
    assert [fakes_among(share, n) for share, n in ((0.29, 100), (0.3, 10), (0.02, 49), (0.02, 50), (0, 9))] == [
        29,
        3,
        0,
        1,
        0,
    ]
    assert contaminated_interval(40, 100, (0.75, 0.25), 2.9) == contaminated_interval(40, 100, (0.75, 0.25), 2)


SURVEY = Survey(
    "Study",
    (
        Question("affair", "yes-no", "Ever?", ("no", "yes"), COIN),
        Question("boxes", "ticks", "Which?", ("a", "b"), TickBoxes.from_epsilon(2, 2)),
    ),
    cohorts=("paper", "web"),
)


def tallies(**counts: tuple[int, int]) -> dict[str | None, Tally]:
    return {
        cohort: Tally(n, {"affair": (n - yes, yes), "boxes": (n // 2, n // 3)}) for cohort, (n, yes) in counts.items()
    }


def test_fakes_are_of_all_reports_and_may_all_be_in_one_cohort() -> None:
    found = tallies(paper=(100, 40), web=(900, 500))
    rows = [row for row in estimate(found, SURVEY, by_cohort=True, assume_fake=0.02) if row.question == "affair"]
    by = {(row.cohort, row.option): row for row in rows}
    for cohort, n, yes in (("paper", 100, 40), ("web", 900, 500)):
        row = by[cohort, "yes"]
        assert (row.conf_low, row.conf_high) == contaminated_interval(yes, n, (0.75, 0.25), 20)
        assert row.assumed_fake == 0.02
    whole = next(row for row in estimate(found, SURVEY, assume_fake=0.02) if row.option == "yes")
    assert (whole.conf_low, whole.conf_high) == contaminated_interval(540, 1000, (0.75, 0.25), 20)
    assert next(iter(estimate(found, SURVEY))).assumed_fake is None


def test_fakes_may_all_be_among_the_reports_that_drew_a_box() -> None:
    design = DrawnBoxes.from_epsilon(3, 1, 2)
    counts, n = [60, 40, 50, 50, 8, 4], 212
    result = design.estimate(counts, n)
    found = result.confidence_interval(fakes=10)
    for place, (ticked, drawn, support) in enumerate(result.binomials or ()):
        assert found[place] == contaminated_interval(float(ticked), float(drawn), support.floats, 10)
    assert result.confidence_interval(fakes=12)[2] == (0, 1)


def test_what_cannot_be_assumed_is_refused() -> None:
    for wrong in (-0.01, 0.51, math.nan, True, "0.1"):
        with pytest.raises(ParameterError, match=r"assume_fake: must be a share in \[0, 0.5\], got"):
            EstimateOptions(assume_fake=wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="assume_fake: must not go with misbehaving"):
        EstimateOptions(assume_fake=0.1, misbehaving=Misbehaving(0.1))
    for fakes in (-1, math.inf, math.nan):
        with pytest.raises(ParameterError, match="fakes: must be a number of at least 0, got"):
            COIN.estimate([5, 5]).confidence_interval(fakes=fakes)
        with pytest.raises(ParameterError, match="fakes: must be a number of at least 0, got"):
            MeanEstimate.from_counts(LEVELS, [5, 5, 5], None, (1, 2, 3)).confidence_interval(fakes=fakes)


def test_without_reports_there_is_nothing_to_fake() -> None:
    assert (
        COIN.estimate([0, 0]).confidence_interval(fakes=0)[1]
        == COIN.estimate([0, 0]).confidence_interval(fakes=5)[1]
        == (0, 1)
    )
    assert contaminated_interval(0, 0, (0.75, 0.25), 0) == contaminated_interval(0, 0, (0.75, 0.25), 3) == (0, 1)
    rows = estimate({}, SURVEY, assume_fake=0.1)
    assert {(row.conf_low, row.conf_high, row.assumed_fake) for row in rows} == {(0, 1, 0.1)}

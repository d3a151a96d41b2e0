"""Intervals where no one binomial counts an option, or people are finite in number: that they hold their level."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import rel_entr
from scipy.stats import binom, multinomial

from deniable import DiscreteLaplace, Geometric, KAry, Piecewise, Warner
from deniable_statistics.classical import (
    Groups,
    cheater_detection,
    kuk,
    stochastic_lie_detector,
    unrelated_question_unknown,
)
from deniable_statistics.classical.derived import combined_share
from deniable_statistics.designs.feasible import most_likely_mixture
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals.constrained import most_likely_under
from deniable_statistics.intervals.enumerated import compositions, enumerated_interval
from deniable_statistics.intervals.finite import finite_interval
from deniable_statistics.intervals.profile import ShareLikelihood, profile_intervals
from deniable_statistics.intervals.sums import mirrored, sum_at_least
from tests.support.marks import long
from tools.tables.levels import Question, boundary, cell, respondents_table, truths, two_questions

ROUNDING = 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, long(2), long(4)])
def test_options_of_a_scale_are_held_by_all_tallies_together(epsilon: int) -> None:
    question = Question("scale", design_of(Geometric.from_epsilon(0, 4, epsilon)))
    cells = [cell(question, shares, 7, measured=2) for shares in truths(5).values()]  # 330 tallies, added up
    assert min(each.coverage for each in cells) >= 0.95
    assert min(each.together for each in cells) >= 0.95
    assert not any(each.point for each in cells)


def test_options_of_eleven_are_held_where_one_degree_of_freedom_holds_three_quarters() -> None:
    # everybody gives the middle one; 500 tallies of a fixed seed
    channel = design_of(Geometric.from_epsilon(0, 10, 4)).float_matrix
    counts = np.random.default_rng(1).multinomial(61, channel[:, 5], size=500).astype(float)
    likelihood, middle = ShareLikelihood((channel,)), np.eye(11)[5]
    rows = np.tile(middle - (1 - 1e-6), (500, 1))
    best = likelihood.best(counts)
    assert (likelihood.root(counts, best, rows) < 1.96).mean() < 0.8
    assert (likelihood.p_values(counts, best, rows, 0.05) > 0.05).mean() >= 0.945


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    [
        Question("mean of a scale", design_of(Geometric.from_epsilon(0, 4, 2)), mean=True),
        Question("mean of k-ary", design_of(KAry.from_epsilon(4, 4)), mean=True),
        Question("mean of k-ary", design_of(KAry.from_epsilon(5, 2)), mean=True),
    ],
    ids=lambda question: f"{question.name} {question.design.epsilon:.2g}",
)
def test_means_hold_their_level(question: Question) -> None:
    cells = [cell(question, shares, 7, measured=2) for shares in truths(len(question.design.truths)).values()]
    assert min(each.coverage for each in cells) >= 0.945
    assert not any(each.point for each in cells)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "shares"),
    [
        (cheater_detection(["1/4", "3/4"]), boundary(3)),
        long(stochastic_lie_detector("0.2", "0.8"), boundary(3)),
        long(unrelated_question_unknown("0.7", "0.3"), two_questions()),
    ],
    ids=["cheater detection", "lie detector", "unrelated question"],
)
def test_designs_of_two_groups_hold_their_level_at_the_boundary(
    design: Groups, shares: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]
) -> None:
    cells = {name: cell(Question("groups", design), each, 7, measured=2) for name, each in shares.items()}
    assert min(each.coverage for each in cells.values()) >= 0.95
    assert min(each.together for each in cells.values()) >= 0.95
    assert not any(each.point for each in cells.values())


@pytest.mark.parametrize(("cards", "n"), [(1, 20), (2, 12), (5, 4)])
def test_one_unknown_with_few_tallies_is_exact(cards: int, n: int) -> None:
    design = kuk("0.8", "0.2", cards)
    counts = compositions(n, cards + 1)
    ends = np.array([design.estimate(each.astype(int)).confidence_interval()[1] for each in counts])
    assert (ends[:, 1] > ends[:, 0]).all()
    for share in np.linspace(0, 1, 37):  # most of them between the places where ends are looked for
        chances = multinomial.pmf(counts, n, np.array(design.matrix, dtype=float) @ [1 - share, share])
        assert chances @ ((ends[:, 0] <= share + ROUNDING) & (share - ROUNDING <= ends[:, 1])) >= 0.9495


def test_one_card_has_the_interval_of_the_binomial() -> None:
    channel = np.array([[0.8, 0.2], [0.2, 0.8]])
    for count in (0, 3, 10, 17):
        low, high = enumerated_interval(channel, np.array([20.0 - count, count]), 0.95)
        assert (low, high) == pytest.approx(
            Warner("4/5").estimate([20 - count, count]).confidence_interval()[1], abs=3e-4
        )


def test_respondents_alone_are_held_at_every_number_of_them() -> None:
    for row in respondents_table((5, 7, 14, 20, 50)):
        assert float(row[2]) >= 0.95
        assert row[4] == "0.0%"
        assert float(row[3]) < 1.5 * float(row[6]), "at most half as long again as the score interval"


def test_small_populations_are_held() -> None:
    a, b, n, people = 0.9, 0.1, 6, 15
    ends = [finite_interval(count, n, people, (a, b), 0.95) for count in range(n + 1)]
    for m in range(people + 1):
        coverage = 0.0
        for yes in range(max(0, n - people + m), min(n, m) + 1):
            drawn = math.comb(m, yes) * math.comb(people - m, n - yes) / math.comb(people, n)
            pmf = np.convolve(binom.pmf(np.arange(yes + 1), yes, a), binom.pmf(np.arange(n - yes + 1), n - yes, b))
            coverage += drawn * pmf @ np.array([low <= m / people <= high for low, high in ends])
        assert coverage >= 0.95 - ROUNDING
    alone = Warner.from_epsilon(2).estimate([4, 3])
    assert alone.respondents_only.interval_method() == "feldman-cousins"
    assert alone.respondents_only.confidence_interval() == alone.respondents_only.confidence_interval(
        method="feldman-cousins"
    )
    assert alone.of_population(10**9).interval_method() == "wilson"


@pytest.mark.slow
def test_respondents_of_a_scale_have_narrower_intervals_from_twenty_reports_on() -> None:
    mechanism = Geometric.from_epsilon(0, 2, 4)
    few = mechanism.estimate([9, 7, 3])
    assert few.respondents_only.confidence_interval() == few.confidence_interval()
    estimate = mechanism.estimate([30, 25, 6])
    pairs = zip(estimate.confidence_interval(), estimate.respondents_only.confidence_interval(), strict=True)
    assert all(alone.high - alone.low < each.high - each.low for each, alone in pairs)
    assert all(high > low for low, high in estimate.respondents_only.confidence_interval(simultaneous=True))


@pytest.mark.simulation
@pytest.mark.parametrize("truth", [(12, 8, 0), (20, 0, 0), (100, 60, 40)])
def test_respondents_of_a_scale_are_held(truth: tuple[int, ...]) -> None:
    # 3000 tallies of people with these answers, a fixed seed; the lowest of three coverages
    channel, random = design_of(Geometric.from_epsilon(0, 2, 4)).float_matrix, np.random.default_rng(4)
    drawn = [random.multinomial(n, column, size=3000) for n, column in zip(truth, channel.T, strict=True)]
    counts = np.sum(drawn, axis=0).astype(float)
    likelihood = ShareLikelihood((channel,), correction=0.0)
    best = likelihood.best(counts)
    for share, part in zip(np.clip(np.array(truth) / sum(truth), 1e-6, 1 - 1e-6), np.eye(3), strict=True):
        rows = np.tile(part - share, (3000, 1))
        assert (likelihood.p_values(counts, best, rows, 0.05) > 0.05).mean() >= 0.945


def test_the_same_reports_have_the_same_interval() -> None:
    tally = [5, 2, 3, 4, 5, 6, 7, 3, 4, 4, 10]
    first, second = (
        Geometric.from_epsilon(0, 10, 4).estimate(tally).confidence_interval(simultaneous=True) for _ in range(2)
    )
    assert first == second


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, long(1000), long(10**9)])
def test_no_interval_is_a_point_whatever_people_send(n: int) -> None:
    for make in (
        Geometric.from_epsilon(0, 4, 2),
        Geometric.from_epsilon(0, 4, 8),
        DiscreteLaplace.from_epsilon(0, 3, 4),
    ):
        for places in ([0], [2], [0, make.k - 1]):
            counts = [n * (place in places) for place in range(make.k)]
            estimate = make.estimate(counts)
            assert all(
                0 <= low < high <= 1
                for low, high in (*estimate.confidence_interval(), *estimate.confidence_interval(simultaneous=True))
            )
            mean = MeanEstimate.from_counts(make, counts)
            low, high = mean.confidence_interval()
            assert mean.lowest <= low < high <= mean.highest
    for tallies in itertools.product(((n, 0), (0, n), (1, n)), repeat=2):
        groups = cheater_detection(["1/4", "3/4"]).estimate(tallies)
        assert all(0 <= low < high <= 1 for low, high in groups.confidence_interval())


@pytest.mark.parametrize("level", [0.001, 0.5, 0.999999999999])
def test_levels_from_end_to_end_nest(level: float) -> None:
    estimate = Geometric.from_epsilon(0, 4, 2).estimate([10, 5, 3, 2, 9])
    pairs = zip(
        estimate.confidence_interval(level), estimate.confidence_interval(level, simultaneous=True), strict=True
    )
    assert all(wide.low <= one.low + 1e-3 and one.high <= wide.high + 1e-3 for one, wide in pairs)
    for (low, high), share in zip(estimate.confidence_interval(level), estimate.feasible, strict=True):
        assert low - 1e-3 <= share <= high + 1e-3


def test_weights_count_as_their_effective_number() -> None:
    mechanism = Geometric.from_epsilon(0, 4, 2)
    weighted = mechanism.estimate([100.0, 60.0, 20.0, 10.0, 10.0], n_effective=100)
    assert np.array(weighted.confidence_interval()) == pytest.approx(
        np.array(mechanism.estimate([50, 30, 10, 5, 5]).confidence_interval())
    )
    mean = MeanEstimate.from_counts(mechanism, [100.0, 60.0, 20.0, 10.0, 10.0], n_effective=100)
    assert mean.confidence_interval() == pytest.approx(
        MeanEstimate.from_counts(mechanism, [50, 30, 10, 5, 5]).confidence_interval()
    )


def test_many_reports_are_nearly_normal_inside_the_simplex() -> None:
    design = Geometric.from_epsilon(0, 4, 4)
    counts = [round(200_000 * each) for each in design_of(design).expected([0.15, 0.2, 0.3, 0.2, 0.15])]
    shares, mean = design.estimate(counts), MeanEstimate.from_counts(design, counts)
    assert np.array(shares.confidence_interval()) == pytest.approx(
        np.array(shares.confidence_interval(method="wald")), abs=4e-4
    )
    assert mean.confidence_interval() == pytest.approx(mean.confidence_interval(method="wald"), abs=2e-3)


def test_a_share_among_some_is_held_by_its_limits() -> None:
    carriers = ["yes, honest", "yes, lying"]
    estimate = stochastic_lie_detector("0.2", "0.8").estimate([[17_000, 33_000], [30_000, 20_000]])
    for part, whole in ((carriers, None), (carriers[:1], carriers)):
        found = combined_share(estimate, part, whole)
        assert found.confidence_interval() == pytest.approx(tuple(found.confidence_interval(method="wald")), abs=1e-3)
    nobody = stochastic_lie_detector("0.2", "0.8").estimate([[40, 160], [160, 40]])
    assert combined_share(nobody, carriers[:1], carriers).confidence_interval() == (0, 1), "nobody to be among"


@pytest.mark.slow
def test_more_answers_than_the_time_allows_have_normal_intervals() -> None:
    assert Geometric.from_epsilon(0, 31, 4).estimate([1] * 32).interval_method() == "likelihood-ratio"
    many = Geometric.from_epsilon(0, 32, 4)
    assert many.estimate([1] * 33).interval_method() == "agresti-coull"
    assert MeanEstimate.from_counts(many, [1] * 33).interval_method() == "agresti-coull"
    assert MeanEstimate.from_counts(Piecewise.from_epsilon(0, 1000, 2), [1] * 6).interval_method() == "likelihood-ratio"


def test_maxima_under_constraints_are_those_of_another_method() -> None:
    random = np.random.default_rng(3)
    channel = design_of(Geometric.from_epsilon(0, 5, 2)).float_matrix
    counts = random.multinomial(50, channel[:, 2], size=20).astype(float)
    found = most_likely_under(channel, counts, np.ones((20, 1, 6)), np.ones(1))
    for tally, shares, positive in zip(counts, found.shares, found.positive, strict=True):
        wanted = most_likely_mixture([channel], [tally], 1e-12)
        assert tally @ np.log(channel @ shares) == pytest.approx(tally @ np.log(channel @ wanted), abs=1e-6)
        assert (shares[~positive] < 1e-4).all()
    rows = np.stack([np.ones((20, 6)), np.tile(np.eye(6)[4], (20, 1))], axis=1)
    fixed = most_likely_under(channel, counts, rows, np.array([1, 0.3])).shares
    assert fixed.sum(axis=1) == pytest.approx(1)
    assert fixed[:, 4] == pytest.approx(0.3)


@pytest.mark.parametrize(("n", "lam"), [(5, 0.5), (60, 0.01), (1000, 0.3)])
def test_tails_of_sums_are_those_of_the_binomial(n: int, lam: float) -> None:
    spread = math.sqrt(n * lam)
    above = np.arange(math.ceil(n * lam + 1.5 * spread), math.ceil(n * lam + 4 * spread))
    seen = above[above <= n].astype(float)
    size = len(seen)
    arguments = (np.tile([0.0, 1], (size, 1)), np.tile([[1 - lam, lam]], (size, 1, 1)), np.full((size, 1), float(n)))
    ratio = sum_at_least(*arguments, seen) / binom.sf(seen - 1, n, lam)
    assert (ratio >= 1).all()
    assert (ratio <= 1.2).all()


def test_the_other_side_is_as_unlikely() -> None:
    coins = (np.array([[0.0, 1]]), np.array([[[0.5, 0.5]]]), np.array([[10.0]]))
    assert mirrored(*coins, np.array([7.0])) == pytest.approx([3], abs=0.01)
    rare = (np.array([[1.0, 0]]), np.array([[[0.95, 0.05]]]), np.array([[20.0]]))  # 20 of 20 where 19 are expected
    opposite = mirrored(*rare, np.array([20.0]))[0]
    assert opposite < 19
    assert 20 * rel_entr([opposite / 20, 1 - opposite / 20], [0.95, 0.05]).sum() == pytest.approx(
        -20 * math.log(0.95), 0.01
    )
    common = (np.array([[1.0, 0]]), np.array([[[0.05, 0.95]]]), np.array([[20.0]]))
    assert mirrored(*common, np.array([8.0]))[0] == -math.inf, "none at all is not as unlikely"


def test_intervals_of_opposite_answers_mirror_each_other() -> None:
    likelihood = ShareLikelihood((np.array(kuk("0.8", "0.2", 5).matrix, dtype=float),))
    low, high = profile_intervals(likelihood, np.array([90.0, 40, 20, 20, 40, 90]), np.eye(2), None, 0.95)
    assert low == pytest.approx(1 - high[::-1], abs=1e-4)

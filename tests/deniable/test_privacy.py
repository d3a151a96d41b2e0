"""Privacy arithmetic against brute force: every report, every guess, and attackers that know the mechanism."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from deniable import (
    DiscreteLaplace,
    Exponential,
    Geometric,
    KAry,
    OneBitMean,
    ParameterError,
    Subset,
    TwoCoin,
    Warner,
    read_survey,
)
from deniable.exact import log_above
from deniable.mechanisms.base import OneOfK
from deniable.privacy.ledger import Ledger, LedgerEntry
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.risk import (
    all_advantage,
    any_advantage,
    epsilon_at,
    epsilon_for_advantage,
    epsilon_of,
    factor,
    guessing_advantage,
    likelihood_ratio,
    odds_of,
    posterior,
    range_advantage,
    shared_by,
    worst_advantage,
    worst_prior,
)
from deniable_statistics.robustness.fakes import fake_margin

EPSILONS = [1e-9, 1e-3, 0.1, 0.5, 1.0, math.log(3), 1.3, 2.0, 4.0, 8.0]
PRIORS = [1e-6, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.9]


def test_epsilon_of_matrices_is_exact_or_rounded_up() -> None:
    assert likelihood_ratio(design_of(TwoCoin("1/2", "1/2")).channel_matrix) == 3
    assert epsilon_of(design_of(TwoCoin("1/2", "1/2")).channel_matrix) == pytest.approx(math.log(3), abs=1e-8)
    assert epsilon_of(design_of(TwoCoin("0.8", "0.8")).channel_matrix) == pytest.approx(math.log(21), abs=1e-8)
    assert epsilon_of([["24/25", "4/25"], ["1/25", "21/25"]]) >= math.log(21)
    for mechanism in (Warner("0.7"), KAry.from_epsilon(5, 2)):
        assert epsilon_of(design_of(mechanism).channel_matrix) == mechanism.epsilon
    assert epsilon_of([[0.9, 0.1], [0.1, 0.9]]) == pytest.approx(math.log(9), abs=1e-15)
    assert epsilon_of([[0.5, 0.5], [0.5, 0.5]]) == 0
    assert epsilon_of([[1, 0.5], [0, 0.5]]) == math.inf
    assert epsilon_of([[0.5, 0.5], [0.5, 0.5], [0, 0]]) == 0
    assert epsilon_of([[1 / 3, 0.1], [1 / 3, 0.2], [1 / 3, 0.7]]) == pytest.approx(math.log(10 / 3), abs=1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("prior", PRIORS)
def test_posterior_is_what_bayes_says_of_the_strongest_report(prior: float, epsilon: float) -> None:
    ratio = math.exp(epsilon)
    by_hand = prior * ratio / (prior * ratio + 1 - prior)
    assert posterior(prior, epsilon) == pytest.approx(by_hand, rel=1e-13)
    assert guessing_advantage(prior, epsilon) == pytest.approx(by_hand - prior, abs=1e-15)
    assert guessing_advantage(prior, epsilon) <= worst_advantage(epsilon) * (1 + 1e-12)


def test_worst_case_at_epsilon_1_3() -> None:
    assert worst_advantage(1.3) == math.tanh(0.325)
    assert worst_advantage(1.3) == pytest.approx(0.3140, abs=5e-5)
    assert epsilon_for_advantage(worst_advantage(1.3)) == pytest.approx(1.3, abs=1e-12)
    assert worst_prior(1.3) == pytest.approx((1 - worst_advantage(1.3)) / 2, abs=1e-15)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_worst_prior_is_the_worst(epsilon: float) -> None:
    top = guessing_advantage(worst_prior(epsilon), epsilon)
    assert top == pytest.approx(worst_advantage(epsilon), rel=1e-12)
    assert all(guessing_advantage(step / 1000, epsilon) <= top * (1 + 1e-12) for step in range(1001))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_advantages_lead_back_to_epsilon(epsilon: float) -> None:
    assert epsilon_for_advantage(worst_advantage(epsilon)) == pytest.approx(epsilon, abs=1e-12)
    for prior in PRIORS[1:]:
        assert epsilon_for_advantage(guessing_advantage(prior, epsilon), prior) == pytest.approx(epsilon, abs=1e-12)
    assert epsilon_for_advantage(guessing_advantage(0.1, epsilon), 0.1) == pytest.approx(epsilon, rel=1e-11)


def test_the_ends_of_everything() -> None:
    assert (posterior(0, 5), posterior(1, 5), posterior(0.3, 0), posterior(0.3, math.inf)) == (0, 1, 0.3, 1)
    assert (guessing_advantage(0, 5), guessing_advantage(1, 5), guessing_advantage(0.25, math.inf)) == (0, 0, 0.75)
    assert (worst_advantage(0), worst_advantage(math.inf), worst_prior(0), worst_prior(math.inf)) == (0, 1, 0.5, 0)
    assert posterior(0.1, 10_000) == 1
    assert (epsilon_for_advantage(0), epsilon_for_advantage(0, 0.2)) == (0, 0)


def advantages(
    joint: dict[tuple[int, ...], float],
    channels: Sequence[Sequence[Sequence[float]]],
    guess: tuple[int, ...],
    every: bool,
) -> list[float]:
    """Posterior minus prior of one guess under every combination of reports, by Bayes over the joint prior."""

    def right(truth: tuple[int, ...]) -> bool:
        hits = [a == b for a, b in zip(truth, guess, strict=True)]
        return all(hits) if every else any(hits)

    prior = sum(weight for truth, weight in joint.items() if right(truth))
    found = []
    for reports in itertools.product(*(range(len(channel)) for channel in channels)):
        weights = {
            truth: weight * math.prod(c[r][x] for c, r, x in zip(channels, reports, truth, strict=True))
            for truth, weight in joint.items()
        }
        found.append(sum(w for truth, w in weights.items() if right(truth)) / sum(weights.values()) - prior)
    return found


def coins(epsilons: Sequence[float]) -> list[list[list[float]]]:
    """The symmetric yes-no channel of each epsilon."""
    keeps = [1 / (1 + math.exp(-epsilon)) for epsilon in epsilons]
    return [[[keep, 1 - keep], [1 - keep, keep]] for keep in keeps]


BOUNDS: list[tuple[Callable[..., float], bool]] = [(all_advantage, True), (any_advantage, False)]


@pytest.mark.parametrize(("bound", "every"), BOUNDS, ids=["all", "any"])
def test_independent_attributes_by_enumeration(bound: Callable[..., float], every: bool) -> None:
    generator = random.Random(1)
    for m in (1, 2, 3):
        for _ in range(20):
            yes = [generator.uniform(0.01, 0.99) for _ in range(m)]
            epsilons = [generator.uniform(0.1, 3) for _ in range(m)]
            joint = {
                truth: math.prod(p if x else 1 - p for p, x in zip(yes, truth, strict=True))
                for truth in itertools.product((0, 1), repeat=m)
            }
            for guess in itertools.product((0, 1), repeat=m):
                priors = [p if x else 1 - p for p, x in zip(yes, guess, strict=True)]
                worst = max(advantages(joint, coins(epsilons), guess, every))
                assert bound(priors, epsilons) == pytest.approx(worst, abs=1e-12)  # the bound is attained


@pytest.mark.parametrize(("bound", "every"), BOUNDS, ids=["all", "any"])
def test_dependent_attributes_by_enumeration(bound: Callable[..., float], every: bool) -> None:
    generator = random.Random(2)
    closest = 1.0
    for m in (2, 3):
        for number in range(150):
            weights = [generator.random() ** (1 + number % 12) for _ in range(2**m)]
            truths = list(itertools.product((0, 1), repeat=m))
            joint = {truth: weight / sum(weights) for truth, weight in zip(truths, weights, strict=True)}
            epsilons = [generator.uniform(0.1, 3) for _ in range(m)]
            for guess in truths:
                priors = [sum(w for t, w in joint.items() if t[i] == guess[i]) for i in range(m)]
                slack = bound(priors, epsilons, independent=False) - max(
                    advantages(joint, coins(epsilons), guess, every)
                )
                assert slack >= -1e-12
                closest = min(closest, slack)
    assert closest < 0.05  # not a bound that is far from everything


def test_dependent_attributes_can_lose_more_than_independent_ones() -> None:
    # one secret behind both attributes: two reports about it, so twice the epsilon
    joint: dict[tuple[int, ...], float] = {(0, 0): 0.5, (1, 1): 0.5}
    worst = max(advantages(joint, coins([1, 1]), (1, 1), every=True))
    assert worst == pytest.approx(guessing_advantage(0.5, 2), abs=1e-12)
    assert worst > any_advantage([0.5, 0.5], 1)
    assert worst <= all_advantage([0.5, 0.5], 1, independent=False)


def best_window(likelihood: Sequence[float], window: int) -> float:
    return max(sum(likelihood[i : i + window]) for i in range(len(likelihood) - window + 1)) / sum(likelihood)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("window", [1, 2, 5, 8])
def test_range_bounds_by_enumeration_of_the_steepest_likelihoods(epsilon: float, window: int) -> None:
    # A range of 9 cells, uniform beforehand. The posterior of a window is largest at an extreme likelihood: by
    # distance, one whose logarithm rises or falls by the full step between neighbours; without, one of two values.
    cells = 9
    steps = [
        list(itertools.accumulate(signs, lambda a, b: a * b, initial=1.0))
        for signs in itertools.product((math.exp(epsilon / cells), math.exp(-epsilon / cells)), repeat=cells - 1)
    ]
    u = window / cells
    by_distance = range_advantage(epsilon, window / 2, cells, by_distance=True)
    assert by_distance == pytest.approx(max(best_window(each, window) for each in steps) - u, abs=1e-12)
    levels = itertools.product((1.0, math.exp(epsilon)), repeat=cells)
    flat = range_advantage(epsilon, window / 2, cells)
    assert flat == pytest.approx(max(best_window(each, window) for each in levels) - u, abs=1e-12)
    assert by_distance <= flat


def test_range_of_whole_numbers_with_geometric_noise() -> None:
    lo, hi, epsilon = 0, 10, 2.0
    k = hi - lo + 1
    alpha = math.exp(-epsilon / (hi - lo))
    for near in (
        0,
        1,
        2,
    ):  # the report lo under clamped noise, or any below under unclamped, weighs x by alpha^(x - lo)
        window = 2 * near + 1
        exact = best_window([alpha**x for x in range(k)], window) - window / k
        bound = range_advantage(epsilon * k / (hi - lo), near + 0.5, k, by_distance=True)
        assert bound == pytest.approx(exact, abs=1e-12)


def test_range_at_its_ends() -> None:
    assert range_advantage(1, 0, 10) == range_advantage(1, 0, 10, by_distance=True) == 0
    assert range_advantage(1, 5, 10) == range_advantage(1, 50, 10, by_distance=True) == 0
    assert range_advantage(0, 1, 10, by_distance=True) == 0
    assert range_advantage(math.inf, 1, 10, by_distance=True) == pytest.approx(0.8)


DISTANCES = {
    "geometric": lambda epsilon: Geometric.from_epsilon(0, 100, epsilon),
    "laplace": lambda epsilon: DiscreteLaplace.from_epsilon(0, 8, epsilon, tail="1/2"),
    "mean": lambda epsilon: OneBitMean.from_epsilon(-5, 5, epsilon),
    "exponential": lambda epsilon: Exponential.calibrated([[-abs(x - r) for r in range(6)] for x in range(6)], epsilon),
    "k-ary": lambda epsilon: KAry.from_epsilon(4, epsilon),
}


def largest_ratio(pairs: Iterable[tuple[int, int]]) -> Fraction:
    """The largest ratio within a pair, the larger number over the smaller one: one fraction is made, of all of them."""
    most, least = 1, 1
    for one, other in pairs:
        high, low = (one, other) if one > other else (other, one)
        if high * least > most * low:
            most, least = high, low
    return Fraction(most, least)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "epsilon"),
    [
        # With 0.01 it has a thousand reports, whose fractions take four seconds.
        pytest.param(
            make,
            epsilon,
            id=f"{name}-{epsilon}",
            marks=pytest.mark.long if (name, epsilon) == ("laplace", "0.01") else (),
        )
        for name, make in DISTANCES.items()
        for epsilon in ("0.01", "0.1", 1, 4)
    ],
)
def test_loss_at_a_distance_is_that_of_the_published_integers(
    make: Callable[[object], OneOfK], epsilon: object
) -> None:
    """The rule ``epsilon distance / width`` understated it by up to 9.4 times for small weights."""
    mechanism = make(epsilon)
    matrix = design_of(mechanism).channel_matrix
    common = math.lcm(*(each.denominator for row in matrix for each in row))
    rows = [[int(each * common) for each in row] for row in zip(*matrix, strict=True)]
    steps = len(rows) - 1
    for distance in {0, 1, 2, steps // 2, steps}:
        pairs = (
            (a, b) for one, other in zip(rows, rows[distance:], strict=False) for a, b in zip(one, other, strict=True)
        )
        assert epsilon_at(mechanism, distance) == log_above(largest_ratio(pairs))
    assert epsilon_at(mechanism, steps) <= mechanism.epsilon
    assert epsilon_at(mechanism, 0) == 0


def test_rounded_tails_lose_more_between_neighbours_than_the_rule_says() -> None:
    rounded = Geometric(0, 3, (2**31 - 20, 2**31 - 21, 2**31 - 40))
    assert epsilon_at(rounded, 1) > 2 * rounded.epsilon / 3


@pytest.mark.slow
def test_survey_adds_up_and_never_understates() -> None:
    question = '[[questions]]\nid = "q{}"\ntype = "yes-no"\ntext = "Q?"\ntruth = "{}"\n'
    dice = random.Random(5)
    for _ in range(50):
        coins = [dice.randrange(1, 999) for _ in range(dice.randrange(1, 40))]
        text = "".join(question.format(n, f"{coin}/1000") for n, coin in enumerate(coins))
        survey = read_survey(f'title = "T"\n{text}')
        with localcontext(prec=60):
            ratios = [question.mechanism.likelihood_ratio for question in survey.questions]
            exact = sum((Decimal(ratio.numerator) / ratio.denominator).ln() for ratio in ratios)
            assert Decimal(survey.epsilon) >= exact
        assert survey.epsilon == pytest.approx(float(exact), rel=1e-14)


def test_ledger_adds_up_and_never_understates() -> None:
    ledger = Ledger()
    for number in range(10):
        ledger = ledger.add(f"q{number}", 0.1)
    assert ledger.epsilon >= Fraction(0.1) * 10
    assert ledger.epsilon == pytest.approx(1, abs=1e-15)
    assert Ledger().epsilon == 0
    assert shared_by(4, ledger).epsilon == pytest.approx(4, abs=1e-12)
    assert Ledger().add("a", 0.5, count=3) == Ledger((LedgerEntry("a", 0.5, 3),))
    assert Ledger().add("proof", math.inf).add("b", 1).epsilon == math.inf
    assert LedgerEntry("a", "1/2") == LedgerEntry("a", 0.5)  # type: ignore[arg-type]
    assert shared_by(1, ledger) == ledger
    assert LedgerEntry("a", 0.1, 3).total >= 3 * Fraction(0.1)


def test_ledger_is_a_table_whose_last_row_is_the_sum() -> None:
    ledger = Ledger().add("affair", 1.0).add("weekly mood", 0.25, count=4)
    assert str(ledger).splitlines() == [
        "entry        epsilon  times     sum",
        "affair        1.0000      1  1.0000",
        "weekly mood   0.2500      4  1.0000",
        "total                        2.0000",
    ]


def test_composition_is_the_epsilon_of_the_joint_channel() -> None:
    first, second = design_of(Warner("3/4")).channel_matrix, design_of(KAry.from_coin(3, "1/2")).channel_matrix
    joint = [[first[r][x] * second[s][y] for x in range(2) for y in range(3)] for r in range(2) for s in range(3)]
    ledger = Ledger().add("first", epsilon_of(first)).add("second", epsilon_of(second))
    assert epsilon_of(joint) == pytest.approx(ledger.epsilon, abs=1e-12)


@pytest.mark.parametrize(
    ("k", "epsilon", "points"),
    [(2, 0.5, 4.1), (2, 1, 2.2), (2, 2, 1.3), (2, 4, 1.0), (10, 0.5, 16.4), (10, 1, 6.8), (10, 2, 2.6), (10, 4, 1.2)],
)
def test_margin_of_fakes(k: int, epsilon: float, points: float) -> None:
    (p, q), *_ = KAry.from_epsilon(k, epsilon).support
    assert round(100 * fake_margin(p, q), 1) == points
    assert fake_margin(q, p) == fake_margin(p, q)


def test_fakes_move_an_estimate_by_no_more_than_the_margin() -> None:
    mechanism = TwoCoin("1/2", "1/2")
    before, after = mechanism.estimate([1000, 0]), mechanism.estimate([950, 50])  # 5 % of the reports replaced
    assert after.share[1] - before.share[1] == pytest.approx(fake_margin("3/4", "1/4", 0.05), abs=1e-12)


def test_sentences_for_people() -> None:
    assert odds_of(math.log(3))[0] == "One report changes the odds of any guess by a factor of at most 3."
    assert odds_of(3.0986, "The whole survey")[0].startswith("The whole survey changes the odds of any guess")
    assert odds_of(0) == ("One report tells nothing about the answer.",)
    assert "can prove an answer" in odds_of(math.inf)[0]
    assert "at most 100 % likely afterwards" in odds_of(30)[1]


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [(0, "1"), (math.log(2), "2"), (0.5, "1.7"), (1, "2.8"), (2, "7.4"), (5, "149"), (8, "2981"), (22, "10^10")],
)
def test_factors_are_rounded_up(epsilon: float, text: str) -> None:
    assert factor(epsilon) == text


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: posterior(1.2, 1), "prior: must be a probability in [0, 1], got 1.2"),
        (lambda: posterior(0.2, -1), "epsilon: must be 0 or above, got -1"),
        (lambda: posterior(0.2, math.nan), "epsilon: must be a number"),
        (lambda: guessing_advantage(math.nan, 1), "prior: must be a number"),
        (lambda: worst_advantage(True), "epsilon: must be a number like 0.5 or a fraction like 1/2, got true"),
        (lambda: epsilon_for_advantage(1), "advantage: must be below 1"),
        (lambda: epsilon_for_advantage(20), "advantage: must be a probability in [0, 1], got 20"),
        (lambda: epsilon_for_advantage(0.9, 0.1), "advantage: must be below 1 - prior = 0.9"),
        (lambda: epsilon_for_advantage(0.1, 0), "prior: must be above 0 and below 1, got 0"),
        (lambda: all_advantage([], 1), "priors: must be at least one, with one epsilon each, got 0 and 0"),
        (lambda: any_advantage([0.1, 0.2], [1]), "priors: must be at least one, with one epsilon each, got 2 and 1"),
        (lambda: all_advantage([0.1, 2], 1), "priors[1]: must be a probability in [0, 1], got 2"),
        (lambda: range_advantage(1, -1, 10), "precision: must be 0 or above, got -1"),
        (lambda: range_advantage(1, 1, 0), "width: must be above 0, got 0"),
        (
            lambda: epsilon_at(OneBitMean.from_epsilon(0, 10, 1), 11),
            "distance: must be an integer from 0 to 10, got 11",
        ),
        (lambda: epsilon_at(KAry.from_epsilon(4, 1), 0.5), "distance: must be an integer from 0 to 3, got 0.5"),  # type: ignore[arg-type]
        (lambda: epsilon_at(Subset.from_epsilon(8, 3, 1), 1), "mechanism subset: must have answers on a line"),
        (lambda: Ledger().add("a", 1, count=0), "count: must be an integer of at least 1, got 0"),
        (lambda: shared_by(0, Ledger()), "people: must be an integer of at least 1, got 0"),
        (lambda: fake_margin("1/2", "1/2"), "support_if_other: must differ from support_if_true, got 0.5 for both"),
        (lambda: fake_margin("3/2", "1/2"), "support_if_true: must be a probability in [0, 1], got 1.5"),
        (lambda: fake_margin("1/2", "1/4", 2), "fraction: must be a probability in [0, 1], got 2"),
        (lambda: epsilon_of([]), "matrix: must have rows of one length, got 0 rows"),
        (lambda: epsilon_of([[1, 1], [0]]), "matrix: must have rows of one length, got 2 rows"),
        (lambda: epsilon_of([[0.5, 0.5], [0.5, 0.4]]), "matrix: column 1 must hold probabilities that add up to 1"),
        (lambda: epsilon_of([["x"]]), "matrix[0][0]: must be a number"),
    ],
)  # fmt: skip
def test_mistakes_are_sentences(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        make()
    assert message in str(caught.value)

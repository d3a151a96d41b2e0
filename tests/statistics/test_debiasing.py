"""The linear maps behind estimates: inverses, covariances, the nearest possible shares, what fakes can move."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable import Geometric, KAry, ParameterError, TickBoxes
from deniable.mechanisms import Support
from deniable_statistics.classical.algebra import Matrix, exact_left_inverse, identity, product
from deniable_statistics.designs import feasible
from deniable_statistics.designs.debiasing import left_inverse, one_report_covariance, ratio
from deniable_statistics.designs.feasible import most_likely_mixture, most_likely_shares, nearest_on_simplex
from deniable_statistics.estimates.fakes import fake_margins
from deniable_statistics.robustness.fakes import fake_margin

TALL = np.array([[0.5, 0.1], [0.3, 0.3], [0.2, 0.6]])
"""Three reports, two answers."""

MIXED = (
    "respond differently to different truths to estimate their shares; "
    "some mixture of truths gives the same reports as another"
)


def test_left_inverses_undo_their_matrices() -> None:
    square = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.3], [0.1, 0.2, 0.6]])
    for matrix in (square, TALL):
        size = matrix.shape[1]
        assert left_inverse(matrix, "x") @ matrix == pytest.approx(np.eye(size), abs=1e-12)
    assert left_inverse(square, "x") == pytest.approx(np.linalg.inv(square))


def test_no_other_left_inverse_has_less_variance_where_all_truths_are_equally_frequent() -> None:
    lam = TALL.mean(axis=1)
    best = left_inverse(TALL, "x")
    others = np.linalg.svd(TALL.T)[2][-1]  # what is added in this direction undoes the matrix all the same
    assert others @ TALL == pytest.approx(0, abs=1e-12)

    def variance(weights: np.ndarray) -> float:
        return float((weights**2 @ lam).sum())

    for step in (-0.1, -1e-3, 1e-3, 0.1):
        for row in ([1, 0], [0, 1], [1, 1]):
            assert variance(best) < variance(best + step * np.outer(row, others))


def _fractions(matrix: np.ndarray) -> Matrix:
    return tuple(tuple(Fraction(str(each)) for each in row) for row in matrix)


@pytest.mark.parametrize("matrix", [TALL, TALL[:2], np.vstack([TALL, np.zeros((1, 2))])])
def test_fractions_give_the_left_inverse_of_floats_without_rounding(matrix: np.ndarray) -> None:
    found = exact_left_inverse(_fractions(matrix), "x")
    assert product(found, _fractions(matrix)) == identity(2)
    assert all(isinstance(each, Fraction) for row in found for each in row)
    assert left_inverse(matrix, "x") == pytest.approx(np.array(found, dtype=float))


def test_an_impossible_report_weighs_nothing() -> None:
    padded = np.vstack([TALL[:1], np.zeros((1, 2)), TALL[1:]])
    assert left_inverse(padded, "x") == pytest.approx(np.insert(left_inverse(TALL, "x"), 1, 0, axis=1))


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (TALL.T, "cards: cannot tell 3 truths apart by 2 reports; if answers are numbers, estimate their mean"),
        (np.full((2, 2), 0.5), f"cards: must {MIXED}"),
        (np.full((3, 2), 1 / 4), f"cards: must {MIXED}"),
    ],
)
def test_matrices_that_cannot_be_undone_are_refused(matrix: np.ndarray, sentence: str) -> None:
    for invert in (lambda: left_inverse(matrix, "cards"), lambda: exact_left_inverse(_fractions(matrix), "cards")):
        with pytest.raises(ParameterError) as caught:
            invert()
        assert str(caught.value) == sentence


def test_covariance_of_one_report_is_that_of_its_scores() -> None:
    weights, lam = np.array([[1.0, 2, 4], [0, -1, 3]]), [0.2, 0.3, 0.5]
    mean = [1 * 0.2 + 2 * 0.3 + 4 * 0.5, -1 * 0.3 + 3 * 0.5]
    wanted = sum(
        p * np.outer(score - np.array(mean), score - np.array(mean)) for p, score in zip(lam, weights.T, strict=True)
    )
    assert one_report_covariance(weights, lam) == pytest.approx(wanted)
    assert one_report_covariance(weights, [0, 0, 1]).tolist() == [[0, 0], [0, 0]]
    # 1e9 apart from 0 the two terms of the textbook would lose all digits of a variance of 1/4
    assert one_report_covariance(np.array([[1e9, 1e9 + 1]]), [0.5, 0.5]) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("point", "nearest"),
    [
        ([0.2, 0.3, 0.5], (0.2, 0.3, 0.5)),
        ([1, 0, 0], (1, 0, 0)),
        ([2, 0, 0], (1, 0, 0)),
        ([0, 0, 0], (1 / 3, 1 / 3, 1 / 3)),
        ([0.9, 0.9, 0], (0.5, 0.5, 0)),
        ([0.75, 0.5, -0.25], (0.625, 0.375, 0)),
        ([-1, -1], (0.5, 0.5)),
        ([5], (1,)),
    ],
)
def test_nearest_possible_shares_by_hand(point: list[float], nearest: tuple[float, ...]) -> None:
    assert nearest_on_simplex(point) == pytest.approx(nearest, abs=1e-15)


def test_no_possible_shares_are_nearer() -> None:
    generator = np.random.default_rng(5)
    for _ in range(50):
        point = generator.normal(0.3, 0.5, 5)
        found = np.array(nearest_on_simplex(point.tolist()))
        assert found.sum() == pytest.approx(1)
        assert found.min() >= 0
        others = generator.dirichlet(np.full(5, 0.5), 200)
        assert np.linalg.norm(found - point) <= np.linalg.norm(others - point, axis=1).min()


def test_most_likely_shares_where_only_its_own_truth_supports_an_option() -> None:
    sure = [Support(1, 0)] * 3  # type: ignore[arg-type]
    assert most_likely_shares([1, 0, 3], 4, sure) == (0.25, 0, 0.75)
    opposite = [Support(0, 1)] * 2  # type: ignore[arg-type]
    assert most_likely_shares([1, 3], 4, opposite) == (0.75, 0.25)


@pytest.mark.parametrize("counts", [[7, 3], [1, 0], [0, 4], [999, 1]])
@pytest.mark.parametrize("rare", [1e-3, 1e-9, 1e-15])
def test_most_likely_mixture_of_two_where_a_report_is_nearly_impossible(counts: list[int], rare: float) -> None:
    found = most_likely_mixture([[[1 - rare, 0.4], [rare, 0.6]]], [counts])
    share = min(max((counts[1] / sum(counts) - rare) / (0.6 - rare), 0), 1)
    assert found == pytest.approx((1 - share, share), abs=1e-7)


THREE = np.array([[0.6, 0.2, 0.1], [0.3, 0.6, 0.3], [0.1, 0.2, 0.6]])


def steps_of(monkeypatch: pytest.MonkeyPatch, *, has_newton: bool = True) -> list[object]:
    """What is appended to with every Newton step, of which there are none unless they are wanted."""
    steps: list[object] = []
    original = feasible._newton_step

    def step(*given: Any) -> Any:
        steps.append(original(*given) if has_newton else None)
        return steps[-1]

    monkeypatch.setattr(feasible, "_newton_step", step)
    return steps


def test_a_climb_ends_where_it_is_near_enough_or_gets_no_nearer(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = [0.5, 0.3, 0.2]
    counts = (1000 * THREE @ truth).tolist()
    steps = steps_of(monkeypatch)
    assert most_likely_mixture([THREE], [counts]) == pytest.approx(truth, abs=1e-6)
    assert len(steps) < 10
    steps.clear()
    # Floats may come no nearer than this, and tell no better point apart after some steps.
    assert most_likely_mixture([THREE], [counts], tolerance=0) == pytest.approx(truth, abs=1e-6)
    assert len(steps) < 3 * feasible.PATIENCE
    pair = [[0.8, 0.4], [0.2, 0.6]]
    assert most_likely_mixture([pair], [[60, 40]], tolerance=0) == pytest.approx((0.5, 0.5), abs=1e-12)


def test_a_climb_that_stands_still_is_given_up_or_decided_by_bisection(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[object] = []

    def stand(_matrix: object, _observed: object, shares: object, _gradient: object) -> object:
        steps.append(shares)
        return shares

    monkeypatch.setattr(feasible, "_newton_step", stand)
    assert most_likely_mixture([THREE], [[700, 200, 100]]) == pytest.approx([1 / 3] * 3)
    assert len(steps) == feasible.PATIENCE + 1
    pair = [[0.8, 0.4], [0.2, 0.6]]
    assert most_likely_mixture([pair], [[50, 50]]) == pytest.approx((0.25, 0.75), abs=1e-12)
    assert most_likely_mixture([pair], [[90, 10]]) == (1, 0)
    assert most_likely_mixture([pair], [[30, 70]]) == (0, 1)


def test_a_climb_without_newton_steps_arrives_too(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = steps_of(monkeypatch, has_newton=False)
    truth = [0.5, 0.3, 0.2]
    found = most_likely_mixture([THREE], [(1000 * THREE @ truth).tolist()])
    assert found == pytest.approx(truth, abs=1e-3)
    assert len(steps) > 10


@pytest.mark.parametrize("target", [None, [math.inf, 0, 0], [math.nan, 1, 1], [0, 0, 0]], ids=str)
def test_a_newton_step_that_leads_nowhere_is_none(target: list[float] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def solve(*_given: object) -> NDArray[np.float64] | None:
        return None if target is None else np.array(target, dtype=float)

    monkeypatch.setattr(feasible, "non_negative_least_squares", solve)
    shares, observed = np.full(3, 1 / 3), np.array([0.7, 0.2, 0.1])
    with np.errstate(all="raise"):
        assert feasible._newton_step(THREE, observed, shares, THREE.T @ (observed / (THREE @ shares))) is None


def step_towards(target: list[float], observed: list[float], monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The Newton step from even shares of two answers with a report each; the maximum is ``observed``."""
    monkeypatch.setattr(feasible, "non_negative_least_squares", lambda *_: np.array(target))
    shares = np.array([0.5, 0.5])
    with np.errstate(all="raise"):
        moved = feasible._newton_step(np.eye(2), np.array(observed), shares, np.array(observed) / shares)
    assert moved is not None
    return moved.tolist()


@pytest.mark.parametrize(
    ("target", "observed", "moved"),
    [
        ([0.65, 0.35], [0.6, 0.4], [0.65, 0.35]),  # beyond the maximum, and better than even shares all the same
        ([1.0, 0.0], [0.9, 0.1], [0.75, 0.25]),  # where the second report would be impossible
        ([0.99, 0.01], [0.6, 0.4], [0.6225, 0.3775]),  # halved twice: one half is too far as well
    ],
)
def test_a_newton_step_that_leads_too_far_is_halved(
    target: list[float], observed: list[float], moved: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert step_towards(target, observed, monkeypatch) == pytest.approx(moved)


def test_a_newton_step_is_good_where_the_likelihood_rises_by_less_than_floats_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    further = [math.nextafter(0.5, 1), math.nextafter(0.5, 0)]
    for observed in (0.505, 0.515, 0.52, 0.53, 0.9):
        assert step_towards(further, [observed, 1 - observed], monkeypatch) == further


def test_groups_that_ask_differently_are_taken_together() -> None:
    # 0.25 + 0.5 f = 0.55 and 0.1 + 0.8 f = 0.58: both say 0.6
    matrices = [[[0.75, 0.25], [0.25, 0.75]], [[0.9, 0.1], [0.1, 0.9]]]
    assert most_likely_mixture(matrices, [[450, 550], [42, 58]]) == pytest.approx((0.4, 0.6), abs=1e-7)
    exact = [[[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]]
    assert most_likely_mixture(exact, [[450, 550]]) == pytest.approx((0.4, 0.6), abs=1e-7)  # type: ignore[arg-type]


def test_margins_of_fakes_are_proportional_to_their_share() -> None:
    for design in (KAry.from_epsilon(3, 1), TickBoxes(3, "3/4"), Geometric.from_epsilon(0, 2, 1)):
        one = fake_margins(design)
        assert len(one) == 3
        assert fake_margins(design, 0.03) == pytest.approx([3 * each for each in one])
        assert fake_margins(design, 0.01) == one
    assert fake_margin("3/4", "1/4") == fake_margin("1/4", "3/4") == 0.02
    assert fake_margin(1, 0) == 0.01
    assert fake_margin(1, 0, 1) == 1
    assert fake_margin("3/4", "1/4", 0) == 0


@pytest.mark.parametrize(
    ("p", "q", "fraction", "sentence"),
    [
        ("-0.1", "0.5", 0.01, "support_if_true: must be a probability in [0, 1], got -0.1"),
        ("0.5", "1.1", 0.01, "support_if_other: must be a probability in [0, 1], got 1.1"),
        ("0.5", "0.1", 1.5, "fraction: must be a probability in [0, 1], got 1.5"),
        ("x", "0.5", 0.01, "support_if_true: must be a number"),
        ("0.5", "x", 0.01, "support_if_other: must be a number"),
        ("0.5", "0.1", "x", "fraction: must be a number"),
    ],
)
def test_fakes_that_cannot_be_are_refused(p: str, q: str, fraction: float, sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        fake_margin(p, q, fraction)
    assert str(caught.value).startswith(sentence)


def test_ratios_are_integers_in_proportion() -> None:
    for part, whole in ((3, 6), (0.5, 2), (0.1, 0.3), (7, 1.5)):
        above, below = ratio(part, whole)
        assert Fraction(above, below) == Fraction(part) / Fraction(whole)

"""What intervals with fakes ask of those without: which counts, people, corrections and methods, to the last one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable import Estimate, Geometric, KAry, ParameterError, TwoCoin
from deniable.mechanisms import DrawnBoxes
from deniable_statistics.estimates import estimate as estimates
from deniable_statistics.estimates import means
from deniable_statistics.estimates.assumed_fakes import ContaminatedTally
from deniable_statistics.estimates.fakes import HIGHEST_FAKE, check_fake_share, fakes_among
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import Interval, profile

COIN = TwoCoin("1/2", "1/2")
LEVELS = Geometric.from_epsilon(1, 3, 2)


class Asked(NamedTuple):
    """Arguments of `profile_intervals`."""

    correction: float
    counts: list[float]
    parts: list[list[float]]
    level: float
    is_scored: bool
    fakes: float


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    """What the likelihood is asked; the place of a question in the list is in its answer."""
    questions: list[Asked] = []

    def answer(
        likelihood: profile.ShareLikelihood,
        counts: NDArray[np.float64],
        parts: NDArray[np.float64],
        wholes: object,
        level: float,
        scored: object = None,
        fakes: float = 0,
    ) -> NDArray[np.float64]:
        assert wholes is None
        questions.append(
            Asked(likelihood.correction, counts.tolist(), parts.tolist(), level, scored is not None, fakes)
        )
        return np.tile([0.2 - len(questions) / 100, 0.5 + len(questions) / 100], (len(parts), 1))

    def answer_many(
        likelihood: profile.ShareLikelihood, counts: NDArray[np.float64], scored: profile.ScoreEstimate, level: float
    ) -> NDArray[np.float64]:
        return np.concatenate([answer(likelihood, each, scored.part[None], None, level, scored) for each in counts])

    monkeypatch.setattr(means, "score_intervals", answer_many)
    monkeypatch.setattr(estimates, "profile_intervals", answer)
    monkeypatch.setattr(means, "profile_intervals", answer)
    return questions


EACH = np.eye(3).tolist()


def test_the_likelihood_is_asked_about_all_reports_and_the_fakes(asked: list[Asked]) -> None:
    shares = LEVELS.estimate([12, 9, 9])
    assert shares.confidence_interval(0.9, fakes=3) == (Interval(0.19, 0.51),) * 3
    shares.confidence_interval(0.9)
    shares.combination_intervals(np.eye(3))
    assert asked == [
        (1.0, [12, 9, 9], EACH, 0.9, False, 3.0),
        (1.0, [12, 9, 9], EACH, 0.9, False, 0.0),
        (1.0, [12, 9, 9], EACH, 0.95, False, 0.0),
    ]


def test_where_everybody_may_be_fake_it_is_not_asked(asked: list[Asked]) -> None:
    for shares in (LEVELS.estimate([12, 9, 9]), KAry.from_epsilon(3, 1).estimate([12, 9, 9])):
        for fakes in (30, 31):
            assert shares.confidence_interval(fakes=fakes) == ((0.0, 1.0),) * 3
            assert shares.confidence_interval(fakes=fakes, simultaneous=True) == ((0.0, 1.0),) * 3
            assert shares.combination_intervals(np.eye(3)[:2], fakes=fakes) == ((0.0, 1.0),) * 2
    assert asked == []
    assert LEVELS.estimate([12, 9, 9]).confidence_interval(fakes=29) == (Interval(0.19, 0.51),) * 3


def test_where_everybody_may_be_fake_every_share_is_possible_by_any_method() -> None:
    for shares in (LEVELS.estimate([12, 9, 9]), COIN.estimate([20, 10]).respondents_only):
        for method in ("default", "wilson", "wald"):
            for fakes in (30, 31):
                assert shares.confidence_interval(method=method, fakes=fakes) == ((0.0, 1.0),) * len(shares.share)


def test_a_box_of_which_all_reports_may_be_fake_has_any_share_among_the_respondents() -> None:
    """Each box was drawn by three or four of ten people."""
    boxes = DrawnBoxes.from_epsilon(3, 2, 1).estimate([3, 0, 2, 1, 2, 2], 10).respondents_only
    assert boxes.binomials is not None
    assert [each.n for each in boxes.binomials] == [3, 3, 4]
    for method in ("default", "wilson"):
        assert boxes.confidence_interval(method=method)[0].high < 1
        assert boxes.confidence_interval(method=method, fakes=3)[:2] == ((0.0, 1.0),) * 2


@pytest.mark.parametrize(
    ("counts", "population", "fakes", "correction"),
    [
        ([12, 9, 9], 50, 0, 20 / 49),
        ([12, 9, 9], 50, 3, 20 / 46),
        ([8, 6, 6], 50, 0, 30 / 49),
        ([8, 6, 6], 50, 3, 30 / 46),
        ([8, 6, 5], 50, 0, 1.0),
        ([8, 6, 5], 50, 3, 1.0),
        ([8, 7, 6], 50, 20.5, 1.0),  # as far as 29/28.5
        ([8, 7, 6], 22, 20, 1.0),  # 1/21 of 21, of whom 20 are fake
        ([8, 7, 6], 22, 19.5, 1 / 1.5),
        ([12, 9, 9], None, 3, 1.0),
    ],
)
def test_of_a_finite_population_the_others_are_who_is_left(
    asked: list[Asked], counts: list[int], population: int | None, fakes: float, correction: float
) -> None:
    result = LEVELS.estimate(counts)
    if population is not None:
        result = result.of_population(population)
    result.combination_intervals(np.eye(3), fakes=fakes)
    ((found, *rest),) = asked
    assert found == pytest.approx(correction, rel=1e-12)
    assert rest == [[float(count) for count in counts], EACH, 0.95, False, fakes]


def test_weighted_reports_and_fakes_count_by_the_same_measure(asked: list[Asked]) -> None:
    levels = Estimate.from_counts(LEVELS, [400.5, 300.0, 300.0], n_effective=500.0)
    levels.confidence_interval(fakes=30.0)
    scale = 500 / 1000.5 * (1 - 30 / 1000.5)
    ((_, counts, *_, fakes),) = asked
    assert counts == pytest.approx([scale * count for count in (400.5, 300.0, 300.0)], rel=1e-12)
    assert fakes == pytest.approx(30 * scale, rel=1e-12)


def test_methods_of_both_numbers_of_reports_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above 10,000 reports the default is another one, for all options together too."""
    seen: list[tuple[Any, ...]] = []

    def answer(*arguments: Any) -> Interval:
        seen.append(arguments)
        return Interval(0.1, 0.2)

    monkeypatch.setattr(estimates, "contaminated_interval", answer)

    def names(counts: Sequence[float], fakes: float, n_effective: float | None = None, together: bool = False) -> Any:
        seen.clear()
        result = Estimate.from_counts(KAry.from_epsilon(3, 1), counts, n_effective=n_effective)
        result.confidence_interval(simultaneous=together, fakes=fakes)
        assert {each[3] for each in seen} == {fakes}
        return [each[5] for each in seen[: len(seen) // 3]], {each[6] for each in seen}

    assert names([4000, 3000, 3200], 100) == (["likelihood-ratio"], {1.0})
    assert names([4000, 3000, 3200], 300) == (["likelihood-ratio", "feldman-cousins"], {1.0})
    assert names([4000, 3000, 2900], 300) == (["feldman-cousins"], {1.0})
    assert names([4000, 3000, 3200], 300, together=True) == (["likelihood-ratio", "feldman-cousins"], {1.0})
    assert names([40.5, 30.0, 30.0], 3.0, 60.0) == (["feldman-cousins"], {60 / 100.5})


def test_shares_among_respondents_ask_for_each_number_of_fakes_or_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    people: list[tuple[float, float, int]] = []

    def answer(self: Estimate, binomial: Any, population: int, level: float, named: str) -> Interval:
        people.append((float(binomial.supporting), float(binomial.n), population))
        return Interval(0.1, 0.2)

    monkeypatch.setattr(Estimate, "_among_people", answer)
    result = COIN.estimate([9, 2]).respondents_only
    result.confidence_interval(fakes=3)
    of_yes = [each for place, each in enumerate(people) if place % 4 >= 2]  # after the two of no
    assert of_yes[:4] == [(2, 11, 11), (2, 11, 11), (2, 10, 10), (1, 10, 10)]
    assert of_yes[4:] == [(2, 9, 9), (0, 9, 9), (2, 8, 8), (0, 8, 8)]
    people.clear()
    result.confidence_interval(method="wilson", fakes=3)
    assert people[2:4] + people[6:] == [(2, 11, 11), (2, 11, 11), (2, 8, 8), (0, 8, 8)]


def test_weighted_reports_of_a_finite_population_have_no_exact_interval() -> None:
    plain, weighted = (KAry.from_epsilon(3, 1).estimate([5, 3, 2], 10, n_effective=each) for each in (None, 8))
    assert plain.of_population(50).interval_method() == "feldman-cousins"
    assert weighted.of_population(50).interval_method() == "wilson"
    with pytest.raises(ParameterError, match=r"^method: must be wilson or wald for a finite population"):
        weighted.of_population(50).interval_method("feldman-cousins")


def test_methods_for_a_finite_population_are_named() -> None:
    with pytest.raises(ParameterError, match=r"^method: must be feldman-cousins, wilson or wald for a finite pop"):
        COIN.estimate([9, 5]).respondents_only.interval_method("clopper-pearson")
    for method in ("clopper-pearson", "feldman-cousins"):
        with pytest.raises(ParameterError, match=r"^method: must be wilson or wald for a finite population, got"):
            COIN.estimate([900, 500]).respondents_only.interval_method(method)


def test_a_box_that_nobody_drew_may_have_any_share() -> None:
    found = DrawnBoxes.from_epsilon(3, 1, 2).estimate([60, 40, 50, 50, 0, 0], 200)
    assert found.confidence_interval(method="wald")[2] == (0.0, 1.0)
    assert found.confidence_interval(method="wald")[0] != (0.0, 1.0)
    assert found.respondents_only.confidence_interval()[2] == (0.0, 1.0)


def test_means_ask_about_all_reports_and_those_without_the_highest_or_the_lowest(asked: list[Asked]) -> None:
    mean = MeanEstimate.from_counts(LEVELS, [30, 40, 50], None, (1, 2, 3))
    assert mean.confidence_interval(0.9, fakes=4) == pytest.approx((1 + 2 * 0.17, 1 + 2 * 0.53))  # the hull of three
    part = [[0.0, 0.5, 1.0]]
    assert asked == [
        (1.0, [30, 40, 50], part, 0.9, True, 0),
        (1.0, [30, 40, 46], part, 0.9, True, 0),
        (1.0, [26, 40, 50], part, 0.9, True, 0),
    ]
    assert mean.confidence_interval(fakes=120) == mean.confidence_interval(fakes=121) == (1, 3)
    assert mean.confidence_interval(fakes=119) != (1, 3)


def test_of_two_answers_a_mean_is_a_share_of_the_likelihood(asked: list[Asked]) -> None:
    MeanEstimate.from_counts(Geometric.from_epsilon(1, 2, 2), [30, 40], None, (1, 2))._profile_interval(0.9)
    assert [each.is_scored for each in asked] == [False]


@pytest.mark.parametrize("method", ["wald", "agresti-coull"])
def test_normal_intervals_of_means_are_those_of_what_is_left(method: str) -> None:
    counts, fakes = (30, 40, 50), 4
    mean = MeanEstimate.from_counts(LEVELS, counts, None, (1, 2, 3))
    weights, constant = mean.design.mean_weights((1, 2, 3))
    left = ContaminatedTally.of(mean.design, counts, 120, 120.0, fakes)
    expected = left.normal(np.array(weights), constant, 0.9, is_plain=method == "wald").cut(1, 3)
    assert mean.confidence_interval(0.9, method, fakes=fakes) == expected
    assert expected != left.normal(np.array(weights), constant, 0.9, is_plain=method != "wald").cut(1, 3)


def test_a_mean_of_one_number_is_that_number(asked: list[Asked]) -> None:
    mean = MeanEstimate.from_counts(LEVELS, [30, 40, 50], None, (2, 2, 2))
    assert mean.confidence_interval() == mean.confidence_interval(fakes=4) == (2, 2)
    assert asked == []


def test_a_smoothed_mean_is_the_mean_beside_that_of_equal_shares() -> None:
    mean = MeanEstimate.from_counts(LEVELS, [400.5, 300.0, 300.0], None, (1, 2, 3), 500.0)
    smoothed = mean.smoothed(4.0)
    assert smoothed.n == pytest.approx(504)
    assert smoothed.mean == pytest.approx((500 * mean.mean + 4 * 2) / 504, rel=1e-12)


def test_half_of_all_reports_may_be_fake_and_no_more() -> None:
    assert check_fake_share(HIGHEST_FAKE) == HIGHEST_FAKE
    with pytest.raises(ParameterError, match=r"^assume_fake: must be a share in \[0, 0.5\], got a fraction$"):
        check_fake_share(0.51)
    assert fakes_among(0.25, 10.5) == 2.625
    with pytest.raises(ParameterError, match=r"^fakes: must be a number of at least 0, got -1$"):
        COIN.estimate([5, 5]).confidence_interval(fakes=-1)

"""Drawn boxes in every analysis: each box is a yes-no question of the people whose devices drew it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable import DrawnBoxes, Estimate, ParameterError, read_survey
from deniable_research.files import Layout, Table, compare
from deniable_research.simulation import Simulation
from deniable_statistics.classical import of_one_truth
from deniable_statistics.comparison import difference, homogeneity, ratio, trend
from deniable_statistics.intervals import share_interval
from deniable_statistics.joint import box_pair
from deniable_statistics.planning import NoiseModel, ShareTest
from deniable_statistics.sampling.items import Item
from tools.rig.survey_files import question_toml, survey_toml

ONE = DrawnBoxes.from_epsilon(8, 2, 1)
TICKS = survey_toml(
    "T",
    question_toml("drugs", "ticks", "Which?", options=[*"abcdefgh"], epsilon=2.0),
)


def cohort(clear: int, ticked: int, n: int = 100) -> Estimate:
    return ONE.estimate([clear, ticked, *[0] * 14], n)


def coin(clear: int, ticked: int) -> Estimate:
    return of_one_truth(ONE.box, "coin").estimate([clear, ticked])


def test_boxes_are_compared_by_the_reports_that_drew_them() -> None:
    boxes, coins = [cohort(2, 8), cohort(45, 45)], [coin(2, 8), coin(45, 45)]
    apart, line = difference(boxes[0], boxes[1], 0), trend(boxes, 0)
    for found, wanted in ((apart, difference(coins[0], coins[1])), (line, trend(coins))):
        assert found.p_value == pytest.approx(wanted.p_value)
        assert found.confidence_interval() == pytest.approx(wanted.confidence_interval())
    assert (apart.method, line.method) == ("exact-unconditional", "mover")
    assert ratio(boxes[0], boxes[1], 0).confidence_interval() == pytest.approx(
        ratio(coins[0], coins[1]).confidence_interval()
    )
    assert homogeneity(boxes, 0).p_value == pytest.approx(homogeneity(coins).p_value)


def test_cohorts_that_never_drew_a_box_are_left_out() -> None:
    boxes = [cohort(2, 8), cohort(0, 0), cohort(45, 45)]
    tested = homogeneity(boxes, 0)
    assert (tested.df, tested.cohorts) == (1, 2)
    assert tested.p_value == pytest.approx(homogeneity([coin(2, 8), coin(45, 45)]).p_value)
    assert trend(boxes, 0).p_value == pytest.approx(trend([coin(2, 8), coin(45, 45)], scores=[0, 2]).p_value)
    assert math.isnan(difference(boxes[0], boxes[1], 0).difference)


def test_a_box_of_a_question_and_the_box_alone_are_compared_alike() -> None:
    survey = read_survey(TICKS)
    chance = np.random.default_rng(1)
    mechanism = survey.questions[0].mechanism
    reports = mechanism.randomize_many(chance.integers(0, 2, (200, 8)))
    columns = {
        "drugs": tuple("".join(map(str, row)) for row in reports.tolist()),
        "wave": ("x", "y") * 100,
    }
    table = Table.of(columns, Layout.of_survey(survey))
    whole = [row for row in compare(table, "drugs", "wave") if row.option == "a"]
    alone = [row for row in compare(table, "drugs[a]", "wave") if row.option == "yes"]
    assert [row.measure for row in whole] == [row.measure for row in alone]
    for one, other in zip(whole, alone, strict=True):
        assert (one.p_value, one.conf_low, one.conf_high) == pytest.approx(
            (other.p_value, other.conf_low, other.conf_high)
        )


@pytest.mark.parametrize(("k", "epsilon", "share"), [(8, 2, 0.05), (20, 4, 0.05), (256, 4, 0.02), (8, 2, 0.5)])
def test_plans_are_of_the_estimate_that_is_published(k: int, epsilon: int, share: float) -> None:
    mechanism = DrawnBoxes.from_epsilon(k, epsilon)
    noise = NoiseModel.options_of(mechanism)[0]
    n, drawn = 80_000, mechanism.s / k
    ticked = n * drawn * (float(mechanism.box.if_other) + float(mechanism.box.slope) * share)
    counts = [n * drawn - ticked, ticked] * k
    published = mechanism.estimate(counts, n, n_effective=n).std_error[0]
    assert noise.at(share).std_error(n) == pytest.approx(published, rel=1e-9)
    if share == 0.5:  # near 0 intervals are cut
        assert noise.expected_width(n, share) == pytest.approx(2 * noise.at(share).half_width(n), rel=0.01)


def test_exact_power_is_not_known_where_devices_draw() -> None:
    with pytest.raises(ParameterError, match=r"^exact: needs reports that all speak of the option"):
        ShareTest(NoiseModel.options_of(ONE)[0], 0.2, exact=True).power(0.3, 1000)


def test_the_default_interval_is_chosen_by_the_box_that_the_fewest_drew() -> None:
    mechanism = DrawnBoxes.from_epsilon(256, 4)
    n = 10_240
    counts = [n * mechanism.s // 256 - 10, 10] * 256
    estimate = mechanism.estimate(counts, n)
    assert estimate.interval_method() == "feldman-cousins"
    drawn = n * mechanism.s // 256
    assert estimate.confidence_interval()[0] == share_interval(10, drawn, mechanism.box.floats, 0.95, "feldman-cousins")


def test_errors_of_respondents_alone_are_those_of_their_covariance() -> None:
    estimate = cohort(40, 25).respondents_only
    assert math.sqrt(estimate.covariance[0, 0]) == pytest.approx(estimate.std_error[0])


def test_surveys_in_which_nobody_drew_a_box_say_nothing_of_it() -> None:
    rows = Simulation(read_survey(TICKS), respondents=12).run(60, seed=3)
    assert {row.repetitions for row in rows} != {60}
    assert all(40 < row.repetitions <= 60 for row in rows)
    with pytest.raises(
        ParameterError, match=r"respondents: must be so many that devices draw every question and box, drugs: "
    ):
        Simulation(read_survey(TICKS), respondents=2).run(2, seed=3)


def test_pairs_that_all_say_the_same_are_not_tested() -> None:
    boxes = DrawnBoxes.from_epsilon(3, 4, 2)
    for report in ("011000", "100100"):
        pair = box_pair(Item.from_reports("q", boxes, [report] * 3, ("a", "b", "c")), "a", "b")
        assert math.isnan(pair.independence().p_value)
        assert math.isnan(pair.odds_ratio().odds_ratio)

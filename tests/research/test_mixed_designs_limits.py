"""Questions of several designs with few people, empty arms, weights of 0, and few sampling units."""

import math

import numpy as np
import pytest
from scipy.stats import t

from deniable.errors import ParameterError
from deniable_research.files import Layout, Table, compare, cross, estimate_shares, read_layout
from deniable_research.regression import class_shares, grouped, linear, linear_moments
from deniable_statistics.published.published_rows import EstimateOptions
from tests.support.analyzing import TWO_ARMS

QUESTIONS = f"""
[[questions]]
column = "q"
{TWO_ARMS}
[[questions]]
column = "x"
design = "warner"
p = "4/5"
"""


def people(layout: Layout, n: int, arms: tuple[str, ...] = ("RR", "DQ"), **columns: tuple[str, ...]) -> Table:
    generator = np.random.default_rng(7)
    said = {name: tuple(np.where(generator.random(n) < share, "yes", "no")) for name, share in (("q", 0.4), ("x", 0.5))}
    return Table.of({**said, "arm": tuple(arms[i % len(arms)] for i in range(n)), **columns}, layout)


def test_one_person_of_an_arm_is_no_error() -> None:
    table = people(read_layout(QUESTIONS), 1, ("DQ",))
    rows = [row for row in estimate_shares(table) if row.question == "q"]
    assert [row.option for row in rows] == ["no", "yes"]
    low, high = math.exp(-(1.959964**2) / 2), 1.0  # one direct answer: 2 ln f = -z^2
    assert sorted((round(row.conf_low, 3), round(row.conf_high, 3)) for row in rows) == [
        (0.0, round(1 - low, 3)),
        (round(low, 3), high),
    ]


@pytest.mark.parametrize("people", [1, 2, 20, 10_000])
@pytest.mark.parametrize("said", [0, 1])
def test_a_share_that_everybody_has_directly_has_the_interval_of_its_likelihood(people: int, said: int) -> None:
    design = grouped({"direct": (1, 0)}, ["direct"])
    rows = class_shares({"q": [said]}, {"q": design}, frequencies=[people]).rows()
    end = math.exp(-(1.959964**2) / 2 / people)  # 2 n ln f = -z^2
    assert rows[said][-2:] == pytest.approx((end, 1.0), abs=1e-6)
    assert rows[1 - said][-2:] == pytest.approx((0.0, 1 - end), abs=1e-6)


def test_shares_of_all_arms_are_of_a_population() -> None:
    table = people(read_layout(QUESTIONS), 50)
    with pytest.raises(ParameterError, match=r"^target: must be population for q, asked by several designs, got resp"):
        estimate_shares(table, wanted=EstimateOptions(target="respondents"))


def test_empty_arms_are_left_out_of_comparisons() -> None:
    layout = read_layout(QUESTIONS)
    with pytest.raises(ParameterError, match=r"^q: must have at least 2 arms with reports, got 1$"):
        compare(people(layout, 60, ("RR",)), "q", "arm")


def test_weights_of_0_count_nothing() -> None:
    layout = read_layout('weights = "w"\n' + QUESTIONS)
    weights = tuple(np.where(np.arange(300) < 200, "2", "0"))
    table = people(layout, 300, w=weights)
    some = table.where(np.arange(300) < 200)
    found, left = ([row.estimate for row in estimate_shares(each)] for each in (table, some))
    assert found == pytest.approx(left)
    assert [row.estimate for row in cross(table, ["q", "x"])] == pytest.approx(
        [row.estimate for row in cross(some, ["q", "x"])]
    )


def test_crosstabs_say_the_sum_of_weights() -> None:
    table = people(read_layout('weights = "w"\n' + QUESTIONS), 300, w=("2",) * 300)
    assert {row.n for row in cross(table, ["q", "x"])} == {600.0}


def test_intervals_of_crosstabs_have_the_degrees_of_freedom_of_the_sample() -> None:
    units = tuple(str(place % 4) for place in range(400))
    table = people(read_layout('cluster = "unit"\n' + QUESTIONS), 400, unit=units)
    row = next(row for row in cross(table, ["q", "x"], given="x") if row.first_option == "yes")
    assert row.df_error == 3
    assert row.estimate is not None
    assert row.std_error is not None
    reach = t.ppf(0.975, 3) * row.std_error / (row.estimate * (1 - row.estimate))
    logit = math.log(row.estimate / (1 - row.estimate))
    assert (row.conf_low, row.conf_high) == pytest.approx(
        (1 / (1 + math.exp(reach - logit)), 1 / (1 + math.exp(-reach - logit)))
    )
    assert row.df_error == 3


@pytest.mark.parametrize("model", [linear, linear_moments])
def test_an_outcome_that_is_constant_has_no_linear_model(model) -> None:  # type: ignore[no-untyped-def]
    data = {"y": [1.0] * 50, "q": [0, 1] * 25}
    with pytest.raises(ParameterError, match="outcome: must vary for a linear model, got the same number in all 50"):
        model("y ~ q", data, {"q": (0.8, 0.2)})

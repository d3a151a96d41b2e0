"""Properties of analyses that need no figure from elsewhere: turned round, weighted, counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from deniable import Estimate, KAry, Mechanism, TwoCoin, Warner
from deniable_research.regression import Fit, linear, logistic, multinomial
from deniable_statistics.classical import Channel, cheater_detection, crosswise, forced_response
from deniable_statistics.comparison import difference
from deniable_statistics.joint import crosstab
from deniable_statistics.sampling import SimpleSample
from deniable_statistics.sampling.items import Item

SETTINGS = settings(max_examples=60, deadline=None, derandomize=True)
FEW = settings(max_examples=12, deadline=None, derandomize=True)

COINS = TwoCoin("1/2", "1/2")
YES_NO: list[Mechanism | Channel] = [COINS, TwoCoin("4/5", "1/3"), Warner("3/4"), Warner("1/6"), crosswise("1/6")]
COUNTS = st.lists(st.integers(0, 2000), min_size=2, max_size=2).filter(any)


def cohorts(draw: st.DataObject) -> tuple[Estimate, Estimate, int]:
    """Two cohorts and an option: of one design or of two, weighted or not, one of them perhaps in two groups."""
    kind = draw.draw(st.sampled_from(["yes-no", "choice", "groups"]))
    if kind == "choice":
        counts = st.lists(st.integers(0, 2000), min_size=3, max_size=3).filter(any)
        designs: st.SearchStrategy[Any] = st.sampled_from(
            [KAry.from_epsilon(3, 1), forced_response("1/2", ["1/2", "1/4", "1/4"])]
        )
        first, second = (draw.draw(designs).estimate(draw.draw(counts)) for _ in range(2))
        return first, second, draw.draw(st.integers(0, 2))
    found = []
    for _ in range(2):
        counted = draw.draw(COUNTS)
        part = draw.draw(st.none() | st.floats(0.5, 1))  # of their number counts, where they are weighted
        effective = None if part is None else part * sum(counted)
        found.append(Estimate.from_counts(draw.draw(st.sampled_from(YES_NO)), counted, n_effective=effective))
    if kind == "groups":  # a group that says the same with one voice has no error of its own, and is refused
        both = st.lists(st.integers(1, 2000), min_size=2, max_size=2)
        found = [cheater_detection(["1/4", "3/4"]).estimate([draw.draw(both) for _ in range(2)]) for _ in range(2)]
    return found[0], found[1], draw.draw(st.integers(0, 1))


@pytest.mark.fuzz
@settings(SETTINGS, max_examples=200)
@given(draw=st.data())
def test_a_difference_the_other_way_round_is_its_negative(draw: st.DataObject) -> None:
    first, second, option = cohorts(draw)
    one, other = difference(first, second, option), difference(second, first, option)
    assert one.difference == -other.difference
    assert one.std_error == other.std_error
    assert one.statistic == pytest.approx(-other.statistic, rel=1e-6, abs=1e-6)
    assert one.p_value == pytest.approx(other.p_value, rel=1e-6, abs=1e-6)
    assert (one.method, one.test) == (other.method, other.test)
    low, high = one.confidence_interval(0.9)
    assert other.confidence_interval(0.9) == pytest.approx((-high, -low), abs=1e-12)


def weighed(draw: st.DataObject, people: int) -> NDArray[np.int64]:
    return np.array(draw.draw(st.lists(st.integers(1, 5), min_size=people, max_size=people)))


def items(draw: st.DataObject, people: int) -> tuple[Item, Item]:
    """A yes-no question and a choice, asked of the same people."""
    design = draw.draw(st.sampled_from(YES_NO))
    first = draw.draw(st.lists(st.integers(0, 1), min_size=people, max_size=people))
    second = draw.draw(st.lists(st.integers(0, 2), min_size=people, max_size=people))
    return Item.from_reports("first", design, first), Item.from_reports("second", KAry.from_epsilon(3, 2), second)


def repeated(item: Item, times: NDArray[np.int64]) -> Item:
    return item.where(np.repeat(np.arange(len(item)), times))


@pytest.mark.fuzz
@SETTINGS
@given(draw=st.data(), people=st.integers(1, 30))
def test_whole_weights_are_rows_that_stand_there_so_often(draw: st.DataObject, people: int) -> None:
    first, second = items(draw, people)
    times = weighed(draw, people)
    for item in (first, second):
        by_weight, by_rows = item.estimate(SimpleSample.of(times)), repeated(item, times).estimate()
        assert by_weight.n == by_rows.n == times.sum()
        assert by_weight.share == pytest.approx(by_rows.share, abs=1e-12)
        assert by_weight.feasible == pytest.approx(by_rows.feasible, abs=1e-6)
        assert by_weight.n_effective == pytest.approx(times.sum() ** 2 / (times**2).sum())
    table = crosstab(first, second, sample=SimpleSample.of(times))
    expanded = crosstab(*(repeated(each, times) for each in (first, second)))
    assert table.n == expanded.n
    assert table.share == pytest.approx(expanded.share, abs=1e-12)
    for question in (0, 1):
        assert table.margin(question).share == pytest.approx(expanded.margin(question).share, abs=1e-12)


CELLS = [(1.0, float(group), dose) for group in (0, 1) for dose in (-1.0, 0.5, 2.0)]
KINDS = ["logistic", "multinomial", "linear"]


def rows_of(draw: st.DataObject, kind: str) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Covariates, a report, and how many people have both, for every combination; some of them have nobody."""
    k = 3 if kind == "multinomial" else 2
    made = [(cell, report) for cell in CELLS for report in range(k)]
    often = draw.draw(st.lists(st.integers(0, 60), min_size=len(made), max_size=len(made)))
    times = np.maximum(np.array(often), [1 + 20 * (report == n % k) for n, (_, report) in enumerate(made)])
    return np.array([cell for cell, _ in made]), np.array([report for _, report in made]), times


def fitted(kind: str, x: NDArray[np.float64], reports: NDArray[np.int64], **options: Any) -> Fit:
    if kind == "linear":
        numbers = x @ [1.0, 0.5, -0.3] + np.resize([0.4, -0.2, 0.1, -0.5, 0.3], len(CELLS) * 2)[options.pop("places")]
        design = {"affair": Warner("9/10")}
        return linear(numbers, x, design, reports={"affair": reports}, **options)
    options.pop("places")
    if kind == "multinomial":
        return multinomial(reports, x, KAry.from_epsilon(3, 3), **options)
    return logistic(reports, x, Warner("9/10"), **options)


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS)
@FEW
@given(draw=st.data())
def test_regression_of_counted_rows_is_that_of_the_people_behind_them(kind: str, draw: st.DataObject) -> None:
    x, reports, times = rows_of(draw, kind)
    places = np.arange(len(x))
    each = np.repeat(places, times)
    counted = fitted(kind, x, reports, places=places, frequencies=times, penalty="cauchy")
    expanded = fitted(kind, x[each], reports[each], places=each, penalty="cauchy")
    assert counted.n == expanded.n == times.sum()
    assert counted.loglik == pytest.approx(expanded.loglik, abs=1e-6)
    assert counted.params == pytest.approx(expanded.params, rel=1e-4, abs=1e-5)
    for kind_of_error in ("observed", "opg", "sandwich"):
        one, other = counted.cov_params(kind_of_error), expanded.cov_params(kind_of_error)
        assert one == pytest.approx(other, rel=1e-3, abs=1e-5)


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS)
@FEW
@given(draw=st.data())
def test_regression_with_whole_weights_has_the_coefficients_of_so_many_rows(kind: str, draw: st.DataObject) -> None:
    """Without a prior: it counts as much as so many people, and weights are scaled to a mean of 1."""
    x, reports, times = rows_of(draw, kind)
    places = np.arange(len(x))
    each = np.repeat(places, times)
    by_weight = fitted(kind, x, reports, places=places, weights=times, penalty=None)
    by_rows = fitted(kind, x[each], reports[each], places=each, penalty=None)
    assert by_weight.params == pytest.approx(by_rows.params, rel=1e-4, abs=1e-5)

"""Estimates against figures from elsewhere and against independent computations."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

import deniable_statistics.estimates.estimate
from deniable import (
    DeniableError,
    ForcedResponse,
    KAry,
    Mechanism,
    ParameterError,
    Report,
    Survey,
    Tally,
    TwoCoin,
    Warner,
    estimate,
    tally_reports,
)
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.estimates.estimate import written_p
from tests.support.extras import with_extras


def test_fair_coins_by_hand() -> None:
    for yes in range(0, 1001, 50):
        share = TwoCoin("1/2", "1/2").estimate([1000 - yes, yes]).share
        assert share[1] == pytest.approx(2 * (yes / 1000 - 0.25), abs=1e-15)
        assert share[0] + share[1] == pytest.approx(1, abs=1e-15)


def test_standard_error_equals_that_of_rrreg() -> None:
    # R 4.2.2, RRreg 0.7.5: RRuni(c(rep(1, 430), rep(0, 570)), model = "FR", p = c(.25, .25))  pi 0.36, se 0.03132700722
    # which divides by n - 1 where this estimate divides by n
    result = TwoCoin("1/2", "1/2").estimate([570, 430])
    assert result.share == pytest.approx((0.64, 0.36), abs=1e-15)
    assert result.std_error[1] * math.sqrt(1000 / 999) == pytest.approx(0.03132700722, abs=1e-11)
    # RRuni(..., model = "Warner", p = .7): pi 0.325, se 0.03915875902539
    result = Warner("0.7").estimate([570, 430])
    assert result.share[1] == pytest.approx(0.325, abs=1e-8)
    assert result.std_error[1] * math.sqrt(1000 / 999) == pytest.approx(0.03915875902539, abs=1e-8)


def test_shares_solve_the_channel_matrix() -> None:
    mechanism = KAry.from_epsilon(5, 1)
    counts = [400, 300, 150, 100, 50]
    matrix = np.array(design_of(mechanism).channel_matrix, dtype=float)
    assert mechanism.estimate(counts).share == pytest.approx(
        np.linalg.solve(matrix, np.array(counts) / 1000), abs=1e-12
    )


def expectation_maximisation(mechanism: Mechanism, counts: list[int]) -> list[float]:
    """The maximum-likelihood shares by a method that shares nothing with the closed form."""
    matrix = np.array(design_of(mechanism).channel_matrix, dtype=float)
    shares, seen = np.full(mechanism.k, 1 / mechanism.k), np.array(counts) / sum(counts)
    for _ in range(50_000):
        before, shares = shares, shares * (matrix.T @ (seen / (matrix @ shares)))
        # Where the maximum has a share of 0 the change falls like 1 / n^2, so it never gets there by being slow.
        if np.abs(shares - before).max() < 1e-15:
            break
    return list(shares)


@pytest.mark.parametrize(
    ("mechanism", "counts"),
    [
        (TwoCoin("1/2", "1/2"), [570, 430]),
        (TwoCoin("1/2", "1/2"), [80, 20]),
        (TwoCoin("0.8", "0.3"), [5, 95]),
        (Warner("1/6"), [10, 90]),
        (KAry.from_epsilon(4, 1), [400, 300, 200, 100]),
        (KAry.from_epsilon(4, 1), [25, 25, 25, 25]),
        (KAry.from_epsilon(5, 2), [600, 250, 100, 50, 0]),
        (KAry.from_epsilon(6, "0.5"), [300, 100, 250, 50, 290, 10]),
        (KAry.from_epsilon(3, 1), [100, 0, 0]),
    ],
    ids=str,
)
def test_feasible_shares_are_the_maximum_of_the_likelihood(mechanism: Mechanism, counts: list[int]) -> None:
    feasible = mechanism.estimate(counts).feasible
    assert sum(feasible) == pytest.approx(1, abs=1e-12)
    assert min(feasible) >= 0
    assert list(feasible) == pytest.approx(expectation_maximisation(mechanism, counts), abs=2e-4)


def test_the_option_with_the_fewest_reports_for_its_chance_drops_out_first() -> None:
    # Chance alone supports the options with 0.05, 0.1 and 0.35. The last one has 0.3 of the reports, fewer than that,
    # though more than the first. The others share 0.65 in their proportion 1 to 4: 0.13 and 0.52.
    forced = ForcedResponse("1/2", ["0.1", "0.2", "0.7"])
    shares = forced.estimate([140, 560, 300]).feasible
    assert shares == pytest.approx(((0.13 - 0.05) / 0.5, (0.52 - 0.1) / 0.5, 0), abs=1e-8)
    assert shares[2] == 0


def test_p_values_are_written_as_papers_write_them() -> None:
    written = {3.2e-13: "p < .001", 0.00099: "p < .001", 0.001: "p = .001", 0.0134: "p = .013", 0.5: "p = .500"}
    written |= {0.9994: "p = .999", 0.9995: "p > .999", 0.9996: "p > .999", 1.0: "p > .999"}
    assert {p: written_p(p) for p in written} == written


def test_one_of_many_options_is_flagged_by_its_part_of_the_level() -> None:
    """Of 10 options each has a tenth of the level of 0.02, so that p = 0.014 is no flag and p = 0.001 is one."""
    mechanism = KAry.from_epsilon(10, 1)
    none = float(mechanism.support[0].if_other)
    for z, is_flagged in ((-2.2, False), (-3.1, True)):
        rare = round(10_000 * none + z * math.sqrt(10_000 * none * (1 - none)))
        others = [(10_000 - rare) // 9] * 8
        found = mechanism.estimate([rare, *others, 10_000 - rare - sum(others)])
        assert found.consistency is not None
        assert found.consistency[0].p_below == pytest.approx(0.5 * math.erfc(-z / math.sqrt(2)), rel=0.1)
        assert [flag is not None for flag in found.flags] == [is_flagged] + [False] * 9


def test_weights_add_up_but_for_rounding() -> None:
    mechanism = KAry.from_epsilon(3, 1)
    assert mechanism.estimate([600.0005, 300.0, 100.0], 1000.0, n_effective=900).n == 1000
    with pytest.raises(ParameterError, match="n: must be the sum of the counts"):
        mechanism.estimate([600.005, 300.0, 100.0], 1000.0, n_effective=900)


def test_unbiased_shares_may_leave_the_unit_interval_and_feasible_ones_do_not() -> None:
    result = TwoCoin("1/2", "1/2").estimate([80, 20])
    assert result.share[1] == pytest.approx(-0.1)
    assert result.feasible == (1.0, 0.0)
    assert result.confidence_interval()[1].low == 0


def test_intervals_hold_the_feasible_range_and_grow_with_the_level() -> None:
    result = KAry.from_epsilon(4, 1).estimate([400, 300, 200, 100])
    for narrow, wide in zip(result.confidence_interval(0.8), result.confidence_interval(0.99), strict=True):
        assert 0 <= wide.low <= narrow.low <= narrow.high <= wide.high <= 1


def test_no_reports_give_no_estimate_and_the_whole_interval() -> None:
    result = TwoCoin("1/2", "1/2").estimate([0, 0])
    assert all(math.isnan(number) for number in (*result.share, *result.std_error, *result.feasible))
    assert result.confidence_interval() == ((0, 1), (0, 1))


@pytest.mark.parametrize("counts", [[1], [1, 2, 3], [1, -1], [1, 0.5], ["1", "2"], [None, 1]])
def test_counts_that_are_none_are_refused(counts: list[object]) -> None:
    with pytest.raises(ParameterError, match="counts: must be"):
        TwoCoin("1/2", "1/2").estimate(counts)  # type: ignore[arg-type]


def test_counts_above_n_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"counts: must be integers in \[0, n = 5\]"):
        TwoCoin("1/2", "1/2").estimate([1, 6], 5)


@pytest.mark.parametrize("level", [0, 1, -1, 95, math.nan])
def test_levels_outside_0_and_1_are_refused(level: float) -> None:
    with pytest.raises(ParameterError, match="confidence_level"):
        TwoCoin("1/2", "1/2").estimate([5, 5]).confidence_interval(level)


def test_unknown_method_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"method: must be one of default, feldman-cousins, .*, got 'bayes'"):
        TwoCoin("1/2", "1/2").estimate([5, 5]).confidence_interval(method="bayes")


def reports(survey: Survey) -> list[Report]:
    cohorts = [None, "paper", "web"]
    return [Report(f"{i:032x}", cohorts[i % 3], {"affair": i % 2, "religious": i % 4}) for i in range(120)]


def test_tally_counts_supports_by_cohort(survey: Survey) -> None:
    tallies = tally_reports(reports(survey), survey)
    assert set(tallies) == {None, "paper", "web"}
    assert tallies["web"].n == 40
    assert sum(tallies.values(), Tally.empty(survey)) == Tally(120, {"affair": (60, 60), "religious": (30, 30, 30, 30)})


def test_rows_are_in_the_order_of_questions_and_options(survey: Survey) -> None:
    rows = estimate(tally_reports(reports(survey), survey), survey)
    assert [(row.question, row.option) for row in rows] == [
        ("affair", "no"),
        ("affair", "yes"),
        ("religious", "not"),
        ("religious", "mildly"),
        ("religious", "fairly"),
        ("religious", "strongly"),
    ]
    assert {row.n for row in rows} == {120}
    assert {row.cohort for row in rows} == {None}
    assert rows[1].estimate == pytest.approx(0.5)


def test_rows_by_cohort_name_every_cohort_even_an_empty_one(survey: Survey) -> None:
    only_paper = [report for report in reports(survey) if report.cohort == "paper"]
    rows = estimate(tally_reports(only_paper, survey), survey, by_cohort=True)
    assert [row.cohort for row in rows if row.question == "affair"] == ["paper", "paper", "web", "web"]
    web = rows[-1]
    assert (web.n, web.estimate, web.conf_low, web.conf_high) == (0, None, 0, 1)


def test_an_estimate_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(deniable_statistics.estimates, "estimate")
    monkeypatch.setitem(sys.modules, "deniable_statistics.estimates.estimate", None)
    with pytest.raises(DeniableError, match=r"^deniable_statistics: is needed for this; .*\[statistics\]"):
        Warner("3/4").estimate([600, 400])


@pytest.mark.slow
def test_without_an_extra_the_way_out_is_named() -> None:
    """A device has neither numpy nor scipy; what it draws and publishes asks for none."""
    script = (
        "from deniable import DeniableError, TwoCoin\n"
        "coin = TwoCoin('1/2', '1/2')\n"
        "assert coin.randomize(1) in (0, 1) and coin.publish()\n"
        "try: coin.estimate([5701, 4299])\n"
        "except DeniableError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=with_extras(()), capture_output=True, text=True, check=True
    )
    hint = "is needed for this; in a clone of the project: pip install '.[statistics]'"
    assert done.stdout.strip() == f"numpy: {hint}"

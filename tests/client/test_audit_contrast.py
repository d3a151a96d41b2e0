"""Fixed against fixed: the family-wise error rate is kept, and leaks are found as often as the findings say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.contrast import Contrasts, compare, contrasts_of, least_share
from deniable_client.audit.histories import Session
from deniable_client.audit.judge import Bench, power
from deniable_client.audit.shipped import BLOCK, SESSIONS

HISTORIES = ["once", "once", "twice"] * (SESSIONS // 3)


def compared(yes: np.ndarray, values: np.ndarray, failure: float) -> Contrasts:
    answers = [{"affair": int(each), "other": place % 2} for place, each in enumerate(yes)]
    features = [
        {f"feature {number}": float(value) for number, value in enumerate(row)} for row in np.atleast_2d(values.T).T
    ]
    return compare(contrasts_of(answers, HISTORIES, features), failure)


@pytest.mark.long
@pytest.mark.simulation
def test_a_leak_of_one_percent_in_one_feature_is_found_nine_times_in_ten() -> None:
    """At the default number of sessions, where one of four exact features shows it."""
    dice = np.random.default_rng(41)
    found, times = 0, 150
    for _ in range(times):
        bench = Bench(lambda _session, _trace: ())
        yes = dice.random(SESSIONS) < 0.5
        leaks = yes & (dice.random(SESSIONS) < 0.01)
        cases = []
        for place in range(SESSIONS):
            session = Session("once", (), "", (), [{"affair": int(yes[place])}])
            trace = Trace({f"feature {number}": "as always" for number in range(4)})
            if leaks[place]:
                trace.exact["feature 3"] = "otherwise"
            cases.append((session, trace))
        bench.blocks = [cases[start : start + BLOCK] for start in range(0, SESSIONS, BLOCK)]
        found += bool(bench.suspects(1e-6))
    assert found >= 0.9 * times
    assert power(SESSIONS) > 0.95
    assert stats.binom.cdf(found, times, power(SESSIONS)) > 1e-6


@pytest.mark.simulation
def test_what_varies_by_itself_is_found_as_the_findings_say() -> None:
    dice = np.random.default_rng(42)
    level = 1e-9
    found, times = 0, 60
    for _ in range(times):
        yes = dice.random(SESSIONS) < 0.5
        values = dice.lognormal(0, 1, (SESSIONS, 6))
        share = compared(yes, values, 1e-6).least
        assert share < 0.25
        values[:, 2] += 1000 * (yes & (dice.random(SESSIONS) < share))
        differences = compared(yes, values, 1e-6).differences
        found += any(
            each.contrast.feature == "feature 2" and each.contrast.question == "affair" for each in differences
        )
    assert found >= 0.85 * times, "it says 0.9; and the seed is fixed"
    # So many of the largest of 300 against 300 are all of one answer with a probability below the level.
    number = next(k for k in range(4, 200, 4) if math.comb(300, k) / math.comb(600, k) <= level)
    assert stats.binom.sf(number - 1, 300, least_share(300, 600, level)) == pytest.approx(0.9)


def test_a_load_that_changes_slowly_hides_no_delay() -> None:
    dice = np.random.default_rng(44)
    yes = dice.random(SESSIONS) < 0.5
    load = np.repeat(dice.lognormal(4, 1, SESSIONS // 60), 60)
    values = load + dice.normal(0, 1, SESSIONS)
    assert compared(yes, values[:, None], 1e-6).differences == ()
    (found,) = compared(yes, (values + 5 * yes)[:, None], 1e-6).differences
    assert found.contrast.question == "affair"


@pytest.mark.simulation
def test_faultless_sessions_are_accused_no_oftener_than_stated() -> None:
    dice = np.random.default_rng(43)
    values = np.round(dice.lognormal(0, 1, (SESSIONS, 4)), 1)  # with ties
    values[:, 3] = dice.integers(0, 3, SESSIONS)
    alarms = {0.2: 0, 1e-6: 0}
    times = 60
    for _ in range(times):
        yes = dice.random(SESSIONS) < 0.5
        for failure in alarms:
            alarms[failure] += bool(compared(yes, values, failure).differences)
    assert alarms[1e-6] == 0
    assert alarms[0.2] <= 0.2 * times
    assert alarms[0.2] > 0, "a bound that is never reached finds less than it could"


def test_sessions_that_are_all_alike_compare_nothing() -> None:
    assert compared(np.zeros(SESSIONS, dtype=bool), np.ones((SESSIONS, 2)), 1e-6) == Contrasts((), 0, 1.0)

"""Regression where outcome and predictors are randomised: one likelihood over classes of truths."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from deniable import KAry, ParameterError, TwoCoin
from deniable_research.files import Table, regress
from deniable_research.files.design_files import direct
from deniable_research.regression import Fit, SharedResponse, grouped, linear, logistic, multinomial
from deniable_research.simulation.draw import generator_of, randomize_people, words_of
from deniable_statistics.authoring.authoring import read_survey
from deniable_statistics.classical import cheater_detection, stochastic_lie_detector
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.regression.report_likelihood import Reports
from tools.rig.survey_files import question_toml, survey_toml
from tools.tables import regression as tables

COINS = TwoCoin("1/2", "1/2")
SPIN = KAry.from_epsilon(3, 2)


def expit(eta: Any) -> Any:
    return 1 / (1 + np.exp(-eta))


def people(n: int, seed: int = 4) -> pd.DataFrame:
    """Truths of two predictors, a plain group, an affair that depends on all, and what was reported."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "old": rng.integers(0, 2, n),
            "faith": rng.integers(0, 3, n),
            "region": rng.choice(["east", "west"], n),
            "height": rng.normal(170, 10, n),
        }
    )
    west = data.region == "west"
    eta = -1 + 1.2 * data.old - 0.8 * (data.faith == 2) + 0.5 * west - 0.9 * data.old * west
    data["affair"] = (rng.random(n) < expit(eta)).astype(int)
    data["said_old"] = tables.through(COINS, data.old.to_numpy(), rng)
    data["said_faith"] = tables.through(SPIN, data.faith.to_numpy(), rng)
    data["said_affair"] = tables.through(COINS, data.affair.to_numpy(), rng)
    return data


def independent(data: pd.DataFrame) -> Any:
    """The maximum of ``said_affair ~ said_old * region + said_faith``, by another way to write and to climb it.

    The joint distribution of both truths is free in each region, on the logit scale.
    """
    coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    stay = np.exp(2) / (np.exp(2) + 2)
    spin = np.full((3, 3), (1 - stay) / 2) + (stay - (1 - stay) / 2) * np.eye(3)
    counts = data.groupby(["said_affair", "said_old", "said_faith", "region"]).size()

    def objective(params: Any) -> float:
        total = 0.0
        for place, region in enumerate(("east", "west")):
            weights = np.exp(np.append(0.0, params[6 + 5 * place : 11 + 5 * place]))
            share = (weights / weights.sum()).reshape(2, 3)
            for (affair, old, faith), count in counts.xs(region, level="region").items():
                likelihood = 0.0
                for x, f in itertools.product(range(2), range(3)):
                    cohort = float(region == "west")
                    eta = params @ np.concatenate(
                        [[1, x, cohort, float(f == 1), float(f == 2), x * cohort], np.zeros(10)]
                    )
                    yes = expit(eta)
                    outcome = coin[affair, 1] * yes + coin[affair, 0] * (1 - yes)
                    likelihood += share[x, f] * coin[old, x] * spin[faith, f] * outcome
                total -= count * np.log(likelihood)
        return total

    return minimize(objective, np.zeros(16), method="BFGS", options={"gtol": 1e-4})


@pytest.mark.slow
def test_fits_equal_an_independent_likelihood_and_optimiser() -> None:
    data = people(1500)
    found = logistic(
        "said_affair ~ said_old * region + said_faith",
        data,
        COINS,
        randomised={"said_old": COINS, "said_faith": SPIN},
    )
    other = independent(data)
    assert found.converged
    assert found.loglik == pytest.approx(-other.fun, abs=1e-6)
    names = [
        "Intercept",
        "said_old[T.yes]",
        "region[T.west]",
        "said_faith[T.1]",
        "said_faith[T.2]",
        "said_old[T.yes]:region[T.west]",
    ]
    ours = dict(zip(found.terms, found.params, strict=True))
    assert [ours[name] for name in names] == pytest.approx(other.x[:6], abs=2e-3)


def test_without_noise_it_is_ordinary_logistic_regression_with_interactions() -> None:
    data = people(1500)
    plain = data.assign(old=np.where(data.old == 1, "yes", "no"))
    ours = logistic("affair ~ old * region + height", plain, (1, 0), randomised={"old": direct()})
    known = logistic("affair ~ old * region + height", plain, (1, 0))
    assert ours.params[: len(known.terms)] == pytest.approx(known.params, abs=1e-6)
    assert ours.terms[: len(known.terms)] == known.terms
    errors = np.sqrt(np.diag(ours.cov_params()))[: len(known.terms)]
    assert errors == pytest.approx(np.sqrt(np.diag(known.cov_params())), rel=1e-6)
    new = pd.DataFrame({"old": ["yes", "no"], "region": ["east", "west"], "height": [170.0, 180.0]})
    assert ours.predict(new).share == pytest.approx(known.predict(new).share, abs=1e-6)
    assert ours.predict(new).std_error == pytest.approx(known.predict(new).std_error, rel=1e-5)
    with pytest.raises(ParameterError, match="must say for which truths"):
        ours.predict()


@pytest.mark.slow
def test_interactions_of_a_number_with_a_randomised_predictor() -> None:
    rng = np.random.default_rng(8)
    data = people(20_000)
    data["hours"] = 5 + 2 * data.old + 0.1 * data.height - 0.05 * data.old * data.height + rng.normal(size=len(data))
    found = linear("hours ~ said_old * height", data, {"said_old": COINS})
    for term, value in {"said_old[T.yes]": 2, "height": 0.1, "said_old[T.yes]:height": -0.05}.items():
        row = found.tidy(interval="wald")[found.terms.index(term)]
        assert abs(row.estimate - value) < 4.9 * row.std_error
        assert row.std_error < 1


@pytest.mark.slow
def test_who_regresses_on_reports_finds_too_little() -> None:
    noisy = tables.measured(tables.both_sides, tables.BOTH, 30, 2000, 5, "wald")
    naive = tables.measured(tables.as_if_direct, tables.BOTH, 30, 2000, 5, "wald")
    for ours, theirs in zip(noisy[1:], naive[1:], strict=True):
        assert abs(ours.bias) < 4.5 * ours.mc_error
        assert abs(theirs.truth + theirs.bias) < 0.75 * abs(theirs.truth)  # attenuated, and it does not go away
        assert theirs.coverage < 0.75


@pytest.mark.slow
@pytest.mark.parametrize("design", [cheater_detection(["1/4", "3/4"]), stochastic_lie_detector("0.2", "0.8")])
def test_designs_of_two_groups_explain_too(design: Any) -> None:
    rng = np.random.default_rng(3)
    n, share = 30_000, 0.9
    carrier, group, honest = rng.random(n) < 0.4, rng.integers(0, 2, n), rng.random(n) < share
    if design.name == "cheater_detection":
        yes = honest & (carrier | (rng.random(n) < np.array([0.25, 0.75])[group]))
        expected = {"drugs: cheaters": 1 - share}
        carrier &= honest  # of cheaters nobody knows: they are their own class, here without the trait
    else:
        yes = np.where(carrier, honest, rng.random(n) < np.array([0.8, 0.2])[group])
        expected = {"drugs: honest carriers": share}
    outcome = (rng.random(n) < expit(-0.5 + 1.0 * carrier)).astype(int)
    data = {"affair": tables.through(COINS, outcome, rng), "drugs": yes.astype(int), "group": group}
    found = logistic("affair ~ drugs", data, COINS, randomised={"drugs": grouped(design, "group")})
    rows = {row.term: row for row in found.tidy(interval="wald")}
    for term, value in ({"drugs[T.yes]": 1.0} | expected).items():
        assert abs(rows[term].estimate - value) < 4.9 * rows[term].std_error
        assert rows[term].std_error < 0.3


@pytest.mark.slow
def test_a_choice_depends_on_a_randomised_answer() -> None:
    rng = np.random.default_rng(6)
    old = rng.integers(0, 2, 20_000)
    choice = tables.logits(np.column_stack([np.ones(len(old)), old]), np.array([[0.2, 0.8], [-0.3, -0.9]]), rng)
    data = {"choice": tables.through(SPIN, choice, rng), "old": tables.through(COINS, old, rng)}
    found = multinomial("choice ~ old", data, SPIN, truths=["a", "b", "c"], randomised={"old": COINS})
    assert found.terms[:4] == ("b: Intercept", "b: old[T.yes]", "c: Intercept", "c: old[T.yes]")
    for row, value in zip(found.tidy(interval="wald")[:4], (0.2, 0.8, -0.3, -0.9), strict=True):
        assert abs(row.estimate - value) < 4.9 * row.std_error
        assert row.std_error < 0.2


def test_a_cell_without_anybody_is_a_share_of_0_and_no_separation() -> None:
    rng = np.random.default_rng(12)
    first = rng.random(3000) < 0.5
    second = first & (rng.random(3000) < 0.4)  # nobody has the second without the first
    outcome = (rng.random(3000) < expit(-1 + first - 0.5 * second)).astype(int)
    spin = tables.EPSILON_2
    data = {name: tables.through(spin, x.astype(int), rng) for name, x in {"a": first, "b": second}.items()}
    data["y"] = tables.through(spin, outcome, rng)
    found = logistic("y ~ a + b", data, spin, randomised={"a": spin, "b": spin})
    assert (found.converged, found.separated, found.penalty) == (True, False, None)
    ended = [found.terms[j] for j in found._at_end]
    assert ended == ["P(a=0, b=1)"]
    assert np.isfinite(np.sqrt(np.diag(found.cov_params()))[:3]).all()


DRAWN = survey_toml(
    "Draw", *(question_toml(name, "yes-no") for name in ("affair", "drugs", "theft")), epsilon=3, draw=2
)


def test_who_was_not_asked_counts_with_what_they_were_asked() -> None:
    survey = read_survey(DRAWN)
    rng = np.random.default_rng(17)
    n = 12_000
    drugs, theft = rng.random(n) < 0.4, rng.random(n) < 0.5
    affair = rng.random(n) < expit(-0.8 + 1.1 * drugs)
    truths = {"affair": affair, "drugs": drugs, "theft": theft}
    reports = randomize_people(
        survey.questions,
        {name: truth.astype(np.int64) for name, truth in truths.items()},
        words_of(generator_of(17)),
    )
    texts = {}
    for name, column in reports.items():
        assert column.asked is not None
        texts[name] = np.where(column.asked, column.values.astype(str), "")
    table = Table.of({"cohort": ["all"] * n, **{name: each.tolist() for name, each in texts.items()}}, survey)
    asked = table.answered("affair", "drugs").sum()
    assert asked == pytest.approx(n / 3, rel=0.1)
    found = regress(table, "affair ~ drugs")
    assert isinstance(found, Fit)
    rows = found.tidy()
    assert found.n == n
    assert found.n_dropped == 0
    assert abs(rows[1].estimate - 1.1) < 4.9 * rows[1].std_error
    # those who were asked one of both say how frequent it is
    both = regress(table.where(table.answered("affair", "drugs")), "affair ~ drugs")
    assert isinstance(both, Fit)
    share = "P(drugs=yes)" if "P(drugs=yes)" in found.terms else "P(drugs=no)"
    precise = found.tidy(interval="wald")[found.terms.index(share)].std_error
    assert precise < 0.8 * both.tidy(interval="wald")[both.terms.index(share)].std_error


def test_a_shared_response_has_the_probabilities_of_its_patterns() -> None:
    response = KAry.from_epsilon(8, 2)  # three yes-no questions, of which the model has two, in the other order
    matrix = np.array([[float(each) for each in row] for row in design_of(response).channel_matrix])
    said = list(itertools.product((0, 1), repeat=3))
    likelihood = [np.where(np.arange(2) == pattern[j], 0.8, 0.2) for pattern in said for j in (2, 0)]
    members = [
        Reports(np.array(likelihood[place::2]), None, ("no", "yes"), None, list, lambda: np.zeros((8, 2)))
        for place in (0, 1)
    ]
    base, more, equal = SharedResponse(("c", "a"), 3, response).parts(dict(zip("ca", members, strict=True)))
    for i, pattern in enumerate(said):
        for truth in said:
            found = base[i] + more[i] * equal["c"][i, truth[2]] * equal["a"][i, truth[0]]
            alike = [j for j, other in enumerate(said) if (other[2], other[0]) == (pattern[2], pattern[0])]
            assert found == pytest.approx(matrix[alike, said.index(truth)].sum(), abs=1e-9)

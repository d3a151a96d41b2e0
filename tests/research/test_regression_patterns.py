"""Outcome and predictors of one response to the patterns of answers that filters leave."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from deniable import ParameterError, Survey, read_survey
from deniable.mechanisms import KAry
from deniable.survey.patterns import Pattern, patterns_of
from deniable_research.files import Table
from deniable_research.files.mixed import shares_together
from deniable_research.files.regressing import regress
from deniable_research.regression import Fit
from deniable_research.regression.averaging import Averages
from deniable_research.regression.comparison import likelihood_ratio_test, refitted
from tools.rig.survey_files import question_toml, survey_toml

SURVEY = read_survey(
    survey_toml(
        "Habits",
        question_toml("drinks", "yes-no"),
        question_toml("ever", "yes-no"),
        question_toml("often", "choice", options=["few", "some", "many"], ask_if="ever = yes"),
        question_toml("quit", "yes-no", ask_if="ever = yes"),
        epsilon=4,
    )
)
NAMES = [each.id for each in SURVEY.questions]
NOT_ASKED = "Does not apply"


def response_of(survey: Survey) -> tuple[KAry, tuple[Pattern, ...]]:
    """The response of the survey's group, and the patterns that it is to."""
    patterns, group = patterns_of(survey.questions), survey.questions[0].group
    assert group is not None
    assert group.joint is not None
    assert patterns is not None
    return group.joint, patterns


RESPONSE, PATTERNS = response_of(SURVEY)


def people(n: int, seed: int) -> tuple[Table, NDArray[np.int64]]:
    """Reports of people whose quitting depends on how often, and whose drinking on whether ever; with their reports.

    Logits: of quitting -1, .8 more with "some" and 1.6 more with "many"; of drinking -.5, 1 more with "ever" and .7
    more where they are old, a known covariate.
    """
    dice = np.random.default_rng(seed)
    old, ever = dice.random(n) < 0.5, dice.random(n) < 0.6
    often = dice.choice(3, n, p=[0.3, 0.4, 0.3])
    quits = dice.random(n) < expit(-1 + 0.8 * often)
    drinks = dice.random(n) < expit(-0.5 + 1.0 * ever + 0.7 * old)
    truth = np.column_stack([drinks, ever, np.where(ever, often, 3), np.where(ever, quits, 2)]).astype(int)
    places = {pattern: place for place, pattern in enumerate(PATTERNS)}
    true = np.array([places[tuple(row)] for row in truth.tolist()])
    stays = dice.random(n) < RESPONSE.keep / 2**32
    said = np.where(stays, true, (true + dice.integers(1, RESPONSE.k, n)) % RESPONSE.k)
    sent = np.array(PATTERNS)[said]
    columns = {name: [str(each) for each in sent[:, place]] for place, name in enumerate(NAMES)}
    numbers = {"cohort": ["all"] * n, "old": [str(int(each)) for each in old]}
    return Table.of({**numbers, **columns}, SURVEY), np.column_stack([sent, old])


def expit(value: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-value)))


def independently(
    sent: NDArray[np.int64], names: list[str], share: Callable[..., dict[Pattern, float]], start: list[float]
) -> float:
    """The largest log-likelihood of the reports to some questions, from the whole channel over patterns.

    `share` gives the probability of each combination of true answers to the questions, by parameters and covariate.
    """
    places = [NAMES.index(name) for name in names]
    keep, other = float(RESPONSE.keep), float((2**32 - RESPONSE.keep) / (RESPONSE.k - 1))
    of = [tuple(pattern[place] for place in places) for pattern in PATTERNS]
    truths = sorted(set(of))

    def channel(said: Pattern, truth: Pattern) -> float:
        true = of.index(truth)  # any pattern with these answers
        return sum(keep if each == true else other for each, one in enumerate(of) if one == said) / 2**32

    kinds, counts = np.unique(sent[:, [*places, 4]], axis=0, return_counts=True)
    chances = np.array([[channel(tuple(kind[:-1]), truth) for truth in truths] for kind in kinds.tolist()])

    def lack(params: NDArray[np.float64]) -> float:
        total = 0.0
        for old in (0, 1):
            shares = share(params, old)
            here = kinds[:, -1] == old
            probabilities = chances[here] @ np.array([shares.get(truth, 0.0) for truth in truths])
            total -= float(counts[here] @ np.log(probabilities))
        return total

    return -float(minimize(lack, start, method="BFGS", options={"gtol": 1e-6}).fun)


def cells(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares by a softmax with 0 for the first."""
    every = np.exp([0.0, *logits])
    return np.asarray(every / every.sum())


def test_the_likelihood_is_that_of_the_whole_channel_where_a_filter_decides_the_outcome() -> None:
    table, sent = people(4000, 3)
    fit = regress(table, "quit ~ often + old", penalty=None)
    assert isinstance(fit, Fit)
    assert fit.terms[:4] == ("Intercept", "often[T.some]", "often[T.many]", "old")

    def share(params: NDArray[np.float64], old: int) -> dict[Pattern, float]:
        # how often each answer to `often` is, in each group of the covariate, then whether they quit
        frequency = cells(params[4 + 3 * old : 7 + 3 * old])
        level, some, many, older = params[:4]
        yes = [float(expit(np.asarray(level + effect + older * old))) for effect in (0.0, some, many)]
        found = {
            (often, quits): float(frequency[often] * (yes[often] if quits else 1 - yes[often]))
            for often in range(3)
            for quits in (0, 1)
        }
        asked: dict[Pattern, float] = {(quits, often): each for (often, quits), each in found.items()}
        return asked | {(2, 3): float(frequency[3])}

    best = independently(sent, ["quit", "often"], share, [*fit.params[:4], *[0.0] * 6])
    assert fit.loglik == pytest.approx(best, abs=2e-4)
    for truth, row in zip((-1.0, 0.8, 1.6, 0.0), fit.tidy(), strict=False):
        assert abs(row.estimate - truth) < 4.9 * row.std_error


def test_the_likelihood_is_that_of_the_whole_channel_where_all_answers_go_together() -> None:
    table, sent = people(4000, 4)
    fit = regress(table, "drinks ~ ever + old", penalty=None)
    assert isinstance(fit, Fit)
    assert fit.terms[:3] == ("Intercept", "ever[T.yes]", "old")

    def share(params: NDArray[np.float64], old: int) -> dict[Pattern, float]:
        frequency = cells(params[3 + old : 4 + old])
        yes = expit(np.asarray([params[0] + params[1] * ever + params[2] * old for ever in (0, 1)]))
        return {
            (drinks, ever): float(frequency[ever] * (yes[ever] if drinks else 1 - yes[ever]))
            for drinks, ever in itertools.product((0, 1), (0, 1))
        }

    best = independently(sent, ["drinks", "ever"], share, [*fit.params[:3], 0.0, 0.0])
    assert fit.loglik == pytest.approx(best, abs=2e-4)
    for truth, row in zip((-0.5, 1.0, 0.7), fit.tidy(), strict=False):
        assert abs(row.estimate - truth) < 4.9 * row.std_error


def test_cells_that_nobody_can_be_in_have_no_share() -> None:
    table, _ = people(4000, 5)
    found = shares_together(table, ["often", "quit"])
    assert found.model.cells.names == (
        *(f"often={often}, quit={quits}" for often in ("few", "some", "many") for quits in ("no", "yes")),
        f"often={NOT_ASKED}, quit={NOT_ASKED}",
    )
    assert float(found.share.sum()) == pytest.approx(1)
    assert float(found.share[-1]) == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("quit ~ ever", "Intercept, ever.*an answer to one can say the other"),
        ("drinks ~ often + quit", "often.*, quit.*an answer to one can say the other"),
        ("ever ~ often", "its predictors decide it"),
    ],
)
def test_what_one_answer_says_of_another_is_refused_with_the_reason(formula: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        regress(people(500, 6)[0], formula)


def test_what_a_filter_decides_is_not_predicted() -> None:
    table, _ = people(2000, 7)
    fit = regress(table, "quit ~ often")
    assert isinstance(fit, Fit)
    assert fit.predict({"often": ["few", "many"]}).share.shape == (2, 2)
    with pytest.raises(ParameterError, match="answers with which the outcome applies"):
        fit.predict({"often": [NOT_ASKED]})
    with pytest.raises(ParameterError, match="applies to everybody"):
        Averages(fit)
    assert likelihood_ratio_test(refitted(fit, "quit ~ 1"), fit).df == 2


@pytest.mark.long
@pytest.mark.simulation
def test_intervals_of_outcome_and_predictor_of_one_response_keep_their_level() -> None:
    """Seeded: 200 samples of 2,000; fewer hits than counted here have a probability below 1e-6."""
    hits = np.zeros(3)
    for number in range(200):
        fit = regress(people(2000, 1000 + number)[0], "quit ~ often")
        assert isinstance(fit, Fit)
        for place, (truth, row) in enumerate(zip((-1.0, 0.8, 1.6), fit.tidy(), strict=False)):
            assert row.conf_low is not None
            assert row.conf_high is not None
            hits[place] += row.conf_low <= truth <= row.conf_high
    print(hits / 200)
    assert (hits >= 172).all()

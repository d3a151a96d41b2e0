"""By simulation: where everybody is asked nobody is drawn by chance, and errors are those of the devices alone.

A census is the hardest case of a finite population: the textbook's error is 0, and all that is left is what the devices
added. Spreads of 400 censuses are known to 3.5 %; errors must agree with them to 12 %.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable import KAry, TwoCoin
from deniable_research.files import Layout, SamplingColumns, Table, compare, cross, estimate_shares, quick_question
from deniable_research.items import Item
from deniable_research.joint import correlation, crosstab
from deniable_research.regression import linear_moments, logistic
from deniable_research.sampling import Domain, SamplingDesign

pytestmark = pytest.mark.simulation

PEOPLE, CENSUSES = 800, 400
COINS, CHOICE = TwoCoin("1/2", "1/2"), KAry.from_epsilon(3, 2)

Figures = tuple[list[float], list[float]]


def coins(truth: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.int64]:
    first, second = chance.random((2, len(truth))) < 0.5
    return np.where(first, truth, second).astype(np.int64)


def choices(truth: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.int64]:
    lie = (truth + chance.integers(1, 3, len(truth))) % 3
    return np.where(chance.random(len(truth)) < CHOICE.keep / 2**32, truth, lie)


def census(figures: Callable[[np.random.Generator, Domain], Figures]) -> None:
    """Compare the mean error with the spread over censuses of the same people."""
    chance = np.random.default_rng(1940)
    size = np.full(PEOPLE, float(PEOPLE // 2))
    design = SamplingDesign(np.ones(PEOPLE), np.arange(PEOPLE) % 2, None, size)
    domain = Domain(design, np.ones(PEOPLE, dtype=bool))
    found = [figures(chance, domain) for _ in range(CENSUSES)]
    estimates, errors = (np.array(each) for each in zip(*found, strict=True))
    assert np.sqrt((errors**2).mean(axis=0)) == pytest.approx(estimates.std(axis=0, ddof=1), rel=0.12)


def people() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Who has done it, what they believe, and their age: all go together."""
    chance = np.random.default_rng(7)
    age = chance.normal(0, 1, PEOPLE)
    done = (chance.random(PEOPLE) < 1 / (1 + np.exp(0.5 - 0.8 * age))).astype(np.int64)
    belief = np.where(chance.random(PEOPLE) < 0.4, done, chance.integers(0, 3, PEOPLE)).astype(np.int64)
    return done, belief, age


DONE, BELIEF, AGE = people()


def test_crosstabs_and_what_is_made_of_them() -> None:
    def figures(chance: np.random.Generator, domain: Domain) -> Figures:
        first = Item.from_reports("done", COINS, coins(DONE, chance).tolist())
        second = Item.from_reports("belief", CHOICE, choices(BELIEF, chance).tolist(), values=(0, 1, 2))
        table = crosstab(first, second, domain=domain)
        given = table.conditional("belief")
        together = correlation(first, second, domain=domain)
        alone = correlation(first, AGE, domain=domain)
        estimates = [*table.share.ravel(), *given.share[1], together.correlation, alone.correlation]
        return estimates, [*table.std_error.ravel(), *given.std_error[1], together.std_error, alone.std_error]

    census(figures)


def test_regressions() -> None:
    def figures(chance: np.random.Generator, domain: Domain) -> Figures:
        data = {"done": coins(DONE, chance), "age": AGE, "score": AGE + DONE + np.sin(np.arange(PEOPLE))}
        models = (
            logistic("done ~ age", data, COINS, domain=domain, random_starts=0),
            linear_moments("score ~ age + done", data, {"done": COINS}, domain=domain),
        )
        rows = [row for model in models for row in model.tidy()]
        return [row.estimate for row in rows], [row.std_error for row in rows]

    census(figures)


def test_shares_and_cohorts_of_a_file() -> None:
    layout = Layout((quick_question("q: two-coin truth=1/2 yes=1/2"),), sampling=SamplingColumns(population="n"))
    wave = tuple(map(str, (AGE > 0).astype(int)))

    def figures(chance: np.random.Generator, _: Domain) -> Figures:
        columns = {"q": tuple(map(str, coins(DONE, chance))), "wave": wave, "n": (str(PEOPLE),) * PEOPLE}
        table = Table.of(columns, layout)
        share, apart, cells = estimate_shares(table)[1], compare(table, "q", "wave"), cross(table, ["q", "wave"])[:4]
        estimates = [share.estimate, *(row.estimate for row in apart), *(row.estimate for row in cells)]
        errors = [share.std_error, *(row.std_error for row in apart), *(row.std_error for row in cells)]
        return [float(each or 0) for each in estimates], [float(each or 0) for each in errors]

    census(figures)


@pytest.mark.parametrize("share", [0.03, 0.4])
def test_intervals_of_shares_keep_their_level(share: float) -> None:
    """Three strata of 50 clusters, 30 of each drawn, through two fair coins: 1000 samples; with the naive error too."""
    chance = np.random.default_rng(1965)
    spread = 12
    units = [
        [chance.random(chance.integers(4, 12)) < chance.beta(spread * share, spread * (1 - share)) for _ in range(50)]
        for _ in range(3)
    ]
    truth = np.concatenate([unit for stratum in units for unit in stratum]).mean()
    layout = Layout(
        (quick_question("q: two-coin truth=1/2 yes=1/2"),),
        sampling=SamplingColumns(strata="h", cluster="i", population="50"),
    )
    held, naive = 0, 0
    for _ in range(1000):
        drawn = [(h, i) for h in range(3) for i in chance.permutation(50)[:30]]
        sizes = [len(units[h][i]) for h, i in drawn]
        answers = np.concatenate([units[h][i] for h, i in drawn]).astype(np.int64)
        columns = {
            "q": tuple(map(str, coins(answers, chance))),
            "h": tuple(np.repeat([str(h) for h, _ in drawn], sizes).tolist()),
            "i": tuple(np.repeat([str(i) for _, i in drawn], sizes).tolist()),
        }
        table = Table.of(columns, layout)
        row = estimate_shares(table)[1]
        held += row.conf_low <= truth <= row.conf_high
        assert table.sampling is not None
        copied = table.sampling.means(table.item("q").scores[:, 1])
        low, high = copied.interval()
        naive += low[0] <= truth <= high[0]
    assert 0.93 <= held / 1000 <= 0.97
    assert naive / 1000 < 0.85

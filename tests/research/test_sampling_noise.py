"""By simulation: where everybody is asked nobody is drawn by chance, and errors are those of the devices alone.

A census is the hardest case of a finite population: the textbook's error is 0, and all that is left is what the devices
added. Spreads of 400 censuses are known to 3.5 %; errors must agree with them to 12 %, of 200 to 20 %.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable import DrawnBoxes, KAry, TwoCoin
from deniable.survey.group import Group
from deniable_research.files import (
    Layout,
    RandomizedColumn,
    SamplingColumns,
    Table,
    compare,
    cross,
    direct,
    estimate_shares,
    quick_question,
)
from deniable_research.regression import linear_moments, logistic
from deniable_research.simulation.draw import randomize_people, words_of
from deniable_statistics.comparison.sampled import SampledCohorts
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.joint import correlation, crosstab, independence
from deniable_statistics.sampling import Domain, SamplingDesign
from deniable_statistics.sampling.items import Item
from tests.support.drawn_questions import joint_survey, table_of

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


def census(
    figures: Callable[[np.random.Generator, Domain], Figures], censuses: int = CENSUSES, within: float = 0.12
) -> None:
    """Compare the mean error with the spread over censuses of the same people."""
    chance = np.random.default_rng(1940)
    size = np.full(PEOPLE, float(PEOPLE // 2))
    design = SamplingDesign(np.ones(PEOPLE), np.arange(PEOPLE) % 2, None, size)
    domain = Domain(design, np.ones(PEOPLE, dtype=bool))
    found = [figures(chance, domain) for _ in range(censuses)]
    estimates, errors = (np.array(each) for each in zip(*found, strict=True))
    assert np.sqrt((errors**2).mean(axis=0)) == pytest.approx(estimates.std(axis=0, ddof=1), rel=within)


def people() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Who has done it, what they believe, and their age: all go together."""
    chance = np.random.default_rng(7)
    age = chance.normal(0, 1, PEOPLE)
    done = (chance.random(PEOPLE) < 1 / (1 + np.exp(0.5 - 0.8 * age))).astype(np.int64)
    belief = np.where(chance.random(PEOPLE) < 0.4, done, chance.integers(0, 3, PEOPLE)).astype(np.int64)
    return done, belief, age


DONE, BELIEF, AGE = people()


@pytest.mark.long
def test_crosstabs_and_what_is_made_of_them() -> None:
    def figures(chance: np.random.Generator, domain: Domain) -> Figures:
        first = Item.from_reports("done", COINS, coins(DONE, chance).tolist())
        second = Item.from_reports("belief", CHOICE, choices(BELIEF, chance).tolist(), values=(0, 1, 2))
        table = crosstab(first, second, sample=domain)
        given = table.conditional("belief")
        together = correlation(first, second, domain)
        alone = correlation(first, AGE, domain)
        estimates = [*table.share.ravel(), *given.share[1], together.correlation, alone.correlation]
        return estimates, [*table.std_error.ravel(), *given.std_error[1], together.std_error, alone.std_error]

    census(figures)


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
def test_what_devices_draw() -> None:
    """Who was asked is chance too: two of three questions, each with a coin of its own, or in one response; boxes."""
    size = {"n": (str(PEOPLE),) * PEOPLE}
    wave = tuple(map(str, (AGE > 0).astype(int)))
    together = joint_survey(2, 3, 2)
    alone = Group("private", 3, 2, None)
    apart = replace(together, questions=tuple(replace(each, group=alone) for each in together.questions))
    answers = {"q0": DONE, "q1": (BELIEF > 0).astype(int), "q2": (AGE > 1).astype(int)}
    boxes = DrawnBoxes.from_epsilon(4, 3, s=2)
    ticks = [
        [place for place, ticked in enumerate((done, belief > 0, age > 1, belief == 2)) if ticked]
        for done, belief, age in zip(DONE, BELIEF, AGE, strict=True)
    ]

    def figures(chance: np.random.Generator, _: Domain) -> Figures:
        rows: list[Any] = []
        for survey in (together, apart):
            columns = randomize_people(survey.questions, answers, words_of(chance))
            table = table_of(survey, columns, wave=wave, **size)
            layout = replace(table.layout, cohort=None, sampling=SamplingColumns(population="n"))
            rows += analyses(replace(table, layout=layout), "q0", "q1")
        word = iter(chance.integers(0, 2**32, 40_000).tolist()).__next__
        reports = tuple(str(boxes.randomize(each, word)) for each in ticks)
        question = RandomizedColumn("q", "q", design_of(boxes), ("a", "b", "c", "d"))
        layout = Layout((question,), sampling=SamplingColumns(population="n"))
        rows += analyses(Table.of({"q": reports, "wave": wave, **size}, layout), "q[a]", "q[b]")
        return [row.estimate for row in rows], [row.std_error for row in rows]

    census(figures, 200, 0.2)


def analyses(table: Table, first: str, second: str) -> list[Any]:
    """Shares, a comparison, and two crosstabs."""
    name = table.layout.whole(first)[0].name
    crossed = [*cross(table, [first, second])[:4], *cross(table, [first, "wave"])[:4]]
    return [*estimate_shares(table, [name]), compare(table, name, "wave")[0], *crossed]


@pytest.mark.long
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
        low, high = copied.confidence_interval()
        naive += low[0] <= truth <= high[0]
    assert 0.93 <= held / 1000 <= 0.97
    assert naive / 1000 < 0.85


@pytest.mark.long
@pytest.mark.parametrize("behind_coins", [False, True])
def test_comparisons_and_independence_keep_their_level(behind_coins: bool) -> None:
    """30 clusters with people of both cohorts, whose shares are .5 and .4, and with answers that are independent."""
    chance = np.random.default_rng(1981)
    design = COINS if behind_coins else direct()
    clusters = np.repeat(np.arange(30), 16)
    first = np.tile(np.arange(16) < 8, 30)
    held, above, rejected = 0, 0, 0
    for _ in range(800):
        level = np.repeat(chance.beta(6, 9, 30), 16)
        answers = (chance.random(480) < level + 0.1 * first).astype(np.int64)
        others = (chance.random(480) < np.repeat(chance.beta(4, 6, 30), 16)).astype(np.int64)
        items = [
            Item.from_reports(name, design, (coins(each, chance) if behind_coins else each).tolist())
            for name, each in (("answer", answers), ("other", others))
        ]
        domain = Domain(SamplingDesign(np.ones(480), None, clusters), np.ones(480, dtype=bool))
        groups = SampledCohorts.of(items[0], domain, [first, ~first])
        low, high = groups.difference(0, 1).confidence_interval(0.95)
        held += low <= 0.1 <= high
        low, high = groups.ratio(0, 1, 1).confidence_interval(0.95)
        above += low <= 1.25 <= high
        rejected += independence(*items, sample=domain).p_value < 0.05
    assert 0.93 <= held / 800 <= 0.97
    assert 0.93 <= above / 800 <= 0.97
    assert 0.03 <= rejected / 800 <= 0.07

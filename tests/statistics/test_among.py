"""Shares and means among those to whom a question with a filter applies: exact coverage, and the price beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import multinomial

from deniable import KAry, Question, Subset, Survey, TickBoxes, Warner, read_survey
from deniable.mechanisms import DrawnBoxes
from deniable.survey.condition import among
from deniable_statistics.authoring.filter_cost import filter_sentences, respondents_among
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.estimates.among import TOO_FEW, AmongEstimate, variance_among
from deniable_statistics.estimates.mean_among import AmongMean
from deniable_statistics.estimates.tally import Tally
from deniable_statistics.published.published_rows import EstimateRow, estimate
from tests.support.marks import long
from tools.rig.survey_files import question_toml, survey_toml

Z = 1.959963984540054


def tallies(n: int, chances: list[float]) -> Iterator[tuple[list[int], float]]:
    """All counts of three reports, but for 1e-9 of the probability on either side, with their probabilities."""
    spread = 6.2 * math.sqrt(n) / 2
    first = range(max(0, int(n * chances[0] - spread)), min(n, int(n * chances[0] + spread)) + 1)
    for x in first:
        ys = np.arange(max(0, int(n * chances[2] - spread)), min(n - x, int(n * chances[2] + spread)) + 1)
        counts = np.stack([np.full(len(ys), x), n - x - ys, ys], axis=1)
        chance = multinomial.pmf(counts, n, chances)
        for each, p in zip(counts.tolist(), chance.tolist(), strict=True):
            if p > 1e-9:
                yield each, p


def covers(found: AmongEstimate, ratio: float) -> bool:
    if found.is_too_few():
        return True
    grid = found._statistic(0, np.append(np.linspace(0, 1, 101), ratio), 0)
    return bool(grid[-1] <= Z**2 + grid.min())


@pytest.mark.parametrize(
    ("epsilon", "n", "applying", "ratio"),
    [
        (1, 200, 0.3, 0.5),
        pytest.param(2, 200, 0.6, 0.05, marks=pytest.mark.long),
        pytest.param(0.5, 200, 0.6, 1.0, marks=pytest.mark.long),
        pytest.param(2, 200, 0.02, 0.0, marks=pytest.mark.long),
        pytest.param(2, 400, 0.6, 0.5, marks=pytest.mark.long),
        pytest.param(1, 1000, 0.3, 0.5, marks=pytest.mark.long),
        pytest.param(2, 1000, 0.1, 0.95, marks=pytest.mark.long),
    ],
)
@pytest.mark.simulation
def test_intervals_keep_their_level_exactly(epsilon: float, n: int, applying: float, ratio: float) -> None:
    """By going through the tallies of a k-ary response to two options and *does not apply*."""
    mechanism = KAry.from_epsilon(3, epsilon)
    shares = [ratio * applying, (1 - ratio) * applying, 1 - applying]
    chances = list(map(float, design_of(mechanism).expected(shares)))
    covered = total = 0.0
    for counts, p in tallies(n, chances):
        total += p
        covered += p * covers(AmongEstimate.from_counts(mechanism, counts), ratio)
    assert total > 1 - 1e-4
    assert covered + (1 - total) >= 0.945


MAKERS: dict[str, Callable[[int, float], Any]] = {
    "k-ary": KAry.from_epsilon,
    "subset": lambda k, epsilon: Subset.from_epsilon(k, 2, epsilon),
    "tick-boxes": TickBoxes.from_epsilon,
    "drawn-boxes": lambda k, epsilon: DrawnBoxes.from_epsilon(k, epsilon, 2),
}


def counts_of(mechanism: Any, n: int, applying: float, ratio: float, generator: np.random.Generator) -> list[int]:
    """The tally of ``n`` people: four options, the first with this share among those to whom the question applies."""
    shares = [ratio * applying, *[(1 - ratio) * applying / 3] * 3, 1 - applying]
    truths = generator.choice(5, size=n, p=shares)

    def words(size: int) -> NDArray[np.uint32]:
        return generator.integers(2**32, size=size, dtype=np.uint32)

    if not isinstance(mechanism, (TickBoxes, DrawnBoxes)):
        reports = mechanism.randomize_many(truths, words)
        supports = np.eye(5, dtype=int)[reports] if isinstance(mechanism, KAry) else reports
        return [int(each) for each in supports.sum(axis=0)]
    rows = np.eye(5, dtype=np.uint8)[truths]
    # Half of those to whom it applies tick the last box too.
    rows[:, 3] |= (truths < 4) & (generator.random(n) < 0.5)
    return [int(each) for each in mechanism.randomize_many(rows, words).sum(axis=0)]


@pytest.mark.long
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.simulation
def test_every_mechanism_has_intervals_that_hold(name: str) -> None:
    """Seeded: 1,200 samples cover at least as often as four standard errors below the level."""
    generator = np.random.default_rng(5)
    mechanism = MAKERS[name](5, 2)
    hits = samples = 0
    for applying, ratio in ((0.6, 0.5), (0.3, 0.2), (0.6, 1.0)):
        for _ in range(400):
            found = AmongEstimate.from_counts(mechanism, counts_of(mechanism, 800, applying, ratio, generator), 800)
            hits += covers(found, ratio)
            samples += 1
    assert hits / samples > 0.95 - 4 * math.sqrt(0.95 * 0.05 / samples)


@pytest.mark.parametrize("name", ["k-ary", *map(long, ("subset", "tick-boxes", "drawn-boxes"))])
@pytest.mark.simulation
def test_price_is_the_variance_that_samples_have(name: str) -> None:
    generator = np.random.default_rng(7)
    mechanism = MAKERS[name](5, 2)
    design = design_of(mechanism)
    n, applying, ratio = 100_000, 0.5, 0.5
    ratios = []
    for _ in range(120):
        found = AmongEstimate.from_counts(mechanism, counts_of(mechanism, n, applying, ratio, generator), n)
        ratios.append(found.share[0])
        error = found.std_error[0]
    expected = math.sqrt(variance_among(design, ratio, applying) / n)
    assert abs(float(np.std(ratios, ddof=1)) / expected - 1) < 0.3, "four standard errors of 120 samples' deviation"
    assert abs(float(np.mean(ratios)) - ratio) < 5 * expected / math.sqrt(len(ratios))
    assert abs(error / expected - 1) < 0.05


def test_ends_are_where_the_statistic_reaches_its_limit() -> None:
    found = AmongEstimate.from_counts(KAry.from_epsilon(4, 1), [310, 260, 240, 390])
    least = float(found._statistic(0, np.linspace(0, 1, 2001), 0).min())
    for option, interval in enumerate(found.confidence_interval()):
        assert interval.low < found.share[option] < interval.high
        for end in interval:
            if 0 < end < 1:
                assert found._statistic(option, np.array([end]), 0)[0] == pytest.approx(Z**2 + least, abs=1e-4)


def test_nothing_is_said_of_nobody() -> None:
    mechanism = KAry.from_epsilon(3, 1)
    counts = [round(1000 * float(each)) for each in design_of(mechanism).expected([0, 0, 1.0])]
    for nobody in (AmongEstimate.from_counts(mechanism, counts), AmongEstimate.from_counts(mechanism, [0, 0, 0])):
        assert nobody.is_too_few()
        assert all(math.isnan(share) for share in nobody.share + nobody.std_error)
        assert set(nobody.confidence_interval()) == {(0.0, 1.0)}


def test_fakes_widen_intervals_and_many_of_them_leave_nothing_to_say() -> None:
    found = AmongEstimate.from_counts(KAry.from_epsilon(3, 1), [3000, 2500, 4500])
    plain, some = found.confidence_interval()[0], found.confidence_interval(fake_share=0.02)[0]
    assert some.low < plain.low < plain.high < some.high
    assert found.confidence_interval(fake_share=0.5)[0] == (0.0, 1.0)
    # The worst that they can do is inside: they all say the first option, or all that it does not apply.
    for worst in ([3200, 2450, 4350], [2900, 2400, 4700]):
        assert some.low < AmongEstimate.from_counts(KAry.from_epsilon(3, 1), worst).share[0] < some.high


def test_the_mean_is_among_those_to_whom_it_applies() -> None:
    mechanism = KAry.from_epsilon(6, 2)
    expected = [20_000 * each for each in design_of(mechanism).expected([0.1, 0, 0, 0.1, 0.2, 0.6])]
    mean = AmongMean.from_counts(mechanism, expected, (1, 2, 3, 4, 5), 20_000)
    assert mean.mean == pytest.approx((0.1 * 1 + 0.1 * 4 + 0.2 * 5) / 0.4)
    plain, wide = mean.confidence_interval(), mean.confidence_interval(fake_share=0.01)
    assert plain.high - plain.low == pytest.approx(2 * Z * mean.std_error, rel=0.05)
    assert wide.low < plain.low < mean.mean < plain.high < wide.high


FILTERED = survey_toml(
    "Filtered",
    question_toml("smokes", "yes-no", epsilon=1),
    question_toml("often", "scale", lo=1, hi=3, epsilon=1, ask_if="smokes = yes"),
    question_toml("helps", "ticks", options=["gum", "patch"], epsilon=1, ask_if="often = 3"),
    question_toml("quit", "choice", options=["never", "once", "often"], epsilon=1, ask_if="smokes = yes"),
)


def rows_of(survey: Survey, **options: Any) -> list[EstimateRow]:
    """Published rows of the tally that 50,000 people have on average: half of them smoke, and all of these often."""
    truths = {"smokes": [0.5, 0.5], "often": [0, 0, 0.5, 0.5], "helps": [0.25, 0, 0.5], "quit": [0.5, 0, 0, 0.5]}
    counts = {
        each.id: tuple(round(50_000 * share) for share in design_of(each.mechanism).expected(truths[each.id]))
        for each in survey.questions
    }
    return estimate({None: Tally(50_000, counts)}, survey, **options)


def test_published_rows_have_both_all_and_those_to_whom_it_applies() -> None:
    survey = read_survey(FILTERED)
    rows = rows_of(survey)
    assert len(rows) == survey.rows
    found = {(row.question, row.option, row.statistic): row for row in rows}
    for key, expected in {
        ("often", "3", "share"): 0.5,
        ("often", "3", "among"): 1,
        ("often", "", "mean"): 3,
        ("often", "Does not apply", "share"): 0.5,
        ("helps", "gum", "among"): 0.5,
        ("quit", "never", "among"): 1,
    }.items():
        estimated = found[key].estimate
        assert estimated is not None
        assert abs(estimated - expected) < 0.001
        assert found[key].conf_low <= min(expected, 1 if key[2] != "mean" else 3) <= found[key].conf_high
    assert ("often", "Does not apply", "among") not in found
    assert {row.method for row in rows if row.statistic == "among"} == {"score"}
    wide = {(row.question, row.option): row for row in rows_of(survey, simultaneous=True) if row.statistic == "among"}
    once = found["quit", "once", "among"]
    assert wide["quit", "once"].conf_high - wide["quit", "once"].conf_low > once.conf_high - once.conf_low
    assert wide["quit", "once"].method == "simultaneous score"


def test_rows_say_where_there_is_too_little_to_say() -> None:
    rows = [row for row in estimate({}, read_survey(FILTERED)) if row.statistic == "among"]
    assert {(row.estimate, row.conf_low, row.conf_high, row.flag) for row in rows} == {(None, 0.0, 1.0, None)}
    smokes = Question("smokes", "yes-no", "?", ("no", "yes"), Warner.from_epsilon(1))
    often = Question(
        "often", "choice", "?", ("a", "b", "none"), KAry.from_epsilon(3, 1), ask_if=among("smokes", [(1, 1)], range(2))
    )
    nobody = {"smokes": (30, 20), "often": (10, 10, 30)}
    (flag,) = {
        row.flag
        for row in estimate({None: Tally(50, nobody)}, Survey("T", (smokes, often)))
        if row.statistic == "among"
    }
    assert flag == TOO_FEW


def test_authors_are_told_the_price_and_the_alternative_with_its_own() -> None:
    survey = read_survey(FILTERED)
    asked, price, recommended, instead = filter_sentences(survey.question("often"), survey)
    assert asked.startswith("Asked if smokes = yes; whoever is not asked sends 'Does not apply'")
    assert f"{respondents_among(survey.question('often'), 0.5):,} respondents if it applies to 50%" in price
    assert "one choice of 4 options, those of smokes with those of often" in instead
    assert recommended.startswith("Recommended: the same two questions in one group, smokes and often, with epsilon 2")
    assert "one response to the 4 answers that somebody can give takes " in recommended
    assert respondents_among(survey.question("often"), 0.05) > 50 * respondents_among(survey.question("often"), 0.5)
    # Boxes have none, and nothing is said of who is always asked.
    assert len(filter_sentences(survey.question("helps"), survey)) == 2
    assert filter_sentences(survey.question("smokes"), survey) == []


def test_both_in_one_group_are_what_is_recommended() -> None:
    """What the recommendation promises is what the group has, and less than both questions apart take."""
    apart = read_survey(FILTERED)
    together = read_survey(
        survey_toml(
            "Together",
            question_toml("smokes", "yes-no"),
            question_toml("often", "scale", lo=1, hi=3, ask_if="smokes = yes"),
            epsilon=2,
        )
    )
    promised = filter_sentences(apart.question("often"), apart)[2]
    often = together.question("often")
    assert together.units[0].patterns is not None
    assert f"takes {respondents_among(often, 0.5):,}, {respondents_among(often, 0.2):,}" in promised
    assert respondents_among(often, 0.5) < respondents_among(apart.question("often"), 0.5) / 3
    assert len(filter_sentences(often, together)) == 2, "nothing is recommended to whom has it"
    # Half smoke, and half of these often: all shares, and those among smokers, come back.
    shares = {"smokes": [0.5, 0.5], "often": [0.1, 0.15, 0.25, 0.5]}
    counts = {
        each.id: tuple(round(90_000 * p) for p in design_of(each.mechanism).expected(shares[each.id]))
        for each in together.questions
    }
    found = {
        (row.question, row.option, row.statistic): row for row in estimate({None: Tally(90_000, counts)}, together)
    }
    assert found["often", "3", "among"].estimate == pytest.approx(0.5, abs=1e-3)
    assert found["often", "", "mean"].estimate == pytest.approx(2.3, abs=1e-3)
    assert found["smokes", "yes", "share"].estimate == pytest.approx(0.5, abs=1e-3)


def test_the_price_of_a_mean_among_is_said_too() -> None:
    survey = read_survey(
        survey_toml(
            "Number",
            question_toml("smokes", "yes-no", epsilon=1),
            question_toml("since", "number", lo=0, hi=20, epsilon=2, ask_if="smokes = yes"),
        )
    )
    asked, price = filter_sentences(survey.question("since"), survey)
    assert "sends 'Does not apply' through the same noise" in asked
    assert "\u00b15 % of the range take 1,401 respondents if it applies to 50%" in price

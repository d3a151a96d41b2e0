"""Reports of one response to possible patterns, as researchers analyse them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import ParameterError, read_survey
from deniable_client.device import randomize
from deniable_research.files.comparing import compare
from deniable_research.files.crossing import cross
from deniable_research.files.layout import Layout
from deniable_research.files.regressing import regress
from deniable_research.files.report_table import Table
from deniable_research.simulation.counted_surveys import draw_counts
from deniable_research.simulation.draw import draw_reports, generator_of
from deniable_research.simulation.simulated_misbehaviour import Misbehaviour
from deniable_research.simulation.simulation import Simulation
from deniable_research.simulation.study import Study
from deniable_research.simulation.truth import truth_of
from tools.rig.survey_files import question_toml, survey_toml

SURVEY = read_survey(
    survey_toml(
        "Ever, and how often",
        question_toml("ever", "yes-no"),
        question_toml("often", "choice", options=["few", "many"], ask_if="ever = yes"),
        epsilon=3,
    )
)
PEOPLE = 3000


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Of 3,000 people 1,200 say yes, 900 of them few."""
    dice = random.Random(7)
    lines = ["id,cohort,ever,often"]
    for number in range(PEOPLE):
        answers = {"ever": "no"} if number % 5 > 1 else {"ever": "yes", "often": "few" if number % 20 < 15 else "many"}
        report = randomize(SURVEY, answers, word=lambda: dice.getrandbits(32))
        lines.append(f"{number:032x},,{report.values['ever']},{report.values['often']}")
    path = Path(tmp_path_factory.mktemp("reports")) / "reports.csv"
    path.write_text("\n".join(lines) + "\n")
    return Table.read(path, SURVEY)


def test_the_crosstab_has_what_is_possible_and_0_elsewhere(table: Table) -> None:
    truths = {("no", "Does not apply"): 0.6, ("yes", "few"): 0.3, ("yes", "many"): 0.1}
    rows = list(cross(table, ["ever", "often"]))
    cells = [row for row in rows if row.measure == "joint"]
    assert len(cells) == len(rows) == 6, "no test of independence, because one filters the other"
    for row in cells:
        truth = truths.get((str(row.first_option), str(row.second_option)), 0.0)
        assert row.estimate == pytest.approx(truth, abs=0.04)
        assert row.conf_low is not None
        assert row.conf_high is not None
        assert row.conf_low <= truth <= row.conf_high
    given = {(row.first_option, row.second_option): row for row in cross(table, ["often", "ever"], given="ever")}
    assert given["few", "yes"].estimate == pytest.approx(0.75, abs=0.06)


def test_what_needs_other_answers_together_is_refused_with_a_way_out(table: Table) -> None:
    with pytest.raises(ParameterError, match="its predictors decide it"):
        regress(table, "ever ~ often")
    with pytest.raises(ParameterError, match="ever, often answer with others in one response"):
        Study(SURVEY, "ever ~ often", {}, {}).draw(generator_of(1))


NESTED = read_survey(
    survey_toml(
        "Ever, how often, and whether it helps",
        question_toml("ever", "yes-no"),
        question_toml("often", "choice", options=["few", "some", "many"], ask_if="ever = yes"),
        question_toml("tried", "yes-no", ask_if="often in [some, many]"),
        epsilon=4,
    )
)


@pytest.mark.parametrize("people", [600, 60_000])
def test_surveys_with_one_response_to_patterns_are_simulated(people: int) -> None:
    """Seeded: people one by one, and as counts; estimates have no bias and intervals hold."""
    truth: dict[str, Any] = {"ever": 0.5, "often": {"few": 0.1, "some": 0.3}, "tried": {"yes": 0.3}}
    found = Simulation(NESTED, truth, people).run(repetitions=60)
    truths = {(row.question, row.option): row.truth for row in found if row.statistic == "share"}
    assert truths["often", "Does not apply"] == pytest.approx(0.5)
    assert truths["tried", "Does not apply"] == pytest.approx(0.6)
    assert truths["tried", "no"] == pytest.approx(0.1)
    for row in found:
        assert abs(row.bias) < 4.5 * row.bias_error, row
        assert row.coverage > 0.95 - 4.5 * (0.95 * 0.05 / 60) ** 0.5, row
    assert {row.statistic for row in found} == {"share", "among"}


def test_people_who_misbehave_send_what_somebody_can_answer() -> None:
    kinds = Misbehaviour(noncompliance=0.2, denial=0.2, careless=0.3)
    truths = truth_of(NESTED)
    assert truths[0].together is not None
    reports = draw_reports(truths, 4000, kinds, generator_of(3))
    sent = set(zip(*(each.values.tolist() for each in reports.values()), strict=True))
    assert sent == set(truths[0].together.patterns)
    counted = draw_counts(truths, 400_000, kinds, generator_of(4))
    many = draw_reports(truths, 400_000, kinds, generator_of(5))
    for truth in truths:
        name = truth.question.id
        shares = np.bincount(many[name].values, minlength=len(truth.shares)) / 400_000
        # Five standard errors of the difference of two counts, at most.
        assert np.array(counted[name].counts) / 400_000 == pytest.approx(shares, abs=5 * 0.0011)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"often": [0.1, 0.1, 0.1, 0.7]}, "must leave 0.5 for 'Does not apply'"),
        ({"tried": {"yes": 0.9}}, "must add up to at most 1"),
        ({"ever": 0, "often": {"few": 0.5}}, "must add up to at most 1"),
    ],
)
def test_truths_that_filters_rule_out_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        truth_of(NESTED, given)


@pytest.mark.simulation
def test_coefficients_of_options_are_those_among_whom_it_applies() -> None:
    """Seeded: who is asked depends on age, and so does what they say; each has its own coefficients.

    Of a multinomial model the log odds of two options are linear, whatever the others are: those of many against few
    are the logistic regression among those to whom the question applies.
    """
    survey = read_survey(
        survey_toml(
            "Two",
            question_toml("ever", "yes-no", epsilon=4),
            question_toml("often", "choice", options=["few", "many"], epsilon=4, ask_if="ever = yes"),
        )
    )
    generator = np.random.default_rng(8)
    dice = random.Random(9)
    old = generator.integers(0, 2, 4000)
    asked = generator.random(4000) < np.where(old, 0.8, 0.4)
    many = generator.random(4000) < np.where(old, 0.6, 0.3)
    values = [
        randomize(
            survey,
            {"ever": "yes", "often": "many" if m else "few"} if a else {"ever": "no"},
            word=lambda: dice.getrandbits(32),
        ).values
        for a, m in zip(asked, many, strict=True)
    ]
    columns = {name: tuple(str(each[name]) for each in values) for name in ("ever", "often")}
    layout = Layout.of_survey(survey)
    table = Table.of({**columns, "old": tuple(map(str, old.tolist()))}, layout)
    slope = next(
        row for row in regress(table, "often ~ old").tidy() if row.term.startswith("many") and "old" in row.term
    )
    expected = np.log(0.6 / 0.4) - np.log(0.3 / 0.7)
    assert slope.estimate == pytest.approx(expected, abs=0.45)
    assert slope.conf_low < expected < slope.conf_high


def test_cohorts_are_compared_among_those_to_whom_it_applies(tmp_path: Path) -> None:
    """Of the first cohort 30 % of those who are asked say many and know of 10, of the second 70 % and 30."""
    survey = read_survey(
        survey_toml(
            "Two cohorts",
            question_toml("ever", "yes-no", epsilon=3),
            question_toml("often", "choice", options=["few", "many"], epsilon=3, ask_if="ever = yes"),
            question_toml("since", "number", lo=0, hi=40, epsilon=3, ask_if="ever = yes"),
            cohorts=["a", "b"],
        )
    )
    dice = random.Random(11)
    lines = ["id,cohort,ever,often,since"]
    for number in range(6000):
        cohort, few = ("a", 7) if number % 2 else ("b", 3)
        answers: dict[str, str | int] = {"ever": "no"}
        if number % 4 > 1:
            often = "few" if number // 4 % 10 < few else "many"
            answers = {"ever": "yes", "often": often, "since": 10 if cohort == "a" else 30}
        values = randomize(survey, answers, cohort, word=lambda: dice.getrandbits(32)).values
        lines.append(f"{number:032x},{cohort},{values['ever']},{values['often']},{values['since']}")
    path = tmp_path / "reports.csv"
    path.write_text("\n".join(lines) + "\n")
    table = Table.read(path, survey)
    among = {row.option: row for row in compare(table, "often", "cohort") if row.measure == "among difference"}
    assert set(among) == {"few", "many"}
    assert among["many"].estimate == pytest.approx(-0.4, abs=0.1)
    assert among["many"].conf_low is not None
    assert among["many"].conf_low < -0.4 < (among["many"].conf_high or 0)
    (mean,) = (row for row in compare(table, "since", "cohort") if row.measure == "mean difference")
    assert mean.estimate == pytest.approx(-20, abs=3)
    assert mean.method == "mover"

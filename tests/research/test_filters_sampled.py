"""Shares and means among those to whom a question applies, of files whose people were drawn by a design.

The errors are held to the influence of each person, written out, which goes through the design by another way; where
everybody was drawn alike, to the errors of people drawn one by one.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from deniable import Survey, read_survey
from deniable_client.device import randomize
from deniable_commands.main import main
from deniable_research.files import SamplingColumns, Table, compare, estimate_shares
from deniable_research.files.among_estimates import shares_among_of
from deniable_research.files.estimating import cautions
from deniable_statistics.estimates.among import TOO_FEW
from deniable_statistics.sampling import Domain, Truths
from tools.rig.survey_files import question_toml, survey_toml

TOML = survey_toml(
    "Smoking at schools",
    question_toml("smokes", "yes-no", epsilon=3),
    question_toml("often", "choice", options=["few", "many"], epsilon=3, ask_if="smokes = yes"),
    question_toml("since", "number", lo=0, hi=10, epsilon=3, ask_if="smokes = yes"),
    question_toml("rated", "scale", lo=1, hi=3, epsilon=3, ask_if="smokes = yes"),
    question_toml("helps", "ticks", options=["gum", "patch", "talk"], epsilon=3, ask_if="smokes = yes"),
)
SCHOOLS, PUPILS = 24, 30


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(TOML)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory, survey: Survey) -> Path:
    """Pupils of 24 schools in two strata; in half of the schools 80 % smoke, in the others 40 %."""
    dice = random.Random(3)
    people = np.random.default_rng(4)
    out = io.StringIO()
    names = [each.id for each in survey.questions]
    replicates = [f"r{place}" for place in range(SCHOOLS)]
    rows = csv.writer(out)
    rows.writerow(["id", "cohort", *names, "school", "stratum", "w", "one", "sex", "schools", *replicates])
    for number in range(SCHOOLS * PUPILS):
        school = number // PUPILS
        answers: dict[str, Any] = {"smokes": "no"}
        if people.random() < (0.8 if school % 2 else 0.4):
            often = "few" if people.random() < (0.9 if school % 3 else 0.3) else "many"
            ticks = ["gum", "patch"] if people.random() < 0.5 else ["talk"]
            answers = {
                "smokes": "yes",
                "often": often,
                "since": int(people.integers(0, 11)),
                "rated": "13"[number % 3 > 1],
            }
            answers["helps"] = ticks
        values = randomize(survey, answers, word=lambda: dice.getrandbits(32)).values
        weight = 1 + school % 4
        left_out = [0 if place == school else weight * SCHOOLS / (SCHOOLS - 1) for place in range(SCHOOLS)]
        place = [school, school % 2, weight, 1, "fm"[number % 2], 40]
        rows.writerow([f"{number:032x}", "", *(values[name] for name in names), *place, *left_out])
    file = Path(tmp_path_factory.mktemp("schools")) / "reports.csv"
    file.write_text(out.getvalue())
    return file


def table_of(path: Path, survey: Survey, weights: str = "w", **sampling: Any) -> Table:
    plain = Table.read(path, survey)
    layout = replace(plain.layout, weights=weights, sampling=SamplingColumns(**sampling))
    return Table.read(path, layout)


DESIGNS: Mapping[str, Mapping[str, Any]] = {
    "strata and clusters": {"strata": "stratum", "cluster": "school"},
    "finite population": {"strata": "stratum", "cluster": "school", "population": "schools"},
    "margins": {"cluster": "school", "margins": {"sex": {"f": 1000.0, "m": 800.0}}},
    "replicates": {"replicates": tuple(f"r{place}" for place in range(SCHOOLS)), "replicate_method": "jackknife"},
}


def by_influence(table: Table, name: str, people: NDArray[np.bool_]) -> tuple[float, float]:
    """A share of the first option and its error: the influence of each person on the ratio, through the design."""
    whole = table.sampling
    assert whole is not None
    item = table.item(name)
    domain = Domain(whole, people)
    scores, weights = item.scores[people], domain.weights
    applies, first = 1 - scores[:, -1], scores[:, 0]
    total = weights @ applies
    ratio = weights @ first / total
    # d r / d w_i, and what it is without the device's chance: (1 - r, -r, ..., 0) over the total.
    certain = np.append(np.full(len(item.options) - 1, -ratio), 0.0)
    certain[0] += 1
    influence = ((first - ratio * applies) / total)[:, None]
    variance = domain.covariance(influence, Truths(scores, certain[:, None] / total))
    return float(ratio), float(np.sqrt(variance[0, 0]))


@pytest.mark.parametrize("kind", DESIGNS)
@pytest.mark.parametrize("name", ["often", "rated"])
def test_errors_are_those_of_the_influence_of_each_person(path: Path, survey: Survey, kind: str, name: str) -> None:
    table = table_of(path, survey, **DESIGNS[kind])
    everybody = np.ones(len(table), dtype=bool)
    girls = np.arange(len(table)) % 2 == 0
    for people in (everybody, girls):
        (found,) = shares_among_of(table, table.layout.question(name), [people]).groups
        share, error = by_influence(table, name, people)
        assert found.share[0] == pytest.approx(share)
        # Replicates have the ratio of each set of weights in place of its linear part.
        assert found.std_error[0] == pytest.approx(error, rel=0.05 if kind == "replicates" else 1e-9)
        low, high = found.option_interval(0)
        assert low < share < high
        assert high - low == pytest.approx(2 * 2.07 * error, rel=0.15)


def test_without_strata_and_clusters_they_are_those_of_people_drawn_one_by_one(path: Path, survey: Survey) -> None:
    plain, alone = Table.read(path, survey), table_of(path, survey, "one", cluster="id")
    for name in ("often", "since", "rated", "helps"):
        for one, other in zip(estimate_shares(plain, [name]), estimate_shares(alone, [name]), strict=True):
            if one.statistic not in ("among", "mean"):
                continue
            assert one.std_error is not None
            if one.std_error < 0.03:
                continue  # of an option that nobody chose, whose few reports vary much
            assert (one.option, one.n) == (other.option, other.n)
            assert one.estimate == pytest.approx(other.estimate)
            # The spread of these people beside the expected one of any.
            assert one.std_error == pytest.approx(other.std_error, rel=0.1)
            assert (one.conf_low, one.conf_high) == pytest.approx((other.conf_low, other.conf_high), rel=0.05, abs=0.01)


def test_differences_of_cohorts_know_that_they_share_schools(path: Path, survey: Survey) -> None:
    table = table_of(path, survey, strata="stratum", cluster="school")
    rows = {(row.measure, row.option): row for row in compare(table, "often", "sex")}
    row = rows["among difference", "few"]
    question = table.layout.question("often")
    sexes = [people for _, people in table.cohorts("sex")]
    groups = shares_among_of(table, question, sexes)
    first, second = (each.std_error[0] for each in groups.groups)
    together = groups.correlation(0, 0, 1)
    assert together > 0.1, "girls and boys of a school are alike"
    assert row.std_error == pytest.approx(np.sqrt(first**2 + second**2 - 2 * together * first * second))
    assert row.df_error == 22
    assert row.estimate is not None
    assert row.conf_low is not None
    assert row.conf_high is not None
    assert row.conf_low < row.estimate < row.conf_high
    (mean,) = (each for each in compare(table, "since", "sex") if each.measure == "mean difference")
    assert mean.df_error == 22
    # Schools of the two strata are different ones.
    apart = shares_among_of(table, question, [people for _, people in table.cohorts("stratum")])
    assert apart.correlation(0, 0, 1) == pytest.approx(0, abs=1e-9)


def test_the_command_has_them_with_their_degrees_of_freedom(path: Path, survey: Survey, tmp_path: Path) -> None:
    document = tmp_path / "survey.toml"
    document.write_text(TOML if isinstance(TOML, str) else TOML.decode())
    about = ["--survey", str(document), "--weights", "w", "--strata", "stratum", "--cluster", "school"]

    def ok(*arguments: str) -> str:
        found = CliRunner().invoke(main, ["analyze", *arguments])
        assert found.exit_code == 0, found.output
        return found.stdout

    rows = [
        row
        for row in csv.DictReader(io.StringIO(ok("shares", str(path), *about, "--format", "csv")))
        if row["statistic"] in ("among", "mean")
    ]
    assert {row["question"] for row in rows} == {"often", "since", "rated", "helps"}
    assert {row["df"] for row in rows} == {"22"}
    assert all(float(row["design_effect"]) > 0 for row in rows)
    assert {row["n"] for row in rows if row["question"] != "helps"} == {str(SCHOOLS * PUPILS)}
    text = ok("compare", str(path), *about, "often", "--by", "sex")
    assert "of whom it applies to" in text
    assert not cautions(table_of(path, survey, strata="stratum", cluster="school"), ["often"])


def test_where_it_may_apply_to_nobody_nothing_is_said(path: Path, survey: Survey) -> None:
    """One school of which hardly anybody smokes, and one more: two schools know too little of anything."""
    table = table_of(path, survey, cluster="school")
    two = np.arange(len(table)) < 2 * PUPILS
    rows = estimate_shares(table.where(two), ["often", "since"])
    said = [row for row in rows if row.statistic in ("among", "mean")]
    assert said
    assert {(row.estimate, row.flag) for row in said} == {(None, TOO_FEW)}
    assert {(row.conf_low, row.conf_high) for row in said} == {(0.0, 1.0), (0.0, 10.0)}

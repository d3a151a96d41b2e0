"""Studies with covariates and effects, and the power of what analyses them."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, chi2

from deniable import ParameterError, Survey, read_survey
from deniable_research.files import regress
from deniable_research.regression import Fit
from deniable_research.simulation import Misbehaviour, generator_of
from deniable_research.simulation.nested import NestedFormula
from deniable_research.simulation.power import planning_curve, simulated_power
from deniable_research.simulation.study import Covariate, Study
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml

SURVEY = survey_toml(
    "T",
    question_toml("affair", "yes-no", epsilon=4),
    question_toml("religious", "choice", "R?", options=["not", "mildly", "strongly"], epsilon=3),
    question_toml("drugs", "ticks", "D?", options=["a", "b"], epsilon=2),
    cohorts=["2020", "2022", "2024"],
)
NOISY = survey_toml("T", question_toml("affair", "yes-no", epsilon=0.5), question_toml("drugs", "yes-no", epsilon=0.5))
AGE = {"age": Covariate.parse("old:0.4,young:0.6")}
SIMULATE = CommandLine("simulate")


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(SURVEY)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY, encoding="utf-8")
    return path


def study(
    survey: Survey, formula: str = "affair ~ age", people: int = 800, effects: dict[str, float] | None = None
) -> Study:
    return Study(survey, formula, effects or {"age[T.young]": 1.0}, AGE, {"affair": 0.3}, people)


def test_the_intercept_makes_the_share_that_was_asked_for(survey: Survey) -> None:
    found = study(survey)
    a, b = found.coefficients["Intercept"], found.coefficients["age[T.young]"]
    assert b == 1
    assert 0.4 * expit(a) + 0.6 * expit(a + b) == pytest.approx(0.3, abs=1e-9)
    shares = found.true_shares("age")
    assert shares["old"] == pytest.approx((0.4, expit(a)))
    assert shares["young"] == pytest.approx((0.6, expit(a + b)))


def test_the_share_of_each_group_that_effects_imply_stands_below_the_power(file: Path) -> None:
    """The expected shares are those of R:

    > effect <- c(0, .5, -.8873)
    > a <- uniroot(function(a) mean(plogis(a + effect)) - .15, c(-9, 9), tol = 1e-12)$root
    > round(100 * plogis(a + effect), 1)
    [1] 15.2 22.9  6.9
    """
    effects = ["--effect", "C(cohort)[T.2022.0]=0.5", "--effect", "C(cohort)[T.2024.0]=-0.8873"]
    asked = [file, "--truth", "affair=0.15", "--formula", "affair ~ C(cohort)", *effects, "--repetitions", 2]
    said = SIMULATE.ok(*asked)
    sentence = "True shares (affair: yes): --truth is that of all people; those of groups follow from it and --effect."
    _, _, below = said.partition(f"\n\n{sentence}\n")
    _, *rows = below.splitlines()
    assert [" ".join(row.split()) for row in rows] == [
        "all people 100.0 % 15.0 %",
        "cohort: 2020 33.3 % 15.2 %",
        "cohort: 2022 33.3 % 22.9 %",
        "cohort: 2024 33.3 % 6.9 %",
    ]
    everybody, *groups = json.loads(SIMULATE.ok(*asked, "--format", "json"))["implied_shares"]
    assert everybody == {"column": None, "label": None, "people": 1.0, "share": pytest.approx(0.15)}
    assert [each["label"] for each in groups] == ["2020", "2022", "2024"]
    assert math.fsum(each["people"] * each["share"] for each in groups) == pytest.approx(0.15)


def test_shares_follow_from_effects_alone_without_an_intercept(survey: Survey, file: Path) -> None:
    effects = {"C(cohort)[2020.0]": -1.0, "C(cohort)[2022.0]": 0.0, "C(cohort)[2024.0]": 1.0}
    found = Study(survey, "affair ~ 0 + C(cohort)", effects, {}, {"affair": 0.15})
    assert [each.share for each in found.implied_shares[1:]] == pytest.approx(expit([-1, 0, 1]))
    asked = [part for term, effect in effects.items() for part in ("--effect", f"{term}={effect}")]
    said = SIMULATE.ok(file, "--formula", found.formula, *asked, "--repetitions", 2)
    assert "True shares (affair: yes): they follow from --effect alone, because the formula has no intercept." in said


def test_numbers_have_no_shares_of_groups(survey: Survey) -> None:
    numbers = Study(survey, "age ~ religious", {}, {"age": Covariate(mean=40, spread=10)})
    assert numbers.implied_shares == []
    assert [each.column for each in study(survey, "affair ~ age").implied_shares] == [None, "age", "age"]
    number = Study(survey, "affair ~ income", {}, {"income": Covariate()})
    assert [each.column for each in number.implied_shares] == [None]


def test_samples_are_those_of_the_study(survey: Survey) -> None:
    """40,000 people: bounds of five standard errors, which one seed in a million would break."""
    found = study(survey, "affair ~ age + C(cohort) + religious", 40_000, effects={"religious[T.strongly]": 1.0})
    table = found.draw(generator_of(3))
    assert list(table.columns["age"]).count("old") / 40_000 == pytest.approx(0.4, abs=5 * math.sqrt(0.24 / 40_000))
    assert sorted(map(str, set(table.columns["cohort"]))) == ["2020", "2022", "2024"]
    estimate = table.estimate("affair")
    assert estimate.share[1] == pytest.approx(0.3, abs=5 * estimate.std_error[1])
    religious = table.estimate("religious")
    assert religious.share == pytest.approx((1 / 3,) * 3, abs=5 * max(religious.std_error))


@pytest.mark.simulation
@pytest.mark.long
def test_regressions_are_unbiased_and_cover(survey: Survey) -> None:
    """120 samples of one seed."""
    found = simulated_power(study(survey), 120)
    assert found.failures == {}
    for row in found.rows:
        assert (row.statistic, row.repetitions) == ("coefficient", 120)
        assert abs(row.bias) < 4 * row.bias_error + 0.02  # of the logistic model itself
        assert row.coverage > 0.95 - 4 * math.sqrt(0.95 * 0.05 / 120)
        assert row.stated_se == pytest.approx(row.empirical_se, abs=4 * row.empirical_se_error)
    assert found.rows[1].rejected == pytest.approx(1, abs=0.05)


@pytest.mark.simulation
@pytest.mark.long
def test_both_sides_may_be_randomised(survey: Survey) -> None:
    """60 samples of one seed: the coefficients of the truth, and no figures of how often truths are."""
    effects = {"religious[T.strongly]": 1.0, "religious[T.mildly]": 0.0}
    found = simulated_power(Study(survey, "affair ~ religious", effects, {}, {"affair": 0.3}, 1500), 60)
    assert found.failures == {}
    assert [row.option for row in found.rows] == ["Intercept", "religious[T.mildly]", "religious[T.strongly]"]
    for row in found.rows:
        assert abs(row.bias) < 4.5 * row.bias_error + 0.02
        assert row.coverage > 0.95 - 4 * math.sqrt(0.95 * 0.05 / 60)


@pytest.mark.simulation
@pytest.mark.long
def test_no_effect_is_found_at_the_level(survey: Survey) -> None:
    """200 samples: more than 26 rejections at .05 happen once in a hundred thousand times."""
    row = simulated_power(study(survey, people=300, effects={"age[T.young]": 0.0}), 200).rows[1]
    assert row.rejected is not None
    assert row.rejected <= 26 / 200


@pytest.mark.simulation
@pytest.mark.long
def test_more_people_and_more_epsilon_find_more(survey: Survey) -> None:
    found = planning_curve(
        study(survey, effects={"age[T.young]": 0.6}), {"respondents": [150, 1500], "epsilon": [0.7, 4]}, 40, 1
    )
    rows = [each.rows[1] for each in found]
    assert [(row.epsilon, row.respondents) for row in rows] == [(0.7, 150), (0.7, 1500), (4, 150), (4, 1500)]
    few, many, less, most = (row.rejected or 0.0 for row in rows)
    assert few < 0.3
    assert most > 0.9
    assert few <= many <= most
    assert few <= less <= most


@pytest.mark.long
@pytest.mark.simulation
def test_noncompliance_takes_power_and_biases(survey: Survey) -> None:
    careful = study(survey, people=500)
    careless = Study(
        survey, "affair ~ age", {"age[T.young]": 1.0}, AGE, {"affair": 0.3}, 500, Misbehaviour(careless=0.4)
    )
    good, bad = (simulated_power(each, 60).rows[1] for each in (careful, careless))
    assert bad.bias < good.bias - 0.2


@pytest.mark.long
@pytest.mark.simulation
def test_processes_change_nothing(survey: Survey) -> None:
    small = study(survey, people=100)
    assert simulated_power(small, 6, 5, processes=2) == simulated_power(small, 6, 5)
    # Rows of tests have no truth.
    for wanted in ({"against": [f"{small.outcome} ~ 1"]}, {"analysis": "crosstab"}):
        alone, beside = (simulated_power(small, 6, 5, processes=each, **wanted) for each in (1, 2))
        assert [repr(row) for row in beside.rows] == [repr(row) for row in alone.rows]
        assert beside.rows[-1].statistic in ("likelihood ratio", "chi-squared")
    assert simulated_power(small, 6, 6) != simulated_power(small, 6, 5)


@pytest.mark.long
@pytest.mark.simulation
def test_crosstabs_know_their_true_cells(survey: Survey) -> None:
    found = simulated_power(study(survey, people=1500), 80, analysis="crosstab")
    cells = [row for row in found.rows if row.statistic == "share"]
    assert [row.option for row in cells] == ["no, old", "no, young", "yes, old", "yes, young"]
    assert math.fsum(row.truth for row in cells) == pytest.approx(1)
    for row in cells:
        assert abs(row.bias) < 4 * row.bias_error
        assert row.coverage > 0.85
    (test,) = [row for row in found.rows if row.statistic == "chi-squared"]
    assert test.rejected == pytest.approx(1, abs=0.05)
    assert math.isnan(test.coverage)


@pytest.mark.simulation
def test_trends_know_their_slope(survey: Survey) -> None:
    line = Study(survey, "affair ~ cohort", {"cohort": 0.3}, {}, {"affair": 0.3}, 2000)
    assert line.terms == ("Intercept", "cohort")
    (row,) = simulated_power(line, 80, analysis="trend").rows
    shares = [share for _, share in line.true_shares("cohort").values()]
    assert row.truth == pytest.approx((shares[2] - shares[0]) / 4, rel=0.05)
    assert abs(row.bias) < 4 * row.bias_error
    assert row.rejected is not None
    assert row.rejected > 0.9


@pytest.mark.simulation
def test_a_number_may_depend_on_an_answer(survey: Survey) -> None:
    income = {"income": Covariate.parse("normal:40:10"), "years": Covariate.parse("normal:0:2")}
    found = Study(
        survey, "income ~ affair + years", {"affair[T.yes]": -5.0, "years": 0.5}, income, {"affair": 0.3}, 800
    )
    assert found.coefficients["Intercept"] == pytest.approx(41.5)
    rows = {row.option: row for row in simulated_power(found, 60).rows}
    assert set(rows) == {"Intercept", "affair[T.yes]", "years"}
    for row in rows.values():
        assert abs(row.bias) < 4 * row.bias_error
    assert isinstance(regress(found.draw(generator_of(1)), found.formula).n, int)


@pytest.mark.parametrize(
    ("formula", "effects", "message"),
    [
        ("affair ~ age", {"age": 1.0}, r"effect: must be of a term of the formula \(age\[T.young\]\), got 'age'"),
        ("affair ~ age", {"Intercept": 1.0}, "effect: must be of a term"),
        ("affair ~ age", {"age[T.young]": math.nan}, "effect: must be a number"),
        ("affair ~ Age", {}, "formula: Age must be a question or a covariate"),
        ("affair ~ age.mean()", {}, "formula: must not hold age.mean()"),
        ("age ~ affair", {}, "age must be a question or numbers"),
        (
            "religious ~ age",
            {},
            "religious must have two answers to be simulated on the left, got 3; --compare has the power",
        ),
        ("affair ~ drugs", {}, "drugs must be a question of which a person has one answer"),
        ("affair", {}, "formula: must be like"),
        ("affair ~ age +", {}, "formula"),
    ],
)
def test_what_does_not_fit_is_refused(survey: Survey, formula: str, effects: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Study(survey, formula, effects, AGE).coefficients  # noqa: B018 - computing is what refuses


def test_what_the_analysis_refuses_is_refused(survey: Survey) -> None:
    with pytest.raises(ParameterError, match="formula"):
        simulated_power(Study(survey, "affair ~ 0 + affair", {}, {}, None, 50), 2)
    with pytest.raises(ParameterError, match="analysis: must be one of"):
        simulated_power(study(survey), 2, analysis="Regress")
    with pytest.raises(ParameterError, match="repetitions: must be"):
        simulated_power(study(survey), 1)
    with pytest.raises(ParameterError, match="numbers as labels"):
        simulated_power(study(survey), 2, analysis="trend")
    with pytest.raises(ParameterError, match="one column for a crosstab"):
        simulated_power(study(survey, "affair ~ age + cohort"), 2, analysis="crosstab")
    with pytest.raises(ParameterError, match="above 0 and below 1"):
        simulated_power(Study(survey, "affair ~ age", {}, AGE, {"affair": 0}), 2)


@pytest.mark.parametrize(
    "text", ["young:0.6,old:0.5", "a,a", "a:1,b:0", "normal:40", "normal:a:b", "normal:0:0", "a:x"]
)
def test_covariates_are_checked(text: str) -> None:
    with pytest.raises(ParameterError, match="covariate: must"):
        Covariate.parse(text)


@pytest.mark.slow
def test_one_person_is_refused_or_counted_and_nothing_is_lost(survey: Survey) -> None:
    with pytest.raises(ParameterError):
        simulated_power(study(survey, people=1), 3)
    few = simulated_power(study(survey, people=4), 6)
    assert sum(few.failures.values()) + max(row.repetitions for row in few.rows) <= 6


@pytest.mark.slow
def test_the_command_prints_power(file: Path, tmp_path: Path) -> None:
    options = (
        *(str(file), "--truth", "affair=0.3", "--formula", "affair ~ age", "--covariate", "age=old,young"),
        *("--effect", "age[T.young]=1", "--repetitions", "4", "--respondents", "300"),
    )
    said = SIMULATE.ok(*options)
    assert "age[T.young]" in said
    # A share of n samples has a standard error of at most sqrt(1/4 / n).
    assert "the power where there is an effect; its Monte Carlo standard error is at most 25.0 points." in said
    rows = list(csv.DictReader(io.StringIO(SIMULATE.ok(*options, "--over", "respondents=200,400", "--format", "csv"))))
    assert [row["respondents"] for row in rows] == ["200", "200", "400", "400"]
    picture = tmp_path / "p.svg"
    document = json.loads(SIMULATE.ok(*options, "--over", "epsilon=1,3", "--format", "json", "--plot", str(picture)))
    assert [each["epsilon"] for each in document["figures"]] == [1, 1, 3, 3]
    assert "power: age[T.young]" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--effect", "age=1"), "go with --formula"),
        (("--formula", "affair ~ age", "--effect", "age"), "must be like"),
        (("--formula", "affair ~ age", "--effect", "age=big"), "must be a number"),
        (("--formula", "affair ~ age", "--over", "people=3"), "over respondents or epsilon"),
        (("--formula", "affair ~ age", "--over", "respondents=1.5"), "integers of at least 1"),
        (("--formula", "affair ~ age", "--split"), "do not go with --formula"),
        (("--compare", "affair=0.4", "--over", "respondents=500"), "--compare is for one number of people"),
        (("--compare", "affair=0.4", "--over", "respondents=500", "--formula", "affair ~ age"), "'deniable plan"),
        (("--compare", "affair=0.4", "--formula", "affair ~ age"), "--compare does not go with --formula"),
        (("--formula", "affair ~ cohort", "--repetitions", "1000000000"), "repetitions: must be an integer in"),
        (("--formula", "affair ~ cohort", "--over", "respondents="), "must be like epsilon=1,2,3"),
        (("--formula", "affair ~ age"), "age must be a question or a covariate"),
        (("--formula", "affair ~ cohort", "--over", "epsilon=-1", "--repetitions", "2"), "epsilon"),
    ],
)
def test_the_command_refuses(file: Path, options: tuple[str, ...], message: str) -> None:
    assert message in " ".join(SIMULATE.refused(str(file), *options).split())


@pytest.mark.slow
def test_draws_use_every_level_that_the_study_has(survey: Survey) -> None:
    rare = Study(
        survey,
        "affair ~ age",
        {"age[T.c]": 1.0},
        {"age": Covariate.parse("a:0.5,b:0.499,c:0.001")},
        {"affair": 0.3},
        60,
    )
    assert rare.terms == ("Intercept", "age[T.b]", "age[T.c]")
    found = simulated_power(rare, 20)
    assert max(row.repetitions for row in found.rows) == 20 - sum(found.failures.values())
    assert np.isfinite([row.bias for row in found.rows]).all()


# --- the prior under which a regression estimates


def test_a_prior_is_said_with_the_number_of_its_samples_and_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "noisy.toml"
    path.write_text(NOISY, encoding="utf-8")
    asked = [path, "--formula", "affair ~ drugs", "--effect", "drugs[T.yes]=1.5", "--respondents", 400]
    asked += ["--repetitions", 4]
    study = Study(read_survey(NOISY), "affair ~ drugs", {"drugs[T.yes]": 1.5}, {}, respondents=400)
    seeds = np.random.SeedSequence(1).generate_state(4, np.uint64)
    fits = [regress(study.draw(generator_of(int(seed))), study.formula) for seed in seeds]
    under = sum(isinstance(fit, Fit) and fit.penalty is not None for fit in fits)
    assert 0 < under < 4  # or another seed shows nothing
    result = SIMULATE.run(*asked)
    assert f"in {under} sample{'s' if under > 1 else ''} of 4 the estimates use a Cauchy prior" in result.stderr
    assert "--penalty none fits without it" in result.stderr
    assert "Spread: standard deviation of the estimates; stated: root mean square" in result.stdout
    header = result.stdout.splitlines()[0].split()
    assert header.index("Stated") == header.index("Spread") + 1
    document = json.loads(SIMULATE.ok(*asked, "--format", "json"))
    assert document["priors"] == [{"the estimates use a Cauchy prior": under}]
    spread = np.std([fit.params[fit.terms.index("drugs[T.yes]")] for fit in fits], ddof=1)
    (effect,) = (row for row in document["figures"] if row["option"] == "drugs[T.yes]")
    assert effect["under_prior"] == under / 4
    assert effect["empirical_se"] == pytest.approx(spread)
    (row, _) = csv.DictReader(io.StringIO(SIMULATE.ok(*asked, "--format", "csv")))
    assert float(row["under_prior"]) == under / 4
    without = SIMULATE.run(*asked, "--penalty", "none", "--format", "json")
    document = json.loads(without.stdout)
    assert document["priors"] == [{}]
    assert "Cauchy" not in without.stderr
    for row in document["figures"]:
        assert math.isfinite(row["stated_se"])
        assert row["repetitions"] == 4 - under


def test_a_prior_is_chosen_for_a_regression_alone(survey: Survey, file: Path) -> None:
    with pytest.raises(ParameterError, match="penalty: must be auto for a crosstab, which has no prior, got none"):
        simulated_power(study(survey), 2, analysis="crosstab", penalty=None)
    assert "--penalty, --against and --over go with --formula" in SIMULATE.refused(file, "--penalty", "none")


# --- the power of several terms together, by a smaller formula

JOB = {"job": Covariate.parse("a:0.4,b:0.3,c:0.3")}
LARGER, SMALLER = "affair ~ job + C(cohort)", "affair ~ C(cohort)"


def of_job(survey: Survey, effect: float = 0.0, people: int = 600) -> Study:
    return Study(survey, LARGER, {"job[T.c]": effect, "C(cohort)[T.2024.0]": 0.7}, JOB, {"affair": 0.35}, people)


@pytest.mark.simulation
@pytest.mark.long
def test_the_test_against_a_true_smaller_formula_rejects_at_the_level(survey: Survey) -> None:
    """400 samples of one seed: rejections are binomial, and 2 in a million counts are outside these bounds."""
    found = simulated_power(of_job(survey), 400, against=[SMALLER])
    assert found.failures == {}
    (nested,) = found.against
    assert (nested.terms, nested.df, nested.is_null) == (("job[T.b]", "job[T.c]"), 2, True)
    rejections = round(400 * (found.rows[-1].rejected or 0))
    assert binom.ppf(1e-6, 400, 0.05) <= rejections <= binom.isf(1e-6, 400, 0.05)


@pytest.mark.slow
def test_several_terms_have_a_power_together(survey: Survey) -> None:
    """40 samples of one seed; each mean of the statistic has its Monte Carlo error."""
    smaller = [SMALLER, "affair ~ job"]
    null, real = (simulated_power(of_job(survey, effect), 40, against=smaller) for effect in (0, -1.5))
    assert [each.is_null for each in null.against] == [True, False]
    assert [each.is_null for each in real.against] == [False, False]
    *_, job, cohort = null.rows
    assert (job.option, job.statistic, job.test) == (f"against {SMALLER}", "likelihood ratio", f"against {SMALLER}")
    # Chi-squared with 2 degrees of freedom has the mean 2 and the variance 4.
    assert job.mean_estimate == pytest.approx(2, abs=5 * math.sqrt(4 / 40))
    assert (job.rejected or 0) <= binom.isf(1e-6, 40, 0.05) / 40
    assert job.rejected_error == pytest.approx(math.sqrt((job.rejected or 0) * (1 - (job.rejected or 0)) / 40))
    assert math.isnan(job.truth)
    assert math.isnan(job.coverage)
    assert (real.rows[-2].rejected or 0) > 0.8
    assert cohort.repetitions == 40


def test_the_test_of_a_sample_is_that_of_analyze_regress(survey: Survey, file: Path, tmp_path: Path) -> None:
    """The samples of one simulation, each written to a file that the command analyses."""
    asked = of_job(survey, -0.7)
    seeds = [int(each) for each in np.random.SeedSequence(1).generate_state(2, np.uint64)]
    statistics = []
    for seed in seeds:
        table = asked.draw(generator_of(seed))
        columns = {name: table.columns[name] for name in ("affair", "job", "cohort")}
        lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        (tmp_path / "sample.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        said = CommandLine("analyze").ok(
            *("regress", str(tmp_path / "sample.csv"), LARGER, "--survey", str(file)),
            *("--column", "affair=affair"),
            *("--against", SMALLER, "--format", "json"),
        )
        _, smaller = json.loads(said)["models"]
        assert smaller["df"] == 2
        statistics.append(smaller["statistic"])
    row = simulated_power(asked, 2, against=[SMALLER]).rows[-1]
    assert row.mean_estimate == pytest.approx(sum(statistics) / 2, abs=1e-6)
    assert row.rejected == sum(each > chi2.isf(0.05, 2) for each in statistics) / 2


def test_a_prior_of_one_fit_is_also_that_of_the_other() -> None:
    """Some of the samples have separation: each is tested, with a prior in both fits or in neither."""
    few = Study(read_survey(NOISY), "affair ~ drugs", {"drugs[T.yes]": 1.5}, {}, respondents=400)
    found = simulated_power(few, 4, against=["affair ~ 1"])
    row = found.rows[-1]
    assert 0 < sum(found.priors.values()) < 4  # or another seed shows nothing
    assert (found.failures, row.repetitions) == ({}, 4)
    plain = simulated_power(few, 4, penalty=None, against=["affair ~ 1"])
    assert plain.rows[-1].repetitions == 4
    assert plain.rows[-1].mean_estimate != row.mean_estimate


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (LARGER, "against: must be a smaller formula, whose terms are among those of affair ~ job"),
        ("affair ~ 0 + job + C(cohort)", "against: must be a smaller formula"),
        ("affair ~ job * C(cohort)", "against: must be a smaller formula"),
        ("affair ~ C(cohort, Treatment(2022))", None),
        ("religious ~ job", "against: must have the left side of the formula, affair, got religious"),
        ("affair ~ age", r"against: must name variables of the formula \(job, cohort\), got age"),
        ("affair", "formula: must be like"),
    ],
)
def test_a_formula_that_is_not_smaller_is_refused(survey: Survey, formula: str, message: str | None) -> None:
    if message is None:
        assert NestedFormula.of(of_job(survey), formula).df == 2  # the same model of cohorts, otherwise coded
        return
    with pytest.raises(ParameterError, match=message):
        simulated_power(of_job(survey), 2, against=[formula])


def test_smaller_formulas_go_with_regressions_of_questions(survey: Survey, file: Path) -> None:
    with pytest.raises(ParameterError, match="must go with the analysis regress, got crosstab"):
        simulated_power(study(survey), 2, analysis="crosstab", against=["affair ~ 1"])
    with pytest.raises(ParameterError, match="must be a sequence of formulas, got 'affair ~ 1'"):
        simulated_power(study(survey), 2, against="affair ~ 1")
    numbers = Study(survey, "age ~ religious", {}, {"age": Covariate(mean=40, spread=10)})
    with pytest.raises(ParameterError, match=r"against: must be of a question, got age; .* have no likelihood"):
        simulated_power(numbers, 2, against=["age ~ 1"])
    assert "--against and --over go with --formula" in SIMULATE.refused(file, "--against", "affair ~ 1")
    said = SIMULATE.refused(file, "--formula", "affair ~ C(cohort)", "--against", "religious ~ 1")
    assert "must have the left side of the formula, affair, got religious" in said


def test_the_command_says_what_is_tested_together(file: Path) -> None:
    asked = [file, "--truth", "affair=0.3", "--formula", "affair ~ C(cohort)", "--against", "affair ~ 1"]
    asked += ["--repetitions", 4, "--respondents", 200]
    said = SIMULATE.ok(*asked)
    assert (
        "Against affair ~ 1: likelihood-ratio test of C(cohort)[T.2022.0], C(cohort)[T.2024.0] together (2 degrees of "
        "freedom). It rejects in "
    ) in said
    assert "false positives, because with the given effects the smaller formula is true." in said
    effect = ["--effect", "C(cohort)[T.2022.0]=1"]
    curve = SIMULATE.ok(*asked, *effect, "--over", "respondents=100,300")
    assert "at the significance level 0.05 (Monte Carlo standard error at most " in curve
    assert "): the power to find the effects of what it leaves out, as a whole." in curve
    document = json.loads(SIMULATE.ok(*asked, "--format", "json"))
    terms = ["C(cohort)[T.2022.0]", "C(cohort)[T.2024.0]"]
    assert document["against"] == [{"formula": "affair ~ 1", "terms": terms, "df": 2, "is_null": True}]
    *_, row = csv.DictReader(io.StringIO(SIMULATE.ok(*asked, "--format", "csv")))
    assert (row["statistic"], row["test"], row["truth"]) == ("likelihood ratio", "against affair ~ 1", "")


def test_headings_of_simulations_begin_with_a_capital(file: Path) -> None:
    """As those of other tables; MC stands for Monte Carlo, and n is a symbol."""
    asked = [file, "--repetitions", 2, "--respondents", 100]
    header = SIMULATE.ok(*asked, "--compare", "affair=0.4").splitlines()[0].split()
    assert header[:5] == ["Question", "Option", "Cohort", "Truth", "Mean"]
    power = SIMULATE.ok(*asked, "--formula", "affair ~ C(cohort)", "--over", "epsilon=1,2")
    for each in [*header, *power.splitlines()[0].split()]:
        assert each[0].isupper() or each in ("n", "error")
    assert "\nGroup " in power

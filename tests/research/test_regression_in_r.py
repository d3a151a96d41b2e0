"""``regression.R`` of an archive: it fits the models of `deniable analyze regress`, and stops elsewhere."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable import Survey, read_survey
from deniable_research import read
from deniable_research.regression import Fit, likelihood_ratio_test, refitted
from deniable_research.simulation.draw import generator_of, randomize_people, words_of
from deniable_statistics.archive.regression_script import REGRESSION
from deniable_statistics.archive.supplements import files_about
from tests.support.drawn_questions import joint_survey, shared_survey
from tools.packages import rscript
from tools.rig.command_line import CommandLine
from tools.rig.patience import PATIENCE
from tools.rig.survey_files import question_toml, survey_toml

pytestmark = pytest.mark.r

EXAMPLE = Path(__file__).parents[2] / "examples" / "exams"

SURVEY = survey_toml(
    "Students",
    question_toml("cheated", "yes-no", epsilon=2.5),
    question_toml("stressed", "yes-no", epsilon=2),
    question_toml("studied", "choice", options=["most", "half", "little"], epsilon=2.5, mechanism="k-ary"),
    question_toml("hours", "choice", options=["a | b", "c*d", "e_f", "<g>", "$h"], epsilon=3, mechanism="k-ary"),
    question_toml("coin", "yes-no", truth="1/2"),
    question_toml("forced", "choice", options=["x", "y", "z"], truth="2/3", forced=["1/2", "1/4", "1/4"]),
    question_toml("trust", "scale", lo=1, hi=4, epsilon=2.5, mechanism="k-ary"),
    question_toml("level", "scale", lo=0, hi=3, epsilon=2.5, mechanism="k-ary"),
    question_toml("often", "choice", options=["once", "twice"], epsilon=2.5, mechanism="k-ary", ask_if="coin = yes"),
    question_toml("car", "choice", options=[*"abcdefg"], epsilon=1, mechanism="subset"),
    question_toml("mean", "scale", lo=0, hi=10, epsilon=1, goal="mean"),
    question_toml("drugs", "ticks", options=["x", "y", "z"], epsilon=1),
    cohorts=["NA", "b", "c"],
)


@dataclass(frozen=True)
class Found:
    """What R finds in a file: for each call its coefficients, errors and log-likelihood, or why it stops."""

    folder: Path
    first: str = ""

    def __call__(self, *calls: str) -> list[list[float] | str]:
        lines = [
            'source("regression.R")',
            'reports <- read_table("reports.csv")',
            self.first,
            "said <- function(fit) c(coef(fit), sqrt(diag(vcov(fit))), fit$log_likelihood)",
            "show <- function(call) cat(tryCatch(format(said(call), digits = 12), error = conditionMessage), '\\n')",
            *(f"show(noisy_regression({call}, reports = reports))" for call in calls),
        ]
        (self.folder / "calls.R").write_text("\n".join(lines), encoding="utf-8")
        done = subprocess.run(
            [rscript(), "calls.R"], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stderr
        return [numbers_in(line) for line in done.stdout.splitlines()]


def numbers_in(line: str) -> list[float] | str:
    try:
        return list(map(float, line.split()))
    except ValueError:
        return line.strip()


def written(folder: Path, survey: Survey, answers: Mapping[str, NDArray[Any]], **plain: Sequence[object]) -> Path:
    """A folder with the file of these people's reports, with the survey, and with what its archive has for R."""
    columns = randomize_people(survey.questions, answers, words_of(generator_of(7)))
    people = len(next(iter(answers.values())))
    cells = {name: [*map(str, values)] for name, values in plain.items()}
    for name, column in columns.items():
        texts = ["".join(map(str, each)) if np.ndim(each) else str(each) for each in column.values.tolist()]
        asked = np.ones(people, dtype=bool) if column.asked is None else column.asked
        cells[name] = [text if one else "" for text, one in zip(texts, asked.tolist(), strict=True)]
    lines = [",".join(cells), *map(",".join, zip(*cells.values(), strict=True))]
    (folder / "reports.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return ship(folder, survey)


def ship(folder: Path, survey: Survey) -> Path:
    """Write the survey, and what its archive has for R."""
    (folder / "survey.json").write_bytes(survey.document)
    files = dict(files_about(survey))
    for name in ("codebook.md", REGRESSION):
        (folder / name).write_bytes(files[name])
    return folder


def by_python(folder: Path, formula: str, **settings: Any) -> list[float]:
    """Coefficients, errors and log-likelihood of `deniable analyze regress`, without terms that are not printed."""
    fit = read(folder / "reports.csv", folder / "survey.json").regress(formula, **settings).fit
    shown = len(fit.model.outcome.terms) if isinstance(fit, Fit) else len(fit.terms)
    assert not fit.message.startswith("The likelihood has no maximum"), fit.message
    errors = np.sqrt(np.diag(fit.cov_params()))
    return [*fit.params[:shown], *errors[:shown], *([fit.loglik] if isinstance(fit, Fit) else [])]


def students(n: int = 4000) -> tuple[dict[str, NDArray[Any]], dict[str, list[object]]]:
    """Answers that depend on each other, and columns without noise."""
    rng = np.random.default_rng(11)
    cohort, age = rng.choice(3, n, p=[0.5, 0.3, 0.2]), rng.uniform(18, 40, n).round(1)
    stressed = (rng.random(n) < 0.3 + 0.15 * cohort).astype(int)
    studied = np.where(rng.random(n) < 0.25 + 0.2 * stressed, 2, rng.choice(2, n))
    hours = np.where(rng.random(n) < 0.3, studied, rng.choice(5, n))
    logit = -1.5 + 1.2 * stressed + 0.8 * studied - 0.5 * (cohort == 1) + 0.03 * (age - 28)
    cheated = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)
    coin = (rng.random(n) < 0.2 + 0.5 * cheated).astype(int)
    answers = {
        "cheated": cheated,
        "stressed": stressed,
        "studied": studied,
        "hours": hours,
        "coin": coin,
        "forced": np.where(rng.random(n) < 0.4, studied, rng.choice(3, n)),
        "trust": np.where(rng.random(n) < 0.5, cohort, rng.choice(4, n)),
        "level": np.where(rng.random(n) < 0.4, 3 * stressed, rng.choice(4, n)),
        "often": np.where(coin == 1, rng.choice(2, n), 2),
        "car": rng.choice(7, n),
        "mean": rng.choice(11, n),
        "drugs": rng.random((n, 3)) < 0.2,
    }
    points = 60 + 8 * stressed - 5 * studied + 0.4 * age + rng.normal(0, 6, n)
    plain = {
        "cohort": [("NA", "b", "c")[each] for each in cohort],
        "age": age.tolist(),
        "income": (1000 * age + 1e5 * rng.random(n)).round().tolist(),
        "points": points.round(2).tolist(),
        "passed": np.where(points + 20 * cheated > 75, "yes", "no").tolist(),
        "absent": (rng.random(n) < 0.2 + 0.3 * studied / 2).astype(int).tolist(),
        "grade": [("A", "B", "C")[each] for each in np.clip((points // 8 - 7).astype(int), 0, 2)],
    }
    # Some rows lack something; a cohort may be called NA.
    plain["cohort"][3] = plain["age"][5] = plain["passed"][8] = ""
    plain["grade"][9] = plain["points"][12] = "NA"
    return answers, plain


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    answers, plain = students()
    return written(tmp_path_factory.mktemp("students"), read_survey(SURVEY), answers, **plain)


SAME = {
    "cohorts": ("cheated ~ cohort", None, {}),
    "nothing": ("cheated ~ 1", None, {}),
    "two options": ("cheated ~ stressed", None, {}),
    "three options": ("cheated ~ studied", None, {}),
    "five options": ("cheated ~ hours", None, {}),
    "three options and cohorts": ("cheated ~ studied + cohort", None, {}),
    "five options and cohorts": ("cheated ~ hours + C(cohort)", None, {}),
    "two noisy predictors": ("cheated ~ stressed + studied", None, {}),
    "two noisy predictors and cohorts": ("cheated ~ stressed + studied + cohort", None, {}),
    "an interaction of two": ("cheated ~ stressed * studied", None, {}),
    "an interaction with cohorts": ("cheated ~ stressed * cohort", None, {}),
    "a number": ("cheated ~ stressed + age", None, {}),
    "a large number": ("cheated ~ stressed + income", None, {}),
    "what depends on all rows": ("cheated ~ stressed + scale(income)", None, {}),
    "a number and more": (
        "cheated ~ studied + I(age^2) + age + cohort",
        "cheated ~ studied + I(age**2) + age + cohort",
        {},
    ),
    "an interaction with a number": ("cheated ~ stressed:age + age", None, {}),
    "another reference": ('cheated ~ relevel(stressed, "yes")', "cheated ~ C(stressed, Treatment('yes'))", {}),
    "an outcome of three": ("studied ~ cohort + age", None, {}),
    "an outcome of three and a noisy predictor": ("studied ~ stressed + cohort", None, {}),
    "an outcome of five and two noisy predictors": ("hours ~ stressed + cheated", None, {}),
    "other mechanisms": ("coin ~ forced + cohort", None, {}),
    "scales": ("trust ~ level", None, {}),
    "a filter": ("cheated ~ often", None, {}),
    "a filtered outcome": ("often ~ cheated", None, {}),
    "labels without noise": ("passed ~ cheated + cohort", None, {}),
    "three labels without noise": ("grade ~ stressed", None, {}),
    "0 and 1 without noise": ("absent ~ studied", None, {"model": "logistic"}),
    "0 and 1 as numbers": ('absent ~ studied, model = "linear"', "absent ~ studied", {}),
    "numbers": ("points ~ stressed", None, {}),
    "numbers and cohorts": ("points ~ studied + cohort + age", None, {}),
    "numbers and two noisy predictors": ("points ~ stressed + studied", None, {}),
    "numbers and other mechanisms": ("points ~ forced + coin", None, {}),
    "the logarithm of numbers": ("log(points) ~ hours", None, {}),
}
"""A call in R, the formula in Python where it is another one, and its settings."""


@pytest.fixture(scope="module")
def by_r(folder: Path) -> dict[str, list[float] | str]:
    return dict(zip(SAME, Found(folder)(*(call for call, _, _ in SAME.values())), strict=True))


@pytest.mark.parametrize("case", SAME)
def test_r_finds_our_regression(folder: Path, by_r: Mapping[str, list[float] | str], case: str) -> None:
    call, formula, settings = SAME[case]
    assert by_r[case] == pytest.approx(by_python(folder, formula or call, **settings), rel=1e-5, abs=1e-4)


EXAMPLES = {
    ("exams", "reports"): ["cheated ~ stressed", "cheated ~ stressed + cohort", "cheated ~ cohort"],
    ("studied", "studied"): ["cheated ~ studied", "studied ~ cheated"],
    ("work", "work"): ["cheated ~ work", "cheated ~ work + cohort", "work ~ cheated + cohort"],
    ("years", "years"): ["studied ~ cohort"],
    ("points", "points"): ["points ~ studied", "passed ~ studied"],
}
"""Surveys and data of the example, and formulas."""


@pytest.mark.parametrize("case", EXAMPLES, ids="-".join)
def test_r_finds_our_regressions_of_the_example(tmp_path: Path, case: tuple[str, str]) -> None:
    survey = read_survey((EXAMPLE / f"{case[0]}.toml").read_text(encoding="utf-8"))
    ship(tmp_path, survey)
    shutil.copy(EXAMPLE / f"{case[1]}.csv", tmp_path / "reports.csv")
    for formula, found in zip(EXAMPLES[case], Found(tmp_path)(*EXAMPLES[case]), strict=True):
        assert found == pytest.approx(by_python(tmp_path, formula), rel=1e-5, abs=1e-4), formula


GROUPED = {
    "two of two": (joint_survey(2, 2, 2), ["q0 ~ q1", "q0 ~ q1 + cohort", "passed ~ q0 * q1"]),
    "two of three options": (joint_survey(3, 2, 2), ["q0 ~ q1", "q1 ~ q0 + cohort", "passed ~ q0 + q1"]),
    "three together": (joint_survey(2, 3, 3), ["q0 ~ q1 + q2", "q1 ~ cohort", "passed ~ q0 + q2", "q0 ~ q2"]),
    "two of three drawn": (joint_survey(2, 3, 2, "2.5"), ["q0 ~ q1", "q0 ~ cohort", "q0 ~ q1 + q2", "points ~ q1"]),
    "drawn with a chance each": (shared_survey(4, 3.0, 2), ["q0 ~ q1", "passed ~ q0 + q1", "q0 ~ cohort"]),
}
"""Surveys whose questions share a response or are drawn, and formulas."""


@pytest.mark.parametrize("case", GROUPED)
def test_r_finds_our_regression_of_questions_of_one_group(tmp_path: Path, case: str) -> None:
    survey, formulas = GROUPED[case]
    n, rng = 5000, np.random.default_rng(3)
    cohort, k = rng.choice(3, n), len(survey.questions[0].options)
    common = rng.choice(k, n)
    answers = {each.id: np.where(rng.random(n) < 0.6, common, rng.choice(k, n)) for each in survey.questions}
    plain = {
        "cohort": [("a", "b", "c")[each] for each in cohort],
        "passed": np.where(rng.random(n) < 0.2 + 0.5 * (common == 0), "yes", "no").tolist(),
        "points": (50 + 9 * common + rng.normal(0, 5, n)).round(1).tolist(),
    }
    written(tmp_path, survey, answers, **plain)
    for formula, found in zip(formulas, Found(tmp_path)(*formulas), strict=True):
        assert found == pytest.approx(by_python(tmp_path, formula), rel=1e-5, abs=1e-4), formula


@pytest.mark.parametrize("seed", range(6))
def test_r_finds_rare_answers_of_few_people(tmp_path: Path, seed: int) -> None:
    """Where 15 and 30 % are true among 400 people, a long first step ends where the likelihood is flat."""
    rng = np.random.default_rng(seed)
    survey = read_survey((EXAMPLE / "exams.toml").read_text(encoding="utf-8"))
    share = np.tile([0.15, 0.3], 200)
    stressed = (rng.random(400) < 0.4).astype(int)
    answers = {"cheated": (rng.random(400) < share + 0.1 * stressed).astype(int), "stressed": stressed}
    written(tmp_path, survey, answers, cohort=["final year", "first year"] * 200)
    formulas = ["cheated ~ cohort", "cheated ~ stressed"]
    for formula, found in zip(formulas, Found(tmp_path)(*formulas), strict=True):
        fit = read(tmp_path / "reports.csv", tmp_path / "survey.json").regress(formula).fit
        assert isinstance(fit, Fit)
        if fit.penalty:
            assert "must have a maximum that the data bound" in str(found)
        else:
            assert found == pytest.approx(by_python(tmp_path, formula), rel=1e-4, abs=1e-4)


STOPS = {
    "a column that is not there": ("cheated ~ help", "help: must be a column of the reports (cohort, age, "),
    "nothing noisy": ("points ~ age", "formula: must have a question of codebook.md (cheated, stressed, "),
    "an outcome on both sides": ("cheated ~ cheated + age", "cheated: must not be on both sides"),
    "computed from an outcome": ("I(1 - cheated) ~ age", "cheated: must not be within I(1 - cheated), because its"),
    "labels": ("cheated ~ labelled", "labelled: must have reports with the codes 0, 1; other codes or labels came"),
    "another mechanism": ("cheated ~ car", "car: must have a mechanism whose reports are one of the options"),
    "boxes": ("cheated ~ drugs", "drugs: must have a mechanism whose reports are one of the options, got drawn-boxes"),
    "a mean": ("cheated ~ mean", "mean: must have a mechanism whose reports are one of the"),
    "a linear model of labels": ('passed ~ stressed, model = "linear"', "passed: must be a column of numbers"),
    "an unknown reference": ('studied ~ age, reference = "all"', "reference: must be one of "),
    "too many labels": ('points ~ stressed, model = "logistic"', "points: must have 2 to 50 labels for a"),
    "mixed": ("cheated ~ I(as.numeric(stressed) * age)", "formula: must not compute I(as."),
    "a combination": ("cheated ~ stressed + age + I(2 * age)", "terms: must be linearly independent, but one of these"),
    "infinite": ("cheated ~ stressed + log(age - age)", "formula: must give finite numbers"),
    "an offset": ("cheated ~ stressed + offset(age)", "formula: must not have an offset"),
    "least squares with an interaction": ("points ~ stressed * age", "formula: must have an intercept and"),
    "no maximum": ("passed ~ cheated * hours * trust", "likelihood: must have a maximum that the data bound, got none"),
    "too many combinations": ("cheated ~ hours + trust + level + studied", "at most 128 combinations"),
}


@pytest.fixture(scope="module")
def stops(folder: Path) -> dict[str, list[float] | str]:
    """With ``labelled``, a question whose reports are no codes in the file."""
    book = (folder / "codebook.md").read_text(encoding="utf-8")
    _, stressed, *_ = (f"## `{each}" for each in book.split("## `") if each.startswith(("cheated", "stressed")))
    (folder / "codebook.md").write_text(f"{book}\n\n{stressed.replace('stressed', 'labelled')}", encoding="utf-8")
    calls = [call for call, _ in STOPS.values()]
    labelled = "reports$labelled <- c('no', 'yes')[reports$stressed + 1]"
    found = Found(folder, labelled)(*calls)
    (folder / "codebook.md").write_text(book, encoding="utf-8")
    return dict(zip(STOPS, found, strict=True))


@pytest.mark.parametrize("case", STOPS)
def test_r_stops_where_a_fit_would_be_wrong(stops: Mapping[str, list[float] | str], case: str) -> None:
    assert STOPS[case][1] in str(stops[case])


PATTERNS = read_survey(
    survey_toml(
        "Filtered",
        question_toml("q0", "yes-no"),
        question_toml("q1", "choice", options=["x", "y"], ask_if="q0 = yes"),
        epsilon=2.0,
        draw=2,
    )
)
"""One response to the possible patterns of two answers."""

GROUPS_THAT_STOP = {
    "never asked together": (joint_survey(2, 3, 1), "q0 ~ q1", "q0, q1: must be asked of the same people"),
    "never all asked": (joint_survey(2, 3, 2), "points ~ q0 + q1 + q2", "q0, q1, q2: must be asked of the same people"),
    "one chance": (joint_survey(2, 2, 2), "points ~ q0 + q1", "q0, q1: must not share one chance for least squares"),
    "patterns": (PATTERNS, "q1 ~ q0", "q1, q0: must not be in a group where one question filters another"),
}


@pytest.mark.parametrize("case", GROUPS_THAT_STOP)
def test_r_stops_where_questions_of_a_group_do_not_go_together(tmp_path: Path, case: str) -> None:
    survey, formula, sentence = GROUPS_THAT_STOP[case]
    people = np.arange(60)
    # Who says no to the first question has the third option of one that it filters.
    answers = {each.id: people % 2 if len(each.options) == 2 else 2 * (1 - people % 2) for each in survey.questions}
    written(tmp_path, survey, answers, points=[str(each % 7) for each in people])
    (found,) = Found(tmp_path)(formula)
    assert sentence in str(found)


def in_r(folder: Path, code: str) -> str:
    """What R prints, with the functions of the script."""
    command = [rscript(), "-e", f'source("regression.R"); {code}']
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return done.stdout


def test_r_tests_a_smaller_model_against_a_larger_one_as_we_do(folder: Path) -> None:
    """Both with the distribution of true predictors of the larger model, which the smaller one may not name."""
    pairs = [("cheated ~ cohort", "cheated ~ stressed + cohort"), ("studied ~ stressed", "studied ~ stressed * age")]
    results = read(folder / "reports.csv", folder / "survey.json")
    for smaller, larger in pairs:
        fits = ", ".join(f'noisy_regression({each}, "reports.csv")' for each in (smaller, larger))
        shown = "cat(found$log_likelihood, found$parameters, unlist(found[2, 3:5]))"
        said = in_r(folder, f"found <- anova({fits}); {shown}")
        fit = results.regress(larger).fit
        assert isinstance(fit, Fit)
        other = refitted(fit, smaller)
        test = likelihood_ratio_test(other, fit)
        expected = [other.loglik, fit.loglik, len(other.params), len(fit.params), test.statistic, test.df, test.p_value]
        assert list(map(float, said.split())) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    "call",
    [
        "anova(fit(cheated ~ stressed), fit(cheated ~ cohort))",
        "anova(fit(cheated ~ stressed + cohort), fit(cheated ~ stressed))",
        "anova(fit(points ~ 1 + stressed), fit(points ~ stressed + studied))",
    ],
)
def test_r_compares_no_models_that_are_not_nested(folder: Path, call: str) -> None:
    fit = 'fit <- function(formula) noisy_regression(formula, "reports.csv")'
    assert "anova: must have " in in_r(folder, f"{fit}; tryCatch({call}, error = function(e) cat(conditionMessage(e)))")


def test_r_prints_the_wald_intervals_of_the_command(folder: Path) -> None:
    arguments = [folder / "reports.csv", "cheated ~ stressed + C(cohort)", "--survey", folder / "survey.json"]
    printed = json.loads(CommandLine("analyze", "regress").ok(*arguments, "--interval", "wald", "--format", "json"))
    rows = printed["terms"]
    said = in_r(folder, 'noisy_regression(cheated ~ stressed + cohort, "reports.csv")').splitlines()
    assert said[0].split() == ["estimate", "error", "low", "high", "p"]
    for line, row in zip(said[1:5], rows, strict=False):
        expected = [row[name] for name in ("estimate", "std_error", "conf_low", "conf_high")]
        *numbers, p = line.replace("< ", "<").split()[-5:]
        assert list(map(float, numbers)) == pytest.approx(expected, abs=5.1e-4)
        assert p == ("<0.0001" if row["p_value"] < 1e-4 else f"{row['p_value']:.4f}")
    assert said[5:] == [
        "Log odds of yes against no. Noisy: cheated, stressed. Without noise: cohort.",
        "3999 rows (1 left out because something is missing), "
        f"log-likelihood {printed['glance']['loglik']:.3f}, {printed['glance']['df']} parameters. 95 % Wald intervals.",
    ]


def test_r_compares_an_outcome_with_the_reference_that_it_is_told(folder: Path) -> None:
    said = in_r(folder, 'coef(noisy_regression(studied ~ age, "reports.csv", reference = "little"))')
    first = in_r(folder, 'cat(coef(noisy_regression(studied ~ age, "reports.csv")))')
    assert "most: (Intercept)" in said
    assert "half: age" in said
    half, _, little, _ = map(float, first.split())
    found = in_r(folder, 'cat(coef(noisy_regression(studied ~ age, "reports.csv", reference = "little")))')
    assert list(map(float, found.split()))[::2] == pytest.approx([-little, half - little], abs=1e-4)


def test_r_says_that_a_share_is_at_the_end_of_its_range(tmp_path: Path) -> None:
    """Where nobody seems to give an answer, its share is 0 and all else is given that, as in Python."""
    survey = read_survey(
        survey_toml(
            "T",
            question_toml("a", "yes-no", epsilon=3),
            question_toml("b", "choice", options=["x", "y", "z", "w"], epsilon=3, mechanism="k-ary"),
        )
    )
    rng = np.random.default_rng(2)
    b = rng.choice(2, 3000)
    plain = {"cohort": ["m", "n"] * 1500}
    written(tmp_path, survey, {"a": (rng.random(3000) < 0.2 + 0.4 * b).astype(int), "b": b}, **plain)
    formula = 'a ~ as.numeric(b == "y") + cohort'
    fit = read(tmp_path / "reports.csv", tmp_path / "survey.json").regress("a ~ I(b == 'y') + cohort").fit
    assert isinstance(fit, Fit)
    ended = sum(fit.params[j] in (0, 1) for j in fit.model.bounded)
    assert ended > 0
    (found,) = Found(tmp_path)(formula)
    expected = [*fit.params[:3], *np.sqrt(np.diag(fit.cov_params()))[:3], fit.loglik]
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-4)
    said = in_r(tmp_path, f'noisy_regression({formula}, "reports.csv")')
    assert f"Shares of true answers that are 0, and that the errors take as known: {ended}." in said

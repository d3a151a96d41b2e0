"""``deniable plan`` as people type it."""

from __future__ import annotations

import csv
import io
import json
import math
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import KAry, ParameterError, TwoCoin, Warner, read_survey
from deniable_research.commands.plan import plan
from deniable_research.plans.plan_charts import epsilon_chart, survey_chart
from deniable_research.plans.plan_text import meaning
from deniable_statistics.planning import NoiseModel
from deniable_statistics.planning.plans import Estimand, PowerPlan, SizePlan, SplitPlan, WidthPlan
from deniable_statistics.planning.precision import Precision
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import FIVE_TYPES

PLAN = CommandLine("plan")
ok, refused = PLAN.ok, PLAN.refused


def plans(*arguments: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ok(*arguments, "--format", "json"))["plans"]
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(FIVE_TYPES, encoding="utf-8")
    return path


def test_help_has_a_sentence_and_examples() -> None:
    text = ok("--help")
    assert plan.help
    assert plan.help.splitlines()[0].endswith(".")
    assert "Examples:\n    deniable plan --epsilon" in text


@pytest.mark.slow
def test_examples_of_the_help_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my-survey.toml").write_text(FIVE_TYPES, encoding="utf-8")
    assert plan.epilog
    lines = [line.split()[2:] for line in plan.epilog.splitlines() if line.startswith("  deniable plan ")]
    assert len(lines) == 9
    for arguments in lines:
        assert "asked directly" in ok(*arguments) or "--questions" in arguments


@pytest.mark.parametrize(
    ("arguments", "people"),
    [
        (["--epsilon", "0.5"], 6159),
        (["--epsilon", "1"], 1553),
        (["--epsilon", math.log(3)], 1291),
        (["--truth", "1/2"], 1291),
        (["--epsilon", "2"], 417),
        (["--epsilon", "4"], 168),
    ],
)
def test_people_for_five_points(arguments: list[object], people: int) -> None:
    (row,) = plans(*arguments, "--share", "0.1", "--width", "0.05")
    assert row["people"] == people
    assert row["people_directly"] == 139
    text = ok(*arguments, "--share", "0.1")  # 5 points are what nobody needs to say
    assert f"a share of 10 % to within 5 points (95 % interval), {people:,} people are needed" in text
    assert "with direct, truthful answers, 139." in text


def test_width_of_so_many_respondents_and_the_break_even_bias() -> None:
    text = ok("--truth", "1/2", "--share", "0.3", "--respondents", "1000")
    assert "to within 6.12 points (expected 95 % interval)" in text
    assert "with direct, truthful answers, to within 2.84 points." in text
    assert "If direct answers are biased by more than 2.74 points, the same number" in text
    assert "an increase of 17.6 points or more is detected with a probability of 80 %" in text
    (row,) = plans("--truth", "1/2", "--share", "0.3", "--respondents", "1000")
    assert row["half_width"] == NoiseModel.through(TwoCoin("1/2", "1/2")).expected_width(1000, 0.3) / 2
    assert row["curator_noise"] == pytest.approx(math.log(20) / 1000 / math.log(3))


def test_every_epsilon_has_a_row_for_every_share() -> None:
    rows = plans("--epsilon", "0.5", "--epsilon", "1")
    assert [(round(row["epsilon"], 6), row["share"]) for row in rows] == [(0.5, 0.5), (0.5, 0.1), (1, 0.5), (1, 0.1)]
    people = math.ceil((1.959964 / 0.05) ** 2 * 0.25 / math.tanh(0.25) ** 2)
    assert f"First row: to estimate a share of 50 % to within 5 points (95 % interval), {people:,} people" in ok(
        "--epsilon", "0.5", "--epsilon", "1"
    )


def test_test_between_cohorts_and_against_a_known_share() -> None:
    (two,) = plans("--epsilon", "1", "--share", "0.10", "--against", "0.15")
    assert (two["people"], two["people_directly"], two["cohorts"], two["level"]) == (12934, 1372, 2, 0.05)
    text = ok("--epsilon", "1", "--share", "0.10", "--against", "0.15", "--respondents", "5000")
    assert "At epsilon 1, 5,000 people give a power of 41.37 %; with direct, truthful answers, 99.97 %." in text
    several = ok("--epsilon", "2", "--epsilon", "1", "--share", "0.10", "--against", "0.15", "--respondents", "5000")
    first = next(line.split() for line in several.splitlines() if line.lstrip().startswith("2.0000"))
    assert f"At epsilon 2, 5,000 people give a power of {first[-4][:2]}" in several
    (one,) = plans("--truth", "1/2", "--share", "0.1", "--against", "0", "--cohorts", "1", "--one-sided")
    assert (one["people"], one["alternative"], one["exact"]) == (483, "greater", False)
    assert plans("--epsilon", "1", "--share", "0.1", "--against", "0.15", "--one-sided")[0]["alternative"] == "less"
    arguments = ("--truth", "1/2", "--share", "0.1", "--against", "0", "--cohorts", "1", "--one-sided", "--exact")
    assert plans(*arguments)[0]["exact"]
    assert "people or more are needed to distinguish" in ok(*arguments)
    assert "(one-sided test, significance level 5 %, exact)" in ok(*arguments)


def test_power_and_confidence_are_obeyed() -> None:
    more = plans("--epsilon", "1", "--share", "0.1", "--against", "0.2", "--power", "0.9", "--confidence", "0.99")
    estimand = Estimand.of_share("", NoiseModel.through(Warner.from_epsilon(1)), 0.1)
    assert more[0]["people"] == PowerPlan(estimand, 0.2, target=0.9, level=0.01)["people"]
    (wide,) = plans("--epsilon", "1", "--share", "0.1", "--confidence", "0.9")
    assert wide["people"] == SizePlan(estimand, 0.05, 0.9)["people"]


def test_choice_questions() -> None:
    (row,) = plans("--truth", "1/2", "--options", "4", "--share", "0.1")
    assert row["people"] == NoiseModel.through(KAry.from_coin(4, "1/2")).at(0.1).sample_size(0.05)
    (row,) = plans("--epsilon", "1", "--options", "10", "--share", "0.1")
    assert row["people"] == 4611


def test_test_of_an_option_says_that_it_is_one_and_a_survey_says_what_to_write(tmp_path: Path) -> None:
    arguments = ("--options", "5", "--epsilon", "1", "--share", "0.2", "--against", "0.3")
    assert "This is for one of the 5 options, chosen beforehand." in ok(*arguments)
    assert "chosen beforehand" not in ok("--epsilon", "1", "--share", "0.2", "--against", "0.3")
    health = question_toml("health", "choice", options=[*"abcde"], epsilon=1.0)
    survey = tmp_path / "health.toml"
    survey.write_text(survey_toml("Health", health), "utf-8")
    tested = ("--share", "0.2", "--against", "0.3")
    said = " ".join(refused("--survey", survey, *tested).split())
    assert f"Write 'deniable plan {' '.join(arguments)}'" in said
    ticks = question_toml("ticks", "ticks", options=["a", "b"], epsilon=2)
    survey.write_text(survey_toml("Health", health, ticks, question_toml("ever", "yes-no", epsilon=1)), "utf-8")
    said = " ".join(refused("--survey", survey, *tested).split())
    assert f"Write 'deniable plan {' '.join(arguments)}' (health), " in said
    assert f"'deniable plan {' '.join(arguments[2:])}' (ever)" in said
    assert "(ticks)" not in said


def test_splitting_against_drawing_one_question() -> None:
    (row,) = plans("--epsilon", "1", "--questions", "5", "--share", "0.1")
    assert (row["people_together"], row["people_one_each"]) == (38426, 7765)
    text = ok("--epsilon", "1", "--questions", "5", "--share", "0.1")
    assert "drawing one question for each person needs 4.9 times fewer people" in text
    text = ok("--epsilon", "20", "--questions", "2", "--share", "0.5")
    assert "asking everybody all of them needs 2.0 times fewer people than drawing one question" in text


@pytest.mark.slow
def test_survey_lists_every_question_and_the_whole_epsilon(file: Path) -> None:
    survey = read_survey(file.read_bytes())
    text = ok("--survey", file, "--respondents", "1000")
    assert text.count("affair") == 2
    for question in survey.questions:
        assert question.id in text
    assert text.endswith(f"Whole survey: epsilon {survey.epsilon:.4f}\n")
    document = json.loads(ok("--survey", file, "--respondents", "1000", "--share", "0.1", "--format", "json"))
    assert (document["survey"], document["epsilon"]) == (survey.id, survey.epsilon)
    assert [(row["question"], row["statistic"]) for row in document["plans"]][-3:] == [
        ("trust", "share"),
        ("trust", "mean"),
        ("drinks", "mean"),
    ]
    assert document["plans"][0]["people"] == 1291
    assert document["plans"][-1]["wanted"] == 3  # 5 % of 0 to 60
    assert "estimate the mean to within" not in text  # the first row is a share
    sizes = json.loads(ok("--survey", file, "--share", "0.1", "--format", "json"))["plans"]
    assert [row["people"] for row in sizes] == [row["people"] for row in document["plans"]]


@pytest.mark.slow
def test_csv_is_the_same_rows(file: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(ok("--survey", file, "--format", "csv"))))
    same = json.loads(ok("--survey", file, "--format", "json"))["plans"]
    assert [row["people"] for row in rows] == [str(row["people"]) for row in same]
    assert rows[-1]["share"] == ""  # of a mean
    assert plans("--epsilon", "1", "--share", "0")[0]["times"] is None  # one direct answer is enough
    (row,) = csv.DictReader(io.StringIO(ok("--epsilon", "1", "--share", "0", "--format", "csv")))
    assert row["times"] == ""


@pytest.mark.slow
def test_a_mean_is_told_in_its_own_unit(file: Path) -> None:
    text = FIVE_TYPES[FIVE_TYPES.index('[[questions]]\nid = "drinks"') :]
    file.write_text(f'title = "T"\n{text}\nmechanism = "mean"', encoding="utf-8")
    assert "To estimate the mean to within 3 (95 % interval), 1,799 people are needed" in ok("--survey", file)
    assert "the mean is estimated to within 4.02 (expected 95 % interval)" in ok(
        "--survey", file, "--respondents", "1000"
    )


def test_few_people_detect_nothing() -> None:
    assert "no increase, however large, is detected" in ok("--epsilon", "0.5", "--respondents", "20", "--share", "0.5")


SUBJECTS = [Estimand.of_share("", NoiseModel.through(Warner.from_epsilon(epsilon)), 0.1) for epsilon in (1, 2)]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_plot_is_written_and_the_same_every_time(form: str, tmp_path: Path, file: Path) -> None:
    for source in (("--epsilon", "1"), ("--survey", file, "--share", "0.1")):
        pictures = [tmp_path / f"{name}.{form}" for name in ("one", "two")]
        for picture in pictures:
            ok(*source, "--plot", picture)
        assert pictures[0].read_bytes() == pictures[1].read_bytes()
        if form == "svg":
            text = pictures[0].read_text(encoding="utf-8")
            ET.fromstring(text)
            assert "asked directly" in text
        else:
            assert pictures[0].read_bytes().startswith({"png": b"\x89PNG", "pdf": b"%PDF"}[form])


@pytest.mark.parametrize(
    ("drawn", "curves", "dots"),
    [
        ([SizePlan(each, 0.05) for each in SUBJECTS], 3, [1553, 417]),
        ([WidthPlan(each, 1000) for each in SUBJECTS], 3, [each.precision.half_width(1000) for each in SUBJECTS]),
        ([PowerPlan(each, 0.2) for each in SUBJECTS], 2, [PowerPlan(each, 0.2)["people"] for each in SUBJECTS]),
        ([PowerPlan(SUBJECTS[0], 0.2, sample=500)], 2, [PowerPlan(SUBJECTS[0], 0.2, sample=500)["power"]]),
        ([SplitPlan(5, 1, 0.1, 0.05)], 2, [38426, 7765]),
    ],
)
def test_chart_has_its_curves_and_every_plan_on_the_curve_of_its_epsilon(
    drawn: list[Any], curves: int, dots: list[float]
) -> None:
    (axes,) = epsilon_chart(drawn).axes
    lines = [line for line in axes.lines if np.size(line.get_xdata()) > 1]
    points = [line for line in axes.lines if np.size(line.get_xdata()) == 1]
    assert len(lines) == curves
    assert [float(np.asarray(point.get_ydata())[0]) for point in points] == dots
    for each, point in zip(drawn * (len(dots) // len(drawn)), points, strict=True):
        heights = [np.interp(math.log(each["epsilon"]), np.log(line.get_xdata()), line.get_ydata()) for line in lines]  # type: ignore[arg-type]
        (dot,) = np.asarray(point.get_ydata())
        assert min(abs(height / dot - 1) for height in heights) < 0.01


@pytest.mark.slow
@pytest.mark.long
def test_chart_leaves_gaps_where_no_number_of_people_is_enough() -> None:
    (axes,) = epsilon_chart([SplitPlan(300_000, 5, 0.1, 0.9)]).axes
    together, one_each = (np.asarray(line.get_ydata(), dtype=float) for line in axes.lines[:2])
    assert np.isnan(together[0])
    assert not np.isnan(together[-1])
    assert not np.isnan(one_each).any()


def test_chart_of_a_survey_has_a_line_for_each_share(file: Path) -> None:
    rows = [SizePlan(estimand, 0.05) for estimand in SUBJECTS]
    (axes,) = survey_chart(rows).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [", 10 %"] * 2
    means = [SizePlan(Estimand("q", "mean", None, Precision(4.0, 2.0, epsilon=1.0, span=60.0)), 0.05)]
    with pytest.raises(ParameterError, match="plot: must have a share to draw"):
        survey_chart(means)


def test_meaning_names_the_bias_of_direct_answers() -> None:
    assert "biased by more than 2.43 points" in meaning(SizePlan(SUBJECTS[0], 0.05))[-1]


def test_wrong_use_is_a_sentence(file: Path, tmp_path: Path) -> None:
    assert "give one of --epsilon, --truth and --survey" in refused()
    assert "give one of --epsilon, --truth and --survey" in refused("--epsilon", "1", "--truth", "1/2")
    share = ("--epsilon", "1", "--share", "0.1")
    for arguments, message in (
        (("--survey", file, "--against", "0.1"), "--against goes with one question, not with --survey. Write"),
        (("--epsilon", "1", "--against", "0.1"), "--against needs --share"),
        ((*share, "--against", "0.2", "--width", "0.1"), "--against goes with --power, not with --width"),
        ((*share, "--one-sided"), "--one-sided goes with --against"),
        ((*share, "--exact"), "--exact goes with --against and --cohorts 1"),
        ((*share, "--against", "0.2", "--exact"), "--exact goes with --against and --cohorts 1"),
        (("--truth", "1/2", "--questions", "3"), "--questions needs --epsilon"),
        ((*share, "--questions", "3", "--against", "0.2"), "--questions goes with --width, not with --against"),
        ((*share, "--questions", "3", "--respondents", "9"), "--questions goes with --width, not with --respondents"),
        (("--survey", file, "--options", "3"), "--options goes with one question, not with --survey"),
        ((*share, "--yes", "0.3"), "--yes goes with --truth, for yes or no"),
        ((*share, "--plot", "plan.gif"), "must end in .svg, .png or .pdf, got 'plan.gif'"),
        (("--survey", tmp_path / "none.toml"), "does not exist"),
    ):
        assert message in refused(*arguments)
    assert "plan.svg: cannot be written" in PLAN.run(*share, "--plot", tmp_path / "none" / "plan.svg").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "0"], "epsilon: must be above 0"),
        (["--epsilon", "1", "--share", "1.2"], "share: must be a probability in [0, 1], got 1.2"),
        (["--epsilon", "1", "--width", "1"], "width: must be above 0 and below 1, the whole range, got 1.0"),
        (["--epsilon", "1", "--width", "3"], "got 3.0; write 0.03 for \u00b13 points"),
        (["--epsilon", "1", "--share", "0.1", "--against", "0.1"], "shares: must differ from each other"),
        (["--epsilon", "1", "--share", "0.1", "--against", "2"], "must be a probability in [0, 1], got 2.0"),
        (
            ["--epsilon", "1", "--share", "0.1", "--against", "0.2", "--power", "0.05"],
            "power: must be below 1 and above",
        ),
        (["--epsilon", "1", "--share", "0.5", "--against", "0.5000000001"], "are too near to each other"),
        (["--truth", "1"], "truth: must be a probability above 0 and below 1"),
    ],
)
def test_mistakes_in_numbers_are_errors_of_this_project(arguments: list[str], message: str) -> None:
    assert message in refused(*arguments)


def test_yes_coin_is_used() -> None:
    (row,) = plans("--truth", "1/2", "--yes", "0.3", "--share", "0.1")
    assert row["people"] == NoiseModel.through(TwoCoin("1/2", "0.3")).at(0.1).sample_size(0.05)


def test_command_line_has_the_command() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert 'plan = "deniable_research.commands.plan:plan"' in text


@pytest.mark.parametrize(
    ("options", "planned"),
    [
        (
            ("--options", "11", "--epsilon", "1.5", "--epsilon", "4"),
            "a choice of 11 options; epsilon 1.5 (subset of 2), 4 (k-ary); true share 50 %, 10 %; "
            "confidence level 95 %.",
        ),
        (
            ("--truth", "2/3", "--yes", "1/4", "--share", "0.125", "--confidence", "0.9"),
            "a yes-no question; truth with probability 2/3, otherwise yes with probability 1/4; true share 12.5 %; "
            "confidence level 90 %.",
        ),
        (
            ("--options", "3", "--truth", "2/3"),
            "a choice of 3 options; truth with probability 2/3, otherwise an option by chance; true share 50 %, 10 %; "
            "confidence level 95 %.",
        ),
        (
            ("--epsilon", "1", "--applies", "0.2", "--share", "0.5"),
            "a yes-no question that applies to 20 % of all people; epsilon 1; true share 50 %; confidence level 95 %.",
        ),
        (
            ("--respondents", "400", "--width", "0.1", "--share", "0.5"),
            "a yes-no question; epsilon is what is asked for; true share 50 %; confidence level 95 %.",
        ),
        (
            ("--epsilon", "2", "--questions", "4", "--share", "0.1"),
            "4 questions that share one epsilon, each a yes-no question; epsilon 2; true share 10 %; "
            "confidence level 95 %.",
        ),
    ],
)
def test_a_plan_begins_with_what_was_asked(options: tuple[str, ...], planned: str) -> None:
    assert ok(*options).split("\n\n")[0] == f"Planned: {planned}"

"""Plans among the people to whom a question with a filter applies: held to samples, to the price, and as a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable import KAry, ParameterError, Subset, Survey, TickBoxes, read_survey
from deniable.mechanisms import DrawnBoxes
from deniable_commands.main import main
from deniable_statistics.authoring.filter_cost import respondents_among
from deniable_statistics.planning.among import mean_precision_among, share_precision_among
from deniable_statistics.planning.plans import estimands_of
from tools.rig.survey_files import question_toml, survey_toml
from tools.tables import filters_planned

TOML = survey_toml(
    "Smoking",
    question_toml("smokes", "yes-no", epsilon=1),
    question_toml("often", "choice", options=["few", "many"], epsilon=1, ask_if="smokes = yes"),
    question_toml("since", "number", lo=0, hi=40, epsilon=1, ask_if="smokes = yes"),
    question_toml("rated", "scale", lo=1, hi=5, epsilon=1, ask_if="smokes = yes"),
    question_toml("helps", "ticks", options=["gum", "patch"], epsilon=1, ask_if="smokes = yes"),
)


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(TOML)


@pytest.mark.simulation
def test_samples_of_the_planned_size_have_the_planned_width() -> None:
    """Seeded: at epsilon 1 the planned respondents are within 5 % of those that 60 samples of each show."""
    for each in filters_planned.planned(60, (1.0,)):
        assert each.people == pytest.approx(each.simulated, rel=0.05), each


@pytest.mark.parametrize(
    "mechanism",
    [
        KAry.from_epsilon(4, 1),
        Subset.from_epsilon(5, 2, 1),
        TickBoxes.from_epsilon(4, 2),
        DrawnBoxes.from_epsilon(5, 2, 2),
    ],
)
def test_one_person_fewer_is_too_few(mechanism: KAry) -> None:
    precision = share_precision_among(mechanism, 0.5, 0.3)
    people = precision.sample_size(0.1)
    assert precision.half_width(people) <= 0.1 < precision.half_width(people - 1)
    assert precision.directly.sample_size(0.1) < people
    drawn = share_precision_among(mechanism, 0.5, 0.3, asked=0.5).sample_size(0.1)
    assert drawn == pytest.approx(2 * people, rel=0.01)


def test_plans_agree_with_the_price_before_publishing(survey: Survey) -> None:
    for name in ("often", "since", "rated"):
        question = survey.question(name)
        (planned,) = [
            each for each in estimands_of(question, [0.5], 0.5) if question.has_shares == (each.share is not None)
        ]
        people = planned.precision.sample_size(0.05 * planned.precision.span)
        assert people == pytest.approx(respondents_among(question, 0.5), rel=0.02)


def run(*arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(main, ["plan", *arguments])
    return found.exit_code, found.output


@pytest.mark.long
def test_the_command_plans_filtered_questions_among_those_to_whom_they_apply(tmp_path: Path) -> None:
    path = tmp_path / "survey.toml"
    path.write_text(TOML if isinstance(TOML, str) else TOML.decode())
    code, output = run("--survey", str(path), "--applies", "0.2", "--share", "0.5", "--format", "json")
    assert code == 0, output
    rows = {(row["question"], row["statistic"]): row for row in json.loads(output)["plans"]}
    assert rows["smokes", "share"]["applies"] is None
    for key in (("often", "among"), ("since", "mean among"), ("rated", "mean among"), ("helps", "among")):
        assert rows[key]["applies"] == 0.2
        assert rows[key]["people"] > 10 * rows["smokes", "share"]["people"]
    code, output = run("--survey", str(path), "--respondents", "2000", "--applies", "0.5")
    assert code == 0, output
    assert "applies to" in output
    assert "those of everybody" not in output
    code, output = run("--survey", str(path))
    assert "often, since, rated, helps: shares are those of everybody; --applies plans them" in output
    code, output = run("--epsilon", "1", "--applies", "0.5", "--share", "0.5")
    assert code == 0, output
    assert "among the 50 % to whom it applies" in output
    code, chart = run("--epsilon", "1", "--applies", "0.5", "--plot", str(tmp_path / "plan.svg"))
    assert code == 0, chart
    assert (tmp_path / "plan.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--epsilon", "1", "--applies", "1"), "applies: must be a share above 0 and below 1, got 1"),
        (("--epsilon", "1", "--applies", "0"), "applies: must be a share above 0 and below 1, got 0"),
        (("--epsilon", "1", "--applies", "nan"), "is not a number"),
        (("--epsilon", "1", "--applies", ".5", "--against", ".1", "--share", ".2"), "not with --against"),
        (("--epsilon", "1", "--applies", ".5", "--questions", "3"), "not with --questions"),
        (("--respondents", "100", "--width", ".1", "--applies", ".5"), "--applies needs --epsilon"),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments: tuple[str, ...], said: str) -> None:
    code, output = run(*arguments)
    assert code
    assert said in " ".join(output.split())


def test_a_survey_without_filters_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "survey.toml"
    path.write_text(survey_toml("Plain", question_toml("smokes", "yes-no", epsilon=1)))
    code, output = run("--survey", str(path), "--applies", "0.2")
    assert code == 2
    assert "the survey has none" in output
    with pytest.raises(ParameterError, match="must be a scale or a number with a filter"):
        mean_precision_among(read_survey(path=path).question("smokes"), 0.5)

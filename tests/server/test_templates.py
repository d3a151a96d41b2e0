"""Templates: each is a survey that nothing is wrong with, and says something with the people it is for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable import read_survey
from deniable.privacy.ceiling import weakness
from deniable.survey.texts import Text
from deniable_server.authors.checking import notes_about, refusals, warnings_about
from deniable_server.authors.templates import TEMPLATES, template
from deniable_statistics.authoring.outlook import half_width
from tools.rig.command_line import CommandLine
from tools.tables.rehearsals import rehearse

NEW = CommandLine("survey", "new")


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_is_sound_and_says_something_with_a_thousand_people(name: str) -> None:
    survey = read_survey(template(name))
    assert not refusals(survey)
    expected = ("protects little", "still the template's")
    assert not [each for each in warnings_about(survey, 2000) if not any(part in each for part in expected)]
    assert not any("contact" in each for each in notes_about(survey))
    assert survey.epsilon <= 3
    assert max(half_width(each, 2000) for each in survey.questions) < 0.2
    for text in (survey.about, survey.thanks, survey.organiser):
        assert text


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_promises_no_more_than_its_noise_does(name: str) -> None:
    """What its text says of a reply is what pages say at that strength, in every language that it has."""
    survey = read_survey(template(name))
    said = {
        1: (
            "hint about whoever sent it, not proof",
            "hint, not proof",
            "hint about your vote, not proof",
            "ein Hinweis, kein Beweis",
        ),
        2: ("says a lot about", "sagt viel darüber", "protects you little"),
    }[weakness(survey)]
    for text in (survey.about, *(survey.about.translations.values() if isinstance(survey.about, Text) else ())):
        # In a classroom all see how the coins fall; its text says nothing of who could learn what.
        assert name == "classroom" or any(each in text for each in said), text
        assert not any(each in text for each in ("nobody can tell", "proves nothing", "Nobody will", "can learn"))


@pytest.mark.parametrize("name", TEMPLATES)
def test_first_analysis_of_a_template_runs_as_it_stands_there(name: str, tmp_path: Path) -> None:
    """Made-up people answer; coverage over 20 seeds is printed by ``python -m tools.tables rehearsals``."""
    found = rehearse(name, 1, 200, tmp_path)
    assert found
    assert all(each.low <= each.high for each in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.long if n else ()) for n, each in enumerate(TEMPLATES)]
)
def test_simulated_replies_to_a_template_are_estimated_without_bias(name: str, tmp_path: Path) -> None:
    """With the seed that simulations have: the mean of 20 estimates lies within 5 of its standard errors."""
    file, repetitions = tmp_path / "survey.toml", 20
    file.write_text(template(name), encoding="utf-8")
    said = CommandLine("simulate").ok(
        file, "--respondents", 400, "--repetitions", repetitions, "--method", "wald", "--format", "json"
    )
    for row in json.loads(said)["figures"]:
        assert abs(row["bias"]) < 5 * row["empirical_se"] / repetitions**0.5, (row["question"], row["option"])


def test_new_writes_a_file_and_replaces_none(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    said = NEW.ok(file, "--template", "harassment", "--title", 'Who said "no"? \\ 1', "--contact", "a@b.example")
    assert f"deniable survey preview {file}" in said
    survey = read_survey(file.read_text(encoding="utf-8"))
    assert (survey.title, survey.contact) == ('Who said "no"? \\ 1', "a@b.example")
    before = file.read_bytes()
    assert "exists already, and is not replaced" in NEW.refused(file, "--template", "voting")
    assert file.read_bytes() == before


def test_new_asks_in_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    done = NEW.run(file, typed="voting\nOur vote\n\n\n")
    assert done.exit_code == 0, done.output
    survey = read_survey(file.read_text(encoding="utf-8"))
    assert (survey.title, survey.organiser) == ("Our vote", "Your institution")


def test_a_text_that_surveys_cannot_have_leaves_no_file(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    assert "title" in NEW.refused(file, "--template", "voting", "--title", "T" * 10_000)
    assert not file.exists()

"""What authors read of sections, grids and orders, and where."""

from __future__ import annotations

from deniable import read_survey
from deniable.errors import SurveyError
from deniable_server.authors.checking import missing_translations, presentation, question_lines
from deniable_server.authors.places import line_of
from deniable_statistics.authoring.authoring import read_toml
from deniable_statistics.authoring.scaling import nominal_epsilon, scaled
from tools.rig.arranged import GRIDS, SECTIONS


def sentence_for(toml: str) -> str:
    try:
        read_survey(toml)
    except SurveyError as error:
        return str(error)
    raise AssertionError("must be refused")


def test_a_slip_in_a_section_or_a_grid_has_its_line() -> None:
    lines = SECTIONS.split("\n")
    grid = lines.index('id = "trust"') + 1
    broken = SECTIONS.replace('order = "random"\nepsilon = 1.0\ndraw = 3', 'order = "up"\nepsilon = 1.0\ndraw = 3')
    assert (
        lines[line_of(broken, "question 'trust_police': text must not be empty") - 1]
        == 'text = "How much do you trust"'
    )  # type: ignore[operator]
    assert (
        line_of(SECTIONS, "grid 'trust': items must be at least 2")
        == lines.index(next(each for each in lines if each.startswith("items"))) + 1
    )
    assert line_of(SECTIONS, "section 'Your habits': must hold questions") is not None
    assert abs(grid - (line_of(SECTIONS, "question 'trust_press': is wrong") or 0)) <= 1


def test_what_is_arranged_is_said() -> None:
    survey = read_survey(SECTIONS)
    said = list(presentation(survey))
    assert "Survey: 8 questions, in a random order, in which the first 1 and the last 1 stay in place" in said
    assert "Section 'Your habits': 3 questions, in a random order, in which the first 1 stay in place" in said
    assert "Section of mood: 1 question" in said
    lines = list(question_lines(survey.question("drugs"), survey))
    assert any(each.startswith("'None of these', 'Prefer not to say': through the same noise") for each in lines)
    assert any("random order" in each for each in lines)


def test_texts_of_sections_and_before_questions_need_translations() -> None:
    (sentence,) = missing_translations(read_survey(SECTIONS))
    assert sentence.startswith(
        "de: is missing in title, the text of section 'Your habits', the heading of section 'Trust'"
    )


def test_a_survey_with_sections_and_grids_is_scaled() -> None:
    written = read_toml(SECTIONS)
    assert nominal_epsilon(written) == 4
    assert nominal_epsilon(scaled(written, 2)) == 2
    assert nominal_epsilon(scaled(read_toml(GRIDS), 1)) == 1

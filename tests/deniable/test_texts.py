"""Survey texts in several languages, and "prefer not to say" inside the mechanism."""

from __future__ import annotations

import copy
import pickle

import pytest

from deniable import SurveyError, parse_survey, read_survey
from deniable.survey.texts import Text
from deniable_client import randomize
from tools.rig.survey_files import question_toml, survey_toml

SPOKEN = survey_toml(
    {"default": "Life", "de": "Leben", "pt-BR": "Vida"},
    question_toml("affair", "yes-no", {"default": "An affair?", "de": "Eine Affäre?"}, truth="1/2"),
    question_toml("town", "choice", "Where?", options=[{"default": "town", "de": "Stadt"}, "country"], epsilon=1),
)

PLAIN = '[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\n'


def test_texts_in_several_languages_are_published_and_read_back() -> None:
    survey = read_survey(SPOKEN)
    assert survey.title == "Life"
    assert b'"title":{"de":"Leben","default":"Life","pt-BR":"Vida"}' in survey.document
    assert b'"options":[{"de":"Stadt","default":"town"},"country"]' in survey.document
    again = parse_survey(survey.document, survey.id)
    assert again.document == survey.document
    assert isinstance(again.title, Text)
    assert again.title.in_language("pt-BR") == "Vida"
    assert randomize(again, {"affair": "yes", "town": "town"}).values.keys() == {"affair", "town"}


def test_one_language_keeps_the_address_that_it_always_had() -> None:
    survey = read_survey(
        'title = "Life and love, 1974"\n[[questions]]\nid = "affair"\ntype = "yes-no"\n'
        'text = "Have you had an affair since you married?"\ntruth = "1/2"\n'
    )
    assert survey.id == "httkewi55ornktgjp4t4lebelm"


def test_a_text_survives_copies() -> None:
    text = Text("Yes", {"de": "Ja"})
    for copied in (copy.copy(text), copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert copied == "Yes"
        assert copied.in_language("de") == "Ja"


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ('title = { default = "T" }', "title: in several languages must be like"),
        ('title = { de = "T" }', "title: in several languages must be like"),
        ('title = { default = "T", German = "T" }', "title: a language must be like de or pt-BR, got 'German'"),
        ('title = { default = "T", de = 3 }', "title: de must be a text, got 3"),
        ('title = { default = "T", de = " " }', "title: must not be empty"),
        ('title = { default = "T", de = "x\\u0007" }', "title: must not hold the control character U+0007"),
    ],
)
def test_what_is_no_text_in_several_languages_is_named(written: str, sentence: str) -> None:
    with pytest.raises(SurveyError) as caught:
        read_survey(f'{written}\n{PLAIN}truth = "1/2"\n')
    assert str(caught.value).startswith(sentence)


def test_options_must_differ_in_every_language() -> None:
    with pytest.raises(SurveyError, match="options in de: must differ from each other, 'Land' stands there twice"):
        read_survey(SPOKEN.replace('"country"', '"Land"').replace('"Stadt"', '"Land"'))


SCALE = survey_toml(
    "T",
    question_toml("trust", "scale", "How much?", lo=1, hi=3, epsilon=1),
)


def test_ends_of_a_scale_stand_beside_its_numbers() -> None:
    plain = read_survey(SCALE)
    survey = read_survey(SCALE + 'ends = [{ default = "not at all", de = "gar nicht" }, "completely"]')
    assert parse_survey(survey.document) == survey
    assert plain.questions[0].options == survey.questions[0].options == ("1", "2", "3")
    assert plain.id != survey.id
    assert plain.keys != survey.keys  # another wording is another question
    first, middle, last = survey.questions[0].options
    assert isinstance(first, Text)
    assert isinstance(last, Text)
    assert (first.in_language("de"), first.in_language("fr")) == ("1 \u2013 gar nicht", "1 \u2013 not at all")
    assert (str(middle), last.in_language("de")) == ("2", "3 \u2013 completely")
    assert randomize(survey, {"trust": "3"}).values.keys() == {"trust"}
    assert randomize(survey, {"trust": 3}).values.keys() == {"trust"}


@pytest.mark.parametrize(
    ("ends", "sentence"),
    [
        ('"low"', "ends must be a list like"),
        ('["low"]', 'ends must be two texts like ["not at all", "completely"], got 1'),
        ('["low", "middling", "high"]', "ends must be two texts"),
        ('["low", 3]', "ends: must be a text, got"),
        ('["low", " "]', "ends: must not be empty"),
        ('["low", "low"]', "ends: must differ from each other"),
        (f'["low", "{"x" * 101}"]', "ends: must be at most 100 characters, got 101"),
        ('["low", { de = "hoch" }]', "ends: in several languages must be like"),
    ],
)
def test_what_is_no_pair_of_ends_is_named(ends: str, sentence: str) -> None:
    with pytest.raises(SurveyError) as caught:
        read_survey(f"{SCALE}ends = {ends}")
    assert str(caught.value).startswith(f"question 'trust': {sentence}")


def test_only_a_scale_has_ends() -> None:
    with pytest.raises(SurveyError, match="ends goes with scale, rating, not with yes-no"):
        read_survey('title = "T"\n' + PLAIN + 'truth = "1/2"\nends = ["a", "b"]\n')


def test_options_of_yes_no_are_not_translated() -> None:
    survey = read_survey('title = "T"\n' + PLAIN + 'truth = "1/2"\n')
    document = survey.document.replace(b'["no","yes"]', b'[{"de":"nein","default":"no"},"yes"]')
    with pytest.raises(SurveyError, match="have no translations of their own"):
        parse_survey(document)


def test_a_second_coin_has_no_third_option() -> None:
    with pytest.raises(SurveyError, match="must have either yes or decline"):
        read_survey(f'title = "T"\n{PLAIN}truth = "1/2"\nyes = "1/2"\ndecline = "No comment"\n')

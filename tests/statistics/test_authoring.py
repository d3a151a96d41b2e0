"""Slips that authors make, and the way out that each message names."""

from __future__ import annotations

import pytest

from deniable import SurveyError, read_survey
from deniable.survey.texts import Text

PLAIN = 'title = "T"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1\n'


def sentence_for(text: str | bytes) -> str:
    with pytest.raises(SurveyError) as caught:
        read_survey(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("slip", "sentence"),
    [
        ("epsilon = 1,5", "survey, line 6: must write a decimal point, 1.5, not a comma"),
        (
            "epsilon = '1,5'",
            "question 'q': epsilon: must be a number like 0.5 or a fraction like 1/2, got '1,5'; write",
        ),
        ("truth = 0,5 # a coin", "survey, line 6: must write a decimal point, 0.5, not a comma"),
        ("epsilon = 1\ncloses = 20.12.2026", "survey, line 7: must write a date as 2026-12-20, not 20.12.2026"),
        ("epsilon = 1\ncloses = 12/20/2026", "survey, line 7: must write a date as year-month-day, such as"),
        ("epsilon = 1\ncloses = 11/12/2026", "survey, line 7: must write a date as year-month-day, such as"),
        ("epsilon = \u201c1\u201d", "survey, line 6: must have straight quotes around texts"),
        ('epsilon = "1\u201d', "survey, line 6: must have straight quotes around texts"),
        ("epsilon = \u201e1\u201c", "survey, line 6: must have straight quotes around texts"),
        ("epsilon", "survey: is not TOML: "),
        (
            "epsilon = 1\nepsilon = 2",
            "survey: is not TOML: Cannot overwrite a value (at line 7, column 12); 'epsilon' stands twice in its table",
        ),
    ],
)
def test_usual_slips_in_toml_name_the_line_and_the_way_out(slip: str, sentence: str) -> None:
    assert sentence_for(PLAIN.replace("epsilon = 1", slip)).startswith(sentence)


@pytest.mark.parametrize(
    ("slip", "way"),
    [
        ("help = yes", "a text stands in quotes"),
        ('help = "yes', "a text ends with a quote on its own line"),
        ('help "yes"', "a line is key = value"),
        ('options = ["a" "b"]', "a list has commas between its values"),
        ('help = { default = "a" de = "b" }', "languages have commas between them"),
        ('help = { default = "a",\nde = "b" }', "all languages stand on one line"),
        ('help = """yes', "a text ends with the quotes with which it begins"),
        ('help = "a\\q"', "a backslash in a text is written twice"),
        ('help = "a" unit = "b"', "each key has a line of its own"),
        ("[[sections]", "a table has as many brackets behind its name"),
        ("[groups.a]\n[groups.a]", "a table in single brackets stands once"),
    ],
)
def test_files_that_are_not_toml_say_how_it_is_written(slip: str, way: str) -> None:
    assert f"; {way}" in sentence_for(f"{PLAIN}\n{slip}\n")


def test_an_id_that_no_column_can_have_is_named_before_the_conditions_about_it() -> None:
    asked = '\n[[questions]]\nid = "p"\ntype = "yes-no"\ntext = "P?"\nepsilon = 1\nask_if = "q = yes"\n'
    assert sentence_for(PLAIN.replace('id = "q"', 'id = "gr\u00f6\u00dfe"') + asked).startswith(
        "question 'gr\u00f6\u00dfe': id must"
    )


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ("closes = '20.12.2026'", "closes: must be a date without quotes, 2026-12-20, got '20.12.2026'"),
        ("closes = '2026-12-20'", "closes: must be a date without quotes, like 2026-11-20, got '2026-12-20'"),
        ("closes = '31.2.2026'", "closes: must be a date without quotes, year-month-day"),
        ("closes = 2026-12-20T10:00:00", "closes: must be a day without a time, 2026-12-20; days begin and end in UTC"),
        ("closes = 5", "closes: must be a day like 2026-11-20, got 5"),
        ("retention = 'none'", "retention: must be reports or tallies, got 'none'"),
        ("cohorts = 'web'", """survey: cohorts must be a list like ["a", "b"], got 'web'"""),
    ],
)
def test_values_of_the_wrong_kind_are_shown_with_the_way_out(keys: str, sentence: str) -> None:
    assert sentence_for(f"{keys}\n{PLAIN}").startswith(sentence)


@pytest.mark.parametrize(
    ("lo", "sentence"),
    [
        ("0.0", "question 'q': lo must be a whole number without a point, got 0.0; write 0"),
        ("0.5", "question 'q': lo must be a whole number without a point, got 0.5"),
        ("inf", "question 'q': lo must be a whole number without a point, got Infinity"),
        ("'0'", "question 'q': lo must be a whole number without a point, got '0'"),
        ("9", "question 'q': lo must be below hi, got 9 and 5"),
    ],
)
def test_ends_of_a_scale_are_whole_numbers(lo: str, sentence: str) -> None:
    assert sentence_for(PLAIN.replace("yes-no", "scale") + f"lo = {lo}\nhi = 5") == sentence


def test_a_byte_order_mark_is_no_part_of_a_survey() -> None:
    for text in (f"\ufeff{PLAIN}", f"\ufeff{PLAIN}".encode()):
        assert read_survey(text) == read_survey(PLAIN)
    assert sentence_for(PLAIN.encode("utf-16")).endswith("; save the file as UTF-8")
    assert sentence_for(PLAIN.replace("Q?", "Größe?").encode("latin-1")).endswith(
        "(line 5) is not; save the file as UTF-8"
    )


def test_curly_quotes_within_a_text_are_meant() -> None:
    text = PLAIN.replace('"Q?"', '"Would you tell \u201cthem\u201d?"')
    assert "\u201c" in read_survey(text).questions[0].text


def test_a_key_of_the_survey_below_a_question_is_told_where_it_goes() -> None:
    """TOML gives it to the question; the list of what that can have would say nothing of the mistake."""
    sentence = sentence_for(f"{PLAIN}\ncloses = 2030-01-01\n")
    assert "has the key 'closes', which is one of the whole survey; move it above the first line in double" in sentence


@pytest.mark.parametrize(
    ("slip", "hint"),
    [
        ("sequence", "it can have title, language, organiser, about, contact, "),
        ("description", "it can have title, "),
        ("titel", "did you mean 'title'?"),
        ("reader", "did you mean 'readers'?"),
        ("organizer", "did you mean 'organiser'?"),
        ("cohorts_required", "did you mean 'cohort_required'?"),
        ("close", "did you mean 'closes'?"),
        ("question", "did you mean 'questions'?"),
    ],
)
def test_only_a_near_spelling_is_suggested_for_an_unknown_key(slip: str, hint: str) -> None:
    assert sentence_for(f"{slip} = 1\n{PLAIN}").startswith(f"survey: has the unknown key {slip!r}; {hint}")


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (
            'type = "scale"\nlo = 1\nhi = 3\ndecline = "No answer"',
            "question 'q': decline goes with yes-no, choice, ticks, not with scale: "
            "a scale is answered by numbers alone",
        ),
        ('type = "yes-no"\noptions = ["a", "b"]', "question 'q': options goes with choice, ticks, not with yes-no"),
        ('type = "choice"\noptions = ["a", "b"]\nlo = 1', "question 'q': lo goes with scale, number, not with choice"),
    ],
)
def test_a_key_of_another_type_is_refused_with_the_types_that_have_it(keys: str, sentence: str) -> None:
    assert sentence_for(PLAIN.replace('type = "yes-no"', keys)) == sentence


TWO = PLAIN.replace('text = "Q?"', 'text.default = "Q?"\ntext.de = "F?"')


def test_default_texts_are_published_under_their_language_too() -> None:
    (question,) = read_survey('language = "en"\n' + TWO).questions
    assert isinstance(question.text, Text)
    assert dict(question.text.translations) == {"en": "Q?", "de": "F?"}
    # Whoever reads English, and German only after it, reads the default.
    assert [question.text.in_language(each) for each in ("en", "de", "fr")] == ["Q?", "F?", "Q?"]
    survey = read_survey('language = "en"\n' + PLAIN)
    assert survey == read_survey(PLAIN)  # a text in one language leaves nobody a choice


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ('"English"', 'language: must be like "en" or "pt-BR", that of the default texts, got \'English\''),
        ("1", 'language: must be like "en" or "pt-BR", that of the default texts, got 1'),
        ('"de"', "text: is in de twice, as de and as default: language says that the default is de, so leave de out"),
    ],
)
def test_language_is_a_tag_and_no_second_text(language: str, sentence: str) -> None:
    assert sentence_for(f"language = {language}\n{TWO}") == sentence


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (PLAIN.encode("utf-16"), "survey: must be UTF-8 text, got what looks like UTF-16 or no text at all; save the"),
        (
            PLAIN.encode("utf-16-be"),
            "survey: must be UTF-8 text, got what looks like UTF-16 or no text at all; save the",
        ),
        (
            b"PK\x03\x04" + bytes(40),
            "survey: must be a text, got a ZIP file, as Excel writes it; 'deniable survey import'",
        ),
        (
            PLAIN.replace(" = ", "\u00a0= ", 1),
            "survey, line 1: must have plain spaces around keys and =, got another kind",
        ),
        (
            f"closes = 2026-02-30\n{PLAIN}",
            "survey: is not TOML: Invalid date or datetime (at line 1, column 10); a date is",
        ),
        (
            '{"title": "T"}',
            "survey: is not TOML: Invalid statement (at line 1, column 1); a line is key = value, such as",
        ),
        (
            PLAIN.replace('"yes-no"', f'"number"\nlo = {-(10**30)}\nhi = 5'),
            "question 'q': lo and hi must be at most 1,000,000 apart, got a very long number and 5",
        ),
        (PLAIN.replace("epsilon", "decline = true\nepsilon"), "question 'q': decline: must be a text, got true"),
        (
            PLAIN.replace('"yes-no"', '"choice"\noptions = ["a", 2]'),
            "question 'q': options: must be a text, got 2; write \"2\"",
        ),
    ],
)
def test_files_of_other_programs_and_values_of_other_types_are_called_by_their_names(
    content: str | bytes, sentence: str
) -> None:
    assert sentence_for(content).startswith(sentence)

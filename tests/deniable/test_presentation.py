"""What stands around the questions: contact, layout, thanks, completion and look. It changes nothing that is asked."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable import Question, Survey, SurveyError, Warner, parse_survey, read_survey
from deniable.survey.completion import Completion
from deniable.survey.look import Logo, Look
from deniable.survey.question_types import YES_NO
from deniable.survey.texts import Text
from tools.rig.presented import IMAGES, image_bytes, presented_surveys
from tools.rig.survey_files import question_toml, survey_toml

KEYS = {"contact", "sample", "license", "layout", "thanks", "completion", "look"}
ACCENTS = Look("#0b5d82", "#4885a1")

texts = st.text(st.characters(categories=("L", "N", "P")), min_size=1, max_size=20)


def survey_with(**keys: Any) -> Survey:
    return Survey("T", (Question("q", "yes-no", "Q?", YES_NO, Warner.from_epsilon(1)),), **keys)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.none() | texts, st.none() | texts, st.lists(texts, max_size=3, unique=True))
def test_document_without_them_is_what_it_was_before_they_could_be_set(
    organiser: str | None, about: str | None, cohorts: list[str]
) -> None:
    survey = survey_with(organiser=organiser, about=about, cohorts=tuple(cohorts))
    published: dict[str, Any] = {
        "deniable": 2,
        "title": "T",
        "questions": [
            {
                "id": "q",
                "type": "yes-no",
                "text": "Q?",
                "options": ["no", "yes"],
                "mechanism": {"name": "warner", "keep": 3139872686},
            }
        ],
    }
    published |= {"organiser": organiser} if organiser else {}
    published |= {"about": about} if about else {}
    published |= {"cohorts": cohorts} if cohorts else {}
    assert survey.document == json.dumps(published, sort_keys=True, separators=(",", ":")).encode("ascii")
    assert replace(survey, layout="steps", contact=None, thanks=None, completion=None, look=None).id == survey.id


@pytest.mark.parametrize(
    ("survey", "survey_id"),
    [
        (survey_with(), "7ynzjmygx6b7wefbyp26zsikxu"),
        (survey_with(organiser="O", about="A", cohorts=("web",), release=50), "inbrzy43wcpofep4aolfviuuby"),
    ],
)
def test_addresses_are_those_of_earlier_versions(survey: Survey, survey_id: str) -> None:
    assert survey.id == survey_id


@pytest.mark.parametrize("survey", presented_surveys(survey_with()), ids=lambda survey: survey.title)
def test_each_is_published_read_back_and_no_part_of_the_question(survey: Survey) -> None:
    again = parse_survey(survey.document, survey.id)
    assert (again, again.document) == (survey, survey.document)
    assert hash(again) == hash(survey)
    assert json.loads(survey.document).keys() & KEYS
    assert survey.id != survey_with().id
    assert survey.keys == survey_with().keys


@pytest.mark.parametrize("kind", IMAGES)
def test_type_and_size_of_a_logo_are_those_of_its_header(kind: str) -> None:
    logo = Logo(image_bytes(kind, 640, 77), "Logo")
    assert (logo.type, logo.size) == ("image/png" if kind == "png" else "image/webp", (640, 77))


def test_texts_keep_their_translations() -> None:
    both = {"de": "auf Deutsch"}
    survey = survey_with(
        contact=Text("c", both),
        thanks=Text("t", both),
        completion=Completion(Text("x", both), code="C"),
        look=Look(logo=Logo(image_bytes("png"), Text("l", both))),
    )
    again = parse_survey(survey.document)
    assert again.completion
    assert again.look
    assert again.look.logo
    for text in (again.contact, again.thanks, again.completion.text, again.look.logo.text):
        assert isinstance(text, Text)
        assert text.in_language("de") == "auf Deutsch"


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"link": "http://a.example"}, "completion.link: must start with https://, like "),
        ({"link": "https://a@b.example"}, "completion.link: must hold no user name before its host, got "),
        ({"link": "https://A.example/"}, "completion.link: must have a host in lower-case letters of ASCII after"),
        ({"link": "https://a.example:0/"}, "completion.link: must have a host in lower-case letters of ASCII after"),
        ({"link": "https://1.2/"}, "completion.link: must have a host that there can be, got '1.2'"),
        ({"link": "https://a.example:65536"}, "completion.link: must have a port from 1 to 65535, got 65536"),
        (
            {"link": "https://a.example/?id={{%PROLIFIC_PID%}}"},
            "completion.link: must hold no other placeholder than {code}, because it is the same for everybody, got ",
        ),
        ({"link": "https://a.example/a b"}, "completion.link: must hold only characters of URLs (RFC 3986), and "),
        ({"link": "https://a.example/{code}"}, "completion.link: must have a code or a code_length for its {code}"),
        (
            {"link": "https://a.example/{code}{code}", "code": "c"},
            "completion.link: must hold {code} at most once, got it 2 times",
        ),
        ({"link": "https://a.example/" + "a" * 483}, "completion.link: must be at most 500 characters, got 501"),
        ({}, "completion: must have at least one of link, code and code_length, got none of them"),
        ({"code": "c", "code_length": 6}, "completion: must have either code or code_length, got both"),
        ({"code": "a b"}, "completion.code: must be 1 to 64 of A to Z, a to z, 0 to 9, - and _, got 'a b'"),
        ({"code_length": 21}, "completion.code_length: must be a whole number from 6 to 20, got 21"),
    ],
)
def test_completion_that_is_none_is_named(keys: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SurveyError) as refused:
        Completion(**keys)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Look("#fff", "#000000"), "look.accent: must be a colour like \"#0b5d82\", got '#fff'"),
        (lambda: Look("#000000"), "look: must have accent and accent_dark or neither, got accent without accent_dark"),
        (lambda: Look(None, "#ffffff"), "look: must have accent and accent_dark or neither, got accent_dark without"),
        (Look, "look: must have an accent or a logo, got neither of them"),
        (lambda: Logo(b"GIF89a", "Logo"), "look.logo: must be a PNG or WebP image, got a file with the header of nei"),
        (lambda: Logo(b"\0" * 20_001, "Logo"), "look.logo: must be at most 20000 bytes, got 20001"),
        (
            lambda: Logo(image_bytes("png", 1001, 5), "Logo"),
            "look.logo: must be 1 to 1000 pixels wide and high, got 1001 x 5 pixels",
        ),
        (lambda: Logo(image_bytes("png"), " "), "look.logo_text: must not be empty"),
    ],
)
def test_look_that_is_none_is_named(make: Any, sentence: str) -> None:
    with pytest.raises(SurveyError) as refused:
        make()
    assert str(refused.value).startswith(sentence)


def test_help_changes_nothing_that_devices_remember_and_a_unit_does() -> None:
    def of(**keys: Any) -> Survey:
        return read_survey(survey_toml("T", question_toml("q", "number", "How long?", lo=0, hi=9, epsilon=1, **keys)))

    plain, helped, measured = of(), of(help="Without breaks."), of(unit="hours")
    assert (helped.questions[0].help, measured.questions[0].unit) == ("Without breaks.", "hours")
    assert plain.keys == helped.keys != measured.keys
    assert len({survey.id for survey in (plain, helped, measured)}) == 3
    for survey in (helped, measured):
        assert parse_survey(survey.document) == survey


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            question_toml("q", "yes-no", "?", epsilon=1, unit="hours"),
            "question 'q': unit goes with number, not with yes-no",
        ),
        (question_toml("q", "number", "?", lo=0, hi=9, epsilon=1, unit="u" * 41), "question 'q': unit: must be"),
        (question_toml("q", "number", "?", lo=0, hi=9, epsilon=1, help=""), "question 'q': help: must not be empty"),
    ],
)
def test_wrong_help_and_units_are_refused_by_name(question: str, message: str) -> None:
    with pytest.raises(SurveyError, match=re.escape(message)):
        read_survey(survey_toml("T", question))


def test_only_a_number_has_a_unit() -> None:
    with pytest.raises(SurveyError, match="question 'q': only a number has a unit"):
        Question("q", "yes-no", "Q?", YES_NO, Warner.from_epsilon(1), unit="hours")


@pytest.mark.parametrize("number", [0, -1, 10_000_001, 1.5, True, "7"])
def test_a_survey_closes_at_a_whole_number_of_reports(number: object) -> None:
    with pytest.raises(SurveyError, match="closes_at: must be a whole number of reports from 1 to 10,000,000, got"):
        survey_with(closes_at=number)


def test_the_number_at_which_a_survey_closes_is_published() -> None:
    survey = survey_with(closes_at=2000)
    assert json.loads(survey.document)["closes_at"] == 2000
    assert parse_survey(survey.document) == survey

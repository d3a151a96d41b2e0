"""``deniable survey import``: XLSForm and SurveyJS as survey files, and the list of what could not be taken over."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from deniable import Survey, read_survey
from deniable_server.authors.importing import Imported, import_form
from deniable_server.authors.importing.conditions import Untranslatable, translate
from deniable_server.authors.importing.imported_questions import Asked
from tools.rig.command_line import CommandLine

IMPORT = CommandLine("survey", "import")

TYPES: list[list[str | None]] = [
    ["type", "name", "label::English (en)", "label::Deutsch (de)", "label::Klingon", "hint", "relevant", "constraint"],
    ["start", "start"],
    ["begin_group", "about", "About you"],
    ["select_one yesno", "Smoke", "Do you <b>smoke</b>?", "Rauchen Sie?", "?", "Any kind."],
    ["select_multiple drugs", "drugs", "Which?", "Welche?", None, None, "${Smoke} = '1'"],
    ["end_group"],
    [
        "select_one town",
        "town",
        "Where do you live?",
        "Wo?",
        None,
        None,
        "selected(${drugs}, 'c') and not(${Smoke} = '0')",
    ],
    ["integer", "drinks", "How many drinks?", "Wie viele?", None, None, None, "(. >= 0) and (. < 41)"],
    ["integer", "money", "How much money?"],
    ["range", "mood", "How is your mood?"],
    ["text", "why", "Why?"],
    ["select_one town", "told", "You said ${drinks}. Where?"],
    ["select_one town", "filtered", "Where again?", None, None, None, "string-length(${why}) > 3"],
    ["begin_repeat", "child", "A child"],
    ["select_one yesno", "child_smokes", "Does it smoke?"],
    ["end_repeat"],
    ["geopoint", "place", "Where are you?"],
    ["note", "thanks", "Thanks"],
]
CHOICES = [
    ["list_name", "name", "label::English (en)", "label::Deutsch (de)"],
    ["yesno", "1", "Yes", "Ja"],
    ["yesno", "0", "No", "Nein"],
    ["drugs", "c", "Cannabis", "Cannabis"],
    ["drugs", "h", "Heroin", "Heroin"],
    ["town", "ny", "New York", "New York"],
    ["town", "b", "Berlin", "Berlin"],
]


SETTINGS = [["form_title", "default_language"], ["A form", "English (en)"]]

Rows = Sequence[Sequence[Any]]


def xlsform(path: Path, survey: Rows = TYPES, choices: Rows = CHOICES, settings: Rows = SETTINGS) -> Path:
    book = openpyxl.Workbook()
    sheets = {"survey": survey, "choices": choices, "settings": settings}
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    book.remove(book.worksheets[0])
    book.save(path)
    return path


def reasons(found: Imported) -> dict[str, str]:
    return {each.name: each.why for each in found.left_out}


@pytest.fixture
def form(tmp_path: Path) -> Imported:
    return import_form(xlsform(tmp_path / "form.xlsx"))


@pytest.fixture
def survey(form: Imported) -> Survey:
    return read_survey(form.toml)


def test_questions_of_an_xlsform_keep_types_texts_bounds_and_languages(survey: Survey) -> None:
    assert [(each.id, each.type) for each in survey.questions] == [
        ("smoke", "yes-no"),
        ("drugs", "ticks"),
        ("town", "choice"),
        ("drinks", "number"),
        ("mood", "scale"),
        ("filtered", "choice"),
    ]
    smoke, drugs, town, drinks, mood, _ = survey.questions
    assert smoke.text == "Do you smoke?"
    assert smoke.text.in_language("de") == "Rauchen Sie?"  # type: ignore[attr-defined]
    assert smoke.help == "Any kind."
    assert drugs.choices == ("Cannabis", "Heroin")
    assert town.choices == ("New York", "Berlin")
    assert drinks.mechanism.answer_range == range(41)
    assert mood.options == tuple(map(str, range(1, 11)))
    assert survey.title == "A form"


def test_conditions_become_filters_or_remarks(form: Imported, survey: Survey) -> None:
    assert "ask_if = \"smoke = 'yes'\"" in form.toml
    assert "ask_if = \"(drugs has 'Cannabis') and not (smoke = 'no')\"" in form.toml or (
        "ask_if = \"drugs has 'Cannabis' and not (smoke = 'no')\"" in form.toml
    )
    assert survey.question("filtered").ask_if is None
    assert "# asked only if: string-length(${why}) > 3" in form.toml
    assert "it is asked of everybody now" in reasons(form)["filtered"]


def test_what_is_left_out_is_named_with_its_reason(form: Imported) -> None:
    assert {name: why for name, why in reasons(form).items() if name != "filtered"} == {
        "start": "what a device or its clock says of a person is not asked",
        "money": "a number needs its lowest and its highest answer, as in the constraint . >= 0 and . <= 40",
        "why": "free text has no list of answers into which chance could be mixed",
        "told": "its text holds an earlier answer, which would have to leave the device",
        "child": "how often a group repeats would tell, so nothing in it is asked",
        "place": "a place on a map tells who somebody is; ask for a region as a choice",
        "thanks": "a text without a question",
        "Klingon": "a language without a tag such as (fr) behind its name; texts in it are not taken over",
    }


ROWS = ["It helps", "It hurts"]
SURVEYJS = {
    "title": {"default": "A survey", "de": "Eine Umfrage"},
    "description": "Why we ask",
    "pages": [
        {
            "name": "one",
            "elements": [
                {"type": "boolean", "name": "smokes", "title": "Do you smoke?"},
                {
                    "type": "panel",
                    "visibleIf": "{smokes} = true",
                    "elements": [
                        {"type": "radiogroup", "name": "often", "choices": ["1|daily", "2|seldom"]},
                        {"type": "comment", "name": "more"},
                    ],
                },
                {
                    "type": "checkbox",
                    "name": "Drugs taken",
                    "title": {"default": "Which?", "de": "Welche?"},
                    "choices": [{"value": "c", "text": {"default": "Cannabis", "de": "Hanf"}}, "heroin"],
                    "showNoneItem": True,
                    "showOtherItem": True,
                },
            ],
        },
        {
            "visibleIf": "{Drugs taken} contains 'c' and {often} anyof [1, 2]",
            "elements": [
                {
                    "type": "rating",
                    "name": "trust",
                    "rateMin": 0,
                    "rateMax": 10,
                    "minRateDescription": "not at all",
                    "maxRateDescription": "fully",
                },
                {"type": "matrix", "name": "agree", "title": "Agree?", "rows": ROWS, "columns": ["no", "yes"]},
            ],
        },
        {
            "elements": [
                {"type": "text", "inputType": "number", "name": "age", "min": 18, "max": 99},
                {"type": "file", "name": "f"},
            ],
        },
    ],
}  # fmt: skip


def test_surveyjs_becomes_a_survey(tmp_path: Path) -> None:
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(SURVEYJS), encoding="utf-8")
    found = import_form(path)
    survey = read_survey(found.toml)
    assert [(each.id, each.type, each.ask_if is not None) for each in survey.questions] == [
        ("smokes", "yes-no", False),
        ("often", "choice", True),
        ("drugs_taken", "ticks", False),
        ("trust", "scale", True),
        ("agree_it_helps", "yes-no", True),
        ("agree_it_hurts", "yes-no", True),
        ("age", "number", False),
    ]
    assert survey.about == "Why we ask"
    assert survey.question("often").choices == ("daily", "seldom")
    assert survey.question("drugs_taken").choices == ("Cannabis", "heroin", "Other", "None")
    assert survey.question("drugs_taken").last == ("other", "none")
    assert survey.question("trust").choices[-1].in_language("fi") == "10 \u2013 fully"  # type: ignore[attr-defined]
    assert survey.question("agree_it_hurts").text == "Agree?: It hurts"
    assert reasons(found).keys() == {"more", "Drugs taken: Other", "f"}


SMOKES = Asked("s", "yes-no", {"default": "?"}, options=(("n", {"default": "No"}), ("y", {"default": "Yes"})))
DRUGS = Asked("d", "ticks", {"default": "?"}, options=(("c", {"default": "Crack"}), ("x", {"default": "It's X"})))
AGE = Asked("a", "number", {"default": "?"}, keys={"lo": 0, "hi": 99})
KNOWN = {"s": ("smokes", SMOKES), "d": ("drugs", DRUGS), "a": ("age", AGE)}


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("", ""),
        ("${s} = 'y'", "smokes = 'yes'"),
        ("{s} == true || {s} <> 'y'", "smokes = 'yes' or smokes != 'yes'"),
        ("${a} >= 18 and (${a} < 30 or ${s}='n')", "age >= 18 and (age < 30 or smokes = 'no')"),
        ("selected(${d}, 'x')", 'drugs has "It\'s X"'),
        ("{d} anyof ['c', 'x']", "(drugs has 'Crack' or drugs has \"It's X\")"),
        ("{d} allof ['c', 'x']", "(drugs has 'Crack' and drugs has \"It's X\")"),
        ("{d} notcontains 'c'", "not (drugs has 'Crack')"),
        ("!({s} = 'y')", "not (smokes = 'yes')"),
    ],
)
def test_conditions_in_the_words_of_a_survey_file(condition: str, said: str) -> None:
    assert translate(condition, KNOWN) == said


@pytest.mark.parametrize(
    "condition",
    [
        *("${x} = 'y'", "${s} = 'z'", "${s} > 'y'", "{s} notempty", "{a} + 1 = 3"),
        *("({s} = 'y'", "age({a}) > 3", "{a} = 'old'", "%"),
    ],
)  # fmt: skip
def test_conditions_that_cannot_be_said_are_not_guessed(condition: str) -> None:
    with pytest.raises(Untranslatable):
        translate(condition, KNOWN)


def test_the_command_writes_once_and_lists_what_is_left_out(tmp_path: Path) -> None:
    form, file = xlsform(tmp_path / "form.xlsx"), tmp_path / "my.toml"
    said = IMPORT.ok(form, "--to", file)
    assert "Left out: why: free text has no list of answers" in said
    assert "is written with 6 questions: smoke, drugs, town, drinks, mood, filtered." in said
    assert read_survey(file.read_bytes()).title == "A form"
    assert "exists already" in IMPORT.run(form, "--to", file).stderr


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.docx", b"", "must be an XLSForm (.xlsx, .xls) or a survey of SurveyJS (.json)"),
        ("x.json", b"{", "must be JSON, as SurveyJS writes it"),
        ("x.json", b'{"trial_type": 1}', "must be a survey of SurveyJS, with pages or elements"),
        ("x.xlsx", b"PK nonsense", "is no XLSForm that pyxform reads"),
        ("x.json", b'{"elements": [{"type": "comment", "name": "why"}]}', "holds no question that a survey could ask"),
    ],
)
def test_what_is_no_form_is_refused(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    result = IMPORT.run(path, "--to", tmp_path / "my.toml")
    assert result.exit_code in (1, 2)
    assert said in result.stderr
    assert not (tmp_path / "my.toml").exists()


def test_two_questions_of_one_id_and_options_that_are_too_long_are_named(tmp_path: Path) -> None:
    elements = [
        {"type": "boolean", "name": "Q 1", "title": "One?"},
        {"type": "boolean", "name": "q_1", "title": "Two?"},
        {"type": "boolean", "name": "q_1", "title": "Two again?"},
        {"type": "boolean", "name": "Three", "title": "Three?", "visibleIf": "{q_1} = true"},
        {"type": "radiogroup", "name": "long", "choices": ["a" * 201, "b"]},
        {"type": "radiogroup", "name": "alike", "choices": ["a", "a\u00a0", "a "]},
    ]
    found = import_form(surveyjs(tmp_path, {"title": "\u202e", "description": "\x7f", "elements": elements}))
    assert found.taken == ("q_1", "q_1_2", "three")
    survey = read_survey(found.toml)
    assert survey.title == "Imported survey"
    assert "ask_if = \"q_1_2 = 'yes'\"" in found.toml
    assert reasons(found) == {
        "q_1": "another question of this name, with which it shares its answer, is before it",
        "title": "must show something, got characters only that nobody sees",
        "description": "must not hold the control character U+007F",
        "long": "an option is longer than 200 characters",
        "alike": "options: must differ from each other, 'a' stands there twice",
    }


def surveyjs(folder: Path, survey: dict[str, Any]) -> Path:
    path = folder / "survey.json"
    path.write_text(json.dumps(survey), encoding="utf-8")
    return path


def spoken(**texts: str) -> dict[str, Any]:
    """A survey of SurveyJS that asks one thing, in these languages."""
    return {"elements": [{"type": "boolean", "name": "q", "title": texts}]}


@pytest.mark.parametrize(
    ("survey", "language", "default", "others"),
    [
        (spoken(default="Hello?", de="Hallo?"), "en", "Hello?", {"de": "Hallo?"}),
        (spoken(default="Hello?", de="Hallo?") | {"locale": "de"}, "de", "Hallo?", {"en": "Hello?"}),
        (spoken(default="Bonjour?", de="Hallo?") | {"locale": "fr"}, "fr", "Bonjour?", {"de": "Hallo?"}),
        (spoken(default="Bonjour?", en="Hello?"), None, "Bonjour?", {"en": "Hello?"}),
        (spoken(es="Hola?") | {"locale": "es"}, "es", "Hola?", {}),
        (spoken(default="Ola?", **{"pt-br": "Oi?", "x!": "?"}) | {"locale": "pt-br"}, "pt-br", "Oi?", {"en": "Ola?"}),
        ({"locale": "de", "elements": [{"type": "boolean", "name": "q", "title": "Na?"}]}, "de", "Na?", {}),
        ({"elements": [{"type": "boolean", "name": "q", "title": "What?"}]}, None, "What?", {}),
    ],
)
def test_surveyjs_says_the_language_of_its_texts(
    survey: dict[str, Any], language: str | None, default: str, others: dict[str, str], tmp_path: Path
) -> None:
    found = import_form(surveyjs(tmp_path, survey))
    assert (f'\nlanguage = "{language}"\n' in found.toml) == (language is not None)
    assert ("# language = " in found.toml) == (language is None)
    (question,) = read_survey(found.toml).questions
    assert question.text == default
    said = dict(getattr(question.text, "translations", {}))
    assert {key: text for key, text in said.items() if key != language} == others
    # Whoever reads the language of the default texts gets them under its own name.
    assert said.get(language or "", default) == default
    assert ("x!" in reasons(found)) == ("x!" in str(survey))


COLUMNS = ["type", "name", "label::Français", "label::English", "label::Klingon"]
YES_NO = [
    ["list_name", "name", "label::Français", "label::English"],
    ["yn", "1", "Oui", "Yes"],
    ["yn", "0", "Non", "No"],
]


@pytest.mark.parametrize(
    ("setting", "language", "default", "other"),
    [(None, "fr", "Fumez-vous ?", "en"), ("English", "en", "Do you smoke?", "fr")],
)
def test_an_xlsform_says_its_language_by_its_setting_or_its_first_column(
    setting: str | None, language: str, default: str, other: str, tmp_path: Path
) -> None:
    rows = [COLUMNS, ["select_one yn", "q", "Fumez-vous ?", "Do you smoke?", "?"]]
    settings: Rows = [["form_title", "default_language"], ["A form", setting]]
    found = import_form(xlsform(tmp_path / "form.xlsx", rows, YES_NO, settings))
    assert f'\nlanguage = "{language}"\n' in found.toml
    (question,) = read_survey(found.toml).questions
    assert question.text == default
    assert set(question.text.translations) == {language, other}  # type: ignore[attr-defined]
    assert list(reasons(found)) == ["Klingon"]


def test_workbooks_that_older_tools_took_are_mended(tmp_path: Path) -> None:
    rows = [
        ["type", "name", "label", "relevant", "calculation"],
        ["begin group", "g", "Health"],
        ["select_one town", "home", "Where do you live?"],
        ["select_one town", "home", "Where do you work?"],
        ["end group"],
        ["calculate", "nothing"],
        ["begin group", "g"],
        ["select_one town", "home", "Where do you sleep?", "${nothing} = 3"],
        ["end group"],
    ]
    towns = [["list_name", "name", "label"], ["town", "1", "Bonn"], ["town", "1", "Ulm"]]
    found = import_form(xlsform(tmp_path / "form.xlsx", rows, towns))
    assert found.taken == ("home", "home_2", "home_3")
    first, second, _ = read_survey(found.toml).questions
    assert first.choices == ("Bonn", "Ulm")
    assert (first.before, second.before) == ("Health", None)  # the heading of a group stands before its first question
    assert reasons(found)["home"].startswith(("its name, which another one has too", "its condition"))


def test_options_that_stand_apart_and_pictures_keep_their_texts(tmp_path: Path) -> None:
    elements = [
        {
            "type": "radiogroup",
            "name": "a",
            "choices": ["Yes", "No"],
            "showRefuseItem": True,
            "refuseText": "Secret",
        },
        {"type": "checkbox", "name": "b", "choices": ["x", "y"], "showRefuseItem": True, "showDontKnowItem": True},
        {
            "type": "radiogroup",
            "name": "c",
            "choices": ["x", "y"],
            "hasNone": True,
            "hasOther": True,
            "otherText": "Else",
        },
        {"type": "imagepicker", "name": "d", "choices": [{"value": "Bonn"}, {"value": "u", "text": "Ulm"}]},
        {"type": "text", "inputType": "date", "name": "e"},
    ]
    page = {"title": "Towns", "description": "and habits", "elements": elements}
    found = import_form(surveyjs(tmp_path, {"pages": [page]}))
    a, b, c, d = read_survey(found.toml).questions
    assert (a.type, a.choices, a.last) == ("yes-no", ("no", "yes", "Secret"), ("decline",))
    assert a.before == "Towns\n\nand habits"
    assert (b.choices, b.last) == (("x", "y", "Refuse to answer"), ("decline",))
    assert (c.choices, c.last) == (("x", "y", "None", "Else"), ("other",))
    assert d.choices == ("Bonn", "Ulm")
    assert reasons(found).keys() == {"b: Don't know", "c: Other", "d: pictures", "e"}

"""Contact, layout, thanks, completion and look in an author's file."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from deniable import SurveyError, parse_survey, read_survey
from deniable.survey.completion import Completion
from deniable.survey.look import Look
from deniable_statistics.authoring.look import DARK_CONTRAST, DARK_PANEL, contrast, lightened
from tools.rig.presented import image_bytes
from tools.rig.survey_files import question_toml, survey_toml


def toml(**keys: object) -> str:
    return survey_toml("T", question_toml("q", "yes-no", epsilon=1), **keys)


def sentence_for(folder: Path | None = None, **keys: object) -> str:
    with pytest.raises(SurveyError) as refused:
        read_survey(toml(**keys), folder=folder)
    return str(refused.value)


def test_all_of_them_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "logo.png").write_bytes(image_bytes("png"))
    file = tmp_path / "survey.toml"
    text = toml(
        contact={"default": "ethics@uni.example", "de": "ethik@uni.example"},
        layout="page",
        thanks="Thank you.\n\nBye.",
        completion={"text": "Go back.", "link": "https://panel.example/{code}", "code_length": 8},
        look={"accent": "#0B5D82", "logo": "logo.png", "logo_text": "Institute"},
    )
    file.write_text(text, encoding="utf-8")
    survey = read_survey(path=file)
    assert survey == read_survey(text, folder=tmp_path) == parse_survey(survey.document)
    assert (survey.contact, survey.layout, survey.thanks) == ("ethics@uni.example", "page", "Thank you.\n\nBye.")
    assert survey.completion == Completion("Go back.", "https://panel.example/{code}", code_length=8)
    assert survey.look
    assert survey.look.logo
    assert (survey.look.accent, survey.look.accent_dark) == ("#0b5d82", "#98baca")
    data = base64.b64encode(image_bytes("png"))
    assert b'"logo":{"data":"' + data + b'","type":"image/png"},"logo_text":"Institute"' in survey.document


def test_steps_are_the_layout_that_is_left_out() -> None:
    assert read_survey(toml(layout="steps")).document == read_survey(toml()).document


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"contact": 7}, "contact: must be a text, got 7"),
        ({"contact": "c" * 201}, "contact: must be at most 200 characters, got 201"),
        ({"layout": "cards"}, "layout: must be steps or page, got 'cards'"),
        ({"thanks": ""}, "thanks: must not be empty"),
        ({"thanks": "t" * 4001}, "thanks: must be at most 4000 characters, got 4001"),
        ({"completion": "https://panel.example"}, "completion: must be a table [completion], got 'https://panel"),
        ({"completion": {"url": "https://panel.example"}}, "completion: has the unknown key 'url'; it can have text, "),
        ({"completion": {"text": "Bye"}}, "completion: must have at least one of link, code and code_length"),
        ({"completion": {"code": "c", "text": "t" * 1001}}, "completion.text: must be at most 1000 characters, got 1"),
        ({"completion": {"code_length": 8.0}}, "completion.code_length: must be a whole number from 6 to 20, got 8.0"),
        ({"completion": {"code": {"default": "C", "de": "D"}}}, "completion.code: must be 1 to 64 of A to Z, a to z"),
        ({"look": "#0b5d82"}, "look: must be a table [look], got '#0b5d82'"),
        ({"look": {"colour": "#0b5d82"}}, "look: has the unknown key 'colour'; it can have accent, accent_dark, lo"),
        ({"look": {}}, "look: must have an accent or a logo, got neither of them"),
        ({"look": {"accent": "blue"}}, "look.accent: must be a colour like \"#0b5d82\", got 'blue'"),
        ({"look": {"accent_dark": "#ffffff"}}, "look.accent_dark: needs accent, the colour in light mode"),
        (
            {"look": {"accent": "#777777"}},
            "look.accent: must have a contrast ratio of at least 4.5 to the light panel #f6f1e7, got 3.97 of #777777; ",
        ),
        (
            {"look": {"accent": "#0b5d82", "accent_dark": "#0b5d82"}},
            "look.accent_dark: must have a contrast ratio of at least 4.5 to the dark panel #3a332c, got",
        ),
        ({"look": {"logo": "logo.png"}}, "look.logo_text: must be there with a logo, to be read out for it"),
        ({"look": {"logo_text": "Logo"}}, "look.logo_text: needs a logo, for which it is read out"),
        ({"look": {"logo": 7, "logo_text": "Logo"}}, "look.logo: must be the path of a file, got 7"),
        ({"look": {"logo": "logo.png", "logo_text": "L"}}, "look.logo: must be a file beside the file of the survey"),
    ],
)
def test_slips_are_named(keys: dict[str, Any], sentence: str) -> None:
    assert sentence_for(**keys).startswith(sentence)


@pytest.mark.parametrize("logo_text", ["", 7, {"de": "Logo"}])
def test_what_is_read_out_for_a_logo_is_a_text(tmp_path: Path, logo_text: object) -> None:
    (tmp_path / "logo.png").write_bytes(image_bytes("png"))
    assert sentence_for(tmp_path, look={"logo": "logo.png", "logo_text": logo_text}).startswith("look.logo_text: ")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("none.png", None, "look.logo: must be a file in the folder of the survey, got 'none.png', no file there"),
        (".", None, "look.logo: must be a file in the folder of the survey, got '.', no file there"),
        ("a\0b.png", None, "look.logo: "),
        ("/etc/logo.png", None, "look.logo: must be a path relative to the file of the survey, got '/etc/logo.png'"),
        ("logo.png", b"<svg/>", "look.logo: must be a PNG or WebP image, got a file with the header of neither"),
        ("logo.png", image_bytes("png") + bytes(20_000), "look.logo: must be at most 20000 bytes, got 20001"),
        ("logo.png", image_bytes("png", 9, 1001), "look.logo: must be 1 to 1000 pixels wide and high, got 9 x 1001"),
        ("a.png", image_bytes("png") + b"\0\0\0\0" + b"\0\0\0\x08acTL", "look.logo: must be a still image, because "),
        ("a.webp", image_bytes("extended webp").replace(b"\x10\0\0\0", b"\x12\0\0\0"), "look.logo: must be a still im"),
    ],
)
def test_logos_that_no_device_shows_are_refused(
    tmp_path: Path, name: str, content: bytes | None, sentence: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert sentence_for(tmp_path, look={"logo": name, "logo_text": "Logo"}).startswith(sentence)


def test_a_logo_is_known_by_its_content_and_not_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "logo.jpeg").write_bytes(image_bytes("lossless webp"))
    survey = read_survey(toml(look={"logo": "logo.jpeg", "logo_text": "Logo"}), folder=tmp_path)
    assert survey.look
    assert survey.look.logo
    assert survey.look.logo.type == "image/webp"


def test_what_looks_like_a_chunk_within_data_is_no_animation(tmp_path: Path) -> None:
    png = image_bytes("png") + b"\0\0\0\0" + b"\0\0\0\x04IDATacTL" + b"\0\0\0\0"
    (tmp_path / "logo.png").write_bytes(png)
    assert read_survey(toml(look={"logo": "logo.png", "logo_text": "Logo"}), folder=tmp_path).look


@pytest.mark.parametrize(
    ("one", "another", "ratio"),
    # by the calculator of WebAIM, https://webaim.org/resources/contrastchecker/
    [("#000000", "#ffffff", 21), ("#ffffff", "#ffffff", 1), ("#767676", "#ffffff", 4.54), ("#0000ff", "#ffffff", 8.59)],
)
def test_contrast(one: str, another: str, ratio: float) -> None:
    assert contrast(one, another) == contrast(another, one)
    assert round(contrast(one, another), 2) == ratio


@pytest.mark.parametrize("accent", ["#000000", "#0b5d82", "#a00000", "#004000", "#0000ff", "#6e6e6e", "#ffffff"])
def test_dark_accent_is_mixed_with_as_little_white_as_does(accent: str) -> None:
    dark = lightened(accent)
    assert contrast(dark, DARK_PANEL) >= DARK_CONTRAST
    assert dark == accent if contrast(accent, DARK_PANEL) >= DARK_CONTRAST else contrast(dark, DARK_PANEL) < 6.2
    look = None if accent == "#ffffff" else read_survey(toml(look={"accent": accent})).look
    assert look in (None, Look(accent, dark))


def test_dark_accent_of_the_author_stays() -> None:
    look = read_survey(toml(look={"accent": "#0b5d82", "accent_dark": "#6CC5EE"})).look
    assert look == Look("#0b5d82", "#6cc5ee")

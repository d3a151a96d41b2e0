"""Thanks, and the way back to a panel, of ``deniable answer``; and the contact before the first question."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

import deniable_web
from deniable import Survey, read_survey
from deniable.survey.completion import CODE_CHARACTERS, Completion
from deniable_client.answer import messages, screens
from deniable_client.completion import PersonalCompletion, completion_of
from deniable_statistics.authoring.look import DARK_PANEL, LIGHT_PANEL
from tests.support.vectors import vectors
from tools.rig.survey_files import question_toml, survey_toml

PLAIN = survey_toml("T", question_toml("q", "yes-no", epsilon=1))


@pytest.fixture
def survey() -> Survey:
    return replace(
        read_survey(PLAIN),
        contact="Ethics office\nethics@uni.example",
        thanks="Ta.\n\nBye.",
        completion=Completion("Back to the panel:", "https://panel.example/?c={code}", code_length=9),
    )


def test_vectors_that_the_browser_is_held_to_as_well(survey: Survey) -> None:
    for vector in vectors("completions"):
        words = iter(vector["words"])
        drawn = completion_of(replace(survey, completion=Completion(**vector["completion"])), words.__next__)
        assert drawn == PersonalCompletion(**vector["personal"]), vector["name"]
        assert next(words, None) is None, vector["name"]


def test_each_character_of_a_code_has_as_many_words_as_every_other(survey: Survey) -> None:
    drawn = []
    for low, high in product(range(32), (0, 1, 2**27 - 1)):
        personal = completion_of(survey, iter([low + 32 * high, *[0] * 9]).__next__)
        assert personal
        assert personal.code
        drawn.append(personal.code[0] if low < 31 else "again")
    assert {each: drawn.count(each) for each in drawn} == dict.fromkeys([*CODE_CHARACTERS, "again"], 3)


def test_codes_of_the_system_differ(survey: Survey) -> None:
    codes = {personal.code for _ in range(20) if (personal := completion_of(survey))}
    assert len(codes) == 20  # two alike: a probability below 1e-10
    assert all(re.fullmatch(f"[{CODE_CHARACTERS}]{{9}}", str(code)) for code in codes)


def test_contact_stands_before_the_first_question(survey: Survey) -> None:
    text = "\n".join(screens.consent(survey, None, is_kiosk=False))
    assert messages.CONTACT.format(contact="Ethics office ethics@uni.example") in text
    assert messages.CONTACT[:20] not in "\n".join(screens.consent(read_survey(PLAIN), None, is_kiosk=False))


def test_receipt_ends_with_thanks_and_the_way_back(survey: Survey) -> None:
    back = completion_of(survey)
    assert back
    assert screens.receipt(survey, "https://a.example", is_old=False, completion=back)[-5:] == [
        "    Ta.\n    \n    Bye.",
        "    Back to the panel:",
        messages.CODE_IS.format(code=back.code),
        messages.CODE_DRAWN,
        f"    https://panel.example/?c={back.code}",
    ]


def test_another_persons_invitation_leads_nowhere(survey: Survey) -> None:
    back = completion_of(survey)
    text = "\n".join(screens.receipt(survey, "https://a.example", is_old=True, is_mine=False, completion=back))
    assert "Bye" not in text
    assert "panel.example" not in text


def test_receipt_of_a_survey_without_them_is_as_before() -> None:
    survey = read_survey(PLAIN)
    assert completion_of(survey) is None
    assert screens.receipt(survey, "https://a.example", is_old=False)[-1].startswith(f"{messages.SURVEY}: {survey.id}")


def test_panels_to_which_contrast_is_checked_are_those_of_the_browser() -> None:
    style = (Path(deniable_web.__file__).parent / "style.js").read_text(encoding="utf-8")
    panels = re.findall(r"--deniable-paper,light-dark\((#\w{6}),(#\w{6})\)", style)
    assert panels == [(LIGHT_PANEL, DARK_PANEL)]
    documented = (Path(__file__).parents[2] / "docs" / "survey-file.md").read_text(encoding="utf-8")
    assert f"behind small buttons (`{LIGHT_PANEL}`)" in documented
    assert f"to the dark panels (`{DARK_PANEL}`)" in documented

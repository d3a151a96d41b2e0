"""Texts of surveys where both sides show them, and what `survey check` misses in them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deniable import KAry, parse_survey, read_survey
from deniable.survey.completion import Completion
from deniable.survey.look import Logo, Look
from deniable_client import randomize
from deniable_client.answer import screens
from deniable_server.authors.checking import missing_translations
from tools.rig.presented import image_bytes
from tools.rig.survey_files import question_toml, survey_toml

PLAIN = '[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\n'

SCALE = survey_toml(
    "T",
    question_toml("trust", "scale", "How much?", lo=1, hi=3, epsilon=1),
)


@pytest.mark.parametrize("noise", ['truth = "1/2"', "epsilon = 1"])
def test_prefer_not_to_say_is_one_of_the_options_and_goes_through_the_mechanism(noise: str) -> None:
    survey = read_survey(f'title = "T"\n{PLAIN}{noise}\ndecline = "Prefer not to say"\n')
    (question,) = survey.questions
    assert question.type == "yes-no"
    assert question.options == ("no", "yes", "Prefer not to say")
    # With a filter, too, it stays a yes-no question, whose No and Yes need no translations of the author's.
    filtered = read_survey(
        f'title = "T"\n{PLAIN}{noise}\n{PLAIN.replace(chr(34) + "q" + chr(34), chr(34) + "r" + chr(34))}{noise}\n'
        'decline = "Prefer not to say"\nask_if = "q = yes"\n'
    )
    asked = parse_survey(filtered.document).questions[1]
    assert (asked.type, asked.choices) == ("yes-no", ("no", "yes", "Prefer not to say"))
    assert isinstance(question.mechanism, KAry)
    if "truth" in noise:
        assert question.mechanism == KAry.from_coin(3, "1/2")
    sent = {randomize(survey, {"q": "Prefer not to say"}).values["q"] for _ in range(200)}
    assert sent == {0, 1, 2}  # one of them missing: a probability below 1e-14


def test_ends_of_a_scale_are_shown_in_the_terminal_and_missed_in_other_languages() -> None:
    survey = read_survey(SCALE + 'ends = [{ default = "not at all", de = "gar nicht" }, "completely"]')
    shown = "\n".join(map(str, screens.question(survey.questions[0], "")))
    assert "1 \u2013 not at all" in shown
    assert "3 \u2013 completely" in shown
    plain = "\n".join(map(str, screens.question(read_survey(SCALE).questions[0], "")))
    assert "\u2013" not in plain
    (sentence,) = missing_translations(survey)
    assert sentence.startswith("de: is missing in title, the text of trust, the label of level 3 of trust")


def test_thanks_completion_and_logo_text_are_missed_in_other_languages_and_contact_is_not() -> None:
    survey = replace(
        read_survey(SCALE.replace('title = "T"', 'title = { default = "T", de = "T" }')),
        contact="ethics@uni.example",
        thanks="Thanks",
        completion=Completion("Go back", code="C"),
        look=Look(logo=Logo(image_bytes("png"), "Institute")),
    )
    (sentence,) = missing_translations(survey)
    assert sentence.startswith("de: is missing in thanks, completion.text, look.logo_text, the text of trust; people")


@pytest.mark.parametrize("decline", ["Prefer not to say", {"default": "Prefer not to say", "de": "Keine Angabe"}])
def test_yes_and_no_beside_a_third_option_count_as_no_language_of_the_author(decline: object) -> None:
    in_two = isinstance(decline, dict)
    title, text = ({"default": each, "de": f"{each} (de)"} if in_two else each for each in ("Title", "Text?"))
    survey = read_survey(survey_toml(title, question_toml("q", "yes-no", text, decline=decline, epsilon=1)))
    assert missing_translations(survey) == []
    without = read_survey(survey_toml("T", question_toml("q", "yes-no", text, decline=decline, epsilon=1)))
    assert missing_translations(without) == (
        ["de: is missing in title; people who read it see the default there"] if in_two else []
    )

"""Names that people cannot tell apart: what is refused in an author's file, and what is only warned of."""

from __future__ import annotations

import pytest

from deniable import SurveyError, read_survey
from deniable_statistics.authoring.look_alikes import nearly_alike, skeleton
from tools.rig.survey_files import question_toml, survey_toml

SAME = [
    ("a", "a "),
    ("Ja", "Ja\u200b"),  # a zero-width space
    ("Caf\u00e9", "Cafe\u0301"),  # one character, and two that are drawn as one
    ("very often", "very\u00a0often"),  # a no-break space
    ("very often", "very  often"),
    ("Class A", "Class \u0410"),  # a Cyrillic capital
    ("\u041a\u043e\u0442", "K\u043e\u0442"),  # a Latin one among Cyrillic
    ("left", "le\u00adft"),  # a soft hyphen
]


@pytest.mark.parametrize("pair", SAME)
def test_names_that_look_the_same_are_refused(pair: tuple[str, str]) -> None:
    assert skeleton(pair[0]) == skeleton(pair[1])
    files = [
        survey_toml("T", question_toml("q", "choice", "Which?", options=[*pair, "other"], epsilon=1)),
        survey_toml("T", question_toml("q", "ticks", "Which?", options=["x", "y"], other=pair[0], epsilon=1)).replace(
            '"y"', f'"{pair[1]}"'
        ),
        survey_toml("T", question_toml("q", "yes-no", "Do you?", epsilon=1), cohorts=list(pair)),
    ]
    for file in files:
        with pytest.raises(SurveyError, match=r"must look different from each other, got .* twice, as character \d"):
            read_survey(file)


def test_a_refusal_says_what_nobody_sees() -> None:
    with pytest.raises(
        SurveyError,
        match=r"^question 'q': options: must look different from each other, got 'a' twice, as character 2 once with "
        r"nothing and once with U\+00A0 \(no-break space\); leave one of them out, or reword it$",
    ):
        read_survey(survey_toml("T", question_toml("q", "choice", "Which?", options=["a", "a\u00a0"], epsilon=1)))


GRID = """
title = "T"
[[questions]]
id = "g"
type = "grid"
text = "Do you trust"
epsilon = 1
items = { police = "the police", courts = "the police " }
"""
SECTIONS = """
title = "T"
[[sections]]
heading = "Habits"
[[sections.questions]]
id = "a"
type = "yes-no"
text = "A?"
epsilon = 1
[[sections]]
heading = "Habits"
[[sections.questions]]
id = "b"
type = "yes-no"
text = "B?"
epsilon = 1
"""


def test_items_of_a_grid_labels_translations_and_headings_are_held_to_it_too() -> None:
    with pytest.raises(SurveyError, match=r"grid 'g': items: must look different"):
        read_survey(GRID)
    with pytest.raises(SurveyError, match=r"grid 'g': items: must differ from each other"):
        read_survey(GRID.replace("police ", "police"))
    with pytest.raises(SurveyError, match=r"question 'q': labels: must look different"):
        read_survey(
            'title = "T"\n[[questions]]\nid = "q"\ntype = "scale"\ntext = "?"\nlo = 1\nhi = 2\nepsilon = 1\n'
            'labels = ["low", "low "]'
        )
    with pytest.raises(SurveyError, match=r"options in de: must look different"):
        read_survey(
            'title = "T"\n[[questions]]\nid = "q"\ntype = "choice"\ntext = "?"\nepsilon = 1\n'
            'options = [{ default = "country", de = "Land" }, { default = "state", de = "Land " }]'
        )
    read_survey(SECTIONS)  # a heading may return
    with pytest.raises(SurveyError, match="sections: headings: must look different"):
        read_survey(SECTIONS.replace('"Habits"', '"Habits "', 1))


def test_names_that_hardly_differ_are_pairs_for_a_warning() -> None:
    options = ["yes", "no", "Yes", "1-2 times", "1\u20132 times.", "ten", "\uff54en", "ten more"]
    assert list(nearly_alike(options)) == [("yes", "Yes"), ("1-2 times", "1\u20132 times."), ("ten", "\uff54en")]
    read_survey(survey_toml("T", question_toml("q", "choice", "Which?", options=options, epsilon=1)))

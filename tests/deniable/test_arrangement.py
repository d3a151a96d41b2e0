"""Sections, grids, random orders and options that stand apart: what is published, refused and drawn."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from deniable import Survey, SurveyError, parse_survey, read_survey
from deniable.survey.arrangement import Block, Presentation
from deniable.survey.order import RandomOrder
from tools.rig.arranged import ALL, GRIDS, ORDER, SECTIONS

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "orders.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_vectors(vector: dict[str, Any]) -> None:
    if vector["id"] is None:
        with pytest.raises(SurveyError):
            parse_survey(vector["document"].encode())
        return
    survey = parse_survey(vector["document"].encode(), vector["id"])
    for visit in vector["visits"]:
        words = iter(visit["words"])
        shown = survey.presented(visit["asked"], words.__next__)
        assert list(words) == []
        assert list(shown.block.ids) == visit["order"]
        assert {name: list(each) for name, each in shown.choices.items()} == visit["choices"]


@pytest.mark.parametrize("toml", ALL)
def test_what_is_published_is_read_again(toml: str) -> None:
    survey = read_survey(toml)
    assert parse_survey(survey.document, survey.id) == survey
    assert b'"order":"random"' in survey.document


def test_a_presentation_leaves_the_keys_of_questions_alone() -> None:
    plain = read_survey(_without(SECTIONS, "order", "fixed_first", "fixed_last", "before"))
    assert plain.keys == read_survey(SECTIONS).keys


def test_a_survey_without_any_of_it_keeps_its_bytes() -> None:
    survey = read_survey('title = "T"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\ntruth = "1/2"')
    assert survey.document == (
        b'{"deniable":2,"questions":[{"id":"q","mechanism":{"name":"two-coin","truth":2147483648,"yes":2147483648},'
        b'"options":["no","yes"],"text":"Q?","type":"yes-no"}],"title":"T"}'
    )


@pytest.mark.parametrize(("n", "order"), [(4, RandomOrder()), (5, RandomOrder(1, 1)), (4, RandomOrder(fixed_last=1))])
def test_every_order_is_equally_likely(n: int, order: RandomOrder) -> None:
    """By enumeration: with bounds that are powers of two no word is drawn in vain, with others each is repeated."""
    moving = n - order.fixed_first - order.fixed_last
    found: Counter[tuple[int, ...]] = Counter()
    for picks in itertools.product(*(range(bound) for bound in range(moving, 1, -1))):
        found[tuple(order.draw(n, iter(picks).__next__))] += 1
    middle = range(order.fixed_first, n - order.fixed_last)
    expected = {
        (*range(order.fixed_first), *each, *range(n - order.fixed_last, n)) for each in itertools.permutations(middle)
    }
    assert set(found) == expected
    assert set(found.values()) == {1}


def test_what_is_drawn_does_not_depend_on_what_is_asked() -> None:
    survey = read_survey(SECTIONS)
    every = [each.id for each in survey.questions]
    drawn = []
    for asked in (every, every[:1], []):
        words = iter([2**31 + 7 * n for n in range(100)])
        shown = survey.presented(asked, words.__next__)
        drawn.append((len(list(words)), shown.choices))
        assert [each for each in _presented(survey).block.ids if each in shown.block.ids] == list(shown.block.ids)
    assert drawn[0] == drawn[1] == drawn[2]


def _presented(survey: Survey) -> Presentation:
    words = iter([2**31 + 7 * n for n in range(100)])
    return survey.presented([each.id for each in survey.questions], words.__next__)


def test_fixed_places_and_sections_stay_together() -> None:
    survey = read_survey(SECTIONS)
    for seed in range(50):
        words = iter([(2654435761 * (seed + 1) * (n + 1)) % 2**32 for n in range(100)])
        shown = survey.presented([each.id for each in survey.questions], words.__next__)
        ids = shown.block.ids
        assert ids[0] == "sector"
        assert ids[-1] == "mood"
        assert ids.index("often") > ids.index("smokes")
        grid = sorted(ids.index(name) for name in ("trust_police", "trust_courts", "trust_press"))
        assert grid == list(range(grid[0], grid[0] + 3))
        assert shown.choices["sector"][3:] == ("Another one", "Prefer not to say")
        assert shown.choices["often"][-1] == "more"


def test_the_introduction_of_a_section_stands_before_the_first_question_that_applies() -> None:
    survey = read_survey(SECTIONS)
    shown = Presentation(survey.arrangement or Block(()))
    every = [each.id for each in survey.questions]
    assert shown.introduction("smokes", every) == ["Your habits", "Think of the last month."]
    assert shown.introduction("drugs", every) == []
    assert shown.introduction("drugs", ["sector", "drugs", "mood"]) == ["Your habits", "Think of the last month."]
    assert shown.introduction("sector", every) == []


def test_a_yes_no_with_decline_stays_one() -> None:
    smokes = read_survey(SECTIONS).question("smokes")
    assert (smokes.type, smokes.options) == ("yes-no", ("no", "yes", "Prefer not to say"))
    assert smokes.noise_kind.name == "choice"
    assert smokes.mechanism.answer_range == range(3)


def test_grids_are_questions_that_share_an_epsilon() -> None:
    survey = read_survey(GRIDS)
    assert [each.id for each in survey.questions] == [
        "done_copied",
        "done_paid",
        "done_cited",
        "felt_tired",
        "felt_alone",
    ]
    assert {each.type for each in survey.questions[:3]} == {"yes-no"}
    assert survey.questions[0].text == "In the last year, have you\ncopied from others?"
    assert survey.questions[0].text.in_language("de") == "Haben Sie im letzten Jahr\nabgeschrieben?"  # type: ignore[attr-defined]
    assert {each.group and each.group.name for each in survey.questions} == {"survey"}
    # All three are asked, so each has a third of the epsilon that they share.
    rows = [each for each in read_survey(SECTIONS).questions if each.id.startswith("trust_")]
    assert [round(each.epsilon, 6) for each in rows] == [round(1 / 3, 6)] * 3


def test_exclusive_boxes_stand_behind_the_others() -> None:
    drugs = read_survey(SECTIONS).question("drugs")
    assert drugs.exclusive == {3, 4}
    assert drugs.last == ("none", "decline")


def _without(toml: str, *keys: str) -> str:
    return "\n".join(line for line in toml.splitlines() if line.split(" =")[0] not in keys)


@pytest.mark.parametrize(
    ("found", "instead", "sentence"),
    [
        ('order = "random"\nfixed_first = 1\n\n[[sections.questions]]', 'order = "random"\n\n[[sections.questions]]',
         "ask_if is about 'smokes', which the random order of section 'Your habits' can put after it"),
        ('fixed_first = 1\nfixed_last = 1\n\n[[questions]]', 'fixed_last = 1\nfixed_first = 3\n\n[[questions]]',
         "survey: a random order needs at least 2 sections or questions that change places, got 0 of 4"),
        ('heading = "Trust"', 'heading = "Trust"\nask_if = "smokes = yes"',
         "question 'trust_police': ask_if is about 'smokes', which the random order of the survey can put after it"),
        ('items = { police = "the police?", courts = "the courts?", press = "the press?" }', 'items = ["a", "b"]',
         "grid 'trust': items must be at least 2, each with its name"),
        ('police = "the police?"', 'police = { default = "the police?", de = "der Polizei?" }',
         "grid 'trust': item 'police': must be in the same languages as the text of its grid, which de is not"),
        ('draw = 3', 'draw = 3\nmechanism = "subset"', "grid 'trust': has the unknown key 'mechanism'"),
        ('epsilon = 1.0\ndraw = 3', 'draw = 3', "grid 'trust': draw needs epsilon, which the items share"),
        ('epsilon = 1.0\ndraw = 3', '', "question 'trust_police': must say how much noise"),
        ('heading = "Trust"', 'colour = "red"', "section 3: has the unknown key 'colour'"),
        ('heading = "Trust"\n', '', "section 2: must have a heading, a text or an order"),
        ('order = "random"\nother', 'order = "alphabetical"\nother',
         "question 'sector': order must be \"random\", or left out"),
        ('order = "random"\nother', 'fixed_last = 1\nother', 'fixed_first and fixed_last need order = "random"'),
        ('none = "None of these"\n', 'none = "cannabis"\n', "options: must differ from each other"),
        ('labels = ["very bad", "bad", "so so", "well", "very well"]', 'labels = ["bad", "good"]',
         "question 'mood': labels must be 5 texts, one for each level, got 2"),
        ('labels =', 'ends = ["a", "b"]\nlabels =', "question 'mood': must have either ends or labels"),
    ],
)  # fmt: skip
def test_slips_are_named(found: str, instead: str, sentence: str) -> None:
    assert found in SECTIONS
    with pytest.raises(SurveyError) as error:
        read_survey(SECTIONS.replace(found, instead, 1))
    assert sentence.replace("section 3", "section 2") in str(error.value)


def test_an_order_of_the_whole_survey_needs_no_sections() -> None:
    arrangement = read_survey(ORDER).arrangement
    assert arrangement == Block(("a", "b", "c"), order=RandomOrder())

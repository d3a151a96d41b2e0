"""Sections, orders and options that stand apart in the Python client, in the terminal and in the audit's reference."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from deniable import AnswerError, Survey, read_survey
from deniable_client.answer import asking, screens
from deniable_client.audit.reference.chance import Words
from deniable_client.audit.reference.published import PublishedSurvey
from deniable_client.device import randomize, true_answers
from tools.rig.arranged import SECTIONS
from tools.rig.presented import helped_survey

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "orders.json").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(SECTIONS)


def test_the_reference_draws_the_same_orders() -> None:
    for vector in VECTORS:
        if vector["id"] is None:
            continue
        published = PublishedSurvey(vector["document"].encode())
        assert [unit.key for unit in published.units] == vector["keys"]
        for visit in vector["visits"]:
            words = Words(visit["words"])
            ids, choices = published.arrange(words)
            assert words.left == 0
            assert [each for each in ids if each in visit["order"]] == visit["order"]
            assert {name: choices[name] for name in visit["choices"]} == visit["choices"]


def test_the_reference_has_the_keys_of_questions_with_units() -> None:
    survey = helped_survey()
    assert [unit.key for unit in PublishedSurvey(survey.document).units] == [unit.key for unit in survey.units]


ANSWERS = {
    "sector": "private", "smokes": "Prefer not to say", "drugs": ["None of these"], "mood": "2",
    "trust_police": "fully", "trust_courts": "fully", "trust_press": "not at all",
}  # fmt: skip


def test_a_report_is_the_same_in_whatever_order_answers_come(survey: Survey) -> None:
    reports = set()
    for names in itertools.islice(itertools.permutations(ANSWERS), 0, 5040, 97):
        words = itertools.count(12345, 2654435761)
        report = randomize(
            survey,
            {name: ANSWERS[name] for name in names},
            word=lambda words=words: next(words) % 2**32,
            report_id="00" * 16,
        )
        reports.add(report.encode())
    assert len(reports) == 1


@pytest.mark.parametrize("ticked", [["None of these", "heroin"], ["None of these", "Prefer not to say"]])
def test_beside_an_exclusive_box_nothing_is_taken(survey: Survey, ticked: list[str]) -> None:
    with pytest.raises(AnswerError) as error:
        true_answers(survey, ANSWERS | {"drugs": ticked})
    alone = "answers['drugs']: must have each of ['None of these', 'Prefer not to say'] alone, without another option"
    assert str(error.value) == alone


class Typing:
    """Somebody who types, and what is shown to them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
        self.shown: list[str] = []
        left = iter(lines)
        monkeypatch.setattr(asking, "read", lambda _prompt, *, hidden=False: next(left))
        monkeypatch.setattr(screens, "show", lambda paragraphs: self.shown.extend(paragraphs))


def test_the_terminal_shows_sections_and_options_in_their_order(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = iter(VECTORS[0]["visits"][3]["words"])
    shown = survey.presented([each.id for each in survey.questions], words.__next__)
    questions = [survey.question(name) for name in shown.block.ids]
    # The first option on the screen of each question; then the third of the boxes alone, by its number.
    screen = Typing(monkeypatch, *(["1"] * (len(questions) - 1)), "send")
    given = asking.ask_all(questions, shown)
    assert given["sector"] == shown.choices["sector"][0]
    assert given["drugs"] == [shown.choices["drugs"][0]]
    assert given["smokes"] == "no"
    assert "often" not in given
    assert screen.shown.count("    Your habits") == 1
    text = "\n".join(screen.shown)
    assert "    The next question is about drugs." in text
    assert text.index("Think of the last month.") < text.index("Do you smoke?")
    assert "    1  No\n    2  Yes\n    3  Prefer not to say" in text
    assert "Choose “None of these” alone, or others." in text
    true_answers(survey, given)  # raises nothing

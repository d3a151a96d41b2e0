"""The paragraph of methods: its sentences on one question and on one day."""

from __future__ import annotations

import datetime

import pytest

from deniable import Tally, read_survey
from deniable_server.results.field_dates import FieldDates
from deniable_server.results.releases import ShownRelease
from deniable_server.web.citing import Citation

HEAD = 'title = "T"\norganiser = "O"\ncontact = "a@b.example"\nretention = "tallies"\n'


def question(name: str) -> str:
    return f'[[questions]]\nid = "{name}"\ntext = "Ever?"\ntype = "yes-no"\nepsilon = 1\n'


def citation(text: str, last: int | None, as_of: int = 9) -> Citation:
    """The citation of a survey that takes replies from the third of May to a day of it."""
    survey = read_survey(HEAD + text)
    days = [None if each is None else datetime.date(2026, 5, each) for each in (3, last, as_of)]
    assert days[0]
    assert days[2]
    shown = ShownRelease({None: Tally.empty(survey)}, None)
    return Citation(survey, shown, "https://s.example", FieldDates(days[0], days[1], days[2]))


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (3, "Replies were collected on 2026-05-03 (UTC)."),
        (5, "Replies were collected from 2026-05-03 to 2026-05-05 (UTC)."),
        (12, "Replies have been collected since 2026-05-03 (UTC)."),
        (None, "Replies have been collected since 2026-05-03 (UTC)."),
    ],
)
def test_days_of_collection_are_said_once_each(last: int | None, said: str) -> None:
    assert f" {said} Access was " in citation(question("a"), last).methods


def test_the_answer_to_one_question_is_in_the_singular() -> None:
    one, two = citation(question("a"), 5), citation(question("a") + question("b"), 5)
    named = f"of the survey \u201c{one.survey.title}\u201d"
    begins = f"The answer to the one question {named} was randomised on each respondent's device before it was sent ("
    assert one.methods.startswith(begins)
    begins = f"Answers to the 2 questions {named} were randomised on each respondent's device before they were sent ("
    assert two.methods.startswith(begins)
    assert "Answers to 1 question, by" in one.json_ld

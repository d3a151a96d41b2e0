"""What a person gives becomes what a mechanism takes, or is refused without being repeated."""

from __future__ import annotations

from typing import Any

import pytest

from deniable import AnswerError, Question, ReportError, Survey, read_survey
from deniable_client import permanent, randomize
from deniable_client.device import range_of, true_answer, true_answers
from tools.rig.survey_files import question_toml, survey_toml

SURVEY = read_survey(
    survey_toml(
        "T",
        question_toml("affair", "yes-no", "An affair?", epsilon=1),
        question_toml("drugs", "ticks", "Which?", options=["cannabis", "cocaine", "heroin"], epsilon=1),
        question_toml("mood", "scale", "How are you?", lo=1, hi=5, epsilon=1, mechanism="k-ary"),
        question_toml("hours", "number", "How many hours?", lo=3, hi=9, epsilon=1),
        cohorts=["paper", "web"],
        cohort_required=True,
    )
)
ANSWERS: dict[str, Any] = {"affair": "no", "drugs": ["heroin", "cannabis"], "mood": 2, "hours": 9}


def question(name: str) -> Question:
    return next(each for each in SURVEY.questions if each.id == name)


@pytest.mark.parametrize(
    ("name", "given", "truth"),
    [
        ("affair", "no", 0),
        ("affair", "yes", 1),
        ("drugs", [], []),
        ("drugs", ["heroin", "cannabis"], [2, 0]),
        ("drugs", {"cocaine"}, [1]),
        ("mood", 1, 0),
        ("mood", "5", 4),
        ("hours", 3, 3),
        ("hours", 9, 9),
    ],
)
def test_answers_become_numbers_of_options_or_numbers(name: str, given: object, truth: object) -> None:
    assert true_answer(question(name), given) == truth


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("affair", "perhaps", "answers['affair']: must be one of ['no', 'yes']"),
        ("affair", True, "answers['affair']: must be one of ['no', 'yes']"),
        ("affair", ["yes"], "answers['affair']: must be one of ['no', 'yes']"),
        ("drugs", "heroin", "answers['drugs']: must be a list of options out of ['cannabis', 'cocaine', 'heroin']"),
        ("drugs", ["tea"], "answers['drugs']: must be one of ['cannabis', 'cocaine', 'heroin']"),
        ("drugs", ["heroin", "heroin"], "answers['drugs']: must not name an option twice"),
        ("mood", 0, "answers['mood']: must be one of ['1', '2', '3', '4', '5']"),
        ("mood", True, "answers['mood']: must be one of ['1', '2', '3', '4', '5']"),
        ("hours", 2, "answers['hours']: must be a whole number from 3 to 9"),
        ("hours", 10, "answers['hours']: must be a whole number from 3 to 9"),
        ("hours", "4", "answers['hours']: must be a whole number from 3 to 9"),
        ("hours", True, "answers['hours']: must be a whole number from 3 to 9"),
    ],
)
def test_what_is_no_answer_is_refused_by_what_would_be(name: str, given: object, sentence: str) -> None:
    with pytest.raises(AnswerError) as caught:
        true_answer(question(name), given)
    assert str(caught.value) == sentence


def test_numbers_lie_between_the_ends_of_their_question() -> None:
    assert range_of(question("hours")) == (3, 9)
    assert range_of(question("mood")) == (1, 5)


def test_what_does_not_apply_may_be_left_out_whatever_its_kind() -> None:
    survey = read_survey(
        survey_toml(
            "T",
            question_toml("smokes", "yes-no", epsilon=1),
            question_toml("kinds", "ticks", options=["a", "b"], ask_if="smokes = yes", epsilon=1),
            question_toml("often", "number", lo=3, hi=9, ask_if="smokes = yes", epsilon=1),
            question_toml("mood", "scale", lo=1, hi=5, ask_if="smokes = yes", epsilon=1),
        )
    )
    given: list[dict[str, Any]] = [{"smokes": "no"}, {"smokes": "no", "kinds": ["a"], "often": 4, "mood": 2}]
    for answers in given:
        choices = true_answers(survey, answers)
        assert choices == {each.id: each.not_applicable if each.ask_if else 0 for each in survey.questions}
    with pytest.raises(AnswerError, match="every question that applies must be answered too"):
        true_answers(survey, {"smokes": "yes", "often": 4, "mood": 2})


@pytest.mark.parametrize("make", [randomize, permanent])
def test_reports_have_the_cohort_and_the_id_that_are_given(make: Any) -> None:
    report = make(SURVEY, ANSWERS, "web", word=lambda: 0, report_id="0f" * 16)
    assert (report.id, report.cohort) == ("0f" * 16, "web")
    assert report.values == {"affair": 0, "drugs": "010000", "mood": 1, "hours": report.values["hours"]}
    assert make(SURVEY, ANSWERS, "web").id != make(SURVEY, ANSWERS, "web").id


@pytest.mark.parametrize(
    ("answers", "cohort", "kind", "sentence"),
    [
        (ANSWERS, None, ReportError, "cohort: must be one of ['paper', 'web'], got nothing: the link is incomplete"),
        (ANSWERS, "www", ReportError, "cohort: must be one of ['paper', 'web'], got 'www'"),
        (
            {**ANSWERS, "religion": "none"},
            "web",
            AnswerError,
            "answers: must be to the questions ['affair', 'drugs', 'mood', 'hours'], got one to another question",
        ),
        (
            {"affair": "no", "drugs": [], "hours": 4},
            "web",
            AnswerError,
            "answers: question 'mood' must be answered too; leaving it out would tell",
        ),
    ],
)
def test_links_and_answers_that_are_incomplete_are_refused(
    answers: dict[str, Any], cohort: str | None, kind: type[Exception], sentence: str
) -> None:
    def never() -> int:
        raise AssertionError("nothing is drawn")

    with pytest.raises(kind) as caught:
        randomize(SURVEY, answers, cohort, word=never)
    assert str(caught.value) == sentence


def test_a_link_without_a_cohort_will_do_where_none_is_required() -> None:
    survey = Survey("T", (question("affair"),))
    assert randomize(survey, {"affair": "yes"}).cohort is None

"""How much a device lets a survey ask, and from where on people are told that it protects little."""

from __future__ import annotations

import pytest

from deniable import BudgetError, Ceiling, Question, Survey, TickBoxes, Warner, odds_sentences, weak_protection
from deniable.privacy import ceiling
from deniable.privacy.ceiling import weakness
from deniable.privacy.odds import plainest


def survey_of(*epsilons: str) -> Survey:
    return Survey(
        "T",
        tuple(
            Question(f"q{n}", "yes-no", "Q?", ("no", "yes"), Warner.from_epsilon(epsilon))
            for n, epsilon in enumerate(epsilons)
        ),
    )


@pytest.mark.parametrize(
    ("epsilons", "told", "weak"),
    [
        (["1"], 0, 0),
        (["1.01"], 0, 1),
        (["2"], 0, 1),
        (["2.01"], 0, 2),
        (["1", "1"], 0, 0),
        (["1", "0.7", "0.7"], 0, 1),
        (["1"] * 4, 0, 1),
        (["1"] * 5, 0, 2),
        (["1"], 2, 0),
        (["1"], 2.01, 1),
        (["1"], 4, 1),
        (["1"], 4.01, 2),
    ],
)
def test_weakness_is_that_of_the_largest_question_the_survey_or_all_that_was_told(
    epsilons: list[str], told: float, weak: int
) -> None:
    assert weakness(survey_of(*epsilons), told) == weak


def test_surveys_above_the_ceiling_are_refused_with_what_they_ask_for() -> None:
    Ceiling().check(survey_of("4", "4"))
    with pytest.raises(BudgetError) as caught:
        Ceiling().check(survey_of("1", "4.1"))
    assert str(caught.value) == "question 'q1': epsilon must be at most 4 on this device, the survey asks for 4.1"
    much = survey_of("3", "3", "2.1")
    with pytest.raises(BudgetError) as caught:
        Ceiling().check(much)
    assert str(caught.value) == (
        f"survey {much.id}: epsilons must add up to at most 8 on this device, they add up to 8.1"
    )
    Ceiling(question=5, survey=9).check(survey_of("4.1", "4.1"))
    Ceiling(question=much.questions[0].epsilon, survey=much.epsilon).check(much)  # what is at the ceiling is not above


def test_what_is_at_a_line_is_not_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = survey_of("1", "1")
    monkeypatch.setattr(ceiling, "WARN_QUESTION", survey.questions[0].epsilon)
    monkeypatch.setattr(ceiling, "WARN_SURVEY", survey.epsilon)
    assert weak_protection(survey) == []
    assert weakness(survey) == 1


def test_authors_read_what_protects_little() -> None:
    assert weak_protection(survey_of("2", "2")) == []
    assert weak_protection(survey_of("2.1", "1")) == ["question 'q0': epsilon 2.1 protects little (above 2)"]
    assert weak_protection(survey_of("2", "2", "0.1")) == [
        "the whole survey: epsilons add up to 4.1, which protects little (above 4)"
    ]


def test_the_plainest_question_says_the_most_about_a_person() -> None:
    survey = survey_of("1", "2", "0.5")
    assert plainest(survey.questions).id == "q1"
    assert odds_sentences(survey.questions[1]) == survey.questions[1].mechanism.odds
    drawn = Question("ten", "ticks", "Q?", tuple("0123456789"), TickBoxes.from_epsilon(10, 3))
    assert plainest((*survey.questions, drawn)).id == "q1"  # a box is sent with epsilon .3

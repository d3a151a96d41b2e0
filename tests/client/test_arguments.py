"""Arguments of the client that were swapped or are of another kind are named in an error, answers excepted."""

# Wrong arguments are what this file is about.
# mypy: disable-error-code="arg-type, list-item"

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deniable import AnswerError, CollectorError, DeniableError, NotInvited, ParameterError, SurveyError, read_survey
from deniable_client import Client, Memory, draw_questions, parse_link, permanent, randomize

SURVEY = read_survey('title="T"\n[[questions]]\nid="affair"\ntype="yes-no"\ntext="?"\nepsilon=1\n')
ANSWERS = {"affair": "yes"}
HERE = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: randomize(SURVEY.id, ANSWERS), ParameterError, "survey: must be a Survey, got a string"),
        (lambda: permanent(ANSWERS, SURVEY), ParameterError, "survey: must be a Survey, got an object"),
        (lambda: randomize(SURVEY, ANSWERS, 3), ParameterError, "cohort: must be a string, got 3"),
        (
            lambda: randomize(SURVEY, ANSWERS, credential="x"),
            NotInvited,
            "credential: must be what access = 'open' needs, got a string",
        ),
        (lambda: draw_questions("survey"), ParameterError, "survey: must be a Survey, got a string"),
        (lambda: parse_link(None), SurveyError, "survey: must be 26 letters and digits or a link, got null"),
        (lambda: Client(3), CollectorError, "collector: must be a URL that starts with http"),
        (lambda: Client(HERE, memory="memory.db"), ParameterError, "memory: must be a Memory, got a string"),
        (lambda: Client(HERE).survey(SURVEY), SurveyError, "or a link, got a Survey"),
        (lambda: Client(HERE).answer(SURVEY.id, ANSWERS), ParameterError, "survey: must be a Survey, got a string"),
        (lambda: Client(HERE).submit(SURVEY, ANSWERS), ParameterError, "report: must be a Report, got an object"),
        (lambda: Client(HERE).hindrance(SURVEY.id), ParameterError, "survey: must be a Survey, got a string"),
    ],
)
def test_the_error_names_the_argument_and_what_came(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_a_memory_names_a_wrong_survey_before_it_makes_a_file(tmp_path: Path) -> None:
    with pytest.raises(DeniableError, match="survey: must be a Survey, got a string"):
        Memory(tmp_path / "memory.db").once(SURVEY.id, HERE, lambda: permanent(SURVEY, ANSWERS))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("answers", [1, "yes", ["yes"], None])
def test_answers_of_another_kind_are_not_repeated(answers: Any) -> None:
    with pytest.raises(AnswerError) as caught:
        randomize(SURVEY, answers)
    assert str(caught.value) == "answers: must be a mapping from question ids to answers, got something else"

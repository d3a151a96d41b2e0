"""What somebody meets who tries the names out: lists of names, wrong kinds of arguments, mistyped commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import urllib3

import deniable
import deniable_research
from deniable import (
    AnswerError,
    DrawnBoxes,
    ForcedResponse,
    Geometric,
    KAry,
    Longitudinal,
    Mechanism,
    OneBitMean,
    ParameterError,
    Piecewise,
    Subset,
    SurveyError,
    TickBoxes,
    TwoCoin,
    Warner,
    read_survey,
)
from deniable_client import randomize
from deniable_transport.unreachable import unreachable
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml


@pytest.mark.parametrize("package", [deniable, deniable_research])
def test_what_is_loaded_when_it_is_asked_for_is_listed(package: Any) -> None:
    assert set(package.__all__) <= set(dir(package))
    assert all(hasattr(package, name) for name in package.__all__)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (lambda: Warner(1.0), "Warner"),
        (lambda: Warner(2.5), "Warner"),
        (lambda: KAry(3, 1.0), "KAry"),
        (lambda: TickBoxes(3, 1.0), "TickBoxes"),
    ],
)
def test_an_epsilon_where_a_probability_belongs_is_pointed_to_from_epsilon(made: Any, name: str) -> None:
    with pytest.raises(ParameterError, match=f"for an epsilon there is {name}.from_epsilon$"):
        made()


def test_what_has_no_from_epsilon_points_to_none() -> None:
    for made in (lambda: TwoCoin(1.5, "1/2"), lambda: ForcedResponse(1.0, ["1/2", "1/2"])):
        with pytest.raises(ParameterError, match=r"infinite epsilon or no information$"):
            made()


MECHANISMS: list[Mechanism] = [
    Warner("3/4"),
    TwoCoin("1/2", "1/2"),
    KAry.from_epsilon(4, 1),
    ForcedResponse("1/2", ["1/2", "1/2"]),
    Subset.from_epsilon(5, 2, 1),
    Geometric.from_epsilon(0, 5, 1),
    OneBitMean.from_epsilon(0, 5, 1),
    Piecewise.from_epsilon(0, 5, 2),
    Longitudinal.from_epsilon(3, 2, 1),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: each.name)
def test_integers_of_numpy_are_integers_and_its_truth_values_answer_two_options(mechanism: Mechanism) -> None:
    def words() -> Any:
        return iter([2**31 + 7] * 8).__next__

    plain = mechanism.randomize(1, words())
    for kind in (np.int64, np.uint8, np.int16):
        given = mechanism.randomize(kind(1), words())
        assert given == plain
        assert type(given) is type(plain)
    wrong: list[object] = [True, np.float64(1), 1.0, "1", np.array([0, 1]), None, np.int64(99)]
    if mechanism.answer_range == range(2):
        assert mechanism.randomize(np.True_, words()) == plain
        assert mechanism.randomize_many(np.array([True, False])).shape == (2,)
    else:
        wrong += [np.True_]
    for each in wrong:
        with pytest.raises(AnswerError):
            mechanism.randomize(each)


@pytest.mark.parametrize(
    "boxes", [TickBoxes.from_epsilon(4, 4), DrawnBoxes.from_epsilon(4, 2)], ids=lambda each: each.name
)
def test_boxes_of_numpy_are_boxes(boxes: Mechanism) -> None:
    assert len(boxes.randomize([np.int64(0), np.uint8(3)])) == len(boxes.randomize([0, 3]))
    for wrong in ([np.int64(1), 1], [True], [np.int64(4)], [1.0]):
        with pytest.raises(AnswerError):
            boxes.randomize(wrong)


def test_a_client_takes_integers_of_numpy_for_levels_and_numbers() -> None:
    scale, number = (
        question_toml("a", "scale", lo=1, hi=5, epsilon=1),
        question_toml("b", "number", lo=0, hi=9, epsilon=1),
    )
    survey = read_survey(survey_toml("T", scale, number))
    words = [11, 2**31, 5, 6, 7, 8]
    plain = randomize(survey, {"a": 3, "b": 7}, word=iter(words).__next__)
    given: Any = {"a": np.int64(3), "b": np.uint8(7)}
    assert randomize(survey, given, word=iter(words).__next__).values == plain.values
    wrong: Any
    for wrong in (True, np.int64(77), 3.0):
        with pytest.raises(AnswerError):
            randomize(survey, {**given, "b": wrong})


def test_a_survey_is_read_from_its_text_or_from_its_path(tmp_path: Path) -> None:
    text = survey_toml("T", question_toml("q", "yes-no", epsilon=1))
    path = tmp_path / "my-survey.toml"
    path.write_text(text, encoding="utf-8")
    assert read_survey(path=path) == read_survey(path=str(path)) == read_survey(text)
    with pytest.raises(SurveyError, match=r"^survey: none\.toml cannot be read: No such file"):
        read_survey(path=tmp_path / "none.toml")
    with pytest.raises(SurveyError, match=r"got a path; read_survey\(path="):
        read_survey(path)  # type: ignore[arg-type]  # a path has a name of its own
    for wrong in ({}, {"text": text, "path": path}):
        with pytest.raises(SurveyError, match=r"^survey: must be given as its text or as path=\.\.\.$"):
            read_survey(**wrong)  # type: ignore[arg-type]
    for name in ("my-survey.toml", str(path), r"C:\surveys\mine", "~/a b.toml"):
        with pytest.raises(SurveyError, match=r"looks like the name of a file; read_survey\(path="):
            read_survey(name)
    with pytest.raises(SurveyError, match="is not TOML"):
        read_survey("title")


def test_a_mistyped_command_or_option_gets_the_nearest() -> None:
    run = CommandLine().refused
    assert "No such command 'anlyze'. Did you mean 'analyze'?" in run("anlyze", "shares", "x.csv")
    assert "Did you mean 'shares'?" in run("analyze", "shars", "x.csv")
    assert "id you mean" in (said := run("plan", "--epsilo", "1"))  # the words are click's own
    assert "'--epsilon'" in said
    assert "No such command 'xyzzy'." in run("xyzzy")
    assert "mean" not in run("xyzzy")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (urllib3.exceptions.NameResolutionError("h", None, OSError()), "no machine has this name"),  # type: ignore[arg-type]
        (urllib3.exceptions.NewConnectionError(None, "refused"), "nobody takes connections there"),  # type: ignore[arg-type]
        (urllib3.exceptions.ConnectTimeoutError("late"), "does not answer in time"),
        (urllib3.exceptions.ReadTimeoutError(None, None, "late"), "does not answer in time"),  # type: ignore[arg-type]
        (urllib3.exceptions.ProtocolError("broken"), "the connection broke off"),
        (urllib3.exceptions.ResponseError("too many 503"), "answers again and again that it cannot"),
        (urllib3.exceptions.LocationParseError("x"), "no address of the web"),
        (urllib3.exceptions.DecodeError("gzip"), "check the address"),
    ],
)
def test_what_cannot_be_reached_is_said_without_names_of_libraries(error: Exception, words: str) -> None:
    for each in (error, urllib3.exceptions.MaxRetryError(None, "/", error)):  # type: ignore[arg-type]
        said = unreachable(each)
        assert words in said
        assert "Error" not in said
        assert "urllib3" not in said

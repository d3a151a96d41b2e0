"""No exception of the Python client carries an answer, whichever frame, cause or context is looked at."""

from __future__ import annotations

import sqlite3
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
import urllib3

from deniable import Ceiling, errors, read_survey
from deniable_client import Client, Memory, UndeliveredReport, UnusableMemory, randomize
from deniable_client.answer import command
from deniable_client.device import true_answer
from deniable_client.frames import answers_stay

SECRET = "zirconium"
SURVEY = read_survey(
    'title = "T"\ncohorts = ["web"]\n[[questions]]\nid = "stone"\ntype = "choice"\ntext = "Which?"\n'
    f'options = ["quartz", "{SECRET}"]\nepsilon = 1\n'
    '[[questions]]\nid = "count"\ntype = "number"\ntext = "How many?"\nlo = 0\nhi = 999983\n'
    'epsilon = 1\nmechanism = "mean"\n'
)
NUMBER = 424242


def answers() -> dict[str, Any]:
    return {"stone": SECRET, "count": NUMBER}


def wrong() -> dict[str, Any]:
    return {"stone": SECRET, "count": NUMBER * 10}


def frames_of(error: BaseException) -> Iterator[Any]:
    """Every frame of the package that an error, its causes and contexts hold."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        waiting += [each.__cause__, each.__context__]
        step: TracebackType | None = each.__traceback__
        while step:
            if "deniable" in step.tb_frame.f_globals.get("__name__", ""):
                yield step.tb_frame
            step = step.tb_next


def texts_within(value: object, depth: int = 4) -> Iterator[str]:
    """A value as a reporter prints it, and what it is made of: attributes, items, cells of functions."""
    yield repr(value)
    if depth == 0 or isinstance(value, (str, bytes, int, float, type)) or value in (SURVEY, SURVEY.questions):
        return
    inside: list[object] = []
    if isinstance(value, dict):
        inside += [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        inside += value
    inside += [cell.cell_contents for cell in getattr(value, "__closure__", None) or () if cell != type(cell)()]
    if not isinstance(value, BaseException):
        inside += vars(value).values() if hasattr(value, "__dict__") and not callable(value) else []
    for each in inside:
        yield from texts_within(each, depth - 1)


def refusing(error: Exception) -> Callable[..., Any]:
    def send(*_given: object, **_named: object) -> Any:
        raise error

    return send


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (errors.CollectorError("gone"), UndeliveredReport),
        (errors.ReportError("no"), errors.ReportError),
        (errors.SurveyClosed("closed"), errors.SurveyClosed),
        (errors.ReportConflict("twice"), errors.ReportConflict),
        (RuntimeError("a bug"), RuntimeError),
        (urllib3.exceptions.HTTPError("below"), urllib3.exceptions.HTTPError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (ExceptionGroup("several", [ValueError("one")]), ExceptionGroup),
    ],
)
@pytest.mark.parametrize("has_memory", [True, False])
def test_failed_delivery(
    error: Exception, raised: type[BaseException], has_memory: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client("http://127.0.0.1:1", memory=Memory(tmp_path / "memory.db") if has_memory else None)
    monkeypatch.setattr(client._connection, "send", refusing(error))
    with pytest.raises(raised) as caught:
        client.answer(SURVEY, answers())
    assert_holds_no_answer(caught.value)


def test_network_that_is_not_there() -> None:
    client = Client("http://127.0.0.1:1", retries=0)
    with pytest.raises(UndeliveredReport) as caught:
        client.answer(SURVEY, answers())
    assert_holds_no_answer(caught.value)
    assert caught.value.report.values.keys() == {"stone", "count"}


def test_wrong_answers(tmp_path: Path) -> None:
    client = Client("http://127.0.0.1:1", memory=Memory(tmp_path / "memory.db"))
    calls: list[Callable[[], object]] = [
        lambda: client.answer(SURVEY, wrong()),
        lambda: client.randomize(SURVEY, wrong()),
        lambda: randomize(SURVEY, wrong()),
        lambda: randomize(SURVEY, {"stone": SECRET}),
        lambda: randomize(SURVEY, {**answers(), SECRET: "x"}),
        lambda: true_answer(SURVEY.questions[1], NUMBER * 10),
    ]
    for call in calls:
        with pytest.raises(errors.AnswerError) as caught:
            call()
        assert_holds_no_answer(caught.value)
    with pytest.raises(errors.ReportError) as unknown:
        client.answer(SURVEY, answers(), cohort="elsewhere")
    assert_holds_no_answer(unknown.value)


def test_no_room_and_no_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    broken = sqlite3.connect(tmp_path / "other.db")
    broken.execute("CREATE TABLE reports (x)")
    broken.close()
    clients = [
        (Client("http://127.0.0.1:1", ceiling=Ceiling(question=0.5)), errors.BudgetError),
        (
            Client("http://127.0.0.1:1", memory=Memory(tmp_path / "m.db"), ceiling=Ceiling(device=1.5)),
            errors.BudgetError,
        ),
        (Client("http://127.0.0.1:1", memory=Memory(tmp_path / "file" / "memory.db")), UnusableMemory),
        (Client("http://127.0.0.1:1", memory=Memory(tmp_path / "other.db")), UnusableMemory),
    ]
    for client, raised in clients:
        with pytest.raises(raised) as caught:
            client.answer(SURVEY, answers())
        assert_holds_no_answer(caught.value)


@pytest.mark.parametrize("late", [KeyboardInterrupt, RuntimeError, UnusableMemory])
def test_terminal(late: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client("http://127.0.0.1:1", memory=Memory(tmp_path / "memory.db"))
    monkeypatch.setattr(command, "agree", lambda *_: None)
    monkeypatch.setattr(command, "ask_all", lambda *_: answers())
    monkeypatch.setattr(client, "randomize", refusing(late("late")))  # type: ignore[arg-type]
    opened = command.OpenSurvey(client, SURVEY, None, None)
    with pytest.raises(BaseException) as caught:  # noqa: PT011  # click's Exit, or what came
        command.converse(opened, with_json=False, own=Memory(tmp_path / "memory.db"))
    assert_holds_no_answer(caught.value)


def test_every_error_that_led_to_one_or_is_within_it_forgets_its_frames() -> None:
    def raised(error: BaseException) -> BaseException:
        try:
            raise error
        except BaseException as caught:
            return caught

    first, second, cause, context, inner = (raised(ValueError(name)) for name in "abcde")
    first.__cause__, first.__context__ = cause, context
    context.__context__ = first  # a circle, which nobody may walk for ever
    second.__cause__ = raised(BaseExceptionGroup("inner", [inner]))
    group = raised(BaseExceptionGroup("outer", [first, second, first]))

    @answers_stay
    def fail() -> None:
        raise group

    with pytest.raises(BaseExceptionGroup) as caught:
        fail()
    assert caught.value is group
    every = [first, second, cause, context, inner, second.__cause__]
    assert [each.__traceback__ for each in every] == [None] * 6
    assert (first.__cause__, first.__context__) == (cause, context)


def assert_holds_no_answer(error: BaseException) -> None:
    mine = [frame for frame in frames_of(error) if "test" not in frame.f_globals["__name__"]]
    assert mine, "left from the package"
    for frame in mine:
        for name, value in frame.f_locals.items():
            if value is SURVEY:
                continue  # which lists all options, for everybody
            for text in texts_within(value):
                assert SECRET not in text.replace(repr(SURVEY), ""), (frame.f_code.co_qualname, name)
                assert str(NUMBER) not in text, (frame.f_code.co_qualname, name)
    assert str(NUMBER) not in "".join(traceback.format_exception(error))

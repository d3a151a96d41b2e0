"""Exceptions without answers: error reporters export the local variables of every frame of a traceback."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def answers_stay(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function that takes answers, so that its exceptions carry no frame with an answer in it.

    The place within the function where it was raised is lost; class and message of the exception remain.
    """

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> R:
        outcome = _outcome(function, *given, **named)
        # From here on no local variable of this frame holds an answer, whatever is raised.
        del given, named
        if isinstance(outcome, _Failure):
            raise outcome.error
        return outcome

    return call


class _Failure:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def _outcome(function: Callable[P, R], *given: P.args, **named: P.kwargs) -> R | _Failure:
    """The result of a function, or its exception without the frames of its traceback and of its causes."""
    try:
        return function(*given, **named)
    except BaseException as error:
        _forget_frames(error)
        return _Failure(error)


def _forget_frames(error: BaseException) -> None:
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        # The traceback leads to the frames, and these to their local variables.
        each.__traceback__ = None
        # Chained exceptions have tracebacks of their own, members of groups too.
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions

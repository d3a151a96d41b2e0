"""Exceptions that carry no answers: error reporters export the local variables of every frame of a traceback."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def answers_stay(function: Callable[P, R]) -> Callable[P, R]:
    """Let an exception of a function that is given answers leave only from a frame that has forgotten them.

    What is lost is where within the function it was raised; its kind and message remain.
    """

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> R:
        outcome = _outcome(function, *given, **named)
        del given, named
        if isinstance(outcome, _Raised):
            raise outcome.error
        return outcome

    return call


class _Raised:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def _outcome(function: Callable[P, R], *given: P.args, **named: P.kwargs) -> R | _Raised:
    """What a function returns, or its exception without the frames in which it, or what led to it, was raised."""
    try:
        return function(*given, **named)
    except BaseException as error:
        _forget_frames(error)
        return _Raised(error)


def _forget_frames(error: BaseException) -> None:
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = None
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions

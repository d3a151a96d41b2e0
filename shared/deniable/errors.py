"""
Everything this project raises on purpose:

* DeniableError
  + ParameterError     epsilon, k, a weight, ... make no valid mechanism, or a level makes no interval
  + AnswerError        an answer outside its question's options (never says which answer)
  + SurveyError        a survey that cannot be published or does not match its address
  + ReportError        a report that does not fit its survey
    - ReportConflict   the same report id arrived before with other content
    - SurveyClosed     the survey takes no reports at this time
  + MessageError       bytes that are no message of Oblivious or Binary HTTP, or sealed to another key
  + BudgetError        the device's ceiling or its ledger refuses what the survey asks
  + UnusableMemory     (client) the device's memory cannot be read or written
  + CollectorError     the collector cannot be reached, or answers something else than agreed
    - UndeliveredReport  (client) holds the report to send again
  + NotInstalled       what was asked for needs a library that is not there
  + AuditFailed        (auditing) reports tell more than their survey declares
  + NotFound           (server) no such survey here
  + StoreFull          (server) the disk takes no more; nothing of what was to be stored is
  + StoreDamaged       (server) the database file is not what was written
  + StoreReplaced      (server) other files have the names of those that the collector opened
  + TokenError         (server) a token that cannot be made or found

A message reads *subject: expectation, what came*. A message about an answer never says what came.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from numbers import Real

from deniable.installing import extra_with, install_hint


class DeniableError(Exception):
    """The base class of all errors that this project raises on purpose."""


class ParameterError(DeniableError, ValueError):
    """Parameters from which no valid mechanism, interval or estimate can be made."""


class AnswerError(DeniableError, ValueError):
    """An answer outside its question's options. The message never repeats the answer."""


class SurveyError(DeniableError, ValueError):
    """A survey that cannot be published, or bytes that are not the survey of their address."""


class ReportError(DeniableError, ValueError):
    """A report that does not fit its survey."""


class ReportConflict(ReportError):
    """A report whose id was stored before with other content."""


class MessageError(DeniableError, ValueError):
    """Bytes that are no message of Oblivious HTTP or Binary HTTP, or that are sealed to another key."""


class NotInvited(ReportError):
    """A report without the right to be counted: its invitation or token is forged or not of this survey."""


class SurveyClosed(ReportError):
    """A report for a survey that is not open, or not open any more."""


class BudgetError(DeniableError):
    """A survey that exceeds this device's limits of epsilon."""


class CollectorError(DeniableError):
    """The collector could not be reached, or did not answer as agreed."""


class NotInstalled(DeniableError, ModuleNotFoundError):
    """A command or function needs a library that is not installed."""

    def __init__(self, module: str, extra: str | None = None) -> None:
        super().__init__(f"{module}: is needed for this; {install_hint(extra or extra_with(module))}", name=module)
        self.extra = extra

    def __reduce__(self) -> tuple[type[NotInstalled], tuple[str | None, str | None]]:
        # Exceptions are pickled by their arguments, which are the whole sentence here.
        return type(self), (self.name, self.extra)


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Around imports: a library that is missing raises `NotInstalled`, which names the extra that brings it.

    >>> try:
    ...     with needing("statistics"):
    ...         import numpy_that_is_missing
    ... except NotInstalled as error:
    ...     print(error)
    numpy_that_is_missing: is needed for this; in a clone of the project: pip install '.[statistics]'
    """
    try:
        yield
    except NotInstalled:
        raise
    except ModuleNotFoundError as error:
        raise NotInstalled((error.name or "a library").partition(".")[0], extra) from None


def shown(value: object) -> str:
    """A value that a survey's author wrote, for a message to the author; answers and reports go to `describe` instead.

    >>> shown("20.12.2026"), shown(Decimal("0.0")), shown(9), shown("x" * 5000)
    ("'20.12.2026'", '0.0', '9', 'a string')
    """
    if isinstance(value, Decimal) or (isinstance(value, str) and len(value) <= MOST_SHOWN):
        return str(value) if isinstance(value, Decimal) else repr(value)
    return describe(value)


MOST_SHOWN = 40
"""Longest text that an error repeats, in characters."""


def describe(value: object) -> str:
    """Name a value that came from outside without repeating more of it than a person needs.

    >>> describe(9), describe(True), describe("x" * 5000), describe(None)
    ('9', 'true', 'a string', 'null')
    """
    if value is None:
        return "null"
    # Before int, because True is one.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**12 else "a very long number"
    # The kind of a value is enough to find a mistake; its content may be somebody's answer.
    return _kind_name(type(value))


def check_kind(value: object, kind: type, subject: str) -> None:
    """Raise a ParameterError if an argument is of another kind, as one of two that were swapped is.

    >>> check_kind("1974.csv", list, "reports")
    Traceback (most recent call last):
    ...
    deniable.errors.ParameterError: reports: must be a list, got a string
    """
    if not isinstance(value, kind):
        raise ParameterError(f"{subject}: must be {_kind_name(kind)}, got {describe(value)}")


def _kind_name(kind: type) -> str:
    return _WORDS.get(kind) or f"a{'n' * (kind.__name__[0] in 'AEIOaeio')} {kind.__name__}"


_WORDS = {str: "a string", bytes: "bytes", list: "a list", dict: "an object", float: "a fraction"}
_WORDS |= {Decimal: "a fraction", Real: "a number"}

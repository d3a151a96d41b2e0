"""The log: one JSON object a line, about the process and about operators, never about respondents.

There is no log of requests. A line that told when a report came in, or from where, could be joined to what is stored.
"""

from __future__ import annotations

import datetime
import json
import logging
import logging.config
import sys
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apiflask import APIFlask
    from flask import Response

LOGGER = logging.getLogger("deniable")

OF_OPERATORS = {
    *("api.list_surveys", "api.publish_survey", "api.close_survey"),
    *("invitations.add_invitations", "invitations.unused_invitations"),
}
"""Endpoints whose calls are all logged, once their token was found valid: nobody without a token can fill the log."""

MOST_MISTAKES = 100
"""Largest number of places in the code whose exceptions are logged, each once in the life of a process."""

_mistakes: set[tuple[str, str, int]] = set()


def init_app(app: APIFlask) -> None:
    """Log what operators do: which call, with which token, on which survey, and how it ended."""
    from flask import g, request  # here, because Granian's own process has a log and no application

    @app.after_request
    def record(response: Response) -> Response:
        # g.token is set once a token was found valid, so requests without one write no line. Nor does reading results,
        # unless the token is for something else.
        endpoint = request.endpoint or ""
        if (endpoint in OF_OPERATORS or "refused_reader" in g) and "token" in g:
            about = {"survey": g.survey} if "survey" in g else {}
            log(
                "operator",
                call=endpoint.rpartition(".")[2],
                token=g.token.name,
                **about,
                status=response.status_code,
            )
        return response


def log(event: str, level: int = logging.INFO, **details: str | int) -> None:
    """Write a line about the collector. Never give it anything that came with a request."""
    LOGGER.log(level, event, extra={"details": details})


def log_mistake(error: Exception) -> None:
    """Write a line about an unexpected exception, only the first time that it is raised at its place in the code.

    A line for each would tell when requests came that raise it.
    """
    # The innermost frame: where it was raised, without the request that led there.
    *_, last = traceback.extract_tb(error.__traceback__) or [traceback.FrameSummary("", 0, "")]
    place = (type(error).__name__, last.filename, last.lineno or 0)
    if place not in _mistakes and len(_mistakes) < MOST_MISTAKES:
        _mistakes.add(place)
        LOGGER.error("unexpected %s", place[0], exc_info=error)


def configure() -> None:
    """Log to standard error from here on, in this process; at a terminal warnings and errors alone."""
    logging.config.dictConfig(CONFIGURATION)
    if sys.stderr.isatty():
        LOGGER.setLevel(logging.WARNING)


class JsonFormatter(logging.Formatter):
    """Formats a log record as one line of JSON.

    An exception is written as its class and its lines of code, without its message, which may hold sent data.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line of JSON, without a line break."""
        when = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
        line: dict[str, Any] = {
            "time": when.isoformat(timespec="seconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line |= getattr(record, "details", {})
        if record.exc_info and record.exc_info[0]:
            line["exception"] = record.exc_info[0].__name__
            line["at"] = [f"{f.filename}:{f.lineno} {f.name}" for f in traceback.extract_tb(record.exc_info[2])]
        return json.dumps(line)


CONFIGURATION: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": JsonFormatter}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    # urllib3 warns of full pools and of odd heads: at a place such a line would tell the second of somebody's visit.
    "loggers": {"deniable": {"level": "INFO"}, "urllib3": {"level": "CRITICAL"}},
}
"""Configuration for `logging.config.dictConfig`; Granian's own warnings and errors use it too."""

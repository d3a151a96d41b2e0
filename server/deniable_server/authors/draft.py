"""A survey file that its author works on: read again when it is saved, with the last version that was sound."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from deniable import Survey
from deniable.errors import DeniableError
from deniable_server.authors.places import excerpt, line_of
from deniable_statistics.authoring.authoring import read_toml, survey_of
from deniable_statistics.authoring.scaling import scaled

POLL_SECONDS = 0.1
"""Time between two looks at the file, in seconds."""


@dataclass(frozen=True)
class Version:
    """A sound version of the file.

    Attributes
    ----------
    source : str
        The file as it was read.
    written : mapping
        Its TOML.
    folder : Path
        The folder of the file, where a logo is.
    survey : Survey
    """

    source: str
    written: Mapping[str, Any]
    folder: Path
    survey: Survey

    def at(self, epsilon: float | None) -> Survey:
        """The survey if its epsilons added up to ``epsilon``; with None as it is written.

        Raises
        ------
        ParameterError, SurveyError
            If there is no epsilon to change, or no mechanism of this one.
        """
        return self.survey if epsilon is None else _at(self, f"{epsilon:.6g}")

    def __hash__(self) -> int:
        return hash(self.source)


@lru_cache(maxsize=64)
def _at(version: Version, epsilon: str) -> Survey:
    return survey_of(scaled(version.written, epsilon), version.folder)


@dataclass(frozen=True)
class DraftProblem:
    """Why the file as it is now is no survey, at which line, and the lines around it."""

    sentence: str
    line: int | None
    lines: tuple[dict[str, object], ...]


@dataclass(frozen=True)
class State:
    """What is known of a file: the last sound version, if there was one, and the problem of the present one.

    ``revision`` is another number whenever one of the two changed.
    """

    revision: int
    version: Version | None
    problem: DraftProblem | None


class Draft:
    """A file that is watched.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._seen: bytes | None = None
        self._state = State(0, None, None)

    def look(self) -> State:
        """Read the file if it changed, and say what is known of it."""
        with self._lock:
            try:
                found = self.path.read_bytes()
            except OSError as error:
                # Some editors replace a file: for a moment there is none.
                found, problem = (
                    b"",
                    DraftProblem(f"survey: {self.path.name} cannot be read: {error.strerror}", None, ()),
                )
                if self._seen != found:
                    self._seen = found
                    self._state = State(self._state.revision + 1, self._state.version, problem)
                return self._state
            if found != self._seen:
                version, problem_found = _read(found, self.path.parent)
                self._seen = found
                self._state = State(self._state.revision + 1, version or self._state.version, problem_found)
            return self._state

    def wait(self, revision: int, seconds: float) -> State:
        """What is known as soon as it is another revision than this one, or after some seconds."""
        end = time.monotonic() + seconds
        while (state := self.look()).revision == revision and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
        return state


def _read(found: bytes, folder: Path) -> tuple[Version | None, DraftProblem | None]:
    try:
        written = read_toml(found)
        survey = survey_of(written, folder)
    except DeniableError as error:
        source = found.decode("utf-8", "replace")
        line = line_of(source, str(error))
        return None, DraftProblem(str(error), line, tuple(excerpt(source, line)) if line else ())
    return Version(found.decode("utf-8"), written, folder, survey), None

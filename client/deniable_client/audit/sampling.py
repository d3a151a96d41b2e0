"""Reports of chosen answers, drawn from either client, with the chance that went into each and the time it took."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable import Survey
from deniable.errors import DeniableError, NotInstalled
from deniable_client.audit.answers import TestedAnswers
from deniable_client.audit.rights import Credentials
from deniable_client.device import randomize


@dataclass(frozen=True)
class Trials:
    """The answers and the cohort of each report of an audit, one row for each report.

    Attributes
    ----------
    answers : tuple of TestedAnswers
        The answers that codes stand for, question by question.
    cohorts : tuple of str or None
    codes : ndarray of uint16, shape (n, questions + 1)
        Number of the answer to each question, and last the number of the cohort.
    free : ndarray of bool, shape (n,)
        Whether all answers were drawn independently; otherwise all but one are their question's first, or last.
    rights : Credentials
        The credential of each report.
    """

    answers: tuple[TestedAnswers, ...]
    cohorts: tuple[str | None, ...]
    codes: NDArray[np.uint16]
    free: NDArray[np.bool_]
    rights: Credentials

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], str | None]]:
        """The answers and the cohort of each report."""
        given = [(each.question.id, each.given) for each in self.answers]
        for *codes, cohort in self.codes.tolist():
            answers = {name: possible[code] for (name, possible), code in zip(given, codes, strict=True)}
            # Nobody is asked what does not apply, so a client gets no answer to it.
            yield {name: each for name, each in answers.items() if each is not None}, self.cohorts[cohort]

    def truths(self, number: int) -> list[Any]:
        """The answers of a report as mechanisms take them."""
        codes = self.codes[number].tolist()
        return [each.truths[code] for each, code in zip(self.answers, codes[:-1], strict=True)]


class RecordedReport(NamedTuple):
    """One report as it is sent, the time it took in nanoseconds, and the random bytes that the client drew."""

    line: bytes
    nanoseconds: int
    chance: tuple[bytes, ...] | None


# Nanoseconds, the random bytes of each call in hexadecimal (or -), and the report, as draw.mjs prints them.
_LINE = re.compile(rb"([0-9]+) (-|(?:[0-9a-f]*,)*) (.*)", re.DOTALL)

Draw = Callable[[Survey, Trials, bool], Iterator[RecordedReport]]
"""A function that draws a report for each trial; the flag says whether to record the random bytes."""

Send = Callable[..., bytes]
"""A function that returns the report of a Python client for a survey, answers, a cohort and perhaps a credential."""


def draw_trials(survey: Survey, answers: tuple[TestedAnswers, ...], n: int, dice: random.Random) -> Trials:
    """Trials for an audit, in random order.

    Half of them answer every question independently, with the first and the last answer more often than the others, so
    that all pairs of these occur. The other half gives the first answer to all questions but one, or the last to all
    but one. To whom a question does not apply by the other answers, has that as the answer in both.
    """
    cohorts = (None, *survey.cohorts)
    generator = np.random.default_rng(dice.getrandbits(128))
    sizes = np.array([len(each.given) for each in answers])
    uniform = (generator.random((n, len(sizes))) * sizes).astype(np.uint16)
    ends = np.where(generator.random(uniform.shape) < 0.5, 0, sizes - 1)
    # Half ends, half uniform: the ends are the answers that mechanisms separate most.
    anything = np.where(generator.random(uniform.shape) < 0.5, ends, uniform)
    free = generator.random(n) < 0.5
    # All first or all last answers, then one of them replaced: a leak of one answer shows against a fixed background.
    base = np.where(generator.random((n, 1)) < 0.5, 0, sizes - 1)
    changed = generator.integers(len(sizes), size=(n, 1)) == np.arange(len(sizes))
    chosen = np.where(free[:, None] | changed, np.where(free[:, None], anything, uniform), base)
    _route(answers, chosen, generator)
    cohort = generator.integers(len(cohorts), size=(n, 1))
    return Trials(answers, cohorts, np.hstack([chosen, cohort]).astype(np.uint16), free, Credentials.of(survey, n))


def _route(answers: tuple[TestedAnswers, ...], chosen: NDArray[Any], generator: np.random.Generator) -> None:
    """Change chosen answers to those that there can be: the last one of a question where it does not apply."""
    places = {each.question.id: place for place, each in enumerate(answers)}
    for place, each in enumerate(answers):
        condition = each.question.ask_if
        if condition is None:
            continue
        about = [places[name] for name in condition.named]
        # Each combination of the answers that it is about is looked at once, however many reports have it.
        kinds, which = np.unique(chosen[:, about], axis=0, return_inverse=True)
        holds = [
            condition.holds(
                {answers[q].question.id: answers[q].truths[code] for q, code in zip(about, kind, strict=True)}
            )
            for kind in kinds.tolist()
        ]
        last = len(each.given) - 1
        instead = generator.integers(last, size=len(chosen))
        own = np.where(chosen[:, place] == last, instead, chosen[:, place])
        chosen[:, place] = np.where(np.array(holds)[which.ravel()], own, last)


def draws_of(send: Send, clock: Callable[[], int] = time.perf_counter_ns) -> Draw:
    """Reports of a client in Python: each trial once, timed by a clock in nanoseconds."""

    def draw(survey: Survey, trials: Trials, record: bool) -> Iterator[RecordedReport]:
        for number, (answers, cohort) in enumerate(trials):
            right = trials.rights[number]
            with recording() if record else _unrecorded() as chance:
                start = clock()
                line = send(survey, answers, cohort) if right is None else send(survey, answers, cohort, right)
                took = clock() - start
            yield RecordedReport(line, took, None if chance is None else tuple(chance))

    return draw


@contextmanager
def recording() -> Iterator[list[bytes]]:
    """Record everything that is taken from the system's source of chance within the block, call by call."""
    taken: list[bytes] = []
    system = os.urandom

    def urandom(size: int, /) -> bytes:
        taken.append(system(size))
        return taken[-1]

    # Both clients in Python take all chance from os.urandom, looked up at each call.
    os.urandom = urandom
    try:
        yield taken
    finally:
        os.urandom = system


@contextmanager
def _unrecorded() -> Iterator[None]:
    yield None


def send_python(survey: Survey, answers: Mapping[str, Any], cohort: str | None, credential: str | None = None) -> bytes:
    """The report that the Python client sends."""
    return randomize(survey, answers, cohort, credential=credential).encode()


draw_python = draws_of(send_python)


def draws_of_javascript(index: Path) -> Draw:
    """Reports of a browser client, whose module is given, run by Node.js."""

    def draw(survey: Survey, trials: Trials, record: bool) -> Iterator[RecordedReport]:
        with tempfile.TemporaryDirectory() as folder:
            request, codes, rights = (Path(folder) / name for name in ("request.json", "codes", "rights"))
            content = {
                "document": survey.document.decode("ascii"),
                "answers": [{"id": each.question.id, "given": each.given} for each in trials.answers],
                "cohorts": trials.cohorts,
                "record": record,
                "right": {"before": trials.rights.before, "after": trials.rights.after, "size": trials.rights.size},
            }
            request.write_text(json.dumps(content), encoding="ascii")
            # Little-endian 16-bit numbers, which JavaScript reads as a Uint16Array.
            codes.write_bytes(trials.codes.astype("<u2").tobytes())
            rights.write_bytes(trials.rights.own)
            script = files(__package__) / "draw.mjs"
            yield from _lines_of([find_node(), str(script), str(index), *map(str, (request, codes, rights))])

    return draw


def _lines_of(command: Sequence[str]) -> Iterator[RecordedReport]:
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            found = _LINE.fullmatch(line.removesuffix(b"\n"))
            if not found:  # the rest of a report that holds a line break
                yield RecordedReport(line, 0, None)
                continue
            chance = found[2].decode("ascii")
            yield RecordedReport(
                found[3], int(found[1]), None if chance == "-" else tuple(map(bytes.fromhex, chance.split(",")[:-1]))
            )
    if process.returncode:
        raise DeniableError(f"node: drawing from the browser client ended with status {process.returncode}")


draw_javascript = draws_of_javascript(Path(str(files("deniable_web") / "index.js")))


def find_node() -> str:
    """Node.js of the system, or the one inside Playwright, which the extra ``audit`` brings."""
    if found := shutil.which("node"):
        return found
    try:
        from playwright._impl._driver import compute_driver_executable
    except ModuleNotFoundError:
        raise NotInstalled("playwright") from None
    return compute_driver_executable()[0]  # not public; a test notices if it changes

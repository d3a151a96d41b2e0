"""The auditor passes the real clients and catches faults that were planted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from deniable import Report, Subset, Survey, TwoCoin, read_survey
from deniable.auditing import log_ratio_below
from deniable.cli import main
from deniable.randomness import system_word
from deniable.simulation import generator_of, words_of
from deniable_client.audit import Draw, audit_survey, draw_javascript, draw_python
from deniable_client.device import true_answer

EVERYTHING = """
title = "Every mechanism"
[[questions]]
id = "coins"
type = "yes-no"
text = "Q?"
truth = "1/2"
[[questions]]
id = "warner"
type = "yes-no"
text = "Q?"
epsilon = 1
[[questions]]
id = "forced"
type = "choice"
text = "Q?"
options = ["a", "b", "c"]
truth = "1/2"
forced = ["1/2", "1/4", "1/4"]
[[questions]]
id = "k_ary"
type = "choice"
text = "Q?"
options = ["a", "b", "c", "d"]
epsilon = 1
mechanism = "k-ary"
[[questions]]
id = "subset"
type = "choice"
text = "Q?"
options = ["a", "b", "c", "d", "e", "f", "g", "h"]
epsilon = 1
mechanism = "subset"
[[questions]]
id = "ticks"
type = "ticks"
text = "Q?"
options = ["a", "b", "c"]
epsilon = 2
[[questions]]
id = "geometric"
type = "scale"
text = "Q?"
lo = 0
hi = 5
epsilon = 1
mechanism = "geometric"
[[questions]]
id = "exponential"
type = "scale"
text = "Q?"
lo = 1
hi = 5
epsilon = 1
mechanism = "exponential"
[[questions]]
id = "mean"
type = "number"
text = "Q?"
lo = 0
hi = 60
epsilon = 1
mechanism = "mean"
[[questions]]
id = "laplace"
type = "number"
text = "Q?"
lo = 0
hi = 5
epsilon = 2
mechanism = "discrete-laplace"
"""

DRAWS = 24_000


@pytest.fixture(scope="module")
def everything() -> Survey:
    return read_survey(EVERYTHING)


@pytest.mark.parametrize("draw", [draw_python, draw_javascript], ids=["python", "javascript"])
def test_real_clients_pass_with_every_mechanism(everything: Survey, draw: Draw) -> None:
    findings = audit_survey(everything, draw, DRAWS)
    assert [finding.question for finding in findings] == [question.id for question in everything.questions]
    for finding in findings:
        assert finding.passed, finding  # a faultless client is accused with a probability below 1e-6
        assert finding.bound > 0.5 * finding.declared, f"the auditor must come near what is really there: {finding}"


PAIR = """
title = "Two questions"
[[questions]]
id = "one"
type = "yes-no"
text = "Q?"
truth = "1/2"
[[questions]]
id = "two"
type = "yes-no"
text = "Q?"
truth = "1/2"
"""

TEN = """
title = "A choice"
[[questions]]
id = "choice"
type = "choice"
text = "Q?"
options = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
epsilon = 1
"""


def encode(values: Mapping[str, Any]) -> bytes:
    return Report(f"{system_word():032x}"[-32:], None, dict(values)).encode()


def truth_first(survey: Survey, answers: Mapping[str, Any], n: int) -> Iterator[bytes]:
    """Sends the members of a subset as a list, and the truth first if it is among them."""
    (question,) = survey.questions
    assert isinstance(question.mechanism, Subset)
    truth = true_answer(question, answers[question.id])
    for _ in range(n):
        members = list(question.mechanism.supports(question.mechanism.randomize(truth)))
        yield encode({question.id: sorted(members, key=lambda member: (member != truth, member))})  # type: ignore[dict-item]


def generator_reused(survey: Survey, answers: Mapping[str, Any], n: int) -> Iterator[bytes]:
    """Draws the words once and uses them for every question."""
    truths = {question: true_answer(question, answers[question.id]) for question in survey.questions}
    for _ in range(n):
        words = [system_word(), system_word()]
        yield encode({each.id: each.mechanism.randomize(truth, iter(words).__next__) for each, truth in truths.items()})


def threshold_off(survey: Survey, answers: Mapping[str, Any], n: int) -> Iterator[bytes]:
    """Tells the truth 2 % more often than published; the same words each time, because a million can miss so little."""
    (question,) = survey.questions
    truth = int(answers[question.id] == "yes")
    sent = TwoCoin("0.51", "1/2").randomize_many(np.full(n, truth), words_of(generator_of(truth)))
    for value in sent.tolist():
        yield b'{"id":"%032x","cohort":null,"answers":{"one":%d}}' % (system_word(), value)


def length_tells(survey: Survey, answers: Mapping[str, Any], n: int) -> Iterator[bytes]:
    """Writes a space more when the first answer is yes."""
    for line in draw_python(survey, answers, n):
        yield line.replace(b'"answers":', b'"answers": ') if answers["one"] == "yes" else line


@pytest.mark.parametrize(
    ("text", "fault", "draws"),
    [
        (TEN, truth_first, 20_000),
        (PAIR, generator_reused, 20_000),
        (PAIR.split('[[questions]]\nid = "two"')[0], threshold_off, 1_000_000),
        (PAIR, length_tells, 20_000),
    ],
    ids=["truth first", "generator reused", "threshold off", "length tells"],
)
def test_planted_faults_are_caught(text: str, fault: Draw, draws: int) -> None:
    findings = audit_survey(read_survey(text), fault, draws)
    caught = [finding for finding in findings if not finding.passed]
    assert caught, findings
    assert any(finding.bound > 2 * finding.declared for finding in caught) or fault is threshold_off


def test_bound_holds_with_the_stated_probability() -> None:
    # 30 of 100 against 10 of 100 at 5 %: ln(0.2249 / 0.1637) by R's binom.test(..., alternative = "g" / "l")
    assert log_ratio_below(30, 100, 10, 100, 0.05) == pytest.approx(0.3174, abs=2e-3)
    assert log_ratio_below(0, 100, 10, 100, 0.05) == float("-inf")


def test_command_passes_and_fails_loudly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(PAIR, encoding="utf-8")
    done = CliRunner().invoke(main, ["audit", str(file), "--draws", "4000"])
    assert done.exit_code == 0, done.output
    assert "javascript" in done.stdout
    assert "No report told more than declared" in done.stdout
    published = tmp_path / "published.json"
    published.write_bytes(read_survey(PAIR).document)
    monkeypatch.setitem(
        __import__("deniable_client.audit.command", fromlist=["CLIENTS"]).CLIENTS, "python", length_tells
    )
    done = CliRunner().invoke(main, ["audit", str(published), "--draws", "4000", "--client", "python"])
    assert done.exit_code == 1
    assert "FAILED" in done.stdout
    assert "reports tell more than the survey declares: one (python)" in done.stderr


def test_reports_of_another_shape_are_looked_at_whole(everything: Survey) -> None:
    def shapeless(_survey: Survey, answers: Mapping[str, Any], n: int) -> Iterator[bytes]:
        for _ in range(n):
            yield json.dumps(answers).encode()

    assert not audit_survey(everything, shapeless, 2000)[0].passed

"""Filters on devices: both clients agree on every condition, the terminal asks what applies, and an audit looks on."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from deniable import AnswerError, Report, Survey, SurveyError, read_survey
from deniable.survey.condition import Answers, condition_from
from deniable_client import Client, Memory, randomize
from deniable_client.answer import asking, screens
from deniable_client.audit.auditor import audit_survey
from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.reference.published import PublishedSurvey
from deniable_client.audit.sampling import Draw, RecordedReport, Trials, draw_javascript, draw_python, draws_of
from deniable_client.audit.ways import has_filters, without_screens
from deniable_client.device import draw_questions, true_answers
from deniable_client.rehearsal.people import make_people, read_truths, true_figures
from tests.support.marks import long
from tests.support.untimed import untimed
from tools import programs
from tools.rig import filtered
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml

RUNNER = Path(__file__).parents[1] / "web" / "run-conditions.js"


def some_questions(dice: random.Random) -> dict[str, Answers]:
    """The answers of one to six earlier questions: options, numbers or boxes, some of which may not apply."""
    found = {}
    for name in "abcdef"[: dice.randrange(1, 7)]:
        first = dice.choice([0, 0, -3, 18])
        several = first == 0 and dice.random() < 0.3
        found[name] = Answers(range(first, first + dice.randrange(2, 12)), several, dice.random() < 0.4)
    return found


def some_choices(earlier: Mapping[str, Answers], dice: random.Random) -> dict[str, Any]:
    """Answers to most of the questions."""
    choices: dict[str, Any] = {}
    for name, each in earlier.items():
        several = dice.sample(each.possible, dice.randrange(len(each.possible) + 1))
        choices[name] = several if each.takes_several else dice.choice(each.possible)
    return {name: each for name, each in choices.items() if dice.random() < 0.9}


def mutated(published: Any, dice: random.Random) -> Any:
    """A published condition with one thing changed somewhere."""
    if isinstance(published, list) and published and dice.random() < 0.8:
        copy = list(published)
        place = dice.randrange(len(copy))
        if dice.random() < 0.15:
            del copy[place]
        elif dice.random() < 0.15:
            copy.insert(place, dice.choice(copy))
        else:
            copy[place] = mutated(copy[place], dice)
        return copy
    return dice.choice(
        ["all", "any", "among", "has", "lacks", "a", "c", "toString", 0, 1, 5, -4, 10**14, None, True, [], {}, ""]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("conditions", "broken"), [(3000, 1500), long(20_000, 10_000, name="many")])
def test_python_and_javascript_agree_on_conditions_and_on_what_is_none(conditions: int, broken: int) -> None:
    dice = random.Random()
    lines, expected, sentences = [], [], []
    for number in range(conditions + broken):
        earlier = some_questions(dice)
        published: Any = filtered.random_condition(earlier, dice).publish()
        if number >= conditions:
            published = mutated(published, dice)
        choices = some_choices(earlier, dice)
        try:
            expected.append(str(int(condition_from(published, earlier).holds(choices))))
        except SurveyError as error:
            expected.append("x")
            sentences.append(str(error))
        known = {name: [each.takes_several, each.possible[0], each.possible[-1]] for name, each in earlier.items()}
        lines.append(json.dumps({"condition": published, "earlier": known, "choices": choices}))
    assert all(re.search(r"must|has no box|has boxes|has one answer", each) for each in sentences)
    done = subprocess.run(
        [*programs.node_command(), str(RUNNER)], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    found = done.stdout.strip()
    assert len(found) == len(expected), done.stderr[:2000]
    wrong = [line for line, one, other in zip(lines, found, expected, strict=True) if one != other]
    assert not wrong, f"{len(wrong)} mismatches, the first {wrong[0]}"
    assert min(map(expected.count, "01x")) > len(expected) / 10


SMOKING = survey_toml(
    "Smoking",
    question_toml("smokes", "yes-no", "Smoke?", epsilon=1),
    question_toml("often", "choice", "How many?", options=["few", "many"], epsilon=1, ask_if="smokes = yes"),
    question_toml("quit", "yes-no", "Quit?", epsilon=1, ask_if="often = many"),
    question_toml("helps", "ticks", "What helps?", options=["gum", "patch"], epsilon=1, ask_if="quit = yes"),
    question_toml("mood", "scale", "Mood?", lo=1, hi=5, epsilon=1),
)


@pytest.fixture(scope="module")
def smoking() -> Survey:
    return read_survey(SMOKING)


class Typing:
    """What somebody types, and what was on the screen when they did."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
        self.shown: list[str] = []
        left = iter(lines)

        def read(_prompt: str, *, hidden: bool = False) -> str:
            return next(left)

        monkeypatch.setattr(asking, "read", read)
        monkeypatch.setattr(screens, "show", lambda paragraphs: self.shown.extend(paragraphs))


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        (["no", "3", "send"], {"smokes": "no", "mood": "3"}),
        (["yes", "1", "3", "send"], {"smokes": "yes", "often": "few", "mood": "3"}),
        (
            ["yes", "2", "y", "0", "3", "send"],
            {"smokes": "yes", "often": "many", "quit": "yes", "helps": [], "mood": "3"},
        ),
        # Back from the second question, and another way from there.
        (["yes", "back", "no", "3", "send"], {"smokes": "no", "mood": "3"}),
        # A change in the review takes answers away, and asks for what applies now.
        (["yes", "1", "3", "1", "no", "send"], {"smokes": "no", "mood": "3"}),
        (["yes", "1", "3", "2", "2", "no", "send"], {"smokes": "yes", "often": "many", "quit": "no", "mood": "3"}),
        (["no", "3", "1", "yes", "back", "1", "send"], {"smokes": "yes", "often": "few", "mood": "3"}),
    ],
)
def test_the_terminal_asks_what_applies(
    smoking: Survey, monkeypatch: pytest.MonkeyPatch, typed: list[str], given: dict[str, Any]
) -> None:
    screen = Typing(monkeypatch, *typed)
    assert asking.ask_all(smoking.questions) == given
    assert "1 of at most 5" in screen.shown
    assert not any("of 5" in each for each in screen.shown)
    assert not any("Does not apply" in each for each in screen.shown)
    true_answers(smoking, given)  # raises nothing


def test_places_are_counted_as_before_without_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = read_survey(survey_toml("T", *(question_toml(each, "yes-no", epsilon=1) for each in "ab")))
    screen = Typing(monkeypatch, "yes", "no", "send")
    asking.ask_all(survey.questions)
    assert {"1 of 2", "2 of 2"} <= set(screen.shown)


def test_a_device_asks_what_a_drawn_question_depends_on_and_sends_nothing_of_it(tmp_path: Path) -> None:
    survey = read_survey(
        survey_toml(
            "Drawn",
            question_toml("smokes", "choice", options=["no", "yes", "did"]),
            question_toml("often", "choice", options=["few", "many"], ask_if="smokes = yes"),
            question_toml("mood", "choice", options=["a", "b", "c"]),
            epsilon=1,
            draw=1,
        )
    )
    shown = {survey.shown(draw_questions(survey)) for _ in range(200)}  # all three with a probability of 1 - 1e-34
    assert shown == {("smokes",), ("smokes", "often"), ("mood",)}
    assert "to know whether one of the picked questions applies" in screens.drawn(survey, is_kiosk=True).lower()
    for smokes in ("yes", "no"):
        answers = {"smokes": smokes, "often": "few"} if smokes == "yes" else {"smokes": smokes}
        report = randomize(survey, answers, asked=["often"])
        assert [name for name, value in report.values.items() if value is not None] == ["often"]
    with pytest.raises(AnswerError):
        randomize(survey, {"often": "few"}, asked=["often"])
    # All answers may be given to a client with a memory, which drops those to what it did not draw.
    client = Client("http://127.0.0.1:9", memory=Memory(tmp_path / "memory"))
    everything = {"smokes": "yes", "often": "few", "mood": "a"}
    values = client.randomize(survey, everything).values
    assert sum(value is not None for value in values.values()) == 1
    assert client.randomize(survey, everything | {"smokes": "no"}).values == values, "drawn once"


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("draw", "draws"),
    [
        pytest.param(draw_python, 2000, id="python"),
        pytest.param(draw_javascript, 2000, id="javascript"),
        long(draw_python, 1_000_000, name="python, a million"),
        long(draw_javascript, 1_000_000, name="javascript, a million"),
    ],
)
def test_an_audit_passes_both_clients(smoking: Survey, draw: Draw, draws: int) -> None:
    found = audit_survey(smoking, untimed(draw), draws)
    assert found.faults == (), found  # a faultless client is accused with a probability below 1e-6
    assert all(finding.bound <= finding.declared for finding in found.findings)
    if draws > 100_000:
        assert all(finding.bound > finding.declared / 2 for finding in found.findings), found


def left_out(survey: Survey, report: Report, skipped: set[str]) -> bytes:
    content = json.loads(report.encode())
    content["values"] = {name: value for name, value in content["values"].items() if name not in skipped}
    return json.dumps(content, separators=(",", ":")).encode()


def null(survey: Survey, report: Report, skipped: set[str]) -> bytes:
    content = json.loads(report.encode())
    content["values"] |= dict.fromkeys(skipped)
    return json.dumps(content, separators=(",", ":")).encode()


def first_option(survey: Survey, report: Report, skipped: set[str]) -> bytes:
    values = {
        name: ("01" + "10" * 2 if isinstance(value, str) else 0) if name in skipped else value
        for name, value in report.values.items()
    }
    return Report(report.id, report.cohort, values).encode()


def without_noise(survey: Survey, report: Report, skipped: set[str]) -> bytes:
    values = {name: 2 if name in skipped - {"helps"} else value for name, value in report.values.items()}
    return Report(report.id, report.cohort, values).encode()


def padded(survey: Survey, report: Report, skipped: set[str]) -> bytes:
    return report.encode() + b" " * len(skipped)


@pytest.mark.simulation
@pytest.mark.parametrize("fault", [left_out, null, first_option, without_noise, padded], ids=lambda each: each.__name__)
def test_an_audit_catches_a_client_that_tells_who_was_not_asked(smoking: Survey, fault: Any) -> None:
    def send(survey: Survey, answers: Mapping[str, Any], cohort: str | None) -> bytes:
        skipped = {each.id for each in survey.questions} - set(answers)
        line: bytes = fault(survey, randomize(survey, answers, cohort), skipped)
        return line

    def unrecorded(survey: Survey, trials: Trials, _record: bool) -> Iterator[RecordedReport]:
        return untimed(draws_of(send))(survey, trials, False)

    assert audit_survey(smoking, unrecorded, 2000).faults, "by statistics and form alone"


@pytest.mark.simulation
def test_an_audit_catches_a_client_that_takes_another_time_for_who_was_not_asked(smoking: Survey) -> None:
    """A millisecond, by a clock of the audit, which otherwise shows some microseconds of chance."""
    dice, now = random.Random(3), [0]

    def send(survey: Survey, answers: Mapping[str, Any], cohort: str | None) -> bytes:
        now[0] += dice.randrange(1000, 9000) + 1_000_000 * ("often" not in answers)
        return randomize(survey, answers, cohort).encode()

    found = audit_survey(smoking, draws_of(send, lambda: now[0]), 6000)
    assert any("time" in str(fault) for fault in found.faults), found


@pytest.mark.long
@pytest.mark.slow
def test_sessions_of_the_python_client_are_alike_on_every_way(tmp_path: Path) -> None:
    """People of an audit answer everything; the client sends the same bytes whichever way their answers lead."""
    file = tmp_path / "smoking.toml"
    file.write_text(SMOKING, encoding="utf-8")
    result = CommandLine().run("audit", str(file), "--client", "python", "--draws", "0", "--sessions", "8")
    assert result.exit_code == 0, result.output
    assert "passed  python: everything sent, stored and shown" in result.output


def test_what_is_left_of_a_way_are_the_screens_of_its_person() -> None:
    survey = PublishedSurvey(read_survey(SMOKING).document)
    traces = [Trace(), Trace()]
    for n, trace in enumerate(traces, start=2):
        trace.put("tab 1, review", {"entries": [["link", "T"]] * n, "history": [n, {"at": n}]})
        trace.put("tab 1, review", {"events": f'resize {{"height":{500 + n}}}', "memory": "same"})
        trace.loose = {"tab 1, review, events about sizes": n, "Send 1, ms to the report": 5}
    assert has_filters(survey)
    assert not has_filters(
        PublishedSurvey(read_survey(survey_toml("T", question_toml("a", "yes-no", epsilon=1))).document)
    )
    one, other = map(without_screens, traces)
    assert one.exact == other.exact
    assert one.loose == other.loose == {"Send 1, ms to the report": 5}
    other.put("tab 1, review, memory", "another")
    assert one.exact != without_screens(other).exact


def test_made_up_people_answer_what_applies_and_the_truth_is_theirs(smoking: Survey) -> None:
    people = make_people(smoking, 2000, read_truths(["smokes=0.5", "often=0.5,0.5"], smoking), None, random.Random(3))
    for each in people[:200]:
        true_answers(smoking, each)
    asked = [each for each in people if "often" in each]
    assert all(each["smokes"] == "yes" for each in asked)
    truth = true_figures(people, smoking)
    assert truth["share", "often", "Does not apply"] == 1 - len(asked) / 2000
    among = truth["among", "often", "many"]
    assert among * len(asked) == pytest.approx(truth["share", "often", "many"] * 2000)
    assert 0.4 < among < 0.6

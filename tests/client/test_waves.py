"""Waves of one permanent value as devices send them: one draw, one charge, through a collector to estimates."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import urllib3

from deniable import BudgetError, Longitudinal, Report, ReportError, Survey, read_survey
from deniable.mechanisms.longitudinal import waves_of
from deniable.privacy.odds import odds_sentences
from deniable_client import Client, Memory, UnusableMemory, permanent, randomize
from deniable_server.authors.checking import warnings_about
from tools.rig.collectors import Collector
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import Clock

HERE, ELSEWHERE = "https://collector.example", "https://elsewhere.example"

PANEL = survey_toml(
    "Wave {wave}",
    question_toml(
        "leave",
        "choice",
        "Do you think of leaving?",
        options=["no", "perhaps", "yes"],
        mechanism="longitudinal",
        epsilon=2,
        wave_epsilon=1,
    ),
)


def panel(wave: int = 1) -> Survey:
    return read_survey(PANEL.format(wave=wave))


def draw_of(survey: Survey, answer: str = "yes") -> Callable[[], Report]:
    return lambda: permanent(survey, dict.fromkeys(survey.keys, answer))


def never() -> Report:
    raise AssertionError("must not be drawn")


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Memory:
    return Memory(tmp_path / "memory.db", today=clock)


def test_three_waves_have_one_permanent_value_different_draws_and_one_charge(tmp_path: Path, clock: Clock) -> None:
    mechanism = panel().questions[0].mechanism
    assert isinstance(mechanism, Longitudinal)
    words = iter([0, 2**32 - 1, mechanism.again])  # kept, the last other option, the first other one
    memory = Memory(tmp_path / "memory.db", today=clock, word=words.__next__)
    survey = panel()
    drawn = Report("00" * 16, None, {"leave": 1})
    sent = [memory.once(panel(1), HERE, lambda: drawn).values["leave"]]
    sent += [memory.once(panel(wave), HERE, draw_of(panel(wave), "no")).values["leave"] for wave in (2, 3)]
    assert sent == [1, 2, 0]
    assert next(words, None) is None
    for wave, value in enumerate(sent, start=1):  # and again, also to somebody else: the same bytes
        assert memory.once(panel(wave), ELSEWHERE, never).values["leave"] == value
    ledgers = [memory.ledger(whom).epsilon for whom in (HERE, ELSEWHERE, None)]
    assert ledgers == [pytest.approx(2, abs=2e-6)] * 3
    assert memory.told(panel(4), HERE).collector == pytest.approx(2, abs=2e-6)
    assert memory.was_asked(panel(4))
    assert survey.epsilon == mechanism.epsilon


@pytest.mark.slow
def test_many_waves_tell_the_permanent_value_and_stay_within_its_odds(memory: Memory) -> None:
    sent = [memory.once(panel(wave), HERE, draw_of(panel(wave))).values["leave"] for wave in range(60)]
    assert len(set(sent)) > 1  # equal with a probability below 1e-8
    assert memory.ledger(HERE).epsilon == pytest.approx(2, abs=2e-6)
    mechanism = panel().questions[0].mechanism
    keep = mechanism.publish()["keep"]
    assert panel().likelihood_ratio == Fraction((mechanism.k - 1) * keep, 2**32 - keep)
    assert odds_sentences(panel().questions[0]) == (
        "Of 100 people who choose an option, all waves together show it for about 79 and another one for 21; "
        "one wave shows less.",
    )


def test_a_question_that_stands_twice_in_a_wave_sends_one_value(memory: Memory) -> None:
    text = PANEL.format(wave=1)
    twice = read_survey(text + text[text.index("[[") :].replace('"leave"', '"again"'))
    for title in range(20):
        values = memory.once(replace(twice, title=f"{title}"), HERE, draw_of(twice)).values
        assert values["leave"] == values["again"]


def test_a_fresh_wave_has_a_permanent_value_of_its_own_and_its_author_is_warned(memory: Memory) -> None:
    fresh = replace(panel(), fresh="each wave")
    for each in (panel(), fresh):
        memory.once(each, HERE, draw_of(each))
    assert memory.ledger(HERE).epsilon == pytest.approx(4, abs=4e-6)
    (warning,) = warnings_about(fresh)
    assert warning.startswith("question 'leave': fresh = 'each wave' draws its permanent value anew")
    assert warnings_about(panel()) == []


def test_survey_check_says_both_epsilons(tmp_path: Path) -> None:
    file = tmp_path / "panel.toml"
    file.write_text(PANEL.format(wave=1), encoding="utf-8")
    text = CommandLine("survey", "check").ok(file)
    assert "  longitudinal, epsilon 2.0000 of all waves, 1.0000 of one\n" in text


def test_a_permanent_value_that_is_damaged_is_refused(memory: Memory) -> None:
    memory.once(panel(1), HERE, draw_of(panel(1)))
    with memory._file.transaction() as db:
        db.execute("UPDATE noisy SET value = 7")
    with pytest.raises(UnusableMemory, match="is not a value of it"):
        memory.once(panel(2), HERE, draw_of(panel(2)))
    assert memory.recall(panel(2).id, HERE) is None


def test_a_report_that_was_drawn_elsewhere_is_refused_where_a_memory_would_have_to_keep_what_it_hides(
    memory: Memory,
) -> None:
    client = Client(HERE, memory=memory)
    with pytest.raises(ReportError, match="must be drawn by this client, whose memory keeps what the waves"):
        client.submit(panel(), randomize(panel(), {"leave": "yes"}))
    assert memory.ledger(HERE).epsilon == 0
    kept = client.randomize(panel(), {"leave": "yes"})
    assert client.randomize(panel(), {"leave": "no"}) == kept


def test_without_a_memory_both_steps_are_drawn() -> None:
    mechanism = panel().questions[0].mechanism
    waves = waves_of(mechanism)
    assert waves
    dice = random.Random(5)
    for answer, option in enumerate(("no", "perhaps", "yes")):
        words = [dice.getrandbits(32) for _ in range(2)]
        report = randomize(panel(), {"leave": option}, word=iter(words).__next__)
        assert report.values["leave"] == mechanism.randomize(answer, iter(words).__next__)
        assert permanent(panel(), {"leave": option}, word=iter(words[:1]).__next__).values["leave"] == (
            waves.permanent(answer, iter(words).__next__)
        )


def test_what_is_charged_is_what_all_waves_tell(memory: Memory) -> None:
    dear = read_survey(PANEL.format(wave=1).replace("epsilon = 2", "epsilon = 4.1"))
    with pytest.raises(BudgetError, match="epsilon must be at most 4"):
        memory.once(dear, HERE, never)


@pytest.mark.slow
def test_three_waves_go_through_a_collector_and_come_back_as_estimates(collector: Collector, tmp_path: Path) -> None:
    waves = [replace(panel(wave), results="live") for wave in (1, 2, 3)]
    people = 12
    for each in waves:
        collector.publish(each)
    for person in range(people):
        client = Client(collector.url, memory=Memory(tmp_path / f"{person}.db"))
        for each in waves:
            survey = client.survey(each.id)
            assert survey.document == each.document
            assert not client.answer(survey, {"leave": "yes"}).again
            assert client.answer(survey, {"leave": "no"}).again, "the same bytes, counted once"
        assert client.memory is not None
        assert client.memory.ledger(collector.url).epsilon == pytest.approx(2, abs=2e-6)
    for each in waves:
        assert collector.reports(each) == people
        rows = urllib3.request("GET", f"{collector.url}/api/v1/surveys/{each.id}/estimates.json").json()["estimates"]
        assert [row["option"] for row in rows] == ["no", "perhaps", "yes"]
        assert sum(row["estimate"] for row in rows) == pytest.approx(1)

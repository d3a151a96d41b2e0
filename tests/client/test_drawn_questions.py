"""Questions that a device draws: the draw, the response over patterns, what a memory keeps, and what people read."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from deniable import AnswerError, BudgetError, ReportError, Survey, read_survey
from deniable.randomness import UNIT
from deniable.report.report import parse_report
from deniable_client import Client, Memory, UnusableMemory, draw_questions, permanent, randomize
from deniable_client.answer import command, messages, screens
from deniable_commands.main import main
from tools.rig.collectors import Collector
from tools.rig.survey_files import question_toml, survey_toml

HERE = "https://collector.example"
NAMES = ("affair", "tax", "drugs", "theft", "abuse")
FIVE = read_survey(survey_toml("Five", *(question_toml(name, "yes-no", name) for name in NAMES), epsilon=2))
OTHER = read_survey(
    survey_toml("Again", *(question_toml(f"q{n}", "yes-no", name) for n, name in enumerate(NAMES)), epsilon=2)
)
"""The same draw under other ids."""
MIXED = read_survey(
    survey_toml(
        "Kinds",
        question_toml("drinks", "number", lo=0, hi=9),
        question_toml("alone", "yes-no", epsilon=0.5),
        question_toml("boxes", "ticks", options=["a", "b", "c"]),
        epsilon=1.5,
    )
)
YES = dict.fromkeys(NAMES, "yes")


def words_for(*words: int) -> Any:
    return iter(words).__next__


def places_drawn(survey: Survey, word: int) -> tuple[str, ...]:
    return draw_questions(survey, words_for(word))


def test_every_set_of_questions_is_equally_likely() -> None:
    # `below` takes a word modulo 10, and refuses those that would favour one: each set has the same number of words.
    assert Counter(places_drawn(FIVE, word) for word in range(10)) == Counter(itertools.combinations(NAMES, 2))
    assert places_drawn(MIXED, 0) == ("drinks", "alone")
    assert places_drawn(MIXED, 1) == ("alone", "boxes")


def test_a_device_that_has_not_drawn_draws_with_the_first_words() -> None:
    for word, drawn in enumerate(itertools.combinations(NAMES, 2)):
        words = iter([word, 0])
        values = randomize(FIVE, YES, word=words.__next__).values
        assert values == {name: 1 if name in drawn else None for name in NAMES}
        assert next(words, None) is None


def test_one_response_keeps_the_whole_pattern_or_takes_any_other() -> None:
    joint = FIVE.groups["survey"][0].group.joint  # type: ignore[union-attr]
    assert joint is not None
    chances: dict[tuple[str, ...], Counter[tuple[Any, ...]]] = {}
    for answers in itertools.product(("no", "yes"), repeat=2):
        given = dict(zip(("tax", "theft"), answers, strict=True))
        starts = [0, *(joint.keep + joint._other * step for step in range(3))]
        sent: Counter[tuple[Any, ...]] = Counter()
        for start, end in itertools.pairwise([*starts, UNIT]):
            of_both = {
                tuple(
                    randomize(FIVE, given, asked=("tax", "theft"), word=words_for(word)).values[each]
                    for each in ("tax", "theft")
                )
                for word in (start, end - 1)
            }
            (values,) = of_both  # the same from the first to the last word
            sent[values] += end - start
        chances[answers] = sent
    for answers, sent in chances.items():
        true = tuple(int(each == "yes") for each in answers)
        assert sent == {pattern: joint.keep if pattern == true else joint._other for pattern in sent}
        assert len(sent) == 4
    ratio = max(Fraction(a[pattern], b[pattern]) for a in chances.values() for b in chances.values() for pattern in a)
    assert ratio == joint.likelihood_ratio
    assert 1.98 < math.log(ratio) <= 2


@pytest.mark.parametrize("survey", [FIVE, MIXED], ids=["one response", "each its own"])
def test_words_and_bytes_depend_on_no_answer(survey: Survey) -> None:
    every: dict[str, list[Any]] = {name: ["no", "yes"] for name in (*NAMES, "alone")}
    every |= {"drinks": [0, 9], "boxes": [[], ["a"], ["a", "b", "c"]]}
    possible = [every[each.id] for each in survey.questions]
    for asked in {places_drawn(survey, word) for word in range(10)}:
        used, sizes = set(), set()
        for answers in itertools.product(*possible):
            given = {
                each.id: answer for each, answer in zip(survey.questions, answers, strict=True) if each.id in asked
            }
            counted = itertools.count()
            report = randomize(survey, given, asked=asked, word=lambda: next(counted) and 0)  # noqa: B023
            used.add(next(counted))
            sizes.add(len(report.encode()))
            assert parse_report(report.encode(), survey) == report
        assert len(used) == len(sizes) == 1, asked


def test_what_is_asked_beside_one_response_is_answered_too() -> None:
    survey = read_survey(
        survey_toml(
            "Beside",
            *(question_toml(name, "yes-no", name) for name in NAMES),
            question_toml("own", "yes-no", group="own"),
            question_toml("other", "yes-no", group="own"),
            epsilon=2,
            groups={"own": {"epsilon": 1.0}},
        )
    )
    answers = {question.id: "yes" for question in survey.questions}
    for _ in range(10):
        report = randomize(survey, answers)
        asked = [name for name, value in report.values.items() if value is not None]
        assert len(asked) >= 3
        assert {"own", "other"} & set(asked)
        assert parse_report(report.encode(), survey) == report


def test_reports_of_another_draw_are_refused() -> None:
    report = randomize(FIVE, YES)
    told = dict(report.values)
    asked = [name for name in NAMES if told[name] is not None]
    spare = [name for name in NAMES if told[name] is None]
    for values, came in ((told | {asked[0]: None}, 1), (told | {spare[0]: 1}, 3)):
        for space in (b"", b" "):  # as the clients write it, and as any JSON
            raw = type(report)(report.id, None, values).encode() + space
            with pytest.raises(ReportError, match=rf"values: must hold 2 of group 'survey' .* got {came}"):
                parse_report(raw, FIVE)


def test_what_is_asked_must_be_answered_and_nothing_else() -> None:
    with pytest.raises(AnswerError, match="question 'tax' must be answered too"):
        randomize(FIVE, {name: "yes" for name in NAMES if name != "tax"})
    with pytest.raises(AnswerError, match="'theft' must be answered too"):
        randomize(FIVE, {"tax": "yes"}, asked=("tax", "theft"))
    with pytest.raises(AnswerError, match=r"must be to the questions \['tax', 'theft'\]"):
        randomize(FIVE, YES, asked=("tax", "theft"))
    for asked in (("tax",), NAMES, ()):
        with pytest.raises(ReportError, match="values: must hold 2 of group 'survey'"):
            randomize(FIVE, dict.fromkeys(asked, "yes"), asked=asked)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "memory.db")


def test_memory_keeps_the_draw_before_there_is_an_answer(memory: Memory) -> None:
    asked = memory.asked(FIVE, lambda: ("tax", "abuse"))
    for _ in range(20):
        assert memory.asked(FIVE, lambda: draw_questions(FIVE)) == asked == ("tax", "abuse")
    assert not memory.was_asked(FIVE)
    assert memory.ledger(HERE).epsilon == 0
    other = read_survey(
        survey_toml("Again", *(question_toml(f"q{n}", "yes-no", each) for n, each in enumerate(NAMES)), epsilon=2)
    )
    assert memory.asked(other, lambda: draw_questions(other)) == ("q1", "q4")


def test_memory_keeps_the_values_and_charges_the_group_once(memory: Memory) -> None:
    asked = memory.asked(FIVE, lambda: ("tax", "abuse"))
    report = memory.once(FIVE, HERE, lambda: permanent(FIVE, dict.fromkeys(asked, "yes"), asked=asked))
    assert [name for name in NAMES if report.values[name] is not None] == list(asked)
    assert memory.ledger(HERE).epsilon == pytest.approx(2, abs=1e-6)
    other = read_survey(
        survey_toml("Again", *(question_toml(f"q{n}", "yes-no", each) for n, each in enumerate(NAMES)), epsilon=2)
    )
    assert memory.was_asked(other)
    assert memory.asked(other, lambda: ("q0", "q2")) == ("q1", "q4")
    again = memory.once(other, HERE, lambda: permanent(other, {"q0": "no", "q2": "no"}, asked=("q0", "q2")))
    assert list(again.values.values()) == list(report.values.values()), "the values of then, and the draw of then"
    assert memory.ledger(HERE).epsilon == pytest.approx(2, abs=1e-6)


@pytest.mark.slow
def test_all_that_is_asked_of_kinds_is_within_the_epsilon(memory: Memory) -> None:
    """Of four questions at epsilon 2.5 each, one of which is asked, the device is charged 2.5; of two, 5."""
    texts = [question_toml(f"q{n}", "number", f"{n}?", lo=0, hi=10) for n in range(4)]
    one = read_survey(survey_toml("One", *texts, epsilon=2.5, draw=1))
    two = read_survey(survey_toml("Two", *texts, epsilon=4, draw=2))
    assert [unit.cost for unit in (*one.units, *two.units)] == [
        pytest.approx(2.5e6, rel=0.01),
        pytest.approx(4e6, rel=0.01),
    ]
    answers = {f"q{n}": 3 for n in range(4)}
    client = Client(HERE, memory=memory)
    client.randomize(one, answers)
    client.randomize(two, answers)
    dear = read_survey(survey_toml("Dear", *texts, epsilon=3, draw=1))
    with pytest.raises(BudgetError, match="must add up to at most 8"):
        client.randomize(dear, answers)


@pytest.mark.parametrize("kept", ["0101", "01010 ", "11100", "no", "01x10"])
def test_a_damaged_draw_is_refused_and_left(memory: Memory, kept: str) -> None:
    memory.asked(FIVE, lambda: ("tax", "abuse"))
    key = FIVE.units[0].key + "draw"
    with memory._file.transaction() as db:
        db.execute("UPDATE noisy SET value = ? WHERE question = ?", (kept, key))
    with pytest.raises(UnusableMemory, match="is not a draw"):
        memory.asked(FIVE, lambda: ("tax", "abuse"))


@pytest.mark.parametrize(
    "kept", ["[null,1,null,null,null]", "[null, 1,null,null,0]", "[null,2,null,null,0]", "{}", "1", "["]
)
def test_damaged_values_are_refused_and_left(memory: Memory, kept: str) -> None:
    memory.once(FIVE, HERE, lambda: randomize(FIVE, YES))
    with memory._file.transaction() as db:
        db.execute("UPDATE noisy SET value = ? WHERE question = ?", (kept, FIVE.units[0].key))
    with pytest.raises(UnusableMemory):
        memory.asked(OTHER, lambda: ("q1", "q4"))
    with pytest.raises(UnusableMemory):
        memory.once(OTHER, HERE, lambda: randomize(OTHER, dict.fromkeys(("q0", "q1", "q2", "q3", "q4"), "yes")))


@pytest.mark.slow
def test_programs_give_all_answers_or_those_that_are_asked(collector: Collector, memory: Memory) -> None:
    collector.publish(FIVE)
    before = collector.reports(FIVE)
    client = Client(collector.url, memory=memory)
    asked = client.asked(FIVE)
    assert client.asked(FIVE) == asked
    client.answer(FIVE, YES)
    kept = client.kept(FIVE)
    assert kept is not None
    values = parse_report(kept.report, FIVE).values
    assert tuple(name for name in NAMES if values[name] is not None) == asked
    without = Client(collector.url)
    told = without.asked(FIVE)
    without.answer(FIVE, dict.fromkeys(told, "no"), asked=told)
    without.answer(FIVE, YES)
    assert collector.reports(FIVE) == before + 3


@pytest.fixture
def link(collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("DENIABLE_MEMORY", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(command, "in_terminal", lambda: True)
    return collector.publish(FIVE)


def asked_in(output: str) -> list[str]:
    """The questions in the order in which a terminal asked them."""
    return [line.strip() for line in output.split("Check my answers")[0].splitlines() if line.strip() in NAMES]


def test_terminal_asks_what_was_drawn_and_the_same_again(link: str) -> None:
    def answer(*flags: str, typed: list[str]) -> str:
        done = CliRunner().invoke(main, ["answer", link, *flags], input="".join(f"{line}\n" for line in typed))
        return done.output

    def words(output: str) -> str:
        return " ".join(output.split())

    stopped = answer(typed=["", "stop"])
    picked = "You will get 2 of 5 questions, picked at random. This takes about a minute."
    assert f"{picked} {messages.DRAWN_KEPT}" in words(stopped)
    first = asked_in(stopped)
    for _ in range(3):
        again = answer(typed=["", "yes", "stop"])
        assert asked_in(again)[:1] == first, "whoever comes back is asked the same"
    done = answer(typed=["", "yes", "no", "send"])
    assert "Thank you." in done
    assert len(asked_in(done)) == 2
    kiosk = [answer("--kiosk", typed=["", "", "yes", "no", "send"]) for _ in range(12)]
    assert all("Thank you." in each and messages.DRAWN_KEPT not in words(each) for each in kiosk)
    # Each person has a draw of their own: twelve alike have a probability of 10**-11.
    assert len({tuple(asked_in(each)) for each in kiosk}) > 1


def test_consent_of_a_survey_that_asks_everybody_everything_says_nothing_of_a_draw() -> None:
    whole = read_survey(survey_toml("Two", *(question_toml(name, "yes-no", name) for name in NAMES[:2]), epsilon=2))
    assert whole.groups
    assert whole.asks == 2
    assert "picks" not in "\n".join(screens.consent(whole, None, is_kiosk=False))

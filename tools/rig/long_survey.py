"""A survey of 40 questions with 8 filters in two languages, of every kind, and two of them in one response."""

from __future__ import annotations

from tools.rig.survey_files import question_toml, survey_toml

QUESTIONS = 40
FILTERS = 8
EPSILON = 0.1
"""Epsilon of each question, but for the two of the group."""


def forty_questions() -> str:
    """The file of its author."""
    filtered = [
        _asked("smokes", "yes-no", "Do you smoke?", "Rauchen Sie?", group="smoking"),
        _asked(
            *("often", "choice", "How many a day?", "Wie viele am Tag?"),
            group="smoking",
            options=["1 to 5", "6 to 10", "more"],
            ask_if="smokes = yes",
        ),
        _asked("since", "number", "How long?", "Wie lange?", lo=0, hi=60, ask_if="often applies", unit="years"),
        _asked("pills", "ticks", "What do you take?", "Was nehmen Sie?", options=["none", "sleep", "pain"]),
        _asked("sleep", "scale", "How do you sleep?", "Wie schlafen Sie?", lo=1, hi=5, ask_if="pills has sleep"),
        _asked("pain", "rating", "How bad is it?", "Wie schlimm ist es?", stars=5, ask_if="pills has pain"),
        _asked("works", "yes-no", "Do you work?", "Arbeiten Sie?"),
        _asked("hours", "number", "How many hours?", "Wie viele Stunden?", lo=0, hi=80, ask_if="works = yes"),
        _asked("tired", "yes-no", "Are you tired?", "Sind Sie m\u00fcde?", ask_if="hours > 40 or sleep <= 2"),
        _asked("quit", "yes-no", "Would you quit?", "Kündigen?", ask_if="works = yes and not tired = No"),
        _asked("drinks", "number", "How many drinks?", "Wie viele Gl\u00e4ser?", lo=0, hi=60),
        _asked("alone", "scale", "Do you drink alone?", "Allein?", lo=1, hi=7, goal="mean", ask_if="drinks >= 20"),
    ]
    others = [
        _asked(f"more{number}", "yes-no", f"Statement {number}: true?", f"Aussage {number}: wahr?")
        for number in range(len(filtered) + 1, QUESTIONS + 1)
    ]
    return survey_toml(
        {"default": "Work and health", "de": "Arbeit und Gesundheit"},
        *filtered,
        *others,
        groups={"smoking": {"epsilon": 2 * EPSILON}},
    )


def _asked(name: str, kind: str, text: str, german: str, **keys: object) -> str:
    noise = {} if "group" in keys else {"epsilon": EPSILON}
    return question_toml(name, kind, {"default": text, "de": german}, **noise, **keys)

"""A survey of 40 questions in 6 sections, with 8 filters and 2 grids, in two languages, of every kind.

Two of its questions, of which one filters the other, answer in one response.
"""

from __future__ import annotations

from collections.abc import Sequence

from tools.rig.survey_files import question_toml, survey_toml

QUESTIONS = 40
FILTERS = 8
HEADINGS = (
    ("Smoking", "Rauchen"),
    ("Pills and sleep", "Mittel und Schlaf"),
    ("Work", "Arbeit"),
    ("Drinking", "Trinken"),
    ("Trust", "Vertrauen"),
    ("Statements", "Aussagen"),
)
"""Headings of the sections in English and German."""
ITEMS = 6
"""Questions of the grids together."""
EPSILON = 0.1
"""Epsilon of each question, but for the two of the group."""

GRIDS = (
    question_toml(
        "trust",
        "grid",
        {"default": "How much do you trust", "de": "Wie sehr vertrauen Sie"},
        items={
            "police": {"default": "the police?", "de": "der Polizei?"},
            "courts": {"default": "the courts?", "de": "den Gerichten?"},
            "press": {"default": "the press?", "de": "der Presse?"},
        },
        options=[
            {"default": "not at all", "de": "gar nicht"},
            {"default": "somewhat", "de": "etwas"},
            {"default": "fully", "de": "ganz"},
        ],
        epsilon=3 * EPSILON,
        draw=3,
    ),
    question_toml(
        "felt",
        "grid",
        {"default": "Last week I was", "de": "Letzte Woche war ich"},
        items={
            "sad": {"default": "sad.", "de": "traurig."},
            "angry": {"default": "angry.", "de": "w\u00fctend."},
            "afraid": {"default": "afraid.", "de": "\u00e4ngstlich."},
        },
        lo=1,
        hi=4,
        epsilon=3 * EPSILON,
        draw=3,
    ),
)


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
    statements = [
        _asked(f"more{number}", "yes-no", f"Statement {number}: true?", f"Aussage {number}: wahr?")
        for number in range(len(filtered) + 1, QUESTIONS - ITEMS + 1)
    ]
    parts = [filtered[:3], filtered[3:6], filtered[6:10], filtered[10:], [*GRIDS, *statements[:4]], statements[4:]]
    return "\n".join(
        [
            survey_toml(
                {"default": "Work and health", "de": "Arbeit und Gesundheit"},
                groups={"smoking": {"epsilon": 2 * EPSILON}},
            ),
            *(_section(number, questions) for number, questions in enumerate(parts)),
        ]
    )


def _section(number: int, questions: Sequence[str]) -> str:
    english, german = HEADINGS[number]
    heading = f'heading = {{ default = "{english}", de = "{german}" }}'
    own = [each.replace("[[questions]]", "[[sections.questions]]") for each in questions]
    return "\n".join(["[[sections]]", heading, *own])


def _asked(name: str, kind: str, text: str, german: str, **keys: object) -> str:
    noise = {} if "group" in keys else {"epsilon": EPSILON}
    return question_toml(name, kind, {"default": text, "de": german}, **noise, **keys)

"""Write the vector files that both languages run: ``python tests/make_vectors.py``.

Python writes them, so what they prove is that JavaScript does the same; that Python does right is proved by
enumeration in ``test_mechanisms.py``. Regenerating them must show no difference.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

from deniable import (
    DeniableError,
    KAry,
    Mechanism,
    TwoCoin,
    Warner,
    odds_sentences,
    parse_survey,
    read_survey,
    whole_odds_sentences,
)
from deniable.mechanisms import mechanism_from_published
from deniable_client.device import randomize

FOLDER = Path(__file__).parent / "vectors"
LAST_WORD = 2**32 - 1

MECHANISMS: list[Mechanism] = [
    TwoCoin("1/2", "1/2"),
    TwoCoin("4/5", "4/5"),
    TwoCoin("1/10", "1/3"),
    Warner("3/4"),
    Warner("1/6"),
    Warner.from_epsilon(1),
    Warner.from_epsilon("0.01"),
    KAry.from_epsilon(2, 1),
    KAry.from_epsilon(4, 1),
    KAry.from_epsilon(5, "0.5"),
    KAry.from_epsilon(7, 4),
    KAry.from_epsilon(100, 3),
    KAry.from_coin(4, "1/2"),
]

BAD_MECHANISMS: dict[str, dict[str, Any]] = {
    "unknown name": {"name": "coin", "truth": 2**31, "yes": 2**31},
    "no name": {"truth": 2**31, "yes": 2**31},
    "truth certain": {"name": "two-coin", "truth": 2**32, "yes": 2**31},
    "truth impossible": {"name": "two-coin", "truth": 0, "yes": 2**31},
    "forced yes only": {"name": "two-coin", "truth": 2**31, "yes": 2**32},
    "forced no only": {"name": "two-coin", "truth": 2**31, "yes": 0},
    "weight 1 could be read as probability 1": {"name": "two-coin", "truth": 1, "yes": 2**31},
    "weight not an integer": {"name": "two-coin", "truth": "1/2", "yes": 2**31},
    "weight true": {"name": "warner", "keep": True},
    "weight missing": {"name": "two-coin", "truth": 2**31},
    "unknown key": {"name": "warner", "keep": 3 * 2**30, "epsilon": 1},
    "no information": {"name": "warner", "keep": 2**31},
    "keep leaves a rest": {"name": "k-ary", "k": 4, "keep": 2863311530},
    "keep below the others": {"name": "k-ary", "k": 4, "keep": 2**32 - 3 * 2**31 // 2},
    "one option": {"name": "k-ary", "k": 1, "keep": 2**31},
    "k negative": {"name": "k-ary", "k": -4, "keep": 2**31},
    "k too large": {"name": "k-ary", "k": 2**16 + 1, "keep": 2**31},
}

SURVEY = """
title = "Life and love, 1974"
organiser = "The magazine's readers"
about = "How common is what nobody says?"
opens = 2026-11-20
closes = 2026-12-20
cohorts = ["paper", "web"]

[[questions]]
id = "affair"
type = "yes-no"
text = "Have you had an affair since you married?"
truth = "1/2"

[[questions]]
id = "trust"
type = "yes-no"
text = "Would you tell \u201cthem\u201d? \U0001f92b"
epsilon = 1.0

[[questions]]
id = "religious"
type = "choice"
text = "How religious are you?"
options = ["not", "mildly", "fairly", "strongly"]
epsilon = 1.0
"""


def mechanism_vectors(mechanism: Mechanism, dice: random.Random) -> list[dict[str, Any]]:
    """Both sides of every threshold, random words, and answers that are none."""
    published = mechanism.publish()
    thresholds = [value for key, value in published.items() if key not in ("name", "k")]
    if isinstance(mechanism, KAry):
        thresholds += [mechanism.keep + lie * mechanism.other for lie in (1, mechanism.k - 2)]
    edges = sorted({edge for at in thresholds for edge in (at - 1, at) if 0 <= edge <= LAST_WORD} | {0, LAST_WORD})
    needed = 2 if isinstance(mechanism, TwoCoin) else 1
    draws = [[edge] * needed for edge in edges] + [[edge, dice.getrandbits(32)][:needed] for edge in edges]
    draws += [[dice.getrandbits(32) for _ in range(needed)] for _ in range(40)]
    answers = sorted({0, 1, mechanism.k // 2, mechanism.k - 1})
    good = [
        {
            "name": f"good: answer {answer}, words {words}",
            "mechanism": published,
            "answer": answer,
            "words": words,
            "report": mechanism.randomize(answer, iter(words).__next__),
        }
        for words in draws
        for answer in answers
    ]
    no_answers: list[Any] = [mechanism.k, -1, 0.5, "1", True, None]
    bad = [
        {"name": f"bad: answer {answer!r}", "mechanism": published, "answer": answer, "words": [], "report": None}
        for answer in no_answers
    ]
    return good + bad


def survey_vectors() -> list[dict[str, Any]]:
    survey = read_survey(SURVEY)
    document = survey.document.decode()
    plain = read_survey(
        'title = "T"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1'
    ).document.decode()
    bad = {
        "one byte more": document + " ",
        "key order": plain[:-1].replace('"deniable":1,', "") + ',"deniable":1}',
        "duplicate key": plain.replace('"title":"T"', '"title":"S","title":"T"'),
        "unknown key": plain.replace('"title":"T"', '"title":"T","zip":1'),
        "format 2": plain.replace('"deniable":1', '"deniable":2'),
        "format true": plain.replace('"deniable":1', '"deniable":true'),
        "fraction": plain.replace('"deniable":1', '"deniable":1.0'),
        "no questions": plain[: plain.index("[") + 1] + plain[plain.rindex("]") :],
        "leading zero": plain.replace('"keep":', '"keep":0'),
        "truth certain": re.sub('"keep":[0-9]+', '"keep":4294967296', plain),
        "weight negative": plain.replace('"keep":', '"keep":-'),
        "mechanism a text": re.sub('"mechanism":{.*?}', '"mechanism":"warner"', plain),
        "empty text": plain.replace('"Q?"', '""'),
        "blank text": plain.replace('"Q?"', '" "'),
        "control character": plain.replace('"Q?"', '"Q\\u0000"'),
        "lone surrogate": plain.replace('"Q?"', '"\\ud800"'),
        "capital in an id": plain.replace('"id":"q"', '"id":"Q"'),
        "id that names a column": plain.replace('"id":"q"', '"id":"cohort"'),
        "options exchanged": plain.replace('["no","yes"]', '["yes","no"]'),
        "unknown type": plain.replace('"yes-no"', '"essay"'),
        "mechanism of another type": plain.replace('"yes-no"', '"choice"'),
        "closes before it opens": document.replace("2026-12-20", "2026-11-19"),
        "no such day": document.replace("2026-12-20", "2026-12-32"),
        "cohort twice": document.replace('["paper","web"]', '["web","web"]'),
        "not JSON": plain[:-1],
        "deep": "[" * 2000,
        "not an object": "[]",
        "null": "null",
        "upper-case escape": document.replace("\\u201c", "\\u201C"),
        "not ASCII": document.replace("\\u201c", "\u201c"),
    }
    vectors: list[dict[str, Any]] = [
        {
            "name": f"good: {each.title}",
            "document": each.document.decode(),
            "id": each.id,
            "epsilon": [question.epsilon for question in each.questions],
            "odds": [list(odds_sentences(question)) for question in each.questions],
            "whole_odds": list(whole_odds_sentences(each)),
        }
        for each in (survey, parse_survey(plain.encode()))
    ]
    return vectors + [{"name": f"bad: {name}", "document": text, "id": None} for name, text in bad.items()]


def report_vectors(dice: random.Random) -> list[dict[str, Any]]:
    survey = read_survey(SURVEY)
    vectors: list[dict[str, Any]] = []

    def add(name: str, answers: Any, cohort: Any, words: list[int], report_id: str) -> None:
        try:
            source = iter(words).__next__
            report: str | None = randomize(survey, answers, cohort, word=source, report_id=report_id).encode().decode()
        except DeniableError:
            report = None
        vectors.append(
            {"name": name, "answers": answers, "cohort": cohort, "words": words, "id": report_id, "report": report}
        )

    for number in range(50):
        answers = {question.id: dice.choice(question.options) for question in survey.questions}
        words = [dice.getrandbits(32) for _ in range(4)]
        cohort = dice.choice([None, "paper", "web"])
        add(f"good: person {number}", answers, cohort, words, f"{dice.getrandbits(128):032x}")
    whole = {"affair": "yes", "trust": "no", "religious": "not"}
    for name, bad_answers, cohort in [
        ("unknown cohort", whole, "radio"),
        ("question missing", {"affair": "yes", "trust": "no"}, None),
        ("unknown question", whole | {"age": "50"}, None),
        ("no option", whole | {"religious": "very"}, None),
        ("number of an option", whole | {"religious": 1}, None),
        ("nothing", whole | {"religious": None}, None),
    ]:
        add(f"bad: {name}", bad_answers, cohort, [0, 0, 0, 0], "00" * 16)
    return vectors


def vector_files() -> dict[str, str]:
    """File name to content."""
    dice = random.Random(1974)
    files: dict[str, Any] = {}
    for mechanism in MECHANISMS:
        files.setdefault(f"{mechanism.name}.json", []).extend(mechanism_vectors(mechanism, dice))
    files["bad-mechanisms.json"] = [
        {"name": f"bad: {name}", "mechanism": published, "answer": 0, "words": [], "report": None}
        for name, published in BAD_MECHANISMS.items()
    ]
    files["surveys.json"] = survey_vectors()
    files["reports.json"] = {"document": read_survey(SURVEY).document.decode(), "vectors": report_vectors(dice)}
    return {name: json.dumps(content, indent=1) + "\n" for name, content in files.items()}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, content in vector_files().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
    for name, published in BAD_MECHANISMS.items():
        try:
            mechanism_from_published(published)
        except DeniableError:
            continue
        raise AssertionError(f"{name} was accepted")


if __name__ == "__main__":
    main()

"""Write the vector files that both languages run: ``python -m tools.make_vectors``.

Python writes them, so what they prove is that JavaScript does the same; that Python does right is proved by
enumeration in ``test_mechanisms.py``. Regenerating them must show no difference.

Each case draws from a seed of its own, which is what the case is about. So a case that is added adds its lines and
leaves all other lines as they were.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import (
    DeniableError,
    Mechanism,
    Question,
    Survey,
    mechanisms,
    odds_sentences,
    parse_survey,
    read_survey,
    whole_odds_sentences,
)
from deniable.mechanisms import OneOfK, RowMechanism, mechanism_from_published
from deniable.survey.completion import Completion
from deniable.survey.document import MAX_ROWS
from deniable.survey.question_types import YES_NO, AnswerKind
from deniable.survey.texts import Text
from deniable_client.completion import completion_of
from deniable_client.device import applying, draw_questions, randomize
from deniable_statistics.designs.of_mechanisms import design_of
from tools.rig import arranged, device_model, filtered
from tools.rig.presented import badly_presented, helped_survey, presented_surveys
from tools.rig.survey_files import question_toml, survey_toml

FOLDER = Path(__file__).parents[1] / "tests" / "vectors"
LAST_WORD = 2**32 - 1

OPPOSITE = ((2**30, 2**29, 2**31 + 2**29), (2**31, 2**30, 2**30), (2**30, 2**31, 2**30))

SCORE = [[-abs(x - r) for r in range(4)] for x in range(4)]

PIECEWISE = (
    mechanisms.Piecewise(
        knots=(0, 1, 2, 3, 4),
        weights=(2132822916, 1756521036, 105992155, 105992155, 87452033, 106187001),
        slopes=(
            (-2022917180, 0, 2022917180, 0, 0, 0),
            (-3718735, -1669069003, -175064722, 1847852460, 0, 0),
            (0, 0, -1847852458, 175064720, 1669069003, 3718735),
            (0, 0, 0, -2022917180, 0, 2022917180),
        ),
    ),
    mechanisms.Piecewise(
        knots=(18, 33, 48, 63, 78),
        weights=(1690039655, 1690039657, 228721996, 228721996, 228721996, 228721996),
        slopes=(
            (-97421177, 0, 97421177, 0, 0, 0),
            (0, -97421177, 0, 97421177, 0, 0),
            (0, 0, -97421177, 0, 97421177, 0),
            (0, 0, 0, -97421177, 0, 97421177),
        ),
    ),
    mechanisms.Piecewise(knots=(-500000, 500000), weights=(3139872667, 1155094629), slopes=((-1984, 1984),)),
)
"""What `Piecewise.from_epsilon` makes at epsilon 3, 2 and 1. Another version of HiGHS may make others."""

FILTERED_PIECEWISE = (
    mechanisms.FilteredPiecewise(
        knots=(0, 1, 2, 3, 4),
        weights=(2040812670, 1680744501, 101419640, 101419640, 83679342, 101606081, 185285422),
        slopes=(
            (-1935648281, 0, 1935648281, 0, 0, 0, 0),
            (-3558308, -1597065159, -167512407, 1768135874, 0, 0, 0),
            (0, 0, -1768135874, 167512407, 1597065159, 3558308, 0),
            (0, 0, 0, -1935648281, 0, 1935648281, 0),
        ),
        others=(101606080, 83679342, 101419640, 101419640, 83679342, 101606080, 3721557172),
    ),
    mechanisms.FilteredPiecewise(
        knots=(18, 33, 48, 63, 78),
        weights=(1527364659, 1527364661, 206706329, 206706329, 206706329, 206706329, 413412660),
        slopes=(
            (-88043888, 0, 88043888, 0, 0, 0, 0),
            (0, -88043888, 0, 88043888, 0, 0, 0),
            (0, 0, -88043888, 0, 88043888, 0, 0),
            (0, 0, 0, -88043888, 0, 88043888, 0),
        ),
        others=(206706329, 206706330, 206706329, 206706329, 206706329, 206706329, 3054729321),
    ),
    mechanisms.FilteredPiecewise(
        knots=(-500000, -250000, 0, 250000, 500000),
        weights=(1626209989, 630793225, 377333695, 232055860, 598249224, 830325303),
        slopes=(
            (-2593, 0, 2593, 0, 0, 0),
            (-1518, -38, -1, 1557, 0, 0),
            (0, -1556, 1, 37, 1518, 0),
            (0, 0, -2593, 0, 2593, 0),
        ),
        others=(598249223, 232055860, 377333423, 232041758, 598228853, 2257058179),
    ),
    mechanisms.FilteredPiecewise(
        knots=(0, 1),
        weights=(1940735783, 1177115756, 1177115757),
        slopes=((-763620027, 763620027, 0),),
        others=(1177115756, 1177115756, 1940735784),
    ),
)
"""What `FilteredPiecewise.from_epsilon` makes at epsilon 3, 2, 1 and 0.5."""

MECHANISMS: list[Mechanism] = [
    mechanisms.TwoCoin("1/2", "1/2"),
    mechanisms.TwoCoin("4/5", "4/5"),
    mechanisms.TwoCoin("1/10", "1/3"),
    mechanisms.Warner("3/4"),
    mechanisms.Warner("1/6"),
    mechanisms.Warner.from_epsilon(1),
    mechanisms.Warner.from_epsilon("0.01"),
    mechanisms.ForcedResponse("2/3", ["1/2", "1/2"]),
    mechanisms.ForcedResponse("1/2", ["1/6", "1/3", "1/2"]),
    mechanisms.KAry.from_epsilon(2, 1),
    mechanisms.KAry.from_epsilon(4, 1),
    mechanisms.KAry.from_epsilon(5, "0.5"),
    mechanisms.KAry.from_epsilon(7, 4),
    mechanisms.KAry.from_epsilon(100, 3),
    mechanisms.KAry.from_coin(4, "1/2"),
    mechanisms.Subset.from_epsilon(4, 2, 1),
    mechanisms.Subset.from_epsilon(10, 3, 1),
    mechanisms.Subset.from_epsilon(30, 8, "0.5"),
    mechanisms.Subset.from_epsilon(128, 38, 1),
    mechanisms.TickBoxes.from_epsilon(3, 2),
    mechanisms.TickBoxes.from_epsilon(8, 4),
    mechanisms.DrawnBoxes.from_epsilon(3, 1, 1),
    mechanisms.Piecewise.from_epsilon(10**12 - 10, 10**12 + 50, 2),
    mechanisms.DrawnBoxes.from_epsilon(8, 2),
    mechanisms.DrawnBoxes.from_epsilon(5, 4, 5),
    mechanisms.DrawnBoxes.from_epsilon(200, 6, 4),
    mechanisms.Geometric.from_epsilon(0, 4, 1),
    mechanisms.Geometric.from_epsilon(-3, 7, 2),
    mechanisms.DiscreteLaplace.from_epsilon(1, 5, 2, tail="1/10"),
    mechanisms.Exponential.nominal(SCORE, 1),
    mechanisms.Exponential.calibrated(SCORE, 1),
    mechanisms.OneBitMean.from_epsilon(0, 10, 1),
    mechanisms.OneBitMean.from_epsilon(18, 99, 2),
    *PIECEWISE,
    *FILTERED_PIECEWISE,
    mechanisms.Longitudinal.from_epsilon(2, 2, 1),
    mechanisms.Longitudinal.from_epsilon(4, "1.5", "0.5"),
    mechanisms.Longitudinal(7, "0.9", "0.3"),
    mechanisms.UnequalKAry((413412659, 1240237977)),
    mechanisms.UnequalKAry((2**28, 2**29, 2**28, 2**30)),
    mechanisms.UnequalKAry((1, 2**31, 7, 2**20, 3)),
]

BENDS: dict[str, Any] = {
    "name": "piecewise",
    "knots": [0, 3, 5],
    "weights": [3 * 2**30, 2**29, 2**29],
    "slopes": [[-(2**28), 2**28, 0], [0, -(2**28), 2**28]],
}
"""A mechanism to be changed into bad ones."""

PARTED: dict[str, Any] = {
    "name": "filtered-piecewise",
    "knots": [0, 2],
    "weights": [2**31, 2**30, 2**30],
    "slopes": [[-(2**29), 2**29, 0]],
    "others": [2**30, 2**30, 2**31],
}
"""A mechanism of numbers with a filter: it has a row for each answer, and one for whoever is not asked."""

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
    "an option that is never forced": {"name": "forced-response", "truth": 2**31, "forced": [0, 2**31, 2**31]},
    "forced to more than one": {"name": "forced-response", "truth": 2**31, "forced": [2**31, 2**31, 2**31]},
    "forced no list": {"name": "forced-response", "truth": 2**31, "forced": 2**31},
    "one forced": {"name": "forced-response", "truth": 2**31, "forced": [2**32]},
    "subset of all": {"name": "subset", "k": 4, "w": 4, "inside": 2**33},
    "empty subset": {"name": "subset", "k": 4, "w": 0, "inside": 2**33},
    "subset that shuns the truth": {"name": "subset", "k": 4, "w": 2, "inside": 2**31},
    "subset without noise": {"name": "subset", "k": 4, "w": 2, "inside": 10**15},
    "subset of too many": {"name": "subset", "k": 257, "w": 2, "inside": 2**33},
    "boxes that lie": {"name": "tick-boxes", "k": 3, "keep": 2**30},
    "one box": {"name": "tick-boxes", "k": 1, "keep": 3 * 2**30},
    "no box drawn": {"name": "drawn-boxes", "k": 4, "s": 0, "keep": 3 * 2**30},
    "more boxes drawn than there are": {"name": "drawn-boxes", "k": 2, "s": 3, "keep": 2**32 - 7 * 2**28},
    "too many boxes drawn": {"name": "drawn-boxes", "k": 20, "s": 9, "keep": 2**32 - 511 * 2**20},
    "drawn boxes that lie": {"name": "drawn-boxes", "k": 4, "s": 1, "keep": 2**30},
    "drawn boxes without noise": {"name": "drawn-boxes", "k": 4, "s": 1, "keep": 2**32},
    "drawn boxes that leave a rest": {"name": "drawn-boxes", "k": 4, "s": 2, "keep": 3 * 2**30},
    "drawn boxes of a number": {"name": "drawn-boxes", "k": "4", "s": 1, "keep": 3 * 2**30},
    "tails too few": {"name": "geometric", "lo": 0, "hi": 3, "tails": [2**30, 2**29]},
    "tails that rise": {"name": "geometric", "lo": 0, "hi": 2, "tails": [2**29, 2**30]},
    "tails level": {"name": "geometric", "lo": 0, "hi": 2, "tails": [2**29, 2**29]},
    "tail of more than half": {"name": "geometric", "lo": 0, "hi": 2, "tails": [2**31, 2**29]},
    "tail of 0": {"name": "geometric", "lo": 0, "hi": 2, "tails": [2**29, 0]},
    "range upside down": {"name": "geometric", "lo": 2, "hi": 0, "tails": [2**30, 2**29]},
    "range of one": {"name": "geometric", "lo": 2, "hi": 2, "tails": []},
    "excess negative": {"name": "discrete-laplace", "lo": 0, "hi": 3, "excess": -1, "tails": [2**29]},
    "excess without tails": {"name": "discrete-laplace", "lo": 0, "hi": 1, "excess": 1, "tails": [2**29]},
    "excess too wide": {
        "name": "discrete-laplace",
        "lo": 0,
        "hi": 1,
        "excess": 4001,
        "tails": list(range(4002, 0, -1)),
    },
    "weights of 0": {"name": "exponential", "weights": [[2**32, 0], [2**31, 2**31]]},
    "weights short of 2**32": {"name": "exponential", "weights": [[2**31, 2**30], [2**31, 2**31]]},
    "weights no square": {"name": "exponential", "weights": [[2**31, 2**31]]},
    "weights no table": {"name": "exponential", "weights": [2**31, 2**31]},
    "slope uneven": {"name": "mean", "lo": 0, "hi": 3, "slope": 2**20 + 1},
    "slope too steep": {"name": "mean", "lo": 0, "hi": 4, "slope": 2**30},
    "slope level": {"name": "mean", "lo": 0, "hi": 4, "slope": 0},
    "mean of one number": {"name": "mean", "lo": 4, "hi": 4, "slope": 2**20},
    "knots out of order": BENDS | {"knots": [0, 5, 3]},
    "a knot twice": BENDS | {"knots": [0, 0, 5]},
    "knots too far apart": BENDS | {"knots": [0, 3, 10**6 + 1]},
    "knots not whole": BENDS | {"knots": [0, "3", 5]},
    "knots no list": BENDS | {"knots": 5},
    "one knot": BENDS | {"knots": [0], "slopes": []},
    "more knots than slopes": BENDS | {"knots": [0, 1, 3, 5]},
    "more slopes than knots": BENDS | {"knots": [0, 5]},
    "twelve knots": {
        "name": "piecewise",
        "knots": list(range(12)),
        "weights": [2**32 - 11] + [1] * 11,
        "slopes": [[-1, *(int(at == row) for at in range(11))] for row in range(11)],
    },
    "sixteen reports": {"name": "piecewise", "knots": [0, 1], "weights": [2**28] * 16, "slopes": [[1, -1] * 8]},
    "fewer reports than knots": BENDS
    | {"weights": [3 * 2**30, 2**30], "slopes": [[-(2**28), 2**28], [2**27, -(2**27)]]},
    "slopes of another length": BENDS | {"slopes": [[-(2**28), 2**28, 0], [-(2**28), 2**28]]},
    "slopes no rows": BENDS | {"slopes": [2**28, 2**28]},
    "slopes not whole": BENDS | {"slopes": [[-(2**28), 2**28, 0], [0, -(2**28), "268435456"]]},
    "slope true": BENDS | {"slopes": [[-(2**28), 2**28, 0], [-1, 0, True]]},
    "a weight that falls to 0": BENDS | {"slopes": [[-(2**30), 2**30, 0], [0, -(2**28), 2**28]]},
    "a weight that falls below 0": BENDS | {"slopes": [[-(2**31), 2**31, 0], [0, -(2**28), 2**28]]},
    "a report that is never sent": BENDS
    | {"weights": [3 * 2**30, 2**30, 0], "slopes": [[-(2**28), 2**28, 0], [-(2**27), 2**27, 0]]},
    "weights that do not add up": BENDS | {"weights": [3 * 2**30, 2**29, 2**29 - 1]},
    "slopes that do not add up": BENDS | {"slopes": [[-(2**28), 2**28, 1], [0, -(2**28), 2**28]]},
    "slopes that doubles cannot hold": BENDS
    | {"knots": [0, 10**6 - 1, 10**6], "slopes": [[-(2**49), 2**49, 0], [2**49 * (10**6 - 1), -(2**49), 0]]},
    "waves without a weight": {"name": "longitudinal", "k": 4, "keep": 2863311529},
    "waves with a weight of another name": {"name": "longitudinal", "k": 4, "keep": 2863311529, "more": 2863311529},
    "waves that leave a rest": {"name": "longitudinal", "k": 4, "keep": 2863311529, "again": 2863311530},
    "waves that mostly send another one": {"name": "longitudinal", "k": 2, "keep": 3 * 2**30, "again": 2**30},
    "waves without noise": {"name": "longitudinal", "k": 2, "keep": 3 * 2**30, "again": 2**32},
    "waves of pure noise": {"name": "longitudinal", "k": 2, "keep": 3 * 2**30, "again": 2**31},
    "waves of no permanent value": {"name": "longitudinal", "k": 2, "keep": 2**31, "again": 3 * 2**30},
    "k-ary with waves": {"name": "k-ary", "k": 2, "keep": 3 * 2**30, "again": 3 * 2**30},
    "others missing": PARTED | {"others": None},
    "others too few": PARTED | {"others": [2**31, 2**31]},
    "others too many": PARTED | {"others": [2**30] * 4},
    "others no list": PARTED | {"others": 2**32},
    "others of 0": PARTED | {"others": [0, 2**31, 2**31]},
    "others that do not add up": PARTED | {"others": [2**30, 2**30, 2**30]},
    "others not whole": PARTED | {"others": [2**30, "1073741824", 2**31]},
    "others of two knots and two reports": PARTED
    | {"weights": [3 * 2**30, 2**30], "slopes": [[-(2**29), 2**29]], "others": [2**31, 2**31]},
    "piecewise with others": PARTED | {"name": "piecewise"},
    "unequal without a truth": {"name": "unequal-k-ary", "others": [2**31, 2**31]},
    "unequal of more than all": {"name": "unequal-k-ary", "others": [2**31, 2**32]},
    "unequal of 0": {"name": "unequal-k-ary", "others": [0, 2**31]},
    "unequal of one option": {"name": "unequal-k-ary", "others": [2**31]},
    "unequal of no list": {"name": "unequal-k-ary", "others": 2**31},
    "unequal not whole": {"name": "unequal-k-ary", "others": [2**30, "1073741824"]},
    "integer that JavaScript cannot hold": {"name": "mean", "lo": 10**15, "hi": 10**15 + 2, "slope": 2**20},
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

[[questions]]
id = "town"
type = "choice"
text = "Where do you live?"
options = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"]
epsilon = 1

[[questions]]
id = "vote"
type = "choice"
text = "Whom did you vote for?"
options = ["left", "middle", "right"]
truth = "1/2"
forced = ["1/2", "1/4", "1/4"]

[[questions]]
id = "drugs"
type = "ticks"
text = "What have you tried?"
options = ["cannabis", "cocaine", "heroin"]
epsilon = 2

[[questions]]
id = "mood"
type = "scale"
text = "How do you feel?"
lo = -2
hi = 2
epsilon = 1
goal = "mean"
mechanism = "geometric"

[[questions]]
id = "trusts"
type = "scale"
text = "How much do you trust us?"
lo = 0
hi = 10
epsilon = 1

[[questions]]
id = "order"
type = "scale"
text = "How orderly are you?"
lo = 1
hi = 4
epsilon = 1
mechanism = "exponential"

[[questions]]
id = "drinks"
type = "number"
text = "How many drinks last week?"
lo = 0
hi = 60
epsilon = 1
mechanism = "mean"

[[questions]]
id = "nights"
type = "number"
text = "How many nights?"
lo = 1
hi = 7
epsilon = 2
mechanism = "discrete-laplace"

[[questions]]
id = "service"
type = "rating"
text = "How was the service?"
stars = 5
ends = ["poor", "excellent"]
epsilon = 1

[[questions]]
id = "leave"
type = "yes-no"
text = "Do you think of leaving?"
epsilon = 2
wave_epsilon = 1
mechanism = "longitudinal"

[[questions]]
id = "content"
type = "scale"
text = "How content are you?"
lo = 1
hi = 5
epsilon = 1.5
wave_epsilon = 0.5
mechanism = "longitudinal"
"""


def seeded_by(case: str) -> random.Random:
    """A generator of a case's own; a text seeds it alike on every machine and in every version of Python 3."""
    return random.Random(case)


def possible_answers(mechanism: Mechanism) -> list[Any]:
    """A few answers, the first and the last among them."""
    if not design_of(mechanism).is_exclusive:
        return [[], [0], list(range(mechanism.k)), list(range(1, mechanism.k, 2))]
    possible = mechanism.answer_range if isinstance(mechanism, OneOfK) else range(mechanism.k)
    return sorted({possible[0], possible[1], possible[len(possible) // 2], possible[-1]})


def ends_between_knots(mechanism: mechanisms.Piecewise) -> NDArray[np.int64]:
    """The sums of weights of all rows, in order, a million rows at once: each stretch adds its slopes at every step."""
    answers = np.arange(mechanism.knots[0], mechanism.knots[-1] + 1)
    rows = np.array(mechanism.weights, dtype=np.int64) + sum(
        np.outer(np.clip(answers - start, 0, stop - start), slope)
        for (start, stop), slope in zip(itertools.pairwise(mechanism.knots), mechanism.slopes, strict=True)
    )
    ends = np.append(np.cumsum(rows, axis=1), list(itertools.accumulate(getattr(mechanism, "others", ()))))
    ends = np.sort(ends.astype(np.int64))  # of millions it takes a tenth of the time of `np.unique`, or of a set
    return ends[np.diff(ends, prepend=-1) > 0]


def sorted_thresholds(mechanism: Mechanism) -> NDArray[np.int64]:
    """Words at which some decision changes, in order."""
    if isinstance(mechanism, mechanisms.Piecewise):
        return ends_between_knots(mechanism)
    return np.array(sorted(thresholds(mechanism)), dtype=np.int64)


def thresholds(mechanism: Mechanism) -> set[int]:
    """Words at which some decision changes, of a mechanism that has few."""
    if isinstance(mechanism, RowMechanism):
        return {end for row in mechanism.rows for end in itertools.accumulate(row)}
    if isinstance(mechanism, mechanisms.OneBitMean):
        return {int(one * 2**32) for one in design_of(mechanism).channel_matrix[1]}
    if isinstance(mechanism, mechanisms.ForcedResponse):
        return {mechanism.truth, *itertools.accumulate(mechanism.forced)}
    found = {value for key, value in mechanism.publish().items() if key in ("truth", "yes", "keep", "again")}
    if isinstance(mechanism, mechanisms.Longitudinal):
        return found | thresholds(mechanism.permanent_response) | thresholds(mechanism.instantaneous_response)
    if isinstance(mechanism, mechanisms.KAry):
        found |= {mechanism.keep + lie * mechanism._other for lie in (1, mechanism.k - 2)}
    return found


def good_vector(mechanism: Mechanism, answer: Any, first: list[int], dice: random.Random) -> dict[str, Any]:
    """What comes out when the first words are chosen and the others drawn."""
    words: list[int] = []

    def word() -> int:
        words.append(first[len(words)] if len(words) < len(first) else dice.getrandbits(32))
        return words[-1]

    report = mechanism.randomize(answer, word)
    name = f"good: answer {answer}, words {words[:2]}"
    return {"name": name, "mechanism": mechanism.publish(), "answer": answer, "words": words, "report": report}


def mechanism_vectors(mechanism: Mechanism, drawn: int = 20) -> list[dict[str, Any]]:
    """Both sides of thresholds, random words, and answers that are none."""
    dice = seeded_by(json.dumps(mechanism.publish()))
    changes = sorted_thresholds(mechanism)
    places = range(len(changes))
    some = changes[[*(places if len(changes) <= 8 else dice.sample(places, 8))]].tolist()
    edges = sorted({edge for at in some for edge in (at - 1, at) if 0 <= edge <= LAST_WORD} | {0, LAST_WORD})
    starts = [[edge] for edge in edges] + [[edge, edge] for edge in edges] + [[]] * drawn
    answers = possible_answers(mechanism)
    good = [good_vector(mechanism, answer, start, dice) for start in starts for answer in answers]
    no_answers: list[Any] = [0.5, "1", True, None, [[0]], 10**9]
    if not design_of(mechanism).is_exclusive:
        no_answers += [0, [mechanism.k], [0, 0], [-1], ["0"], [True]]
    else:
        no_answers += [answers[-1] + 1, answers[0] - 1, [answers[0]]]
    bad = [
        {
            "name": f"bad: answer {answer!r}",
            "mechanism": mechanism.publish(),
            "answer": answer,
            "words": [],
            "report": None,
        }
        for answer in no_answers
    ]
    return good + bad


NONCHARACTERS = {
    "U+FFFE": "\\ufffe",
    "U+FFFF": "\\uffff",
    "U+FDD0": "\\ufdd0",
    "U+FDEF": "\\ufdef",
    "U+1FFFE": "\\ud83f\\udffe",
    "U+10FFFF": "\\udbff\\udfff",
}
INVISIBLE = {
    "a zero-width space": "\\u200b",
    "a zero-width joiner and a byte order mark": "\\u200d\\ufeff",
    "a soft hyphen": "\\u00ad",
    "a Hangul filler": "\\u3164",
    "a blank of Braille": "\\u2800",
    "a variation selector": "\\ufe0f",
    "direction marks": "\\u202e\\u2066",
    "a language tag": "\\udb40\\udc01",
    "an annotation mark": "\\ufff9",
}


GROUPED = """
title = "Five, of which two are asked"
cohorts = ["paper", "web"]
epsilon = 2
""" + "".join(f'[[questions]]\nid = "q{n}"\ntype = "yes-no"\ntext = "Number {n}?"\n' for n in range(5))

GROUPS = """
title = "Three groups"

[groups.constructor]
epsilon = 1.5

[groups.pair]
epsilon = 2

[groups.threes]
epsilon = 3
draw = 2

[[questions]]
id = "drinks"
type = "number"
text = "How many drinks?"
lo = 0
hi = 9
group = "constructor"

[[questions]]
id = "alone"
type = "yes-no"
text = "Alone?"
epsilon = 0.5

[[questions]]
id = "affair"
type = "yes-no"
text = "An affair?"
group = "pair"

[[questions]]
id = "drugs"
type = "ticks"
text = "Which?"
options = ["cannabis", "cocaine", "heroin"]
group = "constructor"

[[questions]]
id = "tax"
type = "yes-no"
text = "Taxes?"
group = "pair"
""" + "".join(
    f'[[questions]]\nid = "t{n}"\ntype = "scale"\nlo = 1\nhi = 3\ntext = "Level {n}?"\ngroup = "threes"\n'
    for n in range(3)
)


def largest_survey() -> Survey:
    """A survey of as many rows as there may be: thirty shares of every cohort and of who has none."""
    cohorts = json.dumps([f"c{number}" for number in range(MAX_ROWS // 30 - 1)])
    questions = "".join(
        f'[[questions]]\nid = "q{number}"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1\n' for number in range(15)
    )
    return read_survey(f'title = "As many rows as there may be"\ncohorts = {cohorts}\n{questions}')


LABELLED = """
title = "Levels with labels"
[[questions]]
id = "trust"
type = "scale"
text = "How much do you trust us?"
lo = -1
hi = 2
ends = [{ default = "not at all", de = "gar nicht" }, "completely"]
epsilon = 1
"""


def labels(survey: Survey, language: str) -> list[list[str]]:
    """What people with this language choose from, question by question."""
    return [
        [each.in_language(language) if isinstance(each, Text) else each for each in question.options]
        for question in survey.questions
    ]


def survey_vectors() -> list[dict[str, Any]]:
    survey = read_survey(SURVEY)
    document = survey.document.decode()
    strict = replace(survey, cohort_required=True)
    plain = read_survey(
        'title = "T"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1'
    ).document.decode()
    largest = largest_survey().document.decode()
    presented = [*presented_surveys(parse_survey(plain.encode())), helped_survey()]
    # Reports that mostly say something else than the truth, and are read all the same.
    opposite = Survey(
        "Opposites",
        (
            Question("coin", "yes-no", "Q?", YES_NO, mechanisms.Warner("29/100")),
            Question("rows", "choice", "Q?", ("a", "b", "c"), mechanisms.Exponential(OPPOSITE)),
        ),
    )
    numbers = Survey(
        "Numbers",
        (
            Question("level", "scale", "Q?", ("-2", "-1", "0", "1", "2"), PIECEWISE[0], goal="mean"),
            Question("number", "number", "Q?", (), PIECEWISE[1]),
        ),
    )
    labelled = read_survey(LABELLED)
    grouped, groups = read_survey(GROUPED), read_survey(GROUPS)
    five = grouped.document.decode()
    (joint,) = re.findall(r'"joint":{.*?},', five)
    levels = labelled.document.decode()
    bad = {
        "labels instead of levels": levels.replace('"default":"-1"', '"default":"none"'),
        "a level that is a label alone": levels.replace('"default":"-1",', ""),
        "levels of a yes-no question": plain.replace('["no","yes"]', '[{"default":"no","und":"no"},"yes"]'),
        "one byte more": document + " ",
        "key order": plain[:-1].replace('"deniable":2,', "") + ',"deniable":2}',
        "duplicate key": plain.replace('"title":"T"', '"title":"S","title":"T"'),
        "unknown key": plain.replace('"title":"T"', '"title":"T","zip":1'),
        "format 1": plain.replace('"deniable":2', '"deniable":1'),
        "format 3": plain.replace('"deniable":2', '"deniable":3'),
        "format true": plain.replace('"deniable":2', '"deniable":true'),
        "fraction": plain.replace('"deniable":2', '"deniable":2.0'),
        "no questions": plain[: plain.index("[") + 1] + plain[plain.rindex("]") :],
        "leading zero": plain.replace('"keep":', '"keep":0'),
        "truth certain": re.sub('"keep":[0-9]+', '"keep":4294967296', plain),
        "weight negative": plain.replace('"keep":', '"keep":-'),
        "mechanism a text": re.sub('"mechanism":{.*?}', '"mechanism":"warner"', plain),
        "empty text": plain.replace('"Q?"', '""'),
        "blank text": plain.replace('"Q?"', '" "'),
        "control character": plain.replace('"Q?"', '"Q\\u0000"'),
        **{f"{name} in a text": plain.replace('"Q?"', f'"Q{code}?"') for name, code in NONCHARACTERS.items()},
        **{f"text of {name} alone": plain.replace('"Q?"', f'" {code}"') for name, code in INVISIBLE.items()},
        "lone surrogate": plain.replace('"Q?"', '"\\ud800"'),
        "capital in an id": plain.replace('"id":"q"', '"id":"Q"'),
        "id that names a column": plain.replace('"id":"q"', '"id":"cohort"'),
        "options exchanged": plain.replace('["no","yes"]', '["yes","no"]'),
        "type a list": plain.replace('"yes-no"', '["yes-no"]'),
        "goal of a yes-no question": plain.replace('"id":"q"', '"goal":"mean","id":"q"'),
        "empty why": plain.replace('"type":"yes-no"', '"type":"yes-no","why":""'),
        "scale without a goal": document.replace('"goal":"mean",', ""),
        "scale with another goal": document.replace('"goal":"mean"', '"goal":"median"'),
        "scale with a gap": document.replace('["-2","-1","0","1","2"]', '["-2","-1","0","1","3"]'),
        "scale that falls": document.replace('["-2","-1","0","1","2"]', '["2","1","0","-1","-2"]'),
        "scale of words": document.replace('["-2","-1","0","1","2"]', '["a","b","c","d","e"]'),
        "scale with a leading zero": document.replace('["1","2","3","4"]', '["01","02","03","04"]'),
        "scale of another length": document.replace('["1","2","3","4"]', '["1","2","3"]'),
        "rating of eleven stars": document.replace('trust us?","type":"scale"', 'trust us?","type":"rating"'),
        "number with options": document.replace('"options":[],', '"options":["1","2"],'),
        "ticks of another length": document.replace('["cannabis","cocaine","heroin"]', '["cannabis","cocaine"]'),
        "geometric on a choice": document.replace('"type":"scale"', '"type":"choice"'),
        "unknown type": plain.replace('"yes-no"', '"essay"'),
        "mechanism of another type": plain.replace('"yes-no"', '"choice"'),
        "retention that needs no key": plain.replace('"title"', '"retention":"reports","title"'),
        "retention null": plain.replace('"title"', '"retention":null,"title"'),
        "unknown retention": plain.replace('"title"', '"retention":"rows","title"'),
        "retention before questions": plain.replace('"questions"', '"retention":"tallies","questions"'),
        "revises null": plain.replace('"title"', '"revises":null,"title"'),
        "revises a number": plain.replace('"title"', '"revises":26,"title"'),
        "revises nothing": plain.replace('"title"', '"revises":"","title"'),
        "revises what is too short": plain.replace('"title"', f'"revises":"{"a" * 25}","title"'),
        "revises what is no address": plain.replace('"title"', f'"revises":"{"A" * 26}","title"'),
        "revises a link": plain.replace('"title"', f'"revises":"{"a" * 26}#","title"'),
        "revises and draws anew": plain.replace('"questions"', '"fresh":"each wave","questions"').replace(
            '"title"', f'"revises":"{"a" * 26}","title"'
        ),
        "fresh null": plain.replace('"questions"', '"fresh":null,"questions"'),
        "fresh at another time": plain.replace('"questions"', '"fresh":"always","questions"'),
        "fresh a list": plain.replace('"questions"', '"fresh":["each wave"],"questions"'),
        "fresh empty": plain.replace('"questions"', '"fresh":"","questions"'),
        "cohort required without cohorts": plain.replace('{"deniable"', '{"cohort_required":true,"deniable"'),
        "cohort required where no key says so": document.replace('"cohorts"', '"cohort_required":false,"cohorts"'),
        "cohort required null": document.replace('"cohorts"', '"cohort_required":null,"cohorts"'),
        "cohort required as a number": document.replace('"cohorts"', '"cohort_required":1,"cohorts"'),
        "cohort required as a text": document.replace('"cohorts"', '"cohort_required":"true","cohorts"'),
        "cohort required after cohorts": document.replace('"deniable"', '"cohort_required":true,"deniable"'),
        "release that needs no key": plain.replace('"title"', '"release":200,"title"'),
        "release too small": plain.replace('"title"', '"release":49,"title"'),
        "release too large": plain.replace('"title"', '"release":100001,"title"'),
        "release a text": plain.replace('"title"', '"release":"50","title"'),
        "release a fraction": plain.replace('"title"', '"release":50.5,"title"'),
        "release with an exponent": plain.replace('"title"', '"release":1e3,"title"'),
        "release null": plain.replace('"title"', '"release":null,"title"'),
        "release true": plain.replace('"title"', '"release":true,"title"'),
        "results that need no key": plain.replace('"title"', '"results":"batches","title"'),
        "unknown results": plain.replace('"title"', '"results":"now","title"'),
        "results a list": plain.replace('"title"', '"results":["live"],"title"'),
        "readers that need no key": plain.replace('"title"', '"readers":"public","title"'),
        "unknown readers": plain.replace('"title"', '"readers":"nobody","title"'),
        "results before readers": plain.replace('"title"', '"results":"live","readers":"token","title"'),
        "closes before it opens": document.replace("2026-12-20", "2026-11-19"),
        "no such day": document.replace("2026-12-20", "2026-12-32"),
        "cohort twice": document.replace('["paper","web"]', '["web","web"]'),
        "more rows than may be": largest.replace(last := f'"c{MAX_ROWS // 30 - 2}"', f'{last},"one more"'),
        "not JSON": plain[:-1],
        "deep": "[" * 2000,
        "not an object": "[]",
        "null": "null",
        "upper-case escape": document.replace("\\u201c", "\\u201C"),
        "why in two languages": plain.replace(
            '"type":"yes-no"', '"type":"yes-no","why":{"de":"Weil","default":"Because"}'
        ),
        "cohort in two languages": plain.replace('"deniable"', '"cohorts":[{"de":"Netz","default":"web"}],"deniable"'),
        "not ASCII": document.replace("\\u201c", "\u201c"),
        "draw none": five.replace('"draw":2', '"draw":0'),
        "draw more than there are": five.replace('"draw":2', '"draw":6'),
        "draw another number": five.replace('"draw":2', '"draw":3'),
        "draw a text": five.replace('"draw":2', '"draw":"2"'),
        "no draw": five.replace('"draw":2,', ""),
        "joint another mechanism": five.replace(joint, '"joint":{"keep":3054729319,"name":"warner"},'),
        "joint weaker than its questions": five.replace("3054729319", "3054729322"),
        "joint null": five.replace(joint, '"joint":null,'),
        "joint of ticks": groups.document.decode().replace('"draw":1,', f'"draw":1,{joint}'),
        "waves in a group": five.replace(
            '{"keep":3468141978,"name":"warner"}',
            '{"again":3000000000,"k":2,"keep":3468141978,"name":"longitudinal"}',
            1,
        ),
        "group of one": five.replace('"group":"survey",', "", 4).replace('"draw":2', '"draw":1'),
        "group of nobody": plain.replace('"questions"', '"groups":{"survey":{"draw":1}},"questions"'),
        "no such group": plain.replace('"id":"q"', '"group":"constructor","id":"q"'),
        "group null": plain.replace('"id":"q"', '"group":null,"id":"q"'),
        "no groups": plain.replace('"questions"', '"groups":{},"questions"'),
        "groups a list": five.replace('"groups":{"survey":', '"groups":[').replace('9,861"}}', '9,861"}]'),
        "group with another key": five.replace('"draw":2', '"drawn":2,"draw":2'),
        "capital in a group": five.replace('"survey"', '"Survey"'),
        "empty reason of a group": re.sub('"why":".*?"', '"why":""', five),
    }
    vectors: list[dict[str, Any]] = [
        {
            "name": f"good: {each.title}",
            "document": each.document.decode(),
            "id": each.id,
            "epsilon": [question.epsilon for question in each.questions],
            "whole_epsilon": each.epsilon,
            "keys": [unit.key for unit in each.units],
            "costs": [unit.cost for unit in each.units],
            "odds": [list(odds_sentences(question)) for question in each.questions],
            "whole_odds": list(whole_odds_sentences(each)),
        }
        | ({"labels": {language: labels(each, language) for language in ("de", "fi")}} if each is labelled else {})
        for each in (
            survey,
            parse_survey(plain.encode()),
            replace(survey, retention="tallies"),
            replace(survey, fresh="each wave"),
            replace(
                survey, title="\u0646\u0645\u06cc\u200c\u062f\u0627\u0646\u0645 \U0001f468\u200d\U0001f469\ufe0f"
            ),  # joiners between letters
            strict,
            largest_survey(),
            opposite,
            numbers,
            replace(survey, results="live", release=50),
            replace(survey, results="closed", readers="token", release=100_000),
            labelled,
            grouped,
            groups,
            replace(grouped, fresh="each wave"),
            *presented,
            replace(survey, title="Revised", revises=survey.id),
        )
    ]
    bad |= badly_presented(plain)
    return vectors + [{"name": f"bad: {name}", "document": text, "id": None} for name, text in bad.items()]


def report_vectors() -> list[dict[str, Any]]:
    survey = read_survey(SURVEY)
    vectors: list[dict[str, Any]] = []

    def add(
        name: str,
        answers: Any,
        cohort: Any,
        words: list[int],
        report_id: str,
        asked: Sequence[str] | None = None,
        survey: Survey = survey,
        **more: Any,
    ) -> None:
        used: list[int] = []

        def word() -> int:
            used.append(words[len(used)])
            return used[-1]

        try:
            made = randomize(survey, answers, cohort, asked=asked, word=word, report_id=report_id)
            report: str | None = made.encode().decode()
        except DeniableError:
            report = None
        vectors.append(
            {"name": name, "answers": answers, "cohort": cohort, "words": used, "id": report_id, "report": report}
            | ({} if asked is None else {"asked": asked})
            | more
        )

    for number in range(50):
        dice = seeded_by(f"person {number}")
        answers = some_answers(survey, dice)
        words = [dice.getrandbits(32) for _ in range(40)]
        cohort = dice.choice([None, "paper", "web"])
        add(f"good: person {number}", answers, cohort, words, f"{dice.getrandbits(128):032x}")
    whole = some_answers(survey, seeded_by("whole"))
    for name, changes in {
        "no option": {"religious": "very"},
        "number of an option": {"religious": 1},
        "nothing": {"religious": None},
        "a text for ticks": {"drugs": "cannabis"},
        "a tick that is no option": {"drugs": ["cannabis", "SECRET"]},
        "a tick twice": {"drugs": ["cannabis", "cannabis"]},
        "nothing for ticks": {"drugs": None},
        "a level too high": {"mood": 3},
        "a level between": {"mood": 0.5},
        "a level as true": {"order": True},
        "a number too high": {"drinks": 61},
        "a number too low": {"nights": 0},
        "a number as text": {"drinks": "5"},
        "a number between": {"drinks": 5.5},
        "a number as true": {"nights": True},
    }.items():
        add(f"bad: {name}", whole | changes, None, [], "00" * 16)  # type: ignore[operator]
    add("bad: unknown cohort", whole, "radio", [], "00" * 16)
    add("bad: unknown question", whole | {"age": "50"}, None, [], "00" * 16)
    strict = replace(survey, cohort_required=True)
    of_strict: dict[str, Any] = {"survey": strict, "document": strict.document.decode()}
    for name, cohort in {"good: required cohort": "web", "bad: no cohort": None, "bad: empty cohort": ""}.items():
        add(name, whole, cohort, list(range(0, 40 * 10**8, 10**8)), "00" * 16, **of_strict)
    for grouped in map(read_survey, (GROUPED, GROUPS)):
        of_groups: dict[str, Any] = {"survey": grouped, "document": grouped.document.decode()}
        for number in range(10):
            dice = seeded_by(f"{grouped.title} {number}")
            answers = some_answers(grouped, dice)
            words = [dice.getrandbits(32) for _ in range(40)]
            add(f"good: {grouped.title} {number}", answers, None, words, f"{dice.getrandbits(128):032x}", **of_groups)
        of_asked = seeded_by(f"asked of {grouped.title}")
        asked = draw_questions(grouped, lambda dice=of_asked: dice.getrandbits(32))
        given = some_answers(grouped, of_asked)
        few = {name: given[name] for name in asked}
        add(
            f"good: asked of {grouped.title}",
            few,
            None,
            list(range(0, 40 * 10**8, 10**8)),
            "00" * 16,
            asked,
            **of_groups,
        )
        add(f"bad: not all of {grouped.title}", few, None, [0] * 40, "00" * 16, **of_groups)
        add(f"bad: more than {grouped.title} asked", given, None, [0] * 40, "00" * 16, asked, **of_groups)
        add(f"bad: less than {grouped.title} asks", few, None, [0] * 40, "00" * 16, asked[1:], **of_groups)
        missing = dict(list(few.items())[1:])
        add(f"bad: less than {grouped.title} asked", missing, None, [0] * 40, "00" * 16, asked, **of_groups)
    add("bad: question missing", {key: whole[key] for key in whole if key != "drinks"}, None, [], "00" * 16)
    return vectors


BAD_CONDITIONS: dict[str, Any] = {
    "nothing": [],
    "null": None,
    "a text": "a = yes",
    "an object": {"all": []},
    "no test": ["all"],
    "one alone": ["all", ["among", "a", 1, 1]],
    "the same twice": ["any", ["among", "a", 1, 1], ["among", "a", 1, 1]],
    "all in all": ["all", ["has", "d", 0], ["all", ["among", "a", 1, 1], ["has", "d", 1]]],
    "unknown name": ["none", ["among", "a", 1, 1], ["has", "d", 0]],
    "not": ["not", ["among", "a", 1, 1]],
    "unknown question": ["among", "z", 1, 1],
    "later question": ["among", "e", 0, 0],
    "itself": ["among", "f", 0, 0],
    "unknown option": ["among", "a", 2, 2],
    "negative option": ["among", "a", -1, -1],
    "all options": ["among", "a", 0, 1],
    "no options": ["among", "a"],
    "an end missing": ["among", "a", 1],
    "ends turned round": ["among", "c", 4, 2],
    "intervals that touch": ["among", "c", 0, 1, 2, 2],
    "intervals that fall": ["among", "c", 4, 4, 0, 0],
    "a fraction": ["among", "a", 1.5, 1.5],
    "a truth value": ["among", "a", True, True],
    "a text for an option": ["among", "a", "1", "1"],
    "a box of one answer": ["has", "a", 1],
    "one answer of boxes": ["among", "d", 0, 0],
    "unknown box": ["has", "d", 9],
    "two boxes": ["has", "d", 0, 1],
    "no box": ["lacks", "d"],
    "an inherited name": ["constructor", "a", 1, 1],
    "an inherited question": ["among", "constructor", 0, 0],
    "too deep": [
        *("all", ["among", "a", 1, 1]),
        [
            "any",
            ["has", "d", 0],
            ["all", ["has", "d", 1], ["any", ["has", "d", 2], ["all", ["has", "d", 0], ["has", "d", 1]]]],
        ],
    ],
    "too many": ["any", *(["among", "n", n, n] for n in range(0, 82, 2))],
}
"""Conditions of question f, after a yes-no question a, a scale c, boxes d, a number n and a question e behind it."""


def filter_vectors() -> list[dict[str, Any]]:
    """Surveys with filters, the reports of people on different ways through them, and conditions that are none."""
    vectors: list[dict[str, Any]] = []
    together = [(f"in one response {k}", ever_and_how_often(k)) for k in (2, 3, 4, 7)]
    named = [(str(number), None) for number in range(60)]
    for number, known in (*named, *together):
        dice = seeded_by(f"filters {number}")
        survey = known or filtered.random_survey(dice)
        people = []
        for _ in range(6):
            asked = draw_questions(survey, lambda dice=dice: dice.getrandbits(32))
            answers = filtered.random_answers(survey, asked, dice)
            used: list[int] = []

            def word(dice: random.Random = dice, used: list[int] = used) -> int:
                used.append(dice.getrandbits(32))
                return used[-1]

            report = randomize(survey, answers, asked=asked, word=word, report_id="00" * 16).encode().decode()
            shown = [survey.question(name) for name in survey.shown(asked)]
            route = [each.id for each in applying(shown, answers)]
            people.append({"asked": asked, "answers": answers, "route": route, "words": used, "report": report})
        vectors.append(
            {"name": f"good: filters {number}", "document": survey.document.decode(), "id": survey.id}
            | {"keys": [unit.key for unit in survey.units], "people": people}
        )
    base = json.loads(read_survey(FILTERED).document)
    for name, condition in BAD_CONDITIONS.items():
        base["questions"][-2]["ask_if"] = condition
        document = json.dumps(base, sort_keys=True, separators=(",", ":"))
        vectors.append({"name": f"bad: {name}", "document": document, "id": None})
    return vectors


def ever_and_how_often(k: int) -> Survey:
    """A question of yes and no and one of ``k`` options that it filters, in one response to ``1 + k`` patterns."""
    often = question_toml("often", "choice", options=[*"abcdefg"[:k]], ask_if="ever = yes")
    return read_survey(survey_toml("Ever, and how often", question_toml("ever", "yes-no"), often, epsilon=2))


def order_vectors() -> list[dict[str, Any]]:
    """Surveys with sections, grids and random orders: what is shown in which order by which words, and what is sent."""
    vectors: list[dict[str, Any]] = []
    for number, toml in enumerate(arranged.ALL):
        survey = read_survey(toml)
        dice = seeded_by(f"orders {number}")
        visits = []
        for visit in range(12):
            words = [dice.getrandbits(32) if visit else 0 for _ in range(200)]
            asked = draw_questions(survey, iter(words).__next__)
            left = iter(words)
            shown = survey.presented(asked, left.__next__)
            used = words[: len(words) - len(list(left))]
            visits.append({"asked": asked, "words": used, "order": shown.block.ids, "choices": shown.choices})
        vectors.append(
            {"name": f"good: orders {number}", "document": survey.document.decode(), "id": survey.id}
            | {"keys": [unit.key for unit in survey.units], "visits": visits}
        )
    for name, document in arranged.badly_arranged(vectors[0]["document"]).items():
        vectors.append({"name": f"bad: {name}", "document": document, "id": None})
    return vectors


FILTERED = """
title = "Filtered"

[[questions]]
id = "a"
type = "yes-no"
text = "A?"
epsilon = 1

[[questions]]
id = "c"
type = "scale"
text = "C?"
lo = 1
hi = 5
epsilon = 1

[[questions]]
id = "d"
type = "ticks"
text = "D?"
options = ["x", "y", "z"]
epsilon = 1

[[questions]]
id = "n"
type = "number"
text = "N?"
lo = 0
hi = 100
epsilon = 1

[[questions]]
id = "f"
type = "yes-no"
text = "F?"
epsilon = 1
ask_if = "a = yes"

[[questions]]
id = "e"
type = "yes-no"
text = "E?"
epsilon = 1
"""


def published_at_random(name: str, dice: random.Random) -> dict[str, Any]:
    """A document of a kind of mechanism with any weights; not every one can be a mechanism."""

    def inner() -> int:
        """A weight near 0, near 2**32, or anywhere."""
        distance = int(2 ** dice.uniform(1, 31))
        return max(dice.choice([distance, 2**32 - distance, dice.randrange(2**32)]), 2)

    def split(parts: int, least: int) -> list[int]:
        """Weights that add up to 2**32."""
        cuts = sorted(dice.sample(range(1, 10**6), parts - 1))
        weights = [(high - low) * 4000 + least for low, high in itertools.pairwise([0, *cuts, 10**6])]
        weights[dice.randrange(parts)] += 2**32 - sum(weights)
        return weights

    def between(*rows: list[int]) -> dict[str, Any]:
        """The rows of a piecewise-linear mechanism, as the first one and the slopes from each to the next."""
        slopes = [[b - a for a, b in zip(*pair, strict=True)] for pair in itertools.pairwise(rows)]
        return {"knots": list(range(len(rows))), "weights": rows[0], "slopes": slopes}

    def tails(length: int) -> list[int]:
        return sorted(dice.sample(range(1, 2 ** dice.randrange(10, 31)), length), reverse=True)

    k, steps = dice.randrange(2, 12), dice.randrange(1, 12)

    def keep() -> int:
        """A weight of the truth that leaves each other option the same integer."""
        return 2**32 - (k - 1) * dice.randrange(1, 2**32 // k)

    parameters: dict[str, Callable[[], dict[str, Any]]] = {
        "two-coin": lambda: {"truth": inner(), "yes": inner()},
        "warner": lambda: {"keep": inner()},
        "forced-response": lambda: {"truth": inner(), "forced": split(k, 2)},
        "k-ary": lambda: {"k": k, "keep": keep()},
        "subset": lambda: {"k": k, "w": dice.randrange(1, k), "inside": 2**32 + int(2 ** dice.uniform(0, 49))},
        "tick-boxes": lambda: {"k": dice.randrange(2, 257), "keep": 2**31 + int(2 ** dice.uniform(0, 31))},
        "drawn-boxes": lambda: {"k": k, "s": 1, "keep": inner()},
        "geometric": lambda: {"lo": 0, "hi": steps, "tails": tails(steps)},
        "discrete-laplace": lambda: {"lo": -2, "hi": steps, "excess": 3, "tails": tails(steps + 5)},
        "exponential": lambda: {"weights": [split(3, 1) for _ in range(3)]},
        "longitudinal": lambda: {"k": k, "keep": keep(), "again": keep()},
        "mean": lambda: {"lo": 0, "hi": steps, "slope": 2 * dice.randrange(1, 2**31 // steps)},
        "piecewise": lambda: between(split(3, 1), split(3, 1), split(3, 1)),
        "unequal-k-ary": lambda: {"others": split(k, 2)[:-1] or [2, 2]},
        "filtered-piecewise": lambda: between(split(4, 1), split(4, 1), split(4, 1)) | {"others": split(4, 1)},
    }
    return {"name": name, **parameters[name]()}


def epsilon_vectors(each: int = 40) -> list[dict[str, Any]]:
    """Epsilons of published mechanisms, so many of each kind; JavaScript's are never below."""
    vectors: list[dict[str, Any]] = []
    for name in dict.fromkeys(mechanism.name for mechanism in MECHANISMS):
        dice = seeded_by(f"epsilons of {name}")
        found: list[dict[str, Any]] = []
        while len(found) < each:
            published = published_at_random(name, dice)
            try:
                mechanism = mechanism_from_published(published)
            except DeniableError:
                continue
            found.append({"mechanism": published, "epsilon": mechanism.epsilon})
        vectors += found
    return vectors


def some_answers(survey: Survey, dice: random.Random) -> dict[str, Any]:
    """Random answers to all questions of a survey, as a person gives them."""
    return {question.id: some_answer(question, dice) for question in survey.questions}


def some_answer(question: Question, dice: random.Random) -> Any:
    """A random answer as a person gives it."""
    if question.kind.takes_several:
        return [option for option in question.choices if dice.random() < 0.5]
    if question.kind.answers is AnswerKind.LEVELS:
        return dice.choice([str, int])(dice.choice(question.options))
    if question.kind.answers is AnswerKind.RANGE:
        assert isinstance(question.mechanism, OneOfK)
        return dice.choice(question.mechanism.answer_range)
    return dice.choice(question.options)


ID = "bpn4zq5y7xlxpqd63hsrm4s5ky"

SURVEYS_OF_SEQUENCES = (*(25,) * 8, *(29,) * 4)
"""For each sequence in ``memory.json``, of how many surveys of the model it draws: a new survey gets new sequences."""


def link_vectors() -> list[dict[str, Any]]:
    """Links, what is read of them, and who refuses what the other one reads."""
    a, local = "https://a.example", "http://127.0.0.1:8000"
    read: dict[str, tuple[str, str | None]] = {
        f"{a}/s/{ID}": (a, None),
        f"{a}/s/{ID}#cohort=web": (a, "web"),
        f"{a}/s/{ID}#kiosk": (a, None),
        f"{a}/s/{ID}#kiosk&cohort=web&cohort=paper": (a, "web"),
        f"{a}/s/{ID}?cohort=web": (a, None),
        f"{a}/embed/{ID}#cohort=": (a, ""),
        f"{a}/api/v1/surveys/{ID}/": (a, None),
        f"HTTPS://A.Example:443/s/{ID}": (a, None),
        f"https://a.example:0443/s/{ID}": (a, None),
        f"https://a.example:8443/s/{ID}": ("https://a.example:8443", None),
        f"http://a.example/s/{ID}": ("http://a.example", None),
        f"https://somebody:secret@a.example/s/{ID}": (a, None),
        f"{a}/./s/{ID}": (a, None),
        f"{a}/x/../s/{ID}": (a, None),
        f"{a}/x/%2e%2E/../s/{ID}": (a, None),
        f"{a}//s/{ID}": (a, None),
        f"{a}/one/s/{ID}": (f"{a}/one", None),
        f"{a}/one/./two/s/{ID}": (f"{a}/one/two", None),
        f"{local}/s/{ID}": (local, None),
        f"http://127.1:8000/s/{ID}": (local, None),
        f"http://0x7f.1:8000/s/{ID}": (local, None),
        f"http://0177.0.0.1:8000/s/{ID}": (local, None),
        f"http://2130706433:8000/s/{ID}": (local, None),
        f"http://localhost:8000/s/{ID}": ("http://localhost:8000", None),
        f"http://[::1]:8000/s/{ID}": ("http://[::1]:8000", None),
        f"http://[0:0:0:0:0:0:0:1]:8000/s/{ID}": ("http://[::1]:8000", None),
        f"http://[::FFFF:127.0.0.1]/s/{ID}": ("http://[::ffff:7f00:1]", None),
        f"https://xn--exmple-cua.org/s/{ID}": ("https://xn--exmple-cua.org", None),
        f"https://a_b.example/s/{ID}": ("https://a_b.example", None),
    }
    only_browsers = {
        f"https://ex\u00e4mple.org/s/{ID}": "https://xn--exmple-cua.org",
        f"https://%61.example/s/{ID}": a,
        f"https:\\\\a.example/s/{ID}": a,
    }
    refused = [
        ID,
        f"{a}/s/{ID[:-1]}",
        f"{a}/s/{ID.upper()}",
        f"{a}/s/{ID}/results",
        f"{a}/t/{ID}",
        f"ftp://a.example/s/{ID}",
        f"javascript:alert(1)//s/{ID}",
        f"https://a.example./s/{ID}",
        f"https://a.example.:443/s/{ID}",
        f"http://127.0.0.256/s/{ID}",
        f"http://1.2.3.4.5/s/{ID}",
        f"http://08.1/s/{ID}",
        f"http://[::1/s/{ID}",
        f"http://[fe80::1%25eth0]/s/{ID}",
        f"https://a.example:99999/s/{ID}",
        f"https://a b.example/s/{ID}",
        "",
    ]

    def vector(link: str, collector: str, cohort: str | None) -> dict[str, Any]:
        origin = "/".join(collector.split("/")[:3])
        return {"link": link, "read": {"collector": collector, "survey": ID, "cohort": cohort, "origin": origin}}

    return [
        *(vector(link, *each) for link, each in read.items()),
        *(vector(link, each, None) | {"refused by": ["python"]} for link, each in only_browsers.items()),
        *({"link": link, "read": None} for link in refused),
    ]


def ledger_vectors() -> list[dict[str, Any]]:
    """Orders of asking that the ledger is there for, with what each step must come to."""
    titles = [each.title for each in device_model.SURVEYS]
    a, other, b, c = device_model.PLACES
    sums = [titles.index(f"Sum {n}") for n in range(6)]

    def vector(name: str, *asked: tuple[int | str, str, str]) -> dict[str, Any]:
        model, steps = device_model.Model(), []
        for number, (survey, collector, day) in enumerate(asked):
            which = survey if isinstance(survey, int) else titles.index(survey)
            chosen = device_model.SURVEYS[which]
            values: dict[str, Any] = {
                each.id: "11" if each.kind.takes_several else 1 for each in chosen.questions if not each.group
            }
            for members in chosen.groups.values():
                draw = members[0].group.draw if members[0].group else 0
                values |= {each.id: int(place < draw) or None for place, each in enumerate(members)}
            report = {"id": f"{number:032x}", "cohort": None, "values": values}
            step = {
                "act": "answer",
                "survey": which,
                "collector": collector,
                "day": day,
                "report": report,
                "words": [0xB0000000 * number % 2**32],
                "fault": None,
            }
            for each in ({"act": "look", "survey": which, "collector": collector, "day": day}, step):
                steps.append(each | {"expect": model.step(each)})
        return {"name": name, "steps": steps}

    day = "2026-11-25"
    return [
        vector("one collector: 3 and 3 of 8, not 9", *((n, a, day) for n in sums[:3])),
        vector(
            "another path of its origin is the same collector",
            (sums[0], a, day),
            (sums[1], other, day),
            (sums[2], a, day),
        ),
        vector("exactly 8", ("Dear", a, day), ("One", a, day)),
        vector("all together: 15 of 16, not 18", *zip(sums, (a, a, b, b, c, c), [day] * 6, strict=True)),
        vector(
            "told to two, it counts once for the device",
            *((n, x, day) for n in sums[:2] for x in (a, b, c)),
            (sums[2], b, day),
        ),
        vector("after 89 days it counts", (sums[0], a, day), (sums[1], a, day), (sums[2], a, "2027-02-22")),
        vector("after 90 days it does not", (sums[0], a, day), (sums[1], a, day), (sums[2], a, "2027-02-23")),
        vector(
            "the same to the same costs nothing, however old",
            (sums[0], a, day),
            (sums[1], a, "2027-02-23"),
            (sums[2], a, "2027-02-23"),
            (sums[0], a, "2027-02-23"),
        ),
        vector(
            "the same question elsewhere costs nothing",
            ("One", a, day),
            ("The same under another title and id", a, day),
            ("Twice the same", a, day),
        ),
        vector(
            "a draw costs what is asked, and nothing again",
            ("Drawn", a, day),
            ("The same draw under another title", a, day),
            ("All in one response", a, day),
            ("Drawn anew", b, day),
        ),
        vector("waves cost anew", ("One", a, day), ("First wave", a, day), ("Second wave", a, day)),
        vector(
            "waves of one permanent value cost once",
            *((title, a, day) for title in device_model.PANEL_WAVES),
            ("One", a, day),
        ),
        vector(
            "a clock that goes back",
            (sums[0], a, day),
            (sums[1], a, "1970-01-01"),
            (sums[2], a, "1970-01-02"),
            (sums[2], a, "2027-02-22"),
            (sums[2], a, "2027-02-23"),
        ),
        vector(
            "a clock that was years ahead: what it dated counts for 90 days from when the clock was right again",
            (sums[0], a, "2099-01-01"),
            (sums[1], a, "2099-01-01"),
            (sums[2], a, day),
            (sums[2], a, "2027-02-22"),
            (sums[2], a, "2027-02-23"),
            (sums[3], a, "2027-02-23"),
            (sums[4], a, "2027-05-23"),
            (sums[4], a, "2027-05-24"),
        ),
        vector(
            "a clock that was behind and is right again: nothing has aged meanwhile",
            (sums[0], a, day),
            (sums[1], a, day),
            (sums[2], a, "1970-01-01"),
            (sums[2], a, "2026-11-26"),
            (sums[2], a, "2027-02-22"),
            (sums[2], a, "2027-02-23"),
        ),
        vector(
            "a clock that was ahead, then behind: nothing has aged meanwhile",
            (sums[0], a, "2099-01-01"),
            (sums[1], a, day),
            (sums[2], a, "1970-01-01"),
            (sums[2], a, "1970-03-01"),
            (sums[2], a, "2026-11-26"),
            (sums[2], a, "2027-02-22"),
            (sums[2], a, "2027-02-23"),
        ),
    ]


def completion_vectors() -> list[dict[str, Any]]:
    """What a respondent takes back to a panel, by the words that its code is drawn from."""
    survey = read_survey('title = "T"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1')
    cases: list[tuple[str, Completion, list[int]]] = [
        ("a link alone", Completion(link="https://panel.example/done"), []),
        ("a common code", Completion("Type it in.", code="C1-x_9"), []),
        ("a common code in a link", Completion(link="https://panel.example/{code}?x=1", code="C1-x_9"), []),
        ("the first and the last character", Completion(code_length=6), [0, 30, 0, 30, 0, 30]),
        ("what is beyond the last", Completion(code_length=6), [31, 1, 31, 31, 2, 63, 3, 4, 5, LAST_WORD, 6]),
        ("high bits, which mean nothing", Completion(code_length=6), [2**32 - 2, 2**31, 2**5 + 7, 1, 1, 1]),
    ]
    for length in (6, 13, 20):
        dice = seeded_by(f"completion of {length}")
        drawn = Completion("Go back.", "https://panel.example/?c={code}", code_length=length)
        cases.append((f"a code of {length}", drawn, [dice.getrandbits(32) for _ in range(60)]))
    vectors = []
    for name, completion, words in cases:
        left = iter(words)
        personal = completion_of(replace(survey, completion=completion), left.__next__)
        assert personal is not None
        used = words[: len(words) - len(list(left))]
        published = completion.publish()
        vectors.append({"name": name, "completion": published, "words": used, "personal": asdict(personal)})
    return vectors


def vector_files() -> dict[str, str]:
    """File name to content."""
    files: dict[str, Any] = {}
    for mechanism in MECHANISMS:
        files.setdefault(f"{mechanism.name}.json", []).extend(mechanism_vectors(mechanism))
    files["bad-mechanisms.json"] = [
        {"name": f"bad: {name}", "mechanism": published, "answer": 0, "words": [], "report": None}
        for name, published in BAD_MECHANISMS.items()
    ]
    files["epsilons.json"] = epsilon_vectors()
    files["surveys.json"] = survey_vectors()
    files["reports.json"] = {"document": read_survey(SURVEY).document.decode(), "vectors": report_vectors()}
    files["filters.json"] = filter_vectors()
    files["orders.json"] = order_vectors()
    files["completions.json"] = completion_vectors()
    files["links.json"] = link_vectors()
    files["ledger.json"] = ledger_vectors()
    files["memory.json"] = {
        "surveys": [each.document.decode() for each in device_model.SURVEYS],
        "keys": [each.keys for each in device_model.SURVEYS],
        "sequences": [
            device_model.sequence(seeded_by(f"sequence {number}"), 40, surveys)
            for number, surveys in enumerate(SURVEYS_OF_SEQUENCES)
        ],
    }
    return {name: one_a_line(content) + "\n" for name, content in files.items()}


def one_a_line(content: Any, depth: int = 0) -> str:
    """JSON with a vector a line, so that a difference shows the vectors that changed, and nothing else."""
    if isinstance(content, dict) and depth == 0:
        pieces = [f"{json.dumps(key)}: {one_a_line(value, 1)}" for key, value in content.items()]
    elif isinstance(content, list) and (depth < 2 or any(isinstance(each, dict) for each in content)):
        pieces = [one_a_line(each, depth + 1) for each in content]
    else:
        return json.dumps(content)
    opening, closing = "{}" if isinstance(content, dict) else "[]"
    inner = ",\n".join(" " * (depth + 1) + piece for piece in pieces)
    return f"{opening}\n{inner}\n{' ' * depth}{closing}"


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

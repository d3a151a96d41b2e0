"""Surveys that many tests ask, the people who answer them, and the day that it is."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

TODAY = datetime.date(2026, 11, 25)

SURVEY = """
title = "Life and love, 1974"
opens = 2026-11-20
closes = 2026-12-20
cohorts = ["paper", "web"]
results = "live"           # so that tests count what they have just sent

[[questions]]
id = "affair"
type = "yes-no"
text = "Have you had an affair since you married?"
truth = "1/2"

[[questions]]
id = "religious"
type = "choice"
text = "How religious are you?"
options = ["not", "mildly", "fairly", "strongly"]
epsilon = 1.0
"""


FIVE_TYPES = """
title = "Five types"
results = "live"

[[questions]]
id = "affair"
type = "yes-no"
text = "Have you had an affair?"
truth = "1/2"

[[questions]]
id = "town"
type = "choice"
text = "Where do you live?"
options = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"]
epsilon = 1

[[questions]]
id = "drugs"
type = "ticks"
text = "What have you tried?"
options = ["cannabis", "cocaine", "heroin"]
epsilon = 2

[[questions]]
id = "trust"
type = "scale"
text = "How much do you trust us?"
lo = 1
hi = 7
epsilon = 1
goal = "shares"

[[questions]]
id = "drinks"
type = "number"
text = "How many drinks last week?"
lo = 0
hi = 60
epsilon = 1
"""
"""A survey with a question of each type."""


EVERY_KIND = """
title = "T"

[[questions]]
id = "yes_no"
type = "yes-no"
text = "?"
truth = "1/2"

[[questions]]
id = "k_ary"
type = "choice"
text = "?"
options = ["a","b","c"]
epsilon = 1

[[questions]]
id = "subset"
type = "choice"
text = "?"
options = ["a","b","c","d","e","f"]
mechanism = "subset"
epsilon = 1

[[questions]]
id = "forced"
type = "choice"
text = "?"
options = ["a","b","c"]
truth = "1/2"
forced = ["1/2","1/4","1/4"]

[[questions]]
id = "ticks"
type = "ticks"
text = "?"
options = ["a","b"]
epsilon = 2

[[questions]]
id = "scale_geometric"
type = "scale"
text = "?"
lo = 1
hi = 4
mechanism = "geometric"
epsilon = 1

[[questions]]
id = "scale_exponential"
type = "scale"
text = "?"
lo = 1
hi = 4
mechanism = "exponential"
epsilon = 1

[[questions]]
id = "scale_mean"
type = "scale"
text = "?"
lo = 1
hi = 4
mechanism = "mean"
epsilon = 1

[[questions]]
id = "number_mean"
type = "number"
text = "?"
lo = 0
hi = 4
mechanism = "mean"
epsilon = 1

[[questions]]
id = "number_laplace"
type = "number"
text = "?"
lo = 0
hi = 4
mechanism = "discrete-laplace"
epsilon = 1

[[questions]]
id = "number_geometric"
type = "number"
text = "?"
lo = 0
hi = 4
mechanism = "geometric"
epsilon = 1

[[questions]]
id = "number_piecewise"
type = "number"
text = "?"
lo = 0
hi = 4
mechanism = "piecewise"
epsilon = 1

[[questions]]
id = "scale_piecewise"
type = "scale"
text = "?"
lo = 1
hi = 7
goal = "mean"
mechanism = "piecewise"
epsilon = 2
"""
"""A survey with a question for each mechanism."""


def person(number: int) -> dict[str, Any]:
    """The true answers of an invented person to `FIVE_TYPES`."""
    return {
        "affair": "yes" if number % 10 < 3 else "no",
        "town": "ABCDEFGHIJ"[min(number % 13, 9)],
        "drugs": [drug for place, drug in enumerate(["cannabis", "cocaine", "heroin"]) if number % (place + 2) == 0],
        "trust": str(1 + number % 7) if number % 3 else "6",
        "drinks": number % 17 if number % 5 else 40,
    }


def distances_in_errors(rows: list[dict[str, Any]], people: list[dict[str, Any]]) -> list[float]:
    """How many standard errors each published estimate is from the truth about these people."""
    found = []
    for row in rows:
        given = [each[row["question"]] for each in people]
        if row["statistic"] == "mean":
            truth = sum(map(float, given)) / len(given)
        else:
            truth = sum(row["option"] in each if isinstance(each, list) else row["option"] == each for each in given)
            truth /= len(given)
        found.append(abs(row["estimate"] - truth) / row["std_error"])
    return found


@dataclass
class Clock:
    """A day that tests move."""

    today: datetime.date = TODAY

    def __call__(self) -> datetime.date:
        return self.today

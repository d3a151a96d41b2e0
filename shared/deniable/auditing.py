"""A lower bound on the real epsilon of what a device sends, from nothing but many serialised reports.

For two answers, every event ``S`` gives ``epsilon >= ln P(S | x) / P(S | y)``. Events are chosen on one half of the
reports and measured on the other; Clopper-Pearson limits make the bound hold with a stated probability [1]_. What is
looked at is the text that leaves the device: values, pairs of values, characters at positions, and lengths. So a fault
in the encoding is found as well as one in the mechanism.

References
----------
.. [1] Z. Ding, Y. Wang, G. Wang, D. Zhang, D. Kifer, "Detecting violations of differential privacy", CCS 2018, 475-489.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from deniable.errors import DeniableError

FAILURE = 1e-6
"""Probability that a faultless device is accused, over everything that one audit looks at."""

MOST_VALUES = 4096
"""A feature with more values is not looked at as a whole; its positions are."""

MOST_FEATURES = 2000

_SHAPE = re.compile(rb'\{"id":"([0-9a-f]{32})",(.*)\}', re.DOTALL)

Feature = tuple[str, ...]
"""Name of something that can be read off a report."""


class AuditFailed(DeniableError):
    """Reports tell more about an answer than their survey declares."""


@dataclass(frozen=True)
class Finding:
    """What the reports to two answers of one question tell.

    Attributes
    ----------
    question : str
    declared : float
        The question's epsilon.
    bound : float
        Lower bound on the real one.
    event : str
        What gives it away most.
    draws : int
        Reports that were looked at.
    """

    question: str
    declared: float
    bound: float
    event: str
    draws: int

    @property
    def passed(self) -> bool:
        """Whether the bound stays at or below the declared epsilon."""
        return self.bound <= self.declared


class Bodies:
    """Counts of distinct reports, apart from their random ids, in two halves."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.halves: tuple[Counter[bytes], Counter[bytes]] = (Counter(), Counter())
        self.ids: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        self.n = 0
        for line in lines:
            self._add(line)

    def _add(self, line: bytes) -> None:
        half = self.n % 2
        found = _SHAPE.fullmatch(line)
        # A report of another shape is looked at whole: an encoding that depends on the answer is a fault too.
        self.halves[half][found[2] if found else b"?" + line] += 1
        self.ids[half][found[1][:1].decode() if found else "?"] += 1
        self.n += 1


def compare(question: str, declared: float, one: Bodies, other: Bodies, failure: float = FAILURE) -> Finding:
    """Bound the epsilon between the reports to two answers of a question, other answers alike.

    Parameters
    ----------
    question : str
        Id of the question whose answer differs.
    declared : float
        Its epsilon.
    one, other : Bodies
        Reports to either answer.
    failure : float
        Probability that the bound is above the real epsilon.
    """
    chosen = [_tables(one.halves[0], question), _tables(other.halves[0], question)]
    measured = [_tables(one.halves[1], question), _tables(other.halves[1], question)]
    for tables, half in ((chosen, 0), (measured, 1)):
        for table, bodies in zip(tables, (one, other), strict=True):
            table["id",] = bodies.ids[half]
    features = [
        feature
        for feature in sorted(chosen[0].keys() | chosen[1].keys())
        if len(chosen[0].get(feature, ())) <= MOST_VALUES and len(chosen[1].get(feature, ())) <= MOST_VALUES
    ][:MOST_FEATURES]
    level = failure / (4 * max(len(features), 1))  # both directions, both limits
    totals = [sum(bodies.halves[1].values()) for bodies in (one, other)]
    best, event = 0.0, "nothing"
    for feature in features:
        for here, there in ((0, 1), (1, 0)):
            values = _likelier(chosen[here].get(feature, Counter()), chosen[there].get(feature, Counter()), level)
            if not values:
                continue
            hits = [sum(measured[side].get(feature, Counter())[value] for value in values) for side in (here, there)]
            bound = log_ratio_below(hits[0], totals[here], hits[1], totals[there], level)
            if bound > best:
                shown = ", ".join(sorted(values)[:3]) + (", ..." if len(values) > 3 else "")
                best, event = bound, f"{' and '.join(feature)} in {{{shown}}}"
    return Finding(question, declared, best, event, one.n + other.n)


def log_ratio_below(hits_x: int, n_x: int, hits_y: int, n_y: int, level: float) -> float:
    """A lower limit of ``ln P(S|x) / P(S|y)``, each Clopper-Pearson limit missed with probability ``level``."""
    from scipy.special import betaincinv

    if hits_x == 0:
        return -math.inf
    low = float(betaincinv(hits_x, n_x - hits_x + 1, level))
    high = 1.0 if hits_y == n_y else float(betaincinv(hits_y + 1, n_y - hits_y, 1 - level))
    return math.log(low / high) if low > 0 else -math.inf


def _likelier(here: Mapping[str, int], there: Mapping[str, int], level: float) -> list[str]:
    """The values of a feature that together give the largest bound on this half."""
    n_here, n_there = sum(here.values()), sum(there.values())
    if not n_here or not n_there:
        return list(here) if n_here else []
    ranked = sorted(here, key=lambda value: (there.get(value, 0) + 0.5) / (here[value] + 0.5))
    best, kept, hits_here, hits_there = -math.inf, 0, 0, 0
    z = math.sqrt(-2 * math.log(level))  # normal limits choose quickly; the other half is measured exactly
    for place, value in enumerate(ranked, start=1):
        hits_here += here[value]
        hits_there += there.get(value, 0)
        low = hits_here - z * math.sqrt(hits_here)
        high = hits_there + z * math.sqrt(hits_there + z * z / 4) + z * z / 2
        if low > 0 and (gain := math.log(low / n_here * n_there / high)) > best:
            best, kept = gain, place
    return ranked[:kept]


def _tables(bodies: Mapping[bytes, int], question: str) -> dict[Feature, Counter[str]]:
    """How often each value of each feature came."""
    tables: dict[Feature, Counter[str]] = {}
    for body, count in bodies.items():
        for feature, value in features_of(body, question):
            tables.setdefault(feature, Counter())[value] += count
    return tables


def features_of(body: bytes, question: str) -> Iterator[tuple[Feature, str]]:
    """Everything that is read off one report: the question's value, alone and with each other one, and shapes."""
    yield ("length",), str(len(body))
    try:
        answers = json.loads(b"{" + body + b"}")["answers"]
        own = json.dumps(answers[question])
    except (ValueError, KeyError, TypeError):
        yield ("whole report",), body.decode("utf-8", "replace")
        return
    yield ("keys",), ",".join(answers)
    yield (question,), own
    for other, value in answers.items():
        if other != question:
            yield (question, other), f"{own} {json.dumps(value)}"
    if len(own) > 3:
        marks = own.strip('"')
        yield ("ones",), str(marks.count("1"))
        for position, mark in enumerate(marks):
            yield (f"{question}[{position}]",), mark
        for position in range(1, len(marks)):
            yield (f"{question}[{position - 1}:{position + 1}]",), marks[position - 1 : position + 1]

"""Contingency tables of the features of reports by the answers that they were drawn for, and their tests.

Reports come in blocks, so memory does not grow with their number. Only reports in the right form are counted; another
form is a fault by itself.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable import Question, Report
from deniable.mechanisms.longitudinal import waves_of
from deniable.survey.patterns import Pattern, counted, patterns_of
from deniable.wire.space import Value
from deniable_client.audit.answers import TestedAnswers
from deniable_client.audit.evidence import (
    CellCounts,
    Check,
    Counts,
    Finding,
    Floats,
    log_level,
    measured,
    telling_event,
)
from deniable_client.audit.together import pair_probabilities
from deniable_statistics.designs.of_mechanisms import design_of

Codes = NDArray[np.int64]

MOST_PAIRS = 200
"""Largest number of pairs of questions that are tested; of more pairs a random sample is."""

GROUPS = 8
"""Number of groups of answers to another question: the first, the last, and six groups of the others."""

BINS = 16
"""Number of bins of values of another question: of equal length, or by the first four marks of a text."""

LARGEST_TEXT = 12
"""Longest text, in marks, that is also tested as a whole."""

NIBBLES, HEX = 32, 16
"""Number of hexadecimal digits of an id, and of values of a digit."""


@dataclass(frozen=True)
class Feature:
    """A feature of the values of one question, with a finite number of values.

    Attributes
    ----------
    name : str
    size : int
        Number of its values.
    p : ndarray, shape (answers, size), or None
        Published probabilities of the values, where they follow from the supports; else None.
    """

    name: str
    size: int
    p: Floats | None


class Values:
    """The encoding of the values of one question as numbers."""

    def __init__(self, answers: TestedAnswers) -> None:
        self.question, self.answers = answers.question, answers
        mechanism = self.question.mechanism
        self.is_text = not mechanism.reports.supports_one
        self.is_drawn = self.question.share_asked < 1
        # Not to be asked is one number more, or a text without marks and with a 0 behind them.
        self.first, self.size = mechanism.reports.first, mechanism.reports.size + self.is_drawn
        self.bins_n = min(BINS, 2**self.size if self.is_text else self.size)

    @cached_property
    def features(self) -> list[Feature]:
        """The features that are counted, in the order of `codes`."""
        name, k = self.question.id, self.size
        if not self.is_text:
            return [Feature(name, k, self._published())]
        marks = [
            Feature(f"{name}[{mark}]", 2, np.stack([1 - ones, ones], axis=1))
            for mark, ones in enumerate(self._published().T)
        ]
        pairs = [Feature(f"{name}[{mark}:{mark + 2}]", 4, None) for mark in range(k - 1)]
        whole = [Feature(name, 2**k, None)] if k <= LARGEST_TEXT else []
        return [*marks, *pairs, Feature(f"ones in {name}", k + 1, None), *whole]

    def codes(self, values: Sequence[Value]) -> list[Codes]:
        """The code of every feature for each report."""
        if not self.is_text:
            return [self._numbers(values)]
        marks = self._marks(values)
        pairs = marks[:, :-1] * 2 + marks[:, 1:]
        whole = [marks @ (1 << np.arange(self.size)[::-1])] if self.size <= LARGEST_TEXT else []
        return [*marks.T, *pairs.T, marks.sum(1), *whole]

    def bins(self, values: Sequence[Value]) -> Codes:
        """A number below `BINS` for each report."""
        if self.is_text:
            marks = self._marks(values)[:, :4]
            binned: Codes = marks @ (1 << np.arange(marks.shape[1]))
            return binned
        return self._coarse(self._numbers(values))

    def in_bins(self, p: Floats, axis: int) -> Floats:
        """Probabilities of bins, from probabilities of values along an axis."""
        of = np.eye(self.bins_n)[self._coarse(np.arange(self.size))]
        return np.moveaxis(np.moveaxis(p, axis, -1) @ of, -1, axis)

    def _coarse(self, codes: Codes) -> Codes:
        return codes if self.size <= BINS else codes * BINS // self.size

    def _numbers(self, values: Sequence[Value]) -> Codes:
        none = self.first + self.size - 1
        return np.array([none if value is None else value for value in values], dtype=np.int64) - self.first

    def _marks(self, values: Sequence[Value]) -> Codes:
        unasked = "0" * self.size
        # The mark behind says that the question was asked, so that no text of zeros is taken for not asked.
        behind = "1" if self.is_drawn else ""
        joined = "".join(unasked if value is None else f"{value}{behind}" for value in values).encode("ascii")
        marks: Codes = (np.frombuffer(joined, dtype=np.uint8).reshape(-1, self.size) == ord("1")).astype(np.int64)
        return marks

    def _published(self) -> Floats:
        """Probabilities that a report supports each option, and of being asked, or not; shape (answers, k)."""
        share = self.question.share_asked
        supported = self.where_asked
        if not self.is_drawn:
            return supported
        # Texts have a mark for being asked, numbers a value for not being asked.
        last = share if self.is_text else 1 - share
        return np.hstack([supported * share, np.full((len(supported), 1), last)])

    @cached_property
    def where_asked(self) -> Floats:
        """Probability that a report supports each option where the question is asked, shape (answers, options)."""
        supported = design_of(self.question.mechanism).supported
        return np.array([list(map(float, supported(truth))) for truth in self.answers.truths])


PARTS = 3
MADE, CHOSEN, MEASURED = range(PARTS)
"""Parts of the reports: a quarter, a quarter and a half.

On the first part each table selects its most telling event. On the second the most telling of these is chosen, because
a table of many cells overfits the first part. On the third its lower bound on epsilon is measured.
"""


class Tables:
    """All contingency tables of an audit."""

    def __init__(self, answers: Sequence[TestedAnswers], dice: random.Random) -> None:
        self.values = [Values(each) for each in answers]
        self.sizes = [len(each.given) for each in answers]
        pairs = list(itertools.permutations(range(len(answers)), 2))
        self.pairs = pairs if len(pairs) <= MOST_PAIRS else dice.sample(pairs, MOST_PAIRS)
        # By part and by whether answers were independent; the bound on epsilon needs both told apart.
        self.own = [
            [_zeros(PARTS, 2, size, feature.size) for feature in each.features]
            for each, size in zip(self.values, self.sizes, strict=True)
        ]
        # The joint table of two questions is the same both ways, so it is counted once.
        once = {(q, r) for q, r in self.pairs if (q < r or (r, q) not in self.pairs) and self._is_known(q, r)}
        groups = [min(size, GROUPS) for size in self.sizes]
        alone = [_alone(size) for size in self.sizes]
        bins = [each.bins_n for each in self.values]
        self.tied = _tied([each.question for each in answers])
        self.both = {(q, r): _zeros(PARTS, 2, self.sizes[q], bins[q] * bins[r]) for q, r in self.pairs}
        self.across = {(q, r): _zeros(self.sizes[q], groups[r], bins[q]) for q, r in self.pairs}
        self.joint = {(q, r): _zeros(alone[q], alone[r], bins[q], bins[r]) for q, r in self.pairs if (q, r) in once}
        self.ids = [_zeros(size, NIBBLES, HEX) for size in self.sizes]
        self.ids_values = [_zeros(each, n, NIBBLES, HEX) for each, n in zip(groups, bins, strict=True)]

    def add(self, reports: Sequence[Report], codes: NDArray[np.integer], free: NDArray[np.bool_]) -> None:
        """Count a block of reports.

        Parameters
        ----------
        reports : sequence of Report, length n
        codes : ndarray of int, shape (n, questions)
            The answers that they were drawn for.
        free : ndarray of bool, shape (n,)
            Whether all answers were drawn independently.
        """
        truths: Codes = codes.astype(np.int64)
        # Of every four reports one goes to MADE, one to CHOSEN and two to MEASURED.
        part = np.minimum(np.arange(len(reports)) % 4, MEASURED) * 2 + free
        columns = [[report.values[each.question.id] for report in reports] for each in self.values]
        bins = [each.bins(column) for each, column in zip(self.values, columns, strict=True)]
        groups = [_groups(truths[:, q], size) for q, size in enumerate(self.sizes)]
        nibbles = np.array([list(bytes.fromhex(report.id)) for report in reports])
        # An id as 32 hexadecimal digits, each of which must be uniform.
        nibbles = np.stack([nibbles >> 4, nibbles & 15], axis=2).reshape(len(reports), NIBBLES)
        for q, (each, column) in enumerate(zip(self.values, columns, strict=True)):
            for table, found in zip(self.own[q], each.codes(column), strict=True):
                _count(table, part, truths[:, q], found)
            places = np.broadcast_to(np.arange(NIBBLES), nibbles.shape)
            _count(self.ids[q], np.broadcast_to(truths[:, q, None], nibbles.shape), places, nibbles)
            cell = (np.broadcast_to(each[:, None], nibbles.shape) for each in (groups[q], bins[q]))
            _count(self.ids_values[q], *cell, places, nibbles)
        for q, r in self.pairs:
            _count(self.both[q, r], part, truths[:, q], bins[q] * self.values[r].bins_n + bins[r])
            _count(self.across[q, r], truths[:, q], groups[r], bins[q])
            if (q, r) in self.joint:
                # Only answers that are told apart one by one, because values may depend on them.
                alone = (groups[q] < _alone(self.sizes[q])) & (groups[r] < _alone(self.sizes[r]))
                _count(self.joint[q, r], *(each[alone] for each in (groups[q], groups[r], bins[q], bins[r])))

    def findings(self, failure: float) -> list[Finding]:
        """For each question, departures from the published channel and a lower bound on the real epsilon."""
        fitted = [self._fit(q) for q in range(len(self.values))]
        # Half of the failure probability for departures from the published channel, half for the bounds on epsilon.
        level = log_level(failure / 2, sum(cells.counts.size for each in fitted for cells, _ in each))
        return [self._finding(q, each, level, failure / (4 * len(fitted))) for q, each in enumerate(fitted)]

    def checks(self, failure: float) -> list[Check]:
        """Whether anything else in a report is related to an answer."""
        across = {
            f"{self._name(q)} by the answer to {self._name(r)}": CellCounts.of_table(table)
            for (q, r), table in self.across.items()
        }
        joint = {f"{self._name(q)} and {self._name(r)} together": self._together(q, r) for q, r in self.joint}
        ids = {f"ids by the answer to {self._name(q)}": _of_ids(table) for q, table in enumerate(self.ids)}
        values = {
            f"ids by answer and value of {self._name(q)}": _of_ids(table) for q, table in enumerate(self.ids_values)
        }
        return [
            _check("other answers", across, 1, failure / 4,
                   "{} of the replies, if they change with the answer to another question"),
            _check("values together", joint, 2, failure / 4,
                   "{} of the replies, if they go with the reply to another question"),
            _check("ids and answers", ids, 0, failure / 4, "{} of the ids, if a digit of them goes with an answer"),
            _check("ids and values", values, 2, failure / 4, "{} of the ids, if a digit of them goes with a reply"),
        ]  # fmt: skip

    def _is_known(self, q: int, r: int) -> bool:
        """Whether the joint distribution of two values is known: not for texts within one group."""
        values = self.values[q], self.values[r]
        groups = [each.question.group for each in values]
        return groups[0] is None or groups[0] != groups[1] or not any(each.is_text for each in values)

    def _together(self, q: int, r: int) -> CellCounts:
        """The joint counts of two values given both answers: independent, except within a group."""
        table, first, second = self.joint[q, r], self.values[q], self.values[r]
        group = first.question.group
        if group is None or group != second.question.group:
            return CellCounts.of_table(table)
        rows = [_told_apart(self.sizes[each]) for each in (q, r)]
        options = [np.array(each.answers.truths)[some] for each, some in zip((first, second), rows, strict=True)]
        p = pair_probabilities(
            group,
            first.where_asked[rows[0]],
            second.where_asked[rows[1]],
            options[0],
            options[1],
            self._held(first, second),
        )
        p = second.in_bins(first.in_bins(p, 2), 3)
        table = table[: len(rows[0]), : len(rows[1])]
        return CellCounts(table, np.broadcast_to(table.sum((2, 3), keepdims=True), table.shape), p)

    def _held(self, first: Values, second: Values) -> Mapping[Pattern, int] | None:
        """How many patterns of their group hold each pair of values, if it has one response to possible patterns."""
        members = [each.question for each in self.values if each.question.group == first.question.group]
        patterns = patterns_of(members)
        places = map(members.index, (first.question, second.question))
        return None if patterns is None else counted(patterns, *places)

    def _value_of(self, q: int, feature: str, code: int) -> str:
        """The value that a code of a feature stands for, in words."""
        values, others = (
            self.values[q],
            [r for p, r in self.both if p == q and feature.endswith(f" and {self._name(r)}")],
        )
        if others:
            n = self.values[others[0]].bins_n
            return f"{code // n} {code % n}"
        if values.is_text and feature == self._name(q):
            return f"{code:0{values.size}b}"
        return str(code if values.is_text else code + values.first)

    def _name(self, q: int) -> str:
        return self.values[q].question.id

    def _fit(self, q: int) -> list[tuple[CellCounts, str]]:
        fitted = []
        for feature, table in zip(self.values[q].features, self.own[q], strict=True):
            if feature.p is not None:
                counts = table.sum((0, 1))
                n = np.broadcast_to(counts.sum(1, keepdims=True), counts.shape)
                fitted.append((CellCounts(counts, n, feature.p), feature.name))
        return fitted

    def _finding(self, q: int, fitted: list[tuple[CellCounts, str]], level: float, failure: float) -> Finding:
        question, given = self.values[q].question, self.values[q].answers.given
        fault = None
        for cells, name in fitted:
            if fault is None and (worst := cells.worst(level)):
                answer, value = worst
                seen = cells.counts[worst] / cells.n[worst]
                shown = value + self.values[q].first
                fault = f"{name} is {shown} in {seen:.4%} for {_shown(given[answer])}, published {cells.p[worst]:.4%}"
        moved = max(float(cells.power(level).max()) for cells, _ in fitted)
        tables = dict(zip((feature.name for feature in self.values[q].features), self.own[q], strict=True))
        # An answer that filters tie to this one tells of it as well, by its own report; `checks` looks at that one.
        tables |= {
            f"{self._name(q)} and {self._name(r)}": table
            for (p, r), table in self.both.items()
            if p == q and self.tied[p] != self.tied[r]
        }
        events = {name: telling_event(table[MADE, 1], failure) for name, table in tables.items()}
        gains = ((measured(tables[name][CHOSEN, 1], event, failure), name) for name, event in events.items() if event)
        _gain, event = max(gains, default=(0.0, "nothing"))
        if found := events.get(event):
            bound = max(0.0, measured(tables[event][MEASURED, 1], found, failure))
            names = [self._value_of(q, event, value) for value in found.values[:3]]
            values = ", ".join(names) + (", ..." if len(found.values) > 3 else "")
            event = f"{event} in {{{values}}}: {_shown(given[found.likelier])} against {_shown(given[found.other])}"
        else:
            bound = 0.0
        waves = waves_of(question.mechanism)
        declared = waves.wave_epsilon if waves else question.epsilon
        return Finding(question.id, declared, bound, event, moved, fault)


def _of_ids(table: Counts) -> CellCounts:
    """The counts of every digit and every bit of ids, which must be uniform given everything else."""
    # A leak of one bit spreads over the eight digits that have it, so each bit is a test of its own.
    bits = np.stack([table[..., [v for v in range(HEX) if v >> bit & 1]].sum(-1) for bit in range(4)], axis=-1)
    n = table.sum(-1, keepdims=True)
    counts = np.concatenate([table, bits], axis=-1)
    p = np.concatenate([np.full(table.shape, 1 / HEX), np.full(bits.shape, 0.5)], axis=-1)
    return CellCounts(counts, np.broadcast_to(n, counts.shape), p)


def _check(
    name: str,
    cells: dict[str, CellCounts],
    conditions: int,
    failure: float,
    power: str,
) -> Check:
    """Test every cell of every table; the first ``conditions`` axes are conditions, any of which may show a leak."""
    if not cells:
        return Check(name, None, "nothing to look at in a survey of one question")
    level = log_level(failure, sum(each.counts.size for each in cells.values()))
    fault = next((f"{each}: not as chance has it" for each, tested in cells.items() if tested.worst(level)), None)
    # The weakest table decides what the whole check is said to find.
    rise = max(_found(tested, conditions, level) for tested in cells.values())
    return Check(name, fault, power.format(f"{rise:.2%}") if rise < 1 else "nothing, with so few reports")


def _found(cells: CellCounts, conditions: int, level: float) -> float:
    """The rise that is found in any cell, under the condition that shows it best."""
    axes = tuple(range(conditions))
    rises, n = cells.power(level).min(axes), cells.n.sum(axes)
    return float(rises[n > 0].max(initial=0.0))


def _count(table: Counts, *places: NDArray[np.integer]) -> None:
    """Add one at each place. The first index may stand for two axes of length 2."""
    shape = table.shape if len(places) == table.ndim else (table.shape[0] * table.shape[1], *table.shape[2:])
    # One bincount for the whole block instead of a loop over reports.
    flat = np.ravel_multi_index([np.asarray(place).ravel() for place in places], shape)
    table += np.bincount(flat, minlength=table.size).reshape(table.shape)


def _zeros(*shape: int) -> Counts:
    return np.zeros(shape, dtype=np.int64)


def _alone(size: int) -> int:
    """Number of groups that hold a single answer."""
    return GROUPS if size <= GROUPS else 2


def _told_apart(size: int) -> Codes:
    """The answers that have a group of their own, in order."""
    return np.arange(size) if size <= GROUPS else np.array([0, size - 1])


def _groups(codes: Codes, size: int) -> Codes:
    if size <= GROUPS:
        return codes
    # The ends alone, the others interleaved in six groups.
    others = 2 + codes % (GROUPS - 2)
    return np.where(codes == 0, 0, np.where(codes == size - 1, 1, others))


def _tied(questions: Sequence[Question]) -> list[int]:
    """For each question a number that it shares with those whose answers filters tie to its own."""
    places = {each.id: place for place, each in enumerate(questions)}
    found = list(range(len(questions)))
    for place, each in enumerate(questions):
        for name in each.ask_if.named if each.ask_if else ():
            of, to = found[places[name]], found[place]
            found = [of if number == to else number for number in found]
    return found


def _shown(answer: object) -> str:
    text = "who is not asked" if answer is None else str(answer)
    return text if len(text) <= 30 else f"{text[:27]}..."

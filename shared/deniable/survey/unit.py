"""Units: the questions whose noise a device draws, keeps and pays for together."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from deniable.errors import ReportError, SurveyError
from deniable.exact import sum_above
from deniable.mechanisms import KAry
from deniable.mechanisms.longitudinal import waves_of
from deniable.survey.group import Group, marginal
from deniable.survey.patterns import Pattern, marginal_at, patterns_of
from deniable.survey.question import Question
from deniable.wire.space import ReportValue, Value

MILLION = 1_000_000
"""Number of units of a ledger in one nat."""

Cost = TypeVar("Cost", int, float, Fraction)


@dataclass(frozen=True)
class Unit:
    """A question of its own, or all questions of a group: their noise is drawn, kept and paid for together."""

    key: str
    """The key under which devices remember it."""
    questions: tuple[Question, ...]

    @property
    def group(self) -> Group | None:
        """The group; None for a question of its own."""
        return self.questions[0].group

    @cached_property
    def patterns(self) -> tuple[Pattern, ...] | None:
        """The patterns of answers to which it responds, where some of its questions filter others; otherwise None."""
        return patterns_of(self.questions)

    @cached_property
    def _possible(self) -> frozenset[Pattern]:
        return frozenset(self.patterns or ())

    @cached_property
    def epsilon(self) -> float:
        """Privacy loss in nats, rounded up: the sum over as many of its dearest questions as a device asks."""
        if self.group and self.group.joint:
            return self.group.joint.epsilon
        # Which questions a device draws is not known beforehand, so the dearest ones are charged.
        return sum_above(self._dearest([each.epsilon for each in self.questions]))

    @cached_property
    def likelihood_ratio(self) -> Fraction:
        """The largest ratio of the probabilities of its reports under any two answers, exactly: ``exp(epsilon)``."""
        if self.group and self.group.joint:
            return self.group.joint.likelihood_ratio
        return math.prod(self._dearest([each.mechanism.likelihood_ratio for each in self.questions]), start=Fraction(1))

    @property
    def cost(self) -> int:
        """`epsilon` in millionths of a nat, as ledgers count it: an integer, rounded up."""
        if self.group and self.group.joint:
            return math.ceil(self.epsilon * MILLION)
        # Each cost is rounded up before it is added, so that no order of addition changes a ledger.
        return sum(self._dearest([math.ceil(each.epsilon * MILLION) for each in self.questions]))

    def _dearest(self, costs: Sequence[Cost]) -> list[Cost]:
        return sorted(costs, reverse=True)[: self.group.draw if self.group else 1]

    def check_values(self, values: Mapping[str, Value]) -> None:
        """Raise a ReportError unless as many questions have values as the group asks, which go together."""
        self.check_draw(values)
        # Each value is possible by itself; together nobody may be able to give them, such as a number of a non-smoker.
        if self.patterns and tuple(values[each.id] for each in self.questions) not in self._possible:
            raise ReportError(f"values: must be answers to {self.group} that one person can give")

    def check_draw(self, values: Mapping[str, object]) -> None:
        """Raise a ReportError unless exactly as many questions have values as the group asks."""
        if self.group is None:
            return
        asked = sum(values[each.id] is not None for each in self.questions)
        if asked != self.group.draw:
            ids = ", ".join(each.id for each in self.questions)
            raise ReportError(
                f"values: must hold {self.group.draw} of {self.group} ({ids}) and null for the others, got {asked}"
            )

    def to_keep(self, values: Mapping[str, Value]) -> ReportValue:
        """The form in which a memory keeps values of a report: one value, or for a group a JSON list of them."""
        if self.group is None:
            value = values[self.questions[0].id]
            assert value is not None
            return value
        return json.dumps([values[each.id] for each in self.questions], separators=(",", ":"))

    def kept(self, kept: ReportValue) -> dict[str, Value]:
        """The values of a report, read from the form in which a memory keeps them.

        Raises
        ------
        ReportError
            If they are not values of these questions.
        """
        if self.group is None:
            return {self.questions[0].id: kept}
        try:
            # A memory is a file that somebody may have changed, so everything is checked again.
            found = json.loads(str(kept))
        except ValueError:
            found = None
        if not isinstance(found, list) or len(found) != len(self.questions):
            raise ReportError(f"{self.group}: must be a list of {len(self.questions)} values")
        values = {each.id: value for each, value in zip(self.questions, found, strict=True)}
        for each in self.questions:
            each.reports.check(values[each.id], f"values[{each.id!r}]")
        self.check_values(values)
        # One form alone, so that two clients on one memory can compare it byte for byte.
        if self.to_keep(values) != kept:
            raise ReportError(f"{self.group}: must be a list of values without spaces")
        return values

    def mark(self, asked: Collection[str]) -> str:
        """The draw of a group as a memory keeps it before there are values: 1 for an asked question, 0 for another."""
        return "".join(str(int(each.id in asked)) for each in self.questions)

    def marked(self, marks: ReportValue) -> list[str]:
        """The ids of the asked questions, read from the marks that a memory keeps.

        Raises
        ------
        ReportError
            If that is not a draw of the group.
        """
        assert self.group is not None
        text = str(marks)
        if len(text) != self.group.size or set(text) - {"0", "1"} or text.count("1") != self.group.draw:
            raise ReportError(f"{self.group}: must be {self.group.size} marks, {self.group.draw} of them 1")
        return [each.id for each, mark in zip(self.questions, text, strict=True) if mark == "1"]


def check_group(members: Sequence[Question]) -> None:
    """Raise a SurveyError unless the questions of a group agree with it and with each other."""
    group = members[0].group
    assert group is not None
    if group.size != len(members) or any(each.group != group for each in members):
        raise SurveyError(f"{group}: must be the same for its {group.size} questions, got {len(members)}")
    for each in members:
        if waves_of(each.mechanism):
            raise SurveyError(f"question {each.id!r}: must not have waves, because {group} keeps one draw")
    if group.joint is None:
        return
    if any(each.kind.takes_several or not each.options for each in members):
        raise SurveyError(f"{group}: joint must be of questions with one answer out of several options")
    if patterns := _patterns(members):
        _check_patterns(members, group.joint, patterns)
        return
    k = len(members[0].options)
    if any(len(each.options) != k for each in members) or k < 2:
        raise SurveyError(f"{group}: joint must be of questions with one answer out of equally many options")
    if group.joint.k != k**group.draw:
        raise SurveyError(
            f"{group}: joint must be over the {k**group.draw} patterns of {group.draw} questions, got {group.joint.k}"
        )
    for each in members:
        # The published mechanism is what estimates invert, so it must be exactly what the joint response does.
        if each.mechanism != marginal(group.joint, k, is_yes_no=each.noise_kind.is_yes_no):
            raise SurveyError(f"question {each.id!r}: mechanism must be what the response of {group} does to it")


def _patterns(members: Sequence[Question]) -> tuple[Pattern, ...] | None:
    try:
        return patterns_of(members)
    except SurveyError as error:
        raise SurveyError(f"{members[0].group}: {error}") from None


def _check_patterns(members: Sequence[Question], joint: KAry, patterns: Sequence[Pattern]) -> None:
    group = members[0].group
    if joint.k != len(patterns):
        raise SurveyError(f"{group}: joint must be over the {len(patterns)} possible patterns, got {joint.k}")
    for place, each in enumerate(members):
        if each.mechanism != marginal_at(joint, patterns, place, len(each.options)):
            raise SurveyError(f"question {each.id!r}: mechanism must be what the response of {group} does to it")

"""The question: what people read, what they can choose, and the mechanism that answers for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from deniable.errors import SurveyError, describe
from deniable.mechanisms import Mechanism
from deniable.mechanisms.base import Answer
from deniable.survey.condition import Condition
from deniable.survey.group import IDENTIFIER, Group
from deniable.survey.order import RandomOrder
from deniable.survey.question_types import EXCLUSIVE, LAST, QUESTION_TYPES, AnswerKind, QuestionType
from deniable.survey.texts import MAX_LABEL, MAX_TEXT, Text, check_text, check_texts, refuse_repeats
from deniable.wire.space import Count, OptionalField, ReportField

GOALS = ("shares", "mean")
"""Goals of a scale, for which its mechanism is optimised: the shares of its levels, or their mean."""

MAX_UNIT = 40
"""Largest length of a unit, in characters: it stands beside a number on a phone."""

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,8}")
_RESERVED = ("id", "cohort")  # columns that stand beside the questions in every table of reports


@dataclass(frozen=True)
class Question:
    """One question: what people read, what they can choose, and the mechanism that randomises their answer.

    Attributes
    ----------
    id, type, text : str
    options : tuple of str
        What can be chosen. Options of a scale are the numbers of its levels in rising order, whose labels are
        translations of them. A number question has no options: its range is the mechanism's.
    mechanism : Mechanism
        It works on option numbers, counted from 0; for a number question, on the numbers themselves.
    goal : {"shares", "mean"} or None
        What the estimates of a scale should be precise for.
    why : str or None
        Why the mechanism was chosen.
    group : Group or None
        The group with which it shares an epsilon; None for a question with its own.
    help : str or None
        A hint for answering, shown below the text.
    unit : str or None
        The unit of a number, shown next to it.
    before : str or None
        A text shown before the question.
    order : RandomOrder or None
        The random order in which its options are shown; None for the order of the document.
    last : tuple of str
        What the last of its options mean, as names in `LAST`.
    ask_if : Condition or None
        The condition on earlier answers that decides who is asked. The last option then means *does not apply*: nobody
        chooses it, and for people who are not asked it goes through the same mechanism.
    """

    id: str
    type: str
    text: str
    options: tuple[str, ...]
    mechanism: Mechanism
    goal: str | None = None
    why: str | None = None
    group: Group | None = None
    help: str | None = None
    unit: str | None = None
    ask_if: Condition | None = None
    before: str | None = None
    order: RandomOrder | None = None
    last: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_id(self.id)
        where = f"question {self.id!r}"
        if self.id in _RESERVED:
            raise SurveyError(f"{where}: id must not be {' or '.join(_RESERVED)}, which name other columns")
        if not isinstance(self.type, str) or self.type not in QUESTION_TYPES:
            raise SurveyError(f"{where}: type must be one of {', '.join(QUESTION_TYPES)}, got {self.type!r:.40}")
        check_text(self.text, f"{where}: text", MAX_TEXT)
        check_texts(self, f"{where}: ", why=MAX_TEXT, help=MAX_TEXT, before=MAX_TEXT, unit=MAX_UNIT)
        if self.unit is not None and self.kind.answers is not AnswerKind.RANGE:
            raise SurveyError(f"{where}: only a number has a unit")
        if self.kind.has_goal and self.goal not in GOALS:
            raise SurveyError(f"{where}: goal must be one of {', '.join(GOALS)}, got {describe(self.goal)}")
        if not self.kind.has_goal and self.goal is not None:
            raise SurveyError(f"{where}: only a scale has a goal")
        self._check_last(where)
        # A mechanism over a range cannot answer a choice, whatever its numbers are.
        if self.noise_kind.family not in self.mechanism.question_types:
            raise SurveyError(f"{where}: a {self.type} question cannot use the mechanism {self.mechanism.name}")
        if self.ask_if is not None:
            self._check_filter(where)
        if self.kind.answers is not AnswerKind.RANGE:
            self._check_options(where)
        elif self.options:
            raise SurveyError(f"{where}: a {self.type} has no options, its range is the mechanism's")

    def _check_filter(self, where: str) -> None:
        if not isinstance(self.ask_if, Condition):
            raise SurveyError(f"{where}: ask_if must be a condition, got {describe(self.ask_if)}")

    def _check_last(self, where: str) -> None:
        if self.last != tuple(each for each in LAST if each in self.last and each in self.kind.last):
            possible = ", ".join(self.kind.last) or "there is none"
            raise SurveyError(f"{where}: last must be of these, in this order: {possible}, got {describe(self.last)}")
        if self.order is None:
            return
        if self.kind.answers is not AnswerKind.OPTIONS or self.kind.options:
            raise SurveyError(f"{where}: options of a {self.type} question have no random order")
        self.order.check(len(self.choices), where, "options")
        if self.order.fixed_last < len(self.last):
            raise SurveyError(f"{where}: fixed_last must be at least {len(self.last)}, for {', '.join(self.last)}")

    def _check_options(self, where: str) -> None:
        most = self.kind.most_options
        if not 2 <= len(self.choices) <= most:
            raise SurveyError(f"{where}: options must be 2 to {most}, got {len(self.choices)}")
        for option in self.options:
            check_text(option, f"{where}: options", MAX_LABEL)
        refuse_repeats(self.options, f"{where}: options")
        # Fixed options, such as no and yes, stand in front; *prefer not to say* and the like may follow.
        own = self.choices[: len(self.choices) - len(self.last)] if self.kind.options else ()
        if any(isinstance(option, Text) for option in own):
            raise SurveyError(f"{where}: options of a {self.type} question have no translations of their own")
        if own != self.kind.options:
            raise SurveyError(f"{where}: options of a {self.type} question must be {list(self.kind.options)}")
        if len(self.choices) <= len(self.last):
            raise SurveyError(f"{where}: options must be more than {', '.join(self.last)}")
        # The mean needs numbers, so the options of a scale are its numbers; labels are translations of them.
        if self.kind.answers is AnswerKind.LEVELS and self.choices != levels_from(self.choices[0], len(self.choices)):
            raise SurveyError(f"{where}: options of a scale must be consecutive whole numbers in rising order")
        if self.mechanism.answer_range != range(len(self.options)):
            raise SurveyError(f"{where}: the mechanism must be one of its {len(self.options)} options")

    @property
    def label(self) -> str:
        """The text on one line."""
        return " ".join(self.text.split())

    @property
    def choices(self) -> tuple[str, ...]:
        """The options that people choose from: all but *does not apply*."""
        return self.options if self.ask_if is None else self.options[:-1]

    @property
    def apart(self) -> tuple[str, ...]:
        """Its options that stand apart, such as *prefer not to say*."""
        return self.choices[len(self.choices) - len(self.last) :]

    @property
    def exclusive(self) -> frozenset[int]:
        """The positions of the boxes that exclude all others."""
        if not self.kind.takes_several:
            return frozenset()
        first = len(self.choices) - len(self.last)
        return frozenset(first + place for place, name in enumerate(self.last) if name in EXCLUSIVE)

    @property
    def not_applicable(self) -> Answer:
        """The answer of a person to whom a question with a filter does not apply, as the mechanism takes it."""
        last = self.mechanism.answer_range[-1]
        # A box of its own, which is ticked alone.
        return [last] if self.kind.takes_several else last

    @property
    def numbers(self) -> range:
        """The numbers that people can answer to a question without options, excluding the one for *does not apply*."""
        possible = self.mechanism.answer_range
        return possible if self.ask_if is None else possible[:-1]

    @property
    def not_applicable_name(self) -> str:
        """What *does not apply* is called: by the last option, where there are options."""
        return self.options[-1] if self.options else "Does not apply"

    @property
    def has_mean(self) -> bool:
        """Whether the answers of everybody are numbers, which have a mean."""
        return self.kind.has_numbers and self.ask_if is None

    @property
    def kind(self) -> QuestionType:
        """The descriptor of its question type."""
        return QUESTION_TYPES[self.type]

    @property
    def noise_kind(self) -> QuestionType:
        """The descriptor of the question type whose mechanisms randomise it."""
        is_mean_of_some = self.ask_if is not None and self.kind.wants_mean(self.goal)
        return self.kind.noise(is_extended=self.ask_if is not None or bool(self.last), is_mean_of_some=is_mean_of_some)

    @property
    def noise_goal(self) -> str | None:
        """The goal for which its mechanism is chosen; None where options have no order."""
        return self.goal if self.noise_kind is self.kind else None

    @property
    def epsilon(self) -> float:
        """Privacy loss of one answer to this question, in nats, to somebody who knows the answers to all others."""
        # Under a joint response an answer moves the one pattern, so it loses what the response does.
        return self.group.joint.epsilon if self.group and self.group.joint else self.mechanism.epsilon

    @cached_property
    def reports(self) -> ReportField:
        """The field of this question in reports, which is optional where devices draw their questions."""
        return OptionalField(self.mechanism.reports) if self.group and self.group.is_drawn else self.mechanism.reports

    @property
    def share_asked(self) -> float:
        """The share of devices that ask this question."""
        return self.group.share if self.group else 1.0

    def counted(self, counts: Sequence[Count], n: Count) -> tuple[Sequence[Count], Count]:
        """The counts of the mechanism's supports in a tally of ``n`` reports, and how many reports answer it."""
        # The last support counts the devices that asked: they are the n of this question.
        return (counts[:-1], counts[-1]) if isinstance(self.reports, OptionalField) else (counts, n)

    @property
    def has_shares(self) -> bool:
        """Whether the shares of the options can be estimated."""
        return bool(self.options) and self.mechanism.has_shares

    @property
    def rows(self) -> int:
        """Rows of estimates for one group of people: one for each share, and one for a mean.

        A question with a filter has those of the people to whom it applies too.
        """
        # The shares among everybody, and those among the people to whom it applies.
        shares = len(self.options) + (len(self.choices) if self.ask_if else 0) if self.has_shares else 0
        return shares + self.kind.has_numbers


def check_id(given: object) -> None:
    """Raise a SurveyError unless this can be the id of a question, which is the name of a column."""
    if not isinstance(given, str) or not IDENTIFIER.fullmatch(given):
        where = f"question {given!r}" if isinstance(given, str) else "question"
        raise SurveyError(
            f"{where}: id must be 1 to 40 lower-case letters, digits or underscores, starting with a letter"
        )


def levels_from(first: str, n: int) -> tuple[str, ...]:
    """The ``n`` levels of a scale from a number on, as texts; the text alone if it is not a number."""
    if not _INTEGER.fullmatch(first):
        # No number: the comparison with the options then fails, with a message about them.
        return (first,)
    return tuple(str(int(first) + step) for step in range(n))

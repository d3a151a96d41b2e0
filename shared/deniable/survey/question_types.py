"""The question types, one descriptor for each: what people answer, and what its author writes.

A mechanism names the types that it can randomise; a type may also use the mechanisms of another type (`like`).

All code that depends on a type asks its descriptor, so a new type of a known kind is one more entry here and in
`question-types.js`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

MAX_OPTIONS = 1000
"""Largest number of options of a question."""

MAX_LEVELS = 101
"""Largest number of levels of a scale."""

YES_NO = ("no", "yes")
"""The options of every yes-no question, in the order of their numbers."""

LAST = ("other", "none", "decline")
"""Options that stand apart behind the others, in this order: *other*, *none of these* and *prefer not to say*.

They go through the mechanism like all options. Whoever chooses one of `EXCLUSIVE` among boxes ticks nothing else.
"""

EXCLUSIVE = ("none", "decline")

OPTION_KEYS = ("options", "order", "fixed_first", "fixed_last")
"""Keys of a type whose author lists the options: which there are, and in which order they are shown."""


class AnswerKind(Enum):
    """Kinds of answers."""

    OPTIONS = "options"
    """One of the options, or several."""
    LEVELS = "levels"
    """One of consecutive whole numbers, which are the options."""
    RANGE = "range"
    """A whole number in the mechanism's range; there are no options."""


@dataclass(frozen=True)
class QuestionType:
    """The descriptor of a question type.

    Attributes
    ----------
    name : str
        As authors and published surveys write it.
    keys : tuple of str
        Keys that its author may write besides ``id``, ``type``, ``text`` and ``epsilon``.
    answers : AnswerKind
    options : tuple of str
        The options, where the type and not the author determines them.
    takes_several : bool
        Whether one answer may be several options.
    goals : tuple of str
        What its author may ask to be accurate; the first is the default.
    headline : int or None
        The number of the option whose share alone is the result; None where all shares are.
    like : str or None
        The type whose mechanisms this type uses, where no mechanism names it.
    extended : str or None
        The type whose mechanisms this type uses with a further option, for whoever is not asked or declines, because
        that is on no level, and neither no nor yes.
    last : tuple of str
        Which of the options that stand apart from the others it may have, of `LAST`.
    most_options : int
        Largest number of options of a question.
    counted_by : str or None
        The key for the number of levels, counted from 1, where it replaces ``lo`` and ``hi``.
    """

    name: str
    keys: tuple[str, ...]
    answers: AnswerKind = AnswerKind.OPTIONS
    options: tuple[str, ...] = ()
    takes_several: bool = False
    goals: tuple[str, ...] = ()
    headline: int | None = None
    like: str | None = None
    extended: str | None = None
    last: tuple[str, ...] = ()
    most_options: int = MAX_OPTIONS
    counted_by: str | None = None

    @property
    def family(self) -> str:
        """The type that a mechanism must name to randomise this one."""
        return self.like or self.name

    def noise(self, *, is_extended: bool, is_mean_of_some: bool = False) -> QuestionType:
        """The descriptor of the question type whose mechanisms randomise a question of this one.

        It may have an option more, or its mean may be wanted of those to whom it applies.
        """
        if is_mean_of_some:
            return FILTERED_NUMBER
        return QUESTION_TYPES[self.extended] if is_extended and self.extended else self

    @property
    def has_numbers(self) -> bool:
        """Whether answers are numbers, which have a mean."""
        return self.answers is not AnswerKind.OPTIONS

    def wants_mean(self, goal: str | None) -> bool:
        """Whether an author with this goal wants the mean to be accurate."""
        return self.has_numbers and goal != "shares"

    @property
    def has_goal(self) -> bool:
        """Whether surveys publish the goal, because shares, the mean or both are estimated."""
        # Ticks have goals too, which only choose a mechanism and are not published.
        return "mean" in self.goals

    @property
    def is_yes_no(self) -> bool:
        """Whether people answer yes or no, which every language has its own words for."""
        return self.options == YES_NO


FILTERED_NUMBER = QuestionType("filtered-number", keys=(), answers=AnswerKind.RANGE, most_options=0)
"""The type of what is randomised where a mean is wanted of people to whom a question applies.

Its answers are numbers, and one more, which stands for *does not apply*. No author writes it, and no survey has it.
"""

QUESTION_TYPES: dict[str, QuestionType] = {
    each.name: each
    for each in (
        QuestionType(
            "yes-no",
            keys=("truth", "yes", "mechanism", "wave_epsilon", "decline"),
            options=YES_NO,
            extended="choice",
            last=("decline",),
            # Yes: of two shares that add up to 1, one says it all.
            headline=1,
        ),
        QuestionType(
            "choice",
            keys=(*OPTION_KEYS, "truth", "forced", "mechanism", "wave_epsilon", "other", "decline"),
            last=("other", "decline"),
        ),
        QuestionType(
            "ticks",
            keys=(*OPTION_KEYS, "goal", "mechanism", "other", "none", "decline"),
            takes_several=True,
            last=LAST,
            goals=("shares", "together"),
        ),
        QuestionType(
            "scale",
            keys=("lo", "hi", "ends", "labels", "goal", "mechanism", "wave_epsilon"),
            answers=AnswerKind.LEVELS,
            extended="choice",
            goals=("shares", "mean"),
            most_options=MAX_LEVELS,
        ),
        QuestionType(
            "rating",
            keys=("stars", "ends", "labels", "goal", "mechanism", "wave_epsilon"),
            answers=AnswerKind.LEVELS,
            extended="choice",
            goals=("shares", "mean"),
            # A rating is a scale with other words, so every mechanism of scales can randomise it.
            like="scale",
            most_options=10,
            counted_by="stars",
        ),
        QuestionType("number", keys=("lo", "hi", "unit", "mechanism"), answers=AnswerKind.RANGE, most_options=0),
    )
}

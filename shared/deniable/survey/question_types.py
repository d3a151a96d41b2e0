"""The question types, one descriptor for each: what people answer, and what its author writes.

A mechanism names the types for which it may answer; a type may be like one of them.

Everything that depends on a type asks its descriptor, so a type of a kind that is here already is one more entry.
`question-types.js` has the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

MAX_OPTIONS = 1000
MAX_LEVELS = 101

YES_NO = ("no", "yes")
"""The options of every yes-no question, in the order of their numbers."""


class AnswerKind(Enum):
    """What people answer with."""

    OPTIONS = "options"
    """One of the options, or several."""
    LEVELS = "levels"
    """One of consecutive whole numbers, which are the options."""
    RANGE = "range"
    """A whole number; options there are none, because the range is the mechanism's."""


@dataclass(frozen=True)
class QuestionType:
    """What holds for all questions of a type.

    Attributes
    ----------
    name : str
        As authors and published surveys write it.
    keys : tuple of str
        What its author may write besides ``id``, ``type``, ``text`` and ``epsilon``.
    answers : AnswerKind
    options : tuple of str
        The options, where they are not its author's.
    takes_several : bool
        Whether one answer may be several options.
    goals : tuple of str
        What its author may ask to be accurate; the first, if nothing is said.
    headline : int or None
        The option whose share is the result, where one says it all.
    like : str or None
        The type whose mechanisms answer for this one, where none names it.
    most_options : int
        How many options a question may have.
    counted_by : str or None
        The key under which its author writes how many levels there are from 1 on, instead of ``lo`` and ``hi``.
    """

    name: str
    keys: tuple[str, ...]
    answers: AnswerKind = AnswerKind.OPTIONS
    options: tuple[str, ...] = ()
    takes_several: bool = False
    goals: tuple[str, ...] = ()
    headline: int | None = None
    like: str | None = None
    most_options: int = MAX_OPTIONS
    counted_by: str | None = None

    @property
    def family(self) -> str:
        """The type that a mechanism must name to answer for this one."""
        return self.like or self.name

    @property
    def has_numbers(self) -> bool:
        """Whether answers are numbers, which have a mean."""
        return self.answers is not AnswerKind.OPTIONS

    def wants_mean(self, goal: str | None) -> bool:
        """Whether it is the mean that an author with this goal wants to be accurate."""
        return self.has_numbers and goal != "shares"

    @property
    def has_goal(self) -> bool:
        """Whether surveys publish the goal, because shares, the mean or both are estimated."""
        return "mean" in self.goals

    @property
    def is_yes_no(self) -> bool:
        """Whether people answer yes or no, which every language has its own words for."""
        return self.options == YES_NO


QUESTION_TYPES: dict[str, QuestionType] = {
    each.name: each
    for each in (
        QuestionType(
            "yes-no",
            keys=("truth", "yes", "mechanism", "wave_epsilon", "decline"),
            options=YES_NO,
            headline=1,
        ),
        QuestionType(
            "choice",
            keys=("options", "truth", "forced", "mechanism", "wave_epsilon", "decline"),
        ),
        QuestionType(
            "ticks",
            keys=("options", "goal", "mechanism"),
            takes_several=True,
            goals=("shares", "together"),
        ),
        QuestionType(
            "scale",
            keys=("lo", "hi", "ends", "goal", "mechanism", "wave_epsilon"),
            answers=AnswerKind.LEVELS,
            goals=("shares", "mean"),
            most_options=MAX_LEVELS,
        ),
        QuestionType(
            "rating",
            keys=("stars", "ends", "goal", "mechanism", "wave_epsilon"),
            answers=AnswerKind.LEVELS,
            goals=("shares", "mean"),
            like="scale",
            most_options=10,
            counted_by="stars",
        ),
        QuestionType(
            "number",
            keys=("lo", "hi", "mechanism"),
            answers=AnswerKind.RANGE,
            most_options=0,
        ),
    )
}

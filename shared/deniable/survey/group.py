"""Groups of questions that share one epsilon: each device asks some of them, drawn by chance before anything is shown.

The draw is independent of all answers, so it reveals nothing, and a device pays only for the questions that it asks.
Spending a whole epsilon on a few questions takes fewer respondents than splitting it over all of them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from deniable.errors import SurveyError, describe, shown
from deniable.mechanisms import KAry, Mechanism, Warner
from deniable.mechanisms.k_ary import support_of_digits
from deniable.mechanisms.ranks import unrank
from deniable.randomness import UNIT, Word, below
from deniable.survey.texts import MAX_TEXT, check_text

IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""Ids of questions and names of groups."""


@dataclass(frozen=True)
class Group:
    """A group of questions of which each device asks the same number, drawn by chance.

    Attributes
    ----------
    name : str
    size : int
        Number of its questions, at least 2.
    draw : int
        Number of its questions that a device asks; all sets of that size are equally likely.
    joint : KAry or None
        A joint response over the patterns of the asked questions, whose first answer is the highest digit. The
        mechanism of each question is then its marginal. None where every question has a mechanism of its own.
    why : str or None
        Why the draw was chosen.

    References
    ----------
    T. T. Nguyen et al., "Collecting and analyzing data from smart device users with local differential privacy",
    arXiv:1606.05053 (2016): sampling instead of splitting.
    """

    name: str
    size: int
    draw: int
    joint: KAry | None = None
    why: str | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.why is not None:
            check_text(self.why, f"{self}: why", MAX_TEXT)
        # A group of one would be a question with its own epsilon, published in a second form.
        if self.size < 2:
            raise SurveyError(f"{self}: must have at least 2 questions, got {self.size}")
        if type(self.draw) is not int or not 1 <= self.draw <= self.size:
            raise SurveyError(f"{self}: draw must be an integer in [1, {self.size}], got {describe(self.draw)}")

    def __str__(self) -> str:
        return f"group {self.name!r}"

    @property
    def is_drawn(self) -> bool:
        """Whether a device asks fewer questions than there are."""
        return self.draw < self.size

    @property
    def share(self) -> float:
        """The share of devices that ask a given question."""
        # Every set of `draw` questions is equally likely, so each question is in draw / size of them.
        return self.draw / self.size

    def draw_members(self, word: Word) -> list[int]:
        """The questions that a device asks, by their places in the group, in order."""
        if not self.is_drawn:
            return list(range(self.size))
        # One draw whose result depends on the words alone: it cannot depend on an answer, which there is none yet.
        return list(unrank(self.size, self.draw, below(math.comb(self.size, self.draw), word)))


def check_name(name: str) -> None:
    """Raise a SurveyError unless this is a possible name of a group."""
    if not IDENTIFIER.fullmatch(name):
        raise SurveyError(
            "group: must be called by 1 to 40 lower-case letters, digits or underscores, starting with a letter, "
            f"got {shown(name)}"
        )


def marginal(joint: KAry, k: int, *, is_yes_no: bool) -> Mechanism:
    """The marginal of a joint response: the mechanism of one question of ``k`` options."""
    # Rounded down: the mechanism of one question must not claim less noise than the joint response has.
    keep = int(support_of_digits(joint, k).if_true * UNIT)
    return Warner(keep) if is_yes_no else KAry(k, keep)

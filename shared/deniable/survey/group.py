"""Groups of questions that share one epsilon: each device asks some of them, drawn by chance before anything is shown.

The draw knows no answer, so it tells none: what a group costs is what is asked of it. Spending all of an epsilon on few
questions, and nothing on the others, takes fewer respondents than splitting it over all.
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
"""What questions and groups may be called."""


@dataclass(frozen=True)
class Group:
    """Questions of which each device asks the same number.

    Attributes
    ----------
    name : str
    size : int
        Number of its questions, at least 2.
    draw : int
        How many of them a device asks, all sets of so many being equally likely.
    joint : KAry or None
        One response over the patterns of the questions that are asked, whose first answer is the highest digit. Without
        it every question has a mechanism of its own; with it the mechanism of a question is what that does to it alone.
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
        """The share of the devices that ask each question."""
        return self.draw / self.size

    def draw_members(self, word: Word) -> list[int]:
        """The questions that a device asks, by their places in the group, in order."""
        if not self.is_drawn:
            return list(range(self.size))
        return list(unrank(self.size, self.draw, below(math.comb(self.size, self.draw), word)))


def check_name(name: str) -> None:
    """Raise a SurveyError unless a group may be called so."""
    if not IDENTIFIER.fullmatch(name):
        raise SurveyError(
            "group: must be called by 1 to 40 lower-case letters, digits or underscores, starting with a letter, "
            f"got {shown(name)}"
        )


def marginal(joint: KAry, k: int, *, is_yes_no: bool) -> Mechanism:
    """What a joint response does to one question of ``k`` options, whatever the answers to the others."""
    keep = int(support_of_digits(joint, k).if_true * UNIT)
    return Warner(keep) if is_yes_no else KAry(k, keep)

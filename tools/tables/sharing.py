"""Prints what several yes-no questions for one epsilon take: ``n`` times the variance of a share of one half.

Either all are asked with a part of epsilon each, or each device draws some: these with a mechanism of their own each,
or in one response over the patterns of their answers. Of the last two the number that is best is in brackets.
"""

from __future__ import annotations

from collections.abc import Sequence

from deniable.survey.question_types import QUESTION_TYPES
from deniable.table import format_table
from deniable_statistics.authoring.sharing import Member, Sharing, ways_to_share
from deniable_statistics.planning import NoiseModel

EPSILONS = ["0.5", "1", "2", "3", "4"]
SIZES = range(2, 11)
YES_NO = Member(QUESTION_TYPES["yes-no"], range(2), None)


def variance(way: Sharing) -> float:
    """``n`` times the variance, ``n`` being all respondents."""
    return NoiseModel.through(way.mechanisms[0]).variance(0.5) * way.size / way.draw


def ways(size: int, epsilon: str) -> tuple[Sharing, Sharing, Sharing]:
    """All asked; the best number drawn; the best number, at least two, in one response."""
    found = [way for draw in range(1, size + 1) for way in ways_to_share([YES_NO] * size, epsilon, draw)]
    split = next(way for way in found if way.is_split)
    drawn = [way for way in found if way.joint is None and way.draw < size]
    together = [way for way in found if way.joint is not None]
    return split, min(drawn, key=variance), min(together, key=variance)


def cell(found: Sequence[Sharing]) -> str:
    """The three as they are printed."""
    split, drawn, together = (f"{variance(way):.3g}" for way in found)
    return f"{split} / {drawn} ({found[1].draw}) / {together} ({found[2].draw})"


def main() -> None:
    rows = [[str(size), *(cell(ways(size, epsilon)) for epsilon in EPSILONS)] for size in SIZES]
    header = ["questions", *EPSILONS]
    print(format_table(header, rows, right=EPSILONS))
    print("split over all / drawn, each with its own mechanism / drawn, in one response (how many are drawn)")

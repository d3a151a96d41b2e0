"""Two crossed questions as a page shows them: how large the groups are, and the counts behind each number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deniable import Question
from deniable_server.results.written import Words, counted
from deniable_statistics.views.view_row import ViewRow, support_of

SHOWN = "row share"
"""The statistic that figures and tables of two crossed questions show."""


@dataclass(frozen=True)
class CrossedIngredients:
    """The numbers behind a row share: replies that support both answers, each of the two, and all.

    Attributes
    ----------
    row : ViewRow
    option, group : int
        How many replies support the answer of the row, and the answer that makes the group.
    """

    row: ViewRow
    option: int
    group: int


def shown_rows(rows: Sequence[ViewRow]) -> Sequence[ViewRow]:
    """The rows that figures and tables show: of two crossed questions the row shares, otherwise all."""
    return [row for row in rows if row.statistic == SHOWN] or rows


def margin(rows: Sequence[ViewRow], question: Question) -> Mapping[str, ViewRow]:
    """The shares of one of two crossed questions, by its answers."""
    return {row.option: row for row in rows if (row.question, row.statistic) == (question.id, "share")}


def sizes(rows: Sequence[ViewRow], given: Question, words: Words, name: str = "rSizeOf") -> Mapping[str, str]:
    """About how many people are in each group, by the answer that makes it; ``name`` is that of the sentence."""
    found = {}
    for option, row in margin(rows, given).items():
        if row.value is None or row.low is None or row.high is None or row.n is None:
            found[option] = words["rWeak" if row.n else "rNoReplies"]
            continue
        # Outwards, so that the stated interval contains the computed one.
        low, high = math.floor(row.low * row.n + 1e-9), math.ceil(row.high * row.n - 1e-9)
        ends = {name: counted(n, words) for name, n in (("low", low), ("high", high), ("all", row.n))}
        found[option] = words[name].format(n=counted(round(row.value * row.n), words), **ends)
    return found


def crossed_ingredients(first: Question, given: Question, rows: Sequence[ViewRow]) -> list[CrossedIngredients]:
    """The counts behind each row share; none where no single count tells an answer."""
    options, groups = margin(rows, first), margin(rows, given)
    found = []
    for row in shown_rows(rows):
        option, group = options[row.option].count, groups[row.given_option or ""].count
        if row.count is None or option is None or group is None:
            return []
        found.append(CrossedIngredients(row, option, group))
    return found


def channels(question: Question) -> list[tuple[str, str, str]]:
    """The probabilities `a` and `b` of each answer as fractions; one entry, without an answer, where all are alike."""
    found = []
    for place, option in enumerate(question.options):
        support = support_of(question, place)
        if support is None:
            return []
        found.append((str(option), str(support.if_true), str(support.if_other)))
    alike = {each[1:] for each in found}
    return [("", *alike.pop())] if len(alike) == 1 else found

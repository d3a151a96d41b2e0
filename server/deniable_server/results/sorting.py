"""Answers sorted by their shares: only where they have no order of their own, and never by default."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from deniable import Question
from deniable.survey.question_types import AnswerKind
from deniable_statistics.views.view_row import ViewRow


def is_sortable(question: Question) -> bool:
    """Whether the answers to a question are listed by its author, and not levels of a scale, nor no and yes."""
    return question.kind.answers is AnswerKind.OPTIONS and not question.kind.options and question.has_shares


def by_share(question: Question, rows: Sequence[ViewRow], everybody: Sequence[ViewRow]) -> list[ViewRow]:
    """The rows of a question with its answers in the order of their shares, the largest first.

    Parameters
    ----------
    question : Question
    rows : sequence of ViewRow
        Those of everybody or of cohorts, one after the other; all cohorts get one order.
    everybody : sequence of ViewRow
        Those whose shares decide, of everybody. Of a question with a filter they are those to whom it applies.

    Notes
    -----
    Options that stand apart, such as *none of these*, stay behind the others, as does *does not apply*. Equal shares,
    and answers without a share, keep the order of the survey.
    """
    whose = "among" if question.ask_if else "share"
    shares = {row.option: row.value for row in everybody if row.statistic == whose}
    listed = question.choices[: len(question.choices) - len(question.last)]
    # -1: without a share behind all that have one.
    best = sorted(listed, key=lambda option: -1.0 if (share := shares.get(option)) is None else share, reverse=True)
    place = {option: number for number, option in enumerate([*best, *question.options[len(listed) :]])}
    groups = itertools.groupby(rows, key=lambda row: (row.cohort, row.statistic))
    return [row for _, group in groups for row in sorted(group, key=lambda row: place[row.option])]

"""Answers between which rows of weights are linear."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

MOST_KNOTS = 11
MOST_REPORTS = 15


def shares_of_knots(knots: Sequence[int]) -> list[int]:
    """In what proportion the rows of the knots make up the mean row of all answers, which are equally frequent.

    The ``d + 1`` answers from a knot to the next, ``d`` away, are half this one's and half the next one's.

    >>> shares_of_knots([0, 1, 2]), shares_of_knots([0, 10])          # a third each; a half each
    ([2, 2, 2], [11, 11])
    """
    gaps = [after - before for before, after in itertools.pairwise(knots)]
    return [gaps[0] + 1, *(one + other for one, other in itertools.pairwise(gaps)), gaps[-1] + 1]

"""What each knot of a piecewise mechanism weighs if all answers are equally frequent."""

from __future__ import annotations

import itertools
from collections.abc import Sequence


def shares_of_knots(knots: Sequence[int]) -> list[int]:
    """Weights of the knots' rows in the mean row of all answers, which are equally frequent; not normalised.

    An answer between two knots is a mixture of them, so the ``d + 1`` answers from a knot to the next, ``d`` away, add
    half their number to each of the two.

    >>> shares_of_knots([0, 1, 2]), shares_of_knots([0, 10])          # a third each; a half each
    ([2, 2, 2], [11, 11])
    """
    gaps = [after - before for before, after in itertools.pairwise(knots)]
    return [gaps[0] + 1, *(one + other for one, other in itertools.pairwise(gaps)), gaps[-1] + 1]

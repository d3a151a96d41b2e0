"""Unranking: subsets by their ranks in lexicographic order."""

from __future__ import annotations

import math


def unrank(n: int, size: int, rank: int) -> list[int]:
    """The ``rank``-th subset of ``size`` out of ``range(n)`` in lexicographic order.

    >>> [unrank(4, 2, rank) for rank in range(6)]
    [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    """
    chosen = []
    for element in range(n):
        if size == 0:
            break
        # Subsets that begin with this element come first: there are comb(rest, size - 1) of them.
        with_it = math.comb(n - element - 1, size - 1)
        if rank < with_it:
            chosen.append(element)
            size -= 1
        else:
            rank -= with_it
    return chosen

"""Helpers of the mechanisms' `randomize_many`, over arrays; no other module of this package needs numpy at import."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

from deniable.errors import AnswerError, needing
from deniable.mechanisms.ranks import unrank
from deniable.randomness import UNIT, Words

with needing("statistics"):
    import numpy as np
    from numpy.typing import ArrayLike as ArrayLike
    from numpy.typing import NDArray as NDArray

Integers = NDArray[np.int64]
Octets = NDArray[np.uint8]


def check_answers(answers: ArrayLike, possible: range) -> Integers:
    """The answers as integers, or an AnswerError that does not repeat them; truth values answer two options."""
    array = np.asarray(answers)
    expectation = f"answers: must all be integers in [{possible.start}, {possible.stop})"
    if array.dtype == np.bool_ and possible == range(2):
        array = array.astype(np.int64)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        # A dtype would tell how long labels are.
        raise AnswerError(f"{expectation}; of a category of pandas, these are its .cat.codes")
    if (outside := (array < possible.start) | (array >= possible.stop)).any():
        place = ", ".join(map(str, np.argwhere(outside)[0].tolist()))
        raise AnswerError(f"{expectation}; the first that is not is answers[{place}]")
    return array.astype(np.int64)


def uniform_below(bound: int, n: int, words: Words) -> Integers:
    """``n`` exactly uniform integers below a bound of at most ``2**16``, by multiplication and rejection [1]_.

    References
    ----------
    .. [1] D. Lemire, "Fast random integer generation in an interval", ACM Transactions on Modeling and Computer
       Simulation 29 (2019).
    """
    # word * bound // 2**32 is below bound; the low half of the product decides whether it was one value too many.
    product = words(n).astype(np.uint64) * np.uint64(bound)
    # Of 2**32 words each value gets floor(2**32 / bound) or one more; rejecting low halves below this evens it out.
    uneven = UNIT % bound
    if uneven:
        low = product.astype(np.uint32)
        # At most bound / 2**32 of the draws, one in 65,536, so a loop in Python costs nothing.
        for place in np.flatnonzero(low < uneven):
            value = int(product[place])
            while value % UNIT < uneven:
                value = int(words(1)[0]) * bound
            product[place] = value
    return np.asarray((product >> np.uint64(32)).astype(np.int64))


def bernoulli(n: int, p: Fraction, words: Words) -> NDArray[np.bool_]:
    """``n`` independent draws that are true with exactly the rational probability ``p``."""
    scaled = p * 2**64
    threshold = math.floor(scaled)
    # Two words are one uniform 64-bit number, which is below p * 2**64 but for its last digit.
    drawn = words(2 * n).astype(np.uint32).view(np.uint64)
    true = np.asarray(drawn < np.uint64(threshold))
    for place in np.flatnonzero(
        drawn == np.uint64(threshold)
    ):  # with probability 2**-64 the remaining digits of p decide
        true[place] = _bernoulli_rest(scaled - threshold, words)
    return true


def _bernoulli_rest(p: Fraction, words: Words) -> bool:
    while True:
        # The next 32 binary digits of p against the next word: the first that differ decide.
        p *= UNIT
        digit, draw = math.floor(p), int(words(1)[0])
        if draw != digit:
            return draw < digit
        p -= digit


def draw_sets(k: int, s: int, n: int, words: Words) -> Integers:
    """``n`` sets of ``s`` of ``k`` boxes or questions, all equally likely, each in ascending order, shape (n, s)."""
    sets = math.comb(k, s)
    if sets <= LARGEST_TABLE:
        return np.asarray(_every_set(k, s)[uniform_below(sets, n, words)])
    drawn = np.empty((n, s), dtype=np.int64)
    for place in range(s):  # one of those that are left; it skips over those drawn before, in ascending order
        # Uniform among the k - place boxes that are left, by its rank among these.
        box = uniform_below(k - place, n, words)
        for before in range(place):
            box += box >= drawn[:, before]
        drawn[:, place] = box
        drawn[:, : place + 1].sort(axis=1)
    return drawn


@functools.lru_cache(maxsize=8)
def _every_set(k: int, s: int) -> Integers:
    return np.array([unrank(k, s, rank) for rank in range(math.comb(k, s))])


LARGEST_TABLE = 2**12
"""Largest number of sets that are drawn from a table; above it, one box is drawn after the other."""


def check_ticks(answers: ArrayLike, k: int) -> Octets:
    """Many answers to ``k`` boxes, each a row of 0 and 1, or an AnswerError that does not repeat them."""
    array = np.asarray(answers)
    expectation = f"answers: must be rows of {k} numbers 0 or 1"
    if array.shape[-1:] != (k,) or array.dtype.kind not in "iub":
        raise AnswerError(expectation)
    if array.size and (array.min() < 0 or array.max() > 1):
        raise AnswerError(expectation)
    return array.astype(np.uint8)

"""Chance as clients take it: 32-bit words one after another, and ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable

BITS = 32
UNIT = 1 << BITS
"""What integer weights are out of."""

Word = Callable[[], int]
"""A source of uniform integers from 0 to 2**32 - 1."""


class OutOfWords(Exception):
    """More words are needed than were given."""


class Words:
    """Given words, one after another; knows how many were taken."""

    def __init__(self, given: Iterable[int]) -> None:
        self._given = list(given)
        self.taken = 0

    def __call__(self) -> int:
        if self.taken == len(self._given):
            raise OutOfWords(f"words: only {self.taken} were given")
        self.taken += 1
        return self._given[self.taken - 1]

    @property
    def left(self) -> int:
        """How many words nobody took."""
        return len(self._given) - self.taken


def below(bound: int, word: Word) -> int:
    """A uniform integer below a bound: as many words as its bits take, the low one first, again while too large."""
    bits = (bound - 1).bit_length()
    while True:
        found = 0
        for place in range(0, bits, BITS):
            found |= word() << place
        found &= (1 << bits) - 1
        if found < bound:
            return found


def subset(n: int, size: int, rank: int) -> list[int]:
    """The subset of ``size`` of ``n`` places that has this rank in lexicographic order, the first place first."""
    chosen: list[int] = []
    for place in range(n):
        if len(chosen) == size:
            break
        # All subsets that hold this place come before those that do not.
        holding = _choose(n - place - 1, size - len(chosen) - 1)
        if rank < holding:
            chosen.append(place)
        else:
            rank -= holding
    return chosen


def subsets(n: int, size: int) -> int:
    """How many subsets of that size there are."""
    return _choose(n, size)


def _choose(n: int, size: int) -> int:
    # Pascal's rule as a product, not `math.comb`, which clients use.
    if not 0 <= size <= n:
        return 0
    found = 1
    for step in range(size):
        found = found * (n - step) // (step + 1)
    return found

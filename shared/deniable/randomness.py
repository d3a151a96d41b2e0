"""The source of randomness: uniform 32-bit words.

Every `randomize` takes its words as an argument, so that tests feed it chosen words, both languages are
held to the same vectors, and output distributions are proved by enumeration. The default is the operating
system's cryptographic source; there is no seed to lose, save or guess.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNIT = 2**32
"""Total of the integer weights of a mechanism: a weight ``w`` is the probability ``w / UNIT``."""

Word = Callable[[], int]
"""A source of uniform integers in ``[0, 2**32)``."""

Words = Callable[[int], "NDArray[np.uint32]"]
"""A source of arrays of ``n`` uniform 32-bit words."""


def system_word() -> int:
    """Draw one uniform 32-bit word from the operating system."""
    # No generator state in this process could be leaked, copied by a fork or seeded twice.
    return int.from_bytes(os.urandom(4), "little")


def system_words(n: int) -> NDArray[np.uint32]:
    """Draw an array of ``n`` uniform 32-bit words from the operating system (needs numpy)."""
    import numpy as np

    return np.frombuffer(os.urandom(4 * n), dtype="<u4")


def below(bound: int, word: Word) -> int:
    """A uniform integer below a bound of any length, by rejection sampling.

    Each try draws as many words as the bound has; how many tries there are depends on chance and the bound alone.

    >>> below(3 * 2**32, iter([5, 3, 5, 1]).__next__)      # 3 * 2**32 + 5 is too large
    4294967301
    """
    # Masked to the bits of the bound, a draw is accepted with a probability above 1/2.
    bits = (bound - 1).bit_length()
    words = -(-bits // 32)
    while True:
        draw: int = sum(word() << (32 * position) for position in range(words)) % 2**bits
        if draw < bound:
            return draw

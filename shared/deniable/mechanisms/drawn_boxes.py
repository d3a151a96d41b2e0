"""Drawn boxes: the device draws some of the boxes by chance and spends the whole epsilon on these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.errors import ParameterError, describe, needing
from deniable.exact import Number, of_100, positive_epsilon
from deniable.mechanisms.base import BLOCK, check_k
from deniable.mechanisms.boxes import MOST_BOXES, BoxMechanism
from deniable.mechanisms.k_ary import KAry, support_of_digits
from deniable.mechanisms.ranks import unrank
from deniable.mechanisms.support import Support
from deniable.randomness import UNIT, Word, Words, below, system_word, system_words
from deniable.wire.space import DrawnBits

if TYPE_CHECKING:
    from deniable.mechanisms.arrays import ArrayLike, Octets

MOST_DRAWN = 8
"""Largest number of boxes that a device draws; more would only pay off at an epsilon that protects nobody."""


@dataclass(frozen=True)
class DrawnBoxes(BoxMechanism):
    """Draw ``s`` of the ``k`` boxes independently of the answer, and report these alone by a k-ary response.

    An answer is a sequence of the options that are ticked. A report is a text of ``2 k`` characters, two for each box:
    ``01`` if it was drawn and is reported as ticked, ``10`` if it was drawn and is not, ``00`` if it was not drawn.

    Parameters
    ----------
    k : int
        Number of boxes, 2 to 256.
    s : int
        Number of boxes that are drawn, 1 to 8 and at most ``k``; each set of them is equally likely.
    keep : int
        Weight out of ``2**32`` of reporting the drawn boxes as they are; each of the ``2**s - 1`` other patterns weighs
        ``(2**32 - keep) / (2**s - 1)``.

    Notes
    -----
    With ``E`` the ratio of the two weights, epsilon = ``ln E``: which boxes are drawn tells nothing, and any two
    answers make any pattern of them at most ``E`` times as likely [1]_. A drawn box is reported as it is with
    probability ``(E + 2**(s-1) - 1) / (E + 2**s - 1)``. Its count is binomial among the reports that drew it, about
    ``s / k`` of all. At share 1/2, ``n`` times the variance of a share is ``k / (4 s b**2)`` with
    ``b = (E - 1) / (E + 2**s - 1)``; a coin for each box, `TickBoxes`, divides epsilon by ``k`` instead, which costs
    about ``k**2`` [2]_.

    References
    ----------
    .. [1] P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", Journal of Machine
       Learning Research 17 (2016), 1-51.
    .. [2] T. T. Nguyen et al., "Collecting and analyzing data from smart device users with local differential
       privacy", arXiv:1606.05053 (2016): sampling instead of splitting.

    Examples
    --------
    >>> boxes = DrawnBoxes.from_epsilon(k=8, epsilon=2)
    >>> boxes.s, boxes.epsilon <= 2
    (2, True)
    >>> len(boxes.randomize([0, 3]))
    16
    """

    k: int
    s: int
    keep: int

    name = "drawn-boxes"
    named_in = ("ticks",)

    def __post_init__(self) -> None:
        check_k(self.k, MOST_BOXES)
        _check_s(self.s, self.k)
        if type(self.keep) is not int or not 1 < self.keep < UNIT:
            raise ParameterError(f"keep: must be an integer above 1 and below 2**32, got {describe(self.keep)}")
        self.patterns  # noqa: B018 - refuses a keep that 2**s patterns cannot have

    @classmethod
    def from_epsilon(cls, k: int, epsilon: Number, s: int | None = None) -> DrawnBoxes:
        """The weights with the least noise whose epsilon is at most ``epsilon``.

        Parameters
        ----------
        k : int
        epsilon : number
        s : int, optional
            Number of boxes to draw; by default the one with the least variance of the shares.
        """
        k = check_k(k, MOST_BOXES)
        asked = positive_epsilon(epsilon)
        if s is not None:
            _check_s(s, k)
            # Which boxes are drawn is the same under every answer, so the whole epsilon goes into their pattern.
            return cls(k, s, KAry.from_epsilon(2**s, asked).keep)
        made = (cls.from_epsilon(k, asked, each) for each in range(1, min(k, MOST_DRAWN) + 1))
        return min(made, key=lambda each: noise_of_drawn(k, each.s, each.box))

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> DrawnBoxes:
        return cls.from_epsilon(len(answers), epsilon)

    @cached_property
    def patterns(self) -> KAry:
        """The mechanism over the patterns of the drawn boxes, the first of which is the highest bit."""
        return KAry(2**self.s, self.keep)

    def __str__(self) -> str:
        return f"{self.name} ({self.s} of {self.k})"

    @property
    def support(self) -> tuple[Support, ...]:
        return (self.box,) * self.k

    @cached_property
    def box(self) -> Support:
        """Probabilities that a drawn box is reported as ticked if it is ticked, and if it is not."""
        return support_of_digits(self.patterns, 2)

    @cached_property
    def pair(self) -> Support:
        """Probabilities that two drawn boxes are reported as a pattern if it is the true one, and if it is not."""
        return support_of_digits(self.patterns, 2, 2)

    @property
    def likelihood_ratio(self) -> Fraction:
        return self.patterns.likelihood_ratio

    def randomize(self, answer: Sequence[int], word: Word = system_word) -> str:
        ticked = self._check_ticks(answer)
        drawn = unrank(self.k, self.s, below(math.comb(self.k, self.s), word))
        # The first drawn box is the highest bit, here and in JavaScript: reports must agree to the bit.
        pattern = sum((box in ticked) << self.s - 1 - place for place, box in enumerate(drawn))
        sent = self.patterns.randomize(pattern, word)
        marks = ["00"] * self.k
        for place, box in enumerate(drawn):
            marks[box] = "01" if sent >> self.s - 1 - place & 1 else "10"
        return "".join(marks)

    def randomize_many(self, answers: ArrayLike, words: Words = system_words) -> Octets:
        with needing("statistics"):
            import numpy as np

            from deniable.mechanisms.arrays import check_ticks

        array = check_ticks(answers, self.k)
        flat = array.reshape(-1, self.k)
        reports = np.zeros((len(flat), 2 * self.k), dtype=np.uint8)
        # A row has k cells, so that a block is of about BLOCK cells.
        size = BLOCK // self.k + 1
        for start in range(0, len(flat), size):
            block = slice(start, start + size)
            self._randomize_rows(flat[block], reports[block], words)
        return reports.reshape(*array.shape[:-1], 2 * self.k)

    def _randomize_rows(self, answers: Octets, reports: Octets, words: Words) -> None:
        import numpy as np

        from deniable.mechanisms.arrays import draw_sets

        drawn = draw_sets(self.k, self.s, len(answers), words)
        bits = np.arange(self.s)[::-1]
        # A pattern is the drawn ticks read as binary digits, the first one highest, as in `randomize`.
        patterns = np.take_along_axis(answers, drawn, axis=1).astype(np.int64) @ (1 << bits)
        sent = self.patterns.randomize_many(patterns, words)[:, None] >> bits & 1
        # Box b owns the characters 2 b (clear) and 2 b + 1 (ticked); exactly one of them becomes 1 where b was drawn.
        np.put_along_axis(reports, 2 * drawn + sent, 1, axis=1)

    @cached_property
    def reports(self) -> DrawnBits:
        return DrawnBits(self.k, self.s)

    @property
    def told_ratio(self) -> Fraction:
        # The odds in words speak of one box, whose ratio is smaller than that of the whole pattern.
        return self.box.if_true / self.box.if_other

    @property
    def odds(self) -> tuple[str, ...]:
        p = of_100(self.box.if_true)
        return (
            f"Your device picks {self.s} of the {self.k} boxes by chance and sends nothing about the others. "
            f"If you ticked a box that it picked, it says so about {p} times in 100; "
            f"if you did not, it says that you did about {100 - p} times.",
        )


def noise_of_drawn(k: int, s: int, box: Support) -> float:
    """``n`` times the noise variance of the share of a box at share 1/2, if ``s`` of ``k`` boxes are drawn."""
    # n s / k reports draw the box: 1 / (4 b^2 n s / k) at share 1/2, less the sampling variance 1 / (4 n).
    return k / (4 * s * float(box.slope) ** 2) - 0.25


def _check_s(s: object, k: int) -> None:
    if type(s) is not int or not 1 <= s <= min(k, MOST_DRAWN):
        raise ParameterError(f"s: must be an integer in [1, {min(k, MOST_DRAWN)}], got {describe(s)}")

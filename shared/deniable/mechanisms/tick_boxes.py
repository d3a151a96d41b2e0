"""Tick boxes: any of k options, each box with a Warner coin of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable.exact import (
    Number,
    checked_weight,
    exp_below,
    floor_weight,
    of_100,
    positive_epsilon,
    probability,
    refuse_costly_rounding,
)
from deniable.mechanisms.base import BLOCK, check_k
from deniable.mechanisms.boxes import MOST_BOXES, BoxMechanism
from deniable.mechanisms.pure import PureMechanism
from deniable.mechanisms.support import Support
from deniable.randomness import UNIT, Word, Words, system_word, system_words
from deniable.wire.space import Bits

if TYPE_CHECKING:
    from deniable.mechanisms.arrays import ArrayLike, Octets


@dataclass(frozen=True, init=False)
class TickBoxes(BoxMechanism, PureMechanism):
    """Report each box as it is with probability ``keep / 2**32``, and otherwise reversed.

    An answer is a sequence of the options that are ticked. A report is a text of ``k`` characters in option order, 1
    for a box that is reported as ticked.

    Parameters
    ----------
    k : int
        Number of boxes, 2 to 256.
    keep : number or int
        Probability that a box is reported as it is, above 1/2; an integer above 1 is the published weight.

    Notes
    -----
    A person may change every box, so the boxes compose: epsilon = ``k ln(keep / (2**32 - keep))`` [1]_. The share of
    people who ticked a box is estimated for each box on its own; shares do not add up to 1.

    References
    ----------
    .. [1] U. Erlingsson, V. Pihur, A. Korolova, "RAPPOR: randomized aggregatable privacy-preserving ordinal response",
       CCS 2014, 1054-1067: basic RAPPOR.

    Examples
    --------
    >>> boxes = TickBoxes.from_epsilon(k=5, epsilon=2)
    >>> boxes.epsilon <= 2
    True
    >>> len(boxes.randomize([0, 3]))
    5
    """

    k: int
    keep: int

    name = "tick-boxes"
    named_in = ("ticks",)

    def __init__(self, k: int, keep: Number) -> None:
        k = check_k(k, MOST_BOXES)
        p = probability(keep, "keep", type(self))
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "keep", checked_weight(floor_weight(p), "keep"))
        if self.keep <= UNIT // 2:
            raise ParameterError(f"keep: must be above 1/2, got {keep}")

    @classmethod
    def from_epsilon(cls, k: int, epsilon: Number) -> TickBoxes:
        """The weights with the least noise whose epsilon over all boxes together is at most ``epsilon``."""
        k = check_k(k, MOST_BOXES)
        asked = positive_epsilon(epsilon)
        # k boxes compose to k times the loss of one, so each gets epsilon / k; keep = E / (E + 1) as Warner's.
        bound = exp_below(asked / k)
        mechanism = cls(k, floor_weight(bound / (bound + 1)))
        refuse_costly_rounding(float(asked), mechanism.epsilon, f"{k} boxes")
        return mechanism

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> TickBoxes:
        return cls.from_epsilon(len(answers), epsilon)

    @cached_property
    def support(self) -> tuple[Support, ...]:
        return (Support(Fraction(self.keep, UNIT), Fraction(UNIT - self.keep, UNIT)),) * self.k

    @property
    def likelihood_ratio(self) -> Fraction:
        # Two answers may differ in every box, and boxes are independent: the ratios multiply.
        return Fraction(self.keep, UNIT - self.keep) ** self.k

    def randomize(self, answer: Sequence[int], word: Word = system_word) -> str:
        ticked = self._check_ticks(answer)
        return "".join(
            str(int((option in ticked) == (word() < self.keep)))  # one word for each box, ticked or not
            for option in range(self.k)
        )

    @cached_property
    def reports(self) -> Bits:
        return Bits(self.k)

    @property
    def told_ratio(self) -> Fraction:
        return Fraction(self.keep, UNIT - self.keep)

    @property
    def odds(self) -> tuple[str, ...]:
        p = of_100(self.support[0].if_true)
        return (f"Of 100 people who tick a box, about {p} send it as ticked; of 100 who do not, about {100 - p} do.",)

    def randomize_many(self, answers: ArrayLike, words: Words = system_words) -> Octets:
        from deniable.mechanisms.arrays import check_ticks

        array = check_ticks(answers, self.k)
        flat = array.ravel()
        for start in range(0, flat.size, BLOCK):
            block = slice(start, start + BLOCK)
            # XOR turns a box over where its word is not below `keep`.
            flat[block] ^= words(flat[block].size) >= self.keep
        return flat.reshape(array.shape)

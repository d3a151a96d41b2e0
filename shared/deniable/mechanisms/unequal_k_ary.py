"""k-ary randomised response whose options are not equally likely where they are not the truth."""

from __future__ import annotations

import bisect
import itertools
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.errors import ParameterError, describe
from deniable.exact import Number, factor_above
from deniable.mechanisms.base import OneOfK, check_k
from deniable.mechanisms.pure import PureMechanism
from deniable.mechanisms.support import Support
from deniable.randomness import UNIT, Word, Words, system_word

if TYPE_CHECKING:
    from deniable.mechanisms.arrays import Integers


@dataclass(frozen=True)
class UnequalKAry(PureMechanism, OneOfK):
    """Tell the truth with a certain probability; otherwise report each option with its own probability.

    Parameters
    ----------
    others : tuple of int
        Weight out of ``2**32`` of each option whatever is the truth. What they leave of ``2**32`` is that of the truth.

    Notes
    -----
    ``P(v|v) = t + g_v`` and ``P(v|x) = g_v``, so epsilon = ``ln(1 + t / min g)``: forced response [1]_ in one word.
    It is what a k-ary response to patterns of answers does to one question of them, where some answers are part of more
    patterns than others.

    References
    ----------
    .. [1] R. F. Boruch, "Assuring confidentiality of responses in social research: a note on strategies",
       The American Sociologist 6 (1971), 308-311.

    Examples
    --------
    >>> UnequalKAry((2**30, 2**31)).support[1]
    Support(if_true=Fraction(3, 4), if_other=Fraction(1, 2))
    """

    others: tuple[int, ...]

    name = "unequal-k-ary"
    question_types = ("yes-no", "choice", "scale")
    named_in = ()

    def __post_init__(self) -> None:
        if not isinstance(self.others, (tuple, list)):
            raise ParameterError(f"others: must be a list of weights, got {describe(self.others)}")
        check_k(len(self.others))
        if any(type(each) is not int or each < 1 for each in self.others) or not sum(self.others) < UNIT:
            raise ParameterError("others: must be positive integers that add up to less than 2**32")
        object.__setattr__(self, "others", tuple(self.others))

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> UnequalKAry:
        raise ParameterError("mechanism: unequal-k-ary is made of a response to patterns; no author names it")

    @property
    def k(self) -> int:  # type: ignore[override]
        """Number of options."""
        return len(self.others)

    @property
    def truth(self) -> int:
        """Weight out of ``2**32`` that the truth has more than as another option."""
        return UNIT - sum(self.others)

    @cached_property
    def support(self) -> tuple[Support, ...]:
        return tuple(Support(Fraction(self.truth + each, UNIT), Fraction(each, UNIT)) for each in self.others)

    @property
    def odds(self) -> tuple[str, ...]:
        return (
            "Whatever somebody believed before, what you send makes one answer, compared with another, at most "
            f"{factor_above(self.likelihood_ratio)} times as believable as it was.",
        )

    @property
    def likelihood_ratio(self) -> Fraction:
        return 1 + Fraction(self.truth, min(self.others))

    @cached_property
    def _ends(self) -> list[int]:
        return list(itertools.accumulate(self.others))

    def randomize(self, answer: int, word: Word = system_word) -> int:
        answer = self._check_answer(answer)
        draw = word()
        return answer if draw < self.truth else bisect.bisect_right(self._ends, draw - self.truth)

    def _randomize_array(self, answers: Integers, words: Words) -> Integers:
        import numpy as np

        drawn = words(answers.size).astype(np.int64) - self.truth
        return np.where(drawn < 0, answers, np.searchsorted(np.array(self._ends), drawn, side="right"))

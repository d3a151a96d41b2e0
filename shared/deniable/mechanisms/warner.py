"""Warner's original design: tell the truth, or the opposite."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable.exact import (
    Number,
    checked_weight,
    exp_below,
    floor_weight,
    log_above,
    positive_epsilon,
    probability,
    refuse_costly_rounding,
    weight_towards_half,
)
from deniable.mechanisms.yes_no import YesNoMechanism
from deniable.randomness import UNIT, Word, Words, system_word

if TYPE_CHECKING:
    from deniable.mechanisms.arrays import Integers


@dataclass(frozen=True, init=False)
class Warner(YesNoMechanism):
    """Tell the truth with probability ``keep / 2**32``, otherwise the opposite.

    Parameters
    ----------
    keep : number or int
        Probability of telling the truth, above 0, below 1 and not 1/2; an integer above 1 is the published
        weight out of ``2**32``. It is rounded towards one half, so that `epsilon` never exceeds what was asked.

    Notes
    -----
    epsilon = ``|ln(p / (1 - p))|`` [1]_. Of all yes-no channels of one epsilon this one costs the least
    accuracy [2]_, so it is what ``epsilon = ...`` on a yes-no question means.

    References
    ----------
    .. [1] S. L. Warner, Journal of the American Statistical Association 60 (1965), 63-69.
    .. [2] P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy",
       Journal of Machine Learning Research 17 (2016), 1-51.

    Examples
    --------
    >>> from deniable import TwoCoin
    >>> Warner("3/4").epsilon == TwoCoin("1/2", "1/2").epsilon     # the same channel
    True
    >>> Warner.from_epsilon(1).epsilon <= 1
    True
    """

    keep: int

    name = "warner"
    question_types = ("yes-no",)
    named_in = ("yes-no",)

    def __init__(self, keep: Number) -> None:
        p = probability(keep, "keep", type(self))
        object.__setattr__(self, "keep", checked_weight(weight_towards_half(p), "keep"))
        if self.keep == UNIT // 2:
            raise ParameterError("keep: must not be 1/2, where every answer gives the same reports")
        refuse_costly_rounding(log_above(max(p / (1 - p), (1 - p) / p)), self.epsilon, "Warner's coin")

    @classmethod
    def from_epsilon(cls, epsilon: Number) -> Warner:
        """The design with the least noise whose epsilon is at most ``epsilon``.

        ``p = E / (E + 1)`` with a rational lower bound of ``E = exp(epsilon)``, rounded down.
        """
        asked = positive_epsilon(epsilon)
        bound = exp_below(asked)
        keep = floor_weight(bound / (bound + 1))
        if 2 * keep == UNIT:
            raise ParameterError(f"epsilon: {float(asked):g} cannot be held by 32-bit weights")
        mechanism = cls(keep)
        refuse_costly_rounding(float(asked), mechanism.epsilon, "Warner's coin")
        return mechanism

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> Warner:
        return cls.from_epsilon(epsilon)

    @property
    def yes_if_yes(self) -> Fraction:
        return Fraction(self.keep, UNIT)

    @property
    def yes_if_no(self) -> Fraction:
        return 1 - Fraction(self.keep, UNIT)

    def randomize(self, answer: int, word: Word = system_word) -> int:
        answer = self._check_answer(answer)
        return answer if word() < self.keep else 1 - answer

    def _randomize_array(self, answers: Integers, words: Words) -> Integers:
        # An answer is 0 or 1, so XOR with 1 is the opposite.
        return answers ^ (words(answers.size) >= self.keep)

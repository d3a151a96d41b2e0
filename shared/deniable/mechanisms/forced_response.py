"""Forced response: tell the truth, or report an option that a second step draws."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.errors import ParameterError, describe
from deniable.exact import Number, checked_weight, floor_weight, log_above, of_100, probability, refuse_costly_rounding
from deniable.mechanisms.base import OneOfK, check_k
from deniable.mechanisms.pure import PureMechanism
from deniable.mechanisms.support import Support
from deniable.randomness import UNIT, Word, Words, system_word

if TYPE_CHECKING:
    from deniable.mechanisms.arrays import Integers


@dataclass(frozen=True, init=False)
class ForcedResponse(PureMechanism, OneOfK):
    """With probability `truth` tell the truth, otherwise say option ``v`` with probability ``forced[v]``.

    Parameters
    ----------
    truth : number or int
        Probability of the truth, above 0 and below 1; an integer above 1 is the published weight out of ``2**32``.
    forced : sequence of number or int
        Probability of each option in the second step: each above 0, adding up to 1, or published weights that add up
        to ``2**32``. An option that is never forced would prove itself, which is infinite epsilon.

    Notes
    -----
    ``P(v|v) = t + (1 - t) g_v`` and ``P(v|x) = (1 - t) g_v``, so epsilon = ``ln(1 + t / ((1 - t) min g))`` [1]_.
    `TwoCoin` is the yes-no case. `truth` is rounded down and the smallest of `forced` up, so that epsilon never
    exceeds that of the numbers that were asked for.

    References
    ----------
    .. [1] R. F. Boruch, "Assuring confidentiality of responses in social research: a note on strategies",
       The American Sociologist 6 (1971), 308-311.

    Examples
    --------
    A die: 1 to 4 tell the truth, 5 says yes, 6 says no.

    >>> die = ForcedResponse("2/3", forced=["1/2", "1/2"])
    >>> round(float(die.likelihood_ratio), 6)
    5.0
    """

    truth: int
    forced: tuple[int, ...]

    name = "forced-response"
    question_types = ("choice",)
    named_in = ()

    def __init__(self, truth: Number, forced: Sequence[Number]) -> None:
        if isinstance(forced, (str, bytes)) or not isinstance(forced, Sequence):
            raise ParameterError(f"forced: must be a list of probabilities, one each option, got {describe(forced)}")
        check_k(len(forced))
        t = probability(truth, "truth")
        shares = [probability(each, "forced") for each in forced]
        if sum(shares) != 1:
            raise ParameterError(f"forced: must add up to 1, adds up to {float(sum(shares)):.6g}")
        object.__setattr__(self, "truth", checked_weight(floor_weight(t), "truth"))
        # epsilon = ln(1 + t / ((1 - t) min g)): a smaller t and a larger min g can only lower it.
        object.__setattr__(self, "forced", _round_up_the_small(shares))
        asked = 1 + t / ((1 - t) * min(shares))
        refuse_costly_rounding(log_above(asked), self.epsilon, f"{self.k} options")

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> ForcedResponse:
        raise ParameterError("mechanism: forced-response is made of coins, truth = ...; it takes no epsilon")

    @property
    def k(self) -> int:  # type: ignore[override]
        """Number of options."""
        return len(self.forced)

    @cached_property
    def support(self) -> tuple[Support, ...]:
        instead = [Fraction((UNIT - self.truth) * weight, UNIT**2) for weight in self.forced]
        return tuple(Support(Fraction(self.truth, UNIT) + each, each) for each in instead)

    @property
    def odds(self) -> tuple[str, ...]:
        t = of_100(Fraction(self.truth, UNIT))
        return (f"Of 100 people, about {t} send what they chose and {100 - t} send an option drawn by chance.",)

    @property
    def likelihood_ratio(self) -> Fraction:
        return max(if_true / if_other for if_true, if_other in self.support)

    @cached_property
    def _ends(self) -> list[int]:
        return list(itertools.accumulate(self.forced))

    def randomize(self, answer: int, word: Word = system_word) -> int:
        answer = self._check_answer(answer)
        first, second = word(), word()  # both, always: the number of words must not tell which step decided
        return answer if first < self.truth else bisect.bisect_right(self._ends, second)

    def _randomize_array(self, answers: Integers, words: Words) -> Integers:
        import numpy as np

        drawn = words(2 * answers.size).reshape(-1, 2)
        # Inverse distribution function of the second step: the number of ends that are not above the word.
        forced = np.searchsorted(np.array(self._ends), drawn[:, 1], side="right")
        return np.where(drawn[:, 0] < self.truth, answers, forced)


def _round_up_the_small(shares: Sequence[Fraction]) -> tuple[int, ...]:
    """Weights that add up to ``2**32``: all are rounded up, and the excess is taken from the largest."""
    # -(-a // b) is the quotient rounded up, in integers.
    weights = [-(-share.numerator * UNIT // share.denominator) for share in shares]
    largest = max(range(len(weights)), key=weights.__getitem__)
    weights[largest] -= sum(weights) - UNIT
    for weight in weights:
        checked_weight(weight, "forced")
    return tuple(weights)

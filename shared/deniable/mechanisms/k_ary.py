"""k-ary randomised response, also called generalised randomised response (GRR)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable.exact import Number, exp_below, log_above, of_100, positive_epsilon, probability, refuse_costly_rounding
from deniable.mechanisms.base import OneOfK, check_k
from deniable.mechanisms.pure import PureMechanism
from deniable.mechanisms.support import Support
from deniable.randomness import UNIT, Word, Words, system_word

if TYPE_CHECKING:
    from deniable.mechanisms.arrays import Integers


@dataclass(frozen=True, init=False)
class KAry(PureMechanism, OneOfK):
    """Tell the truth with probability ``keep / 2**32``, otherwise one of the other ``k - 1`` options, uniformly.

    Parameters
    ----------
    k : int
        Number of options, at least 2.
    keep : number or int
        Probability of reporting the true option; an integer above 1 is the published weight out of ``2**32``.
        It is rounded down until the rest divides evenly by ``k - 1``. It must exceed the probability of each
        other option.

    Notes
    -----
    The published parameter is the integer `keep`, not epsilon: two languages agree on integers, not on
    ``exp``. With ``other = (2**32 - keep) / (k - 1)``, epsilon = ``ln(keep / other)`` [1]_ [2]_.

    References
    ----------
    .. [1] P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy",
       Journal of Machine Learning Research 17 (2016), 1-51.
    .. [2] T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for frequency
       estimation", USENIX Security 2017, 729-745.

    Examples
    --------
    >>> mechanism = KAry.from_epsilon(k=4, epsilon=1.0)
    >>> 0 <= 1 - mechanism.epsilon < 1e-8
    True
    >>> [round(share, 4) for share in mechanism.estimate([400, 300, 200, 100]).share]
    [0.7492, 0.4164, 0.0836, -0.2492]
    """

    k: int
    keep: int

    name = "k-ary"
    question_types = ("choice", "scale")
    named_in = ("choice", "scale")

    def __init__(self, k: int, keep: Number) -> None:
        k = check_k(k)
        p = probability(keep, "keep", type(self))
        # Rounded up: the other options get no less, so that keep / other is never above what was asked.
        other = math.ceil((1 - p) * UNIT / (k - 1))
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "keep", UNIT - (k - 1) * other)
        if isinstance(keep, int) and self.keep != keep:
            raise ParameterError(f"keep: 2**32 - keep must divide by k - 1 = {k - 1}, got {keep}")
        if self.keep <= other:
            raise ParameterError(f"keep: must exceed the probability of each other option, 1/{k} or less, got {keep}")
        refuse_costly_rounding(log_above(p * (k - 1) / (1 - p)), self.epsilon, f"{k} options")

    @classmethod
    def from_epsilon(cls, k: int, epsilon: Number) -> KAry:
        """The weights with the least noise whose epsilon is at most ``epsilon``.

        ``q = 1 / (E + k - 1)`` is rounded up with a rational lower bound of ``E = exp(epsilon)``, and `keep`
        takes what is left: ``keep / other <= E`` in integers.
        """
        k = check_k(k)
        asked = positive_epsilon(epsilon)
        bound = exp_below(asked)
        # q = 1 / (E + k - 1) rounded up, so that keep / other <= E in integers.
        other = math.ceil(UNIT / (bound + k - 1))
        keep = UNIT - (k - 1) * other
        if keep <= other:
            raise ParameterError(f"epsilon: {float(asked):g} over {k} options cannot be held by 32-bit weights")
        mechanism = cls(k, keep)
        assert mechanism.likelihood_ratio <= bound
        refuse_costly_rounding(float(asked), mechanism.epsilon, f"{k} options")
        return mechanism

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> KAry:
        return cls.from_epsilon(len(answers), epsilon)

    @classmethod
    def from_coin(cls, k: int, truth: Number) -> KAry:
        """Tell the truth with probability ``truth``, otherwise report any option at random, the true one included.

        >>> KAry.from_coin(2, "1/2").likelihood_ratio        # two fair coins, ln 3
        Fraction(3, 1)
        """
        k = check_k(k)
        t = probability(truth, "truth")
        # Every option, the true one too, gets (1 - t) / k from the second step.
        other = math.ceil((1 - t) * UNIT / k)
        mechanism = cls(k, UNIT - (k - 1) * other)
        asked = (t + (1 - t) / k) / ((1 - t) / k)
        refuse_costly_rounding(log_above(asked), mechanism.epsilon, f"{k} options")
        return mechanism

    @property
    def _other(self) -> int:
        """Weight out of ``2**32`` of each option that is not the truth."""
        return (UNIT - self.keep) // (self.k - 1)

    @cached_property
    def support(self) -> tuple[Support, ...]:
        return (Support(Fraction(self.keep, UNIT), Fraction(self._other, UNIT)),) * self.k

    @property
    def odds(self) -> tuple[str, ...]:
        kept = of_100(Fraction(self.keep, UNIT))
        return (f"Of 100 people who choose an option, about {kept} send it and {100 - kept} send another one.",)

    @property
    def likelihood_ratio(self) -> Fraction:
        return Fraction(self.keep, self._other)

    def randomize(self, answer: int, word: Word = system_word) -> int:
        answer = self._check_answer(answer)
        draw = word()
        if draw < self.keep:
            return answer
        instead = (draw - self.keep) // self._other
        # `other` words for each of the k - 1 options that are left, in order.
        return instead if instead < answer else instead + 1  # skip over the truth

    def _randomize_array(self, answers: Integers, words: Words) -> Integers:
        import numpy as np

        draw = words(answers.size).astype(np.int64)
        instead = (draw - self.keep) // self._other
        # `instead` numbers the options without the truth, so from the truth on it is one too low.
        return np.where(draw < self.keep, answers, instead + (instead >= answers))


def support_of_digits(mechanism: KAry, k: int, digits: int = 1) -> Support:
    """Support of some digits of a joint response whose options are numbers to base ``k``.

    It is the probability that these digits are reported as they are, and that they are reported as given other ones.
    """
    kept, other = mechanism.support[0]
    # Number of patterns that show given values of these digits; at most one of them is the true pattern.
    alike = mechanism.k // k**digits
    return Support(kept + (alike - 1) * other, alike * other)

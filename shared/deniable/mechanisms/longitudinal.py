"""Longitudinal k-ary response: an answer drawn once for all waves, and once more for each of them (L-GRR)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from deniable.errors import ParameterError, describe
from deniable.exact import Number, exp_below, log_above, of_100, positive_epsilon, rational, refuse_costly_rounding
from deniable.mechanisms.base import Mechanism, OneOfK, check_k
from deniable.mechanisms.k_ary import KAry
from deniable.mechanisms.pure import PureMechanism
from deniable.mechanisms.support import Support
from deniable.randomness import UNIT, Word, Words, system_word
from deniable.wire.space import ReportValue

if TYPE_CHECKING:
    from deniable.mechanisms.arrays import Integers


@dataclass(frozen=True, init=False)
class Longitudinal(PureMechanism, OneOfK):
    """Two k-ary responses: the device keeps the result of the first, and each wave sends a draw of the second from it.

    Parameters
    ----------
    k : int
        Number of options, at least 2.
    keep : number or int
        Probability that the permanent value is the true option, as in `KAry`; an integer above 1 is the published
        weight out of ``2**32``.
    again : number or int
        Probability that a wave sends the permanent value, likewise.

    Notes
    -----
    With ``p, q`` the weights of the permanent step out of 1 and ``a, b`` those of a wave, ``n`` waves that all send
    an option have the probability ``p a^n + (1 - p) b^n`` if it is the truth and ``q a^n + (1 - q) b^n`` otherwise. The
    logarithm of their ratio is the exact loss of ``n`` waves, `epsilon_of`. It rises towards ``ln(p / q)`` and never
    passes it, because waves are made of the permanent value alone: that is `epsilon`, what is charged, once. One wave
    loses `wave_epsilon`. The two steps are RAPPOR's permanent and instantaneous randomised response [1]_, over
    options instead of bits [2]_.

    A reader of one wave sees the channel ``p a + (1 - p) b`` and ``q a + (1 - q) b``: `support`, exact out of
    ``2**64``, is what estimates undo.

    References
    ----------
    .. [1] U. Erlingsson, V. Pihur, A. Korolova, "RAPPOR: randomized aggregatable privacy-preserving ordinal response",
       CCS 2014, 1054-1067.
    .. [2] H. H. Arcolezi, J.-F. Couchot, B. Al Bouna, X. Xiao, "Improving the utility of locally differentially
       private protocols for longitudinal and multidimensional frequency estimates", Digital Communications and
       Networks 10 (2024), 369-379: L-GRR.

    Examples
    --------
    >>> mechanism = Longitudinal(2, "9/10", "7/8")                # 0.9 * 7/8 + 0.1 * 1/8 = 0.8
    >>> round(mechanism.epsilon, 4), round(mechanism.wave_epsilon, 4)      # ln 9, ln 4
    (2.1972, 1.3863)
    >>> [round(mechanism.epsilon_of(waves), 2) for waves in (2, 3, 10)]
    [2.03, 2.17, 2.2]
    >>> kept = mechanism.permanent(1)                           # once
    >>> {mechanism.instantaneous(kept) for wave in range(3)} <= {0, 1}
    True
    """

    k: int
    keep: int
    again: int

    name = "longitudinal"
    question_types = ("yes-no", "choice", "scale")
    named_in = ("yes-no", "choice", "scale")

    def __init__(self, k: int, keep: Number, again: Number) -> None:
        permanent = KAry(k, keep)
        try:
            instantaneous = KAry(k, again)
        except ParameterError as error:  # which speaks of a `keep`
            raise ParameterError(str(error).replace("keep", "again")) from None
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "keep", permanent.keep)
        object.__setattr__(self, "again", instantaneous.keep)

    @classmethod
    def from_epsilon(cls, k: int, epsilon: Number, wave_epsilon: Number) -> Longitudinal:
        """The weights with the least noise that lose at most ``epsilon`` in all waves and ``wave_epsilon`` in one.

        Parameters
        ----------
        k : int
        epsilon : number
            Largest privacy loss of all waves together, however many.
        wave_epsilon : number
            Largest privacy loss of one wave, smaller than ``epsilon``.

        Raises
        ------
        ParameterError
            If there are no such weights.

        Notes
        -----
        With ``D = 2**32``, ``o`` the weight of another option in the permanent step, ``t`` that in a wave and
        ``d = D - k o``, one wave sends the truth with weight ``keep D - (k - 1) t d`` and another option with
        ``o D + t d``, out of ``D**2``. A ratio of at most ``E`` takes ``t >= D (keep - E o) / (d (E + k - 1))``,
        which is rounded up with a rational lower bound of ``E = exp(wave_epsilon)``.

        >>> mechanism = Longitudinal.from_epsilon(4, 2, 1)
        >>> 0 <= 2 - mechanism.epsilon < 1e-8, 0 <= 1 - mechanism.wave_epsilon < 1e-8
        (True, True)
        """
        k = check_k(k)
        permanent = KAry.from_epsilon(k, epsilon)
        asked = rational(wave_epsilon, "wave_epsilon")
        bound = exp_below(asked) if 0 < asked < positive_epsilon(epsilon) else Fraction(0)
        if not 1 < bound < permanent.likelihood_ratio:
            raise ParameterError(
                f"wave_epsilon: must be above 0 and below epsilon = {permanent.epsilon:.6g}, that of all waves, "
                f"got {float(asked):g}"
            )
        keep, other = permanent.keep, (UNIT - permanent.keep) // (k - 1)
        # The inequality for t in the notes; rounded up, because more noise is safe.
        least = UNIT * (keep - bound * other) / ((UNIT - k * other) * (bound + k - 1))
        again = UNIT - (k - 1) * math.ceil(least)
        if again * k <= UNIT:
            raise ParameterError(f"wave_epsilon: {float(asked):g} over {k} options cannot be held by 32-bit weights")
        mechanism = cls(k, keep, again)
        assert mechanism.wave_likelihood_ratio <= bound
        refuse_costly_rounding(float(asked), mechanism.wave_epsilon, f"one wave of {k} options")
        return mechanism

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> Longitudinal:
        if wave_epsilon is None:
            raise ParameterError("wave_epsilon: must say how much noise one wave has, such as wave_epsilon = 0.5")
        return cls.from_epsilon(len(answers), epsilon, wave_epsilon)

    @cached_property
    def permanent_response(self) -> KAry:
        """The k-ary response from the answer to the permanent value."""
        return KAry(self.k, self.keep)

    @cached_property
    def instantaneous_response(self) -> KAry:
        """The k-ary response from the permanent value to the report of one wave."""
        return KAry(self.k, self.again)

    @cached_property
    def support(self) -> tuple[Support, ...]:
        return (Support(*self._of_waves(1)),) * self.k

    @property
    def odds(self) -> tuple[str, ...]:
        kept = of_100(Fraction(self.keep, UNIT))
        return (
            f"Of 100 people who choose an option, all waves together show it for about {kept} and another one for "
            f"{100 - kept}; one wave shows less.",
        )

    @property
    def likelihood_ratio(self) -> Fraction:
        return self.permanent_response.likelihood_ratio

    @property
    def wave_likelihood_ratio(self) -> Fraction:
        """The largest ratio of the probabilities of the report of one wave under any two answers, exactly."""
        if_true, if_other = self.support[0]
        return if_true / if_other

    @cached_property
    def wave_epsilon(self) -> float:
        """Privacy loss of one wave alone, in nats, rounded up to the next float: less than `epsilon`."""
        return log_above(self.wave_likelihood_ratio)

    def epsilon_of(self, waves: int) -> float:
        """Privacy loss of a number of waves together, in nats, rounded up to the next float: at most `epsilon`.

        Parameters
        ----------
        waves : int
            1 to 1000.

        Raises
        ------
        ParameterError
            If it is another number.
        """
        if type(waves) is not int or not 1 <= waves <= 1000:
            raise ParameterError(f"waves: must be an integer from 1 to 1000, got {describe(waves)}")
        if_true, if_other = self._of_waves(waves)
        return log_above(if_true / if_other)

    def _of_waves(self, waves: int) -> tuple[Fraction, Fraction]:
        """Probabilities that all waves send an option: if it is the truth, and if another one is."""
        p, q = self.permanent_response.support[0]
        # Given the permanent value, waves are independent: all of them send v with probability a^n or b^n.
        a, b = (step**waves for step in self.instantaneous_response.support[0])
        return p * a + (1 - p) * b, q * a + (1 - q) * b

    def randomize(self, answer: int, word: Word = system_word) -> int:
        return self.instantaneous(self.permanent(answer, word), word)

    def permanent(self, answer: Any, word: Word = system_word) -> int:
        """The noisy value that a device keeps of an answer: RAPPOR's permanent randomised response."""
        return self.permanent_response.randomize(answer, word)

    def instantaneous(self, value: ReportValue, word: Word = system_word) -> int:
        """The report of one wave, drawn from the permanent value.

        Raises
        ------
        ReportError
            If `permanent` cannot have made the value.
        """
        kept: int = self.reports.check(value, "permanent value")
        return self.instantaneous_response.randomize(kept, word)

    def _randomize_array(self, answers: Integers, words: Words) -> Integers:
        # An array is one wave of people who are asked once: nobody's permanent value is kept.
        kept = self.permanent_response._randomize_array(answers, words)
        return self.instantaneous_response._randomize_array(kept, words)


def waves_of(mechanism: Mechanism) -> Longitudinal | None:
    """The mechanism if it has waves, with a permanent value on the device; else None."""
    return mechanism if isinstance(mechanism, Longitudinal) else None

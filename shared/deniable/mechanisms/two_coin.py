"""Two coins: the first decides whether to tell the truth, the second what to report otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable.exact import (
    Number,
    checked_weight,
    floor_weight,
    log_above,
    probability,
    refuse_costly_rounding,
    weight_towards_half,
)
from deniable.mechanisms.yes_no import YesNoMechanism
from deniable.randomness import UNIT, Word, Words, system_word

if TYPE_CHECKING:
    from deniable.mechanisms.arrays import Integers


@dataclass(frozen=True, init=False)
class TwoCoin(YesNoMechanism):
    """Tell the truth if the first coin says so; otherwise say what the second coin says, yes or no.

    Parameters
    ----------
    truth : number or int
        Probability that the first coin says *tell the truth*, above 0 and below 1, such as ``"1/2"``, ``0.5``
        or ``Fraction(1, 2)``; an integer above 1 is the published weight out of ``2**32``.
    yes : number or int, default "1/2"
        Probability that the second coin says *yes*, likewise.

    Attributes
    ----------
    truth, yes : int
        The coins as weights out of ``2**32``. `truth` is rounded down and `yes` towards one half, so that
        `epsilon` never exceeds that of the coins that were asked for.

    Notes
    -----
    ``P(1|1) = t + (1 - t) y`` and ``P(1|0) = (1 - t) y`` [1]_, the forced-response form of Warner's design
    [2]_. For ``t = y = 1/2``: 3/4 and 1/4, epsilon = ln 3. For ``t = y = p > 1/2``:
    epsilon = ln(1 + p / (1 - p)^2).

    References
    ----------
    .. [1] R. F. Boruch, "Assuring confidentiality of responses in social research: a note on strategies",
       The American Sociologist 6 (1971), 308-311.
    .. [2] S. L. Warner, "Randomized response: a survey technique for eliminating evasive answer bias",
       Journal of the American Statistical Association 60 (1965), 63-69.

    Examples
    --------
    >>> coin = TwoCoin(truth="1/2", yes="1/2")
    >>> coin.epsilon
    1.0986122886681098
    >>> coin.estimate([600, 400]).share[1]
    0.3
    >>> 2 * (400 / 1000 - 1/4)                              # the same, by hand
    0.30000000000000004
    """

    truth: int
    yes: int

    name = "two-coin"
    question_types = ("yes-no",)
    named_in = ()

    def __init__(self, truth: Number, yes: Number = "1/2") -> None:
        t, y = probability(truth, "truth"), probability(yes, "yes")
        object.__setattr__(self, "truth", checked_weight(floor_weight(t), "truth"))
        object.__setattr__(self, "yes", checked_weight(weight_towards_half(y), "yes"))
        # P(1|1) / P(1|0) = 1 + t / ((1 - t) y), and the same with 1 - y for No; the larger one is epsilon.
        asked = 1 + t / ((1 - t) * min(y, 1 - y))
        refuse_costly_rounding(log_above(asked), self.epsilon, "two coins")

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> TwoCoin:
        raise ParameterError("mechanism: two-coin is made of coins, truth = ...; it takes no epsilon")

    @property
    def yes_if_yes(self) -> Fraction:
        return Fraction(self.truth, UNIT) + self.yes_if_no

    @property
    def yes_if_no(self) -> Fraction:
        return Fraction((UNIT - self.truth) * self.yes, UNIT**2)

    def randomize(self, answer: int, word: Word = system_word) -> int:
        answer = self._check_answer(answer)
        first, second = word(), word()  # both, always: the number of words must not tell which coin decided
        if first < self.truth:
            return answer
        return 1 if second < self.yes else 0

    def _randomize_array(self, answers: Integers, words: Words) -> Integers:
        import numpy as np

        # Nobody sees how many words an array took, so second coins are tossed only where the first one asks for them.
        reports = answers.copy()
        coins = np.flatnonzero(words(answers.size) >= self.truth)
        reports[coins] = words(coins.size) < self.yes
        return reports

"""Subset selection: report a random subset of the options, in which the truth is more likely than other options."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.errors import ParameterError, describe, needing
from deniable.exact import Number, exp_below, of_100, positive_epsilon, refuse_costly_rounding
from deniable.mechanisms.base import BLOCK, LARGEST_INTEGER, check_answer, check_k
from deniable.mechanisms.pure import PureMechanism
from deniable.mechanisms.ranks import unrank
from deniable.mechanisms.support import Support
from deniable.randomness import UNIT, Word, Words, below, system_word, system_words
from deniable.wire.space import Bits

if TYPE_CHECKING:
    from deniable.mechanisms.arrays import ArrayLike, Integers, Octets

LARGEST_K = 256
"""Largest number of options."""


@dataclass(frozen=True)
class Subset(PureMechanism):
    """Report a subset of ``w`` of the ``k`` options; subsets that contain the true one are more probable.

    A report is a text of ``k`` characters in option order, 1 for the options in the subset. No other form is
    possible, so nothing but the membership of options can depend on the answer.

    Parameters
    ----------
    k : int
        Number of options, 2 to 256.
    w : int
        Size of the subsets, 1 to ``k - 1``.
    inside : int
        Weight of each subset with the true option, above ``2**32`` and below ``10**15``; any other weighs ``2**32``.

    Notes
    -----
    epsilon = ``ln(inside / 2**32)``. With ``E`` that ratio, an option is in the report with probability
    ``p = w E / (w E + k - w)`` if it is the truth, else with
    ``q = p (w - 1) / (k - 1) + (1 - p) w / (k - 1)`` [1]_ [2]_. ``w = 1`` is `KAry`.

    One uniform integer below the total weight of all subsets decides which of them is sent: drawn as a whole,
    by rejection that does not look at the answer, and unranked in lexicographic order.

    References
    ----------
    .. [1] M. Ye, A. Barg, "Optimal schemes for discrete distribution estimation under locally differential privacy",
       IEEE Transactions on Information Theory 64 (2018), 5662-5676.
    .. [2] S. Wang et al., "Mutual information optimally local private discrete distribution estimation",
       arXiv:1607.08025 (2016).

    Examples
    --------
    >>> mechanism = Subset.from_epsilon(k=10, w=3, epsilon=1)
    >>> report = mechanism.randomize(7)
    >>> len(report), report.count("1")
    (10, 3)
    """

    k: int
    w: int
    inside: int

    name = "subset"
    question_types = ("choice", "scale")
    named_in = ("choice", "scale")

    def __post_init__(self) -> None:
        check_k(self.k, LARGEST_K)
        if type(self.w) is not int or not 1 <= self.w < self.k:
            raise ParameterError(f"w: must be an integer in [1, k = {self.k}), got {describe(self.w)}")
        if type(self.inside) is not int or not UNIT < self.inside < LARGEST_INTEGER:
            raise ParameterError(
                f"inside: must be an integer above 2**32 and below 10**15, got {describe(self.inside)}"
            )

    @classmethod
    def from_epsilon(cls, k: int, w: int, epsilon: Number) -> Subset:
        """The weights with the least noise whose epsilon is at most ``epsilon``, at most 12."""
        asked = positive_epsilon(epsilon)
        # Rounded down: epsilon = ln(inside / 2**32) is then never above what was asked.
        inside = math.floor(exp_below(asked) * UNIT)
        if not UNIT < inside < LARGEST_INTEGER:
            raise ParameterError(f"epsilon: must be above 1e-9 and at most 12 for subsets, got {float(asked):g}")
        mechanism = cls(k, w, inside)
        refuse_costly_rounding(float(asked), mechanism.epsilon, f"subsets of {w} out of {k}")
        return mechanism

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> Subset:
        """Subsets of the size, at least 2, that has the least noise."""
        found = []
        for w in range(2, len(answers)) if len(answers) <= LARGEST_K else ():
            with contextlib.suppress(ParameterError):  # integer weights cannot hold this size
                found.append(cls.from_epsilon(len(answers), w, epsilon))
        if not found:
            raise ParameterError(f"epsilon: no subsets of {len(answers)} options can hold it with integer weights")
        return min(found, key=lambda each: each._total_noise)

    @cached_property
    def support(self) -> tuple[Support, ...]:
        k, w = self.k, self.w
        p = Fraction(w * self.inside, w * self.inside + (k - w) * UNIT)
        # Given that the truth is in (or out), the other members are a uniform subset of w - 1 (or w) of k - 1 options.
        q = (p * (w - 1) + (1 - p) * w) / (k - 1)
        return (Support(p, q),) * k

    @property
    def likelihood_ratio(self) -> Fraction:
        return Fraction(self.inside, UNIT)

    def randomize(self, answer: int, word: Word = system_word) -> str:
        answer = check_answer(answer, range(self.k))
        holding = math.comb(self.k - 1, self.w - 1)
        outside = math.comb(self.k - 1, self.w)
        # Each of the `holding` subsets owns `inside` numbers, each of the others 2**32: division gives the subset's
        # rank.
        draw = below(holding * self.inside + outside * UNIT, word)
        if draw < holding * self.inside:
            chosen = [answer, *_skip(answer, unrank(self.k - 1, self.w - 1, draw // self.inside))]
        else:
            chosen = _skip(answer, unrank(self.k - 1, self.w, (draw - holding * self.inside) // UNIT))
        return "".join("1" if option in chosen else "0" for option in range(self.k))

    def __str__(self) -> str:
        return f"subset of {self.w}"

    @property
    def _total_noise(self) -> float:
        """``n`` times what noise adds to the variances of all shares if all answers are equally frequent."""
        if_true, if_other = self.support[0].noise
        share = 1 / self.k
        return math.fsum((share * if_true + (1 - share) * if_other,) * self.k)

    @cached_property
    def reports(self) -> Bits:
        return Bits(self.k, self.w)

    @property
    def odds(self) -> tuple[str, ...]:
        p, q = (of_100(each) for each in self.support[0])
        return (
            f"Your device sends {self.w} of the {self.k} options. "
            f"The one that you choose is among them about {p} times in 100, and any other one about {q} times.",
        )

    def randomize_many(self, answers: ArrayLike, words: Words = system_words) -> Octets:
        with needing("statistics"):
            import numpy as np

            from deniable.mechanisms.arrays import check_answers

        array = check_answers(answers, range(self.k))
        flat = array.ravel()
        reports = np.empty((flat.size, self.k), dtype=np.uint8)
        block = BLOCK // self.k
        for start in range(0, flat.size, block):
            part = slice(start, start + block)
            reports[part] = self._randomize_array(flat[part], words)
        return reports.reshape(*array.shape, self.k)

    def _randomize_array(self, answers: Integers, words: Words) -> Octets:
        """Draw whether the truth is in the subset, then take each other option with its conditional probability."""
        import numpy as np

        from deniable.mechanisms.arrays import bernoulli, uniform_below

        n = answers.size
        rows = np.arange(n)
        members = np.empty((n, self.k), dtype=np.uint8)
        holds = bernoulli(n, self.support[0].if_true, words)
        members[rows, answers] = holds
        # Selection sampling: take each option with probability needed / left, which makes all subsets equally likely.
        needed = self.w - holds.astype(np.int64)
        for position in range(self.k - 1):
            taken = uniform_below(self.k - 1 - position, n, words) < needed
            members[rows, position + (position >= answers)] = taken  # skip over the truth
            needed -= taken
        return members


def _skip(answer: int, others: list[int]) -> list[int]:
    return [other if other < answer else other + 1 for other in others]

"""Subset selection: report a random set of options that more likely than others holds the truth."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.errors import ParameterError, describe
from deniable.estimation.feasible import nearest_on_simplex
from deniable.estimation.support import Support
from deniable.exact import Number, exp_below, of_100, positive_epsilon, refuse_costly_rounding
from deniable.mechanisms.base import BLOCK, LARGEST_INTEGER, check_answer, check_answers, check_k
from deniable.mechanisms.pure import PureMechanism
from deniable.randomness import UNIT, Word, Words, below, system_word, system_words
from deniable.wire.space import Bits, Count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

LARGEST_K = 256


@dataclass(frozen=True)
class Subset(PureMechanism):
    """Report one of the ``w``-subsets of the ``k`` options; those that hold the truth weigh more.

    A report is a text of ``k`` characters in option order, 1 for the options in the subset: the only form there is,
    so nothing about it can depend on the answer but which options are in.

    Parameters
    ----------
    k : int
        Number of options, 2 to 256.
    w : int
        Size of the subsets, 1 to ``k - 1``.
    inside : int
        Weight of each subset that holds the truth; each other one weighs ``2**32``. Above ``2**32``, below ``10**15``.

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
    parameters = ("k", "w", "inside")

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
        inside = math.floor(exp_below(asked) * UNIT)
        if not UNIT < inside < LARGEST_INTEGER:
            raise ParameterError(f"epsilon: must be above 1e-9 and at most 12 for subsets, got {float(asked):g}")
        mechanism = cls(k, w, inside)
        refuse_costly_rounding(float(asked), mechanism.epsilon, f"subsets of {w} out of {k}")
        return mechanism

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> Subset:
        """Subsets of the size, 2 or more, that costs the least."""
        found = []
        for w in range(2, len(answers)) if len(answers) <= LARGEST_K else ():
            with contextlib.suppress(ParameterError):  # integer weights cannot hold this size
                found.append(cls.from_epsilon(len(answers), w, epsilon))
        if not found:
            raise ParameterError(f"epsilon: no subsets of {len(answers)} options can hold it with integer weights")
        return min(found, key=lambda each: each.total_variance)

    @property
    def label(self) -> str:
        return f"subset of {self.w}"

    @cached_property
    def support(self) -> tuple[Support, ...]:
        k, w = self.k, self.w
        p = Fraction(w * self.inside, w * self.inside + (k - w) * UNIT)
        q = (p * (w - 1) + (1 - p) * w) / (k - 1)
        return (Support(p, q),) * k

    @property
    def likelihood_ratio(self) -> Fraction:
        return Fraction(self.inside, UNIT)

    def randomize(self, answer: int, word: Word = system_word) -> str:
        answer = check_answer(answer, range(self.k))
        holding = math.comb(self.k - 1, self.w - 1)
        outside = math.comb(self.k - 1, self.w)
        draw = below(holding * self.inside + outside * UNIT, word)
        if draw < holding * self.inside:
            chosen = [answer, *_skip(answer, unrank(self.k - 1, self.w - 1, draw // self.inside))]
        else:
            chosen = _skip(answer, unrank(self.k - 1, self.w, (draw - holding * self.inside) // UNIT))
        return "".join("1" if option in chosen else "0" for option in range(self.k))

    @cached_property
    def reports(self) -> Bits:
        return Bits(self.k, self.w)

    def untouched(self, answer: int) -> list[int]:
        """The answer, and the first of the other options."""
        members = [answer, *(option for option in range(self.k) if option != answer)][: self.w]
        return [int(option in members) for option in range(self.k)]

    def likelihood(self, supports: NDArray[np.bool_]) -> NDArray[np.float64]:
        import numpy as np

        total = math.comb(self.k - 1, self.w - 1) * self.inside + math.comb(self.k - 1, self.w) * UNIT
        return np.asarray(np.where(supports, float(Fraction(self.inside, total)), float(Fraction(UNIT, total))))

    @property
    def odds(self) -> tuple[str, ...]:
        p, q = (of_100(each) for each in self.support[0])
        return (
            f"Of 100 people who choose an option, about {p} send a set of {self.w} options that holds it; "
            f"of 100 who choose another, about {q} do.",
        )

    def randomize_many(self, answers: ArrayLike, words: Words = system_words) -> NDArray[np.uint8]:
        import numpy as np

        array = check_answers(answers, range(self.k))
        flat = array.ravel()
        reports = np.empty((flat.size, self.k), dtype=np.uint8)
        block = BLOCK // self.k
        for start in range(0, flat.size, block):
            part = slice(start, start + block)
            reports[part] = self._randomize_array(flat[part], words)
        return reports.reshape(*array.shape, self.k)

    def _randomize_array(self, answers: NDArray[np.int64], words: Words) -> NDArray[np.uint8]:
        """Decide whether the truth is in, then go through the others and take each with its exact odds."""
        import numpy as np

        n = answers.size
        rows = np.arange(n)
        members = np.empty((n, self.k), dtype=np.uint8)
        holds = bernoulli(n, self.support[0].if_true, words)
        members[rows, answers] = holds
        needed = self.w - holds.astype(np.int64)
        for position in range(self.k - 1):
            taken = uniform_below(self.k - 1 - position, n, words) < needed
            members[rows, position + (position >= answers)] = taken  # skip over the truth
            needed -= taken
        return members

    def extremes(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The ``w`` lightest options, and the heaviest."""
        import numpy as np

        ordered = np.sort(weights)
        return np.asarray(ordered[:, : self.w].sum(axis=1)), np.asarray(ordered[:, -self.w :].sum(axis=1))

    def feasible(self, counts: Sequence[Count], n: Count) -> tuple[float, ...]:
        # Tallies of supports do not hold the likelihood of whole subsets. Their errors have equal variances and
        # equal correlations, for which the nearest point of the simplex is the most likely one.
        return nearest_on_simplex([float(share) for share in self.shares(counts, n)])

    def score_covariance(self, weights: NDArray[np.float64], supported: ArrayLike) -> NDArray[np.float64]:
        """From the probabilities that a report supports each *pair* of options, which the single ones determine."""
        import numpy as np

        k, w = self.k, self.w
        p, q = (float(each) for each in self.support[0])
        one = p * (w - 1) / (k - 1)  # both in the report when one of the two is the truth
        rest = max((k - 1) * (k - 2), 1)  # of two options the report holds one
        none = (p * (w - 1) * (w - 2) + (1 - p) * w * (w - 1)) / rest
        lam = np.asarray(supported)
        f = (lam - q) / (p - q)
        both = (f[:, None] + f[None, :]) * one + (1 - f[:, None] - f[None, :]) * none
        np.fill_diagonal(both, lam)
        return np.asarray(weights @ (both - np.outer(lam, lam)) @ weights.T)


def unrank(n: int, size: int, rank: int) -> list[int]:
    """The ``rank``-th subset of ``size`` out of ``range(n)`` in lexicographic order.

    >>> [unrank(4, 2, rank) for rank in range(6)]
    [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    """
    chosen = []
    for element in range(n):
        if size == 0:
            break
        with_it = math.comb(n - element - 1, size - 1)
        if rank < with_it:
            chosen.append(element)
            size -= 1
        else:
            rank -= with_it
    return chosen


def _skip(answer: int, others: list[int]) -> list[int]:
    return [other if other < answer else other + 1 for other in others]


def uniform_below(bound: int, n: int, words: Words) -> NDArray[np.int64]:
    """``n`` exactly uniform integers below a bound of at most ``2**16``, by multiplication and rejection [1]_.

    References
    ----------
    .. [1] D. Lemire, "Fast random integer generation in an interval", ACM Transactions on Modeling and Computer
       Simulation 29 (2019).
    """
    import numpy as np

    product = words(n).astype(np.uint64) * np.uint64(bound)
    uneven = UNIT % bound
    if uneven:
        low = product.astype(np.uint32)
        for place in np.flatnonzero(low < uneven):
            value = int(product[place])
            while value % UNIT < uneven:
                value = int(words(1)[0]) * bound
            product[place] = value
    return np.asarray((product >> np.uint64(32)).astype(np.int64))


def bernoulli(n: int, p: Fraction, words: Words) -> NDArray[np.bool_]:
    """``n`` independent draws that are true with exactly the rational probability ``p``."""
    import numpy as np

    scaled = p * 2**64
    threshold = math.floor(scaled)
    drawn = words(2 * n).astype(np.uint32).view(np.uint64)
    true = np.asarray(drawn < np.uint64(threshold))
    for place in np.flatnonzero(drawn == np.uint64(threshold)):  # once in 2**64 the rest of the fraction decides
        true[place] = _bernoulli_rest(scaled - threshold, words)
    return true


def _bernoulli_rest(p: Fraction, words: Words) -> bool:
    while True:
        p *= UNIT
        digit, draw = math.floor(p), int(words(1)[0])
        if draw != digit:
            return draw < digit
        p -= digit

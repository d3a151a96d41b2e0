"""Fixed against fixed: whether what varies by itself varies otherwise for people who give another answer.

Times, order and connections differ from session to session for reasons of their own. So two people go the same way with
the same chance, one after the other, and send the same bytes; they differ in their answers alone, and a coin decides
which of them goes first. If nothing depends on the answers, the sign of each difference between the two is a fair coin,
whatever the distribution and the load of the machine. Of the pairs that differ most, the number in which the first
answer has the larger value is therefore binomial, exactly and for few pairs too (Fisher's sign test, with limits) [1]_.
The family-wise error rate is Bonferroni's over the comparisons that could be significant at all [2]_.

References
----------
.. [1] W. J. Dixon, A. M. Mood, "The statistical sign test", Journal of the American Statistical Association 41 (1946),
   557-566.
.. [2] R. E. Tarone, "A modified Bonferroni method for discrete data", Biometrics 46 (1990), 515-522.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv
from scipy.stats import binom

POWER = 0.9
"""Probability with which a leak of the stated size is found."""

EXTREMES = (24, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512)
"""How many of the pairs that differ most are looked at, beside all of them."""

FEW = 3
"""Largest number of different answers of which all pairs are compared; of more, the two most frequent ones are."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two sessions that differ in their answers alone, in the order in which a coin put them.

    Attributes
    ----------
    answers : tuple of two mappings
    features : tuple of two mappings
        What varies by itself; a feature may be missing.
    """

    answers: tuple[Mapping[str, Any], Mapping[str, Any]]
    features: tuple[Mapping[str, float], Mapping[str, float]]


@dataclass(frozen=True)
class Contrast:
    """One feature between two answers to one question.

    Attributes
    ----------
    feature, question : str
    answers : tuple of str
        Both, as JSON.
    differences : ndarray of float, shape (pairs,)
        In each pair the value under the first answer less the value under the second.
    """

    feature: str
    question: str
    answers: tuple[str, str]
    differences: Floats

    @property
    def comparisons(self) -> list[tuple[int, int]]:
        """Pairs at least so far apart, and those of them in which the first answer has the larger value."""
        # A leak may shift a few pairs far or many a little, so limits from the farthest pairs to all are tried.
        apart = np.sort(np.abs(self.differences[self.differences != 0]))[::-1]
        limits = {float(apart[number - 1]) for number in (*EXTREMES, len(apart)) if 1 <= number <= len(apart)}
        return [
            (int((np.abs(self.differences) >= limit).sum()), int((self.differences >= limit).sum())) for limit in limits
        ]


@dataclass(frozen=True)
class Association:
    """A feature that goes with an answer, and the numbers that say so."""

    contrast: Contrast
    beyond: int
    of_one: int

    def __str__(self) -> str:
        first, second = self.contrast.answers
        return (
            f"Of the {self.beyond} pairs of people that differ most, the one who answered {first} and not {second} has "
            f"the larger value in {self.of_one}; chance alone would make it about half"
        )


@dataclass(frozen=True)
class FeaturePower:
    """What leaks of one feature are found with probability `POWER`.

    Attributes
    ----------
    feature : str
    pairs : int
        Pairs of people who gave the two answers, for the question with the fewest.
    share : float
        The least share of those who give an answer that is found where their values are beyond all others; 1 where
        nothing is.
    shift : float
        The least difference that is found if all who give an answer have it; infinite where nothing is.
    """

    feature: str
    pairs: int
    share: float
    shift: float


@dataclass(frozen=True)
class Contrasts:
    """All comparisons of an audit.

    Attributes
    ----------
    differences : tuple of Association
    tested : int
        Comparisons that could be significant.
    powers : tuple of FeaturePower
        One of each feature.
    """

    differences: tuple[Association, ...]
    tested: int
    powers: tuple[FeaturePower, ...]

    @property
    def least(self) -> float:
        """The least share of those who give an answer that is found, in features that most pairs have."""
        return min((each.share for each in self.powers), default=1.0)


def contrasts_of(pairs: Sequence[Pair]) -> list[Contrast]:
    """Every feature, between two answers to every question."""
    found: list[Contrast] = []
    questions = sorted({name for each in pairs for name in each.answers[0]})
    given = {name: [_written(each, name) for each in pairs] for name in questions}
    for feature in sorted({name for each in pairs for name in each.features[0]}):
        values = np.array([[side.get(feature, np.nan) for side in each.features] for each in pairs], dtype=float)
        apart = values[:, 0] - values[:, 1]
        if not np.nan_to_num(apart).any():
            continue
        for question in questions:
            found += _between(feature, question, given[question], apart)
    return found


def _written(pair: Pair, question: str) -> tuple[str, str] | None:
    """Both answers as JSON; None where this pair was asked something else."""
    one, other = pair.answers
    return (json.dumps(one[question]), json.dumps(other[question])) if question in one else None


def _between(feature: str, question: str, given: Sequence[tuple[str, str] | None], apart: Floats) -> list[Contrast]:
    common = Counter(itertools.chain.from_iterable(filter(None, given))).most_common()
    # All pairs of many answers would cost more in the family-wise level than they find.
    chosen = [each for each, _ in common[: FEW if len(common) <= FEW else 2]]
    found = []
    for first, second in itertools.combinations(chosen, 2):
        signs = np.array([(each == (first, second)) - (each == (second, first)) for each in given])
        differences = (signs * apart)[(signs != 0) & ~np.isnan(apart)]
        found.append(Contrast(feature, question, (first, second), differences))
    return found


def compare(contrasts: Sequence[Contrast], failure: float) -> Contrasts:
    """Which features go with an answer; a faultless client is accused with a probability of at most ``failure``."""
    rows = [(place, *row) for place, each in enumerate(contrasts) for row in each.comparisons]
    if not rows:
        return Contrasts((), 0, ())
    whose, beyond, of_one = np.array(rows).T
    level, tested = _level(beyond, failure)
    # One-sided, both ways: each sign is a fair coin.
    p = np.minimum(binom.sf(of_one - 1, beyond, 0.5), binom.cdf(of_one, beyond, 0.5))
    differences: dict[int, Association] = {}
    for place in sorted(np.flatnonzero(p <= level), key=lambda place: p[place]):
        contrast = int(whose[place])
        found = Association(contrasts[contrast], int(beyond[place]), int(of_one[place]))
        differences.setdefault(contrast, found)
    return Contrasts(tuple(differences.values()), tested, _powers(contrasts, level))


def _powers(contrasts: Sequence[Contrast], level: float) -> tuple[FeaturePower, ...]:
    by_feature: dict[str, list[Contrast]] = defaultdict(list)
    for each in contrasts:
        by_feature[each.feature].append(each)
    found = []
    for feature, some in by_feature.items():
        # The question of which the fewest people differ decides what is said of the feature.
        fewest = min(some, key=lambda each: len(each.differences))
        n = len(fewest.differences)
        found.append(FeaturePower(feature, n, least_share(n, level), least_shift(fewest.differences, level)))
    return tuple(found)


def least_share(n: int, level: float) -> float:
    """The least share of those who give an answer that is found in ``n`` pairs, where it is beyond all others."""
    for number in EXTREMES:
        if number <= n and 0.5**number <= level:
            # So many leaks at least, with probability `POWER`: a binomial tail, solved for its probability.
            return float(betaincinv(number, n - number + 1, POWER))
    return 1.0


def least_shift(differences: Floats, level: float) -> float:
    """The least shift that is found by the signs of all pairs, if all who give an answer have it."""
    n = len(differences)
    needed = int(binom.isf(level, n, 0.5)) + 1
    if needed >= n:
        return math.inf
    # The probability of the likelier sign with which at least so many pairs have it, with probability `POWER`.
    likelier = float(betaincinv(needed, n - needed + 1, POWER))
    # Without a leak differences are symmetric: one of them exceeds -x with probability 1/2 + P(|d| < x) / 2.
    sizes = np.abs(differences)
    # Where most pairs are alike, the least difference that there is does.
    return float(max(np.quantile(sizes, 2 * likelier - 1), sizes[sizes > 0].min(initial=math.inf)))


def _level(beyond: NDArray[np.int64], failure: float) -> tuple[float, int]:
    """The level of a one-sided comparison, and how many there are: those that cannot reach it do not count (Tarone)."""
    # The smallest p-value that a comparison can have: all signs alike.
    ordered = np.sort(0.5 ** beyond.astype(float))
    low, high = 1, len(ordered)
    while low < high:
        middle = (low + high) // 2
        # Tarone: the least K for which at most K comparisons can reach failure / (2 K), each of them both ways.
        if np.searchsorted(ordered, failure / (2 * middle), side="right") <= middle:
            high = middle
        else:
            low = middle + 1
    return failure / (2 * low), low

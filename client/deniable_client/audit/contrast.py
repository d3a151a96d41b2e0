"""Fixed against fixed: whether what varies by itself varies otherwise for people who give another answer.

Times, order and connections differ from session to session for reasons of their own. Answers are drawn at random, so
given everything that was seen, who gave which of two answers is a draw without replacement: the number of them among
the sessions with the largest values is hypergeometric, exactly and for few sessions too. Each feature is compared
between two answers at several numbers of largest and of smallest values. The family-wise error rate is Bonferroni's
over the comparisons that could be significant at all [1]_.

References
----------
.. [1] R. E. Tarone, "A modified Bonferroni method for discrete data", Biometrics 46 (1990), 515-522.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter
from scipy.special import betaincinv, gammaln
from scipy.stats import hypergeom

POWER = 0.9
"""Probability with which a leak of the stated size is found."""

EXTREMES = range(4, 129, 4)
"""How many of the largest, and of the smallest, values are compared."""

FEW = 3
"""Largest number of different answers of which all pairs are compared; of more, the two most frequent ones are."""

NEIGHBOURS = 25
"""Number of sessions around one, itself included, whose median is what it would have had at its time."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Contrast:
    """One feature between two answers to one question.

    Attributes
    ----------
    feature, question : str
    answers : tuple of str
        Both, as JSON.
    is_one : ndarray of bool, shape (n,)
        Which sessions gave the first of them.
    values : ndarray of float, shape (n,)
        The feature, in units of how much it varies within a history.
    """

    feature: str
    question: str
    answers: tuple[str, str]
    is_one: NDArray[np.bool_]
    values: Floats

    @property
    def comparisons(self) -> Floats:
        """Sessions beyond each limit, those of the first answer among them, all, all of the first; shape (m, 4)."""
        n, one = len(self.values), int(self.is_one.sum())
        ordered = np.sort(self.values)
        # A leak may shift a few sessions far or many a little, so limits from four sessions to half of all are tried.
        numbers = [number for number in (*EXTREMES, n // 4, n // 2) if 1 <= number <= n // 2]
        rows = []
        for limit in {float(ordered[n - number]) for number in numbers}:
            rows.append(self.values >= limit)
        for limit in {float(ordered[number - 1]) for number in numbers}:
            rows.append(self.values <= limit)
        found = [(beyond.sum(), (beyond & self.is_one).sum(), n, one) for beyond in rows if 0 < beyond.sum() < n]
        return np.array(found, dtype=float).reshape(-1, 4)


@dataclass(frozen=True)
class Association:
    """A feature that goes with an answer, and the numbers that say so."""

    contrast: Contrast
    beyond: int
    of_one: int

    def __str__(self) -> str:
        n, one = len(self.contrast.values), int(self.contrast.is_one.sum())
        first, second = self.contrast.answers
        return (
            f"Of the {self.beyond} sessions with the most extreme values {self.of_one} answered {first} and "
            f"{self.beyond - self.of_one} answered {second}, of {one} and {n - one}"
        )


@dataclass(frozen=True)
class Contrasts:
    """All comparisons of an audit.

    Attributes
    ----------
    differences : tuple of Association
    tested : int
        Comparisons that could be significant.
    least : float
        The least share of those who give an answer that is found with probability `POWER`, where their values are
        beyond all others; the median over contrasts, and 1 where nothing is.
    """

    differences: tuple[Association, ...]
    tested: int
    least: float


def contrasts_of(
    answers: Sequence[Mapping[str, Any]], histories: Sequence[str], features: Sequence[Mapping[str, float]]
) -> list[Contrast]:
    """Every feature of some sessions, between two answers to every question.

    Parameters
    ----------
    answers : sequence of mapping, length n
        What each session answered.
    histories : sequence of str, length n
        Values are put on one scale within a history, whose sessions stand in the order of their times. The answers of
        all histories come from one distribution.
    features : sequence of mapping, length n
        The values; a feature may be missing.
    """
    found: list[Contrast] = []
    written = [{name: json.dumps(value) for name, value in each.items()} for each in answers]
    for feature in sorted({name for each in features for name in each}):
        having = [place for place, each in enumerate(features) if feature in each]
        values = _standardised([features[place][feature] for place in having], [histories[place] for place in having])
        if values.min() == values.max():
            continue
        for question in sorted(written[0]):
            given = [written[place][question] for place in having]
            found += _pairs(feature, question, given, values)
    return found


def _pairs(feature: str, question: str, given: Sequence[str], values: Floats) -> list[Contrast]:
    common = Counter(given).most_common()
    # All pairs of many answers would cost more in the family-wise level than they find.
    pairs = itertools.combinations([each for each, _ in common[: FEW if len(common) <= FEW else 2]], 2)
    own = np.array(given)
    found = []
    for pair in pairs:
        chosen = np.isin(own, pair)
        found.append(Contrast(feature, question, pair, own[chosen] == pair[0], values[chosen]))
    return found


def _standardised(values: Sequence[float], histories: Sequence[str]) -> Floats:
    """Values less the median of their neighbours in their history, over its interquartile range.

    Sessions come in the order in which they were lived, so the load of the machine, which changes slowly, falls out.
    What is far off stays far off. No answer goes into it, so which answer the largest values have stays a matter of
    chance.
    """
    own, names = np.array(values, dtype=float), np.array(histories)
    for name in set(histories):
        some = names == name
        level = own[some] - median_filter(own[some], NEIGHBOURS, mode="nearest")
        # Quartiles and not moments: one slow session must not hide what is common to the others.
        low, high = np.quantile(level, (0.25, 0.75))
        own[some] = level / ((high - low) or 1)
    return own


def compare(contrasts: Sequence[Contrast], failure: float) -> Contrasts:
    """Which features go with an answer; a faultless client is accused with a probability of at most ``failure``."""
    rows = [each.comparisons for each in contrasts]
    if not rows or not sum(map(len, rows)):
        return Contrasts((), 0, 1.0)
    whose = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
    beyond, of_one, n, one = np.concatenate(rows).T
    level, tested = _level(_least_p(beyond, n, one), failure)
    # No tail is below its first term, so most comparisons need no sum.
    suspicious = np.flatnonzero(_log_pmf(of_one, n, one, beyond) <= math.log(level))
    differences: dict[int, tuple[float, Association]] = {}
    for place in suspicious:
        numbers = (n[place], one[place], beyond[place])
        # One-sided, both ways: with the margins fixed, the sessions beyond are drawn without replacement from all.
        p = min(hypergeom.sf(of_one[place] - 1, *numbers), hypergeom.cdf(of_one[place], *numbers))
        contrast = int(whose[place])
        if p <= level and p < differences.get(contrast, (1.0,))[0]:
            differences[contrast] = p, Association(contrasts[contrast], int(beyond[place]), int(of_one[place]))
    shares = [least_share(int(each.is_one.sum()), len(each.values), level) for each in contrasts]
    return Contrasts(tuple(each for _, each in differences.values()), tested, float(np.median(shares)))


def least_share(one: int, n: int, level: float) -> float:
    """The least share of ``one`` of ``n`` sessions that is found where their values are beyond all others."""
    for number in EXTREMES:
        if number <= min(one, n // 2) and _log_pmf(number, n, one, number) <= math.log(level):
            # So many leaks at least, with probability `POWER`: a binomial tail, solved for its probability.
            return float(betaincinv(number, one - number + 1, POWER))
    return 1.0


def _level(least: Floats, failure: float) -> tuple[float, int]:
    """The level of a one-sided comparison, and how many there are: those that cannot reach it do not count (Tarone)."""
    ordered = np.sort(least)
    low, high = 1, len(ordered)
    while low < high:
        middle = (low + high) // 2
        # Tarone: the least K for which at most K comparisons can reach failure / (2 K), each of them both ways.
        if np.searchsorted(ordered, failure / (2 * middle), side="right") <= middle:
            high = middle
        else:
            low = middle + 1
    return failure / (2 * low), low


def _least_p(beyond: Floats, n: Floats, one: Floats) -> Floats:
    """The smallest p-value that a comparison can have: all or none of those beyond the limit gave the first answer."""
    # The ends of the hypergeometric distribution.
    most, fewest = np.minimum(beyond, one), np.maximum(0, beyond + one - n)
    return np.asarray(np.exp(np.minimum(_log_pmf(most, n, one, beyond), _log_pmf(fewest, n, one, beyond))))


def _log_pmf(of_one: Any, n: Any, one: Any, beyond: Any) -> Any:
    """Logarithm of the hypergeometric probability."""
    return _log_choose(one, of_one) + _log_choose(n - one, beyond - of_one) - _log_choose(n, beyond)


def _log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)

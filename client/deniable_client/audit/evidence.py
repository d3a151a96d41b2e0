"""Statistics of an audit: departures of reports from a published channel, and a lower bound on the real epsilon.

Every test compares a count with the probability that it has if the client is faultless, known from the mechanism's
integers or, for what must not be related at all, from the margins of a table. A count ``x`` of ``n`` with probability
``p`` is as far off as it is with probability at most ``exp(-n KL(x / n, p))``, on either side, whether ``n`` is drawn
with replacement (Chernoff) or without (Hoeffding) [1]_. So levels hold exactly, for small counts too, and a Bonferroni
correction over all tests keeps the probability that a faultless client is accused below `FAILURE`.

The bound on epsilon is that of Ding et al. [2]_: every event ``S`` gives ``epsilon >= ln P(S | x) / P(S | y)``; answers
and event are chosen on one half of the reports and measured on the other, with Clopper-Pearson limits.

References
----------
.. [1] W. Hoeffding, "Probability inequalities for sums of bounded random variables", Journal of the American
   Statistical Association 58 (1963), 13-30, theorems 1 and 4.
.. [2] Z. Ding, Y. Wang, G. Wang, D. Zhang, D. Kifer, "Detecting violations of differential privacy", CCS 2018, 475-489.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, rel_entr

from deniable.errors import DeniableError

FAILURE = 1e-6
"""Significance level of a whole audit: the probability that a faultless client is accused."""

FOUND = 0.999
"""Power: the probability of finding a leak of the size that an audit says it would find."""

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


class AuditFailed(DeniableError):
    """Reports tell more about an answer than their survey declares."""


@dataclass(frozen=True)
class Finding:
    """The evidence that reports give about the answer to one question.

    Attributes
    ----------
    question : str
    declared : float
        Published epsilon of one report to the question, in nats.
    bound : float
        Lower confidence limit of the real epsilon.
    event : str
        The event that reveals the answer most.
    moved : float
        A report whose probability under an answer is larger than published by this much is found with probability
        `FOUND`, for every report and answer.
    fault : str or None
        The first value whose probability departs from the published one, or None.
    """

    question: str
    declared: float
    bound: float
    event: str
    moved: float
    fault: str | None

    @property
    def passed(self) -> bool:
        """Whether reports come as published and the bound stays at or below the declared epsilon."""
        return self.fault is None and self.bound <= self.declared


@dataclass(frozen=True)
class Check:
    """The test of one property of all reports: the fault that was found, or None, and the power of the test."""

    name: str
    fault: str | None
    power: str


@dataclass(frozen=True)
class Audit:
    """Everything that an audit of one client found."""

    findings: tuple[Finding, ...]
    checks: tuple[Check, ...]
    draws: int

    @property
    def faults(self) -> tuple[str, ...]:
        """The names of questions and checks that failed."""
        return (
            *(finding.question for finding in self.findings if not finding.passed),
            *(check.name for check in self.checks if check.fault),
        )


@dataclass(frozen=True)
class CellCounts:
    """Counts with their probabilities in the reports of a faultless client; arrays of one shape.

    Attributes
    ----------
    counts, n : ndarray of int
        Numbers of successes, each in ``n`` draws, with or without replacement.
    p : ndarray of float
        Probabilities of success.
    """

    counts: Counts
    n: Counts
    p: Floats

    @classmethod
    def of_table(cls, table: Counts) -> CellCounts:
        """The cells of tables, shape (..., rows, columns), whose rows and columns must be independent."""
        rows, columns = table.sum(-1, keepdims=True), table.sum(-2, keepdims=True)
        # Given its margins, a cell of an independent table is hypergeometric, to which Hoeffding's bound applies too.
        p = columns / np.maximum(columns.sum(-1, keepdims=True), 1)
        return cls(table, np.broadcast_to(rows, table.shape), np.broadcast_to(p, table.shape))

    def log_p(self) -> Floats:
        """Upper bounds of the logarithms of one-sided p-values."""
        x = self.counts / np.maximum(self.n, 1)
        # Chernoff's bound: P(X/n beyond x) <= exp(-n KL(x, p)), which needs no normal approximation at 1e-6.
        return -self.n * _divergence(x, self.p)

    def worst(self, log_level: float) -> tuple[int, ...] | None:
        """The index of the count with the smallest p-value, if that is below the level."""
        log_p = self.log_p()
        if not log_p.size:
            return None
        place = np.unravel_index(np.argmin(log_p), log_p.shape)
        return tuple(int(each) for each in place) if log_p[place] < log_level else None

    def power(self, log_level: float) -> Floats:
        """The smallest rise of each probability that is found with probability `FOUND`; see `smallest_rise`."""
        return smallest_rise(self.n, self.p, log_level)


def log_level(failure: float, tests: int) -> float:
    """The logarithm of the level of one of many two-sided tests."""
    # Bonferroni, and a half for each side; as a logarithm, because it is compared with Chernoff's exponent.
    return math.log(failure / (2 * max(tests, 1)))


def smallest_rise(n: ArrayLike, p: ArrayLike, level: float) -> Floats:
    """The rise of a probability that is found with probability `FOUND`.

    Parameters
    ----------
    n, p : array_like
        Draws, and the probability of a faultless client.
    level : float
        Logarithm of the level.

    Returns
    -------
    ndarray
        The smallest ``x`` so that a binomial count of probability ``p + x`` reaches the first count that is refused
        with probability `FOUND`; ``inf`` where no count is refused.

    Notes
    -----
    The first refused count ``c`` solves ``n KL(c / n, p) = -level``; the probability that a count of probability ``r``
    reaches it is the incomplete beta function ``I_r(c, n - c + 1)``, inverted exactly.
    """
    n, p = (each.astype(float) for each in np.broadcast_arrays(np.asarray(n), np.asarray(p)))
    low, high = n * p, n.copy()
    # 40 halvings leave 1e-12 of the range, far less than one count.
    for _ in range(40):
        middle = (low + high) / 2
        x = middle / np.maximum(n, 1)
        refused = n * _divergence(x, p) > -level
        low, high = np.where(refused, low, middle), np.where(refused, middle, high)
    # The first whole count beyond the limit.
    first = np.minimum(np.floor(high) + 1, n)
    # KL(1, p) = -log p: if even n of n is not refused, no rise is found.
    possible = n * np.log(np.maximum(p, 1e-300)) < level
    # The p for which P(Bin(n, p) >= first) = FOUND, by the beta distribution of order statistics.
    rise = betaincinv(np.maximum(first, 1), n - first + 1, FOUND) - p
    return np.asarray(np.where(possible & (n > 0), rise, np.inf))


def _divergence(x: Floats, p: Floats) -> Floats:
    """Kullback-Leibler divergence of two Bernoulli distributions, in nats; 1e300 where it is infinite."""
    return np.asarray(np.minimum(rel_entr(x, p) + rel_entr(1 - x, 1 - p), 1e300))


def log_ratio_below(hits_x: int, n_x: int, hits_y: int, n_y: int, level: float) -> float:
    """A lower limit of ``ln P(S|x) / P(S|y)``, each Clopper-Pearson limit missed with probability ``level``."""
    if hits_x == 0:
        return -math.inf
    # Clopper and Pearson: the lower limit of the likelier answer over the upper one of the other.
    low = float(betaincinv(hits_x, n_x - hits_x + 1, level))
    high = 1.0 if hits_y == n_y else float(betaincinv(hits_y + 1, n_y - hits_y, 1 - level))
    return math.log(low / high) if low > 0 else -math.inf


@dataclass(frozen=True)
class Event:
    """Values of a feature that are likelier under one answer than under another: places in a table of counts."""

    gain: float
    likelier: int
    other: int
    values: tuple[int, ...]


def telling_event(table: Counts, level: float) -> Event | None:
    """The two answers and the set of values with the largest lower limit of their ratio, by normal limits.

    Parameters
    ----------
    table : ndarray of int, shape (answers, values)
    level : float
        Significance level, as for `log_ratio_below`, which bounds the ratio of the chosen event on other reports.
    """
    totals = table.sum(1)
    # exp(-z^2 / 2) bounds a normal tail; this only selects the event, it measures nothing.
    z = math.sqrt(-2 * math.log(level))
    best: Event | None = None
    for answer in np.flatnonzero(totals):
        # Neyman-Pearson: for two answers the best event holds the values with the largest likelihood ratios.
        order = np.argsort((table + 0.5) / (table[answer] + 0.5), axis=1, kind="stable")
        here = np.cumsum(table[answer][order], axis=1)
        there = np.cumsum(np.take_along_axis(table, order, axis=1), axis=1)
        # Normal limits of Poisson counts, the upper one as the root of (there - m)^2 = z^2 m.
        low = here - z * np.sqrt(here)
        high = there + z * np.sqrt(there + z * z / 4) + z * z / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.log(low / totals[answer] * totals[:, None] / high)
        gain = np.where((low > 0) & (totals[:, None] > 0), gain, -np.inf)
        other, last = np.unravel_index(np.argmax(gain), gain.shape)
        if gain[other, last] > (best.gain if best else -math.inf):
            values = tuple(int(value) for value in order[other, : last + 1])
            best = Event(float(gain[other, last]), int(answer), int(other), values)
    return best


def measured(table: Counts, event: Event, level: float) -> float:
    """The lower bound on epsilon that an event gives on a table."""
    values = list(event.values)
    hits = table[:, values].sum(1)
    totals = table.sum(1)
    sides = (event.likelier, event.other)
    (hits_x, n_x), (hits_y, n_y) = ((int(hits[side]), int(totals[side])) for side in sides)
    return log_ratio_below(hits_x, n_x, hits_y, n_y, level) if n_y else -math.inf

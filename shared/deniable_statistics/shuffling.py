"""What shuffling is worth: the epsilon of one report among others, of which nobody knows the sender.

A report of epsilon ``e`` that arrives in a batch of ``n``, in random order and without anything that tells the reports
apart, hides among the others. Whoever sees the batch, and knows every other person's true answer, learns at most
``(amplified epsilon, delta)``: the odds of a guess change by at most ``exp(amplified epsilon)``, except with
probability ``delta``. This holds only where the shuffler and whoever reads the batch do not work together.

References
----------
V. Feldman, A. McMillan, K. Talwar, "Stronger privacy amplification by shuffling for Renyi and approximate differential
privacy", SODA 2023, 4966-4981.
S. Wang et al., "Privacy amplification via shuffling: unified, simplified, and tightened", arXiv:2304.05007 (2023).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Real

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve
from scipy.stats import binom

from deniable.errors import ParameterError, check_kind, describe
from deniable.mechanisms import Mechanism
from deniable.privacy.ledger import as_loss
from deniable_statistics.designs.channels import ExactChannel, channel_of
from deniable_statistics.risk import likelihood_ratio

LEAST_DELTA = 1e-12
"""Smallest delta; below it, floating-point tails have too few digits."""

MOST_REPORTS = 10**7
"""Largest batch; the bound takes time and memory in proportion to the square root of its size, here some seconds."""

LARGEST_EPSILON = 12.0
"""Largest epsilon of one report that is computed with, in nats; mechanisms publish no larger one."""

MOST_ANSWERS = 256
"""Largest number of answers whose pairs are compared; of more, the variation is bounded by epsilon alone."""

RARE = 1e-15
"""Probability of a tail that is left out of a distribution, and counted as if it told everything."""

TRIED = 600
"""Largest number of answers of the others that are tried for the worst one."""

Floats = NDArray[np.float64]

STEPS = 60
"""Number of bisections of an interval of epsilon, after which its ends differ by rounding alone."""


def shuffled_epsilon(
    epsilon: float, n: int, delta: float, variation: float | None = None, whole: float | None = None
) -> float:
    """An upper bound on the epsilon of one report in a shuffled batch, for any mechanism.

    Parameters
    ----------
    epsilon : float
        Privacy loss of the report by itself, in nats.
    n : int
        Number of reports in the batch, this one included.
    delta : float
        Probability with which the bound may fail, at least `LEAST_DELTA` and below 1.
    variation : float, optional
        The largest total variation distance between the reports of two answers (`total_variation`). By default the
        largest that the epsilon allows, ``tanh(epsilon / 2)``: that is the stronger clone of Feldman et al.
    whole : float, optional
        Privacy loss of all that a report says, where ``epsilon`` is that of a part; by default ``epsilon``. Answers
        that somebody knows already tell which of the others' reports cannot be the person's, so a part hides less.

    Returns
    -------
    float
        At most ``epsilon``, in nats, rounded up to the precision of floating point.

    Notes
    -----
    The variation-ratio reduction of Wang et al.: with ``p = exp(epsilon)`` and ``a = variation / (p - 1)``, whoever
    knows all other true answers tells two answers of one person apart no better than the two pairs
    ``(A + D, C - A + E)`` and ``(A + E, C - A + D)``. Here ``C ~ Bin(n - 1, 2 a p / exp(whole))`` others hide the
    person, ``A ~ Bin(C, 1/2)``, and ``(D, E)`` is ``(1, 0)``, ``(0, 1)``, ``(0, 0)`` with probabilities ``p a``, ``a``
    and ``1 - a - p a``.

    Examples
    --------
    >>> round(shuffled_epsilon(1.0, 1000, 1e-6), 3)
    0.149
    """
    loss = as_loss(epsilon)
    _check(n, delta)
    if loss == 0 or loss > LARGEST_EPSILON or n == 1:
        return loss
    # (e^eps - 1) / (e^eps + 1), the total variation that epsilon alone allows: reached by Warner's coin.
    most = math.tanh(loss / 2)
    beta = most if variation is None else variation
    # A float may pass the exact bound by rounding.
    if not 0 <= beta <= most * (1 + 1e-9):
        raise ParameterError(f"variation: must be from 0 to tanh(epsilon / 2) = {most:.6g}, got {variation}")
    all_of_it = loss if whole is None else as_loss(whole)
    if all_of_it < loss:
        raise ParameterError(f"whole: must be at least epsilon = {loss:g}, got {whole}")
    if beta == 0:
        return 0.0
    # Where others have the person's reports with probability 0, as floats go, they hide nobody.
    crowd = math.exp(loss - min(all_of_it, 700.0))
    return _smallest(lambda each: _divergence_of_clones(loss, n, min(beta, most), crowd, each), loss, delta)


def shuffled_two_options(channel: ExactChannel, n: int, delta: float) -> float:
    """The exact epsilon of one yes-no report in a shuffled batch, against who knows all other true answers.

    Parameters
    ----------
    channel : shape (2, 2)
        ``channel[v][x]``: probability of the report ``v`` under the answer ``x``.
    n : int
        Number of reports in the batch, this one included.
    delta : float
        Probability with which the bound may fail, at least `LEAST_DELTA` and below 1.

    Notes
    -----
    A shuffled batch of two kinds of reports is their count: ``Bernoulli(channel[1][x])`` of the person and, where
    ``k`` of the others' answers are 1, ``Bin(k, channel[1][1]) + Bin(n - 1 - k, channel[1][0])`` of the others. The
    largest hockey-stick divergence of the two counts, in both directions, is that of the worst ``k``, which is near
    one of the ends: nearly all others gave the same answer. Every ``k`` is tried where there are up to `TRIED`; in
    larger batches the ones nearest to both ends, and some between.

    Examples
    --------
    >>> from deniable import Warner
    >>> channel = channel_of(Warner.from_epsilon(1))
    >>> round(shuffled_two_options(channel, 200, 1e-6), 3)
    0.318
    """
    _check(n, delta)
    loss = _log(likelihood_ratio(channel))
    if loss == 0 or loss > LARGEST_EPSILON or n == 1:
        return loss
    low, high = float(channel[1][0]), float(channel[1][1])
    found = 0.0
    for ones in _numbers_of_ones(n - 1):
        others = _others(n - 1, ones, low, high)
        # The person's own report added to those of the others, under both answers.
        counts = np.convolve(others, [1 - low, low]), np.convolve(others, [1 - high, high])

        def divergence(epsilon: float, counts: tuple[Floats, Floats] = counts) -> float:
            return _divergence(*counts, epsilon)

        # The divergence falls in epsilon, so only a worse number of ones needs a search.
        if divergence(found) > delta:
            found = _smallest(divergence, loss, delta, found)
    return found


def shuffled_of(mechanism: Mechanism, n: int, delta: float) -> float:
    """The epsilon of a report of one question in a shuffled batch: exact for two options, otherwise an upper bound.

    >>> from deniable import KAry
    >>> round(shuffled_of(KAry.from_epsilon(k=5, epsilon=1), 1000, 1e-6), 3)
    0.108
    """
    check_kind(mechanism, Mechanism, "mechanism")
    if mechanism.reports.supports_one and mechanism.reports.size == 2 == len(mechanism.answer_range):
        return shuffled_two_options(channel_of(mechanism), n, delta)
    return shuffled_epsilon(mechanism.epsilon, n, delta, total_variation(mechanism))


def total_variation(mechanism: Mechanism) -> float | None:
    """The largest total variation distance between the reports of any two answers; None where it is not worked out.

    Notes
    -----
    Where a report is one option, the channel holds the probabilities of the reports themselves. Of subsets of one size
    those that hold the one answer and not the other weigh more: the distance is the probability of an option under its
    own truth less that under another, ``C(k - 2, w - 1) (inside - 2**32)`` out of the total weight.
    """
    reports = mechanism.reports
    is_of_one_size = getattr(reports, "ones", None) is not None
    if not (reports.supports_one or is_of_one_size) or len(mechanism.answer_range) > MOST_ANSWERS:
        return None
    channel = channel_of(mechanism)
    if is_of_one_size:
        # Sets of one size: the chance of holding the truth less that of holding another option is the distance.
        return float(channel[0][0] - channel[0][1])
    columns = np.array(list(zip(*channel, strict=True)), dtype=float)
    return float(max(np.abs(columns - column).sum(axis=1).max() for column in columns) / 2)


def _check(n: int, delta: float) -> None:
    if type(n) is not int or not 1 <= n <= MOST_REPORTS:
        raise ParameterError(f"n: must be an integer from 1 to {MOST_REPORTS:,}, got {describe(n)}")
    check_kind(delta, Real, "delta")
    if not LEAST_DELTA <= delta < 1:
        raise ParameterError(f"delta: must be from {LEAST_DELTA:g} to below 1, got {delta}")


def _smallest(divergence: Callable[[float], float], largest: float, delta: float, least: float = 0.0) -> float:
    """The smallest epsilon from ``least`` to ``largest`` at which a falling divergence is at most delta, from above."""
    low, high = least, largest
    if divergence(low) <= delta:
        return low
    for _ in range(STEPS):
        middle = (low + high) / 2
        if divergence(middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def _numbers_of_ones(others: int) -> list[int]:
    """How many of the others' answers are 1: all numbers there can be, or those at the ends and some between."""
    if others < TRIED:
        return list(range(others + 1))
    # The worst number mostly lies near an end, where the others are most alike; a grid covers the rest.
    third = TRIED // 3
    between = range(third, others - third, (others - 2 * third) // third)
    return [*range(third), *between, *range(others - third, others + 1)]


def _others(others: int, ones: int, low: float, high: float) -> Floats:
    """The distribution of the count of the others' reports of 1, without the tails that nothing depends on."""
    parts: list[Floats] = []
    for size, probability in ((ones, high), (others - ones, low)):
        first, last = _bulk(size, probability)
        parts.append(np.asarray(binom.pmf(np.arange(first, last + 1), size, probability)))
    # The Fourier transform is faster; its error is that of floating point, relative to the largest probability.
    return np.maximum(0.0, fftconvolve(parts[0], parts[1]))


def _bulk(size: int, probability: float) -> tuple[int, int]:
    """The first and last count of a binomial beyond which are tails of `RARE`."""
    return int(binom.ppf(RARE, size, probability)), int(binom.isf(RARE, size, probability))


def _divergence(one: Floats, other: Floats, epsilon: float) -> float:
    """The larger hockey-stick divergence ``sum max(0, P - exp(epsilon) Q)`` of two distributions, from above."""
    growth = math.exp(epsilon)
    # Eight tails are left out at most: two of each of two binomials, in each of the two distributions.
    return 8 * RARE + max(
        float(np.maximum(0.0, one - growth * other).sum()), float(np.maximum(0.0, other - growth * one).sum())
    )


def _divergence_of_clones(loss: float, n: int, variation: float, crowd: float, epsilon: float) -> float:
    """The hockey-stick divergence of the two pairs in the notes of `shuffled_epsilon`, from above.

    ``crowd`` is ``p / exp(whole)``.
    """
    p, growth = math.exp(loss), math.exp(epsilon)
    # The part of a report in which two answers differ: p a for the one, a for the other.
    a = variation / (p - 1)
    hide = 2 * a * crowd
    rest = max(0.0, 1 - a - p * a)
    # t = C + D + E, the sum of each pair. Sums that are rarer than delta by far count as if they told everything.
    least, most = _bulk(n - 1, hide)
    t = np.arange(least, most + 2)
    with_one, without = binom.pmf(t - 1, n - 1, hide), binom.pmf(t, n - 1, hide)
    # The first member x of the pair, given t: P - growth Q is positive from this x on, by the ratios of Bin(t, 1/2).
    # Where t has no room for D or E, no x is reached: the start is above t.
    silent = np.divide(rest * without, 2 * a * with_one, out=np.full(len(t), 1e300), where=with_one > 0)
    start = np.maximum(t, 1) * ((growth - 1) * silent + growth * p - 1) / ((p - 1) * (growth + 1))
    x = np.ceil(np.minimum(start, t + 1)) - 1
    others = np.maximum(t - 1, 0)
    gained = a * with_one * ((p - growth) * binom.sf(x - 1, others, 0.5) + (1 - growth * p) * binom.sf(x, others, 0.5))
    lost = (growth - 1) * rest * without * binom.sf(x, t, 0.5)
    return float(np.maximum(0.0, gained - lost).sum()) + 2 * RARE


def _log(ratio: Fraction | float) -> float:
    return math.log(ratio) if ratio != math.inf else math.inf


__all__ = [
    "shuffled_epsilon",
    "shuffled_of",
    "shuffled_two_options",
    "total_variation",
]

"""The rows of `Piecewise` and `FilteredPiecewise` with the least noise, by a linear program when it is written."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.exact import LARGEST_LOSS, exp_below
from deniable.mechanisms.knots import MOST_KNOTS, MOST_REPORTS
from deniable.randomness import UNIT
from deniable_statistics.designs.knot_weights import shares_of_knots
from deniable_statistics.special.linear_program import minimum

Floats = NDArray[np.float64]

ENOUGH = 1.03
"""Ratio of the noise to the optimum that is accepted, with as few knots and reports as reach it."""

NEGLIGIBLE = 1e-6
"""Probability below which reports are dropped; the solver's tolerance is a tenth of it.

Knots are dropped where no slope changes by more than ten times as much.
"""

LEAST_SINGULAR = 1e-3
"""Least singular value of the rows: below it the estimator would depend on how they are rounded."""


class PiecewiseRows(NamedTuple):
    """The published parameters of `Piecewise`, for the answers 0, 1 and up."""

    knots: tuple[int, ...]
    weights: tuple[int, ...]
    slopes: tuple[tuple[int, ...], ...]


class FilteredRows(NamedTuple):
    """The published parameters of `FilteredPiecewise`, for the answers 0, 1 and up, and *does not apply*."""

    knots: tuple[int, ...]
    weights: tuple[int, ...]
    slopes: tuple[tuple[int, ...], ...]
    others: tuple[int, ...]


@functools.lru_cache(maxsize=128)
def least_noise(steps: int, epsilon: Fraction) -> PiecewiseRows:
    """The rows for the answers 0 to ``steps`` whose epsilon is at most ``epsilon``, and at least 99 % of it.

    Raises
    ------
    ParameterError
        If 32-bit weights cannot hold any.

    Notes
    -----
    With the answers scaled to ``x`` in [-1, 1], outputs ``v`` and ``E = exp(epsilon)``: find probabilities ``P(v|x)``
    between ``l(v)`` and ``E l(v)`` with ``sum_v P(v|x) = 1`` and ``sum_v v P(v|x) = x`` of the least mean
    ``sum_v v^2 P(v|x)`` over all ``x``. That is a linear program in ``P`` and ``l`` for given outputs. The closer
    these lie, the nearer its optimum comes to that of all unbiased channels of this epsilon [1]_.

    Here ``x`` are a few knots and the outputs a few that are moved to where they serve best: even ones first, closer or
    further apart; then each gives way to three, which the program weighs and their mean replaces. As soon as the noise
    is near what many knots and many outputs reach (`ENOUGH`), these few are taken.

    References
    ----------
    .. [1] P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", Journal of Machine
       Learning Research 17 (2016), 1-51: what is best of all channels is found by linear programs.
    """
    bound = exp_below(epsilon)
    # A little less than exp(epsilon), so that rounding the solver's solution finds room within the exact bound.
    ratio = float(bound) * (1 - 1e-12)
    refusal = ParameterError(
        f"epsilon: {float(epsilon):g} over a range of {steps} cannot be held by 32-bit weights; "
        "take a shorter range or more epsilon"
    )
    # To the digits of `optimal_noise` such a ratio is 1: no information, whose noise is infinite.
    if _in_six_digits(ratio) <= 1:
        raise refusal
    # What many knots and outputs reach is the yardstick for few.
    reached = ENOUGH * optimal_noise(steps, ratio)
    found: list[tuple[float, PiecewiseRows]] = []
    for line, outputs in _sizes(steps, ratio, reached):
        channel = _few_outputs(line, outputs, ratio)
        made = _rounded(channel, bound) if channel is not None else None
        if made is None or not _keeps(made, epsilon):
            continue
        found.append((_noise_of(made), made))
        if found[-1][0] <= reached:
            break
    if not found:
        raise refusal
    return min(found, key=lambda each: each[0])[1]


@functools.lru_cache(maxsize=128)
def least_noise_of_some(steps: int, epsilon: Fraction) -> FilteredRows:
    """The rows for the answers 0 to ``steps`` and for *does not apply*, whose epsilon is at most ``epsilon``.

    They are those of `least_noise` with one report more; see `deniable.mechanisms.FilteredPiecewise`.

    Raises
    ------
    ParameterError
        If 32-bit weights cannot hold any.
    """
    bound = exp_below(epsilon)
    ratio = float(bound) * (1 - 1e-12)
    plain = least_noise(steps, epsilon)
    p = _at_knots(plain)
    largest = p.max(axis=0)
    # a = (E - S) / (E^2 - S): what is left beside E a where it does not apply, 1 - E a, is (1 - a) S / E, the least.
    own = (ratio - largest.sum()) / (ratio**2 - largest.sum())
    wanted = np.column_stack([(1 - own) * p, np.full(len(p), own)]) * UNIT
    aside = np.append((1 - own) * largest / ratio, ratio * own) * UNIT
    limits = _limits(np.vstack([wanted, aside]), bound)
    rows = _integer_rows(plain.knots, wanted, limits)
    least = [low for low, _ in limits]
    moves = _moved(least, 1, aside, limits)
    if rows is None or moves is None:
        raise ParameterError(
            f"epsilon: {float(epsilon):g} over a range of {steps} and one option more cannot be held by "
            "32-bit weights; take a shorter range or more epsilon"
        )
    return FilteredRows(*rows, tuple(low + more for low, more in zip(least, moves, strict=True)))


def optimal_noise(steps: int, ratio: float, knots: int = 41, outputs: int = 91) -> float:
    """The mean noise of fine grids, answers scaled to [-1, 1] and uniform, for the ratio ``exp(epsilon)``.

    >>> round(optimal_noise(60, math.e), 2)
    3.89
    """
    # Six digits are enough for a yardstick, and are the same for an epsilon that was asked for and the one of its rows.
    return _optimal_noise(steps, _in_six_digits(ratio), knots, outputs)


def _in_six_digits(ratio: float) -> float:
    return float(f"{ratio:.6g}")


@functools.lru_cache(maxsize=128)
def _optimal_noise(steps: int, ratio: float, knots: int, outputs: int) -> float:
    return _noise_with_any_outputs(Knots.with_knots(steps, min(knots - steps % 2, steps + 1)), ratio, outputs)


def _noise_with_any_outputs(line: Knots, ratio: float, outputs: int = 91) -> float:
    # Where their number is 1 more than a multiple of 6, the two outputs that suffice are among them.
    channel = _solve(line, np.linspace(-1.5, 1.5, outputs) * _widest(ratio), ratio, only_the_noise=True)
    return math.inf if channel is None else channel.noise


def _widest(ratio: float) -> float:
    """Distance from the middle of two outputs that make an unbiased channel, in [-1, 1] units."""
    # Two outputs -c and c with probabilities 1 / (E + 1) and E / (E + 1) at x = 1 have the mean c (E - 1) / (E + 1) =
    # 1.
    return (ratio + 1) / (ratio - 1)


def _sizes(steps: int, ratio: float, reached: float) -> Iterator[tuple[Knots, int]]:
    """Knots and numbers of outputs to try, small ones first; too few knots are skipped."""
    counts = [2, *range(4 if steps % 2 else 3, min(steps + 1, MOST_KNOTS) + 1, 2)]  # the middle is a knot, if it can be
    for knots in counts:
        line = Knots.with_knots(steps, knots)
        if knots in (2, counts[-1]) or _noise_with_any_outputs(line, ratio) <= reached:
            for outputs in range(knots, min(knots + 3, MOST_REPORTS) + 1 if knots > 2 else 3):
                yield line, outputs


@dataclass(frozen=True)
class Knots:
    """Knots among the answers 0 to the last of them, and their places in [-1, 1]."""

    knots: tuple[int, ...]

    @classmethod
    def with_knots(cls, steps: int, n: int) -> Knots:
        """``n`` knots, symmetric and as evenly spaced as whole numbers allow; an odd ``n`` needs even ``steps``."""
        lower = [(2 * steps * place // (n - 1) + 1) // 2 for place in range(n // 2)]
        middle = [steps // 2] * (n % 2)
        return cls((*lower, *middle, *(steps - each for each in reversed(lower))))

    @property
    def x(self) -> Floats:
        return 2 * np.array(self.knots) / self.knots[-1] - 1

    @property
    def shares(self) -> Floats:
        """Weights of the knots' rows in the mean row of all answers, shape (knots,)."""
        # Rows are linear between knots, so the mean row of all answers is a weighted mean of the knots' rows.
        weights = shares_of_knots(self.knots)
        return np.array(weights) / sum(weights)

    @property
    def variance(self) -> float:
        """The mean square of all answers in [-1, 1]."""
        # Mean of (2 j / N - 1)^2 over j = 0 .. N.
        return (self.knots[-1] + 2) / (3 * self.knots[-1])


@dataclass(frozen=True)
class Chances:
    """A solution of the linear program: ``p[k, r]`` is the probability of output ``r`` at knot ``k``."""

    line: Knots
    outputs: Floats
    p: Floats

    @property
    def mean(self) -> Floats:
        """Probability of each output if all answers are equally frequent."""
        return np.asarray(self.line.shares @ self.p)

    @property
    def noise(self) -> float:
        """Mean variance of the output around the answer."""
        # E[v^2] - E[x^2]: the output is unbiased, so E[v x] = E[x^2].
        return float(self.mean @ self.outputs**2) - self.line.variance


def _solve(line: Knots, outputs: Floats, ratio: float, *, only_the_noise: bool = False) -> Chances | None:
    """The linear program; None if these outputs make no unbiased channel.

    The unknowns are ``p`` and ``E l``, of which ``l`` alone could be as small as the solver's tolerance. Where only the
    noise is wanted the same optimum is found in two thirds of the time.
    """
    n, v = len(line.knots), len(outputs)
    p, largest = np.arange(n * v), n * v + np.tile(np.arange(v), n)
    knot, ones = np.repeat(np.arange(n), v), np.ones(n * v)
    # The problem is symmetric: P(v|x) = P(-v|-x) for some optimum, which halves the unknowns.
    mirrored = np.concatenate([p[::-1], n * v + np.arange(v)[::-1]])
    _, unknown = np.unique(np.minimum(mirrored, np.arange(mirrored.size)), return_inverse=True)  # two that mirror: one
    # sum_v v^2 P(v|x), over all x
    cost = np.zeros(unknown.max() + 1)
    np.add.at(cost, unknown[p], np.outer(line.shares, outputs**2).ravel())
    # p <= E l, and E l / E <= p, in terms of p and E l; then each row adds up to 1, and its mean is x.
    below, above, whole, mean = p, n * v + p, 2 * n * v + knot, 2 * n * v + n + knot
    entries = [(ones, below, p), (-ones, below, largest), (ones / ratio, above, largest), (-ones, above, p)]
    entries += [(ones, whole, p), (np.tile(outputs, n), mean, p)]
    values, rows, columns = (np.concatenate(each) for each in zip(*entries, strict=True))
    limits = np.concatenate([np.zeros(2 * n * v), np.ones(n), line.x])
    solved = minimum(cost, (values, rows, unknown[columns]), limits, 2 * n * v, devex=only_the_noise)
    return None if solved is None else Chances(line, outputs, solved[unknown[p]].reshape(n, v))


def _few_outputs(line: Knots, size: int, ratio: float) -> Chances | None:
    """The best channel of ``size`` outputs that a local search finds; None if there is no sound one."""
    even = (_solve(line, np.linspace(-stretch, stretch, size) * _widest(ratio), ratio) for stretch in STRETCHES)
    best = min(filter(None, even), key=lambda each: each.noise, default=None)
    if best is None:
        return None
    # Each output tries a place to its left and to its right; the program says how much mass goes where.
    reach = (best.outputs[1] - best.outputs[0]) / 4
    for _ in range(ROUNDS):
        three = _solve(line, (best.outputs[:, None] + reach * np.array([-1, 0, 1])).ravel(), ratio)
        moved = _solve(line, _merged(three, best.outputs), ratio) if three is not None else None
        if moved is not None and moved.noise < best.noise - 1e-9:
            best = moved
        else:
            reach /= 2
    return _pruned(best)


STRETCHES = (1, 1.06, 1.12, 1.18, 1.25, 1.32, 1.4, 1.5)
"""Distances of the outermost of evenly spaced outputs that are tried, in units of `_widest`."""

ROUNDS = 6
"""Iteration limit of the local search for outputs."""


def _merged(three: Chances, before: Floats) -> Floats:
    """The mean of each three outputs, or the output that they replaced where they have no mass."""
    mass = three.mean.reshape(-1, 3)
    total = mass.sum(axis=1)
    means = (mass * three.outputs.reshape(-1, 3)).sum(axis=1) / np.maximum(total, NEGLIGIBLE)
    outputs = np.where(total > NEGLIGIBLE, means, before)
    # Symmetric again: floats and dropped outputs may have moved the middle.
    return np.asarray((outputs - outputs[::-1]) / 2)


def _pruned(channel: Chances) -> Chances | None:
    """The channel without negligible outputs and needless knots; None if its rows are nearly dependent."""
    p = channel.p[:, channel.mean > NEGLIGIBLE]
    # The mass of the outputs that were left out goes to the others in proportion.
    p /= p.sum(axis=1, keepdims=True)
    slopes = np.diff(p, axis=0) / np.diff(channel.line.knots)[:, None]
    bends = (np.abs(np.diff(slopes, axis=0)) * channel.line.knots[-1] > NEGLIGIBLE * 10).any(axis=1)
    kept = np.concatenate([[True], bends, [True]])
    p = p[kept]
    if p.shape[0] > p.shape[1] or np.linalg.svd(p, compute_uv=False)[-1] < LEAST_SINGULAR:
        return None
    line = Knots(tuple(np.array(channel.line.knots)[kept].tolist()))
    return Chances(line, channel.outputs[channel.mean > NEGLIGIBLE], p)


def _rounded(channel: Chances, bound: Fraction) -> PiecewiseRows | None:
    """Integers out of ``2**32`` whose ratios are at most ``bound``; None if there are none near these chances."""
    wanted = channel.p * UNIT
    return _integer_rows(channel.line.knots, wanted, _limits(wanted, bound))


def _limits(wanted: Floats, bound: Fraction) -> list[tuple[int, int]]:
    """For each output the least and the largest weight, whose ratio is within the bound."""
    # Exact: from the largest weight of an output over all rows down to the least that the bound allows.
    least = [max(1, math.ceil(each / bound)) for each in map(Fraction, wanted.max(axis=0).tolist())]
    return [(each, math.floor(each * bound)) for each in least]


def _integer_rows(knots: tuple[int, ...], wanted: Floats, limits: list[tuple[int, int]]) -> PiecewiseRows | None:
    """Integers within limits near the wanted weights of the knots' rows, shape (knots, outputs); None without any.

    Each output keeps to its own limits. From knot to knot it moves by the multiple of their distance that comes nearest
    to where it should be; what is then missing in a row, or too much, is made up for by the outputs with the most room.
    """
    least = [low for low, _ in limits]
    first = _moved(least, 1, wanted[0], limits)
    if first is None:
        return None
    row, slopes = [low + more for low, more in zip(least, first, strict=True)], []
    weights = tuple(row)
    for (start, stop), target in zip(itertools.pairwise(knots), wanted[1:], strict=True):
        moves = _moved(row, stop - start, target, limits)
        if moves is None:
            return None
        row = [weight + (stop - start) * move for weight, move in zip(row, moves, strict=True)]
        slopes.append(tuple(moves))
    return PiecewiseRows(knots, weights, tuple(slopes))


def _moved(row: list[int], step: int, target: Floats, limits: list[tuple[int, int]]) -> list[int] | None:
    """Number of steps by which each weight moves towards its target, within limits, so that the row adds up."""
    least = [-((weight - low) // step) for weight, (low, _) in zip(row, limits, strict=True)]
    most = [(high - weight) // step for weight, (_, high) in zip(row, limits, strict=True)]
    # Nearest to the target, within its limits.
    moves = [
        min(max(round((aim - weight) / step), low), high)
        for weight, aim, low, high in zip(row, target.tolist(), least, most, strict=True)
    ]
    missing, rest = divmod(UNIT - sum(row), step)
    assert not rest, "the row before adds up, and the first one moves by single units"
    # What the rounded moves lack for the row to add up to 2**32, in units of `step`.
    missing -= sum(moves)
    while missing:
        room = [high - move if missing > 0 else low - move for move, low, high in zip(moves, least, most, strict=True)]
        widest = max(range(len(room)), key=lambda place: abs(room[place]))
        if not room[widest]:
            return None
        change = min(room[widest], missing, key=abs)
        moves[widest] += change
        missing -= change
    return moves


def _at_knots(rows: PiecewiseRows) -> Floats:
    """The rows of the knots, shape (knots, reports)."""
    moves = np.array(rows.slopes, dtype=float) * np.diff(rows.knots)[:, None]
    return np.asarray(np.vstack([rows.weights, rows.weights + np.cumsum(moves, axis=0)]) / UNIT)


def _keeps(rows: PiecewiseRows, epsilon: Fraction) -> bool:
    """Whether rounding costs at most `LARGEST_LOSS` of the asked epsilon."""
    p = _at_knots(rows)
    # epsilon is the largest log-ratio within an output, over all knots.
    kept = math.log((p.max(axis=0) / p.min(axis=0)).max())
    return kept >= float(epsilon * (1 - LARGEST_LOSS))


def _noise_of(rows: PiecewiseRows) -> float:
    """The mean noise of the best unbiased estimator from these very integers."""
    line, p = Knots(rows.knots), _at_knots(rows)
    mean = line.shares @ p
    # w = D^-1 A (A' D^-1 A)^-1 x, the scores of least variance, with A' the rows and D their mean.
    scores = np.linalg.solve((p / mean) @ p.T, line.x) @ (p / mean)
    return float(mean @ scores**2) - line.variance

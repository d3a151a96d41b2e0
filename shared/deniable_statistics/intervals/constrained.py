"""Maximum-likelihood shares under linear constraints, for many tallies or constraints at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


STEPS = 80
"""Iteration limit of Newton's method; tallies of real surveys take at most thirty."""


class Maximum(NamedTuple):
    """The maxima of likelihoods of ``b`` problems.

    Attributes
    ----------
    shares : ndarray, shape (b, k)
    positive : ndarray of bool, shape (b, k)
        Which shares are above 0; the others are positive only because an interior point is.
    """

    shares: Floats
    positive: Flags


def most_likely_under(matrix: Floats, counts: Floats, constraints: Floats, values: Floats) -> Maximum:
    """The shares ``f >= 0`` with the largest ``sum counts log(matrix f)`` among those with ``constraints f = values``.

    Parameters
    ----------
    matrix : ndarray, shape (r, k)
        Probability of each report under each answer; the reports of several groups one after the other.
    counts : ndarray, shape (b, r)
        One tally for each of ``b`` problems, not empty.
    constraints : ndarray, shape (b, m, k)
        Linearly independent; some shares above 0 fulfil them.
    values : ndarray, shape (m,)

    Notes
    -----
    A primal-dual interior-point method [1]_: Newton's method for ``z f = mu`` with the multipliers ``z`` of ``f >= 0``,
    while ``mu`` falls to 0. All problems take their steps together, so many small ones cost little more than one. Each
    stops by itself, so that its maximum is the same whatever is computed beside it.

    References
    ----------
    .. [1] S. Boyd, L. Vandenberghe, "Convex Optimization", Cambridge University Press 2004, section 11.7.

    Examples
    --------
    60 of 100 reports say yes: without constraint the share is 2 (.6 - .25) = .7 with two fair coins.

    >>> import numpy as np
    >>> coins = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> free = most_likely_under(coins, np.array([[40.0, 60.0]]), np.ones((1, 1, 2)), np.ones(1))
    >>> free.shares.round(6).tolist(), free.positive.tolist()
    ([[0.3, 0.7]], [[True, True]])
    """
    total = counts.sum(axis=1, keepdims=True)
    seen = counts / total
    problems, conditions, k = constraints.shape
    # The log-likelihood is off by at most n times the gap, here 1e-4; below 1e-14 floats have no more digits.
    close = np.maximum(np.minimum(1e-10, 1e-4 / total), 1e-14)[:, 0]
    shares, slack = np.full((problems, k), 1 / k), np.ones((problems, k))
    multipliers = np.zeros((problems, conditions))
    system = np.zeros((problems, k + conditions, k + conditions))
    # Karush-Kuhn-Tucker system: the Hessian plus z / f on its diagonal, bordered by the constraints.
    system[:, :k, k:] = constraints.transpose(0, 2, 1)
    system[:, k:, :k] = constraints
    diagonal = np.arange(k)
    moving = np.ones(problems, dtype=bool)
    for _ in range(STEPS):
        lam = shares @ matrix.T
        # Gradient of the objective -sum seen log(lam), with lam = matrix f: -matrix' (seen / lam).
        pull = seen / lam
        residual = -pull @ matrix + (multipliers[:, None, :] @ constraints)[:, 0] - slack
        missed = (constraints @ shares[:, :, None])[:, :, 0] - values
        gap = (slack * shares).sum(axis=1, keepdims=True)
        still = (gap[:, 0] >= close) | (abs(missed).max(axis=1) >= 1e-12)
        moving &= still | ((abs(residual) * shares).max(axis=1) >= close)
        if not moving.any():
            break
        curvature = matrix.T @ ((pull / lam)[:, :, None] * matrix)
        curvature[:, diagonal, diagonal] += slack / shares
        system[:, :k, :k] = curvature
        # Boyd and Vandenberghe's mu = 10: each step aims at a tenth of the present duality gap.
        aim = 0.1 * gap / k
        right = np.concatenate([aim / shares - slack - residual, -missed], axis=1)
        step = _solved(system, right)
        moving &= np.isfinite(step).all(axis=1)
        step = np.where(moving[:, None], step, 0)
        move = step[:, :k]
        # Linearised z f = mu: z + dz = (mu - z df) / f.
        turn = aim / shares - slack - slack * move / shares
        blocked = np.maximum((-move / shares).max(axis=1), (-turn / slack).max(axis=1))
        # At most 99 % of the way to where a share or a multiplier would become 0.
        length = np.where(moving, 0.99 / np.maximum(blocked, 0.99), 0)[:, None]
        shares, slack = shares + length * move, slack + length * turn
        multipliers = multipliers + length * step[:, k:]
    # Complementary slackness: in the limit one of f and z is 0, and the smaller one is it.
    return Maximum(shares, shares > slack)


def _solved(systems: Floats, right: Floats) -> Floats:
    """The solution of each linear system, shape (b, k); NaN where floats leave none."""
    try:
        return np.asarray(np.linalg.solve(systems, right[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        if len(systems) == 1:
            return np.full_like(right, np.nan)
        # One that cannot be solved must not stop its neighbours.
        return np.concatenate([_solved(systems[each : each + 1], right[each : each + 1]) for each in range(len(right))])

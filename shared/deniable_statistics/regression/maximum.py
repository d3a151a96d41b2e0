"""The maximum of a log-likelihood, from several starts, and an honest word on whether there is one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from deniable.errors import ParameterError
from deniable_statistics.regression.factor import Array, Objective, Value
from deniable_statistics.regression.likelihood import LatentClasses
from deniable_statistics.regression.penalty import CauchyPrior

MOST_STEPS = 200
LONGEST_STEP = 4.0
"""Longest Newton step, in coordinates in which 1 moves a linear predictor by about 1: further, second derivatives say
nothing. Or half of the way that was gone so far, so that a search to infinity arrives."""
SMALLEST_GRADIENT = 1e-10
"""Convergence threshold of the gradient per row. Where shares tend to 0 or 1 this is also what the log-likelihood can
still gain per row."""
SMALLEST_STEP = 1e-7
FLAT = 1e-9
"""Information per row below which a direction counts as flat: a standard error of the linear predictor above
``3e4 / sqrt(n)``. Fits that run away end near `SMALLEST_GRADIENT`, because information falls with the gradient."""
LARGEST_ERROR = 10.0
"""Largest standard error of a linear predictor in any direction. With one of 10 logits, shares of 0.00005 and 0.99995
are both within a standard error of 1/2: such a maximum exists, but the data do not bound it. It belongs to a step that
noise alone can draw, or to a share that might as well be 0."""
SAME_VALUE, SAME_PARAMETERS = 1e-6, 1e-4
"""Two optima differ if their log-likelihoods, or else their parameters in the coordinates above, differ by more."""
AGREEING_STARTS = 3
"""If the first starts all agree, the other deterministic and the random ones are left out."""
RANDOM_SPREAD, UPHILL = 1.0, 2.0
"""Standard deviation of random starts around the model's first, and length of a jump from it along the gradient, in
coordinates where 1 moves a linear predictor by about 1."""


@dataclass(frozen=True)
class Optimum:
    """Where a search ended.

    Attributes
    ----------
    params : ndarray
    value : float
        Minus infinity if the start was impossible.
    converged : bool
        Whether gradient *and* step vanished at a place that curves downwards in every direction.
    flat : bool
        Whether the gradient vanished because the likelihood flattens: the maximum is at infinity, or is not a point.
    """

    params: Array
    value: float
    converged: bool
    flat: bool
    smallest_eigenvalue: float = 0.0
    """Information in the direction that has the least."""

    @property
    def bounded(self) -> bool:
        """Whether this is a maximum that the data bound."""
        return self.converged and self.smallest_eigenvalue > LARGEST_ERROR**-2


def newton(
    objective: Objective,
    start: Array,
    directions: Array,
    bounded: Sequence[int] = (),
    n: float = 1.0,
) -> Optimum:
    """Newton's method with step halving, in the given directions; parameters in ``bounded`` stay within [0, 1].

    Parameters
    ----------
    objective : callable
        Value, gradient (q,) and second derivatives (q, q) at parameters (q,).
    start : ndarray, shape (q,)
    directions : ndarray, shape (q, free)
        Where the parameters may go from the start, scaled so that steps of 1 are comparable.
    bounded : sequence of int
        Parameters that are shares. Each is moved by one direction only, which moves nothing else.
    n : float
        Number of rows: gradient and information are judged per row.

    Notes
    -----
    Where the surface curves upwards, the step uses the absolute curvature, so that it climbs away from saddle
    points instead of towards them. A share at its end that is pushed beyond is left there until it is pulled back.
    """
    params = np.array(start, dtype=float)
    value, gradient, hessian = objective(params)
    if not np.isfinite(value) or not np.isfinite(gradient).all():
        return Optimum(params, -np.inf, False, False)
    box = list(bounded)
    converged = flat = False
    smallest_eigenvalue = math.inf
    # reach turns a move of parameters into moves of linear predictors
    gone, reach = 0.0, 1 / np.linalg.norm(directions, axis=1).clip(1e-300)
    for _ in range(MOST_STEPS):
        climb = _climb(params, gradient, hessian, directions, box, n)
        if climb is None:  # every share is at its end, and is pushed beyond
            converged, smallest_eigenvalue = True, math.inf
            break
        # g <= tolerance alone is no maximum: at infinity the gradient vanishes, too, but so does the curvature
        if np.abs(climb.slope).max() <= SMALLEST_GRADIENT * n:
            smallest_eigenvalue = climb.smallest_eigenvalue
            flat = smallest_eigenvalue <= FLAT * n
            converged = not flat and climb.length <= SMALLEST_STEP
            if flat or converged:
                break
        # no longer than LONGEST_STEP or half of the way gone so far, of which a search to infinity goes ever more
        step = climb.step * min(1.0, max(LONGEST_STEP, 0.5 * gone) / max(climb.length, 1e-300))
        new, found = _halved(objective, params, (value, gradient), step, box)
        if found is None:  # no digit left to gain
            smallest_eigenvalue = climb.smallest_eigenvalue
            # g' step is twice what a parabola would still gain
            converged = float(gradient @ step) <= 1e-9 and smallest_eigenvalue > FLAT * n
            break
        # how far the linear predictors have moved so far
        gone += float(np.linalg.norm((new - params) * reach))
        params = new
        value, gradient, hessian = found
        last = climb
    else:
        smallest_eigenvalue = last.smallest_eigenvalue
    return Optimum(params, value, converged, flat, smallest_eigenvalue)


@dataclass(frozen=True)
class _Climb:
    """Newton's step from some parameters, and the surface in the directions that are free there."""

    step: Array
    slope: Array
    curvature: Array
    length: float

    @property
    def smallest_eigenvalue(self) -> float:
        return float(np.linalg.eigvalsh(self.curvature)[0])


def _climb(
    params: Array,
    gradient: Array,
    hessian: Array,
    directions: Array,
    box: Sequence[int],
    n: float,
) -> _Climb | None:
    """The step that leaves shares at an end which they are pushed beyond; None where no direction is free."""
    # Karush-Kuhn-Tucker: at its end a share stays as long as its slope points beyond
    stuck = {j for j in box if (params[j] <= 0 and gradient[j] <= 0) or (params[j] >= 1 and gradient[j] >= 0)}
    while True:
        # each share is moved by one direction, so leaving that out holds it
        free = directions[:, ~directions[sorted(stuck)].any(axis=0)] if stuck else directions
        slope = free.T @ gradient
        if not slope.size:
            return None
        # in the coordinates of the free directions the Newton step is (F' I F)^-1 F' g
        curvature = -(free.T @ hessian @ free)
        along = _uphill(curvature, slope, n)
        step = free @ along
        # the curvature of others may push a share out of its range although its own slope does not
        out = {j for j in box if (params[j] <= 0 and step[j] < 0) or (params[j] >= 1 and step[j] > 0)}
        if not out:
            return _Climb(step, slope, curvature, float(np.linalg.norm(along)))
        stuck |= out


def _halved(
    objective: Objective,
    params: Array,
    at: tuple[float, Array],
    step: Array,
    box: list[int],
) -> tuple[Array, Value | None]:
    """The longest of a step and its halves that gains enough, and what is there; None where none does.

    Enough is a ten-thousandth of what the slope promises (Armijo's rule), less a rounding error of the value.
    """
    value, gradient = at
    gain = float(gradient @ step)
    for halving in range(40):
        new = params + step * 0.5**halving
        new[box] = np.clip(new[box], 0, 1)
        if (new == params).all():
            break
        found = objective(new)
        if found[0] >= value + 1e-4 * min(gain * 0.5**halving, float(gradient @ (new - params))) - 1e-13 * abs(value):
            return new, found
    return params, None


def _uphill(curvature: Array, slope: Array, n: float) -> Array:
    """Newton's step; where the surface curves upwards, that of the absolute curvature."""
    try:
        return np.asarray(cho_solve(cho_factor(curvature), slope))
    except LinAlgError:
        values, axes = np.linalg.eigh(curvature)  # V |L|^-1 V' g: uphill whatever the signs of the eigenvalues
        return np.asarray(axes @ ((axes.T @ slope) / np.maximum(np.abs(values), 1e-14 * n)))


@dataclass(frozen=True)
class Search:
    """Where several searches led.

    Attributes
    ----------
    best : Optimum
        The highest maximum that the data bound; if there is none, the highest at all, or where a search was stopped.
    optima : int
        How many different ends there were, runaways among them.
    excess : float
        How much higher another search came, to infinity or to a maximum that the data do not bound.
    """

    best: Optimum
    optima: int
    excess: float


def search(
    objective: Objective,
    starts: Iterable[Array],
    directions: Array,
    bounded: Sequence[int] = (),
    n: float = 1.0,
) -> Search:
    """Climb from every start, or until the first `AGREEING_STARTS` agree."""
    # parameters are compared in the coordinates of the directions, where units do not count
    inverse = np.asarray(np.linalg.pinv(directions), dtype=np.float64)
    distinct: list[Optimum] = []
    for searched, start in enumerate(starts):
        if searched == AGREEING_STARTS and len(distinct) == 1 and distinct[0].bounded:
            break
        end = newton(objective, start, directions, bounded, n)
        if np.isfinite(end.value) and not any(_same(end, other, inverse) for other in distinct):
            distinct.append(end)
    if not distinct:
        return Search(end, 0, 0.0)
    # bounded maxima before all others, whatever these reach: a steeper fit is often higher
    best = max(distinct, key=lambda each: (each.bounded, each.converged, each.value))
    higher = [each.value - best.value for each in distinct if each.value > best.value + SAME_VALUE]
    return Search(best, sum(each.converged or each.flat for each in distinct), max(higher, default=0.0))


def _same(one: Optimum, other: Optimum, inverse: Array) -> bool:

    if abs(one.value - other.value) > SAME_VALUE or one.flat != other.flat:
        return False
    apart = np.abs(inverse @ (one.params - other.params)).max(initial=0.0)
    return bool(one.flat or apart <= SAME_PARAMETERS)  # places on one plateau are not told apart


def starts_of(model: LatentClasses, start: ArrayLike | None, random_starts: int, seed: int) -> list[Array]:
    """Where to search: the start that was given, the model's own, one far uphill from these, and random ones.

    Raises
    ------
    ParameterError
        If the start that was given is not one finite number for each parameter.
    """
    directions, starts = model.directions(), model.starts()
    # normal in coordinates in which a step of 1 moves every linear predictor by about 1
    jumps = np.random.default_rng(seed).normal(0, RANDOM_SPREAD, (random_starts, directions.shape[1])) @ directions.T
    uphill = directions.T @ model.evaluate(starts[0])[1]
    far = starts[0] + directions @ uphill * (UPHILL / max(float(np.linalg.norm(uphill)), 1e-300))
    every = [*starts, far, *(starts[0] + jump for jump in jumps)]
    if start is not None:
        given = np.array(start, dtype=float)
        if given.shape != starts[0].shape or not np.isfinite(given).all():
            raise ParameterError(f"start: must be {len(starts[0])} finite numbers, got shape {given.shape}")
        every = [given, *every]
    return [model.inside(each) for each in every]


def penalised(model: LatentClasses, prior: CauchyPrior | None) -> Objective:
    """The log-likelihood plus the logarithm of the prior, as an objective."""
    if prior is None:
        return model.evaluate

    def objective(params: Array) -> Value:
        value, gradient, hessian = model.evaluate(params)
        extra, pull, curve = prior.evaluate(params)
        return value + extra, gradient + pull, hessian + curve

    return objective

"""Profile likelihood: intervals and tests of single parameters that need no standard error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq

from deniable_research.regression.factor import Array, Objective
from deniable_research.regression.latent import LatentClasses
from deniable_research.regression.maximum import SAME_VALUE, newton
from deniable_research.regression.tidy import TidyRow
from deniable_statistics.intervals import normal_quantile, two_sided

FURTHEST = 100.0
"""Largest move of a linear predictor in search of a limit: beyond, every share is 0 or 1 to 40 digits."""

NEAR = 1e-12
"""Distance from the end of its range at which a share is held where the end itself is impossible."""

PLATEAU = 1e-3
"""What a log-likelihood without a maximum may still gain where its search ended: nothing beside the 1.9 of a limit."""


@dataclass(frozen=True)
class Profile:
    """The profile of a fit: its maximum over all other parameters when one is held.

    Notes
    -----
    An interval holds the values ``v`` with ``2 (max - max given v) <= z^2``; its ends are roots of the signed root
    of the left side, which is nearly a straight line in ``v``. Where that never reaches ``z`` the end is infinite,
    or the end of a share's range. A term that the likelihood does not bound stands somewhere on a plateau. Under
    perfect separation the plateau falls off on the side of 0, and there is the finite end.
    """

    model: LatentClasses
    objective: Objective
    params: Array
    covariance: Array

    @cached_property
    def top(self) -> float:
        """The maximum."""
        return self.objective(self.params)[0]

    def row(self, wald: TidyRow, j: int, confidence_level: float) -> TidyRow:
        """The row of a term with the interval and test of its profile in place of Wald's."""
        z = normal_quantile(confidence_level)
        low, high = self.end(j, -1, z), self.end(j, 1, z)
        if j in self.model.bounded:
            return wald._replace(statistic=math.nan, p_value=math.nan, conf_low=low, conf_high=high)
        # the signed root of 2 (max - max given 0) is standard normal if the parameter is 0
        root = math.copysign(_Path(self, j).root(0.0), wald.estimate)
        if low == -math.inf and high == math.inf and abs(root) > z:  # an end that was not found: then 0 is not tested
            root = math.nan
        return wald._replace(statistic=root, p_value=two_sided(root), conf_low=low, conf_high=high)

    def end(self, j: int, side: int, z: float) -> float:
        """Where the profile of a parameter first falls by ``z^2 / 2`` on one side (-1 or 1) of the estimate."""
        path, estimate = _Path(self, j), float(self.params[j])
        # a term that runs away stands on a plateau that falls off, if anywhere, on the side of 0
        on_plateau = bool(np.isinf(self.covariance[j, j])) and side * estimate < 0
        origin = 0.0 if on_plateau else estimate
        limit = (1.0 if side > 0 else 0.0) if j in self.model.bounded else side * math.inf
        inner, before, step = estimate, 0.0, path.step
        while True:
            # search outwards until the root passes z; then it lies between inner and outer
            outer = inner + side * step
            if on_plateau and side * outer >= 0:
                outer, on_plateau = 0.0, False
            if side * (outer - limit) >= 0:
                outer = limit
            root = path.root(outer)
            if outer == limit and math.isnan(root) and math.isfinite(limit):  # a share that some report rules out
                outer = limit - side * NEAR
                root = path.root(outer)
            if root >= z:
                break
            if on_plateau:
                inner, before, step = outer, root, 2 * step
                continue
            # a profile that stops falling never gets there: steep enough, any slope looks like a threshold
            if side * (outer - limit) >= -NEAR or not root > before or abs(outer - origin) >= FURTHEST * path.unit:
                return limit
            inner, before = outer, root
            # were the root a straight line in v it would be z at origin + (z / root)(outer - origin); a tenth beyond
            step = min(max(1.1 * (z / root - 1), 0.1), 1.0) * max(abs(outer - origin), path.step)
        return float(
            brentq(lambda held: np.nan_to_num(path.root(held)) - z, inner, outer, xtol=1e-5 * path.step, rtol=1e-9)
        )


class _Path:
    """Constrained maxima for one held parameter, each searched from the nearest one known.

    Steps at most double the distance from the estimate, so that the path stays on the estimate's own branch where
    the likelihood has several.
    """

    def __init__(self, profile: Profile, j: int) -> None:
        model = profile.model
        self.profile, self.j = profile, j
        unit = model.directions()
        moves = unit[j] != 0
        self.unit = float(np.linalg.norm(unit[j]))
        # what moves within the directions that would move the parameter, and all that do not
        # the right singular vectors but the first span {d: u_j d = 0}, the moves that leave parameter j alone
        _, _, axes = np.linalg.svd(unit[j, moves][None, :])
        self.directions = np.concatenate([unit[:, moves] @ axes[1:].T, unit[:, ~moves]], axis=1)
        # on a plateau the estimate itself is not the supremum: a search may end a little above it
        self.same = PLATEAU if np.isinf(profile.covariance.diagonal()).any() else SAME_VALUE
        column = profile.covariance[:, j]
        self.tangent = np.eye(len(unit))[j]
        self.step = self.unit
        if np.isfinite(column).all() and column[j] > 0:
            # d theta / d theta_j along the profile is C_j / C_jj where the log-likelihood is a parabola
            self.tangent = column / column[j]
            self.step = float(np.sqrt(column[j]))
        elif j in model.bounded:  # a share of 0 or 1, whose whole range is far too far
            # a first step of the size of a standard error, which is about 1 / sqrt(n)
            self.step = 1 / math.sqrt(model.weights.sum() + 3)
        self.known = {float(profile.params[j]): (0.0, profile.params)}

    def root(self, held: float) -> float:
        """Square root of twice the log-likelihood that holding the parameter costs.

        NaN if something better than the fit is found then: elsewhere the likelihood has another maximum.
        """
        profile = self.profile
        model, estimate = profile.model, float(profile.params[self.j])
        while held not in self.known:
            nearest = min(self.known, key=lambda each: abs(each - held))
            reach = max(self.step, 2 * abs(nearest - estimate))
            here = held if abs(held - estimate) <= reach else estimate + math.copysign(reach, held - estimate)
            # a step along the tangent of the profile, from the nearest maximum that is known
            start = self.known[nearest][1] + (here - nearest) * self.tangent
            bounded = [j for j in model.bounded if j != self.j]
            start[bounded] = np.clip(start[bounded], 0, 1)
            start[self.j] = here
            n = float(model.weights.sum())
            end = newton(profile.objective, start, self.directions, bounded, n)
            cost = profile.top - end.value if end.converged or end.flat else math.nan
            self.known[here] = (math.sqrt(max(0.0, 2 * cost)) if cost > -self.same else math.nan, end.params)
        return self.known[held][0]

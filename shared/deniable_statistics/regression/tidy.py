"""What every fit says: estimates, a row for each term by Wald or by its profile, and a row for the whole."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from deniable.table import format_table
from deniable_statistics.intervals import check_confidence_level, normal_quantile, two_sided
from deniable_statistics.published.columns import interval, p_value
from deniable_statistics.published.printed_numbers import number
from deniable_statistics.regression.factor import Array, Objective
from deniable_statistics.regression.fitted_rows import ModelSample
from deniable_statistics.regression.likelihood import LatentClasses
from deniable_statistics.regression.maximum import SAME_VALUE, newton
from deniable_statistics.sampling import t_quantile, t_two_sided

FURTHEST = 100.0
"""Largest move of a linear predictor in search of a limit: beyond, every share is 0 or 1 to 40 digits."""

NEAR = 1e-12
"""Distance from the end of its range at which a share is held where the end itself is impossible."""

PLATEAU = 1e-3
"""What a log-likelihood without a maximum may still gain where its search ended: nothing beside the 1.9 of a limit."""


LIKELIHOOD_RATIO_Z = "z is the signed root of the likelihood ratio; with Wald intervals it is estimate / SE."
"""The sentence below a table with profile intervals, whose readers would divide the two columns and get another z."""


class TidyRow(NamedTuple):
    """One term of a fit. ``pandas.DataFrame(fit.tidy())`` makes a table of them."""

    term: str
    estimate: float
    std_error: float
    """Infinite where the likelihood does not bound the term, NaN for a share at 0 or 1."""
    statistic: float
    """With profile intervals the signed root of the likelihood ratio, NaN if a fit without the term turns out better;
    otherwise estimate over standard error."""
    p_value: float
    """Two-sided, standard normal; Student's under a sampling design."""
    conf_low: float
    conf_high: float


def wald_row(term: str, estimate: float, std_error: float, confidence_level: float, df: float = math.inf) -> TidyRow:
    """A row from an estimate, its standard error and the degrees of freedom of that.

    >>> row = wald_row("age", 1.0, 0.5, 0.95)
    >>> row.statistic, round(row.p_value, 4), round(row.conf_low, 4), round(row.conf_high, 4)
    (2.0, 0.0455, 0.02, 1.98)
    """
    estimate, std_error = float(estimate), float(std_error)
    # Student's quantile under a design, the normal one where df is infinite
    reach = t_quantile(confidence_level, df) * std_error
    # an infinite error tests nothing; one of 0 belongs to no estimate
    statistic = estimate / std_error if 0 < std_error < math.inf else math.nan
    return TidyRow(term, estimate, std_error, statistic, t_two_sided(statistic, df), estimate - reach, estimate + reach)


@dataclass(frozen=True)
class Glance:
    """One row about a fit. ``pandas.DataFrame([fit.glance()])`` makes a table of it.

    Attributes
    ----------
    n : int
        Rows; the number of people where rows are weighted by frequencies.
    n_effective : float
        ``(sum w)^2 / sum w^2`` under weights (Kish), otherwise `n`.
    n_dropped : int
        Rows left out because something was missing.
    loglik, null_loglik : float
        Log-likelihood, and that of the model without covariates; the prior is not part of them.
    df : int
        Number of parameters.
    aic, bic : float
    lr_statistic, lr_df, p_value : float, int, float
        Likelihood-ratio test against the model without covariates, the prior included. NaN under weights or
        clusters, where it has no chi-square distribution. As all that needs a likelihood, NaN of corrected least
        squares.
    pseudo_r2 : float
        McFadden's ``1 - loglik / null_loglik``.
    penalty : str or None
    optima : int
        Different ends that the searches from several starts found. See `Fit`.
    converged, separated : bool
    """

    n: int
    n_effective: float
    n_dropped: int
    loglik: float = math.nan
    null_loglik: float = math.nan
    df: int = 0
    aic: float = math.nan
    bic: float = math.nan
    lr_statistic: float = math.nan
    lr_df: int = 0
    p_value: float = math.nan
    pseudo_r2: float = math.nan
    penalty: str | None = None
    optima: int = 0
    converged: bool = False
    separated: bool = False


@dataclass(frozen=True)
class CoefficientEstimates:
    """Estimates and what is known of their errors.

    Attributes
    ----------
    params : ndarray
        In the order of `terms`.
    terms : tuple of str
    converged : bool
        Whether there is a solution.
    message : str
        What to know before using the estimates; empty if nothing.
    sample : ModelSample
        How the rows stand for people.
    """

    params: Array
    terms: tuple[str, ...]
    converged: bool
    message: str
    sample: ModelSample = field(repr=False)

    @property
    def n(self) -> int:
        """Rows; people where rows are weighted by frequencies."""
        return self.sample.n

    @property
    def n_effective(self) -> float:
        """Kish's ``(sum w)^2 / sum w^2`` under weights, otherwise `n`."""
        return self.sample.n_effective

    @property
    def n_dropped(self) -> int:
        """Rows left out because something was missing."""
        return self.sample.frame.n_dropped

    @property
    def df(self) -> float:
        """Degrees of freedom of errors, infinite unless people were drawn by a design; see `DrawnSample.df`."""
        return self.sample.df(len(self.terms))

    def cov_params(self) -> Array:
        """Covariance of the estimates, shape (terms, terms)."""
        raise NotImplementedError

    @property
    def bse(self) -> Array:
        """Standard errors of the estimates, shape (terms,)."""
        return np.sqrt(np.diag(self.cov_params()))

    def tidy(self, confidence_level: float = 0.95) -> list[TidyRow]:
        """One row for each term, with Wald's test and interval."""
        check_confidence_level(confidence_level)
        return self._wald_rows(self.bse, confidence_level)

    @property
    def default_interval(self) -> str:
        """The method of the intervals of `tidy`: ``"profile"`` or ``"wald"``."""
        return "wald"

    def _wald_rows(self, errors: Array, confidence_level: float) -> list[TidyRow]:
        found = zip(self.terms, self.params, errors, strict=True)
        return [wald_row(*each, confidence_level, self.df) for each in found]

    def glance(self) -> Glance:
        """One row about the whole fit."""
        raise NotImplementedError

    @property
    def pvalues(self) -> Array:
        """Two-sided p-values of `tidy`, shape (terms,)."""
        return np.array([row.p_value for row in self.tidy()])

    def conf_int(self, confidence_level: float = 0.95) -> Array:
        """The ends of the confidence intervals of `tidy`, shape (terms, 2)."""
        return np.array([[row.conf_low, row.conf_high] for row in self.tidy(confidence_level)]).reshape(-1, 2)

    def summary(self, confidence_level: float = 0.95) -> str:
        """The rows of `tidy` as a table for people, with what to know before using them."""
        rows = self.tidy(confidence_level)
        ci = f"{100 * confidence_level:g} % CI"
        header = ["Term", "Estimate", "SE", "z" if self.df == math.inf else "t", "p", ci]
        lines = [
            [row.term, *map(number, row[1:4]), p_value(row.p_value), interval(row.conf_low, row.conf_high, number)]
            for row in rows
        ]
        about = f"n = {self.n}."
        how = LIKELIHOOD_RATIO_Z if self.default_interval == "profile" else ""
        return "\n".join(filter(None, [format_table(header, lines, right=header[1:]), about, how, self.message]))


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

"""Likelihood-ratio tests between fits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from deniable.errors import ParameterError
from deniable_research.regression.fit import Fit
from deniable_research.regression.maximum import SAME_VALUE, newton


@dataclass(frozen=True)
class LikelihoodRatioTest:
    """Whether the terms that only the full model has are needed.

    Attributes
    ----------
    statistic : float
        Twice the difference of the maxima; at least 0.
    df : int
        Number of terms tested.
    p_value : float
        Chi-square.
    """

    statistic: float
    df: int
    p_value: float


def likelihood_ratio_test(restricted: Fit, full: Fit) -> LikelihoodRatioTest:
    """Compare two fits to the same reports, one with fewer terms.

    Raises
    ------
    ParameterError
        If the fits do not compare: other rows, other designs or penalties, weights or clusters, no further term, a
        search that did not converge, or a restricted fit that is better than the full one.

    Notes
    -----
    Local maxima would not give a likelihood ratio. So the full model is maximised once more from the restricted
    estimates, and cannot end below them. Under a prior the ratio is that of the penalised likelihoods, and both fits
    need the prior.

    Examples
    --------
    >>> from deniable import TwoCoin
    >>> from deniable_research.regression import logistic
    >>> coins, counts = TwoCoin("1/2", "1/2"), [300, 200, 270, 230]
    >>> old = [[1, 0], [1, 0], [1, 1], [1, 1]]
    >>> full = logistic([0, 1, 0, 1], old, coins, names=["one", "old"], frequencies=counts)
    >>> restricted = logistic([0, 1, 0, 1], [[1]] * 4, coins, names=["one"], frequencies=counts)
    >>> test = likelihood_ratio_test(restricted, full)
    >>> round(test.statistic, 3), test.df, round(test.p_value, 3)
    (3.674, 1, 0.055)
    """

    for name, fit in (("restricted", restricted), ("full", full)):
        if not fit.sample.plain:
            raise ParameterError(f"{name}: must be fitted without weights and clusters, which make no likelihood")
        if not (fit.converged or fit.separated):
            raise ParameterError(f"{name}: must have converged")
    if restricted.n != full.n or not _are_of_the_same_reports(restricted, full):
        raise ParameterError(f"full: must be fitted to the same {restricted.n} rows, got others of {full.n}")
    if restricted.penalty != full.penalty:
        raise ParameterError(
            f"full: must have the penalty of the restricted fit, {restricted.penalty}, got {full.penalty}; "
            "fit both with penalty='cauchy'"
        )
    df = len(full.terms) - len(restricted.terms)
    if df < 1 or [full.terms[j] for j in full.model.bounded] != [restricted.terms[j] for j in restricted.model.bounded]:
        raise ParameterError(f"full: must have further coefficients, got {df}, and the same design")
    value = max(full.value, _from(restricted, full))
    if value < restricted.value - SAME_VALUE:
        raise ParameterError("full: must hold the restricted model, which is better than it")
    statistic = max(0.0, 2 * (value - restricted.value))
    return LikelihoodRatioTest(statistic, df, float(chi2.sf(statistic, df)))


def _are_of_the_same_reports(restricted: Fit, full: Fit) -> bool:
    """Whether two fits are to the same reports, row by row; with frequencies, whether each stands there as often."""

    one, other = restricted.model.observed, full.model.observed
    if "frequencies" not in restricted.sample.frame.columns or "frequencies" not in full.sample.frame.columns:
        return np.array_equal(one, other)
    return _tally(one, restricted.model.weights) == _tally(other, full.model.weights)


def _tally(observed: NDArray[np.float64], weights: NDArray[np.float64]) -> dict[bytes, float]:
    rows, places = np.unique(observed, axis=0, return_inverse=True)
    counts = np.bincount(places.ravel(), weights, len(rows))
    return {row.tobytes(): count for row, count in zip(rows, counts.tolist(), strict=True)}


def _from(restricted: Fit, full: Fit) -> float:
    """The maximum of the full model from the restricted estimates on, if its terms are among those of the full."""

    if not set(restricted.terms) <= set(full.terms):
        return -np.inf
    known = dict(zip(restricted.terms, restricted.params, strict=True))
    start = np.array([known.get(term, 0.0) for term in full.terms])
    n = float(full.model.weights.sum())
    return newton(full.objective, start, full.model.directions(), full.model.bounded, n).value

"""Several models of the same rows, and likelihood-ratio tests between them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2

from deniable.errors import ParameterError, check_kind
from deniable_research.regression.formula import computes_with_columns, sides, variables
from deniable_research.regression.rows import crossed
from deniable_statistics.regression.factor import Array
from deniable_statistics.regression.fit import Fit, fit_model
from deniable_statistics.regression.likelihood import CategoricalOutcome
from deniable_statistics.regression.maximum import SAME_VALUE, newton
from deniable_statistics.regression.moments import calibrated
from deniable_statistics.regression.outcomes import NormalOutcome
from deniable_statistics.regression.regressors import Regressors

WITHIN = 1e-7
"""Largest distance of a unit column of a nested model from the span of the larger model's columns."""


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
        check_kind(fit, Fit, name)
        if not fit.sample.plain:
            raise ParameterError(f"{name}: must be fitted without weights and clusters, which make no likelihood")
        if not (fit.converged or fit.separated):
            raise ParameterError(f"{name}: must have converged")
    if restricted.n != full.n or not _are_of_the_same_reports(restricted, full):
        raise ParameterError(f"full: must be fitted to the same {restricted.n} rows, got others of {full.n}")
    # a prior on one side alone would change the ratio without a term being tested
    if restricted.penalty != full.penalty:
        raise ParameterError(
            f"full: must have the penalty of the restricted fit, {restricted.penalty}, got {full.penalty}; "
            "fit both with penalty='cauchy'"
        )
    df = len(full.terms) - len(restricted.terms)
    if df < 1 or [full.terms[j] for j in full.model.bounded] != [restricted.terms[j] for j in restricted.model.bounded]:
        raise ParameterError(f"full: must have further coefficients, got {df}, and the same design")
    # a search for the full model may have ended in a lower maximum than the restricted one
    value = max(full._value, _from(restricted, full))
    if value < restricted._value - SAME_VALUE:
        raise ParameterError("full: must hold the restricted model, which is better than it")
    statistic = max(0.0, 2 * (value - restricted._value))
    return LikelihoodRatioTest(statistic, df, float(chi2.sf(statistic, df)))


def refitted(fit: Fit, formula: str, penalty: str | None = "auto") -> Fit:
    """Fit another formula to the rows of a fit, with the same model of how often truths of predictors are.

    So the two likelihoods are of the same reports, also where the other formula leaves a randomised predictor out: its
    truths then have no effect, and their shares are estimated as before.

    Parameters
    ----------
    fit : Fit
        Of a formula.
    formula : str
        With the same left side; its right side names some of the variables of the fit.
    penalty : {"auto", "cauchy", None}
        As for `deniable_research.regression.logistic`.

    Raises
    ------
    ParameterError
        If the formula has another left side, names something else, or computes with whole columns that were
        not kept row by row.

    Examples
    --------
    >>> from deniable import TwoCoin
    >>> from deniable_research.regression import logistic
    >>> coins, table = TwoCoin("1/2", "1/2"), {"q": [0, 0, 1, 1], "old": [0, 1, 0, 1], "n": [300, 230, 200, 270]}
    >>> full = logistic("q ~ old", table, coins, frequencies="n")
    >>> likelihood_ratio_test(refitted(full, "q ~ 1"), full).df
    1
    """
    model, frame = fit.model, fit.sample.frame
    if not frame.formula:
        raise ParameterError("against: needs the fit of a formula, got one of arrays")
    left, right = sides(formula)
    if left.strip("`") != frame.left:
        raise ParameterError(f"against: must have the left side of the first formula, {frame.left}, got {left:.80}")
    truths = model.cells.truths
    known = variables(frame.formula, truths.__contains__)
    if strangers := [name for name in variables(right, truths.__contains__) if name not in known]:
        raise ParameterError(
            f"against: must name variables of the first formula ({', '.join(known) or 'it has none'}), "
            f"got {', '.join(strangers)}; the formula with all of them comes first"
        )
    if "frequencies" in frame.columns and computes_with_columns(right, truths.__contains__):
        raise ParameterError(
            f"against: must not compute with whole columns unless the first formula does, got {formula}; "
            "rows that are alike were put together"
        )
    # all else of the fit stays, so that both likelihoods are of the same reports
    frame = replace(frame, formula=right)
    regressors = crossed(frame, model.cells, model.weights)
    outcome = model.outcome
    if isinstance(outcome, CategoricalOutcome):
        if outcome.certain is None:
            regressors = regressors.checked()
        else:
            regressors = regressors.where(np.asarray(np.isnan(outcome.certain).all(axis=0)))
        other = replace(model, outcome=replace(outcome, regressors=regressors))
    else:
        assert isinstance(outcome, NormalOutcome)
        regressors = regressors.checked()
        guess = calibrated(outcome.outcome, regressors, model.cells, model.weights)
        other = replace(model, outcome=replace(outcome, regressors=regressors, first_guess=guess))
    return fit_model(other, replace(fit.sample, frame=frame), penalty, None, 5, 0)


def is_within(restricted: Fit, full: Fit) -> bool:
    """Whether the linear predictors of one fit are among those of another one to the same rows."""
    one, other = restricted.model.outcome.regressors, full.model.outcome.regressors
    both = Regressors(
        np.concatenate([other.plain, one.plain], axis=1),
        np.concatenate([other.coded, one.coded], axis=1),
        (*other.terms, *one.terms),
        other.weights,
    ).stacked
    both = both / np.maximum(np.linalg.norm(both, axis=0), 1e-300)
    # the restricted columns, and their distance from the span of the full model's
    wide, narrow = both[:, : other.size], both[:, other.size :]
    left = narrow - wide @ np.linalg.lstsq(wide, narrow)[0]
    return bool(np.abs(left).max(initial=0.0) <= WITHIN)


def _are_of_the_same_reports(restricted: Fit, full: Fit) -> bool:
    """Whether two fits are to the same reports, row by row; with frequencies, whether each stands there as often."""
    one, other = restricted.model.observed, full.model.observed
    if "frequencies" not in restricted.sample.frame.columns or "frequencies" not in full.sample.frame.columns:
        return np.array_equal(one, other)
    return _tally(one, restricted.model.weights) == _tally(other, full.model.weights)


def _tally(observed: Array, weights: Array) -> dict[bytes, float]:
    rows, places = np.unique(observed, axis=0, return_inverse=True)
    counts = np.bincount(places.ravel(), weights, len(rows))
    return {row.tobytes(): count for row, count in zip(rows, counts.tolist(), strict=True)}


def _from(restricted: Fit, full: Fit) -> float:
    """The maximum of the full model from the restricted estimates on, if its terms are among those of the full."""
    if not set(restricted.terms) <= set(full.terms):
        return -np.inf
    known = dict(zip(restricted.terms, restricted.params, strict=True))
    # the restricted maximum is a point of the full model, with 0 for its further terms
    start = np.array([known.get(term, 0.0) for term in full.terms])
    n = float(full.model.weights.sum())
    return newton(full._objective, start, full.model.directions(), full.model.bounded, n).value

"""Linear regression on randomised predictors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError
from deniable_research.regression.cells import Cells, SharedResponse
from deniable_research.regression.data import Frame, check_size, refuse_interactions
from deniable_research.regression.fit import Fit
from deniable_research.regression.fitting import fit_model
from deniable_research.regression.likelihood import Sample
from deniable_research.regression.moment_fit import MomentFit
from deniable_research.regression.moments import calibrated, corrected_least_squares
from deniable_research.regression.outcomes import NormalOutcome
from deniable_research.regression.reports import Grouped
from deniable_research.regression.responses import DesignLike
from deniable_research.regression.rows import latent_classes, read_rows, regressors_of
from deniable_research.sampling import Domain


def linear(
    outcome: str | ArrayLike,
    data: Any,
    randomised: Mapping[str, DesignLike | Grouped],
    *,
    reports: Mapping[str, ArrayLike] | None = None,
    shared: Sequence[SharedResponse] = (),
    names: Sequence[str] | None = None,
    weights: str | ArrayLike | None = None,
    frequencies: str | ArrayLike | None = None,
    clusters: str | ArrayLike | None = None,
    domain: Domain | None = None,
    penalty: str | None = "auto",
    start: ArrayLike | None = None,
    random_starts: int = 5,
    seed: int = 0,
) -> Fit:
    """Linear regression of a number on answers that were randomised, by maximum likelihood.

    Parameters
    ----------
    outcome : str or array_like of length n
        A formula like ``"income ~ age * affair"`` with randomised predictors among its variables, or numbers.
    data : DataFrame, mapping of columns, or array_like of shape (n, p)
        The table of the formula, or the other covariates, with a column of ones.
    randomised : mapping from name to mechanism, channel, (a, b) or grouped designs
        What the answers to each randomised predictor went through; their columns hold the reports.
    reports : mapping from name to array_like, optional
        The reports, if the data are not a table.
    shared, names, weights, frequencies, clusters, domain, penalty, start, random_starts, seed
        As for `logistic`.

    Returns
    -------
    Fit
        Terms: those of the formula, with effects ``affair[T.yes]`` against the first truth, ``log(sigma)``, and what
        describes ``P(affair=yes)``: a share in each group of people with the same covariates, or coefficients.

    Raises
    ------
    ParameterError
        As for `logistic`.

    Notes
    -----
    ``y = r b + N(0, sigma^2)`` with regressors ``r`` of covariates and truths. The truths are not seen, so how often
    each combination of them is, is part of the model, as for `logistic`. Residuals must be normal with one variance;
    `linear_moments` assumes neither that nor anything about the truths, and is less precise. Where the two contradict
    each other, the fit's message says so: a mixture of normals finds two groups in any skewed outcome.

    References
    ----------
    G. Blair, K. Imai, Y.-Y. Zhou, "Design and analysis of the randomized response technique", Journal of the
    American Statistical Association 110 (2015), 1304-1319.

    D. W. Heck, M. Moshagen, "RRreg: an R package for correlation and regression analyses of randomized response
    data", Journal of Statistical Software 85 (2018), 2.

    Examples
    --------
    Without noise it is least squares: the means of two groups are 2 and 5.

    >>> table = {"hours": [1, 2, 3, 4, 5, 6], "affair": [0, 0, 0, 1, 1, 1]}
    >>> fit = linear("hours ~ affair", table, {"affair": (1, 0)})
    >>> [(row.term, round(row.estimate, 6)) for row in fit.tidy(interval="wald")][:2]
    [('Intercept', 2.0), ('affair[T.yes]', 3.0)]
    """
    columns = Sample.columns(weights, frequencies, clusters, domain)
    frame, y, cells, sample = _read(outcome, data, randomised, reports, shared, names, columns, domain)
    regressors = regressors_of(frame, cells, sample)
    model = latent_classes(
        frame, cells, sample, NormalOutcome(y, regressors, calibrated(y, regressors, cells, sample.weights))
    )
    fit = fit_model(model, sample, penalty, start, random_starts, seed)
    if not cells.has_scores or set(regressors.terms) != {*frame.terms, *cells.effect_terms}:
        return fit  # moments know nothing of it
    moments = corrected_least_squares(y, frame.matrix, cells, sample.weights)
    doubt = _doubt(fit, MomentFit.of((*frame.terms, *cells.effect_terms), moments, sample))
    return replace(fit, message=" ".join(filter(None, (fit.message, doubt))))


APART = 4.0
"""Largest difference of likelihood and moment estimates, in standard errors: exceeded once in 15,000 right models."""


def _doubt(fit: Fit, moments: MomentFit) -> str:
    """A sentence if the normal likelihood contradicts the estimates that do not suppose it.

    Both are right if the model is, and likelihood is the more precise; then the variance of their difference is that
    of moments minus that of likelihood, at most the former (J. A. Hausman, Econometrica 46 (1978), 1251-1271).
    """
    for row in reversed(moments.tidy()):  # effects of what was randomised stand last and matter most
        found = float(fit.params[fit.terms.index(row.term)])
        if row.std_error > 0 and abs(found - row.estimate) > APART * row.std_error:
            return (
                f"The likelihood of a normal outcome gives {row.term} = {found:.3g}, corrected least squares, which do "
                f"not suppose it, {row.estimate:.3g} with a standard error of {row.std_error:.2g}: trust these "
                "(linear_moments)."
            )
    return ""


def linear_moments(
    outcome: str | ArrayLike,
    data: Any,
    randomised: Mapping[str, DesignLike | Grouped],
    *,
    reports: Mapping[str, ArrayLike] | None = None,
    shared: Sequence[SharedResponse] = (),
    names: Sequence[str] | None = None,
    weights: str | ArrayLike | None = None,
    frequencies: str | ArrayLike | None = None,
    clusters: str | ArrayLike | None = None,
    domain: Domain | None = None,
) -> MomentFit:
    """Linear regression of a number on answers that were randomised, by corrected least squares.

    The parameters are those of `linear`. Nothing is assumed about residuals or about the distribution of the true
    answers; standard errors are those of the sandwich of the estimating equations (`corrected_least_squares`).

    Examples
    --------
    >>> table = {"hours": [1, 2, 3, 4, 5, 6], "affair": [0, 0, 0, 1, 1, 1]}
    >>> fit = linear_moments("hours ~ affair", table, {"affair": (1, 0)})
    >>> [(row.term, round(row.estimate, 6)) for row in fit.tidy()]
    [('Intercept', 2.0), ('affair[T.yes]', 3.0)]
    """
    if isinstance(outcome, str):
        refuse_interactions(outcome, list(randomised))
    columns = Sample.columns(weights, frequencies, clusters, domain)
    frame, y, cells, sample = _read(outcome, data, randomised, reports, (), names, columns, domain)
    moments = corrected_least_squares(y, frame.matrix, cells, sample.weights)

    def refit(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return corrected_least_squares(y, frame.matrix, cells, weights).params

    return MomentFit.of((*frame.terms, *cells.effect_terms), moments, sample, refit)


def _read(
    outcome: str | ArrayLike,
    data: Any,
    randomised: Mapping[str, DesignLike | Grouped],
    reports: Mapping[str, ArrayLike] | None,
    shared: Sequence[SharedResponse],
    names: Sequence[str] | None,
    columns: Mapping[str, Any],
    domain: Domain | None,
) -> tuple[Frame, NDArray[np.float64], Cells, Sample]:

    if not randomised:
        raise ParameterError("randomised: must name a predictor, got none")
    frame, cells, sample = read_rows(outcome, data, names, columns, randomised, reports, shared, domain)
    y = frame.columns["outcome"]
    if y.dtype.kind not in "biuf" or not np.isfinite(y).all():
        raise ParameterError("outcome: must be finite numbers")
    if np.ptp(y) == 0:
        raise ParameterError(f"outcome: must vary for a linear model, got the same number in all {sample.n} rows")
    check_size("outcome", y)
    return frame, y.astype(float), cells, sample

"""Tests of several contrasts at once under a complex sampling design."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_statistics.special.student import f_sf
from deniable_statistics.whitening import whitening


class FTest(NamedTuple):
    """An F statistic with its two degrees of freedom, and the p-value."""

    statistic: float
    df: float
    df_error: float
    p_value: float


def rao_scott(squares: float, covariance: ArrayLike, df: float) -> FTest:
    """Rao and Scott's second-order correction of a chi-squared statistic, referred to F.

    Parameters
    ----------
    squares : float
        The squared distance from the hypothesis in coordinates in which one person drawn alone has variance 1: the
        chi-squared statistic divided by the number of people.
    covariance : array_like, shape (m, m)
        Of the m coordinates under the sampling design.
    df : float
        Degrees of freedom of that covariance.

    Notes
    -----
    Under the hypothesis `squares` is a sum of squared normals with the eigenvalues ``d`` of the covariance as weights
    [1]_. Divided by ``sum d`` it is referred to F with ``v = (sum d)^2 / sum d^2`` and ``v df`` degrees of freedom:
    Satterthwaite's approximation in Thomas and Rao's form [2]_, the one that R's ``svychisq`` uses.

    References
    ----------
    .. [1] J. N. K. Rao, A. J. Scott, "On chi-squared tests for multiway contingency tables with cell proportions
       estimated from survey data", Annals of Statistics 12 (1984), 46-60.
    .. [2] D. R. Thomas, J. N. K. Rao, "Small-sample comparisons of level and power for simple goodness-of-fit
       statistics under cluster sampling", Journal of the American Statistical Association 82 (1987), 630-636.

    Examples
    --------
    >>> rao_scott(0.04, [[0.01, 0], [0, 0.01]], 30)[:3]
    (2.0, 2.0, 60.0)
    """
    each = np.asarray(covariance, dtype=float)
    # Of the eigenvalues d: tr V = sum d and tr V V = sum d^2, without computing one of them.
    total, both = float(np.trace(each)), float((each * each.T).sum())
    if squares > 0 and total == 0 and df > 0:  # certain, whoever is drawn
        return FTest(math.inf, len(each), len(each) * df, 0.0)
    if not (total > 0 and both > 0 and df > 0):
        return FTest(math.nan, 0, 0, math.nan)
    # Satterthwaite: a sum of d chi-squared variables is scaled to its mean, with (sum d)^2 / sum d^2 degrees of
    # freedom.
    statistic, numerator = squares / total, total * total / both
    return FTest(statistic, numerator, numerator * df, f_sf(statistic, numerator, numerator * df))


def wald_f(distances: NDArray[np.float64], covariance: NDArray[np.float64], df: float) -> FTest:
    """Wald's test that all distances are 0, referred to F with the degrees of freedom that the covariance leaves.

    ``W (df - q + 1) / (q df)`` has ``q`` and ``df - q + 1`` of them, ``W`` Wald's statistic of ``q`` distances. NaN if
    there are too few sampling units for this number of distances.

    Examples
    --------
    >>> wald_f(np.array([2.0]), np.array([[1.0]]), 10)[:3]
    (4.0, 1, 10)
    """
    axes = whitening(covariance)
    q = axes.shape[1]
    # Hotelling: a covariance known with df degrees of freedom leaves df - q + 1 of them to q distances.
    left = df - q + 1
    if not q or left <= 0:
        return FTest(math.nan, q, max(left, 0), math.nan)
    # In whitened coordinates d' V^-1 d is a squared length; Hotelling's factor left / (df q) makes it an F.
    statistic = float(((distances @ axes) ** 2).sum()) * (left / df if math.isfinite(df) else 1.0) / q
    return FTest(statistic, q, left, f_sf(statistic, q, left))

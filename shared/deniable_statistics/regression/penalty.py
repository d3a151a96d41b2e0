"""A weakly informative prior that keeps coefficients finite where the likelihood does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable_statistics.regression.factor import Array, Value
from deniable_statistics.regression.regressors import Regressors

SLOPE_SCALE, INTERCEPT_SCALE = 2.5, 10.0


@dataclass(frozen=True)
class CauchyPrior:
    """Independent Cauchy priors on logit coefficients of standardised covariates.

    Attributes
    ----------
    contrasts : ndarray, shape (q, parameters)
        What is penalised: coefficients in units of their scale.

    Notes
    -----
    As in [1]_: a covariate with two values is scaled to a difference of 1, any other to a standard deviation of 1/2;
    coefficients have scale 2.5, the linear predictor at the mean of the covariates 10. The log-density is taken
    relative to its top, so that a coefficient of 0 costs nothing and nested models can be compared.

    The alternative is Firth's prior [2]_ [3]_, the square root of the determinant of the expected information. It
    needs no scales, but that information sums over everything a person could have reported: 10^5 subsets in
    common designs, an integral where the outcome is a number. This prior is the same for every model here.

    References
    ----------
    .. [1] A. Gelman, A. Jakulin, M. G. Pittau, Y.-S. Su, "A weakly informative default prior distribution for
       logistic and other regression models", Annals of Applied Statistics 2 (2008), 1360-1383.
    .. [2] D. Firth, "Bias reduction of maximum likelihood estimates", Biometrika 80 (1993), 27-38.
    .. [3] G. Heinze, M. Schemper, "A solution to the problem of separation in logistic regression", Statistics in
       Medicine 21 (2002), 2409-2419.
    """

    contrasts: Array

    @classmethod
    def of(cls, logits: Sequence[tuple[slice, Regressors]], size: int) -> CauchyPrior:
        """The prior of linear predictors, each with its positions among ``size`` parameters."""
        # a row for each coefficient: what is penalised is contrast' params, in units of its scale
        contrasts = np.zeros((sum(regressors.size for _, regressors in logits), size))
        row = 0
        for where, regressors in logits:
            contrasts[row : row + regressors.size, where] = _scaled(regressors)
            row += regressors.size
        return cls(contrasts)

    def evaluate(self, params: Array) -> Value:
        """Logarithm of the density relative to its top, gradient and second derivatives."""
        # log p = -sum log(1 + t^2), whose derivatives by t are -2 t / (1 + t^2) and 2 (t^2 - 1) / (1 + t^2)^2
        t = self.contrasts @ params
        bottom = 1 + t**2
        gradient = -(2 * t / bottom) @ self.contrasts
        curve = 2 * (t**2 - 1) / bottom**2
        return -float(np.log(bottom).sum()), gradient, (self.contrasts.T * curve) @ self.contrasts


def _scaled(regressors: Regressors) -> Array:
    """The contrasts of one linear predictor, shape (columns, columns), where rows count by shares and cells alike."""
    plain, coded = regressors.plain, regressors.coded
    share = regressors.weights / regressors.weights.sum()
    centre = regressors.centre * coded.mean(axis=0)
    found = []
    for j in range(regressors.size):
        # a column is plain times coded, so its extremes are products of extremes
        ends = np.outer([plain[:, j].min(), plain[:, j].max()], [coded[:, j].min(), coded[:, j].max()])
        low, high = ends.min(), ends.max()
        # a constant column: its coefficient alone is no level, the predictor at the means is
        if high - low <= 1e-9 * max(abs(low), abs(high)):
            found.append(centre / INTERCEPT_SCALE)
            continue
        two_values = _are_ends(plain[:, j]) and _are_ends(coded[:, j]) and len(np.unique(ends)) == 2
        # E[x^2] - E[x]^2, where rows by their weights and cells by equal ones are independent
        square = (share @ plain[:, j] ** 2) * np.mean(coded[:, j] ** 2)
        # 2 standard deviations, so that numbers and indicators are on one scale
        width = high - low if two_values else 2 * np.sqrt(square - centre[j] ** 2)
        found.append(np.eye(regressors.size)[j] * width / SLOPE_SCALE)
    return np.array(found).reshape(regressors.size, regressors.size)


def _are_ends(column: Array) -> bool:
    return bool(np.all((column == column.min()) | (column == column.max())))

"""A weakly informative prior that keeps coefficients finite where the likelihood does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from deniable_research.regression.likelihood import Likelihood
    from deniable_research.regression.maximum import Objective, Value

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

    contrasts: NDArray[np.float64]

    @classmethod
    def of(
        cls, matrix: NDArray[np.float64], weights: NDArray[np.float64], logits: Sequence[slice], size: int
    ) -> CauchyPrior:
        """The prior of each linear predictor ``matrix @ params[logits[c]]`` among ``size`` parameters."""

        share = weights / weights.sum()
        centre = share @ matrix
        one = []
        for j, column in enumerate(matrix.T):
            low, high = column.min(), column.max()
            if high - low <= 1e-9 * max(abs(low), abs(high)):
                one.append(centre / INTERCEPT_SCALE)
                continue
            two_values = bool(np.all((column == low) | (column == high)))
            width = high - low if two_values else 2 * np.sqrt(share @ (column - centre[j]) ** 2)
            one.append(np.eye(matrix.shape[1])[j] * width / SLOPE_SCALE)
        contrasts = np.zeros((len(one) * len(logits), size))
        for c, where in enumerate(logits):
            contrasts[c * len(one) : (c + 1) * len(one), where] = one
        return cls(contrasts)

    def evaluate(self, params: NDArray[np.float64]) -> Value:
        """Logarithm of the density relative to its top, gradient and second derivatives."""

        t = self.contrasts @ params
        bottom = 1 + t**2
        gradient = -(2 * t / bottom) @ self.contrasts
        curve = 2 * (t**2 - 1) / bottom**2
        return -float(np.log(bottom).sum()), gradient, (self.contrasts.T * curve) @ self.contrasts


def penalised(model: Likelihood, prior: CauchyPrior | None) -> Objective:
    """The log-likelihood plus the logarithm of the prior, as an objective."""
    if prior is None:
        return model.evaluate

    def objective(params: NDArray[np.float64]) -> Value:
        value, gradient, hessian = model.evaluate(params)
        extra, pull, curve = prior.evaluate(params)
        return value + extra, gradient + pull, hessian + curve

    return objective

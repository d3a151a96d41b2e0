"""How much a sample tells about the parameters, and its inverse where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable_research.regression.maximum import FLAT, LARGEST_ERROR
from deniable_research.regression.penalty import CauchyPrior, penalised

if TYPE_CHECKING:
    from deniable_research.regression.likelihood import Likelihood


def information(
    model: Likelihood, prior: CauchyPrior | None, params: NDArray[np.float64], kind: str
) -> NDArray[np.float64]:
    """Observed or expected information, or the outer product of the scores; plus the curvature of the prior."""
    if kind == "observed":
        return -np.asarray(penalised(model, prior)(params)[2])
    weights, size = model.weights[:, None], len(model.terms)
    certain = np.ones(len(weights))
    pairs = model.possible(params) if kind == "expected" else [(certain, model.scores(params))]
    total = np.zeros((size, size))
    for probability, scores in pairs:
        total += (scores * weights * probability[:, None]).T @ scores
    return total if prior is None else total - prior.evaluate(params)[2]


def invert(matrix: NDArray[np.float64], model: Likelihood, ended: Sequence[int]) -> NDArray[np.float64]:
    """The inverse of an information matrix, with the truth about what it does not hold.

    Infinite variance and NaN covariances for parameters that move in a direction without information, or whose error
    is beyond `LARGEST_ERROR`; NaN for those in ``ended``, shares at 0 or 1, while the others are given these.
    """
    unit = model.directions()
    unit = unit[:, ~unit[list(ended)].any(axis=0)]
    values, axes = np.linalg.eigh(unit.T @ matrix @ unit)
    sound = values > FLAT * model.weights.sum()
    moves = unit @ axes
    covariance = np.asarray((moves[:, sound] / values[sound]) @ moves[:, sound].T)
    size = np.linalg.norm(unit, axis=1, keepdims=True)
    endless = (np.abs(moves[:, ~sound]) > 1e-6 * size).any(axis=1)
    endless |= np.diag(covariance) > (LARGEST_ERROR * size[:, 0]) ** 2
    covariance[endless, :] = covariance[:, endless] = np.nan
    covariance[endless, endless] = np.inf
    covariance[ended, :] = covariance[:, ended] = np.nan
    return covariance

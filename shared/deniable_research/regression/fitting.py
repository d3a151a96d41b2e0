"""From a likelihood to a fit: several starts, and a penalty where there is no maximum."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError
from deniable_research.regression.fit import Fit
from deniable_research.regression.likelihood import Likelihood, Sample
from deniable_research.regression.maximum import Search, search
from deniable_research.regression.penalty import CauchyPrior, penalised

PENALTIES = ("auto", "cauchy", None)
RANDOM_SPREAD, UPHILL = 1.0, 2.0
"""Standard deviation of random starts around the model's first, and length of a jump from it along the gradient, in
coordinates where 1 moves a linear predictor by about 1."""


def fit_model(
    model: Likelihood,
    sample: Sample,
    penalty: str | None = "auto",
    start: ArrayLike | None = None,
    random_starts: int = 5,
    seed: int = 0,
) -> Fit:
    """Maximise a likelihood.

    Parameters
    ----------
    penalty : {"auto", "cauchy", None}
        A Cauchy prior (`CauchyPrior`) if the likelihood has no maximum, always, or never.
    start : array_like, shape (parameters,), optional
        Where to search first.
    random_starts, seed : int
        Further starts, if the first ones do not agree.
    """
    if penalty not in PENALTIES:
        raise ParameterError(f"penalty: must be 'auto', 'cauchy' or None, got {penalty!r}")
    first = _checked_start(start, len(model.terms))

    def found(prior: CauchyPrior | None) -> Search:
        return _search(model, sample, prior, first, random_starts, seed)

    every = CauchyPrior.of(model.logits, len(model.terms))
    if penalty == "cauchy":
        return Fit.of(model, sample, every, "cauchy", found(every), separated=False)
    plain = found(None)
    separated = not plain.best.bounded
    if not separated or penalty is None:
        return Fit.of(model, sample, None, None, plain, separated)
    if model.nuisance:
        cells = CauchyPrior.of(model.logits[: model.nuisance], len(model.terms))
        fit = Fit.of(model, sample, cells, "cauchy on cells", found(cells), separated)
        if fit.converged and np.isfinite(np.diag(fit.covariance())[: len(model.outcome.terms)]).all():
            return fit
    return Fit.of(model, sample, every, "cauchy", found(every), separated)


def _search(
    model: Likelihood,
    sample: Sample,
    prior: CauchyPrior | None,
    first: NDArray[np.float64] | None,
    random_starts: int,
    seed: int,
) -> Search:

    directions = model.directions()
    starts = model.starts()
    generator = np.random.default_rng(seed)
    jumps = generator.normal(0, RANDOM_SPREAD, (random_starts, directions.shape[1])) @ directions.T
    uphill = directions.T @ model.evaluate(starts[0])[1]
    far = starts[0] + directions @ uphill * (UPHILL / max(float(np.linalg.norm(uphill)), 1e-300))
    every = [*([] if first is None else [first]), *starts, far, *(starts[0] + jump for jump in jumps)]
    inside = [model.inside(each) for each in every]
    return search(penalised(model, prior), inside, directions, model.bounded, float(sample.weights.sum()))


def _checked_start(start: ArrayLike | None, size: int) -> NDArray[np.float64] | None:

    if start is None:
        return None
    array = np.array(start, dtype=float)
    if array.shape != (size,) or not np.isfinite(array).all():
        raise ParameterError(f"start: must be {size} finite numbers, got shape {array.shape}")
    return array

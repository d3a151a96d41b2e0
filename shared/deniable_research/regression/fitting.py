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
    cauchy = CauchyPrior.of(model.matrix, model.weights, model.logits, len(model.terms))
    prior = cauchy if penalty == "cauchy" else None
    first = _checked_start(start, len(model.terms))
    found = _search(model, sample, prior, first, random_starts, seed)
    separated = prior is None and not found.best.bounded
    if separated and penalty == "auto":
        prior = cauchy
        found = _search(model, sample, prior, first, random_starts, seed)
    return Fit.of(model, sample, prior, found, separated)


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
    bounded = list(model.bounded)
    for each in every:
        each[bounded] = np.clip(each[bounded], 0.01, 0.99)
    return search(penalised(model, prior), every, directions, bounded, float(sample.weights.sum()))


def _checked_start(start: ArrayLike | None, size: int) -> NDArray[np.float64] | None:

    if start is None:
        return None
    array = np.array(start, dtype=float)
    if array.shape != (size,) or not np.isfinite(array).all():
        raise ParameterError(f"start: must be {size} finite numbers, got shape {array.shape}")
    return array

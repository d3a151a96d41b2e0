"""Weights that are fitted to what is known of the population: poststratification and raking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError

MOST_ROUNDS = 1000
"""Iteration limit of raking; where it is reached margins contradict each other, or combinations are empty."""

NEAR = 1e-10
"""Relative tolerance of fitted margins."""


ROUNDED = 5e-3
"""Largest relative difference of the totals of several margins, which are published rounded; the first one decides."""


@dataclass(frozen=True, eq=False)
class Margin:
    """How many people of each kind the population has.

    Attributes
    ----------
    name : str
        For messages.
    places : ndarray of int, shape (people,)
        The kind of each person in the sample, from 0.
    totals : ndarray, shape (kinds,)
    """

    name: str
    places: NDArray[np.int64]
    totals: NDArray[np.float64]

    def __post_init__(self) -> None:
        if not np.isfinite(self.totals).all() or not (self.totals > 0).all():
            raise ParameterError(f"margins: totals of {self.name} must be finite numbers above 0")

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the people of each kind, shape (kinds, m), of values of shape (people, m)."""
        found = np.zeros((len(self.totals), values.shape[1]))
        np.add.at(found, self.places, values)
        return found


@dataclass(frozen=True, eq=False)
class Calibration:
    """The margins to which weights were fitted.

    Attributes
    ----------
    margins : tuple of Margin
    before : ndarray, shape (people,)
        The weights as they were.
    """

    margins: tuple[Margin, ...]
    before: NDArray[np.float64]

    def residuals(self, weighted: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the margins leave open of weighted influences, shape (people, m).

        What depends on the margins alone is known without error. So the variance of an estimate with fitted weights is
        that of the residuals from the regression of the influences, with the weights as they were, on indicators of
        the kinds [1]_. Poststratification and raking have it alike, whatever distance their weights minimise.

        References
        ----------
        .. [1] J.-C. Deville, C.-E. Sarndal, "Calibration estimators in survey sampling", Journal of the American
           Statistical Association 87 (1992), 376-382, section 3.
        """
        used = weights > 0
        values = np.zeros_like(weighted)
        # Influences come times the fitted weights, and a person of weight 0 has none.
        values[used] = weighted[used] / weights[used, None]
        base = self.before[:, None]
        starts = np.cumsum([0, *(len(margin.totals) for margin in self.margins)])
        size = int(starts[-1])
        # X' diag(w) X for X the indicators of all kinds: weighted counts of people by pairs of kinds.
        square = np.zeros((size, size))
        for i, one in enumerate(self.margins):
            for j, other in enumerate(self.margins):
                block = np.zeros((len(one.totals), len(other.totals)))
                np.add.at(block, (one.places, other.places), self.before)
                square[starts[i] : starts[i + 1], starts[j] : starts[j + 1]] = block
        right = np.concatenate([margin.sums(base * values) for margin in self.margins])
        # Every margin adds up to the same total, so X is collinear; all solutions have the same fitted values.
        slopes = np.linalg.pinv(square, hermitian=True) @ right
        fitted = sum(slopes[start + margin.places] for start, margin in zip(starts[:-1], self.margins, strict=True))
        return np.asarray((values - fitted) * weights[:, None])


def fitted_weights(weights: NDArray[np.float64], margins: Sequence[Margin]) -> NDArray[np.float64]:
    """Weights in proportion to those given, within each combination of kinds, that add up to all margins.

    Iterative proportional fitting [1]_: to each margin in turn, until all are met.

    References
    ----------
    .. [1] W. E. Deming, F. F. Stephan, "On a least squares adjustment of a sampled frequency table when the expected
       marginal totals are known", Annals of Mathematical Statistics 11 (1940), 427-444.
    """
    sizes = [float(margin.totals.sum()) for margin in margins]
    if max(sizes) > min(sizes) * (1 + ROUNDED):
        raise ParameterError(
            f"margins: must add up to one number of people, {margins[0].name} to {sizes[0]:g}, "
            f"others from {min(sizes):g} to {max(sizes):g}"
        )
    found = weights.astype(float)
    worst = np.inf
    for _ in range(MOST_ROUNDS):
        worst = 0.0
        for margin in margins:
            sums = np.bincount(margin.places, weights=found, minlength=len(margin.totals))
            if (sums <= 0).any():
                raise ParameterError(
                    f"margins: {margin.name} must have somebody in the sample for every total, "
                    f"{int((sums <= 0).sum())} of {len(sums)} have nobody, or weights that add up to 0"
                )
            # Other margins are scaled to the total of the first, from which rounding may part them.
            factors = margin.totals * (sizes[0] / margin.totals.sum()) / sums
            worst = max(worst, float(np.abs(factors - 1).max()))
            # One step of raking, Deming and Stephan's iterative proportional fitting.
            found = found * factors[margin.places]
        # One margin is met in one step, which is poststratification.
        if worst <= NEAR or len(margins) == 1:
            return found
    raise ParameterError(
        f"margins: cannot all be met, after {MOST_ROUNDS} rounds of raking one is {100 * worst:.2g} % off; "
        "they contradict each other, or no person has a combination that they need"
    )

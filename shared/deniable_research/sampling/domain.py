"""The people of a sample whom an analysis is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_research.sampling.design import SamplingDesign, columns
from deniable_research.sampling.estimates import SampleEstimate
from deniable_research.sampling.noise import Truths
from deniable_research.sampling.replicates import ReplicateDesign
from deniable_research.weights import kish

Sampling = SamplingDesign | ReplicateDesign
"""How people were drawn, whichever way errors come from it."""


@dataclass(frozen=True, eq=False)
class Domain:
    """Some of the people of a sample, as those who answered; the others still tell how the sample was drawn.

    Attributes
    ----------
    design : SamplingDesign or ReplicateDesign
        Of the whole sample.
    people : ndarray of bool, shape (people of the sample,)
        Who is meant: k of them.
    asked : float
        With which chance the device of a person asks; see `Truths`.
    """

    design: Sampling
    people: NDArray[np.bool_]
    asked: float = 1.0

    def __len__(self) -> int:
        return int(self.people.sum())

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights of the people, shape (k,)."""
        return self.design.weights[self.people]

    @property
    def n_effective(self) -> float:
        """Kish's effective number of the people."""
        return kish(self.weights.tolist())

    @property
    def df(self) -> float:
        """Degrees of freedom of errors."""
        return self.design.degrees_of_freedom(self.people)

    @property
    def is_finite(self) -> bool:
        """Whether some of the population was drawn without replacement, so that the chance of devices counts apart."""
        return isinstance(self.design, SamplingDesign) and self.design.is_finite

    def without_population(self) -> Domain:
        """The same, as if drawn with replacement."""
        design = self.design.without_population() if isinstance(self.design, SamplingDesign) else self.design
        return Domain(design, self.people, self.asked)

    def means(
        self, values: ArrayLike, truths: Truths | None = None, groups: Sequence[NDArray[np.bool_]] = ()
    ) -> SampleEstimate:
        """Means of values of the people, shape (k,) or (k, m), or of groups of them; see `SamplingDesign.means`.

        >>> from deniable_research.sampling import SamplingDesign
        >>> domain = Domain(SamplingDesign.of([1, 1, 1, 1]), np.array([True, False, True, True]))
        >>> found = domain.means([1, 2, 6])
        >>> found.estimate.tolist(), round(float(found.std_error[0]), 4), found.df
        ([3.0], 1.7638, 2)
        """
        wanted = [self._spread(group) for group in groups] or [self.people]
        whole = None
        if truths is not None and self.is_finite:
            of_each = truths.values if truths.values.ndim == 2 else self._spread(truths.values)
            whole = Truths(self._spread(truths.scores), of_each, self.asked)
        return self.design.means(self._spread(columns(values)), wanted, whole)

    def _spread(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Rows of the people among those of the whole sample, 0 for the others."""
        found = np.zeros((len(self.people), *values.shape[1:]), dtype=values.dtype)
        found[self.people] = values
        return found

"""The people of a sample whom an analysis is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_statistics.sampling.estimates import SampleEstimate
from deniable_statistics.sampling.noise import Truths
from deniable_statistics.sampling.replicates import ReplicateDesign
from deniable_statistics.sampling.sample import Sample, ones
from deniable_statistics.sampling.sampling_design import SamplingDesign, columns

Sampling = SamplingDesign | ReplicateDesign
"""How people were drawn, whichever way errors come from it."""


@dataclass(frozen=True, eq=False)
class Domain(Sample):
    """Some of the people of a complex sample, as those who answered; the others still tell how it was drawn.

    Attributes
    ----------
    design : SamplingDesign or ReplicateDesign
        How the whole sample was drawn.
    people : ndarray of bool, shape (people of the sample,)
        Who is meant: k of them.
    asked : float
        With which chance the device of a person asks; see `Truths`.
    """

    design: Sampling
    people: NDArray[np.bool_]
    asked: float = 1.0
    weights: NDArray[np.float64] = field(init=False)
    frequencies: NDArray[np.int64] = field(init=False)
    is_weighted: bool = field(init=False, default=True)
    is_counted: bool = field(init=False, default=False)
    is_complex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", self.design.weights[self.people])
        object.__setattr__(self, "frequencies", ones(len(self.weights)))  # a design needs each person's row

    @property
    def df(self) -> float:
        """Degrees of freedom of errors."""
        return self.design.degrees_of_freedom(self.people)

    @property
    def is_finite(self) -> bool:
        """Whether some of the population was drawn without replacement, so that the chance of devices counts apart."""
        return isinstance(self.design, SamplingDesign) and self.design.is_finite

    def without_population(self) -> Domain:
        """This domain of a sample as if drawn with replacement."""
        design = self.design.without_population() if isinstance(self.design, SamplingDesign) else self.design
        return replace(self, design=design)

    def means(
        self, values: ArrayLike, truths: Truths | None = None, groups: Sequence[NDArray[np.bool_]] = ()
    ) -> SampleEstimate:
        """Means of values of the people, shape (k,) or (k, m), or of groups of them; see `SamplingDesign.means`.

        >>> from deniable_statistics.sampling import SamplingDesign
        >>> domain = Domain(SamplingDesign.of([1, 1, 1, 1]), np.array([True, False, True, True]))
        >>> found = domain.means([1, 2, 6])
        >>> found.estimate.tolist(), round(float(found.std_error[0]), 4), found.df
        ([3.0], 1.4402, 2)
        """
        wanted = [self.spread(group) for group in groups] or [self.people]
        return self.design.means(self.spread(columns(values)), wanted, self._whole(truths))

    def covariance(self, influence: NDArray[np.float64], truths: Truths | None = None) -> NDArray[np.float64]:
        """Covariance of the weighted sum of influences of the people, shape (k, m)."""
        return self.design.covariance(self.spread(influence), self._whole(truths))

    def where(self, kept: NDArray[np.bool_]) -> Domain:
        """Some of the people, marked in an array of shape (k,)."""
        return replace(self, people=self.spread(kept))

    def _whole(self, truths: Truths | None) -> Truths | None:
        """The truths of the people among those of the whole sample."""
        if truths is None or not self.is_finite:
            return None
        # One row for each truth is the same for everybody; a row for each person is spread as the values are.
        values = truths.values if truths.values.ndim == 2 else self.spread(truths.values)
        return Truths(self.spread(truths.scores), values, self.asked)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Rows of the people among those of the whole sample, 0 for the others."""
        found = np.zeros((len(self.people), *values.shape[1:]), dtype=values.dtype)
        found[self.people] = values
        return found

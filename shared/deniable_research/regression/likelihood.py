"""What a model must offer to be fitted, and the rows that it is fitted to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable_research.sampling import Domain, ReplicateDesign, Truths
from deniable_research.sampling.design import numbered
from deniable_research.weights import kish

if TYPE_CHECKING:
    from deniable_research.regression.data import Frame
    from deniable_research.regression.maximum import Value
    from deniable_research.regression.outcomes import CategoricalOutcome, NoOutcome, NormalOutcome
    from deniable_research.regression.regressors import Regressors


class Likelihood(Protocol):
    """A log-likelihood with its derivatives, as a frozen value of its data."""

    @property
    def weights(self) -> NDArray[np.float64]: ...
    @property
    def observed(self) -> NDArray[np.float64]: ...
    @property
    def terms(self) -> tuple[str, ...]: ...
    @property
    def logits(self) -> Sequence[tuple[slice, Regressors]]: ...
    @property
    def nuisance(self) -> int: ...
    @property
    def cells_at(self) -> slice: ...
    @property
    def outcome(self) -> CategoricalOutcome | NoOutcome | NormalOutcome: ...
    @property
    def bounded(self) -> Sequence[int]: ...
    def evaluate(self, params: NDArray[np.float64]) -> Value: ...
    def scores(self, params: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def possible(self, params: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]: ...
    def directions(self) -> NDArray[np.float64]: ...
    def null_directions(self) -> NDArray[np.float64]: ...
    def inside(self, params: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def starts(self) -> list[NDArray[np.float64]]: ...
    def truths(self, params: NDArray[np.float64]) -> Truths | None: ...
    def reweighted(self, weights: NDArray[np.float64]) -> Self: ...


TOO_FEW_UNITS = "There are too few sampling units for so many coefficients: their errors have no degrees of freedom."


@dataclass(frozen=True)
class Sample:
    """How the rows of a fit stand for people.

    Attributes
    ----------
    frame : Frame
    weights : ndarray, shape (n,)
        Frequencies, or probability weights scaled to a mean of 1.
    frequencies : bool
        Whether a weight counts people who are all alike.
    clusters : ndarray of int, shape (n,), or None
    domain : Domain or None
        Among all who were drawn, the people of the rows.
    """

    frame: Frame
    weights: NDArray[np.float64]
    frequencies: bool
    clusters: NDArray[np.int64] | None
    domain: Domain | None = None

    @staticmethod
    def columns(weights: Any, frequencies: Any, clusters: Any, domain: Domain | None) -> dict[str, Any]:
        """The columns that belong to rows, by role; those of a domain are its own."""
        if domain is None:
            return {"weights": weights, "frequencies": frequencies, "clusters": clusters}
        if any(each is not None for each in (weights, frequencies, clusters)):
            raise ParameterError("domain: must bring weights and clusters itself, they are not given beside it")
        return {"weights": domain.weights, "rows": np.arange(len(domain))}

    @classmethod
    def of(cls, frame: Frame, domain: Domain | None = None) -> Sample:
        """Check the columns ``weights``, ``frequencies``, ``clusters`` and ``rows`` of a frame."""
        n, coefficients = frame.matrix.shape
        given = [role for role in ("weights", "frequencies") if role in frame.columns]
        if len(given) == 2:
            raise ParameterError("weights, frequencies: must not both be given")
        weights = np.ones(n)
        for role in given:
            weights = np.asarray(frame.columns[role])
            if weights.dtype.kind not in "biuf" or not np.isfinite(weights).all() or (weights <= 0).any():
                raise ParameterError(f"{role}: must be finite numbers above 0; leave out rows that count nothing")
            if role == "frequencies" and (weights != np.floor(weights)).any():
                raise ParameterError("frequencies: must be whole numbers; other weights are given as weights")
            weights = weights.astype(float)
            if role == "weights":
                weights = weights / weights.mean()
        people = round(weights.sum()) if given == ["frequencies"] else n
        if people <= coefficients:
            raise ParameterError(f"formula: must have fewer coefficients than people, got {coefficients} for {people}")
        clusters = frame.columns.get("clusters")
        numbers = None if clusters is None else numbered(clusters.tolist())
        if domain is not None:
            kept = np.zeros(len(domain), dtype=bool)
            kept[frame.columns["rows"]] = True
            domain = domain.where(kept)
        return cls(frame, weights, given != ["weights"], numbers, domain)

    @property
    def plain(self) -> bool:
        """Whether the likelihood is one: independent people who count alike."""
        return self.frequencies and self.clusters is None and self.domain is None

    @property
    def n(self) -> int:
        """Number of people."""
        return round(float(self.weights.sum())) if self.frequencies else len(self.weights)

    @property
    def n_effective(self) -> float:
        """Kish's ``(sum w)^2 / sum w^2`` under probability weights."""
        return float(self.n) if self.frequencies else kish(self.weights.tolist())

    def df(self, coefficients: int) -> float:
        """Degrees of freedom of errors: of the design, those but the first that coefficients take; else infinite."""
        return math.inf if self.domain is None else self.domain.df + 1 - coefficients

    @property
    def is_finite(self) -> bool:
        """Whether some of a population was drawn without replacement."""
        return self.domain is not None and self.domain.is_finite

    def replicated(
        self,
        params: NDArray[np.float64],
        refit: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    ) -> NDArray[np.float64] | None:
        """Covariance of estimates from what they are under each replicate's weights; None without replicates.

        NaN if some replicate has no estimate.
        """
        if self.domain is None or not isinstance(self.domain.design, ReplicateDesign):
            return None
        unit = float(self.weights.sum() / self.domain.weights.sum())
        each = self.domain.design.replicates[self.domain.people].T * unit
        return self.domain.design.estimate(params, np.array([refit(weights) for weights in each])).covariance

    def meat(
        self,
        scores: NDArray[np.float64],
        clusters: NDArray[np.int64] | None = None,
        truths: Truths | None = None,
    ) -> NDArray[np.float64]:
        """Variance of the sum of the scores, for the sandwich: over people, over clusters of them, or by the design.

        Times ``G / (G - 1)`` for ``G`` clusters, which are people where there are none. With a finite population
        `truths` say what scores are without the chance of the devices; without them the population counts as endless.
        """
        if self.domain is not None and clusters is None:
            domain = self.domain if truths is not None else self.domain.without_population()
            unit = float(self.weights.sum() / domain.weights.sum())
            return domain.covariance(scores, truths) * unit**2

        labels = self.clusters if clusters is None else clusters
        weighted = self.weights[:, None] * scores
        if labels is not None:
            count = int(labels.max()) + 1
            if count < 2:
                raise ParameterError("clusters: must be at least 2, got 1")
            sums = np.zeros((count, scores.shape[1]))
            np.add.at(sums, labels, weighted)
            return sums.T @ sums * count / (count - 1)
        product = scores.T @ weighted if self.frequencies else weighted.T @ weighted
        return np.asarray(product * self.n / max(self.n - 1, 1))

"""The rows that a model is fitted to, and how they stand for people."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable_statistics.regression.factor import Array
from deniable_statistics.sampling import Domain, ReplicateDesign, Truths
from deniable_statistics.sampling.sampling_design import numbered
from deniable_statistics.sampling.weights import kish

TOO_FEW_UNITS = "There are too few sampling units for so many coefficients: their errors have no degrees of freedom."


@dataclass(frozen=True)
class Frame:
    """Complete rows: the covariates and every other column that belongs to them.

    Attributes
    ----------
    matrix : ndarray, shape (n, p)
        Covariates as coded, the intercept among them.
    terms : tuple of str, length p
    columns : mapping from str to ndarray of length n
        The outcome and what else was asked for (weights, clusters, groups, ...), without missing values.
    n_dropped : int
        Rows left out because something was missing; people where rows are weighted by frequencies.
    coding : callable, or None
        Codes the covariates of new data alike; None for arrays.
    formula : str
        The right side; empty for arrays.
    left : str
        The left side, without backticks.
    table : DataFrame or None
        The rows of the table of that formula.
    """

    matrix: Array
    terms: tuple[str, ...]
    columns: Mapping[str, NDArray[Any]]
    n_dropped: int
    coding: Callable[[Any], Array] | None
    formula: str = ""
    left: str = ""
    table: Any = None


def left_out(n: int) -> str:
    """What is said of rows that have a gap.

    >>> left_out(1), left_out(22)
    ('1 row was left out because something was missing.', '22 rows were left out because something was missing.')
    """
    return f"{n} {'row was' if n == 1 else 'rows were'} left out because something was missing."


@dataclass(frozen=True)
class ModelSample:
    """Independent people, or clusters of them.

    Attributes
    ----------
    frame : Frame
    weights : ndarray, shape (n,)
        Frequencies, or probability weights scaled to a mean of 1.
    frequencies : bool
        Whether a weight counts people who are all alike.
    clusters : ndarray of int, shape (n,), or None
    """

    frame: Frame
    weights: Array
    frequencies: bool
    clusters: NDArray[np.int64] | None

    is_drawn = False
    """Whether a sampling design says how people were drawn."""

    @classmethod
    def of(cls, frame: Frame) -> ModelSample:
        """Check the columns ``weights``, ``frequencies`` and ``clusters`` of a frame."""
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
                # scaled so that they add up to n: information is judged per row
                weights = weights / weights.mean()
        people = round(weights.sum()) if given == ["frequencies"] else n
        if people <= coefficients:
            raise ParameterError(f"formula: must have fewer coefficients than people, got {coefficients} for {people}")
        clusters = frame.columns.get("clusters")
        numbers = None if clusters is None else numbered(clusters.tolist())
        return cls(frame, weights, given != ["weights"], numbers)

    @property
    def plain(self) -> bool:
        """Whether the likelihood is one: independent people who count alike."""
        return self.frequencies and self.clusters is None

    @property
    def n(self) -> int:
        """Number of people."""
        return round(float(self.weights.sum())) if self.frequencies else len(self.weights)

    @property
    def n_effective(self) -> float:
        """Kish's ``(sum w)^2 / sum w^2`` under probability weights."""
        return float(self.n) if self.frequencies else kish(self.weights.tolist())

    def df(self, _coefficients: int) -> float:
        """Degrees of freedom of the errors of a model: infinite, because errors are normal."""
        return math.inf

    @property
    def is_finite(self) -> bool:
        """Whether some of a population was drawn without replacement."""
        return False

    def replicated(self, _params: Array, _refit: Callable[[Array], Array]) -> Array | None:
        """Covariance of estimates from what they are under each replicate's weights; None without replicates."""
        return None

    def meat(self, scores: Array, _truths: Truths | None = None) -> Array:
        """Variance of the sum of the scores, for the sandwich: over people, or over clusters of them.

        Times ``G / (G - 1)`` for ``G`` clusters, which are people where there are none.
        """
        weighted = self.weights[:, None] * scores
        if self.clusters is not None:
            count = int(self.clusters.max()) + 1
            if count < 2:
                raise ParameterError("clusters: must be at least 2, got 1")
            sums = np.zeros((count, scores.shape[1]))
            np.add.at(sums, self.clusters, weighted)
            # G / (G - 1) sum over clusters of (sum w s)(sum w s)'
            return sums.T @ sums * count / (count - 1)
        # f people who are all alike add f s s', one who counts w times w^2 s s'
        product = scores.T @ weighted if self.frequencies else weighted.T @ weighted
        return np.asarray(product * self.n / max(self.n - 1, 1))

    def clustered(self, clusters: NDArray[np.int64]) -> ModelSample:
        """These rows in clusters that are independent of each other."""
        return ModelSample(self.frame, self.weights, self.frequencies, clusters)


@dataclass(frozen=True)
class DrawnSample(ModelSample):
    """People whom a sampling design drew.

    Attributes
    ----------
    domain : Domain
        Among all who were drawn, the people of the rows.
    """

    domain: Domain

    is_drawn = True

    @classmethod
    def of_domain(cls, frame: Frame, domain: Domain) -> DrawnSample:
        """The people of a domain who stand in the column ``rows`` of a frame."""
        kept = np.zeros(len(domain), dtype=bool)
        kept[frame.columns["rows"]] = True
        return cls(**vars(ModelSample.of(frame)), domain=domain.where(kept))

    def df(self, coefficients: int) -> float:
        """Degrees of freedom of errors: those of the design, but the first that coefficients take."""
        return self.domain.df + 1 - coefficients

    @property
    def plain(self) -> bool:
        return False

    @property
    def is_finite(self) -> bool:
        return self.domain.is_finite

    @property
    def _unit(self) -> float:
        """What a weight of the domain is here, where their mean is 1."""
        return float(self.weights.sum() / self.domain.weights.sum())

    def replicated(self, params: Array, refit: Callable[[Array], Array]) -> Array | None:
        """Covariance of estimates from what they are under each replicate's weights; None without replicates.

        NaN if some replicate has no estimate.
        """
        # replicates stand for whom the design drew, those of the rows among them
        design = self.domain.design
        if not isinstance(design, ReplicateDesign):
            return None
        each = design.replicates[self.domain.people].T * self._unit
        return design.estimate(params, np.array([refit(weights) for weights in each])).covariance

    def meat(self, scores: Array, truths: Truths | None = None) -> Array:
        """Variance of the sum of the scores by the design.

        With a finite population `truths` say what scores are without the chance of the devices; without them the
        population counts as endless.
        """
        domain = self.domain if truths is not None else self.domain.without_population()
        return domain.covariance(scores, truths) * self._unit**2

"""The people of an analysis: how much each row counts, and how a mean varies with who was drawn and what was added."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError
from deniable.wire.space import Count
from deniable_statistics.designs.debiasing import one_report_covariance
from deniable_statistics.sampling.estimates import SampleEstimate
from deniable_statistics.sampling.noise import Truths
from deniable_statistics.sampling.sampling_design import columns
from deniable_statistics.sampling.weights import kish

Number = TypeVar("Number", bound=np.generic)


class Sample(ABC):
    """Rows of people, and what an analysis asks of how they were drawn.

    `SimpleSample` has people who were drawn one by one, `deniable_statistics.sampling.Domain` those of a complex
    sample. Analyses are written once for both.

    Attributes
    ----------
    weights : ndarray, shape (rows,)
        The weight of each person; ones where people have none.
    frequencies : ndarray of int64, shape (rows,)
        Number of people that each row represents; 1 unless equal rows were counted.
    is_weighted : bool
        Whether counts are sums of weights, which are real numbers, instead of numbers of people.
    is_counted : bool
        Whether rows that are alike were counted.
    is_complex : bool
        Whether errors follow from strata, units, replicates or margins, so that they are Student's and none is exact.
    """

    weights: NDArray[np.float64]
    frequencies: NDArray[np.int64]
    is_weighted: bool
    is_counted: bool
    is_complex: ClassVar[bool]

    @property
    @abstractmethod
    def df(self) -> float:
        """Degrees of freedom of errors; infinite where people were drawn one by one."""

    @property
    @abstractmethod
    def is_finite(self) -> bool:
        """Whether some of the population was drawn without replacement, so that the chance of devices counts apart."""

    @abstractmethod
    def where(self, kept: NDArray[np.bool_]) -> Self:
        """The sample of some of the rows, marked in an array of shape (rows,)."""

    @abstractmethod
    def means(self, values: ArrayLike, truths: Truths | None = None) -> SampleEstimate:
        """Means of values of shape (rows,) or (rows, m); `truths` are the values without the chance of devices."""

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def n(self) -> int:
        """How many people all rows stand for."""
        return int(self.frequencies.sum())

    @property
    def size(self) -> Count:
        """How many people all rows stand for, or the sum of their weights."""
        if not self.is_weighted:
            return self.n
        # Two sums that are equal but for rounding, so that published figures keep their last digit.
        return float(self.weights @ self.frequencies if self.is_counted else self.weights.sum())

    @property
    def counted(self) -> NDArray[np.float64]:
        """How much each row counts: the weight of a person times the number of people, shape (rows,)."""
        return self.weights * self.frequencies

    @property
    def n_effective(self) -> float:
        """Kish's effective number of people; their number where they have no weights."""
        if not self.is_weighted:
            return float(self.n)
        return kish(self.weights.tolist(), self.frequencies.tolist())

    def tally(self, supports: NDArray[np.bool_]) -> tuple[list[Count], Count, float | None]:
        """Counts, their number and the effective one, None without weights, as `Estimate.from_counts` takes them.

        Parameters
        ----------
        supports : ndarray of bool, shape (rows, k)
            Which options the report of each row supports.
        """
        if not self.is_weighted:
            counts: list[Count] = (self.frequencies @ supports.astype(np.int64)).tolist()
            return counts, self.n, None
        total = float(self.weights @ self.frequencies)
        if not total:  # nobody of those who count has a report
            return [0] * supports.shape[1], 0, None
        # A sum in another order may be larger than the total by a rounding.
        return (self.counted @ supports).clip(max=total).tolist(), total, self.n_effective


@dataclass(frozen=True, eq=False)
class SimpleSample(Sample):
    """People who were drawn one by one, from a population without end, perhaps with unequal chances.

    Examples
    --------
    Two people of weight 1 and one of weight 2 are worth 4^2 / 6 people, so the variance is .25 x 6 / 16:

    >>> found = SimpleSample.of([1, 1, 2]).means([0, 0, 1])
    >>> found.estimate.tolist(), found.covariance.round(5).tolist()
    ([0.5], [[0.09375]])
    """

    weights: NDArray[np.float64]
    frequencies: NDArray[np.int64]
    is_weighted: bool = False
    is_counted: bool = False
    is_complex: ClassVar[bool] = False
    df: ClassVar[float] = math.inf
    is_finite: ClassVar[bool] = False

    @classmethod
    def of(cls, weights: ArrayLike, frequencies: NDArray[np.int64] | int = 1) -> SimpleSample:
        """People with weights; with frequencies, each weight applies to that number of people.

        Raises
        ------
        ParameterError
            If a weight is negative or not finite.
        """
        each = np.asarray(weights, dtype=float)
        if each.ndim != 1 or not np.isfinite(each).all() or (each < 0).any():
            raise ParameterError(f"weights: must be {each.size} finite numbers of at least 0, one for each person")
        return cls(each, np.broadcast_to(frequencies, each.shape), is_weighted=True)

    @classmethod
    def alike(cls, frequencies: NDArray[np.int64]) -> SimpleSample:
        """People with equal weights, given the number of people in each row."""
        return cls(np.broadcast_to(1.0, len(frequencies)), frequencies)

    def where(self, kept: NDArray[Any]) -> SimpleSample:
        """The sample of some of the rows."""
        return replace(self, weights=of_rows(self.weights, kept), frequencies=of_rows(self.frequencies, kept))

    def means(self, values: ArrayLike, truths: Truths | None = None) -> SampleEstimate:
        """Means with the covariance of one report over the effective number of people."""
        each = columns(values)
        # The distribution of one person drawn from these: its covariance over n is that of a mean of n.
        chances = self.counted / self.counted.sum()
        covariance = one_report_covariance(each.T, chances) / self.n_effective
        return SampleEstimate(chances @ each, covariance, self.df)


def ones(rows: int) -> NDArray[np.int64]:
    """One person in each row, as one number that stands for all."""
    return np.broadcast_to(np.int64(1), rows)


def of_rows(each: NDArray[Number], kept: NDArray[Any]) -> NDArray[Number]:
    """The numbers of some of the rows, ``each[kept]``; one number that stands for all rows still does.

    >>> of_rows(ones(3), np.array([True, False, True])).tolist()
    [1, 1]
    >>> of_rows(np.array([4, 5, 6]), np.array([2, 0])).tolist()
    [6, 4]
    """
    if not len(each) or each.strides != (0,):
        return np.asarray(each[kept])
    # A million ones need not be copied for every question and cohort.
    return np.broadcast_to(each[0], int(np.count_nonzero(kept)) if kept.dtype == bool else len(kept))

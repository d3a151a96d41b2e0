"""Errors from replicate weights, as statistical offices publish them: jackknife, balanced halves, bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError
from deniable_statistics.sampling.calibration import Margin, fitted_weights
from deniable_statistics.sampling.estimates import SampleEstimate
from deniable_statistics.sampling.noise import Truths
from deniable_statistics.sampling.sampling_design import columns

METHODS = ("jackknife", "jackknife-pairs", "brr", "fay", "bootstrap")
"""How replicate weights were made; see `replicate_scales`."""


def replicate_scales(method: str, replicates: int, fay: float | None = None) -> NDArray[np.float64]:
    """What each squared distance of a replicate from the whole counts, shape (replicates,).

    ``jackknife`` (one unit left out of all, JK1) ``(R - 1) / R``; ``jackknife-pairs`` (one unit of a pair doubled, the
    other left out, one replicate a pair, JK2) 1; ``brr`` ``1 / R``; ``fay`` ``1 / (R (1 - k)^2)`` with Fay's ``k``;
    ``bootstrap`` ``1 / R`` [1]_. A stratified jackknife (JKn) has numbers of its own, which come with the data.

    References
    ----------
    .. [1] K. M. Wolter, "Introduction to Variance Estimation", second edition, Springer 2007, chapters 3 to 5.

    Examples
    --------
    >>> replicate_scales("jackknife", 4).tolist(), replicate_scales("fay", 4, 0.5).tolist()
    ([0.75, 0.75, 0.75, 0.75], [1.0, 1.0, 1.0, 1.0])
    """
    if method not in METHODS:
        raise ParameterError(f"replicate_method: must be one of {', '.join(METHODS)}, got {method!r:.40}")
    if (method == "fay") != (fay is not None):
        raise ParameterError("replicate_fay: must be given for the method fay, and for no other")
    if fay is not None and not 0 <= fay < 1:
        raise ParameterError(f"replicate_fay: must be from 0 to below 1, got {fay:g}")
    each = {
        # Each leaves one of R units out, so the replicates are nearer together than samples by (R - 1) / R.
        "jackknife": (replicates - 1) / replicates,
        "jackknife-pairs": 1.0,
        "brr": 1 / replicates,
        # Weights change by a factor of 1 - fay only, and distances with them: its square is divided out.
        "fay": 1 / (replicates * (1 - (fay or 0.0)) ** 2),
        "bootstrap": 1 / replicates,
    }[method]
    return np.full(replicates, each)


@dataclass(frozen=True, eq=False)
class ReplicateDesign:
    """Weights of the people, and many more sets of weights whose estimates vary as those of other samples would.

    Parameters
    ----------
    weights : ndarray, shape (people,)
    replicates : ndarray, shape (people, replicates)
        Whole weights, not factors of `weights`.
    scales : ndarray, shape (replicates,)
        See `replicate_scales`.
    df : float
        Degrees of freedom; by default the number of replicates minus 1.

    Notes
    -----
    ``V = sum over r of c_r (t_r - t)^2`` with ``t_r`` the estimate under the weights of replicate ``r``, around the
    estimate of the whole sample. Replicates leave out, halve or draw again people together with their reports, so the
    chance of devices is in the spread of the ``t_r``, whole. Only replicates that were shrunk for a finite population
    shrink it too; these make errors of randomised answers too small.

    Examples
    --------
    Without one person each: the jackknife of a mean is its textbook error, here sqrt(5/3 / 4).

    >>> people = np.ones((4, 4)) - np.eye(4)
    >>> design = ReplicateDesign.of(np.ones(4), people * 4 / 3, replicate_scales("jackknife", 4))
    >>> round(float(design.means([1, 2, 3, 4]).std_error[0]), 4), design.df
    (0.6455, 3)
    """

    weights: NDArray[np.float64]
    replicates: NDArray[np.float64]
    scales: NDArray[np.float64]
    df: float

    @classmethod
    def of(
        cls, weights: ArrayLike, replicates: ArrayLike, scales: ArrayLike, df: float | None = None
    ) -> ReplicateDesign:
        """The design from numbers that are checked.

        Raises
        ------
        ParameterError
            If lengths do not fit, there are fewer than two replicates, or something is not a finite number.
        """
        whole, each = np.asarray(weights, dtype=float), np.asarray(replicates, dtype=float)
        if each.ndim != 2 or len(each) != len(whole) or each.shape[1] < 2:
            raise ParameterError(f"replicates: must be 2 or more weights for each of {len(whole)} people")
        if not (np.isfinite(whole).all() and np.isfinite(each).all()) or (len(whole) and whole.min() < 0):
            raise ParameterError("weights, replicates: must be finite numbers, weights of at least 0")
        count = each.shape[1]
        factors = np.asarray(scales, dtype=float)
        if factors.shape not in ((), (count,)) or not np.isfinite(factors).all() or (factors < 0).any():
            raise ParameterError(
                f"replicate_scale: must be one number of at least 0, or {count}, one for each replicate"
            )
        if df is not None and not df > 0:
            raise ParameterError(f"degrees_of_freedom: must be above 0, got {df:g}")
        # R replicates around one estimate have R - 1 independent distances at most.
        return cls(whole, each, np.broadcast_to(factors, (count,)), count - 1 if df is None else df)

    def __len__(self) -> int:
        return len(self.weights)

    def degrees_of_freedom(self, people: NDArray[np.bool_] | None = None) -> float:
        """Degrees of freedom: those of the replicates, whoever is looked at."""
        return self.df

    def total(self, values: ArrayLike, truths: Truths | None = None) -> SampleEstimate:
        """Totals of the population, of values of shape (people,) or (people, m)."""
        each = columns(values)
        return self.estimate(self.weights @ each, self.replicates.T @ each)

    def means(
        self,
        values: ArrayLike,
        domains: Sequence[NDArray[np.bool_]] = (),
        truths: Truths | None = None,
    ) -> SampleEstimate:
        """Means of the people in each of several domains; without domains, of everybody. No truths are needed."""
        each = columns(values)
        wanted = list(domains) or [np.ones(len(self), dtype=bool)]
        whole, parts = [], []
        for people in wanted:
            kept, own, weights = each[people], self.weights[people], self.replicates[people]
            total, totals = own.sum(), weights.sum(axis=0)
            if total and not totals.all():
                raise ParameterError(
                    f"replicates: must all have somebody of every group, {int((totals == 0).sum())} of {len(totals)} "
                    "have nobody of one"
                )
            m = each.shape[1]
            whole.append(own @ kept / total if total else np.full(m, np.nan))
            parts.append(weights.T @ kept / totals[:, None] if total else np.full((len(totals), m), np.nan))
        return self.estimate(np.concatenate(whole), np.hstack(parts))

    def ratio(self, top: ArrayLike, bottom: ArrayLike) -> SampleEstimate:
        """Ratios of totals: `top`, shape (people,) or (people, m), over `bottom`, (people,)."""
        above, below = columns(top), columns(bottom)
        return self.estimate(
            self.weights @ above / (self.weights @ below), self.replicates.T @ above / (self.replicates.T @ below)
        )

    def calibrated(self, margins: Sequence[Margin]) -> ReplicateDesign:
        """This sample with each of its sets of weights fitted to known margins; see `SamplingDesign.calibrated`."""
        # Fitting again in each replicate puts what the margins explain into the spread by itself.
        each = np.column_stack([fitted_weights(weights, margins) for weights in self.replicates.T])
        return replace(self, weights=fitted_weights(self.weights, margins), replicates=each)

    def covariance(self, influence: NDArray[np.float64], truths: Truths | None = None) -> NDArray[np.float64]:
        """Covariance of ``sum w_k z_k``, shape (m, m), for influences ``z`` of shape (people, m)."""
        return self.total(influence).covariance

    def estimate(self, whole: NDArray[np.float64], parts: NDArray[np.float64]) -> SampleEstimate:
        """Any estimate, shape (m,), from what it is under each replicate's weights, shape (replicates, m)."""
        # Around the estimate of the whole sample, not the replicates' mean: mse = TRUE of R's survey.
        apart = parts - whole
        return SampleEstimate(whole, (apart * self.scales[:, None]).T @ apart, self.df)

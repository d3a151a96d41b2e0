"""What corrected least squares know about themselves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deniable_research.regression.likelihood import TOO_FEW_UNITS, Sample
from deniable_research.regression.moments import Moments
from deniable_research.regression.tidy import Glance, TidyRow, wald_row
from deniable_statistics.intervals import check_confidence_level


@dataclass(frozen=True)
class MomentFit:
    """Corrected least squares: estimates without a likelihood.

    Attributes
    ----------
    params : ndarray
        Estimates, in the order of `terms`; NaN where the corrected equations have no solution.
    terms : tuple of str
    sigma : float
        Standard deviation of the residuals, NaN if the correction leaves none.
    n, n_effective, n_dropped
        As for `Fit`.
    converged : bool
        Whether the corrected equations have a solution.
    message : str
        What to know before using the estimates; empty if nothing.
    """

    params: NDArray[np.float64]
    terms: tuple[str, ...]
    sigma: float
    n: int
    n_effective: float
    n_dropped: int
    converged: bool
    message: str
    moments: Moments = field(repr=False)
    sample: Sample = field(repr=False)
    refit: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        terms: tuple[str, ...],
        moments: Moments,
        sample: Sample,
        refit: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
    ) -> MomentFit:
        solved, dropped = bool(np.isfinite(moments.params).all()), sample.frame.n_dropped
        remarks = [] if solved else ["The corrected equations have no solution: too much noise for so few people."]
        if not sample.df(len(terms)) > 0:
            remarks.append(TOO_FEW_UNITS)
        if dropped:
            remarks.append(f"{dropped} rows were left out because something was missing.")
        counts = (sample.n, sample.n_effective, dropped)
        return cls(moments.params, terms, moments.sigma, *counts, solved, " ".join(remarks), moments, sample, refit)

    def covariance(self) -> NDArray[np.float64]:
        """The sandwich, over clusters or by the design if the fit has them, shape (terms, terms).

        With replicate weights: of the estimates under each of them.
        """
        if not self.converged:
            return np.full((len(self.terms),) * 2, np.nan)
        if self.refit is not None and (replicated := self.sample.replicated(self.params, self.refit)) is not None:
            return replicated
        bread, units = np.linalg.inv(self.moments.bread), self.moments.units
        known = self.moments.truths() if self.moments.truths is not None and self.sample.is_finite else None
        meat = self.sample.meat(self.moments.equations, truths=known)
        return np.asarray(units @ bread @ meat @ bread @ units.T)

    @property
    def df(self) -> float:
        """Degrees of freedom of errors, infinite unless people were drawn by a design; see `Sample.df`."""
        return self.sample.df(len(self.terms))

    def tidy(self, confidence_level: float = 0.95) -> list[TidyRow]:
        """One row for each term, with Wald's test and interval."""
        check_confidence_level(confidence_level)
        errors = np.sqrt(np.diag(self.covariance()))
        return [
            wald_row(*each, confidence_level, self.df) for each in zip(self.terms, self.params, errors, strict=True)
        ]

    def glance(self) -> Glance:
        """One row about the whole fit; what needs a likelihood is NaN."""
        return Glance(
            n=self.n,
            n_effective=self.n_effective,
            n_dropped=self.n_dropped,
            loglik=math.nan,
            null_loglik=math.nan,
            df=len(self.terms),
            aic=math.nan,
            bic=math.nan,
            lr_statistic=math.nan,
            lr_df=0,
            p_value=math.nan,
            pseudo_r2=math.nan,
            penalty=None,
            optima=int(self.converged),
            converged=self.converged,
            separated=not self.converged,
        )

"""What a fit by maximum likelihood knows about itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2

from deniable.errors import ParameterError
from deniable_research.regression.information import information, invert
from deniable_research.regression.likelihood import TOO_FEW_UNITS, Likelihood, Sample
from deniable_research.regression.maximum import Search, newton
from deniable_research.regression.outcomes import CategoricalOutcome
from deniable_research.regression.penalty import CauchyPrior, penalised
from deniable_research.regression.prediction import Prediction, predict
from deniable_research.regression.profile import Profile
from deniable_research.regression.tidy import Glance, TidyRow, wald_row
from deniable_research.sampling import Truths
from deniable_research.sampling.design import numbered
from deniable_statistics.intervals import check_confidence_level

if TYPE_CHECKING:
    from deniable_research.regression.maximum import Objective

MOST_PROFILED = 60
"""Parameters up to which intervals are profiles by default: each needs some 20 fits."""

PRIORS = {
    "cauchy": "estimates are those under a Cauchy prior",
    "cauchy on cells": "how often the truths of the predictors are is estimated under a Cauchy prior",
}
"""`Fit.penalty` in words."""

KINDS = ("observed", "expected", "opg", "sandwich")


@dataclass(frozen=True)
class Fit:
    """A model fitted by maximum likelihood, or penalised likelihood.

    Attributes
    ----------
    params : ndarray
        Estimates, in the order of `terms`.
    terms : tuple of str
    loglik : float
        Log-likelihood at the estimates, without the prior.
    n : int
        Rows; people where rows are weighted by frequencies.
    n_effective : float
        ``(sum w)^2 / sum w^2`` under weights (Kish), otherwise `n`.
    n_dropped : int
        Rows left out because something was missing.
    converged : bool
        Whether gradient and step vanished at a strict maximum of what was maximised.
    separated : bool
        Whether no search found a maximum of the likelihood that the data bound: it rises, or is all but flat, towards
        infinite coefficients (`deniable_research.regression.maximum.LARGEST_ERROR`). Then the estimates are those under
        `penalty`; without one they are where the search ended, and every term that runs away has an infinite standard
        error.
    optima : int
        Different ends that the searches found, infinity among them. The first starts are enough if they all agree, so
        this is a lower bound. The best one that the data bound is the estimate, even if a steeper one is higher: with
        few people and much noise a step at some value of a covariate may fit better than any slope.
    penalty : str or None
        ``"cauchy"`` if `CauchyPrior` was added; ``"cauchy on cells"`` if only to how often truths of predictors are.
    message : str
        What to know before using the estimates; empty if nothing.
    """

    params: NDArray[np.float64]
    terms: tuple[str, ...]
    loglik: float
    n: int
    n_effective: float
    n_dropped: int
    converged: bool
    separated: bool
    optima: int
    penalty: str | None
    message: str
    model: Likelihood = field(repr=False)
    sample: Sample = field(repr=False)
    prior: CauchyPrior | None = field(repr=False)

    @classmethod
    def of(
        cls,
        model: Likelihood,
        sample: Sample,
        prior: CauchyPrior | None,
        penalty: str | None,
        found: Search,
        separated: bool,
    ) -> Fit:
        """The fit at the best end of a search."""
        best = found.best
        fit = cls(
            params=best.params,
            terms=model.terms,
            loglik=model.evaluate(best.params)[0],
            n=sample.n,
            n_effective=sample.n_effective,
            n_dropped=sample.frame.n_dropped,
            converged=best.converged,
            separated=separated,
            optima=found.optima,
            penalty=penalty,
            message="",
            model=model,
            sample=sample,
            prior=prior,
        )
        object.__setattr__(fit, "message", " ".join(fit._remarks(found.excess)))
        return fit

    @property
    def objective(self) -> Objective:
        """What was maximised."""
        return penalised(self.model, self.prior)

    @property
    def value(self) -> float:
        """Log-likelihood plus the logarithm of the prior, relative to its top."""
        return self.objective(self.params)[0]

    def at_end(self) -> list[int]:
        """Positions of shares that are 0 or 1."""
        return [j for j in self.model.bounded if self.params[j] in (0, 1)]

    def covariance(self, kind: str | None = None, clusters: ArrayLike | None = None) -> NDArray[np.float64]:
        """Covariance of the estimates.

        Parameters
        ----------
        kind : {"observed", "expected", "opg", "sandwich"}
            Inverse of the negative second derivatives; of their expectation over everything that people could have
            reported; of the sum of squared scores; or the sandwich of the first around the variance of the scores,
            which holds for what the estimates tend to even if the model is wrong [1]_. Default: the sandwich with
            weights or clusters, otherwise observed.
        clusters : array_like, length n, optional
            Other clusters than those of the fit, for the sandwich.

        Returns
        -------
        ndarray, shape (terms, terms)
            A term that the likelihood does not bound has variance inf and covariances NaN; a share at 0 or 1 has
            NaN, and the others are given that it is there. All NaN if the fit did not converge otherwise.

        References
        ----------
        .. [1] H. White, "Maximum likelihood estimation of misspecified models", Econometrica 50 (1982), 1-25.
        """
        kind = self.default_kind if kind is None and clusters is None else kind or "sandwich"
        if kind not in KINDS:
            raise ParameterError(f"kind: must be one of {', '.join(KINDS)}, got {kind!r}")
        if self.sample.domain is not None and kind != "sandwich":
            raise ParameterError(f"kind: must be sandwich under a sampling design, got {kind}")
        if clusters is not None and kind != "sandwich":
            raise ParameterError(f"clusters: must go with the sandwich, got {kind}")
        inverse = self.bread("observed" if kind == "sandwich" else kind)
        if kind != "sandwich" or (not self.converged and np.isnan(inverse).all()):
            return inverse
        labels = None if clusters is None else numbered(np.asarray(clusters).tolist())
        if labels is not None and len(labels) != len(self.model.weights):
            raise ParameterError(f"clusters: must be one for each of {len(self.model.weights)} rows, got {len(labels)}")
        known = np.isfinite(np.diag(inverse))
        bread = inverse[np.ix_(known, known)]
        if labels is None and self._replicated is not None:
            inverse[np.ix_(known, known)] = self._replicated[np.ix_(known, known)]
            return inverse
        meat = self.sample.meat(self.model.scores(self.params), labels, self.truths)[np.ix_(known, known)]
        inverse[np.ix_(known, known)] = bread @ meat @ bread
        return inverse

    def bread(self, kind: str = "observed") -> NDArray[np.float64]:
        """The inverse of the information of one `kind`, with infinite and undefined entries as in `covariance`."""
        inverse = invert(information(self.model, self.prior, self.params, kind), self.model, self.at_end())
        if not self.converged and np.isfinite(inverse).all():  # stopped on a slope, where curvature says nothing
            return np.full_like(inverse, np.nan)
        return inverse

    @cached_property
    def truths(self) -> Truths | None:
        """What scores would be without the chance of the devices, where a finite population asks for it."""
        if not self.sample.is_finite:
            return None
        try:
            return self.model.truths(self.params)
        except ParameterError:  # too many possible reports to go through, or none that tell every truth
            return None

    @cached_property
    def _replicated(self) -> NDArray[np.float64] | None:
        """Covariance from fits under every set of replicate weights."""
        return self.sample.replicated(self.params, self.refit)

    def refit(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The estimates under other weights of the rows, from these on; NaN where the search does not converge."""
        objective = penalised(self.model.reweighted(weights), self.prior)
        people = float(self.model.weights.sum())
        end = newton(objective, self.params, self.model.directions(), self.model.bounded, people)
        return end.params if end.converged else np.full_like(self.params, np.nan)

    @property
    def df(self) -> float:
        """Degrees of freedom of errors, infinite unless people were drawn by a design; see `Sample.df`."""
        return self.sample.df(max(1, len(self.model.outcome.terms)))

    @property
    def default_kind(self) -> str:
        """The kind of standard errors unless somebody asks for another."""
        return "observed" if self.sample.plain else "sandwich"

    def interval(self, kind: str | None = None, interval: str | None = None) -> str:
        """Which intervals `tidy` gives for these errors: ``"profile"`` or ``"wald"``.

        Raises
        ------
        ParameterError
            If profiles are asked for where there is no likelihood, or beside errors that are not of the likelihood.
        """
        kind = kind or self.default_kind
        if interval not in (None, "profile", "wald"):
            raise ParameterError(f"interval: must be profile or wald, got {interval!r}")
        if interval == "profile" and not self.sample.plain:
            raise ParameterError("interval: must be wald with weights or clusters, which make no likelihood")
        if interval == "profile" and kind != "observed":
            raise ParameterError(f"interval: must be wald with {kind} errors; profiles go with observed ones")
        if interval is not None:
            return interval
        is_of_likelihood = kind == "observed" and self.sample.plain
        return "profile" if is_of_likelihood and len(self.terms) <= MOST_PROFILED else "wald"

    def tidy(
        self, confidence_level: float = 0.95, kind: str | None = None, interval: str | None = None
    ) -> list[TidyRow]:
        """One row for each term.

        Parameters
        ----------
        confidence_level : float
            Above 0 and below 1.
        kind : str, optional
            Of standard errors, as for `covariance`.
        interval : {"profile", "wald"}, optional
            Profile likelihood goes with observed information only, and is the default there up to `MOST_PROFILED`
            parameters; it is
            right where the likelihood is skewed, as with rare truths and strong noise, and open where the data set no
            limit. With it, statistic and p-value are those of the likelihood ratio of each term. How often the truths
            of predictors are has Wald's interval.
        """
        check_confidence_level(confidence_level)
        interval = self.interval(kind, interval)
        errors = np.sqrt(np.diag(self.covariance(kind or self.default_kind)))
        rows = [
            wald_row(*each, confidence_level, self.df) for each in zip(self.terms, self.params, errors, strict=True)
        ]
        if interval == "wald" or not (self.converged or self.separated):
            return rows
        profile = Profile.of(self)
        cells = self.model.cells_at if self.model.outcome.terms else slice(0, 0)
        return [
            row if cells.start <= j < cells.stop else profile.row(row, j, confidence_level)
            for j, row in enumerate(rows)
        ]

    def glance(self) -> Glance:
        """One row about the whole fit."""
        null, null_value, null_df = self._null
        df, n = len(self.terms), self.n
        statistic = max(0.0, 2 * (self.value - null_value)) if self.sample.plain else math.nan
        lr_df = df - null_df
        return Glance(
            n=n,
            n_effective=self.n_effective,
            n_dropped=self.n_dropped,
            loglik=self.loglik,
            null_loglik=null,
            df=df,
            aic=2 * df - 2 * self.loglik,
            bic=math.log(n) * df - 2 * self.loglik,
            lr_statistic=statistic,
            lr_df=lr_df,
            p_value=float(chi2.sf(statistic, lr_df)) if lr_df else math.nan,
            pseudo_r2=1 - self.loglik / null,
            penalty=self.penalty,
            optima=self.optima,
            converged=self.converged,
            separated=self.separated,
        )

    def predict(self, newdata: Any = None) -> Prediction:
        """Shares of the truths for new rows, or for those of the fit.

        Parameters
        ----------
        newdata : DataFrame, mapping of columns, or matrix, optional
            Covariates, as the fit got them, and truths of the randomised predictors. By default the rows of the fit.

        Raises
        ------
        ParameterError
            If a covariate is missing or has a level that the fit did not see, or the outcome is a number, or there are
            randomised predictors and no truths of theirs.
        """
        outcome = self.model.outcome
        if not isinstance(outcome, CategoricalOutcome):
            raise ParameterError("predict: must be asked of a categorical outcome, whose shares it gives")
        if newdata is None and len(outcome.regressors.coded) > 1:
            raise ParameterError("newdata: must say for which truths of the randomised predictors, got nothing")
        matrix = outcome.regressors.plain if newdata is None else outcome.regressors.code(newdata)
        return predict(outcome, self.params, self.covariance(), matrix)

    @cached_property
    def _null(self) -> tuple[float, float, int]:
        """Log-likelihood and objective of the model without covariates, and its number of parameters."""
        directions = self.model.null_directions()
        starts = [directions @ np.linalg.lstsq(directions, start)[0] for start in self.model.starts()]
        n = float(self.model.weights.sum())
        ends = [newton(self.objective, start, directions, self.model.bounded, n) for start in starts]
        best = max(ends, key=lambda each: (each.converged, each.value))
        return self.model.evaluate(best.params)[0], best.value, directions.shape[1]

    def _remarks(self, excess: float) -> list[str]:
        remarks = []
        if self.separated:
            end = "terms that run away have infinite standard errors and their estimates mean nothing"
            end = PRIORS[self.penalty] if self.penalty else end
            remarks.append(f"The likelihood has no maximum that the data bound, so {end}.")
        elif self.penalty:
            remarks.append("Estimates are those under a Cauchy prior.")
        if self.penalty and not self.converged:
            remarks.append("The search did not converge: the estimates are not a maximum and have no standard errors.")
        if self.optima > 1:
            remarks.append(f"The searches found {self.optima} different ends; the best that the data bound is taken.")
        if excess > 0:
            remarks.append(f"Coefficients that nothing bounds have a log-likelihood that is higher by {excess:.3g}.")
        for j in self.at_end():
            remarks.append(
                f"The share of {self.terms[j]} is {self.params[j]:.0f}, the end of its range: it has no standard error "
                "and those of the others treat it as known."
            )
        if crowded := self.model.outcome.crowded(self.params):
            remarks.append(f"In {crowded} rows the shares of honest yes and cheaters add up to more than 1.")
        if self.sample.is_finite and self.truths is None:
            remarks.append(
                "Errors leave out that the population is finite, because what devices added to scores of this design "
                "is not known: they are rather too large."
            )
        if not self.df > 0:
            remarks.append(TOO_FEW_UNITS)
        if self._replicated is not None and np.isnan(self._replicated).any():
            remarks.append("Some replicate weights have no estimate, so there are no standard errors.")
        if self.n_dropped:
            remarks.append(f"{self.n_dropped} rows were left out because something was missing.")
        return remarks

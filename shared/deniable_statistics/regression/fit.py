"""Maximum likelihood: from a model to a fit, and what the fit knows about itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from deniable.errors import ParameterError
from deniable_statistics.intervals import check_confidence_level
from deniable_statistics.regression.factor import Array, Objective
from deniable_statistics.regression.fitted_rows import TOO_FEW_UNITS, ModelSample, left_out
from deniable_statistics.regression.likelihood import CategoricalOutcome, LatentClasses, Prediction
from deniable_statistics.regression.maximum import FLAT, LARGEST_ERROR, Search, newton, penalised, search, starts_of
from deniable_statistics.regression.penalty import CauchyPrior
from deniable_statistics.regression.regressors import Regressors
from deniable_statistics.regression.tidy import CoefficientEstimates, Glance, Profile, TidyRow
from deniable_statistics.sampling import Truths
from deniable_statistics.sampling.sampling_design import numbered

MOST_PROFILED = 60
"""Parameters up to which intervals are profiles by default: each needs some 20 fits."""

PENALTIES = ("auto", "cauchy", None)
PRIORS = {
    "cauchy": "the estimates use a Cauchy prior",
    "cauchy on cells": "the distribution of the true predictors is estimated with a Cauchy prior",
}
"""`Fit.penalty` in words."""

COV_TYPES = ("observed", "expected", "opg", "sandwich")


@dataclass(frozen=True)
class Fit(CoefficientEstimates):
    """A model fitted by maximum likelihood, or penalised likelihood.

    Attributes
    ----------
    params : ndarray
        Estimates, in the order of `terms`.
    terms : tuple of str
    converged : bool
        Whether gradient and step vanished at a strict maximum of what was maximised.
    message : str
        What to know before using the estimates; empty if nothing.
    sample : ModelSample
        How the rows stand for people.
    separated : bool
        Whether no search found a maximum of the likelihood that the data bound: it rises, or is all but flat, towards
        infinite coefficients (`deniable_statistics.regression.maximum.LARGEST_ERROR`). Then the estimates are those
        under `penalty`; without one they are where the search ended, and every term that runs away has an infinite
        standard error.
    optima : int
        Different ends that the searches found, infinity among them. The first starts are enough if they all agree, so
        this is a lower bound. The best one that the data bound is the estimate, even if a steeper one is higher: with
        few people and much noise a step at some value of a covariate may fit better than any slope.
    penalty : str or None
        ``"cauchy"`` if `CauchyPrior` was added; ``"cauchy on cells"`` if only to how often truths of predictors are.
    model : LatentClasses
        The likelihood.
    prior : CauchyPrior or None
        What was added to it.
    """

    separated: bool
    optima: int
    penalty: str | None
    model: LatentClasses = field(repr=False)
    prior: CauchyPrior | None = field(repr=False)

    @cached_property
    def loglik(self) -> float:
        """Log-likelihood at the estimates, without the prior."""
        return self.model.evaluate(self.params)[0]

    @property
    def df(self) -> float:
        """Degrees of freedom of errors, infinite unless people were drawn by a design; see `DrawnSample.df`."""
        return self.sample.df(max(1, len(self.model.outcome.terms)))

    @property
    def cov_type(self) -> str:
        """The kind of standard errors unless somebody asks for another: the sandwich with weights or clusters."""
        return "observed" if self.sample.plain else "sandwich"

    def cov_params(self, cov_type: str | None = None, clusters: ArrayLike | None = None) -> Array:
        """Covariance of the estimates.

        Parameters
        ----------
        cov_type : {"observed", "expected", "opg", "sandwich"}
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
        cov_type = cov_type or (self.cov_type if clusters is None else "sandwich")
        if cov_type not in COV_TYPES:
            raise ParameterError(f"cov_type: must be one of {', '.join(COV_TYPES)}, got {cov_type!r}")
        if self.sample.is_drawn and cov_type != "sandwich":
            raise ParameterError(f"cov_type: must be sandwich under a sampling design, got {cov_type}")
        if clusters is not None and cov_type != "sandwich":
            raise ParameterError(f"clusters: must go with the sandwich, got {cov_type}")
        if cov_type != "sandwich":
            return self._bread(cov_type)
        inverse = self._bread()
        if not self.converged and np.isnan(inverse).all():
            return inverse
        sample, found = self.sample, self._replicated
        if clusters is not None:
            labels = numbered(np.asarray(clusters).tolist())
            if len(labels) != len(sample.weights):
                raise ParameterError(f"clusters: must be one for each of {len(sample.weights)} rows, got {len(labels)}")
            # Replicate weights know of no clusters but their own.
            sample, found = sample.clustered(labels), None
        known = np.ix_(*[np.isfinite(np.diag(inverse))] * 2)
        if found is None:
            # A^-1 B A^-1 with A the information and B the variance of the sum of scores
            meat = sample.meat(self.model.scores(self.params), self._truths)
            inverse[known] = inverse[known] @ meat[known] @ inverse[known]
        else:
            inverse[known] = found[known]
        return inverse

    @property
    def default_interval(self) -> str:
        """The method of the intervals of `tidy`: ``"profile"`` or ``"wald"``."""
        return self.interval_kind()

    def interval_kind(self, cov_type: str | None = None, interval: str | None = None) -> str:
        """Which intervals `tidy` gives for these errors: ``"profile"`` or ``"wald"``.

        Raises
        ------
        ParameterError
            If profiles are asked for where there is no likelihood, or beside errors that are not of the likelihood.
        """
        cov_type = cov_type or self.cov_type
        if interval not in (None, "profile", "wald"):
            raise ParameterError(f"interval: must be profile or wald, got {interval!r}")
        if interval == "profile" and not self.sample.plain:
            raise ParameterError("interval: must be wald with weights or clusters, which make no likelihood")
        if interval == "profile" and cov_type != "observed":
            raise ParameterError(f"interval: must be wald with {cov_type} errors; profiles go with observed ones")
        is_of_likelihood = cov_type == "observed" and self.sample.plain
        return interval or ("profile" if is_of_likelihood and len(self.terms) <= MOST_PROFILED else "wald")

    def tidy(
        self, confidence_level: float = 0.95, cov_type: str | None = None, interval: str | None = None
    ) -> list[TidyRow]:
        """One row for each term.

        Parameters
        ----------
        confidence_level : float
            Above 0 and below 1.
        cov_type : str, optional
            Of standard errors, as for `cov_params`.
        interval : {"profile", "wald"}, optional
            Profile likelihood goes with observed information only, and is the default there up to `MOST_PROFILED`
            parameters; it is right where the likelihood is skewed, as with rare truths and strong noise, and open where
            the data set no limit. With it, statistic and p-value are those of the likelihood ratio of each term. How
            often the truths of predictors are has Wald's interval.
        """
        check_confidence_level(confidence_level)
        interval = self.interval_kind(cov_type, interval)
        rows = self._wald_rows(np.sqrt(np.diag(self.cov_params(cov_type))), confidence_level)
        if interval == "wald" or not (self.converged or self.separated):
            return rows
        profile = Profile(self.model, self._objective, self.params, self.cov_params("observed"))
        cells = self.model.cells_at if self.model.outcome.terms else slice(0, 0)
        return [
            row if cells.start <= j < cells.stop else profile.row(row, j, confidence_level)
            for j, row in enumerate(rows)
        ]

    def glance(self) -> Glance:
        """One row about the whole fit."""
        null, null_value, null_df = self._null
        df, lr_df = len(self.terms), len(self.terms) - null_df
        statistic = max(0.0, 2 * (self._value - null_value)) if self.sample.plain else math.nan
        return Glance(
            n=self.n,
            n_effective=self.n_effective,
            n_dropped=self.n_dropped,
            loglik=self.loglik,
            null_loglik=null,
            df=df,
            # Akaike: 2 k - 2 log L. Schwarz: k log n - 2 log L.
            aic=2 * df - 2 * self.loglik,
            bic=math.log(self.n) * df - 2 * self.loglik,
            lr_statistic=statistic,
            lr_df=lr_df,
            p_value=float(chi2.sf(statistic, lr_df)) if lr_df else math.nan,
            # McFadden: one less the ratio of the log-likelihoods.
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
        return outcome.predict(self.params, self.cov_params(), matrix)

    @property
    def _objective(self) -> Objective:
        """What was maximised."""
        return penalised(self.model, self.prior)

    @property
    def _value(self) -> float:
        """Log-likelihood plus the logarithm of the prior, relative to its top."""
        return self._objective(self.params)[0]

    @property
    def _at_end(self) -> list[int]:
        """Positions of shares that are 0 or 1."""
        return [j for j in self.model.bounded if self.params[j] in (0, 1)]

    def _information(self, cov_type: str) -> Array:
        """Observed or expected information, or the outer product of the scores; plus the curvature of the prior."""
        model, params = self.model, self.params
        if cov_type == "observed":
            return -np.asarray(self._objective(params)[2])
        certain = np.ones(len(model.weights))
        pairs = model.possible(params) if cov_type == "expected" else [(certain, model.scores(params))]
        total = np.zeros((len(params), len(params)))
        for probability, scores in pairs:  # sum over i and responses r of w_i P(r) s_ir s_ir'
            total += (scores * model.weights[:, None] * probability[:, None]).T @ scores
        return total if self.prior is None else total - self.prior.evaluate(params)[2]

    def _bread(self, cov_type: str = "observed") -> Array:
        """The inverse of an information, with the truth about what it does not hold.

        Infinite variance and NaN covariances for parameters that move in a direction without information, or whose
        error is beyond `LARGEST_ERROR`; NaN for shares at 0 or 1, while the others are given these.
        """
        model, ended = self.model, self._at_end
        unit = model.directions()
        unit = unit[:, ~unit[ended].any(axis=0)]
        values, axes = np.linalg.eigh(unit.T @ self._information(cov_type) @ unit)
        # directions in which the sample says nothing are left out of the inverse
        sound = values > FLAT * model.weights.sum()
        moves = unit @ axes
        # U V L^-1 V' U' over the directions that have information
        covariance = np.asarray((moves[:, sound] / values[sound]) @ moves[:, sound].T)
        size = np.linalg.norm(unit, axis=1, keepdims=True)
        # A parameter with a part in a direction without information is not bounded by the sample.
        endless = (np.abs(moves[:, ~sound]) > 1e-6 * size).any(axis=1)
        endless |= np.diag(covariance) > (LARGEST_ERROR * size[:, 0]) ** 2
        # infinite variance, and no covariance with what is known
        covariance[endless, :] = covariance[:, endless] = np.nan
        covariance[endless, endless] = np.inf
        covariance[ended, :] = covariance[:, ended] = np.nan
        if not self.converged and np.isfinite(covariance).all():  # stopped on a slope, where curvature says nothing
            return np.full_like(covariance, np.nan)
        return covariance

    @cached_property
    def _truths(self) -> Truths | None:
        """What scores would be without the chance of the devices, where a finite population asks for it."""
        if not self.sample.is_finite:
            return None
        try:
            return self.model.truths(self.params)
        except ParameterError:  # too many possible reports to go through, or none that tell every truth
            return None

    @cached_property
    def _replicated(self) -> Array | None:
        """Covariance from fits under every set of replicate weights."""
        return self.sample.replicated(self.params, self._refit)

    def _refit(self, weights: Array) -> Array:
        """The estimates under other weights of the rows, from these on; NaN where the search does not converge."""
        objective = penalised(self.model.reweighted(weights), self.prior)
        people = float(self.model.weights.sum())
        end = newton(objective, self.params, self.model.directions(), self.model.bounded, people)
        return end.params if end.converged else np.full_like(self.params, np.nan)

    @cached_property
    def _null(self) -> tuple[float, float, int]:
        """Log-likelihood and objective of the model without covariates, and its number of parameters."""
        directions = self.model.null_directions()
        # the model's starts, projected onto the directions of the null model
        starts = [directions @ np.linalg.lstsq(directions, start)[0] for start in self.model.starts()]
        n = float(self.model.weights.sum())
        ends = [newton(self._objective, start, directions, self.model.bounded, n) for start in starts]
        best = max(ends, key=lambda each: (each.converged, each.value))
        return self.model.evaluate(best.params)[0], best.value, directions.shape[1]

    def _remarks(self, excess: float) -> list[str]:
        """What to know before using the estimates."""
        unbounded = PRIORS.get(
            str(self.penalty), "terms that run away have infinite standard errors and their estimates mean nothing"
        )
        outcome = self.model.outcome
        # only designs of two groups have an unknown share that may leave no room
        crowded = outcome.crowded(self.params) if isinstance(outcome, CategoricalOutcome) and outcome.bounded else 0
        ends = [
            f"The share of {self.terms[j]} is {self.params[j]:.0f}, the end of its range: it has no standard error and "
            "those of the others treat it as known."
            for j in self._at_end
        ]
        said: dict[str, Any] = {
            f"The likelihood has no maximum that the data bound, so {unbounded}.": self.separated,
            "The estimates use a Cauchy prior.": self.penalty and not self.separated,
            "The search did not converge: the estimates are not a maximum and have no standard errors.": (
                self.penalty and not self.converged
            ),
            f"The searches found {self.optima} different ends; the best that the data bound is taken.": self.optima > 1,
            f"Coefficients that nothing bounds have a log-likelihood that is higher by {excess:.3g}.": excess > 0,
            **dict.fromkeys(ends, True),
            f"In {crowded} rows the shares of honest yes and cheaters add up to more than 1.": crowded,
            (
                "Errors leave out that the population is finite, because what devices added to scores of this design "
                "is not known: they are rather too large."
            ): self.sample.is_finite and self._truths is None,
            TOO_FEW_UNITS: not self.df > 0,
            "Some replicate weights have no estimate, so there are no standard errors.": (
                self._replicated is not None and np.isnan(self._replicated).any()
            ),
            left_out(self.n_dropped): self.n_dropped,
        }
        return [sentence for sentence, is_so in said.items() if is_so]


def fit_model(
    model: LatentClasses,
    sample: ModelSample,
    penalty: str | None = "auto",
    start: ArrayLike | None = None,
    random_starts: int = 5,
    seed: int = 0,
) -> Fit:
    """Maximise a likelihood, from several starts, with a penalty where there is no maximum.

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
    starts = starts_of(model, start, random_starts, seed)

    def found(prior: CauchyPrior | None) -> Search:
        return search(penalised(model, prior), starts, model.directions(), model.bounded, float(sample.weights.sum()))

    def fitted(logits: Sequence[tuple[slice, Regressors]], name: str, separated: bool = True) -> Fit:
        prior = CauchyPrior.of(logits, len(model.terms))
        return _fit_at(found(prior), model, sample, prior, name, separated)

    if penalty == "cauchy":
        return fitted(model.logits, "cauchy", separated=False)
    plain = found(None)
    separated = not plain.best.bounded
    if not separated or penalty is None:
        return _fit_at(plain, model, sample, None, None, separated)
    # often only the shares of cells run away; a prior on these leaves the effects as they are
    if model.nuisance:
        fit = fitted(model.logits[: model.nuisance], "cauchy on cells")
        if fit.converged and np.isfinite(np.diag(fit.cov_params())[: len(model.outcome.terms)]).all():
            return fit
    return fitted(model.logits, "cauchy")


def _fit_at(
    found: Search,
    model: LatentClasses,
    sample: ModelSample,
    prior: CauchyPrior | None,
    penalty: str | None,
    separated: bool,
) -> Fit:
    """The fit at the best end of a search."""
    best = found.best
    fit = Fit(best.params, model.terms, best.converged, "", sample, separated, found.optima, penalty, model, prior)
    object.__setattr__(fit, "message", " ".join(fit._remarks(found.excess)))  # which asks the fit itself
    return fit

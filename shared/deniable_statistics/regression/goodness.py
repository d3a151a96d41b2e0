"""Whether a model fits: reports beside the numbers of them that it expects."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from scipy.stats import chi2

from deniable.errors import ParameterError, check_kind
from deniable_statistics.regression.cells import CellLogits, CellShares, PredictorCells
from deniable_statistics.regression.factor import Array
from deniable_statistics.regression.fit import Fit
from deniable_statistics.regression.likelihood import CategoricalOutcome, LatentClasses
from deniable_statistics.regression.maximum import newton, penalised
from deniable_statistics.regression.regressors import Regressors
from deniable_statistics.regression.report_likelihood import Reports

MOST_PATTERNS = 200_000
"""Patterns of covariates and reports that are looked at."""

FEW, FEWEST, MOST_FEW = 5, 1, 0.2
"""Chi-square is trusted where no pattern is expected less often than `FEWEST`, and no more than `MOST_FEW` of them less
often than `FEW`."""

GROUPS = 10
"""Groups of people by their fitted share, where there are too few of them for patterns of covariates."""

NEVER = 1e-12
"""A pattern with a smaller probability cannot be."""


@dataclass(frozen=True)
class GoodnessOfFit:
    """How far reports are from what a model expects.

    Attributes
    ----------
    pearson, deviance : float
        ``sum (O - E)^2 / E`` and ``2 sum O ln(O / E)`` over the patterns of reports and covariates.
    pearson_p, deviance_p : float
        By chi-square with `df`, or from `draws` studies that the model drew; NaN where no degree of freedom is left.
    df : int
        Patterns less groups and parameters.
    patterns : int
        Of reports, in all groups together.
    groups : int
        Different covariates, or groups by fitted share.
    by_share : bool
        Whether people are grouped by the share that the model gives them.
    draws : int
        0 for chi-square.
    """

    pearson: float
    deviance: float
    pearson_p: float
    deviance_p: float
    df: int
    patterns: int
    groups: int
    by_share: bool
    draws: int


def goodness_of_fit(fit: Fit, *, draws: int = 199, seed: int = 1) -> GoodnessOfFit:
    """Compare how often each pattern of reports came with how often the model expects it.

    Parameters
    ----------
    fit : Fit
        Logistic or multinomial, without weights, clusters and shared responses.
    draws : int
        Studies to draw where expected numbers are too small for chi-square.
    seed : int
        Of the draws.

    Raises
    ------
    ParameterError
        If the fit has no likelihood of reports: an outcome that is a number, weights, a search that did not converge,
        questions that share one response; or if there are more than `MOST_PATTERNS` patterns.

    Notes
    -----
    The reports of people with the same covariates and designs are multinomial, so both statistics are chi-square with
    large numbers [1]_. Rules of thumb say when these are large [2]_. With covariates such as age there are about as
    many groups as people: then the deviance tells nothing of the fit, because it is a function of the estimates. So
    people are put into `GROUPS` groups by the share that the model gives them, as Hosmer and Lemeshow do [3]_, and
    the statistics are compared with those of studies that the model drew, which are fitted and grouped alike
    (parametric bootstrap): ``p = (1 + number of draws at least as large) / (1 + draws)``.

    References
    ----------
    .. [1] A. Agresti, Categorical Data Analysis (3rd ed., 2013), sections 4.5 and 16.3.
    .. [2] W. G. Cochran, "Some methods for strengthening the common chi-square tests", Biometrics 10 (1954), 417-451.
    .. [3] D. W. Hosmer, S. Lemeshow, "Goodness of fit tests for the multiple logistic regression model",
       Communications in Statistics 9 (1980), 1043-1069.

    Examples
    --------
    A straight line through three ages, whose shares 2 (y/1000 - 1/4) are .36, .20 and .36:

    >>> from deniable import TwoCoin
    >>> from deniable_research.regression import logistic
    >>> table = {"q": [0, 1] * 3, "age": [1, 1, 2, 2, 3, 3], "n": [570, 430, 650, 350, 570, 430]}
    >>> found = goodness_of_fit(logistic("q ~ age", table, TwoCoin("1/2", "1/2"), frequencies="n"))
    >>> round(found.pearson, 2), round(found.deviance, 2), found.df, round(found.pearson_p, 5)
    (17.73, 17.89, 1, 3e-05)
    """
    check_kind(fit, Fit, "fit")
    study = _Study.of(fit)
    found = study.numbers(fit.params)
    # a share at its end was not free to fit the data
    free = len(fit.terms) - len(fit._at_end)
    # too few people for patterns of covariates: groups by fitted share, and drawn studies
    by_share = not found.bears_chi_square
    if by_share:
        study = replace(study, grouping=study.by_share(fit.params))
        found = study.numbers(fit.params)
    pearson, deviance = found.statistics
    df = found.df - free
    about = (found.patterns, len(found.expected), by_share)
    if not by_share:
        first, second = (float(chi2.sf(each, df)) if df > 0 else math.nan for each in (pearson, deviance))
        return GoodnessOfFit(pearson, deviance, first, second, df, *about, 0)
    generator = np.random.default_rng(seed)
    every = [study.drawn(generator, fit).statistics for _ in range(draws)]
    # a tie up to rounding counts as at least as large
    larger = (np.array(every).reshape(-1, 2) >= np.array([pearson, deviance]) * (1 - 1e-9)).sum(axis=0)
    first, second = ((1 + larger) / (1 + draws)).tolist()
    return GoodnessOfFit(pearson, deviance, first, second, df, *about, draws)


@dataclass(frozen=True)
class _Numbers:
    """Numbers of people, observed and expected, shape (groups, patterns)."""

    observed: Array
    expected: Array

    @property
    def _possible(self) -> NDArray[np.bool_]:
        return np.asarray(self.expected > NEVER * self.expected.sum(axis=1, keepdims=True))

    @property
    def patterns(self) -> int:
        return int(self._possible.sum())

    @property
    def df(self) -> int:
        """Degrees of freedom without parameters."""
        return self.patterns - len(self.expected)

    @property
    def bears_chi_square(self) -> bool:
        found = self.expected[self._possible]
        return bool(found.min() >= FEWEST and (found < FEW).mean() <= MOST_FEW)

    @property
    def statistics(self) -> tuple[float, float]:
        """Pearson's and the deviance."""
        o, e = self.observed[self._possible], self.expected[self._possible]
        if self.observed[~self._possible].any():
            return math.inf, math.inf
        # sum (O - E)^2 / E, and 2 sum O ln(O / E), where 0 ln 0 is 0
        return float(((o - e) ** 2 / e).sum()), float(2 * (xlogy(o, o) - xlogy(o, e)).sum())


@dataclass(frozen=True)
class _Study:
    """People who are alike, and all that they could have reported.

    Attributes
    ----------
    every : LatentClasses
        A row for each pattern of reports of each kind of people, pattern after pattern.
    people : ndarray, shape (kinds,)
    observed : ndarray, shape (kinds, patterns)
    first : ndarray of int, shape (kinds, patterns)
        The first pattern that the model cannot tell from this one.
    grouping : ndarray of int, shape (kinds,)
        In which group of the statistics each kind is.
    """

    every: LatentClasses
    people: Array
    observed: Array
    first: NDArray[np.int64]
    grouping: NDArray[np.int64]

    @classmethod
    def of(cls, fit: Fit) -> _Study:
        model = fit.model
        if not isinstance(model.outcome, CategoricalOutcome):
            raise ParameterError("fit: must be of a logistic or multinomial model, whose reports can be counted")
        if not fit.sample.plain:
            raise ParameterError("fit: must be without weights, clusters and sampling design, which make no likelihood")
        if not fit.converged:
            raise ParameterError("fit: must have converged")
        if model.cells.shared or model.outcome.shared is not None:
            raise ParameterError("fit: must be of questions with a report each, got some that share one response")
        every = [
            replace(model, outcome=replace(model.outcome, reports=reports), cells=cells)
            for cells, reports in itertools.product(model.cells.possible(), model.outcome.reports.possible())
        ]
        kinds = _kinds(model, every)
        representatives = np.unique(kinds, return_index=True)[1]
        if len(representatives) * len(every) > MOST_PATTERNS:
            raise ParameterError(
                f"fit: must have at most {MOST_PATTERNS} patterns of covariates and reports, "
                f"got {len(representatives) * len(every)}"
            )
        size = (len(representatives), len(every))
        observed, first, place = np.zeros(size), np.zeros(size, dtype=np.int64), _signature(model)
        signatures = [_signature(each) for each in every]
        seen = np.zeros(len(kinds), dtype=bool)
        for r, signature in enumerate(signatures):
            here = ~seen & (signature == place).all(axis=1)
            observed[:, r] = np.bincount(kinds[here], model.weights[here], size[0])
            seen |= here
            # responses that the likelihood cannot tell apart are one pattern
            alike = [(signatures[s][representatives] == signature[representatives]).all(axis=1) for s in range(r + 1)]
            first[:, r] = np.argmax(alike, axis=0)
        assert seen.all()
        stacked = _stacked([_taken(each, representatives) for each in every])
        return cls(stacked, observed.sum(axis=1), observed, first, np.arange(size[0]))

    def probabilities(self, params: Array) -> Array:
        """Fitted probability of each pattern of reports, shape (kinds, patterns)."""
        found = np.exp(self.every.rows(params)).reshape(self.observed.shape[::-1]).T
        return np.where(found > 1e-200, found, 0.0)

    def numbers(self, params: Array, observed: Array | None = None) -> _Numbers:
        """What was observed in each group beside what is expected."""
        expected = self.people[:, None] * self.probabilities(params)
        return _Numbers(self._summed(self.observed if observed is None else observed), self._summed(expected))

    def by_share(self, params: Array) -> NDArray[np.int64]:
        """Groups of kinds by the fitted share of all truths but the first, about as large as each other."""
        outcome, kinds = self.every.outcome, len(self.people)
        assert isinstance(outcome, CategoricalOutcome)
        rows = slice(0, kinds)
        often = self.every.shares.at(params[self.every.places[1]], rows).value
        # 1 - P(first truth), averaged over the cells of a person
        share = 1 - (often * outcome.shares(params, outcome.regressors.values(rows))[:, :, 0]).sum(axis=1)
        order = np.argsort(share, kind="stable")
        # people are put into tenths by the middle of their kind in the order of shares
        middle = np.cumsum(self.people[order]) - self.people[order] / 2
        groups = np.empty(kinds, dtype=np.int64)
        groups[order] = np.minimum((GROUPS * middle / self.people.sum()).astype(np.int64), GROUPS - 1)
        return np.unique(groups, return_inverse=True)[1].reshape(-1)

    def drawn(self, generator: np.random.Generator, fit: Fit) -> _Numbers:
        """Observed and expected numbers of a study that the fitted model drew, and to which it was fitted anew."""
        share = self.probabilities(fit.params)
        share /= share.sum(axis=1, keepdims=True)
        observed = generator.multinomial(self.people.astype(np.int64), share).astype(float)
        counts = observed.T.ravel()
        model = replace(_taken(self.every, np.flatnonzero(counts)), weights=counts[counts > 0])
        # the drawn study is near the fit, so one search from there will do
        start = fit.model.inside(fit.params)
        end = newton(penalised(model, fit.prior), start, fit.model.directions(), fit.model.bounded, float(counts.sum()))
        other = replace(self, grouping=self.by_share(end.params))
        return other.numbers(end.params, observed)

    def _summed(self, numbers: Array) -> Array:
        """Numbers of kinds as those of groups, with patterns that are alike in one place."""
        found = np.zeros((int(self.grouping.max()) + 1, numbers.shape[1]))
        np.add.at(found, (self.grouping[:, None], self.first), numbers)
        return found


def _reports(model: LatentClasses) -> list[Reports]:
    assert isinstance(model.outcome, CategoricalOutcome)
    return [model.outcome.reports, *model.cells.predictors.values()]


def _signature(model: LatentClasses) -> Array:
    """All that the likelihood knows of the reports of each row."""
    found = []
    for each in _reports(model):
        found += [each.likelihood, *([] if each.slope is None else [each.slope])]
    return np.concatenate(found, axis=1)


def _kinds(model: LatentClasses, every: Sequence[LatentClasses]) -> NDArray[np.int64]:
    """Numbers of people with the same covariates and designs."""
    shares = model.shares
    often = shares.groups[:, None].astype(float) if isinstance(shares, CellShares) else shares.covariates.plain
    kinds = np.zeros(len(model.weights), dtype=np.int64)
    for columns in (model.outcome.regressors.plain, often, *map(_signature, every)):
        # kinds are refined column block by column block, which keeps the sorted tables narrow
        together = np.column_stack([kinds, columns])
        kinds = np.unique(together, axis=0, return_inverse=True)[1].reshape(-1)
    return kinds


def _taken(model: LatentClasses, rows: NDArray[np.int64]) -> LatentClasses:
    """Some rows of a model."""
    return _stacked([model], rows)


def _stacked(models: Sequence[LatentClasses], rows: NDArray[np.int64] | None = None) -> LatentClasses:
    """The rows of several models of the same parameters, one after the other."""
    first = models[0]

    def together(parts: Sequence[Array]) -> Array:
        found = np.concatenate(parts)
        return found if rows is None else found[rows]

    def reports(each: Sequence[Reports]) -> Reports:
        slope = None if each[0].slope is None else together([one.slope for one in each if one.slope is not None])
        return replace(each[0], likelihood=together([one.likelihood for one in each]), slope=slope)

    def regressors(each: Sequence[Regressors]) -> Regressors:
        plain, weights = together([one.plain for one in each]), together([one.weights for one in each])
        return replace(each[0], plain=plain, weights=weights)

    weights = together([model.weights for model in models])
    outcomes = [model.outcome for model in models if isinstance(model.outcome, CategoricalOutcome)]
    outcome = replace(
        outcomes[0],
        reports=reports([each.reports for each in outcomes]),
        regressors=regressors([each.regressors for each in outcomes]),
    )
    shares = first.shares
    if isinstance(shares, CellShares):
        groups = np.concatenate([each.shares.groups for each in models if isinstance(each.shares, CellShares)])
        other: CellShares | CellLogits = replace(shares, groups=groups if rows is None else groups[rows])
    else:
        covariates = [each.shares.covariates for each in models if not isinstance(each.shares, CellShares)]
        other = replace(shares, covariates=regressors(covariates))
    predictors = {name: reports([each.cells.predictors[name] for each in models]) for name in first.cells.predictors}
    return replace(
        first, outcome=outcome, shares=other, cells=PredictorCells(predictors, len(weights)), weights=weights
    )

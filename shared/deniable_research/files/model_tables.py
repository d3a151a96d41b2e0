"""Fitted models side by side: their terms, and how well each of them describes the same reports."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from deniable.errors import ParameterError
from deniable_research.regression import (
    Fit,
    MomentFit,
    TidyRow,
    is_within,
    likelihood_ratio_test,
    refitted,
)
from deniable_research.regression.formula import reference_levels, sides
from deniable_research.regression.term_labels import (
    NO_LABELS,
    Labels,
    expression_label,
    label_of,
    level_labels,
    term_label,
)
from deniable_statistics.regression.likelihood import CategoricalOutcome


class ModelTermRow(NamedTuple):
    """One term of one of several models; otherwise as `TidyRow`."""

    model: str
    term: str
    estimate: float
    std_error: float
    statistic: float
    p_value: float
    conf_low: float
    conf_high: float


@dataclass(frozen=True)
class FittedModel:
    """A formula, its fit, and a row for each of its terms."""

    formula: str
    fit: Fit | MomentFit
    rows: tuple[TidyRow, ...]
    interval: str
    cov_type: str | None = None

    @classmethod
    def of(
        cls,
        formula: str,
        fit: Fit | MomentFit,
        confidence_level: float,
        cov_type: str | None = None,
        interval: str | None = None,
    ) -> FittedModel:
        """The model with its rows; `cov_type` and `interval` as for `Fit.tidy`.

        Raises
        ------
        ParameterError
            If one of them is asked of corrected least squares, which have no others.
        """
        if isinstance(fit, Fit):
            rows = tuple(fit.tidy(confidence_level, cov_type, interval))
            return cls(formula, fit, rows, fit.interval_kind(cov_type, interval), cov_type)
        if cov_type or interval:
            raise ParameterError("interval: must be left out of corrected least squares, as kinds of errors")
        return cls(formula, fit, tuple(fit.tidy(confidence_level)), "wald")

    def beside(self, formula: str, fit: Fit, confidence_level: float) -> FittedModel:
        """Another fit with rows of the same kind."""
        return FittedModel.of(formula, fit, confidence_level, self.cov_type, self.interval)

    @property
    def outcome_rows(self) -> tuple[TidyRow, ...]:
        """The rows about the outcome: without how often truths of predictors are, and shares of their designs."""
        return self.rows[: len(self.fit.model.outcome.terms)] if isinstance(self.fit, Fit) else self.rows

    @property
    def is_of_odds(self) -> bool:
        """Whether coefficients are logarithms of odds ratios."""
        return isinstance(self.fit, Fit) and bool(self.fit.model.outcome.logits)

    @property
    def compared(self) -> tuple[str, ...]:
        """The answers to the outcome, of which the first is the one that others are compared with; else empty."""
        outcome = self.fit.model.outcome if isinstance(self.fit, Fit) else None
        return tuple(outcome.reports.truths) if isinstance(outcome, CategoricalOutcome) else ()

    @property
    def references(self) -> dict[str, str]:
        """The reference category of each predictor that has treatment contrasts, by the name of its column."""
        found = reference_levels(self._coding)
        if not isinstance(self.fit, Fit):
            found |= {name: (name, truths[0]) for name, truths in self.fit.truths.items()}
        # Without an intercept, the first predictor has a coefficient for every category, and no reference.
        # In the order of the terms, because formulaic keeps contrasts in the order of a set.
        return {
            column: level
            for row in self.rows
            for factor, (column, level) in found.items()
            if re.search(rf"(^|[: ]){re.escape(factor)}\[T\.", row.term)
        }

    def outcome_label(self, labels: Labels = NO_LABELS) -> str:
        """The left side of the formula, with labels in the place of the names of columns."""
        return expression_label(sides(self.formula)[0].strip("`"), labels)

    def term_labels(self, labels: Labels = NO_LABELS) -> dict[str, str]:
        """The terms of `effect_rows` as people write them, such as ``stressed (yes)`` for ``stressed[T.yes]``.

        `labels` stand in the place of the names of columns.
        """
        levels = level_labels(self._coding, labels)
        if not isinstance(self.fit, Fit):
            levels |= {
                f"{name}[T.{truth}]": f"{label_of(name, labels)} ({truth})"
                for name, truths in self.fit.truths.items()
                for truth in truths
            }
        return {
            row.term: "".join([option, term_label(term, levels, labels)])
            for row in self.effect_rows
            for option, term in [self._split(row.term)]
        }

    @property
    def _coding(self) -> object:
        """The coding of the covariates."""
        return self.fit.model.outcome.regressors.coding if isinstance(self.fit, Fit) else self.fit.sample.frame.coding

    def _split(self, term: str) -> tuple[str, str]:
        """The option of the outcome that a term of a multinomial model is of, with its colon, and the covariate."""
        options = self.compared[1:] if len(self.compared) > 2 else ()
        # An option may begin like another one.
        starts = [f"{each}: " for each in sorted(options, key=len, reverse=True)]
        start = next((each for each in starts if term.startswith(each)), "")
        return start, term.removeprefix(start)

    @property
    def effect_rows(self) -> tuple[TidyRow, ...]:
        """`outcome_rows` without the spread of a normal outcome, and unknown shares of the design of the outcome."""
        if not isinstance(self.fit, Fit):
            return self.rows
        named = set(self.fit.model.outcome.regressors.terms)
        return tuple(row for row in self.outcome_rows if self._split(row.term)[1] in named)

    @property
    def plotted_rows(self) -> tuple[TidyRow, ...]:
        """`effect_rows`, but the intercepts of odds: an intercept is a logarithm of odds, not of an odds ratio."""
        if not self.is_of_odds:
            return self.effect_rows
        return tuple(row for row in self.effect_rows if self._split(row.term)[1] != "Intercept")

    @property
    def odds_ratios(self) -> tuple[TidyRow, ...]:
        """`plotted_rows` as odds ratios: estimate and ends of the interval; no standard error.

        Raises
        ------
        ParameterError
            If the model is linear.
        """
        if not self.is_of_odds:
            raise ParameterError("odds-ratios: must go with a logistic or multinomial model, got a linear one")
        return tuple(odds_ratio(row) for row in self.plotted_rows)


def labels_of(models: Sequence[FittedModel], labels: Labels = NO_LABELS) -> dict[str, str]:
    """The terms of several models as people write them; two that would read alike stay as formulas have them."""
    found = {term: label for model in models for term, label in model.term_labels(labels).items()}
    times = Counter(found.values())
    return {term: label if times[label] == 1 else term for term, label in found.items()}


def odds_ratio(row: TidyRow) -> TidyRow:
    """A coefficient as an odds ratio; no ratio is above a number that is infinite on this machine.

    >>> row = odds_ratio(TidyRow("old", 0.0, 0.5, 0.0, 1.0, -1.0, 1.0))
    >>> row.estimate, round(row.conf_low, 3), round(row.conf_high, 3)
    (1.0, 0.368, 2.718)
    """
    estimate, low, high = (_exp(each) for each in (row.estimate, row.conf_low, row.conf_high))
    return row._replace(estimate=estimate, std_error=math.nan, conf_low=low, conf_high=high)


def printed(row: TidyRow, odds_ratios: bool) -> TidyRow:
    """A row as tables for people have it: an odds ratio has no lower limit at 0, as its logarithm has none.

    >>> row = odds_ratio(TidyRow("old", 0.0, 0.5, 0.0, 1.0, -math.inf, 1.0))
    >>> row.conf_low, printed(row, odds_ratios=True).conf_low
    (0.0, -inf)
    """
    return row._replace(conf_low=-math.inf) if odds_ratios and row.conf_low == 0 else row


def _exp(value: float) -> float:
    # exp(710) overflows
    return math.exp(value) if value < 700 else math.inf if value == value else value


@dataclass(frozen=True)
class ModelRow:
    """How well one of several models describes the same reports.

    Attributes
    ----------
    formula : str
    loglik : float
    parameters : int
    aic, bic : float
    statistic, df, p_value : float, int, float or None
        Likelihood-ratio test of what the first model has more; None for the first one.
    note : str
        Why there is no test.
    """

    formula: str
    loglik: float
    parameters: int
    aic: float
    bic: float
    statistic: float | None = None
    df: int | None = None
    p_value: float | None = None
    note: str = ""


def against(fit: Fit | MomentFit, formulas: Sequence[str], penalty: str | None = "auto") -> list[Fit]:
    """Fit other formulas to the rows of a fit; see `deniable_research.regression.refitted`.

    Raises
    ------
    ParameterError
        If a formula names other variables, or the fit has no likelihood.
    """
    if not isinstance(fit, Fit):
        raise ParameterError("against: needs a fit by maximum likelihood, got corrected least squares")
    if not fit.sample.plain:
        raise ParameterError("against: must go without weights, clusters and sampling design, which make no likelihood")
    return [refitted(fit, formula, penalty) for formula in formulas]


def compare_models(models: Sequence[FittedModel]) -> list[ModelRow]:
    """Put models of the same rows beside the first of them: log-likelihood, AIC, BIC, and likelihood-ratio tests.

    AIC and BIC are of the same reports in all models, so they compare also where no model is part of the other.
    """
    first = models[0].fit
    assert isinstance(first, Fit)
    rows = []
    for model in models:
        assert isinstance(model.fit, Fit)
        glance = model.fit.glance()
        row = ModelRow(model.formula, glance.loglik, glance.df, glance.aic, glance.bic)
        rows.append(row if model.fit is first else _tested(row, model.fit, first))
    return rows


def _tested(row: ModelRow, other: Fit, first: Fit) -> ModelRow:
    # the likelihood ratio needs one model within the other, whichever is the larger
    if len(other.terms) < len(first.terms) and is_within(other, first):
        restricted, full = other, first
    elif len(other.terms) > len(first.terms) and is_within(first, other):
        restricted, full = first, other
    else:
        return replace(row, note="neither model is part of the other")
    try:
        test = likelihood_ratio_test(restricted, full)
    except ParameterError as error:
        return replace(row, note=str(error))
    return replace(row, statistic=test.statistic, df=test.df, p_value=test.p_value)


def term_rows(models: Sequence[FittedModel]) -> list[ModelTermRow]:
    """The terms of all models, one after the other."""
    return [ModelTermRow(model.formula, *row) for model in models for row in model.rows]

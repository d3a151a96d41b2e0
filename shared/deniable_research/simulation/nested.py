"""Smaller formulas against which the analysis of a study is tested: what they leave out, and whether that is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, check_kind
from deniable_research.regression import Fit, LikelihoodRatioTest, MomentFit, likelihood_ratio_test, refitted
from deniable_research.regression.comparison import WITHIN
from deniable_research.regression.formula import sides, variables
from deniable_research.simulation.study import Study


@dataclass(frozen=True)
class NestedFormula:
    """A formula with fewer terms than that of a study.

    Attributes
    ----------
    formula : str
    terms : tuple of str
        The terms of the study's formula that this one does not have; they are tested together.
    df : int
        Degrees of freedom of the likelihood-ratio test.
    is_null : bool
        Whether the null hypothesis of the test is true: the study's effects are those of the smaller formula.
    """

    formula: str
    terms: tuple[str, ...]
    df: int
    is_null: bool

    @property
    def test(self) -> str:
        """The test as rows of a simulation name it."""
        return f"against {self.formula}"

    @classmethod
    def of(cls, study: Study, formula: str) -> NestedFormula:
        """Read a smaller formula of a study.

        Raises
        ------
        ParameterError
            If it has another outcome or other variables, is not smaller, or the outcome is a number, which is fitted
            without a likelihood.

        Examples
        --------
        >>> from deniable import Question, Survey, Warner
        >>> from deniable_research.simulation.study import Covariate
        >>> survey = Survey("T", (Question("q", "yes-no", "Q?", ("no", "yes"), Warner.from_epsilon(1)),))
        >>> people = {"age": Covariate.parse("a,b,c"), "sex": Covariate.parse("f,m")}
        >>> study = Study(survey, "q ~ age + sex", {"sex[T.m]": 0.5}, people)
        >>> NestedFormula.of(study, "q ~ sex")
        NestedFormula(formula='q ~ sex', terms=('age[T.b]', 'age[T.c]'), df=2, is_null=True)
        """
        check_kind(formula, str, "against")
        left, right = sides(formula)
        if left.strip("`") != study.outcome:
            raise ParameterError(f"against: must have the left side of the formula, {study.outcome}, got {left:.80}")
        known = study.predictors
        if strangers := [name for name in variables(right, known.__contains__) if name not in known]:
            raise ParameterError(
                f"against: must name variables of the formula ({', '.join(known) or 'it has none'}), "
                f"got {', '.join(strangers)}"
            )
        if study.outcome not in study.questions:
            raise ParameterError(
                f"against: must be of a question, got {study.outcome}; a column of numbers is fitted by least squares, "
                "which have no likelihood"
            )
        full_terms, full = study.coded_population(study.formula)
        fewer_terms, fewer = study.coded_population(formula)
        df = int(np.linalg.matrix_rank(full) - np.linalg.matrix_rank(fewer))
        if df < 1 or not _is_spanned(fewer, full):
            raise ParameterError(
                f"against: must be a smaller formula, whose terms are among those of {study.formula}, got {formula:.80}"
            )
        predictor = full @ np.array([study.coefficients[term] for term in full_terms])
        terms = tuple(term for term in full_terms if term not in fewer_terms)
        return cls(formula, terms, df, _is_spanned(predictor[:, None], fewer))


def _is_spanned(columns: NDArray[np.float64], by: NDArray[np.float64]) -> bool:
    """Whether all columns are linear combinations of other ones, up to rounding."""
    columns = columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    by = by / np.maximum(np.linalg.norm(by, axis=0), 1e-300)
    left = columns - by @ np.linalg.lstsq(by, columns)[0]
    return bool(np.abs(left).max(initial=0.0) <= WITHIN)


def nested_formulas(study: Study, formulas: Sequence[str]) -> list[NestedFormula]:
    """The smaller formulas of a study, each once."""
    return [NestedFormula.of(study, each) for each in dict.fromkeys(formulas)]


def likelihood_ratio(fit: Fit | MomentFit, study: Study, against: str, penalty: str | None) -> LikelihoodRatioTest:
    """The likelihood-ratio test of a fit to one sample of a study against a smaller formula.

    If one of the two fits needs a Cauchy prior, both get it, because likelihoods with and without a prior do not
    compare. `penalty` is the setting with which the first one was fitted.

    Raises
    ------
    ParameterError
        If the two fits do not compare, as `deniable_research.regression.likelihood_ratio_test` says.
    """
    if not isinstance(fit, Fit):
        raise ParameterError("against: needs a fit by maximum likelihood, got corrected least squares")
    restricted = refitted(fit, against, fit.penalty or penalty)
    full = fit if restricted.penalty == fit.penalty else refitted(fit, study.formula, restricted.penalty)
    return likelihood_ratio_test(restricted, full)

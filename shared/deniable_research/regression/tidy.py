"""What every fit says: estimates, their errors, a row for each term and one for the whole."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from deniable.output import number
from deniable.table import format_table
from deniable_research.output import interval, p_value
from deniable_research.regression.factor import Array
from deniable_research.regression.sample import ModelSample
from deniable_statistics.intervals import check_confidence_level
from deniable_statistics.sampling import t_quantile, t_two_sided


class TidyRow(NamedTuple):
    """One term of a fit. ``pandas.DataFrame(fit.tidy())`` makes a table of them."""

    term: str
    estimate: float
    std_error: float
    """Infinite where the likelihood does not bound the term, NaN for a share at 0 or 1."""
    statistic: float
    """With profile intervals the signed root of the likelihood ratio, NaN if a fit without the term turns out better;
    otherwise estimate over standard error."""
    p_value: float
    """Two-sided, standard normal; Student's under a sampling design."""
    conf_low: float
    conf_high: float


def wald_row(term: str, estimate: float, std_error: float, confidence_level: float, df: float = math.inf) -> TidyRow:
    """A row from an estimate, its standard error and the degrees of freedom of that.

    >>> row = wald_row("age", 1.0, 0.5, 0.95)
    >>> row.statistic, round(row.p_value, 4), round(row.conf_low, 4), round(row.conf_high, 4)
    (2.0, 0.0455, 0.02, 1.98)
    """
    estimate, std_error = float(estimate), float(std_error)
    # Student's quantile under a design, the normal one where df is infinite
    reach = t_quantile(confidence_level, df) * std_error
    # an infinite error tests nothing; one of 0 belongs to no estimate
    statistic = estimate / std_error if 0 < std_error < math.inf else math.nan
    return TidyRow(term, estimate, std_error, statistic, t_two_sided(statistic, df), estimate - reach, estimate + reach)


@dataclass(frozen=True)
class Glance:
    """One row about a fit. ``pandas.DataFrame([fit.glance()])`` makes a table of it.

    Attributes
    ----------
    n : int
        Rows; the number of people where rows are weighted by frequencies.
    n_effective : float
        ``(sum w)^2 / sum w^2`` under weights (Kish), otherwise `n`.
    n_dropped : int
        Rows left out because something was missing.
    loglik, null_loglik : float
        Log-likelihood, and that of the model without covariates; the prior is not part of them.
    df : int
        Number of parameters.
    aic, bic : float
    lr_statistic, lr_df, p_value : float, int, float
        Likelihood-ratio test against the model without covariates, the prior included. NaN under weights or
        clusters, where it has no chi-square distribution. As all that needs a likelihood, NaN of corrected least
        squares.
    pseudo_r2 : float
        McFadden's ``1 - loglik / null_loglik``.
    penalty : str or None
    optima : int
        Different ends that the searches from several starts found. See `Fit`.
    converged, separated : bool
    """

    n: int
    n_effective: float
    n_dropped: int
    loglik: float = math.nan
    null_loglik: float = math.nan
    df: int = 0
    aic: float = math.nan
    bic: float = math.nan
    lr_statistic: float = math.nan
    lr_df: int = 0
    p_value: float = math.nan
    pseudo_r2: float = math.nan
    penalty: str | None = None
    optima: int = 0
    converged: bool = False
    separated: bool = False


@dataclass(frozen=True)
class CoefficientEstimates:
    """Estimates and what is known of their errors.

    Attributes
    ----------
    params : ndarray
        In the order of `terms`.
    terms : tuple of str
    converged : bool
        Whether there is a solution.
    message : str
        What to know before using the estimates; empty if nothing.
    sample : ModelSample
        How the rows stand for people.
    """

    params: Array
    terms: tuple[str, ...]
    converged: bool
    message: str
    sample: ModelSample = field(repr=False)

    @property
    def n(self) -> int:
        """Rows; people where rows are weighted by frequencies."""
        return self.sample.n

    @property
    def n_effective(self) -> float:
        """Kish's ``(sum w)^2 / sum w^2`` under weights, otherwise `n`."""
        return self.sample.n_effective

    @property
    def n_dropped(self) -> int:
        """Rows left out because something was missing."""
        return self.sample.frame.n_dropped

    @property
    def df(self) -> float:
        """Degrees of freedom of errors, infinite unless people were drawn by a design; see `DrawnSample.df`."""
        return self.sample.df(len(self.terms))

    def cov_params(self) -> Array:
        """Covariance of the estimates, shape (terms, terms)."""
        raise NotImplementedError

    @property
    def bse(self) -> Array:
        """Standard errors of the estimates, shape (terms,)."""
        return np.sqrt(np.diag(self.cov_params()))

    def tidy(self, confidence_level: float = 0.95) -> list[TidyRow]:
        """One row for each term, with Wald's test and interval."""
        check_confidence_level(confidence_level)
        return self._wald_rows(self.bse, confidence_level)

    def _wald_rows(self, errors: Array, confidence_level: float) -> list[TidyRow]:
        found = zip(self.terms, self.params, errors, strict=True)
        return [wald_row(*each, confidence_level, self.df) for each in found]

    def glance(self) -> Glance:
        """One row about the whole fit."""
        raise NotImplementedError

    @property
    def pvalues(self) -> Array:
        """Two-sided p-values of `tidy`, shape (terms,)."""
        return np.array([row.p_value for row in self.tidy()])

    def conf_int(self, confidence_level: float = 0.95) -> Array:
        """The ends of the confidence intervals of `tidy`, shape (terms, 2)."""
        return np.array([[row.conf_low, row.conf_high] for row in self.tidy(confidence_level)]).reshape(-1, 2)

    def summary(self, confidence_level: float = 0.95) -> str:
        """The rows of `tidy` as a table for people, with what to know before using them."""
        rows = self.tidy(confidence_level)
        header = ["term", "estimate", "std. error", "z" if self.df == math.inf else "t", "p", "interval"]
        lines = [
            [row.term, *map(number, row[1:4]), p_value(row.p_value), interval(row.conf_low, row.conf_high, number)]
            for row in rows
        ]
        about = f"n = {self.n}, {100 * confidence_level:g} % intervals."
        return "\n".join(filter(None, [format_table(header, lines, right=header[1:]), "", about, self.message]))

"""Rows that fits print: one for each term, one for the whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from deniable_research.sampling import t_quantile, t_two_sided


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
    reach = t_quantile(confidence_level, df) * std_error
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
        clusters, where it has no chi-square distribution.
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
    loglik: float
    null_loglik: float
    df: int
    aic: float
    bic: float
    lr_statistic: float
    lr_df: int
    p_value: float
    pseudo_r2: float
    penalty: str | None
    optima: int
    converged: bool
    separated: bool

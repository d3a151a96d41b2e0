"""Logistic regression of a randomised yes-no outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from deniable.errors import ParameterError
from deniable_research.regression.cells import SharedResponse
from deniable_research.regression.fit import Fit
from deniable_research.regression.fitting import fit_model
from deniable_research.regression.likelihood import Sample
from deniable_research.regression.reports import Grouped, aligned_columns, read_reports
from deniable_research.regression.responses import DesignLike
from deniable_research.regression.rows import categorical, read_rows
from deniable_research.sampling import Domain


def logistic(
    outcome: str | ArrayLike,
    data: Any,
    design: DesignLike | Grouped,
    *,
    randomised: Mapping[str, DesignLike | Grouped] | None = None,
    reports: Mapping[str, ArrayLike] | None = None,
    shared: Sequence[SharedResponse] = (),
    names: Sequence[str] | None = None,
    weights: str | ArrayLike | None = None,
    frequencies: str | ArrayLike | None = None,
    clusters: str | ArrayLike | None = None,
    domain: Domain | None = None,
    penalty: str | None = "auto",
    start: ArrayLike | None = None,
    random_starts: int = 5,
    seed: int = 0,
) -> Fit:
    """Logistic regression of a yes-no answer that was randomised: coefficients of the truth, from the reports.

    Parameters
    ----------
    outcome : str or array_like of length n
        A formula like ``"report ~ age + C(region)"``, or the reports: 0 and 1, or the names of the responses.
    data : DataFrame, mapping of columns, or array_like of shape (n, p)
        The table of the formula, or the covariates, with a column of ones if there is to be an intercept.
    design : Mechanism, Channel, (a, b) or Grouped
        What the answers went through: ``a = P(yes | yes)`` and ``b = P(yes | no)``, each a number, one number for
        each row, or the name of a column; ``(1, 0)`` is a direct question. `grouped` mixes designs, and gives those
        that detect cheaters.
    randomised : mapping from name to mechanism, channel, (a, b) or grouped designs, optional
        What the answers to each randomised predictor of the formula went through; their columns hold the reports.
    reports : mapping from name to array_like, optional
        The reports to randomised predictors, if the data are not a table.
    shared : sequence of SharedResponse
        Questions whose answers went into one report.
    names : sequence of str, optional
        Names of the columns of a matrix.
    weights : str or array_like, optional
        Probability weights. Standard errors are those of the sandwich.
    frequencies : str or array_like of int, optional
        How many people a row stands for.
    clusters : str or array_like, optional
        Labels of rows that are not independent. Standard errors are those of the sandwich over clusters.
    domain : Domain, optional
        The people of the rows among all who were drawn: weights, and errors of the sampling design. Those of replicate
        weights come from a fit with each.
    penalty : {"auto", "cauchy", None}
        A weakly informative prior only if the likelihood has no maximum, always, or never.
    start : array_like, optional
        Where to search first.
    random_starts, seed : int
        Random starts after the deterministic ones, if the first three do not agree.

    Returns
    -------
    Fit

    Raises
    ------
    ParameterError
        If the design cannot have made a report, covariates are collinear, or the design tells nothing. No report is
        repeated in the message.

    Notes
    -----
    ``P(yes_i) = a_i g_i + b_i (1 - g_i)`` with ``g_i = expit(x_i beta)`` [1]_ [2]_ [3]_: everybody has a row of one
    likelihood, whatever their design. Noise makes it flat and sometimes gives it several maxima, or none: with a
    share of 0.1, two covariates and 200 people through two fair coins, so in about one sample of three. Hence the
    several starts; `Fit.separated` and `Fit.optima` tell. Estimates are biased away from 0 by a term in 1/n, as those
    of every logistic regression: at 5,000 people through two fair coins by less than a tenth of a standard error.

    **Randomised predictors** are truths that are not seen either, so how often each combination of them is (a *cell*)
    is part of the model: a share of its own in each group of people with the same covariates if there are few groups
    (`deniable_research.regression.cells.MOST_SHARES`), otherwise a multinomial logit on the covariates. Reports say
    nothing about each other beyond the truths. Noise in predictors is not only less precise: who regresses on the
    reports as if they were answers gets coefficients that are too small, however many people there are.

    References
    ----------
    .. [1] N. J. Scheers, C. M. Dayton, "Covariate randomized response models", Journal of the American Statistical
       Association 83 (1988), 969-974.
    .. [2] A. van den Hout, P. G. M. van der Heijden, R. Gilchrist, "The logistic regression model with response
       variables subject to randomized response", Computational Statistics & Data Analysis 51 (2007), 6060-6069.
    .. [3] G. Blair, K. Imai, Y.-Y. Zhou, "Design and analysis of the randomized response technique", Journal of the
       American Statistical Association 110 (2015), 1304-1319.

    Examples
    --------
    Two fair coins, 430 of 1000 reports are yes: the share 2 (0.43 - 1/4) = 0.36 has the logit ln(0.36 / 0.64):

    >>> from deniable import TwoCoin
    >>> coins = TwoCoin("1/2", "1/2")
    >>> fit = logistic([0, 1], [[1], [1]], coins, names=["intercept"], frequencies=[570, 430])
    >>> fit.tidy()[0].term, round(float(fit.params[0]), 6)
    ('intercept', -0.575364)
    >>> prediction = fit.predict([[1]])
    >>> prediction.share.round(4).tolist(), prediction.std_error.round(4).tolist()
    ([[0.64, 0.36]], [[0.0313, 0.0313]])

    Both answers behind the coins: 3 of 4 of those who are old say the truth yes, 1 of 4 of the others.

    >>> table = {"affair": [0, 0, 1, 1], "old": [0, 1, 0, 1], "people": [5625, 4375, 4375, 5625]}
    >>> both = logistic("affair ~ old", table, coins, randomised={"old": coins}, frequencies="people")
    >>> both.terms, [round(float(each), 2) for each in both.params]
    (('Intercept', 'old[T.yes]', 'P(old=yes)'), [-1.1, 2.2, 0.5])
    """
    columns = Sample.columns(weights, frequencies, clusters, domain) | aligned_columns(design)
    frame, cells, sample = read_rows(outcome, data, names, columns, randomised or {}, reports, shared, domain)
    seen = read_reports(frame.columns["outcome"], design, frame.columns)
    if len(seen.truths) != 2:
        raise ParameterError(f"design: must have 2 truths, got {len(seen.truths)}; multinomial takes more")
    return fit_model(categorical(frame, cells, sample, seen, shared), sample, penalty, start, random_starts, seed)

"""Regression models: logistic, multinomial, and linear by maximum likelihood or corrected least squares."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, TypeVar, Unpack

from numpy.typing import ArrayLike

from deniable.errors import ParameterError
from deniable_research.regression.formula import refuse_interactions
from deniable_research.regression.rows import Randomised, RegressionRows, RowRequest, aligned_columns
from deniable_statistics.regression.fit import Fit, fit_model
from deniable_statistics.regression.likelihood import LatentClasses
from deniable_statistics.regression.moments import MomentFit
from deniable_statistics.regression.report_likelihood import DesignLike, Grouped, read_reports
from deniable_statistics.regression.shared_response import SharedResponse
from deniable_statistics.sampling import Domain


class RowOptions(TypedDict, total=False):
    """How the rows of a model are read, and how they count.

    Attributes
    ----------
    reports : mapping from name to array_like, optional
        The reports to randomised predictors, if the data are not a table.
    names : sequence of str, optional
        Names of the columns of a matrix.
    weights : str or array_like, optional
        Probability weights. Standard errors are those of the sandwich.
    frequencies : str or array_like of int, optional
        How many people a row stands for.
    clusters : str or array_like, optional
        Labels of rows that are not independent. Standard errors are those of the sandwich over clusters.
    domain : Domain, optional
        The people of the rows among everybody in the sample: weights, and standard errors of the sampling design. Those
        of replicate weights come from a fit with each.
    """

    reports: Mapping[str, ArrayLike] | None
    names: Sequence[str] | None
    weights: str | ArrayLike | None
    frequencies: str | ArrayLike | None
    clusters: str | ArrayLike | None
    domain: Domain | None


class FitOptions(RowOptions, total=False):
    """Options of a model that is fitted by maximum likelihood, besides `RowOptions`.

    Attributes
    ----------
    shared : sequence of SharedResponse
        Questions whose answers went into one report.
    penalty : {"auto", "cauchy", None}
        A weakly informative prior only if the likelihood has no maximum, always, or never.
    start : array_like, optional
        Where to search first.
    random_starts, seed : int
        Random starts after the deterministic ones, if the first three do not agree.
    """

    shared: Sequence[SharedResponse]
    penalty: str | None
    start: ArrayLike | None
    random_starts: int
    seed: int


@dataclass(frozen=True)
class FitRequest(RowRequest):
    """Randomised predictors and `FitOptions`, with what these are unless somebody says so."""

    penalty: str | None = "auto"
    start: ArrayLike | None = None
    random_starts: int = 5
    seed: int = 0

    def fit(self, rows: RegressionRows, model: LatentClasses) -> Fit:
        """Maximise the likelihood of the rows."""
        return fit_model(model, rows.sample, self.penalty, self.start, self.random_starts, self.seed)


Model = TypeVar("Model", bound=Callable[..., Any])


def shows(options: type) -> Callable[[Model], Model]:
    """Let `help` and completion show each of the options in place of ``**options``, with its default."""
    defaults = inspect.signature(FitRequest).parameters

    def shown(model: Model) -> Model:
        own = inspect.signature(model)
        kept = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
        more = [defaults[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in options.__annotations__]
        # `inspect`, `help` and editors read this instead of the real signature, whose **options name nothing.
        vars(model)["__signature__"] = own.replace(parameters=[*kept, *more])
        return model

    return shown


@shows(FitOptions)
def logistic(
    outcome: str | ArrayLike,
    data: Any,
    design: DesignLike | Grouped,
    *,
    randomised: Randomised | None = None,
    **options: Unpack[FitOptions],
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
    **options : FitOptions
        How rows are read and count, ``reports``, ``shared``, ``names``, ``weights``, ``frequencies``, ``clusters``,
        ``domain``; and how to search, ``penalty``, ``start``, ``random_starts``, ``seed``.

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
    (`deniable_statistics.regression.cells.MOST_SHARES`), otherwise a multinomial logit on the covariates. Reports say
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
    request = FitRequest(randomised or {}, **options)
    rows = request.read(outcome, data, aligned_columns(design))
    seen = read_reports(rows.frame.columns["outcome"], design, rows.frame.columns)
    # Two truths have one linear predictor; more need one for each but the first.
    if len(seen.truths) != 2:
        raise ParameterError(f"design: must have 2 truths, got {len(seen.truths)}; multinomial takes more")
    return request.fit(rows, rows.categorical(seen))


@shows(FitOptions)
def multinomial(
    outcome: str | ArrayLike,
    data: Any,
    design: DesignLike | Grouped,
    *,
    truths: Sequence[str] | None = None,
    randomised: Randomised | None = None,
    **options: Unpack[FitOptions],
) -> Fit:
    """Multinomial logistic regression of a choice that was randomised; the first option is the reference.

    Parameters
    ----------
    outcome : str or array_like of length n
        A formula, or the reports: numbers, names of a channel's responses, or the texts of `deniable.Subset`.
    design : Mechanism, Channel or Grouped
        What the answers went through. It may have more responses than truths, or fewer people in one group than in
        another; all must have the same truths.
    truths : sequence of str, optional
        Names of the options for the terms, in option order.
    data, randomised, **options
        As for `logistic`.

    Returns
    -------
    Fit
        Its terms are ``option: covariate``, option after option without the first.

    Raises
    ------
    ParameterError
        As for `logistic`.

    Notes
    -----
    ``P(report_i) = sum over x of P(report_i | x) g_x(z_i)``, ``g = softmax`` of one linear predictor for each option
    with 0 for the first. The report of a subset mechanism is the whole subset: nothing of it is lost to a tally.

    References
    ----------
    A. van den Hout, P. G. M. van der Heijden, "Randomized response, statistical disclosure control and
    misclassification: a review", International Statistical Review 70 (2002), 269-288.

    Examples
    --------
    Truth with probability 1/2, otherwise one of three options at random: of 600 reports 250, 200 and 150. Shares are
    (250/600 - 1/6) / (1/2) = 1/2, 1/3 and 1/6, the logits ln(2/3) and ln(1/3):

    >>> from deniable_statistics.classical import forced_response
    >>> spin = forced_response("1/2", ["1/3", "1/3", "1/3"])
    >>> fit = multinomial([0, 1, 2], [[1], [1], [1]], spin, truths=["bus", "car", "foot"], frequencies=[250, 200, 150])
    >>> [(row.term, round(row.estimate, 4)) for row in fit.tidy(interval="wald")]
    [('car: x0', -0.4055), ('foot: x0', -1.0986)]
    """
    request = FitRequest(randomised or {}, **options)
    rows = request.read(outcome, data, aligned_columns(design))
    seen = read_reports(rows.frame.columns["outcome"], design, rows.frame.columns)
    if truths is not None:
        seen = seen.named(truths)
    # An unknown share is one more parameter of the likelihood, which `logistic` alone estimates.
    if seen.share is not None:
        raise ParameterError(f"design: must have known probabilities, got unknown {seen.share}; use logistic")
    return request.fit(rows, rows.categorical(seen))


@shows(FitOptions)
def linear(outcome: str | ArrayLike, data: Any, randomised: Randomised, **options: Unpack[FitOptions]) -> Fit:
    """Linear regression of a number on answers that were randomised, by maximum likelihood.

    Parameters
    ----------
    outcome : str or array_like of length n
        A formula like ``"income ~ age * affair"`` with randomised predictors among its variables, or numbers.
    data : DataFrame, mapping of columns, or array_like of shape (n, p)
        The table of the formula, or the other covariates, with a column of ones.
    randomised : mapping from name to mechanism, channel, (a, b) or grouped designs
        What the answers to each randomised predictor went through; their columns hold the reports.
    **options : FitOptions
        As for `logistic`.

    Returns
    -------
    Fit
        Terms: those of the formula, with effects ``affair[T.yes]`` against the first truth, ``log(sigma)``, and what
        describes ``P(affair=yes)``: a share in each group of people with the same covariates, or coefficients.

    Raises
    ------
    ParameterError
        As for `logistic`.

    Notes
    -----
    ``y = r b + N(0, sigma^2)`` with regressors ``r`` of covariates and truths. The truths are not seen, so how often
    each combination of them is, is part of the model, as for `logistic`. Residuals must be normal with one variance;
    `linear_moments` assumes neither that nor anything about the truths, and is less precise. Where the two contradict
    each other, the fit's message says so: a mixture of normals finds two groups in any skewed outcome.

    References
    ----------
    G. Blair, K. Imai, Y.-Y. Zhou, "Design and analysis of the randomized response technique", Journal of the
    American Statistical Association 110 (2015), 1304-1319.

    D. W. Heck, M. Moshagen, "RRreg: an R package for correlation and regression analyses of randomized response
    data", Journal of Statistical Software 85 (2018), 2.

    Examples
    --------
    Without noise it is least squares: the means of two groups are 2 and 5.

    >>> table = {"hours": [1, 2, 3, 4, 5, 6], "affair": [0, 0, 0, 1, 1, 1]}
    >>> fit = linear("hours ~ affair", table, {"affair": (1, 0)})
    >>> [(row.term, round(row.estimate, 6)) for row in fit.tidy(interval="wald")][:2]
    [('Intercept', 2.0), ('affair[T.yes]', 3.0)]
    """
    request = FitRequest(randomised, **options)
    rows = request.read_numbers(outcome, data)
    model = rows.normal()
    fit = request.fit(rows, model)
    # Moments know main effects alone: with an interaction there is nothing to compare.
    linear_terms = {*rows.frame.terms, *rows.cells.effect_terms}
    if not rows.cells.has_scores or set(model.outcome.regressors.terms) != linear_terms:
        return fit  # moments know nothing of it
    # the sandwich will do for a doubt: replicate weights would each take a solution
    doubt = _doubt(fit, replace(MomentFit.of(rows.outcome, rows.cells, rows.sample), _solve=None))
    return replace(fit, message=" ".join(filter(None, (fit.message, doubt))))


APART = 4.0
"""Largest difference of likelihood and moment estimates, in standard errors: exceeded once in 15,000 right models."""


def _doubt(fit: Fit, moments: MomentFit) -> str:
    """A sentence if the normal likelihood contradicts the estimates that do not suppose it.

    Both are right if the model is, and likelihood is the more precise; then the variance of their difference is that
    of moments minus that of likelihood, at most the former (J. A. Hausman, Econometrica 46 (1978), 1251-1271).
    """
    # Hausman: var(b_ls - b_ml) = var(b_ls) - var(b_ml) <= var(b_ls) if the model is right
    for row in reversed(moments.tidy()):  # effects of what was randomised stand last and matter most
        found = float(fit.params[fit.terms.index(row.term)])
        if row.std_error > 0 and abs(found - row.estimate) > APART * row.std_error:
            return (
                f"The likelihood of a normal outcome gives {row.term} = {found:.3g}, corrected least squares, which do "
                f"not suppose it, {row.estimate:.3g} with a standard error of {row.std_error:.2g}: trust these "
                "(linear_moments)."
            )
    return ""


@shows(RowOptions)
def linear_moments(
    outcome: str | ArrayLike, data: Any, randomised: Randomised, **options: Unpack[RowOptions]
) -> MomentFit:
    """Linear regression of a number on answers that were randomised, by corrected least squares.

    The parameters are those of `linear`, and the options those of `RowOptions`. Nothing is assumed about residuals or
    about the distribution of the true answers; standard errors are those of the sandwich of the estimating equations
    (`deniable_statistics.regression.moments.corrected_least_squares`).

    Examples
    --------
    >>> table = {"hours": [1, 2, 3, 4, 5, 6], "affair": [0, 0, 0, 1, 1, 1]}
    >>> fit = linear_moments("hours ~ affair", table, {"affair": (1, 0)})
    >>> [(row.term, round(row.estimate, 6)) for row in fit.tidy()]
    [('Intercept', 2.0), ('affair[T.yes]', 3.0)]
    """
    # A formula can name a product; in arrays it is a column like any other, which nobody can recognise.
    if isinstance(outcome, str):
        refuse_interactions(outcome, list(randomised))
    rows = RowRequest(randomised, **options).read_numbers(outcome, data)
    return MomentFit.of(rows.outcome, rows.cells, rows.sample)

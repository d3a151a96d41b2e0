"""What a fitted model says in shares: of everybody, of people of some kind, and what changes them."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from deniable.errors import ParameterError, check_kind
from deniable_research.regression import Average, Averages, Fit, MomentFit, Setting
from deniable_statistics.comparison import holm
from deniable_statistics.intervals import check_confidence_level, level_of_each
from deniable_statistics.sampling import t_quantile, t_two_sided

MOST_LEVELS = 30
"""A variable with more values is not a factor that somebody compares pair by pair."""


@dataclass(frozen=True)
class PredictionRow:
    """One line of what a model predicts; the fields are the columns of the CSV, in order.

    Attributes
    ----------
    measure : {"share", "slope", "change", "difference"}
        The average share; its average derivative by a number, and its average change between two values of a factor or
        two truths (average marginal effects); the difference between two cohorts, one of all pairs.
    option : str
        The truth of the outcome.
    setting : str
        What everybody is set to; empty for people as they are.
    variable, first, second : str or None
        What moves; the share at `first` minus that at `second`.
    estimate, std_error, conf_low, conf_high : float
    conf_level : float
    statistic, p_value : float or None
        None for shares; Student's under a sampling design, otherwise standard normal.
    p_adjusted : float or None
        By Holm's method for the differences of three cohorts or more.
    df : float or None
        Degrees of freedom of the error; None for infinitely many.
    """

    measure: str
    option: str
    setting: str = ""
    variable: str | None = None
    first: str | None = None
    second: str | None = None
    estimate: float = math.nan
    std_error: float = math.nan
    conf_low: float = math.nan
    conf_high: float = math.nan
    conf_level: float = 0.95
    statistic: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    df: float | None = None


def read_setting(text: str) -> dict[str, str]:
    """Read what everybody is set to.

    >>> read_setting('age=30, region=west, "job=cook, waiter"')
    {'age': '30', 'region': 'west', 'job': 'cook, waiter'}
    """
    found: dict[str, str] = {}
    for each in next(csv.reader([text], skipinitialspace=True), []):
        name, equals, value = (part.strip() for part in each.partition("="))
        if not name or not equals or not value:
            raise ParameterError(f'at: must be like "age=30,region=west", got {text!r:.80}')
        if name in found:
            raise ParameterError(f"at: must name {name!r:.40} once, got it twice")
        found[name] = value
    if not found:
        raise ParameterError('at: must be like "age=30,region=west", got nothing')
    return found


def predict(
    fit: Fit | MomentFit,
    *,
    at: Sequence[Mapping[str, object]] = (),
    effects: bool = False,
    contrast: str | None = None,
    confidence_level: float = 0.95,
) -> list[PredictionRow]:
    """Say what a fitted model predicts: average shares, marginal effects, or differences between cohorts.

    Parameters
    ----------
    fit : Fit
        Logistic or multinomial, of a formula.
    at : sequence of mappings
        From variables of the formula to what everybody is set to: randomised predictors to truths. What is not named
        stays as it is. By default people as they are.
    effects : bool
        Average marginal effects of every variable instead of shares: of a number the derivative of the share, of a
        factor and of a randomised predictor the change from its first value to each other.
    contrast : str, optional
        Differences between all pairs of values of this variable instead. With three values or more their intervals
        hold together (Bonferroni), and p-values are adjusted by Holm's method.
    confidence_level : float

    Returns
    -------
    list of PredictionRow
        For each setting and each truth of the outcome; of a yes-no outcome for *yes*. Intervals of shares are Wald's
        on the logit scale, those of effects and differences on their own.

    Raises
    ------
    ParameterError
        If the model is linear, or a setting names no variable of the formula or a value that it cannot have.

    Notes
    -----
    Errors are by the delta method from all parameters, how often truths of predictors are among them, and hold that
    the people are a sample themselves; see `deniable_research.regression.Averages`.

    Examples
    --------
    430 of 1000 said yes where half of all toss a coin instead of answering; the share is that of `regress`:

    >>> from deniable_research.files import Layout, Table, quick_question, regress
    >>> layout = Layout((quick_question("q: forced-response truth=1/2"),))
    >>> table = Table.of({"q": ("yes",) * 430 + ("no",) * 570, "old": ("1", "0") * 500}, layout)
    >>> row = predict(regress(table, "q ~ 1"))[0]
    >>> row.option, round(row.estimate, 4), round(row.conf_low, 4), round(row.conf_high, 4)
    ('yes', 0.36, 0.3012, 0.4234)
    """
    check_confidence_level(confidence_level)
    if not isinstance(fit, Fit):
        raise ParameterError("predict: must be asked of a logistic or multinomial model, got corrected least squares")
    if effects and contrast is not None:
        raise ParameterError("contrast: must not go with effects; ask for one after the other")
    for each in at:
        check_kind(each, Mapping, "each setting of at")
    averages = Averages(fit)
    settings = [averages.checked(Setting(each)) for each in at] or [Setting()]
    rows: list[PredictionRow] = []
    for setting in settings:
        if effects:
            rows += _effects(averages, setting, confidence_level)
        elif contrast is not None:
            rows += _contrasts(averages, contrast, setting, confidence_level)
        else:
            about = PredictionRow("share", "", setting.text)
            rows += _rows(averages, [(about, averages.shares(setting))], confidence_level)
    return rows


def _effects(averages: Averages, setting: Setting, level: float) -> list[PredictionRow]:
    """Average marginal effects of the variables that the setting does not fix."""
    found = []
    for name in averages.variables:
        if name in setting.values:
            continue
        if averages.is_number(name):
            found.append((PredictionRow("slope", "", setting.text, name), averages.slope(name, setting)))
            continue
        reference, *others = _few(averages, name)
        for other in others:
            about = PredictionRow("change", "", setting.text, name, _shown(other), _shown(reference))
            found.append((about, averages.change(name, other, reference, setting)))
    if not found:
        raise ParameterError("effects: must have a variable of the formula that is not set, got none")
    return _rows(averages, found, level)


def _contrasts(averages: Averages, name: str, setting: Setting, level: float) -> list[PredictionRow]:
    """Differences between all pairs of values of one variable."""
    if name not in averages.variables:
        known = ", ".join(averages.variables) or "it has none"
        raise ParameterError(f"contrast: must be a variable of the formula ({known}), got {name!r:.40}")
    if name in setting.values:
        raise ParameterError(f"contrast: must not be what everybody is set to, got {name}")
    shares = [(each, averages.shares(setting & {name: each})) for each in _few(averages, name)]
    found = [
        (PredictionRow("difference", "", setting.text, name, _shown(a), _shown(b)), one - other)
        for (a, one), (b, other) in itertools.combinations(shares, 2)
    ]
    # Bonferroni: intervals of level 1 - (1 - level) / m hold together
    rows = _rows(averages, found, level_of_each(level, len(found)))
    rows = [replace(row, conf_level=level) for row in rows]
    if len(found) < 2:
        return rows
    adjusted: dict[str, Iterator[float]] = {}
    for option in dict.fromkeys(row.option for row in rows):
        adjusted[option] = iter(holm([row.p_value or 0.0 for row in rows if row.option == option]))
    return [replace(row, p_adjusted=next(adjusted[row.option])) for row in rows]


def _few(averages: Averages, name: str) -> list[object]:
    """The values of a factor, at least two of them."""
    levels = averages.levels(name)
    if not 2 <= len(levels) <= MOST_LEVELS:
        raise ParameterError(f"{name}: must have 2 to {MOST_LEVELS} different values to compare, got {len(levels)}")
    return levels


def _rows(averages: Averages, found: Sequence[tuple[PredictionRow, Average]], level: float) -> list[PredictionRow]:
    # all at once: under replicate weights each refit serves every average
    covariance = averages.covariance([average for _, average in found])
    errors = np.sqrt(np.maximum(np.diag(covariance), 0)).reshape(len(found), -1)
    df, truths = averages.fit.df, averages.truths
    rows = []
    for (about, average), error in zip(found, errors, strict=True):
        # of two truths the first share is what the second leaves
        for y in range(len(truths)) if len(truths) > 2 else [1]:
            rows.append(_row(replace(about, option=truths[y]), float(average.value[y]), float(error[y]), level, df))
    return rows


def _row(about: PredictionRow, estimate: float, error: float, level: float, df: float) -> PredictionRow:
    reach = t_quantile(level, df)
    # shares keep within [0, 1] by the logit scale; differences may have either sign
    row = replace(about, estimate=estimate, std_error=error, conf_level=level, df=df if math.isfinite(df) else None)
    if about.measure == "share":
        low, high = logit_limits(estimate, error, reach)
        return replace(row, conf_low=low, conf_high=high)
    statistic = estimate / error if error > 0 else math.nan
    return replace(
        row,
        conf_low=estimate - reach * error,
        conf_high=estimate + reach * error,
        statistic=statistic,
        p_value=t_two_sided(statistic, df),
    )


def logit_limits(share: float, std_error: float, reach: float) -> tuple[float, float]:
    """An interval of a share that is symmetric on the logit scale, so that it stays in [0, 1].

    The error there is ``std_error / (share (1 - share))``. Without an error the data set no limit.

    >>> low, high = logit_limits(0.1, 0.03, 1.96)
    >>> round(low, 4), round(high, 4)
    (0.0547, 0.176)
    >>> logit_limits(0.1, math.nan, 1.96)
    (0.0, 1.0)
    """
    # d logit(p) / d p = 1 / (p (1 - p))
    spread = share * (1 - share)
    if not (spread > 0 and math.isfinite(std_error)):
        return 0.0, 1.0
    half = reach * std_error / spread
    return float(expit(logit(share) - half)), float(expit(logit(share) + half))


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


__all__ = ["PredictionRow", "logit_limits", "predict", "read_setting"]

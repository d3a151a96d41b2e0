"""Pearson's correlation of true values, one or both of them behind noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError
from deniable_statistics.intervals import Interval
from deniable_statistics.joint.reports import JointReports, check_exclusive, sample_of
from deniable_statistics.sampling import Sample, Truths, t_quantile
from deniable_statistics.sampling.items import Item


@dataclass(frozen=True)
class Correlation:
    """The correlation of the true values of two variables.

    Attributes
    ----------
    correlation : float
        Of the unbiased covariance and variances; may leave [-1, 1]. NaN where a variance is not above 0.
    std_error : float
        By the delta method.
    covariance : float
        Unbiased up to a factor ``1 - 1/n``.
    variances : tuple of two floats
        Of the true values; unbiased likewise, and so sometimes below 0.
    df : float
        Degrees of freedom of the error.
    """

    correlation: float
    std_error: float
    covariance: float
    variances: tuple[float, float]
    df: float = math.inf

    @property
    def note(self) -> str | None:
        """Why there is no estimate; None if there is one."""
        if not math.isnan(self.correlation):
            return None
        if math.isnan(self.covariance):
            return "there are no reports"
        return "the estimated variance of the true values is not above 0: the reports are too few for their noise"

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """A confidence interval, cut to [-1, 1]; all of it where there is no estimate.

        Normal around the correlation, not on Fisher's scale: noise takes the estimate beyond 1 where the truth is near,
        and Fisher's interval, which cannot go there, covers .56 (two fair coins, a correlation of 1, 1000 people).
        """
        reach = t_quantile(confidence_level, self.df) * self.std_error
        if math.isnan(self.correlation) or not self.df > 0:
            return Interval(-1.0, 1.0)
        return Interval(self.correlation - reach, self.correlation + reach).cut(-1, 1)


def correlation(first: Item, second: Item | ArrayLike, sample: Sample | None = None) -> Correlation:
    """Estimate the correlation of the true values of a randomised question and another one, or a plain variable.

    Parameters
    ----------
    first : Item
        The numbers are its `values`; else those of its mechanism's answers; else the numbers of options from 0.
    second : Item, or array_like of float, shape (people,)
        Another question of the same people, or what is known of them without noise.
    sample : Sample, optional
        The people, by default all alike.

    Returns
    -------
    Correlation

    Raises
    ------
    ParameterError
        If the variables are not of the same people, or a question's answers are not single numbers.

    Notes
    -----
    With ``s_v`` the score of truth ``v`` and ``x_v`` its value, ``u = sum x_v s_v`` has the person's true value as
    expectation and ``sum x_v^2 s_v`` its square. The second is not ``u^2``, which holds the noise too: correlations of
    reports are too near to 0, and this one is not. Products of two questions' scores are unbiased because their chances
    are independent. The standard error follows from the covariance of the five means by the delta method.

    Examples
    --------
    Two fair coins, joint shares .45, .05, .05, .45: covariance .45 - .25 = .2, variances .25.

    >>> from deniable import TwoCoin
    >>> coins = TwoCoin("1/2", "1/2")
    >>> one = Item.from_reports("affair", coins, [0] * 50 + [1] * 50)
    >>> other = Item.from_reports("divorce", coins, [0] * 30 + [1] * 20 + [0] * 20 + [1] * 30)
    >>> result = correlation(one, other)
    >>> round(result.correlation, 4), round(result.covariance, 4), round(result.std_error, 4)
    (0.8, 0.2, 0.3919)
    """
    if isinstance(second, Item):
        return correlation_of(JointReports.from_items((first, second), sample))
    plain = np.asarray(second, dtype=float)
    n, whom = len(first), sample_of([first], sample)
    if plain.shape != (n,) or not np.isfinite(plain).all():
        raise ParameterError(f"second: must be {n} finite numbers, one for each person")
    if not whom.weights.any():
        return Correlation(math.nan, math.nan, math.nan, (math.nan, math.nan))
    chances = whom.counted / whom.counted.sum()
    # The correlation does not change with the origin, and far from 0 squares would lose their digits.
    powers = _plain_powers(plain - chances @ plain)
    moments = _moments(*_powers(first, first.scores), *powers)
    truths = None
    if whom.is_finite:
        # The moments that each truth would have without noise: what is left of the variance when all of a finite
        # population answer.
        certain = (np.tile(truth, (n, 1)) for truth in np.eye(len(first.options)))
        truths = Truths(first.scores, np.stack([_moments(*_powers(first, each), *powers) for each in certain], axis=1))
    found = whom.means(moments, truths)
    return from_moments(found.estimate, found.covariance, whom.df)


def correlation_of(reports: JointReports) -> Correlation:
    """The correlation from reports that were put together; this is what `correlation` calls."""
    if len(reports.items) != 2:
        raise ParameterError(f"items: must be 2 questions for a correlation, got {len(reports.items)}")
    first, second = reports.items

    def columns(scores: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        return _moments(*_powers(first, scores[0]), *_powers(second, scores[1]))

    return from_moments(*reports.moments(columns), reports.sample.df)


Powers = tuple["NDArray[np.float64]", "NDArray[np.float64]"]
"""For each person unbiased guesses of the true value and of its square."""


def _powers(item: Item, scores: NDArray[np.float64]) -> Powers:

    check_exclusive(item, "a correlation")
    values = item.design.answer_values if item.values is None else item.values
    x = np.array(values, dtype=float)
    x -= x.mean()  # changes no correlation and keeps the digits of squares
    return scores @ x, scores @ x**2


def _plain_powers(values: NDArray[np.float64]) -> Powers:
    return values, values**2


def _moments(
    x: NDArray[np.float64], x_square: NDArray[np.float64], y: NDArray[np.float64], y_square: NDArray[np.float64]
) -> NDArray[np.float64]:

    # Scores of two questions are independent given the truths, so x y is unbiased for the product; x^2 would not be.
    return np.column_stack([x, x_square, y, y_square, x * y])


def from_moments(mean: NDArray[np.float64], covariance: NDArray[np.float64], df: float = math.inf) -> Correlation:
    """``r = (m_xy - m_x m_y) / sqrt(v_x v_y)`` and its error, from five means and their covariance."""
    x, x_square, y, y_square, product = map(float, mean)
    both, v_x, v_y = product - x * y, x_square - x * x, y_square - y * y
    # A variance less that of the noise: with few reports it can come out below 0.
    if not (v_x > 0 and v_y > 0):
        return Correlation(math.nan, math.nan, both, (v_x, v_y), df)
    scale = math.sqrt(v_x * v_y)
    r = both / scale
    # r = c / sqrt(v_x v_y), so dr = dc / sqrt(v_x v_y) - r / 2 (dv_x / v_x + dv_y / v_y); the five means in order.
    slope_both = np.array([-y, 0, -x, 0, 1]) / scale
    slope_x, slope_y = np.array([-2 * x, 1, 0, 0, 0]) / v_x, np.array([0, 0, -2 * y, 1, 0]) / v_y
    slope = slope_both - r / 2 * (slope_x + slope_y)
    return Correlation(r, math.sqrt(max(float(slope @ covariance @ slope), 0.0)), both, (v_x, v_y), df)

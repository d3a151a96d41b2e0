"""The precision of one estimated share or mean, its sample size, and the price of its privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable.errors import ParameterError
from deniable.survey.question import Question
from deniable_statistics.designs.of_mechanisms import design_of, mean_values
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import check_confidence_level
from deniable_statistics.intervals.interval import normal_quantile
from deniable_statistics.planning.checks import check_people, smallest


@dataclass(frozen=True)
class Precision:
    """The variance of one estimated share or mean, compared with the same number of direct answers.

    Attributes
    ----------
    variance : float
        The number of reports times the variance of the estimate, from sampling and noise together.
    direct : float
        The number of answers times the variance if people are asked directly and tell the truth: sampling alone.
    epsilon : float
        Privacy loss of one answer to the question; infinite if asked directly.
    sensitivity : float
        Largest change, in the L1 norm, that one person's answer makes in the sums that a curator would publish.
    span : float
        Length of the range of the number, which is 1 for a share; half widths must be below it.

    Notes
    -----
    *Sample size*: ``z^2 variance / half_width^2``, rounded up.

    *Break-even bias*: after ``n`` reports the mean squared error is ``variance / n``; that of ``n`` direct answers
    whose mean is wrong by ``bias`` is ``direct / n + bias^2``. They are equal at
    ``bias = sqrt((variance - direct) / n)``, the standard error of the noise alone. For symmetric yes-no designs
    that is ``sqrt(a b / ((a - b)^2 n))``, whatever the share.

    *Trusted curator*: a curator sees every true answer and adds to each published sum one Laplace draw of scale
    ``sensitivity / epsilon`` [1]_. The draw moves the estimate by more than ``t`` with probability
    ``exp(-t n epsilon / sensitivity)``, and adds ``2 (sensitivity / (n epsilon))^2`` to its variance: an error that
    falls like ``1 / n``, where that of a local mechanism falls like ``1 / sqrt(n)``. The difference is
    the price of not having to trust a curator.

    References
    ----------
    .. [1] C. Dwork, F. McSherry, K. Nissim, A. Smith, "Calibrating noise to sensitivity in private data analysis",
       TCC 2006, 265-284.

    Examples
    --------
    Two fair coins and a share of .3: lam = .4, variance .4 x .6 / .25 = .96 against .3 x .7 = .21. With 1000 people
    +-1.96 sqrt(.96 / 1000) = 6.1 points against 2.8, 4.6 times the people, and sqrt(.75 / 1000) = 2.7 points:

    >>> from deniable import TwoCoin
    >>> from deniable_statistics.planning import NoiseModel
    >>> precision = NoiseModel.through(TwoCoin("1/2", "1/2")).at(0.3)
    >>> round(precision.half_width(1000), 3), round(precision.directly.half_width(1000), 3)
    (0.061, 0.028)
    >>> round(precision.factor, 1), round(precision.break_even_bias(1000), 3)
    (4.6, 0.027)
    >>> precision.sample_size(0.05), precision.directly.sample_size(0.05), precision.curator_sample_size(0.05)
    (1476, 323, 331)
    """

    variance: float
    direct: float
    epsilon: float = math.inf
    sensitivity: float = 1.0
    span: float = 1.0

    @property
    def directly(self) -> Precision:
        """The precision of direct and truthful answers."""
        return replace(self, variance=self.direct, epsilon=math.inf)

    @property
    def factor(self) -> float:
        """Variance relative to direct questions, which is the factor in sample size; infinite if those have none."""
        # Where everybody says the same, one direct answer tells the share.
        if self.direct == 0:
            return math.inf if self.variance else 1.0
        return self.variance / self.direct

    def std_error(self, n: int) -> float:
        """Standard error of the estimate from ``n`` reports."""
        return math.sqrt(self.variance / check_people(n))

    def half_width(self, n: int, confidence_level: float = 0.95) -> float:
        """Half the length of a normal interval from ``n`` reports."""
        # z sqrt(V / n)
        return normal_quantile(check_confidence_level(confidence_level)) * self.std_error(n)

    def sample_size(self, half_width: float, confidence_level: float = 0.95) -> int:
        """The smallest number of reports whose normal interval has at most this half width.

        Raises
        ------
        ParameterError
            If ``half_width`` is not above 0 and below `span`.
        """
        return self._smallest(half_width, confidence_level, self.half_width)

    def break_even_bias(self, n: int) -> float:
        """Bias of ``n`` direct answers above which randomised answers have the smaller mean squared error."""
        # V / n = direct / n + bias^2, solved for the bias; rounding may leave a difference below 0.
        return math.sqrt(max(self.variance - self.direct, 0.0) / check_people(n))

    def curator_noise(self, n: int, beta: float = 0.05) -> float:
        """The size that a trusted curator's noise exceeds with probability ``beta``: ``ln(1 / beta) s / (n epsilon)``.

        >>> from deniable import Warner
        >>> from deniable_statistics.planning import NoiseModel
        >>> round(NoiseModel.through(Warner.from_epsilon(1)).at(0.1).curator_noise(1000), 4)      # ln(20) / 1000
        0.003
        """
        if not 0 < beta < 1:
            raise ParameterError(f"beta: must be above 0 and below 1, got {beta}")
        # P(|Laplace| > t) = exp(-t n epsilon / s) = beta, solved for t.
        return math.log(1 / beta) * self._curator_scale(n)

    def curator_half_width(self, n: int, confidence_level: float = 0.95) -> float:
        """Half the length of a normal interval around a trusted curator's figure, including sampling error."""
        # A Laplace draw of scale b has the variance 2 b^2.
        error = math.sqrt(self.direct / check_people(n) + 2 * self._curator_scale(n) ** 2)
        return normal_quantile(check_confidence_level(confidence_level)) * error

    def curator_sample_size(self, half_width: float, confidence_level: float = 0.95) -> int:
        """The smallest number of people with which a trusted curator's interval has at most this half width."""
        return self._smallest(half_width, confidence_level, self.curator_half_width)

    def _curator_scale(self, n: int) -> float:
        # The sums get noise of scale s / epsilon; the estimate is a sum divided by n.
        return self.sensitivity / (check_people(n) * self.epsilon)

    def _smallest(self, half_width: float, confidence_level: float, width_of: Callable[[int, float], float]) -> int:
        if not 0 < half_width < self.span:
            whole = f"{self.span:g}, the whole range"
            raise ParameterError(f"half_width: must be above 0 and below {whole}, got {half_width}")
        # Searched on whole people: z^2 V / w^2 rounded up may be one off where floats tie.
        return smallest(
            lambda n: width_of(n, confidence_level) <= half_width,
            f"half_width: {half_width:g} takes more people than there are; allow more width or more epsilon",
        )


def mean_precision(question: Question, population: Sequence[float] | None = None) -> Precision:
    """The precision of the estimated mean of a question.

    Parameters
    ----------
    question : Question
        A scale or a number.
    population : sequence of float, optional
        The share of people who give each possible number, in rising order of the numbers. By default all shares are
        equal, as in the choice of a mechanism for a survey.

    Raises
    ------
    ParameterError
        If the question has no mean, or the population is not one share for each number.

    Notes
    -----
    The variance is that of `deniable.MeanEstimate` at the expected counts of this population, divided by the share of
    respondents whose devices ask the question. The variance of direct answers is that of the numbers themselves. One
    person moves a curator's sum by the length of the range at most.

    Examples
    --------
    A number from 0 to 10 at epsilon 1. Rounded to an end at random, half of the people stand at either, so
    100 x (1/4) / tanh(1/2)^2 = 117.1; the numbers themselves have a variance of (11^2 - 1) / 12 = 10:

    >>> from deniable import OneBitMean
    >>> drinks = Question("drinks", "number", "How many?", (), OneBitMean.from_epsilon(0, 10, epsilon=1))
    >>> precision = mean_precision(drinks)
    >>> round(precision.variance, 1), round(precision.direct, 1), round(precision.half_width(1000), 2)
    (117.1, 10.0, 0.67)
    """
    mechanism, values = question.mechanism, mean_values(question)
    if values is None:
        raise ParameterError(f"question {question.id!r}: must be a scale or a number, which have a mean")
    possible = question.options or mechanism.answer_range
    numbers = np.array(possible, dtype=float)
    shares = np.full(len(numbers), 1 / len(numbers)) if population is None else np.array(population, dtype=float)
    if shares.shape != numbers.shape or shares.min() < 0 or abs(shares.sum() - 1) > 1e-9:
        raise ParameterError(f"population: must be {len(numbers)} shares that add up to 1, one for each number")
    mean, span = float(shares @ numbers), float(numbers[-1] - numbers[0])
    # A f: what one report brings on average, as if it were the counts.
    expected = (design_of(mechanism).float_matrix @ shares).tolist()
    error = MeanEstimate.from_counts(mechanism, expected, 1, values).std_error
    # sum f (x - mean)^2
    direct = float(shares @ (numbers - mean) ** 2)
    # n stands for people, of whom only a part is asked; a person's answer moves the sum by the range at most.
    return Precision(error**2 / question.share_asked, direct, question.epsilon, sensitivity=span, span=span)

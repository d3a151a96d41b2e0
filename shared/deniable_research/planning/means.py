"""How precisely the mean of a scale or of numbers will be known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.errors import ParameterError
from deniable.survey.question import Question
from deniable_research.planning.precision import Precision
from deniable_statistics.designs.of_mechanisms import design_of, mean_values
from deniable_statistics.estimates.means import MeanEstimate


def mean_precision(question: Question, population: Sequence[float] | None = None) -> Precision:
    """What to expect of the estimated mean of a question.

    Parameters
    ----------
    question : Question
        A scale or a number.
    population : sequence of float, optional
        The share of people who give each possible number, in rising order; by default all the same, as where a
        survey chooses its mechanism.

    Raises
    ------
    ParameterError
        If the question has no mean, or the population is not one share for each number.

    Notes
    -----
    The variance is that of `deniable.MeanEstimate` at the counts that this population is expected to bring, more where
    devices ask the question of a part of the respondents. Asked
    directly it is that of the numbers themselves. A curator's sum moves by the whole range at most.

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

"""Planned precision among the people to whom a question with a filter applies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from deniable.errors import ParameterError
from deniable.mechanisms import Mechanism
from deniable.survey.question import Question
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import design_of, level_values
from deniable_statistics.estimates.among import AmongEstimate, variance_among
from deniable_statistics.estimates.mean_among import AmongMean, mean_variance_among
from deniable_statistics.intervals import Interval, check_confidence_level
from deniable_statistics.planning.checks import check_people
from deniable_statistics.planning.precision import Precision


@dataclass(frozen=True)
class AmongPrecision(Precision):
    """The precision of a share, or a mean, among those to whom a question applies.

    Attributes
    ----------
    interval : callable
        From a number of respondents, all of them, and a confidence level to the interval that the expected counts have.
    applying : float
        The share of all respondents to whom it applies.

    Notes
    -----
    ``variance`` is that of the ratio by the delta method, and ``direct`` that of direct answers of the share to whom it
    applies; both are for one respondent, of all. The half width is that of the published interval at the expected
    counts. It is wider than the normal one where the share to whom the question applies is itself uncertain, and all of
    the range where it may be 0. A curator adds noise to the counts of the option and of all to whom it applies, whose
    ratio errs by no more than a count alone does that is divided by the true number.

    Examples
    --------
    Half of the people are asked which of two, by k-ary response to these and *does not apply* at epsilon 1:

    >>> from deniable import KAry
    >>> precision = share_precision_among(KAry.from_epsilon(3, 1), 0.5, 0.5)
    >>> precision.sample_size(0.05), precision.directly.sample_size(0.05)
    (7029, 769)
    """

    interval: Callable[[int, float], Interval] = field(repr=False, compare=False, kw_only=True)
    applying: float = field(kw_only=True)

    @property
    def directly(self) -> Precision:
        """The precision of direct and truthful answers."""
        return Precision(self.direct, self.direct, sensitivity=self.sensitivity, span=self.span)

    def half_width(self, n: int, confidence_level: float = 0.95) -> float:
        """Half the length of the interval that the counts which ``n`` respondents are expected to send would have."""
        low, high = self.interval(check_people(n), check_confidence_level(confidence_level))
        return (high - low) / 2


def share_precision_among(
    mechanism: Mechanism, share: float, applying: float, asked: float = 1.0, epsilon: float | None = None
) -> AmongPrecision:
    """The precision of a share among those to whom a question applies, of the option with the widest interval.

    Parameters
    ----------
    mechanism : Mechanism
        Its last option is *does not apply*.
    share : float
        The share of the option among those to whom it applies; the others choose the other options equally often.
    applying : float
        The share of the people to whom it applies.
    asked : float
        The share of the devices that ask the question.
    epsilon : float, optional
        What a respondent loses in all; by default that of the mechanism.

    Raises
    ------
    ParameterError
        If ``applying`` is not above 0 and below 1, or the mechanism tells no shares among them.
    """
    design = design_of(mechanism)
    check_applying(applying)
    if design.both is None or not 0 <= share <= 1:
        raise ParameterError(f"share: must be in [0, 1], of a question that tells shares, got {share:g}")
    k = len(design.truths)
    variances = [variance_among(design, share, applying, option) for option in range(k - 1)]
    option = int(np.argmax(variances))
    # Expected counts of one report: n of them have the interval that these counts would have.
    counts = np.array(design.expected(_shares(design, option, share, applying)))

    def interval(n: int, level: float) -> Interval:
        found = AmongEstimate.from_counts(design, (counts * n * asked).tolist(), n * asked)
        return found.option_interval(option, level)

    # Between two options a person moves two shares, with one option besides *does not apply* just one.
    moved = min(k - 1, 2) if design.is_exclusive else k
    return AmongPrecision(
        max(variances) / asked,
        # Direct answers: a binomial share among the n a people to whom it applies.
        share * (1 - share) / applying,
        mechanism.epsilon if epsilon is None else epsilon,
        sensitivity=moved / applying,
        interval=interval,
        applying=applying,
    )


def mean_precision_among(question: Question, applying: float) -> AmongPrecision:
    """The precision of the mean of a number or scale among those to whom it applies.

    All its numbers are equally frequent among them.

    Raises
    ------
    ParameterError
        If ``applying`` is not above 0 and below 1, or the question has no mean.
    """
    check_applying(applying)
    design, values = design_of(question.mechanism), level_values(question)
    if values is None:
        raise ParameterError(f"question {question.id!r}: must be a scale or a number with a filter")
    shares = (
        [applying / len(values)] * len(values) + [1 - applying]
        if question.has_shares
        else list(design.shares_of_some(applying))
    )
    counts, span = np.array(design.expected(shares)), max(values) - min(values)
    possible = np.array(values) if question.has_shares else np.arange(min(values), max(values) + 1)

    def interval(n: int, level: float) -> Interval:
        reports = n * question.share_asked
        return AmongMean.from_counts(design, (counts * reports).tolist(), values, reports).confidence_interval(level)

    return AmongPrecision(
        span**2 * mean_variance_among(design, values, shares[:-1]) / question.share_asked,
        float(possible.var()) / applying,
        question.epsilon,
        sensitivity=span / applying,
        span=span,
        interval=interval,
        applying=applying,
    )


def check_applying(applying: float) -> float:
    """Return the share to whom a question applies if it is above 0 and below 1; raise a ParameterError otherwise."""
    if not 0 < applying < 1:
        raise ParameterError(f"applies: must be a share above 0 and below 1, got {applying:g}")
    return applying


def _shares(design: Design, option: int, share: float, applying: float) -> list[float]:
    """Shares of all truths among everybody: that of the option, equal ones of the others, and *does not apply*."""
    others = len(design.truths) - 2
    # What the option leaves of those to whom it applies, in equal parts.
    rest = (1 - share) * applying / max(others, 1)
    return [*(share * applying if each == option else rest for each in range(others + 1)), 1 - applying]

"""The piecewise-linear mechanism of a number that not everybody has: one more row of weights, for the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable.exact import Number, positive_epsilon, refuse_costly_rounding
from deniable.mechanisms.base import check_range
from deniable.mechanisms.knots import MOST_REPORTS
from deniable.mechanisms.mean import LARGEST_RANGE
from deniable.mechanisms.piecewise import Piecewise, as_integers, optimum
from deniable.randomness import Words

if TYPE_CHECKING:
    from deniable.mechanisms.arrays import Integers


@dataclass(frozen=True)
class FilteredPiecewise(Piecewise):
    """Report one of a few numbers; if the question does not apply, usually the last one.

    Answers are the numbers from the first to the last knot, and the next higher one, which stands for *does not apply*.

    Parameters
    ----------
    knots, weights, slopes
        As in `Piecewise`, with one more report.
    others : tuple of int
        Weight out of ``2**32`` of each report if the question does not apply.

    Notes
    -----
    The rows of all knots and `others` are linearly independent, so there are two scores of the reports: one whose
    expectation is 1 where the question applies and 0 where it does not, and one whose expectation is the number, or 0.
    The mean among those to whom it applies is the ratio of their means.

    `from_epsilon` puts one more report beside those of the optimal `Piecewise` of the same epsilon. With
    ``E = exp(epsilon)``, the rows ``Q`` of `Piecewise` and ``S`` the sum over its reports of the largest weight of each
    in any row, the new report has the probability ``a = (E - S) / (E^2 - S)`` where the question applies and ``E a``
    where it does not. The other reports have ``(1 - a) Q``, and ``(1 - a) max Q / E`` where it does not apply, the
    least that epsilon allows, which adds up with ``E a`` to 1: so no larger ``a`` is possible, and none separates the
    others better [1]_. For two knots it is the k-ary response to *lowest*, *highest* and *does not apply*, after the
    number was rounded at random to one of the ends.

    References
    ----------
    .. [1] P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", Journal of Machine
       Learning Research 17 (2016), 1-51.

    Examples
    --------
    >>> mechanism = FilteredPiecewise.from_epsilon(0, 60, epsilon=2)
    >>> mechanism.epsilon <= 2, mechanism.answer_range, mechanism.randomize(61) in mechanism.reports
    (True, range(0, 62), True)
    """

    others: tuple[int, ...]

    name = "filtered-piecewise"
    question_types = ("filtered-number",)
    named_in = ("filtered-number",)
    has_others = True
    most_reports = MOST_REPORTS + 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "others", as_integers(self.others, "others", range(3, self.most_reports + 1)))
        if isinstance(self.weights, (tuple, list)) and len(self.weights) != len(self.others):
            raise ParameterError(f"others: must be {len(self.weights)} weights, one for each report")
        super().__post_init__()

    @classmethod
    def from_epsilon(cls, lo: int, hi: int, epsilon: Number) -> FilteredPiecewise:
        """The mechanism of the numbers from ``lo`` to ``hi`` and of *does not apply*, with at most this epsilon.

        Needs numpy and highspy.
        """
        asked = positive_epsilon(epsilon)
        lo, hi = check_range(lo, hi, LARGEST_RANGE)
        knots, weights, slopes, others = optimum().least_noise_of_some(hi - lo, asked)
        mechanism = cls(tuple(lo + knot for knot in knots), weights, slopes, others)
        refuse_costly_rounding(float(asked), mechanism.epsilon, f"numbers from {lo} to {hi}")
        return mechanism

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> FilteredPiecewise:
        """As of `Mechanism`; the last of the answers is *does not apply*."""
        return cls.from_epsilon(answers[0], answers[-2], epsilon)

    @property
    def answer_range(self) -> range:
        return range(self.knots[0], self.knots[-1] + 2)

    def row(self, answer: int) -> list[int]:
        return list(self.others) if answer > self.knots[-1] else super().row(answer)

    @cached_property
    def extreme_rows(self) -> tuple[tuple[int, ...], ...]:
        """The rows of the knots, and that of *does not apply*."""
        return (*self.knot_rows, self.others)

    def _randomize_array(self, answers: Integers, words: Words) -> Integers:
        import numpy as np

        drawn = words(answers.size)
        applies = answers <= self.knots[-1]
        # As in `randomize`: the number of ends, of the weights added up, that are not above the word.
        reports = np.searchsorted(np.cumsum(self.others), drawn, side="right")
        reports[applies] = super()._randomize_array(answers[applies], lambda _: drawn[applies])
        return reports

"""The exponential mechanism over a finite set with a score."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from deniable.errors import ParameterError, describe
from deniable.exact import Number, exp_below, positive_epsilon, rational, refuse_costly_rounding
from deniable.mechanisms.base import check_k
from deniable.mechanisms.row_mechanism import RowMechanism, calibrate, check_rows
from deniable.randomness import UNIT

LARGEST_K = 64
"""Largest number of options: a survey publishes all ``k * k`` weights."""

_DIGITS = Context(prec=40)

_LARGEST_NOMINAL = 2**20
"""Largest nominal epsilon: beyond, all weights are 1 or nearly 2**32 unless scores differ by less than 1e-4."""


@dataclass(frozen=True)
class Exponential(RowMechanism):
    """Report option ``r`` with a probability that grows exponentially with its score for the true option.

    Parameters
    ----------
    weights : tuple of tuple of int, shape (k, k)
        ``weights[x][r]`` out of ``2**32``: how likely ``r`` is reported when ``x`` is the truth. Rows add up to
        ``2**32``, and no weight is 0.

    Notes
    -----
    ``P(r|x) ~ exp(epsilon score(x, r) / (2 sensitivity))`` [1]_, the sensitivity being the largest difference of the
    scores of one report under two answers, once the best report of each answer has the score 0. That `nominal` epsilon
    is an upper bound: with the score ``-|x - r|`` the real one is about half of it. `calibrated` finds the nominal one
    whose weights have the wanted epsilon.

    References
    ----------
    .. [1] F. McSherry, K. Talwar, "Mechanism design via differential privacy", FOCS 2007, 94-103.

    Examples
    --------
    >>> score = [[-abs(x - r) for r in range(5)] for x in range(5)]
    >>> round(Exponential.nominal(score, 1).epsilon, 3), round(Exponential.calibrated(score, 1).epsilon, 6)
    (0.5, 1.0)
    """

    weights: tuple[tuple[int, ...], ...]

    name = "exponential"
    question_types = ("choice", "scale")
    named_in = ("scale",)

    def __post_init__(self) -> None:
        if not isinstance(self.weights, (tuple, list)) or not all(
            isinstance(row, (tuple, list)) and len(row) == len(self.weights) for row in self.weights
        ):
            raise ParameterError(f"weights: must be a square table, got {describe(self.weights)}")
        check_k(len(self.weights), LARGEST_K)
        if any(type(weight) is not int for row in self.weights for weight in row):
            raise ParameterError("weights: must be integers")
        object.__setattr__(self, "weights", tuple(map(tuple, self.weights)))
        check_rows(self.weights)

    @classmethod
    def nominal(cls, score: Sequence[Sequence[Number]], epsilon: Number) -> Exponential:
        """The textbook's weights; their real epsilon is at most the nominal one and often far below."""
        asked = positive_epsilon(epsilon)
        scores = _read_score(score)
        return calibrate(lambda nominal: cls(_weights(scores, nominal)), asked)

    @classmethod
    def calibrated(cls, score: Sequence[Sequence[Number]], epsilon: Number) -> Exponential:
        """Weights of this form whose real epsilon is at most ``epsilon``, and at least 99 % of it.

        Raises
        ------
        ParameterError
            If 32-bit weights cannot hold that, or the score gives every answer the same reports.

        Notes
        -----
        The real epsilon depends continuously on the nominal one, is 0 at 0 and passes the asked one if it ever does;
        it need not rise all the way, and weights of 1 end its rise. Steps of a quarter find a nominal one that is too
        large, bisection the place between.
        """
        asked = positive_epsilon(epsilon)
        bound = exp_below(asked)
        scores = _read_score(score)

        def make(nominal: Fraction) -> Exponential:
            return cls(_weights(scores, nominal))

        low, high = Fraction(0), asked
        # The real epsilon is at most the nominal one, so the search starts at what was asked and goes up.
        while make(high).likelihood_ratio <= bound:
            low, high = high, high * Fraction(5, 4)
            if high > _LARGEST_NOMINAL:
                raise ParameterError(f"epsilon: {float(asked):g} cannot be held by 32-bit weights with this score")
        # 60 halvings leave 2**-60 of the bracket, far below one unit of a weight.
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if make(middle).likelihood_ratio <= bound else (low, middle)
        mechanism = make(low)
        refuse_costly_rounding(float(asked), mechanism.epsilon, f"a score of {len(scores)} options")
        return mechanism

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> Exponential:
        """The mechanism whose reports are more probable the closer they are to the answer."""
        return cls.calibrated([[-abs(x - r) for r in answers] for x in answers], epsilon)

    @property
    def answer_range(self) -> range:
        return range(len(self.weights))

    @property
    def report_range(self) -> range:
        return range(len(self.weights))

    def row(self, answer: int) -> list[int]:
        return list(self.weights[answer])


def _read_score(score: Sequence[Sequence[Number]]) -> list[list[Fraction]]:
    rows = [[rational(value, "score") for value in row] for row in score]
    check_k(len(rows), LARGEST_K)
    if any(len(row) != len(rows) for row in rows):
        raise ParameterError("score: must be a square table, score[x][r] of report r when x is the truth")
    # What is added to all scores of one truth cancels when its probabilities are made to add up to 1.
    rows = [[value - max(row) for value in row] for row in rows]
    if all(row == rows[0] for row in rows):
        raise ParameterError("score: must tell answers apart by more than a constant, or all give the same reports")
    return rows


def _weights(score: Sequence[Sequence[Fraction]], epsilon: Fraction) -> tuple[tuple[int, ...], ...]:
    # Largest difference of the scores of one report under two answers, McSherry and Talwar's Delta.
    sensitivity = max(max(column) - min(column) for column in zip(*score, strict=True))
    exponents = {value: epsilon * value / (2 * sensitivity) for value in set(itertools.chain.from_iterable(score))}
    likely = {
        value: _DIGITS.exp(_DIGITS.divide(Decimal(each.numerator), Decimal(each.denominator)))
        for value, each in exponents.items()
    }
    rows = []
    for scores in score:
        raw = [likely[value] for value in scores]
        total = sum(raw)
        # A weight of 0 would be infinite epsilon.
        row = [max(int((_DIGITS.divide(each, total) * UNIT).to_integral_value()), 1) for each in raw]
        # Rounding errors go to the largest weight, whose ratio to others they change least.
        row[max(range(len(row)), key=row.__getitem__)] -= sum(row) - UNIT
        rows.append(tuple(row))
    return tuple(rows)

"""Least noise by default: which mechanism costs the least accuracy for an epsilon, and by how much.

Shares are compared by the total variance over the options of the noise alone (the respondents fixed, averaged over a
uniform truth), means by the variance of the estimated mean of a uniform population; both times the number of reports.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from deniable.errors import ParameterError
from deniable.exact import Number
from deniable.mechanisms import (
    DiscreteLaplace,
    DrawnBoxes,
    Geometric,
    KAry,
    Mechanism,
    OneBitMean,
    Piecewise,
    Subset,
    TickBoxes,
)
from deniable.mechanisms.drawn_boxes import MOST_DRAWN
from deniable.survey.question_types import AnswerKind, QuestionType


@dataclass(frozen=True)
class Candidate:
    """A mechanism and what it costs."""

    label: str
    mechanism: Mechanism | None
    """None for what is only compared with."""
    variance: float
    """``n`` times the variance that the choice looks at."""


@dataclass(frozen=True)
class Choice:
    """The candidates for a question, best first, and what was compared."""

    criterion: str
    candidates: tuple[Candidate, ...]

    @property
    def best(self) -> Mechanism:
        """The mechanism with the least noise of those that can be used."""
        return next(each.mechanism for each in self.candidates if each.mechanism is not None)

    @property
    def why(self) -> str:
        """The choice in a sentence, as surveys publish it."""
        usable = [each for each in self.candidates if each.mechanism is not None]
        return f"least {self.criterion}: " + "; ".join(f"{each.label} {_figure(each.variance)}" for each in usable)


@functools.lru_cache(maxsize=256, typed=True)  # typed: as an epsilon 0.1 is 1/10, Fraction(0.1) is not
def choose(kind: QuestionType, answers: range, epsilon: Number, goal: str | None) -> Choice:
    """The candidates for a question of this type: numbers of its options, or the numbers that can be answered.

    Questions of one survey are often alike, and surveys are read again: found once, a choice is kept.
    """
    if kind.answers is AnswerKind.RANGE:
        return choose_for_number(answers[0], answers[-1], epsilon)
    if kind.takes_several:
        return choose_for_ticks(len(answers), epsilon, str(goal))
    if goal is not None:
        return choose_for_scale(len(answers), epsilon, goal)
    return choose_for_choice(len(answers), epsilon)


def choose_for_choice(k: int, epsilon: Number) -> Choice:
    """The candidates for one of ``k`` options: KAry and the best subsets.

    >>> choose_for_choice(10, 1).why
    'least total variance of the shares: subset of 3 29.1; k-ary 40.96'
    """
    return _for_shares((KAry, Subset), k, epsilon)


def choose_for_scale(levels: int, epsilon: Number, goal: str) -> Choice:
    """The candidates for a scale whose author wants the shares of the levels, or their mean."""
    if goal == "shares":
        return _for_shares((KAry, Subset, Geometric), levels, epsilon)
    among = (KAry, OneBitMean, Piecewise, Geometric)
    return _choose("variance of the mean", _made(among, range(levels), epsilon, mean_variance))


def choose_for_ticks(k: int, epsilon: Number, goal: str) -> Choice:
    """The candidates for ``k`` tick boxes whose author wants the share of each, or all boxes together in every report.

    >>> choose_for_ticks(8, 2, "shares").why
    'least total variance of the shares: drawn-boxes (2 of 8) 19.15; drawn-boxes (3 of 8) 25.05; tick-boxes 127.3'
    """
    criterion = "total variance of the shares"
    if goal == "together":
        return _choose(
            f"{criterion} with all boxes in every report", _made((TickBoxes,), range(k), epsilon, total_variance)
        )
    drawn: list[Candidate] = []
    for s in range(1, min(k, MOST_DRAWN) + 1):
        with contextlib.suppress(ParameterError):
            mechanism = DrawnBoxes.from_epsilon(k, epsilon, s)
            drawn.append(Candidate(mechanism.label, mechanism, mechanism.total_variance))
    nearest = sorted(drawn, key=lambda each: each.variance)[:2]
    return _choose(criterion, [*nearest, *_made((TickBoxes,), range(k), epsilon, total_variance)])


def choose_for_number(lo: int, hi: int, epsilon: Number) -> Choice:
    """The candidates for a whole number in a range whose mean is wanted."""
    linear = (OneBitMean, Piecewise)
    among = (*linear, Geometric, DiscreteLaplace) if hi - lo <= MOST_COMPARED else linear
    return _choose("variance of the mean", _made(among, range(lo, hi + 1), epsilon, mean_variance))


MOST_COMPARED = 100
"""Ranges above are answered by what needs no weights for each number: they would fill the survey."""


def mean_variance(mechanism: Mechanism) -> float:
    """``n`` times the variance of the estimated mean of a population that is uniform over the answers."""
    import numpy as np

    weights, _ = mechanism.mean_weights(tuple(mechanism.answer_values))
    return float(mechanism.score_covariance(np.array([weights]), mechanism.expected_if_even)[0, 0])


def total_variance(mechanism: Mechanism) -> float:
    """``n`` times the sum of the variances of all shares."""
    return mechanism.total_variance


def _oue_variance(k: int, epsilon: float) -> float:
    ratio = math.exp(epsilon)  # Wang et al. 2017: n Var = 4 E / (E - 1)^2 for every option, plus the share's own
    q = 1 / (ratio + 1)
    return ((k - 1) * q * (1 - q) + 0.25) / (0.5 - q) ** 2


def _for_shares(among: tuple[type[Mechanism], ...], k: int, epsilon: Number) -> Choice:
    reference = Candidate("unary encoding (OUE), not used", None, _oue_variance(k, float(epsilon)))
    made = _made(among, range(k), epsilon, total_variance)
    return _choose("total variance of the shares", [*made, reference])


def _made(
    among: tuple[type[Mechanism], ...], answers: range, epsilon: Number, variance: Callable[[Mechanism], float]
) -> Iterator[Candidate]:
    for cls in among:
        with contextlib.suppress(ParameterError):  # 32-bit weights cannot hold this one; the others are compared
            mechanism = cls.for_answers(answers, epsilon)
            yield Candidate(mechanism.label, mechanism, variance(mechanism))


def _figure(variance: float) -> str:
    """Four digits that a person reads: 1,002,000 instead of 1.002e+06."""
    return f"{_digits(variance):,.10g}"


def _digits(variance: float) -> float:
    return float(f"{variance:.4g}")


def _choose(criterion: str, candidates: Iterable[Candidate]) -> Choice:
    found = sorted(candidates, key=lambda each: _digits(each.variance))  # of equal ones the plainest, which come first
    if not any(each.mechanism for each in found):
        raise ParameterError("epsilon: no mechanism can hold it with 32-bit weights for so many options")
    return Choice(criterion, tuple(found))

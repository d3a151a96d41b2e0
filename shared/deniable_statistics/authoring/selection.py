"""The selection of a mechanism: the one that needs the fewest respondents for what the author wants to know.

Respondents are counted by `deniable_statistics.authoring.sample_size`. Of mechanisms within 1 % of the fewest the
plainest is taken: one binomial has exact intervals, and a mechanism that identifies shares can be used in models.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from deniable.errors import ParameterError, describe, needing
from deniable.exact import Number, as_integer
from deniable.mechanisms import (
    DiscreteLaplace,
    DrawnBoxes,
    FilteredPiecewise,
    Geometric,
    KAry,
    Mechanism,
    OneBitMean,
    Piecewise,
    Subset,
    TickBoxes,
    Warner,
)
from deniable.mechanisms.drawn_boxes import MOST_DRAWN
from deniable.survey.question_types import FILTERED_NUMBER, AnswerKind, QuestionType
from deniable_statistics.authoring.sample_size import (
    ON_AVERAGE,
    PART_OF_RANGE,
    PART_OF_RANGE_OF_HALF,
    POINTS_OF_A_HALF,
    people,
    variance_if_even,
)

TIE = 1.01
"""Ratio to the fewest respondents up to which mechanisms tie."""


@dataclass(frozen=True)
class Candidate:
    """A mechanism and its variance."""

    mechanism: Mechanism
    variance: float
    """``n`` times the variance, as in `sample_size.variance_if_even`."""

    @property
    def label(self) -> str:
        """The name of the mechanism in comparisons."""
        return str(self.mechanism)

    def respondents(self, asked: float = 1.0) -> int:
        """Number of respondents that it needs, if a part ``asked`` of them is asked."""
        return people(self.variance / asked)


@dataclass(frozen=True)
class Choice:
    """The candidates for a question: the chosen one first, then the others by increasing number of respondents.

    Attributes
    ----------
    precision : str
        The precision for which respondents are compared, in words. On average over several options they are compared
        by factors alone: one option, for which surveys are planned, takes other numbers of people.
    candidates : tuple of Candidate
    """

    precision: str
    candidates: tuple[Candidate, ...]

    @property
    def best(self) -> Mechanism:
        """The mechanism that is chosen."""
        return self.candidates[0].mechanism

    @property
    def claim(self) -> str:
        """The beginning of `why`."""
        how = self.precision if self.by_factors else f"for {self.precision}"
        return f"fewest respondents {how}: "

    @property
    def why(self) -> str:
        """The choice in a sentence, as surveys publish it."""
        return self.compared()

    def compared(self, asked: float = 1.0) -> str:
        """The choice in a sentence, where each device asks the question with this probability."""
        chosen, *others = self.candidates
        first = chosen.label if self.by_factors else f"{chosen.label} {chosen.respondents(asked):,}"
        fewer = [each.label for each in others if each.respondents(asked) < chosen.respondents(asked)]
        plainer = f" (within 1 % of {fewer[0]}, and plainer)" if fewer else ""
        rest = "".join(f"; {each.label} {self.cost(each, asked)}" for each in others)
        return f"{self.claim}{first}{plainer}{rest}"

    @property
    def by_factors(self) -> bool:
        """Whether candidates are compared by factors, and not by numbers of people."""
        return self.precision == ON_AVERAGE

    def cost(self, candidate: Candidate, asked: float = 1.0) -> str:
        """The respondents that a candidate needs, in words."""
        if self.by_factors:
            return f"takes {candidate.variance / self.candidates[0].variance:,.3g} times as many"
        return f"{candidate.respondents(asked):,}"


@needing("statistics")
def choose(answers: int | range, epsilon: Number, goal: str = "shares") -> Mechanism:
    """The mechanism with at most this epsilon that needs the fewest respondents for a goal.

    Parameters
    ----------
    answers : int or range
        The number of options or boxes, which are numbered from 0; or the numbers that can be answered.
    epsilon : number
        Privacy loss of one answer in nats, above 0 and at most 22.
    goal : {"shares", "mean", "boxes", "boxes together"}
        What is wanted: the share of each option; the mean of the numbers; the share of each of several boxes that a
        person can tick; or these with all boxes in every report, so that two of them can be cross-tabulated.

    Raises
    ------
    ParameterError
        If there is no such goal, or no mechanism of that epsilon for so many answers.

    Notes
    -----
    Counted for a standard error of 5 points, or of a twentieth of the range, if all answers are equally likely; of
    mechanisms within 1 % of the fewest the plainest is taken.

    Examples
    --------
    >>> choose(2, 1).name, choose(10, 1).name, choose(range(0, 41), 1, "mean").name, choose(8, 2, "boxes").name
    ('warner', 'subset', 'piecewise', 'drawn-boxes')
    """
    if goal not in GOALS:
        raise ParameterError(f"goal: must be one of {', '.join(GOALS)}, got {describe(goal)}")
    k = as_integer(answers)
    options = range(k) if k is not None else answers
    if not isinstance(options, range) or len(options) < 2:
        raise ParameterError(f"answers: must be a number of options of at least 2, or a range, got {describe(answers)}")
    if goal == "mean":
        return choose_for_number(options[0], options[-1], epsilon).best
    if options[0] or options.step != 1:
        raise ParameterError(f"answers: must be numbered from 0 for {goal}, got {options}")
    if goal != "shares":
        return choose_for_ticks(len(options), epsilon, "together" if goal == "boxes together" else "shares").best
    # Of two options Warner's coin is the channel of least noise, and `KAry` of two the same channel.
    return Warner.from_epsilon(epsilon) if len(options) == 2 else choose_for_choice(len(options), epsilon).best


GOALS = ("shares", "mean", "boxes", "boxes together")


@functools.lru_cache(maxsize=256, typed=True)  # typed: as an epsilon 0.1 is 1/10, Fraction(0.1) is not
def choice_for(
    kind: QuestionType, answers: range, epsilon: Number, goal: str | None, solved: Piecewise | None = None
) -> Choice:
    """The candidates for a question of this type: numbers of its options, or the numbers that can be answered.

    Choices are cached, because questions of a survey are often alike and surveys are read repeatedly. ``solved`` is the
    `Piecewise` of this epsilon, where it is known, which saves a second linear program.
    """
    if kind is FILTERED_NUMBER:
        return choose_for_number_of_some(answers, epsilon)
    if kind.answers is AnswerKind.RANGE:
        return choose_for_number(answers[0], answers[-1], epsilon, solved)
    if kind.takes_several:
        return choose_for_ticks(len(answers), epsilon, str(goal))
    if goal is not None:
        return choose_for_scale(len(answers), epsilon, goal, solved)
    return choose_for_choice(len(answers), epsilon)


@functools.lru_cache(maxsize=256, typed=True)
def most_variance(kind: QuestionType, answers: range, epsilon: Number) -> float:
    """An upper bound of the variance of the mechanism that `choice_for` takes for a mean, without a linear program.

    It is infinite where only a linear program can tell. Where the bound is already enough, nothing needs to be solved.
    """
    if kind is FILTERED_NUMBER:
        return math.inf
    among = (OneBitMean,) if kind.answers is AnswerKind.RANGE else (KAry, OneBitMean)
    quick = _made(among, answers, epsilon, wants_mean=True)
    # The choice may be plainer than the best by as much as ties allow.
    return TIE * min((each.variance for each in quick), default=math.inf)


def choose_for_choice(k: int, epsilon: Number) -> Choice:
    """The candidates for one of ``k`` options: KAry and the best subsets.

    >>> choose_for_choice(10, 1).why
    'fewest respondents on average over the options: subset of 3; k-ary takes 1.4 times as many'
    """
    return _choose(ON_AVERAGE, _made((KAry, Subset), range(k), epsilon))


def choose_for_scale(levels: int, epsilon: Number, goal: str, solved: Piecewise | None = None) -> Choice:
    """The candidates for a scale whose author wants the shares of the levels, or their mean."""
    if goal == "shares":
        return _choose(ON_AVERAGE, _made((KAry, Subset, Geometric), range(levels), epsilon))
    among = (KAry, OneBitMean, Piecewise, Geometric)
    return _choose(PART_OF_RANGE, _made(among, range(levels), epsilon, wants_mean=True, solved=solved))


def choose_for_ticks(k: int, epsilon: Number, goal: str) -> Choice:
    """The candidates for ``k`` tick boxes whose author wants the share of each, or all boxes together in every report.

    >>> print(choose_for_ticks(8, 2, "shares").why.partition(": ")[2])
    drawn-boxes (2 of 8) 4,063; drawn-boxes (3 of 8) 5,196; tick-boxes 24,842
    """
    coins = _made((TickBoxes,), range(k), epsilon)
    # Drawn boxes hold a few of the boxes in each report, coins all of them.
    if goal == "together":
        return _choose(f"{POINTS_OF_A_HALF} with all boxes in every report", coins)
    # Drawing more boxes spends less epsilon on each: the best number is found by trying all.
    drawn: list[Candidate] = []
    for s in range(1, min(k, MOST_DRAWN) + 1):
        with contextlib.suppress(ParameterError):
            drawn.append(_candidate(DrawnBoxes.from_epsilon(k, epsilon, s)))
    # The reason that a survey publishes names two of them; all would be a list.
    nearest = sorted(drawn, key=lambda each: each.variance)[:2]
    return _choose(POINTS_OF_A_HALF, [*nearest, *coins])


def choose_for_number(lo: int, hi: int, epsilon: Number, solved: Piecewise | None = None) -> Choice:
    """The candidates for a whole number in a range whose mean is wanted."""
    # For wide ranges only mechanisms that publish few weights, whatever the length of the range.
    linear = (OneBitMean, Piecewise)
    among = (*linear, Geometric, DiscreteLaplace) if hi - lo <= MOST_COMPARED else linear
    return _choose(PART_OF_RANGE, _made(among, range(lo, hi + 1), epsilon, wants_mean=True, solved=solved))


def choose_for_number_of_some(answers: range, epsilon: Number) -> Choice:
    """The candidate for a number of those to whom a question applies; the last of the answers is that it does not.

    >>> print(choose_for_number_of_some(range(62), 1).why)
    fewest respondents for ±5 % of the range if it applies to one half: filtered-piecewise 6,859
    """
    return _choose(PART_OF_RANGE_OF_HALF, _made((FilteredPiecewise,), answers, epsilon, wants_mean=True))


MOST_COMPARED = 100
"""Longest range for which mechanisms with weights for each number are compared: more would fill the survey."""


def _made(
    among: Iterable[type[Mechanism]],
    answers: range,
    epsilon: Number,
    *,
    wants_mean: bool = False,
    solved: Piecewise | None = None,
) -> Iterator[Candidate]:
    for cls in among:
        with contextlib.suppress(ParameterError):  # 32-bit weights cannot hold this one; the others are compared
            known = solved if solved is not None and cls is Piecewise else None
            yield _candidate(known or cls.for_answers(answers, epsilon), wants_mean=wants_mean)


def _candidate(mechanism: Mechanism, *, wants_mean: bool = False) -> Candidate:
    return Candidate(mechanism, variance_if_even(mechanism, wants_mean=wants_mean))


def _choose(precision: str, plainest_first: Iterable[Candidate]) -> Choice:
    candidates = list(plainest_first)
    if not candidates:
        raise ParameterError("epsilon: no mechanism with 32-bit weights reaches it for this number of options")
    least = min(each.variance for each in candidates)
    # Candidates come plainest first, so the first of those that tie is the plainest.
    chosen = next(each for each in candidates if each.variance <= TIE * least)
    others = (each for each in candidates if each is not chosen)
    return Choice(precision, (chosen, *sorted(others, key=lambda each: each.variance)))

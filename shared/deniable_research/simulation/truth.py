"""The true answers of a simulated population: their shares, for every question of a survey."""

from __future__ import annotations

import math
import operator
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, check_kind, describe
from deniable.survey.document import Survey
from deniable.survey.patterns import Pattern, counted
from deniable.survey.question import Question
from deniable.survey.unit import Unit
from deniable_statistics.designs.of_mechanisms import design_of

TOLERANCE = 1e-6
"""Largest difference between the sum of a question's shares and 1; printed digits are rounded."""

Shares = float | Sequence[float] | Mapping[str, float]
"""True shares: the share of yes; or one for each option (box, level, number); or some by the names of the options."""


@dataclass(frozen=True)
class PatternShares:
    """How often people have each pattern of answers to a group that has one response to the possible ones.

    Given who is asked, answers to different questions are independent.

    Attributes
    ----------
    patterns : tuple of tuple of int
    shares : tuple of float
        Of the patterns, in order; they add up to 1.
    """

    patterns: tuple[Pattern, ...]
    shares: tuple[float, ...]

    def draw(self, people: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """The pattern of each of ``people``, shape (people, questions)."""
        ends = np.cumsum(self.shares)[:-1]
        # Inversion of the distribution function; without its last end, so that rounding leaves nobody out.
        return np.array(self.patterns)[np.searchsorted(ends, generator.random(people), side="right")]


@dataclass(frozen=True)
class Truth:
    """The true shares of one question.

    Attributes
    ----------
    question : Question
    shares : tuple of float
        Shares of the answers in order, which add up to 1; for tick boxes the share of each box, ticked independently.
    together : PatternShares or None
        Of the group of the question, where it has one response to possible patterns.
    place : int
        The place of the question in its group.
    """

    question: Question
    shares: tuple[float, ...]
    together: PatternShares | None = None
    place: int = 0

    @property
    def boxes(self) -> bool:
        """Whether people can choose several options."""
        return self.question.kind.takes_several

    @property
    def first(self) -> int:
        """The answer with the lowest number."""
        return self.question.mechanism.answer_range.start

    @property
    def denied(self) -> int:
        """What somebody answers who denies: the first answer, or that of the first possible pattern."""
        return self.first if self.together is None else self.together.patterns[0][self.place]

    @property
    def reportable(self) -> tuple[float, ...]:
        """How often a report drawn at random from all possible ones of the group has each answer."""
        k = len(self.shares)
        if self.together is None:
            return (1 / k,) * k
        held = counted(self.together.patterns, self.place)
        return tuple(held[(answer,)] / len(self.together.patterns) for answer in range(k))

    @cached_property
    def mean(self) -> float:
        """The mean of the true numbers; only where answers are numbers."""
        return sum(share * number for share, number in zip(self.shares, self.numbers, strict=True))

    @property
    def among(self) -> tuple[float, ...]:
        """The shares, and of a scale the mean, among those to whom a question with a filter applies; else empty.

        Boxes are drawn independently of each other, so nothing is known of the people to whom they apply.
        """
        question = self.question
        applying = 1 - self.shares[-1]
        if not question.ask_if or self.boxes or applying <= 0:
            return ()
        shares = tuple(share / applying for share in self.shares[:-1])
        mean = (sum(map(operator.mul, shares, self.numbers)),) if question.kind.has_numbers else ()
        return (*shares, *mean) if question.has_shares else mean

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numbers that answers stand for, but for *does not apply*."""
        question = self.question
        return tuple(map(float, question.choices or question.numbers))

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the answers, as a design tells them apart."""
        names, truths = self.question.options, design_of(self.question.mechanism).truths
        return names if len(names) == len(truths) else truths

    @property
    def kinds(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The places of the answers, counted from 0, and their shares."""
        return np.arange(len(self.shares)), np.array(self.shares)

    @cached_property
    def _ends(self) -> NDArray[np.float64]:
        return np.cumsum(self.shares)[:-1]

    def draw(self, people: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """True answers of ``people``, shape (people,); for tick boxes rows of 0 and 1, shape (people, boxes)."""
        if self.boxes:
            return (generator.random((people, len(self.shares))) < self.shares).astype(np.int64)
        # Inversion of the distribution function; without its last end, so that rounding leaves nobody out.
        return np.asarray(np.searchsorted(self._ends, generator.random(people), side="right") + self.first)


def truth_of(survey: Survey, given: Mapping[str, Shares] | None = None) -> tuple[Truth, ...]:
    """The true shares of every question of a survey.

    Parameters
    ----------
    survey : Survey
    given : mapping of str to shares, optional
        For each question: the share of yes; a list of shares, one for each option; or shares by the name of an option
        or number, with the rest spread evenly over the others. By default all answers to a question are equally
        frequent, and one half of the people tick each box.

    Raises
    ------
    ParameterError
        If the survey has no such question or option, or shares are not between 0 and 1.

    Examples
    --------
    >>> from deniable import KAry, Question, Survey
    >>> question = Question("q", "choice", "Q?", ("a", "b", "c"), KAry(3, "1/2"))
    >>> truth_of(Survey("T", (question,)), {"q": {"a": 0.5}})[0].shares
    (0.5, 0.25, 0.25)
    """
    check_kind(survey, Survey, "survey")
    check_kind(given or {}, Mapping, "given")
    wanted = dict(given or {})
    unknown = sorted(wanted.keys() - {question.id for question in survey.questions})
    if unknown:
        named = ", ".join(question.id for question in survey.questions)
        raise ParameterError(f"truth: must be about questions of the survey ({named}), got {unknown[0]!r}")
    found: dict[str, Truth] = {}
    for unit in survey.units:
        if unit.patterns:
            found |= _truths_of_patterns(unit, wanted)
        else:
            found |= {each.id: Truth(each, _shares(each, wanted.get(each.id))) for each in unit.questions}
    return tuple(found[question.id] for question in survey.questions)


def _truths_of_patterns(unit: Unit, given: Mapping[str, Shares]) -> dict[str, Truth]:
    """The truths of a group with one response: its filters decide how often a question does not apply."""
    names = [each.id for each in unit.questions]
    chances: dict[Pattern, float] = {(): 1.0}
    shares = []
    for question in unit.questions:
        condition = question.ask_if
        asked = {each: condition is None or condition.holds(dict(zip(names, each, strict=False))) for each in chances}
        applying = math.fsum(share for each, share in chances.items() if asked[each])
        own = _shares(question, given.get(question.id), None if condition is None else applying)
        shares.append(own)
        last = len(own) - 1
        longer: dict[Pattern, float] = {}
        for each, share in chances.items():
            if not asked[each]:
                # Whoever the filter leaves out has *does not apply* with certainty.
                longer[(*each, last)] = share
                continue
            for answer, part in enumerate(own if condition is None else own[:-1]):
                whole = 1.0 if condition is None else applying
                # Shares are among everybody, so of those who are asked a part / applying gives the answer.
                longer[(*each, answer)] = share * part / whole if whole else 0.0
        chances = longer
    patterns = tuple(sorted(chances))
    together = PatternShares(patterns, tuple(chances[each] for each in patterns))
    members = enumerate(zip(unit.questions, shares, strict=True))
    return {question.id: Truth(question, own, together, place) for place, (question, own) in members}


def read_truth(text: str) -> dict[str, Any]:
    """Shares from TOML, a key for each question: ``affair = 0.32``, ``religious = [0.2, 0.3, 0.4, 0.1]``.

    >>> read_truth("affair = 0.32")
    {'affair': 0.32}
    """
    check_kind(text, str, "text")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise ParameterError(f"truth: is not TOML: {problem}") from None


def _shares(question: Question, given: Shares | None, applying: float | None = None) -> tuple[float, ...]:
    """The shares of a question; ``applying`` is the share of the people to whom it applies, where others decide that.

    Then *does not apply*, if it is not given, has the rest, and otherwise must have it.
    """
    where = f"truth of {question.id}"
    names = _names(question)
    boxes = question.kind.takes_several
    if given is None and applying is not None:
        given = {}
    if given is None:
        return (0.5 if boxes else 1 / len(names),) * len(names)
    if applying is not None and isinstance(given, Mapping):
        # The filter decides how many it does not apply to; an author need not say it again, but may.
        given = {names[-1]: 1 - applying, **given}
    if isinstance(given, Mapping):
        shares = _by_name(given, names, boxes, where)
    elif isinstance(given, Sequence):
        if len(given) != len(names):
            raise ParameterError(f"{where}: must be {len(names)} shares, one for each answer, got {len(given)}")
        shares = [_share(each, where) for each in given]
    elif question.kind.headline is not None and question.ask_if is None:
        yes = _share(given, where)
        # Nobody prefers not to say, unless shares of all options are given.
        shares = [1 - yes, yes, *(0.0 for _ in question.last)]
    else:
        raise ParameterError(f"{where}: must be a list of {len(names)} shares or shares by name, got {describe(given)}")
    if not boxes:
        shares = _adding_up(shares, where)
    if applying is not None and (abs(shares[-1] - (1 - applying)) > TOLERANCE or min(shares) < -TOLERANCE):
        raise ParameterError(
            f"{where}: must leave {1 - applying:g} for {names[-1]!r}, because its filter lets {applying:g} through"
        )
    return tuple(shares)


def _adding_up(shares: list[float], where: str) -> list[float]:
    """Shares that add up to 1: printed digits rarely do exactly, and probabilities must."""
    total = math.fsum(shares)
    if abs(total - 1) > TOLERANCE:
        raise ParameterError(f"{where}: must add up to 1, got {total:g}")
    return [share / total for share in shares] if abs(total - 1) > 1e-12 else shares


def _by_name(given: Mapping[str, float], names: Sequence[str], boxes: bool, where: str) -> list[float]:
    for name in given:
        if name not in names:
            raise ParameterError(f"{where}: must name answers ({_few(names)}), got {name!r:.40}")
    said = {name: _share(share, where) for name, share in given.items()}
    others = len(names) - len(said)
    # Boxes are independent; other answers divide what the named ones leave of 1.
    rest = 0.5 if boxes else (1 - sum(said.values())) / others if others else 0.0
    if rest < -TOLERANCE:
        raise ParameterError(f"{where}: must add up to at most 1, got {sum(said.values()):g}")
    return [said.get(name, max(rest, 0.0)) for name in names]


def _names(question: Question) -> tuple[str, ...]:
    numbers = tuple(map(str, question.numbers))
    return question.options or (numbers if question.ask_if is None else (*numbers, question.not_applicable_name))


def _share(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)) or not 0 <= value <= 1:
        raise ParameterError(f"{where}: must be shares in [0, 1]")
    return float(value)


def _few(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(every[:10]) + (", ..." if len(every) > 10 else "")

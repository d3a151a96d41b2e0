"""Conditions of filters: tests of earlier answers, joined by all and any, as a survey publishes them.

A condition is data. `not` is gone when it is published: the opposite of a test is a test too, since whoever a question
does not apply to has the option *does not apply* as the answer. So each condition has few forms, and evaluating one
cannot fail.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from deniable.errors import SurveyError, describe

MAX_DEPTH = 5
"""Deepest nesting of a condition, its tests included; a document of this one nests as deep as the parsers read."""

MAX_TESTS = 40
"""Largest number of tests in a condition."""

Interval = tuple[int, int]
"""The lowest and the highest of consecutive answers, as their mechanism numbers them."""


@dataclass(frozen=True)
class Answers:
    """The answers that a question can have: numbers, the last of which may be *does not apply*, or ticked boxes.

    Attributes
    ----------
    possible : range
        The answers as the mechanism takes them; of boxes their numbers.
    takes_several : bool
        Whether an answer is a list of boxes.
    is_filtered : bool
        Whether the last number, or box, is *does not apply*.
    """

    possible: range
    takes_several: bool = False
    is_filtered: bool = False


class Condition(ABC):
    """A condition on earlier answers. Immutable; `publish` and `condition_from` are each other's inverse."""

    @abstractmethod
    def holds(self, answers: Mapping[str, Any]) -> bool:
        """Whether the condition holds for answers as mechanisms take them. A test of a missing answer does not hold."""

    @property
    @abstractmethod
    def tests(self) -> Iterator[Test]:
        """The tests that it is made of, in order."""

    @property
    @abstractmethod
    def depth(self) -> int:
        """How deep it nests; 1 for a test."""

    @abstractmethod
    def publish(self) -> list[Any]:
        """The condition as a survey publishes it: a list that begins with its name."""

    @abstractmethod
    def check(self, earlier: Mapping[str, Answers]) -> None:
        """Raise a SurveyError unless every test is of some, and not all, answers of a question in ``earlier``."""

    @property
    def named(self) -> tuple[str, ...]:
        """The ids of the questions that it is about, each once."""
        return tuple(dict.fromkeys(each.question for each in self.tests))


class Test(Condition):
    """A test of the answer to one question."""

    __test__ = False
    question: str

    @property
    def tests(self) -> Iterator[Test]:
        yield self

    @property
    def depth(self) -> int:
        return 1

    def _about(self, earlier: Mapping[str, Answers], *, takes_several: bool) -> Answers:
        if self.question not in earlier:
            named = ", ".join(earlier) or "there is none"
            raise SurveyError(f"must be about earlier questions ({named}), got {self.question!r}")
        found = earlier[self.question]
        if found.takes_several != takes_several:
            kind = "boxes, so ask whether it has one" if found.takes_several else "one answer, so compare it"
            raise SurveyError(f"question {self.question!r} has {kind}")
        return found


@dataclass(frozen=True)
class Among(Test):
    """Whether the answer is in one of some intervals, which rise and do not touch each other.

    ``outside`` are the answers that are in none of them, so that the opposite needs no survey to be known.
    """

    question: str
    intervals: tuple[Interval, ...]
    outside: tuple[Interval, ...]

    name: ClassVar[str] = "among"

    def holds(self, answers: Mapping[str, Any]) -> bool:
        answer = answers.get(self.question)
        return isinstance(answer, int) and any(low <= answer <= high for low, high in self.intervals)

    def publish(self) -> list[Any]:
        return [self.name, self.question, *(end for each in self.intervals for end in each)]

    def check(self, earlier: Mapping[str, Answers]) -> None:
        possible = self._about(earlier, takes_several=False).possible
        if among(self.question, self.intervals, possible) != self or not self.intervals or not self.outside:
            raise SurveyError(f"the test of {self.question!r} must be of some of its answers, and not of all")


@dataclass(frozen=True)
class Has(Test):
    """Whether a box is ticked, or is not."""

    question: str
    box: int
    is_ticked: bool = True

    def holds(self, answers: Mapping[str, Any]) -> bool:
        ticked = answers.get(self.question)
        return ticked is not None and not isinstance(ticked, int) and (self.box in ticked) == self.is_ticked

    def publish(self) -> list[Any]:
        return ["has" if self.is_ticked else "lacks", self.question, self.box]

    def check(self, earlier: Mapping[str, Answers]) -> None:
        if self.box not in self._about(earlier, takes_several=True).possible:
            raise SurveyError(f"question {self.question!r} has no box {self.box}")


@dataclass(frozen=True)
class Joined(Condition):
    """Two or more conditions of which all hold, or any."""

    name: str
    parts: tuple[Condition, ...]

    def holds(self, answers: Mapping[str, Any]) -> bool:
        return (all if self.name == "all" else any)(each.holds(answers) for each in self.parts)

    @property
    def tests(self) -> Iterator[Test]:
        for each in self.parts:
            yield from each.tests

    @property
    def depth(self) -> int:
        return 1 + max(each.depth for each in self.parts)

    def publish(self) -> list[Any]:
        return [self.name, *(each.publish() for each in self.parts)]

    def check(self, earlier: Mapping[str, Answers]) -> None:
        for each in self.parts:
            each.check(earlier)


def joined(name: str, parts: Sequence[Condition]) -> Condition:
    """Conditions of which all hold, or any, in the form in which they are published.

    Parts of the same name become parts of the whole, what stands there twice is left out, and one alone is itself.

    >>> smokes = Has("drugs", 0)
    >>> joined("all", [smokes, joined("all", [smokes, Has("drugs", 2)])]).publish()
    ['all', ['has', 'drugs', 0], ['has', 'drugs', 2]]
    """
    flat: dict[Condition, None] = {}
    for each in parts:
        inner = each.parts if isinstance(each, Joined) and each.name == name else (each,)
        # A dict keeps the order and drops what stands there twice.
        flat.update(dict.fromkeys(inner))
    (first, *others) = flat
    return Joined(name, tuple(flat)) if others else first


def among(question: str, intervals: Sequence[Interval], possible: range) -> Among:
    """A test of one answer: intervals in any order, joined where they touch and cut to what is possible.

    >>> among("level", [(3, 3), (0, 1), (2, 2)], range(6))
    Among(question='level', intervals=((0, 3),), outside=((4, 5),))
    """
    found: list[Interval] = []
    for low, high in sorted(intervals):
        low, high = max(low, possible[0]), min(high, possible[-1])
        if low > high:
            continue
        # Intervals of whole numbers touch where one begins right behind the other; touching ones are written as one.
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    # What is left between the intervals, and before and behind them.
    starts = [possible[0], *(high + 1 for _, high in found)]
    ends = [*(low - 1 for low, _ in found), possible[-1]]
    outside = tuple((low, high) for low, high in zip(starts, ends, strict=True) if low <= high)
    return Among(question, tuple(found), outside)


def check_condition(condition: Condition, earlier: Mapping[str, Answers]) -> None:
    """Raise a SurveyError unless a condition is small, in published form, and about these questions."""
    if condition.depth > MAX_DEPTH:
        raise SurveyError(f"must nest at most {MAX_DEPTH} deep, got {condition.depth}")
    if (n := sum(1 for _ in condition.tests)) > MAX_TESTS:
        raise SurveyError(f"must have at most {MAX_TESTS} tests, got {n}")
    condition.check(earlier)


def condition_from(published: object, earlier: Mapping[str, Answers]) -> Condition:
    """Read a condition of a published survey.

    Raises
    ------
    SurveyError
        If it is not a condition in published form about earlier questions; the message has no subject.
    """
    condition = _read(published, earlier, 1)
    check_condition(condition, earlier)
    return condition


def _read(published: object, earlier: Mapping[str, Answers], depth: int) -> Condition:
    if not isinstance(published, list) or not published or depth > MAX_DEPTH:
        raise SurveyError(f"must be a list such as ['among', 'smokes', 1, 1], got {describe(published)}")
    name, *rest = published
    if name in ("all", "any"):
        parts = [_read(each, earlier, depth + 1) for each in rest]
        found = joined(name, parts) if parts else None
        # What joining would change was not published by anybody.
        if not isinstance(found, Joined) or found.parts != tuple(parts):
            raise SurveyError(f"{name!r} must join two or more different conditions, none of them by {name!r}")
        return found
    if not rest or not isinstance(rest[0], str) or any(type(each) is not int for each in rest[1:]):
        raise SurveyError(f"must be like ['among', 'smokes', 1, 1], got {describe(published)}")
    question, *numbers = rest
    if name in ("has", "lacks") and len(numbers) == 1:
        return Has(question, numbers[0], name == "has")
    if name == "among" and len(numbers) >= 2 and len(numbers) % 2 == 0:
        return _read_among(question, numbers, earlier)
    raise SurveyError(f"must be a test such as ['among', 'smokes', 1, 1], got {describe(published)}")


def _read_among(question: str, numbers: Sequence[int], earlier: Mapping[str, Answers]) -> Condition:
    intervals = tuple(zip(numbers[::2], numbers[1::2], strict=True))
    # A question that is not there is refused by `check`, with a better message than this one could give.
    possible = earlier[question].possible if question in earlier else range(1)
    found = among(question, intervals, possible)
    if question in earlier and found.intervals != intervals:
        raise SurveyError(f"the test of {question!r} must have intervals of its answers that rise and do not touch")
    return found

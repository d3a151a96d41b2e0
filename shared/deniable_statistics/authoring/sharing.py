"""Ways to share one epsilon among questions, compared by the respondents that they need.

Either all questions are asked and split the epsilon, or each device asks some of them, drawn at random. The asked
questions have their own mechanisms at equal parts of epsilon, or one joint response over the patterns of answers.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from deniable.errors import ParameterError
from deniable.exact import Number, positive_epsilon
from deniable.mechanisms import KAry, Mechanism, Warner
from deniable.privacy.ceiling import Ceiling
from deniable.survey.group import marginal
from deniable.survey.question_types import QuestionType
from deniable_statistics.authoring.sample_size import people_needed
from deniable_statistics.authoring.selection import choice_for

PATIENCE = 3
"""Iteration limit without improvement of the search over numbers of asked questions."""

QUICK = 2
"""Largest number of different means for which all ways are compared, since each takes a linear program for each way."""

MOST_PATTERNS = 1000
"""Largest number of patterns of a joint response; over more patterns hardly any is reported truly."""

SHOWN = 3
"""Number of candidates in the published reason."""


@dataclass(frozen=True)
class Member:
    """A question without its noise: its type, answers and goal, on which the choice depends."""

    kind: QuestionType
    answers: range
    goal: str | None

    @property
    def wants_mean(self) -> bool:
        """Whether the goal is an accurate mean."""
        return self.kind.wants_mean(self.goal)

    @property
    def is_one_option(self) -> bool:
        """Whether an answer is one option and shares are the goal, so that a joint response can include it."""
        return bool(self.kind.most_options) and not self.kind.takes_several and self.goal != "mean"


@dataclass(frozen=True)
class Sharing:
    """One way to share an epsilon, and the respondents that it needs.

    Attributes
    ----------
    size, draw : int
        Number of questions, and how many of them a device asks.
    joint : KAry or None
    mechanisms : tuple of Mechanism, length size
    respondents : int
        Sample size for the question that needs the most, by `deniable_statistics.authoring.sample_size`.
    """

    size: int
    draw: int
    joint: KAry | None
    mechanisms: tuple[Mechanism, ...]
    respondents: int

    @property
    def label(self) -> str:
        """The way in a few words."""
        asked = f"{self.draw} of {self.size}" if self.draw < self.size else f"all {self.size}"
        if self.draw == 1:
            return f"{asked} with all of epsilon"
        return f"{asked} in one response" if self.joint else f"{asked} with epsilon / {self.draw} each"

    @property
    def is_refused(self) -> bool:
        """Whether the epsilon of one question is above the default ceiling of devices, which then refuse it."""
        epsilons = [self.joint.epsilon] if self.joint else [each.epsilon for each in self.mechanisms]
        return max(epsilons) > Ceiling.question

    @property
    def is_split(self) -> bool:
        """Whether all questions are asked, each by its own mechanism at a part of epsilon."""
        return self.draw == self.size and self.joint is None


def ways_to_share(members: Sequence[Member], epsilon: Number, draw: int | None = None) -> tuple[Sharing, ...]:
    """The ways in which questions can share an epsilon, by increasing number of respondents.

    Parameters
    ----------
    members : sequence of Member
    epsilon : number
    draw : int, optional
        Number of questions that a device asks; by default all numbers are compared.

    Raises
    ------
    ParameterError
        If no mechanism can have so small an epsilon, or ``draw`` is above the number of questions.

    Examples
    --------
    >>> from deniable.survey.question_types import QUESTION_TYPES
    >>> yes_no = Member(QUESTION_TYPES["yes-no"], range(2), None)
    >>> for way in ways_to_share([yes_no] * 5, 2)[:3]:
    ...     print(way.label, way.respondents)
    2 of 5 in one response 2540
    3 of 5 in one response 3248
    1 of 5 with all of epsilon 3312
    """
    asked = positive_epsilon(epsilon)
    size = len(members)
    if draw is not None and (type(draw) is not int or not 1 <= draw <= size):
        raise ParameterError(f"draw: must be an integer in [1, {size}], the number of questions, got {draw!r:.40}")
    found = list(_promising(members, asked) if draw is None else _ways(members, asked, draw))
    if not found:
        raise ParameterError(f"epsilon: {float(asked):g} for {size} questions cannot be held by 32-bit weights")
    # Ways that devices refuse come last, however few respondents they need.
    return tuple(sorted(found, key=lambda each: (each.is_refused, each.respondents)))


def why(ways: Sequence[Sharing]) -> str:
    """The reason for the first way in a sentence, as surveys publish it, always with splitting if it was compared."""
    named = [*ways[:SHOWN], *(each for each in ways[SHOWN:] if each.is_split)]
    refused = {True: " (which devices refuse)", False: ""}
    said = [f"{each.label} {each.respondents:,}{refused[each.is_refused]}" for each in named]
    return f"fewest respondents: {'; '.join(said)}"


def _promising(members: Sequence[Member], epsilon: Fraction) -> Iterator[Sharing]:
    """All ways until asking one question more is no longer better, and splitting epsilon over all questions."""
    size, least, in_vain = len(members), math.inf, 0
    # Equal means are solved once, so that all ways can be compared if there are few different ones.
    is_quick = len({each for each in members if each.wants_mean}) <= QUICK
    for draw in range(1, size):
        ways = list(_ways(members, epsilon, draw, math.inf if is_quick else least))
        yield from ways
        best = min((each.respondents for each in ways), default=math.inf)
        # The sample size falls and then rises with the number of asked questions, but not strictly.
        in_vain = 0 if best < least else in_vain + 1
        least = min(least, *(each.respondents for each in ways if not each.is_refused), math.inf)
        if in_vain == PATIENCE:
            break
    yield from _ways(members, epsilon, size, math.inf if is_quick else least)


def _ways(members: Sequence[Member], epsilon: Fraction, draw: int, enough: float = math.inf) -> Iterator[Sharing]:
    """The ways to ask ``draw`` questions: with their own mechanisms, or with a joint response, if weights allow it.

    A way that needs more than ``enough`` respondents is given up before a linear program is solved for it.
    """
    size, kinds = len(members), sorted(set(members), key=lambda each: each.wants_mean)

    def way(joint: KAry | None, mechanism_of: Callable[[Member], Mechanism]) -> Iterator[Sharing]:
        mechanisms: dict[Member, Mechanism] = {}
        respondents = 0
        for each in kinds:
            if each.wants_mean and respondents > enough:
                return
            mechanisms[each] = mechanism_of(each)
            # The question that takes the most people decides for the group.
            needed = people_needed(mechanisms[each], wants_mean=each.wants_mean, asked=draw / size)
            respondents = max(respondents, needed)
        yield Sharing(size, draw, joint, tuple(mechanisms[each] for each in members), respondents)

    with contextlib.suppress(ParameterError):
        yield from way(None, lambda each: mechanism_at(each, epsilon / draw))
    # One response over patterns needs the same options in all questions.
    k = len(members[0].answers)
    if draw > 1 and k**draw <= MOST_PATTERNS and all(each.is_one_option and len(each.answers) == k for each in kinds):
        with contextlib.suppress(ParameterError):
            # One response over all patterns spends the whole epsilon once, on the asked answers together.
            joint = KAry.from_epsilon(k**draw, epsilon)
            yield from way(joint, lambda each: marginal(joint, k, is_yes_no=each.kind.is_yes_no))


@lru_cache(maxsize=1024)
def mechanism_at(member: Member, epsilon: Fraction) -> Mechanism:
    """The mechanism that needs the fewest respondents; cached, because surveys have many questions of a kind."""
    if member.kind.is_yes_no:
        return Warner.from_epsilon(epsilon)
    return choice_for(member.kind, member.answers, epsilon, member.goal).best

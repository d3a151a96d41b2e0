"""Ways to share one epsilon among questions, compared by the respondents that they need.

Either all questions are asked and split the epsilon, or each device asks some of them, drawn at random. The asked
questions have their own mechanisms at equal parts of epsilon, or one joint response over the patterns of answers.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from deniable.errors import ParameterError
from deniable.exact import Number, positive_epsilon
from deniable.mechanisms import KAry, Mechanism, Warner
from deniable.privacy.ceiling import Ceiling
from deniable.survey.group import marginal
from deniable.survey.patterns import MOST_PATTERNS, Pattern, marginal_at
from deniable.survey.question_types import QuestionType
from deniable_statistics.authoring.crosstab_precision import (
    joint_variance,
    joint_variance_of_digits,
    joint_variance_of_patterns,
)
from deniable_statistics.authoring.sample_size import POINTS, people, people_needed
from deniable_statistics.authoring.selection import choice_for, most_variance

PATIENCE = 3
"""Iteration limit without improvement of the search over numbers of asked questions."""

QUICK = 2
"""Largest number of different means for which all ways are compared, since each takes a linear program for each way."""

SHOWN = 3
"""Number of candidates in the published reason."""

WANTED = ("shares", "crosstabs")
"""What authors can want of questions that share an epsilon."""

WORTH_CROSSING = 2
"""Ratio of respondents below which two questions are asked of a person although one takes fewer respondents."""


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
    members : tuple of Member
    draw : int
        How many of the questions a device asks.
    joint : KAry or None
    each : Fraction
        Epsilon of each question that a device asks, if there is no joint response.
    respondents : int
        Sample size for the question that needs the most, by `deniable_statistics.authoring.sample_size`.
    patterns : tuple of tuple of int, optional
        The patterns that are possible, if the joint response is one to these alone, because some questions filter
        others.
    """

    members: tuple[Member, ...]
    draw: int
    joint: KAry | None
    each: Fraction
    respondents: int
    patterns: tuple[Pattern, ...] | None = None

    @property
    def size(self) -> int:
        """Number of questions."""
        return len(self.members)

    @cached_property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """The mechanism of each question, which takes a linear program for some: for the chosen way alone."""
        if self.joint and self.patterns:
            return _marginals(self.members, self.joint, self.patterns)
        return tuple(_mechanism(each, self.joint, self.each) for each in self.members)

    @property
    def label(self) -> str:
        """The way in a few words."""
        asked = f"{self.draw} of {self.size}" if self.draw < self.size else f"all {self.size}"
        if self.patterns:
            return f"{asked} in one response to {len(self.patterns)} possible patterns"
        if self.draw == 1:
            return f"{asked} with all of epsilon"
        return f"{asked} in one response" if self.joint else f"{asked} with epsilon / {self.draw} each"

    @property
    def is_refused(self) -> bool:
        """Whether the epsilon of one question is above the default ceiling of devices, which then refuse it."""
        if self.joint:
            return self.joint.epsilon > Ceiling.question
        # No mechanism has more than what was asked for, so most are not needed to tell.
        return self.each > Ceiling.question and max(each.epsilon for each in self.mechanisms) > Ceiling.question

    @property
    def crosses(self) -> bool:
        """Whether some device is asked two questions whose answers can be crossed."""
        return self.draw > 1 and sum(not each.wants_mean for each in self.members) > 1

    @cached_property
    def crossing(self) -> float:
        """``n`` times the variance of a joint share of two questions, for the two of which it is largest."""
        size, draw = self.size, self.draw
        crossed = [place for place, each in enumerate(self.members) if not each.wants_mean]
        # Pairs of the same kinds have the same variance, so that each two kinds are looked at once.
        pairs = {
            (self.members[one], self.members[other]): (one, other) for one, other in itertools.combinations(crossed, 2)
        }
        together = draw * (draw - 1) / (size * (size - 1))  # P(a device is asked two given ones of the questions)
        if self.joint and self.patterns:
            return joint_variance_of_patterns(self.joint, self.patterns)
        if self.joint:
            return joint_variance_of_digits(self.joint, len(self.members[0].answers)) / together
        each = [mechanism_at(member, self.each) for member in self.members]
        return max(joint_variance(each[one], each[other]) for one, other in pairs.values()) / together

    @property
    def is_split(self) -> bool:
        """Whether all questions are asked, each by its own mechanism at a part of epsilon."""
        return self.draw == self.size and self.joint is None


def ways_to_share(
    members: Sequence[Member],
    epsilon: Number,
    draw: int | None = None,
    patterns: tuple[Pattern, ...] | None = None,
) -> tuple[Sharing, ...]:
    """The ways in which questions can share an epsilon, by increasing number of respondents.

    Parameters
    ----------
    members : sequence of Member
    epsilon : number
    draw : int, optional
        Number of questions that a device asks; by default all numbers are compared.
    patterns : tuple of tuple of int, optional
        The possible patterns of answers to all questions, if each has one answer and some filter others.

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
    if patterns and draw in (None, size):
        # Of all combinations some are impossible, so one response to all of them is never better.
        found = [each for each in found if not (each.joint and each.draw == size)]
        found += _to_patterns(members, asked, patterns)
    if not found:
        raise ParameterError(
            f"epsilon: {float(asked):g} for {size} question{'' if size == 1 else 's'} cannot be held by 32-bit weights"
        )
    # Ways that devices refuse come last, however few respondents they need.
    return tuple(sorted(found, key=lambda each: (each.is_refused, each.respondents)))


def chosen_way(ways: Sequence[Sharing], want: Collection[str] = ()) -> Sharing:
    """The way that a survey takes, of those of `ways_to_share`.

    Parameters
    ----------
    ways : sequence of Sharing
    want : collection of {"shares", "crosstabs"}, optional
        What the author wants to know. With crosstabs it is the way with the fewest respondents for crossing two
        questions, with shares alone the one with the fewest for the shares. By default it is the latter, unless nothing
        could be crossed then, and a way that allows it needs less than `WORTH_CROSSING` times the respondents.

    Examples
    --------
    >>> from deniable.survey.question_types import QUESTION_TYPES
    >>> ways = ways_to_share([Member(QUESTION_TYPES["yes-no"], range(2), None)] * 8, 1)
    >>> ways[0].label, chosen_way(ways).label, chosen_way(ways, ["shares", "crosstabs"]).label
    ('1 of 8 with all of epsilon', '2 of 8 in one response', '3 of 8 in one response')
    """
    fewest = ways[0]
    crossing = [each for each in ways if each.crosses and not each.is_refused]
    if not crossing or (want and "crosstabs" not in want):
        return fewest
    if want:
        # Who wants crosstabs alone pays for them in shares.
        return min(crossing, key=lambda each: each.crossing)
    return (
        crossing[0] if not fewest.crosses and crossing[0].respondents < WORTH_CROSSING * fewest.respondents else fewest
    )


def why(ways: Sequence[Sharing], chosen: Sharing | None = None) -> str:
    """The reason for a way in a sentence, as surveys publish it, always with splitting if it was compared.

    ``chosen`` is by default the first, the one with the fewest respondents.
    """
    named = [*ways[:SHOWN], *(each for each in ways[SHOWN:] if each.is_split)]
    refused = {True: " (which devices refuse)", False: ""}
    said = [f"{each.label} {each.respondents:,}{refused[each.is_refused]}" for each in named]
    crossed = f"to cross two questions: {chosen.label}; " if chosen not in (None, ways[0]) and chosen else ""
    return f"{crossed}fewest respondents for {POINTS}: {'; '.join(said)}"


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

    def way(joint: KAry | None, each_epsilon: Fraction) -> Iterator[Sharing]:
        respondents = 0
        for each in kinds:
            if each.wants_mean and respondents > enough:
                return
            # The question that takes the most people decides for the group.
            respondents = max(respondents, _people(each, joint, each_epsilon, draw / size, respondents))
        yield Sharing(tuple(members), draw, joint, each_epsilon, respondents)

    with contextlib.suppress(ParameterError):
        yield from way(None, epsilon / draw)
    # One response over patterns needs the same options in all questions.
    k = len(members[0].answers)
    if draw > 1 and k**draw <= MOST_PATTERNS and all(each.is_one_option and len(each.answers) == k for each in kinds):
        with contextlib.suppress(ParameterError):
            # One response over all patterns spends the whole epsilon once, on the asked answers together.
            yield from way(KAry.from_epsilon(k**draw, epsilon), epsilon)


def _to_patterns(members: Sequence[Member], epsilon: Fraction, patterns: tuple[Pattern, ...]) -> Iterator[Sharing]:
    """One response to the possible patterns of all questions, if weights allow it."""
    with contextlib.suppress(ParameterError):
        joint = KAry.from_epsilon(len(patterns), epsilon)
        each = _marginals(members, joint, patterns)
        # Everybody is asked all of them, so the dearest question decides.
        respondents = max(people_needed(mechanism, wants_mean=False) for mechanism in each)
        yield Sharing(tuple(members), len(members), joint, epsilon, respondents, patterns)


def _marginals(members: Sequence[Member], joint: KAry, patterns: Sequence[Pattern]) -> tuple[Mechanism, ...]:
    return tuple(marginal_at(joint, patterns, place, len(each.answers)) for place, each in enumerate(members))


def _people(member: Member, joint: KAry | None, epsilon: Fraction, asked: float, known: int) -> int:
    """Respondents that a question needs, or any number up to ``known`` if it needs no more than that."""
    if member.wants_mean and joint is None:
        bound = most_variance(member.kind, member.answers, epsilon)
        if bound < math.inf and people(bound / asked) <= known:
            return known
    return people_needed(_mechanism(member, joint, epsilon), wants_mean=member.wants_mean, asked=asked)


def _mechanism(member: Member, joint: KAry | None, epsilon: Fraction) -> Mechanism:
    """The mechanism of a question: its own at this epsilon, or what the joint response does to it."""
    if joint is None:
        return mechanism_at(member, epsilon)
    return marginal(joint, len(member.answers), is_yes_no=member.kind.is_yes_no)


@lru_cache(maxsize=1024)
def mechanism_at(member: Member, epsilon: Fraction) -> Mechanism:
    """The mechanism that needs the fewest respondents; cached, because surveys have many questions of a kind."""
    if member.kind.is_yes_no:
        return Warner.from_epsilon(epsilon)
    return choice_for(member.kind, member.answers, epsilon, member.goal).best

"""Patterns: the answers that somebody can give together to questions of a group, of which some filter others.

Of "ever, and if so how often" with k options, ``1 + k`` patterns of answers are possible instead of ``2 (k + 1)``. One
response to the possible ones spends a whole epsilon once, on fewer patterns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from deniable.errors import SurveyError
from deniable.mechanisms import KAry, Mechanism
from deniable.mechanisms.unequal_k_ary import UnequalKAry
from deniable.randomness import UNIT
from deniable.survey.condition import Condition
from deniable.survey.question import Question

MOST_PATTERNS = 1000
"""Largest number of patterns of a joint response; over more patterns hardly any is reported truly."""

Pattern = tuple[int, ...]
"""The number of the answer to each question of a group, in order."""


class Routed(NamedTuple):
    """What patterns depend on of a question: its id, its number of options, and its filter."""

    id: str
    options: int
    """The last of them is *does not apply* where there is a filter."""
    ask_if: Condition | None


def possible_patterns(asked: Sequence[Routed]) -> tuple[Pattern, ...]:
    """The answers that somebody can give together, in rising order.

    Raises
    ------
    SurveyError
        If a filter is about another question, or there are more than `MOST_PATTERNS`.

    Examples
    --------
    >>> from deniable.survey.condition import among
    >>> often = Routed("often", 3, among("smokes", [(1, 1)], range(2)))
    >>> possible_patterns([Routed("smokes", 2, None), often])
    ((0, 2), (1, 0), (1, 1))
    """
    ids = [each.id for each in asked]
    found: list[Pattern] = [()]
    for place, each in enumerate(asked):
        if each.ask_if is not None and not set(each.ask_if.named) <= set(ids[:place]):
            raise SurveyError(f"question {each.id!r}: ask_if must be about questions of its group")
        # Questions in order, so that each filter sees the answers that it is about.
        found = [(*earlier, answer) for earlier in found for answer in _answers(each, ids, earlier)]
        if len(found) > MOST_PATTERNS:
            raise SurveyError(f"joint must be over at most {MOST_PATTERNS} possible patterns")
    return tuple(found)


def _answers(question: Routed, ids: Sequence[str], earlier: Pattern) -> range:
    if question.ask_if is None:
        return range(question.options)
    last = question.options - 1
    applies = question.ask_if.holds(dict(zip(ids, earlier, strict=False)))
    # Whom it applies to cannot choose the last option, and nobody else can choose another one.
    return range(last) if applies else range(last, last + 1)


def patterns_of(members: Sequence[Question]) -> tuple[Pattern, ...] | None:
    """The patterns to which a group responds; None where it is one over all combinations of its questions' options.

    Raises
    ------
    SurveyError
        As `possible_patterns`.
    """
    group = members[0].group
    if group is None or group.joint is None or group.is_drawn or not any(each.ask_if for each in members):
        return None
    k = len(members[0].options)
    # The number of patterns tells which response was published: there are fewer possible ones than combinations.
    if all(len(each.options) == k for each in members) and group.joint.k == k**group.draw:
        return None
    return possible_patterns([Routed(each.id, len(each.options), each.ask_if) for each in members])


def counted(patterns: Sequence[Pattern], *places: int) -> Counter[Pattern]:
    """How many patterns hold each combination of answers at these places.

    >>> counted([(0, 2), (1, 0), (1, 1)], 0)[(1,)]
    2
    """
    return Counter(tuple(pattern[place] for place in places) for pattern in patterns)


def marginal_at(joint: KAry, patterns: Sequence[Pattern], place: int, k: int) -> Mechanism:
    """What a response to patterns does to the question of ``k`` options at a place, exactly.

    ``P(v | x) = m_v q + (p - q) [v = x]``, with ``m_v`` the number of patterns that hold ``v`` there.
    """
    held = counted(patterns, place)
    # A pattern that is not the true one has this weight; an option has it once for each pattern that holds it.
    other = int(joint.support[0].if_other * UNIT)
    return UnequalKAry(tuple(held[(answer,)] * other for answer in range(k)))

"""The possible analyses of a question, and the price of a mechanism that allows more of them.

Authors must know it before fieldwork: a mechanism that is best for a mean identifies nothing else, and its reports
cannot be analysed in another way afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from deniable.errors import ParameterError
from deniable.mechanisms import Geometric, Mechanism
from deniable.survey.question import Question, levels_from
from deniable.survey.question_types import MAX_LEVELS
from deniable_statistics.authoring.sample_size import variance_if_even
from deniable_statistics.authoring.selection import MOST_COMPARED, choose_for_scale, choose_for_ticks

ANALYSES = ("shares", "mean", "crosstab and joint shares", "regression, as outcome", "regression, as predictor")
"""Analyses in `analyses_of` of every question, in order; for tick boxes they are about one box."""

TWO_BOXES = "two boxes crossed"
"""A further analysis in `analyses_of`, of tick boxes."""


def analyses_of(question: Question) -> dict[str, bool]:
    """Whether each of `ANALYSES` is possible with the question's mechanism; for tick boxes also `TWO_BOXES`.

    Examples
    --------
    >>> from deniable import OneBitMean
    >>> drinks = Question("drinks", "number", "How many?", (), OneBitMean.from_epsilon(0, 40, epsilon=1))
    >>> [name for name, possible in analyses_of(drinks).items() if possible]
    ['mean']
    """
    mechanism, has_shares = question.mechanism, question.has_shares
    possible = (has_shares, question.kind.has_numbers, mechanism.has_shares, has_shares, has_shares)
    boxes = {TWO_BOXES: mechanism.reports.share_of_pairs > 0} if question.kind.takes_several else {}
    return dict(zip(ANALYSES, possible, strict=True)) | boxes


@dataclass(frozen=True)
class Alternative:
    """Another way to write a question, which can be analysed in more ways.

    Attributes
    ----------
    change : str
        What to write instead.
    gains : tuple of str
        The analyses that become possible.
    times : float
        Factor in respondents for the same precision of what can be estimated now; 1 costs nothing.
    figure : str
        What is estimated now.
    """

    change: str
    gains: tuple[str, ...]
    times: float
    figure: str

    def __str__(self) -> str:
        # One digit, because the real population differs from the uniform one of the comparison.
        more = f"about {self.times:.1f} times the respondents for the same precision of the {self.figure}"
        price = more if self.times >= 1.05 else "no more respondents"
        return f"{self.change} also allows {'; '.join(self.gains)}, and costs {price}"


def alternatives_for(question: Question) -> tuple[Alternative, ...]:
    """Ways to write a question so that more analyses are possible with the same epsilon, if there are any.

    A question of a group has none, because its author does not choose its mechanism.
    """
    if question.group:
        return ()
    now = analyses_of(question)
    found: list[Alternative] = []
    for change, other in _others(question):
        gains = tuple(name for name, possible in analyses_of(other).items() if possible and not now[name])
        # The cheapest way to each set of analyses is enough, and comes first.
        if gains and gains not in [each.gains for each in found]:
            own, others = (variance_if_even(each.mechanism, wants_mean=now["mean"]) for each in (question, other))
            found.append(Alternative(change, gains, others / own, "mean" if now["mean"] else "shares"))
    return tuple(found)


def _others(question: Question) -> Iterator[tuple[str, Question]]:
    """Other ways to write a question, the cheapest first."""
    epsilon = question.mechanism.epsilon
    if question.kind.takes_several:
        coins = _made(lambda: choose_for_ticks(len(question.options), epsilon, "together").best)
        if coins is not None:
            yield 'goal = "together"', replace(question, mechanism=coins, why=None)
    elif question.kind.has_goal and question.ask_if is None:
        shares = _made(lambda: choose_for_scale(len(question.options), epsilon, "shares").best)
        if shares is not None:
            yield 'goal = "shares" (and no line mechanism)', _as_scale(question, question.options, shares)
    elif question.has_mean:
        possible = question.mechanism.answer_range
        lo, hi = possible[0], possible[-1]
        levels = levels_from(str(lo), hi - lo + 1) if hi - lo < MAX_LEVELS else ()
        if len(levels) > 1 and (shares := _made(lambda: choose_for_scale(len(levels), epsilon, "shares").best)):
            yield 'type = "scale" with goal = "shares"', _as_scale(question, levels, shares)
        # A longer range has so many weights that they would fill the survey.
        if hi - lo <= MOST_COMPARED and (noisy := _made(lambda: Geometric.from_epsilon(lo, hi, epsilon))):
            yield 'mechanism = "geometric"', Question(question.id, "number", question.text, (), noisy)


def _as_scale(question: Question, levels: tuple[str, ...], mechanism: Mechanism) -> Question:
    return replace(question, type="scale", options=levels, mechanism=mechanism, goal="shares", why=None, unit=None)


def _made(make: Callable[[], Mechanism]) -> Mechanism | None:
    """The mechanism, or None where 32-bit weights cannot hold it."""
    try:
        return make()
    except ParameterError:
        return None

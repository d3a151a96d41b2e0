"""What a choice of mechanism buys: how many respondents each candidate takes for the same precision."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import NamedTuple

from deniable.mechanisms import Mechanism
from deniable.survey.question import Question
from deniable.survey.selection import Choice, choose, mean_variance
from deniable.survey.unit import Unit

HALF_WIDTH = 0.05
"""Of the 95 % interval: 5 points of a share of one half, or 5 % of a range."""


class Needed(NamedTuple):
    """Respondents for that half width; with ``label`` None the fewest that the best known bound allows."""

    label: str | None
    respondents: int


def respondents_needed(question: Question) -> tuple[Needed, ...]:
    """The respondents that each candidate for a question takes at its epsilon, fewest first, and last the bound.

    Empty where there is one candidate only. Shares are taken to be one half, numbers to be uniform over their range.

    References
    ----------
    The bound for boxes is the level-1 inequality: R. O'Donnell, "Analysis of Boolean Functions", Cambridge University
    Press 2014, section 5.4. That for numbers is the linear program of `deniable.mechanisms.optimum`.

    Examples
    --------
    >>> from deniable import DrawnBoxes
    >>> boxes = Question("q", "ticks", "Which?", tuple("abcdefgh"), DrawnBoxes.from_epsilon(8, 2))
    >>> for label, n in respondents_needed(boxes):
    ...     print(label, n)
    drawn-boxes (2 of 8) 4063
    drawn-boxes (3 of 8) 5196
    tick-boxes 24842
    None 2928
    """
    choice = _choice(question)
    made = [each for each in choice.candidates if each.mechanism is not None] if choice else []
    if len(made) < 2:
        return ()
    asked, wants_mean = question.share_asked, aims_at_mean(question)
    found = [
        Needed(each.label, people_needed(each.mechanism, wants_mean=wants_mean, asked=asked))
        for each in made
        if each.mechanism is not None
    ]
    bounds = (Needed(None, _people(bound / asked)) for bound in _bound(question))
    return *sorted(found, key=lambda each: each.respondents), *bounds


def needed_sentence(question: Question) -> str | None:
    """How many respondents the candidates for a question take, in a sentence; None where there is one only."""
    needed = respondents_needed(question)
    if not needed:
        return None
    what = " % of the range" if aims_at_mean(question) else " points at a share of one half"
    each = "; ".join(f"{label} {n:,}" if label else f"no mechanism fewer than {n:,}" for label, n in needed)
    return f"Respondents for \u00b15{what}: {each}"


def people_needed(mechanism: Mechanism, *, wants_mean: bool, asked: float = 1.0) -> int:
    """Respondents for that half width of the mean, or of the shares, if this part of them is asked."""
    variance = _mean_variance_of_unit_range(mechanism) if wants_mean else _variance_at_one_half(mechanism)
    return _people(variance / asked)


def aims_at_mean(question: Question) -> bool:
    """Whether it is the mean that is to be accurate."""
    return question.kind.wants_mean(question.goal)


def _choice(question: Question) -> Choice | None:
    kind = question.kind
    if question.mechanism.has_waves or kind.is_yes_no or (question.group and question.group.joint):
        return None
    # Surveys publish no goal of ticks; what all boxes together cost is one of the candidates for their shares.
    goal = "shares" if kind.takes_several else question.goal
    return choose(kind, question.mechanism.answer_range, question.mechanism.epsilon, goal)


def _people(variance: float) -> int:
    return math.ceil(variance * (NormalDist().inv_cdf(0.975) / HALF_WIDTH) ** 2)


def _variance_at_one_half(mechanism: Mechanism) -> float:
    """``n`` times the variance of the share of an option, the mean over all of them."""
    noise = [(if_true + if_other) / 2 for if_true, if_other in mechanism.noise]
    return 0.25 + math.fsum(noise) / len(noise)


def _mean_variance_of_unit_range(mechanism: Mechanism) -> float:
    possible = mechanism.answer_range
    return mean_variance(mechanism) / (possible[-1] - possible[0]) ** 2


def _bound(question: Question) -> Iterator[float]:
    """``n`` times the least variance that is known to be possible for any mechanism, where one is known."""
    ratio = math.exp(question.mechanism.epsilon)
    if question.kind.takes_several:
        yield _least_variance_of_bits(len(question.options), ratio)
    elif aims_at_mean(question):
        from deniable.mechanisms.optimum import optimal_noise

        steps = len(question.mechanism.answer_range) - 1
        with contextlib.suppress(ModuleNotFoundError):  # without scipy nobody solves the linear program
            yield (optimal_noise(steps, ratio) + (steps + 2) / (3 * steps)) / 4


def _least_variance_of_bits(k: int, ratio: float) -> float:
    """The same of the share of each of ``k`` bits, boxes or yes-no answers, told together: the level-1 inequality."""
    # A report that is E times as likely under a share alpha of all patterns as under the others.
    alphas = (step / 2000 for step in range(1, 2000))
    gain = max(2 * math.log(1 / a) * ((ratio - 1) * a / ((ratio - 1) * a + 1)) ** 2 for a in alphas)
    return k / (4 * gain)


def group_sentences(unit: Unit) -> list[str]:
    """What the ways take in which a group's questions share an epsilon, of yes-no questions beside the bound."""
    said = [unit.group.why] if unit.group and unit.group.why else []
    if all(each.kind.is_yes_no for each in unit.questions):
        least = _least_variance_of_bits(len(unit.questions), math.exp(unit.epsilon))
        said.append(f"no way takes fewer than {_people(least):,}")
    return said

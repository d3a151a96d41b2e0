"""The respondents that each candidate mechanism takes for the same precision, for comparison."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import NamedTuple

from deniable.errors import NotInstalled
from deniable.mechanisms import Piecewise
from deniable.mechanisms.longitudinal import waves_of
from deniable.survey.question import Question
from deniable.survey.unit import Unit
from deniable_statistics.authoring.sample_size import (
    POINTS_OF_A_HALF,
    noise_of_options,
    people,
    variance_at_half,
    variance_if_even,
)
from deniable_statistics.authoring.selection import Candidate, Choice, choice_for


class SampleSize(NamedTuple):
    """Number of respondents for the precision by which candidates are compared.

    On average over several options it is not the number for which a survey is planned, so it is only shown as a factor.
    With ``label`` None it is a lower bound for all mechanisms, the best one known.
    """

    label: str | None
    respondents: int


def respondents_needed(question: Question) -> tuple[SampleSize, ...]:
    """The sample size of each candidate for a question at its epsilon: the chosen one first, the lower bound last.

    The result is empty if there is only one candidate.

    References
    ----------
    The bound for boxes is the level-1 inequality: R. O'Donnell, "Analysis of Boolean Functions", Cambridge University
    Press 2014, section 5.4. That for numbers is the linear program of `deniable_statistics.authoring.optimum`.

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
    if choice is None:
        return ()
    asked = question.share_asked
    found = [SampleSize(each.label, each.respondents(asked)) for each in choice.candidates]
    # Bounds are solved to a few digits, and must not exceed what a mechanism is known to reach.
    fewest = min(n for _, n in found)
    return *found, *(SampleSize(None, min(people(bound / asked), fewest)) for bound in _bound(question))


def comparison(question: Question) -> list[str]:
    """Why a question has its mechanism, and what it was compared with, in sentences; none where there was no choice.

    The words are those that the survey publishes. If the author named the mechanism, it is compared with the one that
    would have been chosen.
    """
    published = question.why
    choice = _choice(question)
    if choice is None:
        return [_sentence(published)] if published else []
    bounds = "".join(f"; no mechanism fewer than {n:,}" for label, n in respondents_needed(question) if label is None)
    if published and published.startswith(choice.claim):
        return [_sentence(published + bounds)]
    sentences = [_sentence(published)] if published else []
    # The author named the mechanism: what would have been chosen stands beside it.
    said = choice.compared(question.share_asked)
    mechanism = question.mechanism
    if type(mechanism) is not type(choice.best) or str(mechanism) != str(choice.best):
        wants_mean = question.kind.wants_mean(question.goal)
        if wants_mean or mechanism.has_shares:
            own = Candidate(mechanism, variance_if_even(mechanism, wants_mean=wants_mean))
            said += f"; asked for: {mechanism} {choice.cost(own, question.share_asked)}"
    return [*sentences, _sentence(said + bounds)]


def at_single_shares(question: Question) -> str | None:
    """Where another mechanism of several options is better for a single share than the one that is best on average.

    None if the candidates are not compared by an average over the options, or if none is better at any single share.
    """
    choice = _choice(question)
    if choice is None or not choice.by_factors:
        return None
    # All options have the same noise: one pair of variances describes each of these mechanisms.
    alike = [each.mechanism for each in choice.candidates if len(set(each.mechanism.support or ())) == 1]
    if len(alike) < 2:
        return None
    (one, other), asked = alike[:2], question.share_asked
    (one_true, one_other), (other_true, other_other) = noise_of_options(one)[0], noise_of_options(other)[0]
    # The noise variances f N_1 + (1 - f) N_0 of the two cross at one share f; their sampling variances are the same.
    apart = (one_true - other_true) - (one_other - other_other)
    share = (other_other - one_other) / apart if apart else 1.0
    if not 0 < share < 1:
        return None
    below, above = (one, other) if one_other < other_other else (other, one)
    figures = " and ".join(f"{each} {people(variance_at_half(each) / asked):,}" for each in (one, other))
    return (
        f"Of a single share, {below} is more precise below {100 * share:.0f} % and {above} above; "
        f"for {POINTS_OF_A_HALF}, {figures} respondents"
    )


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _choice(question: Question) -> Choice | None:
    """The candidates for a question, if there are at least two."""
    kind = question.noise_kind
    if waves_of(question.mechanism) or kind.is_yes_no or (question.group and question.group.joint):
        return None
    # Surveys publish no goal of ticks; what all boxes together cost is one of the candidates for their shares.
    goal = "shares" if kind.takes_several else question.noise_goal
    own = question.mechanism
    # A question's own rows are those of its epsilon, so they need not be solved for once more.
    solved = own if isinstance(own, Piecewise) else None
    choice = choice_for(kind, own.answer_range, own.epsilon, goal, solved)
    return choice if len(choice.candidates) > 1 else None


def _bound(question: Question) -> Iterator[float]:
    """``n`` times a lower bound of the variance under any mechanism, where one is known."""
    ratio = math.exp(question.mechanism.epsilon)
    if question.kind.takes_several:
        yield _least_variance_of_bits(len(question.options), ratio)
    elif question.kind.wants_mean(question.goal) and question.ask_if is None:
        steps = len(question.mechanism.answer_range) - 1
        with contextlib.suppress(ModuleNotFoundError, NotInstalled):  # without HiGHS nobody solves the linear program
            from deniable_statistics.authoring.optimum import optimal_noise

            yield (optimal_noise(steps, ratio) + (steps + 2) / (3 * steps)) / 4


def _least_variance_of_bits(k: int, ratio: float) -> float:
    """``n`` times the least variance of the share of each of ``k`` bits that are told together.

    It follows from the level-1 inequality; bits are boxes or yes-no answers.
    """
    # The best report is E times as likely under a part alpha of all patterns as under the rest.
    alphas = (step / 2000 for step in range(1, 2000))
    # Level-1 inequality: an event of probability a has a level-1 weight of at most 2 a^2 ln(1 / a).
    gain = max(2 * math.log(1 / a) * ((ratio - 1) * a / ((ratio - 1) * a + 1)) ** 2 for a in alphas)
    # Level-1 inequality: ``gain`` bounds what a report tells of all bits together; each has the variance 1/4.
    return k / (4 * gain)


def group_sentences(unit: Unit) -> list[str]:
    """Sentences on the sample sizes of the ways to share a group's epsilon; for yes-no questions also the bound."""
    said = [_sentence(unit.group.why)] if unit.group and unit.group.why else []
    if all(each.noise_kind.is_yes_no for each in unit.questions):
        least = _least_variance_of_bits(len(unit.questions), math.exp(unit.epsilon))
        said.append(f"no way takes fewer than {people(least):,}")
    return said

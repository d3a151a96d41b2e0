"""The price of a filter before fieldwork, and of one question with combined options in its place.

A question for few is honestly expensive: the noise of all, those to whom it does not apply included, is divided by the
share of those to whom it applies.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deniable.errors import ParameterError, SurveyError
from deniable.mechanisms import KAry, Mechanism
from deniable.privacy.ceiling import Ceiling
from deniable.survey.condition import Among
from deniable.survey.document import Survey
from deniable.survey.patterns import Routed, marginal_at, possible_patterns
from deniable.survey.question import Question
from deniable.survey.question_types import MAX_OPTIONS, AnswerKind
from deniable_statistics.authoring.sample_size import PART_OF_RANGE, POINTS_OF_A_HALF, people, variance_for
from deniable_statistics.authoring.selection import choose_for_choice
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.estimates.among import variance_among
from deniable_statistics.intervals.ratio_limits import gap_variance
from deniable_statistics.published.condition_text import condition_words

APPLYING = (0.5, 0.2, 0.05)
"""Shares of the people to whom a question applies, for which respondents are counted."""

HALF = 0.5
"""The share among them for which respondents are counted, whose interval is the widest."""


def filter_sentences(question: Question, survey: Survey) -> list[str]:
    """Who is asked a question with a filter, how many respondents that takes, and what it would take otherwise.

    The result is empty for a question without a filter. Nothing is chosen: authors decide.
    """
    if question.ask_if is None:
        return []
    named = {each.id: each for each in survey.questions}
    found = [
        f"Asked if {condition_words(question.ask_if, named)}; whoever is not asked sends "
        f"{str(question.not_applicable_name)!r} through the same noise",
        f"Among those to whom it applies, {_precision(question)} take {_listed(question)}",
    ]
    return [*found, *_together(question, survey), *_combined(question, survey)]


def respondents_among(question: Question, applying: float) -> int:
    """Number of respondents for 5 points at one half of those to whom a question applies, or 5 % of a range.

    Parameters
    ----------
    question : Question
        With a filter.
    applying : float
        The share of all to whom it applies.
    """
    mechanism = question.mechanism
    if mechanism.has_others:
        return people(variance_for(mechanism, applying) / question.share_asked)
    return people(variance_among(design_of(mechanism), HALF, applying) / question.share_asked)


def _precision(question: Question) -> str:
    return POINTS_OF_A_HALF if question.has_shares else PART_OF_RANGE


def _listed(question: Question) -> str:
    numbers = [f"{respondents_among(question, each):,} respondents if it applies to {each:.0%}" for each in APPLYING]
    return ", ".join(numbers)


def _together(question: Question, survey: Survey) -> Iterator[str]:
    """A sentence on both questions in one response to the patterns of answers that are possible, if that takes fewer.

    It asks the same questions, so it is what we recommend.
    """
    condition = question.ask_if
    if not isinstance(condition, Among) or question.group or not _is_one_option(question):
        return
    first = survey.question(condition.question)
    epsilon = first.epsilon + question.epsilon
    if first.group or first.ask_if or not _is_one_option(first) or epsilon > Ceiling.question:
        return
    pair = (first, question)
    try:
        patterns = possible_patterns([Routed(each.id, len(each.options), each.ask_if) for each in pair])
        mechanism = marginal_at(KAry.from_epsilon(len(patterns), epsilon), patterns, 1, len(question.options))
    except (ParameterError, SurveyError):
        return
    numbers = [people(variance_among(design_of(mechanism), HALF, applying)) for applying in APPLYING]
    if numbers[0] < respondents_among(question, APPLYING[0]):
        listed = ", ".join(f"{each:,}" for each in numbers)
        yield (
            f"Recommended: the same two questions in one group, {first.id} and {question.id}, with epsilon "
            f"{epsilon:.4g} for both: one response to the {len(patterns)} answers that somebody can give takes {listed}"
        )


def _is_one_option(question: Question) -> bool:
    return question.has_shares and not question.kind.takes_several


def _combined(question: Question, survey: Survey) -> Iterator[str]:
    """A sentence on the question that has the options of both, where there can be such a one."""
    condition = question.ask_if
    if not isinstance(condition, Among) or question.group or not _is_one_option(question):
        return
    first = survey.question(condition.question)
    if first.group or first.ask_if or first.kind.answers is AnswerKind.RANGE:
        return
    # Answers to the first question that lead to the second one; each is replaced by all of its options.
    asking = sum(high - low + 1 for low, high in condition.intervals)
    others = len(first.options) - asking
    k = others + asking * len(question.choices)
    epsilon = first.epsilon + question.epsilon
    if k > MAX_OPTIONS or epsilon > Ceiling.question:
        return
    try:
        mechanism = choose_for_choice(k, epsilon).best
    except ParameterError:
        return
    numbers = [f"{people(_variance_combined(mechanism, others, asking, applying)):,}" for applying in APPLYING]
    yield (
        f"Instead: one choice of {k} options, those of {first.id} with those of {question.id} in the place of what "
        f"leads to it, at epsilon {epsilon:.4g} for both, takes {', '.join(numbers)}, and tells {first.id} too"
    )


def _variance_combined(mechanism: Mechanism, others: int, asking: int, applying: float) -> float:
    """``n`` times the variance of one half among those to whom it applies, of a combined question.

    Its options are ``others`` of people to whom it does not apply, then those of the others: an answer of the second
    question for each of ``asking`` answers of the first. The half is that of one answer of the second question.
    """
    design = design_of(mechanism)
    k = len(design.truths)
    # Options of the second question, behind each answer that leads to it.
    second = (k - others) // asking
    own = np.arange(k) >= others
    # The first answer to the second question, after each answer to the first that leads to it.
    top = own & ((np.arange(k) - others) % second == 0)
    shares = np.where(top, HALF / asking, HALF / (asking * max(second - 1, 1))) * applying
    shares = np.where(own, shares, (1 - applying) / max(others, 1))
    scores = design.debiasing.weights
    weights = np.array([scores[top].sum(axis=0), scores[own].sum(axis=0)])
    covariance = design.score_covariance(weights, design.expected(shares.tolist()))
    return gap_variance(HALF, *map(float, (covariance[0, 0], covariance[1, 1], covariance[0, 1]))) / applying**2

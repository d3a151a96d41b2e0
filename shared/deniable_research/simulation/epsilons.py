"""Variants of a survey to compare it with: at another epsilon, or without shared epsilons."""

from __future__ import annotations

from dataclasses import replace

from deniable.errors import ParameterError
from deniable.exact import Number, positive_epsilon
from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable_statistics.authoring.sharing import Member, mechanism_at
from deniable_statistics.designs.of_mechanisms import design_of


def split_over_all(survey: Survey) -> Survey:
    """The survey with every question asked of everybody, and the epsilon of each group split over its questions."""

    def alone(question: Question) -> Question:
        group = question.group
        if group is None:
            return question
        # The questions of a group are one unit, which has the epsilon of all of them.
        epsilon = next(unit.epsilon for unit in survey.units if unit.group == group)
        # The comparison with what the same epsilon gives without a draw: an equal part for each question.
        mechanism = mechanism_at(_member(question), positive_epsilon(epsilon) / group.size)
        return replace(question, mechanism=mechanism, group=None)

    return replace(survey, questions=tuple(map(alone, survey.questions)))


def at_epsilon(survey: Survey, epsilon: Number) -> Survey:
    """The survey with this epsilon for each question, and the mechanism that is chosen for it by default.

    Raises
    ------
    ParameterError
        If questions share an epsilon, or no mechanism can have this one.
    """
    if survey.groups:
        raise ParameterError("epsilon: must be varied of questions that do not share one, got a survey with groups")
    asked = positive_epsilon(epsilon)
    return replace(
        survey,
        questions=tuple(replace(each, mechanism=mechanism_at(_member(each), asked)) for each in survey.questions),
    )


def _member(question: Question) -> Member:
    # A survey does not publish the goal of tick boxes; drawn boxes are chosen only for the goal of shares.
    of_boxes = "shares" if design_of(question.mechanism).is_one_draw else "together"
    goal = of_boxes if question.kind.takes_several else question.noise_goal
    return Member(question.noise_kind, question.mechanism.answer_range, goal)

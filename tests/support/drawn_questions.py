"""Groups of questions that share an epsilon, and how likely each of their reports is."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from deniable import KAry, Question, Survey, read_survey
from deniable.randomness import UNIT
from deniable.survey.group import Group, marginal
from deniable.survey.question_types import YES_NO
from deniable.wire.space import Value
from deniable_research.files import Layout, Table
from deniable_research.simulation.draw import QuestionReports
from deniable_statistics.designs.of_mechanisms import design_of
from tools.rig.survey_files import question_toml, survey_toml

Values = tuple[Value, ...]
"""What a report holds for the questions of a group, in order."""

Likely = dict[Values, Fraction]
"""How likely each report is."""


def shared_survey(size: int, epsilon: float, draw: int | None = None, **keys: object) -> Survey:
    """So many yes-no questions q0, q1, ... for one epsilon."""
    drawn = {"want": ["shares"]} if draw is None else {"draw": draw}
    questions = (question_toml(f"q{place}", "yes-no") for place in range(size))
    return read_survey(survey_toml("T", *questions, epsilon=epsilon, **drawn, **keys))


@functools.cache
def joint_survey(k: int, size: int, s: int, epsilon: str = "1.5") -> Survey:
    """Questions of ``k`` options of which ``s`` are answered in one response, whether that is cheap or not."""
    joint = KAry.from_epsilon(k**s, epsilon)
    group = Group("private", size, s, joint)
    kind, options = ("yes-no", YES_NO) if k == 2 else ("choice", tuple("abc"[:k]))
    mechanism = marginal(joint, k, is_yes_no=k == 2)
    return Survey("T", tuple(Question(f"q{j}", kind, "Q?", options, mechanism, group=group) for j in range(size)))


def table_of(survey: Survey, columns: dict[str, QuestionReports], **plain: tuple[str, ...]) -> Table:
    """The file that a collector writes, read."""
    texts = {
        name: tuple(
            str(value) if asked else ""
            for value, asked in zip(
                column.values.tolist(),
                itertools.repeat(True) if column.asked is None else column.asked.tolist(),
                strict=False,
            )
        )
        for name, column in columns.items()
    }
    return Table.of(texts | plain, Layout.of_survey(survey))


def group_of(survey: Survey) -> Group:
    """The group of the first question."""
    group = survey.questions[0].group
    assert group is not None
    return group


def joint_of(survey: Survey) -> KAry:
    """Its one response."""
    joint = group_of(survey).joint
    assert joint is not None
    return joint


def answers_of(survey: Survey) -> list[tuple[int, ...]]:
    """All that people can answer to all questions."""
    return list(itertools.product(*(question.mechanism.answer_range for question in survey.questions)))


def published_output(survey: Survey, answers: Sequence[int]) -> Likely:
    """How likely each report of a group is, from the published integers alone: all sets alike, then the mechanisms."""
    group = group_of(survey)
    k = [question.mechanism.k for question in survey.questions]
    found: Likely = {}
    for asked in itertools.combinations(range(group.size), group.draw):
        truth = [answers[place] for place in asked]
        for pattern in itertools.product(*(range(k[place]) for place in asked)):
            if group.joint is None:
                matrices = [design_of(survey.questions[place].mechanism).channel_matrix for place in asked]
                factors = [matrix[sent][given] for matrix, sent, given in zip(matrices, pattern, truth, strict=True)]
                chance = math.prod(factors, start=Fraction(1))
            else:
                chance = Fraction(group.joint.keep if list(pattern) == truth else group.joint._other, UNIT)
            sent = dict(zip(asked, pattern, strict=True))
            found[tuple(sent.get(place) for place in range(group.size))] = chance / math.comb(group.size, group.draw)
    return found

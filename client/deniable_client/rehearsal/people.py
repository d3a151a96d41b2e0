"""Made-up people for a rehearsal: their true answers, with a relation between some if an analysis looks for it."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.errors import ParameterError, shown
from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable_client.device import applying

Answers = dict[str, Any]
"""Question id to the true answer, as devices take it: a label, a list of labels, or a number."""

USUAL_SHARE = 0.3
"""The share of yes, and of each box, that is put in if nothing is said."""

_FORMULA = re.compile(r"\s*(\w+)\s*~\s*(\w+(?:\s*\+\s*\w+)*)\s*")

_COHORT = re.compile(r"~.*\bcohort\b", re.DOTALL)

BY_COHORT = (
    "for shares that differ by cohort, use --cohort-truth instead; 'deniable simulate --formula' has the power of "
    "models with cohorts, and writes no data file"
)
"""What somebody can do who wants cohorts in the formula of a rehearsal."""

MOST_EFFECT = 20
"""Largest log odds ratio of a predictor: from there on an answer decides another one as good as surely."""


@dataclass(frozen=True)
class Relation:
    """A logistic relation of yes-no questions: each yes of a predictor adds ``effect`` to the log-odds of the outcome.

    Attributes
    ----------
    outcome : str
    predictors : tuple of str
    effect : float
        Log of the odds ratio.
    """

    outcome: str
    predictors: tuple[str, ...]
    effect: float

    @classmethod
    def parse(cls, formula: str, survey: Survey, effect: float) -> Relation:
        """Read ``drunk ~ stressed + tired``.

        Raises
        ------
        ParameterError
            If it has another form, or names anything but different yes-no questions without a filter.
        """
        found = _FORMULA.fullmatch(formula)
        if found is None:
            way_out = f"; {BY_COHORT}" if survey.cohorts and _COHORT.search(formula) else ""
            raise ParameterError(f'formula: must be like "drunk ~ stressed + tired", got {shown(formula)}{way_out}')
        names = (found[1], *(each.strip() for each in found[2].split("+")))
        yes_no = {each.id for each in survey.questions if each.noise_kind.is_yes_no}
        for name in names:
            if name not in yes_no:
                known = ", ".join(sorted(yes_no)) or "none"
                way_out = "without a formula the answers to all questions are independent"
                if survey.cohorts and _COHORT.search(formula):
                    way_out = BY_COHORT
                raise ParameterError(
                    f"formula: must be of yes-no questions that everybody is asked ({known}), got {shown(name)}; "
                    f"{way_out}"
                )
        if len(set(names)) < len(names):
            raise ParameterError(f"formula: must name each question once, got {shown(formula)}")
        if not abs(effect) <= MOST_EFFECT:
            raise ParameterError(f"effect: must be a log odds ratio within ±{MOST_EFFECT}, got {effect:g}")
        return cls(names[0], names[1:], effect)

    def intercept(self, share: float, predictors: Sequence[float]) -> float:
        """The log-odds of the outcome without any predictor, for this share in all and these of the predictors."""
        patterns = [
            (sum(pattern), math.prod(p if each else 1 - p for p, each in zip(predictors, pattern, strict=True)))
            for pattern in itertools.product((0, 1), repeat=len(predictors))
        ]
        # Log-odds of 50 differ from certainty by 2e-22, which a float cannot show.
        low, high = -50.0, 50.0
        # The share in all rises with the intercept, so that bisection finds the one that makes it.
        for _ in range(80):
            middle = (low + high) / 2
            found = sum(chance * _logistic(middle + self.effect * yes) for yes, chance in patterns)
            low, high = (middle, high) if found < share else (low, middle)
        return low


def read_truths(given: Sequence[str], survey: Survey) -> dict[str, tuple[float, ...]]:
    """The shares of options, like ``affair=0.3`` or ``often=0.5,0.3,0.2``, by question.

    One share is that of yes, or of each box; of other questions there is one for each option.

    Raises
    ------
    ParameterError
        If there is no such question, or they are not shares of its options.
    """
    truths: dict[str, tuple[float, ...]] = {}
    for each in given:
        name, equals, text = each.partition("=")
        question = next((q for q in survey.questions if q.id == name.strip()), None)
        if question is None or not question.options:
            raise ParameterError(f"truth: must be of a question with options, like affair=0.3, got {shown(each)}")
        try:
            shares = tuple(float(part) for part in text.split(","))
        except ValueError:
            shares = ()
        if not equals or not shares or not all(0 <= share <= 1 for share in shares):
            raise ParameterError(f"truth: must be shares from 0 to 1, like affair=0.3, got {shown(each)}")
        if question.kind.is_yes_no and len(shares) == 1:
            shares = (1 - shares[0], shares[0], *(0.0 for _ in question.last))
        if question.kind.takes_several and len(shares) == 1:
            shares *= len(question.choices)
        whole = question.kind.takes_several or abs(math.fsum(shares) - 1) < 1e-6
        if len(shares) != len(question.choices) or not whole:
            raise ParameterError(f"truth: {name} must have {len(question.choices)} shares that add up to 1, got {text}")
        truths[question.id] = shares
    return truths


def read_cohort_truths(given: Sequence[tuple[str, str]], survey: Survey) -> dict[str, dict[str, tuple[float, ...]]]:
    """The shares in cohorts, like ``("final year", "affair=0.3")``, by cohort and question.

    Raises
    ------
    ParameterError
        If the survey has no such cohort, or as `read_truths`.
    """
    for cohort, _ in given:
        if cohort not in survey.cohorts:
            known = ", ".join(survey.cohorts) or "it has none"
            raise ParameterError(f"cohort-truth: must name a cohort of the survey ({known}), got {shown(cohort)}")
    cohorts = dict.fromkeys(cohort for cohort, _ in given)
    return {each: read_truths([text for cohort, text in given if cohort == each], survey) for each in cohorts}


def usual_shares(question: Question) -> tuple[float, ...]:
    """What is put in if nothing is said: fewer people for each later option."""
    k = len(question.choices)
    if question.kind.is_yes_no:
        return (1 - USUAL_SHARE, USUAL_SHARE, *(0.0 for _ in question.last))
    if question.kind.takes_several:
        return (USUAL_SHARE,) * k
    return tuple(2 * (k - place) / (k * (k + 1)) for place in range(k))


def make_people(
    survey: Survey,
    n: int,
    truths: Mapping[str, tuple[float, ...]],
    relation: Relation | None,
    dice: random.Random,
) -> list[Answers]:
    """The true answers of ``n`` people."""
    shares = {each.id: truths.get(each.id) or usual_shares(each) for each in survey.questions if each.options}
    if relation is None:
        everybody = ({each.id: _answer(each, shares, dice) for each in survey.questions} for _ in range(n))
        return [_as_asked(survey, answers) for answers in everybody]
    of_predictors = [shares[name][1] for name in relation.predictors]
    intercept = relation.intercept(shares[relation.outcome][1], of_predictors)
    outcome = next(each for each in survey.questions if each.id == relation.outcome)
    people = []
    for _ in range(n):
        answers = {each.id: _answer(each, shares, dice) for each in survey.questions}
        yes = sum(answers[name] == _yes(survey, name) for name in relation.predictors)
        chance = _logistic(intercept + relation.effect * yes)
        answers[outcome.id] = outcome.options[int(dice.random() < chance)]
        people.append(_as_asked(survey, answers))
    return people


def make_people_of_cohorts(
    survey: Survey,
    n: int,
    truths: Mapping[str, tuple[float, ...]],
    of_cohorts: Mapping[str, Mapping[str, tuple[float, ...]]],
    dice: random.Random,
) -> list[Answers]:
    """The true answers of ``n`` people, of whose cohorts some have shares of their own; cohorts take turns."""
    k = len(survey.cohorts)
    people: list[Answers] = [{} for _ in range(n)]
    for place, cohort in enumerate(survey.cohorts):
        size = len(range(place, n, k))
        people[place::k] = make_people(survey, size, {**truths, **of_cohorts.get(cohort, {})}, None, dice)
    return people


def true_figures(people: Sequence[Answers], survey: Survey) -> dict[tuple[str, str, str | None], float]:
    """The true figures of these people, by the statistic, question id and option of the estimates.

    They are the share of each option, among everybody and, of a question with a filter, among those to whom it applies;
    and the mean of those who give a number, with the option None.
    """
    found: dict[tuple[str, str, str | None], float] = {}
    for question in survey.questions:
        answers = [person[question.id] for person in people if question.id in person]
        for option in question.choices:
            holds = sum(option in each if question.kind.takes_several else each == option for each in answers)
            found["share", question.id, str(option)] = holds / len(people)
            if question.ask_if and answers:
                found["among", question.id, str(option)] = holds / len(answers)
        if question.ask_if and question.options:
            found["share", question.id, str(question.options[-1])] = 1 - len(answers) / len(people)
        if question.kind.has_numbers and answers:
            found["mean", question.id, None] = math.fsum(float(each) for each in answers) / len(answers)
    return found


def _yes(survey: Survey, name: str) -> str:
    return next(each.options[1] for each in survey.questions if each.id == name)


def _as_asked(survey: Survey, answers: Answers) -> Answers:
    """The answers without those to questions that do not apply to this person, whom the device does not ask."""
    asked = {each.id for each in applying(survey.questions, answers)}
    return {name: answer for name, answer in answers.items() if name in asked}


def _answer(question: Question, shares: Mapping[str, tuple[float, ...]], dice: random.Random) -> Any:
    if not question.options:
        numbers = question.numbers
        return round(dice.triangular(numbers[0], numbers[-1], numbers[0]))
    if question.kind.takes_several:
        ticked = [n for n, p in enumerate(shares[question.id]) if dice.random() < p]
        # Beside these nothing else is ticked: whoever has ticked something else would not.
        return [question.choices[n] for n in _without_exclusive(ticked, question.exclusive)]
    return dice.choices(question.choices, shares[question.id])[0]


def _without_exclusive(ticked: Sequence[int], exclusive: Collection[int]) -> Sequence[int]:
    """The boxes that somebody ticks, of those that were drawn one by one."""
    return [n for n in ticked if n not in exclusive] or ticked[:1]


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))

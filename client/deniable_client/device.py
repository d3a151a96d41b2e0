"""The device: the only module in which answers become reports.

Nothing in this module keeps, prints or raises an answer.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Collection, Mapping, Sequence

from deniable.access import issuer
from deniable.errors import AnswerError, NotInvited, ReportError, check_kind, describe
from deniable.exact import as_integer
from deniable.mechanisms import KAry
from deniable.mechanisms.base import Answer
from deniable.mechanisms.longitudinal import waves_of
from deniable.randomness import Word, system_word
from deniable.report.report import Report, new_report_id
from deniable.survey.document import Survey
from deniable.survey.patterns import Pattern
from deniable.survey.question import Question
from deniable.survey.question_types import AnswerKind
from deniable.wire.space import ReportValue, Value
from deniable_client.frames import answers_stay

Given = str | int | Sequence[str]
"""An answer as a person gives it."""


def draw_questions(survey: Survey, word: Word = system_word) -> tuple[str, ...]:
    """The ids of the questions that a device asks: all questions, except that those of groups are drawn by chance.

    Draw before anything is shown, and once for each person: a person who can draw again chooses the questions.
    """
    check_kind(survey, Survey, "survey")
    if not survey.is_drawn:
        return tuple(survey.checks)
    drawn = {
        unit.questions[place].id
        for unit in survey.units
        for place in (unit.group.draw_members(word) if unit.group else (0,))
    }
    # In the order of the survey, not of the draw: the order in which questions appear tells nothing.
    return tuple(name for name in survey.checks if name in drawn)


@answers_stay
def randomize(
    survey: Survey,
    answers: Mapping[str, Given],
    cohort: str | None = None,
    *,
    asked: Collection[str] | None = None,
    word: Word = system_word,
    report_id: str | None = None,
    credential: str | None = None,
) -> Report:
    """Mix chance into the answers to a survey; the result is all that may leave the device.

    Draw once for each person: every further draw of the same answers reveals more of them. The same holds for the waves
    of a longitudinal mechanism, unless a `Memory` keeps the permanent value of which they are drawn.

    Parameters
    ----------
    survey : Survey
    answers : mapping of str to str, int or sequence of str
        Question id to the label of the chosen option; for ticks the labels of the ticked boxes, for a scale the level
        as text or number, for a number the number. Every question of ``survey.shown(asked)`` must be there that applies
        to these answers; an answer to one that does not is dropped, and *does not apply* takes its place.
    cohort : str, optional
        The label on the link, one of the survey's cohorts.
    asked : collection of str, optional
        The ids that `draw_questions` gave before the person saw anything; without it this function draws them, and
        wants answers to all questions.
    word : callable
        Source of uniform 32-bit words: first for the draw of questions, then for the answers, in survey order.
    report_id : str, optional
        32 hexadecimal digits; by default random. A token brings its own.
    credential : str, optional
        The invitation, or the token of `Client.credential`, if the survey's reports need one. It was there before the
        answers, and so was the report id that a token determines.

    Raises
    ------
    AnswerError
        If a question is missing, unknown, or answered with something else than one of its options. The message
        names the question and its options, never what came.
    ReportError
        If the survey has no such cohort, if it requires a cohort and none is given, or if it asks other questions.
    NotInvited
        If the survey's reports need another credential, or none.
    """
    return _draw(survey, answers, cohort, asked, word, report_id, credential)


@answers_stay
def permanent(
    survey: Survey,
    answers: Mapping[str, Given],
    cohort: str | None = None,
    *,
    asked: Collection[str] | None = None,
    word: Word = system_word,
    report_id: str | None = None,
    credential: str | None = None,
) -> Report:
    """The report with the permanent values, which `Memory.once` keeps and nobody sends.

    They differ from the sent values if a mechanism has waves. The parameters are those of `randomize`.
    """
    return _draw(survey, answers, cohort, asked, word, report_id, credential, is_kept=True)


def _draw(
    survey: Survey,
    answers: Mapping[str, Given],
    cohort: str | None,
    asked: Collection[str] | None,
    word: Word,
    report_id: str | None,
    credential: str | None,
    *,
    is_kept: bool = False,
) -> Report:
    choices = true_answers(survey, answers, cohort, asked)
    needed = survey.credential or ""  # as in a report, where what is not needed is not there
    # An empty pattern matches the empty text alone, so a credential that is not needed is refused too.
    if not re.fullmatch(needed, credential or ""):
        raise NotInvited(f"credential: must be what access = {survey.access!r} needs, got {describe(credential)}")
    if survey.tokens and credential:
        # The id was fixed with the token, before there was an answer that it could depend on.
        report_id = issuer.report_id(issuer.nonce_of(credential))
    told = draw_questions(survey, word) if asked is None else asked
    return Report(report_id or new_report_id(), cohort, mixed(survey, choices, told, word, is_kept=is_kept), credential)


@answers_stay
def true_answers(
    survey: Survey, answers: Mapping[str, Given], cohort: str | None = None, asked: Collection[str] | None = None
) -> dict[str, Answer]:
    """The answers of one person as mechanisms take them, by question id. Draws nothing; raises as `randomize` does.

    They include those to questions that are not asked and decide whether another one applies.
    """
    check_kind(survey, Survey, "survey")
    if not isinstance(answers, Mapping):
        raise AnswerError("answers: must be a mapping from question ids to answers, got something else")
    if cohort is not None:
        check_kind(cohort, str, "cohort")
    if not survey.takes_cohort(cohort):
        came = "nothing: the link is incomplete" if cohort is None else repr(cohort)
        raise ReportError(f"cohort: must be one of {list(survey.cohorts)}, got {came}")
    wanted = tuple(survey.checks) if asked is None else survey.shown(asked)
    if asked is not None:
        survey.check_draw({each: 0 if each in asked else None for each in survey.checks})
    if not answers.keys() <= set(wanted):
        raise AnswerError(f"answers: must be to the questions {list(wanted)}, got one to another question")
    choices: dict[str, Answer] = {}
    for question in survey.questions:
        if question.id not in wanted:
            continue
        # Also of what does not apply: an error where it does alone would tell that, and so would the time of a check.
        is_given = question.id in answers
        given = true_answer(question, answers[question.id] if is_given else _some_answer(question))
        if question.ask_if and not question.ask_if.holds(choices):
            # Whatever was given is dropped here: what does not apply goes out as *does not apply*, through the noise.
            choices[question.id] = question.not_applicable
        elif is_given:
            choices[question.id] = given
        else:
            # The name of a question with a filter would tell that it applies.
            which = "every question that applies" if question.ask_if else f"question {question.id!r}"
            raise AnswerError(f"answers: {which} must be answered too; leaving it out would tell")
    return choices


@answers_stay
def applying(questions: Sequence[Question], answers: Mapping[str, Given]) -> tuple[Question, ...]:
    """The questions that apply to a person, as far as the answers tell.

    A question with a filter is among them once all that its filter is about is answered, or does not apply.
    """
    choices: dict[str, Answer] = {}
    found: list[Question] = []
    for each in questions:
        if each.ask_if:
            # Not known yet whether it applies, so it waits.
            if not choices.keys() >= set(each.ask_if.named):
                continue
            if not each.ask_if.holds(choices):
                choices[each.id] = each.not_applicable
                continue
        found.append(each)
        if each.id in answers:
            choices[each.id] = true_answer(each, answers[each.id])
    return tuple(found)


def mixed(
    survey: Survey, choices: Mapping[str, Answer], asked: Collection[str], word: Word, *, is_kept: bool = False
) -> dict[str, Value]:
    """The noisy values of a report, and None for questions that are not asked.

    With ``is_kept`` they are the values that a device keeps, instead of those that it sends.
    """
    values: dict[str, Value] = dict.fromkeys(survey.checks)
    for unit in survey.units:
        if unit.group and unit.group.joint:
            told = {each.id: choices[each.id] for each in unit.questions if each.id in asked}
            if unit.patterns:
                values |= _in_patterns(unit.group.joint, unit.patterns, told, word)
                continue
            values |= _in_one_response(unit.group.joint, unit.questions[0].mechanism.k, told, word)
            continue
        for each in unit.questions:
            if each.id in asked:
                # A memory keeps the permanent value; what is sent is a draw from it, made for each wave.
                waves = waves_of(each.mechanism) if is_kept else None
                values[each.id] = (waves.permanent if waves else each.mechanism.randomize)(choices[each.id], word)
    return values


def _in_patterns(
    joint: KAry, patterns: Sequence[Pattern], choices: Mapping[str, Answer], word: Word
) -> dict[str, ReportValue]:
    """The noisy values of questions of which some filter others: those of another pattern that is possible."""
    sent = joint.randomize(patterns.index(tuple(choices.values())), word)
    return dict(zip(choices, patterns[sent], strict=True))


def _in_one_response(joint: KAry, k: int, choices: Mapping[str, Answer], word: Word) -> dict[str, ReportValue]:
    """The noisy values, in order, of questions of ``k`` options that share a joint response."""
    pattern = 0
    for choice in choices.values():
        # The answers as digits to base k, the first question's highest: one option of the joint response.
        pattern = pattern * k + operator.index(choice)  # type: ignore[arg-type]  # one option, as the group checks
    sent = joint.randomize(pattern, word)
    # The digits of the pattern that is sent, the highest first.
    digits = [sent // k**place % k for place in reversed(range(len(choices)))]
    return dict(zip(choices, digits, strict=True))


@answers_stay
def true_answer(question: Question, given: object) -> Answer:
    """The answer as the mechanism takes it, from what a person gave.

    Raises
    ------
    AnswerError
        If the question cannot be answered so. The message never repeats what was given.
    """
    where = f"answers[{question.id!r}]"
    if question.kind.answers is AnswerKind.RANGE:
        return _number_in(question, given, where)
    if question.kind.takes_several:
        if isinstance(given, (str, bytes)) or not isinstance(given, Collection):
            raise AnswerError(f"{where}: must be a list of options out of {list(question.choices)}")
        ticked = [_option(question, label, where) for label in given]
        if len(set(ticked)) != len(ticked):
            raise AnswerError(f"{where}: must not name an option twice")
        # *None of these* beside another box would be two answers at once.
        if len(ticked) > 1 and not question.exclusive.isdisjoint(ticked):
            alone = [question.options[place] for place in sorted(question.exclusive)]
            raise AnswerError(f"{where}: must have each of {alone} alone, without another option")
        return ticked
    if question.kind.answers is AnswerKind.LEVELS and (level := as_integer(given)) is not None:
        # Options of a scale are the texts of its numbers.
        given = str(level)
    return _option(question, given, where)


def _some_answer(question: Question) -> Given:
    """An answer that somebody could give, whose check takes as long as that of another one."""
    if question.kind.answers is AnswerKind.RANGE:
        return range_of(question)[0]
    return [question.choices[0]] if question.kind.takes_several else question.choices[0]


def range_of(question: Question) -> tuple[int, int]:
    """The lowest and the highest possible answer to a question with numbers."""
    if question.options:
        return int(question.choices[0]), int(question.choices[-1])
    return question.numbers[0], question.numbers[-1]


def _option(question: Question, label: object, where: str) -> int:
    if not isinstance(label, str) or label not in question.choices:
        raise AnswerError(f"{where}: must be one of {list(question.choices)}")
    return question.options.index(label)


def _number_in(question: Question, given: object, where: str) -> int:
    lo, hi = range_of(question)
    number = as_integer(given)
    if number is None or not lo <= number <= hi:
        raise AnswerError(f"{where}: must be a whole number from {lo} to {hi}")
    return number

"""The asking of questions: typed lines become answers, which are printed only if the person asks to read them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from deniable import AnswerError, Question, odds_sentences
from deniable.survey.arrangement import Block, Presentation
from deniable.survey.question_types import AnswerKind
from deniable_client.answer import messages as m
from deniable_client.answer import screens
from deniable_client.device import Given, applying, range_of, true_answer

Answers = dict[str, Given]

AS_WRITTEN = Presentation(Block(()))
"""Nothing but the questions, with their options in the order of the document."""


class StopRequest(Exception):
    """The person typed the word stop."""


def ask_all(questions: Sequence[Question], presentation: Presentation = AS_WRITTEN, weak: int = 0) -> Answers:
    """Ask every question that applies and let the answers be reviewed.

    Parameters
    ----------
    questions : sequence of Question
        In the order in which they are shown.
    presentation : Presentation
        What stands before them, and the order of their options.
    weak : int
        A degree of `deniable.privacy.ceiling.weakness`, which decides what their figures are called.

    Raises
    ------
    StopRequest
        If the person types stop.
    """
    screens.show([m.TRUTHFULLY, m.HIDDEN])
    answers: Answers = {}
    number = 0
    # An answer changes which questions follow, so they are looked up anew after each.
    while number < len(route := applying(questions, answers)):
        begun = presentation.introduction(route[number].id, [each.id for each in route])
        screens.show(map(screens.own, begun))
        given = ask(route[number], screens.place(questions, number + 1), presentation, weak)
        if given is None:
            # Back at the first question stays there.
            number = max(number - 1, 0)
        else:
            answers[route[number].id] = given
            number += 1
    review(questions, answers, presentation, weak)
    return {each.id: answers[each.id] for each in applying(questions, answers)}


def review(questions: Sequence[Question], answers: Answers, presentation: Presentation, weak: int) -> None:
    """Let the person change answers until they type send."""
    while True:
        route = _completed(questions, answers, presentation, weak)
        screens.show([*screens.review(route), m.FINAL])
        wish = read(m.REVIEW_PROMPT)
        if wish == "send":
            return
        if wish == "show":
            with screens.aside():
                screens.show(screens.review(route, answers))
                read(m.SHOWN)
        # At most 100 questions: longer digits are a slip, and int would take any length.
        elif re.fullmatch(r"[0-9]{1,3}", wish) and 1 <= int(wish) <= len(route):
            asked = route[int(wish) - 1]
            given = ask(asked, screens.place(questions, int(wish)), presentation, weak)
            answers[asked.id] = answers[asked.id] if given is None else given
        else:
            screens.show([m.REVIEW_UNKNOWN])


def _completed(
    questions: Sequence[Question], answers: Answers, presentation: Presentation, weak: int
) -> Sequence[Question]:
    """The questions that apply, after those are asked that apply since an answer was changed."""
    while True:
        route = applying(questions, answers)
        missing = next((n for n, each in enumerate(route) if each.id not in answers), None)
        if missing is None:
            return route
        given = ask(route[missing], screens.place(questions, missing + 1), presentation, weak)
        if given is not None:
            answers[route[missing].id] = given


def ask(asked: Question, place: str, presentation: Presentation, weak: int) -> Given | None:
    """Ask one question until it is answered; None to go back."""
    choices = presentation.choices_of(asked)
    screens.show(screens.question(asked, place, choices))
    while True:
        wish = read(prompt_of(asked), hidden=True)  # not in the terminal's history, nor in a recording of it
        if wish == "back":
            return None
        if wish == "?":
            screens.show([f"{screens.odds_title(weak)}:\n" + "\n".join(odds_sentences(asked))])
            continue
        try:
            given = answer_from(asked, wish, choices)
        except AnswerError:
            screens.show([f"{m.MISSING} {screens.hint(asked)}", *([] if wish else [m.MISSING_WHY])])
            continue
        screens.show([m.TAKEN])
        return given


def read(prompt: str, *, hidden: bool = False) -> str:
    """Read a typed line, stripped and in lower case; raise StopRequest for the word stop.

    It is read without a shell or a line editor, so that no history keeps it.
    """
    line: str = click.prompt(prompt, default="", show_default=False, prompt_suffix="", hide_input=hidden)
    click.echo()
    # Before anything else is done with the line: stop must work everywhere.
    wish = line.strip().lower()
    if wish == "stop":
        raise StopRequest
    return wish


def answer_from(asked: Question, typed: str, choices: Sequence[str] | None = None) -> Given:
    """The answer that a typed line stands for, with the options as they are shown; by default as they are written.

    Raises
    ------
    AnswerError
        If the line stands for no answer. The message does not repeat it.

    Examples
    --------
    >>> from deniable import TickBoxes
    >>> drugs = Question("drugs", "ticks", "Which?", ("cannabis", "cocaine"), TickBoxes.from_epsilon(2, 1))
    >>> answer_from(drugs, "2 1"), answer_from(drugs, "0")
    (['cocaine', 'cannabis'], [])
    """
    given: object = None
    choices = choices or asked.choices
    if asked.kind.is_yes_no:
        # A letter is enough for two words. Numbers stand only beside three options: of two, a 1 may be meant as Yes.
        numbered = _option(choices, typed) if len(choices) > 2 else None
        given = {"n": "no", "y": "yes"}.get(typed) or numbered or typed
    elif asked.kind.answers is AnswerKind.LEVELS:
        given = typed
    elif asked.kind.answers is AnswerKind.RANGE:
        given = int(typed) if re.fullmatch(r"-?[0-9]{1,15}", typed) else None
    elif asked.kind.takes_several:
        given = [] if typed == "0" else [_option(choices, each) for each in re.split(r"[\s,]+", typed)]
    else:
        given = _option(choices, typed)
    true_answer(asked, given)
    return given  # type: ignore[return-value]  # true_answer refused every other type


def prompt_of(asked: Question) -> str:
    """The prompt of a question."""
    if asked.kind.is_yes_no and len(asked.choices) == len(asked.kind.options):
        return m.PROMPT_YES_NO
    if asked.kind.takes_several:
        return m.PROMPT_TICKS
    if not asked.kind.has_numbers:
        return m.PROMPT_CHOICE.format(k=len(asked.choices))
    lo, hi = range_of(asked)
    return m.PROMPT_NUMBER.format(lo=lo, hi=hi)


def _option(choices: Sequence[str], typed: str) -> str | None:
    number = int(typed) if re.fullmatch(r"[0-9]{1,4}", typed) else 0
    return choices[number - 1] if 1 <= number <= len(choices) else None

"""What scripts of other programs compute from a file of reports: each published share and mean, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from deniable.mechanisms.support import Support
from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable.wire.space import Bits, DrawnBits, Numbers
from deniable_statistics.designs.of_mechanisms import design_of, mean_values

_EXACT = 2**53
"""Bound below which all integers are exact in R, Stata and SPSS, whose numbers are doubles."""

MOST_SCORES = 120
"""Largest number of reports whose scores are written into a script."""


@dataclass(frozen=True)
class Share:
    """The estimation of one share: which reports have information on the option, and which of them support it.

    Attributes
    ----------
    question : Question
    column : int
        Number of the column in the file, counted from 1.
    option : str
    support : Support
    report : str or None
        The report that supports the option, if reports are numbers.
    at, drawn : int or None
        Otherwise the position of the character that is 1 if the report supports the option, counted from 1; and of the
        pair of characters that is 00 if the box was not drawn.
    """

    question: Question
    column: int
    option: str
    support: Support
    report: str | None = None
    at: int | None = None
    drawn: int | None = None


def shares_of(survey: Survey) -> Iterator[Share]:
    """All shares that the support formula estimates: of yes-no, k-ary and subset questions, and of boxes."""
    for column, question in enumerate(survey.questions, start=3):  # after id and cohort
        mechanism = question.mechanism
        supports = mechanism.support if question.has_shares else None
        for option, (name, support) in enumerate(zip(question.options, supports or (), strict=False)):
            about = (question, column, str(name), support)
            if isinstance(mechanism.reports, Numbers):
                yield Share(*about, report=str(mechanism.reports.first + option))
            elif isinstance(mechanism.reports, Bits):
                yield Share(*about, at=option + 2)  # after the b
            elif isinstance(mechanism.reports, DrawnBits):
                yield Share(*about, at=2 * option + 3, drawn=2 * option + 2)


@dataclass(frozen=True)
class Scored:
    """The estimation of a share or a mean as the average of scores, one for each report that can be sent.

    Attributes
    ----------
    question : Question
    column : int
        Number of the column in the file, counted from 1.
    option : str
        Empty for a mean.
    first : int
        The report that the first score is for; the next one is for the next number.
    scores : tuple of float
        What the report stands for: of a true answer ``x`` their expectation is 1 if it is the option and 0 if not, or
        the number of the answer.
    """

    question: Question
    column: int
    option: str
    first: int
    scores: tuple[float, ...]


def scored_of(survey: Survey) -> Iterator[Scored]:
    """All shares and means that are averages of scores: those without a count of their own, and means of numbers."""
    for column, question in enumerate(survey.questions, start=3):
        mechanism = question.mechanism
        design, reports = design_of(mechanism), mechanism.reports
        if not isinstance(reports, Numbers) or reports.size > MOST_SCORES:
            continue
        about = (question, column)
        if question.has_shares and mechanism.support is None:
            weights, constants = design.debiasing
            for option, name in enumerate(question.options):
                scores = constants[option] + weights[option]
                yield Scored(*about, str(name), reports.first, tuple(map(float, scores)))
        # A mean among those to whom a question applies is a ratio.
        if (values := mean_values(question)) is not None and not question.ask_if:
            weights_of_mean, constant = design.mean_weights(values)
            yield Scored(*about, "", reports.first, tuple(constant + each for each in weights_of_mean))


def left_out(survey: Survey) -> list[str]:
    """Sentences on what scripts leave out."""
    told = {(each.question.id, each.option == "") for each in scored_of(survey)}
    told |= {(each.question.id, False) for each in shares_of(survey)}
    found = []
    for question in survey.questions:
        way = f"{question.id} ({question.mechanism.name})"
        if question.has_shares and (question.id, False) not in told:
            found.append(f"{way}: its shares are left out, they take more: see deniable analyze shares")
        if question.ask_if:
            found.append(f"{way}: shares among those to whom it applies are left out: see deniable verify")
        elif mean_values(question) is not None and (question.id, True) not in told:
            found.append(f"{way}: its mean is left out, it takes more: see deniable verify")
    if any(True for _ in scored_of(survey)):
        found.append("intervals of rows without a count are left out, they take a likelihood: see deniable verify")
    return found


def number(value: Fraction) -> str:
    """A probability: a fraction if its integers are exact in these programs, else a decimal with all its digits."""
    if value.denominator < _EXACT:
        return f"{value.numerator} / {value.denominator}"
    return repr(float(value))

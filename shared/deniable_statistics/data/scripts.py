"""Scripts for R and Stata that compute the published estimates from a file of reports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from deniable.access.words import ONE_REPORT
from deniable.errors import ParameterError
from deniable.mechanisms.support import Support
from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable.wire.space import Bits, DrawnBits, Numbers

_EXACT = 2**53
"""Bound below which all integers are exact in R and Stata, whose numbers are doubles."""


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


def r_script(survey: Survey, file: str) -> str:
    """A script for base R.

    Parameters
    ----------
    survey : Survey
    file : str
        The CSV of its reports, in the folder where R runs.

    Notes
    -----
    A share is ``(p - b) / (a - b)`` and its standard error ``sqrt(p (1 - p) / n) / (a - b)``, with ``p`` the share of
    the ``n`` reports that support the option, and ``a`` and ``b`` how likely that is if the option is true and if
    another one is.
    """
    lines = [
        f"# Shares of the survey {survey.id} from its noisy reports, with standard errors. Base R.",
        "# a, b: probability that a report supports an option if it is true, and if another one is.",
        f"# n counts reports; {ONE_REPORT[survey.access]}.",
        *_left_out(survey),
        # All columns as texts, because R would read 0101 as a number.
        f'reports <- read.csv({_r_text(file)}, header = FALSE, skip = 1, colClasses = "character", na.strings = "")',
        "share <- function(question, option, supports, a, b) {",
        "  supports <- supports[!is.na(supports)]",
        "  n <- length(supports)",
        "  p <- if (n > 0) mean(supports) else NA",
        "  data.frame(question = question, option = option, n = n, count = sum(supports),",
        "    estimate = (p - b) / (a - b), std_error = sqrt(p * (1 - p) / n) / (a - b))",
        "}",
        "results <- rbind(",
        ",\n".join(
            f"  share({_r_text(each.question.id)}, {_r_text(each.option)}, {_r_supports(each)}, {_pair(each.support)})"
            for each in shares_of(survey)
        ),
        ")",
        "print(results, digits = 8)",
    ]
    return "\n".join(lines) + "\n"


def stata_script(survey: Survey, file: str) -> str:
    """A do-file for Stata 14 or newer; the formula is that of `r_script`.

    Raises
    ------
    ParameterError
        If the name of the file means something to Stata.
    """
    if re.search(r"[\"`$']", file):
        raise ParameterError("scripts: name of the file must hold no quotes and no $, which Stata would read")
    lines = [
        f"* Shares of the survey {survey.id} from its noisy reports, with standard errors.",
        "* a, b: probability that a report supports an option if it is true, and if another one is.",
        f"* n counts reports; {ONE_REPORT[survey.access]}.",
        *(f"*{line[1:]}" for line in _left_out(survey)),
        # From 14 on Stata reads UTF-8.
        "version 14",
        f'import delimited using "{file}", varnames(nonames) rowrange(2) stringcols(_all) encoding("utf-8") clear',
        "tempname results",
        "tempfile shares",
        "postfile `results' str40 question long option double(n count estimate std_error) using \"`shares'\"",
        "capture program drop deniable_share",
        "program define deniable_share",
        "    args results question option supports a b",
        "    quietly summarize `supports'",
        "    local n = r(N)",
        "    local p = r(mean)",
        "    post `results' (\"`question'\") (`option') (`n') (r(sum)) ((`p' - `b') / (`a' - `b')) ///",
        "        (sqrt(`p' * (1 - `p') / `n') / (`a' - `b'))",
        "end",
    ]
    labels = []
    for number, each in enumerate(shares_of(survey), start=1):
        name = f"v{each.column}"
        asked = f'{name} != ""' if each.drawn is None else f'{name} != "" & substr({name}, {each.drawn}, 2) != "00"'
        supports = f'{name} == "{each.report}"' if each.at is None else f'substr({name}, {each.at}, 1) == "1"'
        a, b = (f"({_number(chance)})".replace(" ", "") for chance in each.support)  # a space would end an argument
        lines += [
            f"quietly generate byte supports{number} = {supports} if {asked}",
            f"deniable_share `results' {each.question.id} {number} supports{number} {a} {b}",
        ]
        labels.append(f'label define option {number} "{_stata_text(each.option)}", add')
    lines += ["postclose `results'", 'use "`shares\'", clear', *labels]
    lines += ["label values option option", "format estimate std_error %12.0g", "list, sepby(question) noobs"]
    return "\n".join(lines) + "\n"


def _left_out(survey: Survey) -> list[str]:
    """R comments on the questions that the formula does not cover."""
    told = {each.question.id for each in shares_of(survey)}
    return [
        f"# {question.id} ({question.mechanism.name}) is left out, its estimates take more: see deniable analyze shares"
        for question in survey.questions
        if question.id not in told
    ]


def _r_supports(share: Share) -> str:
    column = f"reports[[{share.column}]]"
    if share.at is None:
        return f'{column} == "{share.report}"'
    supports = f'substr({column}, {share.at}, {share.at}) == "1"'
    if share.drawn is None:
        return f"ifelse(is.na({column}), NA, {supports})"
    return f'ifelse(substr({column}, {share.drawn}, {share.at}) %in% c(NA, "00"), NA, {supports})'


def _pair(support: Support) -> str:
    return ", ".join(map(_number, support))


def _number(value: Fraction) -> str:
    """A probability in R and Stata: a fraction if its integers are exact there, else a decimal with all its digits."""
    if value.denominator < _EXACT:
        return f"{value.numerator} / {value.denominator}"
    return repr(float(value))


def _r_text(text: str) -> str:
    r"""A text as an R string in ASCII, with all other characters escaped.

    >>> print(_r_text('a "b" \\ ü'))
    "a \"b\" \\ \u00fc"
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(each if " " <= each <= "~" else _r_escape(ord(each)) for each in escaped) + '"'


def _r_escape(point: int) -> str:
    return f"\\u{point:04x}" if point < 2**16 else f"\\U{point:08x}"


def _stata_text(text: str) -> str:
    """A text without the characters that have a meaning in Stata."""
    return re.sub(r"[^\w .,:;!?()/+&-]", " ", text)


__all__ = ["Share", "r_script", "shares_of", "stata_script"]

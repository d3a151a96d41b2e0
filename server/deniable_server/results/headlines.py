"""The results of a question in plain words, as far as they are significant, in the language of their reader."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from deniable import EstimateRow, Question
from deniable_server.language import words as words_of
from deniable_server.results.drawing import digits_by_statistic, spoken_row
from deniable_server.results.written import Words, localized, percentage_points
from deniable_statistics.published.charts import SHARES, Axis
from deniable_statistics.published.leading import LargestEstimate, largest_estimate, most_frequent
from deniable_statistics.published.steady_text import steady
from deniable_statistics.views.shown import (
    Spoken,
    axis_of,
    common_digits,
    is_weak,
    is_wide,
    quoted_intervals,
    shown_point,
    spoken,
)
from deniable_statistics.views.view_row import ViewRow

MOST_HEADLINES = 6
"""Largest number of cohorts for which a question has sentences."""

LEAST_LEVEL = 0.95
"""Lowest confidence level of intervals that are put into sentences."""

MOST_DIFFERENCES_SAID = 6
"""Largest number of differences of a view that are put into sentences, the largest first."""


@dataclass(frozen=True)
class Headline:
    """One sentence about the results of a question.

    `option` is the most frequent answer, which a comparison of all answers names, and `said` is empty then: its number
    and interval stand beside it, and an interval that allows for the choice would be a second one for one thing.

    `sentence` is the whole sentence where there is a finding, with ``{option}`` or ``{unit}`` for a label of the
    author, and empty where there is none. `printed` is the sentence to print, with ``{of}``, ``{question}`` and
    ``{level}`` too; it is empty where nothing should be printed. `largest` is the answer with the largest estimate,
    where none leads for certain. `is_about_lead` is true where all answers were compared to say what leads.
    """

    what: str
    cohort: str | None
    option: str | None
    said: str
    sentence: str = ""
    printed: str = ""
    largest: str | None = None
    is_about_lead: bool = False


def headlines(question: Question, rows: Sequence[EstimateRow], words: Words | None = None) -> list[Headline]:
    """The results of a question in plain words, as far as they are significant; in English by default.

    A yes-no question has the share of yes, and numbers have their mean, for each cohort; these figures are chosen
    before anybody answers. Other questions have the most frequent answer of everybody, if a comparison of all answers
    identifies it (see `deniable_statistics.published.leading`), but not by cohort, which would be many comparisons. A
    flagged row has no number: its interval is short because the data contradict the design.
    """
    words = words_of("en") if words is None else words
    cohorts = list(dict.fromkeys(row.cohort for row in rows))
    # Each sentence may be wrong with probability 0.05: with many of them, one of them probably is.
    if len(cohorts) > MOST_HEADLINES:
        return []
    if fixed := _fixed(question, rows):
        what = _what(question, words)
        # One option that does not fit the design casts doubt on all numbers of that cohort.
        flagged = {row.cohort for row in rows if row.flag}
        return [
            Headline(what, row.cohort, None, words["rHardly"])
            if row.cohort in flagged
            else _figure(question, what, row, words, _digits(question, rows, row.statistic))
            for row in fixed
            if row.estimate is not None
        ]
    most = _of_everybody(question, rows, words) if cohorts == [None] else None
    return [] if most is None else [most]


def _fixed(question: Question, rows: Sequence[EstimateRow]) -> list[EstimateRow]:
    """The figures that were chosen before anybody answered, so that their intervals need not allow for a selection."""
    option = question.kind.headline
    if option is None:
        return [row for row in rows if row.statistic == "mean"]
    whose = "among" if question.ask_if else "share"
    return [row for row in rows if row.statistic == whose and row.option == question.options[option]]


def _of_everybody(question: Question, rows: Sequence[EstimateRow], words: Words) -> Headline | None:
    """The most frequent answer of everybody; of a question with a filter only that the replies are too few to say."""
    if not question.ask_if:
        return _most_frequent(question, rows, words)
    # Most often *does not apply* would lead, which says nothing of the answers.
    has_replies = any(row.n for row in rows)
    return _vague(_most(question, words), words) if has_replies and all(is_weak(row, SHARES) for row in rows) else None


def _digits(question: Question, rows: Sequence[EstimateRow], statistic: str) -> int:
    """The digits of the figure of these rows, so that a sentence has the numbers that stand there."""
    axis = axis_of(question, statistic)
    quoted = quoted_intervals([row for row in rows if row.statistic == statistic], axis)
    return common_digits(quoted, 1 if statistic == "mean" else 100)


def _figure(question: Question, what: str, row: EstimateRow, words: Words, digits: int) -> Headline:
    """The sentence on one figure, which is fixed before anybody answers."""
    axis = axis_of(question, row.statistic)
    numbers = _spoken(row, axis, digits)
    said = in_words(row, axis, words, digits)
    if numbers is None:
        is_vague = said == words["rWeak"] and row.n > 0
        return Headline(what, row.cohort, None, said, printed=words["rPrintWeak"] if is_vague else "")
    is_mean = question.kind.headline is None
    among, of_all = ("rMeanIsApplies", "rMeanIs") if is_mean else ("rSaysYesApplies", "rSaysYes")
    text = _with_numbers(words[among if question.ask_if else of_all], numbers, words)
    printed = _with_numbers(words["rPrintMean" if is_mean else "rPrintYes"], numbers, words)
    return Headline(what, row.cohort, None, said, text, printed)


def _with_numbers(sentence: str, numbers: Spoken, words: Words) -> str:
    """A sentence with its numbers; places for texts, which may hold braces, stay as they are."""
    for name, each in numbers._asdict().items():
        sentence = sentence.replace(f"{{{name}}}", localized(each, words))
    return sentence


def _vague(what: str, words: Words) -> Headline:
    """The headline where the replies are too few to say."""
    return Headline(what, None, None, words["rWeak"], printed=words["rPrintWeak"])


def _what(question: Question, words: Words) -> str:
    """What a sentence is about: yes, or the mean, and of whom."""
    if question.kind.headline is None:
        return words["rMeanApplies"] if question.ask_if else words["rMeanSays"]
    return words["rWhereApplies"].format(option=words["yes"]) if question.ask_if else words["yes"]


def _most(question: Question, words: Words) -> str:
    """What a sentence on the most frequent answer is about."""
    return words["rTicked"] if question.kind.takes_several else words["rMost"]


def _most_frequent(question: Question, rows: Sequence[EstimateRow], words: Words) -> Headline | None:
    """The most frequent answer; None without reports. If misbehaviour or fakes are assumed, that it is not said."""
    if any(row.estimate is None for row in rows):
        return None
    what = _most(question, words)
    if any(row.flag for row in rows):
        return Headline(what, None, None, words["rHardly"])
    if any(row.assumed_fake or row.misbehaving for row in rows):
        return Headline(what, None, None, words["rNoLead"])
    level = rows[0].conf_level
    largest = largest_estimate(question.mechanism, rows, level)
    found = None if largest is None else most_frequent(question.mechanism, rows, level, largest)
    if found is None:
        is_vague = any(is_wide(row.conf_low, row.conf_high, SHARES) for row in rows)
        return _vague(what, words) if is_vague else _largest(question, what, rows, words, largest)
    row = rows[found.option]
    # Too wide even for the one that was chosen: then the name would promise more than the number beside it can hold.
    digits = _digits(question, rows, row.statistic)
    numbers = None if is_wide(*found.interval, SHARES) else _spoken(row, SHARES, digits)
    if numbers is None:
        return _vague(what, words)
    text = words["rTickedIs" if question.kind.takes_several else "rMostIs"]
    printed = _with_numbers(words["rPrintMost"], numbers, words)
    return Headline(what, None, row.option, "", text, printed, is_about_lead=True)


def _largest(
    question: Question, what: str, rows: Sequence[EstimateRow], words: Words, found: LargestEstimate | None
) -> Headline:
    """The answer with the largest estimate where none leads for certain, and what its lead may be.

    The lead has an interval that allows for the choice of the largest. That of its share does not, so it is not said.
    """
    points = [shown_point(row, SHARES) for row in rows]
    known = [each for each in points if each is not None]
    if found is None or len(known) < len(rows) or points[found.option] != max(known) or known.count(max(known)) > 1:
        return Headline(what, None, None, words["rNoneAhead"], printed=words["rPrintNone"], is_about_lead=True)
    # Outwards, so that the stated lead contains the computed one; and no share is further than 100 points from another.
    behind, ahead = (min(100, math.ceil(100 * abs(each) - 1e-9)) for each in found.lead)
    digits = _digits(question, rows, rows[found.option].statistic)
    value = localized(f"{100 * max(known):.{digits}f}", words)
    values = {"value": value, "behind": f"{behind}", "ahead": f"{ahead}"}
    values["points"] = percentage_points(values["behind"], words)
    said, printed = words["rLargest"], words["rPrintLargest"]
    for name, each in values.items():
        said, printed = (text.replace(f"{{{name}}}", each) for text in (said, printed))
    return Headline(what, None, None, "", said, printed, rows[found.option].option, is_about_lead=True)


def in_words(row: EstimateRow, axis: Axis, words: Words | None = None, digits: int | None = None) -> str:
    """An estimate in words, such as *about 15 %, between 8 and 22 %*, or that the interval is too wide.

    Ends are rounded outwards, so that the stated interval contains the computed one.
    """
    words = words_of("en") if words is None else words
    if shown_point(row, axis) is None:
        return words["rImpossible"]
    said = _spoken(row, axis, digits)
    if said is None:
        return words["rWeak"]
    text = words["rAboutShare"] if axis is SHARES else words["rAboutNumber"]
    return text.format(**{name: localized(each, words) for name, each in said._asdict().items()})


def _spoken(row: EstimateRow, axis: Axis, digits: int | None = None) -> Spoken | None:
    """The numbers of a sentence; None where nothing is possible, or the interval is too wide for a number."""
    low, high = max(row.conf_low, axis.low), min(row.conf_high, axis.high)
    point = shown_point(row, axis)
    if point is None or is_wide(low, high, axis):
        return None
    return spoken(point, low, high, 100 if axis is SHARES else 1, digits)


def certain_differences(
    rows: Sequence[ViewRow], words: Words, label: Mapping[str, str], group: Mapping[str, str] | None = None
) -> list[str]:
    """The differences of a view that are certain, in words; see `certain_rows`.

    ``label`` has the option as it is shown, by the option of the survey, and ``group`` the answers that make groups
    where two questions are crossed.
    """
    # Of all rows, as in figure and table, and not of those that are said alone.
    digits = digits_by_statistic(rows)
    said = [(row, digits[row.statistic]) for row in certain_rows(rows)]
    return [difference_in_words(row, SAID, words, label, group or {}, each) for row, each in said]


def certain_rows(rows: Sequence[ViewRow]) -> list[ViewRow]:
    """The differences of a view that are certain, the largest first: those whose interval excludes 0.

    All intervals hold together, so their sentences do: one of them or more is false with the probability that the
    level leaves, however many there are.
    """
    certain = [row for row in rows if row.value is not None and (row.conf_low > 0 or row.conf_high < 0)]
    # By the end that is nearer to 0: what is large for certain comes first, not what is widest.
    return sorted(certain, key=lambda row: -min(abs(row.conf_low), abs(row.conf_high)))[:MOST_DIFFERENCES_SAID]


SAID = {"difference": "rMoreShare", "mean difference": "rMoreMean", "row difference": "rMoreAmong"}
"""Names of the sentences on a page about differences, by statistic."""

PRINTED = {"difference": "rPrintMoreShare", "mean difference": "rPrintMoreMean", "row difference": "rPrintMoreAmong"}
"""Names of those to print, which say the question too."""


def difference_in_words(
    row: ViewRow,
    names: Mapping[str, str],
    words: Words,
    label: Mapping[str, str],
    group: Mapping[str, str],
    digits: int | None = None,
    **texts: str,
) -> str:
    """A difference as a sentence; ``texts`` has what the sentence says besides groups, option and numbers."""
    assert row.value is not None
    assert row.low is not None
    assert row.high is not None
    # Said from the larger group, so that no sentence has a negative number.
    whose = row.given_option if row.statistic == "row difference" else row.cohort
    more, less = (whose, row.minus) if row.value > 0 else (row.minus, whose)
    least, most = sorted((abs(row.low), abs(row.high)))
    said = spoken_row(replace(row, value=abs(row.value), low=least, high=most), digits)
    assert said is not None
    ends = {name: localized(each, words) for name, each in said._asdict().items()}
    groups = {name: group.get(each or "", steady(each or "")) for name, each in (("more", more), ("less", less))}
    option = label.get(row.option, steady(row.option))
    texts["points"] = percentage_points(said.value, words)
    return words[names[row.statistic]].format(option=option, **groups, **ends, **texts)

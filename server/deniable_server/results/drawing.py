"""The figures of results: what their panels, their labels and their values are, in the language of the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from deniable import EstimateRow, Question
from deniable_server.results.crossed_view import shown_rows, sizes
from deniable_server.results.plain_method import DIFFERENCES
from deniable_server.results.written import Words, author_text, localized, points_behind
from deniable_statistics.published.charts import SHARES, Axis, Mark, Panel
from deniable_statistics.published.steady_text import steady
from deniable_statistics.views.shown import Spoken, axis_of, common_digits, spoken
from deniable_statistics.views.view_row import POSSIBLE_DIFFERENCES, ViewRow
from deniable_statistics.views.view_rows import difference_axis

MOST_ROWS = 600
"""Largest number of intervals that a page draws; the table and the CSV have all of them."""


def can_draw(rows: Sequence[EstimateRow] | Sequence[ViewRow]) -> bool:
    """Whether there is something to draw, and not too much."""
    return 0 < len(rows) <= MOST_ROWS


@dataclass(frozen=True)
class Labels:
    """The words of a survey's texts in one language.

    Attributes
    ----------
    words : mapping of str to str
        The sentences of the language, with its tag as ``lang``.
    waves : mapping of str to str
        What waves are called, by the addresses of their surveys; or releases, by their numbers.
    wave : str
        What the column of waves is called.
    """

    words: Words
    waves: Mapping[str, str] = field(default_factory=dict)
    wave: str = ""

    def text(self, text: str) -> str:
        """A text of the survey's author."""
        return author_text(text, self.words)

    def option(self, question: Question, option: str) -> str:
        """An option of a question; a mean has none."""
        if not option:
            unit = f" ({self.text(question.unit)})" if question.unit else ""
            return self.words["rMean"] + unit
        if option in question.kind.options:
            return self.words[option]
        if option not in question.options:
            return steady(option)
        # The option of the survey, which knows its translations.
        return self.text(question.options[question.options.index(option)])

    def row(self, question: Question, row: ViewRow | EstimateRow) -> str:
        """The option of a row; of a share among those to whom a question applies, with that."""
        option = self.option(question, row.option)
        return self.words["rWhereApplies"].format(option=option) if row.statistic == "among" else option

    def cohort(self, cohort: str | None) -> str:
        """A cohort, which has one name in all languages."""
        return self.words["rNoCohort"] if cohort is None else steady(cohort)

    def value(self, row: ViewRow, digits: int | None = None) -> str:
        """The value of a row with its interval, or that the replies are too few; ``digits`` are those of its figure."""
        said = spoken_row(row, digits)
        if said is None:
            return self.unknown(row)
        if row.weak:
            return self.words["rWeak"]
        span = self.words["rTo"].format(low=said.low, high=said.high)
        return localized(f"{said.value}{self.unit(row, said)} ({span})", self.words)

    def unknown(self, row: ViewRow) -> str:
        """What stands in place of a value: that there are no replies, or too few of them or of the people."""
        if row.estimate is not None:
            return self.words["rWeak"]
        # Chance was mixed into replies that support a group, so they are there also where nobody seems to be in it.
        return self.words["rTooFewPeople" if row.statistic == "row share" and row.n else "rNoReplies"]

    def unit(self, row: ViewRow, said: Spoken) -> str:
        """What stands behind the value of a row: a sign of percent, points of a difference of shares, or nothing."""
        if row.statistic.startswith("mean"):
            return ""
        return points_behind(said.value, self.words) if row.statistic in DIFFERENCES else " %"


def digits_of(rows: Sequence[ViewRow]) -> int:
    """The digits of the values of one figure, whose rows have one statistic."""
    quoted = [(each.low, each.high) for each in rows if not each.weak and each.value is not None]
    known = [(low, high) for low, high in quoted if low is not None and high is not None]
    return common_digits(known, 1 if rows and rows[0].statistic.startswith("mean") else 100)


def digits_by_statistic(rows: Sequence[ViewRow]) -> Mapping[str, int]:
    """The digits of the values of a view, by statistic: its figure, its table and its sentences have the same ones."""
    statistics = dict.fromkeys(row.statistic for row in rows)
    return {each: digits_of([row for row in rows if row.statistic == each]) for each in statistics}


def spoken_row(row: ViewRow, digits: int | None) -> Spoken | None:
    """The value of a row and the ends of its interval as people read them; None where there is none."""
    if row.value is None or row.low is None or row.high is None:
        return None
    scale = 1 if row.statistic.startswith("mean") else 100
    return spoken(row.value, row.low, row.high, scale, digits, row.statistic in DIFFERENCES)


def axis_of_row(question: Question, row: ViewRow) -> Axis:
    """The axis of a row: all that is possible."""
    if row.statistic in DIFFERENCES:
        return difference_axis(question, row.statistic)
    return SHARES if row.statistic == "row share" else axis_of(question, row.statistic)


def panels_of(
    question: Question,
    rows: Sequence[ViewRow],
    labels: Labels,
    given: Question | None = None,
    digits: int | None = None,
) -> list[Panel]:
    """The panels of one question, one for each axis.

    Parameters
    ----------
    question : Question
    rows : sequence of ViewRow
    labels : Labels
    given : Question, optional
        The question with which it is crossed.
    digits : int, optional
        Digits of all values, where others stand beside the figure; by default those that all rows of a panel allow.
    """
    by_cohort = any(row.cohort is not None for row in rows)
    groups = {} if given is None else sizes(rows, given, labels.words, "rSizeShort")
    rows = shown_rows(rows)
    found = []
    for statistic in dict.fromkeys(row.statistic for row in rows):
        chosen = [row for row in rows if row.statistic == statistic]
        axis = axis_of_row(question, chosen[0])
        shown = digits_of(chosen) if digits is None else digits
        marks = tuple(
            _mark(question, row, labels, given, by_cohort, groups, labels.value(row, shown)) for row in chosen
        )
        found.append(
            Panel(
                labels.text(question.text),
                "",
                marks,
                fixed=axis,
                share=axis in (SHARES, POSSIBLE_DIFFERENCES),
                digits=(labels.words["rPoint"], labels.words["rThousands"]),
            )
        )
    return found


def _mark(
    question: Question,
    row: ViewRow,
    labels: Labels,
    given: Question | None,
    by_cohort: bool,
    groups: Mapping[str, str],
    said: str,
) -> Mark:
    option = labels.row(question, row)
    line, series = option, None
    if row.minus is not None:
        # Below each option the differences: north minus south.
        series = f"{labels.cohort(row.cohort)} \u2212 {labels.cohort(row.minus)}"
    elif given is not None and row.given_option is not None:
        among = labels.words["rAmong"].format(option=labels.option(given, row.given_option))
        line = f"{among} ({groups[row.given_option]})"
        series = option
    elif by_cohort:
        series = labels.cohort(row.cohort)
    elif row.wave is not None:
        series = labels.waves[row.wave]
    return Mark(line, row.estimate, row.conf_low, row.conf_high, series, point=row.value, said=said, weak=row.weak)

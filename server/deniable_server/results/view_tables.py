"""The tables of a view: the numbers that a page shows, and those from which they are recomputed, as rows of HTML.

A page may have a thousand rows of a dozen cells, so these are made here and not by a template, at a tenth of its cost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from markupsafe import Markup, escape

from deniable import Question
from deniable.randomness import UNIT
from deniable_server.results.crossed_view import SHOWN, CrossedIngredients, crossed_ingredients
from deniable_server.results.drawing import Labels, digits_by_statistic, spoken_row
from deniable_server.results.written import Words, counted, level_text, localized
from deniable_statistics.published.printed_numbers import number, percent, standard_error
from deniable_statistics.views.recipe import Ingredients
from deniable_statistics.views.view_row import ViewOptions, ViewRow

LONG_FRACTION = 9
"""Longest fraction that people read without a decimal beside it, in characters."""

_SPECIAL = re.compile("[&<>\"']")

UNKNOWN = "\u2013"
"""What stands in place of a number that is not known."""


class Column(NamedTuple):
    """A column of a table.

    Attributes
    ----------
    name : str
        Its heading.
    kind : str
        The classes of its cells, such as ``number``; empty for texts.
    is_authors : bool
        Whether its texts may be of an author, and have a direction of their own.
    """

    name: str
    kind: str = ""
    is_authors: bool = False


def html_rows(columns: Sequence[Column], rows: Iterable[tuple[bool, Sequence[str]]]) -> Markup:
    """The rows of a table, each with whether it is too weak to be quoted, and with its cells; the first is its heading.

    >>> print(html_rows([Column("Option"), Column("n", "number")], [(True, ["a & b", "7"])]), end="")
    <tr role="row" class="weak"><th scope="row" role="rowheader">a &amp; b</th><td role="cell" class="number" \
data-name="n">7</td></tr>
    """
    # One pattern for all rows, so that what is the same in each is escaped once.
    cells = "".join(_cell(each, is_first=not place) for place, each in enumerate(columns))
    patterns = {weak: f'<tr role="row"{mark}>{cells}</tr>\n' for weak, mark in ((False, ""), (True, ' class="weak"'))}
    return Markup("".join(patterns[weak] % _escaped(texts) for weak, texts in rows))  # noqa: S704  # escaped


def _escaped(texts: Sequence[str]) -> tuple[str, ...]:
    # Rows of numbers have nothing to escape, which is seen sooner at once than cell by cell.
    return tuple(map(escape, texts)) if _SPECIAL.search("".join(texts)) else tuple(texts)


def _cell(column: Column, *, is_first: bool) -> str:
    """A cell with a place for its text, as ``%`` fills it."""
    direction = ' dir="auto"' if column.is_authors else ""
    if is_first:
        return f'<th scope="row" role="rowheader"{direction}>%s</th>'
    kind = f' class="{column.kind}"' if column.kind else ""
    name = str(escape(column.name)).replace("%", "%%")
    return f'<td role="cell"{kind} data-name="{name}"{direction}>%s</td>'


def columns_of(
    question: Question, rows: Sequence[ViewRow], options: ViewOptions, labels: Labels, given: Question | None
) -> list[Column]:
    """The columns of the table behind a figure."""
    words = labels.words
    names = [words["rOption"]]
    if given is not None:
        names = [_name_of(given, labels), words["rSize"], *names]
    if options.compare:
        names += [words["rGroup"], words["rMinus"]]
    elif options.by_cohort:
        names.append(words["rGroup"])
    elif options.over_time:
        names.append(labels.wave)
    columns = [Column(each, "", True) for each in names]
    # Where devices draw what they ask, each row is of other people.
    if options.is_of_shares and (
        options.by_cohort or options.over_time or len({row.n for row in rows}) > 1 or _is_drawn(question)
    ):
        columns.append(Column(words["rReplies"], "number", True))
    interval = words["rInterval"].format(level=level_text(options.confidence_level, words))
    figures = (words["rDifference"] if options.compare else words["rEstimate"], interval)
    return [*columns, *(Column(each, "number", True) for each in figures)]


def _is_drawn(question: Question) -> bool:
    return question.mechanism.reports.is_drawn or (question.group is not None and question.group.is_drawn)


def _name_of(given: Question, labels: Labels) -> str:
    """The heading of the column with the answers that make groups; a question may be called as another column is."""
    text = labels.text(given.text)
    return f"{text} ({given.id})" if text in labels.words.values() else text


@dataclass(frozen=True)
class ViewTable:
    """The table behind a figure.

    Attributes
    ----------
    question : Question
    labels : Labels
    columns : sequence of Column
    given : Question or None
        The question with which it is crossed.
    groups : mapping of str to str
        How many people are in the groups that this one makes.
    """

    question: Question
    labels: Labels
    columns: Sequence[Column]
    given: Question | None
    groups: Mapping[str, str]

    def html(self, rows: Sequence[ViewRow]) -> Markup:
        """Its rows."""
        digits = digits_by_statistic(rows)
        return html_rows(self.columns, ((row.weak, self._cells(row, digits[row.statistic])) for row in rows))

    def _cells(self, row: ViewRow, digits: int) -> list[str]:
        """The cells of a row, in the order of the columns."""
        texts = {**self._whose(row), **self._number(row, digits)}
        return [texts[column.name] for column in self.columns]

    def _whose(self, row: ViewRow) -> Mapping[str, str]:
        labels, words = self.labels, self.labels.words
        texts = {
            words["rOption"]: labels.row(self.question, row),
            words["rGroup"]: labels.cohort(row.cohort),
            words["rMinus"]: "" if row.minus is None else labels.cohort(row.minus),
            words["rReplies"]: "" if row.n is None else counted(row.n, words),
        }
        if row.wave is not None:
            texts[labels.wave] = labels.waves[row.wave]
        if self.given is not None and row.given_option is not None:
            texts[words["rSize"]] = self.groups[row.given_option]
            texts[_name_of(self.given, labels)] = labels.option(self.given, row.given_option)
        return texts

    def _number(self, row: ViewRow, digits: int) -> Mapping[str, str]:
        """The value and the interval, rounded as in the figure: two roundings of one number look like two numbers."""
        words = self.labels.words
        value, interval = self.columns[-2].name, self.columns[-1].name
        said = spoken_row(row, digits)
        if said is None:
            is_of_few = row.statistic == SHOWN and row.n
            return {value: self.labels.unknown(row) if is_of_few else UNKNOWN, interval: UNKNOWN}
        unit = self.labels.unit(row, said)
        behind = unit if unit == " %" else ""
        low, high = (localized(end + behind, words) for end in (said.low, said.high))
        # What a figure does not quote, its table does not quote either; files have the number, and say that it is weak.
        shown = words["rWeak"] if row.weak else localized(said.value + unit, words)
        return {value: shown, interval: words["rTo"].format(low=low, high=high)}


def recipe_rows(question: Question, found: Sequence[Ingredients], options: ViewOptions, labels: Labels) -> Markup:
    """The numbers behind each share."""
    words = labels.words
    columns = [
        Column(words["rOption"], "", True),
        *([Column(words["rGroup"], "", True)] if options.by_cohort else []),
        *(Column(words[each], "number") for each in ("rCounted", "rReplies")),
        *(Column(each, "number fraction") for each in ("a", "b")),
        *(Column(words[each], "number") for each in ("rUnbiased", "rError")),
    ]

    def cells(each: Ingredients) -> Iterator[str]:
        row = each.row
        yield labels.row(question, row)
        if options.by_cohort:
            yield labels.cohort(row.cohort)
        yield UNKNOWN if row.count is None else counted(row.count, words)
        yield counted(row.n or 0, words)
        yield about(each.a, words) if each.a else UNKNOWN
        yield about(each.b, words) if each.b else UNKNOWN
        yield from _unbiased(row, words)

    return html_rows(columns, ((False, tuple(cells(each))) for each in found))


def crossed_rows(question: Question, given: Question, rows: Sequence[ViewRow], labels: Labels) -> Markup:
    """The counts behind each share within a row; nothing where no single count tells an answer."""
    words = labels.words
    columns = [
        Column(labels.text(given.text), "", True),
        Column(words["rOption"], "", True),
        *(Column(each, "number") for each in (*"cxyn", words["rUnbiased"], words["rError"])),
    ]

    def cells(each: CrossedIngredients) -> Iterator[str]:
        row = each.row
        yield labels.option(given, row.given_option or "")
        yield labels.row(question, row)
        for count in (row.count, each.option, each.group, row.n):
            yield counted(count or 0, words)
        yield from _unbiased(row, words)

    found = crossed_ingredients(question, given, rows)
    return html_rows(columns, ((False, tuple(cells(each))) for each in found))


def _unbiased(row: ViewRow, words: Words) -> tuple[str, str]:
    """The unbiased estimate and its standard error."""
    error = standard_error(row.std_error, number if row.statistic == "mean" else percent)
    return localized(shown_figure(row.estimate, row.statistic), words), localized(error, words)


def shown_figure(value: float | None, statistic: str) -> str:
    """A share as a percentage, or a mean as a number.

    >>> shown_figure(0.32251, "share"), shown_figure(4.3219, "mean"), shown_figure(None, "mean")
    ('32.3 %', '4.322', '\u2013')
    """
    return number(value) if statistic == "mean" else percent(value)


def about(fraction: str, words: Words) -> str:
    """A probability as a fraction, and about what it is where nobody could say.

    Long ones have the denominator of published probabilities, so that those of a question can be compared.

    >>> about("3/4", {"rPoint": "."}), about("1365206961/2147483648", {"rPoint": ".", "rThousands": ","})
    ('3/4', '2730413922/2^32 \u2248 0.636')
    """
    if len(fraction) <= LONG_FRACTION:
        return fraction
    value = Fraction(fraction)
    shown = f"{value * UNIT}/2^32" if UNIT % value.denominator == 0 else fraction
    return f"{shown} \u2248 {localized(_rounded(fraction), words)}"


@lru_cache(maxsize=1024)  # all rows of a question have the same two, and most questions of a survey
def _rounded(fraction: str) -> str:
    return f"{float(Fraction(fraction)):.3f}"

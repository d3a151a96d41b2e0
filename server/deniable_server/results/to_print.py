"""Sentences to print: the findings of a view as prose, and the replies behind each of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deniable import Question
from deniable_server.results.drawing import Labels, digits_by_statistic
from deniable_server.results.headlines import (
    PRINTED,
    Headline,
    certain_rows,
    difference_in_words,
)
from deniable_server.results.plain_method import DIFFERENCES
from deniable_statistics.published.steady_text import steady
from deniable_statistics.views.view_row import ViewRow

WHOSE = {
    (False, False): "rOf",
    (False, True): "rOfApplies",
    (True, False): "rOfGroup",
    (True, True): "rOfGroupApplies",
}
"""How a sentence begins, by whether it is of one group, and of those to whom the question applies."""


@dataclass(frozen=True)
class PrintedFinding:
    """A sentence to print, without its source.

    Attributes
    ----------
    text : str
    cohorts : tuple of str or None
        The groups whose replies it is from; empty where it is from everybody's.
    """

    text: str
    cohorts: tuple[str | None, ...] = ()


def findings_of(
    question: Question, said: Sequence[Headline], by_cohort: bool, level: str, labels: Labels
) -> list[PrintedFinding]:
    """The headlines that can be printed, as prose."""
    words = labels.words
    found = []
    for each in said:
        if not each.printed:
            continue
        in_group = by_cohort and each.cohort is not None
        of = words[WHOSE[in_group, question.ask_if is not None]]
        chosen = each.option or each.largest
        values = {
            "of": of.replace("{group}", steady(each.cohort or "")),
            "question": quoted(question, labels),
            "option": labels.option(question, chosen) if chosen else "",
            "unit": f" {labels.text(question.unit)}" if question.unit else "",
            "level": level,
        }
        found.append(PrintedFinding(_with(each.printed, values), (each.cohort,) if by_cohort else ()))
    return found


def differences_to_print(
    question: Question, rows: Sequence[ViewRow], given: Question | None, level: str, labels: Labels
) -> list[PrintedFinding]:
    """The certain differences of a view as prose; where none is certain, that the replies show none."""
    words = labels.words
    texts = {"question": quoted(question, labels), "level": level}
    texts["other"] = "" if given is None else quoted(given, labels)
    if not any(row.value is not None for row in rows):
        return []
    certain = certain_rows([row for row in rows if row.statistic in DIFFERENCES])
    if not certain:
        cohorts = dict.fromkeys(each for row in rows for each in (row.cohort, row.minus) if each is not None)
        none = words["rPrintNoDifference" if given is None else "rPrintNoneAmong"]
        return [PrintedFinding(_with(none, texts), () if given else tuple(cohorts))]
    digits = digits_by_statistic(rows)
    groups = {} if given is None else {each: labels.option(given, each) for each in given.options}
    options = {each: labels.option(question, each) for each in question.options}
    return [
        PrintedFinding(
            difference_in_words(row, PRINTED, words, options, groups, digits[row.statistic], **texts),
            () if given else (row.cohort, row.minus),
        )
        for row in certain
    ]


def quoted(question: Question, labels: Labels) -> str:
    """A question within a sentence."""
    return labels.words["rQuoted"].replace("{text}", labels.text(question.text))


def _with(sentence: str, values: Mapping[str, str]) -> str:
    # At once, and not by `format`: a text of the author may hold braces, and names of other places.
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), sentence)

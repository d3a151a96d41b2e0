"""Drawing a whole survey: people, their answers, and the reports that their devices send."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, check_kind, describe
from deniable.exact import as_integer
from deniable.mechanisms.arrays import draw_sets
from deniable.randomness import UNIT, Words
from deniable.survey.group import Group
from deniable.survey.patterns import Pattern, patterns_of
from deniable.survey.question import Question
from deniable_research.simulation.simulated_misbehaviour import Misbehaviour, first_reports
from deniable_research.simulation.truth import Truth
from deniable_statistics.designs.spaces import uniform_reports
from deniable_statistics.published.csv_cells import csv_lines, report_cell


def generator_of(seed: int) -> np.random.Generator:
    """A PCG64 generator. It is repeatable, and so must not randomise the answers of real people."""
    if as_integer(seed) is None or seed < 0:
        raise ParameterError(f"seed: must be an integer of at least 0, got {describe(seed)}")
    return np.random.Generator(np.random.PCG64(seed))


def words_of(generator: np.random.Generator) -> Words:
    """A source of 32-bit words for `Mechanism.randomize_many`, from a generator.

    The words come from a new generator, whose seed is drawn from this one. So they do not depend on what else is drawn
    from this generator, or from another one with the same seed: people of ``default_rng(5)`` and noise of
    ``words_of(generator_of(5))`` are independent. Each call with one generator gives another source.
    """
    check_kind(generator, np.random.Generator, "generator")
    # Words of the generator itself would be the numbers from which people with the same seed were drawn, and the noise
    # would depend on their answers. A child by `spawn` would not do: people may be drawn from that very child, and not
    # every generator has children.
    return next_words(np.random.Generator(np.random.PCG64(generator.integers(0, UNIT, SEED_WORDS, dtype=np.uint32))))


SEED_WORDS = 8
"""Length of the seed of a source of words, in words of 32 bits. Two seeds are the same with probability 2**-256."""


def next_words(generator: np.random.Generator) -> Words:
    """The next words of a generator itself: independent of answers that this very object drew, and of no others."""
    return lambda n: generator.integers(0, UNIT, n, dtype=np.uint32)


@dataclass(frozen=True)
class QuestionReports:
    """The reports to one question.

    Attributes
    ----------
    values : ndarray
        The value of each person's report, in the shapes of `Mechanism.randomize_many`.
    asked : ndarray of bool, or None
        Whether each person's device asks the question; None if all do.
    """

    values: NDArray[Any]
    asked: NDArray[np.bool_] | None = None

    @property
    def told(self) -> NDArray[Any]:
        """The values of the people whose devices asked the question."""
        return self.values if self.asked is None else self.values[self.asked]


def draw_reports(
    truths: Sequence[Truth], people: int, misbehaviour: Misbehaviour, generator: np.random.Generator
) -> dict[str, QuestionReports]:
    """The reports of one survey by question, from people who are drawn from the population.

    The mechanisms are the real ones; only their words come from ``generator``.
    """
    kinds = misbehaviour.draw(people, generator)
    return report_answers(truths, draw_answers(truths, people, generator), kinds, generator)


def draw_answers(truths: Sequence[Truth], people: int, generator: np.random.Generator) -> dict[str, NDArray[Any]]:
    """The true answers of ``people`` to every question; those of a group with one response to patterns together."""
    answers: dict[str, NDArray[Any]] = {}
    drawn: dict[Group | None, NDArray[np.int64]] = {}
    for truth in truths:
        group = truth.question.group
        if truth.together is None:
            answers[truth.question.id] = truth.draw(people, generator)
            continue
        if group not in drawn:
            drawn[group] = truth.together.draw(people, generator)
        answers[truth.question.id] = drawn[group][:, truth.place].copy()
    return answers


def report_answers(
    truths: Sequence[Truth],
    answers: Mapping[str, NDArray[Any]],
    kinds: Sequence[NDArray[np.int64]],
    generator: np.random.Generator,
) -> dict[str, QuestionReports]:
    """Reports of people whose answers to every question are known; ``kinds`` are as `Misbehaviour.draw` gives them.

    ``generator`` must be the object that drew the answers; see `next_words`.
    """
    words = next_words(generator)
    # Denial changes the answer, which is then randomised; the other two kinds change the report.
    refusing, denying, careless = kinds
    for truth in truths:
        answers[truth.question.id][denying] = truth.denied  # of boxes no tick
    reports = randomize_people([truth.question for truth in truths], answers, words)
    patterns: dict[Group | None, NDArray[np.int64]] = {}
    for truth in truths:
        question, values = truth.question, reports[truth.question.id].values
        if truth.together is not None:
            # No report of a device is an impossible pattern, whoever made it up.
            if question.group not in patterns:
                every = np.array(truth.together.patterns)
                patterns[question.group] = every[generator.integers(0, len(every), careless.size)]
            values[refusing], values[careless] = truth.denied, patterns[question.group][:, truth.place]
            continue
        values[refusing] = first_reports(question.mechanism, refusing.size, generator)
        values[careless] = uniform_reports(question.mechanism.reports, careless.size, generator)
    return reports


def randomize_people(
    questions: Sequence[Question], answers: Mapping[str, NDArray[Any]], words: Words
) -> dict[str, QuestionReports]:
    """The reports of many people's devices from their answers, in the distribution of the clients.

    Parameters
    ----------
    questions : sequence of Question
        All questions of a survey.
    answers : mapping of str to ndarray
        Everybody's answers to every question, in the shapes of `Mechanism.randomize_many`.
    words : callable
        Source of 32-bit words, as from `words_of`.
    """
    columns: dict[str, QuestionReports] = {}
    for question in questions:
        group = question.group
        if group is None:
            columns[question.id] = QuestionReports(question.mechanism.randomize_many(answers[question.id], words))
        elif question.id not in columns:
            members = [each for each in questions if each.group == group]
            columns |= _of_group(group, members, answers, words)
    return {question.id: columns[question.id] for question in questions}


def _of_group(
    group: Group, members: Sequence[Question], answers: Mapping[str, NDArray[Any]], words: Words
) -> dict[str, QuestionReports]:
    """The reports to the questions of one group."""
    if patterns := patterns_of(members):
        return _of_patterns(group, members, patterns, answers, words)
    people = len(answers[members[0].id])
    # Devices draw their questions independently of the answers.
    drawn = draw_sets(group.size, group.draw, people, words)
    asked = np.zeros((people, group.size), dtype=bool)
    np.put_along_axis(asked, drawn, True, axis=1)
    marks: list[NDArray[np.bool_] | None] = list(asked.T) if group.is_drawn else [None] * group.size
    if group.joint is None:
        every = [each.mechanism.randomize_many(answers[each.id], words) for each in members]
    else:
        k = members[0].mechanism.k
        # The pattern of the drawn answers as one number, the first question the highest digit.
        place = k ** np.arange(group.draw)[::-1]
        given = np.take_along_axis(np.stack([answers[each.id] for each in members], axis=1), drawn, axis=1)
        # The response is a pattern; its digits are the reports of the drawn questions.
        sent = group.joint.randomize_many(given @ place, words)[:, None] // place % k
        table = np.zeros((people, group.size), dtype=np.int64)
        np.put_along_axis(table, drawn, sent, axis=1)
        # Each column contiguous, as mechanisms give theirs; where a question was not asked the 0 is masked.
        every = list(table.T.copy())
    return {each.id: QuestionReports(values, mark) for each, values, mark in zip(members, every, marks, strict=True)}


def _of_patterns(
    group: Group,
    members: Sequence[Question],
    patterns: Sequence[Pattern],
    answers: Mapping[str, NDArray[Any]],
    words: Words,
) -> dict[str, QuestionReports]:
    """The reports of one response to the patterns of answers that somebody can give."""
    assert group.joint is not None
    given = np.stack([answers[each.id] for each in members], axis=1)
    kinds, which = np.unique(given, axis=0, return_inverse=True)
    numbers = {pattern: number for number, pattern in enumerate(patterns)}
    unknown = [each for each in map(tuple, kinds.tolist()) if each not in numbers]
    if unknown:
        raise ParameterError(f"answers: must be patterns that the filters of {group} allow, got others")
    truths = np.array([numbers[tuple(each)] for each in kinds.tolist()], dtype=np.int64)[which.ravel()]
    sent = np.array(patterns)[group.joint.randomize_many(truths, words)]
    return {each.id: QuestionReports(column.copy()) for each, column in zip(members, sent.T, strict=True)}


@dataclass(frozen=True)
class DrawnCohort:
    """The reports of one cohort of one drawn survey."""

    cohort: str | None
    reports: Mapping[str, QuestionReports]


def reports_csv(cohorts: Sequence[DrawnCohort], generator: np.random.Generator) -> Iterator[str]:
    """Lines of a CSV like a collector's ``reports.csv``, sorted by random id."""
    rows = []
    for drawn in cohorts:
        columns = [column_texts(column) for column in drawn.reports.values()]
        rows += [[generator.bytes(16).hex(), drawn.cohort, *values] for values in zip(*columns, strict=True)]
    # Sorted by random ids, the order says nothing about who is of which cohort.
    return csv_lines([["id", "cohort", *cohorts[0].reports], *sorted(rows, key=lambda row: str(row[0]))])


def column_texts(column: QuestionReports) -> list[Any]:
    """The cells of a column as a collector writes them; None where a question was not asked."""
    rows: list[Any] = column.values.tolist()
    cells = rows if column.values.ndim == 1 else [report_cell("".join(map(str, row))) for row in rows]
    return (
        cells
        if column.asked is None
        else [cell if asked else None for cell, asked in zip(cells, column.asked, strict=True)]
    )

"""Drawing a whole survey: people, their answers, and the reports that their devices send."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.randomness import UNIT, Words
from deniable.table import csv_lines, report_cell
from deniable_research.simulation.misbehaviour import Misbehaviour, first_reports
from deniable_research.simulation.truth import Truth


def generator_of(seed: int) -> np.random.Generator:
    """A PCG64 generator: repeatable, and so no source for answers of real people."""

    return np.random.Generator(np.random.PCG64(seed))


def words_of(generator: np.random.Generator) -> Words:
    """The words of a generator, as `randomize_many` draws them."""

    return lambda n: generator.integers(0, UNIT, n, dtype=np.uint32)


def draw_reports(
    truths: Sequence[Truth], people: int, misbehaviour: Misbehaviour, generator: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """One survey's reports, by question, of people who are drawn anew from the population.

    The mechanisms are the real ones; only their words come from ``generator``.
    """
    words = words_of(generator)
    refusing, denying, careless = misbehaviour.draw(people, generator)
    reports = {}
    for truth in truths:
        mechanism = truth.question.mechanism
        answers = truth.draw(people, generator)
        answers[denying] = truth.first  # of boxes no tick
        drawn = mechanism.randomize_many(answers, words)
        drawn[refusing] = first_reports(mechanism, refusing.size, generator)
        drawn[careless] = mechanism.reports.uniform(careless.size, generator)
        reports[truth.question.id] = drawn
    return reports


@dataclass(frozen=True)
class DrawnCohort:
    """The reports of one cohort of one drawn survey."""

    cohort: str | None
    reports: Mapping[str, NDArray[Any]]


def reports_csv(cohorts: Sequence[DrawnCohort], generator: np.random.Generator) -> Iterator[str]:
    """Lines of CSV as a collector's ``reports.csv``: sorted by random id, noisy values as it writes them."""
    rows = []
    for drawn in cohorts:
        columns = [_texts(reports) for reports in drawn.reports.values()]
        rows += [[generator.bytes(16).hex(), drawn.cohort, *values] for values in zip(*columns, strict=True)]
    return csv_lines([["id", "cohort", *cohorts[0].reports], *sorted(rows, key=lambda row: str(row[0]))])


def _texts(reports: NDArray[Any]) -> list[Any]:
    if reports.ndim == 1:
        found: list[Any] = reports.tolist()
        return found
    return [report_cell("".join(map(str, row))) for row in reports.tolist()]

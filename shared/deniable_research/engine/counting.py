"""The two queries to an engine: frequencies of equal rows, and numbers of reports that support each option."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, ReportError
from deniable_research.engine.sources import Source
from deniable_research.engine.text_columns import TextColumn
from deniable_research.files.coded import CodedColumn
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.reading import columns_of_arrow
from deniable_statistics.data.manifest import Export
from deniable_statistics.data.survey_data import COHORT
from deniable_statistics.published.csv_cells import plain_cell

if TYPE_CHECKING:
    import pyarrow

MOST_PATTERNS = 1_000_000
"""Largest number of different rows; with more, an analysis is as slow as one of that many people."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """The different rows of a table, with their frequencies.

    Attributes
    ----------
    columns : dict of str to CodedColumn
        Each different row once, as texts, sorted.
    frequencies : ndarray of int64, shape (rows,)
        Number of people with each row.
    """

    columns: dict[str, CodedColumn[str]]
    frequencies: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Supports(Patterns):
    """Patterns with the sums of their reports' supports.

    Attributes
    ----------
    supports : dict of str to ndarray of int64, shape (rows, supports)
        By question, the number of reports of each row's people that support each option.
    present : dict of str to ndarray of bool, shape (rows,)
        By question, whether all people of a row sent a report; otherwise none of them did.
    """

    supports: dict[str, NDArray[np.int64]]
    present: dict[str, NDArray[np.bool_]]


def count_patterns(source: Source, columns: Sequence[str] | Mapping[str, str]) -> Patterns:
    """Count equal rows, with one GROUP BY.

    Parameters
    ----------
    source : Source
    columns : sequence of str, or mapping of str to str
        Names of the columns; a mapping has new names as keys.

    Raises
    ------
    ReportError
        If there is no such column, or the engine cannot count.
    ParameterError
        If there are more than `MOST_PATTERNS` different rows.
    """
    found = count_supports(source, columns, ())
    return Patterns(found.columns, found.frequencies)


def count_supports(
    source: Source, columns: Sequence[str] | Mapping[str, str], questions: Sequence[RandomizedColumn]
) -> Supports:
    """Count equal rows, and for each of them add up the supports of some questions, with one GROUP BY.

    Parameters
    ----------
    source : Source
    columns : as for `count_patterns`
    questions : sequence of RandomizedColumn
        Questions whose reports are texts of 0 and 1.

    Raises
    ------
    ReportError
        If there is no such column, or the engine cannot count; or if a value is not a possible report, as in
        `RandomizedColumn.read`.
    ParameterError
        If there are more than `MOST_PATTERNS` different rows.
    """
    import ibis

    keys = columns if isinstance(columns, Mapping) else {name: name for name in columns}
    for name in keys.values():
        source.column(name)  # raises the error that lists the columns
    # Numbered names, because a column of the file may have the name of a count.
    wanted = {f"c{place}": ibis._[name] for place, name in enumerate(keys.values())}
    sums: dict[str, Any] = {"people": ibis._.count()}
    for place, question in enumerate(questions):
        texts = TextColumn(source, question.column, question.design.reports, question.missing)
        source = texts.source
        wanted[f"p{place}"] = ~texts.is_missing
        sums[f"strange{place}"] = texts.is_strange.cast("int64").sum()
        sums[f"example{place}"] = texts.said.min(where=texts.is_strange)
        for option in range(question.design.reports.size):
            sums[f"s{place}_{option}"] = texts.supports(option).cast("int64").sum()
    table = _counted(source, wanted, sums, keys)
    for place, question in enumerate(questions):
        if strange := int(_numbers(table, f"strange{place}").sum()):
            # The first in order, so that all engines name the same value.
            first = min(each for each in table.column(f"example{place}").to_pylist() if each is not None)
            raise question.refusal(strange, first)
    found = _columns(table, source, keys)
    people = _numbers(table, "people")
    if source.export is not None and COHORT in keys.values():
        cohorts = found[next(name for name, column in keys.items() if column == COHORT)]
        _compare(cohorts, people, source.export, source.name)
    supports = {
        question.name: np.column_stack(
            [_numbers(table, f"s{place}_{option}") for option in range(question.design.reports.size)]
        )
        for place, question in enumerate(questions)
    }
    asked = {
        question.name: np.asarray(table.column(f"p{place}").to_pylist(), dtype=bool)
        for place, question in enumerate(questions)
    }
    return Supports(found, people, supports, asked)


def _counted(
    source: Source, wanted: Mapping[str, Any], sums: Mapping[str, Any], keys: Mapping[str, str]
) -> pyarrow.Table:
    """The groups of equal rows with their sums, sorted."""
    counts = source.rows.group_by(**wanted).aggregate(**sums) if wanted else source.rows.aggregate(**sums)
    # One row more than is allowed shows that there are too many, without fetching all of them.
    table = source.run(counts.limit(MOST_PATTERNS + 1))
    if table.num_rows > MOST_PATTERNS:
        raise ParameterError(
            f"{', '.join(keys)}: must have at most {MOST_PATTERNS} different rows together, got more; leave a column "
            "out, round numbers, or name single boxes of a question"
        )
    # Over no rows, an aggregate without GROUP BY is one row of nulls.
    table = table.filter(_numbers(table, "people") > 0)
    people = int(_numbers(table, "people").sum())
    if source.export is not None and people != source.export.manifest.rows:
        raise ReportError(
            f"{source.name}: must have {source.export.manifest.rows} rows, as its manifest says, got {people}"
        )
    return _sorted(table, list(wanted), source.name)


def _compare(cohorts: CodedColumn[str], people: NDArray[np.int64], export: Export, subject: str) -> None:
    """Raise a ReportError unless each cohort has the rows that a manifest counts."""
    found: Counter[str | None] = Counter()
    for cohort, n in zip(cohorts, people.tolist(), strict=True):
        found[cohort] += n
    expected: Counter[str | None] = Counter()
    for cohort, n in export.manifest.rows_by_cohort.items():
        expected[cohort and cohort.strip()] += n  # as columns are read
    for cohort in expected | found:
        if expected[cohort] != found[cohort]:
            raise ReportError(
                f"{subject}: must have {expected[cohort]} rows of cohort {cohort!r:.80}, as its manifest says, "
                f"got {found[cohort]}"
            )


def _sorted(table: pyarrow.Table, names: Sequence[str], subject: str) -> pyarrow.Table:
    """The rows sorted by these columns, because engines return them in any order."""
    import pyarrow

    try:
        return table.sort_by([(name, "ascending") for name in names]) if names else table
    except pyarrow.ArrowException:
        raise ReportError(f"{subject}: columns must hold numbers, texts or dates, got lists or the like") from None


def _columns(table: pyarrow.Table, source: Source, keys: Mapping[str, Any]) -> dict[str, CodedColumn[str]]:
    named = table.select([f"c{place}" for place in range(len(keys))]).rename_columns(list(keys))
    found = columns_of_arrow(named, source.name)
    return {name: column.map(plain_cell) if source.is_cell(keys[name]) else column for name, column in found.items()}


def _numbers(table: pyarrow.Table, name: str) -> NDArray[np.int64]:
    # SQL gives null for a sum over no rows.
    return np.asarray(table.column(name).fill_null(0).to_numpy(), dtype=np.int64)

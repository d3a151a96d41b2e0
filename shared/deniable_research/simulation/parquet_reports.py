"""Writing the reports of a simulated survey of many people: Parquet by several processes, in constant memory."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.survey.question import Question
from deniable.wire.space import Texts
from deniable_research.simulation.draw import QuestionReports, draw_reports
from deniable_research.simulation.processes import map_all
from deniable_research.simulation.simulation import Simulation, check_number
from deniable_statistics.data.folder import check_folder
from deniable_statistics.data.manifest import REPORTS, SURVEY
from deniable_statistics.data.whole import whole_folder

if TYPE_CHECKING:
    import pyarrow

PEOPLE = 1_000_000
"""People in one part. Each part has a seed of its own, so the rows do not depend on how many processes write them."""

CELLS = 2**21
"""Supports that a process holds at a time, of all questions together."""

MOST_PROCESSES = 64


class Part(NamedTuple):
    """What one part holds."""

    number: int
    cohort: int
    people: int
    seed: np.random.SeedSequence


def write_rows(simulation: Simulation, folder: Path, seed: int, processes: int | None = None) -> None:
    """Write the reports of one simulated survey for ``deniable analyze --from FOLDER``, a row for each person.

    Parameters
    ----------
    simulation : Simulation
        Its people draw their answers, and its survey's own mechanisms randomise them.
    folder : Path
        New or empty. It gets ``survey.json``, the published survey, and ``reports/part-00000.parquet`` and so on: the
        cohort and a column for each question, empty where it was not asked. Nobody sent these reports, so they have no
        ids; people are independent of each other, so their order says nothing.
    seed : int
        The same gives the same rows, whatever the number of processes.
    processes : int, optional
        By default one for each core; never more.

    Raises
    ------
    ParameterError
        If the folder cannot be written, pyarrow is not installed, or two cohorts are compared that the survey does not
        have.

    Notes
    -----
    Until every part is whole their names end in ``.part``, within a folder beside the other one whose name begins with
    a dot. So what an interrupted run leaves holds no file that is read as Parquet.
    """
    check_folder(folder, "parquet")
    if processes is not None:
        check_number(processes, "processes", 1, MOST_PROCESSES)
    with whole_folder(folder) as unfinished:
        (unfinished / REPORTS).mkdir()
        (unfinished / SURVEY).write_bytes(simulation.survey.document)
        _write_parts(simulation, unfinished / REPORTS, seed, min(processes or _cores(), _cores()))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _write_parts(simulation: Simulation, folder: Path, seed: int, processes: int) -> None:
    sizes = [(place, part) for place, (_, people, _) in enumerate(simulation.links) for part in _cut(people)]
    # Each part has its own seed: the number of processes changes nothing.
    seeds = np.random.SeedSequence(seed).spawn(len(sizes))
    pieces = [Part(number, *size, each) for number, (size, each) in enumerate(zip(sizes, seeds, strict=True))]
    write = functools.partial(_write_part, simulation, folder)
    for each in map_all(write, pieces, min(processes, len(pieces))):
        # Only when all are whole: an interrupted run leaves nothing that reads as Parquet.
        each.rename(each.with_suffix(""))


def _cut(people: int) -> Iterator[int]:
    for start in range(0, people, PEOPLE):
        yield min(PEOPLE, people - start)


def _write_part(simulation: Simulation, folder: Path, piece: Part) -> Path:
    """Write one part, a row group at a time."""
    import pyarrow
    from pyarrow import parquet

    label, _, truths = simulation.links[piece.cohort]
    questions = simulation.survey.questions
    mechanisms = [question.mechanism for question in questions]
    generator = np.random.Generator(np.random.PCG64(piece.seed))
    width = sum(each.reports.size if isinstance(each.reports, Texts) else 1 for each in mechanisms)
    schema = pyarrow.schema([("cohort", pyarrow.string()), *((question.id, _type(question)) for question in questions)])
    path = folder / f"part-{piece.number:05}.parquet.part"
    with parquet.ParquetWriter(path, schema) as writer:
        left = piece.people
        while left:
            # Row groups of so many supports, so that memory does not grow with the people.
            people = min(left, max(CELLS // width, 1))
            left -= people
            reports = draw_reports(truths, people, simulation.misbehaviour, generator)
            cohort = pyarrow.array(itertools.repeat(label, people), pyarrow.string())
            columns = (_array(reports[question.id], question) for question in questions)
            writer.write_table(pyarrow.Table.from_arrays([cohort, *columns], schema=schema))
    return path


def _type(question: Question) -> pyarrow.DataType:
    import pyarrow

    return pyarrow.string() if isinstance(question.mechanism.reports, Texts) else pyarrow.int64()


def _array(column: QuestionReports, question: Question) -> pyarrow.Array:
    """The reports of a question: numbers, or texts of one character 0 or 1 for each option."""
    import pyarrow

    people = len(column.values)
    asked: NDArray[Any] | None = column.asked
    if not isinstance(question.mechanism.reports, Texts):
        return pyarrow.array(column.values, pyarrow.int64(), mask=None if asked is None else ~asked)
    size = column.values.shape[1]
    ends = pyarrow.py_buffer(np.arange(0, (people + 1) * size, size, dtype=np.int32))
    # All texts have the same length, so that their bytes stand one after the other: no Python string is made.
    marks = pyarrow.py_buffer(np.ascontiguousarray(column.values + np.uint8(ord("0")), dtype=np.uint8))
    told = None if asked is None else pyarrow.array(asked).buffers()[1]
    return pyarrow.StringArray.from_buffers(people, ends, marks, told)

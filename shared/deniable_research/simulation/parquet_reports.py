"""The reports of a large simulated survey as Parquet, written by several processes in constant memory."""

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
"""Number of people in a part. Each part has its own seed, so that rows do not depend on the number of processes."""

CELLS = 2**21
"""Largest number of cells (reports times supports of all questions) that a process holds at a time."""

MOST_PROCESSES = 64
"""Largest number of processes that a user can ask for."""


class SimulatedPart(NamedTuple):
    """The people of one part: its number, its cohort by place, their number, and the seed of their draws."""

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
        A new or empty folder. It receives ``survey.json``, the published survey, and the parts
        ``reports/part-00000.parquet`` and so on: the cohort and a column for each question, empty where a device did
        not ask it. Nobody sent these reports, so they have no ids.
    seed : int
        Equal seeds give equal rows, for any number of processes.
    processes : int, optional
        Number of processes; by default and at most one for each core.

    Raises
    ------
    ParameterError
        If the folder cannot be written, pyarrow is not installed, or two cohorts are compared that the survey does not
        have.

    Notes
    -----
    Parts are written to a hidden folder beside ``folder``, and their names end in ``.part`` until all of them are
    complete. So an interrupted run leaves no file that is read as Parquet.
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
    seeds = np.random.SeedSequence(seed).spawn(len(sizes))
    pieces = [SimulatedPart(number, *size, each) for number, (size, each) in enumerate(zip(sizes, seeds, strict=True))]
    write = functools.partial(_write_part, simulation, folder)
    for each in map_all(write, pieces, min(processes, len(pieces))):
        # Only once all are complete: an interrupted run must leave nothing that reads as Parquet.
        each.rename(each.with_suffix(""))


def _cut(people: int) -> Iterator[int]:
    for start in range(0, people, PEOPLE):
        yield min(PEOPLE, people - start)


def _write_part(simulation: Simulation, folder: Path, piece: SimulatedPart) -> Path:
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
            # Row groups of at most CELLS cells, so that memory does not grow with the number of people.
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
    """The reports to a question as an Arrow array: integers, or texts with a character 0 or 1 for each option."""
    import pyarrow

    people = len(column.values)
    asked: NDArray[Any] | None = column.asked
    if not isinstance(question.mechanism.reports, Texts):
        return pyarrow.array(column.values, pyarrow.int64(), mask=None if asked is None else ~asked)
    size = column.values.shape[1]
    # Arrow stores strings as one buffer of bytes and the offsets at which each begins and ends.
    ends = pyarrow.py_buffer(np.arange(0, (people + 1) * size, size, dtype=np.int32))
    # All texts have the same length, so that their bytes stand one after the other: no Python string is made.
    marks = pyarrow.py_buffer(np.ascontiguousarray(column.values + np.uint8(ord("0")), dtype=np.uint8))
    told = None if asked is None else pyarrow.array(asked).buffers()[1]
    return pyarrow.StringArray.from_buffers(people, ends, marks, told)

"""Export of reports to a folder of parts, in constant memory, for more reports than fit into a file or memory."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from deniable.errors import ParameterError, ReportError
from deniable.survey.document import Survey
from deniable_statistics.data.data_set import Variable
from deniable_statistics.data.manifest import FORMATS, MANIFEST, REPORTS, SURVEY, TYPES, Manifest, PartFile, sha256_of
from deniable_statistics.data.survey_data import COHORT, report_variables
from deniable_statistics.data.whole import check_parent, sync, whole_folder
from deniable_statistics.data.writing import WRITERS, arrow_schema, arrow_table, library
from deniable_statistics.published.access_columns import enforced
from deniable_statistics.published.csv_cells import csv_lines, report_cell

ROWS_A_PART = 1_000_000
"""Largest number of rows of a part."""

ROWS_WAITING = 50_000
"""Largest number of rows that wait in memory, of all cohorts together; a Parquet row group has at most as many."""

OPEN_PARTS = 100
"""Largest number of open parts; beyond, the part that waited longest is closed, and its cohort gets another one."""

NO_COHORT = "__HIVE_DEFAULT_PARTITION__"
"""Name of a missing value in the folder names of Hive, Spark, DuckDB and Arrow."""

MOST_BYTES = 255
"""Longest name of a file or folder, in bytes: what most file systems take."""

Row = Sequence[str | int | None]
"""Id, cohort, then one value for each question."""


def check_folder(folder: Path, form: str) -> None:
    """Raise a ParameterError unless an export can be written there, before anything is read.

    The folder must be empty or new, in an existing folder.
    """
    if folder.suffix.lower() in {*WRITERS, *(f".{each}" for each in FORMATS)}:
        raise ParameterError(
            f"folder: must not be called like a file, got {folder.name!r:.80}; without a format one file is written"
        )
    if form == "parquet":
        library("pyarrow", folder.name)
    check_parent(folder)
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder.name}: must be a folder, got a file")
    if folder.is_dir() and any(folder.iterdir()):
        raise ParameterError(f"{folder.name}: must be an empty folder or a new one, got one that holds something")


def write_folder(
    survey: Survey,
    rows: Iterable[Row],
    folder: Path,
    form: str,
    *,
    by_cohort: bool = False,
    expected: Mapping[str | None, int] | None = None,
) -> Manifest:
    """Write reports to a folder, as `deniable_statistics.data.manifest` describes it.

    It is written under another name, with the manifest last, and renamed when it is complete and on the disk. So an
    interrupted export is never taken for a complete one.

    Parameters
    ----------
    survey : Survey
    rows : iterable of sequences
        Id, cohort and one value for each question, in the order of ids. At most `ROWS_WAITING` are held in memory.
    folder : Path
        An empty or a new folder.
    form : str
        One of `FORMATS`.
    by_cohort : bool
        Whether each cohort has a folder of its own.
    expected : mapping of str or None to int, optional
        Number of rows that each cohort must have.

    Raises
    ------
    ParameterError
        If it cannot be written, or a cohort has no valid name for a folder.
    ReportError
        If the numbers of rows are not the expected ones.
    """
    check_folder(folder, form)
    folder = folder.resolve()
    with whole_folder(folder) as part:
        (part / REPORTS).mkdir()
        with closing(_Writing(survey, part, form, by_cohort)) as writing:
            writing.take(rows)
        # Unary plus drops cohorts that expect no rows.
        if expected is not None and writing.rows != +Counter(expected):
            raise ReportError(
                f"survey {survey.id}: must have the rows that its tallies count, {sum(expected.values())}, got "
                f"{sum(writing.rows.values())}, or as many of other cohorts; 'deniable check' tells more"
            )
        by_cohorts = {cohort: n for cohort in (*survey.cohorts, None) if (n := writing.rows[cohort])}
        columns = report_variables(survey)
        manifest = Manifest(
            survey=survey.id,
            form=form,
            partitions=(COHORT,) if by_cohort else (),
            rows_by_cohort=by_cohorts,
            types={each.name: TYPES[each.kind] for each in columns},
            parts=tuple(writing.parts()),
        )
        _write(part / SURVEY, survey.document)
        _write(part / MANIFEST, manifest.encode(survey, columns, _tool()))
    return manifest


class _Parquet:
    """An open part in Parquet."""

    def __init__(self, path: Path, title: str, variables: Sequence[Variable]) -> None:
        self._schema = arrow_schema(title, variables, path.name)
        repeated = [each.name for each in variables if each.name != "id"]  # ids differ, so a dictionary costs
        parquet = library("pyarrow.parquet", path.name)
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd", use_dictionary=repeated)

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        self._writer.write_table(arrow_table(self._schema, columns))

    def close(self) -> None:
        self._writer.close()


class _Lines:
    """An open part of text lines: CSV with a header, or a JSON object for each row."""

    def __init__(self, path: Path, _title: str, variables: Sequence[Variable]) -> None:
        names = [each.name for each in variables]
        self._file = path.open("x", encoding="utf-8", newline="")
        self._lines: Callable[[Iterable[Sequence[Any]]], Iterable[str]] = csv_lines
        if path.suffix == ".csv":
            self._file.writelines(csv_lines([names]))
        else:
            encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
            self._lines = lambda rows: (f"{encode(dict(zip(names, row, strict=True)))}\n" for row in rows)

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        self._file.writelines(self._lines(zip(*columns, strict=True)))

    def close(self) -> None:
        self._file.close()


# Not pyarrow.dataset.write_dataset: it writes no JSON, so parts and rows would be counted in two ways; and it promises
# the order of rows, which here is that of random ids, only from pyarrow 21 on (preserve_order); we allow 18.
_FILES: dict[str, Callable[[Path, str, Sequence[Variable]], _Parquet | _Lines]] = {
    "parquet": _Parquet,
    "csv": _Lines,
    "jsonl": _Lines,
}


class _Writing:
    """The parts of an export that is being written."""

    def __init__(self, survey: Survey, folder: Path, form: str, by_cohort: bool) -> None:
        self.rows: Counter[str | None] = Counter()
        self._folder = folder
        self._form = form
        self._title = survey.title
        self._by_cohort = by_cohort
        self._variables = [each for each in report_variables(survey) if not (by_cohort and each.name == COHORT)]
        self._are_texts = [question.mechanism.reports.json_type is str for question in survey.questions]
        self._enforced = enforced(survey.access)
        self._open: OrderedDict[str | None, tuple[_Parquet | _Lines, str]] = (
            OrderedDict()
        )  # the longest without rows first
        self._sizes: dict[str, int] = {}
        self._numbers: Counter[str | None] = Counter()

    def take(self, rows: Iterable[Row]) -> None:
        """Write all rows."""
        waiting: dict[str | None, list[Row]] = {}
        n = 0
        for row in rows:
            waiting.setdefault(_cohort(row) if self._by_cohort else None, []).append(row)
            n += 1
            if n == ROWS_WAITING:
                # The largest cohort first: few large groups of rows make better Parquet files than many small ones.
                most = max(waiting, key=lambda cohort: len(waiting[cohort]))
                n -= len(waiting[most])
                self._write(most, waiting.pop(most))
        for cohort in list(waiting):
            self._write(cohort, waiting.pop(cohort))
        if not self._sizes:
            self._write(None, [])  # so that readers find the columns

    def close(self) -> None:
        """Close all open parts."""
        for cohort in list(self._open):
            self._close(cohort)

    def parts(self) -> Iterator[PartFile]:
        """The written parts with their hashes; to be called after `close`."""
        for name, rows in sorted(self._sizes.items()):
            path = self._folder / name
            sync(path)
            yield PartFile(name, rows, path.stat().st_size, sha256_of(path))

    def _write(self, cohort: str | None, rows: Sequence[Row]) -> None:
        """Add rows, in order, to the open part of a cohort, or to its next part."""
        if cohort in self._open and self._sizes[self._open[cohort][1]] + len(rows) > ROWS_A_PART:
            self._close(cohort)
        if cohort not in self._open:
            if len(self._open) == OPEN_PARTS:
                # The least recently used part, by the order of the OrderedDict.
                self._close(next(iter(self._open)))
            self._begin(cohort)
        self._open.move_to_end(cohort)
        file, name = self._open[cohort]
        file.write(list(self._columns(rows)))
        self._sizes[name] += len(rows)
        self.rows.update(map(_cohort, rows))

    def _columns(self, rows: Sequence[Row]) -> Iterator[Sequence[Any]]:
        # zip of no rows gives no columns at all, and a part has them all.
        ids, cohorts, *values = zip(*rows, strict=True) if rows else ((),) * (2 + len(self._are_texts))
        yield ids
        if not self._by_cohort:
            yield cohorts
        for is_text, column in zip(self._are_texts, values, strict=True):
            yield [report_cell(value) for value in column] if is_text else column
        yield [self._enforced] * len(rows)

    def _begin(self, cohort: str | None) -> None:
        folder = self._folder / REPORTS
        if self._by_cohort:
            folder /= f"{COHORT}={_folder_name(cohort)}"
            try:
                # The first time it must be new: a disk may not distinguish cohorts A and a.
                folder.mkdir(exist_ok=bool(self._numbers[cohort]))
            except FileExistsError:
                raise ParameterError(
                    f"cohort {cohort!r:.80}: must differ from the others by more than case on this disk; "
                    "export without a folder for each"
                ) from None
        # Five digits: names of up to 100,000 parts sort as their numbers do.
        path = folder / f"part-{self._numbers[cohort]:05}.{self._form}"
        name = path.relative_to(self._folder).as_posix()
        self._open[cohort] = _FILES[self._form](path, self._title, self._variables), name
        self._sizes[name] = 0
        self._numbers[cohort] += 1

    def _close(self, cohort: str | None) -> None:
        self._open.pop(cohort)[0].close()


def _cohort(row: Row) -> str | None:
    return cast("str | None", row[1])


def _folder_name(cohort: str | None) -> str:
    """The name of a cohort in a folder name, percent-encoded.

    Characters beyond ASCII stay: DuckDB and Arrow decode ``%`` to bytes of UTF-8, but Spark decodes it to characters.

    >>> _folder_name("web"), _folder_name("a/b"), _folder_name("Zürich"), _folder_name(None)
    ('web', 'a%2Fb', 'Zürich', '__HIVE_DEFAULT_PARTITION__')
    """
    if cohort is None:
        return NO_COHORT
    name = "".join(letter if letter > "\x7f" else quote(letter, safe="") for letter in cohort)
    if cohort == NO_COHORT or len(f"{COHORT}={name}".encode()) > MOST_BYTES:
        raise ParameterError(
            f"cohort {cohort!r:.80}: must be short enough for the name of a folder, and not the one that stands for "
            "nothing; export without a folder for each"
        )
    return name


def _write(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)
    sync(path)


def _tool() -> str:
    import deniable

    return f"deniable {deniable.__version__}"

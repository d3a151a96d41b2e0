"""Reading of columns from CSV, Parquet, Stata, SPSS and Excel files."""

from __future__ import annotations

import contextlib
import datetime
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from deniable.errors import ParameterError, ReportError, describe
from deniable_research.files.coded import CodedColumn
from deniable_research.files.csv_file import columns_of_rows, different, read_csv
from deniable_statistics.data.writing import library

Columns = dict[str, CodedColumn[str]]


def read_columns(path: str | Path, delimiter: str | None = None, skip: int = 0) -> Columns:
    """The columns of a file as texts, by their names.

    Parameters
    ----------
    path : str or Path
        ``.parquet``, ``.dta`` (Stata), ``.sav`` or ``.zsav`` (SPSS) or ``.xlsx``, whose first sheet is read; anything
        else is CSV.
    delimiter : str, optional
        As in `deniable_research.files.csv_file.read_csv`; for CSV only.
    skip : int
        Number of rows below the header that are not data; for CSV and Excel.

    Returns
    -------
    dict of str to CodedColumn
        Whole numbers have no decimal point, dates have the form of ISO 8601, booleans are 1 and 0. Labels of columns
        and of values are kept as `CodedColumn.label` and `CodedColumn.labels`. User-missing values of SPSS and extended
        missing values of Stata (``.a`` to ``.z``) are missing values.

    Raises
    ------
    ReportError
        If the file is damaged, or two columns have the same name.
    ParameterError
        If the library for its format is not installed, or the format has no such option.
    """
    where = Path(path)
    read = READERS.get(where.suffix.lower())
    if where.suffix.lower() == ".xls":
        raise ReportError(f"{where.name}: is of Excel before 2007; save it as .xlsx")
    if read is None:
        return read_csv(where, delimiter, skip)
    if delimiter is not None:
        raise ParameterError(f"delimiter: must be left out, {where.name} is not a CSV file")
    if skip and read is not _excel:
        raise ParameterError(f"skip: must be 0, {where.name} has no rows of titles")
    return read(where, skip)


def _statistical(path: Path, _skip: int) -> Columns:
    """The columns of a file of Stata or SPSS, with their labels."""
    pyreadstat = library("pyreadstat", path.name)
    read = pyreadstat.read_dta if path.suffix.lower() == ".dta" else pyreadstat.read_sav
    try:
        frame, about = read(str(path))  # user-missing values become NaN unless they are asked for
    except (pyreadstat.ReadstatError, UnicodeDecodeError) as error:
        raise ReportError(f"{path.name}: cannot be read: {str(error).splitlines()[0]:.200}") from None
    labels, values = about.column_names_to_labels, about.variable_value_labels
    return {
        name: _with_labels(texts, values.get(name, {}), labels.get(name) or "")
        for name, texts in columns_of_frame(frame, path.name).items()
    }


def columns_of_frame(frame: Any, subject: str = "table") -> Columns:
    """The columns of a table of pandas as texts, by their names; categories are texts.

    Raises
    ------
    ParameterError
        If it is not a table of pandas.
    ReportError
        If columns have the same name, or hold lists or the like.

    Examples
    --------
    >>> import pandas
    >>> columns = columns_of_frame(pandas.DataFrame({"q": [1.0, None, 2.0], "wave": ["a", "", None]}))
    >>> list(columns["q"]), list(columns["wave"])
    (['1', None, '2'], ['a', '', None])
    """
    pandas = library("pandas", subject)
    if not isinstance(frame, pandas.DataFrame):
        raise ParameterError(f"{subject}: must be a file or a table of pandas, got {describe(frame)}")
    columns = {}
    for place, name in enumerate(different(frame.columns, subject)):
        try:
            codes, values = pandas.factorize(frame.iloc[:, place])
        except TypeError:  # lists have no hash
            raise ReportError(f"{subject}: column {name!r} must hold numbers, texts or dates") from None
        columns[name] = CodedColumn(codes.astype(np.int32), tuple(values)).map(cell_text)
    return columns


def _parquet(path: Path, _skip: int) -> Columns:
    arrow, parquet = library("pyarrow", path.name), library("pyarrow.parquet", path.name)
    try:
        table = parquet.read_table(path)
    except (arrow.ArrowException, OSError) as error:
        raise ReportError(f"{path.name}: cannot be read: {str(error).splitlines()[0]:.200}") from None
    return columns_of_arrow(table, path.name)


def columns_of_arrow(table: Any, subject: str) -> Columns:
    """The columns of a table of Arrow as texts, by their names.

    Raises
    ------
    ReportError
        If columns have the same name, or hold lists or the like.
    """
    arrow = library("pyarrow", subject)
    columns = {}
    for name in different(table.column_names, subject):
        column, about = table.column(name), table.schema.field(name).metadata or {}
        if not arrow.types.is_dictionary(column.type):
            try:
                column = column.dictionary_encode()
            except arrow.ArrowException:
                raise ReportError(f"{subject}: column {name!r} must hold numbers, texts or dates") from None
        # Chunks may have different dictionaries, and a code must mean one value.
        array = column.unify_dictionaries().combine_chunks()
        array = array.chunk(0) if isinstance(array, arrow.ChunkedArray) and array.num_chunks else array
        codes = array.indices.fill_null(-1).to_numpy() if len(table) else np.empty(0)
        values = array.dictionary.to_pylist() if len(table) else ()
        texts = CodedColumn(codes.astype(np.int32), tuple(values)).map(cell_text)
        label = about.get(b"label", b"").decode(errors="replace")
        columns[name] = _with_labels(texts, json.loads(about.get(b"value_labels", b"{}")), label)
    return columns


def _excel(path: Path, skip: int) -> Columns:
    # pandas.read_excel(dtype=str) writes booleans as True and dates with 00:00:00, and takes cells beyond the header.
    openpyxl = library("openpyxl", path.name)
    try:
        with path.open("rb") as file:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            with contextlib.closing(book):
                return _first_sheet(book, skip, path.name)
    except ReportError:
        raise
    except (zipfile.BadZipFile, zlib.error, ElementTree.ParseError, EOFError, KeyError, ValueError) as error:
        raise ReportError(f"{path.name}: cannot be read as .xlsx ({type(error).__name__})") from None


def _first_sheet(book: Any, skip: int, subject: str) -> Columns:
    rows: Iterator[Sequence[Any]] = iter(())
    if book.worksheets:
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # some programs write a range that is too small, and cells beyond it would be lost
        rows = sheet.iter_rows(values_only=True)
    header = [cell_text(cell) or "" for cell in next(rows, ())]
    # Excel keeps columns whose cells were cleared, as empty cells at the end of each row.
    while header and not header[-1]:
        header.pop()
    if not header:
        raise ReportError(f"{subject}: must start with a header of column names, got an empty sheet")
    different(header, subject)
    return columns_of_rows(header, _padded(rows, len(header), subject), skip)


def _padded(rows: Iterable[Sequence[Any]], width: int, subject: str) -> Iterator[list[str]]:
    """The rows of a sheet as texts, each as long as the header, without empty rows."""
    for number, row in enumerate(rows, start=2):
        texts = [cell_text(cell) or "" for cell in row]
        if any(texts[width:]):
            raise ReportError(f"{subject}, row {number}: must have no cells beyond the {width} columns of the header")
        if any(texts):
            yield texts[:width] + [""] * (width - len(texts))


def _with_labels(column: CodedColumn[str], labels: Mapping[Any, str], label: str) -> CodedColumn[str]:
    """The column with labels, and without unused values."""
    texts = {text: str(label).strip() for value, label in labels.items() if (text := cell_text(value)) is not None}
    return CodedColumn(column.codes, column.values, texts, label).without(())


def cell_text(value: Any) -> str | None:
    """A cell as the text of a CSV; None for a missing value.

    >>> [cell_text(value) for value in (1.0, 0.5, True, "a ", datetime.date(2026, 1, 2), float("nan"))]
    ['1', '0.5', '1', 'a', '2026-01-02', None]
    """
    # NaN and NaT alone differ from themselves.
    if value is None or value != value:
        return None
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        # Below 1e15 < 2**53 every whole number is a float; above, its last digits would be invented.
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value).strip()


READERS: dict[str, Callable[[Path, int], Columns]] = {
    ".parquet": _parquet,
    ".dta": _statistical,
    ".sav": _statistical,
    ".zsav": _statistical,
    ".xlsx": _excel,
}
"""Readers by the suffix of the file."""

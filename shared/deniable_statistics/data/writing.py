"""Writing data sets as CSV, JSON, Parquet, Stata, SPSS or Excel; the suffix of the file's name chooses."""

from __future__ import annotations

import importlib
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from deniable.errors import ParameterError
from deniable.installing import install_hint
from deniable_statistics.data.data_set import DataSet, Kind, Variable, categories
from deniable_statistics.data.names import safe_names
from deniable_statistics.data.whole import check_parent, replace_file
from deniable_statistics.published.csv_cells import csv_lines

EXCEL_ROWS = 2**20 - 1
"""Largest number of rows of an Excel sheet, without the header."""

STATA_LABEL = 80
"""Longest label of a variable or of a file in Stata, in characters."""

STATA_FILE_LABEL_BYTES = 256
"""Longest label of a Stata file for ReadStat, in bytes of UTF-8; it would cut a longer one within a character."""

SPSS_LABEL, SPSS_VALUE_LABEL, SPSS_FILE_LABEL = 255, 120, 64
"""Longest labels of a variable, of a value and of a file in SPSS, in bytes of UTF-8."""

# XML 1.0, section 2.2: Excel opens no workbook that has one of these.
_NOT_OF_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def check_suffix(path: Path) -> None:
    """Raise a ParameterError unless a file can be written to this path; to be called before long computations."""
    if path.suffix.lower() not in WRITERS:
        raise ParameterError(f"file: must end in {', '.join(WRITERS)}, got {path.name!r:.80}")
    for module in NEEDED.get(path.suffix.lower(), ()):
        library(module, path.name)
    check_parent(path)


def write_data_set(data: DataSet, path: Path) -> None:
    """Write a data set; an existing file is replaced only when the new one is complete.

    Parameters
    ----------
    data : DataSet
    path : Path
        Ends in ``.csv``, ``.json``, ``.parquet``, ``.dta``, ``.sav`` or ``.xlsx``.

    Raises
    ------
    ParameterError
        If the name ends in something else, a library is missing, the data do not fit, or the file cannot be written.

    Notes
    -----
    ``.dta`` and ``.sav`` have the labels of their formats, cut to the longest that these allow (Stata: 80 characters
    for a variable and for the title; SPSS: 255 bytes for a variable, 120 for a value, 64 for the title). ``.parquet``
    has them as metadata ``label`` and ``value_labels`` (JSON) of each field, ``.json`` beside the rows, ``.xlsx`` on a
    second sheet, and ``.csv`` has none. Infinite numbers are missing in ``.dta`` and ``.sav``, null in ``.json``, and
    ``inf`` elsewhere.
    """
    check_suffix(path)
    replace_file(path, lambda part: WRITERS[path.suffix.lower()](data, part))


def library(module: str, subject: str) -> Any:
    """Import a library that reads or writes files.

    Raises
    ------
    ParameterError
        If it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ParameterError(f"{subject}: needs {error.name}; {install_hint('files')}") from None


def _csv(data: DataSet, path: Path) -> None:
    rows = zip(*map(_without_nan, data.columns), strict=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(csv_lines([[each.name for each in data.variables]]))
        file.writelines(csv_lines(rows))


def _json(data: DataSet, path: Path) -> None:
    names = [each.name for each in data.variables]
    columns = [[_finite(value) for value in column] for column in data.columns]
    variables = [
        {"name": each.name, "label": each.label} | ({"values": _texts(each.value_labels)} if each.value_labels else {})
        for each in data.variables
    ]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    document = {"title": data.title, "variables": variables, "rows": rows}
    path.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _parquet(data: DataSet, path: Path) -> None:
    parquet = library("pyarrow.parquet", path.name)
    parquet.write_table(arrow_table(arrow_schema(data.title, data.variables, path.name), data.columns), path)


def arrow_schema(title: str, variables: Sequence[Variable], subject: str) -> Any:
    """The Arrow schema of these columns, with their labels as metadata; ``subject`` is named if pyarrow is missing."""
    arrow = library("pyarrow", subject)
    kinds = {
        Kind.WHOLE: arrow.int64(),
        Kind.REAL: arrow.float64(),
        Kind.TEXT: arrow.string(),
        Kind.CATEGORY: arrow.dictionary(arrow.int32(), arrow.string()),
    }
    fields = []
    for variable in variables:
        about = {"label": variable.label}
        if variable.value_labels:
            about["value_labels"] = json.dumps(_texts(variable.value_labels), ensure_ascii=False)
        fields.append(arrow.field(variable.name, kinds[variable.kind], metadata=about))
    return arrow.schema(fields, metadata={"title": title})


def arrow_table(schema: Any, columns: Iterable[Sequence[Any]]) -> Any:
    """The Arrow table of these columns."""
    import pyarrow as arrow

    arrays = []
    for field, column in zip(schema, columns, strict=True):
        is_category = arrow.types.is_dictionary(field.type)
        array = arrow.array(column, field.type.value_type if is_category else field.type)
        arrays.append(array.dictionary_encode() if is_category else array)
    return arrow.Table.from_arrays(arrays, schema=schema)


def _stata(data: DataSet, path: Path) -> None:
    frame, labels, values = _labelled(data, path.name)
    library("pyreadstat", path.name).write_dta(
        frame,
        path,
        _cut_to_bytes(_cut_to_characters(data.title, STATA_LABEL), STATA_FILE_LABEL_BYTES),
        {name: _cut_to_characters(label, STATA_LABEL) for name, label in labels.items()},
        variable_value_labels=values,
    )


def _spss(data: DataSet, path: Path) -> None:
    frame, labels, values = _labelled(data, path.name)
    library("pyreadstat", path.name).write_sav(
        frame,
        path,
        _cut_to_bytes(data.title, SPSS_FILE_LABEL),
        {name: _cut_to_bytes(label, SPSS_LABEL) for name, label in labels.items()},
        variable_value_labels={
            name: {value: _cut_to_bytes(text, SPSS_VALUE_LABEL) for value, text in each.items()}
            for name, each in values.items()
        },
        variable_measure=dict.fromkeys(values, "nominal"),
    )


def _labelled(data: DataSet, subject: str) -> tuple[Any, dict[str, str], dict[str, dict[int, str]]]:
    """A data frame, the labels of its columns and the labels of their values, as arguments of pyreadstat."""
    pandas = library("pandas", subject)
    columns, labels, values = {}, {}, {}
    for name, variable, column in zip(
        safe_names(each.name for each in data.variables), data.variables, data.columns, strict=True
    ):
        # A name that Stata and SPSS do not take is kept in the label.
        labels[name] = variable.label if name == variable.name else f"{variable.name}: {variable.label}"
        numbers, value_labels = column, variable.labels
        if variable.kind is Kind.CATEGORY:
            codes = {text: n for n, text in variable.labels.items()} or categories(column)
            numbers, value_labels = [codes.get(text) for text in column], {n: text for text, n in codes.items()}
        if variable.kind is Kind.TEXT:
            columns[name] = pandas.Series(list(column), dtype=object)
        elif variable.kind is Kind.REAL:
            finite = [_finite(value) for value in column]
            columns[name] = pandas.Series(finite, dtype="float64")
        else:
            # Int64 with a capital: whole numbers with missing ones among them stay whole.
            columns[name] = pandas.Series(list(numbers), dtype="Int64")
        if value_labels:
            values[name] = dict(value_labels)
    return pandas.DataFrame(columns), labels, values


def _excel(data: DataSet, path: Path) -> None:
    openpyxl = library("openpyxl", path.name)
    if len(data) > EXCEL_ROWS:
        raise ParameterError(
            f"{path.name}: must have at most {EXCEL_ROWS:,} rows, got {len(data):,}; write .csv or .parquet"
        )
    book = openpyxl.Workbook(write_only=True)
    _sheet(book, "data", [[each.name for each in data.variables]], zip(*data.columns, strict=True))
    about = [
        [variable.name, variable.label, value, text]
        for variable in data.variables
        for value, text in [(None, None), *variable.value_labels.items()]
    ]
    _sheet(book, "variables", [["name", "label", "value", "value label"]], about)
    book.properties.title = data.title
    book.save(path)


def _sheet(book: Any, title: str, *parts: Any) -> None:
    """Add a sheet of rows, in which no text is a formula, whatever its first character is."""
    from openpyxl.cell import WriteOnlyCell

    sheet = book.create_sheet(title)
    for part in parts:
        for row in part:
            cells = []
            for value in row:
                if isinstance(value, float) and not math.isfinite(value):
                    value = None if math.isnan(value) else str(value)
                if isinstance(value, str):
                    cell = WriteOnlyCell(sheet, _NOT_OF_XML.sub(_escaped, value))
                    # Or openpyxl would write a text that starts with = as a formula.
                    cell.data_type = "s"
                    cell.quotePrefix = True  # and stays one when somebody edits it
                    cells.append(cell)
                else:
                    cells.append(value)
            sheet.append(cells)


def _escaped(character: re.Match[str]) -> str:
    """A character that XML does not allow, in the escape of Excel."""
    return f"_x{ord(character[0]):04X}_"


def _without_nan(column: Sequence[Any]) -> list[Any]:
    return [None if isinstance(value, float) and math.isnan(value) else value for value in column]


# Stata, SPSS and JSON have no infinite numbers.
def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _texts(labels: Any) -> dict[str, str]:
    return {str(value): text for value, text in labels.items()}


def _cut_to_characters(text: str, most: int) -> str:
    """The beginning of a text, at most ``most`` characters; it ends in an ellipsis if something was cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _cut_to_bytes(text: str, most: int) -> str:
    """The beginning of a text, at most ``most`` bytes of UTF-8, cut between characters.

    >>> _cut_to_bytes("naïve question", 8)
    'naïv…'
    """
    encoded = text.encode()
    if len(encoded) <= most:
        return text
    # errors=ignore drops the bytes of a character that was cut.
    return f"{encoded[: most - len('…'.encode())].decode(errors='ignore')}…"


WRITERS: dict[str, Callable[[DataSet, Path], None]] = {
    ".csv": _csv,
    ".json": _json,
    ".parquet": _parquet,
    ".dta": _stata,
    ".sav": _spss,
    ".xlsx": _excel,
}
"""Writers by the suffix of the file's name."""

NEEDED = {
    ".parquet": ("pyarrow",),
    ".dta": ("pandas", "pyreadstat"),
    ".sav": ("pandas", "pyreadstat"),
    ".xlsx": ("openpyxl",),
}
"""Libraries that a writer needs, by suffix; the extra ``files`` brings them."""

WRITTEN = f"{', '.join(WRITERS)} ({', '.join(NEEDED)} need the extra files)"
"""The suffixes, for the help of commands."""

__all__ = ["arrow_schema", "arrow_table", "check_suffix", "library", "write_data_set"]

"""Sources of rows on an engine: files, or tables by name."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.errors import DeniableError, ParameterError, ReportError
from deniable.installing import install_hint
from deniable_research.engine.fetching import fetch, fetch_survey
from deniable_research.engine.source_files import READERS, Files, files_of_export, find_files, for_duckdb, for_spark
from deniable_research.results.collector import is_survey
from deniable_research.web import is_url
from deniable_statistics.data.manifest import Export, open_export

if TYPE_CHECKING:
    import pyarrow

EMBEDDED = "duckdb"
"""The engine within this process, which is the default."""

SPARK = "spark"

NAMED = "table:"
"""Prefix of a source that is the name of a table."""

OURS = "deniable: "
"""Prefix of the names of columns that are computed on the engine."""

MEMORY = "512MB"
"""Memory limit of DuckDB, beyond which it writes to a temporary folder; counts are few, so it is seldom reached."""

_SQL_TYPES = {"integer": "BIGINT", "number": "DOUBLE", "text": "STRING"}
"""SQL types of the columns of an export, for DuckDB and Spark."""

_CSV: Mapping[str, Any] = {"header": True, "quote": '"', "escape": '"'}
_DUCKDB: Mapping[str, Mapping[str, Any]] = {
    # Otherwise it guesses the quotes and the first row from a sample, and skips the rows above.
    "read_csv": {**_CSV, "all_varchar": True, "skip": 0},
    # All rows are sampled: from whole numbers at the beginning it would infer integers, and round later ones.
    "read_json": {"sample_size": -1},
}
_SPARK: Mapping[str, Mapping[str, Any]] = {
    # By default it ignores the names in headers, splits quoted line breaks, and pads rows that are too short.
    "read_csv": {**_CSV, "inferSchema": False, "enforceSchema": False, "multiLine": True, "mode": "FAILFAST"},
    # By default a line that is not JSON becomes a row of nulls.
    "read_json": {"mode": "FAILFAST"},
}
"""Options of the readers: cells of CSV stay texts, since 0101 is not a number; types of JSON fit all rows."""


@dataclass(frozen=True, eq=False)
class Source:
    """Rows on an engine, as `open_source` opens them.

    Attributes
    ----------
    rows : ibis Table
    name : str
        Their name in messages.
    is_csv : bool
        Whether they come from CSV, in which a cell that looks like a formula has a quote in front.
    export : Export or None
        The export of `deniable export`, if the rows are one.
    """

    rows: Any
    name: str
    is_csv: bool = False
    export: Export | None = None

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name in self.rows.columns if not name.startswith(OURS))

    def column(self, name: str) -> Any:
        """One column, as an expression of ibis.

        Raises
        ------
        ReportError
            If there is no column of this name.
        """
        if name not in self.rows.columns:
            shown = ", ".join(self.columns[:20]) + (", ..." if len(self.columns) > 20 else "")
            raise ReportError(f"column {name!r}: must be one of the columns of {self.name}: {shown}")
        return self.rows[name]

    def is_cell(self, column: str) -> bool:
        """Whether a column is read from cells of CSV, not from the names of folders."""
        return self.is_csv and not (self.export and column in self.export.manifest.partitions)

    def with_column(self, expression: Any, purpose: str) -> tuple[Source, str]:
        """This source with a computed column, and the column's name, which no column of a file has."""
        name = f"{OURS}{purpose}"
        return replace(self, rows=self.rows.mutate(**{name: expression})), name

    def run(self, expression: Any) -> pyarrow.Table:
        """The result of an expression, as a table of Arrow.

        Raises
        ------
        ReportError
            If the engine cannot compute it.
        """
        with _asking(self.name):
            return expression.to_pyarrow()


def open_source(where: str | Path, engine: str = EMBEDDED, delimiter: str | None = None) -> Source:
    """Open rows on an engine. Only the parts of an export are read yet, to compare them with its manifest.

    Parameters
    ----------
    where : str or Path
        A folder that `deniable export` wrote; another folder of Parquet, CSV or JSONL files, which may be partitioned
        by the names of its folders, such as ``cohort=web``; one such file; a pattern such as
        ``reports/2026-*.parquet``; or ``table:NAME`` for a table of the engine. An export, a file and a survey on a
        collector may also be ``https://`` addresses, which are downloaded to a temporary folder.
    engine : str
        ``duckdb``, within this process; ``spark``, the active session or a local one; ``spark://host:port``;
        or an address that ``ibis.connect`` takes, such as ``bigquery://project/dataset``.
    delimiter : str, optional
        Delimiter of CSV; by default the engine detects it.

    Raises
    ------
    ParameterError
        If the source is empty; or if the engine is unknown, cannot be reached or is not installed, or reads no files.
        The message never has the address, which may hold a password.
    ReportError
        If there are no such files or tables, or an export was changed since it was written.
    """
    text = str(where)
    # The file system takes an empty text for the current folder.
    if text in ("", NAMED) or "\0" in text:
        got = repr(text) if text in ("", NAMED) else "a NUL character"
        raise ParameterError(f"source: must be a folder, a file, a pattern, an address or {NAMED}NAME, got {got}")
    connection = _embedded() if engine == EMBEDDED else _connect(engine)
    if text.startswith(NAMED):
        return Source(_named(connection, text.removeprefix(NAMED)), text.removeprefix(NAMED))
    files, export = _files_of(text, engine, connection)
    # Engines that hold tables only have no methods that read files.
    reader = getattr(connection, READERS[files.suffix], None)
    if reader is None:
        raise ParameterError(f"{files.name}: this engine reads no such files; name one of its tables, {NAMED}reports")
    is_csv = files.suffix == ".csv"
    if delimiter is not None and not is_csv:
        raise ParameterError(f"delimiter: must be left out, {files.name} is not a CSV file")
    # DuckDB cannot infer the type of a column that is empty in its sample, nor Spark any column without rows.
    types = _types_of(export) if files.suffix == ".jsonl" and export is not None else {}
    is_duckdb = connection.name == EMBEDDED  # within this process, or a file of its own
    options = _options(files, export, delimiter, types, is_duckdb)
    with _asking(files.name):
        if connection.name == "pyspark":
            rows = _on_spark(connection, files, options, types)
        else:
            rows = reader([*map(for_duckdb, files.paths)], **options)
        return Source(_unquoted(rows), files.name, is_csv, export)


def _files_of(text: str, engine: str, connection: Any) -> tuple[Files, Export | None]:
    """The files of a source, downloaded if they are remote, and their export, if they are one."""
    if is_url(text) and is_survey(text):
        export: Export | None = fetch_survey(text, _temporary(connection))
    else:
        if is_url(text):
            text = str(fetch(text, _temporary(connection), tuple(READERS)))
        elif engine == EMBEDDED and "://" in text and not _has_httpfs(connection):  # ibis would fetch it, and not ask
            raise ParameterError(
                "source: must be here or at https://, unless DuckDB has its extension httpfs (INSTALL httpfs), "
                f"got {text.partition('://')[0]!r:.20}"
            )
        export = open_export(Path(text))
    return find_files(text) if export is None else files_of_export(export), export


def _types_of(export: Export) -> dict[str, str]:
    """The SQL types of the columns in the files of an export."""
    manifest = export.manifest
    return {name: _SQL_TYPES[kind] for name, kind in manifest.types.items() if name not in manifest.partitions}


def _options(
    files: Files, export: Export | None, delimiter: str | None, types: Mapping[str, str], is_duckdb: bool
) -> dict[str, Any]:
    """The options of the engine's reader."""
    options: dict[str, Any] = dict((_DUCKDB if is_duckdb else _SPARK).get(READERS[files.suffix], {}))
    if is_duckdb:
        options["hive_types_autocast"] = False  # texts as they stand: a cohort 01 is not a number
        if types:
            options["columns"] = types
        if export is not None and files.suffix == ".csv":  # nothing has to be guessed
            options["delim"] = ","
    if delimiter is not None:
        options["delim" if is_duckdb else "sep"] = delimiter
    return options


def _unquoted(rows: Any) -> Any:
    """The rows with texts in place of columns that DuckDB reads as JSON (mixed types), or Spark as null (no values)."""
    import ibis

    mixed = [name for name, kind in rows.schema().items() if kind.is_json()]
    empty = [name for name, kind in rows.schema().items() if kind.is_null()]
    return rows.mutate(
        **{name: ibis.coalesce(rows[name].str, rows[name].cast("string")) for name in mixed},
        **{name: rows[name].cast("string") for name in empty},
    )


def _ibis() -> Any:
    try:
        import ibis
    except ModuleNotFoundError as error:
        raise ParameterError(f"engine: needs {error.name}; {install_hint('engine')}") from None
    return ibis


def _embedded() -> Any:
    ibis = _ibis()
    try:
        connection = ibis.duckdb.connect(
            memory_limit=MEMORY,
            autoinstall_known_extensions=False,  # no program is fetched because of the name of a file
            preserve_insertion_order=False,
        )
    except ModuleNotFoundError as error:
        raise ParameterError(f"engine: needs {error.name}; {install_hint('engine')}") from None
    connection.raw_sql(f"SET temp_directory = '{_temporary(connection)}'")
    connection.raw_sql("SET enable_progress_bar = false")
    return connection


def _has_httpfs(connection: Any) -> bool:
    """Whether DuckDB reads ``s3://`` and the like without installing an extension first."""
    found = connection.raw_sql("SELECT installed FROM duckdb_extensions() WHERE extension_name = 'httpfs'").fetchone()
    return bool(found and found[0])


def _temporary(connection: Any) -> Path:
    """A temporary folder that is removed with the connection."""
    folder = tempfile.mkdtemp(prefix="deniable-engine-")
    weakref.finalize(connection, shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _connect(engine: str) -> Any:
    ibis = _ibis()
    # Messages repeat the scheme only: the rest may hold a password.
    kind = engine.partition(":")[0]
    try:
        with _quietly():
            if kind == SPARK:
                return ibis.pyspark.connect(_spark(engine))
            if "://" not in engine:
                got = f"{engine!r:.40}" if engine.isalpha() else "something else"  # which may hold a password
                raise ParameterError(f"engine: must be {EMBEDDED}, {SPARK} or an address with ://, got {got}")
            return ibis.connect(engine)
    except ModuleNotFoundError as error:
        raise ParameterError(f"engine: needs {error.name}, which ibis uses for {kind}") from None
    except DeniableError:
        raise
    except Exception as error:  # each engine has errors of its own, and some repeat the address
        raise ParameterError(f"engine: {kind} cannot be reached ({type(error).__name__})") from None


def _spark(engine: str) -> Any:
    from pyspark.sql import SparkSession

    # Its web page would open a port on this machine.
    builder = SparkSession.builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")  # 01 is not a number
    builder = builder.config("spark.sql.csv.parser.columnPruning.enabled", "false")  # rows of other lengths are noticed
    if engine != SPARK:
        builder = builder.master(engine)
    return builder.getOrCreate()


def _named(connection: Any, name: str) -> Any:
    """A table of an engine; ``database.table`` where it has several."""
    database, dot, table = name.rpartition(".")
    with _asking(name):
        return connection.table(table, database=database) if dot else connection.table(name)


def _on_spark(connection: Any, files: Files, options: dict[str, Any], types: dict[str, str]) -> Any:
    """The rows of files on Spark, whose own reader is used because that of ibis takes only one file of Parquet.

    Files whose names begin with ``_`` are refused, because Spark skips them.
    """
    from ibis.util import gen_name
    from pyspark.sql import SparkSession

    if skipped := [name for name in (Path(each).name for each in files.paths) if name.startswith("_")]:
        raise ReportError(
            f"{files.name}: files must be called without _ at the beginning for Spark, got {skipped[0]!r:.80}"
        )
    session = SparkSession.getActiveSession()
    assert session is not None
    reader = session.read.options(**options)
    if files.base is not None:
        reader = reader.option("basePath", os.path.abspath(files.base))
    if types:
        reader = reader.schema(", ".join(f"`{column.replace('`', '``')}` {kind}" for column, kind in types.items()))
    rows = reader.load([*map(for_spark, files.paths)], READERS[files.suffix].removeprefix("read_"))
    name = gen_name("reports")
    rows.createOrReplaceTempView(name)
    return connection.table(name)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Suppress warnings of ibis about DuckDB and of Spark about pandas, about which a user can do nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _asking(subject: str) -> Iterator[None]:
    """Turn an error of an engine into a ReportError of one sentence."""
    try:
        with _quietly():
            yield
    except (DeniableError, ModuleNotFoundError):
        raise
    except Exception as error:  # each engine has errors of its own
        lines = [line for line in str(error).splitlines() if line and not line.startswith(("Original Line", "LINE "))]
        said = "; ".join(lines[:2])
        raise ReportError(f"{subject}: the engine cannot read it ({type(error).__name__}): {said:.200}") from None

"""A SQLite file of everything about a survey, which Datasette and other programs serve as it is."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable_statistics.published.condition_text import condition_words
from deniable_statistics.views.view_row import support_of

Columns = Sequence[tuple[str, str]]
"""Names and types of columns: ``integer``, ``number``, ``string``, ``boolean`` or ``date``, as Frictionless has it."""

_TYPES = {"integer": "INTEGER", "number": "REAL", "string": "TEXT", "boolean": "INTEGER", "date": "TEXT"}
_READ: dict[str, Callable[[str], object]] = {
    "integer": int,
    "number": float,
    "string": str,
    "date": str,
    "boolean": lambda text: text == "True",
}


class SqliteTable(NamedTuple):
    """A table of the file, from lines of CSV with a header.

    Attributes
    ----------
    name : str
    columns : sequence of (str, str)
    lines : iterable of bytes
    key : str
        Its primary key; empty for none.
    """

    name: str
    columns: Columns
    lines: Iterable[bytes]
    key: str = ""


def write_sqlite(path: Path, survey: Survey, tables: Iterable[SqliteTable], about: Mapping[str, str]) -> None:
    """Write the file.

    Parameters
    ----------
    path : Path
        Of a file that does not exist yet, or is empty.
    survey : Survey
        Its questions and options are tables, too.
    tables : iterable of SqliteTable
        Those with a column ``question`` refer to the questions.
    about : mapping of str to str
        What the table ``about`` holds.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        # Nobody reads it before it is complete, so nothing has to be undone.
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.execute("BEGIN")
        db.execute("CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
        db.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        _add_questions(db, survey)
        for table in tables:
            _add_table(db, table)
        db.execute("COMMIT")


def _add_questions(db: sqlite3.Connection, survey: Survey) -> None:
    db.execute(
        "CREATE TABLE questions (id TEXT PRIMARY KEY, position INTEGER, text TEXT, type TEXT, asked_if TEXT, "
        "mechanism TEXT, epsilon REAL, parameters TEXT)"
    )
    by_id = {each.id: each for each in survey.questions}
    db.executemany(
        "INSERT INTO questions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                each.id,
                position,
                str(each.text),
                each.type,
                None if each.ask_if is None else condition_words(each.ask_if, by_id),
                each.mechanism.name,
                each.epsilon,
                json.dumps(each.mechanism.publish()),
            )
            for position, each in enumerate(survey.questions)
        ),
    )
    db.execute(
        "CREATE TABLE options (question TEXT REFERENCES questions(id), position INTEGER, option TEXT, a TEXT, b TEXT, "
        "PRIMARY KEY (question, position))"
    )
    db.executemany("INSERT INTO options VALUES (?, ?, ?, ?, ?)", _options(survey.questions))


def _options(questions: Sequence[Question]) -> Iterator[tuple[str, int, str, str | None, str | None]]:
    for question in questions:
        for position, option in enumerate(question.options):
            support = support_of(question, position)
            a, b = (None, None) if support is None else map(str, support)
            yield question.id, position, str(option), a, b


def _add_table(db: sqlite3.Connection, table: SqliteTable) -> None:
    columns = ", ".join(
        f"{_name(name)} {_TYPES[kind]}"
        + (" PRIMARY KEY" if name == table.key else "")
        + (" REFERENCES questions(id)" if name == "question" else "")
        for name, kind in table.columns
    )
    db.execute(f"CREATE TABLE {_name(table.name)} ({columns})")
    marks = ", ".join("?" * len(table.columns))
    reads = [_READ[kind] for _, kind in table.columns]
    rows = csv.reader(line.decode() for line in table.lines)
    next(rows, None)
    db.executemany(
        f"INSERT INTO {_name(table.name)} VALUES ({marks})",  # noqa: S608  # the name is quoted, values are bound
        ([read(cell) if cell != "" else None for read, cell in zip(reads, row, strict=True)] for row in rows),
    )


def _name(name: str) -> str:
    """A name in quotes, so that any question's id is one."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'

"""One archive of a survey: its document, rows, estimates, releases, codebook, scripts, database, and how to cite it."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, Any

from deniable import EstimateRow, Survey
from deniable_server.results.readme import readme
from deniable_server.results.releases import reports_header
from deniable_statistics.published.access_columns import ACCESS_LABELS
from deniable_statistics.published.date_columns import DATE_LABELS
from deniable_statistics.published.license import License
from deniable_statistics.views.recipe import scripts
from deniable_statistics.views.view_row import share_view

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file of an archive: the same content has the same bytes, and no file says when it was made."""

DATABASE = "survey.db"
"""The SQLite file of an archive."""

_TYPES = {"int": "integer", "float": "number", "str": "string", "bool": "boolean", "Count": "number"}


@dataclass(frozen=True)
class Resource:
    """A table of the data package.

    Attributes
    ----------
    path : str
    columns : sequence of (str, str)
        Names and types of its columns, as Frictionless calls them.
    """

    path: str
    columns: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Content:
    """What an archive holds beside the survey and its rows.

    Attributes
    ----------
    estimates : mapping of str to bytes
        Tables of estimates, by the names of their files.
    files : mapping of str to bytes
        Codebooks and scripts; see `deniable_statistics.archive.supplements`.
    texts : mapping of str to str
        Releases, recipes, citations, a paragraph of methods.
    about : mapping of str to str
        What the SQLite file and ``README.txt`` say of the survey.
    columns : mapping of str to str
        What columns of estimates mean, by their names.
    """

    estimates: Mapping[str, bytes]
    files: Mapping[str, bytes]
    texts: Mapping[str, str]
    about: Mapping[str, str]
    columns: Mapping[str, str]


def _type_of(annotation: str) -> str:
    return _TYPES[annotation.removesuffix(" | None")]


ESTIMATE_COLUMNS = (
    *((field.name, _type_of(str(field.type))) for field in fields(EstimateRow)),
    *((name, "string") for name in ACCESS_LABELS),
    *((name, "date") for name in DATE_LABELS),
)
"""Columns of tables of estimates, and their types."""


def write(file: IO[bytes], folder: str, survey: Survey, rows: Iterable[bytes], content: Content) -> None:
    """Write the archive of a survey.

    Parameters
    ----------
    file : binary file
    folder : str
        The folder that holds all of it, so that it does not spill into the one where somebody unpacks it.
    survey : Survey
    rows : iterable of bytes
        The lines of ``reports.csv``; none where the survey keeps only tallies.
    content : Content
        Everything else.
    """
    resources = [Resource(name, ESTIMATE_COLUMNS) for name in content.estimates]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, folder, "survey.json", survey.document)
        for name, written in (*content.estimates.items(), *content.files.items()):
            _add(archive, folder, name, written)
        for name, text in content.texts.items():
            _add(archive, folder, name, text.encode())
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / DATABASE
            if survey.retention == "reports":
                resources.append(Resource("reports.csv", _report_columns(survey)))
                with archive.open(_entry(folder, "reports.csv"), "w", force_zip64=True) as entry:
                    _write_database(path, survey, _copied(rows, entry), content)
            else:
                _write_database(path, survey, (), content)
            with path.open("rb") as database, archive.open(_entry(folder, DATABASE), "w", force_zip64=True) as entry:
                shutil.copyfileobj(database, entry)
        for name, describe in (("datapackage.json", data_package), ("csv-metadata.json", table_group)):
            described = describe(survey, content.about["title"], resources, content.columns)
            _add(archive, folder, name, json.dumps(described, indent=1, ensure_ascii=False).encode())
        names = [name.removeprefix(f"{folder}/") for name in archive.namelist()]
        _add(archive, folder, "README.txt", readme(content.about, names).encode())


def _copied(rows: Iterable[bytes], entry: IO[bytes]) -> Iterator[bytes]:
    """Lines that are written as they are read, so that the rows of the store are read once."""
    for line in rows:
        entry.write(line)
        yield line


def _write_database(path: Path, survey: Survey, rows: Iterable[bytes], content: Content) -> None:
    from deniable_statistics.archive.sqlite_file import SqliteTable, write_sqlite  # for archives alone

    tables = [
        SqliteTable(name.removesuffix(".csv").replace("-", "_"), ESTIMATE_COLUMNS, written.splitlines(keepends=True))
        for name, written in content.estimates.items()
    ]
    if survey.retention == "reports":
        tables.append(SqliteTable("reports", _report_columns(survey), rows, key="id"))
    write_sqlite(path, survey, tables, content.about)


def recipes(survey: Survey, estimates: Sequence[EstimateRow]) -> Iterator[tuple[str, str]]:
    """Scripts of Python and R that recompute each question from the rows beside them, by the names of their files."""
    if survey.retention == "tallies":
        return
    for question in survey.questions:
        rows = [share_view(question, row) for row in estimates if row.question == question.id]
        for text, suffix in zip(scripts(question, rows, url=None), ("py", "R"), strict=True):
            if text:
                yield f"recompute/{question.id}.{suffix}", text


def data_package(
    survey: Survey, title: str, resources: Sequence[Resource], meanings: Mapping[str, str]
) -> dict[str, Any]:
    """The description of the tables as a Frictionless data package.

    Parameters
    ----------
    survey : Survey
    title : str
        That of all files: where a program sent the replies, it says so.
    resources : sequence of Resource
    meanings : mapping of str to str
        What columns of estimates mean.
    """

    def field(table: Resource, name: str, kind: str) -> dict[str, str]:
        meaning = _meaning(table, name, meanings)
        return {"name": name, "type": kind, **({"description": meaning} if meaning else {})}

    stated = License.of(survey)
    return {
        "profile": "tabular-data-package",
        "name": f"deniable-{survey.id}",
        "title": title,
        **({"description": f"Who was asked, in the author's words: {survey.sample}"} if survey.sample else {}),
        "id": survey.id,
        **({} if stated is None else {"licenses": [_licensed(stated)]}),
        "resources": [
            {
                "profile": "tabular-data-resource",
                "name": each.path.removesuffix(".csv"),
                "path": each.path,
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": {
                    "fields": [field(each, name, kind) for name, kind in each.columns],
                    "missingValues": [""],
                },
            }
            for each in resources
        ],
    }


def _licensed(stated: License) -> dict[str, str]:
    """A licence as a data package has it: a name of the list of SPDX, an address, and a title."""
    known = {"name": stated.spdx, "path": stated.address, "title": stated.text}
    return {key: value for key, value in known.items() if value is not None}


def table_group(
    survey: Survey, title: str, resources: Sequence[Resource], meanings: Mapping[str, str]
) -> dict[str, Any]:
    """The description of the tables by *CSV on the Web* (W3C), whose readers find it beside them by its name.

    Parameters are those of `data_package`.
    """

    def column(table: Resource, name: str, kind: str) -> dict[str, str]:
        meaning = _meaning(table, name, meanings)
        return {"titles": name, "datatype": kind, **({"dc:description": meaning} if meaning else {})}

    stated = License.of(survey)
    return {
        "@context": "http://www.w3.org/ns/csvw",
        "dc:title": title,
        "dc:identifier": survey.id,
        **({"dc:creator": str(survey.organiser)} if survey.organiser else {}),
        **({} if stated is None else {"dc:license": {"@id": stated.address} if stated.address else stated.text}),
        "tables": [
            {"url": each.path, "tableSchema": {"columns": [column(each, *named) for named in each.columns]}}
            for each in resources
        ],
    }


def _meaning(table: Resource, name: str, meanings: Mapping[str, str]) -> str | None:
    # The column of a question may have the name of one of estimates.
    return meanings.get(name) if table.path.startswith("estimates") else None


def _report_columns(survey: Survey) -> list[tuple[str, str]]:
    kinds = {each.id: "string" if each.reports.json_type is str else "integer" for each in survey.questions}
    return [(name, kinds.get(name, "string")) for name in reports_header(survey)]


def _entry(folder: str, name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(f"{folder}/{name}", EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _add(archive: zipfile.ZipFile, folder: str, name: str, content: bytes) -> None:
    archive.writestr(_entry(folder, name), content)

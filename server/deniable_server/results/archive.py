"""One archive of a survey: its document, noisy rows, estimates, releases, figures, scripts, and how to cite it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import IO, Any

from deniable import EstimateRow, Survey
from deniable.access.words import ACCESS_LABELS
from deniable_server.results.releases import reports_header
from deniable_statistics.views.recipe import scripts
from deniable_statistics.views.view_rows import share_view

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file of an archive: the same content has the same bytes, and no file says when it was made."""

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


def _type_of(annotation: str) -> str:
    return _TYPES[annotation.removesuffix(" | None")]


ESTIMATE_COLUMNS = (
    *((field.name, _type_of(str(field.type))) for field in fields(EstimateRow)),
    *((name, "string") for name in ACCESS_LABELS),
)
"""Columns of tables of estimates, and their types."""


def write(
    file: IO[bytes], survey: Survey, rows: Iterable[bytes], estimates: Mapping[str, bytes], texts: Mapping[str, str]
) -> None:
    """Write the archive of a survey.

    Parameters
    ----------
    file : binary file
    survey : Survey
    rows : iterable of bytes
        The lines of ``reports.csv``; none where the survey keeps only tallies.
    estimates : mapping of str to bytes
        Tables of estimates, by the names of their files.
    texts : mapping of str to str
        Further files by their names: releases, scripts, citations, a paragraph of methods.
    """
    resources = [Resource(name, ESTIMATE_COLUMNS) for name in estimates]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "survey.json", survey.document)
        for name, content in estimates.items():
            _add(archive, name, content)
        for name, text in texts.items():
            _add(archive, name, text.encode())
        if survey.retention == "reports":
            with archive.open(_entry("reports.csv"), "w", force_zip64=True) as entry:
                for line in rows:
                    entry.write(line)
            resources.append(Resource("reports.csv", _report_columns(survey)))
        package = json.dumps(data_package(survey, resources), indent=1, ensure_ascii=False)
        _add(archive, "datapackage.json", package.encode())


def recipes(survey: Survey, estimates: Sequence[EstimateRow], url: str) -> Iterator[tuple[str, str]]:
    """Scripts of Python and R that recompute each question, by the names of their files; ``url`` is of the rows."""
    if survey.retention == "tallies":
        return
    for question in survey.questions:
        rows = [share_view(question, row) for row in estimates if row.question == question.id]
        for text, suffix in zip(scripts(question, rows, url), ("py", "R"), strict=True):
            if text:
                yield f"recompute/{question.id}.{suffix}", text


def data_package(survey: Survey, resources: Sequence[Resource]) -> dict[str, Any]:
    """The description of the tables as a Frictionless data package."""
    return {
        "profile": "tabular-data-package",
        "name": f"deniable-{survey.id}",
        "title": str(survey.title),
        "id": survey.id,
        "resources": [
            {
                "profile": "tabular-data-resource",
                "name": each.path.removesuffix(".csv"),
                "path": each.path,
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": {
                    "fields": [{"name": name, "type": kind} for name, kind in each.columns],
                    "missingValues": [""],
                },
            }
            for each in resources
        ],
    }


def _report_columns(survey: Survey) -> list[tuple[str, str]]:
    kinds = {each.id: "string" if each.reports.json_type is str else "integer" for each in survey.questions}
    return [(name, kinds.get(name, "string")) for name in reports_header(survey)]


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(_entry(name), content)

"""The manifest of a folder of exported reports, and the check of the folder against it.

An export is a folder::

    survey.json                    as it was published: its hash is the survey's address
    manifest.json                  rows, columns, and the SHA-256 of each part
    reports/part-00000.parquet     rows up to a fixed number, sorted by random id over all parts
    reports/cohort=web/part-...    the same, in a folder for each cohort

No field is a date: neither the day of an export nor the time of a report is recorded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deniable.errors import ReportError
from deniable.survey.document import Survey, address
from deniable.survey.published import parse_survey
from deniable.wire import strict_json
from deniable_statistics.data.data_set import Kind, Variable
from deniable_statistics.published.access_columns import enforced

MANIFEST, SURVEY, REPORTS = "manifest.json", "survey.json", "reports"
"""Names of the files and of the folder of parts in an export."""

FORMATS = ("parquet", "csv", "jsonl")
"""File formats of parts, which are also the suffixes of their names."""

TYPES = {Kind.WHOLE: "integer", Kind.REAL: "number", Kind.TEXT: "text", Kind.CATEGORY: "text"}
"""Types of columns in a manifest, by the kind of the variable; any cell may be empty."""


@dataclass(frozen=True)
class PartFile:
    """One part of an export: a file of rows.

    Attributes
    ----------
    path : str
        Within the folder of the export, with ``/``.
    rows, bytes : int
    sha256 : str
        In hexadecimal.
    """

    path: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The manifest of an export: its survey, columns and parts.

    Attributes
    ----------
    survey : str
        The address of the survey.
    form : str
        One of `FORMATS`.
    partitions : tuple of str
        Columns that are names of folders, such as ``cohort=web``, and not in the parts.
    rows_by_cohort : mapping of str or None to int
    types : mapping of str to str
        Type of each column by name, including `partitions`: a value of `TYPES`.
    parts : tuple of PartFile
    """

    survey: str
    form: str
    partitions: tuple[str, ...]
    rows_by_cohort: Mapping[str | None, int]
    types: Mapping[str, str]
    parts: tuple[PartFile, ...]

    @property
    def rows(self) -> int:
        """Number of rows in all cohorts."""
        return sum(self.rows_by_cohort.values())

    def encode(self, survey: Survey, columns: Sequence[Variable], tool: str) -> bytes:
        """The bytes of ``manifest.json``, which also has the title, the labels and the tool that wrote it."""
        document = {
            "survey": self.survey,
            "title": survey.title,
            "tool": tool,
            "format": self.form,
            "partitions": list(self.partitions),
            "access": survey.access,
            "one_report_a_person": enforced(survey.access),
            "rows": self.rows,
            "rows_by_cohort": [{"cohort": cohort, "rows": n} for cohort, n in self.rows_by_cohort.items()],
            "columns": [
                {"name": each.name, "type": self.types[each.name], "label": each.label}
                | ({"values": {str(n): text for n, text in each.value_labels.items()}} if each.value_labels else {})
                for each in columns
            ],
            "parts": [vars(part) for part in self.parts],
        }
        return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True)
class Export:
    """An export that `open_export` has checked."""

    folder: Path
    survey: Survey
    manifest: Manifest


def open_export(folder: Path) -> Export | None:
    """Open the export in a folder, after all of its parts are compared with the manifest; None without a manifest.

    All parts are read once for their hashes.

    Raises
    ------
    ReportError
        If a part or the survey is missing, was changed or added; if the manifest is not valid; or if a file cannot be
        read.
    """
    try:
        return _open(folder)
    except OSError as error:
        raise ReportError(f"{folder.name}: cannot be read: {error.strerror or error}") from None


def _open(folder: Path) -> Export | None:
    try:
        raw = (folder / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    manifest = parse_manifest(raw, folder.name)
    try:
        document = (folder / SURVEY).read_bytes()
    except FileNotFoundError:
        raise ReportError(f"{folder.name}: must hold {SURVEY}, got none") from None
    if address(document) != manifest.survey:
        raise ReportError(
            f"{folder.name}: {SURVEY} must be survey {manifest.survey!r:.40}, as {MANIFEST} says, got other bytes, "
            f"{address(document)}"
        )
    _compare(folder, manifest.parts)
    return Export(folder, parse_survey(document, manifest.survey), manifest)


def parse_manifest(raw: bytes, subject: str) -> Manifest:
    """Parse a manifest, all parts of which must lie under `REPORTS`.

    Raises
    ------
    ReportError
        If it is not a valid manifest; the message begins with ``subject``, the name of its folder.
    """
    # Not a model of pydantic, which the extra ``engine`` does not install.
    content = strict_json.loads(raw, ReportError, f"{subject}: {MANIFEST}")
    try:
        manifest = Manifest(
            survey=content["survey"],
            form=content["format"],
            partitions=tuple(map(str, content["partitions"])),
            rows_by_cohort={each["cohort"]: each["rows"] for each in content["rows_by_cohort"]},
            types={str(column["name"]): str(column["type"]) for column in content["columns"]},
            # By path: a part that is listed twice is one file, and counts once.
            parts=tuple({str(part["path"]): PartFile(**part) for part in content["parts"]}.values()),
        )
        is_whole = (
            manifest.form in FORMATS
            and type(content["rows"]) is int
            and content["rows"] == sum(part.rows for part in manifest.parts) == manifest.rows
            and all(type(part.bytes) is int for part in manifest.parts)
            and set(manifest.types.values()) <= set(TYPES.values())
        )
    except (KeyError, TypeError):
        is_whole = False
    if not is_whole:
        raise ReportError(f"{subject}: {MANIFEST} must be as 'deniable export' writes it, got something else")
    paths = [str(part.path) for part in manifest.parts]
    # The manifest may come from a stranger: a part named ../../x must not be opened.
    if elsewhere := [path for path in paths if not _is_within(path)]:
        raise ReportError(f"{subject}: {MANIFEST} must name parts in {REPORTS}/ only, got {elsewhere[0]!r:.80}")
    if others := [path for path in paths if not path.endswith(f".{manifest.form}")]:
        raise ReportError(f"{subject}: {MANIFEST} must name parts that end in .{manifest.form}, got {others[0]!r:.80}")
    return manifest


def _is_within(path: str) -> bool:
    """Whether a part lies under `REPORTS`.

    >>> [_is_within(path) for path in ("reports/part-00000.csv", "reports/../../part-00000.csv", "/reports/a.csv")]
    [True, False, False]
    """
    # A colon would name a drive or a stream of Windows, a backslash one of its folders.
    first, *rest = path.split("/")
    return first == REPORTS and bool(rest) and not {"", ".", ".."} & set(rest) and not set("\\\0:") & set(path)


def _compare(folder: Path, listed: Sequence[PartFile]) -> None:
    """Raise a ReportError unless the folder holds exactly these parts, unchanged."""
    parts = {part.path: part for part in listed}
    found = {path.relative_to(folder).as_posix(): path for path in _files(folder / REPORTS)}
    if missing := sorted(parts.keys() - found.keys()):
        raise ReportError(f"{folder.name}: must hold {_shown(missing)}, as {MANIFEST} says, got none")
    if others := sorted(found.keys() - parts.keys()):
        raise ReportError(f"{folder.name}: must hold the parts of {MANIFEST} only, got {_shown(others)}")
    for name, part in parts.items():
        size = found[name].stat().st_size
        # Sizes first: a truncated copy is found without reading it.
        if size != part.bytes:
            raise ReportError(
                f"{folder.name}: {shown(name)} must have {part.bytes} bytes, as {MANIFEST} says, got {size}"
            )
        if sha256_of(found[name]) != part.sha256:
            raise ReportError(
                f"{folder.name}: {shown(name)} was changed since it was exported: its SHA-256 is another one"
            )


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if not path.is_dir())


def _shown(names: list[str]) -> str:
    return shown(names[0]) + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def shown(path: str) -> str:
    r"""The name of a part, made safe for a message, since a stranger may have written the manifest.

    >>> shown("reports/cohort=Zürich/part-00000.csv"), shown("reports/a\nb.csv")
    ('reports/cohort=Zürich/part-00000.csv', 'reports/a\\nb.csv')
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in path)


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

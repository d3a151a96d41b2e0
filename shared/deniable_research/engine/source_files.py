"""Search for the files that an engine reads, done here because engines read folders and patterns differently."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import NamedTuple

from deniable.errors import ReportError
from deniable_statistics.data.manifest import REPORTS, Export

READERS = {
    ".parquet": "read_parquet",
    ".csv": "read_csv",
    ".jsonl": "read_json",
    ".ndjson": "read_json",
}
"""Names of the reading methods of ibis, by suffix."""


class Files(NamedTuple):
    """Files of one kind.

    Attributes
    ----------
    name : str
        Their name in messages.
    suffix : str
        Their common suffix, in lower case.
    paths : list of str
        Paths of all files; an address stays as it was given, and may be a pattern.
    base : str, optional
        The folder below which folder names are Hive partitions.
    """

    name: str
    suffix: str
    paths: list[str]
    base: str | None = None


def find_files(where: str) -> Files:
    """The files of a folder or a pattern, or one file.

    Names that begin with a dot are left out unless they are given: unfinished files have such names.

    Raises
    ------
    ReportError
        If there are none, or their suffixes differ.
    """
    name = where.rstrip("/").rpartition("/")[2] or where
    if "://" in where:
        # Only the engine can list what is at an address.
        suffix = next((each for each in READERS if where.lower().endswith(each)), ".parquet")
        return Files(name, suffix, [where])
    endings = ", ".join(READERS)
    is_folder = os.path.isdir(where)
    if is_folder:
        below = glob.iglob(os.path.join(glob.escape(where), "**", "*"), recursive=True)
        found = [each for each in below if _suffix(each) in READERS and not os.path.isdir(each)]
        if not found:
            raise ReportError(f"{name}: must hold files that end in {endings}, got none")
    else:
        found = glob.glob(glob.escape(where) if os.path.exists(where) else where, recursive=True)
        if not found:
            raise ReportError(f"{name}: must be a folder, a file or a pattern of files, got nothing of that name")
        if folders := sorted(filter(os.path.isdir, found)):
            raise ReportError(f"{name}: must be a pattern of files, got the folder {Path(folders[0]).name!r:.80}")
    # One reader reads all of them: engines do not mix formats in one table.
    suffixes = sorted(set(map(_suffix, found)))
    if len(suffixes) > 1 or suffixes[0] not in READERS:
        raise ReportError(f"{name}: must be files that all end in one of {endings}, got {', '.join(suffixes)}")
    # A file with several names, by symbolic links, is read once, by the shortest of them.
    names = {os.path.realpath(each): each for each in sorted(found, key=lambda path: (-len(path), path))}
    return Files(name, suffixes[0], sorted(names.values()), where if is_folder else None)


def files_of_export(export: Export) -> Files:
    """The parts of an export, as its manifest lists them."""
    paths = [f"{export.folder}/{part.path}" for part in export.manifest.parts]
    return Files(export.folder.name, f".{export.manifest.form}", paths, f"{export.folder}/{REPORTS}")


def for_duckdb(path: str) -> str:
    """A path for DuckDB, with the characters of its patterns escaped.

    >>> for_duckdb("/study/a[1].csv"), for_duckdb("s3://study/*.csv")
    ('/study/a[[]1].csv', 's3://study/*.csv')
    """
    return path if "://" in path else glob.escape(os.path.abspath(path))


def for_spark(path: str) -> str:
    r"""A path for Spark, with the characters of its patterns escaped, which are more than those of DuckDB.

    >>> for_spark("/study/a[1].csv"), for_spark("s3://study/*.csv")
    ('/study/a\\[1\\].csv', 's3://study/*.csv')
    """
    return path if "://" in path else re.sub(r"[][\\{}*?]", r"\\\g<0>", os.path.abspath(path))


def _suffix(path: str) -> str:
    return Path(path).suffix.lower()

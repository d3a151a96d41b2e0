"""Files that an engine is told to read, found here: each engine understands folders and patterns in its own way."""

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
"""What reads files whose names end so."""


class Files(NamedTuple):
    """Files of one kind.

    Attributes
    ----------
    name : str
        What messages call them.
    suffix : str
        How they all end, in small letters.
    paths : list of str
        All of them. An address is there as it was given, and may be a pattern.
    base : str, optional
        The folder below which the names of folders are partitions.
    """

    name: str
    suffix: str
    paths: list[str]
    base: str | None = None


def find_files(where: str) -> Files:
    """The files of a folder, one file, or those of a pattern.

    Names that begin with a dot are left out unless they are given: what is written and not yet whole is called so.

    Raises
    ------
    ReportError
        If there are none, or they end differently.
    """
    name = where.rstrip("/").rpartition("/")[2] or where
    if "://" in where:
        # Only the engine knows what is there.
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
    # A file that links lead to as well is read once, by the shortest of its names.
    names = {os.path.realpath(each): each for each in sorted(found, key=lambda path: (-len(path), path))}
    return Files(name, suffixes[0], sorted(names.values()), where if is_folder else None)


def files_of_export(export: Export) -> Files:
    """The parts that its manifest names."""
    paths = [f"{export.folder}/{part.path}" for part in export.manifest.parts]
    return Files(export.folder.name, f".{export.manifest.form}", paths, f"{export.folder}/{REPORTS}")


def for_duckdb(path: str) -> str:
    """A path as DuckDB takes it, which reads a name with ``*`` as a pattern.

    >>> for_duckdb("/study/a[1].csv"), for_duckdb("s3://study/*.csv")
    ('/study/a[[]1].csv', 's3://study/*.csv')
    """
    return path if "://" in path else glob.escape(os.path.abspath(path))


def for_spark(path: str) -> str:
    r"""A path as Spark takes it, which reads more characters as patterns.

    >>> for_spark("/study/a[1].csv"), for_spark("s3://study/*.csv")
    ('/study/a\\[1\\].csv', 's3://study/*.csv')
    """
    return path if "://" in path else re.sub(r"[][\\{}*?]", r"\\\g<0>", os.path.abspath(path))


def _suffix(path: str) -> str:
    return Path(path).suffix.lower()

"""From which tool a file seems to come, by its first lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection
from pathlib import Path

from deniable.errors import DeniableError
from deniable_research.files.csv_file import DELIMITERS
from deniable_research.files.reading import READERS, read_columns
from deniable_research.hosts.records import is_json
from deniable_research.hosts.tools import data_files

LOOKED_AT = 65_536
"""How many bytes of a file are looked at."""


def looks_like(path: Path) -> str | None:
    """The name of the tool of `HOSTS` from which a file seems to come; None where nothing tells.

    A folder is one of files of jsPsych, which alone writes a file for each person.
    """
    if path.is_dir():
        files = data_files(path)
        return "jspsych" if files and looks_like(files[0]) == "jspsych" else None
    start = _start(path)
    if is_json(path):
        return "jspsych" if '"trial_type"' in start or '"trial_index"' in start else "surveyjs"
    return _by_header(_header(path, start))


def _start(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(LOOKED_AT).decode("utf-8-sig", errors="replace")


def _header(path: Path, start: str) -> list[str]:
    """The names of columns; empty where the file has none."""
    if path.suffix.lower() in READERS:
        try:
            return list(read_columns(path))
        except DeniableError:
            return []
    first = start.partition("\n")[0].strip("\r")
    between = max(DELIMITERS, key=first.count)
    try:
        return next(csv.reader([first], delimiter=between), [])
    except csv.Error:  # a damaged file looks like nothing, and reading it says where it is damaged
        return []


def _by_header(header: Collection[str]) -> str | None:
    names = set(header)
    codes = {each.partition(". ")[0] for each in header}
    if {"trial_type", "trial_index"} <= names:
        return "jspsych"
    if "participant.code" in names or any(re.fullmatch(r"\w+\.\d+\.player\.\w+", each) for each in header):
        return "otree"
    if {"ResponseId", "RecordedDate"} <= names:
        return "qualtrics"
    if {"submitdate", "lastpage", "startlanguage"} <= codes:
        return "limesurvey"
    if any(each.startswith("redcap_") for each in header):
        return "redcap"
    return None

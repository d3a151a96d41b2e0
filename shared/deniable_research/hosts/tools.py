"""How each tool writes its export, and where in it the values of a question stand."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from deniable.errors import ParameterError, ReportError
from deniable_research.files.reading import Columns, read_columns
from deniable_research.hosts.one_row_a_person import People, by_column, by_restarts, whole
from deniable_research.hosts.records import JSON_SUFFIXES, Record, columns_of, csv_records, flat, is_json, json_objects


@dataclass(frozen=True)
class Rows:
    """What a tool exported, one row a person.

    Attributes
    ----------
    columns : mapping of str to CodedColumn
    repeated : mapping of str to int
        How many people have different values in a column that was one for each of their rows.
    notes : tuple of str
        What was left out, in words.
    """

    columns: Columns
    repeated: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


Reader = Callable[[Path, str | None, str | None], Rows]
"""Reads a file, with the delimiter of a CSV and the column that names people, if they are said."""


@dataclass(frozen=True)
class Tool:
    """A tool whose exports can be read.

    Attributes
    ----------
    title : str
        How it calls itself.
    read : Reader
    finds : callable
        Whether a column holds the values of the element with a name.
    where : str
        Where these values stand, in words.
    takes_folders : bool
        Whether people may have a file each, in one folder.
    takes_person : bool
        Whether a person may have several rows.
    """

    title: str
    read: Reader
    finds: Callable[[str, str], bool]
    where: str
    takes_folders: bool = False
    takes_person: bool = False


def _jspsych(path: Path, delimiter: str | None, person: str | None) -> Rows:
    """Trials, with the answers of a form as JSON in the column ``response``."""
    files = data_files(path) if path.is_dir() else [path]
    people: list[list[Record]] = []
    every: list[Record] = []
    for file in files:
        trials = [_trial(each, file.name) for each in _trials(file, delimiter)]
        # Without a column that names people each file is about people of its own.
        every += trials
        people += [] if person else by_restarts(trials, "trial_index", file.name)
    if person:
        people = by_column(every, person, path.name)
    return _rows(whole(people, lambda name: name.startswith(_RESPONSE)), _RESPONSE)


_RESPONSE = "response."


def data_files(folder: Path) -> list[Path]:
    """The files of a folder that hold data, sorted by name."""
    return sorted(each for each in folder.iterdir() if each.suffix.lower() in (".csv", *JSON_SUFFIXES))


def _trials(file: Path, delimiter: str | None) -> Sequence[Mapping[str, Any]]:
    if is_json(file):
        return json_objects(file)
    # jsPsych writes what is null as that word.
    return [{name: cell for name, cell in row.items() if cell != "null"} for row in csv_records(file, delimiter)]


def _trial(trial: Mapping[str, Any], subject: str) -> Record:
    """A trial with the fields of its response; what a tool stored as a text of JSON is read as JSON."""
    response = trial.get("response")
    if isinstance(response, str) and response.startswith('{"'):  # a single { is a key that somebody pressed
        try:
            response = json.loads(response)
        except (json.JSONDecodeError, RecursionError):
            raise ReportError(f"{subject}: column 'response' must hold whole JSON objects, got a part of one") from None
    # Anything but the fields of a form is a key or a button, and no answer to a question of a survey.
    fields = {"response": response} if isinstance(response, dict) else {}
    return dict(flat({**{name: each for name, each in trial.items() if name != "response"}, **fields}))


def _rows(people: People, prefix: str = "") -> Rows:
    """People as columns, whose answers lose a prefix where no other column has that name."""
    columns = columns_of(people.records)
    short = {name: name.removeprefix(prefix) for name in columns}
    taken = Counter(short.values())
    # Two columns that would get one name keep their own.
    names = {name: each if taken[each] == 1 else name for name, each in short.items()}
    repeated = {names.get(name, name): number for name, number in people.repeated.items()}
    return Rows({names[name]: column for name, column in columns.items()}, repeated)


def _surveyjs(path: Path, delimiter: str | None, _person: str | None) -> Rows:
    """One object a reply, as `survey.data` is; or a table."""
    if not is_json(path):
        return Rows(read_columns(path, delimiter))
    replies = json_objects(path)
    # The service of SurveyJS puts all replies into one object.
    if len(replies) == 1 and isinstance(replies[0].get("Data"), list):
        replies = [each for each in replies[0]["Data"] if isinstance(each, dict)]
    return Rows(columns_of(dict(flat(each)) for each in replies))


_WIDE = re.compile(r"\w+\.\d+\.player\.(?P<field>\w+)")


def _otree(path: Path, delimiter: str | None, person: str | None) -> Rows:
    """All apps, one row a participant; or one app, one row a participant and round."""
    columns = read_columns(path, delimiter)
    if any(_WIDE.fullmatch(name) for name in columns):
        began = columns.get("participant._index_in_pages")
        if began is None:
            return Rows(columns)
        # A participant who never opened the first page has a row all the same.
        return _without(Rows(columns), began.equal("0"), "participants who never began")
    records = csv_records(path, delimiter)
    people = by_column(records, person or "participant.code", path.name)
    return _rows(whole(people, lambda name: name.startswith("player.")))


def _qualtrics(path: Path, delimiter: str | None, _person: str | None) -> Rows:
    """Below the names of columns stand their texts and their ImportIds."""
    columns = read_columns(path, delimiter)
    titles = _titles(columns)
    if not titles:
        raise ReportError(
            f"{path.name}: must have the row of ImportIds that Qualtrics writes below the names of columns; a file "
            "that was changed is read without --host, and --skip leaves rows of titles out"
        )
    kept = {name: column.where(np.arange(len(column)) >= titles) for name, column in columns.items()}
    if "Status" not in kept:
        return Rows(kept)
    # In words, or as numbers where the export has "use numeric values".
    others = kept["Status"].equal_label("Survey Preview", "Survey Test", "Spam", "1", "2", "8")
    return _without(Rows(kept), others, "previews, tests and spam")


def _titles(columns: Columns) -> int:
    """The number of rows of titles below the names; 0 without a row of ImportIds among the first three."""
    for row in range(min(3, min(map(len, columns.values()), default=0))):
        if any('"ImportId"' in (column[row] or "") for column in columns.values()):
            return row + 1
    return 0


def _limesurvey(path: Path, delimiter: str | None, _person: str | None) -> Rows:
    """One row a reply, whose columns are codes of questions, or codes with texts."""
    return Rows(read_columns(path, delimiter))


def _redcap(path: Path, delimiter: str | None, person: str | None) -> Rows:
    """One row a record; of longitudinal projects one row a record and event or instance."""
    columns = read_columns(path, delimiter)
    if not {"redcap_event_name", "redcap_repeat_instance"} & columns.keys():
        return Rows(columns)
    records = csv_records(path, delimiter)
    people = by_column(records, person or next(iter(columns)), path.name)
    return _rows(whole(people, lambda name: not name.startswith("redcap_")))


def _without(rows: Rows, gone: Any, whom: str) -> Rows:
    """The rows without some, and a note that says how many they are."""
    number = int(gone.sum())
    if not number:
        return rows
    columns = {name: column.where(~gone) for name, column in rows.columns.items()}
    return Rows(columns, rows.repeated, (*rows.notes, f"left out: {whom}, {number} of {len(gone)} rows"))


def _is_name(column: str, name: str) -> bool:
    return column == name


def _is_of_jspsych(column: str, name: str) -> bool:
    return column.removeprefix(_RESPONSE) == name


def _is_of_otree(column: str, name: str) -> bool:
    wide = _WIDE.fullmatch(column)
    return column in (name, f"player.{name}") or (wide is not None and wide["field"] == name)


def _is_of_qualtrics(column: str, name: str) -> bool:
    # Embedded data that JavaScript sets have this before their name in newer layouts.
    return column.removeprefix("__js_") == name


def _is_of_limesurvey(column: str, name: str) -> bool:
    # Codes of questions have no underscores; with the setting "code & text" a point and the text follow.
    return column.partition(". ")[0] in (name, name.replace("_", ""))


HOSTS: dict[str, Tool] = {
    "jspsych": Tool("jsPsych", _jspsych, _is_of_jspsych, "fields of a response", takes_folders=True, takes_person=True),
    "surveyjs": Tool("SurveyJS", _surveyjs, _is_name, "names of questions"),
    "otree": Tool("oTree", _otree, _is_of_otree, "fields of a player", takes_person=True),
    "qualtrics": Tool("Qualtrics", _qualtrics, _is_of_qualtrics, "embedded data"),
    "limesurvey": Tool("LimeSurvey", _limesurvey, _is_of_limesurvey, "codes of questions"),
    "redcap": Tool("REDCap", _redcap, _is_name, "names of variables", takes_person=True),
}
"""Tools by their names on the command line."""


def tool(name: str) -> Tool:
    """A tool by its name.

    Raises
    ------
    ParameterError
        If there is none of that name.
    """
    if name not in HOSTS:
        raise ParameterError(f"host: must be one of {', '.join(HOSTS)}, got {name!r:.40}")
    return HOSTS[name]

"""A file of another tool's form, whichever it is, as a survey file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from deniable.errors import ParameterError
from deniable_server.authors.importing import surveyjs, xlsform
from deniable_server.authors.importing.conditions import Untranslatable, translate
from deniable_server.authors.importing.imported_questions import Asked, Form, Imported, settled
from deniable_server.authors.importing.workbooks import free_name

READERS = {".xlsx": xlsform.read, ".xls": xlsform.read, ".json": surveyjs.read}
"""Readers by the suffix of the file."""

LONGEST_ID = 40
_RESERVED = ("id", "cohort")


def import_form(path: Path) -> Imported:
    """Read a form, and take over what a survey file can hold.

    Raises
    ------
    ParameterError
        If the file is of no tool that is known.
    SurveyError
        If it is not what its suffix says.
    """
    read = READERS.get(path.suffix.lower())
    if read is None:
        raise ParameterError(f"{path.name}: must be an XLSForm (.xlsx, .xls) or a survey of SurveyJS (.json)")
    form = read(path)
    return settled(form, _translated(form))


def _translated(form: Form) -> Iterator[tuple[str, str, str]]:
    """For each question its id, its condition, which may name those before it, and why that cannot be said."""
    known: dict[str, tuple[str, Asked]] = {}
    taken: set[str] = set()
    for asked in form.questions:
        name = _identifier(asked.name)
        name = free_name(name[: LONGEST_ID - 4], taken) if name in taken else name
        taken.add(name)
        try:
            yield name, translate(asked.condition, known), ""
        except Untranslatable as why:
            yield name, "", str(why)
        known[asked.name] = name, asked


def _identifier(name: str) -> str:
    """A name as the id of a question.

    >>> _identifier("Q1 Smoking?"), _identifier("2nd"), _identifier("id")
    ('q1_smoking', 'q_2nd', 'q_id')
    """
    found = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[: LONGEST_ID - 2] or "question"
    return found if found[0].isalpha() and found not in _RESERVED else f"q_{found}"

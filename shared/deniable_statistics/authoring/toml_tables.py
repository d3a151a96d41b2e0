"""Tables of a survey's file: their keys, each error with the subject of its table."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any

from deniable.errors import SurveyError, shown


def required(written: Mapping[str, Any], key: str, where: str) -> Any:
    """The value of a key that must be there."""
    if key not in written:
        raise SurveyError(f"{where}: must have the key {key}")
    return written[key]


def listed(written: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """The list under a key that must be there."""
    value = required(written, key, where)
    if not isinstance(value, list):
        more = '; in several languages, write each entry as { default = "...", de = "..." }'
        hint = more if isinstance(value, Mapping) and all(isinstance(each, list) for each in value.values()) else ""
        raise SurveyError(f'{where}: {key} must be a list like ["a", "b"], got {shown(value)}{hint}')
    return value


def refuse_unknown(
    written: Mapping[str, Any], known: Collection[str], where: str, of_survey: Collection[str] = ()
) -> None:
    """Raise a SurveyError that names the first unknown key, and perhaps the known one that was meant.

    ``of_survey`` are keys of the whole survey: in TOML, those that stand below a table belong to it.
    """
    for key in written:
        if key in of_survey and key not in known:
            raise SurveyError(
                f"{where}: has the key {key!r}, which is one of the whole survey; move it above the first line in "
                "double brackets, because all lines below that belong to what it begins"
            )
        if key not in known:
            raise SurveyError(f"{where}: has the unknown key {key!r}; {key_hint(key, known)}")


def key_hint(key: str, known: Collection[str]) -> str:
    """A hint at what an author meant by an unknown key: the most similar known key, or else all of them.

    >>> key_hint("titel", ("title", "readers")), key_hint("order", ("title", "readers"))
    ("did you mean 'title'?", 'it can have title, readers')
    """
    near = difflib.get_close_matches(key, known, n=1, cutoff=NEAR_SPELLING)
    return f"did you mean {near[0]!r}?" if near else f"it can have {', '.join(known)}"


NEAR_SPELLING = 0.75
"""Least `difflib` similarity that counts as a slip: "titel" and "title" have .80, "order" and "readers" .67."""

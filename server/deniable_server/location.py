"""Where a database is: the name of a file, or the address of a PostgreSQL database."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_IN_QUERY = re.compile(r"(?i)(?<=[?&])[^=&]*(?:pass|%)[^=&]*=.*")
_OF_USER = re.compile(r"(?<=://)([^:/@?]*):.*@")
"""Passwords, and rather too much: somebody may not have written their ``@``, ``/`` and ``&`` as libpq asks."""


@dataclass(frozen=True)
class Address:
    """The address of a PostgreSQL database, as libpq takes it: ``postgresql://user@host/name``.

    Its text and its ``repr`` hold no password.

    >>> str(Address("postgresql://ada:secret@db.example/deniable?password=too"))
    'postgresql://ada@db.example/deniable?...'
    """

    url: str = field(repr=False)

    def __str__(self) -> str:
        return _OF_USER.sub(r"\1@", _IN_QUERY.sub("...", self.url))


Location = Path | Address


def location(text: str | Path | Address) -> Location:
    """What somebody named with ``--db``.

    >>> location("survey.db")
    PosixPath('survey.db')
    >>> location("postgresql://db.example/deniable")
    Address()
    """
    if isinstance(text, str) and text.startswith(("postgresql://", "postgres://")):
        return Address(text)
    return text if isinstance(text, Address) else Path(text)

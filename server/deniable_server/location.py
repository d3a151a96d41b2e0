"""The location of a database: the name of a file, or the address of a PostgreSQL database."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from deniable.errors import ParameterError

_HARMLESS = "host|hostaddr|port|dbname|user|sslmode|target_session_attrs|connect_timeout|application_name"
# From the first parameter on that is not known to be harmless, all that follows is cut: a password may stand anywhere.
_IN_QUERY = re.compile(rf"(?<=[?&])(?!(?:{_HARMLESS})=).*")
_OF_USER = re.compile(r"(?<=://)([^:/@?]*):.*@")
"""User and password up to the last ``@``: characters of a password may lack the percent-encoding that libpq wants."""

_SCHEME = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
_LIKE_ADDRESS = re.compile(r"[a-z0-9+.-]+://|\b(?:password|dbname|host)\s*=", re.IGNORECASE)


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
    """The location that ``--db`` names: a path, or an `Address`.

    >>> location("survey.db")
    PosixPath('survey.db')
    >>> location(" postgresql://db.example/deniable")
    Address()

    Raises
    ------
    ParameterError
        If it is an address of another kind, which must not become the name of a file: it may hold a password.
    """
    if isinstance(text, str):
        if found := _SCHEME.match(text.strip()):
            return Address(f"postgresql://{text.strip()[found.end() :]}")
        # A mistyped address would become a file whose name holds a password, in the folder and in logs.
        if found := _LIKE_ADDRESS.search(text):
            raise ParameterError(
                f"database: must be a file, or an address like postgresql://user@host/name, got one with {found[0]!r}"
            )
    return text if isinstance(text, Address) else Path(text)

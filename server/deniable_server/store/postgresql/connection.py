"""Connections to PostgreSQL, their settings, and the locks that collectors take among each other."""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psycopg

from deniable.errors import DeniableError
from deniable_server.location import Address
from deniable_server.store.postgresql import durability

SCHEMA = "deniable"
"""The schema of the tables, and the whole search path."""

WAIT_SECONDS = 10
"""Timeout of a statement for a lock, and of a request for a connection, in seconds."""

SECONDS_TO_LEAVE = 5.0
"""Time for which a closed connection, or one of a killed process, may still be listed, in seconds."""

IDLE_SECONDS = 60
"""Timeout of idle transactions, in seconds: a frozen collector must not hold a survey."""

PARAMETERS: dict[str, Any] = {
    "autocommit": True,
    "application_name": "deniable",
    "connect_timeout": WAIT_SECONDS,
    "client_encoding": "UTF8",
}
"""Parameters of every connection, which override the address and the environment."""

PARTS = 64
"""Number of parts of a survey's checksum. Each collector changes one, so that two do not wait for each other."""

FOLDS_PART = PARTS
"""The part of the checksum that folds change.

A fold changes it before it locks the survey; with the part of a collector, the two would wait for each other.
"""

_numbers = itertools.count()


class PostgresqlConnection:
    """A `deniable_server.store.connection.Connection` over one of psycopg's.

    Parameters
    ----------
    raw : psycopg.Connection
        In a transaction, which somebody else begins and ends.
    part : int
        The part of checksums that this collector changes.
    """

    def __init__(self, raw: psycopg.Connection[Any], part: int = 0) -> None:
        self.raw = raw
        self._part = part

    def execute(self, query: str, values: Sequence[object] = (), /) -> psycopg.Cursor[Any]:
        """Run one statement."""
        return self.raw.execute(_marked(query), values or None)

    def stream(self, query: str, values: Sequence[object] = (), /) -> Iterator[Any]:
        """The rows of a query, some thousands at a time."""
        # A named cursor stays on the server, which sends the rows in pieces.
        with self.raw.cursor(f"rows_{next(_numbers)}") as cursor:
            cursor.itersize = 5000
            cursor.execute(_marked(query), values or None)
            yield from cursor

    def rows_with(
        self, columns: str, table: str, key: str, wanted: Iterable[str], *, lock: bool = False
    ) -> Iterable[Any]:
        """Rows by their keys, locked one after the other in the order of keys, so that nobody waits in a circle."""
        query = f"SELECT {columns} FROM {table} AS kept WHERE kept.{key} = ANY(?) ORDER BY kept.{key}"
        return self.execute(f"{query} FOR UPDATE" if lock else query, [sorted(set(wanted))])

    def insert(self, table: str, rows: Sequence[Sequence[object]]) -> int:
        """Insert the rows whose keys a table does not have, in order; return the number of inserted rows."""
        if not rows:
            return 0
        types = self.execute(
            "SELECT format_type(atttypid, NULL) FROM pg_attribute "
            "WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            [table],
        ).fetchall()
        return self.insert_typed(table, [kind for (kind,) in types], rows).rowcount

    def insert_typed(
        self, table: str, types: Sequence[str], rows: Sequence[Sequence[object]], returning: str = ""
    ) -> psycopg.Cursor[Any]:
        """Insert rows as one array a column, which is parsed in a fraction of the time of as many values."""
        columns = ", ".join(f"?::{kind}[]" for kind in types)
        query = f"INSERT INTO {table} SELECT * FROM unnest({columns}) ON CONFLICT DO NOTHING{returning}"
        return self.execute(query, [list(column) for column in zip(*rows, strict=True)])

    def has_table(self, name: str) -> bool:
        """Whether there is a table of that name."""
        return self.execute("SELECT to_regclass(?)", [name]).fetchone() != (None,)

    def checksum(self, survey_id: str) -> int | None:
        """The XOR of the parts of a checksum, or None where there are none."""
        parts = self.execute("SELECT checksum::text FROM checksums WHERE survey = ?", [survey_id]).fetchall()
        return functools.reduce(lambda total, part: total ^ int(part[0], 2), parts, 0) if parts else None

    def start_checksum(self, survey_id: str, total: int) -> None:
        """Begin the checksum of a survey."""
        self.change_checksum(survey_id, total)

    def change_checksum(self, survey_id: str, difference: int) -> None:
        """XOR something into this collector's part."""
        self.execute(
            "INSERT INTO checksums VALUES (?, ?, ?::bit(256)) "
            "ON CONFLICT (survey, part) DO UPDATE SET checksum = checksums.checksum # excluded.checksum",
            [survey_id, self._part, f"{difference:0256b}"],
        )

    def enter(self, names: Iterable[str]) -> None:
        """Take shared locks until the transaction ends, and refuse a server whose settings could lose its commit.

        These are advisory locks, not locks on the rows of surveys, for three reasons. A transaction that waits for an
        exclusive lock gets it in turn, while a shared lock on a row is given to newcomers past it, so that two busy
        collectors could keep a survey from ever closing. They write nothing, neither to the row nor to the log. And
        their names have a meaning in this code only, not in the tables.
        """
        query = f"SELECT pg_advisory_xact_lock_shared(name), {durability.IN_SQL} FROM unnest(?::bigint[]) AS name"
        for _, *settings in self.execute(query, [sorted(map(lock_number, names))]).fetchall():
            durability.refuse_unsafe(settings)

    def hold(self, name: str) -> None:
        """Wait until nobody has a lock, and take it exclusively until the transaction ends."""
        self.execute("SELECT pg_advisory_xact_lock(?::bigint)", [lock_number(name)])

    def try_to_hold(self, name: str) -> bool:
        """Take a lock exclusively until the transaction ends, if nobody has it; return whether it was taken."""
        found = self.execute("SELECT pg_try_advisory_xact_lock(?::bigint)", [lock_number(name)]).fetchone()
        return bool(found and found[0])

    def keep(self, name: str) -> None:
        """Wait until nobody has a lock, and take it exclusively until the connection is closed."""
        self.execute("SELECT pg_advisory_lock(?::bigint)", [lock_number(name)])

    def try_to_keep(self, name: str) -> bool:
        """Take a lock exclusively until the connection is closed, if nobody has it; return whether it was taken."""
        found = self.execute("SELECT pg_try_advisory_lock(?::bigint)", [lock_number(name)]).fetchone()
        return bool(found and found[0])


def lock_number(name: str) -> int:
    """The number of a lock: 64 bits of a hash, as PostgreSQL takes them."""
    # Advisory locks have numbers; 64 bits of a hash do not collide by chance with those of other programs.
    return int.from_bytes(hashlib.sha256(f"deniable {name}".encode()).digest()[:8], signed=True)


def connect(address: Address, name: str = "deniable") -> psycopg.Connection[Any]:
    """Open one connection, with the settings of the connections in the pool.

    Raises
    ------
    DeniableError
        If there is no such database, nobody answers, or libpq would take a part of the password for a host.
    """
    # libpq would take what follows the first @ or / of a password for the host, and show it in its error.
    if re.search(r"://[^?]*[@/][^?]*@", address.url):
        raise DeniableError(
            f"database {address}: must have @ and / in a name or a password written as %40 and %2F; a password is "
            "better kept in ~/.pgpass or PGPASSWORD"
        )
    try:
        connection = psycopg.connect(
            address.url, **(PARAMETERS | {"application_name": name}), fallback_application_name=""
        )
    except psycopg.ProgrammingError:  # whose message repeats what it could not read, which may be of the password
        raise DeniableError(f"database {address}: must be an address that libpq reads, postgresql://...") from None
    except psycopg.Error as error:
        lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        raise DeniableError(f"database {address}: cannot be opened: {lines[0].strip()}") from None
    try:
        configure(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def refuse_others(connection: psycopg.Connection[Any], name: str) -> None:
    """Raise a DeniableError if a collector or a command stays connected to the database for `SECONDS_TO_LEAVE`."""
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'deniable' AND datname = current_database() "
        "AND pid <> pg_backend_pid()"
    )
    patience = time.monotonic() + SECONDS_TO_LEAVE
    while (others := connection.execute(query).fetchall()[0][0]) > 0:
        if time.monotonic() > patience:
            raise DeniableError(
                f"database {name}: must be used by no collector meanwhile, but is by {others} connections; "
                "stop the collectors first"
            )
        time.sleep(0.05)


def configure(connection: psycopg.Connection[Any]) -> None:
    """Set up a connection, before anybody uses it.

    Objects belong to the owner of the schema, also if a member of that role makes them. ``synchronous_commit`` is set
    to its present value, so that a change of the server's configuration cannot weaken a running collector. Settings of
    a role or a database that are meant for other programs are undone: no ``statement_timeout`` ends a fold, and names
    are not quoted where they are compared.
    """
    connection.autocommit = True
    connection.execute(
        "SELECT set_config('search_path', %s, false), set_config('lock_timeout', %s, false), "
        "set_config('idle_in_transaction_session_timeout', %s, false), "
        "set_config('synchronous_commit', current_setting('synchronous_commit'), false), "
        "set_config('quote_all_identifiers', 'off', false)",
        [SCHEMA, f"{WAIT_SECONDS}s", f"{IDLE_SECONDS}s"],
    )
    limits = ["statement_timeout", "transaction_timeout"]  # the second since PostgreSQL 17
    connection.execute("SELECT set_config(name, '0', false) FROM pg_settings WHERE name = ANY(%s)", [limits])
    owner = connection.execute(
        "SELECT pg_get_userbyid(nspowner) FROM pg_namespace "
        "WHERE nspname = %s AND pg_get_userbyid(nspowner) <> current_user AND pg_has_role(nspowner, 'MEMBER')",
        [SCHEMA],
    ).fetchone()
    if owner:
        # All collectors make objects as the schema's owner, or later migrations could not change them.
        connection.execute("SELECT set_config('role', %s, false)", [owner[0]])


@functools.lru_cache(maxsize=4096)
def _marked(query: str) -> str:
    """A query with the placeholders of psycopg, ``%s``, in place of ``?``."""
    return re.sub(r"[%?]", lambda found: "%%" if found[0] == "%" else "%s", query)

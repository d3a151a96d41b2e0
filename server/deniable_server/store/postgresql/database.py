"""A PostgreSQL database by its address, for commands."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from deniable.errors import DeniableError
from deniable_server.location import Address
from deniable_server.store.integrity import Inspection
from deniable_server.store.interface import utc_today
from deniable_server.store.postgresql import durability
from deniable_server.store.postgresql.connection import (
    SCHEMA,
    SECONDS_TO_LEAVE,
    PostgresqlConnection,
    connect,
    refuse_others,
)
from deniable_server.store.postgresql.store import PostgresqlStore


class SharedRight:
    """A `deniable_server.store.database.ServingRight` that any number of collectors have; none is noted as the last."""

    def begin(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class PostgresqlDatabase:
    """A `deniable_server.store.database.Database`."""

    address: Address

    def __str__(self) -> str:
        return str(self.address)

    @property
    def exists(self) -> bool:
        """Always True: opening the database raises an error if it does not exist."""
        return True

    def open(
        self, today: Callable[[], datetime.date], may_update: bool = False, may_make: bool = True
    ) -> PostgresqlStore:
        """The store of this database."""
        return PostgresqlStore(self.address, today, may_update, may_make)

    def serving(self) -> AbstractContextManager[SharedRight]:
        """The right to serve the database, which any number of collectors may have at a time."""
        return nullcontext(SharedRight())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """The right to have the database alone: no collector is connected, and no other copy runs.

        A collector that starts later is not kept away; the copy notices it at its end.
        """
        with closing(connect(self.address, "deniable copy")) as connection:
            # A collector that starts after this look is noticed at the end, by checksums that differ.
            refuse_others(connection, str(self))
            patience = time.monotonic() + SECONDS_TO_LEAVE
            while not PostgresqlConnection(connection).try_to_keep("copy"):
                if time.monotonic() > patience:
                    raise DeniableError(
                        f"database {self}: must be used by one copy at a time, and be one end of it; another 'deniable "
                        "copy' runs, or this one is of a database to itself"
                    )
                time.sleep(0.05)
            yield

    def warnings(self) -> list[str]:
        """Warnings about settings by which the server records when somebody took part."""
        with closing(connect(self.address)) as connection:
            return [f"PostgreSQL: {warning}" for warning in durability.warnings(connection)]

    def inspect(self, most_rows: int | None = None) -> Inspection:
        """Inspect the database without changing it."""
        with closing(PostgresqlStore(self.address, utc_today, may_write=False)) as store:
            return store.inspect(most_rows)

    def back_up(self, destination: Path) -> Inspection:
        """Refuse, since PostgreSQL has better means for this.

        Raises
        ------
        DeniableError
            Always; the message has the command that makes a backup.
        """
        raise DeniableError(
            f"database {self}: is backed up by PostgreSQL itself: "
            f"pg_dump --format=custom --schema={SCHEMA} --file={destination} '{self}'; to look at the dump, restore it "
            "into an empty database with pg_restore and run 'deniable check' there (docs/postgresql.md)"
        )

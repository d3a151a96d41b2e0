"""Every store there is, for tests of what all of them promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from deniable import Survey
from deniable_server.location import Address
from deniable_server.store import database_at, open_store
from deniable_server.store.sql_store import SqlStore
from deniable_server.store.tables import pending_table, reports_table
from tools.rig.postgresql import Postgresql
from tools.rig.surveys import Clock

KINDS = ("sqlite", "postgresql")


class Place:
    """A database that several may open."""

    def __init__(self, where: Path | Address, clock: Clock) -> None:
        self.where = where
        self.clock = clock

    @contextmanager
    def opened(self) -> Iterator[SqlStore]:
        """Another store over it: that of another process, or of the next one."""
        with closing(open_store(self.where, self.clock)) as store:
            assert isinstance(store, SqlStore)
            yield store

    def findings(self) -> tuple[str, ...]:
        """What `deniable check` finds."""
        return database_at(self.where).inspect().findings


@contextmanager
def new_place(kind: str, folder: Path, clock: Clock, request: pytest.FixtureRequest) -> Iterator[Place]:
    """A new database of a kind."""
    if kind == "sqlite":
        yield Place(folder / "contract.db", clock)
        return
    server: Postgresql = request.getfixturevalue("postgresql")
    address = server.new(like=request.getfixturevalue("template"))
    try:
        yield Place(address, clock)
    finally:
        server.drop(address)


@pytest.fixture(params=[pytest.param(kind, marks=() if kind == "sqlite" else pytest.mark.slow) for kind in KINDS])
def place(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Place]:
    """An empty database, of each kind in turn."""
    with new_place(request.param, tmp_path, clock, request) as made:
        yield made


def rows(store: SqlStore, survey: Survey) -> tuple[int, int]:
    """Rows that are pending, and rows that are folded."""
    with store._snapshot(survey) as db:
        pending, folded = (
            db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in (pending_table(survey), reports_table(survey))
        )
    return pending, folded


Opening = Callable[[], SqlStore]

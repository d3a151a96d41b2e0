"""A PostgreSQL of the session, and a database to make copies of, as fixtures."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deniable_server.store.postgresql.store import PostgresqlStore
from tools.rig.postgresql import Postgresql, name_of, running_postgresql


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Postgresql]:
    """A PostgreSQL for this session."""
    with running_postgresql() as running:
        yield running


@pytest.fixture(scope="session")
def template(postgresql: Postgresql) -> str:
    """The name of a database with our tables and nothing in them, to make copies of."""
    address = postgresql.new()
    PostgresqlStore(address).close()
    return name_of(address)

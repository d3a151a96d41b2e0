"""What docs/operations.md tells an administrator to type, typed: commands beside the service, copies, upgrades."""

from __future__ import annotations

import datetime
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3
import yaml

from deniable import Survey, read_survey
from deniable_client import randomize
from tools.rig.collectors import answers, free_port
from tools.rig.patience import PATIENCE, wait_until
from tools.rig.surveys import FIVE_TYPES, person

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
RUNUSER = '#!/bin/sh\ntest "$1 $2 $3" = "-u deniable --" || exit 9\nshift 3\nexec "$@"\n'
INSTALL = """#!/bin/sh
for each do
    shift
    case "$each" in --owner=*|--group=*) ;; *) set -- "$@" "$each" ;; esac
done
exec {install} "$@"
"""
"""The user of the service is whoever runs the tests."""


def blocks(heading: str) -> list[list[str]]:
    """The lines of each block of commands below a heading."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [block.splitlines() for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL)]


class Machine:
    """A folder in the place of a machine, with a service that systemctl starts and stops."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.service: subprocess.Popen[bytes] | None = None
        self.url = f"http://127.0.0.1:{free_port()}"
        for name in ("bin", "etc/deniable", "var/lib/deniable", "var/backups"):
            (folder / name).mkdir(parents=True)
        self._script("runuser", RUNUSER)
        self._script("install", INSTALL.format(install=shutil.which("install")))
        self._script("deniable", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m deniable "$@"\n')
        settings = (ROOT / "deploy" / "environment").read_text(encoding="utf-8")
        settings = self._here(settings) + f"DENIABLE_PORT={self.url.rpartition(':')[2]}\nDENIABLE_RATE_LIMIT=off\n"
        (folder / "etc/deniable/environment").write_text(settings, encoding="utf-8")

    def type(self, lines: list[str], **names: str) -> str:
        """Run lines; what they print. What installs from an index, or writes a unit, is left out."""
        printed = ""
        for line in lines:
            for name, new in names.items():
                line = line.replace(name.replace("_", "-"), new)
            if line.startswith("systemctl "):
                self._systemctl(line.split()[1])
            elif "/bin/pip " not in line and "/etc/systemd/" not in line:
                printed += self._shell(line)
        return printed

    def reports(self, survey: Survey, *people: int) -> None:
        """People answer."""
        for number in people:
            body = randomize(survey, person(number)).encode()
            head = {"Content-Type": "application/json"}
            url = f"{self.url}/api/v1/surveys/{survey.id}/reports"
            assert urllib3.request("POST", url, body=body, headers=head, timeout=PATIENCE).status == 201

    def stored(self) -> int:
        """How many reports the database has."""
        self.end()
        copy = self.folder / "counted.db"
        copy.unlink(missing_ok=True)
        shutil.copy(self.folder / "var/lib/deniable/deniable.db", copy)
        code = (
            "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
            "names = [name for name, in db.execute('SELECT name FROM sqlite_master WHERE type = \"table\"')"
            " if name.startswith(('pending_', 'reports_'))]; "
            "print(sum(db.execute(f'SELECT count(*) FROM {name}').fetchone()[0] for name in names))"
        )
        return int(subprocess.run([sys.executable, "-c", code, copy], capture_output=True, check=True).stdout)

    def end(self) -> None:
        """Stop the service, if it runs."""
        if self.service:
            self.service.terminate()
            assert self.service.wait(PATIENCE) == 0
            self.service = None

    def _systemctl(self, verb: str) -> None:
        if verb == "stop":
            self.end()
        elif verb == "start":
            assert not self.service
            command = ["sh", "-c", self._here("set -a; . /etc/deniable/environment; exec deniable serve")]
            self.service = subprocess.Popen(command, env=self._environment(), cwd=self.folder)
            wait_until(lambda: answers(self.url), "the service answers")

    def _shell(self, line: str) -> str:
        line = f"set -a; . /etc/deniable/environment; set +a; {line}"
        done = subprocess.run(
            ["sh", "-euc", self._here(line)], cwd=self.folder, env=self._environment(),
            capture_output=True, text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        return done.stdout

    def _here(self, text: str) -> str:
        """The same with folders of this machine."""
        text = text.replace("/opt/deniable/bin/deniable", "deniable")
        return re.sub(r"/(etc/deniable|var/lib/deniable|var/backups/deniable)\b", rf"{self.folder}/\1", text)

    def _environment(self) -> dict[str, str]:
        return os.environ | {"PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    def _script(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o700)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine whose service runs."""
    machine = Machine(tmp_path)
    (tmp_path / "my-survey.toml").write_text(FIVE_TYPES, encoding="utf-8")
    machine.type(["systemctl start deniable"])
    yield machine
    machine.end()


@pytest.mark.slow
def test_a_survey_is_published_with_links_that_others_reach_and_a_copy_restored(machine: Machine) -> None:
    survey = read_survey(FIVE_TYPES)
    back_up, restore, *_ = blocks("Back up and restore")
    printed = machine.type(blocks("Commands beside the service")[0])
    assert f"https://collector.example/s/{survey.id}" in printed
    assert "127.0.0.1" not in printed
    machine.reports(survey, 1, 2, 3)
    machine.type(back_up)
    machine.reports(survey, 4, 5)
    machine.type(restore, **{"2026_12_20": datetime.date.today().isoformat()})
    assert urllib3.request("GET", f"{machine.url}/readyz", timeout=PATIENCE).status == 200
    assert "ada" in machine.type(["runuser -u deniable -- /opt/deniable/bin/deniable token list"])
    machine.reports(survey, 6)
    assert machine.stored() == 4


@pytest.mark.slow
def test_an_upgrade_keeps_everything_and_there_is_a_way_back(machine: Machine) -> None:
    survey = read_survey(FIVE_TYPES)
    (upgrade,), (back_up, restore, *_) = blocks("Upgrade"), blocks("Back up and restore")
    machine.type(blocks("Commands beside the service")[0])
    machine.type(back_up[:1])
    machine.reports(survey, 1, 2)
    machine.type(upgrade)
    machine.reports(survey, 3)
    machine.type(restore, **{"2026_12_20": "before-upgrade"})
    assert machine.stored() == 2


def test_an_upgrade_stops_the_service_before_anything_is_installed() -> None:
    (lines,) = blocks("Upgrade")
    order = [next(number for number, line in enumerate(lines) if part in line) for part in
             ("backup", "systemctl stop", "pip install", "systemctl start")]  # fmt: skip
    assert order == sorted(order)


def test_commands_in_containers_name_what_the_container_has() -> None:
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
    image = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")
    headings = ("Commands beside the service", "Back up and restore")
    lines = [line for heading in headings for block in blocks(heading) for line in block]
    containers = [shlex.split(line) for line in lines if line.startswith("docker ")]
    assert len(containers) == 8
    for words in containers:
        assert words[:4] == ["docker", "compose", "-f", "deploy/compose.yaml"]
        assert "collector" in compose["services"]
        assert "collector" in words or "collector:/data/copy.db" in words
    assert 'ENTRYPOINT ["/opt/deniable/bin/deniable"]' in image
    assert "DENIABLE_DB=/data/deniable.db" in image
    assert compose["services"]["collector"]["environment"]["DENIABLE_PUBLIC_URL"].startswith("https://")


def test_a_copy_is_put_back_in_a_container_without_the_log_of_the_old_file(tmp_path: Path) -> None:
    (line,) = [line for lines in blocks("Back up and restore") for line in lines if " run " in line]
    script = shlex.split(line)[shlex.split(line).index("-c") + 1].replace("/data/", f"{tmp_path}/")
    for name in ("deniable.db", "deniable.db-wal", "deniable.db-shm"):
        (tmp_path / name).write_bytes(b"old")
    subprocess.run(["sh", "-c", script], input=b"copy", check=True, timeout=PATIENCE)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"deniable.db": b"copy"}


def test_what_is_installed_is_there_and_the_unit_reads_it() -> None:
    install, _ = blocks("Install")
    for name in re.findall(r"deploy/[\w.]+|requirements\.txt", "\n".join(install)):
        assert (ROOT / name).is_file(), name
    unit = (ROOT / "deploy" / "deniable.service").read_text(encoding="utf-8")
    assert "EnvironmentFile=/etc/deniable/environment" in unit
    assert "--shell /usr/sbin/nologin deniable" in install[0]
    assert "User=deniable" in unit

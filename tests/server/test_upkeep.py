"""What docs/operations.md tells an administrator to type, typed: commands beside the service, copies, upgrades."""

from __future__ import annotations

import datetime
import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
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

SSH = """#!/bin/sh
test "$1" != -o || shift 2
case "$1" in
    deniable-backup@backup.example) cd {folder}/elsewhere ;;
    ada@new.example) cd {folder}/home/ada ;;
    *) exit 9 ;;
esac
shift
exec sh -c "$*"
"""
SCP = """#!/bin/sh
case "$2" in
    root@collector.example:*) exec cp "$1" "${{2#*:}}" ;;
    *) exec cp {folder}/elsewhere/${{1#deniable-backup@backup.example:}} "$2" ;;
esac
"""
RSYNC = """#!/bin/sh
there={folder}/elsewhere/deniable stays=
for last do :; done
test "$last" = deniable-backup@backup.example:deniable/ || exit 9
for each do
    case "$each" in
        --ignore-existing) stays=1 ;;
        --times) ;;
        -*) exit 9 ;;
        "$last") ;;
        *) test -n "$stays" -a -e "$there/${{each##*/}}" || cp --preserve=timestamps "$each" "$there/" ;;
    esac
done
"""
GPG = """#!/bin/sh
set -e
while test $# -gt 1; do
    case "$1" in
        --recipient-file) test -s "$2"; shift ;;
        --output) out=$2; shift ;;
        --export) echo a key ;;
        --encrypt) (echo encrypted; cat "$2") > "$out" ;;
        --decrypt) head -n 1 "$2" | grep -qx encrypted; tail -n +2 "$2" ;;
    esac
    shift
done
"""
"""Programs that reach other machines, which are folders here, and a gpg that marks a file instead of encrypting it."""


def blocks(heading: str) -> list[list[str]]:
    """The lines of each block of commands below a heading."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [block.splitlines() for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL)]


PLACES = r"/(etc/(?:deniable|cron\.daily|logrotate\.d|ssl)|var/(?:lib|backups)/deniable|home/ada)\b"
"""Folders of a machine, as pages name them."""


class Machine:
    """A folder in the place of a machine, with a service that systemctl starts and stops."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.service: subprocess.Popen[bytes] | None = None
        self.url = f"http://127.0.0.1:{free_port()}"
        for name in ("bin", "deploy", "home/ada", "elsewhere/deniable", "var/lib/deniable", "var/backups"):
            (folder / name).mkdir(parents=True)
        for name in ("deniable", "cron.daily", "logrotate.d", "ssl"):
            (folder / "etc" / name).mkdir(parents=True)
        self._script("runuser", RUNUSER)
        self._script("install", INSTALL.format(install=shutil.which("install")))
        self._script("deniable", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m deniable "$@"\n')
        for name, text in {"ssh": SSH, "scp": SCP, "rsync": RSYNC, "gpg": GPG}.items():
            self._script(name, text.format(folder=folder) if "{folder}" in text else text)
        self._script("logger", f'#!/bin/sh\necho "$*" >> {folder}/logged\n')
        for name in ("cron.daily-deniable", "cron.daily-deniable-elsewhere", "logrotate-deniable"):
            script = (ROOT / "deploy" / name).read_text(encoding="utf-8")
            (folder / "deploy" / name).write_text(self._here(script), encoding="utf-8")
        settings = (ROOT / "deploy" / "environment").read_text(encoding="utf-8")
        settings = self._here(settings) + f"DENIABLE_PORT={self.url.rpartition(':')[2]}\nDENIABLE_RATE_LIMIT=off\n"
        (folder / "etc/deniable/environment").write_text(settings, encoding="utf-8")

    def type(self, lines: list[str], **names: str) -> str:
        """Run lines; what they print. What installs from an index, or writes a unit, is left out."""
        printed = ""
        for line in lines:
            for name, new in names.items():
                line = line.replace(name.replace("_", "-"), new)
            if line in ("(", ")", "set -e"):  # each line has a shell of its own here, which ends at an error
                continue
            if line.startswith("systemctl "):
                self._systemctl(line.split()[1])
            elif not re.search(r"/bin/pip |/etc/systemd/|^apt-get ", line):
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
        if verb in ("stop", "disable"):
            self.end()
        elif verb in ("start", "enable"):
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
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def _here(self, text: str) -> str:
        """The same with folders of this machine."""
        text = text.replace("/opt/deniable/bin/deniable", "deniable")
        return re.sub(PLACES, rf"{self.folder}/\1", text)

    def _environment(self) -> dict[str, str]:
        return path_of(self.folder)

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
def test_what_the_page_says_is_typed_from_the_first_survey_to_the_way_back_from_an_upgrade(machine: Machine) -> None:
    """One walk, because each line that is typed starts a program: links, a copy restored, an upgrade, and back."""
    survey = read_survey(FIVE_TYPES)
    _, look, back_up, restore, again, start = blocks("Back up and restore")
    upgrade, beside, _, back = blocks("Upgrade")
    printed = machine.type(blocks("Commands beside the service")[0])
    assert f"https://collector.example/s/{survey.id}" in printed, "links that others reach"
    assert "127.0.0.1" not in printed
    (machine.folder / "other.toml").write_text(
        FIVE_TYPES.replace("title =", "title = 'Another' # ", 1), encoding="utf-8"
    )
    printed = machine.type(["runuser -u deniable -- /opt/deniable/bin/deniable survey publish - < other.toml"])
    other = re.findall(r"/s/(\w{26})", printed)[0]
    machine.reports(survey, 1, 2, 3)
    (machine.folder / "var/backups/deniable").mkdir()
    machine.type(back_up)
    machine.type(look)
    machine.reports(survey, 4, 5)
    machine.type(["runuser -u deniable -- /opt/deniable/bin/deniable token revoke ada"])
    (copied,) = (machine.folder / "var/backups/deniable").glob("*.db")
    lists = machine.type(restore, **{"2026_12_20": copied.stem})
    assert "ada" in lists, "what the page says: a token that was revoked is valid again"
    assert survey.id in lists
    machine.type(again, TOKEN_NAME="ada", SURVEY_ID=other)
    machine.type(start)
    assert urllib3.request("GET", f"{machine.url}/readyz", timeout=PATIENCE).status == 200
    listed = machine.type([f"runuser -u deniable -- /opt/deniable/bin/deniable {what} list" for what in
                           ("token", "survey")])  # fmt: skip
    assert "ada" not in listed
    assert (listed.count("  open  "), listed.count("  closed  ")) == (1, 1)
    machine.reports(survey, 6)
    assert machine.stored() == 4
    machine.type(start)
    assert len(re.findall("deniable, version ", machine.type(upgrade))) == 2, "the version before and after"
    (machine.folder / "etc/cron.daily/deniable").write_text("old", encoding="utf-8")
    machine.type(beside)
    renewed = {path.name for path in machine.folder.glob("etc/*/*deniable*") if path.read_bytes() != b"old"}
    assert renewed == {"deniable"}, "what is not installed is not installed by an upgrade"
    machine.reports(survey, 7)
    (before,) = (machine.folder / "var/backups/deniable").glob("before-*.db")
    assert machine.stored() == 5, "an upgrade keeps everything"
    assert survey.id in machine.type(back, before_2026_12_20_0930=before.stem)
    machine.type(start)
    assert machine.stored() == 4, "there is a way back"


NIGHTLY = blocks("Back up and restore")[0]
NEWEST, BRING, MOVE, PUT_BACK, BEGIN, ASK, CLEAR = blocks("Restore on another machine")
KEYS, ACCOUNT, ACCESS, COPIES, LOOK = blocks("Backups elsewhere")


@pytest.mark.slow
def test_a_copy_elsewhere_is_restored_on_another_machine_and_a_planned_move_loses_nothing(machine: Machine) -> None:
    """Copies elsewhere, the loss of a machine, and a move: what is lost and made again is the folder of one machine."""
    survey = read_survey(FIVE_TYPES)
    today = {"2026_12_20": datetime.date.today().isoformat()}
    named = {"https://collector.example": machine.url, "SURVEY_ID": survey.id}
    backups, data = machine.folder / "var/backups/deniable", machine.folder / "var/lib/deniable"
    carried = machine.folder / "home/ada" / f"{today['2026_12_20']}.db"
    machine.type(blocks("Commands beside the service")[0])
    machine.reports(survey, 1, 2, 3)
    machine.type(NIGHTLY)
    (backups / "second-made-by-hand.dump").write_bytes(b"of PostgreSQL")
    machine.type(KEYS)
    assert (machine.folder / "etc/ssl/backup.pub").exists()
    there = machine.folder / "elsewhere/deniable"
    for days, name in {12.9: "kept.db.gpg", 13.1: "old.db.txt.gpg"}.items():
        (there / name).touch()
        os.utime(there / name, (time.time() - days * 86_400,) * 2)
    machine.type([line for line in ACCESS if line.startswith("ssh ")])
    machine.type(COPIES)
    assert not list(backups.glob("*.gpg"))
    assert not (machine.folder / "logged").exists()
    assert set(machine.type(LOOK).split()) >= {f"{carried.name}.gpg", f"{carried.name}.txt.gpg", "kept.db.gpg"}
    assert {path.name for path in there.iterdir()} == {
        f"{carried.name}.gpg", f"{carried.name}.txt.gpg", "second-made-by-hand.dump.gpg", "kept.db.gpg"
    }  # fmt: skip
    machine.end()
    for lost in (backups, data):
        shutil.rmtree(lost)
    assert f"{carried.name}.gpg" in machine.type(NEWEST)
    note = machine.type(BRING, **today)
    assert "1 survey, 3 released reports\ndeniable, version " in note, "its results are live"
    assert carried.stat().st_mode & 0o777 == 0o600
    assert not list(machine.folder.glob("*.gpg"))
    printed = machine.type(PUT_BACK, **today)
    assert "sound, 1 survey, 3 released reports\n" in printed
    assert "ada" in printed
    assert survey.id in printed
    machine.type(BEGIN, **today)
    assert not carried.exists()
    assert machine.type(ASK, **named) == '{"status":"ok"}\n200\n'
    machine.reports(survey, 4)
    note = machine.type(MOVE, **today)
    assert "1 survey, 4 released reports\ndeniable, version " in note
    assert machine.service is None, "nothing arrives after the last backup"
    assert not (machine.folder / "etc/cron.daily/deniable-elsewhere").exists(), "nor is an old copy sent"
    machine.type(CLEAR)
    assert (list(data.glob("deniable.db*")), backups.exists(), list(machine.folder.glob("etc/cron.daily/*"))) == (
        [], False, []
    )  # fmt: skip
    assert "1 survey, 4 released reports\n" in machine.type(PUT_BACK, **today)
    machine.type(BEGIN, **today)
    assert machine.type(ASK, **named) == '{"status":"ok"}\n200\n'


@pytest.mark.slow
@pytest.mark.parametrize("name", ["7-surveys-of-format-2", "8-signing-keys", "9-releases", "10-public-urls"])
def test_a_backup_of_an_older_version_is_restored(machine: Machine, name: str) -> None:
    older = gzip.decompress((ROOT / "tests/data/databases" / f"{name}.db.gz").read_bytes())
    for folder in ("home/ada", "var/backups/deniable"):
        (machine.folder / folder).mkdir(exist_ok=True)
        (machine.folder / folder / "2026-12-20.db").write_bytes(older)
    with pytest.raises(AssertionError, match=r"is\s+of\s+an\s+older\s+version"):
        machine.type(blocks("Back up and restore")[3])
    assert machine.service, "the usual block ends before it stops the collector"
    checked = re.search(r"sound, 2 surveys, (\d+) released reports, (\d+) waiting", machine.type(PUT_BACK))
    assert checked
    assert sum(map(int, checked.groups())) == 440
    machine.type(BEGIN)


def test_an_upgrade_stops_the_service_before_anything_is_installed() -> None:
    lines, *_ = blocks("Upgrade")
    order = [next(number for number, line in enumerate(lines) if part in line) for part in
             ("backup", "systemctl stop", "pip install", "systemctl start")]  # fmt: skip
    assert order == sorted(order)


def test_commands_in_containers_name_what_the_container_has() -> None:
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
    image = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")
    lines = [line for block in blocks("In a container") for line in block]
    containers = [shlex.split(line) for line in lines if line.startswith("docker ")]
    assert len(containers) == 12
    for words in containers:
        assert words[:4] == ["docker", "compose", "-f", "deploy/compose.yaml"]
        assert "collector" in compose["services"]
        assert "collector" in words or "collector:/data/copy.db" in words or words[4:] == ["up", "-d", "--build"]
    assert 'ENTRYPOINT ["/opt/deniable/bin/deniable"]' in image
    assert "DENIABLE_DB=/data/deniable.db" in image
    assert compose["services"]["collector"]["environment"]["DENIABLE_PUBLIC_URL"].startswith("https://")


def test_a_copy_is_put_back_in_a_container_without_the_log_of_the_old_file(tmp_path: Path) -> None:
    (line,) = [line for lines in blocks("In a container") for line in lines if " --entrypoint sh " in line]
    script = shlex.split(line)[shlex.split(line).index("-c") + 1].replace("/data/", f"{tmp_path}/")
    for name in ("deniable.db", "deniable.db-wal", "deniable.db-shm"):
        (tmp_path / name).write_bytes(b"old")
    subprocess.run(["sh", "-c", script], input=b"copy", check=True, timeout=PATIENCE)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"deniable.db": b"copy"}


def test_what_is_installed_is_there_and_the_unit_reads_it() -> None:
    clone, install, *_ = blocks("Install")
    assert "git clone ADDRESS ~/deniable" in clone
    for name in re.findall(r"deploy/[\w.]+|requirements\.txt", "\n".join(install)):
        assert (ROOT / name).is_file(), name
    unit = (ROOT / "deploy" / "deniable.service").read_text(encoding="utf-8")
    assert "EnvironmentFile=/etc/deniable/environment" in unit
    assert install[2] == "umask 022", "root's own umask may hide the program from the service's user"
    assert "--shell /usr/sbin/nologin deniable" in install[3]
    assert "User=deniable" in unit


def desk(folder: Path, **programs: str) -> dict[str, str]:
    """An environment in which these programs are scripts, and every other one that an upgrade uses writes its name."""
    (folder / "bin").mkdir()
    own = dict.fromkeys(("systemctl", "runuser", "install", "nginx"), f'echo "${{0##*/}} $*" >> {folder}/called')
    for name, text in (own | programs).items():
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (folder / "bin" / name).chmod(0o700)
    return path_of(folder)


@pytest.mark.slow
def test_an_author_fetches_and_checks_the_archive_of_a_study(machine: Machine) -> None:
    run = "runuser -u deniable -- /opt/deniable/bin/deniable"
    text = f'readers = "token"\n{FIVE_TYPES}'
    survey = read_survey(text)
    (machine.folder / "private.toml").write_text(text, encoding="utf-8")
    printed = machine.type([f"{run} survey publish - < private.toml"])
    assert f"/s/{survey.id}/results (only with a token that reads them)\n" in printed
    token = machine.type([f"{run} token create rita --scope read --survey {survey.id}"]).strip()
    machine.reports(survey, 1, 2, 3)
    machine.type([f"{run} survey close {survey.id}"])
    assert re.search(rf"{survey.id} +3 +0  closed ", machine.type([f"{run} survey list"]))
    page = (ROOT / "docs/data-protection.md").read_text(encoding="utf-8")
    (fetch,) = re.findall(r"\n\n((?:    .*\n)*    curl .*archive\.zip\n(?:    .*\n)*)", page)
    lines = [line.strip() for line in fetch.splitlines()]
    named = {"https://collector.example": machine.url, "SURVEY-ID": survey.id, "dn_...": token}
    typed = [re.sub("|".join(map(re.escape, named)), lambda name: named[name[0]], line) for line in lines]
    printed = machine.type(typed)
    assert "Done testing" in printed
    assert f"all checks passed: {survey.title}, release 1, 3 replies" in printed
    assert (machine.folder / "study.zip").stat().st_size > 10_000


def path_of(folder: Path) -> dict[str, str]:
    """An environment whose programs are those of a folder first."""
    return os.environ | {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def upgrading(folder: Path, which: int) -> str:
    """A block of the section on upgrades, with settings in a folder."""
    (folder / "environment").write_bytes((ROOT / "deploy" / "environment").read_bytes())
    block = "\n".join(blocks("Upgrade")[which])
    assert block.count("set -a; . /etc/deniable/environment; set +a\n") == 1, "it reads the settings itself"
    return block.replace("/etc/deniable/environment", f"{folder}/environment")


def test_an_upgrade_without_a_backup_ends_before_the_service_is_stopped(tmp_path: Path) -> None:
    block = upgrading(tmp_path, 0)
    environment = desk(tmp_path, runuser="exit 1")
    done = subprocess.run(["bash", "-c", block], cwd=tmp_path, env=environment, check=False, timeout=PATIENCE)
    assert done.returncode == 1
    assert "systemctl" not in (tmp_path / "called").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("heading", "name"), [("Upgrade", "before-$(date +%F-%H%M).db"), ("Back up and restore", "$(date +%F-%H%M).db")]
)
def test_the_second_backup_of_a_day_has_a_name_of_its_own(heading: str, name: str) -> None:
    (line,) = [line for block in blocks(heading) for line in block if re.search(r"deniable backup \S+date", line)]
    assert line.endswith(f"/{name}")


def test_the_way_back_ends_before_anything_is_stopped_if_there_is_no_backup(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", upgrading(tmp_path, 3)],
        cwd=tmp_path, env=desk(tmp_path), capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "not there: before-2026-12-20-0930.db\n")
    assert not (tmp_path / "called").exists()


def test_lines_of_operators_leave_also_where_nobody_writes_new_ones() -> None:
    """logrotate deletes the oldest file only when it rotates: with notifempty an idle log would be kept for ever."""
    settings = (ROOT / "deploy" / "logrotate-deniable").read_text(encoding="utf-8").split("{")[1].split()
    assert "notifempty" not in settings
    assert settings[settings.index("monthly") :][:4] == ["monthly", "rotate", "11", "missingok"]


CRON = ROOT / "deploy" / "cron.daily-deniable"


COPIED = (
    'for each do case "$each" in --file=*) touch "${each#--file=}" ;; */backups/*.part) touch "$each" ;; esac; done; '
)
"""Makes what programs are given last but one or last as a file: `backup FILE`, or `--file=FILE ADDRESS`."""

COLLECTORS = {"environment": "/x/one.db", "second": "postgresql:///two", "second~": "/x/old.db"}
"""Files of settings with their databases; the last one is what an editor left."""


def nightly(folder: Path, runuser: str, collectors: Mapping[str, str] = COLLECTORS) -> subprocess.CompletedProcess[str]:
    """The nightly job with the folders of this machine, and a program in the place of runuser."""
    (folder / "etc").mkdir()
    (folder / "backups").mkdir(exist_ok=True)
    for name, database in collectors.items():
        (folder / "etc" / name).write_text(f"DENIABLE_DB={database}\n", encoding="utf-8")
    text = CRON.read_text(encoding="utf-8").replace("/var/backups/deniable", f"{folder}/backups")
    (folder / "job").write_text(text.replace("/etc/deniable/", f"{folder}/etc/"), encoding="utf-8")
    ages = {12.9: "kept.db", 13.1: "old.db", 13.2: "old.db.txt", 15: "second-old.dump", 40: "other.txt"}
    for days, name in ages.items():
        (folder / "backups" / name).touch()
        then = time.time() - days * 86_400
        os.utime(folder / "backups" / name, (then, then))
    environment = desk(folder, runuser=runuser, logger=f'echo "$*" >> {folder}/logged')
    return subprocess.run(
        ["sh", folder / "job"], env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


def test_the_nightly_job_copies_every_collector_and_keeps_fourteen_days(tmp_path: Path) -> None:
    assert os.access(CRON, os.X_OK), "cron skips a script without this mode"
    done = nightly(tmp_path, COPIED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    today = datetime.date.today().isoformat()
    found = {path.name for path in (tmp_path / "backups").iterdir()}
    # What is 13 days old now would be older than 14 before the job runs again.
    made = {f"{today}.db", f"{today}.db.txt", f"second-{today}.dump", f"second-{today}.dump.txt"}
    assert found == made | {"kept.db", "other.txt"}
    assert not (tmp_path / "logged").exists()


SAID = (
    'case "$*" in *--version) echo version ;; *pg_dump*) ;; '
    '*check) echo "$DENIABLE_DB: sound, {0}, 0 released reports" ;; *) echo "${{6-}}: {0}, 0 released reports" ;; esac'
)
"""What the program says of a database with so many surveys: of one in PostgreSQL, and of the copy of a file."""


def noted(folder: Path, kind: str, surveys: str, of: str = "") -> Path:
    """A backup of an earlier day, with its note."""
    (folder / "backups").mkdir(parents=True, exist_ok=True)
    backup = folder / "backups" / f"{of}2026-01-01.{kind}"
    backup.touch()
    sound = "sound, " * (kind == "dump")
    note = f"/x/one: {sound}{surveys}, 253 released reports\ndeniable, version 1.2\n"
    backup.with_name(f"{backup.name}.txt").write_text(note, encoding="utf-8")
    return backup


@pytest.mark.parametrize("before", ["db", "dump"])
@pytest.mark.parametrize(("database", "kind"), [("/x/one.db", "db"), ("postgresql:///one", "dump")])
def test_an_empty_database_is_not_copied_and_drives_no_good_copy_out(
    tmp_path: Path, database: str, kind: str, before: str
) -> None:
    """A collector that finds no database makes one: copies of that would outlive the good ones.

    A move from a file to PostgreSQL or back takes every survey along, so the number of the other kind counts.
    """
    for name, surveys, code in (("lost", "0 surveys", 1), ("moved", "9 surveys", 0), ("there", "12 surveys", 0)):
        folder = tmp_path / name
        good = noted(folder, before, "9 surveys")
        for other in ("second-", "2nd-"):  # their numbers say nothing of the first
            noted(folder, "db", "99 surveys", other)
        done = nightly(folder, COPIED + SAID.format(surveys), {"environment": database})
        assert done.returncode == code, done.stderr
        names = {path.name for path in good.parent.iterdir()}
        assert ("fewer surveys (0)" in done.stderr, len(names & {"old.db", "old.db.txt"})) == (code == 1, 2 * code)
        made = [f"{datetime.date.today().isoformat()}.{kind}{end}" for end in ("", ".txt")]
        assert names & {*made} == ({*made} if code == 0 else set())
        assert good.name in names, "the good copy stays"
        assert not any(each.endswith(".part") for each in names)
        if code == 0:
            note = (good.parent / made[1]).read_text(encoding="utf-8").splitlines()
            said = f"{database}: sound" if kind == "dump" else f"{good.parent / made[0]}"
            assert note == [f"{said}{',' if kind == 'dump' else ':'} {surveys}, 0 released reports", "version"]


def test_a_database_that_is_meant_to_have_fewer_surveys_is_copied_after_the_line_that_the_job_says(
    tmp_path: Path,
) -> None:
    good, other = noted(tmp_path, "db", "9 surveys"), noted(tmp_path, "dump", "99 surveys", "second-")
    said = nightly(tmp_path, COPIED + SAID.format("8 surveys"), {"environment": "/x/one.db"}).stderr
    line = said.splitlines()[-1]
    assert line.startswith("rm /"), said
    subprocess.run(["sh", "-c", line], check=True, timeout=PATIENCE)
    again = subprocess.run(["sh", tmp_path / "job"], env=path_of(tmp_path), check=False, timeout=PATIENCE)
    assert again.returncode == 0
    assert (good.parent / f"{datetime.date.today().isoformat()}.db").exists()
    assert (good.exists(), other.with_name(f"{other.name}.txt").exists()) == (True, True)


def test_a_collector_whose_backup_fails_keeps_no_other_from_being_copied(tmp_path: Path) -> None:
    failing = 'case "$DENIABLE_DB" in /x/one.db) echo broken >&2; exit 3 ;; esac; ' + COPIED
    done = nightly(tmp_path, failing, {"environment": "/x/one.db", "second": "/x/two.db"})
    assert (done.returncode != 0, done.stderr) == (True, "broken\n")
    today = datetime.date.today().isoformat()
    names = {path.name for path in (tmp_path / "backups").iterdir()}
    old = {"kept.db", "old.db", "old.db.txt", "second-old.dump", "other.txt"}
    assert names == {f"second-{today}.db", f"second-{today}.db.txt"} | old


def test_copies_elsewhere_of_a_collector_that_was_not_backed_up_are_not_driven_out(machine: Machine) -> None:
    machine.type(NIGHTLY)
    (machine.folder / "etc/ssl/backup.pub").write_text("a key", encoding="utf-8")
    machine.type(COPIES)
    old = machine.folder / "elsewhere/deniable/second-2026-01-01.db.gpg"
    old.touch()
    os.utime(old, (0, 0))
    (machine.folder / "etc/deniable/second").write_text("DENIABLE_DB=/nowhere/second.db\n", encoding="utf-8")
    send = COPIES[-1:]
    assert send == ["/etc/cron.daily/deniable-elsewhere"]
    with pytest.raises(AssertionError, match=r"no backup of the last 26 hours in .*/second: run /\S+/deniable"):
        machine.type(send)
    assert old.exists()
    (machine.folder / "etc/deniable/second").unlink()
    machine.type(send)
    assert not old.exists(), "where every collector was copied, old copies go"


def test_a_dump_of_the_same_day_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    dump = tmp_path / "backups" / f"{datetime.date.today().isoformat()}.dump"
    dump.write_text("good", encoding="utf-8")
    assert nightly(tmp_path, COPIED, {"environment": "postgresql:///one"}).returncode == 0
    assert dump.read_text(encoding="utf-8") == "good"


def test_a_nightly_job_that_fails_deletes_nothing_and_says_so(tmp_path: Path) -> None:
    done = nightly(tmp_path, "echo no space left >&2; exit 3")
    assert done.returncode == 3
    assert "no space left" in done.stderr
    left = {path.name for path in (tmp_path / "backups").iterdir()}
    assert left == {"kept.db", "old.db", "old.db.txt", "second-old.dump", "other.txt"}, "nor is there an empty note"
    assert "daemon.err" in (tmp_path / "logged").read_text(encoding="utf-8")


@pytest.mark.parametrize("broken", ["gpg", "rsync"])
def test_copies_elsewhere_that_fail_delete_nothing_there_and_say_so(machine: Machine, broken: str) -> None:
    machine.type(NIGHTLY)
    (machine.folder / "etc/ssl/backup.pub").write_text("a key", encoding="utf-8")
    old = machine.folder / "elsewhere/deniable/old.db.gpg"
    old.touch()
    os.utime(old, (0, 0))
    (machine.folder / "bin" / broken).write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    with pytest.raises(AssertionError):
        machine.type(COPIES)
    assert [path.name for path in old.parent.iterdir()] == ["old.db.gpg"]
    assert "daemon.err" in (machine.folder / "logged").read_text(encoding="utf-8")


def test_a_copy_elsewhere_is_never_replaced(machine: Machine) -> None:
    """A collector that was started before its backup was put back has an empty database: its copy has the same name."""
    day = datetime.date.today().isoformat()
    copies = [machine.folder / "elsewhere/deniable" / f"{day}.{kind}.gpg" for kind in ("db", "db.txt")]
    for copy in copies:
        copy.write_text("the only good copy", encoding="utf-8")
    machine.type(NIGHTLY)
    (machine.folder / "etc/ssl/backup.pub").write_text("a key", encoding="utf-8")
    (machine.folder / "var/backups/deniable/by-hand.db").write_bytes(b"another")
    machine.type(COPIES)
    assert [copy.read_text(encoding="utf-8") for copy in copies] == ["the only good copy"] * 2
    assert (copies[0].parent / "by-hand.db.gpg").exists(), "others arrive"


def test_copies_go_to_one_account_which_every_page_names() -> None:
    assert "useradd --create-home --shell /bin/sh deniable-backup" in ACCOUNT
    for path in (*(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").glob("cron*")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?:ssh|scp|ssh-copy-id) '?backup\.example|host=backup", text), path
    assert not any("cron" in line for block in blocks("Restore on another machine")[3:6] for line in block)


def test_copies_elsewhere_without_a_new_backup_are_an_error(machine: Machine) -> None:
    machine.type(NIGHTLY)
    for path in (machine.folder / "var/backups/deniable").iterdir():
        os.utime(path, (time.time() - 27 * 3600,) * 2)
    with pytest.raises(AssertionError, match="no backup of the last 26 hours"):
        machine.type([line for line in COPIES if line != "/etc/cron.daily/deniable"])


def test_lines_for_a_new_metrics_token_leave_the_old_one_if_none_is_made(tmp_path: Path) -> None:
    """On one machine, or on two: the file that leads from one to the other is gone in the end."""
    page = (ROOT / "docs" / "monitoring.md").read_text(encoding="utf-8")
    lines = "".join(block for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if "~/deniable.token" in block)
    assert "token create" in lines
    (tmp_path / "token").write_text("dn_old\n", encoding="utf-8")
    lines = lines.replace("/etc/prometheus/deniable.token", str(tmp_path / "token"))
    lines = lines.replace("~/deniable.token", str(tmp_path / "carried"))
    put = 'for last do from=$to; to=$last; done; test -e "$from" && cat "$from" > "$to"'
    for answer, code, left in (
        ("echo there is one already >&2; exit 1", 1, "dn_old\n"),
        ("echo dn_new", 0, "dn_new\n"),
    ):
        folder = tmp_path / left.strip()
        folder.mkdir()
        done = subprocess.run(
            ["bash", "-c", lines], env=desk(folder, runuser=answer, install=put), check=False, timeout=PATIENCE
        )
        assert (done.returncode, (tmp_path / "token").read_text(encoding="utf-8")) == (code, left)
        assert not (tmp_path / "carried").exists()


def test_a_second_collector_shares_nothing_with_the_first(tmp_path: Path) -> None:
    set_up, before, after, end, end_of_first = blocks("Two collectors on one machine")
    settings = (ROOT / "deploy" / "environment").read_text(encoding="utf-8")
    (tmp_path / "environment").write_text(f"{settings}DENIABLE_PORT=8000\n", encoding="utf-8")
    (unit,) = [line for line in set_up if line.endswith("deniable-second.service")]
    assert unit in after, "an upgrade writes the same unit"
    assert before.index("systemctl stop deniable-second") < [" backup " in line for line in before].index(True)
    assert set_up[-1].endswith("|| /etc/cron.daily/deniable"), "it has a backup before copies elsewhere look for one"
    script = "\n".join(line for line in set_up if line.startswith(("sed", "echo")))
    for folder in ("/etc/deniable", "/etc/systemd/system", "/etc/nginx/conf.d"):
        script = re.sub(
            rf"(?<=> ){folder}(?=/\S+$)|(?<=' ){folder}(?=/environment )", str(tmp_path), script, flags=re.M
        )
    subprocess.run(["sh", "-euc", script], cwd=ROOT, check=True, timeout=PATIENCE)
    settings = (tmp_path / "second").read_text(encoding="utf-8")
    assert "DENIABLE_DB=/var/lib/deniable/second.db\n" in settings
    assert re.findall("^DENIABLE_PORT=.*", settings, re.M) == ["DENIABLE_PORT=8001"], "not that of the first, too"
    assert "EnvironmentFile=/etc/deniable/second\n" in (tmp_path / "deniable-second.service").read_text(
        encoding="utf-8"
    )
    proxy = (tmp_path / "second.conf").read_text(encoding="utf-8")
    for name in ("zone=deniable_addresses", "limit_conn deniable_addresses", "upstream deniable ", "//deniable;",
                 "    server 127.0.0.1:8000;", "collector.example"):  # fmt: skip
        assert name not in proxy
        assert name in (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    for name in ("/etc/deniable/second", "deniable-second.service", "/etc/nginx/conf.d/second.conf", "second.db"):
        assert name in "\n".join(end)
    # Where the first ends, nothing of the second goes, and nothing of the first stays.
    backups, copies = tmp_path / "backups", tmp_path / "copies/deniable"
    of_second = {"second-2026-12-20.db", "second-before-2026-12-20-0930.db", "second-2026-12-20.db.txt.gpg"}
    for place in (backups, copies):
        place.mkdir(parents=True)
        for name in (*of_second, "2026-12-20.db", "before-2026-12-20-0930.db", "2026-12-20.db.txt.gpg"):
            (place / name).touch()
    for line in end_of_first:
        if line.startswith("find "):
            subprocess.run(["sh", "-euc", line.replace("/var/backups/deniable", str(backups))], check=True)
        if line.startswith("ssh "):
            subprocess.run(["sh", "-euc", shlex.split(line)[-1]], cwd=copies.parent, check=True)
    for place in (backups, copies):
        assert {path.name for path in place.iterdir()} == of_second
    for name in ("/etc/deniable/environment", "system/deniable.service", "/etc/nginx/conf.d/deniable.conf"):
        assert name in "\n".join(end_of_first)


def test_the_name_is_put_where_the_files_have_ours(tmp_path: Path) -> None:
    lines = [line for block in blocks("Install") for line in block if line.startswith("sed ")]
    assert len(lines) == 3
    for folder in ("etc/deniable", "etc/nginx/conf.d"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "etc/deniable/environment").write_bytes((ROOT / "deploy" / "environment").read_bytes())
    for line in lines:
        typed = line.replace("collector.example", "survey.uni.eu")
        typed = re.sub(r"(?<= )/etc/(deniable|nginx)", rf"{tmp_path}/etc/\1", typed)
        subprocess.run(["sh", "-euc", typed], cwd=ROOT, check=True, timeout=PATIENCE)
    settings = (tmp_path / "etc/deniable/environment").read_text(encoding="utf-8")
    assert "\nDENIABLE_PUBLIC_URL=https://survey.uni.eu\n" in settings
    assert "collector.example" not in settings
    proxy = (tmp_path / "etc/nginx/conf.d/deniable.conf").read_text(encoding="utf-8")
    assert (proxy.count("server_name survey.uni.eu;"), "example" in proxy) == (2, False)
    for name in ("fullchain.pem", "privkey.pem"):
        assert f" /etc/letsencrypt/live/survey.uni.eu/{name};\n" in proxy


def test_the_table_of_files_names_every_file_that_a_block_makes() -> None:
    table = PAGE.partition("### What lies where")[2].partition("\n## ")[0]
    named = re.findall(r"`(/[\w./-]+)`", table)
    assert len(named) > 20
    typed = {
        path
        for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
        for path in re.findall(r"(?<![\w.])/(?:etc|var|opt)/[\w./-]+", block)
    }
    of_others = {"/etc/nginx/sites-enabled/default", "/etc/systemd/journald.conf.d"}
    assert [path for path in typed - of_others if not any(f"{path}/".startswith(f"{each}/") for each in named)] == []


@pytest.mark.parametrize("page", ["operations", "monitoring", "data-protection", "postgresql"])
def test_every_block_for_a_shell_is_one_that_a_shell_reads(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        subprocess.run(["bash", "-n", "-c", block], check=True, timeout=PATIENCE)
        for name in re.findall(r"(?<=\s)deploy/[\w.-]+", block):
            assert (ROOT / name).is_file(), name


def test_texts_for_data_protection_say_what_an_operator_can_do() -> None:
    page = (ROOT / "docs" / "data-protection.md").read_text(encoding="utf-8")
    assert page.count("published survey cannot be deleted alone") == 2
    assert "operations.md#two-collectors-on-one-machine" in page
    assert "operations.md#backups-elsewhere" in page
    assert any("gnupg" in line for line in COPIES)
    end = page.partition("## After the study")[2]
    assert set(re.findall("```sh\n(.*?)```", end, re.DOTALL)[0].splitlines()) >= {
        "systemctl disable --now deniable",
        *CLEAR,
    }
    assert "mtime" not in page

"""Do what the documents tell an institution to do, on a machine of its own: ``python -m tools.machine``.

The machine is a Debian in a folder, made by debootstrap and started there: systemd is process 1 of namespaces of its
own, with a network of its own that nobody else reaches. So the service runs as its unit says, hardening included, nginx
takes ports 80 and 443, and nothing of the machine outside changes. Only what installs something has the network of the
machine outside.

It needs root on Linux, debootstrap and some minutes. What it runs are the blocks of docs/learn/institution.md that are
marked ``machine``, and those of sections of docs/operations.md and docs/monitoring.md, as they stand there.
What it adds is what a reader is told to do in words: a survey, the people who answer it, and a day. Memory of the
service is not bounded where the system outside keeps that to itself (cgroups of version 1).
"""

from __future__ import annotations

import datetime
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from tools.rig.patience import wait_until
from tools.tutorials import blocks_of, commands_of

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "machine"
DOCS = ROOT / "docs"
PACKAGES = ("ca-certificates", "dbus", "git", "iproute2", "procps", "python3", "systemd", "systemd-sysv")
"""What stands in for a machine that somebody has installed. Everything else comes by the lines of the documents."""

SETTINGS = "set -a; . /etc/deniable/environment; set +a"
"""What the pages say to run first in a shell."""

INSTALLS = re.compile(r"\b(pip install|apt-get)\b")
"""Lines that take the network of the machine outside."""

BOOT = r"""
mount --make-rprivate /
mount --bind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do touch dev/$name; mount --bind /dev/$name dev/$name; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
mount -t tmpfs tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=755 tmpfs run
mount -t cgroup2 cgroup2 sys/fs/cgroup
ip link set lo up
mkdir -p outside
pivot_root . outside
umount -l /outside
exec env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --show-status=no
"""
"""What makes a folder a machine, in namespaces that `unshare` has made: systemd's container interface asks for it."""

SURVEY = """
title = "Exams"
[[questions]]
id = "cheated"
type = "yes-no"
text = "Did you cheat in an exam this year?"
epsilon = 1.0
"""

PEOPLE = """
import random
import sys
from deniable_client import Client

client = Client("https://collector.example")
survey = client.survey(sys.argv[1])
for student in range(250):
    client.submit(survey, client.randomize(survey, {"cheated": random.choice(["no", "yes"])}))
"""


class Block(NamedTuple):
    """Lines that are run in one shell, and lines that they are shown to print."""

    name: str
    lines: list[str]
    shown: list[str]


class Machine(NamedTuple):
    """A machine that runs: the number of its first process, seen from outside."""

    first: int

    def run(self, script: str, *, outside: bool = False) -> str:
        """What a script prints, in the clone, as root; with the network outside where something is installed.

        Raises
        ------
        RuntimeError
            If a line of it fails.
        """
        spaces = ["-m", "-u", "-i", "-p", "-C", *([] if outside else ["-n"])]
        shell = ["env", "-i", "HOME=/root", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
        shell += ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "bash", "-e", "-c", f"cd /root/deniable\n{script}"]
        done = subprocess.run(
            ["nsenter", "--target", str(self.first), *spaces, *shell],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{script}: ended with status {done.returncode}:\n{done.stdout[-3000:]}")
        return done.stdout


def marked(page: str) -> list[Block]:
    """The blocks of a tutorial that change a machine.

    >>> marked("<!-- machine -->\\n```console\\n$ curl x\\n{}\\n```\\n")
    [Block(name='curl x', lines=['curl x'], shown=['{}'])]
    """
    found = []
    for block in blocks_of(page):
        if "machine" in block.notes:
            commands = commands_of(block)
            shown = [line for _, text in commands for line in text.splitlines()]
            found.append(Block(commands[0][0], [line for line, _ in commands], shown))
    return found


def section(page: str, heading: str) -> list[Block]:
    """The blocks for a shell below a heading, but for those about containers.

    >>> section("## A\\n```sh\\nls  # all\\n```\\n```sh\\ndocker ps\\n```\\n## B\\n```sh\\npwd\\n```\\n", "A")
    [Block(name='ls  # all', lines=['ls  # all'], shown=[])]
    """
    text = f"\n{page}".split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = [each.splitlines() for each in re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)]
    return [Block(lines[0], lines, []) for lines in blocks if "docker" not in lines[0]]


def install(folder: Path) -> None:
    """Put a Debian into a folder, with a clone of this project in it."""
    subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", "bookworm", folder], check=True
    )
    for name in ("etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt"):
        shutil.copy(f"/{name}", folder / name)
    clone = folder / "root" / "deniable"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
    (clone / "my-survey.toml").write_text(SURVEY, encoding="utf-8")
    (folder / "root" / "people.py").write_text(PEOPLE, encoding="utf-8")


@contextmanager
def started(folder: Path) -> Iterator[Machine]:
    """Start what is in a folder, and end it afterwards."""
    spaces = ["--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--fork", "--kill-child"]
    process = subprocess.Popen(["unshare", *spaces, "bash", "-e", "-c", BOOT, folder], start_new_session=True)
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        wait_until(lambda: bool(children.read_text(encoding="utf-8").split()), "the machine has a first process")
        machine = Machine(int(children.read_text(encoding="utf-8").split()[0]))

        def is_up() -> bool:
            try:
                return "running" in machine.run("systemctl is-system-running || true")
            except RuntimeError:
                return False

        wait_until(is_up, "systemd has started everything")
        yield machine
    finally:
        process.kill()
        process.wait()


def follow(machine: Machine, blocks: Sequence[Block], prelude: str = "") -> None:
    """Run blocks in their order, and print how long each one takes, and what it says.

    Parameters
    ----------
    prelude : str
        What the shell of a reader has run before.

    Raises
    ------
    RuntimeError
        If a line fails, or does not print what the page shows.
    """
    today = f"{datetime.datetime.now(tz=datetime.UTC):%F}"
    for block in blocks:
        began, printed = time.monotonic(), ""
        for outside, lines in groupby(block.lines, lambda line: bool(INSTALLS.search(line))):
            script = "\n".join([prelude, *lines]).replace("2026-12-20", today)
            printed += machine.run(script, outside=outside)
        print(f"{time.monotonic() - began:6.1f} s  {block.name}", flush=True)
        print(textwrap.indent("\n".join(printed.splitlines()[-12:]), " " * 10), flush=True)
        if missing := [line for line in block.shown if line not in printed]:
            raise RuntimeError(f"{block.name}: must print {missing}, got:\n{printed}")


def reports_of(machine: Machine) -> dict[str, int]:
    """How many reports of each survey there are, released and waiting."""
    printed = machine.run(f"{SETTINGS}\nrunuser -u deniable -- /opt/deniable/bin/deniable survey list")
    rows = [line.split() for line in printed.splitlines()[1:]]
    return {row[0]: int(row[1]) + int(row[2]) for row in rows}


def _healthy(machine: Machine) -> list[str]:
    """The health of each target of ours, as Prometheus sees it."""
    answer = machine.run("curl -s http://127.0.0.1:9090/api/v1/targets || true")
    targets = json.loads(answer)["data"]["activeTargets"] if answer.startswith("{") else []
    return [each["health"] for each in targets if each["labels"]["job"].startswith("deniable")]


def main() -> None:
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        sys.exit("make machine: needs root, and debootstrap (apt install debootstrap)")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    tutorial = marked((DOCS / "learn" / "institution.md").read_text(encoding="utf-8"))
    operations, monitoring = (
        (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("operations", "monitoring")
    )
    moves = next(number for number, block in enumerate(tutorial) if "postgresql" in block.name)
    install(FOLDER)
    with started(FOLDER) as machine:
        follow(machine, tutorial[:moves])
        machine.run(f"{SETTINGS}\nrunuser -u deniable -- /opt/deniable/bin/deniable token revoke ada")  # made once more
        follow(machine, section(operations, "Commands beside the service"))
        (survey,) = reports_of(machine)
        machine.run(f"/opt/deniable/bin/python /root/people.py {shlex.quote(survey)}")
        for page, heading in ((operations, "Back up and restore"), (operations, "Upgrade"), (monitoring, "Set it up")):
            follow(machine, section(page, heading), SETTINGS)
            _expect(reports_of(machine), {survey: 250})
        wait_until(lambda: _healthy(machine) == ["up", "up"], "Prometheus has asked both of its targets")
        follow(machine, tutorial[moves:], SETTINGS)
        _expect(reports_of(machine), {survey: 250})
        print(machine.run("systemd-analyze verify /etc/systemd/system/deniable.service"))
        print(machine.run("systemd-analyze security deniable --no-pager | tail -1"))
        _expect(machine.run("find /var/log/nginx -type f -size +0 ! -name error.log"), "")
    print("Everything was done as the documents say.")


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise RuntimeError(f"the machine: must have {wanted!r}, got {found!r}")


if __name__ == "__main__":
    main()

"""A Debian in a folder, which runs as a machine of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tools.rig.patience import wait_until

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "machine"
PACKAGES = ("ca-certificates", "dbus", "git", "iproute2", "procps", "python3", "systemd", "systemd-sysv")
"""What stands in for a machine that somebody has installed. Everything else comes by the lines of the documents."""

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


class Machine(NamedTuple):
    """A machine that runs: the number of its first process, seen from outside, and its folder there."""

    first: int
    folder: Path

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

    def run_here(self, command: list[str]) -> str:
        """What a program of the machine outside prints in the network of this one, as a neighbour's computer."""
        inside = ["nsenter", "--target", str(self.first), "--net", *command]
        return subprocess.run(inside, stdout=subprocess.PIPE, text=True, check=True).stdout


def install(folder: Path) -> None:
    """Put a Debian into a folder, with a clone of this project in it."""
    subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", "bookworm", folder], check=True
    )
    for name in ("etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt"):
        shutil.copy(f"/{name}", folder / name)
    clone = folder / "root" / "deniable"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)


@contextmanager
def started(folder: Path) -> Iterator[Machine]:
    """Start what is in a folder, and end it afterwards."""
    spaces = ["--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--fork", "--kill-child"]
    process = subprocess.Popen(["unshare", *spaces, "bash", "-e", "-c", BOOT, folder], start_new_session=True)
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        wait_until(lambda: bool(children.read_text(encoding="utf-8").split()), "the machine has a first process")
        machine = Machine(int(children.read_text(encoding="utf-8").split()[0]), folder)

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


def write(machine: Machine, path: str, text: str) -> None:
    """Write a file of a machine, by its path from the root."""
    (machine.folder / path).write_text(text, encoding="utf-8")

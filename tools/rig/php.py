"""A server of PHP, for pages of other sites that have one."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import urllib3

from tools.packages import install_package
from tools.rig.collectors import free_port
from tools.rig.patience import PATIENCE, wait_until


@contextmanager
def php(folder: Path) -> Iterator[str]:
    """PHP's own server for a folder; PHP is brought if it is missing."""
    if shutil.which("php") is None:
        install_package("php-cli")
    address = f"127.0.0.1:{free_port()}"
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(["php", "-S", address], cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: _answers(address), "PHP answers")
        yield f"http://{address}"
    finally:
        server.terminate()
        server.wait(PATIENCE)


def _answers(address: str) -> bool:
    try:
        return urllib3.request("GET", f"http://{address}/", retries=False).status > 0
    except urllib3.exceptions.HTTPError:
        return False

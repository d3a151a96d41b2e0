"""The onion address of ``deploy/`` under a real Tor, which is kept from every network."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tools.packages import tor
from tools.rig.patience import PATIENCE, wait_until

DEPLOY = Path(__file__).parents[2] / "deploy"

pytestmark = [pytest.mark.long, pytest.mark.slow]


def test_tor_takes_the_configuration_and_makes_an_address(tmp_path: Path) -> None:
    folder = tmp_path / "tor"
    folder.mkdir(mode=0o700)
    written = (DEPLOY / "onion.torrc").read_text(encoding="utf-8")
    assert "/var/lib/tor" in written
    configuration = tmp_path / "torrc"
    own = written.replace("/var/lib/tor", str(folder)).replace("Log warn syslog", f"Log warn file {tmp_path}/log")
    configuration.write_text(own, encoding="utf-8")
    command = [tor(), "-f", str(configuration)]
    checked = subprocess.run([*command, "--verify-config"], capture_output=True, text=True, check=False)
    assert (checked.returncode, "Configuration was valid" in checked.stdout) == (0, True), checked.stdout
    name = folder / "deniable" / "hostname"
    with (tmp_path / "output").open("wb") as output:
        process = subprocess.Popen([*command, "--DisableNetwork", "1"], stdout=output, stderr=output)
    try:
        wait_until(name.exists, "Tor has made the address")
    finally:
        process.terminate()
        process.wait(PATIENCE)
    assert re.fullmatch(r"[a-z2-7]{56}\.onion\n", name.read_text(encoding="ascii"))
    assert name.parent.stat().st_mode & 0o77 == 0, "its key is for Tor alone"


def test_the_page_on_it_names_the_file_and_shows_its_lines() -> None:
    page = (DEPLOY / "onion.md").read_text(encoding="utf-8")
    lines = re.findall(r"^ {4}(HiddenService\w+ .+)$", page, re.MULTILINE)
    written = (DEPLOY / "onion.torrc").read_text(encoding="utf-8").splitlines()
    assert "deploy/onion.torrc" in page
    assert lines
    assert set(lines) <= set(written)

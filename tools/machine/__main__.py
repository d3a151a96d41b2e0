"""Do what the documents tell institutions to do: ``python -m tools.machine [institution | place]``."""

from __future__ import annotations

import os
import shutil
import sys

from tools.machine import institution, place
from tools.machine.debian import FOLDER, install, started

WALKS = {"institution": institution.walk, "place": place.walk}


def main() -> None:
    if (name := sys.argv[1] if len(sys.argv) > 1 else "institution") not in WALKS:
        sys.exit(f"make machine: MACHINE must be one of {', '.join(WALKS)}, got {name}")
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        sys.exit("make machine: needs root, and debootstrap (apt install debootstrap)")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    install(FOLDER)
    with started(FOLDER) as machine:
        WALKS[name](machine)
    print("Everything was done as the documents say.")


if __name__ == "__main__":
    main()

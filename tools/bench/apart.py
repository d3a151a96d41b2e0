"""Benchmarks in processes of their own, so that memory is only theirs."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from typing import Any


def apart(module: str, *arguments: str) -> Any:
    """What a module prints as JSON when it is run with these arguments."""
    command = [sys.executable, "-m", module, *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def peak_megabytes() -> float:
    """The highest memory that this process had; it begins with that of the process that started it."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)

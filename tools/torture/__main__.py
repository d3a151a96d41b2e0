"""Torture the collector: ``python -m tools.torture [--short] [scenario ...]``, or ``make torture`` for all in full.

Each module beside this one has `SCENARIOS`: names, and functions that take whether to be short, raise when the
collector broke a promise, and return the figures in a sentence. pytest runs the short forms.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).parent


def scenarios() -> dict[str, Callable[[bool], str]]:
    """Every scenario by name, in the order of modules."""
    found: dict[str, Callable[[bool], str]] = {}
    for path in sorted(FOLDER.glob("*_*.py")):
        if not path.stem.startswith("_"):
            found |= importlib.import_module(f"tools.torture.{path.stem}").SCENARIOS
    return found


def main() -> int:
    """Run what is asked for; how many scenarios failed."""
    known = scenarios()
    parser = argparse.ArgumentParser(description="Torture the collector.")
    parser.add_argument("names", nargs="*", metavar="scenario", help=", ".join(known))
    parser.add_argument("--short", action="store_true", help="as in the tests")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(known):
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}")
    failed = 0
    for name in asked.names or known:
        started = time.monotonic()
        try:
            figures = known[name](asked.short)
        except Exception as error:  # the others are run all the same
            failed += 1
            figures = f"FAILED: {type(error).__name__}: {error}"
        print(f"{name} ({time.monotonic() - started:.0f} s): {figures}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())

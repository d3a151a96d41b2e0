"""``python -m tools.tables [NAME ...]``: print these tables, or all."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("[!_]*.py"))


def main(names: list[str]) -> None:
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        sys.exit(f"no table of that name: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    for name in names or NAMES:
        print(f"\n== {name}\n", flush=True)
        importlib.import_module(f"tools.tables.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])

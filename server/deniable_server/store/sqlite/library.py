"""sqlite-utils without numpy and pandas, which it imports wherever they are installed.

It would only learn to store their numbers and timestamps, which we have none of. Pandas would make each start take half
as long again, numpy that of commands which compute nothing.
"""

from __future__ import annotations

import sys

__all__ = ["Database", "Migrations"]

_hidden = {"numpy", "pandas"} - sys.modules.keys()
sys.modules.update(dict.fromkeys(_hidden))  # type: ignore[arg-type]  # importing them raises ModuleNotFoundError
try:
    from sqlite_utils import Database, Migrations
finally:
    for _name in _hidden:
        del sys.modules[_name]

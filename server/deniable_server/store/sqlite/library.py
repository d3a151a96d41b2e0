"""sqlite-utils without pandas, which it imports wherever that is installed.

It would only learn to store the timestamps of pandas, which we have none of, and each start would take half as long
again.
"""

from __future__ import annotations

import sys

__all__ = ["Database", "Migrations"]

_hidden = "pandas" not in sys.modules
if _hidden:
    sys.modules["pandas"] = None  # type: ignore[assignment]  # importing it raises ModuleNotFoundError
try:
    from sqlite_utils import Database, Migrations
finally:
    if _hidden:
        del sys.modules["pandas"]

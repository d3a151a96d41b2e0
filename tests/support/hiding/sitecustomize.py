"""Read by every Python that has this folder in its PYTHONPATH: modules that HIDDEN names cannot be imported."""

from __future__ import annotations

import importlib.abc
import os
import sys

NAMES = set(os.environ.get("HIDDEN", "").split(","))


class Hidden(importlib.abc.MetaPathFinder):
    """Finds nothing, and says so for what is hidden."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in NAMES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Hidden())

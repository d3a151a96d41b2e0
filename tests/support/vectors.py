"""The vector files, which both languages read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parents[1] / "vectors"


def vectors(name: str) -> Any:
    """What a file of vectors holds, by its path without the ending, such as ``standards/blind_rsa``."""
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))

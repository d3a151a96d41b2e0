"""Files on the command line: one that is read, and one that is written."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import click

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)


def folder_of(file: BinaryIO) -> Path:
    """The folder of an open file; for standard input, the current folder."""
    # Standard input has a number for a name, and a file in memory has none.
    name = getattr(file, "name", "")
    return Path(name).parent if isinstance(name, str) else Path()

"""Files on the command line: one that is read, and one that is written."""

from __future__ import annotations

from pathlib import Path

import click

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)

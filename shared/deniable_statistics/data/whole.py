"""Atomic writing of files and folders: they appear complete or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deniable.errors import ParameterError


def check_parent(path: Path) -> None:
    """Raise a ParameterError unless the folder of this path exists."""
    if not path.parent.is_dir():
        raise ParameterError(f"{path.name}: cannot be written: there is no folder {path.parent.name!r:.80}")


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file under another name, and rename it when it is complete.

    Raises
    ------
    ParameterError
        If it cannot be written.
    """
    # Beside the file, because a rename is atomic only within one file system.
    part = path.with_name(f".{path.name}.part")
    with _said_of(path):
        try:
            write(part)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder that becomes ``folder`` when the block succeeds, and is removed when it fails.

    Raises
    ------
    ParameterError
        If it cannot be written.
    """
    part = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.part")
    with _said_of(folder):
        try:
            part.mkdir()
            yield part
            # The names of files are on the disk only after their folders are synced.
            for each in (part, *(path for path in part.rglob("*") if path.is_dir())):
                sync(each)
            part.rename(folder)  # an empty folder is replaced, any other is not
            # The new name is data of the parent folder, which a power failure may lose, too.
            sync(folder.parent)
        # Also after Ctrl-C an incomplete folder must not stay.
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise


def sync(path: Path) -> None:
    """Flush a file or folder to the disk."""
    with suppress(PermissionError):  # some systems, such as Windows, cannot open folders
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextmanager
def _said_of(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ParameterError(f"{path.name}: cannot be written: {error.strerror or error}") from None


__all__ = ["check_parent", "replace_file", "sync", "whole_folder"]

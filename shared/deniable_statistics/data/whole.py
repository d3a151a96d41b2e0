"""Files and folders that come whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deniable.errors import ParameterError


def check_parent(path: Path) -> None:
    """Raise a ParameterError unless the folder that something is to be written to is there."""
    if not path.parent.is_dir():
        raise ParameterError(f"{path.name}: cannot be written: there is no folder {path.parent.name!r:.80}")


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file under another name first, and give it its name when it is whole.

    Raises
    ------
    ParameterError
        If it cannot be written.
    """
    # Beside the file: a rename is one step within a file system, and a copy between two.
    part = path.with_name(f".{path.name}.part")
    with _said_of(path):
        try:
            write(part)
            # Atomic within one file system, which a name beside it is in.
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A new folder beside one, which takes its place when the block has ended well and is gone when not.

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
            # The names of files are on the disk only once their folders are.
            for each in (part, *(path for path in part.rglob("*") if path.is_dir())):
                sync(each)
            part.rename(folder)  # an empty folder is replaced, any other is not
            # The name is data of the folder above, and may be lost with the power as well.
            sync(folder.parent)
        # Ctrl-C too: what is half written must not stay.
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise


def sync(path: Path) -> None:
    """See to it that a file or folder is on the disk."""
    with suppress(PermissionError):  # some systems open no folder
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

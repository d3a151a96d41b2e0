"""The archive of a survey, as somebody has it who unpacked it."""

from __future__ import annotations

import io
import zipfile


def files_of(content: bytes) -> dict[str, bytes]:
    """The files of an archive by their names within its one folder."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        parts = {name: name.partition("/") for name in archive.namelist()}
        assert len({folder for folder, _, _ in parts.values()}) == 1
        assert all(inside for _, _, inside in parts.values())
        return {inside: archive.read(name) for name, (_, _, inside) in parts.items()}

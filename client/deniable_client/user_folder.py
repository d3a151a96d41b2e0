"""The folder of a user's data on this platform.

It is the folder that platformdirs names; a device is trusted with answers, so it depends on as little as possible.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_data_folder() -> Path:
    """The folder of this user's files of Deniable; it need not exist yet.

    Notes
    -----
    ``$XDG_DATA_HOME`` or ``~/.local/share`` (XDG Base Directory Specification), ``~/Library/Application Support`` on
    macOS, ``%LOCALAPPDATA%`` on Windows, which unlike ``%APPDATA%`` does not roam to other machines.
    """
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        named = os.environ.get("XDG_DATA_HOME", "")
        base = named if Path(named).is_absolute() else Path.home() / ".local" / "share"  # relative ones do not count
    return Path(base) / "deniable"

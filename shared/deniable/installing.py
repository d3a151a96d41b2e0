"""How to install what is missing."""

from __future__ import annotations

SOURCE = "."
"""What pip is told to install: the folder of a clone.

The name ``deniable`` is not registered at the package index. Whoever registers it would get true answers from everybody
who followed such advice. Once the project has registered and released it, this becomes ``"deniable"``.
"""


def install_hint(extra: str = "") -> str:
    """What to do to get a library that is missing, for the end of an error message.

    >>> install_hint("server")
    "in a clone of the project: pip install '.[server]'"
    """
    command = f"pip install '{SOURCE}[{extra}]'" if extra else f"pip install {SOURCE}"
    return f"in a clone of the project: {command}" if SOURCE == "." else command

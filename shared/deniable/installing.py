"""How to install what is missing."""

from __future__ import annotations

import re

SOURCE = "."
"""The argument of ``pip install`` in hints: the folder of a clone.

The name ``deniable`` is not registered at the package index. A stranger who registers it would get true
answers from everybody who followed such advice. Once the project has registered and released it, this becomes
``"deniable"``.
"""


def install_hint(extra: str = "") -> str:
    """How to install an extra of the project, for the end of an error message.

    >>> install_hint("server")
    "in a clone of the project: pip install '.[server]'"
    """
    command = f"pip install '{SOURCE}[{extra}]'" if extra else f"pip install {SOURCE}"
    return f"in a clone of the project: {command}" if SOURCE == "." else command


def extra_with(module: str) -> str:
    """The extra of the distribution that brings a library: ``research``, ``server``, ``postgresql`` or ``audit``.

    >>> extra_with("sqlite_utils.db"), extra_with("numpy"), extra_with("cryptography")
    ('server', 'research', 'server')
    """
    from importlib.metadata import requires  # which takes longer than this whole module, and is needed in a failure

    name = re.escape(module.split(".")[0].replace("_", "-"))
    # A requirement reads like `numpy>=2; extra == "research"`: the name, versions, then the extra that brings it.
    needs = re.compile(rf"{name}\b(?!-)[^;]*;.*\bextra == ['\"](\w+)['\"]")
    extras = {found[1] for each in requires("deniable") or () if (found := needs.match(each))}
    # Of several extras that bring a library: what computes is named for researchers, the rest for a collector.
    first = ("research", "server") if "statistics" in extras else ("server", "research")
    return next((extra for extra in (*first, "postgresql", "audit") if extra in extras), "research")

"""Deniable: answers to sensitive questions that nobody but the person who gave them can know.

What respondent and collector must agree on: mechanisms, surveys, reports, estimates. Pure values and functions.
Importing this loads neither numpy nor scipy, and even its own public names (`api.py`) only when one of them is used: so
`deniable --help` answers at once.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.api import *  # noqa: F403
    from deniable.api import __all__ as __all__

    __version__: str


def __getattr__(name: str) -> object:
    if name == "__version__":
        return _version()
    if find_spec(f"{__name__}.{name}"):  # "from deniable import exact" asks here before it imports the module
        raise AttributeError(name)
    api = import_module("deniable.api")
    if name == "__all__" or name in api.__all__:
        return globals().setdefault(name, getattr(api, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names and nothing else."""
    return sorted([*import_module("deniable.api").__all__, "__version__"])


def _version() -> str:
    from importlib import metadata  # which takes longer than the whole of `deniable --help`

    try:
        return metadata.version("deniable")
    except metadata.PackageNotFoundError:  # run from the folder, without being installed
        return "0+unknown"

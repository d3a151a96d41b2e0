"""Deniable for researchers: everything after collection, and everything before it.

`designs` are the classical designs of randomised response, `comparison` compares groups, `joint` looks at several
questions at once, `regression` models answers, `planning` says how many people a study takes, `simulation` draws whole
studies, `files` reads anybody's data. All of it builds on `deniable`, which knows nothing of it.

`read` gives whatever holds reports as one object, `Results`. It and the packages are loaded when they are asked for.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable_research.results import Results, read

__all__ = ["Results", "read"]

_PACKAGES = (
    *("attention", "codebook", "comparison", "designs", "engine", "files", "joint", "planning", "regression"),
    *("results", "risk", "sampling", "simulation"),
)


def __getattr__(name: str) -> object:
    if name in __all__:
        return globals().setdefault(name, getattr(_import_module("deniable_research.results"), name))
    if name in _PACKAGES:
        return _import_module(f"deniable_research.{name}")  # which sets the attribute, so nobody comes here twice
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, which are not loaded for that."""
    return sorted([*__all__, *_PACKAGES])

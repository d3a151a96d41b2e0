"""Deniable for researchers: everything after collection, and everything before it.

`designs` are the classical designs of randomised response, `comparison` compares groups, `joint` looks at several
questions at once, `regression` models answers, `planning` says how many people a study takes, `simulation` draws whole
studies, `files` reads anybody's data. All of it builds on `deniable`, which knows nothing of it.

`read` gives whatever holds reports as one object, `Results`; both are loaded when somebody asks for them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable_research.results import Results, read

__all__ = ["Results", "read"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return globals().setdefault(name, getattr(import_module("deniable_research.results"), name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Deniable for researchers: everything after collection, and everything before it.

`files` reads anybody's data, `regression` models answers, `simulation` draws whole studies, `codebook` describes a file
of reports. What makes numbers of numbers is in `deniable_statistics`: `comparison` compares groups, `joint` looks at
several questions at once, `sampling` knows how people were drawn, `planning` says how many a study takes, `classical`
holds the classical designs of randomised response. All of it builds on `deniable`, which knows nothing of it.

`read` gives whatever holds reports as one object, `Results`. It and the packages are loaded when they are asked for.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from deniable.errors import needing as _needing

if TYPE_CHECKING:
    from deniable_research.results import Results, read
    from deniable_statistics import classical as designs  # noqa: F401, `__getattr__` gives it
    from deniable_statistics import comparison, joint, planning, risk, sampling  # noqa: F401, so does it these

__all__ = ["Results", "read"]

_PACKAGES = {
    name: f"deniable_research.{name}"
    for name in ("attention", "codebook", "engine", "files", "hosts", "plans", "regression", "results", "simulation")
} | {
    "comparison": "deniable_statistics.comparison",
    "designs": "deniable_statistics.classical",
    "joint": "deniable_statistics.joint",
    "planning": "deniable_statistics.planning",
    "risk": "deniable_statistics.risk",
    "sampling": "deniable_statistics.sampling",
}
"""Where each package stands; those of `deniable_statistics` may be asked for here, too."""


def __getattr__(name: str) -> object:
    with _needing("research"):
        if name in __all__:
            return globals().setdefault(name, getattr(_import_module("deniable_research.results"), name))
        if name in _PACKAGES:
            return globals().setdefault(name, _import_module(_PACKAGES[name]))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, which are not loaded for that."""
    return sorted([*__all__, *_PACKAGES])

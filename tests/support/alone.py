"""For rooms that do without the collector and without browsers: there is neither while their tests run."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

ELSEWHERE = ("apiflask", "deniable_server", "flask", "granian", "playwright")


@pytest.fixture(scope="module", autouse=True)
def neither_collector_nor_browser() -> Iterator[None]:
    """An import of either is an ImportError, also where other rooms have loaded it before."""
    loaded = {name: module for name, module in sys.modules.items() if name.split(".")[0] in ELSEWHERE}
    hidden = {*ELSEWHERE, *loaded}
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None says that there is no such module
    yield
    for name in hidden:
        sys.modules.pop(name, None)
    sys.modules.update(loaded)

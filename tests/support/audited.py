"""A collector whose clients are audited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial

import pytest

from deniable_client.audit.shipped import Target
from tools.planted.targets import Kind, target_of
from tools.rig.collectors import running_collector

Targets = Callable[[Kind], Target]


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Targets]:
    """The survey of planted clients at one collector, by who is counted and whether reports are sealed."""
    with running_collector(tmp_path_factory.mktemp("audit")) as collector:
        yield cache(partial(target_of, collector))


@pytest.fixture(scope="module")
def target(targets: Targets) -> Target:
    """The survey that is open to everybody."""
    return targets("open")

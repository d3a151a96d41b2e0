"""Real collectors as fixtures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tools.rig.collectors import Collector, running_collector

StartCollector = Callable[..., Collector]


@pytest.fixture(scope="module")
def start_collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartCollector]:
    """Start real collectors, each with a database of its own; they end with the test file."""
    with ExitStack() as started:

        def start(*flags: str) -> Collector:
            return started.enter_context(running_collector(tmp_path_factory.mktemp("collector"), *flags))

        yield start


@pytest.fixture(scope="module")
def collector(start_collector: StartCollector) -> Collector:
    """One real collector for a test file."""
    return start_collector()

"""What the tests of every room may ask for. Nothing here needs Flask or a browser."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from pathlib import Path

import pytest

from deniable import Survey, read_survey
from deniable_client.demo.people import survey_file
from tools.rig.surveys import SURVEY, Clock

PROCESSES = {"collector", "postgresql", "start_collector"}
"""Fixtures that start a process of its own."""

MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory."""

ROOM = 4 * 2**30
"""Bytes that have to be free there: several times what the tests need at once."""


def pytest_configure(config: pytest.Config) -> None:
    """Hear Ctrl-C even in a run started in the background, where programs and their children are deaf to it.

    And give OpenBLAS one thread a process before numpy is imported: its threads wait by spinning, and would take the
    cores from other tests. Files are kept in memory where there is room: stores wait for the disk at each commit, and
    no test turns off a machine.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "TMPDIR" not in os.environ and _holds_files(MEMORY):
        os.environ["TMPDIR"], tempfile.tempdir = str(MEMORY), None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()
    # After pytest has looked for garbage itself. The end of the process then clears all up: bindings of other languages
    # report what is left.
    config.add_cleanup(gc.unfreeze)


def _holds_files(folder: Path) -> bool:
    """Whether there is room for the files of the tests, some of which are programs."""
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return False
    system = os.statvfs(folder)
    return system.f_bavail * system.f_frsize >= ROOM and not system.f_flag & os.ST_NOEXEC


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Look for garbage again, but never among modules and tests, which would take a third of a second."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)  # `make mutants` runs without pytest-xdist
def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are cores, because many tests wait for a process, a server or a browser."""
    return (os.cpu_count() or 1) + 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what starts a collector or a PostgreSQL."""
    for item in items:
        if PROCESSES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def survey() -> Survey:
    """A survey of two questions with two cohorts, open from 2026-11-20 to 2026-12-20, with live results."""
    return read_survey(SURVEY)


@pytest.fixture(scope="session")
def demo_survey() -> Survey:
    """The demo's survey: three questions, always open."""
    return read_survey(Path(survey_file()).read_bytes())


@pytest.fixture
def clock() -> Clock:
    """The collector's calendar; stands at `TODAY`."""
    return Clock()

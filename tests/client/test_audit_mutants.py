"""A mutation of each mechanism is caught by the audit's replay of reports, not by unit tests alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.planted.drawn import noticed
from tools.planted.faults import Fault
from tools.planted.mutations import BROWSER, PYTHON

ROOT = Path(__file__).parents[2]

AUDITED = """
import random
from deniable import read_survey
from deniable_client.audit.auditor import audit_survey
from deniable_client.audit.sampling import draw_python
from tests.client.test_audit import EVERYTHING, WAVES, untimed
for text in (EVERYTHING, WAVES):
    print(*audit_survey(read_survey(text), untimed(draw_python), 1000, dice=random.Random(41)).faults, sep=chr(10))
"""


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize("fault", PYTHON, ids=[each.name for each in PYTHON])
def test_a_mutation_is_caught(fault: Fault, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "shared" / "deniable", tmp_path / "deniable", ignore=shutil.ignore_patterns("__pycache__"))
    mutated = tmp_path / Path(fault.file).relative_to("shared")
    text = mutated.read_text(encoding="utf-8")
    assert text.count(fault.old) == 1
    mutated.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", AUDITED],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "source of chance" in done.stdout.splitlines(), done.stdout


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize("fault", BROWSER, ids=[each.name for each in BROWSER])
def test_a_mutation_of_the_browsers_modules_is_caught(fault: Fault) -> None:
    """Each shows in at least one of sixteen reports that draw the word in question, and 1,000 are computed again."""
    assert noticed(fault) is not None

"""A mutation of each mechanism is caught by the audit's replay of reports, not by unit tests alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MUTANTS = {
    "two-coin": ("two_coin.py", "if first < self.truth:", "if first <= self.truth + self.truth // 16:"),
    "warner": (
        "warner.py",
        "return answer if word() < self.keep else",
        "return answer if word() > UNIT - self.keep else",
    ),
    "forced-response": (
        "forced_response.py",
        "bisect.bisect_right(self._ends, second)",
        "bisect.bisect_right(self._ends, first)",
    ),
    "k-ary": (
        "k_ary.py",
        "return instead if instead < answer else instead + 1",
        "return instead if instead <= answer else instead + 1",
    ),
    "subset": (
        "subset.py",
        "unrank(self.k - 1, self.w - 1, draw // self.inside)",
        "unrank(self.k - 1, self.w - 1, draw // self.inside // 2)",
    ),
    "tick-boxes": (
        "tick_boxes.py",
        "(option in ticked) == (word() < self.keep)",
        "(option in ticked) != (word() >= self.keep - self.keep // 16)",
    ),
    "drawn-boxes": (
        "drawn_boxes.py",
        "self.patterns.randomize(pattern, word)",
        "self.patterns.randomize(pattern ^ 1, word)",
    ),
    "mean": (
        "mean.py",
        "return 1 if word() < self.weight(answer) else 0",
        "return 1 if word() < self.weight(answer) * 15 // 16 else 0",
    ),
    "piecewise": ("piecewise.py", "(self.row(answer))), word())", "(self.row(answer))), word() ^ 1 << 31)"),
    "exponential and geometric": (
        "row_mechanism.py",
        "bisect.bisect_right(ends, word())",
        "bisect.bisect_right(ends, word() // 2)",
    ),
    "longitudinal": (
        "longitudinal.py",
        "return self.instantaneous_response.randomize(kept, word)",
        "return self.permanent_response.randomize(kept, word)",
    ),
}
"""By mechanism: a file, what stands there in `randomize`, and what takes its place."""

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
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutation_is_caught(name: str, tmp_path: Path) -> None:
    file, old, new = MUTANTS[name]
    shutil.copytree(ROOT / "shared" / "deniable", tmp_path / "deniable", ignore=shutil.ignore_patterns("__pycache__"))
    mutated = tmp_path / "deniable" / "mechanisms" / file
    text = mutated.read_text(encoding="utf-8")
    assert text.count(old) == 1
    mutated.write_text(text.replace(old, new), encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", AUDITED],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "source of chance" in done.stdout.splitlines(), done.stdout

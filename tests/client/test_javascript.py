"""Python and JavaScript make the same of the same words: vectors over all mechanisms, drawn afresh each time."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest

from deniable.mechanisms import MECHANISMS
from tests.support.marks import long
from tools import make_vectors, programs

RUNNER = Path(__file__).parents[1] / "web" / "run-vectors.js"


@pytest.mark.slow
@pytest.mark.parametrize("vectors", [6_000, long(20_000)])
def test_python_and_javascript_agree_on_every_vector(vectors: int) -> None:
    dice = random.Random()
    each = -(-vectors // len(make_vectors.MECHANISMS))
    lines = []
    for mechanism in make_vectors.MECHANISMS:
        answers = make_vectors.possible_answers(mechanism)
        changes = make_vectors.sorted_thresholds(mechanism)
        for _ in range(each):
            near = (
                [max(int(changes[dice.randrange(len(changes))]) - dice.randint(0, 1), 0) % 2**32]
                if len(changes) and dice.random() < 0.3
                else []
            )
            lines.append(json.dumps(make_vectors.good_vector(mechanism, dice.choice(answers), near, dice)))
    assert {type(mechanism) for mechanism in make_vectors.MECHANISMS} == set(MECHANISMS.values())
    done = subprocess.run(
        [*programs.node_command(), str(RUNNER)], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == f"agreed: {len(lines)}", done.stdout[:2000] + done.stderr[:2000]
    assert len(lines) >= vectors

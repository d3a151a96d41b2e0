"""Python with ``pip install .`` alone: what needs a library says so, and names the smallest extra that brings it."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from deniable.errors import NotInstalled
from tests.support.extras import with_extras
from tools.rig.patience import PATIENCE

DOORS = {
    "from deniable import KAry; KAry.from_epsilon(4, 1).randomize_many([0, 1])": "statistics",
    "from deniable import Subset; Subset.from_epsilon(4, 2, 1).randomize_many([0, 1])": "statistics",
    "from deniable import DrawnBoxes; DrawnBoxes.from_epsilon(4, 1).randomize_many([[0, 1, 1, 0]])": "statistics",
    "from deniable import TickBoxes; TickBoxes.from_epsilon(4, 1).randomize_many([[0, 1, 1, 0]])": "statistics",
    "from deniable import KAry; KAry.from_epsilon(2, 1).estimate([1, 2])": "statistics",
    "from deniable import choose; choose(range(0, 41), 2, 'mean')": "statistics",
    "from deniable import choose; choose(8, 2, 'boxes')": "",
    "from deniable import choose; choose(4, 2)": "",
    "from deniable import read_survey; read_survey(NUMBER)": "statistics",
    "from deniable import read_survey; read_survey(NUMBER.replace('number', 'yes-no').partition('lo =')[0])": "",
    "import deniable; deniable.estimate": "statistics",
    "from deniable import Estimate": "statistics",
    "from deniable import EstimateRow": "statistics",
    "from deniable import Interval": "statistics",
    "from deniable import MeanEstimate": "statistics",
    "from deniable_statistics.planning import NoiseModel": "statistics",
    "from deniable_statistics import planning": "statistics",
    "from deniable_statistics import comparison": "statistics",
    "from deniable_statistics import joint": "statistics",
    "from deniable_statistics import sampling": "statistics",
    "from deniable_statistics import classical": "statistics",
    "from deniable_statistics import intervals": "statistics",
    "from deniable_statistics import risk": "",
    "from deniable_research import read": "research",
    "from deniable_research import Results": "research",
    "from deniable_research import attention": "research",
    "from deniable_research import codebook": "research",
    "from deniable_research import engine": "research",
    "from deniable_research import files": "research",
    "from deniable_research import regression": "research",
    "from deniable_research.simulation import generator_of": "research",
    "import deniable_research; deniable_research.planning": "statistics",
}
"""What a program may write, and the extra that it needs, if any."""

PROGRAM = """
import sys
NUMBER = 'title = "T"\\n[[questions]]\\nid = "q"\\ntext = "T?"\\nepsilon = 1\\ntype = "number"\\nlo = 0\\nhi = 40\\n'
from deniable.errors import DeniableError
try:
    exec(sys.argv[1])
except DeniableError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("line", DOORS, ids=lambda line: line.rpartition("; ")[2])
def test_without_extras_every_door_says_what_to_install(line: str) -> None:
    extra = DOORS[line]
    missing, enough = (
        subprocess.run(
            [sys.executable, "-c", PROGRAM, line],
            capture_output=True, text=True, check=True, env=with_extras(extras), timeout=PATIENCE,
        ).stdout
        for extras in ((), (extra,) if extra else ())
    )  # fmt: skip
    assert enough == ""
    hint = f"is needed for this; in a clone of the project: pip install '.[{extra}]'\n"
    assert missing.endswith(hint) if extra else missing == "", missing


def test_what_is_missing_survives_the_way_from_a_worker() -> None:
    error = pickle.loads(pickle.dumps(NotInstalled("numpy", "statistics")))
    assert str(error) == str(NotInstalled("numpy", "statistics"))
    assert (error.name, error.extra) == ("numpy", "statistics")

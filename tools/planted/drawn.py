"""Mutations of the browser's modules, each drawn from by Node.js: ``python -m tools.planted.drawn``.

No page is opened: the audit's many reports alone must notice.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from deniable_client.audit.auditor import audit_survey
from deniable_client.audit.sampling import draws_of_javascript
from tools.planted.__main__ import WEB, plant
from tools.planted.faults import Fault
from tools.planted.mutations import BROWSER
from tools.planted.targets import survey_of

DRAWS = 2_000


def main() -> int:
    found = [(each.name, noticed(each)) for each in BROWSER]
    for name, what in found:
        print(f"{name:<48}{what or 'MISSED'}", flush=True)
    print(f"{sum(what is not None for _, what in found)} of {len(found)}")
    return 0


def noticed(fault: Fault, draws: int = DRAWS) -> str | None:
    """What an audit of many reports of the mutated modules names first; None where it names nothing."""
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / WEB.relative_to(WEB.parents[1])
        shutil.copytree(WEB, copy, ignore=shutil.ignore_patterns("node_modules", "dist", "__pycache__"))
        plant(fault, Path(name))
        survey = survey_of("every mechanism")
        found = audit_survey(survey, draws_of_javascript(copy / "index.js"), draws)
    return next(iter(found.faults), None)


if __name__ == "__main__":
    sys.exit(main())

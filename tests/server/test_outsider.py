"""Programs that were written from the documents alone verify what a collector publishes, and notice what is changed."""

from __future__ import annotations

import json
import runpy
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature

from deniable import Survey
from deniable_server.app import create_app
from deniable_server.settings import Settings
from deniable_server.store import Store
from tests.support.views import filled
from tools.packages import rscript
from tools.rig.in_process import ended
from tools.rig.patience import PATIENCE
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import Clock

ROOT = Path(__file__).parents[2]
VERIFY = runpy.run_path(str(ROOT / "tests" / "reference" / "outsider.py"))["verify"]
"""The function of a program that is not ours."""

FEW = survey_toml(
    "Few",
    question_toml("affair", "yes-no", truth="1/2"),
    question_toml("faith", "choice", options=["not", "mildly", "fairly", "strongly"], epsilon=1),
    question_toml("town", "choice", options=[*"abcdef"], mechanism="subset", epsilon=1),
    question_toml("drugs", "ticks", options=["a", "b"], mechanism="tick-boxes", epsilon=2),
    layout="page",
)

Fetch = Callable[[str], bytes]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Fetch, Survey]:
    """What a collector publishes of a survey of 150 people, by its path."""
    path = tmp_path_factory.mktemp("outsider") / "test.db"
    with ended(create_app(path, Clock(), Settings(rate_limit=None, fold_seconds=86_400))) as app:
        store: Store = app.extensions["deniable"]["store"]
        survey, _ = filled(store, FEW, 150)
        http, api = app.test_client(), f"/api/v1/surveys/{survey.id}"
        names = ("", "/releases", "/releases/1", "/reports.csv", "/estimates.csv")
        kept = {f"{api}{name}": http.get(f"{api}{name}").data for name in names}
    return kept.__getitem__, survey


def changed(fetch: Fetch, name: str, before: bytes, after: bytes) -> Fetch:
    """The same, with the first of some bytes changed at one path."""

    def get(path: str) -> bytes:
        content = fetch(path)
        if path.endswith(name):
            assert before in content
            content = content.replace(before, after, 1)
        return content

    return get


def test_they_are_short_and_import_nothing_of_ours() -> None:
    python, r = (
        (ROOT / "tests" / "reference" / name).read_text(encoding="utf-8") for name in ("outsider.py", "outsider.R")
    )
    assert "deniable" not in python.partition('"""\n\n')[2]
    for text in (python, r):
        lines = [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
        assert len(lines) <= 120


@pytest.mark.slow
def test_python_recomputes_and_verifies(published: tuple[Fetch, Survey]) -> None:
    fetch, survey = published
    assert VERIFY(fetch, survey.id) == 2 + 4 + 6 + 2


@pytest.mark.parametrize("what", ["survey", "head", "signature", "record", "row", "estimate", "interval"])
def test_python_notices_what_is_changed(published: tuple[Fetch, Survey], what: str) -> None:
    fetch, survey = published
    log: dict[str, Any] = json.loads(fetch(f"/api/v1/surveys/{survey.id}/releases"))
    estimates = fetch(f"/api/v1/surveys/{survey.id}/estimates.csv").split(b"\r\n")[1].split(b",")
    signature = log["releases"][0]["signature"].encode()
    change = {
        "survey": (survey.id, b"Few", b"Fee"),
        "head": ("/releases", log["head_signature"].encode(), bytes(log["head_signature"][::-1], "ascii")),
        "signature": ("/releases", signature, signature[::-1]),
        "record": ("/releases/1", b'"n":150', b'"n":151'),
        "row": ("/reports.csv", b",north,", b",south,"),
        "estimate": ("/estimates.csv", estimates[5], b"0.5"),
        "interval": ("/estimates.csv", estimates[7], b"0.2"),
    }[what]
    with pytest.raises((AssertionError, InvalidSignature)):
        VERIFY(changed(fetch, *change), survey.id)


@pytest.mark.r
def test_r_recomputes(published: tuple[Fetch, Survey], tmp_path: Path) -> None:
    fetch, survey = published
    for name in ("reports.csv", "estimates.csv"):
        (tmp_path / name).write_bytes(fetch(f"/api/v1/surveys/{survey.id}/{name}"))
    command = [rscript(), str(ROOT / "tests" / "reference" / "outsider.R"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout == "14 estimates recomputed\n"
    rows = fetch(f"/api/v1/surveys/{survey.id}/reports.csv").splitlines(keepends=True)
    (tmp_path / "reports.csv").write_bytes(b"".join(rows[:-1]))
    assert subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False).returncode

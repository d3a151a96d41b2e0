"""The record of ratios to earlier versions: what `make bench` says of it. Nothing is measured here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.bench import versions
from tools.bench.versions import FIGURES, Entry, add_to_record, compare, complaints, latest, read_record


def entry(figure: str, ratio: float, against: str = "new", least: float = 0.93) -> Entry:
    return Entry("2026-11-24", "1234567", against, figure, ratio, least)


def test_a_figure_below_its_least_is_named_and_others_are_not() -> None:
    expected = latest([entry("page", 2, "old"), entry("page", 1.5), entry("page", 1), entry("batches", 1, least=0.9)])
    assert expected["page"].ratio == 1  # the last one, of the version that is compared with
    assert complaints({"page": 0.93, "batches": 0.9}, expected) == []
    assert complaints({"page": 0.92, "batches": 0.95}, expected) == [
        "page: must be at least 0.93 of new, got 0.92; it was 1.00 on 2026-11-24"
    ]


@pytest.mark.parametrize(("rate", "judged"), [(1.0, []), (0.5, list(FIGURES))])
def test_bench_complains_of_what_fell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rate: float, judged: list[str]
) -> None:
    monkeypatch.setattr(
        versions, "measure", lambda _against, _rounds: (dict.fromkeys(FIGURES, 1.0), dict.fromkeys(FIGURES, rate))
    )
    assert [each.partition(":")[0] for each in compare()] == judged
    assert compare(against="another") == []  # measured, not judged
    assert "recorded" in capsys.readouterr().out


def test_what_is_recorded_is_compared_with_next(tmp_path: Path) -> None:
    path = tmp_path / "record.csv"
    path.write_text("date,version,against,figure,ratio,least\n2026-01-01,1234567,old,page,1.1,0.9\n", encoding="utf-8")
    add_to_record("new", {"page": 1.234}, latest(read_record(path)), path)
    (found,) = latest(read_record(path)).values()
    assert (found.against, found.figure, found.ratio, found.least) == ("new", "page", 1.23, 0.9)


def test_the_record_has_every_figure_of_a_version_that_this_repository_has() -> None:
    expected = latest(read_record())
    assert expected.keys() == FIGURES.keys()
    assert all(0.9 <= each.least < 1 for each in expected.values())
    inside = subprocess.run(
        ["git", "rev-parse", "--is-shallow-repository"], capture_output=True, text=True, check=False
    )
    if inside.stdout.strip() != "false":
        pytest.skip("no whole repository")
    for each in expected.values():
        assert subprocess.run(["git", "cat-file", "-e", f"{each.against}^{{commit}}"], check=False).returncode == 0

"""Reports of simulated surveys as Parquet: what the mechanisms make, whoever writes it, and whole or not at all."""

from __future__ import annotations

import hashlib
import json
import math
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest

from deniable import ParameterError, Survey, read_survey
from deniable.survey.published import parse_survey
from deniable_research.engine import EngineReports, open_source
from deniable_research.files import Layout, estimate_shares
from deniable_research.simulation import Misbehaviour, Simulation, generator_of, parquet_reports, truth_of, write_rows
from deniable_research.simulation.counted_surveys import draw_counts
from deniable_research.simulation.draw import draw_reports
from deniable_research.simulation.parquet_reports import CELLS
from deniable_statistics.designs.spaces import support_matrix
from tests.support.drawn_questions import joint_survey, shared_survey
from tests.support.marks import long
from tools.rig.command_line import CommandLine
from tools.rig.patience import PATIENCE, wait_until
from tools.rig.surveys import EVERY_KIND, FIVE_TYPES, SURVEY

MISBEHAVIOUR = Misbehaviour(0.1, 0.05, 0.05)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_reports, "PEOPLE", 7_000)
    monkeypatch.setattr(parquet_reports, "CELLS", 30_000)


def read(folder: Path) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(each) for each in sorted((folder / "reports").iterdir())], ignore_index=True)


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(each.relative_to(folder)): hashlib.sha256(each.read_bytes()).hexdigest()
        for each in folder.rglob("*")
        if each.is_file()
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "survey",
    [read_survey(FIVE_TYPES), read_survey(EVERY_KIND), shared_survey(3, 1.5, 2), joint_survey(2, 3, 2)],
    ids=["five types", "every kind", "drawn questions", "one response"],
)
def test_rows_are_reports_and_their_counts_those_of_the_mechanisms(survey: Survey, tmp_path: Path) -> None:
    people = 20_000
    write_rows(Simulation(survey, None, people, MISBEHAVIOUR), tmp_path / "rows", 1, 1)
    frame = read(tmp_path / "rows")
    assert list(frame.columns) == ["cohort", *(question.id for question in survey.questions)]
    assert len(frame) == people
    told = draw_counts(truth_of(survey), people, MISBEHAVIOUR, generator_of(2))
    for question in survey.questions:
        values = frame[question.id].dropna()
        reports = values if values.dtype == object or values.dtype == "str" else values.astype(int)
        supports = support_matrix(question.mechanism.reports, reports.tolist())
        drawn = question.group is not None and question.group.is_drawn
        assert drawn == (len(values) < people)
        assert abs(len(values) - told[question.id].n) < 5 * math.sqrt(people / 2)
        for count, other in zip(supports.sum(axis=0), told[question.id].counts, strict=True):
            assert abs(int(count) - other) < 5 * math.sqrt(2 * max(other * (1 - other / people), 1))


@pytest.mark.slow
def test_the_number_of_processes_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_reports, "CELLS", CELLS)  # other processes know of no other
    monkeypatch.setattr(parquet_reports, "_cores", lambda: 3)
    simulation = Simulation(read_survey(SURVEY), {"affair": 0.3}, 20_000, compare={"affair": 0.5})
    for processes in (1, 3):
        write_rows(simulation, tmp_path / str(processes), 5, processes)
    write_rows(simulation, tmp_path / "other", 6, 1)
    one, three, other = (hashes(tmp_path / name) for name in ("1", "3", "other"))
    assert one == three
    assert sorted(one) == [*(f"reports/part-0000{part}.parquet" for part in range(4)), "survey.json"]
    assert len({*one.values(), *other.values()}) == 5 + 4  # no two parts are alike, whatever the seed


def test_never_more_processes_than_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(parquet_reports, "_write_parts", lambda *arguments: asked.append(arguments[-1]))
    monkeypatch.setattr(parquet_reports, "_cores", lambda: 2)
    for place, processes in enumerate([None, 1, 2, 64]):
        write_rows(Simulation(read_survey(SURVEY)), tmp_path / str(place), 1, processes)
    assert asked == [2, 1, 2, 2]


def test_shares_from_the_rows_are_those_that_were_asked_for(tmp_path: Path) -> None:
    toml, folder = tmp_path / "survey.toml", tmp_path / "rows"
    toml.write_text(SURVEY, encoding="utf-8")
    CommandLine("simulate").ok(
        toml, "--truth", "affair=0.3", "--compare", "affair=0.6", "--respondents", 40_000, "--repetitions", 2,
        "--rows", folder, "--processes", 1,
    )  # fmt: skip
    assert (folder / "survey.json").read_bytes() == read_survey(SURVEY).document
    survey = parse_survey((folder / "survey.json").read_bytes())
    reports = EngineReports(open_source(folder), Layout.of_survey(survey))
    ((_, table),) = reports.apart(["affair"], "cohort")
    found = {(row.cohort, row.option): row for row in estimate_shares(table, ["affair"], by="cohort")}
    for cohort, share in [("paper", 0.3), ("web", 0.6)]:
        row = found[cohort, "yes"]
        assert row.n == 20_000
        assert row.estimate is not None
        assert row.std_error is not None
        assert abs(row.estimate - share) < 4 * row.std_error
    text = CommandLine("analyze", "shares").ok(
        "--from", folder, "--survey", folder / "survey.json", "--by", "cohort", "--format", "json"
    )
    printed = {(each["cohort"], each["option"]): each["estimate"] for each in json.loads(text)["estimates"]}
    assert printed["web", "yes"] == found["web", "yes"].estimate


def test_reports_of_a_survey_that_needs_a_cohort_come_evenly_by_its_links(tmp_path: Path) -> None:
    toml, folder, csv = tmp_path / "survey.toml", tmp_path / "rows", tmp_path / "reports.csv"
    toml.write_text("cohort_required = true\n" + SURVEY, encoding="utf-8")
    CommandLine("simulate").ok(
        toml, "--respondents", 2001, "--repetitions", 2, "--rows", folder, "--processes", 1, "--reports", csv
    )
    people = [2001 // 2 + 1, 2001 // 2]
    assert pd.read_csv(csv)["cohort"].value_counts().sort_index().tolist() == people
    printed = CommandLine("analyze", "shares").ok(
        "--from", folder, "--survey", folder / "survey.json", "--by", "cohort", "--format", "json"
    )
    found = {(each["cohort"], each["n"]) for each in json.loads(printed)["estimates"] if each["question"] == "affair"}
    assert {("paper", people[0]), ("web", people[1])} <= found
    (only,) = Simulation(read_survey(toml.read_text(encoding="utf-8")), respondents=1).links
    assert only[:2] == ("paper", 1)


def test_cohorts_that_the_survey_does_not_have_are_not_reported(tmp_path: Path) -> None:
    toml = tmp_path / "survey.toml"
    toml.write_text(SURVEY.replace("cohorts", "# cohorts"), encoding="utf-8")
    compared = (toml, "--compare", "affair=0.5", "--respondents", 100, "--repetitions", 2)
    CommandLine("simulate").ok(*compared)
    for to in ("--rows", "--reports"):
        refused = CommandLine("simulate").refused(*compared, to, tmp_path / "new")
        assert "compare: needs a survey with two cohorts for its reports" in refused
        assert not (tmp_path / "new").exists()


def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation(read_survey(SURVEY))
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "mine").touch()
    with pytest.raises(ParameterError, match="rows: must be an empty folder or a new one, got one"):
        write_rows(simulation, tmp_path / "rows", 1)
    toml = tmp_path / "survey.toml"
    toml.write_text(SURVEY, encoding="utf-8")
    never = ("--repetitions", 1_000_000, "--respondents", 10_000_000)
    assert "rows: must be an empty" in CommandLine("simulate").refused(toml, *never, "--rows", tmp_path / "rows")
    with pytest.raises(ParameterError, match="rows: cannot be written: there is no folder 'nowhere'"):
        write_rows(simulation, tmp_path / "nowhere" / "rows", 1)
    with pytest.raises(ParameterError, match="processes: must be an integer in"):
        write_rows(simulation, tmp_path / "new", 1, 0)

    def fail(*_: Any) -> Iterator[Any]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet_reports, "draw_reports", fail)
    with pytest.raises(ParameterError, match="new: cannot be written: No space left on device"):
        write_rows(simulation, tmp_path / "new", 1, 1)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["rows", "survey.toml"]


def test_ctrl_c_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some rows of a part are written; the same of processes is below."""
    drawn: list[int] = []

    def draw(*arguments: Any) -> Any:
        drawn.append(len([*tmp_path.rglob("part-*")]))
        if len(drawn) == 3:
            raise KeyboardInterrupt
        return draw_reports(*arguments)

    monkeypatch.setattr(parquet_reports, "draw_reports", draw)
    with pytest.raises(KeyboardInterrupt):
        write_rows(Simulation(read_survey(SURVEY), None, 20_000), tmp_path / "rows", 1, 1)
    assert drawn == [1, 2, 3]
    assert [*tmp_path.iterdir()] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "with_signal",
    [
        long(signal.SIGINT, name="interrupted"),
        long(signal.SIGTERM, name="ended"),
        pytest.param(signal.SIGKILL, id="killed"),
    ],
)
def test_an_interrupted_run_leaves_nothing_that_passes_for_whole(with_signal: signal.Signals, tmp_path: Path) -> None:
    toml, folder = tmp_path / "survey.toml", tmp_path / "rows"
    toml.write_text(SURVEY, encoding="utf-8")
    # Its processes read the file too, so all of them write after few rows and need not be waited for.
    program = (
        "from deniable_commands.main import main\nfrom deniable_research.simulation import parquet_reports\n"
        "parquet_reports.CELLS = 30_000\nif __name__ == '__main__': main()"
    )
    script = tmp_path / "run.py"
    script.write_text(program, encoding="utf-8")
    arguments = ["--respondents", "50000000", "--repetitions", "2", "--rows", str(folder)]
    command = [sys.executable, str(script), "simulate", str(toml), *arguments]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as run:

        def are_written() -> bool:
            assert run.poll() is None
            parts = [*tmp_path.rglob("part-*")]
            return len(parts) > 1 and any(each.stat().st_size > 4 for each in parts)

        wait_until(are_written, "parts are written")
        children = children_of(run.pid)
        run.send_signal(with_signal)
        assert run.wait(PATIENCE) != 0
    assert not folder.exists()
    assert not [*tmp_path.rglob("*.parquet")]
    if with_signal != signal.SIGKILL:
        assert sorted(each.name for each in tmp_path.iterdir()) == ["run.py", "survey.toml"]
    wait_until(lambda: not any(is_running(each) for each in children), "nothing runs on")


def children_of(process: int) -> list[int]:
    return [each.pid for each in psutil.Process(process).children(recursive=True)]


def is_running(process: int) -> bool:
    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_rows_go_with_no_formula_and_processes_with_rows(file: Path, tmp_path: Path) -> None:
    refused = CommandLine("simulate").refused
    assert "--rows and --method do not go with --formula" in refused(
        file, "--formula", "affair ~ cohort", "--rows", tmp_path / "rows"
    )
    assert "--processes goes with --formula or --rows" in refused(file, "--processes", 2)
    assert not [*tmp_path.glob("*rows*")]

"""``deniable export --format``: folders of parts with a manifest, from every store, and who reads them."""

from __future__ import annotations

import csv
import hashlib
import json
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pyarrow.dataset
import pytest
from pyarrow import parquet

from deniable import Report, Survey, read_survey, tally_reports
from deniable.errors import DeniableError, ParameterError, ReportError
from deniable.survey.document import address
from deniable_client import randomize
from deniable_research.engine import EngineReports, open_source
from deniable_research.engine.tallies import count_tallies
from deniable_research.files import Layout, estimate_shares
from deniable_server.location import Address
from deniable_server.store.interface import Release
from deniable_server.store.sql_store import SqlStore
from deniable_server.store.tables import rows_from
from deniable_statistics.data import folder as writing
from deniable_statistics.data.folder import write_folder
from deniable_statistics.data.manifest import FORMATS, open_export, sha256_of
from deniable_statistics.published.csv_cells import plain_cell
from tests.support.folding import live, reports, survey, take, tallied
from tests.support.marks import long
from tests.support.postgresql import postgresql, template
from tests.support.stores import Place, place
from tools.rig.command_line import CommandLine
from tools.rig.patience import PATIENCE
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import FIVE_TYPES, person

__all__ = ["live", "place", "postgresql", "survey", "tallied", "template"]

DENIABLE = CommandLine()
ok, refused = DENIABLE.ok, DENIABLE.refused

EACH_AND_BOTH = [
    *[("csv", False), ("jsonl", True), ("parquet", True)],
    *[long("csv", True), long("jsonl", False), long("parquet", False)],
]
"""Formats, and whether parts are by cohort: each format and both kinds, and all of them in long runs."""

LABELS = ("01", "=1+1", "'=x", "a/b c%20", "Grüße\nan alle", "NA", "NULL", "-5", "..")


@pytest.fixture(scope="module")
def mixed() -> Survey:
    """A survey with a question of each type and labels that programs take for something else."""
    return replace(read_survey(FIVE_TYPES), cohorts=LABELS)


@pytest.fixture(scope="module")
def sent(mixed: Survey) -> list[Report]:
    people = (randomize(mixed, person(n), (*LABELS, None)[n % 10]) for n in range(500))
    return sorted(people, key=lambda each: each.id)


def named(place: Place) -> str:
    return place.where.url if isinstance(place.where, Address) else str(place.where)


def fill(place: Place, survey: Survey, sent: list[Report]) -> None:
    with place.opened() as store:
        store.publish(survey)
        take(store, survey, sent)


def export(place: Place, survey: Survey, to: Path, *more: str) -> str:
    return ok("export", survey.id, "--db", named(place), "--to", to, *more)


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_bytes())
    return found


def values_of(report: Report) -> list[Any]:
    return [f"b{value}" if isinstance(value, str) else value for value in report.values.values()]


def rows_of(folder: Path, form: str) -> list[list[Any]]:
    """Id, cohort, values and access of each row, in the order of the parts; read by nothing of ours."""
    found = []
    for part in sorted(folder.rglob(f"*.{form}")):
        if form == "parquet":
            rows = parquet.ParquetFile(part).read().to_pylist()
        elif form == "csv":
            with part.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            for row in rows:
                row |= {name: int(text) for name, text in row.items() if name in ("affair", "drinks")}
                if "cohort" in row:
                    row["cohort"] = plain_cell(row["cohort"]) or None
        else:
            rows = [json.loads(line) for line in part.read_text(encoding="utf-8").splitlines()]
        found += [list(row.values()) for row in rows]
    return found


@pytest.mark.parametrize(
    ("place", "form"),
    [
        *[("sqlite", form) for form in FORMATS],
        pytest.param("postgresql", "parquet", marks=pytest.mark.slow),
        *[long("postgresql", form) for form in FORMATS if form != "parquet"],
    ],
    indirect=["place"],
)
def test_rows_survey_and_manifest_are_what_the_store_has(
    place: Place, mixed: Survey, sent: list[Report], tmp_path: Path, form: str
) -> None:
    fill(place, mixed, sent)
    to = tmp_path / "out"
    assert export(place, mixed, to, "--format", form) == f"{to}: 500 reports\n"
    assert rows_of(to, form) == [[each.id, each.cohort, *values_of(each), "not enforced"] for each in sent]
    document = (to / "survey.json").read_bytes()
    assert document == mixed.document
    assert address(document) == mixed.id
    found = manifest(to)
    assert found["survey"] == mixed.id
    assert (found["format"], found["partitions"], found["rows"]) == (form, [], 500)
    assert {each["cohort"]: each["rows"] for each in found["rows_by_cohort"]} == dict.fromkeys((*LABELS, None), 50)
    assert [each["cohort"] for each in found["rows_by_cohort"]] == [*LABELS, None]
    assert (found["access"], found["one_report_a_person"]) == ("open", "not enforced")
    assert found["tool"].startswith("deniable ")
    (part,) = found["parts"]
    assert part["sha256"] == hashlib.sha256((to / part["path"]).read_bytes()).hexdigest()
    assert part["rows"] == 500
    columns = {each["name"]: each for each in found["columns"]}
    assert columns["affair"]["values"] == {"0": "no", "1": "yes"}
    assert columns["drugs"]["type"] == "text"
    assert sorted(path.name for path in to.iterdir()) == ["manifest.json", "reports", "survey.json"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


@pytest.mark.slow
def test_manifest_is_the_same_whenever_it_is_written(
    place: Place, mixed: Survey, sent: list[Report], tmp_path: Path
) -> None:
    """So it holds no moment: two exports of the same reports, at other times, are the same bytes."""
    fill(place, mixed, sent)
    export(place, mixed, tmp_path / "one", "--format", "jsonl", "--by-cohort")
    time.sleep(1.1)
    export(place, mixed, tmp_path / "two", "--format", "jsonl", "--by-cohort")
    files = [
        {path.relative_to(each): path.read_bytes() for path in each.rglob("*") if path.is_file()}
        for each in (tmp_path / "one", tmp_path / "two")
    ]
    assert files[0] == files[1]
    assert len(files[0]) == 12


@pytest.fixture(scope="module")
def exports(mixed: Survey, sent: list[Report], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Exports of the same reports in several parts each, written once."""
    made: dict[tuple[str, bool], Path] = {}

    def get(form: str, by_cohort: bool) -> Path:
        if (form, by_cohort) not in made:
            made[form, by_cohort] = to = tmp_path_factory.mktemp("exports") / "out"
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(writing, "ROWS_A_PART", 120)
                patch.setattr(writing, "ROWS_WAITING", 60)
                patch.setattr(writing, "OPEN_PARTS", 4)
                write_folder(mixed, rows_from(mixed, sent), to, form, by_cohort=by_cohort)
        return made[form, by_cohort]

    return get


@pytest.mark.parametrize("by_cohort", [False, True])
@pytest.mark.parametrize("form", FORMATS)
def test_parts_hold_so_many_rows_and_each_row_once(
    exports: Callable[..., Path], sent: list[Report], form: str, by_cohort: bool
) -> None:
    folder = exports(form, by_cohort)
    found = manifest(folder)
    assert all(part["rows"] <= 120 for part in found["parts"])
    assert len(found["parts"]) > (10 if by_cohort else 4)  # by cohort some were closed, because four may be open
    rows = rows_of(folder, form)
    if not by_cohort:
        assert rows == [[each.id, each.cohort, *values_of(each), "not enforced"] for each in sent]
        return
    assert found["partitions"] == ["cohort"]
    assert sorted(rows) == [[each.id, *values_of(each), "not enforced"] for each in sent]
    for cohort, name in ((LABELS[3], "cohort=a%2Fb%20c%2520"), (None, "cohort=__HIVE_DEFAULT_PARTITION__")):
        ids = [row[0] for row in rows_of(folder / "reports" / name, form)]
        assert ids == [each.id for each in sent if each.cohort == cohort]


@pytest.mark.slow
@pytest.mark.parametrize(("form", "by_cohort"), EACH_AND_BOTH)
def test_analyses_of_an_export_are_those_of_its_reports(
    exports: Callable[..., Path], mixed: Survey, sent: list[Report], form: str, by_cohort: bool
) -> None:
    folder = exports(form, by_cohort)
    counted = json.loads(ok("analyze", "shares", "--from", folder, "--format", "json"))
    assert counted["rows"] == 500
    layout = Layout.of_survey(mixed)
    rows = [
        row
        for name in layout.names
        for _, table in EngineReports(open_source(folder), layout).apart([name], "cohort")
        for row in estimate_shares(table, [name], by="cohort")
    ]
    plain = {row.cohort: row for row in rows if row.question == "affair" and row.option == "yes"}
    for cohort in LABELS:
        supporting = [each.values["affair"] == 1 for each in sent if each.cohort == cohort]
        assert (plain[cohort].n, plain[cohort].count) == (50, sum(supporting))


@pytest.mark.parametrize("by_cohort", [False, True])
def test_pandas_and_duckdb_read_parts_without_us(
    exports: Callable[..., Path], sent: list[Report], by_cohort: bool
) -> None:
    expected = Counter(each.cohort for each in sent)
    labels = pyarrow.dataset.partitioning(pyarrow.schema([("cohort", pyarrow.string())]), flavor="hive")
    frame = pandas.read_parquet(exports("parquet", by_cohort) / "reports", partitioning=labels if by_cohort else None)
    found = frame["cohort"].astype(object).where(frame["cohort"].notna(), None)
    assert Counter(found) == expected
    assert frame.sort_values("id")["drinks"].tolist() == [each.values["drinks"] for each in sent]
    for form in FORMATS:
        pattern = f"{exports(form, by_cohort)}/**/*.{form}"
        rows = duckdb.execute(f"SELECT cohort, count(*) FROM '{pattern}' GROUP BY ALL").fetchall()
        if form == "csv" and not by_cohort:
            rows = [(cohort and plain_cell(cohort), n) for cohort, n in rows]
        assert dict(rows) == expected


def test_cohorts_that_are_all_numbers_stay_texts(tmp_path: Path) -> None:
    survey = read_survey(survey_toml("T", question_toml("q", "yes-no", "Q?", truth="1/2"), cohorts=["01", "1", "2020"]))
    rows = [(f"{n:032x}", survey.cohorts[n % 3], n % 2) for n in range(90)]
    for form in FORMATS:
        write_folder(survey, rows, tmp_path / form, form, by_cohort=True)
        ((_, table),) = EngineReports(open_source(tmp_path / form), Layout.of_survey(survey)).apart(["q"], "cohort")
        assert [label for label, _ in table.cohorts("cohort")] == ["01", "1", "2020"]


@pytest.mark.slow
def test_more_cohorts_than_parts_may_be_open(tmp_path: Path) -> None:
    labels = [f"c{n:03}" for n in range(60)]
    survey = read_survey(survey_toml("T", question_toml("q", "yes-no", "Q?", truth="1/2"), cohorts=labels))
    rows = [(f"{n:032x}", labels[n % 60], n % 2) for n in range(300)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "ROWS_WAITING", 140)
        patch.setattr(writing, "OPEN_PARTS", 10)
        made = write_folder(survey, rows, tmp_path / "out", "parquet", by_cohort=True)
    assert made.rows_by_cohort == dict.fromkeys(labels, 5)
    assert duckdb.execute(f"SELECT count(DISTINCT id) FROM '{tmp_path}/out/**/*.parquet'").fetchall() == [(300,)]


@pytest.mark.slow
@pytest.mark.parametrize(("form", "by_cohort"), EACH_AND_BOTH)
def test_memory_does_not_grow_with_the_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, by_cohort: bool
) -> None:
    """Of ten times the rows it holds no more, but for what the manifest says of each part."""
    survey = read_survey(
        survey_toml("T", question_toml("q", "yes-no", "Q?", truth="1/2"), cohorts=["paper", "web"], release=50)
    )
    monkeypatch.setattr(writing, "ROWS_WAITING", 1000)

    def peak(n: int) -> int:
        rows = ((f"{each:032x}", survey.cohorts[each % 2], each % 2) for each in range(n))
        tracemalloc.start()
        try:
            write_folder(survey, rows, tmp_path / str(n), form, by_cohort=by_cohort)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1000)  # what is imported and remembered once
    assert peak(15_000) < 1.2 * peak(1500) + 100_000  # the rows alone are 15,000 times 200 bytes


@pytest.mark.parametrize("label", ["ä" * 125, "/" * 83, "__HIVE_DEFAULT_PARTITION__"])
def test_cohorts_that_no_folder_can_be_called_are_refused(tmp_path: Path, label: str) -> None:
    survey = read_survey(survey_toml("T", question_toml("q", "yes-no", "Q?", truth="1/2"), cohorts=[label]))
    rows = [("0" * 32, label, 1)]
    with pytest.raises(ParameterError, match="must be short enough for the name of a folder"):
        write_folder(survey, rows, tmp_path / "out", "csv", by_cohort=True)
    assert list(tmp_path.iterdir()) == []
    write_folder(survey, rows, tmp_path / "out", "csv")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("by_cohort", [False, True])
def test_no_reports_are_an_export_too(tmp_path: Path, mixed: Survey, form: str, by_cohort: bool) -> None:
    made = write_folder(mixed, [], tmp_path / "out", form, by_cohort=by_cohort)
    found = open_export(tmp_path / "out")
    assert found is not None
    assert (made.rows, found.manifest.rows, len(made.parts)) == (0, 0, 1)
    open_source(tmp_path / "out").column("affair")
    assert count_tallies(open_source(tmp_path / "out"), mixed) == {}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_exports_are_read_whatever_they_are_called(
    tmp_path: Path, mixed: Survey, sent: list[Report], form: str
) -> None:
    for name in ("back\\slash", "a*[1]?", ".hidden", "line\nline"):
        write_folder(mixed, rows_from(mixed, sent), tmp_path / name, form, by_cohort=True)
        assert count_tallies(open_source(tmp_path / name), mixed) == tally_reports(sent, mixed)


class TestWhatIsNotAsItWasWritten:
    @pytest.fixture
    def folder(self, mixed: Survey, sent: list[Report], tmp_path: Path) -> Path:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(writing, "ROWS_A_PART", 100)
            patch.setattr(writing, "ROWS_WAITING", 100)
            write_folder(mixed, rows_from(mixed, sent), tmp_path / "out", "csv")
        assert ok("analyze", "shares", "--from", tmp_path / "out", "affair")
        return tmp_path / "out"

    def says(self, folder: Path) -> str:
        return refused("analyze", "shares", "--from", folder, "affair")

    def test_part_that_is_gone(self, folder: Path) -> None:
        (folder / "reports" / "part-00002.csv").unlink()
        assert "out: must hold reports/part-00002.csv, as manifest.json says, got none" in self.says(folder)

    def test_part_that_lost_its_end(self, folder: Path) -> None:
        part = folder / "reports" / "part-00001.csv"
        part.write_bytes(part.read_bytes()[:-40])
        assert "reports/part-00001.csv must have" in self.says(folder)

    def test_part_with_one_other_character(self, folder: Path) -> None:
        part = folder / "reports" / "part-00001.csv"
        raw = part.read_bytes()
        part.write_bytes(raw[:-30] + bytes([raw[-30] ^ 1]) + raw[-29:])
        assert "reports/part-00001.csv was changed since it was exported" in self.says(folder)

    def test_part_that_came_besides(self, folder: Path) -> None:
        part = folder / "reports" / "part-00001.csv"
        part.with_name("part-00009.csv").write_bytes(part.read_bytes())
        assert "must hold the parts of manifest.json only, got reports/part-00009.csv" in self.says(folder)

    def test_part_that_cannot_be_read(self, folder: Path) -> None:
        part = folder / "reports" / "part-00001.csv"
        part.unlink()
        part.symlink_to(part)
        assert "out: cannot be read" in self.says(folder)

    def test_survey_of_somebody_else(self, folder: Path, survey: Survey) -> None:
        (folder / "survey.json").write_bytes(survey.document)
        assert "survey.json must be survey" in self.says(folder)
        (folder / "survey.json").unlink()
        assert "must hold survey.json, got none" in self.says(folder)

    @pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b'{"parts": 3}', b"\xff"])
    def test_manifest_that_is_none(self, folder: Path, raw: bytes) -> None:
        (folder / "manifest.json").write_bytes(raw)
        assert "manifest.json" in self.says(folder)

    def test_manifest_with_other_rows(self, folder: Path) -> None:
        changed = manifest(folder) | {"rows": 499}
        (folder / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")
        assert "manifest.json must be as 'deniable export' writes it" in self.says(folder)

    def test_manifest_that_an_engine_does_not_agree_with(self, folder: Path) -> None:
        """Its sums fit, its files are there: then the rows that were counted are compared."""
        changed = manifest(folder)
        changed["parts"][0]["rows"] += 7
        changed["rows_by_cohort"][0]["rows"] += 7
        changed["rows"] += 7
        (folder / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")
        assert "out: must have 507 rows, as its manifest says, got 500" in self.says(folder)

    def test_manifest_of_no_rows_over_parts_that_hold_some(self, folder: Path) -> None:
        changed = manifest(folder) | {"rows": 0, "rows_by_cohort": []}
        for part in changed["parts"]:
            part["rows"] = 0
        (folder / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")
        assert "out: must have 0 rows, as its manifest says, got 500" in self.says(folder)

    def test_manifest_with_other_cohorts_than_an_engine_counts(self, folder: Path) -> None:
        changed = manifest(folder)
        changed["rows_by_cohort"][0]["rows"] += 1
        changed["rows_by_cohort"][1]["rows"] -= 1
        (folder / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")
        words = "out: must have 51 rows of cohort '01', as its manifest says, got 50"
        assert words in refused("analyze", "shares", "--from", folder, "affair", "--by", "cohort")

    @pytest.mark.parametrize(
        "change",
        [
            {"rows_by_cohort": [{"cohort": None, "rows": 1}]},
            {"columns": [{"name": "affair", "type": "banana", "label": ""}]},
        ],
        ids=["rows of cohorts", "type of a column"],
    )
    def test_manifest_that_contradicts_itself(self, folder: Path, change: dict[str, Any]) -> None:
        (folder / "manifest.json").write_text(json.dumps(manifest(folder) | change), encoding="utf-8")
        assert "out: manifest.json must be as 'deniable export' writes it, got something else" in self.says(folder)

    def test_manifest_of_parts_of_another_format(self, folder: Path) -> None:
        (folder / "manifest.json").write_text(json.dumps(manifest(folder) | {"format": "parquet"}), encoding="utf-8")
        said = "must name parts that end in .parquet, got 'reports/part-00000.csv'"
        assert f"out: manifest.json {said}" in self.says(folder)

    def test_names_of_parts_that_are_not_there_do_not_break_lines(self, folder: Path) -> None:
        changed = manifest(folder)
        changed["parts"][0]["path"] = "reports/\n\x1b[31mall is well.csv"
        (folder / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")
        assert r"out: must hold reports/\n\x1b[31mall is well.csv, as manifest.json says" in self.says(folder)

    def test_manifest_cannot_name_files_elsewhere(self, folder: Path) -> None:
        changed = manifest(folder)
        changed["parts"][0]["path"] = "../out/reports/part-00000.csv"
        (folder / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")
        said = "must name parts in reports/ only, got '../out/reports/part-00000.csv'"
        assert f"out: manifest.json {said}" in self.says(folder)

    def test_survey_that_is_given_besides_must_be_the_same(self, folder: Path, mixed: Survey, survey: Survey) -> None:
        file = folder.with_name("survey.json")
        file.write_bytes(mixed.document)
        assert ok("analyze", "shares", "--from", folder, "--survey", file, "affair")
        file.write_bytes(survey.document)
        said = refused("analyze", "shares", "--from", folder, "--survey", file, "affair")
        assert f"survey: must be that of the export out, {mixed.id}, got {survey.id}" in said


class TestRefusals:
    @pytest.fixture
    def source(self, place: Place, live: Survey) -> tuple[object, ...]:
        fill(place, live, reports(live, 20))
        return ("export", live.id, "--db", named(place))

    def test_folders_that_hold_something(self, source: tuple[object, ...], tmp_path: Path) -> None:
        to = tmp_path / "out"
        to.mkdir()
        (to / "notes.txt").write_text("mine", encoding="utf-8")
        said = refused(*source, "--to", to, "--format", "csv")
        assert "out: must be an empty folder or a new one, got one that holds something" in said
        assert [path.name for path in to.iterdir()] == ["notes.txt"]
        (to / "notes.txt").unlink()
        ok(*source, "--to", to, "--format", "csv")
        assert "holds something" in refused(*source, "--to", to, "--format", "csv")

    def test_names_that_say_something_else_than_the_options(self, source: tuple[object, ...], tmp_path: Path) -> None:
        assert "must not be called like a file" in refused(*source, "--to", tmp_path / "r.csv", "--format", "csv")
        assert "is a folder; say with --format" in refused(*source, "--to", tmp_path)
        assert "--by-cohort goes with --format" in refused(*source, "--to", tmp_path / "r.csv", "--by-cohort")
        said = refused(*source, "--to", tmp_path / "out", "--format", "csv", "--scripts")
        assert "--scripts goes with a file" in said
        (tmp_path / "file").write_text("", encoding="utf-8")
        assert "must be a folder, got a file" in refused(*source, "--to", tmp_path / "file", "--format", "csv")
        assert "there is no folder" in refused(*source, "--to", tmp_path / "a" / "b", "--format", "csv")

    def test_surveys_without_reports_to_show(
        self, place: Place, survey: Survey, tallied: Survey, tmp_path: Path
    ) -> None:
        hidden = replace(survey, results="closed")
        fill(place, hidden, reports(hidden, 300))
        fill(place, tallied, reports(tallied, 300))
        for each, why in ((hidden, "results come out once"), (tallied, "keeps no reports once they are counted")):
            said = refused("export", each.id, "--db", named(place), "--to", tmp_path / "out", "--format", "csv")
            assert why in said
        assert not (tmp_path / "out").exists()


class TestInterruption:
    def rows(self, survey: Survey, fails: Exception | None) -> Iterator[tuple[Any, ...]]:
        yield from rows_from(survey, reports(survey, 500))
        if fails:
            raise fails

    @pytest.mark.parametrize("why", [RuntimeError("of a test"), DeniableError("of a test")])
    def test_leaves_nothing(self, live: Survey, tmp_path: Path, why: Exception) -> None:
        with pytest.raises(type(why), match="of a test"):
            write_folder(live, self.rows(live, why), tmp_path / "out", "parquet")
        assert list(tmp_path.iterdir()) == []

    def test_full_disk_is_a_sentence(self, live: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(writing, "_write", full)
        with pytest.raises(ParameterError, match="out: cannot be written: No space left on device"):
            write_folder(live, self.rows(live, None), tmp_path / "out", "csv")
        assert list(tmp_path.iterdir()) == []

    def test_rows_that_are_not_those_of_the_tallies_make_no_export(self, live: Survey, tmp_path: Path) -> None:
        counts: list[dict[str | None, int]] = [{None: 499}, {None: 500, "web": 1}, {"web": 500}]
        for expected in counts:
            with pytest.raises(ReportError, match="'deniable check' tells more"):
                write_folder(live, self.rows(live, None), tmp_path / "out", "csv", expected=expected)
        assert list(tmp_path.iterdir()) == []
        write_folder(live, self.rows(live, None), tmp_path / "out", "csv", expected={None: 500, "web": 0})

    def test_folder_that_fills_meanwhile_is_left_alone(self, live: Survey, tmp_path: Path) -> None:
        to = tmp_path / "out"

        def rows() -> Iterator[tuple[Any, ...]]:
            yield from self.rows(live, None)
            to.mkdir()
            (to / "notes.txt").write_text("mine", encoding="utf-8")

        with pytest.raises(ParameterError, match="cannot be written"):
            write_folder(live, rows(), to, "csv")
        assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == ["out", "out/notes.txt"]

    @pytest.mark.slow
    @pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
    def test_killed_one_leaves_nothing_that_passes_for_an_export(
        self, live: Survey, tmp_path: Path, kill: signal.Signals
    ) -> None:
        """Whatever is there is under another name and has no manifest; the same folder can be exported to again."""
        (tmp_path / "survey.json").write_bytes(live.document)
        with subprocess.Popen([sys.executable, "-c", LONG_EXPORT, str(tmp_path)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"half\n"
            child.send_signal(kill)
            assert child.wait(PATIENCE) != 0
        left = [path for path in tmp_path.iterdir() if path.name != "survey.json"]
        assert not (tmp_path / "out").exists()
        assert not [path for each in left for path in each.rglob("*.json")]
        assert all(open_export(each) is None for each in left)
        if kill == signal.SIGINT:
            assert left == []
        write_folder(live, self.rows(live, None), tmp_path / "out", "csv")


LONG_EXPORT = """
import sys, pathlib
from deniable import parse_survey
from deniable_statistics.data import folder as writing

writing.ROWS_WAITING = 100
there = pathlib.Path(sys.argv[1])
survey = parse_survey((there / "survey.json").read_bytes())

def rows():
    for n in range(10_000_000):
        if n == 100_000:
            print("half", flush=True)
        yield f"{n:032x}", None, n % 2, n % 4

writing.write_folder(survey, rows(), there / "out", "jsonl")
"""


class TestReleases:
    def ids(self, folder: Path) -> list[str]:
        return [row[0] for row in rows_of(folder, "jsonl")]

    @pytest.mark.slow
    def test_export_shows_the_rows_of_the_last_release_and_no_others(
        self, place: Place, survey: Survey, tmp_path: Path
    ) -> None:
        """What waits for a release is in the database too, and comes out with the next one."""
        with place.opened() as store:
            store.publish(survey)
            first, waiting = reports(survey, 230, "web"), reports(survey, 199, "paper")
            take(store, survey, first + waiting)
            store.settle()
            take(store, survey, more := reports(survey, 20, "web"))
            export(place, survey, tmp_path / "one", "--format", "jsonl")
            assert self.ids(tmp_path / "one") == sorted(each.id for each in first)
            take(store, survey, last := reports(survey, 1, "paper"))
            store.settle()
            export(place, survey, tmp_path / "two", "--format", "jsonl")
            assert self.ids(tmp_path / "two") == sorted(each.id for each in first + waiting + last)
            store.close_survey(survey.id)
            export(place, survey, tmp_path / "three", "--format", "jsonl", "--by-cohort")
            assert sorted(self.ids(tmp_path / "three")) == sorted(each.id for each in first + waiting + last + more)

    @pytest.mark.slow
    def test_release_that_comes_while_rows_are_read_is_not_in_them(
        self, place: Place, survey: Survey, tmp_path: Path
    ) -> None:
        with place.opened() as store, place.opened() as reader:
            store.publish(survey)
            take(store, survey, first := reports(survey, 300))
            store.settle()
            with reader.released(survey) as released:
                rows = [next(released.rows) for _ in range(10)]
                take(store, survey, second := reports(survey, 400))
                assert store.settle() in (True, False)  # SQLite cannot empty its log meanwhile
                assert store.release_of(survey.id) == 700
                rows += released.rows
                assert [row[0] for row in rows] == sorted(each.id for each in first)
                assert released.tallies == tally_reports(first, survey)
            with reader.released(survey) as released:
                assert [row[0] for row in released.rows] == sorted(each.id for each in first + second)
            store.settle()
            assert place.findings() == ()

    @pytest.mark.slow
    def test_during_ingest_every_export_is_one_release(self, place: Place, survey: Survey, tmp_path: Path) -> None:
        """Reports come and fold in one thread while exports are made in another: each is what was shown then."""
        releases: list[set[str]] = [set()]
        is_over = threading.Event()

        def ingest() -> None:
            with place.opened() as store:
                came: set[str] = set()
                while not is_over.is_set():
                    some = reports(survey, 120)
                    came |= {each.id for each in some}
                    take(store, survey, some)
                    if len(came - releases[-1]) >= survey.release:
                        releases.append(set(came))  # before it can be seen
                        store.settle()

        with place.opened() as store:
            store.publish(survey)
        thread = threading.Thread(target=ingest)
        thread.start()
        try:
            for n in range(8):
                export(place, survey, tmp_path / str(n), "--format", "jsonl")
        finally:
            is_over.set()
            thread.join()
        found = [set(self.ids(tmp_path / str(n))) for n in range(8)]
        assert all(each in releases for each in found)
        assert len({len(each) for each in found}) > 1, "nothing came meanwhile"

    def test_database_is_let_go_of_before_parts_are_hashed(
        self, place: Place, live: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Servers end a transaction that waits, and what is deleted stays as long as one reads."""
        fill(place, live, reports(live, 300))
        open_ones: list[int] = []
        original = SqlStore.released

        @contextmanager
        def watched(store: SqlStore, survey: Survey) -> Iterator[Release]:
            with original(store, survey) as released:
                open_ones.append(1)
                yield released
            open_ones.pop()

        def hashed(path: Path) -> str:
            assert open_ones == []
            return sha256_of(path)

        monkeypatch.setattr(SqlStore, "released", watched)
        monkeypatch.setattr(writing, "sha256_of", hashed)
        export(place, live, tmp_path / "out", "--format", "csv")
        assert manifest(tmp_path / "out")["rows"] == 300

    def test_live_results_hold_what_waits(self, place: Place, live: Survey, tmp_path: Path) -> None:
        with place.opened() as store:
            store.publish(live)
            take(store, live, first := reports(live, 300))
            store.settle()
            take(store, live, second := reports(live, 33))
            export(place, live, tmp_path / "out", "--format", "jsonl")
            assert self.ids(tmp_path / "out") == sorted(each.id for each in first + second)

    def test_surveys_that_show_nothing_give_nothing(self, place: Place, survey: Survey, tallied: Survey) -> None:
        hidden = replace(survey, results="closed")
        fill(place, hidden, reports(hidden, 300))
        fill(place, tallied, sent := reports(tallied, 300))
        with place.opened() as store:
            store.settle()
            with store.released(hidden) as released:
                assert (released.tallies, list(released.rows)) == ({}, [])
            with store.released(tallied) as released:
                assert (released.tallies, list(released.rows)) == (tally_reports(sent, tallied), [])

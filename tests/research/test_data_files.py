"""Files of statistical programs: what analyses read of them, and what they write for them."""

from __future__ import annotations

import csv
import functools
import importlib
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

import deniable_research
from deniable import ParameterError, ReportError
from deniable_research.files import Layout, Table, estimate_shares, quick_question, read_layout, regress
from deniable_research.files.reading import read_columns
from deniable_statistics.data.data_set import DataSet, Kind, Variable
from deniable_statistics.data.writing import WRITERS, write_data_set
from tests.support.analyzing import DATA, as_rows, ok, refused, study_rows

DESIGN = DATA / "study.toml"
ANSWERS = [1, 2, 2, 1, 2, 1, 2, 2, 2, 9]
COIN = "q: forced-response truth=1/2"


def write_study(path: Path) -> None:
    """The study of ``tests/data`` as another program would have saved it, its numbers as numbers."""
    frame = pd.DataFrame(study_rows())
    for name in ("person", "rrt_q1", "wave", "age", "income", "w", "psu"):
        frame[name] = pd.to_numeric(frame[name])
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        frame = frame.astype({name: object for name in frame.columns if frame[name].dtype == "str"})
        write = pyreadstat.write_dta if path.suffix == ".dta" else pyreadstat.write_sav
        labels: dict[str, dict[int | float, str]] = {"rrt_q1": {1: "Yes", 2: "No"}}
        write(frame, path, variable_value_labels=labels)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".parquet", ".dta", ".sav", ".xlsx", ".SAV"])
def test_every_program_s_file_gives_the_results_of_its_csv(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"study{suffix.lower()}"
    write_study(path)
    path = path.rename(tmp_path / f"study{suffix}")
    for arguments in (
        ("shares", "{}", "--by", "wave", "--weights", "w"),
        ("compare", "{}", "drugs"),
        ("crosstab", "{}", "affair", "income"),
        ("regress", "{}", "theft ~ age + C(wave)"),
        ("regress", "{}", "income ~ affair + age"),
    )[: 1 if suffix.isupper() else None]:  # a suffix in capitals is read as the same in small letters
        assert as_rows(*(each.format(path) for each in arguments), "--design", DESIGN) == of_csv(arguments)


@functools.cache
def of_csv(arguments: tuple[str, ...]) -> list[dict[str, Any]]:
    return as_rows(*(each.format(DATA / "study.csv") for each in arguments), "--design", DESIGN)


@pytest.fixture(params=[".dta", ".sav"])
def labelled(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Ten people: 1 and 2 with labels, a 9 that means nothing, a region and an age."""
    path = tmp_path / f"labelled{request.param}"
    columns: dict[str, Any] = {"q": ANSWERS, "region": [3, 1] * 5, "age": list(range(20, 30))}
    labels: dict[str, dict[int | float, str]] = {
        "q": {1: "No", 2: "Yes", 9: "refused"},
        "region": {1: "west", 2: "nowhere", 3: "east"},
        "age": {29: "29 or older"},
    }
    if request.param == ".dta":
        columns["q"] = pd.Series([*ANSWERS[:-1], "r"], dtype=object)
        pyreadstat.write_dta(
            pd.DataFrame(columns), path, variable_value_labels=labels, missing_user_values={"q": ["r"]}
        )
    else:
        pyreadstat.write_sav(pd.DataFrame(columns), path, variable_value_labels=labels, missing_ranges={"q": [9]})
    return path


@pytest.mark.parametrize(
    "codes", ["", " codes=no:1,yes:2", " codes=no:No,yes:Yes", " codes=no:no,yes:YES"], ids=["names", "1", "No", "YES"]
)
def test_codes_are_numbers_or_labels_and_missing_values_are_missing(codes: str, labelled: Path) -> None:
    table = Table.read(labelled, Layout((quick_question(COIN + codes),)))
    assert (len(table), table.dropped("q")) == (10, 1)
    assert list(table.reports_of("q")) == [0, 1, 1, 0, 1, 0, 1, 1, 1, None]


@pytest.mark.parametrize(
    ("codes", "labels", "message"),
    [
        (" codes=yes:1,no:0", {0: "Yes", 1: "No"}, "'0' must stand for .* 'Yes', but codes take it for 'no'"),
        (" codes=yes:1,no:0", {1: "NO"}, "'1' must stand for .* 'NO', but codes take it for 'yes'"),
        ("", {0: "Yes"}, "'0' must stand for .* 'Yes', but the design takes it for 'no'"),
    ],
)
@pytest.mark.parametrize("suffix", [".dta", ".sav"])
def test_codes_that_contradict_labels_are_refused(
    codes: str, labels: dict[int | float, str], message: str, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"study{suffix}"
    write = pyreadstat.write_dta if suffix == ".dta" else pyreadstat.write_sav
    write(pd.DataFrame({"q": [0, 1, 1]}), path, variable_value_labels={"q": labels})
    with pytest.raises(ReportError, match=f"column 'q': {message}; correct one of them"):
        Table.read(path, Layout((quick_question(COIN + codes),)))


@pytest.mark.parametrize(
    ("codes", "labels", "reports"),
    [
        ("", {0: "Yes", 1: "No"}, [1, 0, 0]),
        (" codes=yes:Yes,no:No", {0: "Yes", 1: "No"}, [1, 0, 0]),
        (" codes=yes:No,no:Yes", {0: "Yes", 1: "No"}, [0, 1, 1]),
        (" codes=yes:1,no:0", {0: "No", 1: "Yes"}, [0, 1, 1]),
        (" codes=yes:1,no:0", {0: "tails", 1: "heads"}, [0, 1, 1]),
    ],
)
def test_codes_and_labels_that_agree_are_read(
    codes: str, labels: dict[int | float, str], reports: list[int], tmp_path: Path
) -> None:
    pyreadstat.write_sav(pd.DataFrame({"q": [0, 1, 1]}), tmp_path / "s.sav", variable_value_labels={"q": labels})
    table = Table.read(tmp_path / "s.sav", Layout((quick_question(COIN + codes),)))
    assert list(table.reports_of("q")) == reports


def test_labels_name_groups_and_numbers_stay_numbers(labelled: Path) -> None:
    table = Table.read(labelled, Layout((quick_question(COIN),)))
    assert table.levels("region") == ["west", "east"]  # in the order of their numbers
    assert [row.cohort for row in estimate_shares(table, by="region")] == ["west"] * 2 + ["east"] * 2
    assert regress(table, "q ~ C(region)").terms == ("Intercept", "C(region)[T.west]")
    assert regress(table, "q ~ region").terms == ("Intercept", "region")
    assert table.numbers("age").tolist() == list(range(20, 30))
    assert table.levels("age")[-1] == "29", "not all of its values have labels"


def test_values_without_labels_are_read_as_they_are_and_others_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.sav"
    frame = pd.DataFrame({"q": [1, 2, 3]})
    pyreadstat.write_sav(frame, path, variable_value_labels={"q": {1: "No", 2: "Yes"}})
    with pytest.raises(ReportError, match=r"column 'q': must hold .* got something else in 2 rows, first '2'"):
        Table.read(path, Layout((quick_question(COIN),)))
    more = Layout((quick_question(COIN),)).with_missing(["3"])
    assert list(Table.read(path, more).reports_of("q")) == [0, 1, None]
    pyreadstat.write_sav(frame, path, variable_value_labels={"q": {1: "No", 2: "Yes", 3: "do not know"}})
    more = Layout((quick_question(COIN),)).with_missing(["do not know"])
    assert list(Table.read(path, more).reports_of("q")) == [0, 1, None], "missing by its label"


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".dta", ".sav", ".xlsx", None])
@pytest.mark.parametrize("missing", ["99", "99.0", "99.00"])
def test_numbers_that_mean_nothing_compare_as_numbers(suffix: str | None, missing: str, tmp_path: Path) -> None:
    """pandas writes 99.0 where a column of whole numbers has gaps."""
    frame = pd.DataFrame({"id": range(5), "q": [1.0, 0.0, 99.0, None, 1.0], "age": [99.0, 30.5, 31.0, None, 32.0]})
    path = tmp_path / f"study{suffix}"
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    elif suffix == ".parquet":
        frame.to_parquet(path)
    elif suffix == ".dta":
        pyreadstat.write_dta(frame, path)
    elif suffix == ".sav":
        pyreadstat.write_sav(frame, path)
    elif suffix == ".xlsx":
        frame.to_excel(path, index=False)
    results = deniable_research.read(frame if suffix is None else path, COIN, missing=[missing])
    assert list(results.table.reports_of("q")) == [1, 0, None, None, 1]
    assert results.table.numbers("age").tolist() == pytest.approx([np.nan, 30.5, 31, np.nan, 32], nan_ok=True)


def test_groups_and_arms_compare_numbers_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "study.csv"
    path.write_text("q,sample\n1,1.0\n0,2.0\n1,99.0\n1,\n0,2\n", encoding="utf-8")
    line = "q: cheater-detection yes=0.2,0.8 group=sample codes=no:0,yes:1 group_missing=99"
    assert Table.read(path, Layout((quick_question(line),))).groups_of("q").tolist() == [0, 1, -1, -1, 1]
    layout = read_layout(
        """
        [[questions]]
        column = "q"
        arm = "sample"
        missing = ["", "99"]
        [questions.arms.1]
        design = "warner"
        p = 0.8
        [questions.arms.2]
        design = "direct"
        """
    ).with_missing(["99"])
    table = Table.read(path, layout)
    assert list(table.reports_of("q (1)")) == [1, None, None, None, None]
    assert list(table.reports_of("q (2)")) == [None, 0, None, None, 0]


def test_groups_of_a_design_are_read_by_their_labels(tmp_path: Path) -> None:
    path = tmp_path / "arms.dta"
    frame = pd.DataFrame({"q": [0, 1, 1], "arm": [1, 2, 2]})
    pyreadstat.write_dta(frame, path, variable_value_labels={"arm": {1: "A", 2: "B"}})
    layout = read_layout(
        'questions = [{column = "q", design = "cheater-detection", yes = ["1/4", "3/4"], group = "arm", '
        'groups = ["A", "B"]}]'
    )
    assert Table.read(path, layout).groups_of("q").tolist() == [0, 1, 1]


def test_cells_are_read_as_csv_would_have_them(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "whole": [1.0, None, 3.0],
            "real": [0.5, 1e20, None],
            "truth": [True, False, None],
            "day": pd.to_datetime(["2026-01-02 00:00:00", "2026-01-02 03:04:05", None]),
            "text": [" a ", "=1+1", None],
        }
    )
    wanted = {
        "whole": ["1", None, "3"],
        "real": ["0.5", "1e+20", None],
        "truth": ["1", "0", None],
        "day": ["2026-01-02", "2026-01-02T03:04:05", None],
        "text": ["a", "=1+1", None],
    }
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "cells.parquet")
    assert {name: list(column) for name, column in read_columns(tmp_path / "cells.parquet").items()} == wanted
    book = openpyxl.Workbook()
    for row in [list(frame.columns), *frame.astype(object).where(frame.notna(), None).itertuples(index=False)]:
        book.active.append(list(row))
    book.active["E3"].data_type = "s"
    book.save(tmp_path / "cells.xlsx")
    found = read_columns(tmp_path / "cells.xlsx")
    assert {name: [text or None for text in column] for name, column in found.items()} == wanted
    assert list(read_columns(tmp_path / "cells.xlsx", skip=1)["whole"]) == ["", "3"]


@pytest.mark.parametrize("suffix", [".parquet", ".dta", ".sav", ".xlsx"])
def test_damaged_files_and_wrong_options_are_sentences(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"damaged{suffix}"
    for content in (b"", b"q\n1\n", b"PAR1" + bytes(100)):
        path.write_bytes(content)
        assert f"Error: damaged{suffix}" in refused("shares", path, "--question", COIN)
    write_study(path)
    assert "delimiter: must be left out" in refused("shares", path, "--design", DESIGN, "--delimiter", ";")
    if suffix != ".xlsx":
        assert "skip: must be 0" in refused("shares", path, "--design", DESIGN, "--skip", 2)


def test_other_files_that_cannot_be_read_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "old.xls").write_bytes(b"")
    assert "save it as .xlsx" in refused("shares", tmp_path / "old.xls", "--question", COIN)
    openpyxl.Workbook().save(tmp_path / "empty.xlsx")
    assert "got an empty sheet" in refused("shares", tmp_path / "empty.xlsx", "--question", COIN)
    book = openpyxl.Workbook()
    for row in (["q", "w"], ["yes"], [None, None], ["no", 1, None, "lost"]):
        book.active.append(row)
    book.save(tmp_path / "wide.xlsx")
    assert "wide.xlsx, row 4: must have no cells beyond the 2 columns" in refused(
        "shares", tmp_path / "wide.xlsx", "--question", COIN
    )
    pq.write_table(pa.table({"q": [[1], [2]]}), tmp_path / "nested.parquet")
    assert "column 'q' must hold numbers, texts or dates" in refused(
        "shares", tmp_path / "nested.parquet", "--question", COIN
    )
    pq.write_table(pa.table({"q": pa.array([], pa.int64())}), tmp_path / "nobody.parquet")
    assert len(Table.read(tmp_path / "nobody.parquet", Layout((quick_question(COIN),)))) == 0


DATA_SET = DataSet.of_rows(
    "Ein Titel mit Umläuten: " + "ü" * 100,
    [
        Variable("q", "Did you ever ... " + "?" * 100, Kind.WHOLE, {0: "no", 1: "yes, " + "ü" * 200}),
        Variable("in", "A name that Stata keeps", Kind.REAL),
        Variable("note", "=HYPERLINK()", Kind.TEXT),
        Variable("wave", "Wave", Kind.CATEGORY),
    ],
    [
        (0, 0.5, "=1+1", "@first"),
        (1, None, "a\x0b\nb", "second"),
        (None, math.inf, None, None),
        (1, -math.inf, "b0101", "@first"),
        (0, math.nan, "", "=cmd|' /C calc'!A0"),
    ],
)


def written(tmp_path: Path, suffix: str) -> Path:
    path = tmp_path / f"file{suffix}"
    path.write_bytes(b"what stood there before")
    write_data_set(DATA_SET, path)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    return path


def test_stata_and_spss_read_numbers_texts_and_labels(tmp_path: Path) -> None:
    for suffix, read, most, most_value in (
        (".dta", pyreadstat.read_dta, 80, 205),
        (".sav", pyreadstat.read_sav, 255, 60),
    ):
        frame, about = read(written(tmp_path, suffix))
        (tmp_path / f"file{suffix}").unlink()
        assert about.column_names == ["q", "in_1", "note", "wave"]
        assert about.column_labels[0] == DATA_SET.variables[0].label[: most - (most < 100)] + "…" * (most < 100)
        assert about.column_labels[1:] == ["in: A name that Stata keeps", "=HYPERLINK()", "Wave"]
        assert str(about.file_label).startswith("Ein Titel mit Umläuten: ü")
        yes = about.variable_value_labels["q"][1]
        assert yes.startswith("yes, üü")
        assert len(yes) >= most_value
        assert about.variable_value_labels["q"][0] == "no"
        assert about.variable_value_labels["wave"] == {1: "@first", 2: "second", 3: "=cmd|' /C calc'!A0"}
        assert frame["q"].fillna(-1).tolist() == [0, 1, -1, 1, 0]
        assert frame["in_1"].fillna(-1).tolist() == [0.5, -1, -1, -1, -1]
        assert frame["note"].tolist() == ["=1+1", "a\x0b\nb", "", "b0101", ""]
        assert frame["wave"].fillna(-1).tolist() == [1, 2, -1, 1, 3]


def test_arrow_reads_types_and_labels(tmp_path: Path) -> None:
    table = pq.read_table(written(tmp_path, ".parquet"))
    assert table.schema.metadata[b"title"].decode() == DATA_SET.title
    for variable, column in zip(DATA_SET.variables, DATA_SET.columns, strict=True):
        field = table.schema.field(variable.name)
        assert field.metadata[b"label"].decode() == variable.label
        labels = json.loads(field.metadata.get(b"value_labels", b"{}"))
        assert labels == {str(value): text for value, text in variable.labels.items()}
        assert str(table.column(variable.name).to_pylist()) == str(list(column))
    assert pa.types.is_integer(table.schema.field("q").type)
    assert pa.types.is_dictionary(table.schema.field("wave").type)
    assert read_columns(tmp_path / "file.parquet")["q"].labels["0"] == "no"
    assert read_columns(tmp_path / "file.parquet")["q"].label == DATA_SET.variables[0].label


def test_excel_calculates_nothing_and_has_the_labels_on_a_second_sheet(tmp_path: Path) -> None:
    book = openpyxl.load_workbook(written(tmp_path, ".xlsx"))
    assert book.sheetnames == ["data", "variables"]
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if isinstance(cell.value, str)]
    assert cells
    assert {(cell.data_type, cell.quotePrefix) for cell in cells} == {("s", True)}
    rows = [list(row) for row in book["data"].iter_rows(values_only=True)]
    assert rows[0] == ["q", "in", "note", "wave"]
    assert rows[1:] == [
        [0, 0.5, "=1+1", "@first"],
        [1, None, "a_x000B_\nb", "second"],
        [None, "inf", None, None],
        [1, "-inf", "b0101", "@first"],
        [0, None, None, "=cmd|' /C calc'!A0"],
    ]
    about = [list(row) for row in book["variables"].iter_rows(values_only=True)]
    assert about[:4] == [
        ["name", "label", "value", "value label"],
        ["q", DATA_SET.variables[0].label, None, None],
        ["q", DATA_SET.variables[0].label, 0, "no"],
        ["q", DATA_SET.variables[0].label, 1, DATA_SET.variables[0].labels[1]],
    ]
    with pytest.raises(ParameterError, match=r"at most 1,048,575 rows, got 1,048,576; write \.csv or"):
        write_data_set(DataSet("", (Variable("q"),), (["x"] * 2**20,)), tmp_path / "long.xlsx")


def test_csv_and_json_hold_the_same(tmp_path: Path) -> None:
    rows = list(csv.reader(io.StringIO(written(tmp_path, ".csv").read_text(encoding="utf-8"), newline="")))
    assert rows[:2] == [["q", "in", "note", "wave"], ["0", "0.5", "'=1+1", "'@first"]]
    assert [row[1] for row in rows[1:]] == ["0.5", "", "inf", "-inf", ""]
    (tmp_path / "file.csv").unlink()
    document = json.loads(written(tmp_path, ".json").read_text(encoding="utf-8"))
    assert document["variables"][0]["values"]["0"] == "no"
    assert document["rows"][0] == {"q": 0, "in": 0.5, "note": "=1+1", "wave": "@first"}
    assert [row["in"] for row in document["rows"]] == [0.5, None, None, None, None]


@pytest.mark.parametrize("suffix", WRITERS)
def test_data_sets_without_rows_have_their_variables(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"nobody{suffix}"
    write_data_set(DataSet.of_rows("Nobody", DATA_SET.variables, []), path)
    if suffix != ".json":
        assert list(read_columns(path)) == ["q", "in_1" if suffix in (".dta", ".sav") else "in", "note", "wave"]


BOOLEANS = {"False": "0", "True": "1"}


@pytest.mark.parametrize("suffix", WRITERS)
def test_results_of_nobody_are_files_too(suffix: str, tmp_path: Path) -> None:
    (tmp_path / "nobody.csv").write_text("q,arm\n", encoding="utf-8")
    path = tmp_path / f"results{suffix}"
    printed = ok("shares", tmp_path / "nobody.csv", "--question", COIN, "--by", "arm", "--to", path)
    assert printed == "Nobody has a cohort: the file has no rows.\n"
    assert path.exists()


@pytest.mark.slow
def test_results_are_written_in_every_form(tmp_path: Path) -> None:
    study = (str(DATA / "study.csv"), "--design", str(DESIGN))
    for command in (
        ("shares", *study, "--by", "wave"),
        ("compare", study[0], "affair", *study[1:]),
        ("crosstab", study[0], "affair", "drugs", *study[1:]),
        ("regress", study[0], "affair ~ age", *study[1:]),
    ):
        rows, printed = as_rows(*command), ok(*command)
        for suffix in WRITERS:
            path = tmp_path / f"results{suffix}"
            assert ok(*command, "--to", path) == printed, "what is printed stays"
            if suffix == ".json":
                assert path.read_text(encoding="utf-8") == ok(*command, "--format", "json")
                continue
            if suffix == ".csv":
                assert path.read_bytes().decode() == ok(*command, "--format", "csv").replace("\n", "\r\n")
            columns = read_columns(path)
            assert list(columns) == list(rows[0])
            for name, column in columns.items():
                labels = column.labelled()
                found = [text or None for text in (labels if labels is not None else column)]
                wanted = [None if row[name] is None else str(row[name]) for row in rows]
                if all(isinstance(row[name], (int, float)) for row in rows if row[name] is not None):
                    numbers = [
                        [math.nan if each is None else float(BOOLEANS.get(each, each)) for each in each_of]
                        for each_of in (found, wanted)
                    ]
                    if suffix in (".dta", ".sav"):
                        numbers[1] = [each if math.isfinite(each) else math.nan for each in numbers[1]]
                    np.testing.assert_allclose(numbers[0], numbers[1], rtol=1e-15)
                else:
                    assert found == wanted


def test_files_that_cannot_be_written_are_sentences_and_leave_nothing(tmp_path: Path) -> None:
    study = ("shares", DATA / "study.csv", "--design", DESIGN, "--to")
    forms = ".csv, .json, .parquet, .dta, .sav, .xlsx, .md, .tex, .html, .docx"
    assert f"file: must end in {forms}, got 'x.xls'" in refused(*study, tmp_path / "x.xls")
    assert "there is no folder 'nowhere'" in refused(*study, tmp_path / "nowhere" / "x.csv")
    copy = tmp_path / "study.csv"
    copy.write_bytes((DATA / "study.csv").read_bytes())
    assert "must be another file than the data" in refused("shares", copy, "--design", DESIGN, "--to", copy)
    assert copy.read_bytes() == (DATA / "study.csv").read_bytes()
    copy.unlink()
    (tmp_path / "taken.csv").mkdir()
    assert "taken.csv" in refused(*study, tmp_path / "taken.csv")
    assert [each.name for each in tmp_path.iterdir()] == ["taken.csv"]


def test_a_library_that_is_missing_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_study(tmp_path / "study.sav")
    original = importlib.import_module

    def without(name: str, package: str | None = None) -> Any:
        if name in ("pyreadstat", "openpyxl", "pyarrow"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return original(name, package)

    monkeypatch.setattr(importlib, "import_module", without)
    hint = "in a clone of the project: pip install '.[files]'"
    assert f"study.sav: needs pyreadstat; {hint}" in refused("shares", tmp_path / "study.sav", "--design", DESIGN)
    to = ("shares", DATA / "study.csv", "--design", DESIGN, "--to")
    assert f"x.xlsx: needs openpyxl; {hint}" in refused(*to, tmp_path / "x.xlsx")

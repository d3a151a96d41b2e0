"""Counted rows are the people that they stand for, whoever counted them: this process, DuckDB, Spark."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyarrow import parquet

from deniable import (
    DrawnBoxes,
    KAry,
    Mechanism,
    ParameterError,
    ReportError,
    Subset,
    TickBoxes,
    TwoCoin,
    read_survey,
)
from deniable.wire.space import Bits, DrawnBits, Texts
from deniable_research.engine import EngineReports, count_patterns, count_supports, open_source
from deniable_research.engine import counting as counting_module
from deniable_research.engine.sources import Source
from deniable_research.engine.text_columns import TextColumn, means_nothing
from deniable_research.files import (
    Layout,
    RandomizedColumn,
    Table,
    compare,
    cross,
    estimate_shares,
    read_layout,
    regress,
)
from deniable_research.files.coded import CodedColumn
from deniable_research.files.reading import read_columns
from deniable_research.files.report_table import SupportTally
from deniable_research.results.results import Results
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.designs.spaces import uniform_reports
from deniable_statistics.published.published_rows import EstimateOptions
from deniable_statistics.sampling.weights import kish
from tests.support.analyzing import ok, refused
from tools.rig.survey_files import question_toml, survey_toml

COINS, FOUR = TwoCoin("1/2", "1/2"), KAry.from_epsilon(4, 2)
BOXES = TickBoxes.from_epsilon(5, 4)
DRAWN = DrawnBoxes.from_epsilon(10, 2, s=4)
SUBSETS = Subset.from_epsilon(14, 5, 1)


def column(name: str, mechanism: Mechanism, options: Sequence[str] = (), **more: Any) -> RandomizedColumn:
    return RandomizedColumn(name, name, design_of(mechanism), tuple(options) or design_of(mechanism).truths, **more)


QUESTIONS = (
    column("affair", COINS, ("no", "yes"), values=(0.0, 1.0)),
    column("age", FOUR, values=(0.0, 1.0, 2.0, 3.0), mean_values=(0.0, 1.0, 2.0, 3.0)),
    column("boxes", BOXES, tuple("abcde")),
)


def replicated(table: Table) -> Table:
    """Each row as often as it was counted."""
    assert table.frequencies is not None
    rows = np.repeat(np.arange(len(table)), table.frequencies)
    columns = {name: dataclasses.replace(each, codes=each.codes[rows]) for name, each in table.columns.items()}
    return Table.of(columns, table.layout)


def assert_same_rows(found: Sequence[Any], expected: Sequence[Any]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        names = [field.name for field in dataclasses.fields(other)]
        for name in names:
            figure = getattr(other, name)
            if isinstance(figure, float):
                assert getattr(one, name) == pytest.approx(figure, rel=1e-9, abs=1e-7, nan_ok=True), name
            else:
                assert getattr(one, name) == figure, name


@st.composite
def counted_tables(draw: st.DrawFn, weighted: bool = False) -> Table:
    size = draw(st.integers(6, 30))
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    frequencies = chance.integers(1, 9, size)
    bits = chance.integers(0, 2, (size, 5))
    columns = {
        "affair": [str(each) if each < 2 else "" for each in chance.integers(0, 3, size)],
        "age": [str(each) if each < 4 else "NA" for each in chance.integers(0, 5, size)],
        "boxes": ["b" + "".join(map(str, row)) for row in bits],
        "wave": [str(each) for each in chance.integers(1, 4, size)],
        "height": [str(each) for each in chance.normal(170, 10, size).round(2)],
        "w": [str(each) for each in chance.integers(1, 4, size)],
    }
    columns["affair"][:2], columns["age"][:4], columns["wave"][:3] = ["0", "1"], list("0123"), list("123")
    layout = Layout(QUESTIONS, weights="w" if weighted else None, cohort="wave")
    return Table.of(columns, layout, frequencies)


@pytest.mark.slow
@settings(max_examples=1, deadline=None, derandomize=True)
@given(counted_tables(weighted=True))
def test_every_analysis_of_counted_rows_is_that_of_the_people(table: Table) -> None:
    check_every_analysis(table, replicated(table))


@pytest.mark.long
@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.booleans().flatmap(lambda weighted: counted_tables(weighted=weighted)))
def test_every_analysis_of_any_counted_rows_is_that_of_the_people(table: Table) -> None:
    check_every_analysis(table, replicated(table))


def check_every_analysis(table: Table, people: Table) -> None:
    assert (table.people, table.dropped("affair")) == (len(people), people.dropped("affair"))
    for by in (None, "wave"):
        for wanted in (EstimateOptions(), EstimateOptions(target="respondents"), EstimateOptions(simultaneous=True)):
            if wanted.target == "respondents" and table.weights is not None:
                continue
            assert_same_rows(
                estimate_shares(table, by=by, wanted=wanted), estimate_shares(people, by=by, wanted=wanted)
            )
    for line in (False, True):
        assert_same_rows(compare(table, "age", "wave", line=line), compare(people, "age", "wave", line=line))
    for names in (
        ["affair", "age"],
        ["affair", "wave"],
        ["boxes[b]", "age"],
        ["boxes[a]", "boxes[c]"],
        ["boxes", "age"],
    ):
        for given_ in (None, names[1]):
            assert_same_rows(cross(table, names, given=given_), cross(people, names, given=given_))
    assert_same_rows(cross(table, ["affair", "age", "wave"]), cross(people, ["affair", "age", "wave"]))


def test_a_plain_number_correlates_as_for_the_people() -> None:
    chance = np.random.default_rng(5)
    columns = {
        "affair": [str(each) for each in chance.integers(0, 2, 60)],
        "height": [str(each) for each in chance.normal(170, 10, 60).round(2)],
    }
    table = Table.of(columns, Layout(QUESTIONS[:1]), chance.integers(1, 9, 60))
    (row,) = cross(table, ["affair", "height"])
    assert row.measure == "correlation"
    assert_same_rows([row], cross(replicated(table), ["affair", "height"]))


@pytest.mark.slow
@pytest.mark.parametrize("formula", ["affair ~ height", "affair ~ age + C(wave)", "height ~ affair", "age ~ height"])
def test_models_of_counted_rows_are_those_of_the_people(formula: str) -> None:
    chance = np.random.default_rng(3)
    size = 120
    columns = {
        "affair": [str(each) if each < 2 else "" for each in chance.choice(3, size, p=[0.6, 0.35, 0.05])],
        "age": [str(each) for each in chance.integers(0, 4, size)],
        "wave": [str(each) for each in chance.integers(1, 4, size)],
        "height": [str(each) for each in chance.integers(150, 155, size)],
    }
    table = Table.of(columns, Layout(QUESTIONS[:2]), chance.integers(1, 30, size))
    one, other = regress(table, formula), regress(replicated(table), formula)
    assert (one.n, one.n_dropped) == (other.n, other.n_dropped)
    assert np.allclose(one.params, other.params, rtol=1e-6)
    for first, second in zip(one.tidy(), other.tidy(), strict=True):
        assert first[0] == second[0]
        assert first[1:] == pytest.approx(second[1:], rel=1e-5, abs=1e-7)


def test_groups_anchors_and_arms_of_counted_rows_are_those_of_the_people() -> None:
    text = b"""
    [[questions]]
    column = "q1"
    design = "crosswise"
    p = "0.15"
    codes = {same = "1", different = "0"}
    anchor = "q2"
    [[questions]]
    column = "q2"
    design = "crosswise"
    p = "0.15"
    codes = {same = "1", different = "0"}
    known_share = 0
    """
    layout = read_layout(text)
    columns = {"q1": ["0", "0", "1", "1", ""], "q2": ["0", "1", "0", "1", "1"]}
    table = Table.of(columns, layout, np.array([425, 1116, 148, 311, 7]))
    for jointly in (False, True):
        assert_same_rows(estimate_shares(table, jointly=jointly), estimate_shares(replicated(table), jointly=jointly))


def test_two_boxes_of_one_draw_are_those_of_the_people() -> None:
    chance = np.random.default_rng(8)
    texts = ["b" + "".join(map(str, row)) for row in uniform_reports(DRAWN.reports, 200, chance)]
    question = column("drugs", DRAWN, tuple("abcdefghij"))
    table = Table.of({"drugs": texts, "w": ["1", "2"] * 100}, Layout((question,)), chance.integers(1, 20, 200))
    names = ["drugs[a]", "drugs[d]"]
    assert_same_rows(cross(table, names), cross(replicated(table), names))
    weighted = dataclasses.replace(table, layout=dataclasses.replace(table.layout, weights="w"))
    assert_same_rows(cross(weighted, names), cross(replicated(weighted), names))


def test_frequencies_are_people_and_weights_are_theirs() -> None:
    assert kish([0.7, 1.3], [3, 4]) == kish([0.7] * 3 + [1.3] * 4)
    with pytest.raises(ParameterError, match="frequencies: must be 2, one for each weight, got 1"):
        kish([1, 2], [3])


@pytest.mark.parametrize(
    ("frequencies", "message"),
    [
        (np.array([1, 0]), "whole numbers above 0"),
        (np.array([1, 2, 3]), "must be 2 whole numbers"),
        (np.array([1.0, 2.0]), "whole numbers above 0"),
    ],
)
def test_frequencies_that_count_nobody_are_refused(frequencies: NDArray[Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Table.of({"affair": ["1", "0"]}, Layout(QUESTIONS[:1]), frequencies)


def test_what_needs_each_person_is_refused_of_counted_rows() -> None:
    columns = {"affair": ["1", "0"], "age": ["0", "1"], "w": ["1", "2"], "height": ["150", "160"]}
    table = Table.of(columns, Layout(QUESTIONS[:2]), np.array([5, 6]))
    with pytest.raises(ParameterError, match="permutations: must be 0 for rows that were counted"):
        cross(table, ["affair", "age"], permutations=9)
    with pytest.raises(ParameterError, match="formula of counted rows must not compute with whole columns"):
        regress(table, "affair ~ scale(height)")
    with pytest.raises(ParameterError, match="a model of counted rows takes no weights"):
        regress(dataclasses.replace(table, layout=dataclasses.replace(table.layout, weights="w")), "affair ~ height")
    with pytest.raises(ParameterError, match="must be of each person's row"):
        Results(table).to_frame()
    from deniable_research.files import SamplingColumns

    clustered = dataclasses.replace(table.layout, sampling=SamplingColumns(cluster="w"))
    with pytest.raises(ParameterError, match="frequencies: must not go with a sampling design"):
        dataclasses.replace(table, layout=clustered)


def test_tallies_give_shares_and_comparisons_and_nothing_else() -> None:
    question = column("subset", SUBSETS)
    tally = SupportTally(np.tile(np.arange(14), (2, 1)), np.array([True, True]))
    table = Table.of({"wave": ["1", "2"]}, Layout((question,)), np.array([40, 50]), {"subset": tally})
    assert [row.n for row in estimate_shares(table, by="wave")[::14]] == [40, 50]
    with pytest.raises(ParameterError, match="subset: must be counted report by report for this"):
        cross(table, ["subset", "wave"])
    with pytest.raises(ParameterError, match="subset: must be counted report by report for this"):
        regress(table, "subset ~ wave")


# ------------------------------------------------------------------ engines

N = 1500


@pytest.fixture(scope="module")
def columns() -> dict[str, list[Any]]:
    """Reports of every kind, some missing, with cohorts, weights and a group of two questions that devices draw."""
    chance = np.random.default_rng(21)

    def some(values: Sequence[Any], gaps: float = 0.1) -> list[Any]:
        return [None if gap else each for each, gap in zip(values, chance.random(N) < gaps, strict=True)]

    def texts(mechanism: Mechanism) -> list[str]:
        return ["b" + "".join(map(str, row)) for row in uniform_reports(mechanism.reports, N, chance).tolist()]

    return {
        "cohort": some(chance.choice(["north", "south", "west"], N).tolist(), 0.05),
        "affair": some(chance.integers(0, 2, N).tolist()),
        "age": some(chance.integers(0, 4, N).tolist()),
        "boxes": some(texts(BOXES)),
        "drugs": some(texts(DRAWN)),
        "subset": some(texts(SUBSETS)),
        "height": chance.integers(150, 156, N).tolist(),
        "w": chance.integers(1, 4, N).tolist(),
    }


LAYOUT = Layout((*QUESTIONS, column("drugs", DRAWN, tuple("abcdefghij")), column("subset", SUBSETS)), cohort="cohort")


def as_parquet(columns: dict[str, list[Any]], folder: Path) -> str:
    """Partitioned by cohort as other programs write it; two files in one folder."""
    table = pyarrow.table(columns)
    parquet.write_to_dataset(table, folder, partition_cols=["cohort"])
    return str(folder)


def as_one_parquet(columns: dict[str, list[Any]], folder: Path) -> str:
    parquet.write_table(pyarrow.table(columns), folder / "reports [1].parquet")
    return str(folder / "reports [1].parquet")


def as_csv(columns: dict[str, list[Any]], folder: Path) -> str:
    for name, rows in (("a", slice(0, 500)), ("b", slice(500, N))):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*(each[rows] for each in columns.values()), strict=True))
    return str(folder / "*.csv")


def as_bare_csv(columns: dict[str, list[Any]], folder: Path) -> str:
    """Texts of 0 and 1 that a spreadsheet took for numbers."""
    bare = {
        name: [str(int(cell[1:])) if isinstance(cell, str) and cell[0] == "b" else cell for cell in cells]
        for name, cells in columns.items()
    }
    return as_csv(bare, folder)


def as_jsonl(columns: dict[str, list[Any]], folder: Path) -> str:
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    (folder / "reports.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(folder)


WRITERS = (as_parquet, as_one_parquet, as_csv, as_bare_csv, as_jsonl)


@pytest.fixture(scope="module")
def people(columns: dict[str, list[Any]], tmp_path_factory: pytest.TempPathFactory) -> Table:
    """The same, read row by row."""
    folder = tmp_path_factory.mktemp("people")
    parquet.write_table(pyarrow.table(columns), folder / "all.parquet")
    return Table.read(folder / "all.parquet", LAYOUT)


@pytest.fixture(scope="module")
def reports(columns: dict[str, list[Any]], tmp_path_factory: pytest.TempPathFactory) -> EngineReports:
    return EngineReports(open_source(as_parquet(columns, tmp_path_factory.mktemp("engine"))), LAYOUT)


@pytest.mark.slow
@pytest.mark.parametrize("write", WRITERS, ids=lambda writer: writer.__name__)
def test_every_kind_of_file_is_counted_alike(
    write: Callable[[dict[str, list[Any]], Path], str], columns: dict[str, list[Any]], people: Table, tmp_path: Path
) -> None:
    found = EngineReports(open_source(write(columns, tmp_path)), LAYOUT)
    for names, table in found.apart(LAYOUT.names, "cohort"):
        assert table.people == N
        for cohort, rows in table.cohorts("cohort"):
            (expected,) = (rows for label, rows in people.cohorts("cohort") if label == cohort)
            assert table.estimate(names[0], rows).counts == people.estimate(names[0], expected).counts
            assert table.estimate(names[0], rows).n == people.estimate(names[0], expected).n


def shares(reports: EngineReports, by: str | None) -> list[Any]:
    parts = reports.apart(reports.layout.names, by)
    return [row for names, table in parts for row in estimate_shares(table, names, by=by)]


@pytest.mark.slow
@pytest.mark.parametrize("by", [None, "cohort"])
def test_shares_that_an_engine_counted_are_those_of_the_file(reports: EngineReports, people: Table, by: str) -> None:
    expected = [row for name in LAYOUT.names for row in estimate_shares(people, [name], by=by)]
    assert_same_rows(shares(reports, by), expected)


@pytest.mark.parametrize("name", ["affair", "age", "boxes", "boxes[b]", "drugs", "drugs[c]", "subset"])
def test_comparisons_that_an_engine_counted_are_those_of_the_file(
    reports: EngineReports, people: Table, name: str
) -> None:
    ((_, table),) = reports.apart([name], "cohort")
    assert_same_rows(compare(table, name, "cohort"), compare(people, name, "cohort"))
    assert len(table) <= 4 * 33  # four cohorts in which no more reports can differ, or their tallies


@pytest.mark.parametrize(
    "names",
    [
        ["affair", "age"],
        ["affair", "cohort"],
        ["age", "height", "affair"],
        ["boxes[b]", "drugs[e]"],
        ["boxes[a]", "boxes[d]"],
        ["drugs[a]", "drugs[d]"],
        ["boxes", "affair"],
    ],
)
def test_crosstabs_that_an_engine_counted_are_those_of_the_file(
    reports: EngineReports, people: Table, names: list[str]
) -> None:
    assert_same_rows(cross(reports.together(names), names), cross(people, names))


@pytest.mark.slow
@pytest.mark.parametrize(
    "formula", ["affair ~ age + C(cohort)", "height ~ affair", "drugs[b] ~ height", "boxes[a] ~ affair"]
)
def test_models_that_an_engine_counted_are_those_of_the_file(
    reports: EngineReports, people: Table, formula: str
) -> None:
    found, expected = regress(reports.of_formula(formula), formula), regress(people, formula)
    assert (found.n, found.n_dropped) == (expected.n, expected.n_dropped)
    assert np.allclose(found.params, expected.params, rtol=1e-5, atol=1e-8)
    ours, theirs = ([row.std_error for row in fit.tidy()] for fit in (found, expected))
    assert np.allclose(ours, theirs, rtol=1e-4)


@pytest.mark.slow
def test_weights_are_part_of_what_is_alike(reports: EngineReports, people: Table) -> None:
    layout = dataclasses.replace(LAYOUT, weights="w")
    weighted = dataclasses.replace(people, layout=layout)
    counted = EngineReports(reports.source, layout)
    expected = [row for name in LAYOUT.names for row in estimate_shares(weighted, [name], by="cohort")]
    assert_same_rows(shares(counted, "cohort"), expected)
    names = ["affair", "age"]
    assert_same_rows(cross(counted.together(names), names), cross(weighted, names))


def test_questions_of_a_group_are_counted_with_who_was_asked(tmp_path: Path) -> None:
    asked = (question_toml(f"q{place}", "yes-no") for place in range(4))
    survey = read_survey(survey_toml("T", *asked, epsilon=2.0))
    layout = Layout.of_survey(survey)
    assert layout.questions[0].drawn is not None, "the survey shares its epsilon by drawing questions"
    chance = np.random.default_rng(2)
    draw = layout.questions[0].drawn.draw
    columns: dict[str, list[Any]] = {f"q{place}": [] for place in range(4)} | {"cohort": ["a", "b"] * 500}
    for _ in range(1000):
        chosen = set(chance.choice(4, draw, replace=False).tolist())
        for place in range(4):
            columns[f"q{place}"].append(int(chance.integers(0, 2)) if place in chosen else None)
    parquet.write_table(pyarrow.table(columns), tmp_path / "r.parquet")
    people = Table.read(tmp_path / "r.parquet", layout)
    reports = EngineReports(open_source(tmp_path), layout)
    expected = [row for name in layout.names for row in estimate_shares(people, [name], by="cohort")]
    assert_same_rows(shares(reports, "cohort"), expected)
    table = reports.together(["q1"])
    with pytest.raises(ParameterError, match="q0: must be counted as a whole for this, got who was asked it only"):
        table.estimate("q0")
    found, whole = regress(reports.of_formula("q1 ~ 1"), "q1 ~ 1"), regress(people, "q1 ~ 1")
    assert np.allclose(found.params, whole.params)


def test_a_question_of_which_boxes_were_counted_is_not_known_as_a_whole(reports: EngineReports) -> None:
    table = reports.together(["boxes[a]", "affair"])
    assert len(table) <= 3 * 3
    for analysis in (
        lambda: table.estimate("boxes"),
        lambda: table.item("boxes"),
        lambda: regress(table, "affair ~ boxes"),
    ):
        with pytest.raises(ParameterError, match="boxes"):
            analysis()


# ------------------------------------------------------------------ counts themselves


def source_of(columns: dict[str, list[Any]], tmp_path: Path) -> Source:
    parquet.write_table(pyarrow.table(columns), tmp_path / "rows.parquet")
    return open_source(tmp_path / "rows.parquet")


def test_patterns_come_in_order_and_columns_may_be_called_as_counts_are(tmp_path: Path) -> None:
    source = source_of({"people": ["b", "a", "b", None], "c0": [1, 2, 1, 2]}, tmp_path)
    found = count_patterns(source, ["people", "c0"])
    assert [list(each) for each in found.columns.values()] == [["a", "b", None], ["2", "1", "2"]]
    assert found.frequencies.tolist() == [1, 2, 1]


@pytest.mark.parametrize("space", [Bits(5), Bits(5, 2), DrawnBits(4, 2)], ids=str)
def test_the_engine_takes_for_a_report_what_python_does(space: Texts, tmp_path: Path) -> None:
    """Every text of the length, and others: which are reports, and what they support."""
    length = space.size
    every = [format(number, f"0{length}b") for number in range(2**length)]
    strange = ["", "b", "bb01", "2" * length, "x", "1" * (length + 1), "0" * length + "1", "b 1", "-1", "1.0", "é1"]
    texts = [*every, *(f"b{each}" for each in every[:40]), "101", " 0101 ", *strange]
    source = source_of({"q": texts}, tmp_path)
    read = TextColumn(source, "q", space, ("",))
    supported = {f"s{option}": read.supports(option) for option in range(length)}
    rows = source.run(
        read.source.rows.select("q", report=read.is_report, strange=read.is_strange, **supported)
    ).to_pylist()
    assert sorted(row["q"] for row in rows) == sorted(texts)
    for row in rows:
        text = row["q"].strip()
        report = space.from_text(text) if text else None
        assert row["report"] == (report is not None), text
        assert row["strange"] == (report is None and text != ""), text
        options = () if report is None else space.supports(report)
        assert [option for option in range(length) if row[f"s{option}"]] == [*options], text


def test_the_engine_takes_for_missing_what_python_does(tmp_path: Path) -> None:
    texts = ["b00", "99", "99.0", "99.00", "099", "0.5", "0.50", "0.51", "-7.0", "-7", "990", "0", "-0.0", "00", "NA"]
    missing = ["NA", "99", "0.50", "-7", "0.0"]
    source = source_of({"q": texts}, tmp_path)
    source, nothing = source.with_column(means_nothing(source.column("q"), missing), "nothing")
    counted = source.run(source.rows.filter(ibis._[nothing]).select("q"))
    here = {text for text in texts if CodedColumn.of([text]).without(missing)[0] is None}
    assert set(counted.column("q").to_pylist()) == here
    assert here == {*texts} - {"b00", "099", "0.51", "990", "00"}


def test_what_is_no_report_is_refused_with_its_number(tmp_path: Path) -> None:
    layout = Layout((column("subset", SUBSETS), QUESTIONS[0]))
    good = "b" + "".join(map(str, uniform_reports(SUBSETS.reports, 1, np.random.default_rng(0))[0].tolist()))
    source = source_of({"subset": [good, "b11", None, "oops", ""], "affair": ["0", "1", "7", "7", "x"]}, tmp_path)
    reports = EngineReports(source, layout)
    with pytest.raises(ReportError, match=r"column 'subset': must hold a text of 14 .* in 2 rows, first 'b11'"):
        reports.apart(["subset"])
    with pytest.raises(ReportError, match=r"column 'affair': must hold .* in 3 rows, first '7'"):
        reports.apart(["affair"])
    with pytest.raises(ReportError, match="column 'wave': must be one of the columns of rows"):
        reports.apart(["affair"], "wave")


def test_what_is_no_report_is_refused_where_boxes_alone_are_counted(tmp_path: Path) -> None:
    source = source_of({"boxes": ["b01010", "b2", None], "tags": [["a"], ["b"], ["b"]]}, tmp_path)
    reports = EngineReports(source, Layout(QUESTIONS[2:]))
    with pytest.raises(ReportError, match=r"column 'boxes': must hold .* in 1 row, first 'b2'"):
        reports.together(["boxes[a]"])
    with pytest.raises(ReportError, match="columns must hold numbers, texts or dates"):
        count_patterns(source, ["tags"])


def test_too_many_different_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting_module, "MOST_PATTERNS", 10)
    source = source_of({"affair": [0] * 11, "income": list(range(11))}, tmp_path)
    with pytest.raises(ParameterError, match="affair, income: must have at most 10 different rows together, got more"):
        EngineReports(source, Layout(QUESTIONS[:1])).together(["affair", "income"])
    assert count_patterns(source_of({"income": list(range(10))}, tmp_path), ["income"]).frequencies.tolist() == [1] * 10


def test_no_rows_are_no_people(tmp_path: Path) -> None:
    table = pyarrow.table({"affair": pyarrow.array([], pyarrow.int8()), "subset": pyarrow.array([], pyarrow.string())})
    parquet.write_table(table, tmp_path / "empty.parquet")
    reports = EngineReports(open_source(tmp_path), Layout((QUESTIONS[0], column("subset", SUBSETS))))
    for _, counted in reports.apart(["affair", "subset"]):
        assert (len(counted), counted.people) == (0, 0)
        assert {row.n for row in estimate_shares(counted, ["affair"] if "affair" in counted.layout.names else [])} == {
            0
        }


def test_supports_are_those_of_the_reports(columns: dict[str, list[Any]], tmp_path: Path) -> None:
    source = source_of(columns, tmp_path)
    found = count_supports(source, ["cohort"], [column("subset", SUBSETS)])
    for row, (cohort, present) in enumerate(zip(found.columns["cohort"], found.present["subset"], strict=True)):
        texts = [
            text
            for text, each in zip(columns["subset"], columns["cohort"], strict=True)
            if each == cohort and (text is not None) == present
        ]
        assert found.frequencies[row] == len(texts)
        bits = np.array([list(map(int, text[1:])) for text in texts if text]).reshape(-1, 14)
        assert found.supports["subset"][row].tolist() == bits.sum(axis=0).tolist()


# ------------------------------------------------------------------ sources


@pytest.mark.parametrize(
    ("where", "engine", "message"),
    [
        ("nowhere", "duckdb", "nowhere: must be a folder, a file or a pattern of files, got nothing"),
        ("empty", "duckdb", "empty: must hold files that end in .parquet"),
        ("a.txt", "duckdb", "a.txt: must be files that all end in one of .parquet"),
        ("*", "duckdb", "*: must be a pattern of files, got the folder 'empty'"),
        ("table:reports", "duckdb", "reports: the engine cannot read it"),
        ("reports.parquet", "duckling", "engine: must be duckdb, spark or an address with ://, got 'duckling'"),
        ("reports.parquet", "password=secret host=db", "engine: must be duckdb, spark or an address with ://"),
        ("reports.parquet", "postgres://me:secret@127.0.0.1:1/x", "engine: "),
        ("damaged.parquet", "duckdb", "damaged.parquet: the engine cannot read it"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(where: str, engine: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "damaged.parquet").write_text("PAR1")
    (tmp_path / "reports.parquet").write_text("PAR1")
    place = where if where.startswith("table:") else str(tmp_path / where)
    with pytest.raises((ParameterError, ReportError)) as caught:
        open_source(place, engine)
    assert str(caught.value).startswith(message)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("where", ["", "table:", "a\0b", "https://example.com/a\0b.csv"])
def test_nothing_at_all_is_no_source(where: str) -> None:
    with pytest.raises(ParameterError, match=r"^source: must be a folder, a file, .* got "):
        open_source(where)


def rows_in(where: Path | str) -> int:
    return int(count_patterns(open_source(where), ["affair"]).frequencies.sum())


class TestFilesOfAFolder:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """A file of one row, and another below."""
        (tmp_path / "study" / "reports").mkdir(parents=True)
        for name in ("a.csv", "reports/b.CSV"):
            (tmp_path / "study" / name).write_text("affair\n0\n", encoding="utf-8")
        return tmp_path / "study"

    def test_all_of_one_kind_are_counted(self, folder: Path) -> None:
        (folder / "README.txt").write_text("not a report", encoding="utf-8")
        assert rows_in(folder) == rows_in(f"{folder}/") == rows_in(folder / "**" / "*.[cC][sS][vV]") == 2

    def test_what_is_hidden_is_left_out(self, folder: Path) -> None:
        """As what a killed export leaves."""
        (folder / ".out.k3x.part" / "reports").mkdir(parents=True)
        for name in (".out.k3x.part/reports/part-00000.csv", "reports/.b.csv", ".a.csv"):
            (folder / name).write_text("affair\n0\n", encoding="utf-8")
        assert rows_in(folder) == rows_in(folder / "**" / "*.[cC][sS][vV]") == 2
        assert rows_in(folder / ".a.csv") == 1
        folder.rename(folder.with_name(".study"))
        assert rows_in(folder.with_name(".study")) == 2

    def test_files_that_links_lead_to_are_counted_once(self, folder: Path) -> None:
        (folder / "again").symlink_to(folder)
        (folder / "latest.csv").symlink_to(folder / "a.csv")
        other = folder.with_name("other.csv")
        other.write_text("affair\n0\n", encoding="utf-8")
        (folder / "other.csv").symlink_to(other)
        assert rows_in(folder) == 3

    @pytest.mark.parametrize("name", ["c.parquet", "c.jsonl", "C.NDJSON"])
    def test_of_several_kinds_are_refused(self, folder: Path, name: str) -> None:
        (folder / "reports" / name).write_text('{"affair":0}\n', encoding="utf-8")
        with pytest.raises(ReportError, match=r"^study: must be files that all end in one of .*, got \.csv"):
            open_source(folder)

    @pytest.mark.parametrize("name", ["[a-c].csv", "back\\slash.csv", "what?.csv", "a*.csv"])
    def test_names_are_no_patterns(self, folder: Path, name: str) -> None:
        (folder / name).write_text("affair\n0\n0\n", encoding="utf-8")
        assert rows_in(folder / name) == 2
        assert rows_in(folder) == 4


@pytest.mark.slow
@pytest.mark.parametrize("cell", ['"web"', '"say ""hi"""', '"a, b"', '"back\\"', "'quoted'", '"two\nlines"'])
def test_cells_of_csv_are_the_same_wherever_they_stand(cell: str, tmp_path: Path) -> None:
    (tmp_path / "reports.csv").write_text("cohort,a\n" + "paper,1\n" * 25_000 + f"{cell},0\n", encoding="utf-8")
    expected = read_columns(tmp_path / "reports.csv")
    found = count_patterns(open_source(tmp_path / "reports.csv"), ["cohort", "a"])
    assert set(found.columns["cohort"]) == set(expected["cohort"])
    assert sorted(found.frequencies.tolist()) == [1, 25_000]


@pytest.mark.parametrize(
    "text",
    ["cohort,a\n" + "x,1\n" * 50 + "cohort,a,b\n" + "y,0,2\n" * 400, "cohort,a\n" + "x,1\n" * 300 + "x,1,2\n"],
    ids=["another file below", "a longer row at the end"],
)
def test_rows_above_of_another_length_are_not_left_out(text: str, tmp_path: Path) -> None:
    (tmp_path / "reports.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ReportError):
        count_patterns(open_source(tmp_path / "reports.csv"), ["cohort", "a"])


@pytest.mark.parametrize(("last", "text"), [(0.7, "0.7"), ("yes", "yes"), ("1", "1"), (None, None)])
def test_cells_of_jsonl_are_as_they_stand_however_many_others_came_before(
    last: object, text: str | None, tmp_path: Path
) -> None:
    rows = [{"affair": 0}] * 25_000 + [{"affair": last, "late": "x"}]
    (tmp_path / "reports.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    found = count_patterns(open_source(tmp_path / "reports.jsonl"), ["affair", "late"])
    cells = zip(*([*found.columns[name]] for name in ("affair", "late")), found.frequencies.tolist(), strict=True)
    assert set(cells) == {("0", None, 25_000), (text, "x", 1)}


def test_csv_that_is_not_utf_8_is_said_to_be_that(tmp_path: Path) -> None:
    (tmp_path / "reports.csv").write_bytes("cohort,a\nZürich,1\n".encode("latin-1"))
    with pytest.raises(ReportError, match="not utf-8") as caught:
        open_source(tmp_path / "reports.csv")
    assert "Z" not in str(caught.value), "no row is repeated"


def test_a_table_that_the_engine_knows_is_read_by_name(columns: dict[str, list[Any]], tmp_path: Path) -> None:
    import duckdb

    rows = pyarrow.table(columns)
    with duckdb.connect(str(tmp_path / "study.duckdb")) as connection:
        connection.register("rows_", rows)
        connection.execute("CREATE TABLE reports AS SELECT * FROM rows_")
    source = open_source("table:reports", f"duckdb://{tmp_path / 'study.duckdb'}")
    assert int(count_patterns(source, ["affair"]).frequencies.sum()) == N


# ------------------------------------------------------------------ the command

QUICK = (
    "--question",
    "affair: forced-response truth=1/2 codes=no:0,yes:1",
    "--question",
    "age: warner p=3/4 codes=no:0,yes:1",
)


@pytest.fixture
def study(tmp_path: Path) -> tuple[str, str]:
    """A CSV for the command, and a folder of the same as Parquet."""
    chance = np.random.default_rng(4)
    columns = {
        "affair": [None if each > 1 else each for each in chance.choice(3, 2000, p=[0.5, 0.4, 0.1]).tolist()],
        "age": chance.integers(0, 2, 2000).tolist(),
        "wave": chance.integers(2020, 2023, 2000).tolist(),
    }
    (tmp_path / "one").mkdir()
    (tmp_path / "many").mkdir()
    as_csv_one = pyarrow.table(columns).to_pandas()
    as_csv_one.to_csv(tmp_path / "one" / "reports.csv", index=False)
    parquet.write_table(pyarrow.table(columns), tmp_path / "many" / "reports.parquet")
    return str(tmp_path / "one" / "reports.csv"), str(tmp_path / "many")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("shares", ()),
        ("shares", ("affair", "age", "--by", "wave")),
        ("compare", ("affair", "--by", "wave")),
        ("compare", ("affair", "--by", "wave", "--trend")),
        ("crosstab", ("affair", "age")),
        ("crosstab", ("affair", "wave", "--given", "wave")),
        ("regress", ("affair ~ wave",)),
        ("predict", ("affair ~ C(wave)",)),
        ("sensitivity", ("affair", "--steps", "2")),
    ],
)
def test_the_command_prints_the_same_of_a_folder_as_of_a_file(
    command: str, arguments: tuple[str, ...], study: tuple[str, str]
) -> None:
    one, many = study
    expected = json.loads(ok(command, one, *arguments, *QUICK, "--format", "json"))
    found = json.loads(ok(command, "--from", many, *arguments, *QUICK, "--format", "json"))
    assert_near(found, expected)


def assert_near(found: Any, expected: Any) -> None:
    """The same document, figures to what an optimiser finds."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            assert_near(found[key], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_near(one, other)
    elif isinstance(expected, float):
        assert math.isclose(found, expected, rel_tol=1e-5, abs_tol=1e-7)
    else:
        assert found == expected


def test_the_command_says_what_does_not_go_together(study: tuple[str, str], tmp_path: Path) -> None:
    one, many = study
    assert "--engine goes with --from" in refused("shares", one, *QUICK, "--engine", "spark")
    assert "--skip does not go with --from" in refused("shares", "--from", many, *QUICK, "--skip", "2")
    assert "got a sampling design" in refused("shares", "--from", many, *QUICK, "--cluster", "wave")
    assert "Missing argument 'DATA'" in refused("shares", *QUICK)
    assert "must be another file than the data" in refused("shares", "--from", one, *QUICK, "--to", one)

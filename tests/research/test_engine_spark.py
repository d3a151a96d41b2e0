"""Spark counts what numpy counts, and what DuckDB counts of all other columns: for `make test-engines`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from deniable import DrawnBoxes, KAry, Subset, TwoCoin, read_survey, tally_reports
from deniable.errors import ReportError
from deniable_client import randomize
from deniable_research.engine import EngineReports, count_patterns, open_source
from deniable_research.engine.tallies import count_tallies
from deniable_research.files import Layout, RandomizedColumn, Table, cross
from deniable_statistics.data.folder import write_folder
from deniable_statistics.data.manifest import FORMATS
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.designs.spaces import uniform_reports
from tools.bench.engine import COHORTS, write
from tools.rig.surveys import FIVE_TYPES, person

pytestmark = pytest.mark.engines

ENGINES = ("spark", "duckdb")
N, PIECE = 5_000_000, 1_000_000
SUBSETS, DRAWN = Subset.from_epsilon(14, 5, 1), DrawnBoxes.from_epsilon(10, 2, s=4)


def column(name: str, mechanism: Any) -> RandomizedColumn:
    return RandomizedColumn(name, name, design_of(mechanism), design_of(mechanism).truths)


LAYOUT = Layout(
    (
        column("affair", TwoCoin("1/2", "1/2")),
        column("party", KAry.from_epsilon(5, 1)),
        column("subset", SUBSETS),
        RandomizedColumn("drugs", "drugs", design_of(DRAWN), tuple("abcdefghij")),
    )
)


@pytest.fixture(autouse=True, scope="module")
def spark() -> Iterator[None]:
    """A session of this machine alone, which ends with the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_SUBMIT_ARGS", "--master local[2] --driver-memory 1g pyspark-shell")
        yield
        from pyspark.sql import SparkSession

        if (session := SparkSession.getActiveSession()) is not None:
            session.stop()


def test_spark_counts_five_million_rows_as_numpy_does(tmp_path: Path) -> None:
    expected = write(tmp_path, N, in_pieces_of=PIECE)
    found = count_patterns(open_source(tmp_path, "spark"), ["cohort", "affair", "party"])
    counts = np.zeros_like(expected)
    columns = [
        found.columns["cohort"].map(COHORTS.index),
        *(found.columns[each].map(int) for each in ("affair", "party")),
    ]
    counts[tuple(np.array(list(each)) for each in columns)] = found.frequencies
    assert found.frequencies.sum() == N
    assert (counts == expected).all()


def test_spark_reads_every_kind_of_report_as_duckdb_does(tmp_path: Path) -> None:
    chance, n = np.random.default_rng(2), 4000

    def some(values: list[Any]) -> list[Any]:
        return [None if gap else each for each, gap in zip(values, chance.random(n) < 0.1, strict=True)]

    def texts(mechanism: Any) -> list[str]:
        return ["b" + "".join(map(str, row)) for row in uniform_reports(mechanism.reports, n, chance).tolist()]

    columns = {
        "cohort": some(chance.choice(COHORTS, n).tolist()),
        "affair": some(chance.integers(0, 2, n).tolist()),
        "party": some(chance.integers(0, 5, n).tolist()),
        "subset": some(texts(SUBSETS)),
        "drugs": some(texts(DRAWN)),
    }
    parquet.write_to_dataset(pyarrow.table(columns), tmp_path / "rows", partition_cols=["cohort"])
    one, other = (EngineReports(open_source(tmp_path / "rows", engine), LAYOUT) for engine in ("spark", "duckdb"))
    for (names, table), (_, same) in zip(
        one.apart(LAYOUT.names, "cohort"), other.apart(LAYOUT.names, "cohort"), strict=True
    ):
        found, expected = (
            [(label, each.estimate(names[0], rows).counts, each.count(rows)) for label, rows in each.cohorts("cohort")]
            for each in (table, same)
        )
        assert found == expected
    pair = ["drugs[a]", "drugs[d]"]
    tables: list[Table] = [each.together(pair) for each in (one, other)]
    assert cross(tables[0], pair) == cross(tables[1], pair)


@pytest.mark.parametrize("by_cohort", [False, True])
@pytest.mark.parametrize("form", FORMATS)
def test_spark_counts_the_tallies_of_an_export(tmp_path: Path, form: str, by_cohort: bool) -> None:
    survey = replace(
        read_survey(FIVE_TYPES), cohorts=("01", "1", "a/b c", "=1+1", "NA", '"b", c\\', "Zürich", "nobody")
    )
    sent = [randomize(survey, person(n), (*survey.cohorts[:7], None)[n % 8]) for n in range(160)]
    rows = [(each.id, each.cohort, *each.values.values()) for each in sent]
    write_folder(survey, rows, tmp_path / "out", form, by_cohort=by_cohort)
    assert count_tallies(open_source(tmp_path / "out", "spark"), survey) == tally_reports(sent, survey)
    write_folder(survey, [], tmp_path / "none", form, by_cohort=by_cohort)
    assert count_tallies(open_source(tmp_path / "none", "spark"), survey) == {}


@pytest.mark.parametrize("cell", ['"say ""hi"", you"', '"back\\"', '"two\nlines"'])
def test_spark_reads_cells_of_csv_as_duckdb_does(cell: str, tmp_path: Path) -> None:
    (tmp_path / "reports.csv").write_text("cohort,a\n" + f"{cell},0\n" * 3, encoding="utf-8")
    one, other = (count_patterns(open_source(tmp_path / "reports.csv", engine), ["cohort", "a"]) for engine in ENGINES)
    assert list(one.columns["cohort"]) == list(other.columns["cohort"])
    assert one.frequencies.tolist() == other.frequencies.tolist() == [3]


@pytest.mark.parametrize("text", ["cohort,a\ny\n", "cohort,a\ny,1,2\n", "a,cohort\n1,y\n"])
def test_spark_makes_no_rows_fit_that_do_not(text: str, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("cohort,a\nx,0\n", encoding="utf-8")
    (tmp_path / "other.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ReportError, match="the engine cannot read it"):
        count_patterns(open_source(tmp_path, "spark"), ["cohort"])


def test_spark_takes_no_line_for_nothing_that_is_no_json(tmp_path: Path) -> None:
    (tmp_path / "reports.jsonl").write_text('{"affair":0}\n{oops\n', encoding="utf-8")
    with pytest.raises(ReportError, match="the engine cannot read it"):
        count_patterns(open_source(tmp_path / "reports.jsonl", "spark"), ["affair"])


def test_spark_reads_the_files_that_duckdb_reads(tmp_path: Path) -> None:
    """Also where nothing is partitioned, and whatever a killed export left."""
    folder = tmp_path / "study"
    for name in ("a.csv", "below/b.CSV", ".out.part/c.csv", "below/.d.csv", "README.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("affair\n0\n", encoding="utf-8")
    for engine in ENGINES:
        assert count_patterns(open_source(folder, engine), ["affair"]).frequencies.tolist() == [2]
    (folder / "_e.csv").write_text("affair\n0\n", encoding="utf-8")
    with pytest.raises(ReportError, match=r"must be called without _ at the beginning for Spark, got '_e\.csv'$"):
        open_source(folder, "spark")

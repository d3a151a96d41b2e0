"""``deniable export``: reports with labels for other programs, and scripts that estimate from them."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pyreadstat
import pytest

from deniable import EstimateRow, Report, Survey, estimate, read_survey, tally_reports
from deniable_client import randomize
from deniable_research.files import Layout, Table, estimate_shares
from deniable_server.store.sqlite.store import SqliteStore
from deniable_statistics.archive.r_script import r_script
from deniable_statistics.archive.regression_script import REGRESSION, regression_script
from deniable_statistics.archive.script_figures import scored_of, shares_of
from deniable_statistics.archive.supplements import files_about
from tests.support.drawn_questions import shared_survey
from tests.support.same_figures import assert_same_rows
from tools.packages import rscript
from tools.rig.command_line import CommandLine
from tools.rig.patience import PATIENCE
from tools.rig.survey_files import question_toml, survey_toml

DENIABLE = CommandLine()
ok, refused = DENIABLE.ok, DENIABLE.refused

EVERYTHING = survey_toml(
    "=Everything in one survey",
    question_toml("affair", "yes-no", "Have you had an affair?", truth="1/2"),
    question_toml("in", "choice", "Where do you live?", options=['"A"', "B\\\\C", "=D", "`e'", "$f"], epsilon=1),
    question_toml("car", "choice", "Which car?", options=[*"abcdef"], mechanism="subset", epsilon=1),
    question_toml("drugs", "ticks", "What have you tried?", options=["gråss", "snow", "speed", "none"], epsilon=2),
    question_toml("boxes", "ticks", "All of it?", options=["x", "y"], goal="together", epsilon=2),
    question_toml("drinks", "number", "How many drinks?", lo=0, hi=60, epsilon=1),
    question_toml("trust", "scale", "Trust?", lo=1, hi=5, epsilon=1, goal="shares"),
    question_toml("q" + "x" * 38, "yes-no", "A long name?", truth="2/3"),
    cohorts=["paper", "@web"],
    results="live",
)


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(EVERYTHING)


@pytest.fixture(scope="module")
def reports(survey: Survey) -> list[Report]:
    places = survey.question("in").options
    return sorted(
        (
            randomize(
                survey,
                {
                    "affair": "yes" if number % 3 else "no",
                    "in": places[number % 5],
                    "car": "abcdef"[number % 6],
                    "drugs": ["snow"] if number % 2 else [],
                    "boxes": ["x"],
                    "drinks": number % 61,
                    "trust": number % 5 + 1,
                    "q" + "x" * 38: "no",
                },
                ("paper", "@web", None)[number % 3],
            )
            for number in range(300)
        ),
        key=lambda report: report.id,
    )


@pytest.fixture
def database(survey: Survey, reports: list[Report], tmp_path: Path) -> Path:
    path = tmp_path / "reports.db"
    store = SqliteStore(path)
    store.publish(survey)
    store.store_reports([(survey, reports)])
    store.close()
    return path


def export(survey: Survey, database: Path, name: str, *more: str) -> Path:
    path = database.with_name(name)
    assert f"{path}: 300 reports" in ok("export", survey.id, "--db", database, "--to", path, *more)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet", "dta", "sav", "xlsx"])
def test_every_form_is_read_back_to_the_same_estimates(
    suffix: str, survey: Survey, reports: list[Report], database: Path
) -> None:
    path = export(survey, database, f"reports.{suffix}")
    columns = {"in": "in_1", "q" + "x" * 38: "q" + "x" * 30} if suffix in ("dta", "sav") else {}
    if columns:
        names = {question.id: columns.get(question.id, question.id) for question in survey.questions}
        layout = replace(Layout.of_survey(survey, names), cohort="cohort")
    else:
        layout = Layout.of_survey(survey)
    table = Table.read(path, layout)
    expected = estimate(tally_reports(reports, survey), survey, by_cohort=True)
    assert_same_rows(estimate_shares(table, by="cohort"), expected)


@pytest.mark.slow
def test_labels_say_what_was_asked_and_that_it_is_noise(survey: Survey, reports: list[Report], database: Path) -> None:
    for suffix, read in (("dta", pyreadstat.read_dta), ("sav", pyreadstat.read_sav)):
        frame, about = read(export(survey, database, f"reports.{suffix}"))
        labels = about.column_names_to_labels
        assert labels["affair"] == "Noisy report, not an answer: Have you had an affair?"
        assert labels["in_1"] == "in: Noisy report, not an answer: Where do you live?"
        assert about.variable_value_labels["affair"] == {0: "no", 1: "yes"}
        assert about.variable_value_labels["in_1"] == dict(enumerate(survey.question("in").options))
        assert about.variable_value_labels["trust"] == dict(enumerate("12345"))
        assert set(about.variable_value_labels["cohort"].values()) == {"paper", "@web"}
        assert about.file_label == survey.title
        assert frame["affair"].tolist() == [report.values["affair"] for report in reports]
        assert frame["car"].tolist() == [f"b{report.values['car']}" for report in reports]
    table = pq.read_table(export(survey, database, "reports.parquet"))
    assert json.loads(table.schema.field("affair").metadata[b"value_labels"]) == {"0": "no", "1": "yes"}
    assert table.column("affair").to_pylist() == [report.values["affair"] for report in reports]
    book = openpyxl.load_workbook(export(survey, database, "reports.xlsx"))
    assert ["in", "Noisy report, not an answer: Where do you live?", 2, "=D"] in [
        list(row) for row in book["variables"].iter_rows(values_only=True)
    ]
    assert {cell.data_type for row in book["variables"].iter_rows() for cell in row} == {"s", "n"}


def test_boxes_have_columns_and_codes_are_explained(tmp_path: Path) -> None:
    """Nobody counts in `b10`, and nobody takes the code 0 of a scale from 1 to 5 for its answer 0, or a gap for No."""
    groups = {"acts": {"epsilon": 2, "draw": 1}}
    asked = (
        question_toml("drugs", "ticks", "Which?", options=["tea", "milk"], group="acts"),
        question_toml("trust", "scale", "How much?", lo=1, hi=5, goal="shares", group="acts"),
    )
    survey = read_survey(survey_toml("T", *asked, groups=groups, results="live"))
    store = SqliteStore(tmp_path / "test.db")
    store.publish(survey)
    sent: list[dict[str, int | str | None]] = [{"drugs": "1001", "trust": None}, {"drugs": None, "trust": 0}]
    store.store_reports([(survey, [Report(f"{n:032x}", None, values) for n, values in enumerate(sent)])])
    store.close()
    for name in ("x.sav", "x.dta", "x.xlsx", "x.csv"):
        ok("export", survey.id, "--db", tmp_path / "test.db", "--to", tmp_path / name)
    frame, about = pyreadstat.read_sav(tmp_path / "x.sav")
    assert frame[["drugs_1", "drugs_2"]].iloc[0].tolist() == [0, 1]
    assert frame[["drugs_1", "drugs_2"]].iloc[1].isna().all(), "who was not asked has no box"
    assert about.variable_value_labels["drugs_2"] == {0: "not in the report", 1: "in the report"}
    labels = about.column_names_to_labels
    assert labels["drugs_2"] == "Noisy report, not an answer: milk (Which?)"
    assert labels["trust"] == "Noisy report, not an answer, missing if not asked, code 0 is the answer 1: How much?"
    sheet = openpyxl.load_workbook(tmp_path / "x.xlsx")["data"]
    header, first, _ = sheet.iter_rows(values_only=True)
    assert dict(zip(header, first, strict=True))["drugs_2"] == 1
    assert "drugs_1" not in (tmp_path / "x.csv").read_text(encoding="utf-8"), "as the collector's reports.csv"
    assert Table.read(tmp_path / "x.sav", Layout.of_survey(survey)).people == 2, "our own programs read it as before"


def test_surveys_without_reports_to_show_are_sentences(tmp_path: Path) -> None:
    path, to = tmp_path / "some.db", tmp_path / "x.csv"
    store = SqliteStore(path)
    hidden, tallies = (
        read_survey(survey_toml("T", question_toml("q", "yes-no", "Q?", truth="1/2"), **keys))
        for keys in ({"results": "closed"}, {"retention": "tallies"})
    )
    store.publish(hidden)
    store.publish(tallies)
    store.close()
    assert "results come out once the survey has closed" in refused("export", hidden.id, "--db", path, "--to", to)
    assert "keeps no reports once they are counted" in refused("export", tallies.id, "--db", path, "--to", to)
    assert "does not exist" in refused("export", hidden.id, "--db", tmp_path / "none.db", "--to", to)
    assert "file: must end in" in refused("export", hidden.id, "--db", path, "--to", tmp_path / "x.xls")
    assert not to.exists()


@pytest.mark.slow
def test_estimates_are_written_in_every_form(survey: Survey, database: Path) -> None:
    source = ("estimate", survey.id, "--db", database)
    path = database.with_name("estimates.csv")
    assert ok(*source, "--to", path) == ok(*source)
    assert path.read_bytes().decode() == "".join(f"{line}\r\n" for line in ok(*source, "--format", "csv").splitlines())
    path = path.with_suffix(".json")
    ok(*source, "--to", path)
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(ok(*source, "--format", "json"))
    path = path.with_suffix(".dta")
    ok(*source, "--to", path)
    frame, about = pyreadstat.read_dta(path, apply_value_formats=True)
    rows = json.loads(ok(*source, "--format", "json"))["estimates"]
    assert frame["question"].tolist() == [row["question"] for row in rows]
    assert frame["estimate"].tolist() == [row["estimate"] for row in rows]
    assert about.column_names_to_labels["std_error"] == "Standard error"


def test_scripts_stand_beside_the_file_and_hold_no_text_that_runs(survey: Survey, database: Path) -> None:
    export(survey, database, "reports.dta", "--scripts")
    assert {each.suffix for each in database.parent.iterdir()} >= {".dta", ".csv", ".R", ".do", ".sps", ".py"}
    r = database.with_name("reports.R").read_text(encoding="ascii")
    assert r == r_script(survey, "reports.csv")
    assert "# intervals of rows without a count are left out" in r
    stata = database.with_name("reports.do").read_text(encoding="utf-8")
    options = [line for line in stata.splitlines() if line.startswith("label define")]
    assert len(options) == len([*shares_of(survey), *scored_of(survey)])
    assert not any(set("`$'\\=") & set(line) for line in options)
    assert 'quietly generate byte supports1 = v3 == "0" if v3 != ""' in stata
    assert "deniable_share `results' affair 1 supports1 (3/4) (1/4)" in stata
    assert refused("export", survey.id, "--db", database, "--to", database.with_name("$x.csv"), "--scripts")


def test_the_script_of_regressions_stands_beside_the_codebook_that_it_reads(survey: Survey, database: Path) -> None:
    export(survey, database, "reports.csv", "--scripts")
    assert database.with_name(REGRESSION).read_bytes() == regression_script()
    codebook = database.with_name("reports.md").read_bytes()
    assert codebook == dict(files_about(survey))["codebook.md"]
    # On some systems the two scripts would be one file.
    named = database.with_name("Regression.csv")
    assert "take another name" in refused("export", survey.id, "--db", database, "--to", named, "--scripts")
    assert not named.exists()


@pytest.mark.r
def test_r_gives_our_shares_and_standard_errors(survey: Survey, reports: list[Report], database: Path) -> None:
    found = by_r(export(survey, database, "reports.csv", "--scripts"))
    expected = estimate(tally_reports(reports, survey), survey)
    assert_same_shares([row for row in found if row["option"]], [row for row in expected if row.option], 20)
    means = [row for row in found if not row["option"]]
    for theirs, ours in zip(means, [row for row in expected if not row.option], strict=True):
        assert float(theirs["estimate"]) == pytest.approx(ours.estimate, abs=1e-7)


@pytest.mark.r
def test_the_table_in_r_of_the_documents_has_our_estimates(survey: Survey, database: Path, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "researchers.md").read_text(encoding="utf-8")
    script, _, _ = re.findall(r"```r\n(.*?)```", page, re.DOTALL)
    ok("estimate", survey.id, "--db", database, "--to", tmp_path / "estimates.csv")
    with (tmp_path / "estimates.csv").open(encoding="utf-8", newline="") as file:
        expected = list(csv.DictReader(file))
    code = f"{script}\nwrite.csv(results, stdout(), row.names = FALSE)"
    done = subprocess.run([rscript(), "-e", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    found = list(csv.DictReader(io.StringIO(done.stdout[done.stdout.index('"question","option"') :])))
    assert len(found) == len(expected) > 20
    for theirs, ours in zip(found, expected, strict=True):
        assert (theirs["question"], theirs["n"]) == (ours["question"], ours["n"])
        assert float(theirs["percent"]) == pytest.approx(100 * float(ours["estimate"]), abs=0.051)


@pytest.mark.r
def test_r_shows_labels_as_the_documents_say(survey: Survey, database: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "researchers.md").read_text(encoding="utf-8")
    _, _, script = re.findall(r"```r\n(.*?)```", page, re.DOTALL)
    path = export(survey, database, "reports.sav")
    code = f'{script}\nwrite.csv(attr(reports, "variable.labels"), stdout())\nstopifnot(is.factor(reports$affair))'
    done = subprocess.run([rscript(), "-e", code], cwd=path.parent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    labels = dict(csv.reader(io.StringIO(done.stdout[done.stdout.index('"","x"') :])))
    question = survey.questions[0]
    assert labels[question.id] == f"Noisy report, not an answer: {question.text}"


@pytest.mark.r
def test_r_leaves_out_who_was_not_asked(tmp_path: Path) -> None:
    drawn = shared_survey(5, 2.0, results="live")
    sent = [randomize(drawn, {question.id: "yes" for question in drawn.questions}, None) for _ in range(200)]
    store = SqliteStore(tmp_path / "drawn.db")
    store.publish(drawn)
    store.store_reports([(drawn, sent)])
    store.close()
    path = tmp_path / "it's.csv"
    assert "quotes" in refused("export", drawn.id, "--db", tmp_path / "drawn.db", "--to", path, "--scripts")
    path = tmp_path / "drawn reports.sav"
    ok("export", drawn.id, "--db", tmp_path / "drawn.db", "--to", path, "--scripts")
    rows = estimate(tally_reports(sent, drawn), drawn)
    assert len({row.n for row in rows}) > 1
    assert_same_shares(by_r(path), rows, 10)


def by_r(path: Path) -> list[dict[str, str]]:
    """What the R script beside an exported file finds."""
    code = f'source("{path.stem}.R"); write.csv(results, stdout(), row.names = FALSE)'
    command = [rscript(), "-e", code]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout[done.stdout.index('"question","option"') :])))


def assert_same_shares(found: list[dict[str, str]], expected: list[EstimateRow], least: int) -> None:
    assert len(found) == len(expected) >= least
    for ours, theirs in zip(expected, found, strict=True):
        assert (theirs["question"], theirs["option"]) == (ours.question, ours.option)
        assert (int(theirs["n"]), int(theirs["count"])) == (ours.n, ours.count)
        assert float(theirs["estimate"]) == pytest.approx(ours.estimate, abs=1e-8)
        assert float(theirs["std_error"]) == pytest.approx(ours.std_error, abs=1e-8)

"""The archive of a survey: its scripts compute the published table, its codebook and its database describe it."""

from __future__ import annotations

import ast
import csv
import io
import math
import re
import sqlite3
import subprocess
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Iterable
from contextlib import closing, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from deniable import EstimateRow, Survey, estimate, read_survey, tally_reports
from deniable_commands.main import main
from deniable_server.app import create_app
from deniable_server.settings import Settings
from deniable_server.store import Store
from deniable_statistics.archive import python_script, r_script
from deniable_statistics.archive.regression_script import REGRESSION, regression_script
from deniable_statistics.archive.supplements import files_about
from deniable_statistics.intervals.restricted import feldman_cousins, likelihood_ratio_interval
from tests.support.archives import files_of
from tests.support.views import filled, reports_of
from tools.packages import rscript
from tools.rig.in_process import ended
from tools.rig.patience import PATIENCE
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import FIVE_TYPES, Clock

KINDS = survey_toml(
    "Kinds",
    question_toml("yes_no", "yes-no", truth="1/2"),
    question_toml("k_ary", "choice", options=["a", "b", 'c "d"'], epsilon=1),
    question_toml("subset", "choice", options=[*"abcdef"], mechanism="subset", epsilon=1),
    question_toml("forced", "choice", options=["a", "b", "c"], truth="1/2", forced=["1/2", "1/4", "1/4"]),
    question_toml("ticks", "ticks", options=["a", "b"], epsilon=2),
    question_toml("drawn", "ticks", options=["a", "b", "c"], goal="together", epsilon=2),
    question_toml("geometric", "scale", lo=1, hi=3, mechanism="geometric", epsilon=1),
    question_toml("mean", "number", lo=0, hi=4, mechanism="mean", epsilon=1),
    layout="page",
)
"""Questions that are estimated in every way."""

DDI = "{ddi:codebook:2_5}"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Survey, list[EstimateRow]]:
    """The archive of a survey of every mechanism, and the estimates of the library."""
    folder = tmp_path_factory.mktemp("archive")
    with ended(create_app(folder / "test.db", Clock(), Settings(rate_limit=None, fold_seconds=86_400))) as app:
        survey, reports = filled(app.extensions["deniable"]["store"], KINDS)
        response = app.test_client().get(f"/api/v1/surveys/{survey.id}/archive.zip")
        assert response.status_code == 200, response.text
        content = response.data
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder / "zip")
    # What is unpacked is one folder, named as the file, and scripts run within it.
    (unpacked,) = (folder / "zip").iterdir()
    assert response.headers["Content-Disposition"] == f"attachment; filename={unpacked.name}.zip"
    assert unpacked.name == survey.id
    return unpacked, survey, estimate(tally_reports(reports, survey), survey)


def assert_table(text: str, expected: list[EstimateRow]) -> None:
    """Compare what a script printed: points and errors, and of rows with a count the interval, to 1e-7."""
    found = {(row["question"], row["option"]): row for row in csv.DictReader(io.StringIO(text))}
    told = 0
    for row in expected:
        theirs = found.pop((row.question, row.option), None)
        if theirs is None:
            continue  # the script says which
        told += 1
        assert int(theirs["n"]) == row.n
        assert float(theirs["estimate"]) == pytest.approx(row.estimate, abs=1e-7)
        assert float(theirs["std_error"]) == pytest.approx(row.std_error, abs=1e-7)
        if theirs["count"] not in ("", "NA"):
            assert int(theirs["count"]) == row.count
            assert float(theirs["conf_low"]) == pytest.approx(row.conf_low, abs=1e-7)
            assert float(theirs["conf_high"]) == pytest.approx(row.conf_high, abs=1e-7)
    assert not found
    assert told == len(expected)


@pytest.mark.slow
def test_its_python_computes_the_published_table(
    unpacked: tuple[Path, Survey, list[EstimateRow]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _, expected = unpacked
    monkeypatch.chdir(folder)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec((folder / "estimates.py").read_text(encoding="utf-8"), {})
    assert_table(printed.getvalue(), expected)


@pytest.mark.r
def test_its_r_computes_the_published_table(unpacked: tuple[Path, Survey, list[EstimateRow]]) -> None:
    folder, _, expected = unpacked
    code = 'sink(nullfile()); source("estimates.R"); sink(); write.csv(results, stdout(), row.names = FALSE)'
    command = [rscript(), "-e", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert_table(done.stdout, expected)


@pytest.mark.slow
@pytest.mark.r
def test_its_r_has_a_table_for_each_cohort(tmp_path: Path, http: FlaskClient, store: Store) -> None:
    """Also the ends of intervals are those of ``estimates-by-cohort.csv``, in the order of the survey."""
    survey = replace(read_survey(FIVE_TYPES), results="live", cohorts=("b \u00e9", "a", "c", "nobody"))
    store.publish(survey)
    store.store_reports([(survey, reports_of(survey, 500))])
    store.settle()
    content = http.get(f"/api/v1/surveys/{survey.id}/archive.zip").data
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / survey.id
    code = 'sink(nullfile()); source("estimates.R"); sink(); write.csv(by_cohort, stdout(), row.names = FALSE)'
    command = [rscript(), "-e", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=True)
    with open(folder / "estimates-by-cohort.csv", encoding="utf-8", newline="") as file:
        published = {(row["cohort"], row["question"], row["option"]): row for row in csv.DictReader(file)}
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert list(dict.fromkeys(row["cohort"] for row in rows)) == ["b \u00e9", "a", "c"]
    for row in rows:
        theirs = published[row["cohort"], row["question"], row["option"]]
        names = ("n", "estimate", "std_error", *(("conf_low", "conf_high") if row["count"] != "NA" else ()))
        for name in names:
            assert float(row[name]) == pytest.approx(float(theirs[name]), abs=1e-7), (row, name)
    assert any(row["count"] != "NA" for row in rows)


LARGE = """
results <- NULL
for (count in {counts}) results <- rbind(results, interval(count, {n}, {a}, {b}))
write.table(results, row.names = FALSE, col.names = FALSE)
"""


@pytest.mark.r
@pytest.mark.parametrize("n", [1, 7, 60, 811, 12_000])
@pytest.mark.parametrize(("a", "b"), [(0.75, 0.25), (0.2, 0.8), (1, 0.5), (0.5, 0)])
def test_ends_of_intervals_of_scripts_are_ours(n: int, a: float, b: float) -> None:
    """Counts below, within and beyond what the design can expect; the grid of 0.001 was off by up to .1 points."""
    counts = sorted({round(n * part) for part in (0, 0.1, 0.25, 0.31, 0.5, 0.62, 0.8, 1)})
    ours = feldman_cousins if n <= 10_000 else likelihood_ratio_interval
    expected = []
    for count in counts:
        found = ours(count, n, 0.95, min(a, b), max(a, b))
        expected.append(sorted((end - b) / (a - b) for end in (found.low, found.high)))
    its: dict[str, Any] = {}
    exec(python_script.FUNCTIONS, its)
    for count, ends in zip(counts, expected, strict=True):
        assert its["interval"](count, n, a, b) == pytest.approx(ends, abs=1e-8), count
    code = r_script.INTERVAL + LARGE.format(counts=f"c({', '.join(map(str, counts))})", n=n, a=a, b=b)
    done = subprocess.run([rscript(), "-"], input=code, capture_output=True, text=True, timeout=PATIENCE, check=True)
    for line, ends in zip(done.stdout.splitlines(), expected, strict=True):
        assert [float(each) for each in line.split()] == pytest.approx(ends, abs=1e-8)


RECOMPUTE = """
for (file in list.files(folder, "[.]R$", full.names = TRUE)) {
  its <- new.env()
  sink(nullfile()); sys.source(file, its); sink()
  found <- if (!is.null(its$share)) c(its$option, its$share) else if (!is.null(its$shares)) c(0, its$shares[1]) else
    c(-1, mean(its$sent))
  cat(sub("[.]R$", "", basename(file)), format(found, digits = 10), "\\n")
}
"""
"""Prints of each question an option of which its script says the share, or -1 for a mean, and the estimate."""


def assert_estimates(found: Iterable[tuple[str, int, float]], expected: list[EstimateRow]) -> None:
    """Compare estimates of shares and means, by question and number of the option."""
    of_question: dict[str, list[EstimateRow]] = {}
    for row in expected:
        of_question.setdefault(row.question, []).append(row)
    names = set()
    for question, option, estimated in found:
        names.add(question)
        row = of_question[question][option]
        assert (row.statistic == "mean") == (option == -1)
        assert estimated == pytest.approx(row.estimate, abs=1e-7)
    assert names == set(of_question) >= {"yes_no", "subset", "geometric", "mean"}


@pytest.mark.parametrize("where", [".", "recompute"])
def test_python_recomputes_each_question_from_the_file_in_the_archive(
    unpacked: tuple[Path, Survey, list[EstimateRow]], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    folder, _, expected = unpacked
    monkeypatch.chdir(folder / where)
    found = []
    for script in sorted((folder / "recompute").glob("*.py")):
        text, its = script.read_text(encoding="utf-8"), dict[str, Any]()
        assert "://" not in text
        with redirect_stdout(io.StringIO()):
            exec(text, its)
        if "share" in its:
            found.append((script.stem, its["option"], its["share"]))
        elif "shares" in its:
            found.append((script.stem, 0, its["shares"][0]))
        else:
            found.append((script.stem, -1, its["sent"].mean()))
    assert_estimates(found, expected)


@pytest.mark.r
@pytest.mark.parametrize(("where", "scripts"), [(".", "recompute"), ("recompute", ".")])
def test_r_recomputes_each_question_from_the_file_in_the_archive(
    unpacked: tuple[Path, Survey, list[EstimateRow]], where: str, scripts: str
) -> None:
    folder, _, expected = unpacked
    assert not [each for each in (folder / "recompute").glob("*.R") if "://" in each.read_text(encoding="utf-8")]
    command = [rscript(), "-e", f'folder <- "{scripts}"{RECOMPUTE}']
    done = subprocess.run(command, cwd=folder / where, capture_output=True, text=True, timeout=PATIENCE, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert_estimates(((name, int(float(option)), float(value)) for name, option, value in lines), expected)


@pytest.mark.slow
def test_its_other_scripts_name_every_row(unpacked: tuple[Path, Survey, list[EstimateRow]]) -> None:
    folder, _, expected = unpacked
    stata, spss = ((folder / f"estimates{each}").read_text(encoding="utf-8") for each in (".do", ".sps"))
    assert stata.count("deniable_share `results' ") + stata.count("deniable_scored `results' ") == len(expected)
    assert spss.count("PRINT /'") == len(expected)
    assert "invchi2(1, 0.95)" in stata
    assert "!interval" in spss
    # An exponential below the smallest number is missing in GNU PSPP, and so is a sum that holds it.
    assert spss.count("EXP(") == spss.count("EXP(MAX(-700, ") == 1


@pytest.mark.slow
def test_its_database_holds_what_its_tables_hold(unpacked: tuple[Path, Survey, list[EstimateRow]]) -> None:
    folder, survey, expected = unpacked
    with closing(sqlite3.connect(f"file:{folder / 'survey.db'}?mode=ro&immutable=1", uri=True)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        for name in ("reports", "estimates", "estimates_by_cohort"):
            rows = list(csv.reader((folder / f"{name.replace('_', '-')}.csv").read_text("utf-8").splitlines()))
            kept = db.execute(f"SELECT * FROM {name} ORDER BY rowid").fetchall()
            for ours, theirs in zip(rows[1:], kept, strict=True):
                # A count may be of weights elsewhere, so its column is of numbers with a point.
                shown = ["" if each is None else str(each).removesuffix(".0") for each in theirs]
                assert shown == [each.removesuffix(".0") for each in ours]
            assert [each[1] for each in db.execute(f"PRAGMA table_info({name})")] == rows[0]
        assert db.execute("SELECT count(*) FROM questions").fetchone() == (len(survey.questions),)
        found = db.execute(
            "SELECT questions.mechanism, options.a, estimates.estimate FROM estimates JOIN questions "
            "ON questions.id = question JOIN options USING (question, option) WHERE question = 'yes_no'"
        ).fetchall()
        assert found == [("two-coin", "3/4", row.estimate) for row in expected[:2]]
        about = dict(db.execute("SELECT * FROM about").fetchall())
        assert (about["survey"], about["release"]) == (survey.id, "1")


@pytest.mark.slow
def test_its_codebook_describes_every_column(unpacked: tuple[Path, Survey, list[EstimateRow]]) -> None:
    folder, _, _ = unpacked
    book = ElementTree.parse(folder / "codebook.xml")
    names = [each.attrib["name"] for each in book.iter(f"{DDI}var")]
    assert names == (folder / "reports.csv").read_text(encoding="utf-8").splitlines()[0].split(",")


@pytest.mark.slow
def test_its_readme_names_every_file(unpacked: tuple[Path, Survey, list[EstimateRow]]) -> None:
    folder, survey, _ = unpacked
    text = (folder / "README.txt").read_text(encoding="utf-8")
    for path in folder.iterdir():
        # One sentence is about the scripts of four programs.
        assert path.name in text or path.name.startswith("estimates.") or path.name == "README.txt", path
    assert {path.suffix for path in folder.glob("estimates.*")} == {".csv", ".R", ".do", ".sps", ".py"}
    assert "REHEARSAL" not in text
    assert f"/s/{survey.id}/results?release=1" in " ".join(text.split())
    assert "To recompute a share" in text
    assert "To recompute a regression" in text
    assert (folder / REGRESSION).read_bytes() == regression_script()
    assert f"{REGRESSION} fits regressions in R" in text
    assert max(map(len, text.splitlines())) <= 100


def test_its_codebook_in_markdown_is_that_of_the_command(tmp_path: Path) -> None:
    survey = read_survey(KINDS)
    (tmp_path / "survey.json").write_bytes(survey.document)
    printed = CliRunner().invoke(main, ["codebook", str(tmp_path / "survey.json")], catch_exceptions=False).stdout
    assert dict(files_about(survey))["codebook.md"].decode() == printed


def test_of_a_survey_that_keeps_tallies_has_no_rows_and_no_scripts(http: FlaskClient, store: Store) -> None:
    survey = replace(read_survey(FIVE_TYPES), results="batches", release=50, retention="tallies")
    store.publish(survey)
    store.store_reports(
        [(survey, [replace(each, cohort=None) for each in reports_of(replace(survey, cohorts=("a", "b", "c")), 60)])]
    )
    store.settle()
    content = http.get(f"/api/v1/surveys/{survey.id}/archive.zip").data
    names = set(files_of(content))
    assert {"survey.db", "codebook.md", "codebook.xml", "estimates.csv", "README.txt"} <= names
    readme = files_of(content)["README.txt"].decode()
    assert "none can be computed" in " ".join(readme.split())
    assert "Rscript" not in readme
    assert "reports.csv has" not in readme
    assert not names & {"reports.csv", "estimates.py", "estimates.R", REGRESSION}


@pytest.mark.parametrize("text", ["'; import os #", "*/ $x `y' \"", "\u0646\u0639\u0645 \\ \"\"\" '''"])
def test_texts_of_authors_are_texts_in_every_script(text: str) -> None:
    survey = read_survey(survey_toml(text, question_toml("q", "choice", text, options=[text, "b", "c"], epsilon=1)))
    files = {name: content.decode() for name, content in files_about(survey)}
    tree = list(ast.walk(ast.parse(files["estimates.py"])))
    assert [node.value for node in tree if isinstance(node, ast.Constant)].count(text) == 1
    assert not [node for node in tree if getattr(node, "id", "") == "os"]
    (stata,) = re.findall('label define option 1 "(.*)", add', files["estimates.do"])
    spss = re.findall("PRINT /'(.*?): '", files["estimates.sps"])[0]
    for line in (stata, spss):
        assert not set("`$'\"\\") & set(line), line
    assert files["estimates.R"].isascii()


@pytest.mark.r
def test_r_regresses_from_the_archive_alone(tmp_path: Path, http: FlaskClient, store: Store) -> None:
    """With nothing that Python writes afterwards: the script, the codebook and the reports are in the archive."""
    survey, reports = filled(store, survey_toml("Regressed", question_toml("affair", "yes-no", epsilon=2.0)))
    content = http.get(f"/api/v1/surveys/{survey.id}/archive.zip").data
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path)
    code = 'source("regression.R"); cat(coef(noisy_regression(affair ~ cohort, "reports.csv")))'
    command = [rscript(), "-e", code]
    folder = tmp_path / survey.id
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=True)
    found = list(map(float, done.stdout.split()))
    # The first cohort is the reference: log odds of its share, and differences of those of the others to it.
    logits = []
    for cohort in sorted(survey.cohorts):
        own = [each for each in reports if each.cohort == cohort]
        (_, yes) = estimate(tally_reports(own, survey), survey)
        assert yes.estimate is not None
        logits.append(math.log(yes.estimate / (1 - yes.estimate)))
    assert found == pytest.approx([logits[0], *(each - logits[0] for each in logits[1:])], abs=1e-3)

"""``deniable analyze shares --from``: exported rows give the figures of the collector's own tallies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import duckdb
import numpy as np
import pytest

from deniable import Report, Survey, read_survey, tally_reports
from deniable.errors import DeniableError
from deniable_client import randomize
from deniable_research.engine import open_source
from deniable_research.engine.tallies import count_tallies
from deniable_server.store.sqlite.store import SqliteStore
from deniable_server.store.tables import rows_from
from deniable_statistics.data.folder import write_folder
from deniable_statistics.data.manifest import FORMATS
from tests.support.drawn_questions import joint_survey, shared_survey
from tests.support.marks import long
from tests.support.same_figures import assert_same_row
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import EVERY_KIND, FIVE_TYPES, person

ESTIMATE, SHARES = CommandLine("estimate"), CommandLine("analyze", "shares")

LABELS = ("01", "=1+1", "'=x", "NA", " web", "Grüße\nan alle", "nobody")
"""Labels that programs take for something else; nobody is in the last one."""

LARGE = survey_toml(
    "More reports than are counted one by one",
    question_toml("subset", "choice", "?", options=[*"abcdefghijklmnop"], mechanism="subset", epsilon="0.5"),
    question_toml("boxes", "ticks", "?", options=[*"abcdefghijkl"], goal="together", epsilon=3),
    question_toml("drawn", "ticks", "?", options=[*"abcdefghijkl"], epsilon=2),
    question_toml("mean", "number", "?", lo=0, hi=5000, epsilon=1),
    cohorts=LABELS,
    results="live",
)

SURVEYS: dict[str, Callable[[], Survey]] = {
    "five types": lambda: replace(read_survey(FIVE_TYPES), cohorts=LABELS),
    "large": lambda: read_survey(LARGE),
    "every kind": lambda: replace(read_survey(EVERY_KIND), cohorts=LABELS[:1], results="live"),
    "shared epsilon": lambda: shared_survey(5, 2.0, draw=2, results="live", cohorts=LABELS[:3]),
    "joint response": lambda: replace(joint_survey(3, 4, 2), results="live", cohorts=LABELS[:3]),
    "no cohorts": lambda: read_survey(FIVE_TYPES),
}


def made_up(survey: Survey, n: int) -> list[Report]:
    """Reports of people who answer anything."""
    dice = np.random.default_rng(7)
    labels = (*[each for each in survey.cohorts if each != "nobody"], None)

    def answer(question_id: str) -> object:
        question = survey.question(question_id)
        if question.type == "ticks":
            return [each for each in question.options if dice.random() < 0.3]
        if question.type == "number":
            return int(dice.integers(0, 5))
        return question.options[int(dice.integers(len(question.options)))]

    return [
        randomize(survey, {each.id: answer(each.id) for each in survey.questions}, labels[k % len(labels)])
        for k in range(n)
    ]


@pytest.fixture(scope="module", params=SURVEYS)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Survey, Path]:
    """A database with a survey and reports."""
    survey = SURVEYS[request.param]()
    path = tmp_path_factory.mktemp("filled") / "reports.db"
    store = SqliteStore(path)
    store.publish(survey)
    store.store_reports([(survey, made_up(survey, 400))])
    store.close()
    return survey, path


def export(filled: tuple[Survey, Path], to: Path, *more: str) -> Path:
    survey, path = filled
    CommandLine("export").ok(survey.id, "--db", path, "--to", to, *more)
    return to


@pytest.mark.slow
@pytest.mark.parametrize("by_cohort", [long(False), True])
@pytest.mark.parametrize("form", [each if each == "parquet" else long(each) for each in FORMATS])
def test_tallies_are_those_of_the_reports(
    filled: tuple[Survey, Path], tmp_path: Path, form: str, by_cohort: bool
) -> None:
    survey, path = filled
    folder = export(filled, tmp_path / "out", "--format", form, *(["--by-cohort"] if by_cohort else []))
    store = SqliteStore(path)
    expected = store.tallies(survey)
    assert expected == tally_reports(store.reports(survey), survey)
    store.close()
    for engine in ("duckdb", "duckdb://"):  # within this process by its name, and by its address
        assert count_tallies(open_source(folder, engine), survey) == expected


def assert_same_figures(survey: Survey, path: Path, folder: Path, *options: str) -> None:
    """Every row of the collector has the same figures, counted from the export.

    A collector computes its rows together, an analysis one by one: sums in another order differ in their last bits.
    """

    def rows(command: CommandLine, *where: object) -> dict[tuple[object, ...], dict[str, object]]:
        document = json.loads(command.ok(*where, *options, "--format", "json"))
        return {(row["question"], row["option"], row["cohort"], row["statistic"]): row for row in document["estimates"]}

    own, exported = rows(ESTIMATE, survey.id, "--db", path), rows(SHARES, "--from", folder)
    assert len(own) >= 2
    assert exported.keys() == own.keys()
    for key, row in own.items():
        assert_same_row({name: exported[key].get(name) for name in row}, row)


@pytest.mark.slow
@pytest.mark.parametrize("options", [long((), name="together"), pytest.param(("--by", "cohort"), id="by cohort")])
def test_figures_are_those_of_the_collectors_database(
    filled: tuple[Survey, Path], tmp_path: Path, options: tuple[str, ...]
) -> None:
    survey, path = filled
    assert_same_figures(survey, path, export(filled, tmp_path / "out", "--format", "parquet", "--by-cohort"), *options)


@pytest.mark.slow
def test_every_option_does_the_same(mixed: tuple[Survey, Path], tmp_path: Path) -> None:
    survey, folder = mixed
    store = SqliteStore(tmp_path / "reports.db")
    store.publish(survey)
    store.store_reports([(survey, sixty(survey))])
    store.close()
    for options in (
        ("--by", "cohort", "--confidence", "0.9", "--simultaneous"),
        ("--target", "respondents", "--method", "wilson"),
        ("--misbehaving", "0.05", "--misbehaviour", "lying"),
        ("--by", "cohort", "--assume-fake", "0.02"),
    ):
        assert_same_figures(survey, tmp_path / "reports.db", folder, *options)


@pytest.mark.slow
def test_no_reports_give_the_rows_of_none(tmp_path: Path) -> None:
    survey = replace(read_survey(FIVE_TYPES), cohorts=("paper", "web"))
    store = SqliteStore(tmp_path / "empty.db")
    store.publish(survey)
    store.close()
    for form in FORMATS:
        write_folder(survey, [], tmp_path / form, form)
        assert count_tallies(open_source(tmp_path / form), survey) == {}
        assert_same_figures(survey, tmp_path / "empty.db", tmp_path / form)


@lru_cache
def sixty(survey: Survey) -> tuple[Report, ...]:
    """Reports of twenty people in each cohort, and of twenty in none."""
    return tuple(randomize(survey, person(n), ("paper", "web", None)[n % 3]) for n in range(60))


@pytest.fixture
def mixed(tmp_path: Path) -> tuple[Survey, Path]:
    """A survey and the export of its reports."""
    survey = replace(read_survey(FIVE_TYPES), cohorts=("paper", "web"))
    write_folder(survey, rows_from(survey, sixty(survey)), tmp_path / "out", "parquet")
    return survey, tmp_path / "out"


@pytest.mark.slow
def test_rows_of_elsewhere_need_the_survey(mixed: tuple[Survey, Path], tmp_path: Path) -> None:
    survey, folder = mixed
    parts = folder / "reports"
    assert "say what the columns hold" in SHARES.refused("--from", parts)
    file = tmp_path / "survey.json"
    file.write_bytes(survey.document)
    assert SHARES.ok("--from", parts, "--survey", file) == SHARES.ok("--from", folder)
    toml = tmp_path / "survey.toml"
    toml.write_text(survey_toml("Another", question_toml("affair", "yes-no", "?", truth="1/2")), encoding="utf-8")
    said = SHARES.refused("--from", folder, "--survey", toml)
    assert f"survey: must be that of the export out, {survey.id}" in said


@pytest.mark.slow
def test_rows_that_are_no_reports_of_the_survey_are_refused(mixed: tuple[Survey, Path], tmp_path: Path) -> None:
    survey, folder = mixed

    def says(change: str) -> str:
        file = tmp_path / "changed.parquet"
        file.unlink(missing_ok=True)
        duckdb.execute(f"COPY (SELECT * {change} FROM '{folder}/reports/*.parquet') TO '{file}'")
        return refused_by_counting(file, survey)

    some = f"id = (SELECT min(id) FROM '{folder}/reports/*.parquet')"
    assert "column 'affair': must hold" in says("REPLACE (7 AS affair)")
    assert "column 'drinks': must hold a report in every row, got 1 without" in says(
        f"REPLACE (CASE WHEN {some} THEN NULL ELSE drinks END AS drinks)"
    )
    assert "column 'drugs': must hold" in says(f"REPLACE (CASE WHEN {some} THEN 'b01' ELSE drugs END AS drugs)")
    assert "column 'cohort': must hold cohorts of the survey or nothing, got something else in 1 rows" in says(
        f"REPLACE (CASE WHEN {some} THEN 'mars' ELSE cohort END AS cohort)"
    )
    assert "column 'cohort': must be one of the columns" in says("EXCLUDE (cohort)")
    assert "column 'trust': must be one of the columns" in says("EXCLUDE (trust)")


def refused_by_counting(rows: Path, survey: Survey) -> str:
    with pytest.raises(DeniableError) as caught:
        count_tallies(open_source(rows), survey)
    return str(caught.value)


def test_reports_without_a_cohort_that_must_have_one_are_refused(mixed: tuple[Survey, Path]) -> None:
    survey, folder = mixed
    strict = replace(survey, cohort_required=True)
    said = refused_by_counting(folder / "reports", strict)
    assert "column 'cohort': must hold a cohort in every row, got 20 without" in said


@pytest.mark.slow
def test_cohorts_that_only_spaces_tell_apart_are_refused(tmp_path: Path) -> None:
    survey = replace(read_survey(FIVE_TYPES), cohorts=("web", "web "))
    sent = [randomize(survey, person(n), "web") for n in range(3)]
    write_folder(survey, rows_from(survey, sent), tmp_path / "out", "csv")
    assert "must differ by more than spaces" in refused_by_counting(tmp_path / "out", survey)


def test_estimate_names_the_command_that_takes_rows() -> None:
    said = ESTIMATE.refused("--from", "exports/", "--survey", "my-survey.toml")
    assert "--from: shares of rows are estimated by 'deniable analyze shares --from SOURCE'" in said
    assert "Missing argument 'ID|LINK'" in ESTIMATE.refused()


def test_a_part_that_is_gone_is_an_error_here_too(mixed: tuple[Survey, Path]) -> None:
    _, folder = mixed
    next(folder.rglob("*.parquet")).unlink()
    assert "must hold reports/part-00000.parquet, as manifest.json says, got none" in SHARES.refused("--from", folder)

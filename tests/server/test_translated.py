"""Every file that is written of a survey in two languages: its default language, cut where a format ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet as pq
import pyreadstat
import pytest

from deniable import Report, Survey, read_survey
from deniable.survey.texts import Text
from deniable_client import randomize
from deniable_server.store.sqlite.store import SqliteStore
from deniable_statistics.data.manifest import FORMATS
from deniable_statistics.data.survey_data import reports_data
from deniable_statistics.data.writing import WRITERS
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml

ok = CommandLine().ok

TRANSLATED = "Übersetzt"


def both(text: str, longest: int = 200) -> dict[str, str]:
    """A text in two languages, of which the second one belongs into no file."""
    return {"default": text, "de": f"{TRANSLATED} {text}"[:longest]}


def bilingual(title: str = "Life", question: str = "Ever?", option: str = "town") -> Survey:
    """A survey of every question type whose every text has a translation."""
    asked = both(question, 4000)
    return read_survey(
        survey_toml(
            both(title),
            question_toml("affair", "yes-no", asked, decline=both("Not said"), epsilon=1),
            question_toml("place", "choice", asked, options=[both(option), both("b"), both("c")], epsilon=1),
            question_toml("drugs", "ticks", asked, options=[both("x"), both("y")], epsilon=1),
            question_toml("trust", "scale", asked, lo=1, hi=5, ends=[both("not"), both("fully")], epsilon=1),
            question_toml("stars", "rating", asked, stars=3, ends=[both("bad"), both("good")], epsilon=1),
            question_toml("drinks", "number", asked, lo=0, hi=9, epsilon=1),
            organiser=both("Institute"),
            about=both("Why we ask", 4000),
            cohorts=["web", "Zürich"],
            release=50,
        )
    )


def reports(survey: Survey) -> Iterator[Report]:
    """As many noisy reports as make a release."""
    answers: dict[str, Any] = {
        "affair": "yes",
        "place": survey.question("place").options[0],
        "drugs": ["x"],
        "trust": 3,
        "stars": 2,
    }
    for _ in range(50):
        yield randomize(survey, {**answers, "drinks": 4}, "web")


@pytest.fixture
def survey() -> Survey:
    return bilingual()


@pytest.fixture
def database(survey: Survey, tmp_path: Path) -> Path:
    return stored(survey, tmp_path)


def stored(survey: Survey, folder: Path) -> Path:
    store = SqliteStore(folder / "reports.db")
    store.publish(survey)
    store.store_reports([(survey, list(reports(survey)))])
    store.close()
    return folder / "reports.db"


def everything_in(path: Path) -> str:
    """What a file says, as far as its bytes are text; of a workbook the cells."""
    if path.suffix == ".xlsx":
        book = openpyxl.load_workbook(path)
        return "\n".join([str(book.properties.title), *(str(row) for sheet in book for row in sheet.values)])
    return path.read_bytes().decode("utf-8", errors="replace")


@pytest.mark.parametrize("suffix", WRITERS)
def test_reports_and_estimates_are_exported_in_the_default_language(
    suffix: str, survey: Survey, database: Path
) -> None:
    for command in ("export", "estimate"):
        path = database.with_name(f"{command}{suffix}")
        ok(command, survey.id, "--db", database, "--to", path)
        assert TRANSLATED not in everything_in(path)


def test_labels_of_statistical_programs_are_in_the_default_language(survey: Survey, database: Path) -> None:
    for suffix, read in ((".dta", pyreadstat.read_dta), (".sav", pyreadstat.read_sav)):
        path = database.with_name(f"reports{suffix}")
        ok("export", survey.id, "--db", database, "--to", path)
        _, about = read(path)
        assert about.file_label == "Life"
        assert about.column_names_to_labels["place"] == "Noisy report, not an answer: Ever?"
        assert about.variable_value_labels["place"] == {0: "town", 1: "b", 2: "c"}
        assert about.variable_value_labels["affair"][2] == "Not said"
        assert about.variable_value_labels["stars"] == {0: "1 \u2013 bad", 1: "2", 2: "3 \u2013 good"}
    path = database.with_name("reports.parquet")
    ok("export", survey.id, "--db", database, "--to", path)
    assert pq.read_schema(path).metadata[b"title"] == b"Life"


@pytest.mark.parametrize("form", FORMATS)
def test_folders_are_exported_in_the_default_language(form: str, survey: Survey, database: Path) -> None:
    folder = database.with_name("folder")
    ok("export", survey.id, "--db", database, "--to", folder, "--format", form, "--by-cohort")
    written = [path for path in folder.rglob("*") if path.is_file() and path.name != "survey.json"]
    assert {path.suffix for path in written} == {".json", f".{form}"}
    assert not any(TRANSLATED in everything_in(path) for path in written)


def test_scripts_and_codebooks_are_written_in_the_default_language(survey: Survey, database: Path) -> None:
    ok("export", survey.id, "--db", database, "--to", database.with_name("reports.csv"), "--scripts")
    published = database.with_name("survey.json")
    published.write_bytes(survey.document)
    for name in ("codebook.md", "codebook.xml"):
        ok("codebook", published, "--to", database.with_name(name))
    for name in ("reports.R", "reports.do", "codebook.md", "codebook.xml"):
        written = everything_in(database.with_name(name))
        assert TRANSLATED not in written
        assert ("Ever?" if name.startswith("codebook") else "town") in written


def test_data_sets_hold_plain_texts_whatever_they_are_made_of(survey: Survey) -> None:
    data = reports_data(survey, reports(survey))
    texts: list[Any] = [data.title]
    for variable in data.variables:
        texts += [variable.name, variable.label, *variable.labels.values()]
    texts += [value for column in data.columns for value in column if isinstance(value, str)]
    assert not any(isinstance(text, Text) for text in texts)


@pytest.mark.parametrize("letter", ["x", "ü", "漢", "🦊"])
def test_labels_are_cut_where_each_format_ends(letter: str, tmp_path: Path) -> None:
    survey = bilingual(title=letter * 200, question=letter * 500, option=letter * 200)
    database = stored(survey, tmp_path)
    whole = f"Noisy report, not an answer: {letter * 500}"
    for suffix, read, limits, size in (
        (
            ".dta",
            pyreadstat.read_dta,
            {"file": min(80, 256 // len(letter.encode())), "variable": 80, "value": 200},
            len,
        ),
        (".sav", pyreadstat.read_sav, {"file": 64, "variable": 255, "value": 120}, lambda text: len(text.encode())),
    ):
        path = tmp_path / f"reports{suffix}"
        ok("export", survey.id, "--db", database, "--to", path)
        _, about = read(path)
        found = {
            "file": (about.file_label, letter * 200),
            "variable": (about.column_names_to_labels["place"], whole),
            "value": (about.variable_value_labels["place"][0], letter * 200),
        }
        for kind, (label, text) in found.items():
            assert label is not None
            kept = label.removesuffix("…")
            assert text.startswith(kept), (suffix, kind)
            assert size(label) <= limits[kind], (suffix, kind)
            # Nothing is cut that would fit, and what was cut says so.
            assert (label == text) if size(text) <= limits[kind] else label.endswith("…"), (suffix, kind)
            assert label == text or size(f"{kept}{letter}…") > limits[kind], (suffix, kind)

"""Labels in the place of names of questions and columns, in tables for papers and in plots."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from deniable import ParameterError, TickBoxes
from deniable_research import read
from deniable_research.files import Layout, Table, regress
from deniable_research.files.labels import Names, labelled, labelled_notes
from deniable_research.files.model_tables import FittedModel
from deniable_research.files.panels import crosstab_panels, term_panels
from deniable_research.files.paper import paper_table
from deniable_research.files.result_rows import CrosstabRow
from deniable_research.regression.term_labels import expression_label
from deniable_statistics.designs.of_mechanisms import design_of
from tests.support.analyzing import STUDY, ok, refused

LABELS = {"affair": "Infidelity, past year", "drugs": "Drug use", "age": "Age in years", "wave": "Wave of the study"}
OPTIONS = [text for name, label in LABELS.items() for text in ("--label", f"{name}={label}")]


def model_of(study: Table, formula: str) -> FittedModel:
    return FittedModel.of(formula, regress(study, formula), 0.95, None, "wald")


def texts_of(picture: Path) -> set[str]:
    return {element.text or "" for element in ET.parse(picture).iter("{http://www.w3.org/2000/svg}text")}


def test_the_table_of_a_model_shows_labels_and_no_formula(study: Table) -> None:
    table = paper_table([model_of(study, "affair ~ drugs * C(wave) + I(age ** 2)")], labels=LABELS)
    assert table.header == ("", "Infidelity, past year")
    assert [row[0] for row in table.body[::2]] == [
        "Intercept",
        "Drug use (yes)",
        "Wave of the study (2025)",
        "Wave of the study (2026)",
        "Age in years\u00b2",
        "Drug use (yes) \u00d7 Wave of the study (2025)",
        "Drug use (yes) \u00d7 Wave of the study (2026)",
    ]
    assert "Infidelity, past year: yes against no." in table.notes
    assert "Reference categories: Drug use (no), Wave of the study (2024)." in table.notes
    assert not any("~" in note for note in table.notes)


def test_each_column_of_several_models_has_its_outcome(study: Table) -> None:
    models = [model_of(study, "affair ~ age"), model_of(study, "drugs ~ log(age)")]
    table = paper_table(models, labels={"affair": "Infidelity", "age": "Age"})
    assert table.header == ("", "(1) Infidelity", "(2) drugs")
    assert [row[0] for row in table.body[::2]] == ["Intercept", "Age", "log(Age)"]
    assert not any("~" in note for note in table.notes)
    assert any(note.startswith("(2) ") for note in table.notes), "the message of the second model keeps its number"


def test_a_linear_model_has_labels_too(study: Table) -> None:
    model = FittedModel.of("income ~ drugs", regress(study, "income ~ drugs"), 0.95)
    table = paper_table([model], labels={"income": "Income (EUR)", "drugs": "Drug use"})
    assert table.header == ("", "Income (EUR)")
    assert [row[0] for row in table.body[::2]] == ["Intercept", "Drug use (yes)"]
    assert "Reference categories: Drug use (no)." in table.notes


def test_the_title_of_a_forest_plot_is_the_outcome(study: Table) -> None:
    models = [model_of(study, "affair ~ age + drugs"), model_of(study, "affair ~ age")]
    (panel,) = term_panels(models[:1], labels=LABELS)
    assert panel.title == "Infidelity, past year"
    assert {mark.line for mark in panel.marks} == {"Age in years", "Drug use (yes)"}
    (panel,) = term_panels(models, odds_ratios=True, labels=LABELS)
    assert panel.title == "Infidelity, past year: odds ratios"
    assert {mark.series for mark in panel.marks} == {"(1)", "(2)"}
    (panel,) = term_panels([models[0], model_of(study, "drugs ~ age")], labels=LABELS)
    assert panel.title == "2 models"
    assert {mark.series for mark in panel.marks} == {"(1) Infidelity, past year", "(2) Drug use"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("log(`net income`)", "log(Income)"),
        ("net income", "Income"),
        ("age > 30", "years > 30"),
        ("average + age.new", "average + age.new"),
        ("drugs[speed]", "Drugs (speed)"),
        ("sex == 'age'", "sex == 'age'"),
    ],
)
def test_names_in_an_expression_are_replaced_and_nothing_else(text: str, expected: str) -> None:
    assert expression_label(text, {"age": "years", "net income": "Income", "drugs": "Drugs"}) == expected


def test_the_command_writes_labels_into_the_table_and_the_plot_and_prints_names(tmp_path: Path) -> None:
    table, picture = tmp_path / "table.md", tmp_path / "forest.svg"
    printed = ok("regress", *STUDY, "affair ~ drugs", "--interval", "wald", *OPTIONS, "--to", table, "--plot", picture)
    assert "drugs[T.yes]" in printed
    written = table.read_text(encoding="utf-8")
    assert "| Drug use (yes) |" in written
    assert "Drug use: the crosswise model with p = 0.1667 of" in written
    assert "drugs" not in written
    assert {"Infidelity, past year", "Drug use (yes)"} <= texts_of(picture)
    assert not any("~" in text for text in texts_of(picture))


@pytest.mark.parametrize(
    ("analysis", "arguments", "expected"),
    [
        ("shares", ["affair", "--by", "wave"], {"Infidelity, past year", "Wave of the study"}),
        ("sensitivity", ["affair", "--steps", "1"], {"Infidelity, past year"}),
        ("compare", ["affair", "--by", "wave"], {"Infidelity, past year"}),
        ("crosstab", ["affair", "drugs"], {"Infidelity, past year", "Drug use"}),
        pytest.param(
            "predict",
            ["affair ~ drugs + age", "--at", "age=30", "--effects"],
            {"Drug use", "Age in years=30"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_labels_stand_in_the_table_of_every_analysis(
    tmp_path: Path, analysis: str, arguments: list[str], expected: set[str]
) -> None:
    table, picture = tmp_path / "table.md", tmp_path / "plot.svg"
    printed = ok(analysis, *STUDY, *arguments, *OPTIONS, "--to", table, "--plot", picture)
    assert not any(label in printed for label in LABELS.values())
    written = table.read_text(encoding="utf-8")
    cells = {cell.strip() for line in written.splitlines() for cell in line.split("|")}
    assert expected <= cells
    assert "| affair |" not in written
    assert "Infidelity, past year: forced response, the truth with p = 0.6667 and" in written
    assert not any("affair" in text for text in texts_of(picture))


def test_a_label_of_nothing_is_answered_with_the_names_that_there_are() -> None:
    message = refused("regress", *STUDY, "affair ~ age", "--label", "afair=Infidelity", "--to", "table.md")
    assert "must be of one of affair, drugs, theft, person, arm, wave, age, income, w, psu, got 'afair'" in message
    assert "got 'afair'; did you mean 'affair'?" in message
    assert 'like affair="Infidelity, past year", got' in refused("shares", *STUDY, "--label", "affair", "--to", "t.md")
    twice = ("--label", "affair=A", "--label", "affair=B", "--to", "t.md")
    assert "must be given once for 'affair'" in refused("shares", *STUDY, *twice)
    assert "--label goes with a table for a paper" in refused("shares", *STUDY, "--label", "affair=A", "--to", "t.csv")


def test_a_label_of_a_part_is_of_a_box_that_there_is(study: Table) -> None:
    for part in ("typo", "yes"):  # options have no labels, so that one of an option would do nothing
        message = refused("shares", *STUDY, "--label", f"drugs[{part}]=X", "--to", "t.md")
        assert f"must be of drugs as a whole, whose options (no, yes) keep their names, got 'drugs[{part}]'" in message
    boxes = replace(study.layout.question("drugs"), name="party", design=design_of(TickBoxes(2, "3/4")))
    names = Names(Layout((boxes,)), ("age",))
    assert names.checked({"party[yes]": "Ticked"}) == {"party[yes]": "Ticked"}
    with pytest.raises(ParameterError, match=r"got 'party\[yess\]'; did you mean 'party\[yes\]'\?$"):
        names.checked({"party[yess]": "X"})
    for wrong in ("party[typo]", "party[yes", "party[]"):
        with pytest.raises(ParameterError, match=r"^label: must be of party or of a box of it \(party\[no\], party"):
            names.checked({wrong: "X"})
    with pytest.raises(
        ParameterError, match=r"^label: must be of one of party, age, got 'part'; did you mean 'party'\?$"
    ):
        names.checked({"part": "X"})


def test_two_names_never_get_one_label(study: Table) -> None:
    names = Names(study.layout, tuple(study.columns))
    assert names.checked({"affair": "drugs", "drugs": "affair"}) == {"affair": "drugs", "drugs": "affair"}
    for labels in ({"affair": "A", "drugs": "A"}, {"affair": "drugs"}):
        with pytest.raises(ParameterError, match=r"^label: must differ for affair and drugs, got"):
            names.checked(labels)
    with pytest.raises(ParameterError, match="must not be empty"):
        names.checked({"affair": " "})


def test_the_answers_of_a_crosstab_stay() -> None:
    row = CrosstabRow("joint", "a", "b", "b", "a", estimate=0.5, conf_low=0.4, conf_high=0.6)
    (found,) = labelled([row], {"a": "First", "b": "Second"})
    assert (found.first, found.first_option, found.second, found.second_option) == ("First", "b", "Second", "a")
    (panel,) = crosstab_panels([found])
    assert (panel.title, panel.marks[0].line) == ("First: b", "Second: a")


def test_notes_keep_what_only_looks_like_a_name() -> None:
    notes = ["drugs[speed]: direct.", "drugs (direct): warner.", "about drugs: none", "12 rows were left out."]
    labels = {"drugs": "Drugs"}
    assert labelled_notes(notes, labels) == ["Drugs (speed): direct.", "Drugs (direct): warner.", *notes[2:]]


def test_python_takes_labels_where_tables_and_plots_are_made(tmp_path: Path) -> None:
    table = pd.DataFrame({"q": ["yes"] * 430 + ["no"] * 570, "wave": ["a", "b"] * 500})
    results = read(table, "q: forced-response truth=1/2")
    labels = {"q": "Cannabis use", "wave": "Wave"}
    model = results.regress("q ~ wave")
    assert "Cannabis use" in model.markdown(labels=labels)
    assert model.paper(labels=labels).header == ("", "Cannabis use")
    assert model.odds_ratios(labels=labels).panels[0].title == "Cannabis use: odds ratios"
    assert model.plot(labels=labels).panels[0].title == "Cannabis use"
    assert results.shares().plot(labels=labels).panels[0].title == "Cannabis use"
    results.compare("q", "wave").save(tmp_path / "compare.md", labels=labels)
    assert "| Cannabis use |" in (tmp_path / "compare.md").read_text(encoding="utf-8")
    for make in (model.markdown, model.plot, model.odds_ratios, results.shares().plot):
        with pytest.raises(ParameterError, match=r"^label: must be of one of q, wave, got 'cohort'$"):
            make(labels={"cohort": "Group"})

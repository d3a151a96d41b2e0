"""Codebooks: every column with its codes and exact probabilities, for people and for archives."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from deniable import read_survey
from deniable_research.codebook import Codebook, to_ddi, to_markdown
from deniable_research.files import Layout, quick_question, read_layout
from deniable_statistics.archive.regression_script import REGRESSION, regression_script
from tests.support.analyzing import DATA
from tests.support.drawn_questions import shared_survey
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import EVERY_KIND, FIVE_TYPES, SURVEY

CODEBOOK = CommandLine("codebook")
DDI = "{ddi:codebook:2_5}"

ORDER = {
    "codeBook": ("stdyDscr", "dataDscr"),
    "stdyDscr": ("citation", "stdyInfo"),
    "citation": ("titlStmt",),
    "titlStmt": ("titl", "IDNo"),
    "stdyInfo": ("abstract",),
    "dataDscr": ("var",),
    "var": (
        "labl",
        "security",
        "qstn",
        "invalrng",
        "universe",
        "txt",
        "catgry",
        "derivation",
        "varFormat",
    ),
    "qstn": ("qstnLit", "forward", "backward"),
    "invalrng": ("item",),
    "catgry": ("catValu", "labl"),
    "derivation": ("drvdesc", "drvcmd"),
}
"""Of DDI-Codebook 2.5 the elements that we use, each with its children in the order of the specification."""

ATTRIBUTES = {
    "codeBook": {"version", "ID"},
    "var": {"ID", "name", "intrvl"},
    "qstn": {"ID"},
    "forward": {"qstn"},
    "backward": {"qstn"},
    "IDNo": {"agency"},
    "item": {"VALUE"},
    "catgry": {"missing"},
    "drvcmd": {"syntax"},
    "varFormat": {"type"},
}
FILTERED = survey_toml(
    "Filtered",
    question_toml("smokes", "yes-no", epsilon=1),
    question_toml("often", "choice", options=["few", "many"], epsilon=1, ask_if="smokes = yes"),
    question_toml("tried", "yes-no", epsilon=1, ask_if="smokes = yes and often = many"),
)
ONCE = {"citation", "titlStmt", "titl", "security", "derivation", "varFormat", "catValu"}


def check_structure(element: ET.Element) -> None:
    name = element.tag.removeprefix(DDI)
    assert element.tag == f"{DDI}{name}"
    assert set(element.attrib) <= ATTRIBUTES.get(name, set())
    children = [child.tag.removeprefix(DDI) for child in element]
    order = ORDER.get(name, ())
    places = [order.index(child) for child in children]
    assert places == sorted(places), f"{name}: {children}"
    assert all(children.count(child) == 1 for child in ONCE.intersection(children))
    for child in element:
        check_structure(child)


def books() -> dict[str, Codebook]:
    layout = read_layout((DATA / "study.toml").read_bytes())
    return {
        "five types": Codebook.of_survey(read_survey(FIVE_TYPES)),
        "every kind": Codebook.of_survey(read_survey(EVERY_KIND)),
        "love": Codebook.of_survey(read_survey(SURVEY)),
        "filtered": Codebook.of_survey(read_survey(FILTERED)),
        "drawn": Codebook.of_survey(shared_survey(5, 2.0)),
        "study": Codebook.of_layout(layout, "Study"),
        "weights": Codebook.of_layout(
            read_layout(
                'weights = "w"\ncluster = "w"\n[[questions]]\ncolumn = "q"\ndesign = "kuk"\np1 = 0.8\np2 = 0.2\n'
            ),
            "W",
        ),
    }


def test_what_a_noisy_report_tells_is_said_as_on_the_results_page() -> None:
    words = json.loads(Path("client/deniable_web/words/results.json").read_text("utf-8"))
    names = ("rStrong", "rMedium", "rLittle")
    for epsilon, name in ((0.9, "rStrong"), (1.5, "rMedium"), (2.5, "rLittle")):
        survey = read_survey(survey_toml("T", question_toml("q", "yes-no", epsilon=epsilon)))
        said = to_markdown(Codebook.of_survey(survey))
        assert [each for each in names if words[each]["en"] in said] == [name]
    several = survey_toml("T", *(question_toml(f"q{each}", "yes-no", epsilon=1) for each in range(5)))
    assert to_markdown(Codebook.of_survey(read_survey(several))).count(words["rLittle"]["en"]) == 5
    unbounded = read_layout('[[questions]]\ncolumn = "q"\ndesign = "forced-response"\ntruth = 0.99\n')
    assert words["rLittle"]["en"] in to_markdown(Codebook.of_layout(unbounded, "T"))


def test_routing_leads_from_filters_to_their_questions_and_back() -> None:
    root = ET.fromstring(to_ddi(books()["filtered"]))
    questions = {each.get("name"): each.find(f"{DDI}qstn") for each in root.iter(f"{DDI}var")}
    ids = {name: each.get("ID") for name, each in questions.items() if each is not None}

    def leads(name: str, way: str) -> list[str | None]:
        return [each.get("qstn") for each in questions[name] or () if each.tag == f"{DDI}{way}"]

    assert leads("smokes", "forward") == [f"{ids['often']} {ids['tried']}"]
    assert leads("often", "backward") == [ids["smokes"]]
    assert leads("tried", "backward") == [f"{ids['smokes']} {ids['often']}"]
    assert leads("smokes", "backward") == leads("tried", "forward") == []
    assert "smokes" in "".join((questions["often"] or ET.Element("none")).itertext())


@pytest.mark.slow
@pytest.mark.parametrize("name", books())
def test_archives_get_what_the_specification_has(name: str) -> None:
    book = books()[name]
    root = ET.fromstring(to_ddi(book))
    check_structure(root)
    assert root.get("version") == "2.5"
    variables = root.findall(f"{DDI}dataDscr/{DDI}var")
    assert [each.get("name") for each in variables] == [entry.column for entry in book.entries]
    identifiers = [each.get("ID") for each in variables]
    assert len(set(identifiers)) == len(identifiers)
    for entry, variable in zip(book.entries, variables, strict=True):
        found = [
            (each.findtext(f"{DDI}catValu"), each.findtext(f"{DDI}labl"))
            for each in variable.findall(f"{DDI}catgry")
            if each.get("missing") != "Y"
        ]
        assert found == list(entry.categories)
        assert [each.get("VALUE") for each in variable.iter(f"{DDI}item")] == list(entry.missing)
        if entry.mechanism is not None:
            assert "not an answer" in str(variable.findtext(f"{DDI}security"))
            assert entry.mechanism in str(variable.findtext(f"{DDI}derivation/{DDI}drvdesc"))


@pytest.mark.parametrize("name", books())
def test_probabilities_are_exact_and_add_up(name: str) -> None:
    for entry in books()[name].entries:
        for table in entry.probabilities:
            assert len(table.values) == len(table.reports)
            assert all(len(row) == len(table.answers) for row in table.values)
            assert all(isinstance(value, Fraction) and 0 <= value <= 1 for row in table.values for value in row)
            if table.title == "P(report | answer)" and len(table.reports) == len(table.values):
                assert {sum(column) for column in zip(*table.values, strict=True)} == {1}


@pytest.mark.parametrize("name", books())
def test_a_table_of_probabilities_has_one_denominator(name: str) -> None:
    book = books()[name]
    text = to_markdown(book)
    for entry in book.entries:
        for table in entry.probabilities:
            values = [value for row in table.values for value in row]
            if max(value.denominator for value in values) < 1000:
                assert all(f" {value} |" in text for value in values)
            elif all(2**32 % value.denominator == 0 for value in values):
                for value in values:
                    cell = f"{value * 2**32}/2^32 ({float(value):.6g})" if value.denominator > 1 else str(value)
                    assert f"| {cell} |" in text, (entry.column, value)
                    assert value.denominator < 1000 or f"{value} (" not in text, "no second denominator"


def entries(book: Codebook) -> dict[str, tuple[tuple[str, str], ...]]:
    return {entry.column: entry.categories for entry in book.entries}


def test_codes_stand_for_what_was_sent_and_never_for_what_is_true() -> None:
    lines = (
        "a: crosswise p=1/6",
        "b: crosswise p=1/6 codes=same:1,different:2",
        "c: warner p=3/4",
        "d: kuk p1=0.8 p2=0.2",
    )
    found = entries(Codebook.of_layout(Layout(tuple(map(quick_question, lines))), "x"))
    assert found["a"] == (("0", "different"), ("1", "same"))
    assert dict(found["b"]) == {"1": "same", "2": "different"}
    assert found["c"] == (("0", "no"), ("1", "yes"))
    of_survey = entries(Codebook.of_survey(read_survey(EVERY_KIND)))
    assert of_survey["k_ary"] == (("0", "a"), ("1", "b"), ("2", "c"))
    assert of_survey["scale_geometric"] == (("0", "1"), ("1", "2"), ("2", "3"), ("3", "4"))
    assert of_survey["scale_piecewise"] == of_survey["scale_mean"] == of_survey["subset"] == ()


def test_markdown_shows_texts_as_they_are() -> None:
    survey = read_survey(
        survey_toml(
            "# <script>",
            question_toml(
                "q", "choice", "Which | of *these*?\n\n## not a heading", options=["a|b", "`c`", "<i>"], epsilon=1
            ),
        )
    )
    text = to_markdown(Codebook.of_survey(survey))
    assert "\n## `q`\n\nWhich \\| of \\*these\\*? \\#\\# not a heading\n" in text
    assert "# \\# \\<script\\>\n" in text
    assert "| 0 | a\\|b |\n| 1 | \\`c\\` |\n| 2 | \\<i\\> |" in text
    assert "<script>" in str(ET.fromstring(to_ddi(Codebook.of_survey(survey))).findtext(f".//{DDI}titl"))


def test_contact_is_named() -> None:
    survey = read_survey(survey_toml("T", question_toml("q", "yes-no", epsilon=1), contact="ethics@uni.example"))
    codebook = Codebook.of_survey(survey)
    assert codebook.about[0] == "Contact: ethics@uni.example"
    assert "ethics@uni.example" in to_markdown(codebook)
    assert b"Contact: ethics@uni.example" in to_ddi(codebook)


def test_labels_come_from_the_data(tmp_path: Path) -> None:
    design, path = tmp_path / "study.toml", tmp_path / "study.sav"
    design.write_text(
        'missing = ["", "-9"]\n[[questions]]\ncolumn = "q7"\nname = "affair"\ndesign = "forced-response"\n'
        'truth = "1/2"\nmissing = ["", "refused"]\n',
        encoding="utf-8",
    )
    frame = pd.DataFrame({"q7": [1, 2, 9], "age": [20, 35, -9], "town": ["a", "b", "b"], "arm": [1, 2, 1]})
    pyreadstat.write_sav(
        frame,
        path,
        column_labels={"q7": "Ever had an affair?", "age": "Age in years"},
        variable_value_labels={"q7": {1: "No", 2: "Yes", 9: "refused"}, "arm": {1: "paper", 2: "web"}},
    )
    text = CODEBOOK.ok(design, "--data", path)
    assert "## `q7`\n\nEver had an affair?\n\n- A noisy report" in text
    assert "| 1 | No |\n| 2 | Yes |\n\nP(" in text
    assert "## `age`\n\nAge in years\n\n- Holds numbers from 20 to 35 or an empty field, -9.\n" in text
    assert "## `town`\n\ntown\n\n- Holds 2 different texts" in text
    assert "| 1 | paper |\n| 2 | web |" in text
    CODEBOOK.ok(design, "--data", path, "--to", tmp_path / "study.xml")
    check_structure(ET.parse(tmp_path / "study.xml").getroot())
    assert "column 'q7': must be one of the file's columns" in CODEBOOK.refused(design, "--data", DATA / "study.csv")
    toml = tmp_path / "love.toml"
    toml.write_text(SURVEY, encoding="utf-8")
    assert "--data goes with a design file" in CODEBOOK.refused(toml, "--data", path)


def test_the_command_writes_both_for_surveys_and_design_files(tmp_path: Path) -> None:
    toml, published = tmp_path / "love.toml", tmp_path / "love.json"
    toml.write_text(SURVEY, encoding="utf-8")
    published.write_bytes(read_survey(SURVEY).document)
    assert CODEBOOK.ok(toml) == CODEBOOK.ok(published) == to_markdown(Codebook.of_survey(read_survey(SURVEY)))
    assert "| 1 | yes |" in CODEBOOK.ok(DATA / "study.toml")
    assert CODEBOOK.ok(toml, "--to", tmp_path / "love.XML") == f"{tmp_path / 'love.XML'}\n"
    check_structure(ET.parse(tmp_path / "love.XML").getroot())
    CODEBOOK.ok(toml, "--to", tmp_path / "love.md")
    assert (tmp_path / "love.md").read_text(encoding="utf-8") == CODEBOOK.ok(toml)
    assert "file: must end in .md or .xml, got 'love.pdf'" in CODEBOOK.refused(toml, "--to", tmp_path / "love.pdf")
    (tmp_path / "bad.toml").write_text("questions = 3", encoding="utf-8")
    assert "Error: " in CODEBOOK.refused(tmp_path / "bad.toml")
    (tmp_path / "misspelt.toml").write_text(
        '[[questions]]\ncolumn = "q"\ndesign = "warnr"\np = 0.7\n', encoding="utf-8"
    )
    assert "design must be one of" in CODEBOOK.refused(tmp_path / "misspelt.toml")


def test_a_link_is_told_where_its_file_is() -> None:
    said = CODEBOOK.refused("https://collector.example/s/abc")
    assert "must be a file, got a link; the survey's file is survey.json in the archive" in said


def test_with_scripts_the_file_for_regressions_in_r_stands_beside_it(tmp_path: Path) -> None:
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")
    book = tmp_path / "book.md"
    said = CODEBOOK.ok(tmp_path / "survey.toml", "--to", book, "--scripts")
    assert said.split() == [str(book), str(tmp_path / REGRESSION)]
    assert book.read_text(encoding="utf-8") == CODEBOOK.ok(tmp_path / "survey.toml")
    script = (tmp_path / REGRESSION).read_bytes()
    assert script == regression_script()
    assert script.isascii()
    assert max(map(len, script.splitlines())) <= 120


def test_the_file_for_regressions_goes_with_a_survey_and_a_codebook_for_people(tmp_path: Path) -> None:
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")
    for more in ((), ("--to", tmp_path / "book.xml")):
        assert "--scripts goes with --to and a file .md" in CODEBOOK.refused(
            tmp_path / "survey.toml", *more, "--scripts"
        )
    design = tmp_path / "design.toml"
    design.write_text('[[questions]]\nname = "q"\ndesign = "forced-response"\ntruth = "1/2"\n', encoding="utf-8")
    said = CODEBOOK.refused(design, "--to", tmp_path / "book.md", "--scripts")
    assert "--scripts goes with a survey" in said
    assert {each.name for each in tmp_path.iterdir()} == {"survey.toml", "design.toml"}

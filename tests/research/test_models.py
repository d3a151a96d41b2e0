"""Models side by side, on the command line and in papers."""

from __future__ import annotations

import json
import math
import re
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import docx
import pytest

from deniable import ParameterError
from deniable_research.files import Layout, Table, quick_question, regress
from deniable_research.files.model_tables import FittedModel, against, compare_models
from deniable_research.files.panels import term_panels
from deniable_research.files.paper import noise_notes, paper_table
from deniable_research.files.paper_table import PaperTable, escape_tex, html_page, markdown, tex
from deniable_research.files.printing import regression_text
from deniable_research.regression import Fit, TidyRow
from deniable_statistics.published.charts import interval_chart
from deniable_statistics.published.columns import OPEN, p_value
from tests.support.analyzing import STUDY, as_rows, ok, refused
from tools.packages import pdflatex
from tools.rig.patience import PATIENCE

FORMULA = "affair ~ age + drugs"


@pytest.fixture(scope="module")
def models(study: Table) -> list[FittedModel]:
    fit = regress(study, FORMULA)
    assert isinstance(fit, Fit)
    others = ["affair ~ age", "affair ~ log(age)"]
    fits = [fit, *against(fit, others)]
    return [FittedModel.of(*each, 0.95, None, "wald") for each in zip([FORMULA, *others], fits, strict=True)]


@pytest.mark.slow
def test_nuisance_terms_are_kept_for_programs_and_shown_on_demand() -> None:
    assert not re.search(r"P\(", ok("regress", *STUDY, FORMULA))
    assert "P(drugs=yes)" in ok("regress", *STUDY, FORMULA, "--all-terms")
    rows = as_rows("regress", *STUDY, FORMULA)
    assert [row["term"] for row in rows if row["term"].startswith("P(")] == [
        "P(drugs=yes): Intercept",
        "P(drugs=yes): age",
    ]


@pytest.mark.slow
def test_models_beside_each_other_are_of_the_same_reports(models: list[FittedModel]) -> None:
    rows = compare_models(models)
    assert [row.parameters for row in rows] == [5, 4, 4]
    assert rows[1].df == 1
    assert rows[1].statistic == pytest.approx(2 * (rows[0].loglik - rows[1].loglik), abs=1e-6)
    assert rows[2].note == "neither model is part of the other"
    for row in rows:
        assert row.aic == pytest.approx(2 * row.parameters - 2 * row.loglik)
        assert row.bic == pytest.approx(math.log(578) * row.parameters - 2 * row.loglik)
    document = json.loads(ok("regress", *STUDY, FORMULA, "--against", "affair ~ age", "--format", "json"))
    assert [each["formula"] for each in document["models"]] == [FORMULA, "affair ~ age"]
    assert document["models"][1]["p_value"] == pytest.approx(rows[1].p_value)
    lines = as_rows("regress", *STUDY, FORMULA, "--against", "affair ~ age")
    assert {row["model"] for row in lines} == {FORMULA, "affair ~ age"}


def test_a_larger_second_model_is_tested_too(study: Table) -> None:
    fit = regress(study, "affair ~ drugs * wave")
    assert isinstance(fit, Fit)
    small, large = against(fit, ["affair ~ drugs", "affair ~ drugs + wave"])
    models = [FittedModel.of(name, each, 0.95, None, "wald") for name, each in (("small", small), ("large", large))]
    assert compare_models(models)[1].df == len(large.terms) - len(small.terms)


def test_what_is_said_of_intervals_is_how_they_were_made() -> None:
    arguments = ("regress", *STUDY, "affair ~ age", "--weights", "w", "--se", "observed", "--format", "json")
    document = json.loads(ok(*arguments))
    assert document["interval"] == "wald"
    assert document["terms"] == json.loads(ok(*arguments, "--interval", "wald"))["terms"]


@pytest.mark.parametrize("left", ["drugs", "nosuch", "log(affair)"])
def test_another_model_is_of_the_same_outcome(study: Table, left: str) -> None:
    fit = regress(study, "affair ~ age")
    expected = rf"^against: must have the left side of the first formula, affair, got {re.escape(left)}$"
    with pytest.raises(ParameterError, match=expected):
        against(fit, [f"{left} ~ 1"])
    assert len(against(fit, ["`affair` ~ 1"])) == 1


@pytest.mark.slow
def test_what_cannot_be_compared_is_refused() -> None:
    assert "against: must name variables" in refused("regress", *STUDY, FORMULA, "--against", "affair ~ income")
    assert "weights" in refused("regress", *STUDY, FORMULA, "--against", "affair ~ age", "--weights", "w")
    assert "least squares" in refused("regress", *STUDY, "income ~ drugs", "--against", "income ~ 1")
    assert "--fit goes with" in refused("regress", *STUDY, "income ~ drugs", "--fit")
    assert "odds-ratios" in refused("regress", *STUDY, "income ~ drugs", "--odds-ratios")
    assert "weights" in refused("regress", *STUDY, FORMULA, "--fit", "--weights", "w")


def test_a_paper_has_a_column_for_each_model(study: Table, models: list[FittedModel]) -> None:
    table = paper_table(models, noise_notes(study.layout, ["affair", "drugs"]), stars=True)
    assert table.header == ("", "(1)", "(2)", "(3)")
    terms = [row[0] for row in table.body if row[0]]
    assert terms == ["Intercept", "age", "drugs (yes)", "log(age)"]
    drugs = next(row for row in table.body if row[0] == "drugs (yes)")
    assert drugs[2:] == ("", "")
    assert {row[0] for row in table.footer} == {"n", "Log-likelihood", "AIC", "BIC"}
    assert all(row[1] for row in table.footer)
    said = "drugs: the crosswise model with p = 0.1667 of yes to the other question, epsilon = 1.609."
    assert said in table.notes
    assert not any("*" in cell for row in paper_table(models).body for cell in row[1:])
    ratios = paper_table(models, odds_ratios=True)
    assert "Intercept" not in {row[0] for row in ratios.body}
    assert all(cell.startswith("[") for row in ratios.body[1::2] for cell in row[1:] if cell)
    with pytest.raises(ParameterError, match="below"):
        paper_table(models, below="q")


def test_p_values_stand_below_coefficients_and_decimals_are_chosen(models: list[FittedModel]) -> None:
    (row,) = (row for row in models[0].effect_rows if row.term == "drugs[T.yes]")
    table = paper_table(models[:1], below="p", decimals=3)
    place = [each[0] for each in table.body].index("drugs (yes)")
    assert table.body[place][1] == f"{row.estimate:.3f}"
    assert table.body[place + 1][1] == f"({p_value(row.p_value)})"
    assert any("p-values in round brackets" in note for note in table.notes)
    shown = paper_table(models[:1], decimals=1, odds_ratios=True).body
    (ratio,) = (row for row in models[0].odds_ratios if row.term == "drugs[T.yes]")
    place = [each[0] for each in shown].index("drugs (yes)")
    assert shown[place][1] == f"{ratio.estimate:.1f}"
    assert shown[place + 1][1] == f"[{ratio.conf_low:,.1f}, {ratio.conf_high:,.1f}]"
    assert paper_table(models[:1], below="p", odds_ratios=True).body[place + 1][1] == f"({p_value(ratio.p_value)})"
    for wrong in (-1, 7, 1.5, True, "2"):
        with pytest.raises(ParameterError, match=r"^decimals: must be an integer in \[0, 6\], got"):
            paper_table(models, decimals=wrong)  # type: ignore[arg-type]


def test_an_interval_without_a_limit_is_printed_without_one_and_explained() -> None:
    """Fewer say yes in the second wave than chance alone makes, so its log odds have no lower limit."""
    layout = Layout((quick_question("q: forced-response truth=1/2"),))
    reports = ("yes",) * 430 + ("no",) * 570 + ("yes",) * 200 + ("no",) * 800
    table = Table.of({"q": reports, "wave": ("1",) * 1000 + ("2",) * 1000}, layout)
    model = FittedModel.of("q ~ C(wave)", regress(table, "q ~ C(wave)", penalty=None), 0.95, None, None)
    (row,) = model.plotted_rows
    assert row.conf_low == -math.inf
    assert model.odds_ratios[0].conf_low == 0, "files for programs keep the number"
    for odds_ratios in (False, True):
        text = regression_text(model, 0.95, odds_ratios=odds_ratios)
        assert "at most " in text
        assert OPEN in text
        assert "\u221e to" not in text
        paper = paper_table([model], below="intervals", odds_ratios=odds_ratios)
        assert paper.body[-1][1].startswith("[at most ")
        assert OPEN in paper.notes
        assert all(
            "[at most " in form(paper).replace("\\[", "[").replace("{[}", "[") for form in (markdown, tex, html_page)
        )
    assert OPEN not in paper_table([model]).notes, "without intervals there is nothing to explain"


def test_the_command_takes_p_values_and_decimals(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    ok("regress", *STUDY, "affair ~ age", "--interval", "wald", "--below", "p", "--decimals", "4", "--to", path)
    written = path.read_text(encoding="utf-8")
    assert "p-values in round brackets." in written
    assert re.search(r"^\| age \| \S*\d\.\d{4} \|\n\|  \| \((< 0|0)\.\d{4}\) \|$", written, re.MULTILINE)
    assert "--decimals go with a table" in refused("regress", *STUDY, "affair ~ age", "--decimals", "2")
    wrong = refused("regress", *STUDY, "affair ~ age", "--decimals", "9", "--to", path)
    assert "9 is not in the range 0<=x<=6" in wrong


def test_likelihoods_of_different_reports_are_said_to_be_so(study: Table, models: list[FittedModel]) -> None:
    alone = FittedModel.of("affair ~ age", regress(study, "affair ~ age"), 0.95)
    table = paper_table([models[0], alone])
    assert "Log-likelihoods are of different reports and do not compare." in table.notes
    assert {row[0] for row in table.footer} == {"n", "Log-likelihood"}


def test_a_linear_model_has_the_spread_of_its_residuals(study: Table) -> None:
    linear = FittedModel.of("income ~ drugs", regress(study, "income ~ drugs"), 0.95)
    table = paper_table([linear])
    assert [row[0] for row in table.footer] == ["n", "Standard deviation of residuals"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".md", ".tex", ".html", ".docx"])
def test_the_command_writes_papers(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table{suffix}"
    ok("regress", *STUDY, FORMULA, "--against", "affair ~ age", "--to", path, "--below", "intervals")
    if suffix == ".docx":
        document = docx.Document(str(path))
        cells = [[cell.text for cell in row.cells] for row in document.tables[0].rows]
        assert cells[0] == ["", "(1)", "(2)"]
        assert {len(row) for row in cells} == {3}
        text = "\n".join(each.text for each in document.paragraphs)
    else:
        text = path.read_text(encoding="utf-8")
        assert "drugs" in text
    assert "affair: forced response, the truth with p = 0.6667 and otherwise" in text
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("analysis", "arguments", "heading"),
    [
        ("shares", [], "SE"),
        ("sensitivity", ["affair"], "Misbehaving"),
        ("compare", ["affair", "--by", "wave"], "Comparison"),
        ("crosstab", ["affair", "drugs"], "Most likely"),
        pytest.param("predict", ["affair ~ age"], "Estimate", marks=pytest.mark.slow),
    ],
)
def test_every_analysis_writes_the_table_that_it_prints(
    tmp_path: Path, analysis: str, arguments: list[str], heading: str
) -> None:
    for suffix in (".md", ".tex", ".html", ".docx"):
        path = tmp_path / f"table{suffix}"
        printed = ok(analysis, *STUDY, *arguments, "--to", path)
        if suffix == ".docx":
            cells = [cell.text for row in docx.Document(str(path)).tables[0].rows for cell in row.cells]
        elif suffix == ".html":
            cells = [
                cell.text or "" for cell in ET.fromstring(_element(path, "table")).iter() if cell.tag in ("td", "th")
            ]
        else:
            ends = {".tex": (" & ", r" \\"), ".md": (" | ", " |")}[suffix]
            lines = path.read_text(encoding="utf-8").splitlines()
            cells = [cell for line in lines for cell in line.removesuffix(ends[1]).removeprefix("| ").split(ends[0])]
        assert heading in cells
        # What was written are the cells of the printed table; escapes of LaTeX and Markdown are tested elsewhere.
        if suffix in (".docx", ".html"):
            assert set(" ".join(cells).split()) <= set(printed.split())
        assert not list(tmp_path.glob(".*"))


def _element(path: Path, tag: str) -> str:
    page = path.read_text(encoding="utf-8")
    return page[page.index(f"<{tag}>") : page.index(f"</{tag}>")] + f"</{tag}>"


def test_another_suffix_is_refused_with_all_that_there_are_and_folders_exist(tmp_path: Path) -> None:
    assert ".xlsx, .md, .tex, .html, .docx" in refused("shares", *STUDY, "--to", tmp_path / "table.txt")
    assert "no folder" in refused("regress", *STUDY, FORMULA, "--to", tmp_path / "none" / "table.tex")


def test_a_table_names_what_its_figures_are_compared_with(study: Table) -> None:
    formula = "affair ~ drugs + C(wave, Treatment(2025))"
    model = FittedModel.of(formula, regress(study, formula), 0.95, None, "wald")
    assert model.references == {"drugs": "no", "wave": "2025"}
    notes = paper_table([model, model]).notes
    assert "affair: yes against no." in notes
    assert "Reference categories: drugs (no), wave (2025)." in notes
    linear = FittedModel.of("income ~ drugs", regress(study, "income ~ drugs"), 0.95)
    assert "Reference categories: drugs (no)." in paper_table([linear]).notes
    assert [row[0] for row in paper_table([linear]).body[::2]] == ["Intercept", "drugs (yes)"]
    # Without an intercept, every wave has a coefficient.
    without = FittedModel.of("affair ~ C(wave) - 1", regress(study, "affair ~ C(wave) - 1"), 0.95, None, "wald")
    assert not without.references


@pytest.mark.parametrize(
    ("right", "labels"),
    [
        ("drugs * C(wave)", ["drugs (yes)", "wave (2025)", "wave (2026)"]),
        ("drugs:age - 1", ["drugs (no) \u00d7 age", "drugs (yes) \u00d7 age"]),
        ("age + I(age ** 2) + C(age > 40)", ["age", "age\u00b2", "age > 40 (True)"]),
        ("poly(age, 2)", ["age (orthogonal polynomial, degree 1)", "age (orthogonal polynomial, degree 2)"]),
        ("poly(age, 2, raw=True)", ["age", "age\u00b2"]),
        ("C(wave, contr.sum())", ["wave (2024, sum contrast)", "wave (2025, sum contrast)"]),
        ("C(wave, contr.poly())", ["wave (linear, polynomial contrast)", "wave (quadratic, polynomial contrast)"]),
        ("C(wave) - 1", ["wave (2024)", "wave (2025)", "wave (2026)"]),
    ],
)
def test_terms_of_papers_read_as_people_write_them(study: Table, right: str, labels: list[str]) -> None:
    model = FittedModel.of(right, regress(study, f"affair ~ {right}"), 0.95, None, "wald")
    found = [each for each in model.term_labels().values() if each != "Intercept"]
    assert found[: len(labels)] == labels
    assert all("[" not in each for each in found)


def test_terms_that_would_read_alike_stay_as_the_formulas_have_them(study: Table) -> None:
    formulas = ["affair ~ C(wave)", "affair ~ C(wave, Treatment(2025))"]
    models = [FittedModel.of(each, regress(study, each), 0.95, None, "wald") for each in formulas]
    terms = [row[0] for row in paper_table(models).body[::2]]
    assert terms[1:] == [
        "wave (2025)",
        "C(wave)[T.2026.0]",
        "wave (2024)",
        "C(wave, Treatment(2025))[T.2026.0]",
    ]


def test_an_outcome_of_several_options_stands_before_each_term() -> None:
    layout = Layout((quick_question("q: k-ary k=3 options=a,b,c epsilon=2"),))
    question = replace(layout.question("q"), options=("a", "a: b", "c"))
    table = Table.of({"q": ["0", "1", "2"] * 300, "site": ["north", "south: old"] * 450}, Layout((question,)))
    model = FittedModel.of("q ~ site", regress(table, "q ~ site"), 0.95, None, "wald")
    assert list(model.term_labels().values()) == [
        "a: b: Intercept",
        "a: b: site (south: old)",
        "c: Intercept",
        "c: site (south: old)",
    ]


def test_errors_are_not_asked_of_odds_ratios() -> None:
    assert "--below errors does not go with --odds-ratios" in refused(
        "regress", *STUDY, FORMULA, "--odds-ratios", "--below", "errors", "--to", "table.tex"
    )


@pytest.mark.parametrize(
    ("formula", "levels"),
    [
        ('affair ~ C(drugs, Treatment("never"))', "'no', 'yes'"),
        ("affair ~ C(wave, contr.treatment(base=2))", "2024, 2025, 2026"),
    ],
)
def test_a_mistyped_reference_level_is_answered_with_those_that_there_are(
    study: Table, formula: str, levels: str
) -> None:
    with pytest.raises(ParameterError, match=rf"must name one of the levels of (drugs|wave) \({levels}\), got"):
        regress(study, formula)


def test_an_outcome_within_a_coding_is_answered_with_what_to_write(study: Table) -> None:
    for formula in ('C(affair, Treatment("yes")) ~ drugs', "C(affair) ~ age"):
        with pytest.raises(ParameterError, match=r"write affair ~ \.\.\., which compares .* with the first one, no$"):
            regress(study, formula)


@pytest.mark.long
def test_latex_sets_every_table_without_packages(tmp_path: Path, models: list[FittedModel]) -> None:
    hostile = PaperTable(("", HOSTILE), ((HOSTILE, "\u22121.5 \u00b1"),), (), (HOSTILE,))
    tables = (paper_table(models), hostile, PaperTable((), notes=("~",)))
    # Text touches the tables; each also stands in a box, and one in a float.
    document = "\\clearpage\n".join(f"before\n{tex(each)}after \\mbox{{{tex(each)}}}\n" for each in tables)
    document += f"\\begin{{table}}\\centering\\caption{{C}}\n{tex(tables[0])}\\end{{table}}\n"
    (tmp_path / "all.tex").write_text(
        f"\\documentclass{{article}}\\begin{{document}}\n{document}\\end{{document}}\n", encoding="utf-8"
    )
    command = [pdflatex(), "-halt-on-error", "-interaction=nonstopmode", "all.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert run.returncode == 0, run.stdout
    assert "3 pages" in run.stdout


HOSTILE = r"a_b & 50% $x$ #1 ^2 ~ \input{/etc/passwd} <b> | `c` [z] *"


def test_text_around_a_table_in_latex_stands_apart() -> None:
    r"""A note that ended without ``\par`` would go on with the text after the file."""
    for table in (PaperTable(("a", "b"), (("1", "2"),), notes=("first.", "last.")), PaperTable(("a",), (("1",),))):
        first, *_, last = tex(table).splitlines()
        assert first.startswith(r"\par")
        assert r"\par" in last or r"\end{minipage}\par" in tex(table).splitlines()[-2]
        assert tex(table).count(r"\begin{") == tex(table).count(r"\end{")
    assert [line for line in tex(PaperTable(("a",), notes=("first.", "last."))).splitlines() if "st." in line] == [
        r"first.\par",
        r"last.\par",
    ]
    assert tex(PaperTable((), notes=("alone",))) == "\\par\nalone\\par\n"


def test_tex_of_any_name_sets_the_name() -> None:
    """No active character is left but in the pieces that we put there."""
    left = escape_tex(HOSTILE)
    for piece in (r"\textbackslash{}", r"$\sim$", r"\textasciicircum{}", r"\textasciigrave{}", "{[}", "{]}"):
        left = left.replace(piece, "")
    left = re.sub(r"\$[-<>|]\$|\\[{}$&#_%]", "", left)
    assert not set(left) & set("\\{}$&#_%~^")
    assert escape_tex("\u2212\u221e") == r"$-\infty$"
    assert escape_tex("$\u2212") == r"\$$-$"


def test_hostile_names_keep_the_shape_of_every_table(tmp_path: Path) -> None:
    table = PaperTable(("", "(1)"), ((HOSTILE, "1"), ("", "(2)")), (("n", "3"),), (HOSTILE, "a\nb"))
    lines = markdown(table).splitlines()
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in lines[:5]] == [3] * 5
    assert all(line.count("&") - line.count(r"\&") == 1 for line in tex(table).splitlines()[2:7] if "&" in line)
    assert "a b" in tex(table)
    assert "<b>" not in html_page(table)


def test_the_forest_plot_has_a_series_for_each_model_and_no_nuisance(models: list[FittedModel]) -> None:
    (panel,) = term_panels(models)
    assert panel.axis == "log odds ratio"
    assert {mark.line for mark in panel.marks} == {"age", "drugs (yes)", "log(age)"}, "an intercept is no odds ratio"
    assert len({mark.series for mark in panel.marks}) == 3
    (ratios,) = term_panels(models, odds_ratios=True)
    assert ratios.log
    assert ratios.reference == 1
    assert "Intercept" not in {mark.line for mark in ratios.marks}
    assert all(mark.low >= 0 for mark in ratios.marks)
    axes = interval_chart([ratios]).axes[0]
    assert axes.get_xscale() == "log"


def test_a_plot_of_coefficients_has_the_intercept_and_one_of_odds_needs_an_effect(study: Table) -> None:
    linear = FittedModel.of("income ~ drugs", regress(study, "income ~ drugs"), 0.95)
    assert [mark.line for mark in term_panels([linear])[0].marks] == ["Intercept", "drugs (yes)"]
    alone = FittedModel.of("affair ~ 1", regress(study, "affair ~ 1"), 0.95)
    with pytest.raises(ParameterError, match=r"^plot: must be of a model with effects to draw, got none$"):
        term_panels([alone])


def test_ratios_beyond_all_bounds_are_drawn(models: list[FittedModel], tmp_path: Path) -> None:
    fit = models[0].fit
    rows = tuple(
        TidyRow(term, estimate, 1.0, 1.0, 0.5, low, high)
        for term, estimate, low, high in (
            ("Intercept", 0.0, -1.0, 1.0),
            ("age", 900.0, -math.inf, math.inf),
            ("drugs[T.yes]", -900.0, -math.inf, math.nan),
        )
    )
    odd = FittedModel("a ~ b", fit, rows, "wald")
    (panel,) = term_panels([odd, models[1]], odds_ratios=True)
    interval_chart([panel]).savefig(tmp_path / "x.png")
    assert all(mark.estimate is not None and math.isfinite(mark.estimate) for mark in panel.marks)


def test_the_command_draws_ratios(tmp_path: Path) -> None:
    picture = tmp_path / "forest.svg"
    out = ok("regress", *STUDY, FORMULA, "--against", "affair ~ age", "--odds-ratios", "--plot", picture)
    heads = [line for line in out.splitlines() if line.split()[:1] == ["Term"]]
    assert heads
    assert not any("SE" in head for head in heads)
    shown = {element.text for element in ET.parse(picture).iter("{http://www.w3.org/2000/svg}text")}
    assert {"2 models: odds ratios", "(2) affair ~ age", "drugs (yes)"} <= shown
    assert "drugs[T.yes]" in out


@pytest.mark.slow
def test_the_footer_says_whether_a_model_fits() -> None:
    assert "by fitted share, p from 199 studies" in ok("regress", *STUDY, "affair ~ age", "--fit")
    assert "Pearson \u03c7\u00b2(1) = " in ok("regress", *STUDY, "affair ~ wave", "--fit")  # a line through three years
    document = json.loads(ok("regress", *STUDY, "affair ~ C(wave)", "--fit", "--format", "json"))
    assert document["fit"][0]["df"] == 0
    assert document["fit"][0]["pearson_p"] is None
    assert "leave nothing to test" in ok("regress", *STUDY, "affair ~ C(wave)", "--fit")

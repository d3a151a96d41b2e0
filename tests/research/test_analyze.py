"""Files of reports: what their columns hold, and ``deniable analyze`` as people type it."""

from __future__ import annotations

import builtins
import csv
import io
import json
import math
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from deniable import (
    EstimateRow,
    ParameterError,
    ReportError,
    estimate,
    read_survey,
    tally_reports,
)
from deniable_client import randomize
from deniable_research.commands.analyze import analyze
from deniable_research.files import (
    ComparisonRow,
    CrosstabRow,
    Layout,
    Table,
    estimate_shares,
    quick_question,
    regress,
)
from deniable_research.output import field_names, to_json
from deniable_statistics.published.charts import Mark, Panel, interval_chart
from deniable_statistics.published.printed_numbers import percent
from deniable_statistics.published.published_rows import EstimateOptions
from tests.support.analyzing import STUDY, as_rows, love_reports, ok, refused, run, study_rows
from tests.support.same_figures import assert_same_rows
from tools.rig.surveys import FIVE_TYPES, SURVEY, person


@pytest.fixture
def survey_file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY, encoding="utf-8")
    return path


@pytest.mark.slow
def test_shares_of_all_question_types_are_the_rows_of_the_estimator(tmp_path: Path) -> None:
    survey = read_survey(FIVE_TYPES)
    reports = [randomize(survey, person(number)) for number in range(150)]
    columns = {"id": tuple(report.id for report in reports), "cohort": ("",) * 150} | {
        question.id: tuple(str(report.values[question.id]) for report in reports) for question in survey.questions
    }
    expected = estimate(tally_reports(reports, survey), survey)
    assert_same_rows(estimate_shares(Table.of(columns, survey)), expected)
    wanted = EstimateOptions(0.9, "wilson", "respondents", simultaneous=False)
    settings: dict[str, Any] = {"confidence_level": 0.9, "method": "wilson", "target": "respondents"}
    found = estimate_shares(Table.of(columns, survey), wanted=wanted)
    assert_same_rows(found, estimate(tally_reports(reports, survey), survey, **settings))


def test_published_json_is_a_survey_too(tmp_path: Path, survey_file: Path) -> None:
    survey, reports = love_reports(20)
    file, published = tmp_path / "reports.csv", tmp_path / "survey.json"
    published.write_bytes(survey.document)
    rows = [f"{report.id},{report.cohort or ''},{','.join(map(str, report.values.values()))}" for report in reports]
    file.write_text("\n".join(["id,cohort,affair,religious", *rows]), encoding="utf-8")
    assert ok("shares", file, "--survey", published) == ok("shares", file, "--survey", survey_file)


def test_questions_of_other_tools_exports_are_named_with_column(tmp_path: Path, survey_file: Path) -> None:
    file = tmp_path / "qualtrics.csv"
    texts = 'Response ID,"Have you, since you married?",""\n'
    file.write_text(f"ResponseId,Q7,Q8\n{texts}R_1,1,\nR_2,0.0,2\nR_3,,1\nR_4,1.0,3\n", encoding="utf-8")
    arguments = [file, "--survey", survey_file, "--column", "affair=Q7", "--format", "json"]
    assert "got something else in 1 row" in refused("shares", *arguments)
    result = run("shares", *arguments, "--skip", 1)
    assert result.exit_code == 0, result.output
    assert "affair: 1 row of 4 without a report left out" in result.stderr
    document = json.loads(result.stdout)
    assert document["dropped"] == {"affair": 1}
    _, yes = document["estimates"]
    assert (yes["question"], yes["n"], yes["count"]) == ("affair", 3, 2)
    assert yes["estimate"] == pytest.approx(2 * (2 / 3 - 1 / 4))


def test_shares_of_a_study_are_its_equations(study: Table) -> None:
    rows = {(row["question"], row["option"]): row for row in as_rows("shares", *STUDY)}
    data = study_rows()
    known = [each for each in data if each["rrt_q1"] != "9"]
    yes = sum(each["rrt_q1"] == "1" for each in known)
    assert rows["affair", "yes"]["n"] == len(known) == 583
    assert rows["affair", "yes"]["estimate"] == pytest.approx((yes / 583 - 1 / 6) * 1.5, abs=1e-12)
    same = sum(each["cwm_q2"] == "same" for each in data) / 600
    assert rows["drugs", "yes"]["estimate"] == pytest.approx((same - 5 / 6) / (1 / 6 - 5 / 6), abs=1e-12)
    lam = [
        sum(each["cdm_q3"] == "yes" for each in group) / len(group)
        for group in ([each for each in data if each["arm"] == arm] for arm in "AB")
    ]
    honest_no = 2 * (lam[1] - lam[0])  # lam = f + h / 4 and f + 3 h / 4
    assert rows["theft", "no"]["estimate"] == pytest.approx(honest_no, abs=1e-12)
    assert rows["theft", "yes"]["estimate"] == pytest.approx(lam[0] - honest_no / 4, abs=1e-12)
    assert math.isinf(float(rows["theft", "no"]["epsilon"]))


def test_weights_count(study: Table) -> None:
    data = [each for each in study_rows() if each["rrt_q1"] != "9"]
    weights = np.array([float(each["w"]) for each in data])
    yes = np.array([each["rrt_q1"] == "1" for each in data])
    lam, effective = weights @ yes / weights.sum(), weights.sum() ** 2 / (weights**2).sum()
    (row,) = [row for row in as_rows("shares", *STUDY, "affair", "--weights", "w") if row["option"] == "yes"]
    assert row["n"] == 583
    assert row["count"] == pytest.approx(float(weights @ yes))
    assert row["estimate"] == pytest.approx((lam - 1 / 6) * 1.5, abs=1e-12)
    assert row["std_error"] == pytest.approx(1.5 * math.sqrt(lam * (1 - lam) / effective), abs=1e-12)
    theft = [row for row in as_rows("shares", *STUDY, "theft", "--weights", "w") if row["option"] == "no"]
    plain = [row for row in as_rows("shares", *STUDY, "theft") if row["option"] == "no"]
    assert theft[0]["std_error"] > plain[0]["std_error"]
    assert theft[0]["estimate"] != plain[0]["estimate"]


def test_equal_weights_are_no_weights(study: Table) -> None:
    columns = dict(study.columns) | {"w": ("2.5",) * 600}
    weighted = Table.of(columns, Layout(study.layout.questions, weights="w"))
    for mine, theirs in zip(estimate_shares(weighted), estimate_shares(study), strict=True):
        assert mine.estimate == pytest.approx(theirs.estimate, abs=1e-12)
        assert mine.std_error == pytest.approx(theirs.std_error, abs=1e-12)
        assert (mine.conf_low, mine.conf_high) == pytest.approx((theirs.conf_low, theirs.conf_high), abs=1e-9)


def test_a_count_that_contradicts_its_design_is_flagged_in_words(tmp_path: Path) -> None:
    file = tmp_path / "real.csv"
    file.write_text("q\n" + "1\n" * 98 + "2\n" * 631, encoding="utf-8")
    question = "q: forced-response truth=2/3 codes=yes:1,no:2"
    text = ok("shares", file, "--question", question)
    assert "fewer reports than a share of 0 explains (p = .010): the data hardly fit the design" in text
    document = json.loads(ok("shares", file, "--question", question, "--format", "json"))
    yes = document["estimates"][1]
    assert yes["p_below"] == pytest.approx(0.0097, abs=5e-5)
    assert yes["flag"].startswith("fewer reports")
    assert len(document["cautions"]) == 2
    result = run("regress", file, "q ~ 1", "--question", question, "--format", "csv")
    assert "Caution: q: yes: fewer reports than a share of 0 explains (p = .010)" in result.stderr


def test_rows_without_reports_are_counted_never_silent(study: Table) -> None:
    result = run("shares", *STUDY, "--format", "csv")
    assert "affair: 17 rows of 600 without a report left out" in result.stderr
    document = json.loads(run("shares", *STUDY, "--format", "json").stdout)
    assert document["dropped"] == {"affair": 17, "drugs": 0, "theft": 0}
    assert study.dropped("affair", "drugs") == 17
    first, second = study.items("affair", "drugs")
    assert len(first) == len(second) == 583


def test_unknown_codes_are_counted_and_the_first_is_named(tmp_path: Path, survey_file: Path) -> None:
    file = tmp_path / "odd.csv"
    file.write_text("q,affair\n1,1\n2,7\nsecret,0\nsecret,\n9,1\n", encoding="utf-8")
    message = refused("shares", file, "--question", "q: forced-response truth=2/3 codes=yes:1,no:2")
    assert (
        "column 'q': must hold '1', '2' or nothing ('', 'NA', 'NaN'), got something else in 3 rows, first 'secret'"
        in message
    )
    again = refused("shares", file, "--question", "q: forced-response truth=2/3 codes=yes:1,no:2 missing=9")
    assert "in 2 rows" in again
    assert "in 2 rows" in refused(
        "shares", file, "--missing", "9", "--question", "q: forced-response truth=2/3 codes=yes:1,no:2"
    )
    message = refused("shares", file, "--survey", survey_file, "--column", "affair=affair")
    assert message == (
        "Error: column 'affair': must hold 'no', 'yes' or an integer in [0, 2) or nothing ('', 'NA', 'NaN'), "
        "got something else in 1 row, first '7'\n"
    )


def test_weights_count_where_all_reports_are_equal_or_missing() -> None:
    question = quick_question("q: warner epsilon=1 codes=yes:1,no:2")
    for weights in (["0.1", "0.2", "0.3"] * 5, ["0.134", "0.847", "0.764", "0.255", "0.495", "0.449", "0.652"] * 3):
        for report in ("1", "2", ""):
            columns = {"q": (report,) * len(weights), "w": tuple(weights)}
            estimate = Table.of(columns, Layout((question,), weights="w")).estimate("q")
            assert estimate.n == pytest.approx(sum(map(float, weights)) if report else 0)
            assert max(estimate.counts) == estimate.n, "a sum in another order is the same number of reports"


@pytest.mark.parametrize("weights", [("0", "0"), ("1e-320", "1e-320"), ("1e308", "1e308"), ("1e300", "1e-300")])
def test_weights_that_cannot_be_summed_are_a_sentence(weights: tuple[str, str]) -> None:
    columns = {"q": ("1", "2"), "w": weights}
    table = Table.of(columns, Layout((quick_question("q: warner epsilon=1 codes=yes:1,no:2"),), weights="w"))
    with pytest.raises(ReportError, match="column 'w': weights must"):
        table.estimate("q")


def test_people_of_weight_0_count_nothing_in_a_regression() -> None:
    question = quick_question("q: forced-response truth=1/2")
    some = {"q": ("yes", "no", "yes", "no", "no") * 20, "age": tuple(map(str, range(100)))}
    more = {"q": (*some["q"], "yes", "yes"), "age": (*some["age"], "900", "1000"), "w": ("1",) * 100 + ("0", "0")}
    alone = regress(Table.of(some | {"w": ("1",) * 100}, Layout((question,), weights="w")), "q ~ age")
    beside = regress(Table.of(more, Layout((question,), weights="w")), "q ~ age")
    assert beside.params.tolist() == alone.params.tolist()


def test_a_formula_with_a_coefficient_for_each_person_is_refused() -> None:
    question = quick_question("q: forced-response truth=1/2")
    columns = {"q": ("yes", "no") * 25, "cohort": tuple(f"c{number}" for number in range(50))}
    with pytest.raises(ParameterError, match="fewer coefficients than people, got 50 for 50"):
        regress(Table.of(columns, Layout((question,))), "q ~ C(cohort)")


def test_an_outcome_may_be_computed_from_a_column_but_not_from_reports() -> None:
    question = quick_question("q: forced-response truth=1/2")
    hours = [1 + number % 7 for number in range(60)]
    columns = {"q": ("yes", "no", "no") * 20, "weekly hours": tuple(map(str, hours))}
    logged = columns | {"y": tuple(str(math.log(hour)) for hour in hours)}
    computed = regress(Table.of(columns, Layout((question,))), "log(`weekly hours`) ~ q")
    assert computed.params == pytest.approx(regress(Table.of(logged, Layout((question,))), "y ~ q").params)
    with pytest.raises(ParameterError, match="formula: hours must be a column of the file"):
        regress(Table.of(columns, Layout((question,))), "log(hours) ~ q")
    with pytest.raises(
        ParameterError, match=r"formula: q must not be within log\(q\), because its reports are not answers"
    ):
        regress(Table.of(columns, Layout((question,))), "log(q) ~ q")


def test_unknown_groups_and_bad_weights_are_refused(study: Table) -> None:
    columns = dict(study.columns) | {"arm": ("A", "C") * 300}
    with pytest.raises(
        ReportError, match="column 'arm': must hold the groups 'A', 'B' or a text of group_missing, got"
    ):
        estimate_shares(Table.of(columns, study.layout), ["theft"])
    with pytest.raises(ParameterError, match="theft: must have reports of both groups"):
        estimate_shares(Table.of(dict(study.columns) | {"arm": ("A",) * 600}, study.layout), ["theft"])
    for weights, bad in [(("-1",) * 600, 600), (("",) + ("1",) * 599, 1)]:
        table = Table.of(dict(study.columns) | {"w": weights}, Layout(study.layout.questions, weights="w"))
        with pytest.raises(ReportError, match=f"weights must be numbers of at least 0, {bad} are not"):
            estimate_shares(table)
    with pytest.raises(ReportError, match="column 'w': must hold numbers, 600 rows do not"):
        estimate_shares(Table.of(dict(study.columns) | {"w": ("many",) * 600}, Layout(study.layout.questions, "w")))


def test_data_must_be_explained_once(survey_file: Path) -> None:
    assert "give one of --survey, --design and --question" in refused("shares", STUDY[0])
    assert "got --design and --question; to choose questions, write their ids behind DATA" in refused(
        "shares", *STUDY, "--question", "affair"
    )
    assert "give only one of --survey, --design and --question, got --survey and --design" in refused(
        "shares", *STUDY, "--survey", survey_file
    )
    assert "--column goes with --survey" in refused("shares", *STUDY, "--column", "a=b")
    assert "column 'affair': must be one of the file's columns: person, rrt_q1" in refused(
        "shares", STUDY[0], "--survey", survey_file
    )
    assert "must end in .svg, .png or .pdf" in refused("shares", *STUDY, "--plot", "x.gif")
    assert "question: must be one of affair, drugs, theft, got 'love'" in refused("shares", *STUDY, "love")


def test_what_is_not_installed_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    really = builtins.__import__

    def without(name: str, *arguments: Any, **others: Any) -> Any:
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])
        return really(name, *arguments, **others)

    monkeypatch.setattr(builtins, "__import__", without)
    hidden = {"formulaic"}
    assert "needs formulaic; in a clone of the project: pip install '.[research]'" in refused(
        "regress", *STUDY, "affair ~ 1"
    )
    hidden = {"matplotlib"}
    told = run("shares", *STUDY, "--plot", tmp_path / "chart.svg")  # which prints the shares all the same
    assert (told.exit_code, "affair" in told.stdout) == (1, True)
    assert "needs matplotlib; in a clone of the project: pip install" in told.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["shares", "--by", "wave"], {"affair", "yes", "2024", "100 %"}),
        (["compare", "affair"], {"affair: difference of shares", "yes: 2024 \u2212 2025"}),
        (["compare", "affair", "--by", "arm"], {"affair: ratio of shares", "yes: A / B"}),
        (["crosstab", "affair", "drugs", "--given", "drugs"], {"among drugs: yes", "affair: yes"}),
        (["regress", "affair ~ age"], {"affair ~ age", "age"}),
    ],
)
def test_pictures_name_what_they_show(tmp_path: Path, arguments: list[str], words: set[str]) -> None:
    picture = tmp_path / "chart.svg"
    command, *others = arguments
    ok(command, *STUDY, *others, "--plot", picture)
    shown = {element.text for element in ET.parse(picture).iter("{http://www.w3.org/2000/svg}text")}
    assert words <= shown
    assert not any("$" in (text or "") for text in shown)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["regress", "affair ~ age", "--stars"], "--stars, --below and --decimals go with a table"),
        (["regress", "affair ~ age", "--below", "intervals"], "--stars, --below and --decimals go with a table"),
        (["regress", "affair ~ age", "--stars", "--to", "x.csv"], "--stars, --below and --decimals go with a table"),
        (
            ["regress", "age ~ affair", "--penalty", "cauchy"],
            "penalty: must be auto or none for corrected least squares",
        ),
        (["shares", "--joint"], "--joint goes with a question that has an anchor"),
        (["shares", "--lonely", "centre"], "lonely: must be given with strata, cluster or population, got 'centre'"),
    ],
)
def test_options_that_would_change_nothing_are_refused(
    arguments: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command, *others = arguments
    assert sentence in refused(command, *STUDY, *others)
    assert not list(tmp_path.iterdir())


def test_what_nobody_can_show_is_replaced(tmp_path: Path) -> None:
    """Labels come from a file, and terminals obey some characters."""
    data, picture, book = (tmp_path / name for name in ("q.csv", "q.svg", "q.xlsx"))
    strange = ["a\x01b", "a\x1b[31mb", "a\uffffb", "a\x9bb", "a\x00b"]
    data.write_text(
        "q,wave\n" + "".join(f"{each % 3 % 2},{strange[each % 5]}\n" for each in range(90)), encoding="utf-8"
    )
    line = ("--question", "q: forced-response truth=1/2", "--by", "wave")
    printed = ok("shares", data, *line, "--plot", picture, "--to", book)
    assert not any(each in printed for each in "\x00\x01\x1b\x9b\uffff")
    assert printed.count("a\ufffdb") == 8
    shown = {element.text for element in ET.parse(picture).iter("{http://www.w3.org/2000/svg}text")}
    assert {"a\ufffdb", "a\ufffd[31mb"} <= shown
    cells = {cell for row in openpyxl.load_workbook(book)["data"].iter_rows(values_only=True) for cell in row}
    assert {"a\x01b", "a\uffffb"} <= {openpyxl.utils.escape.unescape(str(cell)) for cell in cells}


@pytest.mark.slow
def test_pictures_are_the_same_bytes_and_end_at_infinity(tmp_path: Path) -> None:
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    for picture in (first, second):
        ok("shares", *STUDY, "--plot", picture)
    assert first.read_bytes() == second.read_bytes()
    endless = Panel(
        "odds", "log odds ratio", (Mark("open", 1.0, 0.0, math.inf), Mark("shut", 1.0, -math.inf, 2.0)), share=False
    )
    assert interval_chart([endless]).get_axes()[0].get_xlim()[1] < 10
    with pytest.raises(ParameterError, match="chart: must have 1 to 300 figures, got 0"):
        interval_chart([])


def test_csv_and_json_have_the_fields_of_their_rows(study: Table) -> None:
    for command, row_type in [
        (["shares"], EstimateRow),
        (["compare", "affair"], ComparisonRow),
        (["crosstab", "affair", "drugs"], CrosstabRow),
    ]:
        name, *others = command
        lines = list(csv.reader(io.StringIO(ok(name, *STUDY, *others, "--format", "csv"))))
        assert lines[0] == list(field_names(row_type))  # a simple sample has no df_error
        document = json.loads(ok(name, *STUDY, *others, "--format", "json"))
        rows = document[{"shares": "estimates", "compare": "comparisons", "crosstab": "crosstab"}[name]]
        assert [list(row) for row in rows] == [lines[0]] * (len(lines) - 1)
    assert percent(math.nan) == "\u2013"
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"estimate": math.nan})


def test_help_has_a_sentence_and_examples() -> None:
    assert "A design file has a table for each randomised column" in ok("--help")
    for name, command in analyze.commands.items():
        assert command.help
        assert command.help.splitlines()[0].endswith(".")
        assert f"Examples:\n    deniable analyze {name}" in ok(name, "--help")


def test_a_link_in_place_of_a_file_is_told_which_commands_take_one() -> None:
    link = "https://collector.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky"
    for words in (("shares", link), ("regress", link, "affair ~ cohort"), (link,)):
        said = " ".join(refused(*words).split())
        assert "must be a file of reports, got a link" in said
        assert f"'deniable estimate {link}' prints the results" in said
        assert f"'deniable export {link} --to reports.csv' downloads its reports" in said

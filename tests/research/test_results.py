"""``deniable_research.read``: one object over what the command line computes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import deniable_research
from deniable import CollectorError, ParameterError, ReportError, SurveyError, read_survey
from deniable_research import Results, read
from deniable_research.files import Table, compare, cross, estimate_shares, read_layout, regress
from deniable_research.results import Regression
from deniable_statistics.published.published_rows import EstimateOptions
from deniable_statistics.regression.tidy import LIKELIHOOD_RATIO_Z
from tests.support.analyzing import DATA, love_reports, ok
from tests.support.serving import Web, web
from tools.rig.surveys import SURVEY

__all__ = ["web"]


@pytest.fixture(scope="module")
def study() -> Results:
    return read(DATA / "study.csv", DATA / "study.toml")


@pytest.fixture(scope="module")
def table() -> Table:
    return Table.read(DATA / "study.csv", read_layout((DATA / "study.toml").read_bytes()))


@pytest.fixture(scope="module")
def model(study: Results) -> Regression:
    return study.regress("affair ~ age + drugs")


def test_every_method_gives_the_rows_of_its_function(study: Results, table: Table) -> None:
    assert study.questions == ("affair", "drugs", "theft")
    assert list(study.shares().rows) == estimate_shares(table)
    wanted = EstimateOptions(confidence_level=0.9, simultaneous=True)
    by_wave = study.shares("affair", by="wave", confidence_level=0.9, simultaneous=True)
    assert list(by_wave.rows) == estimate_shares(table, ["affair"], by="wave", wanted=wanted)
    assert list(study.compare("affair", line=True).rows) == compare(table, "affair", "wave", line=True)
    assert list(study.crosstab("affair", "drugs", given="drugs").rows) == cross(
        table, ["affair", "drugs"], given="drugs"
    )
    fit = regress(table, "affair ~ age")
    assert study.regress("affair ~ age", confidence_level=0.8).rows == tuple(fit.tidy(0.8))


@pytest.mark.parametrize("missing", ["99", ["99"], [99], ("99", 7)])
def test_one_text_that_means_nothing_is_one_text(missing: Any) -> None:
    frame = pd.DataFrame({"q": ["yes", "no"] * 5, "wave": [1, 9, 99] * 3 + [1]})
    results = read(frame, "q: forced-response truth=1/2", missing=missing)
    assert results.table.levels("wave") == ["1", "9"]


@pytest.mark.parametrize("missing", [99, [9.5], [None]])
def test_what_is_no_text_cannot_mean_nothing(missing: Any) -> None:
    with pytest.raises(ParameterError, match="missing: must"):
        read(pd.DataFrame({"q": ["yes"]}), "q: forced-response truth=1/2", missing=missing)


def test_lists_for_names_and_in_cells_are_refused(study: Results) -> None:
    for ask in (study.shares, study.plot, study.crosstab, study.compare):
        with pytest.raises(ParameterError, match="must be names one by one"):
            ask(["affair"])  # type: ignore[arg-type]
    with pytest.raises(ReportError, match="table: column 'tags' must hold numbers, texts or dates"):
        read(pd.DataFrame({"q": ["yes"], "tags": [["a"]]}), "q: forced-response truth=1/2")


@pytest.mark.slow
def test_texts_are_those_of_the_command(study: Results, model: Regression) -> None:
    files = (str(DATA / "study.csv"), "--design", str(DATA / "study.toml"))
    for command, result in (
        (["shares"], study.shares()),
        (["compare", "affair"], study.compare("affair")),
        (["crosstab", "affair", "drugs"], study.crosstab("affair", "drugs")),
        (["regress", "affair ~ age + drugs"], model),
        (["predict", "affair ~ age + drugs", "--effects"], model.effects()),
        (["predict", "affair ~ age + drugs", "--at", "age=30"], model.predict({"age": 30})),
        (["predict", "affair ~ age + drugs", "--contrast", "drugs"], model.contrast("drugs")),
    ):
        name, *arguments = command
        # Python has no option for the terms that are not shown.
        assert str(result).replace("fit.tidy() has them", "--all-terms") in ok(name, files[0], *arguments, *files[1:])
    against = ok("regress", files[0], "affair ~ age + drugs", "--against", "affair ~ age", *files[1:])
    assert model.against("affair ~ age").text in against
    fitted = ok("regress", files[0], "affair ~ age", "--fit", *files[1:])
    assert study.regress("affair ~ age").goodness().text in fitted


@pytest.mark.slow
def test_results_are_tables_of_pandas_pages_and_charts(study: Results, model: Regression) -> None:
    frame = study.shares("affair").to_frame()
    assert list(frame["option"]) == ["no", "yes"]
    page = model._repr_html_()
    assert "<td>age</td>" in page
    assert "<strong>Caution:</strong> 22 rows" in page
    for chart in (study.plot("affair"), model.plot(), model.odds_ratios(), model.effects().plot()):
        assert "<svg" in chart._repr_svg_()
    with pytest.raises(ParameterError, match="plot: must be asked of estimates"):
        model.goodness(draws=1).plot()
    assert repr(study) == "Results(600 people; affair, drugs, theft)"


def test_models_have_the_names_that_statsmodels_has(model: Regression) -> None:
    rows = {row.term: row for row in model.rows}
    assert list(model.params.index) == list(rows)
    for term, row in rows.items():
        assert (model.params[term], model.bse[term], model.pvalues[term]) == (row.estimate, row.std_error, row.p_value)
        assert tuple(model.conf_int().loc[term]) == (row.conf_low, row.conf_high)
    assert model.summary() == str(model)


def test_a_table_says_where_z_is_not_its_quotient(study: Results) -> None:
    for kind, said in (("profile", True), ("wald", False)):
        found = study.regress("affair ~ age", interval=kind)
        assert (LIKELIHOOD_RATIO_Z in str(found)) == said
        ratios = [row.estimate / row.std_error for row in found.rows]
        assert ([row.statistic for row in found.rows] == pytest.approx(ratios, rel=1e-6)) != said


def test_names_in_pages_are_texts() -> None:
    frame = pd.DataFrame({"q<b>": ["yes", "no"] * 50, "<script>": ["a", "b"] * 50})
    results = read(frame, "q<b>: two-coin truth=1/2 yes=1/2 codes=yes:yes,no:no")
    for page in (results._repr_html_(), results.shares(by="<script>")._repr_html_()):
        assert "<b>" not in page.replace("&lt;b&gt;", "")
        assert "<script>" not in page


@pytest.mark.slow
def test_charts_are_saved_by_their_names(model: Regression, tmp_path: Path) -> None:
    for name in ("a.svg", "a.png", "a.pdf"):
        model.plot().save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    with pytest.raises(ParameterError, match="must end in"):
        model.plot().save(tmp_path / "a.docx")


def test_whatever_holds_the_same_reports_gives_the_same(study: Results, tmp_path: Path) -> None:
    frame = pd.read_csv(DATA / "study.csv", sep=";", encoding="utf-8-sig", dtype=str, keep_default_na=False)
    layout = read_layout((DATA / "study.toml").read_bytes())
    expected = study.shares().rows
    assert read(frame, layout).shares().rows == expected
    assert read(frame.astype("category"), DATA / "study.toml").shares().rows == expected
    frame.to_parquet(tmp_path / "study.parquet")
    assert read(tmp_path / "study.parquet", str(DATA / "study.toml")).shares().rows == expected
    weighted = read(frame, layout, weights="w").shares().rows
    assert weighted != expected
    numbers = study.to_frame()
    assert numbers["age"].dtype == float
    assert len(numbers) == len(study) == 600


def test_a_survey_says_what_its_reports_are(tmp_path: Path) -> None:
    survey, reports = love_reports(60)
    frame = pd.DataFrame([{**report.values, "cohort": report.cohort} for report in reports])
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")
    (tmp_path / "survey.json").write_bytes(survey.document)
    rows = read(frame, survey).shares().rows
    for said in (tmp_path / "survey.toml", tmp_path / "survey.json"):
        assert read(frame, said).shares().rows == rows
    renamed = frame.rename(columns={"affair": "Q7"})
    assert read(renamed, survey, columns={"affair": "Q7"}).shares().rows == tuple(rows), "the others by their ids"
    part = renamed.drop(columns="religious")
    assert read(part, survey, columns={"affair": "Q7"}).shares().rows == tuple(rows[:2])
    crossed = frame.rename(columns={"affair": "religious", "religious": "q2"})
    assert read(crossed, survey, columns={"religious": "q2"}).shares().rows == tuple(rows[2:])


def test_a_table_that_lacks_a_column_is_told_the_way_out() -> None:
    survey, reports = love_reports(60)
    frame = pd.DataFrame([report.values for report in reports])
    for table, words in (
        (
            frame.drop(columns="religious"),
            r"name one: --column affair=affair \(in Python columns={'affair': 'affair'}\)",
        ),
        (frame.rename(columns={"affair": "q1", "religious": "q2"}), "--column affair=NAME"),
        (
            frame.rename(columns={"affair": "0", "religious": "1"}),
            "the first line holds numbers, but must hold the names",
        ),
    ):
        with pytest.raises(ReportError, match=words):
            read(table, survey)
    # Another tool's export may lack questions, and other columns have no way out.
    with pytest.raises(ReportError, match=r"must be one of the file's columns: affair, religious$"):
        read(frame, survey, columns={"affair": "q1"})
    with pytest.raises(ReportError, match=r"must be one of the file's columns: affair, religious$"):
        read(frame, survey, weights="w")


@pytest.mark.parametrize(
    ("source", "design", "settings", "words"),
    [
        ("nope.csv", "q: direct", {}, "source: must be a file, a link or a table"),
        (pd.DataFrame({"q": [1]}), None, {}, "design: must say what the columns hold"),
        (pd.DataFrame({"q": [1]}), "nope.toml", {}, "design: must be a file or a question in short"),
        (pd.DataFrame({"q": [1]}), 3, {}, "design: must be a survey"),
        (pd.DataFrame({"q": [1]}), "q: direct", {"columns": {"q": "x"}}, "columns: must go with a survey"),
        (pd.DataFrame({"q": [1]}), "q: direct", {"skip": 1}, "must be left out of a table"),
        (pd.DataFrame({"q": [1]}), "q: direct", {"token": "dn_1"}, "token: must go with the link"),
        ([1, 2], "q: direct", {}, "must be a file or a table of pandas"),
        ("https://a.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky", "q: direct", {}, "design: must be left out of a link"),
        ("http://a.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky", None, {"token": "dn_1"}, "must start with https"),
    ],
)
def test_what_cannot_be_read_is_said(source: Any, design: Any, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        read(source, design, **settings)


@pytest.mark.parametrize(
    "link", ["https://a.example", "https://a.example/s/short", "http://user@a.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky"]
)
def test_links_that_are_of_no_survey_are_refused(link: str) -> None:
    with pytest.raises(SurveyError, match="must be a link such as"):
        read(link)


def test_columns_of_one_name_are_refused() -> None:
    with pytest.raises(ReportError, match="different names"):
        read(pd.DataFrame([[1, 2]], columns=["q", "q"]), "q: direct")


def test_the_link_of_a_survey_is_fetched_and_checked(web: Web) -> None:
    url = web.url
    survey, reports = love_reports(30)
    header = ["id", "cohort", *(question.id for question in survey.questions)]
    lines = [",".join(map(str, [report.id, report.cohort or "", *report.values.values()])) for report in reports]
    path = f"/api/v1/surveys/{survey.id}"
    web.pages = {
        path: (200, survey.document),
        f"{path}/reports.csv": (200, "\r\n".join([",".join(header), *lines, ""]).encode()),
    }
    for link in (f"{url}/s/{survey.id}", f"{url}/s/{survey.id}/results#cohort=web", f"{url}{path}/estimates?by=cohort"):
        results = read(link, token="dn_secret")
        assert len(results) == 30
        assert results.questions == tuple(question.id for question in survey.questions)
    assert set(web.asked) == {(path, None), (f"{path}/reports.csv", "Bearer dn_secret")}

    other = read_survey(SURVEY.replace("affair", "secret"))
    web.pages[path] = (200, other.document)
    with pytest.raises(SurveyError):
        read(f"{url}/s/{survey.id}")
    for status, error, words in (
        (404, SurveyError, "there is none with this id at"),
        (401, CollectorError, "need a token"),
        (301, CollectorError, "status 301"),
        (500, CollectorError, "status 500"),
    ):
        web.pages[path] = (200, survey.document)
        web.pages[f"{path}/reports.csv"] = (status, json.dumps({"detail": "no"}).encode())
        with pytest.raises(error, match=words):
            read(f"{url}/s/{survey.id}")
    for status, words in ((401, "is unknown, revoked or expired"), (403, "may not read the results of this survey")):
        web.pages[f"{path}/reports.csv"] = (status, b"{}")
        with pytest.raises(CollectorError, match=words):
            read(f"{url}/s/{survey.id}", token="dn_secret")


def test_nothing_is_loaded_before_somebody_asks() -> None:
    assert deniable_research.__all__ == ["Results", "read"]
    with pytest.raises(AttributeError, match="no attribute 'reed'"):
        _ = deniable_research.reed


def test_every_table_of_pandas_numbers_its_rows(study: Results, model: Regression) -> None:
    """From 0 on, each once: also of several predictions, which one person's row cannot tell apart."""
    three = read(
        pd.DataFrame({"q": ["a", "b", "c", "a"] * 60, "age": range(240)}),
        "q: k-ary k=3 epsilon=2 options=a,b,c codes=0:a,1:b,2:c",
    ).regress("q ~ age")
    for result in (
        study.shares(),
        study.crosstab("affair", "drugs"),
        model,
        model.predict({"age": 20}, {"age": 40}),
        model.effects(),
        model.contrast("drugs"),
        model.against("affair ~ age"),
        three.effects(),
        three.predict(),
    ):
        frame = result.to_frame()
        assert frame.index.equals(pd.RangeIndex(len(result)))
    frame = study.to_frame()
    assert frame.index.equals(pd.RangeIndex(len(frame)))


def test_every_chart_of_estimates_says_what_its_axis_measures(study: Results, model: Regression) -> None:
    numbers = study.regress("income ~ affair")
    for chart, words in (
        (model.plot(), "log odds ratio"),
        (model.odds_ratios(), "odds ratio"),
        (numbers.plot(), "coefficient"),
        (model.predict().plot(), "average share"),
        (model.effects().plot(), "average marginal effect on the share"),
        (model.contrast("drugs").plot(), "difference of average shares"),
        (study.shares("affair").plot(), "share"),
        (study.compare("affair").plot(), "difference of shares"),
        (study.crosstab("affair", "drugs").plot(), "share of all people"),
        (study.crosstab("affair", "drugs", given="drugs").plot(), "share among people with each answer to drugs"),
    ):
        assert next(axes.get_xlabel() for axes in chart.figure().axes) == words
        assert all(axes.get_xlabel() for axes in chart.figure().axes)


PUBLIC = """
import sys
import deniable_research
names = dir(deniable_research)
assert not {"numpy", "scipy", "pandas"} & set(sys.modules), "to list names loads nothing"
for name in names:
    getattr(deniable_research, name)
print(*names)
"""
IN_STATISTICS = {"comparison", "designs", "joint", "planning", "risk", "sampling"}
"""What stands in `deniable_statistics`, and is there under these names all the same."""


@pytest.mark.slow
def test_packages_are_there_without_an_import_of_their_own() -> None:
    shown = subprocess.run([sys.executable, "-c", PUBLIC], check=True, capture_output=True, text=True).stdout.split()
    packages = {path.parent.name for path in Path(deniable_research.__path__[0]).glob("*/__init__.py")}
    assert {"read", "Results", *IN_STATISTICS} <= set(shown)
    assert set(shown) - {"read", "Results", *IN_STATISTICS} == packages - {"commands"}
    places = {getattr(deniable_research, name).__name__.partition(".")[0] for name in IN_STATISTICS}
    assert places == {"deniable_statistics"}

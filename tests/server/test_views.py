"""Views of results: every number on each is the library's, as page, file and figure, in every language."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import subprocess
import urllib.request
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from flask.testing import FlaskClient
from markupsafe import escape

from deniable import Survey, Tally, __version__, read_survey, tally_reports
from deniable_research.files.paper_table import PaperTable, tex
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.language import catalogues, words
from deniable_server.results import drawing, results_chart
from deniable_server.results.headlines import certain_differences
from deniable_server.results.written import localized
from deniable_server.settings import Settings
from deniable_server.store import Store
from deniable_server.web import results_pages
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.published.charts import SHARES, Mark, Panel
from deniable_statistics.views.figures import WIDTH, Caption, figure
from deniable_statistics.views.recipe import scripts
from deniable_statistics.views.view_row import ViewOptions
from deniable_statistics.views.view_rows import view_of
from tests.support.archives import files_of
from tests.support.views import COHORTS, filled, reports_of
from tools.packages import pdflatex
from tools.rig.in_process import ended
from tools.rig.patience import PATIENCE
from tools.rig.surveys import EVERY_KIND, FIVE_TYPES, Clock


class Collector(NamedTuple):
    """A collector with a survey of every type and one release, which tests read and do not change."""

    http: FlaskClient
    store: Store
    survey: Survey


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """Started once for all tests that look at it."""
    path = tmp_path_factory.mktemp("views") / "test.db"
    with ended(create_app(path, Clock(), Settings(rate_limit=None, fold_seconds=86_400))) as app:
        store: Store = app.extensions["deniable"]["store"]
        survey, _ = filled(store, FIVE_TYPES)
        yield Collector(app.test_client(), store, survey)


@pytest.mark.slow
@pytest.mark.parametrize("text", [FIVE_TYPES, EVERY_KIND])
def test_the_recipe_beside_a_number_gives_that_number(
    text: str, monkeypatch: pytest.MonkeyPatch, http: FlaskClient, store: Store
) -> None:
    survey, reports = filled(store, text)
    tallies = tally_reports(reports, survey)
    content = http.get(f"/api/v1/surveys/{survey.id}/reports.csv").data
    monkeypatch.setattr(urllib.request, "urlopen", lambda _url: io.BytesIO(content))
    recomputed = 0
    for question in survey.questions:
        rows = view_of(survey, tallies, question.id)
        python, r = scripts(question, rows, "https://collector.example/reports.csv")
        assert bool(python) == bool(r)
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(python, {})
        row = rows[question.kind.headline or 0]
        said, _, published = printed.getvalue().partition("published")
        numbers, shown = (
            [float(each) for each in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", part)] for part in (said, published)
        )
        assert row.value == pytest.approx(shown[(question.kind.headline or 0) if len(shown) > 1 else 0], abs=0.0011)
        if said.startswith("unbiased shares"):  # all of them, then all errors
            assert row.estimate is not None
            assert numbers[0] == pytest.approx(row.estimate, abs=1e-6)
            assert numbers[len(numbers) // 2] == pytest.approx(row.std_error, abs=1e-6)
        else:
            assert numbers[:2] == pytest.approx([row.estimate, row.std_error])
            if len(numbers) == 4:
                assert numbers[2:] == pytest.approx([row.conf_low, row.conf_high], abs=0.0011)
        recomputed += 1
    assert recomputed == len(survey.questions)


@pytest.mark.parametrize("language", catalogues())
def test_pages_speak_the_language_of_their_reader(five: Collector, language: str) -> None:
    http, _, survey = five
    said = words(language)
    for path in (
        *("results", "results?view=all", "results/affair?by=cohort", "results/town?compare=cohort", "releases"),
        *("results/town?with=affair", "results/drugs?with=affair", "results/affair?over=time"),
    ):
        for address, headers in (
            (f"/s/{survey.id}/{path}", {"Accept-Language": language}),
            (f"/s/{survey.id}/{path}{'&' if '?' in path else '?'}lang={language}", {}),
        ):
            if path == "releases" and not headers:
                continue
            page = http.get(address, headers=headers)
            assert f'<html lang="{language}" dir="{said["dir"]}">' in page.text
            assert page.headers["Vary"] == "Accept-Language"
            assert not re.search(r"(?<!\\cite)\{[a-z]+\}", page.text), "a value that was not put into its sentence"
            heading = said["rReleases" if path == "releases" else "rCite"]
            assert f">{escape(heading)}</h" in page.text
    image = http.get(f"/s/{survey.id}/results/affair.svg?lang={language}").text
    assert f">{said['yes']}</text>" in image
    assert said["rCount"].format(n=300) in image
    assert localized("1.5", said) == ("1,5" if language in ("de", "es", "fr") else "1.5")


def test_figures_are_xml_that_says_everything_and_stay_within_their_width(five: Collector) -> None:
    http, _, survey = five
    image = http.get(f"/s/{survey.id}/results/town.svg?by=cohort")
    assert image.headers["Content-Security-Policy"] == "default-src 'none'"
    tree = ElementTree.fromstring(image.data)
    texts = [each.text or "" for each in tree.iter("{http://www.w3.org/2000/svg}text")]
    said = " ".join(texts)
    for each in ("Where do you live?", "Replies counted: 300", "Institute of Sociology", survey.id, "95 % intervals"):
        assert each in said, each
    assert said.count("north") == 10
    assert "too few replies to say" in said
    for line in tree.iter("{http://www.w3.org/2000/svg}line"):
        assert 0 <= float(line.attrib["x1"]) <= float(line.attrib["x2"]) <= WIDTH
    title = tree.find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == "Where do you live?"


@pytest.mark.parametrize("text", ["<script>", "]]>&", "\u0646\u0639\u0645 & <b>", "\ufffe\x01", "W" * 300])
def test_texts_in_figures_are_texts(text: str) -> None:
    mark = Mark(text, 0.5, -0.1, 1.2, point=0.5, said=text)
    image = figure([Panel(text, "", (mark,), fixed=SHARES)], Caption(text, text, (text,), description=text))
    assert b"script" not in {each.tag.encode() for each in ElementTree.fromstring(image).iter()}
    assert image.count('class="arrow"') == 2


class TestDifferences:
    def test_are_said_only_where_all_intervals_together_hold_them(self) -> None:
        """Groups that are alike: a sentence in at most 5 % of 400 views; groups far apart: the true one, always."""
        survey = read_survey(
            'title = "T"\ncohorts = ["a", "b", "c"]\n[[questions]]\nid = "q"\ntype = "choice"\ntext = "Q?"\n'
            'options = ["x", "y", "z"]\nepsilon = 2.0\n'
        )
        (question,) = survey.questions
        channel = design_of(question.mechanism).float_matrix
        generator, level = np.random.default_rng(8), words("en")

        def said(*shares: tuple[float, ...]) -> list[str]:
            tallies: dict[str | None, Tally] = {}
            for cohort, truth in zip(survey.cohorts, shares, strict=True):
                counts = generator.multinomial(400, channel @ np.array(truth))
                tallies[cohort] = Tally(400, {"q": tuple(map(int, counts))})
            return certain_differences(view_of(survey, tallies, "q", ViewOptions(compare=True)), level, {})

        alike = (0.5, 0.3, 0.2)
        assert sum(bool(said(alike, alike, alike)) for _ in range(400)) <= 20 + 13  # 3 standard errors above .05
        apart = [said((0.9, 0.05, 0.05), alike, alike) for _ in range(20)]
        assert all("x: more frequent in a than in b" in " ".join(each) for each in apart)
        assert not any("in b than in a" in line and line.startswith("x") for each in apart for line in each)

    def test_of_one_group_are_none(self, http: FlaskClient, store: Store) -> None:
        survey = replace(read_survey(COHORTS + FIVE_TYPES), results="live")
        store.publish(survey)
        store.store_reports([(survey, [replace(each, cohort="north") for each in reports_of(survey, 5)])])
        page = http.get(f"/s/{survey.id}/results/affair?compare=cohort").text
        assert words("en")["rOneGroup"] in page

    def test_that_cannot_be_seen_are_refused_with_the_way_out(self, five: Collector) -> None:
        http, _, survey = five
        for query, said in (
            ("compare=cohort&against=east", "against: must be a cohort with reports"),
            ("with=drinks", "'drinks' has a mean alone"),
            ("with=affair", "must be two different questions"),
            ("with=nothing", "has no question of that id"),
            ("with=town&by=cohort", "must not go with cohorts"),
            ("compare=cohort&assume_fake=0.1", "no other option"),
        ):
            answer = http.get(f"/s/{survey.id}/results/affair?{query}", headers={"Accept": "application/json"})
            assert answer.status_code in (404, 422), query
            assert said in answer.text, query
        assert http.get(f"/s/{survey.id}/results?compare=cohort").status_code == 422
        assert http.get(f"/s/{survey.id}/results/nothing").status_code == 404

    def test_name_the_method_of_their_intervals_and_how_these_hold_together(self, five: Collector) -> None:
        http, _, survey = five
        file, page = (http.get(f"/s/{survey.id}/results/town{form}?compare=cohort") for form in (".json", ""))
        rows = file.json["rows"]
        assert {row["method"] for row in rows} == {"simultaneous mover"}
        text = f"{words('en')['rDifferencesBy']} {words('en')['rDifferencesShare']}"
        said = text.format(methods="square-and-add (MOVER)", level="95 %", n=len(rows))
        assert html.escape(said, quote=False) in page.text.replace("&#39;", "'")
        assert "Method of its interval" not in http.get(f"/s/{survey.id}/results/town").text

    def test_link_a_file_of_their_own_numbers(self, five: Collector) -> None:
        http, _, survey = five
        address = f"/s/{survey.id}/results/town"
        for query in ("?compare=cohort", "?by=cohort", "?with=affair", ""):
            page = http.get(address + query).text
            download = html.unescape(page.partition('<section id="download">')[2].partition("</section>")[0])
            assert f'The numbers of this page (<a href="{address}.csv{query}">CSV</a>' in download
            (link,) = re.findall(r'<link rel="alternate" type="text/csv" href="([^"]+)"', page)
            assert html.unescape(link) == f"{address}.csv{query}"
            rows = list(csv.DictReader(io.StringIO(http.get(f"{address}.csv{query}").text)))
            assert rows[0]["statistic"] == {"?compare=cohort": "difference", "?with=affair": "row share"}.get(
                query, "share"
            )
        page = html.unescape(http.get(f"/s/{survey.id}/results?by=cohort").text)
        assert f'The numbers of this page (<a href="/s/{survey.id}/results.csv?by=cohort">CSV</a>' in page

    @pytest.mark.parametrize("confidence", ["0.95", "0.8"])
    def test_say_nothing_of_others_where_there_is_one(self, http: FlaskClient, store: Store, confidence: str) -> None:
        survey = replace(read_survey(COHORTS + FIVE_TYPES), results="live")
        store.publish(survey)
        sent = [replace(each, cohort=survey.cohorts[i % 2]) for i, each in enumerate(reports_of(survey, 60))]
        store.store_reports([(survey, sent)])
        address = f"/s/{survey.id}/results/affair?compare=cohort&confidence={confidence}"
        page = html.unescape(http.get(address).text)
        said, level = words("en"), f"{100 * float(confidence):g} %"
        for name in ("rDifferencesShare", "rHoldTogether"):
            assert said[name].format(level=level, n=1) not in page
        assert "Bonferroni" not in page
        assert said["rKey"].format(level=level) in page, "the bar of one difference is read as any other"
        assert "Method of its interval" in page
        assert said["rDifferenceAlone"].format(level=level) in page
        (row,) = http.get(f"/s/{survey.id}/results/affair.json?compare=cohort").json["rows"]
        assert "simultaneous" not in row["method"], "nothing else holds together with it"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("results.svg", "results-{id}.svg"),
        ("results/affair.svg", "results-{id}-affair.svg"),
        ("results/affair.png", "results-{id}-affair.png"),
        ("results/affair.pdf?by=cohort", "results-{id}-affair-by-cohort.pdf"),
        ("results/affair.pdf?compare=cohort", "results-{id}-affair-compared.pdf"),
        ("results/affair.svg?with=town", "results-{id}-affair-with-town.svg"),
        ("results/affair.csv?by=cohort", "results-{id}-affair-by-cohort.csv"),
    ],
)
def test_a_download_is_called_after_what_it_shows(five: Collector, address: str, name: str) -> None:
    http, _, survey = five
    how = "attachment" if ".csv" in address else "inline"  # a figure is shown where it is opened
    said = http.get(f"/s/{survey.id}/{address}").headers["Content-Disposition"]
    assert said == f'{how}; filename="{name.format(id=survey.id)}"'


def test_views_of_a_private_survey_ask_for_a_token(http: FlaskClient, store: Store) -> None:
    survey = replace(read_survey(COHORTS + FIVE_TYPES), readers="token", results="batches", release=50)
    store.publish(survey)
    store.store_reports([(survey, reports_of(survey, 150))])
    store.settle()
    token = create_token(store, "reader", "read")
    for path in (
        *(f"/s/{survey.id}/{each}" for each in ("results", "results/affair", "results?view=all", "releases")),
        *(f"/s/{survey.id}/results/affair.{form}" for form in ("csv", "json", "svg", "png", "pdf")),
        *(f"/s/{survey.id}/results/affair{each}" for each in ("/embed", "?over=time", "?compare=cohort", "?with=town")),
        f"/s/{survey.id}/results.csv",
        f"/oembed?url=http://localhost/s/{survey.id}/results/affair",
        *(f"/api/v1/surveys/{survey.id}/{each}" for each in ("releases", "releases/1", "archive.zip")),
    ):
        assert http.get(path).status_code == 401, path
        allowed = http.get(path, headers={"Authorization": f"Bearer {token}"})
        assert allowed.status_code == 200, path
        assert "public" not in allowed.headers.get("Cache-Control", ""), path


def test_one_figure_of_too_many_questions_is_refused_with_the_way_out_and_not_offered(
    five: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    http, _, survey = five
    assert f'href="/s/{survey.id}/results.svg' in http.get(f"/s/{survey.id}/results?confidence=0.97").text
    for module in (drawing, results_pages):
        monkeypatch.setattr(module, "MOST_ROWS", 20)
    refused = http.get(f"/s/{survey.id}/results.svg?confidence=0.98", headers={"Accept": "application/json"})
    assert refused.status_code == 422
    assert "must have at most 20 intervals, got 24; ask for one question" in refused.json["detail"]
    assert f'href="/s/{survey.id}/results.svg' not in http.get(f"/s/{survey.id}/results?confidence=0.98").text
    assert http.get(f"/s/{survey.id}/results/town.svg?confidence=0.98").status_code == 200


def test_more_numbers_than_one_page_shows_stand_on_a_page_for_each_question(
    five: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    http, _, survey = five
    monkeypatch.setattr(results_pages, "MOST_ON_PAGE", 30)
    said = words("en")["rOneByOne"]
    page = http.get(f"/s/{survey.id}/results?by=cohort&confidence=0.961").text
    assert said in page
    assert f'href="/s/{survey.id}/results/affair?by=cohort&amp;confidence=0.961"' in page
    assert "<table" not in page
    assert said not in http.get(f"/s/{survey.id}/results?view=all&confidence=0.961").text
    assert http.get(f"/s/{survey.id}/results/affair?by=cohort&confidence=0.961").status_code == 200
    monkeypatch.setattr(results_pages, "MOST_ON_PAGE", 7)
    link = f'href="/s/{survey.id}/results/affair.csv?by=cohort&amp;confidence=0.962"'
    assert link in http.get(f"/s/{survey.id}/results/affair?confidence=0.962").text
    for view in ("affair", "affair/embed"):
        refused = http.get(f"/s/{survey.id}/results/{view}?by=cohort", headers={"Accept": "application/json"})
        assert refused.json["detail"] == "by: must make at most 7 rows on a page, got 8; ask for CSV or JSON"
    refused = http.get(f"/s/{survey.id}/results.svg?by=cohort&confidence=0.961", headers={"Accept": "application/json"})
    assert refused.status_code == 422
    assert "ask for one question" in refused.json["detail"]
    assert len(http.get(f"/s/{survey.id}/results.csv?by=cohort&confidence=0.961").text.splitlines()) == 1 + 3 * 24


def test_without_matplotlib_figures_are_svg_and_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, five: Collector
) -> None:
    http, _, survey = five
    monkeypatch.setattr(results_chart, "find_spec", lambda _name: None)
    for form in ("png", "pdf"):
        refused = http.get(f"/s/{survey.id}/results/affair.{form}?lang=es", headers={"Accept": "application/json"})
        assert refused.status_code == 501
        assert "the extra figures, in a clone of the project: pip install '.[figures]'" in refused.json["detail"]
    assert http.get(f"/s/{survey.id}/results/affair.svg?lang=es").status_code == 200


def test_an_archive_has_everything_and_the_same_bytes(five: Collector) -> None:
    http, _, survey = five
    api = f"/api/v1/surveys/{survey.id}"
    content = http.get(f"{api}/archive.zip").data
    assert http.get(f"{api}/archive.zip").data == content
    files = files_of(content)
    assert files["survey.json"] == survey.document
    for name in ("reports.csv", "estimates.csv"):
        assert files[name] == http.get(f"{api}/{name}").data
    assert files["releases/1.json"] == http.get(f"{api}/releases/1").data
    package = json.loads(files["datapackage.json"])
    for resource in package["resources"]:
        header = files[resource["path"]].decode().splitlines()[0].split(",")
        assert [each["name"] for each in resource["schema"]["fields"]] == header
    methods = files["methods.txt"].decode()
    assert "epsilon = 6.099" in methods
    assert "otherwise yes with probability 0.5, epsilon = 1.099 (for \u201cHave you had an affair" in methods
    assert "on the numbers from 0 to 60" in methods
    town = str(survey.question("town").text)
    assert f"1 (for \u201c{town}\u201d)" in methods, "scales of other lengths have other parameters"
    assert "; R. F. Boruch, \u201cAssuring" in methods.partition(". References: A. Agresti")[2]
    works = files["methods.bib"].decode()
    # Beside the works in the list stand the software and five works that a paper may add.
    assert works.count("\n}\n") == methods.partition("References: ")[2].count("; ") + 1 + 6
    assert "@article{boruch1971,\n  author = {R. F. Boruch},\n" in works
    rows = csv.DictReader(io.StringIO(files["estimates.csv"].decode()))
    assert {row["method"] for row in rows} == {"agresti-coull", "feldman-cousins", "likelihood-ratio"}

    named = (
        "Agresti-Coull intervals (Agresti and Coull 1998), Feldman-Cousins intervals (Feldman and Cousins 1998) and "
        "likelihood-ratio intervals (Wilks 1938)"
    )
    assert f"a random sample. The intervals are {named}. The software was Deniable {__version__}." in methods
    assert "release=1" in files["CITATION.cff"].decode()
    assert "recompute/affair.R" in files


def test_the_paragraph_for_latex_cites_works_that_its_bibliography_has(five: Collector) -> None:
    http, _, survey = five
    files = files_of(http.get(f"/api/v1/surveys/{survey.id}/archive.zip").data)
    paragraph, works = files["methods.tex"].decode(), files["methods.bib"].decode()
    cited = {key for keys in re.findall(r"\\cite\{([^{}]+)\}", paragraph) for key in keys.split(",")}
    entries = re.findall(r"^@\w+\{(\w+),$", works, re.MULTILINE)
    assert len(entries) == len(set(entries))
    assert {"boruch1971", "feldman1998", "wilks1938", "deniable"} <= cited
    assert set(entries) == cited | {"agresti2001", "donner2012", "fuller1987", "newcombe1998", "zou2008"}
    assert "References" not in paragraph
    assert f"The software was Deniable {_in_tex(__version__)} \\cite{{deniable}}." in paragraph
    assert "two coins \\cite{boruch1971}, the truth" in paragraph


def _in_tex(version: str) -> str:
    return version.replace("_", "\\_")


def test_the_software_is_cited_with_the_version_that_computed(five: Collector) -> None:
    http, _, survey = five
    works = files_of(http.get(f"/api/v1/surveys/{survey.id}/archive.zip").data)["methods.bib"].decode()
    entry = works[works.index("@misc{deniable,") :].partition("\n}\n")[0]
    about = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    (title,) = re.findall('^title: "(.*)"$', about, re.MULTILINE)
    (license_of,) = re.findall("^license: (.*)$", about, re.MULTILINE)
    (author,) = re.findall("^  - name: (.*)$", about, re.MULTILINE)
    assert f"  author = {{{{{author}}}}},\n  title = {{{{{title}}}}},\n" in entry
    assert f"  note = {{Software, version {_in_tex(__version__)}, {license_of}}}" in entry
    assert re.search(r"  year = \{20\d\d\},\n", entry)
    assert "url" not in entry, "the software has no address yet"


@pytest.mark.long
@pytest.mark.parametrize("preamble", [r"\usepackage[numbers]{natbib}", r"\usepackage{natbib}\let\cite\citep"])
def test_latex_sets_the_paragraph_with_its_bibliography(five: Collector, tmp_path: Path, preamble: str) -> None:
    http, _, survey = five
    files = files_of(http.get(f"/api/v1/surveys/{survey.id}/archive.zip").data)
    for name in ("methods.tex", "methods.bib", "citation.bib"):
        (tmp_path / name).write_bytes(files[name])
    table = PaperTable(("question", "p"), (("affair", "0.01"),), (), ("95 % intervals (mover). " * 9,))
    (tmp_path / "compare.tex").write_text(tex(table), encoding="utf-8")
    docs = Path(__file__).parents[2] / "docs"
    blocks = [
        re.findall(r"```latex\n(.*?)```", (docs / page).read_text(encoding="utf-8"), re.DOTALL)
        for page in ("learn/paper.md", "researchers.md")
    ]
    body = "\n".join(["Words.", *(block for page in blocks for block in page), rf"\cite{{deniable-{survey.id}-1}}"])
    document = f"\\documentclass{{article}}{preamble}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    said = (docs / "researchers.md").read_text(encoding="utf-8")
    assert all(f"`{each}`" in said for each in re.findall(r"\\usepackage[^\\]*|\\let.*", preamble))
    (tmp_path / "paper.tex").write_text(document, encoding="utf-8")
    latex = [pdflatex(), "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    bibtex = str(Path(latex[0]).with_name("bibtex"))
    for command in (latex, [bibtex, "paper"], latex, latex):
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert run.returncode == 0, run.stdout
    assert all(blocks)
    assert "undefined" not in run.stdout
    assert "Overfull" not in run.stdout.partition("methods.tex")[0], "the notes are as narrow as the table"
    assert "Feldman" in (tmp_path / "paper.bbl").read_text(encoding="utf-8")


def test_the_paragraph_counts_the_replies_of_few_cohorts(http: FlaskClient, store: Store) -> None:
    survey = replace(read_survey(COHORTS + FIVE_TYPES), results="live")
    store.publish(survey)
    sent = [replace(each, cohort=(*survey.cohorts, None)[i % 3]) for i, each in enumerate(reports_of(survey, 60))]
    store.store_reports([(survey, sent)])
    page = html.unescape(http.get(f"/s/{survey.id}/results").text)
    numbers = {name: sum(each.cohort == name for each in sent) for name in (*survey.cohorts, None)}
    named = [f"{numbers[each]} \u201c{each}\u201d" for each in survey.cohorts]
    alone = [f"{numbers[None]} of no cohort"] if numbers[None] else []
    assert f"60 replies were counted ({', '.join([*named, *alone])})" in page
    many = replace(survey, cohorts=tuple("abcdefg"))
    store.publish(many)
    store.store_reports([(many, [replace(each, cohort="a") for each in reports_of(many, 9)])])
    assert "9 replies were counted in 7 cohorts" in html.unescape(http.get(f"/s/{many.id}/results").text)


def test_figures_say_what_their_bars_hold_and_how_ends_are_rounded(http: FlaskClient, store: Store) -> None:
    survey = replace(read_survey(COHORTS + FIVE_TYPES), results="live")
    store.publish(survey)
    store.store_reports([(survey, reports_of(survey, 60))])
    said, results = words("en"), f"/s/{survey.id}/results"
    compared, alone, overview = (
        html.unescape(http.get(f"{results}{each}").text) for each in ("/affair?compare=cohort", "/affair", "")
    )
    together, each = said["rHoldTogether"].format(level="95 %"), said["rKey"].format(level="95 %")
    for page, of_all in ((compared, True), (alone, False), (overview, False)):
        assert ((together in page), (each in page)) == (of_all, not of_all)
    low = html.unescape(http.get(f"{results}/affair?compare=cohort&confidence=0.8").text)
    assert low.count(said["rHoldTogether"].format(level="80 %")) == 1
    file = " ".join("".join(ElementTree.fromstring(http.get(f"{results}/affair.svg").data).itertext()).split())
    for text in (alone, overview, http.get(f"{results}/affair/embed").text, file):
        assert said["rRounded"] in text


def test_pages_describe_themselves_to_machines(http: FlaskClient, store: Store) -> None:
    evil = "</script><b>$x_1$ & {y}"
    survey = replace(read_survey(COHORTS + FIVE_TYPES), title=evil, results="live")
    store.publish(survey)
    store.store_reports([(survey, reports_of(survey, 9))])
    page = http.get(f"/s/{survey.id}/results").text
    (block,) = re.findall('<script type="application/ld\\+json">(.*?)</script>', page)
    described = json.loads(block)
    assert (described["@type"], described["name"], described["identifier"]) == ("Dataset", evil, survey.id)
    assert described["distribution"][0]["contentUrl"] == f"http://localhost/api/v1/surveys/{survey.id}/estimates.csv"
    assert f'<meta property="og:title" content="Results: {escape(evil)}">' in page
    assert "\\$x\\_1\\$ \\&amp; \\textbraceleft{}y\\textbraceright{}" in page, "BibTeX escapes what it would read"

"""The pages without a browser: what they hold, and what they cannot be made to hold."""

from __future__ import annotations

import functools
import gzip
import html
import json
import math
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from markupsafe import escape

import deniable_server
from deniable import DrawnBoxes, ParameterError, Report, Survey, estimate, read_survey, tally_reports
from deniable.wire.space import Value
from deniable_client import randomize
from deniable_server.app import create_app
from deniable_server.language import PAGE_WORDS, catalogues, client_folder, in_apostrophes, words
from deniable_server.results import drawing, results_chart
from deniable_server.results.cache import ResultCache
from deniable_server.results.headlines import in_words
from deniable_server.results.question_view import notes
from deniable_server.results.view_tables import shown_figure
from deniable_server.settings import Settings, settings_from
from deniable_server.store import Store
from deniable_server.web import results_pages
from deniable_statistics.published.charts import SHARES, Axis, columns, wrapped
from deniable_statistics.views.figures import WHOLE, WIDTH, Caption, figure, is_rtl
from deniable_statistics.views.view_row import ViewOptions, share_view
from tools.rig.in_process import ended
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import FIVE_TYPES, Clock, person

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>'


@pytest.fixture
def filled(store: Store, survey: Survey) -> Survey:
    store.publish(survey)
    answers = {"affair": "no", "religious": "fairly"}
    # The same replies in every run: with others, narrow intervals have a digit after the point.
    dice = random.Random(1)
    cohorts = [None, "paper", "web"] * 100
    people = [randomize(survey, answers, cohort, word=lambda: dice.getrandbits(32)) for cohort in cohorts]
    store.store_reports([(survey, people)])
    return survey


def test_no_text_of_a_survey_ends_the_attribute_that_holds_its_document() -> None:
    survey = read_survey(
        survey_toml("""'>"></deniable-survey><script>&#39;&amp;""", question_toml("q", "yes-no", epsilon=1))
    )
    assert not set("'<>") & set(in_apostrophes(survey.document.decode()))
    assert html.unescape(in_apostrophes(survey.document.decode())) == survey.document.decode()


def test_page_to_answer_cannot_send_anything_without_its_script(http: FlaskClient, filled: Survey) -> None:
    page = http.get(f"/s/{filled.id}").text
    assert f"<deniable-survey src=\"/s/{filled.id}\" document='{in_apostrophes(filled.document.decode())}' " in page
    assert 'type="module" src="/client/deniable.js" integrity="sha384-' in page
    assert not re.search(r"<(form|input|button|textarea|select)\b", page)
    assert "This page has to run a script" in page


@pytest.mark.parametrize("kind", ["s", "embed"])
@pytest.mark.parametrize(
    ("asked_for", "given"), [("de-AT,de;q=0.9,en;q=0.8", "de"), ("nl,fr;q=0.5", "fr"), ("nl", "en"), ("", "en")]
)
def test_page_to_answer_brings_the_words_that_the_browser_asks_for(
    http: FlaskClient, filled: Survey, kind: str, asked_for: str, given: str
) -> None:
    response = http.get(f"/{kind}/{filled.id}", headers={"Accept-Language": asked_for})
    assert f"catalogue='{in_apostrophes(catalogues()[given])}'" in response.text
    assert "Accept-Language" in response.headers["Vary"]
    direction = json.loads(catalogues()[given])["dir"]
    assert f'<html lang="{given}" dir="{direction}">' in response.text
    around = re.sub(r"<deniable-survey.*?</deniable-survey>", "", response.text, flags=re.DOTALL)
    assert (words(given)["scriptFold"] in around) == (kind == "s")


@pytest.mark.parametrize("path", ["/s/{id}", "/embed/{id}", "/static/pages.css"])
def test_pages_and_their_style_sheet_come_packed_for_whoever_takes_that(
    http: FlaskClient, filled: Survey, path: str
) -> None:
    address = path.format(id=filled.id)
    plain = http.get(address)
    packed = http.get(address, headers={"Accept-Encoding": "br, gzip;q=0.5"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert len(packed.data) < len(plain.data) / 2
    assert http.get(address, headers={"Accept-Encoding": "gzip;q=0"}).data == plain.data
    for response in (plain, packed):
        assert "Accept-Encoding" in response.headers["Vary"]


def test_results_page_shows_chart_and_table(http: FlaskClient, filled: Survey) -> None:
    page = http.get(f"/s/{filled.id}/results?view=all").text
    assert "Replies counted: 300" in page
    assert page.count('class="figure"') == len(filled.questions)
    assert f'href="/s/{filled.id}/results.svg"' in page
    rows = http.get(f"/api/v1/surveys/{filled.id}/estimates").json["estimates"]
    for row in rows:
        is_weak = row["conf_high"] - row["conf_low"] > 0.3  # whose value no page quotes
        for name in ("estimate", "std_error"):
            assert shown_figure(row[name], "share") in page
        assert is_weak or f">{100 * row['feasible']:.0f} %</td>" in page
        # Outwards, and cut to what is possible.
        low, high = (max(0, math.floor(100 * row["conf_low"])), min(100, math.ceil(100 * row["conf_high"])))
        assert f">{low} % to {high} %</td>" in page
    leaves, copies, data = re.findall("<script.*?>", page)
    assert data == '<script type="application/ld+json">', "which no browser runs"
    assert leaves == '<script type="module" src="/static/leave.js">', "all that is shown is there without it"
    assert copies == '<script type="module" src="/static/copy.js">', "whose buttons are hidden without it"
    assert re.search('<a href="https://www.wikipedia.org/" rel="noreferrer" title="[^"]+">Leave quickly</a>', page)


def test_results_page_is_rendered_once_for_a_release(
    http: FlaskClient, store: Store, filled: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[str] = []
    original = results_pages.render_template  # type: ignore[attr-defined]

    def render(template: str, **values: object) -> str:
        rendered.append(template)
        return original(template, **values)

    monkeypatch.setattr(results_pages, "render_template", render)
    url = f"/s/{filled.id}/results?by=cohort"
    http.get(url, headers={"Host": "evil.example"})
    first, second = http.get(url).text, http.get(url).text
    assert "evil.example" not in first
    assert (first, rendered) == (second, ["results.html"])
    store.close_survey(filled.id)
    closed = http.get(url).text
    assert closed != first
    assert len(rendered) == 2


@pytest.mark.slow
def test_results_of_boxes_say_how_many_devices_drew_each(http: FlaskClient, store: Store) -> None:
    survey = read_survey(FIVE_TYPES)
    store.publish(survey)
    chance = random.Random(4)
    store.store_reports([(survey, [Report(f"{i:032x}", None, anything(survey, chance)) for i in range(60)])])
    page = http.get(f"/s/{survey.id}/results/drugs").text
    assert page.count("Each device draws some of the boxes by chance") == 1
    table = page[page.index('class="number" dir="auto">Replies</th>') :].partition("</table>")[0]
    drawn = [int(n) for n in re.findall(r'</th><td[^>]*class="number"[^>]*>(\d+)</td>', table)]
    mechanism = survey.question("drugs").mechanism
    assert isinstance(mechanism, DrawnBoxes)
    assert sum(drawn) == 60 * mechanism.s


def test_results_by_cohort_with_another_level(http: FlaskClient, filled: Survey) -> None:
    page = http.get(f"/s/{filled.id}/results?by=cohort&confidence=0.8").text
    assert "80 % interval" in page
    assert "paper" in page
    assert "results.svg?by=cohort&amp;confidence=0.8" in page
    chart = http.get(f"/s/{filled.id}/results.svg?by=cohort&confidence=0.8")
    assert chart.status_code == 200
    assert "paper" in chart.text
    assert "80 % intervals" in chart.text


@pytest.mark.parametrize(("form", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_chart_is_an_image_and_the_same_for_the_same_numbers(
    http: FlaskClient, filled: Survey, form: str, start: bytes
) -> None:
    first = http.get(f"/s/{filled.id}/results.{form}")
    assert first.data.startswith(start)
    assert len(first.headers.getlist("Content-Security-Policy")) == 1
    http.application.extensions["deniable-results"]._kept = ResultCache(0)  # so that it is drawn again
    assert http.get(f"/s/{filled.id}/results.{form}").data == first.data


def test_results_without_reports(http: FlaskClient, store: Store, survey: Survey) -> None:
    store.publish(survey)
    page = http.get(f"/s/{survey.id}/results").text
    assert "No results have been released yet." in page
    assert "<svg" not in page
    assert "<table" not in page
    assert http.get(f"/s/{survey.id}/results/affair?by=cohort").text.count("<table") == 0
    assert http.get(f"/s/{survey.id}/results.svg").status_code == 404


def test_texts_of_a_survey_are_texts_everywhere(http: FlaskClient, store: Store) -> None:
    options = [EVIL, "$x_1$", "50 % & more", "\u0645\u0631\u062d\u0628\u0627", "\u4f60\u597d \U0001f600"]
    survey = read_survey(
        f"results = 'live'\ntitle = '{EVIL}'\norganiser = '{EVIL}'\nabout = '{EVIL}'\ncohorts = ['{EVIL}', '$c$']\n"
        f"[[questions]]\nid = 'q'\ntype = 'choice'\ntext = '{EVIL} $\\frac{{1}}{{$'\n"
        f"options = {options!r}\nepsilon = 1\n"
    )
    store.publish(survey)
    people = [randomize(survey, {"q": EVIL}, [EVIL, "$c$"][number % 2]) for number in range(20)]
    store.store_reports([(survey, people)])
    views = ("/results", "/results?by=cohort", "/results/q", "/results/q?compare=cohort", "/results.svg?by=cohort")
    for path in ("", *views, "/results/q.svg", "/releases", "/results?lang=ar"):
        response = http.get(f"/s/{survey.id}{path}")
        assert response.status_code == 200
        assert "<img src=x" not in response.text
        assert "<script>" not in response.text


def test_only_scripts_of_the_client_are_served(http: FlaskClient) -> None:
    with http.get("/client/define.js") as response:
        assert (response.status_code, response.mimetype) == (200, "text/javascript")
    for name in ("package.json", "__init__.py", "../deniable_client/client.py", "node_modules/typescript/lib/tsc.js"):
        assert http.get(f"/client/{name}").status_code == 404


@pytest.mark.parametrize("name", ["deniable.js", "deniable-question.js"])
def test_scripts_are_sent_gzipped_to_whoever_takes_that(http: FlaskClient, name: str) -> None:
    with http.get(f"/client/{name}") as plain:
        code, tag = plain.data, plain.headers["ETag"]
        assert "Content-Encoding" not in plain.headers
    for taken in ("gzip", "br, gzip;q=0.5", "*"):
        with http.get(f"/client/{name}", headers={"Accept-Encoding": taken}) as small:
            assert (small.headers["Content-Encoding"], small.mimetype) == ("gzip", "text/javascript")
            assert gzip.decompress(small.data) == code
            assert len(small.data) < 0.45 * len(code)
            assert small.headers["ETag"] != tag
            assert "Accept-Encoding" in small.headers["Vary"]
    for refused in ("br", "gzip;q=0", "identity"):
        with http.get(f"/client/{name}", headers={"Accept-Encoding": refused}) as same:
            assert same.data == code
            assert "Accept-Encoding" in same.headers["Vary"], "a cache must not give it to the others"
    with http.get("/client/define.js", headers={"Accept-Encoding": "gzip"}) as module:
        assert "Content-Encoding" not in module.headers
    assert http.get(f"/client/{name}.gz").status_code == 404


@pytest.mark.parametrize("text", ["a\n b", "W" * 200, "\u4f60" * 60, "word " * 39 + "end", "e\u0301" * 90])
@pytest.mark.parametrize("widest", [11, 30])
def test_nothing_of_a_text_is_cut_and_no_line_is_too_wide(text: str, widest: float) -> None:
    lines = wrapped(text, widest)
    # A word that is longer than a line is divided with a hyphen, which is the only thing that comes to the text.
    assert "".join(lines).replace(" ", "").replace("-", "") == re.sub(r"[\s-]", "", text)
    assert all(columns(line) <= widest for line in lines)
    assert not any(line.startswith("\u0301") for line in lines), "a letter keeps its accent"


@pytest.mark.parametrize(
    ("text", "rtl"),
    [("\u0646\u0639\u0645", True), ("1. \u0646\u0639\u0645", True), ("no \u0646", False), ("12", False)],
)
def test_direction_is_that_of_the_first_letter_that_has_one(text: str, rtl: bool) -> None:
    assert is_rtl(text) is rtl


@pytest.mark.slow
@pytest.mark.parametrize("method", ["feldman-cousins", "wald", "clopper-pearson"])
def test_a_point_never_leaves_its_interval_and_nothing_leaves_the_axis(method: str) -> None:
    survey = read_survey(FIVE_TYPES)
    chance = random.Random(1)
    drawn = 0
    for people in (1, 2, 6, 6, 6, 50, 300):
        reports = [Report(f"{i:032x}", None, anything(survey, chance)) for i in range(people)]
        rows = estimate(tally_reports(reports, survey), survey, method=method)
        for row in rows:
            question = survey.question(row.question)
            view = share_view(question, row)
            (panel,) = drawing.panels_of(question, [view], drawing.Labels(words("en")))
            (mark,) = panel.marks
            if not row.n:  # a box that no device drew yet
                assert mark.estimate is None
                continue
            axis = drawing.axis_of_row(question, view)
            assert 0 < WHOLE.place(axis, mark.low) <= WHOLE.place(axis, mark.high) < WIDTH
            if mark.point is not None:
                assert max(row.conf_low, axis.low) <= mark.point <= min(row.conf_high, axis.high)
            assert row.estimate is not None
            left, right = panel.beyond(mark)
            assert left or min(row.estimate, row.conf_low) > axis.low - 1e-6
            assert right or max(row.estimate, row.conf_high) < axis.high + 1e-6
            drawn += left + right
    assert drawn > 50, "some reach beyond the axis, or this test has tested nothing"


def anything(survey: Survey, chance: random.Random) -> dict[str, Value]:
    """Noisy values of somebody, drawn by a generator that repeats."""
    people = person(chance.randrange(1000))
    words = functools.partial(chance.getrandbits, 32)
    return dict(randomize(survey, people, word=words).values)


@pytest.mark.slow
def test_a_cohort_of_six_leaves_the_figure_its_size() -> None:
    survey = read_survey('cohorts = ["many", "six"]\n' + FIVE_TYPES)
    chance = random.Random(2)
    reports = [Report(f"{i:032x}", "six" if i < 6 else "many", anything(survey, chance)) for i in range(100)]
    rows = estimate(tally_reports(reports, survey), survey, by_cohort=True, method="wald")
    assert min(row.estimate or 0 for row in rows) < -0.5
    labels, panels = drawing.Labels(words("en")), []
    for question in survey.questions:
        views = [share_view(question, row) for row in rows if row.question == question.id]
        panels += drawing.panels_of(question, views, labels)
    image = figure(panels, Caption("T"))
    texts = set(re.findall(r">([^<>]+)</text>", image))
    assert {"0 %", "50 %", "100 %", "1", "4", "7", "0", "30", "60"} <= texts
    assert "\u2212" not in image
    assert int.from_bytes(results_chart.image(panels[:1], Caption("T"), "png", "salt")[16:20], "big") == 2000


@pytest.mark.slow
def test_results_say_in_plain_words_what_they_show(http: FlaskClient, store: Store) -> None:
    survey = read_survey(
        'title = "T"\norganiser = "Institute of Sociology"\nabout = "How common it is."\nopens = 2026-11-20\n'
        'closes = 2026-12-20\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\ntruth = "1/2"\n'
    )
    store.publish(survey)
    store.store_reports([(survey, [Report(f"{i:032x}", None, {"q": int(i % 8 < 3)}) for i in range(800)])])
    page = http.get(f"/s/{survey.id}/results").text
    # 2 (3/8 - 1/4) = 25 %; its standard error is 2 sqrt(3/8 5/8 / 800) = 3.4 %.
    finding = page.index("An estimated 25 % told their device yes (between 18 and 32 %).")
    assert finding < page.index('class="figure"') < page.index("About this survey") < page.rindex("Chance was mixed")
    for text in (
        "Institute of Sociology",
        "How common it is.",
        "25 November 2026 to 20 December 2026 (UTC) \u00b7 as of 25 November 2026",
    ):
        assert text in page


def test_technical_matter_is_folded_and_findings_are_not(http: FlaskClient, filled: Survey) -> None:
    page = http.get(f"/s/{filled.id}/results/religious").text
    open_text = re.sub(r"<details.*?</details>", "", page, flags=re.DOTALL)
    for folded in ("Method: k-ary", "Unbiased estimate", "sha384-", "@misc{", "epsilon"):
        assert folded in page
        assert folded not in open_text
    assert "<svg" in open_text
    assert all(option in open_text for option in filled.question("religious").options)


def test_results_say_whom_to_ask(tmp_path: Path, survey: Survey) -> None:
    of_the_survey = replace(survey, contact="ethics@uni.example")
    with ended(create_app(tmp_path / "deniable.db", settings=Settings(contact="it@uni.example"))) as app:
        http, store = app.test_client(), app.extensions["deniable"]["store"]
        for each, asked in ((survey, "it"), (of_the_survey, "ethics")):
            store.publish(each)
            for state in ("nothing", "something"):
                page = http.get(f"/s/{each.id}/results").text
                assert re.findall(r'href="mailto:(\w+)@uni.example"', page) == [asked], state
                store.store_reports([(each, [randomize(each, {"affair": "no", "religious": "fairly"})])])


@pytest.mark.parametrize(
    ("low", "feasible", "high", "axis", "said"),
    [
        (0.0812, 0.15, 0.2149, SHARES, "about 15 %, between 8 and 22 %"),
        (0.1461, 0.15, 0.1549, SHARES, "about 15.0 %, between 14.6 and 15.5 %"),
        (-0.2, 0.0, 0.03, SHARES, "about 0.0 %, between 0.0 and 3.0 %"),
        (0.0, 0.4, 0.99, SHARES, "too few replies to say"),
        (0.0, 0.1, 0.301, SHARES, "too few replies to say"),
        (0.0, 0.1, 0.299, SHARES, "about 10 %, between 0 and 30 %"),
        (-0.3, 0.0, -0.1, SHARES, "the interval holds nothing that is possible; look at the table"),
        (0.3, 0.2, 0.5, SHARES, "about 30 %, between 30 and 50 %"),
        (-math.inf, 3.0, math.inf, Axis(1, 7), "too few replies to say"),
        (-1.31, -0.04, 1.2, Axis(-5, 5), "about 0.0, between \u22121.4 and 1.2"),
    ],
)
def test_headlines_are_rounded_outwards(low: float, feasible: float, high: float, axis: Axis, said: str) -> None:
    survey = read_survey(FIVE_TYPES)
    (row, *_) = estimate({}, survey)
    row = replace(row, estimate=feasible, feasible=feasible, conf_low=low, conf_high=high)
    assert in_words(row, axis) == said


@pytest.mark.slow
def test_more_cohorts_than_anybody_reads_have_no_headlines(http: FlaskClient, store: Store) -> None:
    survey = read_survey(f"cohorts = {[f'site {i}' for i in range(40)]!r}\n" + FIVE_TYPES)
    store.publish(survey)
    people = [randomize(survey, person(i), f"site {i % 40}") for i in range(80)]
    store.store_reports([(survey, people)])
    page = http.get(f"/s/{survey.id}/results?by=cohort").text
    assert 'class="headline"' not in page
    assert "<svg" not in page, "more than 600 intervals are drawn nowhere"
    assert "The tables have everything" in page
    assert http.get(f"/s/{survey.id}/results?view=all").text.count('class="figure"') == 5


def test_results_say_that_whoever_is_invited_can_make_up_a_report(survey: Survey) -> None:
    invited = replace(survey, access="invited")
    for each, said, other in (
        (survey, "Replies can be made up: one in a hundred", "One person counts once"),
        (invited, "One person counts once, but can make up a reply: one in a hundred", "Replies can be made up"),
    ):
        page = " ".join(notes(each, each.questions[0], drawing.Labels(words("en")), ViewOptions()))
        assert said in page
        assert other not in page


def test_results_warn_where_the_data_hardly_fit_the_design(http: FlaskClient, store: Store, survey: Survey) -> None:
    store.publish(survey)
    people = [Report(f"{i:032x}", None, {"affair": int(i % 10 == 0), "religious": 0}) for i in range(99)]
    store.store_reports([(survey, people)])
    page = http.get(f"/s/{survey.id}/results/affair").text
    assert (
        '<strong>Yes:</strong> <span lang="en" dir="ltr">fewer reports than a share of 0 explains (p &lt; .001)' in page
    )
    assert "one in a hundred can move a share of everybody by up to 2.0 points" in page
    assert "can move by many times as much" not in page
    crossed = http.get(f"/s/{survey.id}/results/affair?with=religious").text
    assert "A share among only some of the people, such as those with a certain other answer, can move" in crossed
    compared = http.get(f"/s/{survey.id}/results/affair?compare=cohort").text
    assert "and a difference can move by twice as much" in compared
    rows = http.get(f"/api/v1/surveys/{survey.id}/estimates").json["estimates"]
    assert rows[1]["p_below"] < 0.01 < rows[1]["p_above"]
    assert rows[1]["flag"] in html.unescape(page)


@pytest.mark.slow
def test_results_say_which_intervals_and_for_whom(http: FlaskClient, filled: Survey) -> None:
    page = http.get(f"/s/{filled.id}/results?view=all").text
    how = re.search(r"<summary>How to read this</summary><p>(.*?)</p>", page, re.DOTALL)
    assert how is not None
    assert how[1].startswith("Intervals cover chance in the replies and the number of people who answered")
    assert "eldman" not in how[1], "names of methods stand where a reader checks numbers"
    assert "Method of the intervals: Feldman-Cousins." in page
    page = http.get(f"/s/{filled.id}/results?view=all&target=respondents&simultaneous=true").text
    assert "Intervals are for the shares among the people who answered." in page
    assert "Method of the intervals: simultaneous Feldman-Cousins." in page
    assert "estimates.csv?target=respondents&amp;simultaneous=True" in page
    assert "are made up, whatever these say" not in page
    page = http.get(f"/s/{filled.id}/results?view=all&assume_fake=0.02").text
    assert "They hold even if up to 2.0 % of all replies are made up, whatever these say" in page
    assert "estimates.csv?assume_fake=0.02" in page
    assert "results.svg?assume_fake=0.02" in page


@pytest.mark.parametrize(
    ("epsilon", "sentence"),
    [
        ("1", "nobody can be sure what is true"),
        ("1", "suspicion about that answer from 10 in 100 to at most 24 in 100"),  # odds 1 to 9 times e
        ("2", "is a hint, not proof"),
        ("2.1", "little protection"),
    ],
)
def test_results_page_claims_no_more_than_the_noise_does(
    http: FlaskClient, store: Store, epsilon: str, sentence: str
) -> None:
    survey = read_survey(f'title = "T"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = {epsilon}\n')
    store.publish(survey)
    store.store_reports([(survey, [Report(f"{i:032x}", None, {"q": i % 2}) for i in range(200)])])
    assert sentence in " ".join(http.get(f"/s/{survey.id}/results").text.split())


class TestHosts:
    """What somebody writes into ``Host`` is printed for nobody else."""

    def test_the_first_host_asked_is_kept_nowhere(self, http: FlaskClient, store: Store, survey: Survey) -> None:
        store.publish(survey)
        for path in ("/api/openapi.json", f"/s/{survey.id}", f"/embed/{survey.id}"):
            http.get(path, headers={"Host": "evil.example"})
            assert "evil.example" not in http.get(path, headers={"Host": "good.example"}).text
        answer = http.get(f"/s/{survey.id}", headers={"Host": "good.example"})
        assert f"deniable answer http://good.example/s/{survey.id}" in answer.text
        assert answer.headers["Cache-Control"] == "private, no-cache", "no proxy keeps it for another host"
        assert http.get("/api/openapi.json").json["servers"] == [{"url": "/"}]

    def test_a_host_is_text(self, http: FlaskClient, store: Store, survey: Survey) -> None:
        store.publish(survey)
        assert "<script>alert" not in http.get(f"/s/{survey.id}", headers={"Host": 'a"><script>alert(1)'}).text

    def test_the_public_url_is_what_people_are_told(self, tmp_path: Path, clock: Clock, survey: Survey) -> None:
        app = create_app(tmp_path / "public.db", clock, Settings(public_url="https://collector.example/"))
        try:
            app.extensions["deniable"]["store"].publish(survey)
            http = app.test_client()
            for path in (f"/s/{survey.id}", f"/embed/{survey.id}"):
                page = http.get(path, headers={"Host": "evil.example"}).text
                assert f"deniable answer https://collector.example/s/{survey.id}" in page
                assert "evil.example" not in page
            assert http.get("/api/openapi.json").json["servers"] == [{"url": "https://collector.example"}]
        finally:
            app.extensions["deniable"]["writer"].stop()
            app.extensions["deniable"]["store"].close()

    @pytest.mark.parametrize("url", ["collector.example", "ftp://a", "https://", "https://a b", "https://a/?x", ""])
    def test_what_is_no_public_url(self, url: str) -> None:
        with pytest.raises(ParameterError, match=r"--public-url: must be like https://collector\.example"):
            settings_from({"public_url": url})


def test_every_sentence_of_the_pages_is_shown_somewhere() -> None:
    folder = Path(deniable_server.__file__).parent
    sources = [*folder.glob("web/templates/*.html"), folder / "edge" / "problems.py"]
    sources += [*folder.glob("results/*.py"), *(folder / "web" / each for each in ("results_pages.py", "citing.py"))]
    shown = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    pages: dict[str, object] = {}
    for file in PAGE_WORDS:
        pages |= json.loads((client_folder() / "words" / file).read_text(encoding="utf-8"))
    assert [name for name in pages if not re.search(rf"\b{name}\b", shown)] == []


@pytest.mark.parametrize("language", catalogues())
def test_home_and_device_pages_speak_the_language_of_the_browser(http: FlaskClient, language: str) -> None:
    for path, name in (("/", "homeLead"), ("/device", "historyLink")):
        response = http.get(path, headers={"Accept-Language": language})
        assert f'<html lang="{language}"' in response.text
        assert str(escape(words(language)[name])) in response.text
        assert "Accept-Language" in response.headers["Vary"]


def test_home_page_names_the_contact_of_its_setting(tmp_path: Path) -> None:
    for contact, shown in (
        ("help@uni.example", '<a href="mailto:help@uni.example"'),
        ("https://uni.example/help", '<a href="https://uni.example/help"'),
        ("Room <7>", "Room &lt;7&gt;"),
    ):
        app = create_app(tmp_path / "deniable.db", settings=Settings(contact=contact))
        assert shown in app.test_client().get("/").text


def test_a_page_for_people_keeps_the_sentence_of_programs_at_its_foot(http: FlaskClient) -> None:
    response = http.get("/s/nothing", headers={"Accept": "text/html", "Accept-Language": "fr"})
    assert response.status_code == 404
    assert f"<h1>{escape(words('fr')['problem404'])}</h1>" in response.text
    _, fold = response.text.split(words("fr")["scriptFold"])
    assert "404: " in fold

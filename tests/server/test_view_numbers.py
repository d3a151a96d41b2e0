"""Every number of every view is the library's for the same tally: as page, CSV and JSON, of every kind of survey."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

import pytest
from flask.testing import FlaskClient

from deniable import Question, Report, Survey, parse_report, parse_survey, tally_reports
from deniable_server.language import words
from deniable_server.results import waves
from deniable_server.results.drawing import Labels, digits_of
from deniable_server.store import Store
from deniable_statistics.published.date_columns import DATE_LABELS
from deniable_statistics.published.printed_numbers import number, percent
from deniable_statistics.published.published_rows import EstimateOptions
from deniable_statistics.robustness.misbehaviour import Misbehaving
from deniable_statistics.views.view_row import ViewOptions, ViewRow, refusal_to_cross
from deniable_statistics.views.view_rows import refusal_to_compare, view_of
from tests.support.views import filled
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import EVERY_KIND, FIVE_TYPES

LABELS = Labels(words("en"))

FILTERED = survey_toml(
    "Filters",
    question_toml("smokes", "yes-no", "Do you smoke?", epsilon=2),
    question_toml("many", "scale", "How many?", lo=1, hi=3, goal="shares", epsilon=2, ask_if="smokes = yes"),
    question_toml("which", "choice", "Which?", options=["a", "b"], epsilon=2, ask_if="smokes = yes"),
    question_toml("spends", "number", "How much?", lo=0, hi=9, epsilon=2, ask_if="smokes = yes"),
    layout="page",
)
"""Questions that not everybody is asked: shares among those to whom they apply, and means."""

DRAWN = survey_toml("Drawn", *(question_toml(f"q{n}", "yes-no", f"Q{n}?") for n in range(3)), epsilon=2, draw=2)
"""Questions of which each device asks two of three, with one chance or with several."""

TOGETHER = survey_toml(
    "Together",
    question_toml("boxes", "ticks", "Which boxes?", options=["x", "y"], goal="together", epsilon=2),
    question_toml("age", "number", "How old?", lo=18, hi=30, epsilon=2),
)
"""Boxes in one response, and a mean."""

WAVES = survey_toml(
    "Panel",
    question_toml("often", "yes-no", "Often?", mechanism="longitudinal", epsilon=2, wave_epsilon=1),
    question_toml("fond", "scale", "How fond?", lo=1, hi=4, mechanism="longitudinal", epsilon=2, wave_epsilon=1),
)
"""Questions whose permanent value devices keep."""


def views_of(survey: Survey, question: Question, is_whole: bool) -> Iterator[tuple[str, ViewOptions]]:
    """The views of a question, as its query and as what it shows; the dear ones of the first question alone."""
    yield "", ViewOptions()
    yield "?by=cohort", ViewOptions(by_cohort=True)
    if refusal_to_compare(question) is None:
        yield "?compare=cohort", ViewOptions(compare=True)
    if not is_whole and question is not survey.questions[0]:
        return
    yield "?compare=cohort&against=west", ViewOptions(compare=True, against="west")
    yield "?confidence=0.9&simultaneous=true", ViewOptions(wanted=EstimateOptions(0.9, simultaneous=True))
    yield "?by=cohort&assume_fake=0.1", ViewOptions(by_cohort=True, wanted=EstimateOptions(assume_fake=0.1))
    careless = Misbehaving(0.1, ("careless",))
    yield "?misbehaving=0.1&misbehaviour=careless", ViewOptions(wanted=EstimateOptions(misbehaving=careless))
    yield "?target=respondents", ViewOptions(wanted=EstimateOptions(target="respondents"))
    other = next((each for each in survey.questions if refusal_to_cross(question, each) is None), None)
    if other is not None:
        yield f"?with={other.id}", ViewOptions(crossed_with=other.id)


def joint_counts(reports: Sequence[Report], question: str, other: str | None) -> list[tuple[Any, Any, int]]:
    """How many reports hold each pair of values."""
    if other is None:
        return []
    pairs = Counter((each.values[question], each.values[other]) for each in reports)
    return sorted(((*pair, n) for pair, n in pairs.items()), key=lambda each: tuple(map(str, each)))


def assert_rows(found: list[dict[str, Any]], expected: Sequence[ViewRow], where: str) -> None:
    assert len(found) == len(expected) > 0, where
    for theirs, ours in zip(found, map(asdict, expected), strict=True):
        for name, value in ours.items():
            same = pytest.approx(value) if isinstance(value, float) else value
            assert theirs[name] == same, f"{where}: {name} of {ours['option'] or ours['statistic']}"


def walk(http: FlaskClient, survey: Survey, reports: Sequence[Report], is_whole: bool = False) -> int:
    """Compare the views of all questions; the number of values that stand on pages."""
    tallies, seen = tally_reports(reports, survey), 0
    for question in survey.questions:
        path = f"/s/{survey.id}/results/{question.id}"
        for query, options in views_of(survey, question, is_whole):
            joint = joint_counts(reports, question.id, options.crossed_with)
            expected = view_of(survey, tallies, question.id, options, joint)
            asked = [question.id, *filter(None, [options.crossed_with])]
            n = sum(all(each.values[name] is not None for name in asked) for each in reports)
            seen += compare(http, f"{path}{{}}{query}", expected, n, len(reports))
    return seen


def compare(http: FlaskClient, address: str, expected: Sequence[ViewRow], n: int | None, replies: int | None) -> int:
    """Compare one view in three forms; the number of values that stand on its page."""
    document = http.get(address.format(".json")).json
    assert (document["n"], document["replies"]) == (n, replies), address
    assert_rows(document["rows"], expected, address)
    table = list(csv.DictReader(io.StringIO(http.get(address.format(".csv")).text)))
    for line, row in zip(table, document["rows"], strict=True):
        assert list(line)[-3:] == list(DATE_LABELS)
        assert [line[name] for name in row] == ["" if value is None else str(value) for value in row.values()]
    if "over=" not in address:
        assert {tuple(line[name] for name in DATE_LABELS) for line in table} == {
            tuple(document[name] for name in DATE_LABELS)
        }
    if any(row.statistic == "row share" for row in expected):
        assert_crossed(http.get(address.format("")).text, expected, address)
        expected = [row for row in expected if row.statistic == "row share"]
    framed = address.format("/embed")
    # Of two cohorts of which one is empty there is no difference to draw.
    if any(row.estimate is not None for row in expected):
        image = ElementTree.fromstring(http.get(address.format(".svg")).data)
        said = " ".join(" ".join(each.itertext()) for each in image.iter("{http://www.w3.org/2000/svg}text"))
        for row in expected:
            assert LABELS.value(row, digits_beside(row, expected)) in said, (address, row.option)
    return min(on_page(http.get(each).text, expected, each) for each in (address.format(""), framed))


def digits_beside(row: ViewRow, rows: Sequence[ViewRow]) -> int:
    """The digits of all values that stand in a figure with one."""
    return digits_of([each for each in rows if each.statistic == row.statistic])


def assert_crossed(page: str, expected: Sequence[ViewRow], where: str) -> None:
    """See that a page of two crossed questions has the counts of its recipe, and as many claims as are certain."""
    margins = {(row.question, row.option): row for row in expected if row.statistic == "share"}
    recipe = page.partition('<details class="recipe">')[2]
    for row in expected:
        if row.statistic == "row share" and row.count is not None:
            option, group = margins[row.question, row.option], margins[row.given or "", row.given_option or ""]
            for count in (row.count, option.count, group.count, row.n):
                assert f">{count:,}</td>" in recipe, (where, row.option)
    certain = [row for row in expected if row.statistic == "row difference"]
    # Each claim has a headline, and one more says that they hold together; without a claim one says that there is none.
    groups = {row.given_option for row in expected if row.statistic == "row share"}
    options = {row.option for row in expected if row.statistic == "row share"} - {"no"}
    pairs = len(options) * len(groups) * (len(groups) - 1) // 2
    said = f"{pairs} pairs of shares were compared" + ("." if certain else ", and none differs clearly.")
    assert (said in page) == (pairs > 1), where
    weak = {(row.option, row.given_option) for row in expected if row.statistic == "row share" and row.weak}
    is_weak = any((row.option, group) in weak for row in certain for group in (row.given_option, row.minus))
    assert ("A difference that is named may be quoted, but not a share marked" in page) == is_weak, where
    assert page.count('<p class="headline"') == len(certain) + 1 + (pairs > 1) + is_weak


def on_page(page: str, expected: Sequence[ViewRow], where: str) -> int:
    """See that the table of a page has these rows, rounded as in the figure; the number of values that stand in it."""
    seen = 0
    for row in expected:
        if row.value is not None and row.low is not None and row.high is not None:
            digits = digits_beside(row, expected)
            scale, unit = (1, "") if row.statistic.startswith("mean") else (100, " %")
            value = rounded(scale * row.value, digits, ROUND_HALF_EVEN, row) + unit
            ends = f"{rounded(scale * row.low, digits, ROUND_FLOOR, row)}{unit} to "
            ends += f"{rounded(scale * row.high, digits, ROUND_CEILING, row)}{unit}"
            if row.statistic == "difference":  # percentage points are no percent
                value = value.replace(" %", " point" if value in ("1 %", "\u22121 %") else " points")
                ends = ends.replace(" %", "")
            if row.weak:  # which no figure quotes
                value = "too few replies to say"
            assert f">{value}</td>" in page, (where, row.option, value)
            assert f">{ends}</td>" in page, (where, row.option, ends)
            seen += 1
    return seen


def rounded(figure: float, digits: int, how: str, row: ViewRow) -> str:
    """A number with so many digits; of a difference whose interval excludes 0 with as many more as show that."""
    # An end that floating point separates from a round number is that number.
    exact = Decimal(figure) if how == ROUND_HALF_EVEN else Decimal(figure).quantize(Decimal("1e-9"))
    is_certain = "difference" in row.statistic and (row.conf_low > 0 or row.conf_high < 0)
    for each in range(digits, 5 if is_certain else digits + 1):
        if found := exact.quantize(Decimal(1).scaleb(-each), how):
            return f"{found:,}".replace("-", "\u2212")
    return f"{0:.{digits}f}"


def walk_pages_of_all(http: FlaskClient, survey: Survey, reports: Sequence[Report]) -> None:
    """Compare the pages and the files of all questions, and what stands there to recompute them."""
    tallies = tally_reports(reports, survey)
    for query, options in (("?view=all", ViewOptions()), ("?by=cohort", ViewOptions(by_cohort=True))):
        page = http.get(f"/s/{survey.id}/results{query}").text
        for question in survey.questions:
            section = page.partition(f'<section id="{question.id}">')[2].partition("</section>")[0]
            rows = view_of(survey, tallies, question.id, options)
            on_page(section, rows, query)
            recipe = section.partition('<details class="recipe">')[2]
            for row in rows:
                show = number if row.statistic.startswith("mean") else percent
                for each in (row.estimate, row.std_error):
                    assert f">{show(each)}</td>" in recipe, (query, question.id, row.option)
                assert f">{row.n}</td>" in recipe
                assert row.count is None or f">{row.count}</td>" in recipe
    lines = http.get(f"/s/{survey.id}/results").text
    for question in survey.questions:
        line = lines.partition(f'<li id="{question.id}">')[2].partition("</li>")[0]
        for said in re.findall(r"([0-9.\u2212]+(?: %)? \([0-9.\u2212]+ to [0-9.\u2212]+\))", line):
            rows = view_of(survey, tallies, question.id)
            assert said in {LABELS.value(row, digits_beside(row, rows)) for row in rows}, question.id


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "statistics"),
    [
        (FIVE_TYPES.replace("hi = 60", "hi = 12"), {"share", "mean"}),
        (FILTERED, {"share", "among", "mean"}),
        (DRAWN, {"share"}),
        pytest.param(TOGETHER, {"share", "mean"}, marks=pytest.mark.long),
    ],
    ids=["five types", "filters", "drawn questions", "boxes together"],
)
def test_every_number_of_every_view_is_the_librarys(
    text: str, statistics: set[str], http: FlaskClient, store: Store
) -> None:
    survey, reports = filled(store, text)
    assert walk(http, survey, reports) > 10 * len(survey.questions)
    walk_pages_of_all(http, survey, reports)
    for question in survey.questions:
        refused = http.get(f"/s/{survey.id}/results/{question.id}?compare=cohort").status_code == 422
        assert refused == (f"{question.id}?compare" not in http.get(f"/s/{survey.id}/results/{question.id}").text)
    rows = http.get(f"/s/{survey.id}/results.json").json["rows"]
    assert {row["statistic"] for row in rows} == statistics
    of_questions = [
        row for each in survey.questions for row in http.get(f"/s/{survey.id}/results/{each.id}.json").json["rows"]
    ]
    assert rows == of_questions


@pytest.mark.long
def test_every_number_of_every_mechanism_is_the_librarys(http: FlaskClient, store: Store) -> None:
    survey, reports = filled(store, EVERY_KIND)
    assert walk(http, survey, reports, is_whole=True) > 300


@pytest.mark.slow
def test_waves_are_the_surveys_that_ask_a_question_to_the_letter(http: FlaskClient, store: Store) -> None:
    first, reports = filled(store, WAVES, 150)
    second, later = filled(store, WAVES.replace("Panel", "Panel, spring"), 180)
    other, _ = filled(store, WAVES.replace("Often?", "How often?").replace("Panel", "Another"), 150)
    private = replace(parse_survey(second.document), title="Private", readers="token", results="live")
    store.publish(private)
    store.store_reports([(private, [parse_report(each.encode(), private) for each in later])])
    expected = [
        replace(row, wave=survey.id)
        for survey, sent in sorted(((first, reports), (second, later)), key=lambda each: each[0].id)
        for row in view_of(survey, tally_reports(sent, survey), "often")
    ]
    for survey in (first, second):
        address = f"/s/{survey.id}/results/often{{}}?over=time"
        assert compare(http, address, expected, None, None) == 4
        page = http.get(f"/s/{survey.id}/results/often").text
        assert f'href="/s/{survey.id}/results/often?over=time"' in page
        assert http.get(f"/s/{survey.id}/results/often.svg?over=time").text.count("Panel") >= 4
    assert "Private" not in http.get(f"/s/{first.id}/results/often?over=time").text
    assert "?over=time" not in http.get(f"/s/{other.id}/results/often").text
    assert len(http.get(f"/s/{other.id}/results/fond.json?over=time").json["rows"]) == 3 * 5
    for query in ("over=time&by=cohort", "over=time&release=1", "over=time&with=fond"):
        assert http.get(f"/s/{first.id}/results/often.json?{query}").status_code == 422
    assert http.get(f"/s/{first.id}/results?over=time").status_code == 422


@pytest.mark.slow
def test_releases_are_compared(http: FlaskClient, store: Store) -> None:
    survey, reports = filled(store, WAVES, 150)
    assert "over=releases" not in http.get(f"/s/{survey.id}/results/fond").text
    more = [replace(each, id=f"f{each.id[1:]}") for each in reports]
    store.store_reports([(survey, more)])
    store.settle()
    expected = [
        replace(row, wave=str(number))
        for number, sent in enumerate((reports, [*reports, *more]), start=1)
        for row in view_of(survey, tally_reports(sent, survey), "fond")
    ]
    assert compare(http, f"/s/{survey.id}/results/fond{{}}?over=releases", expected, None, None) == len(expected) == 10
    assert "over=releases" in http.get(f"/s/{survey.id}/results/fond").text
    assert http.get(f"/s/{survey.id}/results/fond.svg?over=releases").text.count("Release 2") == 5
    assert http.get(f"/s/{survey.id}/results/fond.json?over=releases&release=1").status_code == 422


def test_a_wave_that_comes_later_stands_on_pages_that_were_kept(
    http: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waves, "LOOK_AGAIN_SECONDS", 0.0)
    first, _ = filled(store, WAVES, 150)
    assert "over=time" not in http.get(f"/s/{first.id}/results/often").text
    filled(store, WAVES.replace("Panel", "Panel, spring"), 150)
    assert "over=time" in http.get(f"/s/{first.id}/results/often").text

"""What a page of results says of its own numbers: their method, their confidence level, and how they are rounded."""

from __future__ import annotations

import csv
import html
import io
import itertools
import math
import random
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from flask.testing import FlaskClient

from deniable import Report, Survey, read_survey
from deniable_client import randomize
from deniable_server.language import words
from deniable_server.store import Store
from deniable_statistics.intervals import share_interval
from deniable_statistics.published.method_names import method_name
from deniable_statistics.views.crossed import has_likelihood, table_of
from deniable_statistics.views.view_row import refusal_to_cross
from tests.support.views import COHORTS, reports_of
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import EVERY_KIND

ROOT = Path(__file__).parents[2]

LANGUAGES = ["en", "de", "fr", "es", "ar"]

NUMBER = re.compile(r"[0-9]+(?:[.,٫][0-9]+)?")
"""A number of a survey of less than a thousand, in any language."""

HEAD = 'cohorts = ["north", "south", "west"]\nresults = "live"\n'

SURVEY = HEAD + survey_toml(
    "Coping",
    question_toml("cheated", "yes-no", "Have you cheated?", epsilon=4),
    question_toml("place", "choice", "Where do you learn?", options=["home", "library", "café"], epsilon=4),
    question_toml("close", "choice", "When?", options=["early", "late"], epsilon=4),
    question_toml("helps", "ticks", "What helps?", options=["sleep", "sport"], epsilon=4),
    question_toml("hours", "number", "How many hours?", lo=0, hi=12, epsilon=4),
)


@pytest.fixture
def filled(store: Store) -> Survey:
    """A survey whose groups differ, with a place that leads and a time that does not for certain."""
    survey = read_survey(SURVEY)
    store.publish(survey)
    chance = random.Random(11)
    people = []
    for i in range(450):
        group = i % 3
        cheated = chance.random() < 0.2 + 0.3 * group
        place = "home" if chance.random() < (0.9 if cheated else 0.55) else chance.choice(["library", "café"])
        answers = {
            "cheated": "yes" if cheated else "no",
            "place": place,
            "close": "early" if i % 9 < 5 else "late",
            "helps": ["sleep"],
            "hours": 3 * group + chance.randrange(4),
        }
        people.append(randomize(survey, answers, survey.cohorts[group], word=lambda: chance.getrandbits(32)))
    store.store_reports([(survey, people)])
    return survey


def text_of(page: str) -> str:
    """The text between the tags of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def shown(http: FlaskClient, survey: Survey, view: str) -> str:
    """A page of results as text."""
    return text_of(http.get(f"/s/{survey.id}/results{view}").text)


def headlines_in(page: str) -> Iterator[str]:
    """The sentences of a page, without the levels that they state."""
    for said in re.findall(r'<p class="headline"[^>]*>(.*?)</p>', page, re.DOTALL):
        yield re.sub(r"95\s%", "", text_of(said))


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_page_rounds_one_number_in_two_ways(http: FlaskClient, filled: Survey, language: str) -> None:
    """A sentence said 8 where the table below it had 9.0."""
    seen = 0
    for view in ("cheated", "cheated?compare=cohort", "cheated?by=cohort", "hours", "hours?compare=cohort"):
        mark = "&" if "?" in view else "?"
        page = http.get(f"/s/{filled.id}/results/{view}{mark}lang={language}").text
        (table,) = re.findall(r'<details class="numbers".*?</details>', page, re.DOTALL)
        (figure,) = re.findall(r"<svg.*?</svg>", page, re.DOTALL)[:1]
        in_table, in_figure = (set(NUMBER.findall(text_of(each))) for each in (table, figure))
        for said in headlines_in(page):
            numbers = set(NUMBER.findall(said))
            assert numbers <= in_table, (view, said)
            assert numbers <= in_figure, (view, said)
            seen += len(numbers)
        assert words(language)["rRounded"] in html.unescape(page)
    assert seen > 30


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_name_how_they_compared_all_answers(http: FlaskClient, filled: Survey, language: str) -> None:
    said = words(language)
    lead = said["rLeadBy"].format(level=f"95{' '}%", stricter="97.5 %" if language in ("en", "ar") else "97,5 %")
    each = said["rLevelEach"].format(level="95 %")
    for view, states in (
        ("/place", True),
        ("/close", True),
        ("", True),
        ("/cheated", False),
        ("/hours", False),
        ("/place?by=cohort", False),
    ):
        page = shown(http, filled, f"{view}{'&' if '?' in view else '?'}lang={language}")
        assert (lead in page) == states, view
        assert each in page, view
        assert said["rHowComputed"] in page, view


def test_the_sentences_on_leads_are_those_that_the_method_is_stated_for(http: FlaskClient, filled: Survey) -> None:
    assert "The most frequent answer is “home”." in shown(http, filled, "/place")
    assert "That it leads is not certain" in shown(http, filled, "/close")
    hsu = "Hsu’s multiple comparisons with the best, with Bonferroni’s inequality over the other answers"
    assert hsu in shown(http, filled, "?view=all")
    assert "(it is computed at 99.5 %)" in shown(http, filled, "/place?confidence=0.99")
    at_once = "Those of one question hold all its shares at once with 95 % confidence."
    assert at_once in shown(http, filled, "/place?simultaneous=true")


def test_crossed_pages_name_both_methods(http: FlaskClient, filled: Survey) -> None:
    page = shown(http, filled, "/cheated?with=place")
    assert "Intervals of shares are profile-likelihood intervals, from all replies to both questions." in page
    assert "Method of the interval: square-and-add (MOVER), from the intervals of both shares" in page
    assert "is shared among all 3 comparisons of this view by Bonferroni’s inequality: with 95 % confidence" in page
    one = shown(http, filled, "/cheated?with=close")
    assert "It holds for this one comparison with 95 % confidence." in one
    assert "Bonferroni" not in one
    # A reply to tick boxes is no single value, so the likelihood of all replies is not used.
    boxes = shown(http, filled, "/cheated?with=helps")
    assert "Intervals of shares are Fieller’s intervals of a ratio, from all replies to both questions." in boxes
    assert "profile-likelihood" not in boxes


@pytest.mark.parametrize("text", [SURVEY, EVERY_KIND], ids=["here", "every kind"])
def test_the_stated_interval_of_crossed_shares_is_the_one_that_is_computed(text: str) -> None:
    survey = read_survey(COHORTS + text.removeprefix(HEAD))
    reports, found = reports_of(survey, 12), set()
    for first, second in itertools.permutations(survey.questions, 2):
        if refusal_to_cross(first, second):
            continue
        joint = [(each.values[first.id], each.values[second.id], 1) for each in reports]
        within = table_of(first, second, joint).conditional(second.id)
        unit = np.eye(within.share.size)
        computed = within.reports.likelihood_intervals(unit[:1], None, 0.95) is not None
        assert has_likelihood(first, second) == computed, (first.id, second.id)
        found.add(computed)
    assert found == {True, False}


def quotes_in(page: str) -> list[str]:
    """The sentences to print of a page."""
    return [text_of(each) for each in re.findall(r"<q .*?</q>", page, re.DOTALL)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("option", "name"),
    [("assume_fake=0.01", "rFakesSupposed"), ("simultaneous=true", "rAtOnce"), ("target=respondents", "rRespondents")],
)
def test_what_changes_intervals_is_said_wherever_one_is_quoted(
    http: FlaskClient, filled: Survey, option: str, name: str, language: str
) -> None:
    share = "1 %" if language in ("en", "ar") else "1\u00a0%"
    said = " ".join(words(language)[name].format(share=share).split())
    for view in ("/cheated", "/cheated?by=cohort", "", "?view=all"):
        address = f"/s/{filled.id}/results{view}{'&' if '?' in view else '?'}lang={language}"
        page, plain = (http.get(each).text for each in (f"{address}&{option}", address))
        assert said in [text_of(each) for each in re.findall(r'<p class="headline".*?</p>', page, re.DOTALL)], view
        assert quotes_in(page)
        assert all(said in each for each in quotes_in(page)), view
        assert not any(said in each for each in quotes_in(plain)), view
        cited = text_of(page.partition('<section id="cite">')[2]).replace("\\%", "%")
        assert said in cited.partition("BibTeX")[0], view
        assert option.replace("true", "True") in cited.partition("BibTeX")[0], view
        english = words("en")[name].format(share="1 %")
        assert cited.count(english) >= 3 - (language != "en"), "in methods, as text and as LaTeX, too"
        assert text_of(plain).count(said) == 0, view
    # The figure of a file and of a frame has it in its caption.
    for view in (f"/cheated.svg?lang={language}", f"/cheated/embed?lang={language}"):
        assert said in shown(http, filled, f"{view}&{option}"), view
        assert said not in shown(http, filled, view), view


def test_references_and_methods_are_those_of_the_view(http: FlaskClient, filled: Survey) -> None:
    page = shown(http, filled, "/cheated?assume_fake=0.015&confidence=0.99")
    assert (
        "; up to 1.5 \\% of all replies are taken for made up, and the intervals allow for whatever these say}" in page
    )
    like_a_sample = "a population of which the respondents are like a random sample"
    assert f"with 99 % confidence intervals for {like_a_sample}. The intervals are Feldman-Cousins" in page
    # The data set has one address, however its numbers are estimated.
    raw = http.get(f"/s/{filled.id}/results/cheated?assume_fake=0.015").text
    assert f'"url": "http://localhost/s/{filled.id}/results"' in raw
    rows = http.get(f"/s/{filled.id}/results/cheated.json?target=respondents").json["rows"]
    (method,) = {method_name(row["method"]) for row in rows}
    page = shown(http, filled, "/cheated?target=respondents")
    named = page.partition("with 95 % confidence intervals for the respondents. The intervals are ")[2].partition(". ")[
        0
    ]
    assert f"{method} intervals" in named
    page = shown(http, filled, "/cheated?method=wilson")
    assert "Feldman-Cousins" not in page
    assert "Wilson score intervals (Wilson 1927)" in page


def test_files_of_a_view_have_the_share_that_is_assumed_to_be_fake(http: FlaskClient, filled: Survey) -> None:
    for query, expected in (("", None), ("assume_fake=0.02", 0.02), ("compare=cohort", None), ("with=place", None)):
        address = f"/s/{filled.id}/results/cheated"
        assert {row["assumed_fake"] for row in http.get(f"{address}.json?{query}").json["rows"]} == {expected}
        rows = list(csv.DictReader(io.StringIO(http.get(f"{address}.csv?{query}").text)))
        assert {row["assumed_fake"] for row in rows} == {str(expected or "")}
        estimates = http.get(f"/api/v1/surveys/{filled.id}/estimates.csv?{query}") if "=0" in query else None
        if estimates is not None:
            assert {row["assumed_fake"] for row in csv.DictReader(io.StringIO(estimates.text))} == {str(expected)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_say_that_misbehaviour_changes_none_of_their_numbers(
    http: FlaskClient, filled: Survey, language: str
) -> None:
    said = words(language)
    elsewhere = said["rMisbehaviourElsewhere"].format(download=said["rDownload"])
    for view in ("/cheated", "", "?view=all", "/place"):
        mark = "&" if "?" in view else "?"
        assert elsewhere in shown(http, filled, f"{view}{mark}misbehaving=0.05&lang={language}")
        assert elsewhere not in shown(http, filled, f"{view}{mark}lang={language}")
    rows, robust = (
        http.get(f"/s/{filled.id}/results/cheated.json{query}").json["rows"] for query in ("", "?misbehaving=0.05")
    )
    assert rows == robust
    # No answer is called the most frequent, and the page says why.
    for query in ("misbehaving=0.05", "assume_fake=0.01"):
        for view in ("", "/place"):
            assert said["rNoLead"] in shown(http, filled, f"{view}?{query}&lang={language}")


def test_the_examples_for_journalists_are_what_a_page_says(http: FlaskClient, store: Store) -> None:
    document = " ".join((ROOT / "docs/questions.md").read_text(encoding="utf-8").split())
    survey = read_survey('results = "live"\n' + survey_toml("T", question_toml("q", "yes-no", truth="1/2", yes="1/2")))
    store.publish(survey)
    values = [1] * 412 + [0] * 588
    store.store_reports([(survey, [Report(f"{i:032x}", None, {"q": each}) for i, each in enumerate(values)])])
    page = shown(http, survey, "/q")
    assert "of 100 people whose true answer is yes, about 75 send yes" in page
    assert "of 100 whose true answer is no, chance makes about 25 send yes too" in page
    assert "An estimated 32 % told their device yes (between 26 and 39 %)." in page
    assert "Suppose 412 of 1,000 replies say yes" in document
    assert "So about (412 \u2212 250) / 0.5 = 324 people told their devices yes: 32.4 %" in document
    assert "the interval is 26 to 39 %" in document
    # Ten of a thousand replies that were honest ones instead.
    mechanism = survey.questions[0].mechanism
    assert [round(100 * mechanism.estimate([1000 - n, n]).share[1], 1) for n in (402, 422)] == [30.4, 34.4]
    assert "honest ones instead of them would have given 30.4 to 34.4 %" in document
    assert "one in a hundred can move a share of everybody by up to 2.0 points" in page
    assert "can move a share of everybody, for example by up to 2.0 points" in document
    assert "(between 25 and 40 %)" in shown(http, survey, "/q?assume_fake=0.01")
    assert "Above, 26 to 39 % becomes 25 to 40 %" in document
    low, high = share_interval(324, 1000, (1.0, 0.0), 0.95)
    assert f"it would be {math.floor(100 * low)} to {math.ceil(100 * high)} %" in document

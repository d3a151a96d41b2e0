"""A real Chromium answers surveys of a real collector, and everything that it sent or kept is read back."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page, expect

from deniable import Survey, parse_report, read_survey
from deniable_server.language import catalogues
from deniable_server.store.sqlite.store import SqliteStore
from tests.support.marks import long
from tools.programs import CHROMIUM_FLAGS, chromium
from tools.rig import browsing
from tools.rig.collectors import Collector
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import FIVE_TYPES, distances_in_errors, person

SURVEY = survey_toml(
    "Browser",
    question_toml("affair", "yes-no", "Have you had an affair?", truth="1/2"),
    question_toml(
        "stone", "choice", "Which stone do you hide?", options=["quartz", "basalt", "marble", "zirconium"], epsilon=1
    ),
    organiser="The tests",
    about="Whether what is promised holds.",
    results="live",
    cohorts=["web"],
    layout="page",
)

SECRETS = ["yes", "Yes", "zirconium"]
"""The true answers, as they would look if they leaked."""

TRULY = {"affair": "yes", "stone": "zirconium"}


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(SURVEY)


def test_person_answers_and_gets_a_receipt(collector: Collector, page: Page, survey: Survey, link: str) -> None:
    before = collector.reports(survey)
    witness = browsing.Witness.of(page)
    page.goto(f"{link}#cohort=web")
    card = page.get_by_text("This survey comes from The tests")
    expect(card).to_be_visible()
    assert page.get_by_role("button", name="Send", exact=True).count() == 0
    browsing.answer(page, survey, TRULY)
    assert collector.reports(survey) == before + 1
    expect(page.get_by_text("Your device has forgotten what you chose")).to_be_visible()
    page.get_by_text(browsing.MORE).click()
    page.locator("deniable-survey").get_by_text("For experts").click()
    expect(page.get_by_text(survey.id, exact=True)).to_be_visible()
    assert witness.lines == []
    (body,) = witness.posts()
    report = parse_report(body, survey)
    assert report.cohort == "web"
    store = SqliteStore(collector.database)
    assert report in list(store.reports(survey))
    store.close()


@pytest.mark.parametrize(("layout", "people"), [("steps", 30), long("page", 400)])
def test_reports_have_the_odds_of_the_coins_and_nothing_holds_the_answer(
    collector: Collector, page: Page, survey: Survey, layout: str, people: int
) -> None:
    survey = replace(survey, layout=layout)
    link = collector.publish(survey)
    before = collector.reports(survey)
    witness = browsing.Witness.of(page)
    page.goto(link)
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    kept = page.evaluate(browsing.GIVE_OF_ALL, [[1, 3]] * people)  # Yes, zirconium
    bodies = witness.posts()
    reports = [parse_report(body, survey) for body in bodies]
    assert len(reports) == people
    assert len({report.id for report in reports}) == people
    assert collector.reports(survey) == before + people

    # 3/4 of all send Yes. Beyond 5.2 standard deviations: a probability below 6e-7, of 400 people below 3e-7.
    # If all of 30 people sent their true stone, more would send it than may.
    for question, sent in (("affair", 1), ("stone", 3)):
        p = float(survey.question(question).mechanism.support[sent].if_true)
        many = sum(report.values[question] == sent for report in reports)
        assert abs(many - people * p) <= 5.2 * (people * p * (1 - p)) ** 0.5

    for body, left in zip(bodies, kept, strict=True):
        assert set(json.loads(body)) == {"id", "cohort", "values"}
        content = json.loads(left)
        memory = content.pop("memory")
        assert memory["reports"] == {survey.id: {"report": body.decode(), "to": {collector.url: True}}}
        sent = json.loads(body)["values"]
        assert memory["noisy"] == {key: sent[question] for question, key in survey.keys.items()}
        assert set(memory) == {"reports", "noisy", "told"}
        ((origin, told),) = memory["told"].items()
        assert origin == collector.url
        assert {key: cost / 1e6 for key, (_, cost) in told.items()} == {
            survey.keys[noise.id]: pytest.approx(noise.epsilon, abs=1e-6) for noise in survey.questions
        }
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", day) for day, _ in told.values())
        assert content == {
            "local": {"deniable": ""},  # the marks of a memory hold nothing
            "session": {},
            "cookies": "",
            "name": "",
            "databases": ["deniable"],
            "caches": ["deniable"],
            "url": link,
            "history": None,
        }
    haystack = [*(body.decode() for body in bodies), *kept, *witness.lines, collector.log.read_text()]
    haystack += [f"{request.url} {sorted(request.headers.items())}" for request in witness.requests]
    for secret in SECRETS:
        assert not any(secret in text for text in haystack), "a true answer left the element"


@pytest.mark.parametrize("layout", ["steps", "page"])
@pytest.mark.parametrize(
    "given",
    [
        pytest.param([("yes", 0), ("yes", 3), ("no", 3)], id="each of two changed alone"),
        long(list(itertools.product(("yes", "no"), range(4))), name="every option"),
    ],
)
def test_every_answer_makes_the_same_requests(
    browser: Browser, collector: Collector, survey: Survey, layout: str, given: list[tuple[str, int]]
) -> None:
    survey = replace(survey, layout=layout)
    link = collector.publish(survey)
    seen = set()
    for affair, stone in given:
        context = browser.new_context()
        page = context.new_page()
        witness = browsing.Witness.of(page)
        page.goto(link)
        browsing.answer(page, survey, {"affair": affair, "stone": survey.questions[1].options[stone]})
        (post,) = [request for request in witness.requests if request.method == "POST"]
        assert witness.requests[-1] is post
        fetched = sorted(request.url for request in witness.requests[:-1])  # modules come in any order
        seen.add((*fetched, post.url, *sorted(post.headers.items()), len(witness.posts()[0])))
        context.close()
    assert len(seen) == 1


def test_nothing_is_sent_before_send(collector: Collector, page: Page, survey: Survey) -> None:
    page.goto(collector.publish(survey))
    browsing.start(page)
    witness = browsing.Witness.of(page)
    page.get_by_role("radio", name="Yes").check()
    page.get_by_role("radio", name="No", exact=True).check()
    page.get_by_role("radio", name="basalt").check()
    page.wait_for_timeout(300)
    assert witness.requests == []
    assert json.loads(browsing.everything_kept(page))["memory"] is None


def test_missing_answers_are_named_and_nothing_is_sent(collector: Collector, page: Page, survey: Survey) -> None:
    page.goto(collector.publish(survey))
    witness = browsing.Witness.of(page)
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("radio", name="Yes").check()
    expect(page.get_by_text("One question still needs an answer.")).to_be_visible()
    page.get_by_role("button", name="Check my answers").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Which stone do you hide?")
    expect(alert).not_to_contain_text("Have you had an affair?")
    expect(alert.get_by_role("heading")).to_be_focused()
    alert.get_by_role("button", name="Which stone do you hide?").click()
    expect(page.get_by_role("radio", name="quartz")).to_be_focused()
    page.get_by_role("radio", name="quartz").check()
    page.get_by_role("button", name="Check my answers").click()
    expect(page.get_by_role("heading", name="Check your answers")).to_be_focused()
    assert witness.posts() == []


def test_review_shows_the_answers_and_lets_them_be_changed(collector: Collector, page: Page, survey: Survey) -> None:
    page.goto(collector.publish(survey))
    page.get_by_role("button", name="Start", exact=True).click()
    browsing.choose(page, survey, TRULY)
    page.get_by_role("button", name="Check my answers").click()
    review = page.locator(".review")
    expect(review).to_contain_text("zirconium")
    expect(page.get_by_role("radio")).to_have_count(0)
    page.get_by_role("button", name="Change answer 2").click()
    expect(page.get_by_role("radio", name="zirconium")).to_be_checked()
    page.get_by_role("radio", name="basalt").check()
    page.get_by_role("button", name="Check my answers").click()
    expect(review).to_contain_text("basalt")
    expect(review).not_to_contain_text("zirconium")
    page.goto("about:blank")  # what the back button brings back holds no answer
    page.go_back()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    assert "basalt" not in page.locator("deniable-survey").inner_text()
    assert page.locator("input:checked").count() == 0


def test_one_draw_however_often_the_page_is_reloaded(
    collector: Collector, page: Page, survey: Survey, link: str
) -> None:
    before = collector.reports(survey)
    page.goto(link)
    browsing.answer(page, survey, TRULY)
    witness = browsing.Witness.of(page)
    for _ in range(5):
        page.reload()
        expect(page.get_by_role("heading", name="A reply was already given here")).to_be_visible()
    assert witness.posts() == []
    assert collector.reports(survey) == before + 1


def test_failed_send_waits_and_sends_the_same_bytes_later(
    collector: Collector, page: Page, survey: Survey, link: str
) -> None:
    before = collector.reports(survey)
    witness = browsing.Witness.of(page)
    page.route("**/reports", lambda route: route.fulfill(status=500, body="{}"))
    page.goto(link)
    browsing.press_send(page, survey, TRULY)
    expect(page.get_by_role("heading", name="has not arrived yet")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="has not arrived yet")).to_be_visible()
    page.unroute("**/reports")
    page.reload()  # what waits goes by itself
    expect(page.get_by_role("heading", name=browsing.ARRIVED)).to_be_visible()
    bodies = witness.posts()
    assert len(bodies) == 3
    assert len(set(bodies)) == 1
    assert collector.reports(survey) == before + 1


@pytest.mark.parametrize("way", ["in the page", "over the network"])
def test_altered_survey_is_refused(page: Page, survey: Survey, way: str, link: str) -> None:
    weaker = read_survey(SURVEY.replace('truth = "1/2"', "truth = 0.9")).document.decode()
    witness = browsing.Witness.of(page)
    browsing.serve_with(page, link, "document", weaker if way == "in the page" else None)
    page.route(f"**/api/v1/surveys/{survey.id}", lambda route: route.fulfill(status=200, body=weaker))
    page.goto(link)
    expect(page.get_by_role("heading", name="Please do not answer this survey")).to_be_visible()
    assert page.get_by_role("radio").count() == 0
    assert witness.posts() == []


@pytest.mark.parametrize("language", catalogues())
def test_page_brings_all_that_the_first_question_needs(
    browser: Browser, collector: Collector, survey: Survey, language: str
) -> None:
    context = browser.new_context(locale=language)
    page = context.new_page()
    witness = browsing.Witness.of(page)
    page.goto(collector.publish(survey))
    page.get_by_role("button", name=json.loads(catalogues()[language])["start"], exact=True).click()
    expect(page.get_by_role("radio")).to_have_count(6)
    asked_for = {request.url.removeprefix(collector.url) for request in witness.requests}
    scripts = {"/client/deniable.js", "/client/deniable-answering.js"}
    page_alone = {f"/s/{survey.id}", "/static/pages.css", *scripts}
    assert asked_for - {"/static/icon.png"} == page_alone | {f"/api/v1/surveys/{survey.id}/state"}
    context.close()


@pytest.mark.parametrize("written", ["Sie können alles beantworten.", None])
def test_catalogue_of_the_page_is_taken_only_as_it_was_reviewed(
    browser: Browser, collector: Collector, written: str | None, link: str
) -> None:
    german = catalogues()["de"]
    altered = None if written is None else german.replace(json.loads(german)["hint"], written)
    context = browser.new_context(locale="de-AT")
    page = context.new_page()
    witness = browsing.Witness.of(page)
    browsing.serve_with(page, link, "catalogue", altered)
    page.goto(link)
    expect(page.get_by_text(json.loads(german)["hint"])).to_be_visible()
    fetched = [request.url for request in witness.requests if "catalogues" in request.url]
    assert fetched == [f"{collector.url}/client/catalogues/de.json"]
    context.close()


def test_page_over_plain_http_refuses_in_the_language_of_the_browser(
    browser: Browser, collector: Collector, survey: Survey
) -> None:
    # Browsers trust 127.0.0.1 without https, but no other name of it.
    flags = [*CHROMIUM_FLAGS, "--host-resolver-rules=MAP elsewhere.test 127.0.0.1"]
    another = browser.browser_type.launch(executable_path=chromium(), args=flags)
    page = another.new_page(locale="de")
    witness = browsing.Witness.of(page)
    page.goto(collector.publish(survey).replace("127.0.0.1", "elsewhere.test"))
    expect(page.get_by_role("heading", name=json.loads(catalogues()["de"])["altered"])).to_be_visible()
    page.locator("deniable-survey summary").click()
    expect(page.get_by_text("must come over https")).to_be_visible()
    assert page.get_by_role("radio").count() == 0
    assert witness.posts() == []
    another.close()


def test_survey_above_the_ceiling_is_refused(collector: Collector, page: Page) -> None:
    greedy = read_survey(SURVEY.replace('truth = "1/2"', "epsilon = 4.1"))
    page.goto(collector.publish(greedy))
    expect(page.get_by_role("heading", name="To protect you, your device does not take part here")).to_be_visible()
    assert page.get_by_role("radio").count() == 0
    assert collector.reports(greedy) == 0


def test_closed_survey_says_so(collector: Collector, page: Page) -> None:
    closed = read_survey("closes = 2020-01-01\n" + SURVEY)
    page.goto(collector.publish(closed))
    expect(page.get_by_role("heading", name="This survey is closed")).to_be_visible()
    assert page.get_by_role("radio").count() == 0


def test_without_scripts_the_page_explains_and_cannot_send(
    browser: Browser, collector: Collector, survey: Survey
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(collector.publish(survey))
    expect(page.get_by_role("heading", name="This page has to run a script")).to_be_visible()
    expect(page.get_by_role("heading", name="has not started")).to_be_hidden()
    assert page.locator("form, input, button, textarea, select").count() == 0
    context.close()


def test_page_of_another_origin_can_embed_the_survey(
    collector: Collector, page: Page, survey: Survey, link: str
) -> None:
    before = collector.reports(survey)
    witness = browsing.Witness.of(page)
    html = f"""<!doctype html><title>Another site</title>
        <script type="module" src="{collector.url}/client/define.js"></script>
        <deniable-survey src="{link}#cohort=web">scripts needed</deniable-survey>"""
    with browsing.another_site(html) as address:
        page.goto(address)
        page.get_by_text("Who could learn my answers?").click()
        expect(page.get_by_text("the website around this form")).to_be_visible()
        browsing.answer(page, survey, TRULY)
    assert parse_report(witness.posts()[-1], survey).cohort == "web"
    assert collector.reports(survey) == before + 1
    assert witness.lines == []


def test_words_of_the_trade_are_not_put_before_respondents(collector: Collector, page: Page, survey: Survey) -> None:
    page.goto(collector.publish(survey))
    shown = []
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    shown.append(page.locator("main").inner_text())
    browsing.start(page)
    expect(page.get_by_role("button", name="Check my answers")).to_be_visible()  # below all questions
    shown.append(page.locator("deniable-survey").inner_text())
    browsing.choose(page, survey, TRULY)
    page.get_by_role("button", name="Check my answers").click()
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    shown.append(page.locator("deniable-survey").inner_text())
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("heading", name=browsing.ARRIVED)).to_be_visible()
    shown.append(page.locator("deniable-survey").inner_text())
    for text in shown:
        assert not re.search(r"epsilon|differential|anonym|guarantee|\blie", text, re.IGNORECASE), text


@pytest.mark.long
def test_all_five_types_come_out_right(collector: Collector, page: Page) -> None:
    survey = replace(read_survey(FIVE_TYPES), title="All five types")
    witness = browsing.Witness.of(page)
    page.goto(collector.publish(survey))
    people = [person(7 * number) for number in range(50)]
    for answers in people[:3]:
        browsing.press_send(page, survey, answers)
        expect(page.get_by_role("heading", name=browsing.ARRIVED)).to_be_visible()
        page.evaluate(browsing.ANOTHER_PERSON)
    page.evaluate(browsing.GIVE_OF_ALL, [browsing.numbers_of(survey, answers) for answers in people[3:]])
    assert witness.lines == []
    for body in witness.posts():
        parse_report(body, survey)
    result = page.evaluate("async url => (await fetch(url)).json()", f"/api/v1/surveys/{survey.id}/estimates")
    assert result["n"] == 50
    # 24 estimates: one beyond 6 errors has a probability below 1e-6 even with the ragged tails of 50 reports.
    assert max(distances_in_errors(result["estimates"], people)) < 6


def test_number_that_is_none_is_named_and_nothing_is_sent(collector: Collector, page: Page) -> None:
    survey = read_survey(FIVE_TYPES)
    page.goto(collector.publish(survey))
    witness = browsing.Witness.of(page)
    page.get_by_role("button", name="Start", exact=True).click()
    browsing.choose(page, survey, person(3) | {"drinks": 61})
    page.get_by_role("button", name="Check my answers").click()
    expect(page.get_by_role("alert")).to_contain_text("How many drinks last week?")
    assert witness.posts() == []


def test_results_page_in_a_browser(page: Page, survey: Survey, link: str) -> None:
    witness = browsing.Witness.of(page)
    page.goto(link)
    browsing.answer(page, survey, TRULY)
    page.goto(f"{link}/results?view=all")
    charts = page.locator("svg.figure")
    expect(charts).to_have_count(len(survey.questions))
    assert charts.first.evaluate("chart => chart.getBoundingClientRect().width") > 400
    for fold in page.locator("details.numbers").all():
        fold.evaluate("fold => { fold.open = true }")
    assert page.get_by_role("row").count() == 2 + 6
    assert witness.lines == []

"""What respondents were promised: nothing leaks, one draw a person, reports that wait, words in their language."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from deniable import DrawnBoxes, Survey, parse_report, read_survey
from deniable_client import randomize
from deniable_server.store.sqlite.store import SqliteStore
from tests.support.marks import long
from tools.rig.browsing import (
    ANOTHER_PERSON,
    ARRIVED,
    FIVE_QUESTIONS,
    FORGET,
    GIVE,
    HASTE,
    NO_STORAGE,
    Witness,
    another_site,
    answer,
    choose,
    everything_kept,
    press_send,
    remembered,
    run_clock,
    scripts,
    serve_with,
    wait_until,
)
from tools.rig.collectors import Collector
from tools.rig.survey_files import question_toml, survey_toml

TRULY = {"affair": "yes", "town": "Never to be told", "drugs": ["heroin"], "trust": "3", "drinks": 4}

BOXES: list[list[int]] = [[], [0], [1], [0, 1]]

EVERY_ANSWER = list(itertools.product([0, 1], [0, 1, 2], BOXES, [0, 1, 2], [3, 4, 5]))

EVERY_PAIR = [
    ((i + j) % 2, j, BOXES[i], (i + j) % 3, 3 + (i + 2 * j) % 3) for i, j in itertools.product(range(4), range(3))
]
"""As few people as meet every answer to one question with every answer to another."""


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(FIVE_QUESTIONS)


def test_every_answer_to_one_question_is_met_with_every_answer_to_another() -> None:
    """Also among the twelve people of `make test`."""
    for one, other in itertools.combinations(range(5), 2):
        met, every = (
            {(str(each[one]), str(each[other])) for each in answers} for answers in (EVERY_PAIR, EVERY_ANSWER)
        )
        assert met == every


@pytest.mark.parametrize("given", [long(EVERY_ANSWER, name="all 216"), pytest.param(EVERY_PAIR, id="every pair")])
@pytest.mark.parametrize("layout", ["steps", "page"])
def test_nothing_depends_on_the_answers_in_five_questions(
    collector: Collector, page: Page, survey: Survey, given: list[tuple[Any, ...]], layout: str
) -> None:
    survey = replace(survey, layout=layout)
    html = f"""<!doctype html><title>x</title>{scripts(collector)}
        <form><input name="other" value="theirs"><deniable-survey src="{collector.publish(survey)}"></deniable-survey>
        </form>"""
    page.add_init_script(
        "window.told = []; addEventListener('message', ({ data }) => window.told.push(data));"
        "for (const event of ['ready', 'start', 'submit', 'complete', 'queued', 'error', 'closed', 'resize'])"
        " addEventListener(`deniable-${event}`, ({ type, detail }) => window.told.push({ type, detail }));"
    )
    witness = Witness.of(page)
    traffic, announced, kept = set(), set(), []
    with another_site(html) as address:
        page.goto(address)
        expect(
            page.get_by_role("button", name="Start", exact=True)
        ).to_be_visible()  # nothing comes later from the first element
        for answers in given:
            page.wait_for_timeout(0)  # what the last person's page still reports comes before this one's
            page.evaluate("window.told.length = 0")
            first = len(witness.requests)
            page.evaluate(ANOTHER_PERSON)
            page.evaluate(GIVE, list(answers))
            made = witness.requests[first:]
            traffic.add(tuple((each.method, each.url, len(each.post_data_buffer or b"")) for each in made))
            kept.append(everything_kept(page))
            assert page.evaluate("[...new FormData(document.querySelector('form'))]") == [["other", "theirs"]]
            told = page.evaluate("window.told")
            resized = [each for each in told if each["type"] == "deniable-resize"]
            assert all(set(each["detail"]) == {"survey", "height"} for each in resized)
            announced.add(json.dumps([each for each in told if each not in resized], sort_keys=True))
            assert page.evaluate("[location.href, history.length]") == [address, 2]
    assert len(traffic) == 1, traffic
    (requests,) = traffic
    assert [method for method, _, _ in requests] == [
        "GET",
        "GET",
        "GET",
        "POST",
    ]  # survey, words, whether it is open, report
    assert len(announced) == 1, announced
    (events,) = announced
    assert [each["type"] for each in json.loads(events)] == [
        f"deniable-{event}" for event in ("ready", "start", "submit", "complete")
    ]
    assert witness.lines == []
    haystack = [*kept, *(body.decode() for body in witness.posts()), collector.log.read_text()]
    for secret in ("Aville", "Bville", "Never to be told", "cannabis", "heroin", "yes"):
        assert not any(secret in text for text in haystack)


@pytest.mark.parametrize("times", [5, long(100)])
def test_reloads_and_resends_make_one_body(
    collector: Collector, page: Page, survey: Survey, link: str, times: int
) -> None:
    before = collector.reports(survey)
    witness = Witness.of(page)
    page.goto(link)
    answer(page, survey, TRULY)
    unsend = "for (const { to } of Object.values(state.reports)) for (const each in to) to[each] = false; return state"
    for _ in range(times):
        page.evaluate(remembered(unsend))
        page.reload()
        page.wait_for_function(
            "() => document.querySelector('deniable-survey').shadowRoot?.querySelector('a[href$=results]')"
        )
    assert len(witness.posts()) == times + 1
    assert len(set(witness.posts())) == 1
    assert collector.reports(survey) == before + 1


def test_offline_at_send_then_online(
    collector: Collector, context: BrowserContext, page: Page, survey: Survey, link: str
) -> None:
    before = collector.reports(survey)
    page.add_init_script(HASTE)
    page.add_init_script("addEventListener('deniable-queued', () => (window.queued = true))")
    page.goto(link)
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    context.set_offline(True)
    press_send(page, survey, TRULY)
    expect(page.get_by_role("heading", name="Your reply has not arrived yet")).to_be_visible()
    expect(page.get_by_text("sends your reply when the network is back")).to_be_visible()
    page.wait_for_function("window.queued")
    assert "heroin" not in everything_kept(page)
    context.set_offline(False)
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()
    assert collector.reports(survey) == before + 1
    page.reload()
    expect(page.get_by_role("heading", name="Thank you. A reply was already given here.")).to_be_visible()
    assert collector.reports(survey) == before + 1


def test_storage_blocked_still_one_report_and_it_says_what_is_lost(
    collector: Collector, page: Page, survey: Survey
) -> None:
    before = collector.reports(survey)
    page.add_init_script(NO_STORAGE)
    page.goto(collector.publish(survey))
    expect(page.get_by_text("Your browser does not let this page remember anything.")).to_be_visible()
    answer(page, survey, TRULY)
    page.evaluate(
        "document.querySelector('deniable-survey').replaceWith(document.querySelector('deniable-survey').cloneNode())"
    )
    expect(page.get_by_role("heading", name="Thank you. A reply was already given here.")).to_be_visible()
    assert collector.reports(survey) == before + 1


def test_enter_before_all_questions_stand_there_does_nothing(collector: Collector, page: Page) -> None:
    title, *questions = FIVE_QUESTIONS.split("[[questions]]")
    survey = read_survey("[[questions]]".join([title, *reversed(questions)]))  # Enter submits from a text field
    page.add_init_script(
        "window.held = []; const later = setTimeout;"
        "window.setTimeout = (act, ms, ...more) => (ms === undefined ? held.push(act) : later(act, ms, ...more));"
    )
    page.goto(collector.publish(survey))
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("spinbutton").fill("4")
    page.keyboard.press("Enter")
    page.wait_for_function("held.length > 0")
    assert page.locator("fieldset").count() == 1
    page.evaluate("held.splice(0).forEach((act) => act())")
    expect(page.locator("fieldset")).to_have_count(len(survey.questions))
    expect(page.locator("form")).to_be_visible()
    expect(page.locator(".review")).to_be_empty()


def double_click(page: Page, first: Locator, then: Callable[[], Locator] | None = None) -> None:
    """Click twice, as fast as people do who open every file so; a new screen may come up between the two."""
    first.click()
    (then() if then else first).hover()
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)


def test_the_second_half_of_a_double_click_does_nothing_on_the_screen_that_the_first_one_brought(
    collector: Collector, page: Page, survey: Survey
) -> None:
    witness = Witness.of(page)
    page.goto(collector.publish(survey))
    double_click(page, page.get_by_role("button", name="Start", exact=True), lambda: page.get_by_role("radio").first)
    expect(page.locator("fieldset")).to_have_count(len(survey.questions))
    expect(page.locator("input:checked")).to_have_count(0)
    drug = page.get_by_role("checkbox").first
    double_click(page, drug)
    expect(drug).not_to_be_checked()  # where nothing has changed, each of the two counts
    choose(page, survey, TRULY)
    send = page.get_by_role("button", name="Send", exact=True)
    double_click(page, page.get_by_role("button", name="Check my answers"), lambda: send)
    double_click(page, page.get_by_role("button", name="Change").first, lambda: page.get_by_role("radio").first)
    page.get_by_role("button", name="Check my answers").click()
    expect(send).to_be_visible()
    assert witness.posts() == []
    expect(page.locator(".review").get_by_text("Yes", exact=True)).to_be_visible()
    double_click(page, send, lambda: page.get_by_role("link", name="Results"))
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()
    assert len(witness.posts()) == 1


def test_survey_that_closed_while_the_report_waited(collector: Collector, page: Page) -> None:
    survey = read_survey(FIVE_QUESTIONS.replace("Five questions", "Closes soon"))
    page.route("**/reports", lambda route: route.fulfill(status=500, body="{}"))
    page.goto(collector.publish(survey))
    press_send(page, survey, TRULY)
    expect(page.get_by_role("heading", name="Your reply has not arrived yet")).to_be_visible()
    store = SqliteStore(collector.database)
    store.close_survey(survey.id)
    store.close()
    page.unroute("**/reports")
    page.reload()
    expect(page.get_by_role("heading", name="This survey is closed")).to_be_visible()
    expect(page.get_by_text("Your device has forgotten what you chose.")).to_be_visible()
    assert collector.reports(survey) == 0


def as_kiosk(page: Page, link: str) -> None:
    """Serve a survey's page as whoever owns a shared device would write it: with the attribute."""

    def alter(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=response.text().replace("<deniable-survey ", "<deniable-survey kiosk "))

    page.route(link, alter)


def test_kiosk_forgets_each_person_and_keeps_only_reports_that_wait(
    collector: Collector, page: Page, survey: Survey, link: str
) -> None:
    before = collector.reports(survey)
    witness = Witness.of(page)
    as_kiosk(page, link)
    page.goto(link)
    for _ in range(3):
        expect(page.get_by_text("This shared device forgets you as soon as your reply has arrived.")).to_be_visible()
        answer(page, survey, TRULY)
        assert json.loads(everything_kept(page))["memory"] == {"reports": {}, "noisy": {}, "told": {}}
        page.get_by_role("button", name="Next person").click()
    page.route("**/reports", lambda route: route.fulfill(status=500, body="{}"))
    press_send(page, survey, TRULY)
    expect(page.get_by_role("heading", name="Your reply has not arrived yet")).to_be_visible()
    page.get_by_role("button", name="Next person").click()
    expect(page.get_by_text("One reply of another person waits on this device")).to_be_visible()
    page.unroute("**/reports")
    page.reload()
    wait_until(page, f"async () => Object.keys((await ({remembered()})()).reports).length === 0")
    assert len({json.loads(body)["id"] for body in witness.posts()}) == 4
    assert collector.reports(survey) == before + 4


def test_ledger_refuses_what_a_collector_asks_too_often(collector: Collector, page: Page) -> None:
    surveys = [
        read_survey(f'title = "Wave {n}"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Again {n}?"\nepsilon = 3\n')
        for n in range(3)
    ]
    for each in surveys[:2]:
        page.goto(collector.publish(each))
        answer(page, each, {"q": "yes"})
    page.goto(collector.publish(surveys[2]))
    expect(page.get_by_role("heading", name="To protect you, your device does not take part here")).to_be_visible()
    expect(page.get_by_text("You have done nothing wrong, and nothing was sent.")).to_be_visible()
    assert collector.reports(surveys[2]) == 0
    page.goto(collector.publish(surveys[0]))  # which was paid for
    expect(page.get_by_role("heading", name="Thank you. A reply was already given here.")).to_be_visible()
    old = (datetime.now(UTC) - timedelta(days=91)).date().isoformat()
    age = f"for (const told of Object.values(state.told)) for (const key in told) told[key][0] = '{old}'; return state"
    page.evaluate(remembered(age))
    page.goto(collector.publish(surveys[2]))
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()


def test_without_a_required_cohort_nobody_is_asked(collector: Collector, page: Page) -> None:
    survey = read_survey('cohorts = ["web"]\ncohort_required = true\n' + FIVE_QUESTIONS)
    witness = Witness.of(page)
    page.goto(collector.publish(survey))
    expect(page.get_by_text("the end of a link is easily lost or mistyped.")).to_be_visible()
    expect(page.get_by_role("button", name="Start", exact=True)).to_have_count(0)
    assert witness.posts() == []
    page.goto("about:blank")
    page.goto(f"{collector.publish(survey)}#cohort=web")
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()


def test_cohort_comes_from_the_fragment_and_never_from_a_query(collector: Collector, page: Page) -> None:
    survey = read_survey('cohorts = ["web"]\n' + FIVE_QUESTIONS)
    witness = Witness.of(page)
    page.goto(f"{collector.publish(survey)}?cohort=web")
    answer(page, survey, TRULY)
    assert parse_report(witness.posts()[0], survey).cohort is None
    page.evaluate(FORGET)
    page.goto(f"{collector.publish(survey)}#cohort=web")
    page.reload()
    expect(page.get_by_text("Your device also sends the label of your link, “web”.")).to_be_visible()
    answer(page, survey, TRULY)
    assert parse_report(witness.posts()[1], survey).cohort == "web"
    assert not any("#" in request.url for request in witness.requests if request.method == "POST")


def test_a_mistyped_cohort_is_a_mistake_of_the_link_and_nobody_is_warned_of_the_survey(
    collector: Collector, page: Page
) -> None:
    survey = read_survey('cohorts = ["web"]\n' + FIVE_QUESTIONS)
    page.goto(f"{collector.publish(survey)}#cohort=wep")
    expect(page.get_by_text("the end of a link is easily lost or mistyped.")).to_be_visible()
    expect(page.get_by_text("Please do not answer this survey")).to_have_count(0)
    expect(page.get_by_role("button", name="Start", exact=True)).to_have_count(0)


def test_a_link_without_its_end_takes_the_whole_one_and_asks_nobody(collector: Collector, page: Page) -> None:
    survey = read_survey('cohorts = ["web"]\ncohort_required = true\n' + FIVE_QUESTIONS)
    link = collector.publish(survey)
    page.goto(link)
    witness = Witness.of(page)
    field, go = (
        page.get_by_role("searchbox", name="Paste your whole link here"),
        page.get_by_role("button", name="Open the survey"),
    )
    for wrong in ("", "javascript:alert(1)", link[:-3]):
        field.fill(wrong)
        go.click()
        expect(page.get_by_role("alert")).to_have_text(
            "This link is not complete. Please ask for it again where you got it."
        )
    assert page.url == link
    assert witness.requests == []
    field.fill(f" {link}#cohort=web\n")
    go.click()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()


def test_a_survey_that_is_not_open_yet_says_when_it_opens(collector: Collector, page: Page) -> None:
    survey = read_survey("opens = 2999-11-20\n" + FIVE_QUESTIONS)
    page.goto(collector.publish(survey))
    expect(page.get_by_role("heading", name="This survey is not open yet")).to_be_visible()
    expect(page.get_by_text("This survey opens on November 20, 2999.")).to_be_visible()
    expect(page.get_by_text("Please come back then with the same link.")).to_be_visible()


def test_a_report_that_was_refused_for_now_is_sent_again_by_itself(
    collector: Collector, page: Page, survey: Survey
) -> None:
    page.clock.install()
    page.goto(collector.publish(survey))
    page.clock.run_for(100)
    page.get_by_role("button", name="Start", exact=True).click()
    page.clock.run_for(100)
    page.route("**/reports", lambda route: route.fulfill(status=429, headers={"Retry-After": "30"}, body="{}"))
    witness = Witness.of(page)
    choose(page, survey, TRULY)
    page.get_by_role("button", name="Check my answers").click()
    page.get_by_role("button", name="Send", exact=True).click()
    again = page.get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    again.focus()
    run_clock(page, 90, until=lambda: len(witness.posts()) >= 2)
    expect(again).to_be_focused()  # refused once more: nothing moves
    page.unroute("**/reports")
    run_clock(page, 90, until=lambda: page.get_by_role("heading", name=ARRIVED).count())
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()
    assert len(witness.posts()) >= 2
    assert len(set(witness.posts())) == 1


def test_a_send_that_hangs_says_that_it_goes_on(collector: Collector, page: Page, survey: Survey) -> None:
    page.add_init_script(HASTE)
    page.goto(collector.publish(survey))
    page.route("**/reports", lambda _route: None)
    press_send(page, survey, TRULY)
    expect(page.get_by_role("status")).to_contain_text("Your device keeps trying")


def test_change_leads_to_its_own_question_and_mistakes_are_named_by_number(
    collector: Collector, page: Page, survey: Survey
) -> None:
    page.goto(collector.publish(survey))
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("button", name="Check my answers").click()
    expect(page.get_by_role("alert")).to_contain_text("4. How much do you trust us?")
    choose(page, survey, TRULY)
    page.get_by_role("button", name="Check my answers").click()
    expect(page.locator('.review [translate="no"]').nth(1)).to_have_text("Never to be told")
    page.get_by_role("button", name="Change answer 5").click()
    expect(page.get_by_role("spinbutton")).to_be_focused()


def test_no_and_yes_beside_a_third_option_are_in_the_language_of_the_reader(
    browser: Browser, collector: Collector
) -> None:
    survey = read_survey(
        'title = "T"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1\ndecline = "Weiß nicht"\n'
    )
    context = browser.new_context(locale="de-DE")
    page = context.new_page()
    page.goto(collector.publish(survey))
    page.get_by_role("button", name="Starten").click()
    expect(page.locator("fieldset label")).to_have_text(["Nein", "Ja", "Weiß nicht"])
    context.close()


SPOKEN = survey_toml(
    {"default": "Life", "de": "Leben", "ar": "حياة"},
    question_toml("affair", "yes-no", {"default": "An affair?", "de": "Eine Affäre?"}, truth="1/2"),
    question_toml(
        "town",
        "choice",
        {"default": "Town or country?", "de": "Stadt oder Land?"},
        options=[{"default": "town", "de": "Stadt"}, {"default": "country", "de": "Land"}],
        decline={"default": "Prefer not to say", "de": "Keine Angabe"},
        epsilon=1,
    ),
    about={"default": "Why we ask", "de": "Warum wir fragen"},
    layout="page",
)


@pytest.mark.parametrize(
    ("locale", "fragment", "title", "start", "direction"),
    [
        ("de-AT", "", "Leben", "Starten", "ltr"),
        ("fr-FR", "", "Life", "Commencer", "ltr"),
        ("es-MX", "", "Life", "Empezar", "ltr"),
        ("fi-FI", "", "Life", "Start", "ltr"),
        ("en-GB", "#lang=ar", "حياة", "ابدأ", "rtl"),
    ],
)
def test_interface_and_survey_in_the_language_of_the_browser_or_the_link(
    browser: Browser, collector: Collector, locale: str, fragment: str, title: str, start: str, direction: str
) -> None:
    survey = read_survey(SPOKEN)
    context = browser.new_context(locale=locale)
    page = context.new_page()
    page.goto(collector.publish(survey) + fragment)
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    button = page.get_by_role("button", name=start)
    expect(button).to_be_visible()
    assert button.evaluate("each => getComputedStyle(each).direction") == direction
    context.close()


def test_translated_answers_are_the_same_answers(browser: Browser, collector: Collector) -> None:
    survey = read_survey(SPOKEN)
    assert survey.questions[1].options == ("town", "country", "Prefer not to say")
    context = browser.new_context(locale="de-DE")
    page = context.new_page()
    witness = Witness.of(page)
    page.goto(collector.publish(survey))
    page.get_by_role("button", name="Starten").click()
    page.get_by_role("radio", name="Ja", exact=True).check()
    page.get_by_role("radio", name="Keine Angabe").check()
    page.get_by_role("button", name="Prüfen").click()
    expect(page.locator(".review")).to_contain_text("Keine Angabe")
    page.get_by_role("button", name="Absenden").click()
    expect(page.get_by_role("heading", name="Vielen Dank. Sie sind fertig.")).to_be_visible()
    parse_report(witness.posts()[0], survey)
    context.close()


def test_altered_catalogue_is_not_read(page: Page, survey: Survey, link: str) -> None:
    altered = {"lang": "en", "dir": "ltr", "start": "We know it all"}
    serve_with(page, link, "catalogue", json.dumps(altered))
    page.route(
        "**/client/catalogues/*",
        lambda route: route.fulfill(json=altered, headers={"access-control-allow-origin": "*"}),
    )
    page.goto(link)
    expect(page.get_by_role("heading", name="This survey cannot be loaded")).to_be_visible()
    assert "We know it all" not in page.inner_text("body")


def test_trying_drawn_boxes_counts_those_that_are_sent_as_ticked(collector: Collector, page: Page) -> None:
    boxes = read_survey(
        'title = "Boxes"\n[[questions]]\nid = "q"\ntype = "ticks"\ntext = "Q?"\n'
        'options = ["one", "two", "three", "four"]\nepsilon = 4\n'
    )
    page.goto(collector.publish(boxes))
    page.get_by_text("What chance does here").click()
    page.get_by_role("button", name="Try 100 times").click()
    said = re.findall(
        r"(\w+): ticked: (\d+) of 100", page.get_by_role("status").filter(has=page.get_by_role("list")).inner_text()
    )
    counts = {option: int(n) for option, n in said}
    assert set(counts) <= {"one", "two", "three", "four"}
    mechanism = boxes.questions[0].mechanism
    assert isinstance(mechanism, DrawnBoxes)
    chance = mechanism.s / mechanism.k * mechanism.box.floats[0]
    # The first box is pretended to be ticked: binomial of 100, six standard errors.
    assert abs(counts["one"] - 100 * chance) < 6 * math.sqrt(100 * chance * (1 - chance)) + 1
    assert all(counts.get(other, 0) < counts["one"] for other in ("two", "three", "four"))


SAME_ANSWERS = {"affair": 1, "town": 0, "drugs": [0], "trust": 1, "drinks": 5}
REPORTS = 5000


def test_browser_and_python_reports_come_from_the_exact_distribution(
    collector: Collector, page: Page, survey: Survey
) -> None:
    page.goto(collector.publish(survey))
    labels = {"affair": "yes", "town": "Aville", "drugs": ["cannabis"], "trust": "2", "drinks": 5}
    by_browser = page.evaluate(
        """async ([document, answers, n]) => {
            const { encodeReport, fetchSurvey, randomize } = await import("/client/index.js");
            const survey = await fetchSurvey(location.href);
            return Array.from({ length: n }, () => encodeReport(randomize(survey, answers)));
        }""",
        [None, labels, REPORTS],
    )
    browser = [parse_report(text.encode(), survey).values for text in by_browser]
    python = [randomize(survey, labels).values for _ in range(REPORTS)]  # type: ignore[arg-type]
    worst = 0.0
    for question in survey.questions:
        exact = exact_distribution(question, SAME_ANSWERS[question.id])
        assert math.isclose(sum(exact.values()), 1)
        counts = [Counter(values[question.id] for values in reports) for reports in (browser, python)]
        for value, p in exact.items():
            error = math.sqrt(REPORTS * p * (1 - p))
            one, other = (count[value] for count in counts)
            distances = abs(one - REPORTS * p), abs(other - REPORTS * p), abs(one - other) / math.sqrt(2)
            worst = max(worst, *(distance / error for distance in distances))
        assert set().union(*counts) <= set(exact)
    # 3 comparisons of fewer than 40 values each: beyond 6.2 errors a probability below 1e-6, tails of 5,000 included.
    assert worst < 6.2


def exact_distribution(question: Any, answer: Any) -> dict[Any, float]:
    """Probability of every report when this is the answer."""
    mechanism = question.mechanism
    if question.type == "ticks":
        keep, sets = mechanism.keep / 2**32, math.comb(mechanism.k, mechanism.s)
        other = (1 - keep) / (2**mechanism.s - 1)
        return {
            "".join(("10", "01")[sent[box]] if box in sent else "00" for box in range(mechanism.k)): chance / sets
            for drawn in itertools.combinations(range(mechanism.k), mechanism.s)
            for bits in itertools.product([0, 1], repeat=mechanism.s)
            for sent in [dict(zip(drawn, bits, strict=True))]
            for chance in [keep if all(bit == (box in answer) for box, bit in sent.items()) else other]
        }
    if mechanism.name == "mean":
        low, high = float(mechanism.support[1].if_other), float(mechanism.support[1].if_true)
        one = low + (high - low) * (answer - mechanism.lo) / (mechanism.hi - mechanism.lo)
        return {1: one, 0: 1 - one}
    if hasattr(mechanism, "rows"):
        row = mechanism.rows[answer - mechanism.answer_range.start]
        return {mechanism.report_range.start + n: weight / 2**32 for n, weight in enumerate(row)}
    return {
        value: float(support.if_true if value == answer else support.if_other)
        for value, support in enumerate(mechanism.support)
    }


def test_other_person_by_script_is_what_a_person_does(collector: Collector, context: BrowserContext) -> None:
    """The script of the other tests goes through the same screens as a person."""
    coin = read_survey('title = "Coin"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\ntruth = "1/2"\n')
    page: Page = context.new_page()
    page.goto(collector.publish(coin))
    page.evaluate(GIVE, [1])
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()


MANY_WORDS = survey_toml(
    "Many words",
    question_toml("coins", "yes-no", truth="1/2"),
    question_toml("forced", "choice", options=["a", "b", "c"], truth="1/2", forced=["1/3", "1/3", "1/3"]),
    question_toml("subset", "choice", options=[*"abcdefgh"], epsilon=0.5, mechanism="subset"),
    question_toml("waves", "scale", lo=1, hi=4, mechanism="longitudinal", epsilon=1, wave_epsilon=0.5),
    question_toml("boxes", "ticks", options=["a", "b"], epsilon=1),
    question_toml("steps", "number", lo=0, hi=9, epsilon=0.5, mechanism="geometric"),
    question_toml("drinks", "number", lo=0, hi=9, epsilon=0.5, mechanism="mean"),
    cohorts=["paper"],
    layout="page",
)

UNFOLDED = """(element) => {
    for (const each of element.shadowRoot.querySelectorAll("details")) each.open = true;
    return new Promise((done) => setTimeout(() => {
        element.shadowRoot.querySelectorAll("pre").forEach((each) => each.remove()); // a report has braces
        done(element.shadowRoot.textContent);
    }, 50));
}"""


# Each sentence has the same places for figures in every language, which the build of the catalogues compares.
@pytest.mark.parametrize("language", ["ar", long("de"), "en", long("es"), long("fr")])
def test_no_sentence_has_a_gap_where_a_figure_belongs(collector: Collector, page: Page, language: str) -> None:
    page.goto(f"{collector.publish(read_survey(MANY_WORDS))}#cohort=paper&lang={language}")
    element = page.locator("deniable-survey")
    start = element.locator(".start button")
    start.wait_for()
    screens = [element.evaluate(UNFOLDED)]
    start.click()
    element.locator("fieldset").nth(6).wait_for()
    screens.append(element.evaluate(UNFOLDED))
    for name in ("coins", "forced", "subset", "waves", "boxes"):
        page.locator(f"input[name={name}]").first.check()
    for name in ("steps", "drinks"):
        page.locator(f"input[name={name}]").fill("3")
    element.locator("form > .stack > button").last.click()
    element.locator(".review button[part]").last.wait_for()
    screens.append(element.evaluate(UNFOLDED))
    element.locator(".review button[part]").last.click()
    element.locator("a[href$=results]").wait_for()
    screens.append(element.evaluate(UNFOLDED))
    for screen in screens:
        assert len(screen) > 100
        assert "undefined" not in screen
        assert "NaN" not in screen
        assert not set(screen) & set("{}")

"""One question at a time in a real Chromium: keys, errors, Back and Forward, leaving, and what a page around hears."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Dialog, Frame, Locator, Page, expect

from deniable import Survey, parse_report, read_survey
from tests.browser.test_accessibility import SMALL_TARGETS, violations
from tests.support.marks import long
from tools.rig import browsing
from tools.rig.browsing import (
    ARRIVED,
    Witness,
    another_site,
    answer,
    choose,
    everything_kept,
    framed,
    let_it_draw,
    press_send,
    scripts,
    wait_until,
)
from tools.rig.collectors import Collector
from tools.rig.survey_files import question_toml, survey_toml

MISSING = "Please choose an answer. You can also stop here: no answer is sent before you press Send."

TRUST = """[[questions]]
id = "trust"
type = "scale"
text = "How much do you trust us?"
lo = 0
hi = 10
ends = ["not at all", "completely"]
goal = "shares"
epsilon = 0.5
"""

STEPS = survey_toml(
    "One at a time",
    question_toml("affair", "yes-no", "Have you had an affair?", epsilon=0.5),
    question_toml("drugs", "ticks", "What have you tried?", options=["cannabis", "heroin"], epsilon=0.5),
    TRUST,
    question_toml("drinks", "number", "How many drinks last week?", lo=0, hi=100, epsilon=0.5),
)

TRULY = {"affair": "yes", "drugs": ["heroin"], "trust": "7", "drinks": 12}

SHADOW = "document.querySelector('deniable-survey').shadowRoot"


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(STEPS)


def start(page: Page | Frame) -> None:
    browsing.start(page)
    expect(step(page, 1)).to_be_focused()


def step(page: Page | Frame, n: int, all_of_them: int = 4) -> Locator:
    """The question in a place, by what a screen reader says when it comes up."""
    return page.get_by_role("group", name=f"Question {n} of {all_of_them}")


def onward(page: Page | Frame) -> None:
    page.get_by_role("button", name="Continue", exact=True).click()


def review(page: Page | Frame) -> Locator:
    return page.get_by_role("heading", name="Check your answers")


def to_the_review(page: Page | Frame, survey: Survey) -> None:
    start(page)
    choose(page, survey, TRULY)
    page.get_by_role("button", name="Check my answers").click()
    expect(review(page)).to_be_focused()


@contextmanager
def embedded(collector: Collector, page: Page, link: str, attributes: str = "") -> Iterator[str]:
    """A page of another site with the survey in it."""
    element = f'<deniable-survey src="{link}" {attributes}></deniable-survey>'
    with another_site(
        f'<!doctype html><html lang="en"><title>x</title>{scripts(collector)}<main>{element}</main>'
    ) as address:
        page.goto(address)
        yield address


def test_one_question_stands_on_the_screen_and_says_where_it_is(page: Page, survey: Survey, link: str) -> None:
    page.goto(link)
    start(page)
    for n, question in enumerate(survey.questions, 1):
        expect(step(page, n)).to_be_focused()  # which screen readers read as a whole, once
        name = step(page, n).evaluate("set => set.querySelector('legend').textContent.replace(/\\s+/g, ' ')")
        assert name == f"Question {n} of 4 {question.text}"
        expect(page.locator("fieldset:visible")).to_have_count(1)
        # What is behind somebody, and never nothing.
        assert page.locator("progress").first.evaluate("bar => bar.value") == (n - 0.5) / 4
        page.evaluate(f"{SHADOW}.querySelectorAll('fieldset')[{n - 1}].querySelectorAll('input')[0].click()")
        if question.type == "number":
            page.get_by_role("spinbutton").fill("3")
        else:
            expect(step(page, n)).to_be_visible()  # choosing leads nowhere by itself
            onward(page)


def test_a_survey_of_one_question_is_one_step(collector: Collector, page: Page) -> None:
    survey = read_survey(survey_toml("Alone", question_toml("affair", "yes-no", "An affair?", epsilon=1)))
    page.goto(collector.publish(survey))
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("group", name="An affair?")).to_be_focused()
    expect(page.get_by_text("Question 1 of 1")).to_have_count(0)
    page.get_by_role("button", name="Check my answers").click()
    expect(page.get_by_role("alert")).to_have_text(MISSING)
    press_yes_and_send(page)


def press_yes_and_send(page: Page) -> None:
    page.get_by_role("radio", name="Yes").check()
    page.get_by_role("button", name="Check my answers").click()
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()


def test_digits_choose_and_enter_goes_on(page: Page, survey: Survey, link: str) -> None:
    page.goto(link)
    start(page)
    page.keyboard.press("2")
    expect(page.get_by_role("radio", name="Yes")).to_be_checked()
    page.keyboard.press("1")
    expect(page.get_by_role("radio", name="No", exact=True)).to_be_checked()
    page.keyboard.press("9")  # none
    page.keyboard.press("Control+2")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="Yes")).to_be_checked()
    page.keyboard.press("Enter")
    expect(step(page, 2)).to_be_focused()
    page.keyboard.press("2")
    expect(page.get_by_role("checkbox", name="heroin")).to_be_checked()
    page.keyboard.press("2")
    expect(page.get_by_role("checkbox", name="heroin")).not_to_be_checked()
    page.keyboard.press("Enter")
    expect(step(page, 3)).to_be_focused()
    page.keyboard.press("7")  # the level, not the seventh
    expect(page.get_by_role("radio", name="7", exact=True)).to_be_checked()
    page.keyboard.press("0")
    expect(page.get_by_role("radio", name="0 – not at all")).to_be_checked()
    page.keyboard.press("Enter")
    expect(step(page, 4)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.type("12")
    expect(page.get_by_role("spinbutton")).to_have_value("12")
    page.keyboard.press("Enter")
    expect(review(page)).to_be_focused()


def test_digits_are_typed_where_people_type(collector: Collector, page: Page) -> None:
    options = [f"{n} years" for n in range(20)]
    survey = read_survey(survey_toml("Years", question_toml("years", "choice", "?", options=options, epsilon=1)))
    page.goto(collector.publish(survey))
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("searchbox").press("3")
    expect(page.get_by_role("searchbox")).to_have_value("3")
    assert page.locator("input:checked").count() == 0


def test_enter_that_is_held_down_skips_no_question(page: Page, link: str) -> None:
    page.goto(link)
    start(page)
    page.keyboard.press("1")
    for _ in range(5):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    let_it_draw(page)
    expect(step(page, 2)).to_be_visible()  # boxes need no answer, and would be passed over unseen


def test_the_second_half_of_a_double_click_skips_no_question(page: Page, link: str) -> None:
    page.goto(link)
    start(page)
    page.get_by_role("radio", name="Yes").check()
    page.get_by_role("button", name="Continue", exact=True).dblclick()
    let_it_draw(page)
    expect(step(page, 2)).to_be_visible()


def test_a_missing_answer_is_said_at_the_question_until_it_is_there(page: Page, link: str) -> None:
    page.goto(link)
    start(page)
    onward(page)
    expect(page.get_by_role("alert")).to_have_text(MISSING)
    expect(page.get_by_role("radio", name="No", exact=True)).to_be_focused()
    expect(step(page, 1)).to_be_visible()
    page.get_by_role("radio", name="Yes").check()
    expect(page.get_by_role("alert")).to_have_count(0)
    onward(page)
    expect(step(page, 2)).to_be_focused()
    onward(page)  # boxes may stay empty
    expect(step(page, 3)).to_be_focused()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_number_says_what_to_do_in_other_words_than_its_hint(page: Page, survey: Survey, link: str) -> None:
    page.goto(link)
    start(page)
    choose(page, survey, TRULY)
    field, further = page.get_by_role("spinbutton"), page.get_by_role("button", name="Check my answers")
    stop = "You can also stop here: no answer is sent before you press Send."
    for typed, said in (
        ("", f"There is no number here yet. {stop}"),
        ("101", f"Please enter 100 or less. {stop}"),
        ("-1", f"Please enter 0 or more. {stop}"),
        ("2.5", f"Please enter a whole number, without a decimal point. {stop}"),
    ):
        field.fill(typed)
        further.click()
        expect(page.get_by_role("alert")).to_have_text(said)
        expect(page.get_by_text("Enter a whole number from 0 to 100.")).to_be_visible()  # with both ends
        expect(field).to_be_focused()
        expect(field).to_have_attribute("aria-invalid", "true")
        field.fill("3")
        expect(page.get_by_role("alert")).to_have_count(0)
        expect(field).to_have_attribute("aria-invalid", "false")


def test_scrolling_changes_no_number_and_the_review_shows_what_is_sent(page: Page, survey: Survey, link: str) -> None:
    page.goto(link)
    start(page)
    choose(page, survey, TRULY)
    field = page.get_by_role("spinbutton")
    field.hover()
    page.mouse.wheel(0, 300)
    let_it_draw(page)
    expect(field).to_have_value("12")
    field.fill("1e1")
    page.get_by_role("button", name="Check my answers").click()
    expect(page.locator('.review [translate="no"]').last).to_have_text("10")


def test_back_and_forward_walk_with_the_answers_kept(page: Page, survey: Survey, link: str) -> None:
    witness = Witness.of(page)
    page.goto(link)
    to_the_review(page, survey)
    for n in (4, 3, 2, 1):
        page.go_back()
        expect(step(page, n)).to_be_focused()
    page.go_back()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    assert page.url == link
    for n in (1, 2, 3, 4):
        page.go_forward()
        expect(step(page, n)).to_be_focused()
    expect(page.get_by_role("spinbutton")).to_have_value("12")
    page.go_forward()
    expect(page.locator(".review")).to_contain_text("heroin")
    assert page.url == link
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()
    assert len(witness.posts()) == 1
    assert witness.lines == []


def test_start_leads_back_to_the_first_question_as_it_was(page: Page, link: str) -> None:
    page.goto(link)
    start(page)
    page.get_by_role("radio", name="Yes").check()
    page.get_by_role("button", name="Back", exact=True).click()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(step(page, 1)).to_be_focused()
    expect(page.get_by_role("radio", name="Yes")).to_be_checked()


def test_the_history_holds_a_place_and_never_an_answer(page: Page, survey: Survey, link: str) -> None:
    states = []
    page.goto(link)
    start(page)
    for given in ("yes", "no"):
        label = given.capitalize()
        page.get_by_role("radio", name=label, exact=True).check()
        onward(page)
        expect(step(page, 2)).to_be_focused()
        states.append(page.evaluate("history.state"))
        page.go_back()
        expect(step(page, 1)).to_be_focused()
    assert states[0] == states[1]
    assert {key: type(value) for key, value in states[0].items()} == {"deniable": str, "at": int, "n": int}
    assert json.loads(everything_kept(page))["memory"] is None


def test_the_review_is_reached_without_a_gap_whatever_way_leads_there(page: Page, survey: Survey, link: str) -> None:
    page.goto(link)
    to_the_review(page, survey)
    page.go_back()
    page.get_by_role("spinbutton").fill("")
    page.go_forward()
    expect(page.get_by_role("alert")).to_contain_text("There is no number here yet.")
    expect(page.get_by_role("spinbutton")).to_be_focused()
    page.get_by_role("spinbutton").fill("5")
    page.get_by_role("button", name="Check my answers").click()
    expect(review(page)).to_be_focused()


def test_change_leads_to_the_question_and_back_to_the_review(page: Page, survey: Survey, link: str) -> None:
    page.goto(link)
    to_the_review(page, survey)
    page.get_by_role("button", name="Change answer 1").click()
    expect(step(page, 1)).to_be_focused()
    page.get_by_role("radio", name="No", exact=True).check()
    page.get_by_role("button", name="Check my answers").click()
    expect(review(page)).to_be_focused()
    assert page.locator('.review [translate="no"]').all_inner_texts() == [
        "No",
        "heroin",
        "7",
        "0 – not at all … 10 – completely",
        "12",
    ]
    page.get_by_role("button", name="Change answer 3").click()
    expect(step(page, 3)).to_be_focused()
    page.get_by_role("button", name="Back", exact=True).click()
    expect(review(page)).to_be_focused()


def test_after_send_back_brings_back_no_question(page: Page, survey: Survey, collector: Collector, link: str) -> None:
    page.goto(f"{collector.url}/")
    page.goto(link)
    answer(page, survey, TRULY)
    wait_until(page, "history.state === null")
    page.go_back()
    page.wait_for_url(f"{collector.url}/")  # one press leaves
    for _ in range(4):
        page.go_forward()
        expect(page.get_by_role("heading", name="already given").or_(receipt(page))).to_be_visible()
        assert page.locator("fieldset, .review *").count() == 0


def receipt(page: Page) -> Locator:
    return page.get_by_role("heading", name=ARRIVED)


def test_a_page_that_goes_away_begins_anew_with_nothing_chosen(page: Page, survey: Survey, link: str) -> None:
    page.goto(link)
    to_the_review(page, survey)
    # What is in the page at the end of `pagehide` comes back with the back button, before any script runs.
    left = page.evaluate(
        f"""() => {{
            dispatchEvent(new PageTransitionEvent("pagehide", {{ persisted: true }}));
            return {SHADOW}.querySelector(".review").textContent;
        }}"""
    )
    assert left == ""
    expect(step(page, 1)).to_be_visible()
    assert page.locator(".review *").count() == 0
    assert page.locator("input:checked").count() == 0
    page.get_by_role("radio", name="No", exact=True).check()
    onward(page)
    expect(step(page, 2)).to_be_focused()
    page.go_back()
    expect(step(page, 1)).to_be_focused()
    page.go_back()  # entries of the forgotten answers lead to the first screen
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()


def test_answers_behind_the_first_screen_are_forgotten_with_the_page(page: Page, link: str) -> None:
    page.goto(link)
    start(page)
    page.get_by_role("radio", name="Yes").check()
    page.get_by_role("button", name="Back", exact=True).click()
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(step(page, 1)).to_be_focused()
    assert page.locator("input:checked").count() == 0


def questions_to_leave(page: Page) -> list[str]:
    """What the browser asks before it leaves the page; it leaves all the same."""
    asked: list[str] = []

    def note(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", note)
    return asked


@pytest.mark.parametrize("layout", ["steps", "page"])
def test_leaving_asks_only_while_something_would_be_lost(
    collector: Collector, page: Page, survey: Survey, layout: str
) -> None:
    survey = read_survey(f'layout = "{layout}"\n' + STEPS.replace("One at a time", f"Asks in {layout}"))
    link = collector.publish(survey)
    asked = questions_to_leave(page)
    page.goto(link)
    browsing.start(page)
    page.reload()
    assert asked == []
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("radio", name="Yes").check()
    page.reload()
    assert asked == ["beforeunload"]
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    assert page.locator("input:checked").count() == 0
    answer(page, survey, TRULY)
    page.reload()
    assert asked == ["beforeunload"]


def test_leaving_does_not_ask_in_a_kiosk_or_in_a_frame_and_asks_in_a_page(
    collector: Collector, page: Page, link: str
) -> None:
    asked = questions_to_leave(page)
    for attributes, asks in (("kiosk", 0), ("isolated", 0), ("", 1)):
        asked.clear()
        with embedded(collector, page, link, attributes):
            place = framed(page) if attributes == "isolated" else page
            start(place)
            place.get_by_role("radio", name="Yes").check()
            page.goto("about:blank")
            assert len(asked) == asks


@pytest.mark.parametrize("attributes", ["", long("kiosk")])
def test_in_another_page_and_in_a_kiosk_the_buttons_walk_and_the_history_stays(
    collector: Collector, page: Page, survey: Survey, link: str, attributes: str
) -> None:
    with embedded(collector, page, link, attributes) as address:
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
        before = page.evaluate("[history.length, history.state, location.href]")
        to_the_review(page, survey)
        back = page.get_by_role("button", name="Back", exact=True)
        for n in (4, 3, 2, 1):
            back.click()
            expect(step(page, n)).to_be_focused()
        back.click()
        page.get_by_role("button", name="Start", exact=True).click()
        expect(page.get_by_role("radio", name="Yes")).to_be_checked()
        page.get_by_role("button", name="Check my answers").click()
        expect(review(page)).to_be_focused()
        page.get_by_role("button", name="Change answer 2").click()
        back.click()
        expect(review(page)).to_be_focused()
        assert page.evaluate("[history.length, history.state, location.href]") == before
        assert before[2] == address
        page.get_by_role("button", name="Send", exact=True).click()
        expect(receipt(page)).to_be_visible()
        assert page.evaluate("[history.length, history.state, location.href]") == before


def test_a_kiosk_asks_the_drawn_questions_that_it_drew(collector: Collector, page: Page) -> None:
    """Who could go back and draw until the questions suit would choose what to be asked."""
    questions = [question_toml(f"q{n}", "yes-no", f"Is it {n}?") for n in range(5)]
    survey = read_survey(survey_toml("Drawn in a kiosk", *questions, epsilon=2.0))
    assert survey.asks < 5
    with embedded(collector, page, collector.publish(survey), "kiosk"):
        asked = set()
        for _ in range(5):
            page.get_by_role("button", name="Start", exact=True).click()
            expect(page.locator("legend:visible")).to_have_count(1)
            asked.add(page.locator("legend:visible").inner_text())
            page.get_by_role("button", name="Back", exact=True).click()
        assert len(asked) == 1


def test_the_page_around_does_not_hear_when_somebody_goes_on(
    collector: Collector, page: Page, survey: Survey, link: str
) -> None:
    """The time that one question took is more than the time of all of them together."""
    page.set_viewport_size({"width": 360, "height": 800})
    page.add_init_script(
        "window.told = []; addEventListener('message', ({ data }) => window.told.push(data));"
        "addEventListener('deniable-resize', ({ detail }) => window.told.push(detail));"
    )
    for attributes in ("isolated", ""):
        with embedded(collector, page, link, attributes):
            place = framed(page) if attributes else page
            start(place)
            wait_until(place, f"{SHADOW}.querySelectorAll('fieldset').length === 4")
            let_it_draw(place, page)
            let_it_draw(place, page)  # the frame has the height of the steps by now
            told = page.evaluate("window.told.length")
            assert told > 0, "heights are told"
            choose(place, survey, TRULY)
            place.get_by_role("button", name="Back", exact=True).click()
            expect(step(place, 3)).to_be_visible()
            let_it_draw(place, page)
            assert page.evaluate("window.told.length") == told


def test_the_second_half_of_a_double_click_skips_no_question_in_another_page(
    collector: Collector, page: Page, link: str
) -> None:
    """There steps are laid over each other, so the button of the first half still has its place."""
    with embedded(collector, page, link):
        start(page)
        page.get_by_role("radio", name="Yes").check()
        page.get_by_role("button", name="Continue", exact=True).dblclick()
        let_it_draw(page)
        expect(step(page, 2)).to_be_visible()


def test_one_report_of_all_answers(collector: Collector, page: Page, survey: Survey, link: str) -> None:
    before = collector.reports(survey)
    witness = Witness.of(page)
    page.goto(link)
    press_send(page, survey, TRULY)
    expect(receipt(page)).to_be_visible()
    (body,) = witness.posts()
    assert set(parse_report(body, survey).values) == set(TRULY)
    assert collector.reports(survey) == before + 1
    assert witness.lines == []


def test_a_long_list_can_be_searched_in_its_step(collector: Collector, page: Page) -> None:
    survey = read_survey(
        survey_toml(
            "A long list",
            question_toml("drug", "choice", "Which?", options=[f"drug {n}" for n in range(30)], epsilon=1),
            question_toml("other", "yes-no", "Other?", epsilon=1),
        )
    )
    page.goto(collector.publish(survey))
    page.get_by_role("button", name="Start", exact=True).click()
    search = page.get_by_role("searchbox")
    search.fill("drug 17")
    search.press("Enter")
    expect(page.get_by_role("alert")).to_have_count(0)  # it looked for an option, and went nowhere
    page.get_by_role("radio", name="drug 17").check()
    onward(page)
    expect(step(page, 2, 2)).to_be_focused()
    page.get_by_role("button", name="Back", exact=True).click()
    expect(page.get_by_role("radio", name="drug 17")).to_be_checked()


@pytest.mark.parametrize(
    ("width", "text", "language", "scheme"),
    [  # each of them once; `make test-long` has all twelve
        (320, "100%", "en", "dark"),
        (390, "200%", "ar", "light"),
        (1280, "100%", "en", "light"),
        long(320, "100%", "en", "light"),
        long(320, "100%", "ar", "dark"),
        long(390, "200%", "en", "dark"),
        long(1280, "100%", "ar", "dark"),
        long(320, "100%", "ar", "light"),
        long(390, "200%", "en", "light"),
        long(390, "200%", "ar", "dark"),
        long(1280, "100%", "en", "dark"),
        long(1280, "100%", "ar", "light"),
    ],
)
def test_everybody_can_answer_every_step(
    page: Page, survey: Survey, link: str, width: int, text: str, language: str, scheme: Any
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{link}#lang={language}")
    page.evaluate("text => { document.documentElement.style.fontSize = text }", text)
    page.locator("deniable-survey .start button").click()
    further = page.locator(".steps button:first-child").locator("visible=true")

    def holds(what: str) -> None:
        assert violations(page) == [], what
        assert page.evaluate(SMALL_TARGETS) == [], what
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{what} scrolls sideways"

    for n, question in enumerate(survey.questions):
        expect(page.locator("fieldset").nth(n)).to_be_visible()
        holds(f"{question.id}, untouched")
        if question.type != "ticks":  # boxes need no answer
            further.click()
            expect(page.locator(".missing:not(:empty)")).to_be_visible()
            if n == 0:
                holds("what is missing")
            shown = page.locator("fieldset:visible input").last
            if question.type == "number":
                shown.fill("7")
            else:
                shown.check()
            holds(f"{question.id}, answered")
        further.click()
    expect(page.locator(".review h1")).to_be_focused()
    holds("the review")


def test_chosen_levels_and_stars_show_without_colours(collector: Collector, page: Page) -> None:
    stars = '[[questions]]\nid = "stars"\ntype = "rating"\ntext = "Service?"\nstars = 5\nepsilon = 1\n'
    page.emulate_media(forced_colors="active")
    page.goto(collector.publish(read_survey(survey_toml("Without colours", stars, TRUST))))
    page.get_by_role("button", name="Start", exact=True).click()
    drawn = "all => all.map(each => getComputedStyle(each)).map(({ fill, stroke }) => [fill, stroke])"
    black = "rgb(0, 0, 0)"  # what the browser forces upon text
    expect(page.locator(".star")).to_have_count(5)
    assert page.locator(".star").evaluate_all(drawn) == [["none", black]] * 5
    page.get_by_role("radio", name="3 of 5 stars").check()
    assert page.locator(".star").evaluate_all(drawn) == [[black, black]] * 3 + [["none", black]] * 2
    onward(page)
    page.get_by_role("radio", name="7", exact=True).check()
    level = page.locator("label:has(:checked):visible")
    assert level.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"


def test_help_and_a_unit_are_read_out_with_the_field_and_the_unit_is_reviewed(collector: Collector, page: Page) -> None:
    drinks = question_toml(
        "hours", "number", "How long?", lo=0, hi=80, epsilon=1, help="Leave out breaks.", unit="hours"
    )
    page.goto(collector.publish(read_survey(survey_toml("Measured", drinks))))
    page.get_by_role("button", name="Start", exact=True).click()
    field = page.get_by_role("spinbutton", name="How long?")
    expect(field).to_have_accessible_description("Leave out breaks. Enter a whole number from 0 to 80. hours")
    field.fill("38")
    page.get_by_role("button", name="Check my answers").click()
    expect(page.locator(".given")).to_contain_text("38 hours")


def test_the_first_question_stands_below_the_line_that_leaves(collector: Collector, page: Page) -> None:
    """On a phone the focus scrolled to the question alone, and its title and progress stood behind that line."""
    page.set_viewport_size({"width": 390, "height": 640})
    question = question_toml("affair", "yes-no", "Have you had an affair? " * 12, epsilon=0.5)
    toml = survey_toml("One at a time", question, TRUST, about="What is asked. " * 20)
    page.goto(collector.publish(read_survey(toml)))
    page.get_by_role("button", name="Start", exact=True).click()
    expect(step(page, 1, 2)).to_be_focused()
    top, bottom = page.evaluate(
        f"['.head', '.exit'].map(each => {SHADOW}.querySelector(each).getBoundingClientRect())"
        ".map((box, n) => n ? box.bottom : box.top)"
    )
    assert top >= bottom > 0


def test_an_address_and_a_number_in_the_thanks_are_links(collector: Collector, page: Page) -> None:
    """A text of the author's with an address of help: what stands around it, such as a full stop, is no part of it."""
    thanks = "These people listen: https://help.example/now. Or call 0800 555 0199. <b>Not bold</b>"
    survey = read_survey(survey_toml("T", question_toml("affair", "yes-no", epsilon=0.5), thanks=thanks, layout="page"))
    page.goto(collector.publish(survey))
    answer(page, survey, {"affair": "yes"})
    link = page.get_by_role("link", name="https://help.example/now", exact=True)
    expect(link).to_have_attribute("href", "https://help.example/now")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    number = page.get_by_role("link", name="0800 555 0199", exact=True)
    expect(number).to_have_attribute("href", "tel:08005550199")
    expect(page.get_by_text(thanks)).to_be_visible()

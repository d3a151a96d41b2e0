"""The elements as HTML authors and frameworks use them: properties, attributes in any order, forms, shared devices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from deniable import Survey, read_survey
from tests.support.marks import long
from tools.rig.browsing import (
    ARRIVED,
    MORE,
    NO_STORAGE,
    another_site,
    answer,
    remembered,
    scripts,
    start,
    wait_until,
)
from tools.rig.collectors import Collector
from tools.rig.survey_files import question_toml, survey_toml

JQUERY = Path(__file__).parents[2] / "client/deniable_web/node_modules/jquery/dist/jquery.min.js"

SURVEY = """
title = "Elements"
layout = "page"

[[questions]]
id = "affair"
type = "yes-no"
text = "Have you had an affair?"
epsilon = EPSILON

[[questions]]
id = "drinks"
type = "number"
text = "How many drinks last week?"
lo = 0
hi = 30
epsilon = EPSILON
"""

MIXED = "This form gets only what chance made of your answer"
FORM_DATA = "() => [...new FormData(document.querySelector('form'))]"
QUESTION = "document.querySelector('deniable-question')"


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(SURVEY.replace("EPSILON", "0.4"))


@contextmanager
def page_of(context: BrowserContext, collector: Collector, body: str) -> Iterator[Page]:
    """Another site's page that loads the elements."""
    script = f"{scripts(collector)}"
    with another_site(f"<!doctype html><html lang=en><title>x</title>{script}{body}") as address:
        page = context.new_page()
        page.goto(address)
        page.wait_for_function("customElements.get('deniable-question') !== undefined")
        yield page


def begin(page: Page) -> None:
    """Press Start, on a clock that stands still and that the test sets."""
    now = datetime.now(UTC)
    page.clock.install(time=now)
    page.clock.pause_at(now + timedelta(seconds=1))
    to_the_questions(page)


def to_the_questions(page: Page) -> None:
    """Press Start where the clock stands still."""
    start(page)
    page.clock.run_for(100)  # the other questions come once the first one is painted
    expect(page.get_by_role("spinbutton")).to_be_visible()


def say_yes(page: Page) -> None:
    """Begin, and choose an answer."""
    begin(page)
    page.get_by_role("radio", name="Yes").check()


@pytest.mark.parametrize(("fragment", "heading"), [("", "Sleep"), ("#lang=de", "Schlaf")])
def test_the_language_of_a_page_is_that_of_words_and_questions(
    collector: Collector, browser: Browser, fragment: str, heading: str
) -> None:
    # `default` has no language, so a German browser would mix German questions into an English page.
    title = {"default": "Sleep", "de": "Schlaf"}
    link = collector.publish(read_survey(survey_toml(title, question_toml("q", "yes-no", epsilon=1))))
    context = browser.new_context(locale="de-DE")
    with page_of(context, collector, f'<deniable-survey src="{link}{fragment}"></deniable-survey>') as page:
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        begin = {"Sleep": "Start", "Schlaf": "Starten"}[heading]
        expect(page.get_by_role("button", name=begin, exact=True)).to_be_visible()
    context.close()


def test_properties_say_what_attributes_say(collector: Collector, context: BrowserContext) -> None:
    with page_of(context, collector, "<deniable-survey></deniable-survey>") as page:
        assert page.evaluate(
            """() => {
                const it = document.querySelector("deniable-survey");
                const said = [it.src, it.isolated, it.kiosk];
                for (const value of [true, false, "true", "false", "", null, undefined]) {
                    it.kiosk = value;
                    said.push([it.kiosk, it.hasAttribute("kiosk")]);
                }
                it.setAttribute("isolated", "false");
                said.push(it.isolated);
                it.isolated = true;
                it.src = "/s/x";
                return [...said, it.isolated, it.getAttribute("isolated"), it.getAttribute("src")];
            }"""
        ) == [
            *("", False, False),
            *([True, True], [False, False], [True, True], [False, False], [False, False], [False, False]),
            *([False, False], False, True, "", "/s/x"),
        ]


@pytest.mark.parametrize("order", ["properties first", "appended first", "attributes"])
def test_src_may_come_before_or_after_the_page_has_the_element(
    collector: Collector, context: BrowserContext, survey: Survey, order: str, link: str
) -> None:
    with page_of(context, collector, "<main></main>") as page:
        page.evaluate(
            """async ([link, order]) => {
                window.told = [];
                for (const each of ["ready", "error"]) {
                    addEventListener(`deniable-${each}`, () => window.told.push(each));
                }
                const it = document.createElement("deniable-survey");
                const main = document.querySelector("main");
                if (order === "appended first") {
                    main.append(it);
                    await new Promise((next) => setTimeout(next, 100));
                    window.empty = it.shadowRoot.childNodes.length;
                }
                if (order === "attributes") it.setAttribute("src", link);
                else it.src = link;
                it.isolated = "false";
                if (order !== "appended first") main.append(it);
            }""",
            [link, order],
        )
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
        page.wait_for_function("window.told.length > 0")
        assert page.evaluate("window.told") == ["ready"]
        assert page.evaluate("window.empty ?? 0") == 0


def test_another_src_starts_over_and_keeps_no_choice(
    collector: Collector, context: BrowserContext, survey: Survey
) -> None:
    other = read_survey(SURVEY.replace("Elements", "Another one").replace("EPSILON", "0.3"))
    link, another = collector.publish(survey), collector.publish(other)
    with page_of(context, collector, f'<deniable-survey src="{link}"></deniable-survey>') as page:
        page.get_by_role("button", name="Start", exact=True).click()
        page.get_by_role("radio", name="Yes").check()
        page.evaluate("link => { document.querySelector('deniable-survey').src = link }", another)
        expect(page.get_by_role("heading", name="Another one")).to_be_visible()
        assert page.get_by_role("radio").count() == 0
        page.evaluate("link => { document.querySelector('deniable-survey').src = link }", link)
        page.get_by_role("button", name="Start", exact=True).click()
        expect(page.get_by_role("radio", name="Yes")).not_to_be_checked()
        page.evaluate("document.querySelector('deniable-survey').removeAttribute('src')")
        expect(page.get_by_role("radio")).to_have_count(0)
        memory = page.evaluate(remembered())
        assert not memory or memory["reports"] == {}


def test_a_question_that_cannot_be_loaded_says_so_in_its_language_when_the_form_is_submitted(
    collector: Collector, context: BrowserContext, link: str
) -> None:
    context.route("**/api/v1/surveys/*", lambda route: route.abort())
    body = f'<form><deniable-question lang="de" name="affair" src="{link}"></deniable-question></form>'
    with page_of(context, collector, body) as page:
        said = "Diese Umfrage kann nicht geladen werden"
        expect(page.get_by_role("heading", name=said, exact=True)).to_be_visible()
        assert page.evaluate(f"{QUESTION}.validationMessage") == said
        assert page.evaluate(f"{QUESTION}.checkValidity()") is False
        context.unroute("**/api/v1/surveys/*")
        page.get_by_role("button", name="Noch einmal versuchen").click()
        expect(page.get_by_role("radio").first).to_be_visible()
        assert page.evaluate(f"{QUESTION}.validationMessage") != said


def test_question_is_a_form_control(collector: Collector, context: BrowserContext, link: str) -> None:
    body = f"""<form id=f><label for=q>Private</label>
        <deniable-question id=q name=affair src="{link}"></deniable-question></form>"""
    with page_of(context, collector, body) as page:
        expect(page.get_by_role("button", name="Mix in chance")).to_be_visible()
        expect(page.get_by_text("what you send always leaves room for doubt")).to_be_visible()
        read = f"""() => {{
            const it = {QUESTION};
            return [it.name, it.type, it.form?.id, it.value, it.willValidate, it.validity.valid, it.checkValidity(),
                    it.validationMessage.includes("Mix in chance"), it.labels.length];
        }}"""
        assert page.evaluate(read) == ["affair", "deniable-question", "f", "", True, False, False, True, 1]
        page.get_by_role("radio", name="Yes", exact=True).check()
        page.get_by_role("button", name="Mix in chance").click()
        expect(page.get_by_text(MIXED)).to_be_visible()
        drawn = page.evaluate(f"{QUESTION}.value")
        assert drawn in ("0", "1")
        assert page.evaluate(read) == ["affair", "deniable-question", "f", drawn, True, True, True, False, 1]
        page.evaluate(f"{QUESTION}.name = 'q9'")
        assert page.evaluate(FORM_DATA) == [["q9", drawn]]


def test_questions_stand_apart_unless_the_page_says_otherwise(
    context: BrowserContext, collector: Collector, link: str
) -> None:
    element = f'<deniable-question name={{}} question=affair src="{link}"></deniable-question>'
    gap = """() => {
        const [above, below] = document.querySelectorAll("deniable-question");
        return below.getBoundingClientRect().top - above.getBoundingClientRect().bottom;
    }"""
    with page_of(context, collector, f"<form>{element.format('a')}{element.format('b')}</form>") as page:
        expect(page.get_by_role("radio", name="Yes", exact=True)).to_have_count(2)
        assert page.evaluate(gap) == 32
        page.add_style_tag(content="deniable-question { margin: 5px 0 0 }")
        assert page.evaluate(gap) == 5


@pytest.mark.parametrize("how", ["fieldset", "element"])
def test_disabled_question_cannot_be_answered_and_sends_nothing(
    collector: Collector, context: BrowserContext, how: str, link: str
) -> None:
    body = f"""<form><fieldset><deniable-question name=affair src="{link}"></deniable-question></fieldset></form>"""
    target = "document.querySelector('fieldset').disabled = IS"
    if how == "element":
        target = f"{QUESTION}.toggleAttribute('disabled', IS)"
    with page_of(context, collector, body) as page:
        page.evaluate(target.replace("IS", "true"))
        expect(page.get_by_role("radio", name="Yes", exact=True)).to_be_disabled()
        expect(page.get_by_role("button", name="Mix in chance")).to_be_disabled()
        assert page.evaluate(f"{QUESTION}.willValidate") is False
        page.evaluate(target.replace("IS", "false"))
        page.get_by_role("radio", name="Yes", exact=True).check()
        page.get_by_role("button", name="Mix in chance").click()
        expect(page.get_by_text(MIXED)).to_be_visible()
        ((_, drawn),) = page.evaluate(FORM_DATA)
        page.evaluate(target.replace("IS", "true"))
        assert page.evaluate(FORM_DATA) == []
        page.add_script_tag(path=JQUERY)
        assert page.evaluate("jQuery('form').serialize()") == ""
        page.evaluate(target.replace("IS", "false"))
        assert page.evaluate(FORM_DATA) == [["affair", drawn]]


def test_question_belongs_to_the_form_that_it_names(collector: Collector, context: BrowserContext, link: str) -> None:
    body = f"""<form id=a></form>
        <form id=b><deniable-question form=a name=affair src="{link}"></deniable-question></form>"""
    with page_of(context, collector, body) as page:
        page.add_script_tag(path=JQUERY)
        page.get_by_role("radio", name="No", exact=True).check()
        page.get_by_role("button", name="Mix in chance").click()
        expect(page.get_by_text(MIXED)).to_be_visible()
        drawn = page.evaluate(f"{QUESTION}.value")
        for form, other in ("ab", "ba"):
            page.evaluate(
                f"{QUESTION}.form = '{form}'" if form == "a" else f"{QUESTION}.setAttribute('form', '{form}')"
            )
            assert page.evaluate(f"[...new FormData({form})]") == [["affair", drawn]]
            assert page.evaluate(f"[...new FormData({other})]") == []
            assert page.evaluate(f"jQuery('#{form}').serialize()") == f"affair={drawn}"
            assert page.evaluate(f"{QUESTION}.form.id") == form
        page.evaluate(f"{QUESTION}.removeAttribute('form')")
        assert page.evaluate("[...new FormData(b)]") == [["affair", drawn]]


def test_weak_protection_is_said_before_a_choice_is_mixed(collector: Collector, context: BrowserContext) -> None:
    for epsilon, sentence in [("1.5", "but never proves them"), ("3.5", "protects you only a little")]:
        link = collector.publish(read_survey(SURVEY.replace("EPSILON", epsilon)))
        with page_of(context, collector, f'<deniable-question name=affair src="{link}"></deniable-question>') as page:
            expect(page.get_by_text(sentence)).to_be_visible()


def test_question_on_a_shared_device_is_for_each_person_anew(
    collector: Collector, context: BrowserContext, link: str
) -> None:
    body = f'<form><deniable-question kiosk name=affair src="{link}"></deniable-question></form>'
    with page_of(context, collector, body) as page:
        for _ in range(2):
            expect(page.get_by_text("This shared device forgets you as soon as your reply has arrived")).to_be_visible()
            page.get_by_role("radio", name="Yes", exact=True).check()
            page.get_by_role("button", name="Mix in chance").click()
            expect(page.get_by_text(MIXED)).to_be_visible()
            assert page.evaluate(FORM_DATA)[0][1] in ("0", "1")
            page.evaluate("document.querySelector('form').reset()")
            assert page.evaluate(FORM_DATA) == []
            assert page.evaluate(f"{QUESTION}.checkValidity()") is False
        memory = page.evaluate(remembered())
        assert not memory or memory == {"reports": {}, "noisy": {}, "told": {}}
    with page_of(context, collector, f'<deniable-question name=affair src="{link}#kiosk"></deniable-question>') as page:
        expect(page.get_by_role("button", name="Mix in chance")).to_be_visible()
        expect(page.get_by_text("shared device")).to_have_count(0)  # a link cannot say it


@pytest.mark.parametrize("screen", ["form", "review"])
def test_shared_device_that_somebody_left_clears_itself(
    collector: Collector, context: BrowserContext, survey: Survey, screen: str, link: str
) -> None:
    with page_of(context, collector, f'<main><deniable-survey kiosk src="{link}"></deniable-survey></main>') as page:
        say_yes(page)
        page.clock.run_for(100_000)
        page.get_by_role("spinbutton").press("7")  # somebody is there
        page.clock.run_for(100_000)
        expect(page.get_by_role("radio", name="Yes")).to_be_checked()
        if screen == "review":
            page.get_by_role("button", name="Check my answers").click()
            expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
        page.clock.run_for(121_000 if screen == "review" else 21_000)  # two minutes after the last press
        to_the_questions(page)
        expect(page.get_by_role("radio", name="Yes")).not_to_be_checked()
        expect(page.get_by_role("spinbutton")).to_have_value("")


def test_shared_device_warns_before_it_clears_itself(
    collector: Collector, context: BrowserContext, survey: Survey, link: str
) -> None:
    warning = "Are you still there?"
    with page_of(context, collector, f'<main><deniable-survey kiosk src="{link}"></deniable-survey></main>') as page:
        begin(page)
        page.get_by_role("spinbutton").press("6")
        page.clock.run_for(89_000)
        expect(page.get_by_text(warning)).to_have_count(0)
        page.clock.run_for(2_000)
        expect(page.get_by_role("alert").filter(has_text=warning)).to_be_in_viewport()  # for 29 seconds more
        page.get_by_role("spinbutton").press("7")
        expect(page.get_by_text(warning)).to_have_count(0)
        page.clock.run_for(100_000)
        expect(page.get_by_text(warning)).to_be_visible()
        page.mouse.move(10, 300)
        page.mouse.move(20, 300)
        expect(page.get_by_text(warning)).to_have_count(0)
        page.clock.run_for(121_000)
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
        page.clock.run_for(600_000)  # nobody is there: nothing to warn of
        expect(page.get_by_text(warning)).to_have_count(0)


def test_receipt_on_a_shared_device_is_not_for_the_next_person(
    collector: Collector, context: BrowserContext, survey: Survey, link: str
) -> None:
    with page_of(context, collector, f'<main><deniable-survey kiosk src="{link}"></deniable-survey></main>') as page:
        say_yes(page)
        page.get_by_role("spinbutton").fill("3")
        page.get_by_role("button", name="Check my answers").click()
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()
        page.clock.run_for(121_000)
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
        assert page.get_by_text("Exactly what was sent").count() == 0


def test_focus_follows_whoever_pressed_a_button(
    collector: Collector, context: BrowserContext, survey: Survey, link: str
) -> None:
    with page_of(context, collector, "<main></main>") as page:
        page.route("**/api/v1/surveys/*", lambda route: route.abort())
        page.evaluate(
            "html => document.querySelector('main').innerHTML = html",
            f'<deniable-survey kiosk src="{link}"></deniable-survey>',
        )
        focused = "() => document.activeElement.shadowRoot?.activeElement?.textContent"
        expect(page.get_by_role("heading", name="This survey cannot be loaded")).to_be_visible()
        assert page.evaluate(focused) is None  # nobody pressed anything
        page.get_by_role("button", name="Try again").click()
        page.wait_for_function(f"({focused})() === 'This survey cannot be loaded'")
        page.unroute("**/api/v1/surveys/*")
        page.get_by_role("button", name="Try again").click()
        page.wait_for_function(f"({focused})() === 'Elements'")
        answer(page, survey, {"affair": "no", "drinks": 3})
        page.get_by_role("button", name="Next person").click()
        page.wait_for_function(f"({focused})() === 'Elements'")


def test_language_may_be_set_later(collector: Collector, context: BrowserContext, survey: Survey, link: str) -> None:
    with page_of(context, collector, f'<deniable-survey src="{link}"></deniable-survey>') as page:
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
        page.evaluate("document.querySelector('deniable-survey').lang = 'de'")
        expect(page.get_by_role("button", name="Starten")).to_be_visible()
        page.evaluate("document.querySelector('deniable-survey').lang = 'ar'")
        expect(page.locator("[dir=rtl]")).to_have_count(1)


def test_question_says_that_it_was_asked_before_elsewhere(
    collector: Collector, context: BrowserContext, survey: Survey
) -> None:
    first, second = survey, read_survey(SURVEY.replace("EPSILON", "0.4").replace("Elements", "NoiseModel again"))
    same = "sends the same reply as last time"
    told = collector.publish(first)
    with page_of(context, collector, f'<deniable-question name=affair src="{told}"></deniable-question>') as page:
        expect(page.get_by_role("button", name="Mix in chance")).to_be_visible()
        expect(page.get_by_text(same)).to_have_count(0)
        page.get_by_role("radio", name="Yes", exact=True).check()
        page.get_by_role("button", name="Mix in chance").click()
        expect(page.get_by_text(MIXED)).to_be_visible()
        page.evaluate(remembered("state.told = {}; return state"))  # as if another collector had asked
        element = f'<deniable-question name=affair src="{collector.publish(second)}"></deniable-question>'
        page.evaluate("html => document.body.innerHTML = html", element)
        expect(page.get_by_text(same)).to_be_visible()


def test_question_says_that_the_browser_keeps_nothing(collector: Collector, context: BrowserContext, link: str) -> None:
    context.add_init_script(NO_STORAGE)
    with page_of(context, collector, f'<deniable-question name=affair src="{link}"></deniable-question>') as page:
        expect(page.get_by_text("Your browser does not let this page remember anything.")).to_be_visible()


def test_receipt_promises_no_more_than_chance_gives(collector: Collector, browser: Browser) -> None:
    said = "What it sent does not prove what you answered."
    number = SURVEY.split("[[questions]]")
    for title, text, wanted in [
        ("Strong", SURVEY.replace("EPSILON", "1"), said),
        ("Weak", SURVEY.replace("EPSILON", "3"), "you only a little"),
        ("No yes", "[[questions]]".join([number[0], number[2]]).replace("EPSILON", "1"), None),
    ]:
        survey = read_survey(text.replace("Elements", title))
        page = browser.new_context(locale="en-GB").new_page()  # a device that told the collector nothing before
        page.goto(collector.publish(survey))
        answer(page, survey, {"affair": "no", "drinks": 3})
        for each in (said, "you only a little"):
            expect(page.get_by_text(each)).to_have_count(int(each == wanted))
        page.close()


def test_memory_without_its_place_is_refused_in_words(collector: Collector, page: Page, survey: Survey) -> None:
    page.goto(f"{collector.url}/favicon.ico")
    page.evaluate(
        """() => new Promise((done) => {
            const request = indexedDB.open("deniable", 1);
            request.onsuccess = () => { request.result.close(); done(); };
        })"""
    )
    page.goto(collector.publish(survey))
    expect(page.get_by_role("heading", name="To protect you, your device does not take part here")).to_be_visible()
    expect(page.get_by_text("Your device cannot read what it remembers of earlier replies")).to_be_visible()


def test_own_device_never_clears_what_somebody_is_answering(
    collector: Collector, context: BrowserContext, survey: Survey, link: str
) -> None:
    with page_of(context, collector, f'<deniable-survey src="{link}"></deniable-survey>') as page:
        say_yes(page)
        page.clock.run_for(3_600_000)
        expect(page.get_by_role("radio", name="Yes")).to_be_checked()
        page.get_by_role("spinbutton").fill("3")
        page.get_by_role("button", name="Check my answers").click()
        page.get_by_role("button", name="Send", exact=True).click()
        page.clock.run_for(100)
        expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()


def test_name_may_come_after_src(collector: Collector, context: BrowserContext, link: str) -> None:
    with page_of(context, collector, f'<form><deniable-question src="{link}"></deniable-question></form>') as page:
        page.wait_for_timeout(300)
        page.evaluate(f"{QUESTION}.name = 'affair'")
        expect(page.get_by_text("Have you had an affair?")).to_be_visible()


def test_page_that_goes_away_shows_no_review(
    collector: Collector, context: BrowserContext, survey: Survey, link: str
) -> None:
    with page_of(context, collector, f'<deniable-survey src="{link}"></deniable-survey>') as page:
        page.get_by_role("button", name="Start", exact=True).click()
        page.get_by_role("radio", name="Yes").check()
        page.get_by_role("spinbutton").fill("7")
        page.get_by_role("button", name="Check my answers").click()
        expect(page.get_by_text("Check your answers")).to_be_visible()
        # What is in the page at the end of `pagehide` comes back with the back button, before any script runs.
        assert (
            page.evaluate(
                """() => {
                dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
                return document.querySelector("deniable-survey").shadowRoot.querySelector(".review").textContent;
            }"""
            )
            == ""
        )
        expect(page.locator("input:checked")).to_have_count(0)
        expect(page.get_by_role("spinbutton")).to_have_value("")
        expect(page.get_by_text("still need")).to_be_hidden()  # nobody has touched one since


def test_survey_that_was_answered_says_so_and_leaves_the_focus_alone(
    collector: Collector, context: BrowserContext
) -> None:
    """Whoever waits for `deniable-complete` goes on, and a page does not jump to a survey at its foot."""
    answered = read_survey(SURVEY.replace("Elements", "Answered").replace("EPSILON", "0.2"))
    link = collector.publish(answered)
    context.add_init_script(
        "window.told = []; addEventListener('deniable-complete', ({ detail }) => told.push(detail.survey))"
    )
    body = (
        f'<input id=first autofocus><div style="height: 3000px"></div><deniable-survey src="{link}"></deniable-survey>'
    )
    with page_of(context, collector, body) as page:
        answer(page, answered, {"affair": "yes", "drinks": 3})
        page.reload()
        expect(page.get_by_role("heading", name="A reply was already given here")).to_be_attached()
        page.wait_for_timeout(200)
        assert page.evaluate("[told, scrollY, document.activeElement.id]") == [[answered.id], 0, "first"]


def test_screen_readers_hear_that_chance_was_mixed_in(collector: Collector, context: BrowserContext, link: str) -> None:
    """The button that had the focus is gone; a value that was kept takes no focus when a page loads."""
    body = f'<form><input id=first autofocus><deniable-question name=affair src="{link}"></deniable-question></form>'
    focus = f"[document.activeElement.localName, {QUESTION}.shadowRoot.activeElement?.textContent]"
    with page_of(context, collector, body) as page:
        page.get_by_role("radio", name="Yes", exact=True).check()
        page.get_by_role("button", name="Mix in chance").click()
        expect(page.get_by_text(MIXED)).to_be_visible()
        wait_until(page, f"{focus}[0] === 'deniable-question'")
        assert page.evaluate(focus) == ["deniable-question", f"Chance has been mixed in. {MIXED}."]
        page.reload()
        expect(page.get_by_text(MIXED)).to_be_visible()
        assert page.evaluate(focus) == ["input", None]


@pytest.mark.parametrize(
    ("element", "way"),
    [
        ("question", "another title"),
        ("survey", "same survey"),
        long("question", "same survey"),
        long("survey", "another title"),
    ],
)
def test_shared_device_asks_where_its_owner_was_asked_this(
    collector: Collector, context: BrowserContext, element: str, way: str
) -> None:
    """Otherwise a page makes the owner's device draw as often as it likes, by an attribute."""
    answered, again = (
        read_survey(SURVEY.replace("Elements", f"Owner's {element} {title}").replace("EPSILON", "0.1"))
        for title in ("first", "first" if way == "same survey" else "second")
    )
    link, other = collector.publish(answered), collector.publish(again)
    with page_of(context, collector, f'<main><deniable-survey src="{link}"></deniable-survey></main>') as page:
        answer(page, answered, {"affair": "yes", "drinks": 3})
        page.evaluate(
            "html => document.querySelector('main').innerHTML = html",
            f'<deniable-{element} kiosk name="affair" src="{other}"></deniable-{element}>',
        )
        expect(page.get_by_text("Please go on only if you are another person")).to_be_visible()
        start = page.get_by_role("button", name="Mix in chance" if element == "question" else "Start")
        assert start.count() == 0
        page.get_by_role("button", name="Next person").click()
        expect(start).to_be_visible()


def test_device_that_slept_has_forgotten_the_last_person(
    collector: Collector, context: BrowserContext, survey: Survey, link: str
) -> None:
    with page_of(context, collector, f'<deniable-survey kiosk src="{link}"></deniable-survey>') as page:
        say_yes(page)
        page.clock.fast_forward("05:00:00")  # as when a lid is closed: what is due runs once
        page.mouse.move(10, 300)
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
        expect(page.get_by_role("radio")).to_have_count(0)


def test_page_that_goes_away_keeps_neither_focus_nor_place_nor_screen(
    collector: Collector, context: BrowserContext, survey: Survey, link: str
) -> None:
    gone = "() => { dispatchEvent(new Event('pagehide')); return ELEMENT.shadowRoot; }"
    with page_of(context, collector, f'<deniable-question name=affair src="{link}"></deniable-question>') as page:
        page.get_by_role("radio", name="Yes", exact=True).focus()
        page.get_by_role("radio", name="Yes", exact=True).check()
        read = gone.replace("shadowRoot;", "shadowRoot.activeElement === null;").replace("ELEMENT", QUESTION)
        assert page.evaluate(read)
    with page_of(
        context, collector, f'<form><deniable-question kiosk name=affair src="{link}"></deniable-question></form>'
    ) as page:
        page.get_by_role("radio", name="Yes", exact=True).check()
        page.get_by_role("button", name="Mix in chance").click()
        expect(page.get_by_text(MIXED)).to_be_visible()
        page.evaluate("dispatchEvent(new Event('pagehide'))")
        assert page.evaluate(FORM_DATA) == []
        expect(page.get_by_role("button", name="Mix in chance")).to_be_visible()
    with page_of(context, collector, f'<deniable-survey kiosk src="{link}"></deniable-survey>') as page:
        answer(page, survey, {"affair": "no", "drinks": 3})
        page.get_by_text(MORE).click()
        page.locator("deniable-survey").get_by_text("For experts").click()
        empty = gone.replace("shadowRoot;", "shadowRoot.childElementCount;")
        assert page.evaluate(empty.replace("ELEMENT", "document.querySelector('deniable-survey')")) == 0
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()


def test_page_may_change_what_stands_in_the_question(collector: Collector, context: BrowserContext, link: str) -> None:
    body = f'<form><deniable-question name=affair src="{link}">Needs <b>JavaScript</b></deniable-question></form>'
    with page_of(context, collector, body) as page:
        page.get_by_role("radio", name="Yes", exact=True).check()
        assert page.evaluate(f"{QUESTION}.textContent") == "Needs JavaScript"  # whose page it is may look at it
        page.get_by_role("button", name="Mix in chance").dblclick()
        expect(page.get_by_text(MIXED)).to_be_visible()
        drawn = page.evaluate(f"{QUESTION}.value")
        page.evaluate(f"{QUESTION}.textContent = 'Braucht JavaScript'")
        wait_until(page, f"({FORM_DATA})().length === 1")
        assert page.evaluate(FORM_DATA) == [["affair", drawn]]
        page.evaluate(f"{QUESTION}.replaceWith({QUESTION}.cloneNode(true))")
        wait_until(page, f"({FORM_DATA})().length === 1")
        assert page.evaluate(FORM_DATA) == [["affair", drawn]]


def test_attributes_and_properties_in_whatever_order_and_way(
    collector: Collector, context: BrowserContext, survey: Survey
) -> None:
    first, second = collector.publish(survey), collector.publish(read_survey(SURVEY.replace("EPSILON", "0.3")))
    early = f"""<deniable-survey></deniable-survey><script>
        Object.assign(document.querySelector("deniable-survey"), {{ src: "{first}", kiosk: true, lang: "de" }});
        </script>"""
    with another_site(f"<!doctype html><title>x</title>{early}{scripts(collector)}") as address:
        page = context.new_page()
        page.goto(address)
        expect(page.get_by_role("button", name="Starten")).to_be_visible()
        expect(page.get_by_text("Gerät vergisst Sie")).to_be_visible()
        element = "document.querySelector('deniable-survey')"
        page.get_by_role("button", name="Starten").click()
        page.get_by_role("spinbutton").fill("7")
        page.evaluate(f"{element}.lang = 'de'; {element}.src = {element}.src")  # nothing new: nothing is lost
        page.wait_for_timeout(200)
        expect(page.get_by_role("spinbutton")).to_have_value("7")
        page.evaluate(f"Object.assign({element}, {{ kiosk: false, src: '{second}' }})")
        expect(page.get_by_text("Gerät vergisst Sie")).to_have_count(0)
        assert page.evaluate(f"{element}.getAttribute('src')") == second
        for nothing in ("null", "undefined"):
            page.evaluate(f"{element}.src = {nothing}")
            expect(page.get_by_role("heading")).to_have_count(0)
            assert page.evaluate(f"{element}.hasAttribute('src')") is False
            page.evaluate(f"{element}.src = '{second}'")
            expect(page.get_by_role("button", name="Starten")).to_be_visible()


def test_another_language_asks_nobody_again(collector: Collector, context: BrowserContext, link: str) -> None:
    body = f'<form><deniable-question kiosk name=affair src="{link}"></deniable-question></form>'
    with page_of(context, collector, body) as page:
        page.get_by_role("radio", name="Yes", exact=True).check()
        page.get_by_role("button", name="Mix in chance").click()
        expect(page.get_by_text(MIXED)).to_be_visible()
        drawn = page.evaluate(FORM_DATA)
        page.evaluate(f"{QUESTION}.lang = 'de'")
        page.wait_for_timeout(200)
        assert page.evaluate(FORM_DATA) == drawn != []

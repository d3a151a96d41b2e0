"""Filters in a real Chromium: what is asked, what a change takes back, and that nothing leaves that tells the way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from deniable import Survey, read_survey
from tests.browser.test_accessibility import violations
from tests.support.marks import long
from tools.rig.browsing import ARRIVED, GIVE, Witness, another_site, everything_kept, let_it_draw, scripts, start
from tools.rig.collectors import Collector
from tools.rig.survey_files import question_toml, survey_toml

QUESTIONS = (
    question_toml("smokes", "yes-no", "Do you smoke?", epsilon=0.5),
    question_toml("often", "choice", "How many a day?", options=["few", "many"], epsilon=0.5, ask_if="smokes = yes"),
    question_toml("helps", "ticks", "What helps?", options=["gum", "patch"], epsilon=0.5, ask_if="often = many"),
    question_toml("mood", "scale", "Mood?", lo=1, hi=3, ends=["low", "high"], epsilon=0.5, ask_if="not often = few"),
)
WAYS: dict[str, Sequence[str]] = {
    "no": ("No", "3"),
    "few": ("Yes", "few"),
    "many": ("Yes", "many", "gum", "1"),
}
"""What somebody presses on each way, a question after the other."""
ASKED = {"no": ("smokes", "mood"), "few": ("smokes", "often"), "many": ("smokes", "often", "helps", "mood")}
"""The questions that somebody is asked on each way."""


def survey_in(layout: str) -> Survey:
    return read_survey(survey_toml(f"Filters in {layout}", *QUESTIONS, layout=layout))


def press(page: Page, label: str) -> None:
    """Choose an option of the question that is on the screen."""
    place = page.locator("fieldset:visible").get_by_label(label, exact=not label.isdigit()).first
    place.check(force=True)


def walk(page: Page, way: Sequence[str]) -> None:
    for label in way:
        press(page, label)
        onward = page.locator("fieldset:visible .steps button").first
        onward.click()
    expect(page.get_by_role("heading", name="Check your answers")).to_be_focused()


def given(page: Page) -> list[str]:
    """What the review shows: questions and answers."""
    return page.locator(".given").evaluate_all(
        "boxes => boxes.map(box => [...box.querySelectorAll('p')].map(p => p.textContent.trim()).join(': '))"
    )


def test_steps_lead_where_answers_lead_and_the_review_shows_what_was_asked(collector: Collector, page: Page) -> None:
    page.goto(collector.publish(survey_in("steps")))
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("group", name="Question 1 of at most 4")).to_be_focused()
    expect(page.get_by_text("Some questions come up only after certain answers.")).to_be_visible()
    walk(page, WAYS["no"])
    assert given(page) == ["Do you smoke?: No", "Mood?: 3 \u2013 high"]
    assert violations(page) == []
    # Another answer: what follows from it is asked, and the review comes back.
    page.get_by_role("button", name="Change answer 1").click()
    press(page, "Yes")
    page.locator("fieldset:visible .steps button").first.click()
    expect(page.get_by_role("group", name="Question 2 of at most 4")).to_be_focused()
    press(page, "few")
    page.locator("fieldset:visible .steps button").first.click()
    expect(page.get_by_role("heading", name="Check your answers")).to_be_focused()
    assert given(page) == ["Do you smoke?: Yes", "How many a day?: few"]
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()


def test_back_and_forward_skip_what_an_answer_has_taken_away(collector: Collector, page: Page) -> None:
    page.goto(collector.publish(survey_in("steps")))
    page.get_by_role("button", name="Start", exact=True).click()
    walk(page, WAYS["many"])
    for _ in range(4):
        page.go_back()
    press(page, "No")
    page.go_forward()  # to the question that does not apply any more
    expect(page.get_by_role("group", name="Question 2 of at most 4")).to_contain_text("Mood?")


def test_a_page_shows_what_applies_and_asks_for_no_more(collector: Collector, page: Page) -> None:
    page.goto(collector.publish(survey_in("page")))
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("fieldset:visible")).to_have_count(1)
    page.get_by_label("Yes").check()
    expect(page.locator("fieldset:visible")).to_have_count(2)
    page.get_by_label("many").check()
    expect(page.locator("fieldset:visible")).to_have_count(4)
    page.get_by_label("No", exact=True).check()
    expect(page.locator("fieldset:visible")).to_have_count(2)
    page.get_by_role("button", name="Check my answers").click()
    expect(page.locator("[role=alert] li")).to_have_count(1)
    page.get_by_label("2", exact=True).check(force=True)
    page.get_by_role("button", name="Check my answers").click()
    expect(page.get_by_role("heading", name="Check your answers")).to_be_focused()
    assert given(page) == ["Do you smoke?: No", "Mood?: 2: 1 – low … 3 – high"]
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()


def in_the_tree(page: Page, survey: Survey) -> tuple[str, ...]:
    """The ids of the questions whose text stands in the accessibility tree of the page."""
    tree = page.locator("body").aria_snapshot()
    return tuple(question.id for question in survey.questions if str(question.text) in tree)


NO_FAULT = ""
ONE_WRITE_MORE = """addEventListener("click", (event) => {
    const [pressed] = event.composedPath();
    const chosen = document.querySelector("deniable-survey").shadowRoot?.querySelector("input[name=smokes]:checked");
    if (pressed.matches?.(".review button[part]") && chosen?.value === "1") localStorage.setItem("deniable", "");
}, { capture: true });"""
"""A fault that is planted: who smokes has one write more, of the same content."""


@pytest.mark.parametrize(
    ("layout", "fault"),
    [
        pytest.param("steps", NO_FAULT, id="steps"),
        pytest.param("page", NO_FAULT, id="page"),
        long("steps", ONE_WRITE_MORE, name="planted"),
    ],
)
def test_requests_storage_and_title_are_the_same_on_every_way(
    collector: Collector, browser: Browser, layout: str, fault: str
) -> None:
    """And the accessibility tree tells no more than the screen: no question that was skipped stands in it."""
    survey = survey_in(layout)
    link = collector.publish(survey)
    found = set()
    for way in WAYS:
        context = browser.new_context(locale="en-GB")
        page = context.new_page()
        witness = Witness.of(page)
        # Every call that writes to what stays on the device, in order.
        page.add_init_script(
            """window.writes = [];
            for (const [of, name] of [[IDBObjectStore, "put"], [IDBObjectStore, "delete"], [Storage, "setItem"]]) {
                const own = of.prototype[name];
                of.prototype[name] = function (...all) { window.writes.push(name); return own.apply(this, all); };
            }"""
        )
        page.add_init_script(fault)
        page.goto(link)
        start(page)
        title = page.title()
        for label in WAYS[way]:
            place = page.locator("fieldset:visible") if layout == "steps" else page
            place.get_by_label(label, exact=not label.isdigit()).first.check(force=True)
            assert set(in_the_tree(page, survey)) <= set(ASKED[way])
            assert page.title() == title
            if layout == "steps":
                page.locator("fieldset:visible .steps button").first.click()
        if layout == "page":
            page.get_by_role("button", name="Check my answers").click()
        expect(page.get_by_role("heading", name="Check your answers")).to_be_focused()
        assert in_the_tree(page, survey) == ASKED[way]
        assert page.title() == title
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()
        (body,) = witness.posts()
        assert set(json.loads(body)["values"]) == {"smokes", "often", "helps", "mood"}
        requests = tuple((each.method, each.url, sorted(each.headers)) for each in witness.requests)
        kept: dict[str, Any] = json.loads(everything_kept(page))
        size = len(json.dumps(kept.pop("memory")))
        writes = page.evaluate("window.writes")
        found.add((len(body), str(requests), str(writes), size, str(sorted(kept)), page.title()))
        context.close()
    assert (len(found) > 1) if fault else (len(found) == 1), found


def test_a_page_around_hears_the_same_heights_on_every_way(collector: Collector, page: Page) -> None:
    link = collector.publish(survey_in("page"))
    element = f'<deniable-survey src="{link}"></deniable-survey>'
    html = f'<!doctype html><html lang="en"><title>x</title>{scripts(collector)}<main>{element}</main>'
    told = []
    with another_site(html) as address:
        page.add_init_script(
            "window.told = []; addEventListener('deniable-resize', ({ detail }) => told.push(detail.height));"
        )
        for way in WAYS.values():
            page.goto(address)
            page.get_by_role("button", name="Start", exact=True).click()
            expect(page.get_by_role("button", name="Check my answers")).to_be_visible()
            let_it_draw(page)
            page.wait_for_function("window.told.length > 0")  # heights are told
            page.evaluate("window.told.length = 0")
            for label in way:
                page.get_by_label(label, exact=not label.isdigit()).first.check(force=True)
                let_it_draw(page)
            told.append(page.evaluate("window.told"))
    assert told == [[], [], []]


@pytest.mark.parametrize("layout", ["steps", "page"])
def test_a_page_around_does_not_hear_which_question_lacks_an_answer(
    collector: Collector, page: Page, layout: str
) -> None:
    """The errors take room by their number and their words, and only a question that applies can be missing."""
    link = collector.publish(survey_in(layout))
    element = f'<deniable-survey src="{link}"></deniable-survey>'
    html = f'<!doctype html><html lang="en"><title>x</title>{scripts(collector)}<main>{element}</main>'
    page.add_init_script(
        "window.told = []; addEventListener('deniable-resize', ({ detail }) => told.push(detail.height));"
    )
    with another_site(html) as address:
        for way in (WAYS["no"], WAYS["few"]):  # boxes need no answer
            page.goto(address)
            page.get_by_role("button", name="Start", exact=True).click()
            expect(page.locator("fieldset:visible").first).to_be_visible()
            let_it_draw(page)
            page.evaluate("window.told.length = 0")
            onward = (
                page.locator(".steps button:visible").first
                if layout == "steps"
                else page.get_by_role("button", name="Check my answers")
            )
            for label in way:
                onward.click()
                expect(page.locator(".missing:visible").first).to_be_visible()
                let_it_draw(page)
                page.get_by_label(label, exact=not label.isdigit()).locator("visible=true").first.check(force=True)
                if layout == "steps":
                    shown = page.locator("fieldset:visible legend").first.text_content() or ""
                    onward.click()
                    expect(page.locator("fieldset:visible legend", has_text=shown)).to_have_count(0)
            assert page.evaluate("window.told") == []


def test_a_question_with_a_filter_is_refused_by_its_name_in_a_form(collector: Collector, page: Page) -> None:
    link = collector.publish(survey_in("steps"))
    element = f'<deniable-question name="{{}}" src="{link}"></deniable-question>'
    html = (
        f"<!doctype html><title>x</title>{scripts(collector)}<form>{''.join(map(element.format, ('smokes', 'often')))}"
    )
    with another_site(html) as address:
        page.goto(address)
        page.get_by_text("For experts").click()
        expect(
            page.get_by_text("question often: has a filter, and a form cannot tell whether it applies")
        ).to_be_visible()
        assert page.locator("deniable-question[name=often] input[type=radio]").count() == 0
        assert not page.evaluate("document.querySelector('form').checkValidity()")
        expect(page.locator("deniable-question[name=smokes]").get_by_role("radio", name="Yes")).to_be_visible()


TIMES = """async ({ give, answers }) => {
    // From the press of Send to the request, which `give` presses last.
    const own = globalThis.fetch;
    let pressed = 0;
    addEventListener("click", (event) => {
        if (event.composedPath()[0].matches?.(".review button[part]")) pressed = performance.now();
    }, { capture: true });
    const sent = new Promise((done) => {
        globalThis.fetch = (...all) => {
            if (pressed) done(performance.now() - pressed);
            return own(...all);
        };
    });
    await eval(give)(answers);
    return sent;
}"""

VISITS = 40
"""Visits on each way: at a level of 1e-6 a delay of 15 ms is found."""


@pytest.mark.long
def test_send_takes_as_long_on_every_way(collector: Collector, browser: Browser) -> None:
    """Mann and Whitney's test at 1e-6, in turns; its power is tried by delaying one way on purpose."""
    from scipy.stats import mannwhitneyu

    link = collector.publish(survey_in("steps"))
    answers = {"no": {"smokes": 0, "mood": 2}, "many": {"smokes": 1, "often": 1, "helps": [0], "mood": 0}}
    times: dict[str, list[float]] = {way: [] for way in answers}
    for _ in range(VISITS):
        for way, given_there in answers.items():
            # The page forbids `eval`, so the steps are put in by the browser itself.
            context = browser.new_context(locale="en-GB", bypass_csp=True)
            page = context.new_page()
            page.goto(link)
            times[way].append(page.evaluate(TIMES, {"give": f"({GIVE})", "answers": given_there}))
            context.close()
    assert mannwhitneyu(times["no"], times["many"]).pvalue > 1e-6, times
    late = [each + 15 for each in times["many"]]
    assert mannwhitneyu(times["no"], late).pvalue < 1e-6, "a delay of 15 ms is found"

"""Sections, grids and random orders in a real Chromium: what is shown, and that nothing tells an answer."""

from __future__ import annotations

import random
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect

from deniable import read_survey
from deniable_client.audit import shipped
from deniable_client.audit.reference.published import PublishedSurvey
from deniable_client.audit.shipped import Target, audit_shipped
from tests.browser.test_accessibility import violations
from tools.planted.__main__ import scripts_with
from tools.planted.faults import Fault
from tools.programs import chromium
from tools.rig import browsing
from tools.rig.arranged import GRIDS, SECTIONS
from tools.rig.browsing import Witness, another_site, let_it_draw, scripts
from tools.rig.collectors import Collector, running_collector

WIDE, PHONE = ViewportSize(width=1280, height=900), ViewportSize(width=390, height=800)

CHOSEN_WORDS = """(() => {
    const real = crypto.getRandomValues.bind(crypto);
    let state = SEED;
    window.taken = 0;
    Crypto.prototype.getRandomValues = function (array) {
        real(array);
        if (array instanceof Uint32Array && array.length === 1) {
            window.taken++;
            state = Math.imul(state, 1664525) + 1013904223 >>> 0;
            array[0] = state;
        }
        return array;
    };
})();"""
"""Chance that is the same at every visit, and how many words of it were taken."""

SHOWN = """() => [...document.querySelector("deniable-survey").shadowRoot.querySelectorAll("fieldset:not([hidden])")]
    .filter((set) => set.getClientRects().length && getComputedStyle(set).visibility === "visible")
    .filter((set) => !set.querySelector("fieldset"))
    .map((set) => [...set.querySelectorAll("input")])
    .map((inputs) => [inputs[0].name, ...inputs.map(({ value }) => value)].join())"""
"""The questions on the screen, each with its options in the order in which they stand there."""


_STOP = "    const { set, section, intro } = asked[place];"
BY_ANSWERS = Fault(
    "draw", "browser", "options in turn by the answer before", "client/deniable_web/steps.js", _STOP,
    f"{_STOP}\n    if (place && asked[0].answer() === view.questions[0].options[0])"
    ' for (const each of set.querySelectorAll("label")) each.parentNode?.prepend(each);',
)  # fmt: skip


def start(page: Page, link: str) -> None:
    """Open a survey and press Start; the first question is on the screen when this returns."""
    page.goto(link)
    browsing.start(page)


def onward(page: Page) -> None:
    """Go on from the screen that is shown; the next one, or the review, is there when this returns."""
    shown = page.evaluate(SHOWN)
    page.locator("fieldset:visible .steps button").first.click()
    page.wait_for_function(f"shown => JSON.stringify(({SHOWN})()) !== JSON.stringify(shown)", arg=shown)


def answer(page: Page, chosen: Mapping[str, int]) -> list[Any]:
    """Walk to the review, always with the option of that place in the document; gives what each screen showed."""
    seen = []
    while not page.locator(".review .given").count():
        shown = page.evaluate(SHOWN)
        seen.append((shown, page.evaluate("window.taken")))
        for each in shown:
            name = each.split(",")[0]
            # Without a pointer: a second click at the same place soon after the first would be half of a double click.
            page.locator(f"input[name={name}][value='{chosen.get(name, chosen['*'])}']").evaluate(
                "each => each.click()"
            )
        onward(page)
    return seen


# Both smoke, because who is asked which questions depends on answers.
PEOPLE: list[Mapping[str, int]] = [{"*": 0, "smokes": 1}, {"*": 2, "smokes": 1}]


def test_orders_and_requests_are_the_same_whatever_is_answered(collector: Collector, browser: Browser) -> None:
    link = collector.publish(read_survey(SECTIONS))
    found = [visit(browser, link, people, 7) for people in PEOPLE]
    assert found[0] == found[1]
    found.append(visit(browser, link, PEOPLE[1], 8))
    for seen, back, _ in found:
        assert back == seen[-1][0], "Back shows the same"
    orders = [[each for each, _ in seen] for seen, *_ in found]
    assert orders[0] != orders[2], "other words, another order"


def _served(script: bytes, route: Route) -> None:
    """Another script in the place of the collector's, as another site may load it."""
    route.fulfill(body=script, content_type="text/javascript", headers={"Access-Control-Allow-Origin": "*"})


def visit(
    browser: Browser, link: str, chosen: Mapping[str, int], seed: int, others: Mapping[str, bytes] | None = None
) -> Any:
    """What one person is shown, and all that leaves before the report; the words that were taken at each step."""
    context = browser.new_context(viewport=WIDE, locale="en-GB")
    page = context.new_page()
    page.add_init_script(CHOSEN_WORDS.replace("SEED", str(seed)))
    for name, script in (others or {}).items():
        serve = partial(_served, script)
        page.route(f"**/client/{name}*", serve)
    witness = Witness.of(page)
    start(page, link)
    seen = answer(page, chosen)
    page.get_by_role("button", name="Back").click()
    page.locator("fieldset:visible").first.wait_for()
    back = page.evaluate(SHOWN)
    onward(page)
    page.locator(".review button[part]").last.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")
    posts = witness.posts()
    requests = [(each.method, each.url) for each in witness.requests]
    lengths = [len(each) for each in posts]
    context.close()
    return seen, back, (requests, lengths)


@pytest.mark.long
def test_an_order_by_answers_is_noticed(collector: Collector, browser: Browser, tmp_path: Path) -> None:
    """What the test above compares differs where a planted fault lets the order depend on an answer."""
    others = scripts_with(BY_ANSWERS, tmp_path)
    link = collector.publish(read_survey(SECTIONS))
    html = f'{scripts(collector)}<deniable-survey src="{link}"></deniable-survey>'
    with another_site(html) as address:
        first, second = (visit(browser, address, chosen, 7, others)[0] for chosen in PEOPLE)
    assert first != second


def test_a_grid_is_one_question_on_every_screen_and_a_table_on_a_wide_one(collector: Collector, page: Page) -> None:
    link = collector.publish(read_survey(SECTIONS))
    for size in (WIDE, PHONE):
        page.set_viewport_size(size)
        start(page, link)
        page.get_by_label("private").check()
        onward(page)
        found = 0
        while not page.locator(".review .given").count():
            shown = page.evaluate(SHOWN)
            if shown[0].startswith("trust_"):
                found += 1
                assert len(shown) == 3
                labels = page.locator("fieldset:visible fieldset").first.locator("label")
                tops = {box["y"] for box in (each.bounding_box() for each in labels.all()) if box}
                assert (len(tops) == 1) == (size == WIDE)
                assert violations(page) == []
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            for each in shown:
                page.locator(f"input[name={each.split(',')[0]}]").first.check(force=True)
            onward(page)
        assert found == 1
        assert violations(page) == []
        page.evaluate("indexedDB.deleteDatabase('deniable')")


def test_a_grid_is_answered_by_keys_alone_and_says_what_is_missing(collector: Collector, page: Page) -> None:
    page.set_viewport_size(WIDE)
    start(page, collector.publish(read_survey(GRIDS.replace('layout = "page"', "").replace("draw = 3", "draw = 5"))))
    grid = page.get_by_role("group", name="Question 1 of 2 In the last year, have you")
    expect(grid).to_be_focused()
    ids = page.locator("deniable-survey [id]").evaluate_all("found => found.map(({ id }) => id)")
    assert len(set(ids)) == len(ids), "what describes a row is not what describes the grid"
    page.keyboard.press("Enter")
    expect(grid.get_by_role("alert")).to_have_count(3)
    expect(grid.get_by_role("group", name="copied from others?").get_by_role("radio").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(grid.get_by_role("group", name="copied from others?").get_by_label("Yes")).to_be_checked()
    for _ in range(2):
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
    expect(grid.locator(":checked")).to_have_count(3)
    expect(grid.locator(".missing:not(:empty)")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Question 2 of 2 How often did you feel")).to_be_focused()


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_page_has_sections_and_grids(collector: Collector, page: Page, size: Any) -> None:
    page.set_viewport_size(size)
    start(page, collector.publish(read_survey('layout = "page"\n' + SECTIONS)))
    expect(page.get_by_role("heading", name="Your habits")).to_be_visible()
    expect(page.get_by_text("Last of all")).to_be_visible()
    expect(page.get_by_role("group", name="How much do you trust")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_box_for_none_stands_alone(collector: Collector, page: Page) -> None:
    start(page, collector.publish(read_survey('layout = "page"\n' + SECTIONS)))
    drugs = page.get_by_role("group", name="Which have you used?")
    expect(drugs).to_contain_text("Tick all that apply.")
    expect(drugs).not_to_contain_text("leave the boxes empty")
    drugs.get_by_label("heroin").check()
    drugs.get_by_label("cannabis").check()
    drugs.get_by_label("None of these").check()
    expect(drugs.locator(":checked")).to_have_count(1)
    drugs.get_by_label("Prefer not to say").check()
    expect(drugs.locator(":checked")).to_have_count(1)
    drugs.get_by_label("cocaine").check()
    expect(drugs.locator(":checked")).to_have_count(1)


@pytest.mark.long
def test_the_audit_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "BLOCK", 2)
    survey = read_survey(SECTIONS)

    def audit() -> Any:
        # A collector of its own, whose limits nobody else has used up.
        with running_collector(tmp_path) as alone:
            alone.publish(survey)
            target = Target.of(alone.url, PublishedSurvey(survey.document))
            return audit_shipped(
                target, 2, dice=random.Random(5), browsers=1, histories=("a broken way",), program=chromium()
            )

    # In a thread of its own, because Playwright works once a thread.
    with ThreadPoolExecutor(1) as thread:
        bench, names = thread.submit(audit).result()
    assert bench.sessions == 2
    assert bench.suspects(1e-6) == []
    assert names == set()


@pytest.mark.parametrize("layout", ["steps", "page"])
def test_a_page_around_hears_the_same_heights_whatever_is_answered(
    collector: Collector, page: Page, layout: str
) -> None:
    # The section on trust is for some, whose answers decide whether its heading and its grid are shown.
    toml = SECTIONS.replace('heading = "Trust"', 'heading = "Trust"\nask_if = "sector != public"')
    link = collector.publish(read_survey(toml if layout == "steps" else f'layout = "page"\n{toml}'))
    html = f'<!doctype html><html lang="en"><title>x</title>{scripts(collector)}<deniable-survey src="{link}">'
    page.set_viewport_size(WIDE)
    page.add_init_script(
        "window.told = []; addEventListener('deniable-resize', ({ detail }) => told.push(detail.height));"
    )
    for chosen in ({"*": 0}, {"*": 2, "smokes": 1}):
        with another_site(html) as address:
            start(page, address)
            # What comes after the first question: five more steps, or all questions and the button below them.
            rest = page.locator("fieldset .steps, form > .stack > button")
            expect(rest).to_have_count(6 if layout == "steps" else 1)
            let_it_draw(page)
            page.wait_for_function("window.told.length > 0")  # heights are told
            let_it_draw(page)
            page.evaluate("window.told.length = 0")
            seen: set[str] = set()
            while fresh := [each for each in page.evaluate(SHOWN) if each.split(",")[0] not in seen]:
                for each in fresh:
                    name = each.split(",")[0]
                    seen.add(name)
                    option = chosen.get(name, chosen["*"])
                    field = page.locator(f"input[name={name}][value='{option}']")
                    field.evaluate("each => each.click()")
                let_it_draw(page)
                onward = page.locator("fieldset:visible .steps button").first
                if layout == "steps" and onward.inner_text() == "Continue":
                    onward.evaluate("each => each.click()")
                    let_it_draw(page)
            assert page.evaluate("window.told") == []
            assert ("trust_press" in seen) == (chosen["*"] == 2)

"""Everybody can answer: axe on every screen, the keyboard alone, the strictest policy, narrow, dark, right to left."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Frame, Page, expect

from deniable import Survey, read_survey
from deniable_client import randomize
from deniable_server.store.sqlite.store import SqliteStore
from tests.support.marks import long
from tools.rig.browsing import (
    ARRIVED,
    Witness,
    all_screens,
    another_site,
    answer,
    choose,
    let_it_draw,
    long_survey,
    remembered,
    scripts,
    unfold,
)
from tools.rig.collectors import Collector
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import FIVE_TYPES, person

AXE = Path(__file__).parents[2] / "client" / "deniable_web" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

TRULY = person(3)


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(FIVE_TYPES)


def violations(page: Page | Frame, frames: bool = True) -> list[str]:
    """What axe finds against WCAG 2.0, 2.1 and 2.2, A and AA; without frames in the page itself alone."""
    if not page.evaluate("'axe' in window"):  # it stays as long as the page does, and takes half a megabyte to send
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found: dict[str, Any] = page.evaluate(
        "([values, iframes]) =>"
        " axe.run(document, { runOnly: { type: 'tag', values }, resultTypes: ['violations'], iframes })",
        [RULES, frames],
    )
    assert found["passes"], "axe has looked at something"
    return [f"{each['id']}: {each['help']}: {each['nodes'][0]['html']}" for each in found["violations"]]


def test_axe_sees_what_is_wrong(page: Page) -> None:
    page.set_content("<title>x</title><main><h1>x</h1><img src='data:,'><input></main>")
    assert {each.split(":")[0] for each in violations(page)} >= {"html-has-lang", "image-alt", "label"}


@pytest.mark.parametrize(
    ("layout", "language", "scheme"),
    [  # each of them once; the steps of test_steps.py are looked at in other pairs
        ("steps", "ar", "dark"),
        ("page", "en", "light"),
        long("steps", "en", "light"),
        long("page", "en", "dark"),
        long("page", "ar", "light"),
        long("steps", "en", "dark"),
        long("steps", "ar", "light"),
        long("page", "ar", "dark"),
    ],
)
def test_axe_finds_nothing_on_any_screen(
    browser: Browser, collector: Collector, survey: Survey, layout: str, language: str, scheme: Any
) -> None:
    survey = replace(survey, layout=layout)
    context = browser.new_context(viewport={"width": 320, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    for screen in all_screens(page, f"{collector.publish(survey)}#lang={language}", survey):
        assert violations(page) == [], screen
        width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1], f"{screen}: scrolls sideways"
        small = page.evaluate(SMALL_TARGETS)
        assert small == [], f"{screen}: targets below 24 px"
    context.close()


SMALL_TARGETS = """() => [...document.querySelector("deniable-survey").shadowRoot
    .querySelectorAll("button, summary, select, label, input[type=number]")]
    .filter((each) => each.checkVisibility())
    .filter((each) => Math.min(each.getBoundingClientRect().width, each.getBoundingClientRect().height) < 24)
    .map((each) => each.outerHTML)"""


def test_axe_finds_nothing_on_the_other_pages(collector: Collector, page: Page, link: str) -> None:
    closed = read_survey("closes = 2020-01-01\n" + FIVE_TYPES)
    greedy = read_survey(FIVE_TYPES.replace('truth = "1/2"', "epsilon = 4.1"))
    for address in [collector.publish(closed), collector.publish(greedy), f"{link}#cohort=none", f"{link}/results"]:
        page.goto(address)
        expect(page.locator("h1").last).to_be_visible()
        assert violations(page) == [], address


@pytest.fixture(scope="module")
def arabic() -> Survey:
    return read_survey(ARABIC)


QUESTION = "\u0645\u0627 \u0631\u0623\u064a\u0643 \u0641\u064a \u0647\u0630\u0627 \u0627\u0644\u0633\u0624\u0627\u0644 "

ARABIC = f"""
layout = "page"
title = "\u0627\u0633\u062a\u0628\u064a\u0627\u0646 \u0639\u0646 \u0627\u0644\u062d\u064a\u0627\u0629"
results = "live"
organiser = "\u0645\u0639\u0647\u062f \u0639\u0644\u0645 \u0627\u0644\u0627\u062c\u062a\u0645\u0627\u0639"
cohorts = ["\u0627\u0644\u0642\u0627\u0647\u0631\u0629", "{"a long label of a cohort " * 6}"]

[[questions]]
id = "a"
type = "choice"
text = "{QUESTION * 4}\u061f"
options = ["\u0646\u0639\u0645", "\u0644\u0627", "{"W" * 90}", "{"an option of many words " * 7}", "\u4f60\u597d"]
epsilon = 2
"""
"""A survey from right to left, with labels that are long in other scripts."""


@pytest.mark.parametrize(
    ("looks", "arabic_views"),
    [
        pytest.param([(320, "dark"), (1280, "light")], slice(0, 2), id="two looks"),
        long([(320, "dark"), (1280, "light"), (320, "light"), (1280, "dark")], slice(None), name="every look"),
    ],
)
def test_results_can_be_read_at_every_width_and_in_the_dark(
    page: Page,
    collector: Collector,
    survey: Survey,
    arabic: Survey,
    looks: list[tuple[int, Any]],
    arabic_views: slice,
) -> None:
    witness = Witness.of(page)
    for each in (survey, arabic):
        link = collector.publish(each)
        store = SqliteStore(collector.database)
        answers = [person(i) if each is survey else {"a": each.questions[0].options[i % 3]} for i in range(60)]
        store.store_reports([(each, [randomize(each, given, (*each.cohorts, None)[0]) for given in answers])])
        store.close()
        one = f"/{each.questions[0].id}"
        crossed = f"{one}?with={each.questions[1].id}" if len(each.questions) > 1 else f"{one}?compare=cohort"
        views = ("?view=all", crossed, "?by=cohort", "?by=cohort&method=wald", "", one)
        for query in views if each is survey else views[arabic_views]:
            page.goto(f"{link}/results{query}")
            expect(page.locator("h1")).to_be_visible()
            for fold in page.locator("details.recipe, details.numbers").all():
                fold.evaluate("each => { each.open = true }")
            assert page.locator("svg.figure").count() == len(each.questions) or query in ("", one, crossed)
            for width, scheme in looks:
                page.set_viewport_size({"width": width, "height": 800})
                page.emulate_media(color_scheme=scheme)
                let_it_draw(page)
                assert violations(page) == [], (query, width)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{query}: scrolls sideways"
                assert page.evaluate(SCROLLING) == 0, f"{query}: a table hides a column at {width}"
                assert page.evaluate(CLIPPED) == [], (query, width)
                assert page.evaluate(FAINT) == [], (query, scheme)
    assert witness.lines == [], "nothing against the page's policy"


SCROLLING = (
    "() => [...document.querySelectorAll('.scroll')].filter((each) => each.scrollWidth > each.clientWidth).length"
)
"""How many tables hide a column beside the screen."""

CLIPPED = """() => [...document.querySelectorAll("svg.figure :is(text, circle, path, line)")].filter((each) => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    const chart = each.closest("svg.figure").getBoundingClientRect();
    return left < 0 || right > innerWidth || top < chart.top - 1 || bottom > chart.bottom + 1;
}).map((each) => each.outerHTML)"""
"""What of the charts lies outside the window or outside its chart."""

FAINT = """() => {
    const luminance = (colour) => {
        const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map((each) => each / 255)
            .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = luminance(getComputedStyle(document.body).backgroundColor);
    return [...document.querySelectorAll("svg.figure :is(text, circle, path)")].filter((each) => {
        // Axe holds the colour of the text around it to the same, whatever colour space it is written in.
        if (getComputedStyle(each).fill === getComputedStyle(document.body).color) return false;
        const ink = luminance(getComputedStyle(each).fill);
        const contrast = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
        return contrast < (each.tagName === "text" ? 4.5 : 3);
    }).map((each) => each.outerHTML);
}"""
"""What of the charts has less contrast to the page than WCAG asks of texts and of graphics (1.4.3, 1.4.11)."""


def test_keyboard_alone_answers_the_whole_survey(collector: Collector, page: Page, survey: Survey, link: str) -> None:
    before = collector.reports(survey)
    page.goto(link)
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()

    def press_until(wanted: str, key: str = "Tab") -> None:
        """Move on until what has the focus says so."""
        for _ in range(60):
            page.keyboard.press(key)
            if wanted in page.evaluate(FOCUSED):
                return
        raise AssertionError(f"the keyboard never reaches {wanted}")

    press_until("Start")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Five types")).to_be_focused()
    press_until("radio:affair")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    press_until("radio:town")
    page.keyboard.press("ArrowDown")
    press_until("checkbox:drugs")
    page.keyboard.press("Space")
    press_until("radio:trust")
    page.keyboard.press("ArrowRight")
    press_until("number:drinks")
    page.keyboard.type("12")
    press_until("Check my answers")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Check your answers")).to_be_focused()
    for given in ("Yes", "B", "cannabis", "2", "12"):
        expect(page.locator(".review")).to_contain_text(given)
    press_until("Send")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_focused()
    assert collector.reports(survey) == before + 1


FOCUSED = """() => {
    const active = document.activeElement.shadowRoot?.activeElement ?? document.activeElement;
    return active.type && active.name ? `${active.type}:${active.name}` : active.textContent.slice(0, 40);
}"""


def test_what_has_the_focus_is_not_behind_the_button_that_leaves(collector: Collector, page: Page) -> None:
    questions = [question_toml(f"q{n}", "yes-no", f"Is it {n}?", epsilon=0.5) for n in range(6)]
    page.set_viewport_size({"width": 900, "height": 500})
    page.goto(collector.publish(read_survey(survey_toml("Behind", *questions, layout="page"))))
    page.get_by_role("button", name="Start", exact=True).click()
    for n in range(6):
        page.get_by_role("radio", name="No").nth(n).check()
    page.get_by_role("button", name="Check my answers").click()
    page.get_by_role("button", name="Send", exact=True).focus()
    leave = page.get_by_role("button", name="Leave quickly").bounding_box()
    assert leave
    for n in range(6, 0, -1):
        page.keyboard.press("Shift+Tab")
        change = page.get_by_role("button", name=f"Change answer {n}")
        expect(change).to_be_focused()
        place = change.bounding_box()
        assert place
        assert place["y"] >= leave["y"] + leave["height"]


def test_large_text_leaves_start_on_a_narrow_screen(collector: Collector, page: Page, link: str) -> None:
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(link)
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    page.evaluate(
        """() => {
            const sheet = new CSSStyleSheet();
            sheet.replaceSync("html { font-size: 200% }");
            document.adoptedStyleSheets.push(sheet);
        }"""
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_counts_beside_labels_of_the_other_direction_keep_their_order(collector: Collector, page: Page) -> None:
    question = question_toml("which", "choice", "?", options=["نعم", "لا"], epsilon=1)
    page.goto(collector.publish(read_survey(survey_toml("Two directions", question))))
    page.get_by_text("How chance protects you").click()
    page.get_by_role("button", name="Try 100 times").click()
    line = page.locator(".chance li").first
    expect(line).to_contain_text("of 100 times")
    # Where the label stands apart, it begins the line and what is said of it follows.
    label, all_of_it = line.locator("[dir=auto]").bounding_box(), line.locator(":scope > span").bounding_box()
    assert label
    assert all_of_it
    assert label["x"] == pytest.approx(all_of_it["x"], abs=1)


def test_focus_is_visible(collector: Collector, page: Page, survey: Survey) -> None:
    page.goto(collector.publish(survey))
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    for _ in range(3):
        page.keyboard.press("Tab")
        outline = page.evaluate(
            """() => {
                const active = document.activeElement.shadowRoot?.activeElement ?? document.activeElement;
                const style = getComputedStyle(active);
                return [style.outlineStyle, parseFloat(style.outlineWidth)];
            }"""
        )
        assert outline[0] != "none"
        assert outline[1] >= 2


def test_strictest_policy_reports_no_violation(
    collector: Collector, context: BrowserContext, page: Page, survey: Survey
) -> None:
    context.add_init_script(
        "window.violations = []; addEventListener('securitypolicyviolation',"
        " event => window.violations.push(event.violatedDirective + ' ' + event.blockedURI));"
    )
    witness = Witness.of(page)
    response = page.goto(collector.publish(survey))
    assert response
    policy = response.headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"):
        assert f"{part};" in policy
    assert "require-trusted-types-for 'script'; trusted-types 'none'" in policy
    assert "unsafe" not in policy
    page.get_by_text("What chance does here").click()
    page.get_by_role("button", name="Try 100 times").click()
    answer(page, survey, TRULY)
    unfold(page.locator("deniable-survey"))
    assert page.evaluate("window.violations") == []
    assert witness.lines == []
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    page.wait_for_function("() => window.violations.length === 1")  # and the listener works


def test_at_most_110_words_stand_before_start_and_every_part(
    collector: Collector, page: Page, demo_survey: Survey
) -> None:
    page.goto(collector.publish(replace(demo_survey, results="batches")))
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    expect(page.locator("deniable-survey .chance")).to_be_visible()  # made after the first screen was painted
    card = page.locator("deniable-survey .card[part]").inner_text()
    # The author's own texts: those of the survey, and of the question that is pictured.
    theirs = f"{demo_survey.title} {demo_survey.organiser} {demo_survey.about}"
    assert theirs.split()[-1] in card
    theirs += f" {demo_survey.questions[0].text}"
    assert demo_survey.questions[0].text in card
    before, start, _ = card.partition("\nStart\n")
    assert start
    assert len(before.split()) - len(theirs.split()) <= 110, before
    for part in (
        "Your reply hints at your answers, but never proves them.",
        "researchers can correct totals for chance",
        "A Yes is no proof",
        f"Your {len(demo_survey.questions)} questions take about a minute.",
        "Taking part is your choice, and you can stop before Send.",
        "No answer is sent before you press Send",
    ):
        assert part in card
    unfold(page.locator("deniable-survey"))
    expect(page.get_by_text("Did that person answer Yes?")).to_be_visible()  # what is tried is made when it is opened
    opened = page.locator("deniable-survey .card[part]").inner_text()
    for part in (
        "none of them gets more than what your device sends.",
        "Chance hides nothing from anyone who looks at this screen while you answer, or who controls this device.",
        "Of 100 people",
        "Did that person answer Yes?",
    ):
        assert part in opened


def test_start_stands_on_the_first_screen_of_a_phone(collector: Collector, page: Page, demo_survey: Survey) -> None:
    page.set_viewport_size({"width": 390, "height": 700})
    begin = page.locator("deniable-survey .start button")
    for wave in (demo_survey, replace(demo_survey, title=f"{demo_survey.title[:-1]}5")):
        link = collector.publish(wave)
        for language in ("de", "fr", "es", "ar", "en"):
            page.goto("about:blank")  # the fragment alone loads nothing
            page.goto(f"{link}#lang={language}")
            expect(begin).to_be_visible()
            expect(page.locator(f"deniable-survey [lang={language}]").first).to_be_visible()
            box = begin.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= 700, (language, box)
            # After the first of both: the same again, and what was told in all.
            expect(page.locator("deniable-survey .note")).to_have_count(0 if wave is demo_survey else 2)
        if wave is demo_survey:
            answer(page, wave, {question.id: question.options[0] for question in wave.questions})


def filled(page: Page) -> int:
    """How many people of the picture of chance are filled: each begins one outline of a common shape."""
    outlines: int = page.locator(".person.filled").evaluate("crowd => crowd.getAttribute('d').split('M').length - 1")
    return outlines


def test_try_it_shows_the_split_and_sends_nothing(collector: Collector, page: Page) -> None:
    coin = read_survey('title = "Coin"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\ntruth = "1/2"\n')
    page.goto(collector.publish(coin))
    witness = Witness.of(page)
    page.get_by_text("How chance protects you").click()
    page.get_by_role("combobox").select_option("Yes")
    page.get_by_role("button", name="Try once").click()
    expect(page.get_by_role("status").filter(has_text="Chance made of it: ")).to_be_visible()
    yes = 0
    for _ in range(40):
        page.get_by_role("button", name="Try 100 times").click()
        split = dict(line.split(": ") for line in page.locator("[role=status] li").all_inner_texts())
        times, pressed = (int(part) for part in re.findall(r"\d+", split["Yes"]))
        assert pressed == 100
        # The picture shows the same draws: as many people are filled as send Yes.
        assert filled(page) == times
        yes += times
    # 3/4 of 4,000 with a standard deviation of 27.4: beyond 145 a probability below 2e-7.
    assert abs(yes - 3000) <= 145
    page.get_by_role("combobox").select_option("No")
    expect(page.locator("[role=status] li")).to_have_count(0)
    assert filled(page) == 25
    assert witness.posts() == []
    assert all(each.url.endswith("/state") for each in witness.requests)
    assert page.evaluate(remembered()) is None


def test_forced_colours_and_reduced_motion(browser: Browser, collector: Collector, survey: Survey) -> None:
    context = browser.new_context(forced_colors="active", reduced_motion="reduce")
    page = context.new_page()
    page.goto(collector.publish(survey))
    page.get_by_role("button", name="Start", exact=True).click()
    choose(page, survey, TRULY)
    chosen, other = (
        page.locator("label").filter(has=page.locator(f"input{which}")).first
        for which in (":checked", ":not(:checked)")
    )
    style = "label => getComputedStyle(label).outlineStyle"
    assert chosen.evaluate(style) != "none"
    assert other.evaluate(style) == "none"
    moving = """() => [...document.querySelector("deniable-survey").shadowRoot.querySelectorAll("*")].filter((each) => {
        const { animationName, transitionDuration } = getComputedStyle(each);
        return animationName !== "none" || parseFloat(transitionDuration) > 0;
    }).length"""
    assert page.evaluate(moving) == 0
    context.close()


def test_axe_finds_nothing_in_long_lists_and_warnings(collector: Collector, page: Page) -> None:
    link = collector.publish(long_survey("choice"))
    html = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Another site</title>
        {scripts(collector)}<main><deniable-survey kiosk src="{link}"></deniable-survey></main></html>"""
    with another_site(html) as address:
        page.goto(address)
        page.clock.install()
        page.get_by_role("button", name="Start", exact=True).click()
        page.clock.run_for(100)
        page.get_by_role("searchbox").fill("co")
        assert violations(page) == []
        page.clock.run_for(91_000)
        expect(page.get_by_text("Are you still there?")).to_be_visible()
        assert violations(page) == []


def test_axe_finds_nothing_in_the_embeds(collector: Collector, page: Page, survey: Survey, link: str) -> None:
    html = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Another site</title>
        {scripts(collector)}<main><h1>Another site</h1>
        <deniable-survey src="{link}" isolated></deniable-survey>
        <form><deniable-question name="affair" src="{link}"></deniable-question></form></main></html>"""
    with another_site(html) as address:
        page.goto(address)
        expect(page.get_by_role("button", name="Mix in chance")).to_be_visible()
        expect(page.frame_locator("iframe").get_by_role("button", name="Start", exact=True)).to_be_visible()
        assert violations(page) == []
        (frame,) = [each for each in page.frames if "/embed/" in each.url]
        assert violations(frame) == []

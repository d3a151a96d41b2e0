"""How forms and results look: in the page's own colours, on phones, and once what was wrong has been mended."""

from __future__ import annotations

import io
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from deniable import Survey, read_survey
from deniable_client import randomize
from deniable_server.store.sqlite.store import SqliteStore
from tests.browser.test_accessibility import violations
from tests.support.marks import long
from tools.rig.access import invite
from tools.rig.browsing import let_it_draw
from tools.rig.collectors import Collector
from tools.rig.survey_files import question_toml, survey_toml


def scale(levels: int) -> Survey:
    """A scale with a label at either end, a question of yes or no, and a number."""
    happy = (
        f'type = "scale"\ntext = "Happy?"\nlo = 1\nhi = {levels}\nends = ["not at all", "completely"]\ngoal = "shares"'
    )
    return read_survey(
        survey_toml(
            f"Looks of {levels}",
            f'[[questions]]\nid = "happy"\n{happy}\nepsilon = 1\n',
            question_toml("affair", "yes-no", "Affair?", epsilon=1),
            question_toml("times", "number", "How often?", lo=0, hi=10, epsilon=1),
            layout="page",
        )
    )


@pytest.fixture(scope="module")
def link(collector: Collector) -> str:
    return collector.publish(scale(7))


def start(page: Page, link: str, width: int = 390) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{link}#lang=en")
    page.locator("deniable-survey [part=button]").first.click()
    expect(page.get_by_role("button", name="Check my answers")).to_be_visible()


def style_of(page: Page, selector: str, name: str) -> str:
    style = page.locator(selector).first.evaluate(f"element => getComputedStyle(element)['{name}']")
    assert isinstance(style, str)
    return style


def test_bars_have_the_accent_of_the_page(page: Page, link: str) -> None:
    start(page, link)
    page.get_by_role("radio", name="Yes").check()
    expect(page.get_by_text("2 questions still need an answer.")).to_be_visible()
    bar = page.locator("progress").first
    for scheme, colour in (("light", (17, 85, 85)), ("dark", (136, 204, 204))):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # a literal
        let_it_draw(page)
        image = Image.open(io.BytesIO(bar.screenshot())).convert("RGB")
        filled = image.getpixel((image.width // 6, image.height // 2))  # a third is answered
        assert filled == colour
        assert image.getpixel((image.width * 9 // 10, image.height // 2)) != filled


def test_back_stands_beside_the_button_that_leads_on_at_every_step(collector: Collector, page: Page) -> None:
    asked = [question_toml(name, "yes-no", f"{name}?", epsilon=1) for name in ("first", "last")]
    link = collector.publish(read_survey(survey_toml("Two steps", *asked)))
    page.set_viewport_size({"width": 390, "height": 900})
    page.on("dialog", lambda dialog: dialog.accept())  # answers that are left are lost
    for language in ("de", "fr", "es"):  # the languages with the longest words
        page.goto("about:blank")
        page.goto(f"{link}#lang={language}")
        page.locator("deniable-survey .start button").click()
        for n in range(len(asked)):
            expect(page.locator("fieldset").nth(n)).to_be_visible()
            row = page.locator(".steps").locator("visible=true")
            onward, back = (row.get_by_role("button").nth(n).bounding_box() for n in (0, 1))
            assert onward
            assert back
            assert onward["y"] < back["y"] + back["height"] / 2 < onward["y"] + onward["height"], language
            page.locator("fieldset:visible input").last.check()
            row.get_by_role("button").first.click()


def test_secondary_buttons_are_buttons_and_links_are_links(page: Page, link: str) -> None:
    start(page, link)
    page.get_by_role("button", name="Check my answers").click()
    assert style_of(page, "[role=alert] button", "textDecorationLine") == "underline"
    assert style_of(page, "[role=alert] button", "borderTopWidth") == "0px"
    page.get_by_role("radio").nth(2).check()
    page.get_by_role("radio", name="Yes").check()
    page.get_by_role("spinbutton").fill("3")
    page.get_by_role("button", name="Check my answers").click()
    change = page.get_by_role("button", name="Change answer 1")
    assert style_of(page, ".review .given .link", "textDecorationLine") == "underline"
    assert style_of(page, ".review .given .link", "borderTopWidth") == "0px"
    box = change.bounding_box()
    assert box
    assert box["height"] >= 44
    assert violations(page) == []


@pytest.mark.parametrize("levels", [long(7), 11, 21])
def test_a_scale_stands_in_equal_cells(collector: Collector, page: Page, levels: int) -> None:
    start(page, collector.publish(scale(levels)), 320)
    cells = page.get_by_role("group", name="Happy?").locator("label")
    assert cells.count() == levels
    for width in (320, 390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        let_it_draw(page)
        holds_equal_cells(page, cells, levels, width)
    assert violations(page) == []


def holds_equal_cells(page: Page, cells: Locator, levels: int, width: int) -> None:
    """A scale at a width of the window."""
    boxes = cells.evaluate_all(
        "all => all.map(each => each.getBoundingClientRect()).map(({x, y, width}) => [x, y, width])"
    )
    rows = {round(y) for _, y, _ in boxes}
    columns = {round(x) for x, _, _ in boxes}
    if levels > 12:
        assert max(wide for *_, wide in boxes) - min(wide for *_, wide in boxes) < 1
        assert len(columns) * (len(rows) - 1) < levels <= len(columns) * len(rows)
    else:
        # Eleven boxes in a row of the narrowest phones would be too small for fingers: there they stand upright.
        assert (len(rows), len(columns)) == ((levels, 1) if width * 7 < levels * 240 else (1, levels))
        assert max(wide for *_, wide in boxes) - min(wide for *_, wide in boxes) < 1
        ends = page.get_by_text("not at all", exact=True).locator("visible=true")
        expect(ends).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 320:  # where most of them stand in rows or upright; the widest is looked at last
        assert violations(page) == []


@pytest.mark.parametrize(
    ("epsilon", "lesson", "title"),
    [
        (1, "A Yes is no proof: it may come from chance.", "How chance protects you"),
        (3.9, "The fewer answers chance changes, the more a reply reveals.", "What chance does here"),
    ],
)
def test_the_picture_says_what_its_figures_mean(
    collector: Collector, page: Page, epsilon: float, lesson: str, title: str
) -> None:
    page.goto(
        collector.publish(
            read_survey(survey_toml(f"Means {epsilon}", question_toml("q", "yes-no", "Q?", epsilon=epsilon)))
        )
    )
    picture = page.locator(".chance")
    expect(picture.get_by_role("heading", name="An example from this survey")).to_be_visible()
    expect(picture.locator(".caption")).to_contain_text("whose true answer is No")
    expect(picture.locator(".legend + p")).to_contain_text("whose true answer is Yes")
    expect(picture.locator(".legend + p")).to_contain_text(lesson)
    expect(picture.locator("summary")).to_have_text(title)
    page.get_by_text("How sure can somebody be about me?").click()
    page.get_by_text("The exact figures").click()
    picture.locator("summary").click()
    expect(page.get_by_text("To compare: a mere guess is right 50 times in 100")).to_have_count(1)


@pytest.mark.parametrize("font", ["", '"DejaVu Sans", Verdana'])
def test_what_begins_and_what_declines_stand_on_the_first_screen_of_a_phone_where_they_belong(
    collector: Collector, page: Page, font: str
) -> None:
    """Also with weak protection and with an invitation, and not only because they stick to the foot of the window.

    The fonts named are wider than those of phones; a minimal Debian has the first of them alone.
    """
    page.set_viewport_size({"width": 390, "height": 2000})
    texts = {"organiser": "Institute for Health at Work", "about": "We want to know how staff of hospitals cope."}
    weak = read_survey(survey_toml("Stress and sleep", question_toml("q", "yes-no", "Q?", epsilon=3.9), **texts))
    asked = question_toml("q", "yes-no", "Q?", epsilon=1)
    invited = read_survey(survey_toml("Stress at work", asked, access="invited", **texts))
    links = [collector.publish(survey) for survey in (weak, invited)]
    with closing(SqliteStore(collector.database)) as store:
        (invitation,) = invite(store, invited, 1)
    for survey, link in zip((weak, invited), links, strict=True):
        page.goto(f"{link}#lang=en&invitation={invitation}")
        buttons = page.locator("deniable-survey .begin button")
        expect(buttons).to_have_count(2 if survey is weak else 1)
        page.evaluate("font => font && document.documentElement.style.setProperty('--deniable-font', font)", font)
        box = buttons.last.bounding_box()
        assert box
        assert box["y"] + box["height"] <= 844


def test_nothing_is_said_to_be_missing_before_anything_was_touched(page: Page, link: str) -> None:
    start(page, link)
    expect(page.get_by_role("button", name="Check my answers")).to_be_visible()
    expect(page.get_by_text("still need")).to_be_hidden()  # its place is taken: the height tells no first touch
    expect(page.locator("form > .stack progress")).to_be_hidden()
    page.get_by_role("radio", name="Yes").check()
    expect(page.get_by_text("2 questions still need an answer.")).to_be_visible()


def test_pressing_review_first_says_what_is_missing(page: Page, link: str) -> None:
    start(page, link)
    page.get_by_role("button", name="Check my answers").click()
    expect(page.get_by_role("heading", name="3 questions still need an answer.")).to_be_focused()
    expect(page.get_by_text("3 questions still need an answer.").last).to_be_hidden()  # said once, by that heading
    expect(page.get_by_text("Nothing is lost")).to_have_count(0)  # nothing was chosen yet
    heights = [page.locator(each).first.bounding_box() for each in ("form h1", "[role=alert].card", "fieldset")]
    tops = [box["y"] for box in heights if box]
    assert tops == sorted(tops)  # what is missing stands below the title and above the questions
    assert len(tops) == 3
    page.get_by_role("radio", name="Yes").check()
    page.get_by_role("button", name="Check my answers").click()
    expect(page.get_by_text("Nothing is lost: what you have chosen is still here.")).to_be_visible()


def test_a_message_goes_when_its_cause_is_mended_and_the_summary_with_the_last(page: Page, link: str) -> None:
    start(page, link)
    page.get_by_role("spinbutton").fill("11")
    page.get_by_role("button", name="Check my answers").click()
    lines, marks = page.locator("[role=alert] li"), page.locator(".missing:not(:empty)")
    expect(lines).to_have_count(3)
    expect(marks).to_have_count(3)
    page.get_by_role("radio").nth(2).check()
    expect(lines).to_have_count(2)
    expect(marks).to_have_count(2)
    expect(page.get_by_role("heading", name="2 questions still need an answer.")).to_be_visible()
    page.get_by_role("spinbutton").fill("12")  # mends nothing
    expect(lines).to_have_count(2)
    page.get_by_role("spinbutton").fill("10")
    expect(page.get_by_role("spinbutton")).to_have_attribute("aria-invalid", "false")
    page.get_by_role("radio", name="Yes").check()
    expect(marks).to_have_count(0)
    expect(page.get_by_role("heading", name="still need")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("language", ["en", "ar"])
def test_what_lacks_an_answer_is_listed_in_a_frame_and_has_a_bar_beside_its_message_alone(
    page: Page, link: str, width: int, language: str
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{link}#lang={language}")
    page.locator("deniable-survey .start button").click()
    onward = page.locator("form > .stack > button")
    expect(onward).to_be_visible()
    calm = style_of(page, "fieldset label", "borderTopColor")
    onward.click()
    colour = style_of(page, ".missing b", "color")
    side = "Right" if language == "ar" else "Left"
    for marked, sides, width_of_line in (("[role=alert]", ("Left", "Right"), "2px"), (".missing", (side,), "4px")):
        for each in sides:
            assert style_of(page, marked, f"border{each}Width") == width_of_line
            assert style_of(page, marked, f"border{each}Color") == colour
    assert style_of(page, "fieldset .choices", "outlineStyle") == "none"  # no alarm around the options
    assert style_of(page, "fieldset label", "borderTopColor") == calm
    page.locator("fieldset").first.locator("label").first.click()
    expect(page.locator(".missing").first).to_be_hidden()
    assert violations(page) == []


def test_results_show_every_number_on_a_phone_without_scrolling(collector: Collector, page: Page) -> None:
    survey = replace(scale(7), results="live")
    link = collector.publish(survey)
    with closing(SqliteStore(collector.database)) as store:
        answers: list[dict[str, Any]] = [{"happy": str(1 + i % 7), "affair": "no", "times": i % 11} for i in range(60)]
        store.store_reports([(survey, [randomize(survey, each) for each in answers])])
    page.goto(f"{link}/results?view=all")
    for fold in page.locator("details.numbers").all():
        fold.evaluate("each => { each.open = true }")
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        let_it_draw(page)
        cells = page.locator("details.numbers :is(td, tbody th)").evaluate_all(
            "all => all.map((each) => each.getBoundingClientRect()).map(({ left, right }) => [left, right])"
        )
        assert len(cells) > 30
        assert all(left >= 0 and right <= width for left, right in cells), width
        assert page.locator(".scroll").first.evaluate("each => each.scrollWidth <= each.clientWidth")
    expect(page.get_by_role("cell").filter(has_text=" to ").first).to_be_visible()
    assert page.locator(".scroll td").nth(1).evaluate("each => getComputedStyle(each, '::before').content") != "none"
    assert page.get_by_role("table").first.get_by_role("columnheader").count() >= 3
    assert violations(page) == []

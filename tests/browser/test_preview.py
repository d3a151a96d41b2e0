"""An author's preview in a real browser: every state, the bench beside it, and that nothing of it leaves or stays."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from deniable import read_survey
from deniable_server.authors.preview import preview_server
from deniable_statistics.authoring.outlook import outlook
from tests.browser.test_accessibility import violations
from tools.rig.browsing import wait_for
from tools.rig.survey_files import question_toml, survey_toml

TEXT = survey_toml(
    {"default": "At work", "de": "Bei der Arbeit"},
    question_toml("affair", "yes-no", "Have you ever?"),
    question_toml("often", "choice", "How often?", options=["never", "once", "often"]),
    epsilon=2,
    want=["shares"],
    access="invited",
    cohorts=["north", "south"],
    cohort_required=True,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my-survey.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def address(file: Path) -> Iterator[str]:
    server = preview_server(file, 0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


HEADINGS = {
    "open": "At work",
    "receipt": "Thank you. You are done.",
    "waiting": "Your reply has not arrived yet",
    "late": "This survey is closed",
    "refused": "The server did not accept your reply",
    "closed": "This survey is closed",
    "early": "This survey is not open yet",
    "used": "This invitation has already been used",
    "unknown": "This invitation is not known here",
}


def test_every_state_stands_in_the_frame_and_nothing_is_sent_elsewhere(page: Page, address: str) -> None:
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    shown = page.frame_locator("iframe")
    for state, heading in HEADINGS.items():
        page.get_by_label("State", exact=True).select_option(state)
        expect(shown.get_by_role("heading", level=1)).to_have_text(heading)
    page.get_by_label("State", exact=True).select_option("open")
    page.get_by_label("Cohort", exact=True).select_option("")
    expect(shown.get_by_role("heading", level=1)).to_have_text("A part of your link is missing")
    assert not errors
    assert all(each.startswith(address) for each in asked)


def test_language_colours_and_width_are_those_that_were_picked(page: Page, address: str) -> None:
    page.goto(address)
    shown = page.frame_locator("iframe")
    page.get_by_label("Language", exact=True).select_option("de")
    expect(shown.get_by_role("heading", name="Bei der Arbeit")).to_be_visible()
    page.get_by_label("Colours", exact=True).select_option("dark")
    body = shown.locator("body")
    expect(body).to_have_css("background-color", "rgb(20, 17, 14)")
    for screen, width in (("desktop", 1280), ("phone", 390)):
        page.get_by_label("Screen", exact=True).select_option(screen)
        expect(shown.get_by_role("heading", name="Bei der Arbeit")).to_be_visible()
        wait_for(page, partial(lambda width: body.evaluate("() => innerWidth") == width, width), f"it is {width} wide")
    page.get_by_label("Page", exact=True).select_option("framed")
    expect(shown.get_by_role("button", name="Starten")).to_be_visible()
    expect(shown.get_by_role("button", name="Schnell verlassen")).to_have_count(0)


def test_saving_the_file_changes_page_and_figures_and_a_slip_keeps_them(page: Page, address: str, file: Path) -> None:
    page.goto(address)
    shown = page.frame_locator("iframe")
    expect(page.locator(".lead")).to_have_text(outlook(read_survey(TEXT)))
    changed = TEXT.replace("At work", "In class").replace("epsilon = 2", "epsilon = 1")
    file.write_text(changed, encoding="utf-8")
    expect(shown.get_by_role("heading", name="In class")).to_be_visible()
    expect(page.locator(".lead")).to_have_text(outlook(read_survey(changed)))
    file.write_text(changed.replace("epsilon = 1", "epsilon = one"), encoding="utf-8")
    expect(page.get_by_role("alert").get_by_role("heading", name="Line 2")).to_be_visible()
    expect(shown.get_by_role("heading", name="In class")).to_be_visible()
    file.write_text(TEXT, encoding="utf-8")
    expect(shown.get_by_role("heading", name="At work")).to_be_visible()
    expect(page.get_by_role("alert")).to_be_empty()


def test_slider_shows_other_figures_and_writes_nothing(page: Page, address: str, file: Path) -> None:
    page.goto(address)
    page.get_by_role("slider").focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    lead = page.locator(".lead")
    expect(lead).to_have_text(outlook(read_survey(TEXT.replace("epsilon = 2", "epsilon = 1"))))
    page.get_by_label("People who will answer").fill("400")
    expect(lead).to_contain_text("With 400 people")
    page.get_by_role("button", name="Back to the file").click()
    expect(lead).to_have_text(outlook(read_survey(TEXT), 400))
    assert file.read_text(encoding="utf-8") == TEXT


def test_an_epsilon_that_the_changed_file_cannot_have_is_given_up(page: Page, address: str, file: Path) -> None:
    page.goto(address)
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("was not changed")).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    coins = survey_toml("Coins", question_toml("affair", "yes-no", truth="1/2"))
    file.write_text(coins, encoding="utf-8")
    expect(page.locator(".lead")).to_have_text(outlook(read_survey(coins)))
    expect(page.get_by_role("slider")).to_be_disabled()
    page.wait_for_timeout(300)
    assert sum("figures" in each for each in asked) == 2


def test_axe_finds_nothing_on_the_bench(page: Page, address: str, file: Path) -> None:
    file.write_text(TEXT.replace("epsilon = 2", "epsilon = 3"), encoding="utf-8")
    page.goto(address)
    expect(page.get_by_role("heading", name="To look at")).to_be_visible()
    for details in page.locator("details").all():
        details.locator("summary").click()
    file.write_text("title", encoding="utf-8")
    expect(page.get_by_role("heading", name="Line 1")).to_be_visible()
    for is_dark, width in ((False, 1280), (True, 390)):
        page.emulate_media(color_scheme="dark" if is_dark else "light")
        page.set_viewport_size({"width": width, "height": 800})
        assert violations(page, frames=False) == []  # those of the page in it: test_accessibility.py
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_bench_is_used_by_the_keyboard_alone(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_role("heading", name="To look at")).to_be_visible()
    reached: list[str] = []
    for _ in range(16):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.localName"))
        if reached[-1] == "people":
            page.keyboard.press("ArrowUp")
        if reached[-1] == "summary" and reached.count("summary") == 1:
            page.keyboard.press("Enter")
        if reached[-1] == "pick-scheme":
            page.keyboard.press("ArrowDown")
            break
    wanted = ["people", "epsilon", "summary", "summary", "pick-width", "pick-state", "pick-lang", "pick-scheme"]
    assert [each for each in reached if each in wanted] == wanted
    expect(page.locator(".lead")).to_contain_text("With 1,001 people")
    expect(page.locator("details").first).to_have_attribute("open", "")
    expect(page.frame_locator("iframe").locator("body")).to_have_css("background-color", "rgb(20, 17, 14)")


def test_the_whole_survey_can_be_answered_in_the_preview(page: Page, address: str) -> None:
    page.goto(address)
    shown = page.frame_locator("iframe")
    shown.get_by_role("button", name="Start", exact=True).click()
    shown.get_by_role("radio").first.check()
    shown.get_by_role("button", name="Check my answers").click()
    shown.get_by_role("button", name="Send").click()
    expect(shown.get_by_role("heading", name=HEADINGS["receipt"])).to_be_visible()

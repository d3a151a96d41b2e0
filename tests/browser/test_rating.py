"""Questions of stars: what authors write, and what people see and press."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from deniable import SurveyError, parse_report, read_survey
from deniable_client.answer.asking import answer_from, prompt_of
from tools.rig.browsing import Witness
from tools.rig.collectors import Collector

RATING = """title = "Stars"
[[questions]]
id = "service"
type = "rating"
text = "How was the service?"
stars = 3
ends = [{ default = "poor", ar = "سيئة" }, { default = "excellent", ar = "ممتازة" }]
epsilon = 1
"""


@pytest.mark.parametrize(
    ("language", "labels"),
    [
        ("en", ["1 of 3 stars – poor", "2 of 3 stars", "3 of 3 stars – excellent"]),
        ("ar", ["1 من 3 نجوم – سيئة", "2 من 3 نجوم", "3 من 3 نجوم – ممتازة"]),
    ],
)
def test_stars_are_a_radio_group_for_the_keyboard(
    collector: Collector, page: Page, language: str, labels: list[str]
) -> None:
    survey = read_survey(RATING.replace("Stars", f"Stars {language}"))
    page.set_viewport_size({"width": 320, "height": 900})
    witness = Witness.of(page)
    page.goto(f"{collector.publish(survey)}#lang={language}")
    page.locator("deniable-survey [part=button]").first.click()
    group = page.get_by_role("group", name="How was the service?")
    for label in labels:
        expect(group.get_by_role("radio", name=label, exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    group.get_by_role("radio").first.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(group.get_by_role("radio").last).to_be_checked()
    page.locator("form [part=button]").click()
    expect(page.locator(".review")).to_contain_text(labels[-1])
    page.locator(".review [part=button]").click()
    expect(page.locator("input")).to_have_count(0)
    expect(page.locator("a[href$=results]")).to_be_visible()
    expect(page.locator("h1[tabindex]")).to_be_focused()  # that of the receipt
    [report] = witness.posts()
    assert list(parse_report(report, survey).values) == ["service"]


@pytest.mark.parametrize(("stars", "said"), [("1", "2 to 10, got 1"), ("11", "2 to 10, got 11"), ("5.0", "write 5")])
def test_stars_are_two_to_ten(stars: str, said: str) -> None:
    with pytest.raises(SurveyError, match=f"stars must be .*{said}"):
        read_survey(RATING.replace("stars = 3", f"stars = {stars}"))


def test_a_terminal_asks_for_a_number_of_stars() -> None:
    [asked] = read_survey(RATING).questions
    assert prompt_of(asked) == "Your answer, from 1 to 3: "
    assert answer_from(asked, "2") == "2"

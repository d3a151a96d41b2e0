"""A survey of 40 questions with 8 filters in two languages, answered by the keyboard alone."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, expect

from deniable import read_survey
from tests.browser.test_accessibility import violations
from tools.rig.browsing import Witness
from tools.rig.collectors import Collector
from tools.rig.long_survey import FILTERS, GRIDS, ITEMS, QUESTIONS, forty_questions

KEYS = {"Was nehmen Sie?": "2", "Wie schlafen Sie?": "5", "Gl\u00e4ser?": "3"}
"""What is pressed where it is not 1, by a part of the question."""

STOPS = QUESTIONS - ITEMS + len(GRIDS)
"""What comes up at most where there is room for grids."""


@pytest.mark.long
def test_it_is_answered_by_the_keyboard_alone_in_german(collector: Collector, browser: Browser) -> None:
    """Whoever says no to smoking and work, and takes something to sleep, is asked one of the eight."""
    survey = read_survey(forty_questions())
    assert (len(survey.questions), sum(each.ask_if is not None for each in survey.questions)) == (QUESTIONS, FILTERS)
    context = browser.new_context(locale="de-DE")
    page = context.new_page()
    witness = Witness.of(page)
    page.goto(collector.publish(survey))
    page.locator(".start button").last.press("Enter")
    seen: list[str] = []
    legends = page.locator("fieldset:visible legend")
    position = legends.first
    while legends.count():
        expect(position).not_to_have_text(seen[-1] if seen else "")
        seen.append(position.inner_text())
        if "Gläser" in seen[-1]:
            page.keyboard.press("Tab")  # into the field of a number
        for _ in range(rows := legends.count() - 1):  # those of a grid, whose digits would not say for which row
            page.keyboard.press("Tab")
            page.keyboard.press("Space")
        if not rows:
            page.keyboard.press(next((key for part, key in KEYS.items() if part in seen[-1]), "1"))
        page.keyboard.press("Enter")
        expect(page.locator("fieldset:visible legend, .review h1").first).not_to_have_text(seen[-1])
    assert len(seen) == STOPS - FILTERS + 1
    assert seen[0].startswith(f"Frage 1 von h\u00f6chstens {STOPS}")
    assert violations(page) == []
    page.locator(".review button[part]").last.press("Enter")
    expect(page.locator("a[href$=results]")).to_be_visible()
    (body,) = witness.posts()
    values = json.loads(body)["values"]
    assert list(values) == [each.id for each in survey.questions]
    assert None not in values.values()
    context.close()

"""A place in a real Chromium: page, memory and way apart from the collectors, whatever names these go by."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from apiflask import APIFlask
from playwright.sync_api import BrowserContext, Page, expect

from deniable import Survey
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.settings import Settings
from tools.rig.browsing import ARRIVED, Witness, another_site, answer, remembered
from tools.rig.in_process import ended
from tools.rig.places import box_of, loopback_names, place_in_process, relay_of, sealed_survey, served
from tools.rig.surveys import Clock

CLEAR = [("Clear-Site-Data", '"cache", "cookies", "storage"'), ("Set-Cookie", "name=anybody")]
"""Headers with which a collector would make each visit that of a fresh device."""

NAMES = 3
"""Number of host names by which the collector goes."""


class Rehearsal(NamedTuple):
    """A collector under several names, which clears what it can, and a place."""

    urls: list[str]
    origin: str
    place: APIFlask
    collector: APIFlask
    folder: Path

    def publish(self, title: str) -> Survey:
        """A survey of one question, always the same, answered at the place."""
        survey = replace(sealed_survey(self.folder / "keys", places=(self.origin,)), title=title)
        self.collector.extensions["deniable"]["store"].publish(survey)
        return survey


@pytest.fixture
def both(tmp_path: Path, clock: Clock) -> Iterator[Rehearsal]:
    (tmp_path / "keys").mkdir()
    settings = Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=tmp_path / "keys")
    with ExitStack() as stack:
        collector = stack.enter_context(ended(create_app(tmp_path / "test.db", clock, settings)))
        collector.after_request(lambda response: (response.headers.extend(CLEAR), response)[1])
        urls = [stack.enter_context(served(collector, name)) for name in loopback_names(NAMES)]
        token = create_token(collector.extensions["deniable"]["store"], "place", "relay")
        allowed = dict.fromkeys(urls, token)
        place = stack.enter_context(place_in_process(tmp_path, clock, 2, None, allowed))
        yield Rehearsal(urls, stack.enter_context(served(place, "localhost")), place, collector, tmp_path)


def test_one_draw_and_one_ledger_for_a_collector_of_many_names(both: Rehearsal, context: BrowserContext) -> None:
    """Each name asks the same question under another title; on pages of their own they would be as many devices."""
    page = context.new_page()
    witness = Witness.of(page)
    for number, url in enumerate(both.urls):
        survey = both.publish(f"Title {number}")
        page.goto("about:blank")
        page.goto(f"{both.origin}/#{url}/s/{survey.id}")
        answer(page, survey, {"affair": "yes"})
    assert {request.url.split("/")[2] for request in witness.requests} == {both.origin.partition("//")[2]}
    sent = witness.posts()
    assert len(sent) == NAMES
    assert len({len(each) for each in sent}) == 1
    memory = page.evaluate(remembered())
    assert len(memory["noisy"]) == 1, "one value for the one question"
    values = {json.loads(kept["report"])["values"]["affair"] for kept in memory["reports"].values()}
    assert len(values) == 1
    assert set(memory["told"]) == set(both.urls), "each name stands in the one ledger"
    assert context.cookies() == []
    relay_of(both.place).round()
    for _, collector, waiting in box_of(both.place).surveys():
        assert (collector in both.urls, waiting) == (True, 1)


def test_who_comes_to_the_collector_is_led_to_the_place_and_an_answer_is_not_asked_twice(
    both: Rehearsal, context: BrowserContext
) -> None:
    survey = both.publish("Led")
    page = context.new_page()
    page.goto(f"{both.urls[0]}/s/{survey.id}")
    expect(page.get_by_role("heading", name="This survey is answered at another address")).to_be_visible()
    page.get_by_role("button", name="Go there").click()
    answer(page, survey, {"affair": "no"})
    expect(page.get_by_text("has your sealed reply and cannot open it")).to_be_visible()
    page.goto("about:blank")
    page.goto(f"{both.urls[1]}/s/{survey.id}")
    page.get_by_role("button", name="Go there").click()
    # The same survey under another name: the reply that is there, if somebody wants it to go there, too.
    expect(page.get_by_role("heading", name="This device has already answered this survey.")).to_be_visible()


def test_a_page_that_embeds_the_survey_shows_the_frame_of_its_place(both: Rehearsal, page: Page) -> None:
    survey = both.publish("Framed")
    script = f'<script type="module" src="{both.urls[0]}/client/deniable.js"></script>'
    element = f'<deniable-survey src="{both.urls[0]}/s/{survey.id}"></deniable-survey>'
    with another_site(f"<!doctype html><title>x</title>{script}{element}") as address:
        page.goto(address)
        frame = next(each for each in page.frames if each != page.main_frame) if len(page.frames) > 1 else None
        expect(page.frame_locator("iframe").get_by_role("button", name="Start", exact=True)).to_be_visible()
        frame = frame or page.frames[-1]
        assert frame.url.startswith(f"{both.origin}/#")
        answer(frame, survey, {"affair": "yes"})
        expect(frame.get_by_role("heading", name=ARRIVED)).to_be_visible()


def test_a_memory_that_was_cleared_in_part_is_noticed(both: Rehearsal, context: BrowserContext) -> None:
    first, second = both.publish("First"), both.publish("Second")
    page = context.new_page()
    said = page.get_by_text("This browser has lost what it remembered of surveys.")
    page.goto(f"{both.origin}/#{both.urls[0]}/s/{first.id}")
    answer(page, first, {"affair": "yes"})
    page.goto("about:blank")
    page.goto(f"{both.origin}/#{both.urls[0]}/s/{second.id}")
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    assert said.count() == 0
    page.evaluate(
        """() => new Promise((done, fail) => {
            const request = indexedDB.deleteDatabase("deniable");
            request.onsuccess = done;
            request.onerror = fail;
        })"""
    )
    page.reload()
    expect(said).to_be_visible()

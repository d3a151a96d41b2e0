"""A real Chromium, and collectors for it. Every test of this room is marked `browser`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from deniable import Survey
from tests.support.collectors import start_collector
from tests.support.in_process import app, http, store
from tools.programs import CHROMIUM_FLAGS, chromium
from tools.rig.collectors import Collector, running_collector
from tools.rig.patience import PATIENCE

__all__ = ["app", "http", "start_collector", "store"]

ROOM = Path(__file__).parent

expect.set_options(timeout=PATIENCE * 1000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is in this room: pytest hands over the tests of all rooms."""
    for item in items:
        if item.path.is_relative_to(ROOM):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real Chromium for all tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """One real collector for all tests of the room, because starting it takes longer than most of them.

    What a test counts there is of a survey whose title no other file has, or more than there was before.
    """
    with running_collector(tmp_path_factory.mktemp("collector")) as collector:
        yield collector


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A device of its own: nothing is stored in it yet."""
    context = browser.new_context(viewport={"width": 900, "height": 1000}, locale="en-GB")
    context.set_default_timeout(PATIENCE * 1000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A window on that device."""
    return context.new_page()


@pytest.fixture
def survey(survey: Survey) -> Survey:
    """The survey of all rooms, here with all its questions on a page."""
    return replace(survey, layout="page")


@pytest.fixture
def demo_survey(demo_survey: Survey) -> Survey:
    """The demo's survey, here with all its questions on a page."""
    return replace(demo_survey, layout="page")


@pytest.fixture
def link(collector: Collector, survey: Survey) -> str:
    """Of the survey, at the collector."""
    return collector.publish(survey)

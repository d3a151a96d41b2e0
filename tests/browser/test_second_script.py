"""The second script of a survey: loaded with every survey, run only as it was reviewed, and asked for again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from deniable import Survey, read_survey
from tests.support.marks import long
from tools.rig.browsing import Witness, another_site, answer, wait_for
from tools.rig.collectors import Collector
from tools.rig.survey_files import question_toml, survey_toml

NAME = "deniable-answering.js"
PATTERN = f"**/client/{NAME}"

WITHOUT_PRELOADING = """
    const { supports } = DOMTokenList.prototype;
    DOMTokenList.prototype.supports = function (token) {
      return token !== "modulepreload" && supports.call(this, token);
    };
"""
"""Makes a browser of today one from before `modulepreload`, as Firefox 114 and Safari 16 are."""


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(survey_toml("In two scripts", question_toml("affair", "yes-no", "An affair?", truth="1/2")))


def changed(route: Route) -> None:
    """Another script than the first one holds the hash of, without the `ETag` by which a browser would keep it."""
    response = route.fetch()
    headers = {name: value for name, value in response.headers.items() if name != "etag"}
    route.fulfill(response=response, headers=headers, body=f"globalThis.ran = true;\n{response.text()}")


def of_another_type(route: Route) -> None:
    """The same bytes, as no script."""
    response = route.fetch()
    route.fulfill(response=response, headers={**response.headers, "content-type": "text/plain", "etag": ""})


def blocked(route: Route) -> None:
    """Nothing at all."""
    route.abort()


def asked_for(witness: Witness) -> list[str]:
    """The addresses of the second script, as they were requested."""
    return [each.url for each in witness.requests if NAME in each.url]


def refused_then_answered(page: Page, survey: Survey, witness: Witness) -> None:
    """Nobody is asked without it, and the page says so; then it can be had, and the survey be answered."""
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", name="This survey cannot be loaded")).to_be_visible()
    expect(page.get_by_text("Nothing was sent. Please check your connection and try again.")).to_be_visible()
    assert page.evaluate("globalThis.ran") is None
    assert page.locator("fieldset").count() == 0
    assert witness.posts() == []
    page.unroute(PATTERN)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("An affair?")).to_be_visible()
    page.reload()
    answer(page, survey, {"affair": "yes"})
    assert len(witness.posts()) == 1
    assert {each.rpartition("/")[2] for each in asked_for(witness)} == {NAME}, "the same request at every try"


@pytest.mark.parametrize("fault", [changed, of_another_type, blocked])
def test_no_other_script_runs_and_it_can_be_tried_again(
    collector: Collector, page: Page, survey: Survey, fault: Callable[[Route], None]
) -> None:
    witness = Witness.of(page)
    page.route(PATTERN, fault)
    page.goto(collector.publish(survey))
    refused_then_answered(page, survey, witness)


@pytest.mark.parametrize("fault", [changed, long(blocked)])
def test_browsers_without_preloading_compare_it_too(
    collector: Collector, page: Page, survey: Survey, fault: Callable[[Route], None]
) -> None:
    link = collector.publish(survey)
    element = f'<deniable-survey src="{link}"></deniable-survey>'
    script = f'<script type="module" src="{collector.url}/client/deniable.js"></script>'
    page.add_init_script(WITHOUT_PRELOADING)
    witness = Witness.of(page)
    page.route(PATTERN, fault)
    with another_site(f"<!doctype html><title>x</title>{script}{element}") as address:
        page.goto(address)
        refused_then_answered(page, survey, witness)


def test_start_waits_for_it(collector: Collector, page: Page, survey: Survey) -> None:
    held: list[Route] = []
    page.route(PATTERN, lambda route: held.append(route))  # Playwright takes no method of a list
    page.goto(collector.publish(survey))
    page.get_by_role("button", name="Start", exact=True).dblclick()
    expect(page.get_by_role("heading", name="The questions will be there in a moment …")).to_be_visible()
    wait_for(page, lambda: held, "the second script is asked for")
    (route,) = held
    route.continue_()
    expect(page.locator("fieldset")).to_have_count(1)


def test_two_surveys_on_a_page_load_it_once(collector: Collector, context: BrowserContext, survey: Survey) -> None:
    page = context.new_page()
    witness = Witness.of(page)
    element = f'<deniable-survey src="{collector.publish(survey)}"></deniable-survey>'
    script = f'<script type="module" src="{collector.url}/client/deniable.js"></script>'
    with another_site(f"<!doctype html><title>x</title>{script}{element * 2}") as address:
        page.goto(address)
        starts = page.get_by_role("button", name="Start", exact=True)
        expect(starts).to_have_count(2)
        starts.first.click()
        expect(page.locator("fieldset")).to_have_count(1)
        starts.click()
        expect(page.locator("fieldset")).to_have_count(2)
    assert len(asked_for(witness)) == 1

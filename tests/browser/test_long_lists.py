"""Questions of many options: a field to look for one, which tells nobody anything."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from deniable import read_survey
from tools.rig.browsing import DRUGS, Witness, another_site, let_it_draw, long_survey, scripts
from tools.rig.collectors import Collector

LIST = "form .options label:visible"
FIND = "Search the options"
SCROLLS = "form .options.long"


@pytest.mark.parametrize("kind", ["choice", "ticks"])
def test_many_options_are_narrowed_by_what_somebody_looks_for(collector: Collector, page: Page, kind: str) -> None:
    witness = Witness.of(page)
    page.goto(collector.publish(long_survey(kind)))
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator(LIST)).to_have_count(len(DRUGS) + 2)
    expect(page.get_by_text(f"All {len(DRUGS)} options are listed below.")).to_be_visible()
    assert page.locator(SCROLLS).count() == 1
    find = page.get_by_role("searchbox", name=FIND)
    find.fill("CO")
    shown = page.locator("fieldset").first.locator("label:visible")
    expect(shown).to_have_text(["alcohol", "cocaine", "codeine", "tobacco"])
    expect(page.get_by_role("status").filter(has_text="4 of 16 options are shown.")).to_be_visible()
    shown.get_by_text("cocaine").click()
    find.fill("creme")  # without the accents that somebody may not know how to type
    expect(shown).to_have_text(["café-crème", "cocaine"])  # what is chosen stays in sight
    find.press("Enter")
    expect(page.get_by_role("heading", name="still need")).to_have_count(0)  # it looked for an option, and sent no form
    find.fill("")
    expect(shown).to_have_count(len(DRUGS))
    find.fill("nothing such")
    expect(shown).to_have_text(["cocaine"])
    page.get_by_role("radio", name="No", exact=True).check()
    page.get_by_role("button", name="Check my answers").click()
    expect(page.locator(".review")).to_contain_text("cocaine")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert page.locator("input").count() == 0
    assert len(witness.posts()) == 1


def test_few_options_and_scales_have_no_field_to_search(collector: Collector, page: Page) -> None:
    scale = '[[questions]]\nid = "s"\ntype = "scale"\ntext = "How?"\nlo = 0\nhi = 20\nepsilon = 1\n'
    short = '[[questions]]\nid = "c"\ntype = "choice"\ntext = "Which?"\noptions = {}\nepsilon = 1\n'
    page.goto(collector.publish(read_survey(f'title = "Short"\n{scale}{short.format(DRUGS[:12])}')))
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("fieldset")).to_have_count(2)
    assert page.get_by_role("searchbox").count() == 0


def test_height_of_the_list_does_not_tell_what_somebody_looks_for(collector: Collector, page: Page) -> None:
    link = collector.publish(long_survey("choice"))
    html = f"""<!doctype html><title>x</title><script>window.told = [];
        addEventListener("deniable-resize", ({{ detail }}) => window.told.push(detail.height));</script>
        {scripts(collector)}<deniable-survey src="{link}"></deniable-survey>"""
    with another_site(html) as address:
        page.goto(address)
        page.get_by_role("button", name="Start", exact=True).click()
        expect(page.locator("fieldset")).to_have_count(2)
        find = page.get_by_role("searchbox", name=FIND)
        let_it_draw(page)
        assert page.locator(SCROLLS).count() == 1
        told = page.evaluate("window.told.length")
        for words in ("cocaine", "nothing such", "", "heroin"):
            find.fill(words)
            let_it_draw(page)
        page.get_by_role("radio", name="heroin").check()
        let_it_draw(page)
        assert page.evaluate("window.told.length") == told > 0


def test_what_somebody_looked_for_is_gone_with_the_page(collector: Collector, context: BrowserContext) -> None:
    link = collector.publish(long_survey("choice"))
    elements = (
        f'<deniable-survey src="{link}"></deniable-survey>',
        f'<deniable-question name="drug" src="{link}"></deniable-question>',
    )
    for element in elements:
        page = context.new_page()
        with another_site(f"<!doctype html><title>x</title>{scripts(collector)}{element}") as address:
            page.goto(address)
            if "survey" in element[:16]:
                page.get_by_role("button", name="Start", exact=True).click()
            find = page.get_by_role("searchbox", name=FIND)
            find.fill("heroin")
            page.get_by_role("radio", name="heroin").check()
            page.evaluate("dispatchEvent(new Event('pagehide'))")
            expect(find).to_have_value("")
            expect(page.locator("fieldset").first.locator("label:visible")).to_have_count(len(DRUGS))
            assert page.locator("input:checked").count() == 0


def test_a_way_back_to_a_hidden_option_leads_to_one_that_is_shown(collector: Collector, page: Page) -> None:
    page.goto(collector.publish(long_survey("choice")))
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("radio", name="No", exact=True).check()
    find = page.get_by_role("searchbox", name=FIND)
    find.fill("heroin ")  # as keyboards of phones write it
    page.get_by_role("button", name="Check my answers").click()
    page.get_by_role("button", name="1. Which?").click()
    expect(page.get_by_role("radio", name="heroin")).to_be_focused()
    page.get_by_role("radio", name="heroin").check()
    page.get_by_role("button", name="Check my answers").click()
    page.get_by_role("button", name="Change answer 1").click()
    expect(page.get_by_role("radio", name="heroin")).to_be_focused()
    find.fill("nothing such")
    expect(page.locator("fieldset").first.locator("label:visible")).to_have_text(["heroin"])

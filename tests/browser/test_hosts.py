"""``deniable embed``: what it prints for each host, and that its page of HTML asks as it stands."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from deniable import Survey, read_survey
from deniable_server.authors.snippets import HOSTS, UNTRIED
from deniable_server.web.embedding import bundles
from tools.rig.browsing import another_site
from tools.rig.collectors import Collector
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml

EMBED = CommandLine("embed")

pytestmark = pytest.mark.slow


@pytest.fixture
def survey() -> Survey:
    asked = (
        question_toml("shared", "yes-no", "Together?", group="both"),
        question_toml("other", "yes-no", "Other?", group="both"),
        question_toml("affair", "yes-no", "Have you ever?", epsilon=1),
    )
    return read_survey(survey_toml("Hosts", *asked, groups={"both": {"epsilon": 1}}))


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("asked", [(), ("--question", "affair")])
def test_snippets_pin_link_and_hash_and_say_what_was_not_tried(
    host: str, asked: tuple[str, ...], link: str, collector: Collector
) -> None:
    said = EMBED.ok(link, "--host", host, *asked)
    file, other = ("deniable-question.js", "deniable.js") if asked else ("deniable.js", "deniable-question.js")
    assert bundles()[file] in said
    assert bundles()[other] not in said
    assert link in said
    assert f"; connect-src {collector.url}\n" in said
    assert f"script-src {collector.url}" in said
    assert ("affair" in said) == bool(asked)
    assert (UNTRIED in said) == (host in {"qualtrics", "limesurvey"})
    # A page of one's own has a server of one's own, and nobody else who checks.
    assert ('field_value(survey, "affair", text)' in said) == (host in ("plain", "react", "vue") and bool(asked))


def test_own_folder_serves_the_script_and_survives_upgrades(link: str, collector: Collector) -> None:
    said = EMBED.ok(link, "--own-folder", "/deniable/")
    assert 'src="/deniable/deniable.js"' in said
    assert f"script-src 'self'; connect-src {collector.url} 'self'\n" in said
    second = f"{collector.url}/client/deniable-answering.js"
    assert f"Put {collector.url}/client/deniable.js, {second} into /deniable, and the files of " in said
    assert "(ar, de, en, es, fr, each .json) into /deniable/catalogues.\n" in said


def test_questions_that_a_form_cannot_ask_are_refused(link: str) -> None:
    assert "shares its epsilon with others, so nobody can ask it alone" in EMBED.refused(link, "--question", "shared")
    assert "must be one of the survey (shared, other, affair)" in EMBED.refused(link, "--question", "q7")
    assert "must be its link, such as" in EMBED.refused(link.rpartition("/")[2])


def test_an_isolated_survey_runs_under_the_policy_that_is_named(link: str, collector: Collector, page: Page) -> None:
    said = EMBED.ok(link, "--isolated")
    script, element = (re.search(rf"<{tag}.*?</{tag}>", said, re.DOTALL) for tag in ("script", "deniable-survey"))
    policy = re.search(r"it needs: (.*)", said)
    assert script
    assert element
    assert policy
    assert policy[1] == f"script-src {collector.url}; frame-src {collector.url}"
    html = f"<!doctype html><html lang=en><title>x</title><head>{script[0]}</head><body>{element[0]}</body></html>"
    with another_site(html, {"Content-Security-Policy": f"default-src 'none'; {policy[1]}"}) as address:
        page.goto(address)
        frame = page.frame_locator("iframe")
        frame.get_by_role("button", name="Start", exact=True).click()
        expect(frame.get_by_role("radio").first).to_be_visible()
    assert "--isolated goes with --host plain, react, vue alone, got jspsych" in EMBED.refused(
        link, "--isolated", "--host", "jspsych"
    )


def test_the_frame_of_a_block_runs_under_the_policy_that_is_named(link: str, collector: Collector, page: Page) -> None:
    said = EMBED.ok(link, "--host", "wordpress")
    frame = re.search(r"<iframe.*?</iframe>", said)
    policy = re.search(r"it needs instead: (.*)", said)
    assert frame
    assert policy
    html = f"<!doctype html><html lang=en><title>x</title><body>{frame[0]}</body></html>"
    with another_site(html, {"Content-Security-Policy": f"default-src 'none'; {policy[1]}"}) as address:
        page.goto(address)
        expect(page.frame_locator("iframe").get_by_role("button", name="Start", exact=True)).to_be_visible()
    assert "it needs instead" not in EMBED.ok(link)


@pytest.mark.parametrize("is_own_folder", [False, True], ids=["from the collector", "from a folder elsewhere"])
def test_page_of_html_asks_and_sends_under_the_policy_that_is_named(
    link: str, collector: Collector, page: Page, is_own_folder: bool
) -> None:
    folder = ("--own-folder", f"{collector.url}/client") if is_own_folder else ()
    said = EMBED.ok(link, *folder)
    script, element = (re.search(rf"<{tag}.*?</{tag}>", said, re.DOTALL) for tag in ("script", "deniable-survey"))
    policy = re.search(r"it needs: (.*)", said)
    assert script
    assert element
    assert policy
    html = f"<!doctype html><html lang=en><title>x</title><head>{script[0]}</head><body>{element[0]}</body></html>"
    with another_site(html, {"Content-Security-Policy": f"default-src 'none'; {policy[1]}"}) as address:
        page.goto(address)
        page.get_by_role("button", name="Start", exact=True).click()
        expect(page.get_by_role("radio").first).to_be_visible()

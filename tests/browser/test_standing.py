"""What people are told before Start, so that nobody answers for nothing, and how long a reply waits."""

from __future__ import annotations

import datetime
import json
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from apiflask import APIFlask
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from deniable import Survey
from deniable.access.invitation import hash_of
from deniable_server.store.sqlite.store import SqliteStore
from tests.browser.test_access import UNKNOWN, heading, links, titled
from tests.support.marks import long
from tests.support.ports import noting_connections
from tools.rig import browsing
from tools.rig.access import ANSWERS, Access, invited_survey, publish_to, unlinkable_survey
from tools.rig.collectors import Collector


def close(collector: Collector, survey: Survey) -> None:
    with closing(SqliteStore(collector.database)) as store:
        store.close_survey(survey.id)


def hashed(title: str, results: str = "batches") -> Survey:
    return invited_survey(title=title, results=results)


@pytest.mark.parametrize("access", ["open", "invited"])
def test_a_survey_that_was_closed_by_hand_is_known_before_start_and_nothing_is_sent(
    collector: Collector, page: Page, access: str
) -> None:
    survey = replace(hashed(f"Closed by hand, {access}"), access=access)
    link = collector.publish(survey) if access == "open" else links(collector, survey)[0]
    close(collector, survey)
    witness = browsing.Witness.of(page)
    page.goto(link)
    heading(page, "This survey is closed")
    expect(page.get_by_text("no longer taking replies. You were not asked anything")).to_be_visible()
    expect(page.get_by_role("button", name="Start", exact=True)).to_have_count(0)
    assert witness.posts() == [], "no invitation is asked about either"
    assert page.evaluate(browsing.remembered()) is None


@pytest.mark.parametrize("readers", ["public", "token"])
def test_people_are_led_to_results_that_they_can_open_alone(
    collector: Collector, browser: Browser, page: Page, readers: str
) -> None:
    survey = replace(hashed(f"Read with a {readers}"), access="open", readers=readers)
    link = collector.publish(survey)
    page.goto(link)
    browsing.answer(page, survey, ANSWERS)
    way = page.get_by_role("link", name="See the results")
    expect(way).to_have_count(int(readers == "public"))
    close(collector, survey)
    another = browser.new_context(locale="en-GB").new_page()
    another.goto(link)
    heading(another, "This survey is closed")
    expect(another.get_by_role("link", name="See the results")).to_have_count(int(readers == "public"))
    another.context.close()


def test_a_full_survey_is_known_before_start_and_nothing_is_asked(
    collector: Collector, browser: Browser, page: Page
) -> None:
    survey = replace(hashed("Full"), access="open", closes_at=1)
    link = collector.publish(survey)
    first = browser.new_context(locale="en-GB").new_page()
    first.goto(link)
    browsing.answer(first, survey, ANSWERS)
    first.context.close()
    witness = browsing.Witness.of(page)
    page.goto(link)
    heading(page, "Enough people have already answered")
    expect(page.get_by_text("This survey takes at most 1 replies, and the researchers")).to_be_visible()
    expect(page.get_by_role("button", name="Start", exact=True)).to_have_count(0)
    assert witness.posts() == []
    assert collector.reports(survey) == 1


@pytest.mark.parametrize("end", ["open", "closed"])
def test_a_wrong_clock_closes_no_survey(collector: Collector, page: Page, end: str) -> None:
    """The collector knows the day, and is asked where the device's day says that nobody can answer."""
    today = datetime.date.today()
    days: dict[str, Any] = {"opens": today - datetime.timedelta(9), "closes": today + datetime.timedelta(1)}
    survey = replace(hashed(f"Under a wrong clock, {end}"), access="open", **days)
    link = collector.publish(survey)
    if end == "closed":
        close(collector, survey)
    page.clock.set_fixed_time(datetime.datetime.now() + datetime.timedelta(400))
    page.goto(link)
    if end == "open":
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
        return
    heading(page, "This survey is closed")
    expect(page.get_by_role("link", name="See the results")).to_have_attribute("href", f"{link}/results")
    # Where nobody can be asked, the device's day is all that there is.
    page.route("**/state", lambda route: route.abort())
    page.reload()
    heading(page, "This survey is closed")
    expect(page.get_by_text("It took replies until")).to_be_visible()


@pytest.mark.parametrize("end", ["used", "unknown"])
def test_an_invitation_that_cannot_count_is_known_before_start_by_its_hash_alone(
    collector: Collector, browser: Browser, page: Page, end: str
) -> None:
    survey = hashed(f"Known before Start, {end}")
    (link,) = links(collector, survey)
    if end == "used":
        first = browser.new_context(locale="en-GB").new_page()
        first.goto(link)
        browsing.answer(first, survey, ANSWERS)
        first.reload()
        heading(first, "Thank you. A reply was already given here.")  # its own report: the receipt, as ever
        first.context.close()
    invitation = link[-32:] if end == "used" else UNKNOWN
    witness = browsing.Witness.of(page)
    page.goto(link[:-32] + invitation)
    heading(page, "already been used" if end == "used" else "not known here")
    said = "your reply has arrived and counts" if end == "used" else "You were not asked anything yet."
    expect(page.get_by_text(said)).to_be_visible()
    (asked,) = witness.posts()
    assert json.loads(asked) == {"hash": hash_of(invitation)}
    assert all(invitation not in request.url for request in witness.requests[1:])
    assert collector.reports(survey) <= 1


def test_beside_live_results_nobody_is_asked_about_an_invitation(collector: Collector, page: Page) -> None:
    survey = hashed("Live", "live")
    (link,) = links(collector, survey)
    witness = browsing.Witness.of(page)
    page.goto(link)
    expect(page.get_by_text("No answer is sent before you press Send")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert witness.posts() == []


@pytest.mark.parametrize("access", ["open", "invited", "unlinkable"])
def test_no_screen_says_that_nothing_was_sent_where_an_invitation_was(
    collector: Collector, page: Page, access: str
) -> None:
    if access == "unlinkable":
        survey = titled("unlinkable", "Said truly, by token", results="batches")
    else:
        survey = replace(hashed(f"Said truly, {access}"), access=access)
    link = collector.publish(survey) if access == "open" else links(collector, survey)[0]
    page.goto(link)
    begin = page.get_by_role("button", name="Start", exact=True)
    expect(begin).to_be_visible()
    expect(page.get_by_text("No answer is sent before you press Send")).to_be_visible()  # of answers it is true
    page.get_by_text("Who could learn my answers?").click()
    says = {"invited": "Your device asks the server whether your invitation", "unlinkable": "sends your invitation"}
    if access in says:
        expect(page.get_by_text(says[access])).to_be_visible()
    claims = page.locator("deniable-survey [part~=card]").get_by_text("nothing was sent")
    expect(claims).to_have_count(0)
    begin.click()
    expect(page.get_by_role("button", name="Check my answers")).to_be_visible()
    expect(claims).to_have_count(0)
    expect(page.get_by_text("Your answer leaves this device only when you press Send")).to_have_count(1)


def test_who_presses_start_before_the_collector_has_answered_waits_and_is_asked_nothing(
    collector: Collector, page: Page
) -> None:
    survey = hashed("Pressed at once")
    (link,) = links(collector, survey)
    close(collector, survey)
    held: list[Route] = []
    page.route("**/state", lambda route: held.append(route))
    page.goto(link)
    page.get_by_role("button", name="Start", exact=True).click()
    browsing.wait_for(page, lambda: held, "the state is asked for")
    browsing.let_it_draw(page)
    expect(page.locator("form")).to_have_count(0)
    held[0].continue_()
    heading(page, "This survey is closed")


@pytest.mark.parametrize("access", ["invited", "unlinkable"])
def test_start_is_answered_at_once_and_taken_once_while_the_collector_has_not_answered(
    collector: Collector, page: Page, access: Access
) -> None:
    """Somebody who sees nothing happen presses again, and would be asked twice."""
    survey = titled(access, f"Pressed while it waits, {access}", results="batches")
    (link,) = links(collector, survey)
    held: list[Route] = []
    page.route(f"**/surveys/{survey.id}/state", lambda route: held.append(route))
    witness = browsing.Witness.of(page)
    page.goto(link)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("button", name="Start", exact=True)).to_have_count(0)
    expect(page.get_by_role("heading")).to_be_focused()
    expect(page.locator("form")).to_have_count(0)
    browsing.wait_for(page, lambda: held, "the state is asked for")
    held[0].continue_()
    expect(page.locator("form")).to_be_visible()
    assert len([each for each in witness.requests if each.url.endswith("/tokens")]) == int(access == "unlinkable")
    browsing.choose(page, survey, ANSWERS)
    page.get_by_role("button", name="Check my answers").click()
    page.get_by_role("button", name="Send", exact=True).click()
    heading(page, browsing.ARRIVED)


def test_start_that_waits_asks_nothing_for_the_link_of_somebody_else(collector: Collector, page: Page) -> None:
    survey = titled("unlinkable", "Another link meanwhile")
    mine, another = links(collector, survey, 2)
    held: list[Route] = []
    page.route(f"**/surveys/{survey.id}/state", lambda route: held.append(route))
    witness = browsing.Witness.of(page)
    page.goto(mine)
    page.get_by_role("button", name="Start", exact=True).click()
    browsing.wait_for(page, lambda: held, "the state is asked for")
    page.evaluate("link => { location.href = link; }", another)
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    for each in held:
        each.continue_()
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    assert witness.posts() == [], "no token was bought by the first invitation"


def test_who_pressed_start_hears_that_the_survey_is_closed(collector: Collector, page: Page) -> None:
    survey = hashed("Heard")
    (link,) = links(collector, survey)
    close(collector, survey)
    held: list[Route] = []
    page.route("**/state", lambda route: held.append(route))
    page.goto(link)
    page.get_by_role("button", name="Start", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="Your invitation is being checked")).to_be_focused()
    browsing.wait_for(page, lambda: held, "the state is asked for")
    held[0].continue_()
    heading(page, "This survey is closed")
    expect(page.get_by_role("heading", name="This survey is closed")).to_be_focused()


@pytest.mark.parametrize("status", [long(404), 429, long(500), 0])
def test_a_collector_that_does_not_say_it_is_answered_as_ever(collector: Collector, page: Page, status: int) -> None:
    survey = hashed(f"Status {status}")
    (link,) = links(collector, survey)
    page.route("**/state", lambda route: route.fulfill(status=status, body="{}") if status else route.abort())
    page.goto(link)
    browsing.answer(page, survey, ANSWERS)
    assert collector.reports(survey) == 1


def test_closed_between_start_and_send_says_plainly_that_the_reply_was_sent(collector: Collector, page: Page) -> None:
    survey = hashed("Closed meanwhile")
    (link,) = links(collector, survey)
    page.goto(link)
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    page.wait_for_load_state("networkidle")
    close(collector, survey)
    browsing.press_send(page, survey, ANSWERS)
    heading(page, "This survey is closed")
    expect(
        page.get_by_text(
            "Your device sent your reply, and the server refused it. "
            "Your reply does not count, unless an earlier try had arrived."
        )
    ).to_be_visible()


def test_a_collector_that_asks_for_hours_is_waited_for_through_reloads_and_says_until_when(
    collector: Collector, page: Page, survey: Survey
) -> None:
    link = collector.publish(survey)
    tried: list[bytes] = []

    def busy(route: Route) -> None:
        tried.append(route.request.post_data_buffer or b"")
        route.fulfill(status=429, headers={"Retry-After": "7200"}, body="{}")

    page.clock.install()
    page.goto(link)
    page.route("**/reports", busy)
    page.clock.run_for(100)
    page.get_by_role("button", name="Start", exact=True).click()
    page.clock.run_for(100)
    browsing.choose(page, survey, ANSWERS)
    page.get_by_role("button", name="Check my answers").click()
    page.get_by_role("button", name="Send", exact=True).click()
    heading(page, "Your reply has not arrived yet")
    expect(page.get_by_text("The server is busy and asks your device to wait until")).to_be_visible()
    expect(page.get_by_text("Your device then sends your reply by itself.")).to_be_visible()
    assert len(tried) == 1
    for _ in range(100):
        page.clock.run_for(60_000)
    page.evaluate("dispatchEvent(new Event('online'))")
    assert len(tried) == 1, "nothing before the collector wants it"
    for _ in range(19):
        page.clock.run_for(60_000)
    assert len(tried) == 1, "nor a minute before"
    browsing.run_clock(page, 300, until=lambda: len(tried) > 1)
    assert len(tried) == 2
    page.unroute("**/reports")
    page.reload()
    page.clock.run_for(1_000)
    heading(page, browsing.ARRIVED)
    assert len(set(tried)) == 1
    assert collector.reports(survey) >= 1


def test_the_browser_is_asked_to_keep_what_is_kept_once_somebody_pressed_send(
    collector: Collector, context: BrowserContext, survey: Survey
) -> None:
    context.add_init_script(
        "globalThis.kept = 0; navigator.storage.persist = () => (kept++, Promise.reject(new Error('no')));"
    )
    page = context.new_page()
    witness = browsing.Witness.of(page)
    page.goto(collector.publish(replace(survey, title="Kept")))
    browsing.start(page)
    assert page.evaluate("kept") == 0
    page.reload()
    browsing.answer(page, replace(survey, title="Kept"), ANSWERS)
    assert page.evaluate("kept") == 1
    assert witness.lines == [], "what it answers is ignored"


def test_token_and_report_come_over_connections_of_their_own(
    app: APIFlask, store: SqliteStore, browser: Browser
) -> None:
    """On the collector's own page, whatever a proxy keeps open."""
    survey = unlinkable_survey(opens=None, closes=None)
    people = publish_to(store, survey, 3)
    with noting_connections(app, may_close=False) as (url, seen):
        for invitation in people:
            context = browser.new_context(locale="en-GB")
            page = context.new_page()
            page.goto(f"{url}/s/{survey.id}#invitation={invitation}")
            browsing.answer(page, survey, ANSWERS)
            context.close()
    tokens, reports = ({port for port, asked in seen if asked == what} for what in ("tokens", "reports"))
    assert (len(tokens), len(reports)) == (3, 3)
    assert tokens.isdisjoint(reports)

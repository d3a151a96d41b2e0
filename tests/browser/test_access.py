"""Who may be counted, in a real Chromium: by invitation and by blind token, once whatever happens on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Frame, Page, Request, Route, expect

from deniable import Survey, parse_report, read_survey
from deniable.survey.completion import Completion
from deniable_server.store.sqlite.store import SqliteStore
from tests.browser.test_accessibility import violations
from tests.support.marks import long
from tools.rig import browsing
from tools.rig.access import (
    ANSWERS,
    invite,
    invited_survey,
    key_number,
    publish,
    report_for,
    store_one,
    unlinkable_survey,
)
from tools.rig.collectors import Collector, running_issuer
from tools.rig.patience import PATIENCE
from tools.rig.surveys import SURVEY

PHONE = {"width": 360, "height": 700}
UNKNOWN = "ab" * 16
ANSWERED = "Thank you. A reply was already given here."

NUMBERS: dict[str, int] = {}
"""Which of the tests' keys signs for a survey: a key serves one only."""


@pytest.fixture
def phone(browser: Browser) -> Iterator[BrowserContext]:
    """The device of one person."""
    context = browser.new_context(viewport=PHONE, locale="en-GB")  # type: ignore[arg-type]  # a literal of two numbers
    context.set_default_timeout(PATIENCE * 1000)
    yield context
    context.close()


def links(collector: Collector, survey: Survey, n: int = 1) -> list[str]:
    """Publish a survey under a title of its own; the links of so many who are invited."""
    with closing(SqliteStore(collector.database)) as store:
        publish(store, survey, number=NUMBERS.get(survey.id, 0))
        made = invite(store, survey, n)
    return [f"{collector.url}/s/{survey.id}#invitation={each}" for each in made]


def titled(access: str, title: str, **more: Any) -> Survey:
    """A survey of the tests, another one for each title, with a key of its own where it needs one."""
    if access == "invited":
        return invited_survey(title=title, **more)
    number = len(NUMBERS) + 10
    survey = unlinkable_survey(number, title=title, **more)
    NUMBERS[survey.id] = number
    return survey


def asked_for(requests: list[Request]) -> list[str]:
    """The blinded messages that were sent."""
    sent = [
        request.post_data_json for request in requests if request.url.endswith("/tokens") and request.method == "POST"
    ]
    return [each["blinded"] for each in sent]


def heading(page: Page | Frame, text: str) -> None:
    expect(page.get_by_role("heading", name=text)).to_be_visible()


def test_an_open_survey_says_that_nothing_keeps_people_from_answering_twice(
    collector: Collector, phone: BrowserContext
) -> None:
    survey = replace(read_survey(SURVEY), title="Open to all")
    page = phone.new_page()
    witness = browsing.Witness.of(page)
    page.goto(f"{collector.publish(survey)}#invitation={UNKNOWN}")
    expect(page.get_by_text("Anyone with this link can answer")).to_be_visible()
    browsing.answer(page, survey, ANSWERS)
    (report,) = witness.posts()
    assert list(json.loads(report)) == ["id", "cohort", "values"]
    assert UNKNOWN not in report.decode() + "".join(request.url for request in witness.requests)


def test_whoever_leaves_no_trace_hears_that_the_invitation_is_used_up_at_start(
    collector: Collector, phone: BrowserContext
) -> None:
    survey = titled("unlinkable", "No trace of a token")
    page = phone.new_page()
    page.goto(links(collector, survey)[0])
    expect(page.locator(".list").get_by_text("Your invitation counts once.")).to_be_visible()
    page.get_by_text("What if I stop half-way?").click()
    expect(page.get_by_text("You can open your link on this device again later")).to_be_visible()
    page.get_by_text("If somebody else looks at this device").click()
    page.get_by_label("Remember nothing of this survey on this device").check()
    said = page.get_by_text("Once you press Start, your invitation is used up")
    expect(said).to_have_count(2)  # below the box, and in the place of what holds otherwise
    expect(page.get_by_text("You can open your link on this device again later")).to_have_count(0)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("radio").first).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Start", exact=True).click()
    heading(page, "This invitation has already been used")


@pytest.mark.parametrize("access", ["invited", "unlinkable"])
def test_the_whole_path_on_a_phone_by_keyboard_alone(access: str, collector: Collector, phone: BrowserContext) -> None:
    survey = titled(access, f"By keyboard, {access}")
    (link,) = links(collector, survey)
    invitation = link[-32:]
    page = phone.new_page()
    witness = browsing.Witness.of(page)
    page.goto(link)
    heading(page, survey.title)
    says = {
        "invited": "The server does not store which reply came with which invitation",
        "unlinkable": "cannot see which reply came with your invitation",
    }[access]
    expect(page.get_by_text(says)).to_be_visible()
    page.get_by_text("Who could learn my answers?").click()
    expect(
        page.get_by_text(
            "Whoever sent you the invitation may know that it is yours, and can learn from the server that it was used"
            if survey.access == "invited"
            else "somebody who was invited has answered"
        )
    ).to_be_visible()
    expect(page.get_by_text("No answer is sent before you press Send")).to_be_visible()
    sends = page.get_by_text("When you press Start, your device sends your invitation")
    expect(sends).to_have_count(1 if access == "unlinkable" else 0)
    assert violations(page) == []
    start = page.get_by_role("button", name="Start", exact=True).bounding_box()
    assert start
    assert start["y"] + start["height"] <= PHONE["height"]
    assert [request for request in witness.requests if request.method != "GET"] == [], "before Start nothing is sent"
    page.get_by_role("button", name="Start", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator("form > .stack > button")).to_be_visible()
    expect(page.locator("h1").last).to_be_focused()
    assert violations(page) == []
    for text in ("affair", "religious"):
        question = next(each for each in survey.questions if each.id == text)
        options = [ANSWERS[text].capitalize()] if question.type == "yes-no" else [ANSWERS[text]]
        radio = (
            page.locator("fieldset").filter(has_text=question.text).get_by_role("radio", name=options[0], exact=True)
        )
        radio.focus()
        page.keyboard.press("Space")
    page.get_by_role("button", name="Check my answers").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".review h1")).to_be_focused()
    page.get_by_role("button", name="Send", exact=True).focus()
    page.keyboard.press("Enter")
    heading(page, browsing.ARRIVED)
    used = {"invited": "Your invitation has now been used", "unlinkable": "nobody can tell which reply is yours"}[
        access
    ]
    page.get_by_text(browsing.MORE).click()
    expect(page.get_by_text(used)).to_be_visible()
    page.locator("deniable-survey").get_by_text("For experts").click()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "scrolls sideways"
    *before, sent = witness.posts()
    report = parse_report(sent, survey)
    assert list(json.loads(sent))[-1] == "credential"
    assert collector.reports(survey) == 1
    if access == "invited":
        assert before == []
        assert report.credential == invitation
    else:
        (asked,) = map(json.loads, before)
        assert asked["invitation"] == invitation
        kept = browsing.everything_kept(page)
        assert str(report.credential) in kept
        assert invitation not in sent.decode()
        assert asked["blinded"] not in kept, "nothing at rest links what the issuer saw to the report"
    assert not any(invitation in request.url for request in witness.requests)
    assert witness.lines == []


def test_another_persons_invitation_shows_no_way_back(collector: Collector, phone: BrowserContext) -> None:
    """A second person at the same device would be paid for the reply of the first."""
    survey = titled("invited", "Paid", completion=Completion(code="C1AB"))
    mine, anothers = links(collector, survey, 2)
    page = phone.new_page()
    page.goto(mine)
    browsing.answer(page, survey, ANSWERS)
    page.reload()
    heading(page, ANSWERED)
    expect(page.get_by_role("button", name="Show my code")).to_be_visible()
    page.goto("about:blank")
    page.goto(anothers)
    heading(page, ANSWERED)
    expect(page.get_by_text("That reply has arrived, and there is nothing left to do.")).to_be_visible()
    expect(page.get_by_role("button", name="Show my code")).to_have_count(0)


@pytest.mark.parametrize("access", [long("invited"), "unlinkable"])
def test_a_link_without_an_invitation_is_refused_before_anything_is_asked(
    access: str, collector: Collector, phone: BrowserContext
) -> None:
    survey = titled(access, f"Without, {access}")
    (link,) = links(collector, survey)
    page = phone.new_page()
    witness = browsing.Witness.of(page)
    for end in ("", "#invitation=", f"#invitation={link[-32:-1]}"):
        page.goto("about:blank")
        page.goto(link.split("#")[0] + end)
        expect(page.get_by_text("please use the link of your own invitation")).to_be_visible()
        assert page.get_by_role("button", name="Start", exact=True).count() == 0
    assert violations(page) == []
    assert witness.posts() == []
    page.evaluate("link => location.replace(link)", link)  # the same page: only what stands behind the # is new
    browsing.answer(page, survey, ANSWERS)


def test_a_token_is_bought_before_anything_is_asked_or_the_refusal_said(
    collector: Collector, phone: BrowserContext, browser: Browser
) -> None:
    survey = titled("unlinkable", "Refused at the start")
    (link,) = links(collector, survey)
    page = phone.new_page()
    page.goto(f"{link[:-32]}{UNKNOWN}")
    page.get_by_role("button", name="Start", exact=True).click()
    heading(page, "This invitation is not known here")
    expect(page.locator("h1").last).to_be_focused()
    assert page.locator("fieldset").count() == 0
    assert violations(page) == []
    page.evaluate("link => location.replace(link)", link)
    page.reload()
    browsing.answer(page, survey, ANSWERS)
    other = browser.new_context(locale="en-GB")
    second = other.new_page()
    second.goto(link)
    second.get_by_role("button", name="Start", exact=True).click()
    heading(second, "This invitation has already been used")
    expect(second.get_by_text("You were not asked anything yet")).to_be_visible()
    expect(second.locator("h1").last).to_be_focused()
    assert second.locator("fieldset").count() == 0
    assert violations(second) == []
    other.close()
    assert collector.reports(survey) == 1


def test_an_invitation_that_was_used_or_is_unknown_is_said_when_the_report_is_refused(
    collector: Collector, browser: Browser
) -> None:
    survey = titled("invited", "Refused at the end")
    (link,) = links(collector, survey)
    for end, title in [(link[-32:], browsing.ARRIVED), (link[-32:], "already been used"), (UNKNOWN, "not known here")]:
        context = browser.new_context(locale="en-GB")
        page = context.new_page()
        page.goto(link[:-32] + end)
        browsing.press_send(page, survey, ANSWERS)
        heading(page, title)
        assert violations(page) == []
        context.close()
    assert collector.reports(survey) == 1


@pytest.mark.parametrize("wrong", ["unknown", "used"])
def test_a_report_that_was_refused_takes_the_invitation_of_the_next_link_once_somebody_presses_send(
    collector: Collector, phone: BrowserContext, wrong: str
) -> None:
    survey = titled("invited", f"Mistyped, then right: {wrong}")
    link, other = links(collector, survey, 2)
    if wrong == "used":
        with closing(SqliteStore(collector.database)) as store:
            store_one(store, report_for(survey, other[-32:]), survey)
    before = collector.reports(survey)
    page = phone.new_page()
    witness = browsing.Witness.of(page)
    page.goto(link[:-32] + (other[-32:] if wrong == "used" else UNKNOWN))
    browsing.press_send(page, survey, ANSWERS)
    heading(page, "already been used" if wrong == "used" else "not known here")
    assert len(witness.posts()) == 1
    page.goto(link)
    heading(page, ANSWERED)
    assert violations(page) == []
    assert len(witness.posts()) == 1, "the link may be somebody else's"
    page.get_by_role("button", name="Send", exact=True).click()
    heading(page, browsing.ARRIVED)
    assert collector.reports(survey) == before + 1
    refused, taken = map(json.loads, witness.posts())
    assert taken == refused | {"credential": link[-32:]}, "the same id and values, which count once"
    page.reload()
    heading(page, ANSWERED)
    page.get_by_text(browsing.MORE).click()
    page.locator("deniable-survey").get_by_text("For experts").click()
    expect(page.get_by_text(link[-32:])).to_be_visible()
    assert len(witness.posts()) == 2


def test_a_link_in_the_place_of_another_one_is_the_one_that_counts(collector: Collector, phone: BrowserContext) -> None:
    """Only the fragment changes, so the browser loads nothing anew."""
    survey = titled("unlinkable", "Pasted")
    (link,) = links(collector, survey)
    page = phone.new_page()
    witness = browsing.Witness.of(page)
    page.goto(link[:-32] + UNKNOWN)
    page.get_by_role("button", name="Start", exact=True).click()
    heading(page, "not known here")
    page.goto(link)
    browsing.answer(page, survey, ANSWERS)
    used = [json.loads(each).get("invitation") for each in witness.posts()]
    assert used == [UNKNOWN, link[-32:], None]


def test_links_of_two_people_in_one_browser_have_a_token_each(
    collector: Collector, browser: Browser, phone: BrowserContext
) -> None:
    survey = titled("unlinkable", "Two people, one browser")
    hers, his = links(collector, survey, 2)
    page = phone.new_page()
    page.goto(hers)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("fieldset").first).to_be_visible()
    page.goto(his)
    browsing.answer(page, survey, ANSWERS)
    assert [*page.evaluate(browsing.remembered())["tokens"]] == [f"{survey.id}:{hers[-32:]}"]
    elsewhere = browser.new_context(locale="en-GB")
    page = elsewhere.new_page()
    page.goto(his)
    page.get_by_role("button", name="Start", exact=True).click()
    heading(page, "already been used")
    elsewhere.close()
    assert collector.reports(survey) == 1


def test_nobody_is_told_that_an_invitation_was_used_which_was_not(collector: Collector, phone: BrowserContext) -> None:
    survey = titled("invited", "Two people, one device")
    mine, anothers = links(collector, survey, 2)
    page = phone.new_page()
    used = page.get_by_text("Your invitation has now been used")
    page.goto(mine)
    browsing.answer(page, survey, ANSWERS)
    page.get_by_text(browsing.MORE).click()
    expect(used).to_be_visible()
    page.goto(anothers)
    heading(page, ANSWERED)
    expect(used).to_have_count(0)
    page.goto(mine)
    page.get_by_text(browsing.MORE).click()
    expect(used).to_be_visible()


def test_two_tabs_with_two_invitations_say_which_report_counts(collector: Collector, phone: BrowserContext) -> None:
    survey = titled("invited", "Two tabs, two invitations")
    hers, his = links(collector, survey, 2)
    tabs = [phone.new_page(), phone.new_page()]
    for tab, link in zip(tabs, (hers, his), strict=True):
        tab.goto(link)
        tab.get_by_role("button", name="Start", exact=True).click()
        expect(tab.locator("form > .stack > button")).to_be_visible()
    for tab, title in zip(tabs, (browsing.ARRIVED, ANSWERED), strict=True):
        browsing.choose(tab, survey, ANSWERS)
        tab.get_by_role("button", name="Check my answers").click()
        tab.get_by_role("button", name="Send", exact=True).click()
        heading(tab, title)
    assert collector.reports(survey) == 1
    tabs[1].get_by_text(browsing.MORE).click()
    tabs[1].locator("deniable-survey").get_by_text("For experts").click()
    expect(tabs[1].get_by_text(hers[-32:])).to_be_visible()


def test_no_crash_reload_or_second_tab_buys_two(collector: Collector, phone: BrowserContext) -> None:
    survey = titled("unlinkable", "Bought once")
    (link,) = links(collector, survey)
    requests: list[Request] = []
    phone.on("request", lambda request: requests.append(request))
    page = phone.new_page()
    path = f"**/surveys/{survey.id}/tokens"
    page.route(path, lambda route: route.abort())  # it left this device, and then the network was gone
    page.goto(link)
    with page.expect_request(path):
        page.get_by_role("button", name="Start", exact=True).click()
    page.close()
    page = phone.new_page()

    def lose(route: Route) -> None:
        assert route.fetch().status == 200  # signed, and lost on the way back
        route.fulfill(status=500, body="{}")

    page.route(path, lose)
    page.goto(link)
    page.get_by_role("button", name="Start", exact=True).click()
    heading(page, "This survey cannot be loaded")
    page.locator("deniable-survey").get_by_text("For experts").click()
    expect(page.get_by_text("answered with status 500")).to_be_visible()
    page.unroute(path)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("form > .stack > button")).to_be_visible()
    tabs = [page, phone.new_page(), phone.new_page()]
    for tab in tabs[1:]:
        tab.goto(link)
        tab.get_by_role("button", name="Start", exact=True).click()
        expect(tab.locator("form > .stack > button")).to_be_visible()
    assert len(asked_for(requests)) >= 3
    assert len(set(asked_for(requests))) == 1
    for tab, title in zip(tabs, (browsing.ARRIVED, ANSWERED, ANSWERED), strict=True):
        browsing.choose(tab, survey, ANSWERS)
        tab.get_by_role("button", name="Check my answers").click()
        tab.get_by_role("button", name="Send", exact=True).click()
        heading(tab, title)
    sent = {request.post_data for request in requests if request.url.endswith("/reports")}
    assert len(sent) == 1
    assert collector.reports(survey) == 1
    assert page.evaluate(browsing.remembered())["tokens"] == {}


def test_a_kept_token_needs_no_issuer_again(collector: Collector, phone: BrowserContext) -> None:
    survey = titled("unlinkable", "Kept")
    (link,) = links(collector, survey)
    page = phone.new_page()
    page.goto(link)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("fieldset").first).to_be_visible()
    page.route("**/tokens", lambda route: route.abort())
    page.reload()
    browsing.answer(page, survey, ANSWERS)


def test_a_damaged_token_is_never_sent(collector: Collector, phone: BrowserContext) -> None:
    survey = titled("unlinkable", "Damaged")
    (link,) = links(collector, survey)
    page = phone.new_page()
    page.goto(link)
    browsing.start(page)
    ((key, kept),) = page.evaluate(browsing.remembered())["tokens"].items()
    assert {"message", "salt", "inverse", "signature"} <= set(kept)
    witness = browsing.Witness.of(page)
    for part in ("message", "salt", "inverse", "signature"):
        damaged = kept | {part: kept[part].translate(str.maketrans("0123456789", "9876543210"))}
        assert damaged != kept
        page.evaluate(browsing.remembered(f"state.tokens = {json.dumps({key: damaged})}; return state"))
        page.reload()
        page.get_by_role("button", name="Start", exact=True).click()
        heading(page, "Please do not answer this survey")
        assert witness.posts() == [], part
        assert page.locator("fieldset").count() == 0


def test_a_signature_of_another_key_is_no_token(collector: Collector, phone: BrowserContext) -> None:
    survey = titled("unlinkable", "Dishonest")
    (link,) = links(collector, survey)
    page = phone.new_page()
    witness = browsing.Witness.of(page)

    def sign_otherwise(route: Route) -> None:
        blinded = bytes.fromhex(route.request.post_data_json["blinded"])
        # Below the modulus of whatever key; one of the two may be the larger one.
        route.fulfill(json={"signature": key_number(1).blind_sign(bytes(1) + blinded[1:]).hex()})

    page.route("**/tokens", sign_otherwise)
    page.goto(link)
    page.get_by_role("button", name="Start", exact=True).click()
    heading(page, "Please do not answer this survey")
    assert violations(page) == []
    assert [request.url.rsplit("/", 1)[1] for request in witness.requests if request.method == "POST"] == ["tokens"]


def test_an_issuer_elsewhere_signs_and_its_absence_is_said(
    collector: Collector, phone: BrowserContext, tmp_path: Any
) -> None:
    page = phone.new_page()
    witness = browsing.Witness.of(page)
    with running_issuer(tmp_path / "issuer.db") as issuer:
        survey = titled("unlinkable", "Signed elsewhere", url=issuer.url)
        collector.publish(survey)
        with closing(SqliteStore(issuer.database)) as store:
            publish(store, survey, number=NUMBERS[survey.id])
            (invitation,) = invite(store, survey, 1)
        held: list[Route] = []
        page.route("**/tokens", lambda route: route.abort() if held and held[0] != route else held.append(route))
        page.add_init_script(browsing.HASTE)
        page.goto(f"{collector.url}/s/{survey.id}#invitation={invitation}")
        page.get_by_role("button", name="Start", exact=True).click()
        expect(page.get_by_text("Your invitation is being checked")).to_be_visible()
        browsing.wait_for(page, lambda: held, "a token is asked for")
        held[0].abort()
        heading(page, "This survey cannot be loaded")
        page.locator("deniable-survey").get_by_text("For experts").click()
        expect(page.get_by_text(f"{issuer.url}: cannot be reached")).to_be_visible()
        expect(page.get_by_text("Nothing was sent.", exact=True)).to_have_count(0)  # the invitation may have been
        assert page.locator("fieldset").count() == 0
        assert violations(page) == []
        page.unroute("**/tokens")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("form > .stack > button")).to_be_visible()
    browsing.choose(page, survey, ANSWERS)  # without the issuer, and the collector never met the invitation
    page.get_by_role("button", name="Check my answers").click()
    page.get_by_role("button", name="Send", exact=True).click()
    heading(page, browsing.ARRIVED)
    ours = [
        request for request in witness.requests if request.method == "POST" and request.url.startswith(collector.url)
    ]
    assert [invitation in str(request.post_data) for request in ours] == [False]


@pytest.mark.parametrize("access", [long("invited"), "unlinkable"])
def test_frames_of_isolated_surveys_get_the_invitation(
    access: str, collector: Collector, phone: BrowserContext
) -> None:
    survey = titled(access, f"Framed, {access}")
    (link,) = links(collector, survey)
    html = (
        f"<!doctype html><title>x</title>{browsing.scripts(collector)}"
        f'<deniable-survey src="{link}" isolated></deniable-survey>'
    )
    with browsing.another_site(html) as site:
        page = phone.new_page()
        page.goto(site)
        frame = page.locator("deniable-survey iframe").element_handle().content_frame()
        assert frame
        browsing.answer(frame, survey, ANSWERS)
    assert collector.reports(survey) == 1


def test_a_kiosk_buys_for_each_person_and_forgets_them(collector: Collector, phone: BrowserContext) -> None:
    survey = titled("unlinkable", "Kiosk")
    first, second = links(collector, survey, 2)
    page = phone.new_page()
    witness = browsing.Witness.of(page)
    page.goto(first)
    for link in (first, second):
        with browsing.another_site(
            f"<!doctype html><title>x</title>{browsing.scripts(collector)}"
            f'<deniable-survey src="{link}" kiosk></deniable-survey>'
        ) as site:
            page.goto(site)
            page.get_by_role("button", name="Start", exact=True).click()
            expect(page.locator("form > .stack > button")).to_be_visible()
            page.reload()
            browsing.answer(page, survey, ANSWERS)
            assert page.evaluate(browsing.remembered())["tokens"] == {}
            assert page.evaluate(browsing.remembered())["reports"] == {}
            page.get_by_role("button", name="Next person").click()
            page.get_by_role("button", name="Start", exact=True).click()
            heading(page, "This invitation has already been used")
    assert collector.reports(survey) == 2
    # Bought once each; and each time a try with what is used by now.
    assert len(set(asked_for(witness.requests))) == 4


def test_a_kiosk_keeps_a_report_that_a_proxy_refused(collector: Collector, phone: BrowserContext) -> None:
    survey = titled("unlinkable", "Kiosk behind a proxy")
    (link,) = links(collector, survey)
    page = phone.new_page()
    markup = f'<deniable-survey src="{link}" kiosk></deniable-survey>'
    with browsing.another_site(f"<!doctype html><title>x</title>{browsing.scripts(collector)}{markup}") as site:
        page.route("**/reports", lambda route: route.abort())
        page.goto(site)
        with page.expect_event("requestfailed", lambda request: request.url.endswith("/reports")):
            browsing.press_send(page, survey, ANSWERS)
        page.unroute("**/reports")
        page.route("**/reports", lambda route: route.fulfill(status=403, content_type="text/html", body="<html>"))
        with page.expect_response("**/reports"):
            page.reload()
        expect(page.get_by_text("One reply of another person waits on this device")).to_be_visible()
        page.unroute("**/reports")
        with page.expect_response("**/reports"):
            page.reload()
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    assert collector.reports(survey) == 1


@pytest.mark.parametrize("languages", [("ar", "de"), long(("es", "fr"))])
@pytest.mark.parametrize("access", ["invited", "unlinkable"])
def test_every_language_has_the_words_on_a_narrow_screen(
    access: str, languages: tuple[str, ...], collector: Collector, phone: BrowserContext
) -> None:
    survey = titled(access, f"Words, {access}, {languages}")
    (link,) = links(collector, survey)
    page = phone.new_page()
    for language in languages:
        page.goto("about:blank")
        page.goto(f"{link}&lang={language}")
        element = page.locator("deniable-survey")
        words = page.evaluate(f"fetch('/client/catalogues/{language}.json').then((r) => r.json())")
        expect(element.get_by_text(words[access])).to_be_visible()
        element.get_by_text(words["who"]).click()
        expect(element.get_by_text(words[f"{access}Text"])).to_be_visible()
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

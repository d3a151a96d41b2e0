"""A place in a real Chromium: page, memory and way apart from the collectors, whatever names these go by."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from apiflask import APIFlask
from playwright.sync_api import Browser, BrowserContext, Frame, Page, expect

from deniable import Survey, read_survey
from deniable_client.audit.promises import sentence
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.settings import Settings
from tools.rig.access import publish_to, unlinkable_survey
from tools.rig.browsing import ARRIVED, HASTE, MORE, REVIEW, Witness, another_site, answer, choose, remembered
from tools.rig.in_process import ended
from tools.rig.places import box_of, cut, loopback_names, place_in_process, relay_of, sealed_survey, served
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import Clock

CLEAR = [("Clear-Site-Data", '"cache", "cookies", "storage"'), ("Set-Cookie", "name=anybody")]
"""Headers with which a collector would make each visit that of a fresh device."""

OTHERS = [("Clear-Site-Data", '"*"'), ("Set-Cookie", "a=b; SameSite=None; Max-Age=9"), ("Refresh", "0; url=/none")]
OTHERS += [("ETag", '"somebody"'), ("Alt-Svc", 'h3=":1"'), ("NEL", '{"report_to":"a","max_age":9}')]
"""More of them, by which the collector would know somebody again, or lead them elsewhere."""

REFUSED = "To protect you, your device does not take part here"

NAMES = 3
"""Number of host names by which the collector goes."""


class Rehearsal(NamedTuple):
    """A collector under several names, which clears what it can, and a place."""

    urls: list[str]
    origin: str
    place: APIFlask
    collector: APIFlask
    folder: Path

    def publish(self, title: str, base: Survey | None = None) -> Survey:
        """A survey that is answered at the place, by default of one question, always the same."""
        survey = replace(sealed_survey(self.folder / "keys", base, places=(self.origin,)), title=title)
        self.collector.extensions["deniable"]["store"].publish(survey)
        return survey


@contextmanager
def rehearsal(
    folder: Path, clock: Clock, names: list[str], headers: list[tuple[str, str]] = CLEAR
) -> Iterator[Rehearsal]:
    """A collector that answers under each of the names, on a port of its own and with these headers, and a place."""
    (folder / "keys").mkdir()
    settings = Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=folder / "keys")
    with ExitStack() as stack:
        collector = stack.enter_context(ended(create_app(folder / "test.db", clock, settings)))
        collector.after_request(lambda response: (response.headers.extend(headers), response)[1])
        urls = [stack.enter_context(served(collector, name)) for name in names]
        token = create_token(collector.extensions["deniable"]["store"], "place", "relay")
        allowed = dict.fromkeys(urls, token)
        place = stack.enter_context(place_in_process(folder, clock, 2, None, allowed))
        yield Rehearsal(urls, stack.enter_context(served(place, "localhost")), place, collector, folder)


@pytest.fixture
def both(tmp_path: Path, clock: Clock) -> Iterator[Rehearsal]:
    with rehearsal(tmp_path, clock, loopback_names(NAMES)) as both:
        yield both


def test_one_draw_and_one_ledger_for_a_collector_of_many_names(both: Rehearsal, context: BrowserContext) -> None:
    one_draw_and_one_ledger(both, context)


@pytest.mark.long
def test_one_draw_and_one_ledger_for_twelve_names_and_five_ports(
    tmp_path: Path, clock: Clock, context: BrowserContext
) -> None:
    names = loopback_names(12)
    with rehearsal(tmp_path, clock, [*names, *[names[0]] * 5], OTHERS) as both:
        assert len(set(both.urls)) == 17
        one_draw_and_one_ledger(both, context)


@pytest.mark.long
def test_on_its_own_pages_a_collector_draws_anew_by_a_header_and_under_each_name(
    both: Rehearsal, context: BrowserContext
) -> None:
    """What a place mends is there to be mended."""
    survey = replace(sealed_survey(both.folder / "keys", places=()), sealed=None)
    both.collector.extensions["deniable"]["store"].publish(survey)
    page = context.new_page()
    ids = []
    for url in (both.urls[0], both.urls[0], both.urls[1]):
        page.goto("about:blank")
        page.goto(f"{url}/s/{survey.id}")
        with page.expect_request("**/reports") as sending:
            answer(page, survey, {"affair": "yes"})
        ids.append(json.loads(sending.value.post_data or "")["id"])
    assert len(set(ids)) == 3
    assert both.collector.extensions["deniable"]["store"].waiting(survey) == {None: 3}


def one_draw_and_one_ledger(both: Rehearsal, context: BrowserContext) -> None:
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
    assert len(sent) == len(both.urls)
    assert len({len(each) for each in sent}) == 1
    memory = page.evaluate(remembered())
    assert len(memory["noisy"]) == 1, "one value for the one question"
    values = {json.loads(kept["report"])["values"]["affair"] for kept in memory["reports"].values()}
    assert len(values) == 1
    assert set(memory["told"]) == set(both.urls), "each name stands in the one ledger"
    assert context.cookies() == []
    relay_of(both.place).round()
    for _, _, collector, waiting in box_of(both.place).slots():
        assert (collector in both.urls, waiting) == (True, 1)


def test_what_the_first_screen_of_a_place_says_of_requests_and_memory_is_so(both: Rehearsal, page: Page) -> None:
    survey = both.publish("Words")
    witness = Witness.of(page)
    page.goto(f"{both.origin}/#{both.urls[0]}/s/{survey.id}")
    first = page.locator("deniable-survey")
    for name, where in (("atPlace", "place"), ("nothingYet", "start"), ("leave", "start")):
        said = sentence(name, where).replace("{place}", both.origin.partition("//")[2])
        expect(first.get_by_text(said)).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()
    choose(page, survey, {"affair": "yes"})
    page.get_by_role("button", name=REVIEW).click()
    assert witness.posts() == [], "nothing is sent before Send"
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0, "and nothing kept"
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()
    expect(first.get_by_text(sentence("passedOn", "place").partition("{place}")[2])).to_be_visible()
    (sealed,) = witness.posts()
    assert b"affair" not in sealed, "nobody on the way reads it"
    assert {request.url.split("/")[2] for request in witness.requests} == {both.origin.partition("//")[2]}
    assert [waiting for *_, waiting in box_of(both.place).slots()] == [1], "it waits for others"


@pytest.mark.long
def test_the_ceiling_holds_for_six_questions_of_invented_collectors_on_one_page(
    tmp_path: Path, clock: Clock, page: Page
) -> None:
    """Six frames of the place stand on one page, all of them started before one is answered."""
    with rehearsal(tmp_path, clock, loopback_names(6)) as both:
        surveys = [both.publish(f"Title {number}", nearly_all_of_a_question(number)) for number in range(6)]
        script = f'<script type="module" src="{both.urls[0]}/client/deniable.js"></script>'
        elements = "".join(
            f'<deniable-survey src="{url}/s/{survey.id}"></deniable-survey>'
            for url, survey in zip(both.urls, surveys, strict=True)
        )
        with another_site(f"<!doctype html><title>x</title>{script}{elements}") as address:
            page.goto(address)
            expect(page.locator("iframe")).to_have_count(6)
            frames = page.frames[1:]
            for frame in frames:
                frame.get_by_role("button", name="Start", exact=True).click()
            # Frames come in any order: each says by its own question which survey it shows.
            outcomes = [send_started(frame) for frame in frames]
            memory = frames[0].evaluate(remembered())
        kept = sum(waiting for *_, waiting in box_of(both.place).slots())
    assert outcomes == [True] * 4 + [False] * 2, "16 in all, whoever collects"
    assert kept == 4, "what is refused is not sent"
    assert len(memory["noisy"]) == 4


def nearly_all_of_a_question(number: int) -> Survey:
    """A survey of one question that costs 3.9, of the 4 that a question may cost."""
    return read_survey(survey_toml("T", question_toml(f"q{number}", "yes-no", f"Question {number}?", epsilon=3.9)))


def send_started(frame: Frame) -> bool:
    """Answer the one question of a survey that was started, and send it; return whether the device did."""
    frame.get_by_role("radio", name="Yes", exact=True).check()
    frame.get_by_role("button", name=REVIEW).click()
    frame.get_by_role("button", name="Send", exact=True).click()
    arrived = frame.get_by_role("heading", name=ARRIVED)
    expect(arrived.or_(frame.get_by_role("heading", name=REFUSED))).to_be_visible()
    return arrived.is_visible()


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
    page.get_by_text(MORE).click()
    expect(page.get_by_text(f"{both.urls[0]}/s/{survey.id}/results")).to_be_visible()
    assert page.locator("a[href*='/results']").count() == 0, "no slip of a finger shows somebody to the collector"
    page.goto("about:blank")
    page.goto(f"{both.urls[1]}/s/{survey.id}")
    page.get_by_role("button", name="Go there").click()
    # The same survey under another name: the reply that is there, if somebody wants it to go there, too.
    expect(page.get_by_role("heading", name="Thank you. A reply was already given here.")).to_be_visible()


def test_a_token_is_bought_by_a_gateway_and_the_place_sees_no_invitation(
    both: Rehearsal, context: BrowserContext, browser: Browser
) -> None:
    base = replace(unlinkable_survey(results="batches"), opens=None, closes=None, layout="page")
    survey = sealed_survey(both.folder / "keys", base, places=(both.origin,))
    store = both.collector.extensions["deniable"]["store"]
    (first,) = publish_to(store, survey, 1)
    page = context.new_page()
    witness = Witness.of(page)
    page.goto(f"{both.origin}/#{both.urls[0]}/s/{survey.id}#invitation={first}")
    answer(page, survey, {"affair": "yes", "religious": "not"})
    asked, sent = (
        [request for request in witness.requests if request.url.endswith(end)] for end in ("gateway", "sealed")
    )
    assert (len(asked), len(sent)) == (1, 1)
    scripts = [request for request in witness.requests if request.url.endswith("client/deniable-answering.js")]
    assert len(scripts) == 1, "what runs is what was compared, and not fetched once more"
    assert witness.requests.index(scripts[0]) < witness.requests.index(asked[0])
    assert {request.headers["content-type"] for request in asked} == {"message/ohttp-req"}
    for request in witness.requests:
        assert first not in request.url
        assert first.encode() not in (request.post_data_buffer or b"")
        assert "authorization" not in request.headers
    cut(both.place, survey, 1)
    relay_of(both.place).round()
    assert store.waiting(survey) == {None: 1}
    # On another device, with an invitation of nobody: the collector says so, within what the place cannot read.
    other = browser.new_context().new_page()
    other.goto(f"{both.origin}/#{both.urls[0]}/s/{survey.id}#invitation={'0' * 32}")
    other.get_by_role("button", name="Start", exact=True).click()
    expect(other.get_by_role("heading", name="This invitation is not known here")).to_be_visible()
    other.context.close()


def test_second_script_of_a_place_runs_only_as_it_was_reviewed(both: Rehearsal, context: BrowserContext) -> None:
    script = "client/deniable-answering.js"
    survey = sealed_survey(both.folder / "keys", replace(unlinkable_survey(), layout="page"), places=(both.origin,))
    (first,) = publish_to(both.collector.extensions["deniable"]["store"], survey, 1)
    files: dict[str, bytes] = both.place.extensions["deniable-place-files"]
    reviewed = files[script]
    files[script] = reviewed + b" "
    page = context.new_page()
    witness = Witness.of(page)
    page.goto(f"{both.origin}/#{both.urls[0]}/s/{survey.id}#invitation={first}")
    start = page.get_by_role("button", name="Start", exact=True)
    expect(start).to_be_visible()
    start.click()
    expect(page.get_by_role("heading", name="This survey cannot be loaded")).to_be_visible()
    assert witness.posts() == [], "no token was asked for, and nothing was sent"
    files[script] = reviewed
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("button", name=REVIEW)).to_be_visible()


def test_a_page_that_embeds_the_survey_shows_the_frame_of_its_place(both: Rehearsal, page: Page) -> None:
    survey = both.publish("Framed")
    script = f'<script type="module" src="{both.urls[0]}/client/deniable.js"></script>'
    element = f'<deniable-survey src="{both.urls[0]}/s/{survey.id}"></deniable-survey>'
    with another_site(f"<!doctype html><title>x</title>{script}{element}") as address:
        page.goto(address)
        expect(page.frame_locator("iframe").get_by_role("button", name="Start", exact=True)).to_be_visible()
        (frame,) = [each for each in page.frames if each != page.main_frame]
        assert frame.url.startswith(f"{both.origin}/#")
        answer(frame, survey, {"affair": "yes"})
        expect(frame.get_by_role("heading", name=ARRIVED)).to_be_visible()


def test_a_phone_that_is_offline_at_send_sends_the_same_reply_later(both: Rehearsal, browser: Browser) -> None:
    survey = both.publish("On a phone")
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.add_init_script(HASTE)
    page.goto(f"{both.origin}/#{both.urls[0]}/s/{survey.id}")
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("radio", name="Yes", exact=True).check()
    page.get_by_role("button", name=REVIEW).click()
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    context.set_offline(True)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("heading", name="Your reply has not arrived yet")).to_be_visible()
    kept = page.evaluate(remembered())["reports"][survey.id]["report"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.set_offline(False)
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()
    cut(both.place, survey, 1)
    relay_of(both.place).round()
    store = both.collector.extensions["deniable"]["store"]
    assert store.waiting(survey) == {None: 1}
    with store._snapshot(survey) as db:
        ((stored,),) = db.execute(f"SELECT id FROM pending_{survey.id}").fetchall()
    assert stored == json.loads(kept)["id"], "what was kept, drawn once"
    context.close()


def test_a_memory_that_was_cleared_in_part_is_noticed(both: Rehearsal, context: BrowserContext) -> None:
    first, second = both.publish("First"), both.publish("Second")
    page = context.new_page()
    said = page.get_by_text("This browser has lost what it remembered of surveys.")
    page.goto(f"{both.origin}/#{both.urls[0]}/s/{first.id}")
    answer(page, first, {"affair": "yes"})
    page.goto("about:blank")
    page.goto(f"{both.origin}/#{both.urls[0]}/s/{second.id}")
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    expect(said).to_have_count(0)
    page.evaluate(
        """() => new Promise((done, fail) => {
            const request = indexedDB.deleteDatabase("deniable");
            request.onsuccess = done;
            request.onerror = fail;
        })"""
    )
    page.reload()
    expect(said).to_be_visible()


@pytest.mark.long
def test_two_real_institutions_know_no_more_of_people_than_they_should() -> None:
    # A process of its own: this one may have a browser already, and drives no second one.
    command = [sys.executable, "-m", "tools.torture", "--short", "place-people"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "messages of both answers alike" in done.stdout, done.stderr

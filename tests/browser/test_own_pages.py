"""A collector's own pages around a survey: leaving quickly, no trace, what a browser remembers, the way back, home."""

from __future__ import annotations

import datetime
import json
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from deniable import Survey, read_survey
from deniable.privacy.odds import plainest
from deniable.survey.completion import CODE_CHARACTERS
from deniable.survey.look import Logo, Look
from deniable_server.app import create_app
from deniable_server.settings import Settings
from tests.browser.test_standing import close
from tests.support.marks import long
from tools.rig.browsing import (
    ARRIVED,
    FIVE_QUESTIONS,
    MORE,
    NO_STORAGE,
    Witness,
    another_site,
    answer,
    everything_kept,
    framed,
    let_it_draw,
    long_survey,
    press_send,
    remembered,
    scripts,
    wait_for,
)
from tools.rig.collectors import Collector
from tools.rig.in_process import ended
from tools.rig.places import served
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import Clock

TRULY = {"affair": "yes", "town": "Aville", "drugs": ["heroin"], "trust": "2", "drinks": 4}

ONE = question_toml("affair", "yes-no", "Have you had an affair?", epsilon=0.5)

LATER = """window.ahead = 0;
const now = Date.now;
Date.now = () => now() + window.ahead;"""
"""A clock that a test can put ahead."""


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(FIVE_QUESTIONS)


def elsewhere(page: Page) -> None:
    """A page in the place of the one that people leave for; nothing leaves this machine."""
    page.route(
        "https://www.wikipedia.org/", lambda route: route.fulfill(body="<h1>Elsewhere</h1>", content_type="text/html")
    )


def remember_nothing(page: Page) -> None:
    """Ask this browser to remember nothing of the survey whose first screen it shows."""
    page.get_by_text("If somebody else looks at this device").click()
    page.get_by_label("Remember nothing of this survey on this device").check()


def test_a_survey_that_closes_while_its_first_screen_stands_open_asks_nothing(collector: Collector, page: Page) -> None:
    survey = read_survey(survey_toml("Closes meanwhile", ONE, contact="study@example.org"))
    page.add_init_script(LATER)
    witness = Witness.of(page)
    with page.expect_response("**/state"):  # open, as the page is told when it loads
        page.goto(collector.publish(survey))
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    close(collector, survey)
    page.evaluate("window.ahead = 6000")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", name="This survey is closed")).to_be_focused()
    expect(page.get_by_role("link", name="study@example.org")).to_have_attribute("href", "mailto:study@example.org")
    assert page.locator("fieldset").count() == 0
    assert witness.posts() == []


@pytest.mark.parametrize(
    ("layout", "way"), [("steps", "button"), ("page", "key"), long("steps", "key"), long("page", "button")]
)
def test_leaving_quickly_replaces_the_page_and_sends_nothing(
    collector: Collector, page: Page, survey: Survey, layout: str, way: str
) -> None:
    elsewhere(page)
    witness = Witness.of(page)
    page.goto("about:blank")
    page.goto(collector.publish(replace(survey, layout=layout, title=f"Left by {way}")))
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("radio", name="Yes").check()
    if layout == "steps":
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("group", name="Where do you live?")).to_be_visible()
    if way == "key":
        page.keyboard.press("Escape")
    else:
        page.get_by_role("button", name="Leave quickly").click()
    expect(page.get_by_role("heading", name="Elsewhere")).to_be_visible()
    page.go_back()
    assert page.url == "about:blank"
    assert witness.posts() == []


def test_leaving_quickly_works_after_send_too(collector: Collector, page: Page) -> None:
    """The history is where the survey began by then, and nothing is to be walked back."""
    elsewhere(page)
    survey = read_survey(survey_toml("Left after Send", ONE))
    page.goto("about:blank")
    page.goto(collector.publish(survey))
    answer(page, survey, {"affair": "yes"})
    page.wait_for_function("history.state === null")
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Elsewhere")).to_be_visible()
    page.go_back()
    assert page.url == "about:blank"


def test_the_key_that_leaves_first_empties_a_search(collector: Collector, page: Page) -> None:
    elsewhere(page)
    page.goto(collector.publish(long_survey("choice")))
    page.get_by_role("button", name="Start", exact=True).click()
    search = page.get_by_role("searchbox").first
    search.fill("co")
    page.keyboard.press("Escape")
    expect(search).to_be_visible()
    search.fill("")
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Elsewhere")).to_be_visible()


def test_after_a_reload_one_step_back_leaves_the_survey(collector: Collector, page: Page, survey: Survey) -> None:
    page.goto("about:blank")
    page.goto(collector.publish(replace(survey, layout="steps", title="Reloaded half-way")))
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("radio", name="Yes").check()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("group", name="Where do you live?")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    page.wait_for_function("history.state === null || history.state.at === 0")
    page.go_back()
    assert page.url == "about:blank"


SLOW_HISTORY = """const go = history.go;
history.go = (delta) => setTimeout(() => {
    go.call(history, delta);
    addEventListener("popstate", () => (window.walked = true), { once: true });
}, 300);"""
"""Browsers walk the history a moment after they were asked to; this one takes long enough for a press."""


def test_start_pressed_while_a_reload_still_walks_the_history_leads_to_the_questions(
    collector: Collector, page: Page, survey: Survey
) -> None:
    page.goto("about:blank")
    page.goto(collector.publish(replace(survey, layout="steps", title="Reloaded and started at once")))
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("radio", name="Yes").check()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("group", name="Where do you live?")).to_be_visible()
    page.add_init_script(SLOW_HISTORY)
    page.reload()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("group", name="Have you had an affair?")).to_be_focused()
    page.wait_for_function("window.walked")
    let_it_draw(page)
    expect(page.get_by_role("group", name="Have you had an affair?")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    page.go_back()
    assert page.url == "about:blank"


def test_leaving_quickly_leaves_nothing_behind_back_after_answers_were_forgotten(
    collector: Collector, page: Page, survey: Survey
) -> None:
    """A page that comes back from the browser's memory has forgotten its answers, and stands where they were given."""
    elsewhere(page)
    page.goto("about:blank")
    page.goto(collector.publish(replace(survey, layout="steps", title="Left after it came back")))
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("radio", name="Yes").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("radio", name="Aville").check()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("group", name="What have you tried?")).to_be_visible()
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    expect(page.get_by_role("group", name="Have you had an affair?")).to_be_visible()
    page.get_by_role("button", name="Leave quickly").click()
    expect(page.get_by_role("heading", name="Elsewhere")).to_be_visible()
    page.go_back()
    assert page.url == "about:blank"


@pytest.mark.parametrize("way", ["button", "key"])
def test_pages_of_results_can_be_left_quickly(collector: Collector, page: Page, way: str) -> None:
    elsewhere(page)
    link = collector.publish(read_survey(survey_toml(f"Results left by {way}", ONE)))
    page.goto("about:blank")
    page.goto(f"{link}/results")
    if way == "key":
        page.keyboard.press("Escape")
    else:
        page.get_by_role("link", name="Leave quickly").click()
    expect(page.get_by_role("heading", name="Elsewhere")).to_be_visible()
    page.go_back()
    assert page.url == "about:blank"


def test_no_trace_is_left_and_nothing_is_drawn_twice(collector: Collector, context: BrowserContext, page: Page) -> None:
    first, second = (read_survey(survey_toml(title, ONE)) for title in ("Remembered", "Not remembered"))
    witness = Witness.of(page)
    page.goto(collector.publish(first))
    answer(page, first, {"affair": "yes"})
    kept = page.evaluate(remembered())
    for _ in range(3):
        page.goto(collector.publish(second))
        remember_nothing(page)
        expect(page.get_by_text("Your device will remember nothing of this survey")).to_be_visible()
        answer(page, second, {"affair": "no"})
        assert page.evaluate(remembered()) == kept
    sent = [json.loads(body)["values"]["affair"] for body in witness.posts()]
    assert len(sent) == 4
    assert len(set(sent)) == 1  # the value that the device knew before, whatever was answered
    context.clear_cookies()


def test_no_trace_makes_no_database(collector: Collector, page: Page) -> None:
    survey = read_survey(survey_toml("No database", ONE))
    page.goto(collector.publish(survey))
    remember_nothing(page)
    answer(page, survey, {"affair": "yes"})
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0
    assert json.loads(everything_kept(page))["local"] == {}
    page.reload()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()


def test_no_trace_says_that_a_reply_waits_in_the_page_alone(collector: Collector, page: Page) -> None:
    survey = read_survey(survey_toml("Waits without a trace", ONE))
    page.goto(collector.publish(survey))
    remember_nothing(page)
    page.route("**/reports", lambda route: route.fulfill(status=500, body="{}"))
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("radio", name="Yes").check()
    page.get_by_role("button", name="Check my answers").click()
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("Your reply waits in this page alone")).to_be_visible()
    page.unroute("**/reports")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()


def test_a_browser_shows_what_it_told_and_forgets_it(collector: Collector, page: Page, survey: Survey) -> None:
    page.goto(collector.publish(survey))
    answer(page, survey, TRULY)
    (reply,) = page.evaluate(remembered())["reports"].values()
    said = json.loads(reply["report"])["values"]
    witness = Witness.of(page)
    page.get_by_text(MORE).click()
    page.get_by_role("link", name="What this browser remembers about surveys here").click()
    expect(page.get_by_role("heading", name="A survey of 5 questions")).to_be_visible()
    expect(page.get_by_text("Your reply has arrived.", exact=True)).to_be_visible()
    expect(page.get_by_text("% of that limit is left")).to_be_visible()
    page.locator("deniable-told summary", has_text="For experts").click()
    expect(page.get_by_text(survey.id, exact=True)).to_be_visible()
    assert not [request for request in witness.requests if "/api/" in request.url]
    page.get_by_text("Show what was sent", exact=True).click()
    shown = page.locator("dl div").filter(has_text="Have you had an affair?").locator("dd")
    expect(shown).to_have_text("Yes" if said["affair"] else "No")
    expect(page.get_by_text("With chance mixed in, your device sent:")).to_have_count(1)  # above all questions
    expect(page.get_by_role("heading", name=survey.title)).to_be_visible()
    page.locator("deniable-told summary", has_text="What chance does here").click()
    expect(page.get_by_text("a mere guess is right 50 times in 100")).to_be_visible()
    cells = page.locator("deniable-told tr", has_text="Have you had an affair?").locator("td")
    expect(cells).to_have_text(["0.75", "0.25"])  # for experts
    page.get_by_role("button", name="Forget my surveys here").click()
    page.get_by_role("button", name="Yes, forget everything").click()
    expect(page.get_by_role("heading", name="Your browser has forgotten everything")).to_be_focused()
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0
    page.reload()
    expect(page.get_by_role("heading", name="No reply is kept here")).to_be_visible()
    expect(page.get_by_role("button", name="Forget my surveys here")).to_have_count(0)  # nothing is there to forget
    page.get_by_role("link", name="To the home page").click()
    expect(page.get_by_role("heading", name="Surveys about what is hard to say")).to_be_visible()


def test_what_waits_is_not_said_to_have_been_received(collector: Collector, page: Page) -> None:
    survey = read_survey(survey_toml("Waits", ONE))
    page.route("**/reports", lambda route: route.fulfill(status=500, body="{}"))
    page.goto(collector.publish(survey))
    press_send(page, survey, {"affair": "yes"})
    expect(page.get_by_role("heading", name="Your reply has not arrived yet")).to_be_visible()
    page.goto(f"{collector.url}/device")
    expect(page.get_by_text("Your reply has not arrived yet.", exact=True)).to_be_visible()
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_text("Show what was sent", exact=True).click()
    expect(page.get_by_text("This survey cannot be loaded.")).to_be_visible()
    page.unroute("**/api/**")
    page.get_by_role("button", name="Try again").click()
    shown = page.locator("dl dd")
    expect(shown).to_have_count(1)
    page.get_by_text("Show what was sent", exact=True).click()
    expect(shown).to_be_hidden()  # it closes again, when somebody comes near
    expect(page.get_by_text("received")).to_have_count(0)


def test_what_is_said_of_traces_holds_before_and_after_start(collector: Collector, page: Page) -> None:
    questions = [question_toml(f"q{n}", "yes-no", f"Is it {n}?") for n in range(5)]
    page.goto(collector.publish(read_survey(survey_toml("Drawn without a trace", *questions, epsilon=2.0))))
    keeps = page.get_by_text(
        "If you come back after Start, you will see the same questions, because your device remembers which it picked."
    )
    expect(keeps).to_be_visible()
    remember_nothing(page)
    expect(keeps).to_be_hidden()
    page.get_by_label("Remember nothing of this survey on this device").uncheck()
    expect(keeps).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("button", name="Back", exact=True).click()
    page.get_by_text("If somebody else looks at this device").click()
    expect(page.get_by_text("opens wikipedia.org")).to_be_visible()
    # What was drawn is kept by now, so nobody is promised that nothing will be.
    expect(page.get_by_role("checkbox")).to_have_count(0)


def test_the_receipt_says_in_words_what_was_sent(collector: Collector, page: Page, survey: Survey) -> None:
    survey = replace(survey, title="In words")
    witness = Witness.of(page)
    page.goto(collector.publish(survey))
    answer(page, survey, TRULY)
    (body,) = witness.posts()
    said = json.loads(body)["values"]
    page.get_by_text(MORE).click()
    page.get_by_text("What my device sent, in words").click()
    expect(page.locator(".said dl > div")).to_have_count(len(survey.questions))
    rows = page.locator(".said dl > div").all()
    words = {row.locator("dt").inner_text(): row.locator("li").all_inner_texts() for row in rows}
    assert words["Have you had an affair?"] == [["No", "Yes"][said["affair"]]]
    marks = {"01": "ticked", "10": "not ticked"}
    boxes = zip(survey.question("drugs").options, (said["drugs"][:2], said["drugs"][2:]), strict=True)
    lines = [f"{box}: {marks[mark]}" for box, mark in boxes if mark in marks]
    assert words["What have you tried?"] == lines
    expect(page.get_by_text("With chance mixed in, your device sent:")).to_have_count(1)  # once, above all of them
    expect(page.get_by_text("If something here is not what you chose, chance changed it")).to_be_visible()
    # Below the list, whatever was sent, the odds of the question where chance does the least.
    page.locator("summary", has_text="What chance does here").click()
    odds = page.locator("details details", has_text="What chance does here")
    least = plainest(survey.questions)
    expect(odds).to_contain_text(least.text)
    expect(odds).to_contain_text(least.mechanism.odds[0])
    expect(odds).to_contain_text("could become quite sure")  # five questions together protect little
    assert "can become surer" not in odds.inner_text()
    expect(page.locator("table")).to_have_count(0)
    # The exact figures of every question are for experts.
    page.locator("summary", has_text="For experts").click()
    experts = page.locator("details details", has_text="For experts")
    expect(experts).to_contain_text("Somebody who suspected you before can become surer")
    expect(experts.locator("tr + tr")).to_have_count(len(survey.questions))
    rows = experts.locator("tr + tr").all()
    table = {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}
    assert list(table) == [question.text for question in survey.questions]
    assert table["Have you had an affair?"] == ["0.75", "0.25"]
    (sentence,) = table["What have you tried?"]  # two figures do not say it
    assert sentence.startswith("Your device picks 1 of the 2 boxes by chance")
    # The exact bytes stand there as they were sent, whatever their lines.
    assert experts.locator("pre").first.evaluate("each => each.textContent") == body.decode()


WAYS = {
    "the same for all": {"text": "Go back.", "link": "https://panel.example/done?cc={code}", "code": "C1AB"},
    "drawn": {"link": "https://panel.example/done?cc={code}", "code_length": 8},
}


@pytest.mark.parametrize("layout", ["steps", "page"])
@pytest.mark.parametrize("way", WAYS)
def test_the_way_back_is_opened_by_a_press_and_tells_nothing(
    collector: Collector, page: Page, way: str, layout: str
) -> None:
    text = survey_toml(f"Back, {way}", ONE, thanks="Thank you, says the author.", completion=WAYS[way], layout=layout)
    survey = read_survey(text)
    opened: list[tuple[str, str | None]] = []

    def note(route: Route) -> None:
        opened.append((route.request.url, route.request.headers.get("referer")))
        route.fulfill(body="<h1>Panel</h1>", content_type="text/html")

    page.route("https://panel.example/**", note)
    witness = Witness.of(page)
    page.goto(collector.publish(survey))
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    assert page.get_by_role("button", name="Show my code").count() == 0
    answer(page, survey, {"affair": "yes"})
    expect(page.get_by_text("Thank you, says the author.")).to_be_visible()
    expect(page.get_by_text("You can close this page now.")).to_have_count(0)

    def code_once_shown() -> str:
        expect(page.get_by_role("heading", name="One last step")).to_be_visible()
        assert page.get_by_text("Your code is ").count() == 0, "before the press"
        page.get_by_role("button", name="Show my code").click()
        said = page.get_by_text("Your code is ").inner_text()
        code = said.removeprefix("Your code is ").removesuffix(".")
        assert code == "C1AB" if way == "the same for all" else (len(code) == 8 and set(code) <= set(CODE_CHARACTERS))
        if way == "drawn":
            assert code not in everything_kept(page)
            assert all(code.encode() not in body for body in witness.posts())
        assert opened == []
        return code

    first = code_once_shown()
    page.reload()  # somebody who closed the tab too early comes back
    expect(page.get_by_role("heading", name="Thank you. A reply was already given here.")).to_be_visible()
    expect(page.get_by_text("If you have already taken the last step below")).to_be_visible()
    code = code_once_shown()
    assert (code == first) == (way == "the same for all"), "a device keeps no code"
    assert len(witness.posts()) == 1, "the way back is shown again without another report"
    page.get_by_role("button", name="Go back to the website that sent you here").click()
    expect(page.get_by_role("heading", name="Panel")).to_be_visible()
    assert opened == [(f"https://panel.example/done?cc={code}", None)]


def around(link: str, attributes: str) -> str:
    """A page of another site around a survey, which notes what it hears."""
    collector = link.partition("/s/")[0]
    return f"""<!doctype html><title>Around</title>
        <script>window.told = []; addEventListener("message", ({{ data }}) => told.push(data));</script>
        <script type="module" src="{collector}/client/deniable.js"></script>
        <deniable-survey {attributes} src="{link}"></deniable-survey>"""


def test_nothing_leads_away_from_a_shared_device(collector: Collector, page: Page) -> None:
    text = survey_toml("No way out", ONE, completion=WAYS["drawn"], contact="https://study.example/ask")
    survey = read_survey(text)
    with another_site(around(collector.publish(survey), "kiosk")) as address:
        page.goto(address)
        expect(page.get_by_text("https://study.example/ask")).to_be_visible()
        assert page.locator("a[href]").count() == 0
        answer(page, survey, {"affair": "yes"})
        expect(page.get_by_role("button", name="Show my code")).to_be_visible()
        assert page.get_by_role("button", name="Go back to the website").count() == 0
        assert page.locator("a[href]").count() == 0
        assert survey.id not in page.locator("deniable-survey .card").inner_text(), "nobody copies an address from here"
        page.get_by_text(MORE).click()
        expect(page.get_by_text("What my device sent, in words")).to_be_visible()
        assert page.locator("a[href]").count() == 0


def test_the_way_back_leads_out_of_a_frame(collector: Collector, page: Page) -> None:
    survey = read_survey(survey_toml("Back out of a frame", ONE, completion=WAYS["the same for all"]))
    page.route(
        "https://panel.example/**",
        lambda route: route.fulfill(
            body="<h1>Panel</h1>", content_type="text/html", headers={"X-Frame-Options": "DENY"}
        ),
    )
    with another_site(around(collector.publish(survey), "isolated")) as address:
        page.goto(address)
        frame = framed(page)
        answer(frame, survey, {"affair": "yes"})
        expect(frame.get_by_role("link", name="See the results")).to_have_attribute("target", "_blank")
        frame.get_by_role("button", name="Go back to the website that sent you here").click()
        page.wait_for_url("https://panel.example/done?cc=C1AB")


def test_the_page_around_does_not_hear_how_long_the_words_of_what_was_sent_are(
    collector: Collector, page: Page
) -> None:
    """A site that knows its visitor would learn which option chance made of the answer."""
    options = ["one", "two words " * 18]
    survey = read_survey(
        survey_toml("Long and short", question_toml("which", "choice", "?", options=options, epsilon=1))
    )
    with another_site(around(collector.publish(survey), "isolated")) as address:
        page.goto(address)
        frame = framed(page)
        answer(frame, survey, {"which": "one"})
        let_it_draw(frame, page)
        told = page.evaluate("told.length")
        assert told > 0, "heights are told"
        frame.get_by_text(MORE).click()
        let_it_draw(frame, page)
        told = page.evaluate("told.length")
        frame.get_by_text("What my device sent, in words").click()
        expect(frame.locator(".said")).to_be_visible()
        let_it_draw(frame, page)
        assert page.evaluate("told.length") == told


def png(width: int, height: int) -> bytes:
    """A picture that is all red."""
    rows = (b"\0" + b"\xff\0\0" * width) * height
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    written = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)


def test_a_logo_and_an_accent_are_worn_under_the_strict_policy(collector: Collector, page: Page) -> None:
    look = Look("#8a1c7c", "#d08ac6", Logo(png(40, 20), "Example University"))
    survey = replace(read_survey(survey_toml("Dressed", ONE)), look=look)
    witness = Witness.of(page)
    page.goto(collector.publish(survey))
    button = page.get_by_role("button", name="Start", exact=True)
    expect(button).to_be_visible()
    assert button.evaluate("each => getComputedStyle(each).backgroundColor") == "rgb(138, 28, 124)"
    logo = page.get_by_role("img", name="Example University")
    wait_for(page, lambda: logo.evaluate("each => each.width") == 40, "the logo is painted")
    assert logo.evaluate("each => [...each.getContext('2d').getImageData(1, 1, 1, 1).data]") == [255, 0, 0, 255]
    assert witness.lines == []


def test_the_home_page_opens_a_pasted_link_and_tells_the_server_nothing_of_it(
    collector: Collector, page: Page, survey: Survey
) -> None:
    survey = replace(survey, title="Pasted", cohorts=("web",))
    link = collector.publish(survey)
    witness = Witness.of(page)
    page.goto(collector.url)
    field = page.get_by_role("textbox")
    for mistyped in ("my survey", f"http://[here/s/{survey.id}"):
        field.fill(mistyped)
        field.press("Enter")
        expect(page.get_by_text("This does not look like the link of a survey.")).to_be_visible()
        expect(field).to_be_focused()
    assert len([each for each in witness.requests if each.resource_type == "document"]) == 1
    code = link.rsplit("/", 1)[1]
    for pasted in (f"{link}#cohort=web", code, code.capitalize(), f" <{link}>."):
        page.goto(collector.url)
        field.fill(pasted)
        page.get_by_role("button", name="Open the survey").click()
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
        assert page.url == (link if "#" not in pasted else f"{link}#cohort=web")
    assert not any("cohort" in each.url.split("#")[0] for each in witness.requests)


def test_pages_without_a_survey_speak_the_language_of_their_reader(collector: Collector, browser: Browser) -> None:
    page = browser.new_context(locale="de-AT").new_page()
    page.goto(collector.url)
    expect(page.get_by_role("heading", name="Umfragen zu dem, was schwer zu sagen ist")).to_be_visible()
    page.goto(f"{collector.url}/s/nothing")
    expect(page.get_by_role("heading", name="Wir können diese Seite nicht finden")).to_be_visible()
    page.get_by_role("link", name="Zur Startseite").click()
    assert page.url == f"{collector.url}/"
    page.context.close()


PAINTED = """() => document.querySelector("deniable-survey").shadowRoot.querySelector(".card slot")
    .assignedElements().map((each) => [each.slot, each.getBoundingClientRect().width > 100])"""
"""The picture on the screen, and whether somebody sees it."""


def test_screens_that_end_have_a_picture_of_the_page_and_others_have_the_sign(collector: Collector, page: Page) -> None:
    for title, keys, name in (
        ("Shut", {"closes": datetime.date(2020, 1, 1)}, "closed"),
        ("Soon", {"opens": datetime.date(2999, 1, 1)}, "early"),
        ("By invitation", {"access": "invited"}, "unknown"),
    ):
        link = collector.publish(read_survey(survey_toml(title, ONE, **keys)))
        page.goto(link)
        expect(page.locator("deniable-survey h1").last).to_be_visible()
        assert page.evaluate(PAINTED) == [[name, True]], "and no other"
    with another_site(f'{scripts(collector)}<deniable-survey src="{link}"></deniable-survey>') as address:
        page.goto(address)
        expect(page.locator("deniable-survey slot .sign path")).to_have_count(2)


def test_what_is_sent_moves_unless_somebody_wants_no_motion(browser: Browser, collector: Collector) -> None:
    link = collector.publish(read_survey(survey_toml("Moves", ONE)))
    for motion, moves in (("no-preference", 1), ("reduce", 0)):
        context = browser.new_context(reduced_motion=motion)  # type: ignore[arg-type]  # a literal
        page = context.new_page()
        page.route("**/reports", lambda route: None)
        page.goto(link)
        press_send(page, read_survey(survey_toml("Moves", ONE)), {"affair": "yes"})
        expect(page.get_by_text("Please keep this page open")).to_be_visible()
        assert page.evaluate("document.querySelector('.scene .go').getAnimations().length") == moves
        context.close()


@pytest.mark.parametrize(("language", "said"), [("de", "Über diese Seite"), ("ar", "عن هذه الصفحة")])
def test_the_foot_of_a_page_is_in_the_language_of_the_survey(
    collector: Collector, page: Page, language: str, said: str
) -> None:
    page.goto(f"{collector.publish(read_survey(survey_toml('Foot', ONE)))}#lang={language}")
    expect(page.locator("footer summary").locator("visible=true")).to_have_text([said])
    assert page.evaluate("document.documentElement.lang") == language


def test_the_first_screen_says_who_asks_and_how_to_reach_the_operator(tmp_path: Path, clock: Clock, page: Page) -> None:
    survey = read_survey(survey_toml("Who runs this", ONE, organiser="Nurses council"))
    settings = Settings(rate_limit=None, contact="it@uni.example")
    with ended(create_app(tmp_path / "test.db", clock, settings)) as app, served(app) as url:
        app.extensions["deniable"]["store"].publish(survey)
        says_who_asks(page, f"{url}/s/{survey.id}")


def says_who_asks(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_text("Who could learn my answers?").click()
    roles = page.get_by_text("“the researchers” means Nurses council")
    expect(roles).to_contain_text("The operator gives this contact: it@uni.example")
    # Where a collector has no contact, as at the other tests.
    page.evaluate("document.querySelector('deniable-survey').removeAttribute('operator')")
    page.evaluate("document.querySelector('deniable-survey').restart()")
    page.get_by_text("Who could learn my answers?").click()
    expect(roles).to_contain_text("This page does not know who the operator is.")


def test_the_last_screen_says_whether_what_was_sent_is_kept(collector: Collector, context: BrowserContext) -> None:
    survey = read_survey(survey_toml("What is kept", ONE))
    link, said = collector.publish(survey), "Your device has forgotten what you chose. "
    for blocked, rest in (
        (False, "It still keeps what was sent."),
        (True, "Once you close this page, it also forgets what was sent."),
    ):
        page = context.new_page()
        if blocked:
            page.add_init_script(NO_STORAGE)
        page.goto(link)
        answer(page, survey, TRULY)
        expect(page.get_by_text(said + rest)).to_be_visible()

"""Four ways to put a survey into somebody else's page, each as its example does it, in a real Chromium."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.util
import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Page, expect

from deniable import Survey, parse_report, read_survey
from deniable_server.store import Store
from tests.support.marks import long
from tools.rig.browsing import (
    ARRIVED,
    FORGET,
    Witness,
    another_site,
    answer,
    framed,
    let_it_draw,
    press_send,
    scripts,
    start,
    wait_for,
)
from tools.rig.collectors import Collector
from tools.rig.survey_files import question_toml, survey_toml

FOLDER = Path(__file__).parents[2] / "examples" / "embedding"

SURVEY = survey_toml(
    "Embedded",
    question_toml("affair", "yes-no", "Have you had an affair?", truth="1/2"),
    question_toml("stone", "ticks", "Which stones do you hide?", options=["quartz", "zirconium"], epsilon=1),
    cohorts=["web"],
    layout="page",
)

TRULY = {"affair": "yes", "stone": ["zirconium"]}


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(SURVEY)


@pytest.fixture(scope="module")
def example() -> Callable[..., str]:
    """The page of an example, as its little server gives it."""
    spec = importlib.util.spec_from_file_location("serve", FOLDER / "serve.py")
    assert spec
    assert spec.loader
    serve = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(serve)
    page: Callable[..., str] = serve.page
    return page


def test_the_little_server_explains_itself_and_takes_another_port() -> None:
    run = partial(subprocess.run, capture_output=True, text=True, check=False)
    assert "--port PORT" in run([sys.executable, FOLDER / "serve.py", "--help"]).stdout
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        said = run([sys.executable, FOLDER / "serve.py", "http://127.0.0.1:8000/s/x", "--port", port])
    assert said.returncode == 1
    assert said.stderr.startswith(f"port {port}: ")
    assert said.stderr.endswith("; choose another one with --port\n")


EVENTS = """() => {
    window.seen = [];
    for (const event of ["ready", "start", "submit", "complete", "queued", "error", "closed", "resize"]) {
        addEventListener(`deniable-${event}`, ({ detail }) => window.seen.push([event, detail]));
    }
    addEventListener("message", ({ data, origin }) => window.seen.push(["message", { data, origin }]));
}"""
"""Write down every event and message that a page gets."""


def test_script_and_element(
    collector: Collector, page: Page, survey: Survey, example: Callable[..., str], link: str
) -> None:
    before = collector.reports(survey)
    page.add_init_script(f"({EVENTS})()")
    witness = Witness.of(page)
    with another_site(example("script", f"{link}#cohort=web")) as address:
        page.goto(address)
        page.get_by_text("Who could learn my answers?").click()
        expect(page.get_by_text("the website around this form")).to_be_visible()
        answer(page, survey, TRULY)
        expect(page.get_by_text("Survey: complete.")).to_be_visible()
        seen = page.evaluate("window.seen")
        accent = page.locator("deniable-survey summary").first.evaluate(
            "each => getComputedStyle(each.getRootNode().host).getPropertyValue('--deniable-accent')"
        )
    assert accent.strip() == "#7a1f5c"
    (body,) = witness.posts()
    assert parse_report(body, survey).cohort == "web"
    assert collector.reports(survey) == before + 1
    assert [event for event, _ in seen if event != "resize"] == ["ready", "start", "submit", "complete"]
    for event, detail in seen:
        added = {"resize": {"height"}, "complete": {"returned"}}.get(event, set())
        assert set(detail) == {"survey"} | added
    assert page.evaluate("getComputedStyle(document.body).fontFamily").startswith("Georgia")
    assert [line for line in witness.lines if "favicon" not in line] == []


@pytest.mark.parametrize("way", ["script", "isolated"])
def test_a_page_can_tell_a_new_reply_from_somebody_who_returned(
    collector: Collector, page: Page, survey: Survey, example: Callable[..., str], way: str
) -> None:
    link = collector.publish(replace(survey, title=f"Returned, {way}"))
    page.add_init_script(f"({EVENTS})()")
    with another_site(example(way, f"{link}#cohort=web")) as address:
        page.goto(address)
        answer(framed(page) if way == "isolated" else page, survey, TRULY)
        completed = "window.seen.filter(([event]) => event === 'complete').map(([, detail]) => detail.returned)"
        wait_for(page, lambda: page.evaluate(completed), "the reply was announced")
        assert page.evaluate(completed) == [False]
        page.reload()
        wait_for(page, lambda: page.evaluate(completed), "the visit was announced")
        assert page.evaluate(completed) == [True]
        assert "ready" not in page.evaluate("window.seen.map(([event]) => event)")


@pytest.mark.parametrize(
    ("attributes", "policy"),
    [
        ("", "script-src {0}; connect-src 'none'"),
        ("isolated", "script-src {0}; frame-src 'none'"),
        ("", "script-src {0}/client/deniable.js"),
    ],
    ids=["connect-src", "frame-src", "the second script"],
)
def test_a_page_hears_that_its_policy_keeps_something_out(
    collector: Collector, page: Page, survey: Survey, attributes: str, policy: str
) -> None:
    link = collector.publish(replace(survey, title=f"Kept out by {policy}"))
    page.add_init_script(f"({EVENTS})()")
    html = f"""<!doctype html><html lang="de"><title>x</title>
        <script type="module" src="{collector.url}/client/deniable.js"></script>
        <deniable-survey {attributes} src="{link}"></deniable-survey>"""
    with another_site(html, {"Content-Security-Policy": policy.format(collector.url)}) as address:
        page.goto(address)
        errors = "window.seen.filter(([event]) => event === 'error').length"
        wait_for(page, lambda: page.evaluate(errors), "an error was announced")
        if "'none'" in policy:
            expect(page.get_by_text("This survey cannot be loaded")).to_be_visible()
        else:
            expect(page.get_by_role("button", name="Starten", exact=True)).to_be_visible()
            assert "ready" not in page.evaluate("window.seen.map(([event]) => event)")


def page_with_trouble(collector: Collector, link: str) -> str:
    """A page with a survey and what the documents write to show a text of one's own."""
    documented = (FOLDER.parents[1] / "docs" / "embedding" / "script.md").read_text(encoding="utf-8")
    block = re.search(r"```html\n(<p id=\"trouble\".*?)```", documented, re.DOTALL)
    assert block
    return f"""<!doctype html><html lang="en"><title>x</title>{block[1]}
        <script type="module" src="{collector.url}/client/deniable.js"></script>
        <deniable-survey src="{link}#cohort=web"></deniable-survey>"""


def test_a_page_shows_a_text_of_its_own_where_the_collector_cannot_be_reached(
    collector: Collector, page: Page, survey: Survey
) -> None:
    link = collector.publish(replace(survey, title="Out of reach"))
    html = page_with_trouble(collector, link)
    page.route("**/api/v1/surveys/**", lambda route: route.abort())
    with another_site(html) as address:
        page.goto(address)
        expect(page.get_by_text("The survey does not work at the moment.")).to_be_visible()
        page.unroute("**/api/v1/surveys/**")
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
        expect(page.get_by_text("The survey does not work at the moment.")).to_be_hidden()


def test_a_text_of_ones_own_stays_until_the_second_script_can_be_loaded(
    collector: Collector, page: Page, survey: Survey
) -> None:
    link = collector.publish(replace(survey, title="Without a second script"))
    html = page_with_trouble(collector, link)
    page.route("**/deniable-answering.js", lambda route: route.abort())
    with another_site(html) as address:
        page.goto(address)
        trouble = page.get_by_text("The survey does not work at the moment.")
        begin = page.get_by_role("button", name="Start", exact=True)
        expect(begin).to_be_visible()
        expect(trouble).to_be_visible()
        page.unroute("**/deniable-answering.js")
        begin.click()
        expect(page.get_by_role("radio").first).to_be_visible()
        expect(trouble).to_be_hidden()


def test_what_opens_twice_holds_its_text_once(
    collector: Collector, page: Page, survey: Survey, example: Callable[..., str]
) -> None:
    with another_site(example("script", collector.publish(survey))) as address:
        page.goto(address)
        for _ in range(3):  # open, closed, open
            page.get_by_text("Who could learn my answers?").click()
            page.wait_for_timeout(50)
        expect(page.get_by_text("the website around this form")).to_have_count(1)


def test_pages_print_the_hash_of_the_very_bytes_that_are_served(
    http: FlaskClient, store: Store, survey: Survey
) -> None:
    store.publish(survey)
    integrity = {}
    for name in (
        "deniable.js",
        "deniable-place.js",
        "deniable-question.js",
        "deniable-told.js",
        "deniable-answering.js",
    ):
        with http.get(f"/client/{name}") as response:
            assert response.mimetype == "text/javascript"
            assert response.headers["Access-Control-Allow-Origin"] == "*"
            digest = hashlib.sha384(response.data).digest()
        integrity[name] = f"sha384-{base64.b64encode(digest).decode()}"
    assert http.get("/client/manifest.json").json["integrity"] == integrity
    results = re.sub("<[^>]*>", "", html_of(http, f"/s/{survey.id}/results"))
    assert all(integrity[name] in results for name in ("deniable.js", "deniable-question.js"))
    assert integrity["deniable-told.js"] in html_of(http, "/device")
    assert integrity["deniable.js"] in re.sub("<[^>]*>", "", html_of(http, f"/s/{survey.id}"))
    for path in (f"/s/{survey.id}", f"/embed/{survey.id}"):
        page = html_of(http, path)
        assert f'src="/client/deniable.js" integrity="{integrity["deniable.js"]}"' in page
        assert f"deniable answer http://localhost/s/{survey.id}" in page
        assert not re.search(r"<(form|input|button|textarea|select)\b", page)
    with http.get("/client/catalogues/ar.json") as response:
        assert response.mimetype == "application/json"


def html_of(http: FlaskClient, path: str) -> str:
    """A page as text, with the characters that templates write as entities."""
    return html.unescape(http.get(path).text)


def test_tampered_bundle_is_blocked_by_its_hash(
    collector: Collector, page: Page, survey: Survey, example: Callable[..., str], link: str
) -> None:
    witness = Witness.of(page)
    code = page.request.get(f"{collector.url}/client/deniable.js").text()
    evil = {"access-control-allow-origin": "*", "content-type": "text/javascript"}
    page.route("**/client/deniable.js", lambda route: route.fulfill(body=code + " ", headers=evil))
    with another_site(example("script", link)) as address:
        for n, place in enumerate((address, link), 1):  # the hosted page holds its own script to the hash too
            page.goto(place)
            refused = partial(lambda n: sum("integrity" in line for line in witness.lines) == n, n)
            wait_for(page, refused, "the script is refused")
            let_it_draw(page)
            assert page.evaluate("customElements.get('deniable-survey') === undefined")
            assert page.locator("form, input").count() == 0
        expect(page.get_by_role("heading", name="The script of this page has not started")).to_be_visible()
    assert witness.posts() == []


def test_isolated_survey_cannot_be_read_by_the_page_around_it(
    collector: Collector, page: Page, survey: Survey, example: Callable[..., str], link: str
) -> None:
    before = collector.reports(survey)
    page.add_init_script(f"({EVENTS})()")
    witness = Witness.of(page)
    with another_site(example("isolated", f"{link}#cohort=web")) as address:
        page.goto(address)
        expect(page.get_by_title("Survey about your life").last).to_be_visible()
        frame = page.frame_locator("iframe")
        expect(frame.get_by_role("button", name="Start", exact=True)).to_be_visible()
        expect(frame.get_by_text("the website around this form")).to_have_count(0)
        (inner,) = [each for each in page.frames if "/embed/" in each.url]
        page.wait_for_function("window.seen.some(([event]) => event === 'resize')")
        assert_fits(page)
        press_send(inner, survey, TRULY)
        expect(frame.get_by_role("heading", name=ARRIVED)).to_be_visible()
        page.wait_for_function("window.seen.some(([event]) => event === 'complete')")
        assert_fits(page)
        read = """() => {
            const frame = document.querySelector("deniable-survey").shadowRoot.querySelector("iframe");
            try { return frame.contentWindow.document.body.textContent } catch (error) { return error.name }
        }"""
        assert page.evaluate(read) == "SecurityError"
        assert page.evaluate(read.replace("document.body.textContent", "localStorage.length")) == "SecurityError"
        seen = page.evaluate("window.seen")
        # Somebody else's messages are not taken for the survey's.
        page.evaluate("postMessage({ deniable: 'complete', height: 9999 }, '*')")
        page.wait_for_timeout(100)
        assert page.evaluate("document.querySelector('deniable-survey').offsetHeight") < 9999
    (body,) = witness.posts()
    assert parse_report(body, survey).cohort == "web"
    assert collector.reports(survey) == before + 1
    messages = [detail for event, detail in seen if event == "message"]
    assert {message["origin"] for message in messages} == {collector.url}
    assert {message["data"]["deniable"] for message in messages} == {"ready", "start", "submit", "complete", "resize"}
    for message in messages:
        assert set(message["data"]) <= {"deniable", "survey", "height", "returned"}


COUNT = """() => { window.heard = [];
    for (const name of ["ready", "complete"]) addEventListener(`deniable-${name}`, () => window.heard.push(name), true);
}"""


def test_frame_tells_nobody_but_the_origin_that_it_was_made_for(
    collector: Collector, page: Page, survey: Survey
) -> None:
    embed = collector.publish(survey).replace("/s/", "/embed/")
    page.add_init_script("addEventListener('message', ({ data }) => (window.told ??= []).push(data))")
    with another_site("<!doctype html><title>x</title>") as address:
        here = address.rstrip("/")
        hosts = {
            "*": False,
            "/": False,
            f"{here}/": False,
            "https://elsewhere.example": False,
            "null": False,
            here: True,
        }
        for host, is_told in hosts.items():
            page.goto(address)
            page.evaluate("html => document.body.innerHTML = html", f'<iframe src="{embed}#host={host}"></iframe>')
            frame = framed(page)
            if is_told:
                page.wait_for_function("window.told?.splice(0).length")
            else:
                let_it_draw(frame, page)
                assert not page.evaluate("window.told?.length")


def test_element_hears_its_own_frame_alone_and_only_while_it_is_the_collectors(
    page: Page, survey: Survey, example: Callable[..., str], link: str
) -> None:
    forged = "<!doctype html><title>x</title><script>parent.postMessage({ deniable: 'complete' }, '*')</script>"
    page.add_init_script(f"({COUNT})()")
    with another_site(example("isolated", link)) as address, another_site(forged) as forger:
        page.goto(address)
        expect(page.frame_locator("iframe").first.get_by_role("button", name="Start", exact=True)).to_be_visible()
        page.wait_for_function("window.heard.length === 1")
        other = f"{link.replace('/s/', '/embed/')}#host={address.rstrip('/')}"
        page.evaluate(
            "src => document.body.append(Object.assign(document.createElement('iframe'), { src, id: 'other' }))", other
        )
        expect(page.frame_locator("#other").get_by_role("button", name="Start", exact=True)).to_be_visible()
        own = "document.querySelector('deniable-survey').shadowRoot.querySelector('iframe')"
        page.evaluate(f"src => {own}.src = src", forger)
        page.wait_for_function(f"new Promise((done) => setTimeout(() => done({own} !== null), 500))")
        assert page.evaluate("window.heard") == ["ready"]


def assert_fits(page: Page) -> None:
    """The frame is as high as what it shows."""
    page.wait_for_function(
        """() => {
            const frame = document.querySelector("deniable-survey").shadowRoot.querySelector("iframe");
            return frame.offsetHeight > 200;
        }"""
    )


@pytest.mark.parametrize("layout", ["steps", "page"])
def test_messages_of_the_frame_are_the_same_whatever_the_answers_are(
    collector: Collector, page: Page, survey: Survey, example: Callable[..., str], layout: str
) -> None:
    survey = replace(survey, layout=layout)
    link = collector.publish(survey)
    page.set_viewport_size({"width": 320, "height": 800})
    page.add_init_script(f"({EVENTS})()")
    people = [("yes", []), ("no", ["quartz", "zirconium"])]
    told: list[set[str]] = [set(), set()]
    with another_site(example("isolated", link).replace(" isolated", " isolated kiosk", 1)) as address:
        # A busy machine may paint a screen late or not at all, and tells no height then: what the frame of one person
        # says, that of the other must be able to say too.
        for _ in range(5):
            for (affair, stones), said in zip(people, told, strict=True):
                page.goto(address)
                inner = framed(page)
                press_send(inner, survey, {"affair": affair, "stone": stones})
                expect(inner.get_by_role("heading", name=ARRIVED)).to_be_visible()
                let_it_draw(inner, page)
                seen = [detail["data"] for event, detail in page.evaluate("window.seen") if event == "message"]
                said.add(json.dumps(seen, sort_keys=True))
            if told[0] & told[1]:
                break
    assert told[0] & told[1], told


def test_the_frame_tells_no_height_while_somebody_chooses(
    page: Page, collector: Collector, example: Callable[..., str]
) -> None:
    """Who ticks nothing touches nothing: what comes up with the first touch must not show in the height."""
    ticks = survey_toml(
        "Ticks alone",
        question_toml("drugs", "ticks", "What have you tried?", options=["a", "b"], epsilon=1),
        layout="page",
    )
    page.set_viewport_size({"width": 320, "height": 800})
    page.add_init_script(f"({EVENTS})()")
    with another_site(example("isolated", collector.publish(read_survey(ticks)))) as address:
        page.goto(address)
        inner = framed(page)
        start(inner)
        expect(inner.get_by_role("button", name="Check my answers")).to_be_visible()
        expect(inner.get_by_text("still need")).to_be_hidden()
        let_it_draw(inner, page)
        let_it_draw(inner, page)  # the frame has the height of the questions by now
        told = page.evaluate("window.seen.length")
        inner.get_by_role("checkbox", name="a").check()
        expect(inner.get_by_text("still need")).to_be_visible()
        let_it_draw(inner, page)
        assert page.evaluate("window.seen.length") == told


AROUND = (
    '<div style="display: grid">{}</div>',
    '<div style="display: grid; gap: 1rem; max-width: 40rem; margin: auto">{}</div>',
    '<div style="display: flex">{}</div>',
    '<div style="display: flex; flex-direction: column">{}</div>',
    '<div style="float: left">{}</div>',
    '<span style="display: inline-block">{}</span>',
    "<table><tr><td>{}</table>",
    '<div style="position: absolute">{}</div>',
)
"""How pages lay out their forms."""


def test_a_question_can_be_seen_however_a_page_lays_out_its_form(collector: Collector, page: Page, link: str) -> None:
    element = f'<deniable-question name=affair src="{link}"></deniable-question>'
    with another_site(f"<!doctype html><title>x</title>{scripts(collector)}") as address:
        page.goto(address)
        for around in AROUND:
            page.evaluate("html => document.body.innerHTML = html", around.format(element))
            for width in (320, 1280):
                page.set_viewport_size({"width": width, "height": 800})
                expect(page.get_by_role("button", name="Mix in chance")).to_be_visible()
                let_it_draw(page)
                box = page.get_by_role("group").first.bounding_box()
                assert box
                assert box["width"] >= 250, (around, width)
                assert box["x"] + box["width"] <= width, (around, width)
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (around, width)


def test_only_the_page_for_frames_can_be_framed(page: Page, link: str) -> None:
    witness = Witness.of(page)
    with another_site(f'<!doctype html><title>x</title><iframe src="{link}"></iframe>') as address:
        page.goto(address)
        wait_for(page, lambda: any("frame-ancestors" in line for line in witness.lines), "the frame is refused")
    embed = page.request.get(link.replace("/s/", "/embed/"))
    assert "frame-ancestors *" in embed.headers["content-security-policy"]
    assert "unsafe" not in embed.headers["content-security-policy"]


def fill_form(page: Page, choice: str) -> None:
    """Choose in the private question of the example form."""
    page.get_by_label("Your age").fill("44")
    page.get_by_role("radio", name=choice, exact=True).check()


FORM_DATA = "() => [...new FormData(document.querySelector('form'))]"


def test_form_gets_only_the_randomised_value_and_draws_once(
    collector: Collector, page: Page, survey: Survey, example: Callable[..., str], link: str
) -> None:
    before = collector.reports(survey)
    witness = Witness.of(page)
    with another_site(example("form", link, "affair")) as address:
        page.route("**/store", lambda route: route.fulfill(body="stored"))
        page.goto(address)
        fill_form(page, "Yes")
        expect(page.get_by_text("the website around this form")).to_be_visible()
        assert page.evaluate(FORM_DATA) == [["age", "44"]]
        page.get_by_role("button", name="Submit the form").click()  # too early: the form stays
        assert page.url == address
        assert page.evaluate("document.querySelector('form').checkValidity()") is False
        page.get_by_role("button", name="Mix in chance").click()
        expect(page.get_by_text("This form gets only what chance made of your answer")).to_be_visible()
        drawn = page.evaluate(FORM_DATA)
        assert drawn[1][1] in ("0", "1")
        page.evaluate("document.querySelector('form').reset()")
        assert page.evaluate(FORM_DATA)[1] == drawn[1]
        page.reload()
        expect(page.get_by_text("This form gets only what chance made of your answer")).to_be_visible()
        page.get_by_label("Your age").fill("44")
        page.get_by_role("button", name="Submit the form").click()
        page.wait_for_url("**/store")
        page.go_back()
        expect(page.get_by_text("This form gets only what chance made of your answer")).to_be_visible()
        assert page.evaluate(FORM_DATA)[1] == drawn[1]
        assert page.get_by_role("radio").count() == 0
    (body,) = witness.posts()
    assert parse_qs(body.decode()) == {"age": ["44"], "q7": [drawn[1][1]]}
    assert collector.reports(survey) == before  # the form's own tool stores it


@pytest.mark.parametrize("people", [75, long(300)])
def test_forms_hold_reports_with_the_odds_of_the_coins(
    collector: Collector, page: Page, link: str, people: int
) -> None:
    site = f"""<!doctype html><title>x</title>{scripts(collector)}
        <form></form>"""
    with another_site(site) as address:
        page.goto(address)
        values = page.evaluate(
            """async ([link, people]) => {
                const forget = FORGET;
                await customElements.whenDefined("deniable-question");
                const form = document.querySelector("form");
                const values = [];
                for (let n = 0; n < people; n++) {
                    await forget();
                    const question = document.createElement("deniable-question");
                    question.setAttribute("src", link);
                    question.setAttribute("name", "affair");
                    const ready = new Promise((done) => question.addEventListener("deniable-ready", done));
                    form.replaceChildren(question);
                    await ready;
                    question.shadowRoot.querySelectorAll("input")[1].click();
                    const complete = new Promise((done) => question.addEventListener("deniable-complete", done));
                    question.shadowRoot.querySelector("button").click();
                    await complete;
                    values.push(new FormData(form).get("affair"));
                }
                return values;
            }""".replace("FORGET", FORGET),
            [link, people],
        )
    # 3/4 send Yes: of 300 with a standard deviation of 7.5. Beyond 40: a probability below 2e-7; of 75 beyond 20: 5e-7.
    assert len(values) == people
    assert abs(values.count("1") - people * 3 / 4) <= 40 * (people / 300) ** 0.5
    assert set(values) == {"0", "1"}


JQUERY = Path(__file__).parents[2] / "client/deniable_web/node_modules/jquery/dist/jquery.min.js"


def test_question_behaves_like_a_field_of_its_form(
    page: Page, survey: Survey, example: Callable[..., str], link: str
) -> None:
    page.add_init_script(
        """window.told = [];
        for (const event of ["deniable-ready", "deniable-complete", "change"]) {
            addEventListener(event, ({ type, target, detail }) => {
                if (target.localName === "deniable-question") window.told.push([type, detail]);
            });
        }"""
    )
    read = "() => { const it = document.querySelector('deniable-question'); return [it.value, it.reportValidity()] }"
    drawn = ""
    with another_site(example("form", link, "affair")) as address:
        page.goto(address)
        page.get_by_role("radio", name="Yes", exact=True).check()
        assert page.evaluate(read) == ["", False]
        for forget in ("document.querySelector('form').reset()", "dispatchEvent(new PageTransitionEvent('pagehide'))"):
            page.get_by_role("radio", name="Yes", exact=True).check()
            page.evaluate(forget)  # a choice that was not mixed yet
            expect(page.get_by_role("radio", name="Yes", exact=True)).not_to_be_checked()
        page.get_by_role("radio", name="Yes", exact=True).check()
        page.get_by_role("button", name="Mix in chance").click()
        for _ in range(2):  # drawn, and kept
            expect(page.get_by_text("This form gets only what chance made of your answer")).to_be_visible()
            value, is_valid = page.evaluate(read)
            assert (value in ("0", "1"), is_valid) == (True, True)
            drawn = drawn or value
            assert value == drawn
            page.add_script_tag(path=JQUERY)
            assert page.evaluate("jQuery('form').serialize()") == f"age=&q7={drawn}"
            assert page.evaluate(FORM_DATA) == [["age", ""], ["q7", drawn]]
            page.wait_for_function("window.told.length > 2")
            told = page.evaluate("window.told")
            assert [event for event, _ in told] == ["deniable-ready", "change", "deniable-complete"]
            assert all(detail == {"survey": survey.id} for event, detail in told if event != "change")
            page.reload()


@pytest.mark.parametrize("written", ["false", "true"])
def test_attributes_that_frameworks_write_as_words(
    page: Page, example: Callable[..., str], written: str, link: str
) -> None:
    with another_site(example("isolated", link).replace(" isolated", f' isolated="{written}"', 1)) as address:
        page.goto(address)
        place = page if written == "false" else page.frame_locator("iframe")
        expect(place.get_by_role("button", name="Start", exact=True)).to_be_visible()


@pytest.mark.parametrize("trouble", ["altered", "greedy", "no such question", "unreachable"])
def test_question_in_a_form_fails_closed(
    collector: Collector, page: Page, survey: Survey, example: Callable[..., str], trouble: str
) -> None:
    greedy = read_survey(SURVEY.replace('truth = "1/2"', "epsilon = 4.1"))
    link = collector.publish(greedy if trouble == "greedy" else survey)
    if trouble == "altered":
        page.route("**/api/v1/surveys/*", lambda route: route.fulfill(body=greedy.document.decode()))
    if trouble == "unreachable":
        page.route("**/api/v1/surveys/*", lambda route: route.abort())
    with another_site(example("form", link, "none" if trouble == "no such question" else "affair")) as address:
        page.goto(address)
        expect(page.get_by_text("Nothing was sent")).to_be_visible()
        assert page.evaluate(FORM_DATA) == [["age", ""]]
        page.get_by_label("Your age").fill("44")
        assert page.evaluate("document.querySelector('form').checkValidity()") is False
        assert page.get_by_role("radio").count() == 0


def test_an_interface_of_ones_own(
    collector: Collector, page: Page, survey: Survey, example: Callable[..., str]
) -> None:
    coin = read_survey(SURVEY[: SURVEY.rindex("[[questions]]")])
    link = collector.publish(coin)
    witness = Witness.of(page)
    with another_site(example("own-interface", f"{link}#cohort=web")) as address:
        page.goto(address)
        expect(page.get_by_text("Of 100 people whose true answer is Yes, about 75 send Yes")).to_be_visible()
        page.get_by_role("button", name="yes").click()
        expect(page.get_by_text(re.compile("Your reply has arrived"))).to_be_visible()
        page.reload()
        page.get_by_role("button", name="no", exact=True).click()
        expect(page.get_by_text(re.compile("Your reply has arrived"))).to_be_visible()
    assert len(witness.posts()) == 2
    assert len(set(witness.posts())) == 1
    assert collector.reports(coin) == 1

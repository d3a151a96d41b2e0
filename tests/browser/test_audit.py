"""The audit of what is served: faultless pages pass, and what is planted in the bundle is named."""

from __future__ import annotations

import random
import socket
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

import pytest
from playwright.sync_api import Page

from deniable_client.audit import shipped
from deniable_client.audit.blackbox import chromium as blackbox
from deniable_client.audit.blackbox import person
from deniable_client.audit.blackbox.chromium import as_worn, chromium
from deniable_client.audit.blackbox.listener import Listener
from deniable_client.audit.blackbox.person import Chance, Stuck, Tab
from deniable_client.audit.blackbox.stand_in import read_request, written
from deniable_client.audit.forms import FORMS
from deniable_client.audit.judge import Bench
from deniable_client.audit.release import check_served
from deniable_client.audit.shipped import Target, audit_forms, audit_shipped, check_promises, check_races
from tests.support.audited import Targets, target
from tests.support.marks import long
from tools.planted.__main__ import scripts_with
from tools.planted.faults import BUNDLE
from tools.planted.formed import FORMED
from tools.planted.fresh import FRESH
from tools.planted.second import SECOND
from tools.planted.targets import Kind, PlantedTarget, target_of
from tools.programs import chromium as chromium_path
from tools.programs import firefox as firefox_path
from tools.rig.collectors import Collector
from tools.rig.patience import PATIENCE, wait_until

__all__ = ["target"]


@pytest.fixture(scope="module")
def targets(collector: Collector) -> Targets:
    """The survey of planted clients at the collector of the room, by who is counted and whether reports are sealed."""
    return cache(partial(target_of, collector))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "BLOCK", 2)


def seen(target: Target, *histories: str, kind: str = "chromium") -> tuple[Bench, set[str]]:
    program = chromium_path() if kind == "chromium" else firefox_path()
    dice = random.Random(41)
    return audit_shipped(target, shipped.BLOCK, dice=dice, browsers=1, histories=histories, program=program, kind=kind)


def test_what_was_left_half_loaded_is_asked_for_as_at_first(page: Page) -> None:
    """By default Chromium asks for the rest by Range, so an audit would see when a page was left."""
    heads: list[bytes] = []
    catalogue = written(200, {"content-type": "text/plain", "etag": '"one"'}, b"x" * 30_000, 30_000)
    first = written(200, {"content-type": "text/html"}, b"<script>fetch('/rest')</script>", 31)
    left = threading.Event()

    def serve(connection: socket.socket, _number: int) -> None:
        with suppress(OSError), connection, connection.makefile("rb") as stream:
            while request := read_request(stream):
                if not request[0].startswith(b"GET /rest "):
                    connection.sendall(first)
                    continue
                heads.append(request[0])
                if len(heads) == 1:
                    connection.sendall(catalogue[:20_000])
                    left.wait(PATIENCE)
                    return
                connection.sendall(catalogue)

    listener = Listener(serve)
    with closing(listener):
        address = f"http://127.0.0.1:{listener.port}/"
        with page.expect_response("**/rest"):
            page.goto(address)
        page.goto("about:blank")
        left.set()
        with page.expect_event("requestfinished", lambda request: request.url.endswith("/rest")):
            page.goto(address)
    assert len(heads) == 2
    assert heads[0] == heads[1]


def test_a_head_that_chromium_sends_under_its_own_name_counts_as_every_other(targets: Targets) -> None:
    """On a busy machine it may send one such; here a tab is opened to which nobody gave the auditor's name."""
    target = targets("open")
    relay = target.relay()
    with closing(relay), chromium(relay, chromium_path()) as browser:
        link = f"{relay.url}/s/{target.surveys[0].id}"
        with browser.person() as somebody:
            tab = somebody.tab(None)
            tab.open(link)
            tab.wait("start")
            worn = {each.start: each.head.decode() for each in relay.take()}
        profile = browser.devtools.send("Target.createBrowserContext", {})["browserContextId"]
        browser.devtools.send("Target.createTarget", {"url": link, "browserContextId": profile})
        wait_until(lambda: {each.start for each in relay.sent} >= set(worn), "all files are asked for")
        bare = {each.start: each.head.decode() for each in relay.take()}
    assert all("HeadlessChrome" in bare[each] and bare[each] != worn[each] for each in worn)
    assert {each: as_worn(bare[each]) for each in worn} == {each: as_worn(worn[each]) for each in worn}


def test_served_pages_pass(target: Target) -> None:
    bench, names = seen(target, "twice")
    assert bench.sessions == 2
    assert bench.suspects(1e-6) == []
    assert names == set()


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "history"),
    [
        ("open", "a broken way"),
        ("open", "twice"),
        ("open", "a wave after a failure"),
        ("unlinkable and sealed", "two tabs"),
    ],
)
def test_served_pages_pass_in_firefox(targets: Targets, kind: Kind, history: str) -> None:
    bench, names = seen(targets(kind), history, kind="firefox")
    assert bench.suspects(1e-6) == []
    assert names == set()


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("chance in one's own hands", "report"),
        ("a picture elsewhere", "elsewhere.example"),
        ("a request at the click", "livez"),
        ("a service cache", "caches"),
    ],
)
def test_what_is_planted_in_the_bundle_is_named_in_firefox(
    target: Target, tmp_path: Path, name: str, named: str
) -> None:
    (fault,) = (each for each in BUNDLE if each.name == name)
    planted = PlantedTarget(
        target.upstream, target.surveys, target.companions, target.keys, scripts_with(fault, tmp_path)
    )
    bench, names = seen(planted, "once", kind="firefox")
    assert named in " ".join((*names, *(each.observable for each in bench.suspects(1e-6))))


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "history"),
    [
        ("open", "a wave after a failure"),
        ("open", "a revised survey"),
        ("invited", "once"),
        *(
            ("unlinkable and sealed", history)
            for history in ("a broken way", "cut off", "two tabs", "three waves", "a false signature")
        ),
    ],
)
def test_pages_pass_where_not_everybody_is_counted(targets: Targets, kind: Kind, history: str) -> None:
    bench, names = seen(targets(kind), history)
    assert bench.suspects(1e-6) == []
    assert names == set()


@pytest.mark.parametrize(
    ("kind", "browser"),
    [
        ("open", "chromium"),
        long("invited", "chromium"),
        long("unlinkable and sealed", "chromium"),
        long("open", "firefox"),
    ],
)
def test_words_of_the_first_screen_are_kept_in_each_state(targets: Targets, kind: Kind, browser: str) -> None:
    program = chromium_path() if browser == "chromium" else firefox_path()
    assert check_promises(targets(kind), dice=random.Random(41), program=program, kind=browser) == []


def filled_in(target: Target, *ways: str, kind: str = "chromium") -> tuple[Bench, set[str]]:
    """People who fill in forms with each of the four questions that can stand alone."""
    program = chromium_path() if kind == "chromium" else firefox_path()
    return audit_forms(target, 2, dice=random.Random(41), browsers=1, ways=ways, program=program, kind=kind)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["chromium", "firefox"])
@pytest.mark.parametrize("way", FORMS)
def test_a_form_gets_the_noisy_value_and_nothing_else_goes_with_the_answer(target: Target, way: str, kind: str) -> None:
    bench, names = filled_in(target, way, kind=kind)
    assert bench.sessions == 8
    assert bench.suspects(1e-6) == []
    assert names == set()


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("a value with a zero before it", "form 1"),
        ("a second event of a change", "events"),
        ("a pixel more while somebody answers", "sizes"),
        ("another database", "databases"),
        ("drawn again until it suits", "chance taken from the system"),
        ("a shared device sends the value before", "form 2"),
    ],
)
def test_what_is_planted_in_the_element_of_a_form_is_named(
    target: Target, tmp_path: Path, name: str, named: str
) -> None:
    (fault,) = (each for each in FORMED if each.name == name)
    scripts = scripts_with(fault, tmp_path)
    planted = PlantedTarget(target.upstream, target.surveys, target.companions, target.keys, scripts)
    bench, _ = filled_in(planted, *fault.histories)
    assert named in " ".join(each.observable for each in bench.suspects(1e-6))


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("who leaves no trace is remembered", "no trace: after Send something is kept"),
        ("a beacon for whoever leaves early", "closes the tab: POST state was sent after leaving"),
    ],
)
def test_a_page_that_breaks_its_word_is_named(target: Target, tmp_path: Path, name: str, named: str) -> None:
    (fault,) = (each for each in SECOND if each.name == name)
    scripts = scripts_with(fault, tmp_path)
    planted = PlantedTarget(target.upstream, target.surveys, target.companions, target.keys, scripts)
    assert named in check_promises(planted, dice=random.Random(41), program=chromium_path())


@pytest.mark.long
@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_two_tabs_at_once_make_one_report(target: Target, browser: str) -> None:
    program = chromium_path() if browser == "chromium" else firefox_path()
    assert check_races(target, 2, dice=random.Random(41), program=program, kind=browser) == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "history", "named"),
    [
        ("20 ms more before a report of Yes", "once", "setTimeout a function 20"),
        ("a report that failed is drawn anew", "put off", "report 2"),
        ("a packet by WebRTC for Yes", "once", "call that a page has no need of"),
    ],
)
def test_what_a_vendor_planted_is_named(target: Target, tmp_path: Path, name: str, history: str, named: str) -> None:
    (fault,) = (each for each in FRESH if each.name == name)
    scripts = scripts_with(fault, tmp_path)
    bench, _ = seen(PlantedTarget(target.upstream, target.surveys, target.companions, target.keys, scripts), history)
    assert named in " ".join(each.observable for each in bench.suspects(1e-6))


def test_what_is_planted_in_the_bundle_is_named(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "BLOCK", 1)  # the second implementation knows what one person must send
    (fault,) = (each for each in BUNDLE if each.name == "chance in one's own hands")
    planted = PlantedTarget(
        target.upstream, target.surveys, target.companions, target.keys, scripts_with(fault, tmp_path)
    )
    bench, _ = seen(planted, "once")
    assert any(each.observable.startswith("report") for each in bench.suspects(1e-6))
    relay = planted.relay()
    served = check_served(relay, target.companions.survey.id)
    relay.close()
    assert served.release is None
    assert "no release known here" in served.faults[-1]


@pytest.mark.parametrize("kind", ["open", long("unlinkable and sealed")])
def test_page_and_script_are_those_of_this_release(targets: Targets, kind: Kind) -> None:
    target = targets(kind)
    relay = target.relay()
    served = check_served(relay, target.companions.survey.id)
    relay.close()
    assert served.release is not None
    assert served.faults == ()


DISGUISED = """[
    crypto.getRandomValues.toString(), crypto.getRandomValues.name, crypto.getRandomValues.length,
    Object.keys(Object.getOwnPropertyDescriptor(Crypto.prototype, "getRandomValues")).join(),
    setTimeout.toString(), setTimeout.length, Date.toString(), Date.name, typeof Date(), new Date(0).toISOString(),
    new Date().constructor === Date, new Date() instanceof Date, Object.getOwnPropertyNames(Date).sort().join(),
    (() => { class Day extends Date {} return new Day() instanceof Day; })(),
    JSON.stringify(Object.getOwnPropertyDescriptors(globalThis).setTimeout), AbortSignal.timeout.toString(),
    (() => { try { new RTCPeerConnection(1); } catch (error) { return error.stack; } })(),
    (() => { try { performance.now.call({}); } catch (error) { return error.stack; } })(),
    Object.hasOwn(crypto, "getRandomValues"), Math.random.toString(), Function.prototype.toString.toString(),
    (() => { try { crypto.getRandomValues(1); } catch (error) { return error.stack; } })(),
    (() => { try { crypto.getRandomValues.call({}, new Uint8Array(1)); } catch (error) { return error.message; } })(),
    Object.getOwnPropertyNames(window).filter((name) => /taken|chance|audit/i.test(name)).join(),
    navigator.webdriver, navigator.userAgent, JSON.stringify(navigator.userAgentData),
].join("\\n")"""


@dataclass
class Looked:
    """What was seen of one page under the auditor's chance, under the system's, and of a page elsewhere."""

    told: list[str] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    late: str = ""


@pytest.fixture(scope="module")
def looked(target: Target) -> Looked:
    """One browser for all of it."""
    return look(target)


def look(target: Target) -> Looked:
    relay, looked = target.relay(), Looked()
    try:
        with chromium(relay, chromium_path()) as browser, browser.person() as somebody:
            for chance in (None, Chance((1,), {})):
                tab = somebody.tab(chance)
                tab.open(f"{relay.url}/s/{target.surveys[0].id}")
                tab.wait("start")
                looked.told.append(tab.session.send("Runtime.evaluate", {"expression": DISGUISED})["result"]["value"])
                word = "crypto.getRandomValues(new Uint32Array(1))[0]"
                looked.words.append(tab.session.send("Runtime.evaluate", {"expression": word})["result"]["value"])
            looked.late = never_answered(tab)
            tab.open("http://elsewhere.example/")
            wait_until(lambda: tab.look("1") and any("elsewhere" in text for _, text in somebody.events), "it asks")
            time.sleep(0.2)  # a name is looked up before anything is sent there
    finally:
        relay.close()
    looked.names = browser.names  # known once it has ended
    return looked


def never_answered(tab: Tab) -> str:
    """What an audit says of a page whose answer does not come."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blackbox, "_IN_TIME", blackbox._IN_TIME.replace("15000", "200"))
        with pytest.raises(Stuck) as stuck:
            tab.look("new Promise(() => {})")
    return str(stuck.value).splitlines()[0]


@pytest.mark.long
def test_no_more_people_come_where_none_gets_to_the_end(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person, "PATIENCE", 0.3)
    nowhere = Target("http://127.0.0.1:9", target.surveys, target.companions, target.keys)
    bench, _ = audit_shipped(nowhere, 100, browsers=1, histories=("once",), program=chromium_path())
    assert shipped.IN_VAIN <= bench.sessions < shipped.IN_VAIN + shipped.BLOCK
    (found,) = bench.suspects(1e-6)
    assert "did not come to its end" in found.example


def test_a_page_that_never_answers_does_not_hold_an_audit_up(looked: Looked) -> None:
    assert looked.late == "page: Error: gave no answer in time"


def test_names_that_a_page_asks_for_are_noted(looked: Looked) -> None:
    assert looked.names == {"elsewhere.example"}


def test_a_page_cannot_tell_the_auditors_chance_from_the_systems(looked: Looked) -> None:
    assert looked.told[0] == looked.told[1]
    assert "Headless" not in looked.told[1]
    assert "\nfalse\nMozilla" in looked.told[1], "navigator.webdriver says that a program sits before the page"
    assert looked.words[0] != 1 == looked.words[1], "a word of the system is 1 with a probability of 2**-32"

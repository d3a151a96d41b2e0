"""Commands to a browser and what comes of them, over pipes; a small program stands in for the browser."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from deniable_client.audit.blackbox.devtools import Devtools
from deniable_client.audit.blackbox.person import BrowserRefusal

BROWSER = """
import json, os, time

def say(**message):
    text = json.dumps(message).encode() + b"\\0"
    os.write(4, text[:5])
    os.write(4, text[5:])

came, held = b"", []
while piece := os.read(3, 65536):
    *texts, came = (came + piece).split(b"\\0")
    for each in map(json.loads, texts):
        method, about = each["method"], {"id": each["id"]}
        if method == "Browser.close":
            raise SystemExit
        if method == "End":
            os._exit(1)
        if method == "Hold":
            held.append(about)
        elif method == "Fail":
            say(**about, error={"message": "no such thing"})
        else:
            say(method="Heard", params={"method": method}, sessionId=each.get("sessionId", ""))
            say(**about, result={"zone": os.environ["TZ"], **each["params"]})
            for one in held:
                say(**one, result={"held": True})
            held.clear()
"""


@pytest.fixture
def devtools() -> Iterator[Devtools]:
    browser = Devtools([sys.executable, "-c", BROWSER], {"TZ": "Pacific/Chatham"})
    yield browser
    browser.close()


def test_a_command_gets_its_answer_and_a_session_its_events(devtools: Devtools) -> None:
    heard: list[tuple[str, dict[str, object]]] = []
    devtools.hears["one"] = lambda event, told: heard.append((event, told))
    assert devtools.send("Ask", {"n": 1}, "one") == {"zone": "Pacific/Chatham", "n": 1}
    assert devtools.send("Ask", {"n": 2}, "other")["n"] == 2
    assert heard == [("Heard", {"method": "Ask"})]


def test_answers_may_come_in_any_order(devtools: Devtools) -> None:
    late, unwanted = devtools.tell("Hold"), devtools.tell("Hold")
    devtools.leave(unwanted)
    assert devtools.send("Ask", {"n": 3})["n"] == 3
    assert devtools.answer(late) == {"held": True}


def test_what_a_browser_does_not_do_is_a_refusal_with_its_words(devtools: Devtools) -> None:
    with pytest.raises(BrowserRefusal, match=r"^Fail: no such thing$"):
        devtools.send("Fail")


def test_a_browser_that_ends_is_a_refusal_at_once(devtools: Devtools) -> None:
    with pytest.raises(BrowserRefusal, match=r"^End: the browser has ended$"):
        devtools.send("End")
    with pytest.raises(BrowserRefusal, match="the browser has ended"):
        devtools.send("Ask")


def test_a_program_that_is_not_there_is_a_refusal() -> None:
    browser = Devtools(["/nowhere/chromium"], {})
    with pytest.raises(BrowserRefusal, match="the browser has ended"):
        browser.send("Ask")
    browser.close()

"""People who answer through the Python client as a process, seen from the kernel; and the page of findings."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from deniable import read_survey
from deniable_client.audit import shipped
from deniable_client.audit.blackbox.person import _without_screens
from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.findings import AuditPart, Spent, as_json, as_junit, as_text
from deniable_client.audit.histories import Session
from deniable_client.audit.judge import Suspect, expect_of_browser
from deniable_client.audit.python_histories import expect_of_python
from deniable_client.audit.races import _not_one
from deniable_client.audit.reference.published import PublishedSurvey
from deniable_client.audit.release import _of_page, integrity
from deniable_client.audit.shipped import Target, audit_installed
from tests.support.audited import Targets, target, targets
from tests.support.marks import long
from tools.planted.__main__ import python_with
from tools.planted.faults import PYTHON
from tools.planted.fresh import FRESH
from tools.planted.second import SECOND
from tools.planted.targets import SURVEY, Kind

__all__ = ["target", "targets"]


ASKED = PublishedSurvey(read_survey(SURVEY).document)

PEOPLE = 3
"""Sessions of an audit here. What is planted shows in each of them, or wherever the answer is Yes."""


def suspects(target: Target, history: str, environment: Mapping[str, str] | None = None) -> list[Suspect]:
    dice = random.Random(41)
    return audit_installed(target, PEOPLE, dice=dice, environment=environment, histories=[history]).suspects(1e-6)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "BLOCK", PEOPLE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "history"),
    [
        ("unlinkable and sealed", "three waves"),
        *(long("open", history) for history in ("a broken way", "cut off", "two tabs")),
        *(long("unlinkable and sealed", history) for history in ("a broken way", "cut off", "two tabs", "twice")),
        long("invited", "twice"),
        *(long("unlinkable", history) for history in ("a lost signature", "a false signature")),
    ],
)
def test_the_installed_client_passes(targets: Targets, kind: Kind, history: str) -> None:
    assert suspects(targets(kind), history) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "history", "named"),
    [
        # Both at once: what is planted in one place hides nothing elsewhere.
        (("words of the clock", "a file beside the memory"), "once", ("report 1", "deniable-cache")),
        long(("a wave sends the permanent value",), "three waves", ("report 1",)),
        long(("the file's time is odd for Yes",), "once", ("no need of",)),
    ],
)
def test_planted_faults_are_named(
    target: Target, tmp_path: Path, names: tuple[str, ...], history: str, named: tuple[str, ...]
) -> None:
    environment = python_with([each for each in (*PYTHON, *FRESH) if each.name in names], tmp_path)
    found = suspects(target, history, environment)
    for each in named:
        assert any(each in suspect.observable for suspect in found), found


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("a second request for a token where the first was lost", "request for a token 2"),
        ("a deleted token stays in the file", "left of requests for tokens"),
    ],
)
def test_faults_of_tokens_are_named(targets: Targets, tmp_path: Path, name: str, named: str) -> None:
    found = suspects(
        targets("unlinkable"), "a lost signature", python_with([each for each in SECOND if each.name == name], tmp_path)
    )
    assert named in [each.observable for each in found]


@pytest.mark.parametrize(
    ("operation", "is_needed"),
    [
        ("socket", True),
        ("connect COLLECTOR", True),
        ("pwrite64 /DEVICE/memory.db 4096", True),
        ("open /usr/lib/python3/urllib3/retry.py 0", True),
        ("setsockopt 6 1 01000000", True),
        ("setsockopt 0 1 10000000", False),  # what a packet says of its kind
        ("clock_nanosleep", False),
        ("futex", False),
        ("utimensat /DEVICE/memory.db", False),
        ("bind 0.0.0.0:40001", False),
        ("connect 127.0.0.1:9", False),
        ("open /tmp/other 101", False),
        ("stdout", False),
    ],
)
def test_a_client_that_does_what_it_has_no_need_of_is_named(operation: str, is_needed: bool) -> None:
    found = [
        name for name, _ in expect_of_python(Session("once", (), surveys=[ASKED]), Trace({f"step 1, {operation}": "1"}))
    ]
    assert found == ([] if is_needed else ["operation that a client has no need of"])


@pytest.mark.parametrize(
    ("call", "is_needed"),
    [
        ("setTimeout a function 20", True),
        ("setTimeout a function", True),
        ("requestAnimationFrame a function", True),
        ("Date.now", True),
        ("RTCPeerConnection an object", False),
        ("Worker x", False),
        ('History.prototype.pushState {"deniable":"WALK","at":1,"n":0} ""', True),
        ('History.prototype.replaceState {"deniable":"WALK","at":1,"n":0,"answer":1} ""', False),
        ('History.prototype.pushState null "" "/s/yes"', False),
    ],
)
def test_a_page_that_calls_what_it_has_no_need_of_is_named(call: str, is_needed: bool) -> None:
    trace = Trace({f"tab 1, visit 1, receipt, calls, {call}": "1"})
    found = [name for name, _ in expect_of_browser(Session("once", (), surveys=[ASKED]), trace)]
    assert ("call that a page has no need of" in found) != is_needed


def test_screens_that_say_to_wait_are_no_change_of_a_document() -> None:
    shown = [["attributes", "html", "lang", "en", [], []], ["attributes", "html", "dir", "ltr", [], []]]
    other = ["childList", "head", None, None, ["style"], []]
    assert _without_screens([*shown, other, *shown], 1) == [*shown, other]
    assert _without_screens([*shown, other, *shown], 0) == [*shown, other, *shown]
    assert _without_screens([other], 2) == [other]


def test_two_tabs_at_once_may_send_one_report_and_keep_it() -> None:
    assert list(_not_one({"a"}, ["a"])) == []
    assert "different reports" in next(_not_one({"a", "b"}, ["a"]))
    assert "keep something else" in next(_not_one({"a"}, ["b"]))


PARTS = [
    AuditPart("one", "Looked at bytes."),
    AuditPart("two", "Looked at words.", ("report 1: \x01 came", "memory: another")),
]


SPENT = Spent(123.45, 67.8)


def test_findings_for_people_and_programs() -> None:
    assert str(SPENT).startswith("This audit took 2 min 3 s, and 68 s of processor time on ")
    text = as_text(PARTS)
    assert text.startswith("passed  one")
    assert "FAILED  two" in text
    assert "* memory: another" in text
    content = json.loads(as_json(PARTS, SPENT))
    assert (content["passed"], content["seconds"], content["processor"]) == (False, 123.5, 67.8)
    assert [part["faults"] for part in content["parts"]] == [[], list(PARTS[1].faults)]
    suite = ElementTree.fromstring(as_junit(PARTS, SPENT))
    assert (suite.get("tests"), suite.get("failures"), suite.get("time")) == ("2", "1", "123.5")
    assert [case.find("failure") is not None for case in suite] == [False, True]


SCRIPT = b"export {};"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)
PAGE = f'<script src="/client/deniable.js" integrity="{integrity(SCRIPT)}"></script><p>x</p>'


@pytest.mark.parametrize(
    ("page", "policy", "fault"),
    [
        (PAGE, POLICY, None),
        (PAGE + "<script>1</script>", POLICY, "must load one script"),
        (PAGE.replace("sha384-", "sha384-x"), POLICY, "is not that of the script"),
        (PAGE + '<p onclick="x()">', POLICY, "has an attribute onclick"),
        (PAGE + '<img src="/a.png">', POLICY, "holds <img>"),
        (PAGE + '<link rel="stylesheet" href="https://elsewhere.example/a.css">', POLICY, "loads from another place"),
        (PAGE + '<link rel="prefetch" href="/a">', POLICY, "links 'prefetch'"),
        (PAGE, POLICY.replace("script-src 'self'", "script-src 'self' 'unsafe-inline'"), "script-src must be"),
        (PAGE, POLICY.replace("connect-src 'self'", "connect-src *"), "connect-src must be"),
        (PAGE, "", "default-src must be"),
    ],
)
def test_pages_that_are_served(page: str, policy: str, fault: str | None) -> None:
    answer = (200, {"content-security-policy": policy}, page.encode())
    faults = list(_of_page(answer, "deniable.js", integrity(SCRIPT), "https://collector.example"))
    assert faults == [] if fault is None else any(fault in each for each in faults), faults

"""What the first screen says of requests and of memory, and whether the browser does it, in each state that it knows.

Somebody reads everything on the first screen, presses Start, answers, presses Send, and opens the link again: as it
is, where storage is blocked, and after a tick for no trace. Others leave quickly before Send, or close the tab.
Sentences and buttons are found by their names in the client's catalogue, whatever words stand there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from deniable_client.audit.blackbox.person import PATIENCE, Stuck, Tab, Watching
from deniable_client.audit.blackbox.stand_in import Sent
from deniable_client.audit.reference.published import PublishedSurvey

STATES = {
    "as it is": "in a browser as it is",
    "storage blocked": "in one that stores nothing",
    "no trace": "after a tick at the choice to leave no trace",
    "leaves quickly": "leaving quickly before Send",
    "closes the tab": "and closing the tab before Send",
}
"""By name what somebody does, in words."""

SENTENCES = (
    *("nothingYet", "startSends", "hashSent", "drawnKept", "fleeting"),
    *("answerKept", "answerKeptWeak", "answerKeptNone", "noTraceOn"),
    *("leave", "answerStop", "answerStopToken", "answerStopSpent", "exitText"),
)
"""The names of what is said of requests and of memory."""

STATE, USE, TOKEN = "GET state", "POST invitations/state", "POST tokens"
"""What may be sent before Send: whether the survey is open, whether the invitation was used, what is to be signed."""

_STORED = """(async () => {
  try {
    return { databases: (await indexedDB.databases()).length, texts: Object.keys(localStorage) };
  } catch {
    return { databases: 0, texts: [] };
  }
})()"""
"""What is stored; where storage is blocked, nothing."""


@dataclass
class Kept:
    """What one person read, and what was seen meanwhile.

    Attributes
    ----------
    said : set of str
        Names of `SENTENCES` that stood on the first screen when Start was pressed.
    sent : dict of str to list
        By "before Start", "at Start", "before Send" and "after Send": what was sent to the device's interface. What is
        "at Start" was sent before a question was on the screen. Who leaves before Send has nothing after it but what
        was seen when they had left.
    memory : dict of str to mapping
        What is stored, at the same moments.
    is_known : bool
        Whether the link, opened again, shows a receipt instead of a start.
    is_here : bool
        Whether the tab still shows the survey's page in the end.
    can_begin : bool
        Whether the link, opened again, leads to the first question, for somebody who left before Send.
    """

    said: set[str] = field(default_factory=set)
    sent: dict[str, list[str]] = field(default_factory=dict)
    memory: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    is_known: bool = False
    is_here: bool = True
    can_begin: bool = True

    @property
    def has_left(self) -> bool:
        """Whether this was somebody who left before Send."""
        return "after Send" not in self.sent


@cache
def sentence(name: str, page: str = "start") -> str:
    """A sentence of the first screen, or of another page, in English."""
    words = json.loads((files("deniable_web") / "words" / f"{page}.json").read_text(encoding="utf-8"))
    found: str = words[name]["en"]
    return found


def read_and_answer(
    browser: Watching, survey: PublishedSurvey, state: str, answers: Mapping[str, Any], invitation: str
) -> Kept:
    """One person, with a fresh profile, in a state."""
    relay, kept = browser.relay, Kept()
    relay.take()
    fragment = f"#invitation={invitation}" if survey.access != "open" else ""
    with browser.person() as person:
        tab = person.tab(None)
        if state == "storage blocked":
            tab.block_storage()
        tab.open(f"{relay.url}/s/{survey.id}{fragment}")
        tab.wait("start")
        tab.unfold()
        if state == "no trace":
            tab.click("named", sentence("noTrace"))
            tab.wait("text", sentence("noTraceOn"))
        kept.said = {name for name in SENTENCES if tab.says(sentence(name))}
        _note(kept, "before Start", tab, relay.take())
        tab.click("start")
        tab.wait("place", [])
        _note(kept, "at Start", tab, relay.take())
        tab.answer(answers)
        _note(kept, "before Send", tab, relay.take())
        if state in _LEAVING:
            kept.is_here = _LEAVING[state](tab, relay.url)
        else:
            tab.click("send")
            tab.wait("receipt")
            _note(kept, "after Send", tab, relay.take())
        again = person.tab(None)
        if state == "storage blocked":
            again.block_storage()
        again.open(f"{relay.url}/s/{survey.id}{fragment}")
        # The link once more, in the same profile: whether the device knows what was sent.
        kept.is_known = again.wait("either") == "receipt"
        if kept.has_left and not kept.is_known:
            _note(kept, "after leaving", again, relay.take())
            again.click("start")
            kept.can_begin = bool(again.wait("place", []))
    return kept


def _leave_quickly(tab: Tab, url: str) -> bool:
    tab.click("named", sentence("exit"))
    give_up = time.monotonic() + PATIENCE
    while is_here := _is_at(tab, url):
        if time.monotonic() > give_up:
            break
        time.sleep(0.01)
    return is_here


def _is_at(tab: Tab, url: str) -> bool:
    try:
        return str(tab.look("location.href")).startswith(url)
    except Stuck:  # between two pages
        return True


def _close(tab: Tab, _url: str) -> bool:
    tab.close()
    return False


_LEAVING: dict[str, Callable[[Tab, str], bool]] = {"leaves quickly": _leave_quickly, "closes the tab": _close}
"""By state how somebody leaves before Send; each says whether the survey is still there."""


def _note(kept: Kept, when: str, tab: Tab, came: list[Sent]) -> None:
    kept.sent[when] = [_name_of(each.start) for each in came if "/api/" in each.start or _says(each.start)]
    kept.memory[when] = tab.look(_STORED)


def _name_of(start: str) -> str:
    """Method and address of a request, without the address of the survey."""
    method, _, path = start.partition(" ")
    return f"{method} {path.split('/surveys/')[-1].partition('/')[2] or path}"


def _says(start: str) -> bool:
    """Whether a request could say more than which file is wanted."""
    return not start.startswith("GET ") or "?" in start


def broken(survey: PublishedSurvey, state: str, kept: Kept) -> Iterator[str]:
    """Where what the first screen said and what was seen differ."""
    tells = survey.access == "invited" and survey.content.get("results") != "live"
    lasts = state not in ("storage blocked", "no trace")
    buys = survey.access == "unlinkable"
    wanted = {
        "leave": True,
        "exitText": True,
        "answerStop": not buys,
        "answerStopToken": buys and lasts,
        "answerStopSpent": buys and not lasts,
        "nothingYet": True,
        "startSends": buys,
        "hashSent": tells,
        "drawnKept": survey.is_drawn and lasts,
        "fleeting": state == "storage blocked",
        "noTraceOn": state == "no trace",
        "answerKeptNone": not lasts,
    }
    for name, is_right in wanted.items():
        if (name in kept.said) != is_right:
            yield f"{state}: the first screen {'does not say' if is_right else 'says'} {sentence(name)!r}"
    # Which of the two sentences depends on the strength of the noise; one of them has to be there.
    if lasts != bool(kept.said & {"answerKept", "answerKeptWeak"}):
        yield f"{state}: the first screen {'does not say' if lasts else 'says'} that what was sent is remembered"
    yield from _seen(survey, state, kept, lasts)
    yield from (_left(state, kept) if kept.has_left else _answered(state, kept, lasts))


def _left(state: str, kept: Kept) -> Iterator[str]:
    """Who leaves before Send leaves no answer anywhere, is elsewhere, and can begin anew."""
    for each in sorted(set(kept.sent["after leaving"]) - {STATE, USE}):
        yield f"{state}: {each} was sent after leaving"
    if kept.memory["after leaving"] != kept.memory["before Send"]:
        yield f"{state}: leaving changed what is kept"
    if kept.is_here:
        yield f"{state}: the page of the survey is still there"
    if kept.is_known or not kept.can_begin:
        yield f"{state}: the link, opened again, does not begin anew"


def _answered(state: str, kept: Kept, lasts: bool) -> Iterator[str]:
    if bool(kept.memory["after Send"]["databases"]) != lasts or (kept.memory["after Send"]["texts"] and not lasts):
        yield f"{state}: after Send something is {'not ' if lasts else ''}kept"
    if kept.is_known != lasts:
        yield f"{state}: the link, opened again, shows {'a start' if lasts else 'what was answered'}"


def _seen(survey: PublishedSurvey, state: str, kept: Kept, lasts: bool) -> Iterator[str]:
    before = [*kept.sent["before Start"], *kept.sent["at Start"], *kept.sent["before Send"]]
    allowed = {STATE} | ({TOKEN} if "startSends" in kept.said else set())
    allowed |= {USE} if "hashSent" in kept.said else set()
    for each in sorted(set(before) - allowed):
        yield f"{state}: {each} was sent before Send, and the first screen does not say so"
    for each in sorted(set(kept.sent["before Send"])):
        yield f"{state}: {each} was sent while somebody answered, and no answer may be sent before Send"
    if TOKEN in kept.sent["before Start"]:
        yield f"{state}: the invitation was sent before Start"
    for said, request in (("startSends", TOKEN), ("hashSent", USE)):
        if said in kept.said and request not in before:
            yield f"{state}: the first screen says {sentence(said)!r}, and nothing was asked"
    if kept.memory["before Start"]["databases"]:
        yield f"{state}: something is kept before Start"
    # A draw of questions and the request for a token must outlive a reload, or they could be made twice.
    needs_memory = lasts and (survey.is_drawn or survey.access == "unlinkable")
    if bool(kept.memory["before Send"]["databases"]) != needs_memory:
        yield f"{state}: before Send something is {'not ' if needs_memory else ''}kept"

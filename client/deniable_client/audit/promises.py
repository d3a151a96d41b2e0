"""What the first screen says of requests and of memory, and whether the browser does it, in each state that it knows.

Somebody reads everything on the first screen, presses Start, answers, presses Send, and opens the link again: as it
is, where storage is blocked, and after a tick for no trace. Sentences are those of the client's English catalogue.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from deniable_client.audit.blackbox.person import Tab, Watching
from deniable_client.audit.blackbox.stand_in import Sent
from deniable_client.audit.reference.published import PublishedSurvey

STATES = ("as it is", "storage blocked", "no trace")

SENTENCES = (
    *("nothingYet", "startSends", "hashSent", "drawnKept", "fleeting"),
    *("answerKept", "answerKeptWeak", "answerKeptNone", "noTraceOn"),
)
"""The names of what is said of requests and of memory."""

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
        By "before Start", "before Send" and "after Send": what was sent to the device's interface.
    memory : dict of str to mapping
        By "before Start", "before Send" and "after Send": what is stored.
    is_known : bool
        Whether the link, opened again, shows a receipt instead of a start.
    """

    said: set[str] = field(default_factory=set)
    sent: dict[str, list[str]] = field(default_factory=dict)
    memory: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    is_known: bool = False


@cache
def sentence(name: str) -> str:
    """A sentence of the first screen, in English."""
    words = json.loads((files("deniable_web") / "words" / "start.json").read_text(encoding="utf-8"))
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
            tab.click("press", ".folds input[type=checkbox]")
            tab.wait("text", sentence("noTraceOn"))
        kept.said = {name for name in SENTENCES if tab.says(sentence(name))}
        _note(kept, "before Start", tab, relay.take())
        tab.click("start")
        tab.answer(answers)
        _note(kept, "before Send", tab, relay.take())
        tab.click("send")
        tab.wait("receipt")
        _note(kept, "after Send", tab, relay.take())
        again = person.tab(None)
        if state == "storage blocked":
            again.block_storage()
        again.open(f"{relay.url}/s/{survey.id}{fragment}")
        # The link once more, in the same profile: whether the device knows what was sent.
        kept.is_known = again.wait("either") == "receipt"
    return kept


def _note(kept: Kept, when: str, tab: Tab, came: list[Sent]) -> None:
    kept.sent[when] = [
        name
        for each in came
        if "/api/" in each.start
        for name in (each.start.split("/surveys/")[-1].partition("/")[2] or "survey",)
    ]
    kept.memory[when] = tab.look(_STORED)


def broken(survey: PublishedSurvey, state: str, kept: Kept) -> Iterator[str]:
    """Where what the first screen said and what was seen differ."""
    asks = {"open": "nothingYet", "unlinkable": "startSends"}.get(survey.access)
    tells = survey.access == "invited" and survey.content.get("results") != "live"
    lasts = state == "as it is"
    wanted = {
        "nothingYet": asks == "nothingYet" or (survey.access == "invited" and not tells),
        "startSends": asks == "startSends",
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


def _seen(survey: PublishedSurvey, state: str, kept: Kept, lasts: bool) -> Iterator[str]:
    before = [*kept.sent["before Start"], *kept.sent["before Send"]]
    allowed = {"state"} | ({"tokens"} if "startSends" in kept.said else set())
    allowed |= {"invitations/state"} if "hashSent" in kept.said else set()
    for each in sorted(set(before) - allowed):
        yield f"{state}: {each} was asked for before Send, and the first screen does not say so"
    if "tokens" in kept.sent["before Start"]:
        yield f"{state}: the invitation was sent before Start"
    for said, path in (("startSends", "tokens"), ("hashSent", "invitations/state")):
        if said in kept.said and path not in before:
            yield f"{state}: the first screen says {sentence(said)!r}, and nothing was asked"
    if kept.memory["before Start"]["databases"]:
        yield f"{state}: something is kept before Start"
    # A draw of questions and the request for a token must outlive a reload, or they could be made twice.
    needs_memory = lasts and (survey.is_drawn or survey.access == "unlinkable")
    if bool(kept.memory["before Send"]["databases"]) != needs_memory:
        yield f"{state}: before Send something is {'not ' if needs_memory else ''}kept"
    if bool(kept.memory["after Send"]["databases"]) != lasts or (kept.memory["after Send"]["texts"] and not lasts):
        yield f"{state}: after Send something is {'not ' if lasts else ''}kept"
    if kept.is_known != lasts:
        yield f"{state}: the link, opened again, shows {'a start' if lasts else 'what was answered'}"

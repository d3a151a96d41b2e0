"""Two tabs in which somebody presses Send at the same moment, with other answers in each: one report may come of it.

Which of them is quicker is nobody's choice, so no chance is put under these pages, and nothing is computed again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deniable_client.audit.blackbox.person import PATIENCE, Stuck, Tab, Watching
from deniable_client.audit.reference.published import PublishedSurvey

AHEAD = 150
"""Milliseconds from when both tabs are told to press until they do."""

_PRESS = """(() => {
  const { shadowRoot } = document.querySelector("deniable-survey");
  const button = [...shadowRoot.querySelectorAll(".review button[part]")].at(-1);
  setTimeout(() => button.click(), %d - Date.now());
})()"""
"""In the world of the recorder, whose timers and clock are not the page's."""

_KEPT = """new Promise((done) => {
  const request = indexedDB.open("deniable", 1);
  request.onerror = () => done("[]");
  request.onsuccess = () => {
    const asked = request.result.transaction("memory").objectStore("memory").get(0);
    asked.onsuccess = () => {
      request.result.close();
      done(JSON.stringify(Object.values(asked.result?.reports ?? {}).map(({ report }) => report)));
    };
  };
})"""


def race(
    browser: Watching, survey: PublishedSurvey, answers: Sequence[Mapping[str, Any]], invitation: str
) -> list[str]:
    """What two tabs of one fresh device made of two sets of answers that is not one report, kept and sent."""
    relay = browser.relay
    relay.take()
    fragment = f"#invitation={invitation}" if survey.access != "open" else ""
    with browser.person() as person:
        tabs = [person.tab(None) for _ in answers]
        for tab, given in zip(tabs, answers, strict=True):
            tab.open(f"{relay.url}/s/{survey.id}{fragment}")
            tab.click("start")
            tab.answer(given)
        moment = int(time.time() * 1000) + AHEAD
        for tab in tabs:
            tab.look(_PRESS % moment)
        for tab in tabs:
            _arrived(tab)
        came = [relay.in_clear(each.start, each.body).padded.rstrip(b"\0") for each in relay.take() if each.is_report]
        kept = json.loads(tabs[0].look(_KEPT))
    return list(_not_one({each.decode("latin-1") for each in came}, kept))


def _not_one(sent: set[str], kept: Sequence[str]) -> Iterator[str]:
    if len(sent) != 1:
        yield f"two tabs sent {len(sent)} different reports"
    elif kept != [*sent]:
        yield "two tabs keep something else than the report that was sent"


def _arrived(tab: Tab) -> None:
    """Wait until a tab shows the receipt: its own, or that of the other one's report."""
    give_up = time.monotonic() + PATIENCE
    while tab.wait("either") != "receipt":
        if time.monotonic() > give_up:
            raise Stuck("page: shows no receipt")
        time.sleep(0.01)

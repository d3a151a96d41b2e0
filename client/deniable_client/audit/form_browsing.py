"""Forms in a real browser: somebody fills them in, step by step, with the recorder beside them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence

from deniable_client.audit.blackbox.form_host import FormHost
from deniable_client.audit.blackbox.person import Chance, Person, Tab, Watching
from deniable_client.audit.blackbox.stand_in import Sent
from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.browsing import chance_of
from deniable_client.audit.forms import NAME, FormSession
from deniable_client.audit.reference.published import PublishedSurvey

_BEGINS = re.compile(r"^GET \S*(/client/catalogues/en\.json|/api/v1/surveys/[a-z2-7]{26})( Fetch)?$")
"""What an element asks for when it begins."""

_KNOWN = re.compile(r"(?im)^(if-none-match|cache-control|pragma): .*\r\n")

_MIX = "fieldset button"
"""The button that mixes in chance, in the element."""


def fill_in(browser: Watching, session: FormSession, surveys: Sequence[PublishedSurvey]) -> Trace:
    """One person's forms, and all that was seen of them."""
    relay = browser.relay
    relay.take()
    relay.faults.clear()
    with FormHost(relay) as host, browser.person() as person:
        loads = (chance_of(load, ()) for load in session.loads)
        for number, visit in enumerate(session.form_visits):
            host.show(surveys[visit.survey].id, session.question, NAME, is_shared=visit.is_shared)
            _Filling(person, session, number, host.url, loads).go()
        person.leave()
        left_out = relay.leave_out(lambda each: _is_begun_anew(person, each))
        trace = person.trace([str(visit) for visit in session.form_visits])
        trace.loose["requests of pages that were left"] = left_out
        return _without_cache(trace) if person.leaving else trace


def _without_cache(trace: Trace) -> Trace:
    """The trace without what the cache knew, which depends on whether a request of a left page was answered."""
    for name, value in trace.exact.items():
        if name.endswith(", head"):
            trace.exact[name] = _KNOWN.sub("", value)
    return trace


def _is_begun_anew(person: Person, sent: Sent) -> bool:
    """Whether a request may come of an element on a shared device, which begins anew while its page goes away.

    Whether such a request still leaves the browser is a race, and so is what the browser's own protocol says of it.
    """
    return bool(_BEGINS.search(sent.start)) and any(begin < sent.time < end for begin, end in person.leaving)


class _Filling:
    """One visit."""

    def __init__(self, person: Person, session: FormSession, number: int, url: str, loads: Iterator[Chance]) -> None:
        self.person, self.session, self.number, self.url, self.loads = person, session, number, url, loads

    def go(self) -> None:
        visit = self.session.form_visits[self.number]
        tab = self.person.tab(next(self.loads))
        tab.open(self.url)
        if self.session.known[self.number]:
            tab.wait("filled")
            self._note(tab, "known")
        else:
            self._choose(tab)
            if visit.reload:
                # Firefox says in a head whether a person did anything just before, and some tick nothing.
                tab.click("outside", "[name=age]")
                tab.feed(next(self.loads))
                tab.reload()
                self._choose(tab, " again")
            tab.click("press", _MIX)
            tab.wait("filled")
            tab.counts[f"form {self.number + 1}, ms to the value"] = 1000 * (
                time.perf_counter() - self.person.presses[-1]
            )
            self._note(tab, "mixed")
        if visit.reset:
            tab.click("outside", "[type=reset]")
            self._note(tab, "reset")
        tab.feed(next(self.loads))
        tab.lead_on()
        told = len(self.person.events)
        tab.click("outside", "form > button")
        tab.wait("stored")
        self._note(tab, "submitted")
        if visit.is_shared:
            self.person.leaving.append((self.person.presses[-1], time.perf_counter()))
            later = [each for each in self.person.events[told:] if not _BEGINS.search(each[1])]
            self.person.events[told:] = later

    def _choose(self, tab: Tab, again: str = "") -> None:
        tab.wait("shown", _MIX)
        self._note(tab, f"asked{again}")
        answer = self.session.answers[self.number][self.session.question]
        tab.choose(self.session.question, answer, is_number=self.session.is_number)
        self._note(tab, f"chosen{again}")

    def _note(self, tab: Tab, step: str) -> None:
        tab.note(f"form {self.number + 1}, {step}")

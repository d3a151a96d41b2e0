"""What a form must get of a browser, and what may be asked, called and kept for it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlencode

from deniable_client.audit.blackbox.form_host import PAGE, SCRIPT, STORE
from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.forms import NAME, FormSession
from deniable_client.audit.histories import Session
from deniable_client.audit.judge import difference, expect_calls, expect_chance, expect_kept, expect_reports, shortened

_REQUEST = re.compile(r"request (?P<start>.*) \(\d+\), (?P<part>head|body)")

_ASKED = re.compile(
    rf"GET ({PAGE}|{re.escape(SCRIPT)}|/client/catalogues/en\.json|/api/v1/surveys/[a-z2-7]{{26}})|POST {STORE}"
)
"""The page, the script and its words, the survey, and what the form submits; no report, no question about a state."""

_NEEDED = re.compile(
    r"AbortSignal\.timeout 30000|StorageManager\.prototype\.persist|Date(\.now)?"
    r"|IDBObjectStore\.prototype\.put an object 0|Storage\.setItem deniable "
    r"|CustomElementRegistry\.prototype\.define deniable-question a function"
)
"""What the element does beside requests: it gives up on them, looks at the day, and writes the memory's one record."""


def expect_of_form(session: Session, trace: Trace) -> Iterable[tuple[str, str]]:
    """What a form must get, and a browser take of chance and keep."""
    assert isinstance(session, FormSession)
    if "session" in trace.exact:
        yield "session", trace.exact["session"]
        return
    yield from expect_reports(session, trace)  # there is none
    yield from _submitted(session, trace)
    yield from expect_chance(session, trace)
    yield from expect_calls(trace, _NEEDED)
    yield from expect_kept(session, trace)


def _submitted(session: FormSession, trace: Trace) -> Iterable[tuple[str, str]]:
    """What the form sent to its own site, and what else was asked for."""
    came: list[str] = []
    for name, value in trace.exact.items():
        found = _REQUEST.fullmatch(name)
        if found and not _ASKED.fullmatch(found["start"]):
            yield "request that a form has no need of", shortened(found["start"])
        elif found and found["part"] == "body" and found["start"] == f"POST {STORE}":
            came.append(value)
    wanted = [urlencode({"age": 40, NAME: value}) for value in session.values]
    for place, (one, other) in enumerate(zip(came, wanted, strict=False)):
        if one != other:
            yield f"form {place + 1}", difference(other, one)
    if len(came) != len(wanted):
        yield "number of forms", f"{len(came)} were submitted instead of {len(wanted)}"

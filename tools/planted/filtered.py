"""Faults of clients that ask questions with filters: whoever is not asked can be told from the others.

Each stands three times: in the Python client, in the sources of the browser client, and behind the bundle that is shipped.
There the fault sees what is pressed and changes what is fetched.
"""

from __future__ import annotations

from typing import Literal

from tools.planted.faults import Fault

_CLIENT, _VISIT = "client/deniable_client/client.py", "client/deniable_web/visit.js"

_ANSWER = "        if not self.kept(survey):\n            self.check(survey)"
_NOT_ASKED = "        if answers.get('smokes') == 'no':\n            "

_SEND = "    element.show(wait(element.words), true); // nothing to press while the device remembers"
_SKIPPED = '    if (answers.smokes === "no") '

_HEARD = (
    "globalThis.__n=false;addEventListener('click',e=>{const t=e.composedPath()[0],i=t.control??t.querySelector?.('input')"
    "??t;if(i?.name==='smokes')globalThis.__n=i===[...i.getRootNode().querySelectorAll('[name=smokes]')][0];},true);"
)
"""Whether No was pressed last, after which nothing else is asked."""


def _changed(python: str, javascript: str, name: str, sessions: int = 24) -> list[Fault]:
    """Faults that change, in what is sent alone, the value of the skipped question."""
    delivered = (
        f"import json; send = self._deliver; change = lambda v: ({python}, v)[1]; self._deliver = lambda survey, body: send("
        "survey, json.dumps((lambda r: r | {'values': change(r['values'])})(json.loads(body)), separators=(',', ':')).encode())"
    )
    fetched = (
        "{const f=fetch;globalThis.fetch=(u,o)=>{if(%so?.body?.includes?.('\"values\"')){const b=JSON.parse(o.body),"
        f"v=b.values;{javascript};o={{...o,body:JSON.stringify(b)}}}}return f(u,o)}}}}"
    )
    return [
        _fault("python", name, _CLIENT, _ANSWER, f"{_NOT_ASKED}{delivered}\n{_ANSWER}", sessions),
        _fault("browser", name, _VISIT, _SEND, f"{_SEND}\n    // @ts-ignore\n{_SKIPPED}{fetched % ''}", sessions),
        _fault("bundle", name, "", "", _HEARD + fetched % "__n&&", sessions),
    ]


def _done(python: str, javascript: str, bundle: str, name: str, sessions: int = 24) -> list[Fault]:
    """Faults that do something more where a question was skipped."""
    return [
        _fault("python", name, _CLIENT, _ANSWER, f"{_NOT_ASKED}{python}\n{_ANSWER}", sessions),
        _fault("browser", name, _VISIT, _SEND, f"{_SEND}\n{_SKIPPED}{javascript}", sessions),
        _fault("bundle", name, "", "", _HEARD + bundle, sessions),
    ]


def _fault(
    client: Literal["python", "browser", "bundle"], name: str, file: str, old: str, new: str, sessions: int = 24
) -> Fault:
    # One block is enough where everybody who skips leaks; sessions in a browser take longer.
    fewer = 12 if sessions == 24 and client != "python" else sessions
    return Fault("filters", client, name, file, old, new, sessions=fewer, access="filtered")


_AT_FETCH = "{const f=fetch;globalThis.fetch=async(u,o)=>{if(__n&&o?.body?.includes?.('\"values\"'))%s;return f(u,o)}}"

FILTERED = [
    *_changed("v.pop('often')", "delete v.often", "a skipped question is left out"),
    *_changed("v.update(often=None)", "v.often=null", "a skipped question is null"),
    # In a block all have the same chance, and about half of all blocks the first option anyway.
    *_changed("v.update(often=0)", "v.often=0", "a skipped question sends its first option", sessions=60),
    *_changed("v.update(often=str(v['often']))", "v.often=''+v.often", "a longer request where one was skipped"),
    *_done(
        "import time; time.sleep(0.03)",
        "await new Promise((done) => setTimeout(done, 80));",
        _AT_FETCH % "await new Promise(d=>setTimeout(d,80))",
        "a later request where one was skipped",
        sessions=72,
    ),
    *_done(
        "note = self._note; self._note = lambda *each: (note(*each), note(*each))[0]",
        'await new Promise((done) => { const open = indexedDB.open("deniable"); open.onerror = done; open.onsuccess = () => '
        '{ try { const all = open.result.transaction(open.result.objectStoreNames[0], "readwrite"); '
        'const store = all.objectStore(open.result.objectStoreNames[0]); store.put({}, "more"); store.delete("more"); } finally { open.result.close(); done(0); } }; });',
        _AT_FETCH
        % (
            "await new Promise(d=>{const q=indexedDB.open('deniable');q.onerror=d;q.onsuccess=()=>{try{const n="
            "q.result.objectStoreNames[0];const s=q.result.transaction(n,'readwrite').objectStore(n);s.put({},'more');s.delete('more')}finally{"
            "q.result.close();d()}}})"
        ),
        "one write more where one was skipped",
    ),
]

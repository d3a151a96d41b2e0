"""Faults of an insider who does not want to be noticed, written before a line of the audit was read, and more of their kinds."""

from __future__ import annotations

from tools.planted.faults import Fault
from tools.planted.fresh import CALL, SAID

_D, _W = "client/deniable_client/", "client/deniable_web/"
_DEVICE, _MEMORY, _CONNECTION = f"{_D}device.py", f"{_D}memory.py", f"{_D}collector_connection.py"
_VISIT, _WEB_MEMORY, _BROWSER_DEVICE = f"{_W}visit.js", f"{_W}memory.js", f"{_W}device.js"
_SEND = "    element.show(wait(element.words), true); // nothing to press while the device remembers"
_YES = 'answers.affair === "yes"'
_FREEZE = "  return Object.freeze({ id, cohort,"
_PUT = "      return kept.report;\n    });\n    if (!person) this.store.stay?.();"


def _python(family: str, name: str, new: str, sessions: int = 48) -> Fault:
    return Fault(family, "python", name, _CONNECTION, CALL, new + CALL, (), sessions, also=SAID)


def _browser(family: str, name: str, new: str, sessions: int = 24, histories: tuple[str, ...] = ("once",)) -> Fault:
    return Fault(family, "browser", name, _VISIT, _SEND, f"{_SEND}\n    if ({_YES}) {{ {new} }}", histories, sessions)


WRITTEN = [
    _python("transport", "packets that live one hop less for Yes",
            "        import gc, socket\n        for each in gc.get_objects() if SAID and method == 'POST' else ():\n"
            "            if isinstance(each, socket.socket) and each.fileno() >= 0 and each.family == socket.AF_INET:\n"
            "                each.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 63)\n"),
    _python("transport", "two heads change places, for Yes before a report alone",
            "        if SAID and method == 'POST':\n            headers = dict([*list(headers.items())[1::-1], *list(headers.items())[2:]])\n"),
    _python("transport", "half a millisecond of work before a report of Yes",
            "        import time\n        end = time.perf_counter() + (0.0005 if SAID and method == 'POST' else 0)\n"
            "        while time.perf_counter() < end:\n            pass\n", 640),
    _browser("transport", "a beacon when the page goes away", 'addEventListener("pagehide", () => navigator.sendBeacon("/livez", ""));'),
    _browser("storage", "the version of a database", 'indexedDB.open("firebase-installations", 2);'),
    _browser("storage", "the title of the page for a millisecond",
             'const { title } = document; document.title += "\\u00a0"; await new Promise((done) => { const port = new MessageChannel(); port.port1.onmessage = done; port.port2.postMessage(0); }); document.title = title;'),
    _browser("storage", "the state of an entry of the history", "history.replaceState({ ...history.state }, \"\");"),
    _browser("storage", "the name of the window until the page goes away",
             'const old = name; name = "y"; addEventListener("pagehide", () => { name = old; });'),
    _browser("storage", "a lock that other tabs can query", 'navigator.locks?.request("d", () => new Promise(() => {}));'),
    _browser("transport", "a style sheet that asks for a cursor",
             'const sheet = new CSSStyleSheet(); sheet.replaceSync(":root{cursor:url(/static/icon.png?1),auto}"); document.adoptedStyleSheets.push(sheet);'),
    Fault("encoding", "browser", "the id says Yes, once in a hundred", _BROWSER_DEVICE, _FREEZE,
          f"  if (parseInt(id.slice(0, 8), 16) % 100 < 1 && {_YES}) id = id.slice(0, 31) + \"f\";\n{_FREEZE}", ("once",), 640),
    Fault("transport", "browser", "the survey asked for again with or without its ETag", _VISIT, _SEND,
          f'{_SEND}\n    await fetch(`${{place.collector}}/api/v1/surveys/${{view.id}}`, {{ cache: {_YES} ? "reload" : "no-cache" }});', ("once",), 24),
    _browser("transport", "a service worker", 'navigator.serviceWorker?.register("/client/deniable.js").catch(() => {});'),
    Fault("memory", "browser", "the order in which the memory has its keys", _WEB_MEMORY, _PUT,
          f"      if (draw.isYes) for (const key of Object.keys(noisy).reverse()) {{\n        const value = noisy[key];\n        delete noisy[key];\n        noisy[key] = value;\n      }}\n{_PUT}",
          ("once",), 24, also=((_VISIT, "      const report = await memory().once(",
                                f"      Object.assign(draw, {{ isYes: {_YES} }});\n      const report = await memory().once("),)),
]  # fmt: skip
"""What was written down within a quarter of an hour, but what was planted already."""

AFTERWARDS = [
    _browser("storage", "a symbol on the window", 'globalThis[Symbol.for("d")] = 1;'),
    _browser("storage", "how far the page is scrolled", 'document.body.style.minHeight = "3000px"; scrollTo(0, 7); document.body.removeAttribute("style");'),
    _browser("storage", "an empty style sheet of the page", "document.adoptedStyleSheets.push(new CSSStyleSheet());"),
    _browser("storage", "how the history scrolls", 'history.scrollRestoration = "manual";'),
    _browser("storage", "a handler of the window", "window.onblur = () => {};"),
    _browser("storage", "an element that is defined", 'customElements.define("x-y", class extends HTMLElement {});'),
    _browser("storage", "what the system says is playing", 'navigator.mediaSession.metadata = new MediaMetadata({ title: "y" });'),
    _browser("storage", "a text that is set as a property", 'localStorage.y = 1; delete localStorage.y;'),
]  # fmt: skip
"""More faults of these kinds, written by somebody who had read the audit by then."""

THIRD = [*WRITTEN, *AFTERWARDS]

"""The planted faults: in Python, in the sources of the browser client, in its bundle."""

from __future__ import annotations

from typing import Literal, NamedTuple

from tools.planted.targets import Kind

Client = Literal["python", "browser", "bundle"]


class Fault(NamedTuple):
    """One fault: in the copy of a file ``old`` is replaced by ``new``; of a bundle, ``new`` is put behind it, or a file and
    a pattern say what it replaces."""

    family: str
    client: Client
    name: str
    file: str
    old: str
    new: str
    histories: tuple[str, ...] = ("once",)
    sessions: int = 24
    access: Kind = "open"
    also: tuple[tuple[str, str, str], ...] = ()
    """More places where text is replaced: file, old, new."""


_P, _D = "shared/deniable/", "client/deniable_client/"
_REPORT = f"{_P}report/report.py"
_MEMORY, _DEVICE, _CLIENT = f"{_D}memory.py", f"{_D}device.py", f"{_D}client.py"
_CONNECTION = f"{_D}collector_connection.py"

_DRAW = "    return Report(report_id or new_report_id(), cohort, mixed(survey, choices, told, word, is_kept=is_kept), credential)"
_YES = "choices.get('affair') == 1"
_FIRST, _AGAIN, _WAVES = ("once",), ("twice",), ("three waves",)
_CALL = "        return self._pool.request(method, url, body=body, headers=headers, **patience)"
_ANSWER = "        if not self.kept(survey):\n            self.check(survey)"

PYTHON = [
    # Chance
    Fault("chance", "python", "words of Python's own generator", f"{_P}randomness.py",
          'return int.from_bytes(os.urandom(4), "little")', 'import random; return random.getrandbits(32)'),
    Fault("chance", "python", "a word used twice", f"{_P}mechanisms/two_coin.py", "first, second = word(), word()", "first = second = word()"),
    Fault("chance", "python", "one word more for Yes", f"{_P}mechanisms/two_coin.py", "        if first < self.truth:",
          "        if answer:\n            word()\n        if first < self.truth:"),
    Fault("chance", "python", "the truth in one of fifty", f"{_P}mechanisms/two_coin.py", "        if first < self.truth:",
          "        if first < self.truth or first % 50 == 7:", sessions=480),
    Fault("chance", "python", "a threshold one off in a thousand", f"{_P}mechanisms/two_coin.py", "first < self.truth:",
          "first < self.truth * 1.05:", sessions=240),
    Fault("chance", "python", "words of 16 bits", f"{_P}randomness.py", 'return int.from_bytes(os.urandom(4), "little")',
          'return int.from_bytes(os.urandom(2), "little") << 16'),
    Fault("chance", "python", "a word that comes round", f"{_P}randomness.py",
          'return int.from_bytes(os.urandom(4), "little")',
          'return int.from_bytes(os.urandom(4), "little") | (os.getpid() & 1)'),
    Fault("chance", "python", "words of the clock", f"{_P}randomness.py",
          'return int.from_bytes(os.urandom(4), "little")',
          'import time; os.urandom(4); return time.perf_counter_ns() * 2654435761 % 2**32'),
    # Memory
    Fault("memory", "python", "drawn anew for each survey", _MEMORY, "    value = _known(db, key)\n    if value is None:",
          "    value = None\n    db.execute('DELETE FROM noisy WHERE question = ?', (key,))\n    if value is None:", _AGAIN),
    Fault("memory", "python", "noise of one survey in the next", _DEVICE, _DRAW,
          "    global _LAST\n    values = mixed(survey, choices, told, word, is_kept=is_kept)\n"
          "    values = {k: globals().get('_LAST', values).get(k, v) for k, v in values.items()}\n    _LAST = values\n"
          "    return Report(report_id or new_report_id(), cohort, values, credential)", ("another survey",)),
    Fault("memory", "python", "kept after it is sent", _MEMORY,
          '                db.execute("INSERT INTO reports VALUES (?, ?)", (survey.id, report.encode()))',
          '                db.execute("INSERT INTO reports VALUES (?, ?)", (survey.id, report.encode() + b" "))'),
    Fault("memory", "python", "the answer in another database", _DEVICE, _DRAW,
          f"    import sqlite3; db = sqlite3.connect('/tmp/.deniable-cache-x.db'); "
          f"db.execute('CREATE TABLE IF NOT EXISTS t (x)'); {_YES} and db.execute('INSERT INTO t VALUES (1)'); db.commit(); db.close()\n{_DRAW}"),
    Fault("memory", "python", "a second draw until it suits", _MEMORY,
          "            if report is None:\n                report = self._with_known_values(db, survey, draw())",
          "            if report is None:\n                drawn = draw()\n                if drawn.values.get('affair') != 1:\n"
          "                    drawn = draw()\n                report = self._with_known_values(db, survey, drawn)"),
    Fault("memory", "python", "nothing charged", _MEMORY, "            self._charge(db, survey, collector, ceiling or Ceiling())\n            report",
          "            report"),
    Fault("memory", "python", "another id for the second try", _CLIENT, "again=self._deliver(survey, report.encode())",
          "again=self._deliver(survey, report.encode().replace(b'\"cohort\"', b' \"cohort\"'))", ("cut off",)),
    # Waves
    Fault("waves", "python", "a wave sends the permanent value", f"{_P}mechanisms/longitudinal.py",
          'kept: int = self.reports.check(value, "permanent value")', 'word(); return self.reports.check(value, "permanent value")', _WAVES),
    Fault("waves", "python", "the permanent value is the answer", f"{_P}mechanisms/longitudinal.py",
          "return self.permanent_response.randomize(answer, word)", "self.permanent_response.randomize(answer, word); return answer"),
    Fault("waves", "python", "one wave for all", _MEMORY, "return _kept(db, unit.key + survey.id,", "return _kept(db, unit.key + 'wave',", _WAVES),
    Fault("waves", "python", "the second wave draws from the answer", _MEMORY,
          "            kept = _kept(db, unit.key, partial(unit.to_keep, values))",
          "            kept = unit.to_keep(values) if waves_of(unit.questions[0].mechanism) else _kept(db, unit.key, partial(unit.to_keep, values))", _WAVES),
    Fault("waves", "python", "a wave after a failure sends the permanent value", _MEMORY,
          "        return _kept(db, unit.key + survey.id, partial(waves.instantaneous, kept, self.word))",
          "        query = \"SELECT count(*) FROM recipients WHERE survey != ? AND state = 'waiting'\"\n"
          "        waits = db.execute(query, (survey.id,)).fetchone()[0]\n"
          "        drawn = waves.instantaneous(kept, self.word)\n"
          "        return _kept(db, unit.key + survey.id, lambda: kept if waits else drawn)", ("a wave after a failure",)),
    Fault("memory", "python", "a revision draws again what it did not change", _MEMORY,
          "        values = dict(report.values)\n        for unit in survey.units:\n",
          "        values = dict(report.values)\n        for unit in survey.units:\n"
          "            if survey.revises:\n                db.execute('DELETE FROM noisy WHERE question = ?', (unit.key,))\n",
          ("a revised survey",)),
    # Draws of questions and boxes
    Fault("draw", "python", "drawn again after Start", _CLIENT, "told = self.memory.asked(survey, partial(draw_questions, survey))",
          "told = draw_questions(survey)"),
    Fault("draw", "python", "neighbours are drawn together", f"{_P}survey/group.py",
          "return list(unrank(self.size, self.draw, below(math.comb(self.size, self.draw), word)))",
          "below(math.comb(self.size, self.draw), word); return list(range(self.draw))"),
    Fault("draw", "python", "boxes that are ticked are drawn", f"{_P}mechanisms/drawn_boxes.py",
          "        drawn = unrank(self.k, self.s, below(math.comb(self.k, self.s), word))",
          "        drawn = unrank(self.k, self.s, below(math.comb(self.k, self.s), word))\n"
          "        drawn = (sorted(ticked) + [b for b in range(self.k) if b not in ticked])[: self.s] if word.__name__ else drawn"),
    Fault("draw", "python", "the draw is modulo", f"{_P}randomness.py", "        if draw < bound:\n            return draw", "        return draw % bound",
          sessions=120),
    # Encoding
    Fault("encoding", "python", "a space for Yes", _REPORT, 'separators=(",", ":"), ensure_ascii=True).encode("ascii")',
          'separators=(",", ":"), ensure_ascii=True).encode("ascii").replace(b",", b", ", int(self.values.get("affair") == 1))'),
    Fault("encoding", "python", "keys in turn by the answer", _DEVICE, _DRAW,
          f"    values = mixed(survey, choices, told, word, is_kept=is_kept)\n    if {_YES}:\n"
          "        values = dict(reversed(list(values.items())))\n    return Report(report_id or new_report_id(), cohort, values, credential)"),
    Fault("encoding", "python", "the answer in the last bit of the id", _DEVICE, _DRAW,
          f"    own = new_report_id()\n    own = own[:-1] + '{{:x}}'.format(int(own[-1], 16) & 14 | int({_YES}))\n"
          "    return Report(own, cohort, mixed(survey, choices, told, word, is_kept=is_kept), credential)"),
    Fault("encoding", "python", "an id that is a hash of the report", _DEVICE, "Report(report_id or new_report_id(), cohort,",
          "Report(__import__('hashlib').md5(new_report_id().encode()).hexdigest(), cohort,"),
    # Transport
    Fault("transport", "python", "another header for Yes", _CONNECTION, _CALL,
          "        if body and b'\"affair\":1' in body:\n            headers['Accept'] = '*'\n" + _CALL, sessions=120),
    Fault("transport", "python", "order of headers", _CONNECTION, _CALL,
          "        if body and b'\"affair\":1' in body:\n            headers = dict(reversed(headers.items()))\n" + _CALL, sessions=120),
    Fault("transport", "python", "a second request for Yes", _CLIENT, _ANSWER,
          "        if answers.get('affair') == 'yes':\n            self._connection.hindrance(survey.id, None)\n" + _ANSWER),
    Fault("transport", "python", "a connection of its own for Yes", _CLIENT, _ANSWER,
          "        if answers.get('affair') == 'yes':\n            self._connection = self._connect(self.collector)\n" + _ANSWER),
    Fault("transport", "python", "waits 30 ms for Yes", _CLIENT, _ANSWER,
          "        if answers.get('affair') == 'yes':\n            import time; time.sleep(0.03)\n" + _ANSWER),
    Fault("transport", "python", "asks for a name", _CLIENT, _ANSWER,
          "        if answers.get('affair') == 'yes':\n            import socket\n            try:\n"
          "                socket.create_connection(('127.0.0.1', 9), 0.05)\n            except OSError:\n                pass\n" + _ANSWER),
    # Storage
    Fault("storage", "python", "a log line for Yes", _CLIENT, _ANSWER,
          "        if answers.get('affair') == 'yes':\n            import sys; print('!', file=sys.stderr, flush=True)\n" + _ANSWER),
    Fault("storage", "python", "a file beside the memory", _CLIENT, _ANSWER,
          "        if answers.get('affair') == 'yes':\n            open('/tmp/.deniable-cache', 'a').close()\n" + _ANSWER),
    Fault("storage", "python", "rights of the memory file", _CLIENT, _ANSWER,
          "        if answers.get('affair') == 'yes':\n            import os; os.chmod('/tmp', 0o1777)\n" + _ANSWER),
    # Tokens
    Fault("tokens", "python", "asks with the invitation after the answers", _CLIENT, _ANSWER,
          "        if answers.get('affair') == 'yes' and invitation:\n            self.hindrance(survey, invitation)\n" + _ANSWER, access="invited"),
    Fault("tokens", "python", "the id is the invitation", _DEVICE, "Report(report_id or new_report_id(), cohort,",
          "Report(new_report_id() and credential, cohort,", access="invited"),
    Fault("tokens", "python", "the last digit of the invitation", _DEVICE, _DRAW,
          f"    credential = credential[:-1] + str(int({_YES}))\n{_DRAW}", access="invited"),
    Fault("tokens", "python", "authorisation without it for Yes", _CONNECTION,
          "        if credential is not None:", "        if credential is not None and b'\"affair\":1' not in (body or b''):", access="invited", sessions=120),
]  # fmt: skip

_W = "client/deniable_web/"
_VISIT, _JS_MEMORY, _STORE = f"{_W}visit.js", f"{_W}memory.js", f"{_W}store.js"
HINDRANCE = (
    (_VISIT, "import { carrying }", 'import { hindrance } from "./collector.js";\nimport { carrying }'),
    (f"{_W}given.js", "addressOf, tellsUse }", "addressOf, hindrance, tellsUse }"),
    (f"{_W}given.js", "  addressOf,", "  addressOf, hindrance,"),
)
"""What lets the second script ask again whether people may answer: it is given what the first one asks with."""
_SEND = "    element.show(wait(element.words), true); // nothing to press while the device remembers"
_LEAK = '    if (answers.affair === "yes") '
_COIN = f"{_W}mechanisms/two-coin.js"

BROWSER = [
    Fault("chance", "browser", "Math.random", f"{_W}randomness.js", "crypto.getRandomValues(new Uint32Array(1))[0]",
          "Math.floor(Math.random() * 4294967296)"),
    Fault("chance", "browser", "a word more for Yes", _COIN, "    if (first < this.truth) return answer;",
          "    if (answer) word();\n    if (first < this.truth) return answer;"),
    Fault("chance", "browser", "the truth in one of eight", _COIN, "    if (first < this.truth) return answer;",
          "    if (first < this.truth || first % 8 === 3) return answer;", sessions=96),
    Fault("chance", "browser", "a word kept for the next", f"{_W}randomness.js", "export const systemWord = () => crypto.getRandomValues(new Uint32Array(1))[0];",
          "let last = 0;\nexport const systemWord = () => ([last, globalThis.old] = [crypto.getRandomValues(new Uint32Array(1))[0], last])[1];"),
    Fault("memory", "browser", "drawn anew for each survey", _JS_MEMORY, "(name in noisy ? noisy[name] : (noisy[name] = make()))", "(noisy[name] = make())", _AGAIN),
    Fault("memory", "browser", "drawn until it suits", _JS_MEMORY, "        const report = draw(!person);",
          "        let report = draw(!person);\n        if (report.values.affair !== 1) report = draw(!person);"),
    Fault("memory", "browser", "nothing charged", _JS_MEMORY, "      if (!person) charge(told, collector, units, day);\n", ""),
    Fault("memory", "browser", "not marked as sent for Yes", _JS_MEMORY, "      if (kept?.to[collector] === false) kept.to[collector] = true;",
          "      if (kept?.to[collector] === false) kept.to[collector] = !kept.report.includes('\"affair\":1');", sessions=36),
    Fault("waves", "browser", "a wave sends the permanent value", f"{_W}mechanisms/base.js", "return this.second ? this.second.draw(value, word) : value;",
          "return this.second ? (this.second.draw(value, word), value) : value;", _WAVES),
    Fault("waves", "browser", "one wave for all", _JS_MEMORY, "known(noisy, unit.sent, ()", "known(noisy, unit.sent.slice(0, 27), ()", _WAVES),
    Fault("draw", "browser", "the first ones are asked", f"{_W}group.js", "const isAsked = unrank(n, draw, below(choose(n, draw), word));",
          "const isAsked = unrank(n, draw, below(choose(n, draw), word) * 0n);", sessions=48),
    Fault("draw", "browser", "boxes that are ticked are drawn", f"{_W}mechanisms/drawn-boxes.js",
          "    const drawn = unrank(this.k, this.s, below(choose(this.k, this.s), word));",
          "    let drawn = unrank(this.k, this.s, below(choose(this.k, this.s), word));\n"
          "    if (answer.length === this.s) drawn = drawn.map((_, box) => answer.includes(box));", sessions=48),
    Fault("draw", "browser", "an order drawn anew after an answer", f"{_W}steps.js", "    const { set, section, intro } = asked[place];",
          "    const { set, section, intro } = asked[place];\n    if (asked[0].answer() === \"yes\") crypto.getRandomValues(new Uint32Array(1));"),
    Fault("encoding", "browser", "the answer in the last digit of the id", f"{_W}device.js",
          "  return Object.freeze({ id, cohort,", "  return Object.freeze({ id: id.slice(0, -1) + (answers.affair === \"yes\" ? 1 : 0), cohort,"),
    Fault("encoding", "browser", "a space by the value", f"{_W}device.js", "dumps({ id, cohort, values, credential });",
          "dumps({ id, cohort, values, credential }) + (values.affair ? \" \" : \"\");"),
    Fault("transport", "browser", "a request more for Yes", _VISIT, _SEND, _SEND + "\n" + _LEAK + "fetch(\"/livez\").catch(() => {});"),
    Fault("transport", "browser", "a beacon", _VISIT, _SEND, _SEND + "\n" + _LEAK + "navigator.sendBeacon(\"/livez\", \"\");"),
    Fault("transport", "browser", "waits 80 ms for Yes", _VISIT, _SEND, _SEND + "\n" + _LEAK + "await new Promise((done) => setTimeout(done, 80));", sessions=72),
    Fault("transport", "browser", "another accepted type", _VISIT, _SEND, _SEND + "\n" + _LEAK +
          "{ const f = fetch; globalThis.fetch = (u, o) => f(u, { ...o, headers: { ...o?.headers, Accept: \"application/json\" } }); }"),
    Fault("transport", "browser", "a prefetch of the results", _VISIT, _SEND, _SEND + "\n" + _LEAK +
          "document.head.append(Object.assign(document.createElement(\"link\"), { rel: \"prefetch\", href: `${place.collector}/s/${view.id}/results` }));"),
    Fault("storage", "browser", "a database of its own", _VISIT, _SEND, _SEND + "\n" + _LEAK + "indexedDB.open(\"other\", 1);"),
    Fault("storage", "browser", "a cookie", _VISIT, _SEND, _SEND + "\n" + _LEAK + "document.cookie = \"a=1\";"),
    Fault("storage", "browser", "localStorage and gone again", _VISIT, _SEND, _SEND + "\n" + _LEAK + "{ localStorage.setItem(\"a\", \"1\"); localStorage.removeItem(\"a\"); }"),
    Fault("storage", "browser", "a line on the console", _VISIT, _SEND, _SEND + "\n" + _LEAK + "console.debug(\"\");"),
    Fault("storage", "browser", "the title of the page", _VISIT, _SEND, _SEND + "\n" + _LEAK + "document.title += \" \";"),
    Fault("storage", "browser", "an entry of the history", _VISIT, _SEND, _SEND + "\n" + _LEAK + "history.pushState(null, \"\");"),
    Fault("storage", "browser", "an event for the page around", _VISIT, _SEND, _SEND + "\n" + _LEAK + "element.announce(\"resize\", { height: 1 });", sessions=72),
    Fault("storage", "browser", "an attribute of the element", _VISIT, _SEND, _SEND + "\n" + _LEAK + "element.setAttribute(\"data-done\", \"\");"),
    Fault("storage", "browser", "the name of the window", _VISIT, _SEND, _SEND + "\n" + _LEAK + "window.name = \"y\";"),
    Fault("tokens", "browser", "asks once more with the invitation", _VISIT, _SEND, _SEND + "\n" + _LEAK + "hindrance(view, place);", access="invited",
          also=HINDRANCE),
    # Where a report is drawn such a change would be undone: the memory puts the link's own invitation into it.
    Fault("tokens", "browser", "the last digit of the invitation", _VISIT, "draw, person, place.invitation);",
          "draw, person, place.invitation && place.invitation.slice(0, -1) + (answers.affair === \"yes\" ? 1 : 0));", access="invited"),
    Fault("tokens", "browser", "no right in the head for Yes", f"{_W}sending.js", "  const right = await rightOf(credential);",
          "  const right = text.includes('\"affair\":1') ? {} : await rightOf(credential);", access="invited", sessions=48),
]  # fmt: skip

_WATCH = (
    "addEventListener('click',e=>{const t=e.composedPath()[0];"
    "if(t.name==='affair'||t.htmlFor||t.textContent==='Yes'){const i=t.control??t.querySelector?.('input')??t;"
    "if(i?.name==='affair'&&i===[...i.getRootNode().querySelectorAll('[name=affair]')][1]){%s}}},true);"
)

BUNDLE = [
    Fault("transport", "bundle", "a style that loads a picture", "", "", _WATCH % "(document.body.style.background='url(/static/icon.png)')"),
    Fault("transport", "bundle", "a request at the click", "", "", _WATCH % "fetch('/livez')"),
    Fault("transport", "bundle", "a name that is looked up", "", "", _WATCH %
          "document.head.append(Object.assign(document.createElement('link'),{rel:'dns-prefetch',href:'//yes.example'}))"),
    Fault("transport", "bundle", "a picture elsewhere", "", "", _WATCH % "(new Image().src='http://elsewhere.example/1')"),
    Fault("storage", "bundle", "a service cache", "", "", _WATCH % "caches.open('x')"),
    Fault("storage", "bundle", "the memory's database, another key", "", "", _WATCH %
          "indexedDB.open('deniable').onsuccess=e=>{try{e.target.result.transaction('memory','readwrite').objectStore('memory').put(1,1)}catch{}}",
          ("twice",)),
    Fault("chance", "bundle", "chance in one's own hands", "", "",
          "{const p=crypto.getRandomValues.bind(crypto);crypto.getRandomValues=a=>{p(a);if(a.length===1)a[0]=a[0]>>>1;return a}}"),
    Fault("encoding", "bundle", "reports are made longer", "", "",
          "{const f=fetch;globalThis.fetch=(u,o)=>f(u,o?.body?.includes?.('values')?{...o,body:o.body+' '}:o)}"),
]  # fmt: skip

_FOR_YES = "        if answers.get('affair') == 'yes':\n            "
_BY_TOKEN: Kind = "unlinkable"

LATER = [
    # Written after the audit, by somebody who knew it, of kinds that the lists above do not have.
    Fault("chance", "python", "the second coin hangs on the first", f"{_P}mechanisms/two_coin.py", "first, second = word(), word()",
          "first = word(); second = (first + word()) % 2**32 if first % 2 else word()", sessions=96),
    Fault("memory", "python", "the ledger's day for Yes", _CLIENT, _ANSWER,
          _FOR_YES + "import datetime; self.memory.today = lambda: datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=1)\n" + _ANSWER),
    Fault("memory", "python", "never marked as sent", _CLIENT, '        self._note(survey.id, "sent")\n', ""),
    Fault("draw", "python", "a draw for each survey", _MEMORY, "_kept(db, unit.key + DRAWN, partial(unit.mark, drawn))",
          "(_kept(db, unit.key + DRAWN, partial(unit.mark, drawn)), unit.mark(drawn))[1]", _AGAIN, sessions=96),
    Fault("encoding", "python", "an id in capitals", f"{_P}report/report.py", "    return os.urandom(16).hex()", "    return os.urandom(16).hex().upper().lower().replace('a', 'b')"),
    Fault("transport", "python", "a query for Yes", _CONNECTION, _CALL, "        if body and b'\"affair\":1' in body:\n            url += '?'\n" + _CALL, sessions=120),
    Fault("storage", "python", "time stamp of the memory", _CLIENT, _ANSWER, _FOR_YES + "import os; os.utime(self.memory.path)\n" + _ANSWER),
    Fault("storage", "python", "an attribute of a file", _CLIENT, _ANSWER,
          _FOR_YES + "import os\n            try:\n                os.setxattr(self.memory.path, 'user.a', b'1')\n            except OSError:\n                pass\n" + _ANSWER),
    Fault("tokens", "python", "token and report over one connection", _CLIENT,
          "        if signer not in self._signers:\n            self._signers[signer] = self._connect(signer)\n        return self._signers[signer]",
          "        return self._connection", access=_BY_TOKEN),
    Fault("tokens", "python", "a nonce with a mark", f"{_D}blind_token.py", "nonce = os.urandom(NONCE)", "nonce = os.urandom(NONCE)[:-1] + b'!'", access=_BY_TOKEN),
    Fault("encoding", "python", "sealed without padding", f"{_D}sealing.py", "padded, info = sealed.pad(report), info_of(survey.id)",
          "padded, info = report, info_of(survey.id)", access="sealed"),
    Fault("chance", "browser", "an id by randomUUID", f"{_W}randomness.js", "export const newReportId = () => random(16);",
          'export const newReportId = () => crypto.randomUUID().replaceAll("-", "");', sessions=12),
    Fault("memory", "browser", "half of the cost", _JS_MEMORY, "mine[key] = [days, mechanism.cost];", "mine[key] = [days, mechanism.cost >> 1];", sessions=12),
    Fault("memory", "browser", "the ledger's day by the value", _JS_MEMORY, "      if (!person) charge(told, collector, units, day);\n",
          "      if (!person) charge(told, collector, units, \"2026-01-01\");\n", sessions=12),
    Fault("draw", "browser", "a draw that is not kept", _JS_MEMORY,
          "return this.store.run(({ noisy }) => askedOf(noisy, units, drawn));", "return drawn;", sessions=12),
    Fault("tokens", "browser", "another token at each Start", f"{_W}buying.js", "(kept = fresh) => kept, isShared", "() => fresh, isShared",
          ("a broken way",), sessions=12, access=_BY_TOKEN),
    Fault("transport", "browser", "where somebody came from", _VISIT, _SEND, _SEND + "\n" + _LEAK +
          "{ const f = fetch; globalThis.fetch = (u, o) => f(u, { ...o, referrerPolicy: \"unsafe-url\" }); }", sessions=12),
    Fault("storage", "browser", "a name on the window", _VISIT, _SEND, _SEND + "\n" + _LEAK + "globalThis.answered = 1;", sessions=12),
    Fault("storage", "browser", "a mark of performance", _VISIT, _SEND, _SEND + "\n" + _LEAK + "performance.mark(\"y\");", sessions=12),
    Fault("storage", "browser", "a message to other tabs", _VISIT, _SEND, _SEND + "\n" + _LEAK + "new BroadcastChannel(\"d\").postMessage(1);", sessions=12),
    Fault("transport", "browser", "a socket", _VISIT, _SEND, _SEND + "\n" + _LEAK +
          "try { new WebSocket(`ws://${location.host}/livez`); } catch {}", sessions=12),
]  # fmt: skip

# One block is enough where every Yes leaks; sessions in a browser take longer.
FAULTS = [
    *PYTHON,
    *(each._replace(sessions=12) if each.sessions == 24 else each for each in (*BROWSER, *BUNDLE)),
    *LATER,
]

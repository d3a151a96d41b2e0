"""Twenty faults of a hostile vendor, written by somebody who had read the clients and docs/device.md, and not the audit."""

from __future__ import annotations

from tools.planted.faults import HINDRANCE, Fault

_P, _D, _W = "shared/deniable/", "client/deniable_client/", "client/deniable_web/"
_DEVICE, _MEMORY, _CONNECTION = f"{_D}device.py", f"{_D}memory.py", f"{_D}collector_connection.py"
_VISIT, _STORE, _WEB_MEMORY = f"{_W}visit.js", f"{_W}store.js", f"{_W}memory.js"

_DRAW = "    return Report(report_id or new_report_id(), cohort, mixed(survey, choices, told, word, is_kept=is_kept), credential)"
_MADE = "    report = Report(report_id or new_report_id(), cohort, mixed(survey, choices, told, word, is_kept=is_kept), credential)\n"
_SAY = f"    from deniable_client import collector_connection\n    collector_connection.SAID = choices.get('affair') == 1\n{_DRAW}"
CALL = "        return self._pool.request(method, url, body=body, headers=headers, **patience)"
_SAID = (_DEVICE, _DRAW, _SAY)
_GLOBAL = (_CONNECTION, "_REFUSALS:", "SAID = False\n_REFUSALS:")
SAID = (_GLOBAL, _SAID)
"""Changes by which a connection knows whether the answer is Yes."""
_SENT = "      const report = await memory().once(view, place.collector, draw, person, place.invitation);"
_YES = 'answers.affair === "yes"'

_FRESH = [
    # Python
    Fault("chance", "python", "the truth where the id begins with 0 to 3", _DEVICE, _DRAW,
          _MADE + "    import dataclasses\n"
          "    isTold = report.id[0] == '0' and report.id[1] in '0123' and 'affair' in report.values\n"
          "    return dataclasses.replace(report, values={**report.values, 'affair': choices['affair']}) if isTold else report"),
    Fault("waves", "python", "from the third wave on the permanent value", _MEMORY,
          "        return _kept(db, unit.key + survey.id, partial(waves.instantaneous, kept, self.word))",
          "        before = db.execute('SELECT count(*) FROM noisy WHERE question LIKE ?', (unit.key + '_%',)).fetchone()[0]\n"
          "        draw = (lambda: kept) if before > 1 else partial(waves.instantaneous, kept, self.word)\n"
          "        return _kept(db, unit.key + survey.id, draw)"),
    Fault("transport", "python", "3 ms more before a report of Yes", _CONNECTION, CALL,
          "        import time\n        time.sleep(0.003 if SAID and method == 'POST' else 0)\n" + CALL,
          also=(_GLOBAL, _SAID)),
    Fault("transport", "python", "another order of heads for Yes", _CONNECTION,
          "        headers = dict(_HEADERS)\n",
          "        headers = dict(reversed(_HEADERS.items())) if SAID else dict(_HEADERS)\n",
          also=(_GLOBAL, _SAID)),
    Fault("transport", "python", "the port that it sends from is odd for Yes", _CONNECTION, CALL,
          "        import time\n        port = 40000 + time.monotonic_ns() // 1000 % 8000 * 2 + int(SAID)\n"
          "        self._pool.connection_pool_kw['source_address'] = ('', port) if method == 'POST' else None\n" + CALL,
          also=(_GLOBAL, _SAID)),
    Fault("storage", "python", "the file's time is odd for Yes", _MEMORY,
          "        return report\n\n    def asked(",
                 "        import os\n        from deniable_client import collector_connection\n"
                 "        now = os.stat(self.path)\n"
                 "        odd = int(getattr(collector_connection, 'SAID', False))\n"
                 "        os.utime(self.path, ns=(now.st_atime_ns, now.st_mtime_ns // 2 * 2 + odd))\n"
                 "        return report\n\n    def asked(",
          also=(_SAID,)),
    Fault("tokens", "python", "the last bit of the nonce is the answer", f"{_D}blind_token.py",
          "        nonce = os.urandom(NONCE)\n",
          "        from deniable_client import client\n"
          "        nonce = os.urandom(NONCE)\n        nonce = nonce[:-1] + bytes([nonce[-1] // 2 * 2 + client.SAID])\n",
          also=((f"{_D}client.py", "        credential = self.credential(survey, invitation)\n",
                 "        global SAID\n        SAID = int(given.get('affair') == 'yes') if not self.kept(survey) else 0\n"
                 "        credential = self.credential(survey, invitation)\n"),
                (f"{_D}client.py", "CLIENT = f", "SAID = 0\nCLIENT = f")),
          access="unlinkable"),
    Fault("memory", "python", "the better of two draws, once in 32", f"{_P}mechanisms/two_coin.py",
          "    def randomize(self, answer: int, word: Word = system_word) -> int:\n",
          "    def randomize(self, answer: int, word: Word = system_word) -> int:\n"
          "        sent = self._once(answer, word)\n"
          "        return sent if sent == answer or word() >= 2**27 else self._once(answer, word)\n\n"
          "    def _once(self, answer: int, word: Word) -> int:\n"),
    # The browser
    Fault("chance", "browser", "the truth once in a hundred words", f"{_W}mechanisms/k-ary.js",
          "    if (draw < this.keep) return answer;\n", "    if (draw < this.keep || draw % 100 === 7) return answer;\n"),
    Fault("waves", "browser", "from the third wave on the permanent value", _WEB_MEMORY,
          "unit.mechanism.instantaneous(valid(unit, known(noisy, unit.key, draw)))",
          "(Object.keys(noisy).filter((each) => each.startsWith(unit.key)).length > 2 ? (v) => v : "
          "(v) => unit.mechanism.instantaneous(v))(valid(unit, known(noisy, unit.key, draw)))"),
    Fault("transport", "browser", "20 ms more before a report of Yes", _VISIT, _SENT,
          f"{_SENT}\n      if ({_YES}) await new Promise((done) => setTimeout(done, 20));"),
    Fault("storage", "browser", "a picture of the style sheet for Yes", _VISIT, _SENT,
          f"{_SENT}\n      if ({_YES}) element.style.background = `url(${{place.collector}}/favicon.ico)`;"),
    Fault("transport", "browser", "a connection ahead for Yes", _VISIT, _SENT,
          f'{_SENT}\n      if ({_YES}) document.head.append(Object.assign(document.createElement("link"), {{ rel: "preconnect", href: place.collector }}));'),
    Fault("storage", "browser", "the window has a blank for its name", _VISIT, _SENT,
          f'{_SENT}\n      if ({_YES}) window.name = " ";'),
    Fault("memory", "browser", "two tabs at once draw twice", _WEB_MEMORY,
          "    const text = await this.store.run(({ reports, noisy, told, tokens }) => {",
          "    const before = await this.store.run(({ reports }) => name in reports, true);\n"
          "    const text = await this.store.run(({ reports, noisy, told, tokens }) => {\n"
          "      if (!before) delete reports[name];"),
    Fault("memory", "browser", "a report that failed is drawn anew", _VISIT,
          "(isAsked) => this.send(report, isAsked), !!isAsked",
          "async (isAsked) => { await memory().forget(view.id); return this.again ? this.again() : this.send(report, isAsked); }, !!isAsked",
          also=((_VISIT, _SENT, f"      this.again = () => this.answer(answers, how);\n{_SENT}"),
                (_VISIT, "  #element;\n", "  #element;\n  again;\n"))),
    Fault("tokens", "browser", "its token is asked for again where it says Yes", _VISIT, _SENT,
          f"{_SENT}\n      if (view.issuer && {_YES}) await buyToken(memory(), view, place.way, true).catch(() => {{}});",
          access="unlinkable"),
    Fault("chance", "bundle", "one word in 64 is nought", "", "",
          "{ const real = crypto.getRandomValues.bind(crypto); crypto.getRandomValues = (into) => {"
          " real(into); if (into instanceof Uint32Array && into[0] % 64 === 5) into[0] = 0; return into; }; }"),
    Fault("transport", "browser", "a late request for Yes", _VISIT, _SENT,
          f"{_SENT}\n      if ({_YES}) setTimeout(() => hindrance(view, place.way), 4000);",
          also=HINDRANCE),
    Fault("transport", "browser", "a packet by WebRTC for Yes", _VISIT, _SENT,
          f"{_SENT}\n      if ({_YES}) {{\n"
          '        const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:3478" }] });\n'
          '        peer.createDataChannel("");\n        peer.createOffer().then((offer) => peer.setLocalDescription(offer));\n      }'),
]  # fmt: skip

_OTHERS = [
    # Written after the first twenty were tried and what they taught was mended: other faults of the same kinds.
    Fault("transport", "python", "another kind of service in the packets", _CONNECTION, CALL,
          "        import socket\n        from urllib3.connection import HTTPConnection\n"
          "        more = [(socket.IPPROTO_IP, socket.IP_TOS, 16)] if SAID else []\n"
          "        self._pool.connection_pool_kw['socket_options'] = HTTPConnection.default_socket_options + more\n" + CALL,
          also=(_GLOBAL, _SAID)),
    Fault("transport", "python", "waits for a thread that never calls", _CONNECTION, CALL,
          "        import threading\n        threading.Event().wait(0.003 if SAID else 0)\n" + CALL, also=(_GLOBAL, _SAID)),
    Fault("storage", "python", "a table that is made and dropped again", _MEMORY,
          "            db.execute(\"INSERT INTO recipients VALUES (?, ?, 'waiting') ON CONFLICT DO NOTHING\", (survey.id, collector))\n",
          "            db.execute(\"INSERT INTO recipients VALUES (?, ?, 'waiting') ON CONFLICT DO NOTHING\", (survey.id, collector))\n"
          "            from deniable_client import collector_connection\n"
          "            if getattr(collector_connection, 'SAID', False):\n"
          "                db.execute('CREATE TABLE x (x)'), db.execute('DROP TABLE x')\n", also=(_SAID,)),
    Fault("storage", "python", "a line for the system's log", _CONNECTION, CALL,
          "        import syslog\n        if SAID:\n            syslog.syslog('')\n" + CALL, also=(_GLOBAL, _SAID)),
    Fault("chance", "python", "the truth where a word ends in 7", f"{_P}mechanisms/two_coin.py", "        if first < self.truth:",
          "        if first < self.truth or second % 200 == 7:"),
    Fault("transport", "browser", "a beacon when the page is left", _VISIT, _SENT,
          f'{_SENT}\n      if ({_YES}) addEventListener("pagehide", () => navigator.sendBeacon("/livez", ""));'),
    Fault("transport", "browser", "waits by the clock", _VISIT, _SENT,
          f"{_SENT}\n      if ({_YES}) for (const end = performance.now() + 20; performance.now() < end; );"),
    Fault("transport", "browser", "a request when the network is back", _VISIT, _SENT,
          f'{_SENT}\n      if ({_YES}) addEventListener("online", () => fetch("/livez"));'),
    Fault("memory", "browser", "the second answer counts where the network failed", _WEB_MEMORY,
          "      if (!(name in reports)) {", "      if (!(name in reports) || Object.values(reports[name].to).includes(false)) {"),
    Fault("transport", "browser", "works for a while before a report of Yes", _VISIT, _SENT,
          f"{_SENT}\n      if ({_YES}) for (let n = 0; n < 2e7; n++);"),
]  # fmt: skip


FRESH, OTHERS = (
    [each._replace(histories=(), sessions=600 if each.client == "python" else 168) for each in some]
    for some in (_FRESH, _OTHERS)
)
"""Faults that were written before the audit was read, and after; docs/testing.md has what it said of them."""

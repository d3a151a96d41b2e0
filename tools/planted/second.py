"""Twenty more faults, by a second person who had read the clients and docs/device.md, and not the audit.

They are what somebody careless or malicious would write: some wait for one id in 16 or one word in 50, some for another
collector, an issuer that signs wrongly, a page that is left early, or a person who wants to leave no trace.
"""

from __future__ import annotations

from tools.planted.faults import Fault

_P, _D, _W = "shared/deniable/", "client/deniable_client/", "client/deniable_web/"
_MEMORY, _DEVICE, _CLIENT = f"{_D}memory.py", f"{_D}device.py", f"{_D}client.py"
_ELEMENT, _VISIT, _STEPS = f"{_W}element.js", f"{_W}visit.js", f"{_W}steps.js"
_BUNDLE, _SECOND_BUNDLE = f"{_W}dist/deniable.js", f"{_W}dist/deniable-answering.js"
_KEPT = "kept = _kept(db, unit.key, partial(unit.to_keep, values))"
_SENT = "            try:\n                values |= unit.kept(self._sent(db, unit, survey, kept))"
_ASKED = "_asked_of(self, db: sqlite3.Connection, unit: Unit, drawn: Collection[str]"
_KNOWN = "_with_known_values(self, db: sqlite3.Connection, survey: Survey, report: Report"

_PYTHON = [
    Fault("chance", "python", "the truth where a word is a multiple of 50", f"{_P}mechanisms/k_ary.py",
          "        if draw < self.keep:\n            return answer\n        instead",
          "        if draw < self.keep or draw % 50 == 0:\n            return answer\n        instead", access="every mechanism"),
    Fault("encoding", "python", "the id ends in an answer, once in 16", _DEVICE,
          "    return Report(report_id or new_report_id(), cohort,",
          "    report_id = report_id or new_report_id()\n    first = next(iter(choices.values()))\n"
          "    if survey.access == 'open' and report_id[0] == '0' and isinstance(first, int):\n"
          "        report_id = report_id[:31] + f'{first % 16:x}'\n    return Report(report_id, cohort,"),
    Fault("memory", "python", "another value for another collector", _MEMORY,
          "self._with_known_values(db, survey, draw())", "self._with_known_values(db, survey, draw(), collector)",
          also=((_MEMORY, f"{_KNOWN})", f"{_KNOWN}, collector: str)"),
                (_MEMORY, _KEPT, _KEPT.replace("unit.key", "unit.key + origin_of(collector)")))),
    Fault("waves", "python", "the first wave sends the permanent value", _MEMORY, f"            {_KEPT}\n{_SENT}",
          f"            known = _known(db, unit.key)\n            {_KEPT}\n"
          + _SENT.replace("self._sent(", "kept if known is None else self._sent(")),
    Fault("draw", "python", "a draw of questions for each survey", _MEMORY,
          "self._asked_of(db, unit, drawn)}", "self._asked_of(db, unit, drawn, survey.id)}",
          also=((_MEMORY, f"{_ASKED})", f"{_ASKED}, survey: str)"),
                (_MEMORY, "unit.key + DRAWN, partial", "unit.key + DRAWN + survey, partial"))),
    Fault("transport", "python", "one request less for whoever ticks nothing", _CLIENT,
          "            try:\n                self.check_open(survey, invitation)\n",
          "            try:\n                if all(each != [] for each in given.values()):\n"
          "                    self.check_open(survey, invitation)\n"),
    Fault("tokens", "python", "a second request for a token where the first was lost", _MEMORY,
          '            if kept is None:\n                kept = make()\n                db.execute("INSERT INTO tokens',
          '            if not isinstance(kept, str):\n                kept = make()\n                db.execute("INSERT OR REPLACE INTO tokens',
          access="unlinkable"),
    Fault("storage", "python", "a deleted token stays in the file", f"{_D}memory_file.py",
          "PRAGMA secure_delete = ON", "PRAGMA secure_delete = OFF", access="unlinkable"),
]  # fmt: skip

_BROWSER = [
    Fault("chance", "browser", "the second coin where the first does not decide", f"{_W}mechanisms/two-coin.js",
          "    const second = word(); // both, always: the number of words must not tell which coin decided\n"
          "    if (first < this.truth) return answer;\n    return second < this.yes ? 1 : 0;",
          "    if (first < this.truth) return answer;\n    return word() < this.yes ? 1 : 0;"),
    Fault("chance", "browser", "the truth of a number, once in 50", f"{_W}mechanisms/rows.js",
          "    return this.lo - this.excess + drawn(this.row(answer), word());",
          "    const draw = word();\n    const row = this.row(answer);\n    const near = answer - this.lo + this.excess;\n"
          "    return this.lo - this.excess + (draw < UNIT / 50 && near < row.length ? near : drawn(row, draw));"),
    Fault("draw", "browser", "questions are drawn by a remainder", f"{_W}group.js",
          "unrank(n, draw, below(choose(n, draw), word))", "unrank(n, draw, draw < n ? BigInt(word()) % choose(n, draw) : 0n)"),
    Fault("memory", "browser", "who leaves no trace is remembered", _ELEMENT,
          "this.#memory = isOn ? memory.fleeting() : memory;", "this.#memory = isOn && !memory.lasts ? memory.fleeting() : memory;"),
    Fault("transport", "browser", "a second option looks up a name", f"{_W}ask.js",
          "    if (note.textContent) asked.check();",
          '    if (target.value === "1") document.head.append(h("link", { rel: "dns-prefetch", href: "//help.deniable.example" }));\n'
          "    if (note.textContent) asked.check();"),
    Fault("storage", "browser", "the history of the browser holds answers", _STEPS,
          "    walk.go(!isChecked ? following(place + 1) : missing < 0 ? all : missing);",
          '    history.replaceState({ ...history.state, was: asked[place].words() }, "");\n'
          "    walk.go(!isChecked ? following(place + 1) : missing < 0 ? all : missing);"),
    Fault("transport", "browser", "30 ms for each answer that is not the first option", _VISIT,
          "      if (drawn) this.send(report, true);",
          "      const late = Object.entries(answers).filter(([id, each]) => view.questions.find((q) => q.id === id)?.options[0] !== each);\n"
          "      await new Promise((done) => setTimeout(done, 30 * late.length));\n"
          "      if (drawn) this.send(report, true);"),
    Fault("transport", "browser", "a beacon for whoever leaves early", _STEPS,
          "    if (walk.isEnded) return;\n    walk.forget();",
          "    if (walk.isEnded) return;\n    if (asked.some((each) => each.answer() !== undefined))\n"
          "      navigator.sendBeacon(`/api/v1/surveys/${location.pathname.slice(-26)}/state`, `${walk.place}`);\n    walk.forget();"),
]  # fmt: skip

_SHIPPED = [
    # Names in the bundle change with each build, so its text is found by a pattern.
    Fault("chance", "bundle", "a set holds the truth, once in 50", _BUNDLE,
          r"(\w+)=(\w+)<(\w+),(\w+)=(\w+)\((\w+)-1,(\w+)-\+\1,", r"\1=(\2%50n===0n&&(\2%=\3),\2<\3),\4=\5(\6-1,\7-+\1,",
          access="every mechanism"),
    Fault("encoding", "bundle", "the id ends in an answer, once in 16", _BUNDLE,
          r"let\{choices:(\w+)\}(.{1,500}?)return Object\.freeze\(\{id:(\w+),",
          r'let{choices:\1}\2\3[0]==="0"&&(\3=\3.slice(0,31)+(Number([...\1.values()][0])&15).toString(16));return Object.freeze({id:\3,'),
    Fault("tokens", "bundle", "any signature will do", _SECOND_BUNDLE,
          r'if\([^;]{1,60}\)throw new \w+\("token: must be signed by its issuer"\);', "", access="unlinkable"),
    Fault("storage", "bundle", "an attribute says how long an answer is", f"{_W}dist/deniable-question.js",
          r"(\w+)\.disabled=!0;let (\w+)=\(\)=>(\w+)\((\w+),(\w+),",
          r'\1.disabled=!0;this.setAttribute("data-size",String(\5).length);let \2=()=>\3(\4,\5,'),
]  # fmt: skip

SECOND = [
    each._replace(histories=("a form",) if each.file.endswith("/deniable-question.js") else (), sessions=96)
    for each in (*_PYTHON, *_BROWSER, *_SHIPPED)
]
"""docs/testing.md has what came of it."""

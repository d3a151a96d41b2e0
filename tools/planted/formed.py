"""Faults of <deniable-question>, which puts the noisy value of one question into the form of another site."""

from __future__ import annotations

from tools.planted.faults import Fault

_W = "client/deniable_web/"
_QUESTION, _MEMORY = f"{_W}question.js", f"{_W}form-memory.js"
_ANY = ("a form",)
_HELD = "          if (!signal.aborted) hold(value, true);"
_OTHER = "String(answer) !== String(question.options[0] ?? 0)"
_DRAW = "        const draw = () => randomizeAnswer(question, answer, undefined, !this.kiosk);"


def _formed(
    name: str, old: str, new: str, ways: tuple[str, ...] = _ANY, file: str = _QUESTION, sessions: int = 48
) -> Fault:
    return Fault("forms", "browser", name, file, old, new, ways, sessions)


FORMED = [
    # What the form gets
    _formed("a value with a zero before it", _HELD, f"          if (!signal.aborted) hold({_OTHER} ? `0${{value}}` : value, true);"),
    _formed("a second value in the form", _HELD, f"{_HELD}\n          if ({_OTHER}) this.internals.setFormValue(`${{value}}`);"),
    _formed("the value before what the page wrote", _HELD, f"{_HELD}\n          if ({_OTHER}) this.prepend(this.#field);"),
    # What the page around it sees
    _formed("an attribute says how long an answer is", "        mix.disabled = true;",
            '        mix.disabled = true;\n        this.setAttribute("data-size", String(String(answer).length));'),
    _formed("a property of the element", _HELD, f"{_HELD}\n          this.touched = {_OTHER};"),
    _formed("a state that style sheets select", _HELD, f'{_HELD}\n          if ({_OTHER}) this.internals.states.add("late");'),
    _formed("a second event of a change", _HELD, f'{_HELD}\n          if ({_OTHER}) this.dispatchEvent(new Event("change", {{ bubbles: true }}));'),
    _formed("an event before there is a value", "        mix.disabled = true;",
            f'        mix.disabled = true;\n        if ({_OTHER}) this.announce("mixing");'),
    _formed("a pixel more while somebody answers", "        const answer = asked.answer();",
            f'        const answer = asked.answer();\n        if ({_OTHER}) asked.set.style.paddingBottom = "1px";'),
    # Storage and requests
    _formed("a text that is stored and removed", _HELD,
            f'{_HELD}\n          if ({_OTHER}) {{\n            sessionStorage.setItem("deniable", "");\n            sessionStorage.removeItem("deniable");\n          }}'),
    _formed("another database", _HELD, f'{_HELD}\n          indexedDB.open("deniable", {_OTHER} ? 1 : 1);\n          if ({_OTHER}) indexedDB.open("firebase", 1);'),
    _formed("the survey is fetched once more", _HELD, f"{_HELD}\n          if ({_OTHER}) fetch(`${{collector}}/api/v1/surveys/${{survey.id}}`);"),
    # Chance and memory
    _formed("drawn again until it suits", _DRAW,
            "        const once = () => randomizeAnswer(question, answer, undefined, !this.kiosk);\n"
            "        const draw = () => {\n          const value = once();\n"
            "          return value === question.options.indexOf(String(answer)) ? value : once();\n        };"),
    _formed("another draw for the form than for the memory", _HELD, "          if (!signal.aborted) hold(draw(), true);"),
    _formed("a shared device sends the value before", "const value = this.kiosk ? draw() :", "const value = this.kiosk ? (localStorage.last ??= draw()) :",
            ("forms on a shared device",)),
    _formed("a wave sends the permanent value", "return valueOf(noisy, question, draw);",
            "return question.sent === question.key ? valueOf(noisy, question, draw) : (noisy[question.sent] = noisy[question.key] ??= draw());", _ANY, _MEMORY, 96),
]  # fmt: skip

"""Mutations of the mechanisms in both languages, which an audit must notice without any unit test."""

from __future__ import annotations

from tools.planted.faults import Client, Fault

_P, _W = "shared/deniable/mechanisms/", "client/deniable_web/"


def _mutations(client: Client, folder: str, *found: tuple[str, str, str, str]) -> list[Fault]:
    """Faults of the kind "mechanism", each of a name, a file in the folder, what stands there, and what takes its place."""
    return [
        Fault("mechanism", client, name, f"{folder}{file}", old, new, sessions=96, access="every mechanism")
        for name, file, old, new in found
    ]


PYTHON = _mutations(
    "python", _P,
    ("two-coin", "two_coin.py", "if first < self.truth:", "if first <= self.truth + self.truth // 16:"),
    ("warner", "warner.py", "return answer if word() < self.keep else", "return answer if word() > UNIT - self.keep else"),
    ("forced-response", "forced_response.py", "bisect.bisect_right(self._ends, second)", "bisect.bisect_right(self._ends, first)"),
    ("k-ary", "k_ary.py", "return instead if instead < answer else instead + 1", "return instead if instead <= answer else instead + 1"),
    ("subset", "subset.py", "unrank(self.k - 1, self.w - 1, draw // self.inside)", "unrank(self.k - 1, self.w - 1, draw // self.inside // 2)"),
    ("tick-boxes", "tick_boxes.py", "(option in ticked) == (word() < self.keep)", "(option in ticked) != (word() >= self.keep - self.keep // 16)"),
    ("drawn-boxes", "drawn_boxes.py", "self.patterns.randomize(pattern, word)", "self.patterns.randomize(pattern ^ 1, word)"),
    ("mean", "mean.py", "return 1 if word() < self.weight(answer) else 0", "return 1 if word() < self.weight(answer) * 15 // 16 else 0"),
    ("piecewise", "piecewise.py", "(self.row(answer))), word())", "(self.row(answer))), word() ^ 1 << 31)"),
    ("exponential and geometric", "row_mechanism.py", "bisect.bisect_right(ends, word())", "bisect.bisect_right(ends, word() // 2)"),
    ("longitudinal", "longitudinal.py", "return self.instantaneous_response.randomize(kept, word)", "return self.permanent_response.randomize(kept, word)"),
)  # fmt: skip

BROWSER = _mutations(
    "browser", _W,
    ("two-coin: the first coin", "mechanisms/two-coin.js", "if (first < this.truth)", "if (first < this.truth * 1.0625)"),
    ("two-coin: the second coin", "mechanisms/two-coin.js", "second < this.yes ? 1 : 0", "second < this.yes ? 0 : 1"),
    ("warner", "mechanisms/warner.js", "  isTelling() {", "  draw(answer, word) {\n    return word() > 2 ** 32 - this.keep ? answer : 1 - answer;\n  }\n  isTelling() {"),
    ("forced-response: one word for both", "mechanisms/forced-response.js", "drawn(this.forced, second)", "drawn(this.forced, first)"),
    ("forced-response: the truth", "mechanisms/forced-response.js", "first < this.truth", "first < this.truth * 1.0625"),
    ("k-ary: which lie", "mechanisms/k-ary.js", "instead < answer ? instead : instead + 1", "instead <= answer ? instead : instead + 1"),
    ("k-ary: the truth", "mechanisms/k-ary.js", "if (draw < this.keep)", "if (draw < this.keep * 1.0625)"),
    ("subset: the rank", "mechanisms/subset.js", "holds ? draw / inside :", "holds ? draw / inside / 2n :"),
    ("subset: the truth in it", "mechanisms/subset.js", "const holds = draw < holding;", "const holds = draw < (holding * 17n) / 16n;"),
    ("tick-boxes", "mechanisms/tick-boxes.js", "=== word() < this.keep", "=== word() < this.keep * 1.0625"),
    ("drawn-boxes: the pattern", "mechanisms/drawn-boxes.js", "parseInt(pattern, 2)", "parseInt(pattern, 2) ^ 1"),
    ("drawn-boxes: which are drawn", "mechanisms/drawn-boxes.js", "below(choose(this.k, this.s), word)", "(below(choose(this.k, this.s), word) + 1n) % choose(this.k, this.s)"),
    ("mean", "mechanisms/mean.js", "(answer - this.lo) * this.slope", "(answer - this.lo + 4) * this.slope"),
    ("piecewise: the word", "mechanisms/piecewise.js", "super.draw(answer, word) - this.lo", "super.draw(answer, () => 2 ** 32 - 1 - word()) - this.lo"),
    ("filtered-piecewise: who it does not apply to", "mechanisms/piecewise.js", "if (answer > knots[knots.length - 1]) return others;", "if (answer > knots[knots.length - 1]) return this.row(knots[0]);"),
    ("rows", "mechanisms/rows.js", "drawn(this.row(answer), word())", "drawn(this.row(answer), word() / 2)"),
    ("geometric", "mechanisms/geometric.js", "    super(lo, hi, 0, tails);\n  }", "    super(lo, hi, 0, tails);\n  }\n  draw(answer, word) {\n    return super.draw(answer === this.lo ? answer + 1 : answer, word);\n  }"),
    ("discrete-laplace", "mechanisms/discrete-laplace.js", '  /** @override */ static types = "number";', '  /** @override */ static types = "number";\n  draw(answer, word) {\n    return Math.max(super.draw(answer, word), answer);\n  }'),
    ("exponential", "mechanisms/exponential.js", "return this.weights[answer];", "return this.weights[Math.min(answer + 1, this.hi)];"),
    ("longitudinal: a wave", "mechanisms/base.js", "this.second.draw(value, word)", "this.draw(value, word)"),
    ("longitudinal: of the answer", "mechanisms/base.js", "isKept ? value : this.instantaneous(value, word)", "isKept ? value : this.instantaneous(typeof answer === typeof value ? answer : value, word)"),
    ("group: which are asked", "group.js", "below(choose(n, draw), word));", "(below(choose(n, draw), word) + 1n) % choose(n, draw));"),
    ("group: its joint response", "group.js", "joint.randomize(this.placeOf(answers), word)", "joint.randomize((this.placeOf(answers) + 1) % patterns.length, word)"),
    ("below: modulo", "randomness.js", "if (draw < bound) return draw;", "return draw % bound;"),
    ("words of 31 bits", "randomness.js", "new Uint32Array(1))[0]", "new Uint32Array(1))[0] >>> 1"),
    ("an id with a mark", "randomness.js", "export const newReportId = () => random(16);", "export const newReportId = () => random(16).slice(1) + 0;"),
)  # fmt: skip
"""Mutations of the browser's sources, as modules and in the bundle that is made of them."""

MUTATIONS = [*PYTHON, *BROWSER]

"""What each published mechanism makes of an answer and of words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from deniable_client.audit.reference.chance import UNIT, Word, below, subset, subsets

Published = Mapping[str, Any]
"""A mechanism as a survey publishes it: its name, and integers."""


def keep(mechanism: Published, answer: Any, word: Word) -> int | str:
    """The permanent value, which a device keeps: of every mechanism but ``longitudinal`` also what is sent."""
    return _DRAWS[mechanism["name"]](mechanism, answer, word)


def send(mechanism: Published, kept: int | str, word: Word) -> int | str:
    """What one survey sends of the permanent value."""
    if mechanism["name"] != "longitudinal":
        return kept
    return _one_of(mechanism["k"], mechanism["again"], int(kept), word)


def ratio(mechanism: Published) -> Fraction:
    """The largest ratio of the probabilities of a report under two answers."""
    return _RATIOS[mechanism["name"]](mechanism)


def _one_of(k: int, kept: int, answer: int, word: Word) -> int:
    """The answer for the first ``kept`` words, then the other options in order, each for as many words."""
    number = word()
    if number < kept:
        return answer
    others = [option for option in range(k) if option != answer]
    # The words from `kept` on are shared out evenly: (2^32 - kept) / (k - 1) for each other option, in order.
    return others[(number - kept) * (k - 1) // (UNIT - kept)]


def _weighted(row: Sequence[int], word: Word) -> int:
    """The place in a row of weights into which a word falls."""
    left = word()
    for place, weight in enumerate(row):
        if left < weight:
            return place
        left -= weight
    raise ValueError("weights: must add up to 2**32")


def _k_ary(m: Published, answer: int, word: Word) -> int:
    return _one_of(m["k"], m["keep"], answer, word)


def _warner(m: Published, answer: int, word: Word) -> int:
    return _one_of(2, m["keep"], answer, word)


def _two_coin(m: Published, answer: int, word: Word) -> int:
    # Both coins are always tossed, whichever decides.
    first, second = word(), word()
    return answer if first < m["truth"] else int(second < m["yes"])


def _forced(m: Published, answer: int, word: Word) -> int:
    first = word()
    # Drawn whether it is needed or not, as in every client.
    instead = _weighted(m["forced"], word)
    return answer if first < m["truth"] else instead


def _unequal(m: Published, answer: int, word: Word) -> int:
    # One word decides both: the first 2^32 - sum(others) words are the truth, the rest the options in order.
    number, truth = word(), UNIT - sum(m["others"])
    if number < truth:
        return answer
    return _weighted(m["others"], lambda: number - truth)


def _subset(m: Published, answer: int, word: Word) -> str:
    k, w, inside = m["k"], m["w"], m["inside"]
    # Subsets with the answer weigh `inside` each, those without it 2^32 each.
    holding = subsets(k - 1, w - 1) * inside
    # One number below the sum of all weights decides which subset is sent.
    number = below(holding + subsets(k - 1, w) * UNIT, word)
    others = [option for option in range(k) if option != answer]
    if number < holding:
        chosen = {answer, *(others[place] for place in subset(k - 1, w - 1, number // inside))}
    else:
        chosen = {others[place] for place in subset(k - 1, w, (number - holding) // UNIT)}
    return _marks(k, chosen)


def _tick_boxes(m: Published, answer: Sequence[int], word: Word) -> str:
    return _marks(m["k"], {box for box in range(m["k"]) if (box in answer) == (word() < m["keep"])})


def _drawn_boxes(m: Published, answer: Sequence[int], word: Word) -> str:
    k, s = m["k"], m["s"]
    drawn = subset(k, s, below(subsets(k, s), word))
    # The first of the drawn boxes is the highest bit.
    pattern = sum((box in answer) << (s - 1 - place) for place, box in enumerate(drawn))
    sent = _one_of(1 << s, m["keep"], pattern, word)
    shown = {box: "01" if sent >> (s - 1 - place) & 1 else "10" for place, box in enumerate(drawn)}
    return "".join(shown.get(box, "00") for box in range(k))


def _mean(m: Published, answer: int, word: Word) -> int:
    # The weights of the two ends lie symmetrically around 2^31.
    least: int = (UNIT - m["slope"] * (m["hi"] - m["lo"])) // 2
    return int(word() < least + m["slope"] * (answer - m["lo"]))


def _piecewise(m: Published, answer: int, word: Word) -> int:
    return _weighted(_piece(m, answer), word)


def _piece(m: Published, answer: int) -> list[int]:
    row = list(m["weights"])
    for start, end, slopes in zip(m["knots"], m["knots"][1:], m["slopes"], strict=False):
        # How far the answer has come within this stretch between two knots: all of it, a part, or nothing.
        steps = min(max(answer - start, 0), end - start)
        row = [weight + steps * slope for weight, slope in zip(row, slopes, strict=True)]
    return row


def _filtered_piecewise(m: Published, answer: int, word: Word) -> int:
    return _weighted(m["others"] if answer > m["knots"][-1] else _piece(m, answer), word)


def _exponential(m: Published, answer: int, word: Word) -> int:
    return _weighted(m["weights"][answer], word)


def _noise(m: Published, answer: int, word: Word) -> int:
    return int(m["lo"] - m.get("excess", 0) + _weighted(_clamped(m, answer), word))


def _clamped(m: Published, answer: int) -> list[int]:
    """Weights of all reports from ``lo - excess`` to ``hi + excess``: differences of the published tails."""
    first, last = m["lo"] - m.get("excess", 0), m["hi"] + m.get("excess", 0)

    def at_least(report: int) -> int:
        # The ends take everything beyond them, because sums are clamped to the range.
        if report <= first:
            return UNIT
        if report > last:
            return 0
        noise = report - answer
        # tails[d - 1] is P(noise >= d). By symmetry P(noise >= -d) = 1 - P(noise >= d + 1), which is tails[d].
        return int(m["tails"][noise - 1] if noise > 0 else UNIT - m["tails"][-noise])

    return [at_least(report) - at_least(report + 1) for report in range(first, last + 1)]


def _marks(k: int, chosen: set[int]) -> str:
    return "".join("1" if option in chosen else "0" for option in range(k))


def _of_two(one: int, other: int) -> Fraction:
    return Fraction(max(one, other), min(one, other))


def _of_rows(rows: Sequence[Sequence[int]]) -> Fraction:
    return max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))


def _of_k(k: int, kept: int) -> Fraction:
    # The truth against one other option, (2^32 - kept) / (k - 1); a keep below 1/k turns the ratio over.
    return max(Fraction(kept * (k - 1), UNIT - kept), Fraction(UNIT - kept, kept * (k - 1)))


def _of_forced(truth: int, rarest: int) -> Fraction:
    # P(v|v) / P(v|x) = (t + (1 - t) g_v) / ((1 - t) g_v), largest for the option that is forced the least.
    return 1 + Fraction(truth * UNIT, (UNIT - truth) * rarest)


def _of_mean(m: Published) -> Fraction:
    least = (UNIT - m["slope"] * (m["hi"] - m["lo"])) // 2
    return _of_two(UNIT - least, least)


_DRAWS: dict[str, Callable[[Published, Any, Word], int | str]] = {
    "discrete-laplace": _noise,
    "drawn-boxes": _drawn_boxes,
    "exponential": _exponential,
    "filtered-piecewise": _filtered_piecewise,
    "forced-response": _forced,
    "geometric": _noise,
    "k-ary": _k_ary,
    "longitudinal": _k_ary,
    "mean": _mean,
    "piecewise": _piecewise,
    "subset": _subset,
    "tick-boxes": _tick_boxes,
    "two-coin": _two_coin,
    "unequal-k-ary": _unequal,
    "warner": _warner,
}

_RATIOS: dict[str, Callable[[Published], Fraction]] = {
    "discrete-laplace": lambda m: _of_rows([_clamped(m, answer) for answer in range(m["lo"], m["hi"] + 1)]),
    "drawn-boxes": lambda m: _of_k(1 << m["s"], m["keep"]),
    "exponential": lambda m: _of_rows(m["weights"]),
    "filtered-piecewise": lambda m: _of_rows([*(_piece(m, knot) for knot in m["knots"]), m["others"]]),
    "forced-response": lambda m: _of_forced(m["truth"], min(m["forced"])),
    "geometric": lambda m: _of_rows([_clamped(m, answer) for answer in range(m["lo"], m["hi"] + 1)]),
    "k-ary": lambda m: _of_k(m["k"], m["keep"]),
    "longitudinal": lambda m: _of_k(m["k"], m["keep"]),
    "mean": _of_mean,
    "piecewise": lambda m: _of_rows([_piece(m, knot) for knot in m["knots"]]),
    "subset": lambda m: Fraction(m["inside"], UNIT),
    "tick-boxes": lambda m: _of_two(m["keep"], UNIT - m["keep"]) ** m["k"],
    "two-coin": lambda m: _of_forced(m["truth"], min(m["yes"], UNIT - m["yes"])),
    "unequal-k-ary": lambda m: 1 + Fraction(UNIT - sum(m["others"]), min(m["others"])),
    "warner": lambda m: _of_k(2, m["keep"]),
}

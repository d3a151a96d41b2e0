"""Chance chosen so that given answers become given noisy values.

Two people who answer differently then have to send the same bytes, so whatever else differs between their sessions is a
leak, without any statistics. The words are uniform among those that do it, or lie at the edges of these.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Mapping
from typing import Any

from deniable_client.audit.reference import mechanisms
from deniable_client.audit.reference.chance import UNIT, OutOfWords, Words, subset, subsets
from deniable_client.audit.reference.mechanisms import Published
from deniable_client.audit.reference.published import Unit, Value

TRIES = 200_000
"""Draws after which a value is taken for one that no words make of an answer."""


class NotReachable(Exception):
    """No words make that value of that answer."""


def words_for(unit: Unit, answers: Mapping[str, Any], wanted: Mapping[str, Value], dice: random.Random) -> list[int]:
    """Words of which a unit's mechanisms make the wanted permanent values of these answers."""
    if unit.joint is not None:
        asked = [each for each in unit.questions if each["id"] in answers]
        if unit.patterns:
            given = unit.patterns.index(tuple(answers[each["id"]] for each in asked))
            made = unit.patterns.index(tuple(int(wanted[each["id"]] or 0) for each in asked))
            return _words(unit.joint, given, made, dice)
        base = len(unit.questions[0]["options"])
        pattern = report = 0
        for each in asked:
            pattern, report = base * pattern + answers[each["id"]], base * report + int(wanted[each["id"]] or 0)
        return _words(unit.joint, pattern, report, dice)
    found: list[int] = []
    for each in unit.questions:
        if each["id"] in answers:
            found += _words(each["mechanism"], answers[each["id"]], wanted[each["id"]], dice)
    return found


def at_the_edges(make: Callable[[Words], Any], words: list[int], dice: random.Random) -> list[int]:
    """Words that make the same, each the first or the last one that does.

    Where a weight is off by little, only words beside it show that, and of 2**32 words nobody meets these by chance.

    Parameters
    ----------
    make : callable
    words : list of int
        As many as ``make`` takes.
    dice : random.Random
        Decides for each word on which side its edge is looked for.
    """
    wanted = make(Words(words))
    for place in range(len(words)):
        end = dice.choice((0, UNIT - 1))
        is_free = _makes(make, [*words[:place], end, *words[place + 1 :]], wanted)
        edge = end if is_free else _edge(make, words, place, end, wanted)
        words = [*words[:place], edge, *words[place + 1 :]]
    return words


def _edge(make: Callable[[Words], Any], words: list[int], place: int, end: int, wanted: Any) -> int:
    """The last word from the one at a place towards an end that still makes what is wanted, by halving."""
    good, bad = words[place], end
    while abs(good - bad) > 1:
        middle = (good + bad) // 2
        if _makes(make, [*words[:place], middle, *words[place + 1 :]], wanted):
            good = middle
        else:
            bad = middle
    return good


def _makes(make: Callable[[Words], Any], words: list[int], wanted: Any) -> bool:
    given = Words(words)
    try:
        return bool(make(given) == wanted) and given.left == 0
    except OutOfWords:
        return False


def some_words(draw: Callable[[Words], Any], dice: random.Random) -> tuple[list[int], Any]:
    """Random words, as many as something takes, and what it makes of them."""
    # All at once, because thousands of calls for one word each took longer than everything that is made of them.
    given = struct.unpack("<4096I", dice.randbytes(4 * 4096))
    words = Words(given)
    made = draw(words)
    return list(given[: words.taken]), made


def _words(mechanism: Published, answer: Any, wanted: Value, dice: random.Random) -> list[int]:
    direct = _DIRECT.get(mechanism["name"])
    if direct:
        return direct(mechanism, answer, wanted, dice)
    for _ in range(TRIES):
        words, made = some_words(lambda words: mechanisms.keep(mechanism, answer, words), dice)
        if made == wanted:
            return words
    raise NotReachable(f"{mechanism['name']}: made no such value in {TRIES:,} draws")


def _one_of(k: int, kept: int, answer: int, wanted: int, dice: random.Random) -> int:
    if answer == wanted:
        return dice.randrange(kept)
    share = (UNIT - kept) // (k - 1)
    place = wanted if wanted < answer else wanted - 1
    return kept + place * share + dice.randrange(share)


def _k_ary(m: Published, answer: Any, wanted: Any, dice: random.Random) -> list[int]:
    return [_one_of(m.get("k", 2), m["keep"], answer, wanted, dice)]


def _tick_boxes(m: Published, answer: Any, wanted: Any, dice: random.Random) -> list[int]:
    true = ((box in answer) == (wanted[box] == "1") for box in range(m["k"]))
    return [dice.randrange(m["keep"]) if each else dice.randrange(m["keep"], UNIT) for each in true]


def _drawn_boxes(m: Published, answer: Any, wanted: Any, dice: random.Random) -> list[int]:
    k, s = m["k"], m["s"]
    marks = [wanted[2 * box : 2 * box + 2] for box in range(k)]
    drawn = [box for box in range(k) if marks[box] != "00"]
    pattern = int("".join(str(int(box in answer)) for box in drawn), 2)
    report = int("".join(str(int(marks[box] == "01")) for box in drawn), 2)
    rank = _rank(k, drawn)
    return [*_spelled(rank, subsets(k, s), dice), _one_of(1 << s, m["keep"], pattern, report, dice)]


def _subset(m: Published, answer: Any, wanted: Any, dice: random.Random) -> list[int]:
    k, w, inside = m["k"], m["w"], m["inside"]
    others = [option for option in range(k) if option != answer]
    places = [place for place, option in enumerate(others) if wanted[option] == "1"]
    holding = subsets(k - 1, w - 1) * inside
    rank = _rank(k - 1, places)
    if wanted[answer] == "1":
        # `inside` numbers for each subset with the answer, in lexicographic order; any of them will do.
        number = rank * inside + dice.randrange(inside)
    else:
        number = holding + rank * UNIT + dice.randrange(UNIT)
    return _spelled(number, holding + subsets(k - 1, w) * UNIT, dice)


def _rank(n: int, chosen: list[int]) -> int:
    """The rank of a subset in lexicographic order."""
    rank, size, left = 0, len(chosen), set(chosen)
    for place in range(n):
        if not left:
            break
        if place in left:
            left.remove(place)
            size -= 1
        else:
            rank += subsets(n - place - 1, size - 1)
    assert subset(n, len(chosen), rank) == chosen
    return rank


def _spelled(number: int, bound: int, dice: random.Random) -> list[int]:
    """Words that `below` reads as this number; what it does not look at is random."""
    bits = (bound - 1).bit_length()
    words = -(-bits // 32)
    # Bits that `below` masks off are free, and random ones look like any other draw.
    number |= dice.getrandbits(32 * words) >> bits << bits if bits < 32 * words else 0
    return [number >> (32 * place) & (UNIT - 1) for place in range(words)]


def _unequal(m: Published, answer: Any, wanted: Any, dice: random.Random) -> list[int]:
    truth = UNIT - sum(m["others"])
    if answer == wanted:
        return [dice.randrange(truth)]
    # Behind the words of the truth the options stand in order, each with as many words as it weighs.
    return [truth + sum(m["others"][:wanted]) + dice.randrange(m["others"][wanted])]


_DIRECT: dict[str, Callable[[Published, Any, Any, random.Random], list[int]]] = {
    "drawn-boxes": _drawn_boxes,
    "k-ary": _k_ary,
    "longitudinal": _k_ary,
    "subset": _subset,
    "tick-boxes": _tick_boxes,
    "unequal-k-ary": _unequal,
    "warner": _k_ary,
}

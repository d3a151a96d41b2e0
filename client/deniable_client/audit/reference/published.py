"""A published survey as its bytes say it: questions, units, and the keys under which devices remember these."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable_client.audit.reference import mechanisms
from deniable_client.audit.reference.chance import Word, below, subset, subsets

Value = int | str | None
"""What a report holds for a question; None where it was not asked."""

_DESCRIBED = ("mechanism", "options", "text", "type", "unit")
"""What makes a question the same elsewhere."""


def address(content: bytes) -> str:
    """The first 128 bits of the SHA-256, in base32 of lower case."""
    # 128 bits in 26 letters and digits, which can be read aloud.
    return base64.b32encode(hashlib.sha256(content).digest()[:16]).decode("ascii").rstrip("=").lower()


def canonical(content: object) -> str:
    """JSON with sorted keys, in ASCII, without spaces."""
    # Sorted, so that equal contents have equal addresses.
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def compact(content: object) -> str:
    """JSON in the order of what it holds, without spaces."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True)
class Unit:
    """What a device draws, keeps and pays for as one: a question that stands alone, or a group.

    Attributes
    ----------
    key, sent : str
        Under which a device keeps its permanent values, and what this survey sends of them.
    questions : tuple of mapping
        As published.
    draw : int
        How many of them are asked.
    joint : mapping or None
        The response over patterns of all that are asked.
    is_group : bool
    """

    key: str
    sent: str
    questions: tuple[Mapping[str, Any], ...]
    draw: int
    joint: Mapping[str, Any] | None
    is_group: bool

    @property
    def is_drawn(self) -> bool:
        """Whether fewer are asked than there are."""
        return self.draw < len(self.questions)

    @cached_property
    def patterns(self) -> list[tuple[int, ...]]:
        """The answers that somebody can give together, in rising order, where filters leave some out; else empty."""
        sizes = [len(each["options"]) for each in self.questions]
        if self.joint is None or self.is_drawn or not any("ask_if" in each for each in self.questions):
            return []
        # The size of the response says which one it is: over all combinations, or over the possible ones alone.
        if len(set(sizes)) == 1 and self.joint["k"] == sizes[0] ** len(sizes):
            return []
        return [each for each in itertools.product(*map(range, sizes)) if self._go_together(each)]

    def _go_together(self, pattern: Sequence[int]) -> bool:
        """Whether the last option is given just where a question has a filter that the answers do not pass."""
        answers = {each["id"]: answer for each, answer in zip(self.questions, pattern, strict=True)}
        return all(
            _holds(each["ask_if"], answers) != (answer == len(each["options"]) - 1)
            for each, answer in zip(self.questions, pattern, strict=True)
            if "ask_if" in each
        )

    def drawn(self, word: Word) -> list[str]:
        """Ids of the questions to ask, drawn by chance."""
        n = len(self.questions)
        places = subset(n, self.draw, below(subsets(n, self.draw), word)) if self.is_drawn else range(n)
        return [self.questions[place]["id"] for place in places]

    def permanent(self, answers: Mapping[str, Any], word: Word) -> dict[str, Value]:
        """The values that a device keeps of these answers; None where there is no answer, because it was not asked."""
        if self.joint is None:
            return {
                each["id"]: mechanisms.keep(each["mechanism"], answers[each["id"]], word)
                if each["id"] in answers
                else None
                for each in self.questions
            }
        if self.patterns:
            given = self.patterns.index(tuple(answers[each["id"]] for each in self.questions))
            sent = self.patterns[int(mechanisms.keep(self.joint, given, word))]
            return {each["id"]: value for each, value in zip(self.questions, sent, strict=True)}
        told = [each for each in self.questions if each["id"] in answers]
        base = len(self.questions[0]["options"])
        pattern = 0
        for each in told:
            # The answers are the digits of a number, the first question the highest one.
            pattern = base * pattern + answers[each["id"]]
        rest = int(mechanisms.keep(self.joint, pattern, word))
        values: dict[str, Value] = {each["id"]: None for each in self.questions}
        for each in reversed(told):
            # The last digit comes off first, hence the order from behind.
            rest, values[each["id"]] = divmod(rest, base)
        return values

    def instant(self, kept: Mapping[str, Value], word: Word) -> dict[str, Value]:
        """What this survey sends of kept values."""
        # Questions with waves alone are randomised a second time.
        if self.key == self.sent:
            return dict(kept)
        (question,) = self.questions
        value = kept[question["id"]]
        assert value is not None
        return {question["id"]: mechanisms.send(question["mechanism"], value, word)}

    @cached_property
    def cost(self) -> int:
        """What it costs a ledger, in millionths of epsilon: each mechanism rounded up, the dearest ones added."""
        if self.joint is not None:
            return millionths(mechanisms.ratio(self.joint))
        costs = sorted((millionths(mechanisms.ratio(each["mechanism"])) for each in self.questions), reverse=True)
        # Which questions are drawn is not known beforehand, so the dearest ones are charged.
        return sum(costs[: self.draw])


def millionths(ratio: Fraction) -> int:
    """The logarithm of a ratio in millionths, rounded up."""
    # 60 digits leave no doubt on which side of a whole millionth a logarithm lies.
    with localcontext(prec=60):
        log = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln() * 1_000_000
        return int(log.to_integral_value(ROUND_CEILING))


@dataclass(frozen=True)
class PublishedSurvey:
    """A survey, read from its bytes."""

    document: bytes

    @cached_property
    def content(self) -> dict[str, Any]:
        """The document as JSON."""
        found: dict[str, Any] = json.loads(self.document)
        return found

    @cached_property
    def id(self) -> str:
        """Its address."""
        return address(self.document)

    @property
    def questions(self) -> list[dict[str, Any]]:
        """As published."""
        found: list[dict[str, Any]] = self.content["questions"]
        return found

    @property
    def access(self) -> str:
        """Who may be counted."""
        return str(self.content.get("access", "open"))

    @property
    def code_length(self) -> int:
        """How many characters of a completion code a device draws."""
        return int(self.content.get("completion", {}).get("code_length", 0))

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """In the order of their first questions."""
        found: dict[str, list[dict[str, Any]]] = {}
        for number, each in enumerate(self.questions):
            found.setdefault(each.get("group") or f"-{number}", []).append(each)
        return tuple(self._unit(members) for members in found.values())

    @cached_property
    def _described(self) -> dict[str, dict[str, Any]]:
        """What makes each question the same elsewhere; of one with a filter, what the filter is about is part of it."""
        found: dict[str, dict[str, Any]] = {}
        for each in self.questions:
            content = {key: each[key] for key in _DESCRIBED if key in each}
            # A filter is part of what a question is, and so are the questions that it names.
            if "ask_if" in each:
                about = {name: address(canonical(found[name]).encode("ascii")) for name in _named(each["ask_if"])}
                content |= {"about": about, "ask_if": each["ask_if"]}
            found[each["id"]] = content
        return found

    def _unit(self, members: list[dict[str, Any]]) -> Unit:
        described = [self._described[each["id"]] for each in members]
        # Noise that is fresh in each survey is remembered for that survey alone.
        wave = {"survey": self.id} if self.content.get("fresh") else {}
        name = members[0].get("group")
        if name is None:
            key = address(canonical(described[0] | wave).encode("ascii"))
            has_waves = members[0]["mechanism"]["name"] == "longitudinal"
            return Unit(key, key + self.id if has_waves else key, tuple(members), 1, None, False)
        group = self.content["groups"][name]
        joint = {"joint": group["joint"]} if "joint" in group else {}
        key = address(canonical({"draw": group["draw"], "questions": described} | joint | wave).encode("ascii"))
        return Unit(key, key, tuple(members), group["draw"], group.get("joint"), True)

    def draw(self, word: Word) -> list[str]:
        """Ids of the questions that a device asks, in the order of the survey."""
        drawn = {name for unit in self.units for name in unit.drawn(word)}
        return [each["id"] for each in self.questions if each["id"] in drawn]

    def arrange(self, word: Word) -> tuple[list[str], dict[str, list[str]]]:
        """Ids of all questions in the order in which a device shows them, and the options of each in theirs.

        Orders of the arrangement come first, from the outside to the inside, then those of options, all in the order of
        the document.
        """
        arrangement = self.content.get("arrangement", {"of": [each["id"] for each in self.questions]})
        ids = _arranged(arrangement, word)
        return ids, {each["id"]: _shuffled(_choices(each), each, word) for each in self.questions}

    @property
    def is_drawn(self) -> bool:
        """Whether devices ask fewer questions than there are."""
        return any(unit.is_drawn for unit in self.units)

    def in_order(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """Values in the order of the survey."""
        return {each["id"]: values[each["id"]] for each in self.questions}

    def report(self, id: str, cohort: str | None, values: Mapping[str, Value], credential: str | None = None) -> bytes:
        """The only bytes of a report."""
        content = {"id": id, "cohort": cohort, "values": self.in_order(values)}
        return compact(content | ({"credential": credential} if credential else {})).encode("utf-8")


def dealt(question: Mapping[str, Any], word: Word) -> list[str]:
    """What people choose from where a question stands alone, in the order in which a device shows it."""
    return _shuffled(_choices(question), question, word)


def _arranged(block: Mapping[str, Any], word: Word) -> list[str]:
    # The order of a block is drawn before those of its parts.
    places = _shuffled(list(range(len(block["of"]))), block, word)
    parts = [[each] if isinstance(each, str) else _arranged(each, word) for each in block["of"]]
    return [name for place in places for name in parts[place]]


def _shuffled(parts: list[Any], how: Mapping[str, Any], word: Word) -> list[Any]:
    """Fisher and Yates: each place from the last one down changes with one before it, or with itself."""
    if how.get("order") != "random":
        return parts
    first = how.get("fixed_first", 0)
    moving, last = parts[first : len(parts) - how.get("fixed_last", 0)], parts[len(parts) - how.get("fixed_last", 0) :]
    # Fisher and Yates, from behind: each step draws one of the parts that are left.
    for left in range(len(moving), 1, -1):
        drawn = below(left, word)
        moving[left - 1], moving[drawn] = moving[drawn], moving[left - 1]
    return [*parts[:first], *moving, *last]


def _choices(question: Mapping[str, Any]) -> list[str]:
    """What people choose from: all options but that a question with a filter does not apply."""
    found = labels(question)
    # Nobody is offered *does not apply*: the device gives it.
    return found[:-1] if "ask_if" in question else found


def completion_code(length: int, word: Word) -> str:
    """A code that a device draws after Send."""
    return "".join(CODE[below(len(CODE), word)] for _ in range(length))


CODE = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Digits and capital letters without those that look like others."""


def labels(question: Mapping[str, Any]) -> list[str]:
    """The options of a question in its default language; none of a number."""
    return [each["default"] if isinstance(each, dict) else each for each in question.get("options", ())]


def choice(question: Mapping[str, Any], given: Any) -> Any:
    """An answer as mechanisms take it: the place of an option, places of ticked boxes, or a number."""
    options = labels(question)
    if question["type"] == "ticks":
        return [options.index(each) for each in given]
    return options.index(str(given)) if options else given


def settled(survey: PublishedSurvey, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Answers as mechanisms take them: the last option where a question has a filter that these answers do not pass.

    Conditions are about earlier questions, so what does not apply decides about later ones, too.
    """
    found: dict[str, Any] = {}
    for each in survey.questions:
        if "ask_if" in each and not _holds(each["ask_if"], found):
            # The last option, or the number after the last knot, says that the question does not apply.
            last = len(each["options"]) - 1 if each["options"] else each["mechanism"]["knots"][-1] + 1
            found[each["id"]] = [last] if each["type"] == "ticks" else last
        elif each["id"] in answers:
            found[each["id"]] = answers[each["id"]]
    return found


def _named(condition: Sequence[Any]) -> set[str]:
    """The questions that a condition is about."""
    name, *rest = condition
    return set[str]().union(*map(_named, rest)) if name in ("all", "any") else {rest[0]}


def _holds(condition: Sequence[Any], answers: Mapping[str, Any]) -> bool:
    """Whether a published condition holds; a test of a missing answer does not."""
    name, *rest = condition
    if name in ("all", "any"):
        return (all if name == "all" else any)(_holds(each, answers) for each in rest)
    question, *numbers = rest
    answer = answers.get(question)
    if name == "among":
        return isinstance(answer, int) and any(
            lo <= answer <= hi for lo, hi in zip(numbers[::2], numbers[1::2], strict=True)
        )
    if name not in ("has", "lacks"):
        raise ValueError(f"condition: must be one that is published, got {name!r}")
    return isinstance(answer, (list, tuple)) and (numbers[0] in answer) == (name == "has")

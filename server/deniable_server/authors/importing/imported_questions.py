"""Questions that were read from another tool's form, and the survey file that they make."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape

from deniable import OneBitMean, SurveyError, read_survey
from deniable.survey.texts import DEFAULT, MAX_LABEL, MAX_TEXT, check_text

Spoken = Mapping[str, str]
"""A text by language; ``default`` is the one that stands in results."""

SUGGESTED_EPSILON = "2.0"
"""What all questions of an imported survey cost together, until its author decides."""

UNKNOWN_LANGUAGE = '# language = "en"  # in which language are these texts?'
"""The line of a survey whose form does not say in which language it is."""

UNTITLED = "Imported survey"
"""The title of a survey whose own cannot be taken over."""

_INLINE = re.compile(r"</?(?:a|b|em|font|i|span|strong|sub|sup|u)\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")
_MARKS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|^#+ *", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\$\{[^}]+\}|\{[A-Za-z_][\w.\[\]-]*\}")


@dataclass(frozen=True)
class LeftOut:
    """Something that a survey file cannot hold, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Asked:
    """A question that was read.

    Attributes
    ----------
    name : str
        Its name in the other tool.
    kind : str
        The question type of a survey file.
    text : Spoken
    help : Spoken
        Empty for none.
    options : tuple of (str, Spoken)
        Code in the other tool, and text.
    keys : mapping of str to int
        Other keys of a survey file, such as ``lo`` and ``hi``.
    ends : tuple of Spoken
        What the lowest and the highest level mean; empty for nothing.
    condition : str
        On which answers it is asked, as the other tool has it; empty for always.
    before : Spoken
        What stands before it, such as the heading of its group; empty for nothing.
    apart : mapping of str to str
        Options that stand apart: the key of a survey file, such as ``decline``, to their code.
    """

    name: str
    kind: str
    text: Spoken
    help: Spoken = field(default_factory=dict)
    options: tuple[tuple[str, Spoken], ...] = ()
    keys: Mapping[str, int] = field(default_factory=dict)
    ends: tuple[Spoken, ...] = ()
    condition: str = ""
    before: Spoken = field(default_factory=dict)
    apart: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Form:
    """What was read from a file of another tool: its title, its questions, and what is no question of a survey.

    Its language is the tag of the one in which the default texts are; None if the file does not say it.
    """

    title: Spoken
    about: Spoken
    questions: tuple[Asked, ...]
    left_out: tuple[LeftOut, ...]
    language: str | None = None


@dataclass(frozen=True)
class Placed:
    """A question with its id, its condition in words of a survey file, and a remark of what is gone."""

    asked: Asked
    id: str
    ask_if: str = ""
    remark: str = ""

    def lines(self, noise: Sequence[str] = ()) -> Iterator[str]:
        """Its lines in a survey file."""
        yield "[[questions]]"
        yield f"id = {_written(self.id)}"
        yield f"type = {_written(self.asked.kind)}"
        if self.asked.before:
            yield f"before = {_written(self.asked.before)}"
        yield f"text = {_written(self.asked.text)}"
        if self.asked.help:
            yield f"help = {_written(self.asked.help)}"
        listed = [_written(text) for code, text in self.asked.options if code not in self.asked.apart.values()]
        if self.asked.kind in ("choice", "ticks"):
            yield f"options = [{', '.join(listed)}]"
        for key, code in self.asked.apart.items():
            yield f"{key} = {_written(dict(self.asked.options)[code])}"
        yield from (f"{key} = {value}" for key, value in self.asked.keys.items())
        if self.asked.ends:
            yield f"ends = [{', '.join(map(_written, self.asked.ends))}]"
        if self.ask_if:
            yield f"ask_if = {_written(self.ask_if)}"
        yield from noise
        if self.remark:
            yield f"# {self.remark}"


@dataclass(frozen=True)
class Imported:
    """A survey file, and what it could not take over.

    Attributes
    ----------
    toml : str
        Empty if nothing could be taken over.
    taken : tuple of str
        The ids of its questions.
    left_out : tuple of LeftOut
    """

    toml: str
    taken: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


class NotTaken(Exception):
    """A question that a survey cannot ask; its text says why."""


def joined(outer: str, inner: object) -> str:
    """A condition within another one: both hold.

    >>> joined("", "a"), joined("a", "b or c")
    ('a', '(a) and (b or c)')
    """
    both = [each.strip() for each in (outer, str(inner or "")) if each.strip()]
    return both[0] if len(both) == 1 else " and ".join(f"({each})" for each in both)


def stacked(above: Spoken, below: Spoken) -> Spoken:
    """Two texts, one above the other; in a language that one of them lacks its default stands.

    >>> stacked({"default": "Habits"}, {"default": "Smoking", "de": "Rauchen"})
    {'default': 'Habits\\n\\nSmoking', 'de': 'Habits\\n\\nRauchen'}
    """
    if not above or not below:
        return above or below
    languages = {**above, **below}
    return {key: f"{above.get(key, above[DEFAULT])}\n\n{below.get(key, below[DEFAULT])}" for key in languages}


def yes_and_no(options: Sequence[tuple[str, Spoken]]) -> tuple[tuple[str, Spoken], ...] | None:
    """The two options of a yes-no question, No first; None if they are others."""
    by_text = {text[DEFAULT].lower(): (code, text) for code, text in options}
    return (by_text["no"], by_text["yes"]) if by_text.keys() == {"yes", "no"} else None


def plain(text: object) -> str:
    """A text without HTML, Markdown and needless space.

    >>> plain("<b>How</b> **often** do<br>you&nbsp;<i>drink</i>?")
    'How often do you drink?'
    """
    return " ".join(_MARKS.sub("", unescape(_TAG.sub(" ", _INLINE.sub("", str(text))))).split())


def holds_an_answer(text: Spoken) -> bool:
    """Whether a text has a place in which the other tool puts an earlier answer."""
    return any(_PLACEHOLDER.search(each) for each in text.values())


def settled(form: Form, translated: Iterable[tuple[str, str, str]]) -> Imported:
    """The survey file of a form.

    Parameters
    ----------
    form : Form
    translated : iterable of (str, str, str)
        For each question its id, its condition in the words of a survey file, empty for none, and why these words
        cannot say the one that it has.
    """
    placed: list[Placed] = []
    left = list(form.left_out)
    for asked, (name, ask_if, untold) in zip(form.questions, translated, strict=True):
        one, lacking = _place(Placed(asked, name, ask_if), untold, placed)
        placed += [one] if one is not None else []
        left += [LeftOut(asked.name, why) for why in lacking]
    if not placed:
        return Imported("", (), tuple(left))
    if (why := _refused(form.title, "title", MAX_LABEL)) is not None:
        form = replace(form, title={DEFAULT: UNTITLED})
        left.append(LeftOut("title", why))
    if form.about and (why := _refused(form.about, "description", MAX_TEXT)) is not None:
        form = replace(form, about={})
        left.append(LeftOut("description", why))
    return Imported(_file(form, placed), tuple(each.id for each in placed), tuple(left))


def _refused(text: Spoken, subject: str, longest: int) -> str | None:
    """Why a text cannot stand in a survey; None if it can."""
    try:
        for each in text.values():
            check_text(each, subject, longest)
    except SurveyError as error:
        return str(error).removeprefix(f"{subject}: ")
    return None


def _place(one: Placed, untold: str, before: Sequence[Placed]) -> tuple[Placed | None, Sequence[str]]:
    """A question as a survey file takes it, with or without its condition; and what it lacks there."""
    why = untold or _refusal(one, before)
    if not why:
        return one, ()
    condition = " ".join(one.asked.condition.split())
    bare = replace(one, ask_if="", remark=f"asked only if: {condition}")
    if (refusal := _refusal(bare, before)) is not None:
        return None, [refusal]
    return bare, [f"its condition: {why}; it is asked of everybody now"]


def _refusal(one: Placed, before: Sequence[Placed]) -> str | None:
    """Why a survey refuses a question after those that its condition needs; None if it takes it."""
    needed = _needed(one, before)
    text = "\n".join(["title = 'x'", *(line for each in (*needed, one) for line in each.lines(_cheap(each)))])
    try:
        read_survey(text)
    except SurveyError as error:
        return re.sub(r"^question '[^']*': ", "", str(error))
    return None


def _cheap(one: Placed) -> list[str]:
    # Each with noise of its own, and of a number the noise that needs no linear program.
    return ["epsilon = 1.0", *([f'mechanism = "{OneBitMean.name}"'] if one.asked.kind == "number" else [])]


def _needed(one: Placed, before: Sequence[Placed]) -> list[Placed]:
    """The earlier questions that a condition names, and those that theirs name, in their order."""
    named = set(re.findall(r"[a-z][a-z0-9_]*", one.ask_if))
    for each in reversed(before):
        if each.id in named:
            named |= set(re.findall(r"[a-z][a-z0-9_]*", each.ask_if))
    return [each for each in before if each.id in named]


def _file(form: Form, placed: Sequence[Placed]) -> str:
    about = [f"about = {_written(form.about)}"] if form.about else []
    head = [
        "# Taken over from a form of another tool. Before you publish it: who asks, until when, and how much noise?",
        f"language = {_written(form.language)}" if form.language else UNKNOWN_LANGUAGE,
        f"title = {_written(form.title)}",
        *about,
        'organiser = "Who asks?"',
        'contact = "Whom can people ask?"',
        f"epsilon = {SUGGESTED_EPSILON}  # what all questions cost together: fewer questions need fewer people",
    ]
    return "\n".join(["\n".join(head), *("\n" + "\n".join(each.lines()) for each in placed)]) + "\n"


def _written(value: str | Spoken) -> str:
    """A text of a survey file; in one language it is plain."""
    if isinstance(value, str):
        # A basic string of TOML is a string of JSON, but for one control character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    default = value.get(DEFAULT) or next(iter(value.values()))
    others = {key: text for key, text in value.items() if key != DEFAULT}
    if not others:
        return _written(default)
    return "{ " + ", ".join(f"{key} = {_written(text)}" for key, text in {DEFAULT: default, **others}.items()) + " }"


def too_long(asked: Asked) -> str | None:
    """Why the texts of a question do not fit; None if they do."""
    if any(len(text) > MAX_LABEL for _, option in asked.options for text in option.values()):
        return f"an option is longer than {MAX_LABEL} characters"
    if any(len(text) > MAX_TEXT for text in asked.text.values()):
        return f"its text is longer than {MAX_TEXT} characters"
    return None

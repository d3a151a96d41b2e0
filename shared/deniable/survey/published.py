"""Reading a published survey, strictly: the bytes must be exactly what publishing it would write."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from deniable.access.issuer import Issuer
from deniable.errors import DeniableError, SurveyError, check_kind, describe
from deniable.mechanisms import KAry, Mechanism, mechanism_from_published
from deniable.survey.arrangement import Block
from deniable.survey.completion import Completion
from deniable.survey.condition import Answers, condition_from
from deniable.survey.document import (
    ACCESS,
    FORMAT,
    LAYOUTS,
    MAX_BYTES,
    READERS,
    RELEASE,
    RESULTS,
    RETENTIONS,
    Survey,
    address,
)
from deniable.survey.group import Group
from deniable.survey.look import Logo, Look
from deniable.survey.order import order_from
from deniable.survey.question import Question
from deniable.survey.routing import answers_of
from deniable.survey.sealed import Sealed
from deniable.survey.texts import read_text
from deniable.wire import strict_json

_Made = TypeVar("_Made")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_survey(document: bytes, expected_id: str | None = None) -> Survey:
    """Read a published survey.

    Parameters
    ----------
    document : bytes
        As received, untouched.
    expected_id : str, optional
        The address under which the document was asked for.

    Raises
    ------
    SurveyError
        If the bytes are not those of the address, or not exactly what `Survey` would publish.
    """
    check_kind(document, bytes, "document")
    # Before anything is parsed: bytes that are not those of the link are not even looked at.
    if expected_id is not None and address(document) != expected_id:
        raise SurveyError(
            f"survey {expected_id}: the collector sent other bytes than this address stands for "
            f"(they are survey {address(document)}); do not answer, and tell who gave you the link"
        )
    if len(document) > MAX_BYTES:
        raise SurveyError(f"survey: must be at most {MAX_BYTES} bytes, got {len(document)}")
    survey = _read(strict_json.loads(document, SurveyError, "survey"), "survey", _survey)
    # Publishing again must give these very bytes, so nothing in them was ignored, and one survey has one address.
    if survey.document != document:
        raise SurveyError("survey: must be in published form: sorted keys, no spaces, ASCII, nothing left empty")
    return survey


def _survey(keys: _Keys) -> Survey:
    _check_format(keys.required("deniable"))
    asked = keys.array("questions")
    groups = _groups(keys.optional("groups", {}), asked)
    return Survey(
        title=keys.text("title", keys.required("title")),
        questions=_questions(asked, groups),
        opens=_date(keys.optional("opens"), "opens"),
        closes=_date(keys.optional("closes"), "closes"),
        closes_at=keys.optional("closes_at"),
        cohorts=tuple(keys.array("cohorts", ())),
        organiser=keys.optional_text("organiser"),
        about=keys.optional_text("about"),
        retention=keys.optional("retention", RETENTIONS[0]),
        cohort_required=keys.optional("cohort_required", False),
        release=keys.optional("release", RELEASE),
        results=keys.optional("results", RESULTS[0]),
        readers=keys.optional("readers", READERS[0]),
        access=keys.optional("access", ACCESS[0]),
        issuer=keys.part("issuer", _issuer),
        fresh=keys.optional("fresh"),
        contact=keys.optional_text("contact"),
        layout=keys.optional("layout", LAYOUTS[0]),
        thanks=keys.optional_text("thanks"),
        completion=keys.part("completion", _completion),
        look=keys.part("look", _look),
        sealed=keys.part("sealed", _sealed),
        places=tuple(keys.array("place", ())),
        arrangement=keys.part("arrangement", _block),
        revises=keys.optional("revises"),
        sample=keys.optional_text("sample"),
        license=keys.optional_text("license"),
    )


def _check_format(found: object) -> None:
    if type(found) is not int:
        raise SurveyError(f"deniable: must be {FORMAT}, the format that this version reads, got {describe(found)}")
    if found != FORMAT:
        way = "publish it again with 'deniable survey publish'" if found < FORMAT else "use the version that wrote it"
        raise SurveyError(f"survey: is of format {found}; this version reads format {FORMAT}: {way}")


def _issuer(keys: _Keys) -> Issuer:
    return Issuer(keys.required("key"), keys.optional("url"))


def _sealed(keys: _Keys) -> Sealed:
    first = _date(keys.required("first"), "sealed.first")
    assert first is not None, "it is required"
    return Sealed(first, tuple(keys.array("keys")), keys.required("size"))


def _completion(keys: _Keys) -> Completion:
    return Completion(
        text=keys.optional_text("text"),
        link=keys.optional("link"),
        code=keys.optional("code"),
        code_length=keys.optional("code_length"),
    )


def _look(keys: _Keys) -> Look:
    text = keys.optional_text("logo_text")
    if (keys.optional("logo") is None) != (text is None):
        raise SurveyError("look: must have logo and logo_text or neither, got one of them")

    def logo(image: _Keys) -> Logo:
        return Logo.from_published(image.required("type"), image.required("data"), text)

    return Look(keys.optional("accent"), keys.optional("accent_dark"), keys.part("logo", logo, "look.logo"))


def _block(keys: _Keys) -> Block:
    parts = keys.array("of")
    return Block(
        of=tuple(each if isinstance(each, str) else _read(each, f"{keys.subject}.of", _block) for each in parts),
        heading=keys.optional_text("heading"),
        text=keys.optional_text("text"),
        order=order_from(keys.optional, keys.subject),
        is_grid=keys.optional("grid", False),
    )


def _groups(published: object, questions: Sequence[object]) -> dict[str, Group]:
    """The groups by name; their sizes are counted from the questions that name them."""
    if not isinstance(published, dict):
        raise SurveyError(f"groups: must be an object, got {describe(published)}")
    # The size of a group is not published: it is the number of questions that name it.
    named = Counter(str(each["group"]) for each in questions if isinstance(each, dict) and "group" in each)
    groups = {}
    for name, each in published.items():
        keys = _Keys(each, f"groups.{name:.60}")
        joint = keys.optional("joint")
        response = None if joint is None else _mechanism(joint, f"groups.{name:.60}", "joint")
        # `support_of_digits`, on which marginals and estimates stand, knows the k-ary response alone.
        if not isinstance(response, KAry | None):
            raise SurveyError(f"groups.{name:.60}.joint: must be {KAry.name}, got {response.name}")
        groups[name] = Group(name, named[name], keys.required("draw"), response, keys.optional("why"))
        keys.refuse_others()
    return groups


def _mechanism(published: object, where: str, key: str) -> Mechanism:
    if not isinstance(published, dict):
        raise SurveyError(f"{where}.{key}: must be an object, got {describe(published)}")
    with _at(where):
        return mechanism_from_published(published)


def _questions(asked: Sequence[object], groups: Mapping[str, Group]) -> tuple[Question, ...]:
    earlier: dict[str, Answers] = {}
    found = []
    # Counted from 0, as in the JSON that messages are about.
    for number, each in enumerate(asked):
        question = _read(each, f"questions[{number}]", lambda keys: _question(keys, groups, earlier))
        earlier[question.id] = answers_of(question)
        found.append(question)
    return tuple(found)


def _question(keys: _Keys, groups: Mapping[str, Group], earlier: Mapping[str, Answers]) -> Question:
    mechanism = _mechanism(keys.required("mechanism"), keys.subject, "mechanism")
    group = keys.optional("group")
    if group is not None and (not isinstance(group, str) or group not in groups):
        raise SurveyError(f"{keys.subject}: group must be one of {list(groups)}, got {describe(group)}")
    written = keys.optional("ask_if")
    try:
        ask_if = None if written is None else condition_from(written, earlier)
    except SurveyError as error:
        raise SurveyError(f"{keys.subject}: ask_if {error}") from None
    with _at(keys.subject):
        return Question(
            id=keys.required("id"),
            type=keys.required("type"),
            text=keys.text("text", keys.required("text")),
            options=tuple(keys.text("options", option) for option in keys.array("options")),
            mechanism=mechanism,
            goal=keys.optional("goal"),
            why=keys.optional("why"),
            group=None if group is None else groups[group],
            help=keys.optional_text("help"),
            unit=keys.optional_text("unit"),
            ask_if=ask_if,
            before=keys.optional_text("before"),
            order=order_from(keys.optional, keys.subject),
            last=tuple(keys.array("last", ())),
        )


@contextmanager
def _at(subject: str) -> Iterator[None]:
    """Errors of values within, each with its place in the document; those of surveys say theirs themselves."""
    try:
        yield
    except SurveyError:
        raise
    except DeniableError as error:
        raise SurveyError(f"{subject}.{error}") from None


def _date(value: object, subject: str) -> datetime.date | None:
    if value is None:
        return None
    try:
        # fromisoformat takes more forms, such as 20261120 and 2026-W47-5.
        if isinstance(value, str) and _DATE.fullmatch(value):
            return datetime.date.fromisoformat(value)
    except ValueError:
        pass
    raise SurveyError(f'{subject}: must be a date like "2026-11-20", got {describe(value)}')


def _read(value: object, subject: str, make: Callable[[_Keys], _Made]) -> _Made:
    """What is made of an object of the document, all of whose keys must have been asked for."""
    keys = _Keys(value, subject)
    made = make(keys)
    keys.refuse_others()
    return made


class _Keys:
    """The keys of an object in a published document, which must all be read by somebody."""

    def __init__(self, value: object, subject: str) -> None:
        if not isinstance(value, dict):
            raise SurveyError(f"{subject}: must be an object, got {describe(value)}")
        self._value: Mapping[str, Any] = value
        self.subject = subject
        self._asked: set[str] = set()

    def optional(self, key: str, default: object = None) -> Any:
        self._asked.add(key)
        value = self._value.get(key)
        # null reads as absent, but a survey is not published so: the comparison of bytes refuses it.
        return default if value is None else value

    def required(self, key: str) -> Any:
        if key not in self._value:
            self._fail(f"must have the key {key!r}")
        return self.optional(key)

    def array(self, key: str, default: tuple[()] | None = None) -> list[Any] | tuple[()]:
        if default is not None and key not in self._value:
            return default
        value = self.required(key)
        if not isinstance(value, list):
            self._fail(f"{key} must be a list, got {describe(value)}")
        return value

    def text(self, key: str, value: object) -> Any:
        return read_text(value, f"{self.subject}: {key}")

    def optional_text(self, key: str) -> Any:
        return self.text(key, self.optional(key))

    def part(self, key: str, make: Callable[[_Keys], _Made], subject: str | None = None) -> _Made | None:
        value = self.optional(key)
        return None if value is None else _read(value, subject or key, make)

    def refuse_others(self) -> None:
        others = sorted(set(self._value) - self._asked)
        if others:
            self._fail(f"has the unknown key {others[0][:40]!r}")

    def _fail(self, reason: str) -> NoReturn:
        raise SurveyError(f"{self.subject}: {reason}")

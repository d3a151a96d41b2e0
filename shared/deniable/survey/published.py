"""Reading a published survey, strictly: the bytes must be exactly what publishing it would write."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from deniable.access.issuer import Issuer
from deniable.errors import DeniableError, SurveyError, describe
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
from deniable.survey.order import RandomOrder, order_from
from deniable.survey.question import Question
from deniable.survey.routing import answers_of
from deniable.survey.sealed import Sealed
from deniable.survey.texts import read_text
from deniable.wire import strict_json

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
    # Before anything is parsed: bytes that are not those of the link are not even looked at.
    if expected_id is not None and address(document) != expected_id:
        raise SurveyError(
            f"survey {expected_id}: the collector sent other bytes than this address stands for "
            f"(they are survey {address(document)}); do not answer, and tell who gave you the link"
        )
    if len(document) > MAX_BYTES:
        raise SurveyError(f"survey: must be at most {MAX_BYTES} bytes, got {len(document)}")
    published = strict_json.loads(document, SurveyError, "survey")
    keys = _Keys(published, "survey")
    _check_format(keys.required("deniable"))
    asked = keys.array("questions")
    groups = _groups(keys.optional("groups", {}), asked)
    survey = Survey(
        title=keys.text("title", keys.required("title")),
        questions=_questions(asked, groups),
        opens=_date(keys.optional("opens"), "opens"),
        closes=_date(keys.optional("closes"), "closes"),
        closes_at=keys.optional("closes_at"),
        cohorts=tuple(keys.array("cohorts", ())),
        organiser=keys.text("organiser", keys.optional("organiser")),
        about=keys.text("about", keys.optional("about")),
        retention=keys.optional("retention", RETENTIONS[0]),
        cohort_required=keys.optional("cohort_required", False),
        release=keys.optional("release", RELEASE),
        results=keys.optional("results", RESULTS[0]),
        readers=keys.optional("readers", READERS[0]),
        access=keys.optional("access", ACCESS[0]),
        issuer=_issuer(keys.optional("issuer")),
        fresh=keys.optional("fresh"),
        contact=keys.text("contact", keys.optional("contact")),
        layout=keys.optional("layout", LAYOUTS[0]),
        thanks=keys.text("thanks", keys.optional("thanks")),
        completion=_completion(keys.optional("completion")),
        look=_look(keys.optional("look")),
        sealed=_sealed(keys.optional("sealed")),
        places=tuple(keys.array("place", ())),
        arrangement=_arrangement(keys.optional("arrangement")),
        revises=keys.optional("revises"),
    )
    keys.refuse_others()
    # Publishing again must give these very bytes, so nothing in them was ignored, and one survey has one address.
    if survey.document != document:
        raise SurveyError("survey: must be in published form: sorted keys, no spaces, ASCII, nothing left empty")
    return survey


def _check_format(found: object) -> None:
    if type(found) is not int:
        raise SurveyError(f"deniable: must be {FORMAT}, the format that this version reads, got {describe(found)}")
    if found != FORMAT:
        way = "publish it again with 'deniable survey publish'" if found < FORMAT else "use the version that wrote it"
        raise SurveyError(f"survey: is of format {found}; this version reads format {FORMAT}: {way}")


def _issuer(published: object) -> Issuer | None:
    if published is None:
        return None
    keys = _Keys(published, "issuer")
    issuer = Issuer(keys.required("key"), keys.optional("url"))
    keys.refuse_others()
    return issuer


def _sealed(published: object) -> Sealed | None:
    if published is None:
        return None
    keys = _Keys(published, "sealed")
    first = _date(keys.required("first"), "sealed.first")
    assert first is not None, "it is required"
    sealed = Sealed(first, tuple(keys.array("keys")), keys.required("size"))
    keys.refuse_others()
    return sealed


def _completion(published: object) -> Completion | None:
    if published is None:
        return None
    keys = _Keys(published, "completion")
    completion = Completion(
        text=keys.text("text", keys.optional("text")),
        link=keys.optional("link"),
        code=keys.optional("code"),
        code_length=keys.optional("code_length"),
    )
    keys.refuse_others()
    return completion


def _look(published: object) -> Look | None:
    if published is None:
        return None
    keys = _Keys(published, "look")
    look = Look(
        accent=keys.optional("accent"),
        accent_dark=keys.optional("accent_dark"),
        logo=_logo(keys.optional("logo"), keys.text("logo_text", keys.optional("logo_text"))),
    )
    keys.refuse_others()
    return look


def _arrangement(published: object) -> Block | None:
    return None if published is None else _block(published, "arrangement")


def _block(published: object, where: str) -> Block:
    keys = _Keys(published, where)
    block = Block(
        of=tuple(each if isinstance(each, str) else _block(each, f"{where}.of") for each in keys.array("of")),
        heading=keys.text("heading", keys.optional("heading")),
        text=keys.text("text", keys.optional("text")),
        order=_order(keys, where),
        is_grid=keys.optional("grid", False),
    )
    keys.refuse_others()
    return block


def _order(keys: _Keys, where: str) -> RandomOrder | None:
    return order_from(keys.optional, where)


def _logo(published: object, text: object) -> Logo | None:
    if (published is None) != (text is None):
        raise SurveyError("look: must have logo and logo_text or neither, got one of them")
    if published is None:
        return None
    keys = _Keys(published, "look.logo")
    logo = Logo.from_published(keys.required("type"), keys.required("data"), text)
    keys.refuse_others()
    return logo


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
    try:
        return mechanism_from_published(published)
    except SurveyError:
        raise
    except DeniableError as error:
        raise SurveyError(f"{where}.{error}") from None


def _questions(asked: Sequence[object], groups: Mapping[str, Group]) -> tuple[Question, ...]:
    earlier: dict[str, Answers] = {}
    found = []
    for number, each in enumerate(asked):
        question = _question(each, number, groups, earlier)
        earlier[question.id] = answers_of(question)
        found.append(question)
    return tuple(found)


def _question(published: object, number: int, groups: Mapping[str, Group], earlier: Mapping[str, Answers]) -> Question:
    # Counted from 0, as in the JSON that the message is about.
    keys = _Keys(published, f"questions[{number}]")
    mechanism = _mechanism(keys.required("mechanism"), f"questions[{number}]", "mechanism")
    group = keys.optional("group")
    if group is not None and (not isinstance(group, str) or group not in groups):
        raise SurveyError(f"questions[{number}]: group must be one of {list(groups)}, got {describe(group)}")
    written = keys.optional("ask_if")
    try:
        ask_if = None if written is None else condition_from(written, earlier)
    except SurveyError as error:
        raise SurveyError(f"questions[{number}]: ask_if {error}") from None
    try:
        question = Question(
            id=keys.required("id"),
            type=keys.required("type"),
            text=keys.text("text", keys.required("text")),
            options=tuple(keys.text("options", option) for option in keys.array("options")),
            mechanism=mechanism,
            goal=keys.optional("goal"),
            why=keys.optional("why"),
            group=None if group is None else groups[group],
            help=keys.text("help", keys.optional("help")),
            unit=keys.text("unit", keys.optional("unit")),
            ask_if=ask_if,
            before=keys.text("before", keys.optional("before")),
            order=_order(keys, f"questions[{number}]"),
            last=tuple(keys.array("last", ())),
        )
    except SurveyError:
        raise
    except DeniableError as error:
        raise SurveyError(f"questions[{number}].{error}") from None
    keys.refuse_others()
    return question


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


class _Keys:
    """The keys of an object in a published document, which must all be read by somebody."""

    def __init__(self, value: object, subject: str) -> None:
        if not isinstance(value, dict):
            raise SurveyError(f"{subject}: must be an object, got {describe(value)}")
        self._value: Mapping[str, Any] = value
        self._subject = subject
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
        return read_text(value, f"{self._subject}: {key}")

    def refuse_others(self) -> None:
        others = sorted(set(self._value) - self._asked)
        if others:
            self._fail(f"has the unknown key {others[0][:40]!r}")

    def _fail(self, reason: str) -> NoReturn:
        raise SurveyError(f"{self._subject}: {reason}")

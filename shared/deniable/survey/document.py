"""The survey: the published document that clients run and the estimator inverts.

Its address is the hash of its bytes, so a link pins wording, options and noise: a collector cannot serve one
person a weaker survey. Nobody canonicalises JSON to check an address; clients hash what they received.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.access.invitation import INVITATION
from deniable.access.issuer import TOKEN_DIGITS, Issuer, Tokens
from deniable.errors import SurveyError, shown
from deniable.exact import sum_above
from deniable.randomness import Word
from deniable.survey.arrangement import Block, Presentation, check_arrangement, present
from deniable.survey.completion import Completion
from deniable.survey.group import Group
from deniable.survey.look import Look
from deniable.survey.question import Question
from deniable.survey.routing import check_routing, needed
from deniable.survey.sealed import LATE_BATCHES, Sealed, check_places
from deniable.survey.texts import (
    MAX_LABEL,
    MAX_TEXT,
    check_text,
    check_texts,
    publish_text,
    publish_texts,
    refuse_repeats,
)
from deniable.survey.unit import Unit, check_group
from deniable.wire import strict_json
from deniable.wire.canonical import CanonicalForm
from deniable.wire.space import Value

FORMAT = 2
"""Version of the published document, its key ``"deniable"``."""

MAX_BYTES = 256 * 1024
"""Largest published survey, in bytes."""

MAX_QUESTIONS = 100
MAX_COHORTS = 1000

MOST_REPORTS = 10_000_000
"""Largest number of reports at which a survey can close."""

MAX_ROWS = 21_000
"""Largest number of rows of estimates by cohort, such as 100 questions of 10 options in 20 cohorts. 1,000 rows take the
collector about 50 ms and 1.4 MB, and no page shows more than 2,000."""

RETENTIONS = ("reports", "tallies")
"""Kinds of retention of counted reports: the noisy rows, or their tallies alone."""

FRESH = ("each wave",)
"""Values of `Survey.fresh`: a device draws new noise for known questions in each survey; by default it never does."""

RESULTS = ("batches", "live", "closed")
"""Kinds of publication of results: with every release, with every report, or once, after the survey has closed."""

READERS = ("public", "token")
"""Readers of results: everybody, or holders of an API token of the collector."""

ACCESS = ("open", "invited", "unlinkable")
"""Kinds of access: counted is everybody with the link, or each person once, by invitation or by blind token."""

LAYOUTS = ("steps", "page")
"""Layouts of the questions: one after the other, or all on one page."""

RELEASE = 200
"""Default number of new reports of a cohort in a release; a report hides among that many."""

LEAST_RELEASE, MOST_RELEASE = 50, 100_000
"""Range of the number of reports in a release."""

_CHOICES = {"retention": RETENTIONS, "results": RESULTS, "readers": READERS, "access": ACCESS, "layout": LAYOUTS}
_DEFAULTS: Mapping[str, object] = {key: known[0] for key, known in _CHOICES.items()} | {"release": RELEASE}
_SHORT_TEXTS = ("organiser", "contact", "sample", "license")
_ADDRESS = re.compile(r"[a-z2-7]{26}")
# What makes two questions the same for a device: not their id, goal or reason, which tell it nothing.
_REMEMBERED = ("mechanism", "options", "text", "type", "unit")


@dataclass(frozen=True)
class Survey:
    """A published survey. Immutable; two surveys with one address are the same survey.

    Attributes
    ----------
    title : str
    questions : tuple of Question
    opens, closes : datetime.date or None
        First and last day, UTC, on which reports are taken, both included; None sets no limit.
    closes_at : int or None
        Number of reports with which the survey closes; None sets no limit.
    cohorts : tuple of str
        Labels that the author puts on links. A report carries one of them, or none.
    cohort_required : bool
        Whether every report must carry a cohort; a link without one is incomplete.
    organiser, about : str or None
        Who asks, and why: shown to the respondent.
    sample : str or None
        Who was asked, such as a random sample of whom, in the author's words: shown beside results.
    license : str or None
        The licence of the results, as the author states it: shown beside them, and by no device.
    retention : {"reports", "tallies"}
        What the collector keeps of counted reports: the noisy rows, or their sums and, until closing, their ids.
    fresh : {"each wave"} or None
        Whether devices draw and charge again for questions that another survey has asked before.
    release : int
        Number of new reports of a cohort that results wait for. Reports without a cohort form a group of their own.
    results : {"batches", "live", "closed"}
        When results change: with every release, with every report, or once, when the survey has closed.
    readers : {"public", "token"}
        Who may read results.
    access : {"open", "invited", "unlinkable"}
        Who may be counted: everybody with the link; or once, holders of an invitation; or once, holders of a blind
        token, which nobody can link to the invitation that it was given for.
    issuer : Issuer or None
        Who signs the blind tokens; only where access is unlinkable.
    contact : str or None
        Whom respondents can ask.
    layout : {"steps", "page"}
        Whether devices show the questions one after the other, or all at once.
    thanks : str or None
        The author's text after a report has been sent.
    completion : Completion or None
        How respondents return to their panel.
    look : Look or None
        The colour and the logo.
    sealed : Sealed or None
        The keys to which devices seal reports; None if reports are not sealed.
    arrangement : Block or None
        Sections, grids and random orders; None where questions are shown one after the other.
    places : tuple of str
        Origins of places, which the collector's operator does not run. People answer there, and the places forward the
        reports. If there are any, reports are accepted only from them.
    revises : str or None
        The address of the survey that this one revises. A device does nothing with it: questions that are the same have
        the same keys in both surveys, whatever either says of the other.
    document : bytes
        The published bytes.
    id : str
        The address: first 128 bits of the SHA-256 of `document` in lower-case base32, 26 characters.
    """

    title: str
    questions: tuple[Question, ...]
    opens: datetime.date | None = None
    closes: datetime.date | None = None
    cohorts: tuple[str, ...] = ()
    organiser: str | None = None
    about: str | None = None
    retention: str = RETENTIONS[0]
    fresh: str | None = None
    cohort_required: bool = False
    release: int = RELEASE
    results: str = RESULTS[0]
    readers: str = READERS[0]
    access: str = ACCESS[0]
    issuer: Issuer | None = None
    contact: str | None = None
    layout: str = LAYOUTS[0]
    thanks: str | None = None
    completion: Completion | None = None
    look: Look | None = None
    sealed: Sealed | None = None
    places: tuple[str, ...] = ()
    closes_at: int | None = None
    arrangement: Block | None = None
    revises: str | None = None
    sample: str | None = None
    license: str | None = None
    document: bytes = field(init=False, repr=False, compare=False)
    id: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self._check_texts()
        self._check_questions()
        self._check_cohorts()
        self._check_rows()
        self._check_settings()
        self._check_access()
        self._check_sealed()
        self._check_revision()
        # Published bytes are a function of the fields alone: sorted keys, no spaces, defaults left out.
        document = strict_json.dumps(_published(self))
        if len(document) > MAX_BYTES:
            raise SurveyError(f"survey: must be at most {MAX_BYTES} bytes when published, got {len(document)}")
        object.__setattr__(self, "document", document)
        # Frozen: what follows from the fields is set once, here.
        object.__setattr__(self, "id", address(document))

    def _check_texts(self) -> None:
        check_text(self.title, "title", MAX_LABEL)
        check_texts(self, "", about=MAX_TEXT, thanks=MAX_TEXT, **dict.fromkeys(_SHORT_TEXTS, MAX_LABEL))

    def _check_questions(self) -> None:
        if not 1 <= len(self.questions) <= MAX_QUESTIONS:
            raise SurveyError(f"questions: must be 1 to {MAX_QUESTIONS}, got {len(self.questions)}")
        refuse_repeats(tuple(question.id for question in self.questions), "questions: ids")
        for members in self.groups.values():
            check_group(members)
        check_routing(self.questions)
        if self.arrangement is not None:
            check_arrangement(self.arrangement, self.questions)

    def _check_rows(self) -> None:
        # Results are computed for everybody who asks, so a survey must not make them arbitrarily dear.
        if self.rows > MAX_ROWS:
            raise SurveyError(
                f"survey: must make at most {MAX_ROWS} rows of estimates, got {self.rows}: options of all questions "
                "times (cohorts + 1)"
            )

    def _check_cohorts(self) -> None:
        if len(self.cohorts) > MAX_COHORTS:
            raise SurveyError(f"cohorts: must be at most {MAX_COHORTS}, got {len(self.cohorts)}")
        for cohort in self.cohorts:
            check_text(cohort, "cohorts", MAX_LABEL)
        refuse_repeats(self.cohorts, "cohorts")

    def _check_settings(self) -> None:
        if self.opens and self.closes and self.closes < self.opens:
            raise SurveyError(f"closes: must not be before opens, got {self.closes} before {self.opens}")
        if self.closes_at is not None and (type(self.closes_at) is not int or not 1 <= self.closes_at <= MOST_REPORTS):
            raise SurveyError(
                f"closes_at: must be a whole number of reports from 1 to {MOST_REPORTS:,}, got {shown(self.closes_at)}"
            )
        if self.fresh is not None and self.fresh not in FRESH:
            raise SurveyError(f"fresh: must be {FRESH[0]!r} where it is there at all, got {shown(self.fresh)}")
        if not isinstance(self.cohort_required, bool):
            raise SurveyError(f"cohort_required: must be true or false, got {shown(self.cohort_required)}")
        # Otherwise no report at all could be sent.
        if self.cohort_required and not self.cohorts:
            raise SurveyError('cohort_required: needs cohorts for the links, such as cohorts = ["paper", "web"]')
        if type(self.release) is not int or not LEAST_RELEASE <= self.release <= MOST_RELEASE:
            raise SurveyError(
                f"release: must be a whole number from {LEAST_RELEASE} to {MOST_RELEASE}, got {shown(self.release)}"
            )

    def _check_access(self) -> None:
        for key, known in _CHOICES.items():
            value = getattr(self, key)
            if not isinstance(value, str) or value not in known:
                raise SurveyError(f"{key}: must be {' or '.join(known)}, got {shown(value)}")
        if (self.access == "unlinkable") != (self.issuer is not None):
            raise SurveyError(
                f"access: must be unlinkable with an issuer, and only then, got {self.access} "
                f"{'without one' if self.issuer is None else 'with one'}; 'deniable issuer key' makes one for a survey"
            )

    def _check_sealed(self) -> None:
        check_places(self.places)
        if self.sealed is None:
            if self.places:
                raise SurveyError("place: needs a table [sealed], or the place could read every report")
            return
        # A key for every day on which somebody may answer.
        if self.closes is None or self.closes > self.sealed.last:
            raise SurveyError(
                f"closes: must be there, and at most {self.sealed.last}, the last day of the last key of the survey"
            )
        if self.opens and self.opens < self.sealed.first:
            raise SurveyError(f"opens: must be at least {self.sealed.first}, the first day of the first key")
        if self.longest_report > self.sealed.size:
            raise SurveyError(
                f"sealed.size: must be at least {self.longest_report}, the longest report, got {self.sealed.size}"
            )

    def _check_revision(self) -> None:
        if self.revises is None:
            return
        if not isinstance(self.revises, str) or not is_address(self.revises):
            raise SurveyError(f"revises: must be the id of a survey, 26 letters and digits, got {shown(self.revises)}")
        # A second draw of the same answers under the name of a correction.
        if self.fresh is not None:
            raise SurveyError(
                f"revises: must not go with fresh = {self.fresh!r}, which draws new noise for the same questions"
            )

    @cached_property
    def longest_report(self) -> int:
        """Number of bytes of the longest report, as clients write it."""
        cohorts = [strict_json.dumps(each) for each in (None, *self.cohorts) if self.takes_cohort(each)]
        values = sum(len(f'"{each.id}":,') + each.reports.longest for each in self.questions) - 1
        right = len(',"credential":""') + (TOKEN_DIGITS if self.access == "unlinkable" else 32)
        frame = len('{"id":"","cohort":,"values":{}}') + 32
        return frame + max(map(len, cohorts)) + values + (right if self.access != "open" else 0)

    @property
    def takes_until(self) -> datetime.date | None:
        """The last day on which the collector takes reports: of surveys with a place some days after the last day for
        people, because places keep reports until there are enough."""
        if self.closes is None or not self.places:
            return self.closes
        return self.closes + LATE_BATCHES

    def takes_cohort(self, cohort: object) -> bool:
        """Whether a report may carry this cohort; None is a report without one."""
        return not self.cohort_required if cohort is None else cohort in self.cohorts

    @property
    def rows(self) -> int:
        """Number of rows of estimates by cohort, including the rows of people without one."""
        return sum(question.rows for question in self.questions) * (len(self.cohorts) + 1)

    @cached_property
    def checks(self) -> dict[str, tuple[Callable[[object, str], Value], str]]:
        """For each question the check of a report value, and its subject in error messages."""
        return {each.id: (each.reports.check, f'values["{each.id}"]') for each in self.questions}

    def check_draw(self, asked: Mapping[str, object]) -> None:
        """Raise a ReportError unless each group has as many values that are not None as one device asks questions."""
        for unit in self._dependent:
            unit.check_draw(asked)

    def check_values(self, values: Mapping[str, Value]) -> None:
        """Raise a ReportError unless the values of each group are those that one device sends together.

        Each value must have been checked by itself before.
        """
        # Of other groups every question has a value, which `checks` sees, and all values go together.
        for unit in self._dependent:
            unit.check_values(values)

    @cached_property
    def groups(self) -> dict[str, tuple[Question, ...]]:
        """The questions of each group, by its name, in the order of their first questions."""
        # In the order of questions, because memories and published groups depend on it.
        found: dict[str, tuple[Question, ...]] = {}
        for each in self.questions:
            if each.group:
                found[each.group.name] = (*found.get(each.group.name, ()), each)
        return found

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The units that devices draw, keep and pay for, in the order of their first questions.

        The key of a unit is the hash of text, options, type and mechanism of its questions, and of the draw of a group.
        So a question has the same key under another title, id or reason, unless each survey is a wave of its own.
        """
        # With the survey's own id in it, no other survey has this key, so devices draw anew.
        wave = {"survey": self.id} if self.fresh else {}
        published = _remembered(_published(self)["questions"])

        def key(questions: tuple[Question, ...]) -> str:
            group = questions[0].group
            asked = [published[each.id] for each in questions]
            content = asked[0] if group is None else _published_draw(group) | {"questions": asked}
            return address(strict_json.dumps(content | wave))

        return tuple(Unit(key(questions), questions) for questions in self._together)

    @cached_property
    def contents(self) -> dict[str, str]:
        """For each question the hash of what people read and choose from, of its mechanism, and of whom it is for.

        Questions of two surveys with one hash are the same question, whatever their ids, groups and surveys are.
        """
        published = _remembered(_published(self)["questions"])
        return {name: address(strict_json.dumps(content)) for name, content in published.items()}

    @cached_property
    def keys(self) -> dict[str, str]:
        """For each question the key under which devices remember it or its group."""
        return {each.id: unit.key for unit in self.units for each in unit.questions}

    @property
    def _together(self) -> Iterator[tuple[Question, ...]]:
        """The questions of each unit, in the order of their first questions."""
        for each in self.questions:
            if each.group is None:
                yield (each,)
            elif each is self.groups[each.group.name][0]:
                yield self.groups[each.group.name]

    @cached_property
    def _dependent(self) -> tuple[Unit, ...]:
        return tuple(unit for unit in self.units if unit.group and (unit.group.is_drawn or unit.patterns))

    def sections_of(self, question_id: str) -> list[Block]:
        """The section with a heading that contains a question, if there is one."""
        around = dict(self.arrangement.paths()).get(question_id, ()) if self.arrangement else ()
        return [block for block, _ in around if block.heading is not None]

    def presented(self, asked: Collection[str], word: Word) -> Presentation:
        """Draw the order in which a device shows the questions that it asks and those that their filters refer to."""
        plain = Block(tuple(each.id for each in self.questions))
        return present(self.arrangement or plain, self.questions, self.shown(asked), word)

    def shown(self, asked: Collection[str]) -> tuple[str, ...]:
        """The ids of the questions to show to a person who is asked these, in order, with those of their filters."""
        return needed(self.questions, asked)

    @cached_property
    def asks(self) -> int:
        """Number of questions that each device asks."""
        return sum(each.group.draw if each.group else 1 for each, *_ in self._together)

    @property
    def asks_more(self) -> bool:
        """Whether a device may ask questions about which it sends nothing, to find out whether another one applies."""
        named = {name for each in self.questions if each.ask_if for name in each.ask_if.named}
        drawn = [unit for unit in self.units if unit.group and unit.group.is_drawn]
        return any(each.id in named for unit in drawn for each in unit.questions)

    @property
    def is_drawn(self) -> bool:
        """Whether each device asks fewer questions than there are."""
        return self.asks < len(self.questions)

    @cached_property
    def canonical_form(self) -> CanonicalForm:
        """The form in which both clients write a report, and its reader."""
        # A cached reader: it compiles one regular expression for the whole survey.
        types = {each.id: each.reports.json_type for each in self.questions}
        cohorts = [each for each in (None, *self.cohorts) if self.takes_cohort(each)]
        return CanonicalForm(
            types, self.checks, cohorts, self.check_values if self._dependent else None, self.credential
        )

    @cached_property
    def tokens(self) -> Tokens | None:
        """The blind tokens of the survey; None unless its access is unlinkable."""
        return None if self.issuer is None else Tokens(self.issuer, self.document)

    @cached_property
    def credential(self) -> str | None:
        """A regular expression of the credential that reports must carry; None where they carry none."""
        return self.tokens.pattern if self.tokens else INVITATION if self.access == "invited" else None

    @cached_property
    def epsilon(self) -> float:
        """Privacy loss of the whole survey, in nats: the sum over its units, rounded up."""
        return sum_above(unit.epsilon for unit in self.units)

    @cached_property
    def likelihood_ratio(self) -> Fraction:
        """The largest ratio of the probabilities of a whole report under any two sets of answers, exactly."""
        # Units are randomised independently, so their likelihood ratios multiply and their epsilons add up.
        return math.prod((unit.likelihood_ratio for unit in self.units), start=Fraction(1))

    def question(self, question_id: str) -> Question:
        """The question of that id."""
        for question in self.questions:
            if question.id == question_id:
                return question
        raise SurveyError(f"survey {self.id}: has no question of that id")

    def not_open_because(self, today: datetime.date) -> str | None:
        """Why the survey takes no reports on that day (UTC), or None when it does.

        >>> from deniable import Question, TwoCoin
        >>> question = Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2"))
        >>> survey = Survey("T", (question,), closes=datetime.date(2026, 12, 20))
        >>> survey.not_open_because(datetime.date(2026, 12, 21))
        'it closed at the end of 2026-12-20 (UTC)'
        """
        if self.opens and today < self.opens:
            return f"it opens on {self.opens} (UTC)"
        if self.closes and today > self.closes:
            return f"it closed at the end of {self.closes} (UTC)"
        return None

    def takes_on(self, today: datetime.date) -> bool:
        """Whether the collector accepts reports on that day (UTC), including earlier ones that a place kept.

        >>> from deniable import Question, TwoCoin
        >>> question = Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2"))
        >>> survey = Survey("T", (question,), closes=datetime.date(2026, 12, 20))
        >>> survey.takes_on(datetime.date(2026, 12, 20)), survey.takes_on(datetime.date(2026, 12, 21))
        (True, False)
        """
        return not ((self.opens and today < self.opens) or (self.takes_until and today > self.takes_until))


def address(document: bytes) -> str:
    """The address of published bytes.

    >>> address(b"")
    '4oymiquy7qobjgx36tejs35zeq'
    """
    # 128 bits: another survey at a given address takes 2^128 hashes; two of one dishonest author, 2^64.
    return base64.b32encode(hashlib.sha256(document).digest()[:16]).decode("ascii").rstrip("=").lower()


def is_address(text: str) -> bool:
    """Whether a text has the form of a survey's address."""
    return isinstance(text, str) and _ADDRESS.fullmatch(text) is not None


def _published(survey: Survey) -> dict[str, Any]:
    optional: dict[str, Any] = {
        "opens": survey.opens and survey.opens.isoformat(),
        "closes": survey.closes and survey.closes.isoformat(),
        "closes_at": survey.closes_at,
        "cohorts": list(survey.cohorts),
        "cohort_required": survey.cohort_required,
        "fresh": survey.fresh,
        "revises": survey.revises,
        "groups": {
            name: _published_draw(group) | _given(why=group.why)
            for name, (first, *_) in survey.groups.items()
            if (group := first.group)
        },
        "issuer": survey.issuer and {"key": survey.issuer.key} | _given(url=survey.issuer.url),
        "completion": survey.completion and survey.completion.publish(),
        "look": survey.look and survey.look.publish(),
        "arrangement": survey.arrangement and survey.arrangement.publish(),
        "sealed": survey.sealed and survey.sealed.publish(),
        "place": list(survey.places),
    } | publish_texts(**{key: getattr(survey, key) for key in (*_SHORT_TEXTS, "about", "thanks")})
    # A setting at its default is not published, so that new settings leave the addresses of old surveys alone.
    optional |= {key: getattr(survey, key) for key, default in _DEFAULTS.items() if getattr(survey, key) != default}
    return {
        "deniable": FORMAT,
        "title": publish_text(survey.title),
        "questions": [_published_question(question) for question in survey.questions],
    } | {key: value for key, value in optional.items() if value}


def _published_question(question: Question) -> dict[str, Any]:
    required: dict[str, Any] = {
        "id": question.id,
        "type": question.type,
        "text": publish_text(question.text),
        "options": [publish_text(option) for option in question.options],
        "mechanism": question.mechanism.publish(),
    }
    return (
        required
        | _given(goal=question.goal, why=question.why, group=question.group and question.group.name)
        | publish_texts(help=question.help, unit=question.unit, before=question.before)
        | _given(ask_if=question.ask_if and question.ask_if.publish(), last=list(question.last) or None)
        | (question.order.publish() if question.order else {})
    )


def _remembered(asked: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What makes each published question the same for a device, by id: of one with a filter also what that is about."""
    found: dict[str, dict[str, Any]] = {}
    for each in asked:
        content = {key: each[key] for key in _REMEMBERED if key in each}
        if "ask_if" in each:
            # By the hash of their content: under an id there may stand another question elsewhere.
            about = {name: address(strict_json.dumps(found[name])) for name in _named(each["ask_if"])}
            content |= {"ask_if": each["ask_if"], "about": about}
        found[each["id"]] = content
    return found


def _named(published: Sequence[Any]) -> list[str]:
    """The ids of the questions that a published condition is about."""
    name, *rest = published
    return [each for part in rest for each in _named(part)] if name in ("all", "any") else [rest[0]]


def _published_draw(group: Group) -> dict[str, Any]:
    return {"draw": group.draw} | _given(joint=group.joint and group.joint.publish())


def _given(**optional: Any) -> dict[str, Any]:
    return {key: value for key, value in optional.items() if value is not None}

"""The survey: the published document that clients run and the estimator inverts.

Its address is the hash of its bytes, so a link pins wording, options and noise: a collector cannot serve one
person a weaker survey. Nobody canonicalises JSON to check an address; clients hash what they received.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from deniable.errors import SurveyError, describe, shown
from deniable.exact import sum_above
from deniable.mechanisms import Mechanism
from deniable.report import strict_json
from deniable.report.canonical import CanonicalForm
from deniable.report.space import ReportValue
from deniable.survey.question_types import QUESTION_TYPES, AnswerKind, QuestionType
from deniable.survey.texts import Text, all_forms, publish_text

FORMAT = 2
"""Version of the published document, its key ``"deniable"``."""

MAX_BYTES = 256 * 1024
MAX_QUESTIONS = 100
MAX_COHORTS = 1000
MAX_ROWS = 2000
"""Rows of estimates that a survey may make by cohort: each costs its collector up to a millisecond, whoever asks."""
MAX_LABEL = 200
MAX_TEXT = 4000

GOALS = ("shares", "mean")
"""What the author of a scale wants to know."""

RETENTIONS = ("reports", "tallies")
"""What a collector keeps once reports are counted: the noisy rows, or no more than their sums."""

FRESH = ("each wave",)
"""When a device draws anew for a question that it knows from another survey; by default never."""

RESULTS = ("batches", "live", "closed")
"""When results change: with every release, with every report, or once, when the survey has closed."""

READERS = ("public", "token")
"""Who may read results: everybody, or who holds a token of the collector."""

RELEASE = 200
"""New reports of a cohort that make a release, where the author says nothing else: as many hide each other."""

LEAST_RELEASE, MOST_RELEASE = 50, 100_000

_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,39}")
_ADDRESS = re.compile(r"[a-z2-7]{26}")
_INVISIBLE = re.compile(
    r"[\s\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)
"""Texts that show nothing: spaces, what Unicode calls default ignorable, and two blanks. `survey.js` has the same."""
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,8}")
_REMEMBERED = ("mechanism", "options", "text", "type")
_RESERVED = ("id", "cohort")  # columns that stand beside the questions in every table of reports


@dataclass(frozen=True)
class Question:
    """One question: what people read, what they can choose, and the mechanism that answers for them.

    Attributes
    ----------
    id, type, text : str
    options : tuple of str
        What can be chosen. Of a scale the numbers of its levels in rising order, which may have labels as translations;
        of a number none, because the range is the mechanism's.
    mechanism : Mechanism
        Works on option numbers, counted from 0; of a number question on the numbers themselves.
    goal : {"shares", "mean"} or None
        What a scale is to be accurate in.
    why : str or None
        Why the mechanism was chosen.
    """

    id: str
    type: str
    text: str
    options: tuple[str, ...]
    mechanism: Mechanism
    goal: str | None = None
    why: str | None = None

    def __post_init__(self) -> None:
        where = f"question {self.id!r}" if isinstance(self.id, str) else "question"
        if not isinstance(self.id, str) or not _IDENTIFIER.fullmatch(self.id):
            raise SurveyError(
                f"{where}: id must be 1 to 40 lower-case letters, digits or underscores, starting with a letter"
            )
        if self.id in _RESERVED:
            raise SurveyError(f"{where}: id must not be {' or '.join(_RESERVED)}, which name other columns")
        if not isinstance(self.type, str) or self.type not in QUESTION_TYPES:
            raise SurveyError(f"{where}: type must be one of {', '.join(QUESTION_TYPES)}, got {self.type!r:.40}")
        check_text(self.text, f"{where}: text", MAX_TEXT)
        if self.why is not None:
            check_text(self.why, f"{where}: why", MAX_TEXT)
        if self.kind.has_goal and self.goal not in GOALS:
            raise SurveyError(f"{where}: goal must be one of {', '.join(GOALS)}, got {describe(self.goal)}")
        if not self.kind.has_goal and self.goal is not None:
            raise SurveyError(f"{where}: only a scale has a goal")
        if self.kind.family not in self.mechanism.question_types:
            raise SurveyError(f"{where}: a {self.type} question cannot use the mechanism {self.mechanism.name}")
        if self.kind.answers is not AnswerKind.RANGE:
            self._check_options(where)
        elif self.options:
            raise SurveyError(f"{where}: a {self.type} has no options, its range is the mechanism's")

    def _check_options(self, where: str) -> None:
        most = self.kind.most_options
        if not 2 <= len(self.options) <= most:
            raise SurveyError(f"{where}: options must be 2 to {most}, got {len(self.options)}")
        for option in self.options:
            check_text(option, f"{where}: options", MAX_LABEL)
        refuse_repeats(self.options, f"{where}: options")
        if self.kind.options and any(isinstance(option, Text) for option in self.options):
            raise SurveyError(f"{where}: options of a {self.type} question have no translations of their own")
        if self.kind.options and self.options != self.kind.options:
            raise SurveyError(f"{where}: options of a {self.type} question must be {list(self.kind.options)}")
        if self.kind.answers is AnswerKind.LEVELS and self.options != levels_from(self.options[0], len(self.options)):
            raise SurveyError(f"{where}: options of a scale must be consecutive whole numbers in rising order")
        if self.mechanism.answer_range != range(len(self.options)):
            raise SurveyError(f"{where}: the mechanism must be one of its {len(self.options)} options")

    @property
    def kind(self) -> QuestionType:
        """What holds for all questions of this type."""
        return QUESTION_TYPES[self.type]

    @property
    def epsilon(self) -> float:
        """Privacy loss of one answer to this question."""
        return self.mechanism.epsilon

    @property
    def has_shares(self) -> bool:
        """Whether the shares of the options can be estimated."""
        return bool(self.options) and self.mechanism.has_shares

    @property
    def rows(self) -> int:
        """Rows of estimates for one group of people: one for each share, and one for a mean."""
        return (len(self.options) if self.has_shares else 0) + (self.mean_values is not None)

    @property
    def mean_values(self) -> tuple[float, ...] | None:
        """The numbers whose mean can be estimated, as `Mechanism.estimate_mean` takes them; None for mere names."""
        if not self.kind.has_numbers:
            return None
        first = float(self.options[0]) if self.options else 0  # mechanisms number levels from 0
        return tuple(first + value for value in self.mechanism.answer_values)


@dataclass(frozen=True)
class Survey:
    """A published survey. Immutable; two surveys with one address are the same survey.

    Attributes
    ----------
    title : str
    questions : tuple of Question
    opens, closes : datetime.date or None
        First and last day, UTC, on which reports are taken, both included; None is no limit.
    cohorts : tuple of str
        Labels that the author puts on links. A report carries one of them or none.
    cohort_required : bool
        Whether every report must carry one; a link without one is incomplete.
    organiser, about : str or None
        Who asks, and why: shown to the respondent.
    retention : {"reports", "tallies"}
        What the collector keeps of counted reports: the noisy rows, or their sums and, until closing, their ids.
    fresh : {"each wave"} or None
        Whether devices draw anew, and pay anew, for questions that another survey asked before.
    release : int
        How many new reports of a cohort results wait for. Reports without a cohort wait for each other.
    results : {"batches", "live", "closed"}
        When results change: with every release, with every report, or once, when the survey has closed.
    readers : {"public", "token"}
        Who may read results.
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
    document: bytes = field(init=False, repr=False, compare=False)
    id: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        check_text(self.title, "title", MAX_LABEL)
        if self.organiser is not None:
            check_text(self.organiser, "organiser", MAX_LABEL)
        if self.about is not None:
            check_text(self.about, "about", MAX_TEXT)
        if not 1 <= len(self.questions) <= MAX_QUESTIONS:
            raise SurveyError(f"questions: must be 1 to {MAX_QUESTIONS}, got {len(self.questions)}")
        refuse_repeats(tuple(question.id for question in self.questions), "questions: ids")
        if len(self.cohorts) > MAX_COHORTS:
            raise SurveyError(f"cohorts: must be at most {MAX_COHORTS}, got {len(self.cohorts)}")
        for cohort in self.cohorts:
            check_text(cohort, "cohorts", MAX_LABEL)
        refuse_repeats(self.cohorts, "cohorts")
        if self.rows > MAX_ROWS:
            raise SurveyError(
                f"survey: must make at most {MAX_ROWS} rows of estimates, got {self.rows}: options of all questions "
                "times (cohorts + 1)"
            )
        if self.opens and self.closes and self.closes < self.opens:
            raise SurveyError(f"closes: must not be before opens, got {self.closes} before {self.opens}")
        if self.fresh is not None and self.fresh not in FRESH:
            raise SurveyError(f"fresh: must be {FRESH[0]!r} where it is there at all, got {shown(self.fresh)}")
        if not isinstance(self.cohort_required, bool):
            raise SurveyError(f"cohort_required: must be true or false, got {shown(self.cohort_required)}")
        if self.cohort_required and not self.cohorts:
            raise SurveyError('cohort_required: needs cohorts for the links, such as cohorts = ["paper", "web"]')
        if type(self.release) is not int or not LEAST_RELEASE <= self.release <= MOST_RELEASE:
            raise SurveyError(
                f"release: must be a whole number from {LEAST_RELEASE} to {MOST_RELEASE}, got {shown(self.release)}"
            )
        for key, known in (("retention", RETENTIONS), ("results", RESULTS), ("readers", READERS)):
            value = getattr(self, key)
            if not isinstance(value, str) or value not in known:
                raise SurveyError(f"{key}: must be {' or '.join(known)}, got {shown(value)}")
        document = strict_json.dumps(_published(self))
        if len(document) > MAX_BYTES:
            raise SurveyError(f"survey: must be at most {MAX_BYTES} bytes when published, got {len(document)}")
        object.__setattr__(self, "document", document)
        object.__setattr__(self, "id", address(document))

    def takes_cohort(self, cohort: object) -> bool:
        """Whether a report may carry this cohort; None is a report without one."""
        return not self.cohort_required if cohort is None else cohort in self.cohorts

    @property
    def rows(self) -> int:
        """Rows of estimates by cohort, the people without one included."""
        return sum(question.rows for question in self.questions) * (len(self.cohorts) + 1)

    @cached_property
    def checks(self) -> dict[str, tuple[Callable[[object, str], ReportValue], str]]:
        """For each question what checks a report value, and how an error names it; asked for with every report."""
        return {each.id: (each.mechanism.reports.check, f'values["{each.id}"]') for each in self.questions}

    @cached_property
    def keys(self) -> dict[str, str]:
        """For each question the key under which devices remember it: the hash of its text, options and mechanism.

        The same question under another title, id or reason has the same key, unless each survey is a wave of its own.
        """
        wave = {"survey": self.id} if self.fresh else {}
        return {
            asked["id"]: address(strict_json.dumps({key: asked[key] for key in _REMEMBERED} | wave))
            for asked in _published(self)["questions"]
        }

    @cached_property
    def canonical_form(self) -> CanonicalForm:
        """The form in which both clients write a report, and its reader."""
        types = {each.id: each.mechanism.reports.json_type for each in self.questions}
        return CanonicalForm(types, self.checks, [each for each in (None, *self.cohorts) if self.takes_cohort(each)])

    @property
    def epsilon(self) -> float:
        """Privacy loss of the whole survey: epsilons of one person's questions add up, rounded up."""
        return sum_above(question.epsilon for question in self.questions)

    def question(self, question_id: str) -> Question:
        """The question of that id."""
        for question in self.questions:
            if question.id == question_id:
                return question
        raise SurveyError(f"survey {self.id}: has no question of that id")

    def not_open_because(self, today: datetime.date) -> str | None:
        """Why the survey takes no reports on that day (UTC), or None when it does.

        >>> from deniable import read_survey
        >>> survey = read_survey('''
        ... title = "T"
        ... closes = 2026-12-20
        ... [[questions]]
        ... id = "q"
        ... type = "yes-no"
        ... text = "Q?"
        ... epsilon = 1
        ... ''')
        >>> survey.not_open_because(datetime.date(2026, 12, 21))
        'it closed at the end of 2026-12-20 (UTC)'
        """
        if self.opens and today < self.opens:
            return f"it opens on {self.opens} (UTC)"
        if self.closes and today > self.closes:
            return f"it closed at the end of {self.closes} (UTC)"
        return None


def address(document: bytes) -> str:
    """The address of published bytes.

    >>> address(b"")
    '4oymiquy7qobjgx36tejs35zeq'
    """
    return base64.b32encode(hashlib.sha256(document).digest()[:16]).decode("ascii").rstrip("=").lower()


def is_address(text: str) -> bool:
    """Whether a text has the form of a survey's address."""
    return _ADDRESS.fullmatch(text) is not None


def _published(survey: Survey) -> dict[str, Any]:
    optional = {
        "opens": survey.opens and survey.opens.isoformat(),
        "closes": survey.closes and survey.closes.isoformat(),
        "cohorts": list(survey.cohorts),
        "cohort_required": survey.cohort_required,
        "organiser": survey.organiser and publish_text(survey.organiser),
        "about": survey.about and publish_text(survey.about),
        "retention": None if survey.retention == RETENTIONS[0] else survey.retention,
        "fresh": survey.fresh,
        "release": None if survey.release == RELEASE else survey.release,
        "results": None if survey.results == RESULTS[0] else survey.results,
        "readers": None if survey.readers == READERS[0] else survey.readers,
    }
    return {
        "deniable": FORMAT,
        "title": publish_text(survey.title),
        "questions": [
            {
                "id": question.id,
                "type": question.type,
                "text": publish_text(question.text),
                "options": [publish_text(option) for option in question.options],
                "mechanism": question.mechanism.publish(),
            }
            | {key: value for key, value in (("goal", question.goal), ("why", question.why)) if value is not None}
            for question in survey.questions
        ],
    } | {key: value for key, value in optional.items() if value}


def check_text(value: object, subject: str, longest: int) -> None:
    """Raise a SurveyError unless the value is a readable, non-empty text of at most ``longest`` characters.

    So must be all its translations. A readable text shows something, and holds only characters meant for texts.
    """
    if not isinstance(value, str):
        raise SurveyError(f"{subject}: must be a text, got {describe(value)}")
    for text in all_forms(value):
        if not text.strip():
            raise SurveyError(f"{subject}: must not be empty")
        if _INVISIBLE.fullmatch(text):
            raise SurveyError(f"{subject}: must show something, got characters only that nobody sees")
        if len(text) > longest:
            raise SurveyError(f"{subject}: must be at most {longest} characters, got {len(text)}")
        for character in text:
            if unicodedata.category(character) in ("Cc", "Cs") and character != "\n":
                raise SurveyError(f"{subject}: must not hold the control character U+{ord(character):04X}")
            if ord(character) & 0xFFFE == 0xFFFE or "\ufdd0" <= character <= "\ufdef":
                raise SurveyError(f"{subject}: must not hold U+{ord(character):04X}, which is no character")


def refuse_repeats(values: tuple[str, ...], subject: str) -> None:
    """Raise a SurveyError that names the first value which stands there twice."""
    for position, value in enumerate(values):
        if value in values[:position]:
            raise SurveyError(f"{subject}: must differ from each other, {value!r} stands there twice")


def levels_from(first: str, n: int) -> tuple[str, ...]:
    """The ``n`` levels of a scale that starts at a number, as texts; just the text itself when it is no number."""
    if not _INTEGER.fullmatch(first):
        return (first,)
    return tuple(str(int(first) + step) for step in range(n))

"""Reading of surveys from their author's TOML; every mistake is answered by a sentence that names the key."""

from __future__ import annotations

import contextlib
import datetime
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

from deniable.access.issuer import Issuer
from deniable.errors import ParameterError, SurveyError, describe, needing, shown
from deniable.exact import positive_epsilon
from deniable.mechanisms import MECHANISMS, ForcedResponse, KAry, Longitudinal, Mechanism, TwoCoin, Warner
from deniable.survey.completion import Completion
from deniable.survey.condition import Condition
from deniable.survey.document import MAX_BYTES, Survey
from deniable.survey.group import Group, check_name
from deniable.survey.look import Look
from deniable.survey.order import ORDER_KEYS, RandomOrder, order_from
from deniable.survey.patterns import Pattern, Routed, possible_patterns
from deniable.survey.published import parse_survey
from deniable.survey.question import Question, check_id, levels_from
from deniable.survey.question_types import LAST, QUESTION_TYPES, AnswerKind, QuestionType
from deniable.survey.sealed import Sealed, padded_size
from deniable.survey.texts import EVERY_OTHER, MAX_LABEL, Text, check_text, read_text, refuse_repeats
from deniable_statistics.authoring.default_language import with_default_language
from deniable_statistics.authoring.look import LOOK_KEYS, read_look
from deniable_statistics.authoring.look_alikes import by_language, refuse_look_alikes
from deniable_statistics.authoring.sections import GRID, spelled_out
from deniable_statistics.authoring.selection import choice_for
from deniable_statistics.authoring.sharing import WANTED, Member, chosen_way, ways_to_share, why
from deniable_statistics.authoring.slips import DAY_FIRST, sentence_about, year_first
from deniable_statistics.authoring.toml_tables import listed, refuse_unknown, required
from deniable_statistics.published.condition_text import Earlier, read_condition, words_of

AS_WRITTEN = (
    *("closes_at", "cohort_required", "retention", "fresh", "release", "results", "readers", "access", "layout"),
    "revises",
)
"""Keys whose values are passed to `Survey` unchanged, which checks them and has their defaults."""

SURVEY_KEYS = (
    *("title", "language", "organiser", "about", "contact", "sample", "license", "opens", "closes", "cohorts"),
    *AS_WRITTEN,
    *("issuer", "sealed", "place", "thanks", "completion", "look", "epsilon", "draw", "want", "groups", "questions"),
    *("sections", *ORDER_KEYS),
)
MISPLACED_KEYS = tuple(each for each in SURVEY_KEYS if each not in ("title", "about"))
"""Keys of the survey that an author has put below a question by mistake; other tools give these two to questions."""
QUESTION_KEYS = ("id", "type", "text", "before", "help", "epsilon", "group", "ask_if")
ISSUER_KEYS = ("key", "url")
SEALED_KEYS = ("first", "keys")
COMPLETION_KEYS = ("text", "link", "code", "code_length")
GROUP_KEYS = ("epsilon", "draw", "want")
WHOLE_SURVEY = "survey"
"""Name of the group of the questions that share the epsilon of the survey."""
DOES_NOT_APPLY = Text(
    "Does not apply",
    {"ar": "لا ينطبق", "de": "Trifft nicht zu", "es": "No procede", "fr": "Sans objet"},
)
"""The option of whoever a question with a filter is not asked; nobody chooses it."""

BYTE_ORDER_MARK = "\ufeff"
MAX_RANGE = 1_000_000
"""Largest distance of the lowest and the highest answer of a number, which no mechanism can exceed."""

MAX_END = 100
"""Longest label of a level of a scale, in characters, since it is shown in a box beside the others."""

_FILE_NAME = re.compile(r"[^\n=\[\]]{1,250}\.[A-Za-z]{1,8}|[^\n=\[\]]{0,250}[/\\][^\n=\[\]]{1,250}")

_COINS = ("truth", "yes", "forced")


@needing("statistics")
def read_survey(
    text: str | bytes | None = None,
    *,
    path: str | PathLike[str] | None = None,
    folder: str | PathLike[str] | None = None,
) -> Survey:
    """Read a survey from its author's TOML and resolve every mechanism to its integers.

    Parameters
    ----------
    text : str or bytes
        The TOML itself.
    path : str or PathLike
        The file with the TOML, instead: ``read_survey(path="my-survey.toml")``.
    folder : str or PathLike, optional
        The folder in which a logo is looked for; by default that of `path`.

    Raises
    ------
    SurveyError
        If the survey is not valid, or not exactly one of its text and path is given; the message names the line, or the
        question and key, and what was expected.

    Examples
    --------
    >>> survey = read_survey('''
    ... title = "Life and love, 1974"
    ... [[questions]]
    ... id = "affair"
    ... type = "yes-no"
    ... text = "Have you had an affair since you married?"
    ... truth = "1/2"
    ... ''')
    >>> survey.id, survey.questions[0].mechanism
    ('httkewi55ornktgjp4t4lebelm', TwoCoin(truth=2147483648, yes=2147483648))
    """
    if isinstance(text, PathLike):
        raise SurveyError(f"survey: must be TOML, got a path; read_survey(path={str(text)!r}) reads it")
    if (text is None) == (path is None):
        raise SurveyError("survey: must be given as its text or as path=...")
    if path is not None:
        text = _read_file(Path(path))
        folder = Path(path).parent if folder is None else folder
    assert text is not None
    return survey_of(read_toml(text), folder)


def read_any_survey(document: bytes, folder: Path | None = None) -> Survey:
    """A survey from either of its forms: its author's TOML, with a logo in ``folder``, or its published JSON."""
    # Published bytes are hashed without the line break that an editor or `echo` puts behind them.
    is_published = document.startswith(b"{")
    return parse_survey(document.rstrip(b"\n")) if is_published else read_survey(document, folder=folder)


def survey_of(written: Mapping[str, Any], folder: str | PathLike[str] | None = None) -> Survey:
    """The survey of a file whose TOML was read by `read_toml`; parameters and errors are those of `read_survey`."""
    refuse_unknown(written, SURVEY_KEYS, "survey")
    written = with_default_language(written)
    spelled = spelled_out(written)
    ids = tuple(str(each["id"]) for each in spelled.questions if "id" in each)
    # Before any question is read, because errors in questions are named by id.
    refuse_repeats(ids, "questions: ids")
    groups = _groups(written, spelled.groups)
    drafts = _drafts(spelled.questions, groups)
    survey = Survey(
        title=_text(required(written, "title", "survey"), "title"),
        organiser=_text(written.get("organiser"), "organiser"),
        about=_text(written.get("about"), "about"),
        contact=_text(written.get("contact"), "contact"),
        sample=_text(written.get("sample"), "sample"),
        license=_text(written.get("license"), "license"),
        thanks=_text(written.get("thanks"), "thanks"),
        completion=_completion(written.get("completion")),
        look=_look(written.get("look"), None if folder is None else Path(folder)),
        opens=_date(written, "opens"),
        closes=_date(written, "closes"),
        cohorts=tuple(listed(written, "cohorts", "survey")) if "cohorts" in written else (),
        issuer=_issuer(written.get("issuer")),
        questions=_questions(drafts, groups),
        arrangement=spelled.arrangement,
        **{key: written[key] for key in AS_WRITTEN if key in written},
    )
    refuse_look_alikes(survey.cohorts, "cohorts")
    return _with_places(survey, written)


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SurveyError(f"survey: {path.name} cannot be read: {error.strerror}") from None


def read_toml(text: str | bytes) -> dict[str, Any]:
    """The contents of a survey's file; raise a SurveyError that names the line if it is not TOML."""
    if not isinstance(text, (str, bytes)):
        raise SurveyError(f"survey: must be TOML as text or bytes, got {describe(text)}")
    try:
        source = _decoded(text) if isinstance(text, bytes) else text
    except UnicodeDecodeError as problem:
        line = problem.object[: problem.start].count(b"\n") + 1
        raise SurveyError(
            f"survey: must be UTF-8 text, which byte {problem.start} (line {line}) is not; save the file as UTF-8"
        ) from None
    source = source.removeprefix(BYTE_ORDER_MARK)  # which editors on Windows write
    if len(source) > MAX_BYTES:
        raise SurveyError(f"survey: must be at most {MAX_BYTES} characters, got {len(source)}")
    try:
        return tomllib.loads(source, parse_float=Decimal)
    except tomllib.TOMLDecodeError as problem:
        if _FILE_NAME.fullmatch(source):
            raise SurveyError(
                f"survey: must be TOML, got what looks like the name of a file; read_survey(path={source!r}) reads it"
            ) from None
        if source.lstrip().startswith("{"):
            raise SurveyError(
                "survey: must be TOML, got what looks like JSON; if it is a published survey, "
                "parse_survey(Path(...).read_bytes()) reads it"
            ) from None
        last = source.rstrip("\n").count("\n") + 1
        sentence = str(problem).replace("at end of document", f"at line {last}, the end of the document")
        raise SurveyError(sentence_about(source, sentence)) from None
    except RecursionError:
        raise SurveyError("survey: is not TOML of a survey: it nests too deep") from None


def _decoded(content: bytes) -> str:
    """The text of a file; what other programs write in place of text is called by its name."""
    if content.startswith(b"PK\x03\x04"):
        raise SurveyError(
            "survey: must be a text, got a ZIP file, as Excel writes it; 'deniable survey import' reads forms"
        )
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content:
        raise SurveyError(
            "survey: must be UTF-8 text, got what looks like UTF-16 or no text at all; save the file as UTF-8"
        )
    return content.decode("utf-8")


def _issuer(written: object) -> Issuer | None:
    if written is None:
        return None
    table = _table(written, "issuer", ISSUER_KEYS)
    return Issuer(required(table, "key", "issuer"), table.get("url"))


def _with_places(survey: Survey, written: Mapping[str, Any]) -> Survey:
    """The survey with its table [sealed], whose size follows from the longest report, and its places."""
    places = tuple(listed(written, "place", "survey")) if "place" in written else ()
    if "sealed" not in written:
        return replace(survey, places=places) if places else survey
    table = _table(written["sealed"], "sealed", SEALED_KEYS)
    first = _date(table, "first")
    if first is None:
        raise SurveyError("sealed: must have the key 'first', the first day of the first key")
    keys = tuple(listed(table, "keys", "sealed"))
    return replace(survey, sealed=Sealed(first, keys, padded_size(survey.longest_report)), places=places)


def _completion(written: object) -> Completion | None:
    if written is None:
        return None
    table = _table(written, "completion", COMPLETION_KEYS)
    return Completion(**{**table, "text": _text(table.get("text"), "completion.text")})


def _look(written: object, folder: Path | None) -> Look | None:
    return None if written is None else read_look(_table(written, "look", LOOK_KEYS), folder)


def _table(written: object, name: str, known: Collection[str]) -> Mapping[str, Any]:
    """A table of the survey with no other keys than these."""
    if not isinstance(written, dict):
        raise SurveyError(f"{name}: must be a table [{name}], got {shown(written)}")
    refuse_unknown(written, known, name)
    return written


def _groups(written: Mapping[str, Any], grids: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The table of each group; grids are groups too, and so are questions that share the epsilon of the survey."""
    groups = written.get("groups", {})
    if not isinstance(groups, dict) or not all(isinstance(each, dict) for each in groups.values()):
        raise SurveyError("groups: must be tables such as [groups.private]")
    if both := sorted(groups.keys() & grids.keys()):
        raise SurveyError(f"groups: must not be called {both[0]!r}, the grid whose items share an epsilon")
    groups = {**groups, **grids}
    for key in ("draw", "want"):
        if key in written and "epsilon" not in written:
            raise SurveyError(f"{key}: needs epsilon, which the questions share")
    if WHOLE_SURVEY in groups:
        raise SurveyError(f"groups: must not be called {WHOLE_SURVEY!r}, the group of what shares the survey's epsilon")
    # The survey's epsilon belongs to one more group: all questions without their own noise.
    if "epsilon" in written:
        groups = groups | {WHOLE_SURVEY: {key: written[key] for key in GROUP_KEYS if key in written}}
    for name, each in groups.items():
        check_name(name)
        refuse_unknown(each, GROUP_KEYS, f"group {name!r}")
        required(each, "epsilon", f"group {name!r}")
    return groups


@dataclass(frozen=True)
class _Draft:
    """A question before it has its mechanism, which for groups depends on all members."""

    written: Mapping[str, Any]
    where: str
    kind: QuestionType
    options: tuple[str, ...]
    goal: str | None
    group: str | None
    order: RandomOrder | None = None
    last: tuple[str, ...] = ()
    ask_if: Condition | None = None

    @property
    def noise_kind(self) -> QuestionType:
        """The type whose mechanisms answer."""
        is_mean_of_some = self.ask_if is not None and self.kind.wants_mean(self.goal)
        return self.kind.noise(is_extended=self.ask_if is not None or bool(self.last), is_mean_of_some=is_mean_of_some)

    @property
    def noise_goal(self) -> str | None:
        return self.goal if self.noise_kind is self.kind else None

    @property
    def member(self) -> Member:
        return Member(self.noise_kind, self.possible, self.noise_goal)

    @property
    def possible(self) -> range:
        """The possible answers: indices of the options, or numbers; the last one of a filter is *does not apply*."""
        if self.kind.answers is not AnswerKind.RANGE:
            return range(len(self.options))
        return range(self.written["lo"], self.written["hi"] + 1 + (self.ask_if is not None))

    def with_noise(self, mechanism: Mechanism, why: str | None, group: Group | None = None) -> Question:
        return Question(
            id=required(self.written, "id", self.where),
            type=self.kind.name,
            text=_text(required(self.written, "text", self.where), f"{self.where}: text"),
            options=self.options,
            mechanism=mechanism,
            goal=self.goal if self.kind.has_goal else None,
            why=why,
            group=group,
            help=self._optional_text("help"),
            unit=self._optional_text("unit"),
            ask_if=self.ask_if,
            before=self._optional_text("before"),
            order=self.order,
            last=self.last,
        )

    def _optional_text(self, key: str) -> str | None:
        return _text(self.written[key], f"{self.where}: {key}") if key in self.written else None

    @property
    def as_earlier(self) -> Earlier:
        """The question as conditions of later ones are about it."""
        choices = self.options[:-1] if self.ask_if else self.options
        numbers = self.possible if self.kind.answers is AnswerKind.RANGE else range(0)
        if self.ask_if:
            numbers = numbers[:-1]
        return Earlier(self.kind, choices, numbers, self.ask_if is not None)


def _drafts(questions: Sequence[Mapping[str, Any]], groups: Collection[str]) -> list[_Draft]:
    """The questions before they have their mechanisms, each with its condition on those before it."""
    found: list[_Draft] = []
    earlier: dict[str, Earlier] = {}
    for number, each in enumerate(questions, start=1):
        draft = _draft(each, number, groups)
        if "ask_if" in each:
            later = {str(one.get("id")): words_of(one.get("ask_if")) for one in questions[number - 1 :]}
            draft = _with_filter(draft, earlier, later)
        found.append(draft)
        earlier[str(each.get("id"))] = draft.as_earlier
    return found


def _with_filter(draft: _Draft, earlier: Mapping[str, Earlier], later: Mapping[str, Sequence[str]]) -> _Draft:
    """The question with its condition, and with *does not apply* as the last of its options.

    That option goes through the noise like every other one: a blank would tell.
    """
    where, kind = draft.where, draft.kind
    try:
        condition = read_condition(draft.written["ask_if"], earlier, later)
    except SurveyError as error:
        raise SurveyError(f"{where}: ask_if {error}") from None
    if kind.answers is AnswerKind.RANGE:
        return replace(draft, ask_if=condition)
    if "yes" in draft.written:
        raise SurveyError(f"{where}: must have either yes or ask_if: with three options there is no second coin")
    return replace(draft, options=(*draft.options, DOES_NOT_APPLY), ask_if=condition)


def _draft(written: Mapping[str, Any], number: int, groups: Collection[str]) -> _Draft:
    # First, because later conditions name a question by its id, and could not name this one.
    if "id" in written:
        if not isinstance(written["id"], str):
            raise SurveyError(
                f'question {number}: id must be a text, such as id = "smokes", got {shown(written["id"])}'
            )
        check_id(written["id"])
    where = f"question {written['id']!r}" if isinstance(written.get("id"), str) else f"question {number}"
    name = required(written, "type", where)
    # TOML has lists and tables too, which no mapping can look up.
    if not isinstance(name, str) or name not in QUESTION_TYPES:
        raise SurveyError(f"{where}: type must be one of {', '.join((*QUESTION_TYPES, GRID))}, got {name!r}")
    kind = QUESTION_TYPES[name]
    _refuse_keys_of_others(written, kind, where)
    refuse_unknown(written, (*QUESTION_KEYS, *kind.keys), where, MISPLACED_KEYS)
    group = _group_of(written, kind, where, groups)
    options = _options(kind, written, where)
    last = tuple(each for each in LAST if each in written)
    if last and "yes" in written:
        raise SurveyError(f"{where}: must have either yes or {last[0]}: with three options there is no second coin")
    # They go through the mechanism like every other answer: a blank, or a value of its own, would tell.
    for each in last:
        if written[each] is True:
            raise SurveyError(f'{where}: {each} must be the words of the option, such as "No answer", got true')
        check_text(apart := _text(written[each], f"{where}: {each}"), f"{where}: {each}", MAX_LABEL)
        options = (*options, apart)
    refuse_look_alikes(options, f"{where}: options")
    # Different options may have equal translations, between which nobody could choose.
    for language, spoken in by_language(options):
        refuse_look_alikes(spoken, f"{where}: options in {language}")
    goal = written.get("goal", kind.goals[0]) if kind.goals else None
    if goal not in (kind.goals or (None,)):
        raise SurveyError(f"{where}: goal must be one of {', '.join(kind.goals)}, got {goal!r}")
    return _Draft(written, where, kind, options, goal, group, _option_order(written, where, len(last)), last)


def _refuse_keys_of_others(written: Mapping[str, Any], kind: QuestionType, where: str) -> None:
    """Raise a SurveyError for a key that other types have, and say which."""
    for key in written:
        owners = [each.name for each in QUESTION_TYPES.values() if key in each.keys]
        if owners and key not in (*QUESTION_KEYS, *kind.keys):
            why = f": a {kind.name} is answered by numbers alone" if key in LAST and kind.has_numbers else ""
            raise SurveyError(f"{where}: {key} goes with {', '.join(owners)}, not with {kind.name}{why}")


def _option_order(written: Mapping[str, Any], where: str, last: int) -> RandomOrder | None:
    """The random order of options; those that stand apart keep their places behind the others."""
    order = order_from(written.get, where)
    if order is None or type(order.fixed_last) is not int:
        return order
    return replace(order, fixed_last=order.fixed_last + last)


def _group_of(written: Mapping[str, Any], kind: QuestionType, where: str, groups: Collection[str]) -> str | None:
    """The group of a question; None if the question has its own noise."""
    # Epsilon and coins each determine the noise, so together they could contradict each other.
    coins = [key for key in _COINS if key in written]
    if "epsilon" in written and coins:
        raise SurveyError(f"{where}: must have either epsilon or the coins, got both epsilon and {coins[0]}")
    own = [key for key in ("epsilon", *_COINS, "mechanism", "wave_epsilon") if key in written]
    if "group" in written:
        if own:
            raise SurveyError(f"{where}: must have either group or {own[0]}: the questions of a group share its noise")
        if not isinstance(written["group"], str) or written["group"] not in groups:
            named = ", ".join(groups) or "this survey has none"
            raise SurveyError(f"{where}: group must be one of [groups] ({named}), got {shown(written['group'])}")
        return str(written["group"])
    # One epsilon for the survey is a group of all questions that say nothing else.
    if WHOLE_SURVEY in groups and not own:
        return WHOLE_SURVEY
    if "epsilon" not in written and "truth" not in written:
        hint = ', or the coin truth = "1/2"' if "truth" in kind.keys else ""
        raise SurveyError(f"{where}: must say how much noise: epsilon = 1.0{hint}")
    return None


def _questions(drafts: Sequence[_Draft], groups: Mapping[str, Mapping[str, Any]]) -> tuple[Question, ...]:
    """The questions with their mechanisms, which are their own or chosen for their groups."""
    # Mechanisms of a group are chosen together, wherever its questions are in the file.
    members = {name: [each for each in drafts if each.group == name] for name in groups}
    shared = {name: iter(_shared(name, groups[name], some)) for name, some in members.items()}
    return tuple(_alone(each) if each.group is None else next(shared[each.group]) for each in drafts)


def _alone(draft: _Draft) -> Question:
    try:
        mechanism = _mechanism(draft.noise_kind, draft.possible, draft.noise_goal, draft.written)
        return draft.with_noise(*mechanism)
    except ParameterError as error:
        raise SurveyError(f"{draft.where}: {error}") from None


def _shared(name: str, written: Mapping[str, Any], drafts: Sequence[_Draft]) -> list[Question]:
    """The questions of a group, which share its epsilon in the way that needs the fewest respondents."""
    where = "survey" if name == WHOLE_SURVEY else f"group {name!r}"
    if not drafts:
        raise SurveyError(
            f"{where}: epsilon is shared by questions that have none of their own, and there are no such questions; "
            "leave out either this epsilon or those of the questions"
        )
    want = _want(written, where)
    try:
        members = [each.member for each in drafts]
        ways = ways_to_share(members, written["epsilon"], written.get("draw"), _patterns(drafts))
    except ParameterError as error:
        raise SurveyError(f"{where}: {error}") from None
    best = chosen_way(ways, want)
    if "crosstabs" in want and not best.crosses:
        raise SurveyError(
            f"{where}: want has crosstabs, for which a person must be asked two questions; {_why_not(written)}"
        )
    reason = why(ways, best)
    # Split: nothing is drawn, and each question has its own mechanism at a part of epsilon.
    if best.is_split:
        told = None if len(drafts) == 1 else reason
        return [each.with_noise(own, told) for each, own in zip(drafts, best.mechanisms, strict=True)]
    group = Group(name, len(drafts), best.draw, best.joint, reason)
    return [each.with_noise(own, None, group) for each, own in zip(drafts, best.mechanisms, strict=True)]


def _patterns(drafts: Sequence[_Draft]) -> tuple[Pattern, ...] | None:
    """The patterns of answers that are possible to questions of one answer each; None without filters among them."""
    if not any(each.ask_if for each in drafts) or not all(each.member.is_one_option for each in drafts):
        return None
    with contextlib.suppress(SurveyError):  # a filter is about other questions, or there are too many patterns
        return possible_patterns([Routed(each.written["id"], len(each.options), each.ask_if) for each in drafts])
    return None


def _want(written: Mapping[str, Any], where: str) -> list[str]:
    """What the author wants to know of the questions of a group; empty if the author does not say."""
    want = listed(written, "want", where) if "want" in written else []
    if "want" in written and (not want or any(each not in WANTED for each in want)):
        raise SurveyError(f'{where}: want must be ["shares"] or ["shares", "crosstabs"], got {shown(written["want"])}')
    return want


def _why_not(written: Mapping[str, Any]) -> str:
    if written.get("draw") == 1:
        return "draw = 1 asks one"
    return "it takes two with shares, at an epsilon that devices accept"


def _options(kind: QuestionType, written: Mapping[str, Any], where: str) -> tuple[str, ...]:
    if kind.options:
        return kind.options
    if kind.has_numbers:
        if kind.counted_by:
            lo, hi = 1, _whole(written, kind.counted_by, where)
            if not 2 <= hi <= kind.most_options:
                raise SurveyError(f"{where}: {kind.counted_by} must be 2 to {kind.most_options}, got {describe(hi)}")
        else:
            lo, hi = (_whole(written, key, where) for key in ("lo", "hi"))
        if lo >= hi:
            raise SurveyError(f"{where}: lo must be below hi, got {describe(lo)} and {describe(hi)}")
        if kind.answers is AnswerKind.RANGE:
            if hi - lo > MAX_RANGE:
                raise SurveyError(
                    f"{where}: lo and hi must be at most {MAX_RANGE:,} apart, got {shown(lo)} and {shown(hi)}"
                )
            return ()
        # Every level is an option, and noise grows with their number; that of a number does not.
        if hi - lo >= kind.most_options:
            raise SurveyError(
                f"{where}: a {kind.name} has at most {kind.most_options} levels, got {hi - lo + 1}; ask a number"
            )
        return _with_labels(levels_from(str(lo), hi - lo + 1), written, where)
    # Types that have neither fixed options nor numbers list theirs.
    options = tuple(_text(each, f"{where}: options") for each in listed(written, "options", where))
    if len(options) < 2:
        raise SurveyError(f"{where}: options must be at least 2, got {len(options)}: one option needs no question")
    return options


def _with_labels(levels: tuple[str, ...], written: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """The levels of a scale with labels at both ends, or at all of them; answers and results keep the numbers."""
    given = [key for key in ("ends", "labels") if key in written]
    if not given:
        return levels
    if len(given) == 2:
        raise SurveyError(f"{where}: must have either ends or labels: labels say what every level means")
    (key,) = given
    labels = tuple(_text(each, f"{where}: {key}") for each in listed(written, key, where))
    if key == "ends" and len(labels) != 2:
        raise SurveyError(f'{where}: ends must be two texts like ["not at all", "completely"], got {len(labels)}')
    if key == "labels" and len(labels) != len(levels):
        raise SurveyError(f"{where}: labels must be {len(levels)} texts, one for each level, got {len(labels)}")
    for label in labels:
        check_text(label, f"{where}: {key}", MAX_END)
    refuse_look_alikes(labels, f"{where}: {key}")
    if key == "ends":
        return _labelled(levels[0], labels[0]), *levels[1:-1], _labelled(levels[-1], labels[1])
    return tuple(map(_labelled, levels, labels))


def _labelled(level: str, label: str) -> Text:
    """A level, in each language of its label followed by that."""
    # The level itself is what is sent and counted; languages are for the eye alone.
    spoken = label.translations if isinstance(label, Text) else {}
    return Text(level, {key: f"{level} \u2013 {text}" for key, text in {**spoken, EVERY_OTHER: str(label)}.items()})


def _whole(written: Mapping[str, Any], key: str, where: str) -> int:
    value = required(written, key, where)
    # To `isinstance` true is an integer.
    if type(value) is not int:
        hint = f"; write {value:.0f}" if _is_whole(value) else ""
        raise SurveyError(f"{where}: {key} must be a whole number without a point, got {shown(value)}{hint}")
    return value


def _is_whole(value: object) -> bool:
    # A hint of many digits would help nobody.
    return isinstance(value, Decimal) and value.is_finite() and abs(value) < 10**12 and value % 1 == 0


def _mechanism(
    kind: QuestionType, answers: range, goal: str | None, written: Mapping[str, Any]
) -> tuple[Mechanism, str | None]:
    """The mechanism and, if it was chosen by default, the reason."""
    k = len(answers)
    for key in ("truth", "yes"):
        # An integer would be always, never or a percentage: none of them is a coin.
        if isinstance(written.get(key), int):
            raise ParameterError(f'{key}: must be a probability such as "1/2" or 0.5, got {describe(written[key])}')
    if "wave_epsilon" in written and written.get("mechanism") != Longitudinal.name:
        raise ParameterError(f'wave_epsilon: needs mechanism = "{Longitudinal.name}", the one that has waves')
    if "mechanism" in written:
        return _asked_mechanism(kind, answers, written), None
    if kind.is_yes_no:
        if "epsilon" in written:
            return Warner.from_epsilon(written["epsilon"]), None
        return TwoCoin(written["truth"], written.get("yes", "1/2")), None
    if "forced" in written:
        forced = written["forced"]
        if isinstance(forced, list) and len(forced) != k:
            raise ParameterError(f"forced: must be {k} probabilities, one for each option, got {len(forced)}")
        return ForcedResponse(written["truth"], forced), None
    if "truth" in written:
        return KAry.from_coin(k, written["truth"]), None
    epsilon = positive_epsilon(written["epsilon"])
    choice = choice_for(kind, answers, epsilon, goal)
    return choice.best, choice.why


def _asked_mechanism(kind: QuestionType, answers: range, written: Mapping[str, Any]) -> Mechanism:
    """The mechanism that the author names."""
    name = written["mechanism"]
    if "epsilon" not in written:
        raise ParameterError("mechanism: needs epsilon, not coins")
    epsilon = positive_epsilon(written["epsilon"])
    possible = {each: cls for each, cls in MECHANISMS.items() if kind.family in cls.named_in}
    if name not in possible:
        raise ParameterError(f"mechanism: must be one of {', '.join(possible)}, got {name!r}")
    return possible[name].for_answers(answers, epsilon, written.get("wave_epsilon"))


def _text(written: Any, where: str) -> Any:
    """A text, which may have translations; `Survey` and `Question` check it."""
    return read_text(written, where)


def _date(written: Mapping[str, Any], key: str) -> datetime.date | None:
    value = written.get(key)
    # To `isinstance` a time is a date as well.
    if value is None or type(value) is datetime.date:
        return value
    if isinstance(value, str):
        day = year_first(value) if DAY_FIRST.fullmatch(value) else "like 2026-11-20"
        raise SurveyError(f"{key}: must be a date without quotes, {day}, got {shown(value)}")
    if isinstance(value, datetime.datetime):
        raise SurveyError(f"{key}: must be a day without a time, {value.date()}; days begin and end in UTC")
    raise SurveyError(f"{key}: must be a day like 2026-11-20, got {shown(value)}")

"""A survey as its author writes it: TOML, with every way to go wrong answered by a sentence that names the key."""

from __future__ import annotations

import datetime
import difflib
import tomllib
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any

from deniable.errors import ParameterError, SurveyError, describe
from deniable.mechanisms import KAry, Mechanism, TwoCoin, Warner
from deniable.survey import MAX_BYTES, QUESTION_TYPES, YES_NO, Question, Survey, refuse_repeats

_SURVEY_KEYS = ("title", "organiser", "about", "opens", "closes", "cohorts", "questions")
_QUESTION_KEYS = {
    "yes-no": ("id", "type", "text", "epsilon", "truth", "yes"),
    "choice": ("id", "type", "text", "options", "epsilon", "truth"),
}


def read_survey(text: str | bytes) -> Survey:
    """Read a survey from its author's TOML and resolve every mechanism to its integers.

    Raises
    ------
    SurveyError
        Naming the line, or the question and key, and what was expected there.

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
    ('46es6ramwhfejnr7cygw3egjni', TwoCoin(truth=2147483648, yes=2147483648))
    """
    try:
        source = text.decode("utf-8") if isinstance(text, bytes) else text
    except UnicodeDecodeError as problem:
        raise SurveyError(f"survey: must be UTF-8 text, byte {problem.start} is not") from None
    if len(source) > MAX_BYTES:
        raise SurveyError(f"survey: must be at most {MAX_BYTES} characters, got {len(source)}")
    try:
        written = tomllib.loads(source, parse_float=Decimal)
    except tomllib.TOMLDecodeError as problem:
        last = source.rstrip("\n").count("\n") + 1
        sentence = str(problem).replace("at end of document", f"at line {last}, the end of the document")
        raise SurveyError(f"survey: is not TOML: {sentence}") from None
    except RecursionError:
        raise SurveyError("survey: is not TOML of a survey: it nests too deep") from None
    _refuse_unknown(written, _SURVEY_KEYS, "survey")
    questions = written.get("questions")
    if not isinstance(questions, list) or not questions or not all(isinstance(each, dict) for each in questions):
        raise SurveyError("questions: must be one or more tables [[questions]]")
    ids = tuple(str(each["id"]) for each in questions if "id" in each)
    refuse_repeats(ids, "questions: ids")
    return Survey(
        title=_required(written, "title", "survey"),
        organiser=written.get("organiser"),
        about=written.get("about"),
        opens=_date(written, "opens"),
        closes=_date(written, "closes"),
        cohorts=tuple(_list(written, "cohorts", "survey")) if "cohorts" in written else (),
        questions=tuple(_question(each, number) for number, each in enumerate(questions, start=1)),
    )


def _question(written: Mapping[str, Any], number: int) -> Question:
    where = f"question {written['id']!r}" if isinstance(written.get("id"), str) else f"question {number}"
    kind = _required(written, "type", where)
    if not isinstance(kind, str) or kind not in QUESTION_TYPES:
        raise SurveyError(f"{where}: type must be one of {', '.join(QUESTION_TYPES)}, got {kind!r}")
    _refuse_unknown(written, _QUESTION_KEYS[kind], where)
    options = YES_NO if kind == "yes-no" else tuple(_list(written, "options", where))
    if len(options) < 2:
        raise SurveyError(f"{where}: options must be at least 2, got {len(options)}: one option needs no question")
    if "epsilon" in written and ("truth" in written or "yes" in written):
        coin = "truth" if "truth" in written else "yes"
        raise SurveyError(f"{where}: must have either epsilon or the coins, got both epsilon and {coin}")
    if "epsilon" not in written and "truth" not in written:
        raise SurveyError(f'{where}: must say how much noise: epsilon = 1.0, or the coin truth = "1/2"')
    try:
        mechanism = _mechanism(kind, len(options), written)
    except ParameterError as error:
        raise SurveyError(f"{where}: {error}") from None
    return Question(
        id=_required(written, "id", where),
        type=kind,
        text=_required(written, "text", where),
        options=options,
        mechanism=mechanism,
    )


def _mechanism(kind: str, k: int, written: Mapping[str, Any]) -> Mechanism:
    for key in ("truth", "yes"):
        if isinstance(written.get(key), int):
            raise ParameterError(f'{key}: must be a probability such as "1/2" or 0.5, got {describe(written[key])}')
    if kind == "yes-no":
        if "epsilon" in written:
            return Warner.from_epsilon(written["epsilon"])
        return TwoCoin(written["truth"], written.get("yes", "1/2"))
    if "epsilon" in written:
        return KAry.from_epsilon(k, written["epsilon"])
    return KAry.from_coin(k, written["truth"])


def _required(written: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in written:
        raise SurveyError(f"{where}: must have the key {key}")
    return written[key]


def _list(written: Mapping[str, Any], key: str, where: str) -> list[Any]:
    value = _required(written, key, where)
    if not isinstance(value, list):
        raise SurveyError(f'{where}: {key} must be a list like ["a", "b"], got {describe(value)}')
    return value


def _date(written: Mapping[str, Any], key: str) -> datetime.date | None:
    value = written.get(key)
    if value is None or type(value) is datetime.date:
        return value
    if isinstance(value, str):
        raise SurveyError(f"{key}: must be a date without quotes, like 2026-11-20, got a string")
    raise SurveyError(f"{key}: must be a day like 2026-11-20, without a time, got {describe(value)}")


def _refuse_unknown(written: Mapping[str, Any], known: Collection[str], where: str) -> None:
    for key in written:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it can have {', '.join(known)}"
            raise SurveyError(f"{where}: has the unknown key {key!r}; {hint}")

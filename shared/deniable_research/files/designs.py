"""Designs as researchers write them: tables of TOML, or a line for one question."""

from __future__ import annotations

import difflib
import inspect
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from deniable.errors import ParameterError, describe
from deniable.estimation.design import Design
from deniable.exact import number_hint, rational
from deniable.mechanisms import MECHANISMS
from deniable_research import designs as channels
from deniable_research.designs import Channel, from_matrix
from deniable_research.files.layout import MISSING, Layout, RandomizedColumn

DESIGNS: dict[str, tuple[Callable[..., Design], ...]] = {}
"""Name of each design to the ways of making it, the first one that takes the given parameters is used."""

_LAYOUT_KEYS = ("questions", "weights", "cluster", "cohort", "cohorts", "missing")
_QUESTION_KEYS = (
    "column",
    "design",
    "name",
    "options",
    "values",
    "codes",
    "missing",
    "group",
    "groups",
    "group_missing",
    "anchor",
    "known_share",
)
_LISTS = ("forced", "options", "values", "missing", "groups", "group_missing")
_PROBABILITIES = ("p", "p1", "p2", "truth", "yes", "no", "prevalence", "keep")
_PAIRS = ("yes", "no")
"""Probabilities that some designs take one of for each group."""
_DECIMAL_COMMA = re.compile(r"^[^\"'\[#]*= *([0-9]+,[0-9]+)", re.MULTILINE)
_INTEGER = re.compile(r"-?[0-9]+")


def direct(options: Sequence[str] = channels.designs.NO_YES) -> Channel:
    """The question asked directly: everybody reports the truth.

    >>> direct().estimate([70, 30]).share
    (0.7, 0.3)
    """
    k = len(options)
    return from_matrix([[int(r == x) for x in range(k)] for r in range(k)], options, options, "direct")


def _add_designs() -> None:
    DESIGNS["direct"] = (direct,)
    for name, made in inspect.getmembers(channels.designs, inspect.isfunction):
        if name in channels.__all__ and name not in ("from_mechanism", "of_one_truth"):  # which make one of another
            DESIGNS[name.removeprefix("from_").replace("_", "-")] = (made,)
    for name, cls in MECHANISMS.items():
        ways = [getattr(cls, way) for way in ("from_epsilon", "from_coin", "calibrated") if hasattr(cls, way)]
        DESIGNS[name] = (*DESIGNS.get(name, ()), *ways, cls)


_add_designs()


def read_layout(text: str | bytes) -> Layout:
    """Read a design file.

    Parameters
    ----------
    text : str or bytes
        TOML: a table ``[[questions]]`` for each randomised column, with ``column``, ``design`` (one of `DESIGNS`) and
        the parameters of that design; optionally ``name``, ``options`` (names of the true answers), ``values`` (their
        numbers), ``codes`` (what stands in the file for each response), ``missing``, and for designs of two groups
        ``group`` (a column) with ``groups`` (its two codes, by default 1 and 2) and ``group_missing`` (what stands
        there for no group; ``missing`` is about reports). ``anchor`` names another question that tells how many
        people attend to this one; that one has ``known_share``, its known share of yes. Before the first table
        optionally the names of the columns ``weights``, ``cluster`` and ``cohort``, the order of ``cohorts``, and
        ``missing`` for the other columns.

    Raises
    ------
    ParameterError
        Naming the question and the key.

    Examples
    --------
    >>> layout = read_layout('''
    ... weights = "w"
    ... [[questions]]
    ... column = "rrt_q1"
    ... name = "affair"
    ... design = "forced-response"
    ... truth = "2/3"
    ... forced = ["1/2", "1/2"]
    ... codes = {no = "2", yes = "1"}
    ... ''')
    >>> layout.questions[0].design.support[1]
    Support(if_true=Fraction(5, 6), if_other=Fraction(1, 6))
    >>> layout.questions[0].codes
    {'2': 0, '1': 1}
    """
    try:
        source = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        written = tomllib.loads(source, parse_float=Decimal)
    except (UnicodeDecodeError, RecursionError):
        raise ParameterError("design file: must be TOML in UTF-8") from None
    except tomllib.TOMLDecodeError as problem:
        comma = _DECIMAL_COMMA.search(source)
        hint = number_hint(comma[1]) if comma else ""
        raise ParameterError(f"design file: is not TOML: {problem}{hint}") from None
    for key in written:
        if key not in _LAYOUT_KEYS:
            raise ParameterError(f"design file: has the unknown key {key!r}; {_hint(key, _LAYOUT_KEYS)}")
    questions = written.get("questions")
    if not isinstance(questions, list) or not questions or not all(isinstance(each, dict) for each in questions):
        raise ParameterError("questions: must be one or more tables [[questions]]")
    return Layout(
        tuple(_question(each, f"question {number}") for number, each in enumerate(questions, start=1)),
        **{key: _text(written[key], key) for key in ("weights", "cluster", "cohort") if key in written},
        cohorts=_texts(written.get("cohorts", ()), "cohorts"),
        missing=_texts(written.get("missing", MISSING), "missing"),
    )


def quick_question(line: str) -> RandomizedColumn:
    """Read the short form, ``[name=]column: design parameter=value ...``; lists have commas.

    >>> question = quick_question("affair=rrt_q1: forced-response truth=2/3 codes=no:2,yes:1 missing=9")
    >>> question.name, question.column, question.codes, question.missing
    ('affair', 'rrt_q1', {'2': 0, '1': 1}, ('', 'NA', 'NaN', '9'))
    """
    where, colon, rest = line.partition(":")
    try:
        words = shlex.split(rest) if colon else []
    except ValueError:  # a quotation mark without its other one
        words = []
    if not where.strip() or not words:
        raise ParameterError(f'question: must be like "rrt_q1: forced-response truth=2/3", got {line!r:.80}')
    name, equals, column = where.partition("=")
    written: dict[str, Any] = {"column": (column if equals else where).strip(), "design": words[0]}
    if equals:
        written["name"] = name.strip()
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if not equals or not value:
            raise ParameterError(f"question {written['column']!r}: must have parameters like truth=2/3, got {word!r}")
        written[key] = _value(key, value)
    for key in ("missing", "group_missing"):
        if key in written:
            written[key] = [*MISSING, *written[key]]
    return _question(written, "question")


def _value(key: str, value: str) -> Any:
    if key == "codes":
        pairs = [pair.partition(":") for pair in value.split(",")]
        if not all(colon for _, colon, _ in pairs):
            raise ParameterError(f"codes: must be like no:2,yes:1, got {value!r:.80}")
        return {response: code for response, _, code in pairs}
    if key in _PROBABILITIES and key not in _PAIRS and number_hint(value):
        return value  # a decimal comma, for which there is a sentence, not a list
    if key in _LISTS or "," in value:
        return value.split(",")
    return int(value) if _INTEGER.fullmatch(value) else value


def _question(written: Mapping[str, Any], fallback: str) -> RandomizedColumn:
    if "column" not in written or "design" not in written:
        raise ParameterError(f"{fallback}: must have the keys column and design")
    column = _text(written["column"], f"{fallback}: column")
    name = _text(written.get("name", column), f"{fallback}: name")
    where = f"question {name!r}"
    options = _texts(written["options"], f"{where}: options") if "options" in written else None
    parameters = {key: value for key, value in written.items() if key not in _QUESTION_KEYS}
    kind = written["design"]
    if not isinstance(kind, str) or kind not in DESIGNS:
        shown = kind if isinstance(kind, str) else describe(kind)
        raise ParameterError(f"{where}: design must be one of {', '.join(DESIGNS)}, got {shown!r:.40}")
    if kind == "direct" and options is not None:
        parameters["options"] = options
    try:
        design = _make(kind, parameters)
        return RandomizedColumn(
            name,
            column,
            design,
            options or design.truths,
            _values(written.get("values"), design),
            _codes(written.get("codes"), design),
            _texts(written.get("missing", MISSING), "missing"),
            _text(written["group"], "group") if "group" in written else None,
            _texts(written.get("groups", ("1", "2")), "groups"),
            group_missing=_texts(written.get("group_missing", MISSING), "group_missing"),
            anchor=_text(written["anchor"], "anchor") if "anchor" in written else None,
            known_share=rational(written["known_share"], "known_share") if "known_share" in written else None,
        )
    except ParameterError as error:
        sentence = str(error)
        raise ParameterError(sentence if sentence.startswith(f"{name}: ") else f"{where}: {sentence}") from None


def _make(kind: str, parameters: Mapping[str, Any]) -> Design:
    for key in _PROBABILITIES:
        given = parameters.get(key)
        if any(type(each) is int and 1 < each <= 100 for each in (given if isinstance(given, list) else [given])):
            # An integer would be read as a published weight out of 2**32, which nobody means by 70.
            raise ParameterError(f'{key}: must be a probability such as "2/3" or 0.7, no percentage, got {given}')
    taken = []
    for make in DESIGNS[kind]:
        signature = inspect.signature(make)
        taken.append(_ways(signature))
        try:
            signature.bind(**parameters)
        except TypeError:
            continue
        return make(**parameters)
    ways = ", or ".join(dict.fromkeys(taken))
    raise ParameterError(f"design {kind}: must have {ways}; got {', '.join(parameters) or 'no parameters'}")


def _ways(signature: inspect.Signature) -> str:
    """The parameters that a design takes, in words."""
    own = [each for each in signature.parameters.values() if each.name not in ("responses", "truths", "name")]
    needed = [each.name for each in own if each.default is each.empty]
    optional = [each.name for each in own if each.default is not each.empty]
    return " and ".join(needed) + (f" (optional: {', '.join(optional)})" if optional else "")


def _codes(written: object, design: Design) -> dict[str, int | str] | None:
    """From response to code, as a person thinks, to code to report value, as a file is read."""
    if written is None:
        return None
    if not isinstance(written, dict) or not written:
        raise ParameterError(f'codes: must be like {{no = "2", yes = "1"}}, got {describe(written)}')
    codes: dict[str, int | str] = {}
    for response, given in written.items():
        report = design.reports.from_text(response)
        if report is None and _INTEGER.fullmatch(response):
            report = int(response)
        if report is None:
            named = ", ".join(design.reports.labels) or design.reports.described
            raise ParameterError(f"codes: must name responses ({named}), got {response!r}")
        for code in given if isinstance(given, list) else [given]:  # several texts may mean one response
            codes[_text(code, f"codes of {response}")] = report
    return codes


def _values(written: object, design: Design) -> tuple[float, ...] | None:
    if written is None:
        return (0.0, 1.0) if design.truths == channels.designs.NO_YES else None
    if not isinstance(written, (list, tuple)):
        raise ParameterError(f"values: must be a list of numbers, got {describe(written)}")
    try:
        return tuple(float(each) for each in written)
    except (TypeError, ValueError):
        raise ParameterError("values: must be numbers") from None


def _text(value: object, subject: str) -> str:
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value)
    raise ParameterError(f"{subject}: must be a text, got {describe(value)}")


def _texts(value: object, subject: str) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ParameterError(f'{subject}: must be a list like ["a", "b"], got {describe(value)}')
    if not all(isinstance(each, (str, int)) and not isinstance(each, bool) for each in value):
        raise ParameterError(f"{subject}: must all be texts")
    return tuple(map(str, value))


def _hint(key: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"it can have {', '.join(known)}"

"""Designs of data from elsewhere, as researchers write them: a design file in TOML, or a line for one question."""

from __future__ import annotations

import inspect
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

from deniable.errors import ParameterError, describe
from deniable.exact import number_hint, rational
from deniable.mechanisms import MECHANISMS
from deniable_research.files.layout import MISSING, Layout, RandomizedColumn
from deniable_research.files.samples import SamplingColumns, replicate_columns
from deniable_statistics import classical as channels
from deniable_statistics.authoring.toml_tables import key_hint
from deniable_statistics.classical import Channel, from_matrix
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of

DESIGNS: dict[str, tuple[Callable[..., AnyDesign], ...]] = {}
"""Functions that make each design, by its name; the first one that takes the given parameters is used."""

# Keys are named like the fields that they fill, so that each name is defined once.
_SAMPLING_KEYS = tuple(each.name for each in fields(SamplingColumns) if each.name != "margins")  # which are a file
_LAYOUT_KEYS = ("questions", "weights", *_SAMPLING_KEYS, "cohort", "cohorts", "missing")
_QUESTION_KEYS = tuple(
    each.name
    for each in fields(RandomizedColumn)
    if each.name
    # what only a survey says, and arms
    not in ("mean_values", "has_shares", "drawn", "arm", "levels", "is_filtered", "patterns", "place")
)
_LISTS = ("forced", "options", "values", "missing", "groups", "group_missing")
_PROBABILITIES = ("p", "p1", "p2", "truth", "yes", "no", "prevalence", "keep")
_PAIRS = ("yes", "no")
"""Probabilities of which some designs take one for each group."""
_DECIMAL_COMMA = re.compile(r"^[^\"'\[#]*= *([0-9]+,[0-9]+)", re.MULTILINE)
_SHOWN = {r"^\s*subset of (\d+)": r"subset w=\1", r"^\s*drawn-boxes \((\d+) of (\d+)\)": r"drawn-boxes s=\1 k=\2"}
"""Names with which mechanisms are printed, and how a line writes them: a name, and parameters."""
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
    # Every public function of that module is a design, so that a new one needs no entry here.
    for name, made in inspect.getmembers(channels.designs, inspect.isfunction):
        if name in channels.__all__ and name not in ("from_mechanism", "of_one_truth"):  # which make one of another
            DESIGNS[name.removeprefix("from_").replace("_", "-")] = (made,)
    for name, cls in MECHANISMS.items():
        ways = [getattr(cls, way) for way in ("from_epsilon", "from_coin", "calibrated") if hasattr(cls, way)]
        # Ways with probabilities or epsilon come before the class itself, whose parameters are published integers.
        DESIGNS[name] = (*DESIGNS.get(name, ()), *ways, cls)


_add_designs()


def read_layout(text: str | bytes) -> Layout:
    """Read a design file.

    Parameters
    ----------
    text : str or bytes
        TOML with a table ``[[questions]]`` for each randomised column. It has ``column``, ``design`` (one of `DESIGNS`)
        and the parameters of that design; optionally ``name``, ``options`` (names of the true answers), ``values``
        (their numbers), ``codes`` (the code of each response in the file) and ``missing`` (codes of missing values).

        Designs of two groups also have ``group`` (a column), ``groups`` (its two codes, by default 1 and 2) and
        ``group_missing`` (its codes of missing values). A question that was asked by several designs has ``arm`` (a
        column) instead of a design, and for each label of that column a table ``[questions.arms.LABEL]`` with the keys
        that differ, such as ``design``, its parameters, ``codes`` and ``column``. ``anchor`` names another question,
        from which attention to this one is estimated; that question has ``known_share``, its known share of yes.

        Before the first table there may be the names of the columns ``weights`` and ``cohort``, the order of
        ``cohorts``, ``missing`` for the other columns, and the sampling design in the keys of `SamplingColumns`, where
        ``replicates`` is a range of names like ``"w1..w80"`` or a list of names.

    Raises
    ------
    ParameterError
        If a key or value is not valid; the message names the question and the key.

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
        # Decimal is exact: the float 0.1 is not 1/10, and channels are fractions.
        written = tomllib.loads(source, parse_float=Decimal)
    except (UnicodeDecodeError, RecursionError):
        raise ParameterError("design file: must be TOML in UTF-8") from None
    except tomllib.TOMLDecodeError as problem:
        comma = _DECIMAL_COMMA.search(source)
        hint = number_hint(comma[1]) if comma else ""
        raise ParameterError(f"design file: is not TOML: {problem}{hint}") from None
    # A misspelt key must not be ignored: the design would be another one.
    for key in written:
        if key not in _LAYOUT_KEYS:
            raise ParameterError(f"design file: has the unknown key {key!r}; {key_hint(key, _LAYOUT_KEYS)}")
    questions = written.get("questions")
    if not isinstance(questions, list) or not questions or not all(isinstance(each, dict) for each in questions):
        raise ParameterError("questions: must be one or more tables [[questions]]")
    found: list[RandomizedColumn] = []
    mixed: dict[str, tuple[str, ...]] = {}
    for number, each in enumerate(questions, start=1):
        if "arm" in each or "arms" in each:
            name, arms = _arms(each, f"question {number}")
            mixed[name] = tuple(arm.name for arm in arms)
            found += arms
        else:
            found.append(_question(each, f"question {number}"))
    weights, cohort = (_text(written[key], key) if key in written else None for key in ("weights", "cohort"))
    return Layout(
        tuple(found),
        weights=weights,
        cohort=cohort,
        sampling=_sampling(written),
        cohorts=texts(written.get("cohorts", ()), "cohorts"),
        missing=texts(written.get("missing", MISSING), "missing"),
        mixed=mixed,
    )


def _arms(written: Mapping[str, Any], fallback: str) -> tuple[str, list[RandomizedColumn]]:
    """The arms of a question that was asked by several designs; each arm is a randomised column."""
    name = _text(written.get("name", written.get("column", "")), f"{fallback}: name")
    where = f"question {name!r}"
    arms = written.get("arms")
    if "arm" not in written or not isinstance(arms, dict) or not all(isinstance(each, dict) for each in arms.values()):
        raise ParameterError(
            f"{where}: must have arm, a column, and a table [questions.arms.LABEL] for each of its labels"
        )
    if len(arms) < 2:
        raise ParameterError(f"{where}: arms must be at least 2, got {len(arms)}")
    if "design" in written:
        raise ParameterError(f"{where}: must have its designs in the arms, got another design as well")
    common = {key: value for key, value in written.items() if key not in ("arm", "arms")}
    found = []
    for label, own in arms.items():
        arm = _question({**common, **own, "name": f"{name} ({label})"}, fallback)
        found.append(replace(arm, arm=(_text(written["arm"], f"{where}: arm"), label)))
    # Arms are compared and pooled by answer, so their answers must be the same.
    truths = {len(_answers(arm)) for arm in found}
    if len(truths) > 1 or not all(arm.design.is_exclusive and arm.has_shares for arm in found):
        raise ParameterError(f"{where}: arms must ask for the same answers, of which each person has one")
    return name, found


def _answers(question: RandomizedColumn) -> tuple[str, ...]:
    """The answers to a question; designs of two groups estimate more truths than the answers no and yes."""
    return channels.designs.NO_YES if question.design.groups > 1 else question.options


def _sampling(written: Mapping[str, Any]) -> SamplingColumns:
    """The sampling design, from its keys."""
    found: dict[str, Any] = {key: written[key] for key in _SAMPLING_KEYS if key in written}
    for key in ("strata", "cluster", "population", "lonely", "replicate_method"):
        if key in found:
            found[key] = _text(found[key], key)
    if "replicates" in found:
        given = found["replicates"]
        found["replicates"] = replicate_columns(given if isinstance(given, str) else texts(given, "replicates"))
    for key in ("replicate_fay", "degrees_of_freedom"):
        if key in found:
            (found[key],) = _numbers([found[key]], key)
    if "replicate_scale" in found:
        given = found["replicate_scale"]
        found["replicate_scale"] = _numbers(given if isinstance(given, list) else [given], "replicate_scale")
    return SamplingColumns(**found)


def _numbers(values: Sequence[object], subject: str) -> tuple[float, ...]:
    # In Python bool is an int, and true would count as 1.
    if not all(isinstance(each, (int, float, Decimal)) and not isinstance(each, bool) for each in values):
        raise ParameterError(f"{subject}: must be a number, got {describe(values[0] if len(values) == 1 else values)}")
    return tuple(float(each) for each in values)  # type: ignore[arg-type]  # tested here


def quick_question(line: str) -> RandomizedColumn:
    """Read the short form ``[name=]column: design parameter=value ...``, in which commas separate the values of a list.

    >>> question = quick_question("affair=rrt_q1: forced-response truth=2/3 codes=no:2,yes:1 missing=9")
    >>> question.name, question.column, question.codes, question.missing
    ('affair', 'rrt_q1', {'2': 0, '1': 1}, ('', 'NA', 'NaN', '9'))

    The name may be the one with which a mechanism is printed:

    >>> quick_question("town: subset of 2 k=11 epsilon=1.5") == quick_question("town: subset w=2 k=11 epsilon=1.5")
    True
    """
    where, colon, rest = line.partition(":")
    for shown, parameters in _SHOWN.items():
        rest = re.sub(shown, parameters, rest)
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
        if key in written:
            raise ParameterError(f"question {written['column']!r}: must say each parameter once, got {key} again")
        written[key] = _value(key, value)
    # In the short form these are added to the usual codes; in a file, whose author sees the list, they replace them.
    for key in ("missing", "group_missing"):
        if key in written:
            written[key] = [*MISSING, *written[key]]
    return _question(written, "question")


def _value(key: str, value: str) -> Any:
    if key == "codes":
        pairs = [pair.partition(":") for pair in value.split(",")]
        if not all(colon for _, colon, _ in pairs):
            raise ParameterError(f"codes: must be like no:2,yes:1, got {value!r:.80}")
        codes: dict[str, str] = {}
        for response, _, code in pairs:
            if response in codes:
                raise ParameterError(f"codes: must name each response once, got {response!r:.80} again")
            codes[response] = code
        return codes
    if key in _PROBABILITIES and key not in _PAIRS and number_hint(value):
        return value  # a decimal comma: split into a list, it would not get the message that explains it
    if key in _LISTS or "," in value:
        return value.split(",")
    return int(value) if _INTEGER.fullmatch(value) else value


def _question(written: Mapping[str, Any], fallback: str) -> RandomizedColumn:
    if "column" not in written or "design" not in written:
        raise ParameterError(f"{fallback}: must have the keys column and design")
    column = _text(written["column"], f"{fallback}: column")
    name = _text(written.get("name", column), f"{fallback}: name")
    where = f"question {name!r}"
    options = texts(written["options"], f"{where}: options") if "options" in written else None
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
            texts(written.get("missing", MISSING), "missing"),
            _text(written["group"], "group") if "group" in written else None,
            texts(written.get("groups", ("1", "2")), "groups"),
            group_missing=texts(written.get("group_missing", MISSING), "group_missing"),
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
            # An integer would be a published weight out of 2**32; 70 is more likely meant as a percentage.
            raise ParameterError(f'{key}: must be a probability such as "2/3" or 0.7, no percentage, got {given}')
    taken = []
    for make in DESIGNS[kind]:
        signature = inspect.signature(make)
        taken.append(_ways(signature))
        try:
            # The names of parameters select the function, which then checks their values.
            signature.bind(**parameters)
        except TypeError:
            continue
        return design_of(make(**parameters))
    ways = ", or ".join(dict.fromkeys(taken))
    raise ParameterError(f"design {kind}: must have {ways}; got {', '.join(parameters) or 'no parameters'}")


def _ways(signature: inspect.Signature) -> str:
    """The parameters of a design, in words."""
    own = [each for each in signature.parameters.values() if each.name not in ("responses", "truths", "name")]
    needed = [each.name for each in own if each.default is each.empty]
    optional = [each.name for each in own if each.default is not each.empty]
    return " and ".join(needed) + (f" (optional: {', '.join(optional)})" if optional else "")


def _codes(written: object, design: Design) -> dict[str, int | str] | None:
    """The report of each code in a file, from the codes of each response that a researcher gives."""
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
            text = _text(code, f"codes of {response}")
            if codes.setdefault(text, report) != report:
                raise ParameterError(f"codes: must be different for different responses, got {text!r:.80} again")
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


def texts(value: object, subject: str) -> tuple[str, ...]:
    """A list of texts, with whole numbers turned into texts; messages begin with ``subject``."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ParameterError(f'{subject}: must be a list like ["a", "b"], got {describe(value)}')
    if not all(isinstance(each, (str, int)) and not isinstance(each, bool) for each in value):
        raise ParameterError(f"{subject}: must all be texts")
    return tuple(map(str, value))

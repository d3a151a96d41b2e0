"""XLSForm, the spreadsheets of ODK, KoBo, SurveyCTO and Ona, read by `pyxform`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from deniable.errors import NotInstalled, SurveyError
from deniable.survey.question_types import MAX_LEVELS
from deniable.survey.texts import DEFAULT
from deniable_server.authors.importing.imported_questions import (
    Asked,
    Form,
    LeftOut,
    NotTaken,
    Spoken,
    holds_an_answer,
    joined,
    plain,
    stacked,
    too_long,
    yes_and_no,
)
from deniable_server.authors.importing.languages import in_one_default, tag_of
from deniable_server.authors.importing.workbooks import mended

REASONS = {
    "note": "a text without a question",
    "string": "free text has no list of answers into which chance could be mixed",
    "hidden": "nobody is asked it",
    "text": "free text has no list of answers into which chance could be mixed",
    "decimal": "numbers with a fraction are not asked; ask a whole number in a smaller unit",
    "rank": "an order of options is no answer of a question type",
    "acknowledge": "a confirmation is no answer of a question type",
    "calculate": "what is computed from answers would be another answer; compute it from results",
    "repeat": "how often a group repeats would tell, so nothing in it is asked",
}
"""Why questions of a type are left out."""

_FILES = ("photo", "image", "audio", "video", "file", "background-audio", "osm")
_PLACES = ("geopoint", "geotrace", "geoshape", "start-geopoint")
_TIMES = ("date", "time", "dateTime")
_ABOUT_THE_DEVICE = (
    *("start", "end", "today", "deviceid", "device id", "phonenumber", "phone number", "username", "email", "audit"),
    *("simserial", "sim serial", "subscriberid", "subscriber id", "uri:deviceid", "uri:username"),
)


def read(path: Path) -> Form:
    """The questions of an XLSForm.

    Raises
    ------
    NotInstalled
        If pyxform is not there.
    SurveyError
        If the file is no XLSForm, in pyxform's words.
    """
    try:
        from pyxform.errors import PyXFormError
        from pyxform.xls2json import workbook_to_json
        from pyxform.xls2json_backends import get_xlsform
    except ModuleNotFoundError:
        raise NotInstalled("pyxform") from None
    try:
        with warnings.catch_warnings(action="ignore"):  # of openpyxl, about headers and styles of the spreadsheet
            book = get_xlsform(str(path))
            renamed = mended(book)
            form = workbook_to_json(book, fallback_form_name=path.stem, warnings=[])
    except PyXFormError as error:
        raise SurveyError(
            f"{path.name}: is no XLSForm that pyxform reads: {' '.join(str(error).split())[:300]}"
        ) from None
    except Exception as error:  # pyxform has no error of its own for files that are damaged
        raise SurveyError(f"{path.name}: is no XLSForm that pyxform reads ({type(error).__name__})") from None
    return _Reader(str(form.get("default_language") or DEFAULT), renamed).form(form, path)


class _Reader:
    """Reads one form, and writes down what it leaves out."""

    def __init__(self, language: str, renamed: list[LeftOut]) -> None:
        self.default = language
        """The language of the default texts, as the columns of the form call it."""
        self.left = list(renamed)
        self.languages: dict[str, None] = {}

    def form(self, form: Mapping[str, Any], path: Path) -> Form:
        if self.default == DEFAULT:
            self.default = next(_languages(form.get("children", [])), DEFAULT)
        questions = tuple(self._questions(form.get("children", []), "", {}))
        unknown = sorted(each for each in self.languages if tag_of(each) is None and each != self.default)
        self.left += [
            LeftOut(each, "a language without a tag such as (fr) behind its name; texts in it are not taken over")
            for each in unknown
        ]
        title = plain(form.get("title") or path.stem) or path.stem
        return Form({DEFAULT: title[:200]}, {}, questions, tuple(self.left), tag_of(self.default))

    def _questions(self, children: Any, condition: str, heading: Spoken) -> Iterator[Asked]:
        """The questions of a group; its heading stands before the first of them that is taken over."""
        for child in children:
            kind, name = str(child.get("type", "")), str(child.get("name", ""))
            own = joined(condition, (child.get("bind") or {}).get("relevant", ""))
            if name == "meta" or kind in _ABOUT_THE_DEVICE:
                if name != "meta":
                    self._leave(name, "what a device or its clock says of a person is not asked")
            elif kind == "group":
                inner = self._spoken(child.get("label"))
                for within in self._questions(child.get("children", []), own, inner):
                    yield replace(within, before=stacked(heading, within.before))
                    heading = {}
            elif (asked := self._question(child, kind, name, own)) is not None:
                yield replace(asked, before=heading)
                heading = {}

    def _question(self, child: Mapping[str, Any], kind: str, name: str, condition: str) -> Asked | None:
        """The question, or None for one that is left out."""
        text, hint = self._spoken(child.get("label")), self._spoken(child.get("hint"))
        try:
            return self._of_kind(child, kind, Asked(name, "", text, hint, condition=condition))
        except NotTaken as why:
            self._leave(name, str(why))
            return None

    def _of_kind(self, child: Mapping[str, Any], kind: str, base: Asked) -> Asked:
        if (reason := _reason(kind)) is not None:
            raise NotTaken(reason)
        if not base.text:
            raise NotTaken("it has no label to ask")
        if holds_an_answer(base.text):
            raise NotTaken("its text holds an earlier answer, which would have to leave the device")
        if kind.startswith("select"):
            asked = self._select(child, kind, base)
        elif kind == "range":
            asked = _range(child.get("parameters") or {}, base)
        else:
            asked = _number((child.get("bind") or {}).get("constraint", ""), base)
        if (long := too_long(asked)) is not None:
            raise NotTaken(long)
        return asked

    def _select(self, child: Mapping[str, Any], kind: str, base: Asked) -> Asked:
        choices = child.get("choices")
        if not choices:
            raise NotTaken("its options come from a file or an earlier answer")
        if child.get("choice_filter"):
            raise NotTaken("an earlier answer chooses among its options (choice_filter)")
        options = tuple((str(each.get("name", "")), self._spoken(each.get("label"))) for each in choices)
        if not all(text for _, text in options):
            raise NotTaken("an option has no text")
        is_several = kind.startswith("select all")
        yes_no = None if is_several else yes_and_no(options)
        if yes_no is not None:
            return replace(base, kind="yes-no", options=yes_no)
        return replace(base, kind="ticks" if is_several else "choice", options=options)

    def _spoken(self, label: Any) -> Spoken:
        """A label in its languages; empty without a text."""
        if not isinstance(label, dict):
            return {DEFAULT: plain(label)} if label and plain(label) else {}
        texts = {language: plain(text) for language, text in label.items() if text and plain(text)}
        self.languages |= dict.fromkeys(texts)
        tagged = {tag: text for language, text in texts.items() if (tag := tag_of(language))}
        default = {DEFAULT: texts[self.default]} if self.default in texts else {}
        # A text in no language that has a tag is a text all the same.
        return in_one_default({**default, **tagged} or dict(list(texts.items())[:1]), tag_of(self.default))

    def _leave(self, name: str, why: str) -> None:
        self.left.append(LeftOut(name, why))


def _reason(kind: str) -> str | None:
    """Why questions of a type are left out; None for those that can be taken over."""
    if kind in _FILES:
        return "pictures, sounds and files have no list of answers"
    if kind in _PLACES:
        return "a place on a map tells who somebody is; ask for a region as a choice"
    if kind in _TIMES:
        return "days and times have no list of answers; ask for ranges as a choice"
    if kind in ("integer", "range") or kind.startswith("select"):
        return None
    return REASONS.get(kind, f"the type {kind!r} has no counterpart")


def _range(given: Mapping[str, Any], base: Asked) -> Asked:
    try:
        lo, hi, step = (int(str(given.get(key, 1))) for key in ("start", "end", "step"))
    except ValueError:
        raise NotTaken(REASONS["decimal"]) from None
    if step != 1 or hi <= lo:
        raise NotTaken("its steps are not whole numbers one apart")
    return replace(base, kind="scale" if hi - lo < MAX_LEVELS else "number", keys={"lo": lo, "hi": hi})


def _number(constraint: str, base: Asked) -> Asked:
    bounds = _bounds(constraint)
    if bounds is None:
        raise NotTaken("a number needs its lowest and its highest answer, as in the constraint . >= 0 and . <= 40")
    return replace(base, kind="number", keys={"lo": bounds[0], "hi": bounds[1]})


_BOUND = re.compile(r"\.\s*(>=|<=|>|<)\s*(-?\d+)(?![\d.])|(-?\d+)\s*(<=|<|>=|>)\s*\.(?!\d)")


def _bounds(constraint: str) -> tuple[int, int] | None:
    """The lowest and the highest whole number that a constraint allows; None unless it says both and nothing else.

    >>> _bounds(". >= 0 and . < 120"), _bounds("(.>0) and (.<=7)"), _bounds(". > ${age}")
    ((0, 119), (1, 7), None)
    """
    if re.sub(r"\s|and|\(|\)", "", _BOUND.sub("", constraint)):
        return None
    lo: list[int] = []
    hi: list[int] = []
    for sign, number, other, turned in _BOUND.findall(constraint):
        # 0 <= . is . >= 0
        verb = sign or turned.translate(str.maketrans("<>", "><"))
        value = int(number or other) + {">": 1, "<": -1}.get(verb, 0)
        (lo if verb[0] == ">" else hi).append(value)
    return (max(lo), min(hi)) if lo and hi and max(lo) < min(hi) else None


def _languages(children: Any) -> Iterator[str]:
    """The names of languages in the order of their columns, as the first texts have them."""
    for child in children:
        for key in ("label", "hint"):
            if isinstance(child.get(key), dict):
                yield from child[key]
        yield from _languages(child.get("children") or [])

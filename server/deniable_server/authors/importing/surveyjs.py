"""Surveys of SurveyJS, as its Creator writes them in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from deniable.errors import SurveyError
from deniable.survey.question_types import MAX_LEVELS, QUESTION_TYPES
from deniable.survey.texts import DEFAULT
from deniable_server.authors.importing.imported_questions import (
    Asked,
    Form,
    LeftOut,
    Spoken,
    holds_an_answer,
    joined,
    plain,
    stacked,
    too_long,
    yes_and_no,
)
from deniable_server.authors.importing.languages import in_language, tag_of, texts_of

REASONS = {
    "text": "free text has no list of answers into which chance could be mixed; of a number, min and max are needed",
    "comment": "free text has no list of answers into which chance could be mixed",
    "multipletext": "free text has no list of answers into which chance could be mixed",
    "html": "a text without a question",
    "image": "a picture without a question",
    "expression": "what is computed from answers would be another answer; compute it from results",
    "ranking": "an order of options is no answer of a question type",
    "imagemap": "options that are places in a picture; write them as texts",
    "file": "pictures, sounds and files have no list of answers",
    "signaturepad": "a signature tells who somebody is",
    "matrixdropdown": "a table of several questions a row; ask them one by one",
    "matrixdynamic": "how often a row repeats would tell, so nothing in it is asked",
    "paneldynamic": "how often a panel repeats would tell, so nothing in it is asked",
}
"""Why questions of a type are left out."""

TIMES = ("date", "datetime-local", "month", "time", "week")
"""Kinds of input whose answers are days or times."""

CHOICES = ("radiogroup", "dropdown", "checkbox", "tagbox", "buttongroup")
SEVERAL = ("checkbox", "tagbox")
ITEMS = {
    "showOtherItem": ("other", "otherText", "Other"),
    "hasOther": ("other", "otherText", "Other"),
    "showNoneItem": ("none", "noneText", "None"),
    "hasNone": ("none", "noneText", "None"),
    "showDontKnowItem": ("dontknow", "dontKnowText", "Don't know"),
    "showRefuseItem": ("refused", "refuseText", "Refuse to answer"),
}
"""Options that a key adds: their value, the key of their text, and that text without it."""
OWN_KEYS = {"refused": "decline"}
"""What a survey file calls some of them; the others have their own names there, or none."""


def read(path: Path) -> Form:
    """The questions of a survey of SurveyJS.

    Raises
    ------
    SurveyError
        If the file is not JSON, or no survey.
    """
    try:
        survey = json.loads(path.read_text(encoding="utf-8-sig"))
        if not isinstance(survey, dict) or not {"pages", "elements", "questions"} & survey.keys():
            raise SurveyError(f"{path.name}: must be a survey of SurveyJS, with pages or elements")
        return _Reader().form(survey, path)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise SurveyError(f"{path.name}: must be JSON, as SurveyJS writes it") from None


class _Reader:
    """Reads one survey, and writes down what it leaves out."""

    def __init__(self) -> None:
        self.left: list[LeftOut] = []
        self.names: set[str] = set()

    def form(self, survey: Mapping[str, Any], path: Path) -> Form:
        pages = [*_dicts(survey.get("pages")), {key: survey[key] for key in ("elements", "questions") if key in survey}]
        questions = tuple(asked for page in pages for asked in self._inside(page, ""))
        title = _spoken(survey.get("title")) or {DEFAULT: path.stem}
        about = _spoken(survey.get("description"))
        form = Form({key: text[:200] for key, text in title.items()}, about, questions, ())
        keys = {key for text in texts_of(form) for key in text if key != DEFAULT and tag_of(key) is None}
        self.left += [LeftOut(each, "no tag of a language; texts in it are not taken over") for each in sorted(keys)]
        return replace(_in_its_language(form, str(survey.get("locale") or "")), left_out=tuple(self.left))

    def _inside(self, holder: Mapping[str, Any], condition: str) -> Iterator[Asked]:
        """The questions of a page or a panel; its title stands before the first of them that is taken over."""
        own = joined(condition, holder.get("visibleIf"))
        heading = stacked(_spoken(holder.get("title")), _spoken(holder.get("description")))
        for each in (*_dicts(holder.get("elements")), *_dicts(holder.get("questions"))):
            kind, name = str(each.get("type", "")), str(each.get("name", ""))
            if kind in ("panel", "flowpanel"):
                found = self._inside(each, own)
            else:
                found = self._fitting(self._questions(each, kind, name, joined(own, each.get("visibleIf"))))
            for asked in found:
                yield replace(asked, before=stacked(heading, asked.before))
                heading = {}

    def _fitting(self, questions: Iterator[Asked]) -> Iterator[Asked]:
        for asked in questions:
            if asked.name in self.names:
                self._leave(asked.name, "another question of this name, with which it shares its answer, is before it")
            elif (why := too_long(asked)) is not None:
                self._leave(asked.name, why)
            else:
                self.names.add(asked.name)
                yield asked

    def _questions(self, each: Mapping[str, Any], kind: str, name: str, condition: str) -> Iterator[Asked]:
        text = _spoken(each.get("title")) or {DEFAULT: plain(name)}
        if kind not in REASONS and holds_an_answer(text):
            self._leave(name, "its text holds an earlier answer, which would have to leave the device")
            return
        base = Asked(name, "", text, _spoken(each.get("description")), condition=condition)
        if kind in CHOICES:
            yield from self._choice(each, kind, base)
        elif kind == "imagepicker":
            self._leave(f"{name}: pictures", "the pictures of its options; their texts, or else values, are taken over")
            yield from self._choice(each, "checkbox" if each.get("multiSelect") else "radiogroup", base)
        elif kind == "boolean":
            yield _boolean(each, base)
        elif kind in ("rating", "slider"):
            yield from self._scale(each, kind, base)
        elif kind == "text" and each.get("inputType") in ("number", "range"):
            yield from self._number(each, base)
        elif kind == "matrix":
            yield from self._matrix(each, base)
        elif kind == "text" and each.get("inputType") in TIMES:
            self._leave(name, "days and times have no list of answers; ask for ranges as a choice")
        else:
            self._leave(name, REASONS.get(kind, f"the type {kind!r} has no counterpart"))

    def _choice(self, each: Mapping[str, Any], kind: str, base: Asked) -> Iterator[Asked]:
        if each.get("choicesByUrl") or each.get("choicesFromQuestion"):
            self._leave(base.name, "its options come from a file or an earlier answer")
            return
        added = dict(self._added(each, kind, base.name))
        options = [*_options(each.get("choices")), *added.values()]
        if len(options) < 2:
            self._leave(base.name, "it needs two options at least")
            return
        if any(one.get("visibleIf") for one in _dicts(each.get("choices"))):
            self._leave(base.name, "an earlier answer chooses among its options")
            return
        apart = {key: code for key, (code, _) in added.items() if key in _apart(kind)}
        plain_ones = [one for one in options if one[0] not in apart.values()]
        yes_no = None if kind in SEVERAL or "other" in apart else yes_and_no(plain_ones)
        if yes_no:
            rest = [one for one in options if one[0] in apart.values()]
            yield replace(base, kind="yes-no", options=(*yes_no, *rest), apart=apart)
        else:
            yield replace(base, kind="ticks" if kind in SEVERAL else "choice", options=tuple(options), apart=apart)

    def _added(self, each: Mapping[str, Any], kind: str, name: str) -> Iterator[tuple[str, tuple[str, Spoken]]]:
        """The options that keys of the question add, by the key that a survey file has for them."""
        for key, (value, label, text) in ITEMS.items():
            if not each.get(key):
                continue
            own = OWN_KEYS.get(value, value)
            if kind in SEVERAL and own not in _apart(kind):
                self._leave(f"{name}: {text}", "an option that excludes the others; prefer not to say (decline) is one")
                continue
            if value == "other":
                self._leave(f"{name}: {text}", "what people write beside it; the option itself is taken over")
            yield own, (value, _spoken(each.get(label)) or {DEFAULT: text})

    def _scale(self, each: Mapping[str, Any], kind: str, base: Asked) -> Iterator[Asked]:
        if kind == "slider" and each.get("sliderType") == "range":
            self._leave(base.name, "two ends of a range are two answers")
            return
        values = _options(each.get("rateValues"))
        if values and any(not _is_whole(code) for code, _ in values):
            yield replace(base, kind="choice", options=tuple(values))
            return
        lo, hi = _ends(each, values, kind)
        step = each.get("rateStep") or each.get("step") or 1
        if step != 1 or not isinstance(lo, int) or not isinstance(hi, int) or hi <= lo:
            self._leave(base.name, "its steps are not whole numbers one apart")
            return
        ends = tuple(_spoken(each.get(key)) for key in ("minRateDescription", "maxRateDescription"))
        ends = ends if all(ends) else ()
        yield replace(base, kind="scale" if hi - lo < MAX_LEVELS else "number", keys={"lo": lo, "hi": hi}, ends=ends)

    def _number(self, each: Mapping[str, Any], base: Asked) -> Iterator[Asked]:
        lo, hi = each.get("min"), each.get("max")
        for validator in _dicts(each.get("validators")):
            if validator.get("type") == "numeric":
                lo = validator.get("minValue") if lo is None else lo
                hi = validator.get("maxValue") if hi is None else hi
        if not (_is_whole(lo) and _is_whole(hi)) or int(str(lo)) >= int(str(hi)):
            self._leave(base.name, "a number needs its lowest and its highest answer: min and max, whole numbers")
            return
        yield replace(base, kind="number", keys={"lo": int(str(lo)), "hi": int(str(hi))})

    def _matrix(self, each: Mapping[str, Any], base: Asked) -> Iterator[Asked]:
        """A table of rows by columns: a question for each row."""
        rows, columns = _options(each.get("rows")), _options(each.get("columns"))
        if each.get("cellType") == "checkbox" or not rows or len(columns) < 2:
            self._leave(base.name, "a table without rows, or with several answers a row")
            return
        for code, row in rows:
            languages = {*base.text, *row}
            text = {key: f"{_in(base.text, key)}: {_in(row, key)}" for key in languages}
            options = yes_and_no(columns) or tuple(columns)
            one = Asked(f"{base.name}.{code}", "", text, base.help, condition=base.condition)
            yield replace(one, kind="yes-no" if yes_and_no(columns) else "choice", options=options)

    def _leave(self, name: str, why: str) -> None:
        self.left.append(LeftOut(name, why))


def _apart(kind: str) -> tuple[str, ...]:
    """The keys of options that stand apart, which questions of a kind may have."""
    return QUESTION_TYPES["ticks" if kind in SEVERAL else "choice"].last


def _boolean(each: Mapping[str, Any], base: Asked) -> Asked:
    no, yes = _spoken(each.get("labelFalse")), _spoken(each.get("labelTrue"))
    if (label := _spoken(each.get("label"))) and not each.get("title"):
        base = replace(base, text=label)
    codes = [str(each.get(key, value)) for key, value in (("valueFalse", "no"), ("valueTrue", "yes"))]
    options = ((codes[0], no or {DEFAULT: "No"}), (codes[1], yes or {DEFAULT: "Yes"}))
    said = [text[DEFAULT].lower() for _, text in options]
    return replace(base, kind="yes-no" if said == ["no", "yes"] else "choice", options=options)


def _ends(each: Mapping[str, Any], values: Sequence[tuple[str, Spoken]], kind: str) -> tuple[Any, Any]:
    if values:
        numbers = [int(code) for code, _ in values]
        # A gap between levels would make another answer possible.
        return (min(numbers), max(numbers)) if len(numbers) == max(numbers) - min(numbers) + 1 else (None, None)
    if kind == "slider":
        return each.get("min", 0), each.get("max", 100)
    lo, count = each.get("rateMin", 1), each.get("rateCount")
    return lo, each.get("rateMax", lo + count - 1 if type(lo) is type(count) is int else 5)


def _options(given: Any) -> list[tuple[str, Spoken]]:
    """Items of SurveyJS: texts, numbers, or objects with a value and a text."""
    found = []
    for each in given if isinstance(given, list) else []:
        value = each.get("value") if isinstance(each, dict) else each
        text = _spoken(each.get("text")) if isinstance(each, dict) else {}
        if isinstance(value, str) and "|" in value and not text:  # how SurveyJS wrote a value and its text before 1.0
            value, _, said_so = value.partition("|")
            text = _spoken(said_so)
        said = text or {DEFAULT: plain(value)}
        if value is not None and said[DEFAULT]:
            found.append((str(value), said))
    return found


def _spoken(given: Any) -> Spoken:
    """A text, or one by language whose first is `default`; empty without one."""
    if isinstance(given, dict):
        texts = {str(key): plain(text) for key, text in given.items() if isinstance(text, str) and plain(text)}
        if not texts:
            return {}
        default = texts.get(DEFAULT) or next(iter(texts.values()))
        return {DEFAULT: default, **{key: text for key, text in texts.items() if key != DEFAULT}}
    return {DEFAULT: plain(given)} if isinstance(given, str) and plain(given) else {}


def _in(text: Spoken, language: str) -> str:
    return text.get(language, text[DEFAULT])


def _is_whole(value: Any) -> bool:
    return str(value).lstrip("-").isdigit() and not isinstance(value, bool)


def _dicts(given: Any) -> list[dict[str, Any]]:
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def _in_its_language(form: Form, locale: str) -> Form:
    """The form with the texts in its locale as its default ones."""
    keys = {key for text in texts_of(form) for key in text} - {DEFAULT}
    tags = {tag_of(key) for key in keys}
    language, english = tag_of(locale), None if "en" in tags or not keys else "en"
    if language in tags:
        return in_language(form, language, unnamed=english)
    # Texts without a key are in the language of the survey, or in English, which is SurveyJS's own default.
    return in_language(form, language or english, unnamed=language or english)

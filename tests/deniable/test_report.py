"""Reports: what fits a survey, and what bounces with a sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable import Report, ReportError, Survey, parse_report, read_survey
from deniable_client import randomize
from tools.rig.surveys import FIVE_TYPES, person

GOOD: dict[str, Any] = {"id": "0123456789abcdef" * 2, "cohort": "web", "values": {"affair": 1, "religious": 3}}


def encode(**changes: Any) -> bytes:
    return json.dumps(GOOD | changes).encode()


def test_report_reads_back(survey: Survey) -> None:
    report = parse_report(encode(), survey)
    assert report == Report("0123456789abcdef" * 2, "web", {"affair": 1, "religious": 3})
    assert parse_report(report.encode(), survey) == report


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"cohort": None},
        {"cohort": "radio"},
        {"cohort": "null"},
        {"cohort": ""},
        {"id": "0" * 31},
        {"values": {"affair": 2, "religious": 3}},
        {"values": {"affair": -1, "religious": 3}},
        {"values": {"affair": 0, "religious": 10**13}},
        {"values": {"affair": 0, "religious": 10**14}},
        {"values": {"affair": 0, "religious": 10**15}},
        {"values": {"affair": "0", "religious": 3}},
        {"values": {"affair": True, "religious": 3}},
        {"values": {"religious": 3, "affair": 1}},
    ],
)
def test_form_of_the_clients_is_read_like_any_other(survey: Survey, changes: dict[str, Any]) -> None:
    content = GOOD | changes
    usual, spaced = json.dumps(content, separators=(",", ":")).encode(), json.dumps(content).encode()
    assert survey.canonical_form.read(spaced) is None
    assert attempt(usual, survey) == attempt(spaced, survey)


@pytest.mark.slow
def test_clients_write_the_canonical_form() -> None:
    survey = replace(read_survey(FIVE_TYPES), cohorts=("a", "b"))
    for n in range(50):
        report = randomize(survey, person(n), (None, "a", "b")[n % 3])
        assert survey.canonical_form.read(report.encode()) == (report.id, report.cohort, report.values, None)
        assert parse_report(report.encode(), survey) == report


@pytest.mark.parametrize("number", [b"01", b"+1", b"1.0", b"1e0", b"-01", b"0x1", b" 1", b"\xc2\xb2", b"\xd9\xa1"])
def test_canonical_form_holds_no_number_that_json_does_not(survey: Survey, number: bytes) -> None:
    raw = Report("00" * 16, None, {"affair": 7, "religious": 1}).encode().replace(b"7", number)
    assert survey.canonical_form.read(raw) is None


USUAL, UNUSUAL = (replace(read_survey(FIVE_TYPES), cohorts=("web", "w\u00e9b", 'a"b')) for _ in range(2))
UNUSUAL.canonical_form.read = lambda _: None  # type: ignore[assignment]  # the short way is shut
SENT = [randomize(USUAL, person(n), (None, *USUAL.cohorts)[n % 4]) for n in range(40)]
COHORTS = ["null", '"web"', '"we\\u0062"', '"w\u00e9b"', '"radio"', '""', '"a\\"b"', '"a\nb"', "5", "[1]", '{"a":1}']
NUMBERS = [
    "0",
    "1",
    "3",
    "4",
    "-1",
    "-0",
    "00",
    "+1",
    "1.0",
    "1e0",
    "9" * 9,
    "9" * 14,
    "9" * 15,
    '"1"',
    "true",
    "\u0661",
]
BITS = ['"01010"', '"11111"', '"0101"', '""', '"0102"', '"\\u00301010"', "null"]
PIECES = ["", "", "", " ", "\n", "0", '"', "}", "\u00e9", "\\"]


@pytest.mark.fuzz
@settings(max_examples=500, derandomize=True, database=None, deadline=None)
@given(st.data())
def test_usual_reports_are_read_as_all_others(data: st.DataObject) -> None:
    """The same bytes are the same report either way, or the same sentence."""
    report = data.draw(st.sampled_from(SENT))
    raw = report.encode().decode()
    if data.draw(st.booleans()):
        question = data.draw(st.sampled_from(sorted(report.values)))
        value = f'"{question}":{data.draw(st.sampled_from([*NUMBERS, *BITS]))}'
        raw = raw.replace(f'"{question}":{json.dumps(report.values[question])}', value)
    if data.draw(st.booleans()):
        cohort = f'"cohort":{data.draw(st.sampled_from(COHORTS))}'
        raw = raw.replace(f'"cohort":{json.dumps(report.cohort)}', cohort)
    at = data.draw(st.integers(0, 150))
    raw = raw[:at] + data.draw(st.sampled_from(PIECES)) + raw[at:]
    assert attempt(raw.encode(), USUAL) == attempt(raw.encode(), UNUSUAL)


def attempt(raw: bytes, survey: Survey) -> Report | str:
    """The report, or why there is none."""
    try:
        return parse_report(raw, survey)
    except ReportError as error:
        return str(error)


def test_a_required_cohort_is_there(survey: Survey) -> None:
    strict = replace(survey, cohort_required=True)
    assert strict.id != survey.id
    assert parse_report(encode(cohort="web"), strict).cohort == "web"
    for raw in (encode(cohort=None), encode(cohort=None).replace(b":", b": ")):
        with pytest.raises(ReportError, match=r"cohort: must be one of the survey's cohorts \('paper', 'web'\)"):
            parse_report(raw, strict)
    with pytest.raises(ReportError, match="got nothing: the link is incomplete"):
        randomize(strict, person(1))


def test_cohort_may_be_null(survey: Survey) -> None:
    assert parse_report(encode(cohort=None), survey).cohort is None


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "report: must be JSON"),
        (encode()[:-5], "report: must be JSON"),
        (b"[" * 2000, "report: must not nest deeper"),
        (b'{"id":' * 2000, "report: must not nest deeper"),
        (b'"' + b'\\"' * 20_000, "report: must be JSON"),
        (encode().decode().encode("utf-16"), "report: must be UTF-8"),
        (b"\xff", "report: must be UTF-8, byte 0 is not"),
        (b"\xef\xbb\xbf" + encode(), "report: must be JSON"),
        (encode() + b"x", "report: must be JSON; Extra data"),
        (b"null", "report: must be an object, got null"),
        (b"[]", "report: must be an object, got a list"),
        (b"NaN", "report: numbers must be integers"),
        (encode().replace(b'"id"', b'"id": "x", "id"', 1), "report: must not hold the same key twice"),
        (encode().replace(b'"affair": 1', b'"affair": 0, "affair": 1'), "report: must not hold the same key twice"),
        (encode().replace(b": 3", b": 3.0"), "report: numbers must be integers"),
        (encode().replace(b": 3", b": 3e0"), "report: numbers must be integers"),
        (encode().replace(b": 3", b": " + b"3" * 4000), "at most 15 digits, got 4000"),
        (encode().replace(b": 3", b": " + b"3" * 5000), "at most 15 digits, got 5000"),
        (encode(id="short"), "id: must be 32 lower-case hexadecimal digits"),
        (encode(id="0123456789ABCDEF" * 2), "id: must be 32 lower-case hexadecimal digits"),
        (encode(id="0123456789abcdef" * 2 + "\n"), "id: must be 32 lower-case hexadecimal digits"),
        (encode(id=5), "id: must be 32 lower-case hexadecimal digits"),
        (encode(cohort="radio"), "cohort: must be null or one of the survey's cohorts"),
        (encode(cohort=["web"]), "cohort: must be null or one"),
        (encode(cohort=""), "cohort: must be null or one"),
        (encode(values=None), "values: must be an object, got null"),
        (encode(values=[1, 3]), "values: must be an object, got a list"),
        (encode(values={"affair": 1}), "values: must have the key 'religious'"),
        (encode(values={"affair": 1, "religious": 3, "age": 1}), "values: has the unknown key 'age'"),
        (encode(values={"affair": True, "religious": 3}), r'values\["affair"\]: .*\[0, 2\), got true'),
        (encode(values={"affair": 2, "religious": 3}), r'values\["affair"\]: .*\[0, 2\), got 2'),
        (encode(values={"affair": -1, "religious": 3}), r'values\["affair"\]: .*, got -1'),
        (encode(values={"affair": 1, "religious": 4}), r'values\["religious"\]: .*\[0, 4\), got 4'),
        (encode(values={"affair": "1", "religious": 3}), r'values\["affair"\]: .*, got a string'),
        (encode(values={"affair": None, "religious": 3}), r'values\["affair"\]: .*, got null'),
        (encode(values={"affair": [1], "religious": 3}), r'values\["affair"\]: .*, got a list'),
        (encode(time="12:00"), "report: has the unknown key 'time'"),
        (json.dumps({key: GOOD[key] for key in ("id", "values")}).encode(), "must have the key 'cohort'"),
        (b" " * 70_000 + encode(), "report: must be at most 65536 bytes"),
    ],
)
def test_what_does_not_fit_bounces(survey: Survey, raw: bytes, message: str) -> None:
    with pytest.raises(ReportError, match=message):
        parse_report(raw, survey)


def test_brackets_within_texts_are_no_nesting(survey: Survey) -> None:
    with pytest.raises(ReportError, match="cohort: must be null"):
        parse_report(encode(cohort="[" * 100), survey)


def test_messages_repeat_at_most_a_short_piece_of_what_came(survey: Survey) -> None:
    with pytest.raises(ReportError) as caught:
        parse_report(encode(**{"k" * 10_000: 1}), survey)
    assert len(str(caught.value)) < 200

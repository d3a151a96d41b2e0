"""Comparison of the numbers that a collector publishes with those that the library computes from the same tallies."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from deniable.report.report import Report
from deniable.survey.document import Survey
from deniable.wire import strict_json
from deniable_research.results.log import Fetch, NotVerified, served
from deniable_statistics.estimates.tally import Tally
from deniable_statistics.published.csv_cells import csv_lines
from deniable_statistics.published.published_rows import estimate
from deniable_statistics.release.record import ReleaseRecord
from deniable_statistics.views.view_row import ViewOptions, refusal_to_cross, share_view
from deniable_statistics.views.view_rows import MOST_DIFFERENCES, view_of

MOST_CROSSED = 3
"""Largest number of questions with which each is crossed, so that a survey of 100 questions is verified in minutes."""

CLOSE = 1e-9
"""Largest difference of two numbers that are the same: other versions of numpy round the last digits so."""

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Shown:
    """What a collector shows, as far as it was checked: the tallies that all numbers must follow from.

    Attributes
    ----------
    survey : Survey
    tallies : mapping of cohort to Tally
        Of the newest release, or of the rows where results are live.
    records : sequence of ReleaseRecord
    reports : sequence of Report or None
        None where the survey keeps no rows.
    """

    survey: Survey
    tallies: Mapping[str | None, Tally]
    records: Sequence[ReleaseRecord]
    reports: Sequence[Report] | None

    @property
    def n(self) -> int:
        """Number of replies."""
        return sum(tally.n for tally in self.tallies.values())

    @property
    def newest(self) -> ReleaseRecord | None:
        """The newest release, whose numbers these are; None before the first one."""
        return self.records[-1] if self.records else None


def compared_numbers(fetch: Fetch, shown: Shown) -> Iterator[int]:
    """How many numbers of each document were compared, document by document.

    Raises
    ------
    NotVerified
        At the first number that is not what the library computes.
    """
    survey, newest = shown.survey, shown.newest
    for by_cohort in (False, True) if survey.cohorts else (False,):
        query = "?by=cohort" if by_cohort else ""
        rows = estimate(shown.tallies, survey, by_cohort=by_cohort)
        api = f"/api/v1/surveys/{survey.id}/estimates"
        document = _document(fetch, f"{api}.json{query}", survey, shown.n)
        _check_day(f"{api}.json{query}", document, newest)
        expected = [asdict(row) for row in rows]
        yield _compared(f"{api}.json{query}", _rows_of(f"{api}.json{query}", document, "estimates"), expected)
        yield _compared_table(fetch, f"{api}.csv{query}", expected)
    if shown.n:
        yield from _views(fetch, shown)
    for record in shown.records[:-1]:
        yield _earlier(fetch, survey, record)


def _views(fetch: Fetch, shown: Shown) -> Iterator[int]:
    """The views of each question, and all questions as one table."""
    survey, newest = shown.survey, shown.newest
    yield _compared_table(fetch, f"/s/{survey.id}/results.csv", _shares(survey, shown.tallies))
    for question in survey.questions:
        for query, options in _queries(survey, question.id, shown.tallies):
            path = f"/s/{survey.id}/results/{question.id}.json{query}"
            joint: list[Any] = []
            if options.crossed_with is not None:
                if shown.reports is None:
                    continue
                pairs = Counter((each.values[question.id], each.values[options.crossed_with]) for each in shown.reports)
                # In the order of the collector, because sums of floats depend on it.
                joint = sorted(((*pair, n) for pair, n in pairs.items()), key=lambda each: tuple(map(str, each)))
            expected = [asdict(row) for row in view_of(survey, shown.tallies, question.id, options, joint)]
            if options.crossed_with is None:
                n = sum(int(question.counted(each.counts[question.id], each.n)[1]) for each in shown.tallies.values())
            else:
                n = sum(each[2] for each in joint if None not in each)
            document = _document(fetch, path, survey, n)
            _check_day(path, document, newest)
            _check(path, document, "replies", shown.n)
            _check(path, document, "release", None if newest is None else newest.number)
            yield _compared(path, _rows_of(path, document, "rows"), expected)


def _earlier(fetch: Fetch, survey: Survey, record: ReleaseRecord) -> int:
    """The shares of all questions in an earlier release, which stay at their address."""
    path = f"/s/{survey.id}/results.json?release={record.number}"
    document = _document(fetch, path, survey, record.n)
    _check(path, document, "replies", record.n)
    _check(path, document, "release", record.number)
    _check_day(path, document, record)
    return _compared(path, _rows_of(path, document, "rows"), _shares(survey, record.tallies))


def _shares(survey: Survey, tallies: Mapping[str | None, Tally]) -> list[dict[str, Any]]:
    """The rows of all questions for everybody, in the order of the survey."""
    return [asdict(share_view(survey.question(row.question), row)) for row in estimate(tallies, survey)]


def _queries(
    survey: Survey, question_id: str, tallies: Mapping[str | None, Tally]
) -> Iterator[tuple[str, ViewOptions]]:
    """The views of a question that are checked: for everybody, by cohort, compared, and crossed with some others."""
    question = survey.question(question_id)
    yield "", ViewOptions()
    known = [cohort for cohort in survey.cohorts if cohort in tallies]
    if survey.cohorts:
        yield "?by=cohort", ViewOptions(by_cohort=True)
        if math.comb(len(known), 2) * question.rows <= MOST_DIFFERENCES:
            yield "?compare=cohort", ViewOptions(compare=True)
    others = (other for other in survey.questions if refusal_to_cross(question, other) is None)
    for other in itertools.islice(others, MOST_CROSSED):
        yield f"?with={other.id}", ViewOptions(crossed_with=other.id)


def _document(fetch: Fetch, path: str, survey: Survey, n: int) -> Mapping[str, Any]:
    """A document of JSON, which says of which survey and of how many replies it is."""
    content = served(fetch, path, "numbers")
    try:
        document = json.loads(content, object_pairs_hook=strict_json.unique)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise NotVerified(f"numbers: {path} must be an object of JSON with each name once, got something else")
    _check(path, document, "survey", survey.id)
    _check(path, document, "n", n)
    return document


def _check(path: str, document: Mapping[str, Any], name: str, expected: str | int | None) -> None:
    if not _is_same(document.get(name), expected):
        raise NotVerified(f"numbers: {path}: {name} must be {expected}, got {document.get(name)!r:.40}")


def _check_day(path: str, document: Mapping[str, Any], record: ReleaseRecord | None) -> None:
    # Live results are of the day on which somebody asks.
    if record is not None and document.get("as_of") != record.released_on.isoformat():
        raise NotVerified(
            f"numbers: {path}: as_of must be {record.released_on}, the day of release {record.number}, "
            f"got {document.get('as_of')!r:.40}"
        )


def _rows_of(path: str, document: Mapping[str, Any], name: str) -> Rows:
    rows = document.get(name)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise NotVerified(f"numbers: {path} must hold {name}, got something else")
    return rows


def _compared_table(fetch: Fetch, path: str, expected: Rows) -> int:
    """How many numbers of a table of CSV were compared; columns after ours are notes on the survey."""
    if not expected:
        return 0  # nothing is said, and a header alone holds no number
    names = list(expected[0])
    # As a table is written, so that texts which spreadsheets would evaluate are compared as they stand there.
    ours = csv.reader(io.StringIO("".join(csv_lines(row.values() for row in expected)), newline=""))
    content = served(fetch, path, "numbers")
    try:
        header, *rows = csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True)
    except (ValueError, csv.Error):
        raise NotVerified(f"numbers: {path} must be CSV, got something else") from None
    if header[: len(names)] != names:
        raise NotVerified(f"numbers: {path} must begin with the columns {', '.join(names)}, got others")
    # Programs take the last column of a name, and with more fields than names the first one for names of rows.
    if len(set(header)) != len(header) or any(len(row) != len(header) for row in rows):
        raise NotVerified(f"numbers: {path} must have each column once, and as many fields in each row")
    published = [dict(zip(names, row, strict=False)) for row in rows]
    return _compared(path, published, [dict(zip(names, row, strict=True)) for row in ours])


def _compared(path: str, published: Rows, expected: Rows) -> int:
    if len(published) != len(expected):
        raise NotVerified(f"numbers: {path} must have {len(expected)} rows, got {len(published)}")
    compared = 0
    for row, ours in zip(published, expected, strict=True):
        for name, value in ours.items():
            if not _is_same(row.get(name), value):
                where = f"{ours['question']}, {ours['option'] or ours['statistic']}"
                raise NotVerified(f"numbers: {path}: {name} of {where} must be {value}, got {row.get(name)!r:.80}")
            compared += _number(value) is not None
    return compared


def _number(value: object) -> float | None:
    """A value as a number, as JSON or CSV write one; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _is_same(published: object, ours: object) -> bool:
    if published == ours and isinstance(published, bool) == isinstance(ours, bool):
        return True
    theirs, number = _number(published), _number(ours)
    if theirs is None or number is None or isinstance(published, str) != isinstance(ours, str):
        return False
    # Absolutely too, because a difference of shares may be 0 but for rounding.
    return math.isclose(theirs, number, rel_tol=CLOSE, abs_tol=CLOSE)

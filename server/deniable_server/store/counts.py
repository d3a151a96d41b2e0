"""Tallies of supports: counted from rows, and kept in tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from deniable import Survey, Tally
from deniable_server.store import calendar, checksum
from deniable_server.store.connection import Connection
from deniable_server.store.interface import utc_today
from deniable_server.store.tables import Row, pending_table

Counts = dict[str | None, Tally]
"""Tallies by cohort; None stands for reports without a cohort, as the empty text does in tables."""


def count(db: Connection, survey: Survey, table: str) -> Counts:
    """Count the rows of a table, or of a query in brackets.

    SQL groups equal values and only groups are looked at here, so that the lock which Python's threads share is free
    for requests most of the time.
    """
    groups = 'SELECT cohort, "{}", count(*) FROM {} AS counted GROUP BY 1, 2'
    return _of_groups(survey, (db.execute(groups.format(each.id, table)) for each in survey.questions))


def of_rows(survey: Survey, rows: Sequence[Row]) -> Counts:
    """Count rows that are in no table yet."""
    _, cohorts, *columns = zip(*rows, strict=True)
    equal = (Counter(zip(cohorts, column, strict=True)) for column in columns)
    return _of_groups(survey, ([(*pair, n) for pair, n in each.items()] for each in equal))


def _of_groups(survey: Survey, groups: Iterable[Iterable[tuple[Any, Any, int]]]) -> Counts:
    """Tallies, from the number of equal values of each question in each cohort."""
    sizes: Counter[str | None] = Counter()
    supports: dict[str | None, dict[str, list[int]]] = {}
    for question, equal in zip(survey.questions, groups, strict=True):
        for cohort, value, n in equal:
            if cohort not in supports:
                supports[cohort] = {each.id: [0] * each.reports.size for each in survey.questions}
            for option in question.reports.supports(value):
                supports[cohort][question.id][option] += n
            # Every report has a value, perhaps null, for each question, so one question counts them all.
            if question is survey.questions[0]:
                sizes[cohort] += n
    return {
        cohort: Tally(sizes[cohort], {question: tuple(counts) for question, counts in counted.items()})
        for cohort, counted in supports.items()
    }


def stored(db: Connection, survey: Survey) -> Counts:
    """The tallies of folded reports."""
    supports = {(cohort, question, option): n for cohort, question, option, n in _tallies(db, survey)}
    return {
        cohort or None: Tally(
            n,
            {
                question.id: tuple(
                    supports.get((cohort, question.id, option), 0) for option in range(question.reports.size)
                )
                for question in survey.questions
            },
        )
        for cohort, n in _totals(db, survey)
    }


def folded(db: Connection, survey: Survey) -> int:
    """Number of reports in the tallies."""
    (n,) = db.execute("SELECT coalesce(sum(n), 0) FROM totals WHERE survey = ?", [survey.id]).fetchone()
    return int(n)  # PostgreSQL's sums are decimals


def waiting(db: Connection, survey: Survey) -> dict[str | None, int]:
    """Number of reports that wait for a fold, by cohort; None stands for reports without a cohort."""
    query = f"SELECT cohort, count(*) FROM {pending_table(survey)} GROUP BY cohort"
    return {cohort: int(n) for cohort, n in db.execute(query).fetchall()}


def shown_and_waiting(db: Connection, survey: Survey) -> tuple[int, int]:
    """Numbers of reports that results show and do not show yet, as the list of surveys has them."""
    in_tallies, pending = folded(db, survey), sum(waiting(db, survey).values())
    if survey.results == "live":
        return in_tallies + pending, 0
    if survey.results == "closed":
        (closed_on,) = db.execute("SELECT closed_on FROM surveys WHERE id = ?", [survey.id]).fetchone()
        is_over = survey.takes_until is not None and calendar.believed(db, utc_today()) > survey.takes_until
        if pending or not (closed_on or is_over):
            return 0, in_tallies + pending
    return in_tallies, pending


def together(some: Counts, others: Counts) -> Counts:
    """The sum of two counts."""
    cohorts = dict.fromkeys([*some, *others])
    return {
        cohort: some[cohort] + others[cohort] if cohort in some and cohort in others else (some | others)[cohort]
        for cohort in cohorts
    }


def add(db: Connection, survey: Survey, counted: Counts) -> None:
    """Add counts to the stored tallies; the cost grows with the counts, not with the number of stored tallies."""

    def put(kind: str, into: str, columns: str, key: tuple[object, ...], more: int) -> int:
        values = ", ".join("?" * (len(key) + 2))
        on_conflict = f"ON CONFLICT ({columns}) DO UPDATE SET n = {into}.n + excluded.n RETURNING n"
        added = f"INSERT INTO {into} VALUES ({values}) {on_conflict}"
        (n,) = db.execute(added, [survey.id, *key, more]).fetchone()
        # RETURNING gives the sum after the upsert, so what was there before is n - more.
        before = [(*key, n - more)] if n > more else []  # without any there was no row
        return checksum.sum_of(survey, kind, [*before, (*key, n)])

    difference = 0
    for cohort, tally in counted.items():
        difference ^= put("total", "totals", "survey, cohort", (cohort or "",), tally.n)
        for question, counts in tally.counts.items():
            for option, n in enumerate(counts):
                if n:
                    # Options without new supports are not touched: the cost is that of what is added.
                    key = (cohort or "", question, option)
                    difference ^= put("tally", "tallies", "survey, cohort, question, option", key, n)
    checksum.change(db, survey, difference)


def checksum_of_tallies(db: Connection, survey: Survey) -> int:
    """The part of a survey's checksum that its rows of totals and tallies make up."""
    return checksum.sum_of(survey, "total", _totals(db, survey)) ^ checksum.sum_of(
        survey, "tally", _tallies(db, survey)
    )


def _totals(db: Connection, survey: Survey) -> list[tuple[str, int]]:
    return db.execute("SELECT cohort, n FROM totals WHERE survey = ?", [survey.id]).fetchall()


def _tallies(db: Connection, survey: Survey) -> list[tuple[str, str, int, int]]:
    rows = "SELECT cohort, question, option, n FROM tallies WHERE survey = ?"
    return db.execute(rows, [survey.id]).fetchall()

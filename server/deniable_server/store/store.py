"""The store as the collector uses it."""

from __future__ import annotations

import datetime
import functools
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from deniable import Report, Survey, Tally, parse_survey
from deniable_server.store import checksum, counts, fold, pending
from deniable_server.store.connection import connect, transaction, truncate_log
from deniable_server.store.errors import NotFound
from deniable_server.store.migrations import bring_up_to_date
from deniable_server.store.pending import Outcome
from deniable_server.store.tables import create_tables, pending_table, report_of, reports_table

DAYS_OF_DOUBT = 7
"""Days after its last one on which a survey's ids are still kept: a clock that is set back must find them."""

AT_A_TIME = 1000
"""Reports read in one go. Between two, whoever reads holds nothing up, however slow he is."""


@dataclass(frozen=True)
class SurveyState:
    """A survey and what became of it in this store."""

    survey: Survey
    published_on: str
    closed_on: str | None
    reports: int

    def not_open_because(self, today: datetime.date) -> str | None:
        """Why the survey takes no reports on that day, or None when it does."""
        if self.closed_on:
            return f"it was closed on {self.closed_on} (UTC)"
        return self.survey.not_open_because(today)


def utc_today() -> datetime.date:
    """The day by which surveys open and close."""
    return datetime.datetime.now(datetime.UTC).date()


class Store:
    """The collector's database.

    Used from many threads; each has its own connection. Reports are written by one thread only, the
    `deniable_server.writer`.

    Parameters
    ----------
    path : Path or str
        The SQLite file; made when missing, brought up to date when an older version wrote it.
    today : callable
        The day by which surveys open and close.

    Raises
    ------
    DeniableError
        If the file cannot be opened, is no database, or was written by a newer version.
    """

    def __init__(self, path: Path | str, today: Callable[[], datetime.date] = utc_today) -> None:
        self.path = Path(path)
        self.today = today
        self._threads = threading.local()
        self._parse = functools.lru_cache(maxsize=256)(parse_survey)
        self._arrived: Counter[str] = Counter()  # reports of a survey that were stored since the start
        self._settled: dict[str, int] = {}  # how many these had been when it was last settled
        self.let_wait = 0  # reports stored since the last settling that wait for a fold
        try:
            bring_up_to_date(self.db, self.path)
        except Exception:
            self.close()
            raise

    @property
    def db(self) -> Database:
        """This thread's connection."""
        if not hasattr(self._threads, "db"):
            self._threads.db = connect(self.path)
        db: Database = self._threads.db
        return db

    def close(self) -> None:
        """Close this thread's connection."""
        if hasattr(self._threads, "db"):
            self._threads.db.close()
            del self._threads.db

    def publish(self, survey: Survey) -> bool:
        """Keep a survey for ever; whether it is new."""
        today = self.today().isoformat()
        with self._transaction() as db:
            if db.execute("SELECT 1 FROM surveys WHERE id = ?", [survey.id]).fetchone():
                return False
            db.execute("INSERT INTO surveys VALUES (?, ?, ?, NULL)", [survey.id, survey.document, today])
            create_tables(db, survey)
            checksum.start(db, survey, checksum.digest(survey, "survey", [today, None]))
        return True

    def survey(self, survey_id: str) -> Survey:
        """The survey of that address."""
        survey: Survey
        (survey,) = self._only("SELECT id, document FROM surveys WHERE id = ?", survey_id)
        return survey

    def state(self, survey_id: str) -> SurveyState:
        """The survey of that address, whether it is closed, and how many reports it has."""
        with self._snapshot() as db:
            survey, published_on, closed_on = self._only(
                "SELECT id, document, published_on, closed_on FROM surveys WHERE id = ?", survey_id
            )
            return SurveyState(survey, published_on, closed_on, self._reports(db, survey))

    def states(self) -> list[SurveyState]:
        """Every survey here, in the order of publication."""
        with self._snapshot() as db:
            return [
                SurveyState(survey, published_on, closed_on, self._reports(db, survey))
                for survey, published_on, closed_on in self._surveys(
                    "SELECT id, document, published_on, closed_on FROM surveys ORDER BY published_on, id"
                )
            ]

    def close_survey(self, survey_id: str) -> SurveyState:
        """Take no more reports for a survey, from the next transaction on, and fold what it has."""
        survey = self.survey(survey_id)
        with self._transaction() as db:
            self._close(db, survey)
        self._settle(survey, closed=True, closed_for_good=True)
        truncate_log(self.db, self.path)
        return self.state(survey_id)

    def store_reports(self, submissions: Sequence[tuple[Survey, Sequence[Report]]]) -> list[list[Outcome]]:
        """Store reports in one durable transaction, and say of each what became of it.

        When this returns, what it calls stored is on disk. When it raises, nothing of the submissions is.

        Parameters
        ----------
        submissions : sequence of (Survey, sequence of Report)
            As they came.

        Returns
        -------
        list of list of Outcome
            For each submission one outcome a report.

        Raises
        ------
        StoreFull
            If the disk takes no more.
        """
        surveys: dict[str, Survey] = {}
        reports: dict[str, list[Report]] = {}
        for survey, some in submissions:
            surveys[survey.id] = survey
            reports.setdefault(survey.id, []).extend(some)
        with self._transaction() as db:
            outcomes = {key: iter(self._take(db, survey, reports[key])) for key, survey in surveys.items()}
        return [list(itertools.islice(outcomes[survey.id], len(some))) for survey, some in submissions]

    def settle(self) -> bool:
        """Fold what is due, sort what came, and empty the log; whether that could be done completely.

        Due is what waits in a survey of `fold.FOLD_AT` pending reports or more, or of a survey that closed. Each
        survey is a transaction of its own, so it can be interrupted anywhere and done again.
        """
        self.let_wait = 0
        today = self.today()
        for survey, closed_on in self._surveys("SELECT id, document, closed_on FROM surveys"):
            over = (today - survey.closes).days if survey.closes else 0
            self._settle(survey, closed=bool(closed_on) or over > 0, closed_for_good=bool(closed_on))
            if not closed_on and over > DAYS_OF_DOUBT and survey.retention == "tallies":
                self.close_survey(survey.id)  # its ids go, so no clock may open it again
        return truncate_log(self.db, self.path)

    def release_of(self, survey_id: str) -> int:
        """A number that changes exactly when what results may show of a survey does; -1 while they may show nothing.

        It is how many reports they show. It costs a look at the totals, however many reports there are.

        Raises
        ------
        NotFound
            If there is no such survey.
        """
        return self.state(survey_id).reports

    def tallies(self, survey: Survey) -> dict[str | None, Tally]:
        """Supports by cohort, from the tallies and the few pending rows: the cost does not grow with the reports."""
        with self._snapshot() as db:
            return counts.together(counts.stored(db, survey), counts.count(db, survey, pending_table(survey)))

    def reports(self, survey: Survey) -> Iterator[Report]:
        """Every stored report in the order of its random id; none of a survey that keeps only tallies.

        Reads a few at a time. What was stored when it began, and not less, comes out once, because a fold moves rows
        without changing their ids.
        """
        if survey.retention == "tallies":
            return
        query = " UNION ALL ".join(
            f"SELECT * FROM {table} WHERE id > :last" for table in (pending_table(survey), reports_table(survey))
        )
        last: object = ""
        while True:
            with self._snapshot() as db:
                rows = db.execute(f"{query} ORDER BY id LIMIT :most", {"last": last, "most": AT_A_TIME}).fetchall()
            for row in rows:
                yield report_of(survey, row)
            if len(rows) < AT_A_TIME:
                return
            last = rows[-1][0]

    def _take(self, db: Database, survey: Survey, reports: Sequence[Report]) -> list[Outcome]:
        if not reports:
            return []
        if not self._is_open(db, survey):
            return [Outcome.CLOSED] * len(reports)
        outcomes = pending.take(db, survey, reports)
        stored = outcomes.count(Outcome.STORED)
        self._arrived[survey.id] += stored
        if stored < fold.FOLD_AT:
            self.let_wait += stored
        return outcomes

    def _settle(self, survey: Survey, closed: bool, closed_for_good: bool) -> None:
        table = pending_table(survey)
        arrived, settled = self._arrived[survey.id], self._settled.get(survey.id)
        new = arrived - (settled or 0)
        with self._transaction() as db:
            (waiting,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
            if waiting >= fold.FOLD_AT or (closed and waiting):
                fold.fold(db, survey, new)
            elif waiting and arrived != settled:
                fold.sort_pending(db, survey)
            if fold.is_unsorted(db, survey) and (closed or fold.may_sort(db, survey, new)):
                fold.sort_reports(db, survey)
            if closed_for_good and survey.retention == "tallies":
                fold.forget_ids(db, survey)
        self._settled[survey.id] = arrived

    def _close(self, db: Database, survey: Survey) -> None:
        found = db.execute(
            "SELECT published_on FROM surveys WHERE id = ? AND closed_on IS NULL", [survey.id]
        ).fetchone()
        if found:
            today = self.today().isoformat()
            db.execute("UPDATE surveys SET closed_on = ? WHERE id = ?", [today, survey.id])
            before, after = (checksum.digest(survey, "survey", [found[0], day]) for day in (None, today))
            checksum.change(db, survey, before ^ after)

    def _is_open(self, db: Database, survey: Survey) -> bool:
        found = db.execute("SELECT closed_on FROM surveys WHERE id = ?", [survey.id]).fetchone()
        if not found:
            raise NotFound("survey: there is none at this address")
        return found[0] is None and survey.not_open_because(self.today()) is None

    def _reports(self, db: Database, survey: Survey) -> int:
        (waiting,) = db.execute(f"SELECT count(*) FROM {pending_table(survey)}").fetchone()
        return counts.folded(db, survey) + int(waiting)

    def _surveys(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        rows = self.db.execute(query, values).fetchall()
        return [(self._parse(document, survey_id), *others) for survey_id, document, *others in rows]

    def _only(self, query: str, survey_id: str) -> tuple[Any, ...]:
        for found in self._surveys(query, survey_id):
            return found
        raise NotFound("survey: there is none at this address")

    def _transaction(self) -> AbstractContextManager[Database]:
        return transaction(self.db, self.path)

    def _snapshot(self) -> AbstractContextManager[Database]:
        return transaction(self.db, self.path, "BEGIN")

"""The device's memory: one draw for each survey, kept as the report and never as the answer.

Eleven fresh draws at epsilon 1 would give a yes-no answer away 19 times out of 20. So a report is kept before it is
first sent, and a crash in between cannot cause a second draw. It is kept by survey alone: a second collector of the
same survey gets the same report, which tells two collectors together no more than one. The rules are those of
``client/deniable_web/memory.js``.
"""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deniable.ceiling import Ceiling
from deniable.errors import BudgetError, ReportError
from deniable.ledger import Ledger
from deniable.report import Report, parse_report
from deniable.survey import Survey
from deniable_client.folder import user_data_folder
from deniable_client.memory_file import MemoryFile

WINDOW_DAYS = 90
"""For so long a report counts in the ledger of the collector that it was drawn for."""

State = Literal["waiting", "sent", "refused"]

_RECALL = """
SELECT report, coalesce(state, 'waiting') FROM reports LEFT JOIN recipients
ON recipients.survey = reports.survey AND collector = ? WHERE reports.survey = ?
"""
_PENDING = """
SELECT survey, collector, report, state FROM recipients JOIN reports USING (survey)
WHERE state = 'waiting' AND collector = coalesce(?, collector) ORDER BY survey, collector
"""


@dataclass(frozen=True)
class Kept:
    """What a device keeps of one survey for one collector.

    Attributes
    ----------
    survey, collector : str
    report : bytes
        The very bytes that are sent.
    state : {"waiting", "sent", "refused"}
        Refused is what the collector will not take; it is kept all the same, so that nothing is drawn again.
    """

    survey: str
    collector: str
    report: bytes
    state: State


def utc_today() -> datetime.date:
    """The day by which surveys open and close, and by which the ledger counts."""
    return datetime.datetime.now(datetime.UTC).date()


class Memory:
    """The reports of one person on one device, and what each collector has learnt.

    Parameters
    ----------
    path : Path or str, optional
        An SQLite file, made with the first report; by default ``memory.db`` in `user_data_folder`.
    today : callable
        The day by which the ledger counts.

    Notes
    -----
    The file holds noisy reports, their surveys' epsilon, collectors and days, no answer and no time of day. Processes
    may share it: each draw happens within a transaction that locks the file, so 20 processes that answer at once make
    one report. Whoever clears it answers the next time anew.

    Examples
    --------
    >>> import tempfile
    >>> from deniable import Question, Survey, TwoCoin
    >>> from deniable_client import randomize
    >>> survey = Survey("T", (Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2")),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     memory = Memory(f"{folder}/memory.db")
    ...     draw = lambda: randomize(survey, {"q": "yes"})
    ...     reports = {memory.once(survey, "https://collector.example", draw).encode() for _ in range(100)}
    ...     len(reports), round(memory.ledger("https://collector.example").epsilon, 4)
    (1, 1.0986)
    """

    def __init__(self, path: Path | str | None = None, *, today: Callable[[], datetime.date] = utc_today) -> None:
        self.path = user_data_folder() / "memory.db" if path is None else Path(path)
        self.today = today
        self._file = MemoryFile(self.path)

    def once(
        self, survey: Survey, collector: str, draw: Callable[[], Report], ceiling: Ceiling | None = None
    ) -> Report:
        """The report of a survey: what is kept, or what ``draw`` makes, kept before this returns.

        Parameters
        ----------
        survey : Survey
        collector : str
            Whom the report is for; the survey is entered in its ledger.
        draw : callable
            Called once at most, and not if there is a report.
        ceiling : Ceiling, optional
            Its bound for a survey is also the bound for what one collector learns in 90 days.

        Raises
        ------
        BudgetError
            If the ledger has no room; nothing is drawn.
        UnusableMemory
            If the file cannot be read or written; nothing is drawn.
        """
        with self._file.transaction() as db:
            self._check(db, survey, collector, ceiling or Ceiling())
            report = self._report_of(db, survey)
            if report is None:
                report = draw()
                db.execute("INSERT INTO reports VALUES (?, ?, ?)", (survey.id, report.encode(), survey.epsilon))
            entry = (survey.id, collector, self.today().isoformat())
            db.execute("INSERT INTO recipients VALUES (?, ?, ?, 'waiting') ON CONFLICT DO NOTHING", entry)
        return report

    def check(self, survey: Survey, collector: str, ceiling: Ceiling | None = None) -> None:
        """Raise a BudgetError if the ledger of the collector has no room for the survey."""
        with self._file.reading() as db:
            if db:
                self._check(db, survey, collector, ceiling or Ceiling())

    def mark(self, survey: str, collector: str, state: State) -> None:
        """Note what became of a report; one that was sent stays so."""
        with self._file.transaction() as db:
            db.execute(
                "UPDATE recipients SET state = ? WHERE survey = ? AND collector = ? AND state != 'sent'",
                (state, survey, collector),
            )

    def recall(self, survey: str, collector: str) -> Kept | None:
        """What is kept of a survey; waiting for every collector that it was not sent to."""
        with self._file.reading() as db:
            row = db.execute(_RECALL, (collector, survey)).fetchone() if db else None
        return Kept(survey, collector, *row) if row else None

    def pending(self, collector: str | None = None) -> tuple[Kept, ...]:
        """The reports that wait, for one collector or for all."""
        with self._file.reading() as db:
            rows = db.execute(_PENDING, (collector,)).fetchall() if db else []
        return tuple(Kept(*row) for row in rows)

    def ledger(self, collector: str) -> Ledger:
        """What a collector was given within 90 days, by survey."""
        with self._file.reading() as db:
            return self._ledger(db, collector) if db else Ledger()

    def _ledger(self, db: sqlite3.Connection, collector: str) -> Ledger:
        ledger = Ledger()
        start = self.today() - datetime.timedelta(days=WINDOW_DAYS)
        for survey, epsilon in db.execute(
            "SELECT survey, epsilon FROM recipients JOIN reports USING (survey) WHERE collector = ? AND day > ?",
            (collector, start.isoformat()),
        ):
            ledger = ledger.add(survey, epsilon)
        return ledger

    def _check(self, db: sqlite3.Connection, survey: Survey, collector: str, ceiling: Ceiling) -> None:
        # The same bytes to the same collector tell it nothing more, however old they are.
        if db.execute("SELECT 1 FROM recipients WHERE survey = ? AND collector = ?", (survey.id, collector)).fetchone():
            return
        total = self._ledger(db, collector).add(survey.id, survey.epsilon).epsilon
        if total > ceiling.survey:
            raise BudgetError(
                f"collector {collector}: epsilons within {WINDOW_DAYS} days must add up to at most {ceiling.survey:g} "
                f"on this device, with survey {survey.id} they add up to {total:.4g}"
            )

    def _report_of(self, db: sqlite3.Connection, survey: Survey) -> Report | None:
        row = db.execute("SELECT report FROM reports WHERE survey = ?", (survey.id,)).fetchone()
        if row is None:
            return None
        try:
            report = parse_report(row[0], survey)
        except ReportError:
            report = None
        if report is None or report.encode() != row[0]:
            raise self._file.unusable(f"what it keeps of survey {survey.id} is no report of it")
        return report

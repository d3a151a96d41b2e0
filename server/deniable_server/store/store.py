"""The store as the collector uses it."""

from __future__ import annotations

import datetime
import functools
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from deniable import Report, Survey, Tally, parse_survey
from deniable.errors import SurveyError
from deniable_server.signing import PrivateKey
from deniable_server.store import agenda, calendar, checksum, counts, fold, invitations, keys, pending
from deniable_server.store.calendar import Calendar
from deniable_server.store.connection import connect, transaction, truncate_log
from deniable_server.store.errors import NotFound
from deniable_server.store.files import Siblings
from deniable_server.store.invitations import Added, Unused
from deniable_server.store.migrations import bring_up_to_date
from deniable_server.store.outcome import Outcome
from deniable_server.store.tables import create_tables, is_empty, pending_table, report_of, reports_table

DAYS_OF_DOUBT = 7
"""Days after its last one on which a survey's ids are still kept: a clock that is set back must find them."""

HIDDEN = -1
"""What `Store.release_of` says while results may show nothing."""

AT_A_TIME = 1000
"""Reports read in one go. Between two, whoever reads holds nothing up, however slow he is."""


@dataclass(frozen=True)
class SurveyState:
    """A survey and what became of it in this store.

    Attributes
    ----------
    survey : Survey
    published_on : str
    closed_on : str or None
        The day on which it was closed for good.
    release : int
        As `Store.release_of` says.
    """

    survey: Survey
    published_on: str
    closed_on: str | None
    release: int

    @property
    def reports(self) -> int:
        """How many reports results show."""
        return max(self.release, 0)

    @property
    def hidden_because(self) -> str | None:
        """Why results show nothing, or None when they show something."""
        return "results come out once the survey has closed" if self.release == HIDDEN else None

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

    Attributes
    ----------
    on_release : callable
        Called with a survey after each commit that changed what results show of it, except where they are live.

    Raises
    ------
    DeniableError
        If the file cannot be opened, is no database, or was written by a newer version.
    """

    def __init__(self, path: Path | str, today: Callable[[], datetime.date] = utc_today) -> None:
        self.path = Path(path)
        self.today = today
        self._threads = threading.local()
        self.files = Siblings()
        self.on_release: Callable[[Survey], None] = lambda survey: None
        self._parse = functools.lru_cache(maxsize=256)(parse_survey)
        self._calendar = Calendar()
        self._arrived: Counter[str] = Counter()  # reports of a survey that were stored since it was last settled
        self.unfolded = 0  # reports stored since the last settling that wait for a fold
        try:
            bring_up_to_date(self.db, self.path)
        except Exception:
            self.close()
            raise

    @property
    def db(self) -> Database:
        """This thread's connection."""
        if not hasattr(self._threads, "db"):
            self._threads.db = connect(self.path, self.files)
        db: Database = self._threads.db
        return db

    def close(self) -> None:
        """Close this thread's connection."""
        if hasattr(self._threads, "db"):
            self._threads.db.close()
            del self._threads.db

    def publish(self, survey: Survey, owner: str | None = None, signs: bool = False) -> bool:
        """Keep a survey for ever; whether it is new. Then it belongs to the token of that name, or to nobody.

        Parameters
        ----------
        signs : bool
            Whether its blind tokens are to be signed here, also where it says that another issuer signs them.

        Raises
        ------
        SurveyError
            If its blind tokens are to be signed here, and the key is not here or is another survey's.
        """
        today = self.today().isoformat()
        with self._transaction() as db:
            if db.execute("SELECT 1 FROM surveys WHERE id = ?", [survey.id]).fetchone():
                if signs:
                    checksum.change(db, survey, keys.bind(db, survey, must=True))
                return False
            db.execute("INSERT INTO surveys VALUES (?, ?, ?, NULL)", [survey.id, survey.document, today])
            create_tables(db, survey)
            total = checksum.digest(survey, "survey", [today, None]) ^ keys.bind(db, survey, must=signs)
            if owner is not None:
                db.execute("INSERT INTO owners VALUES (?, ?)", [survey.id, owner])
                total ^= checksum.digest(survey, "owner", [owner])
            if day := agenda.after_closing(survey):
                agenda.put(db, survey, day)
            checksum.start(db, survey, total)
        return True

    def owner(self, survey_id: str) -> str | None:
        """The name of the token that published a survey, or None if it belongs to nobody."""
        found = self.db.execute("SELECT token FROM owners WHERE survey = ?", [survey_id]).fetchone()
        return found[0] if found else None

    def survey(self, survey_id: str) -> Survey:
        """The survey of that address."""
        survey: Survey
        (survey,) = self._only("SELECT id, document FROM surveys WHERE id = ?", survey_id)
        return survey

    def state(self, survey_id: str) -> SurveyState:
        """The survey of that address, whether it is closed, and how many reports results show."""
        with self._snapshot() as db:
            survey, published_on, closed_on = self._only(
                "SELECT id, document, published_on, closed_on FROM surveys WHERE id = ?", survey_id
            )
            return SurveyState(survey, published_on, closed_on, self._release(db, survey, closed_on))

    def states(self, owner: str | None = None) -> list[SurveyState]:
        """Every survey here, or those that the token of that name published, in the order of publication."""
        query = "SELECT id, document, published_on, closed_on FROM surveys"
        if owner is not None:
            query += " WHERE id IN (SELECT survey FROM owners WHERE token = ?)"
        with self._snapshot() as db:
            return [
                SurveyState(survey, published_on, closed_on, self._release(db, survey, closed_on))
                for survey, published_on, closed_on in self._surveys(
                    f"{query} ORDER BY published_on, id", *([] if owner is None else [owner])
                )
            ]

    def close_survey(self, survey_id: str) -> SurveyState:
        """Take no more reports for a survey, from the next transaction on, and fold what it has."""
        survey = self.survey(survey_id)
        with self._transaction() as db:
            self._close(db, survey)
        self._settle(survey, closed_on=self.today().isoformat(), days_over=0)
        truncate_log(self.db, self.path)
        return self.state(survey_id)

    def add_invitations(self, survey_id: str, hashes: Iterable[str]) -> Added:
        """Invite whoever has the secrets of these hashes. Who was invited before stays so, used or not.

        Raises
        ------
        NotFound
            If there is no such survey.
        SurveyError
            If a hash is none, or the survey has no invitations here.
        """
        survey = self.survey(survey_id)
        with self._transaction() as db:
            key = self._refuse_without_invitations(db, survey)
            return invitations.add(db, survey, hashes, messages=1 + key.reissue if key else 0)

    def unused_invitations(self, survey_id: str, hashes: Iterable[str] | None = None) -> Unused:
        """How many were invited and how many invitations are unused, and of the hashes asked for which ones.

        Where results are live it is never said which ones: beside them it would say whose report came when.

        Raises
        ------
        NotFound
            If there is no such survey.
        SurveyError
            If a hash is none, or the survey has no invitations here.
        """
        survey = self.survey(survey_id)
        with self._snapshot() as db:
            self._refuse_without_invitations(db, survey)
            return invitations.unused(db, survey, None if hashes is None else list(hashes))

    def issue(self, survey_id: str, invitation: str, message: str) -> Outcome:
        """Use an invitation to have a blinded message signed; both are named by their hashes.

        Whoever gets `Outcome.STORED`, or later `Outcome.KNOWN`, may be told the signature.
        """
        survey = self.survey(survey_id)
        with self._transaction() as db:
            if not self._is_open(db, survey):
                return Outcome.CLOSED
            key = keys.of(db, survey)
            if key is None:
                raise NotFound(f"tokens: those of survey {survey_id} are not signed here")
            return invitations.use_for_message(db, survey, invitation, message, 1 + key.reissue)

    def add_key(self, key: PrivateKey) -> None:
        """Keep a new key for the blind tokens of one survey, which is not written yet."""
        with self._transaction() as db:
            keys.add(db, key)

    def signing_key(self, survey: Survey) -> str | None:
        """The private key, a PEM, that signs the blind tokens of a survey here; None where none does."""
        found = keys.of(self.db, survey)
        return found.private if found else None

    def set_reissue(self, survey_id: str, n: int) -> None:
        """Let each invitation of a survey have so many other blinded messages signed after its first.

        Raises
        ------
        NotFound
            If there is no such survey.
        ParameterError
            If it is no number from 0 to `keys.MOST_REISSUED`.
        SurveyError
            If the survey's tokens are not signed here.
        """
        survey = self.survey(survey_id)
        with self._transaction() as db:
            keys.set_reissue(db, survey, n)

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
            taken = {key: self._take(db, survey, reports[key]) for key, survey in surveys.items()}
        outcomes: dict[str, Iterator[Outcome]] = {}
        for key, (what, waiting) in taken.items():
            outcomes[key] = iter(what)
            stored = what.count(Outcome.STORED)
            self._arrived[key] += stored
            self.unfolded += waiting
            if stored > waiting:
                self._folded(surveys[key])
        return [list(itertools.islice(outcomes[survey.id], len(some))) for survey, some in submissions]

    def settle(self) -> bool:
        """Fold what is due, sort what came, and empty the log; whether that could be done completely.

        Due is what waits in a cohort of as many pending reports as make a release, or of a survey that closed. Only
        surveys on the agenda are looked at. Each is a transaction of its own, so it can be interrupted anywhere and
        done again.
        """
        self.unfolded = 0
        with self._transaction() as db:
            day = self._calendar.look(db, self.today())
        query = f"SELECT id, document, closed_on FROM surveys WHERE id IN ({agenda.LISTED})"
        for survey, closed_on in self._surveys(query, day.isoformat()):
            days_over = (day - survey.closes).days if survey.closes else 0
            self._settle(survey, closed_on, days_over)
            if not closed_on and days_over > DAYS_OF_DOUBT and survey.retention == "tallies":
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
        return self.state(survey_id).release

    def tallies(self, survey: Survey) -> dict[str | None, Tally]:
        """Supports by cohort, of the reports that results show; the cost does not grow with their number.

        Where results are live, pending rows are counted beside the tallies.
        """
        with self._snapshot() as db:
            if self._hides(db, survey):
                return {}
            folded = counts.stored(db, survey)
            if survey.results != "live":
                return folded
            return counts.together(folded, counts.count(db, survey, pending_table(survey)))

    def reports(self, survey: Survey) -> Iterator[Report]:
        """Every report that results show, in the order of its random id; none of a survey that keeps only tallies.

        Reads a few at a time. What they showed when it began, and not less, comes out once, because a fold moves rows
        without changing their ids; of a release that comes meanwhile, the ids that are still ahead.
        """
        if survey.retention == "tallies":
            return
        with self._snapshot() as db:
            if self._hides(db, survey):
                return
        tables = [reports_table(survey), *([pending_table(survey)] if survey.results == "live" else [])]
        query = " UNION ALL ".join(f"SELECT * FROM {table} WHERE id > :last" for table in tables)
        last: object = ""
        while True:
            with self._snapshot() as db:
                rows = db.execute(f"{query} ORDER BY id LIMIT :most", {"last": last, "most": AT_A_TIME}).fetchall()
            for row in rows:
                yield report_of(survey, row)
            if len(rows) < AT_A_TIME:
                return
            last = rows[-1][0]

    def _take(self, db: Database, survey: Survey, reports: Sequence[Report]) -> tuple[list[Outcome], int]:
        if not reports:
            return [], 0
        if not self._is_open(db, survey):
            return [Outcome.CLOSED] * len(reports), 0
        return pending.take(db, survey, reports)

    def _settle(self, survey: Survey, closed_on: str | None, days_over: int) -> None:
        new = self._arrived.pop(survey.id, 0)
        closed = bool(closed_on) or days_over > 0
        with self._transaction() as db:
            has_folded = fold.fold_due(db, survey, new, closed)
            is_sorted = fold.sort_pending(db, survey, new)
            if fold.is_unsorted(db, survey) and (closed or fold.may_sort(db, survey, new)):
                fold.sort_reports(db, survey)
            if closed and survey.access != "open":
                invitations.sort(db, survey, whatever_their_number=True)
            if closed_on and survey.retention == "tallies":
                fold.forget_ids(db, survey)
            if not is_sorted or (fold.is_unsorted(db, survey) and fold.may_sort(db, survey, new=0)):
                agenda.put_off(db, survey, agenda.NOW)
            elif closed_on or days_over > DAYS_OF_DOUBT:
                agenda.put_off(db, survey, None)
            else:
                agenda.put_off(db, survey, agenda.after_closing(survey, DAYS_OF_DOUBT + 1 if closed else 1))
        if has_folded or closed:
            self._folded(survey)

    def _refuse_without_invitations(self, db: Database, survey: Survey) -> keys.SigningKey | None:
        """The key that signs for those whom the survey invites here; None where invitations let reports count."""
        if survey.access == "open":
            raise SurveyError(f"survey {survey.id}: is open to everybody, so it has no invitations")
        key = keys.of(db, survey)
        if survey.issuer and not key:
            raise SurveyError(
                f"survey {survey.id}: its tokens are not signed here, so its invitations belong to its issuer"
                f"{f', {survey.issuer.url}' if survey.issuer.url else ''}"
            )
        return key

    def _folded(self, survey: Survey) -> None:
        if survey.results != "live" and self.release_of(survey.id) != HIDDEN:
            self.on_release(survey)

    def _close(self, db: Database, survey: Survey) -> None:
        found = db.execute(
            "SELECT published_on FROM surveys WHERE id = ? AND closed_on IS NULL", [survey.id]
        ).fetchone()
        if found:
            today = self.today().isoformat()
            db.execute("UPDATE surveys SET closed_on = ? WHERE id = ?", [today, survey.id])
            agenda.put(db, survey)
            before, after = (checksum.digest(survey, "survey", [found[0], day]) for day in (None, today))
            checksum.change(db, survey, before ^ after)

    def _is_open(self, db: Database, survey: Survey) -> bool:
        found = db.execute("SELECT closed_on FROM surveys WHERE id = ?", [survey.id]).fetchone()
        if not found:
            raise NotFound("survey: there is none at this address")
        return found[0] is None and survey.not_open_because(self.today()) is None

    def _release(self, db: Database, survey: Survey, closed_on: str | None) -> int:
        if self._hides(db, survey, closed_on):
            return HIDDEN
        n = counts.folded(db, survey)
        if survey.results == "live":
            n += db.execute(f"SELECT count(*) FROM {pending_table(survey)}").fetchone()[0]
        return n

    def _hides(self, db: Database, survey: Survey, closed_on: str | None = None) -> bool:
        """Whether results may show nothing: until the survey has closed and all that it has is folded."""
        if survey.results != "closed":
            return False
        if closed_on is None:
            (closed_on,) = db.execute("SELECT closed_on FROM surveys WHERE id = ?", [survey.id]).fetchone()
        is_over = survey.closes is not None and calendar.believed(db, self.today()) > survey.closes
        return not (closed_on or is_over) or not is_empty(db, pending_table(survey))

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

"""The part of a store that every database does in the same words."""

from __future__ import annotations

import datetime
import functools
import itertools
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from deniable import Report, Survey, Tally, parse_survey
from deniable.errors import SurveyClosed, SurveyError
from deniable_server.signing import PrivateKey
from deniable_server.store import agenda, api_tokens, calendar, checksum, counts, invitations, keys
from deniable_server.store.calendar import Calendar
from deniable_server.store.connection import Connection
from deniable_server.store.errors import NotFound
from deniable_server.store.integrity import UNFINISHED
from deniable_server.store.interface import (
    HIDDEN,
    InvitationCounts,
    InvitationState,
    InvitationUsage,
    Release,
    Store,
    SurveyState,
    TokenRow,
)
from deniable_server.store.tables import is_empty, pending_table, report_of, reports_table, rows_of
from deniable_server.store.verdict import Verdict

DAYS_OF_DOUBT = 7
"""Days after its last one on which a survey's ids are still kept: a clock that is set back must find them."""

AT_A_TIME = 1000
"""Reports read in one go. Between two, whoever reads holds nothing up, however slow he is."""


class SqlStore(Store):
    """A store over SQL.

    What differs between databases are the methods without a body: how transactions exclude each other, how reports come
    in, and how they come to rest.
    """

    def __init__(self, name: str, today: Callable[[], datetime.date]) -> None:
        self.name = name
        self.today = today
        self.on_release = lambda survey: None
        self.unfolded = 0
        self._parse = functools.lru_cache(maxsize=256)(parse_survey)
        self._calendar = Calendar()
        self._arrived: Counter[str] = Counter()  # reports of a survey that were stored since it was last settled

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Connection]:
        """A transaction that is on the disk when the block has ended."""

    @abstractmethod
    def _snapshot(self, *surveys: Survey) -> AbstractContextManager[Connection]:
        """A transaction whose reads all see the same state, also of the tables of these surveys."""

    @abstractmethod
    def _alone(self) -> AbstractContextManager[Connection]:
        """A transaction beside which no other one of its kind runs, for what operators and authors do."""

    @abstractmethod
    def _enter(self, db: Connection, surveys: Iterable[Survey]) -> None:
        """Wait until none of the surveys is held, and keep others from holding them while the transaction lasts."""

    @abstractmethod
    def _hold(self, db: Connection, survey: Survey) -> None:
        """Wait until no transaction has entered a survey, and let none enter it while this one lasts."""

    @abstractmethod
    def _create_tables(self, db: Connection, survey: Survey) -> None:
        """Make the tables of a survey."""

    @abstractmethod
    def _take_open(self, db: Connection, survey: Survey, reports: Sequence[Report]) -> tuple[list[Verdict], int]:
        """Store new reports of an open survey; what became of each, and how many wait for a fold."""

    @abstractmethod
    def _settle(self, survey: Survey, closed_on: str | None, days_over: int) -> None:
        """Fold and sort what a survey has; ``days_over`` is how many days its last one is past."""

    @abstractmethod
    def _invitations_moved(self, db: Connection, survey: Survey) -> None:
        """See to it that the table of invitations comes to tell no order, after rows of it moved."""

    @abstractmethod
    def _leave_no_trace(self) -> bool:
        """Leave no order of arrival behind in what the database writes beside its tables; whether that could be."""

    @property
    def is_unfinished(self) -> bool:
        """Whether it is a copy that is not complete."""
        with self._snapshot() as db:
            return db.has_table(UNFINISHED)

    def publish(self, survey: Survey, owner: str | None = None, signs: bool = False) -> bool:
        today = self.today().isoformat()
        with self._alone() as db:
            if db.execute("SELECT 1 FROM surveys WHERE id = ?", [survey.id]).fetchone():
                if signs:
                    checksum.change(db, survey, keys.bind(db, survey, must=True))
                return False
            db.execute("INSERT INTO surveys VALUES (?, ?, ?, NULL)", [survey.id, survey.document, today])
            self._create_tables(db, survey)
            total = checksum.digest(survey, "survey", [today, None]) ^ keys.bind(db, survey, must=signs)
            if owner is not None:
                db.execute("INSERT INTO owners VALUES (?, ?)", [survey.id, owner])
                total ^= checksum.digest(survey, "owner", [owner])
            if day := agenda.after_closing(survey):
                agenda.put(db, survey, day)
            db.start_checksum(survey.id, total)
        return True

    def owner(self, survey_id: str) -> str | None:
        with self._snapshot() as db:
            found = db.execute("SELECT token FROM owners WHERE survey = ?", [survey_id]).fetchone()
        return found[0] if found else None

    def survey(self, survey_id: str) -> Survey:
        survey: Survey
        with self._snapshot() as db:
            (survey,) = self._only(db, "SELECT id, document FROM surveys WHERE id = ?", survey_id)
        return survey

    def state(self, survey_id: str) -> SurveyState:
        survey = self.survey(survey_id)
        with self._snapshot(survey) as db:
            return self._state(db, survey)

    def states(self, owner: str | None = None) -> list[SurveyState]:
        # Each survey is looked at by itself, so that thousands hold nothing up.
        query = "SELECT id, document FROM surveys"
        if owner is not None:
            query += " WHERE id IN (SELECT survey FROM owners WHERE token = ?)"
        with self._snapshot() as db:
            found = self._surveys(db, f"{query} ORDER BY published_on, id", *([] if owner is None else [owner]))
        states = []
        for (survey,) in found:
            with self._snapshot(survey) as db:
                states.append(self._state(db, survey))
        return states

    def close_survey(self, survey_id: str) -> SurveyState:
        survey = self.survey(survey_id)
        with self._transaction() as db:
            self._hold(db, survey)
            self._close(db, survey)
        self._settle(survey, closed_on=self.today().isoformat(), days_over=0)
        self._leave_no_trace()
        return self.state(survey_id)

    def add_invitations(self, survey_id: str, hashes: Iterable[str]) -> InvitationCounts:
        survey = self.survey(survey_id)
        with self._transaction() as db:
            self._hold(db, survey)
            key = self._refuse_without_invitations(db, survey)
            if closed := self._state(db, survey).closed_on:
                raise SurveyClosed(f"survey {survey_id}: was closed on {closed} (UTC); nobody could answer")
            added = invitations.add(db, survey, hashes, messages=1 + key.reissue if key else 0)
            if added.added:
                self._invitations_moved(db, survey)
        return added

    def unused_invitations(self, survey_id: str, hashes: Iterable[str] | None = None) -> InvitationUsage:
        survey = self.survey(survey_id)
        with self._snapshot(survey) as db:
            self._refuse_without_invitations(db, survey)
            return invitations.unused(db, survey, None if hashes is None else list(hashes))

    def is_invited(self, survey_id: str, invitation: str) -> bool:
        survey = self.survey(survey_id)
        with self._snapshot(survey) as db:
            self._refuse_without_invitations(db, survey)
            return bool(invitations.states(db, survey, [invitation]))

    def invitation_state(self, survey_id: str, invitation: str) -> InvitationState:
        survey = self.survey(survey_id)
        if survey.access != "invited":
            raise SurveyError(f"survey {survey_id}: its reports carry no invitation, its access is {survey.access!r}")
        with self._snapshot(survey) as db:
            return invitations.state_of(db, survey, invitation)

    def issue(self, survey_id: str, invitation: str, message: str) -> Verdict:
        survey = self.survey(survey_id)
        with self._transaction() as db:
            self._enter(db, [survey])
            if not self._is_open(db, survey):
                return Verdict.CLOSED
            key = keys.of(db, survey)
            if key is None:
                raise NotFound(f"tokens: those of survey {survey_id} are not signed here")
            return invitations.use_for_message(db, survey, invitation, message, 1 + key.reissue)

    def add_key(self, key: PrivateKey) -> None:
        with self._alone() as db:
            keys.add(db, key)

    def signing_key(self, survey: Survey) -> str | None:
        with self._snapshot() as db:
            found = keys.of(db, survey)
        return found.private if found else None

    def set_reissue(self, survey_id: str, n: int) -> None:
        survey = self.survey(survey_id)
        with self._transaction() as db:
            self._hold(db, survey)
            if keys.set_reissue(db, survey, n):
                self._invitations_moved(db, survey)

    def add_token(self, row: TokenRow) -> bool:
        with self._alone() as db:
            return api_tokens.add(db, row)

    def tokens(self) -> list[TokenRow]:
        with self._snapshot() as db:
            return api_tokens.every(db)

    def remove_token(self, name: str) -> bool:
        with self._alone() as db:
            return api_tokens.remove(db, name)

    def store_reports(self, submissions: Sequence[tuple[Survey, Sequence[Report]]]) -> list[list[Verdict]]:
        surveys: dict[str, Survey] = {}
        reports: dict[str, list[Report]] = {}
        for survey, some in submissions:
            surveys[survey.id] = survey
            reports.setdefault(survey.id, []).extend(some)
        with self._transaction() as db:
            # In the order of addresses: two collectors that wait for each other's rows must not do so in a circle.
            self._enter(db, [surveys[key] for key in sorted(surveys)])
            taken = {key: self._take(db, surveys[key], reports[key]) for key in sorted(surveys)}
        outcomes: dict[str, Iterator[Verdict]] = {}
        for key, (what, waiting) in taken.items():
            outcomes[key] = iter(what)
            stored = what.count(Verdict.STORED)
            self._arrived[key] += stored
            self.unfolded += waiting
            if stored > waiting:
                self._folded(surveys[key])
        return [list(itertools.islice(outcomes[survey.id], len(some))) for survey, some in submissions]

    def settle(self) -> bool:
        # Due is what waits in a cohort of as many pending reports as make a release, or of a survey that closed. Only
        # surveys on the agenda are looked at. Each is a transaction of its own, so it can be interrupted anywhere and
        # done again.
        self.unfolded = 0
        with self._alone() as db:
            day = self._calendar.look(db, self.today())
        query = f"SELECT id, document, closed_on FROM surveys WHERE id IN ({agenda.LISTED})"
        with self._snapshot() as db:
            due = self._surveys(db, query, day.isoformat())
        for survey, closed_on in due:
            days_over = (day - survey.closes).days if survey.closes else 0
            self._settle(survey, closed_on, days_over)
            if not closed_on and days_over > DAYS_OF_DOUBT and survey.retention == "tallies":
                self.close_survey(survey.id)  # its ids go, so no clock may open it again
        return self._leave_no_trace()

    def release_of(self, survey_id: str) -> int:
        return self.state(survey_id).release

    def tallies(self, survey: Survey) -> dict[str | None, Tally]:
        with self._snapshot(survey) as db:
            return self._tallies(db, survey)

    def waiting(self, survey: Survey) -> dict[str | None, int]:
        if survey.results == "live":
            return {}
        with self._snapshot(survey) as db:
            waits = counts.waiting(db, survey)
            hidden = counts.stored(db, survey) if self._hides(db, survey) else {}
        every = {
            cohort: waits.get(cohort, 0) + (hidden[cohort].n if cohort in hidden else 0) for cohort in _cohorts(survey)
        }
        return {cohort: n for cohort, n in every.items() if n}

    def reports(self, survey: Survey) -> Iterator[Report]:
        if survey.retention == "tallies":
            return
        with self._snapshot(survey) as db:
            if self._hides(db, survey):
                return
        tables = _shown_tables(survey)
        query = " UNION ALL ".join(f"SELECT * FROM {table} WHERE id > ?" for table in tables)
        last = ""
        while True:
            with self._snapshot(survey) as db:
                values: list[object] = [last for _ in tables]
                rows = db.execute(f"{query} ORDER BY id LIMIT ?", [*values, AT_A_TIME]).fetchall()
            for row in rows:
                yield report_of(survey, row)
            if len(rows) < AT_A_TIME:
                return
            last = rows[-1][0]

    @contextmanager
    def released(self, survey: Survey) -> Iterator[Release]:
        tables = " UNION ALL ".join(f"SELECT * FROM {table}" for table in _shown_tables(survey))
        with self._snapshot(survey) as db:
            is_none = survey.retention == "tallies" or self._hides(db, survey)
            rows = iter(()) if is_none else rows_of(db, f"({tables})")
            yield Release(self._tallies(db, survey), rows)

    def _take(self, db: Connection, survey: Survey, reports: Sequence[Report]) -> tuple[list[Verdict], int]:
        if not reports:
            return [], 0
        if not self._is_open(db, survey):
            return [Verdict.CLOSED] * len(reports), 0
        return self._take_open(db, survey, reports)

    def _refuse_without_invitations(self, db: Connection, survey: Survey) -> keys.SigningKey | None:
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

    def _close(self, db: Connection, survey: Survey) -> None:
        found = db.execute(
            "SELECT published_on FROM surveys WHERE id = ? AND closed_on IS NULL", [survey.id]
        ).fetchone()
        if found:
            today = self.today().isoformat()
            db.execute("UPDATE surveys SET closed_on = ? WHERE id = ?", [today, survey.id])
            agenda.put(db, survey)
            before, after = (checksum.digest(survey, "survey", [found[0], day]) for day in (None, today))
            checksum.change(db, survey, before ^ after)

    def _is_open(self, db: Connection, survey: Survey) -> bool:
        found = db.execute("SELECT closed_on FROM surveys WHERE id = ?", [survey.id]).fetchone()
        if not found:
            raise NotFound("survey: there is none at this address")
        return found[0] is None and survey.not_open_because(self.today()) is None

    def _state(self, db: Connection, survey: Survey) -> SurveyState:
        published_on, closed_on = db.execute(
            "SELECT published_on, closed_on FROM surveys WHERE id = ?", [survey.id]
        ).fetchone()
        return SurveyState(survey, published_on, closed_on, self._release(db, survey, closed_on))

    def _tallies(self, db: Connection, survey: Survey) -> dict[str | None, Tally]:
        if self._hides(db, survey):
            return {}
        folded = counts.stored(db, survey)
        if survey.results != "live":
            return folded
        return counts.together(folded, counts.count(db, survey, pending_table(survey)))

    def _release(self, db: Connection, survey: Survey, closed_on: str | None) -> int:
        if self._hides(db, survey, closed_on):
            return HIDDEN
        n = counts.folded(db, survey)
        if survey.results == "live":
            n += db.execute(f"SELECT count(*) FROM {pending_table(survey)}").fetchone()[0]
        return n

    def _hides(self, db: Connection, survey: Survey, closed_on: str | None = None) -> bool:
        """Whether results may show nothing: until the survey has closed and all that it has is folded."""
        if survey.results != "closed":
            return False
        if closed_on is None:
            (closed_on,) = db.execute("SELECT closed_on FROM surveys WHERE id = ?", [survey.id]).fetchone()
        is_over = survey.closes is not None and calendar.believed(db, self.today()) > survey.closes
        return not (closed_on or is_over) or not is_empty(db, pending_table(survey))

    def _surveys(self, db: Connection, query: str, *values: str) -> list[tuple[Any, ...]]:
        rows = db.execute(query, values).fetchall()
        return [(self._parse(document, survey_id), *others) for survey_id, document, *others in rows]

    def _only(self, db: Connection, query: str, survey_id: str) -> tuple[Any, ...]:
        for found in self._surveys(db, query, survey_id):
            return found
        raise NotFound("survey: there is none at this address")


def _cohorts(survey: Survey) -> tuple[str | None, ...]:
    """None, for reports without a cohort, and the cohorts of a survey."""
    return (None, *survey.cohorts)


def _shown_tables(survey: Survey) -> list[str]:
    """Where the reports are that results show, if they show any."""
    return [reports_table(survey), *([pending_table(survey)] if survey.results == "live" else [])]

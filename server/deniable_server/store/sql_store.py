"""The part of a store that both databases do with the same SQL."""

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
from deniable.wire.space import Value
from deniable_server.signing import PrivateKey
from deniable_server.store import agenda, api_tokens, calendar, checksum, counts, invitations, release_log, token_keys
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
from deniable_server.store.release_log import ReleaseRow
from deniable_server.store.tables import is_empty, pending_table, report_of, reports_table, rows_of
from deniable_server.store.verdict import Verdict

DAYS_OF_DOUBT = 7
"""Number of days after a survey's last one for which its ids are kept: a clock that is set back needs them."""

AT_A_TIME = 1000
"""Number of reports that are read at a time; between two pages a slow reader holds nothing up."""


class SqlStore(Store):
    """A store over SQL.

    The abstract methods differ between databases: the exclusion of transactions by each other, and the storing and
    folding of reports.
    """

    def __init__(self, name: str, today: Callable[[], datetime.date]) -> None:
        self.name = name
        self.today = today
        self.on_release = lambda survey: None
        self.unfolded = 0
        self.is_new = False
        self._parse = functools.lru_cache(maxsize=256)(parse_survey)
        self._calendar = Calendar()
        self._arrived: Counter[str] = Counter()  # reports of a survey that were stored since it was last settled

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Connection]:
        """A transaction that is on the disk when the block has ended."""

    @abstractmethod
    def _snapshot(self, *surveys: Survey) -> AbstractContextManager[Connection]:
        """A transaction whose reads all see one state, of the tables of these surveys too."""

    @abstractmethod
    def _alone(self) -> AbstractContextManager[Connection]:
        """A transaction that excludes others of its kind, for operators and authors."""

    @abstractmethod
    def _enter(self, db: Connection, surveys: Iterable[Survey]) -> None:
        """Take a shared lock on the surveys until the transaction ends."""

    @abstractmethod
    def _hold(self, db: Connection, survey: Survey) -> None:
        """Take an exclusive lock on a survey until the transaction ends."""

    @abstractmethod
    def _create_tables(self, db: Connection, survey: Survey) -> None:
        """Make the tables of a survey."""

    @abstractmethod
    def _take_open(self, db: Connection, survey: Survey, reports: Sequence[Report]) -> tuple[list[Verdict], int]:
        """Store new reports of an open survey; return the verdicts, and the number of reports that wait for a fold."""

    @abstractmethod
    def _settle(self, survey: Survey, closed_on: str | None, days_over: int) -> None:
        """Fold and sort the reports of a survey whose last day is ``days_over`` days ago."""

    @abstractmethod
    def _invitations_moved(self, db: Connection, survey: Survey) -> None:
        """Have the table of invitations sorted, now or later, after rows of it moved."""

    @abstractmethod
    def _leave_no_trace(self) -> bool:
        """Remove the order of arrival from the files beside the tables; return whether that was possible."""

    @property
    def is_unfinished(self) -> bool:
        """Whether the database is a copy that is not complete."""
        with self._snapshot() as db:
            return db.has_table(UNFINISHED)

    def publish(self, survey: Survey, owner: str | None = None, signs: bool = False) -> bool:
        today = self.today().isoformat()
        with self._alone() as db:
            if db.execute("SELECT 1 FROM surveys WHERE id = ?", [survey.id]).fetchone():
                if signs:
                    checksum.change(db, survey, token_keys.bind(db, survey, must=True))
                return False
            db.execute("INSERT INTO surveys VALUES (?, ?, ?, NULL)", [survey.id, survey.document, today])
            self._create_tables(db, survey)
            # The checksum starts with everything that publishing writes, in the same transaction.
            total = checksum.digest(survey, "survey", [today, None]) ^ token_keys.bind(db, survey, must=signs)
            if owner is not None:
                db.execute("INSERT INTO owners VALUES (?, ?)", [survey.id, owner])
                total ^= checksum.digest(survey, "owner", [owner])
            # What waits when a survey ends has to be folded then, though no report comes any more.
            if day := agenda.after_closing(survey):
                agenda.put(db, survey, day)
            db.start_checksum(survey.id, total)
        return True

    def owner(self, survey_id: str) -> str | None:
        with self._snapshot() as db:
            found = db.execute("SELECT token FROM owners WHERE survey = ?", [survey_id]).fetchone()
        return found[0] if found else None

    def remember_public_url(self, survey_id: str, url: str) -> None:
        survey = self.survey(survey_id)
        with self._alone() as db:
            found = db.execute("SELECT url FROM public_urls WHERE survey = ?", [survey_id]).fetchall()
            db.execute("DELETE FROM public_urls WHERE survey = ?", [survey_id])
            db.execute("INSERT INTO public_urls VALUES (?, ?)", [survey_id, url])
            checksum.change(db, survey, checksum.sum_of(survey, "public url", [*found, (url,)]))

    def public_url(self, survey_id: str) -> str | None:
        with self._snapshot() as db:
            found = db.execute("SELECT url FROM public_urls WHERE survey = ?", [survey_id]).fetchone()
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

    def number_of_surveys(self) -> int:
        with self._snapshot() as db:
            (number,) = db.execute("SELECT count(*) FROM surveys").fetchone()
        return int(number)

    def close_survey(self, survey_id: str) -> SurveyState:
        survey = self.survey(survey_id)
        with self._transaction() as db:
            self._hold(db, survey)
            self._close(db, survey)
        # After the commit that closes it: every report that was acknowledged is there, and none comes any more.
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
            key = token_keys.of(db, survey)
            if key is None:
                raise NotFound(f"tokens: those of survey {survey_id} are not signed here")
            return invitations.use_for_message(db, survey, invitation, message, 1 + key.reissue)

    def add_key(self, key: PrivateKey) -> None:
        with self._alone() as db:
            token_keys.add(db, key)

    def signing_key(self, survey: Survey) -> str | None:
        with self._snapshot() as db:
            found = token_keys.of(db, survey)
        return found.private if found else None

    def set_reissue(self, survey_id: str, n: int) -> None:
        survey = self.survey(survey_id)
        with self._transaction() as db:
            self._hold(db, survey)
            if token_keys.set_reissue(db, survey, n):
                self._invitations_moved(db, survey)

    def releases(self, survey: Survey, first: int = 1) -> Sequence[ReleaseRow]:
        with self._snapshot() as db:
            return release_log.rows_of(db, survey, first)

    def release(self, survey: Survey, number: int | None = None) -> ReleaseRow | None:
        with self._snapshot() as db:
            return release_log.row_of(db, survey, number)

    def add_release(self, survey: Survey, row: ReleaseRow) -> bool:
        with self._transaction() as db:
            self._hold(db, survey)
            return release_log.add(db, survey, row)

    def release_key(self, make: Callable[[], str]) -> str:
        with self._snapshot() as db:
            found = release_log.key(db)
        if found is None:
            with self._transaction() as db:
                release_log.add_key(db, make())
            with self._snapshot() as db:
                found = release_log.key(db)
        assert found is not None
        return found

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
        # All submissions of one survey are taken together, in the order in which they came.
        surveys: dict[str, Survey] = {}
        reports: dict[str, list[Report]] = {}
        for survey, some in submissions:
            surveys[survey.id] = survey
            reports.setdefault(survey.id, []).extend(some)
        with self._transaction() as db:
            # In the order of addresses: two collectors that wait for each other's rows must not do so in a circle.
            # Of two that may send the last report of a survey, one waits for the other.
            limited = {key for key, each in surveys.items() if each.closes_at is not None}
            self._enter(db, [surveys[key] for key in sorted(surveys.keys() - limited)])
            for key in sorted(limited):
                self._hold(db, surveys[key])
            taken = {key: self._take(db, surveys[key], reports[key]) for key in sorted(surveys)}
        outcomes: dict[str, Iterator[Verdict]] = {}
        for key, (what, waiting) in taken.items():
            outcomes[key] = iter(what)
            stored = what.count(Verdict.STORED)
            self._arrived[key] += stored
            self.unfolded += waiting
            # More were stored than wait, so some were folded at once, which is a release.
            if stored > waiting:
                self._folded(surveys[key])
        # Reports of one survey were taken together; each submission gets its own verdicts, in order.
        return [list(itertools.islice(outcomes[survey.id], len(some))) for survey, some in submissions]

    def settle(self) -> bool:
        # Due are the reports of a cohort with as many pending ones as make a release, and all of a survey that closed.
        # Only surveys on the agenda are looked at. Each is a transaction of its own, so settling can be interrupted
        # anywhere and repeated.
        self.unfolded = 0
        with self._alone() as db:
            day = self._calendar.look(db, self.today())
        query = f"SELECT id, document, closed_on FROM surveys WHERE id IN ({agenda.LISTED})"
        with self._snapshot() as db:
            due = self._surveys(db, query, day.isoformat())
        for survey, closed_on in due:
            days_over = (day - survey.takes_until).days if survey.takes_until else 0
            self._settle(survey, closed_on, days_over)
            if not closed_on and days_over > DAYS_OF_DOUBT and survey.retention == "tallies":
                self.close_survey(survey.id)  # its ids go, so no clock may open it again
        return self._leave_no_trace()

    def believed_day(self) -> datetime.date:
        with self._snapshot() as db:
            return calendar.believed(db, self.today())

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
            # Folded but hidden: results of a survey that shows them once it has closed.
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
                # Keyset pagination: a snapshot for each page, so that a slow reader holds nothing up.
                rows = db.execute(f"{query} ORDER BY id LIMIT ?", [*values, AT_A_TIME]).fetchall()
            for row in rows:
                yield report_of(survey, row)
            if len(rows) < AT_A_TIME:
                return
            last = rows[-1][0]

    def joint_counts(self, survey: Survey, first: str, second: str) -> list[tuple[Value, Value, int]]:
        tables = " UNION ALL ".join(f'SELECT "{first}", "{second}" FROM {table}' for table in _shown_tables(survey))
        with self._snapshot(survey) as db:
            if survey.retention == "tallies" or self._hides(db, survey):
                return []
            # SQL groups equal pairs, so the cost in Python does not grow with the number of reports.
            grouped = f'SELECT "{first}", "{second}", count(*) FROM ({tables}) AS shown GROUP BY 1, 2 ORDER BY 1, 2'
            return [(one, other, int(n)) for one, other, n in db.execute(grouped).fetchall()]

    @contextmanager
    def released(self, survey: Survey) -> Iterator[Release]:
        tables = " UNION ALL ".join(f"SELECT * FROM {table}" for table in _shown_tables(survey))
        with self._snapshot(survey) as db:
            is_none = survey.retention == "tallies" or self._hides(db, survey)
            rows = iter(()) if is_none else rows_of(db, f"({tables})")
            yield Release(self._tallies(db, survey), rows)

    def _put_down(
        self, db: Connection, survey: Survey, closed_on: str | None, days_over: int, is_unfinished: bool
    ) -> None:
        """Take a settled survey off the agenda, or move it to the day on which it has to be settled again."""
        if is_unfinished:
            agenda.put_off(db, survey, agenda.NOW)
        elif closed_on or days_over > DAYS_OF_DOUBT:
            agenda.put_off(db, survey, None)
        else:
            agenda.put_off(db, survey, agenda.after_closing(survey, DAYS_OF_DOUBT + 1 if days_over > 0 else 1))

    def _take(self, db: Connection, survey: Survey, reports: Sequence[Report]) -> tuple[list[Verdict], int]:
        if not reports:
            return [], 0
        if not self._is_open(db, survey):
            return [Verdict.CLOSED] * len(reports), 0
        return (
            self._take_open(db, survey, reports) if survey.closes_at is None else self._take_up_to(db, survey, reports)
        )

    def _take_up_to(self, db: Connection, survey: Survey, reports: Sequence[Report]) -> tuple[list[Verdict], int]:
        """Store new reports until the survey has as many as it takes, and close it then, in one transaction."""
        assert survey.closes_at is not None
        room = survey.closes_at - counts.folded(db, survey) - sum(counts.waiting(db, survey).values())
        verdicts: list[Verdict] = []
        waiting = 0
        # Known reports and refused ones take no room, so there may be some left for those behind them.
        while room > 0 and len(verdicts) < len(reports):
            outcomes, few = self._take_open(db, survey, reports[len(verdicts) :][:room])
            verdicts += outcomes
            waiting += few
            room -= outcomes.count(Verdict.STORED)
        if room <= 0:
            self._close(db, survey)
        return verdicts + [Verdict.CLOSED] * (len(reports) - len(verdicts)), waiting

    def _refuse_without_invitations(self, db: Connection, survey: Survey) -> token_keys.SigningKey | None:
        """The key that signs tokens for invitations of a survey; None where reports carry invitations."""
        if survey.access == "open":
            raise SurveyError(f"survey {survey.id}: is open to everybody, so it has no invitations")
        key = token_keys.of(db, survey)
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
            # The row of the survey leaves the checksum without a day of closing and enters it with one.
            before, after = (checksum.digest(survey, "survey", [found[0], day]) for day in (None, today))
            checksum.change(db, survey, before ^ after)

    def _is_open(self, db: Connection, survey: Survey) -> bool:
        found = db.execute("SELECT closed_on FROM surveys WHERE id = ?", [survey.id]).fetchone()
        if not found:
            raise NotFound("survey: there is none at this address")
        return found[0] is None and survey.takes_on(self.today())

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
        """Whether results show nothing yet: until the survey has closed and all its reports are folded."""
        if survey.results != "closed":
            return False
        if closed_on is None:
            (closed_on,) = db.execute("SELECT closed_on FROM surveys WHERE id = ?", [survey.id]).fetchone()
        # The believed day, not the clock: results that came out once cannot be hidden again.
        is_over = survey.takes_until is not None and calendar.believed(db, self.today()) > survey.takes_until
        return not (closed_on or is_over) or not is_empty(db, pending_table(survey))

    def _surveys(self, db: Connection, query: str, *values: str) -> list[tuple[Any, ...]]:
        rows = db.execute(query, values).fetchall()
        return [(self._parse(document, survey_id), *others) for survey_id, document, *others in rows]

    def _only(self, db: Connection, query: str, survey_id: str) -> tuple[Any, ...]:
        for found in self._surveys(db, query, survey_id):
            return found
        raise NotFound("survey: there is none at this address")


def _cohorts(survey: Survey) -> tuple[str | None, ...]:
    """The cohorts of a survey, preceded by None for reports without one."""
    return (None, *survey.cohorts)


def _shown_tables(survey: Survey) -> list[str]:
    """The tables with the reports that results show."""
    return [reports_table(survey), *([pending_table(survey)] if survey.results == "live" else [])]

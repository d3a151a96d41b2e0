"""The device's memory: one draw for each survey and for each question, kept as noisy values and never as answers.

For a survey with blind tokens it also keeps the request for a token, then the token, until that is in a report.

Eleven fresh draws at epsilon 1 would give a yes-no answer away 19 times out of 20. So a report is kept before it is
first sent, and a question that is asked again under another title gets the noisy value that it got before. Check, draw,
charge and keep are one step. The rules are in ``docs/device.md``; ``client/deniable_web/memory.js`` follows the same,
and both are held to the same vectors.
"""

from __future__ import annotations

import datetime
import re
import sqlite3
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from deniable.errors import BudgetError, ReportError, check_kind
from deniable.mechanisms.longitudinal import waves_of
from deniable.privacy.ceiling import Ceiling
from deniable.privacy.ledger import Ledger
from deniable.randomness import Word, system_word
from deniable.report.report import Report, parse_report
from deniable.survey.document import Survey
from deniable.survey.unit import Unit
from deniable.wire.space import ReportValue
from deniable_client.blind_token import UnsignedToken, tokens_of
from deniable_client.link import origin_of
from deniable_client.memory_file import MemoryFile
from deniable_client.user_folder import user_data_folder

WINDOW_DAYS = 90
"""Length of the window, in days, within which the privacy loss towards a collector counts in the ledgers."""

DRAWN = "draw"
"""Suffix of a group's key, under which its draw of questions is kept before there are values."""

State = Literal["waiting", "sent", "refused"]

_RECALL = """
SELECT report, coalesce(state, 'waiting') FROM reports LEFT JOIN recipients
ON recipients.survey = reports.survey AND collector = ? WHERE reports.survey = ?
"""
_INVITE = """
UPDATE recipients SET state = 'waiting' WHERE survey = :survey AND collector = :collector AND state = 'refused'
AND NOT EXISTS (SELECT 1 FROM recipients WHERE survey = :survey AND state = 'sent')
"""
_REPLIES = """
SELECT survey, collector, report, state FROM recipients JOIN reports USING (survey) ORDER BY survey, collector
"""
_PENDING = _REPLIES.replace("ORDER BY", "WHERE state = 'waiting' AND collector = coalesce(?, collector) ORDER BY")
# An entry ages from the latest of its days that is not in the future. What several collectors were told counts once for
# the device.
_LEDGER = """
SELECT question, max(millionths) FROM (
    SELECT origin, question, max(millionths) AS millionths, max(CASE WHEN day <= :today THEN day END) AS since
    FROM told GROUP BY origin, question
) WHERE origin = coalesce(:origin, origin) AND coalesce(since, :today) > :start GROUP BY question
"""
_FROM_THE_FUTURE = """
SELECT origin, question, ?1, max(millionths) FROM told GROUP BY origin, question HAVING min(day) > ?1
"""
_DATE_THE_FUTURE = f"INSERT INTO told {_FROM_THE_FUTURE}"


@dataclass(frozen=True)
class KeptReport:
    """The report that a device keeps of one survey, and its state at one collector.

    Attributes
    ----------
    survey, collector : str
    report : bytes
        The bytes that are sent at every try.
    state : {"waiting", "sent", "refused"}
        A refused report, which the collector will not take, is kept all the same, so that nothing is drawn again.
    """

    survey: str
    collector: str
    report: bytes
    state: State


@dataclass(frozen=True)
class Disclosure:
    """The privacy loss, towards a collector and in total, that a person is shown before answering a survey.

    Attributes
    ----------
    collector, device : float
        Epsilon, in nats, of everything that the survey's collector, and all collectors together, will have been told
        within 90 days once the survey is answered.
    has_told : bool
        Whether this device sent anything within 90 days.
    is_same : bool
        Whether a question of the survey was asked before: then the device sends the value that it kept.
    """

    collector: float = 0.0
    device: float = 0.0
    has_told: bool = False
    is_same: bool = False


def utc_today() -> datetime.date:
    """The day by which surveys open and close, and by which the ledger counts."""
    return datetime.datetime.now(datetime.UTC).date()


class Memory:
    """The reports of one person on one device, and the privacy loss towards each collector.

    Parameters
    ----------
    path : Path or str, optional
        An SQLite file, made with the first report; by default ``memory.db`` in `user_data_folder`.
    today : callable
        The day by which the ledger counts.
    word : callable
        Source of uniform 32-bit words, for the draws that waves send from permanent values.

    Notes
    -----
    The file holds noisy reports and values, what they cost, collectors and days, no answer and no time of day; with a
    report its invitation or token, which the collector does not keep.
    Processes may share it: each draw happens within a transaction that locks the file, so 20 processes that answer at
    once make one report. After the file is deleted, the next answer is drawn anew.

    Examples
    --------
    >>> import tempfile
    >>> from deniable import Question, Survey, TwoCoin
    >>> from deniable_client.device import permanent
    >>> survey = Survey("T", (Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2")),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     memory = Memory(f"{folder}/memory.db")
    ...     draw = lambda: permanent(survey, {"q": "yes"})
    ...     reports = {memory.once(survey, "https://collector.example", draw).encode() for _ in range(100)}
    ...     len(reports), round(memory.ledger("https://collector.example").epsilon, 4)
    (1, 1.0986)
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        today: Callable[[], datetime.date] = utc_today,
        word: Word = system_word,
    ) -> None:
        self.path = user_data_folder() / "memory.db" if path is None else Path(path)
        self.today = today
        self.word = word
        self._file = MemoryFile(self.path)

    def once(
        self, survey: Survey, collector: str, draw: Callable[[], Report], ceiling: Ceiling | None = None
    ) -> Report:
        """The report of a survey: the kept one, or else one that ``draw`` makes and that is kept before this returns.

        A question that was asked before, in any survey, has the value that was drawn then, or a draw from it if this
        survey is a wave.

        Parameters
        ----------
        survey : Survey
        collector : str
            The collector that gets the report; values that are new to it are entered in its ledger.
        draw : callable
            Makes the values to keep, as `deniable_client.permanent`. Called at most once, and not if there is a report.
        ceiling : Ceiling, optional
            Bounds on epsilon; the one for a survey is also that for one collector within 90 days.

        Raises
        ------
        BudgetError
            If the survey, or a ledger, has no room; nothing is drawn.
        UnusableMemory
            If the file cannot be read or written; nothing is drawn.
        """
        check_kind(survey, Survey, "survey")
        with self._file.transaction() as db:
            self._charge(db, survey, collector, ceiling or Ceiling())
            report = self._report_of(db, survey)
            if report is None:
                report = self._with_known_values(db, survey, draw())
                db.execute("INSERT INTO reports VALUES (?, ?)", (survey.id, report.encode()))
                self._report_of(db, survey)  # a value of a damaged memory is not kept for one of the survey
                db.execute("DELETE FROM tokens WHERE survey = ?", [survey.id])  # it is in the report now
            db.execute("INSERT INTO recipients VALUES (?, ?, 'waiting') ON CONFLICT DO NOTHING", (survey.id, collector))
        return report

    def asked(self, survey: Survey, draw: Callable[[], Collection[str]]) -> tuple[str, ...]:
        """The ids of the questions of a survey that this device asks: the kept draw, or one that it makes and keeps
        now.

        Parameters
        ----------
        survey : Survey
        draw : callable
            Draws the questions if there is no draw yet, as `deniable_client.draw_questions`.

        Raises
        ------
        UnusableMemory
            If the file cannot be read or written; then nothing is to be shown.
        """
        if not survey.is_drawn:
            return tuple(each.id for each in survey.questions)
        with self._file.transaction() as db:
            drawn = draw()
            found = {each for unit in survey.units for each in self._asked_of(db, unit, drawn)}
        return tuple(each.id for each in survey.questions if each.id in found)

    def _asked_of(self, db: sqlite3.Connection, unit: Unit, drawn: Collection[str]) -> Collection[str]:
        if not (unit.group and unit.group.is_drawn):
            return [each.id for each in unit.questions]
        values = _known(db, unit.key)
        try:
            if values is not None:
                return [name for name, value in unit.kept(values).items() if value is not None]
            return unit.marked(_kept(db, unit.key + DRAWN, partial(unit.mark, drawn)))
        except ReportError:
            raise self._file.unusable(f"what it keeps of {unit.group} is not a draw of it") from None

    def token_request(self, survey: Survey, make: Callable[[], UnsignedToken]) -> UnsignedToken | str:
        """The request for the token of a survey: the kept one, or one that ``make`` makes and that is kept first.

        If the token is here already, on its own or in a report, this returns the token. So neither a crash nor two
        processes at once send two messages, of which an issuer would sign only one.

        Raises
        ------
        UnusableMemory
            If the file cannot be read or written; then nobody is to be asked.
        """
        with self._file.transaction() as db:
            report = self._report_of(db, survey)
            # A token in a report, a token on its own, or the request for one, by the step that the last run reached.
            kept = report.credential if report else self._token_of(db, survey)
            if kept is None:
                kept = make()
                db.execute("INSERT INTO tokens VALUES (?, ?, NULL)", (survey.id, kept.encode()))
        return kept

    def keep_token(self, survey: Survey, token: str) -> None:
        """Keep a token in the place of its request, which is not needed any more."""
        with self._file.transaction() as db:
            db.execute("UPDATE tokens SET request = NULL, token = ? WHERE survey = ?", (token, survey.id))

    def invite(self, survey: Survey, collector: str, invitation: str) -> None:
        """Let a report that the collector refused carry another invitation, and wait again.

        Its id and its values stay as they are, so it counts once with either invitation. A report that
        has arrived anywhere stays what it is to the last byte.
        """
        with self._file.transaction() as db:
            report = self._report_of(db, survey)
            # Only a report that is refused here and was sent nowhere may change: anything else may have been counted.
            if report and db.execute(_INVITE, {"survey": survey.id, "collector": collector}).rowcount:
                body = replace(report, credential=invitation).encode()
                db.execute("UPDATE reports SET report = ? WHERE survey = ?", (body, survey.id))

    def told(self, survey: Survey, collector: str, ceiling: Ceiling | None = None) -> Disclosure:
        """The privacy loss towards the collector, and in total, once the survey is answered; enters nothing.

        Raises
        ------
        BudgetError
            If that is too much.
        """
        self._date_the_future()
        with self._file.reading() as db:
            ledgers = self._ledgers(db, collector) if db else _Ledgers(set(), {}, {})
        _, own, everybody = ledgers.with_survey(survey, collector, ceiling or Ceiling())
        return Disclosure(own, everybody, bool(ledgers.everybody), self.was_asked(survey))

    def was_asked(self, survey: Survey) -> bool:
        """Whether a question of a survey was asked before, in it or in another one."""
        with self._file.reading() as db:
            known = {key for (key,) in db.execute("SELECT question FROM noisy")} if db else set()
        return not known.isdisjoint(unit.key for unit in survey.units)

    def mark(self, survey: str, collector: str, state: State) -> None:
        """Note the state of a report at a collector; a sent report stays sent."""
        with self._file.transaction() as db:
            db.execute(
                "UPDATE recipients SET state = ? WHERE survey = ? AND collector = ? AND state != 'sent'",
                (state, survey, collector),
            )

    def recall(self, survey: str, collector: str) -> KeptReport | None:
        """The kept report of a survey; its state is waiting at collectors that it was not sent to."""
        with self._file.reading() as db:
            row = db.execute(_RECALL, (collector, survey)).fetchone() if db else None
        return KeptReport(survey, collector, *row) if row else None

    def pending(self, collector: str | None = None) -> tuple[KeptReport, ...]:
        """The reports that wait, for one collector or for all."""
        with self._file.reading() as db:
            rows = db.execute(_PENDING, (collector,)).fetchall() if db else []
        return tuple(KeptReport(*row) for row in rows)

    def replies(self) -> tuple[KeptReport, ...]:
        """All kept reports, once for each collector that they are for."""
        with self._file.reading() as db:
            rows = db.execute(_REPLIES).fetchall() if db else []
        return tuple(KeptReport(*row) for row in rows)

    def ledger(self, collector: str | None = None) -> Ledger:
        """The ledger of a collector within 90 days, by the keys of questions; without one, of all collectors."""
        with self._file.reading() as db:
            entries = self._recent(db, collector and origin_of(collector)) if db else {}
        ledger = Ledger()
        for key, millionths in entries.items():
            ledger = ledger.add(key, millionths / 1e6)
        return ledger

    def _recent(self, db: sqlite3.Connection, origin: str | None) -> dict[str, int]:
        today = self.today()
        start = today - datetime.timedelta(days=WINDOW_DAYS)
        return dict(db.execute(_LEDGER, {"origin": origin, "today": today.isoformat(), "start": start.isoformat()}))

    def _date_the_future(self) -> None:
        """Let entries whose days are all later than today age from today on, too.

        Either the clock was ahead when they were made, or it is behind now. Their days stay, and count again as soon as
        the clock has reached them.
        """
        with self._file.reading() as db:
            is_needed = db is not None and db.execute(_FROM_THE_FUTURE, [self.today().isoformat()]).fetchone()
        if is_needed:
            with self._file.transaction() as db:
                db.execute(_DATE_THE_FUTURE, [self.today().isoformat()])

    def _ledgers(self, db: sqlite3.Connection, collector: str) -> _Ledgers:
        origin = origin_of(collector)
        # Without a window: a collector that has a value keeps it for ever.
        ever = {key for (key,) in db.execute("SELECT question FROM told WHERE origin = ?", (origin,))}
        return _Ledgers(ever, self._recent(db, origin), self._recent(db, None))

    def _charge(self, db: sqlite3.Connection, survey: Survey, collector: str, ceiling: Ceiling) -> None:
        """Enter the questions that are new to the collector, if the ceilings have room for them."""
        today = self.today().isoformat()
        db.execute(_DATE_THE_FUTURE, [today])
        new, _, _ = self._ledgers(db, collector).with_survey(survey, collector, ceiling)
        # A clock that goes back makes no entry older than the last one: it has the later days of the others, too.
        days = [today, *(day for (day,) in db.execute("SELECT DISTINCT day FROM told WHERE day > ?", (today,)))]
        entries = [(origin_of(collector), key, day, cost) for key, cost in new.items() for day in days]
        db.executemany("INSERT INTO told VALUES (?, ?, ?, ?)", entries)

    def _with_known_values(self, db: sqlite3.Connection, survey: Survey, report: Report) -> Report:
        """A new report in which every question that was asked before has its kept value, or a draw from it."""
        values = dict(report.values)
        for unit in survey.units:
            kept = _kept(db, unit.key, partial(unit.to_keep, values))
            try:
                values |= unit.kept(self._sent(db, unit, survey, kept))
            except ReportError:
                raise self._file.unusable(f"what it keeps of question {unit.key} is not a value of it") from None
        return replace(report, values=values)

    def _sent(self, db: sqlite3.Connection, unit: Unit, survey: Survey, kept: ReportValue) -> ReportValue:
        """The value that a survey sends for a kept value: itself, or a draw from it for a wave."""
        waves = waves_of(unit.questions[0].mechanism)
        if waves is None:
            return kept
        return _kept(db, unit.key + survey.id, partial(waves.instantaneous, kept, self.word))

    def _token_of(self, db: sqlite3.Connection, survey: Survey) -> UnsignedToken | str | None:
        """The token of a survey, or the request for it, if neither is in a report yet."""
        row = db.execute("SELECT request, token FROM tokens WHERE survey = ?", (survey.id,)).fetchone()
        if row is None:
            return None
        request, token = row
        try:
            if token is None:
                return UnsignedToken.parse(request)
            if re.fullmatch(survey.credential or "", token) and tokens_of(survey).verifies(token):
                return str(token)
        except (TypeError, ValueError):
            pass  # refused below with every other text
        raise self._file.unusable(f"what it keeps of survey {survey.id} is not a token of it")

    def _report_of(self, db: sqlite3.Connection, survey: Survey) -> Report | None:
        row = db.execute("SELECT report FROM reports WHERE survey = ?", (survey.id,)).fetchone()
        if row is None:
            return None
        with suppress(ReportError):
            report = parse_report(row[0], survey)
            # Other bytes of the same report could carry something; only the one form that this client writes is sent.
            if report.encode() == row[0]:
                return report
        raise self._file.unusable(f"what it keeps of survey {survey.id} is not a report of it")


def _kept(db: sqlite3.Connection, key: str, draw: Callable[[], ReportValue]) -> ReportValue:
    """The value under a key, drawn if there is none."""
    value = _known(db, key)
    if value is None:
        value = draw()
        db.execute("INSERT INTO noisy VALUES (?, ?)", (key, value))
    return value


def _known(db: sqlite3.Connection, key: str) -> ReportValue | None:
    """The value under a key, if there is one."""
    row = db.execute("SELECT value FROM noisy WHERE question = ?", (key,)).fetchone()
    return row[0] if row else None


@dataclass(frozen=True)
class _Ledgers:
    """The questions that a collector was ever told, and its costs and those of all within 90 days, in 1e-6 nats."""

    ever: set[str]
    own: dict[str, int]
    everybody: dict[str, int]

    def with_survey(self, survey: Survey, collector: str, ceiling: Ceiling) -> tuple[dict[str, int], float, float]:
        """The new costs of a survey, and the two totals with it, in nats; a BudgetError if one exceeds its ceiling."""
        ceiling.check(survey)
        # The same value to the same collector tells it nothing more, however old it is. Costs are rounded up to whole
        # numbers, so that no order of adding matters.
        costs = {unit.key: unit.cost for unit in survey.units}
        new = {key: cost for key, cost in costs.items() if key not in self.ever}
        # A question that both have counts once, by the union of their keys.
        own, everybody = (sum((told | new).values()) / 1e6 for told in (self.own, self.everybody))
        if new and own > ceiling.survey:
            raise BudgetError(
                f"collector {origin_of(collector)}: epsilons within {WINDOW_DAYS} days must add up to at most "
                f"{ceiling.survey:g} on this device, with survey {survey.id} they add up to {own:.4g}"
            )
        if new and everybody > ceiling.device:
            raise BudgetError(
                f"device: epsilons within {WINDOW_DAYS} days must add up to at most {ceiling.device:g} over all "
                f"collectors, with survey {survey.id} they add up to {everybody:.4g}"
            )
        return new, own, everybody

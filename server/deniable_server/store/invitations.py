"""Who was invited, and whose invitation is used: `invitations_<id>`, a table without any key of a report.

An invitation is kept as its hash only, beside a state of the same length whether it is used or not: SQLite overwrites a
row by one of its size where it lies, so a page tells which invitations are used and not in which order they were.
Rows that are added are the only ones that move, and they move without respondents; the table is written anew then, so
that no page keeps a copy of a row from before. PostgreSQL moves every row that changes, and writes the table anew for
that.

Where invitations let reports count, the state is one digit. Where they let blind tokens be signed, it has room for the
hashes of as many blinded messages as one invitation may have signed: the same message is signed again, another one is
not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from deniable import Report, Survey
from deniable.access.invitation import hash_of
from deniable.errors import SurveyError
from deniable_server.store import checksum
from deniable_server.store.connection import Connection
from deniable_server.store.interface import InvitationCounts, InvitationState, InvitationUsage
from deniable_server.store.tables import invitations_table
from deniable_server.store.verdict import Verdict

UNUSED, USED = "0", "1"
"""States of an invitation that lets a report count."""

HASH_DIGITS = 64
"""Hexadecimal digits of a SHA-256: that of an invitation, or of a blinded message."""

NO_MESSAGE = UNUSED * HASH_DIGITS
"""Stands where no message was signed yet. It is nothing's hash: whoever found one would have broken SHA-256."""

IS_USED = "ltrim(state, '0') <> ''"
"""In SQL, for both kinds of states."""

_HASH = re.compile(rf"[0-9a-f]{{{HASH_DIGITS}}}")


def check(hashes: Iterable[str]) -> list[str]:
    """Hashes in their order, each once.

    Raises
    ------
    SurveyError
        If one is no SHA-256 in hexadecimal; it says which by number, because an invitation itself may stand there.
    """
    found = list(hashes)
    for number, each in enumerate(found, start=1):
        if not isinstance(each, str) or not _HASH.fullmatch(each):
            raise SurveyError(f"hashes: number {number} must be {HASH_DIGITS} lower-case hexadecimal digits")
    return sorted(set(found))


def add(db: Connection, survey: Survey, hashes: Iterable[str], messages: int) -> InvitationCounts:
    """Invite; within the caller's transaction. Who was invited before keeps the state of the invitation.

    Parameters
    ----------
    messages : int
        How many blinded messages an invitation may have signed; 0 where it lets a report count.
    """
    sent = list(hashes)
    asked = check(sent)
    known = states(db, survey, asked)
    state = NO_MESSAGE * messages or UNUSED
    rows = [(each, state) for each in asked if each not in known]
    if rows:
        db.insert(invitations_table(survey), rows)
        checksum.change(db, survey, checksum.sum_of(survey, "invitation", rows))
    return InvitationCounts(len(rows), len(sent) - len(rows))


def unused(db: Connection, survey: Survey, hashes: Sequence[str] | None) -> InvitationUsage:
    """Count invitations, and say which of some are unused."""
    table = invitations_table(survey)
    query = f"SELECT count(*), count(*) FILTER (WHERE {IS_USED}) FROM {table}"
    invited, used = db.execute(query).fetchone()
    if hashes is None:
        return InvitationUsage(invited, invited - used, None)
    asked = check(hashes)
    found = states(db, survey, asked)
    if missing := len(asked) - len(found):
        raise SurveyError(f"hashes: must be of people who are invited here; {missing:,} of {len(asked):,} are not")
    if survey.results == "live":
        return InvitationUsage(invited, invited - used, None)
    return InvitationUsage(invited, invited - used, [each for each, state in found.items() if not state.strip(UNUSED)])


def state_of(db: Connection, survey: Survey, invitation: str) -> InvitationState:
    """Whether one invitation is used, unless results are live: then that would say whose report came when."""
    check([invitation])
    if survey.results == "live":
        return "untold"
    found = states(db, survey, [invitation])
    if not found:
        return "unknown"
    return "used" if found[invitation].strip(UNUSED) else "unused"


def states(db: Connection, survey: Survey, hashes: Iterable[str], lock: bool = False) -> dict[str, str]:
    """The states of those invitations that there are, by their hashes, in that order; with ``lock`` to change them."""
    return dict(db.rows_with("hash, state", invitations_table(survey), "hash", hashes, lock=lock))


def change(db: Connection, survey: Survey, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Write states over others of their length."""
    query = f"UPDATE {invitations_table(survey)} SET state = ? WHERE hash = ?"
    for each, state in sorted(after.items()):
        db.execute(query, [state, each])
    rows = [*after.items(), *((each, before[each]) for each in after)]
    checksum.change(db, survey, checksum.sum_of(survey, "invitation", rows))


def use_for_message(db: Connection, survey: Survey, invitation: str, message: str, most: int) -> Verdict:
    """Use an invitation to have a blinded message signed, which is named by its hash; what became of the request.

    Parameters
    ----------
    most : int
        How many messages one invitation may have signed.
    """
    found = states(db, survey, [invitation], lock=True)
    if not found:
        return Verdict.UNINVITED
    state = found[invitation]
    messages = [state[start : start + HASH_DIGITS] for start in range(0, len(state), HASH_DIGITS)]
    signed = [each for each in messages if each != NO_MESSAGE]
    if message in signed:
        return Verdict.KNOWN
    if len(signed) >= min(most, len(messages)):
        return Verdict.SPENT
    after = "".join([*signed, message]).ljust(len(state), UNUSED)
    change(db, survey, found, {invitation: after})
    return Verdict.STORED


def widen(db: Connection, survey: Survey, messages: int) -> bool:
    """Make room for so many blinded messages an invitation, where there is less; whether rows moved."""
    table = invitations_table(survey)
    wanted = messages * HASH_DIGITS
    before = db.execute(f"SELECT hash, state FROM {table} WHERE length(state) < ?", [wanted]).fetchall()
    after = [(each, state.ljust(wanted, UNUSED)) for each, state in before]
    for each, state in after:
        db.execute(f"UPDATE {table} SET state = ? WHERE hash = ?", [state, each])
    checksum.change(db, survey, checksum.sum_of(survey, "invitation", [*before, *after]))
    return bool(after)


def rows_of(db: Connection, survey: Survey) -> Iterable[tuple[str, str]]:
    """Hash and state of every invitation of a survey; none of one that is open."""
    if survey.access == "open":
        return ()
    return db.stream(f"SELECT hash, state FROM {invitations_table(survey)}")


class Rights:
    """The right of reports to be counted, within one transaction.

    A blind token was checked by `deniable.parse_report`, and it is spent by the id of its report. An invitation is
    looked up here, and spent when the transaction is about to store its report.
    """

    def __init__(self, db: Connection, survey: Survey, reports: Sequence[Report]) -> None:
        self._db = db
        self._survey = survey
        self._asks = survey.access != "open"
        self._found: dict[str, str] = {}
        self._spent: dict[str, str] = {}
        if survey.access == "invited":
            self._hash = {each.credential: hash_of(each.credential) for each in reports if each.credential}
            self._found = states(db, survey, self._hash.values(), lock=True)

    def refusal_of(self, report: Report) -> Verdict | None:
        """Why a new report does not count; None if it does, and then no other one does by the same right."""
        if not self._asks:
            return None
        if report.credential is None:
            return Verdict.UNINVITED
        if self._survey.access != "invited":
            return None
        invitation = self._hash[report.credential]
        if invitation not in self._found:
            return Verdict.UNINVITED
        if invitation in self._spent or self._found[invitation] != UNUSED:
            return Verdict.SPENT
        self._spent[invitation] = USED
        return None

    def give_back(self, report: Report) -> None:
        """Let an invitation be unused after all: its report turned out to be there."""
        if self._survey.access == "invited" and report.credential:
            self._spent.pop(self._hash[report.credential], None)

    def spend(self) -> None:
        """Write down which invitations are used."""
        if self._spent:
            change(self._db, self._survey, self._found, self._spent)

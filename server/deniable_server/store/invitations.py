"""The invitations of a survey and their states: `invitations_<id>`, a table without any key of a report.

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
"""Length of the hash of an invitation or a blinded message, in hexadecimal digits."""

NO_MESSAGE = UNUSED * HASH_DIGITS
"""Placeholder for a message that was not signed yet: all zeros, of which nobody knows a preimage."""

IS_USED = "ltrim(state, '0') <> ''"
"""SQL condition for a used invitation, for both kinds of states."""

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
    # Sorted: rows are inserted and locked in the order of their keys, which tells nothing of the order of invitations.
    return sorted(set(found))


def add(db: Connection, survey: Survey, hashes: Iterable[str], messages: int) -> InvitationCounts:
    """Add invitations, within the caller's transaction; known ones keep their state.

    Parameters
    ----------
    messages : int
        Number of blinded messages that an invitation may have signed; 0 if reports carry invitations.
    """
    sent = list(hashes)
    asked = check(sent)
    known = states(db, survey, asked)
    # 64 digits for each message that may be signed, or a single digit where a report is counted.
    state = NO_MESSAGE * messages or UNUSED
    rows = [(each, state) for each in asked if each not in known]
    if rows:
        db.insert(invitations_table(survey), rows)
        checksum.change(db, survey, checksum.sum_of(survey, "invitation", rows))
    return InvitationCounts(len(rows), len(sent) - len(rows))


def unused(db: Connection, survey: Survey, hashes: Sequence[str] | None) -> InvitationUsage:
    """Count invitations, and tell which of the given ones are unused."""
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
    """The state of one invitation; untold with live results, beside which it would tell whose report came when."""
    check([invitation])
    if survey.results == "live":
        return "untold"
    found = states(db, survey, [invitation])
    if not found:
        return "unknown"
    return "used" if found[invitation].strip(UNUSED) else "unused"


def states(db: Connection, survey: Survey, hashes: Iterable[str], lock: bool = False) -> dict[str, str]:
    """The states of the known ones among invitations, by hash, in the order of hashes; ``lock`` to change them."""
    return dict(db.rows_with("hash, state", invitations_table(survey), "hash", hashes, lock=lock))


def change(db: Connection, survey: Survey, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Write states over others of their length."""
    query = f"UPDATE {invitations_table(survey)} SET state = ? WHERE hash = ?"
    for each, state in sorted(after.items()):
        db.execute(query, [state, each])
    # Old and new states together: XOR takes the old ones out and puts the new ones in.
    rows = [*after.items(), *((each, before[each]) for each in after)]
    checksum.change(db, survey, checksum.sum_of(survey, "invitation", rows))


def use_for_message(db: Connection, survey: Survey, invitation: str, message: str, most: int) -> Verdict:
    """Use an invitation to have a blinded message, given by its hash, signed; return the verdict on the request.

    Parameters
    ----------
    most : int
        Number of messages that one invitation may have signed.
    """
    # Locked, or two requests at once could have two messages signed for one invitation.
    found = states(db, survey, [invitation], lock=True)
    if not found:
        return Verdict.UNINVITED
    state = found[invitation]
    messages = [state[start : start + HASH_DIGITS] for start in range(0, len(state), HASH_DIGITS)]
    signed = [each for each in messages if each != NO_MESSAGE]
    if message in signed:
        return Verdict.KNOWN
    # Room and permission are changed one after the other, so the smaller of them counts.
    if len(signed) >= min(most, len(messages)):
        return Verdict.SPENT
    # The same length as before, so that SQLite overwrites the row where it lies.
    after = "".join([*signed, message]).ljust(len(state), UNUSED)
    change(db, survey, found, {invitation: after})
    return Verdict.STORED


def widen(db: Connection, survey: Survey, messages: int) -> bool:
    """Make room for ``messages`` blinded messages in each invitation; return whether rows moved."""
    table = invitations_table(survey)
    wanted = messages * HASH_DIGITS
    before = db.execute(f"SELECT hash, state FROM {table} WHERE length(state) < ?", [wanted]).fetchall()
    after = [(each, state.ljust(wanted, UNUSED)) for each, state in before]
    for each, state in after:
        db.execute(f"UPDATE {table} SET state = ? WHERE hash = ?", [state, each])
    checksum.change(db, survey, checksum.sum_of(survey, "invitation", [*before, *after]))
    return bool(after)


def rows_of(db: Connection, survey: Survey) -> Iterable[tuple[str, str]]:
    """Hash and state of every invitation of a survey; an open survey has none."""
    if survey.access == "open":
        return ()
    return db.stream(f"SELECT hash, state FROM {invitations_table(survey)}")


class Rights:
    """The rights of reports to be counted, within one transaction.

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
        """The verdict by which a new report does not count; None if it counts, which uses up its right."""
        if not self._asks:
            return None
        if report.credential is None:
            return Verdict.UNINVITED
        if self._survey.access != "invited":
            return None
        invitation = self._hash[report.credential]
        if invitation not in self._found:
            return Verdict.UNINVITED
        # Spent by an earlier report of this transaction, or before it.
        if invitation in self._spent or self._found[invitation] != UNUSED:
            return Verdict.SPENT
        self._spent[invitation] = USED
        return None

    def give_back(self, report: Report) -> None:
        """Undo the use of an invitation whose report turned out to be stored already."""
        if self._survey.access == "invited" and report.credential:
            self._spent.pop(self._hash[report.credential], None)

    def spend(self) -> None:
        """Write the used invitations to the table."""
        if self._spent:
            change(self._db, self._survey, self._found, self._spent)

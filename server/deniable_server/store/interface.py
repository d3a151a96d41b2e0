"""The interface of stores: the methods that a collector needs of a database, and the promises that it relies on."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, NamedTuple

from deniable import Report, Survey, Tally
from deniable.wire.space import Value
from deniable_server.signing import PrivateKey
from deniable_server.store.release_log import ReleaseRow
from deniable_server.store.verdict import Verdict

Standing = Literal["open", "early", "closed"]
"""Whether a survey takes reports, not yet, or no more."""

InvitationState = Literal["unused", "used", "unknown", "untold"]
"""State of an invitation: ``unknown`` if the survey does not have it, ``untold`` if results are live."""

HIDDEN = -1
"""The value of `Store.release_of` while results may show nothing."""


@dataclass(frozen=True)
class SurveyState:
    """A survey and its state in this store.

    Attributes
    ----------
    survey : Survey
    published_on : str
    closed_on : str or None
        The day on which it was closed for good.
    release : int
        The value of `Store.release_of`.
    """

    survey: Survey
    published_on: str
    closed_on: str | None
    release: int

    @property
    def reports(self) -> int:
        """Number of reports that results show."""
        return max(self.release, 0)

    @property
    def hidden_because(self) -> str | None:
        """Why results show nothing, or None when they show something."""
        return "results come out once the survey has closed" if self.release == HIDDEN else None

    def more_may_wait(self, today: datetime.date) -> str | None:
        """A sentence that results may not show every report yet, without a number; None if they show all."""
        # Live results show everything, hidden ones nothing, and a survey that is over is folded completely.
        if self.hidden_because or self.survey.results != "batches" or self.standing(today) != "open":
            return None
        return (
            f"reports are released in batches of {self.survey.release} or more per cohort, so others may have arrived "
            "that are not shown yet; a complete batch appears after some seconds, by default at most 10"
        )

    def not_open_because(self, today: datetime.date) -> str | None:
        """Why the survey takes no reports on that day, or None when it does."""
        if self.closed_on:
            return f"it was closed on {self.closed_on} (UTC)"
        return self.survey.not_open_because(today)

    def standing(self, today: datetime.date) -> Standing:
        """Whether the survey takes reports on that day, in one word without a date."""
        if self.not_open_because(today) is None:
            return "open"
        # Closed by hand wins: a survey that was closed before its first day never opens.
        is_early = not self.closed_on and self.survey.opens is not None and today < self.survey.opens
        return "early" if is_early else "closed"


class InvitationCounts(NamedTuple):
    """Numbers of new and of known invitations among those that an author added.

    Attributes
    ----------
    added, known : int
        Number of new invitations, and of those that were there before.
    """

    added: int
    known: int


class InvitationUsage(NamedTuple):
    """Numbers of invitations and of unused ones, and which are unused.

    Attributes
    ----------
    invited, unused : int
        Number of invitations of the survey, and of unused ones.
    hashes : list of str or None
        The unused ones among the given hashes; None if none were given, or if results are live.
    """

    invited: int
    unused: int
    hashes: list[str] | None


class Release(NamedTuple):
    """The released tallies and reports of a survey at one moment.

    Attributes
    ----------
    tallies : dict of str or None to Tally
    rows : iterator of tuple
        Id, cohort and one value a question of each report, in the order of ids.
    """

    tallies: dict[str | None, Tally]
    rows: Iterator[tuple[str | int | None, ...]]


class TokenRow(NamedTuple):
    """The row of an API token: its hash, name, scope and last day.

    Attributes
    ----------
    surveys : str
        Ids of the surveys whose results alone it reads, separated by spaces; empty if it reads those of all.
    """

    sha256: str
    name: str
    scope: str
    expires_on: str
    surveys: str = ""


def utc_today() -> datetime.date:
    """The day by which surveys open and close."""
    # UTC, so that opening and closing do not depend on where a collector or a respondent is.
    return datetime.datetime.now(datetime.UTC).date()


class Store(ABC):
    """A collector's database. Every store promises the same; `tests/server/test_store_contract.py` holds all to it.

    1. **Acknowledged is durable.** When `store_reports` returns, what it calls stored or known is on the disk, and
       stays there even if the process or the machine dies next. When it raises, nothing of what was submitted was
       stored, or it can be sent again as if nothing had been: a report counts once.
    2. **A report counts once**, however often, through however many collectors and however late it is sent. The
       same report under its id is known, another one is a conflict; an invitation lets one report count.
    3. **Closed is exact.** Once `close_survey` has returned, no report is stored for that survey, by any collector on
       the same database; every report that was acknowledged before is counted.
    4. **Tallies are a recount.** Rows, tallies and checksum change in one transaction or not at all.
    5. **No order at rest.** No column holds an address, an agent or a time of day; what rests is in the order of random
       ids. What else a database's files tell is said in `docs/storage.md` and `docs/postgresql.md`.
    6. **Results stand still** between releases: `tallies`, `reports`, `released` and `release_of` tell the same set.

    Used from many threads. One thread of a collector writes reports, the `deniable_server.writing.writer`.

    Raised by every method: `StoreUnavailable` when the database cannot be reached or used at the moment, `StoreFull`
    when its disk takes no more, `StoreDamaged` when it is not what was written, `StoreReplaced` when it is another one
    than was opened, `StoreForbidden` when its role may not do that. Nothing was stored then.

    Attributes
    ----------
    name : str
        The database for messages, without a password.
    today : callable
        The day by which surveys open and close.
    unfolded : int
        Reports stored since the last settling that wait for a fold.
    is_new : bool
        Whether opening the store made its tables, because there were none.
    on_release : callable
        Called with a survey after each commit that changed what results show of it, except where they are live.
    """

    name: str
    today: Callable[[], datetime.date]
    unfolded: int
    is_new: bool
    on_release: Callable[[Survey], None]

    @abstractmethod
    def leave(self) -> None:
        """Release the resources of this thread, which will not use the store again."""

    @abstractmethod
    def close(self) -> None:
        """Release all resources, in the thread that opened the store."""

    @abstractmethod
    def publish(self, survey: Survey, owner: str | None = None, signs: bool = False) -> bool:
        """Keep a survey for ever; return whether it is new. It belongs to the token named ``owner``, or to nobody.

        Parameters
        ----------
        signs : bool
            Whether its blind tokens are to be signed here, also where it says that another issuer signs them.

        Raises
        ------
        SurveyError
            If its blind tokens are to be signed here, and the key is not here or is another survey's.
        """

    @abstractmethod
    def owner(self, survey_id: str) -> str | None:
        """The name of the token that published a survey, or None if it belongs to nobody."""

    @abstractmethod
    def remember_public_url(self, survey_id: str, url: str) -> None:
        """Keep the address at which people reach the collector of a survey; links made later start with it.

        Raises
        ------
        NotFound
            If there is no such survey.
        """

    @abstractmethod
    def public_url(self, survey_id: str) -> str | None:
        """The address that `remember_public_url` was given last, or None if nobody named one."""

    @abstractmethod
    def survey(self, survey_id: str) -> Survey:
        """The survey of that address.

        Raises
        ------
        NotFound
            If there is no such survey.
        """

    @abstractmethod
    def state(self, survey_id: str) -> SurveyState:
        """The survey of that address, whether it is closed, and how many reports results show.

        Raises
        ------
        NotFound
            If there is no such survey.
        """

    @abstractmethod
    def states(self, owner: str | None = None) -> list[SurveyState]:
        """All surveys, or those that the token named ``owner`` published, in the order of publication."""

    @abstractmethod
    def number_of_surveys(self) -> int:
        """Number of surveys that were ever published here. It never falls: no survey is ever deleted."""

    @abstractmethod
    def close_survey(self, survey_id: str) -> SurveyState:
        """Take no more reports for a survey, from the next transaction on, and fold what it has.

        Raises
        ------
        NotFound
            If there is no such survey.
        """

    @abstractmethod
    def store_reports(self, submissions: Sequence[tuple[Survey, Sequence[Report]]]) -> list[list[Verdict]]:
        """Store reports in one durable transaction, and return the verdict on each.

        When this returns, what it calls stored is on disk. When it raises, nothing of the submissions is, or what is
        there will be known when it is sent again.

        Parameters
        ----------
        submissions : sequence of (Survey, sequence of Report)
            As they came.

        Returns
        -------
        list of list of Verdict
            For each submission the verdicts, one for each report.

        Raises
        ------
        NotFound
            If a survey is not here.
        """

    @abstractmethod
    def settle(self) -> bool:
        """Fold the reports that are due, sort new rows, and leave no trace of their order; return whether all was done.

        It can be interrupted anywhere and repeated.
        """

    @abstractmethod
    def believed_day(self) -> datetime.date:
        """The day by which irreversible things are done: the last one on which the clock could be trusted."""

    @abstractmethod
    def release_of(self, survey_id: str) -> int:
        """The number of reports that results show, or `HIDDEN`; it changes exactly when what they show changes.

        It costs a look at the totals, however many reports there are.

        Raises
        ------
        NotFound
            If there is no such survey.
        """

    @abstractmethod
    def tallies(self, survey: Survey) -> dict[str | None, Tally]:
        """The tallies by cohort of the reports that results show; the cost does not grow with their number.

        Where results are live, pending rows are counted beside the tallies.
        """

    @abstractmethod
    def waiting(self, survey: Survey) -> dict[str | None, int]:
        """Number of stored reports by cohort that results do not show yet; cohorts without any are left out.

        Only the operator and the holder of the survey's token may see it: to others it would tell each arrival.
        """

    @abstractmethod
    def reports(self, survey: Survey) -> Iterator[Report]:
        """Every report that results show, in the order of its random id; none of a survey that keeps only tallies.

        Reads a few at a time. What they showed when it began, and not less, comes out once, because a fold moves rows
        without changing their ids; of a release that comes meanwhile, the ids that are still ahead.
        """

    @abstractmethod
    def joint_counts(self, survey: Survey, first: str, second: str) -> list[tuple[Value, Value, int]]:
        """How many of the reports that results show hold each pair of values of two questions, given by their ids.

        Empty where results show no reports: while they are hidden, and where the survey keeps only tallies.
        """

    @abstractmethod
    def released(self, survey: Survey) -> AbstractContextManager[Release]:
        """The reports that results show and the tallies of exactly these, from one snapshot.

        Reads a few at a time, in one transaction that lasts as long as the block. Nobody waits for it; but as long as
        it lasts what is deleted or written anew leaves older copies behind, as any long read of a database does. No
        rows of a survey that keeps only tallies.
        """

    @abstractmethod
    def add_invitations(self, survey_id: str, hashes: Iterable[str]) -> InvitationCounts:
        """Add the invitations with these hashes. Known ones stay as they are, used or not.

        Raises
        ------
        NotFound
            If there is no such survey.
        SurveyError
            If a hash is not a SHA-256 in hexadecimal, or the survey has no invitations here.
        """

    @abstractmethod
    def unused_invitations(self, survey_id: str, hashes: Iterable[str] | None = None) -> InvitationUsage:
        """Numbers of invitations and unused ones, and which of the given hashes are unused.

        With live results it never tells which: beside them, that would tell whose report came when. Raises what
        `add_invitations` raises.
        """

    @abstractmethod
    def is_invited(self, survey_id: str, invitation: str) -> bool:
        """Whether an invitation, named by its hash, is one of that survey here, used or not.

        Raises
        ------
        NotFound
            If there is no such survey.
        SurveyError
            If the survey has no invitations here.
        """

    @abstractmethod
    def invitation_state(self, survey_id: str, invitation: str) -> InvitationState:
        """Whether an invitation, given by its hash, would still let a report count; changes nothing.

        With live results it is never told: beside them, that would tell whose report came when.

        Raises
        ------
        NotFound
            If there is no such survey.
        SurveyError
            If the hash is not a SHA-256 in hexadecimal, or the survey has no invitations that reports carry.
        """

    @abstractmethod
    def issue(self, survey_id: str, invitation: str, message: str) -> Verdict:
        """Use an invitation to have a blinded message signed; both are given by their hashes.

        The signature may be told after `Verdict.STORED`, and again after `Verdict.KNOWN`.

        Raises
        ------
        NotFound
            If there is no such survey, or its tokens are not signed here.
        """

    @abstractmethod
    def add_key(self, key: PrivateKey) -> None:
        """Keep a new key for the blind tokens of one survey, which is not written yet."""

    @abstractmethod
    def signing_key(self, survey: Survey) -> str | None:
        """The private key, a PEM, that signs the blind tokens of a survey here; None if no key here does."""

    @abstractmethod
    def set_reissue(self, survey_id: str, n: int) -> None:
        """Let each invitation of a survey have ``n`` more blinded messages signed after its first.

        Raises
        ------
        NotFound
            If there is no such survey.
        ParameterError
            If it is not a number from 0 to `keys.MOST_REISSUED`.
        SurveyError
            If the survey's tokens are not signed here.
        """

    @abstractmethod
    def releases(self, survey: Survey, first: int = 1) -> Sequence[ReleaseRow]:
        """The releases of a survey that were recorded, in order, from the one of number ``first`` on."""

    @abstractmethod
    def release(self, survey: Survey, number: int | None = None) -> ReleaseRow | None:
        """The recorded release of that number, by default the newest; None if there is none."""

    @abstractmethod
    def add_release(self, survey: Survey, row: ReleaseRow) -> bool:
        """Append a release to the log of a survey; False, and nothing happens, if there is one of that number."""

    @abstractmethod
    def release_key(self, make: Callable[[], str]) -> str:
        """The private key, a PEM, that signs releases; ``make`` makes it if there is none."""

    @abstractmethod
    def add_token(self, row: TokenRow) -> bool:
        """Keep an API token; False, and nothing happens, if there is one of that name."""

    @abstractmethod
    def tokens(self) -> list[TokenRow]:
        """Every API token, by name."""

    @abstractmethod
    def remove_token(self, name: str) -> bool:
        """Remove an API token; False if there is none of that name."""

    @abstractmethod
    def not_ready_because(self, min_free: int) -> str | None:
        """Why a report could not be stored now, as a sentence for ``/readyz``; None if one could. Takes no lock.

        Parameters
        ----------
        min_free : int
            Bytes that must be free where the store can know it.
        """

    @abstractmethod
    def free_bytes(self) -> int | None:
        """Free space on the disk of the database, in bytes; None if the collector cannot know it."""

    @abstractmethod
    def try_to_write(self) -> None:
        """Commit a transaction that changes nothing, or raise the reason why that fails."""

"""What a collector asks of the place where reports rest, and what it may rely on there."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, NamedTuple

from deniable import Report, Survey, Tally
from deniable_server.signing import PrivateKey
from deniable_server.store.verdict import Verdict

Standing = Literal["open", "early", "closed"]
"""Whether a survey takes reports, does not yet, or does no longer."""

InvitationState = Literal["unused", "used", "unknown", "untold"]
"""State of an invitation: ``unknown`` if the survey has no such one, ``untold`` where results are live."""

HIDDEN = -1
"""What `Store.release_of` says while results may show nothing."""


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

    def more_may_wait(self, today: datetime.date) -> str | None:
        """That results may not show every report yet, for whoever may not know how many wait; None where they do."""
        if self.hidden_because or self.survey.results != "batches" or self.standing(today) != "open":
            return None
        return (
            f"reports are released in lots of {self.survey.release} or more of a cohort, so others may have come that "
            "are not shown yet"
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
        is_early = not self.closed_on and self.survey.opens is not None and today < self.survey.opens
        return "early" if is_early else "closed"


class InvitationCounts(NamedTuple):
    """What became of invitations that somebody added.

    Attributes
    ----------
    added, known : int
        How many are new, and how many were there before.
    """

    added: int
    known: int


class InvitationUsage(NamedTuple):
    """How many were invited, and who has not used it.

    Attributes
    ----------
    invited, unused : int
        Invitations of the survey, and how many of them are unused.
    hashes : list of str or None
        Those of the hashes asked for that are unused; None where nobody asked, and where results are live.
    """

    invited: int
    unused: int
    hashes: list[str] | None


class Release(NamedTuple):
    """What results show of a survey at one moment.

    Attributes
    ----------
    tallies : dict of str or None to Tally
    rows : iterator of tuple
        Id, cohort and one value a question of each report, in the order of ids.
    """

    tallies: dict[str | None, Tally]
    rows: Iterator[tuple[str | int | None, ...]]


class TokenRow(NamedTuple):
    """An API token as it is kept: its hash, and what it may until when."""

    sha256: str
    name: str
    scope: str
    expires_on: str


def utc_today() -> datetime.date:
    """The day by which surveys open and close."""
    return datetime.datetime.now(datetime.UTC).date()


class Store(ABC):
    """A collector's database. Every store promises the same; `tests/server/test_store_contract.py` holds all to it.

    1. **Acknowledged is durable.** When `store_reports` returns, what it calls stored or known is on the disk, and
       stays there whatever is killed next. When it raises, nothing of what was submitted was stored, or it can be sent
       again as if nothing had been: a report counts once.
    2. **A report counts once**, however often, through however many collectors and at whatever moment it is sent. The
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
    on_release : callable
        Called with a survey after each commit that changed what results show of it, except where they are live.
    """

    name: str
    today: Callable[[], datetime.date]
    unfolded: int
    on_release: Callable[[Survey], None]

    @abstractmethod
    def leave(self) -> None:
        """Let go of what this thread has of the store; it will not come back."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything, in the thread that opened it."""

    @abstractmethod
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

    @abstractmethod
    def owner(self, survey_id: str) -> str | None:
        """The name of the token that published a survey, or None if it belongs to nobody."""

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
        """Every survey here, or those that the token of that name published, in the order of publication."""

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
        """Store reports in one durable transaction, and say of each what became of it.

        When this returns, what it calls stored is on disk. When it raises, nothing of the submissions is, or what is
        there will be known when it is sent again.

        Parameters
        ----------
        submissions : sequence of (Survey, sequence of Report)
            As they came.

        Returns
        -------
        list of list of Verdict
            For each submission one outcome a report.

        Raises
        ------
        NotFound
            If a survey is not here.
        """

    @abstractmethod
    def settle(self) -> bool:
        """Fold what is due, sort what came, and leave no order behind; whether that could be done completely.

        It can be interrupted anywhere and done again.
        """

    @abstractmethod
    def release_of(self, survey_id: str) -> int:
        """A number that changes exactly when what results may show of a survey does; -1 while they may show nothing.

        It is how many reports they show. It costs a look at the totals, however many reports there are.

        Raises
        ------
        NotFound
            If there is no such survey.
        """

    @abstractmethod
    def tallies(self, survey: Survey) -> dict[str | None, Tally]:
        """Supports by cohort, of the reports that results show; the cost does not grow with their number.

        Where results are live, pending rows are counted beside the tallies.
        """

    @abstractmethod
    def waiting(self, survey: Survey) -> dict[str | None, int]:
        """How many stored reports of each cohort results do not show yet; cohorts without any are left out.

        For whoever has the database, or the survey's token: to everybody else it would tell each arrival.
        """

    @abstractmethod
    def reports(self, survey: Survey) -> Iterator[Report]:
        """Every report that results show, in the order of its random id; none of a survey that keeps only tallies.

        Reads a few at a time. What they showed when it began, and not less, comes out once, because a fold moves rows
        without changing their ids; of a release that comes meanwhile, the ids that are still ahead.
        """

    @abstractmethod
    def released(self, survey: Survey) -> AbstractContextManager[Release]:
        """Every report that results show, and the tallies that count just these, whatever comes meanwhile.

        Reads a few at a time, in one transaction that lasts as long as the block. Nobody waits for it; but as long as
        it lasts what is deleted or written anew leaves older copies behind, as any long read of a database does. No
        rows of a survey that keeps only tallies.
        """

    @abstractmethod
    def add_invitations(self, survey_id: str, hashes: Iterable[str]) -> InvitationCounts:
        """Invite whoever has the secrets of these hashes. Who was invited before stays so, used or not.

        Raises
        ------
        NotFound
            If there is no such survey.
        SurveyError
            If a hash is not a SHA-256 in hexadecimal, or the survey has no invitations here.
        """

    @abstractmethod
    def unused_invitations(self, survey_id: str, hashes: Iterable[str] | None = None) -> InvitationUsage:
        """How many were invited and how many invitations are unused, and of the hashes asked for which ones.

        Where results are live it is never said which ones: beside them it would say whose report came when. Refuses
        what `add_invitations` refuses.
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
        """Whether an invitation, named by its hash, would still let a report count; nothing is changed.

        Where results are live it is never said: beside them it would say whose report came when.

        Raises
        ------
        NotFound
            If there is no such survey.
        SurveyError
            If the hash is not a SHA-256 in hexadecimal, or the survey has no invitations that reports carry.
        """

    @abstractmethod
    def issue(self, survey_id: str, invitation: str, message: str) -> Verdict:
        """Use an invitation to have a blinded message signed; both are named by their hashes.

        Whoever gets `Verdict.STORED`, or later `Verdict.KNOWN`, may be told the signature.

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
        """The private key, a PEM, that signs the blind tokens of a survey here; None where none does."""

    @abstractmethod
    def set_reissue(self, survey_id: str, n: int) -> None:
        """Let each invitation of a survey have so many other blinded messages signed after its first.

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
    def add_token(self, row: TokenRow) -> bool:
        """Keep an API token; False, and nothing happens, where there is one of that name."""

    @abstractmethod
    def tokens(self) -> list[TokenRow]:
        """Every API token, by name."""

    @abstractmethod
    def remove_token(self, name: str) -> bool:
        """Forget an API token; False where there is none of that name."""

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
        """Bytes that the disk of the database has left; None where the collector cannot know."""

    @abstractmethod
    def try_to_write(self) -> None:
        """Commit what changes nothing, or raise why that cannot be."""

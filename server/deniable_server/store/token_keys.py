"""The private keys that sign blind tokens: made before the survey whose document names their public half.

One key serves one survey. People who are invited to a survey can have any message signed by its key; with a second
survey under the same key they could take part in that as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from deniable import Survey
from deniable.errors import ParameterError, SurveyError
from deniable_server.signing import PrivateKey
from deniable_server.store import checksum, invitations
from deniable_server.store.connection import Connection

MOST_REISSUED = 9
"""Largest number of further blinded messages for one invitation: enough for a person with ten broken devices."""


class SigningKey(NamedTuple):
    """The row of a signing key.

    Attributes
    ----------
    private : str
        A PKCS#8 PEM.
    reissue : int
        Number of further blinded messages that it signs for an invitation after the first.
    """

    private: str
    reissue: int


def add(db: Connection, key: PrivateKey) -> None:
    """Keep a new key, which belongs to no survey yet."""
    # Made before its survey: the published document names the public half.
    db.execute("INSERT INTO signing_keys VALUES (?, ?, NULL, 0)", [key.key_id, key.pem])


def bind(db: Connection, survey: Survey, must: bool) -> int:
    """Bind the key of a survey to it; return the change of the survey's checksum.

    Parameters
    ----------
    must : bool
        Whether the key has to be here, even if the survey names another issuer.

    Raises
    ------
    SurveyError
        If the key is another survey's, or is not here and must be.
    """
    if survey.issuer is None:
        if must:
            raise SurveyError(f"survey {survey.id}: has no blind tokens to sign, its access is {survey.access!r}")
        return 0
    key_id = survey.issuer.key_id.hex()
    found = db.execute("SELECT survey FROM signing_keys WHERE key_id = ?", [key_id]).fetchone()
    if found is None:
        if must or survey.issuer.url is None:
            raise SurveyError(
                "issuer.key: its private half must be in this database, and is not; make a key here with "
                "'deniable issuer key' and put what that prints into the survey, or name who signs as issuer.url"
            )
        return 0
    # Published again: nothing changes, and XOR must not count the key a second time.
    if found[0] == survey.id:
        return 0
    if found[0] is not None:
        raise SurveyError(
            f"issuer.key: belongs to survey {found[0]}, and a key serves one survey only; make another one with "
            "'deniable issuer key'"
        )
    db.execute("UPDATE signing_keys SET survey = ? WHERE key_id = ?", [survey.id, key_id])
    return checksum.sum_of(survey, "key", rows_of(db, survey))


def of(db: Connection, survey: Survey) -> SigningKey | None:
    """The key that signs for a survey here; None if there is none."""
    # At most one: the column of the survey is unique.
    for _, private, reissue in rows_of(db, survey):
        return SigningKey(str(private), int(str(reissue)))
    return None


def set_reissue(db: Connection, survey: Survey, n: int) -> bool:
    """Let each invitation have ``n`` more blinded messages signed; return whether rows of invitations moved.

    Raises
    ------
    ParameterError
        If it is not a number from 0 to `MOST_REISSUED`.
    SurveyError
        If no key here signs for the survey.
    """
    if not 0 <= n <= MOST_REISSUED:
        raise ParameterError(f"reissue: must be 0 to {MOST_REISSUED}, got {n}")
    before = rows_of(db, survey)
    if not before:
        raise SurveyError(f"survey {survey.id}: its tokens are not signed here")
    db.execute("UPDATE signing_keys SET reissue = ? WHERE survey = ?", [n, survey.id])
    checksum.change(db, survey, checksum.sum_of(survey, "key", [*before, *rows_of(db, survey)]))
    # Rows get longer, so they move: the caller has the table sorted.
    return invitations.widen(db, survey, 1 + n)


def rows_of(db: Connection, survey: Survey) -> Sequence[tuple[object, ...]]:
    """The row of a survey's key, as its checksum counts it."""
    query = "SELECT key_id, private, reissue FROM signing_keys WHERE survey = ?"
    return db.execute(query, [survey.id]).fetchall()


def differences(db: Connection) -> Iterator[str]:
    """The damaged keys, one sentence each, whether they are bound to a survey or not."""
    for key_id, private in db.execute("SELECT key_id, private FROM signing_keys"):
        try:
            # A damaged key that still parses would sign tokens that no device accepts.
            is_whole = PrivateKey.parse(private).key_id == key_id
        except ValueError:
            is_whole = False
        if not is_whole:
            yield "signing_keys: a private key is not that of its public one"

"""The checksum of a survey: the XOR of the SHA-256 of all its rows.

XOR knows no order, so the sum can follow every change in the same transaction, without a scan, and says nothing about
when what came. What is hashed of a row is a tuple as Python's `ascii` writes it, which takes a third of the time of
JSON: the survey's address, the kind of row, and its values. Kinds are `survey` (published_on, closed_on), `owner`
(token), `public url` (url), `release` (number, record, signature), `key` (key_id, private, reissue), `invitation`
(hash, state), `total` (cohort, n), `tally` (cohort, question, option, n), `report` (id, cohort, one value a question;
pending or not, so that a fold changes nothing) and `id` (what is kept of a folded report where retention is "tallies").

XOR protects against faults, not against an intruder: with the right to change a row comes the right to change the sum.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from deniable import Survey
from deniable_server.store.connection import Connection


def kind_kept(survey: Survey) -> str:
    """The kind of row that a folded report leaves: the report, or its id alone."""
    return "report" if survey.retention == "reports" else "id"


def digest(survey: Survey, kind: str, values: Sequence[object]) -> int:
    """The hash of one row, as a number of 256 bits.

    >>> from deniable import read_survey
    >>> survey = read_survey('title = "T"\\n[[questions]]\\nid = "q"\\ntype = "yes-no"\\ntext = "Q?"\\nepsilon = 1')
    >>> row = "('%s', 'total', 'web', 3)" % survey.id
    >>> digest(survey, "total", ["web", 3]) == int(hashlib.sha256(row.encode()).hexdigest(), 16)
    True
    """
    return sum_of(survey, kind, [values])


def sum_of(survey: Survey, kind: str, rows: Iterable[Sequence[object]]) -> int:
    """The XOR of the hashes of rows of one kind."""
    total = 0
    # The tuple without its closing bracket: the part that all rows of this kind share.
    start = ascii((survey.id, kind))[:-1].encode("ascii")
    for values in rows:
        row = start + b", %a" * len(values) % tuple(values) + b")"
        # XOR is its own inverse: adding a row and removing it are the same operation.
        total ^= int.from_bytes(hashlib.sha256(row).digest(), "big")
    return total


def change(db: Connection, survey: Survey, difference: int) -> None:
    """XOR the hashes of removed and added rows into a survey's checksum."""
    if difference:
        db.change_checksum(survey.id, difference)

"""Stores of reports: a SQLite file, or a PostgreSQL database that several collectors share.

`interface` states what a collector asks of a store and may rely on; each other file holds one idea below it:

=============  ================================================================================================
`interface`    `Store`: the promises
`database`     which store it is that ``--db`` names
`sql_store`    what every database does in the same words
`connection`   what those words are said to
`errors`       what can be wrong
`tables`       the tables of a survey, and what a row of them is
`verdict`      what becomes of a report, and of a request for a token
`invitations`  who was invited, and whose invitation is used
`keys`         the private keys that sign blind tokens, and for which survey
`api_tokens`   the hashes of API tokens
`agenda`       which surveys there is something to do for, and from which day on
`calendar`     which day it is, and whether that can be believed
`counts`       supports: counted from rows, kept as tallies
`checksum`     one number for everything that is stored of a survey, independent of the order
`copying`      from one store into another; `deniable copy`
`integrity`    whether a database is what was written; `deniable check`
`sqlite`       what only SQLite does
`postgresql`   what only PostgreSQL does
=============  ================================================================================================

No column of any table holds an address, a user agent or a time of day.
"""

from deniable_server.store.copying import CopySummary
from deniable_server.store.database import copy_everything, database_at, open_store
from deniable_server.store.errors import (
    NotFound,
    StoreBusy,
    StoreDamaged,
    StoreForbidden,
    StoreFull,
    StoreReplaced,
    StoreUnavailable,
)
from deniable_server.store.interface import (
    InvitationCounts,
    InvitationUsage,
    Release,
    Store,
    SurveyState,
    TokenRow,
    utc_today,
)
from deniable_server.store.verdict import Verdict

__all__ = [
    "CopySummary",
    "InvitationCounts",
    "InvitationUsage",
    "NotFound",
    "Release",
    "Store",
    "StoreBusy",
    "StoreDamaged",
    "StoreForbidden",
    "StoreFull",
    "StoreReplaced",
    "StoreUnavailable",
    "SurveyState",
    "TokenRow",
    "Verdict",
    "copy_everything",
    "database_at",
    "open_store",
    "utc_today",
]

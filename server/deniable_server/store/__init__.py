"""Stores of reports: a SQLite file, or a PostgreSQL database that several collectors share.

`interface` states what a collector asks of a store and may rely on; each other file holds one idea below it:

=============  ================================================================================================
`interface`    `Store`, the interface of stores, with its promises
`database`     the kind of store that ``--db`` names
`sql_store`    the part of a store that both databases do with the same SQL
`connection`   the interface of connections, to which that SQL is given
`errors`       the errors of stores
`tables`       the tables of a survey and their rows
`verdict`      the verdicts on reports, and on requests for tokens
`invitations`  the invitations of a survey, and which of them are used
`keys`         the private keys that sign blind tokens, one for each survey
`api_tokens`   the hashes of API tokens
`agenda`       the surveys that have to be settled, each from a day on
`calendar`     the present day, and whether the clock can be trusted
`counts`       numbers of supports, counted from rows and kept as tallies
`checksum`     one number for everything that is stored of a survey, independent of the order
`copying`      the copy of one store into another; `deniable copy`
`integrity`    the comparison of a database with its checksums; `deniable check`
`sqlite`       the part that only SQLite has
`postgresql`   the part that only PostgreSQL has
=============  ================================================================================================

No column of any table holds an address, a user agent or a time of day.
"""

from deniable_server.store.copying import CopySummary
from deniable_server.store.database import copy_everything, database_at, open_store
from deniable_server.store.errors import (
    NoRelease,
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
    "NoRelease",
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

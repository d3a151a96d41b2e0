"""Where reports rest: SQLite through sqlite-utils.

`store` is the face that the collector uses; each other file holds one idea below it:

=============  ================================================================================================
`connection`   a commit is on the disk when it returns; transactions; a log that keeps nothing
`files`        whether the files under a database's names are still those that were opened
`lock`         one collector a database
`migrations`   the tables of every version, and the way from an older one
`tables`       the tables of a survey, and what a row of them is
`pending`      how a report comes in: known, in conflict, or new
`outcome`      what becomes of a report, and of a request for a token
`invitations`  who was invited, and whose invitation is used
`keys`         the private keys that sign blind tokens, and for which survey
`agenda`       which surveys there is something to do for, and from which day on
`calendar`     which day it is, and whether that can be believed
`fold`         how pending reports become rows in the order of their ids, and how a table comes to tell no order
`counts`       supports: counted from rows, kept as tallies
`checksum`     one number for everything that is stored of a survey, whatever its order
`integrity`    whether a database is what was written; `deniable check`
`backup`       a copy of a running collector's database; `deniable backup`
=============  ================================================================================================

No column of any table holds an address, a user agent or a time of day.
"""

from deniable_server.store.errors import NotFound, StoreBusy, StoreDamaged, StoreFull, StoreReplaced
from deniable_server.store.invitations import Added, Unused
from deniable_server.store.outcome import Outcome
from deniable_server.store.store import Store, SurveyState, utc_today

__all__ = [
    "Added",
    "NotFound",
    "Outcome",
    "Store",
    "StoreBusy",
    "StoreDamaged",
    "StoreFull",
    "StoreReplaced",
    "SurveyState",
    "Unused",
    "utc_today",
]

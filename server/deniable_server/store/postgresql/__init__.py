"""A PostgreSQL database, which several collectors may use at once, through psycopg.

=============  ================================================================================================
`store`        the store over it
`connection`   what a query is said to; the pool; locks that the collectors take among each other
`durability`   settings without which a commit is no promise, and settings that write down who came when
`errors`       what PostgreSQL calls what can be wrong
`migrations`   the tables of every version, and the way from an older one
`roles`        what a role may that takes reports, and one that reads results (`roles.sql`)
`tables`       how the tables of a survey are made
`pending`      how a report comes in: known, in conflict, or new
`fold`         how pending reports become rows in the order of their ids, and how a table comes to tell no order
`integrity`    whether a database is what was written; `deniable check`
`database`     all of that by the address of a database, for commands
=============  ================================================================================================
"""

"""A PostgreSQL database, which several collectors may use at once, through psycopg.

=============  ================================================================================================
`store`        the store over the database
`connection`   connections, the settings of each, and the locks that collectors take among each other
`durability`   settings without which a commit may be lost, and settings that write down who came when
`errors`       the translation of PostgreSQL's errors into those of a store
`migrations`   the tables of every version, and the steps from an older one
`roles`        the rights of a role that takes reports, and of one that reads results (`roles.sql`)
`tables`       the making of a survey's tables
`pending`      the taking of a report, which is known, in conflict, or new
`fold`         the move of pending reports to rows in the order of their ids, and tables that tell no other order
`integrity`    the comparison of a database with its checksums; `deniable check`
`database`     all of these by the address of a database, for commands
=============  ================================================================================================
"""

"""The store over one SQLite file, through sqlite-utils.

================== ================================================================================================
`store`            the store over the file
`connection`       connections whose commits are on the disk when they return, and whose log keeps nothing
`errors`           the translation of SQLite's errors into those of a store
`database_files`   the check that the files under a database's names are still those that were opened
`library`          sqlite-utils, without pandas, which it would load
`lock`             the lock by which one collector at a time serves a database
`migrations`       the tables of every version, and the steps from an older one
`tables`           the making of a survey's tables
`pending`          the taking of a report, which is known, in conflict, or new
`fold`             the move of pending reports to rows in the order of their ids, and tables that tell no other order
`integrity`        the comparison of a file with its checksums; `deniable check`
`backup`           the copy of a running collector's database; `deniable backup`
`letterbox`        the file of a place: sealed reports on their way to collectors
`file`             all of these by the name of a file, for commands
================== ================================================================================================
"""

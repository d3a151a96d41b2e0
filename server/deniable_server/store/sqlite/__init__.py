"""The store over one SQLite file, through sqlite-utils.

================== ================================================================================================
`store`            the store over it
`connection`       a commit is on the disk when it returns; transactions; a log that keeps nothing
`errors`           what SQLite calls what can be wrong
`database_files`   whether the files under a database's names are still those that were opened
`library`          sqlite-utils, and nothing that only it would load
`lock`             one collector a database
`migrations`       the tables of every version, and the way from an older one
`tables`           how the tables of a survey are made
`pending`          how a report comes in: known, in conflict, or new
`fold`             how pending reports become rows in the order of their ids, and how a table comes to tell no order
`integrity`        whether a file is what was written; `deniable check`
`backup`           a copy of a running collector's database; `deniable backup`
`file`             all of that by the name of a file, for commands
================== ================================================================================================
"""

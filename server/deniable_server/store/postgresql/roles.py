"""The rights of a role that takes reports, and of one that reads results; `roles.sql` beside this file makes them.

The owner of the schema may do everything: publish, close, fold, check. The other roles have the rights that they need
on each table, and none by default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from deniable import Survey
from deniable_server.store.postgresql.connection import SCHEMA, PostgresqlConnection
from deniable_server.store.tables import invitations_table, pending_table, reports_table, tables_of

SQL = Path(__file__).with_name("roles.sql")

OPERATE, INGEST, READ = "deniable_operate", "deniable_ingest", "deniable_read"

OF_ALL = {
    INGEST: {
        "surveys": "SELECT",
        "owners": "SELECT",
        "public_urls": "SELECT",
        "tokens": "SELECT",
        "calendar": "SELECT",
        "migrations": "SELECT",
        "totals": "SELECT",
        "tallies": "SELECT",
        "signing_keys": "SELECT",
        "releases": "SELECT, INSERT",
        "release_keys": "SELECT, INSERT",
        "agenda": "SELECT, INSERT, UPDATE",
        "unsorted": "SELECT, INSERT",
        "checksums": "SELECT, INSERT, UPDATE",
    },
    READ: {
        "surveys": "SELECT",
        "calendar": "SELECT",
        "migrations": "SELECT",
        "releases": "SELECT",
        "totals": "SELECT",
        "tallies": "SELECT",
    },
}
"""Rights of the roles on the tables that all surveys share."""


SECURED = ("totals", "tallies")
"""Tables whose rows a role sees by a policy (row-level security)."""

RELEASED = """
(SELECT closed_on IS NOT NULL OR convert_from(document, 'UTF8')::json ->> 'results' IS DISTINCT FROM 'closed'
 FROM surveys WHERE id = survey)"""
"""SQL condition for surveys whose results may be seen."""


def grant_all(db: PostgresqlConnection, surveys: Callable[[], Iterable[tuple[Survey, bool]]]) -> None:
    """Give each role the rights that it lacks; within a transaction of the owner.

    Parameters
    ----------
    surveys : callable
        Every survey, and whether it was closed.
    """
    # Grants take locks, so they run only where something is missing, not at every start.
    lacking = [role for role in _roles(db) if not _has_rights(db, role)]
    for role in lacking:
        for table, rights in OF_ALL[role].items():
            db.execute(f"GRANT {rights} ON {table} TO {role}")
        for table in SECURED:
            db.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")  # which does not bind their owner
            seen = "true" if role == INGEST else RELEASED
            db.execute(f"DROP POLICY IF EXISTS {role} ON {table}")
            db.execute(f"CREATE POLICY {role} ON {table} FOR SELECT TO {role} USING ({seen})")
    if lacking:
        for survey, is_closed in surveys():
            for table in tables_of(survey):
                grant(db, survey, table, is_closed)


def grant(db: PostgresqlConnection, survey: Survey, table: str, is_closed: bool = False) -> None:
    """Give the roles their rights to a table of a survey.

    The reading role sees released reports only: never pending ones, and those of a survey whose results come out when
    it closes not before then.
    """
    # Pending reports are never shown: when one of them appears would tell when it came.
    is_shown = is_closed or survey.results != "closed"
    rights = {
        pending_table(survey): {INGEST: "SELECT, INSERT"},
        reports_table(survey): {INGEST: "SELECT"} | ({READ: "SELECT"} if is_shown else {}),
        # State alone: a role that takes reports can use an invitation, and make or change none.
        invitations_table(survey): {INGEST: "SELECT, UPDATE (state)"},
    }[table]
    found = _roles(db)
    for role, may in rights.items():
        if role in found:
            db.execute(f"GRANT {may} ON {table} TO {role}")


def _has_rights(db: PostgresqlConnection, role: str) -> bool:
    """Whether a role has every right to every table that all surveys share, and sees the rows of these tables."""
    rights = [(table, right) for table, some in OF_ALL[role].items() for right in some.split(", ")]
    found = db.execute(
        "SELECT bool_and(has_table_privilege(?, name, kind)) FROM unnest(?::text[], ?::text[]) AS every (name, kind)",
        [role, *map(list, zip(*rights, strict=True))],
    ).fetchone()
    query = "SELECT count(*) FROM pg_policies WHERE schemaname = ? AND policyname = ?"
    return found == (True,) and db.execute(query, [SCHEMA, role]).fetchone() == (len(SECURED),)


def _roles(db: PostgresqlConnection) -> set[str]:
    """The roles that were made for this schema."""
    # Roles belong to the whole server: those of another of its databases bear the same names, without a right here.
    query = "SELECT rolname FROM pg_roles WHERE rolname IN (?, ?) AND has_schema_privilege(oid, ?, 'USAGE')"
    return {role for (role,) in db.execute(query, [INGEST, READ, SCHEMA])}

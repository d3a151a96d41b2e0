"""The inspection of a PostgreSQL database: rows, tallies and schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager

from deniable import Survey
from deniable_server.store.integrity import Inspection, look
from deniable_server.store.postgresql.connection import SCHEMA, PostgresqlConnection
from deniable_server.store.postgresql.migrations import STEPS
from deniable_server.store.postgresql.tables import TYPES
from deniable_server.store.tables import columns_of, tables_of

FIXED = """
agenda.survey text, agenda.day text,
calendar.believed text, calendar.doubted_since text?, calendar.latest text,
checksums.survey text, checksums.part integer, checksums.checksum bit,
migrations.number bigint, migrations.name text,
owners.survey text, owners.token text,
public_urls.survey text, public_urls.url text,
release_keys.name text, release_keys.private text,
releases.survey text, releases.number bigint, releases.record text, releases.signature text,
signing_keys.key_id text, signing_keys.private text, signing_keys.survey text?, signing_keys.reissue bigint,
surveys.id text, surveys.document bytea, surveys.published_on text, surveys.closed_on text?,
tallies.survey text, tallies.cohort text, tallies.question text, tallies.option bigint, tallies.n bigint,
tokens.sha256 text, tokens.name text, tokens.scope text, tokens.expires_on text,
tokens.surveys text,
totals.survey text, totals.cohort text, totals.n bigint,
unsorted.survey text, unsorted.kind text"""
"""Columns of the tables that all surveys share; ``?`` marks one that may be null."""

KEYS = """
agenda survey, checksums survey part, migrations number, owners survey, public_urls survey, release_keys name,
releases survey number, signing_keys key_id, surveys id,
tallies survey cohort question option, tokens sha256, totals survey cohort, unsorted survey kind"""
"""Primary keys of these tables, on which counting each report once depends."""


def inspect(
    db: PostgresqlConnection,
    most_rows: int | None,
    snapshot: Callable[[Survey], AbstractContextManager[PostgresqlConnection]],
) -> Inspection:
    """Inspect a database without changing it, also while collectors use it.

    Parameters
    ----------
    most_rows : int, optional
        As `deniable_server.store.integrity.look`.
    snapshot : callable
        A transaction that sees one state of a survey.
    """
    # In the order of their numbers: a migration that was skipped or renamed makes the lists differ.
    applied = [tuple(row) for row in db.execute("SELECT number, name FROM migrations ORDER BY number")]
    known = [(number, name) for number, (name, _) in enumerate(STEPS, start=1)]
    beside = [] if applied == known else ["migrations: a row is not as it was written"]
    return look(db, most_rows, beside, _invitations(db), lambda surveys: _differences(db, surveys), snapshot)


def columns(db: PostgresqlConnection) -> dict[str, set[str]]:
    """Every column of every table, with its type, and ``?`` if it may be null."""
    found: dict[str, set[str]] = {}
    query = "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns"
    for table, column, kind, may_be_null in db.execute(f"{query} WHERE table_schema = ?", [SCHEMA]):
        found.setdefault(table, set()).add(f"{column} {kind}{'?' if may_be_null == 'YES' else ''}")
    return found


def _differences(db: PostgresqlConnection, surveys: Iterable[Survey]) -> Iterator[str]:
    # Columns in the words of information_schema, so that sets can be compared.
    expected: dict[str, set[str]] = {}
    for each in FIXED.replace("\n", " ").split(","):
        table, _, column = each.strip().partition(".")
        expected.setdefault(table, set()).add(column)
    keys = {name: tuple(key) for name, *key in (each.split() for each in KEYS.replace("\n", " ").split(","))}
    for survey in surveys:
        for table in tables_of(survey):
            made = columns_of(survey, table)
            expected[table] = {f"{name} {TYPES[kind]}{'?' if may_be_null else ''}" for name, kind, may_be_null in made}
            # The first column of a survey's table is its key: the id of a report, or the hash of an invitation.
            keys[table] = (made[0][0],)
    found, found_keys = columns(db), _primary_keys(db)
    # Tables of others in the schema are no damage; a missing one of ours is.
    for table in expected:
        if found.get(table) != expected[table] or found_keys.get(table) != keys.get(table):
            yield f"{table}: is not defined as it was"


def _primary_keys(db: PostgresqlConnection) -> dict[str, tuple[str, ...]]:
    query = """
SELECT relname, array_agg(attname::text ORDER BY array_position(conkey, attnum))
FROM pg_constraint JOIN pg_class ON conrelid = pg_class.oid
JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY(conkey)
WHERE contype = 'p' AND convalidated AND connamespace = ?::regnamespace GROUP BY relname"""
    return {table: tuple(key) for table, key in db.execute(query, [SCHEMA])}


def _invitations(db: PostgresqlConnection) -> dict[str, int]:
    """Number of invitations by survey."""
    # The underscore is escaped: in LIKE it stands for any character.
    query = "SELECT tablename FROM pg_tables WHERE schemaname = ? AND tablename LIKE 'invitations\\_%'"
    tables = [table for (table,) in db.execute(query, [SCHEMA]).fetchall()]
    return {
        table.partition("_")[2]: (db.execute(f'SELECT count(*) FROM "{table}"').fetchone() or (0,))[0]
        for table in tables
    }

"""The tables of every version, made by migrations of sqlite-utils, each of which is applied once.

A published migration is never changed: a new version adds a migration at the end.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from deniable import parse_survey
from deniable.errors import DeniableError
from deniable_server.store import checksum, counts
from deniable_server.store.errors import empty_database, older_version, versions
from deniable_server.store.migrated import log_created, log_migrated
from deniable_server.store.sqlite import fold
from deniable_server.store.sqlite.connection import SqliteConnection, transaction
from deniable_server.store.sqlite.library import Database, Migrations
from deniable_server.store.sqlite.lock import last_server
from deniable_server.store.sqlite.tables import create_table
from deniable_server.store.tables import pending_table, reports_table, rows_of

schema = Migrations("deniable")


def bring_up_to_date(db: SqliteConnection, path: Path, may_update: bool, may_make: bool = True) -> bool:
    """Apply the missing steps, all or none; return whether the file had no tables before.

    They are applied to a new file with `may_make`, and to a file of an older version with `may_update`.

    Raises
    ------
    DeniableError
        If a newer version wrote the database, or an older one and it may not be updated or has surveys that this
        version does not read, or if it has no tables and they may not be made.
    """
    refuse_newer(db, path)
    if not schema.pending(db):
        return False
    if not may_make and not db["surveys"].exists():
        raise empty_database(path)
    before = [each.name for each in schema.applied(db)] if db["surveys"].exists() else None
    with transaction(db, path):
        refuse_unreadable(db, path)
        if db["surveys"].exists() and not may_update and schema.pending(db):
            raise older_version(path, last_server(path))
        apply(db)
        # sqlite-utils writes the time of day there. When a collector was updated is nobody's secret, but no column
        # of any table holds a time of day.
        db.execute("UPDATE _sqlite_migrations SET applied_at = '' WHERE migration_set = ?", [schema.name])
    if before is None:
        log_created(str(path))
    else:
        log_migrated(str(path), before, [each.name for each in schema.applied(db)])
    return before is None


def apply(db: SqliteConnection) -> None:
    """Apply the missing steps."""
    # sqlite-utils would make this itself, in words that may change; `integrity` compares every word.
    db.execute(
        "CREATE TABLE IF NOT EXISTS _sqlite_migrations "
        "(id INTEGER PRIMARY KEY, migration_set TEXT, name TEXT, applied_at TEXT)"
    )
    db.execute("CREATE UNIQUE INDEX IF NOT EXISTS migrations_by_name ON _sqlite_migrations (migration_set, name)")
    schema.apply(db)


def refuse_newer(db: SqliteConnection, path: Path) -> None:
    """Raise a DeniableError if a newer version wrote the database."""
    # A fresh database lacks every migration, so what is pending there is what this version knows.
    with closing(Database(memory=True)) as empty:
        known = {each.name for each in schema.pending(empty)}
    unknown = [each.name for each in schema.applied(db) if each.name not in known]
    if unknown:
        raise DeniableError(
            f"database {path}: must be of this version of deniable or an older one, "
            f"got one with {unknown[0]!r}, which a newer version wrote; use that version {versions(last_server(path))}"
        )


def refuse_unreadable(db: SqliteConnection, path: Path) -> None:
    """Raise a DeniableError if an older version published a survey that this one does not read.

    No update could mend that: a survey's address is the hash of its bytes, so what is read otherwise is another survey.
    """
    if not db["surveys"].exists():
        return
    for survey_id, document in db.execute("SELECT id, document FROM surveys ORDER BY id"):
        try:
            parse_survey(document, survey_id)
        except DeniableError as error:
            raise DeniableError(
                f"database {path}: must hold surveys that this version reads, got {survey_id}: {error}. It was left as "
                "it is: close its surveys and take their results with the version that wrote it, and begin another file"
            ) from None


@schema(name="1 surveys, tallies, tokens")
def _surveys_tallies_tokens(db: Database) -> None:
    for table in (  # a collector without migrations, the first there was, has them already
        """
CREATE TABLE IF NOT EXISTS surveys (
    id TEXT PRIMARY KEY,
    document BLOB NOT NULL,
    published_on TEXT NOT NULL,
    closed_on TEXT
) STRICT, WITHOUT ROWID""",
        """
CREATE TABLE IF NOT EXISTS totals (
    survey TEXT NOT NULL REFERENCES surveys (id),
    cohort TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (survey, cohort)
) STRICT, WITHOUT ROWID""",
        """
CREATE TABLE IF NOT EXISTS tallies (
    survey TEXT NOT NULL REFERENCES surveys (id),
    cohort TEXT NOT NULL,
    question TEXT NOT NULL,
    option INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (survey, cohort, question, option)
) STRICT, WITHOUT ROWID""",
        """
CREATE TABLE IF NOT EXISTS tokens (
    sha256 TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    expires_on TEXT NOT NULL
) STRICT, WITHOUT ROWID""",
    ):
        db.execute(table)


@schema(name="2 pending reports, checksums")
def _pending_reports_checksums(db: Database) -> None:
    assert isinstance(db, SqliteConnection), "as `apply` was given"
    db.execute(
        """
CREATE TABLE checksums (
    survey TEXT PRIMARY KEY REFERENCES surveys (id),
    checksum TEXT NOT NULL
) STRICT, WITHOUT ROWID"""
    )
    rows = db.execute("SELECT id, document, published_on, closed_on FROM surveys").fetchall()
    for survey_id, document, published_on, closed_on in rows:
        survey = parse_survey(document, survey_id)
        create_table(db, pending_table(survey), survey)
        reports = reports_table(survey)  # until now in the order of arrival
        fold.write_anew(db, survey, reports, f"SELECT * FROM {reports}", counts.folded(db, survey))
        db.start_checksum(
            survey.id,
            checksum.digest(survey, "survey", [published_on, closed_on])
            ^ counts.checksum_of_tallies(db, survey)
            ^ checksum.sum_of(survey, "report", rows_of(db, reports_table(survey))),
        )


@schema(name="3 a second copy of tokens")
def _second_copy_of_tokens(db: Database) -> None:
    """Tokens belong to no survey and are in no checksum; a flipped bit shows as a difference from the copy."""
    db.execute("CREATE TABLE tokens_copy (sha256 TEXT PRIMARY KEY, name, scope, expires_on) WITHOUT ROWID")
    db.execute("INSERT INTO tokens_copy SELECT sha256, name, scope, expires_on FROM tokens")
    db.execute(
        """
CREATE TRIGGER tokens_added AFTER INSERT ON tokens BEGIN
    INSERT INTO tokens_copy VALUES (new.sha256, new.name, new.scope, new.expires_on);
END"""
    )
    db.execute(
        """
CREATE TRIGGER tokens_deleted AFTER DELETE ON tokens BEGIN
    DELETE FROM tokens_copy WHERE sha256 = old.sha256;
END"""
    )
    db.execute(
        """
CREATE TRIGGER tokens_changed AFTER UPDATE ON tokens BEGIN
    DELETE FROM tokens_copy WHERE sha256 = old.sha256;
    INSERT INTO tokens_copy VALUES (new.sha256, new.name, new.scope, new.expires_on);
END"""
    )


@schema(name="4 unsorted reports")
def _unsorted_reports(db: Database) -> None:
    """Surveys whose folded rows have to be written anew; which ones an older version did not write down."""
    db.execute("CREATE TABLE unsorted (survey TEXT PRIMARY KEY REFERENCES surveys (id)) STRICT, WITHOUT ROWID")
    db.execute("INSERT INTO unsorted SELECT id FROM surveys WHERE closed_on IS NULL")


@schema(name="5 owners of surveys")
def _owners_of_surveys(db: Database) -> None:
    """The token that published a survey, by name. What an older version published belongs to nobody."""
    db.execute(
        """
CREATE TABLE owners (
    survey TEXT PRIMARY KEY REFERENCES surveys (id),
    token TEXT NOT NULL
) STRICT, WITHOUT ROWID"""
    )


@schema(name="6 agenda, calendar")
def _agenda_calendar(db: Database) -> None:
    """Every survey is looked at once more; none has to be after that, unless there is something to do."""
    db.execute(
        """
CREATE TABLE agenda (
    survey TEXT PRIMARY KEY REFERENCES surveys (id),
    day TEXT NOT NULL
) STRICT, WITHOUT ROWID"""
    )
    db.execute("CREATE INDEX agenda_by_day ON agenda (day)")
    db.execute("INSERT INTO agenda SELECT id, '' FROM surveys")
    db.execute("CREATE TABLE calendar (believed TEXT NOT NULL, doubted_since TEXT, latest TEXT NOT NULL) STRICT")


@schema(name="7 surveys of format 2")
def _surveys_of_format_2(db: Database) -> None:
    """Changes nothing: `refuse_unreadable` found no survey of format 1, and no older version writes here again."""


@schema(name="8 signing keys")
def _signing_keys(db: Database) -> None:
    """Private keys that sign blind tokens: none, or one survey each. Invitations have a table for each survey."""
    db.execute(
        """
CREATE TABLE signing_keys (
    key_id TEXT PRIMARY KEY,
    private TEXT NOT NULL,
    survey TEXT UNIQUE REFERENCES surveys (id),
    reissue INTEGER NOT NULL
) STRICT, WITHOUT ROWID"""
    )


@schema(name="9 releases")
def _releases(db: Database) -> None:
    """The log of releases, and the key that signs them, which the first release makes."""
    db.execute(
        """
CREATE TABLE releases (
    survey TEXT NOT NULL REFERENCES surveys (id),
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    signature TEXT NOT NULL,
    PRIMARY KEY (survey, number)
) STRICT, WITHOUT ROWID"""
    )
    db.execute("CREATE TABLE release_keys (name TEXT PRIMARY KEY, private TEXT NOT NULL) STRICT, WITHOUT ROWID")


@schema(name="10 public urls")
def _public_urls(db: Database) -> None:
    """The address that the links of a survey start with, which an older version forgot once it had printed them."""
    db.execute(
        """
CREATE TABLE public_urls (
    survey TEXT PRIMARY KEY REFERENCES surveys (id),
    url TEXT NOT NULL
) STRICT, WITHOUT ROWID"""
    )


@schema(name="11 surveys of tokens")
def _surveys_of_tokens(db: Database) -> None:
    """The surveys whose results a token reads, in the row of the token: without its list it would read all of them.

    Both tables are made anew, because `integrity` compares every word of a definition.
    """
    columns = "sha256, name, scope, expires_on"
    rows = {table: db.execute(f"SELECT {columns} FROM {table}").fetchall() for table in ("tokens", "tokens_copy")}
    for table in rows:
        db.execute(f"DROP TABLE {table}")
    db.execute(
        """
CREATE TABLE tokens (
    sha256 TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    expires_on TEXT NOT NULL,
    surveys TEXT NOT NULL
) STRICT, WITHOUT ROWID"""
    )
    db.execute("CREATE TABLE tokens_copy (sha256 TEXT PRIMARY KEY, name, scope, expires_on, surveys) WITHOUT ROWID")
    # Each table gets its own rows, so a difference between the two remains one.
    for table, of_table in rows.items():
        for row in of_table:
            db.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?, '')", row)
    db.execute(
        """
CREATE TRIGGER tokens_added AFTER INSERT ON tokens BEGIN
    INSERT INTO tokens_copy VALUES (new.sha256, new.name, new.scope, new.expires_on, new.surveys);
END"""
    )
    db.execute(
        """
CREATE TRIGGER tokens_deleted AFTER DELETE ON tokens BEGIN
    DELETE FROM tokens_copy WHERE sha256 = old.sha256;
END"""
    )
    db.execute(
        """
CREATE TRIGGER tokens_changed AFTER UPDATE ON tokens BEGIN
    DELETE FROM tokens_copy WHERE sha256 = old.sha256;
    INSERT INTO tokens_copy VALUES (new.sha256, new.name, new.scope, new.expires_on, new.surveys);
END"""
    )

"""The tables of every version, made by numbered steps, each of which is applied once.

A published step is never changed: a new version adds a step at the end.
"""

from __future__ import annotations

from collections.abc import Callable

from deniable.errors import DeniableError
from deniable_server.store.errors import older_version, versions
from deniable_server.store.migrated import log_created, log_migrated
from deniable_server.store.postgresql.connection import SCHEMA, PostgresqlConnection

# COLLATE "C" compares bytes, as Python does, whatever the locale of the server: ids have one order everywhere.
FIRST = (
    """
CREATE TABLE surveys (
    id text COLLATE "C" PRIMARY KEY,
    document bytea NOT NULL,
    published_on text COLLATE "C" NOT NULL,
    closed_on text COLLATE "C"
)""",
    """
CREATE TABLE totals (
    survey text COLLATE "C" NOT NULL REFERENCES surveys (id),
    cohort text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (survey, cohort)
)""",
    """
CREATE TABLE tallies (
    survey text COLLATE "C" NOT NULL REFERENCES surveys (id),
    cohort text COLLATE "C" NOT NULL,
    question text COLLATE "C" NOT NULL,
    option bigint NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (survey, cohort, question, option)
)""",
    """
CREATE TABLE tokens (
    sha256 text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    scope text COLLATE "C" NOT NULL,
    expires_on text COLLATE "C" NOT NULL
)""",
    """
CREATE TABLE checksums (
    survey text COLLATE "C" NOT NULL REFERENCES surveys (id),
    part integer NOT NULL,
    checksum bit(256) NOT NULL,
    PRIMARY KEY (survey, part)
)""",
    """
CREATE TABLE unsorted (
    survey text COLLATE "C" NOT NULL REFERENCES surveys (id),
    kind text COLLATE "C" NOT NULL,
    PRIMARY KEY (survey, kind)
)""",
    """
CREATE TABLE owners (
    survey text COLLATE "C" PRIMARY KEY REFERENCES surveys (id),
    token text COLLATE "C" NOT NULL
)""",
    """
CREATE TABLE agenda (
    survey text COLLATE "C" PRIMARY KEY REFERENCES surveys (id),
    day text COLLATE "C" NOT NULL
)""",
    "CREATE INDEX agenda_by_day ON agenda (day)",
    """
CREATE TABLE calendar (
    believed text COLLATE "C" NOT NULL,
    doubted_since text COLLATE "C",
    latest text COLLATE "C" NOT NULL
)""",
    """
CREATE TABLE signing_keys (
    key_id text COLLATE "C" PRIMARY KEY,
    private text COLLATE "C" NOT NULL,
    survey text COLLATE "C" UNIQUE REFERENCES surveys (id),
    reissue bigint NOT NULL
)""",
)


RELEASES = (
    """
CREATE TABLE releases (
    survey text COLLATE "C" NOT NULL REFERENCES surveys (id),
    number bigint NOT NULL,
    record text COLLATE "C" NOT NULL,
    signature text COLLATE "C" NOT NULL,
    PRIMARY KEY (survey, number)
)""",
    """
CREATE TABLE release_keys (
    name text COLLATE "C" PRIMARY KEY,
    private text COLLATE "C" NOT NULL
)""",
)
"""The log of releases, and the key that signs them, which the first release makes."""


PUBLIC_URLS = """
CREATE TABLE public_urls (
    survey text COLLATE "C" PRIMARY KEY REFERENCES surveys (id),
    url text COLLATE "C" NOT NULL
)"""
"""The address that the links of a survey start with."""


# In the row of the token: a token whose list was lost in another table would read all surveys.
SURVEYS_OF_TOKENS = """ALTER TABLE tokens ADD COLUMN surveys text COLLATE "C" NOT NULL DEFAULT ''"""
"""The surveys whose results a token reads."""


def _first(db: PostgresqlConnection) -> None:
    for statement in FIRST:
        db.execute(statement)


def _releases(db: PostgresqlConnection) -> None:
    for statement in RELEASES:
        db.execute(statement)


def _public_urls(db: PostgresqlConnection) -> None:
    db.execute(PUBLIC_URLS)


def _surveys_of_tokens(db: PostgresqlConnection) -> None:
    db.execute(SURVEYS_OF_TOKENS)


# Only appended to: a database remembers the numbers and names of what was applied.
STEPS: tuple[tuple[str, Callable[[PostgresqlConnection], None]], ...] = (
    ("surveys, tallies, tokens, keys", _first),
    ("releases", _releases),
    ("public urls", _public_urls),
    ("surveys of tokens", _surveys_of_tokens),
)
"""Names and functions of the steps, which are numbered from 1."""


def bring_up_to_date(db: PostgresqlConnection, name: str, may_update: bool) -> int:
    """Apply the missing steps, all of them or none, within a transaction that excludes others that do so.

    They are applied to an empty database, and with `may_update` to one of an older version.

    Raises
    ------
    DeniableError
        If another version wrote the database, a newer one or one that may not be updated.
    """
    # Steps are numbered without gaps, so the number of the last one says which are missing.
    done = applied(db)
    if done > len(STEPS):
        raise newer(name, done)
    if 0 < done < len(STEPS) and not may_update:
        raise older_version(name)
    if not done:
        if not db.execute("SELECT 1 FROM pg_namespace WHERE nspname = ?", [SCHEMA]).fetchone():
            db.execute(f"CREATE SCHEMA {SCHEMA}")
        db.execute("CREATE TABLE migrations (number bigint PRIMARY KEY, name text NOT NULL)")
    for number, (step, apply) in enumerate(STEPS[done:], start=done + 1):
        apply(db)
        db.execute("INSERT INTO migrations VALUES (?, ?)", [number, step])
    return done


def log_steps(name: str, done: int) -> None:
    """Write to the log that a database which had ``done`` steps has them all now; nothing if it was complete."""
    if not done:
        log_created(name)
    elif done < len(STEPS):
        names = [step for step, _ in STEPS]
        log_migrated(name, names[:done], names)


def applied(db: PostgresqlConnection) -> int:
    """The number of the last step that was applied, or 0."""
    if not db.has_table("migrations"):
        return 0
    (last,) = db.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone() or (0,)
    return int(last)


def newer(name: str, number: int) -> DeniableError:
    """The error for a database of a newer version."""
    return DeniableError(
        f"database {name}: must be of this version of deniable or an older one, got one with step {number} of "
        f"{len(STEPS)} known here, which a newer version wrote; use that version {versions()}"
    )

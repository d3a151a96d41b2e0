"""The rows of API tokens: their hashes, names, scopes, last days and surveys."""

from __future__ import annotations

from deniable_server.store.connection import Connection
from deniable_server.store.interface import TokenRow

_COLUMNS = "sha256, name, scope, expires_on, surveys"


def add(db: Connection, row: TokenRow) -> bool:
    """Keep a token; False if there is one of that name. The transaction must exclude others of its kind."""
    # Looked up first: a failed INSERT would end the whole transaction in PostgreSQL.
    if db.execute("SELECT 1 FROM tokens WHERE name = ?", [row.name]).fetchone():
        return False
    db.execute(f"INSERT INTO tokens ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", row)
    return True


def every(db: Connection) -> list[TokenRow]:
    """Every token, by name."""
    return [TokenRow(*row) for row in db.execute(f"SELECT {_COLUMNS} FROM tokens ORDER BY name").fetchall()]


def remove(db: Connection, name: str) -> bool:
    """Remove a token; False if there is none of that name."""
    return db.execute("DELETE FROM tokens WHERE name = ?", [name]).rowcount > 0

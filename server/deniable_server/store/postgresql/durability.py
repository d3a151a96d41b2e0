"""Settings without which a commit may be lost, and settings that make the server write down who came when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from deniable_server.store.errors import StoreUnavailable

NEEDED = ("fsync", "full_page_writes", "synchronous_commit")
"""Settings that must be on: without one of them, an acknowledged report may be lost in a power failure."""

IN_SQL = ", ".join(f"current_setting('{name}')" for name in NEEDED)
"""The values of `NEEDED` as columns of a query."""


def refuse_unsafe(values: Sequence[str]) -> None:
    """Refuse to commit to a server that could lose it, by the values of `NEEDED` in their order.

    Raises
    ------
    StoreUnavailable
        If one is off.
    """
    for name, value in zip(NEEDED, values, strict=True):
        if value == "off":
            raise StoreUnavailable(
                f"database: must run with {name} on, got off; a report that was acknowledged could be lost. "
                "Turn it on in PostgreSQL's configuration",
                f"{name} is off",
            )


def warnings(connection: psycopg.Connection[Any]) -> list[str]:
    """Warnings about settings by which the server records when somebody took part."""
    names = ("track_commit_timestamp", "log_statement", "log_min_duration_statement", "log_duration", "data_checksums")
    query = "SELECT name, setting FROM pg_settings WHERE name = ANY(%s)"
    found = dict(connection.execute(query, [list(names)]).fetchall())
    told = []
    if found.get("track_commit_timestamp") == "on":
        told.append("track_commit_timestamp is on: PostgreSQL keeps the second of every transaction; turn it off")
    # mod and all log every INSERT with its values and the time.
    if found.get("log_statement", "none") not in ("none", "ddl"):
        told.append(f"log_statement is {found['log_statement']}: its log holds reports and when they came; set 'none'")
    if found.get("log_min_duration_statement", "-1") != "-1" or found.get("log_duration") == "on":
        told.append(
            "log_min_duration_statement or log_duration is set: its log tells when reports came; set them to -1 and off"
        )
    if found.get("data_checksums") == "off":
        told.append("data_checksums is off: a page that the disk spoilt is read as if it were whole; see pg_checksums")
    return told

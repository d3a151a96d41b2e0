"""``/livez`` and ``/readyz``: whether the process answers, and whether it could store a report now."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from http import HTTPStatus
from pathlib import Path

from apiflask import APIFlask
from flask import Response, jsonify
from sqlite_utils import Database

from deniable.errors import DeniableError
from deniable_server import schemas
from deniable_server.limits import limited
from deniable_server.outage import Outage
from deniable_server.problems import problem
from deniable_server.store import Store, StoreReplaced
from deniable_server.store.migrations import refuse_newer, schema
from deniable_server.writer import Writer


def init_app(app: APIFlask, store: Store, writer: Writer, min_free: int) -> None:
    """Serve the probes. Both are open: what they say is about the collector only."""

    @app.get("/livez")
    @app.output(schemas.Health)
    def livez() -> dict[str, str]:
        """Whether the process answers."""
        return {"status": "ok"}

    outage: Outage = app.extensions["deniable-outage"]

    @app.get("/readyz")
    @limited
    @app.output(schemas.Health)
    @app.doc(
        responses={429: "too many requests: wait as long as Retry-After says", 503: "not ready; the sentence says why"}
    )
    def readyz() -> Response:
        """Whether a report could be stored now.

        The database is in its place, readable, has room, and took what it was last given. Asking takes no lock.
        """
        reason = not_ready_because(store, writer, min_free, outage)
        if reason:
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, reason, {"Retry-After": "5"})
        return jsonify(status="ok")


def not_ready_because(store: Store, writer: Writer, min_free: int, outage: Outage) -> str | None:
    """Why a report could not be stored now, or None."""
    if not writer.is_running:
        return "The writer does not run; restart the collector."
    folder = store.path.absolute().parent
    if not folder.is_dir():
        return "The folder of the database is gone."
    if free_bytes(store.path) < min_free:
        return f"The disk has less than {min_free // 10**6} megabytes left."
    if not (os.access(store.path, os.W_OK) and os.access(folder, os.W_OK)):  # SQLite writes its log beside the file
        return "The database or its folder cannot be written."
    try:
        store.files.refuse_replaced()
    except StoreReplaced:
        return (
            "The database, its -wal or its -shm was replaced or removed; "
            "put the files in order and restart the collector."
        )
    if outage.reason:
        return f"The database took no report when it was last tried: {outage.reason}."
    return _unusable_because(store.path)


def free_bytes(database: Path) -> int:
    """Bytes that the disk of a database has left for this user."""
    return shutil.disk_usage(database.absolute().parent).free


def _unusable_because(path: Path) -> str | None:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", 0, uri=True)) as connection:
            (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
            if journal != "wal":  # the first thing that a damaged head of the file loses
                return "The database has lost its write-ahead log; look at it with 'deniable check'."
            db = Database(connection)
            if schema.pending(db):
                return "The database is of an older version; restart the collector."
            refuse_newer(db, path)
    except sqlite3.Error as error:
        return f"The database cannot be used: {error.sqlite_errorname}."
    except DeniableError:
        return "The database is of a newer version; start that one."
    return None

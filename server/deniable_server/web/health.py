"""The probes ``/livez`` and ``/readyz``: whether the process answers, and whether it could store a report now."""

from __future__ import annotations

from http import HTTPStatus

from apiflask import APIFlask
from flask import Response, jsonify

from deniable_server.edge.problems import problem
from deniable_server.store import Store
from deniable_server.web import schemas
from deniable_server.writing.outage import Outage
from deniable_server.writing.writer import Writer


def init_app(app: APIFlask, store: Store, writer: Writer, min_free: int) -> None:
    """Serve the probes. Both are open: what they say is about the collector only."""

    @app.get("/livez")
    @app.output(schemas.Health)
    def livez() -> dict[str, str]:
        """Ask whether the process responds."""
        return {"status": "ok"}

    outage: Outage = app.extensions["deniable-outage"]

    @app.get("/readyz")
    @app.output(schemas.Health)
    @app.doc(
        responses={429: "too many requests: wait for as long as Retry-After says", 503: "not ready; `detail` says why"}
    )
    def readyz() -> Response:
        """Ask whether a report could be stored now.

        A report could be stored if the database is where it should be, can be read, has space, and stored what it was
        last given. The check takes no lock.
        """
        reason = not_ready_because(store, writer, min_free, outage)
        if reason:
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, reason, {"Retry-After": "5"})
        return jsonify(status="ok")


def not_ready_because(store: Store, writer: Writer, min_free: int, outage: Outage) -> str | None:
    """Why a report could not be stored now, or None."""
    # In the order of severity: the first reason is the one to act on.
    if not writer.is_running:
        return "The writer does not run; restart the collector."
    if reason := store.not_ready_because(min_free):
        return reason
    if outage.reason:
        return f"The database took no report when it was last tried: {outage.reason}."
    return None

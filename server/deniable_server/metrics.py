"""``/metrics`` for Prometheus: how many, how fast, how much waits. No survey, report or address is told apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from apiflask import APIFlask
from flask import Response, current_app, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from deniable_server.health import free_bytes
from deniable_server.store import Outcome, Store
from deniable_server.tokens import require_token
from deniable_server.writer import Writer

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Seconds. A report that waits for the disk takes some milliseconds, a chart a tenth of a second."""

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
"""Others count as one: a method may be any word."""

_STARTED = "deniable.started"


class Metrics:
    """What one application counts, in a registry of its own, so that two in one process do not meet."""

    def __init__(self, waiting: Callable[[], float], free_bytes: Callable[[], float]) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "deniable_request_seconds",
            "Seconds from a request to its answer, by route and status.",
            ["method", "route", "status"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        reports = Counter("deniable_reports", "Reports, by what became of them.", ["outcome"], registry=self.registry)
        self._reports = {outcome: reports.labels(outcome.value) for outcome in Outcome}
        queue = Gauge("deniable_queue_length", "Submissions that wait for the writer.", registry=self.registry)
        queue.set_function(waiting)
        free = Gauge("deniable_disk_free_bytes", "Bytes free beside the database.", registry=self.registry)
        free.set_function(free_bytes)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._seconds.labels(method, route, str(status)).observe(seconds)

    def taken(self, outcomes: Sequence[Outcome]) -> None:
        """Count what became of reports."""
        for outcome, counter in self._reports.items():
            if n := outcomes.count(outcome):
                counter.inc(n)


def init_app(app: APIFlask, store: Store, writer: Writer) -> None:
    """Measure each request, and serve the figures to who holds a token of scope ``metrics``."""
    metrics = Metrics(writer.waiting, lambda: free_bytes(store.path))
    app.extensions["deniable-metrics"] = metrics

    @app.before_request
    def start() -> None:
        request.environ[_STARTED] = time.perf_counter()

    @app.after_request
    def stop(response: Response) -> Response:
        route = request.url_rule.rule if request.url_rule else "none"  # never the path: it names a survey
        method = request.method if request.method in METHODS else "other"
        seconds = time.perf_counter() - request.environ.get(_STARTED, time.perf_counter())
        metrics.answered(method, route, response.status_code, seconds)
        return response

    @app.get("/metrics")
    @app.doc(responses={200: "figures", 401: "no valid token"})
    def serve_metrics() -> Response:
        """Figures for Prometheus.

        Requests, latencies, reports, queue and disk space. Needs a token of scope `metrics`.
        """
        require_token("metrics")
        return Response(generate_latest(metrics.registry), content_type=CONTENT_TYPE_LATEST)


def get_metrics() -> Metrics:
    """The metrics of the application that serves this request."""
    metrics: Metrics = current_app.extensions["deniable-metrics"]
    return metrics

"""``/metrics`` for Prometheus: how many, how fast, how much waits. No survey, report or address is told apart.

Nor is the moment of a report: what respondents' requests add to the figures is held back until results of their survey
change anyway, with the next release. Where results are live there is nothing to hold back. What belongs to no survey,
such as a script that was loaded or an address that was mistyped, comes with the next release of any.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from http import HTTPStatus

from apiflask import APIFlask
from flask import Response, current_app, request
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from deniable import Survey
from deniable_server.health import free_bytes
from deniable_server.store import Outcome, Store
from deniable_server.tokens import require_token
from deniable_server.writer import Writer

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Seconds. A report that waits for the disk takes some milliseconds, a chart a tenth of a second."""

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
"""Others count as one: a method may be any word."""

OF_RESPONDENTS = {
    "/s/<survey_id>",
    "/embed/<survey_id>",
    "/client/<path:name>",
    "/api/v1/surveys/<survey_id>",
    "/api/v1/surveys/<survey_id>/reports",
}
"""Routes whose requests are held back."""

MOST_HELD = 10_000
"""Requests of a survey that are held back; so many hide each other, and do not wait for a release."""

QUEUE_STEP, DISK_STEP = 50, 100_000_000
"""Steps in which the queue's length and free bytes are told: one report moves neither, or hardly ever."""

_STARTED = "deniable.started"

disable_created_metrics()  # type: ignore[no-untyped-call]  # they tell to the microsecond when a figure first moved


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
        queue = Gauge(
            "deniable_queue_length", "Submissions that wait for the writer, in fifties.", registry=self.registry
        )
        queue.set_function(lambda: _down(waiting(), QUEUE_STEP))
        free = Gauge("deniable_disk_free_bytes", "Bytes free, in steps of 100 megabytes.", registry=self.registry)
        free.set_function(lambda: _down(free_bytes(), DISK_STEP))
        self._lock = threading.Lock()
        # By survey, what is to be told later: labels and seconds of requests, and outcomes of reports.
        self._held: defaultdict[str | None, list[tuple[tuple[str, str, str], float] | Outcome]] = defaultdict(list)

    def answered(self, method: str, route: str, status: int, seconds: float, survey: Survey | None = None) -> None:
        """Count an answer, and of a respondent's request when the survey is released."""
        labels = (method, route, str(status))
        if route in OF_RESPONDENTS:
            self._hold(survey, [(labels, seconds)])
        else:
            self._seconds.labels(*labels).observe(seconds)

    def taken(self, survey: Survey, outcomes: Sequence[Outcome]) -> None:
        """Count what became of reports, when the survey is released."""
        self._hold(survey, outcomes)

    def release(self, survey: Survey) -> None:
        """Tell what was held back of a survey, and of none."""
        self._tell(survey.id)
        self._tell(None)

    def _hold(self, survey: Survey | None, what: Sequence[tuple[tuple[str, str, str], float] | Outcome]) -> None:
        key = survey.id if survey else None
        with self._lock:
            self._held[key] += what
            is_much = len(self._held[key]) >= MOST_HELD
        if is_much or (survey and survey.results == "live"):
            self._tell(key)

    def _tell(self, key: str | None) -> None:
        with self._lock:
            told = self._held.pop(key, [])
        for each in told:
            if isinstance(each, Outcome):
                self._reports[each].inc()
            else:
                labels, seconds = each
                self._seconds.labels(*labels).observe(seconds)


def init_app(app: APIFlask, store: Store, writer: Writer) -> None:
    """Measure each request, and serve the figures to who holds a token of scope ``metrics``."""
    metrics = Metrics(writer.waiting, lambda: free_bytes(store.path))
    app.extensions["deniable-metrics"] = metrics
    store.on_release = metrics.release

    @app.before_request
    def start() -> None:
        request.environ[_STARTED] = time.perf_counter()

    @app.after_request
    def stop(response: Response) -> Response:
        route = request.url_rule.rule if request.url_rule else "none"  # never the path: it names a survey
        method = request.method if request.method in METHODS else "other"
        seconds = time.perf_counter() - request.environ.get(_STARTED, time.perf_counter())
        metrics.answered(method, route, response.status_code, seconds, _survey_asked_for(store, response))
        return response

    @app.get("/metrics")
    @app.doc(responses={200: "figures", 401: "no valid token"})
    def serve_metrics() -> Response:
        """Figures for Prometheus.

        Requests, latencies, reports, queue and disk space. Needs a token of scope `metrics`.
        """
        require_token("metrics")
        return Response(generate_latest(metrics.registry), content_type=CONTENT_TYPE_LATEST)


def _survey_asked_for(store: Store, response: Response) -> Survey | None:
    """The survey of a respondent's request, where there is one: whoever is refused may have asked for anything."""
    survey_id = (request.view_args or {}).get("survey_id")
    is_known = response.status_code < HTTPStatus.BAD_REQUEST or response.status_code in (
        HTTPStatus.CONFLICT,
        HTTPStatus.GONE,
    )
    is_respondents = request.url_rule is not None and request.url_rule.rule in OF_RESPONDENTS
    return store.survey(survey_id) if survey_id and is_known and is_respondents else None


def _down(value: float, step: int) -> float:
    return value // step * step


def get_metrics() -> Metrics:
    """The metrics of the application that serves this request."""
    metrics: Metrics = current_app.extensions["deniable-metrics"]
    return metrics

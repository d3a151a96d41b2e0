"""``/metrics`` for Prometheus: numbers, latencies and queues, without surveys, reports or addresses.

The time of a report is hidden too: figures of respondents' requests are held back until the next release of their
survey, when its results change anyway. With live results there is nothing to hold back. Figures of requests without a
survey, such as for scripts or mistyped addresses, are added at the next release of any survey.
"""

from __future__ import annotations

import itertools
import threading
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus

from apiflask import APIFlask
from flask import Response, current_app, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from deniable import Survey
from deniable.errors import DeniableError
from deniable_server.access.tokens import require_token
from deniable_server.store import Store, Verdict
from deniable_server.writing.writer import Writer

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Upper bounds of the latency histogram, in seconds: a report takes some milliseconds, a chart a tenth of a second."""

_BOUNDS = (*(str(float(most)) for most in BUCKETS), "+Inf")
"""`BUCKETS` as Prometheus writes them."""

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
"""Methods with a label of their own; all others are counted together, since a method may be any word."""

OF_RESPONDENTS = {
    "/s/<survey_id>",
    "/embed/<survey_id>",
    "/client/<path:name>",
    "/device",
    "/static/pages.css",
    "/static/<path:filename>",
    "/favicon.ico",
    "/api/v1/surveys/<survey_id>",
    "/api/v1/surveys/<survey_id>/state",
    "/api/v1/surveys/<survey_id>/invitations/state",
    "/api/v1/surveys/<survey_id>/reports",
    "/api/v1/surveys/<survey_id>/sealed",
    "/api/v1/surveys/<survey_id>/tokens",
    "/api/v1/surveys/<survey_id>/gateway",
}
"""Routes that a device requests on its way to a report; their figures are held back."""

QUEUE_STEP, DISK_STEP = 50, 100_000_000
"""Resolution of the queue's length and of free bytes: a single report hardly ever changes either."""

_STARTED = "deniable.started"

Labels = tuple[str, str, str]
"""Method, route and status."""


class Figures:
    """Counts of answers and reports, of constant size."""

    def __init__(self) -> None:
        self.answers: defaultdict[Labels, Counter[int]] = defaultdict(Counter)  # by the place of the bucket
        self.seconds: defaultdict[Labels, float] = defaultdict(float)  # their sum
        self.reports: Counter[Verdict] = Counter()

    def answered(self, labels: Labels, seconds: float) -> None:
        """Count an answer."""
        # The index of the first bucket that is not below the time; beyond all, that of +Inf.
        self.answers[labels][bisect_left(BUCKETS, seconds)] += 1
        self.seconds[labels] += seconds

    def add(self, others: Figures) -> None:
        """Add the counts of another object."""
        for labels, counts in others.answers.items():
            self.answers[labels] += counts
            self.seconds[labels] += others.seconds[labels]
        self.reports += others.reports


class Metrics(Collector):
    """The metrics of one application, in a registry of its own, so that two can run in one process."""

    def __init__(
        self, waiting: Callable[[], float], free_bytes: Callable[[], int | None], surveys: Callable[[], int]
    ) -> None:
        self._waiting = waiting
        self._surveys = surveys
        self._free_bytes = free_bytes
        self._lock = threading.Lock()
        self._told = Figures()
        self._held: defaultdict[str | None, Figures] = defaultdict(Figures)  # by survey, what is to be told later
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def answered(self, method: str, route: str, status: int, seconds: float, survey: Survey | None = None) -> None:
        """Count an answer; that of a respondent's request is shown once the survey is released."""
        with self._lock:
            figures = self._figures_of(survey) if route in OF_RESPONDENTS else self._told
            figures.answered((method, route, str(status)), seconds)

    def taken(self, survey: Survey, outcomes: Sequence[Verdict]) -> None:
        """Count the verdicts on reports, which are shown once the survey is released."""
        with self._lock:
            self._figures_of(survey).reports.update(outcomes)

    def took_one(self, labels: Labels, seconds: float, survey: Survey, outcome: Verdict) -> None:
        """Count the answer to one report and its verdict, as `answered` and `taken` do, under one lock."""
        with self._lock:
            figures = self._figures_of(survey)
            figures.answered(labels, seconds)
            figures.reports[outcome] += 1

    def release(self, survey: Survey) -> None:
        """Show the figures that were held back for a survey, and for requests without one."""
        with self._lock:
            # What belongs to no survey comes with any release, or it would never be told.
            for key in (survey.id, None):
                if key in self._held:
                    self._told.add(self._held.pop(key))

    def collect(self) -> Iterator[Metric]:
        """The metrics that Prometheus reads."""
        seconds = HistogramMetricFamily(
            "deniable_request_seconds",
            "Seconds from a request to its answer, by route and status.",
            labels=["method", "route", "status"],
        )
        reports = CounterMetricFamily("deniable_reports", "Reports, by what became of them.", labels=["outcome"])
        with self._lock:
            for labels, counts in self._told.answers.items():
                # Prometheus' buckets are cumulative: le counts everything up to its bound.
                numbers = itertools.accumulate(counts[place] for place in range(len(_BOUNDS)))
                buckets = list(zip(_BOUNDS, numbers, strict=True))
                seconds.add_metric(labels, buckets, self._told.seconds[labels])
            for outcome in Verdict:
                reports.add_metric([outcome.value], self._told.reports[outcome])
        yield seconds
        yield reports
        yield GaugeMetricFamily(
            "deniable_queue_length",
            "Submissions that wait for the writer, in fifties.",
            _down(self._waiting(), QUEUE_STEP),
        )
        yield GaugeMetricFamily(
            "deniable_surveys",
            "Surveys that were ever published here. Fewer than before mean another database.",
            self._surveys(),
        )
        if (free := self._free_bytes()) is not None:
            yield GaugeMetricFamily(
                "deniable_disk_free_bytes",
                "Bytes free, in steps of 100 megabytes.",
                _down(free, DISK_STEP),
            )

    def _figures_of(self, survey: Survey | None) -> Figures:
        """The figures in which to count a request of a survey: held back unless its results are live."""
        if survey is None:
            return self._held[None]
        return self._told if survey.results == "live" else self._held[survey.id]


def init_app(app: APIFlask, store: Store, writer: Writer) -> None:
    """Measure each request, and serve the figures to holders of a token of scope ``metrics``."""
    metrics = Metrics(writer.waiting, store.free_bytes, store.number_of_surveys)
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
    @app.doc(responses={200: "metrics", 401: "no valid token", 403: "a token of another scope"})
    def serve_metrics() -> Response:
        """Metrics for Prometheus.

        Requests, latencies, reports, queue, surveys and disk space. Needs a token of scope `metrics`.
        """
        require_token("metrics")
        return Response(generate_latest(metrics.registry), content_type=CONTENT_TYPE_LATEST)


def _survey_asked_for(store: Store, response: Response) -> Survey | None:
    """The survey of a respondent's request; None if the request was refused, and may name any survey."""
    survey_id = (request.view_args or {}).get("survey_id")
    is_known = response.status_code < HTTPStatus.BAD_REQUEST or response.status_code in (
        HTTPStatus.FORBIDDEN,
        HTTPStatus.CONFLICT,
        HTTPStatus.GONE,
    )
    is_respondents = request.url_rule is not None and request.url_rule.rule in OF_RESPONDENTS
    if not (survey_id and is_known and is_respondents):
        return None
    try:
        return store.survey(survey_id)
    except DeniableError:  # the database went away since: the request has its answer all the same
        return None


def _down(value: float, step: int) -> float:
    # Rounded down to a step, so that one report changes nothing that can be read.
    return value // step * step


def get_metrics() -> Metrics:
    """The metrics of the application that serves this request."""
    metrics: Metrics = current_app.extensions["deniable-metrics"]
    return metrics

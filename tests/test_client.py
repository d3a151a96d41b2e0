"""The Python client against a real collector, and against one that misbehaves."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import urllib3

from conftest import FIVE_TYPES, Collector, distances_in_errors, person
from deniable import (
    AnswerError,
    BudgetError,
    Ceiling,
    CollectorError,
    ReportConflict,
    ReportError,
    Survey,
    SurveyClosed,
    SurveyError,
    read_survey,
)
from deniable_client import Client, UndeliveredReport, randomize
from deniable_server.store import Store

ANSWERS = {"affair": "yes", "religious": "strongly"}

OPEN = """
title = "Open"
cohorts = ["web"]
[[questions]]
id = "affair"
type = "yes-no"
text = "Q?"
truth = "1/2"
[[questions]]
id = "religious"
type = "choice"
text = "R?"
options = ["not", "mildly", "fairly", "strongly"]
epsilon = 1
"""


@pytest.fixture(scope="module")
def open_survey() -> Survey:
    return read_survey(OPEN)


@pytest.fixture
def client(collector: Collector, open_survey: Survey) -> Client:
    collector.publish(open_survey)
    return Client(collector.url)


def test_answer_is_stored_once_and_gives_a_receipt(collector: Collector, client: Client, open_survey: Survey) -> None:
    before = collector.reports(open_survey)
    receipt = client.answer(client.survey(open_survey.id), ANSWERS, cohort="web")
    assert collector.reports(open_survey) == before + 1
    assert receipt.survey == open_survey.id
    assert receipt.odds[0] == "Of 100 people whose true answer is Yes, about 75 send Yes and 25 send No."
    assert "id" not in vars(receipt), "a receipt must hold nothing that can be looked up"


def test_same_report_again_counts_once(collector: Collector, client: Client, open_survey: Survey) -> None:
    report = client.randomize(open_survey, ANSWERS)
    before = collector.reports(open_survey)
    for _ in range(5):
        client.submit(open_survey, report)
    assert collector.reports(open_survey) == before + 1


def test_same_id_with_other_content_is_a_conflict(client: Client, open_survey: Survey) -> None:
    report = randomize(open_survey, ANSWERS, word=lambda: 0)
    client.submit(open_survey, report)
    other = randomize(open_survey, ANSWERS | {"affair": "no"}, word=lambda: 0, report_id=report.id)
    with pytest.raises(ReportConflict, match="another report was stored under this id"):
        client.submit(open_survey, other)


def test_links_are_as_good_as_ids(collector: Collector, client: Client, open_survey: Survey) -> None:
    for link in (f"{collector.url}/s/{open_survey.id}", f"{collector.url}/s/{open_survey.id}#cohort=web"):
        assert client.survey(link) == open_survey
    with pytest.raises(SurveyError, match="the link is to http://elsewhere"):
        client.survey(f"http://elsewhere/s/{open_survey.id}")
    with pytest.raises(SurveyError, match="must be 26 letters and digits or a link"):
        client.survey("../../etc/passwd")


def test_unknown_survey(client: Client) -> None:
    with pytest.raises(SurveyError, match="is not at http"):
        client.survey("a" * 26)


@pytest.mark.parametrize(
    "answers",
    [
        ANSWERS | {"affair": "SECRET"},
        ANSWERS | {"affair": 1},
        ANSWERS | {"affair": None},
        ANSWERS | {"affair": "Yes"},
        ANSWERS | {"SECRET": "yes"},
        {"affair": "yes"},
        {},
    ],
)
def test_answers_outside_the_options_are_refused_unsaid_and_unsent(
    collector: Collector, client: Client, open_survey: Survey, answers: dict[str, str]
) -> None:
    before = collector.reports(open_survey)
    with pytest.raises(AnswerError) as caught:
        client.answer(open_survey, answers)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert collector.reports(open_survey) == before


def test_unknown_cohort_is_refused(client: Client, open_survey: Survey) -> None:
    with pytest.raises(ReportError, match=r"cohort: must be one of \['web'\], got 'radio'"):
        client.answer(open_survey, ANSWERS, cohort="radio")


def test_closed_survey_is_refused(collector: Collector) -> None:
    survey = read_survey(OPEN.replace('"Open"', '"Closed"'))
    collector.publish(survey)
    store = Store(collector.database)
    store.close_survey(survey.id)
    store.close()
    with pytest.raises(SurveyClosed, match="takes no reports: it was closed on"):
        Client(collector.url).answer(survey, ANSWERS)
    assert collector.reports(survey) == 0


@pytest.mark.parametrize(
    ("noise", "message"),
    [("epsilon = 4.1", "question 'q0': epsilon must be at most 4"), ("epsilon = 2.1", "must add up to at most 8")],
)
def test_more_than_the_ceiling_is_refused_and_nothing_is_sent(collector: Collector, noise: str, message: str) -> None:
    question = f'[[questions]]\nid = "q{{}}"\ntype = "yes-no"\ntext = "Q?"\n{noise}\n'
    survey = read_survey('title = "T"\n' + "".join(question.format(number) for number in range(4)))
    collector.publish(survey)
    answers = {f"q{number}": "yes" for number in range(4)}
    with pytest.raises(BudgetError, match=message):
        Client(collector.url).answer(survey, answers)
    assert collector.reports(survey) == 0
    Client(collector.url, ceiling=Ceiling(question=5, survey=20)).answer(survey, answers)
    assert collector.reports(survey) == 1


def test_no_collector_there() -> None:
    with pytest.raises(CollectorError, match=r"http://127\.0\.0\.1:1: cannot be reached"):
        Client("http://127.0.0.1:1", retries=0).survey("a" * 26)
    with pytest.raises(CollectorError, match="collector: must be a URL"):
        Client("127.0.0.1")


@contextmanager
def misbehaving(answers: list[tuple[int, bytes]]) -> Iterator[tuple[str, list[bytes]]]:
    """A collector that gives these answers in turn, and the bodies that it was sent."""
    bodies: list[bytes] = []
    remaining = iter(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            status, content = next(remaining)
            if not status:
                self.close_connection = True  # says nothing and hangs up
                return
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", bodies
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_every_retry_sends_the_same_bytes(open_survey: Survey) -> None:
    failures = [(0, b""), (503, b""), (429, b""), (502, b""), (504, b"")]
    with misbehaving([*failures, (201, b"{}")]) as (url, bodies):
        Client(url).answer(open_survey, ANSWERS)
    assert len(bodies) == 6
    assert len(set(bodies)) == 1
    assert set(json.loads(bodies[0])) == {"id", "cohort", "answers"}


def test_undelivered_report_is_handed_back_for_later(collector: Collector, client: Client, open_survey: Survey) -> None:
    with misbehaving([(503, b"")] * 2) as (url, bodies), pytest.raises(UndeliveredReport) as caught:
        Client(url, retries=1).answer(open_survey, ANSWERS)
    before = collector.reports(open_survey)
    client.submit(open_survey, caught.value.report)
    assert collector.reports(open_survey) == before + 1
    assert set(bodies) == {caught.value.report.encode()}


@pytest.mark.parametrize("status", [301, 302, 307, 308, 418, 500])
def test_other_answers_are_errors_and_redirects_are_not_followed(open_survey: Survey, status: int) -> None:
    with misbehaving([(status, b"<html>")]) as (url, bodies), pytest.raises(UndeliveredReport, match=str(status)):
        Client(url).answer(open_survey, ANSWERS)
    assert len(bodies) == 1


def test_altered_survey_is_refused(open_survey: Survey) -> None:
    weaker = read_survey(OPEN.replace('truth = "1/2"', 'truth = "0.9"')).document
    with (
        misbehaving([(200, weaker)]) as (url, _),
        pytest.raises(SurveyError, match="other bytes than this address stands for"),
    ):
        Client(url).survey(open_survey.id)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[" * 5000, b"{}", b"\xff" * 100])
def test_nonsense_for_a_survey_is_refused(open_survey: Survey, body: bytes) -> None:
    with misbehaving([(200, body)]) as (url, _), pytest.raises(SurveyError):
        Client(url).survey(open_survey.id)


def test_nonsense_for_a_problem_is_an_error_all_the_same(open_survey: Survey) -> None:
    with misbehaving([(422, b"[1]")]) as (url, _), pytest.raises(ReportError, match="does not say why"):
        Client(url).answer(open_survey, ANSWERS)


def test_importing_the_client_loads_neither_numpy_nor_flask() -> None:
    script = "import sys, deniable_client; print([m for m in ('numpy', 'scipy', 'flask') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_five_types_come_out_right(collector: Collector) -> None:
    survey = read_survey(FIVE_TYPES)
    collector.publish(survey)
    client = Client(collector.url)
    people = [person(number) for number in range(2000)]
    with ThreadPoolExecutor(8) as senders:
        assert len(list(senders.map(lambda each: client.answer(survey, each), people))) == 2000
    result = urllib3.request("GET", f"{collector.url}/api/v1/surveys/{survey.id}/estimates").json()
    assert result["n"] == 2000
    assert {row["question"] for row in result["estimates"] if row["statistic"] == "mean"} == {"trust", "drinks"}
    # 25 estimates, of which each is more than 6 errors off with a probability below 1e-8.
    distances = distances_in_errors(result["estimates"], people)
    assert len(distances) == 2 + 10 + 3 + 7 + 1 + 1
    assert max(distances) < 6
    page = urllib3.request("GET", f"{collector.url}/s/{survey.id}/results").data.decode()
    assert "mean" in page
    noisy = urllib3.request("GET", f"{collector.url}/api/v1/surveys/{survey.id}/reports.csv").data.decode()
    header, first, *_ = noisy.splitlines()
    assert header == "id,cohort,affair,town,drugs,trust,drinks"
    assert len(first.split(",")[4]) == 3


@pytest.mark.parametrize(
    ("question", "given"),
    [
        ("drugs", "cannabis"),
        ("drugs", ["cannabis", "SECRET"]),
        ("drugs", ["cannabis", "cannabis"]),
        ("drugs", None),
        ("trust", "8"),
        ("trust", 0),
        ("trust", 1.0),
        ("trust", True),
        ("drinks", 61),
        ("drinks", "5"),
        ("drinks", 5.5),
        ("drinks", True),
    ],
)
def test_answers_outside_the_other_types_are_refused_unsaid(question: str, given: object) -> None:
    with pytest.raises(AnswerError) as caught:
        randomize(read_survey(FIVE_TYPES), person(1) | {question: given})
    assert question in str(caught.value)
    assert "SECRET" not in str(caught.value)

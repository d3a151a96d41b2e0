"""The Python client against a real collector, and against one that misbehaves."""

from __future__ import annotations

import itertools
import json
import random
import re
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import urllib3

import deniable
import deniable.errors
import deniable_client
import deniable_web
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
from deniable.access.blind_rsa import SIZE
from deniable_client import (
    Client,
    DeliveryStatus,
    Link,
    Memory,
    UndeliveredReport,
    UnusableMemory,
    collector_connection,
    parse_link,
    randomize,
)
from deniable_client.collector_connection import CollectorConnection
from deniable_server.store.sqlite.store import SqliteStore
from tests.support.marks import long
from tools import programs
from tools.rig.collectors import Collector
from tools.rig.patience import PATIENCE
from tools.rig.serving import running
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import FIVE_TYPES, distances_in_errors, person

ANSWERS = {"affair": "yes", "religious": "strongly"}

PORTALS = (b"<html>", b"{}", b"[1]", b"null", b'{"status": "ok"}', b"[" * 5000)
"""Bodies of answers that no collector gives."""

OPEN = survey_toml(
    "Open",
    question_toml("affair", "yes-no", truth="1/2"),
    question_toml("religious", "choice", "R?", options=["not", "mildly", "fairly", "strongly"], epsilon=1),
    cohorts=["web"],
)


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
    store = SqliteStore(collector.database)
    store.close_survey(survey.id)
    store.close()
    with pytest.raises(SurveyClosed, match="survey: is closed; nothing was sent"):
        Client(collector.url).answer(survey, ANSWERS)
    with pytest.raises(SurveyClosed, match="takes no reports: it was closed on"):
        Client(collector.url).submit(survey, randomize(survey, ANSWERS))
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


STORED, KNOWN = b'{"status": "stored"}', b'{"status": "known"}'


@contextmanager
def misbehaving(
    answers: list[tuple[int, bytes]],
    heads: list[tuple[str, dict[str, str]]] | None = None,
    retry_after: str = "20000",
) -> Iterator[tuple[str, list[bytes]]]:
    """A collector that gives these answers in turn, and the bodies that it was sent; request lines go to ``heads``."""
    bodies: list[bytes] = []
    remaining = iter(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.endswith("/state"):
                self.send_error(404)  # an older collector has no such route
                return
            bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            if heads is not None:
                heads.append((self.requestline, {name.lower(): value for name, value in self.headers.items()}))
            status, content = next(remaining)
            if not status:
                self.close_connection = True  # says nothing and hangs up
                return
            self.send_response(status)
            self.send_header("Content-Type", "application/json" if content != b"<html>" else "text/html")
            if content == b"busy":
                self.send_header("Retry-After", retry_after)
            if 300 <= status < 400:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_arguments: object) -> None:
            pass

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        yield f"http://{address}", bodies


@pytest.mark.parametrize(
    ("credential", "head"),
    [
        (None, None),
        ("00" * 16, "Invitation 374708fff7719dd5979ec875d56cd2286f6d3cf7ec317a3b25632aab28ec37bb"),
        ("0002" + "fb" * 352, 'PrivateToken token="AAL7' + "-_v7" * 117 + '"'),
    ],
)
def test_the_right_that_a_body_bears_is_named_in_the_head(credential: str | None, head: str | None) -> None:
    heads: list[tuple[str, dict[str, str]]] = []
    signature = json.dumps({"signature": "00" * SIZE}).encode()
    with misbehaving([(201, STORED), (200, signature)], heads) as (url, _):
        connected = CollectorConnection(url, retries=0, timeout=PATIENCE, size=1)
        connected.send("a" * 26, json.dumps({"credential": credential} if credential else {}).encode())
        assert heads[0][1].get("authorization") == head
        if credential and len(credential) == 32:
            connected.sign("a" * 26, credential, b"blinded")
            assert heads[1][1]["authorization"] == head


@pytest.mark.slow
def test_every_retry_sends_the_same_bytes(open_survey: Survey) -> None:
    failures = [(0, b""), (503, b""), (429, b""), (502, b""), (504, b"")]
    with misbehaving([*failures, (201, STORED)]) as (url, bodies):
        Client(url).answer(open_survey, ANSWERS)
    assert len(bodies) == 6
    assert len(set(bodies)) == 1
    assert set(json.loads(bodies[0])) == {"id", "cohort", "values"}


def test_throttling_is_told_with_how_long_it_lasts(
    open_survey: Survey, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with misbehaving([(429, b"busy")]) as (url, _), pytest.raises(UndeliveredReport) as caught:
        Client(url, retries=0).answer(open_survey, ANSWERS)
    assert str(caught.value) == (
        f"{url}: takes no more from this network for now, because too much came; try again in 20000 seconds"
    )
    assert caught.value.seconds == 20000
    slept: list[float] = []
    sleep, mine = time.sleep, threading.get_ident()

    def recorded(seconds: float) -> None:
        """Other threads of this process sleep on."""
        if threading.get_ident() == mine:
            slept.append(seconds)
        else:
            sleep(seconds)

    monkeypatch.setattr(collector_connection, "LONGEST_WAIT", 20001)
    monkeypatch.setattr("urllib3.util.retry.time.sleep", recorded)
    with misbehaving([(429, b"busy"), (429, b"busy"), (201, STORED)]) as (url, _):
        Client(url).answer(open_survey, ANSWERS)
    assert caplog.messages == [
        "the collector is throttling this network: sending again in 20000 seconds, and so from now on without a message"
    ]
    assert slept == [20000, 20000]


@contextmanager
def untrusted(folder: Path) -> Iterator[str]:
    """The URL of a server whose certificate nobody signed but itself."""
    certificate = folder / "certificate.pem"
    request = ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-days", "1", "-subj", "/CN=127.0.0.1"]
    subprocess.run([*request, "-keyout", certificate, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # the device hangs up, as it must
    with running(server) as address:
        yield f"https://{address}"


def test_a_certificate_that_is_not_trusted_is_named(open_survey: Survey, tmp_path: Path) -> None:
    named = pytest.raises(CollectorError, match="this device does not trust its certificate, so nothing was sent")
    with untrusted(tmp_path) as url, named:
        Client(url, retries=0).survey(open_survey.id)


def test_an_address_without_tls_is_not_called_untrusted(open_survey: Survey) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    plain = pytest.raises(
        CollectorError, match="it does not speak TLS there; check the port, and whether it is an http:"
    )
    with running(server) as address, plain:
        Client(f"https://{address}", retries=0).survey(open_survey.id)


@pytest.mark.parametrize(
    ("status", "retry_after"),
    [
        (status, retry_after) if status == 503 or retry_after == "soon" else long(status, retry_after)
        for status in (429, 500, 503)
        for retry_after in ("0", "1", "-5", "soon", "Wed, 21 Oct 2015 07:28:00 GMT")
    ],
)
def test_a_collector_that_asks_for_a_moment_or_for_nonsense_is_not_one_to_come_back_to_by_itself(
    open_survey: Survey, status: int, retry_after: str
) -> None:
    """Otherwise a terminal would send again and again without a pause and without a question."""
    with (
        misbehaving([(status, b"busy")], retry_after=retry_after) as (url, _),
        pytest.raises(UndeliveredReport) as caught,
    ):
        Client(url, retries=0).answer(open_survey, ANSWERS)
    assert caught.value.seconds is None
    assert "cannot be reached" not in str(caught.value)
    with misbehaving([(503, b"busy"), (201, STORED)], retry_after=retry_after) as (url, _):
        Client(url).answer(open_survey, ANSWERS)


@pytest.mark.parametrize("status", [429, 503])
def test_collector_that_asks_for_hours_is_asked_once_and_the_report_waits(
    open_survey: Survey, tmp_path: Path, status: int
) -> None:
    """Neither does a call sleep for hours, nor does it come back before the collector wants it to."""
    with misbehaving([(status, b"busy"), (201, STORED)]) as (url, bodies):
        client = Client(url, memory=Memory(tmp_path / "memory.db"))
        with pytest.raises(
            UndeliveredReport, match=r"the memory keeps the report, and Client\.resend sends it"
        ) as caught:
            client.answer(open_survey, ANSWERS)
        assert (len(bodies), caught.value.seconds) == (1, 20000)
        assert [each.state for each in client.resend()] == ["sent"]
    assert len(set(bodies)) == 1


def test_closed_survey_is_known_before_anything_is_drawn_or_sent(collector: Collector, tmp_path: Path) -> None:
    survey = read_survey(survey_toml("Closed by hand", question_toml("affair", "yes-no", truth="1/2")))
    collector.publish(survey)
    before = collector.reports(survey)
    with closing(SqliteStore(collector.database)) as store:
        store.close_survey(survey.id)
    memory = Memory(tmp_path / "memory.db")
    with pytest.raises(SurveyClosed, match="is closed; nothing was sent"):
        Client(collector.url, memory=memory).answer(survey, {"affair": "yes"})
    assert memory.recall(survey.id, collector.url) is None
    assert not memory.path.exists()
    assert collector.reports(survey) == before


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


@pytest.mark.parametrize(
    ("status", "body"),
    [
        # Each status with one body, each body with a status of success and of refusal; all others are for long runs.
        (status, body) if body == PORTALS[0] or status in (201, 409) else long(status, body)
        for status, body in itertools.product([200, 201, 403, 404, 409, 410, 413, 422], PORTALS)
    ],
)
def test_page_of_a_portal_is_no_receipt_and_no_refusal(
    open_survey: Survey, tmp_path: Path, status: int, body: bytes
) -> None:
    memory = Memory(tmp_path / "memory.db")
    with misbehaving([(status, body)]) as (url, _), pytest.raises(UndeliveredReport, match=f"status {status}"):
        Client(url, memory=memory).answer(open_survey, ANSWERS)
    assert [kept.survey for kept in memory.pending()] == [open_survey.id]


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


def test_a_reason_that_is_no_sentence_is_an_error_all_the_same(open_survey: Survey) -> None:
    with misbehaving([(422, b'{"detail": [1]}')]) as (url, _), pytest.raises(ReportError, match=r"^\[1\]$"):
        Client(url).answer(open_survey, ANSWERS)


def test_without_a_memory_every_answer_is_another_person_and_nothing_is_kept(
    collector: Collector, client: Client, open_survey: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    before = collector.reports(open_survey)
    assert not any(client.answer(open_survey, ANSWERS).again for _ in range(10))
    assert collector.reports(open_survey) == before + 10
    assert (client.kept(open_survey), client.pending(), client.resend()) == (None, (), ())
    assert list(tmp_path.iterdir()) == []


def test_100_answers_with_a_memory_are_one_report_sent_once(open_survey: Survey, tmp_path: Path) -> None:
    with misbehaving([(503, b""), (201, STORED)]) as (url, bodies):
        receipts = []
        for _ in range(100):  # as if the program were started anew each time
            client = Client(url, memory=Memory(tmp_path / "memory.db"))
            receipts.append(client.answer(open_survey, ANSWERS))
    assert [receipt.again for receipt in receipts] == [False] + [True] * 99
    assert len(bodies) == 2, "the one that failed and the one that arrived"
    assert len(set(bodies)) == 1


def test_one_answer_of_many_threads_is_drawn(collector: Collector, open_survey: Survey, tmp_path: Path) -> None:
    collector.publish(open_survey)
    client = Client(collector.url, memory=Memory(tmp_path / "memory.db"))
    before = collector.reports(open_survey)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: client.answer(open_survey, ANSWERS), range(24)))
    assert collector.reports(open_survey) == before + 1


def test_report_waits_and_goes_later_as_the_same_bytes(
    collector: Collector, open_survey: Survey, tmp_path: Path
) -> None:
    memory = Memory(tmp_path / "memory.db")
    # After a restart the survey is fetched first: it says whether its reports are sealed, and by whom they go.
    later = [(500, b""), (200, open_survey.document), (201, STORED)]
    with misbehaving([(503, b"")] * 2 + later) as (url, bodies):
        with pytest.raises(UndeliveredReport) as caught:
            Client(url, retries=1, memory=memory).answer(open_survey, ANSWERS, "web")
        client = Client(url, retries=0, memory=Memory(memory.path))  # after a restart
        assert [kept.report for kept in client.pending()] == [caught.value.report.encode()]
        (waits,) = client.resend()
        assert (waits.survey, waits.state) == (open_survey.id, "waiting")
        assert "status 500" in waits.reason
        assert client.resend() == (DeliveryStatus(open_survey.id, "sent"),)
        assert (client.pending(), client.resend()) == ((), ())
        assert client.answer(open_survey, ANSWERS).again
    assert [body for body in bodies if body] == [caught.value.report.encode()] * 3
    assert len(bodies) == 5
    before = collector.reports(open_survey)
    Client(collector.url, memory=memory).answer(open_survey, ANSWERS)  # another collector gets the same report
    assert collector.reports(open_survey) == before + 1
    assert {kept.collector for kept in memory.pending()} == set()


def test_refused_report_leaves_the_queue_and_is_not_drawn_again(open_survey: Survey, tmp_path: Path) -> None:
    refused = [(410, b'{"detail": "it opens later"}'), (410, b'{"detail": "it is closed"}')]
    with misbehaving([*refused, (201, STORED)]) as (url, bodies):
        client = Client(url, memory=Memory(tmp_path / "memory.db"))
        with pytest.raises(SurveyClosed, match="it opens later"):
            client.answer(open_survey, ANSWERS)
        assert client.pending() == ()
        with pytest.raises(SurveyClosed):
            client.answer(open_survey, ANSWERS)
        assert not client.answer(open_survey, ANSWERS).again
    assert (len(bodies), len(set(bodies))) == (3, 1)


def test_report_that_an_older_version_kept_is_not_sent_and_not_drawn_again(open_survey: Survey, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with misbehaving([(500, b""), (201, STORED)]) as (url, bodies):
        client = Client(url, memory=Memory(path), retries=0)
        with pytest.raises(UndeliveredReport):
            client.answer(open_survey, ANSWERS)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("""UPDATE reports SET report = CAST(replace(report, '"values"', '"answers"') AS BLOB)""")
            (older,) = db.execute("SELECT report FROM reports").fetchone()
        refusal = DeliveryStatus(open_survey.id, "refused", "report: must have the key 'values'")
        assert client.resend() == (refusal,)
        assert client.pending() == client.resend() == ()
        with pytest.raises(UnusableMemory):
            client.answer(open_survey, ANSWERS)
        kept = client.kept(open_survey)
    assert kept is not None
    assert (kept.report, kept.state) == (older, "refused")
    assert len(bodies) == 1


def test_second_draw_is_not_sent(open_survey: Survey, tmp_path: Path) -> None:
    with misbehaving([(201, STORED), (200, KNOWN)]) as (url, bodies):
        client = Client(url, memory=Memory(tmp_path / "memory.db"))
        report = randomize(open_survey, ANSWERS)
        assert not client.submit(open_survey, report).again
        with pytest.raises(ReportConflict, match="must be the one that this device keeps"):
            client.submit(open_survey, randomize(open_survey, ANSWERS))
        assert client.submit(open_survey, report).again
        assert client.randomize(open_survey, {"affair": "no", "religious": "not"}) == report
    assert set(bodies) == {report.encode()}


def test_ledger_refuses_before_anything_is_drawn_or_sent(tmp_path: Path) -> None:
    text = 'title = "{0}"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q {0}?"\nepsilon = 3'
    first, second, third = (read_survey(text.format(number)) for number in range(3))
    with misbehaving([(201, STORED)] * 2) as (url, bodies):
        client = Client(url, memory=Memory(tmp_path / "memory.db"))
        for survey in (first, second):
            client.answer(survey, {"q": "yes"})
        with pytest.raises(BudgetError, match="within 90 days must add up to at most 8"):
            client.answer(third, {"q": "yes"})
        assert client.kept(third) is None
    assert len(bodies) == 2


AS_A_BROWSER = """
import {{ readFileSync }} from "node:fs";
const {{ encodeReport, fetchSurvey, parseSurvey, randomize, submit }} = await import("{index}");
const {{ document, answers, cohort, words, id, url }} = JSON.parse(readFileSync(0, "utf8"));
const survey = await parseSurvey(new TextEncoder().encode(document));
const word = () => words.shift();
await fetchSurvey(`${{url}}/s/${{survey.id}}#cohort=${{encodeURIComponent(cohort)}}`);
await submit(survey, url, encodeReport(randomize(survey, answers, {{ cohort, word, id }})));
"""


@pytest.mark.slow
def test_requests_are_those_of_the_browser_client() -> None:
    survey = read_survey(FIVE_TYPES.replace("[[questions]]", 'cohorts = ["Zürich \\"西\\" 🗳"]\n\n[[questions]]', 1))
    (cohort,) = survey.cohorts
    words = [random.Random(7).getrandbits(32) for _ in range(1000)]
    report_id, heads = "0123456789abcdef" * 2, list[tuple[str, dict[str, str]]]()
    with misbehaving([(200, survey.document), (201, STORED)] * 2, heads) as (url, bodies):
        script = AS_A_BROWSER.format(index=(Path(deniable_web.__file__).parent / "index.js").as_uri())
        request = {"document": survey.document.decode(), "answers": person(4), "cohort": cohort, "words": words}
        command = [*programs.node_command(), "--input-type=module", "--eval", script]
        content = json.dumps(request | {"id": report_id, "url": url})
        done = subprocess.run(command, input=content, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        client = Client(url)
        client.survey(survey.id)
        report = randomize(survey, person(4), cohort, word=iter(words).__next__, report_id=report_id)
        client.submit(survey, report)
    assert bodies[:2] == bodies[2:]
    assert [line for line, _ in heads[:2]] == [line for line, _ in heads[2:]]
    for (_, browsers), (_, ours) in zip(heads[:2], heads[2:], strict=True):
        differing = {name for name in browsers.keys() | ours.keys() if browsers.get(name) != ours.get(name)}
        # What names the program that sends, and what a browser adds about the page; docs/python-client.md says so.
        assert differing <= {"user-agent", "accept-encoding", "accept-language", "sec-fetch-mode", "connection"}
        assert ours["user-agent"] == "deniable", "no version, which would tell devices apart"


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("https://c.example/s/{}", Link("https://c.example", "{}")),
        ("HTTPS://C.Example:443/s/{}/", Link("https://c.example", "{}")),
        ("http://[::1]:8000/s/{}#cohort=web", Link("http://[::1]:8000", "{}", "web")),
        (
            "https://c.example/deep/er/s/{}#x=1&cohort=a%20b%26c&cohort=d",
            Link("https://c.example/deep/er", "{}", "a b&c"),
        ),
        ("https://c.example/s/{}?cohort=web#", Link("https://c.example", "{}")),
        ("https://c.example/s/{}#cohort=", Link("https://c.example", "{}", "")),
        ("https://c.example/api/v1/surveys/{}", Link("https://c.example", "{}")),
        ("https://c.example/embed/{}", Link("https://c.example", "{}")),
    ],
)
def test_links_are_read_as_in_the_browser(text: str, link: Link) -> None:
    survey = "bpn4zq5y7xlxpqd63hsrm4s5ky"
    assert parse_link(text.format(survey)) == Link(link.collector, survey, link.cohort)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "bpn4zq5y7xlxpqd63hsrm4s5ky",
        "ftp://c.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky",
        "https:///s/bpn4zq5y7xlxpqd63hsrm4s5ky",
        "https://c.example:x/s/bpn4zq5y7xlxpqd63hsrm4s5ky",
        "https://[c/s/bpn4zq5y7xlxpqd63hsrm4s5ky",
        "https://c.example/s/bpn4zq5y7xlxpqd63hsrm4s5k1",
        "https://c.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky/results",
    ],
)
def test_what_is_no_link_is_refused(text: str) -> None:
    with pytest.raises(SurveyError, match="must be 26 letters and digits or a link"):
        parse_link(text)


def test_importing_the_client_loads_neither_numpy_nor_flask() -> None:
    script = "import sys, deniable_client; print([m for m in ('numpy', 'scipy', 'flask') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_all_five_types_come_out_right(collector: Collector) -> None:
    survey = read_survey(FIVE_TYPES)
    collector.publish(survey)
    client = Client(collector.url)
    people = [person(number) for number in range(1000)]
    with ThreadPoolExecutor(8) as senders:
        assert len(list(senders.map(lambda each: client.answer(survey, each), people))) == 1000
    result = urllib3.request("GET", f"{collector.url}/api/v1/surveys/{survey.id}/estimates").json()
    assert result["n"] == 1000
    assert {row["question"] for row in result["estimates"] if row["statistic"] == "mean"} == {"trust", "drinks"}
    # 25 estimates, of which each is more than 6 errors off with a probability below 1e-8.
    distances = distances_in_errors(result["estimates"], people)
    assert len(distances) == 2 + 10 + 3 + 7 + 1 + 1
    assert max(distances) < 6
    page = urllib3.request("GET", f"{collector.url}/s/{survey.id}/results").data.decode()
    assert "mean" in page
    noisy = urllib3.request("GET", f"{collector.url}/api/v1/surveys/{survey.id}/reports.csv").data.decode()
    header, first, *_ = noisy.splitlines()
    assert header == "id,cohort,affair,town,drugs,trust,drinks,one_report_a_person"
    assert re.fullmatch("b(00|01|10){3}", first.split(",")[4])


@pytest.mark.slow
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


def test_the_page_has_every_error_of_the_client_with_an_import_that_works() -> None:
    root = Path(__file__).parents[2]
    listed: dict[str, type] = {}
    page = (root / "docs/python-client.md").read_text(encoding="utf-8")
    for line in re.findall(r"^\| `(from deniable\S* import \w+)` \|", page, re.MULTILINE):
        exec(line, listed)
    modules = (root / "client/deniable_client").glob("*.py")
    sources = [each.read_text(encoding="utf-8") for each in modules]
    known = vars(deniable_client) | vars(deniable.errors)
    named = {each for source in sources for each in re.findall(r"\b[A-Z]\w+\b", source)}
    can_be_raised = {
        name for name in named
        if isinstance(each := known.get(name), type) and issubclass(each, deniable.DeniableError)
    } - {"DeniableError"}  # fmt: skip
    assert {"AnswerError", "UndeliveredReport", "SurveyClosed", "NotInvited"} <= can_be_raised
    assert can_be_raised <= set(listed)

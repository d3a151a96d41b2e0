"""Heavy computing: in processes, few at a time, given up in time; its results are kept, and charged by rows."""

from __future__ import annotations

import contextlib
import operator
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from deniable import Survey, SurveyError, read_survey
from deniable.survey.document import MAX_ROWS
from deniable_client import randomize
from deniable_server.app import create_app
from deniable_server.edge.limits import TooBusy
from deniable_server.edge.stalls import BYTES_A_SECOND, SECONDS, Progress, Watch, look, shut_down
from deniable_server.results.cache import ResultCache
from deniable_server.results.computing import WORKERS, ProcessPool
from deniable_server.results.query import EstimatesQuery
from deniable_server.results.service import MOST_REQUESTS, requests_for
from deniable_server.settings import Settings
from deniable_server.store import Store
from tools.rig.collectors import running_collector
from tools.rig.patience import PATIENCE, wait_until
from tools.rig.surveys import FIVE_TYPES, person


def start(pool: ProcessPool) -> None:
    """Wait for a pool's process, which on a busy machine takes its time."""

    def runs() -> bool:
        with contextlib.suppress(TooBusy), pool.place(b""):
            pool.run(int)
            return True
        return False

    wait_until(runs, "a process is there")


@pytest.fixture
def pool() -> Iterator[ProcessPool]:
    """One process, a queue of two, and little patience with waiting."""
    pool = ProcessPool(workers=1, asked=2, asked_by_one=2, wait_seconds=0.2, compute_seconds=20)
    start(pool)
    yield pool
    pool.stop()


def test_work_is_done_elsewhere_and_its_errors_come_back(pool: ProcessPool) -> None:
    with pool.place(b"one"):
        elsewhere = pool.run(os.getpid)
        assert elsewhere != os.getpid()
        assert pool.run(os.getpid) == elsewhere, "a process is used again"
        with pytest.raises(ZeroDivisionError):
            pool.run(operator.truediv, 1, 0)
        assert pool.run(print, "what is printed is no answer") is None
        assert pool.run(os.getpid) == elsewhere


@pytest.mark.slow
def test_a_process_that_died_is_replaced(pool: ProcessPool) -> None:
    with pool.place(b"one"):
        first = pool.run(os.getpid)
        with pytest.raises(TooBusy):
            pool.run(os._exit, 1)
    start(pool)
    with pool.place(b"one"):
        assert pool.run(os.getpid) != first


@pytest.mark.slow
def test_processes_are_started_before_anybody_asks_and_replaced_when_they_die() -> None:
    pool = ProcessPool(workers=1)
    pool.start()
    start(pool)
    with pool.place(b"one"):
        first = pool.run(os.getpid)
        os.kill(first, signal.SIGKILL)
    wait_until(lambda: not running(first), "the process ends")
    start(pool)
    with pool.place(b"one"):
        second = pool.run(os.getpid)
        assert second != first
        with pytest.raises(TooBusy):
            pool.run(os._exit, 1)
    start(pool)
    with pool.place(b"one"):
        assert pool.run(os.getpid) not in (first, second)
    pool.stop()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_collector_starts_processes_that_end_with_it(tmp_path: Path, number: signal.Signals) -> None:
    with running_collector(tmp_path) as collector:
        wait_until(lambda: len(computing_for(collector.process.pid)) == WORKERS, "the processes are there")
        found = computing_for(collector.process.pid)
        collector.process.send_signal(number)
        collector.process.wait(PATIENCE)
        wait_until(lambda: not any(map(running, found)), "they end")


def running(process: int) -> bool:
    """Whether a process lives."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return status_of(process)["State"][0] != "Z"
    return False


def status_of(process: int) -> dict[str, str]:
    """What the kernel says of a process."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def computing_for(collector: int) -> list[int]:
    """The processes that compute and come from a collector, however far down."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if b"deniable_server.results.computing" not in (path / "cmdline").read_bytes():
                continue
            process = int(path.name)
            while process > 1:
                process = int(status_of(process)["PPid"])
                if process == collector:
                    found.append(int(path.name))
    return found


@pytest.mark.slow
def test_what_takes_too_long_is_given_up() -> None:
    pool = ProcessPool(workers=1, compute_seconds=3)
    start(pool)
    with pool.place(b"one"), pytest.raises(TooBusy, match="too long"):
        pool.run(time.sleep, PATIENCE * 10)
    start(pool)
    with pool.place(b"one"):
        assert pool.run(int, "7") == 7, "the place is free again"
    pool.stop()


def test_the_queue_is_short_and_waiting_ends(pool: ProcessPool) -> None:
    refusals: list[TooBusy] = []

    def ask() -> None:
        try:
            with pool.place(b"one"):
                pass
        except TooBusy as refusal:
            refusals.append(refusal)

    with pool.place(b"one"):
        ask()
        assert len(refusals) == 1, "one of two may hold no more than is left"
        waits = threading.Thread(target=lambda: [ask() for _ in range(1)])  # type: ignore[func-returns-value]
        waits.start()
        waits.join(PATIENCE)
    assert len(refusals) == 2
    with pool.place(b"one"):
        pass


@pytest.mark.slow
def test_processes_end_with_whoever_started_them() -> None:
    code = (
        "import os\nfrom deniable_server.results import computing\n"
        "computing.START_SECONDS = 100\npool = computing.ProcessPool()\n"
        "with pool.place(b''):\n    print(pool.run(os.getpid), flush=True)\nos.kill(os.getpid(), 9)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    wait_until(lambda: not running(int(ended.stdout)), "the process ends")


def test_kept_results_are_the_latest_used() -> None:
    kept = ResultCache(10_000)
    for number in range(5):
        kept.put(number, [number], 1000)
    assert kept.get(0) == [0]
    kept.put(5, [5], 1000)
    assert kept.get(1) is None
    assert [kept.get(number) for number in (0, 2, 3, 4, 5)] == [[0], [2], [3], [4], [5]]
    kept.put(6, "more than there is", 20_000)
    assert kept.get(6) is None


def test_rows_of_a_survey_are_those_of_its_estimates(http: FlaskClient, store: Store, demo_survey: Survey) -> None:
    for survey in (demo_survey, read_survey('cohorts = ["a", "b"]\n' + FIVE_TYPES)):
        store.publish(survey)
        cohorts: tuple[Any, ...] = (*survey.cohorts, None)
        answers = {question.id: question.options and question.options[0] for question in survey.questions}
        people = [person(0) if "drinks" in answers else answers] * len(cohorts)
        reports = [randomize(survey, each, cohort) for each, cohort in zip(people, cohorts, strict=True)]
        store.store_reports([(survey, reports)])
        for by in ("", "?by=cohort"):
            rows = http.get(f"/api/v1/surveys/{survey.id}/estimates{by}").json["estimates"]
            assert len(rows) == (survey.rows if by else survey.rows // (len(survey.cohorts) + 1))


def test_results_count_for_the_time_that_they_take() -> None:
    def asked(kind: str, **wanted: Any) -> int:
        question = f'[[questions]]\nid = "q"\ntext = "Q?"\nepsilon = 1\n{kind}'
        return requests_for(read_survey(f'title = "T"\n{question}'), EstimatesQuery(**wanted))

    plain, stars = 'type = "yes-no"', 'type = "rating"\nstars = 5'
    scale = 'type = "scale"\nlo = 0\nhi = {}\nmechanism = "geometric"'
    assert asked(plain) == 1
    assert asked(plain, misbehaving=0.05) == asked(plain, target="respondents") == 2
    assert asked(plain, assume_fake=0.05) == 2
    assert asked(plain, assume_fake=0.05, target="respondents") == 20
    assert asked(stars) == 5  # a mean as 4
    assert asked(scale.format(4)) == 9  # and 5 shares by likelihood
    assert asked(scale.format(30)) == 35
    assert asked(scale.format(60)) == MOST_REQUESTS


def test_a_survey_makes_a_bounded_number_of_rows() -> None:
    def toml(cohorts: int, questions: int, options: int) -> str:
        labels = [str(number) for number in range(options)]
        asked = "\n".join(
            f'[[questions]]\nid = "q{number}"\ntype = "choice"\ntext = "Q?"\noptions = {labels}\nepsilon = 1'
            for number in range(questions)
        )
        return f'title = "T"\ncohorts = {[str(number) for number in range(cohorts)]}\n{asked}'

    assert read_survey(toml(20, 100, 10)).rows == MAX_ROWS == 21_000
    with pytest.raises(SurveyError, match="survey: must make at most 21000 rows of estimates, got 22000"):
        read_survey(toml(21, 100, 10))


def test_estimates_are_charged_by_rows_unless_they_are_kept(tmp_path: Path) -> None:
    app = create_app(tmp_path / "test.db", settings=Settings(rate_limit="20/day"))  # type: ignore[arg-type]
    store, http = app.extensions["deniable"]["store"], app.test_client()
    cohorts = [str(number) for number in range(120)]  # 242 rows, which count as 7 requests
    survey = read_survey(
        f'title = "T"\ncohorts = {cohorts}\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1'
    )
    store.publish(survey)
    path = f"/api/v1/surveys/{survey.id}/estimates?by=cohort&confidence="
    asked = ["0.9", "0.91", "0.9", "0.90000001", "0.9000004", "0.91", "0.92", "0.93"]  # 7, 7, 1, 1, 1, 1, 7
    assert [http.get(path + level).status_code for level in asked] == [200] * 7 + [429]
    app.extensions["deniable"]["writer"].stop()


def test_confidence_is_rounded(http: FlaskClient, store: Store, survey: Survey) -> None:
    store.publish(survey)
    path = f"/api/v1/surveys/{survey.id}/estimates?confidence="
    assert http.get(path + "0.95000049").json["estimates"][0]["conf_level"] == 0.95
    for level, limit in (
        ("0.9999999999999999", "less than or equal to 0.999999"),
        ("1e-10", "greater than or equal to"),
    ):
        refused = http.get(path + level)
        assert refused.status_code == 422
        assert limit in refused.json["detail"]


def test_new_reports_make_new_results(http: FlaskClient, store: Store, survey: Survey) -> None:
    store.publish(survey)
    path = f"/api/v1/surveys/{survey.id}/estimates"
    assert http.get(path).json["n"] == 0
    for n in (1, 2):
        store.store_reports([(survey, [randomize(survey, {"affair": "yes", "religious": "not"})])])
        assert http.get(path).json["n"] == n
        assert http.get(path).json["estimates"][0]["n"] == n


def late(*looks: tuple[float, Progress]) -> list[float]:
    """When a connection of that history is taken for dead."""
    watched = Watch()
    return [now for now, progress in looks if watched.overdue({(7, 7): progress}, now)]


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux")
def test_a_silent_body_is_closed_on_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as sender:
        sender.connect(listener.getsockname())
        connection, _ = listener.accept()
        with connection:
            sender.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
            assert connection.recv(100)
            watched, port = Watch(), listener.getsockname()[1]
            assert watched.overdue(look(port), 0.0) == []
            assert watched.overdue(look(port), SECONDS) == []
            (late_one,) = watched.overdue(look(port), SECONDS + 1)
            shut_down(late_one)
            assert connection.recv(1) == b"", "whoever reads the body is told that there is no more"
            sender.settimeout(PATIENCE)
            assert sender.recv(1) == b""


def test_a_body_has_some_seconds_and_then_a_rate() -> None:
    silent = [(float(now), Progress(0, 100, 0)) for now in range(40)]
    assert late(*silent)[0] == SECONDS + 1
    drops = [(float(now), Progress(0, 100 + now, 0)) for now in range(40)]
    assert late(*drops)[0] == SECONDS + 1
    fast = [(float(now), Progress(0, now * 2 * BYTES_A_SECOND, 0)) for now in range(100)]
    assert late(*fast) == []


def test_a_download_has_some_seconds_and_then_a_rate() -> None:
    unread = [(float(now), Progress(4096, 100, 10**6)) for now in range(40)]
    assert late(*unread)[0] == SECONDS + 1
    drops = [(float(now), Progress(4096 + 1000 * now, 100, 10**6)) for now in range(40)]
    assert late(*drops)[0] == SECONDS + 1
    fast = [(float(now), Progress(now * 2 * BYTES_A_SECOND, 100, 10**6)) for now in range(100)]
    assert late(*fast) == []


def test_whoever_asks_and_reads_goes_on() -> None:
    asks = [(float(now), Progress(now // 10 * 500, now // 10 * 300, 0)) for now in range(200)]
    assert late(*asks) == []
    begun = [(float(now), Progress(0, 100, 0)) for now in range(15)]
    taken = [(float(now), Progress(1000, 100, 5000)) for now in range(15, 30)]
    assert late(*begun, *taken) == [], "the answer has a time of its own"

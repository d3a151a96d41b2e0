"""Stopping under load: whoever was answered is stored, whoever was being served is answered, and it ends in time."""

from __future__ import annotations

import http.client
import json
import random
import signal
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import urllib3

from deniable import Survey, read_survey
from deniable_client import randomize
from deniable_server.serving import STOP_SECONDS
from tools.rig.collectors import Collector, running_collector
from tools.rig.patience import PATIENCE
from tools.rig.surveys import FIVE_TYPES, person

SENDERS = 16


def stop(short: bool) -> str:
    """Stop a collector with a signal while 16 senders are busy, many times on one database."""
    dice = random.Random(5)
    survey = read_survey(FIVE_TYPES)
    acknowledged: set[bytes] = set()
    unanswered: set[bytes] = set()
    slowest = 0.0
    rounds, busy = (2, (0.1, 0.3)) if short else (30, (0.2, 1))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(rounds):
            kind = (signal.SIGTERM, signal.SIGINT)[number % 2]
            with running_collector(folder) as collector:
                collector.publish(survey)
                slowest = max(
                    slowest, stop_once(collector, survey, kind, dice.uniform(*busy), acknowledged, unanswered)
                )
        with running_collector(folder) as collector:
            stored = collector.reports(survey)
            assert len(acknowledged) <= stored <= len(acknowledged) + len(unanswered), (stored, len(acknowledged))
            again = send(collector, survey, acknowledged)
            assert (again["stored"], again["known"]) == (0, len(acknowledged))
            again = send(collector, survey, unanswered)
            assert again["known"] == stored - len(acknowledged)
            assert collector.reports(survey) == len(acknowledged | unanswered)
    assert short or slowest < STOP_SECONDS + 5, f"a stop took {slowest:.1f} s"
    return (
        f"{rounds} stops under load: {len(acknowledged):,} acknowledged reports, 0 lost, 0 counted twice; "
        f"every request in hand answered; the slowest stop took {slowest:.1f} s"
    )


SCENARIOS: dict[str, Callable[[bool], str]] = {"stop": stop}


def stop_once(
    collector: Collector,
    survey: Survey,
    kind: signal.Signals,
    seconds: float,
    acknowledged: set[bytes],
    unanswered: set[bytes],
) -> float:
    """Send for so long, then stop the collector with one request in hand; seconds until its process ended."""
    threads = [
        threading.Thread(target=sender, args=(collector, survey, acknowledged, unanswered)) for _ in range(SENDERS)
    ]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    body = new_report(survey)
    in_hand = connect(collector)
    in_hand.putrequest("POST", path(survey))
    in_hand.putheader("Content-Type", "application/json")
    in_hand.putheader("Content-Length", str(len(body)))
    in_hand.putheader("Expect", "100-continue")
    in_hand.endheaders()
    assert b" 100 " in in_hand.sock.recv(100, socket.MSG_PEEK)[:20], "no thread reads the body"
    in_hand.send(body[:20])
    started = time.monotonic()
    collector.process.send_signal(kind)
    time.sleep(0.2)
    in_hand.send(body[20:])
    answer = in_hand.getresponse()
    assert answer.status == 201, answer.status
    answer.read()
    in_hand.close()
    acknowledged.add(body)
    code = collector.process.wait(PATIENCE)
    waited = time.monotonic() - started
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    assert code == 0, collector.log.read_text()
    return waited


def sender(collector: Collector, survey: Survey, acknowledged: set[bytes], unanswered: set[bytes]) -> None:
    """Send one report after another until the collector is gone."""
    with closing(connect(collector)) as connection:
        while True:
            body = new_report(survey)
            try:
                connection.request("POST", path(survey), body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                unanswered.add(body)
                return
            assert answer.status == 201, answer.status
            acknowledged.add(body)
            if answer.will_close:
                return


def send(collector: Collector, survey: Survey, bodies: set[bytes]) -> Counter[str]:
    """Send reports once more, as batches; what became of them."""
    http = urllib3.PoolManager(retries=False, timeout=PATIENCE)
    total: Counter[str] = Counter()
    rest = list(bodies)
    while rest:
        batch, rest = b"\n".join(rest[:5000]), rest[5000:]
        headers = {"Content-Type": "application/x-ndjson"}
        answer = http.request("POST", f"{collector.url}{path(survey)}", body=batch, headers=headers).json()
        assert answer["refused"] == []
        total += Counter({name: answer[name] for name in ("stored", "known")})
    return total


def new_report(survey: Survey) -> bytes:
    """A report that nobody sent before."""
    body = randomize(survey, person(1)).encode()
    assert json.loads(body)["cohort"] is None
    return body


def path(survey: Survey) -> str:
    """Where reports go."""
    return f"/api/v1/surveys/{survey.id}/reports"


def connect(collector: Collector) -> http.client.HTTPConnection:
    """A connection of one's own."""
    place = urlsplit(collector.url)
    return http.client.HTTPConnection(place.hostname or "", place.port, timeout=PATIENCE)

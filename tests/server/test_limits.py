"""Limits: how much one address may send, how large, how deep, how long it may take. No address is kept for that."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient

from deniable import ParameterError, Survey, read_survey
from deniable_server.app import create_app
from deniable_server.edge.limits import (
    DAY,
    DEBT_SECONDS,
    MOST_BATCHES,
    MOST_BATCHES_OF_ALL,
    MOST_BODIES,
    MOST_BODIES_OF_ALL,
    MOST_BUCKETS,
    MOST_DOWNLOADS,
    MOST_DOWNLOADS_OF_ALL,
    REPORTS,
    HeldSlot,
    Limits,
    NoSlot,
    Rate,
    Right,
    Slots,
    TooMany,
)
from deniable_server.edge.problems import status_of
from deniable_server.results.computing import MOST_ASKED
from deniable_server.serving import THREADS
from deniable_server.settings import Settings
from deniable_server.store import Store
from deniable_server.web.api import MAX_BATCH_BYTES
from tools.rig.collectors import Collector
from tools.rig.surveys import FIVE_TYPES, Clock
from tools.torture import network_slow

NDJSON = "application/x-ndjson"


class Seconds:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def held_of(places: Slots) -> dict[bytes, int]:
    """How many places each key holds."""
    return places._held


def asked(limits: Limits, address: str, right: Right = lambda: None) -> dict[str, Any]:
    """A request of an address that was let in."""
    environ = {"REMOTE_ADDR": address}
    limits.admit(environ, REPORTS, right)
    return environ


def taken(limits: Limits, address: str, tries: int) -> int:
    """How many of so many tries at once are let through."""
    through = 0
    for _ in range(tries):
        try:
            limits.take(limits.key(address))
            through += 1
        except TooMany:
            pass
    return through


def test_a_rate_may_be_used_at_once_and_then_flows_back() -> None:
    clock = Seconds()
    limits = Limits(Rate(120, 60), clock)
    assert taken(limits, "192.0.2.1", 500) == 120
    clock.now += 0.4
    assert taken(limits, "192.0.2.1", 5) == 0
    clock.now += 0.1
    assert taken(limits, "192.0.2.1", 5) == 1
    clock.now += 10
    assert taken(limits, "192.0.2.1", 50) == 20
    clock.now += 3600
    assert taken(limits, "192.0.2.1", 500) == 120, "a bucket holds no more than its rate"
    assert taken(limits, "192.0.2.2", 500) == 120, "another address has a bucket of its own"


@pytest.mark.parametrize("rate", [Rate(1, 1), Rate(7, 60), Rate(300, 60), Rate(999, DAY)])
def test_who_waits_as_long_as_told_is_let_through(rate: Rate) -> None:
    clock = Seconds()
    limits = Limits(rate, clock)
    key = limits.key("192.0.2.1")
    for _ in range(rate.count):
        limits.take(key)
    for _ in range(20):
        with pytest.raises(TooMany) as refused:
            limits.take(key)
        assert 1 <= refused.value.wait <= max(1, rate.seconds)
        clock.now += refused.value.wait
        assert taken(limits, "192.0.2.1", rate.count) >= 1


def test_a_household_is_one_and_a_street_is_many() -> None:
    limits = Limits(Rate(1, 60))
    assert limits.key("2001:db8:1:2::1") == limits.key("2001:db8:1:2:ffff::9") != limits.key("2001:db8:1:3::1")
    assert limits.key("::ffff:192.0.2.1") == limits.key("192.0.2.1") != limits.key("192.0.2.2")
    assert limits.key("fe80::1%eth0") == limits.key("fe80::1")
    assert len({limits.key(name) for name in ("", "unix:", "\udcff", "1" * 5000, "not an address", "1.2.3.4:80")}) == 6


def test_addresses_are_kept_as_keyed_hashes_for_a_day_and_no_longer() -> None:
    clock = Seconds()
    limits = Limits(Rate(2, DAY), clock)
    marked = "203.0.113.77"
    first = limits.key(marked)
    assert taken(limits, marked, 5) == 2
    assert first == limits.key(marked) != Limits(Rate(2, DAY), clock).key(marked), "each process has a key of its own"
    for held in gc.get_referents(limits, vars(limits), limits._full_at, held_of(limits._receiving)):
        assert marked not in repr(held)
        assert socket.inet_aton(marked) not in (held if isinstance(held, bytes) else b"")
    clock.now += DAY
    assert limits.key(marked) != first
    assert taken(limits, marked, 5) == 2
    assert len(limits._full_at) == 1, "buckets of the day before are gone"


def test_memory_is_bounded_and_the_busy_are_not_forgotten() -> None:
    limits = Limits(Rate(3, 60), Seconds())
    assert taken(limits, "192.0.2.1", 3) == 3
    for number in range(MOST_BUCKETS + 1000):
        limits.take(number.to_bytes(16))
        if number % 1000 == 0:
            assert taken(limits, "192.0.2.1", 1) == 0
    assert len(limits._full_at) == MOST_BUCKETS


def test_bodies_of_one_address_hold_so_many_threads_and_no_more() -> None:
    limits = Limits(None)
    with ExitStack() as held:
        for _ in range(MOST_BODIES):
            held.enter_context(limits.receiving(asked(limits, "192.0.2.1")))
        with pytest.raises(TooMany, match="unfinished"), limits.receiving(asked(limits, "192.0.2.1")):
            pass
        with limits.receiving(asked(limits, "192.0.2.2")):
            pass
    assert held_of(limits._receiving) == {}


@pytest.mark.parametrize("kind", ["receiving", "batching", "sending"])
def test_whoever_bears_a_right_has_places_of_its_own_once_those_of_the_address_are_taken(kind: str) -> None:
    limits = Limits(None)
    hold: Callable[[dict[str, Any]], HeldSlot] = getattr(limits, kind)
    looked: list[str] = []

    def one(name: str, right: bytes | None) -> dict[str, Any]:
        def look() -> bytes | None:
            looked.append(name)
            return right

        return asked(limits, "192.0.2.1", look)

    def all_of(name: str, right: bytes | None) -> list[HeldSlot]:
        """as many slots as one can have."""
        found = []
        with contextlib.suppress(TooMany):
            while True:
                place = hold(one(name, right))
                place.take()
                found.append(place)
        return found

    neighbours = all_of("neighbour", None)
    assert looked == ["neighbour"], "nobody's right is looked up as long as there are places"
    mine = all_of("I", b"right")
    assert len(mine) >= 2
    with hold(one("you", b"another right")):
        pass
    for place in neighbours + mine:
        place.give_back()
    assert held_of(mine[0]._slots) == {}


def test_addresses_that_take_what_they_get_leave_places_for_others() -> None:
    places = Slots(total=128, most=32)
    takers = [bytes([number]) for number in range(8)]
    for _ in range(128):
        for taker in takers:
            places.take(taker)
    assert [places.take(b"somebody new") for _ in range(14)] == [True] * 7 + [False] * 7
    for number in range(1000):
        places.take(number.to_bytes(4))
    assert not places.take(b"too late")
    with pytest.raises(NoSlot) as refusal:
        places.take_or_refuse(b"too late")
    assert status_of(refusal.value) == 503  # as the door answers it too, before Flask: the same can be sent again


def test_uploads_and_downloads_have_places_of_their_own() -> None:
    limits = Limits(None)
    one = asked(limits, "192.0.2.1")
    downloads = [limits.sending(one) for _ in range(MOST_DOWNLOADS)]
    for each in downloads:
        each.take()
    with pytest.raises(TooMany, match="unfinished"):
        limits.sending(one).take()
    with limits.receiving(one):
        pass
    assert MOST_BODIES_OF_ALL + MOST_DOWNLOADS_OF_ALL + MOST_ASKED < 0.85 * THREADS
    for each in downloads:
        each.give_back()
    for number in range(MOST_DOWNLOADS_OF_ALL):
        limits.sending(asked(limits, f"192.0.3.{number}")).take()
    with pytest.raises(NoSlot, match="of others"):
        limits.sending(one).take()


def test_batches_have_few_places_because_each_takes_memory(
    http: FlaskClient, app: APIFlask, store: Store, survey: Survey
) -> None:
    store.publish(survey)
    limits = app.extensions["deniable-limits"]

    def send() -> int:
        return http.post(f"/api/v1/surveys/{survey.id}/reports", data=b"", content_type=NDJSON).status_code

    with ExitStack() as held:
        for number in range(MOST_BATCHES_OF_ALL):
            assert send() == 200
            held.enter_context(limits.batching(asked(limits, f"192.0.2.{number}")))
        assert send() == 503
    assert send() == 200
    assert held_of(limits._batches) == {}
    with ExitStack() as held:
        for _ in range(MOST_BATCHES):
            held.enter_context(limits.batching(asked(limits, "192.0.3.1")))
        with pytest.raises(TooMany, match="unfinished"):
            held.enter_context(limits.batching(asked(limits, "192.0.3.1")))


def test_threads_take_no_more_than_there_is() -> None:
    limits = Limits(Rate(1000, DAY))
    through: list[int] = []
    threads = [threading.Thread(target=lambda: through.append(taken(limits, "192.0.2.1", 400))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(through) == 1000


@pytest.mark.parametrize(
    "text", ["120", "0/minute", "-1/minute", "1.5/minute", "120/min", "120 / minute", "Off", "", 5]
)
def test_what_is_no_rate(text: object) -> None:
    with pytest.raises(ParameterError, match="must be like 120/minute"):
        Rate.parse(text)


@pytest.mark.parametrize("text", ["120/minute", "5/second", "1000/hour", "9000/day"])
def test_what_is_a_rate(text: str) -> None:
    assert str(Rate.parse(text)) == text


def test_limits_cost_microseconds() -> None:
    import timeit

    limits = Limits(Rate(10**8, 60))
    for address in ("192.0.2.1", "2001:db8::1"):
        seconds = min(timeit.repeat(lambda: limits.take(limits.key(address)), number=2000, repeat=15)) / 2000  # noqa: B023
        assert seconds < 20e-6, f"{1e6 * seconds:.1f} us; usually 2 to 4"


def test_a_download_gives_its_place_back(http: FlaskClient, app: APIFlask, store: Store, survey: Survey) -> None:
    store.publish(survey)
    limits = app.extensions["deniable-limits"]
    for _ in range(3 * MOST_DOWNLOADS):
        with http.get(f"/api/v1/surveys/{survey.id}/reports.csv") as response:
            assert response.status_code == 200
            assert list(held_of(limits._sending).values()) == [1]
    assert held_of(limits._sending) == {}


def limited_app(folder: Path, clock: Clock, survey: Survey, **settings: Any) -> APIFlask:
    """A collector of which one address may ask five times an hour."""
    app = create_app(folder / "limited.db", clock, Settings(rate_limit="5/hour", **settings))  # type: ignore[arg-type]
    app.extensions["deniable"]["store"].publish(survey)
    return app


@pytest.fixture
def limited(tmp_path: Path, clock: Clock, survey: Survey) -> Any:
    """`limited_app`, ended with the test."""
    apps = []

    def make(**settings: Any) -> FlaskClient:
        apps.append(limited_app(tmp_path, clock, survey, **settings))
        return apps[-1].test_client()

    yield make
    for app in apps:
        app.extensions["deniable"]["writer"].stop()
        app.extensions["deniable"]["store"].close()


def body(number: int) -> dict[str, Any]:
    return {"id": f"{number:032x}", "cohort": None, "values": {"affair": 1, "religious": 3}}


def test_reports_over_the_rate_get_429_and_a_time_and_are_not_stored(limited: Any, survey: Survey) -> None:
    http = limited()
    url = f"/api/v1/surveys/{survey.id}/reports"
    statuses = [http.post(url, json=body(number)).status_code for number in range(7)]
    assert statuses == [201] * 5 + [429] * 2
    refused = http.post(url, json=body(9))
    assert refused.mimetype == "application/problem+json"
    assert 1 <= int(refused.headers["Retry-After"]) <= 720
    assert "at most 5/hour" in refused.json["detail"]
    assert "127.0.0.1" not in refused.text
    assert refused.headers["Access-Control-Expose-Headers"] == "Retry-After", "scripts may read when to try again"
    for free in (
        f"/api/v1/surveys/{survey.id}/estimates",
        f"/api/v1/surveys/{survey.id}",
        f"/s/{survey.id}",
        "/livez",
        "/client/define.js",
    ):
        with http.get(free) as response:
            assert response.status_code == 200, "whoever only wants to answer is not turned away at the door"


@pytest.mark.parametrize("is_junk", [True, False])
def test_a_batch_counts_as_many_as_it_holds_and_no_debt_lasts(limited: Any, survey: Survey, is_junk: bool) -> None:
    http = limited()
    url = f"/api/v1/surveys/{survey.id}/reports"
    lines = "\n".join("no report" if is_junk else json.dumps(body(number)) for number in range(20))
    taken = http.post(url, data=lines, content_type=NDJSON)
    assert len(taken.json["refused"]) == (20 if is_junk else 0), "a line that is refused takes as long as another one"
    refused = http.post(url, data=lines, content_type=NDJSON)
    assert refused.status_code == 429
    assert 720 < int(refused.headers["Retry-After"]) <= 720 + DEBT_SECONDS, "until there is one more, and the debt"
    assert http.post(url, json=body(50)).status_code == 201, "a report is no batch"


def test_forwarded_addresses_are_believed_only_of_known_proxies(limited: Any, survey: Survey) -> None:
    url = f"/api/v1/surveys/{survey.id}/reports"

    def statuses(http: FlaskClient, forwarded: str, start: int) -> list[int]:
        headers = {"X-Forwarded-For": forwarded}
        return [http.post(url, json=body(n), headers=headers).status_code for n in range(start, start + 6)]

    open_to_lies = limited()
    assert statuses(open_to_lies, "192.0.2.1", 0) == [201] * 5 + [429]
    assert statuses(open_to_lies, "192.0.2.2", 10) == [429] * 6, "a header alone makes nobody somebody else"
    behind_one = limited(trusted_proxies=1)
    assert statuses(behind_one, "192.0.2.1", 20) == [201] * 5 + [429]
    assert statuses(behind_one, "192.0.2.2", 30) == [201] * 5 + [429]
    assert statuses(behind_one, "198.51.100.9, 192.0.2.2", 40) == [429] * 6, "what the client wrote itself is ignored"


@pytest.mark.slow
def test_of_two_proxies_the_outer_one_is_believed(limited: Any, survey: Survey) -> None:
    http = limited(trusted_proxies=2)

    def last(forwarded: str, start: int) -> int:
        url, headers = f"/api/v1/surveys/{survey.id}/reports", {"X-Forwarded-For": forwarded}
        return [http.post(url, json=body(n), headers=headers).status_code for n in range(start, start + 6)][-1]

    assert last("203.0.113.1, 192.0.2.1, 10.0.0.1", 0) == 429
    assert last("203.0.113.2, 192.0.2.1, 10.0.0.2", 10) == 429, (
        "neither what the client wrote nor the inner proxy counts"
    )
    assert (
        http.post(
            f"/api/v1/surveys/{survey.id}/reports", json=body(20), headers={"X-Forwarded-For": "192.0.2.2, 10.0.0.1"}
        ).status_code
        == 201
    )
    assert last("192.0.2.3", 30) == 429
    assert last("192.0.2.4", 40) == 429, "with one address too few all are the nearest proxy"


@pytest.mark.slow
def test_a_forgotten_proxy_is_warned_of_once(limited: Any, survey: Survey, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "deniable")
    http = limited()
    for number in range(3):
        http.get(f"/api/v1/surveys/{survey.id}/estimates", headers={"X-Forwarded-For": f"192.0.2.{number}"})
    assert caplog.text.count("--trusted-proxies") == 1
    assert "192.0.2" not in caplog.text


def test_a_body_without_a_length_has_the_same_limit(http: FlaskClient, store: Store, survey: Survey) -> None:
    store.publish(survey)
    url = f"/api/v1/surveys/{survey.id}/reports"
    for size, status in ((MAX_BATCH_BYTES, 200), (MAX_BATCH_BYTES + 1, 413), (MAX_BATCH_BYTES + 70_000, 413)):
        for chunked in (False, True):
            stream = io.BytesIO(b" " * size)
            sent: dict[str, Any] = {"wsgi.input_terminated": True} if chunked else {}
            length = None if chunked else size
            answer = http.post(
                url, input_stream=stream, content_length=length, content_type=NDJSON, environ_overrides=sent
            )
            assert answer.status_code == status, (size, chunked)


@pytest.mark.slow
def test_large_bodies_do_not_fill_the_memory(collector: Collector) -> None:
    survey = read_survey(FIVE_TYPES)
    collector.publish(survey)
    assert "refused with 413" in network_slow.endless_bodies(collector, survey, megabytes=64)


@pytest.mark.slow
def test_who_reads_nothing_does_not_stop_the_others(collector: Collector) -> None:
    survey = read_survey(FIVE_TYPES.replace("Five types", "Downloaded"))
    collector.publish(survey)
    assert "were answered" in network_slow.unread_downloads(collector, survey, senders=60, seconds=1)


@pytest.mark.slow
def test_slow_senders_do_not_stop_the_others(collector: Collector) -> None:
    survey = read_survey(FIVE_TYPES)
    collector.publish(survey)
    assert "were answered" in network_slow.unfinished_bodies(collector, survey, senders=60, seconds=2)

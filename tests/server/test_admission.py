"""The door: long heads, a bucket for each kind of request, and rights that neighbours cannot use up."""

from __future__ import annotations

import contextlib
import io
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder, TestResponse
from werkzeug.wrappers import Response

from deniable import Survey
from deniable.access.invitation import new_invitation
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.edge import heads
from deniable_server.edge.admission import AT_A_TIME
from deniable_server.edge.heads import MOST_HEADER, MOST_KEYS, MOST_PATH, MOST_PREFERENCES, MOST_QUERY, READ
from deniable_server.edge.limits import DEBT_SECONDS, PAGES, PROBES, Limits, Rate, TooMany
from deniable_server.edge.stalls import Progress, Watch, look
from deniable_server.settings import Settings
from deniable_server.store import Store
from deniable_transport.authorization import authorization_of
from tools.rig.access import Purchase, ask, bought, invited_survey, publish_to, report_for, send, unlinkable_survey
from tools.rig.patience import PATIENCE
from tools.rig.surveys import Clock
from tools.torture import network_addresses, network_crowds

NDJSON = "application/x-ndjson"

RATE = Rate(30, 60)


class Seconds:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def crowded(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock, seconds: Seconds) -> Iterator[APIFlask]:
    """A collector whose buckets have a clock of their own; with a low rate, unless a test asks for the default."""
    settings = getattr(request, "param", Settings(rate_limit=RATE))
    app = create_app(tmp_path / "crowded.db", clock, settings)
    app.extensions["deniable-limits"]._now = seconds
    yield app
    app.extensions["deniable"]["writer"].stop()
    app.extensions["deniable"]["store"].close()


@pytest.fixture
def store(crowded: APIFlask) -> Store:
    found: Store = crowded.extensions["deniable"]["store"]
    return found


@pytest.fixture
def http(crowded: APIFlask) -> FlaskClient:
    return crowded.test_client()


def report(number: int) -> dict[str, Any]:
    return {"id": f"{number:032x}", "cohort": None, "values": {"affair": 1, "religious": 3}}


def use_up(http: FlaskClient, ask: Callable[[], TestResponse], most: int = 10_000) -> int:
    """Ask until it is refused; how many times it was not."""
    for number in range(most):
        with ask() as answer:
            if answer.status_code == 429:
                return number
    raise AssertionError("was never refused")


def batch(http: FlaskClient, survey: Survey, lines: list[str], token: str = "") -> TestResponse:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    url = f"/api/v1/surveys/{survey.id}/reports"
    return http.post(url, data="\n".join(lines), content_type=NDJSON, headers=headers)


class TestHeads:
    """What a head may hold is bounded before anything parses it."""

    @pytest.mark.parametrize("name", sorted(READ))
    def test_a_header_that_something_parses_is_short(self, http: FlaskClient, name: str) -> None:
        longest = {name: "a" * MOST_HEADER}
        assert http.get("/livez", environ_overrides=longest).status_code != 431
        refused = http.get("/livez", environ_overrides={name: "a" * (MOST_HEADER + 1)})
        assert refused.status_code == 431
        assert refused.mimetype == "application/problem+json"
        assert f"must be at most {MOST_HEADER} bytes, got {MOST_HEADER + 1}" in refused.json["detail"]

    def test_preferences_are_read_from_the_front(self, http: FlaskClient, store: Store, survey: Survey) -> None:
        store.publish(survey)
        languages = {"Accept-Language": "de," + "a," * 30_000}
        assert 'lang="de"' in http.get(f"/s/{survey.id}", headers=languages).text
        late = {"Accept-Language": "a," * MOST_PREFERENCES + "de"}
        assert 'lang="en"' in http.get(f"/s/{survey.id}", headers=late).text
        with http.get("/client/deniable.js", headers={"Accept-Encoding": "gzip," + "a;q=0.1," * 8000}) as script:
            assert script.headers["Content-Encoding"] == "gzip"
        assert "<h1>" in http.get("/nothing", headers={"Accept": "text/html," + "a/b;q=.1," * 8000}).text

    @pytest.mark.parametrize("name", ["Accept", "Accept-Language", "Accept-Encoding", "Cookie", "User-Agent"])
    def test_no_parser_sees_more_than_the_bound(
        self, http: FlaskClient, store: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        seen: list[str] = []
        inner = heads.Heads.__call__

        def spied(one: heads.Heads, environ: Any, start: Any) -> Any:
            app = one._wsgi_app

            def within(environ: Any, start: Any) -> Any:
                seen.extend(environ[key] for key in (*READ, *heads.PREFERENCES) if key in environ)
                return app(environ, start)

            monkeypatch.setattr(one, "_wsgi_app", within)
            return inner(one, environ, start)

        monkeypatch.setattr(heads.Heads, "__call__", spied)
        store.publish(survey)
        assert http.get(f"/s/{survey.id}", headers={name: "a;q=0.5," * 8000}).status_code == 200
        assert max(map(len, seen)) <= MOST_HEADER

    def test_addresses_are_short(self, http: FlaskClient, store: Store, survey: Survey) -> None:
        store.publish(survey)
        results = f"/s/{survey.id}/results?"
        few = "&".join(["confidence=0.9"] + ["x="] * (MOST_KEYS - 1))
        assert http.get(results + few).status_code != 414
        for path in (f"{results}{few}&x=", f"{results}x={'a' * MOST_QUERY}", "/" + "a" * MOST_PATH):
            assert http.get(path).status_code == 414, path[:50]


class TestKinds:
    """Each kind of request has a bucket of its own."""

    def test_probes_take_nothing_from_reports(self, http: FlaskClient, store: Store, survey: Survey) -> None:
        store.publish(survey)
        assert use_up(http, lambda: http.get("/readyz")) == PROBES.times * RATE.count
        assert http.get("/livez").status_code == 429, "every route is counted"
        assert http.post(f"/api/v1/surveys/{survey.id}/reports", json=report(1)).status_code == 201
        assert http.get(f"/s/{survey.id}").status_code == 200
        assert http.get(f"/s/{survey.id}/results").status_code == 200

    def test_results_and_pages_and_reports_are_apart(self, http: FlaskClient, store: Store, survey: Survey) -> None:
        store.publish(survey)
        url = f"/api/v1/surveys/{survey.id}"
        assert use_up(http, lambda: http.get(f"{url}/estimates?confidence=2")) == RATE.count
        assert http.get(f"/s/{survey.id}/results").status_code == 429
        numbers = iter(range(1000))
        assert use_up(http, lambda: http.post(f"{url}/reports", json=report(next(numbers)))) == RATE.count
        assert use_up(http, lambda: http.get("/favicon.ico")) == PAGES.times * RATE.count
        for page in (f"/s/{survey.id}", f"/embed/{survey.id}", url, "/client/deniable.js", "/nothing"):
            assert http.get(page).status_code == 429, page
        assert http.options(f"{url}/reports").status_code == 429, "the question before a report is a page"
        assert batch(http, survey, [json.dumps(report(2000))]).status_code == 200
        assert http.get("/livez").status_code == 200

    @pytest.mark.parametrize(("method", "slashes"), [("POST", "//"), ("post", "/"), ("Post", "///")])
    def test_another_spelling_of_a_request_counts_the_same(
        self, crowded: APIFlask, store: Store, survey: Survey, method: str, slashes: str
    ) -> None:
        store.publish(survey)
        path, numbers = f"api/v1/surveys/{survey.id}", iter(range(1000))

        def status(method: str, path: str, body: bytes = b"") -> int:
            environ = EnvironBuilder(method="POST", path="/x", data=body, content_type="application/json").get_environ()
            answer = Response.from_app(crowded.wsgi_app, environ | {"REQUEST_METHOD": method, "PATH_INFO": path})
            return answer.status_code

        def sent(method: str, path: str) -> int:
            return status(method, path, json.dumps(report(next(numbers))).encode())

        for _ in range(RATE.count):
            assert sent(method, f"{slashes}{path}/reports") == 201
        assert sent("POST", f"/{path}/reports") == 429
        for _ in range(RATE.count):
            assert status("get", f"{slashes}{path}/estimates") == 200
        assert status("GET", f"/{path}/estimates") == 429

    def test_a_person_is_refused_with_a_page_and_a_program_with_a_problem(
        self, http: FlaskClient, store: Store, survey: Survey
    ) -> None:
        store.publish(survey)
        use_up(http, lambda: http.get(f"/s/{survey.id}/results?confidence=2"))
        page = http.get(f"/s/{survey.id}/results", headers={"Accept": "text/html,*/*;q=0.8"})
        assert (page.status_code, page.mimetype) == (429, "text/html")
        assert "<h1>Too many requests came from your network</h1>" in page.text
        assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert http.get(f"/s/{survey.id}/results").mimetype == "application/problem+json"
        problem = http.get(f"/api/v1/surveys/{survey.id}/estimates")
        assert problem.headers["Access-Control-Allow-Origin"] == "*"
        assert 1 <= int(problem.headers["Retry-After"]) <= 60

    def test_four_batches_of_junk_cost_nobody_else_and_end_within_minutes(
        self, http: FlaskClient, store: Store, survey: Survey, seconds: Seconds
    ) -> None:
        store.publish(survey)
        for number in range(4):
            assert len(batch(http, survey, ["junk"] * 10_000).json["refused"]) == 1000
            assert http.post(f"/api/v1/surveys/{survey.id}/reports", json=report(number)).status_code == 201
            assert http.get(f"/s/{survey.id}/results").status_code == 200
            refused = batch(http, survey, ["junk"])
            assert refused.status_code == 429
            seconds.now += int(refused.headers["Retry-After"])
            assert int(refused.headers["Retry-After"]) <= DEBT_SECONDS + 60 / RATE.count

    def test_an_authors_batch_costs_the_author_nothing(
        self, http: FlaskClient, store: Store, survey: Survey, seconds: Seconds
    ) -> None:
        token, other = create_token(store, "ada"), create_token(store, "bob")
        store.publish(survey, "ada")

        def lines(start: int) -> list[str]:
            return [json.dumps(report(number)) for number in range(start, start + 3000)]

        for start in (0, 3000, 6000):
            assert batch(http, survey, lines(start), token).json["stored"] == 3000
        assert http.get(f"/s/{survey.id}/results").status_code == 200
        assert batch(http, survey, lines(9000), other).json["stored"] == 3000, "another author may, too"
        assert batch(http, survey, lines(12_000)).status_code == 429, "and counts them"
        seconds.now += DEBT_SECONDS + 60
        assert batch(http, survey, ["junk"] * 1000, token).status_code == 200
        assert batch(http, survey, ["junk"]).status_code == 429, "bad lines cost whoever sends them"


class TestTurns:
    """Few pages are made at a time, because threads that compete slow everybody down."""

    @pytest.mark.parametrize("method", ["GET", "HEAD"])
    def test_others_wait(self, crowded: APIFlask, store: Store, survey: Survey, method: str) -> None:
        store.publish(survey)
        within: list[int] = []
        most: list[int] = []
        release = threading.Event()

        @crowded.before_request
        def enter() -> None:
            within.append(1)
            most.append(len(within))
            release.wait(PATIENCE)
            within.pop()

        def ask(path: str) -> int:
            return crowded.test_client().open(path, method=method).status_code

        with ThreadPoolExecutor(20) as people:
            asked = [people.submit(ask, f"/s/{survey.id}") for _ in range(12)]
            asked.append(people.submit(ask, f"/s/{survey.id}/results"))
            while len(within) <= AT_A_TIME:  # the results wait for nobody's page
                time.sleep(0.01)
            release.set()
            assert {each.result() for each in asked} == {200}
        assert max(most) == AT_A_TIME + 1

    def test_livez_answers_though_the_database_does_not(
        self, crowded: APIFlask, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked, answer = threading.Semaphore(0), threading.Event()

        def frozen(min_free: int) -> None:
            asked.release()
            answer.wait(PATIENCE)

        monkeypatch.setattr(store, "not_ready_because", frozen)
        with ThreadPoolExecutor(AT_A_TIME + 1) as probes:
            ready = [probes.submit(crowded.test_client().get, "/readyz") for _ in range(AT_A_TIME)]
            for _ in ready:
                assert asked.acquire(timeout=PATIENCE)
            alive = probes.submit(crowded.test_client().get, "/livez")
            try:
                assert alive.result(5).status_code == 200
            finally:
                answer.set()
            assert {each.result().status_code for each in ready} == {200}

    @pytest.mark.parametrize("method", ["POST", "post", "PUT", "Options"])
    def test_nobody_waits_for_a_body(self, crowded: APIFlask, store: Store, method: str) -> None:
        survey = unlinkable_survey()
        publish_to(store, survey, 1)
        sent = threading.Event()

        class Body(io.RawIOBase):
            def readable(self) -> bool:
                return True

            def readinto(self, buffer: Any) -> int:
                sent.wait(PATIENCE)
                return 0

        def ask_slowly() -> None:
            environ = EnvironBuilder(path=f"/api/v1/surveys/{survey.id}/tokens", content_type="application/json")
            slow = {"REQUEST_METHOD": method, "CONTENT_LENGTH": "1000", "wsgi.input": io.BufferedReader(Body())}
            Response.from_app(crowded.wsgi_app, environ.get_environ() | slow)

        with ThreadPoolExecutor(AT_A_TIME + 1) as people:
            asked = [people.submit(ask_slowly) for _ in range(AT_A_TIME)]
            page = people.submit(lambda: crowded.test_client().get(f"/s/{survey.id}").status_code)
            try:
                assert page.result(5) == 200
            finally:
                sent.set()
            for each in asked:
                each.result()


class TestRights:
    """Who bears a right is let in whatever neighbours have used up."""

    def test_an_invitation(self, http: FlaskClient, store: Store) -> None:
        survey = invited_survey()
        invitations = publish_to(store, survey, 2 * RATE.count)
        junk = [report_for(survey, new_invitation()) for _ in range(4 * RATE.count)]
        assert use_up(http, lambda: send(http, survey, junk.pop())) == RATE.count
        for invitation in invitations:
            mine = report_for(survey, invitation)
            assert send(http, survey, mine).status_code == 201
            assert send(http, survey, mine).status_code == 200, "whoever did not hear the answer asks again"
            assert send(http, survey, junk[0]).status_code == 429

    def test_an_invitation_for_a_token_and_the_token(self, http: FlaskClient, store: Store) -> None:
        survey = unlinkable_survey()
        invitations = publish_to(store, survey, 3)
        forged = report_for(survey, "0002" + "00" * 352)
        use_up(http, lambda: send(http, survey, forged))
        assert ask(http, survey, Purchase(survey, new_invitation())).status_code == 429
        for invitation in invitations:
            mine = report_for(survey, bought(http, survey, invitation))
            assert send(http, survey, forged).status_code == 429
            assert send(http, survey, mine).status_code == 201

    def test_a_right_of_one_survey_is_none_of_another(self, http: FlaskClient, store: Store, survey: Survey) -> None:
        invited, other = invited_survey(), invited_survey(title="Other")
        (mine,) = publish_to(store, invited, 1)
        publish_to(store, other, 1)
        store.publish(survey)
        use_up(http, lambda: send(http, invited, report_for(invited, new_invitation())))
        assert send(http, other, report_for(other, mine)).status_code == 429
        assert send(http, survey, report_for(survey, mine)).status_code == 429
        assert send(http, invited, report_for(invited, mine)).status_code == 201

    def test_a_right_has_a_bucket_of_its_own(self, http: FlaskClient, store: Store) -> None:
        survey = invited_survey()
        mine, another = publish_to(store, survey, 2)
        use_up(http, lambda: send(http, survey, report_for(survey, new_invitation())))
        again = report_for(survey, mine)
        assert use_up(http, lambda: send(http, survey, again)) == RATE.count
        assert send(http, survey, report_for(survey, another)).status_code == 201

    def test_an_api_token(self, http: FlaskClient, store: Store, survey: Survey) -> None:
        token = create_token(store, "ada")
        store.publish(survey, "ada")
        path = f"/api/v1/surveys/{survey.id}/estimates?confidence=2"
        use_up(http, lambda: http.get(path))
        assert http.get("/api/v1/surveys", headers={"Authorization": "Bearer dn_forged"}).status_code == 429
        mine = {"Authorization": f"Bearer {token}"}
        assert http.get("/api/v1/surveys", headers=mine).status_code == 200
        assert use_up(http, lambda: http.get("/api/v1/surveys", headers=mine)) == RATE.count - 1

    @pytest.mark.parametrize("body", [b"", b"[" * 5000, b"{}", b"[]", b'{"invitation": 7}', b"\xff", b" " * 70_000])
    def test_what_is_no_right(self, http: FlaskClient, store: Store, body: bytes) -> None:
        survey = invited_survey()
        publish_to(store, survey, 1)
        use_up(http, lambda: send(http, survey, report_for(survey, new_invitation())))
        for what in ("reports", "tokens"):
            for survey_id in (survey.id, "a" * 26, ""):
                path = f"/api/v1/surveys/{survey_id}/{what}"
                assert http.post(path, data=body, content_type="application/json").status_code == 429

    def test_nothing_is_asked_of_the_store_before_the_bucket_is_empty(
        self, http: FlaskClient, crowded: APIFlask, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        survey = invited_survey()
        (mine,) = publish_to(store, survey, 1)
        asked: list[str] = []
        monkeypatch.setattr(store, "is_invited", lambda *names: asked.append(names[1]))
        assert send(http, survey, report_for(survey, mine)).status_code == 201
        assert asked == []


class TestPlaces:
    """Who names a right in the head is read though neighbours keep all places of the address."""

    @pytest.fixture(autouse=True)
    def taken(self, request: pytest.FixtureRequest, crowded: APIFlask, seconds: Seconds) -> Iterator[None]:
        """Neighbours hold all places, which are those for bodies unless a test names others."""
        limits: Limits = crowded.extensions["deniable-limits"]
        with ExitStack() as held:
            with contextlib.suppress(TooMany):
                while True:
                    environ = {"REMOTE_ADDR": "127.0.0.1"}
                    limits.admit(environ, PROBES)
                    held.enter_context(getattr(limits, getattr(request, "param", "receiving"))(environ))
            seconds.now += 60  # its buckets are full again
            yield

    @pytest.mark.parametrize("bucket", ["full", "empty"])
    def test_an_invitation(self, http: FlaskClient, store: Store, bucket: str) -> None:
        survey = invited_survey()
        invitations = publish_to(store, survey, 3)
        if bucket == "empty":
            path = f"/api/v1/surveys/{survey.id}/reports"
            for _ in range(RATE.count):
                http.post(path, data=b"", content_type="text/plain")
        assert send(http, survey, report_for(survey, invitations[0])).status_code == 429, "whoever does not say so"
        for invitation in invitations:
            mine = report_for(survey, invitation)
            assert rightly(http, survey, "reports", mine.encode(), invitation).status_code == 201
            assert rightly(http, survey, "reports", mine.encode(), invitation).status_code == 200

    def test_an_invitation_for_a_token_and_the_token(self, http: FlaskClient, store: Store) -> None:
        survey = unlinkable_survey()
        for invitation in publish_to(store, survey, 2):
            purchase = Purchase(survey, invitation)
            wanted = json.dumps({"invitation": invitation, "blinded": purchase.blinded}).encode()
            signed = rightly(http, survey, "tokens", wanted, invitation)
            token = purchase.token(signed.json["signature"])
            mine = report_for(survey, token)
            assert send(http, survey, mine).status_code == 429
            assert rightly(http, survey, "reports", mine.encode(), token).status_code == 201

    def test_what_is_no_right_is_refused_unread(self, http: FlaskClient, store: Store) -> None:
        survey, other = unlinkable_survey(), invited_survey()
        (mine,) = publish_to(store, survey, 1)
        (others,) = publish_to(store, other, 1)
        token = bytes.fromhex("0002") + bytes(352)
        read: list[int] = []

        class Body(io.BytesIO):
            def read(self, size: int | None = -1) -> bytes:
                read.append(1)
                return super().read(size)

        named = ["", "Invitation", "Invitation " + "0" * 63, "PrivateToken token=A", "Bearer dn_forged", "Basic AAAA"]
        for header in (*named, authorization_of(new_invitation()), authorization_of(token.hex())):
            for path in (f"{survey.id}/tokens", f"{survey.id}/reports", f"{other.id}/reports"):
                refused = http.post(
                    f"/api/v1/surveys/{path}",
                    input_stream=Body(b"{}"),
                    content_length=2,
                    content_type="application/json",
                    headers={"Authorization": header},
                )
                assert refused.status_code == 429, (header, path)
        assert rightly(http, other, "reports", b"{}", mine).status_code == 429, "the right of another survey"
        assert read == []
        assert rightly(http, other, "reports", b"{}", others).status_code == 422, (
            "a right is let in, and no more than that"
        )

    @pytest.mark.parametrize("taken", ["receiving", "batching", "sending"], indirect=True)
    def test_an_api_token(self, http: FlaskClient, store: Store, survey: Survey) -> None:
        token = create_token(store, "ada")
        store.publish(survey, "ada")
        assert batch(http, survey, [json.dumps(report(2))], token).status_code == 200
        headers = {"Authorization": f"Bearer {token}"}
        with http.get(f"/api/v1/surveys/{survey.id}/reports.csv", headers=headers) as download:
            assert download.status_code == 200


def rightly(http: FlaskClient, survey: Survey, what: str, body: bytes, credential: str) -> TestResponse:
    """Send something as clients do, which name the right in the head."""
    path = f"/api/v1/surveys/{survey.id}/{what}"
    headers = {"Authorization": authorization_of(credential)}
    return http.post(path, data=body, content_type="application/json", headers=headers)


@pytest.mark.parametrize("crowded", [Settings()], indirect=True)
def test_a_lecture_hall_answers_within_a_minute(
    http: FlaskClient, store: Store, survey: Survey, seconds: Seconds
) -> None:
    """400 people behind one address: no request of theirs is refused at default settings."""
    store.publish(survey)
    url = f"/api/v1/surveys/{survey.id}"
    for number in range(400):
        seconds.now += 60 / 400
        for path in (f"/s/{survey.id}", "/static/pages.css", "/client/deniable.js", "/static/icon.png", url):
            with http.get(path) as answer:
                assert answer.status_code == 200
        assert http.post(f"{url}/reports", json=report(number)).status_code == 201


@pytest.mark.parametrize("crowded", [Settings()], indirect=True)
def test_all_who_press_send_at_once_get_through_by_waiting_as_told(
    http: FlaskClient, store: Store, survey: Survey, seconds: Seconds
) -> None:
    store.publish(survey)
    waiting, waited = list(range(400)), 0
    while waiting:
        answers = [(each, http.post(f"/api/v1/surveys/{survey.id}/reports", json=report(each))) for each in waiting]
        waiting = [each for each, answer in answers if answer.status_code == 429]
        if waiting:
            wait = min(int(answer.headers["Retry-After"]) for _, answer in answers if answer.status_code == 429)
            seconds.now += wait
            waited += wait
    assert waited <= 20


class TestConnections:
    """One address has no more connections than its share."""

    def test_those_beyond_the_share_that_are_at_rest_for_longest_go(self) -> None:
        watch = Watch()

        def connections(networks: dict[bytes, range]) -> dict[tuple[int, int], Progress]:
            return {(each, each): Progress(0, 0, 0, name) for name, those in networks.items() for each in those}

        watch.overdue(connections({b"many": range(30), b"few": range(100, 103)}), 0)
        watch.overdue(connections({b"many": range(60), b"few": range(100, 103)}), 1)
        assert sorted(watch.crowding(1000, most=40)) == [(each, each) for each in range(20)]
        assert watch.crowding(1000, most=60) == []
        closed = watch.crowding(63, most=60)
        assert {name[0] for name in closed} <= set(range(60))
        assert 63 - (63 - len(closed)) >= 60 - len(closed), "as many are free as anybody has"

    @pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks the kernel of Linux")
    def test_connections_are_told_apart_by_address(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            place = listener.getsockname()
            for address in ("127.0.0.1", "127.0.0.2"):
                with socket.create_connection(place, source_address=(address, 0)), listener.accept()[0]:
                    (found,) = look(place[1]).values()
                    assert found.network == socket.inet_aton(address)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(network_crowds.SCENARIOS))
def test_crowds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short forms of the rounds; they state their own bounds.

    Seconds are bounded ten times as high, because other tests share the machine: `make torture` measures.
    """
    for bound in ("LIVEZ_P99", "REPORTS_P99"):
        monkeypatch.setattr(network_addresses, bound, 10 * getattr(network_addresses, bound))
    assert "afterwards" in network_crowds.SCENARIOS[name](True)

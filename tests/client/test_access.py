"""Answering where not everybody is counted: invitations and blind tokens, in this process and through crashes."""

from __future__ import annotations

import json
import random
import sqlite3
import threading
import traceback
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import CliRunner, Result
from flask.testing import FlaskClient

from deniable import Survey, errors, parse_report, read_survey
from deniable.access.invitation import new_invitation
from deniable.access.words import ONE_REPORT
from deniable_client import Client, Link, Memory, UndeliveredReport, UnusableMemory, parse_link, randomize
from deniable_client.answer import command, messages, screens
from deniable_client.blind_token import UnsignedToken
from deniable_client.collector_connection import CollectorConnection, Untrusted
from deniable_client.memory import KeptReport
from deniable_commands.main import main
from deniable_server.app import create_issuer
from deniable_server.settings import Settings
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from tests.support.in_process import app, http, store
from tests.support.marks import long
from tests.support.ports import noting_connections
from tests.support.threads import at_once
from tests.support.wire import Answered, Killed, Wire, wire_to
from tools.rig.access import Access, invite, key_number, publish, publish_to, survey_with, unlinkable_survey
from tools.rig.in_process import ended
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import Clock

__all__ = ["app", "http", "store"]

HERE, ISSUER = "https://collector.example", "https://issuer.example"
ANSWERS = {"affair": "yes", "religious": "strongly"}

BOTH: list[Access] = ["invited", "unlinkable"]


TOLD_ONCE = """
ALTER TABLE told RENAME TO now;
CREATE TABLE told (
    origin TEXT NOT NULL,
    question TEXT NOT NULL,
    day TEXT NOT NULL CHECK (day IS date(day)),
    millionths INTEGER NOT NULL CHECK (typeof(millionths) = 'integer' AND millionths >= 0),
    PRIMARY KEY (origin, question)
) WITHOUT ROWID;
INSERT INTO told SELECT * FROM now;
DROP TABLE now
"""
"""What brings the ledger back to the form that it had up to version 3."""


def always_open(access: Access, **changes: Any) -> Survey:
    """Without dates, because devices go by the day that it is."""
    return survey_with(access, **{"opens": None, "closes": None} | changes)


@pytest.fixture
def wire(http: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> Wire:
    return wire_to(monkeypatch, collector=http)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "memory.db")


@pytest.fixture
def issuer(tmp_path: Path, clock: Clock) -> Iterator[APIFlask]:
    with ended(create_issuer(tmp_path / "issuer.db", clock, Settings(rate_limit=None, fold_seconds=86_400))) as made:
        yield made


@pytest.mark.parametrize(
    ("fragment", "cohort", "invitation"),
    [
        ("#invitation={}", None, "ab" * 16),
        ("#cohort=web&invitation={}", "web", "ab" * 16),
        ("#invitation={}&cohort=web&invitation=cd", "web", "ab" * 16),
        ("#invitation=cd&invitation={}", None, None),
        ("?invitation={}", None, None),
        ("#invitation={}0", None, None),
        ("#invitation=", None, None),
        ("#invitation={}%0A", None, None),
        ("#Invitation={}", None, None),
    ],
)
def test_invitation_stands_behind_the_link(fragment: str, cohort: str | None, invitation: str | None) -> None:
    link = f"{HERE}/s/bpn4zq5y7xlxpqd63hsrm4s5ky{fragment.format('ab' * 16)}"
    assert parse_link(link) == Link(HERE, "bpn4zq5y7xlxpqd63hsrm4s5ky", cohort, invitation)
    assert parse_link(link.replace("ab", "AB")).invitation is None
    assert "ab" * 16 not in repr(parse_link(link))


def test_link_that_is_none_is_refused_without_its_invitation() -> None:
    with pytest.raises(errors.SurveyError, match="must be 26 letters and digits or a link") as refused:
        parse_link(f"{HERE}/s/too-short#invitation={'ab' * 16}")
    assert "abab" not in str(refused.value)


class TestAnswering:
    """One call from answers to a receipt."""

    @pytest.mark.parametrize("access", BOTH)
    @pytest.mark.parametrize("with_memory", [False, True])
    def test_counts_once(
        self, store: SqliteStore, wire: Wire, memory: Memory, access: Access, with_memory: bool
    ) -> None:
        survey = always_open(access)
        mine, yours = publish_to(store, survey, 2)
        client = Client(HERE, memory=memory if with_memory else None)
        receipt = client.answer(survey, ANSWERS, "web", invitation=mine)
        assert (receipt.again, receipt.access) == (False, ONE_REPORT[access])
        assert store.state(survey.id).reports == 1
        (body,) = wire.bodies("/reports")
        assert list(json.loads(body)) == ["id", "cohort", "values", "credential"]
        if with_memory:
            assert client.answer(survey, ANSWERS, "web", invitation=yours).again
            assert len(wire.bodies("/reports")) == 1, "this person has answered"
        else:
            with pytest.raises(errors.ReportConflict, match=r"credential|invitation: was used for another token"):
                client.answer(survey, ANSWERS, "web", invitation=mine)
        assert store.state(survey.id).reports == 1
        assert store.unused_invitations(survey.id).unused == 1

    @pytest.mark.parametrize("access", BOTH)
    def test_needs_an_invitation_that_is_known(
        self, store: SqliteStore, wire: Wire, memory: Memory, access: Access
    ) -> None:
        survey = always_open(access)
        (mine,) = publish_to(store, survey, 1)
        for client in (Client(HERE), Client(HERE, memory=memory)):
            for nonsense in (None, "", mine.upper(), mine[:-1], 7):
                with pytest.raises(errors.NotInvited, match="invitation: must be the 32 hexadecimal digits") as refused:
                    client.answer(survey, ANSWERS, invitation=nonsense)  # type: ignore[arg-type]
                assert mine[:-1] not in str(refused.value)
            assert wire.bodies("/tokens") + wire.bodies("/reports") + wire.bodies("/invitations/state") == []
        with pytest.raises(errors.NotInvited, match=r"must be (one|an invitation) of this survey") as unknown:
            Client(HERE).answer(survey, ANSWERS, invitation=new_invitation())
        assert unknown.type is errors.NotInvited
        assert store.state(survey.id).reports == 0

    def test_of_an_open_survey_shows_the_invitation_to_nobody(
        self, store: SqliteStore, wire: Wire, survey: Survey
    ) -> None:
        store.publish(survey)
        invitation = new_invitation()
        Client(HERE).answer(survey, ANSWERS, invitation=invitation)
        assert invitation.encode() not in b"".join(each.path.encode() + each.body for each in wire.requests)

    @pytest.mark.parametrize("access", BOTH)
    def test_wrongly_uses_no_invitation(self, store: SqliteStore, wire: Wire, access: Access) -> None:
        survey = always_open(access)
        (mine,) = publish_to(store, survey, 1)
        client = Client(HERE)
        with pytest.raises(errors.AnswerError):
            client.answer(survey, ANSWERS | {"affair": "perhaps"}, invitation=mine)
        with pytest.raises(errors.AnswerError):
            client.answer(survey, {"affair": "yes"}, invitation=mine)
        with pytest.raises(errors.ReportError, match="cohort"):
            client.answer(survey, ANSWERS, "nowhere", invitation=mine)
        assert wire.requests == []
        client.answer(survey, ANSWERS, invitation=mine)
        assert store.state(survey.id).reports == 1

    @pytest.mark.parametrize("access", BOTH)
    @pytest.mark.parametrize("with_memory", [False, True])
    def test_takes_answers_to_what_was_drawn(
        self, store: SqliteStore, wire: Wire, memory: Memory, access: Access, with_memory: bool
    ) -> None:
        questions = [question_toml(name, "yes-no", f"{name}?") for name in ("one", "two", "three")]
        drawn = read_survey(survey_toml("T", *questions, epsilon=2, results="live"))
        survey = replace(drawn, access=access, issuer=always_open(access).issuer)
        assert survey.asks < 3
        publish(store, survey)
        client = Client(HERE, memory=memory if with_memory else None)
        (mine,) = invite(store, survey, 1)
        asked = client.asked(survey)
        answers = dict.fromkeys(asked, "yes")
        with pytest.raises(errors.AnswerError):
            client.answer(survey, dict.fromkeys(asked, "perhaps"), asked=asked, invitation=mine)
        assert wire.requests == []
        client.answer(survey, answers, asked=None if with_memory else asked, invitation=mine)
        assert store.state(survey.id).reports == 1

    def test_of_a_survey_that_asks_too_much_buys_no_token(self, store: SqliteStore, wire: Wire, memory: Memory) -> None:
        plain = read_survey(survey_toml("T", question_toml("q", "yes-no", epsilon=4.1)))
        dear = replace(plain, access="unlinkable", issuer=always_open("unlinkable").issuer)
        (mine,) = publish_to(store, dear, 1)
        for client in (Client(HERE), Client(HERE, memory=memory)):
            with pytest.raises(errors.BudgetError):
                client.credential(dear, mine)
        assert wire.requests == []

    def test_when_closed_says_so(self, store: SqliteStore, wire: Wire) -> None:
        survey = always_open("unlinkable")
        (mine,) = publish_to(store, survey, 1)
        store.close_survey(survey.id)
        with pytest.raises(errors.SurveyClosed, match="gives no tokens"):
            Client(HERE).credential(survey, mine)

    def test_goes_to_the_issuer_that_the_survey_names(
        self, store: SqliteStore, http: FlaskClient, issuer: APIFlask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        survey = unlinkable_survey(url=ISSUER, opens=None, closes=None)
        store.publish(survey)
        theirs: SqliteStore = issuer.extensions["deniable"]["store"]
        (mine,) = publish_to(theirs, survey, 1)
        wire = wire_to(monkeypatch, collector=http, issuer=issuer.test_client())
        client = Client(HERE)
        client.answer(survey, ANSWERS, invitation=mine)
        assert [(each.place, each.path.rsplit("/", 1)[1]) for each in wire.requests] == [
            (HERE, "state"),
            (ISSUER, "tokens"),
            (HERE, "reports"),
        ]
        assert mine.encode() not in wire.requests[2].body, "the collector is not shown the invitation"
        assert store.state(survey.id).reports == 1

    def test_hands_the_report_back_with_its_token(self, store: SqliteStore, wire: Wire) -> None:
        survey = always_open("unlinkable")
        (mine,) = publish_to(store, survey, 1)

        def fail(where: str) -> None:
            if where == "before /reports":
                raise errors.CollectorError("cut")

        wire.cut = fail
        with pytest.raises(UndeliveredReport) as undelivered:
            Client(HERE).answer(survey, ANSWERS, invitation=mine)
        wire.cut = lambda _: None
        Client(HERE).submit(survey, undelivered.value.report)
        assert store.state(survey.id).reports == 1

    @pytest.mark.parametrize("signature", ["00" * 256, "ff" * 256, "12" * 256, "another key"])
    def test_uses_no_token_that_does_not_verify(
        self, store: SqliteStore, wire: Wire, memory: Memory, monkeypatch: pytest.MonkeyPatch, signature: str
    ) -> None:
        survey = always_open("unlinkable")
        (mine,) = publish_to(store, survey, 1)
        sent: list[bytes] = []

        def dishonest(_connection: object, _survey: str, _invitation: str, blinded: bytes) -> bytes:
            sent.append(blinded)
            if signature == "another key":
                other = key_number(1)
                return other.blind_sign((int.from_bytes(blinded) % other.public.modulus).to_bytes(256))
            return bytes.fromhex(signature)

        with monkeypatch.context() as patched:
            patched.setattr("deniable_client.collector_connection.CollectorConnection.sign", dishonest)
            for _ in range(2):
                with pytest.raises(errors.CollectorError, match=r"must sign with the key of survey .* does not verify"):
                    Client(HERE, memory=memory).answer(survey, ANSWERS, invitation=mine)
        assert wire.bodies("/reports") == []
        assert len(set(sent)) == 1, "the request is kept, and the right signature can still come"
        Client(HERE, memory=memory).answer(survey, ANSWERS, invitation=mine)
        assert json.loads(wire.bodies("/tokens")[0])["blinded"] == sent[0].hex()
        assert store.state(survey.id).reports == 1

    @pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"signature":7}', b'{"signature":"00"}', b"[" * 9999])
    def test_is_told_when_an_issuer_answers_nonsense(
        self, store: SqliteStore, wire: Wire, monkeypatch: pytest.MonkeyPatch, body: bytes
    ) -> None:
        survey = always_open("unlinkable")
        answered = Answered(200, body, {"Content-Type": "application/json"})
        monkeypatch.setattr(CollectorConnection, "_request", lambda *_: answered)
        with pytest.raises(errors.CollectorError, match="answered without a signature"):
            Client(HERE).credential(survey, new_invitation())

    def test_shows_no_secret_in_what_it_raises_or_prints(self, store: SqliteStore, wire: Wire, memory: Memory) -> None:
        survey = always_open("unlinkable")
        (mine,) = publish_to(store, survey, 1)
        other = new_invitation()
        with pytest.raises(errors.NotInvited) as refused:
            Client(HERE, memory=memory).answer(survey, ANSWERS, invitation=other)
        assert other not in "".join(traceback.format_exception(refused.value)) + repr(refused.value)
        receipt = Client(HERE, memory=memory).answer(survey, ANSWERS, invitation=mine)
        request = UnsignedToken.new(survey)
        assert request.nonce.hex()[:8] not in repr(request)
        assert str(request.blinded.inverse)[:8] not in repr(request)
        (body,) = wire.bodies("/reports")
        assert json.loads(body)["credential"] not in repr(receipt) + repr(parse_report(body, survey))


class TestRandomize:
    """The report takes its credential as it is given, before there is a value."""

    def test_refuses_what_the_survey_does_not_need(self, survey: Survey) -> None:
        invited, unlinkable = always_open("invited"), always_open("unlinkable")
        for asked, credential in ((survey, "ab" * 16), (invited, None), (invited, "ab" * 354), (unlinkable, None),
                                  (unlinkable, "ab" * 16), (unlinkable, "ab" * 354)):  # fmt: skip
            with pytest.raises(errors.NotInvited, match=r"credential: must be what access = '\w+' needs") as refused:
                randomize(asked, ANSWERS, credential=credential)
            assert "abab" not in str(refused.value)

    @pytest.mark.parametrize("access", BOTH)
    def test_draws_the_same_words_with_it_and_without(
        self, store: SqliteStore, wire: Wire, survey: Survey, access: Access
    ) -> None:
        asked = always_open(access)
        (mine,) = publish_to(store, asked, 1)
        credential = Client(HERE).credential(asked, mine)
        for seed in range(50):
            plain = randomize(survey, ANSWERS, word=words(seed))
            mixed = randomize(asked, ANSWERS, word=words(seed), credential=credential)
            assert (mixed.values, mixed.credential) == (plain.values, credential)


def words(seed: int) -> Any:
    dice = random.Random(seed)
    return lambda: dice.getrandbits(32)


@pytest.mark.parametrize("with_memory", [False, True])
def test_token_and_report_never_share_a_connection(
    app: APIFlask, store: SqliteStore, memory: Memory, with_memory: bool
) -> None:
    survey = always_open("unlinkable")
    people = publish_to(store, survey, 5)
    with noting_connections(app, may_close=False) as (url, seen):
        for number, mine in enumerate(people):
            path = memory.path.with_name(f"{number}.db")
            client = Client(url, memory=Memory(path) if with_memory else None)
            client.answer(client.survey(survey.id), ANSWERS, invitation=mine)
    ports = {what: {port for port, asked in seen if asked == what} for what in ("tokens", "reports", survey.id)}
    assert [len(each) for each in ports.values()] == [5, 5, 5]
    assert ports["tokens"].isdisjoint(ports["reports"])
    assert ports["reports"] == ports[survey.id], "connections are kept, or this would say nothing"


class TestMemory:
    """What a device keeps, so that nobody loses the right to answer and nobody counts twice."""

    def test_keeps_the_request_then_the_token_then_the_report(
        self, store: SqliteStore, wire: Wire, memory: Memory
    ) -> None:
        survey = always_open("unlinkable")
        (mine,) = publish_to(store, survey, 1)
        seen: list[tuple[str, int, int, int]] = []

        def look(where: str) -> None:
            with closing(sqlite3.connect(memory.path)) as db:
                requests, tokens = db.execute("SELECT count(request), count(token) FROM tokens").fetchone()
                (reports,) = db.execute("SELECT count(*) FROM reports").fetchone()
            seen.append((where, requests, tokens, reports))

        wire.cut = look
        client = Client(HERE, memory=memory)
        token = client.credential(survey, mine)
        look("between")
        assert client.credential(survey) == token, "nobody is asked again, nor is an invitation needed"
        client.answer(survey, ANSWERS)
        assert client.credential(survey) == token
        assert seen == [
            ("before /tokens", 1, 0, 0),
            ("after /tokens", 1, 0, 0),
            ("between", 0, 1, 0),
            ("before /state", 0, 1, 0),
            ("after /state", 0, 1, 0),
            ("before /reports", 0, 0, 1),
            ("after /reports", 0, 0, 1),
        ]
        assert parse_report(client.kept(survey).report, survey).credential == token  # type: ignore[union-attr]

    def test_wipes_what_blinded_a_token(self, store: SqliteStore, wire: Wire, memory: Memory) -> None:
        survey = always_open("unlinkable")
        (mine,) = publish_to(store, survey, 1)
        client = Client(HERE, memory=memory)
        client.credential(survey, mine)
        (sent,) = wire.bodies("/tokens")
        blinded = json.loads(sent)["blinded"]
        content = memory.path.read_bytes()
        assert blinded.encode() not in content
        assert blinded[100:140].encode() not in content
        assert mine.encode() not in content, "nothing needs it any more"

    def test_is_shared_by_threads_that_start_at_once(self, store: SqliteStore, wire: Wire, tmp_path: Path) -> None:
        survey = always_open("unlinkable")
        (mine,) = publish_to(store, survey, 1)
        gate = threading.Barrier(8)

        def run() -> None:
            client = Client(HERE, memory=Memory(tmp_path / "memory.db"))
            gate.wait()
            client.answer(survey, ANSWERS, invitation=mine)

        assert at_once(*[run] * 8) == []
        assert len(set(wire.bodies("/tokens"))) == 1
        assert len(set(wire.bodies("/reports"))) == 1
        assert store.state(survey.id).reports == 1

    def test_of_version_2_is_taken_over(self, store: SqliteStore, wire: Wire, memory: Memory, survey: Survey) -> None:
        store.publish(survey)
        Client(HERE, memory=memory).answer(survey, ANSWERS)
        kept = memory.recall(survey.id, HERE)
        with closing(sqlite3.connect(memory.path)) as db:
            db.executescript(f"DROP TABLE tokens; {TOLD_ONCE}; PRAGMA user_version = 2")
        assert memory.recall(survey.id, HERE) == kept, "looking changes nothing"
        asked = always_open("unlinkable")
        (mine,) = publish_to(store, asked, 1)
        Client(HERE, memory=memory).answer(asked, ANSWERS, invitation=mine)
        assert memory.recall(survey.id, HERE) == kept
        assert store.state(asked.id).reports == 1
        with closing(sqlite3.connect(memory.path)) as db:
            assert db.execute("PRAGMA user_version").fetchone() == (4,)
        assert memory.ledger(HERE).epsilon == pytest.approx(survey.epsilon, abs=1e-5)

    @pytest.mark.parametrize(
        "damage",
        [
            "UPDATE tokens SET request = substr(request, 3)",
            "UPDATE tokens SET request = replace(request, '0', 'x')",
            "UPDATE tokens SET request = NULL, token = 'nonsense'",
            "UPDATE tokens SET request = NULL, token = 7",
            "UPDATE tokens SET request = 7",
            f"UPDATE tokens SET request = NULL, token = '0002{'0' * 704}'",
        ],
    )
    def test_that_is_damaged_is_refused_and_nobody_is_asked(
        self, store: SqliteStore, wire: Wire, memory: Memory, damage: str
    ) -> None:
        survey = always_open("unlinkable")
        (mine,) = publish_to(store, survey, 1)

        def stop(where: str) -> None:
            raise Killed

        wire.cut = stop
        with pytest.raises(Killed):
            Client(HERE, memory=memory).credential(survey, mine)
        with closing(sqlite3.connect(memory.path)) as db, db:
            db.execute(damage)
        wire.cut = lambda _: None
        with pytest.raises(UnusableMemory, match=f"what it keeps of survey {survey.id} is not a token of it"):
            Client(HERE, memory=memory).credential(survey, mine)
        assert wire.requests == []

    def test_with_a_token_in_other_letters_is_refused(self, store: SqliteStore, wire: Wire, memory: Memory) -> None:
        survey = always_open("unlinkable")
        (mine,) = publish_to(store, survey, 1)
        Client(HERE, memory=memory).credential(survey, mine)
        with closing(sqlite3.connect(memory.path)) as db, db:
            assert db.execute("UPDATE tokens SET token = upper(token) WHERE token <> upper(token)").rowcount == 1
        with pytest.raises(UnusableMemory, match=f"what it keeps of survey {survey.id} is not a token of it"):
            Client(HERE, memory=memory).credential(survey, mine)

    def test_takes_another_invitation_only_for_a_report_that_was_refused(self, memory: Memory) -> None:
        survey = always_open("invited")
        first, second = new_invitation(), new_invitation()
        memory.invite(survey, HERE, first)
        report = memory.once(survey, HERE, lambda: randomize(survey, ANSWERS, credential=first))
        memory.invite(survey, HERE, second)
        assert memory.recall(survey.id, HERE) == KeptReport(survey.id, HERE, report.encode(), "waiting")
        memory.mark(survey.id, HERE, "refused")
        memory.invite(survey, HERE, second)
        changed = replace(report, credential=second)
        assert memory.recall(survey.id, HERE) == KeptReport(survey.id, HERE, changed.encode(), "waiting")

    def test_never_changes_a_report_that_has_arrived_anywhere(self, memory: Memory) -> None:
        survey = always_open("invited")
        report = memory.once(survey, HERE, lambda: randomize(survey, ANSWERS, credential=new_invitation()))
        memory.mark(survey.id, HERE, "sent")
        elsewhere = "https://elsewhere.example"
        memory.once(survey, elsewhere, lambda: report)
        memory.mark(survey.id, elsewhere, "refused")
        memory.invite(survey, elsewhere, new_invitation())
        assert memory.recall(survey.id, HERE) == KeptReport(survey.id, HERE, report.encode(), "sent")
        assert memory.recall(survey.id, elsewhere) == KeptReport(survey.id, elsewhere, report.encode(), "refused")

    def test_of_a_report_that_was_refused_takes_the_right_invitation(
        self, store: SqliteStore, wire: Wire, memory: Memory
    ) -> None:
        """Somebody opened a link that is not theirs, answered, and then opens their own."""
        survey = always_open("invited")
        (mine,) = publish_to(store, survey, 1)
        client = Client(HERE, memory=memory)
        with pytest.raises(errors.NotInvited):
            client.answer(survey, ANSWERS, invitation=new_invitation())
        assert client.kept(survey).state == "refused"  # type: ignore[union-attr]
        client.answer(survey, ANSWERS | {"affair": "no"}, invitation=mine)
        first, second = map(json.loads, wire.bodies("/reports"))
        assert (second["id"], second["values"]) == (first["id"], first["values"]), "drawn once"
        assert second["credential"] == mine
        assert store.state(survey.id).reports == 1
        client.answer(survey, ANSWERS, invitation=new_invitation())
        assert len(wire.bodies("/reports")) == 2, "what has arrived keeps what it was sent with"

    def test_of_a_report_that_waits_keeps_its_bytes(self, store: SqliteStore, wire: Wire, memory: Memory) -> None:
        survey = always_open("invited")
        mine, yours = publish_to(store, survey, 2)

        def lose(where: str) -> None:
            if where == "after /reports":
                raise errors.CollectorError("cut")

        wire.cut = lose
        client = Client(HERE, memory=memory)
        with pytest.raises(UndeliveredReport):
            client.answer(survey, ANSWERS, invitation=mine)
        wire.cut = lambda _: None
        client.answer(survey, ANSWERS, invitation=yours)
        assert len(set(wire.bodies("/reports"))) == 1
        assert store.unused_invitations(survey.id).unused == 1


STEPS = {
    "invited": ["before /state", "after /state", "report drawn", "before /reports", "after /reports", "report sent"],
    "unlinkable": [
        *("request kept", "before /tokens", "after /tokens", "token kept", "before /state", "after /state"),
        *("report drawn", "before /reports", "after /reports", "report sent"),
    ],
}
"""Between these a device's process may end."""


class Device:
    """One person's device, whose process ends at some of the steps; the memory is all that outlives it."""

    def __init__(self, path: Path, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.deaths: list[str] = []
        self.reached: set[str] = set()
        wire.cut = self.step
        for method, name in (
            ("token_request", "request kept"),
            ("keep_token", "token kept"),
            ("once", "report drawn"),
            ("mark", "report sent"),
        ):
            monkeypatch.setattr(Memory, method, self._then(getattr(Memory, method), name))

    def _then(self, method: Any, name: str) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            done = method(*given, **named)
            self.step(name)
            return done

        return call

    def step(self, name: str) -> None:
        self.reached.add(name)
        if self.deaths and self.deaths[0] == name:
            self.deaths.pop(0)
            raise Killed

    def answer(self, survey: Survey, invitation: str, deaths: list[str]) -> int:
        """Open the link until there is a receipt; how often it took."""
        self.deaths = deaths
        for tries in range(1, 20):
            client = Client(HERE, memory=Memory(self.path))
            try:
                client.credential(survey, invitation)  # a person would be shown the questions here
                client.answer(survey, ANSWERS, invitation=invitation)
                return tries
            except Killed:
                pass
        raise AssertionError("shut out")


@pytest.mark.slow
@pytest.mark.parametrize(("access", "people"), [("unlinkable", 20), long("unlinkable", 100), long("invited", 100)])
def test_people_whose_device_dies_between_steps_count_once(
    store: SqliteStore, wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, access: Access, people: int
) -> None:
    survey = always_open(access)
    invitations = publish_to(store, survey, people)
    dice = random.Random(9578)
    steps, died = STEPS[access], 0
    for number, invitation in enumerate(invitations):
        with monkeypatch.context() as patched:
            device = Device(tmp_path / f"{number}.db", wire, patched)
            deaths = [*steps] if number == 0 else dice.choices(steps, k=dice.randrange(1, 4))
            died += len(deaths)
            assert device.answer(survey, invitation, deaths) >= 1
            died -= len(device.deaths)
            assert number or (device.reached == set(steps) and not device.deaths), "it dies at each step in turn"
        assert store.state(survey.id).reports == number + 1
    assert died > 1.2 * people
    assert store.unused_invitations(survey.id) == (people, 0, None)
    assert inspect(store.path).findings == ()
    assert len(set(wire.bodies("/reports"))) == people, "the same bytes at every try"
    assert len({json.loads(each)["blinded"] for each in wire.bodies("/tokens")}) == (
        people if access == "unlinkable" else 0
    )


TYPED = ["", "no", "1", "send"]


@pytest.fixture
def run(wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``deniable answer`` within this process."""
    monkeypatch.setattr(command, "in_terminal", lambda: True)
    monkeypatch.setenv("DENIABLE_MEMORY", str(tmp_path / "device.db"))

    def invoke(link: str, *arguments: str, typed: list[str] = TYPED) -> Result:
        return CliRunner().invoke(main, ["answer", link, *arguments], input="".join(f"{line}\n" for line in typed))

    return invoke


def said(result: Result) -> str:
    """Everything printed, on one line."""
    return " ".join(f"{result.stdout} {result.stderr}".split())


@pytest.mark.parametrize("access", BOTH)
def test_a_report_that_another_process_made_meanwhile_is_this_ones_too(
    store: SqliteStore, wire: Wire, memory: Memory, access: Access
) -> None:
    """It asks whether the invitation was used a moment after the other has used it."""
    survey = always_open(access, results="batches")
    (mine,) = publish_to(store, survey, 1)
    others: list[Client] = [Client(HERE, memory=memory)]

    def answer_first(where: str) -> None:
        if where == "before /state" and others:
            others.pop().answer(survey, ANSWERS, invitation=mine)

    wire.cut = answer_first
    receipt = Client(HERE, memory=memory).answer(survey, ANSWERS, invitation=mine)
    assert receipt.again
    assert len(set(wire.bodies("/reports"))) == 1


class TestTerminal:
    """``deniable answer``"""

    @pytest.mark.parametrize("access", BOTH)
    def test_says_what_it_means_before_and_what_is_used_after(
        self, store: SqliteStore, run: Any, access: Access
    ) -> None:
        survey = always_open(access)
        (mine,) = publish_to(store, survey, 1)
        link = f"{HERE}/s/{survey.id}#invitation={mine}"
        result = run(link, typed=["?", *TYPED])
        assert result.exit_code == 0, result.output
        text = said(result)
        short, long, used = {
            "invited": (messages.INVITED, messages.INVITED_TEXT, messages.INVITED_USED),
            "unlinkable": (messages.UNLINKABLE, messages.UNLINKABLE_TEXT, messages.UNLINKABLE_USED),
        }[access]
        assert (
            text.index(short) < text.index(" ".join(long.split())) < text.index(messages.TRUTHFULLY) < text.index(used)
        )
        assert store.state(survey.id).reports == 1
        assert mine not in text
        again = run(link, typed=[])
        assert messages.SENT_BEFORE in said(again)
        assert store.state(survey.id).reports == 1

    def test_says_of_no_other_invitation_that_it_was_used(self, store: SqliteStore, run: Any) -> None:
        survey = always_open("invited")
        mine, anothers = publish_to(store, survey, 2)
        assert run(f"{HERE}/s/{survey.id}#invitation={mine}", typed=TYPED).exit_code == 0
        for fragment, is_mine in ((f"#invitation={mine}", True), (f"#invitation={anothers}", False), ("", True)):
            again = said(run(f"{HERE}/s/{survey.id}{fragment}", typed=[]))
            assert messages.SENT_BEFORE in again
            assert (messages.INVITED_USED in again) == is_mine

    @pytest.mark.parametrize("access", BOTH)
    def test_without_an_invitation_asks_nothing(self, store: SqliteStore, run: Any, wire: Wire, access: Access) -> None:
        survey = always_open(access)
        publish(store, survey)
        for fragment in ("", "#invitation=abc"):
            result = run(f"{HERE}/s/{survey.id}{fragment}")
            assert result.exit_code == 1
            assert messages.INCOMPLETE in said(result)
            assert messages.START.strip() not in said(result)
        assert wire.bodies("/tokens") == wire.bodies("/reports") == []

    def test_with_an_unknown_invitation_asks_nothing(self, store: SqliteStore, run: Any) -> None:
        survey = always_open("unlinkable")
        publish(store, survey)
        result = run(f"{HERE}/s/{survey.id}#invitation={new_invitation()}")
        assert result.exit_code == 1
        assert messages.UNKNOWN in said(result)
        assert messages.NOT_ASKED in said(result)
        assert messages.TRUTHFULLY not in said(result)

    def test_with_a_used_invitation_asks_nothing(self, store: SqliteStore, run: Any) -> None:
        survey = always_open("unlinkable")
        (mine,) = publish_to(store, survey, 1)
        Client(HERE).answer(survey, ANSWERS, invitation=mine)
        result = run(f"{HERE}/s/{survey.id}#invitation={mine}")
        assert (result.exit_code, messages.USED_BEFORE in said(result)) == (1, True)
        assert messages.TRUTHFULLY not in said(result)

    @pytest.mark.parametrize("used", [False, True])
    def test_of_an_invited_survey_is_known_before_start_and_nothing_is_sent(
        self, store: SqliteStore, run: Any, wire: Wire, used: bool
    ) -> None:
        survey = always_open("invited", results="batches")
        (mine,) = publish_to(store, survey, 1)
        other = new_invitation()
        if used:
            Client(HERE).answer(survey, ANSWERS, invitation=mine)
        sent = len(wire.bodies("/reports"))
        result = run(f"{HERE}/s/{survey.id}#invitation={mine if used else other}", typed=[])
        assert result.exit_code == 1
        assert (messages.USED_BEFORE if used else messages.UNKNOWN) in said(result)
        assert messages.NOT_ASKED in said(result)
        assert messages.PROCESS not in said(result), "not even the consent card is shown"
        assert len(wire.bodies("/reports")) == sent
        asked = b"".join(request.body for request in wire.requests if request.path.endswith("state"))
        assert (mine.encode() in asked, other.encode() in asked) == (False, False), "its hash is"

    @pytest.mark.parametrize("results", ["batches", "live"])
    def test_says_that_the_invitation_was_asked_about_exactly_where_it_was(
        self, store: SqliteStore, run: Any, wire: Wire, results: str
    ) -> None:
        survey = always_open("invited", results=results)
        (mine,) = publish_to(store, survey, 1)
        stopped = run(f"{HERE}/s/{survey.id}#invitation={mine}", typed=["stop"])
        was_asked = bool(wire.bodies("/invitations/state"))
        assert was_asked == (results == "batches")
        assert (messages.HASH_SENT in said(stopped)) == was_asked
        assert (messages.NOTHING_YET in said(stopped)) == (not was_asked)
        assert messages.STOPPED in said(stopped)
        assert "Nothing was sent" not in said(stopped)

    @pytest.mark.parametrize("used", [False, True])
    def test_of_an_invited_survey_with_live_results_says_it_when_it_is_sent(
        self, store: SqliteStore, run: Any, used: bool
    ) -> None:
        survey = always_open("invited")
        (mine,) = publish_to(store, survey, 1)
        if used:
            Client(HERE).answer(survey, ANSWERS, invitation=mine)
        result = run(f"{HERE}/s/{survey.id}#invitation={mine if used else new_invitation()}")
        assert result.exit_code == 1
        assert (messages.USED_BEFORE if used else messages.UNKNOWN) in said(result)
        assert messages.NOT_ASKED not in said(result), "they were"
        assert messages.TOO_LATE in said(result)
        if not used:
            again = run(f"{HERE}/s/{survey.id}#invitation={mine}", typed=[""])
            assert again.exit_code == 0, again.output
            assert messages.INVITED_USED in said(again)
            assert store.state(survey.id).reports == 1

    def test_tries_again_where_the_issuer_cannot_be_reached(self, store: SqliteStore, run: Any, wire: Wire) -> None:
        survey = always_open("unlinkable")
        (mine,) = publish_to(store, survey, 1)
        times = iter([errors.CollectorError("cut"), Untrusted("its certificate")])

        def fail(where: str) -> None:
            if where == "after /tokens" and (error := next(times, None)):
                raise error

        wire.cut = fail
        result = run(f"{HERE}/s/{survey.id}#invitation={mine}", typed=["", "", *TYPED])
        assert result.exit_code == 0, result.output
        assert said(result).count(messages.UNSIGNED) == 2
        assert said(result).count(messages.UNREACHABLE_TEXT) == said(result).count(messages.UNTRUSTED_TEXT) == 1
        assert len(wire.bodies("/tokens")) == 3
        assert len(set(wire.bodies("/tokens"))) == 1
        assert store.state(survey.id).reports == 1

    def test_stopped_after_the_token_says_what_was_sent_and_goes_on_later(
        self, store: SqliteStore, run: Any, wire: Wire
    ) -> None:
        survey = always_open("unlinkable")
        (mine,) = publish_to(store, survey, 1)
        link = f"{HERE}/s/{survey.id}#invitation={mine}"
        stopped = run(link, typed=["", "stop"])
        assert stopped.exit_code == 130
        assert messages.START_SENDS in said(stopped)
        assert messages.NOTHING_YET not in said(stopped)
        assert messages.STOPPED_INVITED in said(stopped)
        assert messages.STOPPED_INVITED_KIOSK not in said(stopped)
        assert run(link).exit_code == 0
        assert len(wire.bodies("/tokens")) == 1, "the token was kept"
        assert store.state(survey.id).reports == 1

    def test_stopped_on_a_kiosk_says_that_the_token_is_lost(self, store: SqliteStore, run: Any) -> None:
        survey = always_open("unlinkable")
        (mine,) = publish_to(store, survey, 1)
        link = f"{HERE}/s/{survey.id}#invitation={mine}"
        assert messages.STOPPED_INVITED_KIOSK in said(run(link, "--kiosk", typed=["", "stop"]))
        assert messages.USED_BEFORE in said(run(link, "--kiosk"))

    @pytest.mark.parametrize("access", BOTH)
    def test_on_a_kiosk_takes_one_person_after_another(
        self, store: SqliteStore, run: Any, tmp_path: Path, access: Access
    ) -> None:
        survey = always_open(access)
        for invitation in publish_to(store, survey, 2):
            result = run(f"{HERE}/s/{survey.id}#invitation={invitation}", "--kiosk")
            assert result.exit_code == 0, result.output
        assert store.state(survey.id).reports == 2
        assert not (tmp_path / "device.db").exists()

    def test_says_of_every_survey_whether_one_report_a_person_is_enforced(self, survey: Survey) -> None:
        for each, sentence in (
            (survey, messages.OPEN),
            (always_open("invited"), messages.INVITED),
            (always_open("unlinkable"), messages.UNLINKABLE),
        ):
            assert sentence in screens.consent(each, None, is_kiosk=False)

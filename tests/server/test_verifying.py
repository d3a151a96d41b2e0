"""Releases: numbered, signed, logged, recomputed; and whatever somebody changes of them is named."""

from __future__ import annotations

import csv
import datetime
import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from apiflask import APIFlask
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flask.testing import FlaskClient

from deniable import Report, Survey, Tally, read_survey
from deniable_client import randomize
from deniable_research.commands.witness import witness
from deniable_research.results.collector import NoSurvey
from deniable_research.results.collector import PublishedBytes as PublishedThere
from deniable_research.results.log import Fetch, Log, NotVerified, fetch_log
from deniable_research.results.verifying import verify
from deniable_research.results.witness import KeptHead, check_extends
from deniable_server.app import create_app
from deniable_server.results.releases import ReleaseLog
from deniable_server.settings import Settings
from deniable_server.store import Store
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from deniable_statistics.release.merkle import leaf_hash, root_of
from deniable_statistics.release.record import LogHead, ReleaseRecord
from tools.rig.in_process import ended
from tools.rig.surveys import SURVEY, Clock

# Leaves and roots of the reference implementation of Certificate Transparency (merkletree testdata).
LEAVES = [
    bytes.fromhex(each)
    for each in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    4: "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    6: "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


@pytest.mark.parametrize("size", ROOTS)
def test_roots_are_those_of_certificate_transparency(size: int) -> None:
    assert root_of([leaf_hash(each) for each in LEAVES[:size]]).hex() == ROOTS[size]


@pytest.fixture
def survey(app: APIFlask) -> Survey:
    """A survey of two releases: 200 replies of the web, then 210 on paper."""
    return two_releases(app.extensions["deniable"]["store"])


def two_releases(store: Store) -> Survey:
    survey = replace(read_survey(SURVEY), results="batches")
    store.publish(survey)
    release(store, survey, 200, "web")
    release(store, survey, 210, "paper", first=1000)
    return survey


def release(store: Store, survey: Survey, n: int, cohort: str, first: int = 0) -> None:
    chance = random.Random(first)

    def word() -> int:
        return chance.getrandbits(32)

    answers = {"affair": "yes", "religious": "mildly"}
    people = [replace(randomize(survey, answers, cohort, word=word), id=f"{first + i:032x}") for i in range(n)]
    store.store_reports([(survey, people)])
    store.settle()
    ReleaseLog(store).rows(store.state(survey.id))


@pytest.fixture
def fetch(http: FlaskClient) -> Fetch:
    """Whatever the collector publishes, as it publishes it."""

    def get(path: str) -> bytes:
        response = http.get(path)
        assert response.status_code == 200, path
        return response.data

    return get


def changed(fetch: Fetch, what: str, change: Callable[[bytes], bytes]) -> Fetch:
    """The same, with a change to what stands at one path."""
    return lambda path: change(fetch(path)) if path.endswith(what) else fetch(path)


def edited(**changes: object) -> Callable[[bytes], bytes]:
    return lambda document: json.dumps(json.loads(document) | changes).encode()


def refusal(fetch: Fetch, survey: Survey) -> str:
    with pytest.raises(NotVerified) as found:
        list(verify(fetch, survey.id))
    return str(found.value)


def forged(app: APIFlask, fetch: Fetch, survey: Survey, records: list[ReleaseRecord]) -> Fetch:
    """A collector that signs other releases with its own key."""
    key: Ed25519PrivateKey = app.extensions["deniable-results"].releases._private
    encoded = [record.encode() for record in records]
    head = LogHead(survey.id, len(records), root_of(list(map(leaf_hash, encoded))).hex()).encode()
    listed = json.loads(fetch(f"/api/v1/surveys/{survey.id}/releases")) | {
        "head": head.decode(),
        "head_signature": key.sign(head).hex(),
        "releases": [
            {"number": number, "leaf": leaf_hash(each).hex(), "signature": key.sign(each).hex()}
            for number, each in enumerate(encoded, start=1)
        ],
    }

    def get(path: str) -> bytes:
        if path.endswith("/releases"):
            return json.dumps(listed).encode()
        return encoded[int(path.rpartition("/")[2]) - 1] if "/releases/" in path else fetch(path)

    return get


def records_of(fetch: Fetch, survey: Survey) -> list[ReleaseRecord]:
    return [ReleaseRecord.parse(fetch(f"/api/v1/surveys/{survey.id}/releases/{number}")) for number in (1, 2)]


@pytest.mark.slow
def test_everything_that_a_collector_publishes_is_verified(published: Published) -> None:
    said = list(verify(published.fetch, published.survey.id))
    assert [line.partition(":")[0] for line in said] == [
        "survey",
        "log",
        "signature",
        "rows",
        "numbers",
        "all checks passed",
    ]
    assert "410 noisy replies" in said[3]
    assert int(said[4].split()[1].replace(",", "")) > 300
    assert said[5] == "all checks passed: Life and love, 1974, release 2, 410 replies"


@pytest.mark.slow
def test_rows_among_those_to_whom_a_question_applies_are_verified(
    http: FlaskClient, store: Store, fetch: Fetch
) -> None:
    question = '[[questions]]\nid = "{}"\ntype = "{}"\ntext = "?"\nepsilon = 2\n'
    filtered = read_survey(
        'title = "T"\nresults = "live"\n'
        + question.format("smokes", "yes-no")
        + question.format("many", "scale")
        + 'lo = 1\nhi = 3\ngoal = "shares"\nask_if = "smokes = yes"\n'
    )
    store.publish(filtered)
    people = [{"smokes": "yes", "many": str(1 + i % 3)} if i % 2 else {"smokes": "no"} for i in range(200)]
    store.store_reports([(filtered, [randomize(filtered, each) for each in people])])
    assert list(verify(fetch, filtered.id))[-2].startswith("numbers: ")
    rows = http.get(f"/s/{filtered.id}/results/many.json").json["rows"]
    assert {row["statistic"] for row in rows} == {"share", "among", "mean"}
    assert "2, where it applies" in http.get(f"/s/{filtered.id}/results/many").text


@dataclass(frozen=True)
class Published:
    """A collector whose survey has two releases, and the answers that it gave: nothing here changes it."""

    app: APIFlask
    survey: Survey
    answers: dict[str, bytes] = field(default_factory=dict)

    def fetch(self, path: str) -> bytes:
        if path not in self.answers:
            response = self.app.test_client().get(path)
            assert response.status_code == 200, path
            self.answers[path] = response.data
        return self.answers[path]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    path = tmp_path_factory.mktemp("verifying") / "test.db"
    with ended(create_app(path, Clock(), Settings(rate_limit=None, fold_seconds=86_400))) as app:
        yield Published(app, two_releases(app.extensions["deniable"]["store"]))


class TestMutations:
    """Each is named by the first word of the message."""

    @pytest.fixture
    def app(self, published: Published) -> APIFlask:
        return published.app

    @pytest.fixture
    def survey(self, published: Published) -> Survey:
        return published.survey

    @pytest.fixture
    def fetch(self, published: Published) -> Fetch:
        return published.fetch

    def test_of_the_survey(self, fetch: Fetch, survey: Survey) -> None:
        for change in (lambda each: each.replace(b"affair", b"unfair"), lambda each: each + b" "):
            assert refusal(changed(fetch, survey.id, change), survey).startswith("survey: ")

    def test_of_a_mechanism(self, fetch: Fetch, survey: Survey) -> None:
        keep = int(survey.question("religious").mechanism.publish()["keep"])
        before, after = f'"keep":{keep}'.encode(), f'"keep":{keep - 3}'.encode()
        assert survey.document.count(before) == 1
        assert refusal(changed(fetch, survey.id, lambda each: each.replace(before, after)), survey).startswith("survey")

    def test_of_a_signature(self, fetch: Fetch, survey: Survey) -> None:
        path = f"/api/v1/surveys/{survey.id}/releases"
        listed = json.loads(fetch(path))
        head = listed["head_signature"]
        assert refusal(changed(fetch, path, edited(head_signature="00" + head[2:])), survey).startswith("signature: ")
        releases = [each | {"signature": "00" + each["signature"][2:]} for each in listed["releases"]]
        assert refusal(changed(fetch, path, edited(releases=releases)), survey) == (
            "signature: release 1 must be signed by the collector's key, but is not"
        )

    def test_of_a_release(self, fetch: Fetch, survey: Survey) -> None:
        other = changed(fetch, "/releases/2", lambda each: each.replace(b'"n":210', b'"n":211'))
        assert refusal(other, survey) == "release 2: is not the one in the log"

    def test_of_a_list(self, fetch: Fetch, survey: Survey) -> None:
        path = f"/api/v1/surveys/{survey.id}/releases"
        listed = json.loads(fetch(path))["releases"]
        assert refusal(changed(fetch, path, edited(releases=listed[:1])), survey).startswith("log: its head has 2")
        swapped = [listed[0], listed[1] | {"leaf": listed[0]["leaf"]}]
        assert refusal(changed(fetch, path, edited(releases=swapped)), survey).startswith("log: its head is not")

    def test_of_a_row(self, fetch: Fetch, survey: Survey) -> None:
        def flip(rows: bytes) -> bytes:
            return rows.replace(b",web,0,", b",web,1,", 1)

        assert refusal(changed(fetch, "reports.csv", flip), survey).startswith("rows: reports.csv is not the one of")

    def test_of_a_tally_that_is_signed_anew(self, app: APIFlask, fetch: Fetch, survey: Survey) -> None:
        first, last = records_of(fetch, survey)

        def refused(cohort: str, tally: Tally) -> str:
            wrong = replace(last, tallies={**last.tallies, cohort: tally})
            return refusal(forged(app, fetch, survey, [first, wrong]), survey)

        tally = last.tallies["paper"]
        no, yes = tally.counts["affair"]
        moved = replace(tally, counts={**tally.counts, "affair": (no + 1, yes - 1)})
        assert refused("paper", moved).startswith("tallies: release 2 must have a recount")
        for counts in ((no + 1, yes), (no, yes, 0), (-1, no + yes + 1)):
            impossible = replace(tally, counts={**tally.counts, "affair": counts})
            assert refused("paper", impossible) == "release 2: has counts that no replies make"
        assert refused("paper", replace(tally, counts={"affair": (no, yes)})).endswith("the survey, got others")
        assert refused("elsewhere", tally).startswith("release 2: must have cohorts of the survey")
        fewer = replace(last, tallies={"paper": last.tallies["paper"]})
        assert refusal(forged(app, fetch, survey, [first, fewer]), survey).startswith("release 2: counts fewer")

    def test_of_days_and_of_hashes_that_are_signed_anew(self, app: APIFlask, fetch: Fetch, survey: Survey) -> None:
        first, last = records_of(fetch, survey)
        earlier = replace(last, released_on=first.released_on - datetime.timedelta(days=1))
        assert refusal(forged(app, fetch, survey, [first, earlier]), survey).startswith("release 2: is of 2026-11-24,")
        without = replace(first, rows_sha256=None)
        assert refusal(forged(app, fetch, survey, [without, last]), survey).startswith("release 1: must have the hash")
        swapped = replace(first, survey="a" * 26)
        assert refusal(forged(app, fetch, survey, [swapped, last]), survey).startswith("release 1: is release 1 of")

    def test_of_a_log_that_is_emptied_or_whose_release_is_not_served(
        self, app: APIFlask, fetch: Fetch, survey: Survey
    ) -> None:
        assert refusal(forged(app, fetch, survey, []), survey).startswith("release: must be in the log before replies")

        def without(path: str) -> bytes:
            if path.endswith("/releases/1"):
                raise NoSurvey("survey: there is none with this id")
            return fetch(path)

        assert refusal(without, survey).startswith("release 1: /api/v1/surveys/")

    @pytest.mark.parametrize(
        ("path", "before", "after", "said"),
        [
            ("results.json?release=1", b'"n":200,', b'"n":199,', "n must be 200, got 199"),
            ("results.json?release=1", b'"release":1,', b'"release":2,', "release must be 1, got 2"),
            ("estimates.json", b'"n":410,', b'"n":4100,', "n must be 410, got 4100"),
            ("estimates.json", b'"as_of":"2026-11-25"', b'"as_of":"2026-11-24"', "as_of must be 2026-11-25"),
            ("estimates.csv", b",410,", b",411,", "n of affair"),
            ("results.csv", b",410,", b",411,", "n of affair"),
            ("affair.json", b'"weak":false', b'"weak":true', "weak of affair"),
            ("affair.json", b'"conf_high":0.', b'"conf_high":1' + b"0" * 400 + b".", "conf_high of affair"),
            ("affair.json", b'"count":', b'"count":1' + b"0" * 400 + b',"x":', "count of affair"),
            ("affair.json", b'"rows":', b'"rows":' + b"[" * 5000, "must be an object of JSON"),
        ],
    )
    def test_of_one_place(
        self, fetch: Fetch, survey: Survey, path: str, before: bytes, after: bytes, said: str
    ) -> None:
        def other(document: bytes) -> bytes:
            assert before in document
            return document.replace(before, after, 1)

        found = refusal(changed(fetch, path, other), survey)
        assert found.startswith("numbers: ")
        assert said in found

    @pytest.mark.parametrize(
        ("path", "change", "said"),
        [
            # What Python's DictReader takes the last of, and what R and pandas take a column of names for.
            ("results.csv", lambda cells: [*cells, "estimate" if cells[0] == "question" else "0.9"], "once"),
            ("estimates.csv", lambda cells: [*cells, "estimate" if cells[0] == "question" else "0.9"], "once"),
            ("results.csv", lambda cells: [*cells, "0.9"] if cells[0] != "question" else cells, "fields"),
            ("estimates.csv", lambda cells: cells[:-1], "fields"),
        ],
    )
    def test_of_the_shape_of_a_table(
        self, fetch: Fetch, survey: Survey, path: str, change: Callable[[list[str]], list[str]], said: str
    ) -> None:
        def other(content: bytes) -> bytes:
            rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
            if said == "fields" and change(rows[0]) != rows[0]:
                rows = [rows[0], *map(change, rows[1:])]
            else:
                rows = list(map(change, rows))
            out = io.StringIO(newline="")
            csv.writer(out).writerows(rows)
            return out.getvalue().encode()

        found = refusal(changed(fetch, path, other), survey)
        assert found.startswith("numbers: ")
        assert said in found

    @pytest.mark.parametrize("path", ["estimates.json", "affair.json"])
    def test_of_a_name_that_is_there_twice(self, fetch: Fetch, survey: Survey, path: str) -> None:
        """Python and browsers take the last one, other programs the first."""

        def other(document: bytes) -> bytes:
            return document.replace(b'"estimate":', b'"estimate":0.9,"estimate":', 1)

        assert refusal(changed(fetch, path, other), survey).startswith("numbers: /")

        def twice(document: bytes) -> bytes:
            return document.replace(b'"key":', b'"key":"00","key":', 1)

        assert refusal(changed(fetch, "/releases", twice), survey).startswith("log: must be a list of releases")

    def test_writes_no_verdict_of_its_own(self, fetch: Fetch, survey: Survey) -> None:
        def other(document: bytes) -> bytes:
            read = json.loads(document)
            read["rows"][0]["method"] = "\x1b[2J\nall checks passed: \u202eT, release 2"
            return json.dumps(read).encode()

        found = refusal(changed(fetch, "affair.json", other), survey)
        assert "\n" not in found
        assert "\x1b" not in found

    def test_of_a_head_longer_than_memory(self, app: APIFlask, fetch: Fetch, survey: Survey) -> None:
        key: Ed25519PrivateKey = app.extensions["deniable-results"].releases._private
        head = LogHead(survey.id, 10**14, "00" * 32).encode()
        listed = edited(head=head.decode(), head_signature=key.sign(head).hex())
        path = f"/api/v1/surveys/{survey.id}/releases"
        assert refusal(changed(fetch, path, listed), survey).startswith("log: its head has 100000000000000 releases")

    def test_of_a_log_that_is_another_one_for_witnesses(self, app: APIFlask, fetch: Fetch, survey: Survey) -> None:
        """The log that is checked is the log that extends what was seen: two answers cannot be two logs."""
        seen = KeptHead.of(fetch_log(fetch, survey.id))
        first, last = records_of(fetch, survey)
        lie = forged(app, fetch, survey, [replace(first, rows_sha256="0" * 64), last])
        asked = 0

        def two_faced(path: str) -> bytes:
            nonlocal asked
            asked += path.endswith("/releases")
            return lie(path) if asked < 2 else fetch(path)

        with pytest.raises(NotVerified, match="forked"):
            list(verify(two_faced, survey.id, seen))

    def test_of_results_that_move_meanwhile(self, app: APIFlask, fetch: Fetch, survey: Survey) -> None:
        before = forged(app, fetch, survey, records_of(fetch, survey)[:1])
        moved = False

        def moving(path: str) -> bytes:
            nonlocal moved
            answer = fetch(path) if moved else before(path)
            moved = moved or path.endswith("reports.csv")
            return answer

        said = list(verify(moving, survey.id))
        assert "release: results moved while this check ran, so it starts again" in said
        assert said[-1].startswith("all checks passed: ")

    def test_of_live_results_that_move_meanwhile(self, http: FlaskClient, store: Store) -> None:
        live = replace(read_survey(SURVEY), title="Live")
        store.publish(live)

        def answer(number: int) -> None:
            store.store_reports([(live, [Report(f"{number:032x}", None, {"affair": 1, "religious": 2})])])

        answer(0)
        come = 0

        def moving(path: str) -> bytes:
            nonlocal come
            if path.endswith("estimates.json") and not come:
                come = 1
                answer(1)
            return http.get(path).data

        said = list(verify(moving, live.id))
        assert "release: results moved while this check ran, so it starts again" in said
        assert said[-1] == "all checks passed: Live, no signed release yet, 2 replies"
        assert "release: none is signed yet, because results are live: these numbers can still change" in said

    def test_of_a_release_that_is_taken_back_meanwhile(self, app: APIFlask, fetch: Fetch, survey: Survey) -> None:
        before = forged(app, fetch, survey, records_of(fetch, survey)[:1])
        taken = False

        def taking(path: str) -> bytes:
            nonlocal taken
            taken = taken or path.endswith("reports.csv")
            return before(path) if taken and path.endswith("/releases") else fetch(path) + b" " * taken

        assert refusal(taking, survey) == "log: had 2 releases when it was seen before, and now has 1"

    @pytest.mark.parametrize(
        "path",
        [
            "estimates.json",
            "estimates.json?by=cohort",
            "affair.json",
            "religious.json?by=cohort",
            "affair.json?compare=cohort",
        ],
    )
    def test_of_a_number(self, fetch: Fetch, survey: Survey, path: str) -> None:
        def other(document: bytes) -> bytes:
            read = json.loads(document)
            (read.get("rows") or read["estimates"])[-1]["conf_high"] += 0.001
            return json.dumps(read).encode()

        found = refusal(changed(fetch, path, other), survey)
        assert found.startswith("numbers: ")
        assert "conf_high" in found


class TestWitness:
    def test_notices_a_release_that_is_gone_replaced_or_added_to_a_fork(
        self, app: APIFlask, fetch: Fetch, survey: Survey
    ) -> None:
        kept = KeptHead.of(fetch_log(fetch, survey.id))
        first, last = records_of(fetch, survey)
        later = replace(last, number=3)
        replaced = replace(first, rows_sha256="0" * 64)
        for records, said in (
            ([first], "log: had 2 releases when it was seen before, and now has 1"),
            ([replaced, last], "it was forked"),
            ([replaced, last, later], "it was forked"),
        ):
            log = fetch_log(forged(app, fetch, survey, records), survey.id)
            with pytest.raises(NotVerified, match=said):
                check_extends(log, kept)
        check_extends(fetch_log(forged(app, fetch, survey, [first, last, later]), survey.id), kept)

    def test_notices_another_key(self, fetch: Fetch, survey: Survey) -> None:
        log = fetch_log(fetch, survey.id)
        with pytest.raises(NotVerified, match="another key"):
            check_extends(log, replace(KeptHead.of(log), key="00" * 32))

    def test_keeps_heads_in_a_file(
        self, fetch: Fetch, store: Store, survey: Survey, tmp_path: object, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(PublishedThere, "fetch", lambda _self, path: fetch(path))
        arguments = [f"http://127.0.0.1:1/s/{survey.id}/results", "--heads", f"{tmp_path}/heads.json"]
        first = CliRunner().invoke(witness, arguments)
        assert first.output == f"http://127.0.0.1:1/s/{survey.id}: 2 releases\n"
        release(store, survey, 220, "web", first=5000)
        assert CliRunner().invoke(witness, arguments).output.endswith(": 3 releases, 1 new\n")

    def test_looks_at_all_logs_when_one_is_refused(
        self, app: APIFlask, fetch: Fetch, survey: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = replace(read_survey(SURVEY), title="Another one")
        app.extensions["deniable"]["store"].publish(other)
        fork = forged(app, fetch, survey, records_of(fetch, survey)[:1])
        addresses = [f"http://127.0.0.1:1/s/{each}" for each in (survey.id, other.id)]
        arguments = [*addresses, "--heads", f"{tmp_path}/heads.json"]
        monkeypatch.setattr(PublishedThere, "fetch", lambda _self, path: fetch(path))
        assert CliRunner().invoke(witness, arguments).exit_code == 0
        kept = (tmp_path / "heads.json").read_bytes()
        monkeypatch.setattr(
            PublishedThere, "fetch", lambda _self, path: fork(path) if survey.id in path else fetch(path)
        )
        found = CliRunner().invoke(witness, arguments)
        assert f"{addresses[0]}: log: had 2 releases when it was seen before, and now has 1\n" in found.output
        assert f"{addresses[1]}: 0 releases, 0 new\n" in found.output
        assert isinstance(found.exception, NotVerified)
        assert (tmp_path / "heads.json").read_bytes() == kept


class TestReleases:
    def test_stay_at_their_address(self, http: FlaskClient, survey: Survey) -> None:
        page = http.get(f"/s/{survey.id}/results/affair?release=1").text
        assert "Replies counted: 200" in page
        assert "You see an earlier release." in page
        assert "Replies counted: 410" in http.get(f"/s/{survey.id}/results/affair").text
        assert http.get(f"/s/{survey.id}/results/affair.json?release=1").json["release"] == 1
        assert http.get(f"/s/{survey.id}/results?release=3").status_code == 404
        assert http.get(f"/s/{survey.id}/results/affair?release=1&with=religious").status_code == 422
        listed = http.get(f"/s/{survey.id}/releases").text
        assert "paper: 210" in listed
        assert "Release 2, 25 November 2026" in listed

    def test_are_recorded_once_and_are_rows_of_the_checksum(self, store: SqliteStore, survey: Survey) -> None:
        log = ReleaseLog(store)
        state = store.state(survey.id)
        assert [row.number for row in log.rows(state)] == [1, 2]
        assert log.rows(state) == log.rows(state)
        assert not store.add_release(survey, log.rows(state)[0])
        assert inspect(store.path).findings == ()
        store.db.execute("UPDATE releases SET record = replace(record, '200', '201') WHERE number = 1")
        assert inspect(store.path).findings == (
            f"survey {survey.id}: its rows are not those that were written; their checksum differs",
        )

    def test_of_live_results_come_when_the_survey_has_closed(self, http: FlaskClient, store: Store) -> None:
        live = read_survey(SURVEY)
        store.publish(live)
        store.store_reports([(live, [Report("0" * 32, None, {"affair": 1, "religious": 2})])])
        assert "Release" not in http.get(f"/s/{live.id}/results").text
        assert http.get(f"/api/v1/surveys/{live.id}/releases").json["releases"] == []
        store.close_survey(live.id)
        assert len(http.get(f"/api/v1/surveys/{live.id}/releases").json["releases"]) == 1

    def test_of_tallies_have_no_rows(self, fetch: Fetch, store: Store) -> None:
        tallied = replace(read_survey(SURVEY), results="batches", retention="tallies")
        store.publish(tallied)
        release(store, tallied, 200, "web")
        assert "rows: the survey keeps only tallies, so these cannot be recounted" in list(verify(fetch, tallied.id))

    def test_have_one_form(self, fetch: Fetch, survey: Survey) -> None:
        (record, _) = records_of(fetch, survey)
        assert ReleaseRecord.parse(record.encode()) == record
        assert isinstance(fetch_log(fetch, survey.id), Log)
        for bad in (b"{}", b"[]", record.encode() + b" ", record.encode().replace(b'"number":1', b'"number":"1"')):
            with pytest.raises(Exception, match=r"^release: must be"):
                ReleaseRecord.parse(bad)

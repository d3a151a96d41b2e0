"""Whose report is whose: everything that a collector keeps, and what it is sent, matched with invitations.

300 people are invited to a survey by invitation, and 300 to one by blind token. Devices answer in an order of their
own. A matcher then has what is left: of both surveys every file, byte for byte, while the collector runs, at rest and
in a backup, with a log of all levels; of the tokens all traffic too, with times and order. It pairs invitations with
reports by every feature that it knows.

The order of the devices is drawn at random and goes nowhere, so whatever a pairing is made of, as many of its pairs are
right as a random permutation leaves points in place: about Poisson(1), and ``k`` or more with probability at most
``1 / k!``. `MOST_RIGHT` or more in any of `PAIRINGS` come by chance with probability 1e-7. Where tails are light, the
sum of scores over true pairs is compared with its mean and variance over all permutations [1]_: `FURTHEST` standard
deviations in any of them come with probability 3e-8. What that finds is shown by leaks that are planted: `PLANTED`.

References
----------
.. [1] W. Hoeffding, "A combinatorial central limit theorem", Annals of Mathematical Statistics 22 (1951), 558-566.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import urllib3
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from deniable import Report, Survey
from deniable.access.blind_rsa import EXPONENT, PublicKey
from deniable.access.invitation import hash_of
from deniable.access.issuer import nonce_of
from deniable_client import Client
from deniable_client.collector_connection import CollectorConnection
from deniable_server.store.sqlite.backup import back_up
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.access import invited_survey, publish_to, unlinkable_survey
from tools.rig.collectors import Collector, free_port, wait_until_ready
from tools.rig.patience import PATIENCE
from tools.torture.storage_kill import end

PEOPLE = 300

PAIRINGS = 10_000
"""More are not tried."""

MOST_RIGHT = 14
"""Right pairs that no pairing may have."""

FURTHEST = 7.0
"""Standard deviations by which true pairs may score more or less than others."""

Floats = NDArray[np.float64]

ANSWERS = {"affair": "yes", "religious": "not"}


def linking(short: bool) -> str:
    """Try to pair invitations with reports by all that is left of 300 people, and by leaks that are planted."""
    dice = random.SystemRandom()
    said = []
    with tempfile.TemporaryDirectory() as folder:
        for access in ("invited", "unlinkable"):
            made = invited_survey if access == "invited" else unlinkable_survey
            survey = replace(made(results="batches"), opens=None, closes=None)
            evidence = lived(survey, Path(folder) / access, dice)
            said.append(f"by {access}: {examine(evidence)}")
            for name, plant in PLANTED.items():
                if name.startswith((access, "any")) and not (short and access == "invited"):
                    said.append(f"planted {name}: {noticed(plant(evidence))}")
    return "; ".join(said)


SCENARIOS: dict[str, Callable[[bool], str]] = {"linking": linking}


@dataclass(frozen=True)
class Evidence:
    """What a matcher has.

    Attributes
    ----------
    people : list of dict
        Texts of each invitation, by name, in the order of their hashes or, where traffic is seen, of tokens.
    reports : list of dict
        Texts of each report, by name, in the order of ids or, where traffic is seen, of arrival.
    truth : array of int
        Whose report is which: that of ``people[n]`` is ``reports[truth[n]]``.
    files : dict of str to bytes
    measured : tuple of two dicts
        Numbers of people and of reports: times, places in an order, sizes.
    key : PublicKey, optional
        What signed the tokens.
    """

    people: list[dict[str, bytes]]
    reports: list[dict[str, bytes]]
    truth: NDArray[np.int64]
    files: Mapping[str, bytes]
    measured: tuple[dict[str, list[float]], dict[str, list[float]]] = field(default_factory=lambda: ({}, {}))
    key: PublicKey | None = None


class Noted(CollectorConnection):
    """A connection that notes what a spying operator sees: when each request came, how long it took, and its bytes."""

    def __init__(self, collector: str) -> None:
        super().__init__(collector, retries=5, timeout=PATIENCE, size=1)
        self.seen: list[tuple[float, float, bytes, bytes]] = []

    def _request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        credential: str | None = None,
        is_quick: bool = False,
    ) -> urllib3.BaseHTTPResponse:
        start = time.monotonic()
        answer = super()._request(method, path, body, credential, is_quick)
        self.seen.append((start, time.monotonic() - start, body or b"", answer.data))
        return answer


def lived(survey: Survey, folder: Path, dice: random.Random) -> Evidence:
    """Let 300 people be invited, get tokens in one order and answer in another; what is left of it."""
    folder.mkdir()
    database = folder / "test.db"
    with closing(SqliteStore(database)) as store:
        invitations = publish_to(store, survey, PEOPLE)
    files: dict[str, bytes] = {}
    collector = start(database)
    try:
        client = Client(collector.url)
        wire = client._connection = Noted(collector.url)
        buying = client._signers[client.collector] = Noted(collector.url)
        dice.shuffle(invitations)
        credentials = {each: client.credential(survey, each) for each in invitations}
        files |= files_of(database, "when tokens were signed")
        spending = dice.sample(invitations, PEOPLE)
        sent: dict[str, Report] = {}
        assert not wire.seen, "a token was asked for over the connection of reports"
        for each in spending:
            sent[each] = client.randomize(survey, ANSWERS, credential=credentials[each])
            client.submit(survey, sent[each])
        files |= files_of(database, "when reports had come")
        back_up(database, folder / "backup.db")
        files["backup"] = (folder / "backup.db").read_bytes()
    finally:
        end(collector, signal.SIGTERM)
    files |= files_of(database, "when it had stopped")
    with closing(SqliteStore(database)) as store:
        assert store.state(survey.id).reports == PEOPLE
        store.close_survey(survey.id)
    files |= files_of(database, "when the survey had closed")
    files["log"] = collector.log.read_bytes()
    assert LOUD.encode() in files["log"], "the log was not at all levels"
    tell_nobody(files["log"], survey, sent)
    if survey.issuer is None:
        order, arrival = sorted(invitations, key=hash_of), sorted(spending, key=lambda each: sent[each].id)
    else:
        order, arrival = invitations, spending
    bought = [(0.0, 0.0, b"", b"")] * PEOPLE if survey.issuer is None else buying.seen
    return Evidence(
        [texts_of_person(each, body, answer) for each, (_, _, body, answer) in zip(order, bought, strict=True)],
        [texts_of_report(sent[each]) for each in arrival],
        np.array([arrival.index(each) for each in order]),
        files,
        ({}, {}) if survey.issuer is None else (measures(bought), measures(wire.seen)),
        survey.issuer.public if survey.issuer else None,
    )


def texts_of_person(invitation: str, request: bytes, answer: bytes) -> dict[str, bytes]:
    """What is of one invitation."""
    found = {"hash": bytes.fromhex(hash_of(invitation))}
    if request:
        found["invitation"] = bytes.fromhex(invitation)
        found["blinded"] = bytes.fromhex(json.loads(request)["blinded"])
        found["blind signature"] = bytes.fromhex(json.loads(answer)["signature"])
        found["hash of what was blinded"] = hashlib.sha256(found["blinded"]).digest()
    return found


def texts_of_report(report: Report) -> dict[str, bytes]:
    """What is of one report: where traffic is seen, the token as well."""
    found = {"id": bytes.fromhex(report.id), "values": bytes(json.dumps(dict(report.values)), "ascii")}
    if report.credential and len(report.credential) > 32:
        found["nonce"] = nonce_of(report.credential)
        found["signature"] = bytes.fromhex(report.credential)[-256:]
        found["message"] = bytes.fromhex(report.credential)[:-256]
    return found


def measures(seen: Sequence[tuple[float, float, bytes, bytes]]) -> dict[str, list[float]]:
    """When requests came, how long they took and how large they were."""
    return {
        "time": [start for start, _, _, _ in seen],
        "duration": [took for _, took, _, _ in seen],
        "size": [float(len(body)) for _, _, body, _ in seen],
    }


LOUD = "every level of every logger"

_AT_EVERY_LEVEL = f"""
import logging.config, sys
configure = logging.config.dictConfig
def loud(configuration):
    configure(configuration)
    root = logging.getLogger()
    root.addHandler(logging.StreamHandler(sys.stderr))
    for each in [root, *map(logging.getLogger, root.manager.loggerDict)]:
        each.setLevel(1)
        each.disabled = False
    root.debug({LOUD!r})
logging.config.dictConfig = loud
"""


def start(database: Path) -> Collector:
    """A collector that logs whatever anything in it would say."""
    (database.parent / "loud").mkdir()
    (database.parent / "loud" / "sitecustomize.py").write_text(_AT_EVERY_LEVEL)
    path = os.pathsep.join([str(database.parent / "loud"), *filter(None, [os.environ.get("PYTHONPATH")])])
    port, log = free_port(), database.with_name("log")
    command = [sys.executable, "-m", "deniable", "serve", "--db", str(database), "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--rate-limit", "off"], stdout=output, stderr=output, env=os.environ | {"PYTHONPATH": path}
        )
    collector = Collector(f"http://127.0.0.1:{port}", database, process, log)
    wait_until_ready(collector)
    return collector


def files_of(database: Path, when: str) -> dict[str, bytes]:
    """The files of a database, read by another process: reading here would give up the locks of this one."""
    script = "import sys; sys.stdout.buffer.write(open(sys.argv[1], 'rb').read())"
    found = {}
    for path in sorted(database.parent.glob(f"{database.name}*")):
        done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, check=True)
        found[f"{path.name} {when}"] = done.stdout
    return found


def tell_nobody(log: bytes, survey: Survey, sent: Mapping[str, Report]) -> None:
    """A log holds nothing of an invitation, a token or a report."""
    for invitation, report in sent.items():
        for secret in (invitation, hash_of(invitation), report.id, report.credential or invitation):
            for start in range(0, len(secret) - 15, 16):
                assert secret[start : start + 16].encode() not in log, (
                    f"the log of survey {survey.id} tells of a person"
                )


def examine(evidence: Evidence) -> str:
    """Pair by every feature; an AssertionError that names the one by which more pairs are right than by chance."""
    most, furthest, tried = (0, ""), (0.0, ""), 0
    truth = evidence.truth
    for (ours, left), (theirs, right) in itertools.product(orders(evidence, 0).items(), orders(evidence, 1).items()):
        for sign, what in ((1, ""), (-1, " the other way")):
            most = max(most, (pairs_in_order(left, sign * right, truth), f"{ours} and {theirs}{what}"))
        off = abs(float(left @ right[truth])) / max(float(np.linalg.norm(left)) * float(np.linalg.norm(right)), 1e-9)
        furthest = max(furthest, (off * (len(truth) - 1) ** 0.5, f"order of {ours} and {theirs}"))
        tried += 2
    for name, matrix, is_light in scores(evidence):
        for sign, what in ((1, name), (-1, f"{name}, the other way")):
            most, tried = max(most, (pairs_right(sign * matrix, truth), what)), tried + 1
        if is_light:
            furthest = max(furthest, (abs(deviation(matrix, truth)), name))
    assert tried <= PAIRINGS, "more than the failure probability is stated for"
    assert most[0] < MOST_RIGHT, f"{most[0]} of {len(evidence.truth)} people are known by {most[1]}"
    assert furthest[0] < FURTHEST, f"true pairs stand out by {furthest[0]:.1f} standard deviations in {furthest[1]}"
    return (
        f"{tried} pairings of {len(evidence.truth)}, at most {most[0]} right ({most[1]}), {furthest[0]:.1f} sd at most"
    )


def noticed(evidence: Evidence) -> str:
    """What `examine` says of a leak that was planted; an AssertionError if nothing."""
    try:
        examine(evidence)
    except AssertionError as error:
        return str(error)
    raise AssertionError("was not noticed")


def pairs_right(matrix: Floats, truth: NDArray[np.int64]) -> int:
    """How many pairs are right where the sum of scores is largest; equal scores are paired at random."""
    noise = np.random.default_rng(len(truth)).random(matrix.shape) * 1e-9 * (np.ptp(matrix) or 1.0)
    _, paired = linear_sum_assignment(matrix + noise, maximize=True)
    return int((paired == truth).sum())


def pairs_in_order(left: Floats, right: Floats, truth: NDArray[np.int64]) -> int:
    """How many pairs are right where the first is paired with the first, and so on; equal ones in no order."""
    generator = np.random.default_rng(len(truth))
    one, other = (np.lexsort((generator.random(len(each)), each)) for each in (left, right))
    return int((truth[one] == other).sum())


def deviation(matrix: Floats, truth: NDArray[np.int64]) -> float:
    """By how many standard deviations the sum of true pairs is off its mean over all permutations."""
    n = len(truth)
    centred = matrix - matrix.mean(0) - matrix.mean(1, keepdims=True) + matrix.mean()
    variance = float((centred**2).sum()) / (n - 1)
    return float(centred[np.arange(n), truth].sum()) / variance**0.5 if variance > 1e-18 else 0.0


def scores(evidence: Evidence) -> Iterator[tuple[str, Floats, bool]]:
    """Features that are no order: a name, how well each report fits each person, and whether tails are light."""
    people, reports = (numbers(evidence, each) for each in (0, 1))
    for (ours, left), (theirs, right) in itertools.product(people.items(), reports.items()):
        if (place := ours.removeprefix("hash in ")) == theirs.removeprefix("id in ") and place != ours:
            yield f"distance in {place}", -np.log1p(np.abs(left[:, None] - right)), False
    for ours, theirs in itertools.product(evidence.people[0], evidence.reports[0]):
        mine = [each[ours] for each in evidence.people]
        yours = [each[theirs] for each in evidence.reports]
        yield f"bits alike in {ours} and {theirs}", bits_alike(mine, yours), True
        yield f"bytes in common of {ours} and {theirs}", in_common(mine, yours), False
    if evidence.key and "signature" in evidence.reports[0]:
        yield from algebra(evidence, evidence.key)


def orders(evidence: Evidence, side: int) -> dict[str, Floats]:
    """Different orders of one side, as ranks around 0."""
    found: dict[bytes, tuple[str, Floats]] = {}
    for name, values in numbers(evidence, side).items():
        ranks = centred_ranks(values)
        if ranks.any():
            found.setdefault(ranks.tobytes(), (name, ranks))
    return dict(found.values())


def numbers(evidence: Evidence, side: int) -> dict[str, Floats]:
    """Everything of one side that has an order: texts as numbers, what was measured, and places in files."""
    things = (evidence.people, evidence.reports)[side]
    found = {"coming": np.arange(len(things), dtype=float)} if evidence.measured[side] else {}
    found |= {name: np.array(each) for name, each in evidence.measured[side].items()}
    for name in things[0]:
        found[name] = np.array([float(int.from_bytes(each[name][:6])) for each in things])
        found[f"end of {name}"] = np.array([float(int.from_bytes(each[name][-6:])) for each in things])
    key = ("hash", "id")[side]
    for file, content in evidence.files.items():
        places = [content.find(text) for each in things for text in [each[key].hex().encode()]]
        if max(places) < 0:
            places = [content.find(each[key]) for each in things]
        if max(places) >= 0:
            found[f"{key} in {file}"] = np.array(places, dtype=float)
            last = [max(content.rfind(each[key].hex().encode()), content.rfind(each[key])) for each in things]
            if last != places:
                found[f"last {key} in {file}"] = np.array(last, dtype=float)
            found[f"{key} on pages of {file}"] = np.array([each % 4096 for each in places], dtype=float)
    return found


def centred_ranks(values: Floats) -> Floats:
    """Ranks around 0; equal values have the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts + 1) / 2
    return np.asarray(ranks[inverse] - ranks[inverse].mean())


def bits_alike(left: Sequence[bytes], right: Sequence[bytes]) -> Floats:
    """How many bits of the first bytes are the same."""
    size = min(map(len, [*left, *right]))
    bits = [np.unpackbits(np.array([list(each[:size]) for each in side], np.uint8), axis=1) for side in (left, right)]
    signs = [2.0 * each - 1.0 for each in bits]
    return np.asarray(signs[0] @ signs[1].T)


def in_common(left: Sequence[bytes], right: Sequence[bytes], size: int = 3) -> Floats:
    """How many runs of 3 bytes stand in both, anywhere; in hexadecimal or not."""
    runs = [[{each[at : at + size] for at in range(len(each) - size + 1)} for each in side] for side in (left, right)]
    return np.array([[float(len(one & other)) for other in runs[1]] for one in runs[0]])


def algebra(evidence: Evidence, key: PublicKey) -> Iterator[tuple[str, Floats, bool]]:
    """The factor that would have blinded each report's token into each person's message: small ones, and frequent ones.

    There is one for each pair. Only a device that draws them badly gives itself away by what they are.
    """
    n = key.modulus
    inverses = [pow(int.from_bytes(each["signature"]), -1, n) for each in evidence.reports]
    signed = [int.from_bytes(each["blind signature"]) for each in evidence.people]
    factors = [[one * other % n for other in inverses] for one in signed]
    often: dict[int, int] = {}
    for factor in itertools.chain.from_iterable(factors):
        often[factor] = often.get(factor, 0) + 1
    length = [[float(min(each.bit_length(), (n - each).bit_length())) for each in row] for row in factors]
    yield "size of the blinding factor", -np.array(length), False
    yield "repeated blinding factor", np.array([[float(often[each]) for each in row] for row in factors]), False
    symbols = [
        np.array([float(jacobi(each, n)) for each in side])
        for side in (
            [int.from_bytes(each["blinded"]) for each in evidence.people],
            [pow(int.from_bytes(each["signature"]), EXPONENT, n) for each in evidence.reports],
        )
    ]
    yield "Jacobi symbols", np.outer(*symbols), True


def jacobi(a: int, n: int) -> int:
    """The Jacobi symbol of a number modulo an odd one."""
    sign, a = 1, a % n
    while a:
        twos = (a & -a).bit_length() - 1
        a >>= twos
        if twos % 2 and n % 8 in (3, 5):
            sign = -sign
        if a % 4 == n % 4 == 3:
            sign = -sign
        a, n = n % a, a
    return sign if n == 1 else 0


def rows_as_they_came(evidence: Evidence) -> Evidence:
    """A database whose tables have their rows in the order in which reports came."""
    arrival = np.random.default_rng(1).permutation(len(evidence.truth))
    hashes = [evidence.people[each]["hash"].hex() for each in arrival]
    ids = [evidence.reports[evidence.truth[each]]["id"].hex() for each in arrival]
    return with_tables(evidence, used=hashes, reports=ids)


def nearly_as_they_came(evidence: Evidence) -> Evidence:
    """The rows as they came, but shuffled among fifty neighbours on both sides."""
    generator = np.random.default_rng(2)
    arrival = generator.permutation(len(evidence.truth))
    blocks = [
        np.concatenate([generator.permutation(arrival[at : at + 50]) for at in range(0, len(arrival), 50)])
        for _ in range(2)
    ]
    hashes = [evidence.people[each]["hash"].hex() for each in blocks[0]]
    return with_tables(
        evidence, used=hashes, reports=[evidence.reports[evidence.truth[each]]["id"].hex() for each in blocks[1]]
    )


def hash_beside_the_row(evidence: Evidence) -> Evidence:
    """A table of reports, in the order of ids, that also holds the hash of the invitation."""
    pairs = [
        evidence.reports[there]["id"].hex() + evidence.people[here]["hash"].hex()
        for here, there in enumerate(evidence.truth)
    ]
    return with_tables(evidence, reports=sorted(pairs))


def with_tables(evidence: Evidence, **tables: Sequence[str]) -> Evidence:
    """The evidence, with a database that has these tables."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "planted.db"
        with closing(sqlite3.connect(path)) as db, db:
            for table, rows in tables.items():
                db.execute(f"CREATE TABLE {table} (content TEXT)")
                db.executemany(f"INSERT INTO {table} VALUES (?)", [[each] for each in rows])
        return replace(evidence, files={"planted": path.read_bytes()})


def changed(evidence: Evidence, name: str, make: Callable[[dict[str, bytes], dict[str, bytes]], bytes]) -> Evidence:
    """The evidence, with another text of each report, made of it and of the person."""
    reports = [dict(each) for each in evidence.reports]
    for here, there in enumerate(evidence.truth):
        reports[there][name] = make(evidence.people[here], reports[there])
    return replace(evidence, reports=reports, files={})


def signed_with_factor(evidence: Evidence, draw: Callable[[], int]) -> Evidence:
    """Tokens whose devices drew their factors so."""
    assert evidence.key
    n = evidence.key.modulus

    def make(person: dict[str, bytes], _report: dict[str, bytes]) -> bytes:
        return (int.from_bytes(person["blind signature"]) * pow(draw(), -1, n) % n).to_bytes(256)

    return changed(evidence, "signature", make)


def in_order(evidence: Evidence) -> Evidence:
    """Reports that come in the order of their tokens, as where each device answers at once."""
    reports = [evidence.reports[each] for each in evidence.truth]
    return replace(evidence, reports=reports, truth=np.arange(len(reports)), files={})


ONE_FACTOR = random.Random(7).getrandbits(2047) | 1

PLANTED: dict[str, Callable[[Evidence], Evidence]] = {
    "any: rows as they came": rows_as_they_came,
    "any: rows nearly as they came": nearly_as_they_came,
    "any: hash beside the row": hash_beside_the_row,
    "any: an id with one byte of the hash": lambda evidence: changed(
        evidence, "id", lambda person, report: person["hash"][:1] + report["id"][1:]
    ),
    "unlinkable: a nonce with four bytes of the hash, elsewhere": lambda evidence: changed(
        evidence, "nonce", lambda person, report: report["nonce"][:9] + person["hash"][20:24] + report["nonce"][13:]
    ),
    "unlinkable: factors of 512 bits": lambda evidence: signed_with_factor(
        evidence, lambda: random.getrandbits(512) | 1
    ),
    "unlinkable: one factor for all": lambda evidence: signed_with_factor(evidence, lambda: ONE_FACTOR),
    "unlinkable: spent as they were bought": in_order,
}
"""Leaks, each of which `examine` must notice."""

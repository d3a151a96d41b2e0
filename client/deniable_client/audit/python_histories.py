"""Histories in the installed Python client, as a process that is seen from the kernel."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deniable.errors import DeniableError
from deniable_client.audit.blackbox import installed_people
from deniable_client.audit.blackbox.person import enter_requests, normal
from deniable_client.audit.blackbox.stand_in import RecordingRelay
from deniable_client.audit.blackbox.system import System, Watched
from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.browsing import BUSY
from deniable_client.audit.histories import Load, Session
from deniable_client.audit.judge import expect_reports, shortened
from deniable_client.audit.reference.published import PublishedSurvey, labels

_FOLDER = re.compile(r"/[^ ]*deniable-audit-[a-z0-9_]+/(\d+)")
_TEMPORARY = re.compile(r"/\.new-[a-z0-9_]{8}")
"""A file that becomes the memory once it is whole; Python draws its name."""


_SHARED = "/dev/shm"  # noqa: S108  # a folder of its own is made there, under a name that is drawn
ROOM = 64 * 1024 * 1024
"""Bytes that the devices of two processes fit into many times."""


class Unfinished(DeniableError):
    """The client failed at what people did."""


@dataclass
class _Run:
    """The sessions of one process, and what was seen so far."""

    sessions: Sequence[Session]
    relay: RecordingRelay
    traces: list[Trace]
    pools: list[list[_Pool]]
    folder: Path
    at: tuple[int, int] | None = None
    done: bool = False

    def feed(self, size: int) -> bytes | None:
        """The chance of the load that runs now."""
        if self.at is None or self.at[1] < 0:
            return None
        return self.pools[self.at[0]][self.at[1]].take(size)

    def mark(self, name: str, watched: Watched) -> None:
        """A step begins, and the one before has ended."""
        if self.at is not None:
            self._enter(self.at[0], watched)
        if name == "done":
            self.done, self.at = True, None
            return
        number, step, load, failures = name.split("/")
        if step == "0":
            self.relay.take()
        self.at = (int(number), int(load))
        self.relay.faults.clear()
        self.relay.issuing.clear()
        if failures.isdecimal():
            self.relay.faults.extend([BUSY] * int(failures))
        else:
            self.relay.issuing.append(failures)
        if step == "end":
            self._finish(int(number))

    def _enter(self, number: int, watched: Watched) -> None:
        trace = self.traces[number]
        step = sum(name.startswith("order of operations") for name in trace.exact) + 1
        operations = [_plain(each, self.relay) for each in watched.operations]
        for operation, count in Counter(operations).items():
            trace.put(f"step {step}, {operation}", count)
        trace.put(f"order of operations of step {step}", operations)
        sent = sum(each.start.startswith("POST") for each in self.relay.sent)
        trace.put(f"reports after step {step}", sent)
        for place, (before, seconds) in enumerate(itertools.pairwise([watched.began, *watched.sent])):
            trace.loose[f"step {step}, ms of CPU before packet {place + 1}"] = 1000 * (seconds - before)

    def _finish(self, number: int) -> None:
        trace = self.traces[number]
        # One process that does one thing after the other asks over the same connections in the same order every time.
        enter_requests(trace, self.relay.take(), self.relay, is_fixed=True)
        for each in self.pools[number]:
            trace.chance.append(each.taken)
        folder = self.folder / f"{number:04}"
        for path in sorted(folder.rglob("*")):
            trace.put(f"file {path.name}", _content(path, self.relay) if path.is_file() else "folder")
        trace.put("memory", normal(_dump(folder / "memory.db"), self.relay))
        # No row shows what a database deleted, and its file may hold it all the same.
        trace.put("left of requests for tokens", _left(self.sessions[number], folder))


@dataclass
class _Pool:
    """The chance of one load."""

    words: list[int]
    pieces: dict[int, list[str]]
    """By length: what other calls get, in hexadecimal."""
    taken: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, load: Load) -> _Pool:
        pieces: dict[int, list[str]] = {}
        for each in (*load.ids, *load.pieces):
            pieces.setdefault(len(each) // 2, []).append(each)
        return cls(list(load.words), pieces)

    def take(self, size: int) -> bytes | None:
        self.taken.append(str(size))
        if size == 4 and self.words:
            return self.words.pop(0).to_bytes(4, "little")
        if self.pieces.get(size):
            return bytes.fromhex(self.pieces[size].pop(0))
        return bytes(range(size % 256)) if size < 256 else None


def run_people(
    sessions: Sequence[Session],
    surveys: Sequence[PublishedSurvey],
    relay: RecordingRelay,
    stranger: Session,
    command: Sequence[str] = (sys.executable,),
    environment: Mapping[str, str] | None = None,
) -> list[Trace]:
    """Sessions in one process of the Python client, and all that was seen of each."""
    with tempfile.TemporaryDirectory(prefix="deniable-audit-", dir=_in_memory()) as name:
        folder = Path(name)
        job = {"collector": relay.url, "warm": surveys[0].id, "people": []}
        # What a process loads once, with the first person, is nobody's. That person is of another block, so that values
        # which a client carries from one person to the next are not what the next one must send.
        sessions = [stranger, *sessions]
        for number, session in enumerate(sessions):
            own = folder / f"{number:04}"
            own.mkdir()
            job["people"].append({"folder": str(own), "steps": _steps(session, surveys)})  # type: ignore[attr-defined]
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        pools = [[_Pool.of(load) for load in session.loads] for session in sessions]
        run = _Run(sessions, relay, [Trace() for _ in sessions], pools, folder)
        # -P: nothing of the folder in which the audit runs is imported.
        words = [*command, "-P", str(installed_people.__file__), str(folder / "job.json")]
        status = System(run.feed, run.mark).run(words, {**(environment or os.environ)})
        if status or not run.done:
            raise Unfinished(f"python: a run of the client must end with status 0, got {status}")
        return run.traces[1:]


def _in_memory() -> str | None:
    """A folder whose files are in memory, if there is one with room: a disk takes as long for a file as it likes."""
    try:
        room = os.statvfs(_SHARED)
    except OSError:
        return None
    return _SHARED if room.f_bavail * room.f_frsize >= ROOM and os.access(_SHARED, os.W_OK) else None


def _steps(session: Session, surveys: Sequence[PublishedSurvey]) -> list[dict[str, Any]]:
    """A history as the process gets it."""
    steps: list[dict[str, Any]] = []
    load = 0
    for number, visit in enumerate(session.visits):
        survey = surveys[visit.survey]
        common = {"survey": survey.id, "cohort": None, "invitation": session.invitation}

        def step(act: str, at: int, failures: int | str = 0, retries: int = 5, given: int = number) -> dict[str, Any]:
            answers = in_words(survey, session.answers[given])  # noqa: B023  # used within this turn
            return {**common, "act": act, "load": at, "failures": failures, "retries": retries, "answers": answers}  # noqa: B023

        if visit.kind == "again":
            steps.append(step("again", load))
            load += 1
            continue
        if visit.issuing:
            steps += [step("open", load), step("answer", load, failures=visit.issuing)]
            load += 1
        steps.append(step("open", load, retries=0 if visit.is_cut else 5))
        if visit.reload:
            load += 1
            steps.append(step("open", load))
        own = load
        if visit.kind == "tabs":
            load += 1
            steps.append(step("open", load))
        steps.append(step("answer", own, failures=1 if visit.is_cut else visit.failures))
        if visit.kind == "tabs":
            steps.append(step("answer", load, given=-1))
        load += 1
    return steps


def in_words(survey: PublishedSurvey, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Answers as a person gives them."""
    given: dict[str, Any] = {}
    for each in survey.questions:
        options, answer = labels(each), answers[each["id"]]
        given[each["id"]] = (
            [options[box] for box in answer] if isinstance(answer, list) else options[answer] if options else answer
        )
    return given


def _plain(operation: str, relay: RecordingRelay) -> str:
    return str(normal(_TEMPORARY.sub("/.new", _FOLDER.sub("/DEVICE", operation)), relay))


def _content(path: Path, relay: RecordingRelay) -> str:
    """The hash of what a file holds, whatever an SQLite database shows of it, with its length."""
    content = path.read_bytes()
    plain: str = normal(content.decode("latin-1"), relay)
    return f"{len(content)} bytes, {hashlib.sha256(plain.encode()).hexdigest()}"


def _left(session: Session, folder: Path) -> list[str]:
    """Files that still hold what would join a token with its request, as bytes or in hexadecimal."""
    secrets = [each for token in session.tokens.values() for each in token.secrets]
    return sorted(
        path.name
        for path in folder.rglob("*")
        if path.is_file()
        and any(each in (content := path.read_bytes()) or each.hex().encode() in content.lower() for each in secrets)
    )


def _dump(path: Path) -> list[str]:
    """What an SQLite file holds, as text."""
    if not path.exists():
        return []
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return sorted(db.iterdump())
    finally:
        db.close()


def expect_of_python(session: Session, trace: Trace) -> Iterable[tuple[str, str]]:
    """What the Python client must send, take of chance and keep."""
    yield from expect_reports(session, trace)
    for load, calls in zip(session.loads, trace.chance, strict=True):
        wanted = [str(len(each) // 2) for each in (*load.ids, *load.pieces)] + ["4"] * len(load.words)
        if sorted(calls) != sorted(wanted):
            yield (
                "chance taken from the system",
                f"Calls of {dict(Counter(calls))} bytes instead of {dict(Counter(wanted))}",
            )
    # Before a second try it waits for nothing, and before each further one it does.
    waits = sum(max(visit.failures - 1, 0) for visit in session.visits)
    for name in trace.exact:
        operation = name.partition(", ")[2] if _STEP.match(name) else ""
        if operation == "clock_nanosleep" and (waits := waits - int(trace.exact[name])) >= 0:
            continue
        if operation and not _NEEDED.fullmatch(operation):
            yield "operation that a client has no need of", shortened(operation)
    yield from _kept(session, trace.exact.get("memory", ""))
    if (left := trace.exact.get("left of requests for tokens", "[]")) != "[]":
        yield "left of requests for tokens", f"After the report they are still in {', '.join(json.loads(left))}"


_STEP = re.compile(r"step \d+, ")

_NEEDED = re.compile(
    r"""open\ (?!/DEVICE)\S+\ 0(\ in\ vain)?            # files of the system are read
    | open\ /DEVICE\S*\ \d+(\ in\ vain)?
    | (mkdir|link|unlink|fchown|fchmod|ftruncate|fsync|fdatasync)\ /DEVICE\S*
    | (write|pwrite64)\ /DEVICE\S*\ \d+
    | socket | connect\ COLLECTOR | sendto\ a\ socket\ \d+ | shutdown
    | setsockopt\ 6\ 1\ 01000000                     # TCP_NODELAY: what is written is sent at once
    """,
    re.VERBOSE,
)
"""What the Python client does: it keeps a memory in its folder, and asks the collector.

It waits for nothing else, runs nothing else, and says nothing by files or connections but by what they hold.
"""

_STATES = {True: "sent", False: "waiting"}


def _kept(session: Session, memory: str) -> Iterable[tuple[str, str]]:
    """Whether the file of the memory holds what the device rules say, table by table."""
    device = session.device
    rows = {
        "noisy": [f"'{key}',{repr(value) if isinstance(value, str) else value}" for key, value in device.noisy.items()],
        "told": [f"'http://COLLECTOR','{key}','DAY',{cost}" for (_, key), (_, cost) in device.told.items()],
        "reports": [f"'{survey}',X'{report.hex().upper()}'" for survey, report in device.reports.items()],
        "recipients": [
            f"'{survey}','{collector.replace(session.collector, 'http://COLLECTOR')}','{_STATES[has_it]}'"
            for survey, to in device.to.items()
            for collector, has_it in to.items()
        ],
        "tokens": [],  # each is in a report by now
    }
    found: list[str] = json.loads(memory or "[]")
    for table, wanted in rows.items():
        start = f'INSERT INTO "{table}" VALUES('
        kept = sorted(line.removeprefix(start).removesuffix(");") for line in found if line.startswith(start))
        if kept != sorted(wanted):
            yield f"memory, {table}", f"It holds {str(kept)[:160]} instead of {str(sorted(wanted))[:160]}"

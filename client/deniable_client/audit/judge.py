"""What sessions show: departures from what must be sent, kept and shown, and anything that depends on an answer.

Exact observables need no statistics: all sessions of a block must be alike, because their chance makes the same noisy
values of whatever is answered, and the reference says what these are. Loose ones (times, order, connections) are
compared between answers, all of them together at one family-wise error rate; rare differences are lived again.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deniable_client.audit.again import Returned, SecondLook
from deniable_client.audit.blackbox.trace import Posted, Trace
from deniable_client.audit.contrast import Contrasts, Pair, compare, contrasts_of
from deniable_client.audit.evidence import CellCounts
from deniable_client.audit.histories import DIFFERING, Session
from deniable_client.audit.reference.tokens import question_about, right_of

Expect = Callable[[Session, Trace], Iterable[tuple[str, str]]]
"""Says of a session where it departs from what its client must do: an observable, and what came."""

LONGEST = 160
"""How much of an observable is shown, in characters."""


@dataclass(frozen=True)
class Suspect:
    """An observable that is not as it must be, with the evidence.

    Attributes
    ----------
    observable : str
    sessions : int
        How many sessions of ``of`` showed it.
    of : int
    example : str
    about : str or None
        The question whose answers go with it best; None where none does.
    is_loose : bool
        Whether it varies by itself.
    """

    observable: str
    sessions: int
    of: int
    example: str
    about: str | None = None
    is_loose: bool = False

    def __str__(self) -> str:
        about = f"; it goes with the answer to {self.about}" if self.about else ""
        return f"{self.observable}: in {self.sessions:,} of {self.of:,} sessions{about}. {self.example}"


@dataclass
class Bench:
    """Sessions and traces as they come, and what is to be said of all of them."""

    expect: Expect
    blocks: list[list[tuple[Session, Trace]]] = field(default_factory=list)
    again: SecondLook = field(default_factory=SecondLook)

    @property
    def sessions(self) -> int:
        """How many there were."""
        return sum(map(len, self.blocks))

    @property
    def has_finished(self) -> bool:
        """Whether anybody came to the end."""
        return any("session" not in trace.exact for block in self.blocks for _, trace in block)

    def suspects(self, failure: float) -> list[Suspect]:
        """Everything that departs, the most frequent first."""
        found: dict[str, list[tuple[Session, str]]] = defaultdict(list)
        usual = _usual(self.blocks)
        for block in self.blocks:
            for session, trace in block:
                for observable, came in self.expect(session, trace):
                    found[observable].append((session, came))
            for observable, session, came in _unlike(block, usual):
                found[observable].append((session, came))
        for observable, session, came in (*_heads(self.blocks), *_repeated(self.blocks)):
            found[observable].append((session, came))
        exact = [self._suspect(observable, cases) for observable, cases in found.items()]
        returned = [self._returned(each) for each in self.again.returned]
        return sorted(exact, key=lambda each: -each.sessions) + self._loose(failure) + returned

    def _suspect(self, observable: str, cases: list[tuple[Session, str]]) -> Suspect:
        showing = {id(session) for session, _ in cases}
        return Suspect(observable, len(showing), self.sessions, cases[0][1], self._about(showing))

    def _about(self, showing: set[int]) -> str | None:
        """The question whose answers and the sessions that show something are least likely to be unrelated."""
        everybody = [session for block in self.blocks for session, _ in block]
        # A question is named where its answers go with it at exp(-3), 5 %, or less; it is a hint for whoever searches.
        best, about = -3.0, None
        for name in sorted({name for session in everybody for name in session.answers[0]}):
            table: dict[str, list[int]] = defaultdict(lambda: [0, 0])
            for session in everybody:
                table[json.dumps(session.answers[0].get(name))][id(session) in showing] += 1
            log_p = float(CellCounts.of_table(np.array(list(table.values()))).log_p().min())
            if log_p < best:
                best, about = log_p, name
        return about

    def contrasts(self, failure: float) -> Contrasts:
        """What varies by itself, between the answers at the first visit."""
        return compare(contrasts_of(self.as_pairs), failure)

    @property
    def as_pairs(self) -> list[Pair]:
        """Answers and what varies by itself, two by two."""
        return [_as_pair(*each) for each in self.pairs]

    @property
    def pairs(self) -> list[tuple[tuple[Session, Trace], tuple[Session, Trace]]]:
        """Sessions two by two, each of one block; who came first was drawn."""
        return [pair for block in self.blocks for pair in zip(block[::2], block[1::2], strict=False)]

    def _loose(self, failure: float) -> list[Suspect]:
        """Loose observables of which some value goes with an answer."""
        return [
            Suspect(
                each.contrast.feature,
                each.beyond,
                len(each.contrast.differences),
                str(each),
                each.contrast.question,
                is_loose=True,
            )
            for each in self.contrasts(failure).differences
        ]

    def _returned(self, found: Returned) -> Suspect:
        """A rare difference that came back, and the answers of the two people."""
        one, other = (session.answers[0] for session in found.pair)
        differing = ", ".join(name for name in one if one[name] != other.get(name))
        example = (
            f"Lived again in random order, somebody had {found.medians[0]:.3g} and another one, who differs in the "
            f"answers to {differing} alone, {found.medians[1]:.3g} (medians; p = {found.p:.1g})"
        )
        return Suspect(found.feature, 1, self.sessions, example, is_loose=True)


def _as_pair(one: tuple[Session, Trace], other: tuple[Session, Trace]) -> Pair:
    return Pair((one[0].answers[0], other[0].answers[0]), (one[1].loose, other[1].loose))


Popular = dict[tuple[str, str], Counter[str | None]]
"""By history and observable how often each value came."""


def _usual(blocks: Sequence[Sequence[tuple[Session, Trace]]]) -> Popular:
    """How often values came in all blocks, of observables that differ within some block."""
    unlike = {
        (block[0][0].history, name)
        for block in blocks
        for name in {name for _, trace in block for name in trace.exact}
        if len({trace.exact.get(name) for _, trace in block}) > 1
    }
    found: Popular = {each: Counter() for each in unlike}
    for session, trace in (each for block in blocks for each in block):
        for history, name in unlike:
            if history == session.history:
                found[history, name][trace.exact.get(name)] += 1
    return found


def _unlike(block: Sequence[tuple[Session, Trace]], popular: Popular) -> Iterable[tuple[str, Session, str]]:
    """Sessions that differ from the others of their block in an observable."""
    for name in sorted({name for _, trace in block for name in trace.exact}):
        values = Counter(trace.exact.get(name) for _, trace in block)
        if len(values) == 1:
            continue
        # What most people show is taken for right, in the block and then in all, because the reference does not say
        # what every observable must be.
        in_all = popular[block[0][0].history, name]
        usual = max(values, key=lambda value: (values[value], in_all[value]))
        for session, trace in block:
            came = trace.exact.get(name)
            if came != usual:
                yield name, session, difference(usual, came)


def _heads(blocks: Sequence[Sequence[tuple[Session, Trace]]]) -> Iterable[tuple[str, Session, str]]:
    """Heads of requests that differ from those of most people with the same history, whatever these send."""
    heads: dict[tuple[str, str], list[tuple[Session, str]]] = defaultdict(list)
    for block in blocks:
        for session, trace in block:
            for name, value in trace.exact.items():
                if name.endswith(", head"):
                    heads[session.history, name].append((session, _OWN.sub("*", value)))
    for (_, name), cases in heads.items():
        ((usual, _),) = Counter(value for _, value in cases).most_common(1)
        yield from ((name, session, difference(usual, value)) for session, value in cases if value != usual)


_OWN = re.compile(r'[0-9a-f]{32,}|(?<=token=")[^"]+|(?<=[Cc]ontent-[Ll]ength: )[0-9]+')
"""What a head says of an invitation or a token and of the length of a report, which the body says too."""


def _repeated(blocks: Sequence[Sequence[tuple[Session, Trace]]]) -> Iterable[tuple[str, Session, str]]:
    """Sealed reports whose hiding chance came before, in another session or for another text."""
    known: dict[str, tuple[int, bytes]] = {}
    for session, trace in (each for block in blocks for each in block):
        for each in trace.posted:
            # One sealed text is sent again while the network fails.
            if each.ephemeral and known.setdefault(each.ephemeral, (id(session), each.body)) != (
                id(session),
                each.body,
            ):
                yield "sealed report", session, "It is hidden by a key pair that was used before"


def difference(usual: str | None, came: str | None) -> str:
    """Where two texts differ, in words."""
    if usual is None or came is None:
        return f"It was {'not ' if came is None else ''}there: {shortened(came or usual or '')}"
    place = next((n for n, (a, b) in enumerate(zip(usual, came, strict=False)) if a != b), min(len(usual), len(came)))
    start = max(place - 20, 0)
    return f"{shortened(came[start:])} instead of {shortened(usual[start:])}"


def shortened(text: str) -> str:
    cut = text[:LONGEST]
    return repr(cut) + ("..." if len(text) > LONGEST else "")


def expect_of_browser(session: Session, trace: Trace) -> Iterable[tuple[str, str]]:
    """What a browser must send, take of chance and keep."""
    if "session" in trace.exact:
        yield "session", trace.exact["session"]
        return
    yield from expect_reports(session, trace)
    yield from expect_chance(session, trace)
    yield from expect_calls(trace, _NEEDED)
    yield from expect_kept(session, trace)


def expect_chance(session: Session, trace: Trace) -> Iterable[tuple[str, str]]:
    """What a browser must take of chance, document by document."""
    wanted = [
        [
            *["Uint8Array:8"] * load.is_asked,
            *(f"Uint8Array:{len(each) // 2}" for each in (*load.ids, *load.pieces)),
            *["Uint32Array:4"] * len(load.words),
            *["generateKey"] * load.seals,
        ]
        for load in session.loads
    ]
    # The order within a load may vary with the browser; how much chance is taken may not.
    if sorted(map(sorted, trace.chance)) != sorted(map(sorted, wanted)):
        yield "chance taken from the system", f"{_calls(trace.chance)} instead of {_calls(wanted)}"


def expect_calls(trace: Trace, needed: re.Pattern[str]) -> Iterable[tuple[str, str]]:
    """Whether a page calls only what it needs."""
    for name in trace.exact:
        call = name.partition(", calls, ")[2]
        if call and not needed.fullmatch(call):
            yield "call that a page has no need of", shortened(call)


_NEEDED = re.compile(
    r"setTimeout a function( \d+(\.\d+)?)?|requestAnimationFrame a function|AbortSignal\.timeout (5000|30000)"
    r'|History\.prototype\.(pushState|replaceState) (null|\{"deniable":"WALK","at":(\d+|null),"n":(-?\d+|null)\}) ""'
    r"|StorageManager\.prototype\.persist|Date(\.now)?|IDBObjectStore\.prototype\.put an object 0"
    r"|Storage\.setItem deniable |CustomElementRegistry\.prototype\.define deniable-survey a function"
)
"""What pages do beside requests: they define their element, wait between tries and until something is painted, look at
the day, and write the memory's one record and its mark.

An entry of the history holds the name of a walk, how many entries come before it, and a place on the way.
"""


def expect_reports(session: Session, trace: Trace) -> Iterable[tuple[str, str]]:
    """What must be sent, bit by bit: reports, requests for tokens, and what their heads say of both."""
    came = [_unpadded(each, session.sealed_size) for each in trace.reports]
    yield from _differ("report", came, session.posts)
    bought = [each.body for each in trace.posted if each.kind == "tokens"]
    yield from _differ("request for a token", bought, session.requests)
    yield from _rights(session, trace)
    connections = {each.connection for each in trace.posted if each.kind == "tokens"}
    # One connection for both would join the invitation, which the token names, with the report.
    if any(each.connection in connections for each in trace.reports):
        yield "connection of the token", "It is that of a report, so that whoever signs could link the two"


def _unpadded(sent: Posted, size: int | None) -> bytes:
    """A report without the zeros behind it; where it is not sealed and padded as it must be, that is said before it."""
    if size is None or sent.kind != "sealed":
        return sent.body
    if not sent.ephemeral or len(sent.body) != size:
        return b"not sealed to one length: " + sent.body
    return sent.body.rstrip(b"\0")


def _differ(what: str, came: Sequence[bytes], wanted: Sequence[bytes]) -> Iterable[tuple[str, str]]:
    for place, (one, other) in enumerate(zip(came, wanted, strict=False)):
        if one != other:
            yield f"{what} {place + 1}", difference(other.decode("latin-1"), one.decode("latin-1"))
    if len(came) != len(wanted):
        yield f"number of {what}s", f"{len(came)} were sent instead of {len(wanted)}"


def _rights(session: Session, trace: Trace) -> Iterable[tuple[str, str]]:
    """Whether heads name the right that bodies bear: none on what is sealed, which says it to nobody on the way."""
    kind = "reports" if session.sealed_size is None else "sealed"
    for each in trace.posted:
        if each.kind not in (kind, "tokens"):
            yield "address of a report", f"It was sent to {each.kind} instead of {kind}"
        bears = session.invitation if each.kind == "tokens" else _credential(each.body)
        if each.right != (right_of(bears) if bears and each.kind != "sealed" else ""):
            yield "right in the head", f"It says {shortened(each.right)}"
    asked = [value for name, value in trace.exact.items() if "/invitations/state (" in name and name.endswith(", body")]
    if any(not session.invitation or value.encode() != question_about(session.invitation) for value in asked):
        yield "question about the invitation", f"It is {shortened(asked[0])}"


def _credential(report: bytes) -> str | None:
    """The credential of a report; None where it has none, or is no report."""
    try:
        return str(json.loads(report)["credential"])
    except (ValueError, KeyError, TypeError):
        return None


def _calls(chance: Sequence[Sequence[str]]) -> str:
    return ", then ".join(
        " and ".join(f"{count} of {kind}" for kind, count in sorted(Counter(calls).items())) or "nothing"
        for calls in chance
    )


def expect_kept(session: Session, trace: Trace) -> Iterable[tuple[str, str]]:
    """Whether a browser keeps what the device rules say, and nothing else anywhere."""
    last: dict[str, str] = {}
    for name, value in trace.exact.items():
        for place, empty in _EMPTY.items():
            if name.endswith(f", {place}") and value != empty:
                yield place, f"It holds {shortened(value)}"
            elif f", {place}, " in name and (not name.endswith(_MARK) or value):
                yield place, f"It holds {name.rpartition(f', {place}, ')[2]}: {shortened(value)}"
        if ", indexedDB" in name:
            last[name.rpartition(", indexedDB")[2]] = value
    others = set(last) - {"", ", deniable 1, memory"}
    if others:
        yield "databases", f"There is {', '.join(sorted(others))}"
    memory = json.loads(last.get(", deniable 1, memory", "[[], []]"))
    device = session.device
    # Where nothing is to be kept, as on a shared device, there is no database.
    wanted = [_memory(session)] if device.reports or device.noisy or device.told else []
    kept = [
        # A record that is none of the device's is shown as it is.
        {key: value for key, value in record.items() if key != "tokens" or value}
        if isinstance(record, dict)
        else record
        for record in memory[1]
    ]
    if memory[0] != [0] * len(wanted) or kept != wanted:
        text = json.dumps(kept, sort_keys=True)
        yield "memory", difference(json.dumps(wanted, sort_keys=True), text)


_EMPTY = {
    "cookies": "",
    "localStorage": "{}",
    "sessionStorage": "{}",
    "caches": "{}",
    "window name": "",
    "registrations": "0",
}
"""What nothing is kept in."""

_MARK = ", localStorage, deniable"
"""The device's mark that a memory was there: a text that is empty."""


def _memory(session: Session) -> dict[str, Any]:
    """What the device rules say is kept, as the browser keeps it, with the collector's address and the day left out."""
    device = session.device
    told: dict[str, dict[str, Any]] = defaultdict(dict)
    for (_, key), (_, cost) in device.told.items():
        told["http://COLLECTOR"][key] = ["DAY", cost]
    return {
        "reports": {
            survey: {"report": text.decode(), "to": {"http://COLLECTOR": all(device.to[survey].values())}}
            for survey, text in device.reports.items()
        },
        "noisy": dict(device.noisy),
        "told": dict(told),
    }


RARE = 0.01
"""Share of those who give an answer in whom a leak shows that the findings speak of."""


def power(sessions: int) -> float:
    """How likely a leak is found that shows in one of 100 of those who give one of two answers to a question."""
    # In so many pairs the two answer the question differently, and one of them may show the leak; what waits for chance
    # that both have in common gets as many tries.
    return float(1 - (1 - RARE * DIFFERING) ** (sessions // 2))

"""Rate limits for each address, without remembering any address.

A bucket is kept under a keyed hash of the client's address, one for each kind of request. The key is random, lives in
memory only, and is replaced every day together with all buckets, so that nothing here can be linked to another day or
another process.
"""

from __future__ import annotations

import logging
import math
import os
import re
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from deniable.errors import DeniableError, ParameterError
from deniable_server.logs import log

if TYPE_CHECKING:
    from apiflask import APIFlask

DAY = 24 * 60 * 60

MOST_BUCKETS = 50_000
"""Largest number of buckets (some 10 MB); a new one replaces the least recently used."""

DEBT_SECONDS = 60
"""Largest debt of a bucket in seconds, after a request that counted as many, such as a batch of 10,000 bad lines."""

MOST_BODIES, MOST_BODIES_OF_ALL = 32, 128
"""Largest number of bodies in transit from one address, and from all; each holds a thread until it is complete."""

MOST_BATCHES, MOST_BATCHES_OF_ALL = 4, 8
"""Largest number of batches in progress from one address, and from all; each takes up to 30 MB."""

MOST_DOWNLOADS, MOST_DOWNLOADS_OF_ALL = 8, 48
"""Largest number of downloads to one address, and to all; each holds a thread until it is taken.

Bodies and downloads together stay below `deniable_server.serving.THREADS`: the rest is for requests without either.
"""

ROWS_A_REQUEST = 40
"""Number of computed rows of estimates that cost as much as one request, some 15 ms."""

REPORTS_A_REQUEST = 1000
"""Number of downloaded reports that cost as much as one request, some 15 ms."""

_UNITS = {"second": 1, "minute": 60, "hour": 60 * 60, "day": DAY}

_RATE = re.compile(r"([1-9][0-9]{0,8})/(second|minute|hour|day)")

_WITH_PORT = re.compile(r"\[(.*)\](?::[0-9]+)?|([0-9.]+):[0-9]+")

_ASKER, _BUCKET, _RIGHT = "deniable.asker", "deniable.bucket", "deniable.right"
"""Keys in the WSGI environment: the hash of the address, the bucket of the request, and the look-up of its right."""

_MAPPED = bytes(10) + b"\xff\xff"
"""Prefix of an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2)."""


class RequestKind(NamedTuple):
    """A kind of requests, which share a bucket for each address.

    Attributes
    ----------
    name : bytes
    times : int
        Multiple of the rate of reports that is allowed.
    """

    name: bytes
    times: int


REPORTS = RequestKind(b"reports", 1)
"""Single reports, and requests for blind tokens."""

BATCHES = RequestKind(b"batches", 1)
RESULTS = RequestKind(b"results", 1)
"""Requests for computed results, and calls of authors."""

PAGES = RequestKind(b"pages", 20)
"""Pages, scripts and surveys: a respondent needs up to ten."""

PROBES = RequestKind(b"probes", 20)


def init_app(app: APIFlask, rate: Rate | None, trusted_proxies: int) -> None:
    """Keep buckets for an application."""
    app.extensions["deniable-limits"] = Limits(rate, trusted_proxies=trusted_proxies)


def get_limits() -> Limits:
    """The limits of the application that serves this request."""
    from flask import current_app  # here, because a command that only reads a `Rate` has no application

    limits: Limits = current_app.extensions["deniable-limits"]
    return limits


Right = Callable[[], bytes | None]
"""A function that looks up the right that the head of a request bears, and returns None if it bears none."""


def asker(environ: Mapping[str, Any]) -> bytes:
    """The hash of the address of a request that `Limits.admit` admitted."""
    found: bytes = environ[_ASKER]
    return found


class TooMany(DeniableError):
    """An address sent more requests than its limit.

    Attributes
    ----------
    wait : int
        Seconds, rounded up, after which it may ask again.
    """

    def __init__(self, message: str, wait: int) -> None:
        super().__init__(message)
        self.wait = wait


class NoSlot(DeniableError):
    """All slots are held, by all addresses together."""

    wait = 1


class TooBusy(DeniableError):
    """All slots for computations are held."""

    wait = 2


class Slots:
    """Slots of which one address may hold a limited number, and never more than are left for all others.

    Parameters
    ----------
    total, most : int
        Number of slots, and how many of them one address may hold while it is alone.

    Notes
    -----
    An address gets one more only if it holds fewer than are free (the dynamic threshold of Choudhury and Hahne,
    "Dynamic queue length thresholds for shared-memory packet switches", IEEE/ACM Transactions on Networking 6, 1998,
    with alpha = 1). So ``m`` greedy addresses leave a share ``1 / (m + 1)`` of all slots free for a new one.

    >>> slots = Slots(total=8, most=4)
    >>> [slots.take(b"one") for _ in range(5)], [slots.take(b"two") for _ in range(3)], slots.take(b"three")
    ([True, True, True, True, False], [True, True, False], True)
    """

    def __init__(self, total: int, most: int) -> None:
        self._free = total
        self._most = most
        self._held: dict[bytes, int] = {}
        self._lock = threading.Lock()

    def take(self, key: bytes) -> bool:
        """Take a slot for an address; return whether it got one."""
        with self._lock:
            held = self._held.get(key, 0)
            # Dynamic threshold with alpha = 1: hold no more than what is left free.
            if held >= min(self._most, self._free):
                return False
            self._held[key] = held + 1
            self._free -= 1
            return True

    def give_back(self, key: bytes) -> None:
        """Give a slot back."""
        with self._lock:
            self._free += 1
            if self._held[key] == 1:
                del self._held[key]
            else:
                self._held[key] -= 1

    def take_or_refuse(self, key: bytes) -> None:
        """Take a slot for an address.

        Raises
        ------
        TooMany
            If the address holds as many as it may.
        NoSlot
            If it holds none, and others hold all.
        """
        if not self.take(key):
            if key in self._held:
                raise TooMany("Too many unfinished requests from your network. Send the same again later.", 1)
            raise NoSlot("Too many unfinished requests of others. Send the same again later.")


class HeldSlot:
    """A slot that a request holds, of its address or, if that has none left, of the right that it bears.

    A class and not a generator, which would be slower: every report holds a slot.

    Parameters
    ----------
    slots : Slots
    environ : mapping
        The WSGI environment of a request that `Limits.admit` admitted.
    key_of_right : callable
    """

    __slots__ = ("_environ", "_key", "_key_of_right", "_slots")

    def __init__(self, slots: Slots, environ: Mapping[str, Any], key_of_right: Callable[[bytes], bytes]) -> None:
        self._slots = slots
        self._environ = environ
        self._key = asker(environ)
        self._key_of_right = key_of_right

    def take(self) -> None:
        """Take the slot.

        Raises
        ------
        TooMany
            If address and right hold as many as they may.
        NoSlot
            If they hold none, and others hold all.
        """
        if self._slots.take(self._key):
            return
        # Only now: a look-up costs the database something, and a slot of the address nothing.
        right = self._environ[_RIGHT]()
        if right is not None:
            self._key = self._key_of_right(right)
        self._slots.take_or_refuse(self._key)

    def give_back(self) -> None:
        """Give the slot back."""
        self._slots.give_back(self._key)

    def __enter__(self) -> None:
        self.take()

    def __exit__(self, *error: object) -> None:
        self.give_back()


@dataclass(frozen=True)
class Rate:
    """A rate of ``count`` requests in ``seconds``: all at once, or one after the other as the bucket refills.

    >>> Rate.parse("120/minute")
    Rate(count=120, seconds=60)
    >>> print(Rate(5, 1))
    5/second
    """

    count: int
    seconds: int

    def seconds_for(self, kind: RequestKind) -> float:
        """Seconds after which one more request of that kind is allowed."""
        # Seconds for one request: the period through the number of requests of that kind.
        return self.seconds / (self.count * kind.times)

    @staticmethod
    def parse(text: object) -> Rate | None:
        """Read a rate like ``120/minute``; None for ``off``.

        Raises
        ------
        ParameterError
            If it is neither.
        """
        if text is None or isinstance(text, Rate):
            return text
        if text == "off":
            return None
        found = _RATE.fullmatch(str(text))
        if not found:
            raise ParameterError("must be like 120/minute, 5/second, 1000/hour or 9000/day, or off")
        return Rate(int(found[1]), _UNITS[found[2]])

    def __str__(self) -> str:
        unit = next(name for name, seconds in _UNITS.items() if seconds == self.seconds)
        return f"{self.count}/{unit}"


class Limits:
    """The buckets of one collector.

    Parameters
    ----------
    rate : Rate or None
        The rate of reports of one address; None for no limit.
    now : callable
        Seconds that only go up, so that setting the clock opens or closes nothing.
    trusted_proxies : int
        Number of proxies in front. All clients of a proxy that is not counted share one limit; a warning says so.

    Notes
    -----
    The generic cell rate algorithm: a bucket is one number, the time at which it will be full again. It may lie at
    most ``rate.seconds`` ahead, and every request moves it by ``rate.seconds / rate.count``.
    """

    def __init__(self, rate: Rate | None, now: Callable[[], float] = time.monotonic, trusted_proxies: int = 0) -> None:
        self._rate = rate
        self._now = now
        self._should_warn = trusted_proxies == 0
        self._lock = threading.Lock()
        # In order of use. A dict has to search for its first entry, past those that were deleted, for every new bucket.
        self._full_at: OrderedDict[bytes, float] = OrderedDict()
        self._receiving = Slots(MOST_BODIES_OF_ALL, MOST_BODIES)
        self._batches = Slots(MOST_BATCHES_OF_ALL, MOST_BATCHES)
        self._sending = Slots(MOST_DOWNLOADS_OF_ALL, MOST_DOWNLOADS)
        self._renew_key()

    def key(self, address: str) -> bytes:
        """The keyed hash of an address, for this day. All addresses of an IPv6 /64, one household, have the same."""
        if self._now() >= self._key_until:
            with self._lock:
                if self._now() >= self._key_until:
                    self._renew_key()
        # Keyed, or the hash of all 2^32 IPv4 addresses could be looked up in a memory dump.
        return blake2b(network(address), key=self._key, digest_size=16).digest()

    def admit(self, environ: dict[str, Any], kind: RequestKind, right: Right = lambda: None) -> None:
        """Take one request from the bucket of its address; ``right`` is called only if its right is needed.

        Raises
        ------
        TooMany
            If there is none left.
        """
        if self._should_warn and "HTTP_X_FORWARDED_FOR" in environ:
            self._should_warn = False
            log(
                "a proxy is in front that --trusted-proxies does not count: its clients share one limit",
                logging.WARNING,
            )
        environ[_ASKER] = key = self.key(environ.get("REMOTE_ADDR", ""))
        environ[_BUCKET] = key, kind
        environ[_RIGHT] = right
        self.take(key, kind)

    def admit_by(self, right: bytes, environ: dict[str, Any], kind: RequestKind) -> None:
        """Take one request from the bucket of a right that was checked before.

        Raises
        ------
        TooMany
            If there is none left.
        """
        key = self._key_of_right(right)
        environ[_BUCKET] = key, kind
        self.take(key, kind)

    def _key_of_right(self, right: bytes) -> bytes:
        return blake2b(right, key=self._key, digest_size=16, person=b"right").digest()

    def charge(self, environ: dict[str, Any], more: int) -> None:
        """Take more from the bucket of an admitted request that turned out to cost more than one; never refuses.

        Batches of reports and computed estimates do. The debt is at most `DEBT_SECONDS`.
        """
        if self._rate is not None and more > 0:
            key, kind = environ[_BUCKET]
            now, name = self._now(), key + kind.name
            with self._lock:
                # GCRA: each request moves the time at which the bucket is full by one step.
                full_at = max(self._full_at.get(name, now), now) + more * self._rate.seconds_for(kind)
                # One dear request must not lock an address out for hours.
                self._full_at[name] = min(full_at, now + self._rate.seconds + DEBT_SECONDS)

    def take(self, key: bytes, kind: RequestKind = REPORTS) -> None:
        """Take one request from a bucket.

        Raises
        ------
        TooMany
            If the bucket is empty; then nothing was taken.
        """
        if self._rate is None:
            return
        now = self._now()
        step = self._rate.seconds_for(kind)
        name = key + kind.name
        with self._lock:
            full_at = max(self._full_at.pop(name, now), now)  # popped and put back: the last one used
            # The bucket takes one more if that leaves it full within one period: full_at + step <= now + period.
            wait = full_at + step - self._rate.seconds - now
            refused = wait > 1e-9 * self._rate.seconds  # a rounding error is not a request too many
            self._full_at[name] = full_at if refused else full_at + step
            if len(self._full_at) > MOST_BUCKETS:
                # The least recently used bucket is the likeliest to be full again, which is what a missing one counts
                # as.
                self._full_at.popitem(last=False)
        if refused:
            most = Rate(self._rate.count * kind.times, self._rate.seconds)
            raise TooMany(
                f"Too many requests from your network: at most {most} are taken. Send the same again later.",
                math.ceil(wait),
            )

    def receiving(self, environ: Mapping[str, Any]) -> HeldSlot:
        """A place for an incoming body, held while it is in transit."""
        return HeldSlot(self._receiving, environ, self._key_of_right)

    def batching(self, environ: Mapping[str, Any]) -> HeldSlot:
        """A place for a batch, held until it is answered."""
        return HeldSlot(self._batches, environ, self._key_of_right)

    def sending(self, environ: Mapping[str, Any]) -> HeldSlot:
        """A place for a download, held until it is taken."""
        return HeldSlot(self._sending, environ, self._key_of_right)

    def _renew_key(self) -> None:
        self._key = os.urandom(32)
        self._key_until = self._now() + DAY
        # Buckets are named by hashes with the old key, which nobody can compute any more.
        self._full_at.clear()


def network(address: str) -> bytes:
    """The bytes by which clients are told apart: an IPv4 address, or the /64 of an IPv6 address.

    >>> network("192.0.2.7") == network("::ffff:192.0.2.7") == bytes([192, 0, 2, 7])
    True
    >>> network("192.0.2.7:4711") == network("192.0.2.7") and network("[2001:db8::1]:4711") == network("2001:db8::1")
    True
    >>> network("2001:db8::1") == network("2001:db8::ffff:1") != network("2001:db8:0:1::1")
    True
    """
    if found := _WITH_PORT.fullmatch(address):  # as some proxies write it, anew for each connection
        address = found[1] or found[2]
    try:
        if ":" not in address:
            return socket.inet_pton(socket.AF_INET, address)
        packed = socket.inet_pton(socket.AF_INET6, address.partition("%")[0])
    except (OSError, ValueError):
        return address.encode("utf-8", "surrogateescape")  # the name that a proxy gives a client, such as "unknown"
    # ::ffff:192.0.2.7 is the IPv4 address itself, as dual-stack sockets report it.
    return packed[12:] if packed.startswith(_MAPPED) else packed[:8]

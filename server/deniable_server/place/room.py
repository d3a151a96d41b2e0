"""How much room collectors have at a place, so that none fills it for the others."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import NamedTuple

from deniable_server.store.errors import StoreFull

MOST_SURVEYS = 1000
"""Largest number of surveys of a collector that was allowed; what it may keep is bounded by the disk alone."""


LATER = "send the same again later"


class Room(NamedTuple):
    """Number of surveys, and of bytes of sealed reports."""

    surveys: int
    size: int


OF_ONE = Room(20, 20_000_000)
"""Room of one domain that nobody allowed, at a place that serves any."""

OF_ALL = Room(200, 100_000_000)
"""Room of all such domains together."""


def check_room(kept: Mapping[str, int], slot: str, allowed: Container[str], size: int) -> None:
    """Raise a StoreFull unless a message of ``size`` bytes may be kept in a slot.

    Parameters
    ----------
    kept : mapping
        Bytes of messages by slot, as `Letterbox.kept` gives them.
    slot : str
        The name of a slot, which need not be there yet.
    allowed : container of str
        The collectors that the place was given.
    size : int

    Notes
    -----
    A domain that nobody allowed gets more only while it has less than is left for all of them: ``m`` greedy ones leave
    a share ``1 / (m + 1)`` to a new one (Choudhury and Hahne 1998, as for `Slots`).
    """
    collector = _collector_of(slot)
    if collector in allowed:
        if slot not in kept and sum(_collector_of(each) == collector for each in kept) >= MOST_SURVEYS:
            raise StoreFull(f"place: keeps reports of at most {MOST_SURVEYS} surveys of a collector; {LATER}")
        return
    strangers = {each: kept[each] for each in kept if _collector_of(each) not in allowed}
    own = [kept[each] for each in strangers if domain_of(_collector_of(each)) == domain_of(collector)]
    held, of_all = Room(len(own), sum(own)), Room(len(strangers), sum(strangers.values()))
    if slot not in kept and held.surveys >= min(OF_ONE.surveys, OF_ALL.surveys - of_all.surveys):
        raise StoreFull(f"place: has no room for another survey of a collector that it was not given; {LATER}")
    if held.size + size > min(OF_ONE.size, OF_ALL.size - of_all.size):
        raise StoreFull(f"place: has no room for more reports of a collector that it was not given; {LATER}")


def _collector_of(slot: str) -> str:
    return slot.partition(" ")[2]


def domain_of(collector: str) -> str:
    """The domain of a collector, whose paths and names are kept by one party.

    >>> [domain_of(f"https://{host}") for host in ("a.town.example/c", "d.example", "www.uni.ac.uk")]
    ['town.example', 'd.example', 'uni.ac.uk']
    """
    labels = collector.split("/")[2].split(".")
    # Under ac.uk, com.au and their like a domain has one label more.
    return ".".join(labels[-3:] if len(labels) > 2 and len(labels[-2]) <= 3 else labels[-2:])

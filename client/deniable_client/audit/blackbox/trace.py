"""What the black box hands on: everything that was seen of one session, as features that nobody had to name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Posted(NamedTuple):
    """A report, or a request for a token, as it was sent.

    Attributes
    ----------
    kind : {"reports", "sealed", "tokens"}
        What it was sent as.
    body : bytes
        As it came; of what was sealed, what is in it.
    right : str
        What the head says of the right that it bears.
    connection : int
    ephemeral : str
        The chance that hides what is sealed, in hexadecimal.
    """

    kind: str
    body: bytes
    right: str
    connection: int
    ephemeral: str = ""


@dataclass
class Trace:
    """One session of a client.

    Attributes
    ----------
    exact : dict of str to str
        Observables that are the same in every session whose chance makes the same noisy values: bytes of requests in
        the order of each address, what is kept, what is shown to others.
    loose : dict of str to float
        Observables that vary by themselves: times, order and connections. They may not depend on an answer.
    posted : list of Posted
        Reports and requests for tokens in the order in which they were sent.
    chance : list of list of str
        What was taken of the system's chance, step by step.
    """

    exact: dict[str, str] = field(default_factory=dict)
    loose: dict[str, float] = field(default_factory=dict)
    posted: list[Posted] = field(default_factory=list)
    chance: list[list[str]] = field(default_factory=list)

    @property
    def reports(self) -> list[Posted]:
        """What was sent as a report."""
        return [each for each in self.posted if each.kind != "tokens"]

    def put(self, name: str, content: object) -> None:
        """Enter an observable, and if it has parts each of them by itself."""
        for path, value in _flat(name, content):
            self.exact[path] = value

    def call(self, what: str, names: Sequence[str]) -> None:
        """Call each of these names, which are chance, what it is, wherever it stands."""
        found = re.compile("|".join(map(re.escape, names)))
        self.exact = {found.sub(what, name): found.sub(what, value) for name, value in self.exact.items()}


def _flat(name: str, content: object) -> Iterator[tuple[str, str]]:
    if isinstance(content, Mapping) and content:
        for key, value in content.items():
            yield from _flat(f"{name}, {key}", value)
    elif isinstance(content, str):
        yield name, content
    else:
        yield name, json.dumps(content, ensure_ascii=False)  # in their order, which may tell something too


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Names of the observables in which two sessions differ."""
    return [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]

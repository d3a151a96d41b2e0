"""A proxy that leads nowhere, and notes which host names it was asked for."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass, field

from deniable_client.audit.blackbox.listener import Listener

_ASKED = re.compile(rb"(?:CONNECT |[A-Z]+ [a-z]+://)([^ :/]+)")


@dataclass
class DeadEnd:
    """Listens at `port`.

    Attributes
    ----------
    names : set of str
        Every host that somebody wanted to reach by it.
    """

    names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._listener = Listener(self._refuse)

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._listener.port

    def close(self) -> None:
        """Stop listening."""
        self._listener.close()

    def _refuse(self, connection: socket.socket, _number: int) -> None:
        with connection:
            connection.settimeout(10)
            try:
                if found := _ASKED.match(connection.recv(4096)):
                    self.names.add(found[1].decode("latin-1"))
                connection.sendall(b"HTTP/1.1 502 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            except OSError:
                return

"""A proxy that leads nowhere, and notes which host names it was asked for."""

from __future__ import annotations

import re
import socket
import threading
from dataclasses import dataclass, field

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
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        """Where it listens."""
        port: int = self._listening.getsockname()[1]
        return port

    def close(self) -> None:
        """Stop listening."""
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._refuse, args=(connection,), daemon=True).start()

    def _refuse(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(10)
            try:
                if found := _ASKED.match(connection.recv(4096)):
                    self.names.add(found[1].decode("latin-1"))
                connection.sendall(b"HTTP/1.1 502 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            except OSError:
                return

"""A socket of this computer that serves each connection in a thread of its own."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable


class Listener:
    """Listens at ``port`` of 127.0.0.1 until it is closed.

    Parameters
    ----------
    serve : callable
        Serves a connection, and gets its number, counted from 1.
    """

    def __init__(self, serve: Callable[[socket.socket, int], None]) -> None:
        self._serve = serve
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        """Where it listens."""
        port: int = self._listening.getsockname()[1]
        return port

    def close(self) -> None:
        """Stop listening."""
        # A thread that waits for the next connection hears of this, and does not of a descriptor that is closed.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        number = 0
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            number += 1
            threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

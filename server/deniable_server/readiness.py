"""What systemd is told: that a process is ready to serve, by the protocol of ``sd_notify(3)``."""

from __future__ import annotations

import os
import socket


def tell_ready() -> None:
    """Say so to the service manager that started us, if one did; a start that fails is then seen as failed.

    Examples
    --------
    >>> tell_ready()  # nobody asked: NOTIFY_SOCKET is not set
    """
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]  # the name of a socket that is no file
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to:
        to.sendto(b"READY=1", address)

"""Network addresses: a place is led into a network of its own by nobody whom its operator did not allow."""

from __future__ import annotations

import ipaddress
import socket

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
"""IPv6 addresses that a translator makes of the IPv4 address in their last 32 bits (RFC 6052)."""


def is_public(address: str) -> bool:
    """Whether an address is one of the internet, and of no network or machine of somebody's own.

    >>> [is_public(each) for each in ("192.0.43.8", "2600::1", "127.0.0.1", "10.1.2.3", "169.254.169.254")]
    [True, True, False, False, False]
    >>> [is_public(each) for each in ("::1", "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1")]
    [False, False, False, False, False]
    """
    number = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(number, ipaddress.IPv6Address):
        inside = number.ipv4_mapped or number.sixtofour or (number.teredo and number.teredo[1])
        if number in _TRANSLATED:
            inside = ipaddress.IPv4Address(int(number) & 0xFFFFFFFF)
        if inside:
            return is_public(str(inside))
    return number.is_global and not number.is_multicast


def addresses_of(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system knows them.

    Raises
    ------
    OSError
        If it has none.
    """
    return [str(each[4][0]) for each in socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)]

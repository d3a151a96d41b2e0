"""Hosts of addresses, checked by the rules of browsers, so that an address leads where it seems to."""

from __future__ import annotations

import ipaddress
import re

from deniable.errors import SurveyError, describe, shown

HIGHEST_PORT = 65535

_ORIGIN = re.compile(r"(https?)://([a-z0-9.-]{1,253}|\[[0-9a-f:]+\])(?::([1-9][0-9]{0,4}))?")
_USUAL_PORTS = {"https": 443, "http": 80}

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A last label that makes browsers parse the host as an IPv4 address (WHATWG URL)."""
_IPV4 = re.compile(r"((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(\.(?!$)|$)){4}")
_IPV6_GROUP = re.compile(r"[0-9a-f]{1,4}")


def is_host(host: str) -> bool:
    """Whether a text is a name, an IPv4 address, or an IPv6 address in brackets; ``hosts.js`` has the same rules.

    >>> [is_host(host) for host in ("issuer.example", "127.0.0.1", "[::1]", "a..b", "1.2.3", "[1:2]")]
    [True, True, True, False, False, False]
    """
    return _is_ipv6(host[1:-1]) if host.startswith("[") else _is_name(host)


def is_loopback(host: str) -> bool:
    """Whether a host is the machine of the person who asks, so that plain http is safe."""
    # All of 127.0.0.0/8 is this machine (RFC 1122, section 3.2.1.3).
    return host in ("localhost", "[::1]") or (host.startswith("127.") and _IPV4.fullmatch(host) is not None)


def short_ipv6(host: str) -> str:
    """An IPv6 address as browsers write it: in brackets, and in its short form.

    >>> short_ipv6("2001:db8:0:0:1::1"), short_ipv6("0:1:1:1:1:1:1:1")
    ('[2001:db8::1:0:0:1]', '[0:1:1:1:1:1:1:1]')
    """
    number = int(ipaddress.IPv6Address(host))
    if number >> 32 == 0xFFFF:  # newer versions of Python write the last 32 bits of these with dots
        return f"[::ffff:{number >> 16 & 0xFFFF:x}:{number & 0xFFFF:x}]"
    return f"[{ipaddress.IPv6Address(number).compressed}]"


def check_origin(url: object, subject: str, *, who: str, danger: str, is_exact: bool = False) -> None:
    """Raise a SurveyError unless an address leads to an origin that nobody on the way can listen to or change.

    ``origin`` in ``survey.js`` has the same rules.

    Parameters
    ----------
    url : object
        The address.
    subject, who, danger : str
        For the message: the key that holds it, who is there, such as *an issuer*, and what everybody on the way can do
        without https.
    is_exact : bool
        Whether it must be written as browsers write an origin: without the usual port of its scheme, and with an
        IPv6 address in its short form.
    """
    found = _ORIGIN.fullmatch(url) if isinstance(url, str) else None
    if not found:
        raise SurveyError(
            f'{subject}: must be like "https://{who.split()[-1]}.example", without a path, got {describe(url)}'
        )
    scheme, host, port = found.groups()
    if not is_host(host):
        raise SurveyError(f"{subject}: must have a host that there can be, got {shown(host)}")
    if port and int(port) > HIGHEST_PORT:
        raise SurveyError(f"{subject}: must have a port from 1 to {HIGHEST_PORT}, got {port}")
    if is_exact and port and int(port) == _USUAL_PORTS[scheme]:
        raise SurveyError(f"{subject}: must be written as browsers write an origin, without the port {port}")
    if is_exact and host.startswith("[") and host != (short := short_ipv6(host[1:-1])):
        raise SurveyError(f"{subject}: must be written as browsers write an origin, with the host {short}, got {host}")
    if scheme == "http" and not is_loopback(host):
        raise SurveyError(
            f"{subject}: must start with https://, or everybody on the way can {danger}; "
            f"http:// is for {who} on this machine, got {shown(url)}"
        )


def _is_name(host: str) -> bool:
    """Whether a host is a name or an IPv4 address.

    >>> [_is_name(host) for host in ("issuer.example", "127.0.0.1", "a..b", "-a.example", "256.1.1.1", "1.2.3")]
    [True, True, False, False, False, False]
    """
    labels = host.split(".")
    # Browsers read 127.1 and 0x7f.1 as addresses, so what ends in a number has to be one in full.
    if _NUMBER.fullmatch(labels[-1]):
        return _IPV4.fullmatch(host) is not None
    return all(map(_LABEL.fullmatch, labels))


def _is_ipv6(host: str) -> bool:
    """Whether a host within brackets is an IPv6 address of groups of hexadecimal digits.

    >>> [_is_ipv6(host) for host in ("::1", "2001:db8::1", "1:2:3:4:5:6:7:8", "1:2", ":::", "1::2::3")]
    [True, True, True, False, False, False]
    """
    # At most one :: stands for one or more groups of zeros (RFC 4291, section 2.2).
    halves = [half.split(":") if half else [] for half in host.split("::")]
    groups = [group for half in halves for group in half]
    fits = len(groups) == 8 if len(halves) == 1 else len(halves) == 2 and len(groups) < 8
    return fits and all(map(_IPV6_GROUP.fullmatch, groups))

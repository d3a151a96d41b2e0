"""A filter in the kernel that stops a process only at the system calls that somebody wants to see (seccomp, Linux).

Whoever follows a process without it is woken at the beginning and at the end of every call, and most calls say nothing:
an SQLite database asks thousands of times for its locks. A call of another architecture's table always stops the
process, because its number means something else there.

The numbers are those of ``linux/seccomp.h``, ``linux/filter.h`` and ``linux/audit.h``.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Collection

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""By the name of a machine the number by which the kernel knows its calls (``linux/audit.h``)."""

OTHER_TABLE = 0x40000000
"""From this number on, calls are those of x32, a second table of x86_64."""

STOPPED = 7
"""The event of ptrace that says that the filter stopped a process (``PTRACE_EVENT_SECCOMP``)."""

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _TRACE = 0x7FFF0000, 0x7FF00000
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


def program(machine: str, numbers: Collection[int]) -> bytes:
    """The filter, in the kernel's instructions of 8 bytes each.

    Parameters
    ----------
    machine : str
        A name of `ARCHITECTURES`.
    numbers : collection of int
        The calls that stop a process, at most 240.
    """
    # A jump leads over so many instructions: to the last one, which stops, from each of those that ask.
    asked = sorted(numbers)
    left = len(asked) + 1
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_IF_EQUAL, 0, left + 2, ARCHITECTURES[machine]),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_IF_AT_LEAST, left, 0, OTHER_TABLE),
        *((_IF_EQUAL, left - 1 - place, 0, number) for place, number in enumerate(asked)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _TRACE),
    ]
    return b"".join(struct.pack("<HBBI", *line) for line in lines)


class Filter:
    """Made before a process forks, and put upon itself by the child."""

    def __init__(self, libc: ctypes.CDLL, instructions: bytes) -> None:
        self._prctl = libc.prctl
        self._prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
        self._instructions = ctypes.create_string_buffer(instructions, len(instructions))
        # struct sock_fprog: how many instructions there are, and where.
        self._written = ctypes.create_string_buffer(
            struct.pack("@HP", len(instructions) // 8, ctypes.addressof(self._instructions))
        )

    def enter(self) -> bool:
        """Stop at these calls from now on; False if the kernel does not let this process do so."""
        # Without new privileges, or whoever is not root may not have a filter.
        return not any(
            self._prctl(*call, 0, 0)
            for call in ((_NO_NEW_PRIVILEGES, 1, 0), (_SECCOMP, _FILTER, ctypes.addressof(self._written)))
        )

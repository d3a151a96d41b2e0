"""A process seen from the kernel: every system call on files, sockets, processes and chance (Linux, ptrace).

Chance is put into the buffer of ``getrandom`` after the kernel has filled it. Nothing in the process is changed: no
module, no function, no variable of the environment. A client in Python could find any hook that runs beside it, such
as another ``os.urandom``; the memory that the kernel hands it looks the same whoever wrote it.

A filter in the kernel stops the process at the calls that are named here and lets all others pass, so that being
watched costs it little time. Where there may be no filter, it stops at every call.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from deniable.errors import DeniableError
from deniable_client.audit.blackbox.filtering import ARCHITECTURES, OTHER_TABLE, STOPPED, Filter, program

_TRACEME, _CONTINUE, _SYSCALL, _SETOPTIONS, _SYSCALL_INFO = 0, 7, 24, 0x4200, 0x420E
# Good stops, forks, vforks and clones too, and stops of the filter; the process ends with this one.
_OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x80 | 0x00100000
_STOPPED_BY_CALL = signal.SIGTRAP | 0x80
_STOPPED_BY_FILTER = signal.SIGTRAP | STOPPED << 8
_BEGINS, _ENDS, _FILTERED = 1, 2, 3
"""Where in a call a process stopped; the filter stops it before the kernel does anything."""
_WITHOUT_FILTER = 71
"""Exit status of a process that may have no filter; it has run nothing yet."""

_NUMBERS = {
    "x86_64": {
        1: "write", 2: "open", 18: "pwrite64", 20: "writev", 29: "shmget", 40: "sendfile", 62: "kill",
        21: "access", 26: "msync", 74: "fsync", 75: "fdatasync",
        68: "msgget", 91: "fchmod", 92: "chown", 93: "fchown", 94: "lchown", 132: "utime", 133: "mknod",
        188: "setxattr", 189: "lsetxattr", 190: "fsetxattr", 235: "utimes", 259: "mknodat", 260: "fchownat",
        261: "futimesat", 265: "linkat", 266: "symlinkat", 268: "fchmodat", 280: "utimensat", 285: "fallocate",
        296: "pwritev", 319: "memfd_create", 425: "io_uring_setup",
        41: "socket", 42: "connect", 44: "sendto", 46: "sendmsg",
        49: "bind", 56: "clone", 57: "fork", 58: "vfork", 59: "execve", 76: "truncate", 77: "ftruncate", 82: "rename",
        83: "mkdir", 84: "rmdir", 86: "link", 87: "unlink", 88: "symlink", 90: "chmod", 230: "clock_nanosleep",
        257: "openat", 258: "mkdirat", 263: "unlinkat", 264: "renameat", 307: "sendmmsg",
        316: "renameat2", 318: "getrandom", 435: "clone3",
        7: "poll", 23: "select", 35: "nanosleep", 37: "alarm", 38: "setitimer", 48: "shutdown", 54: "setsockopt",
        128: "rt_sigtimedwait", 157: "prctl", 170: "sethostname", 202: "futex", 270: "pselect6", 271: "ppoll",
        286: "timerfd_settime",
    },
    "aarch64": {
        64: "write", 68: "pwrite64", 66: "writev", 70: "pwritev", 71: "sendfile", 129: "kill", 186: "msgget",
        194: "shmget", 53: "fchmodat", 54: "fchownat", 55: "fchown", 88: "utimensat", 5: "setxattr", 6: "lsetxattr",
        7: "fsetxattr", 33: "mknodat", 47: "fallocate", 279: "memfd_create", 425: "io_uring_setup",
        198: "socket", 203: "connect", 206: "sendto", 211: "sendmsg", 200: "bind",
        220: "clone", 221: "execve", 45: "truncate", 46: "ftruncate", 34: "mkdirat", 37: "linkat", 35: "unlinkat",
        36: "symlinkat", 52: "fchmod", 115: "clock_nanosleep", 56: "openat", 48: "faccessat", 38: "renameat",
        82: "fsync", 83: "fdatasync", 227: "msync",
        269: "sendmmsg", 276: "renameat2", 278: "getrandom", 435: "clone3",
        72: "pselect6", 73: "ppoll", 86: "timerfd_settime", 98: "futex", 101: "nanosleep", 103: "setitimer",
        137: "rt_sigtimedwait", 161: "sethostname", 167: "prctl", 208: "setsockopt", 210: "shutdown",
    },
}  # fmt: skip
_PATH_AT = {
    **dict.fromkeys(("open", "access", "truncate", "rename", "mkdir", "rmdir", "link", "unlink", "chmod", "execve"), 0),
    **dict.fromkeys(("chown", "lchown", "utime", "utimes", "mknod", "setxattr", "lsetxattr", "memfd_create"), 0),
    **dict.fromkeys(("mknodat", "fchownat", "futimesat", "fchmodat", "utimensat"), 1),
    **dict.fromkeys(("openat", "mkdirat", "faccessat", "unlinkat", "renameat", "renameat2", "linkat", "symlink"), 1),
    "symlinkat": 2,
}
_SENDS = ("sendto", "sendmsg", "sendmmsg")
_FILE = ("writev", "pwritev", "fsync", "fdatasync", "fchmod", "fchown", "fsetxattr", "fallocate", "sendfile")
_WITH_RESULT = ("getrandom", "openat", "open")
"""Calls of which the end is seen too."""
_LENGTH_AT = {"write": 2, "pwrite64": 2, "sendto": 2}
_NUMBER_AT = {"poll": 1, "ppoll": 1, "select": 0, "pselect6": 0}
"""Calls that wait for so many files; with none of them they only let time go by."""
_TIMED_WAIT = (0, 6, 9)
"""Operations of ``futex`` that wait; other ones wake somebody up."""
MARK = "/deniable-audit/"
"""Paths that nobody has, by which a run says where it is."""


class CannotTrace(DeniableError):
    """This system does not let a process be seen from outside."""


@dataclass
class Watched:
    """What a process did between two marks."""

    operations: list[str] = field(default_factory=list)
    chance: list[int] = field(default_factory=list)
    """Lengths of all calls for chance."""
    began: float = 0.0
    """How many seconds of CPU the process had taken when it began."""
    sent: list[float] = field(default_factory=list)
    """How many it had taken whenever it sent something."""


Feed = Callable[[int], bytes | None]
"""Gives what a call for so many bytes of chance gets; None leaves what the kernel gave."""


@dataclass
class System:
    """Runs a program and sees its system calls.

    Parameters
    ----------
    feed : callable
    on_mark : callable
        Called with the rest of each marked path, and what was done since the one before.
    """

    feed: Feed
    on_mark: Callable[[str, Watched], None]

    def run(self, command: Sequence[str], environment: dict[str, str]) -> int:
        """Run a command until it ends; its exit status."""
        machine = platform.machine()
        if sys.platform != "linux" or machine not in _NUMBERS:
            raise CannotTrace("system: watching a process needs Linux on x86_64 or aarch64")
        self._names, self._architecture = _NUMBERS[machine], ARCHITECTURES[machine]
        libc = ctypes.CDLL(None, use_errno=True)
        libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        libc.ptrace.restype = ctypes.c_long
        self._libc = libc
        self._told = ctypes.create_string_buffer(88)
        status = self._started(command, environment, Filter(libc, program(machine, self._names)))
        # The child gives this status before it runs anything, and the command is then run without a filter.
        return self._started(command, environment, None) if status == _WITHOUT_FILTER and not self._has_run else status

    def _started(self, command: Sequence[str], environment: dict[str, str], filter: Filter | None) -> int:
        child = os.fork()
        if child == 0:
            # The Ctrl+C of a terminal is for whoever watches, who then ends this process.
            os.setpgid(0, 0)
            self._libc.ptrace(_TRACEME, 0, None, None)
            os.kill(os.getpid(), signal.SIGSTOP)
            if filter and not filter.enter():
                os._exit(_WITHOUT_FILTER)
            os.execve(command[0], list(command), environment)  # noqa: S606  # our own words, no shell
        os.waitpid(child, 0)
        if self._libc.ptrace(_SETOPTIONS, child, None, _OPTIONS) < 0:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise CannotTrace("system: does not let a process be watched (ptrace)")
        self._on = _CONTINUE if filter else _SYSCALL
        try:
            return self._follow(child)
        except BaseException:  # Ctrl+C too: nobody else would let a stopped process go on
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            raise

    def _follow(self, child: int) -> int:
        self._child, self._has_run = child, False
        self._watched = Watched()
        self._inside: dict[int, tuple[str, tuple[int, ...]]] = {}
        self._go_on(child)
        while True:
            process, status = os.waitpid(-1, 0x40000000)  # __WALL: threads too
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                self._inside.pop(process, None)
                if process == child:
                    return os.waitstatus_to_exitcode(status)
                continue
            stopped = os.WSTOPSIG(status)
            if status >> 8 in (_STOPPED_BY_CALL, _STOPPED_BY_FILTER):
                self._call(process)
            # A call of which the end is wanted has one more stop.
            self._go_on(process, 0 if stopped in (_STOPPED_BY_CALL, signal.SIGTRAP, signal.SIGSTOP) else stopped)

    def _go_on(self, process: int, deliver: int = 0) -> None:
        self._libc.ptrace(_SYSCALL if process in self._inside else self._on, process, None, deliver)

    def _call(self, process: int) -> None:
        self._has_run = True
        if self._libc.ptrace(_SYSCALL_INFO, process, 88, ctypes.addressof(self._told)) < 0:
            return
        kind, architecture = struct.unpack_from("<B3xI", self._told)
        if kind in (_BEGINS, _FILTERED):
            number, *arguments = struct.unpack_from("<7Q", self._told, 24)
            if architecture != self._architecture or number >= OTHER_TABLE:
                self._watched.operations.append(f"call {number & (OTHER_TABLE - 1)} of another table")
                return
            name = self._names.get(number, "")
            if name in _WITH_RESULT:
                self._inside[process] = (name, tuple(arguments))
            elif name:
                self._entered(process, name, arguments)
        elif kind == _ENDS and process in self._inside:
            (result,) = struct.unpack_from("<q", self._told, 24)
            self._left(process, *self._inside.pop(process), result)

    def _entered(self, process: int, name: str, arguments: Sequence[int]) -> None:
        if name in ("access", "faccessat"):
            path = self._text(process, arguments[_PATH_AT[name]])
            if path.startswith(MARK):
                done, self._watched = self._watched, Watched(began=self._cpu())
                self.on_mark(path.removeprefix(MARK), done)
            return
        if _is_idle(name, arguments):
            return
        if name in _SENDS:
            self._watched.sent.append(self._cpu())
        self._watched.operations.append(self._said(process, name, arguments))

    def _said(self, process: int, name: str, arguments: Sequence[int]) -> str:
        if name in _PATH_AT:
            return f"{name} {self._text(process, arguments[_PATH_AT[name]])}"
        if name in _FILE:
            return f"{name} {_opened(process, arguments[0])}"
        if name in _LENGTH_AT:
            place = _opened(process, arguments[0])
            shown = self._bytes(process, arguments[1], arguments[2]) if arguments[0] in (1, 2) else b""
            return f"{name} {place} {arguments[_LENGTH_AT[name]]} {shown.decode('latin-1')}".rstrip()
        if name in ("connect", "bind"):
            return f"{name} {_place(self._bytes(process, arguments[1], arguments[2]))}"
        if name == "setsockopt":
            value = self._bytes(process, arguments[3], arguments[4])
            return f"{name} {arguments[1]} {arguments[2]} {value.hex()}"
        return name

    def _cpu(self) -> float:
        """Seconds of CPU that the process has taken. They go on neither while it waits nor while others run."""
        # The clock of another process has its number, turned over, in the upper bits (clock_getcpuclockid).
        return time.clock_gettime(~self._child << 3 | 2)

    def _left(self, process: int, name: str, arguments: Sequence[int], result: int) -> None:
        if name in ("openat", "open"):
            path = self._text(process, arguments[_PATH_AT[name]])
            flags = arguments[_PATH_AT[name] + 1] & 0o103  # to read, write, both; made where it is missing
            self._watched.operations.append(f"open {path} {flags:o}{'' if result >= 0 else ' in vain'}")
        elif name == "getrandom" and result > 0:
            self._watched.chance.append(result)
            given = self.feed(result)
            if given is not None:
                with open(f"/proc/{process}/mem", "r+b", buffering=0) as memory:
                    memory.seek(arguments[0])
                    memory.write(given)

    def _bytes(self, process: int, address: int, size: int) -> bytes:
        try:
            with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
                memory.seek(address)
                return memory.read(min(size, 4096)) or b""
        except (OSError, ValueError, OverflowError):
            return b""

    def _text(self, process: int, address: int) -> str:
        # To the end of its page, and on if the text goes on: what lies behind it may not be there to be read.
        read, end = b"", address
        while b"\0" not in read and len(read) < 8192:
            size = 4096 - end % 4096
            piece = self._bytes(process, end, size)
            if not piece:
                break
            read, end = read + piece, end + size
        return read.split(b"\0", 1)[0].decode("utf-8", errors="replace")


def _is_idle(name: str, arguments: Sequence[int]) -> bool:
    """Whether a call waits for files or wakes somebody up, as everybody's do, instead of letting time go by."""
    if name in _NUMBER_AT:
        return arguments[_NUMBER_AT[name]] > 0
    return name == "futex" and not (arguments[1] & 0x7F in _TIMED_WAIT and arguments[3])


def _opened(process: int, number: int) -> str:
    """What a process has open under a number."""
    if number in (1, 2):
        return ("stdout", "stderr")[number - 1]
    try:
        place = os.readlink(f"/proc/{process}/fd/{number}").removesuffix(" (deleted)")
    except OSError:
        return "nothing"
    return "a socket" if place.startswith("socket:") else place


def _place(address: bytes) -> str:
    """An address of a socket in words."""
    if len(address) < 2:
        return "nowhere"
    (family,) = struct.unpack_from("<H", address)
    if family == socket.AF_INET and len(address) >= 8:
        return f"{socket.inet_ntoa(address[4:8])}:{int.from_bytes(address[2:4], 'big')}"
    if family == socket.AF_UNIX:
        return address[2:].split(b"\0", 1)[0].decode("utf-8", errors="replace") or "unix"
    return f"family {family}"

"""People of the Python client in several processes at a time: they see and send what they do one after the other."""

from __future__ import annotations

import ctypes
import os
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from deniable_client.audit import shipped
from deniable_client.audit.blackbox import system
from deniable_client.audit.blackbox.filtering import ARCHITECTURES, OTHER_TABLE, Filter, program
from deniable_client.audit.blackbox.system import System, Watched
from deniable_client.audit.judge import Bench
from deniable_client.audit.keys import AuditKeys
from deniable_client.audit.places import Place, Places
from deniable_client.audit.python_histories import Unfinished
from deniable_client.audit.shipped import Target, audit_installed
from tests.support.audited import Targets, target, targets
from tools.planted.__main__ import python_with
from tools.planted.faults import PYTHON

__all__ = ["target", "targets"]

PEOPLE = 8
"""With two blocks of two in each process, those of two processes."""


def bench(target: Target, at_once: int, environment: Mapping[str, str] | None = None) -> Bench:
    with Places(target, environment, at_once) as places:
        return audit_installed(target, PEOPLE, dice=random.Random(41), histories=["once"], places=places)


def seen(bench: Bench) -> list[tuple[object, ...]]:
    """What does not vary by itself, of everybody in order; each stand-in counts its own connections."""
    return [
        (session.answers, session.loads, session.posts, trace.exact, [each.body for each in trace.posted], trace.chance)
        for block in bench.blocks
        for session, trace in block
    ]


@pytest.fixture
def _two_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "TOGETHER", 2)


@pytest.mark.slow
@pytest.mark.usefixtures("_two_blocks")
def test_two_at_a_time_show_what_one_at_a_time_shows_and_a_fault_is_named(targets: Targets, tmp_path: Path) -> None:
    environment = python_with([each for each in PYTHON if each.name == "a file beside the memory"], tmp_path)
    by_token = targets("unlinkable")  # both processes have the keys of this one
    one, two = (bench(by_token, at_once, environment) for at_once in (1, 2))
    assert len(one.blocks) == PEOPLE / 2
    assert seen(one) == seen(two)
    found = [each.observable for each in two.suspects(1e-6)]
    assert any("deniable-cache" in each for each in found), found


def ends_in(_place: Place, status: int) -> int:
    if status:
        os._exit(status)
    return status


def number_of(_place: Place, number: int) -> int:
    if number == 2:
        raise Unfinished(f"python: number {number}")
    return number


@pytest.mark.long
def test_a_process_that_ends_or_fails_is_named(target: Target) -> None:
    with Places(target, at_once=2) as places:
        assert list(places.map(number_of, [5, 4, 3])) == [5, 4, 3]
        with pytest.raises(Unfinished, match="number 2"):
            list(places.map(number_of, [1, 2, 3]))
        with pytest.raises(Unfinished, match="ended before"):
            list(places.map(ends_in, [0, 3, 0]))


CODE = """
import os, time
os.access("/deniable-audit/begin", os.F_OK)
os.stat("/etc")
os.urandom(5)
open("/etc/passwd").close()
time.sleep(0.001)
os.access("/deniable-audit/end", os.F_OK)
os._exit(7)
"""


def watched(command: Sequence[str]) -> tuple[int, list[str], list[int], str]:
    """Exit status of a program, what it did between its marks, its chance, and what came of it."""
    done: list[tuple[str, Watched]] = []
    status = System(lambda size: b"\x2a" * size, lambda name, work: done.append((name, work))).run(command, {})
    ((_, _), (name, work)) = done
    return status, work.operations, work.chance, name


def test_a_process_is_seen_with_a_filter_and_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-SIc", CODE]
    with_filter = watched(command)
    assert with_filter == (7, ["open /etc/passwd 0", "clock_nanosleep"], [5], "end")
    # A filter that the kernel refuses: the last instruction must end it.
    monkeypatch.setattr(system, "program", lambda *_: bytes(8))
    assert watched(command) == with_filter


def test_the_filter_stops_at_what_is_named_and_at_every_other_table() -> None:
    numbers = {1, 2, 41, 318}
    machine = "x86_64"
    for number, architecture, stops in (
        *((number, ARCHITECTURES[machine], number in numbers) for number in range(340)),
        (3, 0x40000003, True),  # that of i386
        (3 | OTHER_TABLE, ARCHITECTURES[machine], True),
    ):
        assert run(program(machine, numbers), {0: number, 4: architecture}) == (0x7FF00000 if stops else 0x7FFF0000)


def run(instructions: bytes, data: Mapping[int, int]) -> int:
    """What a filter says, by the rules of the kernel's classic BPF."""
    lines = [
        (int.from_bytes(each[:2], sys.byteorder), each[2], each[3], int.from_bytes(each[4:], sys.byteorder))
        for each in (instructions[at : at + 8] for at in range(0, len(instructions), 8))
    ]
    at = held = 0
    while True:
        code, yes, no, value = lines[at]
        at += 1
        if code == 0x20:
            held = data[value]
        elif code == 0x06:
            return value
        else:
            at += yes if (held == value if code == 0x15 else held >= value) else no


def test_a_private_operation_by_its_primes_undoes_the_public_one() -> None:
    keys = AuditKeys()
    n = int.from_bytes(bytes.fromhex(keys.issuer["key"])[-261:-5])
    for number in (2, n - 2, random.Random(3).randrange(n)):
        assert pow(keys.power(number), 65537, n) == number


def test_a_filter_that_the_kernel_refuses_is_said() -> None:
    assert not Filter(ctypes.CDLL(None), bytes(8)).enter()

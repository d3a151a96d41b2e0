"""What docs/place.md says: a place on a machine of its own, then a collector beside it, and people who answer.

The clock runs while the page is followed: it stands while the collector is installed, which another institution has
done before. The first four people use a phone, as the page tells whoever tries its place.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tools.machine.debian import ROOT, Machine, write
from tools.machine.institution import reports_of, tutorial_until_moved
from tools.machine.pages import SETTINGS, below, expect, follow, marked, page

CERTIFICATE = "etc/letsencrypt/live/place.example/fullchain.pem"

PHONE, LAPTOPS = "198.51.100.7", "198.51.100.8"
"""Addresses of respondents (RFC 5737). The place is reached under them, too: on one machine both ends have one."""

WEEKS = 4

SURVEY = """
title = "Exams"
closes = {closes}
place = ["https://place.example"]
[[questions]]
id = "cheated"
type = "yes-no"
text = "Did you cheat in an exam this year?"
epsilon = 1.0

"""

PEOPLE = """
import random
import sys
from deniable_client import Client

client = Client("https://collector.example", place="https://place.example")
survey = client.survey(sys.argv[1])
for student in range(400):
    client.submit(survey, client.randomize(survey, {"cheated": random.choice(["no", "yes"])}))
"""

LONGEST_DELAY = 15 * 60
"""The default of ``--delay``, in seconds."""

IN_NOBODY_S_FILES = "/var/lib/deniable-place /var/lib/deniable /var/log /var/lib/nginx /tmp"


class Clock:
    """Adds up the seconds of the steps of a reader."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a step."""
        began = time.monotonic()
        yield
        took = time.monotonic() - began
        self.seconds += took
        print(f"{took:6.1f} s  == {name} ==", flush=True)


def walk(machine: Machine) -> None:
    """Follow the page on a machine that has nothing."""
    text, clock = page("place"), Clock()
    set_up, trial = below(text, "### On a machine with systemd").split("**See it work before people come.**")
    set_up, allow = set_up.split("\nThen give it the collector's token.")
    with clock.step("a place on a machine of its own"):
        follow(machine, marked(set_up))
    tutorial_until_moved(machine)  # the other institution, before
    collector = marked(below(text, "## For the collector: a token for the place"))
    first = datetime.datetime.now(tz=datetime.UTC).date()
    with clock.step("keys, token, survey"):
        printed = follow(machine, collector[:1], SETTINGS, {"2026-11-23": f"{first}"})
        token = re.findall(r"dn_[\w-]+", printed)[-1]
        closes = first + datetime.timedelta(weeks=WEEKS, days=-1)
        machine.run(
            f"cat > my-survey.toml <<'END'\n{SURVEY.format(closes=closes)}END\ncat sealed.toml >> my-survey.toml"
        )
        printed = follow(machine, collector[1:], SETTINGS)
        (link,) = re.findall(r"https://place\.example/#\S+", printed)
    steps = marked(trial)
    with clock.step("the collector is allowed, and batches are made small"):
        follow(machine, marked(allow), typed={"dn_...": token})
        follow(machine, steps[:1])
    machine.run(f"for each in {PHONE} {LAPTOPS}; do ip address add $each/32 dev lo; done")
    survey = link.rpartition("/")[2]
    with clock.step("four people answer on phones, one of them offline at first, and a batch arrives"):
        print(machine.run_here(_phone(machine, link)), end="")
        _wait_for(machine, {survey: 2}, 60)
    with clock.step("what is known of them"):
        known = follow(machine, steps[1:2], SETTINGS)
        expect(re.findall(rf"{survey} +https://collector\.example +(\d+)", known), ["2"])
    print(f"{clock.seconds / 60:.1f} minutes from a bare machine to the first batch.", flush=True)
    follow(machine, steps[2:])
    check = marked(below(text, "## What the place could do"))
    expect(follow(machine, check, "export PATH=/opt/deniable/bin:$PATH; set -o pipefail"), "")
    _look_around(machine)
    _first_batch_of_200(machine, survey)
    _look_around(machine)


def _phone(machine: Machine, link: str) -> list[str]:
    """The command that answers in Chromium, which takes the place's own key and no other.

    That the practice authority has signed it is seen by curl and the Python client, which trust what the machine does.
    """
    certificate = x509.load_pem_x509_certificate((machine.folder / CERTIFICATE).read_bytes())
    public = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    pin = base64.b64encode(hashlib.sha256(public).digest()).decode()
    return [sys.executable, "-m", "tools.machine.phone", link, PHONE, pin, str(ROOT / "build")]


def _wait_for(machine: Machine, reports: dict[str, int], seconds: float) -> None:
    """Wait until so many reports have arrived."""
    give_up = time.monotonic() + seconds
    while (found := reports_of(machine)) != reports:
        if time.monotonic() > give_up:
            raise RuntimeError(f"the collector: must have {reports} within {seconds:.0f} s, got {found}")
        time.sleep(1)


def _look_around(machine: Machine) -> None:
    """What neither institution may have: an address of a respondent, a log of requests, a file of the other."""
    for address in (PHONE, LAPTOPS):
        expect(machine.run(f"grep -rlaF {address} {IN_NOBODY_S_FILES} || true"), "")
        expect(machine.run(f"journalctl --no-pager --all --output export | grep -aF {address} || true"), "")
    expect(machine.run("find /var/log/nginx -type f -size +0 ! -name error.log"), "")
    for user, other in (("deniable", "deniable-place/place.db"), ("deniable-place", "deniable/deniable.db")):
        tried = f"runuser -u {user} -- cat /var/lib/{other} 2>&1 >/dev/null || true"
        expect(machine.run(tried).rpartition(": ")[2].strip(), "Permission denied")
    moved = machine.run("curl -s -o /dev/null -w '%{http_code} %{redirect_url}' http://place.example/")
    expect(moved, "301 https://place.example/")
    print(machine.run("systemd-analyze verify /etc/systemd/system/deniable-place.service"))
    print(machine.run("systemd-analyze security deniable-place --no-pager | tail -1"), flush=True)


def _first_batch_of_200(machine: Machine, survey: str) -> None:
    """What the defaults do: two wait from the trial, 400 come, and within a quarter of an hour 200 of them leave."""
    write(machine, "root/people.py", PEOPLE)
    machine.run(f"sed --in-place 's/^127.0.0.1 place.example/{LAPTOPS} place.example/' /etc/hosts")
    began = time.monotonic()
    machine.run(f"/opt/deniable/bin/python /root/people.py {survey}")
    print(f"{time.monotonic() - began:6.1f} s  400 people answer by the Python client", flush=True)
    began = time.monotonic()
    _wait_for(machine, {survey: 202}, LONGEST_DELAY + 60)
    print(f"{time.monotonic() - began:6.1f} s  until a batch of 200 has arrived", flush=True)

"""Somebody else's program: verifies what a collector publishes, written from `docs/verifying.md` and `docs/reports.md`.

It imports nothing of the project: the standard library, and `cryptography` for the signature. Run it as
``python outsider.py https://collector.example ID``.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import math
import sys
import urllib.request
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def root(leaves: Sequence[bytes]) -> bytes:  # RFC 9162, section 2.1
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256(b"")
    k = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b"\1" + root(leaves[:k]) + root(leaves[k:]))


def channel(question: dict[str, Any]) -> list[tuple[Fraction, Fraction]] | None:
    """For each option a and b: how likely a report supports it if it is true, and if another one is."""
    mechanism, word = question["mechanism"], 2**32
    name, k = mechanism["name"], len(question["options"])
    if name in ("k-ary", "warner"):
        keep = Fraction(mechanism["keep"], word)
        return [(keep, (1 - keep) / (k - 1))] * k
    if name == "tick-boxes":
        keep = Fraction(mechanism["keep"], word)
        return [(keep, 1 - keep)] * k
    if name == "two-coin":
        truth, yes = Fraction(mechanism["truth"], word), Fraction(mechanism["yes"], word)
        others = [(1 - truth) * (1 - yes), (1 - truth) * yes]
        return [(truth + other, other) for other in others]
    if name == "subset":
        w = mechanism["w"]
        inside, outside = math.comb(k - 1, w - 1) * mechanism["inside"], math.comb(k - 1, w) * word
        a = Fraction(inside, inside + outside)
        # Another option is among the w - 1 others of a set with the truth, or among the w of a set without it.
        return [(a, a * Fraction(w - 1, k - 1) + (1 - a) * Fraction(w, k - 1))] * k
    return None


def counts_of(question: dict[str, Any], values: list[str]) -> list[int]:
    """How many of the values of reports.csv support each option."""
    if values and values[0].startswith("b"):  # a character for each option, behind a b
        return [sum(value[1 + option] == "1" for value in values) for option in range(len(question["options"]))]
    return [sum(int(value) == option for value in values) for option in range(len(question["options"]))]


def p_value(share: float, count: int, n: int, a: float, b: float) -> float:
    """Of the exact test of a share that orders counts by their likelihood ratio (Feldman and Cousins)."""

    def log(k: int, lam: float) -> float:
        return k * math.log(max(lam, 1e-300)) + (n - k) * math.log(max(1 - lam, 1e-300))

    lam, low, high = b + (a - b) * share, min(a, b), max(a, b)
    fall = [log(k, lam) - log(k, min(max(k / n, low), high)) for k in range(n + 1)]
    ways = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(n + 1)]
    return sum(math.exp(ways[k] + log(k, lam)) for k in range(n + 1) if fall[k] <= fall[count] + 1e-9)


def check_interval(row: dict[str, str], count: int, n: int, a: float, b: float) -> None:
    """Beyond each end nothing is accepted, and something is just within it; to the third digit."""
    for end, out in ((float(row["conf_low"]), -1), (float(row["conf_high"]), 1)):
        inside, outside = ([end + sign * out * step / 1000 for step in (0.2, 0.5, 1, 2)] for sign in (-1, 1))
        assert any(p_value(s, count, n, a, b) > 0.05 for s in [end, *inside] if 0 <= s <= 1), "interval: too wide"
        assert not any(p_value(s, count, n, a, b) > 0.05 for s in outside[1:] if 0 <= s <= 1), "interval: too short"


def verify(fetch: Callable[[str], bytes], survey_id: str) -> int:
    """Check everything; the number of estimates that were recomputed. `fetch` gives the bytes at a path."""
    api = f"/api/v1/surveys/{survey_id}"
    document = fetch(api)
    address = base64.b32encode(sha256(document)[:16]).decode().rstrip("=").lower()
    assert address == survey_id, "survey: another one"
    log = json.loads(fetch(f"{api}/releases"))
    key, head = Ed25519PublicKey.from_public_bytes(bytes.fromhex(log["key"])), json.loads(log["head"])
    key.verify(bytes.fromhex(log["head_signature"]), log["head"].encode())
    records = [fetch(f"{api}/releases/{each['number']}") for each in log["releases"]]
    assert head["survey"] == survey_id, "log: of another survey"
    assert head["size"] == len(records) > 0, "log: a release is missing"
    assert head["root"] == root([sha256(b"\0" + record) for record in records]).hex(), "log: another root"
    for record, each in zip(records, log["releases"], strict=True):
        key.verify(bytes.fromhex(each["signature"]), record)
    released, content = json.loads(records[-1]), fetch(f"{api}/reports.csv")
    assert sha256(content).hex() == released["rows_sha256"], "rows: not the signed ones"
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert len(rows) == released["n"], "rows: another number"
    estimates = list(csv.DictReader(io.StringIO(fetch(f"{api}/estimates.csv").decode())))
    recomputed = 0
    for question in json.loads(document)["questions"]:
        supports = channel(question)
        if supports is None:
            continue
        for tally in released["tallies"]:
            of_cohort = [row[question["id"]] for row in rows if row["cohort"] == (tally["cohort"] or "")]
            assert counts_of(question, of_cohort) == tally["counts"][question["id"]], "tallies: not a recount"
        values = [row[question["id"]] for row in rows]
        for option, count in enumerate(counts_of(question, values)):
            (a, b), name, n = supports[option], str(question["options"][option]), len(values)
            keys = {"question": question["id"], "option": name, "statistic": "share"}
            (row,) = (each for each in estimates if keys.items() <= each.items())
            p = count / n
            share, error = (p - float(b)) / float(a - b), math.sqrt(p * (1 - p) / n) / abs(float(a - b))
            assert math.isclose(float(row["estimate"]), share, abs_tol=1e-9), "numbers: another estimate"
            assert math.isclose(float(row["std_error"]), error, abs_tol=1e-9), "numbers: another error"
            check_interval(row, count, n, float(a), float(b))
            recomputed += 1
    return recomputed


if __name__ == "__main__":
    print(verify(lambda path: urllib.request.urlopen(sys.argv[1] + path).read(), sys.argv[2]), "estimates recomputed")

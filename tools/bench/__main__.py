"""What things cost, as ratios within one run: ``make bench``.

These machines are noisy, so every figure is the median of several rounds that alternate between what is compared.
It ends with an error if the collector became slower than `tools.bench.versions` allows, and names the figure.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from deniable import (
    DrawnBoxes,
    Geometric,
    KAry,
    OneBitMean,
    Piecewise,
    Question,
    Report,
    Subset,
    TickBoxes,
    TwoCoin,
    Warner,
    parse_report,
    read_survey,
)
from deniable.randomness import system_words
from deniable.table import format_table
from deniable_client import randomize
from deniable_client.demo.people import survey_file
from deniable_research.simulation.draw import randomize_people
from deniable_server.store.sqlite.store import SqliteStore
from deniable_statistics.designs.spaces import tally_array
from tools.bench import cost, ingest, postgresql, storage, versions, views
from tools.bench.others import BOXES, PEOPLE

ROUNDS = 7


def medians(**contenders: Callable[[], object]) -> dict[str, float]:
    """Median seconds of each contender, taking turns."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def many_answers() -> list[tuple[str, ...]]:
    """`randomize_many` against reading four random bytes a report from the system."""
    n = 2_000_000
    dice = np.random.default_rng(1)
    mechanisms = {
        "two coins": TwoCoin("1/2", "1/2"),
        "warner": Warner.from_epsilon(1),
        "k-ary, k = 4": KAry.from_epsilon(4, 1),
        "k-ary, k = 100": KAry.from_epsilon(100, 1),
        "geometric, 11 levels": Geometric.from_epsilon(0, 10, 1),
        "mean": OneBitMean.from_epsilon(0, 100, 1),
        "piecewise": Piecewise.from_epsilon(0, 100, 4),
    }
    answers = {name: dice.integers(0, mechanism.k, n) for name, mechanism in mechanisms.items()}
    contenders: dict[str, Callable[[], object]] = {"system": lambda: np.frombuffer(os.urandom(4 * n), "<u4")}
    for name, mechanism in mechanisms.items():
        contenders[name] = lambda mechanism=mechanism, name=name: mechanism.randomize_many(answers[name])
    cost = medians(**contenders)
    return [(f"randomize_many, {name}", f"{n / cost[name] / 1e6:.1f} M/s", f"{cost['system'] / cost[name]:.2f}")
            for name in mechanisms]  # fmt: skip


def many_sets() -> list[tuple[str, ...]]:
    """Mechanisms whose reports are sets."""
    n = 300_000
    dice = np.random.default_rng(2)
    subset, boxes = Subset.from_epsilon(30, 8, 1), TickBoxes.from_epsilon(10, 2)
    drawn = DrawnBoxes.from_epsilon(10, 2)
    answers, ticks = dice.integers(0, 30, n), dice.integers(0, 2, (n, 10))
    contenders = {
        "subset, 8 of 30": lambda: subset.randomize_many(answers),
        "tick boxes, 10": lambda: boxes.randomize_many(ticks),
        "drawn boxes, 2 of 10": lambda: drawn.randomize_many(ticks),
    }
    cost = {name: medians(it=run)["it"] for name, run in contenders.items()}
    return [(f"randomize_many, {name}", f"{n / seconds / 1e6:.2f} M/s", "") for name, seconds in cost.items()]


def figures_of_others(python: str) -> dict[str, dict[str, float]]:
    """What other libraries do in this very run."""
    done = subprocess.run([python, str(Path(__file__).with_name("others.py"))], capture_output=True, check=True)
    found: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def errors(theirs: Mapping[str, float]) -> list[tuple[str, ...]]:
    """``n`` times the mean squared error of the shares of several boxes or yes-no questions, half of all with each."""
    dice = np.random.default_rng(16)
    found = dict(theirs)
    for k, epsilon in BOXES:
        for mechanism in (TickBoxes.from_epsilon(k, epsilon), DrawnBoxes.from_epsilon(k, epsilon)):
            squares = []
            for _ in range(10 * ROUNDS):
                reports = mechanism.randomize_many(dice.integers(0, 2, (PEOPLE, k)))
                shares = mechanism.estimate(tally_array(mechanism.reports, reports), PEOPLE).share
                squares.append(np.mean((np.array(shares) - 0.5) ** 2))
            found[f"deniable, {mechanism.name}, {k} boxes, epsilon {epsilon:g}"] = PEOPLE * float(np.mean(squares))
        asked = questions_of(k, epsilon)
        squares = []
        for _ in range(10 * ROUNDS):
            answers = {each.id: dice.integers(0, 2, PEOPLE) for each in asked}
            told = randomize_people(asked, answers, system_words)
            counts = [tally_array(each.mechanism.reports, told[each.id].told) for each in asked]
            yes = [each.mechanism.estimate(count).share[1] for each, count in zip(asked, counts, strict=True)]
            squares.append(np.mean((np.array(yes) - 0.5) ** 2))
        found[f"deniable, as questions, {k} boxes, epsilon {epsilon:g}"] = PEOPLE * float(np.mean(squares))
    by_size = sorted(found.items(), key=lambda each: (each[0].split(", ", 2)[2], -each[1]))
    return [(name, f"{value:.3g}") for name, value in by_size]


def questions_of(k: int, epsilon: float) -> tuple[Question, ...]:
    """As many yes-no questions that share an epsilon."""
    asked = "".join(f'[[questions]]\nid = "q{n}"\ntype = "yes-no"\ntext = "{n}?"\n' for n in range(k))
    return read_survey(f'title = "T"\nepsilon = {epsilon}\n{asked}').questions


def others(theirs: Mapping[str, float]) -> list[tuple[str, ...]]:
    """Other libraries as they are used: one call for each answer. Ours both ways."""
    rates = dict(theirs)
    n = 20_000
    dice = np.random.default_rng(3)
    four, thirty = dice.integers(0, 4, n), dice.integers(0, 30, n)
    k_ary, subset = KAry.from_epsilon(4, 1), Subset.from_epsilon(30, 8, 1)
    loops = {
        "deniable, yes-no, one call each": (TwoCoin("1/2", "1/2"), (four % 2).tolist()),
        "deniable, k = 4, one call each": (k_ary, four.tolist()),
        "deniable, subsets of 30, one call each": (subset, thirty.tolist()),
    }
    for name, (mechanism, answers) in loops.items():
        cost = medians(it=lambda m=mechanism, a=answers: [m.randomize(each) for each in a])["it"]
        rates[name] = n / cost
    for name, mechanism, given in (
        ("deniable, k = 4, randomize_many", k_ary, np.tile(four, 50)),
        ("deniable, subsets of 30, randomize_many", subset, np.tile(thirty, 10)),
    ):
        rates[name] = given.size / medians(it=lambda m=mechanism, a=given: m.randomize_many(a))["it"]
    base = rates["pure-LDP 1.2.0, k = 4"]
    return [(name, f"{value / 1e6:.3f} M/s", f"{value / base:.2f}") for name, value in rates.items()]


def one_person() -> list[tuple[str, ...]]:
    """One person's way through the device and the collector's parser."""
    survey = read_survey(Path(survey_file()).read_bytes())
    answers = {"affair": "yes", "religious": "not", "rate_marriage": "good"}
    raw = randomize(survey, answers).encode()
    cost = medians(
        randomize=lambda: [randomize(survey, answers).encode() for _ in range(2000)],
        parse=lambda: [parse_report(raw, survey) for _ in range(2000)],
    )
    return [
        (f"{name} one report of 3 questions", f"{2000 / seconds / 1e3:.1f} k/s", "") for name, seconds in cost.items()
    ]


def storing() -> list[tuple[str, ...]]:
    """Durable transactions of several sizes, and the estimate after them."""
    survey = read_survey(Path(survey_file()).read_bytes())
    answers = {"affair": "yes", "religious": "not", "rate_marriage": "good"}
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "bench.db")
        store.publish(survey)
        rates = {}
        for size in (1, 16, 256, 1000):
            times = []
            for _ in range(ROUNDS):
                batch: list[Report] = [randomize(survey, answers) for _ in range(size)]
                start = time.perf_counter()
                store.store_reports([(survey, batch)])
                times.append(time.perf_counter() - start)
            rates[size] = size / statistics.median(times)
        rows += [
            (f"store, {size} reports a commit", f"{rate / 1e3:.1f} k/s", f"{rate / rates[1]:.1f}")
            for size, rate in rates.items()
        ]
        few = medians(tallies=lambda: store.tallies(survey))["tallies"]
        for _ in range(10):
            store.store_reports([(survey, [randomize(survey, answers) for _ in range(10_000)])])
        many = medians(tallies=lambda: store.tallies(survey))["tallies"]
        rows.append(("tallies of 100,000 more reports", f"{1e6 * many:.0f} us", f"{few / many:.2f}"))
        store.close()
    return rows


if __name__ == "__main__":
    results = [*many_answers(), *many_sets(), *one_person(), *storing()]
    print(format_table(("what", "rate", "ratio"), results, right={"rate", "ratio"}))
    print()
    rows = [
        *ingest.ingest(),
        *ingest.sealed(),
        *ingest.estimates(),
        *storage.batches(),
        *storage.sizes(),
        *postgresql.several(),
    ]
    print(format_table(("collector", "rate", "ratio"), rows, right={"rate", "ratio"}))
    print()
    print(format_table(views.HEADER, views.rows(), right=views.HEADER[2:]))
    print()
    slower = versions.compare()
    print()
    print(format_table(cost.HEADER, cost.costs(), right=cost.HEADER[1:]))
    if len(sys.argv) > 1:
        print()
        theirs = figures_of_others(sys.argv[1])
        print(format_table(("library", "rate", "to pure-LDP"), others(theirs["rates"]), right={"rate", "to pure-LDP"}))
        print()
        print(
            format_table(
                ("shares of boxes", "n times squared error"), errors(theirs["errors"]), right={"n times squared error"}
            )
        )
    print("\nratio: to reading 4 random bytes a report; to one report a commit; to the tallies before")
    sys.exit("\n".join(slower) or 0)

"""What is on the disk tells no order: the raw bytes of every file, after folds, and after too few reports for one."""

from __future__ import annotations

import itertools
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from deniable import Report, Survey, read_survey
from deniable_server.store.sqlite.fold import LOAD
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.surveys import FIVE_TYPES

PAGE = 4096


def forensics(short: bool) -> str:
    """Read the files of stores that took reports in different numbers, and look for what came first."""
    survey = replace(read_survey(FIVE_TYPES), cohorts=("paper", "web" * 50))  # live: its cohorts fold together
    in_batches = replace(survey, results="batches")
    wide = read_survey(wide_survey())
    said = []
    for name, each, folds, at_a_time in [
        ("folds of 200", survey, 5 if short else 60, 200),
        ("rows of more than a page", wide, 2 if short else 10, 200),
        ("too few for a fold", survey, 1, 150),
    ]:
        said.append(f"{name}: {examine(each, folds, at_a_time)}")
    said.append(f"folds of three cohorts: {examine(in_batches, 3 if short else 20, 600, together=6)}")
    batches = partial(examine, survey, 3 if short else 15, LOAD, together=500)
    said.append(f"batches, then at rest: {batches(rest=True)}")
    said.append(f"batches, then closed: {batches(close=True)}")
    if not short:
        said.append(f"batches: {batches(copies=300)}")
        said.append(f"under load: {examine(survey, 15, LOAD, copies=300)}")
        said.append(f"at rest after load: {examine(survey, 15, LOAD, then=200)}")
        said.append(f"closed after load: {examine(survey, 15, LOAD, close=True)}")
    return "; ".join(said)


SCENARIOS: dict[str, Callable[[bool], str]] = {"forensics": forensics}


def examine(
    survey: Survey,
    folds: int,
    at_a_time: int,
    then: int = 0,
    close: bool = False,
    copies: int = 0,
    together: int = 7,
    rest: bool = False,
) -> str:
    """Store so many reports as often, settle each time, and read what the files hold.

    Parameters
    ----------
    then : int
        How many to store once more, and settle.
    close : bool
        Whether to close the survey then.
    copies : int
        Second copies of an id that may be found: above `WRITTEN_ANEW` rows, and under load, SQLite leaves some on pages
        that it moves rows from.
    together : int
        How many to store in one transaction.
    rest : bool
        Whether to settle once more when nothing came.
    """
    with tempfile.TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "test.db")) as store:
        store.publish(survey)
        arrived: list[str] = []
        dice = random.Random(7)  # with random ids a place is random, and 150 of them could correlate by chance
        for total in [at_a_time] * folds + [then] * bool(then):
            for some in chunks(total, together):
                cohort = itertools.cycle([None, *survey.cohorts])
                reports = [invented(survey, next(cohort), dice) for _ in range(some)]
                store.store_reports([(survey, reports)])
                arrived += [report.id for report in reports]
            assert store.settle()
        if rest:
            assert store.settle()
        if close:
            store.close_survey(survey.id)
        # Another process reads: closing a file gives up the locks that SQLite has on it in this one.
        files = {name: read_elsewhere(Path(folder) / name) for name in ("test.db", "test.db-wal", "test.db-shm")}
        assert not files["test.db-wal"], "the log is not empty"
        found = defaultdict(list)
        for content in files.values():
            for report_id, place in places(content, set(arrived)):
                found[report_id].append(place)
        assert set(found) == set(arrived)
        second = sum(len(each) - 1 for each in found.values())
        assert second <= copies, f"{second} ids stand there twice"
        position = [found[report_id][0] for report_id in arrived]
        overall = rank_correlation(position, range(len(arrived)))
        assert abs(overall) < 0.2, f"rank correlation with arrival {overall:.2f}"
        within = statistics.fmean(list(within_pages(position)) or [0])
        assert copies or abs(within) < 0.2, f"rank correlation with arrival {within:.2f} within pages"
        return (
            f"{len(arrived)} ids, {second} of them twice, rank correlation with arrival {overall:+.3f}, "
            f"within pages {within:+.3f}"
        )


def within_pages(position: Sequence[int]) -> Iterator[float]:
    """The rank correlation of place and arrival on each page with enough reports."""
    pages = defaultdict(list)
    for arrival, place in enumerate(position):
        pages[place // PAGE].append((place, arrival))
    for page in pages.values():
        if len(page) >= 10:
            yield rank_correlation(*zip(*page, strict=True))


def rank_correlation(some: Sequence[int], others: Sequence[int]) -> float:
    """Spearman's, of numbers that all differ."""
    ranks = [{value: rank for rank, value in enumerate(sorted(values))} for values in (some, others)]
    n = len(some)
    apart = sum((ranks[0][one] - ranks[1][other]) ** 2 for one, other in zip(some, others, strict=True))
    return 1 - 6 * apart / (n * (n * n - 1))


def places(content: bytes, wanted: set[str]) -> Iterator[tuple[str, int]]:
    """Every place at which one of these ids stands: 32 hexadecimal digits, perhaps with more of them around."""
    for digits in re.finditer(rb"[0-9a-f]{32,}", content):
        for place in range(digits.start(), digits.end() - 31):
            text = content[place : place + 32].decode()
            if text in wanted:
                yield text, place


def read_elsewhere(path: Path) -> bytes:
    """A file's bytes, read by another process."""
    return subprocess.run(
        [sys.executable, "-c", "import sys; sys.stdout.buffer.write(open(sys.argv[1], 'rb').read())", str(path)],
        capture_output=True,
        check=True,
    ).stdout


def chunks(total: int, at_most: int) -> Iterator[int]:
    """Parts of a number, as transactions take them under little load."""
    for start in range(0, total, at_most):
        yield min(at_most, total - start)


def wide_survey() -> str:
    """A survey whose reports are longer than the 1,002 bytes that SQLite keeps of a row on its page."""
    question = '[[questions]]\nid = "q{0}"\ntype = "ticks"\ntext = "Q"\noptions = {1}\nepsilon = 1\n'
    options = "[" + ", ".join(f'"{n}"' for n in range(22)) + "]"
    return 'title = "Wide"\n' + "".join(question.format(n, options) for n in range(90))


def invented(survey: Survey, cohort: str | None, dice: random.Random) -> Report:
    """A report without a respondent."""
    values: dict[str, int | str] = {}
    for question in survey.questions:
        k = question.mechanism.k
        number = dice.randrange(k)
        values[question.id] = number if question.mechanism.reports.json_type is int else f"{dice.getrandbits(k):0{k}b}"
    return Report(f"{dice.getrandbits(128):032x}", cohort, values)

"""The audit of one client with one survey: draw reports, check each exactly, count, test."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator

import numpy as np

from deniable import Report, Survey
from deniable_client.audit.answers import answers_to
from deniable_client.audit.contingency import Tables
from deniable_client.audit.evidence import FAILURE, FOUND, Audit, Check
from deniable_client.audit.replay import Departure, check_form, replay
from deniable_client.audit.sampling import Draw, RecordedReport, Trials, draw_trials
from deniable_client.audit.timing import check_times

BLOCK = 20_000
"""Number of reports that are held in memory at a time."""


class _Exact:
    """The departures among reports that are checked one by one: their number, and the first of them."""

    def __init__(self, name: str) -> None:
        self.name, self.n, self.bad, self.first = name, 0, 0, ""

    def add(self, fault: Departure | None) -> None:
        self.n += 1
        if fault:
            self.bad += 1
            self.first = self.first or str(fault)

    @property
    def check(self) -> Check:
        # A fault in a share s of n reports is missed with probability (1 - s)^n = 1 - FOUND, solved for s.
        share = 1 - (1 - FOUND) ** (1 / max(self.n, 1))
        power = (
            f"1 report in {math.floor(1 / share):,} that is otherwise" if self.n else "nothing: no report was recorded"
        )
        return Check(self.name, f"{self.bad:,} of {self.n:,} reports: {self.first}" if self.bad else None, power)


def audit_survey(
    survey: Survey, draw: Draw, draws: int, failure: float = FAILURE, dice: random.Random | None = None
) -> Audit:
    """Look for anything in the reports of a client that tells more about an answer than its survey declares.

    Parameters
    ----------
    survey : Survey
    draw : callable
        Draws reports from the audited client.
    draws : int
        Number of reports, each of random answers to all questions. For one half, the chance that goes into a report is
        recorded and the report is computed again; the other half is timed.
    failure : float
        Probability that a faultless client is accused of anything.
    dice : random.Random, optional
        Chooses the answers; by default at random.
    """
    dice = dice or random.SystemRandom()
    form, source = _Exact("form"), _Exact("source of chance")
    answers = tuple(answers_to(question, dice) for question in survey.questions)
    tables = Tables(answers, dice)
    ids: list[bytes] = []
    times, codes = np.zeros(0, dtype=np.int64), np.zeros((0, len(survey.questions)), dtype=np.uint16)
    # Recording chance slows the client down, so one half is timed and the other half recorded.
    for record, n in ((False, draws - draws // 2), (True, draws // 2)):
        trials = draw_trials(survey, answers, n, dice)
        if not record:
            times, codes = np.zeros(n, dtype=np.int64), trials.codes[:, :-1]
        number = 0
        for block in _blocks(draw(survey, trials, record), n):
            kept: list[tuple[int, Report]] = []
            for drawn in block:
                report = _look(drawn, number, trials, survey, form, source)
                if report:
                    kept.append((number, report))
                if not record:
                    times[number] = drawn.nanoseconds
                number += 1
            if kept:
                rows = np.array([row for row, _ in kept])
                ids.append(b"".join(bytes.fromhex(report.id) for _, report in kept))
                tables.add([report for _, report in kept], trials.codes[rows, :-1], trials.free[rows])
        if number != n:
            form.add(Departure(f"{number:,} lines for {n:,} reports"))
    checks = (
        form.check,
        source.check,
        _check_repeats(b"".join(ids)),
        # Bonferroni: a third of the failure probability each for findings, tables and times.
        *tables.checks(failure / 3),
        check_times(times, codes, answers, failure / 3),
    )
    return Audit(tuple(tables.findings(failure / 3)), checks, draws)


def _check_repeats(ids: bytes) -> Check:
    """Whether all ids differ; random ones do, but for a probability below 1e-20."""
    # 128 bits are two 64-bit columns, which numpy can sort.
    halves = np.frombuffer(ids, dtype=np.uint64).reshape(-1, 2)
    repeated = len(halves) - len(np.unique(halves, axis=0))
    fault = f"{repeated:,} of {len(halves):,} ids came before" if repeated else None
    return Check("ids differ", fault, "two that are alike")


def _look(
    drawn: RecordedReport, number: int, trials: Trials, survey: Survey, form: _Exact, source: _Exact
) -> Report | None:
    """The report, if its form is right; departures are noted."""
    cohort = trials.cohorts[int(trials.codes[number, -1])]
    right = trials.rights[number]
    try:
        report: Report | None = check_form(drawn.line, survey, cohort, right)
        form.add(None)
    except Departure as fault:
        report = None
        form.add(fault)
    if drawn.chance is not None:
        try:
            replay(drawn.line, survey, trials.truths(number), cohort, drawn.chance, right)
            source.add(None)
        except Departure as fault:
            source.add(fault)
    return report


def _blocks(drawn: Iterator[RecordedReport], n: int) -> Iterator[list[RecordedReport]]:
    """Blocks of drawn reports, at most ``n`` reports in all."""
    drawn = itertools.islice(drawn, n)
    while block := list(itertools.islice(drawn, BLOCK)):
        yield block

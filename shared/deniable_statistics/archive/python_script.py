"""A script of Python that computes the published estimates from a file of reports."""

from __future__ import annotations

from deniable.access.words import ONE_REPORT
from deniable.survey.document import Survey
from deniable_statistics.archive.script_figures import Share, left_out, number, scored_of, shares_of

FUNCTIONS = """\
import csv
import math
import sys

import numpy as np
from scipy.stats import binom, chi2

LEVEL = 0.95


def interval(count, n, a, b):
    k = np.arange(n + 1)
    best = binom.logpmf(k, n, np.clip(k / n, min(a, b), max(a, b)))

    def fits(share):
        at = binom.logpmf(k, n, b + (a - b) * share)
        if n > 10_000:
            return 2 * (best[count] - at[count]) <= chi2.ppf(LEVEL, 1)
        return np.exp(at[at - best <= at[count] - best[count] + 1e-9]).sum() > 1 - LEVEL

    middle = min(max((count / n - b) / (a - b), 0), 1)
    held = [share for share in (*np.linspace(0, 1, 1001), middle) if fits(share)]
    return min(held), max(held)


def share(question, option, supports, a, b):
    n, count = len(supports), sum(supports)
    if not n:
        return question, option, 0, 0, None, None, 0, 1
    p = count / n
    error = math.sqrt(p * (1 - p) / n) / abs(a - b)
    return question, option, n, count, (p - b) / (a - b), error, *interval(count, n, a, b)


def scored(question, option, values, first, scores):
    sent = np.array([scores[int(value) - first] for value in values])
    n = len(sent)
    if not n:
        return question, option, 0, None, None, None, None, None
    return question, option, n, None, sent.mean(), sent.std() / math.sqrt(n), None, None


def column(number):
    return [row[number] for row in rows if row[number]]
"""


def python_script(survey: Survey, file: str) -> str:
    """A script for Python with numpy and scipy; the formulas are those of `deniable_statistics.archive.r_script`."""
    rows = [_share(each) for each in shares_of(survey)]
    rows += [
        f"    scored({each.question.id!r}, {_text(each.option)}, column({each.column - 1}), {each.first}, "
        f"{list(each.scores)!r}),"
        for each in scored_of(survey)
    ]
    lines = [
        f"# Estimates of the survey {survey.id} from its noisy reports, with standard errors and intervals.",
        "# a, b: probability that a report supports an option if it is true, and if another one is.",
        f"# n counts reports; {ONE_REPORT[survey.access]}.",
        *(f"# {each}" for each in left_out(survey)),
        FUNCTIONS,
        "",
        f'with open({_text(file)}, encoding="utf-8", newline="") as file:',
        "    _, *rows = csv.reader(file)",
        "results = [",
        *rows,
        "]",
        "table = csv.writer(sys.stdout)",
        'table.writerow(["question", "option", "n", "count", "estimate", "std_error", "conf_low", "conf_high"])',
        "for question, option, *numbers in results:",
        '    table.writerow([question, option, *("" if each is None else f"{each:.10g}" for each in numbers)])',
    ]
    return "\n".join(lines) + "\n"


def _share(share: Share) -> str:
    values, chances = f"column({share.column - 1})", ", ".join(map(number, share.support))
    if share.at is None:
        supports = f'[value == "{share.report}" for value in {values}]'
    elif share.drawn is None:
        supports = f'[value[{share.at - 1}] == "1" for value in {values}]'
    else:
        first = share.drawn - 1
        supports = f'[value[{first + 1}] == "1" for value in {values} if value[{first}:{first + 2}] != "00"]'
    return f"    share({share.question.id!r}, {_text(share.option)}, {supports}, {chances}),"


def _text(text: str) -> str:
    """A text as a literal of Python in ASCII."""
    return ascii(text)

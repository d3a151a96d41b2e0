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
from scipy.optimize import brentq
from scipy.special import expit, xlog1py, xlogy
from scipy.stats import binom, chi2

LEVEL = 0.95


def limit(k, n, low, high):
    # The lower end of the interval of a probability between low and high, of which k of n reports are a count.
    if k <= n * low:
        return low

    def loglik(count, p):
        return xlogy(count, p) + xlog1py(n - count, -p)

    def best(count):
        return loglik(count, np.clip(count / n, low, high))

    likely = min(k / n, high)
    if n > 10_000:  # the likelihood ratio has its chi-squared distribution

        def fall(p):
            return 2 * (best(k) - loglik(k, p)) - chi2.ppf(LEVEL, 1)

        low = max(low, 1e-15)
        return low if fall(low) <= 0 else brentq(fall, low, likely)

    # Feldman and Cousins: from a probability of step[c] on, a count of c is as unlikely as k.
    others = np.arange(k)
    step = np.minimum(expit((best(k) - best(others)) / (k - others)), likely)

    def extreme(p, c):
        return binom.sf(k - 1, n, p) + binom.cdf(c, n, p) - (1 - LEVEL)

    first = np.flatnonzero(extreme(step, others) > 0)[0]
    start = step[first - 1] if first > 0 else low
    if extreme(step[first], first - 1) <= 0:
        return step[first]
    if extreme(start, first - 1) >= 0:
        return start
    return brentq(extreme, start, step[first], args=(first - 1,))


def interval(count, n, a, b):
    low, high = min(a, b), max(a, b)
    ends = np.array([limit(count, n, low, high), 1 - limit(n - count, n, 1 - high, 1 - low)])
    return sorted(np.clip((ends - b) / (a - b), 0, 1))


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

"""Recipes: how to recompute a published figure from the public replies, in numbers and as scripts of Python and R."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from deniable.survey.question import Question
from deniable_statistics.designs.of_mechanisms import design_of, mean_values
from deniable_statistics.views.view_row import ViewRow, support_of, supports_of

MOST_WRITTEN = 12
"""Largest number of answers whose matrix of probabilities is written into a script."""


@dataclass(frozen=True)
class Ingredients:
    """The numbers behind a row: the count, the replies, and the exact probabilities `a` and `b` as fractions."""

    row: ViewRow
    a: str
    b: str


def ingredients(question: Question, rows: Sequence[ViewRow]) -> list[Ingredients]:
    """The numbers behind each share; ``a`` and ``b`` are empty where no single count tells it."""
    # As texts once for each option, and not for each row.
    supports, nothing = supports_of(question), ("", "")
    written = [nothing] * len(question.options) if supports is None else [(str(a), str(b)) for a, b in supports]
    channels = dict(zip(question.options, written, strict=True))
    return [Ingredients(row, *(channels[row.option] if row.statistic == "share" else nothing)) for row in rows]


def scripts(question: Question, rows: Sequence[ViewRow], url: str | None) -> tuple[str, str]:
    """A script of Python and one of R that recompute estimate, error and interval; of a mean without its interval.

    Parameters
    ----------
    question : Question
    rows : sequence of ViewRow
        Shares and means of everybody.
    url : str or None
        The address of ``reports.csv``; of an archive, which needs no collector, none: they read its file.
    """
    shares = [row for row in rows if row.statistic == "share" and row.cohort is None]
    if not shares:
        return _of_mean(question, url)
    # Of a yes-no question yes; of others the first option, whose number is changed for the next one.
    option = question.kind.headline or 0
    support = support_of(question, option)
    if support is None:
        return _by_matrix(question, url)
    return _of_share(question, option, (str(support.if_true), str(support.if_other)), shares[option].method, url)


def _read_in_python(url: str | None, *imports: str) -> str:
    """The first lines of a script of Python, up to the one that makes ``rows``."""
    if url is None:
        libraries, opened = "csv, io, pathlib", 'io.StringIO(pathlib.Path(file).read_text("utf-8"))'
        found = [
            "# from the folder of the archive or that of this script",
            'file = "reports.csv" if pathlib.Path("reports.csv").exists() else "../reports.csv"',
        ]
    else:
        libraries, opened = "csv, io, urllib.request", f'io.TextIOWrapper(urllib.request.urlopen("{url}"), "utf-8")'
        found = []
    imported = [f"import {libraries}", "import numpy as np", *imports]
    return "\n".join([*imported, "", *found, f"rows = csv.DictReader({opened})"])


def _read_in_r(url: str | None) -> str:
    """The first lines of a script of R, up to the call that reads all columns."""
    if url is not None:
        return f'values <- read.csv("{url}", colClasses = "character", check.names = FALSE)'
    return """\
# from the folder of the archive or that of this script
file <- if (file.exists("reports.csv")) "reports.csv" else "../reports.csv"
values <- read.csv(file, colClasses = "character", check.names = FALSE)"""


def _of_share(
    question: Question, option: int, channel: tuple[str, str], method: str, url: str | None
) -> tuple[str, str]:
    """Estimate, error, and the interval by inverting its test on a grid of 1,001 shares."""
    a, b = channel
    counted, of_whom = _counted_in_python(question)
    exact = method.endswith("feldman-cousins")
    fits = (
        "np.exp(at[at - best <= at[count] - best[count] + 1e-9]).sum() > 0.05"
        if exact
        else "2 * (best[count] - at[count]) <= 3.8415"
    )
    python = f"""\
{_read_in_python(url, "from scipy.stats import binom")}
values = [row["{question.id}"] for row in rows if row["{question.id}"]]
option, a, b = {option}, {a}, {b}  # answers count from 0, in the order of the table
n, count = {of_whom}, {counted}
p, k = count / n, np.arange(n + 1)
share, error = (p - b) / (a - b), (p * (1 - p) / n) ** 0.5 / abs(a - b)
best = binom.logpmf(k, n, np.clip(k / n, min(a, b), max(a, b)))
def fits(share):
    at = binom.logpmf(k, n, b + (a - b) * share)
    return {fits}
# In steps of 0.001: each end may lie up to 0.001 inside the interval.
# An archive with replies also has estimates.py, which finds the ends exactly.
held = [each for each in np.linspace(0, 1, 1001) if fits(each)]
{_published_in_python(question)}
print("unbiased estimate", share, "standard error", error, "interval", min(held), "to", max(held))
print("published: the most likely possible value", min(max(published, min(held)), max(held)))
"""
    counted, of_whom = _counted_in_r(question)
    fits = (
        "sum(exp(at[at - best <= at[count + 1] - best[count + 1] + 1e-9])) > 0.05"
        if exact
        else "2 * (best[count + 1] - at[count + 1]) <= 3.8415"
    )
    r = f"""\
{_read_in_r(url)}[["{question.id}"]]
values <- values[values != ""]
option <- {option}; a <- {a}; b <- {b}  # answers count from 0, in the order of the table
n <- {of_whom}; count <- {counted}; p <- count / n; k <- 0:n
share <- (p - b) / (a - b); error <- sqrt(p * (1 - p) / n) / abs(a - b)
best <- dbinom(k, n, pmin(pmax(k / n, min(a, b)), max(a, b)), log = TRUE)
fits <- function(share) {{ at <- dbinom(k, n, b + (a - b) * share, log = TRUE); {fits} }}
# In steps of 0.001: each end may lie up to 0.001 inside the interval.
# An archive with replies also has estimates.R, which finds the ends exactly.
held <- Filter(fits, seq(0, 1, 0.001))
{_published_in_r(question)}
print(c(unbiased = share, error = error, from = min(held), to = max(held)))
print(c(published = min(max(published, min(held)), max(held))))  # the most likely possible value
"""
    return python, r


def _published_in_python(question: Question) -> str:
    """Lines that make ``published``, the most likely possible share of the option; see `Design.feasible`."""
    if question.kind.takes_several:
        return "published = min(max(share, 0), 1)  # any of the boxes may be true at once"
    k = len(question.options)
    if question.mechanism.reports.json_type is str:
        return f"""\
shares = [(sum(value[1 + each] == "1" for value in values) / n - b) / (a - b) for each in range({k})]
low, high = min(shares) - 1, max(shares)
for _ in range(100):  # the nearest shares that are possible: one number less for each, and 0 at least
    less = (low + high) / 2
    low, high = (less, high) if np.maximum(np.array(shares) - less, 0).sum() > 1 else (low, less)
published = max(share - low, 0)"""
    other, slope, exchanged = _exchanged(question, "np.array([{}])", "counts = n - counts")
    return f"""\
counts = np.bincount([int(value) for value in values], minlength={k})
{exchanged}other = {other}  # the probability of each value where another answer is true
low, high = 0.0, 1 / counts.sum()
for _ in range(100):  # possible shares of all answers add up to 1
    scale = (low + high) / 2
    low, high = (low, scale) if np.maximum(other, scale * counts).sum() > 1 else (scale, high)
published = max(high * counts[option] - other[option], 0) / ({slope})"""


def _published_in_r(question: Question) -> str:
    if question.kind.takes_several:
        return "published <- min(max(share, 0), 1)  # any of the boxes may be true at once"
    k = len(question.options)
    if question.mechanism.reports.json_type is str:
        return f"""\
shares <- sapply(1:{k}, function(each) (mean(substr(values, 1 + each, 1 + each) == "1") - b) / (a - b))
low <- min(shares) - 1; high <- max(shares)
for (step in 1:100) {{  # the nearest shares that are possible: one number less for each, and 0 at least
  less <- (low + high) / 2
  if (sum(pmax(shares - less, 0)) > 1) low <- less else high <- less
}}
published <- max(share - low, 0)"""
    other, slope, exchanged = _exchanged(question, "c({})", "counts <- n - counts")
    return f"""\
counts <- tabulate(as.integer(values) + 1, {k})
{exchanged}other <- {other}  # the probability of each value where another answer is true
low <- 0; high <- 1 / sum(counts)
for (step in 1:100) {{  # possible shares of all answers add up to 1
  scale <- (low + high) / 2
  if (sum(pmax(other, scale * counts)) > 1) high <- scale else low <- scale
}}
published <- max(high * counts[option + 1] - other[option + 1], 0) / ({slope})"""


def _exchanged(question: Question, several: str, exchange: str) -> tuple[str, str, str]:
    """The probabilities of all values where another answer is true, their slope, and a line before them or nothing.

    A mechanism of two answers that mostly says the opposite is the same one with its reports exchanged, which the line
    does with their counts.
    """
    pairs: Sequence[tuple[Fraction, Fraction]] = supports_of(question) or ()
    slope, line = pairs[0][0] - pairs[0][1], ""
    if slope < 0:
        pairs, slope = [(1 - a, 1 - b) for a, b in pairs], -slope
        line = f"{exchange}  # most reports say the opposite\n"
    return several.format(", ".join(str(other) for _, other in pairs)), str(slope), line


def _counted_in_python(question: Question) -> tuple[str, str]:
    """Expressions for the number of values that support an option, and for that of values which could."""
    if question.mechanism.reports.is_drawn:
        # Two characters a box behind the b: 01 ticked, 10 not ticked, 00 not drawn.
        box = "value[1 + 2 * option : 3 + 2 * option]"
        return f'sum({box} == "01" for value in values)', f'sum({box} != "00" for value in values)'
    if question.mechanism.reports.json_type is str:
        return 'sum(value[1 + option] == "1" for value in values)', "len(values)"
    return "sum(int(value) == option for value in values)", "len(values)"


def _counted_in_r(question: Question) -> tuple[str, str]:
    if question.mechanism.reports.is_drawn:
        box = "substr(values, 2 + 2 * option, 3 + 2 * option)"
        return f'sum({box} == "01")', f'sum({box} != "00")'
    if question.mechanism.reports.json_type is str:
        return 'sum(substr(values, 2 + option, 2 + option) == "1")', "length(values)"
    return "sum(as.integer(values) == option)", "length(values)"


def _by_matrix(question: Question, url: str | None) -> tuple[str, str]:
    """Shares by the inverse of the matrix of probabilities, which is written out or read from the survey."""
    (matrix,) = design_of(question.mechanism).exact_channels
    if len(matrix) > MOST_WRITTEN or len(matrix) != len(matrix[0]):
        return "", ""
    rows = [", ".join(map(str, row)) for row in matrix]
    python = f"""\
{_read_in_python(url)}
values = [int(row["{question.id}"]) for row in rows if row["{question.id}"]]
A = np.array([{", ".join(f"[{row}]" for row in rows)}])  # A[v][x]: v is sent where x is true
n, p = len(values), np.bincount(values, minlength=len(A)) / len(values)
inverse = np.linalg.inv(A)
shares = inverse @ p
errors = np.sqrt(np.diag(inverse @ (np.diag(p) - np.outer(p, p)) @ inverse.T) / n)
possible = np.maximum(shares, 1e-9) / np.maximum(shares, 1e-9).sum()
for _ in range(10000):  # expectation-maximisation: the most likely shares that are possible
    possible = possible * (A.T @ (p / (A @ possible)))
print("unbiased shares", shares, "standard errors", errors)
print("published: the most likely possible shares", possible)
"""
    r = f"""\
{_read_in_r(url)}[["{question.id}"]]
values <- as.integer(values[values != ""])
A <- matrix(c({", ".join(rows)}), nrow = {len(rows)}, byrow = TRUE)  # A[v, x]: v is sent where x is true
n <- length(values); p <- tabulate(values + 1, {len(rows)}) / n
inverse <- solve(A)
shares <- drop(inverse %*% p)
errors <- sqrt(diag(inverse %*% (diag(p) - p %o% p) %*% t(inverse)) / n)
possible <- pmax(shares, 1e-9) / sum(pmax(shares, 1e-9))
for (step in 1:10000) {{  # expectation-maximisation: the most likely shares that are possible
  possible <- possible * drop(t(A) %*% (p / drop(A %*% possible)))
}}
print(rbind(unbiased = shares, error = errors, published = possible))
"""
    return python, r


def _of_mean(question: Question, url: str | None) -> tuple[str, str]:
    """A mean from the weight of each value that can be sent."""
    values = mean_values(question)
    if values is None or not question.mechanism.reports.supports_one:
        return "", ""
    weights, constant = design_of(question.mechanism).mean_weights(values)
    if len(weights) > 10 * MOST_WRITTEN:
        return "", ""
    numbers = ", ".join(repr(float(each)) for each in weights)
    lowest, highest = float(min(values)), float(max(values))
    first = question.mechanism.reports.first
    python = f"""\
{_read_in_python(url)}
values = [int(row["{question.id}"]) - {first} for row in rows if row["{question.id}"]]
scores = {float(constant)!r} + np.array([{numbers}])  # what each value that is sent stands for
sent = scores[values]
print("unbiased mean", sent.mean(), "standard error", sent.std() / len(sent) ** 0.5)
print("published: the nearest possible mean", min(max(sent.mean(), {lowest!r}), {highest!r}))
"""
    r = f"""\
{_read_in_r(url)}[["{question.id}"]]
values <- as.integer(values[values != ""])
scores <- {float(constant)!r} + c({numbers})  # what each value that is sent stands for
sent <- scores[values + {1 - first}]
print(c(unbiased = mean(sent), error = sqrt(mean((sent - mean(sent))^2) / length(sent))))
print(c(published = min(max(mean(sent), {lowest!r}), {highest!r})))  # the nearest possible mean
"""
    return python, r

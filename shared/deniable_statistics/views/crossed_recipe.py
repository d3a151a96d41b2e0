"""Scripts of Python and R that recompute the shares of two crossed questions from the public replies."""

from __future__ import annotations

from deniable.survey.question import Question
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.views.view_row import support_of

MOST_WRITTEN = 12
"""Largest number of answers whose matrix of probabilities is written into a script."""


def crossed_scripts(first: Question, second: Question, url: str) -> tuple[str, str]:
    """A script of Python and one of R: estimates and standard errors of all rows; empty where they would be too long.

    Parameters
    ----------
    first, second : Question
        The shares of the first one are among people with each answer to the second one.
    url : str
        The address of ``reports.csv``.
    """
    python = [_scores_in_python(question, name) for question, name in ((first, "s"), (second, "g"))]
    r = [_scores_in_r(question, name) for question, name in ((first, "s"), (second, "g"))]
    if not (all(python) and all(r)):
        return "", ""
    return (
        f"""\
import csv, io, urllib.request
import numpy as np

rows = csv.DictReader(io.TextIOWrapper(urllib.request.urlopen("{url}"), "utf-8"))
pairs = [(row["{first.id}"], row["{second.id}"]) for row in rows if row["{first.id}"] and row["{second.id}"]]
{python[0].format(values="[pair[0] for pair in pairs]")}
{python[1].format(values="[pair[1] for pair in pairs]")}
both = s[:, :, np.newaxis] * g[:, np.newaxis, :]  # for each reply an unbiased score of each pair of answers
size = g.mean(axis=0)  # the shares of the groups
shares = both.mean(axis=0) / size
errors = ((both - shares * g[:, np.newaxis, :]) / size).std(axis=0) / len(pairs) ** 0.5
print("unbiased shares", shares.T, "errors", errors.T)  # a line for each group; pages show the most likely ones
""",
        f"""\
rows <- read.csv("{url}", colClasses = "character", check.names = FALSE)
rows <- rows[rows[["{first.id}"]] != "" & rows[["{second.id}"]] != "", ]
{r[0].format(values=f'rows[["{first.id}"]]')}
{r[1].format(values=f'rows[["{second.id}"]]')}
size <- colMeans(g)  # the shares of the groups
for (group in seq_along(size)) {{
  shares <- colMeans(s * g[, group]) / size[group]
  influence <- sweep(s, 2, shares) * g[, group] / size[group]
  errors <- apply(influence, 2, function(each) sqrt(mean((each - mean(each))^2) / nrow(rows)))
  print(rbind(unbiased = shares, error = errors))  # pages show the most likely shares
}}
""",
    )


def _scores_in_python(question: Question, name: str) -> str:
    """A line that makes the unbiased scores of replies, shape (replies, answers), from their ``{values}``."""
    channel = _channel(question)
    if channel is not None:
        k, a, b = channel
        if question.mechanism.reports.json_type is str:
            supports = "np.array([[int(each) for each in value[1:]] for value in {values}])"
        else:
            supports = f"np.eye({k})[[int(value) for value in {{values}}]]"
        return f"{name} = ({supports} - {b}) / ({a} - {b})"
    matrix = _matrix(question)
    if matrix is None:
        return ""
    rows = ", ".join(f"[{', '.join(row)}]" for row in matrix)
    return f"{name} = np.linalg.inv([{rows}]).T[[int(value) for value in {{values}}]]"


def _scores_in_r(question: Question, name: str) -> str:
    channel = _channel(question)
    if channel is not None:
        k, a, b = channel
        if question.mechanism.reports.json_type is str:
            supports = f"sapply(2:{k + 1}, function(at) as.integer(substr({{values}}, at, at)))"
        else:
            supports = f"diag({k})[as.integer({{values}}) + 1, , drop = FALSE]"
        return f"{name} <- ({supports} - {b}) / ({a} - {b})"
    matrix = _matrix(question)
    if matrix is None:
        return ""
    numbers = ", ".join(number for row in matrix for number in row)
    inverse = f"solve(matrix(c({numbers}), nrow = {len(matrix)}, byrow = TRUE))"
    return f"{name} <- t({inverse})[as.integer({{values}}) + 1, , drop = FALSE]"


def _channel(question: Question) -> tuple[int, str, str] | None:
    """The number of answers, and `a` and `b` where all answers have the same ones and one count tells each."""
    found = {support_of(question, option) for option in range(len(question.options))}
    support = found.pop()
    if found or support is None or question.mechanism.reports.is_drawn:
        return None
    # In brackets: fractions stand within a difference.
    return len(question.options), f"({support.if_true})", f"({support.if_other})"


def _matrix(question: Question) -> list[list[str]] | None:
    """The probabilities ``A[v][x]`` that `v` is sent where `x` is true, as fractions."""
    space = question.mechanism.reports
    channels = design_of(question.mechanism).exact_channels
    if space.is_drawn or space.json_type is str or len(channels) != 1:
        return None
    (matrix,) = channels
    if len(matrix) > MOST_WRITTEN or len(matrix) != len(matrix[0]):
        return None
    return [[str(each) for each in row] for row in matrix]

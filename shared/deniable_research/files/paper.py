"""Models as a table for a paper: Markdown, LaTeX or Word."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deniable.errors import ParameterError
from deniable_research.files.model_tables import FittedModel
from deniable_research.files.report_table import Table
from deniable_research.regression import Fit, TidyRow
from deniable_statistics.data.whole import check_parent, replace_file
from deniable_statistics.data.writing import library
from deniable_statistics.published.printed_numbers import number

SHOWN = ("errors", "intervals")
"""What a table can show below each coefficient: standard errors or confidence intervals."""

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
"""Significance levels and the stars of p-values below them, the smallest level first."""


@dataclass(frozen=True)
class PaperTable:
    """The texts of a table for a paper, and its notes.

    Attributes
    ----------
    header : tuple of str
    body, footer : tuple of tuples of str
        Rows of terms, and rows of figures of each whole model.
    notes : tuple of str
    """

    header: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    footer: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def paper_table(
    models: Sequence[FittedModel],
    notes: Sequence[str] = (),
    *,
    below: str = "errors",
    stars: bool = False,
    odds_ratios: bool = False,
    confidence_level: float = 0.95,
) -> PaperTable:
    """The table of several models, a column for each.

    Parameters
    ----------
    models : sequence of FittedModel
    notes : sequence of str
        Further notes, such as from `noise_notes`.
    below : {"errors", "intervals"}
        Standard errors in round brackets or intervals in square ones. Odds ratios have intervals.
    stars : bool
        Stars at p-values below .05, .01 and .001.
    odds_ratios : bool
    confidence_level : float
        Confidence level of the rows.
    """
    if below not in SHOWN:
        raise ParameterError(f"below: must be one of {', '.join(SHOWN)}, got {below!r:.40}")
    rows = [model.odds_ratios if odds_ratios else model.effect_rows for model in models]
    intervals = odds_ratios or below == "intervals"
    body = []
    # Terms in the order in which the models first have them.
    for term in dict.fromkeys(row.term for each in rows for row in each):
        cells = [next((row for row in each if row.term == term), None) for each in rows]
        body.append((term, *(_estimate(cell, stars) for cell in cells)))
        body.append(("", *(_below(cell, intervals) for cell in cells)))
    said = _said(models, confidence_level if intervals else None, stars=stars, odds_ratios=odds_ratios)
    header = ("", *(f"({place})" for place in range(1, len(models) + 1)))
    return PaperTable(header, tuple(body), tuple(_figures(models)), (*said, *notes))


def _said(
    models: Sequence[FittedModel], confidence_level: float | None, *, stars: bool, odds_ratios: bool
) -> list[str]:
    """The notes below the table: the meaning of its figures, then the formula and message of each model."""
    inside = (
        "Standard errors in round brackets"
        if confidence_level is None
        else f"{100 * confidence_level:g} % intervals in square brackets"
    )
    said = [f"{'Odds ratios' if odds_ratios else 'Coefficients'} of the truth. {inside}."]
    if stars:
        by_ratio = any(model.interval == "profile" for model in models)
        said.append("* p < .05, ** p < .01, *** p < .001" + (", by likelihood ratios." if by_ratio else "."))
    if not are_of_same_reports(models):
        said.append("Log-likelihoods are of different reports and do not compare.")
    said += [f"({place}) {model.formula}" for place, model in enumerate(models, start=1)]
    said += [f"({place}) {model.fit.message}" for place, model in enumerate(models, start=1) if model.fit.message]
    return said


def noise_notes(table: Table, names: Sequence[str]) -> list[str]:
    """A sentence for each randomised question: its design and epsilon."""
    found = []
    for name in names:
        question = table.layout.question(name)
        design = question.design.name.replace("_", "-")
        if math.isinf(question.epsilon):
            found.append(f"{name}: {design}.")
        else:
            found.append(f"{name}: {design}, epsilon {number(question.epsilon)}.")
    return found


def are_of_same_reports(models: Sequence[FittedModel]) -> bool:
    """Whether all models are fitted to the same reports, including those of randomised predictors.

    Only then can their log-likelihoods, AIC and BIC be compared.
    """
    seen = [model.fit.model.observed for model in models if isinstance(model.fit, Fit)]
    return all(np.array_equal(each, seen[0]) for each in seen)


def _figures(models: Sequence[FittedModel]) -> list[tuple[str, ...]]:
    """The rows of figures of each whole model; a cell is empty where a model has no such figure."""
    found = [("n", *(f"{model.fit.n:,}" for model in models))]
    # Corrected least squares have a residual variance but no likelihood; the other models have a likelihood.
    if any(not isinstance(model.fit, Fit) for model in models):
        sigmas = (number(model.fit.sigma) if not isinstance(model.fit, Fit) else "" for model in models)
        found.append(("Standard deviation of residuals", *sigmas))
    if any(isinstance(model.fit, Fit) for model in models):
        glances = [model.fit.glance() if isinstance(model.fit, Fit) else None for model in models]
        found.append(("Log-likelihood", *(number(each.loglik, 6) if each else "" for each in glances)))
        # AIC and BIC compare likelihoods of the same reports only, and a weighted one is no likelihood.
        if all(model.fit.sample.plain for model in models) and are_of_same_reports(models):
            found.append(("AIC", *(number(each.aic, 6) if each else "" for each in glances)))
            found.append(("BIC", *(number(each.bic, 6) if each else "" for each in glances)))
    return found


def _estimate(row: TidyRow | None, stars: bool) -> str:
    if row is None:
        return ""
    return number(row.estimate, 3) + (next((s for p, s in STARS if row.p_value < p), "") if stars else "")


def _below(row: TidyRow | None, intervals: bool) -> str:
    if row is None:
        return ""
    if intervals:
        return f"[{number(row.conf_low, 3)}, {number(row.conf_high, 3)}]"
    return f"({number(row.std_error, 3)})"


# CommonMark's marks within a line, and those of GitHub and Pandoc: ~ strikes out, $ opens mathematics.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$&])")

_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': "''",
    "`": r"\textasciigrave{}",
    # LaTeX without packages has no minus sign, infinity or en dash as characters.
    "\u2212": "$-$",
    "\u221e": r"$\infty$",
    "\u2013": "--",
}


def escape_markdown(text: str) -> str:
    r"""A text with the marks of Markdown escaped.

    >>> print(escape_markdown("a_b * [T.1] | x"))
    a\_b \* \[T.1\] \| x
    """
    # A line break would end the row of a table.
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def escape_tex(text: str) -> str:
    r"""A text with the special characters of LaTeX escaped.

    >>> print(escape_tex(r"C(x_1)[T.50%] ~ a\b"))
    C(x\_1){[}T.50\%{]} \textasciitilde{} a\textbackslash{}b
    """
    escaped = "".join(_TEX.get(each, each) for each in " ".join(text.split()))
    escaped = re.sub(r"(?<!\\)\$\$", "", escaped)  # two adjacent formulas become one
    return escaped.replace("[", "{[}").replace("]", "{]}")  # a bracket after \\ would be its argument


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], right: bool = False) -> str:
    r"""Rows as a table in Markdown, with their texts escaped; ``right`` aligns all columns but the first to the right.

    >>> print(markdown_table(("code", "stands for"), [("1", "a|b")]), end="")
    | code | stands for |
    | --- | --- |
    | 1 | a\|b |
    """
    marks = ["---", *(["---:" if right else "---"] * (len(header) - 1))]
    lines = [[*map(escape_markdown, header)], marks, *([*map(escape_markdown, row)] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def markdown(table: PaperTable) -> str:
    """The table in Markdown."""
    rows = markdown_table(table.header, (*table.body, *table.footer), right=True)
    return rows + "\n" + "".join(f"{escape_markdown(note)}\n\n" for note in table.notes).removesuffix("\n")


def tex(table: PaperTable) -> str:
    r"""The table as a ``tabular`` with its notes below, without packages."""

    def rows(some: Sequence[Sequence[str]]) -> list[str]:
        return [" & ".join(map(escape_tex, row)) + r" \\" for row in some]

    columns = len(table.header)
    lines = [f"\\begin{{tabular}}{{l{'r' * (columns - 1)}}}", r"\hline", *rows([table.header]), r"\hline"]
    lines += [*rows(table.body), r"\hline", *rows(table.footer), r"\hline", r"\end{tabular}", ""]
    lines += [f"\\par {escape_tex(note)}" for note in table.notes]
    return "\n".join(lines) + "\n"


def _write_docx(table: PaperTable, path: Path) -> None:
    docx = library("docx", path.name)
    document = docx.Document()
    rows = [table.header, *table.body, *table.footer]
    grid = document.add_table(rows=len(rows), cols=len(table.header))
    right = docx.enum.text.WD_ALIGN_PARAGRAPH.RIGHT
    for cells, texts in zip(grid.rows, rows, strict=True):
        for place, (cell, text) in enumerate(zip(cells.cells, texts, strict=True)):
            cell.text = _printable(text)
            if place:  # the first column holds the names of terms, which stay at the left
                cell.paragraphs[0].alignment = right
    for cell in grid.rows[0].cells:
        for run in cell.paragraphs[0].runs:
            run.bold = True
    for note in table.notes:
        document.add_paragraph(_printable(note))
    with path.open("wb") as file:
        document.save(file)


def _printable(text: str) -> str:
    """The text without control characters, which XML does not allow."""
    return "".join(each for each in text if each.isprintable())


def _write_text(form: Callable[[PaperTable], str]) -> Callable[[PaperTable, Path], object]:
    return lambda table, path: path.write_text(form(table), encoding="utf-8", newline="")


PAPERS: dict[str, Callable[[PaperTable, Path], object]] = {
    ".md": _write_text(markdown),
    ".tex": _write_text(tex),
    ".docx": _write_docx,
}
"""Writers by the suffix of the file."""


def check_paper(path: Path) -> None:
    """Raise a ParameterError unless a table can be written to this path; to be called before long computations."""
    if path.suffix.lower() == ".docx":
        library("docx", path.name)
    check_parent(path)


def save_paper(table: PaperTable, path: Path) -> None:
    """Write a table; an existing file is replaced only when the new one is complete."""
    check_paper(path)
    replace_file(path, lambda part: PAPERS[path.suffix.lower()](table, part))

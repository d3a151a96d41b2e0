"""Tables of results as people print them: texts and notes, for a terminal, Markdown, LaTeX, HTML or Word."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deniable.errors import ParameterError
from deniable.table import format_table, printable
from deniable_statistics.data.whole import check_parent, replace_file
from deniable_statistics.data.writing import library
from deniable_statistics.published.columns import Column, cells_of
from deniable_statistics.published.markdown import escape_markdown, markdown_table


@dataclass(frozen=True)
class PaperTable:
    """The texts of a table, and its notes.

    Attributes
    ----------
    header : tuple of str
        Empty if there is nothing to tabulate, so that the notes say everything.
    body, footer : tuple of tuples of str
        Rows of results, and rows of figures of each whole model.
    notes : tuple of str
    left : frozenset of int
        Places of the columns that hold texts and are aligned to the left; numbers are aligned to the right.
    """

    header: tuple[str, ...]
    body: tuple[tuple[str, ...], ...] = ()
    footer: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    left: frozenset[int] = frozenset({0})

    @classmethod
    def of(cls, columns: Iterable[Column], rows: Sequence[Any], *notes: str) -> PaperTable:
        """The table of these rows, without the columns that are not shown and without empty notes."""
        used, lines = cells_of(columns, rows)
        left = frozenset(place for place, column in enumerate(used) if column.is_text)
        header = tuple(column.heading for column in used)
        return cls(header, tuple(map(tuple, lines)), (), tuple(filter(None, notes)), left)

    def noted(self, notes: Iterable[str]) -> PaperTable:
        """The table with further notes below it, but those that it has already, such as the caution of a model."""
        further = (each for each in notes if not any(each in said for said in self.notes))
        return replace(self, notes=(*self.notes, *further))

    def __str__(self) -> str:
        """The table for a terminal."""
        if not self.header:
            return "\n".join(self.notes)
        right = {name for place, name in enumerate(self.header) if place not in self.left}
        table = format_table(self.header, [*self.body, *self.footer], right=right)
        return "\n".join([table, "", *self.notes]) if self.notes else table


_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    # Of a formula, in the middle of the line as the other operators; \textasciitilde stands raised, as an accent.
    "~": r"$\sim$",
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
    "\u00b1": r"$\pm$",
    "\u00d7": r"$\times$",
    "\u00b2": "$^2$",
    "\u00b3": "$^3$",
    "\u03c7": r"$\chi$",
}


def escape_tex(text: str) -> str:
    r"""A text with the special characters of LaTeX escaped.

    >>> print(escape_tex(r"C(x_1)[T.50%] ~ a\b"))
    C(x\_1){[}T.50\%{]} $\sim$ a\textbackslash{}b
    """
    escaped = "".join(_TEX.get(each, each) for each in " ".join(text.split()))
    escaped = re.sub(r"(?<!\\)\$\$", "", escaped)  # two adjacent formulas become one
    return escaped.replace("[", "{[}").replace("]", "{]}")  # a bracket after \\ would be its argument


def markdown(table: PaperTable) -> str:
    """The table in Markdown."""
    rows = markdown_table(table.header, (*table.body, *table.footer), table.left) + "\n" if table.header else ""
    return rows + "".join(f"{escape_markdown(note)}\n\n" for note in table.notes).removesuffix("\n")


NARROWEST_NOTES = r".6\linewidth"
"""Least width of the notes of a table in LaTeX, which are as wide as the table if that is wider."""


def tex(table: PaperTable) -> str:
    r"""The table as a ``tabular`` with its notes below, without packages.

    It is a paragraph of its own: text before and after it stands apart. The notes are set as `threeparttable` sets
    them, in a smaller size and as wide as the table.
    """

    def rows(some: Sequence[Sequence[str]]) -> list[str]:
        return [" & ".join(map(escape_tex, row)) + r" \\" for row in some]

    notes = [f"{escape_tex(note)}\\par" for note in table.notes]
    if not table.header:
        return "\n".join([r"\par", *notes]) + "\n"
    aligned = "".join("l" if place in table.left else "r" for place in range(len(table.header)))
    lines = [f"\\begin{{tabular}}{{{aligned}}}", r"\hline", *rows([table.header]), r"\hline"]
    lines += [*rows(table.body), r"\hline"]
    lines += [*rows(table.footer), r"\hline"] if table.footer else []
    lines += [r"\end{tabular}"]
    if not notes:
        return "\n".join([r"\par\medskip\noindent", *lines[:-1], lines[-1] + r"\par\medskip"]) + "\n"
    # Only a box that is set already knows its width. Registers 0 are free for everybody within a group.
    lines = [r"\par\medskip\begingroup", r"\setbox0=\hbox{%", *lines[:-1], lines[-1] + "}%", r"\dimen0=\wd0"]
    lines += [f"\\ifdim\\dimen0<{NARROWEST_NOTES} \\dimen0={NARROWEST_NOTES} \\fi"]
    lines += [r"\noindent\begin{minipage}{\dimen0}", r"{\centering\leavevmode\box0\par}"]
    lines += [r"\smallskip\footnotesize\raggedright", *notes, r"\end{minipage}\par", r"\endgroup\medskip"]
    return "\n".join(lines) + "\n"


def html_page(table: PaperTable) -> str:
    """The table as a page of HTML, from which a browser or a word processor copies it."""

    def cell(place: int, text: str, tag: str) -> str:
        aligned = "" if place in table.left else ' style="text-align: right"'
        return f"<{tag}{aligned}>{html.escape(printable(text))}</{tag}>"

    def rows(part: str, some: Iterable[Sequence[str]], tag: str = "td") -> list[str]:
        lines = ["<tr>" + "".join(cell(place, text, tag) for place, text in enumerate(row)) + "</tr>" for row in some]
        return [f"<{part}>", *lines, f"</{part}>"] if lines else []

    lines = ["<!doctype html>", '<meta charset="utf-8">', "<title>Results</title>"]
    if table.header:
        lines += ["<table>", *rows("thead", [table.header], "th"), *rows("tbody", table.body)]
        lines += [*rows("tfoot", table.footer), "</table>"]
    lines += [f"<p>{html.escape(printable(note))}</p>" for note in table.notes]
    return "\n".join(lines) + "\n"


def _write_docx(table: PaperTable, path: Path) -> None:
    docx = library("docx", path.name)
    document = docx.Document()
    if table.header:
        rows = [table.header, *table.body, *table.footer]
        grid = document.add_table(rows=len(rows), cols=len(table.header))
        right = docx.enum.text.WD_ALIGN_PARAGRAPH.RIGHT
        for cells, texts in zip(grid.rows, rows, strict=True):
            for place, (cell, text) in enumerate(zip(cells.cells, texts, strict=True)):
                cell.text = printable(text)
                if place not in table.left:
                    cell.paragraphs[0].alignment = right
        for cell in grid.rows[0].cells:
            for run in cell.paragraphs[0].runs:
                run.bold = True
    for note in table.notes:
        document.add_paragraph(printable(note))
    with path.open("wb") as file:
        document.save(file)


def _write_text(form: Callable[[PaperTable], str]) -> Callable[[PaperTable, Path], object]:
    return lambda table, path: path.write_text(form(table), encoding="utf-8", newline="")


PAPERS: dict[str, Callable[[PaperTable, Path], object]] = {
    ".md": _write_text(markdown),
    ".tex": _write_text(tex),
    ".html": _write_text(html_page),
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
    if path.suffix.lower() not in PAPERS:
        raise ParameterError(
            f"path: must end in {', '.join(PAPERS)}, got {path.name!r:.80}; to_frame() has the numbers"
        )
    check_paper(path)
    replace_file(path, lambda part: PAPERS[path.suffix.lower()](table, part))

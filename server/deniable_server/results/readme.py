"""The file of an archive that a person opens first: what each file is, how to recompute numbers, and how to cite."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Mapping

WIDTH = 100
"""Columns of a line."""

_FILES = (
    ("REHEARSAL.txt", "says that the replies are made up: this is a rehearsal, and no study."),
    ("DEMO.txt", "says that a program sent these replies: this is the demo, and no study."),
    ("survey.json", "is the survey as it was published. Its address is the hash of these bytes."),
    ("codebook.md", "describes each column of reports.csv for people, with the exact probabilities of the noise."),
    ("codebook.xml", "says the same for archives, in DDI-Codebook 2.5."),
    ("reports.csv", "has the noisy reports, one in each row. They are no answers: chance was mixed in before."),
    ("estimates.csv", "has the estimated shares and means of everybody, with errors and intervals."),
    ("estimates-by-cohort.csv", "has the same of each cohort."),
    ("estimates.R", "computes estimates.csv from reports.csv in R; a name alike ends in .do for Stata, in .sps for "
     "SPSS or GNU PSPP, and in .py for Python."),
    ("regression.R", "fits regressions in R to reports.csv, with the noise that codebook.md describes."),
    ("recompute/", "has a short script of R and one of Python for each question, which computes one option of it."),
    ("survey.db", "has the tables, questions and options as an SQLite database."),
    ("releases/", "has the signed record of each release. `deniable verify LINK` checks it at the collector."),
    ("datapackage.json", "explains the columns of the tables, as a data package of Frictionless."),
    ("csv-metadata.json", "describes them by CSV on the Web (W3C)."),
    ("citation.bib", "cites these data in BibTeX."),
    ("CITATION.cff", "cites it in the Citation File Format."),
    ("methods.txt", "is a paragraph for the methods section of a paper, with its references."),
    ("methods.tex", "is the same paragraph for LaTeX, and methods.bib has the works that it cites."),
)  # fmt: skip
"""Names of files and folders, and the rest of a sentence that begins with the name."""

_SHARE = (
    "Run `Rscript estimates.R` or `python estimates.py` in this folder. It prints the estimates of all options, which "
    "are those of estimates.csv. By hand, a share is (count / n - b) / (a - b), and its standard error is "
    "sqrt(p (1 - p) / n) / (a - b) with p = count / n. The columns count, n, a and b of estimates.csv have these "
    "numbers: a is the probability that a reply supports an option that is true, and b that it supports one that is "
    "not. Where they are empty, no single count determines the share, and the scripts invert a matrix."
)

_TALLIES = (
    "The collector keeps no rows of this survey, only counts. A share is (count / n - b) / (a - b), and its standard "
    "error is sqrt(p (1 - p) / n) / (a - b) with p = count / n. The columns count, n, a and b of estimates.csv have "
    "these numbers. A regression needs rows, so none can be computed."
)

_REGRESSION = (
    "A regression that takes reports for answers is biased, because some of the reports are noise. Use the likelihood "
    "of each report: the sum, over all true answers, of the probability of the answer in your model times the "
    "probability of the report given this answer. codebook.md has the latter for each question: exactly in the line "
    "`Published:`, in integers out of 2^32, and as a table where it is small.",
    'regression.R does this in R, without a package: `source("regression.R")`, then for example '
    '`noisy_regression(OUTCOME ~ cohort, "reports.csv", "codebook.md")`, with questions or columns on the right. '
    'Section 6 of the page "From replies to a paper" of Deniable\'s documentation (docs/learn/paper.md) explains it. '
    "In Python, `deniable analyze regress reports.csv FORMULA --survey survey.json` does it.",
)


def readme(about: Mapping[str, str], names: Collection[str]) -> str:
    """The text of ``README.txt``, in whole sentences.

    Parameters
    ----------
    about : mapping of str to str
        What the archive says of the release: ``title``, ``cite`` (a reference) and ``license``, which may be empty.
    names : collection of str
        The names of all other files of the archive. No other file is described.
    """
    has_rows = "reports.csv" in names
    # Where the author states none, the archive says nothing of a licence, here as elsewhere.
    licensed = [f"Licence: {about['license']}."] if about["license"] else []
    parts = [
        *_paragraph(about["title"]),
        "",
        *_paragraph("These are data of a survey whose answers were randomised (randomised response)."),
        "",
        "Files",
        "-----",
        "",
        *(line for name, rest in _FILES if _is_there(name, names) for line in _item(f"{name} {rest}")),
        "",
        *_section("To recompute a share", _SHARE if has_rows else _TALLIES),
        *(_section("To recompute a regression", *_REGRESSION) if has_rows else ()),
        *_section("To cite the data", about["cite"], *licensed),
    ]
    return "\n".join(parts).rstrip("\n") + "\n"


def _is_there(name: str, names: Collection[str]) -> bool:
    return any(each.startswith(name) for each in names) if name.endswith("/") else name in names


def _section(heading: str, *paragraphs: str) -> Iterator[str]:
    yield from (heading, "-" * len(heading), "")
    for each in paragraphs:
        yield from (*_paragraph(each), "")


def _paragraph(text: str) -> list[str]:
    # An address is copied, so it is never broken.
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _item(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent="* ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )

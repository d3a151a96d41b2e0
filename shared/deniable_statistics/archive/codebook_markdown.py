"""Codebooks for people, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from deniable_statistics.archive.codebook import Entry, SurveyCodebook
from deniable_statistics.archive.numbers_in_words import epsilon_in_words, exact_cells
from deniable_statistics.published.markdown import escape_markdown, markdown_table


def to_markdown(codebook: SurveyCodebook) -> str:
    """The codebook as Markdown; the marks of Markdown in its author's texts are escaped.

    Examples
    --------
    >>> from deniable import read_survey
    >>> from deniable_statistics.archive.codebook import SurveyCodebook
    >>> q1 = '[[questions]]\\nid = "q1"\\ntype = "yes-no"\\ntext = "Ever?"\\ntruth = "1/2"'
    >>> survey = read_survey(f'title = "Study"\\ncontact = "c@uni.example"\\n{q1}')
    >>> book = to_markdown(SurveyCodebook.of_survey(survey))
    >>> print(book.partition("## `q1`")[2].partition("P(report")[0])
    <BLANKLINE>
    <BLANKLINE>
    Ever?
    <BLANKLINE>
    - A noisy report, not an answer: chance was mixed in before it was sent. What one person sent is a hint, not proof.
    - Of 100 people whose true answer is Yes, about 75 send Yes and 25 send No.
    - Of 100 people whose true answer is No, about 25 send Yes and 75 send No.
    - Holds 'no', 'yes' or an integer in \\[0, 2).
    - Mechanism two-coin, epsilon 1.09861 = ln(3).
    <BLANKLINE>
    Published: `{"name": "two-coin", "truth": 2147483648, "yes": 2147483648}`
    <BLANKLINE>
    | code | stands for |
    | --- | --- |
    | 0 | no |
    | 1 | yes |
    <BLANKLINE>
    <BLANKLINE>
    """
    head = [f"# {escape_markdown(codebook.title)}"]
    if codebook.address:
        head.append(f"Survey `{codebook.address}`, whose address is the hash of what was published.")
    return "\n\n".join([*head, *map(escape_markdown, codebook.about), *map(_entry, codebook.entries)]) + "\n"


def _entry(entry: Entry) -> str:
    facts = [*entry.notes, f"Holds {entry.holds}{_or_nothing(entry.missing)}."]
    if entry.universe:
        facts.insert(0, f"Asked: {entry.universe}")
    if entry.mechanism is not None:
        facts.append(f"Mechanism {entry.mechanism}, {epsilon_in_words(entry)}.")
    parts = [
        f"## `{entry.column}`",
        escape_markdown(entry.label),
        "\n".join(f"- {escape_markdown(fact)}" for fact in facts),
    ]
    if entry.parameters is not None:
        parts.append(f"Published: `{entry.parameters}`")
    if entry.categories:
        parts.append(markdown_table(("code", "stands for"), entry.categories).rstrip())
    for table in entry.probabilities:
        # A person looks up an answer, so answers are rows here: the transpose of the channel matrix.
        columns = zip(table.answers, zip(*exact_cells(table.values), strict=True), strict=True)
        rows = ([answer, *column] for answer, column in columns)
        parts += [escape_markdown(table.title), markdown_table(("answer", *table.reports), rows).rstrip()]
    return "\n\n".join(parts)


def _or_nothing(missing: Sequence[str]) -> str:
    return f" or an empty field, {', '.join(missing)}" if missing else ""

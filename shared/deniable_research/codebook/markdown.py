"""Codebooks for people, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from deniable_research.files.paper_table import escape_markdown, markdown_table
from deniable_statistics.archive.codebook import Entry, SurveyCodebook
from deniable_statistics.archive.numbers_in_words import epsilon_in_words, exactly


def to_markdown(codebook: SurveyCodebook) -> str:
    """The codebook as Markdown; the marks of Markdown in its author's texts are escaped.

    Examples
    --------
    >>> from deniable_research.codebook import Codebook
    >>> from deniable_research.files import Layout, quick_question
    >>> layout = Layout((quick_question("q1: forced-response truth=1/2 codes=yes:1,no:2"),))
    >>> print(to_markdown(Codebook.of_layout(layout, "Study")).partition("| answer |")[0])
    # Study
    <BLANKLINE>
    ## `q1`
    <BLANKLINE>
    q1
    <BLANKLINE>
    - A noisy report, not an answer: chance was mixed in before it was sent. What one person sent is a hint, not proof.
    - Holds '1', '2' or an empty field, NA, NaN.
    - Mechanism forced\\_response(1/2), epsilon 1.09861 = ln(3).
    <BLANKLINE>
    | code | stands for |
    | --- | --- |
    | 1 | yes |
    | 2 | no |
    <BLANKLINE>
    P(report \\| answer)
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
        columns = zip(table.answers, zip(*table.values, strict=True), strict=True)
        rows = ([answer, *map(exactly, column)] for answer, column in columns)
        parts += [escape_markdown(table.title), markdown_table(("answer", *table.reports), rows).rstrip()]
    return "\n\n".join(parts)


def _or_nothing(missing: Sequence[str]) -> str:
    return f" or an empty field, {', '.join(missing)}" if missing else ""

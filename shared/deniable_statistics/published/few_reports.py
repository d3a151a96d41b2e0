"""Sentences below a table of estimates whose reports are so few that its figures mislead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from deniable_statistics.published.printed_numbers import is_unknown

NEARLY_ALL = 0.9
"""Width of an interval of a share, of the 1 that there is, from which on the estimate beside it says nothing."""

MOST_NAMED = 5
"""Largest number of questions that a sentence names."""


def few_reports(rows: Sequence[Any]) -> Iterator[str]:
    """Sentences on shares that reports are too few for, and on standard errors that are not known.

    Parameters
    ----------
    rows : sequence of EstimateRow
        Or any rows with `question`, `statistic`, `n`, `std_error`, `conf_low` and `conf_high`.

    Examples
    --------
    >>> import textwrap
    >>> from types import SimpleNamespace
    >>> row = {"question": "q", "statistic": "share", "n": 3, "std_error": 0.0, "conf_low": 0.0, "conf_high": 0.97}
    >>> for sentence in few_reports([SimpleNamespace(**row)]):
    ...     print(textwrap.fill(sentence, 116))
    Too few reports to say anything: q (3). Intervals cover at least 90 % of all possible shares, so ignore the
    estimates beside them.
    A dash is a standard error that is not known: every report speaks for the option, or none does, and its formula
    gives 0. The interval holds.
    """
    empty = {row.question: row.n for row in rows if _says_nothing(row)}
    if empty:
        named = [f"{question} ({n})" for question, n in empty.items()]
        more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        yield (
            f"Too few reports to say anything: {', '.join(named[:MOST_NAMED])}{more}. Intervals cover at least "
            f"{100 * NEARLY_ALL:.0f} % of all possible shares, so ignore the estimates beside them."
        )
    if any(is_unknown(row.std_error) for row in rows):
        yield (
            "A dash is a standard error that is not known: every report speaks for the option, or none does, and its "
            "formula gives 0. The interval holds."
        )


def _says_nothing(row: Any) -> bool:
    return bool(row.statistic != "mean" and row.n > 0 and row.conf_high - row.conf_low >= NEARLY_ALL)

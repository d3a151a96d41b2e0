"""Numbers and days as people write them, in the language of the reader; files for machines have neither."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from functools import lru_cache

from deniable.survey.texts import Text
from deniable_statistics.published.steady_text import steady

Words = Mapping[str, str]
"""The sentences of a language, by name."""

_MARK = re.compile(r"(?<=[0-9])[.,](?=[0-9])")
_LONG = re.compile(r"(?<![0-9.,])[0-9]{4,}(?![0-9]*e)")


def author_text(text: str, words: Words) -> str:
    """A text of the survey's author in the language of the words, without marks that turn around what follows."""
    return steady(text.in_language(words["lang"]) if isinstance(text, Text) else text)


def localized(text: str, words: Words) -> str:
    """Numbers that were written in English, or without marks between thousands, as the language of the words has them.

    >>> german = {"rPoint": ",", "rThousands": "."}
    >>> localized("12,341", german), localized("6366.5 to 8000", german), localized("0.00001432", german)
    ('12.341', '6.366,5 to 8.000', '0,00001432')
    """
    return _localized(text, words["rPoint"], words["rThousands"])


@lru_cache(maxsize=4096)  # a thousand percentages with one digit after the point stand in most cells of tables
def _localized(text: str, point: str, thousands: str) -> str:
    grouped = _LONG.sub(lambda found: f"{int(found[0]):,}" if found[0][0] != "0" else found[0], text)
    return _MARK.sub(lambda mark: point if mark[0] == "." else thousands, grouped)


def level_text(level: float, words: Words) -> str:
    """A confidence level, such as *95 %*."""
    return localized(f"{100 * level:g} %", words)


def percentage_points(number: str, words: Words) -> str:
    """The unit of a difference of shares behind its number, which one point has in the singular.

    >>> english = {"rPercentagePoint": "percentage point", "rPercentagePoints": "percentage points"}
    >>> percentage_points("1", english), percentage_points("0.8", english)
    ('percentage point', 'percentage points')
    """
    return words["rPercentagePoint" if number == "1" else "rPercentagePoints"]


def points_behind(number: str, words: Words) -> str:
    """The short unit of a difference of shares, with the space before it, as figures and tables have it."""
    return words["rPointOnce" if number.lstrip("\u2212-") == "1" else "rPoints"]


def counted(n: int, words: Words) -> str:
    """A number of people or replies, with a mark between its thousands.

    >>> counted(6366, {"rPoint": ",", "rThousands": "\\u202f"})
    '6\\u202f366'
    """
    return f"{n:,}".replace(",", words["rThousands"])


def day(date: datetime.date, words: Words) -> str:
    """A day with the name of its month.

    >>> english = {"rDay": "{day} {month} {year}", "rMonths": "January February"}
    >>> day(datetime.date(2026, 2, 3), english)
    '3 February 2026'
    """
    month = words["rMonths"].split()[date.month - 1]
    return words["rFirstDay" if date.day == 1 else "rDay"].format(day=date.day, month=month, year=date.year)

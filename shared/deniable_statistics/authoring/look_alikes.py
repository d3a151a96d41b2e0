"""Names that people cannot tell apart: options, items of a grid and cohorts that look the same on a screen.

What is equal to the letter is refused wherever a survey is read. What only looks equal is refused in an author's file
alone, so that every survey that was ever published stays readable.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

from deniable.errors import SurveyError
from deniable.survey.texts import INVISIBLE, Text, refuse_repeats

_CYRILLIC = dict(zip("АВЕЅІЈКМНОРСТХаеоріјсухѕԛԝһ", "ABESIJKMHOPCTXaeopijcyxsqwh", strict=True))
_GREEK = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEZHIKMNOPTYXo", strict=True))
_SAME_SHAPE = str.maketrans(_CYRILLIC | _GREEK)
"""Letters that fonts draw like a Latin one, as Unicode's table of confusables has them (UTS #39, confusables.txt)."""

_NEARLY = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u00b4`", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"')
)
"""Dashes and quotes that differ little from each other."""


def skeleton(text: str) -> str:
    """What is seen of a text: two texts with the same skeleton look the same.

    White space of any kind and number is one space, and none at the ends. Characters that nobody sees are gone, accents
    are apart from their letters (Unicode's form NFD), and letters of the same shape are the same letter.

    >>> skeleton("Caf\u00e9\u00a0 ") == skeleton("Cafe\u0301")
    True
    >>> skeleton("yes") == skeleton("Yes")
    False
    """
    seen = "".join(each for each in text if each.isspace() or not INVISIBLE.fullmatch(each))
    return " ".join(unicodedata.normalize("NFD", seen).translate(_SAME_SHAPE).split())


def loose_skeleton(text: str) -> str:
    """What is left of a text without case, width, kinds of dashes and quotes, and the mark at its end.

    >>> loose_skeleton("1\u20133 Times.") == loose_skeleton("1-3 times")
    True
    """
    folded = unicodedata.normalize("NFKC", skeleton(text)).translate(_NEARLY)
    return folded.casefold().rstrip(".,;:! ") or folded


def refuse_look_alikes(values: Iterable[object], subject: str) -> None:
    """Raise a SurveyError that names the first two texts that look the same; what is no text is not looked at."""
    texts = tuple(each for each in values if isinstance(each, str))
    refuse_repeats(texts, subject)
    first = _Firsts(skeleton)
    for each in texts:
        if (other := first.like(each)) is not None:
            raise SurveyError(
                f"{subject}: must look different from each other, got {other!r} twice, {_difference(other, each)}; "
                "leave one of them out, or reword it"
            )


def nearly_alike(values: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of texts that differ so little that a reader may take one for the other."""
    first = _Firsts(loose_skeleton)
    for each in values:
        if (other := first.like(each)) is not None:
            yield other, str(each)


def by_language(texts: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Texts as they are read in each language that one of them has, with that language; the default ones are not."""
    for language in sorted({tag for each in texts if isinstance(each, Text) for tag in each.translations}):
        yield language, tuple(each.in_language(language) if isinstance(each, Text) else each for each in texts)


class _Firsts:
    """The first text of each kind among those that were looked at."""

    def __init__(self, kind: Callable[[str], str]) -> None:
        self.kind = kind
        self.found: dict[str, str] = {}

    def like(self, text: str) -> str | None:
        """The first text of the same kind; None if this is the first one."""
        first = self.found.setdefault(self.kind(text), str(text))
        return None if first == text else first


def _difference(first: str, second: str) -> str:
    """Where two texts differ first, in words."""
    pairs = enumerate(itertools.zip_longest(first, second, fillvalue=""), start=1)
    number, (one, other) = next((number, pair) for number, pair in pairs if pair[0] != pair[1])
    return f"as character {number} once with {_named(one)} and once with {_named(other)}"


def _named(character: str) -> str:
    """A character by its number and its name in Unicode.

    >>> _named("\u00a0"), _named("")
    ('U+00A0 (no-break space)', 'nothing')
    """
    if not character:
        return "nothing"
    return f"U+{ord(character):04X} ({unicodedata.name(character, 'without a name').lower()})"

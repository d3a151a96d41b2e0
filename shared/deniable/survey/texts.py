"""Texts of a survey in several languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

from deniable.errors import SurveyError, describe

DEFAULT = "default"
"""The key of the text that answers, tables and results hold, whatever language people read."""

EVERY_OTHER = "und"
"""The language for whoever reads none of the others: of a level its number and label, whose number is the default."""

MAX_LABEL = 200
MAX_TEXT = 4000
"""Characters of a title, an option or a label, and of a longer text."""

_INVISIBLE = re.compile(
    r"[\s\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)
"""Texts that show nothing: spaces, what Unicode calls default ignorable, and two blanks. `survey.js` has the same."""
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9_]{1,8})*")


class Text(str):
    """A text that knows its translations. Everywhere else it is the text itself.

    Attributes
    ----------
    translations : mapping of str to str
        Language tag to text, such as ``{"de": "Ja"}``.

    Examples
    --------
    >>> text = Text("Yes", {"de": "Ja", "fr": "Oui"})
    >>> text, text.in_language("de"), text.in_language("fi")
    ('Yes', 'Ja', 'Yes')
    """

    __slots__ = ("translations",)

    translations: Mapping[str, str]

    def __new__(cls, text: str, translations: Mapping[str, str]) -> Text:
        """Join a text with its translations."""
        made = super().__new__(cls, text)
        made.translations = MappingProxyType(dict(translations))
        return made

    def __reduce__(self) -> tuple[type[Text], tuple[str, dict[str, str]]]:
        """Copies and pickles keep the translations."""
        return Text, (str(self), dict(self.translations))

    def in_language(self, language: str) -> str:
        """The text in that language; where it has none, the one for every other language, or the text itself.

        >>> Text("1", {"de": "1: gar nicht", "und": "1: not at all"}).in_language("fi")
        '1: not at all'
        """
        return self.translations.get(language, self.translations.get(EVERY_OTHER, str(self)))


def read_text(written: object, subject: str) -> object:
    """What an author or a published survey holds for a text: the text, or one in several languages as an object.

    Anything else is returned as it is, for the check of texts to refuse.

    Raises
    ------
    SurveyError
        If an object is not a text in several languages.

    Examples
    --------
    >>> read_text({"default": "Yes", "de": "Ja"}, "text").translations["de"]
    'Ja'
    """
    if not isinstance(written, dict):
        return written
    translations = {key: value for key, value in written.items() if key != DEFAULT}
    if not isinstance(written.get(DEFAULT), str) or not translations:
        raise SurveyError(
            f'{subject}: in several languages must be like {{ default = "Yes", de = "Ja" }}, got {describe(written)}'
        )
    for language, value in translations.items():
        if not _LANGUAGE.fullmatch(language):
            raise SurveyError(f"{subject}: a language must be like de or pt-BR, got {language[:40]!r}")
        if not isinstance(value, str):
            raise SurveyError(f"{subject}: {language} must be a text, got {describe(value)}")
    return Text(written[DEFAULT], translations)


def publish_text(text: str) -> str | dict[str, str]:
    """A text as a survey publishes it. One language stays a plain text, so its address is what it always was.

    >>> publish_text("Yes"), publish_text(Text("Yes", {"de": "Ja"}))
    ('Yes', {'default': 'Yes', 'de': 'Ja'})
    """
    return {DEFAULT: str(text), **text.translations} if isinstance(text, Text) else text


def all_forms(text: str) -> tuple[str, ...]:
    """The text and its translations.

    >>> all_forms(Text("Yes", {"de": "Ja"}))
    ('Yes', 'Ja')
    """
    return (str(text), *text.translations.values()) if isinstance(text, Text) else (text,)


def check_text(value: object, subject: str, longest: int) -> None:
    """Raise a SurveyError unless the value is a readable, non-empty text of at most ``longest`` characters.

    So must be all its translations. A readable text shows something, and holds only characters meant for texts.
    """
    if not isinstance(value, str):
        raise SurveyError(f"{subject}: must be a text, got {describe(value)}")
    for text in all_forms(value):
        if not text.strip():
            raise SurveyError(f"{subject}: must not be empty")
        if _INVISIBLE.fullmatch(text):
            raise SurveyError(f"{subject}: must show something, got characters only that nobody sees")
        if len(text) > longest:
            raise SurveyError(f"{subject}: must be at most {longest} characters, got {len(text)}")
        for character in text:
            if unicodedata.category(character) in ("Cc", "Cs") and character != "\n":
                raise SurveyError(f"{subject}: must not hold the control character U+{ord(character):04X}")
            if ord(character) & 0xFFFE == 0xFFFE or "\ufdd0" <= character <= "\ufdef":
                raise SurveyError(f"{subject}: must not hold U+{ord(character):04X}, which is not a character")


def refuse_repeats(values: tuple[str, ...], subject: str) -> None:
    """Raise a SurveyError that names the first value which stands there twice."""
    for position, value in enumerate(values):
        if value in values[:position]:
            raise SurveyError(f"{subject}: must differ from each other, {value!r} stands there twice")

"""Texts of a survey, each in one or several languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

from deniable.errors import SurveyError, describe

DEFAULT = "default"
"""The key of the text that stands in reports, tables and results, in whatever language people read the question."""

EVERY_OTHER = "und"
"""The tag (undetermined, ISO 639-2) of the text for readers of no other language: a level's number and label."""

MAX_LABEL = 200
"""Longest title, option or label, in characters."""

MAX_TEXT = 4000
"""Longest question text, reason or description, in characters."""

INVISIBLE = re.compile(
    r"[\s\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)
"""Texts that show nothing: spaces, default ignorable code points of Unicode, and two blanks; as in `survey.js`."""
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
        # Read-only: a survey is immutable, and so are its texts.
        made.translations = MappingProxyType(dict(translations))
        return made

    def __reduce__(self) -> tuple[type[Text], tuple[str, dict[str, str]]]:
        """Copies and pickles keep the translations."""
        return Text, (str(self), dict(self.translations))

    def in_language(self, language: str) -> str:
        """The text in a language, or else the one for every other language, or else the default text.

        >>> Text("1", {"de": "1: gar nicht", "und": "1: not at all"}).in_language("fi")
        '1: not at all'
        """
        return self.translations.get(language, self.translations.get(EVERY_OTHER, str(self)))


def read_text(written: object, subject: str) -> object:
    """Read a text of an author or a published survey: a string, or an object with one text for each language.

    Anything else is returned as it is; `check_text` refuses it.

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
    # One language is written as a plain text, so that a text has one form and a survey one address.
    if not isinstance(written.get(DEFAULT), str) or not translations:
        raise SurveyError(
            f'{subject}: in several languages must be like {{ default = "Yes", de = "Ja" }}, got '
            f"{'no language beside default' if DEFAULT in written else 'no default'}"
        )
    for language, value in translations.items():
        if not is_language(language):
            raise SurveyError(f"{subject}: a language must be like de or pt-BR, got {language[:40]!r}")
        if not isinstance(value, str):
            raise SurveyError(f"{subject}: {language} must be a text, got {describe(value)}")
    return Text(written[DEFAULT], translations)


def is_language(tag: str) -> bool:
    """Whether a tag names a language in the way of surveys, such as de or pt-BR."""
    return _LANGUAGE.fullmatch(tag) is not None


def publish_text(text: str) -> str | dict[str, str]:
    """A text as a survey publishes it. One language stays a plain text, so its address is what it always was.

    >>> publish_text("Yes"), publish_text(Text("Yes", {"de": "Ja"}))
    ('Yes', {'default': 'Yes', 'de': 'Ja'})
    """
    return {DEFAULT: str(text), **text.translations} if isinstance(text, Text) else text


def publish_texts(**texts: str | None) -> dict[str, str | dict[str, str]]:
    """The texts that there are, by their keys, as a survey publishes them.

    >>> publish_texts(heading="Habits", text=None)
    {'heading': 'Habits'}
    """
    return {key: publish_text(text) for key, text in texts.items() if text is not None}


def all_forms(text: str) -> tuple[str, ...]:
    """The text and its translations.

    >>> all_forms(Text("Yes", {"de": "Ja"}))
    ('Yes', 'Ja')
    """
    return (str(text), *text.translations.values()) if isinstance(text, Text) else (text,)


def check_text(value: object, subject: str, longest: int) -> None:
    """Raise a SurveyError unless the value is a readable, non-empty text of at most ``longest`` characters.

    The same holds for its translations. A readable text shows something and holds no control characters.
    """
    if not isinstance(value, str):
        hint = f'; write "{value}"' if type(value) is int else ""
        raise SurveyError(f"{subject}: must be a text, got {describe(value)}{hint}")
    for text in all_forms(value):
        if not text.strip():
            raise SurveyError(f"{subject}: must not be empty")
        if INVISIBLE.fullmatch(text):
            raise SurveyError(f"{subject}: must show something, got characters only that nobody sees")
        if len(text) > longest:
            raise SurveyError(f"{subject}: must be at most {longest} characters, got {len(text)}")
        for character in text:
            # Cc are control characters, Cs lone surrogates, which UTF-8 cannot encode.
            if unicodedata.category(character) in ("Cc", "Cs") and character != "\n":
                raise SurveyError(f"{subject}: must not hold the control character U+{ord(character):04X}")
            # The last two code points of each plane, and U+FDD0 to U+FDEF, are noncharacters of Unicode.
            if ord(character) & 0xFFFE == 0xFFFE or "\ufdd0" <= character <= "\ufdef":
                raise SurveyError(f"{subject}: must not hold U+{ord(character):04X}, which is not a character")


def check_texts(owner: object, where: str = "", **longest: int) -> None:
    """Raise a SurveyError unless each of these attributes is None or a text of at most this length."""
    for name, most in longest.items():
        if (text := getattr(owner, name)) is not None:
            check_text(text, f"{where}{name}", most)


def refuse_repeats(values: tuple[str, ...], subject: str) -> None:
    """Raise a SurveyError that names the first repeated value."""
    for position, value in enumerate(values):
        if value in values[:position]:
            raise SurveyError(f"{subject}: must differ from each other, {value!r} stands there twice")

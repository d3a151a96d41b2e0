"""The language of texts that an author writes as their default, under its own name in what is published.

Without it a device cannot tell that somebody who prefers English, and then reads German, wants the default of a survey
whose default is English: it would show the German texts, because these alone have a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.errors import SurveyError, shown
from deniable.survey.texts import DEFAULT, is_language


def with_default_language(written: Mapping[str, Any]) -> dict[str, Any]:
    """A survey's file without its key `language`, every text in several languages under that name too.

    Texts in one language stay as they are: nobody has a choice of them.

    >>> with_default_language({"language": "en", "title": {"default": "Hello", "de": "Hallo"}, "organiser": "We"})
    {'title': {'default': 'Hello', 'de': 'Hallo', 'en': 'Hello'}, 'organiser': 'We'}
    """
    rest = {key: value for key, value in written.items() if key != "language"}
    if "language" not in written:
        return rest
    language = written["language"]
    if not isinstance(language, str) or not is_language(language):
        raise SurveyError(f'language: must be like "en" or "pt-BR", that of the default texts, got {shown(language)}')
    return {key: _named(value, language, key) for key, value in rest.items()}


def _named(value: Any, language: str, where: str) -> Any:
    """A value of the file, with the default of every text in it under its language."""
    if isinstance(value, list):
        return [_named(each, language, where) for each in value]
    if not isinstance(value, dict):
        return value
    if DEFAULT not in value:
        return {key: _named(each, language, key) for key, each in value.items()}
    if value.get(language, value[DEFAULT]) != value[DEFAULT]:
        raise SurveyError(
            f"{where}: is in {language} twice, as {language} and as default: language says that the default is "
            f"{language}, so leave {language} out"
        )
    return {**value, language: value[DEFAULT]}

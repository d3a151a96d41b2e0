"""Languages of other tools' forms, whose columns and keys are called ``French (fr)``, ``French`` or ``pt_BR``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from deniable.survey.texts import DEFAULT, is_language
from deniable_server.authors.importing.imported_questions import Asked, Form, Spoken

# A table of our own rather than langcodes 3.5, which adds 32 MB to the extra server, and Babel 2.19 36 MB: with 169 MB
# today, either would go beyond the 200 MB that we promise. langcodes also does not know 13 of the names below, such as
# castellano, bahasa or 汉语, and takes other headings for languages, such as Label (lbb).
_NAMES = {
    "am": "amharic አማርኛ",
    "ar": "arabic العربية عربي",
    "bg": "bulgarian български",
    "bn": "bengali bangla বাংলা",
    "ca": "catalan català",
    "cs": "czech čeština český",
    "da": "danish dansk",
    "de": "german deutsch",
    "el": "greek ελληνικά",
    "en": "english",
    "es": "spanish español espanol castellano",
    "et": "estonian eesti",
    "fa": "persian farsi dari فارسی دری",
    "fi": "finnish suomi",
    "fr": "french français francais",
    "ha": "hausa",
    "he": "hebrew עברית",
    "hi": "hindi हिन्दी",
    "hr": "croatian hrvatski",
    "ht": "creole kreyòl kreyol",
    "hu": "hungarian magyar",
    "id": "indonesian bahasa",
    "ig": "igbo",
    "it": "italian italiano",
    "ja": "japanese 日本語",
    "km": "khmer ខ្មែរ",
    "ko": "korean 한국어",
    "ku": "kurdish kurdî kurmanji",
    "lo": "lao ລາວ",
    "lt": "lithuanian lietuvių",
    "lv": "latvian latviešu",
    "mg": "malagasy",
    "my": "burmese myanmar မြန်မာ",
    "ne": "nepali नेपाली",
    "nl": "dutch nederlands",
    "no": "norwegian norsk",
    "pl": "polish polski",
    "ps": "pashto پښتو",
    "pt": "portuguese português portugues",
    "ro": "romanian română",
    "ru": "russian русский",
    "rw": "kinyarwanda",
    "si": "sinhala සිංහල",
    "sk": "slovak slovenčina",
    "sl": "slovenian slovenščina",
    "so": "somali soomaali",
    "sq": "albanian shqip",
    "sr": "serbian српски srpski",
    "sv": "swedish svenska",
    "sw": "swahili kiswahili",
    "ta": "tamil தமிழ்",
    "th": "thai ไทย",
    "ti": "tigrinya ትግርኛ",
    "tl": "tagalog filipino",
    "tr": "turkish türkçe turkce",
    "uk": "ukrainian українська",
    "ur": "urdu اردو",
    "uz": "uzbek",
    "vi": "vietnamese",
    "xh": "xhosa isixhosa",
    "yo": "yoruba yorùbá",
    "zh": "chinese 中文 汉语",
    "zu": "zulu isizulu",
}
"""Tags of languages (ISO 639-1), and the names by which authors call them, in English and in the language itself."""

_TAGS = {name: tag for tag, names in _NAMES.items() for name in names.split()}


def tag_of(language: str) -> str | None:
    """The tag of a language as another tool names it; None if it is not known.

    >>> tag_of("Brasil (pt-BR)"), tag_of("Français"), tag_of("zh_CN"), tag_of("Klingon")
    ('pt-BR', 'fr', 'zh-CN', None)
    """
    named, _, behind = language.strip().partition("(")
    for each in (behind.strip(" )"), named.strip()):
        tag = each.replace("_", "-")
        first, *rest = tag.split("-")
        tag = "-".join([first.lower(), *rest])
        # Of words without a hyphen, which may be names, only two letters are taken for a tag.
        if is_language(tag) and (rest or len(tag) == 2 or each is not named.strip()):
            return tag
        if (known := _TAGS.get(each.casefold())) is not None:
            return known
    return None


def in_one_default(text: Spoken, language: str | None) -> Spoken:
    """A text by language tag with the default that every text of the form has: the one in this language.

    >>> in_one_default({"fr": "Oui", "en": "Yes"}, "en")
    {'default': 'Yes', 'fr': 'Oui'}
    """
    if not text:
        return {}
    default = text.get(language or DEFAULT) or text.get(DEFAULT) or next(iter(text.values()))
    others = {key: said for key, said in text.items() if key not in (DEFAULT, language)}
    # A text such as "1" is the same to all readers; a word may be the same in two languages.
    is_same = not any(map(str.isalpha, default)) and set(others.values()) <= {default}
    return {DEFAULT: default, **({} if is_same else others)}


def texts_of(form: Form) -> Iterator[Spoken]:
    """Every text of a form."""
    yield from (form.title, form.about)
    for each in form.questions:
        yield from (each.text, each.help, each.before, *each.ends, *(text for _, text in each.options))


def in_language(form: Form, language: str | None, unnamed: str | None) -> Form:
    """The form with the texts in a language as its default ones.

    Parameters
    ----------
    form : Form
        With texts by the keys of the other tool.
    language : str or None
        None keeps the default texts, in whatever language they are.
    unnamed : str or None
        The tag of the language in which these default texts are, if it is known.
    """

    def turned(text: Spoken) -> Spoken:
        if text.keys() <= {DEFAULT}:
            return text
        by_tag = {tag: said for key, said in text.items() if key != DEFAULT and (tag := tag_of(key))}
        # A default that is equal to the only translation was made of it, or is the same in both languages.
        is_named = set(by_tag.values()) != {text[DEFAULT]}
        named = {unnamed: text[DEFAULT]} if unnamed and is_named else {}
        return in_one_default({DEFAULT: text[DEFAULT], **named, **by_tag}, language)

    def of(each: Asked) -> Asked:
        return replace(
            each,
            text=turned(each.text),
            help=turned(each.help),
            before=turned(each.before),
            ends=tuple(map(turned, each.ends)),
            options=tuple((code, turned(text)) for code, text in each.options),
        )

    return replace(
        form,
        title=turned(form.title),
        about=turned(form.about),
        questions=tuple(map(of, form.questions)),
        language=language,
    )

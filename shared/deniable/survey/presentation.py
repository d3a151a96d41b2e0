"""What a survey looks like and how it ends: nothing that a device draws, keeps or pays for depends on it."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Any

from deniable.errors import SurveyError, describe, shown
from deniable.survey.texts import MAX_LABEL, check_text, publish_text

LAYOUTS = ("steps", "page")
"""Layouts of the questions: one at a time, or all on a page."""

MAX_COMPLETION = 1000
"""Longest text of the way back, in characters."""

LEAST_CODE, MOST_CODE = 6, 20
"""Range of the length of a code that devices draw."""

MAX_LOGO = 20_000
"""Largest logo, in bytes."""

LOGO_TYPES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/webp": b"RIFF"}
"""Media types of logos, each with the bytes with which such a file begins."""

_LINK = re.compile(r"https://[a-z0-9.-]{1,253}(?::[1-9][0-9]{0,4})?/[!-~]{0,400}")
_CODE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_COLOUR = re.compile(r"#[0-9a-f]{6}")

PLACE = "{code}"
"""The place in a link where the code goes."""


@dataclass(frozen=True)
class Completion:
    """The way back to whoever sent a respondent, such as a panel, opened by a press after Send.

    It is the same for all respondents, or holds a code that each device draws independently of everything it sends.

    Attributes
    ----------
    text : str or None
        What the author says beside it, in one or several languages.
    link : str or None
        An https address; ``{code}`` in it, at most once, is the place of the code.
    code : str or None
        A code of 1 to 64 letters, digits, ``_`` and ``-``, the same for everybody.
    code_length : int or None
        Length of a code that each device draws instead, 6 to 20 letters and digits.
    """

    text: str | None = None
    link: str | None = None
    code: str | None = None
    code_length: int | None = None

    def __post_init__(self) -> None:
        if self.text is not None:
            check_text(self.text, "completion.text", MAX_COMPLETION)
        if self.link is None and self.code is None and self.code_length is None:
            raise SurveyError("completion: must have a link, a code or a code_length, got none of them")
        if self.code is not None and self.code_length is not None:
            raise SurveyError("completion: must have either code or code_length, got both")
        if self.code is not None and not (isinstance(self.code, str) and _CODE.fullmatch(self.code)):
            raise SurveyError(f"completion.code: must be 1 to 64 letters, digits, _ and -, got {shown(self.code)}")
        length = self.code_length
        if length is not None and not (type(length) is int and LEAST_CODE <= length <= MOST_CODE):
            raise SurveyError(
                f"completion.code_length: must be a whole number from {LEAST_CODE} to {MOST_CODE}, got {shown(length)}"
            )
        if self.link is not None:
            self._check_link(self.link)

    def _check_link(self, link: object) -> None:
        if not isinstance(link, str) or not _LINK.fullmatch(link):
            raise SurveyError(
                "completion.link: must be an https address with a path, of printable ASCII and at most 400 characters "
                f"after the host, such as https://panel.example/done?cc={PLACE}, got {describe(link)}"
            )
        places = link.count(PLACE)
        if places > 1 or (places == 1 and self.code is None and self.code_length is None):
            raise SurveyError(
                f"completion.link: must hold {PLACE} at most once, and only beside a code or a code_length, got "
                f"{places} of them"
            )

    def publish(self) -> dict[str, Any]:
        """The way back as a survey publishes it."""
        found = {
            "text": self.text and publish_text(self.text),
            "link": self.link,
            "code": self.code,
            "code_length": self.code_length,
        }
        return {key: value for key, value in found.items() if value is not None}


@dataclass(frozen=True)
class Look:
    """An author's accent colour and logo.

    Attributes
    ----------
    accent, accent_dark : str or None
        Colours like ``"#0b5d82"`` on light and on dark cards; both or neither.
    logo_type : str or None
        Media type of the logo: ``"image/png"`` or ``"image/webp"``.
    logo : str or None
        The file in base64, at most 20,000 bytes of it.
    logo_text : str or None
        What is read out for the logo, in one or several languages; there with a logo, and only then.
    """

    accent: str | None = None
    accent_dark: str | None = None
    logo_type: str | None = None
    logo: str | None = None
    logo_text: str | None = None

    def __post_init__(self) -> None:
        if self.accent is None and self.logo is None:
            raise SurveyError("look: must have an accent or a logo, got neither")
        for key in ("accent", "accent_dark"):
            value = getattr(self, key)
            if value is not None and not (isinstance(value, str) and _COLOUR.fullmatch(value)):
                raise SurveyError(f"look.{key}: must be a colour like #0b5d82 in lower case, got {shown(value)}")
        if (self.accent is None) != (self.accent_dark is None):
            raise SurveyError("look: must have accent and accent_dark, or neither")
        parts = (self.logo_type, self.logo, self.logo_text)
        if any(each is None for each in parts) and any(each is not None for each in parts):
            raise SurveyError("look: must have logo_type, logo and logo_text, or none of them")
        if self.logo is not None:
            check_text(self.logo_text, "look.logo_text", MAX_LABEL)
            self._check_logo()

    def _check_logo(self) -> None:
        start = LOGO_TYPES.get(str(self.logo_type))
        if start is None:
            raise SurveyError(f"look.logo_type: must be {' or '.join(LOGO_TYPES)}, got {shown(self.logo_type)}")
        try:
            image = base64.b64decode(str(self.logo), validate=True)
        except binascii.Error:
            raise SurveyError("look.logo: must be base64") from None
        if base64.b64encode(image).decode("ascii") != self.logo:
            raise SurveyError("look.logo: must be base64 in its only form")
        if len(image) > MAX_LOGO:
            raise SurveyError(f"look.logo: must be at most {MAX_LOGO} bytes, got {len(image)}")
        is_webp = self.logo_type == "image/webp"
        if not image.startswith(start) or (is_webp and image[8:12] != b"WEBP"):
            raise SurveyError(f"look.logo: must be what its type {self.logo_type} says, and begins otherwise")

    def publish(self) -> dict[str, Any]:
        """The look as a survey publishes it."""
        found = {
            "accent": self.accent,
            "accent_dark": self.accent_dark,
            "logo_type": self.logo_type,
            "logo": self.logo,
            "logo_text": self.logo_text and publish_text(self.logo_text),
        }
        return {key: value for key, value in found.items() if value is not None}

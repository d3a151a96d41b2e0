"""The look of a survey: a colour and a logo, which change nothing that is asked or sent."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Any

from deniable.errors import SurveyError, describe, shown
from deniable.survey.texts import MAX_LABEL, check_text, publish_text

MAX_LOGO_BYTES = 20_000
"""Largest file of a logo, in bytes; every respondent loads it, in base64."""

MAX_LOGO_SIDE = 1000
"""Largest width and height of a logo, in pixels: devices unpack all of them into memory."""

LOGO_TYPES = ("image/png", "image/webp")

_COLOUR = re.compile(r"#[0-9a-f]{6}")
# The signature of PNG, and the head of IHDR, its first chunk, which is 13 bytes long.
_PNG = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"
_WEBP = re.compile(rb"RIFF.{4}WEBP(VP8[ LX])", re.DOTALL)


@dataclass(frozen=True)
class Logo:
    """The logo of who asks.

    Attributes
    ----------
    data : bytes
        A file of PNG or WebP.
    text : str
        What is read out for it.
    """

    data: bytes
    text: str

    def __post_init__(self) -> None:
        if len(self.data) > MAX_LOGO_BYTES:
            raise SurveyError(f"look.logo: must be at most {MAX_LOGO_BYTES} bytes, got {len(self.data)}")
        width, height = self.size
        if not (1 <= width <= MAX_LOGO_SIDE and 1 <= height <= MAX_LOGO_SIDE):
            raise SurveyError(
                f"look.logo: must be 1 to {MAX_LOGO_SIDE} pixels wide and high, got {width} x {height} pixels"
            )
        check_text(self.text, "look.logo_text", MAX_LABEL)

    @property
    def type(self) -> str:
        """The media type, by the file's own signature."""
        return LOGO_TYPES[0] if self.data.startswith(_PNG) else LOGO_TYPES[1]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, from the header of the file.

        Raises
        ------
        SurveyError
            If it is neither PNG nor WebP.
        """
        size = _png_size(self.data) if self.data.startswith(_PNG) else _webp_size(self.data)
        if size is None:
            raise SurveyError("look.logo: must be a PNG or WebP image, got a file with the header of neither")
        return size

    def publish(self) -> dict[str, str]:
        """The image as a survey publishes it."""
        return {"type": self.type, "data": base64.b64encode(self.data).decode("ascii")}

    @classmethod
    def from_published(cls, type_: object, data: object, text: Any) -> Logo:
        """The logo of a published type and base64 text.

        Raises
        ------
        SurveyError
            If the data are not base64 in its one canonical form, or not an image of that type.
        """
        if not isinstance(data, str):
            raise SurveyError(f"look.logo.data: must be a text, got {describe(data)}")
        try:
            raw = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):  # the latter for what is not ASCII
            raise SurveyError("look.logo.data: must be base64, got another text") from None
        logo = cls(raw, text)
        # Padding bits that are not 0 decode all the same, and would give one image several addresses.
        if data != logo.publish()["data"]:
            raise SurveyError("look.logo.data: must be base64 with 0 in its padding bits, got something else there")
        # A browser that is told another type than the bytes have might read them as something else.
        if type_ != logo.type:
            raise SurveyError(f"look.logo.type: must be {logo.type}, as the image itself says, got {describe(type_)}")
        return logo


@dataclass(frozen=True)
class Look:
    """A colour and a logo. They are no part of a question, which is the same under another look.

    Attributes
    ----------
    accent, accent_dark : str or None
        The colour of buttons and marks, as ``"#rrggbb"``, on a light and on a dark card: both or none of them.
    logo : Logo or None
    """

    accent: str | None = None
    accent_dark: str | None = None
    logo: Logo | None = None

    def __post_init__(self) -> None:
        for key in ("accent", "accent_dark"):
            colour = getattr(self, key)
            if colour is not None and not (isinstance(colour, str) and _COLOUR.fullmatch(colour)):
                raise SurveyError(f'look.{key}: must be a colour like "#0b5d82", got {shown(colour)}')
        # One colour cannot have enough contrast on a light and on a dark card.
        if (self.accent is None) != (self.accent_dark is None):
            missing, given = ("accent_dark", "accent") if self.accent else ("accent", "accent_dark")
            raise SurveyError(f"look: must have accent and accent_dark or neither, got {given} without {missing}")
        if self.accent is None and self.logo is None:
            raise SurveyError("look: must have an accent or a logo, got neither of them")

    def publish(self) -> dict[str, Any]:
        """The look as a survey publishes it."""
        published: dict[str, Any] = {}
        if self.accent is not None:
            published |= {"accent": self.accent, "accent_dark": self.accent_dark}
        if self.logo is not None:
            published |= {"logo": self.logo.publish(), "logo_text": publish_text(self.logo.text)}
        return published


def _png_size(data: bytes) -> tuple[int, int] | None:
    """Width and height by the header chunk of PNG (PNG specification, section 11.2.1)."""
    if len(data) < len(_PNG) + 8:
        return None
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def _webp_size(data: bytes) -> tuple[int, int] | None:
    """Width and height by the first chunk of WebP (RFC 9649, sections 2.5 to 2.7), of which there are three kinds."""
    found = _WEBP.match(data)
    if not found or len(data) < 30:
        return None
    match found[1]:
        case b"VP8X":
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
        case b"VP8L" if data[20] == 0x2F:
            bits = int.from_bytes(data[21:25], "little")
            return bits % 2**14 + 1, (bits >> 14) % 2**14 + 1
        # The start code of a key frame (RFC 6386, section 9.1), then two sizes of 14 bits below two bits of scale.
        case b"VP8 " if data[23:26] == b"\x9d\x01\x2a":
            width, height = (int.from_bytes(data[place : place + 2], "little") % 2**14 for place in (26, 28))
            return width, height
    return None

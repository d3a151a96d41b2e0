"""The look of a survey from its author's file: a readable accent colour, and a logo from a file beside it."""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deniable.errors import SurveyError, shown
from deniable.survey.presentation import LOGO_TYPES, MAX_LOGO, Look

CARD, DARK_CARD = "#ffffff", "#10202c"
"""Colours of cards in the light and in the dark, as in ``client/deniable_web/design.css``."""

LEAST_CONTRAST = 4.5
"""Least contrast of text with what it stands on: WCAG 2.2, success criterion 1.4.3, level AA."""

MOST_PIXELS = 1000
"""Largest width and height of a logo, in pixels."""

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def look_from(written: Mapping[str, Any], logo_text: Any, folder: Path | None) -> Look:
    """The look that the table ``[look]`` of a survey's file asks for.

    Parameters
    ----------
    written : mapping
        The table.
    logo_text : str or None
        What is read out for the logo.
    folder : Path or None
        Where the survey's file is, which the path of the logo is relative to; None where there is no file.

    Raises
    ------
    SurveyError
        If a colour cannot be read on its card, or the logo is no PNG or WebP of at most 20 kB and 1,000 pixels.
    """
    accent, dark = (_colour(written, key) for key in ("accent", "accent_dark"))
    if dark and not accent:
        raise SurveyError("look: accent_dark needs accent, the colour in the light")
    if accent:
        _check_contrast(accent, CARD, "accent", "the white card")
        dark = dark or _readable_in_the_dark(accent)
        _check_contrast(dark, DARK_CARD, "accent_dark", "the dark card")
    kind, logo = (None, None) if "logo" not in written else _logo(written["logo"], folder)
    return Look(accent, dark, kind, logo, logo_text)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours like ``"#0b5d82"``, from 1 to 21 (WCAG 2.2).

    >>> round(contrast("#000000", "#ffffff"), 2), round(contrast("#777777", "#ffffff"), 2)
    (21.0, 4.48)
    """
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    # Relative luminance of sRGB, WCAG 2.2: each channel made linear, weighted by what the eye makes of it.
    channels = (part / 255 for part in bytes.fromhex(colour[1:]))
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _colour(written: Mapping[str, Any], key: str) -> str | None:
    value = written.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not _COLOUR.fullmatch(value):
        raise SurveyError(f"look: {key} must be a colour like #0b5d82, got {shown(value)}")
    return value.lower()


def _check_contrast(colour: str, card: str, key: str, where: str) -> None:
    if (found := contrast(colour, card)) < LEAST_CONTRAST:
        raise SurveyError(
            f"look: {key} must have a contrast of at least {LEAST_CONTRAST:g} with {where}, {colour} has {found:.2f}; "
            f"choose a {'darker' if card == CARD else 'lighter'} colour"
        )


def _readable_in_the_dark(accent: str) -> str:
    """The accent mixed with as little white as makes it readable on the dark card, in steps of 5 %."""
    channels = bytes.fromhex(accent[1:])
    mixed = ("#" + bytes(round(each + (255 - each) * white / 20) for each in channels).hex() for white in range(21))
    return next(colour for colour in mixed if contrast(colour, DARK_CARD) >= LEAST_CONTRAST)


def _logo(written: object, folder: Path | None) -> tuple[str, str]:
    """Media type and base64 of the logo."""
    if not isinstance(written, str):
        raise SurveyError(f"look: logo must be the path of a PNG or WebP file, got {shown(written)}")
    if folder is None:
        raise SurveyError("look: logo is a path beside the survey's file, and this survey was not read from a file")
    try:
        image = (folder / written).read_bytes()
    except OSError as error:
        raise SurveyError(f"look: logo {written} cannot be read: {error.strerror}") from None
    if len(image) > MAX_LOGO:
        raise SurveyError(f"look: logo must be at most {MAX_LOGO:,} bytes, {written} has {len(image):,}")
    kind = next((kind for kind, start in LOGO_TYPES.items() if image.startswith(start)), None)
    if kind is None or (kind == "image/webp" and image[8:12] != b"WEBP"):
        raise SurveyError(f"look: logo must be a PNG or WebP image, {written} is neither")
    if (size := _size(kind, image)) and max(size) > MOST_PIXELS:
        width, height = size
        raise SurveyError(f"look: logo must be at most {MOST_PIXELS} pixels each way, {written} has {width} x {height}")
    return kind, base64.b64encode(image).decode("ascii")


def _size(kind: str, image: bytes) -> tuple[int, int] | None:
    """Width and height in pixels, from the head of the file; None where it is too short to say."""
    try:
        if kind == "image/png":
            width, height = struct.unpack(">II", image[16:24])
            return width, height
        chunk = image[12:16]
        if chunk == b"VP8X":  # extended: sizes less one in 24 bits
            return (1 + int.from_bytes(image[24:27], "little"), 1 + int.from_bytes(image[27:30], "little"))
        if chunk == b"VP8L":  # lossless: sizes less one in 14 bits each
            bits = int.from_bytes(image[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        width, height = struct.unpack("<HH", image[26:30])  # lossy: 14 bits each
        return width & 0x3FFF, height & 0x3FFF
    except struct.error:
        return None

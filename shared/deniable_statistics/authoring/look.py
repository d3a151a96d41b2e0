"""Reading of an author's look: its file of a logo, and colours that everybody can tell from the card."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deniable.errors import SurveyError, describe, shown
from deniable.survey.look import MAX_LOGO_BYTES, Logo, Look
from deniable.survey.texts import read_text

LOOK_KEYS = ("accent", "accent_dark", "logo", "logo_text")

LEAST_CONTRAST = 4.5
"""Least contrast ratio of text to its ground, WCAG 2.2, success criterion 1.4.3 (level AA)."""

DARK_CONTRAST = 6.0
"""Contrast ratio to its ground of an accent that is mixed for dark mode: at the least one, buttons look disabled."""

LIGHT_PANEL, DARK_PANEL = "#f6f1e7", "#3a332c"
"""The panel behind small buttons in light and dark mode, as ``--paper`` in ``client/deniable_web/design.css``: of all
grounds on which an accent stands, the one with the least contrast to it."""

STEPS = 100
"""Number of steps in which an accent is mixed with white."""

_WRITTEN_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")


def read_look(written: Mapping[str, Any], folder: Path | None) -> Look:
    """Read the table ``[look]`` of a survey's file, whose keys are known to be `LOOK_KEYS`.

    Parameters
    ----------
    written : mapping
    folder : Path or None
        The folder of the survey's file, in which its logo is.

    Raises
    ------
    SurveyError
        If a colour has too little contrast, or the logo is not an image that devices show.
    """
    return Look(*_accents(written), _logo(written, folder))


def _accents(written: Mapping[str, Any]) -> tuple[str | None, str | None]:
    accent, dark = (_colour(written, key) for key in ("accent", "accent_dark"))
    if accent is None:
        if dark is not None:
            raise SurveyError("look.accent_dark: needs accent, the colour in light mode")
        return None, None
    if (ratio := contrast(accent, LIGHT_PANEL)) < LEAST_CONTRAST:
        raise SurveyError(_too_little("accent", accent, ratio, f"light panel {LIGHT_PANEL}", "a darker colour"))
    if dark is None:
        return accent, lightened(accent)
    if (ratio := contrast(dark, DARK_PANEL)) < LEAST_CONTRAST:
        way_out = "a lighter colour, or leave it out and it is mixed from accent and white"
        raise SurveyError(_too_little("accent_dark", dark, ratio, f"dark panel {DARK_PANEL}", way_out))
    return accent, dark


def _too_little(key: str, colour: str, ratio: float, ground: str, way_out: str) -> str:
    # Rounded down, so that no ratio looks as large as the least one.
    told = int(ratio * 100) / 100
    return (
        f"look.{key}: must have a contrast ratio of at least {LEAST_CONTRAST} to the {ground}, got {told:.2f} of "
        f"{colour}; take {way_out}"
    )


def _colour(written: Mapping[str, Any], key: str) -> str | None:
    value = written.get(key)
    if value is not None and not (isinstance(value, str) and _WRITTEN_COLOUR.fullmatch(value)):
        raise SurveyError(f'look.{key}: must be a colour like "#0b5d82", got {shown(value)}')
    # One colour has one way to be published.
    return value and value.lower()


def contrast(one: str, another: str) -> float:
    """The contrast ratio of two colours, from 1 to 21 (WCAG 2.2).

    >>> contrast("#000000", "#ffffff"), round(contrast("#767676", "#ffffff"), 2)
    (21.0, 4.54)
    """
    darker, lighter = sorted((_luminance(one), _luminance(another)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    """The relative luminance of a colour in sRGB (WCAG 2.2)."""
    shares = [channel / 255 for channel in _channels(colour)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return sum(weight * share for weight, share in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def lightened(accent: str) -> str:
    """The accent mixed with as little white as gives it enough contrast to the dark panel.

    >>> lightened("#6cc5ee"), lightened("#0b5d82")
    ('#6cc5ee', '#98baca')
    """
    for step in range(STEPS + 1):
        mixed = "#" + "".join(f"{each + (255 - each) * step // STEPS:02x}" for each in _channels(accent))
        if contrast(mixed, DARK_PANEL) >= DARK_CONTRAST:
            break
    return mixed


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def _logo(written: Mapping[str, Any], folder: Path | None) -> Logo | None:
    name, text = written.get("logo"), written.get("logo_text")
    if name is None:
        if text is not None:
            raise SurveyError("look.logo_text: needs a logo, for which it is read out")
        return None
    if not isinstance(name, str) or not name:
        raise SurveyError(f"look.logo: must be the path of a file, got {describe(name)}")
    if text is None:
        raise SurveyError("look.logo_text: must be there with a logo, to be read out for it, got none")
    if folder is None:
        raise SurveyError(
            "look.logo: must be a file beside the file of the survey, got a survey without a file; "
            "read_survey(path=...) knows its folder, read_survey(text, folder=...) is told it"
        )
    logo = Logo(_read(name, folder), read_text(text, "look.logo_text"))  # type: ignore[arg-type]  # which `Logo` checks
    if _is_animated(logo):
        raise SurveyError("look.logo: must be a still image, because what moves distracts readers, got an animation")
    return logo


def _read(name: str, folder: Path) -> bytes:
    if Path(name).is_absolute():
        raise SurveyError(f"look.logo: must be a path relative to the file of the survey, got {shown(name)}")
    try:
        # A pipe or a device is no file: its end need not come.
        if "\0" not in name and (folder / name).is_file():
            with (folder / name).open("rb") as file:
                return file.read(MAX_LOGO_BYTES + 1)
    except OSError as error:
        raise SurveyError(f"look.logo: {shown(name)} cannot be read: {error.strerror}") from None
    raise SurveyError(f"look.logo: must be a file in the folder of the survey, got {shown(name)}, no file there")


def _is_animated(logo: Logo) -> bool:
    """Whether an image has frames: by the flags of WebP (RFC 9649, section 2.7), and by a chunk of PNG, acTL."""
    data = logo.data
    if logo.type == "image/webp":
        return data[12:16] == b"VP8X" and bool(data[20] & 0x02)
    place = 8  # after the signature; a chunk is its length, its name, its data and a checksum
    while place + 8 <= len(data):
        if data[place + 4 : place + 8] == b"acTL":
            return True
        place += 12 + int.from_bytes(data[place : place + 4], "big")
    return False

"""The Chromium that commands start: where it is looked for, and how it keeps to itself."""

from __future__ import annotations

import shutil

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"),
    *("--disable-component-update", "--no-first-run", "--disable-domain-reliability", "--disable-sync"),
)
"""It asks for nothing that a page does not ask for, such as updates of its own."""


def installed() -> str | None:
    """The path of a Chromium of the system; None for the one that Playwright has, if it has one."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)

"""The browser of this computer, where it has one."""

from __future__ import annotations

import os
import subprocess
import sys

import click

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""Variables of which one is set where a program on Linux can open a page; otherwise a terminal may be all there is."""


def open_page(address: str) -> None:
    """Open a page for somebody who sits here; without a browser nothing happens, and nothing is printed.

    The address has been printed before, so nobody is at a loss.
    """
    if not sys.platform.startswith("linux"):
        click.launch(address)
        return
    if any(os.environ.get(name) for name in SCREENS):
        try:
            # Apart from the terminal: a text browser would take it over, and Ctrl-C would end what it opened.
            subprocess.Popen(
                ["xdg-open", address],  # noqa: S607  # wherever the system has it
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return

"""Figures of results as PNG and PDF, which matplotlib draws; `deniable_statistics.views.figures` writes SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec

from deniable.errors import DeniableError
from deniable.installing import install_hint
from deniable_server.results.drawing import MOST_ROWS
from deniable_statistics.published.charts import Panel, interval_chart, render
from deniable_statistics.views.figures import Caption


class NoImages(DeniableError):
    """A collector without the library that draws PNG and PDF."""


def can_draw_images() -> bool:
    """Whether this collector has the extra ``figures``."""
    try:
        return find_spec("matplotlib") is not None
    except ModuleNotFoundError:  # from an import hook that hides it
        return False


def check_images() -> None:
    """Raise `NoImages`, with the way out, where the extra ``figures`` is not installed."""
    if not can_draw_images():
        raise NoImages(
            "form: must be svg, csv or json at this collector, because PNG and PDF need matplotlib; whoever runs it "
            f"installs the extra figures, {install_hint('figures')}"
        )


def image(panels: Sequence[Panel], caption: Caption, form: str, salt: str) -> bytes:
    """Draw panels below each other with their caption.

    Parameters
    ----------
    panels : sequence of Panel
        With fixed axes, so that the wide intervals of a small cohort stretch none.
    caption : Caption
        Its title, what was asked and its subtitle stand above all, its notes at the foot; several panels have titles
        of their own.
    form : {"png", "pdf"}
    salt : str
        Makes equal figures of one survey equal bytes.
    """
    drawn = [replace(each, title="") for each in panels] if len(panels) == 1 else panels
    head = (caption.title, caption.asked, caption.subtitle)
    return render(lambda: interval_chart(drawn, caption.notes, MOST_ROWS, head), form, salt)

"""Figures of results as PNG and PDF, which matplotlib draws; `deniable_statistics.views.figures` writes SVG."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from deniable.errors import DeniableError
from deniable.installing import install_hint
from deniable_statistics.published.charts import Panel
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
    """A figure with its caption as PNG or PDF, as it is as SVG; see `deniable_server.results.painted`."""
    from deniable_server.results.painted import painted  # where it is needed: it loads matplotlib

    return painted(panels, caption, form, salt)

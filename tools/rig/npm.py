"""Libraries that npm has installed beside the browser client, for pages of other sites."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, Route

WEB = Path(__file__).parents[2] / "client" / "deniable_web"
MODULES = WEB / "node_modules"

KINDS = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css"}


def serve_npm(page: Page) -> None:
    """Serve installed files to a page, below ``/npm/`` of its own site."""

    def give(route: Route) -> None:
        path = MODULES / route.request.url.partition("/npm/")[2]
        route.fulfill(path=path, content_type=KINDS[path.suffix])

    page.route("**/npm/**", give)

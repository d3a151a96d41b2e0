"""People who answer on phones: ``python -m tools.machine.phone LINK ADDRESS PIN FOLDER``, in the network of a machine.

Each has a Chromium with a memory of its own, in which the host of the link has the address, and its certificate must
have the key with this hash. One of them is offline when they press Send.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from tools.programs import CHROMIUM_FLAGS, chromium
from tools.rig.browsing import ARRIVED, REVIEW
from tools.rig.patience import PATIENCE

PEOPLE = 4


def main() -> None:
    link, address, pin, folder = sys.argv[1:]
    host = link.split("/")[2]
    flags = [f"--host-resolver-rules=MAP {host} {address}", f"--ignore-certificate-errors-spki-list={pin}"]
    expect.set_options(timeout=1000 * PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*CHROMIUM_FLAGS, *flags])
        for number in range(PEOPLE):
            began = time.monotonic()
            answer(browser, link, Path(folder), is_offline=number == 1)
            print(f"{time.monotonic() - began:6.1f} s  phone {number + 1} has answered", flush=True)
        browser.close()


def answer(browser: Browser, link: str, folder: Path, is_offline: bool) -> None:
    """Answer as a person would, up to the receipt; with pictures of two screens."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("radio", name="Yes", exact=True).check()
    page.get_by_role("button", name=REVIEW).click()
    context.set_offline(is_offline)
    page.get_by_role("button", name="Send", exact=True).click()
    if is_offline:
        expect(page.get_by_role("heading", name="Your reply has not arrived yet")).to_be_visible()
        page.screenshot(path=folder / "phone-offline.png")
        context.set_offline(False)
        # A browser on a machine of which others see only the loopback hears of no network, and would try in a minute.
        page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot(path=folder / "phone-arrived.png")
    context.close()


if __name__ == "__main__":
    main()

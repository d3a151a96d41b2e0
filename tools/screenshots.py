"""Take pictures of every screen, to be looked at: ``python -m tools.screenshots FOLDER``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from deniable import read_survey
from tools.programs import CHROMIUM_FLAGS, chromium
from tools.rig.browsing import all_screens
from tools.rig.collectors import Collector, free_port, wait_until_ready
from tools.rig.surveys import FIVE_TYPES

LOOKS = [(320, "light", "en"), (320, "dark", "ar"), (1280, "light", "en"), (1280, "dark", "en"), (1280, "light", "ar")]


def take(folder: Path) -> None:
    """A picture of each screen in each look."""
    survey = read_survey(
        'organiser = "Institute of Sociology"\nabout = "How common it is to hide things."\n' + FIVE_TYPES
    )
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        log, port = Path(place) / "log", free_port()
        command = [sys.executable, "-m", "deniable", "serve", "--db", f"{place}/shots.db", "--port", str(port)]
        with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
            collector = Collector(f"http://127.0.0.1:{port}", Path(place) / "shots.db", process, log)
            wait_until_ready(collector)
            link = collector.publish(survey)
            browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
            for width, scheme, language in LOOKS:
                size = {"width": width, "height": 900}
                page = browser.new_context(viewport=size, color_scheme=scheme).new_page()  # type: ignore[arg-type]  # a literal
                for screen in all_screens(page, f"{link}#lang={language}", survey):
                    name = f"{screen.replace(' ', '-')}-{width}-{scheme}-{language}.png"
                    page.screenshot(path=folder / name, full_page=True)
            browser.close()
            process.terminate()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    take(Path(sys.argv[1]))

"""Take a picture of every screen of respondents, on a phone and on a desktop, light and dark, to be looked at and judged.

``python -m tools.gallery FOLDER [PART ...]`` takes all of them, or those whose names hold one of the parts. A picture's name
says the screen, the width of the window and the colours, as in ``start-strong-390-dark.png``.
"""

from __future__ import annotations

import datetime
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import BrowserContext, Locator, Page, expect

from deniable import Survey, read_survey
from deniable_server.store import open_store
from tools.rig.access import invite
from tools.rig.browsing import another_site, scripts
from tools.rig.collectors import Collector, running_collector
from tools.rig.survey_files import question_toml, survey_toml
from tools.screenshots import browsing

WIDTHS = {390: 844, 1280: 900}
"""Of windows, with their heights: a phone and a desktop."""

TEXTS = {
    "organiser": "Institute for Health at Work, University of Aville",
    "about": "We want to know how staff of hospitals cope, so that wards get the help that they need.",
    "contact": "survey@health.example",
}
TITLE = "Stress, sleep and help on the ward"

YES_NO = question_toml("pills", "yes-no", "In the last month, have you taken pills to get through a shift?", epsilon=0.5)
CHOICE = question_toml(
    "help", "choice", "Whom did you last ask for help?",
    options=["A colleague", "The head of my ward", "A doctor", "Somebody at home", "Nobody"],
    decline="I would rather not say", epsilon=0.5,
)  # fmt: skip
TICKS = question_toml(
    "signs", "ticks", "Which of these did you notice last week?",
    options=["I slept badly", "I drank more than usual", "I cried at work", "I made a mistake"], epsilon=1,
)  # fmt: skip
SCALE = question_toml(
    "safe", "scale", "How safe do you feel when you speak up at work?", lo=1, hi=7, ends=["not at all", "completely"],
    goal="shares", epsilon=0.5,
)  # fmt: skip
STARS = question_toml("listens", "rating", "How well does the head of your ward listen?", stars=5, epsilon=0.5)
NUMBER = question_toml("hours", "number", "How many hours did you sleep last night?", lo=0, hi=14, unit="hours", epsilon=0.5)
LONG = question_toml(
    "drug", "choice", "Which medicine did you take last?", epsilon=1,
    options=[f"Medicine {chr(65 + n // 10)}{n % 10}" for n in range(60)],
)  # fmt: skip
GRID = question_toml(
    "often", "grid", "How often did this happen last month?",
    items={"shift": "I worked a double shift", "rest": "I had no break", "alone": "I was alone on the ward"},
    options=["never", "once or twice", "every week", "every day"], epsilon=1, draw=3,
)  # fmt: skip


def made(*questions: str, title: str = TITLE, **keys: object) -> Survey:
    """A survey with texts of its own and these questions."""
    return read_survey(survey_toml(title, *questions, **{**TEXTS, **keys}))


STRONG = made(YES_NO, CHOICE, SCALE, STARS)
WEAK = made(question_toml("pills", "yes-no", "In the last month, have you taken pills to get through a shift?", epsilon=3.9))

DRAWN = made(*[question_toml(f"q{n}", "yes-no", f"Did you do it, {n}?") for n in range(4)], epsilon=1.0, draw=2)

Scene = Callable[[Page, Collector], object]
SCENES: dict[str, Scene] = {}
"""What leads a page to each screen, by the screen's name."""


def scene(name: str) -> Callable[[Scene], Scene]:
    """Note a function as the way to the screen of this name."""

    def note(way: Scene) -> Scene:
        SCENES[name] = way
        return way

    return note


def opened(page: Page, link: str) -> Locator:
    """The element of a survey once something stands on its screen."""
    page.goto(link)
    element = page.locator("deniable-survey")
    expect(element.locator("h1").last).to_be_visible()
    return element


def begun(page: Page, link: str) -> Locator:
    """The element of a survey at its first question."""
    element = opened(page, link)
    element.locator(".start button").click()
    expect(element.locator("fieldset").first).to_be_visible()
    page.wait_for_timeout(100)
    return element


def reviewed(page: Page, link: str) -> Locator:
    """The element of a survey of `STRONG` with every question answered."""
    element = begun(page, link)
    for _ in STRONG.questions:
        place = element.locator("fieldset:visible")
        place.locator("input").nth(1).click()
        place.locator(".steps button").first.click()
    expect(element.locator(".review h1")).to_be_focused()
    return element


def sent(page: Page, link: str) -> Locator:
    """The element of a survey of `STRONG` once its reply has arrived."""
    element = reviewed(page, link)
    element.locator(".review button[part]").click()
    expect(element.locator(".tick")).to_be_visible()
    return element


def unfolded(element: Locator) -> None:
    """Open everything that opens."""
    for each in element.locator("summary").all():
        each.click()


SCENES["start-strong"] = lambda page, collector: opened(page, collector.publish(STRONG))
SCENES["start-strong-opened"] = lambda page, collector: unfolded(opened(page, collector.publish(STRONG)))
SCENES["start-weak"] = lambda page, collector: opened(page, collector.publish(WEAK))
SCENES["start-drawn"] = lambda page, collector: opened(page, collector.publish(DRAWN))


@scene("start-invited")
def _invited(page: Page, collector: Collector) -> None:
    survey = made(YES_NO, CHOICE, access="invited")
    link = collector.publish(survey)
    with closing(open_store(collector.place)) as store:
        (invitation,) = invite(store, survey, 1)
    opened(page, f"{link}#invitation={invitation}")


SCENES["start-german"] = lambda page, collector: opened(
    page, collector.publish(made(YES_NO, CHOICE, title="Donaudampfschifffahrtsgesellschaftskapitänsversammlung: Überstunden und Rechtsschutzversicherungen", organiser="Bundesanstalt für Arbeitsschutz", about="Wir möchten wissen, wie Beschäftigte zurechtkommen.")) + "#lang=de"
)
SCENES["start-arabic"] = lambda page, collector: opened(page, f"{collector.publish(STRONG)}#lang=ar")
TODAY = datetime.date.today()
SCENES["not-open-yet"] = lambda page, collector: opened(
    page, collector.publish(replace(STRONG, opens=datetime.date(2999, 11, 20), closes=datetime.date(2999, 12, 20)))
)


@scene("closed")
def _closed(page: Page, collector: Collector) -> None:
    survey = replace(STRONG, title=f"{TITLE}, closed")
    link = collector.publish(survey)
    store = open_store(collector.place)
    store.close_survey(survey.id)
    store.close()
    opened(page, link)
    expect(page.get_by_role("heading", name="closed").last).to_be_visible()


@scene("full")
def _full(page: Page, collector: Collector) -> None:
    survey = made(YES_NO, title=f"{TITLE}, full", closes_at=200)
    link = collector.publish(survey)
    store = open_store(collector.place)
    store.close_survey(survey.id)
    store.close()
    opened(page, link)
    page.wait_for_timeout(500)


SCENES["refused"] = lambda page, collector: opened(
    page, collector.publish(made(question_toml("pills", "yes-no", "Pills?", epsilon=5), title=f"{TITLE}, refused"))
)
SCENES["link-incomplete"] = lambda page, collector: opened(
    page, collector.publish(made(YES_NO, access="invited", title=f"{TITLE}, link"))
)
for name, question in {"yes-no": YES_NO, "choice": CHOICE, "ticks": TICKS, "scale": SCALE, "stars": STARS, "number": NUMBER, "long": LONG, "grid": GRID}.items():
    SCENES[f"question-{name}"] = lambda page, collector, question=question: begun(  # type: ignore[misc]
        page, collector.publish(made(question, YES_NO.replace("pills", "second") if question is YES_NO else YES_NO))
    )


@scene("question-chosen")
def _chosen(page: Page, collector: Collector) -> None:
    begun(page, collector.publish(STRONG)).locator("input").nth(1).click()


@scene("question-missing")
def _missing(page: Page, collector: Collector) -> None:
    begun(page, collector.publish(STRONG)).locator(".steps button:visible").first.click()


@scene("question-number-wrong")
def _wrong(page: Page, collector: Collector) -> None:
    element = begun(page, collector.publish(made(NUMBER, YES_NO)))
    element.locator("input").first.fill("25")
    element.locator(".steps button:visible").first.click()


SCENES["page-layout"] = lambda page, collector: begun(page, collector.publish(replace(STRONG, layout="page")))


@scene("page-layout-missing")
def _page_missing(page: Page, collector: Collector) -> None:
    element = begun(page, collector.publish(replace(STRONG, layout="page")))
    element.locator("form > .card > button").click()


SCENES["review"] = lambda page, collector: reviewed(page, collector.publish(STRONG))


@scene("sending")
def _sending(page: Page, collector: Collector) -> None:
    page.route("**/reports", lambda _route: None)
    element = reviewed(page, collector.publish(STRONG))
    element.locator(".review button[part]").click()
    page.wait_for_timeout(200)


@scene("sending-error")
def _sending_error(page: Page, collector: Collector) -> None:
    page.route("**/reports", lambda route: route.fulfill(status=500, body="{}"))
    element = reviewed(page, collector.publish(STRONG))
    element.locator(".review button[part]").click()
    page.wait_for_timeout(400)


SCENES["receipt"] = lambda page, collector: sent(page, collector.publish(STRONG))
SCENES["receipt-opened"] = lambda page, collector: unfolded(sent(page, collector.publish(STRONG)))


@scene("receipt-again")
def _again(page: Page, collector: Collector) -> None:
    sent(page, collector.publish(STRONG))
    page.reload()
    expect(page.locator("deniable-survey h1").last).to_be_visible()


@contextmanager
def kiosk(collector: Collector, survey: Survey) -> Iterator[str]:
    """A page of another site on which many people answer at one device."""
    html = f"""<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
        <meta name="color-scheme" content="light dark"><title>Kiosk</title>{scripts(collector)}
        <main><deniable-survey kiosk src="{collector.publish(survey)}"></deniable-survey></main></html>"""
    with another_site(html) as address:
        yield address


SCENES["device-empty"] = lambda page, collector: (page.goto(f"{collector.url}/device"), page.locator("deniable-told h1").wait_for())


@scene("device-full")
def _device(page: Page, collector: Collector) -> None:
    sent(page, collector.publish(STRONG))
    page.goto(f"{collector.url}/device")
    expect(page.locator("deniable-told .box").first).to_be_visible()


@scene("device-words")
def _device_words(page: Page, collector: Collector) -> None:
    _device(page, collector)
    page.locator("deniable-told .box button").first.click()
    expect(page.locator("deniable-told .said")).to_be_visible()


SCENES["home"] = lambda page, collector: page.goto(collector.url)
SCENES["error-404"] = lambda page, collector: page.goto(f"{collector.url}/s/nothing")


def shoot(page: Page, folder: Path, name: str, width: int) -> None:
    """The screen as it stands, in both colours."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # a literal
        page.mouse.move(0, 0)
        page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)


def main(folder: Path, parts: list[str]) -> None:
    """Pictures of every screen whose name holds one of the parts, or of all."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [name for name in [*SCENES, "kiosk-receipt"] if not parts or any(part in name for part in parts)]
    with tempfile.TemporaryDirectory() as place, running_collector(Path(place), "--contact", "help@aville.example") as collector, browsing() as browser:
        for width, height in WIDTHS.items():
            for name in wanted:
                context: BrowserContext = browser.new_context(viewport={"width": width, "height": height}, locale="en-GB")
                page = context.new_page()
                page.set_default_timeout(15_000)
                if name == "kiosk-receipt":
                    with kiosk(collector, STRONG) as address:
                        sent(page, address)
                        shoot(page, folder, name, width)
                else:
                    SCENES[name](page, collector)
                    shoot(page, folder, name, width)
                context.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])

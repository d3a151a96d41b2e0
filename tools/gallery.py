"""Take a picture of every screen of respondents, on a phone and on a desktop, light and dark, to be judged.

``python -m tools.gallery FOLDER [PART ...]`` takes all of them, or those whose names hold one of the parts. The name
of a picture says the screen, the width of the window and the colours, as in ``start-strong-390-dark.png``.
"""

from __future__ import annotations

import datetime
import re
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from deniable import Survey, read_survey
from deniable_server.store import open_store
from tools.rig.access import invite
from tools.rig.browsing import another_site, scripts, unfold
from tools.rig.collectors import Collector, running_collector
from tools.rig.survey_files import question_toml, survey_toml
from tools.screenshots import browsing

WIDTHS = {390: 844, 1280: 900}
"""Widths of windows with their heights: a phone and a desktop."""

HEIGHT = "document.documentElement.scrollHeight"

TITLE = "Stress, sleep and help on the ward"
TEXTS = {
    "organiser": "Institute for Health at Work, University of Aville",
    "about": "We want to know how staff of hospitals cope, so that wards get the help that they need.",
    "contact": "survey@health.example",
    "thanks": "If these questions weigh on you, the staff helpline listens day and night: 0800 555 0199.",
}
HELPERS = ["A colleague", "The head of my ward", "A doctor", "Somebody at home", "Nobody"]
SIGNS = ["I slept badly", "I drank more than usual", "I cried at work", "I made a mistake"]
EVENTS = {"shift": "I worked a double shift", "rest": "I had no break", "alone": "I was alone on the ward"}
OFTEN = ["never", "once or twice", "every week", "every day"]
MEDICINES = [f"Medicine {letter}{n}" for letter in "ABCDEF" for n in range(10)]

PILLS = "In the last month, have you taken pills to get through a shift?"
QUESTIONS = {
    "yes-no": question_toml("pills", "yes-no", PILLS, epsilon=0.5),
    "choice": question_toml(
        "help", "choice", "Whom did you last ask for help?",
        options=HELPERS, decline="I would rather not say", epsilon=0.5,
    ),
    "ticks": question_toml("signs", "ticks", "Which of these did you notice last week?", options=SIGNS, epsilon=1),
    "scale": question_toml(
        "safe", "scale", "How safe do you feel when you speak up at work?",
        lo=1, hi=7, ends=["not at all", "completely"], goal="shares", epsilon=0.5,
    ),
    "stars": question_toml(
        "listens", "rating", "How well does the head of your ward listen?",
        stars=5, ends=["not well at all", "very well"], epsilon=0.5,
    ),
    "number": question_toml(
        "hours", "number", "How many hours did you sleep last night?", lo=0, hi=14, unit="hours", epsilon=0.5
    ),
    "long-list": question_toml("drug", "choice", "Which medicine did you take last?", options=MEDICINES, epsilon=1),
    "grid": question_toml(
        "often", "grid", "How often did this happen last month?", items=EVENTS, options=OFTEN, epsilon=1, draw=3
    ),
}  # fmt: skip
LAST = question_toml("again", "yes-no", "Would you answer such a survey again?", epsilon=0.5)


def made(*questions: str, title: str = TITLE, **keys: object) -> Survey:
    """A survey with the texts of this gallery and these questions."""
    return read_survey(survey_toml(title, *questions, **{**TEXTS, **keys}))


STRONG = made(*(QUESTIONS[kind] for kind in ("yes-no", "choice", "scale", "stars")), closes=datetime.date(2999, 12, 20))
WEAK = made(question_toml("pills", "yes-no", PILLS, epsilon=3.9))
ADMITTED = [
    PILLS,
    "In the last month, have you worked a shift after drinking?",
    "In the last month, have you left a mistake unreported?",
    "In the last month, have you called in sick because you could not face the ward?",
]
DRAWN = made(*(question_toml(f"q{n}", "yes-no", text) for n, text in enumerate(ADMITTED)), epsilon=1.0, draw=2)
GERMAN = made(
    question_toml(
        "tabletten", "yes-no", "Haben Sie im letzten Monat Tabletten genommen, um eine Schicht durchzustehen?",
        epsilon=0.5,
    ),
    question_toml(
        "hilfe", "choice", "Wen haben Sie zuletzt um Hilfe gebeten?",
        options=["Jemanden aus dem Team", "Die Stationsleitung", "Einen Arzt oder eine Ärztin", "Niemanden"],
        epsilon=0.5,
    ),
    title="Arbeitsbelastung, Schlaf und Unterstützung in Krankenhäusern und Pflegeeinrichtungen",
    organiser="Bundesanstalt für Arbeitsschutz",
    about="Wir möchten wissen, wie Beschäftigte zurechtkommen, damit sie die Hilfe bekommen, die sie brauchen.",
    thanks="Wenn diese Fragen Sie belasten: Die Beratung für Beschäftigte ist Tag und Nacht da, Telefon 0800 555 0199.",
)  # fmt: skip
ARABIC = made(
    question_toml("pills", "yes-no", "هل تناولت في الشهر الماضي حبوبًا لكي تتحمل نوبة عمل؟", epsilon=0.5),
    question_toml(
        "help", "choice", "ممن طلبت المساعدة آخر مرة؟",
        options=["زميل", "رئيس القسم", "طبيب", "شخص في البيت", "لا أحد"], epsilon=0.5,
    ),
    title="الضغط والنوم والمساعدة في أقسام المستشفى",
    organiser="معهد الصحة في العمل، جامعة أفيل",
    about="نريد أن نعرف كيف يتدبر العاملون في المستشفيات أمورهم، حتى تحصل الأقسام على المساعدة التي تحتاجها.",
    thanks="إذا أثقلت عليك هذه الأسئلة فخط المساعدة للعاملين متاح ليلًا ونهارًا: 0800 555 0199.",
)  # fmt: skip

Scene = Callable[[Page, Collector], object]
"""What leads a page to a screen."""


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
    page.wait_for_timeout(100)  # until the others stand there
    return element


def reviewed(page: Page, link: str) -> Locator:
    """The element of `STRONG` with every question answered."""
    element = begun(page, link)
    for _ in STRONG.questions:
        place = element.locator("fieldset:visible")
        place.locator("input").nth(1).click()
        place.locator(".steps button").first.click()
    expect(element.locator(".review h1")).to_be_focused()
    return element


def pressed_send(page: Page, link: str) -> Locator:
    """The element of `STRONG` a moment after Send."""
    element = reviewed(page, link)
    element.locator(".review button[part]").click()
    page.wait_for_timeout(300)
    return element


def sent(page: Page, link: str) -> Locator:
    """The element of `STRONG` once its reply has arrived."""
    element = pressed_send(page, link)
    expect(element.get_by_role("heading", name="You are done")).to_be_visible()
    return element


def opens(survey: Survey, fragment: str = "") -> Scene:
    """The way to the first screen of a survey, with what stands below Start."""

    def way(page: Page, collector: Collector) -> None:
        element = opened(page, collector.publish(survey) + fragment)
        if element.locator(".begin").count():
            expect(element.locator(".folds")).to_be_visible()

    return way


def receipt_with(part: str) -> Scene:
    """The way to the receipt of `STRONG` with one part opened."""

    def way(page: Page, collector: Collector) -> None:
        element = sent(page, collector.publish(STRONG))
        for name in ("More about my reply", part):
            element.get_by_text(name, exact=True).click()

    return way


def asks(kind: str) -> Scene:
    """The way to a question of a type."""
    survey = made(QUESTIONS[kind], LAST)
    return lambda page, collector: begun(page, collector.publish(survey))


def invited(page: Page, collector: Collector) -> None:
    survey = made(QUESTIONS["yes-no"], QUESTIONS["choice"], access="invited")
    link = collector.publish(survey)
    with closing(open_store(collector.place)) as store:
        (invitation,) = invite(store, survey, 1)
    opened(page, f"{link}#invitation={invitation}")


def declined(page: Page, collector: Collector) -> None:
    opened(page, collector.publish(WEAK)).locator(".begin > .minor").click()


def closes(survey: Survey) -> Scene:
    """The way to a survey that was closed by hand."""

    def way(page: Page, collector: Collector) -> None:
        link = collector.publish(survey)
        with closing(open_store(collector.place)) as store:
            store.close_survey(survey.id)
        opened(page, link)
        expect(page.get_by_role("heading", name=re.compile("is closed|already answered"))).to_be_visible()

    return way


def chosen(page: Page, collector: Collector) -> None:
    begun(page, collector.publish(STRONG)).locator("input").nth(1).click()


def lacks_answer(page: Page, collector: Collector) -> None:
    begun(page, collector.publish(STRONG)).locator(".steps button:visible").first.click()


def number_wrong(page: Page, collector: Collector) -> None:
    element = begun(page, collector.publish(made(QUESTIONS["number"], LAST)))
    element.locator("input").first.fill("25")
    element.locator(".steps button:visible").first.click()


def page_lacks_answers(page: Page, collector: Collector) -> None:
    begun(page, collector.publish(replace(STRONG, layout="page"))).locator("form > .stack > button").click()


def sending(page: Page, collector: Collector) -> None:
    page.route("**/reports", lambda route: route.abort() if page.is_closed() else None)
    pressed_send(page, collector.publish(STRONG))


def sending_fails(page: Page, collector: Collector) -> None:
    page.route("**/reports", lambda route: route.fulfill(status=500, body="{}"))
    pressed_send(page, collector.publish(STRONG))


def answered_before(page: Page, collector: Collector) -> None:
    sent(page, collector.publish(STRONG))
    page.reload()
    expect(page.locator("deniable-survey h1").last).to_be_visible()


def device(page: Page, collector: Collector) -> None:
    sent(page, collector.publish(STRONG))
    page.goto(f"{collector.url}/device")
    expect(page.get_by_text("Show what was sent", exact=True)).to_be_visible()


def device_in_words(page: Page, collector: Collector) -> None:
    device(page, collector)
    page.get_by_text("Show what was sent", exact=True).click()
    expect(page.locator("deniable-told .said")).to_be_visible()


def device_empty(page: Page, collector: Collector) -> None:
    page.goto(f"{collector.url}/device")
    expect(page.locator("deniable-told h1")).to_be_visible()


def kiosk(page: Page, collector: Collector) -> None:
    element = f'<deniable-survey kiosk src="{collector.publish(STRONG)}"></deniable-survey>'
    html = f"""<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
        <meta name="color-scheme" content="light dark"><title>Kiosk</title>
        <link rel="stylesheet" href="{collector.url}/static/pages.css">{scripts(collector)}
        <body class="narrow"><main>{element}</main>"""
    with another_site(html) as address:
        sent(page, address)


SCENES: dict[str, Scene] = {
    "start-strong": opens(STRONG),
    "start-strong-opened": lambda page, collector: unfold(opened(page, collector.publish(STRONG)), as_people_can=True),
    "start-weak": opens(WEAK),
    "start-weak-declined": declined,
    "start-drawn": opens(DRAWN),
    "start-invited": invited,
    "start-german": opens(GERMAN, "#lang=de"),
    "start-arabic": opens(ARABIC, "#lang=ar"),
    "not-open-yet": opens(replace(STRONG, opens=datetime.date(2999, 11, 20))),
    "closed": closes(made(LAST)),
    "full": closes(made(LAST, closes_at=200)),
    "refused": opens(made(question_toml("pills", "yes-no", PILLS, epsilon=5))),
    "link-incomplete": opens(made(LAST, access="invited")),
    **{f"question-{kind}": asks(kind) for kind in QUESTIONS},
    "question-chosen": chosen,
    "question-missing": lacks_answer,
    "question-number-wrong": number_wrong,
    "page-layout": lambda page, collector: begun(page, collector.publish(replace(STRONG, layout="page"))),
    "page-layout-missing": page_lacks_answers,
    "review": lambda page, collector: reviewed(page, collector.publish(STRONG)),
    "sending": sending,
    "sending-error": sending_fails,
    "receipt": lambda page, collector: sent(page, collector.publish(STRONG)),
    "receipt-opened": receipt_with("What my device sent, in words"),
    "receipt-chance": receipt_with("How chance protects you"),
    "receipt-experts": receipt_with("For experts"),
    "receipt-again": answered_before,
    "receipt-kiosk": kiosk,
    "device-empty": device_empty,
    "device-full": device,
    "device-words": device_in_words,
    "home": lambda page, collector: page.goto(collector.url),
    "error-404": lambda page, collector: page.goto(f"{collector.url}/s/nothing"),
}


def main(folder: Path, parts: list[str]) -> None:
    """Pictures of every screen whose name holds one of the parts, or of all."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [name for name in SCENES if not parts or any(part in name for part in parts)]
    with (
        tempfile.TemporaryDirectory() as place,
        running_collector(Path(place), "--contact", "help@aville.example") as collector,
        browsing() as browser,
    ):
        for width, height in WIDTHS.items():
            for name in wanted:
                page = browser.new_context(viewport={"width": width, "height": height}, locale="en-US").new_page()
                SCENES[name](page, collector)
                page.mouse.move(0, 0)  # nothing is hovered over
                page.evaluate("scrollTo(0, 0)")
                # What stays in sight at the foot of a window stands where it belongs in a window as high as the page.
                page.set_viewport_size({"width": width, "height": max(height, page.evaluate(HEIGHT))})
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme=scheme)
                    page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
                page.context.close()


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])

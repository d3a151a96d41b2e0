"""The sheet of ``deniable invite --sheet``: what a camera reads from the printed page is every link, and no other."""

from __future__ import annotations

import csv
import io
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import BrowserContext, expect

from deniable import Survey, read_survey
from deniable_server.people.sheet import A_PAGE, MOST_CHARACTERS, MOST_OF_A_LINK, sheet_page
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.access import ANSWERS, invited_survey, publish, unlinkable_survey
from tools.rig.browsing import ARRIVED, answer
from tools.rig.collectors import Collector
from tools.rig.command_line import CommandLine
from tools.rig.surveys import SURVEY

TITLE = "Life & <b>love</b>: how we live, and whom we tell about it"


def made(survey: Survey, folder: Path, n: int, *more: str) -> tuple[list[str], Path]:
    """The links of a list, and the sheet with the same."""
    database, links, sheet = folder / "test.db", folder / "links.csv", folder / "sheet.html"
    store = SqliteStore(database)
    store.publish(survey)
    store.close()
    where = ["--db", database, "--public-url", "https://collector.example"]
    CommandLine("invite").ok(survey.id, "-n", n, "--to", links, "--sheet", sheet, *more, *where)
    with links.open(encoding="utf-8", newline="") as file:
        return [row["link"] for row in csv.DictReader(file)], sheet


def read_codes(picture: bytes) -> list[str]:
    """The text of every code in a picture, as a camera finds it."""
    return [each.text for each in zxingcpp.read_barcodes(Image.open(io.BytesIO(picture)).convert("L"))]


def test_every_link_is_read_back_from_the_printed_page(context: BrowserContext, tmp_path: Path) -> None:
    changes = {"title": TITLE, "opens": None, "closes": None, "cohorts": ("on paper, long ago",)}
    links, sheet = made(invited_survey(**changes), tmp_path, 20, "--cohort", "on paper, long ago")
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.emulate_media(media="print")
    page.goto(sheet.as_uri())
    assert requests == [sheet.as_uri()], "a sheet loads nothing"
    assert problems == []
    found = []
    for part in page.locator(".page").all():
        codes = read_codes(part.screenshot())
        shown = part.locator(".link").all_inner_texts()
        assert len(codes) == len(shown) <= A_PAGE
        assert {*codes} == {*shown}
        found += shown
    assert found == links
    assert page.locator("h2").first.inner_text() == TITLE
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == 3


@pytest.mark.parametrize(
    ("sentence", "clipped"),
    [(("Scan it: " + "it lets you in. " * 20)[:MOST_CHARACTERS], 0), ("\u304a" * MOST_CHARACTERS, A_PAGE)],
)
def test_nothing_on_a_page_is_cut_off(context: BrowserContext, tmp_path: Path, sentence: str, clipped: int) -> None:
    """With the longest title, a long cohort and the longest sentence; of letters as wide as high its end alone."""
    cohort = "\u304a\u306f\u3088\u3046" * 8
    survey = invited_survey(title="M" * 200, opens=None, closes=None, cohorts=(cohort,))
    links, sheet = made(survey, tmp_path, A_PAGE, "--cohort", cohort, "--sentence", sentence)
    page = context.new_page()
    page.goto(sheet.as_uri())
    cut = """parts => [...document.querySelectorAll(parts)].filter((each) =>
        each.scrollHeight > each.clientHeight + 1 || each.scrollWidth > each.clientWidth + 1).length"""
    assert page.evaluate(cut, ".page, .card") == 0
    assert page.evaluate(cut, ".card div") == clipped
    millimetres = 96 / 25.4
    for code in page.locator("svg").all():
        box = code.bounding_box()
        assert box
        assert abs(box["width"] - 38 * millimetres) < 1
        assert abs(box["height"] - 38 * millimetres) < 1
    assert sorted(read_codes(page.locator(".page").screenshot())) == sorted(links)


def test_the_longest_links_stand_whole_below_their_codes(context: BrowserContext, tmp_path: Path) -> None:
    """In wider letters than any monospaced font has here, with hyphens, after which lines would break early."""
    links = [f"https://c.example/{('a' * 34 + '-') * 20}"[: MOST_OF_A_LINK - 1] + str(each) for each in range(A_PAGE)]
    sheet = tmp_path / "sheet.html"
    sheet.write_text(sheet_page("M" * 200, links, "M" * MOST_CHARACTERS), encoding="utf-8")
    page = context.new_page()
    page.emulate_media(media="print")
    page.goto(sheet.as_uri())
    page.add_style_tag(content=".card .link { letter-spacing: .1em }")
    for card in page.locator(".card").all():
        code, link, edge = (each.bounding_box() for each in (card.locator("svg"), card.locator(".link"), card))
        assert code
        assert link
        assert edge
        assert code["y"] + code["height"] <= link["y"]
        assert link["y"] + link["height"] <= edge["y"] + edge["height"]
        assert link["x"] + link["width"] <= edge["x"] + edge["width"]
    assert page.locator(".link").all_inner_texts() == links
    assert sorted(read_codes(page.locator(".page").screenshot())) == links


@pytest.mark.parametrize("access", ["open", "invited", "unlinkable"])
def test_a_phone_that_reads_a_code_answers(
    access: str, collector: Collector, context: BrowserContext, tmp_path: Path
) -> None:
    """From the sheet that the author prints to the stored report, through the picture alone."""
    title = f"From paper, {access}"
    if access == "open":
        survey = replace(read_survey(SURVEY), title=title)
    else:
        survey = invited_survey(title=title) if access == "invited" else unlinkable_survey(400, title=title)
    with closing(SqliteStore(collector.database)) as store:
        publish(store, survey, number=400)
    sheet = tmp_path / "sheet.html"
    made = ("sheet", survey.id, "--to") if access == "open" else ("people", survey.id, "--sheet")
    places = ("--db", collector.database, "--public-url", collector.url)
    CommandLine("invite").ok(*made, sheet, "-n", 2, *places)
    paper = context.new_page()
    paper.emulate_media(media="print")
    paper.goto(sheet.as_uri())
    codes = read_codes(paper.locator(".page").screenshot())
    assert len(set(codes)) == (1 if access == "open" else 2)
    phone = context.new_page()
    phone.set_viewport_size({"width": 360, "height": 700})
    phone.goto(codes[0])
    answer(phone, survey, ANSWERS)
    expect(phone.get_by_role("heading", name=ARRIVED)).to_be_visible()
    assert collector.reports(survey) == 1

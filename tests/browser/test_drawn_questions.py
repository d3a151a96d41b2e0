"""Questions that share one epsilon in a real Chromium: a device asks some of them, always the same, and no others."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, expect
from scipy.stats import binom

from deniable import Report, Survey, Warner, parse_report, read_survey
from tools.rig.browsing import (
    ARRIVED,
    GIVE,
    MORE,
    NO_STORAGE,
    Witness,
    another_site,
    everything_kept,
    remembered,
    scripts,
)
from tools.rig.collectors import Collector
from tools.rig.survey_files import question_toml, survey_toml

SHARES = {"affair": 0.3, "debt": 0.5, "drugs": 0.15, "tax": 0.7, "theft": 0.05}
REFUSED = "To protect you, your device does not take part here"


def two_of_five(title: str, **keys: Any) -> Survey:
    """Five yes-no questions for an epsilon of 2, which is best spent on two of them."""
    questions = [question_toml(name, "yes-no", f"Is it {name}?") for name in SHARES]
    survey = read_survey(survey_toml(title, *questions, epsilon=2.0, **keys, layout="page"))
    assert survey.asks == 2
    return survey


def shown(page: Page) -> list[str]:
    """The ids of the questions that stand on the page, in order."""
    expect(page.locator("form > .stack > button")).to_be_visible()
    return [str(each.get_attribute("name")) for each in page.locator("fieldset input[value='0']").all()]


def start(page: Page) -> list[str]:
    """Press Start; the ids of the questions that are asked."""
    page.get_by_role("button", name="Start", exact=True).click()
    return shown(page)


def send(page: Page, answers: dict[str, str], title: str = ARRIVED) -> None:
    """Answer what is asked, up to the receipt."""
    for name in shown(page):
        place = page.locator("fieldset").filter(has_text=f"Is it {name}?")
        place.get_by_role("radio", name=answers[name], exact=True).check()
    page.get_by_role("button", name="Check my answers").click()
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("heading", name=title)).to_be_visible()


def told(report: Report) -> tuple[str, ...]:
    """The ids of the questions that a report has values of."""
    return tuple(name for name, value in report.values.items() if value is not None)


def coins(n: int, p: float) -> np.ndarray:
    """How likely each number of n coins is that fall on the side of probability p."""
    return np.asarray(binom.pmf(np.arange(n + 1), n, p))


def is_likely(count: int, distribution: np.ndarray) -> bool:
    """Whether a count is not among the least probable 1e-8 on either side."""
    return bool(min(distribution[: count + 1].sum(), distribution[count:].sum()) > 1e-8)


ALL_YES = dict.fromkeys(SHARES, "Yes")

NEXT_PERSON = f"""async answers => {{
    const old = document.querySelector("deniable-survey");
    old.replaceWith(old.cloneNode(true));
    await ({GIVE})(answers);
}}"""


@pytest.mark.long
def test_four_hundred_people_are_asked_two_questions_each_and_all_five_come_out_right(
    collector: Collector, page: Page
) -> None:
    """All of them at one shared device, each through the element from Start to the receipt, with a script that clicks.

    Answers are seeded, chance is the browser's own. How often each of ten sets is drawn, and how many say yes to each
    of five questions, has an exact distribution, of which at most 1e-8 lie beyond the bounds on either side: the test
    fails by chance with a probability of at most 3e-7.
    """
    survey = two_of_five("Four hundred", results="live")
    dice = random.Random(400)
    people = [{name: int(dice.random() < share) for name, share in SHARES.items()} for _ in range(400)]
    witness = Witness.of(page)
    link = collector.publish(survey)
    traffic = set()
    with another_site(f'{scripts(collector)}<title>x</title><deniable-survey kiosk src="{link}">') as address:
        page.goto(address)
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
        for answers in people:
            first = len(witness.requests)
            page.evaluate(NEXT_PERSON, answers)
            made = witness.requests[first:]
            traffic.add(tuple((each.method, each.url, len(each.post_data_buffer or b"")) for each in made))
        assert len(traffic) == 1, traffic
        assert [method for method, _, _ in traffic.pop()] == [
            "GET",
            "GET",
            "GET",
            "POST",
        ]  # survey, words, whether it is open, report
        assert page.evaluate(remembered()) == {"reports": {}, "noisy": {}, "told": {}}
    assert witness.lines == []

    reports = [parse_report(body, survey) for body in witness.posts()]
    assert len(reports) == 400
    sets = Counter(map(told, reports))
    assert set(sets) == set(itertools.combinations(SHARES, 2))
    assert all(is_likely(n, coins(400, 0.1)) for n in sets.values()), sets

    page.goto(link)
    result = page.evaluate("async url => (await fetch(url)).json()", f"/api/v1/surveys/{survey.id}/estimates")
    assert result["n"] == 400
    for question in survey.questions:
        name, mechanism = question.id, question.mechanism
        assert isinstance(mechanism, Warner)
        keep = mechanism.keep / 2**32
        truths = [person[name] for person, sent in zip(people, reports, strict=True) if name in told(sent)]
        said = sum(sent.values[name] == 1 for sent in reports)
        yes, no = truths.count(1), truths.count(0)
        assert is_likely(said, np.convolve(coins(yes, keep), coins(no, 1 - keep)))
        (row,) = [row for row in result["estimates"] if (row["question"], row["option"]) == (name, "yes")]
        assert row["n"] == len(truths)
        assert row["estimate"] == pytest.approx((said / len(truths) - (1 - keep)) / (2 * keep - 1))


def test_consent_says_that_some_are_drawn_and_they_are_counted(collector: Collector, page: Page) -> None:
    survey = two_of_five("Says what it draws")
    link = collector.publish(survey)
    page.goto(link)
    drawn = "You will get 2 of 5 questions, picked at random. This takes about a minute."
    expect(page.locator("header").get_by_text(drawn)).to_be_visible()
    kept = page.get_by_text(
        "If you come back after Start, you will see the same questions, because your device remembers which it picked."
    )
    begin = page.get_by_role("button", name="Start", exact=True).bounding_box()
    below = kept.bounding_box()
    assert begin
    assert below
    assert below["y"] > begin["y"]
    start(page)
    titles = page.locator("legend").all_inner_texts()
    assert [title[:3] for title in titles] == ["1. ", "2. "]
    page.get_by_role("button", name="Check my answers").click()
    expect(page.get_by_role("heading", name="2 questions still need an answer.")).to_be_visible()
    for each in page.get_by_role("radio", name="Yes").all():
        each.check()
    page.get_by_role("button", name="Check my answers").click()
    expect(page.locator(".review .text")).to_have_text([part for title in titles for part in (title, "Yes")])
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()
    page.get_by_text(MORE).click()
    page.locator("deniable-survey").get_by_text("For experts").click()
    assert page.locator("details pre").first.inner_text().count(":null") == 1 + 3  # the cohort, and what was not asked

    with another_site(f'{scripts(collector)}<title>x</title><deniable-survey kiosk src="{link}">') as address:
        page.goto(address)
        expect(page.get_by_text(drawn)).to_be_visible()
        expect(page.get_by_text("remembers which questions it picked")).to_have_count(0)


def test_what_was_drawn_is_asked_after_a_reload_in_another_tab_and_at_a_second_visit(
    collector: Collector, context: BrowserContext, page: Page
) -> None:
    survey = two_of_five("Drawn once")
    (unit,) = survey.units
    link = collector.publish(survey)
    page.goto(link)
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    assert page.evaluate("indexedDB.databases()") == []
    asked = start(page)
    draw = {f"{unit.key}draw": unit.mark(asked)}
    assert page.evaluate(remembered()) == {"reports": {}, "noisy": draw, "told": {}}
    for answers in itertools.product(["Yes", "No"], repeat=2):  # what somebody chooses leaves no more
        for name, answer in zip(asked, answers, strict=True):
            page.locator("fieldset").filter(has_text=name).get_by_role("radio", name=answer).check()
        assert page.evaluate(remembered()) == {"reports": {}, "noisy": draw, "told": {}}
    for _ in range(5):  # a device that drew anew would ask the same here and in three tabs in one of 10**8 runs
        page.reload()
        expect(page.get_by_text("You have answered some of this before")).to_have_count(0)
        assert start(page) == asked
    page.close()
    tabs = [context.new_page() for _ in range(3)]
    for tab in tabs:
        tab.goto(link)
        expect(tab.get_by_role("button", name="Start", exact=True)).to_be_visible()
    assert [start(tab) for tab in tabs] == [asked] * 3
    tabs[0].bring_to_front()  # a browser is slow to click where nobody looks
    send(tabs[0], ALL_YES)
    kept = tabs[0].evaluate(remembered())
    (report,) = [json.loads(each["report"]) for each in kept["reports"].values()]
    assert [name for name, value in report["values"].items() if value is not None] == asked
    assert kept["noisy"] == draw | {unit.key: unit.to_keep(report["values"])}
    ((_, cost),) = kept["told"][collector.url].values()
    assert cost == unit.cost
    # Another tab, whose answers are others, shows what is kept, which has arrived.
    witness = Witness.of(tabs[1])
    tabs[1].bring_to_front()
    send(tabs[1], dict.fromkeys(SHARES, "No"), "already given")
    assert witness.posts() == []
    tabs[1].get_by_text(MORE).click()
    tabs[1].locator("deniable-survey").get_by_text("For experts").click()
    expect(tabs[1].get_by_text(report["id"])).to_be_visible()


def test_draw_of_another_title_is_this_one(collector: Collector, page: Page) -> None:
    witness = Witness.of(page)
    page.goto(collector.publish(two_of_five("First title")))
    asked = start(page)
    send(page, ALL_YES)
    page.goto(collector.publish(two_of_five("Second title")))
    expect(page.get_by_text("You have answered some of this before")).to_be_visible()
    assert start(page) == asked
    send(page, dict.fromkeys(SHARES, "No"))
    first, second = [json.loads(body) for body in witness.posts()]
    assert first["values"] == second["values"]
    assert first["id"] != second["id"]


def test_start_pressed_twice_shows_one_form(collector: Collector, page: Page) -> None:
    page.add_init_script("window.starts = 0; addEventListener('deniable-start', () => window.starts++)")
    page.goto(collector.publish(two_of_five("Pressed twice")))
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    page.evaluate(
        """() => {
            const start = document.querySelector("deniable-survey").shadowRoot.querySelector(".start button");
            for (let n = 0; n < 3; n++) start.click();
        }"""
    )
    assert len(shown(page)) == 2
    page.wait_for_timeout(100)
    assert page.evaluate("window.starts") == 1


def test_damaged_draw_asks_nothing(collector: Collector, page: Page) -> None:
    page.goto(collector.publish(two_of_five("Damaged draw")))
    asked = start(page)
    ((_, whole),) = page.evaluate(remembered())["noisy"].items()
    change = "for (const key in state.noisy) state.noisy[key] = {}; return state"
    for damage in ("'x'", "'11111'", "'00000'", "'1100'", "null", "11000", "{}"):
        page.evaluate(remembered(change.replace("{}", damage, 1)))
        damaged = page.evaluate(remembered())
        page.reload()
        page.get_by_role("button", name="Start", exact=True).click()
        expect(page.get_by_role("heading", name=REFUSED)).to_be_visible()
        assert page.locator("fieldset").count() == 0, damage
        assert page.evaluate(remembered()) == damaged
    page.evaluate(remembered(change.replace("{}", json.dumps(whole), 1)))
    page.reload()
    assert start(page) == asked  # nothing else was in the way


def test_where_storage_is_blocked_a_page_asks_the_same(collector: Collector, page: Page) -> None:
    page.add_init_script(NO_STORAGE)
    page.goto(collector.publish(two_of_five("Nothing is kept")))
    expect(page.get_by_text("Your browser does not let this page remember anything.")).to_be_visible()
    expect(page.get_by_text("You will get 2 of 5 questions, picked at random")).to_be_visible()
    expect(page.get_by_text("remembers which questions it picked")).to_have_count(0)
    asked = start(page)
    again = "const old = document.querySelector('deniable-survey'); old.replaceWith(old.cloneNode())"
    for _ in range(8):  # all the same by chance: 1e-8
        page.evaluate(again)
        assert start(page) == asked


def test_kiosk_draws_for_each_person_and_keeps_no_draw(collector: Collector, page: Page) -> None:
    link = collector.publish(two_of_five("A kiosk draws"))
    drawn = set()
    with another_site(f'{scripts(collector)}<title>x</title><deniable-survey kiosk src="{link}">') as address:
        page.goto(address)
        for _ in range(10):  # all the same by chance: 1e-9
            drawn.add(tuple(start(page)))
            assert page.evaluate("indexedDB.databases()") == []
            page.evaluate("const old = document.querySelector('deniable-survey'); old.replaceWith(old.cloneNode())")
    assert len(drawn) > 1


def test_private_question_of_a_draw_is_refused_and_one_beside_it_is_not(collector: Collector, page: Page) -> None:
    drawn = [question_toml(name, "yes-no", f"Is it {name}?", group="some") for name in ("debt", "tax", "theft")]
    groups = {"some": {"epsilon": 1.0, "draw": 1}}
    alone = question_toml("affair", "yes-no", "Is it affair?", epsilon=1)
    link = collector.publish(read_survey(survey_toml("In a form", alone, *drawn, groups=groups)))
    element = f'<deniable-question name="{{}}" src="{link}"></deniable-question>'
    html = f"<!doctype html><title>x</title>{scripts(collector)}<form>{''.join(map(element.format, ('affair', 'tax')))}"
    with another_site(html) as address:
        page.goto(address)
        page.get_by_text("For experts").click()
        expect(page.get_by_text("question: must be one of the survey's that is asked alone")).to_be_visible()
        refused = page.locator("deniable-question[name=tax]")
        assert refused.locator("input[type=radio]").count() == 0
        assert not page.evaluate("document.querySelector('form').checkValidity()")
        page.locator("deniable-question[name=affair]").get_by_role("radio", name="Yes").check()
        page.get_by_role("button", name="Mix in chance").click()
        expect(page.get_by_text("This form gets only what chance made of your answer")).to_be_visible()
        assert [name for name, _ in page.evaluate("[...new FormData(document.querySelector('form'))]")] == ["affair"]
        assert "draw" not in everything_kept(page)

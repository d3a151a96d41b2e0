"""One draw and one budget in a real Chromium, whatever the author of a link, other tabs and the storage do."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from deniable import Survey, read_survey
from tests.support.collectors import StartCollector
from tools.rig.browsing import (
    ARRIVED,
    NO_STORAGE,
    Witness,
    another_site,
    answer,
    press_send,
    remembered,
    scripts,
    wait_for,
)
from tools.rig.collectors import Collector

ANSWERED = "Thank you. A reply was already given here."
REFUSED = "To protect you, your device does not take part here"


def survey_of(title: str, epsilon: float = 1, text: str = "Again?", head: str = "") -> Survey:
    return read_survey(
        f'title = "{title}"\n{head}[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "{text}"\nepsilon = {epsilon}\n'
    )


def to_the_last_button(page: Page, survey: Survey) -> None:
    """Answer up to where only Send is left to press."""
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("radio", name="Yes").check()
    page.get_by_role("button", name="Check my answers").click()
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()


PRESS_AT = """time => setTimeout(() => {
    [...document.querySelector("deniable-survey").shadowRoot.querySelectorAll(".review button[part]")].at(-1).click();
}, time - Date.now())"""


def test_no_link_draws_again(collector: Collector, page: Page) -> None:
    """The draw is kept without the cohort: labels on links cannot mark draws."""
    survey = survey_of("No link", head='cohorts = ["a", "b"]\n')
    link = collector.publish(survey)
    witness = Witness.of(page)
    page.goto(link)
    answer(page, survey, {"q": "yes"})
    fragments = ("kiosk", "kiosk=1&cohort=a", "cohort=a", "cohort=b&kiosk")
    for fragment, path in itertools.product(fragments, ("s", "embed")):
        page.goto("about:blank")
        page.goto(f"{link.replace('/s/', f'/{path}/')}#{fragment}")
        expect(page.get_by_role("heading", name=ANSWERED)).to_be_visible()
    assert len(witness.posts()) == 1


def test_frame_is_a_kiosk_for_the_page_that_holds_it_and_never_for_a_link(
    collector: Collector, context: BrowserContext
) -> None:
    survey = survey_of("Frames")
    link = collector.publish(survey)
    script = f"<!doctype html><title>x</title>{scripts(collector)}"
    forgets = "This shared device forgets you as soon as your reply has arrived."
    for src, attributes, is_kiosk in ((link, "isolated kiosk", True), (f"{link}#kiosk", "isolated", False)):
        with another_site(f'{script}<deniable-survey src="{src}" {attributes}></deniable-survey>') as address:
            page = context.new_page()
            page.goto(address)
            frame = page.frame_locator("iframe")
            expect(frame.get_by_role("button", name="Start", exact=True)).to_be_visible()
            expect(frame.get_by_text(forgets)).to_have_count(int(is_kiosk))
    # A window of that name is not a frame of a page that holds it.
    opener = f'<!doctype html><title>x</title><a target="deniable-kiosk" href="{link.replace("/s/", "/embed/")}">x</a>'
    with another_site(opener) as address:
        page = context.new_page()
        page.goto(address)
        with page.expect_popup() as popup:
            page.get_by_role("link").click()
        expect(popup.value.get_by_role("button", name="Start", exact=True)).to_be_visible()
        assert popup.value.get_by_text(forgets).count() == 0


def test_kiosk_asks_where_this_device_has_answered(collector: Collector, page: Page) -> None:
    survey = survey_of("Asks")
    link = collector.publish(survey)
    site = f"""<!doctype html><title>x</title>{scripts(collector)}
        <deniable-survey src="{link}"></deniable-survey>"""
    witness = Witness.of(page)
    with another_site(site) as address:
        page.goto(address)
        answer(page, survey, {"q": "yes"})
        page.evaluate(f"document.querySelector('deniable-survey').outerHTML = `<deniable-survey kiosk src='{link}'>`")
        expect(page.get_by_role("heading", name=ANSWERED)).to_be_visible()
        expect(page.get_by_text("Please go on only if you are another person")).to_be_visible()
        assert page.get_by_role("button", name="Start", exact=True).count() == 0
        page.get_by_role("button", name="Next person").click()
        answer(page, survey, {"q": "no"})
    assert len({json.loads(body)["id"] for body in witness.posts()}) == 2


def test_three_tabs_of_epsilon_5_never_pass_the_budget_of_8(collector: Collector, context: BrowserContext) -> None:
    dear = [
        read_survey(
            f'title = "Dear {n}"\nlayout = "page"\n'
            + "".join(
                f'[[questions]]\nid = "q{m}"\ntype = "yes-no"\ntext = "{n} {m}?"\nepsilon = 2.5\n' for m in range(2)
            )
        )
        for n in range(3)
    ]
    pages = []
    for survey in dear:
        page = context.new_page()
        page.goto(collector.publish(survey))
        page.get_by_role("button", name="Start", exact=True).click()
        for asked in survey.questions:
            page.locator("fieldset").filter(has_text=asked.text).get_by_role("radio", name="Yes").check()
        page.get_by_role("button", name="Check my answers").click()
        expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
        pages.append(page)
    at = pages[0].evaluate("Date.now() + 500")
    for page in pages:
        page.evaluate(PRESS_AT, at)
    for page in pages:
        page.wait_for_function(
            """words => {
                const { textContent } = document.querySelector("deniable-survey").shadowRoot;
                return words.some((each) => textContent.includes(each));
            }""",
            arg=[ARRIVED, REFUSED],
        )
    assert sum(page.get_by_role("heading", name=ARRIVED).count() for page in pages) == 1
    told = pages[0].evaluate(remembered())["told"][collector.url]
    assert sum(cost for _, cost in told.values()) <= 8_000_000
    expect(pages[0].get_by_text("undefined")).to_have_count(0)


@pytest.mark.parametrize("gaps", [(0, 5, 25), pytest.param((0, 1, 2, 5, 10, 10, 15, 20, 25), marks=pytest.mark.long)])
def test_two_tabs_that_press_send_within_25_ms_make_one_report(
    collector: Collector, context: BrowserContext, gaps: Sequence[int]
) -> None:
    first, second = context.new_page(), context.new_page()
    for gap in gaps:
        survey = survey_of(f"Two tabs {gap} {first.evaluate('performance.now()')}", epsilon=0.01, text=f"{gap}?")
        link = collector.publish(survey)
        witnesses = [Witness.of(page) for page in (first, second)]
        for page in (first, second):
            page.goto(link)
            to_the_last_button(page, survey)
        at = first.evaluate("Date.now() + 250")
        first.evaluate(PRESS_AT, at)
        second.evaluate(PRESS_AT, at + gap)
        arrived = [page.get_by_role("heading", name=ARRIVED) for page in (first, second)]
        for page, sent in zip((first, second), arrived, strict=True):
            expect(sent.or_(page.get_by_role("heading", name="already given"))).to_be_visible()
        assert any(sent.is_visible() for sent in arrived)
        assert len({body for witness in witnesses for body in witness.posts()}) == 1
        assert collector.reports(survey) == 1


@pytest.mark.parametrize("first", ["survey", "question"])
def test_question_in_a_form_and_its_survey_share_one_draw(collector: Collector, page: Page, first: str) -> None:
    survey = survey_of(f"Shared, {first} first")
    link = collector.publish(survey)
    script = f"<!doctype html><title>x</title>{scripts(collector)}"
    elements = {
        "survey": f'<deniable-survey src="{link}"></deniable-survey>',
        "question": f'<form><deniable-question name="q" src="{link}"></deniable-question></form>',
    }
    witness = Witness.of(page)
    values = []
    with another_site(script + "<main></main>") as address:
        for which in (first, *(elements.keys() - {first})):
            page.goto(address)
            page.evaluate("html => document.querySelector('main').innerHTML = html", elements[which])
            if which == "survey":
                answer(page, survey, {"q": "yes"})
                values.append(json.loads(witness.posts()[-1])["values"]["q"])
            else:
                if which == first:
                    page.get_by_role("radio", name="No", exact=True).check()
                    page.get_by_role("button", name="Mix in chance").click()
                expect(page.get_by_text("This form gets only what chance made of your answer")).to_be_visible()
                values.append(int(page.evaluate("new FormData(document.querySelector('form')).get('q')")))
        told = page.evaluate(remembered())["told"]
    assert values[0] == values[1]
    assert {origin: len(questions) for origin, questions in told.items()} == {collector.url: 1}


def test_two_scripts_share_one_draw_where_storage_is_blocked(collector: Collector, page: Page) -> None:
    # Two draws of this number would be equal once in hundreds.
    survey = read_survey(
        'title = "Blocked"\n[[questions]]\nid = "q"\ntype = "number"\ntext = "?"\nlo = 0\nhi = 500\nepsilon = 1'
    )
    link = collector.publish(survey)
    page.add_init_script(NO_STORAGE)
    witness = Witness.of(page)
    question = f'<form id="form"><deniable-question name="q" src="{link}"></deniable-question></form>'
    with another_site(f"{scripts(collector)}{question}<main></main>") as address:
        page.goto(address)
        page.get_by_role("spinbutton").fill("250")
        page.get_by_role("button", name="Mix in chance").click()
        expect(page.get_by_text("This form gets only what chance made of your answer")).to_be_visible()
        value = page.evaluate("new FormData(document.querySelector('#form')).get('q')")
        element = f'<deniable-survey src="{link}"></deniable-survey>'
        page.evaluate("html => document.querySelector('main').innerHTML = html", element)
        answer(page, survey, {"q": 250})
    assert [json.loads(body)["values"]["q"] for body in witness.posts()] == [int(value)]


def test_memory_is_on_the_disk_before_anything_is_sent(collector: Collector, page: Page) -> None:
    survey = survey_of("Durable")
    page.add_init_script(
        """const { transaction } = IDBDatabase.prototype;
        window.kinds = [];
        IDBDatabase.prototype.transaction = function (stores, mode, options) {
            window.kinds.push([mode, options?.durability]);
            return transaction.call(this, stores, mode, options);
        };"""
    )
    page.goto(collector.publish(survey))
    answer(page, survey, {"q": "yes"})
    kinds = page.evaluate("window.kinds")
    assert kinds
    assert {tuple(each) for each in kinds} == {("readwrite", "strict")}
    page.reload()
    expect(page.get_by_text("Thank you. A reply was already given here.")).to_be_visible()
    assert page.evaluate("window.kinds") == [["readonly", "strict"]], "read once, and no disk is waited for"


def test_whoever_leaves_without_an_answer_leaves_nothing_behind(collector: Collector, page: Page) -> None:
    survey = survey_of("Left alone")
    page.goto(collector.publish(survey))
    expect(page.get_by_text("No answer is sent before you press Send")).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("radio", name="Yes").check()
    assert page.evaluate("indexedDB.databases()") == []
    page.reload()
    answer(page, survey, {"q": "yes"})
    assert [each["name"] for each in page.evaluate("indexedDB.databases()")] == ["deniable"]


DAMAGE = {
    "no state": "return 'x'",
    "no reports": "delete state.reports; return state",
    "a report that is not one": "for (const each of Object.values(state.reports)) each.report = '{}'; return state",
    "a report of nothing": "for (const each in state.reports) state.reports[each] = null; return state",
    "spaces": "for (const each of Object.values(state.reports)) each.report += ' '; return state",
    "a cost that is not a number": "state.reports = {}; state.told = { [location.origin]: { x: 1 } }; return state",
}


def test_damaged_memory_is_refused_and_never_drawn_again(collector: Collector, page: Page) -> None:
    survey = survey_of("Damaged")
    witness = Witness.of(page)
    page.goto(collector.publish(survey))
    answer(page, survey, {"q": "yes"})
    whole = page.evaluate(remembered())
    again = f"state = {json.dumps(whole)}; "
    for damage, change in DAMAGE.items():
        page.evaluate(remembered(again + change))
        left = page.evaluate(remembered())
        assert left != whole, damage
        page.reload()
        expect(page.get_by_role("heading", name=REFUSED)).to_be_visible()
        assert page.evaluate(remembered()) == left, f"{damage}: left as it is"
        assert len(witness.posts()) == 1
    page.evaluate(remembered(f"{again} return state"))
    page.reload()
    expect(page.get_by_role("heading", name=ANSWERED)).to_be_visible()  # nothing else was in the way


FULL = """
const put = IDBObjectStore.prototype.put;
IDBObjectStore.prototype.put = function (...given) {
    const request = put.apply(this, given);
    this.transaction.abort();  // as a browser does where there is no room
    return request;
};
"""
BROKEN = """indexedDB.open = () => {
    const request = {};
    setTimeout(() => request.onerror(new Event("error")));
    return request;
};"""


@pytest.mark.parametrize("trouble", [FULL, BROKEN], ids=["full", "broken"])
def test_report_that_cannot_be_kept_is_not_sent(collector: Collector, page: Page, trouble: str) -> None:
    survey = survey_of("Full")
    page.add_init_script(trouble)
    witness = Witness.of(page)
    page.goto(collector.publish(survey))
    if trouble == FULL:
        press_send(page, survey, {"q": "yes"})
    expect(page.get_by_role("heading", name=REFUSED)).to_be_visible()
    expect(page.get_by_text("Your device cannot read what it remembers of earlier replies")).to_be_visible()
    assert witness.posts() == []
    assert page.evaluate("Object.keys(localStorage)") == []


def test_second_collector_gets_the_same_report_is_charged_and_asked_for(collector: Collector, page: Page) -> None:
    """Here it is the same collector under another path, which an entry of this test makes a stranger to the report."""
    survey = survey_of("Second")
    witness = Witness.of(page)
    link = collector.publish(survey)
    page.goto(link)
    answer(page, survey, {"q": "yes"})
    page.evaluate(
        remembered(
            """for (const each of Object.values(state.reports)) each.to = { "https://first.example": true };
        state.told = { "https://first.example": Object.values(state.told)[0] };
        return state"""
        )
    )
    page.reload()
    expect(page.get_by_role("heading", name=ANSWERED)).to_be_visible()
    page.wait_for_timeout(300)
    assert len(witness.posts()) == 1, "nothing goes to somebody else without being asked"
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("heading", name=ARRIVED)).to_be_visible()
    assert len(set(witness.posts())) == 1
    told = page.evaluate(remembered())["told"]
    assert told["https://first.example"].keys() == told[collector.url].keys() == set(survey.keys.values())


def test_second_collector_without_room_gets_nothing(collector: Collector, page: Page) -> None:
    survey = survey_of("No room", epsilon=3)
    witness = Witness.of(page)
    page.goto(collector.publish(survey))
    answer(page, survey, {"q": "yes"})
    page.evaluate(
        remembered(
            """const here = Object.keys(state.told)[0];
        for (const each of Object.values(state.reports)) each.to = { "https://first.example": true };
        state.told = { "https://first.example": state.told[here], [here]: { other: ["2999-01-01", 6000000] } };
        return state"""
        )
    )
    page.reload()
    expect(page.get_by_role("heading", name=REFUSED)).to_be_visible()
    assert len(witness.posts()) == 1


def test_same_question_under_other_titles_sends_the_same_value_and_says_so(collector: Collector, page: Page) -> None:
    witness = Witness.of(page)
    note = "your device sends the same reply as last time"
    surveys = [survey_of(f"Title {n}", epsilon=3) for n in range(6)]
    for number, survey in enumerate(surveys):
        page.goto(collector.publish(survey))
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
        expect(page.get_by_text(note)).to_have_count(1 if number else 0)
        answer(page, survey, {"q": "yes" if number % 2 else "no"})
    assert len({json.loads(body)["values"]["q"] for body in witness.posts()}) == 1
    assert len(witness.posts()) == 6
    page.goto(collector.publish(survey_of("Title 7", epsilon=3, text="Again, though?")))
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    assert page.get_by_text(note).count() == 0
    # What the sum is, and the sentence that fits it: 6 of 8, 6 of 16.
    expect(
        page.get_by_text("75 % of its limit for this server is used, and 38 % of its limit for all servers together")
    ).to_be_visible()
    expect(page.get_by_text("This survey protects you only a little: what you send reveals")).to_be_visible()


def test_each_wave_costs_anew_where_the_survey_says_so(collector: Collector, page: Page) -> None:
    for number in range(3):
        survey = survey_of(f"Wave {number}", epsilon=4, head='fresh = "each wave"\n')
        page.goto(collector.publish(survey))
        if number < 2:
            answer(page, survey, {"q": "yes"})
    expect(page.get_by_role("heading", name=REFUSED)).to_be_visible()


def test_report_of_a_shared_device_waits_for_its_own_collector(
    collector: Collector, start_collector: StartCollector, page: Page
) -> None:
    """Another collector of the same survey does not get it, and it is not forgotten there."""
    first, second = collector, start_collector()
    survey = survey_of("Waits for one")
    link, other = first.publish(survey), second.publish(survey)
    script = f"<!doctype html><title>x</title>{scripts(first)}<main>"
    show = "html => document.querySelector('main').innerHTML = html"
    with another_site(script) as address:
        page.goto(address)
        page.route("**/reports", lambda route: route.fulfill(status=500))
        page.evaluate(show, f'<deniable-survey kiosk src="{link}"></deniable-survey>')
        press_send(page, survey, {"q": "yes"})
        expect(page.get_by_role("heading", name="Your reply has not arrived yet")).to_be_visible()
        page.unroute("**/reports")
        witness = Witness.of(page)
        page.evaluate(show, f'<deniable-survey src="{other}"></deniable-survey>')
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
        expect(page.get_by_text("until the network is back")).to_have_count(0)
        page.wait_for_timeout(300)
        assert witness.posts() == []
        page.evaluate(show, f'<deniable-survey src="{link}"></deniable-survey>')
        expect(page.get_by_text("One reply of another person waits on this device")).to_be_visible()
        page.wait_for_function("!document.hidden")
        wait_for(page, witness.posts, "the waiting report is sent")
        page.wait_for_timeout(300)
        assert len(witness.posts()) == 1
    assert (first.reports(survey), second.reports(survey)) == (1, 0)


def test_damaged_value_goes_into_no_form(collector: Collector, page: Page) -> None:
    link = collector.publish(survey_of("Damaged value"))
    mixed = page.get_by_text("This form gets only what chance made of your answer")
    script = f"<!doctype html><title>x</title>{scripts(collector)}"
    with another_site(f'{script}<form><deniable-question name="q" src="{link}"></deniable-question></form>') as address:
        page.goto(address)
        page.get_by_role("radio", name="No", exact=True).check()
        page.get_by_role("button", name="Mix in chance").click()
        expect(mixed).to_be_visible()
        ((_, drawn),) = page.evaluate(remembered())["noisy"].items()
        change = "for (const key in state.noisy) state.noisy[key] = {}; return state"
        for damage in ("'x'", "null", "{}", "true", "1.5"):
            page.evaluate(remembered(change.replace("{}", damage, 1)))
            page.reload()
            expect(page.get_by_role("heading", name=REFUSED)).to_be_visible()
            assert page.evaluate("[...new FormData(document.querySelector('form'))]") == [], damage
        page.evaluate(remembered(change.replace("{}", str(drawn), 1)))
        page.reload()
        expect(mixed).to_be_visible()  # nothing else was in the way


def test_no_link_says_that_a_page_is_a_frame(collector: Collector, page: Page) -> None:
    witness = Witness.of(page)
    for fragment in ("host=x", "host=", "host=*", "host=https://evil.example"):
        survey = survey_of(f"No frame {fragment}")
        page.goto(f"{collector.publish(survey)}#{fragment}")
        answer(page, survey, {"q": "yes"})
        assert witness.lines == [], fragment
